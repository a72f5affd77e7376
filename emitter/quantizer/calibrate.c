/* SPDX-License-Identifier: MIT */
/* Runs the float network over the samples, with all tensors that have a grid as outputs, and fills one histogram per
 * grid. Memory does not depend on the number of samples. */
#include <math.h>

#include "quantizer/quantizer.h"

static void add_channels(ChannelStats *s, const float *v, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        const int64_t c = i % s->channels;
        const double x = (double)v[i];
        s->sum[c] += x;
        if (fabs(x) > s->greatest[c]) s->greatest[c] = fabs(x);
    }
    s->count += count / s->channels;
}

static ChannelStats stats_new(Ctx *cx, const Tensor *t)
{
    const int64_t channels = t->rank ? tensor_dim(t, t->rank - 1) : 1;
    return (ChannelStats){ channels, 0, NEW_ARRAY(cx->arena, double, channels),
                           NEW_ARRAY(cx->arena, double, channels) };
}

/* Returns the number of the model's input that the tensor is; -1: it is computed. */
static int input_number(const Graph *g, const Tensor *t)
{
    for (int i = 0; i < g->input_count; i++)
        if (g->input[i] == t) return i;
    return -1;
}

/* Returns the graph whose outputs are the computed tensors of the edges. */
static Graph observed_graph(Ctx *cx, const Graph *g, const Edges *e)
{
    Graph observed = *g;
    observed.output = NEW_ARRAY(cx->arena, Tensor *, e->count + 1);
    observed.output_count = 0;
    for (int i = 0; i < e->count; i++)
        if (input_number(g, e->at[i].tensor) < 0) observed.output[observed.output_count++] = e->at[i].tensor;
    return observed;
}

/* Refuses a sample on which the float network computes NaN or an infinity: no range contains it. */
static bool are_finite(Ctx *cx, const Tensor *t, const float *v, int64_t sample)
{
    for (int64_t i = 0; i < tensor_elems(t); i++) {
        if (isfinite(v[i])) continue;
        diag_error(cx, NULL, "tensor \"%s\" has %s on sample %lld; a network that computes finite numbers on all "
                   "samples is expected", t->name, isnan(v[i]) ? "NaN" : "an infinity", (long long)sample);
        return false;
    }
    return true;
}

bool calibrate(const Build *b, const Graph *g, const Samples *s, int64_t most, Edges *e, ChannelStats *stats)
{
    Ctx *cx = b->cx;
    const Graph observed = observed_graph(cx, g, e);
    Runner *r = runner_new(b, &observed);
    for (int i = 0; r && stats && i < e->count; i++) stats[i] = stats_new(cx, e->at[i].tensor);
    for (int i = 0; i < e->group_count; i++) e->group[i].seen = (Histogram){ 0 };
    for (int64_t k = 0; r && k < s->count && k < most; k++) {
        if (!build_progress(b, "calibrating", k, most < s->count ? most : s->count)) return false;
        if (!runner_run(r, s, k)) return false;
        for (int i = 0, out = 0; i < e->count; i++) {
            const Tensor *t = e->at[i].tensor;
            const int input = input_number(g, t);
            const float *v = input < 0 ? runner_output(r, out++) : runner_input(r, input);
            if (!are_finite(cx, t, v, k)) return false;
            histogram_add(cx->arena, &e->group[e->at[i].group].seen, v, tensor_elems(t));
            if (stats) add_channels(&stats[i], v, tensor_elems(t));
        }
    }
    return r && !ctx_failed(cx);
}

void choose_grids(Ctx *cx, Edges *e, RangeMethod method)
{
    for (int i = 0; i < e->group_count && !ctx_failed(cx); i++) {
        EdgeGroup *g = &e->group[i];
        if (g->range == EDGE_GIVEN) continue;
        if (g->is_wide || g->bits != 8) g->grid = grid_wide(&g->seen);
        else if (g->range == EDGE_WHOLE) g->grid = grid_whole(&g->seen);
        else if (g->range == EDGE_CALIBRATED) g->grid = grid_by(method, &g->seen);
    }
    avoid_ties(e);
}

void warn_of_constants(Ctx *cx, const Edges *e)
{
    for (int i = 0; i < e->group_count && !ctx_failed(cx); i++) {
        const EdgeGroup *g = &e->group[i];
        if (g->range == EDGE_GIVEN) continue;
        if ((g->range != EDGE_FIXED || g->is_wide) && !(g->seen.greatest > g->seen.least))
            diag_warn(cx, NULL, "tensor \"%s\" is %g in all samples; its grid covers %g to %g", g->name,
                      g->seen.greatest, (double)(INT8_MIN - g->grid.zero) * g->grid.step,
                      (double)(INT8_MAX - g->grid.zero) * g->grid.step);
    }
}
