#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""host.py BUILD: time of one inference on this machine, against onnx2c's C for the same file.

Both are built by the same gcc with -std=c99 -O3 -march=native (no -ffast-math), one thread, driven by host_time.c on
the same recorded input. They run in turns on one core; each turn gives a ratio, and the median of the ratios is
printed, so that a machine that wanders does not matter.
COUNT=1: also instructions of one inference, counted by valgrind (callgrind) on builds with -march=x86-64-v3, which it
can run; exact and repeatable where times are not.
The peer's C is ONNX2C_DIR/NAME.c, or is made by the program ONNX2C; without either the ratio is skipped by name."""
import math
import os
import re
import shutil
import statistics
import subprocess
from pathlib import Path

from common import GRID, ROOT, build_argument, emit, models, pinned, run

TURNS, MILLISECONDS = int(os.environ.get("TURNS", 9)), 40
INFERENCES = 2                  # that host_time runs when it is given no time
FLAGS = ["-std=c99", "-O3", "-march=native"] + os.environ.get("BENCH_CFLAGS", "").split()


def peer_source(name, path, folder):
    if os.environ.get("ONNX2C_DIR"):
        source = Path(os.environ["ONNX2C_DIR"]) / f"{name}.c"
        return source if source.exists() else None
    if not os.environ.get("ONNX2C"):
        return None
    source = folder / "peer.c"
    try:
        source.write_text(run(os.environ["ONNX2C"], path))
    except subprocess.CalledProcessError:
        return None
    return source


def build_program(name, folder, source, flags, program):
    """The peer's program is kept between runs: its C does not change, and gcc needs long for it."""
    if program.exists() and program.stat().st_mtime > source.stat().st_mtime and "-DPEER" in flags:
        return program
    defines = [f"-DMODEL={name}", f"-DMODEL_UPPER={name.upper()}", f'-DMODEL_HEADER="{name}.h"',
               f"-DSTEP={GRID.get(name, 0.0)}f"]
    run("gcc", *FLAGS, *defines, *flags, f"-I{ROOT / 'runtime'}", f"-I{folder}", ROOT / "tests/bench/host_time.c",
        source,
        "-lm", "-o", program)
    return program


def measure(program, data, milliseconds=MILLISECONDS):
    time, wrong = run(*pinned(), program, *data, milliseconds).split()
    return float(time), int(wrong)


def count(name, folder, source, flags, data):
    """Instructions of one inference; None without valgrind."""
    if not os.environ.get("COUNT") or not shutil.which("valgrind"):
        return None
    program = folder / ("count_peer" if flags else "count_ours")
    build_program(name, folder, source, ["-march=x86-64-v3", *flags], program)
    result = subprocess.run(["valgrind", "--tool=callgrind", "--toggle-collect=infer", "--callgrind-out-file=/dev/null",
                             program, *data, "0"], capture_output=True, text=True)
    collected = re.search(r"Collected : (\d+)", result.stderr)
    return int(collected.group(1)) // INFERENCES if collected else None


def compare(ours, peer, data):
    """Medians of both times and of the ratios of adjacent runs."""
    turns = [(measure(ours, data)[0], measure(peer, data)[0]) for _ in range(TURNS)]
    return (statistics.median(o for o, _ in turns), statistics.median(p for _, p in turns),
            statistics.median(o / p for o, p in turns))


def main():
    build = build_argument()
    print(f"time of one inference, gcc {' '.join(FLAGS)}, one core, {TURNS} turns; ratio: ours / onnx2c (smaller is "
          f"better)")
    print(f"{'model':<20} {'ours, ns':>12} {'onnx2c, ns':>12} {'ratio':>7}")
    ratios, agreeing = [], []
    for name, path, *data in models(build):
        folder = emit(build, name, path)
        if not folder:
            continue
        ours = build_program(name, folder, folder / f"{name}.c", [], folder / "ours")
        time, wrong = measure(ours, data)
        note = f"  WRONG: {wrong} elements of ours differ" if wrong else ""
        source = peer_source(name, path, folder)
        if not source:
            print(f"{name:<20} {time:>12.0f} {'-':>12} {'-':>7}  peer skipped: no C of onnx2c for it{note}")
            continue
        try:
            peer = build_program(name, folder, source, ["-DPEER", "-w"], folder / "peer")
        except subprocess.CalledProcessError:
            print(f"{name:<20} {time:>12.0f} {'-':>12} {'-':>7}  peer skipped: gcc refuses onnx2c's C{note}")
            continue
        peer_wrong = measure(peer, data)[1]
        if peer_wrong:
            note += f"  (onnx2c: {peer_wrong} elements differ from the recorded output)"
        ours_ns, peer_ns, ratio = compare(ours, peer, data)
        ratios.append(ratio)
        if not peer_wrong:
            agreeing.append(ratio)
        print(f"{name:<20} {ours_ns:>12.0f} {peer_ns:>12.0f} {ratio:>7.3f}{note}", flush=True)
        counts = (count(name, folder, folder / f"{name}.c", [], data),
                  count(name, folder, source, ["-DPEER", "-w"], data))
        if all(counts):
            print(f"{'  instructions':<20} {counts[0]:>12} {counts[1]:>12} {counts[0] / counts[1]:>7.3f}", flush=True)
    for what, values in ("geometric mean", ratios), ("where onnx2c is right", agreeing):
        if values:
            mean = math.exp(statistics.mean(map(math.log, values)))
            print(f"{what + ' (' + str(len(values)) + ')':<45} {mean:>8.3f}")


if __name__ == "__main__":
    main()
