/* SPDX-License-Identifier: MIT */
/* Computes the addresses of tensors, in terms of the variables of NAME_run or of the body that runs the graph. */
#include "driver/driver.h"

#include "support/map.h"
#include "support/names.h"
#include "support/text.h"

/* Returns the index of an input (or output) among those that are not a state. */
static int port_number(const Build *b, int index, int (*state_of)(const Build *b, int index))
{
    int number = 0;
    for (int i = 0; i < index; i++) number += state_of(b, i) < 0;
    return number;
}

/* Returns the address in a body, whose parameters are the graph's inputs followed by its outputs. */
static Place place_in_body(const Build *b, const Slot *s)
{
    int64_t bytes = s->view_offset * dtype_info(s->tensor->type)->bytes;
    return (Place){ PLACE_PARAM, s->index + (s->kind == SLOT_OUTPUT ? b->graph.input_count : 0), bytes,
                    s->tensor->type, NULL };
}

static bool has_items(const Build *b)
{
    enum { MANY = 1000 };
    return !b->tree.outer && b->groups.count <= MANY;
}

/* Returns the item that `of` identifies, a root's slot or a scratch. The item's enumerator ends with _at. The body of a
 * region has no items: its scratch is a parameter, and regions with equal text share a body. A model of many layers has
 * none, either: nobody reads such a list, and the names would take more of the file than the calls. */
static const ArenaItem *item_of(const Build *b, const void *of, const char *owner, const char *part, ArenaItem as)
{
    if (!has_items(b)) return NULL;
    ArenaItem *item = map_get_ptr(&b->shared->items, of);
    if (item) return item;
    item = NEW(b->cx->arena, ArenaItem);
    as.name = build_unique_name(b->cx, &b->shared->symbols,
                                name_format(b->cx, "%s%s%s_at", owner, part ? "_" : "", part ? part : ""));
    *item = as;
    map_put_ptr(&b->shared->items, of, item);
    return item;
}

/* Returns the name of the group that computes the tensor, with the number of the result if there are several. */
static const char *name_of_result(const Build *b, const Tensor *t)
{
    const int producer = build_producer(b, t);
    if (producer < 0) return name_suffix(b->cx, t->name);
    const Group *g = &b->groups.at[producer];
    for (int j = 1; j < g->output_count; j++)
        if (g->output[j] == t) return text_format(b->cx, "%s_%d", g->name, j + 1);
    return g->name;
}

Place build_place_of_scratch(const Build *b, const Scratch *s, const char *owner, const char *part, int64_t offset,
                             DType type)
{
    return (Place){ PLACE_ARENA, s->memory, s->offset + offset, type,
                    item_of(b, s, owner, part, (ArenaItem){ NULL, s->memory, s->offset, s->bytes }) };
}

const ArenaItem *build_item_of_root(const Build *b, const Tensor *root)
{
    const Slot *s = plan_slot(&b->plan, root);
    if (!has_items(b)) return NULL;               /* the name takes a walk over the groups */
    return item_of(b, s, name_of_result(b, root), NULL,
                   (ArenaItem){ NULL, s->memory, s->offset, tensor_most_bytes(b->cx, root) });
}

Place build_place(const Build *b, const Slot *s)
{
    if (b->tree.outer && (s->kind == SLOT_INPUT || s->kind == SLOT_OUTPUT)) return place_in_body(b, s);
    int64_t bytes = s->view_offset * dtype_info(s->tensor->type)->bytes;
    int in = s->kind == SLOT_INPUT ? build_state_of_input(b, s->index) : -1,
        out = s->kind == SLOT_OUTPUT ? build_state_of_output(b, s->index) : -1;
    Place p = { PLACE_ARENA, s->index, bytes, s->tensor->type, NULL };
    switch (s->kind) {
    case SLOT_INPUT:
        if (build_trained_of_input(b, s->index) >= 0) {
            p.kind = PLACE_TRAINED;
            p.index = build_trained_of_input(b, s->index);
            break;
        }
        if (build_output_of_inout(b, s->index) >= 0) {
            p.kind = PLACE_OUTPUT;
            p.index = port_number(b, build_output_of_inout(b, s->index), build_state_of_output);
            break;
        }
        p.kind = in >= 0 ? PLACE_STATE : PLACE_INPUT;
        p.index = in >= 0 ? in : port_number(b, s->index, build_state_of_input);
        break;
    case SLOT_OUTPUT:
        p.kind = out >= 0 ? PLACE_NEXT : PLACE_OUTPUT;
        p.index = out >= 0 ? out : port_number(b, s->index, build_state_of_output);
        break;
    case SLOT_CONST:
        p.kind = PLACE_CONST;
        p.index = b->constant_of[s->index];
        break;
    case SLOT_ARENA:
        p.index = s->memory;
        p.offset += s->offset;
        p.item = build_item_of_root(b, s->root);
        break;
    }
    return p;
}

static int index_of(const Tensor *t, Tensor *const *list, int count)
{
    int i = 0;
    while (i < count - 1 && list[i] != t) i++;
    return i;
}

const Slot *build_slot(const Build *b, int group, const Memory *m)
{
    const Group *g = &b->groups.at[group];
    const Nest *n = b->lowered.nest[group];
    return plan_slot(&b->plan, m->kind == MEMORY_INPUT ? g->input[index_of(m->tensor, n->input, n->input_count)]
                                                       : g->output[index_of(m->tensor, n->output, n->output_count)]);
}

int build_producer(const Build *b, const Tensor *t)
{
    for (int i = 0; i < b->groups.count; i++)
        for (int j = 0; j < b->groups.at[i].output_count; j++)
            if (b->groups.at[i].output[j] == t) return i;
    return -1;
}

/* Returns true if the state is shifted within its array: one group is the last to read the old value and the first to
 * write the new value, and it writes no element that it has not read yet. */
static bool is_shifted(const Build *b, const Tensor *from)
{
    for (int i = 0; i < b->states.count && b->lowered.is_shifted; i++)
        if (b->graph.input[b->states.at[i].input] == from) return b->lowered.is_shifted[i];
    return false;
}

bool build_is_single(const Build *b, const Tensor *from, const Tensor *to)
{
    const Slot *in = plan_slot(&b->plan, from), *out = plan_slot(&b->plan, to);
    int last = -1, first = build_producer(b, out->tensor);
    for (; in; in = in->next) last = in->last > last ? in->last : last;
    for (out = out->next; out; out = out->next) first = out->first < first ? out->first : first;
    return last < first || (last == first && is_shifted(b, from));
}
