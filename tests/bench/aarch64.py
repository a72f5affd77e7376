# SPDX-License-Identifier: MIT
"""aarch64.py BUILD [MODEL...]: executed AArch64 instructions of one inference, beside those recorded of ONNX Runtime
1.31.1 and of LiteRT 2.3.0 (the smaller of XNNPACK and its own kernels).

Requires gcc-aarch64-linux-gnu, libc6-dev-arm64-cross and qemu-user; --clang counts with clang-16, too. The count is a
run of three inferences less one of one, halved. Floats agree with the recorded outputs within 1e-3, bytes are equal.
"""
import argparse
import math
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from common import ROOT, RECORDED, run

TINY = ROOT / "../shared/models/mlperf-tiny"
# Thousands of instructions of ONNX Runtime, one thread, as a Cortex-A72
FLOAT = {"ad01": 244.0, "dscnn": 2970.4, "dtln1": 463.0, "ecg_cnn1d": 1876.6, "face_slim320": 70601.1,
         "kws_micro_fp32": 3964.3,
         "lenet5": 417.9, "lstm": 748.1, "mnist8": 657.4, "mobilenet_v1_025": 7511.8, "mobilenet_v2_035": 13621.9,
         "resnet8": 6524.4,
         "squeezenet_s": 2939.0, "transformer": 1701.7}
# The least of LiteRT as a Cortex-A53, a Cortex-A72, a core with SDOT (Cortex-A76), a core with SMMLA
BYTES = {"ad01_int8": (137.3, 93.3, 44.1, 40.6), "kws_ref_model": (1335.7, 1397.6, 710.7, 732.5),
         "pretrainedResnet_quant": (5009.7, 4320.1, 1497.8, 1252.7), "str_ww_ref_model": (376.4, 305.3, 145.7, 126.9),
         "vww_96_int8": (4013.5, 3614.3, 1925.9, 1899.8)}
# target, -march, QEMU's core
CORES = [("cortex-a53", "-mcpu=cortex-a53", "cortex-a53"), ("cortex-a72", "-mcpu=cortex-a72", "cortex-a72"),
         ("aarch64-dotprod", "-march=armv8.2-a+dotprod", "cortex-a76"),
         ("aarch64-i8mm", "-march=armv8.2-a+dotprod+i8mm", "max")]


def plugin(folder):
    """The plugin that counts, built for this machine."""
    library = folder / "count.so"
    run(os.environ.get("CC", "cc").split()[-1], "-O2", "-shared", "-fPIC", "-o", library,
        ROOT / "tests/emulated/count.c")
    return library


def executed(program, cpu, library, repeat, files):
    result = subprocess.run(["qemu-aarch64", "-cpu", cpu, "-plugin", library, "-d", "plugin", program, *files,
                             "--repeat", str(repeat)],
                            check=True, capture_output=True, text=True)
    return int(re.search(r"instructions (\d+)", result.stderr)[1])


def agrees(got, expected, is_float):
    """True for equal bytes, and for floats near the recorded ones."""
    import numpy as np
    a, b = np.load(got), np.load(expected)
    return bool(np.allclose(a.reshape(b.shape), b, rtol=1e-3, atol=2e-3)) if is_float else a.tobytes() == b.tobytes()


def count(build, library, model, core, compiler):
    """Thousands of instructions of one inference; None if the outputs differ."""
    target, march, cpu = core
    folder = Path(build).resolve() / "bench/aarch64" / f"{model.stem}-{target}-{compiler[0]}"
    folder.mkdir(parents=True, exist_ok=True)
    run(Path(build).resolve() / "loopwright", model, "--target", target, "--testbench", "--name", "m", "-o",
        folder / "m.c", "--quiet")
    run(*compiler, "-std=c99", "-O3", march, "-ffp-contract=off", "-static", f"-I{ROOT}/runtime", "-o", folder / "m",
        folder / "m.c",
        folder / "m_main.c", "-lm")
    inputs, outputs = (sorted(model.parent.glob(f"{model.stem}.{kind}0*.npy")) for kind in ("in", "out"))
    results = [folder / f"out{i}.npy" for i in range(len(outputs))]
    several = [executed(folder / "m", cpu, library, repeat, [*inputs, *results]) for repeat in (1, 3)]
    if not all(agrees(*pair, model.suffix == ".onnx") for pair in zip(results, outputs)):
        print(f"{model.stem}: other outputs than recorded")
        return None
    return (several[1] - several[0]) / 2000


def table(title, rows):
    """Prints (name, ours, theirs) and the mean of the ratios."""
    print(f"\n{title}\n{'':24}{'ours':>12}{'theirs':>12}{'ratio':>8}   thousands of instructions")
    ratios = [ours / theirs for _, ours, theirs in rows if ours]
    for name, ours, theirs in rows:
        print(f"{name:24}{ours:12.1f}{theirs:12.1f}{ours / theirs:8.2f}" if ours
              else f"{name:24}{'-':>12}{theirs:12.1f}")
    if ratios:
        mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
        print(f"{'geometric mean, worst':24}{'':24}{mean:8.2f}{max(ratios):8.2f}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build")
    parser.add_argument("models", nargs="*")
    parser.add_argument("--clang", action="store_true")
    parser.add_argument("--core", action="append")
    options = parser.parse_intermixed_args()
    for tool in ("aarch64-linux-gnu-gcc", "qemu-aarch64"):
        if not shutil.which(tool):
            sys.exit(f"skipped: {tool} is not installed")
    if not RECORDED.exists():
        sys.exit("skipped: no recorded models beside the project")
    folder = Path(options.build) / "bench/aarch64"
    folder.mkdir(parents=True, exist_ok=True)
    library = plugin(folder).resolve()
    compilers = [["aarch64-linux-gnu-gcc"]] + ([["clang-16", "--target=aarch64-linux-gnu"]] if options.clang else [])
    for compiler in compilers:
        for at, core in enumerate(CORES):
            if options.core and core[0] not in options.core:
                continue
            kinds = (
                [(f"floats, {core[0]}, {compiler[0]}: ONNX Runtime",
                  {RECORDED / f"{n}.onnx": v for n, v in FLOAT.items()})] if at == 1 else [])
            kinds.append((f"8 bits, {core[0]}, {compiler[0]}: LiteRT",
                          {TINY / f"{n}.tflite": v[at] for n, v in BYTES.items()}))
            for title, anchors in kinds:
                chosen = {m: v for m, v in anchors.items() if not options.models or m.stem in options.models}
                if chosen:
                    table(title,
                          [(m.stem, count(options.build, library, m, core, compiler), v) for m, v in chosen.items()])


main()
