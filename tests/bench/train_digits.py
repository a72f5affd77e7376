#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""train_digits.py BUILD [TARGET]: the network of samples/digits from random weights by the emitted digits_train alone,
one image a step, and the time of a step beside JAX's jitted step of the same network, one thread, interleaved.
Requires numpy, onnx, scikit-learn and, for the time, jax. Status 1: below 97 % of the held-out images are right."""
import ctypes
import os
import subprocess
import sys
import time

os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
os.environ["OMP_NUM_THREADS"] = "1"
os.environ["JAX_PLATFORMS"] = "cpu"

import numpy as np
import onnx
from onnx import numpy_helper
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

EPOCHS, RATE, SEED, BLOCKS, STEPS = 12, 1e-3, 7, 20, 200
SPEC = f"loss=cross_entropy optimizer=adam(rate={RATE}) update=all"
HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "..", "..")

DRIVER = """
#include "digits.h"
static DIGITS_TRAIN_ARENA(arena);
static struct digits_params params;
void start(void) { digits_params_init(&params); }
void rate(float by) { params.rate *= by; }
float steps(const float *x, const int32_t *label, const int32_t *order, int count)
{
    float loss, sum = 0;
    for (int i = 0; i < count; i++) {
        const struct digits_inputs in = { x + 64 * order[i] };
        const struct digits_targets target = { label + order[i] };
        if (digits_train(arena, &params, &in, &target, &loss) != 0) return -1;
        sum += loss;
    }
    return sum / (float)count;
}
int right(const float *x, const int32_t *label, int count)
{
    int sum = 0;
    for (int i = 0; i < count; i++) {
        float scores[10];
        const struct digits_inputs in = { x + 64 * i };
        const struct digits_outputs out = { scores };
        int best = 0;
        if (digits_run(arena, &params, &in, &out) != 0) return -1;
        for (int c = 1; c < 10; c++) if (scores[c] > scores[best]) best = c;
        sum += best == label[i];
    }
    return sum;
}
"""


def random_network(path):
    """Kernels from a normal distribution of variance 2 / fan-in; batch norms are the identity, biases zero."""
    rng = np.random.default_rng(SEED)
    model = onnx.load(os.path.join(ROOT, "samples", "digits", "digits.onnx"))
    constant = {i.name: i for i in model.graph.initializer}

    def put(name, values):
        constant[name].CopyFrom(numpy_helper.from_array(values.astype(np.float32), name))

    for node in model.graph.node:
        if node.op_type in ("Conv", "Gemm"):
            w = numpy_helper.to_array(constant[node.input[1]])
            fan_in = np.prod(w.shape[1:]) if node.op_type == "Conv" else max(w.shape)
            put(node.input[1], rng.normal(0, np.sqrt(2 / fan_in), w.shape))
            if len(node.input) > 2:
                put(node.input[2], np.zeros(numpy_helper.to_array(constant[node.input[2]]).shape))
        if node.op_type == "BatchNormalization":
            for name, value in zip(node.input[1:5], (1, 0, 0, 1)):
                put(name, np.full(numpy_helper.to_array(constant[name]).shape, value))
    onnx.save(model, path)


def build_library(build, target):
    work = os.path.join(build, "train_digits")
    os.makedirs(work, exist_ok=True)
    model = os.path.join(work, "digits.onnx")
    random_network(model)
    subprocess.check_call([os.path.join(build, "loopwright"), model, "--name", "digits", "--target", target, "--quiet",
                           "--train", SPEC, "-o", os.path.join(work, "digits.c")])
    with open(os.path.join(work, "driver.c"), "w") as f:
        f.write(DRIVER)
    native = ["-march=native"] if target != "generic" else []
    subprocess.check_call([os.environ.get("CC", "cc"), "-std=c99", "-O3", "-ffp-contract=off", *native, "-shared",
                           "-fPIC", "-I" + work, "-I" + os.path.join(ROOT, "runtime"), "-o",
                           os.path.join(work, "digits.so"),
                           os.path.join(work, "digits.c"), os.path.join(work, "driver.c"), "-lm"])
    library = ctypes.CDLL(os.path.join(work, "digits.so"))
    library.steps.restype = ctypes.c_float
    return library


def address(a):
    return a.ctypes.data_as(ctypes.c_void_p)


def train(library, x, label, held, meant):
    rng = np.random.default_rng(SEED)
    library.start()
    for epoch in range(EPOCHS):
        if epoch in (6, 9):
            library.rate(ctypes.c_float(0.3))
        order = rng.permutation(len(x)).astype(np.int32)
        loss = library.steps(address(x), address(label), address(order), len(order))
        print(f"epoch {epoch + 1:2}: loss {loss:.4f}", flush=True)
    share = 100 * library.right(address(held), address(meant), len(held)) / len(held)
    print(f"held-out images: {share:.2f} % right")
    return share


def jax_step():
    """The same network and optimizer; returns the jitted step and its initial state."""
    import jax
    import jax.numpy as jnp
    rng = np.random.default_rng(SEED)
    shapes = [(3, 3, 1, 16), (3, 3, 1, 16), (1, 1, 16, 24), (3, 3, 24, 32), (128, 10)]
    weights = [jnp.asarray(rng.normal(0, 0.1, s), jnp.float32) for s in shapes]
    biases = [jnp.zeros(n, jnp.float32) for n in (16, 16, 24, 32, 10)]

    def conv(x, k, groups=1):
        return jax.lax.conv_general_dilated(x, k, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"),
                                            feature_group_count=groups)

    def pool(x):
        return jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")

    def loss_of(p, x, label):
        w, b = p
        y = jax.nn.relu(conv(x.reshape(1, 8, 8, 1), w[0]) + b[0])
        y = jax.nn.relu(conv(y, w[1], 16) + b[1])
        y = pool(jax.nn.relu(conv(y, w[2]) + b[2]))
        y = pool(jax.nn.relu(conv(y, w[3]) + b[3]))
        z = y.reshape(1, 128) @ w[4] + b[4]
        return jax.nn.logsumexp(z) - z[0, label]

    def step(state, x, label):
        p, m, v, t = state
        loss, g = jax.value_and_grad(loss_of)(p, x, label)
        t = t + 1
        m = jax.tree.map(lambda a, b: 0.9 * a + 0.1 * b, m, g)
        v = jax.tree.map(lambda a, b: 0.999 * a + 0.001 * b * b, v, g)
        rate = RATE * jnp.sqrt(1 - 0.999 ** t) / (1 - 0.9 ** t)
        p = jax.tree.map(lambda a, b, c: a - rate * b / (jnp.sqrt(c) + 1e-7), p, m, v)
        return (p, m, v, t), loss

    p = (weights, biases)
    zeros = jax.tree.map(jnp.zeros_like, p)
    return jax.jit(step, donate_argnums=0), (p, zeros, jax.tree.map(jnp.zeros_like, p), jnp.float32(0))


def compare(library, x, label):
    import jax
    step, state = jax_step()
    order = np.arange(STEPS, dtype=np.int32)
    ours, theirs = [], []
    images, labels = [jax.device_put(x[i]) for i in range(STEPS)], [jax.device_put(label[i]) for i in range(STEPS)]
    for block in range(BLOCKS):
        begin = time.perf_counter()
        library.steps(address(x), address(label), address(order), STEPS)
        ours.append((time.perf_counter() - begin) / STEPS * 1e6)
        begin = time.perf_counter()
        for i in range(STEPS):
            state, loss = step(state, images[i], labels[i])
        loss.block_until_ready()
        theirs.append((time.perf_counter() - begin) / STEPS * 1e6)
    print(f"a step: {np.median(ours):.0f} us; JAX's jitted step: {np.median(theirs):.0f} us")


def main():
    build, target = os.path.abspath(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else "generic"
    images, labels = load_digits(return_X_y=True)
    images = (images / 16).astype(np.float32)
    x, held, label, meant = train_test_split(images, labels.astype(np.int32), test_size=360, stratify=labels,
                                             random_state=20)
    x, held, label, meant = (np.ascontiguousarray(a) for a in (x, held, label, meant))
    library = build_library(build, target)
    share = train(library, x, label, held, meant)
    try:
        compare(library, x, label)
    except ImportError:
        print("jax is not installed: no comparison")
    return 0 if share >= 97 else 1


sys.exit(main())
