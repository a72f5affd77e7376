#!/bin/sh
# SPDX-License-Identifier: MIT
# models.sh BUILD: recorded networks, emitted as C, built by every installed compiler, and run. BUILD contains the
# program `loopwright`; output is written to BUILD/models.
#
# For each model: emit; build by gcc and clang with all warnings as errors, by tcc, and by gcc with the address and
# undefined-behaviour sanitizers; run each program on every recorded input; compare the outputs with those that another
# implementation recorded (npydiff.c). The same for the interpreter, `loopwright run`.
# The models in `required` must compile. Others beside the project are tried; unsupported ones are reported as skipped.
set -u
root=$(cd "$(dirname "$0")/.." && pwd)
build=$(cd "${1:?usage: models.sh BUILD}" && pwd)
recorded=$root/../shared/models/onnx
quantized=$root/../shared/models/mlperf-tiny
required="lenet5 mnist8 resnet8 dscnn mobilenet_v1_025 mobilenet_v2_035 squeezenet_s ecg_cnn1d ad01 lstm dtln1"
work=$build/models
mkdir -p "$work"
log=$work/log.txt
. "$root/tests/report.sh"

strict="-std=c99 -pedantic -Wall -Wextra -Wconversion -Wshadow -Werror"
sanitize="-std=c99 -O0 -g1 -fsanitize=address,undefined -fno-sanitize-recover=all"

# compiler LABEL: the build command, one row each.
compiler() {
    case $1 in
    gcc)      echo "gcc $strict -O2" ;;
    clang)    echo "clang $strict -O2" ;;
    tcc)      echo "tcc -std=c99" ;;
    sanitize) echo "gcc $sanitize" ;;
    esac
}

# build_with LABEL NAME: BUILD/models/NAME/LABEL, the test program of the emitted model.
build_with() {
    $(compiler "$1") -I"$root/runtime" -I"$work/$2" "$work/$2/$2.c" "$work/$2/$2_main.c" -lm -o "$work/$2/$1"
}

# tolerance NAME: overrides npydiff's default. The outputs of a quantized model are on a grid; one step is accepted.
tolerance() {
    case $1 in
    kws_micro_qdq) echo 0.004 ;;
    quantized) echo 0.0248 ;;
    ad01_fp32 | pretrainedResnet | vww_96_float) echo 1e-5 ;;
    esac
}

# agree FOLDER NAME K COMMAND...: COMMAND IN... OUT... (for the interpreter `--` precedes the outputs) writes outputs
# close to the recorded ones of input set K.
agree() (
    vectors=$1/$2 name=$2 k=$3
    shift 3
    between=
    [ "${2:-}" = run ] && between=-o
    outputs=
    for want in "$vectors.out$k.npy" "$vectors.out$k".[0-9]*.npy; do
        [ -f "$want" ] && outputs="$outputs ${want##*/}"
    done
    for input in "$vectors.in$k.npy" "$vectors.in$k".[0-9]*.npy; do
        [ -f "$input" ] && set -- "$@" "$input"
    done
    for output in $outputs; do
        rm -f "$work/$name/$output"
        set -- "$@" $between "$work/$name/$output"
    done
    timeout 300 "$@" || return
    for output in $outputs; do
        # shellcheck disable=SC2046
        "$work/npydiff" "$work/$name/$output" "${vectors%/*}/$output" $(tolerance "$name") || return
    done
)

# try_inputs FOLDER NAME LABEL COMMAND...: every recorded input of the model.
try_inputs() {
    folder=$1 name=$2 label=$3
    shift 3
    for k in 0 1 2 3; do
        [ -f "$folder/$name.out$k.npy" ] || [ -f "$folder/$name.out$k.0.npy" ] || continue
        check "$name-$label-$k" agree "$folder" "$name" "$k" "$@"
    done
}

# try_model MODEL FOLDER: all tests of MODEL, with its vectors in FOLDER.
try_model() {
    model=$1 vectors_in=$2
    name=${model##*/}
    name=${name%.onnx}
    name=${name%.tflite}
    for label in gcc clang tcc sanitize; do
        command=$(compiler $label)
        if ! has "${command%% *}"; then
            skip "$name-$label" "${command%% *} is not installed"
        elif build_with $label "$name" > "$log" 2>&1; then
            pass "$name-build-$label"
            try_inputs "$vectors_in" "$name" $label "$work/$name/$label"
        else
            fail "$name-build-$label" "$(grep -c . "$log") lines of messages, these first"
            head -n 6 "$log" | cut -c 1-200 | sed 's/^/    /'
        fi
    done
    try_inputs "$vectors_in" "$name" interpreter "$build/loopwright" run "$model"
}

# emit MODEL NAME
emit() {
    mkdir -p "$work/$2"
    timeout 120 "$build/loopwright" "$1" -o "$work/$2/$2.c" --name "$2" --testbench > "$log" 2>&1
}

# combine MODEL NAME: all groups as one loop nest. Producers that cannot be attached stay at the root; none is refused.
combine() {
    mkdir -p "$work/$2/all" &&
        timeout 300 "$build/loopwright" "$1" -o "$work/$2/all/$2.c" --name "$2" --testbench --combine all &&
        gcc $strict -O2 -I"$root/runtime" -I"$work/$2/all" "$work/$2/all/$2.c" "$work/$2/all/$2_main.c" -lm \
            -o "$work/$2/combined"
}

# try_combined MODEL FOLDER NAME
try_combined() {
    if combine "$1" "$3" > "$log" 2>&1; then
        pass "$3-combined"
        try_inputs "$2" "$3" combined "$work/$3/combined"
    else
        fail "$3-combined" "$(head -n 1 "$log")"
    fi
}

setup build-npydiff ${CC:-cc} $strict -O2 "$root/tests/tools/npydiff.c" -lm -o "$work/npydiff"

# TEST_CASE also selects whole models: it contains the model's name, or is a part of it.
chosen() { case $1 in *"$only"*) return 0 ;; esac; case $only in "$1"*) return 0 ;; esac; return 1; }

# qlinear_u8, qlinear_s8, fused, heads, narrow: see tools/runtime_models.py; ml_*: tools/ml_models.py.
# quantized: the output of ONNX Runtime's static quantization: u8, weights per channel, biases in i32. It was recorded
# with ONNX Runtime's optimisations off.
for name in digits recurrent control draws lengths boxes quantized qlinear_u8 qlinear_s8 fused heads narrow \
    ml_trees ml_ensemble ml_models ml_names; do
    chosen $name || continue
    model=$root/tests/models/$name.onnx
    [ -f "$model" ] || model=$root/samples/$name/$name.onnx
    if emit "$model" "$name"; then
        pass "$name-emit"
        try_model "$model" "$root/tests/models"
    else
        fail "$name-emit" "$(head -n 1 "$log")"
    fi
done

for name in $required; do
    chosen "$name" || continue
    if [ ! -f "$recorded/$name.onnx" ]; then
        skip "$name" "no recorded models beside the project"
    elif emit "$recorded/$name.onnx" "$name"; then
        pass "$name-emit"
        try_model "$recorded/$name.onnx" "$recorded"
        try_combined "$recorded/$name.onnx" "$recorded" "$name"
    else
        fail "$name-emit" "$(head -n 1 "$log")"
    fi
done

# TFLite: int8 networks give the recorded bytes, float networks close values.
for name in ad01_int8 pretrainedResnet_quant kws_ref_model vww_96_int8 str_ww_ref_model \
    ad01_fp32 pretrainedResnet vww_96_float; do
    chosen "$name" || continue
    if [ ! -f "$quantized/$name.tflite" ]; then
        skip "$name" "no recorded models beside the project"
    elif emit "$quantized/$name.tflite" "$name"; then
        pass "$name-emit"
        try_model "$quantized/$name.tflite" "$quantized"
        try_combined "$quantized/$name.tflite" "$quantized" "$name"
        [ ! -f "$quantized/$name.layers0.npz" ] ||
            check "$name-recorded-layers" "$build/loopwright" verify "$quantized/$name.tflite" \
                "$quantized/$name.in0.npy" --recorded "$quantized/$name.layers0.npz"
    else
        fail "$name-emit" "$(head -n 1 "$log")"
    fi
done

for model in "$recorded"/*.onnx; do
    name=${model##*/}
    name=${name%.onnx}
    case " $required " in *" $name "*) continue ;; esac
    [ -f "$model" ] && chosen "$name" || continue
    if emit "$model" "$name"; then
        pass "$name-emit"
        try_model "$model" "$recorded"
    else
        echo "not supported yet $name: $(head -n 1 "$log")"
    fi
done

report_end
