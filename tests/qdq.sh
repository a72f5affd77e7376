#!/bin/sh
# SPDX-License-Identifier: MIT
# qdq.sh BUILD: the ONNX files that `quantize` writes, in onnx's checker and in ONNX Runtime: see tests/qdq.py.
set -u
. "$(dirname "$0")/report.sh"
. "$(dirname "$0")/python.sh"
begin "qdq.sh BUILD" "$@"
if python=$(python_with numpy onnx.parser onnxruntime); then exec "$python" tests/qdq.py "$build" "$only"; fi
skip qdq "no Python has numpy, onnx and onnxruntime: $python_hint"
report_end
