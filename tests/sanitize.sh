#!/bin/sh
# SPDX-License-Identifier: MIT
# sanitize.sh BUILD: the unit tests, built with the address and undefined-behaviour sanitizers in BUILD/sanitize, except
# those that mostly call a C compiler.
set -u
. "$(dirname "$0")/report.sh"
. "$(dirname "$0")/tools/counts.sh"
begin "sanitize.sh BUILD" "$@"
# A null pointer's use ends the program without a check of its own, and the address sanitizer sees accesses outside
# objects. Overflow of pointers, a third of the time of compilation, is checked where hostile bytes are read.
checks="-g1 -fsanitize=address,undefined -fno-sanitize=null,object-size -fno-sanitize-recover=all"
flags="-O1 $checks -fno-sanitize=pointer-overflow"
export ASAN_OPTIONS=detect_leaks=0

if ! echo 'int main(void) { return 0; }' | $cc $flags -x c -o /dev/null - 2> /dev/null; then
    skip sanitize "$cc has no sanitizers"
    report_end
    exit
fi

tests=
for source in tests/unit/test_*.c; do
    name=${source##*/} name=${name%.c}
    case $name in test_random_emission | test_emit | test_cgen | test_check_mutants | test_math) continue ;; esac
    wanted "sanitize-$name" && tests="$tests $work/test/$name"
done
# build FLAGS TARGET...: builds the targets that are missing.
build() {
    build_flags=$1
    shift
    "${MAKE:-make}" -j2 BUILD="$work" CFLAGS="$build_flags" LDFLAGS="$build_flags" "$@"
}
# shellcheck disable=SC2046
setup sanitize-build-readers build "-O1 $checks" \
    $(find emitter/import emitter/support -name '*.c' | sed "s|\(.*\)c\$|$work/obj/\1o|")
setup sanitize-build build "$flags" all
# shellcheck disable=SC2086
setup sanitize-build-tests build "-O0 $checks -fno-sanitize=pointer-overflow" $tests

for test in $tests; do
    name=${test##*/}
    # shellcheck disable=SC2046
    check "sanitize-$name" timeout 600 "$test" $(counts "$name" sanitize)
done

# A whole network, through the command line.
digits() {
    "$work/loopwright" samples/digits/digits.onnx -o "$work/digits.c" --testbench --time-passes &&
        "$work/loopwright" report samples/digits/digits.onnx -o "$work/digits.html" &&
        "$work/loopwright" run samples/digits/digits.onnx tests/models/digits.in0.npy -o "$work/interpreted.npy" &&
        $cc -std=c99 $flags -Iruntime "$work/digits.c" "$work/digits_main.c" -lm -o "$work/digits" &&
        "$work/digits" tests/models/digits.in0.npy "$work/emitted.npy"
}
check sanitize-digits digits
report_end
