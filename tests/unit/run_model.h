/* SPDX-License-Identifier: MIT */
#ifndef RUN_MODEL_H
#define RUN_MODEL_H
/* Runs an imported model without passes: each call's naive nest, by the interpreter with all its checks. */
#include <string.h>

#include "graph/dag/graph.h"
#include "graph/dag/op.h"
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

/* Runs the calls that compute outputs[0..count), one after the other, with or without all checks; every result stays in
 * env. */
static inline bool run_calls(Ctx *cx, Tensor *const *outputs, int count, Env *env, bool is_checked)
{
    Node **order;
    const RunOptions options = { .checked = is_checked };
    int calls = dag_order(cx, outputs, count, &order);
    for (int i = 0; i < calls; i++) {
        Node *n = order[i];
        Tensor *const *out = op_expand(cx, n);
        for (int j = 0; j < n->in_count; j++)
            if (n->in[j] && n->in[j]->data) env_set_const(env, n->in[j], n->in[j]->data);
        const Nest *nest = nest_naive(cx, n->name, n->in, n->in_count, out, n->out_count);
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
