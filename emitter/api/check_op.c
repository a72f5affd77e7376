/* SPDX-License-Identifier: MIT */
/* Tests that all implementations of an operator compute the same function. The evaluator runs one call by the compute
 * of the operator's row. The interpreter runs the nest of each applicable implementation, on the implementation's
 * target. Schedules are proved step by step; the equality of two computes is only tested. */
#include <string.h>

#include "api/computation/arguments.h"
#include "api/elements.h"
#include "driver/driver.h"
#include "graph/plan/plan.h"
#include "import/te/te.h"
#include "ir/interpret/evaluate.h"
#include "ir/interpret/interpret.h"
#include "support/guard.h"
#include "support/text.h"

/* Returns a .te text of one call from "f32[6][16] f32[6]" and "by=2 least=0". */
static const char *text_of_call(Ctx *cx, const char *op, const char *attrs, const char *inputs)
{
    Text t = text_new(cx), call_text = text_new(cx);
    int count = 0;
    for (const char *s = inputs + strspn(inputs, " "); *s; s += strcspn(s, " "), s += strspn(s, " "), count++) {
        text_printf(&t, "input x%d: %.*s\n", count, (int)strcspn(s, " "), s);
        text_printf(&call_text, "%sx%d", count ? ", " : "", count);
    }
    for (const char *s = attrs ? attrs : ""; *s; s += strcspn(s, " "), s += strspn(s, " "))
        text_printf(&call_text, "%s%.*s", call_text.length ? ", " : "", (int)strcspn(s, " "), s);
    text_printf(&t, "y = %s(%s)\noutput y\n", op, text_string(&call_text));
    return text_string(&t);
}

typedef struct Trial { Ctx *cx; const Group *group; const Node *call; Map input; const void *wanted; Text said; } Trial;

static void *input_data(Trial *a, const Tensor *t) { return map_get_ptr(&a->input, t); }

static bool define(Trial *a)
{
    Env *env = env_new(a->cx);
    Tensor *const *out = op_expand(a->cx, a->call);
    for (int i = 0; i < a->call->in_count; i++)
        if (a->call->in[i] && !tensor_is_constant(a->call->in[i]))
            env_set(env, a->call->in[i], input_data(a, a->call->in[i]));
    if (!evaluate(a->cx, env, out, a->call->out_count)) return false;
    a->wanted = env_get(env, out[0]);
    return true;
}

static void try_one(Trial *a, const Implementation *i)
{
    const Target *target = implementation_target(a->cx, i);
    const Nest *n = target ? implementation_nest(a->cx, a->group, target, i) : NULL;
    Env *env = env_new(a->cx);
    if (!n) return;
    for (int k = 0; k < a->group->input_count; k++)
        if (!tensor_is_constant(a->group->input[k])) env_set(env, n->input[k], input_data(a, a->group->input[k]));
    if (!interpret(a->cx, n, env, &(RunOptions){ .checked = true })) return;
    const Tensor *out = a->group->output[0];
    const Difference d = elements_compare(out, env_get(env, n->output[0]), a->wanted, elements_accepted());
    text_printf(&a->said, "%-32s %-12s largest difference ", i->name, implementation_for(i));
    text_double(&a->said, d.worst);
    text_char(&a->said, '\n');
    if (d.wrong)
        diag_error(a->cx, text_format(a->cx, "implementation \"%s\" for %s", i->name, implementation_for(i)),
                   "it does not agree with the operator %s: %lld of %lld elements differ, most of all element %lld",
                   a->call->op->name, (long long)d.wrong, (long long)tensor_elems(out), (long long)d.worst_at);
}

static const char *check_op(Ctx *cx, const char *op, const char *attrs, const char *inputs)
{
    Model m;
    if (!is_given(cx, "lw_check_op", "the operator", op) || !is_given(cx, "lw_check_op", "the inputs", inputs))
        return NULL;
    const char *place = text_format(cx, "check of %s", op);
    if (ctx_failed(cx) || !te_read(cx, place, text_of_call(cx, op, attrs, inputs), NULL, &m)) return NULL;
    const Graph g = { .name = op,
                      .input_count = m.input_count,
                      .input = m.input,
                      .output_count = m.output_count,
                      .output = m.output };
    const Groups groups = fuse(cx, &g);
    if (ctx_failed(cx) || groups.count != 1) return NULL;
    Trial a = { cx, &groups.at[0], m.output[0]->producer, map_new(cx->arena), NULL, text_new(cx) };
    for (int i = 0; i < m.input_count; i++) {
        if (!tensor_is_fixed(m.input[i]))
            diag_error(cx, place, "the inputs \"%s\" have symbolic sizes; accepted: numbers", inputs);
        if (ctx_failed(cx)) return NULL;
        map_put_ptr(&a.input, m.input[i], elements_generate(cx, m.input[i], (uint32_t)i + 1, 0));
    }
    int count;
    const Implementation *const *all = implementation_list(cx, &count);
    if (!define(&a)) return NULL;
    for (int i = 0; i < count && !ctx_failed(cx); i++) try_one(&a, all[i]);
    return ctx_failed(cx) ? NULL : text_string(&a.said);
}

const char *lw_check_op(lw_context *cx, const char *op, const char *attrs, const char *inputs)
{
    RETURN_GUARDED(cx, const char *, NULL, check_op(cx, op, attrs, inputs));
}
