#!/bin/sh
# SPDX-License-Identifier: MIT
# simd.sh BUILD: every header of runtime/simd, built with each installed compiler without a warning, is run on edge
# values and compared with the formulas of its names. If the processor lacks the instructions, the header is a named
# skip.
set -u
. "$(dirname "$0")/report.sh"
begin "simd.sh BUILD" "$@"

strict="-std=c99 -pedantic -Wall -Wextra -Wconversion -Wshadow -Werror"

# has_instructions WORD...: true if the processor lists all of them.
has_instructions() {
    for word in "$@"; do grep -m 1 '^flags' /proc/cpuinfo 2> /dev/null | grep -qw "$word" || return 1; done
}

# vectors COMPILER HEADER FLAG...: builds with the flags; the program must report that it uses the header.
vectors() {
    compiler=$1 header=$2
    shift 2
    program=$work/$header-$compiler
    "$compiler" "$@" -Iruntime -Itests/simd -o "$program" tests/simd/simd_test.c -lm && "$program" || return 1
    "$program" | grep -q "^registers: $header"
}

# clips COMPILER FLAG...: a clip to two constants needs no selection where an operand is NaN.
clips() {
    compiler=$1
    shift
    printf '%s\n' '#include "simd/simd.h"' 'lw_f32x8 clip(lw_f32x8 a);' \
        'lw_f32x8 clip(lw_f32x8 a) { return lw_f32x8_min(lw_f32x8_max(a, lw_f32x8_broadcast(0.0f)),' \
        '                                                lw_f32x8_broadcast(6.0f)); }' > "$work/clip.c"
    "$compiler" "$@" -Iruntime -S -o "$work/clip.s" "$work/clip.c" && grep -q vminps "$work/clip.s" &&
        ! grep -q vblendv "$work/clip.s"
}

for compiler in gcc clang tcc; do
    if ! has $compiler; then skip "simd-$compiler" "$compiler is not installed"; continue; fi
    case $compiler in
    tcc) check simd-scalar-tcc vectors tcc none -std=c99; continue ;;
    esac
    check "simd-scalar-$compiler" vectors $compiler none $strict -O2 -ffp-contract=off
    for row in "sse4 sse4_1 -msse4.1" "avx2 avx2 -mavx2 -mfma" "avx512 avx512f -mavx512f -mavx2 -mfma"; do
        set -- $row
        header=$1 word=$2
        shift 2
        if ! has_instructions "$word"; then skip "simd-$header-$compiler" "this processor has no $word"; continue; fi
        check "simd-$header-$compiler" vectors $compiler $header $strict -O2 -ffp-contract=off "$@"
    done
    check "simd-avx2-clip-$compiler" clips $compiler -std=c99 -O2 -mavx2 -mfma
    check "simd-overruled-$compiler" vectors $compiler none $strict -O2 -ffp-contract=off -msse4.1 -DLW_SIMD_SSE4=0
done

# ---- Emitted vectors -------------------------------------------------------------------------------------------------
# The products of samples/matmul, with small sizes, are one text for all compilers. In registers and through scalar.h
# they give the bits of a plain loop of fma.

small=64

# same_bits FILE TARGET: without fused multiply-adds the emitted C has the bits of the reference, which rounds products
# and sums apart.
same_bits() {
    "$build/loopwright" verify "$1" --target "$2" --float separate | grep ' 0 of [0-9]* elements differ$'
}

# emit NAME OPTION...: samples/matmul/NAME.te with sizes of 64 instead of 512, in BUILD/simd/NAME.
emit() {
    name=$1
    shift
    mkdir -p "$work/$name"
    sed "s/512/$small/g" "samples/matmul/$name.te" > "$work/$name/matmul.te"
    "$build/loopwright" "$work/$name/matmul.te" --target "x86-$name" -o "$work/$name/matmul.c" "$@"
}

# product NAME COMPILER FLAG...: builds and runs; the first program's result is the reference of the others.
product() {
    name=$1 compiler=$2
    shift 2
    "$compiler" "$@" -DN=$small -Iruntime -I"$work/$name" -o "$work/$name/product" tests/simd/product.c \
        "$work/$name/matmul.c" -lm &&
        "$work/$name/product" exactly > "$work/$name/hash" || return 1
    [ -f "$work/$name/expected" ] || cp "$work/$name/hash" "$work/$name/expected"
    cmp "$work/$name/hash" "$work/$name/expected"
}

for name in avx2 avx512; do
    rm -rf "${work:?}/$name"
    setup "simd-emit-$name" emit $name
    for compiler in gcc clang; do
        has $compiler || continue
        flags="-mavx2 -mfma" word=avx2
        [ $name = avx2 ] || { flags="-mavx512f -mavx2 -mfma" word=avx512f; }
        if has_instructions $word; then check "simd-product-$name-$compiler" product $name $compiler $strict -O3 $flags
        else skip "simd-product-$name-$compiler" "this processor has no $word"; fi
        check "simd-product-$name-scalar-$compiler" product $name $compiler $strict -O2 -ffp-contract=off
    done
    if has tcc; then check "simd-product-$name-scalar-tcc" product $name tcc -std=c99
    else skip "simd-product-$name-scalar-tcc" "tcc is not installed"; fi
    setup "simd-emit-standalone-$name" emit $name --standalone
    check "simd-product-$name-standalone" product $name ${CC:-cc} $strict -O2 -ffp-contract=off
    check "simd-same-bits-$name" same_bits "$work/$name/matmul.te" "x86-$name"
    check "simd-verify-$name" "$build/loopwright" verify "$work/$name/matmul.te" --target "x86-$name"
done

# ---- AArch64 ---------------------------------------------------------------------------------------------------------
# A cross compiler, and QEMU's user mode, whose core has every extension: names, rows, and a product with the bits of
# this machine.

# on_arm SOURCES ARGUMENTS FLAG...: builds with $arm_cc and runs.
arm_cc=
on_arm() {
    sources=$1 arguments=$2
    shift 2
    $arm_cc "$@" -static -Iruntime -o "$work/on_arm" $sources -lm && qemu-aarch64 "$work/on_arm" $arguments
}
arm_vectors() {
    on_arm tests/simd/simd_test.c "" "$@" > "$work/neon.txt" && grep -q '^registers: neon' "$work/neon.txt"
}
arm_product() {
    on_arm "tests/simd/product.c $work/neon/matmul.c" exactly -DN=$small "-I$work/neon" "$@" > "$work/neon/arm" &&
        cmp "$work/neon/arm" "$work/neon/expected"
}

rm -rf "${work:?}/neon"
mkdir -p "$work/neon"
sed "s/256/$small/g; /^schedule/,\$d" samples/matmul/matmul.te > "$work/neon/matmul.te"
setup simd-emit-neon "$build/loopwright" "$work/neon/matmul.te" --target aarch64 -o "$work/neon/matmul.c"
check simd-product-neon-scalar product neon ${CC:-cc} $strict -O2 -ffp-contract=off
for row in "gcc aarch64-linux-gnu-gcc" "clang clang-16 --target=aarch64-linux-gnu"; do
    set -- $row
    compiler=$1
    shift
    arm_cc="$*"
    for part in vectors rows product; do
        if [ "$(missing qemu-aarch64 aarch64-linux-gnu-gcc "$1")" ]; then
            skip "simd-neon-$part-$compiler" "$(missing qemu-aarch64 aarch64-linux-gnu-gcc "$1")"
            continue
        fi
        case $part in
        vectors) check "simd-neon-$part-$compiler" arm_vectors $strict -O2 -ffp-contract=off ;;
        rows)    check "simd-neon-$part-$compiler" on_arm tests/simd/rows_test.c "" $strict -O2 "-I$build/rows" ;;
        product) check "simd-neon-$part-$compiler" arm_product $strict -O2 -ffp-contract=off ;;
        esac
    done
done

# Rows of bytes in the scalar form, and with the instructions of this processor; tests/cross runs them on emulated cores
# with instructions for them. Without AVX-512 VNNI only the forms before it run.
rows() { "$@" -Iruntime -I"$build/rows" -o "$work/rows" tests/simd/rows_test.c -lm && "$work/rows"; }
for compiler in gcc clang; do
    if has $compiler; then check "rows-scalar-$compiler" rows $compiler $strict -O2
    else skip "rows-scalar-$compiler" "$compiler is not installed"; fi
    for row in "sse4 sse4_1 -msse4.1" "avx2 avx2 -mavx2 -mfma" \
        "vnni avx512_vnni -mavx2 -mfma -mavx512vl -mavx512vnni"; do
        set -- $row
        form=$1 word=$2
        shift 2
        if ! has $compiler; then skip "rows-$form-$compiler" "$compiler is not installed"
        elif ! has_instructions "$word"; then skip "rows-$form-$compiler" "this processor has no $word"
        else check "rows-$form-$compiler" rows $compiler $strict -O2 "$@"; fi
    done
done

# 8-bit networks, emitted for x86, return the recorded bytes, with the instructions and in the portable form.
tiny=../shared/models/mlperf-tiny

# network TARGET MODEL FLAG...
network() {
    folder=$work/$1-$2 target=$1 model=$2
    shift 2
    mkdir -p "$folder"
    "$build/loopwright" $tiny/$model.tflite --target "$target" -o "$folder/m.c" --name m --quiet &&
        ${CC:-cc} -std=gnu99 -O2 "$@" -Iruntime -I"$folder" -DIN="\"$tiny/$model.in0.npy\"" \
            -DOUT="\"$tiny/$model.out0.npy\"" \
            -o "$folder/main" tests/emulated/main.c "$folder/m.c" -lm && "$folder/main"
}
for row in "x86 sse4_1 -msse4.1" "x86-avx2 avx2 -mavx2 -mfma" \
    "x86-vnni avx512_vnni -mavx2 -mfma -mavx512vl -mavx512bw -mavx512vnni"; do
    set -- $row
    target=$1 word=$2
    shift 2
    for model in ad01_int8 kws_ref_model pretrainedResnet_quant; do
        if [ ! -f $tiny/$model.tflite ]; then
            skip "network-$target-$model" "no recorded models beside the project"
            continue
        fi
        if has_instructions "$word"; then check "network-$target-$model" network "$target" $model "$@"
        else skip "network-$target-$model" "this processor has no $word"; fi
        check "network-$target-$model-portable" network "$target" $model
    done
done

# Sums of panels that no instruction scales are scaled in loops, which the C compiler vectorizes: a line for each layer.
scaled_in_loops() {
    "$build/loopwright" tests/models/quantized.onnx --target x86-avx2 -o "$work/scaled.c" --quiet || return 1
    lines=$(grep -c 'lw_sat_i8(' "$work/scaled.c") panels=$(grep -c '^ *LW_PANEL4*_I16(' "$work/scaled.c")
    [ "$panels" -gt 0 ] && [ "$lines" -le $((panels * 5)) ] ||
        { echo "$lines lines scale the sums of $panels panels"; return 1; }
}
check scales-of-panels-are-loops scaled_in_loops

# Option --standalone copies the pieces of the runtime that the program names. Therefore each macro for emitted code is
# a separate piece, which lists the pieces that define it or its LW_ROWS_ form.
all_named() {
    awk '/^\/\* lw: .* needs/ { piece = $3 }
         /^ *#define LW_[A-Z0-9_]*_[IU][0-9]*\(/ {
             sub(/\(.*/, "", $2)
             sub(/^LW_ROWS_/, "LW_", $2)
             print $2, piece
         }' runtime/simd/*.h | sort -u | while read -r macro piece; do
        [ "$macro" = "$piece" ] || grep "^/\* lw: $macro needs " runtime/simd/rows.h | grep -qw "$piece" ||
            { echo "$macro does not ask for $piece"; exit 1; }
    done
}
check rows-pieces all_named

report_end
