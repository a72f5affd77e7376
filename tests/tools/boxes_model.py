# SPDX-License-Identifier: MIT
"""Writes tests/models/boxes.onnx, its input and what ONNX Runtime computes for it: a network whose layers read parts of
what others made, as detectors and shuffling networks do: channels, windows of an image, a part of a part, rows of a
sequence.

    python3 tests/tools/boxes_model.py          needs onnx, onnxruntime, numpy"""
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

FOLDER = Path(__file__).resolve().parent.parent / "models"
random = np.random.default_rng(11)
constants, nodes = {}, []


def weight(name, *shape):
    constants[name] = (0.3 * random.standard_normal(shape)).astype(np.float32)
    return name


def add(op, inputs, output, **attributes):
    nodes.append(helper.make_node(op, inputs, [output], **attributes))
    return output


def conv(x, output, outputs, inputs, size=1, **attributes):
    return add("Conv", [x, weight(f"{output}_w", outputs, inputs, size, size)], output, pads=[size // 2] * 4,
               **attributes)


def part(x, output, begin, end, axes):
    for name, value in ("begin", begin), ("end", end), ("axes", axes):
        constants[f"{output}_{name}"] = np.array(value, np.int64)
    return add("Slice", [x] + [f"{output}_{name}" for name in ("begin", "end", "axes")], output)


stem = conv("x", "stem", 16, 3, 3)
nodes.append(helper.make_node("Split", [stem], ["left", "right"], axis=1))
bottleneck = add("Relu", [conv("right", "bottleneck", 8, 8, 3)], "relu")
neck = conv(add("Concat", ["left", "right", bottleneck], "together", axis=1), "neck", 13, 24)
window = part(neck, "window", [3, 1, 2], [9, 10, 8], [1, 2, 3])
taps = conv(window, "taps", 6, 1, 3, group=6)
halved = conv(part(taps, "half", [1], [5], [1]), "halved", 5, 4)
pooled = add("MaxPool", [halved], "pooled", kernel_shape=[2, 2], strides=[2, 2])
constants["rows"] = np.array([20, 3], np.int64)
rows = add("MatMul", [add("Reshape", [pooled, "rows"], "row"), weight("rows_w", 3, 6)], "mixed")
query = part(rows, "query", [4], [12], [0])
scores = add("Softmax",
             [add("MatMul", [query, add("Transpose", [part(rows, "key", [0], [20], [0])], "turned")], "scores")],
             "attention", axis=1)
add("Add", [add("MatMul", [scores, rows], "read"), query], "y")

graph = helper.make_graph(nodes, "boxes", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 3, 11, 12])],
                          [helper.make_tensor_value_info("y", TensorProto.FLOAT, [8, 6])],
                          [numpy_helper.from_array(value, name) for name, value in constants.items()])
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=7)
onnx.checker.check_model(model, full_check=True)
onnx.save(model, FOLDER / "boxes.onnx")
x = random.standard_normal((1, 3, 11, 12)).astype(np.float32)
np.save(FOLDER / "boxes.in0.npy", x)
np.save(FOLDER / "boxes.out0.npy", onnxruntime.InferenceSession(str(FOLDER / "boxes.onnx")).run(None, {"x": x})[0])
