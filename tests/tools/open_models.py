# SPDX-License-Identifier: MIT
"""open_models.py FOLDER: small models with open dimensions, as exporters make them: a classifier over a batch, a
convolutional network over a batch, one attention head over a sequence, keywords in a stretch of sound of any length, an
image of any size. Weights are random with a fixed seed. Needs the Python packages onnx and numpy; the models are kept
in tests/models."""
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

random = np.random.default_rng(7)


def weight(name, *shape):
    return numpy_helper.from_array((random.standard_normal(shape) / np.sqrt(shape[0])).astype(np.float32), name)


def integers(name, *values):
    return numpy_helper.from_array(np.array(values, np.int64), name)


def save(path, nodes, weights, inputs, outputs):
    value = lambda name, shape: helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
    graph = helper.make_graph(nodes, "open", [value(*i) for i in inputs], [value(*o) for o in outputs], weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)])
    model.ir_version = 7
    onnx.checker.check_model(model)
    onnx.save(model, path)


def node(op, inputs, output, **attributes):
    return helper.make_node(op, inputs.split(), output.split(), name=output.split()[0], **attributes)


def classifier(path):
    """The batch passes a Reshape with -1 and one with a shape computed from the input's."""
    nodes = [
        node("Reshape", "x minus_one", "flat"),
        node("Gemm", "flat w1 b1", "h1"),
        node("Relu", "h1", "r1"),
        node("Shape", "r1", "shape"),
        node("Gather", "shape zero", "batch"),
        node("Unsqueeze", "batch axis0", "batch1"),
        node("Concat", "batch1 four_five", "to"  , axis=0),
        node("Reshape", "r1 to", "split"),
        node("ReduceMean", "split", "mean", axes=[1], keepdims=0),
        node("Gemm", "mean w2 b2", "h2"),
        node("Softmax", "h2", "y", axis=1),
    ]
    weights = [weight("w1", 12, 20), weight("b1", 20), weight("w2", 5, 3), weight("b2", 3),
               integers("minus_one", -1, 12),
               numpy_helper.from_array(np.array(0, np.int64), "zero"), integers("axis0", 0),
               integers("four_five", 4, 5)]
    save(path, nodes, weights, [("x", ["batch", 3, 4])], [("y", ["batch", 3])])


def convolution(path):
    nodes = [
        node("Conv", "x k1 b1", "c1", pads=[1, 1, 1, 1]),
        node("Relu", "c1", "r1"),
        node("MaxPool", "r1", "p1", kernel_shape=[2, 2], strides=[2, 2]),
        node("Conv", "p1 k2", "c2", pads=[1, 1, 1, 1], strides=[2, 2]),
        node("Add", "c2 b2", "a2"),
        node("Sigmoid", "a2", "s2"),
        node("Flatten", "s2", "flat"),
        node("Gemm", "flat w b", "y", transB=1),
        node("GlobalAveragePool", "r1", "g"),
    ]
    weights = [weight("k1", 6, 2, 3, 3), weight("b1", 6), weight("k2", 4, 6, 3, 3), weight("b2", 1, 4, 1, 1),
               weight("w", 3, 36), weight("b", 3)]
    save(path, nodes, weights, [("x", ["n", 2, 10, 12])], [("y", ["n", 3]), ("g", ["n", 6, 1, 1])])


def attention(path):
    """softmax(q k' / 4) v with two heads, over [1][time][16], heads split by shapes computed from the input's."""
    nodes = [
        node("MatMul", "x wq", "q0"), node("MatMul", "x wk", "k0"), node("MatMul", "x wv", "v0"),
        node("Shape", "x", "shape"),
        node("Gather", "shape one", "time"),
        node("Unsqueeze", "time axis0", "time1"),
        node("Concat", "batch1 time1 heads", "apart", axis=0),
        node("Concat", "batch1 time1 width", "together", axis=0),
        node("Reshape", "q0 apart", "q1"), node("Reshape", "k0 apart", "k1"), node("Reshape", "v0 apart", "v1"),
        node("Transpose", "q1", "q", perm=[0, 2, 1, 3]), node("Transpose", "k1", "k", perm=[0, 2, 3, 1]),
        node("Transpose", "v1", "v", perm=[0, 2, 1, 3]),
        node("MatMul", "q k", "s0"),
        node("Mul", "s0 quarter", "s1"),
        node("Softmax", "s1", "s", axis=-1),
        node("MatMul", "s v", "o0"),
        node("Transpose", "o0", "o1", perm=[0, 2, 1, 3]),
        node("Reshape", "o1 together", "o2"),
        node("MatMul", "o2 wo", "o3"),
        node("Add", "o3 x", "y"),
        node("ReduceMean", "y", "m", axes=[1], keepdims=0),
    ]
    weights = ([weight(w, 16, 16) for w in ("wq", "wk", "wv", "wo")] + [
        numpy_helper.from_array(np.array(1, np.int64), "one"), integers("axis0", 0), integers("batch1", 1),
        integers("heads", 2, 8),
        integers("width", 16), numpy_helper.from_array(np.array(0.25, np.float32), "quarter")])
    save(path, nodes, weights, [("x", [1, "time", 16])], [("y", [1, "time", 16]), ("m", [1, 16])])


def keywords(path):
    """Windows over time, recurrent layers with states of zeros in a shape computed from the input's, and a mean over
    time."""
    state = [("Shape", "p1", "s1", {}), ("Gather", "s1 zero", "batch", {}), ("Unsqueeze", "batch axis0", "batch1", {}),
             ("Concat", "two batch1 five", "lstm_shape", dict(axis=0)), ("ConstantOfShape", "lstm_shape", "c0", {}),
             ("Expand", "none lstm_shape", "h0", {})]
    nodes = [node(*n[:3], **n[3]) for n in [
        ("Conv", "x k1 b1", "c1", dict(pads=[2, 2], strides=[2])),
        ("Relu", "c1", "r1", {}),
        ("Conv", "r1 k2", "c2", dict(auto_pad="SAME_UPPER", group=6)),
        ("BatchNormalization", "c2 g2 b2 m2 v2", "n2", {}),
        ("AveragePool", "n2", "p1", dict(kernel_shape=[3], strides=[2], pads=[1, 1])),
        *state,
        ("Transpose", "p1", "t0", dict(perm=[2, 0, 1])),
        ("LSTM", "t0 lw lr lb - h0 c0", "l0 lh", dict(direction="bidirectional", hidden_size=5)),
        ("Transpose", "l0", "l1", dict(perm=[0, 2, 1, 3])),
        ("Reshape", "l1 together", "l2", {}),
        ("GRU", "l2 gw gr gb", "g0 gh", dict(hidden_size=4, linear_before_reset=1)),
        ("Squeeze", "g0 axis1", "g1", {}),
        ("Shape", "g1", "s2", {}), ("Expand", "row s2", "shift", {}),
        ("Add", "g1 shift", "shifted", {}), ("ReduceMean", "shifted", "mean", dict(axes=[0], keepdims=0)),
        ("MatMul", "mean w", "logits", {}), ("Softmax", "logits", "y", dict(axis=1)),
        ("MaxPool", "p1", "top", dict(kernel_shape=[2])), ("GlobalMaxPool", "top", "most", {}),
    ]]
    for n in nodes:                                                     # -: an input that is left out
        n.input[:] = ["" if i == "-" else i for i in n.input]
    positive = numpy_helper.from_array(random.random(6).astype(np.float32) + 0.5, "v2")
    weights = [weight("k1", 6, 4, 5), weight("b1", 6), weight("k2", 6, 1, 3), weight("g2", 6), weight("b2", 6),
               weight("m2", 6), positive,
               weight("lw", 2, 20, 6), weight("lr", 2, 20, 5), weight("lb", 2, 40), weight("gw", 1, 12, 10),
               weight("gr", 1, 12, 4), weight("gb", 1, 24),
               weight("w", 4, 3), numpy_helper.from_array(np.zeros((1, 1, 5), np.float32), "none"),
               weight("row", 1, 4), numpy_helper.from_array(np.array(0, np.int64), "zero"), integers("axis0", 0),
               integers("axis1", 1), integers("two", 2), integers("five", 5), integers("together", 0, 0, 10)]
    save(path, nodes, weights, [("x", ["batch", 4, "time"])],
         [("y", ["batch", 3]), ("g1", ["steps", "batch", 4]), ("lh", [2, "batch", 5]), ("most", ["batch", 6, 1])])


def image(path):
    """A fully convolutional network over images of any height and width."""
    nodes = [
        node("Conv", "x k1 b1", "c1", pads=[1, 1, 1, 1], strides=[2, 2]),
        node("Relu", "c1", "r1"),
        node("Conv", "r1 k2", "c2", dilations=[2, 2], pads=[2, 2, 2, 2]),
        node("Conv", "c2 k3", "c3", group=5, pads=[1, 0, 1, 0]),
        node("AveragePool", "c3", "p1", kernel_shape=[2, 3], pads=[1, 1, 0, 1], count_include_pad=1),
        node("MaxPool", "p1", "y", kernel_shape=[2, 2], strides=[2, 1]),
        node("GlobalAveragePool", "c3", "mean"),
    ]
    weights = [weight("k1", 4, 3, 3, 3), weight("b1", 4), weight("k2", 5, 4, 3, 3), weight("k3", 5, 1, 3, 1)]
    save(path, nodes, weights, [("x", [1, 3, "height", "width"])],
         [("y", [1, 5, "rows", "columns"]), ("mean", [1, 5, 1, 1])])


classifier(sys.argv[1] + "/open_classifier.onnx")
convolution(sys.argv[1] + "/open_convolution.onnx")
attention(sys.argv[1] + "/open_attention.onnx")
keywords(sys.argv[1] + "/open_keywords.onnx")
image(sys.argv[1] + "/open_image.onnx")
