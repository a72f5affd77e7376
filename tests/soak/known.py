# SPDX-License-Identifier: MIT
"""What is known: differences from the references, and refusals, each with its reason. A difference or a refusal that no
row describes is a finding."""
import re

import numpy as np
from onnx import helper, numpy_helper

# ---- Refusals: a part of the diagnostic, and why the model is refused ------------------------------------------------

REFUSALS = [
    (r"\(Unique\): unsupported: the dimension \".*\" cannot stay open here",
     "distinct elements of a tensor whose size data decide"),
    (r"\(unique\): error: the input is .*; use \[rows\]\[elements\] of at least 1",
     "distinct rows that may have no elements"),
    (r"the smallest plan needs", "the smallest plan depends on the other options"),
    (r"input \".*\": error: dimension \d+ is 0", "an input without elements: the interface has no array of size 0"),
    (r"\(\w*Normalization\): error: .*the input (is )?\[\d+\]\[\d+\]; use .*\[n\]\[c\]\[\.\.\]",
     "each element alone would be normalized: the specification has spatial dimensions behind the channels"),
    (r"(reshape\): unsupported: the input is \[.*\b0\b.*\]; 1 to 2|sizes above 0"
     r"|the matrix is \[\d+\]\[\d+\]; use at most"
     r"|\b0\].*(a letter for each dimension|dimensions of at least 1|at least one element|fixed sizes above 0)"
     r"|\[0\].*(a letter for each dimension|dimensions of at least 1|at least one element|1 to 2\^30 output"
     r"|one dimension and one element|none of 0)"
     r"|reduce_mean\): error: division by zero|does not fit into 0 elements"
     r"|the input is \[.*\b0\b.*; use at least one dimension and one element|cannot be padded by .* with elements)",
     "an operand without elements in front of windows, products, samples or means"),
    (r"\(grid_sample\): error: the input is (u?\d+|[iu]\d+|bool); use a float type",
     "samples between integers or booleans: the specification has no rounding"),
]
REFUSALS = [(re.compile(text), reason) for text, reason in REFUSALS]


def refusal(text):
    return next((reason for pattern, reason in REFUSALS if pattern.search(text)), None)


# ---- Errors ----------------------------------------------------------------------------------------------------------


def reads(node):
    """The operands whose elements a node reads; a body reads what it has from outside."""
    if node.op_type in ("Shape", "Size"): return []
    inside = [i for a in node.attribute for n in a.g.node for i in reads(n)]
    return [*node.input, *inside, *(o.name for a in node.attribute for o in a.g.output)]


def unread(model, error):
    """The reason if the reference's error says nothing of the model: its node has elements on which no output depends,
    or none."""
    if "Unexpected mode of 3" in str(error): return "ONNX Runtime has no Pad of nothing in the mode wrap"
    failed = re.search(r"Name:'([^']*)'", str(error))
    wanted = {o.name for o in model.graph.output}
    for node in reversed(model.graph.node):
        if not wanted & set(node.output): continue
        if failed and node.name == failed.group(1): return None
        wanted |= set(reads(node))
    return "only the shape of its result is read, so it does not run: ONNX Runtime runs it, and it fails" \
        if failed else None


# ---- Differences -------------------------------------------------------


def is_half(node):
    """The casts around an operator that is drawn in bfloat16 (operators.py)."""
    return node.op_type == "Cast" and (node.output[0] + node.input[0]).count("_16") == 1 and node.name.endswith("_cast")


class Facts:
    """Of a model of one operator (beside the slices that make its inputs empty): what the conditions below ask."""

    def __init__(self, model, feeds, by):
        nodes = [n for n in model.graph.node if not is_half(n)] or list(model.graph.node)
        self.node, self.feeds, self.by = nodes[-1], feeds, by
        self.is_single = all(n.op_type == "Slice" for n in nodes[:-1]) and bool(nodes)
        self.operator = (self.node.domain + "." if self.node.domain else "") + self.node.op_type
        self.attributes = {a.name: helper.get_attribute_value(a) for a in self.node.attribute}
        known = {**{c.name: numpy_helper.to_array(c) for c in model.graph.initializer}, **feeds}
        for n in nodes[:-1]:
            if self.is_single and known.get(n.input[0]) is not None: known[n.output[0]] = known[n.input[0]][:0]
        self.inputs = [known.get(n.removesuffix("_16")) for n in self.node.input]
        self.type = ("bfloat16" if any(map(is_half, model.graph.node)) else
                     next((x.dtype.name for x in self.inputs if x is not None), ""))
        self.floats = [x.astype(np.float64) for x in self.inputs if x is not None and x.dtype.kind == "f"]

    def attribute(self, name, otherwise=None):
        return self.attributes.get(name, otherwise)

    @property
    def has_nan(self):
        return any(np.isnan(x).any() for x in self.floats)

    @property
    def has_infinity(self):
        return any(np.isinf(x).any() for x in self.floats)

    @property
    def is_special(self):
        return self.has_nan or self.has_infinity

    @property
    def overflows(self):
        """Intermediate values may leave the range of the type, by their order."""
        limits = {"float16": 100.0, "float32": 1e15, "float64": 1e150}
        most = limits.get(self.type, 1e15)
        return any(np.abs(np.where(np.isfinite(x), x, 0)).max(initial=0) > most for x in self.floats)

    @property
    def power_wraps(self):
        x, y = (np.atleast_1d(v) for v in self.inputs[:2])
        most = max(int(np.abs(x.astype(np.float64)).max(initial=0)), 1) ** max(int(y.max(initial=0)), 0)
        return x.dtype.kind in "iu" and most > np.iinfo(x.dtype).max

    @property
    def reach(self):
        """The largest magnitude as a multiple of the middle one."""
        x = np.abs(self.floats[0])
        return x.max(initial=0) / max(np.median(x) if x.size else 1, 1e-30)

    @property
    def has_tie(self):
        """Of a Resize by sizes to the nearest element: whether a coordinate is whole, or a half. The fraction is that
        of asymmetric, half_pixel and align_corners."""
        if self.attribute("mode", b"nearest") != b"nearest" or len(self.inputs) < 4: return False
        sizes = self.inputs[3]
        axes = self.attribute("axes", range(self.inputs[0].ndim))
        return any(n != m and m > 1 and any((2 * i + more) * (n - less) % (m - less) == 0
                                            for i in range(1, m) for more, less in ((0, 0), (1, 0), (0, 1)))
                   for n, m in ((self.inputs[0].shape[a], int(k)) for a, k in zip(axes, sizes)))

    @property
    def squares_wrap(self):
        x = self.inputs[0].astype(np.float64)
        return (x * x).sum(-1).max(initial=0) > np.iinfo(self.type).max

    @property
    def is_nearly_constant(self):
        """The first operand varies less along its last dimension, or in all, than a float of it is exact."""
        x = self.inputs[0].astype(np.float64)
        spreads = [x.std(axis).min(initial=np.inf) for axis in (None, -1, tuple(range(min(x.ndim, 2), x.ndim)))]
        return x.size > 0 and min(spreads) <= 1e-2 * np.abs(x).max()


def always(f): return True


ORT, EVALUATOR = "ONNX Runtime", "onnx's evaluator"


class Difference:
    """operator, types: patterns; when: of Facts; of: the reference; right: ours, theirs, or open, by the specification;
    steps: integers differ by at most so many."""

    def __init__(self, operator, types, when, of, right, reason, steps=None):
        self.operator, self.types, self.when, self.of, self.right, self.reason, self.steps = (
            re.compile(operator), re.compile(types), when, of, right, reason, steps)


FLOATS, INTS, ANY = r"b?float\d+", r"u?int\d+", r".*"
DIFFERENCES = [Difference(*row) for row in [
    # Not determined by the specification
    ("Cast|CastLike", FLOATS, always, ANY, "open", "a float that the integer type does not hold: C leaves it open"),
    (r"(com\.microsoft\.)?QuantizeLinear", FLOATS, lambda f: f.has_nan, ANY, "open",
     "NaN is no number to round: ours becomes 0, ONNX Runtime's the smallest integer"),
    ("(Max|Average|Lp)Pool|Global(Max|Average|Lp)Pool|MaxRoiPool", FLOATS, lambda f: f.is_special, ANY, "open",
     "NaN in a window: ours is NaN, ONNX Runtime's maximum skips it, its averages depend on the order"),
    ("GridSample|DeformConv|RoiAlign|Resize|Upsample|AffineGrid|RotaryEmbedding|DFT|STFT", FLOATS,
     lambda f: f.is_special or f.overflows, ANY, "open",
     "NaN or infinity as a coordinate or under a weight of 0: the order of the sums decides"),
    ("AffineGrid", FLOATS, lambda f: f.attribute("align_corners") and 1 in list(f.inputs[1][2:]), ANY, "open",
     "the place of a single element between two corners: 0 as in PyTorch; ONNX Runtime 1, onnx -1"),
    (r"(Hann|Hamming|Blackman)Window", ANY, lambda f: not f.attribute("periodic", 1) and f.inputs[0] == 1, ANY, "open",
     "a symmetric window of one element is 0 / 0 in the formula"),
    (r"LSTM|GRU|RNN|.*Attention|.*Conv.*|.*MatMul.*|.*Gemm|Einsum|.*Normalization|LRN|Softmax|LogSoftmax|.*Loss"
     r"|Reduce.*|CumSum|CumProd|Sum|Mean|Det|Mish|Softplus|.*Gelu|Celu|HardSwish|Swish|Softsign|Col2Im"
     r"|ai.onnx.ml.Linear\w+|DynamicQuantizeLinear|.*Normalizer|.*Scaler", FLOATS,
     lambda f: f.is_special or f.overflows, ANY, "open",
     "NaN, infinities or overflow between operands: the order of operations decides what the result is"),
    ("ReduceMean|ReduceL[12]|ReduceLogSum|ReduceLogSumExp|ReduceSumSquare", INTS, always, ANY, "ours",
     "roots, logarithms and means of integers: computed in real numbers and truncated; ONNX Runtime's are of integers"),
    ("ReduceSum|ReduceProd", r"int64|uint64|int32|uint32", always, ORT, "ours",
     "sums beyond the type wrap; ONNX Runtime computes some through floats"),
    (r"ai\.onnx\.ml\.Normalizer", INTS, lambda f: f.squares_wrap, ORT, "ours",
     "squares beyond the type: ours are of floats; ONNX Runtime's wrap"),
    ("Shrink", INTS, lambda f: np.abs(f.inputs[0].astype(np.float64)).max(initial=0) > 2**24, ORT, "ours",
     "integers that a float does not hold: ONNX Runtime computes in floats"),
    ("Shrink|ThresholdedRelu|Celu|Selu|Elu|LeakyRelu|HardSigmoid", "float64", always, ORT, "ours",
     "ONNX Runtime computes doubles in floats"),
    ("(Group|Layer|RMS|Instance|Batch)Normalization", "float64", always, ANY, "ours",
     "the references compute the first stage of doubles in floats"),
    ("(Group|Layer|Instance|MeanVariance)Normalization", FLOATS, lambda f: f.is_nearly_constant, ANY, "open",
     "nearly equal elements: their variance is the rounding of their sum"),
    ("MatMulInteger", INTS, lambda f: 0 in f.inputs[1].shape if f.inputs[1] is not None else True, ORT, "ours",
     "a product of no elements is 0; ONNX Runtime leaves the memory as it was"),
    ("ArgMin|ArgMax|Hardmax", FLOATS, lambda f: f.has_nan, ANY, "ours",
     "several NaN: the first or, with select_last_index, the last, as numpy; ONNX Runtime compares"),
    ("PRelu", FLOATS, lambda f: f.is_special, ANY, "ours",
     "0 beside a slope of NaN or infinity is 0, as the specification has it; the references multiply"),
    ("DFT|STFT", FLOATS, lambda f: np.abs(f.floats[0]).max(initial=0) >= 100, ORT, "ours",
     "factors of 0 and 1 are exact, so large elements cancel; ONNX Runtime's are rounded"),
    ("HardSigmoid|LeakyRelu", "float64", lambda f: len(f.attributes) < {"HardSigmoid": 2}.get(f.operator, 1), ANY,
     "theirs", "a default of 0.2 or 0.01 is a decimal in doubles; the references' is a float"),
    ("ai.onnx.ml.TreeEnsembleClassifier", ANY, always, ORT, "ours",
     "a class for which no leaf votes has the score 0; ONNX Runtime never chooses it"),
    # Rounding of quantized values
    (r"com.microsoft.QLinear\w+|QLinear(Conv|MatMul)", ANY, always, ANY, "open",
     "the product of decimal scales is rounded in another order: a step at ties", 1),
    ("Clip", FLOATS, lambda f: f.has_infinity and any(x is None for x in (f.inputs + [None] * 2)[1:3]), ORT, "open",
     "an end that is absent: infinities stay, as in onnx's evaluator; ONNX Runtime takes the ends of the type"),
    # The references are wrong
    ("Gelu", "float64", always, EVALUATOR, "ours", "onnx's evaluator takes the root of 2 as a float"),
    ("Gelu", "bfloat16", always, EVALUATOR, "ours", "onnx's evaluator rounds each step of the formula to bfloat16"),
    ("HardSwish", "float64", always, ANY, "ours", "the references take 1/6 as a float"),
    ("Pow", INTS, lambda f: f.power_wraps, ORT, "ours",
     "a power of integers beyond the type wraps; ONNX Runtime computes it in doubles"),
    ("OneHot", ANY, lambda f: f.is_special, EVALUATOR, "ours", "onnx's evaluator multiplies both values by 0, 1"),
    ("Sign", "float16", lambda f: f.has_nan, ORT, "ours", "ONNX Runtime's sign of NaN is 0 in 16 bits, NaN in 32"),
    ("LRN", FLOATS, lambda f: f.reach > 1e3, ORT, "ours",
     "ONNX Runtime's sums run: a large square leaves its rounding behind when its channel is subtracted"),
    ("Resize", ANY, lambda f: f.has_tie, ORT, "ours",
     "a whole coordinate or a half decides which element is nearest: ours is exact, ONNX Runtime's a float"),
    (r"Global\w+Pool", ANY, always, EVALUATOR, "ours", "onnx's evaluator drops dimensions of 1"),
    ("LRN", ANY, always, EVALUATOR, "ours", "onnx's evaluator ends the channels at the size of the batch"),
    ("AveragePool", ANY, always, EVALUATOR, "ours", "onnx's evaluator marks padding by NaN"),
    ("MeanVarianceNormalization", "float16", always, ANY, "ours", "the references round epsilon 1e-9 to 0"),
]]


def difference(model, feeds, by=ORT):
    """The row of a model of one operator."""
    if model is None: return None
    f = Facts(model, feeds, by)
    if not f.is_single: return None
    return next((d for d in DIFFERENCES if d.operator.fullmatch(f.operator) and d.types.fullmatch(f.type)
                 and re.fullmatch(d.of, f.by) and d.when(f)), None)


def is_within(row, got, expected):
    """Whether the difference is of the row's size, and every index in its range."""
    return row.steps is None or all(np.abs(g.astype(np.int64) - e.astype(np.int64)).max(initial=0) <= row.steps
                                    for g, e in zip(got, expected) if g.shape == e.shape and e.dtype.kind in "iu")
