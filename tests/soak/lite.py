# SPDX-License-Identifier: MIT
"""Random TFLite models of int8, int16 and uint8: networks of several operators, and the operators of
tests/tflite/vectors.py alone. The reference is TensorFlow Lite Micro's interpreter, or TensorFlow Lite's reference
kernels for what it does not have."""
import functools
import os
import pickle
import sys

import numpy as np

import known
import reference

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "tflite"))
import vectors
from vectors import B, Operand, constant, options

MOST_ELEMENTS = 3000
TYPES = {"int8": (np.int8, -128, 127), "int16": (np.int16, -32768, 32767), "uint8": (np.uint8, 0, 255)}


class Network:
    """Operators in a row; each step reads tensors that there are, the last one more often."""

    def __init__(self, rng, kind):
        self.rng, self.kind, (self.dtype, self.low, self.high) = rng, kind, TYPES[kind]
        self.operators, self.tensors, self.read, self.inputs = [], [], [], []

    def choice(self, items):
        return items[int(self.rng.integers(len(items)))]

    def integer(self, low, high):
        return int(self.rng.integers(low, high + 1))

    def chance(self, p):
        return self.rng.random() < p

    def grid(self, low=0.004, high=0.1):
        zero = 0 if self.kind == "int16" else self.integer(self.low, self.high)
        return float(np.float32(np.exp(self.rng.uniform(np.log(low), np.log(high))))) / \
                     (64 if self.kind == "int16" else 1), zero

    def bytes_of(self, shape):
        x = self.rng.integers(self.low, self.high + 1, shape)
        return np.where(self.rng.random(shape) < 0.1, self.choice([self.low, self.high]), x).astype(self.dtype)

    def tensor(self, shape, scale=None, zero=None, data=None):
        grid = self.grid()
        return Operand([int(n) for n in shape], self.dtype, grid[0] if scale is None else float(np.float32(scale)),
                       grid[1] if zero is None else zero, data=data)

    def like(self, t, shape=None):
        return Operand([int(n) for n in (t.shape if shape is None else shape)], self.dtype, t.scales[0], t.zeros[0])

    def input(self, shape):
        t = self.tensor(shape)
        t.feed = self.bytes_of(t.shape)
        self.inputs.append(t)
        self.tensors.append(t)
        return t

    def last(self, rank=None, where=None):
        found = [t for t in self.tensors if (rank is None or len(t.shape) == rank) and (not where or where(t))]
        return found[-1 - min(int(self.rng.exponential(0.7)), len(found) - 1)] if found else None

    def add(self, code, version, fields, inputs, outputs):
        self.operators.append((code, version, fields, inputs, outputs))
        self.read += inputs
        self.tensors += outputs
        return outputs[0]

    def weights(self, shape, axis, channels, fan):
        """Weights and scales: a scale for each channel but for uint8."""
        count = channels if self.kind != "uint8" and self.chance(0.7) else 1
        scales = [float(np.float32(v)) for v in np.exp(self.rng.uniform(np.log(0.003), np.log(0.02), count))]
        if self.kind == "uint8":
            return Operand(
    shape, np.uint8, scales[0], self.integer(
        110, 146), data=self.rng.integers(
            0, 256, shape)), scales
        return Operand(shape, np.int8, scales=scales, axis=axis,
                       data=self.rng.integers(-127, 128, shape).astype(np.int8)), scales

    def bias(self, x, scales, n):
        wide = np.int64 if self.kind == "int16" else np.int32
        s = [float(np.float32(x.scales[0]) * np.float32(v)) for v in scales]
        return Operand([n], wide, scales=s, data=self.rng.integers(-2000, 2000, n)) if self.chance(0.8) else None

    def product(self, x, scales, shape):
        """The result of sums of products: a grid in which it is neither small nor saturated."""
        return self.tensor(shape, x.scales[0] * max(scales) * (float(self.rng.uniform(5, 60))
                           if self.kind != "int16" else float(self.rng.uniform(0.5, 5))))


STEPS = []


def step(weight=1.0, kinds=("int8", "int16", "uint8")):
    def register(f):
        STEPS.append((weight, kinds, f))
        return f
    return register


def extents(size, k, s, d, same):
    e = (k - 1) * d + 1
    return -(-size // s) if same else -(-(size - e + 1) // s)


@step(3)
def convolution(g):
    x = g.last(4)
    if not x: return
    n, h, w, c = x.shape
    kh, kw, s = g.integer(1, 3), g.integer(1, 3), g.integer(1, 2)
    same = g.chance(0.5) or kh > h or kw > w
    o = g.integer(1, 9)
    k, scales = g.weights([o, kh, kw, c], 0, o, kh * kw * c)
    y = g.product(x, scales, [n, extents(h, kh, s, 1, same), extents(w, kw, s, 1, same), o])
    g.add(B.CONV_2D, 3, options("Conv2DOptions", padding=0 if same else 1, strideH=s, strideW=s, dilationHFactor=1,
          dilationWFactor=1, fusedActivationFunction=g.choice([0, 1, 3])), [x, k, g.bias(x, scales, o)], [y])


@step(2)
def depthwise(g):
    x = g.last(4)
    if not x: return
    n, h, w, c = x.shape
    kh, kw, s, m = g.integer(1, 3), g.integer(1, 3), g.integer(1, 2), g.choice([1, 1, 2])
    same = g.chance(0.6) or kh > h or kw > w
    k, scales = g.weights([1, kh, kw, c * m], 3, c * m, kh * kw)
    y = g.product(x, scales, [n, extents(h, kh, s, 1, same), extents(w, kw, s, 1, same), c * m])
    b = g.bias(x, scales, c * m)
    g.add(B.DEPTHWISE_CONV_2D, 3, options("DepthwiseConv2DOptions", padding=0 if same else 1, strideH=s, strideW=s,
                                          dilationHFactor=1, dilationWFactor=1, depthMultiplier=m,
                                          fusedActivationFunction=g.choice([0, 1, 3])), [x, k, b], [y])


@step(2)
def dense(g):
    x = g.last(2)
    if not x: return
    o = g.integer(1, 12)
    k, scales = g.weights([o, x.shape[1]], 0, o, x.shape[1])
    if g.kind == "int16" or g.chance(0.7):
        scales = scales[:1]
        k.scales, k.zeros = scales, k.zeros[:1]
    g.add(B.FULLY_CONNECTED, 4, options("FullyConnectedOptions", fusedActivationFunction=g.choice([0, 1, 3])),
          [x, k, g.bias(x, scales, o)], [g.product(x, scales, [x.shape[0], o])])


@step(2)
def pool(g):
    x = g.last(4)
    if not x: return
    n, h, w, c = x.shape
    k, s = g.integer(1, min(3, h, w)), g.integer(1, 2)
    same = g.chance(0.5)
    y = g.like(x, [n, extents(h, k, s, 1, same), extents(w, k, s, 1, same), c])
    g.add(g.choice([B.AVERAGE_POOL_2D, B.MAX_POOL_2D]), 2, options("Pool2DOptions", padding=0 if same else 1, strideH=s,
          strideW=s, filterHeight=k, filterWidth=k, fusedActivationFunction=g.choice([0, 0, 1])), [x], [y])


@step(3)
def arithmetic(g):
    x = g.last()
    same = [t for t in g.tensors if t.shape == x.shape]
    other = g.choice(same) if g.chance(0.6) else g.tensor(x.shape, data=g.bytes_of(x.shape))
    code, name = g.choice([(B.ADD, "AddOptions"), (B.SUB, "SubOptions"), (B.MUL, "MulOptions")])
    scale = x.scales[0] * other.scales[0] * \
        100 if code == B.MUL else (x.scales[0] + other.scales[0]) * g.rng.uniform(0.5, 1.5)
    g.add(code, 2, options(name, fusedActivationFunction=g.choice(
        [0, 0, 1, 3])), [x, other], [g.tensor(x.shape, scale)])


@step(1)
def extremes(g):
    x = g.last()
    other = Operand(x.shape, g.dtype, x.scales[0], x.zeros[0], data=g.bytes_of(x.shape))
    g.add(g.choice([B.MAXIMUM, B.MINIMUM]), 2, options("MaximumMinimumOptions"), [x, other], [g.like(x)])


@step(1.5)
def concat(g):
    x = g.last(where=lambda t: len(t.shape) > 1)
    if not x: return
    at = g.integer(0, len(x.shape) - 1)
    shape = [g.integer(1, 4) if d == at else n for d, n in enumerate(x.shape)]
    parts = [x, Operand(shape, g.dtype, x.scales[0], x.zeros[0], data=g.bytes_of(shape))]
    total = [sum(p.shape[at] for p in parts) if d == at else n for d, n in enumerate(x.shape)]
    g.add(B.CONCATENATION, 2, options("ConcatenationOptions", axis=at,
          fusedActivationFunction=0), parts, [g.like(x, total)])


@step(1.5)
def reshape(g):
    x = g.last()
    size, shape = int(np.prod(x.shape)), []
    for _ in range(g.integer(1, 3)):
        f = g.choice([n for n in range(1, size + 1) if size % n == 0])
        shape.append(f)
        size //= f
    shape.append(size)
    g.add(B.RESHAPE, 1, options("ReshapeOptions", newShape=shape), [x, constant(shape)], [g.like(x, shape)])


@step(1, ("int8", "int16"))
def transpose(g):
    x = g.last()
    perm = g.rng.permutation(len(x.shape)).tolist()
    g.add(B.TRANSPOSE, 2, options("TransposeOptions"), [x, constant(perm)], [g.like(x, [x.shape[p] for p in perm])])


@step(1)
def pad(g):
    x = g.last(4)
    if not x: return
    pads = [[0, 0]] + [[g.integer(0, 2), g.integer(0, 2)] for _ in range(2)] + [[0, 0]]
    shape = [n + sum(p) for n, p in zip(x.shape, pads)]
    g.add(B.PAD, 2, options("PadOptions"), [x, constant(pads)], [g.like(x, shape)])


@step(1)
def mean(g):
    x = g.last(4)
    if not x: return
    keep = g.chance(0.5)
    shape = [x.shape[0], 1, 1, x.shape[3]] if keep else [x.shape[0], x.shape[3]]
    g.add(B.MEAN, 2, options("ReducerOptions", keepDims=keep), [
          x, constant([1, 2])], [g.tensor(shape, x.scales[0] * 0.8)])


@step(1.5)
def activation(g):
    x = g.last()
    kind = g.choice(["LOGISTIC", "TANH", "LEAKY_RELU", "RELU", "RELU6", "HARD_SWISH"] if g.kind != "int16"
                    else ["LOGISTIC", "TANH", "LEAKY_RELU"])
    fixed = {"LOGISTIC": (1 / 256, g.low), "TANH": (1 / 128, 0 if g.kind != "uint8" else 128)}
    if g.kind == "int16": fixed = {"LOGISTIC": (1 / 32768, 0), "TANH": (1 / 32768, 0)}
    y = g.tensor(x.shape, *fixed[kind]) if kind in fixed else g.tensor(x.shape, x.scales[0] * g.rng.uniform(0.6, 1.2))
    fields = {"LEAKY_RELU": lambda: options("LeakyReluOptions", alpha=0.1),
              "HARD_SWISH": lambda: options("HardSwishOptions")}
    version = {"LEAKY_RELU": 2, "RELU": 2, "RELU6": 2}.get(kind, 1)
    g.add(getattr(B, kind), version, fields.get(kind, lambda: None)(), [x], [y])


@step(1)
def softmax(g):
    x = g.last(where=lambda t: len(t.shape) in (2, 4))
    if not x: return
    y = g.tensor(x.shape, *((1 / 32768, 0) if g.kind == "int16" else (1 / 256, g.low)))
    g.add(B.SOFTMAX, 2, options("SoftmaxOptions", beta=1.0), [x], [y])


@step(1, ("int8", "int16"))
def rescale(g):
    x = g.last()
    g.add(B.QUANTIZE, 2, options("QuantizeOptions"), [x], [g.tensor(x.shape, x.scales[0] * g.rng.uniform(0.5, 2))])


@step(1, ("int8", "int16", "uint8"))
def cut(g):
    x = g.last(where=lambda t: len(t.shape) <= 4)
    begin = [g.integer(0, n - 1) for n in x.shape]
    size = [g.integer(1, n - b) for n, b in zip(x.shape, begin)]
    g.add(B.SLICE, 2, options("SliceOptions"), [x, constant(begin), constant(size)], [g.like(x, size)])


@step(0.7, ("int8",))
def resize(g):
    x = g.last(4)
    if not x: return
    h, w = g.integer(1, 2 * x.shape[1]), g.integer(1, 2 * x.shape[2])
    code, name = g.choice([(B.RESIZE_NEAREST_NEIGHBOR, "ResizeNearestNeighborOptions"),
                          (B.RESIZE_BILINEAR, "ResizeBilinearOptions")])
    words = dict(alignCorners=False, halfPixelCenters=g.chance(0.5))
    g.add(code, 2, options(name, **words), [x, constant([h, w])], [g.like(x, [x.shape[0], h, w, x.shape[3]])])


@step(0.7)
def split(g):
    x = g.last(where=lambda t: any(n % 2 == 0 for n in t.shape))
    if not x: return
    at = g.choice([d for d, n in enumerate(x.shape) if n % 2 == 0])
    shape = [n // 2 if d == at else n for d, n in enumerate(x.shape)]
    g.add(B.SPLIT, 2, options("SplitOptions", numSplits=2), [constant(at), x], [g.like(x, shape), g.like(x, shape)])


def network(rng):
    g = Network(rng, ["int8", "int8", "int16", "uint8"][int(rng.integers(4))])
    x = g.input([g.integer(1, 2), g.integer(2, 9), g.integer(2, 9), g.integer(1, 6)])
    rows = [(w, f) for w, kinds, f in STEPS if g.kind in kinds]
    p = np.array([w for w, _ in rows]) / sum(w for w, _ in rows)
    least = g.integer(2, 9)
    while len(g.operators) < least:
        rows[int(rng.choice(len(rows), p=p))][1](g)
        if int(np.prod(g.tensors[-1].shape)) > MOST_ELEMENTS: return None
    outputs = [t for t in g.tensors[1:] if not any(t is r for r in g.read)]
    return g.kind, [(g.operators, g.inputs, outputs)]


NAMES = sorted(n for n in vectors.OPERATORS if n not in vectors.AFTER and n not in vectors.XNNPACK)


class Case:
    """A model, its inputs, its outputs' names."""
    file, by, model, words, fills = "model.tflite", "TensorFlow Lite Micro", None, [], [0]
    samples = property(lambda case: [case])

    def __init__(self, label, graphs, is_lite):
        self.label, self.is_lite, self.content = label, is_lite, vectors.build_graphs(graphs)
        first = lambda feed: np.asarray(feed[0] if isinstance(feed, list) else feed)
        self.feeds = {"in%d" % i: first(t.feed) for i, t in enumerate(graphs[0][1])}
        self.outputs = ["output %d" % i for i in range(len(graphs[0][2]))]
        self.shapes = [t.shape for t in graphs[0][2]]

    def bytes(self):
        return self.content

    def text(self):
        return ""

    def prepare(self, folder, fill, is_sanitized): pass

    def reduced(self, fails): return self

    def measured(self, expected, rng):
        return [np.zeros(e.shape, bool) for e in expected], [np.zeros(e.shape) for e in expected]

    def expected(self):
        """In a process of its own: the reference may abort. TensorFlow Lite keeps all tensors: otherwise the result of
        a RESHAPE shares the memory of its operand, and an ADD writes its result there, although an operator behind it
        reads that operand."""
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                quiet = os.open(os.devnull, os.O_WRONLY)
                os.dup2(quiet, 1), os.dup2(quiet, 2)
                run = functools.partial(vectors.run_lite, keeps_all=True) if self.is_lite else vectors.run_micro
                answer = pickle.dumps(run(self.content, list(self.feeds.values()), self.outputs, 1))
            except BaseException as e:
                answer = pickle.dumps("the reference: " + (str(e).strip().splitlines() or [type(e).__name__])[-1])
            with os.fdopen(writer, "wb") as f: f.write(answer)
            os._exit(0)
        os.close(writer)
        with os.fdopen(reader, "rb") as f: answer = f.read()
        os.waitpid(child, 0)
        found = pickle.loads(answer) if answer else "the reference crashed"
        if isinstance(found, str): raise reference.NoReference(found)
        return [[y.reshape(s) if y.size == np.prod(s, dtype=np.int64) else y for y, s in zip(found, self.shapes)]]


def draw(rng, number):
    if number % 3:
        made = network(rng)
        return made and Case(made[0] + " network", made[1], made[0] == "uint8")
    name = NAMES[number // 3 % len(NAMES)]
    try:
        made = vectors.OPERATORS[name](rng, int(rng.integers(1000)))
    except (TypeError, ValueError, IndexError):         # a form that this type does not have
        return None
    if not isinstance(made, list):
        code, version, fields, inputs, outputs = made
        made = [([made], [t for t in inputs if t is not None and t.data is None], outputs)]
    return Case(name, made, name in vectors.LITE)
