# SPDX-License-Identifier: MIT
"""Records what the reference kernels of TensorFlow Lite Micro give: models of one operator, random inputs, their
outputs. What it does not have comes from TensorFlow Lite's reference kernels.

    python3 tests/tflite/vectors.py [--cases N] [--into DIR] [OPERATOR...]

Needs the packages tflite-micro, ai-edge-litert (its schema), numpy.

Writes DIR/OPERATOR.vec (tests/tflite), from fixed seeds: records of little-endian 32-bit lengths and bytes, each

    model, number of inputs, every input, number of outputs, every output

in which inputs are only those that are no constants of the model. Models with variables are run several times: their
inputs and outputs follow one another, run by run. tests/unit/test_tflite_ops.c reads them.
"""
import argparse
import os
import struct
import sys

import flatbuffers
import numpy as np
from flatbuffers import flexbuffers
from ai_edge_litert import interpreter as lite
from ai_edge_litert import schema_py_generated as s
from tflite_micro.python.tflite_micro import runtime

CASES = 20
HERE = os.path.dirname(os.path.abspath(__file__))
TYPES = {np.dtype(np.float32): s.TensorType.FLOAT32, np.dtype(np.int8): s.TensorType.INT8,
         np.dtype(np.int32): s.TensorType.INT32,
         np.dtype(np.int64): s.TensorType.INT64, np.dtype(np.bool_): s.TensorType.BOOL,
         np.dtype(np.int16): s.TensorType.INT16,
         np.dtype(np.float16): s.TensorType.FLOAT16, np.dtype(np.uint8): s.TensorType.UINT8,
         np.dtype(np.uint32): s.TensorType.UINT32, np.dtype(np.uint64): s.TensorType.UINT64}


class Operand:
    """A tensor of the model: with data it is a constant; feed is the value of an input."""

    def __init__(self, shape, dtype=np.int8, scale=None, zero=0, data=None, feed=None, scales=None, axis=0, kind=None):
        self.shape, self.dtype, self.data, self.feed = list(shape), np.dtype(dtype), data, feed
        self.kind, self.sparse, self.variable = TYPES[self.dtype] if kind is None else kind, None, False
        self.signature, self.blocks = None, None        # blocks: their size, and the operand of their scales
        self.scales = scales if scales is not None else None if scale is None else [scale]
        self.zeros, self.axis = [zero] * (len(self.scales) if self.scales is not None else 0), axis


def pack_halves(values):
    """int4: two in a byte, the first below."""
    v = np.asarray(values, np.int64).ravel() & 15
    v = np.append(v, np.zeros(len(v) % 2, np.int64)).reshape(-1, 2)
    return (v[:, 0] | v[:, 1] << 4).astype(np.uint8)


def numbers(values, bits):
    """A vector of indices, and the tag of its union."""
    tag = {32: "Int32Vector", 16: "Uint16Vector", 8: "Uint8Vector"}[bits]
    v = getattr(s, tag + "T")()
    v.values = np.array(values, {32: np.int32, 16: np.uint16, 8: np.uint8}[bits])
    return getattr(s.SparseIndexVector, tag), v


def sparse_form(values, block, order, bits):
    """Of a matrix: its sparsity and the values that it holds. Blocks of rows and columns are dense; the second level,
    of blocks, is sparse."""
    cells = values.reshape(values.shape[0] // block[0], block[0], values.shape[1] // block[1], block[1]).transpose(0,
        2, 1, 3)
    cells = cells if order == [0, 1] else cells.transpose(1, 0, 2, 3)
    segments, indices, kept = [0], [], []
    for row in cells:
        found = [j for j, cell in enumerate(row) if np.any(cell)]
        indices += found
        segments.append(len(indices))
        kept += [row[j] for j in found]
    outer, inner = s.DimensionMetadataT(), s.DimensionMetadataT()
    outer.format, outer.denseSize, inner.format = s.DimensionType.DENSE, len(cells), s.DimensionType.SPARSE_CSR
    inner.arraySegmentsType, inner.arraySegments = numbers(segments, 32)
    inner.arrayIndicesType, inner.arrayIndices = numbers(indices, bits)
    sparsity = s.SparsityParametersT()
    sparsity.traversalOrder, sparsity.blockMap, sparsity.dimMetadata = list(order), [], [outer, inner]
    if block != (1, 1):
        sparsity.traversalOrder, sparsity.blockMap = list(order) + [2, 3], [0, 1]
        for size in block:
            level = s.DimensionMetadataT()
            level.format, level.denseSize = s.DimensionType.DENSE, size
            sparsity.dimMetadata.append(level)
    return sparsity, np.array(kept, values.dtype).ravel()


def tensor_of(t, name, buffers):
    tensor = s.TensorT()
    tensor.shape, tensor.type, tensor.name, tensor.buffer = t.shape, t.kind, name, 0
    tensor.isVariable = t.variable
    if t.signature is not None:
        tensor.shapeSignature, tensor.hasRank = t.signature, True
    if t.sparse is not None:
        tensor.sparsity = t.sparse
    if t.data is not None:
        buffer = s.BufferT()
        buffer.data = (pack_halves(t.data) if t.kind == s.TensorType.INT4
                       else np.frombuffer(np.ascontiguousarray(t.data, t.dtype).tobytes(), np.uint8))
        buffers.append(buffer)
        tensor.buffer = len(buffers) - 1
    if t.scales is not None:
        q = s.QuantizationParametersT()
        q.scale, q.zeroPoint, q.quantizedDimension = np.array(t.scales, np.float32), np.array(t.zeros, np.int64), t.axis
        tensor.quantization = q
    return tensor


def code_of(code, version, codes):
    """code: a number, or the name of a custom operator."""
    row, number = s.OperatorCodeT(), B.CUSTOM if isinstance(code, str) else code
    row.builtinCode, row.deprecatedBuiltinCode, row.version = number, min(number, 127), version
    if isinstance(code, str):
        row.customCode = code
    codes.append(row)
    return len(codes) - 1


def graph_of(operators, inputs, outputs, buffers, codes):
    """operators: (code, version, options, inputs, outputs); operands are tensors, None where absent."""
    tensors = []
    for _, _, _, read, made in list(operators) + [(0, 0, 0, inputs, outputs)]:
        tensors += [t for t in list(read) + list(made) if t is not None and not any(t is other for other in tensors)]
    tensors += [t.blocks[1] for t in tensors if t.blocks]
    place = lambda t: -1 if t is None else [t is other for other in tensors].index(True)
    graph = s.SubGraphT()
    graph.tensors, graph.operators = [tensor_of(t, "t%d" % i, buffers) for i, t in enumerate(tensors)], []
    for t, tensor in zip(tensors, graph.tensors):
        if t.blocks:
            tensor.quantization, details = s.QuantizationParametersT(), s.BlockwiseQuantizationT()
            details.blockSize, details.scales, details.zeroPoints = t.blocks[0], place(t.blocks[1]), -1
            tensor.quantization.detailsType, tensor.quantization.details = (
                s.QuantizationDetails.BlockwiseQuantization, details)
    for code, version, fields, read, made in operators:
        op = s.OperatorT()
        op.opcodeIndex, op.inputs, op.outputs = (code_of(code, version, codes), [place(t) for t in read],
                                                 [place(t) for t in made])
        if isinstance(fields, dict):
            op.customOptions = np.frombuffer(bytes(flexbuffers.Dumps(fields)), np.uint8)
        elif isinstance(fields, s.StableHLOCompositeOptionsT):
            op.builtinOptions2Type, op.builtinOptions2 = s.BuiltinOptions2.StableHLOCompositeOptions, fields
        elif fields is not None:
            op.builtinOptionsType, op.builtinOptions = getattr(s.BuiltinOptions, type(fields).__name__[:-1]), fields
        graph.operators.append(op)
    graph.inputs, graph.outputs = [place(t) for t in inputs], [place(t) for t in outputs]
    return graph


def build_graphs(graphs):
    """graphs: (operators, inputs, outputs), the first to be run."""
    buffers, codes, model = [s.BufferT()], [], s.ModelT()
    model.version, model.subgraphs = 3, [graph_of(*graph, buffers, codes) for graph in graphs]
    model.operatorCodes, model.buffers = codes, buffers
    builder = flatbuffers.Builder(1024)
    builder.Finish(model.Pack(builder), b"TFL3")
    return bytes(builder.Output())


def build(code, version, options, inputs, outputs):
    return build_graphs(
        [([(code, version, options, inputs, outputs)], [t for t in inputs if t is not None and t.data is None],
          outputs)])


def run_micro(model, feeds, outputs, runs):
    interpreter = runtime.Interpreter.from_bytes(model, arena_size=1 << 20)
    results = []
    for r in range(runs):
        for i, feed in enumerate(feeds):
            interpreter.set_input(np.array(feed if runs == 1 else feed[r], order="C"), i)
        interpreter.invoke()
        results += [np.ascontiguousarray(interpreter.get_output(i)) for i in range(len(outputs))]
    return results


def run_lite(model, feeds, outputs, runs, is_delegated=False, keeps_all=False):
    """TensorFlow Lite's own reference kernels, for operators that TensorFlow Lite Micro does not have; or XNNPACK's.
    keeps_all: each tensor has memory of its own."""
    kinds, words = lite.OpResolverType, {"experimental_preserve_all_tensors": keeps_all}
    try:
        kind = kinds.BUILTIN if is_delegated else kinds.BUILTIN_REF
        interpreter = lite.Interpreter(model_content=model, experimental_op_resolver_type=kind, **words)
    except ValueError:                                  # no reference kernel: it has another one
        interpreter = lite.Interpreter(model_content=model,
                                       experimental_op_resolver_type=kinds.BUILTIN_WITHOUT_DEFAULT_DELEGATES, **words)
    interpreter.allocate_tensors()
    results = []
    for r in range(runs):
        for detail, feed in zip(interpreter.get_input_details(), feeds):
            interpreter.set_tensor(detail["index"], np.array(feed if runs == 1 else feed[r], order="C"))
        interpreter.invoke()
        results += [np.ascontiguousarray(interpreter.get_tensor(d["index"])) for d in interpreter.get_output_details()]
    return results


def run_xnnpack(*of):
    return run_lite(*of, is_delegated=True)


def record(out, model, feeds, results, runs=1):
    fed = [f if runs == 1 else f[r] for r in range(runs) for f in feeds]
    parts = [model, len(fed)] + [f.tobytes() for f in fed] + [len(results)] + [r.tobytes() for r in results]
    for p in parts:
        out.append(struct.pack("<I", p) if isinstance(p, int) else struct.pack("<I", len(p)) + p)


# ---- Random operands -----------------------------------------------------------------------------------------------


def quant(r, low=0.002, high=0.2):
    return float(np.float32(np.exp(r.uniform(np.log(low), np.log(high))))), int(r.integers(-128, 128))


def shape_of(r, rank=None, most=6):
    return [int(n) for n in r.integers(1, most, rank if rank else r.integers(1, 5))]


def bytes_of(r, shape):
    """Often extreme values."""
    x = r.integers(-128, 128, shape)
    return np.where(r.random(shape) < 0.1, r.choice([-128, 127, 0], shape), x).astype(np.int8)


def int8(r, shape, scale=None, zero=None):
    q = quant(r)
    return Operand(shape, np.int8, q[0] if scale is None else scale, q[1] if zero is None else zero,
                   feed=bytes_of(r, shape))


def int8_out(r, shape, scale=None, zero=None):
    q = quant(r)
    return Operand(shape, np.int8, q[0] if scale is None else scale, q[1] if zero is None else zero)


def like(x, shape=None):
    return Operand(x.shape if shape is None else shape, x.dtype, x.scales[0] if x.scales else None, x.zeros[0]
                   if x.zeros else 0)


def plain(r, shape, dtype):
    if dtype == np.float32:
        return Operand(shape, dtype, feed=r.normal(0, 2, shape).astype(np.float32))
    if dtype == np.bool_:
        return Operand(shape, dtype, feed=r.random(shape) < 0.5)
    return Operand(shape, dtype, feed=r.integers(-50, 50, shape).astype(dtype))


def constant(values, dtype=np.int32):
    a = np.array(values, dtype)
    return Operand(a.shape, dtype, data=a)


def options(name, /, **fields):
    o = getattr(s, name + "T")()
    for key, value in fields.items():
        setattr(o, key, value)
    return o


def broadcast_pair(r):
    """Two shapes that broadcast, and the result's."""
    whole = shape_of(r, 4 if r.random() < 0.5 else None)
    kind = r.integers(0, 3)
    if kind == 0:
        return whole, list(whole), whole
    if kind == 1:
        return whole, [1], whole
    part = [1 if r.random() < 0.4 else n for n in whole]
    return (whole, part, whole) if r.random() < 0.5 else (part, whole, whole)


# ---- Operators -----------------------------------------------------------------------------------------------------

B = s.BuiltinOperator
ACTIVATIONS = [0, 1, 2, 3]


def binary(code, options_name, version=2, acts=True, low=0.002):
    def make(r, i):
        a, b, y = broadcast_pair(r)
        fields = {"fusedActivationFunction": ACTIVATIONS[i % 4]} if acts else {}
        return (code, version, options(options_name, **fields) if options_name else None, [int8(r, a), int8(r, b)],
                [int8_out(r, y)])
    return make


def div(r, i):
    """The reference shifts by less than 0 or more than 31 bits where the quotient is very large or small, which C
    leaves undefined."""
    code, version, fields, inputs, outputs = binary(B.DIV, "DivOptions", 2)(r, i)
    x, y = inputs
    y.shape = list(x.shape)
    outputs[0].shape = list(x.shape)
    left = np.frexp(x.scales[0] / (y.scales[0] * outputs[0].scales[0]))[1]
    pairs = []
    while len(pairs) < int(np.prod(x.shape)):
        a, b = int(r.integers(-128, 128)), int(r.integers(-128, 128))
        da, db = abs(a - x.zeros[0]), abs(b - y.zeros[0])
        # One more where -a is a power of two.
        if db and da and 0 <= (db.bit_length() - 1) + (31 - da.bit_length() - 1) - left <= 29:
            pairs.append((a, b))
    for operand, values in zip((x, y), zip(*pairs)):
        operand.feed = np.array(values, np.int8).reshape(x.shape)
    return code, version, fields, inputs, outputs


def same_scale_binary(code):
    def make(r, i):
        a, b, y = broadcast_pair(r)
        x = int8(r, a)
        return code, 2, options("MaximumMinimumOptions"), [x, int8(r, b, x.scales[0], x.zeros[0])], [like(x, y)]
    return make


def comparison(code, name):
    def make(r, i):
        a, b, y = broadcast_pair(r)
        if i % 4 == 0:
            return code, 2, options(name), [plain(r, a, np.float32), plain(r, b, np.float32)], [Operand(y, np.bool_)]
        if i % 4 == 1:
            return code, 2, options(name), [plain(r, a, np.int32), plain(r, b, np.int32)], [Operand(y, np.bool_)]
        q = quant(r)
        other = q if i % 4 == 2 else quant(r)
        return code, 2, options(name), [int8(r, a, *q), int8(r, b, *other)], [Operand(y, np.bool_)]
    return make


def unary(code, name=None, version=2, same=False, fixed=None, low=0.002, high=0.2, **fields):
    def make(r, i):
        shape = shape_of(r, most=8)
        x = int8(r, shape, *quant(r, low, high))
        y = like(x) if same else int8_out(r, shape, *fixed) if fixed else int8_out(r, shape, *quant(r))
        return code, version, options(name, **fields) if name else None, [x], [y]
    return make


def float_unary(code, name=None, signed=False):
    def make(r, i):
        x = plain(r, shape_of(r), np.float32)
        x.feed = x.feed if signed else np.abs(x.feed)
        return code, 1, options(name) if name else None, [x], [Operand(x.shape, np.float32)]
    return make


def rsqrt_sixteen(r, i):
    code, version, fields, inputs, outputs = sixteen(positive_unary(B.RSQRT))(r, i)
    x = inputs[0]
    x.scales, outputs[0].scales = ([float(np.float32(np.exp(r.uniform(-12, -2))))],
                                   [float(np.float32(np.exp(r.uniform(-9, -4))))])
    x.feed = np.where(r.random(x.shape) < 0.2, r.integers(0, 5, x.shape), r.integers(0, 32768, x.shape)).astype(
        np.int16)
    return code, 3, fields, inputs, outputs


def positive_unary(code, name=None):
    """The reference refuses negative values."""
    def make(r, i):
        shape = shape_of(r, most=8)
        q = quant(r)
        zero = int(r.integers(-128, 0))
        x = Operand(shape, np.int8, q[0], zero, feed=r.integers(zero + 1, 128, shape).astype(np.int8))
        return code, 2, options(name) if name else None, [x], [int8_out(r, shape)]
    return make


def leaky(r, i):
    shape = shape_of(r, most=8)
    return (B.LEAKY_RELU, 2, options("LeakyReluOptions", alpha=float(r.choice([0.1, 0.01, 0.3, 0.5]))),
            [int8(r, shape)], [int8_out(r, shape)])


def prelu(r, i):
    shape = shape_of(r, 4)
    alpha = int8(r, [1, 1, shape[3]])
    alpha.data = alpha.feed
    return B.PRELU, 1, None, [int8(r, shape), alpha], [int8_out(r, shape)]


def conv_scales(r, channels, per_channel):
    return [float(np.float32(v))
            for v in np.exp(r.uniform(np.log(0.001), np.log(0.05), channels if per_channel else 1))]


def conv(r, i):
    n, h, w, c, o = (int(r.integers(1, 3)), int(r.integers(4, 10)), int(r.integers(4, 10)), int(r.integers(1, 9)),
                     int(r.integers(1, 9)))
    kh, kw, sh, sw = [int(v) for v in r.integers(1, 4, 4)]
    dh, dw = (1, 1) if i % 3 else [int(v) for v in r.integers(1, 3, 2)]
    same = bool(i % 2)
    if dh > 1 or dw > 1:
        sh = sw = 1
    eh, ew = (kh - 1) * dh + 1, (kw - 1) * dw + 1
    if not same and (eh > h or ew > w):
        same = True
    oh, ow = (-(-h // sh), -(-w // sw)) if same else (-(-(h - eh + 1) // sh), -(-(w - ew + 1) // sw))
    scales, x = conv_scales(r, o, i % 4 != 0), int8(r, [n, h, w, c])
    k = Operand([o, kh, kw, c], np.int8, scales=scales, data=r.integers(-127, 128, (o, kh, kw, c)).astype(np.int8))
    bias = (Operand([o], np.int32, scales=[v * x.scales[0] for v in scales], data=r.integers(-2000, 2000, o)) if i % 5
            else None)
    y = int8_out(r, [n, oh, ow, o], float(np.float32(x.scales[0] * max(scales) * r.uniform(5, 60))))
    o_ = options("Conv2DOptions", padding=0 if same else 1, strideH=sh, strideW=sw, dilationHFactor=dh,
                 dilationWFactor=dw, fusedActivationFunction=ACTIVATIONS[i % 4])
    return B.CONV_2D, 3, o_, [x, k, bias], [y]


def depthwise(r, i):
    h, w, c, m = int(r.integers(4, 10)), int(r.integers(4, 10)), int(r.integers(1, 7)), int(r.integers(1, 3))
    kh, kw, st = [int(v) for v in r.integers(1, 4, 3)]
    dil = 2 if i % 4 == 3 else 1
    if dil > 1:
        st = 1
    same = bool(i % 2) or (kh - 1) * dil + 1 > h or (kw - 1) * dil + 1 > w
    oh, ow = (-(-h // st), -(-w // st)) if same else (-(-(h - (kh - 1) * dil) // st), -(-(w - (kw - 1) * dil) // st))
    scales, x = conv_scales(r, c * m, True), int8(r, [1, h, w, c])
    k = Operand([1, kh, kw, c * m], np.int8, scales=scales, axis=3,
                data=r.integers(-127, 128, (1, kh, kw, c * m)).astype(np.int8))
    bias = Operand([c * m], np.int32, scales=[v * x.scales[0] for v in scales], data=r.integers(-2000, 2000, c * m))
    y = int8_out(r, [1, oh, ow, c * m], float(np.float32(x.scales[0] * max(scales) * r.uniform(5, 40))))
    o_ = options("DepthwiseConv2DOptions", padding=0 if same else 1, strideH=st, strideW=st, dilationHFactor=dil,
                 dilationWFactor=dil, depthMultiplier=m,
                 fusedActivationFunction=ACTIVATIONS[i % 4])
    return B.DEPTHWISE_CONV_2D, 3, o_, [x, k, bias], [y]


def transpose_conv(r, i):
    h, w, c, o = int(r.integers(2, 6)), int(r.integers(2, 6)), int(r.integers(1, 6)), int(r.integers(1, 6))
    kh, kw, st = int(r.integers(1, 4)), int(r.integers(1, 4)), int(r.integers(1, 3))
    same = bool(i % 2)
    oh, ow = (h * st, w * st) if same else ((h - 1) * st + max(kh, st), (w - 1) * st + max(kw, st))
    if not same:
        kh, kw = max(kh, st), max(kw, st)
        oh, ow = (h - 1) * st + kh, (w - 1) * st + kw
    scales, x = conv_scales(r, o, i % 4 != 0), int8(r, [1, h, w, c])
    k = Operand([o, kh, kw, c], np.int8, scales=scales, data=r.integers(-127, 128, (o, kh, kw, c)).astype(np.int8))
    bias = (Operand([o], np.int32, scales=[v * x.scales[0] for v in scales], data=r.integers(-2000, 2000, o)) if i % 3
            else None)
    y = int8_out(r, [1, oh, ow, o], float(np.float32(x.scales[0] * max(scales) * r.uniform(5, 40))))
    return (B.TRANSPOSE_CONV, 3, options("TransposeConvOptions", padding=0 if same else 1, strideH=st, strideW=st),
            [constant([1, oh, ow, o]), k, x] + ([bias] if bias else []), [y])


def transpose_conv_stored(r, i):
    """The shape of the result is an input: the kernel takes the stored one."""
    code, version, of, inputs, outputs = transpose_conv(r, i)
    shape = np.array(outputs[0].shape, np.int32)
    return code, version, of, [Operand([4], np.int32, feed=shape)] + inputs[1:], outputs


def fully_connected(r, i):
    n, k, o = int(r.integers(1, 4)), int(r.integers(1, 30)), int(r.integers(1, 12))
    x = int8(r, [n, k])
    scales = conv_scales(r, o, i % 4 == 3)
    w = Operand([o, k], np.int8, scales=scales, data=r.integers(-127, 128, (o, k)).astype(np.int8))
    bias = (Operand([o], np.int32, scales=[v * x.scales[0] for v in scales], data=r.integers(-2000, 2000, o)) if i % 3
            else None)
    y = int8_out(r, [n, o], float(np.float32(x.scales[0] * max(scales) * r.uniform(5, 40))))
    return (B.FULLY_CONNECTED, 4, options("FullyConnectedOptions", fusedActivationFunction=ACTIVATIONS[i % 4]),
            [x, w, bias], [y])


def batch_matmul(r, i):
    lead = shape_of(r, int(r.integers(0, 3)) or 1, 4)
    m, k, n = [int(v) for v in r.integers(1, 8, 3)]
    adj_x, adj_y = bool(i & 1), bool(i & 2)
    x = int8(r, lead + ([k, m] if adj_x else [m, k]))
    w = int8(r, lead + ([n, k] if adj_y else [k, n]))
    y = int8_out(r, lead + [m, n], float(np.float32(x.scales[0] * w.scales[0] * r.uniform(20, 200))))
    return B.BATCH_MATMUL, 4, options("BatchMatMulOptions", adjX=adj_x, adjY=adj_y), [x, w], [y]


def pool(code):
    def make(r, i):
        h, w, c = int(r.integers(3, 10)), int(r.integers(3, 10)), int(r.integers(1, 6))
        fh, fw, sh, sw = [int(v) for v in r.integers(1, 4, 4)]
        same = bool(i % 2)
        oh, ow = (-(-h // sh), -(-w // sw)) if same else (-(-(h - fh + 1) // sh), -(-(w - fw + 1) // sw))
        x = int8(r, [int(r.integers(1, 3)), h, w, c])
        o = options("Pool2DOptions", padding=0 if same else 1, strideH=sh, strideW=sw, filterHeight=fh, filterWidth=fw,
                    fusedActivationFunction=ACTIVATIONS[i % 4])
        return code, 2, o, [x], [like(x, [x.shape[0], oh, ow, c])]
    return make


def softmax(r, i):
    x = int8(r, shape_of(r, int(r.integers(1, 5)), 12), *quant(r, 0.01, 0.6))
    return B.SOFTMAX, 2, options("SoftmaxOptions", beta=1.0), [x], [int8_out(r, x.shape, 1 / 256, -128)]


def reduction(code, same):
    def make(r, i):
        shape = shape_of(r, 4) if code == B.MEAN and i % 2 else shape_of(r, int(r.integers(2, 5)))
        axes = ([1, 2] if code == B.MEAN and i % 2
                else sorted(int(a) for a in r.choice(len(shape), int(r.integers(1, len(shape) + 1)), replace=False)))
        keep = bool(i % 3)
        y = [1 if d in axes else n for d, n in enumerate(shape) if keep or d not in axes]
        x = int8(r, shape)
        return (code, 2, options("ReducerOptions", keepDims=keep), [x, constant(axes)],
                [like(x, y) if same else int8_out(r, y)])
    return make


def arg(code, name):
    def make(r, i):
        shape = shape_of(r, int(r.integers(1, 5)))
        axis = int(r.integers(-len(shape), len(shape)))
        y = [n for d, n in enumerate(shape) if d != axis % len(shape)]
        return (code, 2, options(name, outputType=s.TensorType.INT32), [int8(r, shape), constant(axis)],
                [Operand(y, np.int32)])
    return make


def pad(r, i):
    shape = shape_of(r)
    pads = r.integers(0, 3, (len(shape), 2))
    x = int8(r, shape)
    return (B.PAD, 2, options("PadOptions"), [x, constant(pads)],
            [like(x, [n + int(p.sum()) for n, p in zip(shape, pads)])])


def padv2(r, i):
    shape = shape_of(r)
    pads = r.integers(0, 3, (len(shape), 2))
    x = int8(r, shape)
    v = Operand([1], np.int8, x.scales[0], x.zeros[0], data=r.integers(-128, 128, 1).astype(np.int8))
    return (B.PADV2, 2, options("PadV2Options"), [x, constant(pads), v],
            [like(x, [n + int(p.sum()) for n, p in zip(shape, pads)])])


def mirror_pad(r, i):
    mode = i % 2
    shape = shape_of(r, None, 6)
    pads = np.array([[int(r.integers(0, n + mode)) for _ in range(2)] for n in shape])
    x = int8(r, shape)
    return (B.MIRROR_PAD, 2, options("MirrorPadOptions", mode=mode), [x, constant(pads)],
            [like(x, [n + int(p.sum()) for n, p in zip(shape, pads)])])


def concat(r, i):
    shape = shape_of(r)
    axis, count = int(r.integers(-len(shape), len(shape))), int(r.integers(1, 5))
    first = int8(r, shape)
    all_ = [first]
    for _ in range(count - 1):
        part = list(shape)
        part[axis] = int(r.integers(1, 5))
        all_.append(int8(r, part, first.scales[0], first.zeros[0]))
    y = list(shape)
    y[axis] = sum(t.shape[axis] for t in all_)
    return B.CONCATENATION, 2, options("ConcatenationOptions", axis=axis), all_, [like(first, y)]


def split(r, i):
    shape = shape_of(r)
    axis, parts = int(r.integers(-len(shape), len(shape))), int(r.integers(1, 4))
    each = shape[axis]
    shape[axis] *= parts
    x = int8(r, shape)
    y = list(shape)
    y[axis] = each
    return B.SPLIT, 2, options("SplitOptions", numSplits=parts), [constant(axis), x], [like(x, y) for _ in range(parts)]


def split_v(r, i):
    shape = shape_of(r)
    axis, parts = int(r.integers(-len(shape), len(shape))), int(r.integers(1, 4))
    sizes = [int(v) for v in r.integers(1, 4, parts)]
    shape[axis] = sum(sizes)
    x = int8(r, shape)
    ys = []
    for n in sizes:
        y = list(shape)
        y[axis] = n
        ys.append(like(x, y))
    return B.SPLIT_V, 2, options("SplitVOptions", numSplits=parts), [x, constant(sizes), constant(axis)], ys


def slice_(r, i):
    shape = shape_of(r)
    begin = [int(r.integers(0, n)) for n in shape]
    size = [-1 if r.random() < 0.3 else int(r.integers(1, n - b + 1)) for n, b in zip(shape, begin)]
    x = int8(r, shape)
    return (B.SLICE, 2, options("SliceOptions"), [x, constant(begin), constant(size)],
            [like(x, [n - b if v < 0 else v for n, b, v in zip(shape, begin, size)])])


def strided_slice(r, i):
    while True:
        shape = shape_of(r)
        rank = len(shape)
        begin, end = [int(r.integers(-n - 1, n + 1)) for n in shape], [int(r.integers(-n - 1, n + 2)) for n in shape]
        step = [int(r.choice([1, 1, 2, -1, -2])) for _ in shape]
        begin_mask, end_mask = int(r.integers(0, 1 << rank)), int(r.integers(0, 1 << rank))
        shrink = int(r.integers(0, 1 << rank)) & int(r.integers(0, 1 << rank)) if i % 3 == 0 else 0
        y, index = [], []
        for d, n in enumerate(shape):
            if shrink >> d & 1:
                begin[d], step[d], begin_mask, end_mask = (int(r.integers(0, n)), 1, begin_mask & ~(1 << d),
                                                           end_mask & ~(1 << d))
                end[d] = begin[d] + 1
            b, e = None if begin_mask >> d & 1 else begin[d], None if end_mask >> d & 1 else end[d]
            index.append(slice(b, e, step[d]))
        found = np.zeros(shape)[tuple(index)].shape
        y = [n for d, n in enumerate(found) if not shrink >> d & 1]
        if 0 not in found:
            break
    x = int8(r, shape)
    o = options("StridedSliceOptions", beginMask=begin_mask, endMask=end_mask, shrinkAxisMask=shrink)
    return B.STRIDED_SLICE, 2, o, [x, constant(begin), constant(end), constant(step)], [like(x, y)]


MOVED = [np.float32, np.int8, np.int16, np.int32, np.int64, np.bool_]


def moved(r, shape, i):
    """Of each type that moves, in turn; int8 has a scale."""
    kind = MOVED[i % len(MOVED)]
    return int8(r, shape) if kind == np.int8 else plain(r, shape, kind)


def strided_slice_at(r, i):
    """Indices that are inputs, from far below the dimension to its last element; behind it the reference reads past
    the row. In every third case constants are packed with them, of parts of other dimensions."""
    shape = shape_of(r, int(r.integers(1, 5)))
    x, at, packs = moved(r, shape, i), [int(r.integers(-n - 3, n)) for n in shape], i % 3 == 2
    begin, end, step, y = list(at), [0] * len(shape), [1] * len(shape), []
    masks = dict(beginMask=0, endMask=0, shrinkAxisMask=0)
    rest = ["index", "first", "whole", "part" if packs else "whole"]
    kinds = ["index" if d == i % len(shape) else str(r.choice(rest)) for d in range(len(shape))]
    for d, kind in enumerate(kinds):
        if kind == "index":
            masks["shrinkAxisMask"] |= 1 << d
        elif kind == "first":                           # the masked begin of a dimension that is dropped
            masks["shrinkAxisMask"] |= 1 << d
            masks["beginMask"] |= 1 << d
        elif kind == "whole":
            masks["beginMask"] |= 1 << d
            masks["endMask"] |= 1 << d
            y.append(shape[d])
        else:
            begin[d] = int(r.integers(0, shape[d]))
            end[d] = int(r.integers(begin[d] + 1, shape[d] + 1))
            y.append(end[d] - begin[d])
    fields, z = options("StridedSliceOptions", **masks), like(x, y)
    rows = [Operand([len(shape)], np.int32), constant(end), constant(step)]
    if not packs:
        rows[0].feed = np.array(begin, np.int32)
        return B.STRIDED_SLICE, 2, fields, [x] + rows, [z]
    numbers = [Operand([], np.int32, feed=np.array(begin[d], np.int32)) if kind == "index"
               else Operand([], np.int32, data=np.array(begin[d])) for d, kind in enumerate(kinds)]
    return packed_begin(r, x, numbers, rows[0], (B.STRIDED_SLICE, 2, fields, [x] + rows, [z]))


def packed_begin(r, x, numbers, row, operator):
    """The operator's begins are numbers, some of them inputs, that another operator packs; it is run several times."""
    fed = [t for t in numbers if t.data is None]
    for t in fed:
        t.feed = [t.feed] * RUNS
    pack = B.PACK, 1, options("PackOptions", valuesCount=len(numbers), axis=0), numbers, [row]
    return [([pack, operator], [repeated(r, x)] + fed, operator[4])]


def slice_at(r, i):
    """Begins that are inputs; in every third case constants are packed with them, and sizes of -1 are behind those."""
    shape = shape_of(r, int(r.integers(1, 5)))
    x, packs, row = moved(r, shape, i), i % 3 == 2, Operand([len(shape)], np.int32 if i % 4 else np.int64)
    if packs:
        row = Operand([len(shape)], np.int32)
    begin = [int(r.integers(0, n)) for n in shape]
    is_fed = [not packs or d == i % len(shape) or r.random() < 0.5 for d in range(len(shape))]
    many = [int(r.integers(1, n - b + 1)) for n, b in zip(shape, begin)]
    size = [n if fed or r.random() < 0.5 else -1 for n, fed in zip(many, is_fed)]
    y = [shape[d] - begin[d] if n < 0 else n for d, n in enumerate(size)]
    operator = B.SLICE, 2, options("SliceOptions"), [x, row, constant(size, row.dtype)], [like(x, y)]
    if not packs:
        row.feed = np.array(begin, row.dtype)
        return operator
    numbers = [Operand([], np.int32, feed=np.array(b, np.int32)) if fed else Operand([], np.int32, data=np.array(b))
               for b, fed in zip(begin, is_fed)]
    return packed_begin(r, x, numbers, row, operator)


def gather(r, i):
    shape = shape_of(r, None, 5)
    axis = int(r.integers(0, len(shape)))
    picked = shape_of(r, int(r.integers(1, 3)), 4) if len(shape) < 4 else [3]
    index = r.integers(0, shape[axis], picked).astype(np.int32)
    x = int8(r, shape)
    indices = Operand(picked, np.int32, data=index if i % 2 else None, feed=index)
    return (B.GATHER, 2, options("GatherOptions", axis=axis), [x, indices],
            [like(x, shape[:axis] + picked + shape[axis + 1:])])


def gather_nd(r, i):
    shape = shape_of(r, None, 5)
    q = int(r.integers(1, len(shape) + 1))
    count = int(r.integers(1, 5))
    index = np.stack([r.integers(0, n, count) for n in shape[:q]], 1).astype(np.int32)
    x = int8(r, shape)
    return (B.GATHER_ND, 2, options("GatherNdOptions"), [x, Operand([count, q], np.int32, feed=index)],
            [like(x, [count] + shape[q:])])


def reshape(r, i):
    shape = shape_of(r)
    x = int8(r, shape)
    y = [int(np.prod(shape[:1])), int(np.prod(shape[1:]))]
    return B.RESHAPE, 1, options("ReshapeOptions", newShape=y), [x, constant([y[0], -1])], [like(x, y)]


def squeeze(r, i):
    x = int8(r, [1] + shape_of(r, 2) + [1])
    return (B.SQUEEZE, 1, options("SqueezeOptions", squeezeDims=[0] if i % 2 else [-1]), [x],
            [like(x, x.shape[1:] if i % 2 else x.shape[:3])])


def expand_dims(r, i):
    x = int8(r, shape_of(r, int(r.integers(1, 4))))
    axis = int(r.integers(-len(x.shape) - 1, len(x.shape) + 1))
    y = list(x.shape)
    y.insert(axis if axis >= 0 else axis + len(y) + 1, 1)
    return B.EXPAND_DIMS, 1, options("ExpandDimsOptions"), [x, constant(axis)], [like(x, y)]


def transpose(r, i):
    shape = shape_of(r)
    perm = [int(v) for v in r.permutation(len(shape))]
    x = int8(r, shape)
    return B.TRANSPOSE, 2, options("TransposeOptions"), [x, constant(perm)], [like(x, [shape[p] for p in perm])]


def pack(r, i):
    shape, count = shape_of(r, int(r.integers(1, 4))), int(r.integers(1, 4))
    axis = int(r.integers(-len(shape) - 1, len(shape) + 1))
    first = int8(r, shape)
    y = list(shape)
    y.insert(axis if axis >= 0 else axis + len(y) + 1, count)
    return (B.PACK, 2, options("PackOptions", valuesCount=count, axis=axis),
            [first] + [int8(r, shape, first.scales[0], first.zeros[0]) for _ in range(count - 1)], [like(first, y)])


def unpack(r, i):
    shape = shape_of(r, int(r.integers(2, 5)), 5)
    axis = int(r.integers(-len(shape), len(shape)))
    x = int8(r, shape)
    y = list(shape)
    del y[axis]
    return (B.UNPACK, 2, options("UnpackOptions", num=shape[axis], axis=axis), [x],
            [like(x, y) for _ in range(shape[axis])])


def space_to_depth(r, i):
    b, h, w, c = int(r.integers(2, 4)), int(r.integers(1, 4)), int(r.integers(1, 4)), int(r.integers(1, 4))
    x = int8(r, [1, h * b, w * b, c])
    return B.SPACE_TO_DEPTH, 2, options("SpaceToDepthOptions", blockSize=b), [x], [like(x, [1, h, w, c * b * b])]


def depth_to_space(r, i):
    b, h, w, c = int(r.integers(2, 4)), int(r.integers(1, 4)), int(r.integers(1, 4)), int(r.integers(1, 4))
    x = int8(r, [1, h, w, c * b * b])
    return B.DEPTH_TO_SPACE, 2, options("DepthToSpaceOptions", blockSize=b), [x], [like(x, [1, h * b, w * b, c])]


def space_to_batch(r, i):
    bh, bw = int(r.integers(1, 4)), int(r.integers(1, 4))
    h, w, c = int(r.integers(1, 4)) * bh, int(r.integers(1, 4)) * bw, int(r.integers(1, 4))
    top = left = 0                   # the reference fills paddings with a value that it never sets
    x = int8(r, [1, h - top, w - left, c])
    return (B.SPACE_TO_BATCH_ND, 3, options("SpaceToBatchNDOptions"),
            [x, constant([bh, bw]), constant([[top, 0], [left, 0]])], [like(x, [bh * bw, h // bh, w // bw, c])])


def batch_to_space(r, i):
    bh, bw = int(r.integers(1, 4)), int(r.integers(1, 4))
    h, w, c = int(r.integers(1, 4)), int(r.integers(1, 4)), int(r.integers(1, 4))
    top, left = int(r.integers(0, min(2, h * bh))), int(r.integers(0, min(2, w * bw)))
    x = int8(r, [bh * bw, h, w, c])
    return (B.BATCH_TO_SPACE_ND, 2, options("BatchToSpaceNDOptions"),
            [x, constant([bh, bw]), constant([[top, 0], [left, 0]])], [like(x, [1, h * bh - top, w * bw - left, c])])


def resize(code, name):
    def make(r, i):
        x = int8(r, [int(r.integers(1, 3))] + [int(v) for v in r.integers(1, 6, 3)])
        h, w = int(r.integers(1, 9)), int(r.integers(1, 9))
        o = options(name, alignCorners=i % 3 == 1, halfPixelCenters=i % 3 == 2)
        return code, 3, o, [x, constant([h, w])], [like(x, [x.shape[0], h, w, x.shape[3]])]
    return make


def broadcast_to(r, i):
    shape = shape_of(r)
    part = [1 if r.random() < 0.5 else n for n in shape]
    x = int8(r, part)
    return B.BROADCAST_TO, 2, options("BroadcastToOptions"), [x, constant(shape)], [like(x, shape)]


def cast(r, i):
    kinds = [np.int8, np.float32, np.int32, np.int8]
    a, b = kinds[i % 3], kinds[(i // 3) % 2 + 1]
    shape = shape_of(r)
    x = Operand(shape, a, feed=bytes_of(r, shape)) if a == np.int8 else plain(r, shape, a)
    return (B.CAST, 1, options("CastOptions", inDataType=TYPES[np.dtype(a)], outDataType=TYPES[np.dtype(b)]), [x],
            [Operand(shape, b)])


def quantize(r, i):
    shape = shape_of(r)
    if i % 2:
        return B.QUANTIZE, 1, options("QuantizeOptions"), [plain(r, shape, np.float32)], [int8_out(r, shape)]
    return B.QUANTIZE, 1, options("QuantizeOptions"), [int8(r, shape)], [int8_out(r, shape)]


def unsigned_operand(r, shape, feed=True):
    """Stored without a sign: only between real and stored numbers, and between kinds of these."""
    values = r.integers(0, 256, shape).astype(np.uint8)
    return Operand(shape, np.uint8, float(np.exp(r.uniform(np.log(0.002), np.log(0.2)))), int(r.integers(0, 256)),
                   feed=values if feed else None)


def quantize_unsigned(r, i):
    shape = shape_of(r)
    x = [unsigned_operand(r, shape), int8(r, shape), plain(r, shape, np.float32)][i % 3]
    return (B.QUANTIZE, 1, options("QuantizeOptions"), [x],
            [int8_out(r, shape) if i % 3 == 0 else unsigned_operand(r, shape, False)])


def dequantize_unsigned(r, i):
    shape = shape_of(r)
    return B.DEQUANTIZE, 2, options("DequantizeOptions"), [unsigned_operand(r, shape)], [Operand(shape, np.float32)]


def floor_div(r, i):
    a, b, y = broadcast_pair(r)
    kind = np.float32 if i % 2 else np.int32
    divisor = plain(r, b, kind)
    divisor.feed = np.where(divisor.feed == 0, -3, divisor.feed).astype(kind)
    return B.FLOOR_DIV, 1, options("FloorDivOptions"), [plain(r, a, kind), divisor], [Operand(y, kind)]


def dequantize(r, i):
    shape = shape_of(r)
    return B.DEQUANTIZE, 2, options("DequantizeOptions"), [int8(r, shape)], [Operand(shape, np.float32)]


def fill(r, i):
    shape = shape_of(r)
    v = Operand([], np.int8, 0.1, 3, feed=np.array(r.integers(-128, 128), np.int8))
    return B.FILL, 3, options("FillOptions"), [constant(shape), v], [like(v, shape)]


def shape_op(r, i):
    x = int8(r, shape_of(r))
    return B.SHAPE, 1, options("ShapeOptions", outType=s.TensorType.INT32), [x], [Operand([len(x.shape)], np.int32)]


def select(r, i):
    shape = shape_of(r)
    x = int8(r, shape)
    return (B.SELECT_V2, 1, options("SelectV2Options"),
            [plain(r, shape, np.bool_), x, int8(r, shape, x.scales[0], x.zeros[0])], [like(x)])


def l2_norm(r, i):
    x = int8(r, [int(r.integers(1, 4)), int(r.integers(1, 20))])
    return B.L2_NORMALIZATION, 2, options("L2NormOptions"), [x], [int8_out(r, x.shape, 1 / 128, 0)]


def logical(code, name, count):
    def make(r, i):
        shape = shape_of(r)
        return code, 1, options(name), [plain(r, shape, np.bool_) for _ in range(count)], [Operand(shape, np.bool_)]
    return make


def select_old(r, i):
    """The condition has the shape of both."""
    shape = shape_of(r)
    x = int8(r, shape)
    return (B.SELECT, 1, options("SelectOptions"),
            [plain(r, shape, np.bool_), x, int8(r, shape, x.scales[0], x.zeros[0])], [like(x)])


def half_bytes(make, version):
    """The same with weights of four bits."""
    def of(r, i):
        code, _, fields, inputs, outputs = make(r, i)
        w = inputs[1]
        w.kind, w.data = s.TensorType.INT4, r.integers(-7, 8, w.shape)
        outputs[0].scales = [float(np.float32(outputs[0].scales[0] / 16))]
        return code, version, fields, inputs, outputs
    return of


def sparse_dense(r, i):
    """Weights stored without their zeros; halves of small integers, so every sum is exact."""
    block = [(1, 1), (1, 4), (2, 2), (4, 1)][i % 4]
    o, k = block[0] * int(r.integers(1, 5)), block[1] * int(r.integers(1, 7))
    w = np.where(r.random((o, k)) < 0.3, r.integers(-9, 10, (o, k)) / 2, 0).astype(np.float32)
    w[0, 0] = 1
    x = plain(r, [int(r.integers(1, 3)), k], np.float32)
    x.feed = (r.integers(-20, 21, x.shape) / 2).astype(np.float32)
    weights = Operand([o, k], np.float32)
    weights.sparse, weights.data = sparse_form(w, block, [0, 1] if i % 3 else [1, 0], [32, 16, 8][i % 3])
    bias = Operand([o], np.float32, data=r.integers(-5, 6, o).astype(np.float32))
    return (B.FULLY_CONNECTED, 8, options("FullyConnectedOptions", fusedActivationFunction=i % 2), [x, weights, bias],
            [Operand([x.shape[0], o], np.float32)])


def dense_blockwise(r, i):
    """4-bit weights with a scale for each block of a row. The scales are of bfloat16: XNNPACK keeps no more of them."""
    block = [32, 64][i % 2]
    o, k, rows = int(r.integers(1, 20)), block * int(r.integers(1, 5)), int(r.integers(1, 4))
    scales = (r.integers(128, 256, (o, k // block)) / 2.0 ** r.integers(13, 15)).astype(np.float16)
    w = Operand([o, k], np.int8, kind=s.TensorType.INT4, data=r.integers(-7, 8, (o, k)))
    w.blocks = block, Operand(scales.shape, np.float16, data=scales)
    x = Operand([rows, k], np.float32, feed=r.normal(r.uniform(-1, 1), 1, (rows, k)).astype(np.float32))
    if i % 7 == 5:
        x.feed = halves(r, x.shape, True)
    if i % 7 == 6:
        x.feed = np.zeros_like(x.feed)
    bias = Operand([o], np.float32, data=r.normal(0, 1, o)) if i % 3 else None
    return (B.FULLY_CONNECTED, 13, options("FullyConnectedOptions", fusedActivationFunction=i % 2), [x, w, bias],
            [Operand([rows, o], np.float32)])


def densify(r, i):
    """Operands stored without their zeros, as an operator of its own gives them: weights of floats, or bytes that are
    compared."""
    if i % 2:
        code, version, fields, (x, weights, bias), (y,) = sparse_dense(r, i // 2)
        w = like(weights)
        w.shape = weights.shape
        x.feed, last = [x.feed] * RUNS, (code, version, fields, [x, w, bias], [y])
    else:
        quants, block = quant(r), [(1, 1), (1, 4), (2, 2)][i // 2 % 3]
        shape = [block[0] * int(r.integers(1, 5)), block[1] * int(r.integers(1, 7))]
        values = np.where(r.random(shape) < 0.4, r.integers(-128, 128, shape), 0).astype(np.int8)
        values[0, 0] = 1
        weights, w, x, y = (Operand(shape, np.int8, *quants) for _ in range(4))
        weights.sparse, weights.data = sparse_form(values, block, [0, 1], 32)
        x.feed, last = ([bytes_of(r, shape) for _ in range(RUNS)],
                        (B.MAXIMUM, 2, options("MaximumMinimumOptions"), [x, w], [y]))
    return [([(B.DENSIFY, 1, options("DensifyOptions"), [weights], [w]), last], [x], [y])]


def packed_bits(texts):
    """Bits as bytes, the most significant first; whole words."""
    text = "".join(texts)
    text += "0" * (-len(text) % 32)
    return np.array([int(text[k:k + 8], 2) for k in range(0, len(text), 8)], np.uint8)


def huffman(r, count, dtype):
    """Random symbols by a random prefix code: codes and tables of tables, the first by `first` bits."""
    info, codes = np.iinfo(dtype), [""]
    while len(codes) < 2 or (len(codes) < 9 and r.random() < 0.9):
        split = codes.pop(int(r.integers(0, len(codes))))
        if len(split) > 9:
            codes.append(split)
            break
        codes += [split + "0", split + "1"]
    symbols = [int(v) for v in r.choice(np.arange(max(-200, info.min), min(200, info.max)), len(codes), replace=False)]
    first, wide = int(r.integers(1, 5)), dtype == np.int16 or bool(r.integers(0, 2))
    shift, found = (27, 1 << 31) if wide else (11, 1 << 15)
    table = []

    def level(prefix, width):
        base = len(table)
        table.extend([0] * 2 ** width)
        for k in range(2 ** width):
            path = prefix + format(k, "0%db" % width)
            own = [n for n, code in enumerate(codes) if path.startswith(code)]
            if own:
                table[base + k] = (found | (len(codes[own[0]]) - len(prefix)) << shift
                                   | symbols[own[0]] & ((1 << shift) - 1 if wide else 255))
            else:
                deeper = max(len(code) for code in codes if code.startswith(path)) - len(path)
                below = min(deeper, 3)
                table[base + k] = below - 1 << shift | len(table) - (base + k)
                level(path, below)

    level("", first)
    chosen = r.integers(0, len(codes), count)
    options_byte = first - 1 << 4 | wide
    return (packed_bits([codes[n] for n in chosen]), np.array(table, np.uint32 if wide else np.uint16).view(np.uint8),
            options_byte)


def decode(r, i):
    """Weights of a convolution, or numbers that are compared, in TensorFlow Lite Micro's codes: by index, by Huffman,
    by mask."""
    kind = i % 3
    if i // 3 % 3 < 2:
        code, version, fields, inputs, outputs = (conv, depthwise)[i // 3 % 3](r, i)
        x, w = inputs[0], inputs[1]
        decoded = Operand(w.shape, np.int8, scales=w.scales, axis=w.axis)
        decoded.zeros = list(w.zeros)
        last = (code, version, fields, [x, decoded] + inputs[2:], outputs)
        x.feed = [bytes_of(r, x.shape) for _ in range(RUNS)]
    else:
        dtype = [np.float32, np.int16, np.int32, np.int8][i // 9 % 4] if kind != 1 else [np.int16, np.int8][i // 9 % 2]
        quants = (dict(scale=0.05, zero=int(r.integers(-9, 10)) if dtype == np.int8 else 0)
                  if dtype in (np.int8, np.int16) else {})
        x, decoded, y = (Operand([int(r.integers(1, 5)), 7], dtype, **quants) for _ in range(3))
        decoded.shape = y.shape = x.shape
        draw = lambda: r.normal(0, 2, x.shape).astype(dtype) if dtype == np.float32 else r.integers(-100, 100,
            x.shape).astype(dtype)
        x.feed, outputs = [draw() for _ in range(RUNS)], [y]
        last = (B.MAXIMUM, 2, options("MaximumMinimumOptions"), [x, decoded], [y])
    count, channels, dtype = int(np.prod(decoded.shape)), len(decoded.scales) if decoded.scales else 1, decoded.dtype
    some = lambda n: (r.normal(0, 2, n).astype(dtype) if dtype == np.float32
                      else r.integers(-100, 100, n).astype(dtype)).view(np.uint8)
    header = np.zeros(16, np.uint8)
    header[[0, 1, 4]] = kind, 1, 1
    if kind == 0:
        width = int(r.integers(1, 8 if channels < 40 else 3))
        codes, table = (packed_bits([format(int(v), "0%db" % width) for v in r.integers(0, 2 ** width, count)]),
                        some(2 ** width * channels))
        header[[5, 6]] = width, 2 ** width
    elif kind == 1:
        codes, table, header[5] = huffman(r, count, dtype)
    else:
        mask = r.random(count) < 0.4
        codes, table = packed_bits(["1" if v else "0" for v in mask]), some(int(mask.sum()))
    stored = [Operand([len(v)], np.uint8, data=v) for v in (codes, np.concatenate([header, table]))]
    return [([("TFLM_DECODE", 1, None, stored, [decoded]), last], [x], outputs)]


def tile(r, i):
    shape = shape_of(r, None, 4)
    times = [int(v) for v in r.integers(1, 4, len(shape))]
    x = plain(r, shape, [np.float32, np.int32][i % 2])
    return B.TILE, 2, options("TileOptions"), [x, constant(times)], [like(x, [n * t for n, t in zip(shape, times)])]


def reverse(r, i):
    x = plain(r, shape_of(r), [np.float32, np.int32][i % 2])
    return B.REVERSE_V2, 1, options("ReverseV2Options"), [x, constant([int(r.integers(0, len(x.shape)))])], [like(x)]


def cumsum(r, i):
    x = plain(r, shape_of(r), np.float32)
    x.feed = np.round(x.feed * 4) / np.float32(4)
    axis = int(r.integers(-len(x.shape), len(x.shape)))
    return (B.CUMSUM, 1, options("CumsumOptions", exclusive=bool(i & 1), reverse=bool(i & 2)), [x, constant(axis)],
            [like(x)])


def topk(r, i):
    shape = shape_of(r, int(r.integers(1, 4)))
    k = int(r.integers(1, shape[-1] + 1))
    x = [lambda: plain(r, shape, np.float32), lambda: int8(r, shape), lambda: plain(r, shape, np.int32)][i % 3]()
    return (B.TOPK_V2, 2, options("TopKV2Options"), [x, constant(k)],
            [like(x, shape[:-1] + [k]), Operand(shape[:-1] + [k], np.int32)])


def embedding_lookup(r, i):
    shape, count = shape_of(r, 2), int(r.integers(1, 6))
    table = plain(r, shape, np.float32)
    table.data = table.feed
    return (B.EMBEDDING_LOOKUP, 1, None,
            [Operand([count], np.int32, feed=r.integers(0, shape[0], count).astype(np.int32)), table],
            [like(table, [count, shape[1]])])


def power(r, i):
    x = plain(r, shape_of(r), np.float32)
    x.feed = np.abs(x.feed) + np.float32(0.1)
    return B.POW, 1, options("PowOptions"), [x, plain(r, x.shape, np.float32)], [like(x)]


def floor_mod(r, i):
    kind = np.int64 if i % 2 else np.int32
    x = plain(r, shape_of(r), kind)
    divisor = plain(r, x.shape, kind)
    divisor.feed = np.where(divisor.feed == 0, 7, divisor.feed).astype(kind)
    return B.FLOOR_MOD, 1, options("FloorModOptions"), [x, divisor], [like(x)]


def plain_reduction(code, kind, values):
    """Of values whose result is exact."""
    def make(r, i):
        code_, _, fields, inputs, outputs = reduction(code, True)(r, i)
        shape = inputs[0].shape
        return (code, 1, fields, [Operand(shape, kind, feed=r.choice(values, shape).astype(kind)), inputs[1]],
                [Operand(outputs[0].shape, kind)])
    return make


def product(low, most):
    """Of values about 1, or, every fourth time, any: the partial products wrap."""
    def make(r, i):
        code, _, fields, inputs, outputs = reduction(B.REDUCE_PROD, False)(r, i)
        for t in inputs[:1] + outputs:
            t.scales = [float(np.float32(np.exp(r.uniform(np.log(low), np.log(most)))))] if i % 4 else t.scales
        return code, 2, fields, inputs, outputs
    return make


def table(code, name=None, positive=False, version=2):
    """A function of one int8, by a table."""
    def make(r, i):
        shape = shape_of(r, most=8)
        zero = int(r.integers(-128, 100))
        x = Operand(shape, np.int8, quant(r, 0.005, 0.05)[0], zero,
                    feed=r.integers(zero if positive else -128, 128, shape).astype(np.int8))
        return code, version, options(name) if name else None, [x], [int8_out(r, shape)]
    return make


def gelu(r, i):
    shape = shape_of(r, most=8)
    x = int8(r, shape) if i % 3 else Operand(shape, np.float32, feed=r.uniform(-1, 8, shape).astype(np.float32))
    return B.GELU, 1, options("GeluOptions", approximate=bool(i % 2)), [x], [int8_out(r, shape) if i % 3 else like(x)]


def log_softmax(r, i):
    x = int8(r, shape_of(r, int(r.integers(1, 5)), 12), *quant(r, 0.01, 0.6))
    return B.LOG_SOFTMAX, 2, options("LogSoftmaxOptions"), [x], [int8_out(r, x.shape, 16 / 256, 127)]


def sixteen(make, fixed=None, low=None, narrow=True, most=0.01):
    """The same with 16-bit activations; weights stay, and a bias has 64 bits or, if `narrow`, every fourth time
    32."""
    def of(r, i):
        code, version, fields, inputs, outputs = make(r, i)
        for t in inputs + outputs:
            if t is None or not t.scales:
                continue
            if t.dtype == np.int32 and t.data is not None and (i % 4 != 3 or not narrow):
                t.dtype, t.kind, t.data = np.dtype(np.int64), s.TensorType.INT64, r.integers(-3000000, 3000000, t.shape)
            if t.dtype == np.int8 and t.data is None:
                t.dtype, t.kind, t.zeros = np.dtype(np.int16), s.TensorType.INT16, [0]
                if t.feed is not None:
                    t.feed = np.where(r.random(t.shape) < 0.05, r.choice([-32768, 32767], t.shape),
                                      r.integers(-32768, 32768, t.shape)).astype(np.int16)
        if low:
            inputs[0].scales = [[1 / 4096, 1 / 2048, quant(r, low, most)[0]][i % 3]]
        if fixed:
            outputs[0].scales = [fixed]
        return code, version, fields, inputs, outputs
    return of


def last_points(r, i):
    """LOGISTIC and TANH of 16 bits around the last points of their table, which stand for 10.58 and 10.625, or half."""
    code, of = [(B.LOGISTIC, 1), (B.TANH, 2)][i % 2]
    shape = [2, 24]
    x = Operand(shape, np.int16, float(np.float32(r.uniform(10.7, 14) / of / 32767)))
    x.feed = np.round(r.uniform(10.5, 10.7, shape) / of / x.scales[0] * r.choice([-1, 1], shape)).astype(np.int16)
    return code, 1, None, [x], [Operand(shape, np.int16, 1 / 32768)]


def fine_curves(r, i):
    """LOGISTIC and TANH of UINT8 where they are nearly straight, so that many results are next to a tie."""
    code, scale, zero = [(B.LOGISTIC, 1 / 256, 0), (B.TANH, 1 / 128, 128)][i % 2]
    x = Operand([16, 16], np.uint8, 2.0**-int(r.integers(7, 13)), int(r.choice([0, 127, 255])),
                feed=np.arange(256, dtype=np.uint8).reshape(16, 16))
    return code, 1, None, [x], [Operand([16, 16], np.uint8, scale, zero)]


def at_ties(kinds):
    """Scales whose quotient, times some input, is a tie in floats and not in doubles, or the other way round. kinds:
    (code, name of options, fields, type)"""
    def make(r, i):
        code, name, fields, dtype = kinds[i % len(kinds)]
        rounded = [0, 0]
        while rounded[0] == rounded[1] or max(rounded) > 100:
            q, sy = int(r.integers(3, 127)), np.float32(r.uniform(0.001, 0.1))
            sx = np.float32(sy * np.float32((2 * r.integers(1, 120) + 1) / (2 * q)))
            rounded = [np.floor(q * float(factor) + 0.5) for factor in (sx / sy, float(sx) / float(sy))]
        zero = 128 if dtype == np.uint8 else 0
        x = Operand([2, 3], dtype, float(sx), zero, feed=(zero + np.array([[q, q, 0], [q, 1, q]])).astype(dtype))
        return code, 2, options(name, **fields) if name else None, [x], [Operand([2, 3], dtype, float(sy), zero)]
    return make


def two_roundings(v, real):
    """v * real in fixed point, rounded to 31 bits behind the point and then to an integer."""
    mantissa, exponent = np.frexp(real)
    product = (v * int(np.floor(mantissa * 2.0 ** 31 + 0.5)) + (1 << 30)) >> 31
    return int(np.floor(product * 2.0 ** exponent + 0.5))


def products_at_ties(r, i):
    """UINT8 products that round otherwise where scales are multiplied in floats than where they are in doubles; dense
    layers: where the product is rounded twice."""
    code = [B.CONV_2D, B.DEPTHWISE_CONV_2D, B.TRANSPOSE_CONV, B.FULLY_CONNECTED, B.MUL, B.PRELU][i % 6]
    has_bias = code in (B.CONV_2D, B.DEPTHWISE_CONV_2D, B.TRANSPOSE_CONV, B.FULLY_CONNECTED)
    results = [0, 0]
    while results[0] == results[1]:
        x, w, bias = int(r.integers(-120, 0)), int(r.integers(-120, 0)), int(r.integers(0, 5000)) if has_bias else 0
        v, sx, sw = x * w + bias, *(np.float32(quant(r)[0]) for _ in range(2))
        sy = np.float32(float(sx) * float(sw) * v / (r.integers(1, 100) + 0.5))
        product = float(sx) * float(sw) / float(sy)
        results = [two_roundings(v, float(sx * sw) / float(sy) if has_bias else float(sx * sw / sy)),
                   two_roundings(v, product)]
        if code == B.FULLY_CONNECTED:
            results[0] = int(np.floor(v * product + 0.5))
    vector = [4, 1] if code == B.FULLY_CONNECTED else [1, 1, 4, 1]
    one = [1] * len(vector)
    a = Operand(vector, np.uint8, sx, 128, feed=np.array([x, x, 0, x], np.int64).reshape(vector) + 128)
    b = Operand(one, np.uint8, sw, 125, data=np.full(one, w + 125, np.uint8))
    a.feed = a.feed.astype(np.uint8)
    y = Operand(vector, np.uint8, sy, 3)
    biases = [Operand([1], np.int32, np.float32(sx * sw), 0, data=np.array([bias], np.int32))] if has_bias else []
    strides, dilations = {"strideH": 1, "strideW": 1}, {"dilationHFactor": 1, "dilationWFactor": 1}
    name, fields = {B.CONV_2D: ("Conv2DOptions", {**strides, **dilations}),
                    B.DEPTHWISE_CONV_2D: ("DepthwiseConv2DOptions", {**strides, **dilations, "depthMultiplier": 1}),
                    B.TRANSPOSE_CONV: ("TransposeConvOptions", strides),
                    B.FULLY_CONNECTED: ("FullyConnectedOptions", {}), B.MUL: ("MulOptions", {}),
                    B.PRELU: (None, {})}[code]
    shape = [constant(vector)] if code == B.TRANSPOSE_CONV else []
    operands = [b, a] if code == B.TRANSPOSE_CONV else [a, b]
    return code, 3 if shape else 1, options(name, **fields) if name else None, shape + operands + biases, [y]


def prelu_sixteen(r, i):
    """Slopes keep 8 bits."""
    code, version, fields, inputs, outputs = sixteen(prelu)(r, i)
    inputs[1].zeros = [0]
    steepest = max(1, inputs[1].scales[0] * 128)
    outputs[0].scales = [float(np.float32(inputs[0].scales[0] * steepest * r.uniform(0.5, 1.5)))]
    return code, version, fields, inputs, outputs


def comparison_sixteen(r, i):
    """Operands of different scales where the reference compares real values."""
    code, name = [(B.EQUAL, "EqualOptions"), (B.NOT_EQUAL, "NotEqualOptions"), (B.LESS, "LessOptions"),
                  (B.LESS_EQUAL, "LessEqualOptions"), (B.GREATER, "GreaterOptions"),
                  (B.GREATER_EQUAL, "GreaterEqualOptions")][i % 6]
    a, b, y = broadcast_pair(r)
    scale = quant(r, 1e-5, 0.01)[0]
    ratio = float(r.choice([1, 0.5, 2])) if i % 6 < 2 else 1
    pair = [Operand(a, np.int16, scale, feed=r.integers(-100, 100, a).astype(np.int16)),
            Operand(b, np.int16, scale * ratio, feed=r.integers(-100, 100, b).astype(np.int16))]
    return code, 2, options(name), pair, [Operand(y, np.bool_)]


def cumsum_bytes(r, i):
    code, version, fields, inputs, _ = cumsum(r, i)
    x = int8(r, inputs[0].shape)
    return code, version, fields, [x, inputs[1]], [int8_out(r, x.shape)]


def gelu_sixteen(r, i):
    """Two of eight are so steep that 16-bit slopes wrap in the reference's table."""
    def make(r, i):
        shape = shape_of(r, most=8)
        return B.GELU, 2, options("GeluOptions", approximate=bool(i % 2)), [int8(r, shape)], [int8_out(r, shape)]
    code, version, fields, inputs, outputs = sixteen(make, low=1e-5, most=0.002)(r, i)
    if i % 4 > 1:
        outputs[0].scales = [quant(r, 1e-5, 1e-3)[0]]
    if i % 8 > 5:
        inputs[0].scales, outputs[0].scales = [quant(r, 0.02, 0.1)[0]], [quant(r, 1e-7, 1e-6)[0]]
        inputs[0].feed = r.integers(-256, 256, inputs[0].shape).astype(np.int16)
    return code, version, fields, inputs, outputs


def rescaled_concat(r, i):
    """UINT8 operands whose scales differ, as only the older quantization has them."""
    code, version, fields, inputs, outputs = unsigned(concat)(r, i)
    for t in inputs[i % 2:]:
        t.scales, t.zeros = ([float(np.float32(outputs[0].scales[0] * np.exp(r.uniform(-2, 2))))],
                             [int(r.integers(0, 256))])
    return code, version, fields, inputs, outputs


def unsigned(make):
    """The same with uint8, the older quantization: weights have one scale, and a zero point."""
    def of(r, i):
        code, version, fields, inputs, outputs = make(r, i)
        for t in inputs + outputs:
            if t is None or not t.scales:
                continue
            if len(t.scales) > 1:
                t.scales, t.zeros, t.axis = [float(np.float32(max(t.scales)))], [0], 0
            if t.dtype == np.int32 and t.data is not None:
                t.scales = [float(np.float32(inputs[0].scales[0]) * np.float32(inputs[1].scales[0]))]
            if t.dtype != np.int8:
                continue
            shift = int(r.integers(100, 156)) if t.data is not None and i % 3 else 128
            t.dtype, t.kind, t.zeros = np.dtype(np.uint8), s.TensorType.UINT8, [t.zeros[0] + shift]
            t.zeros = [int(np.clip(t.zeros[0], 0, 255))]
            for name in ("data", "feed"):
                values = getattr(t, name)
                if values is not None:
                    setattr(t, name, (np.asarray(values).astype(np.int16) + 128).astype(np.uint8))
        return code, version, fields, inputs, outputs
    return of


def padv2_float16(r, i):
    """The padded value is a 16-bit float, converted in the file."""
    shape = shape_of(r, most=4)
    pads = r.integers(0, 3, (len(shape), 2))
    x = Operand(shape, np.float32, feed=[plain(r, shape, np.float32).feed for _ in range(RUNS)])
    half, value = Operand([], np.float16, data=np.array(r.normal(), np.float16)), Operand([], np.float32)
    y = Operand([n + int(p.sum()) for n, p in zip(shape, pads)], np.float32)
    return [([(B.DEQUANTIZE, 3, options("DequantizeOptions"), [half], [value]),
              (B.PADV2, 1, options("PadV2Options"), [x, constant(pads), value], [y])], [x], [y])]


def network_unsigned(r, i):
    """A small classifier: convolution, pool, reshape, dense, softmax, and a second output before its end."""
    u8 = lambda shape, scale, zero, data=None: Operand(shape, np.uint8, scale, zero, data=data)
    size, c, o, classes = int(r.integers(4, 9)), int(r.integers(1, 4)), int(r.integers(1, 7)), int(r.integers(2, 11))
    x, kernel = (u8([1, size, size, c], quant(r)[0], int(r.integers(0, 256))),
                 u8([o, 3, 3, c], quant(r, 0.004, 0.02)[0], int(r.integers(100, 156)),
                    r.integers(0, 256, [o, 3, 3, c])))
    x.feed = [bytes_of(r, x.shape).view(np.uint8) for _ in range(RUNS)]
    bias = lambda a, b, n: Operand([n], np.int32, float(np.float32(a.scales[0]) * np.float32(b.scales[0])),
                                   data=r.integers(-2000, 2000, n))
    image = u8([1, size, size, o], float(np.float32(x.scales[0] * kernel.scales[0] * 40)), int(r.integers(0, 256)))
    code, fields = ([B.AVERAGE_POOL_2D, B.MAX_POOL_2D][i % 2],
                    options("Pool2DOptions", padding=1, strideH=2, strideW=2, filterHeight=2, filterWidth=2))
    half = u8([1, size // 2, size // 2, o], image.scales[0], image.zeros[0])
    flat = u8([1, (size // 2) ** 2 * o], image.scales[0], image.zeros[0])
    w = u8([classes, flat.shape[1]], quant(r, 0.004, 0.02)[0], int(r.integers(100, 156)),
           r.integers(0, 256, [classes, flat.shape[1]]))
    logits, y = (u8([1, classes], float(np.float32(flat.scales[0] * w.scales[0] * 60)), int(r.integers(0, 256))),
                 u8([1, classes], 1 / 256, 0))
    operators = [
        (B.CONV_2D, 1, options("Conv2DOptions", padding=0, strideH=1, strideW=1, fusedActivationFunction=i % 2),
         [x, kernel, bias(x, kernel, o)], [image]),
                 (code, 1, fields, [image], [half]),
                 (B.RESHAPE, 1, options("ReshapeOptions", newShape=flat.shape), [half, constant(flat.shape)], [flat]),
                 (B.FULLY_CONNECTED, 1, options("FullyConnectedOptions"), [flat, w, bias(flat, w, classes)], [logits]),
                 (B.SOFTMAX, 1, options("SoftmaxOptions", beta=1.0), [logits], [y])]
    return [(operators, [x], [y, flat] if i % 3 == 0 else [y])]


def quantize_sixteen(r, i):
    kinds = [(np.int16, np.int16), (np.int16, np.int8), (np.int8, np.int16), (np.int16, np.int32),
             (np.int32, np.int16), (np.float32, np.int16)][i % 6]
    shape, both = shape_of(r), []
    for k in kinds:
        whole = k != np.float32
        info = np.iinfo(k if k != np.int32 else np.int16) if whole else None
        both.append(Operand(shape, k, quant(r)[0] if whole else None, quant(r)[1] if k == np.int8 else 0,
                            feed=r.integers(info.min, info.max + 1, shape).astype(k) if whole
                            else r.normal(0, 40, shape).astype(k)))
    return B.QUANTIZE, 1, options("QuantizeOptions"), both[:1], both[1:]


# Operators of variables: a sum that grows, from zero, from its zero point, or from a constant that another graph
# assigns once.

RUNS = 4


def variables(r, i, computed=False):
    shape, kind = shape_of(r, None, 4), [np.int8, np.float32, np.int8][i % 3]
    quants = dict(scale=quant(r)[0], zero=quant(r)[1]) if kind == np.int8 else {}
    handle, x, before, after = (Operand([], np.int32, kind=s.TensorType.RESOURCE), Operand(shape, kind, **quants),
                                Operand(shape, kind, **quants), Operand(shape, kind, **quants))
    x.feed = [bytes_of(r, shape) if kind == np.int8 else r.normal(0, 2, shape).astype(np.float32) for _ in range(RUNS)]
    name = options("VarHandleOptions", container="" if i % 4 else "box", sharedName="sum")
    operators = [(B.VAR_HANDLE, 1, name, [], [handle]),
                 (B.READ_VARIABLE, 1, options("ReadVariableOptions"), [handle], [before]),
                 (B.ADD, 2, options("AddOptions"), [before, x], [after]),
                 (B.ASSIGN_VARIABLE, 1, options("AssignVariableOptions"), [handle, after], [])]
    graphs = [(operators, [x], [after])]
    if i % 2:
        first, again = Operand(shape, kind, **quants), Operand([], np.int32, kind=s.TensorType.RESOURCE)
        first.data = bytes_of(r, shape) if kind == np.int8 else r.normal(0, 2, shape).astype(np.float32)
        operators.insert(0, (B.CALL_ONCE, 1, options("CallOnceOptions", initSubgraphIndex=1), [], []))
        steps, given = [(B.VAR_HANDLE, 1, name, [], [again])], first
        if computed:
            other, given = Operand(shape, kind, **quants), Operand(shape, kind, **quants)
            other.data = bytes_of(r, shape) if kind == np.int8 else r.normal(0, 2, shape).astype(np.float32)
            steps.append((B.ADD, 2, options("AddOptions"), [first, other], [given]))
        graphs.append((steps + [(B.ASSIGN_VARIABLE, 1, options("AssignVariableOptions"), [again, given], [])], [], []))
    return graphs


def computed_variables(r, i):
    """The initial value is a sum of constants."""
    return variables(r, 2 * i + 1, True)


def sequence_lstm(r, i):
    """Floats: the state persists from run to run."""
    batch, steps, inputs, units, major = (int(r.integers(1, 3)), int(r.integers(1, 6)), int(r.integers(1, 6)),
                                          int(r.integers(1, 6)), bool(i % 3 == 0))
    real = lambda *shape: Operand(shape, np.float32, data=r.normal(0, 0.7, shape).astype(np.float32))
    x, state = (Operand([steps, batch, inputs] if major else [batch, steps, inputs], np.float32),
                [Operand([batch, units], np.float32) for _ in range(2)])
    for t in state:
        t.variable = True
    x.feed = [r.normal(0, 2, x.shape).astype(np.float32) for _ in range(RUNS)]
    y = Operand(x.shape[:2] + [units], np.float32)
    read = ([x] + [real(units, inputs) for _ in range(4)] + [real(units, units) for _ in range(4)] + [None] * 3
            + [real(units) for _ in range(4)] + [None] * 2 + state + [None] * 4)
    fields = options("UnidirectionalSequenceLSTMOptions", fusedActivationFunction=4, cellClip=[0.0, 10.0, 0.5][i % 3],
                     timeMajor=major)
    return [([(B.UNIDIRECTIONAL_SEQUENCE_LSTM, 1, fields, read, [y])], [x], [y])]


def variable(shape, dtype=np.float32, scale=None, zero=0):
    t = Operand(shape, dtype, scale, zero)
    t.variable = True
    return t


def sequence_lstm_fixed(r, i):
    """Integers of 8 or 16 bits with a 16-bit cell."""
    batch, steps, inputs, units, major, wide = (int(r.integers(1, 3)), int(r.integers(1, 6)), int(r.integers(1, 9)),
                                                int(r.integers(1, 7)), bool(i % 3 == 0), i % 4 == 3)
    kind, info = (np.int16, np.iinfo(np.int16)) if wide else (np.int8, np.iinfo(np.int8))
    few = lambda low, high: quant(r, low, high)[0]
    grid = (few(1e-4, 3e-4), 0) if wide else quant(r, 0.01, 0.06)
    hidden = (few(2e-5, 6e-5), 0) if wide else (few(0.004, 0.01), int(r.integers(-30, 31)))
    shape = [steps, batch, inputs] if major else [batch, steps, inputs]
    x, cell = Operand(shape, kind, *grid), variable([batch, units], np.int16, 2.0 ** -int(r.integers(9, 16)))
    x.feed = [r.integers(info.min, info.max + 1, shape).astype(kind) for _ in range(RUNS)]
    weights = lambda columns: Operand([units, columns], np.int8, few(0.004, 0.02),
                                      data=r.integers(-127, 128, [units, columns]).astype(np.int8))
    bias = lambda: Operand([units], np.int64 if wide else np.int32, few(1e-5, 1e-4),
                           data=r.integers(-9000, 9000, [units]))
    y = Operand(shape[:2] + [units], kind, *hidden)
    read = ([x] + [weights(inputs) for _ in range(4)] + [weights(units) for _ in range(4)] + [None] * 3
            + [bias() for _ in range(4)] + [None] * 2)
    read += [variable([batch, units], kind, *hidden), cell] + [None] * 4
    fields = options("UnidirectionalSequenceLSTMOptions", fusedActivationFunction=4, cellClip=[0.0, 10.0, 0.5][i % 3],
                     timeMajor=major)
    return [([(B.UNIDIRECTIONAL_SEQUENCE_LSTM, 1, fields, read, [y])], [x], [y])]


def sequences(r, major, most=2):
    """Of a bidirectional layer: x and its sizes, the results, merged or not, and an operand of weights."""
    batch, steps, inputs, units = (int(r.integers(1, most + 1)), int(r.integers(1, 6)), int(r.integers(1, 6)),
                                   [int(n) for n in r.integers(1, 6, 2)])
    x = Operand([steps, batch, inputs] if major else [batch, steps, inputs], np.float32)
    x.feed = [r.normal(0, 1, x.shape).astype(np.float32) for _ in range(RUNS)]
    outputs = lambda merged: [Operand(x.shape[:2] + [n], np.float32) for n in ([sum(units)] if merged else units)]
    return (x, batch, inputs, units, outputs,
            lambda *shape: Operand(shape, np.float32, data=r.normal(0, 0.3, shape).astype(np.float32)))


def both_lstm(r, i):
    """Two directions, each with a state that persists from run to run."""
    major, merged = bool(i % 3), bool(i % 2)
    # The reference steps from state to state by the merged size.
    x, batch, inputs, units, outputs, real = sequences(r, major, 2 if major or not merged else 1)
    units[1] = units[0]                                 # the reference requires it
    layer = lambda n: [real(n, inputs) for _ in range(4)] + [real(n, n) for _ in range(4)] + (
        [real(n) for _ in range(3)] if i % 4 == 0 else [None] * 3) + [real(n) for _ in range(4)] + [None] * 2
    read = ([x] + layer(units[0]) + layer(units[1]) + [variable([batch, n]) for n in units for _ in range(2)]
            + [None] * 9)
    fields, made = (options("BidirectionalSequenceLSTMOptions", fusedActivationFunction=4,
                            cellClip=[0.0, 10.0, 0.5][i % 3], mergeOutputs=merged, timeMajor=major), outputs(merged))
    return [([(B.BIDIRECTIONAL_SEQUENCE_LSTM, 1, fields, read, made)], [x], made)]


def both_rnn(r, i):
    major, merged = bool(i % 3), bool(i % 2)
    x, batch, inputs, units, outputs, real = sequences(r, major)
    layer = lambda n: [real(n, inputs), real(n, n), real(n), variable([batch, n])]
    fields, made = (options("BidirectionalSequenceRNNOptions", fusedActivationFunction=[1, 4][i // 2 % 2],
                            mergeOutputs=merged, timeMajor=major), outputs(merged))
    return [([(B.BIDIRECTIONAL_SEQUENCE_RNN, 1, fields, [x] + layer(units[0]) + layer(units[1]) + [None] * 3, made)],
             [x], made)]


def one_lstm(r, i):
    """A step; every other one of the basic kernel, whose weights are one matrix."""
    batch, inputs, units = int(r.integers(1, 4)), int(r.integers(1, 6)), int(r.integers(1, 6))
    real = lambda *shape: Operand(shape, np.float32, data=r.normal(0, 0.7, shape).astype(np.float32))
    x, state, cell, y = (Operand([batch, inputs], np.float32), variable([batch, units]), variable([batch, units]),
                         Operand([batch, units], np.float32))
    x.feed = [r.normal(0, 2, x.shape).astype(np.float32) for _ in range(RUNS)]
    if i % 2:
        made = [y] + [Operand([batch, n], np.float32) for n in (units, units + inputs, 4 * units)]
        read = [x, state, real(4 * units, inputs + units), real(4 * units), cell]
        return [([(B.LSTM, 1, options("LSTMOptions", fusedActivationFunction=4, kernelType=1), read, made)], [x],
                 made[:2])]
    read = ([x] + [real(units, inputs) for _ in range(4)] + [real(units, units) for _ in range(4)] + [None] * 3
            + [real(units) for _ in range(4)] + [None] * 2 + [state, cell])
    return [(
        [(B.LSTM, 1, options("LSTMOptions", fusedActivationFunction=4, cellClip=[0.0, 0.5][i // 2 % 2]), read, [y])],
        [x], [y])]


def dilate(r, i):
    kind = [np.float32, np.int8, np.int32, np.int16][i % 4]
    x = plain(r, shape_of(r, None, 5), kind)
    by = [int(n) for n in r.integers(1, 4, len(x.shape))]
    return (B.DILATE, 1, None, [x, constant(by, np.int32), Operand([], kind, data=plain(r, [], kind).feed)],
            [Operand([(n - 1) * b + 1 for n, b in zip(x.shape, by)], kind)])


def recurrent_hybrid(make, weights, version, grids=2):
    """A layer of floats as `make` gives it, with these inputs in 8 bits; grids 1: all without zero points."""
    def of(r, i):
        (((code, _, fields, read, made),), inputs, outputs), = make(r, i)
        for k in weights:
            scale = float(np.float32(np.abs(read[k].data).max() / 127))
            read[k] = Operand(read[k].shape, np.int8, scale, data=np.round(read[k].data / scale))
        fields.asymmetricQuantizeInputs = bool(i // 2 % grids)
        return [([(code, version, fields, read, made)], inputs, outputs)]
    return of


def svdf(state):
    """The filter over the features of the last runs; state: the type of the memory."""
    def make(r, i):
        batch, inputs, rank, units, memory = (int(r.integers(1, 3)), int(r.integers(1, 9)), int(r.integers(1, 3)),
                                              int(r.integers(1, 7)), int(r.integers(1, 6)))
        filters, fields = rank * units, options("SVDFOptions", rank=rank, fusedActivationFunction=i % 2)
        if state == np.float32:
            real = lambda *shape: Operand(shape, np.float32, data=r.normal(0, 0.7, shape).astype(np.float32))
            x, y, memories = (Operand([batch, inputs], np.float32), Operand([batch, units], np.float32),
                              variable([batch, filters * memory]))
            read = [x, real(filters, inputs), real(filters, memory), real(units), memories]
            x.feed = [r.normal(0, 2, x.shape).astype(np.float32) for _ in range(RUNS)]
            return [([(B.SVDF, 1, fields, read, [y])], [x], [y])]
        info, few = np.iinfo(state), lambda low, high: np.float32(quant(r, low, high)[0])
        x, y = (Operand([batch, inputs], np.int8, *quant(r, 0.01, 0.06)),
                int8_out(r, [batch, units], float(few(0.05, 0.5))))
        kept, over = (few(2e-4, 6e-4), few(2e-5, 1e-4)) if state == np.int16 else (few(0.02, 0.2), few(0.005, 0.02))
        zero = 0 if state == np.int16 else int(r.integers(-60, 61))
        w = Operand([filters, inputs], np.int8, float(few(0.005, 0.02)),
                    data=r.integers(-127, 128, [filters, inputs]).astype(np.int8))
        v = Operand([filters, memory], state, float(over),
                    data=r.integers(info.min + 1, info.max + 1, [filters, memory]).astype(state))
        bias = Operand([units], np.int32, float(np.float32(kept * over)),
                       data=r.integers(-3000, 3000, [units]).astype(np.int32))
        x.feed = [bytes_of(r, x.shape) for _ in range(RUNS)]
        return [(
            [(B.SVDF, 2, fields, [x, w, v, bias, variable([batch, filters * memory], state, float(kept), zero)], [y])],
            [x], [y])]
    return make


def svdf_hybrid(r, i):
    """Floats, 8-bit weights: the filter over the features stays in floats."""
    (((code, _, fields, read, made),), inputs, outputs), = svdf(np.float32)(r, i)
    for k in (1, 2):
        scale = float(np.float32(np.abs(read[k].data).max() / 127))
        read[k] = Operand(read[k].shape, np.int8, scale, data=np.round(read[k].data / scale))
    fields.asymmetricQuantizeInputs = bool(i // 2 % 2)
    return [([(code, 3, fields, read, made)], inputs, outputs)]


def halves(r, shape, is_asymmetric):
    """Values half a step apart on the grid of their own range: every other one is a tie."""
    steps, low = (255, -int(r.integers(0, 256))) if is_asymmetric else (254, -127)
    x = r.integers(2 * low, 2 * (low + steps) + 1, shape) / 2
    x.reshape(len(x), -1)[:, :2] = low, low + steps
    return (x / 64).astype(np.float32)


def hybrid(make, weights=1, image=0):
    """Floats times 8-bit weights, with one scale or one for each channel: of an int8 model, which `make` gives."""
    def of(r, i):
        code, version, fields, inputs, outputs = make(r, i)
        w, x = inputs[weights], inputs[image]
        channels = w.shape[w.axis]
        if (len(w.scales) == 1 and code == B.DEPTHWISE_CONV_2D) or (i % 2 and len(w.scales) == 1):
            w.scales = conv_scales(r, channels, True)
        w.zeros, w.data = [0] * len(w.scales), np.maximum(w.data, -127)
        if code == B.TRANSPOSE_CONV:      # the reference adds floats, tap by tap
            w.scales = [float(np.float32(v / 32)) for v in w.scales]
        for t in [t for t in inputs + outputs if t is not None and t is not w and t.dtype != np.int32 or t is not None
                  and t.scales and t is not w]:
            values = t.feed if t.feed is not None else t.data
            t.dtype, t.kind, t.scales, t.zeros = np.dtype(np.float32), s.TensorType.FLOAT32, None, []
            real = None if values is None else r.normal(r.uniform(-1, 1), 1, t.shape).astype(np.float32)
            t.feed, t.data = (real, None) if t.feed is not None and t.data is None else (None, real)
        if i % 7 == 6:
            x.feed = np.zeros_like(x.feed)
        is_asymmetric = code != B.FULLY_CONNECTED or i % 3 == 0
        if i % 7 == 5 and x.feed.size > 4:
            x.feed = halves(r, x.shape, is_asymmetric)
        if code == B.FULLY_CONNECTED:
            fields.asymmetricQuantizeInputs, version = is_asymmetric, 9
        return (code, max(version, {B.CONV_2D: 5, B.DEPTHWISE_CONV_2D: 6, B.TRANSPOSE_CONV: 3}.get(code, 1)), fields,
                inputs, outputs)
    return of


def rfft(r, i):
    """A transform of rows, and a part of it or its magnitude; the reference takes powers of two."""
    rows, length = int(r.integers(1, 4)), int(r.choice([2, 4, 8, 16, 32, 64]))
    width = [length, length + 3, max(1, length - 2)][i % 3]
    code, part = [(B.REAL, None), (B.IMAG, None), (B.COMPLEX_ABS, None)][i % 3 if i % 2 else 2]
    x, z, y = (Operand([rows, 1, width], np.float32),
               Operand([rows, 1, length // 2 + 1], np.float32, kind=s.TensorType.COMPLEX64),
               Operand([rows, 1, length // 2 + 1], np.float32))
    x.feed = [(r.normal(0, 0.3, x.shape) / np.sqrt(length)).astype(np.float32) for _ in range(RUNS)]
    return [([(B.RFFT2D, 1, options("Rfft2dOptions"), [x, constant([1, length])], [z]), (code, 1, None, [z], [y])],
             [x], [y])]


def rfft_of_images(r, i):
    """A transform along rows and columns, of images that are cut, padded or as they are."""
    images, sizes = int(r.integers(1, 3)), [int(r.choice([1, 2, 4, 8, 16])), int(r.choice([2, 4, 8, 16]))]
    shape = [images] + [[n, n + 2, max(1, n - 1)][int(r.integers(0, 3))] for n in sizes]
    shape, bins = shape if i % 4 else shape[1:], sizes[1] // 2 + 1
    made = shape[:-2] + [sizes[0], bins]
    x, z, y = (Operand(shape, np.float32), Operand(made, np.float32, kind=s.TensorType.COMPLEX64),
               Operand(made, np.float32))
    x.feed = [(r.normal(0, 0.3, shape) / np.sqrt(np.prod(sizes))).astype(np.float32) for _ in range(RUNS)]
    return [([(B.RFFT2D, 1, options("Rfft2dOptions"), [x, constant(sizes)], [z]),
              ([B.REAL, B.IMAG, B.COMPLEX_ABS][i % 3], 1, None, [z], [y])], [x], [y])]


def while_(r, i):
    """A sum that grows in each iteration, up to a limit that is an input or a constant; x is a loop invariant."""
    shape, kind = shape_of(r, None, 4), [np.int8, np.float32][i % 2]
    quants = dict(scale=quant(r)[0], zero=quant(r)[1]) if kind == np.int8 else {}
    whole = lambda: Operand([], np.int32)
    first, one, x, after = (constant(0), constant(1), Operand(shape, kind, **quants), [whole(), whole()]
                            + [Operand(shape, kind, **quants) for _ in range(2)])
    first.shape = one.shape = []
    limit = whole()
    if i % 4 > 1:
        limit.data = np.array(int(r.integers(0, 5)), np.int32)
    x.feed = [bytes_of(r, shape) if kind == np.int8 else r.normal(0, 2, shape).astype(np.float32) for _ in range(RUNS)]
    limit.feed = [np.array(int(r.integers(0, 6)), np.int32) for _ in range(RUNS)]
    fed = [x] + ([] if i % 4 > 1 else [limit])
    main = ([(B.WHILE, 1, options("WhileOptions", condSubgraphIndex=1, bodySubgraphIndex=2), [first, limit, x, x],
              after)], fed, after[2:3])
    names = [whole(), whole(), Operand(shape, kind, **quants), Operand(shape, kind, **quants)]
    holds = Operand([], np.bool_)
    condition = ([(B.LESS, 1, options("LessOptions"), names[:2], [holds])], names, [holds])
    inner, following, grown = ([whole(), whole(), Operand(shape, kind, **quants), Operand(shape, kind, **quants)],
                               whole(), Operand(shape, kind, **quants))
    body = ([(B.ADD, 1, options("AddOptions"), [inner[0], one], [following]),
             (B.ADD, 2, options("AddOptions"), inner[2:], [grown])],
            inner, [following, inner[1], grown, inner[3]])
    return [main, condition, body]


class Known(list):
    """Graphs that no interpreter here runs, with the function that gives their outputs."""


def list_flex(r, i):
    """The loop of a recurrent layer as Keras' own export has it, with TensorFlow's lists: sums of the steps, all of
    them or the last. Rows are read from a tensor, or from a list of it."""
    steps, batch, units = int(r.integers(2, 5)), int(r.integers(1, 4)), int(r.integers(1, 4))
    every, from_list = i % 2 == 0, i % 4 > 1
    kept = steps if every else 1
    whole, some = lambda: Operand([], np.int32), lambda shape: Operand(shape, np.float32)
    variant = lambda: Operand([], np.float32, kind=s.TensorType.VARIANT)
    scalar = lambda v: Operand([], np.int32, data=np.array(v, np.int32))
    x, y = some([steps, batch, units]), some([kept, batch, units])
    x.feed = [r.normal(0, 2, x.shape).astype(np.float32) for _ in range(RUNS)]
    element, size, zero = constant([-1, units]), scalar(kept), scalar(0)
    first = Operand([batch, units], np.float32, data=np.zeros((batch, units), np.float32))
    rows = variant() if from_list else x
    reserved, after = variant(), [whole(), variant(), some([batch, units]), variant() if from_list else some(x.shape)]
    main = ([("FlexTensorListReserve", 1, None, [element, size], [reserved])]
            + ([("FlexTensorListFromTensor", 1, None, [x, element], [rows])] if from_list else [])
            + [(B.WHILE, 1, options("WhileOptions", condSubgraphIndex=1, bodySubgraphIndex=2),
                [zero, reserved, first, rows], after),
               ("FlexTensorListStack", 1, None, [after[1], element], [y])], [x], [y])
    names = [whole(), variant(), some([batch, units]), variant() if from_list else some(x.shape)]
    holds = Operand([], np.bool_)
    condition = ([(B.LESS, 1, options("LessOptions"), [names[0], scalar(steps)], [holds])], names, [holds])
    inner = [whole(), variant(), some([batch, units]), variant() if from_list else some(x.shape)]
    following, item, total, written = whole(), some([batch, units]), some([batch, units]), variant()
    body = ([("FlexTensorListGetItem", 1, None, [inner[3], inner[0], element], [item]) if from_list
             else (B.GATHER, 1, options("GatherOptions"), [inner[3], inner[0]], [item]),
             (B.ADD, 1, options("AddOptions"), [inner[2], item], [total]),
             ("FlexTensorListSetItem", 1, None, [inner[1], inner[0] if every else scalar(0), total], [written]),
             (B.ADD, 1, options("AddOptions"), [inner[0], scalar(1)], [following])], inner,
            [following, written, total, inner[3]])
    made = Known([main, condition, body])
    made.outputs = [np.cumsum(f, axis=0, dtype=np.float32)[-kept:] for f in x.feed]
    return made


def composite(r, i):
    """A quotient by the root of the mean square; every other one calls the square as another composite."""
    shape = shape_of(r, 2, 6)
    some = lambda shape: Operand(shape, np.float32)
    x, y, inner, square, mean, root, out, p, q = (some(t) for t in (shape, shape, shape, shape, shape[:1] + [1],
                                                                    shape[:1] + [1], shape, shape, shape))
    x.feed = [r.normal(0, 2, shape).astype(np.float32) for _ in range(RUNS)]
    call = lambda number, read, made: (B.STABLEHLO_COMPOSITE, 1, options(
        "StableHLOCompositeOptions", name="odml.part", decompositionSubgraphIndex=number,
        compositeAttributes=np.frombuffer(bytes(flexbuffers.Dumps({})), np.uint8)), [read], [made])
    product = lambda a, made: (B.MUL, 1, options("MulOptions"), [a, a], [made])
    steps = [call(2, inner, square) if i % 2 else product(inner, square),
             (B.MEAN, 1, options("ReducerOptions", keepDims=True), [square, constant([1])], [mean]),
             (B.SQRT, 1, None, [mean], [root]), (B.DIV, 1, options("DivOptions"), [inner, root], [out])]
    return [([call(1, x, y)], [x], [y]), (steps, [inner], [out]), ([product(p, q)], [p], [q])]


def if_(r, i):
    """A sum or a product, by a condition that is an input."""
    shape, kind = shape_of(r, None, 4), [np.int8, np.float32][i % 2]
    some = lambda: Operand(shape, kind, *([quant(r)[0], quant(r)[1]] if kind == np.int8 else []))
    a, b, y, holds = some(), some(), some(), Operand([1], np.bool_)
    for t in (a, b):
        t.feed = [bytes_of(r, shape) if kind == np.int8 else r.normal(0, 2, shape).astype(np.float32)
                  for _ in range(RUNS)]
    holds.feed = [np.array([(i + n) % 3 > 0]) for n in range(RUNS)]
    like_these = lambda *ts: [Operand(t.shape, t.dtype, t.scales and t.scales[0], t.zeros[0] if t.zeros else 0)
                              for t in ts]
    branches = []
    for code, name in ((B.ADD, "AddOptions"), (B.MUL, "MulOptions")):
        p, q, z = like_these(a, b, y)
        branches.append(([(code, 2, options(name), [p, q], [z])], [p, q], [z]))
    return ([([(B.IF, 1, options("IfOptions", thenSubgraphIndex=1, elseSubgraphIndex=2), [holds, a, b], [y])],
              [holds, a, b], [y])] + branches)


def simple_rnn(r, i, most=5, relu=False):
    """Floats; every second case has one step."""
    batch, steps, inputs, units, major = (int(r.integers(1, 3)), int(r.integers(1, 6)), int(r.integers(1, most + 1)),
                                          int(r.integers(1, most + 1)), bool(i % 4 == 0))
    real = lambda *shape: Operand(shape, np.float32, data=r.normal(0, 0.5, shape).astype(np.float32))
    shape = [batch, inputs] if i % 2 else [steps, batch, inputs] if major else [batch, steps, inputs]
    x, y = Operand(shape, np.float32), Operand(shape[:-1] + [units], np.float32)
    x.feed = [r.normal(0, 2, shape).astype(np.float32) for _ in range(RUNS)]
    read, activation = ([x, real(units, inputs), real(units, units), real(units), variable([batch, units])], 4 if i % 3
                        and not relu else 1)
    fields = (options("RNNOptions", fusedActivationFunction=activation) if i % 2
              else options("SequenceRNNOptions", fusedActivationFunction=activation, timeMajor=major))
    return [([(B.RNN if i % 2 else B.UNIDIRECTIONAL_SEQUENCE_RNN, 1, fields, read, [y])], [x], [y])]


# ---- TensorFlow Lite Micro's signal library ------------------------------------------------------------------------


def samples(r, shape, dtype=np.int16, loud=None):
    """Noise and a tone, often silent or overdriven."""
    a = r.choice([0, 1, 40, 2000, 20000, 60000]) if loud is None else loud
    x = r.normal(0, 1, shape) * a + a * np.sin(np.arange(shape[-1]) * r.uniform(0, 3) + r.uniform(0, 6))
    if dtype == np.float32:
        return (x / 32768).astype(np.float32)
    x = np.clip(x, -32768, 32767).astype(dtype)
    return x * dtype(int(r.integers(1, 60000))) if dtype == np.int32 else x


def sounds(r, shape, dtype=np.int16):
    x = Operand(shape, dtype)
    x.feed = [samples(r, shape, x.dtype.type) for _ in range(RUNS)]
    return x


def spectra(r, shape, bits):
    """Numbers of all magnitudes."""
    x = Operand(shape, np.uint32 if bits == 32 else np.uint64)
    x.feed = [(np.exp2(r.uniform(0, bits - 1e-6, shape)) - r.integers(0, 2, shape)).astype(x.dtype)
              for _ in range(RUNS)]
    for f in x.feed:
        f[r.integers(0, shape[0])] = r.choice([0, 1, 2, 3, (1 << bits) - 1, (1 << 32) - 1])
    return x


def outer(r, *last):
    return [int(n) for n in r.integers(1, 4, int(r.integers(0, 3)))] + list(last)


def signal_window(r, i):
    n = int(r.integers(1, 70))
    x, y = sounds(r, outer(r, n)), None
    y = Operand(x.shape, np.int16)
    w = Operand([n], np.int16, data=r.integers(-32768, 32768, n) if i % 3 == 0 else r.integers(0, 4097, n))
    return [([("SignalWindow", 1, {"shift": int(r.integers(0, 16)) if i % 2 else 12}, [x, w], [y])], [x], [y])]


def signal_auto_scale(r, i):
    n = int(r.integers(1, 70))
    x, y, bits = sounds(r, [n]), Operand([n], np.int16), Operand([], np.int32)
    if i % 3 == 0:
        x.feed[1][r.integers(0, n)] = -32768
    return [([("SignalFftAutoScale", 1, {}, [x], [y, bits])], [x], [y, bits])]


def signal_rfft(inverse, real):
    def make(r, i):
        length, dtype = (1 << int(r.integers(2, 8)) if i != 19 else 512, np.float32 if real
                         else [np.int16, np.int32][i % 2])
        width = length + 2 if inverse else length if i % 3 else int(r.integers(1, length + 1))
        x = sounds(r, outer(r, width) if length <= 16 else [width], dtype)
        y = Operand(x.shape[:-1] + [length if inverse else length + 2], dtype)
        fields = {"T": int(TYPES[np.dtype(dtype)]), "fft_length": length}
        return [([("SignalIrfft" if inverse else "SignalRfft", 1, fields, [x], [y])], [x], [y])]
    return make


def signal_energy(r, i):
    """The reference does not write the other bins."""
    bins = int(r.integers(2, 60))
    begin, end = (0, bins) if i % 2 else sorted(int(n) for n in r.choice(bins + 1, 2, replace=False))
    x, y, whole, y_part = (sounds(r, [2 * bins]), Operand([bins], np.uint32), Operand([bins], np.int32),
                           Operand([end - begin], np.int32))
    operators = [("SignalEnergy", 1, {"start_index": begin, "end_index": end}, [x], [y]),
                 (B.CAST, 1, None, [y], [whole]),
                 (B.SLICE, 1, options("SliceOptions"), [whole, constant([begin]), constant([end - begin])], [y_part])]
    return [(operators, [x], [y_part])]


def bank(r, bins, channels):
    """Bands that follow one another, with weights of 12 bits."""
    widths = [max(1, int(n)) for n in r.integers(0, max(2, 2 * bins // (channels + 1)), channels + 1)]
    starts = [int(r.integers(0, max(1, bins - w + 1))) for w in widths]
    widths = [min(w, bins - at) for w, at in zip(widths, starts)]
    at = [int(n) for n in np.cumsum([0] + widths[:-1])]
    rising = r.integers(0, 4097, sum(widths))
    return [constant(v, np.int16) for v in (rising, 4096 - rising, starts, at, widths)]


def signal_filter_bank(r, i):
    """With the square root, because the package does not return 64 bits without a sign."""
    bins, channels = int(r.integers(2, 60)), int(r.integers(1, 12))
    x, sums, bits, y = (spectra(r, [bins], 32), Operand([channels], np.uint64), Operand([], np.int32),
                        Operand([channels], np.uint32))
    bits.feed = [np.array(int(r.integers(0, 16)), np.int32) for _ in range(RUNS)]
    operators = [("SignalFilterBank", 1, {"num_channels": channels}, [x] + bank(r, bins, channels), [sums]),
                 ("SignalFilterBankSquareRoot", 1, {}, [sums, bits], [y])]
    return [(operators, [x, bits], [y])]


def signal_spectral_subtraction(r, i):
    n, up, bits = int(r.integers(1, 20)), int(r.integers(0, 12)), 14
    x, y, noise = spectra(r, [n], 32), Operand([n], np.uint32), Operand([n], np.uint32)
    x.feed = [f >> np.uint32(up) if i % 4 else f for f in x.feed]
    even, odd = int(r.integers(0, 4000)), int(r.integers(0, 4000))
    fields = {"num_channels": n, "smoothing": even, "one_minus_smoothing": (1 << bits) - even,
              "alternate_smoothing": odd, "alternate_one_minus_smoothing": (1 << bits) - odd,
              "smoothing_bits": up, "min_signal_remaining": int(r.integers(0, 2000)), "clamping": bool(i % 2),
              "spectral_subtraction_bits": bits}
    return [([("SignalFilterBankSpectralSubtraction", 1, fields, [x], [y, noise])], [x], [y, noise])]


def signal_pcan(r, i):
    n = int(r.integers(1, 20))
    x, noise, y = spectra(r, [n], 32), spectra(r, [n], 32), Operand([n], np.uint32)
    table = constant(np.exp2(-np.arange(125) / 12) * r.integers(200, 32768) * (1 if i % 3 else -1), np.int16)
    return [([("SignalPCAN", 1, {"snr_shift": int(r.integers(0, 20))}, [x, noise, table], [y])], [x, noise], [y])]


def signal_log(r, i):
    n = int(r.integers(1, 30))
    x, y = spectra(r, [n], 32), Operand([n], np.int16)
    return [(
        [("SignalFilterBankLog", 1,
          {"input_correction_bits": int(r.integers(0, 8)), "output_scale": int(r.integers(1, 3000))}, [x], [y])], [x],
          [y])]


def where_valid(frames, valid):
    """The reference does not write frames that are not valid."""
    y = Operand(frames.shape, np.int16)
    return ((B.SELECT_V2, 1, options("SelectV2Options"),
             [valid, frames, Operand(frames.shape, np.int16, data=np.zeros(frames.shape))], [y]), y)


def signal_framer(r, i):
    size = int(r.integers(1, 40))
    step, count = int(r.integers(1, size + 1)), int(r.integers(1, 4))
    x = sounds(r, outer(r, count * step))
    frames, valid = Operand(x.shape[:-1] + [count, size], np.int16), Operand([], np.bool_)
    chosen, y = where_valid(frames, valid)
    return [(
        [("SignalFramer", 1, {"frame_size": size, "frame_step": step, "prefill": bool(i % 2)}, [x], [frames, valid]),
         chosen], [x], [y, valid])]


def signal_delay(r, i):
    x = sounds(r, outer(r, int(r.integers(1, 20))))
    y = Operand(x.shape, np.int16)
    return [([("SignalDelay", 1, {"delay_length": int(r.integers(0, 40))}, [x], [y])], [x], [y])]


def signal_overlap_add(r, i):
    size, dtype = int(r.integers(1, 30)), [np.int16, np.float32][i % 2]
    step, count = int(r.integers(1, size + 1)), int(r.integers(1, 4))
    x = sounds(r, outer(r, count, size), dtype)
    y = Operand(x.shape[:-2] + [count * step], dtype)
    return [([("SignalOverlapAdd", 1, {"T": int(TYPES[np.dtype(dtype)]), "frame_step": step}, [x], [y])], [x], [y])]


def circular_buffer(r, i):
    """Two buffers, the second behind a mean; each ends all but one of `cycles_max` runs."""
    depth, slots, q = [int(n) for n in r.integers(1, 5, 2)], [int(n) for n in r.integers(1, 6, 2)], quant(r)
    cycles = [1 + i % 2, 1 + i // 2 % 2]
    tensor = lambda n: Operand([1, n] + depth, np.int8, *q)
    x, y, one, z = tensor(1), tensor(slots[0]), tensor(1), tensor(slots[1])
    x.feed = [bytes_of(r, x.shape) for _ in range(RUNS)]
    y.variable = z.variable = True
    operators = [("CIRCULAR_BUFFER", 1, {"cycles_max": cycles[0]}, [x], [y]),
                 (B.MEAN, 2, options("ReducerOptions", keepDims=True), [y, constant([1])], [one]),
                 ("CIRCULAR_BUFFER", 1, {"cycles_max": cycles[1]}, [one], [z])]
    last = Operand(z.shape, np.int8, *q)
    return [(operators + [(B.MAXIMUM, 2, options("MaximumMinimumOptions"), [z, z], [last])], [x], [last])]


def detection(stored):
    """Boxes by anchors, most of them apart, and scores without ties; the stored forms are those of the older
    quantization."""
    def make(r, i):
        n, classes, is_regular = int(r.integers(4, 30)), int(r.integers(1, 6)), bool(i % 2)
        detections, background = int(r.integers(1, n + 1 if i % 3 else 12)), int(r.integers(0, 2))
        side = int(np.ceil(np.sqrt(n)))
        centers = [((k // side + 0.5) / side, (k % side + 0.5) / side) for k in range(n)]
        anchors = np.array([[y, x, r.uniform(0.5, 2) / side, r.uniform(0.5, 2) / side] for y, x in centers], np.float32)
        codes, scores = (r.normal(0, 1.5, [1, n, 4]).astype(np.float32),
                         r.permutation(n * (classes + background)).reshape(1, n, -1) / (n * (classes + background)))
        fields = {"max_detections": detections, "max_classes_per_detection": 1, "num_classes": classes,
                  "nms_score_threshold": float(r.choice([0.05, 0.3, 0.6])),
                  "nms_iou_threshold": float(r.choice([0.1, 0.3, 0.5])), "y_scale": 10.0, "x_scale": 10.0,
                  "h_scale": 5.0, "w_scale": 5.0}
        if is_regular:
            fields.update(use_regular_nms=True, detections_per_class=int(r.integers(1, n + 3)))
        x, s_, a = plain(r, codes.shape, np.float32), plain(r, scores.shape, np.float32), constant(anchors, np.float32)
        x.feed, s_.feed = codes, scores.astype(np.float32)
        if stored:
            x, s_ = Operand(codes.shape, np.uint8, 0.04, 128), Operand(scores.shape, np.uint8, 1 / 256, 0)
            x.feed = np.clip(np.round(codes / 0.04) + 128, 0, 255).astype(np.uint8)
            s_.feed = r.permutation(256)[:scores.size].reshape(scores.shape).astype(np.uint8)
            a = Operand(anchors.shape, np.uint8, 1 / 128, 0, data=np.clip(np.round(anchors * 128), 1, 255))
        outputs = [Operand(shape, np.float32) for shape in ([1, detections, 4], [1, detections], [1, detections], [1])]
        return "TFLite_Detection_PostProcess", 1, fields, [x, s_, a], outputs
    return make


def cut(made, results):
    """The reference does not write rows beyond the detections: zeros."""
    count = int(results[3][0])
    return ([np.where(np.arange(y.shape[1]).reshape([1, -1] + [1] * (y.ndim - 2)) < count, y, 0).astype(np.float32)
             for y in results[:3]] + [results[3]])


def held(made, results):
    """A run that a buffer ends leaves the outputs undefined: those of the run before stay, at first zeros."""
    period = int(np.prod([fields["cycles_max"] for code, _, fields, _, _ in made[0][0] if code == "CIRCULAR_BUFFER"]))
    return [results[k - (k + 1) % period] if k + 1 >= period else np.zeros_like(results[k])
            for k in range(len(results))]


def signal_stacker(r, i):
    channels, left, right = int(r.integers(1, 9)), int(r.integers(0, 4)), int(r.integers(0, 3))
    frames, valid = Operand([channels * (left + right + 1)], np.int16), Operand([], np.bool_)
    chosen, y = where_valid(frames, valid)
    fields = {"num_channels": channels, "stacker_left_context": left, "stacker_right_context": right,
              "stacker_step": int(r.integers(1, left + right + 2))}
    x = sounds(r, [channels])
    return [([("SignalStacker", 1, fields, [x], [frames, valid]), chosen], [x], [y, valid])]


def signal_features(r, i):
    """A front end: from samples to the logarithms of a filter bank."""
    n, channels = int(r.choice([60, 100, 240])), int(r.integers(2, 12))
    length = 1 << (n - 1).bit_length()
    bins = length // 2 + 1
    x = sounds(r, [n])
    t = lambda shape, dtype: Operand(shape, dtype)
    windowed, scaled, bits, spectrum, energies, sums = (t([n], np.int16), t([n], np.int16), t([], np.int32),
                                                        t([length + 2], np.int16), t([bins], np.uint32),
                                                        t([channels], np.uint64))
    roots, quiet, noise, gained, y = [t([channels], np.uint32) for _ in range(4)] + [t([channels], np.int16)]
    noise_fields = {"num_channels": channels, "smoothing": 409, "one_minus_smoothing": 15975,
                    "alternate_smoothing": 983, "alternate_one_minus_smoothing": 15401,
                    "smoothing_bits": 10, "min_signal_remaining": 819, "clamping": False,
                    "spectral_subtraction_bits": 14}
    operators = [
        ("SignalWindow", 1, {"shift": 12},
         [x, constant(4096 * np.sin(np.pi * (np.arange(n) + 0.5) / n) ** 2, np.int16)], [windowed]),
                 ("SignalFftAutoScale", 1, {}, [windowed], [scaled, bits]),
                 ("SignalRfft", 1, {"T": int(s.TensorType.INT16), "fft_length": length}, [scaled], [spectrum]),
                 ("SignalEnergy", 1, {"start_index": 0, "end_index": bins}, [spectrum], [energies]),
                 ("SignalFilterBank", 1, {"num_channels": channels}, [energies] + bank(r, bins, channels), [sums]),
                 ("SignalFilterBankSquareRoot", 1, {}, [sums, bits], [roots]),
                 ("SignalFilterBankSpectralSubtraction", 1, noise_fields, [roots], [quiet, noise]),
                 ("SignalPCAN", 1, {"snr_shift": 6},
                  [quiet, noise, constant(np.exp2(-np.arange(125) / 12) * 20000, np.int16)], [gained]),
                 ("SignalFilterBankLog", 1, {"input_correction_bits": 3, "output_scale": 64}, [gained], [y])]
    return [(operators, [x], [y])]


# ---- Positions, sums of several, volumes ---------------------------------------------------------------------------


KINDS = [np.float32, np.int32, np.int8]


def of_kind(r, shape, i):
    """Floats, integers, or int8 with a scale, in turn."""
    return int8(r, shape) if i % 3 == 2 else plain(r, shape, KINDS[i % 3])


def add_n(r, i):
    x = of_kind(r, shape_of(r), i)
    rest = [like(x) for _ in range(int(r.integers(1, 4)))]
    for t in rest:
        t.feed = of_kind(r, x.shape, i).feed
    return B.ADD_N, 1, None, [x] + rest, [int8_out(r, x.shape) if i % 3 == 2 else like(x)]


def zeros_like(r, i):
    x = of_kind(r, shape_of(r), i)
    return B.ZEROS_LIKE, 1, options("ZerosLikeOptions"), [x], [like(x)]


def broadcast_args(r, i):
    """The shapes are constants here, so the result has no input: it is added to one."""
    a, b, whole = broadcast_pair(r)
    x, y, z = plain(r, [len(whole)], np.int32), Operand([len(whole)], np.int32), Operand([len(whole)], np.int32)
    return [([(B.BROADCAST_ARGS, 1, None, [constant(a), constant(b)], [y]),
              (B.ADD, 1, options("AddOptions"), [x, y], [z])], [repeated(r, x)], [z])]


def repeated(r, x):
    x.feed = [plain(r, x.shape, x.dtype).feed for _ in range(RUNS)]
    return x


def dynamic_update_slice(r, i):
    shape = shape_of(r, None, 5)
    x, part = of_kind(r, shape, i), [int(r.integers(1, n + 1)) for n in shape]
    update = like(x, part)
    update.feed = of_kind(r, part, i).feed
    begin = Operand([len(shape)], np.int32, feed=r.integers(0 if i % 2 else -2, 4, len(shape)).astype(np.int32))
    return B.DYNAMIC_UPDATE_SLICE, 1, options("DynamicUpdateSliceOptions"), [x, update, begin], [like(x)]


def list_write(r, i):
    """Row k of a list, written as converters write it in a loop: by slices of sizes that are inputs, and a
    concatenation."""
    shape = shape_of(r, int(r.integers(1, 4)), 5)
    x, item, rest = plain(r, shape, KINDS[i % 2]), plain(r, [1] + shape[1:], KINDS[i % 2]), len(shape) - 1
    size, begin = Operand([1 + rest], np.int32), Operand([1 + rest], np.int32)
    k = [int(v) for v in r.integers(0, shape[0], RUNS)]
    size.feed, begin.feed = ([np.array([v] + [-1] * rest, np.int32) for v in k],
                             [np.array([v + 1] + [0] * rest, np.int32) for v in k])
    before, after, y = like(x, [1] * (1 + rest)), like(x, [1] + shape[1:]), like(x)
    before.signature = after.signature = [-1] * (1 + rest)
    slice_of = lambda start, many, out: (B.SLICE, 1, options("SliceOptions"), [x, start, many], [out])
    operators = [slice_of(constant([0] * (1 + rest)), size, before),
                 slice_of(begin, constant([-1] * (1 + rest)), after),
                 (B.CONCATENATION, 1, options("ConcatenationOptions", axis=0), [before, item, after], [y])]
    return [(operators, [repeated(r, x), size, begin, repeated(r, item)], [y])]


def list_write_open(r, i):
    """Row k of a list whose number of rows is open in the file: the slices have the numbers k and k + 1."""
    shape = shape_of(r, int(r.integers(1, 4)), 5)
    x, item, rest = plain(r, shape, KINDS[i % 2]), plain(r, [1] + shape[1:], KINDS[i % 2]), len(shape) - 1
    k, behind = Operand([] if i % 3 else [1], np.int32), Operand([] if i % 3 else [1], np.int32)
    k.feed = [np.array(v, np.int32).reshape(k.shape) for v in r.integers(0, shape[0], RUNS)]
    before, after, y, rows = like(x), like(x, [1] + shape[1:]), like(x), []
    before.signature, after.signature = [-1] * (1 + rest), [-1] * (1 + rest)
    x.signature, y.signature = [-1] + shape[1:], [-1] + shape[1:]
    operators = [(B.ADD, 1, options("AddOptions"), [k, constant([1])] if i % 2 else [constant([1]), k], [behind])]
    operators[0][3][i % 2].shape = []
    for number, filler in [(k, -1), (behind, 0)]:
        row = Operand([1], np.int32)
        rows.append(Operand([1 + rest], np.int32))
        operators += [(B.RESHAPE, 1, options("ReshapeOptions", newShape=[1]), [number, constant([1])], [row]),
                      (B.CONCATENATION, 1, options("ConcatenationOptions", axis=0),
                       [row] + [constant([filler] * rest)] * (rest > 0), [rows[-1]])]
    slice_of = lambda start, many, out: (B.SLICE, 1, options("SliceOptions"), [x, start, many], [out])
    operators += [slice_of(constant([0] * (1 + rest)), rows[0], before),
                  slice_of(rows[1], constant([-1] * (1 + rest)), after),
                  (B.CONCATENATION, 1, options("ConcatenationOptions", axis=0), [before, item, after], [y])]
    return [(operators, [repeated(r, x), k, repeated(r, item)], [y])]


def l2_pool(r, i):
    code, version, fields, inputs, outputs = pool(B.L2_POOL_2D)(r, i)
    return code, 1, fields, [plain(r, inputs[0].shape, np.float32)], [Operand(outputs[0].shape, np.float32)]


def batch_matmul_sixteen(r, i):
    """The reference multiplies 64-bit sums by 16-bit factors."""
    return sixteen(batch_matmul)(r, i)


def one_hot(r, i):
    shape, depth = shape_of(r, int(r.integers(1, 4)), 4), int(r.integers(1, 6))
    axis = int(r.integers(-1, len(shape) + 1))
    at = len(shape) if axis < 0 else axis
    on, off = ((constant(5, np.int8), constant(-3, np.int8)) if i % 2
               else (constant(1, np.float32), constant(-0.5, np.float32)))
    x = Operand(shape, np.int32, feed=r.integers(-2, depth + 2, shape).astype(np.int32))
    return (B.ONE_HOT, 1, options("OneHotOptions", axis=axis), [x, constant(depth), on, off],
            [Operand(shape[:at] + [depth] + shape[at:], on.dtype)])


def reverse_sequence(r, i):
    shape = shape_of(r, int(r.integers(2, 5)))
    time, batch = [int(n) for n in r.choice(len(shape), 2, replace=False)]
    x = plain(r, shape, KINDS[i % 2])
    lengths = Operand([shape[batch]], np.int32, feed=r.integers(0, shape[time] + 1, shape[batch]).astype(np.int32))
    return (B.REVERSE_SEQUENCE, 1, options("ReverseSequenceOptions", seqDim=time, batchDim=batch), [x, lengths],
            [like(x)])


def matrix_diag(r, i):
    x = plain(r, shape_of(r, int(r.integers(1, 4))), KINDS[i % 2])
    return B.MATRIX_DIAG, 1, options("MatrixDiagOptions"), [x], [like(x, x.shape + x.shape[-1:])]


def matrix_set_diag(r, i):
    shape = shape_of(r, int(r.integers(2, 5)))
    x, d = plain(r, shape, KINDS[i % 2]), plain(r, shape[:-2] + [min(shape[-2:])], KINDS[i % 2])
    return B.MATRIX_SET_DIAG, 1, options("MatrixSetDiagOptions"), [x, d], [like(x)]


def scatter_nd(r, i):
    shape, count = shape_of(r, None, 5), int(r.integers(1, 6))
    depth = int(r.integers(1, len(shape) + 1))
    index = np.stack([r.integers(0, n, count) for n in shape[:depth]], 1).astype(np.int32)
    update = plain(r, [count] + shape[depth:], KINDS[i % 2])
    update.feed = np.round(update.feed * 4) / 4 if i % 2 == 0 else update.feed
    update.feed = update.feed.astype(update.dtype)
    return (B.SCATTER_ND, 1, options("ScatterNdOptions"),
            [Operand(index.shape, np.int32, feed=index), update, constant(shape)], [Operand(shape, update.dtype)])


def segment_sum(r, i):
    shape = shape_of(r)
    x = plain(r, shape, KINDS[i % 2])
    x.feed = (np.round(x.feed * 4) / 4).astype(x.dtype)
    ids = np.sort(r.integers(0, 4, shape[0])).astype(np.int32)
    ids = np.searchsorted(np.unique(ids), ids).astype(np.int32)
    return B.SEGMENT_SUM, 1, options("SegmentSumOptions"), [x, constant(ids)], [like(x, [int(ids[-1]) + 1] + shape[1:])]


def unsorted_segment(code):
    """Of small numbers, whose products and sums are exact; segments without elements, too."""
    def make(r, i):
        shape, count = shape_of(r), int(r.integers(1, 6))
        x = Operand(shape, KINDS[i % 2], feed=r.choice([1, -1, 2, -2], shape).astype(KINDS[i % 2]))
        ids = Operand(shape[:1], np.int32, feed=r.integers(0, count, shape[0]).astype(np.int32))
        return code, 1, None, [x, ids, constant(count)], [like(x, [count] + shape[1:])]
    return make


def bucketize(r, i):
    x = plain(r, shape_of(r), KINDS[i % 2])
    bounds = sorted(float(v) for v in r.integers(-20, 20, int(r.integers(1, 6))))
    return B.BUCKETIZE, 1, options("BucketizeOptions", boundaries=bounds), [x], [Operand(x.shape, np.int32)]


def sparse_to_dense(r, i):
    shape = shape_of(r, int(r.integers(1, 4)))
    places = sorted(r.choice(int(np.prod(shape)), int(r.integers(1, int(np.prod(shape)) + 1)), replace=False))
    index = np.stack(np.unravel_index(places, shape), 1).astype(np.int32)
    value = plain(r, [len(places)] if i % 3 else [], KINDS[i % 2])
    index = index[:, 0] if len(shape) == 1 and i % 4 < 2 else index
    return (B.SPARSE_TO_DENSE, 1, options("SparseToDenseOptions"),
            [constant(index), constant(shape), value, constant(7, KINDS[i % 2])], [Operand(shape, KINDS[i % 2])])


def suppression(code, sigma=(0.0,)):
    """Boxes whose scores differ, so that their order is given; in every third case some without area."""
    def make(r, i):
        n, most = int(r.integers(1, 12)), int(r.integers(1, 14))
        corner, size = r.uniform(0, 1, (n, 2)), r.uniform(0.1, 0.8, (n, 2))
        if i % 3 == 2:
            size[1::3, i % 2] = 0
        boxes = Operand([n, 4], np.float32,
                        feed=np.concatenate([corner, corner + size] if i % 2 else [corner + size, corner],
                                            1).astype(np.float32))
        scores = Operand([n], np.float32, feed=(r.permutation(n) / n).astype(np.float32))
        limits = [constant(most), constant(r.uniform(0.1, 0.9), np.float32),
                  constant([0.0, 0.3, -1.0][i % 3], np.float32)]
        found, count = Operand([most], np.int32), Operand([], np.int32)
        if code == B.NON_MAX_SUPPRESSION_V4:
            return code, 1, options("NonMaxSuppressionV4Options"), [boxes, scores] + limits, [found, count]
        return (code, 1, options("NonMaxSuppressionV5Options"), [boxes, scores] + limits
                + [constant(sigma[i % len(sigma)], np.float32)], [found, Operand([most], np.float32), count])
    return make


def strided_slice_forms(r, i):
    """Ellipses, new axes, and ends that count from the begin. By TensorFlow's definition an ellipsis may span no
    dimension; TensorFlow Lite's kernel takes one nevertheless."""
    shape = shape_of(r, int(r.integers(2, 5)))
    at, spans = int(r.integers(0, len(shape))), max(int(r.integers(0, len(shape))), 1)
    begin, end, step, y, masks, d = ([], [], [], [],
                                     dict(beginMask=0, endMask=0, ellipsisMask=0, newAxisMask=0, shrinkAxisMask=0), 0)
    is_offset = i % 3 == 2
    while d < len(shape):
        k = len(begin)
        kind = ("..." if d == at and not masks["ellipsisMask"] and not is_offset else r.choice(["new", "one", "part"])
                if not is_offset else "part")
        if kind == "...":
            masks["ellipsisMask"] |= 1 << k
            spans = min(spans, len(shape) - d)
            y += shape[d:d + spans]
            d += spans
            # the entries behind it must cover the remaining dimensions
            begin, end, step = begin + [0], end + [0], step + [1]
        elif kind == "new":
            if len(y) + len(shape) - d >= 5:
                continue
            masks["newAxisMask"] |= 1 << k
            y.append(1)
            begin, end, step = begin + [0], end + [1], step + [1]
        elif kind == "one":
            masks["shrinkAxisMask"] |= 1 << k
            first = int(r.integers(-shape[d], shape[d]))
            begin, end, step, d = begin + [first], end + [first + 1], step + [1], d + 1
        else:
            first = int(r.integers(0, shape[d]))
            last = int(r.integers(first + 1, shape[d] + 1))
            y.append(last - first)
            begin, end, step, d = begin + [first], end + [last - first if is_offset else last], step + [1], d + 1
    x = plain(r, shape, KINDS[i % 2])
    version = 8 if is_offset else 6
    return (B.STRIDED_SLICE, version, options("StridedSliceOptions", offset=is_offset, **masks),
            [x, constant(begin), constant(end), constant(step)], [like(x, y)])


def gather_batches(r, i):
    batch = int(r.integers(1, 3))
    lead, between, rest, parts = (shape_of(r, batch, 4),
                                  shape_of(r, int(r.integers(0, 2)) or 1, 4)[:int(r.integers(0, 2))],
                                  shape_of(r, 1, 4)[:int(r.integers(0, 2))], shape_of(r, 1, 4))
    n = int(r.integers(1, 5))
    x = plain(r, lead + between + [n] + rest, KINDS[i % 2])
    at = Operand(lead + parts, np.int32, feed=r.integers(0, n, lead + parts).astype(np.int32))
    return (B.GATHER, 5, options("GatherOptions", axis=batch + len(between), batchDims=batch), [x, at],
            [like(x, lead + between + parts + rest)])


def local_response(r, i):
    x = plain(r, shape_of(r, 4), np.float32)
    x.feed /= 4
    fields = dict(radius=int(r.integers(1, 4)), bias=float(r.uniform(0.5, 2)), alpha=float(r.uniform(0.1, 1)),
                  beta=float([0.5, 0.75, 1.0][i % 3]))
    return B.LOCAL_RESPONSE_NORMALIZATION, 1, options("LocalResponseNormalizationOptions", **fields), [x], [like(x)]


def conv_3d(r, i):
    size, k, st = ([int(v) for v in r.integers(3, 7, 3)], [int(v) for v in r.integers(1, 4, 3)],
                   [int(v) for v in r.integers(1, 3, 3)])
    c, o, same = int(r.integers(1, 4)), int(r.integers(1, 4)), bool(i % 2)
    y = [-(-n // t) if same else -(-(n - m + 1) // t) for n, m, t in zip(size, k, st)]
    w = plain(r, k + [c, o], np.float32)
    w.data = w.feed
    bias = plain(r, [o], np.float32)
    bias.data = bias.feed
    fields = options("Conv3DOptions", padding=0 if same else 1, strideD=st[0], strideH=st[1], strideW=st[2],
                     dilationDFactor=1, dilationHFactor=1, dilationWFactor=1,
                     fusedActivationFunction=ACTIVATIONS[i % 4])
    return (B.CONV_3D, 1, fields, [plain(r, [1] + size + [c], np.float32), w] + ([bias] if i % 3 else []),
            [Operand([1] + y + [o], np.float32)])


def conv_3d_transpose(r, i):
    """Of quarters, whose sums are exact in any order."""
    size, k, st = ([int(v) for v in r.integers(2, 4, 3)], [int(v) for v in r.integers(1, 4, 3)],
                   [int(v) for v in r.integers(1, 3, 3)])
    c, o, same = int(r.integers(1, 4)), int(r.integers(1, 4)), bool(i % 2)
    k = [max(a, b) for a, b in zip(k, st)]
    y = [n * t if same else (n - 1) * t + m for n, m, t in zip(size, k, st)]
    w, x = plain(r, k + [o, c], np.float32), plain(r, [1] + size + [c], np.float32)
    x.feed, w.data = np.round(x.feed * 4) / np.float32(4), np.round(w.feed * 4) / np.float32(4)
    fields = options("Conv3DOptions", padding=0 if same else 1, strideD=st[0], strideH=st[1], strideW=st[2],
                     dilationDFactor=1, dilationHFactor=1, dilationWFactor=1)
    return B.CONV_3D_TRANSPOSE, 1, fields, [constant([1] + y + [o]), w, x], [Operand([1] + y + [o], np.float32)]


def two_floats(code):
    def make(r, i):
        x = plain(r, shape_of(r), np.float32)
        return code, 1, None, [x, plain(r, x.shape, np.float32)], [like(x)]
    return make


def of_bits(code, name):
    def make(r, i):
        kind = [np.int32, np.int8, np.uint8, np.int16][i % 4]
        shape = shape_of(r)
        x = Operand(shape, kind, feed=r.integers(np.iinfo(kind).min, np.iinfo(kind).max, shape).astype(kind))
        other = Operand(shape, kind, feed=r.integers(0, 8 * np.dtype(kind).itemsize if code == B.RIGHT_SHIFT else 100,
                                                     shape).astype(kind))
        return code, 1, options(name), [x, other], [like(x)]
    return make


def whole_unary(code, name=None):
    def make(r, i):
        x = plain(r, shape_of(r), [np.int32, np.float32][i % 2])
        return code, 1 if i % 2 else 2, options(name) if name else None, [x], [like(x)]
    return make


def relu_0_to_1(r, i):
    if i % 2:
        return float_unary(B.RELU_0_TO_1, signed=True)(r, i)
    return unary(B.RELU_0_TO_1, version=1)(r, i)


def fake_quant(r, i):
    x = plain(r, shape_of(r), np.float32)
    low, high = float(r.uniform(-3, 0)), float(r.uniform(0.5, 3))
    return (B.FAKE_QUANT, 1, options("FakeQuantOptions", min=low, max=high, numBits=[8, 4, 16][i % 3],
                                     narrowRange=bool(i % 2)), [x], [like(x)])


def whole_reduction(code):
    def make(r, i):
        _, _, fields, inputs, outputs = reduction(code, True)(r, i)
        kind = [np.int32, np.int64][i % 2]
        return code, 1, fields, [plain(r, inputs[0].shape, kind), inputs[1]], [Operand(outputs[0].shape, kind)]
    return make


def batch_matmul_hybrid(r, i):
    """One leading dimension: of two the reference takes the scale of another row."""
    lead, m, k, n = shape_of(r, 1, 3), *[int(v) for v in r.integers(1, 8, 3)]
    adj = bool(i % 2)
    w = Operand(lead + ([n, k] if adj else [k, n]), np.int8, quant(r)[0], 0,
                data=r.integers(-127, 128, lead + ([n, k] if adj else [k, n])).astype(np.int8))
    return (B.BATCH_MATMUL, 4,
            options("BatchMatMulOptions", adjX=False, adjY=adj, asymmetricQuantizeInputs=bool(i & 2)),
            [plain(r, lead + [m, k], np.float32), w], [Operand(lead + [m, n], np.float32)])


# With zero points, or the steps first, the reference crashes.
OPERATORS = {
    "add": binary(B.ADD, "AddOptions"), "sub": binary(B.SUB, "SubOptions"), "mul": binary(B.MUL, "MulOptions"),
    "squared_difference": binary(B.SQUARED_DIFFERENCE, "SquaredDifferenceOptions", 2, False), "div": div,
    "maximum": same_scale_binary(B.MAXIMUM), "minimum": same_scale_binary(B.MINIMUM),
    "equal": comparison(B.EQUAL, "EqualOptions"), "not_equal": comparison(B.NOT_EQUAL, "NotEqualOptions"),
    "less": comparison(B.LESS, "LessOptions"),
    "less_equal": comparison(B.LESS_EQUAL, "LessEqualOptions"), "greater": comparison(B.GREATER, "GreaterOptions"),
    "greater_equal": comparison(B.GREATER_EQUAL, "GreaterEqualOptions"),
    "abs": unary(B.ABS, "AbsOptions"), "neg": float_unary(B.NEG, "NegOptions"),
    "logistic": unary(B.LOGISTIC, fixed=(1 / 256, -128), low=0.01, high=0.3),
    "tanh": unary(B.TANH, fixed=(1 / 128, 0), low=0.01, high=0.3), "relu": unary(B.RELU),
    "relu6": unary(B.RELU6, same=True), 
    "leaky_relu": leaky, "prelu": prelu, "elu": unary(B.ELU, low=0.01),
    "hard_swish": unary(B.HARD_SWISH, "HardSwishOptions", version=1, low=0.01),
    "sqrt": float_unary(B.SQRT), "rsqrt": positive_unary(B.RSQRT), "rsqrt_int16": rsqrt_sixteen,
    "square": float_unary(B.SQUARE, "SquareOptions"),
    "conv_2d": conv, "depthwise_conv_2d": depthwise, "transpose_conv": transpose_conv,
    "transpose_conv_stored": transpose_conv_stored,
    "fully_connected": fully_connected, "batch_matmul": batch_matmul,
    "average_pool_2d": pool(B.AVERAGE_POOL_2D), "max_pool_2d": pool(B.MAX_POOL_2D), "softmax": softmax,
    "mean": reduction(B.MEAN, False), "sum": reduction(B.SUM, False),
    "reduce_max": reduction(B.REDUCE_MAX, True), "reduce_min": reduction(B.REDUCE_MIN, True),
    "arg_max": arg(B.ARG_MAX, "ArgMaxOptions"), "arg_min": arg(B.ARG_MIN, "ArgMinOptions"),
    "pad": pad, "padv2": padv2, "padv2_float16": padv2_float16, "mirror_pad": mirror_pad, "concatenation": concat,
    "split": split, "split_v": split_v, "slice": slice_, "strided_slice": strided_slice,
    "gather": gather, "gather_nd": gather_nd, "reshape": reshape, "squeeze": squeeze, "expand_dims": expand_dims,
    "transpose": transpose, "pack": pack, "unpack": unpack,
    "space_to_depth": space_to_depth, "depth_to_space": depth_to_space, "space_to_batch_nd": space_to_batch,
    "batch_to_space_nd": batch_to_space,
    "resize_bilinear": resize(B.RESIZE_BILINEAR, "ResizeBilinearOptions"),
    "resize_nearest_neighbor": resize(B.RESIZE_NEAREST_NEIGHBOR, "ResizeNearestNeighborOptions"),
    "broadcast_to": broadcast_to, "cast": cast, "quantize": quantize, "quantize_uint8": quantize_unsigned,
    "dequantize": dequantize, "dequantize_uint8": dequantize_unsigned, "floor_div": floor_div, "fill": fill,
    "shape": shape_op, "select_v2": select, "l2_normalization": l2_norm,
    "logical_and": logical(B.LOGICAL_AND, "LogicalAndOptions", 2),
    "logical_or": logical(B.LOGICAL_OR, "LogicalOrOptions", 2),
    "logical_not": logical(B.LOGICAL_NOT, "LogicalNotOptions", 1),
    "floor": float_unary(B.FLOOR, signed=True), "ceil": float_unary(B.CEIL, signed=True),
    "round": float_unary(B.ROUND, signed=True), "exp": float_unary(B.EXP, "ExpOptions", True),
    "log": float_unary(B.LOG), "sin": float_unary(B.SIN, signed=True), "cos": float_unary(B.COS, signed=True),
    "select": select_old, "relu_n1_to_1": float_unary(B.RELU_N1_TO_1, signed=True), "variables": variables,
    "variables_computed": computed_variables,
    "conv_2d_int4": half_bytes(conv, 4), "depthwise_conv_2d_int4": half_bytes(depthwise, 4),
    "fully_connected_int4": half_bytes(fully_connected, 7),
    "fully_connected_sparse": sparse_dense, "fully_connected_blockwise": dense_blockwise, "densify": densify,
    "decode": decode, "tile": tile, "reverse_v2": reverse, "cumsum": cumsum, "topk_v2": topk,
    "embedding_lookup": embedding_lookup,
    "pow": power, "floor_mod": floor_mod, "reduce_prod": plain_reduction(B.REDUCE_PROD, np.float32, [1, -1, 2, 0.5]),
    "reduce_prod_int8": product(0.005, 0.05),
    "reduce_prod_int16": sixteen(product(2e-5, 1e-4)),
    "reduce_any": plain_reduction(B.REDUCE_ANY, np.bool_, [False, False, True]),
    "reduce_all": plain_reduction(B.REDUCE_ALL, np.bool_, [True, True, False]),
    "add_int16": sixteen(binary(B.ADD, "AddOptions")), "sub_int16": sixteen(binary(B.SUB, "SubOptions")),
    "mul_int16": sixteen(binary(B.MUL, "MulOptions")),
    "maximum_int16": sixteen(same_scale_binary(B.MAXIMUM)), "minimum_int16": sixteen(same_scale_binary(B.MINIMUM)),
    "relu_int16": sixteen(unary(B.RELU)),
    "conv_2d_int16": sixteen(conv), "depthwise_conv_2d_int16": sixteen(depthwise, narrow=False),
    "fully_connected_int16": sixteen(fully_connected),
    "average_pool_2d_int16": sixteen(pool(B.AVERAGE_POOL_2D)), "max_pool_2d_int16": sixteen(pool(B.MAX_POOL_2D)),
    "mean_int16": sixteen(reduction(B.MEAN, False)),
    "logistic_int16": sixteen(unary(B.LOGISTIC), 1 / 32768, 1e-5),
    "tanh_int16": sixteen(unary(B.TANH), 1 / 32768, 1e-5), "curve_ends_int16": last_points,
    "curves_uint8": fine_curves,
    "softmax_int16": sixteen(softmax, 1 / 32768, 1e-5),
    "leaky_relu_int16": sixteen(leaky), "transpose_conv_int16": sixteen(transpose_conv, narrow=False),
    "exp_int16": sixteen(table(B.EXP, "ExpOptions"), low=1e-5, most=0.002),
    "log_int16": sixteen(table(B.LOG), low=1e-5),
    "resize_bilinear_int16": sixteen(resize(B.RESIZE_BILINEAR, "ResizeBilinearOptions")),
    "quantize_int16": quantize_sixteen, "dequantize_int16": sixteen(dequantize),
    "unidirectional_sequence_lstm": sequence_lstm, "unidirectional_sequence_lstm_fixed": sequence_lstm_fixed,
    "svdf": svdf(np.float32), "svdf_int8": svdf(np.int8), "svdf_int16": svdf(np.int16), "rnn": simple_rnn,
    "rnn_relu": lambda r, i: simple_rnn(r, i, 12, True),
    "while": while_, "if": if_, "composite": composite, "list_flex": list_flex,
    "rfft2d": rfft, "rfft2d_images": rfft_of_images,
    "conv_2d_hybrid": hybrid(conv), "depthwise_conv_2d_hybrid": hybrid(depthwise),
    "fully_connected_hybrid": hybrid(fully_connected),
    "transpose_conv_hybrid": hybrid(transpose_conv, image=2), "svdf_hybrid": svdf_hybrid,
    "bidirectional_sequence_lstm": both_lstm, "bidirectional_sequence_rnn": both_rnn, "lstm": one_lstm,
    "dilate": dilate,
    "unidirectional_sequence_lstm_hybrid": recurrent_hybrid(sequence_lstm, range(1, 9), 3),
    "rnn_hybrid": recurrent_hybrid(simple_rnn, (1, 2), 3),
    "bidirectional_sequence_lstm_hybrid": recurrent_hybrid(both_lstm, [*range(1, 9), *range(18, 26)], 3),
    "bidirectional_sequence_rnn_hybrid": recurrent_hybrid(lambda r, i: both_rnn(r, 3 * i), (1, 2, 5, 6), 3, 1),
    "exp_int8": table(B.EXP, "ExpOptions"), "log_int8": table(B.LOG), "sqrt_int8": table(B.SQRT, positive=True),
    "gelu": gelu, "gelu_int16": gelu_sixteen,
    "quotients": at_ties([(B.RELU, None, {}, np.int8), (B.ABS, "AbsOptions", {}, np.int8),
                          (B.LEAKY_RELU, "LeakyReluOptions", {"alpha": 0.5}, np.int8), (B.RELU, None, {}, np.int16),
                          (B.ABS, "AbsOptions", {}, np.int16)]),
    "quotients_uint8": at_ties(
        [(B.RELU, None, {}, np.uint8), (B.LEAKY_RELU, "LeakyReluOptions", {"alpha": 0.5}, np.uint8)]),
    "products_uint8": products_at_ties, "prelu_int16": prelu_sixteen, "comparisons_int16": comparison_sixteen,
    "cumsum_int8": cumsum_bytes, "log_softmax": log_softmax,
    "signal_window": signal_window, "signal_auto_scale": signal_auto_scale, "signal_rfft": signal_rfft(False, False),
    "signal_irfft": signal_rfft(True, False),
    "signal_rfft_float": signal_rfft(False, True), "signal_irfft_float": signal_rfft(True, True),
    "signal_energy": signal_energy,
    "signal_filter_bank": signal_filter_bank, "signal_spectral_subtraction": signal_spectral_subtraction,
    "signal_pcan": signal_pcan, "signal_log": signal_log,
    "signal_framer": signal_framer, "signal_delay": signal_delay, "signal_overlap_add": signal_overlap_add,
    "signal_stacker": signal_stacker,
    "circular_buffer": circular_buffer, "detection_post_process": detection(False),
    "detection_post_process_uint8": detection(True),
    "signal_features": signal_features,
    "add_n": add_n, "zeros_like": zeros_like, "broadcast_args": broadcast_args,
    "dynamic_update_slice": dynamic_update_slice, "list_write": list_write,
    "list_write_open": list_write_open, "l2_pool_2d": l2_pool,
    "squared_difference_int16": sixteen(binary(B.SQUARED_DIFFERENCE, "SquaredDifferenceOptions", 2, False)),
    "batch_matmul_int16": batch_matmul_sixteen,
    "abs_int16": sixteen(unary(B.ABS, "AbsOptions")), "sum_int16": sixteen(reduction(B.SUM, False)),
    "reduce_max_whole": whole_reduction(B.REDUCE_MAX), "reduce_min_whole": whole_reduction(B.REDUCE_MIN),
    "sum_whole": whole_reduction(B.SUM),
    "one_hot": one_hot, "reverse_sequence": reverse_sequence, "matrix_diag": matrix_diag,
    "matrix_set_diag": matrix_set_diag, "scatter_nd": scatter_nd,
    "segment_sum": segment_sum, "unsorted_segment_sum": unsorted_segment(B.UNSORTED_SEGMENT_SUM),
    "unsorted_segment_prod": unsorted_segment(B.UNSORTED_SEGMENT_PROD),
    "unsorted_segment_max": unsorted_segment(B.UNSORTED_SEGMENT_MAX),
    "unsorted_segment_min": unsorted_segment(B.UNSORTED_SEGMENT_MIN),
    "bucketize": bucketize, "sparse_to_dense": sparse_to_dense,
    "non_max_suppression_v4": suppression(B.NON_MAX_SUPPRESSION_V4),
    "non_max_suppression_v5": suppression(B.NON_MAX_SUPPRESSION_V5),
    "non_max_suppression_soft": suppression(B.NON_MAX_SUPPRESSION_V5, (0.5, 0.1, 2.0)),
    "strided_slice_forms": strided_slice_forms, "strided_slice_at": strided_slice_at, "slice_at": slice_at,
    "gather_batches": gather_batches,
    "local_response_normalization": local_response, "conv_3d": conv_3d, "conv_3d_transpose": conv_3d_transpose,
    "atan2": two_floats(B.ATAN2),
    "bitwise_xor": of_bits(B.BITWISE_XOR, "BitwiseXorOptions"),
    "right_shift": of_bits(B.RIGHT_SHIFT, "RightShiftOptions"), "sign": whole_unary(B.SIGN, "SignOptions"),
    "relu_0_to_1": relu_0_to_1, "fake_quant": fake_quant, "batch_matmul_hybrid": batch_matmul_hybrid,
}
UNSIGNED = ["conv_2d", "depthwise_conv_2d", "fully_connected", "transpose_conv", "add", "sub", "mul", "div",
            "average_pool_2d", "max_pool_2d",
            "softmax", "logistic", "tanh", "relu", "relu6", "leaky_relu", "prelu", "hard_swish", "log_softmax", "mean",
            "sum",
            "reduce_max", "reduce_min", "maximum", "minimum", "concatenation", "reshape", "pad", "padv2",
            "strided_slice",
            "resize_bilinear", "resize_nearest_neighbor", "arg_max", "arg_min", "equal", "greater", "less",
            "l2_normalization"]
OPERATORS.update({name + "_uint8": unsigned(OPERATORS[name]) for name in UNSIGNED})
OPERATORS["network_uint8"], OPERATORS["concatenation_rescaled_uint8"] = network_unsigned, rescaled_concat
OPERATORS["relu6_rescaled_uint8"] = unsigned(unary(B.RELU6))
# TensorFlow Lite Micro has no kernels for them.
LITE = (["select", "relu_n1_to_1", "fully_connected_sparse", "densify", "floor_div", "tile", "reverse_v2", "topk_v2",
         "pow", "floor_mod", "reduce_prod", "reduce_prod_int8", "reduce_prod_int16",
         "reduce_any", "reduce_all", "exp_int8", "log_int8", "sqrt_int8", "gelu", "gelu_int16", "quotients_uint8",
         "products_uint8", "curves_uint8", "prelu_int16", "comparisons_int16",
         "padv2_float16", "rnn", "rnn_relu", "rfft2d", "rfft2d_images",
         "exp_int16", "log_int16", "resize_bilinear_int16", "reduce_max_whole", "reduce_min_whole", "sum_whole",
         "one_hot", "reverse_sequence", "matrix_diag",
         "matrix_set_diag", "scatter_nd", "segment_sum", "unsorted_segment_sum", "unsorted_segment_prod",
         "unsorted_segment_max", "unsorted_segment_min", "bucketize",
         "sparse_to_dense", "non_max_suppression_v4", "non_max_suppression_v5", "non_max_suppression_soft",
         "strided_slice_forms", "strided_slice_at", "slice_at", "gather_batches",
         "local_response_normalization", "conv_3d", "conv_3d_transpose", "atan2", "bitwise_xor", "right_shift", "sign",
         "relu_0_to_1", "fake_quant", "batch_matmul_hybrid", "list_write", "list_write_open", "composite",
         "conv_2d_hybrid", "depthwise_conv_2d_hybrid", "fully_connected_hybrid", "transpose_conv_hybrid",
         "svdf_hybrid", "bidirectional_sequence_lstm", "bidirectional_sequence_rnn", "lstm", "dilate",
         "unidirectional_sequence_lstm_hybrid", "rnn_hybrid",
         "bidirectional_sequence_lstm_hybrid", "bidirectional_sequence_rnn_hybrid", "detection_post_process_uint8"]
         + [name + "_uint8" for name in UNSIGNED + ["network", "concatenation_rescaled", "relu6_rescaled"]])


XNNPACK = ["fully_connected_blockwise"]
AFTER = {"circular_buffer": held, "detection_post_process": cut, "detection_post_process_uint8": cut}


def attempt(name, seed, number):
    """One record, or the reason for none; in a separate process, because the reference may abort."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        out = []
        try:
            made = OPERATORS[name](np.random.default_rng(seed), number)
            runs = RUNS if isinstance(made, list) else 1
            model = build_graphs(made) if runs > 1 else build(*made)
            feeds = ([t.feed for t in made[0][1]] if runs > 1
                     else [t.feed for t in made[3] if t is not None and t.data is None])
            outputs = made[0][2] if runs > 1 else made[4]
            run = run_lite if name in LITE else run_xnnpack if name in XNNPACK else run_micro
            results = made.outputs if isinstance(made, Known) else run(model, feeds, outputs, runs)
            record(out, model, feeds, AFTER[name](made, results) if name in AFTER else results, runs)
            answer = b"+" + b"".join(out)
        except Exception as e:
            answer = b"-" + (str(e).splitlines() or [type(e).__name__])[0].encode()
        with os.fdopen(writer, "wb") as f:
            f.write(answer)
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as f:
        answer = f.read()
    os.waitpid(child, 0)
    return (answer[1:], "") if answer[:1] == b"+" else (b"", answer[1:].decode() or "the reference crashed")


def main(arguments):
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("operator", nargs="*")
    parser.add_argument("--cases", type=int, default=CASES)
    parser.add_argument("--into", default=HERE)
    wanted = parser.parse_args(arguments)
    cases, folder = wanted.cases, wanted.into
    for name in wanted.operator or sorted(OPERATORS):
        out, why = [], ""
        for tried in range(3 * cases):
            found, reason = attempt(name, [sum(map(ord, name)), tried], tried) if len(out) < cases else (b"", why)
            out += [found] if found else []
            why = reason or why
        if out:
            with open(os.path.join(folder, name + ".vec"), "wb") as f:
                f.write(b"".join(out))
        print("%-24s %2d cases, %6d bytes%s" % (name, len(out), sum(map(len, out)), "; refused some: " + why if why
                                                else ""), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
