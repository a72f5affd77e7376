/* SPDX-License-Identifier: MIT */
/* Builds the simulated network: annotation.simulated_quantize follows every tensor that has a grid, and all weights.
 * 8-bit ports replace the first and the last of these calls: an input is dequantized, an output quantized. */
#include <math.h>

#include "quantizer/finetune.h"
#include "quantizer/layers.h"

typedef struct Simulation {
    Ctx *cx; const Edges *edges;
    Map raw, read;                     /* maps a tensor to its new version, which its consumers read */
    Map bias;                          /* maps a constant to the Layer that adds it */
    Readers readers;
    bool has_ports;
} Simulation;

/* Returns the squared error of the weights of a channel on a grid of this scale. */
static double error_of_scale(const float *v, int64_t count, int64_t step, float scale, float most)
{
    double error = 0;
    for (int64_t i = 0; i < count; i += step) {
        const float q = fminf(most, fmaxf(-most, nearbyintf(v[i] / scale)));
        const double d = (double)v[i] - (double)q * (double)scale;
        error += d * d;
    }
    return error;
}

/* Returns the scale of a channel whose weights have few bits: the one with the least squared error. Large weights may
 * saturate, because otherwise a grid of few values would be coarse for all other weights. */
static float scale_of_few_bits(const float *v, int64_t count, int64_t step, float whole, float most)
{
    enum { PERCENT = 100, LEAST = 30, STEP = 2 };
    float best = whole;
    double least = error_of_scale(v, count, step, whole, most);
    for (int p = PERCENT - STEP; p >= LEAST; p -= STEP) {
        const float scale = whole * (float)p / PERCENT;
        const double error = error_of_scale(v, count, step, scale, most);
        if (error >= least) continue;
        best = scale;
        least = error;
    }
    return best;
}

float *weight_scales(Ctx *cx, const Edges *e, const Tensor *w, int axis, int64_t *count)
{
    const Request *r = request_of(&e->requests, w);
    const int bits = r && r->bits < 8 ? r->bits : 8;
    const float most = (float)((1 << (bits - 1)) - 1);
    const int64_t channels = r && r->has_grid ? r->scale_count : axis < 0 || e->per_tensor ? 1
        : tensor_dim(w, axis);
    if (r && r->has_grid) {
        *count = channels;
        return arena_copy(cx->arena, r->scale, (size_t)channels * sizeof *r->scale);
    }
    float *scale = tensor_magnitudes(cx, w, channels);
    for (int64_t c = 0; c < channels; c++) {
        scale[c] /= most;
        if (!(scale[c] > 0)) scale[c] = 1.0f / most;
        else if (r && r->saturates)
            scale[c] = scale_of_few_bits((const float *)w->data + c, tensor_elems(w) - c, channels, scale[c], most);
        scale[c] = scale_without_ties(e, w, scale[c], most);
    }
    *count = channels;
    return scale;
}

static Tensor *scale_of(Ctx *cx, const Grid *g) { return tensor_scalar(cx, "scale", F32, g->step); }
static Tensor *zero_of(Ctx *cx, const Grid *g)
{
    return tensor_scalar(cx, "zero", g->greatest > INT8_MAX ? I16 : I8, (double)g->zero);
}

Tensor *weights_on_grid(Ctx *cx, const Edges *e, Tensor *w)
{
    const float *v = e->refined ? map_get_ptr(e->refined, w) : NULL;
    Tensor *now = v ? tensor_new(cx, w->name, F32, w->rank, w->shape) : NULL;
    if (!now) return w;
    now->data = v;
    return now;
}

/* Returns true if the weights are trained. Weights that the user narrows are not trained, because their grid has a
 * smaller range than an 8-bit grid. */
static bool is_tuned(const Simulation *s, const Request *r) { return s->edges->tuned && (!r || r->bits == 8); }

static Tensor *tuned_scales(Ctx *cx, Tuned *t, TunedPart part, Tensor *scale)
{
    part.unit = scale->data;
    part.unit_count = tensor_elems(scale);
    return tuned_value(cx, t, part, scale);
}

static Tensor *simulated_weights(const Simulation *s, const char *label, Tensor *w, int axis)
{
    Ctx *cx = s->cx;
    int64_t count;
    const Request *r = request_of(&s->edges->requests, w);
    if (r && r->bits == FLOAT_BITS) return w;
    const float *scale = weight_scales(cx, s->edges, w, axis, &count);
    Tensor *grid = weights_on_grid(cx, s->edges, w);
    Tensor *scales_of_w = tensor_constant(cx, "scale", F32, count > 1, &count, scale);
    Tensor *in[] = { grid, scales_of_w, tensor_scalar(cx, "zero", I8, 0) };
    if (is_tuned(s, r)) {
        const TunedPart part = { .kind = TUNED_WEIGHTS, .of = w, .group = -1, .axis = axis,
                                 .unit = tuned_weight_units(cx, w), .unit_count = tensor_elems(w) };
        in[0] = tuned_value(cx, s->edges->tuned, part, in[0]);
        if (!r) in[1] = tuned_scales(cx, s->edges->tuned, (TunedPart){ .kind = TUNED_SCALES, .of = w, .group = -1 },
                                     in[1]);
    }
    return call(cx, "annotation.simulated_quantize", label, in, 3, NULL);
}

static void set_quant(Ctx *cx, Tensor *t, const Grid *g)
{
    Quant *q = NEW(cx->arena, Quant);
    float *scale = NEW(cx->arena, float);
    int32_t *zero = NEW(cx->arena, int32_t);
    *scale = (float)g->step;
    *zero = (int32_t)g->zero;
    *q = (Quant){ .axis = 0, .count = 1, .scale = scale, .zero_point = zero };
    t->quant = q;
}

static const EdgeGroup *group_of(const Simulation *s, const Tensor *t)
{
    const Edge *e = edge_of(s->edges, t);
    return e ? &s->edges->group[e->group] : NULL;
}

/* Returns the tensor's group, or NULL if the tensor stays in floats. */
static const EdgeGroup *integer_group_of(const Simulation *s, const Tensor *t)
{
    const EdgeGroup *g = group_of(s, t);
    return g && g->bits < FLOAT_BITS ? g : NULL;
}

/* Enters a tensor's new version, and the version that its readers read. */
static void enter(Simulation *s, const Tensor *old, Tensor *now)
{
    const EdgeGroup *g = integer_group_of(s, old);
    const int bits = g ? g->bits : FLOAT_BITS;
    if (g && g->is_wide) g = NULL;
    Tensor *scale = g ? scale_of(s->cx, &g->grid) : NULL;
    Tensor *in[] = { now, scale, g ? zero_of(s->cx, &g->grid) : NULL };
    if (g && s->edges->tuned && is_sampled(g))
        in[1] = tuned_scales(s->cx, s->edges->tuned,
                             (TunedPart){ .kind = TUNED_GRID, .group = (int)(g - s->edges->group) }, in[1]);
    map_put_ptr(&s->raw, old, now);
    map_put_ptr(&s->read, old, g ? call(s->cx, "annotation.simulated_quantize", old->name, in, 3,
                                        bits == 16 ? ATTRS(attr_int("bits", bits)) : NULL) : now);
}

static Tensor *enter_input(Simulation *s, Tensor *old)
{
    const EdgeGroup *g = integer_group_of(s, old);
    if (!g || !s->has_ports) {
        enter(s, old, old);
        return old;
    }
    Tensor *port = tensor_new(s->cx, old->name, g->bits == 16 ? I16 : I8, old->rank, old->shape);
    if (!port) return NULL;
    set_quant(s->cx, port, &g->grid);
    Tensor *scale = scale_of(s->cx, &g->grid);
    Tensor *in[] = { port, scale, zero_of(s->cx, &g->grid) };
    map_put_ptr(&s->read, old, call(s->cx, "dequantize", old->name, in, 3, NULL));
    return port;
}

static Tensor *output_of(Simulation *s, Tensor *old)
{
    const EdgeGroup *g = integer_group_of(s, old);
    Tensor *raw = map_get_ptr(&s->raw, old);
    /* The loss reads the output before its grid. */
    if (s->edges->tuned || s->edges->ends_before_grids) return raw;
    if (!g || !s->has_ports || !raw) return map_get_ptr(&s->read, old);
    Tensor *scale = scale_of(s->cx, &g->grid);
    Tensor *in[] = { raw, scale, zero_of(s->cx, &g->grid) };
    Tensor *port = call(s->cx, "quantize", old->name, in, 3, ATTRS(attr_type("to", g->bits == 16 ? I16 : I8)));
    if (!port) return NULL;
    port->name = old->name;
    set_quant(s->cx, port, &g->grid);
    return port;
}

/* Returns the group of the call's output, after the calls that continue it. Returns NULL if there is no such group, or
 * if the user keeps the output in floats. */
static const EdgeGroup *group_behind(const Edges *e, const Readers *r, const Tensor *t)
{
    for (;;) {
        const Edge *edge = edge_of(e, t);
        const Request *asked = request_of(&e->requests, t);
        const ReaderList *readers = readers_list(r, t);
        if (edge) return &e->group[edge->group];
        if (readers->count != 1 || (asked && asked->bits == FLOAT_BITS)) return NULL;
        t = readers->at[0]->out[0];
    }
}

bool is_integer_layer(const Edges *e, const Readers *r, const Node *n)
{
    const EdgeGroup *y = group_behind(e, r, n->out[0]);
    bool is_integer = y && y->bits < FLOAT_BITS;
    for (int i = 0; i < n->in_count && !e->is_partial; i++) {
        if (!n->in[i] || tensor_is_constant(n->in[i])) continue;
        const Edge *x = edge_of(e, n->in[i]);
        is_integer = is_integer && x && e->group[x->group].bits < FLOAT_BITS;
    }
    return is_integer;
}

/* ---- Biases ------------------------------------------------------------------------------------------------------ */

/* Returns the elements of the bias that the layer adds. */
static const float *bias_of(const Simulation *s, const Layer *l)
{
    const Map *corrected = s->edges->corrected;
    const bool is_integer = corrected && is_integer_layer(s->edges, &s->readers, l->call);
    const float *v = is_integer ? map_get_ptr(corrected, l->bias) : NULL;
    return v ? v : l->bias->data;
}

static Tensor *tuned_bias(const Simulation *s, const Layer *l, Tensor *bias)
{
    const float *unit = tuned_bias_units(s->cx, l->call->in[l->weights], bias);
    const TunedPart part = { .kind = TUNED_BIAS, .of = l->bias, .group = -1, .unit = unit,
                             .unit_count = tensor_elems(bias) };
    return tuned_value(s->cx, s->edges->tuned, part, bias);
}

/* Returns the bias rounded so that it moves no sum to a tie. */
static const float *bias_without_ties(const Simulation *s, const Layer *l)
{
    int axis;
    int64_t scales;
    const Tensor *w = l->call->in[l->weights];
    const float *v = bias_of(s, l);
    const int64_t count = tensor_elems(l->bias);
    weights_operand(l->call, &axis);
    const Request *given = request_of(&s->edges->requests, w);
    if (s->edges->tuned || (given && given->bits == FLOAT_BITS)) return v;
    if (!is_integer_layer(s->edges, &s->readers, l->call)) return v;
    const float *scale = weight_scales(s->cx, s->edges, w, axis, &scales);
    float *now = scales == 1 || scales == count ? arena_copy(s->cx->arena, v, (size_t)count * sizeof *v) : NULL;
    for (int64_t c = 0; now && c < count; c++) {
        const double unit = unit_without_ties(s->edges, w, scale[scales == 1 ? 0 : c]);
        if (unit > 0) now[c] = (float)(nearbyint((double)v[c] / unit) * unit);
    }
    return now ? now : v;
}

static Tensor *real_bias(Simulation *s, const Layer *l)
{
    const float *v = bias_without_ties(s, l);
    const bool is_kept = v == l->bias->data;
    Tensor *now = is_kept ? l->bias : tensor_new(s->cx, l->bias->name, F32, l->bias->rank, l->bias->shape);
    if (now && !is_kept) now->data = v;
    return now && s->edges->tuned ? tuned_bias(s, l, now) : now;
}

/* Returns the bias on the grid of the layer's sums, whose step is the product of the scales. The sums then start at the
 * bias, and the requantization has no offsets. If the rounding would change the output by more than a sixteenth of a
 * step, returns the bias itself. */
static Tensor *stored_bias(Simulation *s, const Layer *l)
{
    enum { LEAST_STEPS = 8, MOST_BITS = 29 };
    Ctx *cx = s->cx;
    int axis;
    int64_t scales;
    const Tensor *w = l->call->in[l->weights];
    const EdgeGroup *x = group_of(s, l->call->in[1 - l->weights]), *y = group_behind(s->edges, &s->readers, l->last);
    if (s->edges->tuned) return real_bias(s, l);
    weights_operand(l->call, &axis);
    const Request *given = request_of(&s->edges->requests, w);
    if (given && given->bits == FLOAT_BITS) return real_bias(s, l);
    if (!x || x->is_wide || !y || !is_integer_layer(s->edges, &s->readers, l->call)) return real_bias(s, l);
    if (axis >= 0 && axis != w->rank - 1) return real_bias(s, l);
    const float *of_weights = weight_scales(cx, s->edges, w, axis, &scales), *b = bias_of(s, l);
    const int64_t count = tensor_elems(l->bias);
    if (scales != 1 && scales != count) return real_bias(s, l);
    float *scale = NEW_ARRAY(cx->arena, float, count);
    int32_t *stored = NEW_ARRAY(cx->arena, int32_t, count);
    for (int64_t c = 0; c < count; c++) {
        scale[c] = (float)(x->grid.step * (double)of_weights[scales == 1 ? 0 : c]);
        const double v = nearbyint((double)b[c] / (double)scale[c]);
        if (x->bits == 8 && y->bits == 8 && (double)scale[c] * LEAST_STEPS > y->grid.step) return real_bias(s, l);
        if (!(fabs(v) < ldexp(1, MOST_BITS))) return real_bias(s, l);
        stored[c] = (int32_t)v;
    }
    Tensor *q = tensor_new(cx, l->bias->name, I32, l->bias->rank, l->bias->shape);
    if (q) q->data = stored;
    Tensor *scales_of_w = tensor_constant(cx, "scale", F32, scales > 1, &count, scale);
    Tensor *in[] = { q, scales_of_w, tensor_scalar(cx, "zero", I32, 0) };
    return call(cx, "dequantize", l->bias->name, in, 3, NULL);
}

static void find_biases(Simulation *s)
{
    for (int i = 0; i < s->readers.count; i++) {
        Layer *l = NEW(s->cx->arena, Layer);
        if (layer_of(&s->readers, s->readers.order[i], l) && l->bias) map_put_ptr(&s->bias, l->bias, l);
    }
}

/* ---- Calls ------------------------------------------------------------------------------------------------------- */

bool has_integer_weights(Ctx *cx, const Edges *e, const Node *n, int *bits)
{
    const OpQuantization *q = n->kind == NODE_CALL ? &n->op->quantization : NULL;
    const Edge *x = q && q->with_integer_weights ? edge_of(e, n->in[0]) : NULL;
    if (!x || e->group[x->group].bits == FLOAT_BITS) return false;
    for (int i = 0; i < 2; i++) {
        const Request *r = request_of(&e->requests, n->in[1 + i]);
        bits[i] = r ? r->bits : 0;
        if (bits[i] == FLOAT_BITS) return false;
        if (r && r->has_grid)
            diag_unsupported(cx, request_place(cx, r), "the annotation gives scales for the weights of %s, which the "
                                                       "layer chooses itself; give only bits",
                             n->op->name);
    }
    return !ctx_failed(cx) && !q->why_real_weights(cx, n, bits);
}

/* Returns the call with integer weights over the stored input, or NULL if its operator does not have this form. `now`
 * is the call over the simulated operands. */
static const Node *with_weights(Simulation *s, const Node *n, const Node *now)
{
    int bits[2];
    if (!has_integer_weights(s->cx, s->edges, n, bits)) return NULL;
    const EdgeGroup *g = integer_group_of(s, n->in[0]);
    Tensor *scale = scale_of(s->cx, &g->grid);
    Tensor *in[] = { map_get_ptr(&s->read, n->in[0]), scale, zero_of(s->cx, &g->grid) };
    const DType type = group_bits(g) == 16 ? I16 : I8;
    in[2] = tensor_scalar(s->cx, "zero", type, (double)g->grid.zero);
    Tensor *stored = call(s->cx, "quantize", n->in[0]->name, in, 3, ATTRS(attr_type("to", type)));
    Tensor **over = arena_copy(s->cx->arena, now->in, (size_t)now->in_count * sizeof(Tensor *));
    for (int i = 1; i < 3; i++) over[i] = weights_on_grid(s->cx, s->edges, n->in[i]);
    now = stored ? node_over(s->cx, now, over) : NULL;
    return now ? n->op->quantization.with_integer_weights(s->cx, now, stored, g->grid.step, g->grid.zero, bits) : NULL;
}

/* Rebuilds a call over the simulated operands. An operand without an entry is a constant. */
static void rebuild(Simulation *s, const Node *n)
{
    Ctx *cx = s->cx;
    int axis;
    const int weights = weights_operand(n, &axis);
    Tensor **in = NEW_ARRAY(cx->arena, Tensor *, n->in_count);
    for (int i = 0; i < n->in_count; i++) {
        Tensor *now = n->in[i] ? map_get_ptr(&s->read, n->in[i]) : NULL;
        const Layer *biased = !now && n->in[i] ? map_get_ptr(&s->bias, n->in[i]) : NULL;
        in[i] = now ? now : biased ? stored_bias(s, biased) : n->in[i];
        if (i == weights && is_integer_layer(s->edges, &s->readers, n))
            in[i] = simulated_weights(s, n->name, n->in[i], axis);
    }
    const Node *now = ctx_failed(cx) ? NULL : node_over(cx, n, in), *stored = now ? with_weights(s, n, now) : NULL;
    if (stored) now = stored;
    for (int i = 0; now && i < n->out_count; i++) enter(s, n->out[i], now->out[i]);
}

Graph simulate(Ctx *cx, const Graph *g, const Edges *e, Ports ports)
{
    Simulation s = { cx, e, map_new(cx->arena), map_new(cx->arena), map_new(cx->arena), readers_of(cx, g),
                     ports != PORTS_FLOAT };
    Graph out = *g;
    Node **order;
    const int count = graph_order(cx, g, &order);
    out.input = NEW_ARRAY(cx->arena, Tensor *, g->input_count);
    out.output = NEW_ARRAY(cx->arena, Tensor *, g->output_count);
    find_biases(&s);
    for (int i = 0; i < g->input_count; i++) out.input[i] = enter_input(&s, g->input[i]);
    for (int i = 0; i < count && !ctx_failed(cx); i++) rebuild(&s, order[i]);
    for (int i = 0; i < g->output_count && !ctx_failed(cx); i++) out.output[i] = output_of(&s, g->output[i]);
    if (e->tuned) e->tuned->read = s.read;
    return out;
}

Graph with_corrected_biases(Ctx *cx, Graph g, const Edges *e)
{
    Simulation s = { .cx = cx, .edges = e, .readers = readers_of(cx, &g) };
    Map now = map_new(cx->arena);
    for (int i = 0; i < s.readers.count; i++) {
        Layer l;
        if (!layer_of(&s.readers, s.readers.order[i], &l) || !l.bias) continue;
        const float *v = bias_of(&s, &l);
        if (v != l.bias->data) map_put_const_ptr(&now, l.bias, v);
    }
    return with_constants(cx, g, &now);
}
