# SPDX-License-Identifier: MIT
"""Shared by the tables: paths, models, running a command."""
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
RECORDED = ROOT / "../shared/models/onnx"
KEYWORDS = ROOT / "../shared/models/kws"
NAMES = ("lenet5 mnist8 resnet8 dscnn mobilenet_v1_025 mobilenet_v2_035 squeezenet_s ecg_cnn1d ad01 lstm transformer "
         "kws_micro_fp32 kws_micro_qdq").split()
GRID = {"kws_micro_qdq": 1 / 256}       # outputs of a quantized model may differ by one step


def run(*command, **options):
    """The command's output; CalledProcessError if it fails."""
    return subprocess.run([str(c) for c in command], check=True, capture_output=True, text=True, **options).stdout


def models(build):
    """(name, path, input, output) of the digits sample and of the recorded models that are beside the project."""
    found = [("digits", ROOT / "samples/digits/digits.onnx", ROOT / "tests/models/digits.in0.npy",
              ROOT / "tests/models/digits.out0.npy")]
    for name in NAMES:
        path = RECORDED / f"{name}.onnx"
        if path.exists():
            found.append((name, path, RECORDED / f"{name}.in0.npy", RECORDED / f"{name}.out0.npy"))
        else:
            print(f"skipped {name}: no recorded models beside the project")
    return found


def emit(build, name, path, target="generic", options=()):
    """Emits the model into BUILD/bench/TARGET/NAME; the folder, or None with the reason printed."""
    folder = Path(build).resolve() / "bench" / target / name
    folder.mkdir(parents=True, exist_ok=True)
    try:
        run(Path(build).resolve() / "loopwright", path, "-o", folder / f"{name}.c", "--name", name, "--target", target,
            "--quiet", *options)
    except subprocess.CalledProcessError as error:
        print(f"skipped {name}: {error.stderr.strip().splitlines()[0] if error.stderr.strip() else error}")
        return None
    return folder


def on_core(cpu, folder, name, source, expected, optimisation="-O3", **environment):
    """What tests/cross/run.sh prints of NAME.c in the folder, by the figures' names; "failed": its last line, where it
    does not agree."""
    sources, wanted = ([files] if isinstance(files, (str, Path)) else files for files in (source, expected))
    result = subprocess.run([ROOT / "tests/cross/run.sh", cpu, folder, name, *sources, "--", *wanted],
                            capture_output=True, text=True,
                            env=dict(os.environ, CFLAGS_TARGET=optimisation, **environment))
    figures = {key: int(value) for key, value in re.findall(r"^(\w+(?: bytes)?):? (\d+)$", result.stdout, re.M)}
    if result.returncode:
        figures["failed"] = (result.stdout + result.stderr).strip().splitlines()[-1:]
    return figures


def has_cortex():
    return shutil.which("arm-none-eabi-gcc") and shutil.which("qemu-system-arm")


def pinned():
    """Words before a command that keep it on one core."""
    return ["taskset", "-c", str(max(os.sched_getaffinity(0)))] if shutil.which("taskset") else []


def build_argument():
    if len(sys.argv) < 2:
        sys.exit(f"usage: {sys.argv[0]} BUILD")
    return sys.argv[1]
