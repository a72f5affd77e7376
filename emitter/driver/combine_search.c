/* SPDX-License-Identifier: MIT */
/* The search for combinations of groups: without options, for --combine and for --ram (combine_for_ram.c). A move gives
 * a new state, which is planned in full. Its price is the change of RAM, code and counted instructions. The aim of the
 * search decides whether the move is accepted. There are four kinds of moves:
 *
 *   - a pair: a group that has a single consumer joins its outermost loop, with a ring of rows (BY_ROWS: each row is
 *     computed once, in the loops of its strategy). The best pair is accepted, if it saves a tenth of RAM. If two
 *     groups have the same peak, one pair cannot lower it, so up to three pairs are accepted together. If no such pair
 *     saves a tenth, and a chain of overlaps needs more than the peak, pairs at other groups are tried;
 *   - a join: a group joins its consumers in any loop. All consumers of a group must be in its nest, or it remains an
 *     output. So a group joins together with the groups on all paths to its last consumer, its immediate
 *     post-dominator: one group in a chain, all branches of a diamond or a residual block. They are added one by one,
 *     the last first, each in the loop that combine_add finds. The group itself is tried in every choice of loop, and
 *     each is planned. Where the arena is larger, the search goes on with the group before, up to three: the rows of a
 *     chain cost less than its ends only where the chain is long enough;
 *   - copies of loops without guards make a joined function fast and long. If they are not paid for, it is tried
 *     without them, for half of the instructions: guards in inner loops cost more than is counted;
 *   - results are moved within the arena (runtime/lw_move.h), out of the way of the next result.
 *
 * Each sweep tries each of n groups once, with at most 4 nests per loop around its consumers and 3 plans each. */

/* Decision: RAM has a price in counted instructions and in code. The prices below hold for every model, and none was
 * fitted to a model.
 *
 *   LEAST_GAIN     a pair, and the moves of all results, must save a tenth of RAM: without an option, layers stay
 *                  apart where that costs little RAM, because separate layers are easier to read, to measure and to
 *                  replace
 *   MOVE_SHARE     these moves cost at most a hundredth of the instructions
 *   COMBINE_SHARE  all joins of --combine together cost at most a fiftieth of the instructions: its promise
 *   CODE_PER_RAM   a byte of RAM that a join saves pays for 64 bytes of code: hardly any microcontroller has more than
 *                  64 times as much flash as RAM, so beyond this the join pays on none
 *   ROUNDING       a join that saves no RAM costs no instruction, but for a thousandth, the rounding of averaged loop
 *                  bounds
 *   EXPOSED_SHARE  the count is not exact (make bench-cost); a difference of two counts is within 16 % of the
 *                  emulator's. Functions that are joined without saving RAM hold at most an eighth of all
 *                  instructions: 16 % of these are a fiftieth of all
 *   FIRST_SHARE    --ram first pays a sixty-fourth of the instructions, then twice as much, until the limit is kept;
 *                  its joins do not weigh code, because the limit must be kept
 *   LAST_TIMES     --ram pays at most 64 times the instructions, because no firmware would wait longer
 *
 *   - A macro of an instruction costs what the target's row states, for a use and for each point of its formula.
 *   - On cores without an FPU the time of a float product depends on its data. A ReLU's results are half zeros as a
 *     rule, so products with such values have cost rows of their own; a group's stand-ins carry that fact
 *     (`is_rectified`).
 *
 * A group that is not combined is reported with the reason and the counted cost of the attempt. If the proofs refuse
 * every loop, the attempt is a function that computes the group before its consumers' loops. Each graph of a region is
 * searched separately, before the graph that holds the region, because its plan determines the region's memory. Groups
 * of a device combine only within one function of the device; copies between devices are kept. */
#include "driver/combine_layers.h"

#include <string.h>

#include "support/text.h"

enum { LEAST_GAIN = 10, MOVE_SHARE = 100, COMBINE_SHARE = 50, CODE_PER_RAM = 64, ROUNDING = 1000, EXPOSED_SHARE = 8,
       FIRST_SHARE = 64, LAST_TIMES = 64 };
/* Limits of the search, not of its results. */
enum { MOST_PAIRS = 12, MOST_AT_ONCE = 3, MOST_SWEEPS = 3, MOST_AHEAD = 3, MOST_BETWEEN = 8 };

/* The limits of copied statements to try, the largest first; 0 stands for the target's limit. */
static const int64_t copies[] = { 400, 0 };
enum { COPIES = sizeof copies / sizeof copies[0] };

/* The reason why a group is not combined. is_counted: the reason has the counted cost of the attempt */
typedef struct Reason { const char *text; bool is_counted; } Reason;

typedef struct Joining {
    Search *r;
    Layers *now;
    Aim aim;
    int64_t exposed;                 /* the instructions of functions that are combined without saving a byte */
    Reason *why;                     /* [groups] by the last part; text is NULL if the group was not tried */
    const char **given;              /* [groups] by the last part: the gain of its joins, or NULL if there is none */
    /* for a sweep: the arena of the aim, or half of the present one; groups with fewer bytes are not considered */
    int64_t target;
} Joining;

/* ---- What joins -------------------------------------------------------------------------------------------------- */

/* A layer, its last consumer `to`, and all layers between them. */
typedef struct Closure { int to; int count, at[MOST_BETWEEN]; bool *has; } Closure;

/* Adds layer i; returns false, with the reason, if the layer cannot be attached. */
static bool add_layer(const Search *r, const Layers *l, Closure *c, int i, const char **why)
{
    const Group *g = &l->at[i].group;
    const bool is_view = l->plan.is_free[i];
    *why = NULL;
    if (g->output_count != 1) *why = "it has several outputs";
    else if (graph_has_output(&r->b->graph, g->output[0])) *why = "its result is an output of the model";
    else if (layers_last_part(&l->at[i]) == r->master) *why = "it is the master";
    else if (group_bound_size(g)) *why = "it gives a size its value";
    else if (!is_view && layers_why_apart(r, l, i))
        *why = text_format(r->b->cx, "of %s: %s", g->name, layers_why_apart(r, l, i));
    else if (c->count == MOST_BETWEEN) *why = "too many groups are between it and its last consumer";
    if (*why) return false;
    c->has[i] = true;
    c->at[c->count++] = i;
    return true;
}

static bool close_layer(const Search *r, const Layers *l, Closure *c, int i, const char **why)
{
    int last = -1;
    if (!add_layer(r, l, c, i, why)) return false;
    for (int k = i + 1; k < l->count; k++)
        if (layers_reads(l, k, l->at[i].group.output[0])) last = k;
    if (last < 0) *why = "no group reads it";
    if (last > c->to) c->to = last;
    return last >= 0;
}

/* Finds the layers that must join together with layer i. */
static bool find_closure(const Search *r, const Layers *l, int i, Closure *c, const char **why)
{
    *c = (Closure){ .to = i, .has = NEW_ARRAY(r->b->cx->arena, bool, l->count) };
    if (!close_layer(r, l, c, i, why)) return false;
    for (int k = i + 1; k <= c->to; k++) {
        bool reads = false;
        for (int m = 0; m < c->count; m++) reads = reads || layers_reads(l, k, l->at[c->at[m]].group.output[0]);
        const bool is_last = k == c->to;
        if (!reads || (is_last && !l->plan.is_free[k])) continue;
        if (!close_layer(r, l, c, k, why)) return false;
    }
    for (int m = 0; m < c->count; m++) {
        *why = layers_why_not_in(r, l, c->at[m], c->to);
        if (*why) return false;
    }
    if (!layers_stays(r, l, c->to)) return true;
    *why = text_format(r->b->cx, "%s reads it, and stays apart: %s", l->at[c->to].group.name,
                       layers_why_apart(r, l, c->to));
    return false;
}

/* ---- One join ---------------------------------------------------------------------------------------------------- */

static const char *at_consumer(Ctx *cx, const Combination *to, const char *why)
{
    return text_format(cx, "in the loops of %s it is refused: %s", to->group.name, why);
}

/* Adds all parts of the closure's layers to its last layer. Stores the choices for the last part added in *out. */
static int join_closure(const Search *r, const Layers *l, const Closure *c, int choices, Choice *out,
                        const char **why)
{
    const CombineInput *whole = &r->whole;
    Combination now = l->at[c->to];
    int count = 0;
    for (int m = c->count - 1; m >= 0; m--) {
        const Combination *layer = &l->at[c->at[m]];
        for (int p = layer->count - 1; p >= 0; p--) {
            const int most = choices > 1 && (m || p) ? 1 : choices;
            count = combine_add(whole, &now, layer->part[p], l->plan.is_free[c->at[m]], most, out, why);
            if (!count) *why = at_consumer(whole->cx, &now, *why ? *why : "");
            if (!count) return 0;
            now = out[0].with;
        }
    }
    return count;
}

/* A state with one more join, and the index of the joined layer. */
typedef struct Trial { Layers layers; bool found; int at; } Trial;

/* Returns the most instructions that the aim allows. */
static int64_t most_work(const Joining *j)
{
    const int64_t limit = j->aim.start + j->aim.more;
    return limit > j->now->work ? limit : j->now->work;
}

/* The cost of an attempt, compared with the present state. */
typedef struct Price { int64_t ram, code, work; bool is_paid, is_code_paid; } Price;

/* Returns the bytes above the target, summed over the groups: two equal peaks shrink one after the other, so their
 * maximum alone would show no progress. */
static int64_t pressure(const Joining *j, const Layers *l)
{
    int64_t bytes = 0;
    for (int i = 0; i < l->count; i++)
        if (l->plan.live_bytes[i] > j->target) bytes += l->at[i].count * (l->plan.live_bytes[i] - j->target);
    return bytes;
}

static Price price(const Joining *j, const Trial *t)
{
    const Layers *l = &t->layers;
    Price p = { l->plan.arena_size - j->now->plan.arena_size, l->code - j->now->code, l->work - j->now->work,
                false, false };
    const bool is_fast = l->work <= most_work(j);
    const bool is_free = p.work <= j->aim.start / ROUNDING
        && j->exposed + l->work_of[t->at] <= j->aim.start / EXPOSED_SHARE;
    p.is_code_paid = p.code <= -p.ram * CODE_PER_RAM;
    p.is_paid = p.ram <= 0 && is_fast && p.is_code_paid && (p.ram < 0 || is_free);
    if (j->aim.is_limit) p.is_paid = is_fast && (p.ram < 0 || (!p.ram && pressure(j, l) < pressure(j, j->now)));
    return p;
}

/* Describes the arena, instructions and code before and after, and the limit that is exceeded. */
static const char *counted(const Joining *j, const Trial *t, bool is_candidate)
{
    const Price p = price(j, t);
    const Layers *l = &t->layers;
    const int64_t most = most_work(j);
    Text s = text_new(j->r->b->cx);
    text_printf(&s, "arena %lld -> %lld bytes, instructions counted %lld -> %lld", (long long)j->now->plan.arena_size,
                (long long)l->plan.arena_size, (long long)j->now->work, (long long)l->work);
    if (is_candidate && p.ram <= 0 && l->work > most) text_printf(&s, ", of at most %lld", (long long)most);
    text_printf(&s, ", code %lld -> %lld", (long long)j->now->code, (long long)l->code);
    if (is_candidate && p.ram <= 0 && !p.is_code_paid)
        text_printf(&s, ", of at most %lld", (long long)(j->now->code - p.ram * CODE_PER_RAM));
    else if (is_candidate && p.ram == 0 && l->work <= most)
        text_add(&s, p.work > j->aim.start / ROUNDING
                         ? "; it saves no RAM for these instructions"
                         : "; functions that save no RAM would hold more than an eighth of the instructions");
    return text_string(&s);
}

static const char *tried(const Joining *j, const Combination *to, const char *loop, const Trial *t)
{
    return text_format(j->r->b->cx, "in each iteration of %s of %s: %s", loop ? loop : "its loops", to->group.name,
                       counted(j, t, true));
}

/* Plans the layers with layer c->to replaced. */
static Trial trial_of(Joining *j, const Layers *l, const Closure *c, const Combination *with)
{
    Trial t = { layers_with(j->r, l, c->has, c->to, with), true, 0 };
    while (layers_last_part(&t.layers.at[t.at]) != layers_last_part(&l->at[c->to])) t.at++;
    layers_plan(j->r, &t.layers);
    return t;
}

/* Returns true if fewer bytes in these layers may lower the arena to the target: the layers hold more than the target,
 * or much of it in a chain of overlaps that needs more than the live bytes. */
static bool may_help(const Joining *j, const Layers *l, int first, int last)
{
    const Plan *p = &l->plan;
    const bool is_chain = p->arena_size > p->live_bound;
    for (int i = first; i <= last; i++)
        if (p->live_bytes[i] > j->target || (is_chain && p->overlaps[i] && p->live_bytes[i] > j->target / 2))
            return true;
    return false;
}

/* Returns true if the layers cost at most half of the instructions that the aim allows. */
static bool has_half(const Joining *j, const Layers *l)
{
    return l->work - j->aim.start <= j->aim.more / 2;
}

/* Plans the choices for layer i and the layers between. Returns true if a choice is at least as good as `now`. *best is
 * then the first such choice, in the outermost loop, because loops further inside have more overhead than is
 * counted. */
static bool try_join(Joining *j, const Layers *l, int i, Trial *best, Reason *why)
{
    Closure c;
    Choice choice[MOST_CHOICES];
    best->found = false;
    if (!find_closure(j->r, l, i, &c, &why->text) || (j->aim.is_limit && !may_help(j, l, i, c.to))) return false;
    const int count = join_closure(j->r, l, &c, MOST_CHOICES, choice, &why->text);
    for (int k = 0; k < count; k++)
        for (int n = 0; n < COPIES; n++) {
            const Combination with = combine_copies(&j->r->whole, &choice[k].with, copies[n]);
            const Trial t = trial_of(j, l, &c, &with);
            if (ctx_failed(j->r->b->cx)) return false;
            Price p = price(j, &t);
            p.is_paid = p.is_paid && (!n || has_half(j, &t.layers));
            if (!p.is_paid && (!k || !why->text)) *why = (Reason){ tried(j, &with, with.loop[0], &t), true };
            if (!best->found || p.is_paid) *best = t;
            if (p.is_paid) return true;
            if (p.is_code_paid || p.ram > 0) break;
        }
    return false;
}

/* Returns the first layer that this layer reads, so that a residual block is joined as a whole, or -1 if there is
 * none. */
static int layer_before(const Layers *l, int at)
{
    for (int i = 0; i < at; i++)
        if (!l->plan.is_free[i] && l->at[i].group.output_count == 1 && layers_reads(l, at, l->at[i].group.output[0]))
            return i;
    return -1;
}

/* Appends the gain and the cost of a join. */
static const char *given(const Joining *j, const Trial *t, const char *joined, const char *before)
{
    return text_format(j->r->b->cx, "%s  joining %s: %s\n", before ? before : "", joined, counted(j, t, false));
}

/* Joins layer i, and also layers before it, until the result is at least as good. */
static void join(Joining *j, int i)
{
    Layers from = *j->now;
    const int group = layers_last_part(&from.at[i]);
    for (int ahead = 0; ahead < MOST_AHEAD && i >= 0; ahead++) {
        Trial t = { .found = false };
        Reason why = { NULL, false };
        const bool accepted = try_join(j, &from, i, &t, &why);
        if (!ahead) j->why[group] = why;
        if (accepted) {
            const Combination *by = &t.layers.at[t.at];
            j->given[layers_last_part(by)] = given(j, &t, from.at[i].group.name, j->given[layers_last_part(by)]);
            if (t.layers.plan.arena_size == j->now->plan.arena_size) j->exposed += t.layers.work_of[t.at];
            *j->now = t.layers;
            return;
        }
        const bool is_larger = t.found && t.layers.plan.arena_size > j->now->plan.arena_size;
        if (!is_larger || t.layers.work > most_work(j) || ctx_failed(j->r->b->cx)) return;
        from = t.layers;
        i = layer_before(&from, t.at);
    }
}

static bool is_enough(const Joining *j) { return j->aim.is_limit && j->now->plan.arena_size <= j->aim.arena; }

/* Tries each layer once; returns true if the arena shrank, so that another sweep may join more layers. */
static bool sweep(Joining *j)
{
    const int64_t arena = j->now->plan.arena_size;
    j->target = arena / 2 > j->aim.arena ? arena / 2 : j->aim.arena;
    const int64_t above = j->aim.is_limit ? pressure(j, j->now) : 0;
    for (int i = j->now->count - 1; i >= 0 && !ctx_failed(j->r->b->cx) && !is_enough(j); i--) {
        if (i >= j->now->count || j->now->plan.is_free[i]) continue;
        Reason *why = &j->why[layers_last_part(&j->now->at[i])];
        *why = (Reason){ layers_why_apart(j->r, j->now, i), false };
        if (!why->text) join(j, i);
    }
    return j->now->plan.arena_size < arena || (j->aim.is_limit && pressure(j, j->now) < above);
}

/* ---- The report -------------------------------------------------------------------------------------------------- */

/* For a layer that the proofs allow in no loop, returns the counted cost of computing it before its consumers' loops in
 * one function, or NULL if nothing was tried. */
static const char *cost_before(Joining *j, int i)
{
    const CombineInput *whole = &j->r->whole;
    const Layers *l = j->now;
    const char *why;
    Closure c;
    if (layers_why_apart(j->r, l, i) || !find_closure(j->r, l, i, &c, &why)) return NULL;
    Combination now = l->at[c.to];
    for (int m = c.count - 1; m >= 0; m--)
        for (int p = l->at[c.at[m]].count - 1; p >= 0; p--) {
            const int part = l->at[c.at[m]].part[p];
            Choice in_loop;
            if (combine_add(whole, &now, part, l->plan.is_free[c.at[m]], 1, &in_loop, &why)) now = in_loop.with;
            else if (!combine_before(whole, &now, part, &now)) return NULL;
        }
    const Trial t = trial_of(j, l, &c, &now);
    return ctx_failed(j->r->b->cx) ? NULL : text_format(j->r->b->cx, "before these loops: %s", counted(j, &t, false));
}

/* Returns the reason, with the counted cost. */
static const char *with_cost(Joining *j, int i, const Reason *reason)
{
    const char *why = reason->text;
    if (reason->is_counted) return why;
    const char *before = cost_before(j, i);
    return before ? text_format(j->r->b->cx, "%s; %s", why, before)
                  : text_format(j->r->b->cx, "%s; it counts %lld instructions", why, (long long)j->now->work_of[i]);
}

static const char *report(Joining *j, const Layers *apart)
{
    const Search *r = j->r;
    const Layers *l = j->now;
    Text t = text_new(r->b->cx);
    for (int i = 0; i < l->count; i++) {
        const char *gave = j->given[layers_last_part(&l->at[i])];
        if (l->at[i].count > 1) combine_explain(&r->whole, &l->at[i], &t);
        if (gave) text_add(&t, gave);
    }
    for (int i = 0; i < l->count; i++) {
        const Combination *c = &l->at[i];
        const Reason *reason = &j->why[layers_last_part(c)];
        const bool is_done = c->count > 1 && layers_last_part(c) == r->master;
        if (l->plan.is_free[i] || !r->may_join[layers_last_part(c)] || !reason->text || is_done) continue;
        const char *why = with_cost(j, i, reason);
        if (r->notes_apart && layers_last_part(c) != r->master)
            diag_listed(r->b->cx, NOTE, c->group.name, "--combine: it stays apart: %s", why);
        text_printf(&t, "%s stays apart: %s\n", c->group.name, why);
    }
    text_printf(&t, "arena %lld bytes, and %lld apart; instructions counted %lld, and %lld apart; ",
                (long long)l->plan.arena_size, (long long)apart->plan.arena_size, (long long)l->work,
                (long long)apart->work);
    text_printf(&t, "code counted %lld bytes, and %lld apart\n", (long long)l->code, (long long)apart->code);
    return text_string(&t);
}

/* ---- Pairs ------------------------------------------------------------------------------------------------------- */

static bool save_enough(const Search *r, const Layers *from, const Layers *to)
{
    return to->plan.arena_size <= from->plan.arena_size - (from->plan.arena_size + r->outside) / LEAST_GAIN;
}

static int peak_of(const Layers *l)
{
    int peak = 0;
    for (int g = 0; g < l->count; g++)
        if (l->plan.live_bytes[g] > l->plan.live_bytes[peak]) peak = g;
    return peak;
}

/* Combines layer i, whose result is whole and in the arena, into the outermost loop of its only consumer *to, which is
 * layer `from` or a later one. */
static bool pair(Search *r, const Layers *l, int i, int from, int *to, Layers *out)
{
    Closure c;
    Choice by_rows;
    const char *why;
    Text explain = text_new(r->b->cx);
    if (layers_stays(r, l, i) || !find_closure(r, l, i, &c, &why) || c.count > 1 || c.to < from) return false;
    const Slot *s = plan_slot(&l->plan, l->at[i].group.output[0]);
    const bool is_part = s && s->root != s->tensor && !l->plan.is_padding[c.to];
    if (!s || s->kind != SLOT_ARENA || is_part || !tensor_is_fixed(s->tensor)) return false;
    if (tensor_bytes(s->tensor) * LEAST_GAIN < l->plan.live_bytes[peak_of(l)]) return false;
    if (!join_closure(r, l, &c, BY_ROWS, &by_rows, &why)) return false;
    combine_explain(&r->whole, &by_rows.with, &explain);
    *to = c.to;
    *out = layers_with(r, l, c.has, c.to, &by_rows.with);
    out->explain = text_format(r->b->cx, "%s%s", l->explain, text_string(&explain));
    layers_plan(r, out);
    return !ctx_failed(r->b->cx);
}

/* Finds the pair with the smallest arena, or returns false. `is_at_peak`: considers only pairs that also lower the live
 * bytes at the present peak. */
static bool best_pair(Search *r, const Layers *l, bool is_at_peak, Layers *best)
{
    const int peak = peak_of(l);
    bool found = false;
    for (int i = 0; i <= (is_at_peak ? peak : l->count - 1); i++) {
        Layers now;
        int to;
        if (!pair(r, l, i, is_at_peak ? peak : 0, &to, &now)) continue;
        if ((is_at_peak && now.plan.live_bytes[to - 1] >= l->plan.live_bytes[peak])
            || (found && now.plan.arena_size >= best->plan.arena_size))
            continue;
        *best = now;
        found = true;
    }
    return found && !ctx_failed(r->b->cx);
}

/* Combines one pair, or a few pairs that together save a tenth of RAM. */
static bool improve(Search *r, Layers *l, bool is_at_peak)
{
    Layers now = *l;
    for (int pairs = 0; pairs < MOST_AT_ONCE; pairs++) {
        Layers next;
        if (!best_pair(r, &now, is_at_peak, &next)) return false;
        now = next;
        if (!save_enough(r, l, &now)) continue;
        now.explain = text_format(r->b->cx, "%sfor an arena of %lld bytes, and not %lld\n", now.explain,
                                  (long long)now.plan.arena_size, (long long)l->plan.arena_size);
        *l = now;
        return true;
    }
    return false;
}

/* If the arena is above the peak, it holds a chain of overlaps whose offsets do not fit below each other; in that case
 * any pair may shorten the chain. */
void layers_pair(Search *r, Layers *l, int64_t enough)
{
    for (int pairs = 0; pairs < MOST_PAIRS && l->plan.arena_size > enough; pairs++) {
        const bool is_chain = l->plan.arena_size > l->plan.live_bound;
        if (ctx_failed(r->b->cx) || !(improve(r, l, true) || (is_chain && improve(r, l, false)))) return;
    }
}

/* ---- Moves of results -------------------------------------------------------------------------------------------- */

void layers_move_results(Search *r, Layers *l)
{
    const bool counts = r->counts;
    Layers still = *l, moved = *l;
    moved.room = 1;
    if (!l->plan.lead_count || r->b->memories.count || !layers_are_plain(r->b)) return;
    layers_plan(r, &moved);
    if (ctx_failed(r->b->cx) || !save_enough(r, l, &moved)) return;
    r->counts = true;
    layers_plan(r, &still);
    layers_plan(r, &moved);
    r->counts = counts;
    if (moved.work - still.work <= still.work / MOVE_SHARE) *l = moved;
}

/* ---- Searches ---------------------------------------------------------------------------------------------------- */

static Joining joining(Search *r, Layers *l, Aim aim)
{
    const int groups = r->whole.groups->count;
    return (Joining){ .r = r, .now = l, .aim = aim, .why = NEW_ARRAY(r->b->cx->arena, Reason, groups),
                      .given = NEW_ARRAY(r->b->cx->arena, const char *, groups) };
}

/* The budget doubles until the limit is kept. */
void layers_join_until(Search *r, Layers *l, int64_t start, int64_t arena)
{
    Joining j = joining(r, l, (Aim){ arena, start, start / FIRST_SHARE, true });
    for (; !is_enough(&j) && j.aim.more <= start * LAST_TIMES; j.aim.more = 2 * j.aim.more + 1)
        while (!is_enough(&j) && sweep(&j)) continue;
    for (int i = 0; i < l->count; i++)
        if (j.given[layers_last_part(&l->at[i])])
            l->explain = text_format(r->b->cx, "%s%s", l->explain, j.given[layers_last_part(&l->at[i])]);
}

const char *layers_join_all(Search *r, Layers *l, const Layers *apart)
{
    layers_plan(r, l);
    Joining j = joining(r, l, (Aim){ 0, l->work, l->work / COMBINE_SHARE, false });
    for (int i = 0; i < MOST_SWEEPS && sweep(&j); i++) continue;
    return report(&j, apart);
}
