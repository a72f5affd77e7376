/* SPDX-License-Identifier: MIT */
/* The meaning of a DAG, node by node: each call is expanded and evaluated alone; a region runs one of its graphs, or
 * its body iteration by iteration on copies. Independent of passes, fusion, plans and the driver. */
#ifndef PLAIN_H
#define PLAIN_H

#include <string.h>

#include "graph/dag/region.h"
#include "ir/interpret/evaluate.h"

static inline bool plain_graph(Ctx *cx, const Graph *g, Env *env);

static inline bool plain_flag(Env *env, const Tensor *t) { return dtype_load(t->type, env_get(env, t), 0).i != 0; }

static inline bool plain_choice(Ctx *cx, const Node *n, Env *env)
{
    const Graph *g = &n->region->graph[plain_flag(env, n->in[0]) ? 0 : 1];
    Env *inner = env_new(cx);
    for (int i = 0; i < g->input_count; i++) env_set_const(inner, g->input[i], env_get(env, n->in[i + 1]));
    if (!plain_graph(cx, g, inner)) return false;
    for (int i = 0; i < n->out_count; i++) env_set_const(env, n->out[i], env_get(inner, g->output[i]));
    return true;
}

static inline bool plain_loop(Ctx *cx, const Node *n, Env *env)
{
    const Region *r = n->region;
    const Graph *g = &r->graph[0];
    const int64_t turns = n->in[0] ? dtype_load(I64, env_get(env, n->in[0]), 0).i : 1000;
    bool goes_on = !n->in[1] || plain_flag(env, n->in[1]);
    for (int i = 0; i < r->state_count; i++) env_set_const(env, n->out[i], env_get(env, n->in[2 + i]));
    for (int i = r->state_count; i < n->out_count; i++) env_alloc(cx, env, n->out[i]);
    for (int64_t turn = 0; turn < turns && goes_on; turn++) {
        Env *inner = env_new(cx);
        env_set(inner, g->input[0], arena_copy(cx->arena, &turn, sizeof turn));
        for (int i = 1; i < g->input_count; i++) {
            const int scan = i - 1 - r->state_count;
            const char *data = env_get(env, i <= r->state_count ? n->out[i - 1] : n->in[i + 1]);
            if (scan >= 0 && scan < r->scan_count)
                data += (r->scans_back[scan] ? turns - 1 - turn : turn) * tensor_bytes(g->input[i]);
            env_set_const(inner, g->input[i], data);
        }
        if (!plain_graph(cx, g, inner)) return false;
        if (r->has_condition) goes_on = plain_flag(inner, g->output[0]);
        for (int i = 0; i < n->out_count; i++) {
            const Tensor *made = g->output[i + r->has_condition];
            const int row = i - r->state_count;
            if (row < 0) env_set_const(env, n->out[i], env_get(inner, made));
            else memcpy((char *)env_storage(env, n->out[i]) + (r->rows_back[row] ? turns - 1 - turn
                : turn) * tensor_bytes(made), env_get(inner, made), (size_t)tensor_bytes(made));
        }
    }
    return true;
}

/* The data of the graph's inputs are in the environment; the outputs' are entered. */
static inline bool plain_graph(Ctx *cx, const Graph *g, Env *env)
{
    Node **order;
    int count = graph_order(cx, g, &order);
    for (int i = 0; i < count; i++) {
        Node *n = order[i];
        if (n->kind == NODE_REGION) {
            if (!(n->region->kind == REGION_LOOP ? plain_loop : plain_choice)(cx, n, env)) return false;
            continue;
        }
        Tensor *const *out = op_expand(cx, n);
        if (!evaluate(cx, env, out, n->out_count)) return false;
        for (int j = 0; j < n->out_count; j++) env_set_const(env, n->out[j], env_get(env, out[j]));
    }
    return !ctx_failed(cx);
}

/* Computes the tensor from inputs with data in the environment. Returns its data, NULL on an error. */
static inline const void *plain_value(Ctx *cx, Tensor *t, Env *env)
{
    const Graph g = { .output = &t, .output_count = 1 };
    return plain_graph(cx, &g, env) ? env_get(env, t) : NULL;
}

#endif
