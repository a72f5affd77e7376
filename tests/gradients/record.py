# SPDX-License-Identifier: MIT
"""Records gradients of JAX for tests/unit/test_gradient_networks.c.

    python3 tests/gradients/record.py > tests/gradients/networks.txt        needs jax

A network is written twice, as a .te file and in JAX, layer by layer, in double. Inputs follow from a linear
congruential generator. Of each adjoint its norm and its products with four random vectors are recorded: `adjoint NAME
norm p0 p1 p2 p3`.
"""
import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

jax.config.update("jax_enable_x64", True)
STATE = [1]


def draws(count):
    out = np.empty(count)
    for i in range(count):
        STATE[0] = (STATE[0] * 1664525 + 1013904223) & 0xffffffff
        out[i] = (STATE[0] >> 8) / 8388608.0 - 1.0
    return out


class Net:
    """Lines of the .te file, and functions over the dictionary of values."""
    def __init__(self, name, shape, kind="f64"):
        self.name, self.te, self.steps, self.params, self.shapes, self.count = name, [], [], [], {}, 0
        self.now = self.param("x", shape)

    def param(self, name, shape):
        self.te.append("input %s: f64%s" % (name, "".join("[%d]" % n for n in shape)))
        self.params.append(name)
        self.shapes[name] = shape
        return name

    def add(self, text, function, *names):
        """text: the right side, with {0} for the current value, {1}.. for names; or a formula `y[..] = ..` of y."""
        self.count += 1
        y, args = "v%d" % self.count, (self.now,) + names
        line = text.format(*args)
        self.te.append(line.replace("y[", y + "[", 1) if line.startswith("y[") else y + " = " + line)
        self.steps.append((y, function, args))
        self.now = y
        return self

    def new(self, *shape):
        return self.param("p%d" % len(self.params), shape)

    def loss(self, values):
        env = dict(zip(self.params, values))
        for y, f, args in self.steps:
            env[y] = f(*[env[a] for a in args])
        return env[self.now]

    # ---- Layers ----
    def dense(self, n, m):
        return self.add("dense({0}, {1})", lambda x, w: x @ w, self.new(n, m))

    def bias(self, axes, c):
        return self.add("y[%s] = {0}[%s] + {1}[c]" % (axes, axes), lambda x, b: x + b, self.new(c))

    def act(self, op):
        f = {"relu": jax.nn.relu, "tanh": jnp.tanh, "sigmoid": jax.nn.sigmoid,
             "gelu": lambda x: jax.nn.gelu(x, approximate=False),
             "gelu_tanh": lambda x: jax.nn.gelu(x, approximate=True), "silu": jax.nn.silu, "softplus": jax.nn.softplus,
             "elu": jax.nn.elu,
             "softsign": jax.nn.soft_sign, "mish": jax.nn.mish, "leaky_relu": jax.nn.leaky_relu}[op]
        return self.add(op + "({0})", f)

    def conv(self, kh, kw, c, o, stride=1, pad=0, dilation=1, groups=1):
        text = "conv2d({0}, {1}, stride=[%d,%d], pad=[%d,%d,%d,%d], dilation=[%d,%d], groups=%d)" % (
            (stride,) * 2 + (pad,) * 4 + (dilation,) * 2 + (groups,))
        return self.add(text, lambda x, k: lax.conv_general_dilated(
            x, k, (stride,) * 2, ((pad, pad),) * 2, rhs_dilation=(dilation,) * 2, feature_group_count=groups,
            dimension_numbers=("NHWC", "HWIO", "NHWC")), self.new(kh, kw, c // groups, o))

    def conv1d(self, kw, c, o, stride=1, pad=0):
        return self.add("conv1d({0}, {1}, stride=[%d], pad=[%d,%d])" % (stride, pad, pad), lambda x,
                        k: lax.conv_general_dilated(
            x, k, (stride,), ((pad, pad),), dimension_numbers=("NWC", "WIO", "NWC")), self.new(kw, c, o))

    def depthwise(self, kh, kw, c, stride=1, pad=0):
        text = "depthwise_conv2d({0}, {1}, stride=[%d,%d], pad=[%d,%d,%d,%d])" % ((stride,) * 2 + (pad,) * 4)
        return self.add(text, lambda x, k: lax.conv_general_dilated(
            x, k[:, :, None, :], (stride,) * 2, ((pad, pad),) * 2, feature_group_count=c,
            dimension_numbers=("NHWC", "HWIO", "NHWC")), self.new(kh, kw, c))

    def pool(self, op, size, stride, pad=0):
        window = (1, size, size, 1), (1, stride, stride, 1), ((0, 0), (pad, pad), (pad, pad), (0, 0))
        def f(x):
            if op == "max":
                return lax.reduce_window(x, -jnp.inf, lax.max, *window)
            return lax.reduce_window(x, 0.0, lax.add, *window) / lax.reduce_window(jnp.ones_like(x), 0.0, lax.add,
                *window)
        return self.add("%s_pool2d({0}, kernel=[%d,%d], stride=[%d,%d], pad=[%d,%d,%d,%d])"
                        % ((op,) + (size,) * 2 + (stride,) * 2 + (pad,) * 4), f)

    def global_pool(self):
        return self.add("y[n, c] = sum(h, v) {0}[n, h, v, c]", lambda x: x.sum((1, 2)))

    def flatten(self, *shape):
        return self.add("reshape({0}, shape=[%s])" % ",".join(map(str, shape)), lambda x: x.reshape(shape))

    def transpose(self, *perm):
        return self.add("transpose({0}, perm=[%s])" % ",".join(map(str, perm)), lambda x: x.transpose(perm))

    def norm(self, axis, op):
        if op == "rms_norm":
            f = lambda x: x / jnp.sqrt((x * x).mean(axis, keepdims=True) + 1e-5)
        else:
            f = lambda x: (x - x.mean(axis, keepdims=True)) / jnp.sqrt(x.var(axis, keepdims=True) + 1e-5)
        return self.add("%s({0}, axes=[%d])" % (op, axis), f)

    def softmax(self, op="softmax"):
        return self.add(op + "({0})", getattr(jax.nn, op))

    def residual(self, of):
        return self.add("add({0}, {1})", lambda x, y: x + y, of)

    def cross_entropy(self, *shape):
        t = self.new(*shape)
        return self.add("cross_entropy({0}, {1})", lambda x, t: -(t * jax.nn.log_softmax(x)).sum(-1).mean(), t)

    def squares(self, rank):
        axes = ", ".join("ijkl"[:rank])
        return self.add("sum(%s) {0}[%s] * {0}[%s]" % (axes, axes, axes), lambda x: (x * x).sum())

    def target(self, op, *shape):
        f = {"mse": lambda x, t: ((x - t) ** 2).mean(), "mae": lambda x, t: abs(x - t).mean(),
             "hinge": lambda x, t: jnp.maximum(1 - t * x, 0).mean(),
             "binary_cross_entropy": lambda x, t: (jnp.logaddexp(0, x) - x * t).mean()}[op]
        return self.add(op + "({0}, {1})", f, self.new(*shape))

    def attention(self, n, c, heads_of=None):
        x = self.now
        q = self.dense(c, c).now
        self.now = x
        k = self.dense(c, c).now
        self.now = x
        v = self.dense(c, c).now
        self.now = q
        self.add("y[i, j] = sum(c) {0}[i, c] * {1}[j, c] * %r" % (0.5,), lambda q, k: q @ k.T * 0.5, k)
        self.softmax()
        return self.add("matmul({0}, {1})", lambda p, v: p @ v, v)

    def recurrent(self, op, t, i, u):
        gates = {"rnn": 1, "gru": 3, "lstm": 4}[op]
        w, r, b = self.new(i, gates * u), self.new(u, gates * u), self.new(gates * u)
        def f(x, w, r, b):
            h = c = jnp.zeros((x.shape[1], u))
            out = []
            for s in range(t):
                a = x[s] @ w + b
                if op == "gru":
                    z, g = jax.nn.sigmoid(a[:, :u] + h @ r[:, :u]), jax.nn.sigmoid(a[:, u:2 * u] + h @ r[:, u:2 * u])
                    n = jnp.tanh(a[:, 2 * u:] + (g * h) @ r[:, 2 * u:])
                    h = (1 - z) * n + z * h
                elif op == "rnn":
                    h = jnp.tanh(a + h @ r)
                else:
                    a = a + h @ r
                    gi, go, gf, gc = (a[:, k * u:(k + 1) * u] for k in range(4))
                    c = jax.nn.sigmoid(gf) * c + jax.nn.sigmoid(gi) * jnp.tanh(gc)
                    h = jax.nn.sigmoid(go) * jnp.tanh(c)
                out.append(h)
            return jnp.stack(out)
        return self.add(op + "({0}, {1}, {2}, {3})", f, w, r, b)


def networks():
    yield Net("perceptron", (4, 6)).dense(6, 5).bias("n, c", 5).act("relu").dense(5, 3).cross_entropy(4, 3)
    for a in ["tanh", "sigmoid", "gelu", "gelu_tanh", "silu", "softplus", "elu", "softsign", "mish", "leaky_relu"]:
        yield Net("perceptron-" + a, (3, 5)).dense(5, 7).act(a).dense(7, 4).act(a).squares(2)
    for t in ["mse", "mae", "hinge", "binary_cross_entropy"]:
        yield Net("loss-" + t, (4, 6)).dense(6, 5).act("tanh").target(t, 4, 5)
    yield Net("lenet", (2, 12, 12, 1)).conv(3, 3, 1, 4).act("relu").pool("max", 2, 2).conv(3, 3, 4, 6,
        pad=1).act("relu").pool("max", 2, 2) \
        .flatten(2, 24).dense(24, 5).cross_entropy(2, 5)
    yield Net("strided", (1, 11, 9, 2)).conv(3, 3, 2, 4, stride=2, pad=1).act("tanh").conv(3, 3, 4, 3, stride=2,
        pad=1).squares(4)
    yield Net("dilated", (1, 11, 11, 2)).conv(3, 3, 2, 4, dilation=2, pad=2).act("silu").conv(2, 2, 4, 3, dilation=3,
        stride=2).squares(4)
    yield Net("grouped", (2, 6, 6, 4)).conv(3, 3, 4, 6, groups=2, pad=1).act("relu").conv(1, 1, 6, 4,
        groups=2).squares(4)
    yield Net("separable", (1, 9, 9, 3)).depthwise(3, 3, 3, pad=1, stride=2).act("relu").conv(1, 1, 3,
        5).act("relu").global_pool().dense(5, 4) \
        .cross_entropy(1, 4)
    yield Net("pools", (1, 9, 9, 2)).pool("max", 3, 2, pad=1).act("tanh").pool("avg", 3, 2, pad=1).squares(4)
    yield Net("signal", (1, 20, 3)).conv1d(5, 3, 4, stride=2, pad=2).act("relu").conv1d(3, 4, 2).squares(3)
    n = Net("residual", (1, 6, 6, 4)).conv(3, 3, 4, 4, pad=1).act("relu")
    first = n.now
    yield n.conv(3, 3, 4, 4, pad=1).residual(first).act("relu").global_pool().dense(4, 3).cross_entropy(1, 3)
    n = Net("dense-block", (2, 5)).dense(5, 4).act("tanh")
    first = n.now
    yield n.dense(4, 4).act("tanh").add("concat({0}, {1}, axis=1)", lambda a, b: jnp.concatenate([a, b], 1),
                                        first).dense(8, 3).cross_entropy(2, 3)
    for op in ["standardize", "rms_norm"]:
        yield Net("normalized-" + op, (3, 8)).dense(8, 6).norm(1, op).act("gelu").dense(6, 4).squares(2)
    yield Net("log-softmax", (3, 8)).dense(8, 6).softmax("log_softmax").squares(2)
    yield Net("moves", (2, 3, 4)).transpose(2, 0, 1).flatten(4, 6).dense(6, 5).transpose(1, 0).squares(2)
    yield Net("attention", (6, 4)).attention(6, 4).squares(2)
    n = Net("transformer", (6, 4))
    for block in range(2):
        x = n.now
        n.norm(1, "standardize").attention(6, 4).residual(x)
        x = n.now
        n.norm(1, "standardize").dense(4, 8).act("gelu").dense(8, 4).residual(x)
    yield n.norm(1, "standardize").dense(4, 5).cross_entropy(6, 5)
    for op in ["rnn", "gru", "lstm"]:
        yield Net(op, (5, 2, 3)).recurrent(op, 5, 3, 4).squares(3)
    yield Net("two-lstms", (4, 1, 3)).recurrent("lstm", 4, 3, 4).recurrent("lstm", 4, 4, 3).squares(3)


def main():
    print("# Written by tests/gradients/record.py with jax %s; not to be edited." % jax.__version__)
    for n in networks():
        STATE[0] = 1
        values = [draws(int(np.prod(n.shapes[p]))).reshape(n.shapes[p]) for p in n.params]
        loss, grads = jax.value_and_grad(n.loss)(values)
        print("network %s" % n.name)
        print("\n".join(n.te))
        print("end %s" % n.now)
        print("loss %.17g" % float(loss))
        STATE[0] = 2
        for p, g in zip(n.params, grads):
            g = np.asarray(g).ravel()
            print("adjoint %s %.17g %s"
                  % (p, float(np.linalg.norm(g)), " ".join("%.17g" % float(g @ draws(g.size)) for _ in range(4))))


if __name__ == "__main__":
    sys.exit(main())
