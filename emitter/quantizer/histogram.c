/* SPDX-License-Identifier: MIT */
/* Histograms of activations and the ranges chosen from them. The error of a range [low, high] with the step s is, over
 * all values v but exact zeros,
 *
 *     v < low: (low - v)^2      v > high: (v - high)^2      else: s^2 / 12
 *
 * the last being the variance of a rounding error that is uniform over a step. */
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
    for (int64_t i = 0; i < count; i++) {
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
        const double v = (i - HISTOGRAM_BINS / 2 + 0.5) * width, beyond = v < low ? low - v : v > high ? v - high : 0;
        error += (double)h->bin[i] * (beyond > 0 ? beyond * beyond : rounding);
    }
    return h->count ? error / (double)h->count : 0;
}

Grid grid_least_error(const Histogram *h)
{
    enum { SHRINKS = 100 };
    double low = h->least, high = h->greatest, best = histogram_error(h, low, high);
    const double whole_low = low, whole_high = high;
    /* Both ends together, then each end alone */
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
    return grid_of_range(low, high);
}
