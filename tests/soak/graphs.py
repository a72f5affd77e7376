# SPDX-License-Identifier: MIT
"""Random graphs of ONNX operators, legal by construction: each row draws an operator whose constraints on types and
shapes it solves over the tensors that there are, and adapts one (Reshape, Expand, Slice, Pad) where none fits.

`draw(rng, number)` returns a Case: a model with several outputs, shared nodes, constants, now and then control flow,
and a value for each input.
"""
import numpy as np
from onnx import TensorProto, helper, numpy_helper, printer

import known
import reduce
import reference

OPSET, IR = 21, 10
VERSIONS = {"ai.onnx.ml": 3}           # of the other domains; 1
FLOATS = ["float32", "float64", "float16"]
SIGNED = ["int8", "int16", "int32", "int64"]
UNSIGNED = ["uint8", "uint16", "uint32", "uint64"]
INTS = SIGNED + UNSIGNED
NUMBERS = FLOATS + INTS
SIZES = [1, 1, 2, 2, 3, 3, 4, 4, 5, 6, 7, 8, 9, 12, 16, 17]
MOST_ELEMENTS = 4000


def onnx_type(dtype):
    return helper.np_dtype_to_tensor_dtype(np.dtype(dtype))


class Case:
    """A model and its inputs by name. `samples`: the case with each of several inputs; `expected` has a list of outputs
    for each. `fills`: the bytes that memory begins with, in each of the runs."""
    file, by, words, fills = "model.onnx", known.ORT, [], [0]
    samples = property(lambda case: [case])

    def __init__(self, model, feeds, label):
        self.model, self.feeds, self.label, self.why = model, feeds, label, None
        self.outputs = [o.name for o in model.graph.output]

    def bytes(self):
        return self.model.SerializeToString()

    def text(self):
        return printer.to_text(self.model)

    def expected(self):
        return [reference.run(self.model, self.feeds)]

    def reduced(self, fails):
        return reduce.smaller(self, fails)

    def prepare(self, folder, fill, is_sanitized):
        """Changes the emitted C of the run that begins with this byte."""

    def types(self):
        """Type and shape of every tensor, as computed: inference does not know all of them."""
        try:
            values_ = reduce.values_of(self.model, self.feeds)
        except reference.NoReference:
            return reference.types_of(self.model)
        known_ = {n: (onnx_type(x.dtype), list(x.shape)) for n, x in values_.items()}
        known_.update((c.name, (c.data_type, list(c.dims))) for c in self.model.graph.initializer)
        return known_

    def measured(self, expected, rng):
        """Behind other operators a small sum may have large terms, and is as exact as these."""
        masks, spread = reference.measured(self.model, self.feeds, expected, rng, self.types())
        if len(self.model.graph.node) > 1: spread = [s + small_sums(e) for s, e in zip(spread, expected)]
        return masks, spread


def small_sums(e):
    return 1e-6 * np.abs(e[np.isfinite(e)]).max(initial=0) if e.dtype == np.float32 else 0


class Tensor:
    def __init__(self, name, dtype, shape, depth=0):
        self.name, self.dtype, self.shape, self.depth = name, str(np.dtype(dtype)), tuple(int(n) for n in shape), depth

    rank = property(lambda t: len(t.shape))
    size = property(lambda t: int(np.prod(t.shape, dtype=np.int64)))
    is_float = property(lambda t: t.dtype in FLOATS)


def values(rng, dtype, shape):
    """Ordinary values, with repeated ones, so that ties occur."""
    return np.asarray(drawn(rng, np.dtype(dtype), shape), dtype)


def drawn(rng, dtype, shape):
    if dtype == np.bool_: return rng.random(shape) < 0.5
    if dtype.kind == "f":
        x = rng.normal(0, rng.choice([0.5, 1, 4]), shape)
        return (np.round(x * 4) / 4 if rng.random() < 0.3 else x).astype(dtype)
    if rng.random() < 0.2 and dtype.itemsize < 4:
        limits = np.iinfo(dtype)
        return rng.integers(limits.min, limits.max, shape, dtype=dtype, endpoint=True)
    return rng.integers(0 if dtype.kind == "u" else -9, 10, shape).astype(dtype)


class Graph:
    """The graph so far. `scope` has the names of an outer graph in front."""

    def __init__(self, rng, prefix=""):
        self.rng, self.prefix, self.number = rng, prefix, 0
        self.tensors, self.inputs, self.feeds, self.nodes, self.constants, self.read = [], [], {}, [], [], set()
        self.values = values

    def full(self, t):
        """What a row accepts that expects elements."""
        return t.size > 0

    # -- drawing
    def choice(self, items):
        return items[int(self.rng.integers(len(items)))]

    def chance(self, p):
        return self.rng.random() < p

    def integer(self, low, high):
        """low..high, both included."""
        return int(self.rng.integers(low, high + 1))

    def shape(self, rank=None, sizes=SIZES):
        rank = self.integer(0, 4) if rank is None else rank
        while True:
            shape = tuple(self.choice(sizes) for _ in range(rank))
            if np.prod(shape, dtype=np.int64) <= MOST_ELEMENTS: return shape

    # -- tensors
    def fresh(self, stem="t"):
        self.number += 1
        return "%s%s%d" % (self.prefix, stem, self.number)

    def constant(self, value, stem="c"):
        value = np.asarray(value)
        t = Tensor(self.fresh(stem), value.dtype, value.shape)
        self.constants.append(numpy_helper.from_array(np.array(value, order="C"), t.name))
        return t

    def input(self, dtype, shape):
        t = Tensor(self.fresh("x"), dtype, shape)
        self.inputs.append(t)
        self.feeds[t.name] = self.values(self.rng, dtype, t.shape)
        self.tensors.append(t)
        return t

    def new(self, dtype, shape, constant=0.5):
        if self.prefix or self.chance(constant): return self.constant(self.values(self.rng, dtype, shape))
        return self.input(dtype, shape)

    def add(self, op, ins, outs, domain="", **attributes):
        """outs: (dtype, shape) of each; dtype None: an absent output."""
        made = [Tensor(self.fresh() if d else "", d or "int8", s) for d, s in outs]
        node = helper.make_node(op, [t.name if t else "" for t in ins], [t.name for t in made],
                                name=self.fresh("n"), domain=domain,
                                **{k: v for k, v in attributes.items() if v is not None})
        self.nodes.append(node)
        self.read |= set(node.input)
        self.tensors += [t for t in made if t.name]
        return made[0] if len(made) == 1 else made

    def pick(self, types, rank=None, least=0, where=None):
        """A tensor of one of the types: one that there is, the later ones more often, or an adapted or new one."""
        found = [t for t in self.tensors if t.dtype in types and t.size <= MOST_ELEMENTS and t.rank >= least
                 and (rank is None or t.rank == rank) and (not where or where(t))]
        if found and self.chance(0.85):
            return found[-1 - min(int(self.rng.exponential(3)), len(found) - 1)]
        dtype = "float32" if "float32" in types and self.chance(0.7) else self.choice(types)
        wanted = rank if rank is not None else self.integer(least, max(least, 4))
        while True:
            t = Tensor("", dtype, self.shape(wanted))
            if not where or where(t): return self.want(dtype, t.shape)

    def want(self, dtype, shape):
        """A tensor of exactly this type and shape."""
        shape = tuple(shape)
        same = [t for t in self.tensors if t.dtype == dtype and t.shape == shape]
        if same and self.chance(0.8): return self.choice(same)
        near = [t for t in self.tensors if t.dtype == dtype and t.size and np.prod(shape, dtype=np.int64)]
        if near and self.chance(0.5): return self.adapted(self.choice(near), shape)
        return self.new(dtype, shape)

    def adapted(self, t, shape):
        count = int(np.prod(shape, dtype=np.int64))
        if t.size == count: return self.reshaped(t, shape)
        if t.rank == len(shape) and t.dtype != "bool":
            most = [min(a, b) for a, b in zip(t.shape, shape)]
            if tuple(most) != t.shape:
                t = self.add("Slice", [t, self.constant([0] * t.rank), self.constant(most)], [(t.dtype, most)])
            after = [b - a for a, b in zip(most, shape)]
            if any(after):
                t = self.add("Pad", [t, self.constant([0] * t.rank + after)], [(t.dtype, shape)])
            return t
        if t.size == 1 and shape: return self.add("Expand", [t, self.constant(list(shape))], [(t.dtype, shape)])
        if t.size > count:
            flat = self.reshaped(t, (t.size,))
            cut = self.add("Slice", [flat, self.constant([t.size - count]), self.constant([t.size])],
                           [(t.dtype, (count,))])
            return self.reshaped(cut, shape)
        return self.new(t.dtype, shape)

    def reshaped(self, t, shape):
        if t.shape == tuple(shape): return t
        return self.add("Reshape", [t, self.constant(np.array(shape, np.int64))], [(t.dtype, shape)])

    def cast(self, t, dtype):
        return t if t.dtype == dtype else self.add("Cast", [t], [(dtype, t.shape)], to=onnx_type(dtype))

    def pair(self, types, ends_first=False):
        """Two tensors that broadcast, and the shape of the result."""
        a = self.pick(types)
        kind = self.integer(0, 3)
        if kind == 0: other = a.shape
        elif kind == 1: other = a.shape[self.integer(0, a.rank):]
        elif kind == 2: other = tuple(1 if self.chance(0.4) else n for n in a.shape)
        else:
            other = tuple(self.choice(SIZES[:8]) if n == 1 and self.chance(0.5) else n for n in a.shape)
            other = (self.choice([1, 2, 3]),) + other if len(other) < 4 and self.chance(0.3) else other
        if np.prod(np.broadcast_shapes(a.shape, other), dtype=np.int64) > MOST_ELEMENTS: other = a.shape
        b = self.want(a.dtype, other)
        if not ends_first and self.chance(0.5): a, b = b, a
        return a, b, np.broadcast_shapes(a.shape, b.shape)

    def axis(self, t):
        a = self.integer(0, t.rank - 1)
        return a, a - t.rank if self.chance(0.3) else a

    def guarded(self, t, low=None, high=None, absolute=False, plus=0.0):
        """Values within an operator's domain."""
        if absolute: t = self.add("Abs", [t], [(t.dtype, t.shape)])
        if low is not None:
            ends = [self.constant(np.array(v, t.dtype)) if v is not None else None for v in (low, high)]
            t = self.add("Clip", [t] + ends, [(t.dtype, t.shape)])
        return self.add("Add", [t, self.constant(np.array(plus, t.dtype))], [(t.dtype, t.shape)]) if plus else t


ROWS = []


def row(weight=1.0):
    def register(f):
        ROWS.append((weight, f))
        return f
    return register


REAL = ["float32"] * 6 + ["float64"]
MOVED = ["float32"] * 4 + ["float64", "float16", "int8", "uint8", "int32", "int64", "bool"]

UNARY = {
    "Relu": {}, "Sigmoid": {}, "Tanh": {}, "Erf": {}, "Abs": {}, "Neg": {}, "Floor": {}, "Ceil": {}, "Round": {},
    "Sin": {}, "Cos": {}, "Softplus": {}, "Softsign": {}, "Sign": {}, "HardSwish": {}, "Mish": {}, "Identity": {},
    "Elu": {"alpha": (0.1, 2)}, "Selu": {}, "LeakyRelu": {"alpha": (0.01, 0.5)}, "Celu": {"alpha": (0.3, 2)},
    "HardSigmoid": {"alpha": (0.1, 0.4), "beta": (0.2, 0.6)}, "ThresholdedRelu": {"alpha": (0.1, 1)}, "Atan": {},
    "Asinh": {}, "Shrink": {"lambd": (0.1, 1), "bias": (0, 0.5)},
}
GUARDED = {"Exp": dict(low=-10, high=5), "Log": dict(absolute=True, plus=0.1), "Sqrt": dict(absolute=True),
           "Reciprocal": dict(absolute=True, plus=0.5), "Asin": dict(low=-1, high=1), "Acos": dict(low=-1, high=1),
           "Acosh": dict(absolute=True, plus=1.0), "Atanh": dict(low=-0.9, high=0.9), "Sinh": dict(low=-4, high=4),
           "Cosh": dict(low=-4, high=4), "Tan": dict(low=-1.2, high=1.2)}


@row(5)
def unary(g):
    op = g.choice(list(UNARY))
    t = g.pick(["float32"] if op in ("Softplus", "HardSwish", "Mish", "Celu", "Selu", "Elu", "ThresholdedRelu", "Erf",
                                     "HardSigmoid", "Softsign", "Atan", "Asinh", "Shrink", "LeakyRelu", "Round")
               else REAL)
    attributes = {k: float(g.rng.uniform(*v)) for k, v in UNARY[op].items() if g.chance(0.7)}
    if op == "Elu" and g.chance(0.3): op, attributes = "Gelu", {"approximate": g.choice(["none", "tanh"])}
    g.add(op, [t], [(t.dtype, t.shape)], **attributes)


@row(2)
def guarded(g):
    op = g.choice(list(GUARDED))
    t = g.guarded(g.pick(["float32"]), **GUARDED[op])
    g.add(op, [t], [(t.dtype, t.shape)])


@row(1)
def integer_unary(g):
    op = g.choice(["Abs", "Neg", "Sign", "BitwiseNot"])
    t = g.pick(["int32", "int64", "int8"] + (["uint8"] if op == "BitwiseNot" else []))
    g.add(op, [t], [(t.dtype, t.shape)])


@row(8)
def arithmetic(g):
    op = g.choice(["Add", "Sub", "Mul", "Add", "Mul", "Min", "Max", "Div"])
    a, b, shape = g.pair(REAL + ["int32", "int64"], op == "Div")
    if op == "Div": b = g.guarded(b, absolute=True, plus=1 if b.dtype.startswith("int") else 0.5)
    g.add(op, [a, b], [(a.dtype, shape)])


@row(1)
def power(g):
    a, b, shape = g.pair(["float32"], True)
    a = g.guarded(a, absolute=True, plus=0.1)
    b = g.constant(np.float32(g.choice([2, 0.5, 3, -1, 1, 0]))) if g.chance(0.6) else g.guarded(b, -3, 3)
    g.add("Pow", [a, b], [(a.dtype, np.broadcast_shapes(a.shape, b.shape))])


@row(1)
def modulo(g):
    a, b, shape = g.pair(["int32", "int64", "float32"], True)
    if b.dtype == "float32": b = g.guarded(b, absolute=True, plus=0.5)
    else: b = g.guarded(b, absolute=True, plus=1)
    g.add("Mod", [a, b], [(a.dtype, shape)], fmod=1 if a.dtype == "float32" else g.integer(0, 1))


@row(2)
def comparison(g):
    a, b, shape = g.pair(["float32", "int32", "int64", "float64"])
    g.add(g.choice(["Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual"]), [a, b], [("bool", shape)])


@row(1)
def logic(g):
    a, b, shape = g.pair(["bool"])
    g.add(g.choice(["And", "Or", "Xor"]), [a, b], [("bool", shape)])


@row(0.7)
def bits(g):
    a, b, shape = g.pair(["int32", "uint8", "int64", "int8"])
    g.add(g.choice(["BitwiseAnd", "BitwiseOr", "BitwiseXor"]), [a, b], [(a.dtype, shape)])


@row(0.5)
def negation(g):
    t = g.pick(["bool"])
    g.add("Not", [t], [("bool", t.shape)])


@row(2)
def where(g):
    a, b, shape = g.pair(MOVED[:-1])
    c = g.want("bool", g.choice([shape, a.shape, b.shape]))
    g.add("Where", [c, a, b], [(a.dtype, shape)])


@row(1)
def variadic(g):
    a, b, shape = g.pair(["float32"])
    c = g.want(a.dtype, g.choice([shape, a.shape, ()]))
    g.add(g.choice(["Sum", "Mean", "Max", "Min"]), [a, b, c], [(a.dtype, np.broadcast_shapes(shape, c.shape))])


@row(1.5)
def cast(g):
    t = g.pick(NUMBERS + ["bool"])
    to = g.choice(["float32", "float32", "float64", "int32", "int64", "uint8", "int8", "bool", "float16"])
    if t.is_float and to in INTS: t = g.guarded(t, 0 if to == "uint8" else -100, 100)
    g.cast(t, to)


@row(1)
def clip(g):
    t = g.pick(["float32", "int32", "float64", "int8"])
    ends = [g.constant(np.array(v, t.dtype)) if g.chance(0.8) else None for v in (g.integer(-3, 0), g.integer(1, 6))]
    g.add("Clip", [t] + ends, [(t.dtype, t.shape)])


@row(0.7)
def prelu(g):
    a, b, shape = g.pair(["float32"], True)
    if np.broadcast_shapes(a.shape, b.shape) != a.shape: b = g.new("float32", a.shape[-1:] if a.shape else ())
    g.add("PRelu", [a, b], [(a.dtype, a.shape)])


@row(0.7)
def question(g):
    t = g.pick(["float32", "float64"])
    g.add(g.choice(["IsNaN", "IsInf"]), [t], [("bool", t.shape)])


# ---- Moves


@row(3)
def concat(g):
    t = g.pick(MOVED, least=1)
    at, written = g.axis(t)
    parts = [t]
    for _ in range(g.integer(0 if g.chance(0.1) else 1, 3)):
        parts.append(g.want(t.dtype, t.shape[:at] + (g.choice(SIZES[:10]),) + t.shape[at + 1:]))
    g.rng.shuffle(parts)
    shape = t.shape[:at] + (sum(p.shape[at] for p in parts),) + t.shape[at + 1:]
    g.add("Concat", parts, [(t.dtype, shape)], axis=written)


@row(1.5)
def split(g):
    t = g.pick(MOVED, least=1, where=lambda t: any(n > 1 for n in t.shape))
    at = g.choice([d for d in range(t.rank) if t.shape[d] > 1])
    cuts = sorted(set(g.integer(1, t.shape[at] - 1) for _ in range(g.integer(1, 3))))
    parts = np.diff([0] + cuts + [t.shape[at]])
    g.add("Split", [t, g.constant(parts.astype(np.int64))],
          [(t.dtype, t.shape[:at] + (int(n),) + t.shape[at + 1:]) for n in parts], axis=at)


@row(2.5)
def cut(g):
    t = g.pick(MOVED, least=1, where=g.full)
    axes = sorted(g.rng.choice(t.rank, g.integer(1, t.rank), replace=False).tolist())
    starts, ends, steps, shape = [], [], [], list(t.shape)
    for a in axes:
        n, step = t.shape[a], g.choice([1, 1, 1, 2, 3, -1, -2])
        low = g.integer(0, n - 1)
        high = g.integer(low + 1, n)
        start, end = (low, high) if step > 0 else (high - 1, low - 1 if low else -n - 1)
        shape[a] = len(range(n)[low:high:step]) if step > 0 else len(range(high - 1, low - 1, step))
        if step > 0 and g.chance(0.3): start, end = start - n, end if end == n else end - n
        if step > 0 and high == n and g.chance(0.4): end = 2**63 - 1
        starts.append(start), ends.append(end), steps.append(step)
    g.add("Slice", [t, g.constant(starts), g.constant(np.array(ends, np.int64)), g.constant(axes), g.constant(steps)],
          [(t.dtype, shape)])


@row(2)
def reshape(g):
    t = g.pick(MOVED)
    kind = g.choice(["Reshape", "Flatten", "Squeeze", "Unsqueeze", "Reshape"])
    if kind == "Flatten":
        at = g.integer(0, t.rank)
        return g.add("Flatten", [t], [(t.dtype, (int(np.prod(t.shape[:at])), int(np.prod(t.shape[at:]))))], axis=at)
    ones = [d for d in range(t.rank) if t.shape[d] == 1]
    if kind == "Squeeze" and ones:
        axes = sorted(g.rng.choice(ones, g.integer(1, len(ones)), replace=False).tolist())
        return g.add("Squeeze", [t, g.constant(axes)], [(t.dtype, [n for d, n in enumerate(t.shape) if d not in axes])])
    if kind == "Unsqueeze" and t.rank < 4:
        at = g.integer(0, t.rank)
        return g.add("Unsqueeze", [t, g.constant([at])], [(t.dtype, t.shape[:at] + (1,) + t.shape[at:])])
    factors, left = [], t.size
    while left > 1 and len(factors) < 4:
        f = g.choice([n for n in range(1, left + 1) if left % n == 0])
        factors.append(f)
        left //= f
    shape = factors + [left]
    written = list(shape)
    if t.size and g.chance(0.4): written[g.integer(0, len(shape) - 1)] = -1
    g.add("Reshape", [t, g.constant(written)], [(t.dtype, shape)])


@row(2)
def transpose(g):
    t = g.pick(MOVED, least=1)
    perm = g.rng.permutation(t.rank).tolist()
    if g.chance(0.2): return g.add("Transpose", [t], [(t.dtype, t.shape[::-1])])
    g.add("Transpose", [t], [(t.dtype, [t.shape[p] for p in perm])], perm=perm)


@row(1)
def expand(g):
    t = g.pick(MOVED)
    shape = [g.choice(SIZES[:8]) if n == 1 else n for n in t.shape]
    shape = ([g.choice([1, 2, 3])] if g.chance(0.3) and len(shape) < 4 else []) + shape
    if np.prod(shape, dtype=np.int64) > MOST_ELEMENTS: return
    if g.chance(0.3):
        same = [1] * (len(shape) - t.rank) + list(t.shape)
        return g.add("Expand", [t, g.constant([1] * len(shape))], [(t.dtype, same)])
    g.add("Expand", [t, g.constant(np.array(shape, np.int64))], [(t.dtype, shape)])


@row(1)
def tile(g):
    t = g.pick(MOVED[:-1], least=1)
    by = [g.choice([1, 1, 2, 3]) for _ in t.shape]
    shape = [n * b for n, b in zip(t.shape, by)]
    if np.prod(shape, dtype=np.int64) <= MOST_ELEMENTS: g.add("Tile", [t, g.constant(by)], [(t.dtype, shape)])


@row(2)
def pad(g):
    t = g.pick(["float32", "float32", "int32", "int64", "float64"], least=1)
    mode = g.choice(["constant", "constant", "reflect", "edge", "wrap"])
    most = [min(3, n - 1) if mode == "reflect" else min(3, n) for n in t.shape]
    before, after = ([g.integer(0, m) for m in most] for _ in range(2))
    if mode == "constant" and g.chance(0.3):          # negative: cuts
        before = [g.integer(-1, 2) if n > 3 else b for b, n in zip(before, t.shape)]
    shape = [n + b + a for n, b, a in zip(t.shape, before, after)]
    value = [g.constant(np.array(g.integer(-3, 3), t.dtype))] if mode == "constant" and g.chance(0.5) else []
    if np.prod(shape, dtype=np.int64) <= MOST_ELEMENTS:
        g.add("Pad", [t, g.constant(before + after)] + value, [(t.dtype, shape)], mode=mode)


def indices(g, low, n, shape):
    """Places in 0..n-1, from the end, too; constants, or computed in bounds."""
    if g.chance(0.3):
        whole = g.want("int64", shape)
        n_ = g.constant(np.int64(n))
        return g.add("Mod", [whole, n_], [("int64", whole.shape)])
    v = g.rng.integers(-n if low else 0, n, shape)
    return g.constant(v.astype(g.choice([np.int64, np.int32])))


@row(2)
def gather(g):
    t = g.pick(MOVED, least=1, where=g.full)
    at, written = g.axis(t)
    i = indices(g, True, t.shape[at], g.shape(g.integer(0, 2), SIZES[:8]))
    shape = t.shape[:at] + i.shape + t.shape[at + 1:]
    if np.prod(shape, dtype=np.int64) <= MOST_ELEMENTS: g.add("Gather", [t, i], [(t.dtype, shape)], axis=written)


@row(0.8)
def gather_elements(g):
    t = g.pick(MOVED[:-1], least=1, where=g.full)
    at, written = g.axis(t)
    shape = [g.choice(SIZES[:8]) if d == at else g.integer(1, n) for d, n in enumerate(t.shape)]
    g.add("GatherElements", [t, indices(g, True, t.shape[at], shape)], [(t.dtype, shape)], axis=written)


@row(0.8)
def gather_nd(g):
    t = g.pick(MOVED[:-1], least=1, where=g.full)
    k = g.integer(1, t.rank)
    lead = g.shape(g.integer(0, 2), SIZES[:6])
    i = np.stack([g.rng.integers(-n, n, lead) for n in t.shape[:k]], -1)
    g.add("GatherND", [t, g.constant(i.astype(np.int64))], [(t.dtype, lead + t.shape[k:])])


@row(0.8)
def scatter_elements(g):
    t = g.pick(["float32", "int32", "float64", "int64"], least=1, where=g.full)
    at, written = g.axis(t)
    shape = [g.integer(1, n) for n in t.shape]
    order = np.argsort(g.rng.random([*shape[:at], t.shape[at], *shape[at + 1:]]), axis=at)
    reduction = g.choice(["none", "none", "add", "mul", "max", "min"])
    i = np.take(order, range(shape[at]), at) if reduction == "none" else g.rng.integers(0, t.shape[at], shape)
    g.add("ScatterElements", [t, g.constant(i.astype(np.int64)), g.want(t.dtype, shape)], [(t.dtype, t.shape)],
          axis=written, reduction=reduction)


@row(0.8)
def scatter_nd(g):
    t = g.pick(["float32", "int32", "float64"], least=1, where=g.full)
    k = g.integer(1, t.rank)
    count = int(np.prod(t.shape[:k]))
    flat = g.rng.choice(count, g.integer(1, min(count, 6)), replace=False)
    i = np.stack(np.unravel_index(flat, t.shape[:k]), -1)
    g.add("ScatterND", [t, g.constant(i.astype(np.int64)), g.want(t.dtype, (len(flat),) + t.shape[k:])],
          [(t.dtype, t.shape)], reduction=g.choice(["none", "add", "max"]))


@row(0.6)
def trilu(g):
    t = g.pick(["float32", "float64", "int64"], least=2)
    g.add("Trilu", [t] + ([g.constant(np.int64(g.integer(-3, 3)))] if g.chance(0.6) else []), [(t.dtype, t.shape)],
          upper=g.integer(0, 1))


@row(0.6)
def blocks(g):
    b = g.choice([2, 3])
    if g.chance(0.5):
        n, c, h, w = g.choice([1, 2]), g.choice([1, 2, 3]), g.choice([1, 2, 3, 4]), g.choice([1, 2, 3, 4])
        t = g.want("float32", (n, c * b * b, h, w))
        return g.add("DepthToSpace", [t], [(t.dtype, (n, c, h * b, w * b))], blocksize=b, mode=g.choice(["DCR", "CRD"]))
    n, c, h, w = g.choice([1, 2]), g.choice([1, 2, 3]), g.choice([1, 2, 3]), g.choice([1, 2, 3])
    t = g.want("float32", (n, c, h * b, w * b))
    g.add("SpaceToDepth", [t], [(t.dtype, (n, c * b * b, h, w))], blocksize=b)


@row(0.6)
def reverse_sequence(g):
    t = g.pick(["float32"], least=2, where=g.full)
    lengths = g.constant(g.rng.integers(1, t.shape[0] + 1, t.shape[1]).astype(np.int64))
    g.add("ReverseSequence", [t, lengths], [(t.dtype, t.shape)], time_axis=0, batch_axis=1)


@row(0.6)
def sizes(g):
    """Arithmetic of shapes, which gives a shape again."""
    t = g.pick(MOVED, least=1)
    s = g.add("Shape", [t], [("int64", (t.rank,))])
    if g.chance(0.5):
        halves = g.add("Add", [s, g.constant(np.int64(1))], [("int64", s.shape)])
        shape = [n + 1 for n in t.shape]
        if np.prod(shape, dtype=np.int64) > MOST_ELEMENTS: return
        value = numpy_helper.from_array(g.values(g.rng, "float32", (1,)))
        return g.add("ConstantOfShape", [halves], [("float32", shape)], value=value)
    first = g.add("Slice", [s, g.constant([0]), g.constant([1])], [("int64", (1,))])
    whole = g.add("Concat", [first, g.constant([-1])], [("int64", (2,))], axis=0)
    if t.size: g.add("Reshape", [t, whole], [(t.dtype, (t.shape[0], t.size // t.shape[0]))])


@row(0.5)
def made(g):
    kind = g.choice(["Range", "EyeLike", "OneHot", "Size"])
    if kind == "Range":
        a, n, d = g.integer(-5, 5), g.integer(1, 9), g.choice([1, 2, -1, 3])
        dtype = g.choice(["int64", "float32", "int32"])
        return g.add("Range", [g.constant(np.array(v, dtype)) for v in (a, a + n * d, d)], [(dtype, (n,))])
    if kind == "EyeLike":
        t = g.pick(["float32", "int32"], rank=2)
        return g.add("EyeLike", [t], [("float32", t.shape)], k=g.integer(-2, 2), dtype=TensorProto.FLOAT)
    if kind == "Size":
        t = g.pick(MOVED)
        return g.add("Size", [t], [("int64", ())])
    depth, shape = g.integer(1, 8), g.shape(g.integer(0, 2), SIZES[:8])
    i = indices(g, True, depth, shape)
    at = g.integer(0, len(shape))
    v = g.constant(g.values(g.rng, "float32", (2,)))
    if i.dtype == "int64":
        g.add("OneHot", [i, g.constant(np.int64(depth)), v], [("float32", shape[:at] + (depth,) + shape[at:])], axis=at)


# ---- Reductions


@row(4)
def reduction(g):
    op = g.choice(["ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL1", "ReduceL2",
                   "ReduceSumSquare", "ReduceLogSumExp", "ReduceLogSum"])
    kinds = {"ReduceSum": REAL + ["int32", "int64"], "ReduceMax": REAL + ["int32", "int8", "uint8"],
             "ReduceMin": REAL + ["int32", "int8", "uint8"]}.get(op, ["float32"])
    t = g.pick(kinds, where=g.full)
    if op == "ReduceLogSum": t = g.guarded(t, absolute=True, plus=0.1)
    if op == "ReduceProd": t = g.guarded(t, -1.5, 1.5)
    count = g.integer(0, t.rank)
    axes = g.rng.choice(t.rank, count, replace=False).tolist() if count else []
    keep = g.integer(0, 1)
    all_ = axes or list(range(t.rank))
    written = [a - t.rank if g.chance(0.3) else a for a in axes]
    shape = [1 if d in all_ else n for d, n in enumerate(t.shape) if keep or d not in all_]
    g.add(op, [t] + ([g.constant(np.array(written, np.int64))] if axes else []), [(t.dtype, shape)], keepdims=keep)


@row(1.5)
def arg(g):
    t = g.pick(["float32", "int32", "float64", "uint8"], least=1, where=g.full)
    at, written = g.axis(t)
    keep = g.integer(0, 1)
    shape = t.shape[:at] + ((1,) if keep else ()) + t.shape[at + 1:]
    g.add(g.choice(["ArgMax", "ArgMin"]), [t], [("int64", shape)], axis=written, keepdims=keep,
          select_last_index=g.integer(0, 1))


@row(1)
def top(g):
    t = g.pick(["float32", "int32", "int64", "float64"], least=1, where=g.full)
    at, written = g.axis(t)
    k = g.integer(1, t.shape[at])
    shape = t.shape[:at] + (k,) + t.shape[at + 1:]
    g.add("TopK", [t, g.constant([k])], [(t.dtype, shape), ("int64", shape)], axis=written, largest=g.integer(0, 1))


@row(1)
def cumulative(g):
    t = g.pick(["float32", "int32", "float64", "int64"], least=1)
    at, written = g.axis(t)
    g.add("CumSum", [t, g.constant(np.int64(written))], [(t.dtype, t.shape)], exclusive=g.integer(0, 1),
          reverse=g.integer(0, 1))


@row(2)
def softmax(g):
    t = g.pick(["float32", "float32", "float64"], least=1)
    at, written = g.axis(t)
    g.add(g.choice(["Softmax", "Softmax", "LogSoftmax", "Hardmax"]), [t], [(t.dtype, t.shape)], axis=written)


@row(2)
def normalization(g):
    kind = g.choice(["LayerNormalization", "BatchNormalization", "InstanceNormalization", "GroupNormalization",
                     "LpNormalization", "LRN", "MeanVarianceNormalization"])
    if kind == "LayerNormalization":
        t = g.pick(["float32"], least=1, where=g.full)
        at, written = g.axis(t)
        more = [g.new("float32", t.shape[at:]) for _ in range(g.integer(1, 2))]
        return g.add(kind, [t] + more, [("float32", t.shape)], axis=written, epsilon=float(g.choice([1e-5, 1e-2])))
    if kind == "LpNormalization":
        t = g.pick(["float32"], least=1)
        at, written = g.axis(t)
        return g.add(kind, [t], [("float32", t.shape)], axis=written, p=g.choice([1, 2]))
    t = g.pick(["float32"], rank=4 if kind in ("LRN", "MeanVarianceNormalization") else g.choice([3, 4]),
               where=g.full)
    c = t.shape[1]
    ones = lambda: g.constant(g.values(g.rng, "float32", (c,)))
    if kind == "BatchNormalization":
        v = g.constant((np.abs(g.values(g.rng, "float32", (c,))) + 0.2).astype(np.float32))
        return g.add(kind, [t, ones(), ones(), ones(), v], [("float32", t.shape)])
    if kind == "InstanceNormalization": return g.add(kind, [t, ones(), ones()], [("float32", t.shape)], epsilon=1e-2)
    if kind == "LRN":
        return g.add(kind, [t], [("float32", t.shape)], size=g.choice([1, 3, 5]), alpha=0.1, beta=0.5, bias=1.5)
    if kind == "MeanVarianceNormalization": return g.add(kind, [t], [("float32", t.shape)])
    groups = g.choice([n for n in range(1, c + 1) if c % n == 0])
    g.add(kind, [t, ones(), ones()], [("float32", t.shape)], num_groups=groups, epsilon=1e-2)


# ---- Products


@row(4)
def matmul(g):
    kind = g.choice(["MatMul", "MatMul", "Gemm", "Einsum"])
    t = g.pick(["float32"] * 6 + ["float64", "int32"] if kind == "MatMul" else ["float32"],
               rank=2 if kind == "Gemm" else None, least=2 if kind == "Einsum" else 1, where=g.full)
    n = g.choice(SIZES)
    if kind == "MatMul":
        lead = t.shape[:-2] if g.chance(0.4) else ()
        b = g.want(t.dtype, lead + (t.shape[-1], n)) if g.chance(0.9) else g.want(t.dtype, (t.shape[-1],))
        shape = (np.zeros(t.shape, np.int8) @ np.zeros(b.shape, np.int8)).shape
        if np.prod(shape, dtype=np.int64) <= MOST_ELEMENTS: g.add("MatMul", [t, b], [(t.dtype, shape)])
    elif kind == "Gemm":
        ta, tb = g.integer(0, 1), g.integer(0, 1)
        m, k = t.shape[::-1] if ta else t.shape
        b = g.want("float32", (n, k) if tb else (k, n))
        c = [g.want("float32", g.choice([(n,), (m, n), (1, n), (m, 1), (1,)]))] if g.chance(0.7) else []
        g.add("Gemm", [t, b] + c, [("float32", (m, n))], transA=ta, transB=tb,
              alpha=float(g.choice([1, 0.5])), beta=float(g.choice([1, 0.25])))
    else:
        letters = "abcdefgh"[:t.rank]
        gone = g.choice(letters)
        out = "".join(g.rng.permutation([c for c in letters if c != gone] + ["z"]))
        b = g.want("float32", (t.shape[letters.index(gone)], n))
        size = dict(zip(letters, t.shape), z=n)
        if np.prod([size[c] for c in out], dtype=np.int64) <= MOST_ELEMENTS:
            g.add("Einsum", [t, b], [("float32", [size[c] for c in out])], equation="%s,%sz->%s" % (letters, gone, out))


def image(g, dims=None, types=("float32",)):
    dims = dims or g.choice([1, 2, 2, 2, 3])
    return g.pick(list(types), rank=dims + 2, where=lambda t: g.full(t) and max(t.shape) < 40), dims


def window(g, t, dims, dilated=True, most=4):
    """Kernel, strides, pads and dilations with at least one place; and the sizes of the result."""
    kernel, strides, dilations, before, after, out = [], [], [], [], [], []
    for n in t.shape[2:]:
        d = g.choice([1, 1, 2]) if dilated else 1
        k = g.integer(1, min(most, (n + 1) // d if n >= d else 1) or 1)
        pads = [g.integer(0, min(2, k - 1)) if k > 1 else 0 for _ in range(2)]
        s = g.choice([1, 1, 2, 3])
        size = n + sum(pads) - (k - 1) * d - 1
        if size < 0: k, d, pads, size = 1, 1, [0, 0], n - 1
        kernel.append(k), strides.append(s), dilations.append(d), before.append(pads[0]), after.append(pads[1])
        out.append(size // s + 1)
    return kernel, strides, dilations, before + after, out


@row(4)
def convolution(g):
    t, dims = image(g)
    c = t.shape[1]
    groups = g.choice([1, 1, 1, c] + [n for n in range(1, c + 1) if c % n == 0])
    out = groups * g.integer(1, max(1, 8 // groups))
    kernel, strides, dilations, pads, sizes_ = window(g, t, dims)
    w = g.new("float32", (out, c // groups, *kernel), 0.8)
    b = [g.new("float32", (out,), 0.8)] if g.chance(0.6) else []
    words = dict(kernel_shape=kernel if g.chance(0.7) else None, strides=strides, dilations=dilations, group=groups)
    if g.chance(0.2) and all(d == 1 for d in dilations):
        auto = g.choice(["SAME_UPPER", "SAME_LOWER", "VALID"])
        sizes_ = [-(-n // s) if auto != "VALID" else (n - k) // s + 1
                  for n, k, s in zip(t.shape[2:], kernel, strides)]
        if min(sizes_) < 1: return
        g.add("Conv", [t, w] + b, [("float32", (t.shape[0], out, *sizes_))], auto_pad=auto, **words)
    elif np.prod((t.shape[0], out, *sizes_), dtype=np.int64) <= MOST_ELEMENTS:
        g.add("Conv", [t, w] + b, [("float32", (t.shape[0], out, *sizes_))], pads=pads, **words)


@row(1)
def transposed(g):
    t, dims = image(g, g.choice([1, 2, 2]))
    c = t.shape[1]
    groups = g.choice([n for n in range(1, c + 1) if c % n == 0])
    out = g.integer(1, 4)
    k, s = [g.integer(1, 3) for _ in range(dims)], [g.integer(1, 3) for _ in range(dims)]
    p = [g.integer(0, (n - 1) // 2) for n in k]
    more = [g.integer(0, n - 1) for n in s]
    sizes_ = [(n - 1) * a + b - 2 * q + o for n, a, b, q, o in zip(t.shape[2:], s, k, p, more)]
    if min(sizes_) < 1 or np.prod((t.shape[0], out * groups, *sizes_), dtype=np.int64) > MOST_ELEMENTS: return
    w = g.new("float32", (c, out, *k), 0.8)
    b = [g.new("float32", (out * groups,), 0.8)] if g.chance(0.5) else []
    g.add("ConvTranspose", [t, w] + b, [("float32", (t.shape[0], out * groups, *sizes_))], strides=s, pads=p + p,
          output_padding=more, group=groups)


@row(2.5)
def pool(g):
    t, dims = image(g)
    op = g.choice(["MaxPool", "AveragePool", "AveragePool", "LpPool", "MaxPool", "GlobalAveragePool", "GlobalMaxPool"])
    if op.startswith("Global"): return g.add(op, [t], [("float32", (*t.shape[:2], *[1] * dims))])
    kernel, strides, dilations, pads, sizes_ = window(g, t, dims, op != "LpPool")
    words = {}
    if g.chance(0.3) and op != "LpPool":
        span = [n + a + b - (k - 1) * d - 1 for n, a, b, k, d in
                zip(t.shape[2:], pads[:dims], pads[dims:], kernel, dilations)]
        if all(n % s == 0 for n, s in zip(span, strides)): words["ceil_mode"] = 1
    if op == "AveragePool": words["count_include_pad"] = g.integer(0, 1)
    outs = [("float32", (*t.shape[:2], *sizes_))]
    if op == "MaxPool" and g.chance(0.3): outs.append(("int64", outs[0][1]))
    if op != "LpPool" and any(d != 1 for d in dilations): words["dilations"] = dilations
    g.add(op, [t], outs, kernel_shape=kernel, strides=strides, pads=pads, **words)


@row(1.2)
def resize(g):
    t, dims = image(g, 2)
    mode = g.choice(["nearest", "linear", "cubic"])
    sizes_ = [g.integer(1, 3 * n) for n in t.shape[2:]]
    if np.prod((*t.shape[:2], *sizes_), dtype=np.int64) > MOST_ELEMENTS: return
    words = dict(mode=mode, coordinate_transformation_mode=g.choice(
        ["half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel"]))
    if mode == "nearest": words["nearest_mode"] = g.choice(["floor", "ceil", "round_prefer_floor", "round_prefer_ceil"])
    g.add("Resize", [t, None, None, g.constant([*t.shape[:2], *sizes_])],
          [("float32", (*t.shape[:2], *sizes_))], **words)


@row(0.6)
def grid_sample(g):
    t, dims = image(g, 2)
    at = g.want("float32", (t.shape[0], g.integer(1, 4), g.integer(1, 4), 2))
    g.add("GridSample", [t, at], [(t.dtype, (*t.shape[:2], *at.shape[1:3]))], mode=g.choice(["linear", "nearest"]),
          padding_mode=g.choice(["zeros", "border", "reflection"]), align_corners=g.integer(0, 1))


@row(1)
def recurrent(g):
    op, gates = g.choice([("LSTM", 4), ("GRU", 3), ("RNN", 1)])
    steps, batch, width, hidden = g.integer(1, 5), g.integer(1, 3), g.integer(1, 6), g.integer(1, 6)
    direction = g.choice(["forward", "reverse", "bidirectional"])
    d = 2 if direction == "bidirectional" else 1
    t = g.want("float32", (steps, batch, width))
    c = lambda *shape: g.constant((g.values(g.rng, "float32", shape) * 0.5).astype(np.float32))
    ins = [t, c(d, gates * hidden, width), c(d, gates * hidden, hidden)]
    if g.chance(0.6): ins.append(c(d, 2 * gates * hidden))
    if len(ins) == 4 and g.chance(0.3): ins += [None, g.want("float32", (d, batch, hidden))]
    outs = [("float32", (steps, d, batch, hidden)), ("float32", (d, batch, hidden))]
    if op == "LSTM": outs.append(("float32", (d, batch, hidden)))
    words = {"linear_before_reset": g.integer(0, 1)} if op == "GRU" else {}
    g.add(op, ins, outs, hidden_size=hidden, direction=direction, **words)


@row(1.2)
def quantized(g):
    t = g.pick(["float32"], least=1, where=g.full)
    dtype = g.choice(["int8", "uint8"])
    scale, zero = g.constant(np.float32(g.choice([0.05, 0.1, 0.25, 0.0317]))), g.constant(
        np.array(g.choice([0, 3, 10]), dtype))
    q = g.add("QuantizeLinear", [t, scale, zero], [(dtype, t.shape)])
    g.add("DequantizeLinear", [q, scale, zero], [("float32", t.shape)])


@row(0.7)
def integer_product(g):
    dtype = g.choice(["uint8", "int8"])
    if g.chance(0.5):
        t = g.pick(["uint8"], least=2, where=g.full)
        b = g.new(dtype, (t.shape[-1], g.choice(SIZES)), 0.8)
        shape = (*t.shape[:-1], b.shape[-1])
        zero = [g.constant(np.uint8(g.integer(0, 200)))] if g.chance(0.6) else []
        if np.prod(shape, dtype=np.int64) <= MOST_ELEMENTS: g.add("MatMulInteger", [t, b] + zero, [("int32", shape)])
        return
    t, dims = image(g, 2, ["uint8"])
    kernel, strides, dilations, pads, sizes_ = window(g, t, dims)
    out = g.integer(1, 5)
    g.add("ConvInteger", [t, g.new("uint8", (out, t.shape[1], *kernel), 0.8)],
          [("int32", (t.shape[0], out, *sizes_))], strides=strides, dilations=dilations, pads=pads)


# ---- Control flow


def body(g, count, seeds):
    """A graph of a few nodes below g; reads outer tensors of some; the last float tensor is its result."""
    inner = Graph(g.rng, g.fresh("b") + "_")
    inner.tensors = list(seeds)
    for _ in range(count):
        g.choice([unary, arithmetic, arithmetic, where, transpose])(inner)
    return inner


def as_graph(inner, name, inputs, outputs):
    info = lambda t: helper.make_tensor_value_info(t.name, onnx_type(t.dtype), t.shape)
    return helper.make_graph(inner.nodes, name, [info(t) for t in inputs], [info(t) for t in outputs],
                             initializer=inner.constants)


def made_in(inner, seeds):
    outside = {t.name for t in seeds}
    return [t for t in inner.tensors if t.name not in outside and t.dtype == "float32"]


@row(0.8)
def branch(g):
    outer = [t for t in g.tensors if t.dtype == "float32"][-4:]
    if not outer: return
    shape = g.choice(outer).shape
    c = g.want("bool", ()) if g.chance(0.8) else g.constant(np.array(g.chance(0.5)))
    sides = []
    for name in ("then", "else"):
        inner = body(g, g.integer(1, 3), outer)
        results = made_in(inner, outer)
        if not results: return
        t = results[-1]
        if t.shape != shape:
            if t.size < 1: return
            flat = inner.add("ReduceMean", [t], [("float32", ())], keepdims=0)
            t = inner.add("Expand", [flat, inner.constant(np.array(shape, np.int64))], [("float32", shape)])
        sides.append((name, as_graph(inner, name, [], [t])))
        g.read |= inner.read
    g.add("If", [c], [("float32", shape)], then_branch=sides[0][1], else_branch=sides[1][1])


@row(0.8)
def loop(g):
    state = g.pick(["float32"], where=lambda t: t.size < 500)
    outer = [t for t in g.tensors if t.dtype == "float32" and t.shape == state.shape][-3:]
    inner = Graph(g.rng, g.fresh("b") + "_")
    i, c, s = Tensor(inner.fresh("i"), "int64", ()), Tensor(inner.fresh("i"), "bool", ()), Tensor(inner.fresh("i"),
        "float32", state.shape)
    seeds = outer + [s]
    inner.tensors = list(seeds)
    for _ in range(g.integer(1, 3)): g.choice([unary, arithmetic])(inner)
    same = [t for t in made_in(inner, seeds) if t.shape == state.shape]
    if not same: return
    result = inner.add("Mul", [same[-1], inner.constant(np.float32(0.5))], [("float32", state.shape)])
    goes = inner.add("Identity", [c], [("bool", ())])
    collected = [result] if g.chance(0.4) and state.rank < 4 else []
    collected = [inner.add("Neg", [t], [(t.dtype, t.shape)]) for t in collected]
    graph = as_graph(inner, "body", [i, c, s], [goes, result] + collected)
    g.read |= inner.read
    count = g.integer(1, 4)
    g.add("Loop", [g.constant(np.int64(count)), g.constant(np.array(True)) if g.chance(0.5) else None, state],
          [("float32", state.shape)] + [("float32", (count,) + state.shape)] * len(collected), body=graph)


@row(0.5)
def scan(g):
    x = g.pick(["float32"], least=1, where=lambda t: 0 < t.size < 500)
    inner = Graph(g.rng, g.fresh("b") + "_")
    s, part = (Tensor(inner.fresh("i"), "float32", x.shape[1:]) for _ in range(2))
    total = inner.add("Add", [s, part], [("float32", x.shape[1:])])
    out = inner.add(g.choice(["Tanh", "Relu", "Neg"]), [total], [("float32", x.shape[1:])])
    total2 = inner.add("Identity", [total], [("float32", x.shape[1:])])
    graph = as_graph(inner, "body", [s, part], [total2, out])
    start = g.want("float32", x.shape[1:])
    g.add("Scan", [start, x], [("float32", x.shape[1:]), ("float32", x.shape)], body=graph, num_scan_inputs=1)


def model_of(g, outputs, opset=OPSET):
    info = lambda t: helper.make_tensor_value_info(t.name, onnx_type(t.dtype), t.shape)
    graph = helper.make_graph(g.nodes, "g", [info(t) for t in g.inputs], [info(t) for t in outputs],
                              initializer=g.constants)
    domains = sorted({n.domain for n in g.nodes} - {""})
    return helper.make_model(graph, ir_version=IR, opset_imports=[helper.make_opsetid("", opset)]
                             + [helper.make_opsetid(d, VERSIONS.get(d, 1)) for d in domains])


WEIGHTS = np.array([w for w, _ in ROWS]) / sum(w for w, _ in ROWS)


def draw(rng, number):
    g = Graph(rng)
    for _ in range(g.integer(1, 2)): g.input("float32", g.shape())
    least = g.integer(2, 14)
    while len(g.nodes) < least:
        ROWS[int(rng.choice(len(ROWS), p=WEIGHTS))][1](g)
    made_ = [t for t in g.tensors if t.name not in g.feeds]
    outputs = [t for t in made_ if t.name not in g.read or g.chance(0.1)] or made_[-1:]
    used = {n for node in g.nodes for n in node.input} | g.read
    g.inputs = [t for t in g.inputs if t.name in used]
    feeds = {t.name: g.feeds[t.name] for t in g.inputs}
    g.constants = [c for c in g.constants if c.name in used]
    return Case(model_of(g, outputs), feeds, "graph")
