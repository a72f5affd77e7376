# SPDX-License-Identifier: MIT
"""Writes tests/models/control.onnx, its inputs and what ONNX Runtime computes for them: control flow that only the run
decides.

    python3 tests/tools/control_model.py          needs onnx, onnxruntime, numpy

If both ways, over values from outside; a Loop with two states, a count and a condition from outside and collected rows,
which runs not at all, once, to the end of its room and until its condition fails; an If in a Loop in an If; a Scan of
two states, in both directions and along other axes."""
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

ROOM, STEPS = 7, 40
FOLDER = Path(__file__).resolve().parent.parent / "models"
random = np.random.default_rng(2)
KINDS = {"f": TensorProto.FLOAT, "i": TensorProto.INT64, "b": TensorProto.BOOL}


def value(name, kind, *shape):
    return helper.make_tensor_value_info(name, KINDS[kind], shape)


def weight(name, *shape):
    return numpy_helper.from_array((0.5 * random.standard_normal(shape)).astype(np.float32), name)


def constant(name, data, dtype):
    return numpy_helper.from_array(np.array(data, dtype), name)


def op(kind, inputs, outputs, **attributes):
    return helper.make_node(kind, inputs.split(" "), outputs.split(" "), **attributes)


def graph(name, inputs, outputs, nodes, weights=()):
    return helper.make_graph(nodes, name, inputs, outputs, list(weights))


state = value("h_in", "f", 1, 4)
settle = graph("settle", [value("turn", "i"), value("before", "b"), state, value("n_in", "f", 2)],
               [value("goes_on", "b"), value("h_out", "f", 1, 4), value("n_out", "f", 2), value("row", "f", 1, 4)], [
                   op("MatMul", "h_in u", "turned"), op("Add", "turned a", "moved"), op("Tanh", "moved", "h_out"),
                   op("Cast", "turn", "time", to=1), op("Add", "n_in time", "n_out"),
                   op("ReduceMax", "h_out", "most", keepdims=0), op("Less", "most limit", "goes_on"),
                   op("Mul", "h_out two", "row")])

odd = graph("odd", [], [value("odd_out", "f", 1, 4)],
            [op("MatMul", "s_in u", "odd_turned"), op("Add", "odd_turned a", "odd_out")])
even = graph("even", [], [value("even_out", "f", 1, 4)], [op("Mul", "a half", "even_out")])
mixed = graph("mixed", [value("turn", "i"), value("before", "b"), value("s_in", "f", 1, 4)],
              [value("after", "b"), value("s_out", "f", 1, 4)], [
    op("Mod", "turn two_i", "rest"), op("Cast", "rest", "is_odd", to=9),
    op("If", "is_odd", "step", then_branch=odd, else_branch=even),
    op("Add", "step s_in", "s_out"), op("Identity", "before", "after")])
deep = graph("deep", [], [value("deep_out", "f", 1, 4)], [op("Loop", "n  a", "deep_out", body=mixed)])
flat = graph("flat", [], [value("flat_out", "f", 1, 4)], [op("Neg", "a", "flat_out")])

fine = graph("fine", [], [value("fine_out", "f", 1, 4)],
             [op("MatMul", "a w1", "wide"), op("Relu", "wide", "wide_relu"), op("MatMul", "wide_relu w2", "fine_out")])
coarse = graph("coarse", [], [value("coarse_out", "f", 1, 4)], [op("Mul", "a half", "coarse_out")])

cell = graph("cell", [value("h", "f", 4), value("sum", "f"), value("xt", "f", 4), value("xr", "f", 4)],
             [value("h_new", "f", 4), value("sum_new", "f"), value("y", "f", 4), value("so_far", "f")], [
                 op("MatMul", "h u", "driven"), op("Add", "driven xt", "both"), op("Tanh", "both", "h_new"),
                 op("ReduceSum", "xr", "s", keepdims=0), op("Add", "s sum", "sum_new"), op("Neg", "h_new", "y"),
                 op("Identity", "sum_new", "so_far")])

nodes = [
    op("Slice", "x zero_i one_i zero_i", "a"),
    op("If", "late", "chosen", then_branch=fine, else_branch=coarse),
    op("Loop", "n start chosen none", "settled counted rows", body=settle),
    op("If", "late", "nested", then_branch=deep, else_branch=flat),
    op("Transpose", "x", "x_t", perm=[1, 0]),
    op("Scan", "h0 zero x x_t", "last total forth back", body=cell, num_scan_inputs=2, scan_input_directions=[0, 1],
       scan_input_axes=[0, 1],
       scan_output_directions=[0, 1], scan_output_axes=[1, 0]),
]
weights = [weight("u", 4, 4), weight("w1", 4, 12), weight("w2", 12, 4), constant("half", 0.5, np.float32),
           constant("two", 2, np.float32), constant("two_i", 2, np.int64),
           constant("limit", 0.9, np.float32), constant("none", [0, 0], np.float32), constant("zero_i", [0], np.int64),
           constant("one_i", [1], np.int64),
           constant("h0", [0.5, -0.5, 0.25, 1], np.float32), constant("zero", 0, np.float32)]
outputs = [value("chosen", "f", 1, 4), value("settled", "f", 1, 4), value("counted", "f", 2),
           value("rows", "f", ROOM, 1, 4), value("nested", "f", 1, 4),
           value("last", "f", 4), value("total", "f"), value("forth", "f", 4, STEPS), value("back", "f", STEPS)]
model = helper.make_model(
    helper.make_graph(nodes, "control",
                      [value("late", "b"), value("start", "b"), value("n", "i"), value("x", "f", STEPS, 4)], outputs,
                      weights),
                          opset_imports=[helper.make_opsetid("", 16)], ir_version=8, producer_name="")
(FOLDER / "control.onnx").write_bytes(model.SerializeToString(deterministic=True))

session = onnxruntime.InferenceSession(model.SerializeToString())
turns = set()
for k, (late, start, n, scale) in enumerate([(True, True, 0, 0.3), (False, True, 1, 0.3), (True, True, ROOM, 0.1),
                                             (False, True, ROOM, 0.6)]):
    inputs = [np.array(late), np.array(start), np.array(n, np.int64),
              (scale * random.standard_normal((STEPS, 4))).astype(np.float32)]
    results = session.run(None, dict(zip(["late", "start", "n", "x"], inputs)))
    turns.add(len(results[3]))
    for i, data in enumerate(inputs):
        np.save(FOLDER / f"control.in{k}.{i}.npy", data)
    for i, data in enumerate(results):
        np.save(FOLDER / f"control.out{k}.{i}.npy", np.asarray(data))
assert {0, 1, ROOM} <= turns and len(turns) == 4, turns         # the last one ends by its condition
