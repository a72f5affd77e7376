#!/bin/sh
# SPDX-License-Identifier: MIT
# sanitizers.sh BUILD [FLAG...]: processor seconds that clang takes to build each model's C for generic with
# -O1 -fsanitize=address,undefined and the flags. Status 1 above LIMIT (20) seconds. The models are digits and the
# recorded ones beside the project.
#
# With -fno-sanitize-recover=all every check is an exit that dominates the code after it. clang 14 inlines the layers
# into NAME_run, and for each exit of a loop it walks over the conditions before it, up to the last join. LW_LAYER and
# LW_VECTOR are such joins (runtime/lw_base.h): digits takes 1.3 s instead of 10, ecg_cnn1d 13 instead of more than 70.
# vww_96_int8, whose loops have no LW_VECTOR, takes 33 s; with -fno-inline the layers stay separate.
set -u
. "$(dirname "$0")/../report.sh"
begin "sanitizers.sh BUILD [FLAG...]" "$@"
cd "$root/.." && shift
limit=${LIMIT:-20}
clang=${CLANG:-clang}
has "$clang" || { skip sanitizers "clang is not installed"; report_end; exit; }

# seconds FLAG... : of the processor, for the build of $work/m.c.
seconds() {
    sh -c '"$@" > /dev/null 2>&1; status=$?; times; exit $status' - "$clang" -std=c99 -O1 -fsanitize=address,undefined \
        "$@" -Iruntime -c "$work/m.c" -o "$work/m.o" > "$work/times" || return
    awk 'NR == 2 { split($1, t, /[ms]/); print t[1] * 60 + t[2] }' "$work/times"
}

for model in samples/digits/digits.onnx ../shared/models/onnx/*.onnx ../shared/models/mlperf-tiny/*.tflite; do
    [ -f "$model" ] || continue
    name=$(basename "$model" | sed 's/\.[a-z]*$//')
    if ! "$lw" "$model" -o "$work/m.c" --name m --quiet; then
        fail "$name" "it is not compiled"
    elif ! took=$(seconds "$@"); then
        fail "$name" "clang refuses it"
    elif awk "BEGIN { exit !($took > $limit) }"; then
        fail "$name" "$took s, more than $limit"
    else
        pass "$name: $took s"
    fi
done
report_end
