#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""quantize_mixed.py BUILD [NAME|max-drop...]: bounds on the outputs hold. Each recorded float network is quantized to
8 bits, and with --min-sqnr 6 dB above what 8 bits reach, on the samples of quantize.py and float ports. Of the 8 bits:
the share of outputs of the QDQ file, in ONNX Runtime, within a step of the C's. With the bound: the signal to noise of
the emitted C; the number of 16-bit grids and of calls in floats; whether the interpreter agrees with the C (verify of
the realized stage); the shares of outputs of the QDQ file within a step of the C's, and within an 8-bit step; the
share within a step of the C's if the file's arithmetic is done in 64-bit floats. Then the keyword networks with
--max-drop 0%, on their labelled test set as samples: the accuracy of the emitted C. A missed bound fails. One run of
the quantizer gives all of the 8 bits, and another the bound; --min-sqnr 0.1 changes nothing and prints what 8 bits
reach."""
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import onnxruntime

from common import KEYWORDS, RECORDED, ROOT, build_argument
from qdq_file import percent, share_in_doubles, share_within, steps_of

TINY = ROOT / "../shared/models/mlperf-tiny"
FLOATS = ("ad01_fp32", "pretrainedResnet", "vww_96_float")
SAMPLES, SEED, MORE = 32, 7, 6.0
onnxruntime.set_default_logger_severity(4)


def networks():
    """(name, path, {input: (shape, recorded values)})"""
    for folder in (RECORDED, KEYWORDS):
        for path in sorted(folder.glob("*.onnx")):
            if "qdq" in path.stem:
                continue
            inputs = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"]).get_inputs()
            like = {}
            for i, x in enumerate(inputs):
                file = f"{path.stem}.in0.{i}.npy" if len(inputs) > 1 else f"{path.stem}.in0.npy"
                values = np.load(KEYWORDS / "calibration.npy" if folder == KEYWORDS else folder / file)
                like[x.name] = (x.shape if folder == KEYWORDS else values.shape, values)
            yield path.stem, path, like
    for name in FLOATS:
        values = np.load(TINY / f"{name}.in0.npy")
        yield name, TINY / f"{name}.tflite", {"input": (values.shape, values)}


def samples_of(like):
    random = np.random.default_rng(SEED)
    return [{key: np.clip(random.standard_normal(shape) * v.std() + v.mean(), v.min(), v.max()).astype(np.float32)
             for key, (shape, v) in like.items()}
            for _ in range(SAMPLES)]


def run(*command):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr.strip())
    return done.stdout


def emitted(program, work, samples, *command):
    """The outputs of the C that the command writes as net.c: [sample][output]."""
    said = run(program, *command, "-o", work / "net.c", "--name", "net", "--testbench", "--standalone")
    run("cc", "-std=c99", "-O2", "-ffp-contract=off", "-o", work / "net", work / "net.c", work / "net_main.c", "-lm")
    count = len(
        re.findall(r"X\(", re.search(r"#define NET_OUTPUTS\(X\)(.*?)\n\n", (work / "net.h").read_text(),
                                     re.S).group(1)))
    got = []
    for x in samples:
        files = [work / f"in{i}.npy" for i in range(len(x))]
        for file, v in zip(files, x.values()):
            np.save(file, v)
        outputs = [work / f"out{i}.npy" for i in range(count)]
        run(work / "net", *files, *outputs)
        got.append([np.load(o) for o in outputs])
    return got, said


def least_decibels(want, got):
    worst = float("inf")
    for i in range(len(want[0])):
        signal = sum(float(np.square(w[i], dtype=np.float64).sum()) for w in want)
        noise = sum(float(np.square(w[i].astype(np.float64) - g[i]).sum()) for w, g in zip(want, got))
        worst = min(worst, 10 * np.log10(signal / noise) if noise else 200)
    return worst


def written(program, path, *command):
    """True if the network has a QDQ form, which the command writes."""
    return subprocess.run([str(c) for c in (program, *command, "-o", path, "--quiet")],
                          capture_output=True).returncode == 0


def row(program, work, name, path, like):
    samples = samples_of(like)
    np.savez(work / "samples.npz", **{key: np.stack([x[key] for x in samples]) for key in samples[0]})
    given = work / "samples.npz"
    if path.suffix == ".tflite":
        given = work / "samples.npy"
        np.save(given, np.stack([x["input"] for x in samples]))
    want, _ = emitted(program, work, samples, path, "--quiet")
    narrow = ["quantize", path, "--samples", given, "--ports", "float", "--min-sqnr", 0.1]
    share, shares = "no QDQ form", " | | "
    try:
        got, said = emitted(program, work, samples, *narrow, "-o", work / "narrow.onnx")
    except RuntimeError:
        got, said = emitted(program, work, samples, *narrow)
    has_form = (work / "narrow.onnx").exists()
    if has_form:
        narrow_steps = steps_of(work / "narrow.onnx")
        share = percent(share_within(work / "narrow.onnx", samples, got, narrow_steps))
    least = float(re.search(r"all tensors at 8 bits[^:]*: (-?[0-9.]+) dB", said).group(1))
    bound = max(round(least + MORE, 1), 0.1)
    stage = work / "stage.te"
    try:
        run(program, "dump", path, "--samples", given, "--ports", "float", "--min-sqnr", bound, "--at", "calibrated",
            "-o", stage, "--quiet")
    except RuntimeError as error:
        return f"| {name} | {least:.1f} | {share} | {bound:.1f} | {str(error).splitlines()[-1]} | | | | | | |", False
    again = ["quantize", stage, "--ports", "float"]
    got, said = emitted(program, work, samples, *again)
    reached = least_decibels(want, got)
    wide = re.search(r"(\d+) of 16", said)
    floats = re.search(r"; (\d+) calls? stays? in floats", said).group(1)
    run(program, "dump", stage, "--at", "realized", "--ports", "float", "-o", work / "realized.te", "--quiet")
    agrees = subprocess.run([str(program), "verify", work / "realized.te", "--quiet"],
                            capture_output=True).returncode == 0
    if has_form and written(program, work / "wide.onnx", *again):
        both = steps_of(work / "wide.onnx"), narrow_steps
        shares = " | ".join(percent(share_within(work / "wide.onnx", samples, got, steps)) for steps in both)
        shares += " | " + percent(share_in_doubles(work / "wide.onnx", samples, got, both[0]))
    text = (f"| {name} | {least:.1f} | {share} | {bound:.1f} | {reached:.1f} | {wide.group(1) if wide else 0} | "
            f"{floats} | "
            f"{'yes' if agrees else 'NO'} | {shares} |")
    return text, reached >= bound - 0.05 and agrees


def drop_row(program, work, path):
    """--max-drop 0%: no sample of the labelled test set is lost."""
    kind = "new_speaker_test" if path.stem == "kws_5speakers" else "test"
    files = KEYWORDS / f"{kind}.npy", KEYWORDS / f"{kind}_labels.npy"
    try:
        said = run(program, "quantize", path, "--samples", files[0], "--labels", files[1], "--max-drop", "0%",
                   "--ports", "float",
                   "--test", files[0], "--test-labels", files[1], "-o", work / "net.c")
    except RuntimeError as error:
        return f"| {path.stem} | {str(error).splitlines()[-1]} | | | |", False
    narrow = re.search(r"all tensors at 8 bits[^:]*: .*accuracy ([0-9.]+) %", said).group(1)
    real, reached = (re.search(rf"^{form} +([0-9.]+) %", said, re.M).group(1) for form in ("float", "integer C"))
    wide = re.search(r"(\d+) of 16", said)
    return (f"| {path.stem} | {real} % | {narrow} % | {reached} % | {wide.group(1) if wide else 0} |",
            float(reached) >= float(real))


def main():
    program = Path(build_argument()).resolve() / "loopwright"
    held, chosen = True, sys.argv[2:]
    print("| network | 8 bits, dB | QDQ within a step | bound, dB | emitted C, dB | 16-bit grids | calls in floats "
          "| interpreter agrees | "
          "QDQ within a 16-bit step | within an 8-bit step | in 64-bit floats |")
    print("|---|---|---|---|---|---|---|---|---|---|---|", flush=True)
    for name, path, like in networks():
        if chosen and name not in chosen:
            continue
        with tempfile.TemporaryDirectory() as folder:
            text, ok = row(program, Path(folder), name, path, like)
        held = held and ok
        print(text, flush=True)
    print("\n| network | float | 8 bits | emitted C, --max-drop 0% | 16-bit grids |\n|---|---|---|---|---|",
          flush=True)
    for path in sorted(KEYWORDS.glob("*.onnx")):
        if chosen and "max-drop" not in chosen:
            continue
        with tempfile.TemporaryDirectory() as folder:
            text, ok = drop_row(program, Path(folder), path)
        held = held and ok
        print(text, flush=True)
    sys.exit(not held)


main()
