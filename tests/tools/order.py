#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""order.py [FOLDER...]: two calls that create nodes, tensors or variables, whose order C leaves open.

Serial numbers decide the order of nodes and terms, hence the emitted text. Two creating calls in one argument list, in
one initializer, or on both sides of an operator other than && || ?: and the comma may run in either order, so the text
would depend on the compiler that built Loopwright. Prints FILE:LINE: the names of such calls; status 1 if there are
any.

A function creates if it takes a serial number, or calls a function that does, directly or by macros. A call through a
pointer creates if its member's name is in MEMBERS.
"""
import os
import re
import sys

ROOTS = {"ctx_serial"}
# Expressions are interned and ordered by their structure: their own serial numbers decide nothing.
INTERNED = {"intern"}
KEYWORDS = {"if", "for", "while", "switch", "return", "sizeof", "do", "else", "case", "default", "goto"}
TOKEN = re.compile(r"[A-Za-z_]\w*|\d[\w.]*|->|\+\+|--|<<=|>>=|<<|>>|[-+*/%&|^=!<>]=|&&|\|\||\S")


def blanked(text):
    """The text with comments, strings and characters replaced by blanks; lines stay."""
    pattern = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)
    return pattern.sub(lambda m: ("0" if m.group()[0] in "\"'" else " ") + re.sub(r"[^\n]", " ", m.group()[1:]), text)


def tokens_of(text):
    found, line, at = [], 1, 0
    for m in TOKEN.finditer(text):
        line += text.count("\n", at, m.start())
        at = m.start()
        found.append((m.group(), line))
    return found


def matching(tokens):
    """The index of the bracket that closes each one that opens, and the other way round."""
    pairs, stack = {}, []
    for i, (t, _) in enumerate(tokens):
        if t in "([{":
            stack.append(i)
        elif t in ")]}" and stack:
            j = stack.pop()
            pairs[i], pairs[j] = j, i
    return pairs


class Source:
    def __init__(self, path):
        self.path = path
        text = open(path, encoding="utf-8").read()
        self.defines = {}
        text = blanked(text)
        lines = text.split("\n")
        i = 0
        while i < len(lines):
            if lines[i].lstrip().startswith("#"):
                first, whole = i, lines[i]
                while lines[i].rstrip().endswith("\\"):
                    i += 1
                    whole += "\n" + lines[i]
                for k in range(first, i + 1):
                    lines[k] = " " * len(lines[k])
                m = re.match(r"\s*#\s*define\s+(\w+)(\([^)]*\))?(.*)", whole, re.S)
                if m:
                    self.defines[m.group(1)] = set(re.findall(r"([A-Za-z_]\w*)\s*\(", m.group(3)))
            i += 1
        self.tokens = tokens_of("\n".join(lines))
        self.pairs = matching(self.tokens)
        self.functions, self.statics = {}, set()
        self.find_functions()

    def find_functions(self):
        t, i = self.tokens, 0
        while i < len(t):
            if t[i][0] == "(" and i and re.match(r"[A-Za-z_]", t[i - 1][0]) and i in self.pairs:
                close = self.pairs[i]
                if close + 1 < len(t) and t[close + 1][0] == "{" and t[i - 1][0] not in KEYWORDS:
                    end = self.pairs.get(close + 1, len(t) - 1)
                    self.functions[t[i - 1][0]] = (close + 1, end)
                    if self.is_static(i):
                        self.statics.add(t[i - 1][0])
                    i = end
                else:
                    i = close
            elif t[i][0] == "{" and i in self.pairs:
                i = self.pairs[i]
            i += 1

    def is_static(self, i):
        while i > 0 and self.tokens[i - 1][0] not in (";", "}"):
            i -= 1
            if self.tokens[i][0] == "static":
                return self.path.endswith(".c")
        return False

    def calls_in(self, begin, end):
        t = self.tokens
        return {t[k][0] for k in range(begin, end) if t[k + 1][0] == "(" and re.match(r"[A-Za-z_]", t[k][0])
                and t[k - 1][0] not in ("->", ".")}


class Program:
    """`creating`: (path, name) of functions and macros that create; a path of None: in any file."""

    def __init__(self, folders):
        self.sources = [Source(os.path.join(d, f)) for folder in folders for d, _, fs in os.walk(folder)
                        for f in sorted(fs) if f.endswith((".c", ".h"))]
        self.sources.sort(key=lambda s: s.path)
        own = {(s.path, f) for s in self.sources for f in list(s.functions) + list(s.defines)}
        shared = {}
        for s in self.sources:
            for f in list(s.functions) + list(s.defines):
                if f not in s.statics:
                    shared[f] = (s.path, f)
        self.own, self.shared = own, shared
        callers = {}
        for s in self.sources:
            bodies = [(f, s.calls_in(*at)) for f, at in s.functions.items()] + list(s.defines.items())
            for f, names in bodies:
                for n in names:
                    callers.setdefault(self.resolve(s.path, n), set()).add((s.path, f))
        self.creating, left = set(), [self.resolve("", r) for r in ROOTS]
        while left:
            n = left.pop()
            if n in self.creating or n[1] in INTERNED:
                continue
            self.creating.add(n)
            left += callers.get(n, ())

    def resolve(self, path, name):
        return (path, name) if (path, name) in self.own else self.shared.get(name, ("", name))

    def creates(self, path, name):
        return self.resolve(path, name) in self.creating


class Finder:
    """Walks the expressions of a function."""

    def __init__(self, source, program):
        self.s, self.program, self.found = source, program, []

    def is_creating(self, i):
        t = self.s.tokens
        if t[i + 1][0] != "(" if i + 1 < len(t) else True:
            return False
        is_member = i and t[i - 1][0] in ("->", ".")
        return t[i][0] in MEMBERS if is_member else self.program.creates(self.s.path, t[i][0])

    def report(self, names):
        self.found.append((self.s.path, names[0][1], ", ".join(n for n, _ in names)))

    def unsequenced(self, parts):
        """Creating calls of parts whose order is open."""
        own = [p for p in parts if p]
        if len(own) > 1:
            self.report([p[0] for p in own])
        return own[0] if own else []

    def items(self, begin, end, separator):
        parts, at, i = [], begin, begin
        while i < end:
            if self.s.tokens[i][0] in separator:
                parts.append((at, i))
                at = i + 1
            elif self.s.tokens[i][0] in "([{" and i in self.s.pairs:
                i = self.s.pairs[i]
            i += 1
        return parts + [(at, end)]

    def expression(self, begin, end):
        """The first creating calls of an expression, which has no commas outside brackets."""
        first = []
        for a, b in self.items(begin, end, ("&&", "||", "?", ":")):
            part = self.unsequenced([self.operand(x, y) for x, y in self.items(a, b, OPERATORS)])
            first = first or part
        return first

    def operand(self, begin, end):
        t, i, found = self.s.tokens, begin, []
        while i < end:
            if t[i][0] in "([{" and i in self.s.pairs:
                close = self.s.pairs[i]
                inner = [self.expression(a, b) for a, b in self.items(i + 1, close, (",",))]
                is_call = t[i][0] == "(" and re.match(r"[A-Za-z_)\]]", t[i - 1][0]) and t[i - 1][0] not in KEYWORDS
                is_list = t[i][0] == "{" or is_call
                part = self.unsequenced(inner) if is_list else next((p for p in inner if p), [])
                found = found or part
                i = close
            elif re.match(r"[A-Za-z_]", t[i][0]) and self.is_creating(i):
                found = [(t[i][0], t[i][1])] + found
            i += 1
        return found

    def statements(self, begin, end):
        """Walks a block: statements, and blocks inside it."""
        t, at, i = self.s.tokens, begin, begin
        while i < end:
            word = t[i][0]
            if word in ("if", "for", "while", "switch") and t[i + 1][0] == "(":
                close = self.s.pairs[i + 1]
                for a, b in self.items(i + 2, close, (";",)):
                    for x, y in self.items(a, b, (",",)):
                        self.expression(x, y)
                at = i = close + 1
                continue
            if word == "{" and i == at:
                close = self.s.pairs[i]
                self.statements(i + 1, close)
                at = i = close + 1
                continue
            if word in ("else", "do") and i == at:
                at = i = i + 1
                continue
            if word in ("case", "default") and i == at:
                while t[i][0] != ":":
                    i += 1
                at = i = i + 1
                continue
            if word == ";":
                for a, b in self.items(at, i, (",",)):
                    self.expression(a, b)
                at = i + 1
            elif word in "([{" and i in self.s.pairs:
                i = self.s.pairs[i]
            i += 1


OPERATORS = {"+", "-", "*", "/", "%", "<", ">", "<=", ">=", "==", "!=", "&", "|", "^", "<<", ">>", "=", "+=", "-=",
             "|=", "&=", "*=", "/="}
# Pointers to functions of tables, which create nodes.
MEMBERS = {"compute", "build", "alter", "schedule", "run", "visit", "translate", "lower", "simplify"}


def main(folders):
    program = Program(folders)
    found = []
    for s in program.sources:
        finder = Finder(s, program)
        for begin, end in s.functions.values():
            finder.statements(begin + 1, end)
        found += finder.found
    for path, line, names in sorted(set(found)):
        print("%s:%d: the order of %s is open" % (path, line, names))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:] or ["emitter", "ops", "schedules"]))
