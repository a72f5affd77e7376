# SPDX-License-Identifier: MIT
"""Emitted C of a model whose sizes data decide, with what finds an access behind the actual rows: memory that begins
with bytes of our choice, other numbers in the rows that a search leaves empty, and, for the address sanitizer, rows
between the actual and the greatest size that are poisoned while a function runs.

The shapes are those of the comment above each function:  x: [9]  x2: [c_size]  y: [c_size]
"""
import os
import re

BYTES = [0x5A, 0xFF]                    # of the first run, of the second
ROWS = [None, -1000003]                 # in place of -1 behind the last result of a search
SEARCH = re.compile(r"/\* (?:(?!\*/).)*\b(nonzero|unique|non_max_suppression)\b(?:(?!\*/).)*\*/", re.S)
FUNCTION = re.compile(r"^/\*((?:(?!\*/).)*)\*/\nstatic (void|int) (m_\w+)\(([^()]*)\)\n\{\n(.*?)^\}\n", re.S | re.M)
BOUND = re.compile(r"> (\d+)\) return M_E_SIZE;\n\s*const int32_t (\w+) =")
HEAD = """
#include <sanitizer/asan_interface.h>
static void poison_rows(const void *p, size_t used, size_t most)
{
    if (used < most) __asan_poison_memory_region((const char *)p + used, most - used);
}
"""
FILL = """
static void *filled(size_t n)
{
    void *p = malloc(n);
    return p ? memset(p, atoi(getenv("FILL")), n) : NULL;
}
"""
OUTPUTS = """    int status = 0;
#define FILL_OUTPUT(name, type, count) memset(m_out_##name, atoi(getenv("FILL")), sizeof m_out_##name);
    M_OUTPUTS(FILL_OUTPUT)
"""


def fill_memory(text):
    text = text.replace("(unsigned char *)malloc(M_ARENA", "(unsigned char *)filled(M_ARENA")
    text = text.replace("\ntypedef struct Port", FILL + "\ntypedef struct Port", 1)
    return re.sub(r"^    int status = 0;\n", OUTPUTS, text, count=1, flags=re.M)


def other_rows(text):
    """The functions of searches with another number behind the last result."""
    found = lambda m: m.group(0).replace("= -1;", "= %d;" % ROWS[1]) if SEARCH.match(m.group(0)) else m.group(0)
    return FUNCTION.sub(found, text)


def parts_of(words):
    """Arguments between commas outside of brackets."""
    depth, parts = 0, [""]
    for c in words:
        depth += (c in "([{") - (c in ")]}")
        if c == "," and not depth: parts.append("")
        else: parts[-1] += c
    return [" ".join(p.split()) for p in parts]


def greatest(text):
    """The greatest value of each size, by its variable."""
    found = {}
    for value, name in BOUND.findall(text): found[name] = min(found.get(name, 1 << 30), int(value))
    return found


def value_of(expression, sizes):
    try:
        return int(eval(re.sub(r"(?<=\d)u\b", "", expression.replace("/", "//")), {"__builtins__": {}}, sizes))
    except Exception:
        return None


def sizes_in(text, name, count, known):
    """Of the first parameters of a function the greatest values by its calls; None: not known."""
    most = [None] * count
    calls = [text[m.end():] for m in re.finditer(r"(?<![\w ])\s+(?:status = |return |if \()?%s\(" % name, text)]
    for rest in calls:
        words, depth = "", 1
        for c in rest:
            depth += (c == "(") - (c == ")")
            if not depth: break
            words += c
        values = [value_of(w, known) for w in parts_of(words)[:count]]
        if any(v is None for v in values): return None
        most = [v if m is None else min(m, v) for m, v in zip(most, values)]
    return most if calls and None not in most else None


def wrapped(m, text, known):
    """A function, and one of its name that poisons what lies behind the actual rows and calls it."""
    comment, result, name, words, body = m.groups()
    parameters = parts_of(words)
    sizes = [p.split()[-1] for p in parameters if re.fullmatch(r"int32_t \w+", p)]
    shapes = dict(re.findall(r"(?:^ \* |  )(\w+): ((?:\[[^\]]*\])+)", comment, re.M))
    pointers = {p.split("restrict ")[-1].strip("*").split()[-1]: p for p in parameters if "restrict" in p}
    most = sizes_in(text, name, len(sizes), known) if sizes else None
    if not sizes or most is None: return m.group(0)
    zones, kept = [], []
    for pointer in pointers:
        dims = re.findall(r"\[([^\]]*)\]", shapes.get(pointer, "[?]"))
        values = [value_of(d, dict(zip(sizes, most))) for d in dims]
        if None in values or "?" in dims: continue
        used, whole = " * ".join(["(size_t)(%s)" % d for d in dims] or ["1"]), 1
        for v in values: whole *= v
        is_first = [bool(re.search(r"[A-Za-z_]", d)) for d in dims if d != "1"]
        if any(is_first[1:]) and "const " not in pointers[pointer]:         # rows of the greatest size
            kept.append("    __asan_unpoison_memory_region(%s, sizeof *%s * %d);\n" % (pointer, pointer, whole))
            continue
        kept.append("    __asan_unpoison_memory_region(%s, sizeof *%s * %s);\n" % (pointer, pointer, used))
        if any(is_first):
            zones.append("(%s, sizeof *%s * %s, sizeof *%s * %d);\n" % (pointer, pointer, used, pointer, whole))
    if not zones: return m.group(0)
    call = "%s_body(%s);\n" % (name, ", ".join(p.split()[-1].strip("*") for p in parameters))
    clear = "".join("    __asan_unpoison_memory_region(%s, %s);\n" % (z[1:].split(",")[0], z.rsplit(", ", 1)[1][:-3])
                    for z in zones)
    returns = "    const int status = " if result == "int" else "    "
    return "/*%s*/\nstatic %s %s_body(%s)\n{\n%s}\nstatic %s %s(%s)\n{\n%s%s%s%s%s%s}\n" % (
        comment, result, name, words, body, result, name, words, "".join("    poison_rows" + z for z in zones),
        "".join(kept), returns, call, clear, "    return status;\n" if result == "int" else "")


def poisoned(text):
    known = greatest(text)
    return FUNCTION.sub(lambda m: wrapped(m, text, known), text).replace("\n#include", HEAD + "\n#include", 1)


def rewrite(path, by):
    with open(path) as f: text = f.read()
    with open(path, "w") as f: f.write(by(text))


def prepare(folder, fill, is_sanitized):
    """Rewrites the emitted files for the run whose memory begins with this byte."""
    code, main = os.path.join(folder, "model.c"), os.path.join(folder, "model_main.c")
    if fill != BYTES[0]: return rewrite(code, other_rows)
    rewrite(main, fill_memory)
    if is_sanitized: rewrite(code, poisoned)
