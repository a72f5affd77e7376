# SPDX-License-Identifier: MIT
"""Compares a quantized TFLite network operator by operator with TensorFlow Lite's reference kernels, each on the inputs
that the reference computes in the whole network: which kernels differ, and by how much.

    python3 tests/tools/tflite_by_operator.py BUILD MODEL.tflite...     needs the packages ai-edge-litert, numpy, and cc
"""
import collections
import pathlib
import subprocess
import sys
import tempfile

import flatbuffers
import numpy as np
from ai_edge_litert import interpreter as lite
from ai_edge_litert import schema_py_generated as s

NAMES = {v: k for k, v in vars(s.BuiltinOperator).items() if isinstance(v, int)}
# Of shapes, or moves.
SIZES = ["SHAPE", "STRIDED_SLICE", "PACK", "RESHAPE", "FILL", "REDUCE_PROD", "GATHER", "CONCATENATION"]


def whole(path, seed):
    """The network after a run on random integers, with all its tensors."""
    it = lite.Interpreter(model_path=path, experimental_op_resolver_type=lite.OpResolverType.BUILTIN_REF,
                          experimental_preserve_all_tensors=True)
    it.allocate_tensors()
    r = np.random.default_rng(seed)
    for i in it.get_input_details():
        info = np.iinfo(i["dtype"])
        values = r.normal(i["quantization"][1], (info.max - info.min) / 6, i["shape"]).round()
        it.set_tensor(i["index"], np.clip(values, info.min, info.max).astype(i["dtype"]))
    it.invoke()
    return it


def alone(bytes_, number, it):
    """The model of one operator, its name, and the tensors that it reads and writes."""
    model = s.ModelT.InitFromPackedBuf(bytes_, 0)
    graph = model.subgraphs[0]
    op = graph.operators[number]
    code = model.operatorCodes[op.opcodeIndex]
    fed = [t for t in op.inputs if t >= 0 and model.buffers[graph.tensors[t].buffer].data is None]
    for t in fed + list(op.outputs):
        graph.tensors[t].shape, graph.tensors[t].shapeSignature = np.array(it.get_tensor(int(t)).shape, np.int32), None
    graph.operators, graph.inputs, graph.outputs = [op], np.array(fed, np.int32), np.array(op.outputs, np.int32)
    model.signatureDefs = []
    builder = flatbuffers.Builder(1024)
    builder.Finish(model.Pack(builder), b"TFL3")
    return bytes(builder.Output()), NAMES[max(code.builtinCode, code.deprecatedBuiltinCode)], fed, list(op.outputs)


def difference(build, folder, model, it, fed, made):
    """The largest difference of the emitted C; None: refused."""
    at = lambda name: str(folder / name)
    (folder / "m.tflite").write_bytes(model)
    if subprocess.run([build + "/loopwright", at("m.tflite"), "-o", at("m.c"), "--name", "m", "--testbench",
                       "--quiet"], capture_output=True).returncode:
        return None
    subprocess.run(["cc", "-std=c99", "-Iruntime", "-I" + str(folder), at("m.c"), at("m_main.c"), "-lm", "-o",
                    at("m")], check=True)
    for k, t in enumerate(fed):
        np.save(at("i%d.npy" % k), it.get_tensor(int(t)))
    subprocess.run([at("m")] + [at("i%d.npy" % k) for k in range(len(fed))]
                   + [at("o%d.npy" % k) for k in range(len(made))], check=True, capture_output=True)
    return max(np.abs(np.load(at("o%d.npy" % k)).astype(float) - it.get_tensor(int(t))).max()
               for k, t in enumerate(made))


def main(build, *paths):
    for path in paths:
        it, bytes_, found = whole(path, 5), pathlib.Path(path).read_bytes(), collections.Counter()
        with tempfile.TemporaryDirectory() as folder:
            for number in range(len(s.ModelT.InitFromPackedBuf(bytes_, 0).subgraphs[0].operators)):
                model, name, fed, made = alone(bytes_, number, it)
                if name not in SIZES:
                    d = difference(build, pathlib.Path(folder), model, it, fed, made)
                    found[name + (" is refused" if d is None else " differs by %g" % d if d else " is equal")] += 1
        print(pathlib.Path(path).name, ", ".join("%d %s" % (n, what) for what, n in sorted(found.items())))


main(*sys.argv[1:])
