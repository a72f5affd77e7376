#!/bin/sh
# SPDX-License-Identifier: MIT
# gemm16.sh BUILD: samples/gemm16 maps layers to its unit, with the bytes of the interpreter; the model of the unit
# stops at wrong accesses.
set -u
. "$(dirname "$0")/report.sh"
begin "gemm16.sh BUILD" "$@"
rm -rf "${work:?}"/*
sample=samples/gemm16
export BUILD="$build" GEMM16_TABLE="$work/table.txt"

on_the_unit() { [ "$(awk '$2 == "unit" && /_/' "$build/gemm16/table.txt" | wc -l)" -eq 4 ]; }

setup "small-network-is-the-same" $sample/run.sh $sample/small.te
check "layers-are-on-the-unit" on_the_unit

# A window of one channel: each column of x is copied by one descriptor, and the products run over the window's rows.
cat > "$work/columns.te" <<'END'
input x: i8[1][21][9][1]
input k: i8[6][3][1][16]
const b: i32[16] = [10, 20, 30, 40, 50, 60, 70, 80, 90, 100, 110, 120, 130, 140, 150, 160]
y = rescale(add(conv2d(x, k, stride=2,2, pad=2,1,2,1, zero=-5), b), multiplier=1342405382, shift=4, zero=3, min=-128,
    max=127)
output y
END
columns_are_copied_at_once() {
    $sample/run.sh "$work/columns.te" &&
        awk '$2 == "unit" && $3 == "10x6x16" && $6 < 40 { found = 1 } END { exit !found }' "$build/gemm16/table.txt"
}
check "columns-of-one-channel-are-a-copy-each" columns_are_copied_at_once

# run FILE.c: builds the emitted C with the model of the unit and runs it.
model=$work/small.c
run() {
    $cc -std=c99 -O1 -ffp-contract=off -include $sample/gemm16.h -I"$work" -Iruntime -o "$work/program" "$1" \
        $sample/gemm16.c "$work/main.c" -lm && "$work/program"
}
same_counts() {
    said=$($sample/run.sh $sample/small.te | sed -n 's/^copies, bytes.*: //p')
    echo "$said"
    [ "${said%% by the report*}" = "$(echo "$said" | sed 's/.*report, \(.*\) by the model/\1/')" ]
}
check "report-counts-as-the-unit-does" same_counts

setup "emitted" "$lw" $sample/small.te --schedule $sample/networks.txt --combine none --name small -o "$model"
cat > "$work/main.c" << 'END'
#include "small.h"
static SMALL_ARENA(arena);
static int8_t x[1 * 13 * 21 * 3], k1[3 * 3 * 3 * 24], k2[3 * 3 * 24 * 24], k3[24 * 40], w4[1760 * 18], y[18];
static int32_t b4[18];
int main(void)
{
    const struct small_inputs in = { x, k1, k2, k3, w4, b4 };
    const struct small_outputs out = { y };
    return small_run(arena, &in, &out);
}
END
check "model-of-the-unit-runs" run "$model"

# stops SCRIPT WORDS: the C that sed has damaged stops with these words.
stops() {
    sed "$1" "$model" > "$work/damaged.c"
    ! cmp -s "$model" "$work/damaged.c" && ! run "$work/damaged.c" > "$work/said" 2>&1 && grep "$2" "$work/said"
}
check "missing-wait-stops" stops '/LW_COPY_WAIT(1/d' 'before the wait for the copy'
check "one-wait-less-stops" stops 's/LW_COPY_WAIT(1, started1/LW_COPY_WAIT(1, 1 + started1/' 'before the wait'
check "size-beyond-the-unit-stops" stops 's/GEMM16(/GEMM16(16 + /' 'a size that the unit does not have'
check "missing-configuration-stops" stops '/STEP16(/d' 'rows with another distance'
check "accumulator-elsewhere-stops" stops 's/LW_MEMORY_accumulator(0)/LW_MEMORY_accumulator(4000)/' 'beyond the end'
report_end
