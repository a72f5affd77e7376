/* SPDX-License-Identifier: MIT */
/* Who shares whose memory, decided before lowering because it decides strides.
 *
 * Every tensor between groups starts as its own root, dense. Then, in order of execution:
 *   a reshape joins the root of its operand;
 *   operands of a concatenation become slices of its result, so that their makers write in place;
 *   an output takes the memory of an operand of the same shape that dies here, if the nest reads that operand only at
 *   the very element that it writes.
 * A root that belongs to the caller (an output of the model) wins over one in the arena; two that belong to the caller
 * cannot be one, and then the group is a copy like any other. */
#include "graph/graph.h"

#include "support/map.h"

typedef struct Views { Ctx *cx; Plan *p; Map of; const Groups *groups; } Views;

static Slot *slot_of(const Views *v, const Tensor *t) { return map_get_ptr(&v->of, t); }

static void dense_strides(const Tensor *t, int64_t *stride)
{
    int64_t s = 1;
    for (int d = t->rank - 1; d >= 0; d--) {
        stride[d] = s;
        s *= tensor_dim(t, d);
    }
}

static void add_slot(Views *v, const Tensor *t, SlotKind kind, int index, int first)
{
    if (slot_of(v, t)) return;
    Slot *s = &v->p->slot[v->p->slot_count++];
    *s = (Slot){ .tensor = t, .root = t, .kind = kind, .index = index, .first = first, .last = first };
    dense_strides(t, s->stride);
    map_put_ptr(&v->of, t, s);
}

static void add_slots(Views *v, const Graph *g)
{
    int most = g->input_count + g->output_count;
    for (int i = 0; i < v->groups->count; i++) most += v->groups->at[i].input_count + v->groups->at[i].output_count;
    v->p->slot = NEW_ARRAY(v->cx->arena, Slot, most);
    v->p->constant = NEW_ARRAY(v->cx->arena, const Tensor *, most);
    for (int i = 0; i < g->input_count; i++) add_slot(v, g->input[i], SLOT_INPUT, i, -1);
    for (int i = 0; i < g->output_count; i++)
        if (g->output[i]->maker) add_slot(v, g->output[i], SLOT_OUTPUT, i, v->groups->count);
    for (int i = 0; i < v->groups->count; i++) {
        const Group *group = &v->groups->at[i];
        for (int j = 0; j < group->input_count; j++) {
            const Tensor *t = group->input[j];
            if (tensor_is_constant(t) && !slot_of(v, t)) {
                v->p->constant[v->p->constant_count] = t;
                add_slot(v, t, SLOT_CONST, v->p->constant_count++, -1);
            }
            Slot *s = slot_of(v, t);
            if (s && s->last < i) s->last = i;
        }
        for (int j = 0; j < group->output_count; j++) add_slot(v, group->output[j], SLOT_ARENA, 0, i);
    }
}

static bool is_dense_root(const Views *v, const Slot *s)
{
    int64_t stride[MAX_RANK];
    dense_strides(s->tensor, stride);
    for (int d = 0; d < s->tensor->rank; d++)
        if (s->stride[d] != stride[d] && tensor_dim(s->tensor, d) > 1) return false;
    return s->view_offset == 0 && tensor_elems(s->tensor) == tensor_elems(slot_of(v, s->root)->tensor);
}

static bool all_dense(const Views *v, const Tensor *root)
{
    for (int i = 0; i < v->p->slot_count; i++)
        if (v->p->slot[i].root == root && !is_dense_root(v, &v->p->slot[i])) return false;
    return true;
}

static void take_over(Slot *from, const Slot *to)
{
    from->root = to->root;
    from->kind = to->kind;
    from->index = to->index;
}

/* All that lies densely in `from`'s root comes to lie in `to`'s, from its start. */
static void join(Views *v, const Tensor *from, const Slot *to)
{
    for (int i = 0; i < v->p->slot_count; i++)
        if (v->p->slot[i].root == from) take_over(&v->p->slot[i], to);
}

/* Makes two dense tensors of one size share memory, if that can be. */
static bool unite(Views *v, Slot *a, Slot *b)
{
    if (a->root == b->root) return true;
    if (!is_dense_root(v, a) || !is_dense_root(v, b) || !all_dense(v, a->root) || !all_dense(v, b->root)) return false;
    if (b->kind == SLOT_ARENA) join(v, b->root, a);
    else if (a->kind == SLOT_ARENA) join(v, a->root, b);
    else return false;
    return true;
}

/* ---- Concatenation --------------------------------------------------------------------------------------------- */

static int64_t outer_elems(const Tensor *t, int axis)
{
    int64_t n = 1;
    for (int d = 0; d < axis; d++) n *= tensor_dim(t, d);
    return n;
}

/* A slice of the result that is not in one piece can hold only tensors of the slice's own shape. */
static bool may_slice(const Views *v, const Tensor *t, const Tensor *whole, int axis)
{
    const Slot *s = slot_of(v, t);
    if (!s || s->kind != SLOT_ARENA || !is_dense_root(v, s)) return false;
    for (int i = 0; i < v->p->slot_count; i++) {
        const Slot *o = &v->p->slot[i];
        if (o->root != s->root) continue;
        if (!is_dense_root(v, o)) return false;
        if (outer_elems(whole, axis) == 1) continue;
        if (o->tensor->rank != t->rank) return false;
        for (int d = 0; d < t->rank; d++)
            if (o->tensor->shape[d] != t->shape[d]) return false;
    }
    return true;
}

static bool operands_differ(const Views *v, const Node *n)
{
    for (int i = 0; i < n->in_count; i++)
        for (int j = 0; j < i; j++)
            if (slot_of(v, n->in[i])->root == slot_of(v, n->in[j])->root) return false;
    return true;
}

static bool place_operands(Views *v, const Node *n)
{
    const Tensor *whole = n->out[0];
    int64_t axis = node_int(n, "axis", 0), at = 0;
    if (axis < 0) axis += whole->rank;
    for (int i = 0; i < n->in_count; i++)
        if (!may_slice(v, n->in[i], whole, (int)axis)) return false;
    if (!operands_differ(v, n)) return false;
    const Slot *to = slot_of(v, whole);
    for (int i = 0; i < n->in_count; i++) {
        const Tensor *root = slot_of(v, n->in[i])->root;
        for (int k = 0; k < v->p->slot_count; k++) {
            Slot *s = &v->p->slot[k];
            if (s->root != root || s == to) continue;
            take_over(s, to);
            s->view_offset = to->view_offset + at * to->stride[axis];
            if (outer_elems(whole, (int)axis) > 1)
                for (int d = 0; d < whole->rank; d++) s->stride[d] = to->stride[d];
        }
        at += tensor_dim(n->in[i], (int)axis);
    }
    return true;
}

/* ---- In place -------------------------------------------------------------------------------------------------- */

typedef struct ReadScan { const Tensor *tensor; const Stage *stage; bool elsewhere; } ReadScan;

static void scan_read(const Expr *e, void *user)
{
    ReadScan *r = user;
    if (e->kind != EXPR_READ || e->ref != r->tensor) return;
    for (int d = 0; d < e->arg_count; d++)
        if (!r->stage || e->arg[d] != r->stage->axis[d].var) r->elsewhere = true;
}

/* Is t read only by the stage that makes `out`, only at the element being written, and is each element made once? */
static bool reads_only_its_element(Ctx *cx, const Nest *n, const Tensor *t, const Tensor *out)
{
    for (int s = 0; s < n->stage_count; s++) {
        const Stage *stage = n->stage[s];
        bool makes = stage->out_count == 1 && stage->out[0] == out && stage->reducer == REDUCE_NONE;
        ReadScan scan = { t, makes ? stage : NULL, false };
        for (int i = 0; i < stage->out_count; i++) {
            expr_walk(cx, stage->value[i], scan_read, &scan);
            if (stage->init) expr_walk(cx, stage->init[i], scan_read, &scan);
        }
        if (scan.elsewhere) return false;
    }
    return true;
}

static int last_use(const Views *v, const Tensor *root)
{
    int last = -1;
    for (int i = 0; i < v->p->slot_count; i++)
        if (v->p->slot[i].root == root && v->p->slot[i].last > last) last = v->p->slot[i].last;
    return last;
}

static bool take_operand(Views *v, const Group *g, const Nest *n, int place)
{
    if (g->output_count != 1 || !n) return false;
    const Tensor *out = g->output[0];
    Slot *to = slot_of(v, out);
    for (int i = 0; i < g->input_count; i++) {
        Slot *from = slot_of(v, g->input[i]);
        if (from->kind != SLOT_ARENA || to->root != out || last_use(v, from->root) != place) continue;
        if (tensor_bytes(g->input[i]) != tensor_bytes(out) || g->input[i]->type != out->type) continue;
        if (reads_only_its_element(v->cx, n, n->input[i], n->output[0]) && unite(v, from, to)) return true;
    }
    return false;
}

Plan plan_views(Ctx *cx, const Graph *g, const Groups *groups, const Nest *const *nest)
{
    Plan p = { 0 };
    Views v = { cx, &p, map_new(cx->arena), groups };
    p.is_free = NEW_ARRAY(cx->arena, bool, groups->count);
    p.in_place = NEW_ARRAY(cx->arena, bool, groups->count);
    add_slots(&v, g);
    for (int i = 0; i < groups->count; i++) {
        const Group *group = &groups->at[i];
        const Node *n = group->node[0];
        bool alone = group->node_count == 1 && n->kind == NODE_CALL;
        if (alone && n->op->is_view) p.is_free[i] = unite(&v, slot_of(&v, n->in[0]), slot_of(&v, n->out[0]));
        else if (alone && n->op->is_concat) p.is_free[i] = place_operands(&v, n);
        if (!p.is_free[i]) p.in_place[i] = take_operand(&v, group, nest[i], i);
    }
    return p;
}

const Slot *plan_slot(const Plan *p, const Tensor *t)
{
    for (int i = 0; i < p->slot_count; i++)
        if (p->slot[i].tensor == t) return &p->slot[i];
    return NULL;
}
