#!/bin/sh
# SPDX-License-Identifier: MIT
# selftest.sh BUILD: --selftest: NAME_selftest returns 0 on the emitted code, and the number of the layer whose weights
# are damaged in the built object.
set -u
. "$(dirname "$0")/report.sh"
begin "selftest.sh BUILD" "$@"
rm -rf "$work"/*
digits=samples/digits/digits.onnx
strict="-std=c99 -O2 -ffp-contract=off -Wall -Wextra -Wconversion -Wshadow -Wcast-qual -Wundef -pedantic -Werror"

cat > "$work/main.c" <<'C'
#include <stdio.h>
#include "net.h"
#ifndef NO_ARENA
static NET_ARENA(arena);
#define ARENA_ARGUMENT arena,
#else
#define ARENA_ARGUMENT
#endif
#define ARRAY(name, type, count) static type out_##name[(count) + !(count)];
NET_OUTPUTS(ARRAY)
#define POINTER(name, type, count) out_##name,
#ifdef NET_SIZES
#define SIZE(name, least, greatest) static int32_t size_##name;
NET_SIZES(SIZE)
#define SIZE_POINTER(name, least, greatest) &size_##name,
#else
#define NET_SIZES(X)
#endif
#ifdef HAS_STATE
static struct net_state state;
#define STATE_ARGUMENT &state,
#else
#define STATE_ARGUMENT
#endif
int main(void)
{
    const struct net_outputs out = { NET_OUTPUTS(POINTER) NET_SIZES(SIZE_POINTER) };
    const int first = net_selftest(ARENA_ARGUMENT STATE_ARGUMENT &out);
    if (first != net_selftest(ARENA_ARGUMENT STATE_ARGUMENT &out)) return 1;
    printf("selftest %d\n", first);
    return 0;
}
C

# emit MODEL OPTION...: writes net.c and net.h.
emit() { "$lw" "$@" --name net --standalone --quiet -o "$work/net.c"; }
# gives NUMBER FLAG...: the program of main.c and net.o prints that number.
gives() {
    number=$1
    shift
    "$cc" -std=c99 -I"$work" "$@" "$work/main.c" "$work/net.o" -o "$work/program" -lm &&
        "$work/program" > "$work/said" &&
        cat "$work/said" && grep -qx "selftest $number" "$work/said"
}
# passes FLAGS MODEL OPTION...: the self-test of the emitted code, twice, without a warning of the compiler.
passes() {
    flags=$1
    shift
    emit "$@" && "$cc" $strict -c "$work/net.c" -o "$work/net.o" && gives 0 $flags
}

# 64 floats
{
    printf '\223NUMPY\001\000\166\000%-117s\n' "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 1, 8, 8), }"
    i=0
    while [ $((i += 1)) -le 64 ]; do printf '\000\000\200\077'; done
} > "$work/digit.npy"
check digits-on-generated-input   passes "" $digits --selftest random
check digits-on-a-file            passes "" $digits --selftest "$work/digit.npy"
check digits-fused-multiply-adds  passes "" $digits --selftest random --target x86-avx2
check digits-cortex-m4            passes "" $digits --selftest random --target cortex-m4
check digits-ports-in-arena       passes "" $digits --selftest random --io arena
check digits-static-arena         passes "-DNO_ARENA" $digits --selftest random --static-arena
check digits-profile              passes "" $digits --selftest random --profile
check branches-and-loops          passes "" tests/models/control.onnx --selftest random
check eight-bits                  passes "" tests/models/quantized.onnx --selftest random
check state-begins-anew           passes -DHAS_STATE tests/emitted/filter.te --selftest random --state level=new_level \
    --state last=new_last

# Operands of a concatenation are slices of its result, in rows with gaps.
printf 'input x: f32[1][4][4][3]\na = relu(x)\nb = sigmoid(x)\nc = concat(a, b, axis=3)\ny = tanh(c)\noutput y\n' \
    > "$work/slices.te"
setup slices-pass                  passes "" "$work/slices.te" --selftest random --optimize speed
check slices-have-rows            grep -q '0x[0-9a-f]*u, 16u, 12u, 24u }' "$work/net.c"

# ---- Damage ----------------------------------------------------------------------------------------------------------

# offset_of SYMBOL: its position in the file net.o.
offset_of() {
    section=$(objdump -h "$work/net.o" | awk '$2 == ".rodata" { print $6 }')
    address=$(nm "$work/net.o" | awk -v symbol="$1" '$3 == symbol { print $1 }')
    [ -n "$section" ] && [ -n "$address" ] && echo $((0x$section + 0x$address))
}
# names_layer LAYER SYMBOL BYTE: with the top bits of that byte of the constant inverted, the self-test returns the
# number that model.c gives the layer; with the byte restored, 0.
names_layer() {
    number=$(sed -n "s|.*/\* \([0-9]*\): $1 \*/|\1|p" "$work/net.c") at=$(($(offset_of "$2") + $3)) || return 1
    [ -n "$number" ] || { echo "no layer $1"; return 1; }
    byte=$(od -An -tu1 -j "$at" -N 1 "$work/net.o" | tr -d ' ')
    put() { printf "\\$(printf %03o "$1")" | dd of="$work/net.o" bs=1 seek="$at" conv=notrunc 2> /dev/null; }
    put $((byte ^ 0x60)) && gives "$number" && put "$byte" && gives 0
}
if has objdump && has nm && [ "$(uname -s)" = Linux ]; then
    setup build-digits passes "" $digits --selftest random
    check damage-in-the-first-layer  names_layer conv_1 net_conv_1_k 3
    check damage-before-a-fused-pool names_layer maxpool_1 net_maxpool_1_k 7
    check damage-in-the-middle       names_layer conv_4 net_conv_4_k 15
    check damage-in-the-last-layer   names_layer gemm_1 net_gemm_1_w 3
    check damage-in-a-bias           names_layer gemm_1 net_gemm_1_b 3
else skip damage "$(missing objdump nm)"; fi

# ---- On the board ----------------------------------------------------------------------------------------------------

on_board() {
    emit $digits --selftest random --target cortex-m4 &&
        samples/cortex-m/hosted.sh cc stm32f405 -std=c99 -O2 -ffp-contract=off -I"$work" "$work/main.c" "$work/net.c" \
            -o "$work/image" -lm &&
        samples/cortex-m/hosted.sh run stm32f405 "$work/image" | grep -qx 'selftest 0'
}

# The program that samples/cortex-m/README.md shows prints the same scores on the board as on the host.
program_of_the_page() {
    sed -n '/^#include <stdio.h>/,/^```/p' samples/cortex-m/README.md | sed '$d' > "$work/classify.c"
    set -- -std=c99 -O2 -ffp-contract=off -Iruntime -I"$work" "$work/classify.c" "$work/digits.c" -o
    "$lw" quantize $digits --samples samples/digits/calibration.npy --target cortex-m4 --name digits \
        -o "$work/digits.c" &&
        "$cc" "$@" "$work/classify" && samples/cortex-m/hosted.sh cc cortex-m4 "$@" "$work/classify.elf" &&
        "$work/classify" > "$work/expected" &&
        samples/cortex-m/hosted.sh run cortex-m4 "$work/classify.elf" > "$work/got" &&
        [ "$(wc -l < "$work/got")" -eq 10 ] && cmp "$work/expected" "$work/got"
}

if has arm-none-eabi-gcc && has qemu-system-arm; then
    check on-stm32f405 on_board
    check program-of-the-page program_of_the_page
else
    for case in on-stm32f405 program-of-the-page; do skip $case "$(missing arm-none-eabi-gcc qemu-system-arm)"; done
fi

# ---- Refusals --------------------------------------------------------------------------------------------------------

# refuses WORDS ARGUMENT...
refuses() {
    words=$1
    shift
    ! emit "$@" > "$work/said" 2>&1 && cat "$work/said" && grep -q -e "$words" "$work/said"
}
check refuses-training   refuses '^error: --train and --selftest exclude each other' \
    $digits --selftest random --train 'loss=cross_entropy optimizer=sgd(rate=0.01) update=last'
check refuses-two-files  refuses '2 files are given; pass one .npy file for each input: input' \
    $digits --selftest "$work/digit.npy" --selftest "$work/digit.npy"
check refuses-open-sizes refuses 'symbolic size' tests/golden/specialize/specialize.te --selftest random
check refuses-no-file    refuses 'none.npy' $digits --selftest none.npy

report_end
