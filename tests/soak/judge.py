# SPDX-License-Identifier: MIT
"""Compiles a model, builds and runs its C, and compares the outputs with the reference's."""
import os
import re
import shutil
import signal
import subprocess

import numpy as np

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
RUNTIME = os.path.join(ROOT, "runtime")
TCC_LACKS = "initializer element is not constant"       # tcc 0.9.27 does not fold -INFINITY
NAMES = {"c": "model.c", "main": "model_main.c"}
SANITIZED = ["-O0", "-g1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-fno-omit-frame-pointer"]
# Of the vector targets whose code this processor may run: the flags of
# the C compiler, and what /proc/cpuinfo calls them.
FLAGS = {"x86": (["-msse4.1"], "sse4_1"), "x86-avx2": (["-mavx2", "-mfma"], "avx2 fma"), "x86-avx512": (["-mavx2",
                 "-mfma", "-mavx512f", "-mavx512bw", "-mavx512vl", "-mavx512dq"], "avx512f avx512bw avx512vl avx512dq")}
# Floats agree within ABSOLUTE + RELATIVE * |expected|; what a computation of rounded intermediate values leaves open is
# measured (see `undetermined` in reference.py).
TOLERANCE = {"float64": (1e-9, 1e-7), "float32": (1e-5, 1e-5), "float16": (2e-3, 2e-3), "bfloat16": (1e-2, 1e-2)}


class Finding(Exception):
    """What is wrong: kind is wrong, refused, crash, build or run."""

    def __init__(self, kind, why):
        super().__init__(why)
        self.kind, self.why = kind, why


class Compiler:
    """The process of tests/soak/worker.c; a new one after a crash."""

    def __init__(self, program, folder):
        self.program, self.log, self.process = program, os.path.join(folder, "compiler.log"), None

    def start(self):
        open(self.log, "w").close()
        environment = dict(os.environ, ASAN_OPTIONS="detect_leaks=0:allocator_may_return_null=1:quarantine_size_mb=1",
                           UBSAN_OPTIONS="print_stacktrace=1")
        self.process = subprocess.Popen([self.program, self.log], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        env=environment)

    def run(self, words):
        """Status and diagnostics; a Finding if the process ends."""
        if not self.process: self.start()
        try:
            self.process.stdin.write(("\t".join(words) + "\n").encode())
            self.process.stdin.flush()
            answer = self.process.stdout.readline()
        except BrokenPipeError:
            answer = b""
        with open(self.log, errors="replace") as f: text = f.read()
        if answer: return int(answer), text
        status = self.process.wait()
        self.process = None
        raise Finding("crash", "the compiler ended with status %d: %s" % (status, summary(text)))

    def stop(self):
        if self.process:
            self.process.stdin.close()
            self.process.wait()
            self.process = None


def summary(text):
    """Of a sanitizer's report: what, and the functions."""
    what = re.search(r"runtime error: .*|ERROR: AddressSanitizer:? .*|internal error: .*", text)
    frames = re.findall(r"#\d+ 0x[0-9a-f]+ in (\S+)", text)[:6]
    return (what.group(0)[:200] if what else text.strip()[-300:]) + (" in " + " < ".join(frames) if frames else "")


def asked_for(compiler, words, maxima):
    """The options that the diagnostics ask for, one after another: what they name has to be accepted."""
    given, options = [], dict(zip((m.split("<=")[0] for m in maxima[1::2]), maxima[1::2]))
    while options:
        asked = re.search(r"--dim '([^'<]+)<=N'", compiler.run(words + given)[1])
        if not asked or asked.group(1) not in options: break
        given += ["--dim", options.pop(asked.group(1))]
    return given


def compile_model(compiler, path, folder, crossing, maxima):
    """maxima: options for sizes whose maximum does not follow."""
    words = [path, "-o", os.path.join(folder, NAMES["c"]), "--name", "m", "--testbench"]
    words += asked_for(compiler, words, maxima)
    if crossing.options.get("checks"): words = ["LOOPWRIGHT_CHECK=" + crossing.options.pop("checks")] + words
    least = None
    if crossing.needs_least:
        status, text = compiler.run(words + ["--ram", "1", "--target", crossing.target])
        found = re.search(r"the smallest plan needs (\d+) bytes", text)
        if "internal error" in text: raise Finding("crash", text.strip())
        if status and not found: raise Finding("refused", text.strip())
        least = int(found.group(1)) if found else 1
    status, text = compiler.run(words + crossing.words(least))
    if status == 2: raise Finding("usage", text.strip())
    if status and crossing.needs_least and "the smallest plan needs" in text:     # other options need more
        least = int(re.search(r"the smallest plan needs (\d+) bytes", text).group(1))
        status, text = compiler.run(words + crossing.words(least))
    if status and "internal error" in text: raise Finding("crash", text.strip())
    if status: raise Finding("refused", text.strip())


def has(features, _found=[]):
    if not _found:
        try:
            with open("/proc/cpuinfo") as f: _found.append(set(re.search(r"flags\s*:(.*)", f.read()).group(1).split()))
        except (OSError, AttributeError):
            _found.append(set())
    return set(features.split()) <= _found[0]


def build(folder, tool, target):
    """Returns the program."""
    program = os.path.join(folder, "model")
    files = ["-I" + RUNTIME, *(os.path.join(folder, NAMES[n]) for n in ("c", "main")), "-lm", "-o", program]
    flags, features = FLAGS.get(target, ([], ""))
    how = ["-std=c99", *SANITIZED, "-ffp-contract=off", *(flags if has(features) else [])]
    try:
        run_program([*tool.split(), "-w", *(how if tool != "tcc" else []), *files], "build", 300)
    except Finding as finding:
        if tool != "tcc" or TCC_LACKS not in finding.why: raise
        return build(folder, "cc", target)
    return program


def run_program(words, what, seconds, fill=0):
    environment = dict(os.environ, ASAN_OPTIONS="detect_leaks=0", UBSAN_OPTIONS="print_stacktrace=1", FILL=str(fill))
    try:
        done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=seconds, env=environment,
                              close_fds=False)
    except subprocess.TimeoutExpired:
        raise Finding(what, "takes more than %d seconds" % seconds)
    if done.returncode:
        raise Finding(what, "status %d: %s" % (done.returncode, summary(done.stdout.decode(errors="replace"))))


def save(path, array):
    """As test benches read it: bfloat16 as its bits."""
    array = np.asarray(array)
    np.save(path, array.view(np.uint16) if array.dtype.name == "bfloat16" else array)


def outputs_of(program, inputs, count, fill=0):
    """None: data decided a size that the model cannot take."""
    folder = os.path.dirname(program)
    ins, outs = ([os.path.join(folder, "%s%d.npy" % (what, i)) for i in range(n)]
                 for what, n in (("in", len(inputs)), ("out", count)))
    for path, x in zip(ins, inputs): save(path, x)
    for out in outs:
        if os.path.exists(out): os.remove(out)
    try:
        run_program([program, *ins, *outs], "run", 60, fill)
    except Finding as finding:
        if "M_E_SIZE" not in finding.why: raise
        return None
    return [np.load(out) for out in outs]


def differing(got, expected, more=0.0):
    """A mask of the elements that differ by more than the tolerance and `more`."""
    name = expected.dtype.name
    if got.dtype == np.uint16 and name == "bfloat16": got = got.view(expected.dtype)
    if got.dtype != expected.dtype: raise Finding("wrong", "has the type %s, not %s" % (got.dtype, expected.dtype))
    if name not in TOLERANCE: return got != expected
    absolute, relative = TOLERANCE[name]
    g, e = got.astype(np.float64), expected.astype(np.float64)
    with np.errstate(all="ignore"):
        near = np.abs(g - e) <= absolute + relative * np.abs(e) + more
    return ~((g == e) | near | (np.isnan(g) & np.isnan(e)))


def compare(got, expected, names, measured):
    """Raises the first difference; else returns whether rounding decided an element. measured() gives two lists: masks
    of the elements that rounding of intermediate values decides, and how far it moves the others."""
    masks = None
    for i, (g, e, name) in enumerate(zip(got, expected, names)):
        if g.shape != e.shape: raise Finding("wrong", "%s has the shape %s, not %s" % (name, g.shape, e.shape))
        if not differing(g, e).any(): continue
        masks, spread = measured() if masks is None else (masks, spread)
        wrong = differing(g, e, spread[i]) & ~masks[i]
        if not wrong.any(): continue
        at = tuple(int(n) for n in np.argwhere(wrong)[0])
        raise Finding("wrong", "%s%s is %s, and %s is expected; %d of %d elements differ"
                      % (name, list(at), g[at], e[at], wrong.sum(), wrong.size))
    return masks is not None


def clean(folder):
    for name in os.listdir(folder):
        path = os.path.join(folder, name)
        if name != "compiler.log": shutil.rmtree(path) if os.path.isdir(path) else os.remove(path)
