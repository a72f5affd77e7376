/* SPDX-License-Identifier: MIT */
/* Combines groups to reduce RAM. The plan gives the group where the most bytes are live. Take a tensor that is live
 * there, with a single consumer that reads it row by row. Producer and consumer may become one nest with a ring buffer
 * of rows (combine_rows: each row is computed once, in the loops of its strategy). The search takes the pair
 * that saves the most, if it saves a tenth of RAM, and repeats. `--combine none` disables it.
 *
 * Where two groups have the same peak, one pair alone saves nothing: the search then tries a second pair with it. */
#include "driver/combine_layers.h"

#include "support/text.h"

enum { LEAST_GAIN = 10, MOST_PAIRS = 12, MOST_AT_ONCE = 3 };

/* ---- Pairs ------------------------------------------------------------------------------------------------------- */

/* Returns the only consumer of group i's output; -1: it has none or several, or is an output of the model. */
static int only_consumer(const Search *r, const Layers *l, int i)
{
    int consumer = -1;
    if (layers_last_part(&l->at[i]) == r->master) return -1;
    if (l->at[i].group.output_count != 1 || graph_has_output(&r->b->graph, l->at[i].group.output[0])) return -1;
    for (int j = i + 1; j < l->count; j++) {
        if (!layers_reads(l, j, l->at[i].group.output[0])) continue;
        if (consumer >= 0) return -1;
        consumer = j;
    }
    return consumer;
}

static int rising(const int *a, int a_count, const int *b, int b_count, int *out)
{
    int n = 0, i = 0, j = 0;
    while (i < a_count || j < b_count) out[n++] = j == b_count || (i < a_count && a[i] < b[j]) ? a[i++] : b[j++];
    return n;
}

/* Combines group i into the loops of group j; the result replaces group j. False if the schedules do not combine. */
static bool join_layers(Search *r, const Layers *l, int i, int j, Layers *out)
{
    Ctx *cx = r->b->cx;
    Combination c;
    Text explain = text_new(cx);
    int *part = NEW_ARRAY(cx->arena, int, l->at[i].count + l->at[j].count),
        count = rising(l->at[i].part, l->at[i].count, l->at[j].part, l->at[j].count, part);
    bool *is_joined = NEW_ARRAY(cx->arena, bool, l->count);
    if (!combine_rows(&r->whole, part, count, &c)) return false;
    combine_explain(&r->whole, &c, &explain);
    is_joined[i] = true;
    *out = layers_with(r, l, is_joined, j, &c);
    out->explain = text_format(cx, "%s%s", l->explain, text_string(&explain));
    return true;
}

/* Finds the pair with the smallest arena that also lowers the live bytes at the present peak; false: there is none. */
static bool best_join(Search *r, const Layers *l, Layers *best)
{
    int peak = 0;
    bool found = false;
    for (int g = 0; g < l->count; g++)
        if (l->plan.live_bytes[g] > l->plan.live_bytes[peak]) peak = g;
    for (int i = 0; i <= peak; i++) {
        Layers now;
        const int j = layers_stays(r, l, i) ? -1 : only_consumer(r, l, i);
        const bool is_apart = j < peak || layers_why_not_in(r, l, i, j);
        const Slot *s = is_apart ? NULL : plan_slot(&l->plan, l->at[i].group.output[0]);
        if (!s || layers_stays(r, l, j) || s->kind != SLOT_ARENA || s->root != s->tensor
            || !tensor_is_fixed(s->tensor))
            continue;
        if (tensor_bytes(s->tensor) * LEAST_GAIN < l->plan.live_bytes[peak] || !join_layers(r, l, i, j, &now)) continue;
        layers_plan(r, &now);
        if (ctx_failed(r->b->cx)) return false;
        if (now.plan.live_bytes[j - 1] >= l->plan.live_bytes[peak]
            || (found && now.plan.arena_size >= best->plan.arena_size))
            continue;
        *best = now;
        found = true;
    }
    return found;
}

/* Combines one pair, or a few that together save a tenth of RAM. */
static bool improve(Search *r, Layers *l)
{
    Layers now = *l;
    for (int pairs = 0; pairs < MOST_AT_ONCE; pairs++) {
        Layers next;
        if (!best_join(r, &now, &next)) return false;
        now = next;
        if (now.plan.arena_size > l->plan.arena_size - (l->plan.arena_size + r->outside) / LEAST_GAIN) continue;
        now.explain = text_format(r->b->cx, "%sfor an arena of %lld bytes, and not %lld\n", now.explain,
                                  (long long)now.plan.arena_size, (long long)l->plan.arena_size);
        *l = now;
        return true;
    }
    return false;
}

void layers_save_ram(Search *r, Layers *l)
{
    for (int pairs = 0; pairs < MOST_PAIRS && !ctx_failed(r->b->cx) && improve(r, l); pairs++) continue;
}

void build_combine_for_ram(Build *b)
{
    if (!layers_are_plain(b)) return;
    bool *all = NEW_ARRAY(b->cx->arena, bool, b->groups.count);
    for (int i = 0; i < b->groups.count; i++) all[i] = true;
    Search r = layers_search(b, all);
    Layers l = layers_apart(&r);
    layers_save_ram(&r, &l);
    if (ctx_failed(b->cx) || l.count == b->groups.count) return;
    layers_use(b, &l);
    b->combine_text = l.explain;
}
