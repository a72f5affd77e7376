#!/bin/sh
# SPDX-License-Identifier: MIT
# sanitize.sh BUILD: the compiler's own unit tests, built with the address and undefined-behaviour sanitizers in
# BUILD/sanitize and run there. The tests that call compilers or run whole networks have suites of their own.
set -u
cd "$(dirname "$0")/.." || exit 1
build=${1:?usage: sanitize.sh BUILD}/sanitize
flags="-O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all"
. tests/report.sh

if ! echo 'int main(void) { return 0; }' | ${CC:-cc} $flags -x c -o /dev/null - 2> /dev/null; then
    echo "skip sanitize: ${CC:-cc} has no sanitizers"
    echo "0 passed, 0 failed, 1 skipped"
    exit 0
fi

# What runs here: the ground, the schedule, the graph, the importers. Left out: what emits C and calls a compiler.
tests=
for source in tests/unit/test_*.c; do
    name=$(basename "$source" .c)
    case $name in test_random_emission | test_emit | test_cgen | test_check_mutants | test_math) continue ;; esac
    tests="$tests $build/test/$name"
done
mkdir -p "$build"
# shellcheck disable=SC2086
if ! ${MAKE:-make} -j2 BUILD="$build" CFLAGS="$flags" LDFLAGS="$flags" all $tests > "$build/make.txt" 2>&1; then
    tail -n 20 "$build/make.txt"
    echo "not ok sanitize-build"
    echo "0 passed, 1 failed"
    exit 1
fi
# arguments NAME: what makes the long tests short.
arguments() {
    case $1 in
    test_random_schedules) echo "1 300" ;;
    test_tflite_reference) echo "50" ;;
    test_hostile) echo "samples/matmul/matmul.te tests/golden/elementwise/elementwise.onnx" ;;
    esac
}
for test in $tests; do
    name=$(basename "$test")
    # shellcheck disable=SC2046
    if timeout 300 env ASAN_OPTIONS=detect_leaks=0 "$test" $(arguments "$name") > "$build/$name.txt" 2>&1; then
        passed=$((passed + 1))
        echo "ok sanitize-$name"
    else
        failed=$((failed + 1))
        echo "not ok sanitize-$name:"
        grep -v '^ok' "$build/$name.txt" | tail -n 20
    fi
done

# A network the whole way, through the command line.
digits() {
    "$build/loopwright" samples/digits/digits.onnx -o "$build/digits.c" --testbench --time-passes &&
        "$build/loopwright" report samples/digits/digits.onnx -o "$build/digits.html" &&
        "$build/loopwright" run samples/digits/digits.onnx tests/models/digits.in0.npy -o "$build/interpreted.npy" &&
        ${CC:-cc} -std=c99 $flags -Iruntime "$build/digits.c" "$build/digits_main.c" -lm -o "$build/digits" &&
        "$build/digits" tests/models/digits.in0.npy "$build/emitted.npy"
}
if ASAN_OPTIONS=detect_leaks=0 digits > "$build/digits.txt" 2>&1; then
    passed=$((passed + 1))
    echo "ok sanitize-digits"
else
    failed=$((failed + 1))
    echo "not ok sanitize-digits:"
    tail -n 20 "$build/digits.txt"
fi
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
