# SPDX-License-Identifier: MIT
"""Random models through the compiler, beside references that share nothing with it.

    python3 tests/soak/soak.py BUILD [--seed N] [--count N[,N,N]] [--seconds N] [--kinds graphs,operators,lite,sizes]
                               [--all] [--jobs N] [--at KIND:NUMBER] [--only PATTERN] [--crossings N] [--table FILE]
                               [--compare FILE]

BUILD has the program `soak-worker`, the compiler built with sanitizers. Everything follows from the seed and the number
of a model. Each model is compiled for two crossings (crossings.py) that its seed draws, with --all for every one; its C
is built by tcc, of a part by gcc or clang with sanitizers, and runs. The outputs are compared with ONNX Runtime without
optimizations, or the kernels of TensorFlow Lite Micro. Models of the kind `sizes` run on several inputs, twice with
different bytes in the memory that they are given, or with sanitizers and poisoned rows (redzones.py). Known differences
and refusals: known.py.

With --table the results of the kind `operators` are written as a page; --compare FILE compares it. The count `round`
has every operator with all kinds of values and sizes once.

A finding is a line with the kind and number of its model, which --at repeats, and the smallest model of it is written
to BUILD/soak. Ends with `N passed, N failed, N skipped`; status 1 if a model failed. Needs numpy, onnx, onnxruntime;
for the kind `lite` ai-edge-litert and tflite-micro.
"""
import argparse
import collections
import importlib
import multiprocessing
import multiprocessing.connection
import os
import re
import shutil
import subprocess
import sys
import time
import traceback

import numpy as np
import onnx

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import crossings
import judge
import known
import operators
import reduce
import reference
import table

KINDS = ["graphs", "operators", "lite", "sizes"]
SANITIZED_EVERY = {"sizes": 2}  # one build of so many, else 100, by gcc or clang with sanitizers
MOST_REDUCED = 3                # findings of one kind that are made smaller
PROGRESS = 50                   # models after which a line says so
TRIES = 20                      # draws for one number, if the reference refuses a model


class Result:
    def __init__(self, kind, number):
        self.kind, self.number, self.findings, self.counts, self.skipped = kind, number, [], collections.Counter(), ""
        self.cells = set()              # of a model of one operator: operator, type, values, sizes, what was found


class Soak:
    """One process: its folder, its compiler."""

    def __init__(self, wish, place):
        self.wish, self.folder = wish, os.path.join(wish.work, "work-%d-%d" % (os.getppid(), place))
        os.makedirs(self.folder, exist_ok=True)
        self.compiler = judge.Compiler(os.path.join(wish.build, "soak-worker"), self.folder)
        self.reduced = collections.Counter()

    def models(self, kind):
        return importlib.import_module(kind)

    def draw(self, kind, number, rng):
        """A case and what the reference gives."""
        source = self.models(kind)
        for _ in range(TRIES):
            case = source.draw(rng, number)
            if case is None: continue
            try:
                return case, case.expected()
            except reference.NoReference as why:
                self.why = str(why)
        return None, None

    def trial(self, case, expected, crossing, tool, rng, is_raw):
        """Raises a Finding; else returns what is to be counted. is_raw: known differences are findings, too."""
        judge.clean(self.folder)
        path = os.path.join(self.folder, case.file)
        with open(path, "wb") as f: f.write(case.bytes())
        judge.compile_model(self.compiler, path, self.folder, crossing, case.words)
        results = set()
        is_sanitized = tool != self.wish.fast
        for fill in case.fills[:1] if is_sanitized else case.fills:
            case.prepare(self.folder, fill, is_sanitized)
            program = judge.build(self.folder, tool, crossing.target)
            for sample, wanted in zip(case.samples, expected):
                got = judge.outputs_of(program, sample.feeds.values(), len(case.outputs), fill)
                results.add(self.judged(sample, got, wanted, rng, is_raw))
        return next((r for r in sorted(results) if r != "equal"), "equal")

    def judged(self, case, got, expected, rng, is_raw):
        unread = known.unread(case.model, case.why) if got and expected is None and not is_raw else None
        if unread: return "known: " + unread
        if (got is None) != (expected is None):
            raise judge.Finding("wrong", "an error is expected" if got else "an error that the reference does not have")
        if got is None: return "an error, as expected"
        try:
            is_rounded = judge.compare(got, expected, case.outputs, lambda: case.measured(expected, rng))
        except judge.Finding:
            row = known.difference(case.model, case.feeds, case.by)
            if is_raw or not row or not known.is_within(row, got, expected): raise
            return "known: " + row.reason
        return "decided by rounding" if is_rounded else "equal"

    def verdict(self, case, expected, crossing, tool, rng, is_raw=False):
        """The Finding, or what is to be counted."""
        try:
            return None, self.trial(case, expected, crossing, tool, rng, is_raw)
        except judge.Finding as finding:
            reason = known.refusal(finding.why) if finding.kind == "refused" else None
            return (None, "refused: " + reason) if reason else (finding, "")

    def one(self, kind, number):
        result = Result(kind, number)
        seeds = [self.wish.seed, 1 + KINDS.index(kind), number]
        rng = np.random.default_rng(seeds)
        case, expected = self.draw(kind, number, rng)
        if case is None:
            result.skipped = "the reference refuses its models: " + getattr(self, "why", "")[:150]
            return result
        if self.wish.only and not re.search(self.wish.only, case.label): return result
        chosen = (crossings.every(rng, self.wish.targets) if self.wish.all
                  else [crossings.draw(rng, self.wish.targets) for _ in range(self.wish.crossings)])
        for i, crossing in enumerate(chosen):
            tool = self.tool(kind, number * len(chosen) + i)
            finding, counted = self.verdict(case, expected, crossing, tool, np.random.default_rng(seeds))
            result.counts[counted or finding.kind] += 1
            result.counts["by " + tool] += 1
            result.counts["for " + crossing.target] += 1
            if kind == "operators":
                result.cells.add((case.operator, case.type, case.values, case.sizes, counted or "found"))
            if not finding: continue
            small, place = self.keep(case, crossing, tool, finding, seeds)
            row = known.difference(small.model, small.samples[0].feeds, small.by) if finding.kind == "wrong" else None
            if row: result.counts["known: " + row.reason] += 1
            else: result.findings.append("%s:%d %s, %s, %s: %s: %s; %s" % (kind, number, case.label, crossing, tool,
                                         finding.kind, finding.why, place))
        return result

    def tool(self, kind, turn):
        tools, every = self.wish.sanitizers, SANITIZED_EVERY.get(kind, 100)
        if tools and turn % every == every - 1: return tools[turn // every % len(tools)]
        return self.wish.fast

    def keep(self, case, crossing, tool, finding, seeds):
        """Writes the smallest model of the finding; returns it and where."""
        essence = finding.kind + re.sub(r"[\d.e+-]+|'[^']*'", "#", finding.why)[-120:]
        self.reduced[essence] += 1
        if self.reduced[essence] > MOST_REDUCED and finding.kind != "wrong": return case, ""

        def fails(small):
            try:
                expected = small.expected()
            except reference.NoReference:
                return False
            found, _ = self.verdict(small, expected, crossing, tool, np.random.default_rng(seeds), True)
            return found is not None and found.kind == finding.kind
        small = case.reduced(fails)
        folder = os.path.join(self.wish.work, "found", "%d-%s-%d-%s" % (*seeds[:1], seeds[1], seeds[2], finding.kind))
        os.makedirs(folder, exist_ok=True)
        path = os.path.join(folder, case.file)
        with open(path, "wb") as f: f.write(small.bytes())
        for i, sample in enumerate(small.samples):
            for name, x in sample.feeds.items():
                judge.save(os.path.join(folder, "%s%s.npy" % (re.sub(r"\W", "_", name), "_%d" % i * (i > 0))), x)
        with open(os.path.join(folder, "README"), "w") as f:
            f.write("%s\n%s\n%s: %s\n%s\n" % (case.label, crossing, finding.kind, finding.why, small.text()))
        return small, path


def work(wish, place, pipe):
    """A process: sends the Result of each item that it receives."""
    os.environ["OMP_NUM_THREADS"] = "1"
    soak = Soak(wish, place)
    while True:
        item = pipe.recv()
        try:
            result = soak.one(*item)
        except Exception:
            result = Result(*item)
            result.findings.append("%s:%d the soak itself: %s" % (*item, traceback.format_exc()))
        pipe.send(result)


class Worker:
    """A process that works on one item. A reference that aborts ends its process, not the soak: the item is tried once
    more in a new process, then it has no reference."""

    def __init__(self, wish, place):
        self.wish, self.place, self.item = wish, place, None
        self.begin()

    def begin(self):
        context = multiprocessing.get_context("fork")
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(target=work, args=(self.wish, self.place, theirs), daemon=True)
        self.process.start()
        theirs.close()

    def give(self, item):
        self.item, self.is_second = item, False
        self.pipe.send(item)

    def result(self):
        """None while the item is tried again."""
        try:
            return self.pipe.recv()
        except EOFError:
            pass
        self.process.join()
        self.begin()
        if not self.is_second:
            self.is_second = True
            self.pipe.send(self.item)
            return None
        result = Result(*self.item)
        result.skipped = "the reference aborts"
        return result


def results(wish, todo):
    workers, rest = [Worker(wish, place) for place in range(min(wish.jobs, len(todo)))], iter(todo)
    for worker in workers: worker.give(next(rest))
    busy = {worker.pipe: worker for worker in workers}
    while busy:
        for pipe in multiprocessing.connection.wait(list(busy)):
            worker = busy.pop(pipe)
            result = worker.result()
            if result:
                yield result
                item = next(rest, None)
                if item is None: continue
                worker.give(item)
            busy[worker.pipe] = worker


def parsed():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", default="300")
    parser.add_argument("--seconds", type=float, default=0)
    parser.add_argument("--kinds", default=",".join(KINDS))
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--crossings", type=int, default=2)
    parser.add_argument("--table", default="")
    parser.add_argument("--compare", default="")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--at", default="")
    parser.add_argument("--only", default="")
    parser.add_argument("--targets", default="")
    parser.add_argument("--work", default="")
    wish = parser.parse_args()
    wish.work = wish.work or os.path.join(wish.build, "soak")
    wish.fast = "tcc" if shutil.which("tcc") else os.environ.get("CC", "cc")
    wish.sanitizers = [t for t in ("clang", "gcc") if shutil.which(t)]
    wish.targets = wish.targets.split(",") if wish.targets else targets_of(wish.build)
    return wish


def listed(build, words):
    """The first words of the rows that a command prints."""
    text = subprocess.run([os.path.join(build, "soak-worker"), os.path.join(build, "listed.log")], input=words + "\n",
                          text=True, capture_output=True).stdout
    return [line.split()[0] for line in text.split("\n\n")[0].splitlines()[1:] if line.split()]


def targets_of(build):
    """Those whose C runs here: an AVR's constants are in another memory."""
    return [name for name in listed(build, "targets") if name != "avr"]


def items(wish, kinds):
    if wish.at:
        kind, number = wish.at.split(":")
        return [(kind, int(number))]
    given = dict(zip(wish.kinds.split(","), wish.count.split(",") * len(KINDS)))
    counts = {
    kind: importlib.import_module(kind).ROUND if given[kind] == "round" else int(
        given[kind]) for kind in kinds}
    return [(kind, n) for n in range(wish.first, wish.first + max(counts.values())) for kind in kinds
            if n - wish.first < counts[kind]]


def available(kinds):
    """The kinds whose packages are installed; the reasons of the others."""
    good, bad = [], []
    for kind in kinds:
        try:
            importlib.import_module(kind)
            good.append(kind)
        except ImportError as e:
            bad.append("skip soak-%s: %s; pip install -r tests/requirements.txt" % (kind, e))
    return good, bad


def main():
    wish = parsed()
    os.makedirs(wish.work, exist_ok=True)
    kinds, missing = available(wish.kinds.split(","))
    print("\n".join(missing), end="\n" if missing else "", flush=True)
    unlisted = operators.unlisted(listed(wish.build, "ops\t--onnx")[:-1]) if "operators" in kinds else []
    if unlisted: print("not ok soak-every-operator: neither drawn nor omitted: " + ", ".join(unlisted))
    counts, done, failed, skipped = (collections.Counter() for _ in range(4))
    todo, cells, started = items(wish, kinds), set(), time.time()
    for result in results(wish, todo):
        counts += result.counts
        cells |= result.cells
        done[result.kind] += 1
        if result.skipped: skipped[result.skipped] += 1
        failed[result.kind] += bool(result.findings)
        for finding in result.findings: print("found", finding, flush=True)
        if sum(done.values()) % PROGRESS == 0:
            print("    %d models, %.0f s" % (sum(done.values()), time.time() - started), flush=True)
        if wish.seconds and time.time() - started > wish.seconds: break
    page = table.page(cells)
    if wish.table:
        with open(wish.table, "w") as f: f.write(page)
    is_same = not wish.compare or open(wish.compare).read() == page
    if wish.compare:
        with open(os.path.join(wish.work, "special-values.md"), "w") as f: f.write(page)
        print("ok soak-special-values" if is_same else
              "not ok soak-special-values: %s differs from %s/special-values.md; `make special-values` renews it"
              % (wish.compare, wish.work))
    others = (not is_same) + bool(unlisted)
    return report(wish, kinds, done, failed, skipped, counts, len(missing), time.time() - started, others)


def report(wish, kinds, done, failed, skipped, counts, missing, seconds, others):
    for kind in kinds:
        why = "%d of %d models, seed %d" % (failed[kind], done[kind], wish.seed)
        print("not ok soak-%s: %s" % (kind, why) if failed[kind] else "ok soak-%s" % kind)
    for what, n in sorted(counts.items()):
        if not what.startswith("for "): print("    %6d %s" % (n, what))
    for what, n in skipped.most_common(20): print("    %6d models not drawn: %s" % (n, what.replace("\n", " ")))
    print("%d models in %.0f s, seed %d" % (sum(done.values()), seconds, wish.seed))
    bad = sum(1 for k in kinds if failed[k]) + others
    print("%d passed, %d failed, %d skipped" % (max(0, len(kinds) + bool(wish.compare) - bad), bad, missing))
    return bad > 0


if __name__ == "__main__":
    sys.exit(main())
