# SPDX-License-Identifier: MIT
"""The diagnostics of the sources as a page's tables: each text of a call that refuses or warns, with its remedy."""
import re

CALL = re.compile(r"\b(?:diag_(?:error|usage|unsupported|warn|note|listed)|\w*refuse\w*)\(")
TEXT = re.compile(r'(?:"((?:[^"\\]|\\.)*)"|PRI\w+)\s*')
FORMAT = re.compile(r"%[-+ #0-9.*]*(?:ll|l|h|z)?[a-zA-Z]")
LEAST_PAIRS = 5      # pairs of letters: shorter texts are formats of values
AREAS = [
    ("ONNX files", "emitter/import/onnx"), ("TFLite files", "emitter/import/tflite"),
    ("Other files", "emitter/import"), ("Operators", "ops"), ("Schedules and formulas", "emitter/schedule"),
    ("Schedules and formulas", "emitter/ir"), ("Schedules and formulas", "emitter/lower"),
    ("Schedules and formulas", "schedules"), ("Quantization", "emitter/quantizer"), ("The graph", "emitter/graph"),
    ("Options and commands", "emitter"),
]


def texts(source):
    """Yields the first text of each call, with its parts joined."""
    for call in CALL.finditer(source):
        end = source.find(";", call.end())
        while 0 <= end < len(source) and source[call.end():end].count('"') % 2:
            end = source.find(";", end + 1)
        at = source.find('"', call.end(), end)
        text = ""
        while at >= 0 and (part := TEXT.match(source, at)) and part.start() < end:
            text, at = text + (part.group(1) or ""), part.end()
        if len(re.findall(r"[a-z]{2}", FORMAT.sub("", text))) > LEAST_PAIRS:
            yield text.replace(r"\"", '"').replace(r"\n", " ").replace("%%", "%")


def cell(text):
    text = re.sub(r"([\\|*_\[<])", r"\\\1", FORMAT.sub("…", text).strip())
    return text if text.count("`") % 2 == 0 else text.replace("`", r"\`")


def tables(root):
    """Returns the Markdown of the index."""
    rows, seen = {}, set()
    for area, folder in AREAS:
        for file in sorted((root / folder).rglob("*.c")):
            name = file.relative_to(root).as_posix()
            if name in seen:
                continue
            seen.add(name)
            for text in texts(file.read_text()):
                message, _, remedy = text.rpartition("; ")
                key = (message or remedy, remedy if message else "")
                rows.setdefault(key, (area, name))
    lines = []
    for area in dict.fromkeys(area for area, _ in AREAS):
        lines += ["", f"### {area}", "", "| message | what to do | source |", "|---|---|---|"]
        own = sorted(key for key in rows if rows[key][0] == area)
        lines += [f"| {cell(m)} | {cell(r)} | `{rows[m, r][1].rsplit('/', 1)[1]}` |" for m, r in own]
    return "\n".join(lines) + "\n"
