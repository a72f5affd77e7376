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


def sentences(lines, first=1):
    """The sentences of a paragraph, each with the number of its first line; `first` is that of lines[0]."""
    text, begins = "", []
    for line in lines:
        begins.append(len(text))
        text += line.strip() + " "
    at = 0
    for part in re.split(r"(?<=[.!?])\s+(?=[A-Z`\"])", text):
        at = text.index(part, at)
        said = re.sub(r"\s+", " ", part).strip()
        if len(said) >= SHORTEST and said.count(" ") > 3:
            yield first + sum(b <= at for b in begins) - 1, said
        at += len(part)


def pages():
    for path in [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("samples/*/README.md")]:
        name = str(path.relative_to(ROOT))
        if name in MADE:
            continue
        is_code = is_made = False
        paragraph, first = [], 0
        for number, line in enumerate(path.read_text().split("\n") + [""], 1):
            is_made = (is_made or line.startswith("<!-- begin")) and not line.startswith("<!-- end")
            is_fence = line.lstrip().startswith("```")
            is_code ^= is_fence
            is_other = line.startswith(("#", "<!--", "|", "!")) or not line.strip()
            is_text = not (is_code or is_made or is_fence or is_other)
            begins = re.match(r" *(- |\d+\. )", line)
            if paragraph and (not is_text or begins):
                yield from ((name, *s) for s in sentences(paragraph, first))
                paragraph = []
            if is_text:
                first = first if paragraph else number
                paragraph.append(re.sub(r"^ *(- |\d+\. )?", "", line))
            elif line.startswith("|") and not is_code and not is_made:
                yield from ((name, *s) for cell in line.split("|") for s in sentences([cell], number)
                            if s[1].count(" ") > 5)


def sources():
    for folder in ("emitter", "ops", "schedules", "runtime"):
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in (".c", ".h", ".def"):
                yield str(path.relative_to(ROOT)), path.read_text()


LITERAL = r'"(?:[^"\\\n]|\\.)*"'
# A string or a character, so that a comment's signs in it are none; or a comment.
TOKEN = re.compile(rf"{LITERAL}|'(?:[^'\\\n]|\\.)*'|/\*(.*?)\*/", re.S)


def comments():
    for name, text in sources():
        for m in TOKEN.finditer(text):
            if m.group(1) is None:
                continue
            first = text.count("\n", 0, m.start()) + 1
            lines = [re.sub(r"^ *\* ?", "", part) for part in m.group(1).split("\n")]
            block = []
            for number, line in enumerate(lines + [""], first):
                if line.strip():
                    block.append(line)
                    continue
                if not re.search(r"^ {3,}|SPDX|----|^ ?lw: ", "\n".join(block), re.M):
                    yield from ((name, *s) for s in sentences(block, number - len(block)))
                block = []


def is_said(text):
    """True for the text of a diagnostic: a fault and a remedy, and no piece of a sentence, HTML, C or SVG."""
    is_piece = text.startswith(";") or text.endswith((" ", ":"))
    is_code = re.search(r"\\n|[{}=<>]|&#?\w+;|\w+: ?[\w#%-]+; ?\w+:", text)
    return "; " in text and text.count(" ") > 4 and not is_piece and not is_code


def diagnostics():
    for name, text in sources():
        code = re.sub(r"/\*.*?\*/", lambda m: re.sub(r"[^\n]", " ", m.group(0)), text, flags=re.S)
        for m in re.finditer(rf"{LITERAL}(?:\s*{LITERAL})*", code):
            said = "".join(part[1:-1] for part in re.findall(LITERAL, m.group(0)))
            if is_said(said):
                yield name, code.count("\n", 0, m.start()) + 1, said


def main():
    seed, count = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 200
    rng = random.Random(seed)
    kinds = [list(pages()), list(comments()), list(diagnostics())]
    for i, kind in enumerate(kinds):
        for name, line, text in rng.sample(kind, (count + i) // len(kinds)):
            print(f"{name}:{line}: {text}")


main()
