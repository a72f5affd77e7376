# SPDX-License-Identifier: MIT
"""Sizes that data decide in TFLite files, beside numpy: rows for tests/sizes.py. Over no elements numpy's sum is 0 and
its mean NaN, as TensorFlow Lite's; its maximum is that of the least finite number and the elements."""
import os
import sys
import warnings

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "fuzz"))
from tflite_file import F32, I32, I64, ints, floats, model  # noqa: E402

GATHER, SOFTMAX, MEAN, SUM, REDUCE_MAX, RANGE, UNIQUE, GATHER_ND, WHERE, MUL, ARG_MAX, SQUEEZE, ADD = \
    36, 25, 40, 74, 82, 96, 103, 107, 109, 18, 56, 43, 0
PACK, STRIDED_SLICE, SLICE, TOPK, SHAPE, FILL, TILE = 83, 45, 65, 48, 77, 94, 69
RESHAPE, PAD, ONE_HOT, BROADCAST_TO = 22, 34, 85, 130
AXIS = ("axis", I32, [1], ints(0), None, 0)
LEAST = np.finfo(np.float32).min


def tensor(name, kind, *shape):
    return name, kind, list(shape), None, None, 0


def over_none(x):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [np.array(np.sum(x), np.float32), np.array(np.mean(x), np.float32),
                np.array(np.max(x, initial=LEAST), np.float32)]


def selection(x):
    """The places of elements that are not 0; these elements, their softmax, sum, mean and maximum."""
    places, chosen = np.argwhere(x), x[x != 0]
    e = np.exp(chosen - np.max(chosen, initial=LEAST))
    return [places, chosen, e / e.sum() if len(e) else e] + over_none(chosen)


SELECTION = model("selection", [
    tensor("x", F32, 3, 4), AXIS, tensor("places", I64, -1, 2), tensor("chosen", F32, -1), tensor("soft", F32, -1),
    tensor("sum", F32), tensor("mean", F32), tensor("max", F32)],
    [(WHERE, [0], [2], 85, []), (GATHER_ND, [0, 2], [3], 83, []), (SOFTMAX, [3], [4], 9, [1.0]),
     (SUM, [3, 1], [5], 27, [0]), (MEAN, [3, 1], [6], 27, [0]), (REDUCE_MAX, [3, 1], [7], 27, [0])], outputs=6)


def distinct(x):
    first = np.sort(np.unique(x, return_index=True)[1])
    index = np.array([np.flatnonzero(x[first] == v)[0] for v in x], np.int32)
    return [index, x[first], x[first] * x[first], np.array(x[first].sum(), x.dtype)]


def distinct_file(kind):
    return model("distinct", [
        tensor("x", kind, 7), AXIS, tensor("index", I32, 7), tensor("values", kind, -1), tensor("squares", kind, -1),
        tensor("sum", kind)],
        [(UNIQUE, [0], [3, 2], 80, [2]), (MUL, [3, 3], [4], 21, [0]), (SUM, [3, 1], [5], 27, [0])], outputs=4)


TABLE = np.arange(12, dtype=np.float32).reshape(6, 2) / 8


def rows_up_to(n):
    """Rows 1, 3, 5 of a table, below the limit n; an error below the start or above the maximum of 2."""
    places = np.arange(1, n, 2, dtype=np.int32)
    return None if n < 1 or len(places) > 2 else [places, TABLE[places], TABLE[places].sum(0)]


ROWS_UP_TO = model("rows", [
    tensor("n", I32), ("start", I32, [], ints(1), None, 0), ("step", I32, [], ints(2), None, 0), AXIS,
    ("table", F32, [6, 2], floats(*TABLE.ravel()), None, 0), tensor("places", I32, -1), tensor("rows", F32, -1, 2),
    tensor("sum", F32, 2)],
    [(RANGE, [1, 0, 2], [5], 73, []), (GATHER, [4, 5], [6], 23, [0, 0]), (SUM, [6, 3], [7], 27, [0])], outputs=3)


def steps_down(x):
    """From x by -.1 to -1, adding to the value before; an error where x is below."""
    if not x >= -1:
        return None
    count = int(np.ceil((np.float32(-1) - x) / np.float32(-.1)))
    return [np.cumsum(np.array([x] + [np.float32(-.1)] * count, np.float32), dtype=np.float32)[:count]]


STEPS_DOWN = model("steps", [
    tensor("x", F32), ("limit", F32, [], floats(-1), None, 0), ("step", F32, [], floats(-.1), None, 0),
    tensor("y", F32, -1)], [(RANGE, [0, 1, 2], [3], 73, [])])


COUNTED = model("counted", [
    tensor("n", I32), ("start", I32, [], ints(0), None, 0), ("step", I32, [], ints(1), None, 0),
    tensor("y", I32, -1)], [(RANGE, [1, 0, 2], [3], 73, [])])


NUMBER, ROWS_OF_TABLE = tensor("n", I32), ("table", F32, [6, 2], floats(*TABLE.ravel()), None, 0)


def part_of(masks, *, at_begin):
    """table[n:] or table[:n], a sum of two spans by one bound, and their sum along them."""
    zero, one = ("zero", I32, [1], ints(0), None, 0), ("one", I32, [1], ints(1), None, 0)
    bounds = lambda k: [k, 3] if at_begin else [3, k]
    return model("part", [
        NUMBER, ROWS_OF_TABLE, AXIS, zero, one, tensor("k", I32, 1), tensor("m", I32, 1), tensor("a", F32, -1, 2),
        tensor("b", F32, -1, 2), tensor("y", F32, -1, 2), tensor("sum", F32, 2)],
        [(PACK, [0], [5], 59, [1, 0]), (PACK, [0], [6], 59, [1, 0]),
         (STRIDED_SLICE, [1] + bounds(5) + [4], [7], 32, masks), (STRIDED_SLICE, [1] + bounds(6) + [4], [8], 32, masks),
         (ADD, [7, 8], [9], 11, [0, 0]), (SUM, [9, 2], [10], 27, [0])], outputs=2)


def window(begins, counts):
    """SLICE with n among its begins, or among its counts."""
    return model("window", [
        NUMBER, ROWS_OF_TABLE, ("other", I32, [], ints((begins or counts)[1]), None, 0),
        ("known", I32, [2], ints(*(counts if begins else [2, 0])), None, 0), tensor("list", I32, 2),
        tensor("y", F32, -1, 2)],
        [(PACK, [0, 2], [4], 59, [2, 0]), (SLICE, [1] + ([4, 3] if begins else [3, 4]), [5], 0, [])])


# table[:n, 1]
COLUMN = model("column", [
    NUMBER, ROWS_OF_TABLE, ("begin", I32, [2], ints(0, 1), None, 0), ("step", I32, [2], ints(1, 1), None, 0),
    ("two", I32, [], ints(2), None, 0), tensor("end", I32, 2), tensor("y", F32, -1)],
    [(PACK, [0, 4], [5], 59, [2, 0]), (STRIDED_SLICE, [1, 2, 5, 3], [6], 32, [1, 0, 0, 0, 2])])
BEST = model("best", [NUMBER, ROWS_OF_TABLE, ("flip", F32, [6, 2], floats(*[(-1) ** i for i in range(12)]), None, 0),
                      tensor("x", F32, 6, 2), tensor("values", F32, 6, -1), tensor("places", I32, 6, -1)],
             [(MUL, [1, 2], [3], 21, [0]), (TOPK, [3, 0], [4, 5], 34, [])], outputs=2)


def best(k):
    x = TABLE * np.array([1, -1], np.float32)
    places = np.argsort(-x, 1, kind="stable")[:, :k].astype(np.int32)
    return [np.take_along_axis(x, places, 1), places] if 0 <= k <= 2 else None


BEST_OF_REAL = model("real", [tensor("k", F32), ROWS_OF_TABLE, tensor("flip", F32, 6, 2), tensor("v", F32, 6, -1),
                              tensor("i", I32, 6, -1)],
                     [(MUL, [1, 0], [2], 21, [0]), (TOPK, [2, 0], [3, 4], 34, [])], outputs=2)
TILED = model("tiled", [NUMBER, ROWS_OF_TABLE, ("two", I32, [], ints(2), None, 0), tensor("times", I32, 2),
                        tensor("y", F32, -1, 4)],
              [(PACK, [0, 2], [3], 59, [2, 0]), (TILE, [1, 3], [4], 51, [])])
FILLED = model("filled", [NUMBER, ("two", I32, [], ints(2), None, 0), ("v", F32, [], floats(1.5), None, 0), AXIS,
                          tensor("sizes", I32, 2), tensor("y", F32, -1, 2), tensor("sum", F32, 2)],
               [(PACK, [0, 1], [4], 59, [2, 0]), (FILL, [4, 2], [5], 74, []), (SUM, [5, 3], [6], 27, [0])], outputs=2)
FILLED_ALIKE = model("alike", [
    tensor("x", F32, 6), ("v", F32, [], floats(1.5), None, 0), tensor("w", I64, -1, 1), tensor("c", F32, -1),
    tensor("f", F32, -1), tensor("shape", I32, 1), tensor("y", F32, -1)],
    [(WHERE, [0], [2], 85, []), (GATHER_ND, [0, 2], [3], 83, []), (SHAPE, [3], [5], 55, [2]),
     (FILL, [5, 1], [4], 74, []), (MUL, [3, 4], [6], 21, [0])], outputs=2)


SPREAD = model("spread", [NUMBER, ("row", F32, [1, 2], floats(.5, -2), None, 0), ("two", I32, [], ints(2), None, 0),
                          AXIS, tensor("sizes", I32, 2), tensor("y", F32, -1, 2), tensor("sum", F32, 2)],
               [(PACK, [0, 2], [4], 59, [2, 0]), (BROADCAST_TO, [1, 4], [5], 0, []), (SUM, [5, 3], [6], 27, [0])],
               outputs=2)
PADDED = model("padded", [
    NUMBER, ROWS_OF_TABLE, ("one", I32, [], ints(1), None, 0), ("none", I32, [2], ints(0, 0), None, 0),
    tensor("rows", I32, 2), tensor("pairs", I32, 2, 2), tensor("y", F32, -1, 2)],
    [(PACK, [0, 2], [4], 59, [2, 0]), (PACK, [4, 3], [5], 59, [2, 0]), (PAD, [1, 5], [6], 22, [])])
HOT = model("hot", [NUMBER, ("i", I32, [3], ints(0, 2, -1), None, 0), ("on", F32, [], floats(2), None, 0),
                    ("off", F32, [], floats(-1), None, 0), tensor("y", F32, 3, -1)],
            [(ONE_HOT, [1, 0, 2, 3], [4], 61, [-1])])
SHAPED = model("shaped", [NUMBER, ROWS_OF_TABLE, ("rest", I32, [], ints(-1), None, 0), tensor("x", F32, 6, 2),
                          tensor("sizes", I32, 2), tensor("y", F32, -1, -1)],
               [(ADD, [1, 1], [3], 11, [0, 0]), (PACK, [0, 2], [4], 59, [2, 0]), (RESHAPE, [3, 4], [5], 0, [])])


def one_hot(n):
    y = np.full((3, max(n, 0)), -1, np.float32)
    y[0, :1], y[1, 2:3] = 2, 2
    return [y] if 0 <= n <= 5 else None


def numbers(*values):
    return [np.array(n, np.int32) for n in values]


def chosen_and(tensors, operator):
    """The chosen elements "c" of "x", then more tensors and an operator."""
    return model("more", [tensor("x", F32, 6), AXIS, tensor("w", I64, -1, 1), tensor("c", F32, -1)] + tensors,
                 [(WHERE, [0], [2], 85, []), (GATHER_ND, [0, 2], [3], 83, []), operator])


def f32(*x):
    return np.array(x, np.float32)


NONE, SOME = np.zeros((3, 4), np.float32), np.array([[0, -2, .5, 0], [1, 0, 0, 0], [0, 0, 0, -3]], np.float32)
NEGATIVE = np.where(SOME, -1 - np.abs(SOME), 0).astype(np.float32)
# name, file, --dim options, inputs, what numpy gives (None: an error of the run) or the text of a refusal
ROWS = [
    ("WHERE and what reads it", SELECTION, [], [NONE, NONE + 1, SOME, NEGATIVE], selection),
    ("WHERE with a maximum", SELECTION, ["places.0<=4"], [NONE, NONE + 1, SOME],
     lambda x: selection(x) if np.count_nonzero(x) <= 4 else None),
    ("UNIQUE of integers", distinct_file(I32), [], [np.array(v, np.int32) for v in (
        [3, 3, 1, 9, 1, 3, 0], [5] * 7, [7, 6, 5, 4, 3, 2, 1])], distinct),
    ("UNIQUE of floats", distinct_file(F32), [], [f32(.5, -1, .5, -1, 2, 2, .25), f32(*[1.5] * 7)], distinct),
    ("RANGE of integers", ROWS_UP_TO, ["places.0<=2"], [np.array(n, np.int32) for n in (1, 2, 3, 4, 5, 6, 0, -9)],
     rows_up_to),
    ("RANGE up to a count", COUNTED, ["y.0<=6"], [np.array(n, np.int32) for n in (0, 1, 6)],
     lambda n: [np.arange(n, dtype=np.int32)]),
    ("RANGE of floats", STEPS_DOWN, ["y.0<=40"], [np.float32(v) for v in (-1, -.95, 0, 2.3, -1.5, np.nan)],
     steps_down),
    ("STRIDED_SLICE to an end of the run", part_of([0, 0, 0, 0, 0], at_begin=False), [],
     numbers(0, 1, 6, 9, -1, -7), lambda n: [2 * TABLE[:n], 2 * TABLE[:n].sum(0)]),
    ("STRIDED_SLICE from a begin of the run", part_of([0, 1, 0, 0, 0], at_begin=True), [],
     numbers(0, 1, 6, 9, -1, -7), lambda n: [2 * TABLE[n:], 2 * TABLE[n:].sum(0)]),
    ("STRIDED_SLICE that drops a dimension", COLUMN, [], numbers(0, 1, 4, 8), lambda n: [TABLE[:n, 1]]),
    ("SLICE with a count of the run", window(None, [0, 2]), [], numbers(0, 1, 4, -1, 5, -2),
     lambda n: [TABLE[2:2 + n if n >= 0 else 6]] if -1 <= n <= 4 else None),
    ("SLICE of the rest", window([0, 0], [-1, 2]), [], numbers(0, 1, 6, 7, -1),
     lambda n: [TABLE[n:]] if 0 <= n <= 6 else None),
    ("TOPK of a number of the run", BEST, [], numbers(0, 1, 2, 3, -1), best),
    ("TOPK of a real number", BEST_OF_REAL, [], None, "input 1 (\"k\") is not a constant of type INT32 or INT64"),
    ("TILE by a number of the run", TILED, ["y.0<=18"], numbers(0, 1, 3, 4, -1),
     lambda n: [np.tile(TABLE, (n, 2))] if 0 <= n <= 3 else None),
    ("FILL with a size of the run", FILLED, ["y.0<=5"], numbers(0, 1, 5, 6, -1),
     lambda n: [np.full((n, 2), 1.5, np.float32), f32(1.5 * n, 1.5 * n)] if 0 <= n <= 5 else None),
    ("FILL like a selection", FILLED_ALIKE, [], [f32(0, 0, 0, 0, 0, 0), f32(1, 2, 3, 4, 5, 6), f32(0, -1, 0, 2, 0, 0)],
     lambda x: [np.array([np.count_nonzero(x)], np.int32), x[x != 0] * np.float32(1.5)]),
    ("BROADCAST_TO a number of the run", SPREAD, ["y.0<=5"], numbers(0, 1, 5, 6, -1),
     lambda n: [np.tile(f32(.5, -2), (n, 1)), f32(.5 * n, -2 * n)] if 0 <= n <= 5 else None),
    ("PAD by a number of the run", PADDED, ["y.0<=9"], numbers(0, 1, 2, 3, -1, -7),
     lambda n: [np.pad(TABLE, ((n, 1), (0, 0)))] if 0 <= n <= 2 else None),
    ("ONE_HOT of a depth of the run", HOT, ["y.1<=5"], numbers(0, 1, 3, 5, 6, -1), one_hot),
    ("RESHAPE by a number of the run", SHAPED, [], numbers(1, 2, 3, 4, 12, 5, 7, 13),
     lambda n: [(2 * TABLE).reshape(n, -1)] if 12 % n == 0 else None),
    ("RESHAPE of a selection to rows of two", chosen_and(
        [("s", I32, [2], ints(-1, 2), None, 0), tensor("y", F32, -1, 2)], (RESHAPE, [3, 4], [5], 0, [])), [],
     [f32(0, 0, 0, 0, 0, 0), f32(1, 2, 3, 4, 5, 6), f32(0, -1, 0, 2, 0, 0), f32(0, 1, 0, 2, 3, 0)],
     lambda x: [x[x != 0].reshape(-1, 2)] if np.count_nonzero(x) % 2 == 0 else None),
    ("RANGE without a maximum", STEPS_DOWN, [], None, "no maximum follows; use --dim 'y.0<=N'"),
    ("RANGE with a fixed size", STEPS_DOWN, ["y.0=3"], None, "use a maximum, --dim 'y.0<=3'"),
    ("ARG_MAX of a selection", chosen_and([tensor("y", I64)], (ARG_MAX, [3, 1], [4], 40, [4])), [],
     [f32(0, 0, 0, 0, 0, 0), f32(1, 2, 3, 4, 6, 5), f32(0, -1, 0, 2, 0, 0)],
     lambda x: [np.array(np.argmax(x[x != 0]))] if x.any() else None),
    ("SQUEEZE of a selection", chosen_and([tensor("y", F32)], (SQUEEZE, [3], [4], 30, [])), [], None,
     "its rank depends on the run"),
    ("a selection and three elements", chosen_and(
        [("three", F32, [3], floats(1, 2, 3), None, 0), tensor("y", F32, -1)], (ADD, [3, 4], [5], 11, [0])), [], None,
     "the shape [3] of 'b' does not broadcast with [dimension 0 of \"w\"]"),
]
