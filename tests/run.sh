#!/bin/sh
# SPDX-License-Identifier: MIT
# run.sh BUILD [--all]: every suite, one after another; what each said is in BUILD/test-NAME.txt. Shows what failed, names
# what was skipped, and ends with the sums: `N passed, N failed, N skipped`. Status 1 if anything failed; with --all also
# if anything was skipped, except for want of the recorded models, which are not part of the project.
set -u
root=$(cd "$(dirname "$0")/.." && pwd)
build=$(cd "${1:?usage: run.sh BUILD [--all]}" && pwd)
all=${2:-}
cd "$root" || exit 1
passed=0 failed=0 skipped=0
skips=$build/skipped.txt
: > "$skips"

# number WORD TEXT: N of `N WORD` in the text; 0 if there is none.
number() { echo "$2" | sed -n "s/.*\(^\|[^0-9]\)\([0-9][0-9]*\) $1.*/\2/p;" | sed -n '$p' | grep . || echo 0; }

skip() {
    echo "skip $1: $2" >> "$skips"
    skipped=$((skipped + 1))
}

# suite NAME COMMAND...: its last line is the sum. A suite that ends without one, or with another verdict than its sum
# says, counts as one more failure.
suite() {
    name=$1 output=$build/test-$1.txt status=0
    shift
    "$@" > "$output" 2>&1 || status=$?
    sum=$(grep '^[0-9][0-9]* passed, [0-9][0-9]* failed' "$output" | sed -n '$p')
    bad=$(number failed "$sum")
    case $sum in "0 passed, 0 failed" | "0 passed, 0 failed, 0 skipped") sum= ;; esac      # nothing tested is no success
    [ "$status" -ne 77 ] || [ "$(number passed "$sum")" -ne 0 ] || [ "$(number skipped "$sum")" -eq 0 ] || status=0      # all of it is skipped
    if [ -z "$sum" ] || { [ "$status" -ne 0 ] && [ "$bad" -eq 0 ]; }; then
        echo "not ok $name: ended with status $status after:" >> "$output"
        bad=$((bad + 1))
        sum="$(number passed "$sum") passed, $bad failed, $(number skipped "$sum") skipped; ended with status $status"
    fi
    echo "$name: $sum"
    if [ "$bad" -gt 0 ]; then
        grep -A 30 '^not ok' "$output" | grep -v '^ok \|^--$' | head -n 60 | sed 's/^/    /'
        [ -n "$(grep '^not ok.*ended with status' "$output")" ] && tail -n 5 "$output" | sed 's/^/    /'
    fi
    grep '^skip ' "$output" >> "$skips"
    passed=$((passed + $(number passed "$sum")))
    failed=$((failed + bad))
    skipped=$((skipped + $(number skipped "$sum")))
}

for test in tests/unit/test_*.c; do
    name=$(basename "$test" .c)
    suite "$name" "$build/test/$name"
done
suite arrows tests/arrows.sh "$build"
suite cli tests/cli.sh "$build"
suite interface tests/interface.sh "$build"
suite add_op tests/add_op.sh "$build"
suite golden tests/golden.sh "$build"
suite annotate tests/annotate.sh "$build"
suite emitted tests/emitted.sh "$build"
suite simd tests/simd.sh "$build"
suite pointers tests/pointers.sh "$build"
suite models tests/models.sh "$build"
suite open tests/open.sh "$build"
suite shrink tests/shrink.sh "$build"
if command -v python3 > /dev/null 2>&1; then
    models=samples/digits/digits.onnx
    for name in $(sed -n 's/^required="\(.*\)"$/\1/p' tests/models.sh); do
        [ -f "../shared/models/onnx/$name.onnx" ] && models="$models ../shared/models/onnx/$name.onnx"
    done
    # shellcheck disable=SC2086
    suite ram python3 tests/live_bound.py "$build/loopwright" $models --limit 1.1
    # Without dtln1, whose recurrent layers need scratch memory that the bound does not count: 1.102.
    # shellcheck disable=SC2086
    suite ram-io-arena python3 tests/live_bound.py "$build/loopwright" $(echo " $models" | sed 's/ [^ ]*dtln1[^ ]*//') --limit 1.1 --io arena
    suite int8 python3 tests/bench/int8.py "$build" --check
else
    skip ram "python3 is not installed"
    skip int8 "python3 is not installed"
fi
[ "$all" != --all ] || suite conformance tests/conformance.sh "$build"      # some minutes
suite sanitize tests/sanitize.sh "$build"
suite determinism tests/determinism.sh "$build"
if command -v bash > /dev/null 2>&1; then
    suite cross tests/cross/all.sh "$build"
else
    skip cross "bash is not installed"
fi

if [ -s "$skips" ]; then
    echo "skipped:"
    sed 's/^skip /    /' "$skips"
fi
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ] || exit 1
[ "$all" != --all ] || ! grep -v ': no recorded models beside the project$\|: this processor has no [a-z0-9_]*$' "$skips" | grep -q .
