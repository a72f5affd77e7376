# SPDX-License-Identifier: MIT
"""Writes the models of tests/extern.sh: operators that no package has, for --extern.

    python3 tests/extern/models.py          needs onnx, and the packages of tests/tflite/vectors.py
"""
import os
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "tflite"))
import vectors as v  # noqa: E402

x, b, k = v.Operand([2, 3], np.float32), v.Operand([3], np.int8), v.constant([[1, 2, 3]], np.float32)
u, y, w = [v.Operand([2, 3], np.float32) for _ in range(3)]
z = v.Operand([4], np.int8)
operators = [(v.B.ADD, 1, v.options("AddOptions"), [x, k], [u]),
             ("Mine", 1, {"scale": 1.5, "shift": 3, "flag": True}, [u, b], [y, z]),
             (v.B.MUL, 1, v.options("MulOptions"), [y, k], [w])]
with open(os.path.join(HERE, "mine.tflite"), "wb") as f:
    f.write(v.build_graphs([(operators, [x, b], [w, z])]))

value = helper.make_tensor_value_info
nodes = [helper.make_node("Relu", ["x"], ["u"]),
         helper.make_node("Mine", ["u", "b"], ["y", "z"], domain="com.acme", scale=1.5, shift=3, flag=1),
         helper.make_node("Neg", ["y"], ["w"])]
graph = helper.make_graph(nodes, "mine", [value("x", TensorProto.FLOAT, [2, 3]), value("b", TensorProto.INT8, [3])],
                          [value("w", TensorProto.FLOAT, [2, 3]), value("z", TensorProto.INT8, [4])],
                          value_info=[value("y", TensorProto.FLOAT, [2, 3])])
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13), helper.make_opsetid("com.acme", 1)])
model.ir_version = 8
onnx.save(model, os.path.join(HERE, "mine.onnx"))

nodes = [helper.make_node("Mine", ["x"], ["y"], domain="com.acme"),
         helper.make_node("ReduceSum", ["y"], ["l"], keepdims=0)]
graph = helper.make_graph(nodes, "loss", [value("x", TensorProto.FLOAT, [2, 3])], [value("l", TensorProto.FLOAT, [])],
                          value_info=[value("y", TensorProto.FLOAT, [2, 3])])
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13), helper.make_opsetid("com.acme", 1)])
model.ir_version = 8
onnx.save(model, os.path.join(HERE, "loss.onnx"))
