#!/bin/sh
# SPDX-License-Identifier: MIT
# exports.sh BUILD: models with the operators of other tools (domains com.microsoft and ai.onnx.ml), emitted as C, built
# by the C compiler, run, and compared with what ONNX Runtime computed. tools/runtime_models.py and tools/ml_models.py
# record them. BUILD contains the program `loopwright`; output is written to BUILD/exports.
set -u
root=$(cd "$(dirname "$0")/.." && pwd)
build=$(cd "${1:?usage: exports.sh BUILD}" && pwd)
models=$root/tests/models
work=$build/exports
mkdir -p "$work"
log=$work/log.txt
. "$root/tests/report.sh"

# emit NAME: BUILD/exports/NAME/program
emit() {
    mkdir -p "$work/$1" &&
        "$build/loopwright" "$models/$1.onnx" -o "$work/$1/$1.c" --name "$1" --testbench --quiet &&
        ${CC:-cc} -std=c99 -pedantic -Wall -Wextra -Wconversion -Wshadow -Werror -O1 -I"$root/runtime" -I"$work/$1" \
            "$work/$1/$1.c" "$work/$1/$1_main.c" -lm -o "$work/$1/program"
}

# agree NAME K: the outputs of input set K.
agree() {
    name=$1 k=$2
    case $name in ml_sums) step=2e-6 ;; *) step= ;; esac      # terms of 1 whose sum is near 0
    set --
    for input in "$models/$name.in$k".*npy; do set -- "$@" "$input"; done
    for output in "$models/$name.out$k".*npy; do set -- "$@" "$work/$name/${output##*/}"; done
    "$work/$name/program" "$@" || return
    for output in "$models/$name.out$k".*npy; do
        "$work/npydiff" "$work/$name/${output##*/}" "$output" $step || return
    done
}

setup build-npydiff ${CC:-cc} -std=c99 -O1 "$root/tests/tools/npydiff.c" -lm -o "$work/npydiff"

for model in "$models"/qlinear_*.onnx "$models"/fused.onnx "$models"/heads.onnx "$models"/narrow.onnx \
    "$models"/sixteen.onnx "$models"/ml_*.onnx; do
    name=${model##*/} name=${name%.onnx}
    case $name in *"$only"*) ;; *) continue ;; esac
    if emit "$name" > "$log" 2>&1; then pass "$name-build"
    else fail "$name-build" "$(head -n 1 "$log")"; continue; fi
    for k in 0 1 2 3; do
        [ ! -f "$models/$name.in$k.npy" ] && [ ! -f "$models/$name.in$k.0.npy" ] || check "$name-$k" agree "$name" "$k"
    done
done

# sixteen: a network of 16-bit QDQ of ../shared, whose recorded values are equal to the bit.
recorded=$root/../shared/cases/exports/sixteen_bit_qdq
sixteen() {
    cp "$recorded/ad01.qdq_s16s8.onnx" "$work/ad01.onnx" || return
    models=$work
    emit ad01 && "$work/ad01/program" "$recorded/r0_in0.npy" "$work/ad01/out.npy" &&
        cmp "$work/ad01/out.npy" "$recorded/r0_out0.npy"
}
case sixteen-bit-qdq in *"$only"*)
    if [ -d "$recorded" ]; then check sixteen-bit-qdq sixteen
    else skip sixteen-bit-qdq "no ../shared/cases/exports"; fi ;;
esac

# names: the header has the file's names of the classes.
names() { grep -q '"idle", "walking", "on stairs"' "$work/ml_names/ml_names.h"; }
case names in *"$only"*) check names-of-classes names ;; esac
# strings: the header has all strings, and says which ports hold their indices.
strings() {
    grep -q 'an element of color, size, mapped, name, label, swapped is an index' "$work/ml_text/ml_text.h" &&
        grep -A 2 'ML_TEXT_STRINGS' "$work/ml_text/ml_text.h" | tr -d '\n' |
            grep -q '{ "cold", "hot", "none", "x", .*"L" }'
}
case strings in *"$only"*) check list-of-strings strings ;; esac
report_end
