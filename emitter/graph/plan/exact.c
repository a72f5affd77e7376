/* SPDX-License-Identifier: MIT */
/* Finds the smallest arena. S is bisected between a bound and a known plan, and branch and bound answers for each S
 * whether the items fit into S bytes.
 *
 * If two items have a common group, one is below the other. gap(a, b) is the smallest distance of their starts with a
 * below: the bytes of a, or the lead of b where b may overlap a. Once each pair has an order, the items fit if no chain
 * of gaps is longer than S. The longest chain below an item is its offset. So the search decides orders:
 *
 *   below[i] + gap(i, j) + above[j] > S   implies that j is below i
 *
 * where below[i] is the longest chain up to the start of i, and above[i] the longest chain from there to the arena's
 * end. Undecided pairs follow by this rule until nothing changes; then the pair with the least room branches. A group
 * needs the sum of its items, and the smallest gaps below and above all of them.
 *
 * Two reductions keep the search small. An item is set aside if it fits regardless of the offsets of its neighbours. A
 * neighbour of b bytes excludes (a + b) / unit - 1 offsets of an item of a bytes. The remaining items split into
 * components without a common group. */

/* Decision: offsets are exact for small networks. `graph/plan/exact.c` decides for each pair of tensors that are live
 * together which one is below, and bounds each tensor by the longest chain of such decisions. The search ends when an
 * arena of that size is found or refuted. Sizes are bisected between the live-set bound and the plan of the largest
 * first. Counts of branches limit it, not the clock. `report` prints the smallest arena that is proved, and the plan's
 * distance to it: 0 for all networks of `tests/ram.sh`. */
#include "graph/plan/exact.h"

#include <string.h>

#include "support/arena.h"

/* Limits of the search: items in all, items of a component, and branches of one question. */
enum { MOST_ITEMS = 400, MOST_IN_COMPONENT = 64, MOST_BRANCHES = 3000 };

/* OPEN means that the limit of branches was reached. */
typedef enum Answer { NO, YES, OPEN } Answer;
typedef enum Way { UNDECIDED, A_BELOW, B_BELOW } Way;

/* Two items a and b of a component. up is the smallest distance of b above a, and down is the smallest distance of a
 * above b. */
typedef struct Pair { int a, b; int64_t up, down; } Pair;
/* The items of one group, and the largest number of bytes by which they may overlap. */
typedef struct Section { int count; const int *item; int64_t overlap; } Section;

typedef struct Exact {
    Ctx *cx;
    const ExactItem *item;
    int count;
    int64_t unit, size;              /* size is the S of the present question */
    /* [count][count]: the smallest distances of starts; -1 if two items have no common group. */
    int64_t *gap;
    int64_t *offset;                 /* [count]: the offsets found */
    bool *is_aside;                  /* [count]: true for an item that is set aside */
} Exact;

/* One component. The items of a component are numbered from 0. */
typedef struct Component {
    const Exact *e;
    int count; const int *member;    /* [count]: index in Exact.item */
    int pair_count; Pair *pair;
    int section_count; Section *section;
    int branches;                    /* the number of branches that remain */
} Component;

/* The decisions so far. Branches copy them. */
typedef struct Decided { int64_t *below, *above; unsigned char *way; } Decided;

/* ---- Gaps -------------------------------------------------------------------------------------------------------- */

static bool meet(const ExactItem *a, const ExactItem *b) { return a->first <= b->last && b->first <= a->last; }

static int64_t gap_of(const Exact *e, int below, int above)
{
    const ExactItem *a = &e->item[below], *b = &e->item[above];
    if (!meet(a, b)) return -1;
    return b->into == below && b->lead < a->bytes ? b->lead : a->bytes;
}

static int64_t gap(const Exact *e, int below, int above) { return e->gap[(int64_t)below * e->count + above]; }

static void list_gaps(Exact *e)
{
    e->gap = NEW_ARRAY(e->cx->scratch, int64_t, (int64_t)e->count * e->count);
    for (int i = 0; i < e->count; i++)
        for (int j = 0; j < e->count; j++) e->gap[(int64_t)i * e->count + j] = i == j ? -1 : gap_of(e, i, j);
}

/* ---- Items set aside --------------------------------------------------------------------------------------------- */

/* Returns true if the item fits regardless of the offsets of its neighbours. */
static bool fits_anywhere(const Exact *e, int i)
{
    int64_t starts = (e->size - e->item[i].bytes) / e->unit + 1;
    for (int j = 0; j < e->count; j++) {
        const int64_t both = e->item[i].bytes + e->item[j].bytes;
        if (!e->is_aside[j] && gap(e, i, j) >= 0 && both) starts -= both / e->unit - 1;
    }
    return starts > 0;
}

/* Fills `order` with the items set aside, the first one first; returns their number. */
static int set_aside(Exact *e, int *order)
{
    int count = 0;
    memset(e->is_aside, 0, (size_t)e->count * sizeof *e->is_aside);
    for (int before = -1; before < count;) {
        before = count;
        for (int i = 0; i < e->count; i++)
            if (!e->is_aside[i] && fits_anywhere(e, i)) e->is_aside[order[count++] = i] = true;
    }
    return count;
}

/* Gives the item the lowest offset that its neighbours, except those set aside, leave free. */
static void put_back(Exact *e, int i)
{
    int64_t at = 0;
    for (bool moved = true; moved;) {
        moved = false;
        for (int j = 0; j < e->count; j++) {
            if (e->is_aside[j] || gap(e, i, j) < 0) continue;
            const int64_t o = e->offset[j];
            if (at >= o + gap(e, j, i) || o >= at + gap(e, i, j)) continue;
            at = o + gap(e, j, i);
            moved = true;
        }
    }
    e->offset[i] = at;
    e->is_aside[i] = false;
}

/* ---- One component ----------------------------------------------------------------------------------------------- */

static Pair *list_pairs(Component *c)
{
    Pair *pair = NEW_ARRAY(c->e->cx->scratch, Pair, c->count * c->count);
    for (int i = 0; i < c->count; i++)
        for (int j = i + 1; j < c->count; j++) {
            const int64_t up = gap(c->e, c->member[i], c->member[j]), down = gap(c->e, c->member[j], c->member[i]);
            if (up >= 0) pair[c->pair_count++] = (Pair){ i, j, up, down };
        }
    return pair;
}

/* Returns the items of the group in which item i begins. Items that are live together are all live in the group in
 * which the last of them begins. */
static Section section_at(const Component *c, int i)
{
    int *item = NEW_ARRAY(c->e->cx->scratch, int, c->count);
    Section s = { 0, item, 0 };
    const int group = c->e->item[c->member[i]].first;
    for (int j = 0; j < c->count; j++) {
        const ExactItem *o = &c->e->item[c->member[j]];
        if (o->first <= group && group <= o->last) item[s.count++] = j;
    }
    for (int a = 0; a < s.count; a++) {
        const ExactItem *x = &c->e->item[c->member[item[a]]];
        for (int b = 0; b < s.count; b++) {
            if (c->member[item[b]] != x->into) continue;
            const int64_t over = c->e->item[x->into].bytes - x->lead;
            if (over > 0) s.overlap += over < x->bytes ? over : x->bytes;
        }
    }
    return s;
}

static bool section_fits(const Component *c, const Decided *d, const Section *s)
{
    int64_t bytes = -s->overlap, below = INT64_MAX, above = INT64_MAX;
    for (int k = 0; k < s->count; k++) {
        const int i = s->item[k];
        const int64_t own = c->e->item[c->member[i]].bytes;
        bytes += own;
        if (d->below[i] < below) below = d->below[i];
        if (d->above[i] - own < above) above = d->above[i] - own;
    }
    return below + bytes + above <= c->e->size;
}

static bool raise(int64_t *n, int64_t to)
{
    if (*n >= to) return false;
    *n = to;
    return true;
}

/* Applies one pair. Returns false if neither order fits. */
static bool settle_pair(const Component *c, Decided *d, int k, bool *changed)
{
    const Pair *p = &c->pair[k];
    const bool may_a = d->way[k] != B_BELOW && d->below[p->a] + p->up + d->above[p->b] <= c->e->size,
               may_b = d->way[k] != A_BELOW && d->below[p->b] + p->down + d->above[p->a] <= c->e->size;
    if (!may_a && !may_b) return false;
    if (may_a && may_b) return true;
    const int low = may_a ? p->a : p->b, high = may_a ? p->b : p->a;
    const int64_t apart = may_a ? p->up : p->down;
    d->way[k] = may_a ? A_BELOW : B_BELOW;
    if (raise(&d->below[high], d->below[low] + apart)) *changed = true;
    if (raise(&d->above[low], d->above[high] + apart)) *changed = true;
    return true;
}

/* Decides the pairs whose order follows from the decisions. Returns false if the items do not fit. */
static bool settle(const Component *c, Decided *d)
{
    for (bool changed = true; changed;) {
        changed = false;
        for (int k = 0; k < c->pair_count; k++)
            if (!settle_pair(c, d, k, &changed)) return false;
    }
    for (int k = 0; k < c->section_count; k++)
        if (!section_fits(c, d, &c->section[k])) return false;
    return true;
}

/* Returns the bytes that remain in the arena with this order of the pair. */
static int64_t room(const Component *c, const Decided *d, int k, Way way)
{
    const Pair *p = &c->pair[k];
    return way == A_BELOW ? c->e->size - d->below[p->a] - p->up - d->above[p->b]
                          : c->e->size - d->below[p->b] - p->down - d->above[p->a];
}

/* Returns the undecided pair whose better order leaves the least room, or -1 if all pairs are decided. */
static int narrowest(const Component *c, const Decided *d)
{
    int best = -1;
    int64_t least = 0;
    for (int k = 0; k < c->pair_count; k++) {
        if (d->way[k] != UNDECIDED) continue;
        const int64_t a = room(c, d, k, A_BELOW), b = room(c, d, k, B_BELOW), better = a > b ? a : b;
        if (best >= 0 && better >= least) continue;
        best = k;
        least = better;
    }
    return best;
}

static Decided copy_of(const Component *c, const Decided *d)
{
    Arena *a = c->e->cx->scratch;
    return (Decided){ arena_copy(a, d->below, (size_t)c->count * sizeof *d->below),
                      arena_copy(a, d->above, (size_t)c->count * sizeof *d->above),
                      arena_copy(a, d->way, (size_t)c->pair_count) };
}

/* Decides the remaining pairs. If the answer is YES, sets the offsets. */
static Answer branch(Component *c, Decided *d)
{
    if (!settle(c, d)) return NO;
    const int k = narrowest(c, d);
    for (int i = 0; k < 0 && i < c->count; i++) c->e->offset[c->member[i]] = d->below[i];
    if (k < 0) return YES;
    const Way first = room(c, d, k, A_BELOW) >= room(c, d, k, B_BELOW) ? A_BELOW : B_BELOW;
    for (int n = 0; n < 2; n++) {
        if (!c->branches) return OPEN;
        c->branches--;
        const ArenaMark mark = arena_mark(c->e->cx->scratch);
        Decided with = copy_of(c, d);
        with.way[k] = (unsigned char)(n ? A_BELOW + B_BELOW - first : first);
        const Answer answer = branch(c, &with);
        arena_reset(c->e->cx->scratch, mark);
        if (answer != NO) return answer;
    }
    return NO;
}

static Answer component_fits(const Exact *e, const int *member, int count)
{
    Arena *a = e->cx->scratch;
    if (count > MOST_IN_COMPONENT) return OPEN;
    const ArenaMark mark = arena_mark(a);
    Component c = { e, count, member, 0, NULL, count, NEW_ARRAY(a, Section, count), MOST_BRANCHES };
    c.pair = list_pairs(&c);
    for (int i = 0; i < count; i++) c.section[i] = section_at(&c, i);
    Decided d = { NEW_ARRAY(a, int64_t, count), NEW_ARRAY(a, int64_t, count),
                  NEW_ARRAY(a, unsigned char, c.pair_count) };
    for (int i = 0; i < count; i++) d.above[i] = e->item[member[i]].bytes;
    const Answer answer = branch(&c, &d);
    arena_reset(a, mark);
    return answer;
}

/* ---- The arena --------------------------------------------------------------------------------------------------- */

/* Fills `member` with the items that have not been seen and share a group with item i, directly or through other items.
 * Returns their number. */
static int component_of(const Exact *e, int i, bool *seen, int *member)
{
    int count = 1;
    seen[member[0] = i] = true;
    for (int k = 0; k < count; k++)
        for (int j = 0; j < e->count; j++)
            if (!seen[j] && gap(e, member[k], j) >= 0) seen[member[count++] = j] = true;
    return count;
}

/* Answers whether the items fit into an arena of e->size bytes. */
static Answer fits(Exact *e)
{
    Arena *a = e->cx->scratch;
    const ArenaMark mark = arena_mark(a);
    int *aside = NEW_ARRAY(a, int, e->count), *member = NEW_ARRAY(a, int, e->count);
    int aside_count = set_aside(e, aside);
    bool *seen = arena_copy(a, e->is_aside, (size_t)e->count * sizeof *seen);
    Answer answer = YES;
    for (int i = 0; i < e->count && answer != NO; i++) {
        if (seen[i]) continue;
        const Answer part = component_fits(e, member, component_of(e, i, seen, member));
        if (part != YES) answer = part;
    }
    while (answer == YES && aside_count) put_back(e, aside[--aside_count]);
    arena_reset(a, mark);
    return answer;
}

static int64_t size_of(const Exact *e)
{
    int64_t size = 0;
    for (int i = 0; i < e->count; i++)
        if (e->offset[i] + e->item[i].bytes > size) size = e->offset[i] + e->item[i].bytes;
    return size;
}

int64_t exact_offsets(Ctx *cx, ExactItem *item, int count, int64_t unit, int64_t bound, int64_t size, int64_t *least)
{
    *least = bound;
    if (count > MOST_ITEMS || bound >= size) return size;
    const ArenaMark mark = arena_mark(cx->scratch);
    Exact e = { cx, item, count, unit, 0, NULL, NEW_ARRAY(cx->scratch, int64_t, count),
                NEW_ARRAY(cx->scratch, bool, count) };
    list_gaps(&e);
    /* Sizes below `low` need no further test. The first tested size is the bound, with which most networks fit. */
    for (int64_t low = bound; low < size;) {
        e.size = low == bound ? bound : low + (size - low) / 2 / unit * unit;
        const Answer answer = fits(&e);
        if (answer != YES) low = e.size + unit;
        if (answer == NO && low > *least) *least = low;
        if (answer != YES) continue;
        size = size_of(&e);
        for (int i = 0; i < count; i++) item[i].offset = e.offset[i];
    }
    arena_reset(cx->scratch, mark);
    return size;
}
