/* SPDX-License-Identifier: MIT */
/* Combines groups to reduce RAM. The plan gives the group where the most bytes are live. Take a tensor that is live
 * there, with a single consumer that reads it row by row. Producer and consumer may become one nest with a ring buffer
 * of rows (schedule_combine_rows: each row is computed once, in the loops of its strategy). The search takes the pair
 * that saves the most, if it saves a tenth of RAM, and repeats. `--combine none` disables it.
 *
 * Each candidate is planned in full, because only the plan gives the RAM; functions that do not change are lowered
 * once. Where two groups have the same peak, one pair alone saves nothing: the search then tries a second pair with it.
 * */
#include "driver/driver.h"

#include "graph/plan/combine.h"
#include "graph/dag/target.h"
#include "support/text.h"

enum { LEAST_GAIN = 10, MOST_PAIRS = 12, MOST_AT_ONCE = 3 };

/* The present groups, or those of a candidate. */
typedef struct Layers {
    int count;
    Group *at;
    const Nest **nest;
    const Implementation **chosen;
    int *parts;
    const int **part;                /* the fused groups that each consists of */
    const char *explain;
    Plan plan;
} Layers;

typedef struct Search { Build *b; Groups whole; int64_t outside; } Search;      /* bytes of inputs and outputs */

static Layers layers_room(Ctx *cx, int count)
{
    return (Layers){ .count = count,
                     .at = NEW_ARRAY(cx->arena, Group, count),
                     .nest = NEW_ARRAY(cx->arena, const Nest *, count),
                     .chosen = NEW_ARRAY(cx->arena, const Implementation *, count),
                     .parts = NEW_ARRAY(cx->arena, int, count),
                     .part = NEW_ARRAY(cx->arena, const int *, count),
                     .explain = "" };
}

static Layers layers_now(Search *r)
{
    Ctx *cx = r->b->cx;
    Layers l = layers_room(cx, r->whole.count);
    for (int i = 0; i < l.count; i++) {
        int *self = NEW_ARRAY(cx->arena, int, 1);
        *self = i;
        l.at[i] = r->whole.at[i];
        l.nest[i] = r->b->nest[i];
        l.chosen[i] = r->b->chosen[i];
        l.parts[i] = 1;
        l.part[i] = self;
    }
    return l;
}

static void use_layers(Build *b, const Layers *l)
{
    b->groups = (Groups){ l->count, l->at };
    b->nest = l->nest;
    b->chosen = l->chosen;
}

/* Plans these layers, with functions apart from the build's. */
static void plan_layers(Search *r, Layers *l)
{
    Ctx *cx = r->b->cx;
    Build trial = *r->b;
    Shared own = *r->b->shared;
    own.by_text = map_new(cx->arena);
    own.function = NEW_ARRAY(cx->arena, const Function *, l->count);
    own.function_count = 0;
    trial.shared = &own;
    trial.watch = NULL;
    use_layers(&trial, l);
    build_functions(&trial);
    l->plan = trial.plan;
    r->b->shared->lowered = own.lowered;
}

/* ---- Pairs ------------------------------------------------------------------------------------------------------- */

static bool reads(const Group *g, const Tensor *t)
{
    for (int i = 0; i < g->input_count; i++)
        if (g->input[i] == t) return true;
    return false;
}

/* Returns the only consumer of group i's output; -1: it has none or several, or is an output of the model. */
static int only_consumer(const Search *r, const Layers *l, int i)
{
    int consumer = -1;
    if (l->at[i].output_count != 1 || graph_has_output(&r->b->graph, l->at[i].output[0])) return -1;
    for (int j = i + 1; j < l->count; j++) {
        if (!reads(&l->at[j], l->at[i].output[0])) continue;
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
    Group merged;
    Text explain = text_new(cx);
    int *part = NEW_ARRAY(cx->arena, int, l->parts[i] + l->parts[j]),
        count = rising(l->part[i], l->parts[i], l->part[j], l->parts[j], part), n = 0;
    DiagMark mark = diag_mark(cx);
    const Nest *nest = schedule_combine_rows(cx, &r->b->graph, &r->whole, part, count, r->b->target, &explain, &merged);
    if (diag_rewind(cx, mark) || !nest) return false;
    *out = layers_room(cx, l->count - 1);
    for (int k = 0; k < l->count; k++) {
        if (k == i) continue;
        out->at[n] = k == j ? merged : l->at[k];
        out->nest[n] = k == j ? nest : l->nest[k];
        out->chosen[n] = k == j ? NULL : l->chosen[k];
        out->parts[n] = k == j ? count : l->parts[k];
        out->part[n++] = k == j ? part : l->part[k];
    }
    out->explain = text_format(cx, "%s%s", l->explain, text_string(&explain));
    return true;
}

static bool stays_apart(const Layers *l, int i)
{
    return l->at[i].is_scheduled || !l->nest[i] || l->nest[i]->otherwise || l->plan.is_free[i] ||
           group_device(&l->at[i]);
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
        const int j = stays_apart(l, i) ? -1 : only_consumer(r, l, i);
        const Slot *s = j < peak ? NULL : plan_slot(&l->plan, l->at[i].output[0]);
        if (!s || stays_apart(l, j) || s->kind != SLOT_ARENA || s->root != s->tensor || !tensor_is_fixed(s->tensor))
            continue;
        if (tensor_bytes(s->tensor) * LEAST_GAIN < l->plan.live_bytes[peak] || !join_layers(r, l, i, j, &now)) continue;
        plan_layers(r, &now);
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

static int64_t bytes_outside(Ctx *cx, const Graph *g)
{
    int64_t bytes = 0;
    for (int i = 0; i < g->input_count; i++) bytes += tensor_most_bytes(cx, g->input[i]);
    for (int i = 0; i < g->output_count; i++) bytes += tensor_most_bytes(cx, g->output[i]);
    return bytes;
}

/* True if all memory of the plan belongs to groups: graphs of regions and partitions for devices have memory of their
 * own. */
static bool is_plain(Build *b)
{
    bool plain = !b->partition_count && b->groups.count > 1;
    for (int i = 0; i < b->groups.count; i++) plain = plain && !region_of_group(b, i);
    return plain;
}

void build_combine_for_ram(Build *b)
{
    if (!is_plain(b)) return;
    Search r = { b, b->groups, bytes_outside(b->cx, &b->graph) };
    Layers l = layers_now(&r);
    plan_layers(&r, &l);
    for (int pairs = 0; pairs < MOST_PAIRS && !ctx_failed(b->cx) && improve(&r, &l); pairs++) continue;
    if (ctx_failed(b->cx) || l.count == b->groups.count) return;
    use_layers(b, &l);
    b->combine_text = l.explain;
}
