#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""same_tokens.py OLD NEW: two emitted files, or folders of them, are equal but for names, comments and white space.

Each C file is a sequence of tokens. The files agree if every token agrees, where identifiers may differ if in each
block one name always stands for one other; a name that a block, or a function, is the first to use may stand for
another one in the next. Prints the names that changed, or the first token that differs with its place; status 1 if any
file differs."""
import re
import sys
from pathlib import Path

TOKEN = re.compile(
    r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\'|[A-Za-z_]\w*|\.?\d(?:[eEpP][+-]|[\w.])*|\S', re.S)
KEYWORDS = set("auto break case char const continue default do double else enum extern float for goto if inline int "
               "long register restrict"
               " return short signed sizeof static struct switch typedef union unsigned void volatile while define "
               "include ifdef ifndef endif"
               " elif undef defined NULL INFINITY NAN HUGE_VAL INT32_MIN INT32_MAX memcpy memset size_t".split())


def tokens(text):
    """(token, line), without comments."""
    line, last = 1, 0
    for match in TOKEN.finditer(text):
        line += text.count("\n", last, match.start())
        if not match.group().startswith(("/*", "//")):
            yield match.group(), line
        last = match.start()


def is_renamable(token):
    return ((token[0].isalpha() or token[0] == "_") and token not in KEYWORDS
            and not re.fullmatch(r"(?:lw_|LW_)\w*|u?int\d+_t", token))


def difference(old, new, renamed):
    """The first position where the texts differ by more than names, or None."""
    outer = []
    there, back = {}, {}
    before, after = list(tokens(old)), list(tokens(new))
    for (a, at), (b, to) in zip(before, after):
        if a == "{":
            outer.append((dict(there), dict(back)))
        if a == "}" and outer:
            there, back = outer.pop()
        if a in "};" and not outer:
            there, back = {}, {}
        if a != b and not (is_renamable(a) and is_renamable(b)):
            return f"line {at}: {a} became {b} in line {to}"
        if not is_renamable(a):
            continue
        if there.setdefault(a, b) != b or back.setdefault(b, a) != a:
            return f"line {at}: {a} became {there[a]} before and {b} in line {to}, which was {back.get(b)}"
        if a != b:
            renamed.add(f"{a} -> {b}")
    if len(before) != len(after):
        return f"{len(before)} tokens became {len(after)}"
    return None


def main():
    if len(sys.argv) != 3:
        sys.exit("usage: same_tokens.py OLD NEW")
    old, new = Path(sys.argv[1]), Path(sys.argv[2])
    pairs = [(old, new)] if old.is_file() else [(f, new / f.relative_to(old)) for f in sorted(old.rglob("*.[ch]"))]
    status = 0
    for a, b in pairs:
        renamed = set()
        why = difference(a.read_text(), b.read_text(), renamed) if b.exists() else "it is gone"
        if why:
            print(f"{b}: {why}")
            status = 1
        elif renamed:
            print(f"{b}: " + ", ".join(sorted(renamed)))
    return status


if __name__ == "__main__":
    sys.exit(main())
