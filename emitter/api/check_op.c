/* SPDX-License-Identifier: MIT */
/* Tests that all implementations of an operator compute the same function. The evaluator runs one call by the compute
 * of the operator's row. The interpreter runs the nest of each applicable implementation, on the implementation's
 * target. Schedules are proved step by step, but the equality of two computes is only tested. */

/* Decision: a second compute is tested, not proved. An implementation may have its own compute
 * (`Implementation.compute`, formulas as text). The compute's type and shape are compared with the operator's;
 * `lw_check_op` compares its values (`emitter/api/check_op.c`). `tests/unit/test_registry.c` tries every implementation
 * of every operator on the operator's cases, in the interpreter and in emitted C. */
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

/* Returns a .te text of one call from "f32[6][16] f32[6]=" and "by=2 least=0". */
static const char *text_of_call(Ctx *cx, const char *op, const char *attrs, const char *inputs)
{
    Text t = text_new(cx), call_text = text_new(cx);
    int count = 0;
    for (const char *s = inputs + strspn(inputs, " "); *s; s += strcspn(s, " "), s += strspn(s, " "), count++) {
        text_printf(&t, "input x%d: %.*s\n", count, (int)strcspn(s, " ="), s);
        text_printf(&call_text, "%sx%d", count ? ", " : "", count);
    }
    for (const char *s = attrs ? attrs : ""; *s; s += strcspn(s, " "), s += strspn(s, " "))
        text_printf(&call_text, "%s%.*s", call_text.length ? ", " : "", (int)strcspn(s, " "), s);
    text_printf(&t, "y = %s(%s)\noutput y\n", op, text_string(&call_text));
    return text_string(&t);
}

/* Returns true if the text of the i-th input ends with '=', which marks a constant. */
static bool is_constant(const char *inputs, int i)
{
    const char *s = inputs + strspn(inputs, " ");
    for (; i > 0 && *s; i--) s += strcspn(s, " "), s += strspn(s, " ");
    const size_t n = strcspn(s, " ");
    return n && s[n - 1] == '=';
}

typedef struct Trial {
    Ctx *cx;
    const Group *group;
    const Node *call;
    Map input;
    const void *wanted[MAX_OUTPUTS];
    Text said;
} Trial;

static void *input_data(Trial *a, const Tensor *t) { return map_get_ptr(&a->input, t); }

static void set_inputs(Trial *a, Env *env)
{
    for (int i = 0; i < a->call->in_count; i++)
        if (a->call->in[i] && !tensor_is_constant(a->call->in[i]))
            env_set(env, a->call->in[i], input_data(a, a->call->in[i]));
}

static bool define(Trial *a)
{
    Env *env = env_new(a->cx);
    Tensor *const *out = op_expand(a->cx, a->call);
    set_inputs(a, env);
    if (!evaluate(a->cx, env, out, a->call->out_count)) return false;
    for (int i = 0; i < a->call->out_count; i++) a->wanted[i] = env_get(env, out[i]);
    return true;
}

/* Compares an output with the operator's; raises the largest difference if this one is larger. */
static void compare(Trial *a, const Implementation *i, int output, const void *found, double *worst)
{
    const Tensor *out = a->call->out[output];
    const Difference d = elements_compare(out, found, a->wanted[output], elements_accepted());
    if (d.worst > *worst) *worst = d.worst;
    if (d.wrong)
        diag_error(a->cx, text_format(a->cx, "implementation \"%s\" for %s", i->name, implementation_for(i)),
                   "it does not agree with the operator %s: %lld of %lld elements differ, most of all element %lld",
                   a->call->op->name, (long long)d.wrong, (long long)tensor_elems(out), (long long)d.worst_at);
}

static void say(Trial *a, const Implementation *i, double worst, const char *more)
{
    text_printf(&a->said, "%-32s %-12s largest difference ", i->name, implementation_for(i));
    text_double(&a->said, worst);
    text_printf(&a->said, "%s\n", more);
}

/* ---- Schedules and computes -------------------------------------------------------------------------------------- */

/* Returns the nest of the row on the first target to which the row applies. */
static const Nest *nest_of(Trial *a, const Implementation *i)
{
    int count;
    const Target *const *target = target_list(a->cx, &count);
    for (int t = 0; t < count && !ctx_failed(a->cx); t++) {
        const Nest *n = implementation_rank(a->cx, target[t], i) < 0
                            ? NULL
                            : implementation_nest(a->cx, a->group, target[t], i);
        if (n) return n;
    }
    return NULL;
}

static void try_one(Trial *a, const Implementation *i)
{
    const lw_implementation *row = i->user;
    const Nest *n = nest_of(a, i);
    Env *env = env_new(a->cx);
    double worst = 0;
    const bool is_meant = row && text_has_word(i->ops, a->call->op->name);
    if (!n && is_meant && !ctx_failed(a->cx))
        text_printf(&a->said, "%-32s %-12s does not apply to these inputs, or declines\n", i->name,
                    implementation_for(i));
    if (!n) return;
    for (int k = 0; k < a->group->input_count; k++)
        if (!tensor_is_constant(a->group->input[k])) env_set(env, n->input[k], input_data(a, a->group->input[k]));
    if (!interpret(a->cx, n, env, &(RunOptions){ .checked = true })) return;
    for (int k = 0; k < n->output_count; k++) compare(a, i, k, env_get(env, n->output[k]), &worst);
    say(a, i, worst, row && row->call ? "; the C function is not called here, but by `verify`" : "");
}

/* ---- Altered calls ----------------------------------------------------------------------------------------------- */

static const void *evaluate_graph(Trial *a, Tensor *output)
{
    Node **order;
    const Graph g = { .name = "altered", .output_count = 1, .output = &output };
    const int count = graph_order(a->cx, &g, &order);
    Env *env = env_new(a->cx);
    set_inputs(a, env);
    for (int i = 0; i < count; i++) {
        Tensor *const *out = op_expand(a->cx, order[i]);
        if (!evaluate(a->cx, env, out, order[i]->out_count)) return NULL;
        for (int k = 0; k < order[i]->out_count; k++) env_set_const(env, order[i]->out[k], env_get(env, out[k]));
    }
    return env_get(env, output);
}

static void try_altered(Trial *a, const Implementation *i)
{
    int count;
    const Target *const *target = target_list(a->cx, &count);
    if (!i->alter || !i->user || !text_has_word(i->ops, a->call->op->name)) return;
    for (int t = 0; t < count && !ctx_failed(a->cx); t++) {
        double worst = 0;
        const bool is_for = implementation_rank(a->cx, target[t], i) >= 0;
        Tensor *now = is_for ? i->alter(a->cx, i, target[t], a->call, NULL) : NULL;
        const void *found = now ? evaluate_graph(a, now) : NULL;
        if (!found) continue;
        compare(a, i, 0, found, &worst);
        say(a, i, worst, "; altered");
        return;
    }
}

/* ---- The check --------------------------------------------------------------------------------------------------- */

/* Generates the inputs; those that end with '=' become constants. */
static bool set_values(Trial *a, const char *place, const char *inputs, const Model *m)
{
    for (int i = 0; i < m->input_count; i++) {
        if (!tensor_is_fixed(m->input[i]))
            diag_error(a->cx, place, "the inputs \"%s\" have symbolic sizes; use numbers", inputs);
        if (ctx_failed(a->cx)) return false;
        void *data = elements_generate(a->cx, m->input[i], (uint32_t)i + 1, 0);
        if (is_constant(inputs, i)) m->input[i]->data = data;
        else map_put_ptr(&a->input, m->input[i], data);
    }
    return true;
}

static const char *check_op(Ctx *cx, const char *op, const char *attrs, const char *inputs)
{
    Model m;
    if (!is_given(cx, "lw_check_op", "the operator", op) || !is_given(cx, "lw_check_op", "the inputs", inputs))
        return NULL;
    const char *place = text_format(cx, "check of %s", op);
    if (ctx_failed(cx) || !te_read(cx, place, text_of_call(cx, op, attrs, inputs), NULL, &m)) return NULL;
    const Node *call = m.output[0]->producer;
    Trial a = { .cx = cx, .call = call, .input = map_new(cx->arena), .said = text_new(cx) };
    if (!set_values(&a, place, inputs, &m)) return NULL;
    const Graph g = { .name = op, .input_count = m.input_count, .input = m.input, .output_count = call->out_count,
                      .output = call->out };
    const Groups groups = fuse(cx, &g);
    if (ctx_failed(cx) || groups.count != 1) return NULL;
    a.group = &groups.at[0];
    int count;
    const Implementation *const *all = implementation_list(cx, &count);
    if (!define(&a)) return NULL;
    for (int i = 0; i < count && !ctx_failed(cx); i++) {
        if (!all[i]->alter) try_one(&a, all[i]);
        else try_altered(&a, all[i]);
    }
    return ctx_failed(cx) ? NULL : text_string(&a.said);
}

const char *lw_check_op(lw_context *cx, const char *op, const char *attrs, const char *inputs)
{
    RETURN_GUARDED(cx, const char *, NULL, check_op(cx, op, attrs, inputs));
}
