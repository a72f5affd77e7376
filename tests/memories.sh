#!/bin/sh
# SPDX-License-Identifier: MIT
# memories.sh BUILD: --memory places results, scratch and constants; the results are those of one arena, nothing is
# written outside, and what does not fit or has no effect is refused.
set -u
. "$(dirname "$0")/report.sh"
begin "memories.sh BUILD" "$@"
rm -rf "${work:?}"/*

digits=samples/digits/digits.onnx
quantized=tests/models/quantized.onnx
ram="--memory fast=2K,cost=1 --memory large=64K,cost=4"

# emit NAME ARGUMENT...: emits as NAME.c and NAME.h, with the prefix m.
emit() { name=$1; shift; mkdir -p "$work/$name" && "$lw" "$@" --name m -o "$work/$name/m.c" 2> "$work/$name/said"; }

# refused STATUS WORDS ARGUMENT...: the digits are refused with these words.
refused() {
    want=$1 words=$2 status=0
    shift 2
    emit refused $digits "$@" || status=$?
    cat "$work/refused/said"
    grep -q -e "$words" "$work/refused/said" && [ "$status" -eq "$want" ]
}

# ---- Results ---------------------------------------------------------------------------------------------------------

# The test bench has 64 guard bytes before and after each memory.
arena=$("$lw" report $digits --target cortex-m4 | sed -n 's/^RAM .*arena \([0-9]*\),.*/\1/p')
for share in 3 8; do
    check "digits-with-$share-sixteenths-are-the-same" "$lw" verify $digits --target cortex-m4 \
        --memory "fast=$((arena * share / 16 + 16)),cost=1" --memory "large=$((arena + 16)),cost=4"
done
for model in $quantized tests/models/fused.onnx tests/golden/residual/residual.onnx \
    tests/golden/depthwise-pool-concat/depthwise-pool-concat.onnx tests/golden/state/state.te; do
    name=$(basename "${model%.*}")
    check "$name-in-three-memories-is-the-same" "$lw" verify $model --target cortex-m7 --memory m1=600,cost=1/2 \
        --memory m2=2000,cost=2,line=32 --memory m3=1M,cost=5
    case $name in quantized | state) ;; *) continue ;; esac
    check "$name-in-static-arrays-is-the-same" "$lw" verify $model --target cortex-m7 --memory m1=300,cost=1 \
        --memory m2=1M,cost=2 --static-arena
done
check kinds-have-memories "$lw" verify $digits --memory a=8K,for=scratch,cost=9 --memory b=64K,for=results

# ---- The interface ---------------------------------------------------------------------------------------------------

same_as_without() {
    emit none $digits --target cortex-m4 && emit one $digits --target cortex-m4 --memory sram=256K || return 1
    diff "$work/none/m.c" "$work/one/m.c" > "$work/diff"
    [ "$(grep -c '^[<>]' "$work/diff")" -eq 2 ] && grep -q HEADER_HASH "$work/diff" || [ ! -s "$work/diff" ]
}
check one-memory-is-the-arena same_as_without
check one-memory-is-a-limit refused 1 'sram holds 992 bytes' --memory sram=1000

calls() {
    emit call $digits $ram --memory slow=1M,cost=9 && cat > "$work/call/call.c" << 'END' || return 1
#include "m.h"
static M_FAST(fast);
static M_LARGE(large);
static unsigned char other[M_LARGE_SIZE + 64];
#define COUNT(name, size, align) + (size > 0)
int main(void)
{
    static float x[M_INPUT_ELEMS], y[M_SCORES_ELEMS];
    const struct m_inputs in = { x };
    const struct m_outputs out = { y };
    struct m_memories memory = { fast, large, 0 };
    if (0 M_MEMORIES(COUNT) != 2 || M_SLOW_SIZE != 0) return 1;
    if (m_run(&memory, &in, &out) != 0) return 2;
    memory.fast = 0;
    if (m_run(&memory, &in, &out) != M_E_ARENA || m_run(0, &in, &out) != M_E_ARENA) return 3;
    memory.fast = fast;
    memory.large = other + 1;
    if (((unsigned long)other & 15) == 0 && m_run(&memory, &in, &out) != M_E_ARENA) return 4;
    return 0;
}
END
    $cc -std=c99 -Wall -Wextra -Werror -Iruntime -I"$work/call" -o "$work/call/call" "$work/call/call.c" \
        "$work/call/m.c" -lm && "$work/call/call"
}
check a-caller-passes-memories calls
places_constants() {
    emit rom $digits $ram --memory near=4K,rom,cost=2,section=.near --memory far=1M,rom,cost=8,section=.far || return 1
    grep -q 'LW_SECTION(".near")' "$work/rom/m.c" && grep -q 'LW_SECTION(".far")' "$work/rom/m.c"
}
check constants-are-placed-in-roms places_constants
board() {
    printf '# a board\nfast=2K,cost=1   # near\n\nlarge=64K,cost=4\n' > "$work/board.mem"
    emit given $digits $ram && emit read $digits --memory "@$work/board.mem" || return 1
    grep '_SIZE' "$work/given/m.h" > "$work/a" && grep '_SIZE' "$work/read/m.h" > "$work/b" && cmp "$work/a" "$work/b"
}
check a-file-names-memories board
printf '# a board\nfast=2K,cost=1\n\nlarge=64Q,cost=4\n' > "$work/wrong.mem"
check a-fault-in-a-file-has-its-line refused 2 'wrong.mem:4' --memory "@$work/wrong.mem"
check static-arrays-have-sections sh -c "'$lw' $digits --memory fast=2K,section=.fast --memory large=64K,cost=3 \
    --static-arena -o '$work/s.c' && grep -q 'LW_SECTION(\".fast\") union' '$work/s.c'"
placed() {
    "$lw" report $digits $ram -o "$work/r.json" && "$lw" report $digits $ram > "$work/r.txt" || return 1
    cat "$work/r.txt"
    grep -q '"memories": \[{"name": "fast", "rom": false, "capacity": 2048' "$work/r.json" &&
        grep -q '^memory         fast: [0-9]* of 2048 bytes' "$work/r.txt" && grep -q 'fast +[0-9]' "$work/r.txt"
}
check a-report-has-the-memories placed

# ---- Annotations -----------------------------------------------------------------------------------------------------

# pinned LINE WORDS: the report with that line has these words.
pinned() {
    printf '%s\n' "$1" > "$work/pins.txt"
    "$lw" report $digits --target cortex-m4 --memory fast=8K,cost=1 --memory large=64K,cost=4 \
        --memory near=64K,rom,cost=1 --memory far=1M,rom,cost=9 --annotate "$work/pins.txt" > "$work/pinned" 2>&1
    cat "$work/pinned"
    grep -q -e "$2" "$work/pinned"
}
check a-result-is-pinned pinned 'in_memory large conv_1..conv_4' '^conv_4 .* large +'
check all-scratch-is-pinned pinned 'in_memory large scratch' '^memory         large: [1-9][0-9]* of'
check weights-are-pinned pinned 'in_memory far weights conv_4' '^memory         far: [1-9][0-9]* of'
printf 'in_memory large conv_4 # far\nin_memory fast scratch\n' > "$work/p.txt"
check a-pinned-plan-is-the-same "$lw" verify $digits --memory fast=8K,cost=1 --memory large=64K,cost=4 \
    --annotate "$work/p.txt"
check an-unknown-memory-is-refused pinned 'in_memory fats conv_4' 'there is no --memory "fats"; did you mean .fast'
check an-unknown-layer-is-refused pinned 'in_memory fast conv_44' 'pins.txt:1: error: in_memory: no layer is called'
check a-line-without-layers-is-refused pinned 'in_memory fast' 'it names no layer'
check a-result-in-a-rom-is-refused pinned 'in_memory far conv_4' 'results cannot be in a rom'
check an-output-is-not-pinned pinned 'in_memory fast softmax_1' 'is an output or state of the model'
check two-memories-of-a-result-are-refused pinned "in_memory fast conv_4
in_memory large conv_4" 'excludes that memory'
check pins-need-memories refused 2 'in_memory needs memories; add --memory' --annotate "$work/pins.txt"

# ---- Refusals --------------------------------------------------------------------------------------------------------

check too-small-names-the-layer refused 1 'at layer "[a-z0-9_]*", a and b hold 1008 bytes, and [0-9]* are missing' \
    --memory a=500 --memory b=516
check roms-that-are-full-are-refused refused 1 'the constants do not fit' $ram --memory flash=1K,rom
check a-rom-alone-is-refused refused 2 'only memories with the key rom' --memory flash=1M,rom
check a-name-twice-is-refused refused 2 'the memory "RAM" is given twice' --memory ram=1K --memory RAM=2K
check a-name-of-c-is-refused refused 2 '"int" cannot be the name' --memory int=1K
check a-size-without-digits-is-refused refused 2 'the size cannot be read' --memory ram=big
check a-key-is-refused refused 2 'there is no key "cots"; did you mean .cost.' --memory ram=1K,cots=2
check a-cost-is-refused refused 2 'cost= does not accept "1.2345"' --memory ram=1K,cost=1.2345
check copies-are-refused refused 2 'staged copies are not supported' --memory ram=1K,copy=1
check weights-in-ram-are-refused refused 2 'weights in RAM need staged copies' --memory a=1K,for=weights --memory b=9K
check results-need-a-memory refused 2 'no --memory is for results' --memory a=9K,for=scratch --memory b=9K,for=scratch
for other in '--ram 9000' '--io arena' '--weights bin' --cpp; do
    # shellcheck disable=SC2086
    check "$(echo "$other" | tr ' ' -)-is-refused-together" refused 2 'exclude each other' $ram $other
done
check a-port-of-that-name-is-refused refused 1 'has the same macros; use --rename scores=NAME' \
    --memory scores=4K --memory b=64K
report_end
