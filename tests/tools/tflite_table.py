# SPDX-License-Identifier: MIT
"""Writes SUPPORT.md's table of the TFLite operators: the types that the program accepts, and how many recorded models
of tests/tflite/*.vec have each.

    python3 tests/tools/tflite_table.py BUILD [--check]        --check: status 1 if the page has another table
"""
import collections
import pathlib
import struct
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BEGIN, NEXT = "<!-- Made by tests/tools/tflite_table.py; not to be edited. -->", "<!-- Made by tests/"
COLUMNS = [("f32", "FLOAT32"), ("i8", "INT8"), ("i16", "INT16"), ("u8", "UINT8")]
OTHERS = ["INT32", "INT64", "UINT32", "UINT64", "BOOL", "FLOAT16", "RESOURCE"]
TYPES = {0: "FLOAT32", 1: "FLOAT16", 2: "INT32", 3: "UINT8", 4: "INT64", 6: "BOOL", 7: "INT16", 9: "INT8",
         12: "UINT64", 13: "RESOURCE", 15: "UINT32", 17: "INT8"}


class Table:
    """A flatbuffer's table."""

    def __init__(self, data, at):
        self.data, self.at = data, at
        self.vtable = at - struct.unpack_from("<i", data, at)[0]

    def field(self, number):
        """The position of a field; 0: absent."""
        known = (struct.unpack_from("<H", self.data, self.vtable)[0] - 4) // 2
        offset = struct.unpack_from("<H", self.data, self.vtable + 4 + 2 * number)[0] if number < known else 0
        return offset and self.at + offset

    def number(self, number, form, otherwise=0):
        at = self.field(number)
        return struct.unpack_from("<" + form, self.data, at)[0] if at else otherwise

    def follow(self, at):
        return at + struct.unpack_from("<I", self.data, at)[0]

    def tables(self, number):
        at = self.field(number)
        if not at:
            return []
        start = self.follow(at)
        count = struct.unpack_from("<I", self.data, start)[0]
        return [Table(self.data, self.follow(start + 4 + 4 * i)) for i in range(count)]

    def text(self, number):
        at = self.field(number)
        if not at:
            return ""
        start = self.follow(at)
        return self.data[start + 4:start + 4 + struct.unpack_from("<I", self.data, start)[0]].decode()

    def ints(self, number):
        at = self.field(number)
        if not at:
            return []
        start = self.follow(at)
        return struct.unpack_from("<%di" % struct.unpack_from("<I", self.data, start)[0], self.data, start + 4)


def models_of(data):
    """The models of a file of records: the model, the inputs and the outputs, each with its length in front."""
    at = 0
    word = lambda: struct.unpack_from("<I", data, at)[0]
    while at < len(data):
        size = word()
        yield data[at + 4:at + 4 + size]
        at += 4 + size
        for _ in range(2):
            count = word()
            at += 4
            for _ in range(count):
                at += 4 + word()


def kinds_of(model):
    """(builtin code or custom name, type) of each operator; the type is that of its first operand of a kind with a
    column, else its first. Of a custom operator it is that of the first operand."""
    root = Table(model, struct.unpack_from("<I", model, 0)[0])
    codes = [c.text(1) or max(c.number(0, "b"), c.number(3, "i")) for c in root.tables(1)]
    graph = root.tables(2)[0]
    types = [TYPES.get(t.number(1, "b"), "?") for t in graph.tables(0)]
    for op in graph.tables(3):
        found = [types[i] for i in list(op.ints(1)) + list(op.ints(2)) if i >= 0]
        is_custom = isinstance(codes[op.number(0, "I")], str)
        shown = found if is_custom else [t for t in found if t in dict(COLUMNS).values()] or found
        is_hybrid = {"FLOAT32", "INT8"} <= {types[i] for i in op.ints(1) if i >= 0}
        yield codes[op.number(0, "I")], "HYBRID" if is_hybrid else shown[0] if shown else "?"


def codes_by_name():
    """BuiltinOperator codes, from the reader's list of names in their order."""
    source = (ROOT / "emitter/import/tflite/file/tflite_names.c").read_text()
    names = [line.strip().strip('",') for line in source[source.index('"ADD"'):].splitlines()
             if line.strip().startswith('"')]
    return {name: code for code, name in enumerate(names)}


def main():
    listed = subprocess.run([sys.argv[1] + "/loopwright", "ops", "--tflite"], capture_output=True, text=True,
                            check=True).stdout
    rows = [line.split() for line in listed.splitlines()[1:] if line.split()]
    recorded, codes = collections.Counter(), codes_by_name()
    codes.update({row[0]: row[0] for row in rows if row[0] not in codes})
    for file in sorted((ROOT / "tests" / "tflite").glob("*.vec")):
        for model in models_of(file.read_bytes()):
            recorded.update(kinds_of(model))
    lines = [BEGIN, "# TFLite operators", "",
             "A number counts recorded models of TensorFlow Lite Micro, or of TensorFlow Lite where that has no such "
             "kernel (tests/tflite/vectors.py),",
             "by the type of an operator's first operand: integers equal to the bit. 0: accepted, without a recorded "
             "model.",
             "Empty: refused. Hybrid: floats times 8-bit weights, the floats rounded to 8 bits at run time.", "",
             "| operator | versions up to | %s | hybrid | others |" % " | ".join(c for c, _ in COLUMNS),
             "|---|---|%s---|---|" % ("---|" * len(COLUMNS))]
    for name, version, *types in rows:
        cells = [str(recorded[codes[name], t]) if t in types else "" for _, t in COLUMNS]
        cells.append(str(recorded[codes[name], "HYBRID"] or ""))
        others = ", ".join(t + (": %d" % recorded[codes[name], t] if recorded[codes[name], t] else "") for t in types
                           if t in OTHERS)
        lines.append("| %s | %s | %s | %s |" % (name, version, " | ".join(cells), others))
    path = ROOT / "docs/SUPPORT.md"
    text = path.read_text()
    if BEGIN in text:
        start = text.index(BEGIN)
        text = text[:start] + text[text.index(NEXT, start + len(BEGIN)):]
    start = text.index(NEXT)
    made = text[:start] + "\n".join(lines) + "\n\n" + text[start:]
    if "--check" in sys.argv:
        sys.exit(0 if made == path.read_text() else "SUPPORT.md: the table of TFLite operators is not current")
    path.write_text(made)


main()
