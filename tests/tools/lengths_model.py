# SPDX-License-Identifier: MIT
"""Writes tests/models/lengths.onnx, its inputs and what ONNX Runtime computes for it: the three recurrent operators on
a batch of sequences whose lengths are an input, forwards, in reverse and both ways.

    python3 tests/tools/lengths_model.py          needs onnx, onnxruntime, numpy"""
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

STEPS, BATCH, INPUTS, UNITS = 6, 4, 3, 4
FOLDER = Path(__file__).resolve().parent.parent / "models"
random = np.random.default_rng(11)
weights = {}


def weight(name, *shape):
    weights[name] = (0.6 * random.standard_normal(shape)).astype(np.float32)
    return name


def layer(op, short, gates, directions, direction, states, **more):
    """A node over x and lens; initial states for the operators that are to have them."""
    weight(short + "w", directions, gates * UNITS, INPUTS)
    weight(short + "r", directions, gates * UNITS, UNITS)
    weight(short + "b", directions, 2 * gates * UNITS)
    inputs = (["x", short + "w", short + "r", short + "b", "lens"]
              + [weight(short + s, directions, BATCH, UNITS) for s in states])
    outputs = [short + "y", short + "h"] + ([short + "c"] if op == "LSTM" else [])
    shapes.update({short + "y": [STEPS, directions, BATCH, UNITS], short + "h": [directions, BATCH, UNITS]})
    if op == "LSTM":
        shapes[short + "c"] = [directions, BATCH, UNITS]
    return helper.make_node(op, inputs, outputs, direction=direction, hidden_size=UNITS, **more)


shapes = {}
nodes = [layer("LSTM", "l", 4, 2, "bidirectional", "sz"),
         layer("GRU", "g", 3, 1, "reverse", "s", linear_before_reset=1), layer("RNN", "f", 1, 1, "forward", ""),
         layer("GRU", "k", 3, 1, "forward", "")]
graph = helper.make_graph(nodes, "lengths",
                          [helper.make_tensor_value_info("x", TensorProto.FLOAT, [STEPS, BATCH, INPUTS]),
                                             helper.make_tensor_value_info("lens", TensorProto.INT32, [BATCH])],
                          [helper.make_tensor_value_info(n, TensorProto.FLOAT, s) for n, s in shapes.items()],
                          [numpy_helper.from_array(v, n) for n, v in weights.items()])
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 14)], ir_version=8)
onnx.checker.check_model(model)
session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
onnx.save(model, FOLDER / "lengths.onnx")
for k, lens in enumerate([[6, 3, 1, 5], [2, 6, 4, 1]]):
    inputs = {"x": random.standard_normal((STEPS, BATCH, INPUTS)).astype(np.float32), "lens": np.array(lens, np.int32)}
    for i, name in enumerate(inputs):
        np.save(FOLDER / f"lengths.in{k}.{i}.npy", inputs[name])
    for i, y in enumerate(session.run(None, inputs)):
        np.save(FOLDER / f"lengths.out{k}.{i}.npy", y)
