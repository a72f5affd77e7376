/* SPDX-License-Identifier: MIT */
/* Bias correction (Nagel and others, 2019, section 4.2, with means from samples). Rounded weights q[..] = w[..] + d[..]
 * add the sum of d[k] * x[k] to a layer's output. The mean of this sum over the samples, with the mean of the input's
 * channel c
 *
 *     error[o] = sum(taps, c) d[taps,c,o] * mean[c]
 *
 * is subtracted from the bias of a layer that computes on integers. Taps over padding are counted like the others.
 * Weights with given scales keep their bias, because the bias of `dump --at calibrated` is already corrected.
 *
 * The last layers before the outputs then lose the mean error of the whole simulated network, which includes the errors
 * of rounded and clipped activations. */
#include <math.h>

#include "quantizer/layers.h"

/* Returns the rounding error of element i. `refined` holds the rounded elements, or is NULL. */
static double rounding_of(const float *w, const float *refined, const float *scale, int64_t scales, int64_t i)
{
    const float s = scale[scales == 1 ? 0 : i % scales];
    return (refined ? (double)refined[i] : nearbyint((double)w[i] / (double)s) * (double)s) - (double)w[i];
}

static void correct(Ctx *cx, const Edges *e, const Layer *l, const ChannelStats *x, Map *corrected)
{
    int axis;
    int64_t scales;
    const Tensor *w = l->call->in[l->weights];
    weights_operand(l->call, &axis);
    const float *scale = weight_scales(cx, e, w, axis, &scales), *v = w->data, *was = l->bias->data;
    const float *refined = e->refined ? map_get_ptr(e->refined, w) : NULL;
    double *error = NEW_ARRAY(cx->arena, double, channels_of(l->last));
    float *now = NEW_ARRAY(cx->arena, float, channels_of(l->last));
    for (int64_t i = 0; i < tensor_elems(w); i++)
        error[channel_at(w, l->axis_out, i)] +=
            rounding_of(v, refined, scale, scales, i) * x->sum[channel_at(w, l->axis_in, i)] / (double)x->count;
    for (int64_t c = 0; c < channels_of(l->last); c++) now[c] = (float)((double)was[c] - error[c]);
    map_put_ptr(corrected, l->bias, now);
}

Map corrected_biases(Ctx *cx, const Graph *g, const Edges *e, const ChannelStats *stats)
{
    const Readers r = readers_of(cx, g);
    Map corrected = map_new(cx->arena);
    for (int i = 0; i < r.count; i++) {
        Layer l;
        if (!layer_of(&r, r.order[i], &l) || !l.bias || l.axis_in < 0 || l.axis_out < 0) continue;
        const Tensor *x = l.call->in[1 - l.weights], *w = l.call->in[l.weights];
        const Edge *edge = edge_of(e, x);
        const ChannelStats *s = edge ? &stats[edge - e->at] : NULL;
        const Request *given = request_of(&e->requests, w);
        if (given && (given->has_grid || given->bits == FLOAT_BITS)) continue;
        if (!s || !s->count || s->channels != tensor_dim(w, l.axis_in)) continue;
        if (tensor_dim(w, l.axis_out) == channels_of(l.last)) correct(cx, e, &l, s, &corrected);
    }
    return corrected;
}

/* ---- The last layers --------------------------------------------------------------------------------------------- */

/* Returns the tensors that layers, or calls with graphs of their own, read, directly or after other calls. */
static Map before_layers(const Readers *r)
{
    Map found = map_new(r->cx->arena);
    for (int i = r->count - 1; i >= 0; i--) {
        Layer l;
        const Node *n = r->order[i];
        bool leads = n->kind != NODE_CALL || layer_of(r, n, &l);
        for (int k = 0; k < n->out_count; k++) leads = leads || map_get_ptr(&found, n->out[k]);
        for (int k = 0; leads && k < n->in_count; k++)
            if (n->in[k]) map_put_ptr(&found, n->in[k], n->in[k]);
    }
    return found;
}

/* Lists the layers with an integer form and a bias whose result no other layer reads. */
static int last_layers(const Readers *r, const Edges *e, Layer *out)
{
    int count = 0;
    const Map read = before_layers(r);
    for (int i = 0; i < r->count; i++) {
        Layer l;
        if (!layer_of(r, r->order[i], &l) || !l.bias || map_get_ptr(&read, l.last)) continue;
        const Request *given = request_of(&e->requests, l.call->in[l.weights]);
        if (given && (given->has_grid || given->bits == FLOAT_BITS)) continue;
        if (is_integer_layer(e, r, l.call) && tensor_elems(l.bias) == channels_of(l.last)) out[count++] = l;
    }
    return count;
}

/* Adds to error[c], for each channel c, a share of the errors of its elements before the elements are rounded to the
 * grid. A bias that followed the rounding of a nearly constant output would double the output's distance from the
 * rounded value. A value beyond the grid counts as the grid's end, because no bias can correct it. */
static void add_errors(const Edges *e, const Tensor *t, const float *want, const float *got, int64_t samples,
                       double *error)
{
    const Edge *edge = edge_of(e, t);
    const EdgeGroup *g = edge ? &e->group[edge->group] : NULL;
    const bool is_limited = g && g->bits < FLOAT_BITS && g->grid.step > 0;
    const double low = is_limited ? grid_low(&g->grid) : -INFINITY, high = is_limited ? grid_high(&g->grid) : INFINITY;
    const int64_t count = tensor_elems(t), channels = channels_of(t);
    const double share = (double)channels / (double)(count * samples);
    for (int64_t i = 0; i < count; i++)
        error[i % channels] += (fmin(fmax((double)got[i], low), high) - fmin(fmax((double)want[i], low), high)) * share;
}

static void subtract_errors(Ctx *cx, const Layer *l, const double *error, Map *corrected)
{
    const float *known = map_get_ptr(corrected, l->bias), *was = known ? known : l->bias->data;
    float *now = NEW_ARRAY(cx->arena, float, channels_of(l->last));
    for (int64_t c = 0; c < channels_of(l->last); c++) now[c] = (float)((double)was[c] - error[c]);
    map_put_ptr(corrected, l->bias, now);
}

struct LastLayers {
    const Build *b;
    const Samples *samples;
    int64_t count;                     /* the number of samples that are run */
    Graph observed;                    /* the network with the layers' results as outputs */
    Layer *at;                         /* [observed.output_count]: the layers */
    float **want;                      /* [observed.output_count]: the means of the float network, over these samples */
};

LastLayers *last_layers_of(const Build *b, const Graph *g, const Samples *s, const Edges *e)
{
    Ctx *cx = b->cx;
    const Readers r = readers_of(cx, g);
    LastLayers *l = NEW(cx->arena, LastLayers);
    *l = (LastLayers){ .b = b, .samples = s, .count = s->count < TRIAL_SAMPLES ? s->count : TRIAL_SAMPLES,
                       .observed = *g, .at = NEW_ARRAY(cx->arena, Layer, r.count + 1) };
    const int count = l->observed.output_count = last_layers(&r, e, l->at);
    l->observed.output = NEW_ARRAY(cx->arena, Tensor *, count);
    for (int i = 0; i < count; i++) l->observed.output[i] = l->at[i].last;
    if (count) l->want = runner_outputs(b, &l->observed, s, l->count);
    return count && !l->want ? NULL : l;
}

bool correct_last_biases(const LastLayers *l, const Edges *e, int64_t most, Map *corrected)
{
    Ctx *cx = l->b->cx;
    const int outputs = l->observed.output_count;
    const int64_t count = l->count < most ? l->count : most;
    if (!outputs) return !ctx_failed(cx);
    Edges sums = *e;
    sums.ends_before_grids = !e->follows_rounding;
    const Graph simulated = simulate(cx, &l->observed, &sums, PORTS_FLOAT);
    Runner *r = ctx_failed(cx) ? NULL : runner_new(l->b, &simulated);
    double **error = NEW_ARRAY(cx->arena, double *, outputs);
    for (int i = 0; i < outputs; i++) error[i] = NEW_ARRAY(cx->arena, double, channels_of(l->at[i].last));
    bool is_good = r != NULL;
    for (int64_t k = 0; is_good && k < count; k++) {
        is_good = runner_run(r, l->samples, k);
        for (int i = 0; is_good && i < outputs; i++) {
            const Tensor *t = l->at[i].last;
            add_errors(e, t, l->want[i] + k * tensor_elems(t), runner_output(r, i), count, error[i]);
        }
    }
    runner_free(r);
    for (int i = 0; is_good && i < outputs; i++) subtract_errors(cx, &l->at[i], error[i], corrected);
    return is_good && !ctx_failed(cx);
}
