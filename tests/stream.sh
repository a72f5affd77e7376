#!/bin/sh
# SPDX-License-Identifier: MIT
# stream.sh BUILD: --stream: a hop's outputs have the bytes of the full window, for float, int8, strided and dilated
# networks, on several targets; networks that depend on the position in the window are refused with the reason.
set -u
. "$(dirname "$0")/report.sh"
begin "stream.sh BUILD" "$@"
rm -rf "${work:?}"/*

# numbers COUNT SEED SCALE: a list of COUNT numbers for a constant.
numbers() {
    awk -v n="$1" -v s="$2" -v scale="$3" 'BEGIN {
        for (i = 0; i < n; i++) {
            s = (s * 75 + 74) % 65537
            printf "%s%g", i ? ", " : "", (s % 255 - 127) * scale
        }
    }'
}

# ---- Networks -----------------------------------------------------------------------------------------------------

# Strided, dilated and residual calls; a mean and a dense layer read the whole window.
{
    echo 'input x: f32[1][41][6]'
    echo "const k1: f32[5][6][8] = {$(numbers 240 1 0.01)}"
    echo "const k2: f32[3][8] = {$(numbers 24 2 0.01)}"
    echo "const k3: f32[1][8][8] = {$(numbers 64 3 0.01)}"
    echo "const w: f32[8][4] = {$(numbers 32 4 0.02)}"
    echo 'c1 = conv1d(x, k1, stride=2)
a = relu(c1)
c2 = depthwise_conv1d(a, k2, dilation=2)
c3 = conv1d(c2, k3)
cut = slice(a, begin=0,4,0, end=1,19,8)
sum = add(cut, c3)
m = reduce_mean(sum, axes=1)
d = dense(m, w)
y = softmax(d)
output y'
} > "$work/float.te"

# The frames of a sequence are the output: two branches of different reach.
{
    echo 'input x: f32[1][24][4]'
    echo "const k1: f32[3][4][4] = {$(numbers 48 5 0.01)}"
    echo "const k2: f32[3][4][4] = {$(numbers 48 6 0.01)}"
    echo 'a = conv1d(x, k1, dilation=4)
b = conv1d(a, k2, dilation=2)
cut = slice(x, begin=0,12,0, end=1,24,4)
s = add(cut, b)
y = tanh(s)
output y'
} > "$work/sequence.te"

# Integers, images of one column of frequencies: padding across the axis is accepted.
{
    echo 'input x: i8[1][30][10][1]'
    echo "const k1: i8[4][3][1][8] = {$(numbers 96 7 1)}"
    echo "const k2: i8[3][3][8] = {$(numbers 72 8 1)}"
    echo "const w: i8[16][3] = {$(numbers 48 9 1)}"
    echo 'c1 = conv2d(x, k1, stride=2,2, pad=0,1,0,0)
a = rescale(c1, to="i8", multiplier=1500000000, shift=9, zero=-4)
c2 = depthwise_conv2d(a, k2, pad=0,1,0,1, zero=-4)
b = rescale(c2, to="i8", multiplier=1400000000, shift=8, zero=3)
p = max_pool2d(b, kernel=12,2, stride=1,2)
f = reshape(p, shape=1,-1)
d = dense(f, w, zero=3)
y = rescale(d, to="i8", multiplier=1300000000, shift=8, zero=0)
output y'
} > "$work/int8.te"

# ---- Equal bytes --------------------------------------------------------------------------------------------------

# equal NAME MODEL STREAM OUTER ELEMENT RESULT RUNS OPTION...: every hop equals the window.
equal() {
    name=$1 model=$2 stream=$3 outer=$4 element=$5 result=$6 runs=$7
    shift 7
    mkdir -p "$work/$name" || return 1
    "$lw" "$model" --quiet "$@" --name full -o "$work/$name/full.c" || return 1
    "$lw" "$model" --quiet "$@" --stream "$stream" --name hop -o "$work/$name/hop.c" || return 1
    $cc -std=c99 -O1 -Wall -Wextra -Werror -ffp-contract=off -DOUTER="$outer" -DELEMENT="$element" -DRESULT="$result" \
        -DRUNS="$runs" -Iruntime -I"$work/$name" -o "$work/$name/stream" tests/emitted/stream.c "$work/$name/full.c" \
        "$work/$name/hop.c" -lm || return 1
    "$work/$name/stream" && rm -r "${work:?}/$name"
}
# Rows of channels: a flattened window divides an index by the frames, and reads it whole.
{
    echo 'input x: f32[1][3][20]'
    echo "const k: f32[3][3][4] = {$(numbers 36 1 0.01)}"
    echo "const w: f32[72][2] = {$(numbers 144 2 0.01)}"
    echo 't = transpose(x, perm=0,2,1)
c = conv1d(t, k)
b = transpose(c, perm=0,2,1)
f = reshape(b, shape=1,-1)
y = dense(f, w)
output y'
} > "$work/rows.te"

# A mean over the frames of [channel][frame][column] keeps rows of channels; a maximum over frames, of which the copy of
# the frames kept and the new ones are one function.
{
    echo 'input x: f32[1][2][20][6]'
    echo "const k: f32[3][1][2][6] = {$(numbers 36 3 0.01)}"
    echo 't = transpose(x, perm=0,2,3,1)
c = conv2d(t, k)
b = transpose(c, perm=0,3,1,2)
r = relu(b)
m = reduce_mean(r, axes=2,3)
y = tanh(m)
output y'
} > "$work/mean.te"
{
    echo 'input x: f32[1][20][8][2]'
    echo "const k: f32[5][1][2][4] = {$(numbers 40 4 0.01)}"
    echo 't = conv2d(x, k, stride=2,1, dilation=2,1)
r = relu(t)
h = max_pool2d(r, kernel=2,1)
y = reduce_max(h, axes=1)
output y'
} > "$work/most.te"
# single NAME OPTION...: the streamed network of that name keeps each window in one array.
single() {
    network=$1
    shift
    "$lw" "$work/$network.te" --quiet "$@" --name m -o "$work/$network.c" &&
        sed -n '/^struct m_state/,/^}/p' "$work/$network.h" > "$work/$network.txt" && cat "$work/$network.txt" &&
        [ -s "$work/$network.txt" ] && ! grep -q '\[2\]\[' "$work/$network.txt"
}
check a-mean-of-columns-is-kept-once single mean --stream 2=2
check a-mean-of-columns-equals-the-window equal mc "$work/mean.te" 2=2 2 float float 60 --float separate
check frames-copied-in-one-function-are-kept-once single most --stream 1=2
check frames-copied-in-one-function-equal-the-window equal mf "$work/most.te" 1=2 1 float float 60 --float separate

# The memory of an SVDF layer: rows that a run shifts by one element. The program with a state gives the bytes of the
# program whose caller passes the old rows and gets the new ones.
{
    printf '%s\n' 'input s: i8[1][8][10]' 'input x: i8[1][8][1]'
    echo "const k: i8[1][8][10] = {$(numbers 80 5 1)}"
    printf '%s\n' 'kept = slice(s, begin=0,0,1, end=1,8,10)' 'next = concat(kept, x, axis=2)' 'p = mul(next, k)' \
        'y = reduce_max(p, axes=2)' 'output y' 'output next'
} > "$work/rows_of_state.te"
shifts() {
    single rows_of_state --state s=next "$@" && "$lw" "$work/rows_of_state.te" "$@" --name r -o "$work/apart.c" &&
        cat > "$work/shifts.c" << 'END' || return 1
#include <string.h>
#include "rows_of_state.h"
#include "apart.h"
static M_ARENA(arena);
static R_ARENA(other);
int main(void)
{
    static struct m_state state;
    static int8_t x[8], y[8], z[8], rows[2][80];
    m_reset(&state);
    for (int run = 0; run < 40; run++) {
        for (int i = 0; i < 8; i++) x[i] = (int8_t)(run * 37 + i * 11);
        const struct m_inputs in = { x };
        const struct m_outputs out = { y };
        const struct r_inputs r_in = { rows[run % 2], x };
        const struct r_outputs r_out = { z, rows[(run + 1) % 2] };
        if (m_run(arena, &state, &in, &out) || r_run(other, &r_in, &r_out) || memcmp(y, z, sizeof y)) return 1;
    }
    return 0;
}
END
    $cc -std=c99 -O2 -Wall -Wextra -Werror -Iruntime -I"$work" -o "$work/shifts" "$work/shifts.c" \
        "$work/rows_of_state.c" "$work/apart.c" -lm && "$work/shifts"
}
check rows-of-state-are-shifted-in-place shifts
check rows-of-state-are-shifted-apart shifts --combine none

# From i = 10 on, next[i] reads s[3 * i - 25]: s[5] after the run has written next[5]. The first iterations and the last
# ones read ahead of what is written.
printf '%s\n' 'input s: i32[40]' 'input x: i32[40]' 'kept = slice(s, begin=5, end=40)' 'q = cumsum(kept, axis=0)' \
    'next[i<40] = (kept[3*i-30]? : 0) + x[i]' 'output next, q' > "$work/guarded.te"
has_two() {
    "$lw" "$work/guarded.te" --state s=next --optimize size --quiet --name m -o "$work/guarded.c" &&
        grep -q 's\[2\]\[40\]' "$work/guarded.h"
}
check rows-read-under-a-condition-have-two-arrays has_two

for target in generic cortex-m4 x86-avx2; do
    check "float-$target" equal f "$work/float.te" 1=2 1 float float 200 --target $target --float separate
    check "float-long-hop-$target" equal fl "$work/float.te" x.1=12 1 float float 100 --target $target --float separate
    check "sequence-$target" equal s "$work/sequence.te" 1=1 1 float float 200 --target $target --float separate
    check "sequence-of-five-$target" equal s5 "$work/sequence.te" 1=5 1 float float 200 --target $target \
        --float separate
    check "rows-of-channels-$target" equal r "$work/rows.te" 2=1 3 float float 100 --target $target --float separate
    check "int8-$target" equal i "$work/int8.te" 1=2 1 int8_t int8_t 200 --target $target
    check "int8-of-four-$target" equal i4 "$work/int8.te" 1=4 1 int8_t int8_t 100 --target $target
done
# Padded at the beginning alone: the hops of an endless run, which begins with the zeros of a state that is reset. An
# explicit pad, which also pads channels, does the same.
{
    echo 'input x: f32[1][24][4]'
    echo "const k1: f32[3][4][4] = {$(numbers 48 5 0.01)}"
    echo "const k2: f32[3][4] = {$(numbers 12 6 0.01)}"
    echo "const k3: f32[2][6][3] = {$(numbers 36 7 0.01)}"
    echo 'a = conv1d(x, k1, dilation=2, pad=4,0)
r = relu(a)
b = depthwise_conv1d(r, k2, pad=2,0)
s = add(b, r)
p = pad(s, pad=0,1,1,0,0,1)
c = conv1d(p, k3)
y = tanh(c)
output y'
} > "$work/causal.te"
# begins HOP OPTION...: the hops from a reset on give the frames of one window.
begins() {
    hop=$1
    shift
    "$lw" "$work/causal.te" --quiet "$@" --name full -o "$work/full.c" &&
    "$lw" "$work/causal.te" --quiet "$@" --stream 1="$hop" --name hop -o "$work/hop.c" &&
    $cc -std=c99 -O1 -Wall -Wextra -Werror -ffp-contract=off -DOUTER=1 -DELEMENT=float -DRESULT=float -DBEGINS \
        -Iruntime -I"$work" -o "$work/begins" tests/emitted/stream.c "$work/full.c" "$work/hop.c" -lm && "$work/begins"
}
check causal-equals-the-window equal c "$work/causal.te" 1=2 1 float float 100 --float separate
check causal-begins-with-zeros begins 1
check causal-begins-with-zeros-of-four begins 4 --target cortex-m4

verified() { "$lw" verify "$work/int8.te" --stream 1=2 --quiet && "$lw" verify "$work/float.te" --stream 1=2 --quiet; }
check interpreted verified

words=../shared/models/mlperf-tiny/str_ww_ref_model.tflite
if [ -f "$words" ]; then
    check wake-words equal w "$words" 1=1 1 int8_t int8_t 1000
    check wake-words-cortex-m4 equal w4 "$words" 1=1 1 int8_t int8_t 1000 --target cortex-m4
    few() {
        [ "$("$lw" report "$words" --stream 1=1 --quiet | sed -n 's/^multiply-adds *\([0-9]*\) a hop.*/\1/p')" \
            -le 60000 ]
    }
    check wake-words-multiply-adds few
else skip wake-words "../shared is not beside the project"; fi

# ---- Samples ------------------------------------------------------------------------------------------------------

# windows NAME SHAPE COUNT: COUNT floats of magnitude 0.5 to 2 with both signs, as a .npy file.
windows() {
    { printf '\223NUMPY\001\000\166\000'
      printf '%-117s\n' "{'descr': '<f4', 'fortran_order': False, 'shape': ($2), }"
      printf "$(awk -v n="$3" 'BEGIN { s = 1
          for (i = 0; i < n; i++) { s = (s * 75 + 74) % 65537
              printf "\\000\\000\\%03o\\%03o", s % 256, (s % 3 ? 63 : 191) } }')"; } > "$work/$1"
}
windows samples.npy '6, 1, 41, 6' 1476
# A sample is a window, which hops fill; a window of 41 frames is not a multiple of the hop.
evaluated() {
    "$lw" evaluate "$work/float.te" --test "$work/samples.npy" --reference "$work/float.te" --stream "$1" \
        > "$work/said" 2>&1 || { cat "$work/said"; return 1; }
    cat "$work/said"
    grep -q 'signal to noise equal; greatest error 0$' "$work/said"
}
check evaluate-by-hops evaluated 1=2
check evaluate-by-long-hops evaluated 1=12
quantized() {
    "$lw" quantize "$work/float.te" --samples "$work/samples.npy" --test "$work/samples.npy" --stream 1=2 --name q \
        -o "$work/q.c" > "$work/said" 2>&1 || { cat "$work/said"; return 1; }
    cat "$work/said"
    grep -q 'Q_STREAM_HOP *2 ' "$work/q.h" && grep -q 'int8_t .*_window\[' "$work/q.h" &&
        grep -q '^integer C' "$work/said"
}
check quantize-emits-hops quantized
by_hops() {
    "$lw" evaluate "$@" > "$work/said" 2>&1 && return 1
    cat "$work/said"
    grep -q 'has the frames of a hop' "$work/said"
}
windows frames.npy '2, 1, 24, 4' 192
check evaluate-refuses-outputs-of-hops by_hops "$work/sequence.te" --test "$work/frames.npy" \
    --reference "$work/sequence.te" --stream 1=1

# ---- Refusals -----------------------------------------------------------------------------------------------------

# refused TEXT MODEL OPTION...: the compiler ends with 1 and says the text.
refused() {
    said=$1
    shift
    "$lw" "$@" -o "$work/refused.c" > "$work/said" 2>&1 && return 1
    cat "$work/said"
    grep -q -- "$said" "$work/said" && [ ! -e "$work/refused.c" ]
}
{ echo 'input x: f32[1][20][4]'; echo "const k: f32[3][4][4] = {$(numbers 48 1 0.1)}"
  echo 'c = conv1d(x, k, pad=1,1)'; echo 'y = relu(c)'; echo 'output y'; } > "$work/padded.te"
# Without overlap there is no state.
{ echo 'input x: f32[1][20][4]'; echo 'y = relu(x)'; echo 'output y'; } > "$work/frames.te"
stateless() {
    "$lw" "$work/frames.te" --stream 1=4 --name f -o "$work/f.c" && grep -q 'F_STREAM_HOP *4' "$work/f.h" &&
        ! grep -q reset "$work/f.h"
}
check no-state-without-overlap stateless
{ echo 'input x: f32[1][20][4]'; echo "const w: f32[80][4] = {$(numbers 320 1 0.1)}"
  echo 'f = reshape(x, shape=1,-1)'; echo 'y = dense(f, w)'; echo 'output y'; } > "$work/dense.te"
check refused-padding refused \
    'conv1d cannot be computed only for the new frames, because its result depends on the position in the window; use' \
    "$work/padded.te" --stream 1=1
check refused-whole-window refused \
    'cannot be computed only for the new frames of axis 1, because it .* and no other layer can' "$work/dense.te" \
    --stream 1=1
{ echo 'input x: f32[1][20][4]'; echo "const k: f32[3][20][4] = {$(numbers 240 1 0.1)}"
  echo 't = transpose(x, perm=0,2,1)'; echo 'y = conv1d(t, k)'; echo 'output y'; } > "$work/moves.te"
check refused-moves-alone refused \
    'cannot be computed only for the new frames of axis 1, because .* and no layer that multiplies can' \
    "$work/moves.te" --stream 1=1
check refused-padding-at-the-end refused 'convolutions with padding only at its beginning' "$work/padded.te" \
    --stream 1=1
check refused-stride refused 'the hop, 3 frames, is not a multiple of 2' "$work/float.te" --stream 1=3
check refused-hop refused 'the window has 41 frames; use a hop of 1 to 40' "$work/float.te" --stream 1=41
check refused-axis refused 'has no axis 3; use an axis of 0 to 2' "$work/float.te" --stream 3=1
check refused-one-frame refused 'has one frame; use an axis with more' "$work/float.te" --stream 0=1
check refused-input refused 'there is no input "z"' "$work/float.te" --stream z.1=1
check refused-text refused 'use AXIS=HOP or INPUT.AXIS=HOP' "$work/float.te" --stream time
check refused-state refused '--stream cannot be used with state' tests/emitted/filter.te --state level=new_level \
    --state last=new_last --stream 0=1
noted() {
    "$lw" "$1" --stream 1=2 --target "$2" -o "$work/noted.c" 2>&1 |
        grep -q 'note: --stream: on x86-avx2, a schedule may round'
}
not_noted() { ! noted "$@"; }
check noted-contraction noted "$work/float.te" x86-avx2
check no-note-without-fma not_noted "$work/float.te" generic
check no-note-for-integers not_noted "$work/int8.te" x86-avx2
check dumped sh -c "'$lw' dump '$work/float.te' --stream 1=2 --at streamed | grep -q 'concat.*axis=1'"
report_end
