# SPDX-License-Identifier: MIT
"""fft.py BUILD [CPU] [LENGTH...]: real Fourier transforms from ONNX (`make bench-fft`): instructions on an emulated
core at -O3, code with constants, arena, and the error as a share of the largest bin, against numpy. Needs onnx and
numpy."""
import sys
import tempfile
from pathlib import Path

import common

try:
    import numpy as np
    from onnx import TensorProto, helper, save
except ImportError:
    sys.exit("fft.py: needs onnx and numpy")

CMSIS = {"cortex-m4": {128: 4577, 256: 11332, 512: 24218, 1024: 44686},      # CMSIS-DSP arm_rfft_fast_f32
         "cortex-m55": {128: 1539, 256: 3321, 512: 6360, 1024: 14025}}
LENGTHS = (128, 160, 256, 400, 480, 512, 600, 720, 1000, 1024, 2048)


def write_model(path, length):
    constants = [helper.make_tensor("axis", TensorProto.INT64, [], [1])]
    info = helper.make_tensor_value_info
    graph = helper.make_graph([helper.make_node("DFT", ["x", "", "axis"], ["y"], onesided=1)], "g",
                              [info("x", TensorProto.FLOAT, [1, length, 1])],
                              [info("y", TensorProto.FLOAT, [1, length // 2 + 1, 2])], constants)
    save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9), path)


def error_of(build, model, x, folder):
    """The largest difference of a bin, as a share of the largest bin."""
    common.run(build / "loopwright", "run", model, folder / "x.npy", "-o", folder / "y.npy", "--quiet")
    y, wanted = np.load(folder / "y.npy")[0], np.fft.rfft(x[0, :, 0].astype(np.float64))
    return np.abs(y[:, 0] + 1j * y[:, 1] - wanted).max() / np.abs(wanted).max()


def row(build, cpu, length, folder):
    name = f"fft{length}"
    model = folder / f"{name}.onnx"
    x = np.random.default_rng(1).standard_normal((1, length, 1)).astype(np.float32)
    write_model(model, length)
    np.save(folder / "x.npy", x)
    error = error_of(build, model, x, folder)
    emitted = common.emit(build, name, model, cpu)
    figures = common.on_core(cpu, emitted, name, folder / "x.npy", folder / "y.npy") if emitted else {"failed": "emit"}
    if "failed" in figures:
        return print(f"{length:6} failed: {figures['failed']}")
    cmsis = CMSIS.get(cpu, {}).get(length)
    flash = figures.get("text bytes", figures.get("text", 0)) + figures.get("rodata bytes", figures.get("rodata", 0))
    print(f"{length:6} {figures['instructions']:12} {cmsis or '-':>10} {flash:11} {figures.get('arena bytes', 0):11} "
          f"{error:11.1e}")


def main():
    build = Path(common.build_argument()).resolve()
    words = sys.argv[2:]
    cpu = words.pop(0) if words and words[0].startswith("cortex") else "cortex-m4"
    if not common.has_cortex():
        sys.exit("fft.py: needs arm-none-eabi-gcc and qemu-system-arm")
    print(f"real transforms, {cpu}\n{'points':>6} {'instructions':>12} {'CMSIS-DSP':>10} {'flash bytes':>11} "
          f"{'arena bytes':>11} {'error':>11}")
    with tempfile.TemporaryDirectory() as folder:
        for length in [int(w) for w in words] or LENGTHS:
            row(build, cpu, length, Path(folder))


main()
