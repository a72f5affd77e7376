/* SPDX-License-Identifier: MIT */
/* Prints constants: exact, short, and fast, because a model may have millions. A float has the fewest digits that parse
 * to the same float: .0123f rather than 0.0123f, 1e-9f rather than .000000001f.
 *
 * The digits come from a double, whose precision separates adjacent floats. A final parse verifies them. If it differs,
 * or the value is outside of the table's range, the slow exact method is used. */
#include "cgen/weights.h"

#include <string.h>

#include "cgen/spell.h"

enum { LINE_WIDTH = 120, LONGEST = 22, MOST_DIGITS = 9, LARGEST_POWER = 45 };

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

/* digits * 10^exponent, an integer of `count` digits without a trailing 0. */
typedef struct Decimal { int64_t digits; int count, exponent; } Decimal;

/* Computes the shortest decimal that double arithmetic yields for v > 0; false if the table does not reach. */
static bool shortest(float v, Decimal *out)
{
    int magnitude = 0;                         /* 10^magnitude <= v < 10^(magnitude + 1) */
    while (magnitude < 38 && (double)v >= powers[magnitude + 1]) magnitude++;
    while (magnitude > -36 && (double)v < scaled(1, magnitude)) magnitude--;
    if (magnitude <= -36) return false;
    for (int count = 1; count <= MOST_DIGITS; count++) {
        int power = count - 1 - magnitude;
        if (power > LARGEST_POWER) return false;
        int64_t digits = (int64_t)(scaled((double)v, power) + 0.5);
        if ((float)scaled((double)digits, -power) != v) continue;
        *out = (Decimal){ digits, 0, -power };
        while (out->digits % 10 == 0) {
            out->digits /= 10;
            out->exponent++;
        }
        for (int64_t rest = out->digits; rest; rest /= 10) out->count++;
        return true;
    }
    return false;
}

/* Prints digits with a point or an exponent, whichever is shorter; never in the form of an integer. */
static void decimal_text(char *out, Decimal d)
{
    char digits[24];
    int n = 0, point = d.count + d.exponent;     /* digits before the point */
    for (int i = d.count - 1; i >= 0; i--, d.digits /= 10) digits[i] = (char)('0' + d.digits % 10);
    if (point >= -3 && point <= d.count + 2) {
        for (int i = 0; i < (point > 0 ? point : 0); i++) out[n++] = i < d.count ? digits[i] : '0';
        out[n++] = '.';
        for (int i = point; i < 0; i++) out[n++] = '0';
        for (int i = point > 0 ? point : 0; i < d.count; i++) out[n++] = digits[i];
    } else {
        memcpy(out, digits, (size_t)d.count);
        n = d.count;
        out[n++] = 'e';
        if (d.exponent < 0) out[n++] = '-';
        int e = d.exponent < 0 ? -d.exponent : d.exponent;
        if (e >= 10) out[n++] = (char)('0' + e / 10);
        out[n++] = (char)('0' + e % 10);
    }
    out[n] = 0;
}

static void float_text(Ctx *cx, Text *t, float v)
{
    char text[64];
    Decimal d;
    Scalar s = { .f = (double)v };
    float magnitude = v < 0 ? -v : v;
    if (v == 0) {
        text_add(t, 1 / v < 0 ? "-0.f" : "0.f");
        return;
    }
    if (v != v || v - v != 0 || !shortest(magnitude, &d)) {
        text_add(t, spell_number(cx, F32, s));
        return;
    }
    decimal_text(text, d);
    if (text_read_float(text, NULL) != magnitude) {
        text_add(t, spell_number(cx, F32, s));
        return;
    }
    if (v < 0) text_char(t, '-');
    text_add(t, text);
    text_char(t, 'f');
}

/* Prints the stored bits of 16-bit floats. */
static DType stored_type(DType t) { return t == F16 || t == BF16 ? U16 : t; }

void weights_text(Ctx *cx, Text *t, const Tensor *constant)
{
    DType type = stored_type(constant->type);
    size_t line_start = t->length;
    text_add(t, "    ");
    for (int64_t i = 0, n = tensor_elems(constant); i < n; i++) {
        if (t->length - line_start > LINE_WIDTH - LONGEST) {
            text_char(t, '\n');
            line_start = t->length;
            text_add(t, "    ");
        }
        Scalar v = dtype_load(type, constant->data, i);
        if (type == F32) float_text(cx, t, (float)v.f);
        else text_add(t, spell_number(cx, type, v));
        if (i + 1 < n) text_char(t, ',');
    }
    text_char(t, '\n');
}
