#!/bin/sh
# SPDX-License-Identifier: MIT
# run.sh [BUILD]: builds main.c with the library, compiles the models of this folder with it for two targets, builds the
# emitted C and compares. Status 1 if a result differs from README.md.
. "$(dirname "$0")/../prepare.sh"
build_main

for target in generic tiny-core; do
    "$work/main" compile "$here/net.te" "$work/net.c" $target
    $cc -std=c99 -pedantic -Wall -Wextra -Werror -ffp-contract=off -I"$work" -I"$root/runtime" "$here/check.c" \
        "$work/net.c" -lm -o "$work/check"
    "$work/check"
    "$work/main" verify "$here/net.te" $target > "$work/verify"
    "$work/main" verify "$here/energy.onnx" $target >> "$work/verify"
done
"$work/main" compile "$here/open.te" "$work/open.c" tiny-core
"$work/main" verify "$here/open.te" tiny-core >> "$work/verify"       # sizes of both versions
"$work/main" compile "$here/device.te" "$work/device.c" generic
"$work/main" verify "$here/device.te" generic >> "$work/verify"
"$work/main" check energy 'f32[6][16]' > "$work/check.txt"
"$work/main" strategy "$here/net.te" generic > "$work/generic.txt"
"$work/main" strategy "$here/net.te" tiny-core > "$work/tiny.txt"
"$work/main" strategy "$here/open.te" tiny-core > "$work/open.txt"
has() { grep -q -e "$2" "$work/$1" || { echo "$1: no line '$2'" >&2; cat "$work/$1" >&2; exit 1; }; }
has generic.txt 'chosen: mirror.schedule'
has generic.txt 'chosen: contraction.tiled'
has tiny.txt    'chosen: energy.by_four: the highest plevel'
has tiny.txt    'energy.plain  *tiny-core  *plevel 12  applies'
has check.txt   '^energy.by_four  *tiny-core  *largest difference 0.0'
has check.txt   '^energy.halves  *tiny-core  *largest difference'
has open.txt    'energy.by_four .* applies where dim(x, 1) % 4 == 0'
has open.txt    'two versions: the condition n % 4 == 0'
has open.txt    'chosen: energy.halves'
has open.txt    'chosen: energy.plain'
has open.c      'if (.*n.*4\|if (.*n.*3'
has device.h    'int net_cnn_conv_block_1(void .arena, const float .x, const float .k, float .p)'
