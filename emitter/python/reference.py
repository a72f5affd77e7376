# SPDX-License-Identifier: MIT
"""reference.py: prints the reference of the Python package in Markdown, from signatures and docstrings. It reads the
sources and imports nothing, so it requires neither the library nor numpy. docs/python-reference.md holds the output."""
from __future__ import annotations

import ast
import re
import sys
from pathlib import Path
from typing import Iterator, Union

PACKAGE = Path(__file__).resolve().parent / "loopwright"
Function = ast.FunctionDef
Definition = Union[ast.FunctionDef, ast.ClassDef]
TERM = re.compile(r"(\S.*?) {2,}(\S.*)")
STEPS = "Steps of a schedule"
GROUPS = ("Functions", "Classes", STEPS, "Exceptions")


# ---- Sources ---------------------------------------------------------------------------------------------------------

class Module:
    def __init__(self, name: str) -> None:
        self.text = (PACKAGE / f"{name}.py").read_text()
        self.tree = ast.parse(self.text)

    def definition(self, name: str) -> Definition:
        for node in self.tree.body:
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and node.name == name:
                return node
        sys.exit(f"reference.py: {name} is neither a function nor a class")

    def source(self, node: ast.AST | None) -> str:
        text = ast.get_source_segment(self.text, node) if node else None
        return " ".join((text or "").split())


def exported() -> list[tuple[str, str]]:
    """Returns the module and the name of everything that __init__.py imports, in the order of the modules' texts."""
    found = []
    for node in Module("__init__").tree.body:
        if isinstance(node, ast.ImportFrom) and node.module:
            names = {alias.name for alias in node.names}
            found += [(node.module, d.name) for d in Module(node.module).tree.body
                      if isinstance(d, (ast.FunctionDef, ast.ClassDef)) and d.name in names]
    order = ["model", "schedule", "_abi", "_host"]
    return sorted(found, key=lambda pair: order.index(pair[0]) if pair[0] in order else len(order))


def group_of(node: Definition) -> str:
    if isinstance(node, ast.FunctionDef):
        return "Functions"
    return "Exceptions" if node.name.endswith("Error") else "Classes"


def is_property(node: Function) -> bool:
    return any(isinstance(d, ast.Name) and d.id == "property" for d in node.decorator_list)


def methods(node: Definition) -> list[Function]:
    return [m for m in node.body if isinstance(m, ast.FunctionDef) and not m.name.startswith("_")
            and not is_property(m)]


def doc_of(node: Definition) -> str:
    return ast.get_docstring(node) or sys.exit(f"reference.py: {node.name} has no docstring")


# ---- Signatures ------------------------------------------------------------------------------------------------------

def unquoted(kind: str) -> str:
    """Returns an annotation without the quotes of types that are texts in the source."""
    return re.sub(r'"(\w+\.\w+\[\w+\]|[A-Z]\w*)"', r"\1", kind)


def parameter(module: Module, a: ast.arg, default: ast.expr | None, star: str = "") -> str:
    kind = unquoted(module.source(a.annotation).replace("Unpack[Options]", "Options"))
    equals = " = " if kind else "="
    return star + a.arg + (f": {kind}" if kind else "") + (equals + module.source(default) if default else "")


def parameters(module: Module, node: Function) -> list[str]:
    a = node.args
    plain = [*a.posonlyargs, *a.args]
    defaults = [None] * (len(plain) - len(a.defaults)) + list(a.defaults)
    taken = [parameter(module, p, d) for p, d in zip(plain, defaults) if p.arg != "self"]
    if a.vararg:
        taken.append(parameter(module, a.vararg, None, "*"))
    elif a.kwonlyargs:
        taken.append("*")
    taken += [parameter(module, p, d) for p, d in zip(a.kwonlyargs, a.kw_defaults)]
    return taken + ([parameter(module, a.kwarg, None, "**")] if a.kwarg else [])


def signature(module: Module, node: Function, name: str) -> str:
    """Returns the signature in lines of at most 100 columns, as many parameters in each as fit."""
    result = unquoted(module.source(node.returns))
    lines, indent = [f"{name}("], " " * (len(name) + 1)
    taken = parameters(module, node)
    for k, text in enumerate(taken):
        text += "," if k + 1 < len(taken) else f") -> {result}"
        if len(lines[-1]) + 1 + len(text) > 100 and not lines[-1].endswith("("):
            lines.append(indent + text)
        else:
            lines[-1] += ("" if lines[-1].endswith("(") else " ") + text
    return "\n".join(lines) + ("" if taken else f") -> {result}")


def fields(module: Module, node: ast.ClassDef) -> list[str]:
    """Returns the fields of a data class."""
    return [module.source(a) for a in node.body if isinstance(a, ast.AnnAssign)] if node.decorator_list else []


def fenced(text: str) -> str:
    return f"```python\n{text}\n```"


# ---- Docstrings ------------------------------------------------------------------------------------------------------

def code(term: str) -> str:
    return f"`{term}`"


def prose(text: str) -> str:
    """Returns a text in Markdown, in which < and * stand for themselves outside code."""
    parts = re.split(r"(`[^`]*`)", text)
    return "".join(p if p.startswith("`") else re.sub(r"([<*])", r"\\\1", p) for p in parts)


def items(lines: list[str]) -> Iterator[str]:
    """Yields paragraphs, and list items for terms: `term  meaning`, or a term above an indented meaning. An indented
    line with a gap is a term below the term."""
    kind, text = "", ""
    for k, line in enumerate(lines):
        indented, gap = line.startswith(" "), TERM.fullmatch(line.strip())
        below = k + 1 < len(lines) and lines[k + 1].startswith(" ")
        if gap or not indented and below:
            term, meaning = gap.groups() if gap else (line, "")
            yield kind + prose(text)
            kind, text = f"{'  ' * indented}- {code(term)}: ", meaning
        elif not indented and kind:
            yield kind + prose(text)
            kind, text = "", line
        else:
            text = f"{text} {line.strip()}".strip()
    yield kind + prose(text)


def block(text: str) -> str:
    """Returns a part of a docstring, between empty lines, in Markdown."""
    if text.startswith(">>>"):
        return fenced(re.sub(r" +# doctest:.*", "", text).replace("<BLANKLINE>", ""))
    found = [item for item in items(text.splitlines()) if item]
    is_item = [item.lstrip().startswith("- ") for item in found]
    joins = ["" if k == 0 else "\n" if is_item[k] and is_item[k - 1] else "\n\n" for k in range(len(found))]
    return "".join(join + item for join, item in zip(joins, found))


def parts_of(node: Definition) -> tuple[str, list[str]]:
    """Returns the usage of a step in the words of a file, or "", and the parts of the docstring."""
    parts = re.split(r"\n\s*\n", doc_of(node))
    return (parts[0], parts[1:]) if parts[0].split()[0] == node.name.rstrip("_") else ("", parts)


# ---- Sections --------------------------------------------------------------------------------------------------------

def section(module: Module, node: Definition, title: str, level: int, call: str = "") -> list[str]:
    lines = [f"{'#' * level} {title}"]
    usage, parts = parts_of(node)
    if isinstance(node, ast.FunctionDef):
        lines.append(fenced(signature(module, node, call or f"loopwright.{title}")))
    elif fields(module, node):
        lines.append(fenced("\n".join(fields(module, node))))
    if usage:
        lines.append("In a file: " + code(" ".join(usage.split())))
    return lines + [block(part) for part in parts]


def method_sections(module: Module, node: Definition, owner: str, level: int) -> list[str]:
    return [text for m in methods(node)
            for text in section(module, m, f"{owner}.{m.name}", level, f"{owner.lower()}.{m.name}")]


def options() -> list[str]:
    """Returns the section of the keyword options."""
    module = Module("_options")
    table = [module.source(a) for a in module.definition("Options").body if isinstance(a, ast.AnnAssign)]
    rows = [row.split(": ", 1) for row in table]
    return ["## Options", "`**options: Options` accepts these names. [command-line.md](command-line.md) explains "
            "the options of the same names, with dashes: `no_shrink` is `--no-shrink` there.",
            "\n".join(["| option | type |", "|---|---|",
                       *(f"| {code(name)} | {code(kind.replace('|', chr(92) + '|'))} |" for name, kind in rows)])]


def index(pairs: list[tuple[str, Definition]]) -> str:
    """Returns a table of names with the first sentence of each docstring."""
    rows = ["| name | |", "|---|---|"]
    for title, node in pairs:
        sentence = re.split(r"(?<=[.:;]) |[.:;]$", " ".join(parts_of(node)[1][0].split()))[0].rstrip(".:;")
        anchor = re.sub(r"[^a-z0-9_]", "", title.lower())
        rows.append(f"| [{title}](#{anchor}) | {prose(sentence)} |")
    return "\n".join(rows)


def main() -> None:
    made: dict[str, list[str]] = {name: [] for name in GROUPS}
    named: dict[str, list[tuple[str, Definition]]] = {name: [] for name in GROUPS}
    for home, name in exported():
        module = Module(home)
        node = module.definition(name)
        group = group_of(node)
        made[group] += section(module, node, name, 3)
        named[group].append((name, node))
        if isinstance(node, ast.ClassDef):
            made[group] += method_sections(module, node, name, 4)
            named[group] += [(f"{name}.{m.name}", m) for m in methods(node)]
    steps = Module("_steps")
    base = steps.definition("Steps")
    made[STEPS] = ["Each method returns the schedule, so that calls can follow one another.",
                   *method_sections(steps, base, "Schedule", 3)]
    named[STEPS] = [(f"Schedule.{m.name}", m) for m in methods(base)]
    lines = [text for name in GROUPS for text in [f"## {name}", *made[name]]]
    print("\n\n".join([index([pair for name in GROUPS for pair in named[name]]), *lines, *options()]))


if __name__ == "__main__":
    main()
