/* SPDX-License-Identifier: MIT */
/* Unrolled loops of constant extent are written out, innermost first; each copy declares its own variables. A loop that
 * would become too large stays a loop. */
#include "lower/passes.h"

enum { MOST_STATEMENTS = 4096 };

static const Code *unroll(Ctx *cx, const Code *c, void *user)
{
    (void)user;
    if (c->kind != CODE_FOR || c->loop_kind != LOOP_UNROLLED) return c;
    if (c->begin->kind != EXPR_INT || c->end->kind != EXPR_INT) return c;
    int64_t count = (c->end->integer - c->begin->integer + c->step - 1) / c->step;
    if (count * code_size(c->child[0]) > MOST_STATEMENTS) return c;
    const Code **copy = NEW_ARRAY(cx->arena, const Code *, count);
    for (int64_t i = 0; i < count; i++) {
        const Code *body = i ? code_fresh(cx, c->child[0]) : c->child[0];
        copy[i] = code_substitute(cx, body, c->var, expr_index(cx, c->begin->integer + i * c->step));
    }
    return code_seq(cx, copy, (int)count);
}

const Code *pass_unroll(Ctx *cx, const LowerOptions *options, const Code *c)
{
    (void)options;
    return code_rewrite(cx, c, unroll, NULL);
}
