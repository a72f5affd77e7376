#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""report.py BUILD [all|CORE[,CORE...] [NAME...]] [--check] [-O2|-Os] [--fresh] [--no-runner]: the totals of `report --cc` beside the
linked firmware, for the recorded models on the emulated cores at -O2 and -Os. Figures are kept in BUILD/bench/report,
by the compiler's bytes and the emitted text, so a run that was interrupted continues; --fresh measures all again.
--no-runner: without the second run in QEMU.
A line each:

- flash: the bytes that the image gains if NAME_run is the model's instead of an empty function;
- RAM: arena, inputs and outputs by the header, and the data that the image gains;
- stack: painted, by tests/cross/run.sh; instructions: executed by the same run, beside the report's with --cc and --runner, with --cc, and without;
- code at -O2: the report's estimate without a compiler beside that with one; flash: with that estimate.

At the end, for each core and level: the largest errors. --check: status 1 if flash is not within 3 %, stack within 64 bytes, RAM exact, or
instructions within 5 % with --cc, with a runner or without, and 15 % without a compiler."""
import hashlib
import json
import os
import re
import shutil
import struct
import subprocess
import sys
from pathlib import Path

from common import KEYWORDS, NAMES, RECORDED, ROOT, build_argument, emit, has_cortex, on_core, run as output_of

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


def recorded(path):
    """(inputs, outputs) beside the model: NAME.in0.npy, or NAME.in0.0.npy and so on."""
    def of(kind):
        one = path.with_suffix(f".{kind}0.npy")
        return [one] if one.exists() else sorted(path.parent.glob(f"{path.stem}.{kind}0.*.npy"))
    return of("in"), of("out")


def keyword_vectors(build, path):
    """The first test sample as the network's input, and the interpreter's output."""
    folder = build / "bench/report"
    folder.mkdir(parents=True, exist_ok=True)
    source, expected = folder / f"{path.stem}.in0.npy", folder / f"{path.stem}.out0.npy"
    sample = (KEYWORDS / "test.npy").read_bytes()
    floats = struct.unpack(f"<{49 * 20}f", sample[128:128 + 4 * 49 * 20])
    report = folder / "port.json"
    subprocess.run([build / "loopwright", "report", path, "-o", report, "--quiet"], check=True, capture_output=True)
    port = json.loads(report.read_text())["inputs"][0]
    shape, is_float = tuple(port["shape"]), port["type"] in ("f32", "float")
    head = f"{{'descr': '{'<f4' if is_float else '|i1'}', 'fortran_order': False, 'shape': {shape}, }}".ljust(117) + "\n"
    elements = floats if is_float else [max(-128, min(127, round(x / port["scale"]) + port["zero_point"])) for x in floats]
    source.write_bytes(b"\x93NUMPY\x01\x00v\x00" + head.encode() + struct.pack(f"<{len(elements)}{'f' if is_float else 'b'}", *elements))
    output_of(build / "loopwright", "run", path, source, "-o", expected, "--quiet")
    return [source], [expected]


def vectors(build):
    """(name, path, inputs, outputs) of every recorded model."""
    digits = ROOT / "tests/models/digits"
    found = [(p.stem, p, *recorded(p)) for p in sorted(TINY.glob("*.tflite"))]
    found.append(("digits", ROOT / "samples/digits/digits.onnx", [digits.with_suffix(".in0.npy")], [digits.with_suffix(".out0.npy")]))
    found += [(p.stem, p, *recorded(p)) for p in sorted(RECORDED.glob("*.onnx"), key=lambda p: (p.stem not in NAMES, p.stem))]
    return found + [(p.stem, p, *keyword_vectors(build, p)) for p in sorted(KEYWORDS.glob("kws_*.*")) if p.suffix in (".onnx", ".tflite")]


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
    ports = re.findall(r"X\(\w+, (\w+), (\d+)\)", " ".join(re.findall(r"^#define \w+_(?:IN|OUT)PUTS\(X\)((?:.*\\\n)*.*)", header, re.M)))
    return int(re.search(r"_ARENA_SIZE +(\d+)", header).group(1)) + sum(BYTES[kind] * int(count) for kind, count in ports)


def totals_of(build, path, core, place, words):
    """The totals of `report` with more words, from the project's root."""
    report = place / "last.json"
    subprocess.run([build / "loopwright", "report", path, "--target", core, "-o", report, "--quiet", *words], check=True, capture_output=True, cwd=ROOT)
    return json.loads(report.read_text())["totals"]


def kept(path, measured):
    """The figures of the file, or else what `measured` returns, which the file keeps unless it has a failure."""
    if path.exists():
        return json.loads(path.read_text())
    found = measured()
    if "failed" not in found:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(found))
    return found


def figures(build, core, level, name, path, inputs, outputs, compiler):
    """The firmware's figures, and the totals of `report` with a runner, with --cc alone, and without; or "failed"."""
    folder = emit(build, name, path, core)
    if not folder:
        return {"failed": "it is not emitted"}
    text = b"".join((folder / f"{name}.{end}").read_bytes() for end in "ch")
    place = build / "bench/report" / f"{core}{level}"
    key = hashlib.sha256(text).hexdigest()[:16]

    def firmware():
        images = linked(core, folder, name, level)
        if not images:
            return {"failed": "the image does not link"}
        run = on_core(core, folder, name, inputs, outputs, level)
        return {"images": images, "run": run} if "instructions" in run else {"failed": run.get("failed")}

    def totals():
        hosted = f"samples/cortex-m/hosted.sh cc {core} {level} --specs=nano.specs"
        direct = f"arm-none-eabi-gcc {found['images'][2]} {level} --specs=nano.specs"
        words = {"runner": ["--cc", hosted, "--runner", f"samples/cortex-m/hosted.sh run {core}", *inputs],
                 "stepped": ["--cc", direct, *inputs], "bare": []}
        if "--no-runner" in sys.argv:
            words["runner"] = words["stepped"]
        return {how: totals_of(build, path, core, place, words[how]) for how in words}

    found = kept(place / f"{name}-{key}.json", firmware)
    if "failed" in found:
        return found
    try:
        found["totals"] = kept(place / f"{name}-{key}-{compiler}.json", totals)
    except subprocess.CalledProcessError as error:
        return {"failed": (error.stderr or b"").decode().strip().splitlines()[:1]}
    found["declared"] = declared_ram((folder / f"{name}.h").read_text())
    return found


def measure(build, core, level, name, *rest):
    """Prints a line; the errors (flash, stack, RAM, measured instructions, code, counted instructions), or None."""
    found = figures(build, core, level, name, *rest)
    if "failed" in found:
        print(f"{core:<14} {level} {name:<24} skipped: {found['failed']}", flush=True)
        return None
    (flash, data, _), run, (said, alone, bare) = found["images"], found["run"], found["totals"].values()
    guess, bound = bare["estimated_code"], bare["estimated_stack"]
    ram = found["declared"] + data
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
    arguments = [a for a in sys.argv[2:] if not a.startswith("-")]
    levels = [a for a in sys.argv[2:] if a.startswith("-O")] or ["-O2", "-Os"]
    build = Path(build_argument()).resolve()
    if "--fresh" in sys.argv:
        shutil.rmtree(build / "bench/report", ignore_errors=True)
    compiler = hashlib.sha256((build / "loopwright").read_bytes()).hexdigest()[:16]
    cores, names = (arguments[0].split(",") if arguments and arguments[0] != "all" else CORES), arguments[1:]
    if not has_cortex():
        sys.exit("skipped: arm-none-eabi-gcc or qemu-system-arm is not installed")
    found = [entry for entry in vectors(build) if not names or entry[0] in names]
    sums, is_good = [], True
    for core in cores:
        for level in levels:
            rows = [errors for errors in (measure(build, core, level, *entry, compiler) for entry in found) if errors]
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
