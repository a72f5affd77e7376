#!/bin/sh
# SPDX-License-Identifier: MIT
# inout.sh BUILD: in-out tensors: the caller's array is updated in place, or copied from another one; new values that
# would replace an element before its last read have a tensor of their own, and a note says so.
set -u
. "$(dirname "$0")/report.sh"
begin "inout.sh BUILD" "$@"
rm -rf "${work:?}"/*

strict="-std=c99 -pedantic -Wall -Wextra -Wconversion -Wshadow -Werror"

# te NAME LINE...: a file of statements.
te() {
    te_name=$1
    shift
    printf '%s\n' "$@" > "$work/$te_name.te"
}

# refuses TEXT FILE ARGUMENT...: the compiler refuses the file and says the text.
refuses() {
    text=$1 file=$2
    shift 2
    ! "$lw" "$work/$file.te" "$@" -o "$work/refused.c" > "$work/said" 2>&1 || return 1
    cat "$work/said"
    grep -q -- "$text" "$work/said"
}

# ---- The values --------------------------------------------------------------------------------------------------

te axpy 'size n in 1..64' 'input a: f32' 'input x: f32[n]' 'inout y: f32[n]' 'update y[i] += a * x[i]'
te product 'input a: f32[16][8]' 'input b: f32[8][12]' 'inout c: f32[16][12]' \
    'update c[i, j] += sum(k) a[i, k] * b[k, j]'
te histogram 'input x: u8[100]' 'inout h: i32[256]' 'update h[i32(x[i])] += 1'
te twice 'input x: f32[8]' 'inout y: f32[8]' 'update y[i] += x[i]' 'update y[i] *= 2.0' 'z[i] = y[i] + 1' 'output z'
te before 'input x: f32[8][8]' 'inout y: f32[8][8]' 's[i] = sum(j) y[i, j]' 'update y[i, j] += x[i, j]' \
    'z[i] = s[i] * 2' 'output z'
te transposed 'input x: f32[8][8]' 'inout y: f32[8][8]' nest 't[i, j] = y[j, i] + x[i, j]' \
    'update y[i, j] = t[i, j]'
te several 'input x: f32[8][6]' 'inout c: f32[8][6]' 'inout d: f32[8]' 'update c[i, j] += x[i, j]' \
    'update d[i] += sum(j) c[i, j]'
te again_later 'input v: i32[8]' 'inout y: i32[8][8]' 'update y[i, j] += sum(k) y[i, k] * y[k, j]' \
    'update y[i+2, j] += v[i]'
te read_between 'input v: i32[8]' 'inout y: i32[8]' 't[i<8] = (y[i+2]? : 0) * 3' 'update y[i+2] max= v[i]' \
    'z[i] = y[i] + t[i]' 'update y[i] += v[i]' 'output z'
te part_of_old 'input x: i32[12]' 'inout y: i32[12]' 'kept = slice(y, begin=2, end=9)' 'update y[i] += x[i]' \
    'q = cumsum(kept, axis=0)' 'z[i<7] = q[i] + y[i]' 'output z'
te rows_of_old 'input x: i32[12]' 'inout y: i32[12]' 'kept = reshape(y, shape=3,4)' 'update y[i] += x[i]' \
    'q = cumsum(kept, axis=0)' 'r = reshape(q, shape=12)' 'z = add(r, y)' 'output z'
te crossed 'inout y: f32[8][8]' 'update y[i, j] = y[j, i]'
te again 'input x: f32[40]' 'inout y: f32[40]' 'update y[i] += x[i]' schedule '  split y_2.i 16 tail=shift'
te late 'input x: f32[8]' 'inout y: f32[8]' 't = softmax(y)' 'update y[i] += x[i]' 'z = mul(softmax(y), t)' 'output z'
te crossed_nest 'input x: f32[8][8]' 'inout y: f32[8][8]' nest 'update y[i, j] = y[j, i] + x[i, j]' \
    'z[i] = sum(j) y[i, j]' 'output z'
te exchanged 'inout a: f32[8]' 'inout b: f32[8]' 'ta[i] = a[i]' 'update a[i] = b[i]' 'update b[i] = ta[i]'
te neighbours 'inout y: f32[8]' 'update y[i] = (y[i-1]? : 0) + (y[i+1]? : 0)'
verifies() { "$lw" verify "$work/$1.te" --target "$2"; }
open_size() { "$lw" verify "$work/axpy.te" --dim n=17; }
check values-of-an-open-size open_size
for file in product histogram twice before transposed several again_later read_between part_of_old rows_of_old crossed \
    again late crossed_nest exchanged neighbours; do
    check "values-of-$file" verifies $file generic
done
# says TEXT FILE ARGUMENT...: the compiler accepts the file and says the text.
says() {
    said=$1 file=$2
    shift 2
    "$lw" "$work/$file.te" "$@" -o "$work/copied.c" 2>&1 | grep -q -- "$said"
}
check element-read-after-its-update-is-copied says '256 bytes, and are copied .* the update is not shown' crossed
check tail-that-repeats-an-update-is-copied says '160 bytes, and are copied .* the steps are not shown' again
check layer-of-old-and-new-values-is-copied says 'copied .* a layer reads both old and new values' late
silent() { test -z "$("$lw" "$work/$1.te" -o "$work/silent.c" 2>&1)"; }
check update-in-place-has-no-note silent axpy

# A reader of old values is not joined with a layer behind the update.
te delayed 'input x: f32[6][6]' 'inout y: f32[6][6]' 'inout w: f32[6][6]' 't0 = matmul(y, x)' 't2 = matmul(t0, t0)' \
    'update w[i, j] = t2[j, i] + w[j, i]' 'update y[i, j] += x[i, j]'
combined() {
    "$lw" verify "$work/delayed.te" --combine all && "$lw" "$work/delayed.te" --ram 1100 -o "$work/delayed.c"
}
check combined-layers-read-old-values-in-time combined

# An update of a part of the array has no loop over the rest: the element, the row, the range, and an element of data.
te element 'input v: i32[10]' 'inout y: i32[10][8]' 'update y[i, 3] = v[i]'
te row 'input v: i32[8]' 'inout y: i32[10][8]' 'update y[2, j] += v[j]'
te range 'input v: f32[8]' 'inout y: f32[40]' 'update y[i + 5] = v[i]'
te chosen 'input v: i32[8]' 'input p: i32' 'inout y: i32[100]' 'update y[p] = v[3]'
te chosen_in_tiles 'input at: i32[40]' 'input v: f32[40][6]' 'inout h: f32[32][6]' 'update h[at[i], j] += v[i, j]' \
    nest schedule '  split h.d0 4'
part_alone() {
    verifies "$1" generic > /dev/null && "$lw" "$work/$1.te" --quiet -o "$work/part.c" &&
        sed -n '/^static/,/^}/p' "$work/part.c" > "$work/part" && cat "$work/part" && grep -qF "$2" "$work/part" &&
        ! grep -q '?' "$work/part"
}
check update-of-an-element-alone part_alone element 'y_2[i * 8 + 3] = v[i];'
check update-of-a-row-alone part_alone row 'y_2[j + 16] = '
check update-of-a-range-alone part_alone range 'for (int32_t d0 = 5; d0 < 13; d0++)'
check update-of-a-chosen-row-in-tiles part_alone chosen_in_tiles 'if (at2 >= 0 && at2 < 4)'
check update-of-a-chosen-element-alone part_alone chosen 'y_2[at] = v[3];'

# ---- The interface -----------------------------------------------------------------------------------------------

cat > "$work/main.c" << 'END'
#include <string.h>
#include "axpy.h"
#include "product.h"

int main(void)
{
    float a = 2, x[3] = { 1, 2, 3 }, y[3] = { 10, 20, 30 }, z[3] = { 0 };
    float m[16 * 8], n[8 * 12], c[16 * 12], d[16 * 12];
    const struct axpy_inputs in = { .a = &a, .x = x, .n = 3 }, copied = { .a = &a, .x = x, .y_before = y, .n = 3 };
    const struct axpy_outputs out = { y }, other = { z };
    const struct product_inputs factors = { .a = m, .b = n };
    const struct product_outputs sums = { c };
    if (axpy_run(NULL, &in, &out) || y[0] != 12 || y[1] != 24 || y[2] != 36) return 1;
    if (axpy_run(NULL, &copied, &other) || z[0] != 14 || z[2] != 42 || y[0] != 12) return 2;
    if (axpy_run(NULL, &copied, &out) || y[0] != 14 || y[2] != 42) return 3;
    for (int i = 0; i < 16 * 8; i++) m[i] = (float)(i % 5);
    for (int i = 0; i < 8 * 12; i++) n[i] = (float)(i % 7);
    for (int i = 0; i < 16; i++)
        for (int j = 0; j < 12; j++) {
            c[i * 12 + j] = d[i * 12 + j] = (float)(i - j);
            for (int k = 0; k < 8; k++) d[i * 12 + j] += m[i * 8 + k] * n[k * 12 + j];
        }
    return product_run(NULL, &factors, &sums) || memcmp(c, d, sizeof c) ? 4 : 0;
}
END
one_pointer() {
    for file in axpy product; do "$lw" "$work/$file.te" -o "$work/$file.c" || return 1; done
    # shellcheck disable=SC2086
    $cc $strict -ffp-contract=off -O2 -Iruntime -I"$work" "$work/main.c" "$work/axpy.c" "$work/product.c" -lm \
        -o "$work/main" && "$work/main"
}
check one-pointer-is-in-and-out one_pointer
says_so() {
    grep -q 'float \*y;    /\* in and out' "$work/axpy.h" && grep -q 'y_before;    /\* or null' "$work/axpy.h"
}
check header-says-in-and-out says_so
has_no_copy() { ! grep -q 'h_2\[[a-z0-9]*\] = h' "$work/histogram.c"; }
setup histogram-is-emitted "$lw" "$work/histogram.te" -o "$work/histogram.c"
check update-copies-nothing has_no_copy

# ---- Refusals ----------------------------------------------------------------------------------------------------

te unchanged 'input x: f32[8]' 'inout y: f32[8]' 'z[i] = x[i] + y[i]' 'output z'
check inout-without-update-is-refused refuses 'no new values' unchanged
check inout-in-the-arena-is-refused refuses 'in-out tensor' axpy --io arena
check inout-as-state-is-refused refuses 'in-out tensor' product --state c=c

report_end
