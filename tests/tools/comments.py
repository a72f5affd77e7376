#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""comments.py [COUNT [SEED]]: draws COUNT (200) comments of the project at random, to be judged by a reader.

The population is every comment of the tracked sources in C, shell, Python and Make, in the order of the files' names: a
/* ... */, a run of lines that begin with #, or a docstring. Licence lines, rulers and the folders tests/golden and .ci are
excluded. random.Random(SEED) draws without replacement, so one commit and one seed give one sample."""
import random
import re
import subprocess
import sys

C_TOKEN = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|/\*.*?\*/', re.S)
HASH_RUN = re.compile(r"(?:^[ \t]*#.*\n)+", re.M)
DOCSTRING = re.compile(r'"""(?:.*?)"""', re.S)
HASH_SUFFIXES = (".sh", ".py", ".mk", "Makefile")


def plain(text):
    """The words alone: without comment marks and line breaks."""
    text = re.sub(r'^\s*(?:/\*|\*/|\*|#+|""")[ \t]?|(?:\*/|""")\s*$', " ", text, flags=re.M)
    return " ".join(text.split())


def comments(path, text):
    """(line, words) of each comment of a file."""
    if path.endswith((".c", ".h", ".def")):
        found = [m for m in C_TOKEN.finditer(text) if m.group().startswith("/*")]
    else:
        found = list(HASH_RUN.finditer(text))
        found += DOCSTRING.finditer(text) if path.endswith(".py") else []
    for m in sorted(found, key=lambda m: m.start()):
        words = plain(m.group())
        if re.search(r"[a-z]{2}", words) and "SPDX" not in words and not re.match(r"^(----.*----+|!.*|lw: .*)$", words):
            yield text.count("\n", 0, m.start()) + 1, words


def main():
    count, seed = (int(a) for a in (sys.argv[1:] + ["200", "20261122"][len(sys.argv) - 1:])[:2])
    paths = subprocess.run(["git", "ls-files"], capture_output=True, text=True, check=True).stdout.split("\n")
    paths = sorted(p for p in paths if p.endswith((".c", ".h", ".def") + HASH_SUFFIXES)
                   and not p.startswith(("tests/golden/", ".ci")))
    everything = [(p, line, words) for p in paths for line, words in comments(p, open(p, encoding="utf-8").read())]
    print(f"{len(everything)} comments; {count} of them, seed {seed}")
    for path, line, words in random.Random(seed).sample(everything, min(count, len(everything))):
        print(f"{path}:{line}: {words}")


if __name__ == "__main__":
    main()
