# SPDX-License-Identifier: MIT
"""Writes tests/models/until.onnx: a Loop that nothing but its condition ends, and whose body reads no iteration: x is
doubled until its sum is 100 or more.

    python3 tests/tools/until_model.py          needs onnx, numpy"""
from pathlib import Path

import numpy as np
from onnx import TensorProto, helper, numpy_helper


def value(name, kind, *shape):
    return helper.make_tensor_value_info(name, kind, shape)


FLOAT, BOOL = TensorProto.FLOAT, TensorProto.BOOL
body = helper.make_graph(
    [helper.make_node("Add", ["old", "old"], ["new"]), helper.make_node("ReduceSum", ["new"], ["sum"], keepdims=0),
     helper.make_node("Less", ["sum", "limit"], ["again"])],
    "body", [value("step", TensorProto.INT64), value("go", BOOL), value("old", FLOAT, 4)],
    [value("again", BOOL), value("new", FLOAT, 4)],
    [numpy_helper.from_array(np.float32(100), "limit")])
nodes = [helper.make_node("Loop", ["", "yes", "x"], ["y"], body=body)]
graph = helper.make_graph(nodes, "until", [value("x", FLOAT, 4)], [value("y", FLOAT, 4)],
                          [numpy_helper.from_array(np.array(True), "yes")])
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 16)], ir_version=8, producer_name="")
(Path(__file__).resolve().parent.parent / "models/until.onnx").write_bytes(model.SerializeToString(deterministic=True))
