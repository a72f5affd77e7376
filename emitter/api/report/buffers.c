/* SPDX-License-Identifier: MIT */
/* Lists the buffers of the arena with their live ranges: see parts.h. */
#include "api/report/parts.h"

#include "support/text.h"

typedef struct Buffers { const Build *b; int count; ReportBuffer *at; } Buffers;

/* Returns where a memory begins if all memories follow each other. */
static int64_t begin_of(const Build *b, int memory)
{
    int64_t begin = 0;
    for (int i = 0; i < memory && i < b->plan.memory_count; i++) begin += b->plan.memory[i].size;
    return begin;
}

static ReportBuffer buffer_of_root(const Build *b, const Slot *root)
{
    const Live live = plan_live(root);
    ReportBuffer k = { root->tensor->name, root, tensor_most_bytes(b->cx, root->tensor),
                       root->offset + begin_of(b, root->memory), live.first, live.last, -1, -1 };
    for (const Slot *s = root; s; s = s->next) {
        const int producer = build_producer(b, s->tensor);
        if (producer >= 0 && (k.layer < 0 || producer < k.layer)) k.layer = producer;
    }
    if (root->kind == SLOT_INPUT) k.layer = -1;
    if (k.last >= b->groups.count) k.last = b->groups.count - 1;            /* an output is also live after the run */
    return k;
}

static void add_scratch(Buffers *to, const char *what, int group, int64_t bytes, int64_t offset)
{
    const char *name = text_format(to->b->cx, "%s of %s", what, to->b->groups.at[group].name);
    if (bytes) to->at[to->count++] = (ReportBuffer){ name, NULL, bytes, offset, group, group, group, -1 };
}

static void add_scratch_of_function(Buffers *to, int group)
{
    const Function *f = to->b->lowered.function[group];
    int number = 0;
    for (int i = 0; i < f->memory_count; i++) {
        if (!is_scratch(f->memory[i])) continue;
        const Scratch *s = &to->b->lowered.scratch[group][number++];
        add_scratch(to, f->memory[i]->name, group, s->bytes, s->offset + begin_of(to->b, s->memory));
    }
    for (; number < to->b->lowered.scratch_count[group]; number++) {
        const Scratch *s = &to->b->lowered.scratch[group][number];
        add_scratch(to, "copies of constants", group, s->bytes, s->offset + begin_of(to->b, s->memory));
    }
}

static void add_scratch_of_region(Buffers *to, int group)
{
    for (int i = 0; i < to->b->lowered.scratch_count[group]; i++) {
        const Scratch *s = &to->b->lowered.scratch[group][i];
        add_scratch(to, i ? "a state's second buffer" : "memory", group, s->bytes, s->offset);
    }
}

static bool overlap(const ReportBuffer *a, const ReportBuffer *b)
{
    return a->offset < b->offset + b->bytes && b->offset < a->offset + a->bytes;
}

/* A result may begin in the layer that reads an operand for the last time, within that operand's bytes. */
static void find_places(Buffers *all)
{
    for (int i = 0; i < all->count; i++)
        for (int j = 0; j < all->count && all->at[i].root; j++)
            if (all->at[j].root && all->at[j].first < all->at[i].first && all->at[j].last >= all->at[i].first
                && overlap(&all->at[i], &all->at[j]))
                all->at[i].in_place_of = j;
}

ReportBuffers report_buffers(const Build *b)
{
    int most = b->plan.slot_count;
    for (int i = 0; i < b->groups.count; i++) most += b->lowered.scratch_count[i];
    Buffers all = { b, 0, NEW_ARRAY(b->cx->arena, ReportBuffer, most) };
    for (int i = 0; i < b->plan.slot_count; i++) {
        const Slot *s = &b->plan.slot[i];
        if (s->in_arena && s->root == s->tensor) all.at[all.count++] = buffer_of_root(b, s);
    }
    for (int i = 0; i < b->groups.count; i++) {
        if (region_of_group(b, i)) add_scratch_of_region(&all, i);
        else if (b->lowered.function[i]) add_scratch_of_function(&all, i);
    }
    find_places(&all);
    return (ReportBuffers){ all.count, all.at };
}

/* Returns the number of the parameter among those that are scratch memory. */
static int scratch_number(const Build *b, int group, const Memory *m)
{
    const Function *f = b->lowered.function[group];
    int number = 0;
    for (int i = 0; f->memory[i] != m; i++) number += is_scratch(f->memory[i]);
    return number;
}

int64_t report_offset_of(const Build *b, int group, const Memory *m)
{
    if (is_scratch(m)) {
        const Scratch *own = &b->lowered.scratch[group][scratch_number(b, group, m)];
        return own->offset + begin_of(b, own->memory);
    }
    const Slot *s = build_slot(b, group, m);
    return s->offset + begin_of(b, s->memory) + s->view_offset * dtype_info(s->tensor->type)->bytes;
}

int report_buffer_of(const Build *b, const ReportBuffers *all, int group, const Memory *m)
{
    const Slot *s = is_scratch(m) ? NULL : build_slot(b, group, m);
    for (int i = 0; i < all->count; i++) {
        const ReportBuffer *k = &all->at[i];
        if (s ? k->root && k->root->tensor == s->root
              : !k->root && k->layer == group && k->offset == report_offset_of(b, group, m))
            return i;
    }
    return -1;
}
