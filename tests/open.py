# SPDX-License-Identifier: MIT
"""Dimensions that stay open, operator by operator: the table of what works, and its test.

    python3 tests/open.py BUILD [PATTERN] [--support FILE]

Needs onnx and numpy; onnxruntime is taken where it is there.

Each row is a small graph in ONNX's text form whose sizes in capital letters stay open. It is compiled once with their
greatest sizes (--dim 'N<=8'), built, run at several sizes, and compared with onnxruntime or with onnx's own evaluator.
A row that ends in `refused` must be refused with that text. Inputs that begin with w are constants; integers are places
in the smallest open dimension. What the installed evaluator does not know is skipped.

--support writes the table into FILE, behind the line that begins this part. Status 1: a row did not do what it says.
"""
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import onnx
import onnx.parser
from onnx import numpy_helper

try:
    import onnxruntime
except ImportError:
    onnxruntime = None
    from onnx.reference import ReferenceEvaluator

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
GREATEST, OPSET = 8, 17
RTOL, ATOL = 1e-4, 1e-5

# kind of user | what stays open | graph | refused with, or other options
ROWS = """
batch | Relu | float[N,5] x => float y: y = Relu(x)
batch | Gemm | float[N,5] x, float[5,4] w, float[4] wb => float y: y = Gemm(x, w, wb)
batch | MatMul | float[N,3,5] x, float[5,4] w => float y: y = MatMul(x, w)
batch | MatMul of two batches | float[N,3,5] a, float[N,5,4] b => float y: y = MatMul(a, b)
batch | Softmax | float[N,5] x => float y: y = Softmax(x)
batch | LogSoftmax | float[N,5] x => float y: y = LogSoftmax(x)
batch | Hardmax | float[N,5] x => float y: y = Hardmax(x)
batch | ArgMax | float[N,5] x => int64 y: y = ArgMax<axis=1>(x)
batch | ArgMin, no dimension left | float[N,5] x => int64 y: y = ArgMin<axis=1, keepdims=0>(x)
batch | TopK | float[N,9] x => float y, int64 i: k = Constant<value_ints=[3]>() y, i = TopK<axis=1>(x, k)
batch | Conv | float[N,3,6,7] x, float[4,3,3,3] w, float[4] wb => float y: y = Conv<pads=[1,1,1,1]>(x, w, wb)
batch | Conv, one dimension | float[N,3,7] x, float[4,3,3] w => float y: y = Conv(x, w)
batch | Conv, three dimensions | float[N,2,4,5,6] x, float[3,2,2,2,2] w => float y: y = Conv(x, w)
batch | Conv, depthwise | float[N,4,6,7] x, float[4,1,3,3] w => float y: \
    y = Conv<group=4, strides=[2,2], auto_pad="SAME_UPPER">(x, w)
batch | ConvTranspose | float[N,3,4,5] x, float[3,4,3,3] w => float y: \
    y = ConvTranspose<strides=[2,2], pads=[1,1,1,1]>(x, w)
batch | MaxPool | float[N,3,6,7] x => float y: y = MaxPool<kernel_shape=[2,2], strides=[2,2]>(x)
batch | MaxPool with places | float[N,3,6,7] x => float y, int64 i: y, i = MaxPool<kernel_shape=[2,2], strides=[2,2]>(x)
batch | AveragePool | float[N,3,6,7] x => float y: y = AveragePool<kernel_shape=[3,3], pads=[1,1,1,1]>(x)
batch | LpPool | float[N,3,6,7] x => float y: y = LpPool<kernel_shape=[2,2]>(x)
batch | GlobalAveragePool | float[N,3,6,7] x => float y: y = GlobalAveragePool(x)
batch | GlobalMaxPool | float[N,3,6,7] x => float y: y = GlobalMaxPool(x)
batch | GlobalLpPool | float[N,3,6,7] x => float y: y = GlobalLpPool(x)
batch | BatchNormalization | float[N,3,4,4] x, float[3] w1, float[3] w2, float[3] w3 => float y: a = Abs(w3) \
    y = BatchNormalization(x, w1, w2, w3, a)
batch | InstanceNormalization | float[N,3,4,4] x, float[3] w1, float[3] w2 => float y: \
    y = InstanceNormalization(x, w1, w2)
batch | LayerNormalization | float[N,3,6] x, float[6] w1, float[6] w2 => float y: y = LayerNormalization(x, w1, w2)
batch | GroupNormalization | float[N,4,3,3] x, float[4] w1, float[4] w2 => float y: \
    y = GroupNormalization<num_groups=2>(x, w1, w2) | opset 21
batch | RMSNormalization | float[N,3,6] x, float[6] w => float y: y = RMSNormalization(x, w) | opset 23
batch | LpNormalization | float[N,6] x => float y: y = LpNormalization(x)
batch | MeanVarianceNormalization | float[N,3,4,4] x => float y: y = MeanVarianceNormalization<axes=[2,3]>(x)
batch | LRN | float[N,5,3,3] x => float y: y = LRN<size=3>(x)
batch | Flatten | float[N,3,4] x => float y: y = Flatten(x)
batch | Reshape to -1 | float[N,3,4] x => float y: s = Constant<value_ints=[-1,12]>() y = Reshape(x, s)
batch | Reshape with 0 | float[N,3,4] x => float y: s = Constant<value_ints=[0,2,-1]>() y = Reshape(x, s)
batch | Reshape that joins | float[N,3,4] x => float y: s = Constant<value_ints=[-1,4]>() y = Reshape(x, s)
batch | Transpose | float[N,3,4] x => float y: y = Transpose<perm=[1,0,2]>(x)
batch | Concat | float[N,3] a, float[N,4] b => float y: y = Concat<axis=1>(a, b)
batch | Concat along it | float[N,3] a, float[N,3] b => float y: y = Concat<axis=0>(a, b)
batch | Split | float[N,6] x => float a, float b: a, b = Split<axis=1>(x)
batch | Slice | float[N,6] x => float y: b = Constant<value_ints=[1]>() e = Constant<value_ints=[-1]>() \
    y = Slice(x, b, e, b)
batch | Gather | float[N,6] x => float y: i = Constant<value_ints=[0,5,2]>() y = Gather<axis=1>(x, i)
batch | Pad of others | float[N,3,4] x => float y: p = Constant<value_ints=[0,0,1,0,2,3]>() y = Pad(x, p)
batch | Tile of others | float[N,3] x => float y: t = Constant<value_ints=[1,2]>() y = Tile(x, t)
batch | Expand | float[N,1] x => float y: s = Constant<value_ints=[1,4]>() y = Expand(x, s)
batch | Where | bool[N,5] c, float[N,5] a, float[5] b => float y: y = Where(c, a, b)
batch | Add broadcast | float[N,5] a, float[5] w => float y: y = Add(a, w)
batch | Add of an open and a one | float[N,5] a, float[1,5] b => float y: y = Add(a, b)
batch | PRelu | float[N,3,4,4] x, float[3,1,1] w => float y: y = PRelu(x, w)
batch | Pow | float[N,5] x => float y: e = Constant<value_float=2.0>() y = Pow(x, e)
batch | Clip | float[N,5] x => float y: a = Constant<value_float=-0.5>() b = Constant<value_float=0.5>() \
    y = Clip(x, a, b)
batch | Erf | float[N,5] x => float y: y = Erf(x)
batch | Gelu | float[N,5] x => float y: y = Gelu(x) | opset 20
batch | HardSwish | float[N,5] x => float y: y = HardSwish(x)
batch | Mish | float[N,5] x => float y: y = Mish(x) | opset 18
batch | Not of Greater | float[N,5] a, float[N,5] b => bool y: g = Greater(a, b) y = Not(g)
batch | Max of three | float[N,5] a, float[N,5] b, float[5] w => float y: y = Max(a, b, w)
batch | Mod | float[N,5] a, float[N,5] b => float y: y = Mod<fmod=1>(a, b)
batch | ReduceMean | float[N,3,4] x => float y: y = ReduceMean<axes=[1,2]>(x)
batch | ReduceL2 | float[N,5] x => float y: y = ReduceL2<axes=[1]>(x)
batch | ReduceLogSumExp | float[N,5] x => float y: y = ReduceLogSumExp<axes=[1]>(x)
batch | ReduceProd | float[N,5] x => float y: y = ReduceProd<axes=[1]>(x)
batch | ReduceSumSquare | float[N,5] x => float y: y = ReduceSumSquare<axes=[1]>(x)
batch | ReduceL1 | float[N,5] x => float y: y = ReduceL1<axes=[1], keepdims=0>(x)
batch | ReduceLogSum | float[N,5] x => float y: a = Abs(x) y = ReduceLogSum<axes=[1]>(a)
batch | CumSum | float[N,5] x => float y: a = Constant<value_int=1>() y = CumSum(x, a)
batch | Einsum | float[N,3,4] a, float[4,5] w => float y: y = Einsum<equation="nij,jk->nik">(a, w)
batch | Einsum of two batches | float[N,3,4] a, float[N,5,4] b => float y: y = Einsum<equation="bij,bkj->bik">(a, b)
batch | LSTM | float[4,N,3] x, float[1,20,3] w, float[1,20,5] wr, float[1,40] wb => float y, float h: \
    y, h = LSTM<hidden_size=5>(x, w, wr, wb)
batch | GRU | float[4,N,3] x, float[1,15,3] w, float[1,15,5] wr => float y: y = GRU<hidden_size=5>(x, w, wr)
batch | RNN | float[4,N,3] x, float[1,5,3] w, float[1,5,5] wr => float y: y = RNN<hidden_size=5>(x, w, wr)
batch | Resize nearest | float[N,3,4,5] x => float y: s = Constant<value_floats=[1.0,1.0,2.0,2.0]>() \
    y = Resize<mode="nearest">(x, , s)
batch | Resize linear | float[N,3,4,5] x => float y: s = Constant<value_floats=[1.0,1.0,1.5,2.0]>() \
    y = Resize<mode="linear">(x, , s)
batch | Resize cubic to sizes | float[N,3,4,5] x => float y: s = Constant<value_ints=[7,6]>() \
    y = Resize<mode="cubic", axes=[2,3]>(x, , , s) | opset 18
batch | Upsample | float[N,3,4,5] x => float y: s = Constant<value_floats=[1.0,1.0,2.0,2.0]>() \
    y = Upsample<mode="nearest">(x, s) | opset 9
batch | DepthToSpace | float[N,8,3,4] x => float y: y = DepthToSpace<blocksize=2>(x)
batch | SpaceToDepth | float[N,2,4,6] x => float y: y = SpaceToDepth<blocksize=2>(x)
batch | GridSample | float[N,2,4,5] x, float[N,3,3,2] g => float y: y = GridSample(x, g)
batch | GatherElements | float[N,5] x, int64[N,2] i => float y: y = GatherElements<axis=0>(x, i)
batch | GatherND | float[N,5] x, int64[3,1] i => float y: y = GatherND(x, i)
batch | ScatterElements | float[8,N] x, int64[2,N] i, float[2,N] u => float y: y = ScatterElements(x, i, u)
batch | ScatterND | float[N,4] x, int64[1,1] i, float[1,4] u => float y: y = ScatterND(x, i, u) | \
    refused the update is [N][4], which has an open size
batch | OneHot | int64[N] i => float y: d = Constant<value_int=9>() v = Constant<value_floats=[0.0,1.0]>() \
    y = OneHot(i, d, v)
batch | Trilu | float[N,4,4] x => float y: y = Trilu<upper=0>(x)
batch | Cast | float[N,5] x => int32 y: y = Cast<to=6>(x)
batch | IsNaN | float[N,5] x => bool y: y = IsNaN(x)
batch | Shrink | float[N,5] x => float y: y = Shrink<lambd=0.3>(x)
batch | Squeeze | float[N,1,5] x => float y: a = Constant<value_ints=[1]>() y = Squeeze(x, a)
batch | Unsqueeze | float[N,5] x => float y: a = Constant<value_ints=[1]>() y = Unsqueeze(x, a)
batch | QuantizeLinear | float[N,5] x => float y: s = Constant<value_float=0.05>() q = QuantizeLinear(x, s) \
    y = DequantizeLinear(q, s)
batch | QuantizeLinear by axis | float[N,3,4] x, float[3] w => float y: s = Abs(w) q = QuantizeLinear<axis=1>(x, s) \
    y = DequantizeLinear<axis=1>(q, s)
batch | QuantizeLinear by blocks | float[N,6] x, float[N,3] m => uint8 q, float y: a = Abs(m) \
    t = Constant<value_float=0.1>() s = Add(a, t) q = QuantizeLinear<axis=1, block_size=2>(x, s) \
    y = DequantizeLinear<axis=1, block_size=2>(q, s) | opset 21
batch | DequantizeLinear by blocks, the last cut short | float[N,5] x, float[N,3] m => float y: q = Cast<to=3>(x) \
    y = DequantizeLinear<axis=1, block_size=2>(q, m) | opset 21
batch | BitCast | float[N,5] x => int32 y: y = BitCast<to=6>(x) | opset 26
batch | GridSample of volumes | float[N,2,3,4,5] x, float[N,2,2,3,3] g => float y: \
    y = GridSample<mode="linear", padding_mode="reflection">(x, g) | opset 20
batch | GridSample of volumes, the nearest | float[N,2,3,4,5] x, float[N,2,2,3,3] g => float y: \
    y = GridSample<mode="nearest", padding_mode="border", align_corners=1>(x, g) | opset 20
batch | DynamicQuantizeLinear | float[N,5] x => uint8 y, float s, uint8 z: y, s, z = DynamicQuantizeLinear(x)
batch | Det | float[N,3,3] x => float y: y = Det(x) | refused the dimension "N" cannot stay open here
batch | CumSum along it | float[N,5] x => float y: a = Constant<value_int=0>() y = CumSum(x, a)
batch | ReverseSequence | float[4,N,2] x, int64[N] l => float y: o = Constant<value_int=1>() l1 = Add(l, o) \
    l2 = Clip(l1, o) four = Constant<value_int=4>() l3 = Min(l2, four) \
    y = ReverseSequence<time_axis=0, batch_axis=1>(x, l3)
batch | SoftmaxCrossEntropyLoss | float[N,9] x, int64[N] t => float y: \
    y = SoftmaxCrossEntropyLoss<reduction="none">(x, t)
batch | Dropout | float[N,5] x => float y: y = Dropout(x)
batch | DFT | float[N,8,1] x => float y: y = DFT<axis=1>(x) | refused the dimension "N" cannot stay open here
batch | MatMulInteger | uint8[N,5] a, uint8[5,3] b => int32 y: y = MatMulInteger(a, b)
batch | Compress of others | float[N,4] x => float y: c = Constant<value_ints=[1,0,1,0]>() b = Cast<to=9>(c) \
    y = Compress<axis=1>(x, b)
batch | AffineGrid | float[N,2,3] x => float y: s = Constant<value_ints=[1,1,4,5]>() y = AffineGrid(x, s) | \
    opset 20 | refused the dimension "N" cannot stay open here
batch | Col2Im | float[N,8,6] x => float y: s = Constant<value_ints=[4,3]>() b = Constant<value_ints=[2,2]>() \
    y = Col2Im(x, s, b) | opset 18 | refused the dimension "N" cannot stay open here
batch | Attention | float[N,4,6] q, float[N,5,6] k, float[N,5,6] v => float y: \
    y = Attention<q_num_heads=2, kv_num_heads=2>(q, k, v) | opset 23
batch | NonZero | float[N,4] x => int64 y: y = NonZero(x)
sequence | MatMul q k' | float[2,N,8] q, float[2,N,8] k => float y: t = Transpose<perm=[0,2,1]>(k) y = MatMul(q, t)
sequence | MatMul over it | float[2,N,M] a, float[2,M,5] b => float y: y = MatMul(a, b)
sequence | Softmax over it | float[2,3,N] x => float y: y = Softmax(x)
sequence | LogSoftmax over it | float[2,3,N] x => float y: y = LogSoftmax(x)
sequence | Softmax of the first operator set | float[2,N,5] x => float y: y = Softmax<axis=1>(x) | opset 11
sequence | LayerNormalization | float[2,N,6] x, float[6] w1, float[6] w2 => float y: y = LayerNormalization(x, w1, w2)
sequence | Attention | float[2,N,6] q, float[2,N,6] k, float[2,N,6] v => float y: \
    y = Attention<q_num_heads=2, kv_num_heads=2>(q, k, v) | opset 23
sequence | Attention, causal, two lengths | float[2,2,N,4] q, float[2,2,M,4] k, float[2,2,M,4] v => float y: \
    y = Attention<is_causal=1>(q, k, v) | opset 23
sequence | RotaryEmbedding | float[2,N,8] x, float[2,N,2] c, float[2,N,2] s => float y: \
    y = RotaryEmbedding<num_heads=2>(x, c, s) | opset 23
sequence | Gather of an embedding | int64[2,N] i, float[10,4] w => float y: y = Gather(w, i)
sequence | Gather the first along it | float[2,N,4] x => float y: i = Constant<value_int=0>() y = Gather<axis=1>(x, i)
sequence | Gather the last along it | float[2,N,4] x => float y: i = Constant<value_int=-1>() y = Gather<axis=1>(x, i)
sequence | Gather by places of the run | float[2,N,4] x, int64[3] i => float y: y = Gather<axis=1>(x, i)
sequence | GatherElements along it | float[2,N] x, int64[2,3] i => float y: y = GatherElements<axis=1>(x, i)
sequence | GatherND along it | float[N,4] x, int64[3,1] i => float y: y = GatherND(x, i)
sequence | Slice the first | float[2,N,4] x => float y: b = Constant<value_ints=[0]>() e = Constant<value_ints=[1]>() \
    a = Constant<value_ints=[1]>() y = Slice(x, b, e, a)
sequence | Slice the last | float[2,N,4] x => float y: b = Constant<value_ints=[-1]>() \
    e = Constant<value_ints=[9223372036854775807]>() a = Constant<value_ints=[1]>() y = Slice(x, b, e, a)
sequence | Slice all but the last | float[2,N,4] x => float y: b = Constant<value_ints=[0]>() \
    e = Constant<value_ints=[-1]>() a = Constant<value_ints=[1]>() y = Slice(x, b, e, a) | 2<=N<=8
sequence | Slice all but the first | float[2,N,4] x => float y: b = Constant<value_ints=[1]>() \
    e = Constant<value_ints=[9223372036854775807]>() a = Constant<value_ints=[1]>() y = Slice(x, b, e, a) | 2<=N<=8
sequence | Slice every second | float[2,N,4] x => float y: b = Constant<value_ints=[0]>() \
    e = Constant<value_ints=[9223372036854775807]>() a = Constant<value_ints=[1]>() s = Constant<value_ints=[2]>() \
    y = Slice(x, b, e, a, s)
sequence | Slice backwards | float[2,N,4] x => float y: b = Constant<value_ints=[-1]>() \
    e = Constant<value_ints=[-9223372036854775807]>() a = Constant<value_ints=[1]>() s = Constant<value_ints=[-1]>() \
    y = Slice(x, b, e, a, s)
sequence | Slice of a table by it | float[2,N,4] x, float[8,4] w => float y: s = Shape(x) \
    one = Constant<value_ints=[1]>() two = Constant<value_ints=[2]>() n = Slice(s, one, two) \
    z = Constant<value_ints=[0]>() p = Slice(w, z, n, z) y = Add(x, p)
sequence | Concat along it | float[2,N,4] a, float[2,M,4] b => float y: y = Concat<axis=1>(a, b)
sequence | Concat a token before it | float[2,N,4] a, float[2,1,4] w => float y: y = Concat<axis=1>(w, a)
sequence | Concat of three | float[N,4] a, float[2,4] w, float[M,4] b => float y: y = Concat<axis=0>(a, w, b)
sequence | Split along it | float[2,N,4] x => float a, float b: s = Constant<value_ints=[1,2]>() \
    a, b = Split<axis=1>(x, s) | refused the dimension "N" cannot stay open here
sequence | Transpose heads | float[2,N,12] x => float y: s = Constant<value_ints=[0,0,3,4]>() r = Reshape(x, s) \
    y = Transpose<perm=[0,2,1,3]>(r)
sequence | Reshape heads back | float[2,3,N,4] x => float y: t = Transpose<perm=[0,2,1,3]>(x) \
    s = Constant<value_ints=[0,0,12]>() y = Reshape(t, s)
sequence | Reshape by a shape | float[B,N,12] x => float y: h = Shape(x) z = Constant<value_ints=[0]>() \
    two = Constant<value_ints=[2]>() f = Slice(h, z, two) l = Constant<value_ints=[3,4]>() s = Concat<axis=0>(f, l) \
    y = Reshape(x, s)
sequence | Reshape that joins two | float[B,N,4] x => float y: s = Constant<value_ints=[-1,4]>() y = Reshape(x, s)
sequence | Reshape joined and apart | float[B,N,4] x => float y: s = Constant<value_ints=[-1,4]>() r = Reshape(x, s) \
    q = Relu(r) h = Shape(x) y = Reshape(q, h)
sequence | Expand by a shape | float[1,1,4] x, float[2,N,4] o => float y: s = Shape(o) y = Expand(x, s)
sequence | Expand of itself | float[1,N] x => float y: s = Constant<value_ints=[3,1]>() y = Expand(x, s)
sequence | Tile of it | float[N,4] x => float y: t = Constant<value_ints=[3,1]>() y = Tile(x, t)
sequence | Tile by it | float[1,4] x, float[N,4] o => float y: s = Shape(o) z = Constant<value_ints=[0]>() \
    one = Constant<value_ints=[1]>() n = Slice(s, z, one) t = Concat<axis=0>(n, one) y = Tile(x, t)
sequence | TopK along it | float[2,N] x => float y: k = Constant<value_ints=[3]>() y, i = TopK<axis=1>(x, k) | 3<=N<=8
sequence | CumSum | float[2,N] x => float y: a = Constant<value_int=1>() y = CumSum(x, a)
sequence | CumSum reverse and exclusive | float[2,N] x => float y: a = Constant<value_int=1>() \
    y = CumSum<exclusive=1, reverse=1>(x, a)
sequence | ReduceSum over it | float[2,N,4] x => float y: a = Constant<value_ints=[1]>() y = ReduceSum(x, a)
sequence | ReduceMean over it | float[2,N,4] x => float y: y = ReduceMean<axes=[1], keepdims=0>(x)
sequence | ReduceMax over it | float[2,N,4] x => float y: y = ReduceMax<axes=[1], keepdims=0>(x)
sequence | ReduceProd over it | float[2,N,4] x => float y: y = ReduceProd<axes=[1], keepdims=0>(x)
sequence | ReduceL2 over it | float[2,N,4] x => float y: y = ReduceL2<axes=[1], keepdims=0>(x)
sequence | ReduceLogSumExp over it | float[2,N,4] x => float y: y = ReduceLogSumExp<axes=[1], keepdims=0>(x)
sequence | ReduceSumSquare over it | float[2,N,4] x => float y: y = ReduceSumSquare<axes=[1], keepdims=0>(x)
sequence | ReduceMean over all | float[B,N,4] x => float y: y = ReduceMean<keepdims=0>(x)
sequence | ArgMax along it | float[2,N,4] x => int64 y: y = ArgMax<axis=1, keepdims=0>(x)
sequence | ArgMax, the last | float[2,N,4] x => int64 y: y = ArgMax<axis=1, select_last_index=1>(x)
sequence | Hardmax along it | float[2,N] x => float y: y = Hardmax<axis=1>(x)
sequence | Where with a mask | bool[1,1,N] m, float[2,N,N] x => float y: f = Constant<value_float=-1000.0>() \
    y = Where(m, x, f)
sequence | Where of a shape | float[1,1] x, float[2,N] o => float y: s = Shape(o) q = Constant<value_ints=[2]>() \
    r0 = ConstantOfShape(q) r = Cast<to=7>(r0) e = Constant<value_ints=[-1,-1]>() b = Equal(s, e) t = Where(b, r, s) \
    y = Expand(x, t)
sequence | Einsum q k' | float[2,N,3,4] q, float[2,M,3,4] k => float y: y = Einsum<equation="bqhd,bkhd->bhqk">(q, k)
sequence | Einsum over it | float[2,3,N] p, float[2,N,4] v => float y: y = Einsum<equation="bqk,bkd->bqd">(p, v)
sequence | Trilu | float[2,N,N] x => float y: y = Trilu<upper=0>(x)
sequence | Trilu of a mask of its size | float[N,4] x => float y: s = Shape(x) z = Constant<value_int=0>() \
    n = Gather(s, z) a = Constant<value_ints=[0]>() n1 = Unsqueeze(n, a) nn = Concat<axis=0>(n1, n1) \
    o = Constant<value_float=1.0>() m = Expand(o, nn) y = Trilu<upper=1>(m)
sequence | Range | float[2,N,4] x => int64 y: s = Shape(x) one = Constant<value_int=1>() n = Gather(s, one) \
    z = Constant<value_int=0>() y = Range(z, n, one)
sequence | Range of reals by a step | float[2,N,4] x => float y: s = Shape(x) one = Constant<value_int=1>() \
    n = Gather(s, one) f = Cast<to=1>(n) z = Constant<value_float=1.0>() h = Constant<value_float=0.5>() \
    y = Range(z, f, h) | refused integers or sizes
sequence | Range down | float[2,N,4] x => int64 y: s = Shape(x) one = Constant<value_int=1>() n = Gather(s, one) \
    z = Constant<value_int=-1>() y = Range(n, z, z)
sequence | Range from an offset | float[2,N,4] x => int64 y: s = Shape(x) one = Constant<value_int=1>() \
    n = Gather(s, one) o = Constant<value_int=3>() m = Add(n, o) y = Range(o, m, one)
sequence | positions gathered | float[2,N,4] x, float[8,4] w => float y: s = Shape(x) one = Constant<value_int=1>() \
    n = Gather(s, one) z = Constant<value_int=0>() r = Range(z, n, one) p = Gather(w, r) y = Add(x, p)
sequence | causal mask by Range and Less | float[2,N,N] x => float y: s = Shape(x) one = Constant<value_int=1>() \
    n = Gather(s, one) z = Constant<value_int=0>() r = Range(z, n, one) a = Constant<value_ints=[1]>() \
    c = Unsqueeze(r, a) m = LessOrEqual(r, c) f = Constant<value_float=-1000.0>() y = Where(m, x, f)
sequence | scale by the root of a size | float[2,N,4] x => float y: s = Shape(x) one = Constant<value_int=1>() \
    n = Gather(s, one) f = Cast<to=1>(n) q = Sqrt(f) y = Div(x, q)
sequence | a size as a result | float[2,N,4] x => int64 y: y = Shape(x)
sequence | Pad | float[2,N,4] x => float y: p = Constant<value_ints=[0,2,0,0,1,0]>() y = Pad(x, p)
sequence | Pad of the edge | float[2,N,4] x => float y: p = Constant<value_ints=[0,2,0,0,1,0]>() \
    y = Pad<mode="edge">(x, p)
sequence | Pad by reflection | float[2,N,4] x => float y: p = Constant<value_ints=[0,2,0,0,1,0]>() \
    y = Pad<mode="reflect">(x, p) | 3<=N<=8
sequence | Pad that cuts off | float[2,N,4] x => float y: p = Constant<value_ints=[0,-1,0,0,-1,0]>() y = Pad(x, p) | \
    3<=N<=8
sequence | Pad that turns around | float[2,N,4] x => float y: p = Constant<value_ints=[0,2,0,0,1,0]>() \
    y = Pad<mode="wrap">(x, p) | opset 19 | 2<=N<=8
sequence | LSTM | float[N,2,3] x, float[1,20,3] w, float[1,20,5] wr => float y, float h: \
    y, h = LSTM<hidden_size=5>(x, w, wr)
sequence | LSTM both ways | float[N,2,3] x, float[2,20,3] w, float[2,20,5] wr => float y, float h: \
    y, h = LSTM<hidden_size=5, direction="bidirectional">(x, w, wr)
sequence | GRU backwards | float[N,2,3] x, float[1,15,3] w, float[1,15,5] wr => float y: \
    y = GRU<hidden_size=5, direction="reverse">(x, w, wr)
sequence | RNN | float[N,2,3] x, float[1,5,3] w, float[1,5,5] wr => float y: y = RNN<hidden_size=5>(x, w, wr)
sequence | Conv | float[2,3,N] x, float[4,3,3] w => float y: y = Conv<pads=[1,1]>(x, w)
sequence | Conv, dilated | float[2,3,N] x, float[4,3,3] w => float y: y = Conv<dilations=[2]>(x, w) | 5<=N<=9
sequence | Conv, SAME with a stride | float[2,3,N] x, float[4,3,3] w => float y: \
    y = Conv<auto_pad="SAME_UPPER", strides=[2]>(x, w) | \
    refused 'auto_pad' is SAME with a stride of 2 over an open dimension
sequence | ConvTranspose | float[2,3,N] x, float[3,4,4] w => float y: y = ConvTranspose<strides=[2], pads=[1,1]>(x, w)
sequence | MaxPool | float[2,3,N] x => float y: y = MaxPool<kernel_shape=[2], strides=[2]>(x) | 2<=N<=8
sequence | MaxPool, rounding up | float[2,3,N] x => float y: y = MaxPool<kernel_shape=[2], strides=[2], \
    ceil_mode=1>(x) | 2<=N<=8
sequence | AveragePool | float[2,3,N] x => float y: y = AveragePool<kernel_shape=[3], pads=[1,1]>(x)
sequence | GlobalAveragePool | float[2,3,N] x => float y: y = GlobalAveragePool(x)
sequence | InstanceNormalization | float[2,3,N] x, float[3] w1, float[3] w2 => float y: \
    y = InstanceNormalization(x, w1, w2)
sequence | OneHot | int64[2,N] i => float y: d = Constant<value_int=9>() v = Constant<value_floats=[0.0,1.0]>() \
    y = OneHot(i, d, v)
sequence | ReverseSequence | float[N,2,3] x, int64[2] l => float y: o = Constant<value_int=1>() m = Add(l, o) \
    y = ReverseSequence<time_axis=0, batch_axis=1>(x, m)
sequence | Resize nearest | float[2,3,N] x => float y: s = Constant<value_floats=[1.0,1.0,2.0]>() \
    y = Resize<mode="nearest">(x, , s)
sequence | STFT | float[2,N,1] x => float y: h = Constant<value_int=2>() l = Constant<value_int=4>() \
    y = STFT(x, h, , l) | refused the dimension "N" cannot stay open here | 4<=N<=16
image | Conv | float[1,3,H,W] x, float[4,3,3,3] w, float[4] wb => float y: y = Conv<pads=[1,1,1,1]>(x, w, wb)
image | Conv with strides | float[1,3,H,W] x, float[4,3,3,3] w => float y: y = Conv<pads=[1,1,1,1], strides=[2,2]>(x, w)
image | Conv, SAME with a stride | float[1,3,H,W] x, float[4,3,3,3] w => float y: \
    y = Conv<auto_pad="SAME_LOWER", strides=[2,2]>(x, w) | \
    refused 'auto_pad' is SAME with a stride of 2 over an open dimension
image | Conv, depthwise | float[1,4,H,W] x, float[4,1,3,3] w => float y: y = Conv<group=4, pads=[1,1,1,1]>(x, w)
image | Conv, grouped | float[1,4,H,W] x, float[6,2,3,3] w => float y: y = Conv<group=2, pads=[1,1,1,1]>(x, w)
image | Conv, three dimensions | float[1,2,D,H,W] x, float[3,2,2,2,2] w => float y: y = Conv(x, w) | 2<=D<=5 | \
    2<=H<=5 | 2<=W<=5
image | ConvTranspose | float[1,3,H,W] x, float[3,4,2,2] w => float y: y = ConvTranspose<strides=[2,2]>(x, w)
image | ConvTranspose, pads and more | float[1,3,H,W] x, float[3,4,3,3] w => float y: \
    y = ConvTranspose<strides=[2,2], pads=[1,1,1,1], output_padding=[1,1]>(x, w)
image | ConvTranspose, dilated | float[1,3,H,W] x, float[3,4,3,3] w => float y: \
    y = ConvTranspose<strides=[2,2], dilations=[2,2]>(x, w)
image | ConvTranspose, grouped | float[1,4,H,W] x, float[4,3,3,3] w => float y: y = ConvTranspose<group=2>(x, w)
image | ConvTranspose, SAME | float[1,3,H,W] x, float[3,4,3,3] w => float y: \
    y = ConvTranspose<auto_pad="SAME_UPPER", strides=[2,2]>(x, w)
image | MaxPool | float[1,3,H,W] x => float y: y = MaxPool<kernel_shape=[2,2], strides=[2,2]>(x) | 2<=H<=8 | 2<=W<=8
image | MaxPool, SAME | float[1,3,H,W] x => float y: y = MaxPool<kernel_shape=[3,3], auto_pad="SAME_UPPER">(x)
image | MaxPool with places | float[1,3,H,W] x => float y, int64 i: \
    y, i = MaxPool<kernel_shape=[2,2], strides=[2,2]>(x) | 2<=H<=8 | 2<=W<=8
image | MaxPool, rounding up | float[1,3,H,W] x => float y: y = MaxPool<kernel_shape=[3,3], strides=[2,2], \
    ceil_mode=1>(x) | 3<=H<=8 | 3<=W<=8
image | AveragePool | float[1,3,H,W] x => float y: y = AveragePool<kernel_shape=[2,2]>(x) | 2<=H<=8 | 2<=W<=8
image | AveragePool, padded, counted | float[1,3,H,W] x => float y: \
    y = AveragePool<kernel_shape=[3,3], pads=[1,1,1,1], count_include_pad=1>(x)
image | LpPool | float[1,3,H,W] x => float y: y = LpPool<kernel_shape=[2,2]>(x) | 2<=H<=8 | 2<=W<=8
image | GlobalAveragePool | float[1,3,H,W] x => float y: y = GlobalAveragePool(x)
image | GlobalMaxPool | float[1,3,H,W] x => float y: y = GlobalMaxPool(x)
image | Resize nearest by scales | float[1,3,H,W] x => float y: s = Constant<value_floats=[1.0,1.0,2.0,2.0]>() \
    y = Resize<mode="nearest", coordinate_transformation_mode="asymmetric", nearest_mode="floor">(x, , s)
image | Resize nearest, half pixels | float[1,3,H,W] x => float y: s = Constant<value_floats=[1.0,1.0,2.0,3.0]>() \
    y = Resize<mode="nearest">(x, , s)
image | Resize linear by scales | float[1,3,H,W] x => float y: s = Constant<value_floats=[1.0,1.0,2.0,2.0]>() \
    y = Resize<mode="linear">(x, , s)
image | Resize linear by a fraction | float[1,3,H,W] x => float y: s = Constant<value_floats=[1.0,1.0,0.5,1.5]>() \
    y = Resize<mode="linear", coordinate_transformation_mode="asymmetric">(x, , s) | 2<=H<=8
image | Resize linear, corners aligned | float[1,3,H,W] x => float y: s = Constant<value_floats=[1.0,1.0,2.0,2.0]>() \
    y = Resize<mode="linear", coordinate_transformation_mode="align_corners">(x, , s)
image | Resize cubic by scales | float[1,3,H,W] x => float y: s = Constant<value_floats=[1.0,1.0,2.0,2.0]>() \
    y = Resize<mode="cubic">(x, , s)
image | Resize to fixed sizes | float[1,3,H,W] x => float y: s = Constant<value_ints=[1,3,5,6]>() \
    y = Resize<mode="linear">(x, , , s)
image | Resize to another's size | float[1,3,H,W] x, float[1,2,P,Q] o => float y: t = Shape(o) \
    two = Constant<value_ints=[2]>() four = Constant<value_ints=[4]>() z = Constant<value_ints=[0]>() \
    hw = Slice(t, two, four) u = Shape(x) nc = Slice(u, z, two) s = Concat<axis=0>(nc, hw) \
    y = Resize<mode="linear", coordinate_transformation_mode="half_pixel">(x, , , s)
image | Resize nearest to another's size | float[1,3,H,W] x, float[1,2,P,Q] o => float y: t = Shape(o) \
    two = Constant<value_ints=[2]>() four = Constant<value_ints=[4]>() z = Constant<value_ints=[0]>() \
    hw = Slice(t, two, four) u = Shape(x) nc = Slice(u, z, two) s = Concat<axis=0>(nc, hw) \
    y = Resize<mode="nearest", coordinate_transformation_mode="asymmetric", nearest_mode="floor">(x, , , s)
image | Resize to twice its own shape | float[1,3,H,W] x => float y: t = Shape(x) two = Constant<value_ints=[2]>() \
    four = Constant<value_ints=[4]>() z = Constant<value_ints=[0]>() hw = Slice(t, two, four) hw2 = Mul(hw, two) \
    nc = Slice(t, z, two) s = Concat<axis=0>(nc, hw2) y = Resize<mode="linear", \
    coordinate_transformation_mode="pytorch_half_pixel">(x, , , s)
image | Upsample | float[1,3,H,W] x => float y: s = Constant<value_floats=[1.0,1.0,2.0,2.0]>() \
    y = Upsample<mode="nearest">(x, s) | opset 9
image | BatchNormalization | float[1,3,H,W] x, float[3] w1, float[3] w2, float[3] w3 => float y: a = Abs(w3) \
    y = BatchNormalization(x, w1, w2, w3, a)
image | InstanceNormalization | float[1,3,H,W] x, float[3] w1, float[3] w2 => float y: \
    y = InstanceNormalization(x, w1, w2)
image | GroupNormalization | float[1,4,H,W] x, float[4] w1, float[4] w2 => float y: \
    y = GroupNormalization<num_groups=2>(x, w1, w2) | opset 21
image | GroupNormalization as exporters write it | float[N,4,H,W] x, float[2] w1, float[2] w2, float[4,1,1] w => \
    float y: s = Constant<value_ints=[0,2,-1]>() r = Reshape(x, s) i = InstanceNormalization(r, w1, w2) t = Shape(x) \
    q = Reshape(i, t) y = Mul(q, w)
image | LRN | float[1,5,H,W] x => float y: y = LRN<size=3>(x)
image | MeanVarianceNormalization | float[1,3,H,W] x => float y: y = MeanVarianceNormalization<axes=[2,3]>(x) | 2<=H<=8
image | LpNormalization | float[1,3,H,W] x => float y: y = LpNormalization<axis=1>(x)
image | DepthToSpace | float[1,8,H,W] x => float y: y = DepthToSpace<blocksize=2>(x)
image | DepthToSpace, CRD | float[1,8,H,W] x => float y: y = DepthToSpace<blocksize=2, mode="CRD">(x)
image | SpaceToDepth | float[1,2,4,W] x => float y: y = SpaceToDepth<blocksize=1>(x)
image | Pad | float[1,3,H,W] x => float y: p = Constant<value_ints=[0,0,1,2,0,0,2,1]>() y = Pad(x, p)
image | Pad by reflection | float[1,3,H,W] x => float y: p = Constant<value_ints=[0,0,1,1,0,0,1,1]>() \
    y = Pad<mode="reflect">(x, p) | 2<=H<=8 | 2<=W<=8
image | Concat of channels | float[1,3,H,W] a, float[1,2,H,W] b => float y: y = Concat<axis=1>(a, b)
image | Split of channels | float[1,4,H,W] x => float a, float b: a, b = Split<axis=1>(x)
image | PRelu | float[1,3,H,W] x, float[3,1,1] w => float y: y = PRelu(x, w)
image | ArgMax of channels | float[1,3,H,W] x => int64 y: y = ArgMax<axis=1>(x)
image | Softmax of channels | float[1,3,H,W] x => float y: y = Softmax<axis=1>(x)
image | ReduceMean | float[1,3,H,W] x => float y: y = ReduceMean<axes=[2,3]>(x)
image | Flatten of pixels | float[1,3,H,W] x => float y: s = Constant<value_ints=[1,3,-1]>() r = Reshape(x, s) \
    y = Transpose<perm=[0,2,1]>(r)
image | Transpose | float[1,3,H,W] x => float y: y = Transpose<perm=[0,2,3,1]>(x)
image | Slice of every second pixel | float[1,3,H,W] x => float y: b = Constant<value_ints=[0,0]>() \
    e = Constant<value_ints=[2147483647,2147483647]>() a = Constant<value_ints=[2,3]>() \
    s = Constant<value_ints=[2,2]>() y = Slice(x, b, e, a, s)
image | GridSample | float[1,2,H,W] x, float[1,P,Q,2] g => float y: y = GridSample(x, g)
control | If that reads a size | bool c, float[N,4] x => float y: s = Shape(x) r = ReduceSum<keepdims=0>(x) y = If(c) \
    <then_branch = t () => (float a) { q = Cast<to=1>(s) a = ReduceSum<keepdims=0>(q) }, else_branch = f () => \
    (float b) { b = Neg(r) }>
control | If by a size | float[N,4] x => float y: s = Shape(x) z = Constant<value_int=0>() n = Gather(s, z) \
    five = Constant<value_int=5>() c = Less(n, five) r = ReduceSum<keepdims=0>(x) y = If(c) <then_branch = t () => \
    (float a) { a = Sin(r) }, else_branch = f () => (float b) { b = Neg(r) }>
control | Loop as often as a size | float[N,4] x => float y: s = Shape(x) z = Constant<value_int=0>() \
    n = Gather(s, z) r = ReduceSum<keepdims=0>(x) y = Loop(n, , r) <body = t (int64 i, bool ci, float v) => \
    (bool co, float u) { co = Identity(ci) u = Sin(v) }>
control | If over open sizes | bool c, float[N,4] x => float y: y = If(c) <then_branch = t () => (float a) \
    { a = Neg(x) }, else_branch = f () => (float b) { b = Abs(x) }>
control | Loop over open sizes | int64 n, float[N,4] x => float y: y = Loop(n, , x) \
    <body = t (int64 i, bool ci, float[N,4] v) => (bool co, float[N,4] u) { co = Identity(ci) u = Sin(v) }>
control | Scan over an open size | float[N,4] x, float[4] h => float y, float z: y, z = Scan(h, x) \
    <num_scan_inputs=1, body = t (float[4] a, float[4] b) => (float[4] c, float[4] d) { e = Add(a, b) c = Tanh(e) \
    d = Identity(c) }> | refused the dimension "N" cannot stay open here
nothing | MatMul of no rows | float[3,4] m => float y: s = Constant<value_ints=[0,3]>() e = ConstantOfShape(s) \
    y = MatMul(e, m)
nothing | MatMul of what is cut to nothing | float[2,3] x, float[3,4] m => float y: z = Constant<value_ints=[0]>() \
    v = Slice(x, z, z) y = MatMul(v, m)
nothing | ReduceSum over no rows | float[3,4] m, float[4] b => float y: s = Constant<value_ints=[0,3]>() \
    e = ConstantOfShape(s) p = MatMul(e, m) z = Constant<value_ints=[0]>() r = ReduceSum<keepdims=0>(p, z) y = Add(r, b)
nothing | Gemm over nothing | float[3,4] m, float[5] b => float y: s = Constant<value_ints=[4,0]>() \
    e = ConstantOfShape(s) n = MatMul(m, e) t = Constant<value_ints=[0,5]>() f = ConstantOfShape(t) y = Gemm(n, f, b)
nothing | If with a branch of no rows | bool c, float[2,3] x, float[3,4] m => float y: y = If(c) <then_branch = t () \
    => (float a) { z = Constant<value_ints=[0]>() v = Slice(x, z, z) p = MatMul(v, m) a = ReduceSum<keepdims=0>(p, z) \
    }, else_branch = f () => (float b) { q = MatMul(x, m) o = Constant<value_ints=[0]>() \
    b = ReduceSum<keepdims=0>(q, o) }>
image | Where, Greater | float[1,3,H,W] a, float[1,3,H,W] b => float y: c = Greater(a, b) y = Where(c, a, b)
"""


class Skipped(Exception):
    """The oracle has no answer."""


class Row:
    def __init__(self, line):
        self.group, self.name, graph, *rest = [part.strip() for part in line.split(" | ")]
        self.refused, self.opset, self.dims = "", OPSET, {}
        for part in rest:
            if part.startswith("refused"): self.refused = part[8:].strip()
            elif part.startswith("opset"): self.opset = int(part[6:])
            else:
                least, letter, most = re.fullmatch(r"(?:(\d+)<=)?([A-Z])<=(\d+)", part).groups()
                self.dims[letter] = (int(least or 1), int(most))
        head, nodes = graph.split(": ", 1)
        for letter in re.findall(r"\b[A-Z]\b", head): self.dims.setdefault(letter, (1, GREATEST))
        self.text = "g (%s) => (%s) { %s }" % (*[part.strip() for part in head.split("=>")], nodes)
        self.operators = re.findall(r"= (\w+)\s*[<(]", nodes)

    def subject(self):
        """The operator that the row is about: that of its name, else its last one."""
        word = re.match(r"\w*", self.name).group()
        return word if word in self.operators else self.operators[-1]

    def model(self, random):
        graph = onnx.parser.parse_graph(self.text)
        for i in [i for i in graph.input if i.name.startswith("w")]:
            shape = [d.dim_value for d in i.type.tensor_type.shape.dim]
            graph.initializer.append(numpy_helper.from_array(random.standard_normal(shape).astype(np.float32), i.name))
            graph.input.remove(i)
        model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", self.opset)])
        model.ir_version = 8
        return model

    def sizes(self):
        """The ends of each range and one size between them, all letters at once, and each letter apart."""
        ends = [{k: v[i] for k, v in self.dims.items()} for i in (0, 1)]
        middle = [{k: min(low + j, most) for j, (k, (low, most)) in enumerate(sorted(self.dims.items()), 2)}]
        return ends + middle


def array(value, sizes, random):
    t = value.type.tensor_type
    shape = [d.dim_value if d.HasField("dim_value") else sizes[d.dim_param] for d in t.shape.dim]
    kind = onnx.helper.tensor_dtype_to_np_dtype(t.elem_type)
    if kind == np.float32 or kind == np.float64: return random.standard_normal(shape).astype(kind)
    if kind == np.bool_: return random.integers(0, 2, shape).astype(kind)
    return random.integers(0, min(sizes.values(), default=2), shape).astype(kind)


def run(command):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300, errors="replace")


def wanted_of(model, inputs):
    if onnxruntime is None: return ReferenceEvaluator(model).run(None, inputs)
    quiet = onnxruntime.SessionOptions()
    quiet.log_severity_level = 4
    return onnxruntime.InferenceSession(model.SerializeToString(), quiet, providers=["CPUExecutionProvider"]).run(None,
        inputs)


def compare(row, model, work, sizes, random):
    inputs = {i.name: array(i, sizes, random) for i in model.graph.input}
    for i, x in enumerate(inputs.values()): np.save(os.path.join(work, "in%d.npy" % i), x)
    outputs = [os.path.join(work, "out%d.npy" % i) for i in range(len(model.graph.output))]
    try:
        wanted = wanted_of(model, inputs)
    except Exception as e:
        raise Skipped("%s: %s" % (type(e).__name__, str(e)[:200]))
    names = re.findall(r"\b([A-Z])\b", row.text.split("=>")[0])
    order = sorted(set(names), key=names.index)
    result = run([os.path.join(work, "m")] + ["%s=%d" % (n, sizes[n]) for n in order] +
                 [os.path.join(work, "in%d.npy" % i) for i in range(len(inputs))] + outputs)
    if result.returncode != 0:
        return "%s: the program ended with status %d: %s" % (sizes, result.returncode, result.stdout.strip()[:100])
    for path, w in zip(outputs, wanted):
        found = np.load(path)
        if found.shape != w.shape: return "%s: %s instead of %s" % (sizes, found.shape, w.shape)
        if found.dtype.kind != w.dtype.kind: return "%s: %s instead of %s" % (sizes, found.dtype, w.dtype)
        if not np.allclose(found, w, rtol=RTOL, atol=ATOL): return "%s: other numbers" % sizes
    return ""


def judge(program, row, work):
    os.makedirs(work, exist_ok=True)
    try:
        return verdict(program, row, work)
    except Skipped as e:
        return e
    except Exception as e:
        return "the row itself: %s: %s" % (type(e).__name__, str(e)[:300])


def verdict(program, row, work):
    random = np.random.default_rng(7)
    model = row.model(random)
    onnx.save(model, os.path.join(work, "m.onnx"))
    options = [o for k, (low, most) in row.dims.items() for o in ("--dim", "%d<=%s<=%d" % (low, k, most))]
    result = run([program, os.path.join(work, "m.onnx"), "-o", os.path.join(work, "m.c"), "--testbench"] + options)
    if result.returncode == 1 and row.refused:
        return "" if row.refused in result.stdout else "refused otherwise: " + result.stdout.strip()
    if result.returncode != 0: return "refused: " + result.stdout.strip()
    if row.refused: return "it is not refused any more"
    result = run(os.environ.get("CC", "cc").split() + ["-std=c99", "-O0", "-w", "-I" + os.path.join(ROOT, "runtime"),
                                                       os.path.join(work, "m.c"),
                                                       os.path.join(work, "m_main.c"), "-lm", "-o",
                                                       os.path.join(work, "m")])
    if result.returncode != 0: return "C does not build: " + result.stdout.strip()[:300]
    for sizes in row.sizes():
        why = compare(row, model, work, sizes, random)
        if why: return why
    return ""


RECORDED = os.path.join(ROOT, "..", "shared", "models", "mlperf-tiny")
GRID = {np.dtype(np.int8): 0, np.dtype(np.float32): 1e-5}


def recorded_batch(program, name, work):
    """A recorded TFLite network over an open batch: the inputs give together the results of each alone."""
    os.makedirs(work, exist_ok=True)
    names = [os.path.join(work, n) for n in ("m.c", "m_main.c", "m", "in.npy", "out.npy")]
    result = run([program, os.path.join(RECORDED, name + ".tflite"), "-o", names[0], "--name", "m", "--testbench",
                  "--dim", "batch<=4"])
    if result.returncode != 0: return "refused: " + result.stdout.strip()
    result = run(os.environ.get("CC", "cc").split() + ["-std=c99", "-O1", "-w", "-I" + os.path.join(ROOT, "runtime"),
                                                       names[0], names[1], "-lm", "-o", names[2]])
    if result.returncode != 0: return "C does not build: " + result.stdout.strip()[:300]
    for batch in (1, 3, 4):
        x, y = (np.concatenate([np.load(os.path.join(RECORDED, "%s.%s%d.npy" % (name, kind, i)))
                                for i in range(batch)]) for kind in ("in", "out"))
        np.save(names[3], x)
        result = run([names[2], "batch=%d" % batch, names[3], names[4]])
        if result.returncode != 0:
            return ("batch=%d: the program ended with status %d: %s"
                    % (batch, result.returncode, result.stdout.strip()[:100]))
        found = np.load(names[4])
        if found.shape != y.shape or np.abs(found.astype(float) - y).max() > GRID[y.dtype] * max(1, np.abs(y).max()):
            return "batch=%d: other numbers" % batch
    return ""


BEGIN = "<!-- Made by tests/open.py; not to be edited. -->"


def table(rows):
    """What stays open, operator by operator; in brackets what does not."""
    rows = [r for r in rows if r.dims]
    lines = [BEGIN, "## Dimensions that stay open", "", "What keeps a dimension open with `--dim 'N<=8'`: each is a "
             "row of `tests/open.py`, run at several sizes beside onnxruntime.",
             "Of those in the last line the dimension has to be fixed.", "", "| open | rows | operators |",
             "|---|---|---|"]
    for group in dict.fromkeys(r.group for r in rows):
        some = [r for r in rows if r.group == group and not r.refused]
        lines.append("| %s | %d | %s |" % (group, len(some), ", ".join(sorted({r.subject() for r in some}))))
    no = [r for r in rows if r.refused]
    lines.append("| refused | %d | %s |" % (len(no), "; ".join("%s (%s)" % (r.name, r.group) for r in no)))
    return "\n".join(lines) + "\n"


def with_table(text, rows):
    return text.split(BEGIN)[0].rstrip("\n") + "\n\n" + table(rows)


def main(arguments):
    support = arguments.pop(arguments.index("--support") + 1) if "--support" in arguments else None
    arguments = [a for a in arguments if a != "--support"]
    program = os.path.join(arguments[0], "loopwright")
    pattern = re.compile(arguments[1] if len(arguments) > 1 else "")
    rows = [Row(line) for line in ROWS.strip().splitlines() if line.strip()]
    if support:
        text = open(support).read()
        with open(support, "w") as f: f.write(with_table(text, rows))
    is_current = with_table(open(os.path.join(ROOT, "docs/SUPPORT.md")).read(),
                            rows) == open(os.path.join(ROOT, "docs/SUPPORT.md")).read()
    rows = [r for r in rows if pattern.search(r.group + " " + r.name)]
    place = lambda r: os.path.join(arguments[0], "open", re.sub(r"\W+", "-", r.group + " " + r.name))
    with ThreadPoolExecutor(2) as pool:
        whys = list(pool.map(lambda r: judge(program, r, place(r)), rows))
    recorded = [m for m in ("ad01_int8", "ad01_fp32", "kws_ref_model", "str_ww_ref_model", "pretrainedResnet_quant")
                if os.path.exists(os.path.join(RECORDED, m + ".tflite"))]
    for name in [m for m in recorded if pattern.search("recorded " + m)]:
        whys.append(recorded_batch(program, name, os.path.join(arguments[0], "open", name)))
        rows.append(Row("recorded | %s | => : y = Batch(x)" % name))
    for row, why in zip(rows, whys):
        print("%s %s, %s%s" % ("skip" if isinstance(why, Skipped) else "not ok" if why else "ok", row.group, row.name,
                               ": %s" % why if why else ""))
    print("ok the table in SUPPORT.md" if is_current else "not ok the table in SUPPORT.md: is not that of these rows; "
          "--support docs/SUPPORT.md writes it")
    skipped = sum(isinstance(w, Skipped) for w in whys)
    bad = sum(map(bool, whys)) - skipped + (not is_current)
    print("%d passed, %d failed, %d skipped" % (len(rows) + 1 - bad - skipped, bad, skipped))
    return bad > 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
