/* SPDX-License-Identifier: MIT */
/* Interprets a graph on one sample after another. All tensors between groups are allocated once; a run allocates
 * nothing in the context. */
#include <string.h>

#include "ir/interpret/interpret.h"
#include "quantizer/quantizer.h"
#include "support/guard.h"
#include "support/text.h"

struct Runner {
    Build b;
    Arena *arena;                      /* the values of all tensors and programs */
    Resource held;                     /* the arena */
    Env **env;                         /* [groups]: the values of each group's own tensors */
    /* [groups]: the programs, compiled at the first run. NULL if it is not compiled yet, or if the nest is interpreted
     * as a tree. */
    struct Loop **program;
    void **input;                      /* [graph.input_count]: the memory of the inputs */
    const void **output;               /* [graph.output_count]: the memory of the outputs */
};

/* Allocates the outputs of each group and connects them with the inputs of later groups. */
static void connect(Runner *r)
{
    Ctx *cx = r->b.cx;
    Env *all = env_new_in(r->arena);
    const Graph *g = &r->b.graph;
    for (int i = 0; i < g->input_count; i++)
        env_set(all, g->input[i], r->input[i] = arena_alloc(r->arena, (size_t)tensor_bytes(g->input[i])));
    for (int k = 0; k < r->b.groups.count; k++) {
        const Group *group = &r->b.groups.at[k];
        const Nest *n = r->b.scheduled.nest[k];
        r->env[k] = env_new_in(r->arena);
        for (int i = 0; i < group->input_count; i++)
            if (!tensor_is_constant(group->input[i]))
                env_set_const(r->env[k], n->input[i], env_get(all, group->input[i]));
        for (int i = 0; i < group->output_count; i++)
            env_set_const(all, group->output[i], env_alloc(cx, r->env[k], n->output[i]));
    }
    for (int i = 0; i < g->output_count; i++) r->output[i] = env_get(all, g->output[i]);
}

/* Refuses a region. The runner needs the graphs inside it, which no run over samples has. */
static void refuse_regions(Ctx *cx, const Graph *g)
{
    Node **order;
    const int count = graph_order(cx, g, &order);
    for (int i = 0; i < count; i++)
        if (order[i]->kind == NODE_REGION)
            diag_unsupported(cx, text_format(cx, "node \"%s\"", order[i]->name), "the model has an If, Loop or Scan "
                             "that the run decides; quantize a model without these");
}

Runner *runner_new(const Build *like, const Graph *g)
{
    Ctx *cx = like->cx;
    Runner *r = NEW(cx->arena, Runner);
    lw_options *plain = NEW(cx->arena, lw_options);
    *plain = (lw_options){ .combine = "none" };
    r->b = (Build){ .cx = cx, .options = plain, .path = like->path, .name = like->name,
                    .target = target_find(cx, "generic"), .graph = *g };
    r->b.shared = build_shared(cx);
    r->b.shared->last = &r->b;
    /* The interpreter orders the loops of naive nests itself. */
    r->b.mode.is_naive = true;
    r->b.graph.target = r->b.target;
    refuse_regions(cx, g);
    if (ctx_failed(cx) || !build_nests(&r->b)) return NULL;
    r->env = NEW_ARRAY(cx->arena, Env *, r->b.groups.count);
    r->program = NEW_ARRAY(cx->arena, struct Loop *, r->b.groups.count);
    r->input = NEW_ARRAY(cx->arena, void *, g->input_count);
    r->output = NEW_ARRAY(cx->arena, const void *, g->output_count);
    r->arena = arena_beside(cx->arena);
    resource_hold_arena(cx, &r->held, r->arena);
    connect(r);
    return r;
}

void runner_free(Runner *r)
{
    if (r) resource_drop(r->b.cx, &r->held);
}

static bool run_group(Runner *r, int k)
{
    const RunOptions fast = { .checked = false };
    Ctx *cx = r->b.cx;
    if (!build_is_known(cx, &r->b.groups.at[k])) return false;
    if (!r->program[k]) r->program[k] = interpret_compile(cx, r->b.scheduled.nest[k], r->env[k]);
    return r->program[k] ? interpret_compiled(cx, r->program[k])
                         : interpret(cx, r->b.scheduled.nest[k], r->env[k], &fast);
}

bool runner_run(Runner *r, const Samples *s, int64_t number)
{
    for (int i = 0; i < s->input_count; i++)
        if (!samples_copy(r->b.cx, s, i, number, r->input[i])) return false;
    for (int k = 0; k < r->b.groups.count; k++)
        if (!run_group(r, k)) return false;
    return true;
}

const void *runner_input(const Runner *r, int i) { return r->input[i]; }
const void *runner_output(const Runner *r, int i) { return r->output[i]; }

float **runner_outputs(const Build *b, const Graph *g, const Samples *s, int64_t count)
{
    Ctx *cx = b->cx;
    Runner *r = ctx_failed(cx) ? NULL : runner_new(b, g);
    float **out = NEW_ARRAY(cx->arena, float *, g->output_count);
    for (int o = 0; r && o < g->output_count; o++)
        if (g->output[o]->type == F32) out[o] = NEW_ARRAY(cx->arena, float, count * tensor_elems(g->output[o]));
    bool is_good = r != NULL;
    for (int64_t k = 0; is_good && k < count; k++) {
        is_good = runner_run(r, s, k);
        for (int o = 0; is_good && o < g->output_count; o++) {
            const int64_t each = tensor_elems(g->output[o]);
            if (out[o]) memcpy(out[o] + k * each, runner_output(r, o), (size_t)each * sizeof(float));
        }
    }
    runner_free(r);
    return is_good && !ctx_failed(cx) ? out : NULL;
}

void add_noise(const float *want, const float *got, int64_t count, double *signal, double *noise)
{
    for (int64_t i = 0; i < count; i++) {
        const double d = (double)want[i] - (double)got[i];
        *signal += (double)want[i] * (double)want[i];
        *noise += d * d;
    }
}
