# SPDX-License-Identifier: MIT
"""Models: compile, run, evaluate, report, write."""
from __future__ import annotations

import os
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Iterable, Literal, Mapping, Sequence, Union

import numpy as np

from ._abi import LoopwrightError, call, check_names, in_words_of_python, options_of, quantization_of
from ._convert import file_of
from ._host import Header, Port, Program, read_header

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._options import Format, Options, Package, Ports, Ranges, Target

Source = Union[str, "os.PathLike[str]", bytes, Any]
_HOST_NAME = "host"
_BATCH = 256


@dataclass(frozen=True)
class Evaluation:
    """The quality of a model on a test set.

    With labels: `accuracy` and `top5` are shares from 0 to 1, `confusion[label][prediction]` counts samples; a model
    whose first output is the label itself has no top5. With expected outputs: `largest_error` has the
    output's unit, `sqnr` is the signal to noise ratio in dB.
    """

    samples: int
    accuracy: float | None = None
    top5: float | None = None
    confusion: np.ndarray | None = None
    largest_error: float | None = None
    sqnr: float | None = None

    def __str__(self) -> str:
        if self.accuracy is not None:
            top = "" if self.top5 is None else f", among the five highest {self.top5:.2%}"
            return f"{self.samples} samples: accuracy {self.accuracy:.2%}{top}"
        return f"{self.samples} samples: largest error {self.largest_error:g}, signal to noise {self.sqnr:.1f} dB"


def compile(model: Source, target: Target | None = None, *, example: Any = None, cc: str | None = None,
            format: Format | None = None, values: Mapping[str, Any] | None = None,
            **options: Unpack[Options]) -> "Model":
    """Compiles a model for a target.

    model    a path (.onnx, .tflite, .te), the file's bytes, or an object of scikit-learn, Keras or PyTorch, if the
             exporter (skl2onnx, tf2onnx, torch) is installed
    target   of `loopwright.targets()`; None: that of `board`, or "generic"
    example  for a PyTorch module: one input tensor, or a tuple of them
    cc       the command that builds the emitted C on this machine; None: $CC, or cc
    format   of bytes: "onnx", "tflite" or "te"; None: recognized
    values   inputs that become constants: name to array
    options  fields of `lw_options` (loopwright.h), for example
               name="kws"                  prefix of all symbols
               dim={"n": 4, "t": (1, 16)}  symbolic sizes: fixed, or from least to greatest
               state={"h": "new_h"}        the output is the input of the next run
               class_names="names.txt"     a file of names of the classes, a line each
               standalone=True             the C includes no header of the runtime

    Raises LoopwrightError, which is a ValueError, with the diagnostics; for an unknown option it is also a TypeError.

    >>> import loopwright
    >>> m = loopwright.compile(b"size n = 1..8\\ninput x: f32[n]\\ny = relu(x)\\noutput y\\n", dim={"n": 3})
    >>> m.inputs[0].shape, m.arena_bytes
    ((3,), 0)
    >>> loopwright.compile(b"input x: f32[3]\\ny = rleu(x)\\noutput y\\n")   # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
    loopwright.LoopwrightError: ...
    """
    return Model(model, target, example=example, cc=cc, format=format, values=values, **options)


def quantize(model: Source, samples: Any, target: Target | None = None, *, ports: Ports | None = None,
             ranges: Ranges | None = None, refine: bool = False, weights_bits: Literal[8, 4, 2, "auto"] | None = None,
             flash: int | None = None, min_sqnr: float | None = None, per_tensor: bool = False,
             no_equalization: bool = False, finetune: int | None = None, seed: int | None = None, labels: Any = None,
             max_drop: str | None = None, sensitivity: bool = False,
             report: Union[str, "os.PathLike[str]", None] = None, example: Any = None, cc: str | None = None,
             format: Format | None = None, values: Mapping[str, Any] | None = None,
            **options: Unpack[Options]) -> "Model":
    """Quantizes a trained float model with samples of its inputs, and compiles the integer network.

    samples  real numbers [samples][shape of the input], a tuple of arrays for several inputs, or paths of .npy files
    ports    type of inputs and outputs: "int8" (None), "int16" or "float"
    labels   integers [samples], which finetune and max_drop="0.5%" require or use
    sensitivity, report="q.html"
             measure each grid, and write the page with histograms and sensitivities; `quantization` of the model is
             then the text of the command: grids, calls in floats, sensitivities, and what a bound widened. The
             samples are run once more for it
    Others are the fields of `lw_quantization` (loopwright.h), and arguments and options as of `compile`.

    >>> import loopwright, numpy
    >>> text = b"input x: f32[1][3]\\ny = relu(x)\\noutput y\\n"
    >>> loopwright.quantize(text, numpy.linspace(-1, 1, 30).reshape(10, 1, 3)).outputs[0].dtype
    dtype('int8')
    """
    choices: dict[str, Any] = {"ports": ports, "ranges": ranges, "refine": refine,
                               "weights_bits": weights_bits, "flash": flash, "min_sqnr": min_sqnr,
                               "per_tensor": per_tensor, "no_equalization": no_equalization, "finetune": finetune,
                               "seed": seed, "max_drop": max_drop}
    check_names(options, [*choices, "labels", "sensitivity", "report"])
    said: str | None = None
    with tempfile.TemporaryDirectory(prefix="loopwright-") as name:
        folder = Path(name)
        file = file_of(model, folder, format, example)
        words: dict[str, Any] = {**options, "target": target, "cc": cc}
        if values:
            words["value"] = _value_files(values, folder)
        files = _sample_files(samples, folder)
        choices["sample_labels"] = None if labels is None else _array_file(labels, folder / "labels.npy")
        q = quantization_of(files, choices)
        text, warnings = call("lw_quantize_dump", file, q, options={**words, "at": "realized"})
        if sensitivity or report is not None:
            page = None if report is None else os.fspath(report)
            q = quantization_of(files, {**choices, "sensitivity": sensitivity, "report": page})
            said = call("lw_quantize", file, folder / "quantized.c", q, options=words)[0]
    others: Any = {k: v for k, v in options.items() if k != "dim"}
    quantized = Model(text.encode(), target, cc=cc, format="te", **others)
    quantized.warnings = warnings + quantized.warnings
    quantized.quantization = said
    return quantized


class Model:
    """A compiled model; `compile` creates it.

    inputs, outputs  lists of Port: name, dtype, shape in elements, scale, zero_point
    class_names      names of the classes, [] if unknown
    arena_bytes      scratch memory that the emitted function requires, in bytes
    weight_bytes     constants, in bytes
    warnings         the compiler's warnings, and its notes
    quantization     what `quantize` says of its choices with sensitivity=True or report=PATH; else None
    """

    quantization: str | None = None
    # options without a meaning for the program that `run` builds
    _left_out: tuple[str, ...] = ("static_arena", "ports_in_arena", "ports_memory", "cpp", "stamp", "testbench",
                                   "layers")

    def __init__(self, model: Source, target: Target | None = None, *, example: Any = None, cc: str | None = None,
                 format: Format | None = None, values: Mapping[str, Any] | None = None,
                 **options: Unpack[Options]) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="loopwright-")
        folder = Path(self._folder.name)
        self._file = file_of(model, folder, format, example)
        self._options: dict[str, Any] = {**options, "target": target}
        if values:
            self._options["value"] = _value_files(values, folder)
        options_of(self._options)                   # also refuses wrong values of the options that are left out
        host = {k: v for k, v in self._options.items() if k not in self._left_out}
        host.update(name=_HOST_NAME, standalone=True)
        _, self.warnings = call("lw_compile", self._file, folder / f"{_HOST_NAME}.c", options=host)
        self._header: Header = read_header(folder / f"{_HOST_NAME}.h", _HOST_NAME)
        self._program: Program | None = None
        self._with_layers: Model | None = None
        self._cc = cc
        self._kept: Any = None               # whose files the options name
        self.target = self._header.target

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
               runner: str | None = None, fit: str | None = None) -> str | None:
        """Returns the cost per layer and in total as text: multiply-adds, bytes of RAM and flash.

        path  is written instead; the ending selects the form: .html, .json, .csv, else text
        cc    a compiler with its flags, "arm-none-eabi-gcc -mcpu=cortex-m4", which measures code and stack
        runner  runs the program that cc builds, on an emulator or a board, for measured instructions or cycles
        fit   limits, "flash=256K,ram=64K": LoopwrightError if the model takes more

        >>> import loopwright
        >>> m = loopwright.compile(b"input x: f32[3]\\ny = relu(x)\\noutput y\\n")
        >>> "multiply-adds" in m.report()
        True
        """
        ending = Path(path).suffix if path is not None else ""
        form = {".html": "lw_report_html", ".json": "lw_report_json", ".csv": "lw_report_csv"}.get(ending, "lw_report")
        text: str = call(form, self._file, options={**self._options, "cc": cc, "runner": runner, "fit": fit})[0]
        if path is None:
            return text
        Path(path).write_text(text)
        return None

    def _repr_html_(self) -> str:
        """Returns the report as a page for Jupyter, in a frame, because the page has its own styles."""
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

        The symbols have the prefix `name` of the options; without it, the name of the written file. The C includes
        headers of the folder `loopwright.include_dir()`; with standalone=True it includes none.

        >>> import loopwright, tempfile
        >>> m = loopwright.compile(b"input x: f32[2]\\ny = relu(x)\\noutput y\\n")
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     [path.name for path in m.write(folder + "/relu.c")]
        ['relu.c', 'relu.h']
        """
        path = Path(path)
        options = {"name": path.stem, **self._options}
        call("lw_compile", self._file, path, options=options)
        endings = [".c", ".h"] + [".hpp"] * bool(options.get("cpp"))
        written = [path.with_suffix(e) for e in endings]
        return written + [path.with_name(path.stem + "_main.c")] * bool(options.get("testbench"))

    def package(self, kind: Package, folder: Union[str, "os.PathLike[str]"], **options: Unpack[Options]) -> Path:
        """Writes the model as a library for a build system or platform, as the command `package` does.

        kind     make, cmake, arduino, platformio, zephyr, esp-idf or cmsis-pack
        options  as of `compile`; also package_version, author, url and licence

        >>> import loopwright, tempfile
        >>> m = loopwright.compile(b"input x: f32[2]\\ny = relu(x)\\noutput y\\n")
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     (m.package("arduino", folder + "/relu") / "library.properties").exists()
        True
        """
        names = {"name": Path(folder).name.replace("-", "_"), **self._options, **options}
        call("lw_package", self._file, kind, folder, options=names)
        return Path(folder)

    def evidence(self, folder: Union[str, "os.PathLike[str]"], **options: Unpack[Options]) -> Path:
        """Writes the evidence of the model for a reviewer into a folder, as the command `evidence` does."""
        names = {"name": Path(folder).name.replace("-", "_"), **self._options, **options}
        call("lw_evidence", self._file, folder, options=names)
        return Path(folder)

    def verify(self) -> str:
        """Builds the emitted C, runs it on generated inputs, and compares with the interpreter. Returns the verdict."""
        options = {k: v for k, v in self._options.items() if k not in ("ports_in_arena", "ports_memory")}
        text: str = call("lw_verify", self._file, [], [], options={**options, "cc": self._cc})[0]
        return in_words_of_python(text)

    # ---- Runs --------------------------------------------------------------------------------------------------------

    def reset(self) -> None:
        """Gives the state its initial value (a model with the option `state`).

        >>> import loopwright
        >>> text = b"input x: f32[1]\\ninput old: f32[1]\\nsum = add(x, old)\\ny = relu(sum)\\noutput y\\noutput sum\\n"
        >>> m = loopwright.compile(text, state={"old": "sum"})
        >>> m.run([2.0]), m.run([2.0])
        (array([2.], dtype=float32), array([4.], dtype=float32))
        >>> m.reset()
        >>> m.run([2.0])
        array([2.], dtype=float32)
        """
        if self._program:
            self._program.reset()
        if self._with_layers:
            self._with_layers.reset()

    def run(self, *inputs: Any) -> Any:
        """Runs the emitted C on this machine.

        Each input is an array of the port's shape, or a batch of them, stacked along a first axis; a first dimension of
        1 in the port's shape serves as that axis, and one sample may lack it; a batch may have other unit dimensions.
        Real numbers at a quantized input are quantized as by the header's function (NaN is refused), and then quantized
        outputs are returned as real numbers (float32); integers pass unchanged if the port's type holds them, and
        outputs have the port's type. Returns an array, or a tuple if there are several outputs; a batch gives a batch,
        one sample the output's shape.

        An output whose sizes data decide has the actual shape; for a batch, it is a list with an array for each sample.

        With state, samples are run in order, and the state persists over calls until `reset`.

        >>> import loopwright
        >>> m = loopwright.compile(b"input x: f32[2]\\ny = relu(x)\\noutput y\\n")
        >>> m.run([[-1, 2], [3, -4]])
        array([[0., 2.],
               [3., 0.]], dtype=float32)
        """
        _check_count(inputs, self.inputs)
        if self._header.has_open_sizes:
            raise LoopwrightError("a run requires fixed sizes: compile(..., dim={NAME: SIZE})")
        stacked = [_stack(np.asarray(x), p) for x, p in zip(inputs, self.inputs)]
        counts = {len(x) for x, _ in stacked} or {1}
        if len(counts) != 1:
            raise LoopwrightError(f"the inputs have different numbers of samples: {sorted(counts)}")
        is_batch = any(b for _, b in stacked)
        is_real = any(p.scale and np.issubdtype(x.dtype, np.floating) for (x, _), p in zip(stacked, self.inputs))
        stored = [_stored(x, p, self._header.ties_to_even) for (x, _), p in zip(stacked, self.inputs)]
        if not self._program:
            self._program = Program(Path(self._folder.name), _HOST_NAME, self._header, self._cc)
        results = self._program.run(stored, counts.pop())
        if is_real:
            results = [_dequantized(y, p) if p.scale else y for y, p in zip(results, self.outputs)]
        results = [_unstack(y, p, is_batch) for y, p in zip(results, self.outputs)]
        return results[0] if len(results) == 1 else tuple(results)

    def layers(self, *inputs: Any) -> dict[str, Any]:
        """Runs the emitted C with the result of every layer as an output; inputs and arrays are as for `run`.

        Returns the outputs, then the layers' results, by name. A state is apart from that of `run`.

        >>> import loopwright
        >>> m = loopwright.compile(b"input x: f32[2]\\nh = softmax(x)\\ny = softmax(h)\\noutput y\\n")
        >>> list(m.layers([-1.0, 2.0]))
        ['y', 'h']
        """
        if not self._with_layers:
            own: dict[str, Any] = {**self._options, "layers": True}
            self._with_layers = _Layers(Path(self._file), cc=self._cc, **own)
        results = self._with_layers.run(*inputs)
        values = results if isinstance(results, tuple) else (results,)
        return {p.name: y for p, y in zip(self._with_layers.outputs, values)}

    def annotate(self, text: str) -> "Model":
        """Returns the model with annotations, a line each, as the option `annotate` reads them from a file.

        >>> import loopwright
        >>> m = loopwright.compile(b"input x: f32[2]\\nh = exp(x)\\ny = relu(h)\\noutput y\\n")
        >>> "h" in m.layers([1.0, 2.0]), "h" in m.annotate("stop_fusion h").layers([1.0, 2.0])
        (False, True)
        """
        folder = tempfile.TemporaryDirectory(prefix="loopwright-")
        path, before = Path(folder.name) / "annotations.txt", self._options.get("annotate")
        path.write_text((Path(before).read_text() + "\n" if before else "") + text + "\n")
        own: dict[str, Any] = {**self._options, "annotate": path}
        annotated = Model(Path(self._file), cc=self._cc, **own)
        annotated._kept = (self, folder)
        return annotated

    def evaluate(self, X: Any, y: Any, *, progress: bool = True) -> Evaluation:
        """Runs a test set and compares the first output.

        X  stacked samples, real (finite) or stored as for `run`, whose unit dimensions may differ from the port's; a
           tuple for several inputs; or the path of a .npy file, or of a .npz with an array for each input's name
        y  integers [samples]: labels, compared with the index of the highest score, or with the output itself if that
           is one integer; or expected outputs, stacked: real numbers; or the path of a .npy file of either. If data
           decide the sizes of the output: a list with the expected array of each sample

        With tqdm installed, shows the progress.

        >>> import loopwright
        >>> m = loopwright.compile(b"input x: f32[3]\\ny = relu(x)\\noutput y\\n")
        >>> print(m.evaluate([[1.0, 2.0, 3.0], [6.0, 5.0, 4.0]], [2, 1]))
        2 samples: accuracy 50.00%, among the five highest 100.00%
        """
        inputs = _arrays(X, self.inputs)
        for x, p in zip(inputs, self.inputs):
            _stack(_as_batch(x, p), p)          # names the whole shape, not that of a part
        has_sizes, count = bool(self.outputs[0].sizes), len(inputs[0])
        expected: Any = y if has_sizes and isinstance(y, (list, tuple)) else np.asarray(_loaded(y))
        if not count:
            raise LoopwrightError("no samples are given")
        if len(expected) != count:
            raise LoopwrightError(f"{count} samples and {len(expected)} labels or outputs are given")
        self.reset()
        parts: list[Any] = []
        for at in _progress(range(0, count, _BATCH), progress):
            for x, p in zip(inputs, self.inputs):
                _refuse_infinite(x[at:at + _BATCH], p, at)
            out = self.run(*[_as_batch(x[at:at + _BATCH], p) for x, p in zip(inputs, self.inputs)])
            parts.append(out[0] if isinstance(out, tuple) else out)
        if has_sizes:
            return _compared_in_shape([y for part in parts for y in part], expected, self.outputs[0])
        got = np.concatenate(parts).reshape(count, -1)
        return _compared(got, expected, self.outputs[0])


class _Layers(Model):
    _left_out = tuple(name for name in Model._left_out if name != "layers")


# ---- Arrays ----------------------------------------------------------------------------------------------------------

def _loaded(x: Any) -> Any:
    """Reads an array from a .npy file if x is its path."""
    if not isinstance(x, (str, os.PathLike)):
        return x
    try:
        return np.load(x, mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError) as e:
        raise LoopwrightError(f"{os.fspath(x)}: {e}") from None


def _check_count(arrays: Sequence[Any], ports: Sequence[Port]) -> None:
    if len(arrays) != len(ports):
        raise LoopwrightError(f"{len(arrays)} inputs are given; the model has {len(ports)}: "
                              + ", ".join(p.name for p in ports))


def _arrays(X: Any, ports: Sequence[Port]) -> list[np.ndarray]:
    """Returns the array of each input, all of which have a first axis."""
    whole = X if isinstance(X, tuple) else (_loaded(X),)
    if hasattr(whole[0], "files"):          # .npz
        missing = [p.name for p in ports if p.name not in whole[0].files]
        if missing:
            raise LoopwrightError(f"{X} has no array {missing[0]!r}; its arrays are {', '.join(whole[0].files)}")
        whole = tuple(whole[0][p.name] for p in ports)
    arrays = [np.asarray(_loaded(x)) for x in whole]
    _check_count(arrays, ports)
    for x, p in zip(arrays, ports):
        if not x.ndim:
            raise LoopwrightError(f"{p.name} is one value; samples are stacked along a first axis")
    return arrays


def _array_file(x: Any, path: Path) -> Path:
    if isinstance(x, (str, os.PathLike)):
        return Path(x)
    np.save(path, np.asarray(x))
    return path


def _sample_files(samples: Any, folder: Path) -> list[Path]:
    files = []
    for i, x in enumerate(samples if isinstance(samples, tuple) else (samples,)):
        if not isinstance(x, (str, os.PathLike)):
            x = np.asarray(x)
            x = x.astype(np.float32) if np.issubdtype(x.dtype, np.number) else x
        files.append(_array_file(x, folder / f"samples{i}.npy"))
    return files


def _value_files(values: Mapping[str, Any], folder: Path) -> dict[str, Path]:
    files = {}
    for i, (name, array) in enumerate(values.items()):
        files[name] = folder / f"value{i}.npy"
        np.save(files[name], np.asarray(array))
    return files


def _without_units(shape: Sequence[int]) -> list[int]:
    return [d for d in shape if d != 1]


def _as_batch(x: np.ndarray, p: Port) -> np.ndarray:
    """Returns samples in the port's shape if only unit dimensions differ: [n][1][49][20] for [1][49][20][1]."""
    return x.reshape(len(x), *p.shape) if x.ndim and _without_units(x.shape[1:]) == _without_units(p.shape) else x


def _stack(x: np.ndarray, p: Port) -> tuple[np.ndarray, bool]:
    """Returns the samples, [count][shape of the port], and whether they are a batch."""
    if x.shape == p.shape:
        return x[None], False
    if x.shape[1:] == p.shape and x.ndim:
        return x, True
    if p.shape[:1] == (1,) and x.shape[1:] == p.shape[1:]:
        return x[:, None], True
    if p.shape[:1] == (1,) and x.shape == p.shape[1:]:
        return x.reshape(1, *p.shape), False
    if x.ndim and _as_batch(x, p).shape[1:] == p.shape:
        return _as_batch(x, p), True
    batch = "[n]" + "".join(f"[{d}]" for d in (p.shape[1:] if p.shape[:1] == (1,) else p.shape))
    raise LoopwrightError(f"{p.name} has shape {list(x.shape)}; use {list(p.shape)}"
                          + (f" or {list(p.shape[1:])}" if p.shape[:1] == (1,) else "") + f", or {batch} for n samples")


def _stored(x: np.ndarray, p: Port, ties_to_even: bool) -> np.ndarray:
    """Returns x in the port's type. A value that the type does not hold is an error."""
    is_real, takes_reals = np.issubdtype(x.dtype, np.floating), np.issubdtype(p.dtype, np.floating)
    if not is_real and x.dtype != np.bool_ and not np.issubdtype(x.dtype, np.integer):
        raise LoopwrightError(f"{p.name} has type {x.dtype}; use {p.dtype}")
    if is_real and p.scale:
        _refuse(x, np.isnan(x), p, "a number")
        return np.ascontiguousarray(p.quantize(x, ties_to_even))
    if is_real and not takes_reals:
        raise LoopwrightError(f"{p.name} has type {x.dtype}; use integers, {p.dtype}")
    if takes_reals:
        most = float(np.finfo(p.dtype).max)
        is_beyond = np.abs(x) > most if is_real and x.dtype.itemsize > p.dtype.itemsize else np.zeros(x.shape, bool)
        _refuse(x, is_beyond & ~np.isinf(x) if is_real else is_beyond, p, f"{p.dtype}, {-most:g} to {most:g}")
    elif x.dtype != np.bool_ and x.dtype != p.dtype:
        limits = np.iinfo(p.dtype)
        is_beyond = np.array([int(v) < limits.min or int(v) > limits.max for v in (x.min(), x.max())]) if x.size else ()
        if np.any(is_beyond):
            _refuse(x, _beyond(x, limits), p, f"{p.dtype}, {limits.min} to {limits.max}")
    return np.ascontiguousarray(x, p.dtype)


def _beyond(x: np.ndarray, limits: Any) -> np.ndarray:
    """Compares each limit in the type of x, which is exact even for int64 and uint64, which have no common type."""
    own = np.iinfo(x.dtype)
    is_beyond = np.zeros(x.shape, bool)
    if limits.min > own.min:
        is_beyond |= x < limits.min
    if limits.max < own.max:
        is_beyond |= x > limits.max
    return is_beyond


def _refuse(x: np.ndarray, is_wrong: np.ndarray, p: Port, accepted: str) -> None:
    """Refuses wrong elements of x, [count][shape of the port], and names the first of them."""
    if not is_wrong.any():
        return
    at = int(np.argmax(is_wrong))
    each = max(x[0].size, 1)
    raise LoopwrightError(f"{p.name} has {x.flat[at]} at element {at % each}"
                          + (f" of sample {at // each}" if len(x) > 1 else "") + f"; use {accepted}")


def _refuse_infinite(x: np.ndarray, p: Port, first: int) -> None:
    """Refuses samples of a test set that are not finite, as the command line does."""
    if not np.issubdtype(x.dtype, np.floating):
        return
    is_wrong = ~np.isfinite(x)
    if is_wrong.any():
        at = int(np.argmax(is_wrong))
        each = x[0].size
        what = "NaN" if np.isnan(x.flat[at]) else "an infinity"
        raise LoopwrightError(f"{p.name}: sample {first + at // each} has {what} at element {at % each}; "
                              "use finite numbers")


def _dequantized(y: Any, p: Port) -> Any:
    return [p.dequantize(each) for each in y] if isinstance(y, list) else p.dequantize(y)


def _unstack(y: Any, p: Port, is_batch: bool) -> Any:
    if not is_batch:
        return np.asarray(y[0])
    if isinstance(y, list):
        return y
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


def _are_whole(y: np.ndarray) -> bool:
    return np.issubdtype(y.dtype, np.floating) and bool((np.isfinite(y) & (y == np.floor(y))).all())


def _compare(found: np.ndarray, labels: np.ndarray) -> Evaluation:
    """Scores an output that is the label itself, so that the 5 highest scores are unknown."""
    if min(labels.min(initial=0), found.min(initial=0)) < 0:
        return Evaluation(len(found), float((found == labels).mean()))
    classes = 1 + int(max(labels.max(initial=0), found.max(initial=0)))
    confusion = np.zeros((classes, classes), np.int64)
    np.add.at(confusion, (labels, found), 1)
    return Evaluation(len(found), float((found == labels).mean()), confusion=confusion)


def _is_one_hot(y: np.ndarray, shape: tuple[int, ...]) -> bool:
    rows = y.reshape(len(y), -1)
    return (rows.shape == shape and shape[1] > 1 and bool(((rows == 0) | (rows == 1)).all())
            and bool((rows.sum(axis=1) == 1).all()))


def _compared(got: np.ndarray, expected: np.ndarray, output: Port) -> Evaluation:
    """Compares got, [samples][elements], with labels or with expected outputs."""
    count, classes = got.shape
    is_label_output = classes == 1 and np.issubdtype(output.dtype, np.integer) and not output.scale
    wanted = "integers" if is_label_output else f"integers from 0 to {classes - 1}" if classes > 1 else "real numbers"
    if expected.dtype == np.bool_:
        expected = expected.astype(np.int64)
    if expected.size == count and (classes > 1 or is_label_output) and _are_whole(expected):
        expected = expected.astype(np.int64)
    if not np.issubdtype(expected.dtype, np.integer) and not np.issubdtype(expected.dtype, np.floating):
        raise LoopwrightError(f"labels have type {expected.dtype}; use {wanted}, one for each sample")
    if np.issubdtype(expected.dtype, np.integer) and expected.size == count:
        if is_label_output:
            return _compare(got.ravel(), expected.ravel())
        return _score(got, expected.ravel()) if classes > 1 else _error(got, expected)
    if expected.size == count and (classes > 1 or is_label_output):
        raise LoopwrightError(f"labels have type {expected.dtype}; use {wanted}, one for each sample"
                              + ("" if is_label_output else f"; or expected outputs [{count}][{classes}]"))
    if _is_one_hot(expected, got.shape) and not np.array_equal(got, expected.reshape(got.shape)):
        raise LoopwrightError(f"labels are one-hot, {list(expected.shape)}; use {wanted}, one for each sample: "
                              "y.argmax(axis=1)")
    return _error(got, expected)


def _compared_in_shape(got: Sequence[np.ndarray], expected: Sequence[Any], output: Port) -> Evaluation:
    """Compares the shapes of the samples, and then their elements."""
    wanted = [np.asarray(y) for y in expected]
    for k, (y, want) in enumerate(zip(got, wanted)):
        if y.shape != want.shape:
            raise LoopwrightError(f"{output.name} of sample {k} is {list(y.shape)}, but {list(want.shape)} is expected")
    one = [np.concatenate([y.ravel() for y in some]).reshape(1, -1) for some in (got, wanted)]
    return replace(_error(one[0], one[1]), samples=len(got))


def _score(scores: np.ndarray, labels: np.ndarray) -> Evaluation:
    count, classes = scores.shape
    if labels.min(initial=0) < 0 or labels.max(initial=0) >= classes:
        raise LoopwrightError(f"labels are {labels.min()} to {labels.max()}; use 0 to {classes - 1}")
    order = np.argsort(-scores.astype(np.float64), axis=1, kind="stable")
    confusion = np.zeros((classes, classes), np.int64)
    np.add.at(confusion, (labels, order[:, 0]), 1)
    return Evaluation(count, float((order[:, 0] == labels).mean()),
                      float((order[:, :5] == labels[:, None]).any(axis=1).mean()), confusion)


def _error(got: np.ndarray, expected: np.ndarray) -> Evaluation:
    want = expected.reshape(len(got), -1).astype(np.float64)
    if not np.isfinite(want).all():
        raise LoopwrightError("an expected output is NaN or infinite; use finite numbers")
    if want.shape != got.shape:
        raise LoopwrightError(f"an expected output has {want.shape[1]} elements, the model's has {got.shape[1]}")
    noise = got.astype(np.float64) - want
    power = float((noise ** 2).sum())
    sqnr = float("inf") if power == 0 else 10 * float(np.log10((want ** 2).sum() / power))
    return Evaluation(len(got), largest_error=float(np.abs(noise).max(initial=0)), sqnr=sqnr)


__all__ = ["Evaluation", "LoopwrightError", "Model", "compile", "quantize"]
