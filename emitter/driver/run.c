/* SPDX-License-Identifier: MIT */
/* Interprets a model: its groups in order, and the graphs of regions by the values of the conditions. */
#include "driver/driver.h"

#include <string.h>

#include "ir/interpret/interpret.h"
#include "support/text.h"

/* ---- Regions ----------------------------------------------------------------------------------------------------- */

static int64_t scalar_of(Env *all, const Tensor *t) { return dtype_load(t->type, env_get(all, t), 0).i; }

static bool run_choice(Build *b, const Node *n, Env *all)
{
    Build *taken = &build_graphs_of(b, n)[scalar_of(all, n->in[0]) ? 0 : 1];
    const void **in = NEW_ARRAY(b->cx->arena, const void *, n->in_count);
    const void **out = NEW_ARRAY(b->cx->arena, const void *, n->out_count);
    for (int k = 1; k < n->in_count; k++) in[k - 1] = env_get(all, n->in[k]);
    if (!build_run(taken, in, out)) return false;
    for (int i = 0; i < n->out_count; i++) env_set_const(all, n->out[i], out[i]);
    return true;
}

/* Returns the offset of the iteration's row, in bytes. */
static int64_t row_offset(const Tensor *row, int64_t iteration, int64_t trip_count, bool is_back)
{
    return (is_back ? trip_count - 1 - iteration : iteration) * tensor_bytes(row);
}

/* Runs one iteration; in[] holds the states and the loop-invariant inputs. */
static bool run_iteration(Build *body, const Node *n, int64_t iteration, int64_t trip_count, Env *all,
                          const void **in, bool *continues)
{
    const Region *r = n->region;
    const Graph *g = &body->graph;
    const void **out = NEW_ARRAY(body->cx->arena, const void *, g->output_count);
    in[0] = &iteration;
    for (int i = 0; i < r->scan_count; i++) {
        const int k = 1 + r->state_count + i;
        const char *rows = env_get(all, n->in[k + 1]);
        in[k] = rows + row_offset(g->input[k], iteration, trip_count, r->scans_back[i]);
    }
    if (!build_run(body, in, out)) return false;
    if (r->has_condition) *continues = dtype_load(BOOL, *out++, 0).i != 0;
    for (int i = 0; i < r->state_count; i++) in[1 + i] = out[i];
    for (int i = 0; i < r->row_count; i++) {
        const Tensor *row = g->output[r->has_condition + r->state_count + i];
        char *rows = env_storage(all, n->out[r->state_count + i]);
        memcpy(rows + row_offset(row, iteration, trip_count, r->rows_back[i]), out[r->state_count + i],
               (size_t)tensor_bytes(row));
    }
    return true;
}

static bool run_loop(Build *b, const Node *n, Env *all)
{
    const Region *r = n->region;
    Build *body = build_graphs_of(b, n);
    const int64_t trip_count = n->in[0] ? scalar_of(all, n->in[0]) : INT64_MAX;
    bool continues = !n->in[1] || scalar_of(all, n->in[1]);
    const void **in = NEW_ARRAY(b->cx->arena, const void *, n->in_count);
    for (int k = 2; k < n->in_count; k++) in[k - 1] = env_get(all, n->in[k]);
    for (int i = 0; i < r->row_count; i++) env_alloc(b->cx, all, n->out[r->state_count + i]);
    for (int64_t iteration = 0; iteration < trip_count && continues; iteration++) {
        if (r->max_trip_count >= 0 && iteration >= r->max_trip_count)
            diag_error(b->cx, text_format(b->cx, "node \"%s\" (loop)", n->name),
                       "it continues after %lld iterations, and its outputs have no rows for more",
                       (long long)r->max_trip_count);
        if (ctx_failed(b->cx) || !run_iteration(body, n, iteration, trip_count, all, in, &continues)) return false;
    }
    for (int i = 0; i < r->state_count; i++) env_set_const(all, n->out[i], in[1 + i]);
    return !ctx_failed(b->cx);
}

static bool run_region(Build *b, int group, Env *all)
{
    const Node *n = region_of_group(b, group);
    return n->region->kind == REGION_CHOICE ? run_choice(b, n, all) : run_loop(b, n, all);
}

/* ---- Groups ------------------------------------------------------------------------------------------------------ */

bool build_is_known(Ctx *cx, const Group *g)
{
    if (!g->anchor || !g->anchor->op->meaning.is_foreign) return true;
    diag_unsupported(cx, text_format(cx, "node \"%s\"", g->anchor->name), "the C function %s computes it, so it cannot "
                     "be interpreted; the emitted C with that function is accepted",
                     node_text(g->anchor, "function", ""));
    return false;
}

/* Gives the size its value, the first time that it gets one. */
static bool bind_size(Build *b, const Group *g, const Expr *size, Env *all)
{
    const Var *v = expr_as_var(size);
    const int64_t value = scalar_of(all, g->input[0]);
    int64_t known;
    env_set_const(all, g->output[0], env_get(all, g->input[0]));
    if (env_size(all, size, &known)) return true;
    if (value < v->least || value > v->greatest)
        diag_error(b->cx, text_format(b->cx, "node \"%s\"", g->anchor->name),
                   "data decide that the size \"%s\" is %lld; %lld to %lld are accepted", v->name, (long long)value,
                   (long long)v->least, (long long)v->greatest);
    env_set_size(all, size, value);
    return !ctx_failed(b->cx);
}

static bool run_group(Build *b, int group, Env *all)
{
    const Group *g = &b->groups.at[group];
    const Expr *size = group_bound_size(g);
    if (!build_is_known(b->cx, g)) return false;
    if (region_of_group(b, group)) return run_region(b, group, all);
    if (size) return bind_size(b, g, size, all);
    const Nest *n = build_named_nest(b, group);
    Env *env = env_new(b->cx);
    env_copy_sizes(env, all);
    RunOptions fast = { .checked = false };
    for (int i = 0; i < g->input_count; i++)
        if (!tensor_is_constant(g->input[i])) env_set_const(env, n->input[i], env_get(all, g->input[i]));
    if (!interpret(b->cx, n, env, &fast)) return false;
    for (int i = 0; i < g->output_count; i++) env_set_const(all, g->output[i], env_get(env, n->output[i]));
    return true;
}

bool build_run_all(Build *b, const void *const *inputs, Env *all)
{
    for (int i = 0; i < b->graph.input_count; i++) env_set_const(all, b->graph.input[i], inputs[i]);
    b->sizes = all;
    for (int i = 0; i < b->groups.count; i++)
        if (!run_group(b, i, all)) return false;
    return !ctx_failed(b->cx);
}

const Tensor *build_actual(const Build *b, const Tensor *t)
{
    const Expr *shape[MAX_RANK];
    if (tensor_is_fixed(t) || !b->sizes) return t;
    for (int d = 0; d < t->rank; d++) shape[d] = expr_index(b->cx, env_eval_size(b->cx, b->sizes, t->shape[d]));
    Tensor *actual = tensor_new(b->cx, t->name, t->type, t->rank, shape);
    actual->quant = t->quant;
    return actual;
}

bool build_run(Build *b, const void *const *inputs, const void **outputs)
{
    Env *all = env_new(b->cx);
    if (!build_run_all(b, inputs, all)) return false;
    for (int i = 0; i < b->graph.output_count; i++) outputs[i] = env_get(all, b->graph.output[i]);
    return true;
}
