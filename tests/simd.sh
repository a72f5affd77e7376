#!/bin/sh
# SPDX-License-Identifier: MIT
# simd.sh BUILD: every header of runtime/simd built with each compiler that is here, without a word of warning, and run on
# edge values against the formulas of its names. A processor without the instructions skips its header by name.
set -u
root=$(cd "$(dirname "$0")/.." && pwd)
build=$(cd "${1:?usage: simd.sh BUILD}" && pwd)
work=$build/simd
mkdir -p "$work"
log=$work/log.txt
cd "$root" || exit 1
. tests/report.sh

strict="-std=c99 -pedantic -Wall -Wextra -Wconversion -Wshadow -Werror"

# has_instructions WORD...: the processor says that it has all of them.
has_instructions() {
    for word in "$@"; do grep -m 1 '^flags' /proc/cpuinfo 2> /dev/null | grep -qw "$word" || return 1; done
}

# vectors COMPILER HEADER FLAG...: builds with the flags; the program must say that it uses the header.
vectors() {
    compiler=$1 header=$2
    shift 2
    program=$work/$header-$compiler
    "$compiler" "$@" -Iruntime -Itests/simd -o "$program" tests/simd/simd_test.c -lm && "$program" || return 1
    "$program" | grep -q "^registers: $header"
}

for compiler in gcc clang tcc; do
    if ! has $compiler; then skip "simd-$compiler" "$compiler is not installed"; continue; fi
    case $compiler in
    tcc) check simd-scalar-tcc vectors tcc none -std=c99; continue ;;
    esac
    check "simd-scalar-$compiler" vectors $compiler none $strict -O2 -ffp-contract=off
    for row in "sse4 sse4_1 -msse4.1" "avx2 avx2 -mavx2 -mfma" "avx512 avx512f -mavx512f -mavx2 -mfma"; do
        set -- $row
        header=$1 word=$2
        shift 2
        if ! has_instructions "$word"; then skip "simd-$header-$compiler" "this processor has no $word"; continue; fi
        check "simd-$header-$compiler" vectors $compiler $header $strict -O2 -ffp-contract=off "$@"
    done
    check "simd-overruled-$compiler" vectors $compiler none $strict -O2 -ffp-contract=off -msse4.1 -DLW_SIMD_SSE4=0
done

report_end
