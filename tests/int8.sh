#!/bin/sh
# SPDX-License-Identifier: MIT
# int8.sh BUILD: `make bench-int8 FLAGS=--check`: the int8 models have the recorded instruction counts and memory.
set -u
. "$(dirname "$0")/report.sh"
. "$(dirname "$0")/python.sh"
begin "int8.sh BUILD" "$@"

if python=$(python_with json); then exec "$python" tests/bench/int8.py "$build" --check; fi
skip int8 "python3 is not installed"
report_end
