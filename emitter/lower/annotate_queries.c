/* SPDX-License-Identifier: MIT */
/* Queries of the walk over a function that is annotated. */
#include "lower/annotate_parts.h"

void add_clause(Annotator *a, const Clause *c)
{
    Clauses *l = &a->clauses;
    if (l->count == l->room) {
        Clause *more = NEW_ARRAY(a->cx->arena, Clause, l->room = 2 * l->room + 32);
        for (int i = 0; i < l->count; i++) more[i] = l->at[i];
        l->at = more;
    }
    l->at[l->count++] = *c;
}

/* ---- Queries ----------------------------------------------------------------------------------------------------- */

const Expr *with_named_values(const Annotator *a, const Expr *e)
{
    return lets_replace(a->cx, &a->lets, e);
}

void name_value(Annotator *a, const Code *let) { lets_add(&a->lets, let); }

const Expr *store_index(const Annotator *a, const Code *store)
{
    const Memory *m = store->memory;
    const Expr *at = store->index;
    if (m->kind == MEMORY_SCALAR) return expr_index(a->cx, 0);
    if (m->kind == MEMORY_POINTER) at = expr_add(a->cx, m->offset, at);
    return simplify(a->cx, with_named_values(a, at), NULL);
}

int find_parameter(const Function *f, const Memory *m)
{
    int i = 0;
    while (i < f->memory_count && f->memory[i] != m) i++;
    return i;
}

Tracked *find_tracked(Annotator *a, const Memory *m)
{
    for (int i = a->tracked_count - 1; i >= 0; i--)
        if (a->tracked[i].memory == m) return &a->tracked[i];
    return NULL;
}

static bool stores_at(const Code *c, const void *base)
{
    return c->kind == CODE_STORE && memory_base(c->memory) == base;
}

bool stores_to(const Code *c, const Memory *m) { return code_any(c, stores_at, m); }

int64_t most_trips(Annotator *a, const Code *loop)
{
    const Expr *begin = with_named_values(a, loop->begin), *end = with_named_values(a, loop->end);
    const int64_t most = interval_of(a->cx, simplify(a->cx, expr_sub(a->cx, end, begin), a->scope), a->scope).greatest,
                  other = sat_add(interval_of(a->cx, end, a->scope).greatest,
                                  -interval_of(a->cx, begin, a->scope).least);
    const int64_t least = most < other ? most : other;
    return least < 0 ? 0 : (sat_add(least, loop->step - 1)) / loop->step;
}

bool runs_once(Annotator *a, const Code *loop)
{
    return provably(a->cx, expr_binary(a->cx, EXPR_LT, with_named_values(a, loop->begin),
                                       with_named_values(a, loop->end)), a->scope);
}
