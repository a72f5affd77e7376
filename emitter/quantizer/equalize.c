/* SPDX-License-Identifier: MIT */
/* Cross-layer equalization (Nagel, van Baalen, Blankevoort, Welling: Data-Free Quantization Through Weight Equalization
 * and Bias Correction, ICCV 2019), with the ranges of activations from samples. Between two layers with a positively
 * homogeneous function f in between, for any t[c] > 0,
 *
 *     w2[c,..] * f(w1[..,c] * x + b[c])  =  (w2[c,..] * t[c]) * f((w1[..,c] * x + b[c]) / t[c])
 *
 * and t[c] = sqrt(r1[c] / r2[c]) gives channel c of the activations, with range r1, and of the second weights, with
 * range r2, the same range. The pairs influence each other, so they are visited until the factors are 1. */
#include <math.h>
#include <string.h>

#include "quantizer/layers.h"

enum { ROUNDS = 20 };
static const double most_factor = 65536;           /* the largest factor in one round */

/* A layer, and the layers that read its result. */
typedef struct Pair { Layer first; int edge, second_count; Layer *second; } Pair;

typedef struct Equalizer {
    Ctx *cx;
    Readers readers;
    const Edges *edges;
    const ChannelStats *stats;
    int pair_count; Pair *pair;
    Map scaled;                        /* maps a constant to its current elements, a float * */
    double **greatest;                 /* [edges]: the current magnitude of each channel */
} Equalizer;

/* Returns a writable copy of the constant's elements. */
static float *elements_of(Equalizer *q, const Tensor *c)
{
    float *v = map_get_ptr(&q->scaled, c);
    if (!v) map_put_ptr(&q->scaled, c, v = arena_copy(q->cx->arena, c->data, (size_t)tensor_bytes(c)));
    return v;
}

/* Returns true if the user gave the tensor's grid, which no factor may change. */
static bool has_request(const Equalizer *q, const Tensor *t)
{
    const Request *r = request_of(&q->edges->requests, t);
    return r && r->has_grid;
}

/* Collects the layers that read the tensor, directly or through calls that keep channels. Returns false if a different
 * call reads it, or if the weights are shared. */
static bool find_seconds(Equalizer *q, const Tensor *t, Pair *p)
{
    const ReaderList *readers = readers_list(&q->readers, t);
    if (!readers->count || graph_has_output(q->readers.graph, t)) return false;
    for (int i = 0; i < readers->count; i++) {
        Layer l;
        const Node *n = readers->at[i];
        if (keeps_channels(q->cx, n)) {
            if (!find_seconds(q, n->out[0], p)) return false;
            continue;
        }
        if (!layer_of(&q->readers, n, &l) || l.axis_in < 0 || n->in[1 - l.weights] != t) return false;
        const Tensor *w = n->in[l.weights];
        if (has_request(q, w)) return false;
        if (readers_list(&q->readers, w)->count != 1 || tensor_dim(w, l.axis_in) != channels_of(t)) return false;
        p->second[p->second_count++] = l;
    }
    return true;
}

/* Returns the first tensor with statistics after the layer, or -1 if there is none. */
static int edge_behind(const Equalizer *q, const Tensor *t)
{
    for (;;) {
        const Edge *e = edge_of(q->edges, t);
        const ReaderList *readers = readers_list(&q->readers, t);
        if (e) return (int)(e - q->edges->at);
        if (readers->count != 1 || !keeps_channels(q->cx, readers->at[0])) return -1;
        t = readers->at[0]->out[0];
    }
}

static void find_pairs(Equalizer *q)
{
    q->pair = NEW_ARRAY(q->cx->arena, Pair, q->readers.count);
    for (int i = 0; i < q->readers.count; i++) {
        Pair *p = &q->pair[q->pair_count];
        const Node *n = q->readers.order[i];
        *p = (Pair){ .second = NEW_ARRAY(q->cx->arena, Layer, q->readers.count) };
        if (!layer_of(&q->readers, n, &p->first) || p->first.axis_out < 0) continue;
        const Tensor *w = n->in[p->first.weights];
        if (readers_list(&q->readers, w)->count != 1 || has_request(q, w)) continue;
        if (tensor_dim(w, p->first.axis_out) != channels_of(p->first.last)) continue;
        p->edge = edge_behind(q, p->first.last);
        if (p->edge >= 0 && (has_request(q, p->first.last) || has_request(q, q->edges->at[p->edge].tensor))) continue;
        if (p->edge < 0 || q->stats[p->edge].channels != channels_of(p->first.last)) continue;
        if (find_seconds(q, p->first.last, p)) q->pair_count++;
    }
}

/* Raises each greatest[channel] to the magnitude of the channel's elements. */
static void add_range(Equalizer *q, const Tensor *w, int axis, double *greatest)
{
    const float *v = elements_of(q, w);
    for (int64_t i = 0; i < tensor_elems(w); i++) {
        double *g = &greatest[channel_at(w, axis, i)];
        if (fabs((double)v[i]) > *g) *g = fabs((double)v[i]);
    }
}

static void scale(Equalizer *q, const Tensor *w, int axis, const double *factor, bool divides)
{
    float *v = elements_of(q, w);
    for (int64_t i = 0; i < tensor_elems(w); i++) {
        const double f = factor[channel_at(w, axis, i)];
        v[i] = (float)(divides ? (double)v[i] / f : (double)v[i] * f);
    }
}

/* Balances a pair, and returns the largest factor; a factor below 1 counts with its inverse. Factors are powers of two,
 * so that the float network computes the same bits. */
static double balance(Equalizer *q, const Pair *p)
{
    const int64_t channels = channels_of(p->first.last);
    double *r2 = NEW_ARRAY(q->cx->arena, double, channels), *r1 = q->greatest[p->edge];
    double *t = NEW_ARRAY(q->cx->arena, double, channels), most = 1;
    for (int i = 0; i < p->second_count; i++)
        add_range(q, p->second[i].call->in[p->second[i].weights], p->second[i].axis_in, r2);
    for (int64_t c = 0; c < channels; c++) {
        const double wanted = r1[c] > 0 && r2[c] > 0 ? sqrt(r1[c] / r2[c]) : 1;
        const double held = wanted > most_factor ? most_factor : wanted < 1 / most_factor ? 1 / most_factor : wanted;
        t[c] = exp2(nearbyint(log2(held)));
        most = fmax(most, fmax(t[c], 1 / t[c]));
        r1[c] /= t[c];
    }
    if (most == 1) return most;
    const Layer *l = &p->first;
    scale(q, l->call->in[l->weights], l->axis_out, t, true);
    if (l->bias) scale(q, l->bias, l->bias->rank - 1, t, true);
    for (int i = 0; i < p->second_count; i++)
        scale(q, p->second[i].call->in[p->second[i].weights], p->second[i].axis_in, t, false);
    return most;
}

/* ---- The rewritten graph ----------------------------------------------------------------------------------------- */

Graph with_constants(Ctx *cx, Graph g, const Map *replaced)
{
    Node **order;
    Map now = map_new(cx->arena);
    const int count = graph_order(cx, &g, &order);
    for (int i = 0; i < count; i++)
        for (int k = 0; k < order[i]->in_count; k++) {
            const Tensor *t = order[i]->in[k];
            const float *v = t && tensor_is_constant(t) ? map_get_ptr(replaced, t) : NULL;
            if (!v || map_get_ptr(&now, t)) continue;
            Tensor *other = tensor_new(cx, t->name, t->type, t->rank, t->shape);
            if (!other) return g;
            other->data = v;
            map_put_ptr(&now, t, other);
        }
    return graph_replace(cx, g, &now);
}

Graph equalize(Ctx *cx, Graph g, const Edges *e, const ChannelStats *stats)
{
    Equalizer q = { .cx = cx, .readers = readers_of(cx, &g), .edges = e, .stats = stats,
                    .scaled = map_new(cx->arena), .greatest = NEW_ARRAY(cx->arena, double *, e->count) };
    for (int i = 0; i < e->count; i++)
        q.greatest[i] = arena_copy(cx->arena, stats[i].greatest, (size_t)stats[i].channels * sizeof(double));
    find_pairs(&q);
    for (int round = 0; round < ROUNDS; round++) {
        double most = 1;
        for (int i = 0; i < q.pair_count; i++) most = fmax(most, balance(&q, &q.pair[i]));
        if (most == 1) break;
    }
    return q.pair_count ? with_constants(cx, g, &q.scaled) : g;
}
