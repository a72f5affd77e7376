#!/bin/sh
# SPDX-License-Identifier: MIT
# run.sh BUILD [COUNT]: a grayscale camera in front of visual wake words: --preprocess equals the steps by hand on COUNT
# images (camera.c), and the emitted C has no float.
set -u
. "$(dirname "$0")/../report.sh"
root=$(cd "$(dirname "$0")/../.." && pwd) build=$(cd "${1:?usage: camera/run.sh BUILD [COUNT]}" && pwd) || exit 1
work=$build/camera lw=$build/loopwright log=$build/camera/log.txt
mkdir -p "$work"
model=$root/../shared/models/mlperf-tiny/vww_96_int8.tflite
if [ ! -f "$model" ]; then skip camera "$model is not beside the project"; report_end; exit; fi
emit() { "$lw" "$model" --quiet --name "$@"; }
builds() {
    emit plain -o "$work/plain.c" &&
        emit seen -o "$work/seen.c" --preprocess 'input_1_int8=u8 gray 320x240 crop 240x240+40+0: x / 255' &&
        ! grep -nE 'float|double' "$work/seen.c" &&
        ${CC:-cc} -std=c99 -O2 -Wall -Wextra -I "$root/runtime" -I "$work" "$root/tests/camera/camera.c" \
            "$work/plain.c" "$work/seen.c" -o "$work/camera"
}
check camera-builds-without-floats builds
check camera-equals-the-steps-by-hand "$work/camera" "${2:-1000}"
cat "$log"
report_end
