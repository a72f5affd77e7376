#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# worst.sh BUILD [COUNT [MODEL...]]: the worst case that `report` states beside the most instructions that QEMU counts
# on COUNT (1000) inputs which are made to be worst, for each model on a Cortex-M4. All inputs of a model run in one
# image; the timer has one tick for 40 instructions. Status 1 if a run executes more than the worst case; 77: a tool is
# missing. OPTIONS: of the compiler. TIMEOUT: seconds for each model (900).
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
source "$here/../../samples/cortex-m/firmware.sh"
[ $# -ge 1 ] || { sed -n '3,6s/^# //p' "$0" >&2; exit 2; }
build=$(cd "$1" && pwd) count=${2:-1000}
shift $(($# < 2 ? $# : 2))
cd "$here/../.."
require_tools
choose_cpu cortex-m4
export CFLAGS_TARGET=-O2 TIMEOUT=${TIMEOUT:-900}
tiny=../shared/models/mlperf-tiny
[ $# -gt 0 ] || set -- samples/digits/digits.onnx $tiny/ad01_int8.tflite $tiny/kws_ref_model.tflite
work=$build/worst
mkdir -p "$work"
bad=0
printf '%-24s %12s %12s %12s %8s\n' model 'worst case' 'most' 'fewest' 'above'
for model in "$@"; do
    name=$(basename "${model%.*}")
    [ -f "$model" ] || { echo "skipped $name: no recorded models beside the project"; continue; }
    # shellcheck disable=SC2086
    "$build/loopwright" "$model" --target cortex-m4 --quiet --name net ${OPTIONS:-} -o "$work/net.c"
    # shellcheck disable=SC2086
    "$build/loopwright" report "$model" --target cortex-m4 --quiet ${OPTIONS:-} -o "$work/report.json" \
        --cc "arm-none-eabi-gcc ${cpu_flags[*]} -O2 --specs=nano.specs"
    stated=$(sed -n 's/^ *"worst_instructions": \([0-9]*\),*$/\1/p' "$work/report.json" | head -n 1)
    compile_model "$work/net.c" "$work/net.o" -I"$work"
    compile_target "$here/worst.c" "$work/main.o" -Os -I"$work" -DMODEL=net -DMODEL_UPPER=NET \
        -DMODEL_HEADER='"net.h"' -DCOUNT="$count"u -DSEED=20261u
    link_image "$work/net.elf" "$work/main.o" "$work/net.o"
    run_image "$work/net.elf" > "$work/said.txt" || { echo "$name: $(tail -n 1 "$work/said.txt")"; bad=1; continue; }
    fewest=$(sed -n 's/^fewest //p' "$work/said.txt") most=$(sed -n 's/^most //p' "$work/said.txt")
    printf '%-24s %12s %12s %12s %7s%%\n' "$name" "$stated" "$most" "$fewest" \
        "$(awk "BEGIN { printf \"%.1f\", 100 * ($stated - $most) / $most }")"
    # The measurement costs up to 300: a tick at each end, and the call of the function.
    [ "$most" -le $((stated + 300)) ] || { echo "$name: a run executes more than the worst case"; bad=1; }
done
exit $bad
