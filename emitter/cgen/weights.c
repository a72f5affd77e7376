/* SPDX-License-Identifier: MIT */
/* Prints constants: exact, short, and fast, because a model may have millions. A float has the fewest digits that parse
 * to the same float: .0123f rather than 0.0123f, 1e-9f rather than .000000001f.
 *
 * The digits come from a double, whose precision separates adjacent floats. The quotient of the digits and an exact
 * power of ten is correctly rounded, and its float is as well, unless the quotient is within a unit of a midpoint
 * between two floats. A parse verifies such digits. If that fails, or the value is outside the table's range, the slow
 * exact method is used. */

/* Decision: weights are printed into the file. The text of weights is three times their size, so the emitted source is
 * a text with a position for each constant's elements (`Source` in `cgen/cgen.h`), and `cgen/weights.c` prints the
 * elements while the file is written. ResNet-50, with 102 MB of weights and 325 MB of C, uses 350 MB of memory (`make
 * bench-compiler`). */
#include "cgen/weights.h"

#include <string.h>

#include "cgen/spell.h"

enum { LINE_WIDTH = 120, LONGEST = 22, MOST_DIGITS = 9, LARGEST_POWER = 45, EXACT_POWER = 22, SMALLEST = -36,
       LARGEST = 38, BUFFER = 1 << 14 };

static const double powers[LARGEST_POWER + 1] = {
    1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18,
    1e19, 1e20, 1e21, 1e22,
    1e23, 1e24, 1e25, 1e26, 1e27, 1e28, 1e29, 1e30, 1e31, 1e32, 1e33, 1e34, 1e35, 1e36, 1e37, 1e38, 1e39, 1e40, 1e41,
    1e42, 1e43, 1e44, 1e45,
};

static double scaled(double v, int power)
{
    return power >= 0 ? v * powers[power] : v / powers[-power];
}

/* Returns the m with 10^m <= v < 10^(m + 1), clamped to the table. The estimate from v's exponent is off by at most
 * 1. */
static int magnitude_of(float v)
{
    uint32_t bits;
    memcpy(&bits, &v, sizeof bits);
    int m = ((int)(bits >> 23) * 1233 - 127 * 1233 - 4095) / 4096;      /* 1233 / 4096 is log10(2) */
    m = m < SMALLEST ? SMALLEST : m > LARGEST ? LARGEST : m;
    while (m < LARGEST && (double)v >= scaled(1, m + 1)) m++;
    while (m > SMALLEST && (double)v < scaled(1, m)) m--;
    return m;
}

/* The number digits * 10^exponent, where `digits` is an integer of `count` digits without a trailing 0. is_certain:
 * true if the number is proved to parse to the float. */
typedef struct Decimal { int64_t digits; int count, exponent; bool is_certain; } Decimal;

/* Returns true if q is not next to a midpoint of two floats. q is a quotient or product of exact numbers, rounded to
 * double. */
static bool is_apart_from_midpoints(double q)
{
    enum { HALF = 1 << 28, MARGIN = 4 };
    uint64_t bits;
    memcpy(&bits, &q, sizeof bits);
    const int64_t low = (int64_t)(bits & (2 * (uint64_t)HALF - 1));
    return low < HALF - MARGIN || low > HALF + MARGIN;
}

/* Computes the decimal of `count` digits that is nearest to v. Returns false if the decimal parses to a different
 * float. */
static bool has_digits(float v, int count, int magnitude, Decimal *out)
{
    const int power = count - 1 - magnitude;
    const int64_t digits = (int64_t)(scaled((double)v, power) + 0.5);
    const double back = scaled((double)digits, -power);
    if ((float)back != v) return false;
    const bool is_exact = power >= -EXACT_POWER && power <= EXACT_POWER;
    *out = (Decimal){ digits, 0, -power, is_exact && v > 1e-30f && is_apart_from_midpoints(back) };
    return true;
}

/* Computes the shortest decimal that double arithmetic yields for v > 0. Returns false if v is outside the table. Fewer
 * digits are farther from v, so most weights, which have more than MIDDLE digits, take a few trials. */
static bool shortest(float v, Decimal *out)
{
    enum { MIDDLE = 6 };
    const int magnitude = magnitude_of(v);
    if (magnitude <= SMALLEST) return false;
    int count = has_digits(v, MIDDLE, magnitude, out) ? 1 : MIDDLE + 1;
    while (count <= MOST_DIGITS && count - 1 - magnitude <= LARGEST_POWER && !has_digits(v, count, magnitude, out))
        count++;
    if (count > MOST_DIGITS || count - 1 - magnitude > LARGEST_POWER) return false;
    while (out->digits % 10 == 0) {
        out->digits /= 10;
        out->exponent++;
    }
    for (int64_t rest = out->digits; rest; rest /= 10) out->count++;
    return true;
}

/* Prints digits with a point or an exponent, whichever is shorter, but never in the form of an integer. Returns the end
 * of the text. */
static char *decimal_text(char *out, Decimal d)
{
    char digits[24];
    int point = d.count + d.exponent;     /* the number of digits before the point */
    for (int i = d.count - 1; i >= 0; i--, d.digits /= 10) digits[i] = (char)('0' + d.digits % 10);
    if (point >= -3 && point <= d.count + 2) {
        for (int i = 0; i < (point > 0 ? point : 0); i++) *out++ = i < d.count ? digits[i] : '0';
        *out++ = '.';
        for (int i = point; i < 0; i++) *out++ = '0';
        for (int i = point > 0 ? point : 0; i < d.count; i++) *out++ = digits[i];
    } else {
        memcpy(out, digits, (size_t)d.count);
        out += d.count;
        *out++ = 'e';
        if (d.exponent < 0) *out++ = '-';
        int e = d.exponent < 0 ? -d.exponent : d.exponent;
        if (e >= 10) *out++ = (char)('0' + e / 10);
        *out++ = (char)('0' + e % 10);
    }
    *out = 0;
    return out;
}

/* Copies `text` to `out` and returns the end of the copy. */
static char *word_text(char *out, const char *text)
{
    const size_t n = strlen(text);
    memcpy(out, text, n + 1);
    return out + n;
}

static char *float_text(Ctx *cx, char *out, float v)
{
    Decimal d;
    const float magnitude = v < 0 ? -v : v;
    if (v == 0) return word_text(out, 1 / v < 0 ? "-0.f" : "0.f");
    if (v != v || v - v != 0 || !shortest(magnitude, &d))
        return word_text(out, spell_number(cx, F32, (Scalar){ .f = (double)v }));
    char *begin = v < 0 ? word_text(out, "-") : out, *end = decimal_text(begin, d);
    if (!d.is_certain && text_read_float(begin, NULL) != magnitude)
        return word_text(out, spell_number(cx, F32, (Scalar){ .f = (double)v }));
    return word_text(end, "f");
}

static char *small_integer_text(char *out, int64_t v)
{
    char digits[24];
    int n = 0;
    if (v < 0) *out++ = '-';
    for (int64_t rest = v < 0 ? -v : v; rest || !n; rest /= 10) digits[n++] = (char)('0' + rest % 10);
    while (n) *out++ = digits[--n];
    return out;
}

/* Returns the type of the stored bits of a 16-bit float. */
static DType stored_type(DType t) { return t == F16 || t == BF16 ? U16 : t; }

static char *element_text(Ctx *cx, char *out, DType type, Scalar v)
{
    if (type == F32) return float_text(cx, out, (float)v.f);
    const bool is_small = dtype_info(type)->bytes <= 2 && !dtype_is_float(type);
    return is_small ? small_integer_text(out, v.i) : word_text(out, spell_number(cx, type, v));
}

bool weights_are_finite(const Tensor *constant)
{
    const DType type = stored_type(constant->type);
    if (!dtype_is_float(type)) return true;
    for (int64_t i = 0, n = tensor_elems(constant); i < n; i++) {
        const double v = dtype_load(type, constant->data, i).f;
        if (v - v != 0) return false;
    }
    return true;
}

void weights_print(Ctx *cx, const Tensor *constant, TextPut *put, void *to)
{
    const DType type = stored_type(constant->type);
    char text[BUFFER], *const most = text + BUFFER - 2 * LINE_WIDTH, *at = word_text(text, "    "), *line = text;
    for (int64_t i = 0, n = tensor_elems(constant); i < n; i++) {
        if (at - line > LINE_WIDTH - LONGEST) {
            *at++ = '\n';
            if (at > most) {
                put(to, text, (size_t)(at - text));
                at = text;
            }
            line = at;
            at = word_text(at, "    ");
        }
        at = element_text(cx, at, type, dtype_load(type, constant->data, i));
        if (i + 1 < n) *at++ = ',';
    }
    *at++ = '\n';
    put(to, text, (size_t)(at - text));
}
