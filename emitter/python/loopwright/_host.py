# SPDX-License-Identifier: MIT
"""Emitted C on this machine: its ports, read from the header's macros, and a shared object built with $CC."""
from __future__ import annotations

import ctypes
import os
import re
import shlex
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Sequence

import numpy as np

from ._abi import LoopwrightError

_DTYPES = {"float": np.float32, "double": np.float64, "int8_t": np.int8, "uint8_t": np.uint8, "int16_t": np.int16,
           "uint16_t": np.uint16, "int32_t": np.int32, "uint32_t": np.uint32, "int64_t": np.int64,
           "uint64_t": np.uint64}


@dataclass(frozen=True)
class Port:
    """An input or output.

    `shape` is in elements; open sizes are at their maximum. real = scale * (stored - zero_point) if `scale` is given.
    `sizes` has, for each dimension whose size data decide, the name of the size; it is empty if there are none.
    """

    name: str
    dtype: np.dtype
    shape: tuple[int, ...]
    scale: float | None = None
    zero_point: int = 0
    sizes: tuple[str, ...] = ()

    def quantize(self, real: np.ndarray, ties_to_even: bool) -> np.ndarray:
        """Returns stored values as the header's function NAME_quantize_X does: rounded to nearest and saturated; NaN
        becomes the zero point."""
        steps = np.asarray(real, np.float32) / np.float32(self.scale)
        whole = np.rint(steps) if ties_to_even else np.trunc(steps)
        rest = np.float32(0) if ties_to_even else steps - whole
        whole = whole + (rest >= 0.5) - (rest <= -0.5)
        limits = np.iinfo(self.dtype)
        stored = np.clip(np.nan_to_num(whole.astype(np.float64), nan=0.0) + self.zero_point, limits.min, limits.max)
        return np.asarray(stored, self.dtype)

    def dequantize(self, stored: np.ndarray) -> np.ndarray:
        """Returns real numbers (float32) of stored values."""
        return (np.float32(self.scale) * (stored.astype(np.int32) - self.zero_point)).astype(np.float32)


@dataclass(frozen=True)
class Header:
    """The facts of an emitted header."""

    inputs: list[Port]
    outputs: list[Port]
    arena_bytes: int
    weight_bytes: int
    target: str = ""
    class_names: list[str] = field(default_factory=list)
    has_state: bool = False
    has_open_sizes: bool = False
    decided_sizes: tuple[str, ...] = ()
    ties_to_even: bool = False


def _number(text: str, macro: str, otherwise: str = "0") -> str:
    found = re.search(rf"#define {macro} +\(?(-?[\w.+-]+?)[uf]?\)?(?:\s|$)", text)
    return found.group(1) if found else otherwise


def _ports(text: str, prefix: str, kind: str, key: list[str]) -> list[Port]:
    """Returns the ports of NAME_INPUTS or NAME_OUTPUTS. Their macros have this order; `key` has the other keys."""
    declared = re.search(rf"#define {prefix}_{kind}\(\w+\)((?:.*\\\n)*.*)", text)
    ports = []
    for name, c_type, _ in re.findall(r"\w+\((\w+), (\w+), (\d+)\)", declared.group(1) if declared else ""):
        macro = f"{prefix}_{key.pop(0)}"
        dims = re.search(rf"#define {macro}_DIMS +\{{(.*)\}}", text)
        shape = tuple(int(d) for d in dims.group(1).split(",")) if dims else ()
        scale = _number(text, macro + "_SCALE", "")
        if c_type not in _DTYPES:
            raise LoopwrightError([f"{name}: error: numpy has no type for {c_type}"])
        is_half = re.search(rf"^ \*   {name} +uint16_t .*\(f16\)", text, flags=re.M)
        ports.append(Port(name, np.dtype(np.float16 if is_half else _DTYPES[c_type]), shape,
                          float(scale) if scale else None, int(_number(text, macro + "_ZERO_POINT")),
                          _sizes_of(text, macro)))
    return ports


def _sizes_of(text: str, macro: str) -> tuple[str, ...]:
    """Returns the names in NAME_Y_SHAPE, "" for a fixed dimension: { *(out)->k, 4 }."""
    shape = re.search(rf"#define {macro}_SHAPE\(out\) +\{{(.*)\}}", text)
    names = [re.search(r"->(\w+)", d) for d in shape.group(1).split(",")] if shape else []
    return tuple(n.group(1) if n else "" for n in names)


def _decided(text: str, prefix: str) -> tuple[str, ...]:
    """Returns the sizes of outputs that data decide, which are rows of NAME_SIZES."""
    declared = re.search(rf"#define {prefix}_SIZES\(\w+\)((?:.*\\\n)*.*)", text)
    return tuple(re.findall(r"\w+\((\w+), \d+, \d+\)", declared.group(1))) if declared else ()


def _has_open_sizes(text: str, name: str) -> bool:
    """Returns true if struct NAME_inputs has fields for sizes, which are integers; its ports are pointers."""
    inputs = re.search(rf"^struct {name}_inputs \{{(.*?)^\}};", text, flags=re.M | re.S)
    return bool(inputs and re.search(r"^    int32_t \w+;", inputs.group(1), flags=re.M))


def read_header(path: Path, name: str) -> Header:
    """Reads the macros that docs/emitted-interface.md lists."""
    text, prefix = path.read_text(), name.upper()
    key = re.findall(rf"^#define {prefix}_(\w+)_TYPE ", text, flags=re.M)
    names = re.search(rf"#define {prefix}_CLASS_NAMES \\\n *\{{(.*?)\}}\n", text, flags=re.S)
    target = re.search(rf'#define {prefix}_TARGET "(.*)"', text)
    return Header(
        inputs=_ports(text, prefix, "INPUTS", key), outputs=_ports(text, prefix, "OUTPUTS", key),
        arena_bytes=int(_number(text, prefix + "_ARENA_SIZE")),
        weight_bytes=int(_number(text, prefix + "_WEIGHTS_SIZE")),
        target=target.group(1) if target else "",
        class_names=[re.sub(r"\\(.)", r"\1", s) for s in re.findall(r'"((?:[^"\\]|\\.)*)"', names.group(1))]
        if names else [],
        decided_sizes=_decided(text, prefix),
        has_state=f"struct {name}_state " in text, has_open_sizes=_has_open_sizes(text, name),
        ties_to_even="ties to even" in text)


# Runs the model on `count` samples, stacked in each array. The state persists over the samples. Sizes that data decide
# are stored in the order of NAME_SIZES, for each sample.
_SHIM = """
#include <stddef.h>
#include <stdint.h>
#include "{name}.h"

size_t shim_state_bytes(void) {{ return {state_bytes}; }}
void shim_reset(void *state) {{ {reset}; }}

int shim_run(void *arena, void *state, int64_t count, const void *const *from, void *const *to, int32_t *sizes)
{{
    int64_t k;
    int status = 0;
    (void)state, (void)from, (void)to, (void)sizes;
    for (k = 0; k < count && status == 0; k++) {{
        struct {name}_inputs in;
        struct {name}_outputs out;
{fields}
        status = {name}_run(arena, {state}&in, &out);
    }}
    return status;
}}
"""


def _shim(name: str, h: Header) -> str:
    macro = [(re.sub(r"\W", "", p.name), int(np.prod(p.shape, dtype=np.int64)), p) for p in h.inputs + h.outputs]
    lines = []
    for i, (field_name, elems, port) in enumerate(macro):
        c_type = "uint16_t" if port.dtype == np.float16 else next(c for c, d in _DTYPES.items() if d == port.dtype)
        is_input = i < len(h.inputs)
        number = i if is_input else i - len(h.inputs)
        lines.append(f"        {'in' if is_input else 'out'}.{field_name} = ({'const ' if is_input else ''}{c_type} *)"
                     f"{'from' if is_input else 'to'}[{number}] + k * {elems};")
    for i, size in enumerate(h.decided_sizes):
        lines.append(f"        out.{size} = sizes + k * {len(h.decided_sizes)} + {i};")
    state = f"struct {name}_state"
    return _SHIM.format(name=name, fields="\n".join(lines), state=f"({state} *)state, " if h.has_state else "",
                        state_bytes=f"sizeof({state})" if h.has_state else "0",
                        reset=f"{name}_reset(({state} *)state)" if h.has_state else "(void)state")


class Program:
    """Emitted C as a shared object: `folder` holds NAME.c and NAME.h."""

    def __init__(self, folder: Path, name: str, header: Header, cc: str | None) -> None:
        compiler = shlex.split(cc or os.environ.get("CC") or "cc")
        (folder / "shim.c").write_text(_shim(name, header))
        command = [*compiler, "-std=c99", "-O2", "-ffp-contract=off", "-fPIC", "-shared", "-o", "program.so",
                   "shim.c", f"{name}.c", "-lm"]
        try:
            done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        except OSError as e:
            raise LoopwrightError([f"error: cannot run {command[0]!r}: {e.strerror}; the emitted C is built with $CC, "
                                   "or with the argument cc"]) from None
        if done.returncode:
            raise LoopwrightError([f"error: {shlex.join(command)} failed:\n{done.stderr}"])
        self._lib = ctypes.CDLL(str(folder / "program.so"))
        self._lib.shim_state_bytes.restype = ctypes.c_size_t
        self._lib.shim_reset.argtypes = [ctypes.c_void_p]
        self._lib.shim_run.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64, ctypes.c_void_p,
                                       ctypes.c_void_p, ctypes.c_void_p]
        self._header = header
        self._arena = np.zeros(header.arena_bytes + 64, np.uint8)
        self._state = np.zeros(self._lib.shim_state_bytes() + 64, np.uint8)
        self.reset()

    def reset(self) -> None:
        """Gives the state its initial value."""
        self._lib.shim_reset(self._aligned(self._state))

    @staticmethod
    def _aligned(memory: np.ndarray) -> int:
        return (memory.ctypes.data + 63) // 64 * 64

    def run(self, inputs: Sequence[np.ndarray], count: int) -> list[Any]:
        """Runs `count` samples: contiguous arrays [count][...] of the ports' types.

        Returns an array for each output, or a list with an array for each sample where data decide its sizes.
        """
        h = self._header
        outputs = [np.empty((count, *p.shape), p.dtype) for p in h.outputs]
        sizes = np.zeros((count, len(h.decided_sizes)), np.int32)
        status = self._lib.shim_run(self._aligned(self._arena), self._aligned(self._state), count,
                                    _addresses(inputs), _addresses(outputs), sizes.ctypes.data)
        if status:
            raise LoopwrightError([f"error: the emitted function returned {status}" + _MEANING.get(status, "")])
        names = {name: sizes[:, i] for i, name in enumerate(h.decided_sizes)}
        return [_actual(y, p, names) if p.sizes else y for y, p in zip(outputs, h.outputs)]


_MEANING = {-8: ": data decided a size above its maximum, or one that a layer cannot take"}


def _actual(stacked: np.ndarray, p: Port, sizes: dict[str, np.ndarray]) -> list[np.ndarray]:
    """Returns the samples of an output in their actual shapes, with dense elements."""
    shapes = [[int(sizes[name][k]) if name else d for name, d in zip(p.sizes, p.shape)] for k in range(len(stacked))]
    return [y.ravel()[:int(np.prod(s, dtype=np.int64))].reshape(s).copy() for y, s in zip(stacked, shapes)]


def _addresses(arrays: Sequence[np.ndarray]) -> Any:
    return (ctypes.c_void_p * max(len(arrays), 1))(*(a.ctypes.data for a in arrays))
