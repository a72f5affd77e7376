#!/bin/sh
# SPDX-License-Identifier: MIT
# interface.sh BUILD: the emitted header as firmware includes it: README's snippet in C99, C11 and C++, and the codes
# that NAME_run returns for null pointers and for floats outside their ranges.
set -u
. "$(dirname "$0")/report.sh"
begin "interface.sh BUILD" "$@"
rm -rf "$work"/*
digits=samples/digits/digits.onnx
strict="-pedantic -Wall -Wextra -Werror"

# ---- README's snippet ------------------------------------------------------------------------------------------------

awk '/^```c$/ { block = ""; on = 1; next }
    /^```$/ && on { if (block ~ /#include "kws.h"/) { printf "%s", block; exit } on = 0 }
    on { block = block $0 "\n" }' README.md > "$work/snippet.c"
"$lw" samples/digits/digits.onnx --name kws -o "$work/kws.c"
for compiler in "gcc -std=c99" "gcc -std=c11" "clang -std=c99" "clang -std=c11" "g++ -x c++ -std=c++11" \
    "g++ -x c++ -std=c++17" "clang++ -x c++ -std=c++11" "clang++ -x c++ -std=c++17" "tcc"; do
    name=snippet-$(echo "${compiler#* }" | sed 's/-x c++ //; s/-std=//')-$(echo "${compiler%% *}")
    # Also without the compiler's extensions: as a compiler with the standard keywords alone.
    for words in own language; do
        [ $words = own ] && undefine= || undefine=-U__GNUC__
        if ! has "${compiler%% *}"; then skip "$name-$words" "${compiler%% *} is not installed"
        # shellcheck disable=SC2086
        else check "$name-$words" $compiler $undefine $strict -c "$work/snippet.c" -o "$work/snippet.o"; fi
    done
done

# ---- Null pointers ---------------------------------------------------------------------------------------------------

printf 'input a: f32[4]\ninput b: f32[4]\ns = add(a, b)\nd = sub(a, b)\nt = softmax(s)\noutput t\noutput d\n' \
    > "$work/two.te"
cat > "$work/null.c" <<'END'
#include <stdio.h>
#include "two.h"
#ifdef STATIC_ARENA
#define RUN(in, out) two_run(in, out)
#else
static TWO_ARENA(memory);
#define RUN(in, out) two_run(memory, in, out)
#endif
int main(void)
{
    const float a[4] = { 1, 2, 3, 4 }, b[4] = { 0 };
    float t[4], d[4];
    const struct two_inputs in = { a, b }, no_a = { NULL, b }, no_b = { a, NULL };
    const struct two_outputs out = { t, d }, no_t = { NULL, d }, no_d = { t, NULL };
    if (RUN(&in, &out) != 0) return 1;
    if (RUN(NULL, &out) != TWO_E_NULL || RUN(&in, NULL) != TWO_E_NULL) return 2;
    if (RUN(&no_a, &out) != TWO_E_NULL || RUN(&no_b, &out) != TWO_E_NULL) return 3;
    if (RUN(&in, &no_t) != TWO_E_NULL || RUN(&in, &no_d) != TWO_E_NULL) return 4;
#ifndef STATIC_ARENA
    if (two_run(memory + 1, &in, &out) != TWO_E_ARENA && TWO_ARENA_SIZE) return 5;
#endif
    return TWO_E_NULL < 0 ? 0 : 6;
}
END
# null_pointers WORDS OPTION...: with these options of the compiler.
null_pointers() {
    words=$1
    shift
    # shellcheck disable=SC2086
    "$lw" "$work/two.te" -o "$work/two.c" "$@" &&
        $cc -std=c99 $strict $words -Iruntime -I. "$work/two.c" "$work/null.c" -o "$work/null" -lm && "$work/null"
}
check null-pointers-give-codes      null_pointers ""
check null-pointers-give-codes-static-arena null_pointers -DSTATIC_ARENA --static-arena
check null-pointers-give-codes-on-a-core null_pointers "" --target cortex-m4

# ---- --check-inputs --------------------------------------------------------------------------------------------------

cat > "$work/range.te" <<'END'
size i in 1..4
input a: f32[i][2]
input b: f16[3]
input c: f64[2]
input k: i32[2]
ya[r<i, j<2] = a[r, j] + 1.0
yb[j] = f32(b[j])
yc[j] = c[j] + f64(k[j])
output ya
output yb
output yc
END
cat > "$work/range.c" <<'END'
#include <math.h>
#include "ranges.h"
static RANGES_ARENA(memory);
int main(void)
{
    float a[8] = { -1, 0, 0, 1, 9, 9, 9, 9 }, ya[8], yb[3];
    uint16_t b[3] = { 0x0000, 0x7bff, 0xfbff };               /* 0, 65504, -65504 */
    double c[2] = { 2, 3 }, yc[2];
    const int32_t k[2] = { INT32_MIN, INT32_MAX };
    const struct ranges_inputs in = { a, b, c, k, 2 };
    const struct ranges_outputs out = { ya, yb, yc };
    const struct { float a; uint16_t b; double c; } wrong[] = {
        { nextafterf(1, 2), 0, 2 }, { NAN, 0, 2 }, { -INFINITY, 0, 2 }, { 0, 0x7c00, 2 }, { 0, 0xfc00, 2 },
        { 0, 0x7e00, 2 }, { 0, 0, 3.0000000000000004 }, { 0, 0, 1.9999999999999998 }, { 0, 0, NAN },
    };
    if (ranges_run(memory, &in, &out) != 0) return 1;
    for (int i = 0; i < (int)(sizeof wrong / sizeof wrong[0]); i++) {
        a[3] = wrong[i].a;
        b[2] = wrong[i].b;
        c[1] = wrong[i].c;
        if (ranges_run(memory, &in, &out) != RANGES_E_INPUT) return 2 + i;
    }
    return RANGES_E_INPUT == -10 ? 0 : 99;
}
END
# ranges OPTION...: elements at the ends of ranges are accepted, and those beyond are not. Open sizes count.
ranges() {
    "$lw" "$work/range.te" --name ranges --check-inputs a=-1..1,finite,c=2..3 "$@" -o "$work/ranges.c" &&
        $cc -std=c99 $strict -Wconversion -Wshadow -Iruntime "$work/ranges.c" "$work/range.c" -o "$work/range" -lm &&
        "$work/range"
}
check inputs-in-their-ranges              ranges
check inputs-in-their-ranges-standalone   ranges --standalone
# refuses_range RANGES WORDS: the option has no such range, or the model no such input.
refuses_range() {
    ! "$lw" "$work/range.te" --check-inputs "$1" -o "$work/refused.c" > "$work/said.txt" 2>&1 &&
        grep -qF -e "$2" "$work/said.txt" || { cat "$work/said.txt"; return 1; }
}
check range-of-an-unknown-input-is-refused   refuses_range d=0..1 'there is no input "d"'
check range-of-integers-is-refused           refuses_range k=0..1 'the input "k" has integers'
check range-beyond-the-type-is-refused       refuses_range b=0..65505 'has values of f16, at most 65504'
check range-in-the-wrong-order-is-refused    refuses_range 1..-1 'does not accept "1..-1"'
check range-of-no-number-is-refused          refuses_range nan..1 'does not accept "nan..1"'
check range-that-is-given-twice-is-refused   refuses_range a=0..1,finite,a=0..2 'has two ranges for a'

# ---- The header's examples in code -----------------------------------------------------------------------------------

# The conversions of a quantized port over its whole range, at steps, ties, their neighbours and beyond, against
# arithmetic in double. TIE(x): the double nearest to x, ties as the model's reference.
cat > "$work/grid.h" <<'END'
#include <assert.h>
#include <math.h>
static double clamped(double q, double least, double greatest)
{
    return q < least ? least : q > greatest ? greatest : q;
}
#define GRID(NAME, X, quantize, all, least, greatest) do { \
        static const int32_t dims[] = NAME##_##X##_DIMS; \
        int32_t rank = 0, elems = 1, half; \
        static float from[NAME##_##X##_ELEMS]; \
        static NAME##_##X##_TYPE to[NAME##_##X##_ELEMS]; \
        for (; rank < NAME##_##X##_RANK; rank++) elems *= dims[rank]; \
        assert(sizeof dims / sizeof dims[0] == NAME##_##X##_RANK && elems == (int32_t)NAME##_##X##_ELEMS); \
        assert(NAME##_##X##_BYTES == sizeof to); \
        for (half = 2 * (least) - 600; half <= 2 * (greatest) + 600; half++) { \
            const float at = (float)half / 2.0f * NAME##_##X##_SCALE; \
            const float around[3] = { nextafterf(at, -INFINITY), at, nextafterf(at, INFINITY) }; \
            for (int i = 0; i < 3; i++) { \
                const float steps = around[i] / NAME##_##X##_SCALE; \
                assert(quantize(around[i]) == clamped(TIE((double)steps) + NAME##_##X##_ZERO_POINT, least, greatest)); \
            } \
        } \
        assert(quantize(INFINITY) == (greatest) && quantize(-INFINITY) == (least)); \
        assert(quantize(NAN) == NAME##_##X##_ZERO_POINT); \
        for (int i = 0; i < elems; i++) from[i] = (float)(i * 7 % 300 - 150) * NAME##_##X##_SCALE; \
        all(from, to); \
        for (int i = 0; i < elems; i++) assert(to[i] == quantize(from[i])); \
    } while (0)
END
cat > "$work/tflite_grid.c" <<'END'
#include "q.h"
#include <string.h>
#define TIE(x) round(x)
#include "grid.h"
int main(void)
{
    int8_t y[Q_Y_ELEMS] = { -128, -7, 0, 127, -128, -7, 0, 127 };
    float real[Q_Y_ELEMS];
    GRID(Q, X, q_quantize_x, q_quantize_x_all, -128, 127);
    q_dequantize_y_all(y, real);
    for (int i = 0; i < (int)Q_Y_ELEMS; i++)
        assert(real[i] == 1.5f * (float)(y[i] + 7) && real[i] == q_dequantize_y(y[i]));
    return strcmp(Q_MODEL, "conv-int8.tflite") != 0 || strcmp(Q_TARGET, "generic") != 0 ||
           strcmp(Q_OPTIONS, DIGESTED) != 0 || strlen(Q_MODEL_SHA256) != 64;
}
END
cat > "$work/even_grid.c" <<'END'
#include "e.h"
#define TIE(x) nearbyint(x)
#include "grid.h"
int main(void)
{
    GRID(E, INPUT, e_quantize_input, e_quantize_input_all, -128, 127);
    return 0;
}
END
# grid COMPILER WORDS FILE
grid() {
    # shellcheck disable=SC2086
    $1 $2 $strict -Wconversion -Wshadow -Wdouble-promotion -Wundef '-DDIGESTED="--layers"' -I"$work" \
        "$work/$3.c" -o "$work/grid" -lm && "$work/grid"
}
"$lw" tests/fuzz/corpus-tflite/conv-int8.tflite --layers --combine none --name q -o "$work/q.c"
"$lw" quantize samples/digits/digits.onnx --samples samples/digits/calibration.npy --name e -o "$work/e.c" \
    > "$work/e.txt"
for compiler in gcc clang tcc; do
    for file in tflite_grid even_grid; do
        name=header-quantizes-as-the-reference-$file-$compiler
        if has $compiler; then check "$name" grid $compiler "-std=c99 -O1" $file
        else skip "$name" "$compiler is not installed"; fi
    done
done
for compiler in g++ clang++; do
    if has $compiler; then check "header-quantizes-in-$compiler" grid $compiler "-x c++ -std=c++17 -O1" tflite_grid
    else skip "header-quantizes-in-$compiler" "$compiler is not installed"; fi
done
digest() { grep -q "\"$(sha256sum tests/fuzz/corpus-tflite/conv-int8.tflite | cut -d' ' -f1)\"" "$work/q.h"; }
if has sha256sum; then check header-has-the-model-s-digest digest
else skip header-has-the-model-s-digest "sha256sum is not installed"; fi

# The order of a port's dimensions follows from the windows that read or compute it; a reshape ends it.
printf '%s\n' 'input a: f32[1][3][8][8]' 'input b: f32[1][64]' \
    'p = pad(transpose(a, perm=0,2,3,1), pad=0,1,1,0,0,1,1,0)' \
    'c = relu(avg_pool2d(p, kernel=2,2, stride=2))' 'd = transpose(c, perm=0,3,1,2)' \
    'e = max_pool2d(reshape(b, shape=1,8,8,1), kernel=2,2)' 'output c' 'output d' 'output e' > "$work/order.te"
order() {
    "$lw" "$work/order.te" --name o -o "$work/o.c" --quiet &&
        [ "$(sed -n 's/^#define O_\(.*\)_LAYOUT *\("[NHWC]*"\)$/\1 \2/p' "$work/o.h" | paste -sd,)" = \
            'A "NCHW",C "NHWC",D "NCHW",E "NHWC"' ]
}
check header-has-the-order-of-dimensions order

# model.c compiled as C++11: an Arduino sketch may rename it.
as_cpp() {
    "$lw" "$2" -o "$work/cpp.c" --target "$3" $4 &&
        $1 -x c++ -std=c++11 -Wall -Wextra -Werror -pedantic $5 -Iruntime -c "$work/cpp.c" -o "$work/cpp.o"
}
for compiler in g++ clang++; do
    for way in "$digits generic" "$digits cortex-m4" "tests/fuzz/corpus-tflite/conv-int8.tflite cortex-m4" \
        "$work/two.te cortex-m55" "tests/golden/control-flow/control-flow.onnx generic"; do
        name=model-c-is-cpp-$(basename "${way% *}" | sed 's/[.].*//')-${way#* }-$compiler
        if ! has $compiler; then skip "$name" "$compiler is not installed"; continue; fi
        check "$name" as_cpp $compiler "${way% *}" "${way#* }" "" ""
        check "$name-standalone" as_cpp $compiler "${way% *}" "${way#* }" --standalone -Wno-unused-function
    done
done

# ---- A C++ class, class names, a stamp -------------------------------------------------------------------------------

cat > "$work/class.cpp" <<'END'
#include "c.hpp"
#include "d.hpp"
#include "p.hpp"
#include "s.hpp"
#include <string.h>
static c::Model plain;
static d::Model decided;
static int rows_of_run(int64_t n, int32_t *size)
{
    static float x[D_X_ELEMS], y[7][D_MANY_ELEMS + D_SEEDED_ELEMS + D_NESTED_ELEMS + D_WRITTEN_ELEMS + D_BRANCHES_ELEMS
                                    + D_FUNCTIONS_ELEMS + D_SCANNED_ELEMS];
    int32_t k[4];
    return decided.run(&n, x, y[0], y[1], y[2], y[3], y[4], y[5], y[6], size, &k[0], &k[1], &k[2], &k[3]);
}
static p::Model placed;
static s::Model kept;
int main()
{
    const float a[64] = { 1, 2, 3, 4 };
    float scores[10], sum[4];
    static const char *const names[] = C_CLASS_NAMES;
    if (C_CLASS_COUNT != 10 || strcmp(names[9], "\"9\" \\?") != 0) return 1;
    memcpy(placed.input_input(), a, sizeof a);
    if (plain.run(a, scores) != 0 || placed.run() != 0) return 2;
    if (memcmp(scores, placed.output_scores(), sizeof scores) != 0) return 3;
    if (kept.run(a, sum) != 0 || sum[3] != 4 || kept.run(a, sum) != 0 || sum[3] != 8) return 4;
    kept.reset();
    if (kept.run(a, sum) != 0 || sum[3] != 4) return 5;
    int32_t size = -1;
    for (int64_t n = 0; n < 4; n++)
        if (rows_of_run(n, &size) != 0 || size != n) return 6;
    if (rows_of_run(1, nullptr) != D_E_NULL) return 7;
    return plain.run(nullptr, scores) == C_E_NULL ? 0 : 8;
}
END
printf '0\n1\n2\n3\n\n4\r\n5 \n6\n7\n8\n"9" \\?' > "$work/names.txt"
printf 'input a: f32[4]\ninput h: f32[4]\ns = add(a, h)\nt = relu(s)\noutput t, s\n' > "$work/state.te"
class() {
    "$lw" $digits --name c --cpp --stamp --class-names "$work/names.txt" -o "$work/c.c" &&
        "$lw" tests/models/draws.onnx --name d --cpp -o "$work/d.c" &&
        "$lw" $digits --name p --cpp --io arena -o "$work/p.c" &&
        "$lw" "$work/state.te" --name s --cpp --state h=s -o "$work/s.c" --static-arena &&
        for f in c d p s; do $cc -std=c99 -O1 -Iruntime -c "$work/$f.c" -o "$work/$f.o" || return; done
    $1 -std=c++11 $strict -Wshadow -Wconversion "$work/class.cpp" "$work"/[cdps].o -lm \
        -o "$work/class" &&
        "$work/class"
}
for compiler in g++ clang++; do
    if has $compiler; then check "cpp-class-runs-as-c-does-$compiler" class $compiler
    else skip "cpp-class-runs-as-c-does-$compiler" "$compiler is not installed"; fi
done
stamped() {
    "$lw" $digits --stamp -o "$work/st.c" && grep -q "^ [*] Loopwright [0-9.]*$" "$work/st.h" &&
        ! grep -q "Loopwright [0-9]" "$work/two.h"
}
check header-is-stamped-on-request stamped
flags_are_said() {
    "$lw" $digits --target x86-avx2 -o "$work/avx.c" &&
        grep -q 'Compile with -mavx2 -mfma. Other builds take the portable form' "$work/avx.h"
}
check header-names-the-flags-of-its-instructions flags_are_said

# ---- Names of ports --------------------------------------------------------------------------------------------------

# renames WORDS OPTION...: refused with the words.
refuses_names() {
    words=$1
    shift
    "$lw" $digits --name r -o "$work/refused.c" "$@" 2> "$log.names" && return 1
    grep -qF -e "$words" "$log.names" || { cat "$log.names"; return 1; }
}
renamed() {
    "$lw" $digits --name r --rename input=pixels --rename scores=digits --cpp --testbench -o "$work/r.c" || return 1
    grep -q '^#define R_PIXELS_ELEMS  *64u' "$work/r.h" && grep -q 'float \*digits;' "$work/r.h" &&
        ! grep -q 'R_INPUT_\|R_SCORES_' "$work/r.h" &&
        grep -qF 'OPTIONS "--rename input=pixels --rename scores=digits"' "$work/r.h" &&
        $cc -std=c99 $strict -Iruntime -c "$work/r.c" -o "$work/r.o" &&
        $cc -std=c99 $strict -Iruntime -c "$work/r_main.c" -o "$work/r.o"
}
check rename-gives-fields-and-macros renamed
renamed_state() {
    "$lw" tests/emitted/filter.te --state level=new_level --state last=new_last --rename level=loudness --name f \
        -o "$work/f.c" &&
        grep -q 'float loudness\[' "$work/f.h" && ! grep -q 'float level\[' "$work/f.h"
}
check rename-gives-fields-of-the-state renamed_state
check rename-of-no-port-is-refused refuses_names 'no input or output "pixel"; use "input", "scores"' \
    --rename pixel=x
check rename-of-a-near-port-is-hinted refuses_names "no input or output \"imput\"; did you mean 'input'?" \
    --rename imput=x
check rename-to-a-keyword-is-refused refuses_names '"int" is not a name that C leaves free' --rename input=int
check rename-to-no-identifier-is-refused refuses_names '"my-input" is not a name that C leaves free' \
    --rename input=my-input
check rename-to-a-macro-of-the-header-is-refused refuses_names '"own_R_X" is free' --rename input=R_X
check rename-to-another-port-is-refused refuses_names '"scores" has that name in the header' --rename input=Scores
check rename-of-two-to-one-is-refused refuses_names 'has that name in the header' --rename input=a --rename scores=a
check rename-twice-is-refused refuses_names '"input" is given twice with --rename' --rename input=a --rename input=b

few() {
    printf 'a\nb\n' > "$work/few.txt"
    words='few.txt: error: 2 names of classes are given, but no output has this many elements on its last axis'
    ! "$lw" $digits --class-names "$work/few.txt" -o "$work/few.c" 2> "$log.few" &&
        grep -q "$words: scores \[1\]\[10\]" "$log.few" && [ ! -e "$work/few.c" ]
}
check class-names-fit-an-output few

# labels.tflite has metadata that name its two classes, in an archive after the model (tests/tools/labels.py).
labels() {
    "$lw" tests/models/labels.tflite -o "$work/labels.c" && grep -qF '{ "off", "the \"on\" state" }' "$work/labels.h"
}
check class-names-of-tflite-metadata labels
labels_of_user() {
    printf 'a\nb\n' > "$work/two.txt"
    "$lw" tests/models/labels.tflite --class-names "$work/two.txt" -o "$work/labels.c" &&
        grep -qF '{ "a", "b" }' "$work/labels.h"
}
check class-names-of-the-option-precede-metadata labels_of_user
# damaged LENGTH WORDS: the first LENGTH bytes of the file compile without names, with a warning.
damaged() {
    head -c "$1" tests/models/labels.tflite > "$work/cut.tflite"
    "$lw" "$work/cut.tflite" -o "$work/cut.c" 2> "$log.cut" && ! grep -q CLASS "$work/cut.h" &&
        grep "warning: the class names of the metadata, file \"labels.txt\", are left out: .*$2" "$log.cut"
}
check class-names-without-their-archive-are-a-warning damaged 931 'does not end like a zip file'

documented() {
    "$lw" "$work/two.te" -o "$work/two.c" && grep -q '^#define TWO_E_NULL  *(-4) */\* .*null' "$work/two.h"
}
check null-pointers-are-documented  documented

report_end
