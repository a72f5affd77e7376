#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# run.sh [BUILD]: the schedules of this folder for a Cortex-M4: bytes of the arena, and where the Arm compiler and QEMU are
# installed, instructions and stack of one run. Ends with status 1 unless both give the same bits, and the rolling
# buffer takes no more instructions than the whole image between two nests.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
build=$(cd "${1:-$here/../../build}" && pwd)
source "$here/../cortex-m/firmware.sh"
choose_cpu cortex-m4
work=$build/conv_pool
declare -A instructions result

measure() {
    mkdir -p "$work/$1"
    "$build/loopwright" "$here/$1.te" -o "$work/$1/net.c" --name net --target cortex-m4
    printf '%-10s arena %6d bytes' "$1" "$(sed -n 's/^#define NET_ARENA_SIZE *\([0-9]*\).*/\1/p' "$work/$1/net.h")"
    command -v arm-none-eabi-gcc qemu-system-arm > /dev/null || { echo; return; }
    compile_model "$work/$1/net.c" "$work/$1/net.o" -I"$work/$1"
    compile_target "$here/main.c" "$work/$1/main.o" -Os -I"$work/$1"
    link_image "$work/$1/net.elf" "$work/$1/main.o" "$work/$1/net.o"
    run_image "$work/$1/net.elf" > "$work/$1/run.txt"
    instructions[$1]=$(sed -n 's/^instructions //p' "$work/$1/run.txt")
    result[$1]=$(sed -n 's/^result //p' "$work/$1/run.txt")
    printf '   %9d instructions   %4d bytes of stack   code %5d bytes\n' "${instructions[$1]}" \
        "$(sed -n 's/^stack //p' "$work/$1/run.txt")" "$(section_bytes "$work/$1/net.o" .text)"
}

measure two_nests
measure rolling
[ -n "${result[rolling]-}" ] || exit 0
[ "${result[rolling]}" = "${result[two_nests]}" ] || { echo "the results differ" >&2; exit 1; }
[ "${instructions[rolling]}" -le "${instructions[two_nests]}" ] || { echo "the rolling buffer takes more instructions" >&2; exit 1; }
