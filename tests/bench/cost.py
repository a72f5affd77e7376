#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""cost.py BUILD [CPU [NAME...]]: instructions that the compiler predicts (emitter/lower/count.c) beside those of the emulated core, at -O3.

The prediction is that of `--ram` with a limit that every plan keeps, so every group is alone. It counts the portable form of a target's
instructions, not the instructions themselves: on int8 networks of a core with such instructions it is not comparable."""
import re
import subprocess
import sys
from pathlib import Path

from common import build_argument, has_cortex, models, on_core

RAM = 2**31 - 1


def predicted(build, path, folder, name, cpu):
    """Emits the model into the folder; the predicted instructions."""
    folder.mkdir(parents=True, exist_ok=True)
    said = subprocess.run([build / "loopwright", path, "-o", folder / f"{name}.c", "--name", name, "--target", cpu, "--ram", str(RAM)],
                          check=True, capture_output=True, text=True).stderr
    found = re.search(r"instructions counted (\d+)", said)
    return int(found.group(1)) if found else None


def main():
    build = Path(build_argument()).resolve()
    cpu, names = (sys.argv[2] if len(sys.argv) > 2 else "cortex-m4"), sys.argv[3:]
    if not has_cortex():
        sys.exit("skipped: arm-none-eabi-gcc or qemu-system-arm is not installed")
    print(f"{'network':<20} {'predicted':>12} {'counted':>12} {'error':>8}")
    for name, path, source, expected in models(build):
        if names and name not in names:
            continue
        folder = build / "bench/cost" / cpu / name
        ahead, found = predicted(build, path, folder, name, cpu), on_core(cpu, folder, name, source, expected)
        if ahead is None or "instructions" not in found:
            print(f"{name:<20} skipped: {found.get('failed', 'it is one group')}")
            continue
        counted = found["instructions"]
        print(f"{name:<20} {ahead:>12} {counted:>12} {100 * (ahead - counted) / counted:>+7.1f}%", flush=True)


if __name__ == "__main__":
    main()
