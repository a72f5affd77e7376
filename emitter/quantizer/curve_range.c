/* SPDX-License-Identifier: MIT */
/* The range of a tensor that only functions f of a single tensor read (a sigmoid, tanh, leaky relu, gelu), by the error
 * of their results. Values where f is flat need no levels: beyond the saturation of a sigmoid a clipped value has the
 * same result. The error of a range [low, high] with the step s is, over the bins v of the histogram,
 *
 *     v < low: (f(low) - f(v))^2      v > high: (f(high) - f(v))^2      else: f'(v)^2 s^2 / 12
 *
 * f is sampled in the middle of each bin. */
#include <math.h>

#include "graph/quantize/curves.h"
#include "quantizer/quantizer.h"

static double width_of(const Histogram *h) { return ldexp(2.0 / HISTOGRAM_BINS, h->exponent); }

/* Returns f in the middle of all bins; NULL: it is not finite where values are. */
static const float *sampled(Ctx *cx, const EdgeGroup *g, const CurveOf *c)
{
    const int64_t count = HISTOGRAM_BINS;
    const double width = width_of(&g->seen);
    float *v = NEW_ARRAY(cx->arena, float, count);
    for (int i = 0; i < count; i++)
        v[i] = (float)fmin(fmax((i - HISTOGRAM_BINS / 2 + 0.5) * width, g->seen.least), g->seen.greatest);
    const Tensor *y = curve_at(cx, c->result, c->source, tensor_constant(cx, "bins", F32, 1, &count, v));
    const float *f = y && y->type == F32 && tensor_elems(y) == count ? y->data : NULL;
    for (int i = 0; f && i < count; i++)
        if (!isfinite(f[i])) return NULL;
    return f;
}

/* f at v, between the middles of two bins. */
static double at(const float *f, double width, double v)
{
    const double place = fmin(fmax(v / width + HISTOGRAM_BINS / 2 - 0.5, 0), HISTOGRAM_BINS - 1.001);
    const int i = (int)place;
    return (double)f[i] + (place - i) * ((double)f[i + 1] - (double)f[i]);
}

static double error_of(const Histogram *h, const float *f, double low, double high)
{
    enum { LEVELS = 255 };
    const double width = width_of(h), step = (high - low) / LEVELS;
    const double f_low = at(f, width, low), f_high = at(f, width, high);
    double error = 0;
    for (int i = 0; i < HISTOGRAM_BINS; i++) {
        if (!h->bin[i]) continue;
        const double v = (i - HISTOGRAM_BINS / 2 + 0.5) * width;
        const int before = i ? i - 1 : i, after = i < HISTOGRAM_BINS - 1 ? i + 1 : i;
        const double slope = ((double)f[after] - (double)f[before]) / ((after - before) * width);
        const double clipped = v < low ? f_low - (double)f[i] : v > high ? f_high - (double)f[i] : 0;
        error += (double)h->bin[i] * (v < low || v > high ? clipped * clipped : slope * slope * step * step / 12);
    }
    return error;
}

/* Scans shrinks of both ends together, then of each alone. */
static bool choose(EdgeGroup *g, const float *const *f, int count)
{
    enum { SHRINKS = 100, ENDS = 3 };
    const Histogram *h = &g->seen;
    double best = INFINITY;
    g->curve_low = h->least;
    g->curve_high = h->greatest;
    for (int end = 0; end < ENDS; end++)
        for (int i = 0; i < SHRINKS; i++) {
            const double left = (double)(SHRINKS - i) / SHRINKS;
            const double low = end == 2 ? g->curve_low : h->least * left;
            const double high = end == 1 ? g->curve_high : h->greatest * left;
            double error = 0;
            for (int k = 0; k < count; k++) error += error_of(h, f[k], low, high);
            if (!(error < best)) continue;
            best = error;
            g->curve_low = low;
            g->curve_high = high;
        }
    return best < INFINITY;
}

bool choose_by_curves(Ctx *cx, Edges *e)
{
    bool found = false;
    for (int i = 0; i < e->group_count && !ctx_failed(cx); i++) {
        EdgeGroup *g = &e->group[i];
        int count = 0;
        for (const CurveOf *c = g->curves; c; c = c->next) count++;
        const float **f = NEW_ARRAY(cx->arena, const float *, count);
        count = 0;
        for (const CurveOf *c = g->seen.bin && !g->is_wide ? g->curves : NULL; c; c = c->next)
            if (!(f[count++] = sampled(cx, g, c))) break;
        if (!count || !f[count - 1] || !choose(g, f, count)) g->curves = NULL;
        found = found || g->curves;
    }
    return found && !ctx_failed(cx);
}
