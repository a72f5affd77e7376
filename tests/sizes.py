# SPDX-License-Identifier: MIT
"""Sizes that data decide, beside ONNX Runtime: actual shapes, none and all of the rows, and no result that depends on
the elements behind the actual rows.

    python3 tests/sizes.py BUILD [PATTERN]        needs onnx, onnxruntime, numpy

Each row is a graph in ONNX's text form. It is compiled and built with sanitizers, and run on several inputs; a
condition is true nowhere, everywhere, and in places. It is built a second time with another number in the place of -1,
which fills the rows behind the last result: the results are the same bytes. A row that ends in `refused` must be
refused with that text. TFLite files (tests/tflite_sizes.py) are tried beside numpy, and by `verify`. Status 1: a row
did not do what it says.
"""
import argparse
import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import onnx
import onnx.parser
import onnxruntime

import sizes_commands
import sizes_detectors
import tflite_sizes

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
OPSET = 18
SAMPLES = 4

# name | graph | options: opset N; dim NAME<=N; refused TEXT; limit N: a larger last dimension must be an error;
#                         layers: verify --layers agrees, too
ROWS = """
mean of a selection | float[3,5] x, bool[3,5] m => float mean, int64 n, float[N] v: p = NonZero(m) t = Transpose(p) \
    v = GatherND(x, t) mean = ReduceMean<keepdims=0>(v) n = Size(v) | layers
places of an image | float[2,3] x => int64 y: y = NonZero(x)
rows of a condition | float[5,3] x, bool[5] m => float y, int64 s: y = Compress<axis=0>(x, m) s = Shape(y)
elements of a condition | float[4,3] x, bool[12] m => float y: y = Compress(x, m)
columns and rows of a condition | float[3,6] x, bool[6] m, float[6,4] w => float y: c = Compress<axis=1>(x, m) \
    d = Compress<axis=0>(w, m) y = MatMul(c, d)
two selections joined | float[5,3] a, float[4,3] b, bool[5] m, bool[4] n => float y, float e, int64 s: \
    c = Compress<axis=0>(a, m) d = Compress<axis=0>(b, n) y = Concat<axis=0>(c, d) \
    e = ReduceSumSquare<axes=[0], keepdims=0>(y) s = Shape(y) | opset 17 | layers
softmax of a selection | float[9] x, bool[9] m => float y: c = Compress<axis=0>(x, m) y = Softmax<axis=0>(c)
distinct values | int64[8] k => int64 v, int64 i, int64 c, int64 s: v, i0, i, c = Unique(k) s = ReduceSum<keepdims=0>(v)
distinct rows | float[6,2] x => float v, int64 n: r = Round(x) v = Unique<axis=0>(r) s = Shape(v) \
    z = Constant<value_int=0>() n = Gather(s, z)
boxes | float[1,6,4] b, float[1,2,6] s => int64 y, float t: n = Constant<value_int=3>() \
    o = Constant<value_float=0.3>() l = Constant<value_float=0.0>() y = NonMaxSuppression(b, s, n, o, l) \
    f = Cast<to=1>(y) t = ReduceSum<keepdims=0>(f)
boxes with scores of NaN | float[1,6,4] b, float[1,2,6] s => int64 y: q = Log(s) n = Constant<value_int=3>() \
    o = Constant<value_float=0.3>() l = Constant<value_float=-5.0>() y = NonMaxSuppression(b, q, n, o, l)
rows of a loop | int64 k, float[4] v => float r, float m, float last: n = Constant<value_int=6>() \
    last, r = Loop(n, , v) <body = g (int64 i, bool c, float[4] a) => (bool d, float[4] w, float[4] o) { \
    h = Constant<value_float=0.5>() w = Mul(a, h) q = Constant<value_int=7>() j = Mod(k, q) d = Less(i, j) \
    o = Identity(w) }> m = ReduceMean<axes=[0], keepdims=0>(r) | opset 17
a declared size is a maximum | float[6] x => int64[1,6] y: y = NonZero(x)
a declared size that is too small | bool[6] x => int64[1,2] y: y = NonZero(x) | limit 2
a window at a place of the run | float[8,3] x, int64[1] s => float y: t = Constant<value_ints=[2]>() e = Add(s, t) \
    a = Constant<value_ints=[0]>() y = Slice(x, s, e, a)
softmax over a length of the run | float[1,9] x, float[9,4] v, int64[1] n => float y: z = Constant<value_ints=[0]>() \
    a = Constant<value_ints=[1]>() c = Slice(x, z, n, a) w = Slice(v, z, n, z) p = Softmax(c) y = MatMul(p, w)
the best of a number of the run | float[7] x => float v, int64 i: z = Constant<value_float=0.0>() g = Greater(x, z) \
    f = Cast<to=7>(g) s = ReduceSum<keepdims=1>(f) m = Constant<value_ints=[3]>() k = Min(s, m) v, i = TopK(x, k)
the best of a selection | float[7] x, bool[7] m => float v: c = Compress<axis=0>(x, m) n = Shape(c) \
    t = Constant<value_ints=[3]>() k = Min(n, t) v, i = TopK(c, k)
numbers up to one of the run | int64 n, float[8,2] x => int64 y, float s: z = Constant<value_int=0>() \
    o = Constant<value_int=1>() y = Range(z, n, o) g = Gather(x, y) s = ReduceSum<keepdims=0>(g) | dim y.0<=8
two sizes that only the run compares | int64 n, float[8,2] x => float y: z = Constant<value_int=0>() \
    o = Constant<value_int=1>() r = Range(z, n, o) g = Gather(x, r) a = Constant<value_ints=[0]>() \
    l = Unsqueeze(n, a) c = Slice(x, a, l, a) y = Add(g, c) | dim r.0<=8
one row beside several | float[6,3] x, float[6,3] w, int64[1] n, bool[1] q => float y, float z, int64 s: \
    b = Cast<to=7>(q) o = Constant<value_ints=[1]>() a = Constant<value_ints=[0]>() p = Mul(n, b) k = Max(p, o) \
    c = Slice(x, a, n, a) d = Slice(w, a, k, a) y = Add(c, d) v = Mul(d, c) e = Sub(v, y) \
    z = ReduceSum<keepdims=0>(e) s = Shape(e) | layers
one row or three beside three | float[6,3] x, float[3,3] w, bool[1] q => float y: b = Cast<to=7>(q) \
    o = Constant<value_ints=[1]>() t = Constant<value_ints=[2]>() a = Constant<value_ints=[0]>() p = Mul(b, t) \
    n = Add(p, o) c = Slice(x, a, n, a) y = Max(c, w)
a choice of two sizes by a third one | bool[6,1] m, float[6,4] x, float[3,6] w, int64[1] n, int64[1] k, bool[2] q => \
    float y: b = Cast<to=7>(q) o = Constant<value_ints=[1]>() a = Constant<value_ints=[0]>() \
    s, t = Split<num_outputs=2>(b) p = Mul(n, s) i = Max(p, o) r = Mul(n, t) j = Max(r, o) \
    e = Slice(m, a, i, a) c = Slice(x, a, j, a) \
    u = Transpose(w) f = Slice(u, a, n, a) g = Slice(f, a, o, o) y = Where(e, c, g)
expanded to the shape of a selection | float[6,3] x, float[6,3] w, int64[1] n, bool[1] q => float y, float z: \
    b = Cast<to=7>(q) o = Constant<value_ints=[1]>() a = Constant<value_ints=[0]>() p = Mul(n, b) k = Max(p, o) \
    c = Slice(x, a, n, a) d = Slice(w, a, k, a) s = Shape(c) t = Constant<value_ints=[3]>() y = Expand(d, s) \
    e = Concat<axis=0>(n, t) z = Expand(d, e) | dim z.0<=6
assignment to a selection | float[2,6] x, bool[2,6] m => float y: p = NonZero(m) i = Transpose(p) s = Shape(i) \
    z = Constant<value_ints=[0]>() o = Constant<value_ints=[1]>() n = Slice(s, z, o) v = Constant<value_float=9.0>() \
    u = Expand(v, n) y = ScatterND(x, i, u)
the first of a selection | float[6] x, bool[6] m => float y: c = Compress<axis=0>(x, m) i = Constant<value_int=0>() \
    y = Gather(c, i)
the place of the greatest of a selection | float[6] x, bool[6] m => int64 i: c = Compress<axis=0>(x, m) \
    i = ArgMax<axis=0, keepdims=0>(c)
sums at places of a selection | int64[5] k, bool[5] m => float y: c = Compress<axis=0>(k, m) f = Cast<to=1>(c) \
    x = Constant<value_floats=[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0]>() \
    y = ScatterElements<axis=0, reduction="add">(x, c, f)
repeated and filled by a count | float[1,3] x, bool[7] m => float y: p = NonZero(m) s = Shape(p) \
    o = Constant<value_ints=[1]>() t = Constant<value_ints=[2]>() n = Slice(s, o, t) r = Concat<axis=0>(n, o) \
    a = Tile(x, r) d = ConstantOfShape(r) y = Add(a, d)
rows that a branch selects | float[5,3] x, bool[5] m, bool c => float y, float s: y = If(c) <then_branch = t () => \
    (float[p,3] a) { z = Constant<value_ints=[0]>() w = Constant<value_ints=[2]>() a = Slice(x, z, w) }, \
    else_branch = e () => (float[q,3] b) { b = Compress<axis=0>(x, m) }> s = ReduceMean<axes=[0], keepdims=0>(y) \
    | opset 17 | layers
columns that both branches select | float[3,6] x, bool[6] m, bool c => float y, int64 p, int64 s: y, p = If(c) \
    <then_branch = t () => (float[3,p] a, int64[p] i) { a = Compress<axis=1>(x, m) n = NonZero(m) \
    o = Constant<value_ints=[-1]>() i = Reshape(n, o) }, else_branch = e () => (float[3,q] b, int64[q] j) { \
    k = Not(m) b = Compress<axis=1>(x, k) n = NonZero(k) o = Constant<value_ints=[-1]>() j = Reshape(n, o) }> \
    u = Gather<axis=1>(x, p) w = Sub(u, y) s = Shape(w)
a branch over a selection from outside | float[6,2] x, bool[6] m, bool c => float y, int64 s: \
    v = Compress<axis=0>(x, m) \
    y = If(c) <then_branch = t () => (float[p,2] a) { w = Softmax<axis=0>(v) a = Add(w, v) }, \
    else_branch = e () => (float[q,2] b) { z = Constant<value_float=0.0>() g = Greater(v, z) f = Cast<to=1>(g) \
    o = Constant<value_ints=[1]>() u = ReduceMax<keepdims=0>(f, o) k = Cast<to=9>(u) b = Compress<axis=0>(v, k) }> \
    s = Shape(y)
a branch that reads a size alone | float[6] x, bool[6] m, bool c => int64 y, float z: v = Compress<axis=0>(x, m) \
    n = Shape(v) y = If(c) <then_branch = t () => (int64[1] a) { two = Constant<value_ints=[2]>() a = Mul(n, two) }, \
    else_branch = e () => (int64[1] b) { b = Identity(n) }> f = Cast<to=1>(n) z = ReduceSum<keepdims=0>(f)
branches in a branch | float[4,2] x, bool[4] m, bool c, bool d => float y: y = If(c) <then_branch = t () => \
    (float[p,2] a) { a = If(d) <then_branch = tt () => (float[r,2] aa) { aa = Compress<axis=0>(x, m) }, \
    else_branch = te () => (float[s,2] ab) { k = Not(m) ab = Compress<axis=0>(x, k) }> }, \
    else_branch = e () => (float[q,2] b) { b = Identity(x) }>
a selection in each iteration | float[4,3] x, bool[4,3] m, int64 n => float[3] s, float r: \
    z = Constant<value_floats=[0.0, 0.0, 0.0]>() s, r = Loop(n, , z) <body = g (int64 i, bool c, float[3] a) => \
    (bool d, float[3] w, float o) { four = Constant<value_int=4>() j = Mod(i, four) k = Gather<axis=0>(m, j) \
    row = Gather<axis=0>(x, j) v = Compress<axis=0>(row, k) e = ReduceSum<keepdims=0>(v) w = Add(a, e) d = Identity(c) \
    o = Identity(e) }> | dim r.0<=7
a loop over a selection | float[6] x, bool[6] m, int64 n => float y, float r: v = Compress<axis=0>(x, m) \
    one = Constant<value_int=1>() t = Add(n, one) y, r = Loop(t, , v) \
    <body = g (int64 i, bool c, float[k] a) => (bool d, float[k] w, float[k] o) { h = Constant<value_float=0.5>() \
    w = Mul(a, h) d = Identity(c) o = Add(w, v) }> | dim r.0<=7
rows that each iteration selects | float[4,3] x, bool[4,3] m, int64 n => float r: \
    r = Loop(n, ) <body = g (int64 i, bool c) => (bool d, float[k] o) { four = Constant<value_int=4>() \
    j = Mod(i, four) k = Gather<axis=0>(m, j) row = Gather<axis=0>(x, j) o = Compress<axis=0>(row, k) \
    d = Identity(c) }> | dim r.0<=7 | refused whose size each iteration decides; use rows of equal sizes
branches of two ranks | float[4,2] x, bool[4] m, bool c, float[2,3] w => float y: r = If(c) \
    <then_branch = t () => (float a) { v = Compress<axis=0>(x, m) o = Constant<value_ints=[1]>() \
    a = Unsqueeze(v, o) }, else_branch = e () => (float b) { b = Compress<axis=0>(x, m) }> y = Gemm(r, w)
places within a selection | float[4,3] x, bool[4] m => int64 y, int64 r: v = Compress<axis=0>(x, m) y = NonZero(v) \
    f = Cast<to=1>(v) s = Shape(v) p = ReduceProd<keepdims=0>(s) q = Constant<value_int=4>() r = Mod(p, q)
elements of a selection beyond zero | float[9] x, bool[9] m => float mean, float w: c = Compress<axis=0>(x, m) \
    z = Constant<value_float=0.0>() g = Greater(c, z) i = NonZero(g) t = Transpose(i) v = GatherND(c, t) \
    mean = ReduceMean<keepdims=0>(v) w = Compress(c, g)
a condition that may be longer | float[5] x, bool[5] m, bool[6] n => float y: c = Compress<axis=0>(x, m) \
    y = Compress<axis=0>(c, n)
boxes above a score | float[1,9,4] b, float[1,1,9] s, bool[9] m => float y, int64 k: c = Compress<axis=1>(b, m) \
    t = Compress<axis=2>(s, m) n = Constant<value_int=4>() o = Constant<value_float=0.3>() \
    l = Constant<value_float=0.0>() i = NonMaxSuppression(c, t, n, o, l) two = Constant<value_ints=[2]>() \
    j = Gather<axis=1>(i, two) z = Constant<value_ints=[-1]>() w = Reshape(j, z) y = Gather<axis=1>(c, w) k = Shape(w)
distinct values of a selection | int64[8] x, bool[8] m => int64 v, int64 i, int64 c: s = Compress<axis=0>(x, m) \
    v, i0, i, c = Unique(s)
distinct rows of a selection | float[6,2] x, bool[6] m => float v, int64 n: s = Compress<axis=0>(x, m) r = Round(s) \
    v = Unique<axis=0>(r) n = Shape(v)
windows over a length of the run | float[1,2,9] x, float[3,2,3] w, int64[1] n => float y, float p, float m, float g: \
    z = Constant<value_ints=[0]>() a = Constant<value_ints=[2]>() c = Slice(x, z, n, a) y = Conv<pads=[1,1]>(c, w) \
    p = AveragePool<kernel_shape=[2]>(y) m = MaxPool<kernel_shape=[3], strides=[2], pads=[1,1]>(c) \
    g = GlobalAveragePool(y)
what follows a window and its input | float[1,3,9] x, float[3,3,3] w, bool[9] m => float y, float g: \
    c = Compress<axis=2>(x, m) v = Conv<pads=[1,1]>(c, w) y = Add(v, c) g = GlobalMaxPool(y)
a window over two joined selections | float[1,2,5] x, float[1,2,4] v, float[2,2,2] w, bool[5] m, bool[4] n => float y: \
    c = Compress<axis=2>(x, m) d = Compress<axis=2>(v, n) e = Concat<axis=2>(c, d) y = Conv(e, w)
a transposed window | float[1,2,7] x, float[2,3,3] w, bool[7] m => float y: c = Compress<axis=2>(x, m) \
    y = ConvTranspose<strides=[2], pads=[1,1]>(c, w)
a recurrent layer over a length of the run | float[6,2,3] x, float[2,8,3] w, float[2,8,2] r, int64[1] n => float y, \
    float h: z = Constant<value_ints=[0]>() c = Slice(x, z, n, z) y, h = LSTM<hidden_size=2, \
    direction="bidirectional">(c, w, r)
a recurrent layer with lengths | float[6,2,3] x, float[1,8,3] w, float[1,8,2] r, int64[1] n, int32[2] k => float y, \
    float h: z = Constant<value_ints=[0]>() o = Constant<value_ints=[1]>() q = Max(n, o) c = Slice(x, z, q, z) \
    e = Constant<value_int=1>() f = Cast<to=6>(e) l = Min(k, f) y, h = LSTM<hidden_size=2>(c, w, r, , l)
resized by scales | float[1,2,7] x, bool[7] m => float y, float l: c = Compress<axis=2>(x, m) \
    s = Constant<value_floats=[1.0, 1.0, 1.5]>() y = Resize<mode="nearest">(c, , s) l = Resize<mode="linear">(c, , s)
resized to the size of another | float[1,2,7] x, float[1,2,6] v, bool[7] m, bool[6] n => float y: \
    c = Compress<axis=2>(x, m) d = Compress<axis=2>(v, n) s = Shape(d) y = Resize<mode="linear">(c, , , s)
differences of neighbours | float[3,7] x, bool[7] m => float y, float f, float l, float e: c = Compress<axis=1>(x, m) \
    o = Constant<value_ints=[1]>() z = Constant<value_ints=[0]>() k = Constant<value_ints=[-1]>() \
    t = Constant<value_ints=[99]>() q = Slice(c, o, t, o) p = Slice(c, z, k, o) y = Sub(q, p) f = Slice(c, z, o, o) \
    l = Slice(c, k, t, o) h = Constant<value_ints=[-3]>() u = Constant<value_ints=[2]>() e = Slice(c, h, k, o)
every second and backwards | float[3,7] x, bool[7] m => float y, float b, float d: c = Compress<axis=1>(x, m) \
    o = Constant<value_ints=[1]>() z = Constant<value_ints=[0]>() t = Constant<value_ints=[99]>() \
    s = Constant<value_ints=[2]>() y = Slice(c, z, t, o, s) k = Constant<value_ints=[-1]>() \
    n = Constant<value_ints=[-99]>() b = Slice(c, k, n, o, k) g = Constant<value_ints=[-2]>() d = Slice(c, g, n, o, g)
nothing of a selection along another axis | float[3,7] x, bool[7] m => float y, float s, int64 n: \
    c = Compress<axis=1>(x, m) a = Constant<value_ints=[1,-3]>() b = Constant<value_ints=[1,9]>() y = Slice(c, a, b) \
    s = ReduceSum<keepdims=0>(y) n = Shape(y)
nothing of a selection by pads and repetitions | float[7,3] x, bool[7] m => float y, float z, float u, float v, \
    float s: c = Compress<axis=0>(x, m) p = Constant<value_ints=[1,-1,0,-2]>() y = Pad(c, p) \
    q = Constant<value_ints=[0,-3,-1,0]>() z = Pad(c, q) \
    k = Constant<value_ints=[1,0]>() u = Tile(c, k) l = Constant<value_ints=[0,2]>() v = Tile(c, l) \
    s = ReduceSum<keepdims=0>(y)
a table as long as a selection | float[7,2] t, float[7,2] x, bool[7] m => float y: c = Compress<axis=0>(x, m) \
    s = Shape(c) z = Constant<value_ints=[0]>() o = Constant<value_ints=[1]>() n = Slice(s, z, o) \
    p = Slice(t, z, n, z) y = Add(c, p)
padded | float[2,7] x, bool[7] m => float y, float r: c = Compress<axis=1>(x, m) \
    p = Constant<value_ints=[0,1,1,2]>() y = Pad(c, p) q = Constant<value_ints=[0,1,0,0]>() r = \
    Pad<mode="reflect">(c, q)
cut off | float[2,7] x, bool[7] m => float y: c = Compress<axis=1>(x, m) p = Constant<value_ints=[0,-1,0,1]>() \
    y = Pad(c, p)
two sizes of inner dimensions | float[2,7] x, bool[7] m, bool[7] k => float y: c = Compress<axis=1>(x, m) \
    d = Compress<axis=1>(x, k) e = Softmax<axis=0>(d) f = Softmax<axis=0>(c) y = Add(e, f)
expanded and filled to a number of the run | float[1,3] x, int64[1] n => float y, float f, float s: \
    t = Constant<value_ints=[3]>() k = Concat<axis=0>(n, t) y = Expand(x, k) f = ConstantOfShape(k) e = Add(y, f) \
    s = ReduceSum<keepdims=0>(e) | dim y.0<=6 | dim f.0<=6
expanded to two numbers of the run | float[1,3] x, int64[2] q => float y: y = Expand(x, q) | dim y.0<=6
expanded above its maximum | float[1] x, int64[1] n => float y: y = Expand(x, n) | dim y.0<=2 | limit 2
expanded by fewer numbers than there are dimensions | float[2,3,1] x, int64[1] n => float y: y = Expand(x, n) | \
    dim y.2<=4
tiled by numbers of the run | float[2,1,3] x, int64[3] q => float y, float m: y = Tile(x, q) \
    m = ReduceSum<keepdims=0>(y) | dim y.0<=12 | dim y.1<=6 | dim y.2<=18
reshaped to a number of the run | float[2,6] x, int64[1] n => float y, float t: k = Constant<value_ints=[-1]>() \
    s = Concat<axis=0>(n, k) y = Reshape(x, s) t = Transpose(y)
reshaped to two numbers of the run | float[2,6] x, int64[1] n => float y, float r: k = Constant<value_ints=[12]>() \
    o = Constant<value_ints=[1]>() m = Max(n, o) d = Div(k, m) s = Concat<axis=0>(n, d) y = Reshape(x, s) \
    a = Constant<value_ints=[-1]>() r = ReduceSum<keepdims=0>(y, a)
a selection reshaped to a number of the run | float[12] x, bool[12] m, int64[1] n => float y: c = \
    Compress<axis=0>(x, m) \
    k = Constant<value_ints=[-1]>() o = Constant<value_ints=[1]>() d = Max(n, o) s = Concat<axis=0>(k, d) \
    y = Reshape(c, s)
a selection in rows of two | float[12] x, bool[12] m => float y: c = Compress<axis=0>(x, m) \
    s = Constant<value_ints=[-1,2]>() y = Reshape(c, s)
the place of the greatest | float[2,6] x, bool[6] m => int64 y: c = Compress<axis=1>(x, m) y = ArgMax<axis=1>(c)
a maximum that a reader has | float[2] x, int64[1] n => float y: t = Tile(x, n) a = Neg(t) o = \
    Constant<value_ints=[1]>() \
    y = Expand(a, o) | dim y.0<=12
resized to a number of the run | float[1,2,5] x, int64[1] n => float y, float c: k = Constant<value_ints=[1,2]>() \
    o = Constant<value_ints=[1]>() m = Max(n, o) s = Concat<axis=0>(k, m) y = Resize<mode="linear">(x, , , s) \
    c = Resize<mode="nearest", coordinate_transformation_mode="asymmetric">(x, , , s) | dim y.2<=8 | dim c.2<=8
resized by scales of the run | float[1,1,3,5] x, float[2] k => float y, float c, float l, float w, float f, float u: \
    o = Constant<value_floats=[1.0]>() t = Constant<value_floats=[2.0]>() a, b = Split<num_outputs=2>(k) p = Abs(a) \
    m = Min(p, t) q = Constant<value_floats=[0.25]>() v = Add(m, q) s = Concat<axis=0>(o, o, o, v) \
    y = Resize<mode="nearest">(x, , s) c = Resize<mode="cubic">(x, , s) l = Resize<mode="linear">(x, , s) \
    w = Resize<mode="linear", coordinate_transformation_mode="pytorch_half_pixel">(x, , s) \
    f = Resize<mode="nearest", coordinate_transformation_mode="asymmetric", nearest_mode="floor">(x, , s) \
    u = Resize<mode="nearest", axes=[3], nearest_mode="round_prefer_ceil">(x, , v) \
    | dim y.3<=11 | dim c.3<=11 | dim l.3<=11 | dim w.3<=11 | dim f.3<=11 | dim u.3<=11
resized by scales of a matrix | float[1,1,3,5] x, float[1,2] k => float y: z = Constant<value_ints=[0]>() p = Abs(k) \
    t = Constant<value_floats=[2.0]>() m = Min(p, t) q = Constant<value_floats=[0.5]>() v = Add(m, q) \
    s = Squeeze(v, z) y = Resize<mode="nearest", axes=[2,3]>(x, , s) | dim y.2<=8 | dim y.3<=13
resized by a scale for a selection | uint8[1,2,7] x, bool[7] m, float[1] k => uint8 y, int64 n: \
    e = Compress<axis=2>(x, m) p = Abs(k) q = Constant<value_floats=[0.5]>() v = Add(p, q) \
    y = Resize<mode="nearest", axes=[2]>(e, , v) n = Shape(y) | dim y.2<=40
padded by a number of the run | float[2,5] x, int64[1] n => float y, float d: z = Constant<value_ints=[0]>() \
    p = Concat<axis=0>(z, n, z, n) v = Constant<value_float=1.5>() y = Pad(x, p, v) k = Neg(n) \
    q = Concat<axis=0>(z, k, z, n) d = Pad(x, q) | dim y.1<=17 | dim d.1<=5
padded by elements of its own | float[2,5] x, int64[1] n, int64[1] k, bool[1] q => float y, float e, float w: \
    z = Constant<value_ints=[0]>() f = Cast<to=7>(q) t = Constant<value_ints=[2]>() o = Constant<value_ints=[1]>() \
    g = Mul(f, t) s = Sub(g, o) a = Mul(n, s) h = Constant<value_ints=[4]>() r = Mod(n, h) v = Mod(k, h) \
    p = Concat<axis=0>(z, r, z, v) y = Pad<mode="reflect">(x, p) c = Concat<axis=0>(z, a, z, k) \
    e = Pad<mode="edge">(x, c) w = Pad<mode="wrap">(x, c) | opset 19 | dim e.1<=17 | dim w.1<=17
a selection padded by its own elements | float[2,6] x, bool[6] m, bool[2] q => float y: \
    c = Compress<axis=1>(x, m) b = Cast<to=7>(q) a = Constant<value_ints=[1]>() p = Concat<axis=0>(b, b) \
    y = Pad<mode="reflect">(c, p)
one hot of a depth of the run | int64[4] i, int64[1] n => float y: v = Constant<value_floats=[0.5,2.0]>() \
    y = OneHot(i, n, v) | dim y.1<=8
every second from a place of the run | float[8,3] x, int64[1] s, int64[1] e => float y, float b: \
    z = Constant<value_ints=[0]>() t = Constant<value_ints=[2]>() y = Slice(x, s, e, z, t) \
    k = Constant<value_ints=[-2]>() b = Slice(x, e, s, z, k)
a step of the run | float[9,2] x, int64[1] s, int64[1] e, int64[1] k, bool[1] q => float y, float b, float p, float r: \
    z = Constant<value_ints=[0]>() o = Constant<value_ints=[1]>() h = Constant<value_ints=[4]>() m = Max(k, o) \
    y = Slice(x, s, e, z, m) w = Neg(m) b = Slice(x, e, s, z, w) f = Cast<to=7>(q) \
    g = Constant<value_ints=[2]>() v = Mul(f, g) d = Sub(v, o) t = Sub(s, h) p = Slice(x, t, e, z, d) \
    u = Mul(d, m) r = Slice(x, e, t, z, u)
a step of the run over a selection | float[3,9] x, bool[9] m, int64[2] s, int64[2] k => float y, int64 n: \
    c = Compress<axis=1>(x, m) e = Constant<value_ints=[-1,-9]>() a = Constant<value_ints=[1,0]>() \
    u = Constant<value_ints=[1,-3]>() d = Add(k, u) y = Slice(c, s, e, a, d) n = Shape(y)
backwards to a place of the run in a selection | float[8] x, bool[8] m, int64[1] e => float y: c = \
    Compress<axis=0>(x, m) \
    z = Constant<value_ints=[0]>() k = Constant<value_ints=[-1]>() y = Slice(c, k, e, z, k)
parts of a selection | float[6,2] x, bool[6] m => float a, float b, float p, float q: c = Compress<axis=0>(x, m) \
    s = Constant<value_ints=[2,1]>() a, b = Split<axis=0>(c, s) p, q = Split<axis=0, num_outputs=2>(x)
thirds of a selection | float[7,2] x, bool[7] m => float p, float q, float r: c = Compress<axis=0>(x, m) \
    p, q, r = Split<axis=0, num_outputs=3>(c)
halves of a selection | float[6,2] x, bool[6] m => float p, float q, float y: c = Compress<axis=0>(x, m) \
    p, q = Split<axis=0>(c) y = Mul(p, q) | opset 17
elements of a selection replaced | float[3,6] x, bool[6] m, int64[2,6] i, float[2,6] u => float y: \
    c = Compress<axis=1>(x, m) k = Compress<axis=1>(i, m) v = Compress<axis=1>(u, m) t = Constant<value_int=2>() \
    z = Clip(k) j = Mod(z, t) y = ScatterElements(c, j, v)
sizes of a selection as data | float[4,3] x, bool[4] m, bool[2] k => int64 y, int64 t: c = Compress<axis=0>(x, m) \
    s = Shape(c) y = Compress(s, k) o = Constant<value_ints=[1]>() t, i = TopK(s, o) | layers
products over two sizes | float[3,5] x, float[5,4] w, int64[1] n, int64[1] k => float y, float g, float c: \
    z = Constant<value_ints=[0]>() o = Constant<value_ints=[1]>() a = Slice(x, z, n, o) b = Slice(w, z, k, z) \
    y = MatMul(a, b) t = Transpose(a) g = Gemm<transA=1>(t, b) c = Concat<axis=1>(t, b)
one hot of the distinct | int64[8] k => float y: v, i0, i, c = Unique(k) n = Shape(v) \
    w = Constant<value_floats=[0.0,1.0]>() y = OneHot(i, n, w)
the best of sizes | float[4] x, bool[4] m, int64[1] n => int64 y, int64 z: c = Compress<axis=0>(x, m) \
    a = Constant<value_ints=[1]>() u = Unsqueeze(c, a) s = Shape(u) k = Min(n, a) y, i = TopK(s, k) \
    b = Constant<value_ints=[0]>() z = Slice(s, b, n, b)
the greatest of each column that has no rows | float[2,4] x, int64[1] n => int64 y: z = Constant<value_ints=[0]>() \
    a = Constant<value_ints=[1]>() t = Constant<value_ints=[2]>() m = Constant<value_ints=[4]>() k = Min(n, m) \
    c = Slice(x, t, k, z) d = Slice(c, z, n, a) y = ArgMax<axis=0, keepdims=0>(d)
every second number of 32 bits without a maximum | int32 n => int32 y: z = Constant<value=int32 {0}>() \
    o = Constant<value=int32 {2}>() y = Range(z, n, o) | refused no maximum follows; use --dim 'y.0<=N'
cuts of a selection | float[7] x, bool[7] m => float a, float b, float e, float f: c = Compress<axis=0>(x, m) \
    z = Constant<value_ints=[0]>() o = Constant<value_ints=[1]>() t = Constant<value_ints=[3]>() \
    n = Constant<value_ints=[-2]>() l = Constant<value_ints=[2147483647]>() w = Constant<value_ints=[2]>() \
    a = Slice(c, z, t) b = Slice(c, n, l) e = Slice(c, o, n) f = Slice(c, o, l, z, w)
up to a place before the end | float[8] x, bool[6] m => float y: p = NonZero(m) s = Shape(p) \
    o = Constant<value_ints=[1]>() t = Constant<value_ints=[2]>() n = Slice(s, o, t) r = Constant<value_ints=[3]>() \
    e = Sub(n, r) z = Constant<value_ints=[0]>() y = Slice(x, z, e, z)
the best place of a selection | float[5] x, bool[5] m => int64 y, float v: c = Compress<axis=0>(x, m) \
    y = ArgMax<axis=0, keepdims=0>(c) v = ReduceMax<keepdims=0>(c)
a mean of each length | float[3,8,4] x, int64[3] n => float y: r = Constant<value_int=3>() \
    t = Constant<value=bool {1}>() y = Loop(r, t) \
    <body = g (int64 i, bool c) => (bool d, float[4] o) { z = Constant<value_ints=[0]>() d = Identity(c) \
    a = Gather<axis=0>(x, i) k = Gather<axis=0>(n, i) u = Unsqueeze(k, z) v = Slice(a, z, u, z) \
    o = ReduceMean<keepdims=0>(v, z) }>
sizes that a mask selects | float[5,3] x, bool[5] m, bool[2] k => int64 y, int64 p: c = Compress<axis=0>(x, m) \
    s = Shape(c) y = Compress(s, k) p = NonZero(s)
the determinant of a selection | float[5,3,3] x, bool[5] m => float y: c = Compress<axis=0>(x, m) y = Det(c) \
    | refused data decide a size that it reads, dimension 0 of "c"; use a size that is known at compile time
a product of a selection that does not fit | float[5,3] x, float[4,2] w, bool[5] m => float y: \
    c = Compress<axis=0>(x, m) y = MatMul(c, w) \
    | refused the input is [dimension 0 of "c"][3] and the weights [4][2]
a range without a maximum | int64 n => int64 y: z = Constant<value_int=0>() o = Constant<value_int=1>() \
    y = Range(z, n, o) | refused no maximum follows; use --dim 'y.0<=N'
rows of a loop whose first ones are left out | int64 k, float[4] v => int64 m: \
    last, , r = Loop(k, , v) <body = g (int64 i, bool c, float[4] a) => (bool d, float[4] w, float[4] o, int64 p) { \
    h = Constant<value_float=0.5>() w = Mul(a, h) d = Identity(c) o = Identity(w) p = Identity(i) }> \
    m = ReduceSum<keepdims=0>(r) | opset 17 | refused or --dim 'r.0<=N'
a size of one value beside another | int64 k, float[2,3] x, bool[2] q => float y, float j, int64 h, float f: \
    n = Constant<value_int=1>() \
    last, r = Loop(n, , k) <body = g (int64 i, bool c, int64 a) => (bool d, int64 w, int64 p) { \
    d = Less(i, k) w = Identity(a) p = Identity(i) }> \
    o = Constant<value_ints=[1]>() b = Constant<value_int=2>() z = Mod(r, b) u = Unsqueeze(z, o) s = Shape(z) \
    t = Constant<value_ints=[3]>() e = Concat<axis=0>(s, t) v = Constant<value=float[1,3] {0.5,1.0,2.0}>() \
    f = Expand(v, e) y = ScatterND<reduction="max">(x, u, f) l = Compress<axis=0>(x, q) j = Concat<axis=0>(l, f, x) \
    m = Constant<value=int64[1,2] {-1,-1}>() h = Gather(z, m)
the place of at most one number | int64 n => int64 y, int64 f: z = Constant<value_int=0>() o = Constant<value_int=1>() \
    k = Constant<value_int=-1>() c = Range(z, n, o) y = Identity(c) f = Gather(c, k) | dim c.0<=1 | limit 1
no rows of a length of the run | float[2,6] x, int64[2] n => float y, int64 i, float u, float q, float f, float g, \
    float r, float h: \
    s = Constant<value_ints=[2,1]>() c = Slice(x, s, n) z = Constant<value_ints=[0]>() w = Constant<value_ints=[2]>() \
    y, i = TopK<axis=0>(c, z) u = Unsqueeze(c, w) q = Squeeze(u, w) f = Flatten(c) g = GatherElements<axis=0>(x, i) \
    m = Constant<value_ints=[-1]>() r = Reshape(c, m) \
    d = Constant<value_ints=[0,0,1,1]>() h = Reshape(c, d)
"""


def model_of(inputs, outputs, body, opset):
    return onnx.parser.parse_model('<ir_version: 8, opset_import: ["" : %d]> g (%s) => (%s) { %s }'
                                   % (opset, inputs, outputs, body.replace("\n", " ")))


def parsed(text):
    joined = text.replace("\\\n", " ")
    for line in joined.strip().splitlines():
        name, graph, *options = [part.strip() for part in line.split(" | ")]
        opset = next((int(o[6:]) for o in options if o.startswith("opset ")), OPSET)
        ends, body = graph.split(": ", 1)
        inputs, outputs = ends.split("=>")
        refused = next((o[8:] for o in options if o.startswith("refused ")), None)
        dims = [o[4:] for o in options if o.startswith("dim ")]
        most = next((int(o[6:]) for o in options if o.startswith("limit ")), None)
        yield name, model_of(inputs, outputs, body, opset), refused, dims, most, "layers" in options


def inputs_of(model, random, sample):
    """Sample 0: no element is selected, 1: all are, others: some."""
    arrays = {}
    for info in model.graph.input:
        shape = [d.dim_value for d in info.type.tensor_type.shape.dim]
        kind = info.type.tensor_type.elem_type
        if kind == onnx.TensorProto.BOOL:
            share = [0.0, 1.0][sample] if sample < 2 else random.random()
            x = random.random(shape) < share
        elif kind == onnx.TensorProto.FLOAT:
            x = random.standard_normal(shape).astype(np.float32)
            x = np.zeros_like(x) if sample == 0 else np.where(random.random(shape) < 0.3 * (sample > 1), 0, x)
        else:
            x = random.integers(0, 1 if sample == 0 else 7, shape)
        arrays[info.name] = np.array(x, onnx.helper.tensor_dtype_to_np_dtype(kind), order="C")
    return arrays


def run(command, **more):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300, **more)


def refilled(text):
    """The emitted C with other numbers behind the last row: in the arena, and in the results of searches, which begin
    as -1."""
    text = re.sub(r"= -1;", "= -1000003;", text)
    return re.sub(r"(  uint8_t \*const memory = \(uint8_t \*\)arena;\n)",
                  r"\1    for (uint32_t i = 0; i < M_ARENA_SIZE; i++) memory[i] = 91;\n", text)


class Trial:
    def __init__(self, build, work, path, output_count, dims):
        self.build, self.work, self.path, self.output_count = build, work, path, output_count
        self.options = [word for d in dims for word in ("--dim", d)]

    def emit(self):
        return run([os.path.join(self.build, "loopwright"), self.path, "-o", os.path.join(self.work, "m.c"), "--name",
                    "m", "--testbench"] + self.options)

    def compile(self, source, program, sanitize):
        flags = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"] if sanitize else []
        compiler = os.environ.get("CC", "cc").split()
        return run(compiler + ["-std=c99", "-O1", "-Wall", "-Wextra", "-Werror"] + flags
                   + ["-I" + os.path.join(ROOT, "runtime"), "-I" + self.work, source,
                      os.path.join(self.work, "m_main.c"), "-lm", "-o", program])

    def outputs(self, command, arrays):
        ins, outs = [], []
        for i, x in enumerate(arrays):
            ins.append(os.path.join(self.work, "in%d.npy" % i))
            np.save(ins[-1], x)
        for i in range(self.output_count):
            outs.append(os.path.join(self.work, "out%d.npy" % i))
        words = ins + [w for o in outs for w in ["-o", o]] + self.options if command[-1] == self.path else ins + outs
        result = run(command + words)
        return ([np.load(o) for o in outs] if result.returncode == 0 else None), result


def differs(got, want):
    if got.shape != want.shape or got.dtype != want.dtype:
        return "%s%s instead of %s%s" % (got.dtype, list(got.shape), want.dtype, list(want.shape))
    same = (np.array_equal(got, want) if want.dtype.kind in "iub"
            else np.allclose(got, want, 1e-4, 1e-4, equal_nan=True))
    return "" if same else "%s instead of %s" % (got.ravel()[:6], want.ravel()[:6])


def differs_in_layers(trial):
    result = run([os.path.join(trial.build, "loopwright"), "verify", trial.path, "--layers"] + trial.options)
    return "" if result.returncode == 0 else "--layers: status %d: %s" % (result.returncode, result.stdout[-300:])


def try_row(build, name, model, refused, dims, most, layers, seed):
    with tempfile.TemporaryDirectory() as work:
        trial = Trial(build, work, os.path.join(work, "m.onnx"), len(model.graph.output), dims)
        onnx.save(model, trial.path)
        emitted = trial.emit()
        if refused is not None:
            return "" if emitted.returncode == 1 and refused in emitted.stdout else "not so: " + emitted.stdout[:200]
        if emitted.returncode or "does not apply" in emitted.stdout:       # each layer has a schedule
            return emitted.stdout[-300:]
        source, other = os.path.join(work, "m.c"), os.path.join(work, "other.c")
        with open(source) as f, open(other, "w") as g:
            g.write(refilled(f.read()))
        for file, program, sanitize in ((source, "p", True), (other, "q", False)):
            built = trial.compile(file, os.path.join(work, program), sanitize)
            if built.returncode:
                return built.stdout[:400]
        why = differs_in_layers(trial) if layers else ""
        if why:
            return why
        options = onnxruntime.SessionOptions()
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        options.log_severity_level = 4
        session = onnxruntime.InferenceSession(trial.path, options)
        random = np.random.default_rng(seed)
        for sample in range(SAMPLES):
            arrays = inputs_of(model, random, sample)
            try:
                want = session.run(None, arrays)
            except Exception:
                want = None
            if most is not None and want is not None and want[0].shape[-1] > most:
                want = None          # above the size that the file declares
            ways = [[os.path.join(work, "p")], [os.path.join(work, "q")]]
            if sample > 1:
                ways.append([os.path.join(build, "loopwright"), "run", trial.path])
            first = None
            for way in ways:
                got, result = trial.outputs(way, arrays.values())
                if want is None:
                    if got is not None:
                        return "sample %d: an error is expected, but %s has none" % (sample, way[0])
                    if "Sanitizer" in result.stdout or "runtime error" in result.stdout:
                        return "sample %d: %s" % (sample, result.stdout[-400:])
                    continue
                if got is None:
                    return "sample %d: %s" % (sample, result.stdout[-400:])
                for info, g, w in zip(model.graph.output, got, want):
                    why = differs(g, np.asarray(w))
                    if why:
                        return "sample %d, %s of %s: %s" % (sample, info.name, os.path.basename(way[0]), why)
                if first and any(not np.array_equal(a, b, equal_nan=a.dtype.kind == "f")
                                 for a, b in zip(first, got) if way[0].endswith("q")):
                    return "sample %d: a result depends on elements behind the last row" % sample
                first = first or got
    return ""


def try_tflite(build, name, data, dims, inputs, wanted):
    with tempfile.TemporaryDirectory() as work:
        counts = [len(w) for w in map(wanted, inputs) if w] if inputs else [0]
        trial = Trial(build, work, os.path.join(work, "m.tflite"), counts[0], dims)
        with open(trial.path, "wb") as f:
            f.write(data)
        emitted = trial.emit()
        if not inputs:
            return "" if emitted.returncode == 1 and wanted in emitted.stdout else "not so: " + emitted.stdout[:300]
        if emitted.returncode:
            return emitted.stdout[-300:]
        built = trial.compile(os.path.join(work, "m.c"), os.path.join(work, "p"), True)
        if built.returncode:
            return built.stdout[:400]
        for sample, x in enumerate(inputs):
            want = wanted(x)
            for way in [os.path.join(work, "p")], [os.path.join(build, "loopwright"), "run", trial.path]:
                got, result = trial.outputs(way, [x])
                why = ["none" if want is not None else "an error is expected"] if (got is None) != (want is None) else \
                    [differs(g, w) for g, w in zip(got or [], want or [])]
                if any(why) or "Sanitizer" in result.stdout or "runtime error" in result.stdout:
                    return "sample %d of %s: %s %s" % (sample, way[0], why, result.stdout[-400:])
        if any(wanted(x) is None for x in inputs):
            return ""                # generated inputs may end the run, too
        verified = run([os.path.join(build, "loopwright"), "verify", trial.path] + trial.options)
        return "" if verified.returncode == 0 else "verify: " + verified.stdout[-400:]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("pattern", nargs="?", default="")
    arguments = parser.parse_args()
    rows = [(try_row, *r, 5) for r in parsed(ROWS)] + [(try_tflite, *r) for r in tflite_sizes.ROWS]
    rows += [(try_row, name, model_of(*ends.split("=>"), body, OPSET), None, [], None, False, 7)
             for name, ends, body in sizes_detectors.rows()]
    rows += [(sizes_commands.try_row, *r) for r in sizes_commands.rows()]
    rows = [r for r in rows if arguments.pattern in r[1].replace(" ", "-")]
    passed = failed = 0
    with ThreadPoolExecutor(2) as pool:
        for row, why in zip(rows, pool.map(lambda r: r[0](arguments.build, *r[1:]), rows)):
            name = row[1].replace(" ", "-").replace(",", "")
            passed, failed = passed + (not why), failed + bool(why)
            print("ok " + name if not why else "not ok %s: %s" % (name, why.replace("\n", "\n    ")), flush=True)
    print("%d passed, %d failed, 0 skipped" % (passed, failed))
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
