# SPDX-License-Identifier: MIT
"""trees.py BUILD: random forests beside emlearn and m2cgen (`make bench-trees`), on an emulated Cortex-M0+ and M4.

Needs numpy, scikit-learn, skl2onnx, emlearn and m2cgen, and the emulator's harness in ../shared/tools/qemu; installs
nothing. 10 and 100 trees of depth 8 on scikit-learn's digits, 64 features. All compute the label and the probability
of each class; emlearn does so in 8 bits a probability (leaf_bits=8). Features are float, in m2cgen double. All code is
compiled with -O2. Instructions are the mean of several digits; flash is the whole program without the harness.
"""
import importlib.util
import pathlib
import subprocess
import sys
import warnings

ROOT = pathlib.Path(__file__).resolve().parents[2]
RUN = ROOT.parent / "shared/tools/qemu/run.sh"
PACKAGES = ["numpy", "sklearn", "skl2onnx", "emlearn", "m2cgen"]
CPUS = {"m0plus": "cortex-m0plus", "m4": "cortex-m4"}
DIGITS, FIRST = 16, 1000                      # measured inputs; the forest learns from those before

GLUE = """#include "harness.h"
%(include)s
extern const float x0[];
static %(type)s digits[DIGITS][64], p[10];
%(setting)s
void bench_setup(void) { for (int i = 0; i < DIGITS * 64; i++) digits[i / 64][i %% 64] = x0[i]; }
static void classify(const %(type)s *in) { %(call)s }
int bench_run(void) { for (int d = 0; d < DIGITS; d++) classify(digits[d]); return 0; }
"""
BEST = " best = 0; for (int i = 1; i < 10; i++) if (p[i] > p[best]) best = i;"
WAYS = {
    "loopwright": dict(include='#include "forest.h"', type="float", setting="static int64_t best; static "
                       "FOREST_ARENA(arena);", call="const struct forest_inputs i = { in }; const struct "
                       "forest_outputs o = { &best, p }; forest_run(arena, &i, &o);"),
    "emlearn": dict(include='#include "emlearn.h"', type="float", setting="static volatile int best;",
                    call="em_predict_proba(in, 64, p, 10);" + BEST),
    "m2cgen": dict(include="void score(double *, double *);", type="double", setting="static volatile int best;",
                   call="score((double *)in, p);" + BEST),
}


def measure(cpu, folder, sources, flags):
    """Mean instructions of a digit, and bytes of flash."""
    words = subprocess.run([RUN, "-m", cpu, "-O", "-O2 -w " + flags, "-I", folder, "-I", ROOT / "runtime", "-D",
                            f"DIGITS={DIGITS}", "-b", f"x0={folder / 'digits.npy'}", *sources], stdout=subprocess.PIPE,
                           text=True, check=True).stdout.split()
    found = dict(w.split("=", 1) for w in words if "=" in w)
    return int(found["insns"]) // DIGITS, int(found["flash"])


def write(folder, forest, x):
    """Files of all three; the model for loopwright is forest.onnx."""
    import emlearn
    import m2cgen
    from skl2onnx import to_onnx
    (folder / "forest.onnx").write_bytes(
        to_onnx(forest, x[:1], options={id(forest): {"zipmap": False}}).SerializeToString())
    (folder / "score.c").write_text(m2cgen.export_to_c(forest))
    emlearn.convert(forest, method="inline", dtype="float", leaf_bits=8).save(
        file=str(folder / "emlearn.h"), name="em", inference=["inline"])


def main():
    missing = [p for p in PACKAGES if not importlib.util.find_spec(p)]
    if missing or not RUN.exists():
        print("skipped trees.py: " + (f"needs {', '.join(missing)}" if missing else "no ../shared/tools/qemu"))
        return
    warnings.simplefilter("ignore")
    import emlearn
    import numpy as np
    from sklearn.datasets import load_digits
    from sklearn.ensemble import RandomForestClassifier
    build = pathlib.Path(sys.argv[1]).resolve()
    x, y = load_digits(return_X_y=True)
    x = x.astype(np.float32)
    print("| trees | core | by | instructions | flash | instructions to emlearn's | flash to emlearn's |")
    print("|---|---|---|---|---|---|---|")
    for trees in (10, 100):
        folder = build / f"bench/trees/{trees}"
        folder.mkdir(parents=True, exist_ok=True)
        write(folder, RandomForestClassifier(trees, max_depth=8, random_state=0).fit(x[:FIRST], y[:FIRST]), x)
        np.save(folder / "digits.npy", x[FIRST:FIRST + DIGITS])
        for cpu, target in CPUS.items():
            subprocess.run([build / "loopwright", folder / "forest.onnx", "--target", target, "--name", "forest", "-o",
                            folder / "forest.c", "--quiet"], check=True)
            flags = f"-ffp-contract=off -I{pathlib.Path(emlearn.__file__).parent}"
            more = {"loopwright": ["forest.c"], "emlearn": [], "m2cgen": ["score.c"]}
            figures = {}
            for by, parts in WAYS.items():
                (folder / f"{by}_glue.c").write_text(GLUE % parts)
                figures[by] = measure(cpu, folder, [folder / s for s in [f"{by}_glue.c"] + more[by]], flags)
            for by, (count, flash) in figures.items():
                base = figures["emlearn"]
                print(f"| {trees} | {target} | {by} | {count:,} | {flash:,} | {count / base[0]:.2f} | "
                      f"{flash / base[1]:.2f} |", flush=True)


main()
