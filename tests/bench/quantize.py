#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""quantize.py BUILD [NAME...]: signal to noise at the outputs of the recorded float networks, quantized to 8 bits by
`loopwright quantize` and by ONNX Runtime (QDQ; the best of per tensor and per channel, each with min-max, entropy and
percentile calibration). Both calibrate on the same 32 samples and are measured on them: normal numbers with the
recorded input's mean and deviation, clipped to its range; seed 7. A network with several outputs has a figure for each.
Of the QDQ file that the same run writes: the share of the outputs of ONNX Runtime, without graph optimizations, within
a step of the emitted C's; where it is below 99.9 %, the share if ONNX's reference evaluator runs the file in 64-bit
floats."""
import contextlib
import io
import logging
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import onnxruntime
from onnxruntime.quantization import CalibrationDataReader, CalibrationMethod, QuantFormat, QuantType, quantize_static
from onnxruntime.quantization.shape_inference import quant_pre_process

from common import KEYWORDS, RECORDED, build_argument
from qdq_file import percent, share_in_doubles, share_within, steps_of

SAMPLES, SEED, NEAR = 32, 7, 0.999
logging.disable(logging.CRITICAL)
onnxruntime.set_default_logger_severity(4)


class Reader(CalibrationDataReader):
    def __init__(self, samples):
        self.left = iter(samples)

    def get_next(self):
        return next(self.left, None)


def recorded(name, number, several):
    """The recorded input: NAME.in0.npy, of networks with several inputs NAME.in0.N.npy; of the keyword networks, the
    samples for calibration."""
    if (KEYWORDS / f"{name}.onnx").exists():
        return np.load(KEYWORDS / "calibration.npy")
    return np.load(RECORDED / (f"{name}.in0.{number}.npy" if several else f"{name}.in0.npy"))


def samples_of(session, name):
    random = np.random.default_rng(SEED)
    inputs = session.get_inputs()
    like = {x.name: recorded(name, i, len(inputs) > 1) for i, x in enumerate(inputs)}
    shape = {x.name: x.shape for x in inputs}
    return [{key: np.clip(random.standard_normal(shape[key]) * v.std() + v.mean(), v.min(), v.max()).astype(v.dtype)
             for key, v in like.items()}
            for _ in range(SAMPLES)]


LEVELS = (onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL, onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL)


def session_of(path, level=onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL):
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = level
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def decibels(want, got):
    """Of each output, over all samples: want[sample][output]."""
    result = []
    for i in range(len(want[0])):
        signal = sum(float(np.square(w[i], dtype=np.float64).sum()) for w in want)
        noise = sum(float(np.square(w[i].astype(np.float64) - g[i].reshape(w[i].shape)).sum())
                    for w, g in zip(want, got))
        result.append(10 * np.log10(signal / noise) if noise else float("inf"))
    return result


def of_runtime(path, work, samples, want):
    """The best of its settings, by the sum over the outputs. Settings that end in one of its own errors are left
    out. Each file is run with graph optimizations and without: its integer kernels add pairs of products in 16 bits,
    which saturate, on x86 without VNNI."""
    prepared = work / "prepared.onnx"
    found = []
    for per_channel in (False, True):
        for method in (CalibrationMethod.MinMax, CalibrationMethod.Entropy, CalibrationMethod.Percentile):
            try:
                with contextlib.redirect_stdout(io.StringIO()):
                    quant_pre_process(str(path), str(prepared), skip_symbolic_shape=True)
                    quantize_static(str(prepared), str(work / "theirs.onnx"), Reader(samples),
                                    quant_format=QuantFormat.QDQ, per_channel=per_channel,
                                    activation_type=QuantType.QInt8, weight_type=QuantType.QInt8,
                                    calibrate_method=method)
                sessions = [session_of(work / "theirs.onnx", level) for level in LEVELS]
            except (onnxruntime.capi.onnxruntime_pybind11_state.InvalidGraph, ValueError):
                continue
            setting = f"{method.name}, per {'channel' if per_channel else 'tensor'}"
            found += [(decibels(want, [session.run(None, x) for x in samples]), setting) for session in sessions]
    return max(found, key=lambda f: sum(f[0]))


def of_ours(program, path, work, samples, want):
    np.savez(work / "samples.npz", **{key: np.stack([x[key] for x in samples]) for key in samples[0]})
    subprocess.run([program, "quantize", path, "--samples", work / "samples.npz", "-o", work / "ours.c", "-o",
                    work / "ours.onnx",
                    "--ports", "float", "--testbench", "--standalone", "--quiet"], check=True)
    subprocess.run(["cc", "-std=c99", "-O2", "-ffp-contract=off", "-o", work / "ours", work / "ours.c",
                    work / "ours_main.c", "-lm"], check=True)
    got = []
    for x in samples:
        files = []
        for i, v in enumerate(x.values()):
            files.append(work / f"in{i}.npy")
            np.save(files[-1], v)
        outputs = [work / f"out{i}.npy" for i in range(len(want[0]))]
        subprocess.run([work / "ours", *files, *outputs], check=True, stdout=subprocess.DEVNULL)
        got.append([np.load(o) for o in outputs])
    return decibels(want, got), got


def file_text(path, samples, got):
    steps = steps_of(path)
    share = share_within(path, samples, got, steps)
    return f"{percent(share)} | {percent(share_in_doubles(path, samples, got, steps)) if share < NEAR else ''}"


def main():
    program = Path(build_argument()).resolve() / "loopwright"
    paths = [p for folder in (RECORDED, KEYWORDS) for p in sorted(folder.glob("*.onnx")) if "qdq" not in p.stem]
    if sys.argv[2:]:
        paths = [p for p in paths if p.stem in sys.argv[2:]]
    print("| network | ours, dB | ONNX Runtime, dB | its best setting | QDQ within a step | in 64-bit floats "
          "|\n|---|---|---|---|---|---|")
    worse = 0
    for path in paths:
        name = path.stem
        session = session_of(path)
        samples = samples_of(session, name)
        want = [session.run(None, x) for x in samples]
        with tempfile.TemporaryDirectory() as folder:
            theirs, setting = of_runtime(path, Path(folder), samples, want)
            ours, got = of_ours(program, path, Path(folder), samples, want)
            shares = file_text(Path(folder) / "ours.onnx", samples, got)
        worse += any(a < b - 0.5 for a, b in zip(ours, theirs))
        print(f"| {name} | {', '.join(f'{v:.1f}' for v in ours)} | {', '.join(f'{v:.1f}' for v in theirs)} | {setting} "
              f"| {shares} |", flush=True)
    sys.exit(worse > 0)


main()
