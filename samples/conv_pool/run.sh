#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# run.sh [BUILD]: the schedules of this folder for a Cortex-M4: bytes of the arena, and where the Arm compiler and QEMU
# are installed, instructions and stack of one run. Ends with status 1 unless all give the same bits, and one pass takes
# no more instructions than nests with whole images between them.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
build=$(cd "${1:-$here/../../build}" && pwd)
source "$here/../cortex-m/firmware.sh"
choose_cpu cortex-m4
work=$build/conv_pool
declare -A instructions result

# measure NAME FILE FLAGS OPTION...: FILE.te, its main program built with FLAGS
measure() {
    mkdir -p "$work/$1"
    "$build/loopwright" "$here/$2.te" -o "$work/$1/net.c" --name net --target cortex-m4 "${@:4}"
    printf '%-14s arena %6d bytes' "$1" "$(sed -n 's/^#define NET_ARENA_SIZE *\([0-9]*\).*/\1/p' "$work/$1/net.h")"
    command -v arm-none-eabi-gcc qemu-system-arm > /dev/null || { echo; return; }
    compile_model "$work/$1/net.c" "$work/$1/net.o" -I"$work/$1"
    # shellcheck disable=SC2086
    compile_target "$here/main.c" "$work/$1/main.o" -Os $3 -I"$work/$1"
    link_image "$work/$1/net.elf" "$work/$1/main.o" "$work/$1/net.o"
    run_image "$work/$1/net.elf" > "$work/$1/run.txt"
    instructions[$1]=$(sed -n 's/^instructions //p' "$work/$1/run.txt")
    result[$1]=$(sed -n 's/^result //p' "$work/$1/run.txt")
    printf '   %9d instructions   %4d bytes of stack   code %5d bytes\n' "${instructions[$1]}" \
        "$(sed -n 's/^stack //p' "$work/$1/run.txt")" "$(section_bytes "$work/$1/net.o" .text)"
}

# agree NAME REFERENCE: the same bits, and no more instructions.
agree() {
    [ -n "${result[$1]-}" ] || return 0
    [ "${result[$1]}" = "${result[$2]}" ] || { echo "$1 and $2 give different results" >&2; exit 1; }
    [ "${instructions[$1]}" -le "${instructions[$2]}" ] || { echo "$1 takes more instructions than $2" >&2; exit 1; }
}

measure two_nests two_nests ""
measure rolling rolling ""
agree rolling two_nests
measure combined combined "" --combine all
agree combined two_nests
measure apart combined "" --combine none
measure default combined ""
agree default apart
agree combined apart
measure chain_apart chain_combined -DCHAIN --combine none
measure chain_combined chain_combined -DCHAIN --combine all
agree chain_combined chain_apart
