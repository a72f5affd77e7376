#!/bin/sh
# SPDX-License-Identifier: MIT
# run.sh [BUILD]: matmul.te after every step of its schedule: emitted as C, built with $CC and $CFLAGS (cc, -O3), run.
# Prints the time of a product after each step, and ends with status 1 unless all results are equal to the bit.
. "$(dirname "$0")/../prepare.sh"
steps=$(sed '1,/^schedule/d' "$here/matmul.te" | grep -c '^ *[^ #]')

# first_steps N: the file with the first N steps of the schedule.
first_steps() {
    awk -v most="$1" '
        /^schedule/ { in_schedule = 1; print; next }
        in_schedule && $0 !~ /^ *(#|$)/ && ++count > most { exit }
        { print }' "$here/matmul.te"
}

expected=
step=0
while [ "$step" -le "$steps" ]; do
    first_steps "$step" > "$work/matmul.te"
    "$build/loopwright" "$work/matmul.te" -o "$work/matmul.c"
    # shellcheck disable=SC2086
    ${CC:-cc} -std=c99 ${CFLAGS:--O3} -ffp-contract=off -I"$root/runtime" -I"$work" "$here/time.c" "$work/matmul.c" \
        -lm -o "$work/time"
    result=$("$work/time") || { echo "matmul_run failed after step $step" >&2; exit 1; }
    [ "$step" -eq 0 ] && what="the loops of the formula" ||
        what=$(sed '1,/^schedule/d' "$here/matmul.te" | grep '^ *[^ #]' | sed -n "${step}s/^ *//p")
    printf '%2d  %-32s %8d us\n' "$step" "$what" "$((${result% *} / 1000))"
    [ "${expected:=${result#* }}" = "${result#* }" ] || { echo "the result is another one than before" >&2; exit 1; }
    step=$((step + 1))
done
