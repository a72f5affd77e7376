#!/bin/sh
# SPDX-License-Identifier: MIT
# open.sh BUILD: which operators keep dimensions open, and with what numbers; see tests/open.py.
set -u
. "$(dirname "$0")/report.sh"
. "$(dirname "$0")/python.sh"
begin "open.sh BUILD" "$@"

# onnx.reference stands in where there is no onnxruntime; Debian 12 has neither.
if python=$(python_with numpy onnx.parser onnxruntime) || python=$(python_with numpy onnx.parser onnx.reference); then
    exec "$python" tests/open.py "$build" "$only"
fi
skip open "no Python has numpy and onnxruntime or onnx 1.13: $python_hint"
report_end
