/* SPDX-License-Identifier: MIT */
/* Builds the naive nest of several groups. Each call is expanded over the computes of the calls before it, in a
 * combined group that has the inputs and outputs of all groups. The name of a stage begins with its group's:
 * pool_max_pool2d. */
#include "graph/plan/combine_parts.h"

#include "support/names.h"
#include "support/text.h"

static bool is_among(const Tensor *t, Tensor *const *list, int count)
{
    for (int i = 0; i < count; i++)
        if (list[i] == t) return true;
    return false;
}

static bool is_part(int group, const int *part, int count)
{
    for (int i = 0; i < count; i++)
        if (part[i] == group) return true;
    return false;
}

static bool is_read_outside(const Graph *g, const Groups *groups, const int *part, int count, const Tensor *t)
{
    for (int i = 0; i < groups->count; i++)
        if (!is_part(i, part, count) && is_among(t, groups->at[i].input, groups->at[i].input_count)) return true;
    return is_among(t, g->output, g->output_count);
}

static void gather_nodes(Ctx *cx, const Groups *groups, const int *part, int count, Group *merged)
{
    int nodes = 0;
    for (int i = 0; i < count; i++) nodes += groups->at[part[i]].node_count;
    merged->node = NEW_ARRAY(cx->arena, Node *, nodes);
    for (int i = 0; i < count; i++)
        for (int j = 0; j < groups->at[part[i]].node_count; j++)
            merged->node[merged->node_count++] = groups->at[part[i]].node[j];
}

static void gather_ports(Ctx *cx, const Graph *g, const Groups *groups, const int *part, int count, Group *merged)
{
    int inputs = 0, outputs = 0;
    for (int i = 0; i < count; i++) {
        inputs += groups->at[part[i]].input_count;
        outputs += groups->at[part[i]].output_count;
    }
    merged->input = NEW_ARRAY(cx->arena, Tensor *, inputs);
    merged->output = NEW_ARRAY(cx->arena, Tensor *, outputs);
    Tensor **made = NEW_ARRAY(cx->arena, Tensor *, outputs);
    int made_count = 0;
    for (int i = 0; i < count; i++) {
        const Group *p = &groups->at[part[i]];
        for (int j = 0; j < p->input_count; j++)
            if (!is_among(p->input[j], made, made_count) && !is_among(p->input[j], merged->input, merged->input_count))
                merged->input[merged->input_count++] = p->input[j];
        for (int j = 0; j < p->output_count; j++) {
            made[made_count++] = p->output[j];
            if (is_read_outside(g, groups, part, count, p->output[j]))
                merged->output[merged->output_count++] = p->output[j];
        }
    }
}

static const char *free_name(Ctx *cx, Map *taken, const char *wanted)
{
    const char *n = name_identifier(cx, wanted);
    for (int i = 2; map_get_const_ptr(taken, n); i++) n = name_format(cx, "%s_%d", name_identifier(cx, wanted), i);
    map_put_const_ptr(taken, n, n);
    return n;
}

/* Returns "conv_1+pool_1": the master is last. */
static const char *part_names(const Combine *c)
{
    Text t = text_new(c->in->cx);
    for (int i = 0; i < c->count; i++)
        if (i != c->master) text_printf(&t, "%s+", c->part[i].group->name);
    text_add(&t, c->part[c->master].group->name);
    return text_string(&t);
}

Group combine_group(Combine *c, const int *part)
{
    const CombineInput *in = c->in;
    Group merged = { .name = c->part[c->master].group->name, .parts = part_names(c) };
    gather_nodes(in->cx, in->groups, part, c->count, &merged);
    gather_ports(in->cx, in->graph, in->groups, part, c->count, &merged);
    return merged;
}

/* Returns a stand-in for an input of the combined group, named after its role in the first part that reads it. */
static Tensor *stand_in(Combine *c, Map *taken, const Tensor *t)
{
    Ctx *cx = c->in->cx;
    const char *role = NULL;
    for (int i = 0; i < c->count && !role; i++) role = group_role(cx, c->part[i].group, t);
    Tensor *in = tensor_stand_in(cx, t);
    in->name = free_name(cx, taken, role ? role : "x");
    return in;
}

const Nest *combine_naive_nest(Combine *c, const Group *merged)
{
    Ctx *cx = c->in->cx;
    Map made = map_new(cx->arena), taken = map_new(cx->arena);
    Tensor **in = NEW_ARRAY(cx->arena, Tensor *, merged->input_count),
           **out = NEW_ARRAY(cx->arena, Tensor *, merged->output_count);
    for (int i = 0; i < merged->input_count; i++)
        map_put_ptr(&made, merged->input[i], in[i] = stand_in(c, &taken, merged->input[i]));
    for (int i = 0; i < c->count; i++) {
        CombinedPart *p = &c->part[i];
        p->local = map_new(cx->arena);
        if (!group_expand_into(cx, p->group, p->with, &taken, &made, &p->local)) return NULL;
        p->output = map_get_ptr(&made, p->group->output[0]);
        p->result = p->output->producer->stage->name;
    }
    for (int i = 0; i < merged->output_count; i++) out[i] = map_get_ptr(&made, merged->output[i]);
    const Nest *n = nest_naive(cx, merged->name, in, merged->input_count, out, merged->output_count);
    if (!n) return NULL;
    Text all = text_new(cx);
    for (int i = 0; i < c->count; i++) {
        const char *own = c->part[i].with ? c->part[i].with->name : c->part[i].alone->strategy;
        text_printf(&all, "%s%s", i ? " + " : "", own ? own : "of the file");
    }
    return nest_named_by(cx, nest_for(cx, n, c->in->target->features), text_string(&all));
}

