#!/bin/sh
# SPDX-License-Identifier: MIT
# emulated.sh BUILD: processors other than this one, by qemu's user mode. The macros of rows of bytes against their
# formulas; recorded networks, byte for byte.
set -u
. "$(dirname "$0")/report.sh"
begin "emulated.sh BUILD" "$@"
. tests/emulated/cores.sh

strict="-pedantic -Wall -Wextra -Wconversion -Wshadow -Werror"
tiny=../shared/models/mlperf-tiny

# shellcheck disable=SC2086
rows() { core_build "$work/rows-$1" -O2 $strict -I"$build/rows" tests/simd/rows_test.c && $emulator "$work/rows-$1"; }

# network CORE TARGET MODEL: the output on the first recorded input. With clang the file has the pieces of the runtime.
# shellcheck disable=SC2086
network() {
    folder=$work/$1-$3
    mkdir -p "$folder"
    pieces=
    case $1 in *clang) pieces=--standalone ;; esac
    "$build/loopwright" $tiny/"$3".tflite --target "$2" -o "$folder/m.c" --name m --quiet $pieces &&
        core_build "$folder/main" -O2 -I"$folder" -DIN="\"$tiny/$3.in0.npy\"" -DOUT="\"$tiny/$3.out0.npy\"" \
            tests/emulated/main.c "$folder/m.c" && $emulator "$folder/main"
}

# try CORE TARGET [MODEL...]: the rows of a core with instructions for them, and networks.
try() {
    core=$1 target=$2
    shift 2
    core_row "$core"
    why=$(core_misses)
    case $core in *gcv* | aarch64* | *neon | rv*) set -- rows "$@" ;; esac
    for what in "$@"; do
        if [ "$why" ]; then skip "emulated-$core-$what" "$why"
        elif [ "$what" = rows ]; then check "emulated-$core-rows" rows "$core"
        elif [ ! -f "$tiny/$what.tflite" ]; then skip "emulated-$core-$what" "no recorded models beside the project"
        else check "emulated-$core-$what" network "$core" "$target" "$what"; fi
    done
}

# fused CORE: a fused multiply-add is the core's instruction, not the emulation in doubles.
# shellcheck disable=SC2086
fused() {
    core_row "$1" && printf '%s\n' '#include "lw_math.h"' 'float f(float, float, float);' \
        'float f(float a, float b, float c) { return lw_fmaf(a, b, c); }' > "$work/fused.c" &&
        $compiler ${flags%-static*} -std=c99 -O2 -ffp-contract=off -Iruntime -S "$work/fused.c" -o "$work/fused.s" &&
        grep -q 'fmadd' "$work/fused.s"
}
for core in aarch64 aarch64-clang rv64gc rv64gcv; do
    core_row "$core"
    why=$(core_misses)
    if [ "$why" ]; then skip "fused-$core" "$why"; else check "fused-$core" fused "$core"; fi
done

try aarch64 aarch64 ad01_int8 kws_ref_model pretrainedResnet_quant
try aarch64-dotprod aarch64-dotprod ad01_int8 pretrainedResnet_quant
try aarch64-i8mm aarch64-i8mm ad01_int8 vww_96_int8
try aarch64-clang aarch64-i8mm kws_ref_model
try armv7-neon armv7-neon kws_ref_model pretrainedResnet_quant
try rv64gcv rv64gcv ad01_int8 kws_ref_model pretrainedResnet_quant
try rv64gcv-vlen256 rv64gcv kws_ref_model
try rv64gcv-lmul1 rv64gcv kws_ref_model
try rv64gc rv64gc kws_ref_model
try rv32imc rv32imc kws_ref_model pretrainedResnet_quant

report_end
