# SPDX-License-Identifier: MIT
"""cores.py BUILD [cortex-m33|host] [FILE...]: layers that N cores share (`make bench-cores`, CORES=N, default 2).

Cortex-M33: instructions of one inference at -O3 on one emulated core, and the sum over the layers of those of the
busiest core (tests/cross/cores_count.c), which includes what one core alone executes; RAM with inputs and outputs; and
that two emulated cores compute the recorded bytes. Host: the time of one inference with one thread and with N POSIX
threads (samples/cores/posix.c), in turns, and that both give the same bytes."""
import os
import re
import statistics
import subprocess
import sys
from pathlib import Path

import common

CORES = int(os.environ.get("CORES", 2))
TURNS = int(os.environ.get("TURNS", 7))
TINY = common.ROOT / "../shared/models/mlperf-tiny"
INT8 = ("kws_ref_model", "pretrainedResnet_quant", "vww_96_int8", "str_ww_ref_model", "ad01_int8")
FORK = f"-include {common.ROOT}/samples/cores/fork.h"


def emitted(build, name, model, target, cores, options=()):
    """The folder with NAME.c for this number of cores."""
    folder = Path(build).resolve() / "bench" / f"{target}-{cores}-cores" / name
    folder.mkdir(parents=True, exist_ok=True)
    words = ["--cores", cores, *options] if cores > 1 else options
    common.run(Path(build).resolve() / "loopwright", model, "-o", folder / f"{name}.c", "--name", name, "--target",
               target, "--quiet", *words)
    return folder


def ram(build, model, words=()):
    text = common.run(Path(build).resolve() / "loopwright", "report", model, "--target", "cortex-m33", "--quiet",
                      *words)
    return int(re.search(r"^RAM +(\d+) bytes", text, re.M).group(1))


def on_m33(build, model):
    name = model.stem
    source, expected = model.parent / f"{name}.in0.npy", model.parent / f"{name}.out0.npy"
    one, many = emitted(build, name, model, "cortex-m33", 1), emitted(build, name, model, "cortex-m33", CORES)
    alone = common.on_core("cortex-m33", one, name, source, expected)
    parts = common.on_core("cortex-m33", many, name, source, expected, f"-O3 {FORK}", MAIN_FLAGS="-Dmain=program",
                           MORE_SOURCES="tests/cross/cores_count.c")
    both = common.on_core("cortex-m33", many, name, source, expected, f"-O3 {FORK}", MAIN_FLAGS="-Dmain=program",
                          MORE_SOURCES="tests/cross/cores_start.c samples/cores/mps2_an521.c") if CORES == 2 else {}
    failed = [figures["failed"] for figures in (alone, parts, both) if "failed" in figures]
    if failed:
        return print(f"{name:24} failed: {failed[0]}")
    busiest = parts["instructions"] - parts["parts"] + parts["busiest"]
    least, most = ram(build, model), ram(build, model, ["--cores", str(CORES)])
    gain = alone["instructions"] / busiest
    print(f"{name:24} {alone['instructions']:12} {busiest:12} {gain:6.2f} {least:9} {most:9} {most / least:6.2f}  "
          f"{'same bytes on two cores' if CORES == 2 else ''}")


def host_target():
    flags = Path("/proc/cpuinfo").read_text() if Path("/proc/cpuinfo").exists() else ""
    return "x86-vnni" if "avx512_vnni" in flags else "x86-avx2" if "avx2" in flags else "generic"


def program(folder, name, words):
    sources = [folder / f"{name}.c", folder / f"{name}_main.c", *words]
    common.run("gcc", "-std=gnu99", "-O3", "-march=native", "-ffp-contract=off", "-w", "-I", common.ROOT / "runtime",
               *sources, "-o", folder / name, "-lm", "-pthread", cwd=common.ROOT)
    return folder / name


def nanoseconds(binary, source, result, repeat):
    text = subprocess.run([binary, *source, result, "--repeat", str(repeat)], check=True, capture_output=True,
                          text=True)
    return float(re.search(r"([0-9.]+)", text.stdout + text.stderr).group(1))


def on_host(build, model):
    name, target = re.sub(r"\W", "_", model.stem), host_target()
    source = [model.parent / f"{model.stem}.in0.npy"]
    if not source[0].exists():
        return print(f"{name:24} skipped: no {source[0].name}")
    one = program(emitted(build, name, model, target, 1, ["--testbench"]), name, [])
    words = ["-include", "samples/cores/fork.h", "samples/cores/posix.c", "tests/emitted/cores_start.c",
             f"-DCORES={CORES}"]
    many = program(emitted(build, name, model, target, CORES, ["--testbench"]), name, words)
    files = [one.parent / "y.npy", many.parent / "y.npy"]
    repeat = max(1, int(5e7 / nanoseconds(one, source, files[0], 3)))
    times = [(nanoseconds(one, source, files[0], repeat), nanoseconds(many, source, files[1], repeat))
             for _ in range(TURNS)]
    same = files[0].read_bytes() == files[1].read_bytes()
    first, second = (statistics.median(t[k] for t in times) for k in (0, 1))
    gain = statistics.median(a / b for a, b in times)
    print(f"{name:24} {first / 1e3:12.1f} {second / 1e3:12.1f} {gain:6.2f}  {'same bytes' if same else 'OTHER BYTES'}")


def main():
    build, words = Path(common.build_argument()).resolve(), sys.argv[2:]
    kinds = [w for w in words if w in ("cortex-m33", "host")] or ["cortex-m33", "host"]
    files = [Path(w) for w in words if w not in ("cortex-m33", "host")]
    if "cortex-m33" in kinds and common.has_cortex():
        print(f"{'Cortex-M33':24} {'one core':>12} {'busiest':>12} {'gain':>6} {'RAM':>9} {'RAM of ' + str(CORES):>9}")
        for model in files or [TINY / f"{name}.tflite" for name in INT8]:
            on_m33(build, model) if model.exists() else print(f"skipped {model.name}: it is not beside the project")
    if "host" in kinds:
        print(f"{host_target() + ', us':24} {'one thread':>12} {str(CORES) + ' threads':>12} {'gain':>6}")
        for model in files or [common.RECORDED / f"{name}.onnx" for name in common.NAMES]:
            on_host(build, model) if model.exists() else print(f"skipped {model.name}: it is not beside the project")


main()
