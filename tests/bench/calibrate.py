#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""calibrate.py BUILD CORE FILE: fits the costs of a core (emitter/ir/nest/costs.def) on layers of made networks, and
writes them as the table of C in FILE. Needs numpy and arm-none-eabi-gcc.

The networks are none of the recorded ones: convolutions, pools and sums with made weights and sizes (as floats, and as
8-bit integers by `loopwright quantize`), and one formula for each function of floats. `loopwright report --cc` steps
through the C of each, compiled at -O3, and counts the instructions of each layer (tests/cross/run.sh counts the same in
QEMU). BUILD/bench/cost_rows states the same count as a sum over rows. The figures minimize the relative errors of the
layers; none is negative. Each group is alone, so the layers do not depend on costs, and the same schedules and compiler
give the same text."""
import collections
import difflib
import itertools
import json
import random
import re
import shutil
import subprocess
import sys
import textwrap
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

sys.path.append(str(Path(__file__).resolve().parents[1] / "tools"))
from large_models import Net                                                          # noqa: E402

CORES = {"cortex-m0plus": "-mcpu=cortex-m0plus", "cortex-m3": "-mcpu=cortex-m3",
         "cortex-m4": "-mcpu=cortex-m4 -mfpu=fpv4-sp-d16 -mfloat-abi=hard",
         "cortex-m55": "-mcpu=cortex-m55 -mfloat-abi=hard"}
NETWORKS, LENGTH = 32, 256
SMALL = 1000                                   # instructions; the errors of smaller layers count as a share of it
ENOUGH = 3                                     # layers that tell a use of a macro from its points
# A formula of 256 elements for rows that are no function of x; a function's operands are normal, or of a distribution.
FORMULAS = {
    "F32": "abs(x[i])", "F32_FUNCTION": None, "F32_MUL_RECTIFIED": None, "F32_ADD_RECTIFIED": None,
    "F32_COMPARE": "f32(x[i] < z[i])", "F32_TO_INTEGER": "i32(x[i])", "F32_MUL": "x[i] * z[i]",
    "F32_ADD": "x[i] + z[i]", "F32_DIV": "x[i] / z[i]", "F32_MIN": "min(x[i], z[i])", "F32_MAX": "max(x[i], z[i])",
    "F32_FMOD": "fmod(x[i], z[i])", "F32_POW": "pow(positive[i], z[i])", "F32_ATAN2": "atan2(x[i], z[i])",
    "INTEGER": "(a[i] ^ b[i]) + (a[i] & q[i])", "MLA": "a[i] + b[i] * q[i]", "DIV": "a[i] / b[i]",
    "MULHIGH": "mulhigh(a[i], b[i])", "EXPQ": "expq(q[i], 5)", "RECIPQ": "recipq(h[i])",
    "I64": "i32((i64(a[i]) ^ i64(b[i])) + (i64(a[i]) & i64(q[i])))"}
DOMAINS = {**dict.fromkeys("log log2 log10 log1p sqrt rsqrt".split(), "positive"), "acosh": "above",
           **dict.fromkeys("asin acos atanh".split(), "unit")}


def window(size, pad, stride):
    return {"kernel_shape": list(size), "pads": list(pad) * 2, "strides": list(stride)}


# The dimensions of a network's images, each of `size` or of 1: square, or along one dimension
PLANES = ((1, 1), (1, 1), (1, 1), (0, 1), (1, 1), (1, 1), (1, 1), (1, 0))
KINDS = "conv conv conv pointwise pointwise pointwise depthwise depthwise depthwise max average residual".split()


def layers(net, choose, channels, plane):
    """Appends layers; the last tensor and its channels."""
    x, size = "x", max(net.input[2:])
    for _ in range(choose.randint(4, 7)):
        kind = choose.choice(KINDS)
        is_pool = kind in ("max", "average")
        k = 1 if kind == "pointwise" else choose.choice([2, 3] if is_pool else [3, 3, 3, 5])
        stride = 1 if kind == "residual" or size < 8 else choose.choice([1, 1, 2])
        pad = 0 if k % 2 == 0 or is_pool and choose.random() < 0.5 else k // 2
        out = choose.choice([4, 6, 8, 11, 16, 24, 32, 48, 64]) if kind in ("conv", "pointwise") else channels
        how = window(*([n if along else other for along in plane] for n, other in ((k, 1), (pad, 0), (stride, 1))))
        if is_pool:
            x = net.node("MaxPool" if kind == "max" else "AveragePool", [x], **how)
        else:
            group, taps = channels if kind == "depthwise" else 1, how["kernel_shape"]
            weights = [net.constant([out, channels // group, *taps]), net.constant([out])]
            y = net.node("Conv", [x, *weights], group=group, **how)
            x = net.node("Add", [x, y]) if kind == "residual" else y if choose.random() < 0.3 else net.node("Relu", [y])
        size, channels = (size + 2 * pad - k) // stride + 1, out
    return x, channels


def network(seed):
    """(bytes of the file, shape of the input)"""
    choose = random.Random(seed)
    plane = PLANES[seed % len(PLANES)]
    channels, size = choose.choice([1, 2, 3, 4]), choose.choice([10, 12, 16, 18, 24] if all(plane) else [40, 50, 64])
    shape = [1, channels, *(size if along else 1 for along in plane)]
    net = Net(f"made{seed}", shape)
    x, channels = layers(net, choose, channels, plane)
    out, hidden = choose.choice([4, 10, 12]), choose.choice([16, 24, 33, 64])
    x = net.node("Flatten", [net.node("GlobalAveragePool", [x])], axis=1)
    x = net.node("Relu", [net.node("Gemm", [x, net.constant([hidden, channels]), net.constant([hidden])], transB=1)])
    x = net.node("Gemm", [x, net.constant([out, hidden]), net.constant([out])], transB=1)
    if seed % 2:
        x = net.node("Softmax", [x])
    return net.model(x, [1, out]), shape


class Bench:
    def __init__(self, build, core):
        self.build, self.core = build, core
        self.folder = build / "bench/calibrate" / core
        self.folder.mkdir(parents=True, exist_ok=True)
        self.cc = f"arm-none-eabi-gcc -mthumb {CORES[core]} -O3 --specs=nano.specs"

    def run(self, *words):
        return subprocess.run([str(w) for w in words], check=True, capture_output=True, text=True).stdout

    def loopwright(self, *words):
        return self.run(self.build / "loopwright", *words, "--quiet")

    def rows(self):
        """The rows that are fitted: (key, name in messages)."""
        done = subprocess.run([self.build / "bench/cost_rows", self.core], capture_output=True, text=True)
        if done.returncode:
            sys.exit(done.stderr.strip())
        return [line.split(" ", 1) for line in done.stdout.splitlines()]

    def networks(self):
        """(path, inputs) of the networks, as floats and as integers."""
        for seed in range(1, NETWORKS + 1):
            path, samples, first = (self.folder / f"net{seed}.{end}" for end in ("onnx", "npy", "in.npy"))
            data, shape = network(seed)
            path.write_bytes(data)
            values = np.random.default_rng(seed).standard_normal((8, *shape[1:])).astype("float32")
            np.save(samples, values)
            np.save(first, values[:1])
            yield path, [first]
            whole = path.with_suffix(".te")
            self.loopwright("dump", path, "--samples", samples, "--at", "realized", "-o", whole)
            yield whole, []

    def operands(self):
        """Writes the operands of formulas: their types by their names."""
        draw = np.random.default_rng(0)
        normal, whole = (lambda: draw.standard_normal(LENGTH)), (lambda least, end: draw.integers(least, end, LENGTH))
        floats = {"x": normal(), "z": normal(), "positive": np.abs(normal()) + 0.01, "above": np.abs(normal()) + 1,
                  "unit": draw.uniform(-1, 1, LENGTH)}
        integers = {"a": whole(1, 2**31), "b": whole(1, 2**15), "q": -whole(0, 2**31), "h": whole(2**30, 2**31)}
        for of, kind in (floats, "float32"), (integers, "int32"):
            for name, values in of.items():
                np.save(self.folder / f"{name}.npy", values.astype(kind))
        return {**dict.fromkeys(floats, "f32"), **dict.fromkeys(integers, "i32")}

    def formulas(self, rows):
        """(path, inputs) of a formula for each row of FORMULAS, and for each function of floats."""
        types = self.operands()
        for key, name in rows:
            function = name.split(" ")[-1] if key.startswith("F32_") else ""
            text = FORMULAS.get(key, f"{function}({DOMAINS.get(function, 'x')}[i])" if function else None)
            if not text:
                continue
            path, used = self.folder / f"{key}.te", [n for n in types if re.search(rf"\b{n}\[", text)]
            path.write_text("".join(f"input {n}: {types[n]}[{LENGTH}]\n" for n in used) + f"y[i] = {text}\noutput y\n")
            yield path, [self.folder / f"{n}.npy" for n in used]

    def equations(self, path, inputs):
        """(rest, {(row, 0: uses, 1: points): count}, counted instructions) of each layer."""
        said = self.folder / f"{path.name}.json"
        self.loopwright("report", path, *inputs, "--target", self.core, "--combine", "none", "--cc", self.cc, "-o",
                        said)
        report = json.loads(said.read_text())
        assert report["stepped"], path
        counted = {layer["name"]: layer["instructions"] for layer in report["layers"]}
        found = []
        for line in self.run(self.build / "bench/cost_rows", path, self.core).splitlines():
            word, key, rest = line.split(" ", 2)
            if word == "layer":
                found.append((float(key), {}, counted[rest]))
            else:
                found[-1][1].update({(key, i): float(n) for i, n in enumerate(rest.split()) if float(n)})
        return [e for e in found if e[2] > 0]


def fit(equations):
    """{(row, 0 or 1): figure}: the least squares of relative errors, without negative figures, by coordinate descent. A
    small weight on each figure decides where layers do not."""
    keys = sorted({key for _, uses, _ in equations for key in uses})
    at = {key: i for i, key in enumerate(keys)}
    rows = np.zeros((len(equations), len(keys)))
    for row, (_, uses, _) in zip(rows, equations):
        for key, count in uses.items():
            row[at[key]] = count
    weights = 1 / np.maximum([counted for *_, counted in equations], SMALL)
    rows *= weights[:, None]
    gram = rows.T @ rows
    gram += np.diag(np.diag(gram) * 1e-6)
    right = rows.T @ (np.array([counted - rest for rest, _, counted in equations]) * weights)
    figures = np.zeros(len(keys))
    for _ in range(20000):
        before = figures.copy()
        for k in range(len(keys)):
            figures[k] = max(0, figures[k] + (right[k] - gram[k] @ figures) / gram[k, k])
        if np.abs(figures - before).max() < 1e-6:
            break
    return dict(zip(keys, figures))


def error(equations, figures):
    """The mean relative error of the layers that are not small."""
    ahead = [abs((rest + sum(figures[key] * n for key, n in uses.items())) / counted - 1)
             for rest, uses, counted in equations if counted >= SMALL]
    return 100 * sum(ahead) / len(ahead), len(ahead)


def table(core, rows, figures, equations, compiler):
    """The text of schedules/arm/costs_CORE.def."""
    used = collections.Counter(key for _, uses, _ in equations for key in {key for key, _ in uses})
    rare, entries = {key for key, i in figures if i and used[key] < ENOUGH}, []
    for key, _ in rows:
        if key in rare:
            continue
        each, point = (float(f"{figures.get((key, i), 0):.3g}") for i in (0, 1))
        if (key, 1) in figures:
            entries.append(f"COST_BOTH({key}, {each:g}, {point:g}),")
        elif (key, 0) in figures:
            entries.append(f"COST_EACH({key}, {each:g}),")
    mean, count = error(equations, figures)
    missing = [key for key, _ in rows if (key, 0) not in figures and (key, 1) not in figures or key in rare]
    head = (f"Instructions of a use, and of a point, on {core} at -O3 by {compiler}. `make calibrate CORE={core}` "
            f"writes this file. The mean error of the {count} layers that it measures is {mean:.1f} %.")
    if missing:
        head += f" Fewer than {ENOUGH} layers use {', '.join(missing)}, which the base states."
    return "\n".join(["/* SPDX-License-Identifier: MIT */",
                      *textwrap.wrap(head, 117, initial_indent="/* ", subsequent_indent=" * ")]) + " */\n" \
        + textwrap.fill(" ".join(e.replace(" ", "_") for e in entries), 116, initial_indent="    ",
                        subsequent_indent="    ", break_long_words=False).replace(",_", ", ") + "\n"


def main():
    core = sys.argv[2] if len(sys.argv) > 2 else ""
    if core not in CORES:
        near = difflib.get_close_matches(core, CORES, 1)
        sys.exit(f"calibrate: no core \"{core}\"; " + (f"did you mean '{near[0]}'?" if near else
                                                       f"use one of {', '.join(CORES)}"))
    if not shutil.which("arm-none-eabi-gcc"):
        sys.exit("skipped: arm-none-eabi-gcc is not installed")
    bench = Bench(Path(sys.argv[1]).resolve(), core)
    rows = bench.rows()
    models = itertools.chain(bench.formulas(rows), bench.networks())
    with ThreadPoolExecutor(2) as pool:
        equations = [e for found in pool.map(lambda model: bench.equations(*model), models) for e in found]
    compiler = "gcc " + bench.run("arm-none-eabi-gcc", "-dumpfullversion").strip()
    Path(sys.argv[3]).write_text(table(core, rows, fit(equations), equations, compiler))


if __name__ == "__main__":
    main()
