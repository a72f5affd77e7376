/* SPDX-License-Identifier: MIT */
/* Lists the items that would fit into a larger memory, after all items that are live together with them. */
#include "api/traffic.h"

#include <stdlib.h>

#include "ir/algebra/algebra.h"
#include "support/text.h"

typedef struct Item { int first, last, memory; int64_t offset, bytes; } Item;
typedef struct Listing { const Build *b; int fastest, count; Outside *at; int item_count; Item *item; } Listing;

static int64_t cost_in(const PlanMemory *m, const Traffic *moved)
{
    return sat_add(sat_mul(moved->read, m->read_cost), sat_mul(moved->written, m->write_cost));
}

static Item item_of_root(const Build *b, const Slot *root)
{
    const Live live = plan_live(root);
    return (Item){ live.first, live.last, root->memory, root->offset, tensor_most_bytes(b->cx, root->tensor) };
}

static void list_items(Listing *l)
{
    const Build *b = l->b;
    int most = b->plan.slot_count;
    for (int g = 0; g < b->groups.count; g++) most += b->lowered.scratch_count[g];
    l->item = NEW_ARRAY(b->cx->arena, Item, most);
    l->at = NEW_ARRAY(b->cx->arena, Outside, most);
    for (int i = 0; i < b->plan.slot_count; i++)
        if (b->plan.slot[i].in_arena && b->plan.slot[i].root == b->plan.slot[i].tensor)
            l->item[l->item_count++] = item_of_root(b, &b->plan.slot[i]);
    for (int g = 0; g < b->groups.count; g++)
        for (int i = 0; i < b->lowered.scratch_count[g]; i++) {
            const Scratch *s = &b->lowered.scratch[g][i];
            if (s->memory < 0) continue;
            l->item[l->item_count++] = (Item){ s->copied ? s->begins : g, g, s->memory, s->offset, s->bytes };
        }
}

/* Returns the end of the items of the fastest memory that are live in these groups. */
static int64_t end_of(const Listing *l, int first, int last)
{
    int64_t end = 0;
    for (int i = 0; i < l->item_count; i++) {
        const Item *x = &l->item[i];
        if (x->memory == l->fastest && x->first <= last && first <= x->last && x->offset + x->bytes > end)
            end = x->offset + x->bytes;
    }
    return end;
}

static void add(Listing *l, const char *name, const char *memory, int64_t bytes, int first, int last, int64_t saved)
{
    const PlanMemory *m = &l->b->plan.memory[l->fastest];
    const int64_t begin = (end_of(l, first, last) + m->align - 1) / m->align * m->align;
    if (saved > 0) l->at[l->count++] = (Outside){ name, memory, bytes, begin + bytes - m->capacity, saved,
                                                    m->name };
}

static void add_roots(Listing *l)
{
    const Plan *p = &l->b->plan;
    for (int i = 0; i < p->slot_count; i++) {
        const Slot *s = &p->slot[i];
        if (!s->in_arena || s->root != s->tensor || s->memory == l->fastest) continue;
        if (!(s->allowed >> l->fastest & 1)) continue;
        const Item x = item_of_root(l->b, s);
        const Traffic moved = { s->read_bytes, s->written_bytes };
        add(l, s->tensor->name, p->memory[s->memory].name, x.bytes, x.first, x.last,
            cost_in(&p->memory[s->memory], &moved) - cost_in(&p->memory[l->fastest], &moved));
    }
}

static const char *name_of_copy(const Build *b, const Scratch *s, const char **memory)
{
    const int constant = plan_slot(&b->plan, s->copied)->index;
    if (s->memory < 0) *memory = b->memories.of_constant[constant]->name;
    return b->program.constant_name[b->constant_of[constant]];
}

static void add_scratch(Listing *l, int group)
{
    const Build *b = l->b;
    for (int i = 0; i < b->lowered.scratch_count[group]; i++) {
        const Scratch *s = &b->lowered.scratch[group][i];
        if (s->memory == l->fastest || !(s->allowed >> l->fastest & 1)) continue;
        const Traffic moved = { s->read_bytes, s->written_bytes };
        const int64_t once = s->copied ? sat_mul(s->bytes, s->source_cost) : 0,
                      now = s->memory < 0 ? sat_mul(s->read_bytes, s->source_cost)
                                          : sat_add(once, cost_in(&b->plan.memory[s->memory], &moved));
        const char *memory = s->memory < 0 ? "" : b->plan.memory[s->memory].name,
                   *name = s->copied ? name_of_copy(b, s, &memory)
                                     : text_format(b->cx, "scratch of %s", b->groups.at[group].name);
        add(l, name, memory, s->bytes, group, group,
            now - sat_add(once, cost_in(&b->plan.memory[l->fastest], &moved)));
    }
}

static int dearest_first(const void *a, const void *b)
{
    const Outside *x = a, *y = b;
    return x->saved != y->saved ? x->saved > y->saved ? -1 : 1 : x->bytes < y->bytes ? -1 : x->bytes > y->bytes;
}

int report_fastest(const Build *b)
{
    int fastest = 0;
    for (int k = 1; k < b->plan.memory_count; k++) {
        const PlanMemory *m = &b->plan.memory[k], *f = &b->plan.memory[fastest];
        if (m->read_cost + m->write_cost < f->read_cost + f->write_cost) fastest = k;
    }
    return fastest;
}

int report_outside(const Build *b, const Outside **out)
{
    Listing l = { .b = b, .fastest = report_fastest(b) };
    if (b->plan.memory_count < 2) return 0;
    list_items(&l);
    add_roots(&l);
    for (int g = 0; g < b->groups.count; g++) add_scratch(&l, g);
    if (l.count) qsort(l.at, (size_t)l.count, sizeof *l.at, dearest_first);
    *out = l.at;
    return l.count;
}
