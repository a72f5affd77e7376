#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""comments.py SEED [COUNT]: COUNT comments (200) of the C sources, drawn at random, for a review of their words.

Run it in the project's folder. Every comment is equally likely, whatever its length; titles, license lines, the marks
of runtime pieces (`lw: ...`) and tests/golden are left out. Each is printed as FILE:LINE: TEXT."""
import random
import re
import subprocess
import sys

TOKEN = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|/\*.*?\*/', re.S)


def comments():
    files = subprocess.run(["git", "ls-files", "*.c", "*.h", "*.def"], capture_output=True, text=True, check=True)
    for name in files.stdout.split():
        if name.startswith("tests/golden/"):
            continue
        text = open(name).read()
        for found in TOKEN.finditer(text):
            body = found.group(0)
            if body.startswith("/*") and not re.match(r"/\* (-+ |SPDX|lw:)", body):
                line = text.count("\n", 0, found.start()) + 1
                yield f"{name}:{line}: " + re.sub(r"\s*\n\s*\*?\s*", " ", body)


if __name__ == "__main__":
    random.seed(int(sys.argv[1]))
    for comment in sorted(random.sample(list(comments()), int(sys.argv[2]) if len(sys.argv) > 2 else 200)):
        print(comment)
