/* SPDX-License-Identifier: MIT */
/* The stored value is a staircase over the integer a. The staircase steps from k-1 to k at the first a that reaches (k
 * - 1/2 - zero); a tie belongs to the even side. (a * m + c) >> n is the same staircase if, for every step k at a = t,
 *
 *     k * 2^n <= m * t + c      and      m * (t - 1) + c < k * 2^n
 *
 * The factor is rounded to 31 bits. Each of the at most 255 steps then bounds c. Any c in the intersection of all
 * bounds gives every value exactly; no check is needed afterwards. The position of a step is computed in real numbers:
 * doubles with an error bound, and if that is inconclusive, exact sums of doubles (Shewchuk 1997, "Adaptive precision
 * floating-point arithmetic").
 *
 * A 16-bit grid has 256 times as many steps, so c must be in an interval 256 times as short, and a factor of 31 bits
 * rarely satisfies this. A factor m + low / 2^31 of two words has such a small error that a step that is clearly
 * between two integers needs no check; the other steps bound c as above.
 *
 * Ties at every second step admit no such c, because a straight line cannot treat odd and even steps differently. The
 * scales are then fractions of small numbers, and an exact quotient is used. */
#include "graph/quantize/requantize.h"

#include <float.h>
#include <math.h>

#include "support/ctx.h"

enum { FACTOR_BITS = 31, MOST_N = 52, MOST_TRIES = 8 };

/* ---- Exact real numbers ------------------------------------------------------------------------------------------ */

enum { MOST_PARTS = 16 };

/* An exact number: the sum of its parts, with the smallest part first. */
typedef struct Exact { int count; double part[MOST_PARTS]; } Exact;

static void exact_add(Exact *x, double v)
{
    int kept = 0;
    for (int i = 0; i < x->count; i++) {
        double sum = v + x->part[i], back = sum - v, rest = (v - (sum - back)) + (x->part[i] - back);
        if (rest != 0) x->part[kept++] = rest;
        v = sum;
    }
    x->part[kept++] = v;
    x->count = kept;
}

static void exact_add_product(Exact *x, double a, double b)
{
    double p = a * b;
    exact_add(x, fma(a, b, -p));
    exact_add(x, p);
}

static int sign(double v) { return v > 0 ? 1 : v < 0 ? -1 : 0; }

/* Returns the sign of the number. The sign follows from the largest part, because this part exceeds the sum of the
 * other parts. */
static int exact_sign(const Exact *x)
{
    for (int i = x->count - 1; i >= 0; i--)
        if (x->part[i] != 0) return sign(x->part[i]);
    return 0;
}

double exact_product(double a, double b) { return fma(a, b, -(a * b)) == 0 ? a * b : (double)NAN; }

double exact_sum(double a, double b)
{
    Exact x = { 0 };
    exact_add(&x, a);
    exact_add(&x, b);
    return x.count == 1 ? a + b : (double)NAN;
}

/* Returns the sign of 2 * ((a - zero) * scale + b * scale_b + offset) - halves * count * step. */
static int sign_at(const Affine *x, int64_t a, double scale_b, int64_t b, int64_t halves, double step)
{
    const double twice = 2 * (double)(a - x->zero), other = 2 * (double)b, edge = -(double)(halves * x->count);
    const double term[] = { twice * x->scale, other * scale_b, 2 * x->offset, edge * step };
    double near = 0, size = 0;
    for (int i = 0; i < 4; i++) near += term[i], size += fabs(term[i]);
    if (fabs(near) > size * 0x1p-49) return sign(near);
    Exact e = { 0 };
    exact_add_product(&e, twice, x->scale);
    exact_add_product(&e, other, scale_b);
    exact_add(&e, 2 * x->offset);
    exact_add_product(&e, edge, step);
    return exact_sign(&e);
}

/* Returns true if the real number reaches the step from k - 1 to k. A tie rounds to the even value, counted from the
 * zero point. */
static bool reaches_with(const Affine *x, int64_t a, double scale_b, int64_t b, const Grid *g, int64_t k)
{
    int64_t place = k - g->zero;
    int s = sign_at(x, a, scale_b, b, 2 * place - 1, g->step);
    return s > 0 || (s == 0 && place % 2 == 0);
}

static bool reaches(const Affine *x, int64_t a, const Grid *g, int64_t k) { return reaches_with(x, a, 0, 0, g, k); }

static int64_t bounded(double v, int64_t least, int64_t greatest)
{
    return !(v > (double)least) ? least : v >= (double)greatest ? greatest : (int64_t)v;
}

/* Returns the stored value of a * scale + b * scale_b + offset. Starts from an estimate and corrects it step by
 * step. */
static int64_t stored_value_of(const Affine *x, int64_t a, double scale_b, int64_t b, const Grid *g, int64_t least,
                               int64_t greatest)
{
    double v = ((double)a * x->scale + (double)b * scale_b + x->offset) / ((double)x->count * g->step);
    int64_t k = bounded(nearbyint(v) + (double)g->zero, least, greatest);
    while (k > least && !reaches_with(x, a, scale_b, b, g, k)) k--;
    while (k < greatest && reaches_with(x, a, scale_b, b, g, k + 1)) k++;
    return k;
}

int64_t grid_quantize(double v, const Grid *g)
{
    enum { FAR = 1 << 20 };
    return stored_value_of(&(Affine){ 0, v, 1, 0 }, 0, 0, 0, g, -FAR, FAR);
}

/* Returns the first a in the range that reaches k, or one past the range if none does. */
static int64_t step_at(const Affine *x, const Grid *g, Interval range, int64_t k)
{
    double v = (((double)(k - g->zero) - 0.5) * g->step * (double)x->count - x->offset) / x->scale;
    int64_t t = bounded(ceil(v + (double)x->zero), range.least, range.greatest + 1);
    while (t > range.least && reaches(x, t - 1, g, k)) t--;
    while (t <= range.greatest && !reaches(x, t, g, k)) t++;
    return t;
}

/* ---- A single line through all steps ----------------------------------------------------------------------------- */

/* Returns true if x and g are within bounds for which every estimate of a step is close to the step, and the functions
 * below do not overflow. */
static bool is_sound(const Affine *x, const Grid *g)
{
    const double least = 0x1p-100, most = 0x1p100, near = 0x1p-40, far = 0x1p40;
    double unit = (double)x->count * g->step, ratio = x->scale / unit;
    bool is_scaled = x->scale >= least && x->scale <= most && g->step >= least && g->step <= most && ratio >= near
                     && ratio <= far;
    bool is_grid = g->least <= g->greatest && g->least >= -(1 << 16) && g->greatest <= 1 << 16 && g->zero >= -(1 << 16)
                   && g->zero <= 1 << 16;
    return is_scaled && is_grid && fabs(x->offset) <= unit * 0x1p30 && x->count >= 1 && x->count < 1 << 24;
}

/* Returns the number in the interval with the most trailing zeros, which is easy to read and often half a word. */
static int64_t roundest(Interval i)
{
    for (int bits = 62; bits > 0; bits--) {
        int64_t unit = INT64_C(1) << bits, at = floor_div(i.greatest, unit) * unit;
        if (at >= i.least) return at;
    }
    return i.least;
}

static Interval intersect(Interval a, Interval b)
{
    return (Interval){ a.least > b.least ? a.least : b.least, a.greatest < b.greatest ? a.greatest : b.greatest };
}

/* Returns the interval of c for this m and n. Beyond the first and last values the line may continue; clamps limit
 * it. */
static Interval offsets_for(const int64_t *step, const Grid *g, Interval range, int64_t m, int n)
{
    Interval c = { INT64_MIN / 2, INT64_MAX / 2 };
    for (int64_t k = g->least + 1; k <= g->greatest; k++) {
        int64_t t = step[k - g->least - 1], edge = k * (INT64_C(1) << n);
        if (t <= range.greatest) c = intersect(c, (Interval){ edge - m * t, INT64_MAX / 2 });
        if (t > range.least) c = intersect(c, (Interval){ INT64_MIN / 2, edge - m * (t - 1) - 1 });
    }
    return c;
}

/* Returns the number of bits, at most `most`, by which the ratio can be shifted left and stay below 2^31. */
static int shift_for(double ratio, int most)
{
    int exponent;
    frexp(ratio, &exponent);
    int n = FACTOR_BITS - exponent;
    return n > most ? most : n;
}

int64_t offset_centered(const Grid *g, int n) { return (2 * g->zero + 1) * (INT64_C(1) << (n - 1)); }

/* Finds a line. If is_centered, its offset is the result of offset_centered. */
static bool line_of(const Affine *x, const Grid *g, Interval range, int most_shift, bool is_centered, Scaling *out)
{
    int64_t step[255];
    if (!is_sound(x, g) || g->greatest - g->least > 255 || range.least < INT32_MIN || range.greatest > INT32_MAX)
        return false;
    double ratio = x->scale / ((double)x->count * g->step);
    int n = shift_for(ratio, most_shift < MOST_N ? most_shift : MOST_N);
    if (n < 1) return false;
    int64_t nearest = (int64_t)nearbyint(ldexp(ratio, n));
    for (int64_t k = g->least + 1; k <= g->greatest; k++) step[k - g->least - 1] = step_at(x, g, range, k);
    for (int i = 0; i < 2 * MOST_TRIES; i++) {
        int64_t m = nearest + (i % 2 ? -(i + 1) / 2 : i / 2);
        if (m < 0 || m > INT32_MAX) continue;
        Interval c = offsets_for(step, g, range, m, n);
        const int64_t center = offset_centered(g, n);
        if (is_centered) c = intersect(c, (Interval){ center, center });
        if (c.least > c.greatest) continue;
        *out = (Scaling){ .m = m, .c = roundest(c), .n = n };
        return true;
    }
    return false;
}

bool scaling_of(const Affine *x, const Grid *g, Interval range, int most_shift, Scaling *out)
{
    return line_of(x, g, range, most_shift, false, out);
}

bool scaling_centered(const Affine *x, const Grid *g, Interval range, Scaling *out)
{
    enum { LEAST_SHIFT = 33 };
    return line_of(x, g, range, MOST_N, true, out) && out->n >= LEAST_SHIFT;
}

/* Returns a * (m + low / 2^31), rounded down. */
static int64_t words_product(const Scaling *s, int64_t a)
{
    return a * s->m + floor_div(a * s->low, INT64_C(1) << FACTOR_BITS);
}

/* Returns the largest shift for which the factor's high word has 31 bits, and no sum exceeds 2^61. */
static int shift_of_words(double ratio, double offset, const Grid *g, double reach, int most)
{
    const double size = fabs(offset) + fabs((double)g->zero) + 1 + reach * ratio;
    int n = shift_for(ratio, most < MOST_N ? most : MOST_N);
    while (n > 0 && ldexp(size, n) > 0x1p61) n--;
    return n;
}

/* Intersects the interval of c with the bounds of all steps whose position is within `blur` of an integer. */
static Interval offsets_of_words(const Affine *x, const Grid *g, Interval range, const Scaling *s, double blur,
                                 Interval c)
{
    const double unit = g->step * (double)x->count / x->scale, start = x->offset / x->scale - (double)x->zero;
    for (int64_t k = g->least + 1; k <= g->greatest; k++) {
        const double v = ((double)(k - g->zero) - 0.5) * unit - start;
        if (v < (double)range.least - 1 || v > (double)range.greatest + 1 || fabs(v - nearbyint(v)) > blur) continue;
        const int64_t t = step_at(x, g, range, k), edge = k * (INT64_C(1) << s->n);
        if (t <= range.greatest) c = intersect(c, (Interval){ edge - words_product(s, t), INT64_MAX / 2 });
        if (t > range.least) c = intersect(c, (Interval){ INT64_MIN / 2, edge - words_product(s, t - 1) - 1 });
    }
    return c;
}

bool scaling_of_words(const Affine *x, const Grid *g, Interval range, int most_shift, Scaling *out)
{
    enum { FREEDOM = 16 };
    const double unit = (double)x->count * g->step, ratio = x->scale / unit;
    const double offset = x->offset / unit - (double)x->zero * ratio;
    const double reach = fmax(fabs((double)range.least), fabs((double)range.greatest)) + fabs((double)x->zero);
    if (!is_sound(x, g) || range.least < INT32_MIN || range.greatest > INT32_MAX) return false;
    Scaling s = { .n = shift_of_words(ratio, offset, g, reach, most_shift) };
    const double factor = ldexp(ratio, s.n), high = floor(factor);
    if (s.n < 1 || factor < 1) return false;
    s.m = (int64_t)high;
    s.low = (int64_t)floor(ldexp(factor - high, FACTOR_BITS));
    const int64_t center = (int64_t)nearbyint(ldexp(offset + (double)g->zero + 0.5, s.n));
    /* The errors in units of a. `line` is the error without the position of a step: `ratio` is rounded, the low word is
     * cut off, and c may move. `blur` includes the position, which is a double. */
    const double line = reach * (0x1p-52 + ldexp(1, -FACTOR_BITS) / factor) + (FREEDOM + 2) / factor;
    const double blur = line + (reach + fabs(x->offset / x->scale) + 1) * 0x1p-48;
    const Interval c = offsets_of_words(x, g, range, &s, blur, (Interval){ center - FREEDOM, center + FREEDOM });
    if (blur > 0x1p-4 || c.least > c.greatest) return false;
    s.c = c.least <= center && center <= c.greatest ? center : c.least;
    *out = s;
    return true;
}

bool scaling_near(const Affine *x, double scale_b, const Grid *g, Interval range, int most_shift, Scaling *out)
{
    const double unit = (double)x->count * g->step, a = x->scale / unit, b = scale_b / unit, c = x->offset / unit;
    const double all = fmax(fabs((double)range.least), fabs((double)range.greatest)), most_error = 0x1p-8;
    if (!is_sound(x, g) || fabs(b) > 0x1p40) return false;
    /* In sums beyond 32 bits, the product has no room for all bits of the factor. Beyond the grid, the line needs no
     * accuracy, because it rises. */
    const double far = (0x1p17 + fabs(c)) / a, reach = all > INT32_MAX && b == 0 ? fmin(all, far) : all;
    int n = shift_for(fmax(a, fabs(b)), most_shift < MOST_N ? most_shift : MOST_N);
    while (all > INT32_MAX && n > 0 && ldexp(a * all, n) > 0x1p61) n--;
    const double one = ldexp(1, n), offset = (c + (double)g->zero + 0.5) * one;
    /* Factors are rounded by at most a half; b has 16 bits */
    if (n < 1 || (reach + (b != 0 ? 32768 : 0)) * 0.5 > most_error * one || fabs(offset) > 0x1p61) return false;
    *out = (Scaling){ .m = (int64_t)nearbyint(a * one), .m_b = (int64_t)nearbyint(b * one),
                      .c = c == 0 ? offset_centered(g, n) : (int64_t)nearbyint(offset), .n = n };
    return true;
}

bool scaling_of_sum(const Affine *x, double scale_b, const Grid *g, Interval range_a, Interval range_b, Scaling *out)
{
    enum { OPERAND_BITS = 9 };
    if (!is_sound(x, g) || !(fabs(scale_b) >= 0x1p-100 && fabs(scale_b) <= 0x1p100)) return false;
    double unit = (double)x->count * g->step, ratio_a = x->scale / unit, ratio_b = scale_b / unit;
    int n = shift_for(fabs(ratio_a) > fabs(ratio_b) ? fabs(ratio_a) : fabs(ratio_b), MOST_N);
    if (n < 1 || range_a.least < -(1 << OPERAND_BITS) || range_a.greatest > 1 << OPERAND_BITS
        || range_b.least < -(1 << OPERAND_BITS) || range_b.greatest > 1 << OPERAND_BITS)
        return false;
    int64_t ma = (int64_t)nearbyint(ldexp(ratio_a, n)), mb = (int64_t)nearbyint(ldexp(ratio_b, n)),
            one = INT64_C(1) << n;
    Interval c = { INT64_MIN / 2, INT64_MAX / 2 };
    if (ma > INT32_MAX || mb > INT32_MAX || mb < -INT32_MAX) return false;
    for (int64_t a = range_a.least; a <= range_a.greatest; a++)
        for (int64_t b = range_b.least; b <= range_b.greatest && c.least <= c.greatest; b++) {
            int64_t k = stored_value_of(x, a, scale_b, b, g, g->least, g->greatest), at = a * ma + b * mb;
            if (k > g->least) c = intersect(c, (Interval){ k * one - at, INT64_MAX / 2 });
            if (k < g->greatest) c = intersect(c, (Interval){ INT64_MIN / 2, (k + 1) * one - at - 1 });
        }
    if (c.least > c.greatest) return false;
    *out = (Scaling){ .m = ma, .m_b = mb, .c = roundest(c), .n = n };
    return true;
}

/* ---- Quotients with ties ----------------------------------------------------------------------------------------- */

enum { NUMERATORS = 3, MOST_BITS = 60 };

/* Decomposes v = mantissa * 2^exponent with an odd mantissa, which it returns. */
static int64_t odd_part(double v, int *exponent)
{
    int64_t mantissa = (int64_t)ldexp(frexp(v, exponent), DBL_MANT_DIG);
    *exponent -= DBL_MANT_DIG;
    for (; mantissa && mantissa % 2 == 0; mantissa /= 2) ++*exponent;
    return mantissa;
}

static int64_t gcd(int64_t a, int64_t b)
{
    while (b) {
        int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a < 0 ? -a : a;
}

static bool grow(int64_t *v, int64_t factor)
{
    int64_t most = INT64_C(1) << MOST_BITS, size = *v < 0 ? -*v : *v;
    if (size > most / factor) return false;
    *v *= factor;
    return true;
}

static bool is_power_of_two(int64_t v) { return v > 0 && (v & (v - 1)) == 0; }

static int64_t reach_of(const int64_t *part, const Interval *range)
{
    int64_t reach = part[2] < 0 ? -part[2] : part[2];
    for (int i = 0; i < 2; i++) {
        int64_t size = -range[i].least > range[i].greatest ? -range[i].least : range[i].greatest;
        reach = sat_add(reach, sat_mul(part[i] < 0 ? -part[i] : part[i], size));
    }
    return reach;
}

/* Expresses real[i] / (count * step) as part[i] / *d, in integers without a common divisor and with *d even. Sets
 * *is_short if, in their common unit, sums fit a float's 24 bits and quotients are shifts. */
static bool as_fractions(const double *real, int64_t count, double step, const Interval *range, int64_t *part,
                         int64_t *d, bool *is_short)
{
    int exponent[NUMERATORS + 1], least = 0;
    *d = odd_part(step, &exponent[NUMERATORS]);
    least = exponent[NUMERATORS];
    for (int i = 0; i < NUMERATORS; i++) {
        part[i] = odd_part(real[i], &exponent[i]);
        if (part[i] && exponent[i] < least) least = exponent[i];
    }
    if (!grow(d, count)) return false;
    for (int i = 0; i <= NUMERATORS; i++) {
        int64_t *v = i < NUMERATORS ? &part[i] : d;
        if (*v && (exponent[i] - least >= MOST_BITS || !grow(v, INT64_C(1) << (exponent[i] - least)))) return false;
    }
    *is_short = is_power_of_two(*d) && reach_of(part, range) <= INT64_C(1) << FLT_MANT_DIG;
    int64_t common = *d;
    for (int i = 0; i < NUMERATORS; i++) common = gcd(common, part[i]);
    if (*d / common % 2) {
        if (!grow(d, 2)) return false;
        for (int i = 0; i < NUMERATORS; i++)
            if (!grow(&part[i], 2)) return false;
    }
    for (int i = 0; i < NUMERATORS; i++) part[i] /= common;
    *d /= common;
    return true;
}

bool scaling_even(const Affine *x, double scale_b, const Grid *g, Interval range_a, Interval range_b, int64_t d,
                  Scaling *out)
{
    enum { MOST_D_BITS = 40 };
    const double real[NUMERATORS] = { x->scale, scale_b, x->offset };
    const Interval range[] = { range_a, range_b };
    int64_t part[NUMERATORS], own;
    bool is_short;
    if (!is_sound(x, g) || fabs(scale_b) > 0x1p100
        || !as_fractions(real, x->count, g->step, range, part, &own, &is_short))
        return false;
    if (!d) d = own;
    if (d % own || d > INT64_C(1) << MOST_D_BITS) return false;
    for (int i = 0; i < NUMERATORS; i++)
        if (!grow(&part[i], d / own)) return false;
    int64_t reach = sat_add(reach_of(part, range), d);
    if (reach > INT64_C(1) << MOST_BITS) return false;
    *out = (Scaling){ .is_even = true,
                      .is_wide = reach > INT32_MAX,
                      .equals_floats = is_short,
                      .m = part[0],
                      .m_b = part[1],
                      .c = part[2],
                      .d = d };
    return true;
}
