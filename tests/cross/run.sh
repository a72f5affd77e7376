#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# run.sh CPU MODEL_DIR NAME IN.npy... -- OUT.npy...: builds MODEL_DIR/NAME.c, emitted with
# --name NAME, for CPU (cortex-m0plus, cortex-m3, cortex-m4, cortex-m33 or cortex-m55), runs it in QEMU on the
# inputs, and compares with the expected outputs. CFLAGS_TARGET: its optimisation (default -O3). MODEL_OBJECT: the
# object file of NAME.c, if it is compiled already. MORE_SOURCES: C files to link; MAIN_FLAGS: flags for main.c.
# Prints instructions, stack, arena, text and rodata. Status 0: they agree; 77: a tool is missing.
set -euo pipefail
source "$(dirname "$0")/../../samples/cortex-m/firmware.sh"
cross_dir=$(cd "$(dirname "$0")" && pwd)

[ $# -ge 6 ] || { sed -n '3,7s/^# //p' "$0" >&2; exit 2; }
cpu=$1
choose_cpu "$cpu"
model_dir=$2
name=$3
shift 3
require_tools

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# npy_header_bytes FILE: the offset of the data. The header's length is at byte 8, in two bytes (version 1) or four.
npy_header_bytes() {
    [ "$(head -c 6 "$1" | od -An -tx1 | tr -d ' \n')" = 934e554d5059 ] || { echo "$1: not a .npy file" >&2; exit 2; }
    local major
    major=$(od -An -tu1 -j6 -N1 "$1")
    if [ "$major" -eq 1 ]; then
        echo $(($(od -An -tu2 -j8 -N2 "$1") + 10))
    else
        echo $(($(od -An -tu4 -j8 -N4 "$1") + 12))
    fi
}

# The files' data, aligned for every C type, and the table that main.c reads.
write_vectors() {
    local file count=0 skip i
    echo '.section .rodata.cross_vectors,"a",%progbits'
    for file in "$@"; do
        [ "$file" = -- ] && continue
        skip=$(npy_header_bytes "$file")
        printf '.balign 16\nbegin_%d: .incbin "%s", %d\nend_%d:\n' "$count" "$(realpath "$file")" "$skip" "$count"
        count=$((count + 1))
    done
    printf '.balign 4\n.global cross_vector_count\ncross_vector_count: .word %d\n' "$count"
    printf '.global cross_vectors\ncross_vectors:\n'
    for ((i = 0; i < count; i++)); do
        printf '.word begin_%d, end_%d\n' "$i" "$i"
    done
}

write_vectors "$@" > "$work/vectors.s"
arm-none-eabi-gcc "${cpu_flags[@]}" -c "$work/vectors.s" -o "$work/vectors.o"

object=${MODEL_OBJECT:-$work/model.o}
[ -n "${MODEL_OBJECT:-}" ] || compile_model "$model_dir/$name.c" "$object" -I"$model_dir"
compile_target "$cross_dir/main.c" "$work/main.o" -Os -I"$model_dir" -DMODEL="$name" \
    -DMODEL_UPPER="${name^^}" -DMODEL_HEADER="\"$name.h\"" ${MAIN_FLAGS:+"$MAIN_FLAGS"}
more=()
for source in ${MORE_SOURCES:-}; do
    more+=("$work/more${#more[@]}.o")
    compile_target "$source" "${more[-1]}" -O2 -DCOUNTER_ADDRESS="$counter_address"u -DCOUNTER_HZ="$counter_hz"u
done
link_image "$work/model.elf" "$work/main.o" "$object" "$work/vectors.o" "${more[@]}"

echo "$name for $cpu on $machine"
run_image "$work/model.elf"
report_sizes "$object"
