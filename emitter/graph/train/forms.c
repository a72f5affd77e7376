/* SPDX-License-Identifier: MIT */
/* Replaces calls whose training form differs from inference.
 *
 *   dropout      y = select(u < ratio, 0, x / (1 - ratio))     u: random_uniform of the key steps * dropouts + index
 *   batch norm   y = batch_norm(x, scale, bias, m, v)          m, v: mean and variance of the batch
 *                mean' = momentum * mean + (1 - momentum) * m, likewise var'
 *
 * The passes before the split keep these calls (Graph.keeps_dropout, keeps_norms). */
#include "graph/dag/definition.h"
#include "graph/dag/region.h"
#include "graph/train/train.h"
#include "support/names.h"
#include "support/text.h"

enum { NORM_MEAN = 3, NORM_VARIANCE = 4 };

static bool has_role(const Node *n, int role) { return n->kind == NODE_CALL && (int)n->op->gradient.role == role; }

/* Replaces y by `by` for all its consumers in the graph. */
static void replace(Ctx *cx, Graph *g, Tensor *y, Tensor *by)
{
    Graph one = *g;
    one.input = &y;
    one.input_count = 1;
    g->output = graph_bind(cx, &one, &by).output;
}

Graph train_without(Ctx *cx, Graph g, int role)
{
    Node **order;
    const int count = graph_order(cx, &g, &order);
    for (int n = count - 1; n >= 0 && !ctx_failed(cx); n--)
        if (has_role(order[n], role)) replace(cx, &g, order[n]->out[0], order[n]->in[0]);
    return g;
}

int train_running(Ctx *cx, const Graph *g, Trainable **part, int count)
{
    Node **order;
    const int calls = graph_order(cx, g, &order);
    Trainable *all = NEW_ARRAY(cx->arena, Trainable, count + 2 * calls);
    for (int i = 0; i < count; i++) all[i] = (*part)[i];
    for (int n = 0; n < calls; n++) {
        if (!has_role(order[n], GRADIENT_NORM)) continue;
        for (int i = NORM_MEAN; i <= NORM_VARIANCE; i++) {
            const char *role = i == NORM_MEAN ? "running_mean" : "running_variance";
            all[count++] = (Trainable){ .constant = order[n]->in[i], .call = order[n], .layer = order[n], .input = i,
                                        .name = name_format(cx, "%s_%s", name_unprefixed(cx, order[n]->name), role),
                                        .role = role };
        }
    }
    *part = all;
    return count;
}

/* ---- Dropout ----------------------------------------------------------------------------------------------------- */

static int count_of(Node *const *order, int calls, int role)
{
    int count = 0;
    for (int n = 0; n < calls; n++) count += has_role(order[n], role);
    return count;
}

static Tensor *masked(Ctx *cx, Training *t, const Node *n, int index, int count)
{
    Tensor *x = n->in[0];
    int64_t shape[MAX_RANK];
    const double ratio = node_real(n, "ratio", 0.5);
    if (!(ratio >= 0 && ratio < 1))
        diag_error(cx, n->name, "dropout: 'ratio' is %g; use a number of at least 0 and less than 1", ratio);
    if (!tensor_is_fixed(x))
        diag_unsupported(cx, n->name, "--train: the dropout has open sizes; fix them with --dim");
    if (ctx_failed(cx)) return NULL;
    for (int d = 0; d < x->rank; d++) shape[d] = tensor_dim(x, d);
    if (!t->steps) t->steps = tensor_new(cx, "steps", U32, 0, NULL);
    Tensor *key = formula(cx, text_format(cx, "key = u64(steps) * %d + %d", count, index),
                          (Bind[]){ BIND_T("steps", t->steps), { 0 } });
    Tensor *u = call_on(cx, "random_uniform", "drawn", key, ATTRS(attr_ints("shape", shape, x->rank),
                                                                  attr_type("to", x->type)));
    return formula(cx, text_format(cx, "%s[*] = select(u[*] < ratio, 0.0, x[*] * factor)",
                                   name_identifier(cx, n->name)),
                   (Bind[]){ BIND_T("u", u), BIND_T("x", x), BIND_V("ratio", expr_real(cx, x->type, ratio)),
                             BIND_V("factor", expr_real(cx, x->type, 1 / (1 - ratio))), { 0 } });
}

/* ---- Batch norm -------------------------------------------------------------------------------------------------- */

static TrainParam *param_of(Training *t, const Tensor *value)
{
    for (int i = 0; i < t->param_count; i++)
        if (t->param[i].value == value) return &t->param[i];
    return NULL;
}

static Tensor *over_batch(Ctx *cx, const Node *n, const char *op)
{
    int64_t axes[MAX_RANK];
    const int count = n->in[0]->rank - 1;
    for (int d = 0; d < count; d++) axes[d] = d;
    return call_on(cx, op, name_format(cx, "%s_%s", n->name, op), n->in[0], ATTRS(attr_ints("axes", axes, count)));
}

static void average(Ctx *cx, Training *t, const Node *n, int input, Tensor *of_batch)
{
    TrainParam *p = param_of(t, n->in[input]);
    const double momentum = node_real(n, "momentum", 0.9);
    if (!p || ctx_failed(cx)) return;
    p->next = formula(cx, text_format(cx, "%s_next[*] = was[*] * kept + now[*] * rest", p->name),
                      (Bind[]){ BIND_T("was", p->value), BIND_T("now", of_batch),
                                BIND_V("kept", expr_real(cx, p->value->type, momentum)),
                                BIND_V("rest", expr_real(cx, p->value->type, 1 - momentum)), { 0 } });
}

static Tensor *normalized(Ctx *cx, Training *t, const Node *n)
{
    Tensor *reduce_mean = over_batch(cx, n, "reduce_mean");
    Tensor *in[] = { n->in[0], n->in[1], n->in[2], reduce_mean, over_batch(cx, n, "reduce_variance") };
    for (int i = NORM_MEAN; i <= NORM_VARIANCE; i++) average(cx, t, n, i, in[i]);
    Node *now = ctx_failed(cx) ? NULL : node_over(cx, n, in);
    return now ? now->out[0] : NULL;
}

/* ---- All of them ------------------------------------------------------------------------------------------------- */

/* Replaces calls by their training forms. Visits the last call first, because the calls before it then still belong to
 * the graph. The new running values are outputs meanwhile. */
Graph train_forms(Ctx *cx, Training *t, Graph g)
{
    Node **order;
    const int calls = graph_order(cx, &g, &order), outputs = g.output_count,
              dropouts = count_of(order, calls, GRADIENT_DROPOUT);
    int index = dropouts;
    for (int n = calls - 1; n >= 0 && !ctx_failed(cx); n--) {
        const bool is_dropout = has_role(order[n], GRADIENT_DROPOUT);
        if (!is_dropout && !has_role(order[n], GRADIENT_NORM)) continue;
        Tensor *now = is_dropout ? masked(cx, t, order[n], --index, dropouts) : normalized(cx, t, order[n]);
        if (!now || !formulas_to_calls(cx, &now, 1)) break;
        replace(cx, &g, order[n]->out[0], now);
        if (is_dropout) continue;
        Tensor **output = NEW_ARRAY(cx->arena, Tensor *, g.output_count + 2);
        for (int i = 0; i < g.output_count; i++) output[i] = g.output[i];
        for (int i = NORM_MEAN; i <= NORM_VARIANCE; i++) {
            TrainParam *p = param_of(t, order[n]->in[i]);
            if (p && formulas_to_calls(cx, &p->next, 1)) output[g.output_count++] = p->next;
        }
        g.output = output;
    }
    int found = outputs;
    for (int n = calls - 1; n >= 0 && !ctx_failed(cx); n--)
        for (int i = NORM_MEAN; has_role(order[n], GRADIENT_NORM) && i <= NORM_VARIANCE; i++) {
            TrainParam *p = param_of(t, order[n]->in[i]);
            if (p) p->next = g.output[found++];
        }
    g.output_count = outputs;
    return g;
}
