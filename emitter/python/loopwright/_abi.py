# SPDX-License-Identifier: MIT
"""The shared library, called through ctypes.

The structures are read from loopwright.h when the package is imported, so their fields have one definition. The header
and the library come from one folder: the package's own (a wheel), or `emitter/` and `build/` of a checkout.
"""
from __future__ import annotations

import contextlib
import ctypes
import difflib
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, Iterable, Iterator, Mapping, Sequence

from ._options import ALIASES

if TYPE_CHECKING:
    from ._options import Board, Target

_HERE = Path(__file__).resolve().parent
_NAME = "libloopwright.so"
_COMMAND = re.compile(r"`[^`]*`")
_SCALARS = {"bool": ctypes.c_bool, "int": ctypes.c_int, "int64_t": ctypes.c_int64, "double": ctypes.c_double}


class LoopwrightError(ValueError):
    """A model, an option, an array or a label is refused.

    `diagnostics` has the messages, errors first; the compiler's have the form `FILE: WHERE: error: WHAT`, and warnings
    are among them.
    """

    def __init__(self, diagnostics: str | Sequence[str]) -> None:
        self.diagnostics = [diagnostics] if isinstance(diagnostics, str) else list(diagnostics)
        super().__init__("\n".join(self.diagnostics))


class ArgumentError(LoopwrightError, TypeError):
    """An argument that is wrong for every model: an unknown option, or a value of another type."""


# ---- Structures ------------------------------------------------------------------------------------------------------

def _declarators(text: str) -> Iterator[tuple[str, str]]:
    """Yields (type, name) of each field; `const char *const *` is `char**`, a pointer to a function `function`."""
    for statement in text.split(";"):
        statement = " ".join(statement.split())
        function = re.search(r"\(\*(\w+)\)", statement)
        if function:
            yield "function", function.group(1)
            continue
        words = re.fullmatch(r"(?:const )?(\w+) ?(.*)", statement)
        if not words:
            continue
        for declarator in words.group(2).split(","):
            stars = declarator.count("*")
            yield words.group(1) + "*" * stars, declarator.replace("const", "").replace("*", "").strip()


def _field_type(word: str, known: Mapping[str, type]) -> Any:
    if word == "char*":
        return ctypes.c_char_p
    if word == "char**":
        return ctypes.POINTER(ctypes.c_char_p)
    if word.endswith("*") and word[:-1] in known:
        return ctypes.POINTER(known[word[:-1]])
    return _SCALARS.get(word, ctypes.c_void_p)


def _structures(header: str) -> dict[str, Any]:
    """Returns a ctypes.Structure for each structure of plain fields, by its name in C."""
    header = re.sub(r"/\*.*?\*/", "", header, flags=re.S)
    known: dict[str, Any] = {}
    for name, body in re.findall(r"typedef struct \w+ *\{([^{}]*)\} (\w+);", header):
        fields = [(field, _field_type(word, known)) for word, field in _declarators(name)]
        known[body] = type(body, (ctypes.Structure,), {"_fields_": fields})
    return known


def _folder() -> tuple[Path, Path]:
    """Returns the library and its header."""
    named = os.environ.get("LOOPWRIGHT_LIBRARY")
    root = _HERE.parents[2]
    built = Path(named) if named else root / "build" / _NAME
    if not named and (_HERE / _NAME).exists():
        return _HERE / _NAME, _HERE / "loopwright.h"
    if not built.exists():
        raise ImportError(f"{built} does not exist; `make shared` builds it, `make wheel` a package that contains it; "
                          "LOOPWRIGHT_LIBRARY names another file")
    header = root / "emitter" / "loopwright.h"
    return built, header if header.exists() else _HERE / "loopwright.h"


_library_path, _header_path = _folder()
_structs = _structures(_header_path.read_text())
_lib = ctypes.CDLL(str(_library_path))
Options = _structs["lw_options"]
Quantization = _structs["lw_quantization"]
_FIELDS = [name for name, _ in Options._fields_]
_TEXTS = {name for name, kind in Options._fields_ if kind is ctypes.c_char_p}
_LISTS = {name for name, kind in Options._fields_ if kind is ctypes.POINTER(ctypes.c_char_p)}

for _name, _result, _arguments in [
        ("lw_new", ctypes.c_void_p, []), ("lw_free", None, [ctypes.c_void_p]), ("lw_version", ctypes.c_char_p, []),
        ("lw_diagnostic", ctypes.c_char_p, [ctypes.c_void_p, ctypes.c_int, ctypes.POINTER(ctypes.c_bool)]),
        ("lw_compile", ctypes.c_bool, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p, ctypes.POINTER(Options)]),
        ("lw_report", ctypes.c_char_p, [ctypes.c_void_p, ctypes.c_char_p, ctypes.POINTER(Options)]),
        *((name, ctypes.c_char_p, [ctypes.c_void_p, ctypes.c_char_p, ctypes.POINTER(Options)])
          for name in ("lw_report_html", "lw_report_json", "lw_report_csv", "lw_dump")),
        ("lw_verify", ctypes.c_char_p,
         [ctypes.c_void_p, ctypes.c_char_p, ctypes.POINTER(ctypes.c_char_p), ctypes.c_int,
          ctypes.POINTER(ctypes.c_char_p), ctypes.c_int, ctypes.POINTER(Options)]),
        ("lw_quantize", ctypes.c_char_p,
         [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p, ctypes.POINTER(Quantization), ctypes.POINTER(Options)]),
        ("lw_quantize_dump", ctypes.c_char_p,
         [ctypes.c_void_p, ctypes.c_char_p, ctypes.POINTER(Quantization), ctypes.POINTER(Options)]),
        ("lw_package", ctypes.c_bool,
         [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_char_p, ctypes.POINTER(Options)]),
        ("lw_evidence", ctypes.c_bool,
         [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p, ctypes.POINTER(Options)]),
        *((name, ctypes.c_char_p, [ctypes.c_void_p]) for name in ("lw_list_targets", "lw_list_boards"))]:
    getattr(_lib, _name).restype = _result
    getattr(_lib, _name).argtypes = _arguments


# ---- Options ---------------------------------------------------------------------------------------------------------

def _pair(kind: Any, name: str, value: Any) -> Any:
    """Returns a row of `dim`, `value`, `state` or `rename` from an entry of a dictionary."""
    if kind is _structs["lw_dim"]:
        least, most = value if isinstance(value, tuple) else (0, value)
        return kind(name.encode(), most, isinstance(value, tuple), least or 0)
    return kind(name.encode(), os.fspath(value).encode())


_TABLES = {"dim": "lw_dim", "value": "lw_value", "state": "lw_state", "rename": "lw_rename",
           "layout": "lw_adapt", "preprocess": "lw_adapt", "postprocess": "lw_adapt"}


def _set_field(o: Any, name: str, value: Any, kept: list[Any]) -> None:
    if name in _TABLES:
        kind = _structs[_TABLES[name]]
        rows = (kind * len(value))(*(_pair(kind, n, v) for n, v in value.items()))
        kept.append(rows)
        setattr(o, name, rows)
        setattr(o, name + "_count", len(value))
    elif name in _LISTS:
        if isinstance(value, (str, bytes)):
            raise TypeError("a list of texts is required")
        texts = (ctypes.c_char_p * len(value))(*(os.fspath(v).encode() for v in value))
        kept.append(texts)
        setattr(o, name, texts)
        setattr(o, name + "_count", len(value))
    elif name in _TEXTS:
        setattr(o, name, None if value is None else os.fspath(value).encode())
    else:
        kind = dict(Options._fields_)[name]
        if kind is ctypes.c_bool and not isinstance(value, bool):
            raise TypeError("True or False is required")
        if kind in (ctypes.c_int, ctypes.c_int64) and (isinstance(value, bool) or not hasattr(value, "__index__")):
            raise TypeError("a whole number is required")
        setattr(o, name, value)


def check_names(words: Iterable[str], more: Iterable[str] = ()) -> None:
    """Refuses a name that is neither a field of lw_options nor one of `more`, arguments of the caller."""
    accepted = [*more, *ALIASES, *(f for f in _FIELDS if not f.startswith("progress") and not f.endswith("_count")
                         and f != "tolerance")]
    for name in words:
        if name not in accepted:
            near = difflib.get_close_matches(name, accepted, 1)
            raise ArgumentError(f"no option {name!r}; " + (f"did you mean {near[0]!r}?" if near else
                                                           f"use {', '.join(accepted)}"))


def options_of(words: Mapping[str, Any]) -> tuple[Any, list[Any]]:
    """Returns an lw_options and the objects that must outlive it."""
    o = Options()
    kept: list[Any] = []
    check_names(words)
    for name, value in words.items():
        try:
            _set_field(o, ALIASES.get(name, name), value, kept)
        except (TypeError, AttributeError, ctypes.ArgumentError) as e:
            raise ArgumentError(f"the option {name!r} does not accept {value!r}: {e}") from None
    return o, kept


def quantization_of(samples: Sequence[Path], words: Mapping[str, Any]) -> Any:
    """Returns an lw_quantization, which keeps its arrays and texts alive."""
    q = Quantization()
    q.samples = (ctypes.c_char_p * len(samples))(*(os.fspath(s).encode() for s in samples))
    q.sample_count = len(samples)
    for name, value in words.items():
        kind = dict(Quantization._fields_)[name]
        if value is not None:
            setattr(q, name, str(value).encode() if kind is ctypes.c_char_p else value)
    return q


# ---- Calls -----------------------------------------------------------------------------------------------------------

@contextlib.contextmanager
def _context() -> Iterator[Any]:
    cx = ctypes.c_void_p(_lib.lw_new())
    try:
        yield cx
    finally:
        _lib.lw_free(cx)


def in_words_of_python(text: str) -> str:
    """Returns a text of the compiler with options as keyword arguments.

    Commands in backticks, and options that only the command line has, are unchanged.

    >>> in_words_of_python("give --dim n=N or --static-arena")
    "give dim={'n': N} or static_arena"
    >>> in_words_of_python("use those of `loopwright ops --onnx`, or a C function, --extern FooBar")
    "use those of `loopwright ops --onnx`, or a C function, extern='FooBar'"
    """
    commands = _COMMAND.findall(text)
    parts = [_keywords(part) for part in _COMMAND.split(text)]
    return "".join(part + command for part, command in zip(parts, [*commands, ""]))


def _keywords(text: str) -> str:
    text = re.sub(r"--dim (\w+)=(\w+)", r"dim={'\1': \2}", text)
    text = re.sub(r"--(state|rename) ([^\s=]+)=(\w+)", r"\1={'\2': '\3'}", text)
    text = re.sub(r"(?<![\w-])--([a-z][a-z-]*) ([\w.=]+)(?=[,;)]|\.?$|\.?\n)", _keyword_with_value, text)
    return re.sub(r"(?<![\w-])--([a-z][a-z-]*[a-z])", _keyword, text)


def _accepts(name: str) -> bool:
    return name in ALIASES or name in _FIELDS or name in dict(Quantization._fields_)


def _keyword(m: re.Match[str]) -> str:
    name = m.group(1).replace("-", "_")
    return name if _accepts(name) else m.group(0)


def _keyword_with_value(m: re.Match[str]) -> str:
    name = m.group(1).replace("-", "_")
    is_text = ALIASES.get(name, name) in _TEXTS
    return f"{name}={m.group(2)!r}" if is_text else m.group(0)


def _diagnostics(cx: Any) -> tuple[list[str], bool]:
    """Returns the diagnostics, errors first, and whether there is one: a report beyond its limits is a text and an
    error."""
    errors: list[str] = []
    others: list[str] = []
    is_error = ctypes.c_bool(False)
    while True:
        message = _lib.lw_diagnostic(cx, len(errors) + len(others), ctypes.byref(is_error))
        if message is None:
            return errors + others, bool(errors)
        (errors if is_error.value else others).append(in_words_of_python(message.decode(errors="replace")))


def call(name: str, *arguments: Any, options: Mapping[str, Any] | None = None) -> tuple[Any, list[str]]:
    """Calls a function of loopwright.h in a context of its own.

    Texts are encoded and lists of texts become arrays with their count. Returns the result, a text decoded, and the
    diagnostics (warnings). Raises LoopwrightError if the function fails.
    """
    words: list[Any] = []
    for a in arguments:
        if isinstance(a, ctypes.Structure):
            words.append(ctypes.byref(a))
        elif isinstance(a, (list, tuple)):
            words += [(ctypes.c_char_p * max(len(a), 1))(*(os.fspath(x).encode() for x in a)), len(a)]
        else:
            words.append(os.fspath(a).encode())
    if options is not None:
        o, _kept = options_of(options)
        words.append(ctypes.byref(o))
    with _context() as cx:
        result = getattr(_lib, name)(cx, *words)
        said, has_error = _diagnostics(cx)
        if not result or has_error:
            raise LoopwrightError(said)
        return (result.decode() if isinstance(result, bytes) else result), said


def include_dir() -> str:
    """Returns the folder of the runtime's headers, for -I of the compiler that builds what `write` wrote. Files that
    are compiled with standalone=True require none.

    >>> import os
    >>> os.path.exists(os.path.join(include_dir(), "lw_base.h"))
    True
    """
    own = _HERE / "include"
    return str(own if own.exists() else _HERE.parents[2] / "runtime")


def version() -> str:
    """Returns the compiler's version."""
    return str(_lib.lw_version().decode())


def _first_words(table: str) -> list[Any]:
    return [row.split()[0] for row in table.split("\n\n")[0].splitlines()[1:]]


def targets() -> list[Target]:
    """Returns the names of the targets.

    >>> "cortex-m4" in targets()
    True
    """
    return _first_words(call("lw_list_targets")[0])


def boards() -> list[Board]:
    """Returns the names of the boards, which the option `board` accepts: a target, flash, RAM and a clock.

    >>> "pico" in boards()
    True
    """
    return _first_words(call("lw_list_boards")[0])
