#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# hosted.sh cc BOARD WORDS...: a compiler for --cc: builds a bare-metal image for BOARD whose files and standard output
# are the host's, by semihosting. WORDS with -c or -nostartfiles are the compiler's alone: `report` measures the model's
# code so, without the board's. hosted.sh run BOARD PROGRAM WORDS...: a runner for --runner: runs that image in QEMU.
# BOARD: stm32f405 (128 KB of RAM), or a core of firmware.sh on a board with 4 MB: cortex-m0plus, cortex-m3, cortex-m4,
# cortex-m55. CFLAGS_TARGET: flags that follow those of the command, as -O3. Paths hold no space.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/firmware.sh"

[ $# -ge 3 ] || { sed -n '3,7s/^# //p' "$0" >&2; exit 2; }
action=$1 board=$2
shift 2

# The clock of SysTick; on the boards of firmware.sh it is not the counter's.
stack=0x10000
case $board in
stm32f405)
    choose_cpu cortex-m4
    machine=netduinoplus2 linker_script=stm32f405.ld systick_hz=168000000 stack=0x4000 ;;
cortex-m55) choose_cpu "$board"; systick_hz=32000000 ;;
*) choose_cpu "$board"; systick_hz=25000000 ;;
esac

build() {
    local extra
    read -r -a extra <<< "${CFLAGS_TARGET:-}"
    case " $* " in *' -c '* | *' -nostartfiles '*) exec arm-none-eabi-gcc "${cpu_flags[@]}" "$@" "${extra[@]}" ;; esac
    arm-none-eabi-gcc "${cpu_flags[@]}" -ffunction-sections -fdata-sections -include "$board_dir/hosted.h" \
        -DSYSTICK_HZ="$systick_hz"u -I"$project_dir/runtime" -nostartfiles --specs=nosys.specs -u _printf_float \
        -Wl,--gc-sections -Wl,--no-warn-rwx-segments -Wl,--defsym=STACK_SIZE="$stack" -L"$board_dir" \
        -T "$linker_script" "$board_dir/hosted.c" "$@" "${extra[@]}"
}

# Runs with one nanosecond of virtual time per instruction. A comma in an argument is doubled.
run() {
    local words='' word
    for word in "$@"; do words="$words,arg=${word//,/,,}"; done
    timeout "${TIMEOUT:-300}" qemu-system-arm -M "$machine" -icount shift=0 -nographic -monitor none -serial none \
        -semihosting-config "enable=on,target=native$words" -kernel "$1"
}

case $action in
cc) build "$@" ;;
run) run "$@" ;;
*) echo "hosted.sh: '$action' is neither cc nor run" >&2; exit 2 ;;
esac
