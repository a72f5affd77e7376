# SPDX-License-Identifier: MIT
"""Records what ONNX Runtime, or numpy, computes for small operator calls: writes tests/unit/op_vectors.h.

    python3 tests/tools/op_vectors.py > tests/unit/op_vectors.h          needs onnx, onnxruntime, numpy

Inputs are not recorded: test_ops.c draws them from the same sequence (draw and fill there). A row names our operator,
its attributes and inputs as an operator's test cases do; images are channels last in our calls and turned for ONNX
here.
"""
import math

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper


class Sequence:
    """draw() of test_ops.c"""
    def __init__(self):
        self.seed = 1

    def real(self):
        self.seed = (self.seed * 1664525 + 1013904223) & 0xFFFFFFFF
        return (self.seed >> 8) / 8388608.0 - 1.0

    def array(self, shape, dtype):
        n = int(np.prod(shape))
        drawn = [self.real() for _ in range(n)]
        if dtype == np.bool_:
            values = np.array([r > 0 for r in drawn])
        elif dtype == np.float32:
            values = np.array(drawn, np.float32)
        else:
            values = np.array([int(r * 8) for r in drawn])
        return values.astype(dtype).reshape(shape)


DTYPES = {"f32": np.float32, "f64": np.float64, "i8": np.int8, "u8": np.uint8, "i16": np.int16, "i32": np.int32,
          "i64": np.int64, "u32": np.uint32, "u64": np.uint64, "bool": np.bool_}


def read_inputs(text):
    """As test_ops.c does: "f32[2][3] i64[2]={0,1}"; given values are drawn, too."""
    sequence, arrays = Sequence(), []
    for word in text.split():
        kind, _, given = word.partition("=")
        name, *dims = kind.replace("]", "").split("[")
        x = sequence.array([int(d) for d in dims], DTYPES[name])
        arrays.append(np.array([float(v) for v in given[1:-1].split(",")]).astype(x.dtype).reshape(x.shape) if given
                      else x)
    return arrays


def run(onnx_type, inputs, attrs, opset, out_type=None, output=0):
    names = ["i%d" % i for i in range(len(inputs))]
    node = helper.make_node(onnx_type, names, ["o%d" % i for i in range(output)] + ["y"], **attrs)
    infos = [helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(x.dtype), x.shape)
             for n, x in zip(names, inputs)]
    like = inputs[1 if onnx_type == "Where" else 0].dtype
    out_type = out_type or (TensorProto.INT64 if onnx_type.startswith("Arg") else helper.np_dtype_to_tensor_dtype(like))
    out = helper.make_tensor_value_info("y", out_type, None)
    graph = helper.make_graph([node], "g", infos, [out])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    return session.run(None, dict(zip(names, inputs)))[0]


def second(x):          # channels last -> channels second
    return np.moveaxis(x, -1, 1)


def last(x):
    return np.moveaxis(x, 1, -1)


def kernel(k, depthwise):      # [kh][kw][c][o] or [kh][kw][o] -> [o][c][kh][kw]
    if depthwise:
        k = k[..., None, :]
    return np.moveaxis(np.moveaxis(k, -1, 0), -1, 1)


def emit(op, attrs, inputs, onnx_type, onnx_attrs=None, image=False, depthwise=False, extra=(), opset=17, arrange=None,
         after=None, out_type=None, output=0):
    arrays = read_inputs(inputs)
    if image:
        arrays[0] = second(arrays[0])
        if onnx_type == "Conv":
            arrays[1] = kernel(arrays[1], depthwise)
    arrays = [np.ascontiguousarray(a) for a in arrays] + [np.asarray(e) for e in extra]
    if arrange:
        arrays = [np.ascontiguousarray(a) if np.ndim(a) else np.asarray(a) for a in arrange(arrays)]
    y = run(onnx_type, arrays, onnx_attrs or {}, opset, out_type, output)
    if after:
        y = after(y)
    if image:
        y = last(y)
    record(op, attrs, inputs, y)


def record(op, attrs, inputs, y):
    values = ["%.9g" % float(v) for v in y.reshape(-1)]
    lines, line = [], "     "
    for v in values:
        if len(line) + len(v) > 118:
            lines.append(line)
            line = "     "
        line += " " + v + ","
    lines.append(line)
    print('    { "%s", "%s", "%s", %d, (const double[]){' % (op, attrs, inputs, len(values)))
    print("\n".join(lines))
    print("    } },")


GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}


def recurrent(onnx_type, attrs, inputs, **onnx_attrs):
    """x w r b h0, then rb (gru) or c0 p (lstm). Ours has weights [in][gates * units] and one bias, theirs [1][..][in]
    and two."""
    sequence = Sequence()
    arrays = []
    for text in inputs.split():
        name, *dims = text.replace("]", "").split("[")
        arrays.append(sequence.array([int(d) for d in dims], DTYPES[name]))
    x, w, r, b, h0 = arrays[:5]
    units = r.shape[0]
    rb = np.zeros_like(b)
    if onnx_type == "GRU" and len(arrays) > 5:
        rb[2 * units:] = arrays[5]
    feed = [x, w.T[None], r.T[None], np.concatenate([b, rb])[None], np.full(x.shape[1], x.shape[0], np.int32), h0[None]]
    if onnx_type == "LSTM":
        feed += [arrays[5][None], arrays[6][None]] if len(arrays) > 6 else [arrays[5][None]]
    names = ["i%d" % i for i in range(len(feed))]
    feed = [np.ascontiguousarray(a) for a in feed]
    node = helper.make_node(onnx_type, names, ["y"], hidden_size=units, **onnx_attrs)
    infos = [helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(a.dtype), a.shape)
             for n, a in zip(names, feed)]
    graph = helper.make_graph([node], "g", infos, [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 14)], ir_version=8)
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    record(onnx_type.lower(), attrs, inputs, session.run(None, dict(zip(names, feed)))[0])


def pool(kind, attrs, inputs, **onnx_attrs):
    emit(kind, attrs, inputs, "AveragePool" if kind.startswith("avg") else "MaxPool", onnx_attrs, image=True, opset=19)


print("/* SPDX-License-Identifier: MIT */")
print("/* Made by tests/tools/op_vectors.py with ONNX Runtime %s. */" % onnxruntime.__version__)
emit("conv2d", "stride=2,1 pad=0,2,1,0 dilation=1,2", "f32[1][5][6][2] f32[3][2][2][3]", "Conv",
     dict(strides=[2, 1], pads=[0, 2, 1, 0], dilations=[1, 2]), image=True)
emit("conv2d", "groups=2 pad=1,1,1,1", "f32[1][3][3][4] f32[3][3][2][4]", "Conv", dict(group=2, pads=[1, 1, 1, 1]),
     image=True)
emit("conv1d", "stride=2 pad=1,2", "f32[1][7][3] f32[3][3][2]", "Conv", dict(strides=[2], pads=[1, 2]), image=True)
emit("depthwise_conv2d", "stride=2 pad=1,1,0,0", "f32[1][5][5][2] f32[3][3][4]", "Conv",
     dict(group=2, strides=[2, 2], pads=[1, 1, 0, 0]),
     image=True, depthwise=True)
emit("matmul", "", "f32[2][1][2][3] f32[2][3][2]", "MatMul")
pool("max_pool2d", "kernel=3,3 stride=2,2 pad=1,1,1,1 ceil_mode=1", "f32[1][6][5][2]", kernel_shape=[3, 3],
     strides=[2, 2], pads=[1, 1, 1, 1], ceil_mode=1)
pool("max_pool2d", "kernel=2,3 dilation=2,1", "f32[1][5][5][2]", kernel_shape=[2, 3], dilations=[2, 1])
pool("avg_pool2d", "kernel=3,3 pad=1,1,1,1", "f32[1][4][3][2]", kernel_shape=[3, 3], pads=[1, 1, 1, 1])
pool("avg_pool2d", "kernel=3,3 pad=1,1,1,1 count_pad=1", "f32[1][4][3][2]", kernel_shape=[3, 3], pads=[1, 1, 1, 1],
     count_include_pad=1)
pool("avg_pool2d", "kernel=3,3 stride=2,2 ceil_mode=1", "f32[1][6][6][2]", kernel_shape=[3, 3], strides=[2, 2],
     ceil_mode=1)
pool("avg_pool2d", "kernel=3,3 stride=2,2 pad=1,1,0,0 ceil_mode=1", "f32[1][6][6][2]", kernel_shape=[3, 3],
     strides=[2, 2], pads=[1, 1, 0, 0], ceil_mode=1)
pool("avg_pool2d", "kernel=3,3 stride=2,2 pad=0,0,1,1 ceil_mode=1 count_pad=1", "f32[1][5][6][1]", kernel_shape=[3, 3],
     strides=[2, 2], pads=[0, 0, 1, 1],
     ceil_mode=1, count_include_pad=1)
pool("avg_pool2d", "kernel=2,3 dilation=2,2 pad=1,2,1,2", "f32[1][4][5][1]", kernel_shape=[2, 3], dilations=[2, 2],
     pads=[1, 2, 1, 2])
pool("avg_pool1d", "kernel=3 stride=2 pad=1,1", "f32[1][7][2]", kernel_shape=[3], strides=[2], pads=[1, 1])
emit("global_avg_pool", "", "f32[1][3][4][2]", "GlobalAveragePool", image=True)
emit("softmax", "axis=1", "f32[2][3][2]", "Softmax", dict(axis=1))
emit("log_softmax", "", "f32[2][5]", "LogSoftmax", dict(axis=-1))
for name, onnx_type in [("l1", "L1"), ("l2", "L2"), ("log_sum_exp", "LogSumExp"), ("max", "Max"), ("mean", "Mean"),
                        ("min", "Min"), ("prod", "Prod"),
                        ("sum_square", "SumSquare")]:
    emit("reduce_" + name, "axes=0,2 keepdims=1", "f32[2][3][2]", "Reduce" + onnx_type, dict(axes=[0, 2], keepdims=1),
         opset=13 if name != "sum" else 12)
emit("argmax", "axis=1", "f32[3][4]", "ArgMax", dict(axis=1, keepdims=0))
emit("argmin", "axis=0 keepdims=1", "f32[3][4]", "ArgMin", dict(axis=0, keepdims=1))
for ours, theirs, attrs, onnx_attrs in [
        ("elu", "Elu", "alpha=0.5", dict(alpha=0.5)), ("selu", "Selu", "", {}),
        ("celu", "Celu", "alpha=2", dict(alpha=2.0)),
        ("leaky_relu", "LeakyRelu", "alpha=0.1", dict(alpha=0.1)), ("hard_sigmoid", "HardSigmoid", "", {}),
        ("hard_swish", "HardSwish", "", {}),
        ("softplus", "Softplus", "", {}), ("softsign", "Softsign", "", {}), ("mish", "Mish", "", {}),
        ("erf", "Erf", "", {}),
        ("sigmoid", "Sigmoid", "", {}), ("tanh", "Tanh", "", {}), ("exp", "Exp", "", {}), ("sign", "Sign", "", {}),
        ("thresholded_relu", "ThresholdedRelu", "alpha=0.3", dict(alpha=0.3))]:
    emit(ours, attrs, "f32[9]", theirs, onnx_attrs, opset=18)
emit("gelu", "", "f32[9]", "Gelu", opset=20)
emit("gelu_tanh", "", "f32[9]", "Gelu", dict(approximate="tanh"), opset=20)
emit("prelu", "", "f32[2][3] f32[3]", "PRelu")
emit("mod", "", "i32[3] i32[1]", "Mod", opset=13)
emit("where", "", "bool[2][1] f32[2][3] f32[3]", "Where")
emit("gather", "axis=1", "f32[2][9][2] i64[2]", "Gather", dict(axis=1))
emit("concat", "axis=1", "f32[2][2] f32[2][1]", "Concat", dict(axis=1))
emit("pad", "pad=2,1,1,2 mode=reflect", "f32[3][3]", "Pad", dict(mode="reflect"), extra=[np.array([2, 1, 1, 2])])
emit("pad", "pad=2,1,1,2 mode=edge", "f32[3][3]", "Pad", dict(mode="edge"), extra=[np.array([2, 1, 1, 2])])
emit("pad", "pad=2,1 mode=wrap", "f32[4]", "Pad", dict(mode="wrap"), extra=[np.array([2, 1])], opset=19)
emit("slice", "begin=-1,0 end=-1000,2 step=-2,1", "f32[5][3]", "Slice",
     extra=[np.array([-1, 0]), np.array([-1000, 2]), np.array([0, 1]), np.array([-2, 1])])
emit("tile", "times=2,2", "f32[2][2]", "Tile", extra=[np.array([2, 2])])
emit("transpose", "perm=2,0,1", "f32[2][2][3]", "Transpose", dict(perm=[2, 0, 1]))
for alone, onnx_alone in [
        ("affine", dict(activation_alpha=[0.5], activation_beta=[0.1])), ("elu", dict(activation_alpha=[0.5])),
        ("relu", {}), ("tanh", {}), ("sigmoid", {}),
        ("hard_sigmoid", dict(activation_alpha=[0.4], activation_beta=[0.3])),
        ("leaky_relu", dict(activation_alpha=[0.1])), ("softplus", {}),
        ("softsign", {}), ("scaled_tanh", dict(activation_alpha=[0.5], activation_beta=[0.7])),
        ("thresholded_relu", dict(activation_alpha=[0.3]))]:
    given = "".join(" %s=%g" % (ours, onnx_alone["activation_" + ours][0]) for ours in ("alpha", "beta")
                    if "activation_" + ours in onnx_alone)
    recurrent("RNN", "activations=%s%s" % (alone, given), "f32[3][1][2] f32[2][3] f32[3][3] f32[3] f32[1][3]",
              activations=["".join(word.capitalize() for word in alone.split("_"))], **onnx_alone)
recurrent("RNN", "reverse=1 clip=0.5", "f32[3][2][2] f32[2][2] f32[2][2] f32[2] f32[2][2]", direction="reverse",
          clip=0.5)
small = "f32[3][2][2] f32[2][%d] f32[2][%d] f32[%d] f32[2][2]"
gru, lstm = small % (6, 6, 6) + " f32[2]", small % (8, 8, 8) + " f32[2][2]"
recurrent("GRU", "", gru)
recurrent("GRU", "linear_before_reset=1", gru, linear_before_reset=1)
recurrent("GRU", "linear_before_reset=1 reverse=1 clip=0.4 activations=hard_sigmoid,softsign alpha=0.2,0 beta=0.5,0",
          gru, linear_before_reset=1,
          direction="reverse", clip=0.4, activations=["HardSigmoid", "Softsign"])
recurrent("LSTM", "", lstm)
recurrent("LSTM", "", lstm + " f32[6]")
recurrent("LSTM", "input_forget=1 clip=0.3 reverse=1", lstm + " f32[6]", input_forget=1, clip=0.3, direction="reverse")
recurrent("LSTM", "activations=softsign,elu,leaky_relu alpha=0,0.7,0.2", lstm,
          activations=["Softsign", "Elu", "LeakyRelu"], activation_alpha=[0.7, 0.2])

# Windows of more kinds. A transposed kernel: [kh][kw][c][o] -> [c][o][kh][kw].
def spread(a):
    k = np.moveaxis(np.moveaxis(a[1], -1, 0), -1, 0)
    return [second(a[0]), k]


emit("conv3d", "stride=2,1,2 pad=1,0,1,0,1,1 groups=2", "f32[1][3][3][4][2] f32[2][3][3][1][4]", "Conv",
     dict(strides=[2, 1, 2], pads=[1, 0, 1, 0, 1, 1], group=2), image=True)
emit("conv1d_transpose", "stride=3 extra=1 pad=1,0", "f32[2][3][2] f32[2][2][2]", "ConvTranspose",
     dict(strides=[3], output_padding=[1], pads=[1, 0]), arrange=spread, after=last)
emit("conv2d_transpose", "stride=2,3 pad=1,2,1,2 dilation=2,2", "f32[1][3][4][2] f32[3][2][2][3]", "ConvTranspose",
     dict(strides=[2, 3], pads=[1, 2, 1, 2], dilations=[2, 2]),
     arrange=spread, after=last)
emit("conv2d_transpose", "stride=2 groups=2", "f32[1][2][2][4] f32[3][3][4][1]", "ConvTranspose",
     dict(strides=[2, 2], group=2), arrange=spread, after=last)
emit("conv3d_transpose", "stride=2", "f32[1][2][2][2][1] f32[2][3][2][1][1]", "ConvTranspose", dict(strides=[2, 2, 2]),
     arrange=spread, after=last)
pool("max_pool3d", "kernel=2,2,2 stride=2,1,2 pad=0,1,0,0,0,1", "f32[1][4][3][4][2]", kernel_shape=[2, 2, 2],
     strides=[2, 1, 2], pads=[0, 1, 0, 0, 0, 1])
pool("avg_pool3d", "kernel=2,3,2 pad=1,1,1,1,1,1 dilation=1,1,2", "f32[1][2][3][3][1]", kernel_shape=[2, 3, 2],
     pads=[1] * 6, dilations=[1, 1, 2])
emit("lp_pool2d", "kernel=2,2 stride=2 pad=1,0,1,0", "f32[1][4][4][2]", "LpPool",
     dict(kernel_shape=[2, 2], strides=[2, 2], pads=[1, 0, 1, 0]), image=True)
emit("lp_pool1d", "kernel=3 p=3", "f32[1][7][2]", "LpPool", dict(kernel_shape=[3], p=3), image=True)
# Quantized
emit("quantize", "to=u8", "f32[9]={0,2,3,1000,-254,-1000,5,7,-5} f32={2} u8={128}", "QuantizeLinear",
     out_type=TensorProto.UINT8)
emit("quantize", "to=i8", "f32[2][3][2] f32[3][1]={0.05,0.025,0.002} i8[3][1]={0,3,-5}", "QuantizeLinear",
     dict(axis=1), out_type=TensorProto.INT8,
     arrange=lambda a: [a[0], a[1].reshape(-1), a[2].reshape(-1)])
emit("dequantize", "", "u8[2][3] f32[3]={0.5,0.25,2} u8[3]={1,2,3}", "DequantizeLinear", dict(axis=1),
     out_type=TensorProto.FLOAT)
# Normalizations
emit("standardize", "axes=2,3 epsilon=0.01", "f32[1][2][3][4]", "InstanceNormalization", dict(epsilon=0.01),
     arrange=lambda a: [a[0], np.ones(2, np.float32), np.zeros(2, np.float32)])
emit("standardize", "axes=1", "f32[2][5]", "LayerNormalization", dict(axis=1),
     arrange=lambda a: [a[0], np.ones(5, np.float32)])
emit("lrn", "size=3 alpha=0.5 beta=0.5 bias=2 axis=1", "f32[1][4][2][2]", "LRN",
     dict(size=3, alpha=0.5, beta=0.5, bias=2.0))
emit("hardmax", "axis=1", "f32[2][3][2]", "Hardmax", dict(axis=1))
emit("shrink", "lambda=0.25 bias=0.5", "f32[2][4]", "Shrink", dict(lambd=0.25, bias=0.5))
# By indices and by position
emit("gather_elements", "axis=1", "f32[2][3] i64[2][4]={0,2,1,-1,-3,0,1,2}", "GatherElements", dict(axis=1))
emit("gather_nd", "batch=1", "f32[2][2][3] i64[2][1]={1,0}", "GatherND", dict(batch_dims=1))
emit("gather_nd", "", "f32[2][2][3] i64[2][2]={0,1,1,-2}", "GatherND")
emit("scatter_elements", "axis=1", "f32[2][5] i64[1][2]={-1,-1} f32[1][2]={9,8}", "ScatterElements", dict(axis=1),
     opset=18)
for how in ["add", "mul", "max", "min"]:
    emit("scatter_elements", "reduction=" + how, "f32[3][2] i64[2][2]={1,0,1,2} f32[2][2]={1,2,-3,4}",
         "ScatterElements", dict(reduction=how), opset=18)
emit("scatter_nd", "", "f32[4][2] i64[2][1]={3,-4} f32[2][2]={1,2,3,4}", "ScatterND", opset=18)
emit("scatter_nd", "reduction=add", "f32[2][3] i64[3][2]={0,1,1,2,0,1} f32[3]={1,2,4}", "ScatterND",
     dict(reduction="add"), opset=18)
emit("topk", "k=3", "f32[2][5]", "TopK", dict(axis=-1), extra=[np.array([3])], out_type=TensorProto.INT64, output=1)
emit("topk", "k=2 axis=0 largest=0", "i32[5]={3,1,3,1,1}", "TopK", dict(axis=0, largest=0), extra=[np.array([2])],
     out_type=TensorProto.INT64, output=1)
for attrs in [dict(), dict(exclusive=1), dict(reverse=1), dict(exclusive=1, reverse=1)]:
    emit("cumsum", " ".join(["axis=1"] + ["%s=%d" % p for p in attrs.items()]), "f32[2][4]", "CumSum", attrs,
         extra=[np.array(1)])
emit("trilu", "k=1", "f32[3][4]", "Trilu", extra=[np.array(1)])
emit("trilu", "k=-1 upper=0", "f32[2][3][3]", "Trilu", dict(upper=0), extra=[np.array(-1)])
emit("one_hot", "depth=3 axis=1", "i64[2][2]={0,1,2,-3} f32[2]={1,3}", "OneHot", dict(axis=1),
     arrange=lambda a: [a[0], np.array(3), a[1]], out_type=TensorProto.FLOAT)
emit("reverse_sequence", "time=0 batch=1", "f32[4][3] i64[3]={4,1,2}", "ReverseSequence",
     dict(time_axis=0, batch_axis=1))
emit("argmax", "axis=1 last=1", "i32[2][5]={1,3,3,2,1,4,4,0,4,1}", "ArgMax",
     dict(axis=1, keepdims=0, select_last_index=1))
for mode, padding, align in [("linear", "zeros", 0), ("nearest", "border", 1), ("linear", "reflection", 0),
                             ("linear", "reflection", 1), ("linear", "border", 1), ("nearest", "reflection", 0)]:
    emit("grid_sample", "mode=%s padding=%s align=%d" % (mode, padding, align),
         "f32[1][3][4][2] f32[1][2][2][2]={-2.5,-1,0,0.3,1.5,0.2,3.1,-0.7}", "GridSample",
         dict(mode={"linear": "bilinear"}.get(mode, mode), padding_mode=padding, align_corners=align),
         arrange=lambda a: [second(a[0]), a[1]], after=last, opset=16)
# In boxes, from windows, at offsets
emit("roi_pool", "height=2 width=3", "f32[2][4][5][3] f32[3][5]={0,1,0,3,3,1,-2,1,9,2,0,2,2,2,2}", "MaxRoiPool",
     dict(pooled_shape=[2, 3], spatial_scale=1.0),
     arrange=lambda a: [second(a[0]), a[1]], after=last)
emit("col2im", "image=4,5 kernel=2,3 stride=2,1 pad=0,1,0,1", "f32[2][12][10]", "Col2Im",
     dict(strides=[2, 1], pads=[0, 1, 0, 1]), extra=[np.array([4, 5]), np.array([2, 3])], opset=18)
emit("deform_conv2d", "stride=2,1 pad=1,0,1,1 groups=2 offset_groups=2", "f32[1][5][4][4] f32[3][2][2][6] "
     "f32[1][3][4][24] f32[1][3][4][12]", "DeformConv",
     dict(kernel_shape=[3, 2], strides=[2, 1], pads=[1, 0, 1, 1], group=2, offset_group=2),
     arrange=lambda a: [second(a[0]), kernel(a[1], False), second(a[2]), np.zeros(6, np.float32), second(a[3])],
     after=last, opset=19)
# What numpy has, or a plain loop


def plain(op, attrs, inputs, compute):
    record(op, attrs, inputs, np.asarray(compute(*read_inputs(inputs))))


def loop(shape, value):
    return np.array([value(*i) for i in np.ndindex(*shape)]).reshape(shape)


def adaptive(x, size, of):
    n, h, w, c = x.shape
    part = lambda i, extent, m: slice(i * extent // m, -(-(i + 1) * extent // m))
    return loop((n, size[0], size[1], c), lambda b, i, j, o: of(x[b, part(i, h, size[0]), part(j, w, size[1]), o]))


def with_diagonal(x, d, k):
    y = x.copy()
    for i in range(d.shape[-1]):
        y[..., i + max(-k, 0), i + max(k, 0)] = d[..., i]
    return y


def dilated(x, k):
    padded = np.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0)), constant_values=-np.inf)
    at = lambda b, i, j, o: max(padded[b, i * 2 + p, j * 2 + 2 * q, o] + k[p, q, o] for p in range(3) for q in range(2))
    return loop((2, 3, 3, 1), at)


plain("repeat", "times=3 axis=1", "f32[2][3][2]", lambda x: np.repeat(x, 3, axis=1))
plain("dilate", "stride=2,3 value=0.5", "f32[3][2]",
      lambda x: loop((5, 4), lambda i, j: 0.5 if i % 2 or j % 3 else x[i // 2, j // 3]))
plain("reverse", "axes=1", "f32[2][3][2]", lambda x: x[:, ::-1])
plain("unravel_index", "shape=2,3,4", "i64[4]={0,5,12,23}", lambda x: np.stack(np.unravel_index(x, (2, 3, 4))))
plain("set_diagonal", "k=-1", "f32[2][3][2] f32[2][2]", lambda x, d: with_diagonal(x, d, -1))
plain("set_diagonal", "k=2", "f32[3][4] f32[2]", lambda x, d: with_diagonal(x, d, 2))
plain("sequence_mask", "value=-1", "f32[4][3] i64[3]={4,0,2}", lambda x, n: np.where(np.arange(4)[:, None] < n, x, -1))
plain("searchsorted", "", "f32[5]={-1,0,0,2,3} f32[2][3]={-2,0,1,2,3,4}", np.searchsorted)
plain("searchsorted", "right=1", "f32[5]={-1,0,0,2,3} f32[2][3]={-2,0,1,2,3,4}", lambda s,
      v: np.searchsorted(s, v, side="right"))
plain("reduce_variance", "axes=1", "f32[2][5]", lambda x: x.astype(np.float64).var(axis=1))
plain("reduce_variance", "axes=0,2 unbiased=1", "f32[2][3][4]", lambda x: x.astype(np.float64).var(axis=(0, 2), ddof=1))
plain("reduce_any", "axes=1", "bool[2][3]={0,0,0,1,0,1}", lambda x: x.any(axis=1))
plain("reduce_all", "axes=1", "bool[3][2]={0,0,1,1,0,1}", lambda x: x.all(axis=1))
plain("isfinite", "", "f32[4]={1,-0.5,inf,-inf}", np.isfinite)
plain("bitcast", "to=i32", "f32[4]", lambda x: x.view(np.int32))
plain("adaptive_avg_pool", "size=3,2", "f32[1][5][7][2]", lambda x: adaptive(x, (3, 2), np.mean))
plain("adaptive_max_pool", "size=4,3", "f32[2][5][3][1]", lambda x: adaptive(x, (4, 3), np.max))
plain("dilation2d", "stride=2 pad=1,1,1,1 dilation=1,2", "f32[2][5][5][1] f32[3][2][1]", dilated)


def as_complex(x):
    return x[..., 0].astype(np.float64) + 1j * x[..., 1]


def parts(z):
    return np.stack([z.real, z.imag], -1)


def butterflies(x, w=None, inverse=False):
    """y[n,u,k,b] = sum(v) W(p)^(u v) x[n,k,v,b] w[k,v-1]"""
    z = as_complex(x)
    if w is not None:
        z[:, :, 1:] *= as_complex(w)[None, :, :, None]
    z = np.fft.ifft(z, axis=2) * x.shape[2] if inverse else np.fft.fft(z, axis=2)
    return parts(z.transpose(0, 2, 1, 3))


for radix in (2, 3, 4, 5, 8, 13):
    plain("butterflies", "", "f32[1][1][%d][1][2]" % radix, butterflies)
    plain("butterflies", "inverse=1", "f32[1][1][%d][1][2] f32[1][%d][2]" % (radix, radix - 1),
          lambda x, w: butterflies(x, w, inverse=True))
plain("butterflies", "", "f32[2][2][2][2][2] f32[2][1][2]", butterflies)
plain("mul_complex", "", "f32[2][2][2] f32[2][2]", lambda x, w: parts(as_complex(x) * as_complex(w)))
plain("frames", "length=3 step=2", "f32[2][7]", lambda x: np.stack([x[:, i:i + 3] for i in (0, 2, 4)], 1))


def banded(x, w, start, at, width):
    return np.stack([x[..., f:f + n].astype(np.float64) @ w[a:a + n].astype(np.float64)
                     for f, a, n in zip(start, at, width)], -1)


plain("banded_dense", "most=3", "f32[2][6] f32[6] i16[3]={0,1,4} i16[3]={0,2,5} i16[3]={2,3,1}", banded)


def rounded_root(x, bits):
    """Of less than 2^32 the root has 16 bits; the largest of either size is not rounded up."""
    def root(v):
        r = math.isqrt(v)
        return r + (v - r * r > r and r != (65535 if v < 2**32 else 2**32 - 1))
    return np.array([root(int(v)) for v in x]) >> bits[0]


# Numbers that a double holds: squares and their neighbours, rounded up and down, ends of both sizes
plain("sqrt_rounded", "", "u64[15]={0,1,2,3,4,6,7,4294836224,4294836225,4294967295,4294967296,1000006000009,"
      "1000007000012,1000007000013,9223372036854774784} i32[1]={0}", rounded_root)
