# SPDX-License-Identifier: MIT
"""Files of `quantize -o NAME.onnx`: valid by onnx.checker, and near the float network in ONNX Runtime.

    python3 tests/qdq.py BUILD [PATTERN]          needs numpy, onnx, onnxruntime

A row is a network in ONNX's text form. Inputs that begin with w are constants. The same run writes the C, too."""
import os
import subprocess
import sys

import numpy as np
import onnx
import onnx.parser
import onnxruntime
from onnx import numpy_helper

OPSET, SAMPLES, LEAST_DB = 17, 24, 24
ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

# name | graph, or a file
ROWS = """
hostile-names | tests/names/hostile.onnx
float-constant-of-a-constant-node | float[4,3] x, float[3,9] w, float[4,3] v => float[4,3,3] y: \
    m = MatMul(x, w) s = Constant<value_ints=[4,3,3]>() r = Reshape(m, s) \
    e = Constant<value=float[3,3]{1,0,0,0,1,0,0,0,1}>() y = Add(r, e)
layer-norm | float[2,8] x, float[8,6] w, float[6] ws, float[6] wb => float[2,6] y: \
    m = MatMul(x, w) y = LayerNormalization<axis=-1>(m, ws, wb)
instance-norm | float[1,3,6,5] x, float[4,3,3,3] w, float[4] ws, float[4] wb => float[1,4,4,3] y: \
    m = Conv(x, w) y = InstanceNormalization(m, ws, wb)
conv-transpose | float[1,3,5,4] x, float[3,4,3,3] w => float[1,4,11,9] y: y = ConvTranspose<strides=[2,2]>(x, w)
conv-transpose-of-groups | float[1,4,5] x, float[4,3,3] w => float[1,6,12] y: \
    y = ConvTranspose<strides=[2], group=2, output_padding=[1]>(x, w)
pad-by-reflection | float[1,2,5,5] x, float[3,2,3,3] w => float[1,3,5,5] y: \
    p = Constant<value_ints=[0,0,1,1,0,0,1,1]>() m = Pad<mode="reflect">(x, p) y = Conv(m, w)
pad-with-a-value | float[1,2,5,5] x, float[3,2,1,1] w, float[2,3,3,3] w2 => float[1,2,5,5] y: \
    m = Conv(x, w) p = Constant<value_ints=[0,0,1,1,0,0,1,1]>() v = Constant<value_float=2.5>() q = Pad(m, p, v) \
    y = Conv(q, w2)
resize-nearest | float[1,2,4,4] x, float[3,2,1,1] w => float[1,3,8,8] y: \
    m = Conv(x, w) s = Constant<value_floats=[1.0,1.0,2.0,2.0]>() y = Resize<mode="nearest">(m, , s)
resize-linear | float[1,2,4,4] x, float[3,2,1,1] w => float[1,3,8,8] y: \
    m = Conv(x, w) s = Constant<value_floats=[1.0,1.0,2.0,2.0]>() y = Resize<mode="linear">(m, , s)
functions | float[2,6] x, float[6,6] w => float[2,6] y: \
    m = MatMul(x, w) a = Selu(m) b = Celu(a) c = HardSwish(b) d = Softsign(c) y = Softplus(d)
cumulative-sum | float[2,6] x, float[6,6] w => float[2,6] y: \
    m = MatMul(x, w) a = Constant<value_int=1>() y = CumSum(m, a)
einsum | float[3,4] x, float[4,5] w => float[3,3,5] y: m = MatMul(x, w) y = Einsum<equation="ij,kj->ikj">(m, m)
sums | float[3,4] x, float[4,6] w => float[3] y: \
    m = MatMul(x, w) a = Constant<value_ints=[1]>() b = ReduceL2<keepdims=0, axes=[1]>(m) \
    c = ReduceLogSumExp<keepdims=0, axes=[1]>(m) y = Add(b, c)
lrn | float[1,3,5,5] x, float[6,3,3,3] w => float[1,6,3,3] y: m = Conv(x, w) y = LRN<size=3>(m)
lp-pool | float[1,3,6,6] x, float[6,3,3,3] w => float[1,6,3,3] y: m = Conv(x, w) y = LpPool<kernel_shape=[2,2]>(m)
rnn-with-relu | float[5,1,3] x, float[1,4,3] w, float[1,4,4] wr => float[5,1,1,4] y: \
    y = RNN<hidden_size=4, activations=["Relu"]>(x, w, wr)
place-of-the-greatest | float[2,6] x, float[6,6] w => float[2,6] y, int64[2,1] i: \
    m = MatMul(x, w) y = Relu(m) i = ArgMax<axis=1>(x)
choice | float[2,6] x, float[6,6] w => float[2,6] y: \
    m = MatMul(x, w) z = Constant<value_float=0.0>() g = Less(m, z) e = Tanh(m) y = Where(g, e, m)
"""


def rows():
    for line in ROWS.strip().replace("\\\n", "").split("\n"):
        name, graph = line.split("|")
        yield name.strip(), graph.strip()


def network(graph, rng):
    text = graph.replace(" => ", ") => (").replace(": ", ") {", 1)
    model = onnx.parser.parse_model(f'<ir_version: 8, opset_import: ["" : {OPSET}]> g ({text} }}')
    inputs = list(model.graph.input)
    del model.graph.input[:]
    for i in inputs:
        shape = [d.dim_value for d in i.type.tensor_type.shape.dim]
        if i.name[0] != "w":
            model.graph.input.append(i)
            continue
        value = rng.standard_normal(shape).astype(np.float32) / np.sqrt(np.prod(shape[1:]) or 1)
        model.graph.initializer.append(numpy_helper.from_array(value.astype(np.float32), i.name))
    return model


def outputs(path, samples, optimized):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.log_severity_level = 1, 3
    if not optimized:
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    return [session.run(None, {name: s[k] for name, s in samples.items()}) for k in range(SAMPLES)]


def decibels(want, got):
    noise = ((want - got) ** 2).sum()
    return 10 * np.log10((want ** 2).sum() / noise) if noise else np.inf


def fault(build, work, name, graph):
    rng = np.random.default_rng(3)
    model, written = f"{work}/{name}.onnx", f"{work}/{name}.q.onnx"
    if graph.endswith(".onnx"): model = graph
    else: onnx.save(network(graph, rng), model)
    samples = {i.name: rng.standard_normal([SAMPLES] + [d.dim_value for d in i.type.tensor_type.shape.dim])
               .astype(np.float32) for i in onnx.load(model).graph.input}
    np.savez(f"{work}/{name}.npz", **samples)
    command = [f"{build}/loopwright", "quantize", model, "--samples", f"{work}/{name}.npz", "--ports", "float"]
    run = subprocess.run(command + ["-o", written, "-o", f"{work}/m.c"], capture_output=True, text=True)
    if run.returncode: return run.stderr
    if not os.path.exists(f"{work}/m.c"): return "the C is not written"
    os.remove(f"{work}/m.c")
    try:
        onnx.checker.check_model(onnx.load(written), full_check=True)
        want = outputs(model, samples, True)
        for optimized in (False, True):
            got = outputs(written, samples, optimized)
            for o in range(len(want[0])):
                a, b = (np.stack([np.asarray(r[o], np.float64) for r in list_]) for list_ in (want, got))
                if a.shape != b.shape: return f"output {o} is {b.shape[1:]}; use {a.shape[1:]}"
                is_real = want[0][o].dtype == np.float32
                if is_real and decibels(a, b) < LEAST_DB: return f"output {o} has {decibels(a, b):.1f} dB"
    except Exception as e:                                # whatever the libraries raise
        return f"{type(e).__name__}: {e}"
    return None


def sums_fault(work, build, op):
    """`--qdq float` computes a pair of grids in ONNX Runtime's order: the same bytes, for decimal scales, too."""
    rng = np.random.default_rng(7)
    for case in range(3):
        scale, zero = rng.uniform(0.005, 0.05, 3).round(3).astype(np.float32), rng.integers(-20, 20, 3).astype(np.int8)
        if op == "Mul": scale[2] = np.float32(round(float(scale[0] * scale[1]) * 128, 4))
        a, b = (rng.integers(-128, 128, 2000).astype(np.int8) for _ in range(2))
        values = " ".join(f"s{i} = Constant<value=float {{{scale[i]:.9g}}}>() "
                          f"z{i} = Constant<value=int8 {{{zero[i]}}}>()" for i in range(3))
        model = onnx.parser.parse_model(f"""<ir_version: 8, opset_import: ["" : 13]>
            g (int8[2000] a, int8[2000] b) => (int8[2000] q) {{ {values} x = DequantizeLinear(a, s0, z0)
            y = DequantizeLinear(b, s1, z1) c = {op}(x, y) q = QuantizeLinear(c, s2, z2) }}""")
        onnx.save(model, f"{work}/{op}.onnx")
        np.save(f"{work}/a.npy", a), np.save(f"{work}/b.npy", b)
        options = onnxruntime.SessionOptions()
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        want = onnxruntime.InferenceSession(f"{work}/{op}.onnx", options).run(None, {"a": a, "b": b})[0]
        subprocess.run([f"{build}/loopwright", "run", f"{work}/{op}.onnx", f"{work}/a.npy", f"{work}/b.npy", "-o",
                        f"{work}/q.npy", "--qdq", "float", "--quiet"], check=True)
        differs = int((np.load(f"{work}/q.npy") != want).sum())
        if differs: return f"{differs} of 2000 elements differ"
    return None


def main():
    build, pattern = os.path.abspath(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else ""
    work = f"{build}/qdq"
    os.makedirs(work, exist_ok=True)
    os.chdir(ROOT)
    passed = failed = 0
    cases = [(f"in-onnx-runtime-{name}", lambda n, g=graph: fault(build, work, n, g)) for name, graph in rows()]
    cases += [(f"in-floats-{op}-equals-onnx-runtime", lambda n, o=op: sums_fault(work, build, o))
              for op in ("Add", "Sub", "Mul")]
    for name, test in cases:
        if pattern not in name: continue
        why = test(name)
        print(f"not ok {name}: {' '.join(why.split())[:400]}" if why else f"ok {name}")
        passed, failed = passed + (not why), failed + bool(why)
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
