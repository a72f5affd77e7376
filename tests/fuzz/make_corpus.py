#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes tests/fuzz/corpus-onnx: tiny models that between them have an operator of every family, for the fuzzer to
start from. They are kept, so this runs only when one is added: pip install onnx==1.16.2 numpy; python3
tests/fuzz/make_corpus.py."""
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

HERE = Path(__file__).resolve().parent / "corpus-onnx"


def write(case, inputs, output, nodes, opset=17, **weights):
    def value(name, shape):
        return helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
    constants = [numpy_helper.from_array(np.array(w), n) for n, w in weights.items()]
    graph = helper.make_graph(nodes, "g", [value(n, s) for n, s in inputs.items()], [value(*output)], constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8, producer_name="")
    HERE.mkdir(exist_ok=True)
    (HERE / f"{case}.onnx").write_bytes(model.SerializeToString(deterministic=True))


def node(op, inputs, outputs, **attributes):
    return helper.make_node(op, ["" if i == "_" else i for i in inputs.split()], outputs.split(), **attributes)


def f(*values):
    return np.array(values, np.float32)


def i(*values):
    return np.array(values, np.int64)


write("shapes", {"x": [1, 2, 4]}, ("y", [8]), [
    node("Shape", "x", "s"), node("Gather", "s zero", "n", axis=0), node("ReduceProd", "s", "all", keepdims=0),
    node("Unsqueeze", "all zeros", "u"), node("Reshape", "x u", "y"),
], zero=np.int64(0), zeros=i(0))
write("slices", {"x": [2, 6]}, ("y", [1, 7]), [
    node("Slice", "x from to axes steps", "a"), node("Pad", "a pads", "b", mode="constant"),
    node("Split", "b", "c d", axis=0, num_outputs=2),
    node("Concat", "c d", "e", axis=1), node("Expand", "e big", "g"), node("Tile", "g times", "h"),
    node("Transpose", "h", "y", perm=[0, 1]),
], opset=18, **{"from": i(5)}, to=i(-7), axes=i(1), steps=i(-2), pads=i(0, 1, 0, 0), big=i(1, 8), times=i(1, 1))
write("pools", {"x": [1, 2, 5, 5]}, ("y", [1, 2, 1, 1]), [
    node("MaxPool", "x", "a", kernel_shape=[3, 3], pads=[1, 1, 1, 1], strides=[2, 2], ceil_mode=1),
    node("AveragePool", "a", "b", kernel_shape=[2, 2], auto_pad="SAME_UPPER", count_include_pad=1),
    node("LpPool", "b", "c", kernel_shape=[2, 2]), node("LRN", "c", "d", size=3), node("GlobalAveragePool", "d", "y"),
])
write("convs", {"x": [1, 2, 6]}, ("y", [1, 2, 11]), [
    node("Conv", "x w", "a", group=2, dilations=[2], pads=[2, 2]),
    node("ConvTranspose", "a v", "b", strides=[2], output_padding=[0]),
    node("InstanceNormalization", "b s t", "c"), node("PRelu", "c p", "y"),
], w=np.ones((2, 1, 3), np.float32), v=np.ones((2, 2, 1), np.float32), s=f(1, 2), t=f(0, 1),
p=np.ones((2, 1), np.float32))
write("norms", {"x": [2, 4]}, ("y", [2, 4]), [
    node("LayerNormalization", "x s", "a"), node("Softmax", "a", "b"), node("LogSoftmax", "b", "c"),
    node("Gelu", "c", "d"),
    node("Clip", "d lo hi", "e"), node("Where", "m e a", "y"),
], opset=20, s=f(1, 2, 3, 4), lo=np.float32(-1), hi=np.float32(1), m=np.array([True, False, True, True]))
write("matmuls", {"x": [2, 3, 4]}, ("y", [2, 3]), [
    node("MatMul", "x w", "a"), node("Einsum", "a x", "b", equation="bij,bik->bjk"),
    node("ReduceMean", "b", "c", axes=[2], keepdims=0),
    node("Gemm", "c v", "d", alpha=0.5, transB=1), node("ArgMax", "d", "k", axis=1), node("Cast", "k", "l", to=1),
    node("Add", "d l", "y"),
], w=np.ones((4, 2), np.float32), v=np.ones((3, 2), np.float32))
write("orders", {"x": [2, 5]}, ("y", [2, 2]), [
    node("CumSum", "x axis", "a"), node("TopK", "a k", "b c", axis=1), node("Cast", "c", "d", to=1),
    node("Mul", "b d", "y"),
], axis=np.int64(1), k=i(2))
write("resizes", {"x": [1, 4, 2, 2]}, ("y", [1, 1, 8, 8]), [
    node("DepthToSpace", "x", "a", blocksize=2),
    node("Resize", "a _ scales", "y", mode="linear", coordinate_transformation_mode="half_pixel"),
], scales=f(1, 1, 2, 2))
write("recurrent", {"x": [3, 1, 2]}, ("y", [1, 1, 2]), [node("LSTM", "x w r b", "all y", hidden_size=2)],
      w=np.ones((1, 8, 2), np.float32), r=np.ones((1, 8, 2), np.float32), b=np.ones((1, 16), np.float32))
write("gru", {"x": [2, 1, 1]}, ("y", [2, 2, 1, 1]),
      [node("GRU", "x w r", "y", hidden_size=1, direction="bidirectional", linear_before_reset=1)],
      w=np.ones((2, 3, 1), np.float32), r=np.ones((2, 3, 1), np.float32))
write("quantized", {"x": [1, 4]}, ("y", [1, 4]), [
    node("QuantizeLinear", "x s z", "q"), node("DequantizeLinear", "q s z", "a"),
    node("DequantizeLinear", "w s z", "b"), node("Mul", "a b", "y"),
], s=np.float32(0.5), z=np.int8(3), w=np.array([1, 2, 3, 4], np.int8))
branch = [helper.make_graph([node(op, "x", "y_" + op)], op, [],
                            [helper.make_tensor_value_info("y_" + op, TensorProto.FLOAT, [2])])
                            for op in ("Neg", "Abs")]
write("branches", {"x": [2]}, ("y", [2]), [node("If", "c", "y", then_branch=branch[0], else_branch=branch[1])],
      c=np.array(True))
# The branch reads x, so its values are folded as a whole: a value that two nodes read must be evaluated once.
squares = helper.make_graph(
    [node("CastLike", "a x", "v0")] + [node("Mul", f"v{k} v{k}", f"v{k + 1}") for k in range(30)], "squares", [],
    [helper.make_tensor_value_info("v30", TensorProto.FLOAT, [1])])
same = helper.make_graph([node("Identity", "x", "same")], "same", [],
                         [helper.make_tensor_value_info("same", TensorProto.FLOAT, [1])])
write("branch-of-squares", {"x": [1]}, ("y", [1]), [node("If", "c", "y", then_branch=squares, else_branch=same)],
      c=np.array(True), a=np.array([1], np.int32))
