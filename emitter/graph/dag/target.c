/* SPDX-License-Identifier: MIT */
#include "graph/dag/target.h"

#include <string.h>

#include "support/names.h"
#include "support/text.h"

bool target_has(const Target *t, const char *feature)
{
    return t && t->features && text_has_word(t->features, feature);
}

const Target *target_without(Ctx *cx, const Target *t, const char *feature)
{
    Target *less = arena_copy(cx->arena, t, sizeof *t);
    Text left = text_new(cx);
    for (const char *s = t->features ? t->features : ""; *s; s += strcspn(s, " "), s += strspn(s, " ")) {
        const char *own = name_n(cx, s, strcspn(s, " "));
        if (strcmp(own, feature) != 0) text_printf(&left, "%s%s", left.length ? " " : "", own);
    }
    less->features = text_string(&left);
    return less;
}

/* Returns the number of features that the row requires. Returns -1 if the target lacks a feature. */
static int features_in(Ctx *cx, const Target *t, const char *features)
{
    int count = 0;
    for (const char *s = features ? features : ""; *s; s += strcspn(s, " "), s += strspn(s, " "), count++)
        if (!target_has(t, name_n(cx, s, strcspn(s, " ")))) return -1;
    return count;
}

/* Returns the number of steps from the target to the target with this name, or to the root if the name is NULL. Returns
 * -1 if the name is not in the chain. */
static int chain_distance(Ctx *cx, const Target *t, const char *target_name)
{
    for (int d = 0; t; d++) {
        if (target_name ? strcmp(t->name, target_name) == 0 : !t->base) return d;
        t = t->base ? target_find(cx, t->base) : NULL;
    }
    return -1;
}

int implementation_rank(Ctx *cx, const Target *t, const Implementation *i)
{
    enum { MOST_FEATURES = 64 };
    if (!t) return -1;
    const int distance = chain_distance(cx, t, i->target), count = features_in(cx, t, i->features);
    return distance < 0 || count < 0
               ? -1
               : (distance + 1) * MOST_FEATURES - (count < MOST_FEATURES ? count : MOST_FEATURES - 1);
}

const Target *implementation_target(Ctx *cx, const Implementation *i)
{
    int count;
    const Target *const *all = target_list(cx, &count);
    for (int t = 0; t < count; t++)
        if (implementation_rank(cx, all[t], i) >= 0) return all[t];
    return NULL;
}

const char *implementation_for(const Implementation *i)
{
    return i->target ? i->target : i->features ? i->features : "generic";
}
