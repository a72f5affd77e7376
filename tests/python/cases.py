# SPDX-License-Identifier: MIT
"""The cases of the suite python_package: `ok NAME` or `not ok NAME: WHY` for each function below, and their sum."""
import doctest
import importlib.util
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from pathlib import Path

import numpy as np

import loopwright
import loopwright.model

sys.path.insert(0, "tests")
import tflite_sizes  # noqa: E402

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
    """The interpreter's first output after the passes, by the command line."""
    np.save(WORK / "x.npy", x)
    subprocess.run([os.environ["LW"], "run", model, WORK / "x.npy", "-o", WORK / "y.npy", "--at", "pass:affine"],
                   check=True)
    return np.load(WORK / "y.npy")


def docstrings_hold():
    flags = doctest.ELLIPSIS
    for module in (loopwright, loopwright.model, loopwright.schedule, loopwright._abi):
        assert doctest.testmod(module, optionflags=flags).failed == 0, module.__name__


def annotations_hold():
    if not importlib.util.find_spec("mypy"):
        return "mypy is not installed"
    check = subprocess.run([sys.executable, "-m", "mypy", "--config-file", "emitter/python/mypy.ini", "--cache-dir",
                            WORK / "mypy",
                            "emitter/python/loopwright"], capture_output=True, text=True)
    assert check.returncode == 0, check.stdout + check.stderr


# Calls, and whether a type checker must refuse each.
CALLS = [
    (True, "import loopwright"),
    (True, "m = loopwright.compile('m.onnx', optimize='size', ram=8, dim={'n': 3}, extern='F', mhz=0.5)"),
    (True, "loopwright.compile('m.onnx', board='pico', state={'h': 'new_h'}, standalone=True, layout={'x': 'nchw'})"),
    (False, "loopwright.compile('m.onnx', tarject='x')"),
    (False, "loopwright.compile('m.onnx', target='cortex-m99')"),
    (False, "loopwright.compile('m.onnx', board='pico-99')"),
    (False, "loopwright.compile('m.onnx', ram='8K')"),
    (False, "loopwright.compile('m.onnx', optimize='fast')"),
    (False, "loopwright.compile('m.onnx', dim={'n': '3'})"),
    (False, "loopwright.compile('m.onnx', selftest=3)"),
    (False, "loopwright.compile(b'', format='onxx')"),
    (False, "loopwright.quantize('m.onnx', [], ports='int9')"),
    (False, "loopwright.quantize('m.onnx', [], weights_bits=3)"),
    (False, "loopwright.quantize('m.onnx', [], ranges='mean')"),
    (False, "m.package('ardunio', 'folder')"),
    (False, "m.report(cc=3)"),
    (False, "m.rnu()"),
    (True, "s = loopwright.te('x', 'cortex-m4').split('c.i', 4, names=('o', 'i')).cache_read('a', 'stack', as_='i16')"),
    (True, "s.reorder('c.o', 'c.i', 'c.k', reassociate=True).async_('a', slots=2).compile(name='k').write('k.c')"),
    (False, "s.splitt('c.i', 4)"),
    (False, "s.split('c.i', '4')"),
    (False, "s.split('c.i', 4, tail='pool')"),
    (False, "s.split('c.i', 4, tails='peel')"),
    (False, "s.tile('c.i', 'c.j', 4)"),
]


def refused_calls(said):
    """The lines of typed.py that a checker names; it says typed.py:LINE:"""
    found = {int(line.split("typed.py:")[1].split(":")[0]) for line in said.splitlines() if re.search(
        r"typed\.py:\d+(:\d+)?(:| -) error", line)}
    return sorted(found)


def write_calls(calls):
    (WORK / "typed.py").write_text("\n".join(text for _, text in calls) + "\n")
    return WORK / "typed.py", [k + 1 for k, (is_right, _) in enumerate(calls) if not is_right]


def wrong_calls_are_refused_by_mypy():
    if not importlib.util.find_spec("mypy"):
        return "mypy is not installed"
    script, wrong = write_calls(CALLS)
    check = subprocess.run([sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent", "--cache-dir",
                            WORK / "mypy", script], env={**os.environ, "MYPYPATH": "emitter/python"},
                           capture_output=True, text=True)
    assert refused_calls(check.stdout) == wrong, check.stdout + check.stderr


def wrong_calls_are_refused_by_pyright():
    """In its strict mode for calls, in its standard mode for the package."""
    pyright = next((p for p in (shutil.which(n, path=f"{Path(sys.executable).parent}:{os.environ['PATH']}")
                                for n in ("basedpyright", "pyright")) if p), None)
    if not pyright:
        return "neither pyright nor basedpyright is installed"
    script, wrong = write_calls(CALLS)
    for mode, file, want in (("strict", script, wrong), ("standard", Path("emitter/python/loopwright").resolve(), [])):
        (WORK / "pyright.json").write_text(json.dumps({
            "typeCheckingMode": mode, "extraPaths": [str(Path("emitter/python").resolve())],
            "reportMissingImports": "none", "reportMissingModuleSource": "none", "include": [str(file)]}))
        check = subprocess.run([pyright, "--pythonpath", sys.executable, "-p", WORK / "pyright.json"],
                               capture_output=True, text=True)
        assert refused_calls(check.stdout) == want, check.stdout + check.stderr
        assert want or check.returncode == 0, check.stdout


def types_of_options_are_current():
    for words, file in ([], "_options.py"), (["steps"], "_steps.py"):
        made = subprocess.run([sys.executable, "emitter/python/options.py", *words], capture_output=True, text=True,
                              check=True)
        assert made.stdout == Path("emitter/python/loopwright", file).read_text(), file


def steps_have_their_options():
    text = "input a: f32[8][16]\nb[i, j] = a[i, j] * 2\nc[i, j] = b[i, j] + a[i, j]\noutput c\n"
    s = loopwright.te(text)
    s.fuse("c.i", "c.j", name="both").split("c.both", parts=3, tail="guard", names=("o", "i")).unroll("c.o")
    assert s.steps[:2] == ["fuse c.i c.j name=both", "split c.both parts=3 tail=guard names=o,i"], s.steps
    assert s.verify() and getattr(loopwright.Schedule, "async") is loopwright.Schedule.async_
    raises(TypeError, "tails", s.split, "c.o", 2, tails="guard")
    raises(loopwright.LoopwrightError, "there is no", s.split, "d.o", 2)
    s = loopwright.te(text).memory("pad", bytes="1K").cache_read("b", "pad", name="bs")
    assert "alloc bs pad" in s.dump(), s.dump()


def notebook_runs():
    """Each cell of the notebook; the model is shown as the page of its report."""
    missing = [name for name in ("nbclient", "nbformat", "ipykernel") if not importlib.util.find_spec(name)]
    if missing:
        return f"{', '.join(missing)} not installed"
    import nbclient
    import nbformat
    os.environ["PYTHONPATH"] = os.pathsep.join([str(Path("emitter/python").resolve()),
                                                os.environ.get("PYTHONPATH", "")])
    book = nbformat.read("samples/matmul/matmul.ipynb", as_version=4)
    nbclient.NotebookClient(book, timeout=120, resources={"metadata": {"path": str(WORK)}}).execute()
    cells = [cell for cell in book.cells if cell.cell_type == "code"]
    said = ["".join(o.get("text", "") for o in cell.outputs) for cell in cells]
    shown = [o.data for cell in cells for o in cell.outputs if o.output_type == "execute_result"]
    assert "there is no" not in said[4] and "vectorize sums.k" in said[4], said[4]
    assert "agree" in said[5] and (WORK / "matmul.c").exists(), said[5]
    assert float(shown[0]["text/plain"]) < 1e-3, shown[0]
    page = next(d["text/html"] for d in shown if "text/html" in d)
    assert page.startswith("<iframe srcdoc=") and "&lt;script" not in page and "<script" in page, page[:200]


def boards_have_their_targets():
    text = b"input x: f32[1][3]\ny = relu(x)\noutput y\n"
    assert loopwright.compile(text, board="pico").target == "cortex-m0plus"
    assert loopwright.compile(text, "cortex-m4", board="pico").target == "cortex-m4"
    assert loopwright.compile(text).target == "generic" and "pico" in loopwright.boards()
    raises(loopwright.LoopwrightError, "pico-99", loopwright.compile, text, board="pico-99")


def command_line_words_are_keywords():
    text = b"input x: f32[1][3]\ny = relu(x)\noutput y\n"
    m = loopwright.compile(text, float="separate", name="k")
    assert m.run(np.ones((1, 3))).shape == (1, 3)
    raises(loopwright.ArgumentError, "does not accept", loopwright.compile, text, schedule="one.txt")
    raises(loopwright.LoopwrightError, "none.txt", loopwright.compile, text, schedule=[WORK / "none.txt"])


def written_c_finds_its_headers():
    written = loopwright.compile(DIGITS, name="k").write(WORK / "k.c")[0]
    subprocess.run(["cc", "-std=c99", "-fsyntax-only", "-I", loopwright.include_dir(), written], check=True)


def layers_are_named():
    m, x = loopwright.compile(DIGITS), np.linspace(0, 1, 64).reshape(1, 1, 8, 8)
    layers = m.layers(x)
    assert np.array_equal(layers["scores"], m.run(x)) and layers["relu_1"].shape == (1, 8, 8, 16), list(layers)
    assert (layers["relu_1"] >= 0).all() and m.layers(np.concatenate([x, x]))["relu_1"].shape == (2, 8, 8, 16)


def annotations_give_a_model():
    m, x = loopwright.compile(DIGITS), np.linspace(0, 1, 64).reshape(1, 1, 8, 8)
    apart = m.annotate("stop_fusion conv_1").annotate("stop_fusion conv_2")
    assert len(apart.layers(x)) > len(m.annotate("stop_fusion conv_1").layers(x)) > len(m.layers(x))
    assert np.allclose(apart.run(x), m.run(x), atol=1e-6)
    raises(loopwright.LoopwrightError, "conv_77", m.annotate, "stop_fusion conv_77")


def evidence_is_written():
    folder = loopwright.compile(DIGITS).evidence(WORK / "digits-evidence")
    assert (folder / "evidence.json").exists() and (folder / "digits_evidence.c").exists()


def package_is_written():
    folder = loopwright.compile(DIGITS).package("arduino", WORK / "my-digits", author="Ann")
    assert "author=Ann" in (folder / "library.properties").read_text()
    assert (folder / "src" / "my_digits.c").exists()
    raises(loopwright.LoopwrightError, "no kind of package", loopwright.compile(DIGITS).package, "ardunio", WORK / "p")


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
    real.flat[:3] = -0.25, 1e9, -1e9
    stored = np.full((1, 6, 6, 1), -2, np.int8)
    stored.flat[:3] = -4, 127, -128
    y, q = m.run(real), m.run(stored)
    assert y.dtype == np.float32 and np.array_equal(y, np.float32(1.5) * (q.astype(np.float32) + 7))


def integers_beyond_the_type_are_refused():
    m = loopwright.compile(INT8)
    x = np.arange(-18, 18).reshape(1, 6, 6, 1)
    want = m.run(x.astype(np.int8)).tobytes()
    for kind in (np.int16, np.int32, np.int64):
        assert m.run(x.astype(kind)).tobytes() == want
    name = m.inputs[0].name
    for kind, value in ((np.uint8, 200), (np.int16, -129), (np.int64, 1 << 40), (np.uint64, (1 << 64) - 1)):
        wrong = np.ones((3, 6, 6, 1), kind)
        wrong[1, 0, 2, 0] = value
        raises(loopwright.LoopwrightError, f"{name} has {value} at element 2 of sample 1; use int8, -128 to 127",
               m.run, wrong)
    wide = loopwright.compile(b"input x: f32[2]\ny = relu(x)\noutput y\n")
    raises(loopwright.LoopwrightError, "x has 1e+300 at element 1; use float32", wide.run, [0, 1e300])


def samples_of_a_test_set_are_finite():
    x = np.zeros((300, 1, 8, 8), np.float32)
    m = loopwright.compile(DIGITS)
    for value, what in ((np.nan, "NaN"), (-np.inf, "an infinity")):
        x[290, 0, 1, 3] = value
        raises(loopwright.LoopwrightError, f"sample 290 has {what} at element 11", m.evaluate, x, np.zeros(300, int))
    q = loopwright.compile(INT8)
    real = np.zeros((1, 6, 6, 1), np.float32)
    real.flat[5] = np.nan
    raises(loopwright.LoopwrightError, "has nan at element 5; use a number", q.run, real)


def a_sample_may_lack_the_axis_of_one():
    m = loopwright.compile(DIGITS)
    x = np.random.default_rng(5).random((1, 1, 8, 8), np.float32)
    assert m.run(x[0]).tobytes() == m.run(x).tobytes() and m.run(x[0]).shape == (1, 10)


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
    label = loopwright.compile(b"input x: f32[1][4]\ny = argmax(x, axis=1)\noutput y\n")
    e = label.evaluate(np.eye(4, dtype=np.float32), [0, 1, 2, 2])
    assert e.accuracy == 0.75 and e.confusion[2].tolist() == [0, 0, 1, 1] and str(e) == "4 samples: accuracy 75.00%"


def labels_of_an_output_that_is_one_are_compared():
    m = loopwright.compile(b"input x: f32[1][3]\ny = argmax(x, axis=1)\noutput y\n")
    e = m.evaluate(np.float32(np.eye(3))[:, None], [0, 1, 1])
    assert abs(e.accuracy - 2 / 3) < 1e-9 and e.largest_error is None and "accuracy 66.67%" in str(e)


def wrong_labels_are_named():
    m = loopwright.compile(DIGITS)
    x = np.random.default_rng(6).random((3, 1, 8, 8), np.float32)
    for labels, words in ((np.full(3, 0.5), "labels have type float64; use integers from 0 to 9, one for each "
                           "sample"),
                          (["a", "b", "c"], "labels have type <U1; use integers from 0 to 9"),
                          (np.eye(10)[:3], "labels are one-hot, [3, 10]; use integers from 0 to 9"),
                          (np.eye(10, dtype=int)[:3], "y.argmax(axis=1)")):
        raises(loopwright.LoopwrightError, words, m.evaluate, x, labels)


def files_serve_an_evaluation():
    m = loopwright.compile(DIGITS)
    x = np.random.default_rng(7).random((20, 1, 8, 8), np.float32)
    np.save(WORK / "tx.npy", x)
    np.savez(WORK / "tx.npz", **{m.inputs[0].name: x})
    np.save(WORK / "ty.npy", m.run(x).argmax(axis=1))
    for samples in ("tx.npy", "tx.npz"):
        assert m.evaluate(WORK / samples, str(WORK / "ty.npy")).accuracy == 1
    raises(loopwright.LoopwrightError, "no.npy", m.evaluate, "no.npy", [0])


def quantizing_equals_the_command_line():
    x = np.random.default_rng(8).random((40, 1, 8, 8), np.float32)
    np.save(WORK / "q.npy", x)
    m = loopwright.quantize(DIGITS, x, target="cortex-m4")
    subprocess.run([os.environ["LW"], "quantize", DIGITS, "--samples", WORK / "q.npy", "--target", "cortex-m4",
                    "--name",
                    "q", "-o", WORK / "q.c"], check=True, capture_output=True)
    m.write(WORK / "qp.c")
    sums = [sorted(line for line in (WORK / f).read_text().replace("qp", "q").splitlines()
                   if line.strip()[:1].isdigit())
            for f in ("q.c", "qp.c")]
    assert sums[0] and sums[0] == sums[1]          # the same weights
    floats = loopwright.compile(DIGITS)
    assert m.inputs[0].dtype == np.int8 and m.evaluate(x, floats.run(x)).sqnr > 20
    raises(loopwright.LoopwrightError, "NaN", loopwright.quantize, DIGITS, x * np.nan)
    raises(TypeError, "did you mean 'min_sqnr'?", loopwright.quantize, DIGITS, x, minsqnr=40)


def quantizing_says_its_choices():
    x = np.random.default_rng(8).random((40, 1, 8, 8), np.float32)
    m = loopwright.quantize(DIGITS, x, sensitivity=True, report=WORK / "q.html")
    assert "8 bits alone" in m.quantization and "11 tensors on 7 grids" in m.quantization
    assert "<h2>Grids</h2>" in (WORK / "q.html").read_text()
    assert loopwright.quantize(DIGITS, x).quantization is None


def other_unit_dimensions_serve_an_evaluation():
    m = loopwright.compile(DIGITS)
    x = np.zeros((4, 8, 8, 1), np.float32)
    assert m.evaluate(x, np.zeros(4, int)).samples == 4
    assert np.array_equal(m.run(x), m.run(x.reshape(4, 1, 8, 8)))
    raises(ValueError, "[600, 8, 9]", m.evaluate, np.zeros((600, 8, 9), np.float32), np.zeros(600, int))
    raises(loopwright.LoopwrightError, "has shape", m.run, np.zeros((3, 3), np.float32))
    raises(ValueError, "use [1, 1, 8, 8]", m.evaluate, np.zeros((4, 64), np.float32), np.zeros(4, int))


def state_persists_until_reset():
    m = loopwright.compile("tests/emitted/filter.te", state={"level": "new_level", "last": "new_last"})
    x = np.ones(1, np.float32)
    first, second = m.run(x), m.run(x)
    m.reset()
    again = m.run(x)
    assert not np.array_equal(first, second) and np.array_equal(first, again)


def ports_are_renamed():
    m = loopwright.compile(DIGITS, rename={"input": "pixels"})
    assert "pixels" in repr(m.inputs) and m.run(np.zeros((1, 8, 8), np.float32)).shape
    raises(loopwright.LoopwrightError, "rename={'inptu': 'x'}", loopwright.compile, DIGITS, rename={"inptu": "x"})


def several_outputs_are_a_tuple():
    m = loopwright.compile(b"input x: f32[4]\ny = relu(x)\nz = sigmoid(x)\noutput y, z\n")
    y, z = m.run(np.array([-1, 0, 1, 2]))
    assert list(y) == [0, 0, 1, 2] and z[1] == 0.5


def values_become_constants():
    m = loopwright.compile(b"input x: f32[2]\ninput w: f32[2]\ny[i] = x[i] * w[i]\noutput y\n",
                           values={"w": np.float32([2, 3])})
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
    assert m.report(WORK / "r.html") is None and "<svg" in (WORK / "r.html").read_text()
    assert "<iframe srcdoc=" in m._repr_html_()


def figures_are_read_from_json_and_limits_refuse():
    m = loopwright.compile(DIGITS, target="cortex-m4")
    m.report(WORK / "r.json")
    totals = json.loads((WORK / "r.json").read_text())["totals"]
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
    raises(loopwright.LoopwrightError, "did you mean 'target'", loopwright.compile, DIGITS, targte="generic")
    raises(loopwright.LoopwrightError, "'optimize' does not accept 3", loopwright.compile, DIGITS, optimize=3)
    raises(loopwright.ArgumentError, "'layers' does not accept 'yes': True or False", loopwright.compile, DIGITS,
           layers="yes")
    raises(loopwright.ArgumentError, "'ram' does not accept '8K': a whole number", loopwright.compile, DIGITS, ram="8K")


def texts_name_arguments():
    e = raises(loopwright.LoopwrightError, "", loopwright.compile, b"size n\ninput x: f32[n]\ny = relu(x)\noutput y\n")
    said = str(e) + loopwright.compile(DIGITS, target="cortex-m4").verify()
    assert "--" not in said, said


def wrong_arrays_are_refused():
    m = loopwright.compile(DIGITS)
    raises(loopwright.LoopwrightError, "has shape", m.run, np.zeros((3, 3), np.float32))
    raises(ValueError, "use [1, 1, 8, 8] or [1, 8, 8], or [n][1][8][8]", m.run, np.zeros((3, 3), np.float32))
    raises(ValueError, "2 inputs are given; the model has 1: input", m.run, 1, 2)
    raises(ValueError, "has type complex", m.run, np.zeros((1, 1, 8, 8), complex))
    raises(ValueError, "labels are 10 to 10; use 0 to 9", m.evaluate, np.zeros((1, 1, 8, 8), np.float32), [10])
    raises(ValueError, "fixed sizes",
           loopwright.compile(b"size n = 1..8\ninput x: f32[n]\ny = relu(x)\noutput y\n").run,
           np.zeros(8, np.float32))


def arrays_have_the_shape_that_data_decide():
    m = loopwright.compile(tflite_sizes.ROWS_UP_TO, format="tflite", dim={"places.0": (0, 2)})
    want = {n: [np.asarray(y) for y in tflite_sizes.rows_up_to(np.int32(n))] for n in (1, 3, 4)}
    for n in want:
        got = m.run(np.int32(n))
        for y, w in zip(got, want[n]):
            assert y.shape == w.shape and y.dtype == w.dtype and np.array_equal(y, w), (n, y, w)
    batch = m.run(np.array(list(want), np.int32))
    assert [y.shape for y in batch[0]] == [want[n][0].shape for n in want], batch
    first = [want[n][0] for n in want]
    found = m.evaluate(np.array(list(want), np.int32), first, progress=False)
    assert found.samples == len(want) and found.largest_error == 0, found
    raises(ValueError, "of sample 0 is", m.evaluate, np.array([1], np.int32), [want[3][0]])
    raises(ValueError, "returned -8: data decided a size above its maximum", m.run, np.int32(100))


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


def interrupted_group_says_so():
    """Control-C of a terminal: the compiler gets the signal, too."""
    waits = WORK / "waits"
    waits.write_text(f"#!/bin/sh\n: > {WORK}/begun\nexec sleep 60\n")
    waits.chmod(0o755)
    work = subprocess.Popen([os.environ["LW"], "verify", DIGITS, "--cc", waits], stderr=subprocess.PIPE, text=True,
                            start_new_session=True)
    while not (WORK / "begun").exists() and work.poll() is None:
        time.sleep(0.1)
    os.killpg(work.pid, signal.SIGINT)
    said = work.communicate(timeout=30)[1]
    assert work.returncode == 130 and said.startswith("error: interrupted"), (work.returncode, said)


def scikit_labels_are_compared():
    try:
        import skl2onnx  # noqa: F401
        from sklearn.svm import SVC
    except ImportError:
        return "skl2onnx is not installed"
    x = np.random.default_rng(4).normal(size=(200, 6)).astype(np.float32)
    y = (x[:, 0] > x[:, 1]).astype(int) + (x[:, 2] > 1)
    c = SVC().fit(x, y)
    assert abs(loopwright.compile(c).evaluate(x, y).accuracy - c.score(x, y)) < 0.011      # f32 beside f64
    raises(loopwright.LoopwrightError, "SVC is not fitted", loopwright.compile, SVC())


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
