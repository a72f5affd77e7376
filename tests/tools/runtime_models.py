# SPDX-License-Identifier: MIT
"""Writes small models of ONNX Runtime's own operators (domain com.microsoft) to tests/models, with what ONNX Runtime
computes for random inputs.

    python3 tests/tools/runtime_models.py                                needs numpy, onnx, onnxruntime

Each model has a node per operator and form. Results of one type are concatenated to one output; with --apart FOLDER the
models are written there, with an output per result. Integers agree to the bit.
"""
import pathlib
import sys

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

APART = "--apart" in sys.argv
FOLDER = pathlib.Path(sys.argv[-1]) if APART else pathlib.Path(__file__).resolve().parent.parent / "models"
TYPES = {np.dtype(np.float32): TensorProto.FLOAT, np.dtype(np.uint8): TensorProto.UINT8,
         np.dtype(np.int8): TensorProto.INT8,
         np.dtype(np.int16): TensorProto.INT16, np.dtype(np.int32): TensorProto.INT32,
         np.dtype(np.int64): TensorProto.INT64, np.dtype(np.bool_): TensorProto.BOOL,
         np.dtype(np.float64): TensorProto.DOUBLE}
MICROSOFT = "com.microsoft"


class Builder:
    """Nodes over inputs, with constants by name, in one graph."""
    def __init__(self, name, opset=17, ml=0):
        self.domains = [("", opset), (MICROSOFT, 1)] if not ml else [("", opset), ("ai.onnx.ml", ml)]
        self.name, self.nodes, self.weights, self.inputs, self.outputs, self.arrays = name, [], [], [], [], {}

    def input(self, name, array):
        self.inputs.append(helper.make_tensor_value_info(name, TYPES[array.dtype], array.shape))
        self.arrays[name] = array
        return name

    def constant(self, array, name=None):
        name = name or "c%d" % len(self.weights)
        self.weights.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def node(self, op, inputs, count=1, kind=TensorProto.FLOAT, domain=MICROSOFT, keep=True, names=None, **attrs):
        inputs = [i if isinstance(i, str) else self.constant(i) for i in inputs]
        number = len(self.nodes)
        names = names or ["%s_%d%s" % (op.lower(), number, "_%d" % i if i else "") for i in range(count)]
        self.nodes.append(helper.make_node(op, inputs, names, domain=domain, name="%s_%d" % (op, number), **attrs))
        if keep:
            self.outputs += [helper.make_tensor_value_info(n, kind, None) for n in names if n]
        return names[0]

    def join(self):
        """Concatenates the results of each type."""
        for kind in sorted({o.type.tensor_type.elem_type for o in self.outputs}):
            parts = [o.name for o in self.outputs if o.type.tensor_type.elem_type == kind]
            for name in parts:
                self.nodes.append(helper.make_node("Reshape", [name, "flat"], [name + "_flat"]))
            self.nodes.append(helper.make_node("Concat", [name + "_flat" for name in parts], ["all_%d" % kind], axis=0))
        self.weights.append(numpy_helper.from_array(np.array([-1], np.int64), "flat"))
        kinds = sorted({o.type.tensor_type.elem_type for o in self.outputs})
        self.outputs = [helper.make_tensor_value_info("all_%d" % kind, kind, None) for kind in kinds]

    def save(self, draws=2, draw=None, join=True):
        """Writes the model, and what ONNX Runtime computes without changing the graph. `draws` inputs; draw(k) gives
        the later ones."""
        if not APART and join:
            self.join()
        graph = helper.make_graph(self.nodes, self.name, self.inputs, self.outputs, self.weights)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid(*d) for d in self.domains],
                                  ir_version=10, producer_name="")
        options = onnxruntime.SessionOptions()
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
        for k in range(draws):
            inputs = self.arrays if k == 0 else draw(k) if draw else {n: redrawn(x) for n, x in self.arrays.items()}
            results = session.run(None, inputs)
            if k == 0:
                for info, x in zip(self.outputs, results):
                    info.CopyFrom(helper.make_tensor_value_info(info.name, TYPES[x.dtype], x.shape))
                del model.graph.output[:]
                model.graph.output.extend(self.outputs)
                (FOLDER / (self.name + ".onnx")).write_bytes(model.SerializeToString(deterministic=True))
            for i, x in enumerate(inputs.values()):
                np.save(FOLDER / f"{self.name}.in{k}.{i}.npy", x)
            for i, x in enumerate(results):
                np.save(FOLDER / f"{self.name}.out{k}.{i}.npy", x)
        print(self.name, len(self.nodes), "nodes", len(self.outputs), "outputs")


random = np.random.default_rng(5)


def real(*shape, scale=1.0):
    return (scale * random.standard_normal(shape)).astype(np.float32)


def byte(dtype, *shape):
    info = np.iinfo(dtype)
    return random.integers(info.min, info.max + 1, shape).astype(dtype)


def redrawn(x):
    if x.dtype == np.float32:
        return real(*x.shape)
    if x.dtype == np.bool_:
        return random.integers(0, 2, x.shape).astype(np.bool_)
    return byte(x.dtype, *x.shape) if x.dtype.itemsize == 1 else x


def f(v):
    return np.asarray(v, np.float32)


def qlinear(dtype, name):
    """Operators between dequantized operands and a quantized result."""
    b, kind = Builder(name), TYPES[np.dtype(dtype)]
    z = lambda v: np.array(v if dtype == np.uint8 else v - 128, dtype)
    x = b.input("x", byte(dtype, 2, 4, 5, 6))
    y = b.input("y", byte(dtype, 2, 4, 5, 6))
    m = b.input("m", byte(dtype, 3, 16))
    condition = b.input("condition", random.integers(0, 2, (2, 4, 5, 6)).astype(np.bool_))
    q = lambda op, inputs, **attrs: b.node(op, inputs, kind=kind, **attrs)
    a, c = (f(0.0713), z(117)), (f(0.0371), z(140))
    q("QLinearAdd", [x, *a, y, *c, f(0.1079), z(131)])
    q("QLinearAdd", [x, *a, byte(dtype, 6), *c, f(0.0591), z(12)])
    q("QLinearMul", [x, *a, y, *c, f(0.0907), z(99)])
    q("QLinearMul", [x, *a, byte(dtype, 4, 1, 1), *c, f(0.1307), z(128)])
    q("QLinearAveragePool", [x, *a, f(0.0532), z(111)], kernel_shape=[2, 3], strides=[1, 2], pads=[1, 0, 1, 1])
    q("QLinearAveragePool", [x, *a, f(0.0713), z(117)], kernel_shape=[3, 3], pads=[1, 1, 1, 1], count_include_pad=1)
    q("QLinearAveragePool", [x, *a, f(0.0532), z(111)], kernel_shape=[2, 2], channels_last=1)
    q("QLinearGlobalAveragePool", [x, *a, f(0.0117), z(120)])
    q("QLinearGlobalAveragePool", [x, *a, f(0.0217), z(120)], channels_last=1)
    q("QLinearConcat", [f(0.0913), z(101), x, *a, y, *c, x, f(0.0913), z(101)], axis=1)
    q("QLinearSigmoid", [x, *a, f(1 / 256), z(0)])
    q("QLinearLeakyRelu", [x, *a, f(0.0613), z(60)], alpha=0.125)
    q("QLinearSoftmax", [m, *a, f(1 / 256), z(0)], axis=-1, opset=13)
    q("QLinearSoftmax", [x, *c, f(1 / 256), z(0)], axis=1, opset=12)
    q("QLinearWhere", [condition, x, *a, y, *c, f(0.0813), z(121)])
    w = byte(np.int8, 16, 8)
    q("QGemm", [m, *a, w, f(0.0173), np.int8(0), (100 * random.standard_normal(8)).astype(np.int32), f(0.31), z(130)])
    scales = (0.01 + 0.02 * random.random(8)).astype(np.float32)
    q("QGemm", [m, *a, w.T.copy(), scales, np.zeros(8, np.int8), (1000 * random.standard_normal(8)).astype(np.int32),
                f(0.41), z(120)], transB=1)
    b.node("QGemm", [m, *a, w, f(0.0173), np.int8(0), (100 * random.standard_normal(8)).astype(np.int32)])
    b.node("MatMulIntegerToFloat", [m, w, a[0], scales, a[1], np.zeros(8, np.int8), real(8)])
    b.node("DequantizeLinear", [x, *a])
    b.save()


def packed(n, k, bits, block):
    """Weights of MatMulNBits, their scales and zero points."""
    blocks = (k + block - 1) // block
    return (random.integers(0, 256, (n, blocks, block * bits // 8)).astype(np.uint8),
            (0.02 + 0.05 * random.random((n, blocks))).astype(np.float32),
            random.integers(0, 256, (n, (blocks * bits + 7) // 8)).astype(np.uint8))


def fused():
    b = Builder("fused", opset=17)
    x, y, image = b.input("x", real(2, 5, 32)), b.input("y", real(2, 5, 32)), b.input("image", real(1, 4, 6, 6))
    a, ids = b.input("a", real(6, 8)), b.input("ids", random.integers(0, 9, (2, 5)).astype(np.int32))
    g, h = real(32), real(32)
    for activation, params in (("Relu", []), ("LeakyRelu", [0.125]), ("HardSigmoid", [0.25, 0.4]), ("Sigmoid", []),
                               ("Tanh", []), ("Clip", [-0.5, 0.75])):
        b.node("FusedConv", [image, real(3, 4, 3, 3, scale=0.2), real(3)], activation=activation, pads=[1, 1, 1, 1],
               **({"activation_params": params} if params else {}))
    b.node("FusedConv", [image, real(4, 4, 1, 1), real(4), image], activation="Relu")
    b.node("FusedGemm", [a, real(8, 4), real(4)], activation="Relu", alpha=0.5)
    b.node("FusedGemm", [a, real(4, 8), real(4)], activation="LeakyRelu", activation_alpha=0.25, transB=1)
    b.node("FusedMatMul", [x, y], transB=1, alpha=0.125)
    b.node("FusedMatMul", [x, real(2, 32, 3)], alpha=1.5)
    b.node("FusedMatMul", [x, y], transA=1)
    b.node("FusedMatMul", [real(5, 2, 32), real(2, 32, 3)], transBatchA=1)
    b.node("Gelu", [x])
    b.node("BiasGelu", [x, g])
    b.node("FastGelu", [x])
    b.node("FastGelu", [x, g])
    b.node("QuickGelu", [x], alpha=1.25)
    b.node("SkipLayerNormalization", [x, y, g, h], epsilon=1e-5)
    b.node("SkipLayerNormalization", [x, y, g, h, real(32)], 4, names=["skip", "", "", "skip_sum"], epsilon=1e-5)
    b.node("SkipSimplifiedLayerNormalization", [x, y, g], epsilon=1e-5)
    b.node("SkipSimplifiedLayerNormalization", [x, y, g, h], 4, names=["simple", "", "", "simple_sum"], epsilon=1e-5)
    b.node("SimplifiedLayerNormalization", [x, g], domain="", axis=-1, epsilon=1e-5)
    b.node("EmbedLayerNormalization", [ids, np.zeros((2, 5), np.int32), real(9, 16), real(12, 16), real(2, 16),
                                       real(16), real(16)], 2, names=["embedded", ""])
    for bits in (2, 4, 8):
        w, scale, point = packed(7, 40, bits, 16)
        wide = b.node("Concat", [x, y], domain="", keep=False, axis=2)
        short = b.node("Slice", [wide, np.array([0]), np.array([40]), np.array([2])], domain="", keep=False)
        b.node("MatMulNBits", [short, w, scale], N=7, K=40, bits=bits, block_size=16)
        b.node("MatMulNBits", [short, w, scale, point], N=7, K=40, bits=bits, block_size=16)
    b.node("MatMulNBits", [x, *packed(9, 32, 4, 32)[:2], "", "", real(9)], N=9, K=32, bits=4, block_size=32)
    b.node("TransposeMatMul", [x, y], transB=1, alpha=0.125)
    stored = b.node("QuantizeLinear", [x, f(0.02), np.uint8(120)], keep=False)
    b.node("DequantizeLinear", [stored, f(0.02), np.uint8(120)])
    steps = b.node("Transpose", [x], domain="", keep=False, perm=[1, 0, 2])
    b.node("DynamicQuantizeLSTM", [steps, byte(np.int8, 1, 32, 24), byte(np.int8, 1, 6, 24), real(1, 48), "", "", "",
                                   "", real(1), np.zeros(1, np.int8), f([0.005]),
                                   np.zeros(1, np.int8)], 3, hidden_size=6)
    b.node("DynamicQuantizeMatMul", [x, byte(np.int8, 32, 6), f(0.02), np.int8(3), real(6)])
    b.save(draw=lambda k: {n: real(*v.shape) if v.dtype == np.float32
                           else random.integers(0, 9, (2, 5)).astype(np.int32) for n, v in b.arrays.items()})


def narrow():
    """Constants of 2, 4 and 8 bits, as weights and as the grid of activations."""
    b = Builder("narrow", opset=25)
    x = b.input("x", real(3, 32))

    def weights(kind, codes, bits):
        """A constant of a narrow type from its codes, packed from the lowest bits."""
        name, flat, each = "w%d" % len(b.weights), codes.ravel(), 8 // bits
        flat = np.concatenate([flat, np.zeros(-len(flat) % each, flat.dtype)]).reshape(-1, each)
        raw = sum(flat[:, i].astype(np.uint8) << (bits * i) for i in range(each)).astype(np.uint8)
        b.weights.append(helper.make_tensor(name, kind, codes.shape, raw.tobytes(), raw=True))
        return name

    for kind, bits in ((TensorProto.INT4, 4), (TensorProto.UINT4, 4), (TensorProto.INT2, 2), (TensorProto.UINT2, 2)):
        codes = random.integers(0, 1 << bits, (32, 5))
        w = b.node("DequantizeLinear", [weights(kind, codes, bits), (0.05 + 0.1 * random.random(5)).astype(np.float32),
                                        weights(kind, random.integers(0, 1 << bits, 5), bits)], domain="", keep=False,
                                        axis=1)
        b.node("MatMul", [x, w], domain="")
        w = b.node("DequantizeLinear",
                   [weights(kind, codes, bits), (0.05 + 0.1 * random.random((2, 5))).astype(np.float32)], domain="",
                   keep=False, axis=0, block_size=16)
        b.node("MatMul", [x, w], domain="")
        point = weights(kind, np.array(1), bits)
        stored = b.node("QuantizeLinear", [x, f(0.375), point], domain="", keep=False)
        b.node("DequantizeLinear", [stored, f(0.375), point], domain="")
    for kind, nan in ((TensorProto.FLOAT8E4M3FN, (0x7f, 0xff)), (TensorProto.FLOAT8E4M3FNUZ, (0x80,)),
                      (TensorProto.FLOAT8E5M2, range(0x7c, 0x100, 0x80)),
                      (TensorProto.FLOAT8E5M2FNUZ, (0x80,))):
        codes = random.integers(0, 256, (32, 5))
        codes[np.isin(codes, list(nan)) | ((codes & 0x7c) == 0x7c)] = 1
        w = b.node("DequantizeLinear", [weights(kind, codes, 8), f(0.001)], domain="", keep=False)
        b.node("MatMul", [x, w], domain="")
    b.save()


def heads():
    b = Builder("heads", opset=17)
    x, y, q = b.input("x", real(2, 5, 24)), b.input("y", real(2, 7, 24)), b.input("q", real(2, 3, 64))
    k, v = b.input("k", real(2, 3, 32)), b.input("v", real(2, 3, 32))
    lengths = b.input("lengths", np.array([3, 5], np.int32))
    w, bias = real(24, 72, scale=0.2), real(72)
    b.node("Attention", [x, w, bias], num_heads=3)
    b.node("Attention", [x, w, bias], num_heads=3, unidirectional=1, scale=0.25)
    b.node("Attention", [x, w, bias, lengths], num_heads=2)
    b.node("Attention", [x, w, bias, np.array([[1, 1, 0, 1, 0], [1, 1, 1, 1, 1]], np.int32), "", real(2, 2, 5, 5)],
           num_heads=2)
    b.node("Attention", [x, w, bias, "", real(2, 2, 2, 4, 12)], 2, num_heads=2, unidirectional=1)
    b.node("Attention", [x, real(24, 24 + 24 + 12, scale=0.2), real(60)], num_heads=2, qkv_hidden_sizes=[24, 24, 12])
    b.node("MultiHeadAttention", [x, y, y], num_heads=3)
    b.node("MultiHeadAttention", [x, y, y, bias, np.array([[1, 0, 1, 1, 1, 0, 1], [1] * 7], np.int32),
                                  real(1, 2, 5, 7)], num_heads=2)
    b.node("MultiHeadAttention", [x, x, x, bias], num_heads=2, unidirectional=1)
    b.node("MultiHeadAttention", [x, x, x, "", "", "", real(2, 2, 3, 12), real(2, 2, 3, 12)], 3, num_heads=2)
    cosines, sines = np.cos(real(16, 8)), np.sin(real(16, 8))
    for interleaved in (0, 1):
        b.node("RotaryEmbedding", [q, np.array([[0, 1, 2], [4, 5, 6]], np.int64), cosines, sines],
               interleaved=interleaved)
        b.node("RotaryEmbedding", [q, np.array([3], np.int64), cosines, sines], interleaved=interleaved)
    b.node("RotaryEmbedding", [q, np.array([3], np.int64), cosines, sines], num_heads=2, rotary_embedding_dim=16)
    group = dict(num_heads=4, kv_num_heads=2)
    first, total = np.array([2, 2], np.int32), np.array(3, np.int32)
    b.node("GroupQueryAttention", [q, k, v, "", "", first, total], 3, **group)
    b.node("GroupQueryAttention", [q, k, v, "", "", first, total, cosines, sines], 3, do_rotary=1, **group)
    past, at = [real(2, 2, 6, 16), real(2, 2, 6, 16)], np.array([4, 2], np.int32)
    for cache in past:                  # rows beyond the valid ones are zero: ONNX Runtime does not keep them
        cache[0, :, 5:] = cache[1, :, 3:] = 0
    token = [b.node("Slice", [t, np.array([1]), np.array([2]), np.array([1])], domain="", keep=False)
             for t in (q, k, v)]
    b.node("GroupQueryAttention", [*token, *past, at, np.array(5, np.int32), cosines, sines], 3, do_rotary=1,
           rotary_interleaved=1, **group)
    b.node("GroupQueryAttention", [*token, *past, at, np.array(5, np.int32)], 3, local_window_size=2, softcap=5.0,
           **group)
    b.node("GroupQueryAttention", [*token, *past, np.array([6, 6], np.int32), np.array(7, np.int32)], 3, scale=0.5,
           **group)
    both = b.node("Concat", [*token], domain="", keep=False, axis=2)
    b.node("GroupQueryAttention", [both, "", "", *past, at, np.array(5, np.int32)], 3, **group)
    b.save(draw=lambda n: {name: real(*a.shape) if a.dtype == np.float32 else np.array([4, 2], np.int32)
                           for name, a in b.arrays.items()})


def sixteen():
    """16-bit activations with zero points, 8-bit weights: a convolution, one per channel, a dense layer, a batch
    norm.
    The expected values are ONNX Runtime's, whose sums are floats; the inputs are such that no sum is near a tie."""
    b = Builder("sixteen", opset=21)
    own = np.random.default_rng(16)
    f = lambda *shape: own.standard_normal(shape).astype(np.float32)

    def grid(x, scale, zero):
        ports = [b.constant(np.float32(scale)), b.constant(np.int16(zero))]
        q = b.node("QuantizeLinear", [x, *ports], domain="", keep=False)
        return q, b.node("DequantizeLinear", [q, *ports], domain="", keep=False)

    def weights(*shape, per=0):
        scale = (0.004 + 0.01 * own.random(shape[per])).astype(np.float32)
        codes = own.integers(-127, 128, shape).astype(np.int8)
        return (b.node("DequantizeLinear", [codes, scale, np.zeros(shape[per], np.int8)], domain="", keep=False,
                       axis=per), scale)

    def bias(scale, step):
        unit = (scale * np.float32(step)).astype(np.float32)
        codes = own.integers(-30000, 30000, scale.shape).astype(np.int32)
        return b.node("DequantizeLinear", [codes, unit, np.zeros(scale.shape, np.int32)], domain="", keep=False, axis=0)

    x = b.input("x", f(1, 3, 8, 8))
    _, x = grid(x, 1.2e-4, 700)
    w, scale = weights(8, 3, 3, 3)
    y = b.node("Conv", [x, w, bias(scale, 1.2e-4)], domain="", keep=False, pads=[1, 1, 1, 1])
    y = b.node("Relu", [y], domain="", keep=False)
    _, y = grid(y, 2.1e-4, -32768)
    w, scale = weights(8, 1, 3, 3)
    y = b.node("Conv", [y, w, bias(scale, 2.1e-4)], domain="", keep=False, group=8, strides=[2, 2], pads=[0, 0, 1, 1])
    _, y = grid(y, 3.3e-4, -1900)
    y = b.node("MaxPool", [y], domain="", keep=False, kernel_shape=[2, 2], strides=[2, 2])
    y = b.node("Flatten", [y], domain="", keep=False)
    w, scale = weights(32, 10, per=1)
    y = b.node("Gemm", [y, w, bias(scale, 3.3e-4)], domain="", keep=False)
    _, y = grid(y, 9.7e-4, 250)
    y = b.node("BatchNormalization", [y, 1 + 0.1 * f(10), f(10), f(10), 1 + own.random(10).astype(np.float32)],
               domain="", keep=False)
    q, _ = grid(y, 7.9e-4, -11)
    b.outputs = [helper.make_tensor_value_info(q, TensorProto.INT16, None)]
    b.save(draw=lambda n: {"x": f(1, 3, 8, 8)}, join=False)


if __name__ == "__main__":
    qlinear(np.uint8, "qlinear_u8")
    qlinear(np.int8, "qlinear_s8")
    fused()
    heads()
    narrow()
    sixteen()
