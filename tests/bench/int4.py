#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""int4.py BUILD [--check] [CORE...]: layers with weights of 4 and 2 bits beside the same layers with 8 bits:
instructions of one run at -O3 on emulated cores (tests/cross/run.sh, outputs byte by byte as the interpreter's), and
bytes of flash: code and constants. The instructions of CMSIS-NN's functions for 4 bits were counted on the same
emulator with the same compiler.

--check: as a test: `ok NAME` or `not ok NAME: why` for each layer against its limit."""
import sys
from pathlib import Path

import numpy as np

from common import build_argument, emit, has_cortex, on_core, run

CORES = ("cortex-m4", "cortex-m55", "cortex-m3", "cortex-m0plus")
#         name            kernel, channels, outputs, image    CMSIS-NN's s4 on the Cortex-M4, at most on the Cortex-M4
LAYERS = (("1x1_64_64", 1, 64, 64, (25, 5), 1_918_987, 600_000),
          ("dense_640_128", 0, 640, 128, (1, 1), 405_720, 102_000),
          ("3x3_16_16", 3, 16, 16, (32, 32), 9_653_399, 2_650_000),
          ("3x3_64_64", 3, 64, 64, (8, 8), 8_290_343, 2_100_000))
RANGES = {8: (-127, 128), 4: (-8, 8), 2: (-2, 2)}
BESIDE_BYTES = 1.15                                                    # of the instructions with 8 bits, on other cores


def listed(values):
    return "{" + ",".join(str(int(v)) for v in values.flatten()) + "}"


def network(layer, bits):
    """The text of a layer with random weights of so many bits, with scales for each channel."""
    _, kernel, channels, outs, (height, width), *_ = layer
    r = np.random.default_rng(7)
    shape = (kernel, kernel, channels, outs) if kernel else (channels, outs)
    weights = r.integers(*RANGES[bits], shape)
    sizes = "".join(f"[{d}]" for d in shape)
    shift = 5 + int(np.log2(max(kernel, 1)) * 2) + (bits == 8) * 4
    x = f"i8[1][{height}][{width}][{channels}]" if kernel else f"i8[1][{channels}]"
    product = f"conv2d(x, w, zero=3, pad=[{','.join([str(kernel // 2)] * 4)}])" if kernel else "dense(x, w, zero=3)"
    return "\n".join((f"input x: {x}", f"const w: i8{sizes} = {listed(weights)}",
                      f"const b: i32[{outs}] = {listed(r.integers(-2000, 2000, outs))}",
                      f"const m: i32[{outs}] = {listed(r.integers(1 << 30, (1 << 31) - 1, outs))}",
                      f"const s: u8[{outs}] = {listed(shift + r.integers(0, 2, outs))}",
                      f"sums = add({product}, b)", "y = rescale(sums, m, s, zero=3)", "output y", ""))


def figures(build, folder, layer, bits, core):
    name = f"layer_{layer[0]}_{bits}"
    path, source, wanted = (folder / f"{name}{end}" for end in (".te", ".in.npy", ".out.npy"))
    if not wanted.exists():
        path.write_text(network(layer, bits))
        shape = (1, *layer[4], layer[2]) if layer[1] else (1, layer[2])
        np.save(source, np.random.default_rng(1).integers(-128, 128, shape).astype(np.int8))
        run(Path(build) / "loopwright", "run", path, source, "-o", wanted)
    found = on_core(core, emit(build, name, path, core), name, source, wanted)
    if "failed" in found or "instructions" not in found:
        sys.exit(f"{name} on {core}: {found}")
    return found["instructions"], found["text bytes"] + found["rodata bytes"]


def main():
    build, check = Path(build_argument()).resolve(), "--check" in sys.argv
    cores = [a for a in sys.argv[2:] if a in CORES] or CORES
    if not has_cortex():
        return
    folder = build / "bench" / "int4"
    folder.mkdir(parents=True, exist_ok=True)
    if not check:
        print(f"{'layer':<15} {'core':<14} {'8 bits':>10} {'flash':>7} {'4 bits':>10} {'share':>6} {'flash':>7} "
              f"{'2 bits':>10} {'share':>6} {'flash':>7} {'CMSIS-NN, 4 bits':>17}")
    for core in cores:
        for layer in LAYERS:
            (n8, f8), (n4, f4), (n2, f2) = (figures(build, folder, layer, bits, core) for bits in (8, 4, 2))
            theirs, most = (layer[5], layer[6]) if core == "cortex-m4" else ("-", int(BESIDE_BYTES * n8))
            if check:
                print(f"ok {layer[0]}-{core}" if n4 <= most else f"not ok {layer[0]}-{core}: {n4}, at most {most}")
            else:
                print(f"{layer[0]:<15} {core:<14} {n8:>10} {f8:>7} {n4:>10} {n4 / n8:>6.2f} {f4:>7} {n2:>10} "
                      f"{n2 / n8:>6.2f} {f2:>7} {theirs:>17}")


main()
