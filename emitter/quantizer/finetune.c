/* SPDX-License-Identifier: MIT */
/* Turns the simulated network into a trainable one, and applies the result: see finetune.h. */
#include "quantizer/finetune.h"

#include <math.h>
#include <string.h>

#include "graph/dag/registry.h"
#include "graph/train/train.h"
#include "quantizer/layers.h"
#include "support/text.h"

/* ---- The job ----------------------------------------------------------------------------------------------------- */

/* Drops the parameters that no call reads, such as the grid of the output itself. */
static void drop_unread(Ctx *cx, const Graph *g, Tuned *t)
{
    Node **order;
    Map read = map_new(cx->arena);
    const int calls = graph_order(cx, g, &order), count = t->count;
    for (int i = 0; i < calls; i++)
        for (int k = 0; k < order[i]->in_count; k++)
            if (order[i]->in[k]) map_put_const_ptr(&read, order[i]->in[k], g);
    t->count = 0;
    for (int i = 0; i < count; i++)
        if (map_get_const_ptr(&read, t->part[i].input)) t->part[t->count++] = t->part[i];
}

static void append_inputs(Ctx *cx, Graph *g, const Tuned *t)
{
    Tensor **input = NEW_ARRAY(cx->arena, Tensor *, g->input_count + t->count);
    for (int i = 0; i < g->input_count; i++) input[i] = g->input[i];
    for (int i = 0; i < t->count; i++) input[g->input_count++] = t->part[i].input;
    g->input = input;
}

/* ---- Samples ----------------------------------------------------------------------------------------------------- */

enum { LEAST_HELD = 80, HELD_PART = 10, MOST_MIXED = 2048 };

static uint32_t draw(uint32_t *state, uint32_t below)
{
    *state = *state * UINT32_C(1664525) + UINT32_C(1013904223);
    return (*state >> 8) % below;
}

/* Returns the numbers of the samples in an order drawn from the seed; the first ones are held out. */
static int64_t *drawn_order(Ctx *cx, int64_t count, uint32_t state)
{
    int64_t *order = NEW_ARRAY(cx->arena, int64_t, count);
    for (int64_t i = 0; i < count; i++) order[i] = i;
    for (int64_t i = count - 1; i > 0; i--) {
        const int64_t k = draw(&state, (uint32_t)i + 1), t = order[i];
        order[i] = order[k];
        order[k] = t;
    }
    return order;
}

/* Returns true if mixes of two samples are also trained. Mixes give more training data than few samples do, because the
 * float network labels any input. */
static bool is_mixed(const Graph *g, int64_t trained)
{
    bool is_real = trained > 1 && trained <= MOST_MIXED;
    for (int i = 0; i < g->input_count; i++) is_real = is_real && g->input[i]->type == F32;
    return is_real;
}

/* Appends an input to the graph: the class of a sample, as probabilities. A mix of two samples also mixes these
 * probabilities. */
static Tensor *append_label(Ctx *cx, const Tensor *y, Graph *g)
{
    Tensor *label = tensor_new(cx, "expected_class", F32, y->rank, y->shape);
    Tensor **input = NEW_ARRAY(cx->arena, Tensor *, g->input_count + 1);
    for (int i = 0; i < g->input_count; i++) input[i] = g->input[i];
    input[g->input_count++] = label;
    g->input = input;
    return label;
}

/* ---- The loss ---------------------------------------------------------------------------------------------------- */

enum { HIDDEN_PART = 16 };

/* Returns true for logits, and for tensors between them and the output y. */
static bool is_labelled(const Tensor *logits, const Tensor *y, const Tensor *now)
{
    while (logits && y != now && y != logits) y = y->producer->in[0];
    return logits && y == now;
}

/* Lists the first tensor of each calibrated group that a call computes, then the outputs. Returns the number of the
 * tensors before the outputs. Logits that have labels are left out. */
static int compared_tensors(Ctx *cx, const Graph *g, const Edges *e, const Tensor *label, Tensor ***out)
{
    const Tensor *labelled = label ? train_logits(g->output[0], LINK_SOFTMAX) : NULL;
    bool *is_taken = NEW_ARRAY(cx->arena, bool, e->group_count);
    int count = 0;
    Tensor **t = *out = NEW_ARRAY(cx->arena, Tensor *, e->count + g->output_count);
    for (int i = 0; i < e->count; i++) {
        Tensor *now = e->at[i].tensor;
        const int of = e->at[i].group;
        const EdgeGroup *group = &e->group[of];
        bool is_hidden = now->producer && !is_labelled(labelled, g->output[0], now) && group->bits < FLOAT_BITS
            && !is_taken[of] && is_sampled(group);
        for (int k = 0; k < g->output_count; k++) is_hidden = is_hidden && g->output[k] != now;
        if (!is_hidden) continue;
        is_taken[of] = true;
        t[count++] = now;
    }
    for (int k = 0; k < g->output_count; k++) t[count + k] = g->output[k];
    return count;
}

/* Adds the squares of the elements to the sums of their channels. */
static void add_squares(const Tensor *t, const float *v, double *sum)
{
    const int64_t channels = channels_of(t);
    for (int64_t i = 0; i < tensor_elems(t); i++) sum[i % channels] += (double)v[i] * (double)v[i];
}

/* Returns for each tensor the mean square of each channel over the samples. */
static double **mean_squares(const Build *b, const Graph *g, const Samples *s, Tensor **t, int count)
{
    Ctx *cx = b->cx;
    double **sum = NEW_ARRAY(cx->arena, double *, count);
    Graph floats = *g;
    floats.output = t;
    floats.output_count = count;
    for (int i = 0; i < count; i++) sum[i] = NEW_ARRAY(cx->arena, double, channels_of(t[i]));
    Runner *r = ctx_failed(cx) ? NULL : runner_new(b, &floats);
    bool is_good = r != NULL;
    for (int64_t k = 0; is_good && k < s->count; k++) {
        is_good = build_progress(b, "measuring channels", k, s->count) && runner_run(r, s, k);
        for (int i = 0; is_good && i < count; i++) add_squares(t[i], runner_output(r, i), sum[i]);
    }
    runner_free(r);
    for (int i = 0; is_good && i < count; i++) {
        const int64_t channels = channels_of(t[i]), each = s->count * (tensor_elems(t[i]) / channels);
        for (int64_t c = 0; c < channels; c++) sum[i][c] /= (double)each;
    }
    return is_good ? sum : NULL;
}

static float inverse_root(double square) { return square > 0 ? (float)(1 / sqrt(square)) : 0; }

/* Returns the loss of a hidden tensor, mean (h * norm - s * norm * factor)^2, with h of the float network and s of the
 * simulated one. The channels of h and s may differ by a factor, which is trained. The error of each channel is
 * relative to the channel. */
static Tensor *hidden_loss(Ctx *cx, Tuned *tuned, Tensor *h, const double *square)
{
    const int64_t channels = channels_of(h);
    float *inverse = NEW_ARRAY(cx->arena, float, channels);
    for (int64_t c = 0; c < channels; c++) inverse[c] = inverse_root(square[c]);
    Tensor *norm = tensor_constant(cx, "norm", F32, 1, &channels, inverse), *s = map_get_ptr(&tuned->read, h);
    const TunedPart part = { .kind = TUNED_FACTOR, .of = h, .group = -1, .unit = inverse, .unit_count = channels };
    Tensor *factor = ctx_failed(cx) ? NULL : tuned_value(cx, tuned, part, norm);
    if (ctx_failed(cx)) return NULL;
    Tensor *product = call_on_two(cx, "mul", h->name, h, norm, NULL);
    return call_on_two(cx, "mse", h->name, call_on_two(cx, "mul", h->name, s, factor, NULL), product, NULL);
}

static Tensor *times(Ctx *cx, Tensor *x, double v)
{
    return call_on_two(cx, "mul", x ? x->name : "", x, tensor_scalar(cx, "times", F32, v), NULL);
}

/* Returns the cross entropy with the class, or with the float network's probabilities. Without probabilities, returns
 * the relative square error. */
static Tensor *output_loss(Ctx *cx, Tensor *y, Tensor *simulated, Tensor *label, const double *square)
{
    const int64_t channels = channels_of(y);
    double mean = 0;
    if (label || train_logits(simulated, LINK_SOFTMAX)) return train_cross_entropy(cx, simulated, label ? label : y);
    for (int64_t c = 0; c < channels; c++) mean += square[c] / (double)channels;
    const float norm = inverse_root(mean);
    return times(cx, call_on_two(cx, "mse", "loss", simulated, y, NULL), HIDDEN_PART * (double)norm * (double)norm);
}

/* Returns the loss of a sample: the sum of the outputs' losses, and HIDDEN_PART times the mean loss of hidden
 * tensors. */
static Tensor *loss_of(const Build *b, const Graph *g, const Samples *s, const Edges *e, const Graph *simulated,
                       Tensor *label)
{
    Ctx *cx = b->cx;
    Tensor **t, *loss = NULL;
    const int hidden = compared_tensors(cx, g, e, label, &t);
    double **square = ctx_failed(cx) ? NULL : mean_squares(b, g, s, t, hidden + g->output_count);
    for (int i = 0; square && i < g->output_count && !ctx_failed(cx); i++) {
        Tensor *one = output_loss(cx, g->output[i], simulated->output[i], i ? NULL : label, square[hidden + i]);
        loss = loss ? call_on_two(cx, "add", "loss", loss, one, NULL) : one;
    }
    for (int i = 0; square && i < hidden && !ctx_failed(cx); i++) {
        Tensor *one = times(cx, hidden_loss(cx, e->tuned, t[i], square[i]), (double)HIDDEN_PART / hidden);
        loss = call_on_two(cx, "add", "loss", loss, one, NULL);
    }
    return loss;
}

static void refuse(Ctx *cx, const Graph *g, const int64_t *label)
{
    for (int i = 0; i < g->output_count; i++)
        if (g->output[i]->type != F32)
            diag_unsupported(cx, g->output[i]->name, "--finetune: the output is %s; use float",
                             dtype_info(g->output[i]->type)->spelling);
    const Tensor *y = g->output[0];
    if (label && !(y->rank && tensor_dim(y, y->rank - 1) == tensor_elems(y)))
        diag_unsupported(cx, y->name, "--finetune with --labels: the output is %s; use one class per sample, along the "
                         "last dimension", tensor_shape_text(cx, y));
}

/* ---- The result -------------------------------------------------------------------------------------------------- */

static float *values_of(Ctx *cx, const TunedPart *p)
{
    const int64_t count = tensor_elems(p->initial);
    float *v = NEW_ARRAY(cx->arena, float, count);
    for (int64_t i = 0; i < count; i++) v[i] = p->result[i] * tuned_unit(p, i);
    return v;
}

static float *scales_of(Ctx *cx, const TunedPart *p)
{
    const int64_t count = tensor_elems(p->initial);
    float *v = NEW_ARRAY(cx->arena, float, count);
    for (int64_t i = 0; i < count; i++) v[i] = tuned_unit(p, i) * expf(p->result[i] / INT8_MAX);
    return v;
}

static void take_scales(Ctx *cx, const TunedPart *p, Edges *e, Map *scaled)
{
    Request *r = NEW(cx->arena, Request);
    const Request *was = request_of(&e->requests, p->of);
    if (was) *r = *was;
    r->bits = 8;
    r->has_grid = true;
    r->scale = scales_of(cx, p);
    r->scale_count = tensor_elems(p->initial);
    map_put_ptr(&e->requests, p->of, r);
    map_put_ptr(scaled, p->of, r);
}

/* Rounds the weights to the grid of the trained scales. */
static void take_weights(Ctx *cx, const TunedPart *p, const Edges *e, Map *refined)
{
    enum { MOST = 127 };
    int64_t scales;
    const float *scale = weight_scales(cx, e, p->of, p->axis, &scales);
    float *v = values_of(cx, p);
    for (int64_t i = 0; i < tensor_elems(p->initial); i++) {
        const double s = (double)scale[i % scales], q = nearbyint((double)v[i] / s);
        v[i] = (float)(fmin(MOST, fmax(-MOST, q)) * s);
    }
    map_put_ptr(refined, p->of, v);
}

static void take(Ctx *cx, const Tuned *t, Edges *e, Map *refined, Map *biases, Map *scaled)
{
    for (int i = 0; i < t->count; i++)
        if (t->part[i].kind == TUNED_SCALES) take_scales(cx, &t->part[i], e, scaled);
    for (int i = 0; i < t->count; i++) {
        const TunedPart *p = &t->part[i];
        if (p->kind == TUNED_WEIGHTS) take_weights(cx, p, e, refined);
        if (p->kind == TUNED_BIAS) map_put_ptr(biases, p->of, values_of(cx, p));
        if (p->kind == TUNED_GRID) e->group[p->group].grid.step = (double)*scales_of(cx, p);
    }
}

static bool has_free_parts(const Tuned *t)
{
    for (int i = 0; i < t->count; i++)
        if (t->part[i].kind != TUNED_FACTOR) return true;
    return false;
}

/* Simulates the graph with parameters; its output is the loss. Returns false on error. */
static bool build_job(const Build *b, const Graph *g, const Samples *s, const Tuner *tuner, const Edges *e,
                      TuneJob *job)
{
    Ctx *cx = b->cx;
    job->graph = simulate(cx, g, e, PORTS_FLOAT);
    Tensor *label = ctx_failed(cx) || !tuner->label ? NULL : append_label(cx, g->output[0], &job->graph);
    Tensor *loss = ctx_failed(cx) ? NULL : loss_of(b, g, s, e, &job->graph, label);
    if (!loss || ctx_failed(cx)) return false;
    job->samples = s;
    job->order = drawn_order(cx, s->count, (uint32_t)tuner->seed);
    job->label = tuner->label;
    job->class_count = label ? tensor_elems(label) : 0;
    job->held = s->count < LEAST_HELD ? 0 : s->count / HELD_PART;
    job->trained = s->count - job->held;
    job->is_mixed = is_mixed(g, job->trained);
    job->graph.output = arena_copy(cx->arena, &loss, sizeof loss);
    job->graph.output_count = 1;
    drop_unread(cx, &job->graph, job->tuned);
    if (!has_free_parts(job->tuned))
        diag_unsupported(cx, NULL, "--finetune: no weights or grids are free; use a network with layers on integers "
                         "whose grids are not all given");
    if (!ctx_failed(cx)) append_inputs(cx, &job->graph, job->tuned);
    return !ctx_failed(cx);
}

bool finetune(const Build *b, const Graph *g, const Samples *s, const Tuner *tuner, Edges *e, Map *refined,
              Map *biases, Map *scaled)
{
    Tuned tuned = { 0 };
    Edges own = *e;
    TuneJob job = { .tuned = &tuned };
    own.tuned = &tuned;
    refuse(b->cx, g, tuner->label);
    if (ctx_failed(b->cx) || !build_job(b, g, s, tuner, &own, &job) || !tuner->run(tuner->self, &job)) return false;
    take(b->cx, &tuned, e, refined, biases, scaled);
    return !ctx_failed(b->cx);
}
