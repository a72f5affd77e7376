#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the small networks of the golden tests, each into its folder. They are kept, so this runs only when one is
added: pip install onnx==1.16.2 numpy; python3 tests/golden/make_models.py. Weights are small multiples of 1/8, exact in
every format and short in the emitted text."""
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

HERE = Path(__file__).resolve().parent


def eighths(name, *shape):
    count = int(np.prod(shape))
    values = (np.arange(count) * 5 + len(name)) % 17 - 8
    return numpy_helper.from_array((values / 8).astype(np.float32).reshape(shape), name)


def positive(name, *shape):
    values = np.arange(int(np.prod(shape))) % 3 + 1
    return numpy_helper.from_array(values.astype(np.float32).reshape(shape), name)


def write(case, inputs, outputs, nodes, weights):
    def value(name, shape):
        return helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
    graph = helper.make_graph(nodes, case, [value(n, s) for n, s in inputs.items()],
                              [value(n, s) for n, s in outputs.items()], weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=7, producer_name="")
    (HERE / case).mkdir(exist_ok=True)
    (HERE / case / f"{case}.onnx").write_bytes(model.SerializeToString(deterministic=True))


def node(op, inputs, output, name=None, **attributes):
    return helper.make_node(op, inputs.split(), [output], name=name or output, **attributes)


# Batch norm folds into the convolution's weights; the boundary is peeled; the relu is fused.
write("conv-norm-relu", {"x": [1, 2, 6, 6]}, {"y": [1, 4, 6, 6]}, [
    node("Conv", "x w", "conv", pads=[1, 1, 1, 1]),
    node("BatchNormalization", "conv scale bias mean var", "norm", epsilon=0.0),
    node("Relu", "norm", "y"),
], [eighths("w", 4, 2, 3, 3), positive("scale", 4), eighths("bias", 4), eighths("mean", 4),
    numpy_helper.from_array(np.array([1, 4, 16, 0.25], np.float32), "var")])

write("dense-softmax", {"x": [1, 8]}, {"y": [1, 4]}, [
    node("Gemm", "x w b", "dense", transB=1),
    node("Softmax", "dense", "y", axis=1),
], [eighths("w", 4, 8), eighths("b", 4)])

# Two equal layers are one function with the weights as parameters; the sum is fused into the second.
write("residual", {"x": [1, 4, 16]}, {"y": [1, 4, 16]}, [
    node("Conv", "x w1 b1", "first", pads=[1, 1]),
    node("Relu", "first", "first_relu"),
    node("Conv", "first_relu w2 b2", "second", pads=[1, 1]),
    node("Relu", "second", "second_relu"),
    node("Conv", "second_relu w3 b3", "third", pads=[1, 1]),
    node("Add", "third first_relu", "sum"),
    node("Relu", "sum", "y"),
], [eighths("w1", 4, 4, 3), eighths("b1", 4), eighths("w2", 4, 4, 3), eighths("b2", 4), eighths("w3", 4, 4, 3),
    eighths("b3", 4)])

# Depthwise with stride, a padded pooling with ceil_mode, and a concatenation that costs nothing.
write("depthwise-pool-concat", {"x": [1, 4, 8, 8]}, {"y": [1, 8, 2, 2]}, [
    node("Conv", "x w", "depthwise", group=4, strides=[2, 2], pads=[0, 0, 1, 1]),
    node("MaxPool", "depthwise", "max", kernel_shape=[2, 2], strides=[2, 2]),
    node("AveragePool", "depthwise", "mean", kernel_shape=[2, 2], strides=[2, 2]),
    node("Concat", "max mean", "y", axis=1),
], [eighths("w", 4, 1, 3, 3)])

# Broadcasting along either end; one loop for all of it.
write("elementwise", {"x": [1, 3, 8], "z": [8]}, {"y": [1, 3, 8]}, [
    node("Mul", "x scale", "scaled"),
    node("Add", "scaled z", "sum"),
    node("Sigmoid", "sum", "gate"),
    node("Mul", "gate x", "y"),
], [eighths("scale", 3, 1)])

# Everything that is not known is listed at once.
write("not-supported", {"x": [1, 4]}, {"y": [1, 4]}, [
    node("Bernoulli", "x", "coin"),
    node("Relu", "coin", "relu", slope=0.5),
    node("ImaginaryOp", "relu", "y"),
], [])


def inner(name, inputs, outputs, nodes):
    """A graph inside a node; a word as a shape is a scalar of that type."""
    def value(n, s):
        return (helper.make_tensor_value_info(n, getattr(TensorProto, s), []) if isinstance(s, str)
                else helper.make_tensor_value_info(n, TensorProto.FLOAT, s))
    return helper.make_graph(nodes, name, [value(n, s) for n, s in inputs.items()],
                             [value(n, s) for n, s in outputs.items()])


def scalar(name, value):
    return numpy_helper.from_array(np.array(value), name)


# One branch is run, with scratch memory of its own; then a loop that ends where the data say, at most after 8 turns:
# two states, one of them written in place, and a row of each turn. Both branches and the loop read values from outside.
write("control-flow", {"x": [1, 4]}, {"h": [1, 4], "energy": [1, 1], "rows": [8, 1, 4]}, [
    node("ReduceSum", "x", "sum", keepdims=0),
    node("Greater", "sum zero", "is_positive"),
    helper.make_node("If", ["is_positive"], ["start"], name="choose", then_branch=inner("then", {}, {"fine": [1, 4]}, [
        node("Gemm", "x w1 b1", "wide", transB=1),
        node("Relu", "wide", "wide_relu"),
        node("Gemm", "wide_relu w2 b2", "fine", transB=1),
    ]), else_branch=inner("else", {}, {"coarse": [1, 4]}, [node("Mul", "x half", "coarse")])),
    helper.make_node("Loop", ["eight", "", "start", "none"], ["h", "energy", "rows"], name="settle", body=inner(
        "body", {"turn": "INT64", "before": "BOOL", "h_in": [1, 4], "energy_in": [1, 1]},
        {"goes_on": "BOOL", "h_out": [1, 4], "energy_out": [1, 1], "row": [1, 4]}, [
            node("MatMul", "h_in u", "turned"),
            node("Add", "turned x", "moved"),
            node("Tanh", "moved", "h_out"),
            node("ReduceSumSquare", "h_out", "squares", axes=[1]),
            node("Mul", "energy_in half", "fading"),
            node("Add", "fading squares", "energy_out"),
            node("ReduceMax", "energy_out", "most", keepdims=0),
            node("Less", "most limit", "goes_on"),
            node("Identity", "h_out", "row"),
        ])),
], [eighths("w1", 6, 4), eighths("b1", 6), eighths("w2", 4, 6), eighths("b2", 4), eighths("u", 4, 4),
    scalar("zero", np.float32(0)), scalar("half", np.float32(0.5)),
    scalar("eight", np.int64(8)), scalar("limit", np.float32(3)),
    numpy_helper.from_array(np.zeros((1, 1), np.float32), "none")])
