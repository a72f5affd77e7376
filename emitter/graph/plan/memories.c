/* SPDX-License-Identifier: MIT */
/* Places tensors in several memories. Each root and each scratch buffer is a piece, with its bytes, its live range, and
 * the bytes that a run moves. A piece in memory m costs read * R(m) + written * W(m), and the sum over all pieces is
 * minimized.
 *
 * Memories are filled in the order of their costs. If all remaining pieces fit into the memory, they are placed in it.
 * Otherwise, a knapsack over time chooses the pieces that save most compared with the next memory (knapsack.c). The
 * offsets are planned as in an arena (offsets.c). If they do not pack, the groups that exceed the memory get a lower
 * limit, and the choice repeats; finally, the piece that saves least per byte is dropped. Overlaps of results free
 * bytes, which further pieces fill.
 *
 * A copy of a constant is an optional piece of one group: in memory m it costs bytes * (R(from) + W(m)) + read * R(m),
 * and read * R(from) outside. The knapsack compares copies with the other pieces. Offsets are planned without them;
 * then copies fill the gaps of each group (gaps.c). A copy by a channel begins one layer earlier where the memory has
 * free bytes, and overlaps with that layer's work. If all other pieces fit into one memory, two plans are made: one
 * with all of them in it, and one with the pieces that the knapsack chooses. The cheaper form is kept.
 *
 * If the last memory overflows, the memories before it must hold more bytes in these groups, and all steps are
 * repeated.
 *
 * All quantities are integers and counts, so the placement is the same on every machine. */
#include "graph/plan/gaps.h"
#include "graph/plan/knapsack.h"
#include "graph/plan/plan.h"
#include "ir/algebra/algebra.h"

#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 16, REFILLS = 24, LEAST_ALIGN = 16 };

typedef struct Piece {
    Slot *root; Scratch *scratch;    /* one of the two is NULL */
    int64_t bytes;
    int first, last;
    int64_t read, written;
    unsigned allowed;
    /* Points to the memory's index in the root or scratch buffer, which is -1 until a memory is chosen. */
    int *memory;
    bool is_optional;                /* true for a copy that the group can do without */
    int64_t fixed;                   /* of a copy: the cost of reading the constant once */
    int64_t outside;                 /* of a copy: the cost without the copy */
} Piece;

typedef struct Placing {
    Ctx *cx;
    Plan *p;
    int group_count;
    Scratch *const *scratch; const int *scratch_count;
    int count; Piece *piece;
    int *order;                      /* the indices of the memories, the cheapest first */
    int64_t *least;                  /* [group_count]: the bytes that memories before the last one must hold */
    int64_t *live_bytes;             /* [group_count]: the live bytes of the memory that was planned last */
    bool has_copies;
    bool keeps_together;             /* true if a memory that can hold all pieces that are left takes them */
    bool is_together;                /* true if a memory took them in the last placement */
} Placing;

static bool may_be_in(const Piece *x, int memory) { return x->allowed >> memory & 1; }

static int64_t cost_in(const PlanMemory *m, const Piece *x)
{
    return sat_add(x->fixed, sat_add(sat_mul(x->read, m->read_cost), sat_mul(x->written, m->write_cost)));
}

/* Returns the least cost of the piece in the memories order[at..] and, for an optional copy, without the copy. If no
 * memory of the list may hold the piece, returns its least cost in all memories. */
static int64_t least_from(const Placing *a, const Piece *x, int at)
{
    int64_t least = x->is_optional ? x->outside : INT64_MAX;
    for (int k = at; k < a->p->memory_count; k++) {
        const int64_t cost = may_be_in(x, a->order[k]) ? cost_in(&a->p->memory[a->order[k]], x) : INT64_MAX;
        if (cost < least) least = cost;
    }
    return least == INT64_MAX && at > 0 ? least_from(a, x, 0) : least;
}

/* Returns the cost that the piece saves in this memory, compared with the memories after it. */
static int64_t gain_of(const Placing *a, const Piece *x, int at)
{
    return may_be_in(x, a->order[at]) ? least_from(a, x, at + 1) - least_from(a, x, at) : 0;
}

/* Returns the cost of the piece in its present memory. */
static int64_t cost_of(const Placing *a, const Piece *x)
{
    return *x->memory < 0 ? x->outside : cost_in(&a->p->memory[*x->memory], x);
}

static Piece piece_of_root(Ctx *cx, Slot *s, int group_count)
{
    const Live live = plan_live(s);
    return (Piece){ .root = s, .bytes = tensor_most_bytes(cx, s->tensor), .first = live.first,
                    .last = live.last < group_count ? live.last : group_count - 1, .read = s->read_bytes,
                    .written = s->written_bytes, .allowed = s->allowed, .memory = &s->memory };
}

static void list_pieces(Placing *a)
{
    Plan *p = a->p;
    int most = p->slot_count;
    for (int g = 0; g < a->group_count; g++) most += a->scratch_count[g];
    a->piece = NEW_ARRAY(a->cx->arena, Piece, most);
    for (int i = 0; i < p->slot_count; i++)
        if (p->slot[i].in_arena && p->slot[i].root == p->slot[i].tensor)
            a->piece[a->count++] = piece_of_root(a->cx, &p->slot[i], a->group_count);
    for (int g = 0; g < a->group_count; g++)
        for (int i = 0; i < a->scratch_count[g]; i++) {
            Scratch *s = &a->scratch[g][i];
            const bool is_copy = s->copied != NULL;
            a->has_copies = a->has_copies || s->is_optional;
            a->piece[a->count++] = (Piece){ NULL, s, s->bytes, g, g, s->read_bytes, s->written_bytes, s->allowed,
                                            &s->memory, s->is_optional,
                                            is_copy ? sat_mul(s->bytes, s->source_cost) : 0,
                                            is_copy ? sat_mul(s->read_bytes, s->source_cost) : 0 };
        }
}

static int64_t aligned(const PlanMemory *m, int64_t bytes) { return (bytes + m->align - 1) / m->align * m->align; }

/* Plans the offsets of one memory, and returns its bytes. */
static int64_t pack(Placing *a, int memory)
{
    Plan *p = a->p;
    PlanMemory *m = &p->memory[memory];
    const int64_t align = p->align;
    p->align = m->align;
    plan_offsets_in(a->cx, p, memory, a->group_count, a->scratch, a->scratch_count);
    p->align = align;
    a->live_bytes = p->live_bytes;
    m->size = p->arena_size;
    m->live_bound = p->live_bound;
    return m->size;
}

/* Returns true if no memory after the one at this place of the order may hold the piece. */
static bool is_forced(const Placing *a, const Piece *x, int at)
{
    if (x->is_optional) return false;
    for (int k = at + 1; k < a->p->memory_count; k++) {
        const PlanMemory *m = &a->p->memory[a->order[k]];
        if (may_be_in(x, a->order[k]) && aligned(m, x->bytes) <= m->capacity) return false;
    }
    return true;
}

static int choose(Placing *a, int at, const int64_t *capacity, KnapsackItem *item, int *piece)
{
    const int memory = a->order[at];
    int64_t *least = NEW_ARRAY(a->cx->scratch, int64_t, a->group_count + 1);
    int count = 0;
    bool is_exact;
    memcpy(least, a->least, (size_t)a->group_count * sizeof *least);
    for (int i = 0; i < a->count; i++) {
        const Piece *x = &a->piece[i];
        const bool is_held = *x->memory >= 0 && !x->is_optional;       /* an optional piece does not count in `least` */
        for (int g = x->first; is_held && g <= x->last; g++) least[g] -= x->bytes;
        if (*x->memory >= 0 || !may_be_in(x, memory) || (x->is_optional && !gain_of(a, x, at))) continue;
        piece[count] = i;
        item[count++] = (KnapsackItem){ aligned(&a->p->memory[memory], x->bytes), gain_of(a, x, at), x->first, x->last,
                                        is_forced(a, x, at), x->is_optional, false };
    }
    return knapsack_choose(a->cx, item, count, a->group_count, capacity, least, &is_exact) ? count : -1;
}

/* Lowers the limits of the groups that reach into the last `missing` bytes of the memory. */
static void tighten(const Placing *a, int memory, int64_t missing, int64_t *capacity)
{
    const PlanMemory *m = &a->p->memory[memory];
    for (int g = 0; g < a->group_count; g++)
        if (a->live_bytes[g] + missing > m->capacity && capacity[g] > a->live_bytes[g] - missing)
            capacity[g] = a->live_bytes[g] - missing;
}

static void take(Placing *a, int memory, const bool *chosen)
{
    for (int i = 0; i < a->count; i++)
        if (chosen[i] && !a->piece[i].is_optional) *a->piece[i].memory = memory;
}

static void release(Placing *a, int memory)
{
    for (int i = 0; i < a->count; i++)
        if (*a->piece[i].memory == memory) *a->piece[i].memory = -1;
}

/* Drops the piece that saves least per byte. Returns false if all pieces must stay. */
static bool drop_one(Placing *a, int at)
{
    Piece *worst = NULL;
    for (int i = 0; i < a->count; i++) {
        Piece *x = &a->piece[i];
        if (*x->memory != a->order[at] || is_forced(a, x, at)) continue;
        if (!worst || (double)gain_of(a, x, at) * (double)worst->bytes
                          < (double)gain_of(a, worst, at) * (double)x->bytes)
            worst = x;
    }
    if (worst) *worst->memory = -1;
    return worst != NULL;
}

static int64_t offset_of(const Piece *x) { return x->root ? x->root->offset : x->scratch->offset; }

/* Returns where these groups store the piece: a result that is moved has another offset in the group that computes
 * it. */
static int64_t stored_at(const Piece *x, int first, int last)
{
    return x->root && first <= x->first && x->first <= last ? x->root->written : offset_of(x);
}

/* Lists the bytes that the piece takes in the memory during these groups. */
static int take_bytes(const PlanMemory *m, const Piece *x, int first, int last, Gap *taken)
{
    taken[0] = (Gap){ offset_of(x), aligned(m, x->bytes) };
    taken[1] = (Gap){ stored_at(x, first, last), taken[0].bytes };
    return taken[1].begin == taken[0].begin ? 1 : 2;
}

static void grow(PlanMemory *m, int64_t end)
{
    if (end > m->size) m->size = end;
}

/* Lets a copy by a channel begin before the previous layer, if the memory has free bytes for it in both layers. */
static void begin_copy(Placing *a, Piece *copy)
{
    PlanMemory *m = &a->p->memory[*copy->memory];
    Gap *taken = NEW_ARRAY(a->cx->scratch, Gap, 2 * a->count), *gap = NEW_ARRAY(a->cx->scratch, Gap, 2 * a->count + 1);
    GapItem item = { aligned(m, copy->bytes), 1, -1, 0 };
    int before = copy->last - 1, count = 0;
    while (before >= 0 && a->p->is_free[before]) before--;
    for (int i = 0; i < a->count; i++) {
        const Piece *x = &a->piece[i];
        if (x == copy || *x->memory != *copy->memory || x->first > copy->last || x->last < before) continue;
        count += take_bytes(m, x, before, copy->last, taken + count);
    }
    if (before >= 0 && m->channel
        && gaps_fill(a->cx, gap, gaps_between(taken, count, m->capacity, gap), &item, 1)) {
        copy->scratch->offset = item.offset;
        copy->first = before;
        grow(m, item.offset + item.bytes);
    }
    copy->scratch->begins = copy->first;
}

/* Fills the gaps of a group with copies; returns the cost that these copies save. With is_kept, the copies are
 * placed. */
static int64_t stage_group(Placing *a, int at, int group, bool is_kept)
{
    const ArenaMark mark = arena_mark(a->cx->scratch);
    const int memory = a->order[at];
    PlanMemory *m = &a->p->memory[memory];
    Gap *taken = NEW_ARRAY(a->cx->scratch, Gap, 2 * a->count), *gap = NEW_ARRAY(a->cx->scratch, Gap, 2 * a->count + 1);
    GapItem *item = NEW_ARRAY(a->cx->scratch, GapItem, a->count);
    int taken_count = 0, count = 0;
    for (int i = 0; i < a->count; i++) {
        const Piece *x = &a->piece[i];
        if (x->first > group || x->last < group) continue;
        if (*x->memory == memory) taken_count += take_bytes(m, x, group, group, taken + taken_count);
        else if (x->is_optional && *x->memory < 0 && may_be_in(x, memory) && gain_of(a, x, at))
            item[count++] = (GapItem){ aligned(m, x->bytes), gain_of(a, x, at), -1, i };
    }
    const int gaps = count ? gaps_between(taken, taken_count, m->capacity, gap) : 0;
    const int64_t gain = gaps ? gaps_fill(a->cx, gap, gaps, item, count) : 0;
    for (int i = 0; i < count && gain && is_kept; i++) {
        if (item[i].offset < 0) continue;
        *a->piece[item[i].index].memory = memory;
        a->piece[item[i].index].scratch->offset = item[i].offset;
        grow(m, item[i].offset + item[i].bytes);
    }
    for (int i = 0; i < count && gain && is_kept; i++)
        if (item[i].offset >= 0) begin_copy(a, &a->piece[item[i].index]);
    arena_reset(a->cx->scratch, mark);
    return gain;
}

static int64_t stage(Placing *a, int at, bool is_kept)
{
    int64_t gain = 0;
    for (int g = 0; g < a->group_count && a->has_copies; g++) gain = sat_add(gain, stage_group(a, at, g, is_kept));
    return gain;
}

/* Adds pieces to the space that overlaps leave free, if the pieces save more than the copies that they displace. */
static void refill(Placing *a, int at)
{
    const int memory = a->order[at];
    bool *tried = NEW_ARRAY(a->cx->scratch, bool, a->count);
    int64_t staged = 0;
    (void)pack(a, memory);
    staged = stage(a, at, false);
    for (int round = 0; round < REFILLS; round++) {
        int best = -1;
        for (int i = 0; i < a->count; i++) {
            const Piece *x = &a->piece[i];
            if (tried[i] || x->is_optional || *x->memory >= 0 || !gain_of(a, x, at)) continue;
            if (best < 0 || (double)gain_of(a, x, at) * (double)a->piece[best].bytes
                                > (double)gain_of(a, &a->piece[best], at) * (double)x->bytes)
                best = i;
        }
        if (best < 0) break;
        tried[best] = true;
        *a->piece[best].memory = memory;
        const bool fits = pack(a, memory) <= a->p->memory[memory].capacity;
        const int64_t left = fits ? stage(a, at, false) : 0;
        if (fits && gain_of(a, &a->piece[best], at) + left >= staged) staged = left;
        else *a->piece[best].memory = -1;
    }
    (void)pack(a, memory);
}

/* Places all remaining pieces in the memory. Returns false if they do not fit. */
static bool takes_rest(Placing *a, int at)
{
    const int memory = a->order[at];
    bool all = a->keeps_together;
    for (int i = 0; i < a->count && all; i++)
        all = *a->piece[i].memory >= 0 || a->piece[i].is_optional || may_be_in(&a->piece[i], memory);
    if (!all) return false;
    bool *was_free = NEW_ARRAY(a->cx->scratch, bool, a->count);
    for (int i = 0; i < a->count; i++) {
        was_free[i] = *a->piece[i].memory < 0 && !a->piece[i].is_optional;
        if (was_free[i]) *a->piece[i].memory = memory;
    }
    if (pack(a, memory) <= a->p->memory[memory].capacity) return true;
    for (int i = 0; i < a->count; i++)
        if (was_free[i]) *a->piece[i].memory = -1;
    return false;
}

static bool fill(Placing *a, int at)
{
    const int memory = a->order[at];
    const PlanMemory *m = &a->p->memory[memory];
    int64_t *capacity = NEW_ARRAY(a->cx->scratch, int64_t, a->group_count + 1), size = INT64_MAX;
    KnapsackItem *item = NEW_ARRAY(a->cx->scratch, KnapsackItem, a->count);
    int *piece = NEW_ARRAY(a->cx->scratch, int, a->count);
    bool *kept = NEW_ARRAY(a->cx->scratch, bool, a->count);          /* [pieces]: true for a piece of the last choice */
    for (int g = 0; g < a->group_count; g++) capacity[g] = m->capacity;
    for (int round = 0; round < ROUNDS && size > m->capacity; round++) {
        const int count = choose(a, at, capacity, item, piece);
        if (count < 0 && round == 0) return false;
        if (count < 0) break;
        for (int i = 0; i < count; i++) kept[piece[i]] = item[i].is_chosen;
        take(a, memory, kept);
        size = pack(a, memory);
        if (size <= m->capacity) break;
        tighten(a, memory, size - m->capacity, capacity);
        release(a, memory);
    }
    if (size > m->capacity) take(a, memory, kept);
    while (size > m->capacity && drop_one(a, at)) size = pack(a, memory);
    if (size <= m->capacity) refill(a, at);
    return size <= m->capacity;
}

/* Returns the group with the most live bytes if the memory overflows, otherwise -1. Records in a->least how many bytes
 * the memories before this one must hold. */
static int overflow(Placing *a, int memory, int64_t *missing)
{
    const PlanMemory *m = &a->p->memory[memory];
    int worst = -1;
    *missing = m->size - m->capacity;
    for (int g = 0; g < a->group_count; g++) {
        if (worst < 0 || a->live_bytes[g] > a->live_bytes[worst]) worst = g;
        if (a->live_bytes[g] + *missing <= m->capacity) continue;
        int64_t outside = a->live_bytes[g] > m->capacity ? a->live_bytes[g] - m->capacity : *missing;
        for (int i = 0; i < a->count; i++) {
            const Piece *x = &a->piece[i];
            if (!x->is_optional && *x->memory != memory && x->first <= g && g <= x->last) outside += x->bytes;
        }
        if (outside > a->least[g]) a->least[g] = outside;
    }
    return *missing > 0 ? worst : -1;
}

/* Explains why no choice of pieces exists. Returns the group with the largest shortage, and sets *missing to its bytes.
 * Either all memories together are too small for the group, or a piece is larger than every memory that may hold it. */
static int shortage(const Placing *a, int64_t *missing)
{
    int64_t all = 0, *live = NEW_ARRAY(a->cx->scratch, int64_t, a->group_count + 1);
    int worst = 0;
    for (int k = 0; k < a->p->memory_count; k++) all += a->p->memory[k].capacity;
    *missing = 1;
    for (int i = 0; i < a->count; i++) {
        const Piece *x = &a->piece[i];
        int64_t most = 0;
        if (x->is_optional) continue;
        for (int g = x->first; g <= x->last; g++) live[g] += x->bytes;
        for (int k = 0; k < a->p->memory_count; k++)
            if (may_be_in(x, k) && a->p->memory[k].capacity > most) most = a->p->memory[k].capacity;
        if (x->bytes - most > *missing) *missing = x->bytes - most, worst = x->first;
    }
    for (int g = 0; g < a->group_count; g++)
        if (live[g] - all > *missing) *missing = live[g] - all, worst = g;
    return worst;
}

/* Takes the piece out of its memory; a copy begins in its own group again. */
static void leave(Piece *x)
{
    *x->memory = -1;
    if (x->is_optional) x->first = x->last;
}

/* Places all pieces; returns the group that the last memory cannot hold, or -1 if all are placed. */
static int place_all(Placing *a, int64_t *missing)
{
    const int last = a->p->memory_count - 1;
    for (int i = 0; i < a->count; i++) leave(&a->piece[i]);
    for (int k = 0; k < a->p->memory_count; k++) a->p->memory[k].size = a->p->memory[k].live_bound = 0;
    bool is_done = false;
    for (int k = 0; k < last; k++) {
        is_done = is_done || takes_rest(a, k);
        if (!is_done && !fill(a, k)) return a->group_count;
        (void)stage(a, k, true);
    }
    a->is_together = is_done;
    for (int i = 0; i < a->count; i++)
        if (*a->piece[i].memory < 0 && !a->piece[i].is_optional) *a->piece[i].memory = a->order[last];
    (void)pack(a, a->order[last]);
    return overflow(a, a->order[last], missing);
}

static void sort_memories(Placing *a)
{
    for (int i = 0; i < a->p->memory_count; i++) {
        int k = i;
        const PlanMemory *m = &a->p->memory[i];
        for (; k > 0; k--) {
            const PlanMemory *o = &a->p->memory[a->order[k - 1]];
            if (o->read_cost + o->write_cost <= m->read_cost + m->write_cost) break;
            a->order[k] = a->order[k - 1];
        }
        a->order[k] = i;
    }
}

/* Returns a lower bound of the cost. Pieces in the first k memories have at most the sum of these memories' bytes. So a
 * knapsack of that size bounds the saving of these pieces compared with memory k + 1. */
static int64_t least_cost(Placing *a)
{
    const int last = a->p->memory_count - 1;
    KnapsackItem *item = NEW_ARRAY(a->cx->scratch, KnapsackItem, a->count);
    int64_t cost = 0, bytes = 0;
    for (int i = 0; i < a->count; i++) cost = sat_add(cost, least_from(a, &a->piece[i], last + 1));
    for (int k = 0; k <= last; k++) {
        bytes = sat_add(bytes, a->p->memory[a->order[k]].capacity);
        for (int i = 0; i < a->count; i++)
            item[i] = (KnapsackItem){ a->piece[i].bytes, gain_of(a, &a->piece[i], k), a->piece[i].first,
                                      a->piece[i].last, false, false, false };
        cost -= knapsack_bound(a->cx, item, a->count, a->group_count, bytes);
    }
    return cost > 0 ? cost : 0;
}

/* Adds the copies in the memory to the live bytes of their groups. */
static void add_copies(Placing *a, int memory)
{
    PlanMemory *m = &a->p->memory[memory];
    for (int i = 0; i < a->count; i++) {
        const Piece *x = &a->piece[i];
        if (!x->is_optional || *x->memory != memory) continue;
        for (int g = x->first; g <= x->last; g++) {
            a->live_bytes[g] += aligned(m, x->bytes);
            if (a->live_bytes[g] > m->live_bound) m->live_bound = a->live_bytes[g];
        }
    }
}

/* Sums the memories and the costs of all pieces. */
static void sum_up(Placing *a, int64_t *live, int64_t least)
{
    Plan *p = a->p;
    p->arena_size = p->live_bound = p->cost = 0;
    p->least = least;
    p->live_bytes = live;
    for (int k = 0; k < p->memory_count; k++) {
        p->memory[k].read = p->memory[k].written = 0;
        p->arena_size += p->memory[k].size;
        p->live_bound += p->memory[k].live_bound;
    }
    for (int i = 0; i < a->count; i++) {
        PlanMemory *m = *a->piece[i].memory < 0 ? NULL : &p->memory[*a->piece[i].memory];
        p->cost = sat_add(p->cost, cost_of(a, &a->piece[i]));
        if (!m) continue;
        m->read = sat_add(m->read, a->piece[i].read);
        m->written = sat_add(m->written, a->piece[i].written);
    }
    p->least_cost = least_cost(a);
}

/* Plans the offsets again, so that only overlaps of the final placement count, and sums the memories. */
static void settle(Placing *a)
{
    Plan *p = a->p;
    int64_t *live = NEW_ARRAY(a->cx->arena, int64_t, a->group_count + 1), least = 0;
    p->overlaps = NULL;
    for (int i = 0; i < a->count; i++)
        if (a->piece[i].is_optional) leave(&a->piece[i]);
    for (int k = 0; k < p->memory_count; k++) {
        (void)pack(a, a->order[k]);
        (void)stage(a, k, true);
        add_copies(a, a->order[k]);
        least += p->least;
        for (int g = 0; g < a->group_count; g++) live[g] += a->live_bytes[g];
    }
    sum_up(a, live, least);
}

/* Places all pieces, in several rounds if the last memory overflows. Returns -1, or a group and the bytes missing. */
static int place(Placing *a, int64_t *missing)
{
    int group = 0, worst = 0;
    memset(a->least, 0, (size_t)a->group_count * sizeof *a->least);
    *missing = 0;
    for (int round = 0; round < ROUNDS && group >= 0 && group < a->group_count; round++) {
        group = place_all(a, missing);
        if (group < a->group_count) worst = group;
    }
    if (group < 0) settle(a);
    if (group < 0) *missing = 0;
    if (group >= 0 && *missing <= 0) worst = shortage(a, missing);
    return worst;
}

static void keep_memories(const Placing *a, int *memory)
{
    for (int i = 0; i < a->count; i++) memory[i] = *a->piece[i].memory;
}

/* Plans with the memories that the knapsack chooses, although one memory can hold all pieces; keeps the cheaper
 * plan. */
static void place_apart(Placing *a)
{
    int *together = NEW_ARRAY(a->cx->scratch, int, a->count);
    const int64_t cost = a->p->cost;
    int64_t missing;
    keep_memories(a, together);
    a->keeps_together = false;
    (void)place(a, &missing);
    if (missing <= 0 && a->p->cost < cost) return;
    for (int i = 0; i < a->count; i++) *a->piece[i].memory = together[i];
    settle(a);
}

static Placing placing(Ctx *cx, Plan *p, int group_count, Scratch *const *scratch, const int *count)
{
    Placing a = { .cx = cx, .p = p, .group_count = group_count, .scratch = scratch, .scratch_count = count,
                  .order = NEW_ARRAY(cx->scratch, int, p->memory_count),
                  .least = NEW_ARRAY(cx->scratch, int64_t, group_count + 1), .keeps_together = true };
    if (p->align < LEAST_ALIGN) p->align = LEAST_ALIGN;
    list_pieces(&a);
    sort_memories(&a);
    return a;
}

/* Returns why the copy cannot be where a kept plan has it, or NULL. */
static const char *why_no_copy(const Placing *a, const Piece *copy)
{
    const PlanMemory *m = &a->p->memory[*copy->memory];
    const int64_t from = copy->scratch->offset, end = from + aligned(m, copy->bytes);
    if (from < 0 || from % m->align) return "its offset is not aligned";
    if (end > m->capacity) return "it reaches beyond the memory";
    if (copy->first < 0 || copy->first > copy->last || (copy->first < copy->last && !m->channel))
        return "it does not begin before its layer";
    for (int i = 0; i < a->count; i++) {
        const Piece *x = &a->piece[i];
        if (x == copy || *x->memory != *copy->memory || x->first > copy->last || x->last < copy->first) continue;
        const int64_t bytes = aligned(m, x->bytes);
        const Gap both[2] = { { offset_of(x), bytes }, { stored_at(x, copy->first, copy->last), bytes } };
        for (int k = 0; k < 2; k++)
            if (both[k].begin < end && from < both[k].begin + bytes) return "it overlaps another item";
    }
    return NULL;
}

bool plan_keep(Ctx *cx, Plan *p, int group_count, Scratch *const *scratch, const int *count, Misfit *misfit)
{
    const ArenaMark mark = arena_mark(cx->scratch);
    Placing a = placing(cx, p, group_count, scratch, count);
    int64_t *live = NEW_ARRAY(cx->arena, int64_t, group_count + 1), least = 0;
    const int64_t align = p->align;
    bool fits = true;
    p->overlaps = NULL;
    for (int i = 0; i < a.count; i++)
        if (a.piece[i].is_optional && *a.piece[i].memory >= 0) a.piece[i].first = a.piece[i].scratch->begins;
    for (int k = 0; k < p->memory_count && fits; k++) {
        PlanMemory *m = &p->memory[k];
        p->align = m->align;
        fits = plan_keep_in(cx, p, k, group_count, scratch, count, misfit);
        p->align = align;
        a.live_bytes = p->live_bytes;
        m->size = p->arena_size;
        m->live_bound = p->live_bound;
        least += p->least;
        for (int i = 0; i < a.count && fits; i++) {
            const Piece *x = &a.piece[i];
            if (!x->is_optional || *x->memory != k) continue;
            const char *why = why_no_copy(&a, x);
            if (why) *misfit = (Misfit){ NULL, x->scratch, why };
            fits = !why;
            grow(m, x->scratch->offset + aligned(m, x->bytes));
        }
        if (fits) add_copies(&a, k);
        for (int g = 0; g < group_count; g++) live[g] += a.live_bytes[g];
    }
    if (fits) sum_up(&a, live, least);
    arena_reset(cx->scratch, mark);
    return fits;
}

int plan_memories(Ctx *cx, Plan *p, int group_count, Scratch *const *scratch, const int *count, int64_t *missing)
{
    const ArenaMark mark = arena_mark(cx->scratch);
    Placing a = placing(cx, p, group_count, scratch, count);
    const int worst = place(&a, missing);
    if (*missing <= 0 && a.has_copies && a.is_together) place_apart(&a);
    arena_reset(cx->scratch, mark);
    return worst;
}
