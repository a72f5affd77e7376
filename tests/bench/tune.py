#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tune.py BUILD CORE [--check] [NAME...]: the default schedules of the int8 networks beside all candidates of
`loopwright tune`, on the emulated core. For each layer with candidates: its instructions as `report` predicts them,
those that the best candidate saves, and the share.

- Functions are apart (--optimize speed): one that several layers share has more instructions than each alone.
- A candidate replaces the schedules of all equal layers, so the share of one layer is at most the printed one.
- Two steps of the emulator's timer, 80 instructions, are no saving.
- Values are kept in BUILD/bench/tune; a run that was interrupted continues.

With --check, status 1 where a share is above 5 percent."""
import re
import subprocess
import sys
from pathlib import Path

from common import ROOT, build_argument, has_cortex, run

TINY = ROOT / "../shared/models/mlperf-tiny"
INT8 = "ad01_int8 pretrainedResnet_quant kws_ref_model vww_96_int8 str_ww_ref_model".split()
MOST_PERCENT, TIMER_STEPS = 5, 80
SPEED = ("--optimize", "speed")
LAYER = re.compile(r"^(\S+) +\S+ +\d+ +(\d+) +\d+ +\d+  ")


def layers(compiler, model, core):
    """Predicted instructions by layer, every group alone."""
    text = run(compiler, "report", model, "--target", core, *SPEED, "--combine", "none", "--quiet")
    return {m[1]: int(m[2]) for m in map(LAYER.match, text.splitlines()) if m}


def best_candidates(text):
    """(instructions by default, {layer: (least instructions, the candidate's words)})."""
    default, best = int(re.search(r"^# default (\d+)", text, re.M)[1]), {}
    for value, layer, what in re.findall(r"^# tried \S+ (\d+) ([^:\n]+): (.*)$", text, re.M):
        if layer not in best or int(value) < best[layer][0]:
            best[layer] = (int(value), what)
    return default, best


def table_of(compiler, name, core, folder):
    """Prints a network's rows; the largest share."""
    model, records, most = TINY / f"{name}.tflite", folder / f"{name}-{core}.txt", 0
    runner = f"{ROOT}/samples/cortex-m/count.sh {core}"
    subprocess.run([compiler, "tune", model, "--target", core, *SPEED, "--quiet", "--runner", runner, "-o", records],
                   check=True, stdout=subprocess.DEVNULL)
    text, own = records.read_text(), layers(compiler, model, core)
    default, best = best_candidates(text)
    print(f"{name} for {core}: {default} instructions by default, {text.count('# tried')} candidates", flush=True)
    for layer, (least, what) in best.items():
        saved, instructions = default - least if default - least > TIMER_STEPS else 0, own.get(layer, 0)
        share = 100 * saved / instructions if instructions else 0
        most = max(most, share)
        print(f"  {layer:<52} {instructions:>9} {saved:>8} {share:>6.1f} %  {what if saved else ''}", flush=True)
    return most


def main():
    build, core = Path(build_argument()).resolve(), sys.argv[2]
    names = [a for a in sys.argv[3:] if a != "--check"] or INT8
    if not TINY.exists() or not has_cortex():
        print("skipped: no recorded models beside the project, or no compiler and emulator of the Cortex-M cores")
        return
    folder = build / "bench/tune"
    folder.mkdir(parents=True, exist_ok=True)
    most = max(table_of(build / "loopwright", name, core, folder) for name in names)
    print(f"largest share: {most:.1f} %")
    sys.exit(1 if most > MOST_PERCENT and "--check" in sys.argv else 0)


if __name__ == "__main__":
    main()
