# SPDX-License-Identifier: MIT
"""Random graphs in which data decide sizes: each has one to three producers of such a size and consumers behind them.

A shape is a tuple of integers and Sizes. Each graph runs on several samples: conditions are true nowhere, everywhere,
in places. A sample that ONNX Runtime refuses has to end with an error.
"""
import numpy as np
from onnx import helper, numpy_helper

import graphs
import known
import reduce
import redzones
import reference
from graphs import onnx_type

OPSET, IR = 21, 10
SAMPLES = ["nothing", "everything", "some", "some", "few"]
SHARES = {"nothing": 0.0, "everything": 1.0, "few": 0.15}
MOST_ELEMENTS = 2000
MOST_ROUNDING = 6                       # runs with other roundings


class Size:
    """A dimension that data decide, at most `most`; `value`: the tensor that holds it, one integer."""

    def __init__(self, most, least=0):
        self.most, self.least, self.value = int(most), least, None


def most(n): return n.most if isinstance(n, Size) else n


def is_size(n): return isinstance(n, Size)


class Tensor(graphs.Tensor):
    def __init__(self, name, dtype, shape):
        self.name, self.dtype, self.shape, self.exact = name, str(np.dtype(dtype)), tuple(shape), False

    size = property(lambda t: int(np.prod([most(n) for n in t.shape], dtype=np.int64)))
    sized = property(lambda t: [d for d, n in enumerate(t.shape) if is_size(n)])
    fixed = property(lambda t: [d for d, n in enumerate(t.shape) if not is_size(n)])


class Sized(graphs.Graph):
    """`exact`: tensors that no rounding reaches; only these decide sizes."""

    def __init__(self, rng, prefix=""):
        super().__init__(rng, prefix)
        self.kinds, self.bounds, self.most = {}, {}, []         # most: name, axis, greatest size

    def constant(self, value, stem="c"):
        value = np.asarray(value)
        t = Tensor(self.fresh(stem), value.dtype, value.shape)
        t.exact = True
        self.constants.append(numpy_helper.from_array(np.array(value, order="C"), t.name))
        return t

    def numbers(self, *values):
        return self.constant(np.array(values, np.int64))

    def scalar(self, value):
        return self.constant(np.array(value, np.int64))

    def input(self, dtype, shape, kind=""):
        """kind: (low, high) of integers, or what `sample` knows."""
        t = Tensor(self.fresh("x"), dtype, shape)
        t.exact = True
        self.inputs.append(t)
        self.kinds[t.name] = kind
        self.tensors.append(t)
        return t

    def new(self, dtype, shape, constant=0.4):
        shape = [most(n) for n in shape]
        if self.prefix or self.chance(constant): return self.constant(self.values(self.rng, dtype, shape))
        return self.input(dtype, shape)

    def add(self, op, ins, outs, exact=None, **attributes):
        """outs: (dtype, shape) of each."""
        made = [Tensor(self.fresh() if d else "", d or "int8", s) for d, s in outs]
        for t in made:
            t.exact = (op in reference.EXACT if exact is None else exact) and all(i.exact for i in ins if i)
        node = helper.make_node(op, [t.name if t else "" for t in ins], [t.name for t in made], name=self.fresh("n"),
                                **{k: v for k, v in attributes.items() if v is not None})
        self.nodes.append(node)
        self.read |= set(node.input)
        self.tensors += [t for t in made if t.name]
        return made[0] if len(made) == 1 else made

    # -- drawing
    def found(self, types, where, among=None):
        return [t for t in (among or self.tensors) if t.dtype in types and t.size <= MOST_ELEMENTS and where(t)]

    def some(self, types, where=lambda t: True):
        """A tensor that there is, the later ones more often; None."""
        found = self.found(types, where)
        return found[-1 - min(int(self.rng.exponential(2.5)), len(found) - 1)] if found else None

    def sized(self, types=graphs.MOVED, where=lambda t: True):
        return self.some(types, lambda t: t.sized and where(t))

    def any(self, types, rank=None, least=1, where=lambda t: True):
        """Now and then with sizes; else one that there is, or a new one."""
        fits = lambda t: t.rank >= least and (rank is None or t.rank == rank) and where(t)
        t = self.some(types, fits) if self.chance(0.75) else None
        if t: return t
        while True:
            shape = self.shape(rank if rank is not None else self.integer(least, max(least, 3)), graphs.SIZES[:14])
            t = Tensor("", self.choice(types), shape)
            t.exact = True
            if fits(t): return self.new(t.dtype, shape)

    def exact_of(self, types, rank=None, least=1, where=lambda t: True):
        return self.any(types, rank, least, lambda t: t.exact and where(t)) if self.chance(0.6) else \
            self.input(self.choice(types), self.shape(rank or self.integer(least, 2), graphs.SIZES[:14]))

    def condition(self, shape):
        """Booleans of this shape: an input, a comparison of one, or one that there is."""
        same = self.found(["bool"], lambda t: t.exact and t.shape == tuple(shape))
        if same and self.chance(0.5): return self.choice(same)
        if self.chance(0.6): return self.input("bool", shape)
        x = self.input("float32", shape)
        return self.add(self.choice(["Greater", "Less"]), [x, self.constant(np.float32(0.3))], [("bool", shape)])

    def count(self, low, high):
        """A number of the run, [1], in low..high."""
        sized = [t for t in self.tensors if t.sized and t.exact]
        kind = self.choice(["input", "sum", "shape"]) if sized else self.choice(["input", "sum"])
        if kind == "input": return self.input("int64", (1,), (low, high))
        if kind == "sum":
            m = self.cast(self.condition((self.integer(1, 9),)), "int64")
            n = self.add("ReduceSum", [m], [("int64", (1,))], exact=True)
        else:
            t = self.choice(sized)
            at = self.choice(t.sized)
            n = self.add("Shape", [t], [("int64", (1,))], start=at, end=at + 1)
        if self.chance(0.3): n = self.add("Add", [n, self.numbers(self.integer(-2, 2))], [("int64", (1,))], exact=True)
        n = self.add("Max", [n, self.numbers(low)], [("int64", (1,))])
        return self.add("Min", [n, self.numbers(high)], [("int64", (1,))])

    def flat(self, t):
        """[1] as a number."""
        return self.add("Squeeze", [t, self.numbers(0)], [(t.dtype, ())], exact=True)

    def integers(self, shape, low, high):
        return self.constant(self.rng.integers(low, high + 1, shape))


PRODUCERS, CONSUMERS = [], []


def producer(weight=1.0):
    def register(f):
        PRODUCERS.append((weight, f))
        return f
    return register


def consumer(weight=1.0):
    def register(f):
        CONSUMERS.append((weight, f))
        return f
    return register


# ---- Producers


@producer(3)
def compress(g):
    t = g.any(graphs.MOVED)
    if g.chance(0.25) and not t.sized:
        m = g.condition((t.size,))
        return g.add("Compress", [t, m], [(t.dtype, (Size(t.size),))])
    at = g.integer(0, t.rank - 1)
    if is_size(t.shape[at]): return
    m = g.condition((t.shape[at],))
    size = g.bounds.setdefault(("compress", m.name), Size(t.shape[at]))
    g.add("Compress", [t, m], [(t.dtype, t.shape[:at] + (size,) + t.shape[at + 1:])], axis=at)


@producer(3)
def nonzero(g):
    if g.chance(0.5):
        x = g.any(graphs.MOVED, where=lambda t: t.size <= 60)
        m = g.condition(x.shape) if not x.sized else None
        if m is None: return
        size = g.bounds.setdefault(("nonzero", m.name), Size(x.size))
        p = g.add("NonZero", [m], [("int64", (x.rank, size))])
        i = g.add("Transpose", [p], [("int64", (size, x.rank))], exact=True)
        if g.chance(0.5): g.add("GatherND", [x, i], [(x.dtype, (size,))])
        elif x.dtype in ("float32", "int32", "float64"):
            u = g.add("Expand", [g.new(x.dtype, (1,)), g.add("Shape", [i], [("int64", (1,))], start=0, end=1)],
                      [(x.dtype, (size,))])
            g.add("ScatterND", [x, i, u], [(x.dtype, x.shape)])
        return
    t = g.exact_of(["bool", "float32", "int64", "int32", "uint8"], where=lambda t: t.size <= 60)
    g.add("NonZero", [t], [("int64", (t.rank, Size(t.size)))])


@producer(2)
def unique(g):
    t = g.exact_of(["int64", "float32", "int8"], where=lambda t: t.size <= 40)
    if t.dtype == "float32": t = g.add("Round", [t], [(t.dtype, t.shape)])
    kinds = [t.dtype, "int64", "int64", "int64"][:g.integer(1, 4)]
    words = dict(sorted=g.integer(0, 1))
    if t.sized or (g.chance(0.4) and t.rank > 1):
        at = g.choice(t.fixed or [0])
        size = Size(most(t.shape[at]))
        shape = t.shape[:at] + (size,) + t.shape[at + 1:]
        words["axis"], whole = at, t.shape[at]
    else: size, shape, whole = Size(t.size), None, t.size
    shape = shape or (size,)
    g.add("Unique", [t], list(zip(kinds, [shape, (size,), (whole,), (size,)])), **words)


@producer(1.5)
def boxes(g):
    n, classes, batch = g.integer(1, 8), g.integer(1, 3), g.integer(1, 2)
    b, s = g.input("float32", (batch, n, 4), "boxes"), g.input("float32", (batch, classes, n), "scores")
    each = g.integer(1, 4)
    ins = [b, s, g.scalar(each), g.constant(np.float32(g.choice([0.3, 0.5, 0.0]))),
           g.constant(np.float32(g.choice([0.2, 0.5])))]
    found = g.add("NonMaxSuppression", ins, [("int64", (Size(batch * classes * min(each, n)), 3))], exact=True)
    if g.chance(0.5):
        i = g.add("Gather", [found, g.numbers(2)], [("int64", (found.shape[0], 1))], axis=1)
        i = g.add("Squeeze", [i, g.numbers(1)], [("int64", (found.shape[0],))], exact=True)
        g.add("Gather", [b, i], [("float32", (batch, found.shape[0], 4))], axis=1)


@producer(2)
def top(g):
    t = g.any(["float32", "int64", "int32", "float64"], where=lambda t: t.fixed)
    at = g.choice(t.fixed)
    size = Size(t.shape[at])
    shape = t.shape[:at] + (size,) + t.shape[at + 1:]
    values, index = g.add("TopK", [t, g.count(0, t.shape[at])], [(t.dtype, shape), ("int64", shape)], axis=at,
                          largest=g.integer(0, 1))
    index.exact = t.exact


@producer(2)
def numbers(g):
    high = g.integer(1, 9)
    dtype = g.choice(["int64", "int64", "int32", "float32"])
    n = g.flat(g.count(0, high))
    n = g.cast(n, dtype)
    step = g.choice([1, 1, 2, 3])
    ends = [g.constant(np.array(v, dtype)) for v in (0, step)]
    y = g.add("Range", [ends[0], n, ends[1]], [(dtype, (Size(-(-high // step)),))], exact=True)
    g.most.append((y.name, 0, y.shape[0].most))


@producer(3)
def window(g):
    t = g.any(graphs.MOVED, where=lambda t: t.fixed)
    axes = sorted(g.rng.choice(t.fixed, g.integer(1, min(2, len(t.fixed))), replace=False).tolist())
    shape, n = list(t.shape), len(axes)
    key = g.choice([n_ for n_ in g.bounds if n_[0] == "window" and n_[1:] == tuple(t.shape[a] for a in axes)] or [()])
    if key and g.chance(0.5): starts, ends, sizes = g.bounds[key]
    else:
        starts = g.input("int64", (n,), (-9, 9)) if g.chance(0.5) else g.integers((n,), 0, 2)
        ends = g.input("int64", (n,), (-9, 12)) if g.chance(0.7) or n > 1 else g.count(-2, 12)
        sizes = [Size(t.shape[a]) for a in axes]
        g.bounds[("window", *(t.shape[a] for a in axes))] = starts, ends, sizes
    steps = []
    if g.chance(0.3):                   # of the run
        low, high = g.choice([(1, 3), (-3, -1)])
        steps, sizes = [g.input("int64", (n,), (low, high))], [Size(t.shape[a]) for a in axes]
    for a, size in zip(axes, sizes): shape[a] = size
    g.add("Slice", [t, starts, ends, g.numbers(*axes)] + steps, [(t.dtype, shape)])


@producer(1.5)
def padded(g):
    """Elements in front of an axis and behind it, as many as the run decides."""
    t = g.any(["float32", "int64", "int32"], where=lambda t: any(not is_size(n) and n > 2 for n in t.shape))
    at = g.choice([d for d in t.fixed if t.shape[d] > 2])
    mode = g.choice(["constant", "reflect", "edge", "wrap"])
    ends = g.input("int64", (2,), (0 if mode == "reflect" else -1, 2))
    pads = g.add("Mul", [ends, g.scalar(1)], [("int64", (2,))], exact=True) if g.chance(0.3) else ends
    size = Size(t.shape[at] + 4)
    y = g.add("Pad", [t, pads, None, g.numbers(at)], [(t.dtype, t.shape[:at] + (size,) + t.shape[at + 1:])],
              exact=t.exact, mode=mode)
    g.most.append((y.name, at, size.most))


@producer(2)
def early_loop(g):
    """Rows until a count of the run or a condition."""
    high = g.integer(1, 7)
    state = g.any(["float32"], where=lambda t: not t.sized and t.size < 200)
    limit = g.flat(g.count(0, high))
    inner = Sized(g.rng, g.fresh("b") + "_")
    names = [("i", "int64", ()), ("c", "bool", ()), ("s", "float32", state.shape)]
    i, c, s = (Tensor(inner.fresh(n), d, shape) for n, d, shape in names)
    by_count = g.chance(0.4)
    go = inner.add("Identity", [c], [("bool", ())]) if by_count else inner.add("Less", [i, limit], [("bool", ())])
    x = inner.add(g.choice(["Sin", "Tanh", "Neg"]), [s], [("float32", state.shape)])
    x = inner.add("Add", [x, inner.constant(np.float32(0.5))], [("float32", state.shape)])
    row = inner.add("Mul", [s, x], [("float32", state.shape)])
    place = inner.add("Identity", [i], [("int64", ())])
    collected = [row] + ([place] if g.chance(0.4) else [])
    info = lambda t: helper.make_tensor_value_info(t.name, onnx_type(t.dtype), t.shape)
    body = helper.make_graph(inner.nodes, "body", [info(t) for t in (i, c, s)],
                             [info(t) for t in (go, x, *collected)], initializer=inner.constants)
    g.read |= inner.read | {limit.name}
    size = Size(high)
    first = limit if by_count else g.scalar(high)
    outs = g.add("Loop", [first, g.constant(np.array(True)), state],
                 [("float32", state.shape)] + [(t.dtype, (size,) + t.shape) for t in collected], exact=False, body=body)
    if by_count: g.most += [(t.name, 0, high) for t in outs[1:]]


@producer(1)
def pick_rows(g):
    """Gather by places that data select."""
    t = g.any(graphs.MOVED, where=lambda t: t.fixed)
    at = g.choice(t.fixed)
    m = g.condition((t.shape[at],))
    size = g.bounds.setdefault(("nonzero", m.name), Size(t.shape[at]))
    p = g.add("NonZero", [m], [("int64", (1, size))])
    i = g.add("Squeeze", [p, g.numbers(0)], [("int64", (size,))], exact=True)
    g.add("Gather", [t, i], [(t.dtype, t.shape[:at] + (size,) + t.shape[at + 1:])], axis=at)


@producer(1.5)
def resized(g):
    """A size, or a scale, that the run decides."""
    t = g.any(["float32"], where=lambda t: t.rank <= 3 and t.fixed)
    at = g.choice(t.fixed)
    mode = g.choice(["nearest", "linear"])
    words = dict(mode=mode, axes=[at], coordinate_transformation_mode=g.choice(
        ["asymmetric", "half_pixel", "pytorch_half_pixel"]))
    if mode == "nearest": words["nearest_mode"] = g.choice(["floor", "round_prefer_floor", "ceil"])
    if g.chance(0.5): size, ins = Size(9), [t, None, None, g.count(1, 9)]
    else:
        halves = g.cast(g.count(1, 5), "float32")
        scale = g.add("Mul", [halves, g.constant(np.array([0.5], np.float32))], [("float32", (1,))], exact=True)
        size, ins = Size(t.shape[at] * 5 // 2), [t, None, scale]
    y = g.add("Resize", ins, [(t.dtype, t.shape[:at] + (size,) + t.shape[at + 1:])], exact=False, **words)
    g.most.append((y.name, at, size.most))


# ---- Consumers


@consumer(4)
def unary(g):
    t = g.sized(["float32"])
    if not t: return
    op = g.choice(["Relu", "Sigmoid", "Tanh", "Abs", "Neg", "Sin", "Erf", "LeakyRelu", "Floor", "Exp"])
    if op == "Exp": t = g.guarded(t, -10, 5)
    g.add(op, [t], [(t.dtype, t.shape)])


@consumer(1)
def cast(g):
    t = g.sized(graphs.MOVED)
    if not t: return
    to = g.choice(["float32", "float64", "int32", "int64", "bool", "uint8"])
    if t.is_float and to in graphs.INTS: t = g.guarded(t, 0, 100)
    if t.dtype in graphs.SIGNED and to == "uint8": t = g.add("Abs", [t], [(t.dtype, t.shape)])
    g.cast(t, to)


@consumer(5)
def arithmetic(g):
    t = g.sized(["float32", "float32", "int64", "int32", "float64"])
    if not t: return
    same = [o for o in g.tensors if o.dtype == t.dtype and o is not t and o.shape == t.shape]
    fewer = [o for o in g.tensors if o.dtype == t.dtype and o.rank <= t.rank
             and all(a == 1 or a is b for a, b in zip(o.shape[::-1], t.shape[::-1]) if is_size(b) or is_size(a))
             and all(a in (1, b) for a, b in zip(o.shape[::-1], t.shape[::-1]) if not is_size(b) and not is_size(a))]
    kind = g.integer(0, 3)
    if kind == 0 and same: other = g.choice(same)
    elif kind == 1 and fewer: other = g.choice(fewer)
    else:
        shape = [1 if is_size(n) or g.chance(0.2) else n for n in t.shape][g.integer(0, t.rank):]
        other = g.new(t.dtype, shape)
    pair = [t, other] if g.chance(0.5) else [other, t]
    if g.chance(0.2):
        return g.add(g.choice(["Greater", "Less", "Equal"]), pair, [("bool", t.shape)])
    g.add(g.choice(["Add", "Sub", "Mul", "Min", "Max"]), pair, [(t.dtype, t.shape)],
          exact=False if t.is_float else all(x.exact for x in pair))


@consumer(1.5)
def stretched(g):
    """Beside a tensor whose size the run decides to be the same, or 1."""
    t = g.sized(["float32", "int64", "int32"], lambda t: len(t.sized) < t.rank or t.rank == 1)
    if not t: return
    at = g.choice(t.sized)
    size = g.add("Shape", [t], [("int64", (1,))], start=at, end=at + 1)
    is_whole = g.cast(g.condition((1,)), "int64")
    more = g.add("Mul", [g.add("Sub", [size, g.numbers(1)], [("int64", (1,))], exact=True), is_whole],
                 [("int64", (1,))], exact=True)
    n = g.add("Add", [more, g.numbers(1)], [("int64", (1,))], exact=True)
    whole = g.new(t.dtype, [max(1, most(m)) if d == at else 1 if is_size(m) else m for d, m in enumerate(t.shape)])
    most_of = max(1, t.shape[at].most)
    shape = lambda m: t.shape[:at] + (m,) + t.shape[at + 1:]
    other = g.add("Slice", [whole, g.numbers(0), n, g.numbers(at)],
                  [(t.dtype, whole.shape[:at] + (Size(most_of),) + whole.shape[at + 1:])])
    pair = [t, other] if g.chance(0.5) else [other, t]
    op = g.choice(["Add", "Sub", "Mul", "Max", "Greater"])
    g.add(op, pair, [("bool" if op == "Greater" else t.dtype, shape(Size(most_of)))],
          exact=all(x.exact for x in pair) and (op == "Greater" or not t.is_float))


@consumer(1)
def where(g):
    t = g.sized(["float32", "int64", "int32"])
    if not t: return
    masks = [m for m in g.tensors if m.dtype == "bool" and m.shape == t.shape]
    m = g.choice(masks) if masks else g.add("Greater", [t, g.constant(np.array(0, t.dtype))], [("bool", t.shape)])
    pair = [t, g.new(t.dtype, [1 if is_size(n) else n for n in t.shape])]
    if g.chance(0.5): pair.reverse()
    g.add("Where", [m] + pair, [(t.dtype, t.shape)])


@consumer(5)
def reduction(g):
    op = g.choice(["ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL1", "ReduceL2",
                   "ReduceSumSquare", "ReduceLogSumExp"])
    t = g.sized(["float32"] if op in ("ReduceL2", "ReduceLogSumExp", "ReduceMean", "ReduceL1", "ReduceSumSquare",
                                      "ReduceProd") else ["float32", "float32", "int64", "int32"])
    if not t: return
    if op == "ReduceProd": t = g.guarded(t, -1.5, 1.5)
    axes = sorted(g.rng.choice(t.rank, g.integer(1, t.rank), replace=False).tolist())
    if g.chance(0.3): axes = list(t.sized)
    keep = g.integer(0, 1)
    shape = [1 if d in axes else n for d, n in enumerate(t.shape) if keep or d not in axes]
    g.add(op, [t, g.numbers(*axes)], [(t.dtype, shape)], keepdims=keep, exact=None if t.is_float else t.exact)


@consumer(1)
def arg(g):
    t = g.sized(["float32", "int64", "int32"])
    if not t: return
    at, keep = g.integer(0, t.rank - 1), g.integer(0, 1)
    g.add(g.choice(["ArgMax", "ArgMin"]), [t], [("int64", t.shape[:at] + ((1,) if keep else ()) + t.shape[at + 1:])],
          axis=at, keepdims=keep, select_last_index=g.integer(0, 1))


@consumer(3)
def shape_of(g):
    t = g.sized()
    if not t: return
    if g.chance(0.3): s = g.add("Size", [t], [("int64", ())])
    else:
        a, b = sorted([g.integer(0, t.rank), g.integer(0, t.rank)])
        a, b = (0, t.rank) if a == b else (a, b)
        s = g.add("Shape", [t], [("int64", (b - a,))], start=a, end=b)
    s.exact = True
    if g.chance(0.5): g.cast(s, "float32")
    elif g.chance(0.3): g.add("Mul", [s, g.scalar(2)], [("int64", s.shape)])


@consumer(2)
def gather(g):
    t = g.sized()
    if not t: return
    at = g.integer(0, t.rank - 1)
    n = t.shape[at]
    shape = g.choice([(), (1,), (2,), (1, 2)])
    i = g.integers(shape, -1, 0) if is_size(n) else g.integers(shape, -n, n - 1)
    g.add("Gather", [t, i], [(t.dtype, t.shape[:at] + shape + t.shape[at + 1:])], axis=at)


@consumer(2)
def gather_by(g):
    """Places that data computed: rows of a fixed tensor."""
    i = g.sized(["int64", "int32"], lambda t: t.rank <= 2)
    if not i: return
    n = g.integer(1, 8)
    i = g.add("Mod", [i, g.constant(np.array(n, i.dtype))], [(i.dtype, i.shape)], exact=i.exact)
    t = g.new(g.choice(["float32", "int32", "uint8"]), (n,) + g.shape(g.integer(0, 2), graphs.SIZES[:8]))
    g.add("Gather", [t, i], [(t.dtype, i.shape + t.shape[1:])], axis=0)


@consumer(1.5)
def scatter(g):
    """Rows of a fixed tensor are replaced at places that data computed."""
    i = g.sized(["int64"], lambda t: t.rank == 1)
    if not i: return
    n = g.integer(1, 8)
    i = g.add("Mod", [i, g.scalar(n)], [("int64", i.shape)], exact=i.exact)
    size = i.shape[0]
    kind = g.choice(["nd", "elements"])
    if kind == "elements":
        t = g.new("float32", (n,))
        u = g.cast(i, "float32")
        return g.add("ScatterElements", [t, i, u], [("float32", (n,))], axis=0, reduction=g.choice(["add", "max"]))
    t = g.new("float32", (n, g.integer(1, 4)))
    at = g.add("Unsqueeze", [i, g.numbers(1)], [("int64", (size, 1))], exact=i.exact)
    u = g.add("Expand", [g.new("float32", (1, t.shape[1])), g.add("Concat", [
        g.add("Shape", [i], [("int64", (1,))]), g.numbers(t.shape[1])], [("int64", (2,))], axis=0)],
        [("float32", (size, t.shape[1]))])
    g.add("ScatterND", [t, at, u], [("float32", t.shape)], reduction=g.choice(["add", "max"]))


@consumer(3)
def concat(g):
    t = g.sized()
    if not t: return
    at = g.integer(0, t.rank - 1)
    fits = lambda o: o.rank == t.rank and all(d == at or n is m or (n == m and not is_size(n))
                                              for d, (n, m) in enumerate(zip(o.shape, t.shape)))
    others = [o for o in g.tensors if o.dtype == t.dtype and fits(o)]
    parts = [t]
    for _ in range(g.integer(1, 2)):
        if others and g.chance(0.7): parts.append(g.choice(others))
        elif all(d == at or not is_size(n) for d, n in enumerate(t.shape)):
            parts.append(g.new(t.dtype, [g.integer(1, 4) if d == at else n for d, n in enumerate(t.shape)]))
    g.rng.shuffle(parts)
    ends = [p.shape[at] for p in parts]
    total = Size(sum(most(n) for n in ends)) if any(map(is_size, ends)) else sum(ends)
    if len(parts) == 1: total = t.shape[at]
    g.add("Concat", parts, [(t.dtype, t.shape[:at] + (total,) + t.shape[at + 1:])], axis=at)


@consumer(3)
def matmul(g):
    t = g.sized(["float32"], lambda t: t.rank in (1, 2, 3) and (t.rank == 1 or t.size))
    if not t: return
    if t.rank == 1 or g.chance(0.4):
        same = [o for o in g.tensors if o.dtype == "float32" and o.rank == 2 and o.shape[0] is t.shape[-1]
                and o.size * most(t.shape[0]) < MOST_ELEMENTS]
        if is_size(t.shape[-1]) and not same: return
        o = g.choice(same) if is_size(t.shape[-1]) else g.new("float32", (t.shape[-1], g.integer(1, 5)))
        return g.add("MatMul", [t, o], [("float32", t.shape[:-1] + o.shape[1:])])
    if is_size(t.shape[-2]):            # over the size, or rows of it
        if g.chance(0.5) or is_size(t.shape[-1]):
            other = g.add("Transpose", [t], [("float32", t.shape[:-2] + (t.shape[-1], t.shape[-2]))],
                          perm=[*range(t.rank - 2), t.rank - 1, t.rank - 2])
            pair = [other, t] if g.chance(0.6) else [t, other]
            return g.add("MatMul", pair, [("float32", t.shape[:-2] + (pair[0].shape[-2], pair[1].shape[-1]))])
    elif g.chance(0.5):
        o = g.new("float32", (g.integer(1, 4), t.shape[-2]))
        return g.add("MatMul", [o, t], [("float32", t.shape[:-2] + (o.shape[0], t.shape[-1]))])
    if is_size(t.shape[-1]): return
    o = g.new("float32", (t.shape[-1], g.integer(1, 4)))
    if t.rank == 2 and g.chance(0.5):
        return g.add("Gemm", [t, o, g.new("float32", (o.shape[1],))], [("float32", (t.shape[0], o.shape[1]))])
    g.add("MatMul", [t, o], [("float32", t.shape[:-1] + (o.shape[1],))])


@consumer(2)
def along(g):
    t = g.sized(["float32"])
    if not t: return
    g.add(g.choice(["Softmax", "LogSoftmax"]), [t], [(t.dtype, t.shape)], axis=g.integer(0, t.rank - 1))


@consumer(1)
def cumulative(g):
    t = g.sized(["float32", "int64", "int32"])
    if not t: return
    g.add("CumSum", [t, g.scalar(g.integer(0, t.rank - 1))], [(t.dtype, t.shape)], exact=not t.is_float and t.exact,
          exclusive=g.integer(0, 1), reverse=g.integer(0, 1))


@consumer(1)
def normalized(g):
    t = g.sized(["float32"], lambda t: not is_size(t.shape[-1]) and t.shape[-1] > 1)
    if not t: return
    c = t.shape[-1]
    g.add("LayerNormalization", [t, g.new("float32", (c,)), g.new("float32", (c,))], [(t.dtype, t.shape)], axis=-1,
          epsilon=1e-2)


@consumer(2)
def move(g):
    t = g.sized()
    if not t: return
    kind = g.choice(["Transpose", "Unsqueeze", "Reshape", "Flatten", "Slice", "Pad", "Squeeze"])
    if kind == "Transpose":
        perm = g.rng.permutation(t.rank).tolist()
        return g.add("Transpose", [t], [(t.dtype, [t.shape[p] for p in perm])], exact=t.exact, perm=perm)
    if kind == "Unsqueeze" and t.rank < 4:
        at = g.integer(0, t.rank)
        return g.add("Unsqueeze", [t, g.numbers(at)], [(t.dtype, t.shape[:at] + (1,) + t.shape[at:])], exact=t.exact)
    if kind == "Squeeze" and 1 in t.shape:
        at = g.choice([d for d, n in enumerate(t.shape) if not is_size(n) and n == 1] or [-1])
        if at >= 0: return g.add("Squeeze", [t, g.numbers(at)], [(t.dtype, t.shape[:at] + t.shape[at + 1:])],
                                 exact=t.exact)
    if kind == "Reshape":
        n = Size(t.size) if t.rank > 1 else t.shape[0]
        return g.add("Reshape", [t, g.numbers(-1)], [(t.dtype, (n,))])
    if kind == "Slice" and t.fixed:
        at = g.choice(t.fixed)
        end = g.integer(1, t.shape[at])
        return g.add("Slice", [t, g.numbers(0), g.numbers(end), g.numbers(at)],
                     [(t.dtype, t.shape[:at] + (end,) + t.shape[at + 1:])])
    if kind == "Pad" and t.dtype in ("float32", "int64", "int32"):
        before, after = ([g.integer(0, 2) if not is_size(n) or g.chance(0.3) else 0 for n in t.shape] for _ in "ab")
        shape = [Size(n.most + b + a) if is_size(n) and b + a else n if is_size(n) else n + b + a
                 for n, b, a in zip(t.shape, before, after)]
        g.add("Pad", [t, g.numbers(*before, *after)], [(t.dtype, shape)])


@consumer(1)
def filled(g):
    """A tensor of the shape of another."""
    t = g.sized()
    if not t: return
    s = g.add("Shape", [t], [("int64", (t.rank,))])
    if g.chance(0.5):
        return g.add("ConstantOfShape", [s], [("float32", t.shape)],
                     value=numpy_helper.from_array(np.array([1.5], np.float32)))
    g.add("Expand", [g.new("float32", (1,)), s], [("float32", t.shape)])


@consumer(1)
def best(g):
    """The best of a selection: fewer than three if there are not as many."""
    t = g.sized(["float32", "int64"])
    if not t: return
    at = g.choice(t.sized)
    n = g.add("Shape", [t], [("int64", (1,))], start=at, end=at + 1)
    k = g.add("Min", [n, g.numbers(g.integer(1, 4))], [("int64", (1,))])
    size = Size(min(t.shape[at].most, 4))
    shape = t.shape[:at] + (size,) + t.shape[at + 1:]
    g.add("TopK", [t, k], [(t.dtype, shape), ("int64", shape)], axis=at, largest=g.integer(0, 1))


@consumer(1)
def searched(g):
    """Another search, over a selection."""
    t = g.sized(["float32", "int64", "bool", "int32"], lambda t: t.exact and t.size <= 40)
    if not t: return
    kind = g.choice(["NonZero", "Unique", "Compress"])
    if kind == "NonZero": return g.add("NonZero", [t], [("int64", (t.rank, Size(t.size)))])
    if kind == "Unique" and t.dtype == "int64": return g.add("Unique", [t], [("int64", (Size(t.size),))])
    if t.rank == 1 and t.dtype != "bool":
        m = g.add("Greater", [t, g.constant(np.array(1, t.dtype))], [("bool", t.shape)])
        g.add("Compress", [t, m], [(t.dtype, (Size(t.size),))], axis=0)


# ---- Models


def sample(g, t, kind, rng):
    """The value of an input: in `nothing` conditions are false and counts least, in `everything` the contrary."""
    wish, dtype = g.kinds[t.name], np.dtype(t.dtype)
    share = SHARES.get(kind, rng.random())
    if dtype == np.bool_: return rng.random(t.shape) < share
    if isinstance(wish, tuple):
        low, high = wish
        ends = {"nothing": low, "everything": high}
        return np.full(t.shape, ends[kind]) if kind in ends and rng.random() < 0.7 else rng.integers(
            low, high + 1, t.shape)
    if wish == "boxes":
        x = np.sort(rng.uniform(0, 4, (*t.shape[:-1], 2, 2)), axis=-2).reshape(t.shape)
        return np.array(x, dtype)
    if wish == "scores": return np.array(rng.permutation(int(np.prod(t.shape))).reshape(t.shape) * 0.9
                                         / np.prod(t.shape) + 0.1 * share, dtype) if kind != "nothing" \
        else np.zeros(t.shape, dtype)
    x = graphs.values(rng, dtype, t.shape)
    return np.where(rng.random(t.shape) < share, x, 0).astype(dtype)


class Case(graphs.Case):
    fills, samples = redzones.BYTES, None

    def __init__(self, model, feeds, bounds):
        super().__init__(model, feeds[0], "sizes")
        self.samples, self.bounds = [graphs.Case(model, f, "sizes") for f in feeds], bounds
        nodes = {n for node in model.graph.node for n in node.output}
        self.words = [w for n, axis, high in bounds if n in nodes for w in ("--dim", "%s.%d<=%d" % (n, axis, high))]

    def expected(self):
        """Of each sample; None: an error."""
        found = []
        for s in self.samples:
            try:
                found += s.expected()
            except reference.NoReference as why:
                found.append(None)
                self.why = s.why = why
        if not any(found): raise reference.NoReference(self.why)
        return found

    def reduced(self, fails):
        return reduce.without_nodes(self, fails)

    def with_model(self, model):
        used = {i.name for i in model.graph.input}
        return Case(model, [{n: x for n, x in s.feeds.items() if n in used} for s in self.samples], self.bounds)

    def prepare(self, folder, fill, is_sanitized):
        redzones.prepare(folder, fill, is_sanitized)


def info_of(g, t, named):
    dims = [None if is_size(n) else n for n in t.shape]
    if named: dims = ["%s_d%d" % (t.name, i) if n is None else n for i, n in enumerate(dims)]
    return helper.make_tensor_value_info(t.name, onnx_type(t.dtype), dims)


def grown(rng):
    g = Sized(rng)
    table = lambda rows: ([f for _, f in rows], np.array([w for w, _ in rows]) / sum(w for w, _ in rows))
    makers, p = table(PRODUCERS)
    users, q = table(CONSUMERS)
    steps, producers = g.integer(2, 8), g.integer(1, 3)
    for _ in range(60):
        before = len(g.nodes)
        if producers > 0 and (not any(t.sized for t in g.tensors) or g.chance(0.2)):
            makers[int(rng.choice(len(makers), p=p))](g)
            producers -= len(g.nodes) > before
        else:
            users[int(rng.choice(len(users), p=q))](g)
            steps -= len(g.nodes) > before
        if steps <= 0 and (producers <= 0 or len(g.nodes) > 20): break
    return g


def draw(rng, number):
    g = grown(rng)
    made = {n for node in g.nodes for n in node.output}
    results = [t for t in g.tensors if t.name in made and (t.name not in g.read or g.chance(0.1))]
    if not results or not any(t.sized for t in g.tensors): return None
    used = {n for node in g.nodes for n in node.input} | g.read
    inputs = [t for t in g.inputs if t.name in used]
    if not inputs: return None
    graph = helper.make_graph(g.nodes, "g", [info_of(g, t, False) for t in inputs],
                              [info_of(g, t, g.chance(0.5)) for t in results],
                              initializer=[c for c in g.constants if c.name in used])
    model = helper.make_model(graph, ir_version=IR, opset_imports=[helper.make_opsetid("", OPSET)])
    feeds = [{t.name: np.asarray(sample(g, t, kind, rng)) for t in inputs} for kind in SAMPLES]
    return Case(model, feeds, g.most)
