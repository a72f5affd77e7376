#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Models of public repositories, unchanged: compiled, built with a C compiler, run on random inputs, and compared.

    python3 tests/public.py BUILD DIR [PATTERN] [--table FILE]
    python3 tests/public.py BUILD DIR [PATTERN] --verify [--table FILE]

Needs onnx, onnxruntime, numpy; for .tflite ai-edge-litert and tflite-micro.

BUILD holds the program `loopwright`. DIR holds the models, which are no part of the project: DIR/OWNER/NAME/PATH for
the rows of tests/models/public.txt (a clone of each repository, or the files alone). PATTERN is part of the paths to be
tried.
What is not there is skipped. Status 1: something that is there did not pass.

The inputs are drawn from a normal distribution, or as the row says, with a seed of the row's own. An output agrees when
no element is further off than 1e-6 plus 1e-4 of the largest absolute value that ONNX Runtime gives for that output
(with and without its own optimizations, it differs from itself by as much as that where scores are nearly zero). TFLite
models are compared with the reference kernels of TensorFlow Lite Micro, or, where it has none for them, of TensorFlow
Lite: integers must be the same. --table writes what happened as a page. With --verify each is verified instead: its C
beside the model as imported, on generated inputs.
"""
import argparse
import os
import re
import subprocess
import sys
import time
import zlib

import numpy as np
import onnx
import onnxruntime

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
ROWS = os.path.join(ROOT, "tests", "models", "public.txt")
NEAR, TINY = 1e-4, 1e-2            # TINY is added to the largest value, so that 1e-6 is allowed where all are zero
INTRODUCTION = """<!-- Made by tests/public.py, from tests/models/public.txt; not to be edited. -->
# Models of public repositories

Networks as their authors published them, not changed and not simplified. Each was emitted, built with `gcc -O2`, run on
random inputs and compared with ONNX Runtime, or, for TFLite, with the reference kernels of TensorFlow Lite Micro (or of
TensorFlow Lite, where that has none): *off by* is the largest difference of any output element, as a part of that
output's largest absolute value plus 0.01; 1e-4 is allowed for floats, nothing for integers. None of the models is in
this project. To try them, put the files into `DIR/OWNER/NAME/PATH` and run `python3 tests/public.py build DIR --table
tests/models/PUBLIC.md`.

These networks showed what the project's own models did not have. A dimension may be named by a formula, such as the
transformer's `past_sequence_length + sequence_length`; it follows from the sizes that are given to its parts
(`emitter/import/onnx/file/dim_formula.c`). TFLite files have layers of one channel (on Arm), biases that name the axis
of their weights, unsigned bytes between real and stored numbers, 16-bit float or 8-bit weights under real inputs, and
shapes that the converter left as chains of constants. All other files passed when they were first tried, except those
that are refused below. 8-bit weights under real inputs count as the numbers that they stand for; TensorFlow Lite also
rounds inputs to 8 bits, so such models have no row.

| kind | repository | file | nodes | with | off by | what happened |
|---|---|---|---|---|---|---|
"""


VERIFIED = """<!-- Made by tests/public.py --verify, from tests/models/public.txt; not to be edited. -->
# Public networks, verified

`loopwright verify` of networks as their authors published them: the emitted C beside the
[model as imported](../../docs/verifying.md#the-reference), on generated inputs. Integers are equal; *within the
tolerance* are floats whose rounding folded scales move. None of the files is in this project. To try them, put them
into `DIR/OWNER/NAME/PATH` and run `python3 tests/public.py build DIR --verify --table tests/models/VERIFIED.md`.

| kind | repository | file | with | elements | differ | verdict |
|---|---|---|---|---|---|---|
"""


class Row:
    def __init__(self, line):
        self.kind, self.repository, self.path, options = (field.strip() for field in line.split("|"))
        self.options, self.dims, self.values, self.ranges = options, {}, {}, {}
        self.status, self.off, self.nodes = "not there", None, 0
        self.elements = self.differ = 0          # of the outputs, with --verify
        for option in options.split():
            if ":=" in option:
                name, value = option.split(":=")
                self.values[name] = int(value)
            elif "~" in option:
                name, ends = option.split("~")
                self.ranges[name] = tuple(int(e) for e in ends.split(".."))
            else:
                name, value = option.split("=")
                self.dims[name] = int(value)

    def file(self, folder):
        return os.path.join(folder, self.repository.split(" ")[0], self.path)


def size(text, dims):
    """A dimension's size: a number, a name that the row fixes, or a sum of such."""
    return sum(int(part) if part.strip().isdigit() else dims[part.strip()] for part in str(text).split("+"))


def shape(info, dims):
    found = []
    for axis, d in enumerate(info.type.tensor_type.shape.dim):
        given = dims.get("%s.%d" % (info.name, axis))
        found.append(given if given is not None else size(d.dim_param or d.dim_value, dims))
    return found


def draw(row, info, random):
    kind = onnx.helper.tensor_dtype_to_np_dtype(info.type.tensor_type.elem_type)
    if info.name in row.values:
        return np.array(row.values[info.name], kind)
    if info.name in row.ranges:
        return random.integers(*row.ranges[info.name], shape(info, row.dims)).astype(kind)
    return random.standard_normal(shape(info, row.dims)).astype(kind)


def run(command, seconds):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=seconds, errors="replace")
    return done.returncode, done.stdout


def first_reason(text):
    line = next((l for l in text.splitlines() if "error: " in l or "unsupported: " in l), text.strip()[:200])
    return re.sub(r"^.*?(error|unsupported): ", "", line)


def compile_model(program, row, path, work):
    command = [program, path, "-o", os.path.join(work, "m.c"), "--name", "m", "--testbench", "--quiet"]
    for name, n in row.dims.items():
        command += ["--dim", "%s=%d" % (name, n)]
    for name in row.values:
        command += ["--value", "%s=%s" % (name, os.path.join(work, name + ".npy"))]
    status, text = run(command, 300)
    if status:
        return ("refused: " + first_reason(text).split("; accepted")[0] if status == 1
                else "the compiler ended with status %d" % status)
    status, text = run(os.environ.get("CC", "gcc").split() + ["-std=c99", "-O2", "-I" + os.path.join(ROOT, "runtime"),
        os.path.join(work, "m.c"),
                       os.path.join(work, "m_main.c"), "-lm", "-o", os.path.join(work, "m")], 600)
    return "its C does not build: " + first_reason(text) if status else ""


def compare(found, wanted):
    """The largest difference as a part of the largest value; values that are not finite must agree in position."""
    if found.shape != wanted.shape or found.dtype != wanted.dtype:
        return float("inf")
    found, wanted = found.astype(np.float64), wanted.astype(np.float64)
    if not np.array_equal(np.isfinite(found), np.isfinite(wanted)):
        return float("inf")
    difference = np.where(np.isfinite(wanted), found - wanted, 0)
    largest = np.max(np.abs(np.where(np.isfinite(wanted), wanted, 0)), initial=0)
    return float(np.max(np.abs(difference), initial=0) / (largest + TINY))


def onnx_case(row, path, random):
    """The inputs by their names, and the function that computes the outputs."""
    model = onnx.load(path)
    constant = {t.name for t in model.graph.initializer}
    row.nodes = len(model.graph.node)
    inputs = {i.name: draw(row, i, random) for i in model.graph.input if i.name not in constant}
    return inputs, lambda: onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"]).run(None, inputs)


def run_micro(path, inputs, outputs):
    from tflite_micro import runtime
    micro = runtime.Interpreter.from_file(path, arena_size=1 << 26)
    for k, value in enumerate(inputs.values()):
        micro.set_input(value, k)
    micro.invoke()
    return [np.array(micro.get_output(k)) for k in range(outputs)]


def tflite_case(row, path, random):
    from ai_edge_litert import interpreter, schema_py_generated as schema
    with open(path, "rb") as f:
        file = schema.ModelT.InitFromObj(schema.Model.GetRootAs(f.read(), 0))
    graph, kinds = (file.subgraphs[0],
                    {code: name for name, code in vars(schema.TensorType).items() if isinstance(code, int)})
    row.nodes, inputs = len(graph.operators), {}
    for t in (graph.tensors[k] for k in graph.inputs):
        kind, size = np.dtype(kinds[t.type].lower()), list(t.shape)
        inputs[(t.name or b"").decode().split(";")[0]] = (random.standard_normal(size).astype(kind) if kind.kind == "f"
                                                          else random.integers(
            np.iinfo(kind).min, int(np.iinfo(kind).max) + 1, size).astype(kind))

    def run_lite():
        lite = interpreter.Interpreter(path, experimental_op_resolver_type=interpreter.OpResolverType.BUILTIN_REF)
        lite.allocate_tensors()
        for detail, value in zip(lite.get_input_details(), inputs.values()):
            lite.set_tensor(detail["index"], value)
        lite.invoke()
        return [lite.get_tensor(detail["index"]) for detail in lite.get_output_details()]

    def wanted():
        try:
            return run_micro(path, inputs, len(graph.outputs))
        except RuntimeError:
            return run_lite()
    return inputs, wanted


def try_row(program, row, path, work):
    """Why it did not pass, or nothing."""
    os.makedirs(work, exist_ok=True)
    random = np.random.default_rng(zlib.crc32(row.path.encode()))
    inputs, reference = (tflite_case if path.endswith(".tflite") else onnx_case)(row, path, random)
    for name, value in inputs.items():
        np.save(os.path.join(work, name.replace("/", "_") + ".npy"), value)
    why = compile_model(program, row, path, work)
    if why:
        return why
    wanted = reference()
    files = [os.path.join(work, n.replace("/", "_") + ".npy") for n in inputs if n not in row.values]
    outputs = [os.path.join(work, "out%d.npy" % i) for i in range(len(wanted))]
    status, text = run([os.path.join(work, "m")] + files + outputs, 300)
    if status:
        return "its program ended with status %d: %s" % (status, text.strip()[:100])
    row.off = max(compare(np.load(o), w) for o, w in zip(outputs, wanted))
    is_exact = path.endswith(".tflite") and all(w.dtype.kind != "f" for w in wanted)
    return "" if row.off <= (0 if is_exact else NEAR) else "other numbers"


def verify_row(program, row, path, work):
    """Why it is not verified, or nothing."""
    os.makedirs(work, exist_ok=True)
    command = [program, "verify", path, "--quiet"]
    for name, n in row.dims.items():
        command += ["--dim", "%s=%d" % (name, n)]
    for name, value in row.values.items():
        np.save(os.path.join(work, name + ".npy"), np.array(value, np.int64))
        command += ["--value", "%s=%s" % (name, os.path.join(work, name + ".npy"))]
    status, text = run(command, 1200)
    for differ, elements in re.findall(r": (\d+) of (\d+) elements differ", text):
        row.differ, row.elements = row.differ + int(differ), row.elements + int(elements)
    if status == 0:
        return ""
    return "FAILED" if "\nFAILED: " in text else "refused: " + first_reason(text).split("; accepted")[0]


def verified_page(rows):
    lines = ["| %s | %s | %s | %s | %d | %s | %s |"
             % (r.kind, r.repository, r.path, r.options.replace("|", "/") or "-", r.elements,
                "%d, within the tolerance" % r.differ if r.differ and r.status == "passed" else r.differ,
                "verified" if r.status == "passed" else r.status) for r in rows if r.status != "not there"]
    return VERIFIED + "\n".join(lines) + "\n"


def page(rows):
    lines = ["| %s | %s | %s | %d | %s | %s | %s |"
             % (r.kind, r.repository, r.path, r.nodes, r.options.replace("|", "/") or "-",
             "-" if r.off is None else "%.0e" % r.off, r.status) for r in rows if r.status != "not there"]
    return INTRODUCTION + "\n".join(lines) + "\n"


def main(arguments):
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("build")
    parser.add_argument("folder")
    parser.add_argument("pattern", nargs="?", default="")
    parser.add_argument("--table")
    parser.add_argument("--verify", action="store_true")
    wanted = parser.parse_args(arguments)
    build, folder, pattern, table = wanted.build, wanted.folder, wanted.pattern, wanted.table
    with open(ROWS) as f:
        rows = [Row(l) for l in f if l.strip() and not l.startswith("#")]
    onnxruntime.set_default_logger_severity(3)
    for k, row in enumerate(rows):
        path = row.file(folder)
        if pattern not in row.path or not os.path.exists(path):
            continue
        start = time.time()
        try:
            attempt = verify_row if wanted.verify else try_row
            why = attempt(os.path.join(build, "loopwright"), row, path, os.path.join(build, "public", str(k)))
        except subprocess.TimeoutExpired as e:
            why = "%s took too long" % os.path.basename(e.cmd[0])
        row.status = why or "passed"
        off = "" if row.off is None else ", off by %.1e" % row.off
        print("%s %s/%s: %.0f s%s%s" % ("not ok" if why else "ok", row.repository, row.path, time.time() - start, off,
                                        ": " + why if why else ""), flush=True)
    passed = sum(r.status == "passed" for r in rows)
    tried = sum(r.status != "not there" for r in rows)
    print("%d passed, %d failed, %d not there" % (passed, tried - passed, len(rows) - tried))
    if table:
        with open(table, "w") as f:
            f.write(verified_page(rows) if wanted.verify else page(rows))
    return passed < tried


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
