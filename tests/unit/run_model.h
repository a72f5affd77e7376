/* SPDX-License-Identifier: MIT */
#ifndef RUN_MODEL_H
#define RUN_MODEL_H
/* Runs an imported model without passes: each call's naive nest, by the interpreter with all its checks. */
#include <string.h>

#include "graph/dag/graph.h"
#include "graph/dag/op.h"
#include "graph/dag/region.h"
#include "import/model/model.h"
#include "ir/interpret/evaluate.h"
#include "ir/interpret/interpret.h"
#include "support/text.h"

static inline void *aligned_copy(Ctx *cx, const void *bytes, size_t count)
{
    int64_t *to = NEW_ARRAY(cx->arena, int64_t, (int64_t)(count + 8) / 8);
    memcpy(to, bytes, count);
    return to;
}

static inline bool run_calls(Ctx *cx, Tensor *const *outputs, int count, Env *env, bool is_checked);

/* Runs a graph of a region on in[k], the values of its inputs; out[] are its outputs. */
static inline bool run_graph_of(Ctx *cx, const Graph *g, const void *const *in, const void **out, bool is_checked)
{
    Env *env = env_new(cx);
    for (int k = 0; k < g->input_count; k++) env_set_const(env, g->input[k], in[k]);
    if (!run_calls(cx, g->output, g->output_count, env, is_checked)) return false;
    for (int i = 0; i < g->output_count; i++) out[i] = env_get(env, g->output[i]);
    return true;
}

static inline int64_t scalar_in(const Env *env, const Tensor *t)
{
    return dtype_load(t->type, env_get(env, t), 0).i;
}

/* As graph/dag/region.h defines them; rows are scanned and collected forwards. */
static inline bool run_loop(Ctx *cx, const Node *n, Env *env, bool is_checked)
{
    const Region *r = n->region;
    const Graph *g = &r->graph[0];
    const int64_t most = n->in[0] ? scalar_in(env, n->in[0]) : INT64_MAX;
    bool continues = !n->in[1] || scalar_in(env, n->in[1]);
    const void **in = NEW_ARRAY(cx->arena, const void *, n->in_count),
               **all = NEW_ARRAY(cx->arena, const void *, g->output_count);
    for (int k = 2; k < n->in_count; k++) in[k - 1] = env_get(env, n->in[k]);
    for (int i = 0; i < r->row_count; i++) env_alloc(cx, env, n->out[r->state_count + i]);
    for (int64_t turn = 0; turn < most && continues; turn++) {
        const void **out = all;
        in[0] = &turn;
        for (int k = 1 + r->state_count; k < 1 + r->state_count + r->scan_count; k++)
            in[k] = (const char *)env_get(env, n->in[k + 1]) + turn * tensor_bytes(g->input[k]);
        if (!run_graph_of(cx, g, in, out, is_checked)) return false;
        if (r->has_condition) continues = dtype_load(BOOL, *out++, 0).i != 0;
        for (int i = 0; i < r->state_count; i++) in[1 + i] = out[i];
        for (int i = r->state_count; i < r->state_count + r->row_count; i++) {
            const size_t bytes = (size_t)tensor_bytes(g->output[r->has_condition + i]);
            memcpy((char *)env_storage(env, n->out[i]) + (size_t)turn * bytes, out[i], bytes);
        }
    }
    for (int i = 0; i < r->state_count; i++) env_set_const(env, n->out[i], in[1 + i]);
    return true;
}

static inline bool run_region(Ctx *cx, const Node *n, Env *env, bool is_checked)
{
    if (n->region->kind == REGION_LOOP) return run_loop(cx, n, env, is_checked);
    const void **in = NEW_ARRAY(cx->arena, const void *, n->in_count),
               **out = NEW_ARRAY(cx->arena, const void *, n->out_count);
    for (int k = 1; k < n->in_count; k++) in[k - 1] = env_get(env, n->in[k]);
    if (!run_graph_of(cx, &n->region->graph[scalar_in(env, n->in[0]) ? 0 : 1], in, out, is_checked)) return false;
    for (int i = 0; i < n->out_count; i++) env_set_const(env, n->out[i], out[i]);
    return true;
}

/* Runs the calls that compute outputs[0..count), one after the other, with or without all checks; every result stays in
 * env. */
static inline bool run_calls(Ctx *cx, Tensor *const *outputs, int count, Env *env, bool is_checked)
{
    Node **order;
    const RunOptions options = { .checked = is_checked };
    int calls = dag_order(cx, outputs, count, &order);
    for (int i = 0; i < calls; i++) {
        Node *n = order[i];
        if (n->region) {
            if (!run_region(cx, n, env, is_checked)) return false;
            continue;
        }
        Tensor *const *out = op_expand(cx, n), **in = NEW_ARRAY(cx->arena, Tensor *, n->in_count);
        int in_count = 0;                                  /* without absent ones */
        for (int j = 0; j < n->in_count; j++)
            if (n->in[j]) in[in_count++] = n->in[j];
        for (int j = 0; j < in_count; j++)
            if (in[j]->data) env_set_const(env, in[j], in[j]->data);
        const Nest *nest = nest_naive(cx, n->name, in, in_count, out, n->out_count);
        if (!nest || !interpret(cx, nest, env, &options)) return false;
        for (int o = 0; o < n->out_count; o++) env_set_const(env, n->out[o], env_get(env, out[o]));
    }
    return true;
}

/* output[i]: the data of output i. Returns NULL, or the fault. */
static inline const char *run_model(Ctx *cx, const Model *m, const void *const *input, const void **output)
{
    Env *env = env_new(cx);
    for (int i = 0; i < m->input_count; i++) env_set_const(env, m->input[i], input[i]);
    if (!run_calls(cx, m->output, m->output_count, env, true))
        return cx->diags ? diag_text(cx, cx->diags) : "does not run";
    for (int i = 0; i < m->output_count; i++) {
        output[i] = m->output[i]->data ? m->output[i]->data : env_get(env, m->output[i]);
        if (!output[i]) return text_format(cx, "nothing makes output %d", i);
    }
    return NULL;
}

#endif
