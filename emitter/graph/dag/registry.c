/* SPDX-License-Identifier: MIT */
/* Keeps a growing array of pointers for each kind of row, and a map from names. Rows are immutable and not copied, with
 * one exception: registration copies a target to fill in fields inherited from its base. Bases are registered first. */
#include "graph/dag/registry.h"

#include <string.h>

#include "support/text.h"

/* Grows an array of `count` pointers if it is full. */
static const void **grown(Ctx *cx, const void **old, int count, int *capacity)
{
    if (count < *capacity) return old;
    *capacity = *capacity ? *capacity * 2 : 32;
    const void **bigger = NEW_ARRAY(cx->arena, const void *, *capacity);
    for (int i = 0; i < count; i++) bigger[i] = old[i];
    return bigger;
}

/* Returns the operator's index in the sorted array: its own, or the insertion point. */
static int op_index(const Registry *r, const char *op_name)
{
    int low = 0, high = r->op_count;
    while (low < high) {
        int middle = (low + high) / 2;
        if (strcmp(r->op[middle]->name, op_name) < 0) low = middle + 1;
        else high = middle;
    }
    return low;
}

static void add_op(Ctx *cx, Registry *r, const Op *op)
{
    int at = op_index(r, op->name);
    bool replaces = at < r->op_count && strcmp(r->op[at]->name, op->name) == 0;
    if (!replaces) {
        r->op = (const Op **)grown(cx, (const void **)r->op, r->op_count, &r->op_room);
        for (int i = r->op_count++; i > at; i--) r->op[i] = r->op[i - 1];
    }
    r->op[at] = op;
    map_put_const(&r->op_by_name, op->name, strlen(op->name), op);
}

static const Target *target_named(const Registry *r, const char *target_name)
{
    return target_name ? map_get(&r->target_by_name, target_name, strlen(target_name)) : NULL;
}

static void add_target(Ctx *cx, Registry *r, const Target *row)
{
    Target *t = NEW(cx->arena, Target);
    const Target *base = target_named(r, row->base);
    *t = *row;
    if (row->base && !base)
        diag_error(cx, row->name, "the target's base \"%s\" is not registered; add the base before the target",
                   row->base);
    if (base) {
        if (!t->lanes) t->lanes = base->lanes;
        if (!t->vector_bytes) t->vector_bytes = base->vector_bytes;
        if (!t->vector_registers) t->vector_registers = base->vector_registers;
        if (!t->accumulators) t->accumulators = base->accumulators;
        if (!t->integer_accumulators) t->integer_accumulators = base->integer_accumulators;
        if (!t->copy_budget) t->copy_budget = base->copy_budget;
        if (!t->flags) t->flags = base->flags;
        if (!t->macros) t->macros = base->macros;
        if (!t->header) t->header = base->header;
        if (!t->machine) t->machine = base->machine;
        if (!t->unroll_budget) t->unroll_budget = base->unroll_budget;
        if (!t->costs) t->costs = base->costs;
        if (!t->features || !*t->features) t->features = base->features;
        else if (base->features && *base->features) t->features = text_format(cx, "%s %s", base->features, t->features);
    }
    r->target = (const Target **)grown(cx, (const void **)r->target, r->target_count, &r->target_room);
    r->target[r->target_count++] = t;
    map_put(&r->target_by_name, t->name, strlen(t->name), t);
}

/* Registers each target whose base is registered already. Returns false if there is none. */
static bool add_ready_targets(Ctx *cx, Registry *r)
{
    bool added = false;
    for (int a = 0; cx->rows->targets[a]; a++)
        for (const Target *t = cx->rows->targets[a]; t->name; t++) {
            if (target_named(r, t->name) || (t->base && !target_named(r, t->base))) continue;
            add_target(cx, r, t);
            added = true;
        }
    return added;
}

static void add_implementation(Ctx *cx, Registry *r, const Implementation *i)
{
    r->implementation = (const Implementation **)grown(cx, (const void **)r->implementation, r->implementation_count,
                                                       &r->implementation_room);
    r->implementation[r->implementation_count++] = i;
}

static void add_device(Ctx *cx, Registry *r, const Device *d)
{
    for (int i = 0; i < r->device_count; i++)
        if (strcmp(r->device[i]->name, d->name) == 0) {
            r->device[i] = d;
            return;
        }
    r->device = (const Device **)grown(cx, (const void **)r->device, r->device_count, &r->device_room);
    r->device[r->device_count++] = d;
}

Registry *registry(Ctx *cx)
{
    if (cx->registry) return cx->registry;
    Registry *r = cx->registry = NEW(cx->arena, Registry);
    r->op_by_name = map_new(cx->arena);
    r->target_by_name = map_new(cx->arena);
    r->importer_row = map_new(cx->arena);
    r->expansion = map_new(cx->arena);
    if (!cx->rows) return r;
    for (int a = 0; cx->rows->ops[a]; a++)
        for (const Op *op = cx->rows->ops[a]; op->name; op++) add_op(cx, r, op);
    while (add_ready_targets(cx, r)) continue;
    for (int a = 0; cx->rows->implementations[a]; a++)
        for (const Implementation *i = cx->rows->implementations[a]; i->name; i++) add_implementation(cx, r, i);
    for (int a = 0; cx->rows->devices[a]; a++)
        for (const Device *d = cx->rows->devices[a]; d->name; d++) add_device(cx, r, d);
    return r;
}

void op_register(Ctx *cx, const Op *op) { add_op(cx, registry(cx), op); }
void target_register(Ctx *cx, const Target *t) { add_target(cx, registry(cx), t); }
void implementation_register(Ctx *cx, const Implementation *i) { add_implementation(cx, registry(cx), i); }

const Op *op_find(Ctx *cx, const char *op_name)
{
    return map_get_const(&registry(cx)->op_by_name, op_name, strlen(op_name));
}

const char *op_hint(Ctx *cx, const char *wanted)
{
    const Registry *r = registry(cx);
    const char **names = NEW_ARRAY(cx->arena, const char *, r->op_count);
    for (int i = 0; i < r->op_count; i++) names[i] = r->op[i]->name;
    return text_hint(cx, wanted, names, (size_t)r->op_count, "; see `loopwright ops`");
}

const char *target_hint(Ctx *cx, const char *wanted)
{
    const Registry *r = registry(cx);
    const char **names = NEW_ARRAY(cx->arena, const char *, r->target_count);
    for (int i = 0; i < r->target_count; i++) names[i] = r->target[i]->name;
    return text_hint(cx, wanted, names, (size_t)r->target_count, "; see `loopwright targets`");
}

const char *device_hint(Ctx *cx, const char *wanted)
{
    int count;
    const Device *const *all = device_list(cx, &count);
    const char **names = NEW_ARRAY(cx->arena, const char *, count);
    for (int i = 0; i < count; i++) names[i] = all[i]->name;
    return text_hint(cx, wanted, names, (size_t)count, "; see `loopwright targets`");
}

const Op *const *op_list(Ctx *cx, int *count)
{
    *count = registry(cx)->op_count;
    return registry(cx)->op;
}

const Target *target_find(Ctx *cx, const char *target_name) { return target_named(registry(cx), target_name); }

const Target *const *target_list(Ctx *cx, int *count)
{
    *count = registry(cx)->target_count;
    return registry(cx)->target;
}

const Implementation *const *implementation_list(Ctx *cx, int *count)
{
    *count = registry(cx)->implementation_count;
    return registry(cx)->implementation;
}

void device_register(Ctx *cx, const Device *d) { add_device(cx, registry(cx), d); }

const Device *const *device_list(Ctx *cx, int *count)
{
    *count = registry(cx)->device_count;
    return registry(cx)->device;
}

const Device *device_find(Ctx *cx, const char *device_name)
{
    int count;
    const Device *const *all = device_list(cx, &count);
    while (count--)
        if (strcmp(all[count]->name, device_name) == 0) return all[count];
    return NULL;
}
