#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""cost.py BUILD [CORE[,CORE...] [NAME...]]: instructions that the compiler predicts (emitter/lower/count.c) beside
those of the emulated core, at -O3: Cortex-M in QEMU (tests/cross/run.sh), RISC-V in its user mode (tests/emulated), two
runs less one. Code for a core that QEMU lacks runs on the one with the same instructions.

The prediction is that of `--ram` with a limit that every plan keeps, so every group is alone. At the end, for each core
the sums over all networks, and the largest error of one."""
import re
import subprocess
import sys
from pathlib import Path

from common import ROOT, build_argument, has_cortex, models, on_core

RAM = 2**31 - 1
TINY = ROOT / "../shared/models/mlperf-tiny"
INT8 = "ad01_int8 pretrainedResnet_quant kws_ref_model vww_96_int8 str_ww_ref_model".split()
TWINS = {"cortex-m7": "cortex-m4", "cortex-m33": "cortex-m4", "cortex-m85": "cortex-m55"}
CORES = "cortex-m0plus cortex-m3 cortex-m4 cortex-m55 rv32imc rv64gc rv64gcv".split()

EMULATED = r"""
. tests/emulated/cores.sh
core_row "$1" && why=$(core_misses) && [ -z "$why" ] || { echo "$why"; exit 1; }
for runs in 1 2; do
    core_build "$2/main" -O3 -I"$2" -DRUNS=$runs -DNEAR$5 -DIN="\"$3\"" -DOUT="\"$4\"" \\
        tests/emulated/main.c "$2/m.c" || exit
    $emulator -plugin "$2/count.so" -d plugin "$2/main" 2>&1 >/dev/null | sed -n 's/^instructions //p'
done
"""


def predicted(build, path, folder, name, core):
    """Emits the model into the folder; the predicted instructions."""
    folder.mkdir(parents=True, exist_ok=True)
    said = subprocess.run([build / "loopwright", path, "-o", folder / f"{name}.c", "--name", name, "--target", core,
                           "--ram", str(RAM)],
                          check=True, capture_output=True, text=True).stderr
    found = re.search(r"(\d+) counted instructions", said)
    return int(found.group(1)) if found else None


def emulated(core, folder, source, expected):
    """Counted instructions of one run on a core of tests/emulated/cores.sh."""
    subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-o", folder / "count.so", ROOT / "tests/emulated/count.c"],
                   check=True)
    done = subprocess.run(["sh", "-c", EMULATED, "sh", core, folder, source, expected, ""], cwd=ROOT,
                          capture_output=True, text=True)
    counts = [int(line) for line in done.stdout.split() if line.isdigit()]
    return ({"instructions": counts[1] - counts[0]} if len(counts) == 2
            else {"failed": (done.stdout + done.stderr).strip()[:200]})


def row(build, core, name, path, source, expected):
    """Prints a network's figures; (predicted, counted), or None."""
    is_cortex = core.startswith("cortex")
    folder = build / "bench/cost" / core / name
    ahead = predicted(build, path, folder, name if is_cortex else "m", core)
    found = (on_core(TWINS.get(core, core), folder, name, source, expected) if is_cortex
             else emulated(core, folder, source, expected))
    if ahead is None or "instructions" not in found:
        print(f"{core:<14} {name:<24} skipped: {found.get('failed', 'it is one group')}", flush=True)
        return None
    counted = found["instructions"]
    print(f"{core:<14} {name:<24} {ahead:>12} {counted:>12} {100 * (ahead - counted) / counted:>+7.1f}%", flush=True)
    return ahead, counted


def main():
    build = Path(build_argument()).resolve()
    cores, names = (sys.argv[2].split(",") if len(sys.argv) > 2 else CORES), sys.argv[3:]
    found = ([(name, TINY / f"{name}.tflite", TINY / f"{name}.in0.npy", TINY / f"{name}.out0.npy") for name in INT8]
             + models(build))
    print(f"{'core':<14} {'network':<24} {'predicted':>12} {'counted':>12} {'error':>8}")
    for core in cores:
        if core.startswith("cortex") and not has_cortex():
            print(f"{core:<14} skipped: arm-none-eabi-gcc or qemu-system-arm is not installed")
            continue
        rows = [row(build, core, *entry) for entry in found if entry[1].exists() and (not names or entry[0] in names)]
        rows = [pair for pair in rows if pair]
        if len(rows) > 1:
            ahead, counted = sum(r[0] for r in rows), sum(r[1] for r in rows)
            worst = max(abs(r[0] / r[1] - 1) for r in rows)
            print(f"{core:<14} {'sum':<24} {ahead:>12} {counted:>12} {100 * (ahead - counted) / counted:>+7.1f}%, each "
                  f"within"
                  f" {100 * worst:.1f} %", flush=True)


if __name__ == "__main__":
    main()
