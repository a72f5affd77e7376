#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""report.py BUILD [all|CORE[,CORE...] [NAME...]] [--check] [-O2|-Os] [--fresh] [--sizes] [--runner] [-jN]: the totals
of `report --cc` beside the linked firmware, for the recorded models on the emulated cores at -O2 and -Os. Figures are
kept in BUILD/bench/report: those of the firmware by the emitted text, those of the report by the compiler's bytes, too.
So a run that was interrupted continues; --fresh measures all again.
--sizes: flash and RAM alone, without QEMU. --runner: `report --runner` besides, which runs each network in QEMU a
second time. -jN: N networks at once.
A line each:

- flash: the bytes that the image gains if NAME_run is the model's instead of an empty function;
- RAM: arena, inputs and outputs by the header, and the data that the image gains;
- stack: painted, by tests/cross/run.sh; instructions: executed by the same run, beside those of the code that the
report follows, of its runner, and
  counted without a compiler (at -O2);

At the end, for each core and level: the largest errors. --check: status 1 if a network is missing, flash is not within
3 %, stack within 64 bytes, RAM exact, or instructions within 5 % with --cc, with a runner or without, or within 15 %
without a compiler."""
import hashlib
import json
import os
import re
import shutil
import struct
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from common import GRID, KEYWORDS, NAMES, RECORDED, ROOT, build_argument, emit, has_cortex, on_core, run as output_of

TINY = ROOT / "../shared/models/mlperf-tiny"
CORES = ("cortex-m0plus", "cortex-m4", "cortex-m55")
BYTES = {"char": 1, "int8_t": 1, "uint8_t": 1, "int16_t": 2, "uint16_t": 2, "int32_t": 4, "float": 4, "int64_t": 8,
         "double": 8}

# The image with the model, and with an empty NAME_run: bytes in flash, and bytes of data.
IMAGES = r"""
set -e
source samples/cortex-m/firmware.sh
choose_cpu "$1"; folder=$2 name=$3
place=$4
compile_target "$place/call.c" "$place/main.o" -Os -I"$folder"
compile_model "$folder/$name.c" "$place/model.o" -I"$folder"
arm-none-eabi-gcc "${cpu_flags[@]}" -std=c99 -w -c "$place/empty.c" -o "$place/empty.o" -I"$folder"
for part in model empty; do
    link_image "$place/$part.elf" "$place/main.o" "$place/$part.o"
    arm-none-eabi-size "$place/$part.elf" | awk 'NR == 2 { print $1 + $2, $2 + $3 }'
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
    head = (f"{{'descr': '{'<f4' if is_float else '|i1'}', 'fortran_order': False, 'shape': {shape}, }}".ljust(117)
            + "\n")
    elements = (floats if is_float else [max(-128, min(127, round(x / port["scale"]) + port["zero_point"]))
                                         for x in floats])
    source.write_bytes(b"\x93NUMPY\x01\x00v\x00" + head.encode()
                       + struct.pack(f"<{len(elements)}{'f' if is_float else 'b'}", *elements))
    output_of(build / "loopwright", "run", path, source, "-o", expected, "--quiet")
    return [source], [expected]


def interpreted(build, path, inputs, outputs):
    """The outputs; those of the interpreter where recorded ones may differ by a step, as the run in QEMU compares
    closer."""
    if path.stem not in GRID:
        return inputs, outputs
    expected = build / "bench/report" / f"{path.stem}.out0.npy"
    expected.parent.mkdir(parents=True, exist_ok=True)
    output_of(build / "loopwright", "run", path, *inputs, "-o", expected, "--quiet")
    return inputs, [expected]


def vectors(build):
    """(name, path, inputs, outputs) of every recorded model."""
    digits = ROOT / "tests/models/digits"
    found = [(p.stem, p, *recorded(p)) for p in sorted(TINY.glob("*.tflite"))]
    found.append(("digits", ROOT / "samples/digits/digits.onnx", [digits.with_suffix(".in0.npy")],
                  [digits.with_suffix(".out0.npy")]))
    found += [(p.stem, p, *interpreted(build, p, *recorded(p)))
              for p in sorted(RECORDED.glob("*.onnx"), key=lambda p: (p.stem not in NAMES, p.stem))]
    return (found + [(p.stem, p, *keyword_vectors(build, p)) for p in sorted(KEYWORDS.glob("kws_*.*"))
                     if p.suffix in (".onnx", ".tflite")])


def linked(core, folder, place, name, level):
    """Images of the model and of an empty function, and the model's object file, in `place`: (flash, data, flags of the
    core), or the message."""
    prototype = re.search(rf"^int {name}_run\(.*?\);", (folder / f"{name}.h").read_text(), re.M | re.S).group(0)
    (place / "empty.c").write_text(f'#include "{name}.h"\n{prototype[:-1]} {{ return 0; }}\n')
    (place / "call.c").write_text(CALLER.replace("NAME", name).replace("UPPER", name.upper()))
    done = subprocess.run(["bash", "-c", IMAGES, "bash", core, folder, name, place], cwd=ROOT, capture_output=True,
                          text=True,
                          env=dict(os.environ, CFLAGS_TARGET=level))
    lines = done.stdout.splitlines()
    if done.returncode or len(lines) != 3:
        return (done.stderr.strip().splitlines() or ["the image does not link"])[0]
    (flash, data), (flash_0, data_0) = ([int(word) for word in line.split()] for line in lines[:2])
    return flash - flash_0, data - data_0, lines[2]


def declared_ram(header):
    """Arena, inputs and outputs, by the macros of the header."""
    ports = re.findall(r"X\(\w+, (\w+), (\d+)\)",
                       " ".join(re.findall(r"^#define \w+_(?:IN|OUT)PUTS\(X\)((?:.*\\\n)*.*)", header, re.M)))
    return (int(re.search(r"_ARENA_SIZE +(\d+)", header).group(1))
            + sum(BYTES[kind] * int(count) for kind, count in ports))


def totals_of(build, path, core, place, words):
    """The totals of `report` with more words, from the project's root."""
    report = place / "report.json"
    subprocess.run([build / "loopwright", "report", path, "--target", core, "-o", report, "--quiet", *words],
                   check=True, capture_output=True, cwd=ROOT)
    return json.loads(report.read_text())["totals"]


def kept(path, measured):
    """The figures of the file, or else what `measured` returns, which the file keeps unless it has a failure."""
    if path.exists():
        return json.loads(path.read_text())
    found = measured()
    if "failed" not in found:
        path.write_text(json.dumps(found))
    return found


def figures(build, core, level, name, path, inputs, outputs, compiler):
    """The images' bytes, the run in QEMU, and the totals of `report` with --cc, with a runner, and without; or
    "failed"."""
    folder = emit(build, name, path, core)
    if not folder:
        return {"failed": "it is not emitted"}
    kept_in = build / "bench/report" / f"{core}{level}"
    place = kept_in / name
    place.mkdir(parents=True, exist_ok=True)
    key = hashlib.sha256((folder / f"{name}.c").read_bytes()).hexdigest()[:16]
    direct = lambda flags: f"arm-none-eabi-gcc {flags} {level} --specs=nano.specs"
    hosted = ["--cc", f"samples/cortex-m/hosted.sh cc {core} {level} --specs=nano.specs", "--runner",
              f"samples/cortex-m/hosted.sh run {core}", *inputs]

    def images():
        found = linked(core, folder, place, name, level)
        return {"failed": found} if isinstance(found, str) else {"images": found}

    def run():
        has_object = (place / "model.o").exists()
        found = on_core(core, folder, name, inputs, outputs, level, TIMEOUT="900",
                        **({"MODEL_OBJECT": str(place / "model.o")} if has_object else {}))
        return found if "instructions" in found else {"failed": found.get("failed", "no instructions")}

    def totals(*words):
        return lambda: totals_of(build, path, core, place, words)

    found = kept(kept_in / f"{name}-{key}-images.json", images)
    if "failed" in found:
        return found
    try:
        found["stepped"] = kept(kept_in / f"{name}-{key}-{compiler}-stepped.json",
                                totals("--cc", direct(found["images"][2]), *inputs))
        found["bare"] = kept(kept_in / f"{name}-{key}-{compiler}-bare.json", totals())
        if "--runner" in sys.argv:
            found["runner"] = kept(kept_in / f"{name}-{key}-{compiler}-runner.json", totals(*hosted))
    except subprocess.CalledProcessError as error:
        return {"failed": (error.stderr or b"").decode().strip().splitlines()[:1]}
    if "--sizes" not in sys.argv:
        found["run"] = kept(kept_in / f"{name}-{key}-run.json", run)
        if "failed" in found["run"]:
            return found["run"]
    found["declared"] = declared_ram((folder / f"{name}.h").read_text())
    shutil.rmtree(place)
    return found


# What a line and the sums compare: words, and the bound of --check.
COLUMNS = {"flash": ("flash within {:.2f} %", 3), "ram": ("RAM within {:.0f} bytes", 0),
           "stack": ("stack within {:.0f} bytes", 64),
           "runner": ("instructions within {:.2f} % with a runner", 5), "stepped": ("instructions within {:.2f} %", 5),
           "counted": ("without a compiler: instructions within {:.1f} %", 15)}


def percent(value, reference):
    return 100 * (value / reference - 1)


def measure(build, core, level, name, *rest):
    """(line, errors by their column's name, or None)."""
    found = figures(build, core, level, name, *rest)
    start = f"{core:<14} {level} {name:<20}"
    if "failed" in found:
        return f"{start} skipped: {found['failed']}", None
    (flash, data, _), said, bare = found["images"], found["stepped"], found["bare"]
    ram = found["declared"] + data
    errors = {"flash": percent(said["flash"], flash), "ram": said["ram"] - said["stack"] - ram}
    line = f"{start} flash {said['flash']:>8} {flash:>8} {errors['flash']:>+6.2f} %   RAM {ram:>8} {errors['ram']:>+3}"
    if "run" in found:
        run = found["run"]
        errors |= {"stack": said["stack"] - run["stack bytes"],
                   "stepped": percent(said["instructions"], run["instructions"])}
        if level == "-O2":
            errors["counted"] = percent(bare["instructions"], run["instructions"])
        if "runner" in found:
            errors["runner"] = percent(found["runner"]["instructions"], run["instructions"])
        line += (f"   stack {run['stack bytes']:>5} {errors['stack']:>+4},"
                 f" bound {bare['estimated_stack'] - run['stack bytes']:>+4}   instructions {run['instructions']:>11}")
        line += "".join(f", {key} {errors[key]:>+6.2f} %" for key in ("stepped", "runner", "counted") if key in errors)
    return line, errors


def summary(core, level, rows, count):
    """(line, whether --check accepts it)."""
    worst = {key: max(abs(row[key]) for row in rows if key in row) for key in COLUMNS
             if any(key in row for row in rows)}
    is_good = (len(rows) == count
               and all(COLUMNS[key][1] is None or value <= COLUMNS[key][1] for key, value in worst.items()))
    return (f"{core:<14} {level} {len(rows)} models: "
            + ", ".join(COLUMNS[key][0].format(value) for key, value in worst.items()), is_good)


def main():
    arguments = [a for a in sys.argv[2:] if not a.startswith("-")]
    levels = [a for a in sys.argv[2:] if a.startswith("-O")] or ["-O2", "-Os"]
    workers = max([1, *(int(a[2:]) for a in sys.argv[2:] if re.fullmatch(r"-j\d+", a))])
    build = Path(build_argument()).resolve()
    if "--fresh" in sys.argv:
        shutil.rmtree(build / "bench/report", ignore_errors=True)
    compiler = hashlib.sha256((build / "loopwright").read_bytes()).hexdigest()[:16]
    cores, names = (arguments[0].split(",") if arguments and arguments[0] != "all" else CORES), arguments[1:]
    if not has_cortex():
        sys.exit("skipped: arm-none-eabi-gcc or qemu-system-arm is not installed")
    found = [entry for entry in vectors(build) if not names or entry[0] in names]
    sums = []
    for core in cores:
        for level in levels:
            rows = []
            with ThreadPoolExecutor(workers) as pool:
                for line, errors in pool.map(lambda entry: measure(build, core, level, *entry, compiler), found):
                    print(line, flush=True)
                    rows += [errors] if errors else []
            if rows:
                sums.append(summary(core, level, rows, len(found)))
    print("\n".join(line for line, _ in sums))
    sys.exit(0 if all(is_good for _, is_good in sums) or "--check" not in sys.argv else 1)


if __name__ == "__main__":
    main()
