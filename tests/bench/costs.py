#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""costs.py BUILD: what does not depend on how busy the machine is. Three tables:

- compiling: time (the median of three) and peak memory of `loopwright` and of `gcc -O2` on what it wrote, bytes
emitted, and how
  much of them is not weights;
- RAM: arena + inputs + outputs against the live-set bound of tests/live_bound.py;
- Cortex-M4: bytes of code at -Os and -O3, weights, and instructions and stack of one inference at -O3, counted by
  tests/cross/run.sh on the emulated core; the instructions also for one multiply-add."""
import os
import re
import shutil
import statistics
import subprocess
import sys
import time
from pathlib import Path

from common import ROOT, build_argument, emit, has_cortex, models, on_core, run

sys.path.insert(0, str(ROOT / "tests"))
import live_bound                                                                     # noqa: E402


def spent(*command):
    """Seconds, the median of three runs, and peak megabytes of a command and all that it starts; dashes where there is
    none."""
    if not shutil.which(command[0]):
        return "-", "-"
    seconds, most = [], 0
    for _ in range(3):
        start = time.perf_counter()
        child = os.fork()
        if child == 0:
            os.execvp(command[0], [str(word) for word in command])
        _, _, usage = os.wait4(child, 0)
        seconds.append(time.perf_counter() - start)
        most = max(most, usage.ru_maxrss / 1024)
    return f"{statistics.median(seconds):.3f}", f"{most:.1f}"


def table_of_compiling(build, found):
    print(f"\n{'compiling':<20} {'seconds':>8} {'peak MB':>8} {'bytes emitted':>14} {'without numbers':>16}"
          f" {'gcc -O2, s':>11} {'peak MB':>8}")
    for name, path, *_ in found:
        folder = emit(build, name, path)
        if not folder:
            continue
        ours = spent(Path(build).resolve() / "loopwright", path, "-o", folder / "again.c", "--name", "model", "--quiet")
        theirs = spent("gcc", "-std=c99", "-O2", "-I", ROOT / "runtime", "-c", folder / f"{name}.c", "-o",
                       folder / "again.o")
        text = (folder / f"{name}.c").read_text()
        code = re.sub(r"(?s)= \{.*?\};", "", text)
        print(f"{name:<20} {ours[0]:>8} {ours[1]:>8} {len(text):>14} {len(code):>16} {theirs[0]:>11} {theirs[1]:>8}")


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
    print(f"\n{'--target cortex-m4':<20} {'text -Os':>9} {'text -O3':>9} {'rodata':>9} {'instructions':>13}"
          f" {'per MAC':>8} {'stack':>6}")
    for name, path, *data in found:
        folder = emit(build, name, path, "cortex-m4")
        if not folder:
            continue
        small, fast = (on_core("cortex-m4", folder, name, *data, o) for o in ("-Os", "-O3"))
        note = "  " + str(fast.get("failed", "")) if "failed" in fast else ""
        print(f"{name:<20} {small.get('text bytes', '-'):>9} {fast.get('text bytes', '-'):>9}"
              f" {fast.get('rodata bytes', '-'):>9} {fast.get('instructions', '-'):>13}"
              f" {per_mac(build, path, fast):>8} {fast.get('stack bytes', '-'):>6}{note}", flush=True)


def main():
    build = build_argument()
    found = models(build)
    table_of_compiling(build, found)
    table_of_ram(build, found)
    table_of_cortex(build, found)


if __name__ == "__main__":
    main()
