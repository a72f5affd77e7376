#!/bin/sh
# SPDX-License-Identifier: MIT
# open.sh BUILD: the operators that keep dimensions open, and their results; see tests/open.py.
set -u
. "$(dirname "$0")/report.sh"
. "$(dirname "$0")/python.sh"
begin "open.sh BUILD" "$@"

# onnx.reference replaces a missing onnxruntime; Debian 12 has neither.
if python=$(python_with numpy onnx.parser onnxruntime) || python=$(python_with numpy onnx.parser onnx.reference); then
    exec "$python" tests/open.py "$build" "$only"
fi
skip open "no Python has numpy and onnxruntime or onnx 1.13: $python_hint"
report_end
