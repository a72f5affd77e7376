#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""report.py BUILD [all|CORE[,CORE...] [NAME...]] [--check]: the totals of `report --cc` beside the linked firmware, for the recorded models on the emulated
cores at -O2 and -Os. A line each:

- flash: the bytes that the image gains if NAME_run is the model's instead of an empty function;
- RAM: arena, inputs and outputs by the header, and the data that the image gains;
- stack: painted, by tests/cross/run.sh; instructions: executed by the same run, beside the report's with --cc and --runner, with --cc, and without;
- code at -O2: the report's estimate without a compiler beside that with one; flash: with that estimate.

At the end, for each core and level: the largest errors. --check: status 1 if flash is not within 3 %, stack within 64 bytes, RAM exact, or
instructions within 5 % with --cc, with a runner or without, and 15 % without a compiler."""
import json
import os
import re
import subprocess
import sys
from pathlib import Path

from common import ROOT, build_argument, emit, has_cortex, models, on_core

TINY = ROOT / "../shared/models/mlperf-tiny"
CORES = ("cortex-m0plus", "cortex-m4", "cortex-m55")
FLASH, STACK, MEASURED, COUNTED = 0.03, 64, 0.05, 0.15
BYTES = {"char": 1, "int8_t": 1, "uint8_t": 1, "int16_t": 2, "uint16_t": 2, "int32_t": 4, "float": 4, "int64_t": 8, "double": 8}

# The image with the model, and with an empty NAME_run: bytes in flash, and bytes of data.
IMAGES = r"""
set -e
source samples/cortex-m/firmware.sh
choose_cpu "$1"; folder=$2 name=$3
compile_target "$folder/call.c" "$folder/main.o" -Os -I"$folder"
compile_model "$folder/$name.c" "$folder/model.o" -I"$folder"
arm-none-eabi-gcc "${cpu_flags[@]}" -std=c99 -w -c "$folder/empty.c" -o "$folder/empty.o" -I"$folder"
for part in model empty; do
    link_image "$folder/$part.elf" "$folder/main.o" "$folder/$part.o"
    arm-none-eabi-size "$folder/$part.elf" | awk 'NR == 2 { print $1 + $2, $2 + $3 }'
done
echo "${cpu_flags[@]}"
"""


# A caller without floats, whose library the model adds.
CALLER = """
#include "NAME.h"
#define DECLARE_INPUT(name, type, count) static type name##_in[count];
#define DECLARE_OUTPUT(name, type, count) static type name##_out[count];
UPPER_INPUTS(DECLARE_INPUT)
UPPER_OUTPUTS(DECLARE_OUTPUT)
static UPPER_ARENA(arena);
int main(void)
{
    struct NAME_inputs in;
    struct NAME_outputs out;
#define POINT_INPUT(name, type, count) in.name = name##_in;
#define POINT_OUTPUT(name, type, count) out.name = name##_out;
    UPPER_INPUTS(POINT_INPUT)
    UPPER_OUTPUTS(POINT_OUTPUT)
    return NAME_run(arena, &in, &out);
}
"""


def vectors(build):
    """(name, path, input, output) of every recorded model that has vectors."""
    tiny = [(p.stem, p, p.with_suffix(".in0.npy"), p.with_suffix(".out0.npy")) for p in sorted(TINY.glob("*.tflite"))]
    return tiny + models(build)


def linked(core, folder, name, level):
    """(flash, data, flags of the core)."""
    prototype = re.search(rf"^int {name}_run\(.*?\);", (folder / f"{name}.h").read_text(), re.M | re.S).group(0)
    (folder / "empty.c").write_text(f'#include "{name}.h"\n{prototype[:-1]} {{ return 0; }}\n')
    (folder / "call.c").write_text(CALLER.replace("NAME", name).replace("UPPER", name.upper()))
    done = subprocess.run(["bash", "-c", IMAGES, "bash", core, folder, name], cwd=ROOT, capture_output=True, text=True, env=dict(os.environ, CFLAGS_TARGET=level))
    lines = done.stdout.splitlines()
    if done.returncode or len(lines) != 3:
        return None
    (flash, data), (flash_0, data_0) = ([int(word) for word in line.split()] for line in lines[:2])
    return flash - flash_0, data - data_0, lines[2]


def declared_ram(header):
    """Arena, inputs and outputs, by the macros of the header."""
    ports = re.findall(r"X\(\w+, (\w+), (\d+)\)", " ".join(re.findall(r"^#define \w+_(?:IN|OUT)PUTS\(X\)(.*(?:\\\n.*)*)", header, re.M)))
    return int(re.search(r"_ARENA_SIZE +(\d+)", header).group(1)) + sum(BYTES[kind] * int(count) for kind, count in ports)


def totals_of(build, path, core, words):
    """The totals of `report` with more words, from the project's root."""
    report = build / "bench/report.json"
    subprocess.run([build / "loopwright", "report", path, "--target", core, "-o", report, "--quiet", *words], check=True, capture_output=True, cwd=ROOT)
    return json.loads(report.read_text())["totals"]


def measure(build, core, level, name, path, source, expected):
    """Prints a line; the errors (flash, stack, RAM, measured instructions, code, counted instructions), or None."""
    folder = emit(build, name, path, core)
    images = folder and linked(core, folder, name, level)
    run = on_core(core, folder, name, source, expected, level) if images else {}
    if not images or "instructions" not in run:
        print(f"{core:<14} {level} {name:<24} skipped: {run.get('failed', 'the image does not link')}", flush=True)
        return None
    flash, data, flags = images
    said, alone = (totals_of(build, path, core, words) for words in (
        ["--cc", f"samples/cortex-m/hosted.sh cc {core} {level} --specs=nano.specs", "--runner", f"samples/cortex-m/hosted.sh run {core}", source],
        ["--cc", f"arm-none-eabi-gcc {flags} {level} --specs=nano.specs", source]))
    bare = totals_of(build, path, core, [])
    guess, bound = bare["estimated_code"], bare["estimated_stack"]
    ram = declared_ram((folder / f"{name}.h").read_text()) + data
    code = (guess / said["code"] - 1, (said["weights"] + guess) / flash - 1) if guess and level == "-O2" else None
    errors = (said["flash"] / flash - 1, alone["stack"] - run["stack bytes"], said["ram"] - said["stack"] - ram,
              said["instructions"] / run["instructions"] - 1, code, alone["instructions"] / run["instructions"] - 1,
              bare["instructions"] / run["instructions"] - 1 if level == "-O2" else 0, bound - run["stack bytes"])
    print(f"{core:<14} {level} {name:<24} flash {said['flash']:>8} {flash:>8} {100 * errors[0]:>+6.2f} %   RAM {said['ram'] - said['stack']:>8} {errors[2]:>+3}   "
          f"stack {alone['stack']:>5} {errors[1]:>+4}, bound {errors[7]:>+4}   instructions {said['instructions']:>11} {run['instructions']:>11} {100 * errors[3]:>+6.1f} %, "
          f"stepped {100 * errors[5]:>+6.2f} %" + (f", counted {100 * errors[6]:>+6.1f} %" if level == "-O2" else "")
          + (f"   code {guess:>6} {said['code']:>6} {100 * code[0]:>+6.1f} %, flash {100 * code[1]:>+5.1f} %" if code else ""), flush=True)
    return errors


def main():
    arguments = [a for a in sys.argv[2:] if a != "--check"]
    build = Path(build_argument()).resolve()
    cores, names = (arguments[0].split(",") if arguments and arguments[0] != "all" else CORES), arguments[1:]
    if not has_cortex():
        sys.exit("skipped: arm-none-eabi-gcc or qemu-system-arm is not installed")
    found = [entry for entry in vectors(build) if not names or entry[0] in names]
    sums, is_good = [], True
    for core in cores:
        for level in ("-O2", "-Os"):
            rows = [errors for errors in (measure(build, core, level, *entry) for entry in found) if errors]
            if not rows:
                continue
            worst = [max(abs(r[i]) for r in rows) for i in range(4)]
            stepped, counted = (max(abs(r[i]) for r in rows) for i in (5, 6))
            codes = [max(abs(r[4][i]) for r in rows) for i in range(2)] if rows[0][4] else None
            sums.append(f"{core:<14} {level} {len(rows)} models: flash within {100 * worst[0]:.2f} %, RAM within {worst[2]} bytes, stack within {worst[1]} bytes, "
                        f"instructions within {100 * worst[3]:.1f} % with a runner and {100 * stepped:.2f} % without"
                        + (f"; without a compiler instructions within {100 * counted:.1f} %, stack {min(r[7] for r in rows)} to {max(r[7] for r in rows)} bytes above, code within {100 * codes[0]:.0f} %, flash within {100 * codes[1]:.1f} %" if codes else ""))
            is_good = is_good and worst[0] <= FLASH and worst[1] <= STACK and worst[2] == 0 and worst[3] <= MEASURED and stepped <= MEASURED and counted <= COUNTED
    print("\n".join(sums))
    sys.exit(0 if is_good or "--check" not in sys.argv else 1)


if __name__ == "__main__":
    main()
