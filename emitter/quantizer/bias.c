/* SPDX-License-Identifier: MIT */
/* Bias correction (Nagel and others, 2019, section 4.2, with means from samples). Rounded weights q[..] = w[..] + d[..]
 * add the sum of d[k] * x[k] to a layer's output. Its mean over the samples, with the mean of the input's channel c
 *
 *     error[o] = sum(taps, c) d[taps,c,o] * mean[c]
 *
 * is subtracted from the bias of a layer that computes on integers. Taps over padding count like the others. Weights
 * with given scales keep their bias: that of `dump --at calibrated` is corrected already. */
#include <math.h>

#include "quantizer/layers.h"

/* The rounding error of element i; refined: the rounded elements, or NULL. */
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
