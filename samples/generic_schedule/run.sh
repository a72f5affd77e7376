#!/bin/sh
# SPDX-License-Identifier: MIT
# run.sh [BUILD]: builds main.c with the library; schedules the six dataflows here with its one function, as nests and
# as models, and with the text in by_role.txt. Ends with status 1 where a result differs.
. "$(dirname "$0")/../prepare.sh"
build_main
cp "$here"/*.te "$work"
cd "$work"
lines=$(sed -n '/^static bool generic/,/^}/p' "$here/main.c" | wc -l)
[ "$lines" -le 60 ] || { echo "the schedule has $lines lines" >&2; exit 1; }
flows="conv_relu conv_sigmoid conv_scale_shift_relu dense_gelu_residual diamond formula"
files=$(for flow in $flows; do echo "$flow.te"; done)

for target in generic cortex-m4 x86-avx2; do
    # shellcheck disable=SC2086
    ./main $target $files > "nests-$target.txt"
    for flow in $flows; do
        grep -q "^$flow.te: the interpreter's results are the same" "nests-$target.txt" ||
            { echo "$target: $flow differs" >&2; exit 1; }
    done
    # shellcheck disable=SC2086
    ./main $target --register $files > "models-$target.txt"
done
for flow in $flows; do
    ./main generic --register $flow.te | grep -q 'chosen: pattern:out-fusable.schedule' ||
        { echo "$flow: not chosen" >&2; exit 1; }
    [ "$(./main generic --register $flow.te | grep -c 'chosen:')" = 1 ] ||
        { echo "$flow: more than one group" >&2; exit 1; }
done
for flow in $flows; do
    cat $flow.te "$here/by_role.txt" > by_role.te
    "$build/loopwright" verify by_role.te > by_role.out 2>&1 || { cat by_role.out >&2; exit 1; }
done
grep '^  \|same$' nests-generic.txt
