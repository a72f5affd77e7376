/* SPDX-License-Identifier: MIT */
/* The simulated network as a trainable one, and its result: see finetune.h. */
#include "quantizer/finetune.h"

#include <math.h>
#include <string.h>

#include "graph/dag/registry.h"
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

enum { LEAST_HELD = 80, HELD_PART = 10, MOST_SAMPLES = 4096, MOST_MIXES = 15 };

static uint32_t draw(uint32_t *state, uint32_t below)
{
    *state = *state * UINT32_C(1664525) + UINT32_C(1013904223);
    return (*state >> 8) % below;
}

/* Numbers of the samples in an order drawn from the seed; those in front are held out. */
static int64_t *drawn_order(Ctx *cx, int64_t count, uint32_t *state)
{
    int64_t *order = NEW_ARRAY(cx->arena, int64_t, count);
    for (int64_t i = 0; i < count; i++) order[i] = i;
    for (int64_t i = count - 1; i > 0; i--) {
        const int64_t k = draw(state, (uint32_t)i + 1), t = order[i];
        order[i] = order[k];
        order[k] = t;
    }
    return order;
}

/* Mixes of two samples teach more than few samples: a * (1 - p) + b * p with p below a half, of which the float network
 * gives the target. None if the samples are many, or an input has no float type. */
static int mixes_of(const Graph *g, int64_t trained)
{
    const int64_t most = trained < 2 ? 0 : MOST_SAMPLES / trained - 1;
    for (int i = 0; i < g->input_count; i++)
        if (g->input[i]->type != F32) return 0;
    return most < 0 ? 0 : most < MOST_MIXES ? (int)most : MOST_MIXES;
}

static void mix(const Samples *s, char *const *data, int64_t to, int64_t a, int64_t b, float part)
{
    for (int n = 0; n < s->input_count; n++) {
        float *y = (float *)(void *)data[n];
        const int64_t each = s->bytes[n] / (int64_t)sizeof *y;
        for (int64_t i = 0; i < each; i++)
            y[to * each + i] = y[a * each + i] * (1 - part) + y[b * each + i] * part;
    }
}

/* Orders the samples of the job and appends its mixes, all in memory. */
static const Samples *with_mixes(Ctx *cx, const Graph *g, const Samples *s, uint32_t seed, TuneJob *job)
{
    uint32_t state = seed;
    Samples *out = NEW(cx->arena, Samples);
    const int64_t *order = drawn_order(cx, s->count, &state);
    job->held = s->count < LEAST_HELD ? 0 : s->count / HELD_PART;
    job->trained = s->count - job->held;
    job->mixes = mixes_of(g, job->trained);
    char **data = NEW_ARRAY(cx->arena, char *, s->input_count);
    const int64_t count = s->count + job->mixes * job->trained;
    for (int n = 0; n < s->input_count && !ctx_failed(cx); n++) {
        data[n] = arena_array(cx->arena, (size_t)count, (size_t)s->bytes[n]);
        for (int64_t i = 0; i < s->count && data[n]; i++) samples_copy(cx, s, n, order[i], data[n] + i * s->bytes[n]);
    }
    for (int64_t k = s->count; k < count && !ctx_failed(cx); k++) {
        const int64_t a = job->held + (k - s->count) % job->trained,
                      b = job->held + draw(&state, (uint32_t)job->trained);
        mix(s, data, k, a, b, (float)draw(&state, 1 << 16) / (1 << 17));
    }
    *out = samples_in_memory(cx, count, s->input_count, s->bytes, (const char *const *)data);
    return out;
}

/* Runs the float graph on all samples. */
static const float *targets_of(const Build *b, const Graph *g, const Samples *s)
{
    const int64_t each = tensor_elems(g->output[0]);
    float *target = NEW_ARRAY(b->cx->arena, float, s->count * each);
    Runner *r = ctx_failed(b->cx) ? NULL : runner_new(b, g);
    for (int64_t k = 0; r && k < s->count; k++) {
        if (!build_progress(b, "targets", k, s->count) || !runner_run(r, s, k)) return NULL;
        memcpy(target + k * each, runner_output(r, 0), (size_t)each * sizeof *target);
    }
    return r ? target : NULL;
}

static bool is_softmax(const Tensor *y)
{
    const Node *n = y->producer;
    if (!n || n->kind != NODE_CALL || (int)n->op->gradient.link != LINK_SOFTMAX) return false;
    const int64_t axis = node_int(n, "axis", -1);
    return axis == -1 || axis == y->rank - 1;
}

static void refuse(Ctx *cx, const Graph *g)
{
    if (g->output_count != 1)
        diag_unsupported(cx, NULL, "--finetune of a model with %d outputs; accepted: one output", g->output_count);
    else if (g->output[0]->type != F32)
        diag_unsupported(cx, g->output[0]->name, "--finetune: the output is %s; accepted: float",
                         dtype_info(g->output[0]->type)->spelling);
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

bool finetune(const Build *b, const Graph *g, const Samples *s, const Tuner *tuner, Edges *e, Map *refined,
              Map *biases, Map *scaled)
{
    Ctx *cx = b->cx;
    Tuned tuned = { 0 };
    refuse(cx, g);
    Edges own = *e;
    own.tuned = &tuned;
    TuneJob job = { .tuned = &tuned };
    if (ctx_failed(cx)) return false;
    job.samples = with_mixes(cx, g, s, (uint32_t)tuner->seed, &job);
    if (ctx_failed(cx) || !(job.target = targets_of(b, g, job.samples))) return false;
    job.target_elems = tensor_elems(g->output[0]);
    job.graph = simulate(cx, g, &own, PORTS_FLOAT);
    if (!ctx_failed(cx)) drop_unread(cx, &job.graph, &tuned);
    if (!ctx_failed(cx) && !tuned.count)
        diag_unsupported(cx, NULL, "--finetune: no weights or grids are free; accepted: a network with layers on "
                         "integers whose grids are not all given");
    if (ctx_failed(cx)) return false;
    job.is_softmax = is_softmax(job.graph.output[0]);
    append_inputs(cx, &job.graph, &tuned);
    if (!tuner->run(tuner->self, &job)) return false;
    take(cx, &tuned, e, refined, biases, scaled);
    return !ctx_failed(cx);
}
