/* SPDX-License-Identifier: MIT */
/* Finds partitions: maximal sequences of groups on one foreign device. Each partition is a function of the emitted
 * program, NAME_DEVICE_N, which NAME_run calls; its default calls the groups' own functions. The function has one
 * parameter for each root of memory that it shares with other groups. */
#include "driver/driver.h"

#include "support/names.h"
#include "support/text.h"

static bool is_partition_start(const Build *b, int i)
{
    return i == 0 || !groups_are_together(&b->groups.at[i], &b->groups.at[i - 1]);
}

/* Returns true if the partition that begins at group `start` has only views, which need no code. */
static bool is_of_views(const Build *b, int start)
{
    for (int i = start; i < b->groups.count && (i == start || !is_partition_start(b, i)); i++)
        for (int j = 0; j < b->groups.at[i].node_count; j++)
            if (!b->groups.at[i].node[j]->op->layout.is_view) return false;
    return true;
}

static int number_on_device(const Build *b, const char *device, const char *composite)
{
    int number = 1;
    for (int i = 0; i < b->devices.count; i++)
        number += b->devices.partition[i].device == device && b->devices.partition[i].composite == composite;
    return number;
}

/* Names a partition, such as "npu_2", or "npu_conv_block_1" for a composite. */
static const char *function_name(const Build *b, const char *device, const char *composite)
{
    const char *of = composite ? text_format(b->cx, "%s_%s", device, composite) : device;
    return build_symbol(b, text_format(b->cx, "%s_%d", of, number_on_device(b, device, composite)));
}

static Partition new_partition(const Build *b, const char *device, const char *composite, const Expr *when)
{
    const char *name = function_name(b, device, composite);
    return (Partition){ .name = name,
                        .device = device,
                        .composite = composite,
                        .when = when,
                        .otherwise = when ? build_symbol(b, text_format(b->cx, "%s_otherwise", name)) : NULL };
}

void build_partitions(Build *b)
{
    b->devices.partition = NEW_ARRAY(b->cx->arena, Partition, b->groups.count);
    b->devices.of = NEW_ARRAY(b->cx->arena, int, b->groups.count);
    for (int i = 0; i < b->groups.count; i++) {
        const char *device = group_device(&b->groups.at[i]);
        b->devices.of[i] = -1;
        if (!device) continue;
        if (is_partition_start(b, i)) {
            const CompositeMatch *match = group_match(&b->groups.at[i]);
            const char *composite = match ? match->composite : is_of_views(b, i) ? "view" : NULL;
            b->devices.partition[b->devices.count++] = new_partition(b, device, composite, match ? match->when : NULL);
        }
        b->devices.of[i] = b->devices.count - 1;
    }
}

/* ---- Parameters -------------------------------------------------------------------------------------------------- */

static bool has_root(const Build *b, Tensor *const *list, int count, const Tensor *root)
{
    for (int i = 0; i < count; i++)
        if (plan_slot(&b->plan, list[i])->root == root) return true;
    return false;
}

/* Returns true if a group inside the partition (outside the partition, if !within) writes this memory (reads it, if
 * !writes). */
static bool is_touched(const Build *b, int partition, bool within, bool writes, const Tensor *root)
{
    for (int i = 0; i < b->groups.count; i++) {
        const Group *g = &b->groups.at[i];
        if ((b->devices.of[i] == partition) != within || (writes && b->plan.is_free[i])) continue;
        if (writes ? has_root(b, g->output, g->output_count, root) : has_root(b, g->input, g->input_count, root))
            return true;
    }
    return false;
}

/* Returns the imported tensor that a tensor of the graph replaces, or NULL if there is none. Finds it by the node's
 * name, which passes that replace calls keep. If an importer emits several calls for a node, the last call yields the
 * node's result. */
static const Tensor *model_tensor(const Build *b, const Tensor *t)
{
    Node **order;
    const int count = dag_order(b->cx, b->model.output, b->model.output_count, &order);
    int last = t->producer ? count - 1 : -1;
    while (last >= 0 && order[last]->name != t->producer->name) last--;
    const Tensor *own = last >= 0 && t->output < order[last]->out_count ? order[last]->out[t->output] : NULL;
    return own && own->type == t->type && tensor_elems(own) == tensor_elems(t) ? own : NULL;
}

static bool has_name_of_input(const Node *n)
{
    return n && n->kind == NODE_CALL &&
           (n->op->fusion.is_device_copy || n->op->layout.is_view || n->op->layout.is_transpose);
}

/* Returns the model's name of a value. A copy for a device, and a view or transpose that a pass inserts, gets the name
 * of its source. */
static const char *name_of_value(const Build *b, const Tensor *t)
{
    const Tensor *own = model_tensor(b, t);
    for (; !own && has_name_of_input(t->producer); own = model_tensor(b, t)) t = t->producer->in[0];
    return name_unprefixed(b->cx, own ? own->name : t->name);
}

static void add_param(Build *b, int partition, Param *param, const Tensor *t)
{
    Partition *p = &b->devices.partition[partition];
    const Slot *s = plan_slot(&b->plan, t);
    for (int i = 0; i < p->param_count; i++)
        if (plan_slot(&b->plan, param[i].tensor)->root == s->root) return;
    bool is_input = is_touched(b, partition, false, true, s->root),
         is_output = is_touched(b, partition, false, false, s->root) && is_touched(b, partition, true, true, s->root);
    if (s->kind == SLOT_CONST || (!is_input && !is_output)) return;
    const char *wanted = name_of_value(b, t);
    for (int i = 0, n = 2; i < p->param_count; i++)
        if (text_equal(param[i].name, wanted))
            wanted = name_format(b->cx, "%s_%d", name_of_value(b, t), n++), i = -1;
    if (text_equal(wanted, "arena") || text_equal(wanted, "memory")) wanted = name_format(b->cx, "%s_", wanted);
    param[p->param_count++] = (Param){ wanted, t, build_place(b, s), is_touched(b, partition, true, true, s->root),
                                       false };
}

void build_partition_params(Build *b)
{
    for (int p = 0; p < b->devices.count; p++) {
        int most = 0;
        for (int i = 0; i < b->groups.count; i++) most += b->groups.at[i].input_count + b->groups.at[i].output_count;
        Param *param = NEW_ARRAY(b->cx->arena, Param, most);
        for (int i = 0; i < b->groups.count; i++)
            for (int j = 0; b->devices.of[i] == p && j < b->groups.at[i].input_count; j++)
                add_param(b, p, param, b->groups.at[i].input[j]);
        for (int i = 0; i < b->groups.count; i++)
            for (int j = 0; b->devices.of[i] == p && j < b->groups.at[i].output_count; j++)
                add_param(b, p, param, b->groups.at[i].output[j]);
        b->devices.partition[p].param = param;
    }
}

Place build_place_in(const Build *b, int partition, const Slot *s)
{
    for (int i = 0; partition >= 0 && i < b->devices.partition[partition].param_count; i++) {
        const Slot *given = plan_slot(&b->plan, b->devices.partition[partition].param[i].tensor);
        if (given->root == s->root)
            return (Place){ PLACE_PARAM, i, (s->view_offset - given->view_offset) * dtype_info(s->tensor->type)->bytes,
                            s->tensor->type, NULL };
    }
    return build_place(b, s);
}
