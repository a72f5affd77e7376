#!/bin/sh
# SPDX-License-Identifier: MIT
# emulated.sh BUILD: instructions per multiply-add of recorded networks on processors that qemu's user mode emulates. A
# program of two runs less that of one run: the start is not counted. Each program also compares its output.
set -eu
cd "$(dirname "$0")/../.."
build=${1:?usage: emulated.sh BUILD} work=$1/bench/emulated models=../shared/models
. tests/emulated/cores.sh
mkdir -p "$work"
cc -O2 -shared -fPIC -o "$work/count.so" tests/emulated/count.c

# executed RUNS CORE MODEL EXACT: the instructions of the program.
# shellcheck disable=SC2086
executed() {
    core_build "$work/main" -O3 -I"$work" -DRUNS="$1" $4 -DIN="\"$models/$3.in0.npy\"" -DOUT="\"$models/$3.out0.npy\"" \
        tests/emulated/main.c "$work/m.c" || return
    $emulator -plugin "$work/count.so" -d plugin "$work/main" 2> "$work/count" ||
        { echo "$3: outputs differ" >&2; return 1; }
    sed -n 's/^instructions //p' "$work/count"
}

# row CORE TARGET FILE MULTIPLY_ADDS [-DNEAR]
row() {
    core_row "$1"
    why=$(core_misses)
    model=${3%.*}
    if [ "$why" ]; then echo "$1 $(basename "$model"): $why"; return; fi
    if [ ! -f "$models/$3" ]; then echo "$1 $3: no recorded models beside the project"; return; fi
    "$build/loopwright" "$models/$3" --target "$2" -o "$work/m.c" --name m --quiet
    once=$(executed 1 "$1" "$model" "${5-}")
    twice=$(executed 2 "$1" "$model" "${5-}")
    echo "$1 $(basename "$model") $4 $((twice - once))" |
        awk '{ printf "%-14s %-24s %12d %12d %8.3f\n", $1, $2, $3, $4, $4 / $3 }'
}

printf '%-14s %-24s %12s %12s %8s\n' core network multiply-adds instructions each
row rv32imc rv32imc mlperf-tiny/kws_ref_model.tflite 2656768
row rv32imc rv32imc mlperf-tiny/pretrainedResnet_quant.tflite 12501632
row rv64gc rv64gc onnx/resnet8.onnx 12501632 -DNEAR
for core in rv64gcv rv64gcv-lmul1; do
    row $core rv64gcv mlperf-tiny/ad01_int8.tflite 264192
    row $core rv64gcv mlperf-tiny/pretrainedResnet_quant.tflite 12501632
    row $core rv64gcv mlperf-tiny/kws_ref_model.tflite 2656768
    row $core rv64gcv mlperf-tiny/vww_96_int8.tflite 7489664
    row $core rv64gcv mlperf-tiny/str_ww_ref_model.tflite 826400
done
