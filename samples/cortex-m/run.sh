#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# run.sh DIGITS_DIR [CPU]: builds digits.c and digits.h in DIGITS_DIR (emitted from
# ../digits/digits.onnx with --name digits) as a bare-metal image for CPU (default cortex-m4), runs
# it in QEMU, and compares the predictions with those of the hosted demo built from the same
# file. Status 0: they agree; 77: a tool is missing; anything else: failed.
set -euo pipefail
source "$(dirname "$0")/firmware.sh"

[ $# -ge 1 ] || { sed -n '3,6s/^# //p' "$0" >&2; exit 2; }
digits_dir=$1
cpu=${2:-cortex-m4}
choose_cpu "$cpu"
require_tools

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

compile_model "$digits_dir/digits.c" "$work/digits.o" -I"$digits_dir"
compile_target "$board_dir/main.c" "$work/main.o" -Os -I"$digits_dir"
link_image "$work/digits.elf" "$work/main.o" "$work/digits.o"
run_image "$work/digits.elf" > "$work/target.txt" || { status=$?; cat "$work/target.txt"; exit "$status"; }

"${CC:-cc}" -std=c99 -O2 -ffp-contract=off -I"$digits_dir" -I"$project_dir/runtime" \
    "$board_dir/../digits/main.c" "$digits_dir/digits.c" -lm -o "$work/hosted"
"$work/hosted" > "$work/hosted.txt"

echo "$cpu on $machine"
cat "$work/target.txt"
report_sizes "$work/digits.o"

# "held-out digits", the number of right ones, and the digest of all predictions.
summary() {
    sed -n 's/^held-out digits *\([0-9]* of [0-9]*\) right.*predictions \([0-9a-f]*\)$/\1 \2/p' "$1"
}
hosted=$(summary "$work/hosted.txt")
target=$(summary "$work/target.txt")
if [ -z "$target" ] || [ "$target" != "$hosted" ]; then
    echo "predictions differ: '$target' here, '$hosted' on the host" >&2
    exit 1
fi
echo "same predictions as on the host"
