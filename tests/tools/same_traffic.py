#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""same_traffic.py COUNTED.json STEPPED.json PERCENT: two reports of one model, the second on compiled code. For each
kind of memory, and each memory of --memory, the bytes read and those written differ by at most PERCENT of all bytes.
The stack is left out: compiled code also saves registers there. Prints each difference; status 1 if there is one."""
import json
import sys

counted, stepped = (json.load(open(path)) for path in sys.argv[1:3])
percent, wrong = float(sys.argv[3]), []
if not stepped["stepped"]:
    wrong.append("the compiled code was not executed")
all_bytes = sum(n for moved in stepped["totals"]["traffic"].values() for n in moved.values())
for kind, moved in counted["totals"]["traffic"].items():
    for way, n in moved.items():
        other = stepped["totals"]["traffic"][kind][way]
        if kind != "stack" and abs(n - other) > all_bytes * percent / 100:
            wrong.append(f"{kind}, bytes {way}: {n} counted, {other} by the compiled code")
for memory, other in zip(counted["memories"], stepped["memories"]):
    for way in ("read", "written"):
        if abs(memory[way] - other[way]) > all_bytes * percent / 100:
            wrong.append(f"{memory['name']}, bytes {way}: {memory[way]} counted, {other[way]} by the compiled code")
print("\n".join(wrong))
sys.exit(1 if wrong else 0)
