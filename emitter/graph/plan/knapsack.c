/* SPDX-License-Identifier: MIT */
/* Solves the knapsack by dynamic programming over groups. A state is the set of chosen items that are live, with the
 * largest gain of all choices that lead to this set. One choice for each set suffices, because later groups depend only
 * on the set.
 *
 * If the live items of two choices agree beyond the group, the choice with no larger gain and no fewer bytes is
 * dropped. If the group has a lower limit, both are kept.
 *
 * Each live item has a bit; it is free again after the item's last group. If there are more states than MOST_STATES, or
 * more live items than bits, the states with the largest gain are kept. The result may then not be the best. */
#include "graph/plan/knapsack.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_STATES = 4096, BITS = 64 };

/* passing: the live items beyond the group. held: the bytes that count towards the fewest of a group. parent is the
 * index among the states before the step. */
typedef struct KnapsackState {
    uint64_t live, passing;
    int64_t bytes, held, gain;
    int parent;
    bool is_chosen;
} KnapsackState;
typedef struct States { int count; KnapsackState *at; } States;
/* The states after the decision on an item. With item -1, the states after items have died. */
typedef struct Step { int item; States states; } Step;

typedef struct Choosing {
    Ctx *cx;
    KnapsackItem *item; int count;
    int *bit;                        /* [count]: the bit of a live item, or -1 */
    uint64_t used, passing;          /* the bits in use; the bits of items that are live beyond the group */
    bool has_least;                  /* true if the group has a lower limit */
    Step *step; int step_count;
    bool is_exact;
} Choosing;

static int by_set(const void *a, const void *b)
{
    const KnapsackState *x = a, *y = b;
    if (x->live != y->live) return x->live < y->live ? -1 : 1;
    if (x->gain != y->gain) return x->gain > y->gain ? -1 : 1;
    return x->parent - y->parent;
}

/* Sorts by the live items beyond the group, then by gain, then by bytes. */
static int by_passing(const void *a, const void *b)
{
    const KnapsackState *x = a, *y = b;
    if (x->passing != y->passing) return x->passing < y->passing ? -1 : 1;
    if (x->gain != y->gain) return x->gain > y->gain ? -1 : 1;
    if (x->bytes != y->bytes) return x->bytes < y->bytes ? -1 : 1;
    return x->live != y->live ? x->live < y->live ? -1 : 1 : x->parent - y->parent;
}

static int by_gain(const void *a, const void *b)
{
    const KnapsackState *x = a, *y = b;
    if (x->gain != y->gain) return x->gain > y->gain ? -1 : 1;
    return x->live != y->live ? x->live < y->live ? -1 : 1 : 0;
}

static int64_t held_bytes(const KnapsackItem *k) { return k->is_optional ? 0 : k->bytes; }

/* Keeps the states that no other state dominates. A state dominates another if it has at least the gain and at most the
 * bytes. */
static int without_dominated(const Choosing *c, States *s)
{
    int kept = 0;
    for (int i = 0; i < s->count; i++) s->at[i].passing = s->at[i].live & c->passing;
    if (s->count) qsort(s->at, (size_t)s->count, sizeof *s->at, by_passing);
    for (int i = 0; i < s->count; i++) {
        const KnapsackState *before = kept ? &s->at[kept - 1] : NULL;
        if (!before || before->passing != s->at[i].passing || s->at[i].bytes < before->bytes)
            s->at[kept++] = s->at[i];
    }
    return kept;
}

static int one_per_set(States *s)
{
    int kept = 0;
    if (s->count) qsort(s->at, (size_t)s->count, sizeof *s->at, by_set);
    for (int i = 0; i < s->count; i++)
        if (!kept || s->at[kept - 1].live != s->at[i].live) s->at[kept++] = s->at[i];
    return kept;
}

/* Keeps one state for each set, or only the states that are not dominated. If too many remain, keeps the states with
 * the largest gain, and the state with the largest `held`. */
static void reduce(Choosing *c, States *s)
{
    const int kept = c->has_least ? one_per_set(s) : without_dominated(c, s);
    s->count = kept;
    if (kept <= MOST_STATES) return;
    KnapsackState fullest = s->at[0];
    for (int i = 0; i < kept; i++)
        if (s->at[i].held > fullest.held) fullest = s->at[i];
    qsort(s->at, (size_t)kept, sizeof *s->at, by_gain);
    s->at[MOST_STATES - 1] = fullest;
    s->count = MOST_STATES;
    c->is_exact = false;
}

static States *last_states(Choosing *c) { return &c->step[c->step_count - 1].states; }

static States *new_step(Choosing *c, int item, int most)
{
    Step *s = &c->step[c->step_count++];
    *s = (Step){ item, { 0, NEW_ARRAY(c->cx->scratch, KnapsackState, most + 1) } };
    return &s->states;
}

/* Drops the items that died before the group, and the states outside its limits. */
static void begin_group(Choosing *c, int group)
{
    const States from = *last_states(c);
    States *to = new_step(c, -1, from.count);
    int died[BITS], died_count = 0;
    for (int k = 0; k < c->count; k++)
        if (c->bit[k] >= 0 && c->item[k].last < group) died[died_count++] = k;
    for (int i = 0; i < from.count; i++) {
        KnapsackState s = from.at[i];
        for (int d = 0; d < died_count; d++) {
            const int k = died[d];
            if (!(s.live >> c->bit[k] & 1)) continue;
            s.live &= ~(UINT64_C(1) << c->bit[k]);
            s.bytes -= c->item[k].bytes;
            s.held -= held_bytes(&c->item[k]);
        }
        s.parent = i;
        s.is_chosen = false;
        to->at[to->count++] = s;
    }
    for (int d = 0; d < died_count; d++) {
        c->used &= ~(UINT64_C(1) << c->bit[died[d]]);
        c->bit[died[d]] = -1;
    }
    c->passing = c->used;
    for (int k = 0; k < c->count; k++)
        if (c->bit[k] >= 0 && c->item[k].last == group) c->passing &= ~(UINT64_C(1) << c->bit[k]);
    reduce(c, to);
}

static int free_bit(const Choosing *c)
{
    int bit = 0;
    while (bit < BITS && c->used >> bit & 1) bit++;
    return bit;
}

static void decide(Choosing *c, int item, int64_t capacity)
{
    const KnapsackItem *k = &c->item[item];
    const States from = *last_states(c);
    const int bit = free_bit(c);
    if (bit == BITS && !k->is_forced) c->is_exact = false;
    if (bit == BITS && !k->is_forced) return;
    States *to = new_step(c, item, 2 * from.count);
    for (int i = 0; i < from.count; i++) {
        KnapsackState s = from.at[i];
        s.parent = i;
        s.is_chosen = false;
        if (!k->is_forced) to->at[to->count++] = s;
        if (bit == BITS || s.bytes + k->bytes > capacity) continue;
        s.live |= UINT64_C(1) << bit;
        s.bytes += k->bytes;
        s.held += held_bytes(k);
        s.gain += k->gain;
        s.is_chosen = true;
        to->at[to->count++] = s;
    }
    if (bit < BITS) c->used |= UINT64_C(1) << bit;
    if (bit < BITS && k->last > k->first) c->passing |= UINT64_C(1) << bit;
    c->bit[item] = bit < BITS ? bit : -1;
    reduce(c, to);
}

static void end_group(Choosing *c, int64_t capacity, int64_t least)
{
    States *s = last_states(c);
    int kept = 0;
    for (int i = 0; i < s->count; i++)
        if (s->at[i].bytes <= capacity && s->at[i].held >= least) s->at[kept++] = s->at[i];
    s->count = kept;
}

static bool take_best(Choosing *c)
{
    const States *s = last_states(c);
    int at = 0;
    for (int i = 1; i < s->count; i++)
        if (by_gain(&s->at[i], &s->at[at]) < 0) at = i;
    if (!s->count) return false;
    for (int i = 0; i < c->count; i++) c->item[i].is_chosen = false;
    for (int k = c->step_count - 1; k > 0; k--) {
        const KnapsackState *now = &c->step[k].states.at[at];
        if (c->step[k].item >= 0) c->item[c->step[k].item].is_chosen = now->is_chosen;
        at = now->parent;
    }
    return true;
}

bool knapsack_choose(Ctx *cx, KnapsackItem *item, int count, int group_count, const int64_t *capacity,
                     const int64_t *least, bool *is_exact)
{
    const ArenaMark mark = arena_mark(cx->scratch);
    Choosing c = { .cx = cx, .item = item, .count = count, .bit = NEW_ARRAY(cx->scratch, int, count),
                   .step = NEW_ARRAY(cx->scratch, Step, count + group_count + 1), .is_exact = true };
    for (int i = 0; i < count; i++) c.bit[i] = -1;
    States *first = new_step(&c, -1, 1);
    first->at[first->count++] = (KnapsackState){ .parent = -1 };
    for (int g = 0; g < group_count && last_states(&c)->count; g++) {
        c.has_least = least[g] > 0;
        begin_group(&c, g);
        for (int i = 0; i < count; i++)
            if (item[i].first == g) decide(&c, i, capacity[g]);
        end_group(&c, capacity[g], least[g]);
    }
    const bool found = take_best(&c);
    *is_exact = c.is_exact;
    arena_reset(cx->scratch, mark);
    return found;
}

/* ---- Bound ------------------------------------------------------------------------------------------------------- */

typedef struct Share { double bytes, gain; } Share;

static int denser_first(const void *a, const void *b)
{
    const Share *x = a, *y = b;
    const double d = y->gain * x->bytes - x->gain * y->bytes;
    return d < 0 ? -1 : d > 0;
}

int64_t knapsack_bound(Ctx *cx, const KnapsackItem *item, int count, int group_count, int64_t capacity)
{
    const ArenaMark mark = arena_mark(cx->scratch);
    Share *share = NEW_ARRAY(cx->scratch, Share, count);
    double sum = 0;
    for (int g = 0; g < group_count; g++) {
        int live = 0;
        double left = (double)capacity;
        for (int i = 0; i < count; i++)
            if (item[i].first <= g && g <= item[i].last)
                share[live++] = (Share){ (double)item[i].bytes,
                                         (double)item[i].gain / (item[i].last - item[i].first + 1) };
        if (live) qsort(share, (size_t)live, sizeof *share, denser_first);
        for (int i = 0; i < live; i++) {
            const double part = share[i].bytes <= left ? 1 : left / share[i].bytes;
            sum += part * share[i].gain;
            left -= part * share[i].bytes;
        }
    }
    arena_reset(cx->scratch, mark);
    return sum < 9e18 ? (int64_t)(sum + 0.999) : INT64_MAX;
}
