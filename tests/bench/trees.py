# SPDX-License-Identifier: MIT
"""trees.py BUILD: random forests beside emlearn and m2cgen (`make bench-trees`), on an emulated Cortex-M0+ and M4.

Needs numpy, scikit-learn, skl2onnx, emlearn and m2cgen, and the emulator's harness in ../shared/tools/qemu; installs
nothing. 10 and 100 trees of depth 8 on scikit-learn's digits, 64 features. All compute the label and the probability
of each class; emlearn does so in 8 bits a probability (leaf_bits=8). Features are float or int16, in m2cgen double. All
code is compiled with -O2. Instructions are the mean of several digits; flash is the whole program without the harness.
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


def whole(model):
    """The same over int16 features, which a Cast converts."""
    from onnx import TensorProto, helper
    port = model.graph.input[0]
    for node in model.graph.node:
        node.input[:] = ["real" if name == port.name else name for name in node.input]
    model.graph.node.insert(0, helper.make_node("Cast", [port.name], ["real"], to=TensorProto.FLOAT))
    port.type.tensor_type.elem_type = TensorProto.INT16
    return model


def write(folder, forest, x, kind):
    """Files of all three; the model for loopwright is forest.onnx."""
    import emlearn
    import m2cgen
    from skl2onnx import to_onnx
    model = to_onnx(forest, x[:1], options={id(forest): {"zipmap": False}})
    (folder / "forest.onnx").write_bytes((model if kind == "float" else whole(model)).SerializeToString())
    (folder / "score.c").write_text(m2cgen.export_to_c(forest))
    emlearn.convert(forest, method="inline", dtype=kind, leaf_bits=8).save(
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
    print("| trees | features | core | by | instructions | flash | instructions to emlearn's | flash to emlearn's |")
    print("|---|---|---|---|---|---|---|---|")
    for trees, kind in ((10, "float"), (100, "float"), (10, "int16_t"), (100, "int16_t")):
        folder = build / f"bench/trees/{trees}-{kind}"
        folder.mkdir(parents=True, exist_ok=True)
        write(folder, RandomForestClassifier(trees, max_depth=8, random_state=0).fit(x[:FIRST], y[:FIRST]), x, kind)
        np.save(folder / "digits.npy", x[FIRST:FIRST + DIGITS])
        for cpu, target in CPUS.items():
            subprocess.run([build / "loopwright", folder / "forest.onnx", "--target", target, "--name", "forest", "-o",
                            folder / "forest.c", "--quiet"], check=True)
            flags = f"-ffp-contract=off -I{pathlib.Path(emlearn.__file__).parent}"
            more = {"loopwright": ["forest.c"], "emlearn": [], "m2cgen": ["score.c"]}
            figures = {}
            for by, parts in WAYS.items():
                if by != "m2cgen":
                    parts = {**parts, "type": kind}
                elif kind != "float":
                    continue
                (folder / f"{by}_glue.c").write_text(GLUE % parts)
                figures[by] = measure(cpu, folder, [folder / s for s in [f"{by}_glue.c"] + more[by]], flags)
            for by, (count, flash) in figures.items():
                base = figures["emlearn"]
                print(f"| {trees} | {kind} | {target} | {by} | {count:,} | {flash:,} | {count / base[0]:.2f} | "
                      f"{flash / base[1]:.2f} |", flush=True)


main()
