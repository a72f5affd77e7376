#!/bin/sh
# SPDX-License-Identifier: MIT
# sizes.sh BUILD: sizes that data decide, beside ONNX Runtime; see tests/sizes.py.
set -u
. "$(dirname "$0")/report.sh"
. "$(dirname "$0")/python.sh"
begin "sizes.sh BUILD" "$@"

if python=$(python_with numpy onnx.parser onnxruntime); then exec "$python" tests/sizes.py "$build" "$only"; fi
skip sizes "no Python has numpy, onnx and onnxruntime: $python_hint"
report_end
