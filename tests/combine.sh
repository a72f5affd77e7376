#!/bin/sh
# SPDX-License-Identifier: MIT
# combine.sh BUILD: --combine all on networks, for the Cortex-M4. RAM is at most the default's, the outputs are the same
# bits, at least the default's groups are combined, and each group that stays apart has its reason. With the Arm
# compiler and the emulator: at most 2 % more instructions than by default.
set -u
. "$(dirname "$0")/report.sh"
begin "combine.sh BUILD" "$@"
onnx=../shared/models/onnx tiny=../shared/models/mlperf-tiny

# emit NAME KIND MODEL OPTION...: BUILD/combine/NAME/KIND/NAME.c
emit() {
    name=$1 kind=$2 model=$3
    shift 3
    mkdir -p "$work/$name/$kind"
    "$lw" "$model" --target cortex-m4 -o "$work/$name/$kind/$name.c" --name "$name" --testbench --quiet "$@" &&
        "$lw" dump "$model" --target cortex-m4 --at strategy --quiet "$@" | sed '/^group /,$d' > "$work/$name/$kind.txt"
}
emit_all() { emit "$1" none "$2" --combine none && emit "$1" default "$2" && emit "$1" all "$2" --combine all; }

arena() { sed -n 's/^#define [A-Z0-9_]*_ARENA_SIZE *\([0-9]*\).*/\1/p' "$work/$1/$2/$1.h"; }
arena_is_no_larger() {
    echo "none $(arena "$1" none), default $(arena "$1" default), all $(arena "$1" all)"
    [ "$(arena "$1" all)" -le "$(arena "$1" default)" ] && [ "$(arena "$1" default)" -le "$(arena "$1" none)" ]
}

# attached NAME KIND: the groups that are attached to others.
attached() { sed -n 's/^  \([^ ]*\) is \(computed in each\|inlined\).*/\1/p' "$work/$1/$2.txt" | sort -u; }
attaches_as_many() {
    attached "$1" default > "$work/$1/default.names"
    attached "$1" all > "$work/$1/all.names"
    [ -z "$(comm -23 "$work/$1/default.names" "$work/$1/all.names")" ]
}

# Every group that stays apart has a reason and a count.
gives_reasons() {
    ! grep ' stays apart: ' "$work/$1/all.txt" | grep -v 'counted\|counts'
}
has_fewer_functions() {
    [ "$(attached "$1" all | wc -l)" -gt "$(attached "$1" default | wc -l)" ]
}

files() { for f in "$1.npy" "$1".[0-9].npy; do [ ! -f "$f" ] || echo "$f"; done; }

# bits NAME KIND VECTORS: the outputs on the first recorded inputs, in BUILD/combine/NAME/KIND.
bits() {
    folder=$work/$1/$2
    "$cc" -std=c99 -O1 -Iruntime -I"$folder" "$folder/$1.c" "$folder/$1_main.c" -lm -o "$folder/main" || return
    # shellcheck disable=SC2046
    set -- "$folder" $(files "$3.in0") -- $(files "$3.out0")
    run= outputs=
    shift
    for f in "$@"; do
        case $f in --) outputs=1 ;; *) [ "$outputs" ] && f=$folder/${f##*/}; run="$run $f" ;; esac
    done
    # shellcheck disable=SC2086
    "$folder/main" $run
}
same_bits() {
    bits "$1" default "$2" && bits "$1" all "$2" || return
    for f in $(files "$2.out0"); do cmp "$work/$1/default/${f##*/}" "$work/$1/all/${f##*/}" || return; done
}

# instructions NAME KIND VECTORS: of one run on the emulated core.
instructions() {
    # shellcheck disable=SC2046
    bash tests/cross/run.sh cortex-m4 "$work/$1/$2" "$1" $(files "$3.in0") -- $(files "$3.out0") |
        sed -n 's/^instructions:* *//p'
}
instructions_at_most() {
    was=$(instructions "$1" default "$2") is=$(instructions "$1" all "$2")
    echo "default $was, all $is"
    [ "$was" ] && [ "$is" ] && [ "$is" -le $((was + was / 50)) ]
}

tools=$(missing bash arm-none-eabi-gcc qemu-system-arm)
# TEST_CASE also selects whole models: it contains the model's name, or is a part of it.
chosen() { case $1 in *"$only"*) return 0 ;; esac; case $only in *"$1"*) return 0 ;; esac; return 1; }
try() {
    name=$1 model=$2 vectors=$3
    chosen "$name" || return 0
    if [ ! -f "$model" ]; then skip "combine-$name" "no recorded models beside the project"; return; fi
    setup "combine-$name-emit" emit_all "$name" "$model"
    check "combine-$name-ram" arena_is_no_larger "$name"
    check "combine-$name-bits" same_bits "$name" "$vectors"
    check "combine-$name-attached" attaches_as_many "$name"
    check "combine-$name-reasons" gives_reasons "$name" "$model"
    if [ "$tools" ]; then skip "combine-$name-instructions" "$tools"
    else check "combine-$name-instructions" instructions_at_most "$name" "$vectors"; fi
}

try digits samples/digits/digits.onnx tests/models/digits
for name in ad01 dscnn dtln1 ecg_cnn1d face_slim320 kws_micro_fp32 kws_micro_qdq lenet5 lstm mnist8 mobilenet_v1_025 \
    mobilenet_v2_035 resnet8 squeezenet_s transformer; do try "$name" "$onnx/$name.onnx" "$onnx/$name"; done
for name in ad01_int8 kws_ref_model pretrainedResnet_quant str_ww_ref_model vww_96_int8; do
    try "$name" "$tiny/$name.tflite" "$tiny/$name"
done
for name in lenet5 mnist8 resnet8; do
    [ ! -f "$onnx/$name.onnx" ] || ! chosen "$name" || check "combine-$name-fewer-functions" has_fewer_functions "$name"
done
report_end
