# SPDX-License-Identifier: MIT
"""The cases of the suite python_package: `ok NAME` or `not ok NAME: WHY` for each function below, and their sum."""
import doctest
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import traceback
from pathlib import Path

import numpy as np

import loopwright
import loopwright.model

DIGITS = "samples/digits/digits.onnx"
INT8 = "tests/fuzz/corpus-tflite/conv-int8.tflite"
WORK = Path(tempfile.mkdtemp())


def raises(kind, words, function, *arguments, **named):
    try:
        function(*arguments, **named)
    except kind as e:
        assert words in str(e), str(e)
        return e
    raise AssertionError(f"no {kind.__name__}")


def interpreted(model, x):
    """The interpreter's first output, by the command line."""
    np.save(WORK / "x.npy", x)
    subprocess.run([os.environ["LW"], "run", model, WORK / "x.npy", "-o", WORK / "y.npy"], check=True)
    return np.load(WORK / "y.npy")


def docstrings_hold():
    flags = doctest.ELLIPSIS
    for module in (loopwright, loopwright.model, loopwright._abi):
        assert doctest.testmod(module, optionflags=flags).failed == 0, module.__name__


def annotations_hold():
    if not importlib.util.find_spec("mypy"):
        return "mypy is not installed"
    check = subprocess.run([sys.executable, "-m", "mypy", "--config-file", "python/mypy.ini", "--cache-dir", WORK / "mypy",
                            "python/loopwright"], capture_output=True, text=True)
    assert check.returncode == 0, check.stdout + check.stderr


def floats_have_the_bits_of_the_interpreter():
    m = loopwright.compile(DIGITS, target="cortex-m4")
    x = np.random.default_rng(1).random((1, 1, 8, 8), np.float32)
    assert m.run(x).tobytes() == interpreted(DIGITS, x).tobytes()


def integers_pass_unchanged():
    m = loopwright.compile(INT8)
    x = np.arange(-18, 18, dtype=np.int8).reshape(1, 6, 6, 1)
    y = m.run(x)
    assert y.dtype == np.int8 and y.tobytes() == interpreted(INT8, x).tobytes()


def real_numbers_are_quantized_and_saturate():
    m = loopwright.compile(INT8)
    real = np.full((1, 6, 6, 1), 0.25, np.float32)       # half a step of 0.5: ties leave zero, 1 - 3 = -2
    real.flat[:4] = -0.25, 1e9, -1e9, np.nan
    stored = np.full((1, 6, 6, 1), -2, np.int8)
    stored.flat[:4] = -4, 127, -128, -3
    y, q = m.run(real), m.run(stored)
    assert y.dtype == np.float32 and np.array_equal(y, np.float32(1.5) * (q.astype(np.float32) + 7))


def batch_equals_single_samples():
    m = loopwright.compile(DIGITS)
    x = np.random.default_rng(2).random((5, 1, 8, 8), np.float32)
    y = m.run(x)
    assert y.shape == (5, 10) and all(m.run(x[i:i + 1]).tobytes() == y[i].tobytes() for i in range(5))


def evaluation_counts_the_right_labels():
    m = loopwright.compile(DIGITS)
    x = np.random.default_rng(3).random((300, 1, 8, 8), np.float32)
    label = m.run(x).argmax(axis=1)
    label[:30] = (label[:30] + 1) % 10
    e = m.evaluate(x, label)
    assert abs(e.accuracy - 0.9) < 1e-9 and e.confusion.sum() == 300 and np.trace(e.confusion) == 270
    assert m.evaluate(x, m.run(x)).largest_error == 0


def labels_may_be_whole_floats_and_a_label_may_be_the_output():
    m = loopwright.compile(DIGITS)
    x = np.random.default_rng(4).random((20, 1, 8, 8), np.float32)
    assert m.evaluate(x, m.run(x).argmax(axis=1).astype(float)).accuracy == 1
    raises(ValueError, "y has type <U1; accepted: numbers", m.evaluate, x, np.array(["7"] * 20))
    label = loopwright.compile(b"input x: f32[1][4]\ny = argmax(x, axis=1)\noutput y\n")
    e = label.evaluate(np.eye(4, dtype=np.float32), [0, 1, 2, 2])
    assert e.accuracy == 0.75 and e.confusion[2].tolist() == [0, 0, 1, 1] and str(e) == "4 samples: accuracy 75.00%"


def samples_with_nan_are_refused():
    x = np.zeros((3, 1, 8, 8), np.float32)
    x[2, 0, 4, 4] = np.nan
    raises(ValueError, "sample 2 of input has NaN", loopwright.compile(DIGITS).evaluate, x, [0, 1, 2])


def single_sample_needs_no_unit_dimension():
    m = loopwright.compile(DIGITS)
    x = np.random.default_rng(5).random((1, 1, 8, 8), np.float32)
    assert m.run(x[0]).tobytes() == m.run(x).tobytes()


def integers_beyond_the_type_are_refused():
    m = loopwright.compile(INT8)
    raises(ValueError, "has type uint8 and values from 200 to 200; accepted: int8", m.run, np.full((1, 6, 6, 1), 200, np.uint8))
    raises(ValueError, "has type int64 and values from -129 to -129", m.run, np.full((1, 6, 6, 1), -129))
    assert m.run(np.full((1, 6, 6, 1), 100)).tobytes() == m.run(np.full((1, 6, 6, 1), 100, np.int8)).tobytes()


def other_unit_dimensions_serve_an_evaluation():
    m = loopwright.compile(DIGITS)
    x = np.zeros((4, 8, 8, 1), np.float32)
    assert m.evaluate(x, np.zeros(4, int)).samples == 4
    raises(ValueError, "accepted: [1, 1, 8, 8]", m.evaluate, np.zeros((4, 64), np.float32), np.zeros(4, int))


def state_persists_until_reset():
    m = loopwright.compile("tests/emitted/filter.te", state={"level": "new_level", "last": "new_last"})
    x = np.ones(1, np.float32)
    first, second = m.run(x), m.run(x)
    m.reset()
    again = m.run(x)
    assert not np.array_equal(first, second) and np.array_equal(first, again)


def several_outputs_are_a_tuple():
    m = loopwright.compile(b"input x: f32[4]\ny = relu(x)\nz = sigmoid(x)\noutput y, z\n")
    y, z = m.run(np.array([-1, 0, 1, 2]))
    assert list(y) == [0, 0, 1, 2] and z[1] == 0.5


def values_become_constants():
    m = loopwright.compile(b"input x: f32[2]\ninput w: f32[2]\ny[i] = x[i] * w[i]\noutput y\n", values={"w": np.float32([2, 3])})
    assert [p.name for p in m.inputs] == ["x"] and list(m.run(np.float32([1, 1]))) == [2, 3]


def class_names_are_read():
    names = ["zero", 'a "b"', *"cdefghij"]
    (WORK / "names.txt").write_text("\n".join(names) + "\n")
    assert loopwright.compile(DIGITS, class_names=WORK / "names.txt").class_names == names


def written_c_equals_that_of_the_command_line():
    loopwright.compile(DIGITS, target="cortex-m7").write(WORK / "a.c")
    subprocess.run([os.environ["LW"], DIGITS, "--target", "cortex-m7", "--name", "a", "-o", WORK / "b.c"], check=True)
    assert (WORK / "a.c").read_text() == (WORK / "b.c").read_text().replace("b.h", "a.h")


def reports_are_text_and_page():
    m = loopwright.compile(DIGITS, target="cortex-m4")
    assert "multiply-adds" in m.report() and "digits.onnx for cortex-m4" in m.report()
    assert "<svg" in m.report(WORK / "r.html") and "<iframe srcdoc=" in m._repr_html_()


def figures_are_read_from_json_and_limits_refuse():
    m = loopwright.compile(DIGITS, target="cortex-m4")
    totals = json.loads(m.report(WORK / "r.json"))["totals"]
    assert totals["arena"] == m.arena_bytes and totals["weights"] == m.weight_bytes and totals["code"] is None
    ram = totals["ram"]
    raises(loopwright.LoopwrightError, f"the model does not fit: RAM {ram} of 1024 bytes", m.report, fit="ram=1K")


def verification_returns_the_verdict():
    assert "verified: 1 of 1 outputs agree" in loopwright.compile(DIGITS).verify()


def diagnostics_are_exceptions():
    e = raises(loopwright.LoopwrightError, "there is no target", loopwright.compile, DIGITS, target="cortex-m5")
    assert len(e.diagnostics) == 1 and "did you mean" in e.diagnostics[0]
    raises(loopwright.LoopwrightError, "cannot open", loopwright.compile, "no.onnx")


def unknown_options_are_refused():
    raises(TypeError, "did you mean 'target'", loopwright.compile, DIGITS, targte="generic")
    raises(TypeError, "a model is a path, bytes", loopwright.compile, 7)


def wrong_arrays_are_refused():
    m = loopwright.compile(DIGITS)
    raises(ValueError, "accepted: [1, 1, 8, 8], or [n][1][8][8]", m.run, np.zeros((3, 3), np.float32))
    raises(ValueError, "2 inputs are given; the model has 1: input", m.run, 1, 2)
    raises(ValueError, "has type complex", m.run, np.zeros((1, 1, 8, 8), complex))
    raises(ValueError, "labels are 10 to 10; accepted: 0 to 9", m.evaluate, np.zeros((1, 1, 8, 8), np.float32), [10])
    raises(ValueError, "fixed sizes", loopwright.compile(b"size n = 1..8\ninput x: f32[n]\ny = relu(x)\noutput y\n").run,
           np.zeros(8, np.float32))


def missing_compiler_is_named():
    m = loopwright.compile(DIGITS, cc="no-such-cc")
    raises(loopwright.LoopwrightError, "cannot run 'no-such-cc'", m.run, np.zeros((1, 1, 8, 8), np.float32))


def scikit_estimator_keeps_its_accuracy():
    try:
        import skl2onnx  # noqa: F401
        from sklearn.neural_network import MLPClassifier
    except ImportError:
        return "skl2onnx is not installed"
    x = np.random.default_rng(4).normal(size=(200, 6)).astype(np.float32)
    y = (x[:, 0] > x[:, 1]).astype(int) + (x[:, 2] > 1)
    c = MLPClassifier((8,), max_iter=60, random_state=0).fit(x, y)
    assert abs(loopwright.compile(c).evaluate(x, y).accuracy - c.score(x, y)) < 1e-9


def missing_exporters_are_named():
    for package in ("keras", "torch"):
        kind = type("Net", (), {"__module__": f"{package}.models"})
        try:
            __import__({"keras": "tf2onnx"}.get(package, package))
        except ImportError:
            raises(TypeError, f"an object of {package} is exported by", loopwright.compile, kind())


def main():
    cases = [f for f in globals().values() if callable(f) and getattr(f, "__module__", "") == "__main__"]
    chosen = [f for f in cases if f.__code__.co_argcount == 0 and f is not main
              and os.environ.get("TEST_CASE", "") in f.__name__.replace("_", "-")]
    passed = failed = skipped = 0
    for f in chosen:
        name = f.__name__.replace("_", "-")
        try:
            why = f()
        except Exception:
            lines = traceback.format_exc().strip().splitlines()
            print(f"not ok {name}: {lines[-1]}", *("    " + s for s in lines), sep="\n")
            failed += 1
        else:
            print(f"skip {name}: {why}" if why else f"ok {name}")
            skipped, passed = skipped + bool(why), passed + (not why)
    print(f"{passed} passed, {failed} failed, {skipped} skipped", flush=True)
    sys.exit(failed > 0)


main()
