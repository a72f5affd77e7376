/* SPDX-License-Identifier: MIT */
/* What nothing reads goes: stores to memory of the function's own that is never loaded, its declaration, and names that
 * are never used; and again, for then others may be unread. */
#include "lower/passes.h"

typedef struct Prune { Map read, declared; bool changed; } Prune;

static const Expr *note_use(Ctx *cx, const Expr *e, void *user)
{
    Prune *p = user;
    (void)cx;
    if (e->kind == EXPR_LOAD) map_put_ptr(&p->read, e->ref, p);
    if (e->kind == EXPR_VAR) map_put_ptr(&p->read, e, p);
    return e;
}

static const Code *note_declared(Ctx *cx, const Code *c, void *user)
{
    Prune *p = user;
    (void)cx;
    if (c->kind == CODE_LOCAL) map_put_ptr(&p->declared, c->memory, p);
    return c;
}

static const Code *drop(Ctx *cx, const Code *c, void *user)
{
    Prune *p = user;
    (void)cx;
    const void *what = c->kind == CODE_LET ? (const void *)c->var : c->memory;
    bool own = c->kind == CODE_LET || c->kind == CODE_LOCAL || (c->kind == CODE_STORE && map_get_ptr(&p->declared, what));
    if (!own || map_get_ptr(&p->read, what)) return c;
    p->changed = true;
    return NULL;
}

const Code *pass_prune(Ctx *cx, const LowerOptions *options, const Code *c)
{
    bool again = true;
    (void)options;
    while (again && c) {
        Prune p = { map_new(cx->arena), map_new(cx->arena), false };
        code_map_exprs(cx, c, note_use, &p);
        code_rewrite(cx, c, note_declared, &p);
        c = code_rewrite(cx, c, drop, &p);
        again = p.changed;
    }
    return c;
}
