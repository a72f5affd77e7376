/* SPDX-License-Identifier: MIT */
/* Common subexpression elimination in a statement: `const float t = ...;` before it. Only subexpressions that the
 * statement always evaluates are named. A side of a select and the right operand of && may be skipped, and evaluating
 * them may be illegal. */
#include "lower/passes/passes.h"

/* The maps are in the scratch arena. `is_shared`: some node has several edges to it. */
typedef struct Share {
    Ctx *cx;
    Map uses, always, named;
    bool is_shared;
    const Code **let;
    int let_count, capacity;
} Share;

/* Counts the edges to every node, visiting each node's own edges once. The map holds pointers, so each count is in an
 * int of its own. */
static void count_uses(Share *s, const Expr *e)
{
    for (int i = 0; i < e->arg_count; i++) {
        int *n = map_get_ptr(&s->uses, e->arg[i]);
        if (!n) {
            map_put_ptr(&s->uses, e->arg[i], n = NEW(s->cx->scratch, int));
            count_uses(s, e->arg[i]);
        }
        s->is_shared = ++*n > 1 || s->is_shared;
    }
}

static void mark_always(Share *s, const Expr *e)
{
    if (map_get_ptr(&s->always, e)) return;
    map_put_ptr(&s->always, e, s);
    bool lazy = e->kind == EXPR_SELECT || e->kind == EXPR_AND || e->kind == EXPR_OR;
    for (int i = 0; i < (lazy ? 1 : e->arg_count); i++) mark_always(s, e->arg[i]);
}

static bool is_worth_a_name(Share *s, const Expr *e)
{
    const int *n = map_get_ptr(&s->uses, e);
    bool computes = e->kind >= EXPR_NEG || e->kind == EXPR_BITCAST;
    return n && *n > 1 && computes && e->type != BOOL && map_get_ptr(&s->always, e) && !is_pure(s->cx, e);
}

static void add_let(Share *s, const Code *let)
{
    if (s->let_count == s->capacity) {
        const Code **more = NEW_ARRAY(s->cx->arena, const Code *, s->capacity = 2 * s->capacity + 4);
        for (int i = 0; i < s->let_count; i++) more[i] = s->let[i];
        s->let = more;
    }
    s->let[s->let_count++] = let;
}

static const Expr *rebuild(Share *s, const Expr *e)
{
    const Expr *known = map_get_const_ptr(&s->named, e);
    if (known) return known;
    const Expr *few[16], **args = e->arg_count > 16 ? NEW_ARRAY(s->cx->arena, const Expr *, e->arg_count) : few;
    for (int i = 0; i < e->arg_count; i++) args[i] = rebuild(s, e->arg[i]);
    const Expr *to = e->arg_count ? expr_with_args(s->cx, e, args) : e;
    if (is_worth_a_name(s, e)) {
        const Expr *var = expr_new_var(s->cx, "v", VAR_LOCAL, e->type, dtype_info(e->type)->least,
                                       dtype_info(e->type)->greatest);
        add_let(s, code_let(s->cx, var, to));
        to = var;
    }
    map_put_const_ptr(&s->named, e, to);
    return to;
}

static const Code *share(Ctx *cx, const Code *c, void *user)
{
    (void)user;
    if (c->kind != CODE_STORE || c->value->arg_count == 0) return c;
    const ArenaMark mark = arena_mark(cx->scratch);
    Share s = { .cx = cx, .uses = map_new(cx->scratch), .always = map_new(cx->scratch), .named = map_new(cx->scratch) };
    count_uses(&s, c->value);
    if (s.is_shared) mark_always(&s, c->value);
    const Expr *value = s.is_shared ? rebuild(&s, c->value) : c->value;
    arena_reset(cx->scratch, mark);
    if (!s.let_count) return c;
    add_let(&s, code_store(cx, c->memory, c->index, value));
    return code_seq(cx, s.let, s.let_count);
}

const Code *pass_share(Ctx *cx, const LowerOptions *options, const Code *c)
{
    (void)options;
    return code_rewrite(cx, c, share, NULL);
}
