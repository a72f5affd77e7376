#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""report_structure.py LW FOLDER ARGUMENT...: `LW report ARGUMENT... -o r.json` has the keys and types of the table in
docs/report-json.md, is consistent, and agrees with the emitted C. Prints each difference; status 1 if there is one."""
import json
import re
import subprocess
import sys
from pathlib import Path

PAGE = Path(__file__).resolve().parents[2] / "docs" / "report-json.md"
TYPES = {"text": str, "integer": int, "number": (int, float), "boolean": bool, "null": type(None), "object": dict}


def rows():
    """Returns the types and whether the key may be absent, by key."""
    found = re.findall(r"^\| `([^`]+)` \| ([^|]+?) \| ?(.*?) ?\|$", PAGE.read_text(), re.M)
    return {key: (types, meaning.startswith("if ")) for key, types, meaning in found}


def is_type(value, types):
    """True if the value has one of the types, such as `list of integer or null`."""
    if isinstance(value, list):
        inner = re.match(r"list of (.*)", types)
        return types.startswith("list") and (not inner or all(is_type(x, inner.group(1)) for x in value))
    words = [w.removeprefix("list of ") for w in types.split(" or ")]
    words = words if not types.startswith("list of ") else words[1:] + (["text", "integer"] if "text" in words else [])
    return any(isinstance(value, TYPES[w]) and (w == "boolean" or not isinstance(value, bool)) for w in words
               if w in TYPES)


class Schema:
    def __init__(self):
        self.rows, self.wrong = rows(), []
        self.open = {key for key in self.rows if not any(k.startswith(key + ".") or k.startswith(key + "[].")
                                                         for k in self.rows)}

    def check(self, value, path):
        if isinstance(value, list):
            for x in value if path not in self.open else ():
                self.check(x, path + "[]")
        elif isinstance(value, dict) and path not in self.open:
            self.keys(value, path + "." if path else "")

    def keys(self, value, front):
        for key, x in value.items():
            types, _ = self.rows.get(front + key, ("", False))
            if not types:
                self.wrong.append(f"{front}{key} is not in {PAGE.name}")
            elif not is_type(x, types):
                self.wrong.append(f"{front}{key} is {json.dumps(x)[:60]}, not {types}")
            else:
                self.check(x, front + key)
        for key, (_, is_optional) in self.rows.items():
            if key.startswith(front) and re.fullmatch(r"\w+", key[len(front):]) and not is_optional:
                if key[len(front):] not in value:
                    self.wrong.append(f"{key} is missing")


def functions(data, code):
    """The functions are those of model.c, at their lines."""
    lines = code.splitlines()
    for f in data["functions"]:
        if not re.search(rf"\b{re.escape(f['name'])}\(", code):
            yield f"function {f['name']} has no definition"
        if not f["lines"]:
            yield f"function {f['name']} has no lines"
            continue
        first, last = f["lines"]
        if not "\n".join(lines[first - 1:last]).endswith(f["text"]):
            yield f"lines {first} to {last} are not the function {f['name']}"
        if f["formula"] and not lines[first - 1].startswith("/* " + f["formula"].split("\n")[0][:20]):
            yield f"line {first} does not begin the comment of {f['name']}"


def layers(data):
    every, named = data["layers"], {f["name"]: f["layers"] for f in data["functions"]}
    for i, x in enumerate(every):
        if x["id"] != i:
            yield f"layer {i} has id {x['id']}"
        for r in x["reads"]:
            if isinstance(r, int) and not 0 <= r < len(every):
                yield f"layer {x['name']} reads layer {r}"
        if x["function"] and i not in named.get(x["function"], []):
            yield f"layer {x['name']} is not in {x['function']}"
    for f, some in named.items():
        for i in some:
            if every[i]["function"] != f:
                yield f"function {f} has layer {i}"


def memory(data):
    own = [x for x in data["layers"] if "graph" not in x]
    constants = {c["name"]: c for c in data["constants"]}
    for b in data["buffers"]:
        if not 0 <= b["from"] <= b["to"] < len(own) or b["at"] < 0 or b["bytes"] < 0:
            yield f"buffer {b}"
        elif b["at"] + b["bytes"] > data["totals"]["arena"]:
            yield f"buffer {b['name']} ends outside of the arena"
    for x in own:
        if x["live"] > data["totals"]["live_set_bound"]:
            yield f"layer {x['name']}: {x['live']} bytes are live"
        for p in x["traffic"]:
            b = data["buffers"][p["buffer"]] if "buffer" in p else None
            if p["kind"] in ("results", "scratch") and b is None:
                yield f"layer {x['name']}: {p['parameter']} has no buffer"
            if b and not b["from"] <= x["id"] <= b["to"]:
                yield f"layer {x['name']}: the buffer of {p['parameter']} is not live"
            if b and not b["at"] <= p["at"] <= p["at"] + p["bytes"] <= b["at"] + b["bytes"]:
                yield f"layer {x['name']}: {p['parameter']} at {p['at']} is outside of its buffer"
            if "constant" in p and x["id"] not in constants.get(p["constant"], {"layers": []})["layers"]:
                yield f"layer {x['name']} is not among the readers of {p['constant']}"


def main():
    lw, folder, *arguments = sys.argv[1:]
    folder, schema = Path(folder), Schema()
    subprocess.run([lw, "report", *arguments, "-o", folder / "r.json", "--quiet"], check=True)
    emitting = [a for a in arguments if not re.fullmatch(r"--mhz=?.*|[\d.]+", a)]
    subprocess.run([lw, *emitting, "-o", folder / "s.c", "--quiet"], check=True)
    data, code = json.loads((folder / "r.json").read_text()), (folder / "s.c").read_text()
    schema.check(data, "")
    wrong = [*schema.wrong, *functions(data, code), *layers(data), *memory(data)]
    print("\n".join(wrong))
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
