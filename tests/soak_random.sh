#!/bin/sh
# SPDX-License-Identifier: MIT
# soak_random.sh BUILD: random models of fixed seeds, beside ONNX Runtime and TensorFlow Lite Micro, and the page that
# they make; see tests/soak/soak.py. Three minutes on two cores.
set -u
. "$(dirname "$0")/report.sh"
. "$(dirname "$0")/python.sh"
begin "soak_random.sh BUILD" "$@"

python=$(python_with numpy onnx.reference onnxruntime) || {
    skip soak-random "no Python has numpy, onnx and onnxruntime: $python_hint"
    report_end
    exit
}
"${MAKE:-make}" --no-print-directory -s -j"$(getconf _NPROCESSORS_ONLN)" soak-worker BUILD="$build" > "$log" 2>&1 ||
    { cat "$log"; exit 1; }
exec "${MAKE:-make}" --no-print-directory -s soak-random BUILD="$build" PYTHON="$python" SEED="${SEED:-33}" \
    COUNT="${COUNT:-1000,round,400,30}" PROGRAMS=0 FLAGS="--crossings 1 --compare docs/special-values.md"
