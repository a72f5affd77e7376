# SPDX-License-Identifier: MIT
"""Random options: `report --fit` decides as the linked firmware does.

    python3 tests/soak/fit.py BUILD [--count N] [--seed N] [--seconds N] [--at N] MODEL..

Each of the N combinations draws a model, a compiler with its target, and options that change RAM or flash. The firmware
is built beside it: the emitted C, and a caller with the arena or the memories, inputs, outputs, state and parameters.
What it takes, by the symbols of the linked image:

- flash: the sections of the image with the model, less those of the same image with empty functions;
- RAM: the caller's arrays, the data that the model adds to the image, and the deepest stack of NAME_run or NAME_train,
  by gcc's files of the call graph (-fcallgraph-info).

`--fit ram=N` must accept exactly these bytes of RAM, and refuse one byte less. Where functions of libraries have stacks
that the call graph does not state, it may ask for 64 bytes more. `--fit flash=N` must be right where N is more than 1 %
(and 64 bytes) away. A memory of --memory must fit in the size that the header states, and in no less.
Prints each fault with its command; ends with `N passed, N failed, N skipped`; status 1 if one failed."""
import argparse
import json
import os
import random
import re
import shlex
import subprocess
import sys
import tempfile
import time

COMPILERS = [
    ("cortex-m4", "arm-none-eabi-gcc -mcpu=cortex-m4 -mthumb -mfloat-abi=hard -mfpu=fpv4-sp-d16"),
    ("cortex-m0plus", "arm-none-eabi-gcc -mcpu=cortex-m0plus -mthumb"),
    ("cortex-m55", "arm-none-eabi-gcc -mcpu=cortex-m55 -mthumb -mfloat-abi=hard"),
    ("cortex-m7", "arm-none-eabi-gcc -mcpu=cortex-m7 -mthumb -mfloat-abi=hard -mfpu=fpv5-d16"),
    ("generic", "arm-none-eabi-gcc -mcpu=cortex-m3 -mthumb"),
]
CALLER = """
#include "m.h"
#define DECLARE_INPUT(name, type, count) static type name##_in[count];
#define DECLARE_OUTPUT(name, type, count) static type name##_out[count];
#define POINT_INPUT(name, type, count) in.name = name##_in;
#define POINT_OUTPUT(name, type, count) out.name = name##_out;
%(ports)s
%(arrays)s
static struct m_inputs in;
static struct m_outputs out;
int main(void)
{
    %(points)s
    %(calls)s
    return 0;
}
"""
FLAGS = "-std=c99 -ffp-contract=off"
LIBRARY_STACK = 64               # of functions that the call graph does not know, which `report` steps through


def run(words, **kept):
    return subprocess.run(words, capture_output=True, text=True, errors="replace", **kept)


class Firmware:
    """The emitted files of one combination, their header, and the images."""
    def __init__(self, folder, cc, level, header):
        self.folder, self.cc, self.level, self.header = folder, f"{cc} {level} {FLAGS}", level, header

    def object(self, source, more=""):
        done = run(f"{self.cc} {more} -w -I{self.folder} -Iruntime -c {self.folder}/{source}.c "
                   f"-o {self.folder}/{source}.o", shell=True)
        if done.returncode: raise RuntimeError(done.stderr.strip().splitlines()[0])

    def parameters(self, name):
        found = re.search(rf"^int m_{name}\((.*?)\);", self.header, re.M | re.S)
        return [] if not found else [p.split()[-1].strip("*") for p in " ".join(found.group(1).split()).split(",")]

    def caller(self):
        """The C text that declares what the caller owns and calls the functions."""
        has = lambda word: re.search(word, self.header) is not None
        arrays, calls, points = [], [], ""
        if has(r"define M_TRAIN_ARENA\("): arrays.append("static M_TRAIN_ARENA(arena);")
        elif has(r"define M_ARENA\("): arrays.append("static M_ARENA(arena);")
        for memory in re.findall(r"X\((\w+), \d+, \d+\)", self.header):
            macro = f"M_{memory.upper()}"
            if re.search(rf"define {macro}\(", self.header): arrays.append(f"static {macro}({memory});")
        for owned in ("state", "params"):
            if has(rf"struct m_{owned} {{"): arrays.append(f"static struct m_{owned} {owned};")
        ports = "" if "_AT " in self.header else "M_INPUTS(DECLARE_INPUT)\nM_OUTPUTS(DECLARE_OUTPUT)"
        if ports: points = "M_INPUTS(POINT_INPUT)\n    M_OUTPUTS(POINT_OUTPUT)"
        if has("struct m_memories {"):
            names = re.findall(r"^    void \*(\w+);", self.header, re.M)
            points += "\n    const struct m_memories memory_ = { " + ", ".join(names) + " };"
        given = {"arena": "arena", "memory": "&memory_", "in": "&in", "out": "&out", "state": "&state",
                 "params": "&params", "weights": "m_weights_"}
        for function in ("run", "train"):
            words = [given.get(p, "0") for p in self.parameters(function)]
            if words: calls.append(f"if (m_{function}({', '.join(words)})) return 1;")
        return CALLER % {"ports": ports, "arrays": "\n".join(arrays), "points": points, "calls": "\n    ".join(calls)}

    def empty(self):
        """The C text of the same functions without a body."""
        found = re.findall(r"^(int m_(?:run|train)\(.*?\));", self.header, re.M | re.S)
        return '#include "m.h"\n' + "".join(f"{one} {{ return 0; }}\n" for one in found)

    def image(self, model):
        path = f"{self.folder}/{model}.elf"
        done = run(f"{self.cc} -nostartfiles -static -Wl,--entry=main,--gc-sections -o {path} {self.folder}/caller.o "
                   f"{self.folder}/{model}.o -lm", shell=True)
        if done.returncode: raise RuntimeError("\n".join(done.stderr.strip().splitlines()[-3:]))
        text, data, bss = map(int, run(["arm-none-eabi-size", path]).stdout.splitlines()[1].split()[:3])
        return text + data, data + bss

    def stack(self):
        """The deepest stack of the functions that the caller calls, and what functions of libraries may add."""
        frames, calls, known = {}, {}, set()
        for line in open(f"{self.folder}/m.ci"):
            node = re.match(r'node: { title: "([^"]*)" label: "([^"]*)"', line)
            edge = re.match(r'edge: { sourcename: "([^"]*)" targetname: "([^"]*)"', line)
            if node:
                bytes = re.search(r"(\d+) bytes \(", node.group(2))
                frames[node.group(1)] = int(bytes.group(1)) if bytes else 0
                if bytes: known.add(node.group(1))
            if edge: calls.setdefault(edge.group(1), set()).add(edge.group(2))
        found = {}

        def depth(name):
            if name not in found:
                found[name] = 0                 # of a function that calls itself
                found[name] = frames.get(name, 0) + max(map(depth, calls.get(name, ())), default=0)
            return found[name]
        unknown = any(c not in known for called in calls.values() for c in called)
        return max(depth("m_run"), depth("m_train")), LIBRARY_STACK if unknown else 0

    def owned(self):
        """The bytes of the caller's arrays; in and out are on its stack."""
        symbols = run(["arm-none-eabi-nm", "-S", f"{self.folder}/caller.o"]).stdout.splitlines()
        names = [line.split() for line in symbols]
        taken = lambda n: len(n) == 4 and n[2] in "bBdD" and n[3] not in ("in", "out") and not self.is_empty(n[3])
        return sum(int(n[1], 16) for n in names if taken(n))

    def is_empty(self, name):
        """An array of an empty arena or memory has one byte, and the firmware may pass NULL instead."""
        return re.search(rf"define M_{name.upper()}_SIZE +0u", self.header) is not None

    def measure(self):
        for name, text in (("caller", self.caller()), ("empty", self.empty())):
            with open(f"{self.folder}/{name}.c", "w") as f: f.write(text)
        self.object("caller", "-O0")
        self.object("empty")
        self.object("m", "-fcallgraph-info=su")
        (flash, data), (flash_0, data_0) = self.image("m"), self.image("empty")
        stack, more = self.stack()
        return flash - flash_0, self.owned() + data - data_0 + stack, more


def draw_options(rng, arena, path):
    """Words for both the compiler and the report."""
    words, may = [], lambda share: rng.random() < share
    if may(0.3): words += ["--optimize", rng.choice(["size", "speed"])]
    if may(0.25): words += ["--combine", rng.choice(["all", "none"])]
    elif may(0.2): words += ["--ram", str(int(arena * rng.uniform(0.7, 1.5)) + 2000)]
    if may(0.4):
        for i in range(rng.randint(2, 3)):
            size = arena * 2 + 4096 if i == 0 else max(64, int(arena * rng.uniform(0.05, 1)))
            words += ["--memory", f"r{i}={size},cost={rng.randint(1, 9)}"
                      + rng.choice(["", ",line=32", ",align=64", ",line=16,copy=1"])]
        if may(0.6): words += ["--memory", "flash_1=16M,rom,cost=9"]
        if may(0.3): words += ["--io", "r0"]
    elif may(0.3): words += ["--io", "arena"]
    if may(0.2): words += ["--weights", "section=.rodata.w"]
    for option in ("--layers", "--no-shrink"):
        if may(0.1): words.append(option)
    if may(0.15): words += ["--float", "separate"]
    if may(0.15): words += ["--rounding", "single"]
    if may(0.1) and "--memory" not in words: words += ["--cores", str(rng.randint(2, 4))]
    if may(0.5) and "digits" in path and not {"--memory", "--ram", "--io", "--cores"} & set(words):
        words += ["--train", f"loss=cross_entropy optimizer=sgd(rate=0.01) update={rng.choice(['last', 'all'])}"]
    if may(0.3) and re.search("keywords|recurrent", path): words += ["--stream", "1=1"]
    return words


class Soak:
    def __init__(self, given):
        self.given, self.program = given, os.path.join(given.build, "loopwright")
        self.passed = self.failed = self.skipped = 0
        self.why = {}

    def report(self, model, words, folder):
        done = run([self.program, "report", model, *words, "--quiet", "-o", f"{folder}/r.json"])
        return done.returncode, done.stderr.strip(), json.load(open(f"{folder}/r.json")) if os.path.exists(
            f"{folder}/r.json") else None

    def verdict(self, model, words, limit):
        """True or false as --fit decides, or None."""
        done = run([self.program, "report", model, *words, "--quiet", "--fit", limit])
        if "does not fit" in done.stdout + done.stderr: return False
        return True if done.returncode == 0 else None

    def skip(self, why):
        self.skipped += 1
        self.why[why] = self.why.get(why, 0) + 1

    def one(self, number):
        rng = random.Random(f"{self.given.seed} {number}")
        model, (target, cc) = rng.choice(self.given.models), rng.choice(COMPILERS)
        level = rng.choice(["-O2", "-Os", "-O1"])
        with tempfile.TemporaryDirectory() as folder:
            _, _, plain = self.report(model, ["--target", target], folder)
            if not plain: return self.skip(f"{model} is refused")
            words = ["--target", target, *draw_options(rng, plain["totals"]["arena"], model)]
            done = run([self.program, model, *words, "--name", "m", "--quiet", "-o", f"{folder}/m.c"])
            command = f"--at {number}: {model} {shlex.join(words)} --cc '{cc} {level}'"
            if done.returncode: return self.skip(done.stderr.strip().splitlines()[-1][:160])
            firmware = Firmware(folder, cc, level, open(f"{folder}/m.h").read())
            try: flash, ram, more = firmware.measure()
            except RuntimeError as e:
                self.failed += 1
                print(f"FAULT {command}: {e}", flush=True)
                return
            self.compare(model, command, [*words, "--cc", f"{cc} {level}"], flash, ram, more, firmware)

    def compare(self, model, command, words, flash, ram, more, firmware):
        space, found = max(64, flash // 100), []
        asked = [(f"flash={flash + space},ram={ram + more}", True), (f"flash={flash + space},ram={ram - 1}", False),
                 (f"flash={flash - space},ram={ram + more}", False)]
        memories = [(name, int(size)) for name, size in re.findall(r"X\((\w+), (\d+), \d+\)", firmware.header)
                    if int(size) and "--memory" in words]
        if memories: asked.append((",".join(f"{name}={size}" for name, size in memories), True))
        for name, size in memories:
            if size > 1: asked.append((f"{name}={size - 1}", False))
        for limit, right in asked:
            if self.verdict(model, words, limit) != right: found.append(f"--fit {limit} must be {right}")
        if found:
            self.failed += 1
            done = run([self.program, "report", model, *words, "--quiet"])
            total = re.search(r"^in total .*|^error.*", done.stdout + done.stderr, re.M)
            print(f"FAULT {command}\n    " + "; ".join(found) + f"\n    {total.group(0) if total else ''}", flush=True)
        else: self.passed += 1


def main():
    p = argparse.ArgumentParser()
    p.add_argument("build")
    p.add_argument("models", nargs="*")
    p.add_argument("--count", type=int, default=100)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--seconds", type=float, default=0)
    p.add_argument("--at", type=int)
    given = p.parse_intermixed_args()
    soak, start, number = Soak(given), time.time(), 0
    if given.at is not None: soak.one(given.at)
    while given.at is None and soak.passed + soak.failed < given.count:
        if given.seconds and time.time() - start > given.seconds or number > 5 * given.count: break
        soak.one(number)
        number += 1
    for why, count in sorted(soak.why.items()): print(f"skip {count}: {why}")
    print(f"{soak.passed} passed, {soak.failed} failed, {soak.skipped} skipped")
    sys.exit(1 if soak.failed else 0)


if __name__ == "__main__":
    main()
