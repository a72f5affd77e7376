#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# all.sh BUILD: every test that requires the Arm compiler and the emulator. BUILD contains the program
# `loopwright`; emitted files are written to BUILD/cross. Prints `ok NAME`, `not ok NAME` or
# `skip NAME: why` for each and ends with `N passed, N failed, N skipped`; status 1 if any failed.
# Recorded models are tested if they are beside the project.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
source "$here/../../samples/cortex-m/firmware.sh"
build=$(cd "${1:?usage: all.sh BUILD}" && pwd)
models=$project_dir/../shared/models/onnx
tiny=$project_dir/../shared/models/mlperf-tiny
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

passed=0 failed=0 skipped=0

# check NAME COMMAND...: passes if the command ends with 0; 77 means skipped. Its output is kept in
# BUILD/cross/NAME.txt, and shown if it fails. TEST_CASE selects cases by a part of the name.
check() {
    local name=$1 log=$build/cross/$1.txt status=0
    shift
    [[ $name == *"${TEST_CASE:-}"* ]] || return 0
    "$@" > "$log" 2>&1 || status=$?
    case $status in
    0)  echo "ok $name"; passed=$((passed + 1)) ;;
    77) echo "skip $name: $(sed 's/^skipped: //' "$log" | tail -n 1)"; skipped=$((skipped + 1)) ;;
    *)  echo "not ok $name: status $status"; sed 's/^/    /' "$log"; failed=$((failed + 1)) ;;
    esac
}

# expect TEXT COMMAND...: passes if the command fails and prints TEXT.
expect() {
    local text=$1 log=$work/expect.txt status=0
    shift
    "$@" > "$log" 2>&1 || status=$?
    cat "$log"
    [ "$status" -eq 77 ] && return 77
    [ "$status" -ne 0 ] && grep -aq "$text" "$log" || { echo "status $status, no '$text'"; return 1; }
}

# board_case CPU CASE: builds and runs one case of board_test.c.
board_case() (
    require_tools
    choose_cpu "$1" &&
        compile_target "$here/board_test.c" "$work/test.o" -O1 -DBOARD_CASE="$2" &&
        link_image "$work/test.elf" "$work/test.o" &&
        run_image "$work/test.elf"
)

# emit MODEL NAME: MODEL compiled to BUILD/cross/NAME/NAME.c.
emit() {
    mkdir -p "$build/cross/$2"
    "$build/loopwright" "$1" -o "$build/cross/$2/$2.c" --name "$2"
}

# recorded CPU MODEL: a recorded model against its first recorded output.
recorded() {
    emit "$models/$2.onnx" "$2" &&
        "$here/run.sh" "$1" "$build/cross/$2" "$2" "$models/$2.in0.npy" -- "$models/$2.out0.npy"
}

# quantized CPU MODEL [OPTION]: an int8 model emitted for the core, against its first recorded output, byte by byte.
quantized() {
    local folder=$build/cross/$1-$2${3:-}
    mkdir -p "$folder" &&
        "$build/loopwright" "$tiny/$2.tflite" --target "$1" -o "$folder/$2.c" --name "$2" ${3:+"$3"} &&
        "$here/run.sh" "$1" "$folder" "$2" "$tiny/$2.in0.npy" -- "$tiny/$2.out0.npy"
}

# no_float MODEL: on a core without a float unit, the int8 model's code calls no helper for floats.
no_float() (
    require_tools
    choose_cpu cortex-m0plus
    compile_model "$build/cross/cortex-m0plus-$1/$1.c" "$work/no_float.o" -I"$build/cross/cortex-m0plus-$1"
    ! arm-none-eabi-nm -u "$work/no_float.o" |
        grep -E '__aeabi_([fd]|u?[il]2[fd]|ul2[fd])|__(add|sub|mul|div|fix|float)[a-z]*[sd]f'
)

# text_at_most BYTES MODEL: the code of a recorded model on the Cortex-M4 at -Os.
text_at_most() {
    local log=$work/text.txt text status=0
    CFLAGS_TARGET=-Os recorded cortex-m4 "$2" > "$log" 2>&1 || status=$?
    cat "$log"
    [ "$status" -eq 0 ] || return "$status"
    text=$(sed -n 's/^text bytes //p' "$log")
    [ "$text" -le "$1" ] || { echo "text is $text bytes, at most $1 wanted"; return 1; }
}

# per_mac_at_most HUNDREDTHS MODEL: instructions for a multiply-add, as `loopwright report` counts them, of a recorded
# model emitted for the Cortex-M4, at -O3.
per_mac_at_most() {
    local log=$work/per_mac.txt folder=$build/cross/cortex-m4-$2 status=0 count macs
    mkdir -p "$folder"
    "$build/loopwright" "$models/$2.onnx" --target cortex-m4 -o "$folder/$2.c" --name "$2" || return
    CFLAGS_TARGET=-O3 "$here/run.sh" cortex-m4 "$folder" "$2" "$models/$2.in0.npy" -- "$models/$2.out0.npy" \
        > "$log" 2>&1 || status=$?
    cat "$log"
    [ "$status" -eq 0 ] || return "$status"
    count=$(sed -n 's/^instructions:* //p' "$log")
    macs=$("$build/loopwright" report "$models/$2.onnx" | sed -n 's/^multiply-adds *//p')
    [ "$((100 * count / macs))" -lt "$1" ] ||
        { echo "$count instructions for $macs multiply-adds, at most $1 for 100 wanted"; return 1; }
}

# edited MODEL GROUP AFTER STEP...: the block of the group with more steps behind the line AFTER, in
# BUILD/cross/edited.txt.
edited() {
    local model=$1 group=$2 after=$3
    shift 3
    "$build/loopwright" dump "$model" --at scheduled --target cortex-m4 --only "$group" > "$work/block.txt" || return
    awk -v after="  $after" -v steps="$(printf '  %s\n' "$@")" '{ print } $0 == after { print steps }' \
        "$work/block.txt" > "$build/cross/edited.txt"
}

# schedule_improves THOUSANDTHS FOLDER MODEL NAME COMMAND...: COMMAND prints `instructions ... N` of the model that is
# emitted to BUILD/cross/FOLDER; with the schedule of edited.txt they are fewer by THOUSANDTHS or more.
schedule_improves() {
    local least=$1 folder=$build/cross/$2 model=$3 name=$4 without with status=0
    shift 4
    mkdir -p "$folder"
    "$build/loopwright" "$model" --target cortex-m4 -o "$folder/$name.c" --name "$name" || return
    CFLAGS_TARGET=-O2 "$@" > "$work/without.txt" 2>&1 || status=$?
    cat "$work/without.txt"
    [ "$status" -eq 0 ] || return "$status"
    "$build/loopwright" "$model" --target cortex-m4 -o "$folder/$name.c" --name "$name" \
        --schedule "$build/cross/edited.txt" &&
        CFLAGS_TARGET=-O2 "$@" > "$work/with.txt" 2>&1 || { cat "$work/with.txt"; return 1; }
    without=$(sed -n 's/^instructions.* \([0-9]*\)$/\1/p' "$work/without.txt" | head -n 1)
    with=$(sed -n 's/^instructions.* \([0-9]*\)$/\1/p' "$work/with.txt" | head -n 1)
    echo "$without without the schedule, $with with it"
    [ "$((1000 * (without - with)))" -ge "$((least * without))" ]
}

# small MODEL OPTIMISATION TEXT STACK: the int8 model's code and stack on the Cortex-M4, in bytes at most.
small() {
    local log=$work/small.txt status=0
    CFLAGS_TARGET=$2 quantized cortex-m4 "$1" > "$log" 2>&1 || status=$?
    cat "$log"
    [ "$status" -eq 0 ] || return "$status"
    [ "$(sed -n 's/^text bytes //p' "$log")" -le "$3" ] && [ "$(sed -n 's/^stack bytes //p' "$log")" -le "$4" ] ||
        { echo "text of at most $3 bytes and a stack of at most $4 are wanted"; return 1; }
}

# rows CPU OPTIMISATION: the macros of runtime/simd/rows.h in the core's instructions, against their formulas.
rows() (
    require_tools
    choose_cpu "$1" &&
        compile_target "$here/../simd/rows_test.c" "$work/rows.o" "$2" -I"$build/rows" &&
        link_image "$work/rows.elf" "$work/rows.o" &&
        run_image "$work/rows.elf"
)

digits=$project_dir/samples/digits/digits.onnx
mkdir -p "$build/cross"

for cpu in cortex-m0plus cortex-m3 cortex-m4 cortex-m55; do
    check "board-count-$cpu" board_case "$cpu" CASE_COUNT
    check "board-stack-$cpu" board_case "$cpu" CASE_STACK
    check "board-data-$cpu" board_case "$cpu" CASE_DATA
done
for cpu in cortex-m0plus cortex-m3 cortex-m4 cortex-m55; do
    check "rows-$cpu" rows "$cpu" -O2
    check "rows-plain-$cpu" rows "$cpu" -O0
done
check board-unaligned-faults-cortex-m0plus expect 'fault, status register 01000000' \
    board_case cortex-m0plus CASE_UNALIGNED

emit "$digits" digits
for cpu in cortex-m0plus cortex-m3 cortex-m4 cortex-m55; do
    check "digits-$cpu" "$project_dir/samples/cortex-m/run.sh" "$build/cross/digits" "$cpu"
done

edited "$digits" conv_4 'unroll conv2d@init.w' 'unroll conv2d.j'
check schedule-improves-digits schedule_improves 40 edited-digits "$digits" digits \
    "$project_dir/samples/cortex-m/run.sh" "$build/cross/edited-digits" cortex-m4

conv_pool() ( require_tools && "$project_dir/samples/conv_pool/run.sh" "$build" )
check conv-pool-one-pass-is-no-dearer conv_pool
check personalize "$project_dir"/samples/personalize/run.sh "$build" cortex-m4

if [ -d "$models" ]; then
    for model in lenet5 mnist8 resnet8 dscnn mobilenet_v1_025 mobilenet_v2_035 squeezenet_s ecg_cnn1d ad01 lstm; do
        check "$model-cortex-m4" recorded cortex-m4 "$model"
    done
    for model in lenet5 dscnn resnet8 mobilenet_v1_025 ecg_cnn1d lstm; do
        check "$model-at-most-4-instructions-per-multiply-add" per_mac_at_most 400 "$model"
    done
    resnet8=$models/resnet8
    edited "$resnet8.onnx" Conv_1 'unroll conv2d@init.w' 'unroll conv2d.c' 'unroll conv2d.j'
    check schedule-improves-resnet8 schedule_improves 4 edited-resnet8 "$resnet8.onnx" resnet8 "$here/run.sh" \
        cortex-m4 "$build/cross/edited-resnet8" resnet8 "$resnet8.in0.npy" -- "$resnet8.out0.npy"
    for cpu in cortex-m0plus cortex-m55; do
        check "lenet5-$cpu" recorded "$cpu" lenet5
    done
    emit "$models/lenet5.onnx" lenet5
    check wrong-output-is-seen expect ': differing' "$here/run.sh" cortex-m4 "$build/cross/lenet5" lenet5 \
        "$models/lenet5.in0.npy" -- "$models/lenet5.out1.npy"
    check wrong-file-is-seen expect 'wrong size of the file' "$here/run.sh" cortex-m4 "$build/cross/lenet5" lenet5 \
        "$models/lenet5.out0.npy" -- "$models/lenet5.out0.npy"
    for model in ad01_int8 kws_ref_model pretrainedResnet_quant str_ww_ref_model vww_96_int8; do
        for cpu in cortex-m0plus cortex-m3 cortex-m4 cortex-m55; do
            check "$model-$cpu" quantized "$cpu" "$model"
        done
        check "$model-no-float" no_float "$model"
        check "$model-small-at-O3" small "$model" -O3 25000 1024
        check "$model-small-at-Os" small "$model" -Os 15000 1024
    done
    for cpu in cortex-m4 cortex-m55; do
        check "kws_ref_model-standalone-$cpu" quantized "$cpu" kws_ref_model --standalone
    done
    check resnet8-text-at-most-10000 text_at_most 10000 resnet8
else
    echo "skip cross-models: no recorded models beside the project"
    skipped=$((skipped + 1))
fi

echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
