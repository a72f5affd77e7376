#!/bin/sh
# SPDX-License-Identifier: MIT
# qdq.sh BUILD [MODEL.onnx]: a quantized network written in real numbers (`make bench-qdq`), with each --qdq:
# instructions, arena, stack, code and constants on an emulated Cortex-M4 at -O3, and the time of one run on the host
# (gcc -O3, the best of five).
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
build=$(cd "${1:?usage: qdq.sh BUILD [MODEL.onnx]}" && pwd)
model=${2:-$root/../shared/models/onnx/kws_micro_qdq.onnx}
[ -f "$model" ] || { echo "skipped qdq.sh: no recorded models beside the project"; exit 0; }
input=${model%.onnx}.in0.npy

# host_time FOLDER: nanoseconds of one run.
host_time() {
    gcc -std=c99 -O3 -march=native -I"$root/runtime" -I"$1" "$1/qdq.c" "$1/qdq_main.c" -lm -o "$1/host"
    for _ in 1 2 3 4 5; do "$1/host" "$input" "$1/out.npy" --repeat 200; done | sed 's/[^0-9.]*\([0-9.]*\).*/\1/' |
        sort -n | head -n 1
}

for way in float exact integer; do
    for target in cortex-m4 generic x86-avx2; do
        folder=$build/bench/qdq/$way-$target
        mkdir -p "$folder"
        "$build/loopwright" "$model" -o "$folder/qdq.c" --name qdq --target $target --qdq $way --testbench --quiet
        case $target in
        cortex-m4)
            "$build/loopwright" run "$model" "$input" -o "$folder/want.npy" --qdq $way --quiet
            counted=$(CFLAGS_TARGET=-O3 "$root/tests/cross/run.sh" cortex-m4 "$folder" qdq "$input" -- \
                "$folder/want.npy" | tr '\n' ' ')
            echo "--qdq $way: $counted" ;;
        *) command -v gcc > /dev/null && echo "--qdq $way --target $target: $(host_time "$folder") ns on the host" ;;
        esac
    done
done
