# SPDX-License-Identifier: MIT
#
# Decision: the Python package reads the interfaces that it uses. `emitter/python/loopwright` is a client of
# `libloopwright.so` through ctypes. It reads the structures from `loopwright.h` at import and the ports from the
# macros of the emitted header, so no layout is written twice. It runs the emitted C, built with `$CC`, not the
# interpreter: a test set measures what is shipped.
"""Loopwright from Python: trained networks to C for microcontrollers, and the emitted C run on this machine.

>>> import loopwright, numpy
>>> m = loopwright.compile(b"input x: f32[1][3]\\ny = relu(x)\\noutput y\\n", target="cortex-m4")
>>> m
<loopwright.Model for cortex-m4: x: float32[1, 3] -> y: float32[1, 3]>
>>> m.run(numpy.array([[-1, 0, 2.5]]))
array([[0. , 0. , 2.5]], dtype=float32)
>>> m.run(numpy.ones((5, 3))).shape
(5, 3)
"""
from ._abi import ArgumentError, LoopwrightError, boards, include_dir, targets, version
from ._host import Port
from .model import Evaluation, Model, compile, quantize
from .schedule import Schedule, te

__version__ = version()
__all__ = ["ArgumentError", "Evaluation", "LoopwrightError", "Model", "Port", "Schedule", "boards", "compile",
           "include_dir", "quantize", "targets", "te", "version"]
