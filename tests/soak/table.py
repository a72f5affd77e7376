# SPDX-License-Identifier: MIT
"""The page of what each operator gives for special values beside the references: docs/special-values.md."""
import known
import operators

COLUMNS = ["ordinary", "NaN", "infinities", "zeros", "ties", "extreme", "ones", "empty"]
HEAD = """<!-- Made by `make special-values`; not to be edited. -->
# Special values

The table compares emitted C, for NaN, infinities, zeros of both signs, ties, the ends of a type, dimensions of 1 and
tensors without elements, with ONNX Runtime without optimizations, or onnx's evaluator where it has no kernel. Each
operator is drawn with each kind of values, and each with ordinary sizes, with dimensions of 1 and without elements; its
types and attributes are random (`tests/soak/operators.py`). `make soak-random SEED=N` draws others.

`=` equal, floats within 1e-5; a number: a known difference or refusal, below; `-`: the reference has none.

"""


def reason(found):
    return found.split(": ", 1)[1] if found.startswith(("known: ", "refused: ")) else ""


def columns_of(values, sizes):
    return ([values] if sizes == "ordinary" else []) + ([sizes] if sizes != "ordinary" else [])


def page(cells):
    notes, rows = [], []
    for name in sorted({c[0] for c in cells}):
        mine = [c for c in cells if c[0] == name]
        row = []
        for column in COLUMNS:
            found = sorted({c[4] for c in mine if column in columns_of(c[2], c[3])})
            reasons = [r for r in map(reason, found) if r]
            for r in reasons:
                if r not in notes: notes.append(r)
            other = [f for f in found if not reason(f) and f not in ("equal", "decided by rounding")]
            words = ["="] if any(f in ("equal", "decided by rounding") for f in found) else []
            words += sorted((str(notes.index(r) + 1) for r in reasons), key=int) + other
            row.append(" ".join(words) or "-")
        types = sorted({c[1] for c in mine if c[1]})
        rows.append("| %s | %s | %s |" % (name, ", ".join(types), " | ".join(row)))
    lines = ["| operator | types | " + " | ".join(COLUMNS) + " |", "|---" * (len(COLUMNS) + 2) + "|", *rows, ""]
    right = {d.reason: d.right for d in known.DIFFERENCES}
    lines += ["| | difference or refusal | right by the specification |", "|---|---|---|"]
    lines += ["| %d | %s | %s |" % (i + 1, r, right.get(r, "refused")) for i, r in enumerate(notes)]
    lines += ["", "Operators that are not drawn here:", "", "| operators | why |", "|---|---|"]
    lines += ["| %s | %s |" % (", ".join(names.split()), why) for names, why in operators.OMITTED]
    return HEAD + "\n".join(lines) + "\n"
