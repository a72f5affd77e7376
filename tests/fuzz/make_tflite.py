#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes tests/fuzz/corpus-tflite: small models, float and int8, for the fuzzer to start from. They are kept, so this
runs only when one is added: python3 tests/fuzz/make_tflite.py."""
from pathlib import Path

from tflite_file import F32, I8, I32, Ints, floats, ints, model

HERE = Path(__file__).resolve().parent / "corpus-tflite"


def write(name, *parts, **more):
    HERE.mkdir(exist_ok=True)
    (HERE / (name + ".tflite")).write_bytes(model(name, *parts, **more))


def bytes_of(count):
    return bytes(37 * i % 256 for i in range(count))


(CONV, DEPTHWISE, DENSE, AVERAGE, MAXIMUM, SOFTMAX, RESHAPE, ADD, CONCAT, PAD, MEAN, TRANSPOSE, QUANTIZE, DEQUANTIZE,
 LOGISTIC) = \
    (3, 4, 9, 1, 17, 25, 22, 0, 2, 34, 40, 39, 114, 6, 14)

write("dense", [("x", F32, [1, 3], None, None, 0), ("w", F32, [2, 3], floats(1, 2, 3, 4, 5, 6), None, 0),
                ("b", F32, [2], floats(1, 2), None, 0),
                ("h", F32, [1, 2], None, None, 0), ("y", F32, [1, 2], None, None, 0)],
      [(DENSE, [0, 1, 2], [3], 8, [1, 0, 0]), (SOFTMAX, [3], [4], 9, [1.0])])
write("conv-float",
      [("x", F32, [1, 5, 4, 2], None, None, 0), ("k", F32, [3, 2, 2, 2], floats(*[i / 4 for i in range(24)]), None, 0),
                     ("b", F32, [3], floats(1, 2, 3), None, 0), ("h", F32, [1, 3, 2, 3], None, None, 0),
                     ("p", F32, [1, 2, 1, 3], None, None, 0),
                     ("s", I32, [2], ints(1, 6), None, 0), ("y", F32, [1, 6], None, None, 0)],
      [(CONV, [0, 1, 2], [3], 1, [0, 2, 2, 3, 1, 1]), (MAXIMUM, [3], [4], 5, [1, 2, 1, 2, 2, 0]),
       (RESHAPE, [4, 5], [6], 17, [Ints([1, 6])])])
write("conv-int8", [("x", I8, [1, 6, 6, 1], None, [0.5], -3), ("k", I8, [2, 3, 3, 1], bytes_of(18), [0.25, 0.125], 0),
                    ("b", I32, [2], ints(90, -70), [0.125, 0.0625], 0),
                    ("h", I8, [1, 6, 6, 2], None, [0.75], 5), ("d", I8, [1, 3, 3, 2], bytes_of(18), [0.25, 0.5], 0),
                    ("c", I32, [2], ints(4, 5), [0.1875, 0.375], 0), ("g", I8, [1, 4, 4, 2], None, [1.5], -7),
                    ("y", I8, [1, 2, 2, 2], None, [1.5], -7)],
      [(CONV, [0, 1, 2], [3], 1, [0, 1, 1, 1, 1, 1]), (DEPTHWISE, [3, 4, 5], [6], 2, [1, 1, 1, 1, 0, 1, 1]),
       (AVERAGE, [6], [7], 5, [1, 2, 2, 2, 2, 0])])
write("mixed-int8", [("x", I8, [1, 2, 2, 2], None, [0.5], -3), ("z", I8, [1, 2, 2, 2], None, [0.4], 3),
                     ("p", I32, [4, 2], ints(0, 0, 1, 0, 0, 1, 0, 0), None, 0),
                     ("q", I8, [1, 3, 3, 2], None, [0.4], 3), ("c", I8, [1, 3, 3, 4], None, [0.4], 3),
                     ("a", I32, [2], ints(1, 2), None, 0),
                     ("m", I8, [1, 4], None, [0.2], 1), ("s", I8, [1, 4], None, [0.00390625], -128),
                     ("y", F32, [1, 4], None, None, 0)],
      [(ADD, [0, 0], [1], 11, [0, 0]), (PAD, [1, 2], [3], 22, []), (CONCAT, [3, 3], [4], 10, [3, 0]),
       (MEAN, [4, 5], [6], 27, [0]),
       (LOGISTIC, [6], [7], 0, []), (DEQUANTIZE, [7], [8], 46, [])])
write("moves", [("x", F32, [2, 3], None, None, 0), ("p", I32, [2], ints(1, 0), None, 0),
                ("t", F32, [3, 2], None, None, 0), ("y", I8, [3, 2], None, [0.1], 4)],
      [(TRANSPOSE, [0, 1], [2], 26, []), (QUANTIZE, [2], [3], 80, [])])
CALL_ONCE, VAR_HANDLE, READ, ASSIGN, RESOURCE = 129, 142, 143, 144, 13
write("variable", [("x", F32, [1, 2], None, None, 0), ("handle", RESOURCE, [], None, None, 0),
                   ("old", F32, [1, 2], None, None, 0), ("y", F32, [1, 2], None, None, 0)],
      [(CALL_ONCE, [], [], 103, [1]), (VAR_HANDLE, [], [1], 111, ["", "total"]), (READ, [1], [2], 112, []),
       (ADD, [2, 0], [3], 11, [0, 0]), (ASSIGN, [1, 3], [], 113, [])],
      more=([("first", F32, [1, 2], floats(10, 20), None, 0), ("handle", RESOURCE, [], None, None, 0)],
            [(VAR_HANDLE, [], [1], 111, ["", "total"]), (ASSIGN, [1, 0], [], 113, [])]))
