#!/bin/sh
# SPDX-License-Identifier: MIT
# replay.sh BUILD: the output of `dump --at scheduled`, read by --schedule, gives the same C, byte for byte: each
# network of ours and each recorded one that is beside the project, for five targets; and with all groups combined.
set -u
. "$(dirname "$0")/report.sh"
begin "replay.sh BUILD" "$@"
rm -rf "$work"/*
mkdir -p "$work/once" "$work/again"

targets="generic cortex-m0plus cortex-m4 cortex-m55 x86-avx2"

# replays MODEL TARGET COMBINE OPTION...: each group has a block; COMBINE is a value of --combine, or - for the default.
# A block of several groups excludes the option. Groups that have blocks are not combined again, and results are
# moved as without the option.
replays() {
    model=$1 target=$2 first=""
    [ "$3" = - ] || first="--combine $3"
    shift 3
    # shellcheck disable=SC2086
    "$lw" "$model" -o "$work/once/r.c" --name r --target "$target" --quiet "$@" $first &&
        "$lw" dump "$model" --at fused --name r --target "$target" --quiet "$@" $first > "$work/fused.txt" &&
        "$lw" dump "$model" --at scheduled --name r --target "$target" --quiet "$@" $first > "$work/blocks.txt" &&
        "$lw" "$model" -o "$work/again/r.c" --name r --target "$target" --quiet "$@" \
            --schedule "$work/blocks.txt" &&
        cmp "$work/once/r.c" "$work/again/r.c" && cmp "$work/once/r.h" "$work/again/r.h" || return
    groups=$(grep '^ *group ' "$work/fused.txt" | grep -v -c ' around \(if\|loop\)$')
    [ "$groups" -gt 0 ] && [ "$(grep -c '^for ' "$work/blocks.txt")" -eq "$groups" ]
}

# options_of MODEL: the sizes of those that are open.
options_of() {
    case $1 in
    *open_attention*) echo '--dim time<=16' ;;
    *open_classifier*) echo '--dim batch<=4' ;;
    *open_image*) echo '--dim 8<=width<=32 --dim 8<=height<=32' ;;
    *open_keywords*) echo '--dim 8<=time<=64' ;;
    esac
}

count=0
for model in tests/models/*.onnx samples/digits/digits.onnx ../shared/models/*/*.onnx ../shared/models/*/*.tflite; do
    [ -f "$model" ] || continue
    name=${model##*/}
    for target in $targets; do
        # shellcheck disable=SC2046
        check "replay-$name-$target" replays "$model" "$target" - $(options_of "$name")
    done
    count=$((count + 1))
done
[ "$count" -gt 20 ] || skip replay-recorded "no recorded models beside the project"
for name in lenet5 mnist8 resnet8 dscnn; do
    model=../shared/models/onnx/$name.onnx
    [ -f "$model" ] || continue
    for target in generic cortex-m4; do check "replay-combined-$name-$target" replays "$model" "$target" all; done
done
report_end
