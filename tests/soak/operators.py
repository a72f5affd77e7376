# SPDX-License-Identifier: MIT
"""Models of one ONNX operator: every operator, element type and attribute, with NaN, infinities, zeros of both signs,
ties, extreme values, dimensions of 0 and of 1. The rows of graphs.py serve here, too, with values and sizes of this
file."""
import functools

import numpy as np
import onnx
from onnx import helper

import graphs
import known
import reference
from graphs import FLOATS, INTS, NUMBERS, SIGNED, UNSIGNED, onnx_type

VALUES = ["ordinary", "NaN", "infinities", "zeros", "ties", "extreme"]
SHAPES = ["ordinary", "ones", "empty"]
ROUNDS = len(VALUES) + len(SHAPES) - 1      # each kind of values with ordinary sizes, then the other sizes
ALL = NUMBERS + ["bool"]


class Redraw(Exception):
    pass


def special(kind, rng, dtype, shape):
    dtype = np.dtype(dtype)
    x = graphs.values(rng, dtype, shape).astype(dtype)
    mask = rng.random(shape) < rng.choice([0.1, 0.4, 1.0], p=[0.5, 0.35, 0.15])
    few = rng.integers(0, 3, shape)
    if dtype.kind == "f":
        if kind in ("NaN", "infinities") and x.ndim and x.shape[0] and rng.random() < 0.3: mask[0] = True
        if kind == "NaN": x = np.where(mask, np.nan, x)
        if kind == "infinities": x = np.where(mask, rng.choice([np.inf, -np.inf], shape), x)
        if kind == "zeros": x = np.where(mask, rng.choice([0.0, -0.0], shape), x)
        if kind == "extreme":
            i = np.finfo(dtype)
            x = np.where(mask, rng.choice([i.max, -i.max, i.tiny, i.smallest_subnormal, i.eps, 1e3], shape), x)
    elif dtype.kind in "iu":
        i = np.iinfo(dtype)
        if kind == "zeros": x = np.where(mask, 0, x)
        if kind == "extreme": x = np.where(mask, np.array([i.min, i.max, 0, 1], dtype)[rng.integers(0, 4, shape)], x)
    if kind == "ties": x = few if dtype != np.bool_ else x
    return np.asarray(x, dtype)


class Node(graphs.Graph):
    """A graph whose tensors are all new, of any type, with special values."""

    def __init__(self, rng, number):
        super().__init__(rng)
        at, turn = number % ROUNDS, number // ROUNDS
        self.kind = VALUES[at if at < len(VALUES) else turn % len(VALUES)]
        self.sizes = SHAPES[max(0, at - len(VALUES) + 1)]
        self.values = functools.partial(special, self.kind)
        self.subject = None

    def full(self, t):
        return True

    def input(self, dtype, shape):
        """A tensor without elements is a slice of an input: inputs have elements."""
        if all(shape): return super().input(dtype, shape)
        whole = super().input(dtype, [max(n, 1) for n in shape])
        ends = [self.constant(np.array(v, np.int64)) for v in ([0] * len(shape), shape)]
        return self.add("Slice", [whole, *ends], [(dtype, shape)])

    def shape(self, rank=None, sizes=None):
        pool = {"ordinary": [1, 2, 3, 4, 5, 8], "ones": [1, 1, 1, 2, 5], "empty": [0, 1, 2, 3]}[self.sizes]
        return super().shape(rank, pool)

    def pick(self, types, rank=None, least=0, where=None):
        dtype = self.choice(list(types)) if self.chance(0.5) else self.choice(ALL)
        wanted = rank if rank is not None else self.integer(least, max(least, 4))
        for _ in range(50):
            t = graphs.Tensor("", dtype, self.shape(wanted))
            if not where or where(t): return self.new(dtype, t.shape, 0.1)
        raise Redraw

    def want(self, dtype, shape):
        return self.new(dtype, shape, 0.3)

    def guarded(self, t, low=None, high=None, absolute=False, plus=0.0):
        """Integers divide by anything but 0 and -1; floats are free."""
        if t.is_float: return t
        value = special("ordinary", self.rng, t.dtype, t.shape)
        return self.constant(np.where((value == 0) | (
            value == np.array(-1).astype(value.dtype)), 3, value).astype(value.dtype))

    def indices_of(self, n, shape, dtype="int64"):
        if n == 0: raise Redraw
        return self.new_of(self.rng.integers(-n, n, shape).astype(dtype))

    def new_of(self, value):
        """An input or a constant of this value."""
        if self.chance(0.5): return self.constant(value)
        t = self.input(value.dtype, value.shape)
        if value.size: self.feeds[t.name] = value
        return t


ROWS = {}


def row(*names, opset=graphs.OPSET, domain=""):
    def register(f):
        for name in names: ROWS[(domain + "." if domain else "") + name] = (name, f, opset)
        return f
    return register


# Operators that a row of graphs.py draws, now and then: it is drawn until it is this one.
SHARED = {"convolution": "Conv", "transposed": "ConvTranspose", "integer_product": "ConvInteger MatMulInteger",
          "matmul": "Einsum MatMul Gemm", "reshape": "Flatten Reshape Squeeze Unsqueeze",
          "recurrent": "GRU LSTM RNN", "gather": "Gather", "gather_nd": "GatherND", "grid_sample": "GridSample",
          "resize": "Resize", "scatter_nd": "ScatterND", "split": "Split", "trilu": "Trilu", "tile": "Tile",
          "transpose": "Transpose", "blocks": "DepthToSpace SpaceToDepth", "reverse_sequence": "ReverseSequence",
          "pad": "Pad", "concat": "Concat", "where": "Where", "expand": "Expand"}
for function_, operators_ in SHARED.items():
    for operator_ in operators_.split():
        ROWS[operator_] = (operator_, lambda g, op, f=getattr(graphs, function_): f(g), graphs.OPSET)


def out(g, op, ins, outs, domain="", **attributes):
    return g.add(op, ins, outs, domain=domain, **attributes)


@row(*graphs.UNARY, *graphs.GUARDED, "Not", "BitwiseNot", "IsNaN", "Gelu", "Swish", opset=24)
def of_one(g, op):
    t = g.pick(ALL)
    words = {k: float(g.rng.uniform(*v)) for k, v in graphs.UNARY.get(op, {}).items() if g.chance(0.7)}
    if op == "Gelu": words = {"approximate": g.choice(["none", "tanh"])}
    if op == "Swish": words = {"alpha": float(g.rng.uniform(0.5, 2))}
    out(g, op, [t], [("bool" if op == "IsNaN" else t.dtype, t.shape)], **words)


@row("Add", "Sub", "Mul", "Div", "Pow", "Mod", "Min", "Max", "Sum", "Mean", "PRelu", "Equal", "Greater",
     "GreaterOrEqual", "Less", "LessOrEqual", "And", "Or", "Xor", "BitwiseAnd", "BitwiseOr", "BitwiseXor", "BitShift")
def of_two(g, op):
    a, b, shape = g.pair(ALL, True)
    words = {}
    if op in ("Div", "Mod"): b = g.guarded(b)
    if op == "Mod": words["fmod"] = 1 if a.is_float else g.integer(0, 1)
    if op == "PRelu" and np.broadcast_shapes(a.shape, b.shape) != a.shape: raise Redraw
    if op == "BitShift":
        words["direction"] = g.choice(["LEFT", "RIGHT"])
        b = g.constant(g.rng.integers(0, 8 * np.dtype(a.dtype).itemsize, b.shape).astype(a.dtype))
    if op == "Pow" and not a.is_float: b = g.constant(np.array(g.integer(0, 3), b.dtype))
    shape = np.broadcast_shapes(a.shape, b.shape)
    is_bool = op in ("Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual", "And", "Or", "Xor")
    more = [g.want(a.dtype, shape)] if op in ("Min", "Max", "Sum", "Mean") and g.chance(0.3) else []
    out(g, op, [a, b] + more, [("bool" if is_bool else a.dtype, shape)], **words)


@row("IsInf")
def infinite(g, op):
    t = g.pick(FLOATS)
    out(g, op, [t], [("bool", t.shape)], detect_negative=g.integer(0, 1), detect_positive=g.integer(0, 1))


@row("Clip")
def clip(g, op):
    t = g.pick(NUMBERS)
    low, high = (g.new(t.dtype, ()) if g.chance(0.7) else None for _ in range(2))
    out(g, op, [t, low, high], [(t.dtype, t.shape)])


@row("Cast", "CastLike", "BitCast", opset=26)
def cast(g, op):
    t, to = g.pick(ALL), g.choice(ALL)
    if op == "CastLike": return out(g, op, [t, g.new(to, (1,))], [(to, t.shape)])
    if op == "BitCast":
        if np.dtype(to).itemsize != np.dtype(t.dtype).itemsize or "bool" in (to, t.dtype): raise Redraw
    out(g, op, [t], [(to, t.shape)], to=onnx_type(to))


@row("ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL1", "ReduceL2", "ReduceSumSquare",
     "ReduceLogSumExp", "ReduceLogSum")
def reduce(g, op):
    t = g.pick(NUMBERS)
    axes = sorted(g.rng.choice(t.rank, g.integer(0, t.rank), replace=False).tolist()) if t.rank else []
    keep, noop = g.integer(0, 1), g.integer(0, 1) if g.chance(0.3) else 0
    gone = axes or ([] if noop else list(range(t.rank)))
    shape = [1 if d in gone else n for d, n in enumerate(t.shape) if keep or d not in gone]
    out(g, op, [t] + ([g.constant(np.array(axes, np.int64))] if axes or g.chance(0.2) else []), [(t.dtype, shape)],
        keepdims=keep, noop_with_empty_axes=noop)


@row("ArgMax", "ArgMin")
def arg(g, op):
    t = g.pick(NUMBERS, least=1)
    at, written = g.axis(t)
    if not t.shape[at]: raise Redraw
    keep = g.integer(0, 1)
    out(g, op, [t], [("int64", t.shape[:at] + ((1,) if keep else ()) + t.shape[at + 1:])], axis=written, keepdims=keep,
        select_last_index=g.integer(0, 1))


@row("TopK")
def top(g, op):
    t = g.pick(NUMBERS, least=1)
    at, written = g.axis(t)
    k = g.integer(0, t.shape[at])
    shape = t.shape[:at] + (k,) + t.shape[at + 1:]
    out(g, op, [t, g.constant(np.array([k], np.int64))], [
        (t.dtype, shape), ("int64", shape)], axis=written, largest=g.integer(0, 1))


@row("CumSum", "CumProd", opset=26)
def cumulative(g, op):
    t = g.pick(NUMBERS, least=1)
    at, written = g.axis(t)
    out(g, op, [t, g.constant(np.array(written, g.choice([np.int32, np.int64])))], [(t.dtype, t.shape)],
        exclusive=g.integer(0, 1), reverse=g.integer(0, 1))


@row("Softmax", "LogSoftmax", "Hardmax", "LpNormalization")
def along(g, op):
    t = g.pick(FLOATS, least=1)
    at, written = g.axis(t)
    words = {"p": g.choice([1, 2])} if op == "LpNormalization" else {}
    out(g, op, [t], [(t.dtype, t.shape)], axis=written, **words)


@row("LayerNormalization", "RMSNormalization", opset=23)
def layer_norm(g, op):
    t = g.pick(FLOATS, least=1)
    at, written = g.axis(t)
    more = [g.new(t.dtype, t.shape[at:]) for _ in range(1 if op[0] == "R" else g.integer(1, 2))]
    out(g, op, [t] + more, [(t.dtype, t.shape)], axis=written, epsilon=float(g.choice([1e-5, 1e-2])))


@row("BatchNormalization", "InstanceNormalization", "GroupNormalization", "LRN", "MeanVarianceNormalization")
def channel_norm(g, op):
    t = g.pick(FLOATS, rank=4 if op in ("LRN", "MeanVarianceNormalization") else g.choice([2, 3, 4]))
    c = t.shape[1]
    part = lambda: g.new(t.dtype, (c,))
    if op == "BatchNormalization":
        v = g.constant((np.abs(graphs.values(g.rng, t.dtype, (c,))) + 0.2).astype(t.dtype))
        return out(g, op, [t, part(), part(), part(), v], [(t.dtype, t.shape)], epsilon=float(g.choice([1e-5, 1e-2])))
    if op == "InstanceNormalization": return out(g, op, [t, part(), part()], [(t.dtype, t.shape)], epsilon=1e-2)
    if op == "LRN":
        return out(g, op, [t], [(t.dtype, t.shape)], size=g.choice([1, 2, 3, 5]), alpha=0.1, beta=0.5, bias=1.5)
    if op == "MeanVarianceNormalization": return out(g, op, [t], [(t.dtype, t.shape)])
    if c == 0: raise Redraw
    out(g, op, [t, part(), part()], [(t.dtype, t.shape)], num_groups=g.choice(
        [n for n in range(1, c + 1) if c % n == 0]), epsilon=1e-2)


@row("Range")
def numbers(g, op):
    dtype = g.choice(["int64", "float32", "int32", "float64", "int16"])
    a, n, d = g.integer(-5, 5), g.integer(0, 6), g.choice([1, 2, -1, 3])
    end = a + n * d if g.sizes != "empty" else a - d
    out(g, op, [g.constant(np.array(v, dtype)) for v in (a, end, d)], [(dtype, (n if g.sizes != "empty" else 0,))])


@row("EyeLike", "Size", "Shape", "ConstantOfShape", "OneHot")
def made(g, op):
    if op == "EyeLike":
        t, to = g.pick(ALL, rank=2), g.choice(ALL)
        return out(g, op, [t], [(to, t.shape)], k=g.integer(-3, 3), dtype=onnx_type(to))
    t = g.pick(ALL)
    if op == "Size": return out(g, op, [t], [("int64", ())])
    if op == "Shape":
        a, b = g.integer(-5, 5), g.integer(-5, 5)
        return out(g, op, [t], [("int64", (len(range(t.rank)[slice(a, b)]),))], start=a, end=b)
    if op == "ConstantOfShape":
        value = special(g.kind, g.rng, t.dtype, (1,))
        return out(g, op, [g.constant(np.array(t.shape, np.int64))], [(t.dtype, t.shape)],
                   value=onnx.numpy_helper.from_array(value))
    depth, shape, kind = g.integer(1, 6), g.shape(g.integer(0, 2)), g.choice(["int64", "int32", "float32"])
    at = g.integer(-len(shape) - 1, len(shape))
    where = at if at >= 0 else len(shape) + 1 + at
    i = g.new_of(g.rng.integers(-depth - 1, depth + 2, shape).astype(kind))
    to = g.choice(ALL)
    out(g, op, [i, g.constant(np.array(depth, g.choice([np.int64, np.float32]))), g.new(to, (2,))],
        [(to, shape[:where] + (depth,) + shape[where:])], axis=at)


@row("Slice")
def cut(g, op):
    """Any starts and ends: beyond the tensor, and empty."""
    t = g.pick(ALL, least=1)
    axes = sorted(g.rng.choice(t.rank, g.integer(1, t.rank), replace=False).tolist())
    shape, starts, ends, steps = list(t.shape), [], [], []
    for a in axes:
        start, end, step = g.integer(-9, 9), g.integer(-9, 9), g.choice([1, 1, 2, -1, -2, 7])
        n = t.shape[a]
        clip_ = lambda v, low, high: min(max(v + n if v < 0 else v, low), high)
        low, high = (0, n) if step > 0 else (-1, n - 1)
        shape[a] = len(range(clip_(start, 0, high) if n else 0, clip_(end, low, high) if n else 0, step))
        starts.append(start), ends.append(end), steps.append(step)
    kind = g.choice([np.int64, np.int32])
    out(g, op, [t] + [g.constant(np.array(v, kind)) for v in (starts, ends, axes, steps)], [(t.dtype, shape)])


@row("Compress")
def compress(g, op):
    t = g.pick(ALL, least=1)
    at = g.integer(0, t.rank - 1)
    keep = g.rng.random(g.integer(0, t.shape[at])) < 0.5
    out(g, op, [t, g.constant(keep)], [(t.dtype, t.shape[:at] + (int(keep.sum()),) + t.shape[at + 1:])], axis=at)


@row("ScatterElements", "GatherElements")
def elements(g, op):
    t = g.pick(ALL, least=1)
    at, written = g.axis(t)
    shape = [g.integer(0 if g.sizes == "empty" else 1, max(n, 1)) if n or d == at else 0 for d, n in enumerate(t.shape)]
    if op == "GatherElements":
        return out(g, op, [t, g.indices_of(t.shape[at], shape, g.choice(["int64", "int32"]))],
                   [(t.dtype, shape)], axis=written)
    shape[at] = min(shape[at], t.shape[at])
    order = np.argsort(g.rng.random([*shape[:at], t.shape[at], *shape[at + 1:]]), axis=at)
    i = np.take(order, range(shape[at]), at).astype(g.choice([np.int64, np.int32]))
    reduction = g.choice(["none", "none", "add", "mul", "max", "min"])
    if t.dtype == "bool" and reduction in ("add", "mul"): raise Redraw
    out(g, op, [t, g.new_of(i), g.new(t.dtype, shape)], [(t.dtype, t.shape)], axis=written, reduction=reduction)


@row("QuantizeLinear", "DequantizeLinear", "DynamicQuantizeLinear")
def quantize(g, op):
    if op == "DynamicQuantizeLinear":
        t = g.pick(["float32"])
        if not t.size: raise Redraw
        return out(g, op, [t], [("uint8", t.shape), ("float32", ()), ("uint8", ())])
    kind = g.choice(["int8", "uint8", "int16", "uint16"])
    t = g.pick(["float32"] if op[0] == "Q" else [kind], least=1)
    if op[0] == "D" and t.dtype not in ("int8", "uint8", "int16", "uint16", "int32"): raise Redraw
    kind = t.dtype if op[0] == "D" else kind
    at = g.integer(0, t.rank - 1)
    shape = (t.shape[at],) if g.chance(0.4) else ()
    scale = g.constant(g.rng.choice([0.05, 0.5, 0.0317, 2.0], shape).astype(np.float32))
    zero = [g.constant(np.zeros(shape, kind) if kind == "int32" else g.rng.integers(0, 9, shape).astype(kind))]
    out(g, op, [t, scale] + (zero if op[0] == "Q" or g.chance(0.7) else []),
        [(kind if op[0] == "Q" else "float32", t.shape)], axis=at if shape else None)


@row("QLinearMatMul")
def quantized_product(g, op):
    a, b, y = (g.choice(["int8", "uint8"]) for _ in range(3))
    m, k, n = g.shape(3)
    grid = lambda d: [g.constant(np.float32(g.choice([0.05, 0.02]))), g.constant(np.array(g.integer(0, 9), d))]
    out(g, op, [g.new(a, (m, k), 0), *grid(a), g.new(b, (k, n)), *grid(b), *grid(y)], [(y, (m, n))])


@row("QLinearConv")
def quantized_conv(g, op):
    a = g.choice(["int8", "uint8"])
    t = g.new(a, (g.integer(1, 2), g.integer(1, 4), g.integer(3, 6), g.integer(3, 6)), 0)
    kernel, strides, dilations, pads, sizes = graphs.window(g, t, 2)
    o = g.integer(1, 5)
    grid = lambda d: [g.constant(np.float32(g.choice([0.05, 0.02]))), g.constant(np.array(g.integer(0, 9), d))]
    scales = [g.constant(g.rng.choice([0.01, 0.02], (o,)).astype(np.float32)), g.constant(np.zeros(o, "int8"))]
    more = [g.constant(g.rng.integers(-99, 99, (o,)).astype(np.int32))] if g.chance(0.5) else []
    out(g, op, [t, *grid(a), g.constant(graphs.values(g.rng, "int8", (o, t.shape[1], *kernel))), *scales,
        *grid(a), *more], [(a, (t.shape[0], o, *sizes))], strides=strides, dilations=dilations, pads=pads)


@row("GlobalLpPool", "GlobalAveragePool", "GlobalMaxPool")
def whole_pool(g, op):
    t = g.pick(FLOATS, rank=g.choice([3, 4, 5]))
    if not np.prod(t.shape[2:]): raise Redraw
    out(g, op, [t], [(t.dtype, (*t.shape[:2], *[1] * (t.rank - 2)))],
        **({"p": g.choice([1, 2, 3])} if "Lp" in op else {}))


@row("MaxPool", "AveragePool", "LpPool")
def pool(g, op):
    dims = g.choice([1, 2, 3])
    t = g.pick(FLOATS + ["int8", "uint8"], rank=dims + 2)
    if not np.prod(t.shape[2:]): raise Redraw
    kernel, strides, dilations, pads, sizes = graphs.window(g, t, dims, op == "MaxPool")
    words = dict(kernel_shape=kernel, strides=strides, pads=pads)
    if op == "AveragePool": words["count_include_pad"] = g.integer(0, 1)
    if op == "MaxPool": words["dilations"] = dilations
    if op == "LpPool": words["p"] = g.choice([1, 2])
    outs = [(t.dtype, (*t.shape[:2], *sizes))]
    out(g, op, [t], outs + ([("int64", outs[0][1])] if op == "MaxPool" and g.chance(0.3) else []), **words)


@row("HannWindow", "HammingWindow", "BlackmanWindow")
def window(g, op):
    n = g.integer(1, 12)
    out(g, op, [g.constant(np.array(n, g.choice([np.int64, np.int32])))], [("float32", (n,))], periodic=g.integer(0, 1))


@row("Det")
def determinant(g, op):
    n = g.integer(1, 4)
    t = g.new(g.choice(["float32", "float64"]), g.shape(g.integer(0, 1)) + (n, n), 0)
    out(g, op, [t], [(t.dtype, t.shape[:-2])])


@row("Dropout")
def dropout(g, op):
    t = g.pick(FLOATS)
    out(g, op, [t], [(t.dtype, t.shape)] + ([("bool", t.shape)] if g.chance(0.5) else []))


@row("CenterCropPad")
def centered(g, op):
    t = g.pick(ALL, least=1)
    shape = [g.integer(1, 8) for _ in t.shape]
    out(g, op, [t, g.constant(np.array(shape, np.int64))], [(t.dtype, shape)])


@row("If", "Loop", "Scan")
def flow(g, op):
    for _ in range(2): g.input("float32", g.shape(2))
    {"If": graphs.branch, "Loop": graphs.loop, "Scan": graphs.scan}[op](g)


@row("TreeEnsembleRegressor", "TreeEnsembleClassifier", domain="ai.onnx.ml")
def trees(g, op):
    """Two trees of three nodes and of one; the branches of NaN, too."""
    t, ml = g.new("float32", (g.integer(1, 5), 3), 0), "ai.onnx.ml"
    mode = g.choice(["BRANCH_LEQ", "BRANCH_LT", "BRANCH_GT", "BRANCH_GTE", "BRANCH_EQ", "BRANCH_NEQ"])
    words = dict(
    nodes_treeids=[
        0, 0, 0, 1], nodes_nodeids=[
            0, 1, 2, 0], nodes_featureids=[
                g.integer(
                    0, 2), 0, 0, 0], nodes_modes=[
                        mode, "LEAF", "LEAF", "LEAF"], nodes_truenodeids=[
                            1, 0, 0, 0], nodes_falsenodeids=[
                                2, 0, 0, 0], nodes_values=[
                                    float(
                                        g.choice(
                                            [
                                                0.0, 0.5, -1.0])), 0.0, 0.0, 0.0], nodes_missing_value_tracks_true=[
                                                    g.integer(
                                                        0, 1), 0, 0, 0], nodes_hitrates=[1.0] * 4)
    leaves, votes = dict(treeids=[0, 0, 1], nodeids=[1, 2, 0]), [float(v) for v in g.rng.normal(0, 1, 3)]
    if op == "TreeEnsembleRegressor":
        return out(g, op, [t], [("float32", (t.shape[0], 1))], domain=ml, n_targets=1, target_ids=[0, 0, 0],
                   target_weights=votes,
                   **words, **{"target_" + k: v for k, v in leaves.items()},
                   aggregate_function=g.choice(["SUM", "AVERAGE", "MIN", "MAX"]))
    out(g, op, [t], [("int64", (t.shape[0],)), ("float32", (t.shape[0], 3))], domain=ml, class_ids=[0, 1, 2],
        class_weights=votes, classlabels_int64s=[0, 1, 2], **words, **{"class_" + k: v for k, v in leaves.items()},
        post_transform=g.choice(["NONE", "SOFTMAX", "LOGISTIC"]))


@row("OneHotEncoder", "SVMRegressor", domain="ai.onnx.ml")
def encoder(g, op):
    ml = "ai.onnx.ml"
    if op == "OneHotEncoder":
        t = g.new(g.choice(["int64", "float32"]), (g.integer(1, 4), g.integer(1, 3)), 0)
        return out(g, op, [t], [("float32", t.shape + (3,))], domain=ml, cats_int64s=[0, 1, 3], zeros=1)
    t = g.new("float32", (g.integer(1, 4), 2), 0)
    out(g, op, [t], [("float32", (t.shape[0], 1))], domain=ml, coefficients=[0.5, -1.0], kernel_params=[0.5, 0.0, 3.0],
        kernel_type=g.choice(["LINEAR", "RBF", "SIGMOID"]), n_supports=2, rho=[0.25],
        support_vectors=[0.5, 1.0, -1.0, 0.25])


@row("RotaryEmbedding", "TransposeMatMul", "QuantizeLinear", "DequantizeLinear",
     "QLinearWhere", "QGemm", "MultiHeadAttention", domain="com.microsoft")
def microsoft(g, op):
    ms, f = "com.microsoft", lambda *shape: g.new("float32", shape, 0.3)
    grid = lambda d: [g.constant(np.float32(g.choice([0.05, 0.02]))), g.constant(np.array(g.integer(0, 9), d))]
    if op == "TransposeMatMul": return out(g, op, [f(3, 4), f(3, 2)], [("float32", (4, 2))], domain=ms, transA=1)
    if op == "RotaryEmbedding":
        return out(g, op, [f(1, 2, 3, 4), g.constant(np.array([[0, 1, 2]])),
                   f(5, 2), f(5, 2)], [("float32", (1, 2, 3, 4))], domain=ms)
    if op == "MultiHeadAttention":
        return out(g, op, [f(1, 3, 4), f(1, 2, 4), f(1, 2, 4)], [("float32", (1, 3, 4))], domain=ms, num_heads=2)
    d = g.choice(["int8", "uint8"])
    if op == "QuantizeLinear": return out(g, op, [f(2, 5), *grid(d)], [(d, (2, 5))], domain=ms)
    if op == "DequantizeLinear": return out(g, op, [g.new(d, (2, 5), 0), *grid(d)], [("float32", (2, 5))], domain=ms)
    if op == "QLinearWhere":
        return out(g, op, [g.new("bool", (2, 5), 0), g.new(d, (2, 5), 0), *grid(d),
                   g.new(d, (2, 5), 0), *grid(d), *grid(d)], [(d, (2, 5))], domain=ms)
    zero = g.constant(np.array(0, d))
    out(g, op, [g.new(d, (3, 4), 0), *grid(d), g.constant(graphs.values(g.rng, d, (4, 5))),
        g.constant(np.float32(0.02)), zero, None, *grid(d)], [(d, (3, 5))], domain=ms)


@row("NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss")
def loss(g, op):
    n, c = g.integer(1, 4), g.integer(1, 5)
    lead = g.choice([(), (3,), (2, 2)])
    t = g.new(g.choice(["float32", "float64"]), (n, c, *lead), 0)
    to = g.constant(g.rng.integers(0, c, (n, *lead)).astype(g.choice([np.int64, np.int32])))
    reduction = g.choice(["none", "mean", "sum"])
    weight = [g.constant((np.abs(graphs.values(g.rng, t.dtype, (c,))) + 0.1).astype(t.dtype))] if g.chance(0.4) else []
    shape = (n, *lead) if reduction == "none" else ()
    out(g, op, [t, to] + weight, [(t.dtype, shape)], reduction=reduction, ignore_index=g.choice([None, 0]))


@row("RoiAlign", "MaxRoiPool")
def regions(g, op):
    n, c, h, w, count = g.integer(1, 2), g.integer(1, 2), g.integer(3, 6), g.integer(3, 6), g.integer(1, 3)
    t = g.new("float32", (n, c, h, w), 0)
    a = g.rng.uniform(0, 2.5, (count, 4)).astype(np.float32)
    a[:, 2:] += a[:, :2]
    which = g.rng.integers(0, n, count)
    if op == "MaxRoiPool":
        rois = np.concatenate([which[:, None], np.round(a)], 1).astype(np.float32)
        return out(g, op, [t, g.constant(rois)], [("float32", (count, c, 2, 2))], pooled_shape=[2, 2])
    out(g, op, [t, g.constant(a), g.constant(which.astype(np.int64))], [("float32", (count, c, 2, 3))], output_height=2,
        output_width=3, sampling_ratio=g.integer(0, 2), mode=g.choice(["avg", "max"]), spatial_scale=1.0,
        coordinate_transformation_mode=g.choice(["half_pixel", "output_half_pixel"]))


@row("AffineGrid")
def affine(g, op):
    n, h, w = g.integer(1, 2), g.integer(1, 4), g.integer(1, 4)
    out(g, op, [g.new("float32", (n, 2, 3), 0), g.constant(np.array([n, 1, h, w], np.int64))],
        [("float32", (n, h, w, 2))], align_corners=g.integer(0, 1))


@row("DFT", "STFT")
def transform(g, op):
    if op == "DFT":
        t = g.new("float32", (g.integer(1, 2), g.integer(1, 8), g.integer(1, 2)), 0)
        return out(g, op, [t], [("float32", t.shape[:2] + (2,))])
    t = g.new("float32", (1, 16, 1), 0)
    out(g, op, [t, g.constant(np.int64(4)), None, g.constant(np.int64(8))], [("float32", (1, 3, 5, 2))])


@row("Col2Im")
def columns(g, op):
    h, w, kh, kw = g.integer(2, 5), g.integer(2, 5), g.integer(1, 2), g.integer(1, 2)
    count = (h - kh + 1) * (w - kw + 1)
    t = g.new(g.choice(["float32", "float64", "int32"]), (1, 2 * kh * kw, count), 0)
    out(g, op, [t, g.constant(np.array([h, w], np.int64)), g.constant(
        np.array([kh, kw], np.int64))], [(t.dtype, (1, 2, h, w))])


@row("MaxUnpool")
def unpool(g, op):
    t = g.new("float32", (1, 1, 2, 2), 0)
    i = np.array([[[[0, 3], [9, 14]]]], np.int64)
    out(g, op, [t, g.constant(i)], [("float32", (1, 1, 4, 4))], kernel_shape=[2, 2], strides=[2, 2])


@row("DeformConv")
def deform(g, op):
    t = g.new("float32", (1, 2, 4, 4), 0)
    w, offset = g.constant(graphs.values(g.rng, "float32", (3, 2, 2, 2))), g.new("float32", (1, 8, 3, 3), 0)
    out(g, op, [t, w, offset], [("float32", (1, 3, 3, 3))], kernel_shape=[2, 2])


@row("Attention", opset=23)
def attention(g, op):
    b, h, q, k, d = g.integer(1, 2), g.integer(1, 2), g.integer(1, 4), g.integer(1, 4), g.integer(1, 4)
    ins = [g.new("float32", (b, h, q, d), 0), g.new("float32", (b, h, k, d), 0), g.new("float32", (b, h, k, d), 0)]
    if g.chance(0.4): ins.append(g.new(g.choice(["bool", "float32"]), (q, k)))
    out(g, op, ins, [("float32", (b, h, q, d))], is_causal=g.integer(0, 1))


@row("RotaryEmbedding", opset=23)
def rotary(g, op):
    b, h, s, d = g.integer(1, 2), g.integer(1, 2), g.integer(1, 3), 2 * g.integer(1, 3)
    out(g, op, [g.new("float32", (b, h, s, d), 0), g.new("float32", (5, d // 2)), g.new("float32", (5, d // 2)),
                g.constant(g.rng.integers(0, 5, (b, s)))], [("float32", (b, h, s, d))], interleaved=g.integer(0, 1))


@row("Upsample", opset=9)
def upsample(g, op):
    t = g.new("float32", (1, 2, g.integer(1, 4), g.integer(1, 4)), 0)
    by = [g.integer(1, 3), g.integer(1, 3)]
    out(g, op, [t, g.constant(np.array([1, 1, *by], np.float32))],
        [("float32", (1, 2, t.shape[2] * by[0], t.shape[3] * by[1]))], mode=g.choice(["nearest", "linear"]))


@row("Binarizer", "Normalizer", "Scaler", "Imputer", domain="ai.onnx.ml")
def classical(g, op):
    t = g.new(g.choice(["float32", "float32", "float64", "int64", "int32"]), (g.integer(1, 4), g.integer(1, 5)), 0)
    n, to = t.shape[1], "float32"
    if op == "Binarizer": to, words = t.dtype, {"threshold": 0.5}
    elif op == "Normalizer": words = {"norm": g.choice(["MAX", "L1", "L2"])}
    elif op == "Scaler": words = {"offset": g.rng.normal(0, 1, n).tolist(), "scale": g.rng.normal(0, 1, n).tolist()}
    else:
        to = t.dtype
        if t.is_float: words = {"imputed_value_floats": g.rng.normal(0, 1, g.choice([1, n])).tolist(),
                                "replaced_value_float": float(g.choice([np.nan, 0.0, 1.0]))}
        else:
            words = {"imputed_value_int64s": [int(v) for v in g.rng.integers(-5, 5, g.choice([1, n]))],
                     "replaced_value_int64": 0}
    out(g, op, [t], [(to, t.shape)], domain="ai.onnx.ml", **words)


@row("LinearRegressor", "LinearClassifier", "ArrayFeatureExtractor",
     "LabelEncoder", "FeatureVectorizer", domain="ai.onnx.ml")
def linear(g, op):
    t = g.new(g.choice(["float32", "float32", "int64"]) if op !=
              "LabelEncoder" else "int64", (g.integer(1, 4), g.integer(1, 4)), 0)
    n, k, ml = t.shape[1], g.integer(2, 3), "ai.onnx.ml"
    if op == "ArrayFeatureExtractor":
        i = g.constant(g.rng.integers(0, n, (1, g.integer(1, 3))).astype(np.int64))
        return out(g, op, [t, i], [(t.dtype, (t.shape[0], i.shape[1]))], domain=ml)
    if op == "LabelEncoder":
        return out(g, op, [t], [("float32", t.shape)], domain=ml, keys_int64s=[0, 1, 2], values_floats=[5.0, 6.0, 7.0],
                   default_float=-1.0)
    if op == "FeatureVectorizer":
        return out(g, op, [t], [("float32", t.shape)], domain=ml, inputdimensions=[n])
    w = [float(v) for v in g.rng.normal(0, 1, n * k)]
    b = [float(v) for v in g.rng.normal(0, 1, k)]
    post = g.choice(["NONE", "SOFTMAX", "LOGISTIC"])
    if op == "LinearRegressor":
        return out(g, op, [t], [("float32", (t.shape[0], k))], domain=ml, coefficients=w, intercepts=b, targets=k)
    out(g, op, [t], [("int64", (t.shape[0],)), ("float32", (t.shape[0], k))], domain=ml, coefficients=w, intercepts=b,
        classlabels_ints=list(range(k)), post_transform=post, multi_class=1)


@row("BiasGelu", "FastGelu", "QuickGelu", "Gelu", domain="com.microsoft")
def microsoft_gelu(g, op):
    t = g.new("float32", g.shape(g.integer(1, 3)), 0)
    more = [g.new("float32", t.shape[-1:])] if op == "BiasGelu" else []
    out(g, op, [t] + more, [("float32", t.shape)], domain="com.microsoft")


@row("QLinearAdd", "QLinearMul", "QLinearSigmoid", "QLinearLeakyRelu", "QLinearSoftmax", "QLinearConcat",
     "QLinearGlobalAveragePool", "QLinearAveragePool", domain="com.microsoft")
def microsoft_quantized(g, op):
    d = g.choice(["int8", "uint8"])
    grid = lambda: [g.constant(np.float32(g.choice([0.05, 0.02, 0.1]))), g.constant(np.array(g.integer(0, 20), d))]
    rank = 4 if "Pool" in op else g.integer(1, 3)
    t, ms = g.new(d, tuple(max(n, 1) for n in g.shape(rank)), 0), "com.microsoft"
    shape = t.shape
    words = {}
    if op in ("QLinearAdd", "QLinearMul"): ins = [t, *grid(), g.new(d, shape, 0.3), *grid(), *grid()]
    elif op == "QLinearConcat":
        b = g.new(d, shape, 0.3)
        ins, words = [*grid(), t, *grid(), b, *grid()], {"axis": 0}
        shape = (2 * shape[0],) + shape[1:]
    else:
        ins = [t, *grid(), *grid()]
        if op == "QLinearLeakyRelu": words = {"alpha": 0.1}
        if op == "QLinearSoftmax": words = {"axis": -1, "opset": 13}
        if op == "QLinearGlobalAveragePool": shape, words = shape[:2] + (1, 1), {"channels_last": 0}
        if op == "QLinearAveragePool": shape, words = shape, {"kernel_shape": [1, 1]}
    out(g, op, ins, [(d, shape)], domain=ms, **words)


@row("FusedMatMul", "FusedGemm", "FusedConv", "SkipLayerNormalization", "SkipSimplifiedLayerNormalization",
     "MatMulIntegerToFloat", "DynamicQuantizeMatMul", domain="com.microsoft")
def microsoft_fused(g, op):
    ms, f = "com.microsoft", lambda *shape: g.new("float32", shape, 0.3)
    m, k, n = g.integer(1, 5), g.integer(1, 5), g.integer(1, 5)
    if op == "FusedMatMul": return out(g, op, [f(k, m), f(k, n)], [("float32", (m, n))], domain=ms, transA=1, alpha=0.5)
    if op == "FusedGemm":
        return out(g, op, [f(m, k), f(k, n), f(n)], [("float32", (m, n))],
                   domain=ms, activation=g.choice(["Relu", "Sigmoid", "Tanh"]))
    if op == "FusedConv":
        return out(g, op, [f(1, k, 4, 4), g.constant(graphs.values(g.rng, "float32", (n, k, 2, 2)))],
                   [("float32", (1, n, 3, 3))], domain=ms, activation=g.choice(["Relu", "Sigmoid", "Tanh"]))
    if op.startswith("Skip"):
        more = [f(k), f(k)] if op == "SkipLayerNormalization" else [f(k)]
        return out(g, op, [f(1, m, k), f(1, m, k), *more], [("float32", (1, m, k))], domain=ms, epsilon=1e-2)
    b = g.constant(graphs.values(g.rng, "int8", (k, n)))
    if op == "DynamicQuantizeMatMul":
        return out(g, op, [f(m, k), b, g.constant(np.array([0.02], np.float32))], [("float32", (m, n))], domain=ms)
    out(g, op, [g.new("uint8", (m, k), 0), b, g.constant(np.array([0.02], np.float32)),
        g.constant(np.array([0.03], np.float32))], [("float32", (m, n))], domain=ms)


# ---- Cases


@functools.cache
def schema(op, opset, domain):
    try:
        return onnx.defs.get_schema(op, opset if not domain else 5, domain)
    except onnx.defs.SchemaError:
        return None


def is_legal(g, opset):
    """Whether the types of the nodes' inputs are those of their schemas."""
    kinds = {t.name: t.dtype for t in g.tensors + g.inputs}
    kinds.update((c.name, helper.tensor_dtype_to_np_dtype(c.data_type).name) for c in g.constants)
    names = {"float32": "float", "float64": "double"}
    for node in g.nodes:
        s = schema(node.op_type, opset, node.domain)
        if s is None: continue
        bound = {}
        for i, name in enumerate(node.input):
            if not name: continue
            if not s.inputs: return False
            formal = s.inputs[min(i, len(s.inputs) - 1)]
            dtype = kinds.get(name, "")
            if "tensor(%s)" % names.get(dtype, dtype) not in formal.types: return False
            if formal.is_homogeneous and bound.setdefault(formal.type_str, dtype) != dtype: return False
    return True


class Case(graphs.Case):
    def __init__(self, model, feeds, label, operator, type_, values, sizes):
        super().__init__(model, feeds, label)
        self.operator, self.type, self.values, self.sizes = operator, type_, values, sizes

    def expected(self):
        try:
            return super().expected()
        except reference.NoReference as why:
            self.by = known.EVALUATOR
            return [reference.by_formula(self.model, self.feeds, why)]


# Drawn in bfloat16, too, between casts of the inputs and outputs: operators of one element of each operand, and moves.
BFLOAT16 = set("""Abs Neg Relu Sigmoid Tanh Exp Log Sqrt Erf Sin Cos Floor Ceil Sign Reciprocal Gelu Add Sub Mul Div Min
Max Equal Less Greater Where Clip Concat Transpose Reshape Gather GatherElements Slice Expand Tile Squeeze Unsqueeze
Flatten ScatterND Identity LeakyRelu Elu""".split())


class Halves(Case):
    """Elements of 8 bits of precision: a result is rounded once or twice."""

    def measured(self, expected, rng):
        masks, spread = super().measured(expected, rng)
        return masks, [s + 1e-2 * np.abs(e) if e.dtype == np.float32 else s for s, e in zip(spread, expected)]


def in_bfloat16(case):
    """The case with its floats in bfloat16; None: the operator does not take them."""
    model = onnx.ModelProto()
    model.CopyFrom(case.model)
    graph, to = model.graph, onnx.TensorProto
    node = graph.node[-1]
    floats = {v.name for v in [*graph.input, *graph.output] if v.type.tensor_type.elem_type == to.FLOAT}
    floats |= {c.name for c in graph.initializer if c.data_type == to.FLOAT}
    rest = [n for n in node.input if n in floats], [n for n in node.output if n in floats]
    if len(graph.node) > 1 or not rest[0]: return None
    cast = lambda x, y, kind: helper.make_node("Cast", [x], [y], name=y + "_cast", to=kind)
    before = [cast(n, n + "_16", to.BFLOAT16) for n in dict.fromkeys(rest[0])]
    after = [cast(n + "_16", n, to.FLOAT) for n in rest[1]]
    for names in (node.input, node.output): names[:] = [n + "_16" if n in rest[0] + rest[1] else n for n in names]
    nodes = [*before, node, *after]
    del graph.node[:]
    graph.node.extend(nodes)
    try:
        onnx.checker.check_model(model, full_check=True)
    except Exception:
        return None
    return Halves(model, case.feeds, case.label + ", bfloat16", case.operator, "bfloat16", case.values, case.sizes)


NAMES = sorted(ROWS)
ROUND = len(NAMES) * ROUNDS         # so many numbers have every operator with all values, and with all sizes

# Operators of `loopwright ops --onnx` that are drawn elsewhere, or not at all.
OMITTED = [
    ("Bernoulli Multinomial RandomNormal RandomNormalLike RandomUniform RandomUniformLike", "random results"),
    ("Constant", "a constant of every model"),
    ("NonMaxSuppression NonZero Unique", "the data decide the size of the result"),
    ("ConcatFromSequence Optional OptionalGetElement OptionalHasElement SequenceAt SequenceConstruct SequenceEmpty "
     "SequenceErase SequenceInsert SequenceLength SequenceMap SplitToSequence ai.onnx.ml.CastMap "
     "ai.onnx.ml.CategoryMapper ai.onnx.ml.DictVectorizer ai.onnx.ml.ZipMap TfIdfVectorizer ImageDecoder",
     "values that are not tensors of numbers"),
    ("ai.onnx.preview.training.Adagrad ai.onnx.preview.training.Adam ai.onnx.preview.training.Gradient "
     "ai.onnx.preview.training.Momentum", "ONNX Runtime has none"),
    ("onnx.brevitas.BipolarQuant onnx.brevitas.Quant qonnx.custom_op.general.BipolarQuant "
     "qonnx.custom_op.general.IntQuant qonnx.custom_op.general.Quant", "ONNX Runtime has none"),
    ("Scatter SimplifiedLayerNormalization MelWeightMatrix", "another name, or only constants"),
    ("CausalConvWithState LinearAttention SwiGLU TensorScatter ai.onnx.ml.SVMClassifier ai.onnx.ml.TreeEnsemble "
     "com.microsoft.Attention com.microsoft.DynamicQuantizeLSTM com.microsoft.EmbedLayerNormalization "
     "com.microsoft.GroupQueryAttention com.microsoft.MatMulNBits", "only the backend suite and recorded models"),
]


def unlisted(supported):
    """Of the operators, those that are neither drawn nor omitted."""
    known_ = set(ROWS) | {n for names, _ in OMITTED for n in names.split()}
    return [n for n in supported if n not in known_ and not n.startswith("loopwright.annotation.")]


def draw(rng, number):
    name = NAMES[number % len(NAMES)]
    op, function, opset = ROWS[name]
    for tries in range(200):
        g = Node(rng, number // len(NAMES))
        try:
            function(g, op) if op else function(g)
        except (Redraw, ValueError, IndexError, OverflowError, ZeroDivisionError):
            continue
        if not g.nodes or (op and g.nodes[-1].op_type != op) or not is_legal(g, opset): continue
        made = {n for node in g.nodes for n in node.output}
        outputs = [t for t in g.tensors if t.name in made and t.name not in g.read]
        used = {n for node in g.nodes for n in node.input} | g.read
        g.inputs = [t for t in g.inputs if t.name in used]
        g.constants = [c for c in g.constants if c.name in used]
        node = g.nodes[-1]
        kinds = {t.name: t.dtype for t in g.inputs + g.tensors}
        kinds.update((c.name, helper.tensor_dtype_to_np_dtype(c.data_type).name) for c in g.constants)
        type_ = next((kinds[n] for n in node.input if n in kinds), "")
        operator = (node.domain + "." if node.domain else "") + node.op_type
        case = Case(graphs.model_of(g, outputs, opset), {t.name: g.feeds[t.name] for t in g.inputs},
                    "%s %s %s, %s" % (operator, type_, g.kind, g.sizes), operator, type_, g.kind, g.sizes)
        is_turn = number >= ROUND and number % 2 == 0 and g.kind in ("ordinary", "zeros", "ties") and name in BFLOAT16
        halves = in_bfloat16(case) if is_turn else None
        if halves or not is_turn or tries > 100: return halves or case
    return None
