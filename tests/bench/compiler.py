#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Seconds of processor time, and megabytes, that the compiler takes. Two tables:

- large networks (tests/tools/large_models.py) and the digits sample; NAME-bin: with weights apart, in a file;
- the recorded networks beside the project, each of a microcontroller's size, for the Cortex-M4: as they are, and the
  search for the least RAM, which ends by refusing --ram 1.

With --check, status 1 above the limits. NAME: these rows alone; `recorded` is the second table.

    tests/bench/compiler.py BUILD [--check] [NAME ...]
"""
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
RECORDED = ROOT / "../shared/models"
# The most seconds and megabytes.
LIMITS = {"digits": (1, 150), "resnet50": (4, 1500), "resnet50-bin": (4, 800), "mobilenet_v2": (2, 400),
          "conv1000": (4, 600),
          "softmax10000": (2, 300), "add100000": (6, 600)}
RECORDED_LIMIT, SEARCH_LIMIT = (1, 150), (3, 500)


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
    """(status, seconds, megabytes, diagnostics) of one compilation. macOS counts bytes, Linux KiB."""
    child = subprocess.Popen([compiler, path, "-o", output, "--name", "net", "--quiet", *options],
                             stderr=subprocess.PIPE, text=True)
    said = child.stderr.read()
    _, status, used = os.wait4(child.pid, 0)
    unit = 1 if sys.platform == "darwin" else 1024
    return status, used.ru_utime + used.ru_stime, used.ru_maxrss * unit / 1e6, said


def verdict(seconds, megabytes, most):
    return f"  above {most[0]} s or {most[1]} MB" if seconds > most[0] or megabytes > most[1] else ""


def large_network(name, compiler, folder):
    """A row of the first table; true if it is above its limit."""
    output = folder / f"{name}.c"
    status, seconds, megabytes, said = measured(compiler, model_of(name, folder), output,
                                                ["--weights", "bin"] if name.endswith("-bin") else [])
    if status:
        sys.exit(f"{name}: the compiler ends with status {status}: {said}")
    above = verdict(seconds, megabytes, LIMITS[name])
    print(f"{name:<14} {seconds:8.2f} {megabytes:6.0f} {output.stat().st_size / 1e6:8.1f}{above}")
    return bool(above)


def recorded_network(path, compiler, folder):
    """A row of the second table; true if it is above a limit."""
    output = folder / "recorded.c"
    status, seconds, megabytes, said = measured(compiler, path, output, ["--target", "cortex-m4"])
    if status:
        sys.exit(f"{path.name}: the compiler ends with status {status}: {said}")
    _, search, searched, said = measured(compiler, path, output, ["--target", "cortex-m4", "--ram", "1"])
    least = re.search(r"the smallest plan needs (\d+) bytes", said)
    if not least:
        sys.exit(f"{path.name}: --ram 1 is not refused with the least: {said}")
    above = verdict(seconds, megabytes, RECORDED_LIMIT) or verdict(search, searched, SEARCH_LIMIT)
    print(f"{path.name:<30} {seconds:8.2f} {megabytes:6.0f} {int(least[1]):10} {search:8.2f} {searched:6.0f}{above}")
    return bool(above)


def main():
    names = [a for a in sys.argv[1:] if a != "--check"]
    if not names or not set(names[1:]) <= {*LIMITS, "recorded"}:
        sys.exit(f"usage: compiler.py BUILD [--check] [{'|'.join(LIMITS)}|recorded ...]")
    compiler = Path(names[0]).resolve() / "loopwright"
    folder = compiler.parent / "bench/compiler"
    folder.mkdir(parents=True, exist_ok=True)
    above = []
    large = [n for n in names[1:] or LIMITS if n != "recorded"]
    if large:
        print(f"{'network':<14} {'seconds':>8} {'MB':>6} {'MB of C':>8}")
    above += [large_network(name, compiler, folder) for name in large]
    recorded = sorted([*RECORDED.glob("*/*.onnx"), *RECORDED.glob("*/*.tflite")])
    if names[1:] and "recorded" not in names[1:]:
        recorded = []
    if recorded:
        print(f"\n{'recorded network':<30} {'seconds':>8} {'MB':>6} {'least RAM':>10} {'seconds':>8} {'MB':>6}")
    above += [recorded_network(path, compiler, folder) for path in recorded]
    sys.exit(1 if any(above) and "--check" in sys.argv else 0)


if __name__ == "__main__":
    main()
