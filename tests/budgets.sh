#!/bin/sh
# SPDX-License-Identifier: MIT
# budgets.sh BUILD: --ram keeps its limit, says what it gives up, and refuses a limit below the least; --optimize trades
# what it says. The results are the same.
set -u
. "$(dirname "$0")/report.sh"
begin "budgets.sh BUILD" "$@"
rm -rf "${work:?}"/*

digits=samples/digits/digits.onnx

# emit NAME OPTION...: emits the digits; the diagnostics are in NAME.txt.
emit() {
    name=$1
    shift
    mkdir -p "$work/$name" && "$lw" "$digits" -o "$work/$name/m.c" --name m "$@" > "$work/$name.txt" 2>&1
}
arena() { sed -n 's/^#define M_ARENA_SIZE *\([0-9]*\)u.*/\1/p' "$work/$1/m.h"; }
weight() { $cc -O2 -Iruntime -c -o "$work/$1/m.o" "$work/$1/m.c" && size "$work/$1/m.o" | awk 'NR == 2 { print $1 }'; }
beside=296      # inputs and outputs: 64 and 10 floats

for target in generic cortex-m4 x86-avx2; do
    # The least is printed by the refusal; that limit, and each one above, is kept.
    limits() {
        status=0
        emit "least-$target" --target "$target" --ram 1 || status=$?
        cat "$work/least-$target.txt"
        least=$(sed -n 's/^error: --ram 1: the smallest plan needs \([0-9]*\) bytes.*/\1/p' \
            "$work/least-$target.txt")
        [ "$status" -eq 1 ] && [ -n "$least" ] && [ ! -e "$work/least-$target/m.c" ] || return 1
        for ram in $least $((least + 500)) $((least + 3000)) 100000; do
            emit "fits-$target" --target "$target" --ram "$ram" && cat "$work/fits-$target.txt" || return 1
            [ $(($(arena "fits-$target") + beside)) -le "$ram" ] &&
                grep -q "^note: --ram $ram is kept with " "$work/fits-$target.txt" || return 1
        done
        emit "short-$target" --target "$target" --ram $((least - 1)) && return 1
        return 0
    }
    check "limits-are-kept-$target" limits
    check "values-within-the-least-$target" "$lw" verify "$digits" --target "$target" \
        --ram "$(sed -n 's/.*the smallest plan needs \([0-9]*\) bytes.*/\1/p' "$work/least-$target.txt")"
done

# The refusal's least is a limit that is kept, also for a network whose inputs and outputs exceed the limit alone.
face=../shared/models/onnx/face_slim320.onnx
if [ -f "$face" ]; then
    least_of_detector() {
        "$lw" "$face" --target cortex-m4 --ram 1 -o "$work/face.c" > "$work/face.txt" 2>&1
        cat "$work/face.txt"
        least=$(sed -n 's/^error: --ram 1: the smallest plan needs \([0-9]*\) bytes.*/\1/p' "$work/face.txt")
        [ -n "$least" ] && "$lw" "$face" --target cortex-m4 --ram "$least" -o "$work/face.c" --name m --quiet
    }
    check least-of-a-detector-is-kept least_of_detector
else skip least-of-a-detector-is-kept "../shared is not beside the project"; fi

# Outputs that lie before their inputs drift through the arena; the least plan moves them back.
moved() {
    "$lw" tests/budgets/chain.te -o "$work/drifts.c" --name m --quiet &&
        "$lw" tests/budgets/chain.te -o "$work/moved.c" --name m --ram 12600 > "$work/moved.txt" 2>&1 || return 1
    cat "$work/moved.txt"
    ! grep -q lw_move "$work/drifts.c" && grep -q 'M_ARENA_SIZE  *6112u' "$work/drifts.h" &&
        [ "$(grep -c 'lw_move(memory' "$work/moved.c")" -eq 3 ] &&
        grep -q '12000 bytes of results are moved' "$work/moved.txt"
}
check results-are-moved-where-the-limit-needs-it moved
check values-with-moved-results "$lw" verify tests/budgets/chain.te --ram 12600
# Ten times as many products for a move of the same bytes: without a limit, the plan moves them, too.
sed 's/k<3/k<30/; s/50 \* k - 100/10 * k - 170/' tests/budgets/chain.te > "$work/long.te"
nearly_free() {
    "$lw" "$work/long.te" --target cortex-m4 -o "$work/long.c" --name m --quiet &&
        grep -c 'lw_move(memory' "$work/long.c" &&
        "$lw" "$work/long.te" --target cortex-m4 --optimize speed -o "$work/long.c" --name m --quiet &&
        ! grep lw_move "$work/long.c"
}
check moves-that-are-nearly-free-need-no-limit nearly_free
check values-of-moves-that-are-nearly-free "$lw" verify "$work/long.te" --target cortex-m4
copies_blocks() {
    $cc -std=c99 -O2 -Iruntime -o "$work/move" tests/emitted/move.c && "$work/move"
}
check a-moved-result-keeps-its-bytes copies_blocks
# The report counts the moves of the layers that the note counts.
counts_moves() {
    counted=$("$lw" tests/budgets/chain.te --target cortex-m4 --ram 12600 -o "$work/moved.c" 2>&1 |
        sed -n 's/.*arena of [0-9]* bytes and \([0-9]*\) counted instructions.*/\1/p')
    "$lw" report tests/budgets/chain.te --target cortex-m4 --ram 12600 --quiet -o "$work/moved.json" || return 1
    reported=$(sed -n 's/^    "instructions": \([0-9]*\),*$/\1/p' "$work/moved.json")
    echo "$reported reported, $counted counted"
    [ -n "$counted" ] && [ "$reported" = "$counted" ]
}
check the-report-counts-moves counts_moves

# Where whole tensors and rings do not fit, stages move inside: windows are copied instead of rows.
spared() {
    "$lw" tests/budgets/bytes.te --target cortex-m4 -o "$work/whole.c" --name m --quiet &&
        "$lw" tests/budgets/bytes.te --target cortex-m4 --ram 3456 -o "$work/spared.c" --name m \
            > "$work/spared.txt" 2>&1 || return 1
    cat "$work/spared.txt"
    "$lw" report tests/budgets/bytes.te --target cortex-m4 --ram 3456 2>&1 | grep 'layers have smaller buffers' &&
        grep -q 'M_ARENA_SIZE  *1776u' "$work/whole.h" && grep -q 'M_ARENA_SIZE  *1152u' "$work/spared.h"
}
check buffers-are-smaller-where-the-limit-needs-it spared
check values-with-smaller-buffers "$lw" verify tests/budgets/bytes.te --target cortex-m4 --ram 3456

# Narrow images have no buffers: an output precedes its input by two rows of the window.
narrow() {
    "$lw" report tests/budgets/narrow.te --target cortex-m4 > "$work/narrow.txt" 2>&1
    cat "$work/narrow.txt"
    grep -q 'arena 5120, inputs 5040' "$work/narrow.txt"
}
check narrow-depthwise-needs-no-buffer narrow
check values-of-narrow-depthwise "$lw" verify tests/budgets/narrow.te --target cortex-m4

# counts FILE: the search for the least plan ends in its refusal.
counts() {
    "$lw" "tests/budgets/$1.te" --target rv64gcv --ram 1 -o "$work/$1.c" 2>&1 | tee "$work/$1.txt"
    grep -q "^error: --ram 1: the smallest plan needs" "$work/$1.txt"
}
check pointers-in-short-loops-are-counted counts gather
check copies-without-statements-are-counted counts pool

# Forty rows are too few for the code of a row, unless no code is too long.
sed 's/\[126\]/[40]/' tests/budgets/narrow.te > "$work/few.te"
for speed in '' '--optimize speed'; do
    few() {
        "$lw" "$work/few.te" --target cortex-m4 $speed -o "$work/few.c" --quiet || return
        grep 'schedule depthwise' "$work/few.c"
        grep -q "schedule depthwise.$1:" "$work/few.c"
    }
    if [ "$speed" ]; then
        check speed-takes-any-code few row
        check values-of-speed "$lw" verify "$work/few.te" --target cortex-m4 --optimize speed
    else check balance-takes-little-code few columns
    fi
done
kws=../shared/models/mlperf-tiny/kws_ref_model.tflite
if [ -f "$kws" ]; then check kws-in-three-fifths "$lw" "$kws" --target cortex-m4 --ram 9600 -o "$work/kws.c" --name m
else skip kws-in-three-fifths "../shared is not beside the project"; fi

# A large limit is the fastest plan: that of --combine none.
largest() {
    emit large --ram 1000000 --target cortex-m4 && emit none --combine none --target cortex-m4 &&
        cmp "$work/large/m.c" "$work/none/m.c"
}
check a-large-limit-is-every-group-alone largest
in_arena() { emit in_arena --io arena --ram 6312 && [ "$(arena in_arena)" -le 6312 ]; }
check ports-in-the-arena-count-once in_arena
reported() {
    "$lw" report "$digits" --ram 6312 > "$work/report.txt" 2>&1
    cat "$work/report.txt"
    grep -q "RAM  *6312 bytes" "$work/report.txt"
}
check the-report-has-the-plan reported
usage() { status=0; emit usage "$@" || status=$?; cat "$work/usage.txt"; [ "$status" -eq 2 ]; }
check refuses-ram-with-combine usage --ram 7000 --combine all
check refuses-ram-with-train usage --ram 7000 --train spec
check refuses-no-bytes usage --ram 0
check refuses-an-unknown-unit usage --ram 7kb
kibibytes() {
    emit kibibytes --ram 7k && cat "$work/kibibytes.txt" &&
        grep -q '^note: --ram 7168 is kept with ' "$work/kibibytes.txt"
}
check accepts-kibibytes kibibytes
check refuses-an-unknown-trade usage --optimize fast

balanced() {
    emit default && emit balanced --optimize balanced && cmp "$work/default/m.c" "$work/balanced/m.c" &&
        same_header "$work/default/m.h" "$work/balanced/m.h"
}
check balanced-is-the-default balanced
speed() {
    emit speed --optimize speed && emit alone --combine none && cmp "$work/speed/m.c" "$work/alone/m.c" &&
        [ "$(arena speed)" -gt "$(arena default)" ]
}
check speed-computes-whole-tensors speed
# Two layers of one kind share a function with parameters; for speed each has its own.
apart() {
    for trade in balanced speed; do
        "$lw" tests/golden/shapes-shared/shapes-shared.te --target cortex-m4 --optimize $trade --name m \
            -o "$work/$trade.c" --quiet || return 1
    done
    grep -q LW_SHARED "$work/balanced.c" && ! grep -q LW_SHARED "$work/speed.c"
}
check speed-has-a-function-for-each-shape apart
smaller() {
    emit small --optimize size && [ "$(arena small)" -le "$(arena default)" ] &&
        [ "$(weight small)" -lt "$(weight default)" ]
}
if has size; then check size-has-less-code smaller
else skip size-has-less-code "size is not installed"; fi
for trade in size speed; do check "values-for-$trade" "$lw" verify "$digits" --optimize "$trade"; done
report_end
