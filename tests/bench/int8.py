#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""int8.py BUILD [--check]: the int8 models of MLPerf Tiny beside TensorFlow Lite Micro with CMSIS-NN. Three tables:

- instructions of one inference at -O3 on each emulated core (tests/cross/run.sh, outputs byte by byte), for one
multiply-add of the
  model as it was, and as a share of CMSIS-NN's; on the Cortex-M4 also estimated cycles, where the estimator is beside
  the project;
- memory on the Cortex-M4: arena + inputs + outputs and the live-set bound, code at -O3 and -Os, constants, stack;
- `--ram` at 0.6 of the live-set bound: instructions beside those of the fastest plan (--combine none). The bound holds
what the
  limit bounds: with `--io arena` the tensors alive at once, else also the caller's inputs and outputs, which live all
  the time.

--check: as a test: `ok NAME` or `not ok NAME: why` for each figure against its limit, and the sum.

The figures of CMSIS-NN were counted on the same emulator with the same compiler, gcc 12. The lower bound is the largest
sum of tensors alive at once in the file's order. Cycles of both come from the same estimator, which knows no wait
states."""
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from common import ROOT, build_argument, emit, has_cortex, on_core

sys.path.insert(0, str(ROOT / "tests"))
import live_bound                                                                     # noqa: E402

RECORDED = ROOT / "../shared/models/mlperf-tiny"
ESTIMATOR = ROOT / "../shared/tools/qemu"
CORES = ("cortex-m0plus", "cortex-m3", "cortex-m4", "cortex-m55")
#          model                    MACs        bound   instructions of CMSIS-NN, core by core            cycles on the
# M4, as far as known
MODELS = (("ad01_int8",              264_192,    768,   (1_762_931, 955_911, 582_288, 149_920),           0.74e6),
          ("pretrainedResnet_quant", 12_501_632, 49152, (97_576_549, 41_759_517, 29_875_221, 4_812_459),  36.2e6),
          ("kws_ref_model",          2_656_768,  16000, (29_002_877, 10_544_710, 7_844_660, 1_784_648),   9.2e6),
          ("vww_96_int8",            7_489_664,  55296, (86_878_147, 32_083_100, 24_720_016, 6_433_176),  29.4e6),
          ("str_ww_ref_model",       826_368,    6656,  (9_318_982, 4_264_945, 2_225_795, 410_480),       None))
INSTRUCTIONS_AT_MOST = {"cortex-m55": 1.5}                           # of CMSIS-NN's; other cores 1
INSTRUCTIONS_OF_SHRUNK = 0.6                                          # visual wake words, of which half is dead
RAM_AT_MOST, RAM_BESIDE = 1.1, 1024                                   # of the bound, and bytes
TEXT_O3, TEXT_OS, STACK = 25 * 1024, 15 * 1024, 1024                  # bytes
# Of CMSIS-NN's cycles: LDRD and its like save instructions without saving cycles, so they have a limit of their own.
CYCLES_AT_MOST = {"ad01_int8": 0.68, "pretrainedResnet_quant": 0.5, "kws_ref_model": 0.58, "vww_96_int8": 0.38}
# --ram at a share of the live-set bound, and the instructions that it may cost.
BUDGETS, BUDGET_SHARE, BUDGET_COST = ("pretrainedResnet_quant", "kws_ref_model", "vww_96_int8"), 0.6, 1.15
# Figures above their limit, with the present bound: it tests against growth, not for the goal.
OPEN = {"vww_96_int8-ram": 82978}

GLUE = """
#include "harness.h"
#include <string.h>
#include MODEL_HEADER
#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
extern const signed char in0[], out0[];
static unsigned char arena[JOIN(MODEL_UPPER, _ARENA_SIZE) + 1] __attribute__((aligned(16)));
#define ROOM(name, type, count) static type got_##name[count];
JOIN(MODEL_UPPER, _OUTPUTS)(ROOM)
int bench_run(void)
{
    struct JOIN(MODEL, _inputs) in;
    struct JOIN(MODEL, _outputs) out;
#define FROM(name, type, count) in.name = (const type *)in0;
#define TO(name, type, count) out.name = got_##name;
    JOIN(MODEL_UPPER, _INPUTS)(FROM)
    JOIN(MODEL_UPPER, _OUTPUTS)(TO)
    return JOIN(MODEL, _run)(arena, &in, &out);
}
int bench_check(void)
{
    int wrong = 0;
#define COMPARE(name, type, count) wrong += memcmp(got_##name, out0, sizeof(type) * (count)) != 0;
    JOIN(MODEL_UPPER, _OUTPUTS)(COMPARE)
    return wrong;
}
"""

passed = failed = 0


def judge(name, is_good, why):
    global passed, failed
    passed, failed = passed + bool(is_good), failed + (not is_good)
    print(f"ok {name}" if is_good else f"not ok {name}: {why}", flush=True)


def vectors(name):
    return RECORDED / f"{name}.in0.npy", RECORDED / f"{name}.out0.npy"


def estimated_cycles(folder, name):
    """On the Cortex-M4; None where the estimator is not there."""
    if not (ESTIMATOR / "cycles.py").exists():
        return None
    source, expected = vectors(name)
    with tempfile.TemporaryDirectory() as work:
        (Path(work) / "glue.c").write_text(GLUE)
        subprocess.run([ESTIMATOR / "run.sh", "-m", "m4", "-O", "-O3 -ffp-contract=off", "-I", folder, "-I",
                        ROOT / "runtime", "-D", f"MODEL={name}",
                        "-D", f"MODEL_UPPER={name.upper()}", "-D", f'MODEL_HEADER="{name}.h"', "-b", f"in0={source}",
                        "-b", f"out0={expected}", "-o", work,
                        Path(work) / "glue.c", Path(folder) / f"{name}.c"], check=True, capture_output=True)
        return json.loads(subprocess.run([sys.executable, ESTIMATOR / "cycles.py", "--json", work], check=True,
                                         capture_output=True, text=True).stdout)["cycles"]


def ram(folder, name):
    """arena, inputs, outputs by the header."""
    return live_bound.header_bytes((folder / f"{name}.h").read_text(), name.upper())


def show_instructions(build, found, check):
    if not check:
        print(f"\n{'instructions, -O3':<24} {'core':<14} {'ours':>12} {'per MAC':>8} {'CMSIS-NN':>12} {'share':>6} "
              f"{'cycles':>11} {'CMSIS-NN':>11} {'share':>6}")
    for name, macs, _, recorded, recorded_cycles in found:
        for cpu, theirs in zip(CORES, recorded):
            folder = emit(build, name, RECORDED / f"{name}.tflite", cpu)
            ours = on_core(cpu, folder, name, *vectors(name))
            if "failed" in ours or "instructions" not in ours:
                judge(f"{name}-{cpu}", False, ours.get("failed", "nothing was counted"))
                continue
            share = ours["instructions"] / theirs
            cycles = estimated_cycles(folder, name) if cpu == "cortex-m4" else None
            cycles_share = cycles / recorded_cycles if cycles and recorded_cycles else None
            if check:
                most = INSTRUCTIONS_AT_MOST.get(cpu, INSTRUCTIONS_OF_SHRUNK if name == "vww_96_int8" else 1)
                judge(f"{name}-{cpu}-instructions", share <= most, f"{ours['instructions']}, {share:.3f} of "
                      f"CMSIS-NN's; at most {most} is wanted")
                if cycles_share:
                    judge(f"{name}-{cpu}-cycles", cycles_share <= CYCLES_AT_MOST[name],
                          f"{cycles_share:.3f} of CMSIS-NN's")
                continue
            print(f"{name:<24} {cpu:<14} {ours['instructions']:>12} {ours['instructions'] / macs:>8.2f} {theirs:>12} "
                  f"{share:>6.3f} {cycles or '-':>11}"
                  f" {int(recorded_cycles) if cycles and recorded_cycles else '-':>11}"
                  f" {f'{cycles_share:.3f}' if cycles_share else '-':>6}", flush=True)


def show_memory(build, found, check):
    if not check:
        print(f"\n{'bytes, --target cortex-m4':<26} {'arena':>7} {'inputs':>7} {'outputs':>7} {'sum':>7} {'bound':>7} "
              f"{'limit':>7} {'text -O3':>9} {'text -Os':>9} {'rodata':>8} {'stack':>6}")
    for name, _, bound, _, _ in found:
        folder = emit(build, name, RECORDED / f"{name}.tflite", "cortex-m4")
        arena, inputs, outputs = ram(folder, name)
        fast, small = (on_core("cortex-m4", folder, name, *vectors(name), o) for o in ("-O3", "-Os"))
        total, limit = arena + inputs + outputs, int(RAM_AT_MOST * bound) + RAM_BESIDE
        if not check:
            print(f"{name:<26} {arena:>7} {inputs:>7} {outputs:>7} {total:>7} {bound:>7} {limit:>7}"
                  f" {fast.get('text bytes', '-'):>9} {small.get('text bytes', '-'):>9}"
                  f" {fast.get('rodata bytes', '-'):>8} {fast.get('stack bytes', '-'):>6}", flush=True)
            continue
        for what, figure, most in (("ram", total, limit), ("text-O3", fast.get("text bytes"), TEXT_O3),
                                   ("text-Os", small.get("text bytes"), TEXT_OS),
                                   ("stack-O3", fast.get("stack bytes"), STACK),
                                   ("stack-Os", small.get("stack bytes"), STACK)):
            most = max(most, OPEN.get(f"{name}-{what}", 0))
            judge(f"{name}-{what}", figure is not None and figure <= most, f"{figure} bytes; at most {most} is wanted")


def show_budgets(build, found, check):
    if not check:
        print(f"\n{'--ram at 0.6 of the bound':<26} {'--io':<6} {'bound':>7} {'limit':>7} {'RAM':>7} "
              f"{'instructions':>12} {'fastest':>12} {'more':>7}")
    for name, _, bound, _, _ in found:
        if name not in BUDGETS:
            continue
        folder = emit(build, name, RECORDED / f"{name}.tflite", "cortex-m4", ["--combine", "none"])
        held = sum(ram(folder, name)[1:])
        fastest = on_core("cortex-m4", folder, name, *vectors(name)).get("instructions")
        for io, bytes_at_once in (("caller", bound + held), ("arena", bound)):
            limit = int(BUDGET_SHARE * bytes_at_once)
            folder = emit(build, name, RECORDED / f"{name}.tflite", "cortex-m4", ["--ram", str(limit), "--io", io])
            used = ram(folder, name)
            total = used[0] if io == "arena" else sum(used)
            ours = on_core("cortex-m4", folder, name, *vectors(name)).get("instructions")
            if check:
                judge(f"{name}-budget-{io}", ours and fastest and total <= limit and ours <= BUDGET_COST * fastest,
                      f"{total} bytes of {limit}, {ours} instructions beside {fastest}")
            else:
                print(f"{name:<26} {io:<6} {bytes_at_once:>7} {limit:>7} {total:>7} {ours:>12} {fastest:>12}"
                      f" {100 * (ours / fastest - 1):>+6.1f}%", flush=True)


def main():
    build, check = build_argument(), "--check" in sys.argv
    found = [m for m in MODELS if (RECORDED / f"{m[0]}.tflite").exists()]
    why = None if has_cortex() else "arm-none-eabi-gcc or qemu-system-arm is not installed"
    if not found:
        why = "no recorded models beside the project"
    if why:
        print(f"skip int8: {why}")
    else:
        show_instructions(build, found, check)
        show_memory(build, found, check)
        show_budgets(build, found, check)
    if check:
        print(f"{passed} passed, {failed} failed, {1 if why else 0} skipped")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
