#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What --combine all costs on networks that nobody chose: random float networks of convolutions (plain, depthwise, 1x1,
strided), pools and residual sums, emitted for the Cortex-M4 by default and with --combine all, and run in the emulator.

    combine.py BUILD [COUNT] [SEED]

RAM with --combine all is at most the default's, the outputs are the same bits, and instructions at most 1.02 times: the
last line says how many networks hold each. Requires numpy, gcc-arm-none-eabi and qemu-system-arm.
"""
import random
import sys
from pathlib import Path

import numpy

sys.path.append(str(Path(__file__).resolve().parent))
sys.path.append(str(Path(__file__).resolve().parents[1] / "tools"))
from common import has_cortex, on_core, run
from large_models import Net


def network(seed):
    """The file's bytes and the shape of its input."""
    choose = random.Random(seed)
    size, channels = choose.choice([12, 16, 20, 24]), choose.choice([1, 2, 3])
    net = Net(f"random{seed}", [1, channels, size, size])
    x, shape = "x", net.input
    for _ in range(choose.randint(3, 8)):
        kind = choose.choice(["conv", "conv", "depthwise", "pointwise", "pool", "residual"])
        out = choose.choice([4, 6, 8, 12, 16])
        stride = choose.choice([1, 1, 2]) if size >= 8 else 1
        if kind == "conv":
            x, channels = net.node("Relu", [net.conv(x, channels, out, choose.choice([3, 3, 5]), stride)]), out
        elif kind == "depthwise":
            x = net.node("Relu", [net.conv(x, channels, channels, 3, stride, channels)])
        elif kind == "pointwise":
            x, channels, stride = net.conv(x, channels, out, 1), out, 1
        elif kind == "pool":
            stride = 2 if size >= 8 and size % 2 == 0 else 1
            x = net.node(choose.choice(["MaxPool", "AveragePool"]), [x], kernel_shape=[stride] * 2,
                         strides=[stride] * 2)
        else:
            y = net.conv(net.node("Relu", [net.conv(x, channels, channels, 3)]), channels, channels, 3)
            x, stride = net.node("Relu", [net.node("Add", [x, y])]), 1
        size = (size + stride - 1) // stride
    return net.model(net.dense(x, channels, 10), [1, 10]), shape


def header_bytes(folder, name):
    for line in (folder / f"{name}.h").read_text().splitlines():
        if line.startswith("#define") and "_ARENA_SIZE" in line:
            return int(line.split()[2].rstrip("u"))
    return 0


def measure(build, folder, name, kind):
    """RAM of the arena, instructions, bytes of code; None where the emulated outputs differ from the default's."""
    place = folder / kind
    place.mkdir(exist_ok=True)
    run(build / "loopwright", folder / f"{name}.onnx", "-o", place / f"{name}.c", "--name", name, "--target",
        "cortex-m4",
        "--quiet", *(["--combine", "all"] if kind == "all" else []))
    figures = on_core("cortex-m4", place, name, folder / "in.npy", folder / "out.npy")
    if "failed" in figures:
        return None
    return header_bytes(place, name), figures["instructions"], figures["text bytes"]


def main():
    if len(sys.argv) < 2 or not has_cortex():
        sys.exit("combine.py BUILD [COUNT] [SEED]; requires gcc-arm-none-eabi and qemu-system-arm")
    build = Path(sys.argv[1]).resolve()
    count, first = int((sys.argv[2:] + ["20"])[0]), int((sys.argv[3:] + ["1"])[0])
    print(f"{'network':10} {'RAM':>8} {'all':>8} {'instructions':>13} {'all':>10} {'ratio':>6} {'text':>7} {'all':>7}")
    held, ratios, savings = [0, 0, 0], [], []
    for seed in range(first, first + count):
        name, folder = f"random{seed}", build / "bench/combine" / str(seed)
        folder.mkdir(parents=True, exist_ok=True)
        model, shape = network(seed)
        (folder / f"{name}.onnx").write_bytes(model)
        numpy.save(folder / "in.npy", numpy.random.default_rng(seed).standard_normal(shape).astype("float32"))
        run(build / "loopwright", "run", folder / f"{name}.onnx", folder / "in.npy", "-o", folder / "out.npy",
            "--target", "cortex-m4")
        default, combined = (measure(build, folder, name, kind) for kind in ("default", "all"))
        if not default or not combined:
            print(f"{name:10} outputs differ")
            continue
        ratio = combined[1] / default[1]
        print(f"{name:10} {default[0]:8} {combined[0]:8} {default[1]:13} {combined[1]:10} {ratio:6.3f} {default[2]:7} "
              f"{combined[2]:7}", flush=True)
        ratios.append(ratio)
        savings.append(combined[0] / max(default[0], 1))
        held = [h + ok for h, ok in zip(held, (True, combined[0] <= default[0], ratio <= 1.02))]
    print(f"of {count}: {held[0]} the same bits, {held[1]} no more RAM, {held[2]} at most 1.02 times the instructions; "
          f"RAM {numpy.exp(numpy.mean(numpy.log(savings))):.2f}, instructions "
          f"{numpy.exp(numpy.mean(numpy.log(ratios))):.3f} (geometric means)")


if __name__ == "__main__":
    main()
