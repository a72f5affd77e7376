/* SPDX-License-Identifier: MIT */
/* Places tensors in several memories. Each root and each scratch buffer is a piece, with its bytes, its live range, and
 * the bytes that a run moves. A piece in memory m costs read * R(m) + written * W(m), and the sum over all pieces is
 * minimized.
 *
 * Memories are filled in the order of their costs. If all remaining pieces fit, they are placed there. Otherwise, a
 * knapsack over time chooses the pieces that save most compared with the next memory (knapsack.c), and the offsets are
 * planned as in an arena (offsets.c). If they do not pack, the groups that exceed the memory get a lower limit, and the
 * choice repeats; finally, the piece that saves least per byte is dropped. Overlaps of results free bytes, which
 * further pieces fill. If the last memory overflows, the memories before it must hold more bytes in these groups, and
 * all steps are repeated.
 *
 * All quantities are integers and counts, so the placement is the same on every machine. */
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
} Placing;

static int64_t cost_in(const PlanMemory *m, const Piece *x)
{
    return sat_add(sat_mul(x->read, m->read_cost), sat_mul(x->written, m->write_cost));
}

static int64_t gain_of(const Placing *a, const Piece *x, int at)
{
    const int64_t saved = cost_in(&a->p->memory[a->order[at + 1]], x) - cost_in(&a->p->memory[a->order[at]], x);
    return saved > 0 ? saved : 0;
}

static Piece piece_of_root(Ctx *cx, Slot *s, int group_count)
{
    Piece x = { .root = s, .bytes = tensor_most_bytes(cx, s->tensor), .first = group_count, .read = s->read_bytes,
                .written = s->written_bytes, .allowed = s->allowed, .memory = &s->memory };
    for (const Slot *v = s; v; v = v->next) {
        if (v->first < x.first) x.first = v->first < 0 ? 0 : v->first;
        if (v->last > x.last) x.last = v->last;
    }
    if (x.last >= group_count) x.last = group_count - 1;
    return x;
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
            a->piece[a->count++] = (Piece){ NULL, s, s->bytes, g, g, s->read_bytes, s->written_bytes, s->allowed,
                                            &s->memory };
        }
}

static int64_t aligned(const PlanMemory *m, int64_t bytes) { return (bytes + m->align - 1) / m->align * m->align; }

static bool may_be_in(const Piece *x, int memory) { return x->allowed >> memory & 1; }

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
        for (int g = x->first; *x->memory >= 0 && g <= x->last; g++) least[g] -= x->bytes;
        if (*x->memory >= 0 || !may_be_in(x, memory)) continue;
        piece[count] = i;
        item[count++] = (KnapsackItem){ aligned(&a->p->memory[memory], x->bytes), gain_of(a, x, at), x->first, x->last,
                                        is_forced(a, x, at), false };
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
        if (chosen[i]) *a->piece[i].memory = memory;
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

/* Fills the bytes that overlaps leave free with further pieces. */
static void refill(Placing *a, int at)
{
    const int memory = a->order[at];
    bool *tried = NEW_ARRAY(a->cx->scratch, bool, a->count);
    for (int round = 0; round < REFILLS; round++) {
        int best = -1;
        for (int i = 0; i < a->count; i++) {
            const Piece *x = &a->piece[i];
            if (tried[i] || *x->memory >= 0 || !may_be_in(x, memory) || !gain_of(a, x, at)) continue;
            if (best < 0 || (double)gain_of(a, x, at) * (double)a->piece[best].bytes
                                > (double)gain_of(a, &a->piece[best], at) * (double)x->bytes)
                best = i;
        }
        if (best < 0) break;
        tried[best] = true;
        *a->piece[best].memory = memory;
        if (pack(a, memory) > a->p->memory[memory].capacity) *a->piece[best].memory = -1;
    }
    (void)pack(a, memory);
}

/* Places all remaining pieces in the memory. Returns false if they do not fit. */
static bool takes_rest(Placing *a, int at)
{
    const int memory = a->order[at];
    bool all = true;
    for (int i = 0; i < a->count && all; i++) all = *a->piece[i].memory >= 0 || may_be_in(&a->piece[i], memory);
    if (!all) return false;
    bool *was_free = NEW_ARRAY(a->cx->scratch, bool, a->count);
    for (int i = 0; i < a->count; i++) {
        was_free[i] = *a->piece[i].memory < 0;
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
            if (*x->memory != memory && x->first <= g && g <= x->last) outside += x->bytes;
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
        for (int g = x->first; g <= x->last; g++) live[g] += x->bytes;
        for (int k = 0; k < a->p->memory_count; k++)
            if (may_be_in(x, k) && a->p->memory[k].capacity > most) most = a->p->memory[k].capacity;
        if (x->bytes - most > *missing) *missing = x->bytes - most, worst = x->first;
    }
    for (int g = 0; g < a->group_count; g++)
        if (live[g] - all > *missing) *missing = live[g] - all, worst = g;
    return worst;
}

/* Places all pieces; returns the group that the last memory cannot hold, or -1 if all are placed. */
static int place_all(Placing *a, int64_t *missing)
{
    const int last = a->p->memory_count - 1;
    for (int i = 0; i < a->count; i++) *a->piece[i].memory = -1;
    for (int k = 0; k < a->p->memory_count; k++) a->p->memory[k].size = a->p->memory[k].live_bound = 0;
    for (int k = 0; k < last; k++) {
        if (takes_rest(a, k)) return -1;
        if (!fill(a, k)) return a->group_count;
    }
    for (int i = 0; i < a->count; i++)
        if (*a->piece[i].memory < 0) *a->piece[i].memory = a->order[last];
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

/* Returns a lower bound of the cost. Pieces in the first k memories have at most the sum of these memories' bytes, so a
 * knapsack of that size bounds what they save compared with memory k + 1. */
static int64_t least_cost(Placing *a)
{
    const int last = a->p->memory_count - 1;
    KnapsackItem *item = NEW_ARRAY(a->cx->scratch, KnapsackItem, a->count);
    int64_t cost = 0, bytes = 0;
    for (int i = 0; i < a->count; i++)
        cost = sat_add(cost, cost_in(&a->p->memory[a->order[last]], &a->piece[i]));
    for (int k = 0; k < last; k++) {
        bytes = sat_add(bytes, a->p->memory[a->order[k]].capacity);
        for (int i = 0; i < a->count; i++)
            item[i] = (KnapsackItem){ a->piece[i].bytes, gain_of(a, &a->piece[i], k), a->piece[i].first,
                                      a->piece[i].last, false, false };
        cost -= knapsack_bound(a->cx, item, a->count, a->group_count, bytes);
    }
    return cost > 0 ? cost : 0;
}

/* Plans the offsets again, so that only overlaps of the final placement count, and sums the memories. */
static void settle(Placing *a)
{
    Plan *p = a->p;
    int64_t *live = NEW_ARRAY(a->cx->arena, int64_t, a->group_count + 1), size = 0, bound = 0, least = 0;
    p->overlaps = NULL;
    for (int k = 0; k < p->memory_count; k++) {
        size += pack(a, k);
        bound += p->live_bound;
        least += p->least;
        for (int g = 0; g < a->group_count; g++) live[g] += p->live_bytes[g];
    }
    p->arena_size = size;
    p->live_bound = bound;
    p->least = least;
    p->live_bytes = live;
    p->cost = 0;
    for (int i = 0; i < a->count; i++) {
        PlanMemory *m = &p->memory[*a->piece[i].memory];
        m->read = sat_add(m->read, a->piece[i].read);
        m->written = sat_add(m->written, a->piece[i].written);
        p->cost = sat_add(p->cost, cost_in(m, &a->piece[i]));
    }
    p->least_cost = least_cost(a);
}

int plan_memories(Ctx *cx, Plan *p, int group_count, Scratch *const *scratch, const int *count, int64_t *missing)
{
    const ArenaMark mark = arena_mark(cx->scratch);
    Placing a = { .cx = cx, .p = p, .group_count = group_count, .scratch = scratch, .scratch_count = count,
                  .order = NEW_ARRAY(cx->scratch, int, p->memory_count),
                  .least = NEW_ARRAY(cx->scratch, int64_t, group_count + 1) };
    int group = 0, worst = 0;
    if (p->align < LEAST_ALIGN) p->align = LEAST_ALIGN;
    *missing = 0;
    list_pieces(&a);
    sort_memories(&a);
    for (int round = 0; round < ROUNDS && group >= 0 && group < group_count; round++) {
        group = place_all(&a, missing);
        if (group < group_count) worst = group;
    }
    if (group < 0) settle(&a);
    if (group < 0) *missing = 0;
    if (group >= 0 && *missing <= 0) worst = shortage(&a, missing);
    arena_reset(cx->scratch, mark);
    return worst;
}
