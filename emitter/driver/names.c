/* SPDX-License-Identifier: MIT */
/* Names of the emitted symbols, behind the model's prefix. All graphs of a model share them. */
#include "driver/driver.h"

#include <string.h>

#include "support/names.h"

/* The first of BASE, BASE_2, BASE_3, ... that is not taken; it is now. A name taken leads to the last number tried. */
const char *build_unique_name(Ctx *cx, Map *taken, const char *base)
{
    const char *unique = name(cx, base);
    int *last = map_get_ptr(taken, unique);
    while (last && map_get_ptr(taken, unique)) unique = name_format(cx, "%s_%d", base, ++*last);
    int *first = NEW(cx->arena, int);
    *first = 1;
    map_put_ptr(taken, unique, first);
    return unique;
}

const char *build_symbol(Build *b, const char *wanted) { return build_unique_name(b->cx, &b->shared->symbols, wanted); }

/* Begins with what stands behind the model's prefix in the emitted C anyway, before functions and constants. */
Shared *build_shared(Ctx *cx)
{
    static const char *const own[] = { "run", "arena", "inputs", "outputs", "INPUTS", "OUTPUTS", "H", "ARENA_SIZE", "ARENA_ALIGN", "state", "reset", "E_STATE",
                                       "WEIGHTS_SIZE", "E_ARENA", "E_DIM",
                                       "ARENA", "E_NULL" };
    Shared *s = NEW(cx->arena, Shared);
    s->symbols = s->by_text = s->lowered = s->merged = map_new(cx->arena);
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++) build_unique_name(cx, &s->symbols, own[i]);
    return s;
}

static void name_group(Build *b, Group *g)
{
    const char *base = g->name + strspn(g->name, "_");
    if (!*base) base = g->anchor->op->name;
    if (*base >= '0' && *base <= '9') base = name_format(b->cx, "%s_%s", g->anchor->op->name, base);
    g->name = build_unique_name(b->cx, &b->shared->symbols, base);
}

/* Names of functions: of the anchors, made unique. What only moves elements gives way: a change of layout bears the name
 * of the operator that asked for it. */
void build_name_groups(Build *b)
{
    for (int moves = 0; moves < 2; moves++)
        for (int i = 0; i < b->groups.count; i++)
            if ((b->groups.at[i].anchor->op->fusion.pattern == PATTERN_INJECTIVE) == moves)
                name_group(b, &b->groups.at[i]);
}
