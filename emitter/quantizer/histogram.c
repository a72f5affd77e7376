/* SPDX-License-Identifier: MIT */
/* Collects histograms of activations and chooses ranges from them. The error of a range [low, high] with the step s is,
 * over all values v except exact zeros,
 *
 *     v < low: (low - v)^2      v > high: (v - high)^2      else: s^2 / 12
 *
 * where the last term is the variance of a rounding error that is uniform over a step. */
#include "quantizer/histogram.h"

#include <math.h>
#include <string.h>

enum { LEAST_EXPONENT = -120, LEVELS = 255 };

/* Halves the resolution until `magnitude` is inside. */
static void grow(Histogram *h, double magnitude)
{
    enum { HALF = HISTOGRAM_BINS / 2 };
    while (magnitude >= ldexp(1, h->exponent)) {
        int64_t wide[HISTOGRAM_BINS] = { 0 };
        for (int i = 0; i < HISTOGRAM_BINS; i++) wide[HALF / 2 + i / 2] += h->bin[i];
        memcpy(h->bin, wide, sizeof wide);
        h->exponent++;
    }
}

/* Returns the exponent of the smallest power of two above the magnitude. */
static int exponent_above(double magnitude)
{
    int exponent;
    frexp(magnitude, &exponent);
    return exponent < LEAST_EXPONENT ? LEAST_EXPONENT : exponent;
}

void histogram_add(Arena *arena, Histogram *h, const float *v, int64_t count)
{
    double greatest = 0;
    if (h->count == 0 && count > 0) h->first = v[0];
    for (int64_t i = 0; i < count; i++) {
        h->varies = h->varies || v[i] < h->first || v[i] > h->first;
        const double x = (double)v[i];
        if (x < h->least) h->least = x;
        if (x > h->greatest) h->greatest = x;
        if (fabs(x) > greatest) greatest = fabs(x);
    }
    h->count += count;
    if (greatest > 0 && !h->bin) {
        h->bin = NEW_ARRAY(arena, int64_t, HISTOGRAM_BINS);
        h->exponent = exponent_above(greatest);
    }
    if (h->bin) grow(h, greatest);
    const double per_unit = h->bin ? ldexp(HISTOGRAM_BINS / 2, -h->exponent) : 0;
    for (int64_t i = 0; i < count; i++) {
        if (v[i] == 0) h->zeros++;
        else h->bin[(int)floor((double)v[i] * per_unit) + HISTOGRAM_BINS / 2]++;
    }
}

Grid grid_of_range(double low, double high)
{
    if (low > 0) low = 0;
    if (high < 0) high = 0;
    if (!(high - low > 0)) high = low + 1;
    const float step = (float)((high - low) / LEVELS);
    Grid g = { step > 0 ? (double)step : 1, 0, INT8_MIN, INT8_MAX };
    const double zero = nearbyint(INT8_MIN - low / g.step);
    g.zero = zero < INT8_MIN ? INT8_MIN : zero > INT8_MAX ? INT8_MAX : (int64_t)zero;
    return g;
}

double grid_low(const Grid *g) { return (double)(g->least - g->zero) * g->step; }
double grid_high(const Grid *g) { return (double)(g->greatest - g->zero) * g->step; }

Grid grid_short(Grid g)
{
    int exponent;
    const double part = frexp(g.step, &exponent), step = ldexp(ceil(ldexp(part, SHORT_BITS)), exponent - SHORT_BITS);
    const double zero = nearbyint((double)g.least + (double)(g.zero - g.least) * g.step / step);
    if (g.zero != 0 || g.least == INT8_MIN) g.zero = (int64_t)zero;
    g.step = step;
    return g;
}

Grid grid_whole(const Histogram *h) { return grid_of_range(h->least, h->greatest); }

Grid grid_wide(const Histogram *h)
{
    const double most = fmax(fabs(h->least), fabs(h->greatest));
    const float step = (float)((most > 0 ? most : 1) / INT16_MAX);
    return (Grid){ (double)step, 0, -INT16_MAX, INT16_MAX };
}

double histogram_error(const Histogram *h, double low, double high)
{
    const double step = (high - low) / LEVELS, rounding = step * step / 12;
    const double width = h->bin ? ldexp(2.0 / HISTOGRAM_BINS, h->exponent) : 0;
    double error = 0;
    for (int i = 0; h->bin && i < HISTOGRAM_BINS; i++) {
        if (!h->bin[i]) continue;
        const double v = (i - HISTOGRAM_BINS / 2 + 0.5) * width, beyond = v < low ? low - v : v > high ? v - high : 0;
        error += (double)h->bin[i] * (beyond > 0 ? beyond * beyond : rounding);
    }
    return h->count ? error / (double)h->count : 0;
}

typedef struct Range { double low, high; } Range;

static Range squared_range(const Histogram *h)
{
    enum { SHRINKS = 100 };
    double low = h->least, high = h->greatest, best = histogram_error(h, low, high);
    const double whole_low = low, whole_high = high;
    /* Shrinks both ends together, then each end */
    for (int end = 0; end < 3; end++)
        for (int i = 1; i < SHRINKS; i++) {
            const double left = (double)(SHRINKS - i) / SHRINKS;
            const double l = end == 2 ? low : whole_low * left, r = end == 1 ? high : whole_high * left;
            const double error = histogram_error(h, l, r);
            if (!(error < best)) continue;
            best = error;
            low = l;
            high = r;
        }
    return (Range){ low, high };
}

Grid grid_least_error(const Histogram *h)
{
    const Range r = squared_range(h);
    return grid_of_range(r.low, r.high);
}

/* ---- Other methods ----------------------------------------------------------------------------------------------- */

static double width_of(const Histogram *h) { return h->bin ? ldexp(2.0 / HISTOGRAM_BINS, h->exponent) : 0; }
static double edge_of_bin(const Histogram *h, int i) { return (i - HISTOGRAM_BINS / 2) * width_of(h); }

/* Returns the range without this share of the values at each end, as far as the bins resolve it. */
static Range percentile_range(const Histogram *h, double share)
{
    const double most = share * (double)h->count;
    Range r = { h->least, h->greatest };
    int64_t below = 0, above = 0;
    for (int i = 0; h->bin && i < HISTOGRAM_BINS / 2; i++) {
        below += h->bin[i];
        if ((double)below > most) break;
        r.low = fmax(r.low, edge_of_bin(h, i + 1));
    }
    for (int i = HISTOGRAM_BINS - 1; h->bin && i >= HISTOGRAM_BINS / 2; i--) {
        above += h->bin[i];
        if ((double)above > most) break;
        r.high = fmin(r.high, edge_of_bin(h, i));
    }
    return r;
}

/* Returns the divergence of the histogram, clipped to the range, from its values on the range's levels. Each level
 * spreads its count evenly over its bins that are not empty. */
static double divergence(const Histogram *h, Range r)
{
    const double step = (r.high - r.low) / LEVELS, width = width_of(h);
    double count[LEVELS + 1] = { 0 }, bins[LEVELS + 1] = { 0 }, all = 0, sum = 0;
    int level[HISTOGRAM_BINS];
    if (!(step > 0)) return INFINITY;
    for (int i = 0; i < HISTOGRAM_BINS; i++) {
        level[i] = -1;
        if (!h->bin[i]) continue;
        const double at = (((i - HISTOGRAM_BINS / 2) * width + width / 2) - r.low) / step;
        all += (double)h->bin[i];
        if (!(at >= -0.5 && at < LEVELS + 0.5)) continue;
        level[i] = (int)fmin(LEVELS, floor(at + 0.5));
        count[level[i]] += (double)h->bin[i], bins[level[i]]++;
    }
    double clipped_low = 0, clipped_high = 0, inside = 0;
    for (int i = 0; i < HISTOGRAM_BINS; i++)
        if (level[i] >= 0) inside += (double)h->bin[i];
        else *(i < HISTOGRAM_BINS / 2 ? &clipped_low : &clipped_high) += (double)h->bin[i];
    if (!(inside > 0)) return INFINITY;
    int first = -1, last = -1;
    for (int i = 0; i < HISTOGRAM_BINS; i++)
        if (level[i] >= 0 && h->bin[i]) first = first < 0 ? i : first, last = i;
    for (int i = first; i <= last; i++) {
        const double p = ((double)(level[i] < 0 ? 0 : h->bin[i]) + (i == first ? clipped_low : 0)
                          + (i == last ? clipped_high : 0)) / all;
        const double q = level[i] >= 0 && h->bin[i] ? count[level[i]] / bins[level[i]] / inside : 0;
        if (p > 0) sum += p * log(p / fmax(q, 1e-12));
    }
    return sum;
}

static Range divergence_range(const Histogram *h)
{
    enum { SHRINKS = 100, LEAST = 20 };
    Range best = { h->least, h->greatest };
    double least = h->bin ? divergence(h, best) : 0;
    for (int end = 0; h->bin && end < 3; end++)                      /* both ends, then each end */
        for (int i = SHRINKS - 1; i >= LEAST; i--) {
            const double left = (double)i / SHRINKS;
            const Range r = { end == 2 ? best.low : h->least * left, end == 1 ? best.high : h->greatest * left };
            const double d = divergence(h, r);
            if (d < least) least = d, best = r;
        }
    return best;
}

/* Returns the range with the least squared error among the ranges of all methods; of equal ranges, the first. */
static Range least_range(const Histogram *h)
{
    const Range other[] = { percentile_range(h, 1e-3), percentile_range(h, 1e-4), percentile_range(h, 1e-5),
                            divergence_range(h) };
    Range best = squared_range(h);
    for (size_t i = 0; i < sizeof other / sizeof other[0]; i++)
        if (histogram_error(h, other[i].low, other[i].high) < histogram_error(h, best.low, best.high)) best = other[i];
    return best;
}

Grid grid_by(RangeMethod method, const Histogram *h)
{
    const Range r = method == RANGE_MIN_MAX ? (Range){ h->least, h->greatest }
                  : method == RANGE_SQUARED ? squared_range(h)
                  : method == RANGE_PERCENTILE ? percentile_range(h, 1e-4)
                  : method == RANGE_DIVERGENCE ? divergence_range(h) : least_range(h);
    return grid_of_range(r.low, r.high);
}
