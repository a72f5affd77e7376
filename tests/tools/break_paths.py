#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Breaks each path of the fast interpreter once (kernels, kinds of loads and stores, orders of loops) and shows that
tests/unit/test_interpret.c and random schedules object. From the project's root, after a build:

    tests/tools/break_paths.py build [NAME...]

A break that no test catches is printed, and the status is 1."""
import os
import re
import subprocess
import sys

FOLDER = "emitter/ir/interpret/"
SEEDS = ["400", "4000"]         # random programs: more of them if the first do not object
DAMAGE = {"int32_t": "^= 1", "float": "+= 1.0f", "Scalar": ".i ^= 1", "int8_t": "^= 1", "uint8_t": "^= 1",
          "uint16_t": "^= 1", "int16_t": "^= 1"}

# What is broken, the file, its text (which occurs once), and the text instead
BREAKS = [
    ("sums begun by their chain", "program.c", "    init.part = BLOCK_INIT;", "    init.part = BLOCK_UPDATE;"),
    ("sums begun under a condition", "program.c", "init.cond = begins->kind == EXPR_INT ? NULL : begins;", ""),
    ("sums begun before their chain", "program.c", "begins->kind != EXPR_INT || begins->integer)", "true)"),
    ("lanes of several loops", "program.c", "= l / inner % n;", "= l % n;"),
    ("chunks of a loop", "program_run.c", "*s->base = base;", "*s->base = 0;"),
    ("load of a row", "lanes.c", "NAME##_row(to, even, lanes);", "NAME##_row(to, from, lanes), to[lanes - 1] = 0;"),
    ("load of equal steps", "lanes.c", "to[l] = even[l * step];", "to[l] = even[0];"),
    ("load of runs of an element", "lanes.c", "FILL(to + l, from[o->at[l]],", "FILL(to + l, from[o->at[0]],"),
    ("load of several rows", "lanes.c", "_row(to + l, from + o->at[l],", "_row(to + l, from + o->at[0],"),
    ("load of single lanes", "lanes.c", "to[l] = from[o->at[l]];", "to[l] = from[o->at[0]];"),
    ("load with checks", "lanes.c", "lane_put(rep, in->to, l, v);", "lane_put(rep, in->to, l, (Scalar){ 0 });"),
    ("load of disabled lanes", "lanes.c", "x->mask && !x->mask_step && !x->mask[0]", "x->mask && !x->mask_step"),
    ("store of rows", "lanes.c", "_row(to + o->at[l], value + l,", "_row(to + o->at[0], value + l,"),
    ("store of single lanes", "lanes.c", "to[o->at[l]] = (M)value[l * t->value.step];",
     "to[o->at[0]] = (M)value[l * t->value.step];"),
    ("reduction of rows", "lanes.c", "_row(to + o->at[l], next + l,", "_row(to + o->at[l], next,"),
    ("reduction of runs", "lanes.c", "old = init[k * init_step];", "old = (R)(init[k * init_step] + 1);"),
    ("general store", "program_run.c", "l < lanes; l++) {\n        if (s->guard.at && !is_on(s->guard, l)) continue;",
     "l < lanes; l++) {\n        if (s->guard.at && is_on(s->guard, l)) continue;"),
    ("offsets", "lanes.c", "o->at[l] = clamp(sum_terms(0,", "o->at[l] = clamp(sum_terms(l == 2,"),
]


def wrapped(name, definition, new, wrapper):
    """The kernel or store `name` gets another name, and the wrapper changes its last lane."""
    return (name, "lanes.c", definition, new + "\n" + wrapper)


def kernels(text):
    found = []
    for line, macro, name, register in re.findall(r"^((OPERATION\d|SELECT)\((\w+), (\w+).*)$", text, re.M):
        found.append((line, macro, name, register))
    for line, macro, name, memory, register in re.findall(r"^((LOAD)\((\w+), (\w+), (\w+), .*)$", text, re.M):
        found.append((line, macro, name, register))
    for line, macro, name, register in re.findall(r"^((SPLAT)\((\w+), \w+, (\w+)\))$", text, re.M):
        found.append((line, macro, name, register))
    for line, macro, name, register in found:
        if name == "NAME":
            continue
        wrapper = (f"static void {name}(const Instr *in, int lanes)\n{{\n    {name}_right(in, lanes);\n"
                   f"    (({register} *)in->to)[lanes - 1]{DAMAGE[register]};\n}}\n")
        yield wrapped(name, line, line.replace(f"({name},", f"({name}_right,"), wrapper)
    for name, body in [("general", "lane_put(in->rep[3], in->to, l, scalar_apply("),
                       ("load_wide", "load_carefully(in, lanes, access_at(in->access));")]:
        start = text.index(f"static void {name}(const Instr *in, int lanes)")
        end = text.index("\n}\n", start) + 3
        old = text[start:end]
        assert body in old
        wrapper = (f"static void {name}(const Instr *in, int lanes)\n{{\n    {name}_right(in, lanes);\n"
                   f"    const Rep rep = in->access ? REP_WIDE : in->rep[3];\n"
                   f"    Scalar v = lane_get(rep, in->to, lanes - 1);\n"
                   f"    if (rep == REP_F32) v.f += 1.0; else v.i ^= 1;\n"
                   f"    lane_put(rep, in->to, lanes - 1, v);\n}}\n")
        yield wrapped(name, old, old.replace(f"void {name}(", f"void {name}_right("), wrapper)


def finishes(text):
    for line, name, memory in re.findall(r"^((?:STORE|REDUCE)\((\w+), (\w+),.*)$", text, re.M):
        if name == "NAME":
            continue
        wrapper = (f"static void {name}(const Strip *s, int64_t at, int lanes)\n{{\n    {name}_right(s, at, lanes);\n"
                   f"    const ProgramAccess *x = &s->sink[0].access;\n"
                   f"    (({memory} *)x->own)[at + x->offsets->at[lanes - 1]] {DAMAGE[memory]};\n}}\n")
        yield wrapped(name, line, line.replace(f"({name},", f"({name}_right,"), wrapper)


FLAGS = ["-std=c99", "-O1", "-I.", "-Iemitter"]


def compile_object(build, source, name):
    to = f"{build}/{name}.o"
    subprocess.run(os.environ.get("CC", "cc").split() + FLAGS + ["-c", "-o", to, source], check=True)
    return to


def link(build, test, broken):
    """The test's program with the broken source before the library, which has the right one."""
    program = f"{build}/broken_{os.path.basename(test)[:-2]}"
    subprocess.run(os.environ.get("CC", "cc").split() + ["-o", program, test, broken, f"{build}/internal.a", "-lm"],
                   check=True)
    return program


def fails(command):
    try:
        return subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=300).returncode
    except subprocess.TimeoutExpired:
        return 1


def main():
    build, only = sys.argv[1], sys.argv[2:]
    text = open(FOLDER + "lanes.c").read()
    missed = count = 0
    tests = ("test_interpret", "test_random_schedules")
    table, schedules = (compile_object(build, f"tests/unit/{t}.c", t) for t in tests)
    right = compile_object(build, FOLDER + "lanes.c", "broken")
    if any(fails([link(build, t, right)]) for t in (table, schedules)):
        sys.exit("the tests fail without a break")
    for name, file, old, new in BREAKS + list(kernels(text)) + list(finishes(text)):
        if only and not any(word in name for word in only):
            continue
        whole = open(FOLDER + file).read()
        if whole.count(old) != 1:
            sys.exit(f"{name}: \"{old}\" occurs {whole.count(old)} times in {file}")
        source = f"{build}/broken.c"
        open(source, "w").write(whole.replace(old, new))
        broken = compile_object(build, source, "broken")
        by_table, random = fails([link(build, table, broken)]), link(build, schedules, broken)
        by_random = next((seeds for seeds in SEEDS if fails([random, "1", seeds])), None)
        print(f"{name:32} {'test_interpret' if by_table else '-':16} "
              f"{f'{by_random} random programs' if by_random else '-'}", flush=True)
        count += 1
        missed += not by_table or not by_random
    print(f"{count} broken paths, {missed} of them not caught by both")
    return missed > 0


if __name__ == "__main__":
    sys.exit(main())
