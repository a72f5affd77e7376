# SPDX-License-Identifier: MIT
"""Makes a failing model smaller: fewer nodes behind, then fewer in front, whose results become inputs."""
import copy

import onnx
from onnx import helper

import graphs
import reference


def values_of(model, feeds):
    """Every tensor of the graph, by name."""
    whole = onnx.ModelProto()
    whole.CopyFrom(model)
    known = {o.name for o in model.graph.output}
    names = [n for node in model.graph.node for n in node.output if n]
    whole.graph.output.extend(onnx.ValueInfoProto(name=n) for n in names if n not in known)
    found = dict(zip([o.name for o in whole.graph.output], reference.run(whole, feeds)))
    return {**feeds, **found}


def read_by(node):
    names = set(node.input)
    for a in node.attribute:
        for g in ([a.g] if a.type == onnx.AttributeProto.GRAPH else []) + list(a.graphs):
            for inner in g.node: names |= read_by(inner)
            names |= {o.name for o in g.output}
    return names - {""}


def part(model, nodes, outputs, values):
    """The graph of these nodes alone; what they read from elsewhere are inputs."""
    needed, kept = set(outputs), []
    for node in reversed(nodes):
        if not needed & set(node.output): continue
        kept.insert(0, node)
        needed |= read_by(node)
    made = {n for node in kept for n in node.output}
    constants = [c for c in model.graph.initializer if c.name in needed]
    inputs = [n for n in values if n in needed and n not in made and n not in {c.name for c in constants}]
    info = lambda n: helper.make_tensor_value_info(n, graphs.onnx_type(values[n].dtype), values[n].shape)
    graph = helper.make_graph(kept, "g", [info(n) for n in inputs], [info(n) for n in outputs], initializer=constants)
    small = helper.make_model(graph, ir_version=model.ir_version, opset_imports=model.opset_import)
    small.functions.extend(model.functions)
    return graphs.Case(small, {n: values[n] for n in inputs}, "reduced")


def smaller(case, fails, most=60):
    """The smallest case that `fails` still accepts."""
    try:
        values = values_of(case.model, case.feeds)
    except reference.NoReference:
        return case
    nodes, best, tries = list(case.model.graph.node), case, 0
    for i, node in enumerate(nodes):                    # the first node whose results fail
        outputs = [n for n in node.output if n and n in values]
        if not outputs or tries >= most: continue
        tries += 1
        small = part(case.model, nodes[:i + 1], outputs, values)
        if fails(small):
            best = small
            break
    tries = 0
    for node in list(best.model.graph.node):
        if tries >= most: break
        rest = [n for n in best.model.graph.node if n.name != node.name]
        if len(rest) == len(best.model.graph.node): continue
        outputs = [o.name for o in best.model.graph.output if any(o.name in n.output for n in rest)]
        if not outputs: continue
        tries += 1
        small = part(best.model, rest, outputs, values)
        if fails(small): best = small
    return copy.copy(best)


def without_nodes(case, fails, most=40):
    """The first node whose results fail, with all that it reads: sizes that data decide stay so."""
    graph, tries = case.model.graph, 0
    kinds = {}
    for s in case.samples:
        try:
            kinds.update((n, (graphs.onnx_type(x.dtype), x.ndim)) for n, x in values_of(case.model, s.feeds).items())
        except reference.NoReference:
            pass
    for node in graph.node:
        outputs = [n for n in node.output if n in kinds]
        if not outputs or tries >= most: continue
        needed, kept = set(outputs), []
        for n in reversed(graph.node):
            if needed & set(n.output): needed |= read_by(kept.insert(0, n) or n)
        small = onnx.ModelProto()
        small.CopyFrom(case.model)
        del small.graph.node[:], small.graph.output[:], small.graph.input[:], small.graph.initializer[:]
        small.graph.node.extend(kept)
        small.graph.output.extend(helper.make_tensor_value_info(n, kinds[n][0], [None] * kinds[n][1]) for n in outputs)
        small.graph.input.extend(i for i in graph.input if i.name in needed)
        small.graph.initializer.extend(c for c in graph.initializer if c.name in needed)
        tries += 1
        if fails(case.with_model(small)): return case.with_model(small)
    return case
