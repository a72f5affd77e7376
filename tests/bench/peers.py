#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""peers.py BUILD [MODEL...]: time of one inference on this machine, beside ONNX Runtime (.onnx) or TensorFlow Lite with
XNNPACK (.tflite), one thread each.

The emitted C is built by $CC (gcc) with -O3 -march=$MARCH (native) -ffp-contract=off as a shared object. Both sides run
in this process, in turns on one core, and their thread's processor time is read, so other programs cost caches alone;
printed are the least time of each side and the median of the turns' ratios, ours / theirs. MODEL: a file, or the name
of a recorded one; by default all recorded ones. TARGET: the target to emit for, by default the widest x86 one whose
flags the processor has. Installs nothing: needs the Python packages numpy and onnxruntime or ai-edge-litert."""
import ctypes
import math
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

from common import RECORDED, ROOT, run

TINY = ROOT / "../shared/models/mlperf-tiny"
TURNS, SECONDS = int(os.environ.get("TURNS", 11)), float(os.environ.get("SECONDS", 0.04))
FLAGS = ["-std=c99", "-O3", f"-march={os.environ.get('MARCH', 'native')}", "-ffp-contract=off", "-shared", "-fPIC"]
LARGE = 32 << 20                # bytes of a file; above, gcc would read the weights as text for minutes
SHIM = """
#include "model.h"
#include <stddef.h>
static M_ARENA(arena);
#define COUNT(name, type, count) sizeof(type) * (count),
static const size_t in_bytes[] = { M_INPUTS(COUNT) }, out_bytes[] = { M_OUTPUTS(COUNT) };
size_t bytes_of(int is_output, int i) { return is_output ? out_bytes[i] : in_bytes[i]; }
int infer(int runs, const void *const *input, void *const *output)
{
    struct m_inputs in;
    struct m_outputs out;
    int i = 0, o = 0, status = 0;
#define BIND_IN(name, type, count) in.name = input[i++];
    M_INPUTS(BIND_IN)
#define BIND_OUT(name, type, count) out.name = output[o++];
    M_OUTPUTS(BIND_OUT)
    while (runs-- > 0 && !status) status = m_run(arena, &in, &out);
    return status;
}
"""


def package(name, pip):
    try:
        return __import__(name, fromlist=["x"])
    except ImportError:
        sys.exit(f"bench-host needs the Python package {pip}")


def target():
    flags = Path("/proc/cpuinfo").read_text().split() if Path("/proc/cpuinfo").exists() else []
    known = [name for flag, name in (("avx512_vnni", "x86-vnni"), ("avx512f", "x86-avx512"), ("avx2", "x86-avx2"),
                                     ("sse4_1", "x86")) if flag in flags]
    return os.environ.get("TARGET") or (known or ["generic"])[0]


class Ours:
    """The emitted network, called through a shared object."""

    def __init__(self, build, path):
        folder = Path(build).resolve() / "bench" / "peers" / target() / path.stem
        folder.mkdir(parents=True, exist_ok=True)
        weights = "incbin" if path.stat().st_size > LARGE else "c"
        run(Path(build).resolve() / "loopwright", path, "-o", folder / "model.c", "--name", "m", "--target", target(),
            "--weights", weights, "--quiet")
        (folder / "shim.c").write_text(SHIM)
        shared = folder / f"model-{os.getpid()}.so"
        defines = [f'-DM_WEIGHTS_FILE="{folder / "model.bin"}"'] if weights == "incbin" else []
        run(*os.environ.get("CC", "gcc").split(), *FLAGS, *defines, f"-I{ROOT / 'runtime'}", "-o", shared,
            folder / "model.c",
            folder / "shim.c", "-lm")
        self.library = ctypes.CDLL(str(shared))
        shared.unlink()
        self.library.bytes_of.restype = ctypes.c_size_t

    def bind(self, np, inputs, outputs):
        self.inputs = [np.ascontiguousarray(x) for x in inputs]
        self.outputs = [np.empty_like(y) for y in outputs]
        for which, arrays in enumerate((self.inputs, self.outputs)):
            for i, a in enumerate(arrays):
                assert self.library.bytes_of(which, i) == a.nbytes, "the sizes of inputs or outputs differ"
        self.pointers = [(ctypes.c_void_p * len(a))(*(x.ctypes.data for x in a)) for a in (self.inputs, self.outputs)]

    def infer(self, runs=1):
        assert self.library.infer(runs, *self.pointers) == 0


class OnnxRuntime:
    def __init__(self, np, path, recorded):
        ort = package("onnxruntime", "onnxruntime")
        options = ort.SessionOptions()
        options.log_severity_level = 3
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        self.session = ort.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
        types = {"tensor(float)": np.float32, "tensor(int8)": np.int8, "tensor(uint8)": np.uint8,
                 "tensor(int64)": np.int64}
        made = np.random.default_rng(1)
        self.feed = {x.name: recorded[i] if i < len(recorded)
                     else made.standard_normal(x.shape).astype(types[x.type])
                     for i, x in enumerate(self.session.get_inputs())}
        self.inputs, self.outputs = list(self.feed.values()), self.session.run(None, self.feed)

    def infer(self, runs=1):
        for _ in range(runs):
            self.session.run(None, self.feed)


class LiteRT:
    """TensorFlow Lite, with the delegate XNNPACK, which is its default."""

    def __init__(self, np, path, recorded):
        litert = package("ai_edge_litert.interpreter", "ai-edge-litert")
        self.interpreter = litert.Interpreter(str(path), num_threads=1)
        self.interpreter.allocate_tensors()
        made = np.random.default_rng(1)
        self.inputs = []
        for i, x in enumerate(self.interpreter.get_input_details()):
            value = recorded[i] if i < len(recorded) else made.integers(-128, 127, x["shape"]).astype(x["dtype"])
            self.inputs.append(value.reshape(x["shape"]))
            self.interpreter.set_tensor(x["index"], self.inputs[-1])
        self.interpreter.invoke()
        self.outputs = [self.interpreter.get_tensor(y["index"]) for y in self.interpreter.get_output_details()]

    def infer(self, runs=1):
        for _ in range(runs):
            self.interpreter.invoke()


def recorded_inputs(np, path):
    single = path.with_name(path.stem + ".in0.npy")
    names = [single] if single.exists() else sorted(path.parent.glob(path.stem + ".in0.*.npy"))
    return [np.load(name) for name in names]


def runs_within(side):
    runs = 1
    while (took := timed(side, runs)) < SECONDS and runs < 1 << 20:
        runs = runs * 2 if took * 8 > SECONDS else runs * 8
    return runs


def timed(side, runs):
    start = time.thread_time()
    side.infer(runs)
    return time.thread_time() - start


def compare(np, build, path):
    """Least times of both sides in microseconds, the median ratio, and the largest difference of outputs."""
    recorded = recorded_inputs(np, path)
    theirs = (LiteRT if path.suffix == ".tflite" else OnnxRuntime)(np, path, recorded)
    ours = Ours(build, path)
    ours.bind(np, theirs.inputs, theirs.outputs)
    ours.infer()
    difference = max(float(np.max(np.abs(a.astype(np.float64) - b), initial=0))
                     for a, b in zip(ours.outputs, theirs.outputs))
    runs = [runs_within(side) for side in (ours, theirs)]
    turns = [[timed(side, n) / n * 1e6 for side, n in zip((ours, theirs), runs)] for _ in range(TURNS)]
    return min(o for o, _ in turns), min(t for _, t in turns), statistics.median(o / t for o, t in turns), difference


def files():
    recorded = (sorted(RECORDED.glob("*.onnx"))
                + sorted(p for p in TINY.glob("*.tflite") if (TINY / f"{p.stem}.layers0.npz").exists()))
    if not sys.argv[2:]:
        return recorded
    named = {p.stem: p for p in recorded}
    return [named.get(word, Path(word)) for word in sys.argv[2:]]


def main():
    np = package("numpy", "numpy")
    if len(sys.argv) < 2:
        sys.exit(f"usage: {sys.argv[0]} BUILD [MODEL...]")
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    print(f"time of one inference, --target {target()}, {' '.join(FLAGS[1:4])}, one thread, {TURNS} turns")
    print(f"{'model':<28} {'ours, us':>10} {'theirs, us':>10} {'ratio':>6}  largest difference")
    ratios = {}
    for path in files():
        try:
            ours, theirs, ratio, difference = compare(np, sys.argv[1], path)
        except (subprocess.CalledProcessError, AssertionError) as error:
            print(f"{path.stem:<28} skipped: {(getattr(error, 'stderr', '') or str(error)).strip().splitlines()[0]}")
            continue
        ratios.setdefault(path.suffix, []).append(ratio)
        print(f"{path.stem:<28} {ours:>10.1f} {theirs:>10.1f} {ratio:>6.2f}  {difference:.2g}", flush=True)
    for suffix, peer in ((".onnx", "ONNX Runtime"), (".tflite", "XNNPACK")):
        if suffix in ratios:
            mean = math.exp(statistics.mean(map(math.log, ratios[suffix])))
            print(f"{peer}, {len(ratios[suffix])} models: geometric mean {mean:.2f}, worst {max(ratios[suffix]):.2f}")


if __name__ == "__main__":
    main()
