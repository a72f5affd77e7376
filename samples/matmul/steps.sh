#!/bin/sh
# SPDX-License-Identifier: MIT
# steps.sh [BUILD [TARGET [N]]]: steps.c, which schedules a product of N x N matrices through the library, and the C
# that it emits after each of its eight steps, built with $CC and $CFLAGS (cc, -O3 and what the target needs) and run.
# Prints the speed after each step; ends with status 1 unless the results are equal to the bit up to the step that
# rounds multiply-adds once, and from there on.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$here/../..
build=$(cd "${1:-$root/build}" && pwd)
target=${2:-x86-avx2} n=${3:-512}
work=$build/matmul-steps
case $target in
x86)        flags=-msse4.1 ;;
x86-avx2)   flags="-mavx2 -mfma" ;;
x86-avx512) flags="-mavx512f -mavx2 -mfma" ;;
*)          flags= ;;
esac
[ -f "$build/libloopwright.a" ] || { echo "there is no $build/libloopwright.a: make library" >&2; exit 1; }
cc=${CC:-cc} flags="${CFLAGS:--O3 $flags} -ffp-contract=off"

for step in 0 1 2 3 4 5 6 7 8; do mkdir -p "$work/$step"; done
# The flags are words.
# shellcheck disable=SC2086
$cc -std=c99 -I"$root/emitter" "$here/steps.c" "$build/libloopwright.a" -lm -o "$work/steps"
"$work/steps" "$work" "$target" "$n" > "$work/steps.txt"

step=0 changes=0 last=
while read -r what; do
    # shellcheck disable=SC2086
    $cc -std=c99 $flags -DN="$n" -I"$root/runtime" -I"$work/$step" "$here/time.c" "$work/$step/matmul.c" -lm \
        -o "$work/$step/time"
    result=$("$work/$step/time") || { echo "matmul_run failed after step $step" >&2; exit 1; }
    [ "${last:-${result#* }}" = "${result#* }" ] || changes=$((changes + 1))
    last=${result#* }
    awk -v step="$step" -v what="$what" -v ns="${result% *}" -v n="$n" \
        'BEGIN { printf "%2d  %-26s %9.0f us %7.1f GFLOP/s\n", step, what, ns / 1000, 2 * n * n * n / ns }'
    step=$((step + 1))
done < "$work/steps.txt"
[ "$step" -eq 9 ] && [ "$changes" -le 1 ] || { echo "the result changed $changes times in $step builds" >&2; exit 1; }

# The printed schedule replays: from its text the command line emits the same C.
"$build/loopwright" "$work/matmul.te" --target "$target" --name matmul -o "$work/matmul.c"
cmp "$work/matmul.c" "$work/8/matmul.c"
