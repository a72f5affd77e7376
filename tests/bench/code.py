#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""code.py BUILD [CORE...]: fits the bytes of the parts of emitted text (TextKind of emitter/ir/nest/costs.h) on the
recorded models, compiled at -O2, and prints the row of schedules/arm/costs.c for each core. Then, for each model, its
code and the estimate of a fit without the model and its relatives, and the largest error of those. Needs numpy and
arm-none-eabi-gcc.

The bytes of functions, of the library, and of NAME_run are fitted apart, because the linker's symbols tell them apart.
No byte is negative."""
import subprocess
import sys
from pathlib import Path

import numpy as np

from common import ROOT, build_argument, models

FLAGS = {"cortex-m0plus": "-mcpu=cortex-m0plus", "cortex-m4": "-mcpu=cortex-m4 -mfpu=fpv4-sp-d16 -mfloat-abi=hard",
         "cortex-m55": "-mcpu=cortex-m55 -mfloat-abi=hard"}
FUNCTION, LIBRARY, RUN = slice(0, 13), slice(13, 16), slice(16, 18)     # of TextKind
# One network in several files counts as one where it is left out.
RELATIVES = {"pretrainedResnet": "resnet8", "vww_96_float": "mobilenet_v1_025", "ad01_fp32": "ad01",
             "kws_cnn_skewed": "kws_cnn", "kws_5speakers": "kws_cnn"}


def nonnegative(rows, values):
    """Least squares without negative coefficients, by coordinate descent."""
    gram, right = rows.T @ rows, rows.T @ values
    result = np.zeros(rows.shape[1])
    for _ in range(20000):
        before = result.copy()
        for k in np.flatnonzero(np.diag(gram)):
            result[k] = max(0, result[k] + (right[k] - gram[k] @ result) / gram[k, k])
        if np.abs(result - before).max() < 1e-6:
            break
    return result


class Network:
    def __init__(self, build, folder, path, core):
        self.name = path.stem
        lines = subprocess.run([build / "bench/code_text", path, core], check=True, capture_output=True,
                               text=True).stdout.splitlines()
        self.run_parts = np.array([float(word) for word in lines[0].split()])
        self.parts = {line.split()[0]: np.array([float(word) for word in line.split()[1:]])
                      for line in reversed(lines[1:])}
        flags = ["-mthumb", *FLAGS[core].split(), "-std=c99", "-ffp-contract=off", "-O2", "--specs=nano.specs"]
        subprocess.run([build / "loopwright", path, "--target", core, "--standalone", "--name", "net", "-o",
                        folder / "net.c", "--quiet"], check=True, capture_output=True)
        subprocess.run(["arm-none-eabi-gcc", *flags, "-nostartfiles", "-static", "-Wl,--entry=net_run",
                        "-Wl,--gc-sections", folder / "net.c", "-o", folder / "net", "-lm"],
                       check=True, capture_output=True)
        self.bytes, library, self.run = dict.fromkeys(self.parts, 0), {}, 0
        for line in subprocess.run(["arm-none-eabi-nm", "-S", "--defined-only", folder / "net"], check=True,
                                   capture_output=True, text=True).stdout.splitlines():
            words = line.split()
            if len(words) != 4 or words[2] not in "tTwW":
                continue
            size, name = int(words[1], 16), words[3].split(".")[0]
            if name == "net_run":
                self.run += size
            elif name.startswith("net_"):
                self.bytes[name[4:]] = self.bytes.get(name[4:], 0) + size
            else:
                library[words[0]] = size
        self.library = sum(library.values())

    def total(self):
        return sum(self.bytes.values()) + self.library + self.run

    def all_parts(self):
        return np.concatenate([sum(self.parts.values()), self.run_parts])


def fit(networks):
    pairs = [(n.parts[f], n.bytes[f]) for n in networks for f in n.parts if n.bytes[f]]
    rows, values = np.array([p[FUNCTION] for p, _ in pairs]), np.array([float(b) for _, b in pairs])
    weights = values ** -0.5
    runs = np.array([float(n.run) for n in networks])
    return np.concatenate([nonnegative(rows * weights[:, None], values * weights),
                           nonnegative(np.array([n.all_parts()[LIBRARY] for n in networks]),
                                       np.array([float(n.library) for n in networks])),
                           nonnegative(np.array([n.run_parts for n in networks]) * runs[:, None] ** -0.5, runs ** 0.5)])


def main():
    build = Path(build_argument()).resolve()
    shared = ROOT / "../shared/models"
    paths = (sorted((shared / "mlperf-tiny").glob("*.tflite")) + [Path(entry[1]) for entry in models(build)]
             + sorted((shared / "kws").glob("*.onnx")))
    folder = build / "bench"
    folder.mkdir(exist_ok=True)
    for core in sys.argv[2:] or FLAGS:
        networks = [Network(build, folder, path, core) for path in paths]
        print(f"{core}: {{ " + ", ".join(f"{value:.1f}" for value in fit(networks)) + " }")
        worst = 0
        for n in networks:
            own = RELATIVES.get(n.name, n.name)
            guess = n.all_parts() @ fit([other for other in networks if RELATIVES.get(other.name, other.name) != own])
            print(f"    {n.name:<26} {n.total():>7} {guess:>9.0f} {100 * (guess / n.total() - 1):>+6.1f} %", flush=True)
            worst = max(worst, abs(guess / n.total() - 1))
        print(f"    largest error {100 * worst:.0f} %")


if __name__ == "__main__":
    main()
