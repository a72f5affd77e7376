# SPDX-License-Identifier: MIT
"""Schedules of `.te` texts, step by step. The compiler has the steps and checks them; `loopwright steps` lists them."""
from __future__ import annotations

import re
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Callable

from ._abi import call, in_words_of_python

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._options import Options
    from .model import Model

_STEP = re.compile(r"^([a-z]\w*)(?: .*)?(?:\n    .*)*", re.MULTILINE)


def _word(value: Any) -> str:
    return ",".join(str(v) for v in value) if isinstance(value, (list, tuple)) else str(value)


class Schedule:
    """The schedule of one group of a `.te` text; `loopwright.te` creates it.

    Each step of `loopwright steps` is a method: its operands are arguments, its options keyword arguments, and an
    option without a value is True. A step that the compiler refuses raises LoopwrightError and changes nothing.

    text    the statements
    steps   the steps that were applied, as text

    >>> import loopwright
    >>> s = loopwright.te("input a: f32[8][16]\\nc[i, j] = a[i, j] * 2\\noutput c")
    >>> s.split("c.j", 4, names=("outer", "inner")).vectorize("c.inner").steps
    ['split c.j 4 names=outer,inner', 'vectorize c.inner']
    >>> print(s.dump().split("steps")[0].split("loops")[1].rstrip())
    <BLANKLINE>
      for c.i < 8
        for c.outer < 4
          for c.inner < 4 vector
            block c[i=i, j=outer*4+inner]
    >>> s.vectorize("c.k")
    Traceback (most recent call last):
    ...
    loopwright._abi.LoopwrightError: ...there is no loop c.k...
    >>> len(s.steps)
    2
    """

    def __init__(self, text: str, target: str = "generic", group: str | None = None,
                 **options: Unpack[Options]) -> None:
        self.text = text.rstrip("\n") + "\n"
        self.target = target
        self.group = group
        self.steps: list[str] = []
        self._options: dict[str, Any] = {**options, "target": target}
        self.dump("dag")

    def source(self) -> str:
        """Returns the text with its schedule, a `.te` file."""
        head = f"schedule {self.group}" if self.group else "schedule"
        return self.text + "\n".join([head, *(f"  {s}" for s in self.steps)]) + "\n"

    def _call(self, name: str, *arguments: Any, **options: Any) -> str:
        with tempfile.TemporaryDirectory(prefix="loopwright-") as folder:
            path = Path(folder) / "schedule.te"
            path.write_text(self.source())
            result: str = call(name, path, *arguments, options={**self._options, **options})[0]
            return result

    def step(self, text: str) -> "Schedule":
        """Applies one step, written as in a file."""
        self.steps.append(text)
        try:
            self.dump("scheduled")
        except Exception:
            self.steps.pop()
            raise
        return self

    def dump(self, at: str | None = None) -> str:
        """Returns the nest after the steps; with `at`, what `loopwright dump --at` prints."""
        return self._call("lw_dump", at=at or f"step:{len(self.steps)}")

    def verify(self, cc: str | None = None) -> str:
        """Builds the emitted C, runs it on generated inputs, and compares with the interpreter. Returns the verdict."""
        return in_words_of_python(self._call("lw_verify", [], [], cc=cc))

    def compile(self, **options: Any) -> "Model":
        """Compiles the text with its schedule."""
        from .model import compile as compile_model
        return compile_model(self.source().encode(), format="te", **{**self._options, **options})


def _method(name: str, usage: str) -> Callable[..., Schedule]:
    def method(self: Schedule, *operands: Any, **options: Any) -> Schedule:
        flags = [key if value is True else f"{key}={_word(value)}" for key, value in options.items()
                 if value is not False and value is not None]
        return self.step(" ".join([name, *map(_word, operands), *flags]))
    method.__name__ = name
    method.__doc__ = usage
    return method


for _m in _STEP.finditer(call("lw_list_steps")[0].split("A stage is named by")[0]):
    setattr(Schedule, _m.group(1), _method(_m.group(1), _m.group(0)))


def te(text: str, target: str = "generic", group: str | None = None, **options: Unpack[Options]) -> Schedule:
    """Returns a schedule without steps for a `.te` text.

    group    a tensor that the scheduled group computes; None: the text has one group, or says `nest`

    >>> "parts" in te.__globals__["Schedule"].split.__doc__
    True
    """
    return Schedule(text, target, group, **options)
