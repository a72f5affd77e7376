# SPDX-License-Identifier: MIT
"""TFLite files beside TensorFlow Lite Micro's interpreter, with the state that a file keeps from run to run.

    python3 tests/tools/micro.py BUILD FILE.tflite... [--cores host,cortex-m4,cortex-m55] [--steps 10] [--seed 1]

Each file runs for STEPS inputs in a row, in the interpreter of the package tflite-micro and in our C: on this machine
by $CC, on an emulated Cortex-M by arm-none-eabi-gcc and QEMU (samples/cortex-m/hosted.sh). Inputs are random: integers
of their whole range, floats in -1 to 1. Integers are equal; floats within 1e-5 of the largest of an output. A line per
file and core; status 1 if one differs or is refused, but files that the interpreter refuses are only named. Needs numpy
and tflite-micro.
"""
import argparse
import os
import shutil
import subprocess
import sys
import tempfile

import numpy as np
from tflite_micro.python.tflite_micro import runtime

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
HOSTED = os.path.join(ROOT, "samples/cortex-m/hosted.sh")
ARENA = 64 << 20


def random_values(rng, shape, dtype):
    if np.issubdtype(dtype, np.floating):
        return rng.uniform(-1, 1, shape).astype(dtype)
    if dtype == np.bool_:
        return rng.integers(0, 2, shape).astype(dtype)
    limits = np.iinfo(dtype)
    return rng.integers(limits.min, limits.max, shape, dtype=dtype, endpoint=True)


def details(detail):
    """Of all inputs or outputs; the interpreter has no count of them."""
    found = []
    while True:
        try:
            found.append(detail(len(found)))
        except (IndexError, ValueError, RuntimeError):
            return found


def by_interpreter(path, steps, seed):
    """The inputs and outputs of all steps, [tensor][step]."""
    interpreter = runtime.Interpreter.from_file(path, arena_size=ARENA)
    rng, inputs, outputs = (np.random.default_rng(seed), details(interpreter.get_input_details),
                            details(interpreter.get_output_details))
    fed, made = [[] for _ in inputs], [[] for _ in outputs]
    for _ in range(steps):
        for i, d in enumerate(inputs):
            fed[i].append(random_values(rng, d["shape"], d["dtype"]))
            interpreter.set_input(fed[i][-1], i)
        interpreter.invoke()
        for i in range(len(outputs)):
            made[i].append(np.array(interpreter.get_output(i)))
    return [np.array(x) for x in fed], [np.array(y) for y in made]


def build(build_folder, path, core, work):
    """The words that run the network for the core, or a text with the reason why not."""
    target = [] if core == "host" else ["--target", core]
    made = subprocess.run([os.path.join(build_folder, "loopwright"), path, "-o", f"{work}/m.c", "--name", "m",
                           "--quiet", *target],
                          capture_output=True, text=True)
    if made.returncode:
        return None, "refused: " + made.stderr.strip().splitlines()[-1]
    with open(f"{work}/m.h") as header:
        state = ["-DM_HAS_STATE"] if "struct m_state {" in header.read() else []
    compiler = os.environ.get("CC", "cc").split() if core == "host" else [HOSTED, "cc", core]
    made = subprocess.run([*compiler, "-std=c99", "-O2", f"-I{ROOT}/runtime", f"-I{work}", *state,
                           f"{ROOT}/tests/tools/micro_main.c",
                           f"{work}/m.c", "-lm", "-o", f"{work}/m"], capture_output=True, text=True)
    if made.returncode:
        return None, "the C compiler: " + (made.stderr.strip().splitlines() or ["no message"])[-1]
    return ([f"{work}/m"] if core == "host" else [HOSTED, "run", core, f"{work}/m"]), ""


def difference(expected, got):
    """The largest difference: of integers, or of floats relative to the largest of the output, at least 1."""
    if np.issubdtype(expected.dtype, np.floating):
        return float(np.max(np.abs(expected.astype(np.float64) - got)) / max(1.0, float(np.max(np.abs(expected)))))
    return int(np.max(np.abs(expected.astype(np.int64) - got.astype(np.int64))))


def compare(words, work, fed, made):
    """A text: "equal", or what differs."""
    steps = len(fed[0]) if fed else len(made[0])
    names = []
    for i, x in enumerate(fed):
        names.append(f"{work}/in{i}")
        x.tofile(names[-1])
    names += [f"{work}/out{i}" for i in range(len(made))]
    ran = subprocess.run([*words, str(steps), *names], capture_output=True, text=True)
    if ran.returncode:
        return "fails: " + (ran.stdout + ran.stderr).strip()[-100:]
    worst = []
    for i, y in enumerate(made):
        got = np.fromfile(f"{work}/out{i}", y.dtype)
        if got.size != y.size:
            return f"output {i} has {got.size} elements, and {y.size} are expected"
        worst.append(difference(y.reshape(-1), got))
    is_float = [np.issubdtype(y.dtype, np.floating) for y in made]
    if all(w <= (1e-5 if f else 0) for w, f in zip(worst, is_float)):
        return "equal" if not any(is_float) else f"within {max(worst):.1e}"
    return "differs: " + ", ".join(str(w) for w in worst)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("files", nargs="+")
    parser.add_argument("--cores", default="host,cortex-m4,cortex-m55")
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    wish, bad = parser.parse_args(), 0
    for path in wish.files:
        try:
            fed, made = by_interpreter(path, wish.steps, wish.seed)
        except (RuntimeError, ValueError) as why:
            print(f"{os.path.basename(path):44} not run: the interpreter says: {str(why).strip().splitlines()[-1]}",
                  flush=True)
            continue
        for core in wish.cores.split(","):
            work = tempfile.mkdtemp()
            words, why = build(wish.build, path, core, work)
            said = compare(words, work, fed, made) if words else why
            bad += not said.startswith(("equal", "within"))
            print(f"{os.path.basename(path):44} {core:12} {wish.steps} steps  {said}", flush=True)
            shutil.rmtree(work)
    return bad > 0


if __name__ == "__main__":
    sys.exit(main())
