/* SPDX-License-Identifier: MIT */
/* Unrolls loops of constant extent, innermost first; each copy declares its own variables. A loop whose copies would
 * exceed the limit remains a loop. If the target has vectors, a vector loop around vector loops is also unrolled: its
 * innermost loops become vectors, which can be variables only at constant indices. */
#include "lower/passes/passes.h"

enum { MOST_STATEMENTS = 4096 };

/* Returns true if the code contains a loop that the pass `vectors` lowers to the target's vectors, rather than leaving
 * it to the C compiler. Loops around such a loop are unrolled; all other loops are left to the C compiler. */
static bool has_vectors(Ctx *cx, const Code *c)
{
    if (vectors_suit(cx, c)) return true;
    for (int i = 0; i < c->child_count; i++)
        if (has_vectors(cx, c->child[i])) return true;
    return false;
}

static bool is_unrolled(Ctx *cx, const Code *loop, const LowerOptions *o)
{
    if (loop->loop_kind == LOOP_UNROLLED) return true;
    return loop->loop_kind == LOOP_VECTOR && o && o->lanes && has_vectors(cx, loop->child[0]);
}

static const Code *unroll(Ctx *cx, const Code *c, void *user)
{
    const LowerOptions *const *options = user;
    if (c->kind != CODE_FOR || !is_unrolled(cx, c, *options)) return c;
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
    return code_rewrite(cx, c, unroll, &options);
}
