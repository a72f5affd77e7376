#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Seconds of processor time, and megabytes, that the compiler takes for large networks (tests/tools/large_models.py) and
for the digits sample; NAME-bin: with weights apart, in a file; with --check, status 1 above the limits.

    tests/bench/compiler.py BUILD [--check] [NAME ...]
"""
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# The most seconds and megabytes.
LIMITS = {"digits": (1, 150), "resnet50": (4, 1500), "resnet50-bin": (4, 800), "mobilenet_v2": (2, 400), "conv1000": (4, 600),
          "softmax10000": (2, 300), "add100000": (6, 600)}


def model_of(name, folder):
    """Another process writes the model: a child's peak begins with the memory of its parent."""
    name = name.removesuffix("-bin")
    if name == "digits":
        return ROOT / "samples/digits/digits.onnx"
    path = folder / f"{name}.onnx"
    if not path.exists():
        subprocess.run([sys.executable, ROOT / "tests/tools/large_models.py", folder, name], check=True)
    return path


def measured(compiler, path, output, options):
    """(status, seconds, megabytes) of one compilation. macOS counts bytes, Linux KiB."""
    child = subprocess.Popen([compiler, path, "-o", output, "--name", "net", "--quiet", *options])
    _, status, used = os.wait4(child.pid, 0)
    unit = 1 if sys.platform == "darwin" else 1024
    return status, used.ru_utime + used.ru_stime, used.ru_maxrss * unit / 1e6


def main():
    arguments = [a for a in sys.argv[1:] if a != "--check"]
    if not arguments or not set(arguments[1:]) <= set(LIMITS):
        sys.exit(f"usage: compiler.py BUILD [--check] [{'|'.join(LIMITS)} ...]")
    build = Path(arguments[0]).resolve()
    folder = build / "bench/compiler"
    folder.mkdir(parents=True, exist_ok=True)
    failed = False
    print(f"{'network':<14} {'seconds':>8} {'MB':>6} {'MB of C':>8}")
    for name in arguments[1:] or LIMITS:
        output = folder / f"{name}.c"
        status, seconds, megabytes = measured(build / "loopwright", model_of(name, folder), output,
                                             ["--weights", "bin"] if name.endswith("-bin") else [])
        if status:
            sys.exit(f"{name}: the compiler ends with status {status}")
        most = LIMITS[name]
        is_above = seconds > most[0] or megabytes > most[1]
        failed = failed or is_above
        print(f"{name:<14} {seconds:8.2f} {megabytes:6.0f} {output.stat().st_size / 1e6:8.1f}"
              + (f"  above {most[0]} s or {most[1]} MB" if is_above else ""))
    sys.exit(1 if failed and "--check" in sys.argv else 0)


if __name__ == "__main__":
    main()
