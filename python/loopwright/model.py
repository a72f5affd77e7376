# SPDX-License-Identifier: MIT
"""Models: compile, run, evaluate, report, write."""
from __future__ import annotations

import os
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Iterable, Mapping, Sequence, Union

import numpy as np

from ._abi import LoopwrightError, call
from ._convert import file_of
from ._host import Header, Port, Program, read_header

Source = Union[str, "os.PathLike[str]", bytes, Any]
_HOST_NAME = "host"
_BATCH = 256


@dataclass(frozen=True)
class Evaluation:
    """The quality of a model on a test set.

    With labels: `accuracy` and `top5` are shares from 0 to 1, `confusion[label][prediction]` counts samples. With
    expected outputs: `largest_error` has the output's unit, `sqnr` is the signal to noise ratio in dB.
    """

    samples: int
    accuracy: float | None = None
    top5: float | None = None
    confusion: np.ndarray | None = None
    largest_error: float | None = None
    sqnr: float | None = None

    def __str__(self) -> str:
        if self.accuracy is not None:
            top5 = "" if self.top5 is None else f", among the five highest {self.top5:.2%}"
            return f"{self.samples} samples: accuracy {self.accuracy:.2%}{top5}"
        return f"{self.samples} samples: largest error {self.largest_error:g}, signal to noise {self.sqnr:.1f} dB"


def compile(model: Source, target: str = "generic", *, example: Any = None, cc: str | None = None,
            format: str | None = None, values: Mapping[str, Any] | None = None, **options: Any) -> "Model":
    """Compiles a model for a target.

    model    a path (.onnx, .tflite, .te), the file's bytes, or an object of scikit-learn, Keras or PyTorch, if the
             exporter (skl2onnx, tf2onnx, torch) is installed
    target   of `loopwright.targets()`
    example  for a PyTorch module: one input tensor, or a tuple of them
    cc       the command that builds the emitted C on this machine; None: $CC, or cc
    format   of bytes: "onnx", "tflite" or "te"; None: recognized
    values   inputs that become constants: name to array
    options  fields of `lw_options` (loopwright.h), for example
               name="kws"                  prefix of all symbols
               dim={"n": 4, "t": (1, 16)}  symbolic sizes: fixed, or from least to greatest
               state={"h": "new_h"}        the output is the input of the next run
               class_names="names.txt", static_arena=True, cpp=True, standalone=True, ...

    Raises LoopwrightError with the diagnostics, and TypeError for an unknown option.

    >>> import loopwright
    >>> m = loopwright.compile(b"size n = 1..8\\ninput x: f32[n]\\ny = relu(x)\\noutput y\\n", dim={"n": 3})
    >>> m.inputs[0].shape, m.arena_bytes
    ((3,), 0)
    >>> loopwright.compile(b"input x: f32[3]\\ny = rleu(x)\\noutput y\\n")   # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
    loopwright.LoopwrightError: ...
    """
    return Model(model, target, example=example, cc=cc, format=format, values=values, **options)


class Model:
    """A compiled model; `compile` creates it.

    inputs, outputs  lists of Port: name, dtype, shape in elements, scale, zero_point
    class_names      names of the classes, [] if unknown
    arena_bytes      scratch memory that the emitted function requires, in bytes
    weight_bytes     constants, in bytes
    warnings         the compiler's warnings
    """

    def __init__(self, model: Source, target: str = "generic", *, example: Any = None, cc: str | None = None,
                 format: str | None = None, values: Mapping[str, Any] | None = None, **options: Any) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="loopwright-")
        folder = Path(self._folder.name)
        self._file = file_of(model, folder, format, example)
        self._options: dict[str, Any] = {**options, "target": target}
        if values:
            self._options["value"] = _value_files(values, folder)
        host = {k: v for k, v in self._options.items() if k not in ("static_arena", "ports_in_arena", "cpp", "stamp",
                                                                      "testbench", "layers")}
        host.update(name=_HOST_NAME, standalone=True)
        _, self.warnings = call("lw_compile", self._file, folder / f"{_HOST_NAME}.c", options=host)
        self._header: Header = read_header(folder / f"{_HOST_NAME}.h", _HOST_NAME)
        self._program: Program | None = None
        self._cc = cc
        self.target = target

    # ---- Facts -------------------------------------------------------------------------------------------------------

    @property
    def inputs(self) -> list[Port]:
        return self._header.inputs

    @property
    def outputs(self) -> list[Port]:
        return self._header.outputs

    @property
    def class_names(self) -> list[str]:
        return self._header.class_names

    @property
    def arena_bytes(self) -> int:
        return self._header.arena_bytes

    @property
    def weight_bytes(self) -> int:
        return self._header.weight_bytes

    def report(self, path: Union[str, "os.PathLike[str]", None] = None, *, cc: str | None = None,
               runner: str | None = None, fit: str | None = None) -> str:
        """Returns the cost per layer and in total as text: multiply-adds, bytes of RAM and flash.

        path  is written, too; the ending selects the form: .html, .json, .csv, else text
        cc    a compiler with its flags, "arm-none-eabi-gcc -mcpu=cortex-m4", which measures code and stack
        runner  runs the program that cc builds, on an emulator or a board, for measured instructions or cycles
        fit   limits, "flash=256K,ram=64K": LoopwrightError if the model takes more
        """
        ending = Path(path).suffix if path is not None else ""
        form = {".html": "lw_report_html", ".json": "lw_report_json", ".csv": "lw_report_csv"}.get(ending, "lw_report")
        text: str = call(form, self._file, options={**self._options, "cc": cc, "runner": runner, "fit": fit})[0]
        if path is not None:
            Path(path).write_text(text)
        return text

    def _repr_html_(self) -> str:
        """The report as a page, for Jupyter: in a frame, because it has styles of its own."""
        page = call("lw_report_html", self._file, options=self._options)[0]
        quoted = page.replace("&", "&amp;").replace('"', "&quot;")
        return f'<iframe srcdoc="{quoted}" style="width:100%;height:40em;border:1px solid #ccc"></iframe>'

    def __repr__(self) -> str:
        def ports(some: Iterable[Port]) -> str:
            return ", ".join(f"{p.name}: {p.dtype}{list(p.shape)}" for p in some)
        return f"<loopwright.Model for {self.target}: {ports(self.inputs)} -> {ports(self.outputs)}>"

    # ---- C -----------------------------------------------------------------------------------------------------------

    def write(self, path: Union[str, "os.PathLike[str]"]) -> list[Path]:
        """Writes PATH, which ends in .c, the header beside it, and the files of the options. Returns their paths.

        The symbols have the prefix `name` of the options; without it, the name of the written file.
        """
        path = Path(path)
        options = {"name": path.stem, **self._options}
        call("lw_compile", self._file, path, options=options)
        endings = [".c", ".h"] + [".hpp"] * bool(options.get("cpp"))
        written = [path.with_suffix(e) for e in endings]
        return written + [path.with_name(path.stem + "_main.c")] * bool(options.get("testbench"))

    def verify(self) -> str:
        """Builds the emitted C, runs it on generated inputs, and compares with the interpreter. Returns the verdict."""
        options = {k: v for k, v in self._options.items() if k != "ports_in_arena"}
        text: str = call("lw_verify", self._file, [], [], options={**options, "cc": self._cc})[0]
        return text

    # ---- Runs --------------------------------------------------------------------------------------------------------

    def reset(self) -> None:
        """Gives the state its initial value (a model with the option `state`)."""
        if self._program:
            self._program.reset()

    def run(self, *inputs: Any) -> Any:
        """Runs the emitted C on this machine.

        Each input is an array of the port's shape, or a batch of them, stacked along a first axis; a first dimension of
        1 in the port's shape serves as that axis. Real numbers at a quantized input are quantized as by the header's
        function, and then quantized outputs are returned as real numbers (float32); integers of the port's type pass
        unchanged, and outputs have the port's type. Returns an array, or a tuple if there are several outputs; a batch
        gives a batch.

        With state, samples are run in order, and the state persists over calls until `reset`.
        """
        if len(inputs) != len(self.inputs):
            raise ValueError(f"{len(inputs)} inputs are given; the model has {len(self.inputs)}: "
                             + ", ".join(p.name for p in self.inputs))
        if self._header.has_open_sizes:
            raise ValueError("a run requires fixed sizes: compile(..., dim={NAME: SIZE})")
        stacked = [_stack(np.asarray(x), p) for x, p in zip(inputs, self.inputs)]
        counts = {len(x) for x, _ in stacked} or {1}
        if len(counts) != 1:
            raise ValueError(f"the inputs have different numbers of samples: {sorted(counts)}")
        is_batch = any(b for _, b in stacked)
        is_real = any(p.scale and np.issubdtype(x.dtype, np.floating) for (x, _), p in zip(stacked, self.inputs))
        stored = [_stored(x, p, self._header.ties_to_even) for (x, _), p in zip(stacked, self.inputs)]
        if not self._program:
            self._program = Program(Path(self._folder.name), _HOST_NAME, self._header, self._cc)
        results = [p.dequantize(y) if is_real and p.scale else y
                   for y, p in zip(self._program.run(stored, counts.pop()), self.outputs)]
        results = [_unstack(y, p, is_batch) for y, p in zip(results, self.outputs)]
        return results[0] if len(results) == 1 else tuple(results)

    def evaluate(self, X: Any, y: Any, *, progress: bool = True) -> Evaluation:
        """Runs a test set and compares the first output.

        X  stacked samples, real or stored as for `run`, whose unit dimensions may differ from the port's; a tuple for
           several inputs
        y  labels, a whole number per sample; or expected outputs, stacked: real numbers. The first output has a score
           per class, or is the label itself: an integer

        With tqdm installed, shows the progress.
        """
        inputs = X if isinstance(X, tuple) else (X,)
        expected, count = np.asarray(y), len(inputs[0])
        if expected.dtype.kind not in "biuf":
            raise ValueError(f"y has type {expected.dtype}; accepted: numbers, labels from 0 on")
        if len(expected) != count:
            raise ValueError(f"{count} samples and {len(expected)} labels or outputs are given")
        for x, p in zip(inputs, self.inputs):
            _refuse_nan(np.asarray(x), p)
        self.reset()
        parts = []
        for at in _progress(range(0, count, _BATCH), progress):
            out = self.run(*[_as_batch(np.asarray(x)[at:at + _BATCH], p) for x, p in zip(inputs, self.inputs)])
            parts.append(out[0] if isinstance(out, tuple) else out)
        got = np.concatenate(parts).reshape(count, -1)
        is_class = got.shape[1] == 1 and np.issubdtype(got.dtype, np.integer) and not self.outputs[0].scale
        is_label = expected.size == count and (got.shape[1] > 1 or is_class) and _are_whole(expected)
        if not is_label:
            return _error(got, expected)
        labels = expected.ravel().astype(np.int64)
        return _compare(got.ravel(), labels) if is_class else _score(got, labels)


# ---- Arrays ----------------------------------------------------------------------------------------------------------

def _value_files(values: Mapping[str, Any], folder: Path) -> dict[str, Path]:
    files = {}
    for i, (name, array) in enumerate(values.items()):
        files[name] = folder / f"value{i}.npy"
        np.save(files[name], np.asarray(array))
    return files


def _without_units(shape: Sequence[int]) -> list[int]:
    return [d for d in shape if d != 1]


def _as_batch(x: np.ndarray, p: Port) -> np.ndarray:
    """Samples may have other unit dimensions than the port: [n][1][49][20] serves a port of [1][49][20][1]."""
    return x.reshape(len(x), *p.shape) if _without_units(x.shape[1:]) == _without_units(p.shape) else x


def _stack(x: np.ndarray, p: Port) -> tuple[np.ndarray, bool]:
    """Returns the samples, [count][shape of the port], and whether they are a batch."""
    if x.shape == p.shape:
        return x[None], False
    if x.shape[1:] == p.shape and x.ndim:
        return x, True
    if p.shape[:1] == (1,) and x.shape == p.shape[1:]:
        return x[None, None], False
    if p.shape[:1] == (1,) and x.shape[1:] == p.shape[1:]:
        return x[:, None], True
    batch = "[n]" + "".join(f"[{d}]" for d in (p.shape[1:] if p.shape[:1] == (1,) else p.shape))
    raise ValueError(f"{p.name} has shape {list(x.shape)}; accepted: {list(p.shape)}, or {batch} for n samples")


def _stored(x: np.ndarray, p: Port, ties_to_even: bool) -> np.ndarray:
    if p.scale and np.issubdtype(x.dtype, np.floating):
        x = p.quantize(x, ties_to_even)
    elif x.dtype != p.dtype and not _fits(x, p.dtype):
        values = f" and values from {x.min()} to {x.max()}" if np.issubdtype(x.dtype, np.integer) else ""
        raise ValueError(f"{p.name} has type {x.dtype}{values}; accepted: {p.dtype}")
    return np.ascontiguousarray(x, p.dtype)


def _fits(x: np.ndarray, dtype: np.dtype) -> bool:
    """Integers whose values the type holds, truth values, and real numbers for floats."""
    if x.dtype == np.bool_:
        return True
    if not (np.issubdtype(x.dtype, np.integer) and np.issubdtype(dtype, np.integer)):
        is_number = np.issubdtype(x.dtype, np.integer) or np.issubdtype(x.dtype, np.floating)
        return bool(is_number and np.issubdtype(dtype, np.floating))
    limits = np.iinfo(dtype)
    return x.size == 0 or (int(x.min()) >= limits.min and int(x.max()) <= limits.max)


def _unstack(y: np.ndarray, p: Port, is_batch: bool) -> np.ndarray:
    if not is_batch:
        return np.asarray(y[0])
    return y[:, 0] if p.shape[:1] == (1,) else y


# ---- Scores ----------------------------------------------------------------------------------------------------------

def _progress(steps: Sequence[int], is_shown: bool) -> Iterable[int]:
    if is_shown and len(steps) > 1:
        try:
            from tqdm.auto import tqdm
            shown: Iterable[int] = tqdm(steps, unit=f"x{_BATCH} samples", leave=False)
            return shown
        except ImportError:
            pass
    return steps


def _refuse_nan(x: np.ndarray, p: Port) -> None:
    if not np.issubdtype(x.dtype, np.floating) or not x.size:
        return
    has_nan = np.isnan(x).reshape(len(x), -1).any(axis=1)
    if has_nan.any():
        raise ValueError(f"sample {int(has_nan.argmax())} of {p.name} has NaN")


def _are_whole(y: np.ndarray) -> bool:
    return not np.issubdtype(y.dtype, np.floating) or bool((np.isfinite(y) & (y == np.floor(y))).all())


def _compare(found: np.ndarray, labels: np.ndarray) -> Evaluation:
    """For an output that is the label itself; the 5 highest are unknown."""
    if min(labels.min(initial=0), found.min(initial=0)) < 0:
        return Evaluation(len(found), float((found == labels).mean()))
    classes = 1 + int(max(labels.max(initial=0), found.max(initial=0)))
    confusion = np.zeros((classes, classes), np.int64)
    np.add.at(confusion, (labels, found), 1)
    return Evaluation(len(found), float((found == labels).mean()), confusion=confusion)


def _score(scores: np.ndarray, labels: np.ndarray) -> Evaluation:
    count, classes = scores.shape
    if labels.min(initial=0) < 0 or labels.max(initial=0) >= classes:
        raise ValueError(f"labels are {labels.min()} to {labels.max()}; accepted: 0 to {classes - 1}")
    order = np.argsort(-scores.astype(np.float64), axis=1, kind="stable")
    confusion = np.zeros((classes, classes), np.int64)
    np.add.at(confusion, (labels, order[:, 0]), 1)
    return Evaluation(count, float((order[:, 0] == labels).mean()),
                      float((order[:, :5] == labels[:, None]).any(axis=1).mean()), confusion)


def _error(got: np.ndarray, expected: np.ndarray) -> Evaluation:
    want = expected.reshape(len(got), -1).astype(np.float64)
    if want.shape != got.shape:
        raise ValueError(f"an expected output has {want.shape[1]} elements, the model's has {got.shape[1]}")
    noise = got.astype(np.float64) - want
    power = float((noise ** 2).sum())
    sqnr = float("inf") if power == 0 else 10 * float(np.log10((want ** 2).sum() / power))
    return Evaluation(len(got), largest_error=float(np.abs(noise).max(initial=0)), sqnr=sqnr)


__all__ = ["Evaluation", "LoopwrightError", "Model", "compile"]
