#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""memories.py BUILD [--check] [MODEL...]: the weighted traffic of int8 networks with memories of a Cortex-M7.

Loads and stores of the compiled code are executed and counted by their address (`report --cc`), so the figures do not
depend on the compiler's own counts, which stand beside them. The costs of a byte are 1 in TCM, 4 in SRAM and 8 in
flash. A row is the traffic with a TCM of 64 KB and of 8 KB, as a share of the traffic with results and scratch in SRAM
and weights in flash. The stack is left out. --check: status 1 if a share is above its limit; a model that is not there
is skipped by name."""
import json
import subprocess
import sys
from pathlib import Path

from common import RECORDED, ROOT, build_argument

TINY = ROOT / "../shared/models/mlperf-tiny"
CC = "arm-none-eabi-gcc -mcpu=cortex-m7 -mthumb -mfloat-abi=hard -mfpu=fpv5-d16 -O3"
SRAM, FLASH = 4, 8
# The network, its file, the limits with 64 KB and 8 KB
NETWORKS = [
    ("mobilenet_v2_035", RECORDED / "mobilenet_v2_035.onnx", 0.30, 0.42),       # quantized here
    ("vww", TINY / "vww_96_int8.tflite", 0.22, 0.28),
    ("resnet", TINY / "pretrainedResnet_quant.tflite", 0.20, 0.48),
    ("kws", TINY / "kws_ref_model.tflite", 0.20, 0.25),
]


def report(build, path, *words):
    """The totals and memories of a report on compiled code."""
    folder = build / "bench/memories"
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / "report.json"
    subprocess.run([build / "loopwright", "report", path, "--target", "cortex-m7", "--quiet", *words, "-o", target],
                   check=True, capture_output=True, text=True)
    return json.loads(target.read_text())


def quantized(build, path):
    """The file; a network of floats as integers, calibrated on its recorded input."""
    if path.suffix == ".tflite": return path
    target = build / "bench/memories" / path.name
    target.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run([build / "loopwright", "quantize", path, "--samples", path.with_suffix(".in0.npy"), "--quiet", "-o",
                    target], check=True, capture_output=True)
    return target


def moved(one):
    return one["read"] + one["written"]


def in_slow(found):
    """The cost with results and scratch in SRAM, and weights in flash."""
    traffic = found["totals"]["traffic"]
    return SRAM * (moved(traffic["results"]) + moved(traffic["scratch"])) + FLASH * moved(traffic["weights"])


def with_tcm(found):
    cost = {"tcm": 1, "sram": SRAM, "flash": FLASH}
    return sum(moved(m) * cost[m["name"]] for m in found["memories"])


def row(build, name, path, limits):
    both = []
    alone, counted = report(build, path, "--cc", CC), report(build, path)
    for size, limit in zip(("64K", "8K"), limits):
        words = ["--memory", f"tcm={size},cost=1", "--memory", "sram=4M,cost=4", "--memory", "flash=64M,rom,cost=8"]
        found = report(build, path, *words, "--cc", CC)
        if not found["stepped"]: raise SystemExit(f"{name}: the compiled code was not executed")
        share = with_tcm(found) / in_slow(alone)
        both.append((share, with_tcm(report(build, path, *words)) / in_slow(counted), limit))
    print(f"{name:<24}{in_slow(alone) / 1e6:>9.1f} M" + "".join(
        f"{share:>10.3f} ({ours:.3f}; at most {limit:.2f})" for share, ours, limit in both), flush=True)
    return all(share <= limit for share, _, limit in both)


def main():
    build = Path(build_argument()).resolve()
    checks, names = "--check" in sys.argv, [w for w in sys.argv[2:] if not w.startswith("-")]
    right = True
    print(f"{'network':<24}{'in SRAM':>11}{'TCM 64 KB: compiled (counted; limit)':>38}{'TCM 8 KB':>20}")
    for name, path, *limits in NETWORKS:
        if names and not any(name.startswith(n) for n in names): continue
        if path.exists(): right = row(build, name, quantized(build, path), limits) and right
        else: print(f"{name:<24} skipped: no {path}")
    sys.exit(1 if checks and not right else 0)


if __name__ == "__main__":
    main()
