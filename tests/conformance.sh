#!/bin/sh
# SPDX-License-Identifier: MIT
# conformance.sh BUILD: the ONNX backend suite in the folder of Debian's libonnx-testdata. Every case listed in
# tests/conformance.txt passes, and no other case fails. SUPPORT.md equals the output of `make conformance`.
set -u
. "$(dirname "$0")/report.sh"
. "$(dirname "$0")/python.sh"
begin "conformance.sh BUILD" "$@"
data=/usr/share/libonnx-testdata/data
log=$build/conformance.log
python=$(python_with numpy onnx) || python=

if [ ! -d "$data" ]; then
    skip conformance "libonnx-testdata is not installed"
elif [ -z "$python" ]; then
    skip conformance "no Python has numpy and onnx: $python_hint"
else
    mkdir -p "$build/conformance"
    cp docs/SUPPORT.md "$build/conformance/SUPPORT.md"
    "$python" tests/conformance.py "$build" "$data" "$only" --support "$build/conformance/SUPPORT.md" > "$log" 2>&1 ||
        true
    grep '^LOST \|^failed ' "$log" > "$build/conformance/bad.txt" || true
    while read -r line; do echo "not ok conformance: $line"; failed=$((failed + 1)); done < "$build/conformance/bad.txt"
    count=$(sed -n 's/^\(core\|beyond\): \([0-9]*\) of .*/\2/p' "$log" | awk '{ n += $1 } END { print n + 0 }')
    [ "$count" -gt 0 ] || fail conformance "no case passed: $(tail -n 3 "$log")"
    passed=$count
    [ "$only" ] || check support-table-is-that-of-make-conformance diff docs/SUPPORT.md "$build/conformance/SUPPORT.md"
fi
# If a listed case gives other numbers, the run reports it as lost and ends with an error.
loses() {
    rm -rf "$build/conformance/suite"
    cp -R "$data/node/test_relu" "$build/conformance/relu" 2> /dev/null && mkdir -p "$build/conformance/suite/node" &&
        mv "$build/conformance/relu" "$build/conformance/suite/node/test_relu" &&
        cp "$build/conformance/suite/node/test_relu/test_data_set_0/input_0.pb" \
            "$build/conformance/suite/node/test_relu/test_data_set_0/output_0.pb" &&
        ! "$python" tests/conformance.py "$build" "$build/conformance/suite" > "$build/conformance/lost.txt" &&
        grep -q '^LOST failed node/test_relu: output 0' "$build/conformance/lost.txt"
}
if [ -n "$python" ] && [ -d "$data" ]; then check a-lost-case-is-an-error loses; fi
report_end
