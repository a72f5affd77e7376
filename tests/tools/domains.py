# SPDX-License-Identifier: MIT
"""Writes SUPPORT.md's tables of the domains ai.onnx.ml and com.microsoft: the operators that the program has, and in
how many forms the recorded models of tests/models have each.

    python3 tests/tools/domains.py BUILD                                 needs onnx
"""
import collections
import pathlib
import subprocess
import sys

import onnx

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BEGIN, NEXT = "<!-- Made by tests/tools/domains.py; not to be edited. -->", "<!-- Made by tests/open.py"
RECORDED = ["qlinear_u8", "qlinear_s8", "fused", "heads", "narrow", "ml_trees", "ml_ensemble", "ml_models", "ml_names",
            "ml_machines", "ml_strings", "ml_encoder", "ml_narrow", "ml_sums", "ml_text", "ml_maps"]
DOMAINS = {"ai.onnx.ml": "ml_models.py", "com.microsoft": "runtime_models.py"}


def main():
    listed = subprocess.run([sys.argv[1] + "/loopwright", "ops", "--onnx"], capture_output=True, text=True,
                            check=True).stdout
    names = [line.split()[0] for line in listed.splitlines() if line.split()]
    forms = collections.Counter()
    for name in RECORDED:
        for node in onnx.load(ROOT / "tests" / "models" / (name + ".onnx")).graph.node:
            forms[node.domain, node.op_type] += 1
    lines = [BEGIN, "# Operators of other domains", "",
             "Each form is a node of a recorded model, with the results of ONNX Runtime: integers equal to the bit, "
             "floats to 1e-4."]
    for domain, tool in DOMAINS.items():
        own = sorted(n[len(domain) + 1:] for n in names if n.startswith(domain + ".")
                     and not n.startswith(domain + ".nchwc"))
        lines += ["", "## %s (%d operators; tests/tools/%s)" % (domain, len(own), tool), "",
                  "| operator | recorded forms |", "|---|---|"]
        lines += ["| %s | %d |" % (n, forms[domain, n]) for n in own]
    path = ROOT / "docs/SUPPORT.md"
    text = path.read_text()
    before, after = text[:min(text.find(m) for m in (BEGIN, NEXT) if m in text)], text[text.find(NEXT):]
    path.write_text(before.rstrip("\n") + "\n\n" + "\n".join(lines) + "\n\n" + after)


main()
