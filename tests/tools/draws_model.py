# SPDX-License-Identifier: MIT
"""Writes tests/models/draws.onnx, its inputs and what it must give: random numbers in the bodies of loops, which differ
from turn to turn.

    python3 tests/tools/draws_model.py          needs onnx, numpy

A Loop whose count only the run decides, one in another, one that is written out, a Scan, an If in a Loop, a function
that draws in a Loop. The numbers are worked out here: Philox 4x32-10 (Salmon et al. 2011) under key * prime + turn for
each loop around."""
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

FOLDER = Path(__file__).resolve().parent.parent / "models"
ROOM, PRIME, MASK = 5, 0x100000001B3, (1 << 64) - 1


def philox(key, counter):
    """The upper 24 of the first 64 bits, as a number in [0, 1)."""
    word, k = [counter, 0, 0, 0], [key & 0xFFFFFFFF, key >> 32]
    for _ in range(10):
        a, b = word[0] * 0xD2511F53, word[2] * 0xCD9E8D57
        word = [b >> 32 ^ word[1] ^ k[0], b & 0xFFFFFFFF, a >> 32 ^ word[3] ^ k[1], a & 0xFFFFFFFF]
        k = [(k[0] + 0x9E3779B9) & 0xFFFFFFFF, (k[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return np.float32((word[0] | word[1] << 32) >> 40) * np.float32(2.0 ** -24)


def hashed(*words):
    key = 0xCBF29CE484222325
    for c in "".join(words).encode():
        key = (key ^ c) * PRIME & MASK
    return key


def draws(key, turns, count):
    """turns: the iteration numbers, the innermost loop's first."""
    for t in turns:
        key = (key * PRIME + t) & MASK
    return [philox(key, i) for i in range(count)]


def value(name, kind, *shape):
    return helper.make_tensor_value_info(name, kind, shape)


F, I, B = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL


def body(name, states, rows, nodes):
    ends = lambda suffix: [value(s + suffix, F, 3) for s in states]
    return helper.make_graph([helper.make_node("Identity", [name + "_go"], [name + "_on"])] + nodes, name,
                             [value(name + "_turn", I), value(name + "_go", B)] + ends("_in"), [value(name + "_on", B)]
                             + ends("_out") + [value(r, F, 3) for r in rows])


def node(op, inputs, outputs, **attributes):
    return helper.make_node(op, inputs.split(" "), outputs.split(" "), **attributes)


def draw(output, **attributes):
    return helper.make_node("RandomUniform", [], [output], shape=[3], **attributes)


seed = int(np.float32(2.5).view(np.uint32))
many = body("many", [], ["many_row"], [draw("many_row")])
seeded = body("seeded", [], ["seeded_row"], [draw("seeded_row", seed=2.5)])
inner = body("inner", ["sum"], [], [draw("inner_draw"), node("Add", "sum_in inner_draw", "sum_out")])
outer = body("outer", [], ["outer_row"], [node("Loop", "two  zero", "outer_row", body=inner)])
written = body("written", [], ["written_row"], [draw("written_row")])
yes = helper.make_graph([draw("yes_draw")], "yes", [], [value("yes_draw", F, 3)])
no = helper.make_graph([draw("no_draw")], "no", [], [value("no_draw", F, 3)])
branch = body("branch", [], ["branch_row"],
              [node("Mod", "branch_turn two", "odd"), node("Cast", "odd", "is_odd", to=B),
               node("If", "is_odd", "branch_row", then_branch=yes, else_branch=no)])
called = body("called", [], ["called_row"], [helper.make_node("Draw", ["zero"], ["called_row"], domain="own")])
scan = helper.make_graph([helper.make_node("RandomUniformLike", ["element"], ["scan_draw"]),
                          node("Add", "element scan_draw", "scan_row")], "scan",
                         [value("element", F, 3)], [value("scan_row", F, 3)])
function = helper.make_function("own", "Draw", ["like"], ["drawn"],
                                [helper.make_node("RandomUniformLike", ["like"], ["drawn"])],
                                [helper.make_opsetid("", 16)])
nodes = [node("Loop", "n ", "many", body=many), node("Loop", "n ", "seeded", body=seeded),
         node("Loop", "n ", "nested", body=outer), node("Loop", "three ", "written", body=written),
         node("Loop", "n ", "branches", body=branch), node("Loop", "n ", "functions", body=called),
         node("Scan", "x", "scanned", body=scan, num_scan_inputs=1)]
names = ["many", "seeded", "nested", "written", "branches", "functions", "scanned"]
rows = dict(written=3, scanned=9)
outputs = [value(name, F, rows.get(name, ROOM), 3) for name in names]
weights = [numpy_helper.from_array(np.array(2, np.int64), "two"),
           numpy_helper.from_array(np.array(3, np.int64), "three"),
           numpy_helper.from_array(np.zeros(3, np.float32), "zero")]
graph = helper.make_graph(nodes, "draws", [value("n", I), value("x", F, 9, 3)], outputs, weights)
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 16), helper.make_opsetid("own", 1)],
                          functions=[function], ir_version=8, producer_name="")
(FOLDER / "draws.onnx").write_bytes(model.SerializeToString(deterministic=True))

x = np.arange(27, dtype=np.float32).reshape(9, 3)
for k, n in enumerate([ROOM, 2]):
    wanted = dict(
        many=[draws(hashed("many_row"), [t], 3) for t in range(n)], seeded=[draws(seed, [t], 3) for t in range(n)],
        nested=[np.float32(draws(hashed("inner_draw"), [0, t], 3)) + np.float32(draws(hashed("inner_draw"), [1, t], 3))
                for t in range(n)],
        written=[draws(hashed("written_row"), [t], 3) for t in range(3)],
        branches=[draws(hashed("yes_draw" if t % 2 else "no_draw"), [t], 3) for t in range(n)],
        functions=[draws(hashed("drawn", "called_row"), [t], 3) for t in range(n)],
        scanned=[x[t] + np.float32(draws(hashed("scan_draw"), [t], 3)) for t in range(9)])
    np.save(FOLDER / f"draws.in{k}.0.npy", np.array(n, np.int64))
    np.save(FOLDER / f"draws.in{k}.1.npy", x)
    for i, name in enumerate(names):
        np.save(FOLDER / f"draws.out{k}.{i}.npy", np.array(wanted[name], np.float32))
