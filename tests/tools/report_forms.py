#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""report_forms.py LW FOLDER ARGUMENT...: `LW report ARGUMENT...` as text, JSON, CSV and HTML, which have the same
figures. Prints each difference; status 1 if there is one. Text, JSON and CSV have integers and milliseconds with three
decimals; HTML has the JSON, and in its verdict and table three digits, rounded half up."""
import csv
import html
import json
import re
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

BYTES, COUNTS = (1024, ("B", "KiB", "MiB", "GiB")), (1000, ("", "k", "M", "G"))


def short(n, kind):
    """The one rounding of the page: three digits and a unit, half up."""
    unit, names = kind
    power, exact = 0, Fraction(n)
    while power < 3 and int(exact + Fraction(1, 2)) >= unit:
        power, exact = power + 1, exact / unit
    tenths = int(exact * 10 + Fraction(1, 2))
    digits = (str(n) if power == 0 else str(int(exact + Fraction(1, 2))) if tenths >= 1000
              else f"{tenths // 10}.{tenths % 10}")
    return f"{digits} {names[power]}".strip()


def digits(milliseconds):
    """Three digits, half up."""
    micro, unit = round(milliseconds * 1000), 1
    while micro // unit >= 1000:
        unit *= 10
    micro = (2 * micro + unit) // (2 * unit) * unit
    return f"{micro / 1000:.{max(0, 4 - len(str(unit)))}f}"


# Widest columns of the text, in characters; longer texts have "..." in their middle.
NAMES, OPERATORS = 64, 40


def three_digits(n):
    """An estimate as the text has it: three significant digits, rounded half up."""
    unit = 10 ** max(0, len(str(n)) - 3)
    return (2 * n + unit) // (2 * unit) * unit


def shortened(text, most):
    first = (most - 3) // 2
    return text if len(text) <= most else text[:first] + "..." + text[first + 3 + len(text) - most:]


class Forms:
    def __init__(self, lw, folder, arguments):
        self.wrong = []
        for form in ("txt", "json", "csv", "html"):
            subprocess.run([lw, "report", *arguments, "-o", folder / f"r.{form}", "--quiet"], check=True)
        self.text = (folder / "r.txt").read_text()
        self.data = json.loads((folder / "r.json").read_text())
        self.rows = list(csv.DictReader((folder / "r.csv").open(newline="")))
        self.page = (folder / "r.html").read_text()

    def require(self, what, found, expected):
        if found != expected:
            self.wrong.append(f"{what}: {found!r}, in JSON {expected!r}")

    def found(self, pattern, text=None):
        """The groups of a pattern, which the form must have."""
        match = re.search(pattern, self.text if text is None else text, re.M)
        if not match:
            self.wrong.append(f"nothing reads {pattern!r}")
        return match.groups() if match else None

    def totals_of_text(self):
        t = self.data["totals"]
        self.require("text: multiply-adds", self.found(r"^multiply-adds  (\d+)"), (str(t["multiply_adds"]),))
        named = {key: int(n) for key, n in re.findall(r"(arena|inputs|outputs|state) (\d+)",
                                                      self.found(r"^RAM  .*bytes: (.*)$")[0])}
        for key, n in named.items():
            self.require(f"text: {key}", n, t[key])
        self.require("text: weights", self.found(r"^flash +(\d+) bytes of weights"), (str(t["weights"]),))
        self.require("text: in total", self.found(r"^in total +flash (?:about )?(\d+) bytes.*, RAM (?:at most about "
                                                  r")?(\d+) bytes"),
                     (str(t["flash"]), str(t["ram"])))
        for key in ("instructions", "cycles"):
            if t[key] is not None and (key == "instructions" or t["milliseconds"] is not None):
                about, n = self.found(rf"^{key} +(about )?(\d+)")
                self.require(f"text: {key}", n, str(three_digits(t[key]) if about else t[key]))
        if t["milliseconds"] is not None:
            about, n = self.found(r"^cycles +(about )?.*: ([\d.]+) ms at")
            micro = round(1000 * t["milliseconds"])
            self.require("text: milliseconds", round(1000 * float(n)), three_digits(micro) if about else micro)

    def said(self, word):
        """The words of the page's verdict about RAM, Flash, Run or Work."""
        return html.unescape(self.found(rf"<dt>{word}</dt><dd>(.*?)</dd>", self.page)[0])

    def page_has_the_data(self):
        found = re.search(r'<script type="application/json" id="data">(.*?)</script>', self.page, re.S)
        self.require("page: data", json.loads(found.group(1)), self.data)

    def totals_of_page(self):
        t, ram, run = self.data["totals"], self.said("RAM"), None
        self.require("page: multiply-adds", self.said("Work").split(" multiply-adds")[0],
                     short(t["multiply_adds"], COUNTS))
        self.require("page: RAM", ram.split(":")[0], short(t["ram"], BYTES))
        self.require("page: flash", self.said("Flash").split(":")[0], short(t["flash"], BYTES))
        for key in ("arena", "inputs", "outputs", "state"):
            said = re.search(rf"{key} ([\d.]+ [KMG]?i?B)", ram)
            if said:
                self.require(f"page: {key}", said.group(1), short(t[key], BYTES))
        if t["instructions"] is not None:
            run = self.said("Run")
            self.require("page: instructions", self.found(r"([\d.]+(?: [kMG])?) instructions", run),
                         (short(t["instructions"], COUNTS),))
        if t["milliseconds"] is not None:
            self.require("page: milliseconds", run.split(" ms")[0], digits(t["milliseconds"]))
            self.require("page: cycles", self.found(r"([\d.]+(?: [kMG])?) cycles$", run), (short(t["cycles"], COUNTS),))

    def traffic(self, layer):
        """The parameters of a layer, in a line of the text."""
        line = " ".join(f"{p['parameter']} {p['read']}/{p['written']}" for p in layer["traffic"])
        if layer["traffic"] and f"\n    {line}\n" not in self.text:
            self.wrong.append(f"text: no row reads {line}")

    def traffic_of_totals(self):
        totals, layers = self.data["totals"]["traffic"], [x for x in self.data["layers"] if "graph" not in x]
        for kind, moved in totals.items():
            for key in ("read", "written"):
                self.require(f"JSON: {kind}, {key}", moved[key],
                             sum(p[key] for x in layers for p in x["traffic"] if p["kind"] == kind))
        sums = " ".join(str(moved["read"] + moved["written"]) for moved in totals.values())
        self.require("text: traffic", self.found(r"^all layers(?: of the run)? +(\d.*)$")[0].split(),
                     sums.split()[:None if self.data["unit_memories"] else -1])

    def layers(self):
        layers = self.data["layers"]
        self.require("CSV: rows", len(self.rows), len(layers))
        titles = re.findall(r"<th[^>]*>(.*?)</th>", self.found(r"<thead>(.*?)</thead>", self.page)[0])
        bodies = [[html.unescape(x) for x in re.findall(r"<td[^>]*>(.*?)</td>", row)]
                  for row in re.findall(r"<tr>(<td>.*?)</tr>", self.page)]
        self.require("page: layers", len(bodies), len(layers))
        lines = self.text.split("\nmultiply-adds")[0].splitlines()      # ", costs nothing" follows the place
        for layer, row, body in zip(layers, self.rows, bodies):
            name = layer["name"]
            time = "" if layer["milliseconds"] is None else f"{layer['milliseconds']:.3f}"
            self.require(f"CSV: {name}, layer", row.pop("layer"), name)
            for key, found in row.items():
                value = layer.get(key, "")
                self.require(f"CSV: {name}, {key}", found, time if key == "milliseconds" else str(int(value))
                             if key == "free" else "" if value is None else str(value))
            figures = [layer["multiply_adds"], layer["instructions"], *([layer["cycles"], time] if time else []),
                       layer["weights"], layer["result"]]
            words = [shortened(name, NAMES), shortened(layer["operators"], OPERATORS),
                     *(str(n) for n in figures if n is not None), *layer["place"].split()]
            if not any(line.replace(", ", " ").split()[:len(words)] == " ".join(words).replace(", ", " ").split()
                       for line in lines):
                self.wrong.append(f"text: no row reads {' '.join(words)}")
            self.traffic(layer)
            self.cells(layer, dict(zip(titles, body)))

    def cells(self, layer, body):
        """A row of the page's table, by titles: `result` is the last of that title, the bytes."""
        units = {"count": lambda n: short(n, COUNTS), "bytes": lambda n: short(n, BYTES), "time": digits, "words": str}
        for column in self.data["columns"]:
            value = layer[column["key"]]
            if column["title"] in body or value is not None:
                self.require(f"page: {layer['name']}, {column['key']}", body.get(column["title"]),
                             "" if value is None else units[column["unit"]](value))


def main():
    forms = Forms(sys.argv[1], Path(sys.argv[2]), sys.argv[3:])
    for check in (forms.totals_of_text, forms.page_has_the_data, forms.totals_of_page, forms.traffic_of_totals,
                  forms.layers):
        check()
    print("\n".join(forms.wrong))
    sys.exit(1 if forms.wrong else 0)


if __name__ == "__main__":
    main()
