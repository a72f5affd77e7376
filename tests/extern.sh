#!/bin/sh
# SPDX-License-Identifier: MIT
# extern.sh BUILD: --extern: custom operators of a TFLite and an ONNX file that a C function computes. The emitted C
# calls it with tensors, sizes and options, and other options keep that; what cannot be known is refused.
set -u
. "$(dirname "$0")/report.sh"
begin "extern.sh BUILD" "$@"
rm -rf "${work:?}"/*

strict="-std=c99 -pedantic -Wall -Wextra -Wconversion -Wshadow -Werror"
tflite=tests/extern/mine.tflite onnx=tests/extern/mine.onnx

# y = u * scale + b[0], z = the sizes that are passed, and the options; the program prints both results.
cat > "$work/mine.c" << 'EOF'
#include <stdint.h>
void mine(const float *u, const int8_t *b, float *y, int8_t *z, int32_t u0, int32_t u1, int32_t b0, int32_t y0,
          int32_t y1, int32_t z0, int32_t flag, float scale, int32_t shift);
void mine(const float *u, const int8_t *b, float *y, int8_t *z, int32_t u0, int32_t u1, int32_t b0, int32_t y0,
          int32_t y1, int32_t z0, int32_t flag, float scale, int32_t shift)
{
    for (int32_t i = 0; i < u0 * u1; i++) y[i] = u[i] * scale + (float)b[0];
    z[0] = (int8_t)(y0 * 10 + y1);
    z[1] = (int8_t)b0;
    z[2] = (int8_t)(z0 + flag);
    z[3] = (int8_t)shift;
}
EOF
cat > "$work/main.c" << 'EOF'
#include <stdio.h>
#include "net.h"
static NET_ARENA(arena);
int main(void)
{
    const float x[6] = { 1, 2, 3, 4, 5, 6 };
    const int8_t b[3] = { 7, 8, 9 };
    float w[6];
    int8_t z[4];
    const struct net_inputs in = { x, b };
    const struct net_outputs out = { w, z };
    if (net_run(arena, &in, &out)) return 1;
    for (int i = 0; i < 6; i++) printf("%g ", (double)w[i]);
    printf("%d %d %d %d\n", z[0], z[1], z[2], z[3]);
    return 0;
}
EOF

# computes MODEL EXPECTED OPTION...: the program built from the model prints that.
computes() {
    model=$1 expected=$2
    shift 2
    "$lw" "$model" --name net -o "$work/net.c" "$@" || return 1
    $cc $strict -Iruntime -I"$work" "$work/net.c" "$work/mine.c" "$work/main.c" -lm -o "$work/net" || return 1
    found=$("$work/net")
    echo "$found"
    [ "$found" = "$expected" ]
}
of_tflite="10 26 48 14.5 35 61.5 23 3 5 3" of_onnx="-8.5 -10 -11.5 -13 -14.5 -16 23 3 5 3"
check tflite-calls-the-function computes "$tflite" "$of_tflite" --extern Mine=mine
check onnx-calls-the-function computes "$onnx" "$of_onnx" --extern Mine=mine
check onnx-domain-calls-the-function computes "$onnx" "$of_onnx" --extern com.acme.Mine=mine
for option in --standalone "--combine all" "--target cortex-m4" "--optimize size" --no-shrink \
    "--weights section=.rodata"; do
    # shellcheck disable=SC2086
    check "tflite-calls-with-$(echo "$option" | tr -dc 'a-z0-9-')" computes "$tflite" "$of_tflite" --extern Mine=mine \
        $option
done

# refuses STATUS TEXT ARGUMENT...: the compiler ends with that status, says the text, and writes nothing.
refuses() {
    status=0 wanted_status=$1 said=$2
    shift 2
    "$lw" "$@" > "$work/said" 2>&1 || status=$?
    cat "$work/said"
    [ "$status" -eq "$wanted_status" ] && grep -q -- "$said" "$work/said" && [ ! -e "$work/refused.c" ]
}
out="-o $work/refused.c"
# shellcheck disable=SC2086
{
    check tflite-without-function-is-refused refuses 1 'your own C function, --extern Mine' $tflite $out
    check onnx-without-function-is-refused refuses 1 'your own C function, --extern Mine' $onnx $out
    check function-of-no-operator-is-refused refuses 1 "no custom operator 'Other'" \
        $tflite --extern Mine=mine,Other $out
    check standard-operator-stays refuses 1 "no custom operator 'Relu'" $onnx --extern Mine=mine,Relu $out
    check name-that-is-no-identifier-is-refused refuses 2 "'a b' is not the name of a C function" \
        $tflite --extern "Mine=a b" $out
    check domain-is-no-identifier refuses 2 "'com.acme.Mine' is not the name" $onnx --extern com.acme.Mine $out
    check operator-twice-is-refused refuses 2 'Mine is given twice' $tflite --extern Mine=a,Mine=b $out
    check gradient-is-refused refuses 1 'the gradient goes through the C function mine' \
        tests/extern/loss.onnx --extern Mine=mine --gradient l:x $out
    check interpreter-is-refused refuses 1 'the C function mine computes it' \
        verify $tflite --extern Mine=mine --link "$work/mine.c"
}

# ---- Calls in loops ------------------------------------------------------------------------------------------------

cat > "$work/tiles.c" << 'EOF'
#include <stdint.h>
void add1(const float *x, float *t, int32_t rows);
void sum3(const float *t, float *y, int32_t in_rows, int32_t rows, int32_t columns, int32_t first);
void product(const float *a, int32_t a_row, const float *b, int32_t b_row, float *c, int32_t c_row, int32_t m,
             int32_t n, int32_t k);
void add1(const float *x, float *t, int32_t rows)
{
    for (int32_t i = 0; i < rows * 8; i++) t[i] = x[i] + 1;
}
void sum3(const float *t, float *y, int32_t in_rows, int32_t rows, int32_t columns, int32_t first)
{
    for (int32_t i = 0; i < rows * columns && in_rows == rows + 2; i++)
        y[i] = t[i] + t[i + columns] + t[i + 2 * columns] + (float)(first + i / columns);
}
void product(const float *a, int32_t a_row, const float *b, int32_t b_row, float *c, int32_t c_row, int32_t m,
             int32_t n, int32_t k)
{
    for (int32_t i = 0; i < m; i++)
        for (int32_t j = 0; j < n; j++) {
            float sum = 0;
            for (int32_t l = 0; l < k; l++) sum += a[i * a_row + l] * b[l * b_row + j];
            c[i * c_row + j] = sum;
        }
}
EOF
cat > "$work/producer.te" << 'EOF'
input x: f32[18][8]
t[i, j] = x[i, j] + 1
y[i, j] = t[i, j] * 2
output y
nest
schedule
  split y.i 4
  compute_at t y.io
  external t add1(x, t, dim(t, 0))
EOF
cat > "$work/window.te" << 'EOF'
input x: f32[18][9]
t[i<18, j<9] = x[i, j] + 1
y[i<16, j<9] = t[i, j] + t[i+1, j] + t[i+2, j] + f32(i)
output y
nest
schedule
  split y.i 5
  compute_at t y.io
  external y sum3(t, y, dim(t, 0), dim(y, 0), dim(y, 1), first(y, 0)) at=y.ii
EOF
cat > "$work/tiles.te" << 'EOF'
size n in 1..40
input a: f32[n][24]
input b: f32[24][12]
c[i, j] = sum(k) a[i, k] * b[k, j]
output c
schedule
  split c.i 4
  split c.j 5
  reorder c.io c.jo c.ii c.ji c.k
  external c product(a, stride(a, 0), b, stride(b, 0), c, stride(c, 0), dim(c, 0), dim(c, 1), dim(a, 1)) at=c.ii
EOF
for file in producer window; do
    check "call-in-a-loop-$file" "$lw" verify "$work/$file.te" --link "$work/tiles.c"
done
check call-in-a-loop-tiles "$lw" verify "$work/tiles.te" --dim n=18 --link "$work/tiles.c"
# edited FILE EDIT TEXT: the file with the edit is refused with the text.
edited() {
    sed "$2" "$work/$1.te" > "$work/edited.te" && rm -f "$work/refused.c" &&
        refuses 1 "$3" "$work/edited.te" -o "$work/refused.c"
}
check call-on-rows-apart-is-refused edited tiles 's/stride(c, 0), //' \
    'rows of the part of "c" that product gets are apart'
check call-on-a-part-of-a-sum-is-refused edited tiles \
    's/  reorder .*/  split c.k 6\n  reorder c.ko c.io c.jo c.ii c.ji c.ki/' 'reduces over a part of the axis k'
check call-in-lanes-is-refused edited producer 's/external t/split y.io 1 names=u,io\n  &/; $a\  vectorize y.io' 'lanes'
check call-that-computes-with-a-dim-is-refused edited producer 's/dim(t, 0))/dim(t, 0) * 2)/' 'size of a part'
report_end
