# SPDX-License-Identifier: MIT
# Functions for the scripts that build bare-metal images and run them in QEMU; to be sourced.
# CFLAGS_TARGET, from the environment, is how the model is optimised (default -O3).

board_dir=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
project_dir=$(cd "$board_dir/../.." && pwd)

# One row a CPU: name, QEMU's machine, where its counter is and its frequency in Hz, linker script,
# flags of the compiler. QEMU has no Cortex-M0+ board with room for a model; ARMv6-M code runs on
# the Cortex-M3.
cpu_table='
cortex-m0plus  mps2-an385  0x40028018  25000000  mps2.ld  -mcpu=cortex-m0plus
cortex-m3      mps2-an385  0x40028018  25000000  mps2.ld  -mcpu=cortex-m3
cortex-m4      mps2-an386  0x40028018  25000000  mps2.ld  -mcpu=cortex-m4 -mfpu=fpv4-sp-d16 -mfloat-abi=hard
cortex-m33     mps2-an521  0x50302018  20000000  an521.ld -mcpu=cortex-m33 -mfpu=fpv5-sp-d16 -mfloat-abi=hard
cortex-m55     mps3-an547  0x49302018  20000000  mps3.ld  -mcpu=cortex-m55 -mfloat-abi=hard
'

# choose_cpu NAME: sets machine, counter_address, counter_hz, linker_script and cpu_flags; status 2
# if there is no such row.
choose_cpu() {
    local name rest
    while read -r name machine counter_address counter_hz linker_script rest; do
        if [ "$name" = "$1" ] && [ -n "$name" ]; then
            read -r -a cpu_flags <<< "-mthumb $rest"
            machine_options=()
            # by default core 0 of the AN521 lacks both
            [ "$machine" != mps2-an521 ] ||
                machine_options=(-global sse-200.CPU0_DSP=on -global sse-200.CPU0_FPU=on)
            return 0
        fi
    done <<< "$cpu_table"
    echo "no such CPU: '$1'; known: $(awk 'NF { printf "%s ", $1 }' <<< "$cpu_table")" >&2
    return 2
}

# require_tools: status 77, the customary "skipped", when the Arm compiler or the emulator is missing.
require_tools() {
    local tool
    for tool in arm-none-eabi-gcc qemu-system-arm; do
        if ! command -v "$tool" > /dev/null; then
            echo "skipped: $tool is not installed"
            exit 77
        fi
    done
}

warnings=(-std=c99 -pedantic -Wall -Wextra -Wshadow -Wconversion -Werror)

# compile_target SOURCE OBJECT FLAGS...: one C file for the chosen CPU, as exact as on the host.
compile_target() {
    local source=$1 object=$2
    shift 2
    arm-none-eabi-gcc "${cpu_flags[@]}" "${warnings[@]}" -ffp-contract=off -ffunction-sections \
        -fdata-sections -I"$board_dir" -I"$project_dir/runtime" "$@" -c "$source" -o "$object"
}

# compile_model SOURCE OBJECT FLAGS...: compiles the emitted C with the requested optimisation.
compile_model() {
    local optimisation
    read -r -a optimisation <<< "${CFLAGS_TARGET:--O3}"
    compile_target "$1" "$2" "${optimisation[@]}" "${@:3}"
}

# link_image IMAGE OBJECTS...: adds the board's own code. Only libm, memcpy and the compiler's
# helpers come from libraries.
link_image() {
    local image=$1
    shift
    compile_target "$board_dir/board.c" "$image.board.o" -Os \
        -DCOUNTER_ADDRESS="$counter_address"u -DCOUNTER_HZ="$counter_hz"u
    compile_target "$board_dir/startup.c" "$image.startup.o" -Os -fno-tree-loop-distribute-patterns
    arm-none-eabi-gcc "${cpu_flags[@]}" -nostartfiles --specs=nano.specs -Wl,--gc-sections \
        -Wl,--no-warn-rwx-segments -L"$board_dir" -T "$linker_script" \
        "$image.startup.o" "$image.board.o" "$@" -lm -o "$image"
}

# run_image IMAGE: runs it with one nanosecond of virtual time per instruction; the image's text
# and exit status, or 124 after TIMEOUT seconds (default 120).
run_image() {
    timeout "${TIMEOUT:-120}" qemu-system-arm -M "$machine" "${machine_options[@]}" -icount shift=0 -nographic \
        -monitor none -serial none -semihosting-config enable=on,target=native -kernel "$1" 2>&1
}

# section_bytes OBJECT PREFIX: prints the bytes of all sections with this prefix.
section_bytes() {
    arm-none-eabi-size -A "$1" | awk -v prefix="$2" 'index($1, prefix) == 1 { sum += $2 } END { print sum + 0 }'
}

# report_sizes OBJECT: code and constants of the emitted C alone.
report_sizes() {
    echo "text bytes $(section_bytes "$1" .text)"
    echo "rodata bytes $(section_bytes "$1" .rodata)"
}
