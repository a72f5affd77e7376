# SPDX-License-Identifier: MIT
"""The ends of detectors, in the form in which exporters write them: rows of tests/sizes.py.

torchvision's SSD selects per class, RetinaNet and FCOS per level, by a threshold and TopK of at most CANDIDATES; the
boxes of all are joined, moved apart by class, and suppressed, unless there are none. Ultralytics' export selects by the
best class."""

SHARED = """zero = Constant<value_int=0>() one = Constant<value_float=1.0>() first = Constant<value_ints=[0]>()
second = Constant<value_ints=[1]>() third = Constant<value_ints=[2]>() flat = Constant<value_ints=[-1]>()
both = Constant<value_ints=[0,1]>() least = Constant<value_float=0.35>() candidates = Constant<value_ints=[4]>()
most = Constant<value_ints=[9223372036854775807]>() overlap = Constant<value_floats=[0.45]>()
limit = Constant<value_ints=[6]>() """

SUPPRESS = """top = ReduceMax<keepdims=0>(boxes) step = Add(top, one) classes = Cast<to=1>(labels)
offset = Mul(classes, step) column = Unsqueeze(offset, second) apart = Add(boxes, column)
batch = Unsqueeze(apart, first) scored = Unsqueeze(scores, both)
selected = NonMaxSuppression(batch, scored, most, overlap) index = Gather<axis=1>(selected, third)
places = Squeeze(index, second) """

KEEP = """best = Slice(kept, first, limit, first) y = Gather<axis=0>(boxes, best) s = Gather<axis=0>(scores, best)
c = Gather<axis=0>(labels, best) """

OUTPUTS = "float[k,4] y, float[k] s, int64[k] c"


def unless_none():
    return """count = Size(boxes) none = Equal(count, zero) kept = If(none) <then_branch = t () => (int64[n] nothing) {
nothing = Constant<value=int64[0] {}>() }, else_branch = e () => (int64[n] some) {
%s some = Identity(places) }> """ % SUPPRESS


def chosen(i, scores):
    """The places of scores above the threshold, in `at`, the best of their scores, in `v`, and `order` among them."""
    return """is{0} = Greater({1}, least) at2{0} = NonZero(is{0}) turned{0} = Transpose(at2{0})
at{0} = Squeeze(at2{0}, first) all{0} = GatherND({1}, turned{0}) shape{0} = Shape(all{0})
either{0} = Concat<axis=0>(candidates, shape{0})
number{0} = ReduceMin<keepdims=0>(either{0}) k{0} = Reshape(number{0}, flat)
v{0}, order{0} = TopK<axis=-1>(all{0}, k{0}) """.format(i, scores)


def joined(count):
    names = lambda word: ", ".join(word + str(i) for i in range(count))
    return "boxes = Concat<axis=0>(%s) scores = Concat<axis=0>(%s) labels = Concat<axis=0>(%s) " % (
        names("box"), names("v"), names("label"))


def ssd():
    text = SHARED
    for i in range(2):
        text += "class{0} = Constant<value_int={1}>() of{0} = Gather<axis=1>(x, class{0}) ".format(i, i + 1)
        text += chosen(i, "of%d" % i)
        text += """own{0} = GatherND(b, turned{0}) box{0} = Gather<axis=0>(own{0}, order{0}) many{0} = Shape(v{0})
label{0} = ConstantOfShape<value=int64[1] {{{1}}}>(many{0}) """.format(i, i + 1)
    return "float[12,4] b, float[12,3] x => " + OUTPUTS, text + joined(2) + unless_none() + KEEP


def levels(has_centers):
    text, inputs = SHARED + "classes_of = Constant<value_int=3>() low = Constant<value_float=0.0>() ", []
    for i in range(2):
        inputs += ["float[8,4] b%d" % i, "float[8,4] anchor%d" % i, "float[8,3] x%d" % i]
        inputs += ["float[8,1] m%d" % i] if has_centers else []
        text += "p{0} = Sigmoid(x{0}) ".format(i)
        text += "q{0} = Sigmoid(m{0}) pq{0} = Mul(p{0}, q{0}) f{0} = Sqrt(pq{0}) ".format(i) if has_centers else \
            "f{0} = Identity(p{0}) ".format(i)
        text += "of{0} = Reshape(f{0}, flat) ".format(i) + chosen(i, "of%d" % i)
        text += """own{0} = Gather<axis=0>(at{0}, order{0}) row{0} = Div(own{0}, classes_of)
label{0} = Mod(own{0}, classes_of) d{0} = Gather<axis=0>(b{0}, row{0}) a{0} = Gather<axis=0>(anchor{0}, row{0})
sum{0} = Add(d{0}, a{0}) box{0} = Clip(sum{0}, low) """.format(i)
    return ", ".join(inputs) + " => " + OUTPUTS, text + joined(2) + unless_none() + KEEP


def ultralytics():
    return "float[1,7,10] x => " + OUTPUTS, SHARED + """turned = Transpose<perm=[0,2,1]>(x)
parts = Constant<value_ints=[4,3]>() all, classes_of = Split<axis=2>(turned, parts)
high2 = ReduceMax<keepdims=0>(classes_of, third) best2 = ArgMax<axis=2, keepdims=0>(classes_of)
all1 = Squeeze(all, first) high = Squeeze(high2, first) class = Squeeze(best2, first) is = Greater(high, least)
some = Compress<axis=0>(all1, is) scores = Compress<axis=0>(high, is) labels = Compress<axis=0>(class, is)
half = Constant<value_float=0.5>() center, size = Split<axis=1, num_outputs=2>(some) h = Mul(size, half)
from = Sub(center, h) to = Add(center, h) boxes = Concat<axis=1>(from, to) """ + SUPPRESS + \
        "kept = Identity(places) " + KEEP


def rows():
    """name, inputs => outputs, nodes"""
    yield ("boxes of SSD",) + ssd()
    yield ("boxes of RetinaNet",) + levels(False)
    yield ("boxes of FCOS",) + levels(True)
    yield ("boxes of Ultralytics",) + ultralytics()
