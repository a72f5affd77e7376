#!/bin/sh
# SPDX-License-Identifier: MIT
# shrink.sh BUILD [COUNT]: recorded int8 networks with and without lossless shrinking.
#   - If channels are removed, both programs run on COUNT inputs (90 by default; `make shrink`: 10,000) and give the
#     same bytes; the report names the channels.
#   - If none is removed, the emitted text is the same.
#   - Multiply-adds and bytes of kernels are at most those in the table.
set -u
root=$(cd "$(dirname "$0")/.." && pwd)
build=$(cd "${1:?usage: shrink.sh BUILD [COUNT]}" && pwd)
count=${2:-90}
models=$root/../shared/models/mlperf-tiny
work=$build/shrink
mkdir -p "$work"
log=$work/log.txt
. "$root/tests/report.sh"

# emit MODEL FOLDER NAME OPTIONS...
emit() {
    model=$1 folder=$2 name=$3
    shift 3
    mkdir -p "$work/$folder"
    "$build/loopwright" "$models/$model.tflite" -o "$work/$folder/$name.c" --name "$name" "$@"
}

# twins MODEL TARGET COUNT: both programs give the same bytes.
twins() {
    emit "$1" "$1" whole --no-shrink --target "$2" && emit "$1" "$1" less --target "$2" || return
    ${CC:-cc} -std=c99 -O2 -I"$root/runtime" -I"$work/$1" "$root/tests/tools/twins.c" "$work/$1/whole.c" \
        "$work/$1/less.c" -lm -o "$work/$1/twins" || return
    timeout 1200 "$work/$1/twins" "$3"
}

unchanged() {
    emit "$1" "$1/whole" m --no-shrink && emit "$1" "$1/less" m && cmp "$work/$1/whole/m.c" "$work/$1/less/m.c" &&
        cmp "$work/$1/whole/m.h" "$work/$1/less/m.h"
}

# leaves MODEL MACS BYTES: the report counts at most MACS multiply-adds and BYTES of kernels.
leaves() {
    "$build/loopwright" report "$models/$1.tflite" > "$work/$1.txt" || return
    sed -n 's/.*, \([0-9]*\) of [0-9]* multiply-adds and \([0-9]*\) of [0-9]* bytes of kernels are left;/\1 \2/p' \
        "$work/$1.txt" > "$work/left.txt"
    read -r macs bytes < "$work/left.txt" && echo "$macs multiply-adds, $bytes bytes" && [ "$macs" -le "$2" ] &&
        [ "$bytes" -le "$3" ]
}

# pictured MODEL: the HTML report names the removed channels, too.
pictured() {
    "$build/loopwright" report "$models/$1.tflite" -o "$work/$1.html" && grep -q 'No output depends on' "$work/$1.html"
}

# try MODEL [MACS BYTES]
try() {
    if [ ! -f "$models/$1.tflite" ]; then skip "shrink-$1" "no recorded models beside the project"
    elif [ $# -eq 1 ]; then check "shrink-$1-changes-nothing" unchanged "$1"
    else
        check "shrink-$1-$count-inputs" twins "$1" generic "$count"
        for target in cortex-m0plus cortex-m4 cortex-m55; do check "shrink-$1-$target" twins "$1" $target 45; done
        check "shrink-$1-size" leaves "$@"
        check "shrink-$1-html" pictured "$1"
    fi
}

try vww_96_int8 3800000 32768
try ad01_int8
try pretrainedResnet_quant
try kws_ref_model
try str_ww_ref_model
report_end
