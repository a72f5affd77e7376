/* SPDX-License-Identifier: MIT */
/* Evaluates calls and formulas over constants with the interpreter. */

/* Decision: a weight layout is a row. The row has the formula that packs the weights and the one that reads a packed
 * weight (`WeightLayout` in `graph/dag/op.h`). The operator's compute sums over weights that the second formula reads.
 * A target's `alter` packs with the first formula (`schedules/arm/packed.c`); each packed constant is decoded and
 * compared with the weights. */
#include "graph/dag/graph.h"
#include "graph/dag/op_formula.h"

#include <string.h>

#include "ir/interpret/interpret.h"

static Tensor *constant_like(Ctx *cx, const Tensor *t, const void *data)
{
    Tensor *c = tensor_new(cx, t->name, t->type, t->rank, t->shape);
    if (!c) return NULL;
    c->data = data;
    c->quant = t->quant;
    return c;
}

static bool run_expanded(Ctx *cx, const Node *call, const void **data)
{
    Tensor *const *computed = op_expand(cx, call);
    if (!computed) return false;
    const Nest *nest = nest_naive(cx, call->name, NULL, 0, computed, call->out_count);
    Env *env = env_new(cx);
    RunOptions fast = { .checked = false };
    if (!nest || !interpret(cx, nest, env, &fast)) return false;
    for (int i = 0; i < call->out_count; i++) data[i] = env_get(env, computed[i]);
    return true;
}

bool graph_run_call(Ctx *cx, const Node *call, Tensor **out)
{
    const void **data = NEW_ARRAY(cx->arena, const void *, call->out_count);
    if (call->op->meaning.is_foreign) return false;
    if (call->op->layout.is_view) {
        out[0] = constant_like(cx, call->out[0], call->in[0]->data);
        return out[0] != NULL;
    }
    if (!run_expanded(cx, call, data)) return false;
    for (int i = 0; i < call->out_count; i++) out[i] = constant_like(cx, call->out[i], data[i]);
    return true;
}

const WeightLayout *weights_layout(const Op *op, const Tensor *k)
{
    const WeightLayout *l = op->layouts;
    while (l && l->name && (l->type != k->type || l->rank != k->rank)) l++;
    return l && l->name ? l : NULL;
}

const WeightLayout *weights_layout_named(Ctx *cx, const char *op, const char *layout)
{
    const WeightLayout *l = op_find(cx, op)->layouts;
    while (l && l->name && strcmp(l->name, layout) != 0) l++;
    if (l && l->name) return l;
    diag_internal(cx, NULL, "operator %s has no weight layout '%s'", op, layout);
    return NULL;
}

/* Returns the formula's result over constants as a constant with this name. */
static Tensor *run_formula(Ctx *cx, const char *name, const char *text, const Bind *binds)
{
    int64_t shape[MAX_RANK];
    Tensor *computed = formula(cx, text, binds);
    const Nest *nest = computed ? nest_naive(cx, name, NULL, 0, &computed, 1) : NULL;
    Env *env = env_new(cx);
    const RunOptions fast = { .checked = false };
    if (!nest || !interpret(cx, nest, env, &fast)) return NULL;
    for (int d = 0; d < computed->rank; d++) shape[d] = tensor_dim(computed, d);
    return tensor_constant(cx, name, computed->type, computed->rank, shape, env_get(env, computed));
}

enum { MOST_NUMBERS = 12, MOST_WORDS = MOST_NUMBERS + 7 };

/* Returns the formula that computes the original weights from packed ones. */
static const char *decoding(Ctx *cx, const WeightLayout *l, const Phrase *number, DType type)
{
    const Phrase axes[] = { { "type", dtype_info(type)->spelling }, { "q", l->q }, { "s", l->s }, { "t", l->t },
                            { "weight", l->decode }, { "of", l->of } };
    Phrase word[MOST_WORDS + 1] = { { NULL, NULL } };
    int count = 0;
    for (; number[count].name && count < MOST_NUMBERS; count++) word[count] = number[count];
    for (size_t i = 0; i < sizeof axes / sizeof axes[0]; i++)
        if (axes[i].text) word[count++] = axes[i];
    return op_text(cx, "w[of] = type(weight)", word);
}

Tensor *weights_packed(Ctx *cx, const WeightLayout *l, const Tensor *w, const Phrase *number)
{
    if (!l || !w) return NULL;
    const char *encode = op_text(cx, l->encode, number);
    Tensor *packed = run_formula(cx, w->name, encode, (const Bind[]){ BIND_T("w", w->self), { NULL, NULL, NULL } });
    if (!packed) return NULL;
    const Tensor *again = run_formula(cx, w->name, decoding(cx, l, number, w->type),
                                      (const Bind[]){ BIND_T("k", packed), { NULL, NULL, NULL } });
    if (!again) return NULL;
    packed->word = l->words;
    if (tensor_elems(again) == tensor_elems(w) && memcmp(again->data, w->data, (size_t)tensor_bytes(w)) == 0)
        return packed;
    diag_internal(cx, w->name, "weights packed as '%s' do not decode to the weights", l->name);
    return NULL;
}
