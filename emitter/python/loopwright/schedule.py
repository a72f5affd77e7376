# SPDX-License-Identifier: MIT
"""Schedules of `.te` texts, step by step. The compiler has the steps and checks them; `loopwright steps` lists them."""
from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Sequence

from ._abi import call, in_words_of_python
from ._steps import Steps

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._options import Options, Target
    from .model import Model

# Steps that the number of --at step:N leaves out.
DECLARATIONS = ("memory", "config", "instruction")


def _word(value: Any) -> str:
    return ",".join(str(v) for v in value) if isinstance(value, (list, tuple)) else str(value)


class Schedule(Steps):
    """The schedule of one group of a `.te` text; `loopwright.te` creates it.

    Each step of `loopwright steps` is a method: its operands are arguments, its options keyword arguments, and an
    option without a value is True. Names that are keywords of Python end in _: async_, as_. A step that the compiler
    refuses raises LoopwrightError and changes nothing.

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

    def __init__(self, text: str, target: Target | None = None, group: str | None = None,
                 **options: Unpack[Options]) -> None:
        self.text = text.rstrip("\n") + "\n"
        self.group = group
        self.steps: list[str] = []
        self._options: dict[str, Any] = {**options, "target": target}
        self.dump("dag")

    def source(self) -> str:
        """Returns the text with its schedule, a `.te` file.

        >>> import loopwright
        >>> s = loopwright.te("input x: f32[8]\\ny[i] = x[i] * 2\\noutput y")
        >>> print(s.vectorize("y.i").source(), end="")
        input x: f32[8]
        y[i] = x[i] * 2
        output y
        schedule
          vectorize y.i
        """
        head = f"schedule {self.group}" if self.group else "schedule"
        return self.text + "\n".join([head, *(f"  {s}" for s in self.steps)]) + "\n"

    def _call(self, name: str, *arguments: Any, **options: Any) -> str:
        with tempfile.TemporaryDirectory(prefix="loopwright-") as folder:
            path = Path(folder) / "schedule.te"
            path.write_text(self.source())
            result: str = call(name, path, *arguments, options={**self._options, **options})[0]
            return result

    def _apply(self, step: str, operands: Sequence[object], /, **options: object) -> Schedule:
        flags = [key.rstrip("_") if value is True else f"{key.rstrip('_')}={_word(value)}"
                 for key, value in options.items() if value is not False and value is not None]
        words = [_word(value) for value in operands if value is not None]
        return self.step(" ".join([step, *words, *flags]))

    def step(self, text: str) -> "Schedule":
        """Applies one step, written as in a file.

        >>> import loopwright
        >>> s = loopwright.te("input x: f32[8]\\ny[i] = x[i] * 2\\noutput y")
        >>> s.step("split y.i 4").step("unroll y.ii").steps
        ['split y.i 4', 'unroll y.ii']
        """
        self.steps.append(text)
        try:
            self.dump("scheduled")
        except Exception:
            self.steps.pop()
            raise
        return self

    def dump(self, at: str | None = None) -> str:
        """Returns the nest after the steps; with `at`, what `loopwright dump --at` prints."""
        number = sum(s.split()[0] not in DECLARATIONS for s in self.steps)
        return self._call("lw_dump", at=at or f"step:{number}")

    def verify(self, cc: str | None = None) -> str:
        """Builds the emitted C, runs it on generated inputs, and compares with the interpreter. Returns the verdict."""
        return in_words_of_python(self._call("lw_verify", [], [], cc=cc))

    def compile(self, **options: Unpack[Options]) -> "Model":
        """Compiles the text with its schedule."""
        from .model import compile as compile_model
        own: dict[str, Any] = {**self._options, **options}
        return compile_model(self.source().encode(), format="te", **own)


# Steps whose names are keywords of Python: getattr(s, "async")
setattr(Schedule, "async", Schedule.async_)


def te(text: str, target: Target | None = None, group: str | None = None, **options: Unpack[Options]) -> Schedule:
    """Returns a schedule without steps for a `.te` text.

    group    a tensor that the scheduled group computes; None: the text has one group, or says `nest`

    >>> import loopwright
    >>> loopwright.te("input x: f32[8]\\ny[i] = x[i] * 2\\noutput y").unroll("y.i", by=4).steps
    ['unroll y.i by=4']
    """
    return Schedule(text, target, group, **options)
