/* SPDX-License-Identifier: MIT */
/* Offsets in the arena. Items (roots, and the scratch of single groups) have a size and a live range of groups. Two
 * items with overlapping live ranges must not share memory. Items are allocated one after the other, each in the lowest
 * gap between the items that are live together with it. So the plan depends only on their order: largest first. If the
 * arena is above the live-set bound, exact.c searches for the smallest one. If it finds no proof, a deterministic hill
 * climb over orders follows. The best plan is kept and verified.
 *
 * An input that dies where an output is produced may overlap the output. The input must start so far after the
 * output's start that every element is read before it is overwritten; lower/overlap.c computes the distance. An overlap
 * is used if it shrinks the arena.
 *
 * A chain of such overlaps needs the sum of their distances. If the arena cannot hold it, an output is computed at one
 * offset and then moved to another, so it becomes two items: one written, one read. */

/* Decision: inputs and outputs are slots like any other. Inputs and outputs are caller-owned unless `--io arena` is
 * given. With this option, the planner assigns offsets: an input is live until its last read, and an output from its
 * first write to the end. Calls use the caller's pointers in either case, so the functions do not change, and a caller
 * may pass other pointers. */
#include "graph/plan/exact.h"
#include "graph/plan/plan.h"
#include "ir/algebra/algebra.h"
#include "support/map.h"

#include <stdlib.h>
#include <string.h>

/* LEAST_GAIN: inputs overlap outputs only if that saves at least a sixteenth of the arena. SHORT: the longest live
 * range, in groups, of an item that is found by its first group. */
enum { LEAST_ALIGN = 16, CLIMBS = 3000, LEAST_GAIN = 16, SHORT = 16 };

/* The item may overlap the item with serial `into`, at least `lead` bytes after its start. `into` is -1 if there is
 * none. */
typedef struct Item {
    int64_t bytes, offset;
    int first, last, serial;
    Slot *root;
    Scratch *scratch;
    int into;
    int64_t lead;
    /* is_stored marks the item that the group stores of a moved root, and is_moved the item that later groups read. */
    bool is_stored, is_moved;
} Item;
/* of_serial[serial] is the index of an item */
typedef struct Items { int count; Item *at; int *of_serial; } Items;

static int64_t align_up(const Plan *p, int64_t n) { return (n + p->align - 1) / p->align * p->align; }

static Items items_of(Ctx *cx, const Plan *p, int memory, int group_count, Scratch *const *scratch, const int *count)
{
    int most = p->slot_count;
    for (int g = 0; g < group_count; g++) most += count[g];
    Items it = { 0, NEW_ARRAY(cx->scratch, Item, 2 * most), NEW_ARRAY(cx->scratch, int, 2 * most) };
    for (int i = 0; i < p->slot_count; i++) {
        Slot *s = &p->slot[i];
        if (!s->in_arena || s->root != s->tensor || s->memory != memory) continue;
        const Live live = plan_live(s);
        it.at[it.count] = (Item){ align_up(p, tensor_most_bytes(cx, s->tensor)), 0, live.first, live.last, it.count,
                                  s, NULL, -1, 0, false, false };
        it.count++;
    }
    for (int g = 0; g < group_count; g++)
        for (int i = 0; i < count[g]; i++) {
            if (scratch[g][i].memory != memory || scratch[g][i].is_optional) continue;
            it.at[it.count] = (Item){
                align_up(p, scratch[g][i].bytes), 0, g, g, it.count, NULL, &scratch[g][i], -1, 0, false, false
            };
            it.count++;
        }
    for (int i = 0; i < it.count; i++) it.of_serial[i] = i;
    return it;
}

/* Sets `into` and `lead` of the items. Call this before items are sorted. */
static void note_leads(Ctx *cx, Items *it, const Plan *p)
{
    Map read = map_new(cx->scratch), written = map_new(cx->scratch);
    for (int i = 0; i < it->count; i++) {
        Item *item = &it->at[i];
        if (item->root && !item->is_stored) map_put_ptr(&read, item->root->tensor, item);
        if (item->root && !item->is_moved) map_put_ptr(&written, item->root->tensor, item);
    }
    for (int i = 0; i < p->lead_count; i++) {
        Item *x = map_get_ptr(&read, p->lead[i].x);
        const Item *y = map_get_ptr(&written, p->lead[i].y);
        if (!x || !y || x->last != p->lead[i].group || y->first != p->lead[i].group) continue;
        x->into = y->serial;
        x->lead = align_up(p, p->lead[i].bytes);
    }
}

/* Returns true if one group, whose output may overlap its input, computes the root before all others that use it. */
static bool may_move(const Plan *p, const Item *item)
{
    const Slot *s = item->root;
    bool overlaps = false;
    for (int i = 0; s && i < p->lead_count; i++) overlaps = overlaps || p->lead[i].y == s->tensor;
    if (!overlaps || s->kind != SLOT_ARENA || item->first != s->first || item->last <= s->first) return false;
    for (const Slot *part = s->next; part; part = part->next)
        if (part->first <= s->first) return false;
    return true;
}

/* Makes two items of an item that is moved: the one that its group stores, and the one that later groups read. */
static void split(Items *it, int i)
{
    Item *stored = &it->at[it->count];
    *stored = it->at[i];
    stored->serial = it->of_serial[it->count] = it->count;
    stored->last = stored->first;
    stored->is_stored = it->at[i].is_moved = true;
    it->at[i].first++;
    it->count++;
}

/* Splits each root that may be moved. */
static void split_moved(const Plan *p, Items *it)
{
    const int count = it->count;
    for (int i = 0; i < count; i++)
        if (may_move(p, &it->at[i])) split(it, i);
}

static bool meet(const Item *a, const Item *b) { return a->first <= b->last && b->first <= a->last; }

/* Returns the bytes that each group needs; the overlap of two items counts once. */
static int64_t *bytes_live(Ctx *cx, const Items *it, int group_count)
{
    int64_t *live_bytes = NEW_ARRAY(cx->arena, int64_t, group_count + 1);
    for (int i = 0; i < it->count; i++) {
        const Item *x = &it->at[i], *y = x->into < 0 ? NULL : &it->at[it->of_serial[x->into]];
        for (int g = x->first < 0 ? 0 : x->first; g <= x->last && g < group_count; g++) live_bytes[g] += x->bytes;
        int64_t over = !y ? 0 : y->bytes - x->lead < x->bytes ? y->bytes - x->lead : x->bytes;
        if (over > 0) live_bytes[x->last] -= over;
    }
    return live_bytes;
}

static int64_t greatest(const int64_t *bytes, int count)
{
    int64_t most = 0;
    for (int i = 0; i < count; i++)
        if (bytes[i] > most) most = bytes[i];
    return most;
}

/* Compares the item at this offset with an item that is live together with it. Returns 0 if they are compatible,
 * otherwise the next offset to try. */
static int64_t pushed_behind(const Item *item, int64_t at, const Item *o)
{
    if (at + item->bytes <= o->offset || o->offset + o->bytes <= at) return 0;
    if (o->into == item->serial && at + o->lead <= o->offset) return 0;
    if (item->into != o->serial) return o->offset + o->bytes;
    return at < o->offset + item->lead ? o->offset + item->lead : 0;
}

/* The items that are live together with a given item. Items with a long live range are in a list; all other items are
 * found by their first group. */
typedef struct Neighbours {
    int group_count;
    /* [group_count + 2]: for each group, the index in by_first of the first item that begins in the group or later. */
    int *begin;
    int *by_first;               /* indices of short items, sorted by their first group */
    int long_count, *is_long;    /* indices of the items with a long live range */
    int *found;                  /* the result of find_neighbours */
} Neighbours;

static bool is_long(const Item *i) { return i->last - i->first > SHORT; }

static Neighbours neighbours_of(Ctx *cx, const Items *it, int group_count)
{
    Neighbours n = { .group_count = group_count,
                     .begin = NEW_ARRAY(cx->scratch, int, group_count + 2),
                     .by_first = NEW_ARRAY(cx->scratch, int, it->count),
                     .is_long = NEW_ARRAY(cx->scratch, int, it->count),
                     .found = NEW_ARRAY(cx->scratch, int, it->count) };
    for (int i = 0; i < it->count; i++) {
        if (is_long(&it->at[i])) n.is_long[n.long_count++] = i;
        else n.begin[it->at[i].first + 1]++;
    }
    for (int g = 0; g <= group_count; g++) n.begin[g + 1] += n.begin[g];
    int *next = arena_copy(cx->scratch, n.begin, (size_t)(group_count + 2) * sizeof *next);
    for (int i = 0; i < it->count; i++)
        if (!is_long(&it->at[i])) n.by_first[next[it->at[i].first]++] = i;
    return n;
}

/* Fills n->found with the other items that are live together with item i; returns their number. If `placed` is given,
 * lists only items that have an offset. */
static int find_neighbours(Neighbours *n, const Items *it, int i, const bool *placed)
{
    const Item *item = &it->at[i];
    const int last = item->last > item->first ? item->last : item->first;
    const int from = n->begin[item->first > SHORT ? item->first - SHORT : 0],
              until = n->begin[(last < n->group_count ? last : n->group_count) + 1];
    int count = 0;
    for (int k = 0; k < n->long_count + until - from; k++) {
        const int other = k < n->long_count ? n->is_long[k] : n->by_first[from + k - n->long_count];
        if (other != i && (!placed || placed[other]) && meet(&it->at[other], item)) n->found[count++] = other;
    }
    return count;
}

/* Returns the lowest offset at which the item fits beside its neighbours. */
static int64_t lowest_gap(const Items *it, const int *neighbour, int count, const Item *item)
{
    int64_t at = 0;
    for (bool moved = true; moved;) {
        moved = false;
        for (int i = 0; i < count; i++) {
            int64_t behind = pushed_behind(item, at, &it->at[neighbour[i]]);
            if (!behind) continue;
            at = behind;
            moved = true;
        }
    }
    return at;
}

static int64_t place_in_order(Items *it, Neighbours *n, const int *order, bool *placed)
{
    int64_t size = 0;
    memset(placed, 0, (size_t)it->count * sizeof *placed);
    for (int i = 0; i < it->count; i++) {
        Item *item = &it->at[order[i]];
        item->offset = lowest_gap(it, n->found, find_neighbours(n, it, order[i], placed), item);
        placed[order[i]] = true;
        if (item->offset + item->bytes > size) size = item->offset + item->bytes;
    }
    return size;
}

static int larger_first(const void *a, const void *b)
{
    const Item *x = a, *y = b;
    if (x->bytes != y->bytes) return x->bytes > y->bytes ? -1 : 1;
    if (x->is_stored != y->is_stored) return x->is_stored ? -1 : 1;
    int lives = (y->last - y->first) - (x->last - x->first);
    return lives ? lives : x->serial - y->serial;
}

static uint32_t next_random(uint32_t *state)
{
    return (*state = *state * UINT32_C(1664525) + UINT32_C(1013904223)) >> 8;
}

/* Searches for an arena of less than `size` bytes. Returns the bytes of the arena; if they are fewer, the items have
 * new offsets. */
static int64_t search_exactly(Ctx *cx, Items *it, int64_t unit, int64_t bound, int64_t size, int64_t *least)
{
    ExactItem *item = NEW_ARRAY(cx->scratch, ExactItem, it->count);
    for (int i = 0; i < it->count; i++) {
        const Item *o = &it->at[i];
        item[i] = (ExactItem){ o->bytes, 0, o->first, o->last, o->into < 0 ? -1 : it->of_serial[o->into], o->lead };
    }
    const int64_t found = exact_offsets(cx, item, it->count, unit, bound, size, least);
    for (int i = 0; found < size && i < it->count; i++) it->at[i].offset = item[i].offset;
    return found;
}

/* Swaps items of the order as long as the arena does not grow. Returns its bytes; the items have offsets. */
static int64_t climb(Ctx *cx, Items *it, Neighbours *n, int *best, bool *placed, int64_t size, int64_t bound)
{
    int *order = NEW_ARRAY(cx->scratch, int, it->count);
    const size_t bytes = (size_t)it->count * sizeof *order;
    uint32_t state = 1;
    int budget = it->count > 1 ? CLIMBS : 0;
    if (it->count > 64) budget = (int)((int64_t)CLIMBS * 64 * 64 / it->count / it->count);
    while (size > bound && budget-- > 0) {
        memcpy(order, best, bytes);
        uint32_t a = next_random(&state) % (uint32_t)it->count, b = next_random(&state) % (uint32_t)it->count;
        int moved = order[a];
        order[a] = order[b];
        order[b] = moved;
        int64_t now = place_in_order(it, n, order, placed);
        if (now > size) continue;
        size = now;
        memcpy(best, order, bytes);
    }
    return place_in_order(it, n, best, placed);
}

/* Assigns offsets to the items; returns the bytes of the arena. Sets *least to a proved lower bound of these bytes. */
static int64_t search(Ctx *cx, Items *it, int group_count, int64_t unit, int64_t bound, int64_t *least)
{
    int *order = NEW_ARRAY(cx->scratch, int, it->count);
    bool *placed = NEW_ARRAY(cx->scratch, bool, it->count);
    qsort(it->at, (size_t)it->count, sizeof *it->at, larger_first);
    for (int i = 0; i < it->count; i++) it->of_serial[it->at[i].serial] = order[i] = i;
    Neighbours n = neighbours_of(cx, it, group_count);
    const int64_t size = place_in_order(it, &n, order, placed);
    const int64_t exact = search_exactly(cx, it, unit, bound, size, least);
    if (exact == *least) return exact;
    Items other = *it;
    other.at = arena_copy(cx->scratch, it->at, (size_t)it->count * sizeof *it->at);
    const int64_t climbed = climb(cx, &other, &n, order, placed, size, *least);
    if (climbed >= exact) return exact;
    memcpy(it->at, other.at, (size_t)it->count * sizeof *it->at);
    return climbed;
}

static bool lie_apart(const Item *a, const Item *b)
{
    return b->offset + b->bytes <= a->offset || a->offset + a->bytes <= b->offset;
}

static bool may_lie_over(const Item *x, const Item *y)
{
    return x->into == y->serial && y->offset + x->lead <= x->offset;
}

static void check(Ctx *cx, const Items *it, Neighbours *n)
{
    for (int i = 0; i < it->count; i++)
        for (int k = find_neighbours(n, it, i, NULL) - 1; k >= 0; k--) {
            const Item *a = &it->at[i], *b = &it->at[n->found[k]];
            if (!lie_apart(a, b) && !may_lie_over(a, b) && !may_lie_over(b, a))
                diag_internal(cx, "memory plan", "two live tensors overlap at %lld and %lld", (long long)a->offset,
                              (long long)b->offset);
        }
}

/* Gives the item this offset. Returns false if its neighbours do not leave the bytes free. */
static bool puts_at(const Items *it, Neighbours *n, int i, int64_t offset)
{
    Item *item = &it->at[i];
    for (int k = find_neighbours(n, it, i, NULL) - 1; k >= 0; k--)
        if (pushed_behind(item, offset, &it->at[n->found[k]])) return false;
    item->offset = offset;
    return true;
}

/* Undoes the move of a root that may be stored at the offset where it is read, or read at the offset where it is
 * stored. */
static void keep_in_place(const Items *it, Neighbours *n)
{
    for (int i = 0; i < it->count; i++)
        for (int k = 0; k < it->count && it->at[i].is_stored; k++)
            if (it->at[k].is_moved && it->at[k].root == it->at[i].root && !puts_at(it, n, i, it->at[k].offset))
                (void)puts_at(it, n, k, it->at[i].offset);
}

/* Marks the groups with an input that overlaps the output. */
static void note_overlaps(Ctx *cx, Plan *p, const Items *it, int group_count)
{
    if (!p->overlaps) p->overlaps = NEW_ARRAY(cx->arena, bool, group_count);
    for (int i = 0; i < it->count; i++)
        if (it->at[i].into >= 0 && !lie_apart(&it->at[i], &it->at[it->of_serial[it->at[i].into]]))
            p->overlaps[it->at[i].last] = true;
}

/* Uses these items for the plan. */
static void use(Plan *p, Items *it, const Items *with, int64_t *live_bytes, int group_count, int64_t size,
                int64_t least)
{
    *it = *with;
    p->arena_size = size;
    p->least = least;
    p->live_bytes = live_bytes;
    p->live_bound = greatest(live_bytes, group_count);
}

/* Plans the items, and uses them if the arena is smaller than `most`. */
static void try_items(Ctx *cx, Plan *p, Items *it, Items *with, int group_count, int64_t most)
{
    int64_t *live_bytes = bytes_live(cx, with, group_count), least = 0;
    const int64_t bound = greatest(live_bytes, group_count),
                  size = bound < most ? search(cx, with, group_count, p->align, bound, &least) : most;
    if (size < most) use(p, it, with, live_bytes, group_count, size, least);
}

void plan_offsets(Ctx *cx, Plan *p, int group_count, Scratch *const *scratch, const int *count)
{
    p->overlaps = NULL;
    plan_offsets_in(cx, p, 0, group_count, scratch, count);
}

void plan_offsets_in(Ctx *cx, Plan *p, int memory, int group_count, Scratch *const *scratch, const int *count)
{
    if (p->align < LEAST_ALIGN) p->align = LEAST_ALIGN;
    const ArenaMark mark = arena_mark(cx->scratch);
    Items it = items_of(cx, p, memory, group_count, scratch, count),
          over = items_of(cx, p, memory, group_count, scratch, count);
    try_items(cx, p, &it, &it, group_count, INT64_MAX);
    note_leads(cx, &over, p);
    if (p->lead_count) try_items(cx, p, &it, &over, group_count, p->arena_size - p->arena_size / LEAST_GAIN);
    if (p->room && p->arena_size > p->room && p->lead_count) {
        Items moved = items_of(cx, p, memory, group_count, scratch, count);
        split_moved(p, &moved);
        note_leads(cx, &moved, p);
        try_items(cx, p, &it, &moved, group_count, p->arena_size);
    }
    Neighbours n = neighbours_of(cx, &it, group_count);
    keep_in_place(&it, &n);
    check(cx, &it, &n);
    note_overlaps(cx, p, &it, group_count);
    for (int i = 0; i < it.count; i++) {
        if (it.at[i].scratch) it.at[i].scratch->offset = it.at[i].offset;
        if (it.at[i].root && !it.at[i].is_moved) it.at[i].root->written = it.at[i].offset;
        if (!it.at[i].is_stored)
            for (Slot *s = it.at[i].root; s; s = s->next) s->offset = it.at[i].offset;
    }
    arena_reset(cx->scratch, mark);
}

/* ---- Offsets of a kept plan -------------------------------------------------------------------------------------- */

/* Splits the root's item in two if the plan stores the root at one offset and moves it to another. Returns false if it
 * cannot be moved. */
static bool split_kept(const Plan *p, Items *it, int i)
{
    if (!it->at[i].root || it->at[i].root->written == it->at[i].root->offset) return true;
    if (!may_move(p, &it->at[i])) return false;
    split(it, i);
    return true;
}

static int64_t kept_offset(const Item *item)
{
    if (item->scratch) return item->scratch->offset;
    return item->is_stored ? item->root->written : item->root->offset;
}

/* Returns why the item cannot be at its offset, or NULL. */
static const char *why_not_kept(const Plan *p, const Items *it, Neighbours *n, int i, int64_t capacity)
{
    const Item *a = &it->at[i];
    if (a->offset < 0 || a->offset % p->align) return "its offset is not aligned";
    if (a->offset + a->bytes > capacity) return "it reaches beyond the memory";
    for (int k = find_neighbours(n, it, i, NULL) - 1; k >= 0; k--) {
        const Item *b = &it->at[n->found[k]];
        if (!lie_apart(a, b) && !may_lie_over(a, b) && !may_lie_over(b, a)) return "it overlaps another item";
    }
    return NULL;
}

bool plan_keep_in(Ctx *cx, Plan *p, int memory, int group_count, Scratch *const *scratch, const int *count,
                  Misfit *misfit)
{
    const ArenaMark mark = arena_mark(cx->scratch);
    Items it = items_of(cx, p, memory, group_count, scratch, count);
    const int whole = it.count;
    *misfit = (Misfit){ 0 };
    for (int i = 0; i < whole && !misfit->why; i++)
        if (!split_kept(p, &it, i)) *misfit = (Misfit){ it.at[i].root, NULL, "its layer does not move it" };
    note_leads(cx, &it, p);
    p->arena_size = 0;
    for (int i = 0; i < it.count; i++) {
        Item *item = &it.at[i];
        item->offset = kept_offset(item);
        if (item->offset + item->bytes > p->arena_size) p->arena_size = item->offset + item->bytes;
        for (Slot *s = item->root; s && !item->is_stored; s = s->next) s->offset = item->offset;
    }
    Neighbours n = neighbours_of(cx, &it, group_count);
    for (int i = 0; i < it.count && !misfit->why; i++) {
        const char *why = why_not_kept(p, &it, &n, i, p->memory[memory].capacity);
        if (why) *misfit = (Misfit){ it.at[i].root, it.at[i].scratch, why };
    }
    note_overlaps(cx, p, &it, group_count);
    p->live_bytes = bytes_live(cx, &it, group_count);
    p->live_bound = p->least = greatest(p->live_bytes, group_count);
    arena_reset(cx->scratch, mark);
    return !misfit->why;
}

const Slot *plan_moved(const Plan *p, const Groups *groups, int group)
{
    const Group *g = &groups->at[group];
    const Slot *y = g->output_count == 1 ? plan_slot(p, g->output[0]) : NULL;
    const bool is_stored = y && y->kind == SLOT_ARENA && y->root == y->tensor && y->first == group;
    return is_stored && y->written != y->offset ? y : NULL;
}
