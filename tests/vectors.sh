#!/bin/sh
# SPDX-License-Identifier: MIT
# vectors.sh BUILD: the text for each target with instructions of its own is built with the options that its header
# names, and runs: on this processor, in qemu's user mode, or (Cortex-M) on an emulated board. `verify` builds
# --standalone files and must say that the instructions ran; without --standalone the model tests itself.
set -u
. "$(dirname "$0")/report.sh"
begin "vectors.sh BUILD" "$@"
rm -rf "${work:?}"/*

# Floats; bytes in rows and in panels.
models="samples/digits/digits.onnx tests/fuzz/corpus-tflite/conv-int8.tflite tests/golden/dense-int8/dense-int8.te"
strict="-std=c99 -pedantic -Wall -Wextra -Werror -O2 -ffp-contract=off -Iruntime"

flags_of() { sed -n 's/^ \* Compile with \(.*\)\. Other.*/\1/p' "$1" 2> /dev/null; }
# compiled MODEL TARGET COMPILER [OPTION]
compiled() {
    # In a source file, clang warns of inline functions that nothing calls, too. shellcheck disable=SC2086
    "$lw" "$1" --name m --target "$2" ${4:-} -o "$work/m.c" &&
        $3 $strict $(flags_of "$work/m.h") ${4:+-Wno-unused-function} -c "$work/m.c" -o "$work/m.o"
}
verified() {
    "$lw" verify "$1" --target "$2" --cc "$3" ${4:+--runner "$4"} > "$work/said" || return 1
    cat "$work/said"
    grep -q "^the instructions of $2 .* run as instructions" "$work/said"
}
# tests_itself MODEL TARGET COMPILER [RUNNER]
tests_itself() {
    # shellcheck disable=SC2086
    "$lw" "$1" --name m --target "$2" --selftest random -o "$work/m.c" &&
        tests/tools/selftest_main.sh m > "$work/m_main.c" &&
        $3 ${strict% -Iruntime} $(flags_of "$work/m.h") -Iruntime "$work/m.c" "$work/m_main.c" -o "$work/m" -lm &&
        ${4:-} "$work/m" > "$work/said" && grep -qx 'status 0' "$work/said"
}
# runs_here FLAGS: the processor has the instructions of all flags.
runs_here() {
    for flag in $1; do
        grep -qw "$(echo "${flag#-m}" | sed 's/sse4.1/sse4_1/; s/avx512vnni/avx512_vnni/')" /proc/cpuinfo || return 1
    done
}

case $(uname -m) in
x86_64) targets="x86 x86-avx2 x86-avx512 x86-vnni" ;;
*) targets=""; skip vectors "this processor is not x86-64" ;;
esac
for target in $targets; do
    for model in $models; do
        name=$(basename "$model")-$target
        check "compiled-$name"            compiled "$model" "$target" "$cc"
        check "compiled-standalone-$name" compiled "$model" "$target" "$cc" --standalone
        flags=$(flags_of "$work/m.h")
        if runs_here "$flags"; then
            check "verified-$name"     verified "$model" "$target" "$cc"
            check "tests-itself-$name" tests_itself "$model" "$target" "$cc"
        else
            skip "verified-$name" "this processor has not all of $flags"
        fi
    done
done

# emulated CASE TARGET COMPILER RUNNER [TOOLS]: another processor; with gcc and clang where both have its instructions.
emulated() {
    for model in $models; do
        name=$(basename "$model")-$1
        why=$(missing "${3%% *}" "${4%% *}" $5)
        if [ "$why" ]; then skip "verified-$name" "$why"; continue; fi
        check "compiled-standalone-$name" compiled "$model" "$2" "$3" --standalone
        check "verified-$name"            verified "$model" "$2" "$3" "$4"
        check "tests-itself-$name"        tests_itself "$model" "$2" "$3" "$4"
    done
}
arm="aarch64-linux-gnu-gcc -static"
clang="clang-16 -static -Wno-unused-command-line-argument"
arm_clang="$clang --target=aarch64-linux-gnu"
riscv="$clang --target=riscv64-linux-gnu -fuse-ld=lld-16"
emulated aarch64         aarch64         "$arm"       "qemu-aarch64 -cpu cortex-a72" ""
emulated aarch64-dotprod aarch64-dotprod "$arm"       "qemu-aarch64 -cpu cortex-a76" ""
emulated aarch64-i8mm    aarch64-i8mm    "$arm"       "qemu-aarch64 -cpu max" ""
emulated aarch64-clang   aarch64-i8mm    "$arm_clang" "qemu-aarch64 -cpu max" aarch64-linux-gnu-gcc
emulated armv7-neon      armv7-neon      "arm-linux-gnueabihf-gcc -static -mcpu=cortex-a7 -mfpu=neon-vfpv4" \
    "qemu-arm -cpu cortex-a7" ""
emulated rv64gcv         rv64gcv         "$riscv" \
    "qemu-riscv64 -cpu rv64,v=true,vlen=128,vext_spec=v1.0" "lld-16 riscv64-linux-gnu-gcc"
emulated rv64gcv-wide    rv64gcv         "$riscv" \
    "qemu-riscv64 -cpu rv64,v=true,vlen=256,vext_spec=v1.0" "lld-16 riscv64-linux-gnu-gcc"
for core in cortex-m4 cortex-m55; do
    board=samples/cortex-m/hosted.sh
    emulated $core $core "$board cc $core" "$board run $core" "arm-none-eabi-gcc qemu-system-arm bash"
done

# gcc 12.2 at -O2 fills an array in the red zone as if it were aligned more than its elements are.
aligned() {
    "$lw" tests/names/hostile.onnx --name m --target x86-avx512 -o "$work/m.c" &&
        grep -q '^ *LW_ALIGN(64) ' "$work/m.c" &&
        ! grep '^ *\(float\|int32_t\|int8_t\) [a-z_0-9]*\[[0-9]*\];' "$work/m.c"
}
check arrays-on-the-stack-are-aligned aligned
report_end
