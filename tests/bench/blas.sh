#!/bin/sh
# SPDX-License-Identifier: MIT
# blas.sh BUILD [PERCENT]: the products of samples/matmul for AVX2 and AVX-512 beside OpenBLAS (Debian: libopenblas0),
# with one thread and the same instructions, measured alternately. With PERCENT, status 1 if one is slower than that
# share of OpenBLAS's speed.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$here/../..
build=$(cd "${1:?usage: blas.sh BUILD [PERCENT]}" && pwd)
work=$build/blas
command -v gcc > /dev/null || { echo "skipped: gcc is not installed"; exit 0; }

# against NAME WORD CORE FLAG...: if the processor has WORD. CORE is OpenBLAS's name of the instructions.
against() {
    name=$1 word=$2 core=$3
    shift 3
    grep -m 1 '^flags' /proc/cpuinfo 2> /dev/null | grep -qw "$word" ||
        { echo "$name skipped: this processor has no $word"; return 0; }
    mkdir -p "$work/$name"
    "$build/loopwright" "$root/samples/matmul/$name.te" --target "x86-$name" --name matmul -o "$work/$name/matmul.c"
    gcc -std=c99 -O3 "$@" -I"$root/runtime" -I"$work/$name" "$here/blas.c" "$work/$name/matmul.c" -ldl -lm \
        -o "$work/$name/blas"
    status=0
    OPENBLAS_NUM_THREADS=1 OPENBLAS_CORETYPE=$core "$work/$name/blas" "$name" > "$work/$name/said" || status=$?
    if [ "$status" -eq 77 ]; then echo "$name skipped: there is no libopenblas.so.0"; return 0; fi
    cat "$work/$name/said"
    [ "$status" -eq 0 ]
}

against avx2 avx2 Haswell -mavx2 -mfma
against avx512 avx512f SkylakeX -mavx512f -mavx2 -mfma
[ -z "${2:-}" ] ||
    awk -v least="$2" '{ for (i = 2; i <= NF; i++) if ($i == "%" && $(i - 1) < least) exit 1 }' "$work"/*/said
