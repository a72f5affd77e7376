/* SPDX-License-Identifier: MIT */
/* Simplifies every expression under the conditions of its position: the enclosing loops and branches. */
#include "lower/passes/passes.h"

static const Code *simple(Ctx *cx, const Code *c, const Bounds *b);

static const Code *simple_for(Ctx *cx, const Code *c, const Bounds *b)
{
    Code loop = *c;
    loop.begin = simplify(cx, c->begin, b);
    loop.end = simplify(cx, c->end, b);
    bool once = loop.begin->kind == EXPR_INT && loop.end->kind == EXPR_INT
                && loop.end->integer - loop.begin->integer <= c->step;
    if (once) {
        if (loop.end->integer <= loop.begin->integer) return NULL;
        return code_scope(cx, simple(cx, code_substitute(cx, c->child[0], c->var, loop.begin), b));
    }
    const Code *body = simple(cx, c->child[0], code_bounds(cx, b, &loop));
    return code_for(cx, c->var, loop.begin, loop.end, c->step, c->loop_kind, body);
}

/* Returns true if conditions joined by && exclude each other. Each condition is tested under the conditions before
 * it. */
static bool is_contradiction(Ctx *cx, const Expr *cond, const Bounds *b)
{
    if (cond->kind != EXPR_AND) return provably(cx, expr_unary(cx, EXPR_NOT, cond), b);
    return is_contradiction(cx, cond->arg[0], b) || is_contradiction(cx, cond->arg[1], code_fact(cx, b, cond->arg[0]));
}

static const Code *simple_if(Ctx *cx, const Code *c, const Bounds *b)
{
    const Expr *cond = simplify(cx, c->cond, b);
    if (cond->kind == EXPR_AND && is_contradiction(cx, cond, b)) cond = expr_int(cx, BOOL, 0);
    if (cond->kind == EXPR_INT) {
        const Code *taken = cond->integer ? c->child[0] : c->child_count > 1 ? c->child[1] : NULL;
        return simple(cx, taken, b);
    }
    const Code *yes = simple(cx, c->child[0], code_fact(cx, b, cond)), *no = NULL;
    if (c->child_count > 1) no = simple(cx, c->child[1], code_fact(cx, b, expr_unary(cx, EXPR_NOT, cond)));
    return code_if(cx, cond, yes, no);
}

/* Drops a store of a value to its own element, such as a sum without terms. */
static const Code *simple_store(Ctx *cx, const Code *c, const Bounds *b)
{
    const Expr *index = simplify(cx, c->index, b), *value = simplify(cx, c->value, b);
    return value == load_expr(cx, c->memory, index) ? NULL : code_store(cx, c->memory, index, value);
}

static const Code *simple_call(Ctx *cx, const Code *c, const Bounds *b)
{
    const Expr **arg = NEW_ARRAY(cx->arena, const Expr *, c->arg_count);
    for (int i = 0; i < c->arg_count; i++) arg[i] = simplify(cx, c->args[i], b);
    return code_call_with(cx, c, arg, c->child_count ? simple(cx, c->child[0], b) : NULL);
}

static const Code *simple(Ctx *cx, const Code *c, const Bounds *b)
{
    if (!c) return NULL;
    switch (c->kind) {
    case CODE_SEQ: {
        const Code **child = NEW_ARRAY(cx->arena, const Code *, c->child_count);
        for (int i = 0; i < c->child_count; i++) child[i] = simple(cx, c->child[i], b);
        return code_seq(cx, child, c->child_count);
    }
    case CODE_SCOPE: return code_scope(cx, simple(cx, c->child[0], b));
    case CODE_FOR:   return simple_for(cx, c, b);
    case CODE_IF:    return simple_if(cx, c, b);
    case CODE_LET:   return code_let(cx, c->var, simplify(cx, c->value, b));
    case CODE_STORE: return simple_store(cx, c, b);
    case CODE_CALL:  return simple_call(cx, c, b);
    case CODE_LOCAL: break;
    }
    return c;
}

const Code *pass_normalize(Ctx *cx, const LowerOptions *options, const Code *c)
{
    (void)options;
    return simple(cx, c, NULL);
}

const Code *pass_tidy(Ctx *cx, const LowerOptions *options, const Code *c) { return pass_normalize(cx, options, c); }
