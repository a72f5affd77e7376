# SPDX-License-Identifier: MIT
"""Random memories for recorded models: each model, with random --memory options, returns the bytes of one arena.

    python3 tests/soak/memories.py BUILD [--sets N] [--seed N] [--seconds N] [--sanitize N] [--cc CMD] [--at N] MODEL..

For each model N random sets of memories are drawn: two to five RAMs whose bytes together are near those of the arena,
with random costs, kinds, alignments, lines, channels and sections, up to two roms, and options that go with them.
`loopwright verify` compiles, builds and runs the model with each set, as it is and with copies that the waits execute.
It fails if an output differs from the interpreter's or if one of the guard bytes around each memory is written. The
outputs of all runs must have the bytes of the model with one arena. One set of `--sanitize N` is built with gcc's
sanitizers, the others by CMD. A set that the compiler refuses is drawn again, larger; the refusal is a fault if one of
the RAMs alone holds the arena, or if it lacks the missing bytes.

A fault is a line with the number of its set, which --at repeats, and the words of the command. Ends with
`N passed, N failed, N skipped`; status 1 if a set failed."""
import argparse
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time

TARGETS = ["generic", "cortex-m4", "cortex-m7", "cortex-m55", "cortex-m0plus", "rv32imc", "xtensa"]
SANITIZED = "gcc -O1 -fsanitize=address,undefined -fno-sanitize-recover=all"
RUNNER = """#!/bin/sh
# runner SUMS PROGRAM FILE..: runs the program, and adds a line with the checksums of all files to SUMS.
sums=$1
shift
"$@" || exit
shift
for file; do cksum < "$file"; done | tr '\\n' ' ' >> "$sums"
echo >> "$sums"
"""
TRIES = 30                      # draws of one set, if the compiler refuses it


class Soak:
    def __init__(self, given):
        self.given, self.program = given, os.path.join(given.build, "loopwright")
        self.folder = tempfile.mkdtemp(prefix="memories")
        self.runner, self.sums = os.path.join(self.folder, "runner"), os.path.join(self.folder, "sums")
        with open(self.runner, "w") as f: f.write(RUNNER)
        os.chmod(self.runner, 0o755)
        known = subprocess.run([self.program, "targets"], capture_output=True, text=True).stdout
        self.targets = [t for t in TARGETS if re.search(rf"^{t}\b", known, re.M)]
        self.passed = self.failed = self.skipped = self.refused = 0

    def run(self, *words):
        words = [self.program, *map(str, words)]
        done = subprocess.run(words, capture_output=True, text=True, errors="replace")
        return done.returncode, done.stdout + done.stderr, " ".join(words)

    def verify(self, model, words, cc):
        """Returns the status, the text, the command, and the sums of each run."""
        if os.path.exists(self.sums): os.remove(self.sums)
        found = self.run("verify", model, *words, "--quiet", "--cc", cc, "--runner", f"{self.runner} {self.sums}",
                         "--timeout", 300)
        lines = open(self.sums).read().splitlines() if os.path.exists(self.sums) else []
        return (*found, lines)

    def arena(self, model, words):
        path = os.path.join(self.folder, "r.json")
        status, text, _ = self.run("report", model, *words, "--quiet", "-o", path)
        if status: return None
        totals = json.load(open(path))["totals"]
        return totals["arena"], totals["weights"], totals["ram"] - totals["arena"]


def near(rng, bytes):
    """A size whose logarithm is near that of the bytes."""
    return max(16, int(bytes * 2 ** rng.uniform(-4, 1)))


def draw_ram(rng, name, bytes):
    words = [f"{name}={bytes}", f"cost={rng.choice([1, 1, 2, 4, '0.5', '1.5/3', 9, 0])}"]
    line = rng.choice([0, 0, 0, 4, 16, 32, 64, 256])
    if line: words.append(f"line={line}")
    if line and rng.random() < 0.7: words.append(f"copy={rng.randint(0, 3)}")
    if rng.random() < 0.2: words.append(f"align={rng.choice([8, 32, 128, 1024])}")
    if rng.random() < 0.2: words.append("for=" + rng.choice(["results", "scratch", "weights", "results,scratch",
                                                             "scratch,weights"]))
    if rng.random() < 0.3: words.append(f"section=.{name}")
    return ",".join(words)


def draw_set(rng, arena, weights, ports, larger):
    """Returns the words, and the RAMs that hold any data in at least the bytes of the arena."""
    count, words, enough = rng.randint(2, 5), [], []
    last = rng.randrange(count)
    for i in range(count):
        bytes = int(arena * rng.uniform(0.5, 1.2) * larger) if i == last else near(rng, arena)
        ram = draw_ram(rng, f"m{i}", max(bytes, 16))
        words += ["--memory", ram]
        if bytes > arena * 1.1 + 4096 and not re.search("for=|align=|line=", ram): enough.append(ram)
    roms = rng.choice([0, 1, 1, 1, 2])
    for i in range(roms):
        size = (weights * 2 if i + 1 == roms else weights // rng.randint(1, 8)) + 65536
        words += ["--memory", f"r{i}={size},rom,cost={rng.choice([1, 3, 8, 20, '0.2'])}"
                  + (f",section=.r{i}" if rng.random() < 0.2 else "")]
    if rng.random() < 0.25: words.append("--static-arena")
    elif rng.random() < 0.25: words += ["--io", f"m{rng.randrange(count)}"]
    if "--io" in words: enough = []
    if rng.random() < 0.2: words += ["--ram", str(int(arena * rng.uniform(0.7, 1.3) * larger) + ports)]
    if rng.random() < 0.3 and roms == 1: words += ["--weights", rng.choice(["bin", "section=.rodata"])]
    return words, enough


class OfModel:
    """The sets of one model."""
    def __init__(self, soak, path):
        self.soak, self.path, self.known = soak, path, {}

    def alone(self, words):
        """Returns the arena, the weights and the sums of the model with one arena, or None if it is refused."""
        key = " ".join(words)
        if key not in self.known:
            sizes = self.soak.arena(self.path, words)
            status, text, command, sums = self.soak.verify(self.path, words, self.soak.given.cc)
            self.known[key] = None if status or not sizes or not sums else (*sizes, sums[0])
            if self.known[key] is None: self.why = text.strip().splitlines()[-1:] or ["no output"]
        return self.known[key]

    def fault(self, number, command, text):
        self.soak.failed += 1
        print(f"FAULT {self.path} --at {number}: {command}\n    " + "\n    ".join(text.strip().splitlines()[-6:]),
              flush=True)

    def judge(self, number, found, sums, enough):
        """Returns True if the set is done, False if it is drawn again."""
        status, text, command, lines = found
        refusal = "--memory: at layer" in text
        if "--ram " in text and "within --ram" not in text and status == 1: return False
        if "within --ram" in text: enough = []
        if refusal and not enough and " 0 are missing" not in text and "-" not in text.split(" are missing")[0][-12:]:
            self.soak.refused += 1
            return False
        if "no --memory is for" in text: return False
        if status or not lines: self.fault(number, command, text)
        elif any(line != sums for line in lines): self.fault(number, command, "the bytes are not those of one arena")
        else: self.soak.passed += 1
        return True

    def one(self, number):
        rng = random.Random(f"{self.soak.given.seed} {os.path.basename(self.path)} {number}")
        base = ["--target", rng.choice(self.soak.targets)]
        if rng.random() < 0.2: base += ["--optimize", rng.choice(["size", "speed"])]
        if not self.alone(base): return False
        arena, weights, ports, sums = self.alone(base)
        sanitized = self.soak.given.sanitize and number % self.soak.given.sanitize == 0
        cc = SANITIZED if sanitized else self.soak.given.cc
        if sanitized and sums is not None: sums = self.sanitized(base)
        for i in range(TRIES):
            words, enough = draw_set(rng, arena, weights, ports, 1 + 0.2 * i)
            if self.judge(number, self.soak.verify(self.path, base + words, cc), sums, enough): return True
        self.soak.failed += 1
        print(f"FAULT {self.path} --at {number}: no set of {TRIES} is accepted", flush=True)
        return True

    def sanitized(self, words):
        """Another compiler may evaluate floats in its own way, so its sums are those of its own run."""
        key = "sanitized " + " ".join(words)
        if key not in self.known:
            found = self.soak.verify(self.path, words, SANITIZED)
            self.known[key] = found[3][0] if found[3] else None
        return self.known[key]


def main():
    p = argparse.ArgumentParser()
    p.add_argument("build")
    p.add_argument("models", nargs="*")
    p.add_argument("--sets", type=int, default=50)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--seconds", type=float, default=0)
    p.add_argument("--sanitize", type=int, default=10)
    p.add_argument("--at", type=int)
    p.add_argument("--cc", default="tcc -w" if shutil.which("tcc") else "cc -O0")
    given = p.parse_intermixed_args()
    soak, start = Soak(given), time.time()
    for path in given.models:
        of, before, began = OfModel(soak, path), soak.passed, time.time()
        for number in [given.at] if given.at is not None else range(given.sets):
            if given.seconds and time.time() - start > given.seconds: break
            if not of.one(number):
                soak.skipped += 1
                print(f"skip {path}: {of.why[0]}", flush=True)
                break
        else:
            print(f"{path}: {soak.passed - before} sets, {time.time() - began:.0f} s", flush=True)
    shutil.rmtree(soak.folder)
    print(f"{soak.refused} sets had too few bytes and were drawn again")
    print(f"{soak.passed} passed, {soak.failed} failed, {soak.skipped} skipped")
    sys.exit(1 if soak.failed else 0)


if __name__ == "__main__":
    main()
