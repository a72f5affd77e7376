/* SPDX-License-Identifier: MIT */
/* Which implementation a group gets: of those whose operator or pattern fits the anchor, whose target is in the chain and
 * whose condition holds, the highest plevel; of equal ones the one nearest in the target's chain, then the first
 * registered. With none, the naive nest. */
#include "graph/graph.h"

#include <stdlib.h>
#include <string.h>

#include "ir/check.h"

#include "support/text.h"

bool has_word(const char *words, const char *word)
{
    size_t n = strlen(word);
    for (const char *p = words; (p = strstr(p, word)) != NULL; p += n)
        if ((p == words || p[-1] == ' ') && (p[n] == 0 || p[n] == ' ')) return true;
    return false;
}

static bool is_for(Ctx *cx, const Implementation *i, const Node *anchor)
{
    const Op *op = anchor->op;
    return has_word(i->ops, op->name) || has_word(i->ops, text_format(cx, "pattern:%s", pattern_text(op->pattern)));
}

static int chain_distance(Ctx *cx, const Target *t, const char *name)
{
    for (int d = 0; t; d++) {
        if (strcmp(t->name, name) == 0) return d;
        t = t->base ? target_find(cx, t->base) : NULL;
    }
    return -1;
}

static bool is_better(const Implementation *a, int a_distance, const Implementation *b, int b_distance)
{
    if (!b || a->plevel != b->plevel) return !b || a->plevel > b->plevel;
    return a_distance < b_distance;
}

static GroupNest nest_of(Ctx *cx, const Group *g, const Target *t, const Implementation *with)
{
    GroupNest n = { g, t, NULL, NULL };
    Tensor **input = NEW_ARRAY(cx->arena, Tensor *, g->input_count), **out = group_expand(cx, g, with, input, &n.anchor);
    if (out) n.nest = nest_naive(cx, g->name, input, g->input_count, out, g->output_count);
    return n;
}

/* The template's own steps are checked all at once: every primitive has shown that it may, and the checker proves the
 * nest that comes out. LOOPWRIGHT_CHECK=steps has it prove every nest on the way too. */
static const Nest *scheduled(Ctx *cx, const GroupNest *g, const Implementation *with)
{
    const char *wish = getenv("LOOPWRIGHT_CHECK"), *why = "";
    bool late = cx->checks_late;
    cx->checks_late = !wish || strcmp(wish, "steps") != 0;
    const Nest *n = with->schedule(cx, g);
    cx->checks_late = late;
    if (!n || ctx_failed(cx) || nest_check(cx, n, &why) == PROVED) return n;
    diag_internal(cx, g->group->name, "the schedule \"%s\" made a nest that is not proved: %s", with->name, why);
    return NULL;
}

const Nest *strategy_schedule(Ctx *cx, const Group *g, const Target *t, const Implementation **chosen, Text *explain)
{
    int count, best_distance = 0;
    const Implementation *const *all = implementation_list(cx, &count), *best = NULL;
    GroupNest naive = nest_of(cx, g, t, NULL);
    for (int i = 0; i < count && naive.nest; i++) {
        int distance = chain_distance(cx, t, all[i]->target);
        if (all[i]->alter || distance < 0 || !is_for(cx, all[i], g->anchor)) continue;
        bool applies = !all[i]->applies || all[i]->applies(cx, &naive);
        if (explain)
            text_printf(explain, "  %-32s %-12s plevel %2d  %s\n", all[i]->name, all[i]->target, all[i]->plevel,
                        applies ? "applies" : "its condition does not hold");
        if (!applies || !is_better(all[i], distance, best, best_distance)) continue;
        best = all[i];
        best_distance = distance;
    }
    if (explain) text_printf(explain, "  chosen: %s\n", best ? best->name : "the naive nest");
    if (chosen) *chosen = best;
    if (!best || !naive.nest) return naive.nest;
    GroupNest with = best->compute ? nest_of(cx, g, t, best) : naive;
    return best->schedule && with.nest ? scheduled(cx, &with, best) : with.nest;
}
