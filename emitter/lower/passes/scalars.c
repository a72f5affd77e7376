/* SPDX-License-Identifier: MIT */
/* Replaces arrays by scalars. A local array with only constant indices becomes one variable per accessed element. C
 * compilers keep variables in registers more reliably than arrays. */
#include "lower/passes/passes.h"
#include "support/names.h"

enum { MOST_VARIABLES = 256 };

typedef struct Local { bool is_array; int64_t elems; const Memory **scalar; } Local;
typedef struct Scalars { Ctx *cx; Map locals; } Scalars;

static const Code *note_local(Ctx *cx, const Code *c, void *user)
{
    Scalars *s = user;
    if (c->kind != CODE_LOCAL || c->memory->kind != MEMORY_LOCAL || c->memory->scope) return c;
    Local *l = NEW(cx->arena, Local);
    l->elems = c->memory->elems->integer;
    l->is_array = l->elems > MOST_VARIABLES;
    if (!l->is_array) l->scalar = NEW_ARRAY(cx->arena, const Memory *, l->elems);
    map_put_ptr(&s->locals, c->memory, l);
    return c;
}

static void note_access(Scalars *s, const Memory *m, const Expr *index)
{
    Local *l = map_get_ptr(&s->locals, m);
    if (!l || l->is_array) return;
    if (index->kind != EXPR_INT || index->integer < 0 || index->integer >= l->elems) l->is_array = true;
    else if (!l->scalar[index->integer]) {
        Memory proto = *m;
        proto.kind = MEMORY_SCALAR;
        proto.elems = expr_index(s->cx, 1);
        if (l->elems > 1) proto.name = name_format(s->cx, "%s_%d", m->name, (int)index->integer);
        l->scalar[index->integer] = memory_new(s->cx, &proto);
    }
}

static const Expr *note_load(Ctx *cx, const Expr *e, void *user)
{
    (void)cx;
    if (e->kind == EXPR_LOAD) note_access(user, e->ref, e->arg[0]);
    return e;
}

/* Marks the local operands of an instruction as arrays, because an instruction addresses its operands in memory. */
static void note_call(const Scalars *s, const Code *c)
{
    for (int i = 0; i < c->arg_count; i++) {
        const Expr *first = c->args[i]->kind == EXPR_AT ? c->args[i]->arg[0] : c->args[i];
        Local *l = first->kind == EXPR_LOAD ? map_get_ptr(&s->locals, first->ref) : NULL;
        if (l) l->is_array = true;
    }
}

static const Code *note_store(Ctx *cx, const Code *c, void *user)
{
    (void)cx;
    if (c->kind == CODE_CALL) note_call(user, c);
    if (c->kind == CODE_STORE) note_access(user, c->memory, c->index);
    return c;
}

static const Memory *scalar_for(const Scalars *s, const Memory *m, const Expr *index)
{
    const Local *l = map_get_ptr(&s->locals, m);
    return l && !l->is_array ? l->scalar[index->integer] : NULL;
}

static const Expr *replace_load(Ctx *cx, const Expr *e, void *user)
{
    const Memory *m = e->kind == EXPR_LOAD ? scalar_for(user, e->ref, e->arg[0]) : NULL;
    return m ? load_expr(cx, m, expr_index(cx, 0)) : e;
}

static const Code *replace(Ctx *cx, const Code *c, void *user)
{
    const Scalars *s = user;
    if (c->kind == CODE_STORE) {
        const Memory *m = scalar_for(s, c->memory, c->index);
        return m ? code_store(cx, m, expr_index(cx, 0), c->value) : c;
    }
    const Local *l = c->kind == CODE_LOCAL ? map_get_ptr(&s->locals, c->memory) : NULL;
    if (!l || l->is_array) return c;
    const Code **each = NEW_ARRAY(cx->arena, const Code *, l->elems);
    for (int64_t i = 0; i < l->elems; i++)
        if (l->scalar[i]) each[i] = code_local(cx, l->scalar[i]);
    return code_seq(cx, each, (int)l->elems);
}

/* ---- Each copy of the code declares only the variables that it accesses ------------------------------------------ */

typedef struct Touch { const Memory *memory; bool touched; } Touch;

static const Expr *touch_load(Ctx *cx, const Expr *e, void *user)
{
    Touch *t = user;
    (void)cx;
    if (e->kind == EXPR_LOAD && e->ref == t->memory) t->touched = true;
    return e;
}

static bool is_touched(Ctx *cx, const Code *const *code, int count, const Memory *m)
{
    Touch t = { m, false };
    for (int i = 0; i < count && !t.touched; i++) {
        code_map_exprs(cx, code[i], touch_load, &t);
        t.touched = t.touched || code_stores(code[i], m);
    }
    return t.touched;
}

static const Code *drop_untouched(Ctx *cx, const Code *c, void *user)
{
    (void)user;
    if (c->kind != CODE_SEQ) return c;
    const Code **kept = NEW_ARRAY(cx->arena, const Code *, c->child_count);
    int n = 0;
    for (int i = 0; i < c->child_count; i++) {
        const Code *s = c->child[i];
        bool is_variable = s->kind == CODE_LOCAL && s->memory->kind == MEMORY_SCALAR;
        if (!is_variable || is_touched(cx, c->child + i + 1, c->child_count - i - 1, s->memory)) kept[n++] = s;
    }
    return n < c->child_count ? code_seq(cx, kept, n) : c;
}

const Code *pass_scalars(Ctx *cx, const LowerOptions *options, const Code *c)
{
    Scalars s = { cx, map_new(cx->arena) };
    (void)options;
    code_rewrite(cx, c, note_local, &s);
    code_map_exprs(cx, c, note_load, &s);
    code_rewrite(cx, c, note_store, &s);
    c = code_map_exprs(cx, c, replace_load, &s);
    return code_rewrite(cx, code_rewrite(cx, c, replace, &s), drop_untouched, NULL);
}
