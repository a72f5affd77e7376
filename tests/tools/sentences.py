#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""sentences.py SEED [COUNT]: draws COUNT sentences (200) at random, a third each from pages, comments and diagnostics,
for a reader who judges the English. Prints FILE:LINE: SENTENCE. Code, tables of figures and generated parts of pages
are left out; a comment or paragraph of several lines is joined before it is cut into sentences."""
import pathlib
import random
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
MADE = ("docs/decisions.md", "docs/SUPPORT.md", "docs/operators.md", "docs/exports.md", "docs/special-values.md")
SHORTEST = 25                    # letters: below it, a heading or a label


def sentences(text):
    """The sentences of a paragraph."""
    text = re.sub(r"\s+", " ", text).strip()
    return [s for s in re.split(r"(?<=[.!?])\s+(?=[A-Z`\"])", text) if len(s) >= SHORTEST and s.count(" ") > 3]


def pages():
    for path in [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("samples/*/README.md")]:
        name = str(path.relative_to(ROOT))
        if name in MADE:
            continue
        is_code = is_made = False
        paragraph, first = [], 0
        for number, line in enumerate(path.read_text().split("\n") + [""], 1):
            is_made = (is_made or line.startswith("<!-- begin")) and not line.startswith("<!-- end")
            if line.startswith("```"):
                is_code = not is_code
            is_text = not (is_code or is_made or line.startswith(("```", "#", "<!--", "|", "!")) or not line.strip())
            begins = re.match(r" *(- |\d+\. )", line)
            if paragraph and (not is_text or begins):
                yield from ((name, first, s) for s in sentences(" ".join(paragraph)))
                paragraph = []
            if is_text:
                first = first if paragraph else number
                paragraph.append(re.sub(r"^ *(- |\d+\. )?", "", line))
            elif line.startswith("|") and not is_code and not is_made:
                yield from ((name, number, s) for cell in line.split("|") for s in sentences(cell) if s.count(" ") > 5)


def sources():
    for folder in ("emitter", "ops", "schedules", "runtime"):
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in (".c", ".h", ".def"):
                yield str(path.relative_to(ROOT)), path.read_text()


def comments():
    for name, text in sources():
        for m in re.finditer(r"/\*(.*?)\*/", text, re.S):
            line = text.count("\n", 0, m.start()) + 1
            lines = [re.sub(r"^ *\* ?", "", part) for part in m.group(1).split("\n")]
            for block in re.split(r"\n *\n", "\n".join(lines)):
                if not re.search(r"^ {3,}|SPDX|----", block, re.M):
                    yield from ((name, line, s) for s in sentences(block))


def diagnostics():
    literal = r'"(?:[^"\\\n]|\\.)*"'
    for name, text in sources():
        for m in re.finditer(rf"{literal}(?:\s*{literal})*", text):
            said = "".join(part[1:-1] for part in re.findall(literal, m.group(0)))
            if "; " in said and said.count(" ") > 4 and not re.search(r"\\n|[{}=<>]", said):
                yield name, text.count("\n", 0, m.start()) + 1, said


def main():
    seed, count = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 200
    rng = random.Random(seed)
    kinds = [list(pages()), list(comments()), list(diagnostics())]
    for i, kind in enumerate(kinds):
        for name, line, text in rng.sample(kind, (count + i) // len(kinds)):
            print(f"{name}:{line}: {text}")


main()
