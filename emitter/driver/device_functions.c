/* SPDX-License-Identifier: MIT */
/* Partitions: maximal sequences of groups on one foreign device. Each is a function of the emitted program,
 * NAME_DEVICE_N, which NAME_run calls; its default calls the groups' own functions. It has one parameter for each root
 * of memory that it shares with other groups. */
#include "driver/driver.h"

#include "support/names.h"
#include "support/text.h"

static bool is_partition_start(const Build *b, int i)
{
    return i == 0 || group_device(&b->groups.at[i]) != group_device(&b->groups.at[i - 1]);
}

static int number_on_device(const Build *b, const char *device)
{
    int number = 1;
    for (int i = 0; i < b->partition_count; i++) number += b->partition[i].device == device;
    return number;
}

void build_partitions(Build *b)
{
    b->partition = NEW_ARRAY(b->cx->arena, Partition, b->groups.count);
    b->partition_of = NEW_ARRAY(b->cx->arena, int, b->groups.count);
    for (int i = 0; i < b->groups.count; i++) {
        const char *device = group_device(&b->groups.at[i]);
        b->partition_of[i] = -1;
        if (!device) continue;
        if (is_partition_start(b, i)) {
            const char *name = build_symbol(
                b, text_format(b->cx, "%s_%d", name_identifier(b->cx, device), number_on_device(b, device)));
            b->partition[b->partition_count++] = (Partition){ .name = name, .device = device };
        }
        b->partition_of[i] = b->partition_count - 1;
    }
}

/* ---- Parameters -------------------------------------------------------------------------------------------------- */

static bool has_root(const Build *b, Tensor *const *list, int count, const Tensor *root)
{
    for (int i = 0; i < count; i++)
        if (plan_slot(&b->plan, list[i])->root == root) return true;
    return false;
}

/* True if a group inside of the partition (or outside) writes (or reads) this memory. */
static bool is_touched(const Build *b, int partition, bool within, bool writes, const Tensor *root)
{
    for (int i = 0; i < b->groups.count; i++) {
        const Group *g = &b->groups.at[i];
        if ((b->partition_of[i] == partition) != within || (writes && b->plan.is_free[i])) continue;
        if (writes ? has_root(b, g->output, g->output_count, root) : has_root(b, g->input, g->input_count, root))
            return true;
    }
    return false;
}

/* Returns the model's name of a value: a device copy has that of its source. */
static const char *name_of_value(Ctx *cx, const Tensor *t)
{
    const Node *n = t->producer;
    return name_unprefixed(cx, n && n->kind == NODE_CALL && n->op->fusion.is_device_copy ? n->in[0]->name : t->name);
}

static void add_param(Build *b, int partition, Param *param, const Tensor *t)
{
    Partition *p = &b->partition[partition];
    const Slot *s = plan_slot(&b->plan, t);
    for (int i = 0; i < p->param_count; i++)
        if (plan_slot(&b->plan, param[i].tensor)->root == s->root) return;
    bool is_input = is_touched(b, partition, false, true, s->root),
         is_output = is_touched(b, partition, false, false, s->root) && is_touched(b, partition, true, true, s->root);
    if (s->kind == SLOT_CONST || (!is_input && !is_output)) return;
    const char *wanted = name_of_value(b->cx, t);
    for (int i = 0, n = 2; i < p->param_count; i++)
        if (text_equal(param[i].name, wanted))
            wanted = name_format(b->cx, "%s_%d", name_of_value(b->cx, t), n++), i = -1;
    if (text_equal(wanted, "arena") || text_equal(wanted, "memory")) wanted = name_format(b->cx, "%s_", wanted);
    param[p->param_count++] = (Param){ wanted, t, build_place(b, s), is_touched(b, partition, true, true, s->root),
                                       false };
}

void build_partition_params(Build *b)
{
    for (int p = 0; p < b->partition_count; p++) {
        int most = 0;
        for (int i = 0; i < b->groups.count; i++) most += b->groups.at[i].input_count + b->groups.at[i].output_count;
        Param *param = NEW_ARRAY(b->cx->arena, Param, most);
        for (int i = 0; i < b->groups.count; i++)
            for (int j = 0; b->partition_of[i] == p && j < b->groups.at[i].input_count; j++)
                add_param(b, p, param, b->groups.at[i].input[j]);
        for (int i = 0; i < b->groups.count; i++)
            for (int j = 0; b->partition_of[i] == p && j < b->groups.at[i].output_count; j++)
                add_param(b, p, param, b->groups.at[i].output[j]);
        b->partition[p].param = param;
    }
}

Place build_place_in(const Build *b, int partition, const Slot *s)
{
    for (int i = 0; partition >= 0 && i < b->partition[partition].param_count; i++) {
        const Slot *given = plan_slot(&b->plan, b->partition[partition].param[i].tensor);
        if (given->root == s->root)
            return (Place){ PLACE_PARAM, i, (s->view_offset - given->view_offset) * dtype_info(s->tensor->type)->bytes,
                            s->tensor->type };
    }
    return build_place(b, s);
}
