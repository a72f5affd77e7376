#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""report_structure.py LW FOLDER ARGUMENT...: the structure in `LW report ARGUMENT... -o r.json` is consistent, and
agrees with the emitted C and the text. Prints each difference; status 1 if there is one."""
import json
import re
import subprocess
import sys
from pathlib import Path

KEYS = {"model": str, "sha256": str, "target": str, "version": str, "options": str, "mhz": (int, float, type(None)),
        "cycle_model": (str, type(None)), "shrink": (dict, type(None)), "functions": list, "buffers": list,
        "warnings": list, "inputs": list, "outputs": list, "totals": dict, "memories": list, "layers": list}
LAYER = {"id": int, "name": str, "reads": list, "type": str, "shape": list, "live": int,
         "function": (str, type(None)), "operators": str, "place": str, "free": bool}


def main():
    lw, folder, *arguments = sys.argv[1:]
    folder = Path(folder)
    subprocess.run([lw, "report", *arguments, "-o", folder / "r.json", "--quiet"], check=True)
    subprocess.run([lw, *arguments, "-o", folder / "s.c", "--quiet"], check=True)
    data, code = json.loads((folder / "r.json").read_text()), (folder / "s.c").read_text()
    wrong = [f"key {k}" for k, t in KEYS.items() if not isinstance(data.get(k, ...), t)]
    layers = data["layers"]
    wrong += [f"layer {x['name']}: {k}" for x in layers for k, t in LAYER.items() if not isinstance(x.get(k, ...), t)]
    wrong += [f"layer {i} has id {x['id']}" for i, x in enumerate(layers) if x["id"] != i]
    wrong += [f"layer {x['name']} reads layer {r}" for x in layers for r in x["reads"]
              if isinstance(r, int) and not 0 <= r < len(layers)]
    named = {f["name"]: f["layers"] for f in data["functions"]}
    wrong += [f"function {f} has no definition" for f in named if not re.search(rf"\b{re.escape(f)}\(", code)]
    wrong += [f"layer {x['name']} is not in {x['function']}" for x in layers
              if x["function"] and x["id"] not in named.get(x["function"], [])]
    wrong += [f"function {f} has layer {i}" for f, some in named.items() for i in some if layers[i]["function"] != f]
    own = [x for x in layers if "graph" not in x]
    for b in data["buffers"]:
        if not 0 <= b["from"] <= b["to"] < len(own) or b["at"] < 0 or b["bytes"] < 0:
            wrong.append(f"buffer {b}")
        elif b["at"] + b["bytes"] > data["totals"]["arena"]:
            wrong.append(f"buffer {b['name']} ends outside of the arena")
    wrong += [f"layer {x['name']}: {x['live']} bytes are live" for x in own
              if x["live"] > data["totals"]["live_set_bound"]]
    print("\n".join(wrong))
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
