# SPDX-License-Identifier: MIT
"""A QDQ file of `loopwright quantize` beside the emitted C: the shares of the outputs within a step."""
import numpy as np
import onnx
import onnx.reference
import onnxruntime

EVALUATED_OPSET = 21


def percent(share):
    return f"{100 * share:.2f} %"


def steps_of(path):
    """The step of each output of a QDQ file; 0: it is not quantized."""
    graph = onnx.load(str(path)).graph
    by_output = {o: n for n in graph.node for o in n.output}
    constants = {t.name: onnx.numpy_helper.to_array(t) for t in graph.initializer}
    steps = []
    for o in graph.output:
        n = by_output.get(o.name)
        while n is not None and n.op_type in ("Reshape", "Transpose", "Identity", "Squeeze", "Unsqueeze"):
            n = by_output.get(n.input[0])
        steps.append(float(constants[n.input[1]]) if n is not None and n.op_type == "DequantizeLinear" else 0.0)
    return steps


def share_within(path, samples, got, steps):
    """The share of ONNX Runtime's outputs within a step of the C's; of an output in floats, 2^-15 of its magnitude."""
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    names = [x.name for x in session.get_inputs()]
    near = total = 0
    for x, g in zip(samples, got):
        for y, c, step in zip(session.run(None, dict(zip(names, x.values()))), g, steps):
            step = step or float(np.abs(c).max()) / 32768
            near += int((np.abs(y.reshape(c.shape).astype(np.float64) - c) <= 1.001 * step).sum())
            total += c.size
    return near / total


def graphs_of(graph):
    """The graph and those of its nodes."""
    yield graph
    for n in graph.node:
        for a in n.attribute:
            if a.type == onnx.AttributeProto.GRAPH:
                yield from graphs_of(a.g)


def evaluable(path):
    """The file with an opset that ONNX's reference evaluator has: axes of reductions are inputs, and 16-bit grids
    operators of ONNX."""
    model = onnx.load(str(path))
    model.opset_import[0].version = max(model.opset_import[0].version, EVALUATED_OPSET)
    for graph in graphs_of(model.graph):
        for n in graph.node:
            n.domain = ""
            for a in [a for a in n.attribute if a.name == "axes" and n.op_type.startswith("Reduce")]:
                graph.initializer.append(onnx.numpy_helper.from_array(np.array(a.ints, np.int64), f"{n.name}_axes"))
                n.input.append(f"{n.name}_axes")
                n.attribute.remove(a)
            for a in n.attribute:
                if n.op_type == "Cast" and a.i == onnx.TensorProto.FLOAT:
                    a.i = onnx.TensorProto.DOUBLE
    return model


def share_in_doubles(path, samples, got, steps):
    """The same with ONNX's reference evaluator in 64-bit floats. The inputs are rounded to their grids in 32-bit
    floats, as in ONNX Runtime and in the C."""
    model = evaluable(path)
    constants = {t.name: onnx.numpy_helper.to_array(t) for t in model.graph.initializer}
    grids = {n.input[0]: constants[n.input[1]] for n in model.graph.node if n.op_type == "QuantizeLinear"}
    for t in [t for graph in graphs_of(model.graph) for t in graph.initializer]:
        if t.data_type == onnx.TensorProto.FLOAT:
            t.CopyFrom(onnx.numpy_helper.from_array(onnx.numpy_helper.to_array(t).astype(np.float64), t.name))
    evaluator = onnx.reference.ReferenceEvaluator(model)
    near = total = 0
    for x, g in zip(samples, got):
        feeds = {}
        for port, v in zip(model.graph.input, x.values()):
            step = grids.get(port.name)
            feeds[port.name] = (v.astype(np.float64) if step is None
                                else np.rint(v / step).astype(np.float64) * np.float64(step))
        for y, c, step in zip(evaluator.run(None, feeds), g, steps):
            step = step or float(np.abs(c).max()) / 32768
            near += int((np.abs(y.reshape(c.shape) - c) <= 1.001 * step).sum())
            total += c.size
    return near / total
