/* SPDX-License-Identifier: MIT */
/* Sums of two quantized bytes as lines: each line that is found gives the sum's bytes, computed here in 64 bits; nearly
 * all sums of random scales have one; sums that lie on no line have none. */
#include <math.h>
#include <stdlib.h>

#include "check.h"
#include "schedules/line.h"

static uint32_t state = 12345;
static uint32_t draw(void) { return state = state * 1664525u + 1013904223u, state >> 8; }
static double between(double least, double most) { return least + (most - least) * draw() / (1 << 24); }

/* v * factor / 2^31, then / 2^shift, each rounded: the first with ties up, the second with ties away from zero. */
static int64_t scaled(int64_t v, int64_t factor, int64_t shift)
{
    const int64_t high = (int64_t)floor(ldexp((double)(v * factor), -31) + 0.5), half = shift ? 1ll << (shift - 1) : 0;
    return high < 0 ? -((-high + half) / (1ll << shift)) : (high + half) / (1ll << shift);
}

static int64_t value_of(const ScaledSum *s, int a, int b)
{
    int64_t sum = 0;
    for (int i = 0; i < 2; i++) {
        const ScaledTerm *t = &s->term[i];
        sum += scaled(((i ? b : a) + t->zero) * (1 << 20), t->factor, t->shift);
    }
    const int64_t v = scaled(sum, s->factor, s->shift) + s->zero;
    return v < s->least ? s->least : v > s->most ? s->most : v;
}

static int64_t value_on(const ByteLine *l, const ScaledSum *s, int a, int b)
{
    const double sum = (double)a * (double)l->slope[0] + (double)b * (double)l->slope[1];      /* exact: 38 bits */
    const double v = floor(ldexp(floor(sum / 128) + (double)l->offset, -l->shift));
    return v < (double)s->least ? s->least : v > (double)s->most ? s->most : (int64_t)v;
}

/* A factor of 31 bits and a shift for a scale of at most 1, as TensorFlow Lite's QuantizeMultiplier. */
static void quantize_scale(double scale, int64_t *factor, int64_t *shift)
{
    int exponent;
    *factor = (int64_t)(frexp(scale, &exponent) * 2147483648.0 + 0.5);
    *shift = -exponent;
    if (*factor == 1ll << 31) *factor /= 2, --*shift;
    if (*shift < 0) *factor = INT32_MAX, *shift = 0;
}

/* An addition as TensorFlow Lite prepares it: terms by their scale over twice the greater one. */
static ScaledSum random_sum(void)
{
    const double scale[2] = { exp2(between(-8, 0)), exp2(between(-8, 0)) };
    const double twice = 2 * (scale[0] > scale[1] ? scale[0] : scale[1]);
    const double out = exp2(between(-1, 1)) * twice / 2;
    ScaledSum s = { .zero = (int)(draw() % 256) - 128, .least = -128, .most = 127 };
    if (draw() % 2) s.least = s.zero;      /* relu */
    for (int i = 0; i < 2; i++) {
        s.term[i].zero = (int)(draw() % 256) - 127;
        quantize_scale(scale[i] / twice, &s.term[i].factor, &s.term[i].shift);
    }
    quantize_scale(twice / ((1 << 20) * out), &s.factor, &s.shift);
    return s;
}

static int differences(const ScaledSum *s, const ByteLine *l)
{
    int count = 0;
    for (int a = -128; a < 128; a++)
        for (int b = -128; b < 128; b++) count += value_on(l, s, a, b) != value_of(s, a, b);
    return count;
}

static void check_random(void)
{
    enum { SUMS = 200, LEAST = 190 };
    Ctx *cx = ctx_new(NULL, NULL);
    int found = 0, wrong = 0, wide = 0;
    for (int i = 0; i < SUMS; i++) {
        const ScaledSum s = random_sum();
        ByteLine l;
        if (!line_of_sum(cx, &s, &l)) continue;
        found++;
        wrong += differences(&s, &l) > 0;
        const int64_t most = l.slope[0] + l.slope[1] + (l.offset < 0 ? -l.offset : l.offset) + 1;
        wide += most > INT32_MAX || l.slope[0] < 0 || l.slope[1] < 0 || l.slope[0] >> 29 || l.slope[1] >> 29
                || l.shift < 1 || l.shift > 31;
    }
    ctx_free(cx);
    check_that(wrong == 0, "lines-equal-their-sums", "%d of %d differ", wrong, found);
    check_that(wide == 0, "no-step-passes-32-bits", "%d of %d do", wide, found);
    check_that(found >= LEAST, "most-sums-are-lines", "%d of %d", found, SUMS);
}

/* A term that is shifted to few values has steps; a negative factor is not of a quantized sum. */
static void check_none(void)
{
    const ScaledSum steps = { { { 0, 1 << 30, 20 }, { 0, 1 << 30, 20 } }, INT32_MAX, 0, 0, -128, 127 };
    const ScaledSum negative = { { { 0, -(1 << 30), 0 }, { 0, 1 << 30, 0 } }, 1 << 30, 18, 0, -128, 127 };
    Ctx *cx = ctx_new(NULL, NULL);
    ByteLine l;
    check_that(!line_of_sum(cx, &steps, &l) || differences(&steps, &l) == 0, "steps-are-no-line",
               "a wrong line is found");
    check_that(!line_of_sum(cx, &negative, &l), "negative-factors", "a line is found");
    ctx_free(cx);
}

int main(void)
{
    CHECK_RUN(check_random, check_none);
    return check_done();
}
