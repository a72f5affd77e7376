# SPDX-License-Identifier: MIT
"""Writes tests/models/recurrent.onnx, its input and what ONNX Runtime computes for it: a small network of all three
recurrent operators, in both directions, with peepholes, initial states, all outputs and both layouts.

    python3 tests/tools/recurrent_model.py          needs onnx, onnxruntime, numpy

ONNX Runtime has no batch-first layout: it gets a twin of the network in which transpositions stand around that
layer."""
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

STEPS, BATCH, INPUTS, UNITS = 5, 2, 3, 4
FOLDER = Path(__file__).resolve().parent.parent / "models"
random = np.random.default_rng(7)
weights = {}


def weight(name, *shape):
    weights[name] = (0.6 * random.standard_normal(shape)).astype(np.float32)
    return name


def network(twin):
    """LSTM both ways -> GRU both ways -> RNN backwards, batch first."""
    lens = "lens"
    nodes = [
        helper.make_node("LSTM", ["x", "lw", "lr", "lb", lens, "lh", "lc", "lp"], ["ly", "lyh", "lyc"],
                         direction="bidirectional", hidden_size=UNITS,
                         activations=["HardSigmoid", "Tanh", "LeakyRelu", "Sigmoid", "Softsign", "Tanh"],
                         activation_alpha=[0.3, 0.1], activation_beta=[0.4]),
        helper.make_node("Transpose", ["ly"], ["lt"], perm=[0, 2, 1, 3]),
        helper.make_node("Reshape", ["lt", "wide"], ["gx"]),
        helper.make_node("GRU", ["gx", "gw", "gr", "gb"], ["gy", "gyh"], direction="bidirectional", hidden_size=UNITS,
                         linear_before_reset=1),
        helper.make_node("Transpose", ["gy"], ["gt"], perm=[2, 0, 1, 3]),
        helper.make_node("Reshape", ["gt", "wide1"], ["rx"]),
    ]
    rnn = dict(direction="reverse", hidden_size=UNITS, clip=0.8)
    if not twin:
        nodes.append(helper.make_node("RNN", ["rx", "rw", "rr", "rb", "", "rh"], ["ry", "ryh"], layout=1, **rnn))
    else:
        nodes += [helper.make_node("Transpose", ["rx"], ["rx0"], perm=[1, 0, 2]),
                  helper.make_node("Transpose", ["rh"], ["rh0"], perm=[1, 0, 2]),
                  helper.make_node("RNN", ["rx0", "rw", "rr", "rb", "", "rh0"], ["ry0", "ryh0"], **rnn),
                  helper.make_node("Transpose", ["ry0"], ["ry"], perm=[2, 0, 1, 3]),
                  helper.make_node("Transpose", ["ryh0"], ["ryh"], perm=[1, 0, 2])]
    shapes = dict(lyh=[2, BATCH, UNITS], lyc=[2, BATCH, UNITS], gyh=[2, BATCH, UNITS], ry=[BATCH, STEPS, 1, UNITS],
                  ryh=[BATCH, 1, UNITS])
    graph = helper.make_graph(nodes, "recurrent",
                              [helper.make_tensor_value_info("x", TensorProto.FLOAT, [STEPS, BATCH, INPUTS])],
                              [helper.make_tensor_value_info(n, TensorProto.FLOAT, s) for n, s in shapes.items()],
                              [numpy_helper.from_array(v, n) for n, v in weights.items()])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 14)], ir_version=8)


for name, gates, inputs, directions in [("l", 4, INPUTS, 2), ("g", 3, 2 * UNITS, 2), ("r", 1, 2 * UNITS, 1)]:
    weight(name + "w", directions, gates * UNITS, inputs)
    weight(name + "r", directions, gates * UNITS, UNITS)
    weight(name + "b", directions, 2 * gates * UNITS)
weight("lh", 2, BATCH, UNITS)
weight("lc", 2, BATCH, UNITS)
weight("lp", 2, 3 * UNITS)
weight("rh", BATCH, 1, UNITS)
weights["lens"] = np.full(BATCH, STEPS, np.int32)
weights["wide"] = np.array([STEPS, BATCH, 2 * UNITS])
weights["wide1"] = np.array([BATCH, STEPS, 2 * UNITS])

x = random.standard_normal((STEPS, BATCH, INPUTS)).astype(np.float32)
session = onnxruntime.InferenceSession(network(True).SerializeToString(), providers=["CPUExecutionProvider"])
onnx.save(network(False), FOLDER / "recurrent.onnx")
np.save(FOLDER / "recurrent.in0.npy", x)
for i, y in enumerate(session.run(None, {"x": x})):
    np.save(FOLDER / f"recurrent.out0.{i}.npy", y)
