# SPDX-License-Identifier: MIT
"""Runs the ONNX backend suite: every case is compiled, built with a C compiler, run, and compared.

    python3 tests/conformance.py BUILD DIR [PATTERN] [--support FILE] [--jobs N]        needs onnx and numpy

BUILD holds the program `loopwright`; DIR is the suite's data folder (with node/, simple/ and so on in it), as the
Debian package libonnx-testdata or the Python package onnx installs it; PATTERN is part of the names of the cases to be
run.

A case passes when all its data sets agree at the suite's own tolerance. An input that decides a shape is given with
--value, as a user would. What the compiler refuses is counted as refused, with its reason; everything else that is not
a pass (a crash, C that does not build, other numbers) is a failure. Counted as the core are the cases whose tensors are
of numbers or bool and not of 16-bit or 8-bit floats, and whose results are determined.

--support writes the table by operator. The cases that must pass stand in tests/conformance.txt; with --accept it is
written anew. Status 1: such a case did not pass, or something failed that was not refused.
"""
import argparse
import collections
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import onnx
from onnx import TensorProto, numpy_helper

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PASSED = os.path.join(ROOT, "tests", "conformance.txt")
FOLDERS = ["node", "simple", "pytorch-converted", "pytorch-operator"]
CORE = {TensorProto.FLOAT, TensorProto.DOUBLE, TensorProto.BOOL, TensorProto.INT8, TensorProto.INT16,
        TensorProto.INT32, TensorProto.INT64,
        TensorProto.UINT8, TensorProto.UINT16, TensorProto.UINT32, TensorProto.UINT64}
# Results of a generator without a seed: types and shapes are compared.
RANDOM = re.compile(r"test_bernoulli(_|$)")
# Cases of some releases whose recorded outputs contradict the standard: counted as refused, with the reason.
WRONG = {"test_adam_multiple": "the outputs are of epsilon 0.01, which the file does not state; the default is 1e-6"}
RTOL, ATOL = 1e-3, 1e-7          # onnx.backend.test's
OPEN_PART = "<!-- Made by tests/"      # the parts of other tools in the table's file are left there


def types_of_graph(graph, found):
    """The element types of all values of the graph; None: not a tensor."""
    for value in list(graph.input) + list(graph.output) + list(graph.value_info):
        kind = value.type.WhichOneof("value")
        found.add(value.type.tensor_type.elem_type if kind == "tensor_type" else None)
    for tensor in graph.initializer:
        found.add(tensor.data_type)
    for node in graph.node:
        for a in node.attribute:
            if a.type == onnx.AttributeProto.TENSOR:
                found.add(a.t.data_type)
            if a.type == onnx.AttributeProto.INT and a.name in ("to", "dtype"):
                found.add(a.i)
            for g in ([a.g] if a.type == onnx.AttributeProto.GRAPH else []) + list(a.graphs):
                types_of_graph(g, found)
    return found


class Case:
    def __init__(self, folder, path):
        self.name, self.folder, self.path = os.path.basename(path), folder, path
        model = onnx.load(os.path.join(path, "model.onnx"))
        initializers = {t.name for t in model.graph.initializer}
        self.inputs = [i for i in model.graph.input if i.name not in initializers]
        self.outputs = list(model.graph.output)
        self.nodes = sorted({n.op_type if n.domain in ("", "ai.onnx") else n.domain + "." + n.op_type
                             for n in model.graph.node})
        self.opset = max([o.version for o in model.opset_import if o.domain in ("", "ai.onnx")] or [0])
        types = types_of_graph(model.graph, set())
        foreign = {o.domain for o in model.opset_import} - {"", "ai.onnx"}
        self.is_core = (types <= CORE and not RANDOM.match(self.name) and not any("." in n for n in self.nodes)
                        and not foreign & {"ai.onnx.preview.training"})
        self.status, self.reason = "", ""

    def operator(self):
        """The operator that the case tests: the one in its name, else its only or first node."""
        if len(self.nodes) == 1:
            return self.nodes[0]
        flat = self.name[5:].replace("_", "").lower()
        known = [n for n in OPERATORS if flat.startswith(n.lower())]
        return max(known, key=len) if known else self.nodes[0] if self.nodes else "none"


OPERATORS = sorted({s.name for s in onnx.defs.get_all_schemas() if s.domain == ""})


def tensor(path):
    message = TensorProto()
    with open(path, "rb") as f:
        message.ParseFromString(f.read())
    return message


def array(message):
    """As .npy can hold it: bfloat16 as its bits."""
    if message.data_type == TensorProto.BFLOAT16:
        return (np.frombuffer(message.raw_data, "<u2").reshape(message.dims) if message.raw_data
                else np.array(message.int32_data, np.uint16).reshape(message.dims))
    return numpy_helper.to_array(message)


def data_sets(case):
    for name in sorted(os.listdir(case.path)):
        folder = os.path.join(case.path, name)
        if name.startswith("test_data_set_") and os.path.isdir(folder):
            load = lambda kind, n: [array(tensor(os.path.join(folder, "%s_%d.pb" % (kind, i)))) for i in range(n)
                                    if os.path.exists(os.path.join(folder, "%s_%d.pb" % (kind, i)))]
            yield load("input", len(case.inputs)), load("output", len(case.outputs))


def fits(info, x):
    sizes = info.type.tensor_type.shape.dim
    return (len(sizes) == np.ndim(x)
            and all(not d.HasField("dim_value") or d.dim_value == n for d, n in zip(sizes, np.shape(x))))


def dims(case, arrays, constant):
    """--dim for every open dimension."""
    options, seen = [], set()
    for info, x in zip(case.inputs, arrays):
        for axis, d in enumerate(info.type.tensor_type.shape.dim):
            name = d.dim_param or "%s.%d" % (info.name, axis)
            if not d.HasField("dim_value") and name not in seen and axis < x.ndim and info.name not in constant:
                seen.add(name)
                options += ["--dim", "%s=%d" % (name, x.shape[axis])]
    return options


def run(command, seconds=600):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=seconds, errors="replace")


def compile_case(program, case, work, arrays):
    """Emits the case; inputs that must be constant become constants, one after another. Returns the remaining
    inputs."""
    constant = [info.name for info, x in zip(case.inputs, arrays) if x.size == 0]
    while True:
        command = [program, os.path.join(case.path, "model.onnx"), "-o", os.path.join(work, "m.c"), "--name", "m",
                   "--testbench"]
        command += dims(case, arrays, constant)
        for name in constant:
            command += ["--value",
                        "%s=%s" % (name, os.path.join(work, "in%d.npy" % [i.name for i in case.inputs].index(name)))]
        result = run(command)
        asked = re.search(r'\("([^"]*)"\) is not constant', result.stdout)
        if result.returncode == 1 and asked and asked.group(1) in [i.name for i in case.inputs] and asked.group(
            1) not in constant:
            constant.append(asked.group(1))
            continue
        sizes = [info.name for info, x in zip(case.inputs, arrays) if x.dtype.kind in "iub" and x.ndim <= 1
                 and info.name not in constant]
        asked = asked or re.search("the run decides|that it decides", result.stdout)
        if result.returncode == 1 and asked and sizes:      # the requested type or size follows from one of these
            constant += sizes
            continue
        return result, constant


def agree(found, wanted, is_random):
    if (found.shape != wanted.shape or found.dtype.itemsize != wanted.dtype.itemsize
            or found.dtype.kind != wanted.dtype.kind):
        return "%s%s instead of %s%s" % (found.dtype, list(found.shape), wanted.dtype, list(wanted.shape))
    if is_random:
        return ""
    try:
        np.testing.assert_allclose(found, wanted, rtol=RTOL, atol=ATOL)
    except AssertionError as e:
        return " ".join(str(e).split())[:160]
    return ""


def refusal(text):
    """The first reason, without file and node names."""
    line = next((l for l in text.splitlines() if "error: " in l or "unsupported: " in l), text.strip().splitlines()[0]
                if text.strip() else "")
    return re.sub(r"^.*?(error|unsupported): ", "", line)


def try_case(program, case, work):
    compiler = os.environ.get("CC", "cc").split()
    first = True
    for arrays, wanted in data_sets(case):
        if any(i.type.HasField("tensor_type") and i.type.tensor_type.HasField("shape") and not fits(i, x)
               for i, x in zip(case.inputs, arrays)):
            return "refused", "the suite's data are not of the shapes that its model declares"
        if any(not isinstance(x, np.ndarray) or x.dtype.kind == "O" for x in arrays + wanted):
            return "refused", "strings"
        for i, x in enumerate(arrays):
            np.save(os.path.join(work, "in%d.npy" % i), x)
        if first or constant:
            result, constant = compile_case(program, case, work, arrays)
            if result.returncode == 1:
                return "refused", refusal(result.stdout)
            if result.returncode != 0:
                return "failed", "the compiler ended with status %d" % result.returncode
            result = run(compiler + ["-std=c99", "-O0", "-w", "-I" + os.path.join(ROOT, "runtime"),
                                     os.path.join(work, "m.c"),
                                     os.path.join(work, "m_main.c"), "-lm", "-o", os.path.join(work, "m")])
            if result.returncode != 0:
                return "failed", "C does not build: " + refusal(result.stdout)
            first = False
        files = [os.path.join(work, "in%d.npy" % i) for i, info in enumerate(case.inputs) if info.name not in constant]
        outputs = [os.path.join(work, "out%d.npy" % i) for i in range(len(wanted))]
        result = run([os.path.join(work, "m")] + files + outputs)
        if result.returncode != 0:
            return "failed", "the program ended with status %d: %s" % (result.returncode, result.stdout.strip()[:100])
        for i, w in enumerate(wanted):
            why = agree(np.load(outputs[i]), w, RANDOM.match(case.name))
            if why:
                return "failed", "output %d: %s" % (i, why)
    return ("failed", "no data") if first else ("passed", "")


def judge(program, case, work):
    work = os.path.join(work, case.folder + "-" + case.name)
    os.makedirs(work, exist_ok=True)
    try:
        case.status, case.reason = try_case(program, case, work)
        if case.status == "failed" and case.name in WRONG:
            case.status, case.reason = "refused", WRONG[case.name]
    except subprocess.TimeoutExpired as e:
        case.status, case.reason = "failed", "%s took too long" % os.path.basename(str(e.cmd[0]))
    except (OSError, ValueError, TypeError, NotImplementedError, KeyError) as e:
        is_tensor = all(i.type.HasField("tensor_type") for i in case.inputs + case.outputs)
        case.status, case.reason = (("failed" if is_tensor and case.is_core else "refused"),
                                    "data that is no tensor of numbers" if not is_tensor else "%s: %s"
                                    % (type(e).__name__, str(e)[:100]))


def tally(cases):
    count = collections.Counter(c.status for c in cases)
    return count["passed"], len(cases), count["refused"], count["failed"]


def support(cases, known):
    lines = ["<!-- Made by `make conformance`; not to be edited. -->", "# ONNX operators", "",
             "What of the ONNX backend suite (operators of the suite's release) passes: emitted, built by a C "
             "compiler, run, and compared at the suite's",
             "tolerance. Cases over strings, sequences, optionals and floats of 8 or 16 bits, and cases of random "
             "results, are not counted",
             "as core.", "", "| | passed | of | refused | failed |", "|---|---|---|---|---|"]
    for title, some in [("core", [c for c in cases if c.is_core]), ("beyond", [c for c in cases if not c.is_core])]:
        lines.append("| %s | %d | %d | %d | %d |" % ((title,) + tally(some)))
    lines += ["", "| operator | opsets tested | core passed | all passed | why others do not |",
              "|---|---|---|---|---|"]
    groups = collections.defaultdict(list)
    for c in cases:
        groups[c.operator()].append(c)
    for name in sorted(groups):
        some = groups[name]
        core = [c for c in some if c.is_core]
        opsets = sorted({c.opset for c in some})
        reasons = collections.Counter(short(c.reason) for c in some if c.status != "passed")
        why = "; ".join("%s%s" % (r, " (%d)" % n if n > 1 else "") for r, n in reasons.most_common(3)).replace("|", "/")
        lines.append("| %s | %s | %s | %d/%d | %s |"
                     % (name, ", ".join(map(str, opsets)), "%d/%d" % tally(core)[:2] if core else "-",
                        *tally(some)[:2], why))
    return "\n".join(lines) + "\n"


def short(reason):
    return reason if len(reason) < 100 else reason[:97] + "..."


def main(arguments):
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("build")
    parser.add_argument("data")
    parser.add_argument("pattern", nargs="?", default="")
    parser.add_argument("--support")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--accept", action="store_true")
    wanted = parser.parse_args(arguments)
    build, data, pattern = wanted.build, wanted.data, re.compile(wanted.pattern)
    if not os.path.exists(os.path.join(build, "loopwright")):
        sys.exit("there is no program in " + build)
    cases = [Case(f, os.path.join(data, f, n)) for f in FOLDERS if os.path.isdir(os.path.join(data, f))
             for n in sorted(os.listdir(os.path.join(data, f)))
             if os.path.exists(os.path.join(data, f, n, "model.onnx")) and pattern.search(n)]
    with ThreadPoolExecutor(wanted.jobs) as pool:
        list(pool.map(lambda c: judge(os.path.join(build, "loopwright"), c, os.path.join(build, "conformance")), cases))
    known = set(open(PASSED).read().split()) if os.path.exists(PASSED) else set()
    bad = 0
    for c in cases:
        lost = c.folder + "/" + c.name in known and c.status != "passed"
        if c.status != "passed":
            print("%s%s %s/%s: %s"
                  % ("LOST " if lost else "", c.status, c.folder, c.name + ("" if c.is_core else " (beyond core)"),
                     c.reason))
        bad += lost or c.status == "failed"
    for title, some in [("core", [c for c in cases if c.is_core]), ("beyond", [c for c in cases if not c.is_core])]:
        print("%s: %d of %d passed, %d refused, %d failed" % ((title,) + tally(some)))
    if wanted.support:
        old = open(wanted.support).read() if os.path.exists(wanted.support) else ""
        with open(wanted.support, "w") as f:
            f.write(support(cases, known) + old[old.find(OPEN_PART) - 1:] if OPEN_PART in old
                    else support(cases, known))
    if wanted.accept:
        with open(PASSED, "w") as f:
            f.write("\n".join(sorted(c.folder + "/" + c.name for c in cases if c.status == "passed")) + "\n")
    return bad > 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
