#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# run.sh [BUILD [host|cortex-m4|cortex-m55]]: emits the keyword network of ../../../shared/models/kws with two training
# steps, the last layer by plain SGD and all layers by Adam, and adapts it to the new speaker: on this host in five
# orders of the samples, or on a core that QEMU emulates, in the order of the file. Status 1: the accuracy or the RAM
# misses its limit; 77: the data or a tool is missing.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
source "$here/../cortex-m/firmware.sh"
build=$(cd "${1:-$project_dir/build}" && pwd)
cpu=${2:-host}
data=$project_dir/../shared/models/kws
work=$build/personalize-$cpu
for file in kws_5speakers.onnx new_speaker_{train,test}{,_labels}.npy; do
    [ -f "$data/$file" ] || { echo "skipped: there is no $file beside the project"; exit 77; }
done
orders=5 target=generic
if [ "$cpu" != host ]; then
    choose_cpu "$cpu"
    require_tools
    orders=1 target=$cpu
fi

# emit NAME [OPTION...]: the network in $work/NAME.
emit() {
    mkdir -p "$work/$1"
    "$build/loopwright" "$data/kws_5speakers.onnx" --quiet --name kws --target $target "${@:2}" -o "$work/$1/kws.c"
}
emit plain
inference_arena=$(sed -n 's/^#define KWS_ARENA_SIZE *\([0-9]*\)u.*/\1/p' "$work/plain/kws.h")

# adapt NAME "SPECIFICATION": builds and runs; the output is in $work/NAME.txt, too.
adapt() {
    local dir=$work/$1 defines=(-DORDERS=$orders -DINFERENCE_ARENA="$inference_arena")
    echo "--train '$2'"
    emit "$1" --train "$2"
    if [ "$cpu" = host ]; then
        # shellcheck disable=SC2086
        ${CC:-cc} "${warnings[@]}" -O2 -ffp-contract=off "${defines[@]}" -I"$dir" -I"$project_dir/runtime" \
            -Wa,-I"$data" "$here/main.c" "$dir/kws.c" "$here/data.S" -lm -o "$dir/adapt"
        "$dir/adapt" | tee "$work/$1.txt"
    else
        compile_model "$dir/kws.c" "$dir/kws.o" -I"$dir"
        compile_target "$here/main.c" "$dir/main.o" -Os -DBOARD "${defines[@]}" -I"$dir"
        arm-none-eabi-gcc "${cpu_flags[@]}" -Wa,-I"$data" -c "$here/data.S" -o "$dir/data.o"
        link_image "$dir/adapt.elf" "$dir/main.o" "$dir/data.o" "$dir/kws.o"
        TIMEOUT=${TIMEOUT:-600} run_image "$dir/adapt.elf" | tee "$work/$1.txt"
    fi
}

# reaches NAME FIELD LEAST: the first line that begins with FIELD has at least LEAST percent.
reaches() {
    awk -v field="$2" -v least="$3" 'index($0, field) == 1 && !seen++ { right = $(NF - 1) >= least }
        END { exit !right }' "$work/$1.txt" || { echo "$1: '$2' is below $3 %" >&2; exit 1; }
}

adapt last 'loss=cross_entropy optimizer=sgd(rate=0.01) update=last'
reaches last 'after training' 87
reaches last 'mean of all orders' 87
awk '/^RAM/ { exit $(NF - 1) > 115 }' "$work/last.txt" || { echo "last: more than 115 % of the RAM" >&2; exit 1; }
adapt all 'loss=cross_entropy optimizer=adam(rate=0.001) update=all'
reaches all 'after training' 94
reaches all 'mean of all orders' 93.5
