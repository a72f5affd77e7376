/* SPDX-License-Identifier: MIT */
/* Expands a group into computes. Each call is expanded over the expansions of its producers, so the stages read one
 * another directly. Names derive from the operators, so equal groups have equal text; or from the model's tensors,
 * where steps of the model's file address them (Group.keeps_names). */

/* Decision: groups have stand-ins. Before a group's nest is built, its outer tensors are replaced by copies that are
 * named by role (`x`, `w`, `b`). Two layers of the same shape then print the same function, and sharing is a
 * comparison of texts. */
#include "graph/plan/plan.h"

#include <string.h>

#include "graph/dag/definition.h"
#include "support/map.h"
#include "support/names.h"

/* `part`, `all` and `local` are set if several groups are expanded into one nest. `part` is the name of the current
 * group, which prefixes its stages. `all` holds the nest's names; `local` maps a name of this group to the name in the
 * nest. */
typedef struct Expansion {
    Ctx *cx;
    Map of, named;
    Map taken;
    const char *part; Map *all, *local;
    const Group *group;
    bool keeps_names;
} Expansion;

/* Returns the name `wanted`, or wanted_2, wanted_3, ... if it is taken. */
static const char *unique_name(Ctx *cx, Map *taken, const char *wanted)
{
    const char *n = wanted;
    for (int i = 2; map_get_const_ptr(taken, n); i++) n = name_format(cx, "%s_%d", wanted, i);
    map_put_const_ptr(taken, n, n);
    return n;
}

static const char *stage_name(Expansion *x, const char *local)
{
    if (!x->part) return local;
    const char *here = unique_name(x->cx, x->all, name_format(x->cx, "%s_%s", x->part, local));
    map_put_const(x->local, local, strlen(local), here);
    return here;
}

/* The names of one call's stages. The stages of a formula have their own names. The names of an operator's stages begin
 * with the operator's name or, if the group keeps names, with the name of the call's result: y, y_max, y_sum. */
typedef struct StageNames { const char *op, *result; bool is_formula, keeps; } StageNames;

static const char *wanted_name(const Expansion *x, const StageNames *by, const char *own)
{
    const size_t prefix = strlen(by->op);
    if (!by->keeps || by->is_formula) return own;
    const bool has_prefix = strncmp(own, by->op, prefix) == 0 && own[prefix] == '_';
    return name_format(x->cx, "%s_%s", by->result, has_prefix ? own + prefix + 1 : own);
}

/* Gives the fresh stages that produce t their final names. Only this expansion uses them, so renaming is safe. */
static void name_stages(Expansion *x, Tensor *t, const char *wanted, const StageNames *by)
{
    Node *n = t->producer;
    if (!n || n->kind != NODE_COMPUTE || map_get_ptr(&x->named, n)) return;
    map_put_ptr(&x->named, n, n);
    for (int i = 0; i < n->in_count; i++)
        name_stages(x, n->in[i], wanted_name(x, by, n->in[i]->name), by);
    Stage *s = n->stage;
    const char *local = unique_name(x->cx, &x->taken, name(x->cx, wanted));
    s->name = stage_name(x, local);
    s->part = x->part;
    if (x->group->range_count) stage_without_empty_axes(x->cx, s);
    for (int i = 0; i < n->out_count; i++) {
        const char *own = by->is_formula || by->keeps ? n->out[i]->name : name_format(x->cx, "%s_%d", local, i);
        const char *output = i ? unique_name(x->cx, &x->taken, own) : NULL;
        n->out[i]->name = i ? stage_name(x, output) : s->name;
    }
}

static void name_call(Expansion *x, const Node *n, Tensor **out)
{
    const StageNames by = { n->op->name, n->out[0]->name, n->op->definition != NULL, x->keeps_names };
    for (int i = 0; i < n->out_count && by.keeps; i++) out[i]->name = n->out[i]->name;
    for (int i = 0; i < n->out_count; i++)
        name_stages(x, out[i], by.keeps || by.is_formula ? out[i]->name : by.op, &by);
}

/* Returns the attributes; tensors in them have the sizes of the group's ranges. */
static const Attr *attrs_within(Ctx *cx, const Group *g, const Node *n)
{
    if (!g->range_count) return n->attr;
    Attr *attr = arena_copy(cx->arena, n->attr, (size_t)n->attr_count * sizeof *attr);
    for (int i = 0; i < n->attr_count; i++)
        if (attr[i].kind == ATTR_TENSOR) attr[i].tensor = group_stand_in(cx, g, attr[i].tensor);
    return attr;
}

static bool expand_call(Expansion *x, const Node *n, const Implementation *with)
{
    Node *over = arena_copy(x->cx->arena, n, sizeof *n);
    over->attr = attrs_within(x->cx, x->group, n);
    over->in = NEW_ARRAY(x->cx->arena, Tensor *, n->in_count);
    for (int i = 0; i < n->in_count; i++) {
        Tensor *to = n->in[i] ? map_get_ptr(&x->of, n->in[i]) : NULL;
        over->in[i] = to ? to : n->in[i];
    }
    Tensor **out = NEW_ARRAY(x->cx->arena, Tensor *, MAX_OUTPUTS);
    if (with && (with->compute || with->build)) op_compute_as(x->cx, over, with, out);
    else if (op_compute(x->cx, over, out) != n->out_count && !ctx_failed(x->cx))
        diag_internal(x->cx, n->name,
                      "operator \"%s\" produced a different number of outputs than before",
                      n->op->name);
    if (!ctx_failed(x->cx)) name_call(x, n, out);
    for (int i = 0; i < n->out_count && !ctx_failed(x->cx); i++) {
        out[i]->quant = n->out[i]->quant;
        map_put_ptr(&x->of, n->out[i], out[i]);
    }
    return !ctx_failed(x->cx);
}

const char *group_role(Ctx *cx, const Group *g, const Tensor *t)
{
    for (int i = 0; i < g->node_count; i++)
        for (int j = 0; j < g->node[i]->in_count; j++)
            if (g->node[i]->in[j] == t) return op_input_name(cx, g->node[i]->op, j);
    return NULL;
}

static const char *role_of(Ctx *cx, const Group *g, const Tensor *t)
{
    const char *role = group_role(cx, g, t);
    return role ? role : "x";
}

/* Returns true if a ReLU, a clip at zero, or a maximum or a move of such values computes the tensor. */
static bool is_rectified(const Tensor *t)
{
    double low, high;
    const Node *n = t->producer;
    if (!n || n->kind != NODE_CALL || !n->in_count || !n->in[0]) return t->is_rectified;
    if (n->op->quantization.limits && n->op->quantization.limits(n, &low, &high) && low == 0) return true;
    return n->op->quantization.moves_elements && is_rectified(n->in[0]);
}

/* Returns a copy, without producer, of a tensor from outside the group. The copy is named after its role unless names
 * are kept. */
static Tensor *stand_in(Expansion *x, const Group *g, const Tensor *t)
{
    Tensor *in = group_stand_in(x->cx, g, t);
    in->is_rectified = is_rectified(t);
    in->name = unique_name(x->cx, &x->taken, g->keeps_names ? name(x->cx, t->name) : role_of(x->cx, g, t));
    return in;
}

static const char **names_of(const Expansion *x, Tensor *const *t, int count)
{
    const char **out = NEW_ARRAY(x->cx->arena, const char *, count);
    for (int i = 0; i < count; i++) {
        const Tensor *now = t[i] ? map_get_ptr(&x->of, t[i]) : NULL;
        out[i] = now ? now->name : NULL;
    }
    return out;
}

static void name_anchor(const Expansion *x, const Group *g, GroupNest *roles)
{
    const Node *n = g->anchor;
    roles->anchor_in = names_of(x, n->in, n->in_count);
    roles->anchor_out = names_of(x, n->out, n->out_count);
    roles->anchor = roles->anchor_out[0];
}

Tensor **group_expand(Ctx *cx, const Group *g, const Implementation *with, Tensor **input, GroupNest *roles)
{
    const ArenaMark mark = arena_mark(cx->scratch);
    Expansion x = { .cx = cx,
                    .of = map_new(cx->scratch),
                    .named = map_new(cx->scratch),
                    .taken = map_new(cx->scratch),
                    .group = g,
                    .keeps_names = g->keeps_names };
    for (int i = 0; i < g->input_count; i++) map_put_ptr(&x.of, g->input[i], input[i] = stand_in(&x, g, g->input[i]));
    bool ok = true;
    for (int i = 0; i < g->node_count && ok; i++)
        ok = expand_call(&x, g->node[i], g->node[i] == g->anchor ? with : NULL);
    if (!ok) {
        arena_reset(cx->scratch, mark);
        return NULL;
    }
    Tensor **out = NEW_ARRAY(cx->arena, Tensor *, g->output_count);
    for (int i = 0; i < g->output_count; i++) out[i] = map_get_ptr(&x.of, g->output[i]);
    if (roles) name_anchor(&x, g, roles);
    arena_reset(cx->scratch, mark);
    return out;
}

bool group_expand_into(Ctx *cx, const Group *g, const Implementation *with, Map *taken, Map *made, Map *local)
{
    Expansion x = { .cx = cx, .of = *made, .named = map_new(cx->arena), .taken = map_new(cx->arena), .part = g->name,
                    .all = taken, .local = local, .group = g, .keeps_names = g->keeps_names };
    Node **producer = NEW_ARRAY(cx->arena, Node *, g->input_count);
    for (int i = 0; i < g->input_count; i++) {
        Tensor *in = map_get_ptr(made, g->input[i]);
        const char *own = g->keeps_names ? name(cx, g->input[i]->name) : role_of(cx, g, g->input[i]);
        const char *role = unique_name(cx, &x.taken, own);
        map_put_const(local, role, strlen(role), in->name);
        /* Hides producers outside the group, as if the group were expanded without them, because names of axes, for
         * example, depend on them. */
        producer[i] = in->producer;
        in->producer = NULL;
    }
    bool ok = true;
    for (int i = 0; i < g->node_count && ok; i++)
        ok = expand_call(&x, g->node[i], g->node[i] == g->anchor ? with : NULL);
    for (int i = 0; i < g->input_count; i++) {
        Tensor *in = map_get_ptr(made, g->input[i]);
        in->producer = producer[i];
    }
    *made = x.of;
    return ok;
}
