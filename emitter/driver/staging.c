/* SPDX-License-Identifier: MIT */
/* Staging: a layer's constants are copied from the memory that is only read into a RAM before the layer, where that
 * costs less. Each constant of a group is a candidate; graph/plan/memories.c chooses. A copy is scratch memory of its
 * group, behind the buffers of the group's function. */
#include "driver/driver.h"

#include <string.h>

#include "lower/count.h"
#include "support/text.h"

/* Returns the copy of the constant in that group, or NULL if there is none. */
static Scratch *copy_in(const Build *b, int group, const Tensor *constant)
{
    for (int i = 0; i < b->lowered.scratch_count[group]; i++)
        if (b->lowered.scratch[group][i].copied == constant) return &b->lowered.scratch[group][i];
    return NULL;
}

const Scratch *build_copy(const Build *b, int group, const Slot *s)
{
    const Scratch *copy = s->kind == SLOT_CONST ? copy_in(b, group, b->plan.constant[s->index]) : NULL;
    return copy && copy->memory >= 0 ? copy : NULL;
}

void build_list_copies(Build *b, int group, const Traffic *moved, unsigned allowed)
{
    const Function *f = b->lowered.function[group];
    const int before = b->lowered.scratch_count[group];
    Scratch *all = NEW_ARRAY(b->cx->arena, Scratch, before + f->memory_count);
    if (before) memcpy(all, b->lowered.scratch[group], (size_t)before * sizeof *all);
    b->lowered.scratch[group] = all;
    for (int i = 0; i < f->memory_count; i++) {
        const Slot *s = is_scratch(f->memory[i]) ? NULL : build_slot(b, group, f->memory[i]);
        if (!s || s->kind != SLOT_CONST || !moved[i].read) continue;
        const Tensor *constant = b->plan.constant[s->index];
        Scratch *copy = copy_in(b, group, constant);
        if (!copy) {
            copy = &all[b->lowered.scratch_count[group]++];
            *copy = (Scratch){ .bytes = tensor_bytes(constant), .written_bytes = tensor_bytes(constant), .memory = -1,
                               .begins = group, .allowed = allowed, .copied = constant, .is_optional = true };
        }
        copy->read_bytes = sat_add(copy->read_bytes, moved[i].read);
    }
}

void build_price_copies(Build *b)
{
    for (int g = 0; g < b->groups.count; g++)
        for (int i = 0; i < b->lowered.scratch_count[g]; i++) {
            Scratch *s = &b->lowered.scratch[g][i];
            if (s->copied) s->source_cost = b->memories.of_constant[plan_slot(&b->plan, s->copied)->index]->read_cost;
        }
}

Place build_place_of_copy(const Build *b, const Scratch *copy, int64_t offset, DType type)
{
    const int constant = b->constant_of[plan_slot(&b->plan, copy->copied)->index];
    return build_place_of_scratch(b, copy, b->shared->constant_name[constant], "copy", offset, type);
}

const Copy *build_copies(const Build *b, int group, int *count)
{
    Copy *copy = NEW_ARRAY(b->cx->arena, Copy, b->lowered.scratch_count[group]);
    *count = 0;
    for (int i = 0; i < b->lowered.scratch_count[group]; i++) {
        const Scratch *s = &b->lowered.scratch[group][i];
        if (!s->copied || s->memory < 0) continue;
        const int constant = b->constant_of[plan_slot(&b->plan, s->copied)->index];
        copy[(*count)++] = (Copy){ { PLACE_CONST, constant, 0, s->copied->type, NULL },
                                   build_place_of_copy(b, s, 0, s->copied->type), s->bytes,
                                   b->plan.memory[s->memory].channel, s->begins < group };
    }
    return copy;
}
