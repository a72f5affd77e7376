#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""quantize_core.py BUILD: the keyword networks on the Cortex-M4 at -O3, quantized by `loopwright quantize` and by
TensorFlow Lite's converter (int8 files beside them), both emitted by us: instructions of one inference on the emulator,
flash and RAM. Ours may need no more. Status 1: it does."""
import re
import subprocess
import sys
from pathlib import Path

import numpy as np

from common import ROOT, build_argument, has_cortex, on_core

DATA = ROOT / "../shared/models/kws"
NAMES = ("kws_cnn", "kws_res")
COLUMNS = ("instructions", "flash bytes", "RAM bytes")


def emit(program, folder, name, is_ours):
    """Emits into the folder, for the core and for this machine."""
    common = ("-o", folder / f"{name}.c", "--target", "cortex-m4", "--testbench", "--standalone", "--quiet")
    if is_ours:
        command = (program, "quantize", DATA / f"{name}.onnx", "--samples", DATA / "calibration.npy", *common)
    else:
        command = (program, DATA / f"{name}_int8.tflite", "--name", name, *common)
    subprocess.run([str(c) for c in command], check=True)


def stored(header, x):
    """The sample as the header's first input stores it."""
    scale, zero = re.search(r"scale ([0-9.e+-]+), zero point (-?\d+)", header).groups()
    shape = [int(v) for v in re.findall(r"\d+", re.search(r"int8_t +((\[\d+\])+)", header).group(1))]
    return np.clip(np.round(x / np.float32(scale)) + int(zero), -128, 127).astype(np.int8).reshape(shape)


def measured(program, name, is_ours):
    folder = program.parent / "bench" / "quantize" / ("ours" if is_ours else "converter")
    folder.mkdir(parents=True, exist_ok=True)
    emit(program, folder, name, is_ours)
    header = (folder / f"{name}.h").read_text()
    x, y, host = folder / f"{name}_x.npy", folder / f"{name}_y.npy", folder / f"{name}_host"
    np.save(x, stored(header, np.load(DATA / "test.npy")[0].astype(np.float32)))
    subprocess.run(["cc", "-std=c99", "-O2", "-o", host, folder / f"{name}.c", folder / f"{name}_main.c", "-lm"],
                   check=True)
    subprocess.run([host, x, y], check=True, stdout=subprocess.DEVNULL)
    found = on_core("cortex-m4", folder, name, x, y)
    if "failed" in found:
        sys.exit(f"{name}: {found['failed']}")
    arena = int(re.search(r"ARENA_SIZE +(\d+)", header).group(1))
    return found["instructions"], found["text bytes"] + found["rodata bytes"], arena


def main():
    program = Path(build_argument()).resolve() / "loopwright"
    if not has_cortex() or not DATA.exists():
        print(f"skipped: {'no compiler and emulator of the Cortex-M4' if DATA.exists() else f'{DATA} is not there'}")
        return
    worse = 0
    print("| network | " + " | ".join(f"{c}, ours | converter's" for c in COLUMNS) + " |\n|---|" + "---|---|"
          * len(COLUMNS))
    for name in NAMES:
        ours, theirs = measured(program, name, True), measured(program, name, False)
        worse += any(a > b for a, b in zip(ours, theirs))
        print(f"| {name} | " + " | ".join(f"{a:,} | {b:,}" for a, b in zip(ours, theirs)) + " |", flush=True)
    sys.exit(worse > 0)


main()
