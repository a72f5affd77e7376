#!/bin/sh
# samples/gemm16/run.sh [MODEL [IN.npy EXPECTED.npy]]: compiles a quantized network for the unit, runs the C with the
# model of the unit, compares the bytes of the results, and prints the table of its layers. Without arguments: keyword
# spotting and image classification of MLPerf Tiny where ../shared/models has them, otherwise small.te.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)
build=${BUILD:-$top/build}
out=$build/gemm16
mkdir -p "$out"

run() {
    model=$1
    shift
    echo "$(basename "$model")"
    GEMM16_TABLE=$out/table.txt "$build/loopwright" verify "$model" "$@" --combine none \
        --schedule "${GEMM16_SCHEDULE:-$here/networks.txt}" \
        --quiet --cc "${CC:-cc} -O2 -include $here/gemm16.h" --link "$here/gemm16.c"
    cat "$out/table.txt"
    "$build/loopwright" report "$model" --combine none --quiet -o "$out/report.json" \
        --schedule "${GEMM16_SCHEDULE:-$here/networks.txt}"
    echo "copies, bytes and multiply-adds: $(counted) by the report, $(awk '/^total/ { print $6 ", " $4 ", " $13 }' \
        "$out/table.txt") by the model"
    echo
}

# counted: the sums of the report's counts for the unit.
counted() {
    sed -n 's/.*"unit": {//p' "$out/report.json" | sed 's/"macro": "GEMM16", "calls": [0-9]*, "points"/"products"/' |
        awk '{ copies += number("copies"); moved += number("moved"); products += number("products") }
             END { printf "%d, %d, %d", copies, moved, products }
             function number(key) { return match($0, "\"" key "\": [0-9]+") ? \
                 substr($0, RSTART + length(key) + 4, RLENGTH - length(key) - 4) : 0 }'
}

models=$top/../shared/models/mlperf-tiny
if [ $# -eq 1 ]; then run "$1"
elif [ $# -ge 3 ]; then run "$1" "$2" --expect "$3"
elif [ -d "$models" ]; then
    for m in kws_ref_model pretrainedResnet_quant; do
        run "$models/$m.tflite" "$models/$m.in0.npy" --expect "$models/$m.out0.npy"
    done
else run "$here/small.te"
fi
