# SPDX-License-Identifier: MIT
"""What ONNX Runtime gives, without optimizations; and which elements the rounding of intermediate values decides."""
import warnings

import numpy as np
import onnx
import onnxruntime
from onnx import helper
from onnx.reference import ReferenceEvaluator

onnxruntime.set_default_logger_severity(4)
# Operators that move, choose or count, and so do not round. DequantizeLinear is none: its product and the quotient of a
# QuantizeLinear behind it are one step in integers, whose ties are others.
EXACT = set("""Relu Abs Neg Floor Ceil Round Sign Identity Min Max Clip Where Cast Concat Split Slice Reshape Flatten
Squeeze Unsqueeze Transpose Expand Tile Pad Gather GatherElements GatherND Trilu DepthToSpace SpaceToDepth ArgMax ArgMin
ReverseSequence ReduceMax ReduceMin TopK MaxPool GlobalMaxPool Range EyeLike OneHot ConstantOfShape Constant Hardmax
Shape Size QuantizeLinear Compress Unique Equal Greater GreaterOrEqual Less LessOrEqual Not IsNaN IsInf
ScatterElements ScatterND CenterCropPad If Loop Scan""".split())
ROUNDING = {onnx.TensorProto.FLOAT: 2.0**-21, onnx.TensorProto.DOUBLE: 2.0**-49, onnx.TensorProto.FLOAT16: 2.0**-9}
RUNS, SPREAD = 12, 16.0


class NoReference(Exception):
    """The reference has no kernel, or refuses the model."""


def session(model):
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4
    options.enable_mem_pattern = False
    try:
        return onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    except Exception as e:
        raise NoReference(str(e))


def run(model, feeds):
    try:
        return [np.asarray(y) for y in session(model).run(None, feeds)]
    except NoReference:
        raise
    except Exception as e:
        raise NoReference(str(e))


def by_formula(model, feeds, why):
    """What the specification's own evaluator gives where ONNX Runtime has no kernel."""
    if "NOT_IMPLEMENTED" not in str(why) and "Could not find an implementation" not in str(why) \
            and "opset" not in str(why) and "is not a registered" not in str(why):
        raise NoReference(str(why))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = [np.asarray(y) for y in ReferenceEvaluator(model).run(None, feeds)]
    except Exception as e:
        raise NoReference(str(e))
    for y, o in zip(found, model.graph.output):
        if y.dtype != helper.tensor_dtype_to_np_dtype(o.type.tensor_type.elem_type):
            raise NoReference("onnx's evaluator gives another type")
    return found


def types_of(model):
    """Type and shape of every tensor whose sizes are known."""
    try:
        inferred = onnx.shape_inference.infer_shapes(model).graph
    except Exception:
        return {}
    found = {c.name: (c.data_type, list(c.dims)) for c in inferred.initializer}
    for v in [*inferred.value_info, *inferred.input, *inferred.output]:
        kind = v.type.tensor_type
        found[v.name] = kind.elem_type, [d.dim_value for d in kind.shape.dim]
    return found


# Positions between samples are rounded themselves, in several steps: so are the weights of the samples.
ROUNDINGS = {"Resize": 16, "Upsample": 16}
TRIPS = 8                               # iterations of a loop that a graph has at most


def bodies(node):
    return [a.g for a in node.attribute if a.type == onnx.AttributeProto.GRAPH]


def roundings(node):
    """How many steps of a node round; 0: it is exact. A body rounds in each iteration."""
    inner = sum(roundings(n) for body in bodies(node) for n in body.node)
    if bodies(node): return inner * (1 if node.op_type == "If" else TRIPS)
    return 0 if node.op_type in EXACT else ROUNDINGS.get(node.op_type, 1)


def perturbed(model, known):
    """The model in which each float that a node rounds, and each that it reads, is multiplied by an input; and these
    inputs: name, shape, type, and how many roundings it stands for."""
    noisy, added = onnx.ModelProto(), []
    noisy.CopyFrom(model)
    nodes = list(noisy.graph.node)
    del noisy.graph.node[:]

    def times_noise(name, result, at, roundings=1):
        added.append((at + "/noise", known[name][1], known[name][0], roundings))
        return helper.make_node("Mul", [name if result is None else name + "/exact", at + "/noise"], [result or at])
    for number, node in enumerate(nodes):
        before, after = [], []
        is_float = [n in known and known[n][0] in ROUNDING for n in [*node.input, *node.output]]
        steps = roundings(node)
        if steps:
            for i, name in enumerate(node.input):
                if not is_float[i]: continue
                node.input[i] = "%s/read%d_%d" % (name, number, i)
                before.append(times_noise(name, None, node.input[i], steps))
            for i, name in enumerate(node.output):
                if not is_float[len(node.input) + i]: continue
                node.output[i] = name + "/exact"
                after.append(times_noise(name, name, name, steps if bodies(node) else 1))
        noisy.graph.node.extend([*before, node, *after])
    noisy.graph.input.extend(helper.make_tensor_value_info(n, t, s) for n, s, t, _ in added)
    return noisy, added


def measured(model, feeds, expected, rng, known):
    """Of each output a mask of the elements that another rounding of intermediate values decides (an integer, a bool, a
    NaN), and how far it moves the others. known: type and shape of every tensor."""
    masks = [np.zeros(e.shape, bool) for e in expected]
    spread = [np.zeros(e.shape) for e in expected]
    noisy, added = perturbed(model, known)
    try:
        runs = session(noisy) if added else None
    except NoReference:
        return masks, spread
    for _ in range(RUNS if added else 0):
        noise = {n: np.asarray(1 + rng.uniform(-1, 1, s) * ROUNDING[t] * k, helper.tensor_dtype_to_np_dtype(t))
                 for n, s, t, k in added}
        try:
            moved = runs.run(None, {**feeds, **noise})
        except Exception:               # a factor that the operator accepts exactly alone
            break
        for i, (y, e) in enumerate(zip(moved, expected)):
            if y.shape != e.shape: continue
            if y.dtype.kind in "iub":
                masks[i] |= y != e
                continue
            with np.errstate(all="ignore"):
                far = np.abs(y.astype(np.float64) - e.astype(np.float64))
            masks[i] |= ~np.isfinite(far) & ~((y == e) | (np.isnan(y) & np.isnan(e)))
            spread[i] = np.maximum(spread[i], SPREAD * np.where(np.isfinite(far), far, 0))
    return masks, spread
