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
    TuneJob job = { .tuned = &tuned, .samples = s };
    if (ctx_failed(cx) || !(job.target = targets_of(b, g, s))) return false;
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
