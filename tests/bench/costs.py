#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""costs.py BUILD: what does not depend on how busy the machine is. Three tables:

- compiling: time and peak memory of `loopwright` (medians of three), bytes emitted, and how much of them is not weights;
- RAM: arena + inputs + outputs against the live-set bound of tests/live_bound.py;
- Cortex-M4: bytes of code at -Os and -O3, weights, and instructions and stack of one inference at -O3, counted by
  tests/cross/run.sh on the emulated core; the instructions also for one multiply-add."""
import os
import re
import statistics
import subprocess
import sys
import time
from pathlib import Path

from common import ROOT, build_argument, emit, has_cortex, models, on_core, run

sys.path.insert(0, str(ROOT / "tests"))
import live_bound                                                                     # noqa: E402


def compile_once(loopwright, path, output):
    """Seconds and peak kilobytes of one run."""
    start = time.perf_counter()
    child = os.fork()
    if child == 0:
        os.execv(loopwright, [str(loopwright), str(path), "-o", str(output), "--name", "model", "--quiet"])
    _, _, usage = os.wait4(child, 0)
    return time.perf_counter() - start, usage.ru_maxrss


def table_of_compiling(build, found):
    print(f"\n{'compiling':<20} {'seconds':>8} {'peak MB':>8} {'bytes emitted':>14} {'without numbers':>16}")
    for name, path, *_ in found:
        folder = emit(build, name, path)
        if not folder:
            continue
        runs = [compile_once(Path(build).resolve() / "loopwright", path, folder / "again.c") for _ in range(3)]
        text = (folder / f"{name}.c").read_text()
        code = re.sub(r"(?s)= \{.*?\};", "", text)
        print(f"{name:<20} {statistics.median(r[0] for r in runs):>8.3f} {max(r[1] for r in runs) / 1024:>8.1f}"
              f" {len(text):>14} {len(code):>16}")


def table_of_ram(build, found):
    print(f"\n{'RAM, bytes':<20} {'arena':>9} {'inputs':>8} {'outputs':>8} {'sum':>9} {'bound':>9} {'ratio':>6}")
    for name, path, *_ in found:
        try:
            arena, inputs, outputs, held, _ = live_bound.figures(Path(build).resolve() / "loopwright", path)
        except subprocess.CalledProcessError:
            print(f"skipped {name}: it is not compiled")
            continue
        ram = arena + inputs + outputs
        print(f"{name:<20} {arena:>9} {inputs:>8} {outputs:>8} {ram:>9} {held:>9} {ram / held:>6.3f}")


def per_mac(build, path, figures):
    """Instructions for one multiply-add of the model, as `loopwright report` counts them."""
    found = re.search(r"^multiply-adds +(\d+)", run(Path(build).resolve() / "loopwright", "report", path), re.M)
    if not found or "instructions" not in figures:
        return "-"
    return f"{figures['instructions'] / int(found.group(1)):.2f}"


def table_of_cortex(build, found):
    if not has_cortex():
        print("\nskipped Cortex-M4: arm-none-eabi-gcc or qemu-system-arm is not installed")
        return
    print(f"\n{'--target cortex-m4':<20} {'text -Os':>9} {'text -O3':>9} {'rodata':>9} {'instructions':>13} {'per MAC':>8} {'stack':>6}")
    for name, path, *data in found:
        folder = emit(build, name, path, "cortex-m4")
        if not folder:
            continue
        small, fast = (on_core("cortex-m4", folder, name, *data, o) for o in ("-Os", "-O3"))
        note = "  " + str(fast.get("failed", "")) if "failed" in fast else ""
        print(f"{name:<20} {small.get('text bytes', '-'):>9} {fast.get('text bytes', '-'):>9} {fast.get('rodata bytes', '-'):>9}"
              f" {fast.get('instructions', '-'):>13} {per_mac(build, path, fast):>8} {fast.get('stack bytes', '-'):>6}{note}", flush=True)


def main():
    build = build_argument()
    found = models(build)
    table_of_compiling(build, found)
    table_of_ram(build, found)
    table_of_cortex(build, found)


if __name__ == "__main__":
    main()
