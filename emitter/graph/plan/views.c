/* SPDX-License-Identifier: MIT */
/* Decides which tensors alias. This pass runs before lowering because it determines strides.
 *
 * Every tensor between groups starts as its own dense root. Then, in execution order:
 *   a reshape aliases its operand's root;
 *   a box of an operand, a slice with unit steps, aliases that part of the operand;
 *   operands of a concatenation become slices of its result, so their producers write in place;
 *   the operand of a padding becomes the inner box of its result, which writes only the elements around it;
 *   the new value of an updated input takes that input's memory (Graph.update);
 *   the first elements of an operand, as many as the run decides, alias its start;
 *   an output overwrites an operand of the same shape that no later group reads, if the nest reads of this operand only
 *   the element that it is writing.
 * A tensor of symbolic size aliases only whole roots, because strides and offsets are numbers. A caller-owned root (an
 * output of the model) wins over one in the arena. Two caller-owned roots cannot merge; the group is then an ordinary
 * copy. */

/* Decision: a padding's operand is stored in its result. On targets with float vectors a convolution's padding is a
 * layer of its own. The padding's operand is a slot within its result, at the padding's offset, so the operand's
 * producers write there. The nest's store of an element into itself is dead code; the elements around it remain. No
 * fact about the operator is needed here, either: the stage is a `select` whose condition is proved inside the box.
 * MobileNetV2 copied 5 MB per run for nothing (an eighth of its time, `make bench-host`). The producer writes a larger
 * tensor. If this adds more than a sixteenth to the arena, or anything with --optimize size, the operand is copied
 * (`copies_padding` in `driver/combine_for_ram.c`). */

/* Decision: a slice aliases its operand. A slice without steps that fusion leaves alone is a slot with the operand's
 * strides and an offset. A reshape is one too if it adds or drops unit dimensions, or if the slice is contiguous.
 * Operands of a concatenation are written directly into its memory, so the concatenation is free. Adjacent slices that
 * are concatenated again are their operand (`concat_of_fewer` in `ops/move/move.c`): the split and joined branches of a
 * detector copy nothing. */

/* Decision: views and in-place outputs are decided before lowering. The scheduled nest decides both: an output takes
 * the memory of an operand that dies, if the nest reads that operand only at the element being written. No fact about
 * operators is needed. */
#include <string.h>

#include "graph/plan/plan.h"
#include "ir/algebra/algebra.h"
#include "ir/nest/external.h"

/* The state of this pass. Each map of this state is a set of tensors. */
typedef struct Views {
    Ctx *cx;
    Plan *p;
    const Graph *graph;
    const Groups *groups;
    const Nest *const *nest;
    Map into_concat;                   /* operands of concatenations */
    Map dense;                         /* operands and results of external code, operands of regions */
    Map rows;                          /* operands of functions with instructions */
    Map crosses;                       /* operands and results of device copies, and the tensors of `between` */
    Map between;                       /* tensors between two functions of a device */
} Views;

static Slot *slot_of(const Views *v, const Tensor *t) { return map_get_ptr(&v->p->of, t); }

const Slot *plan_slot(const Plan *p, const Tensor *t) { return map_get_ptr(&p->of, t); }

Live plan_live(const Slot *root)
{
    Live all = { root->first, root->last };
    for (const Slot *s = root->next; s; s = s->next) {
        if (s->first < all.first) all.first = s->first;
        if (s->last > all.last) all.last = s->last;
    }
    if (all.first < 0) all.first = 0;
    if (all.last < 0) all.last = 0;
    return all;
}

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
    *s = (Slot){ .tensor = t,
                 .root = t,
                 .kind = kind,
                 .index = index,
                 .in_arena = kind == SLOT_ARENA,
                 .first = first,
                 .last = first };
    dense_strides(t, s->stride);
    map_put_ptr(&v->p->of, t, s);
}

/* Returns the first, or last, group of the sequence of one device's groups that contains i. */
static int end_of_sequence(const Groups *groups, int i, int step)
{
    const char *device = group_device(&groups->at[i]);
    while (device && i + step >= 0 && i + step < groups->count && group_device(&groups->at[i + step]) == device)
        i += step;
    return i;
}

/* Collects the tensors that one function of a device writes and another reads. */
static void list_between_functions(Views *v)
{
    Map writer = map_new(v->cx->arena);
    for (int i = 0; i < v->groups->count; i++)
        for (int j = 0; group_device(&v->groups->at[i]) && j < v->groups->at[i].output_count; j++)
            map_put_const_ptr(&writer, v->groups->at[i].output[j], &v->groups->at[i]);
    for (int i = 0; i < v->groups->count; i++) {
        const Group *g = &v->groups->at[i];
        for (int j = 0; group_device(g) && j < g->input_count; j++) {
            const Group *from = map_get_const_ptr(&writer, g->input[j]);
            if (from && !groups_are_together(from, g)) map_put_const_ptr(&v->between, g->input[j], from);
        }
    }
}

static bool is_between_functions(const Views *v, const Tensor *t) { return map_get_const_ptr(&v->between, t) != NULL; }

/* Extends the live range of a tensor between device functions. A device's driver may reorder its calls, so inputs live
 * until the sequence ends, and outputs from its start. */
static void extend_between_functions(Views *v, const Tensor *t)
{
    Slot *s = slot_of(v, t);
    if (!s || !is_between_functions(v, t)) return;
    if (s->first >= 0 && s->first < v->groups->count) s->first = end_of_sequence(v->groups, s->first, -1);
    if (s->last >= 0 && s->last < v->groups->count) s->last = end_of_sequence(v->groups, s->last, 1);
}

static void extend_through_sequences(Views *v)
{
    for (int i = 0; i < v->groups->count; i++) {
        const Group *g = &v->groups->at[i];
        for (int j = 0; group_device(g) && j < g->input_count; j++) extend_between_functions(v, g->input[j]);
        if (!copies_between_devices(g)) continue;
        Slot *owed = slot_of(v, v->groups->at[i].input[0]), *given = slot_of(v, v->groups->at[i].output[0]);
        if (owed->first >= 0 && owed->first < v->groups->count)
            owed->first = end_of_sequence(v->groups, owed->first, -1);
        if (given->last > i && given->last < v->groups->count) given->last = end_of_sequence(v->groups, given->last, 1);
    }
}

static void add_slots(Views *v, const Graph *g)
{
    int most = g->input_count + g->output_count;
    for (int i = 0; i < v->groups->count; i++) most += v->groups->at[i].input_count + v->groups->at[i].output_count;
    v->p->slot = NEW_ARRAY(v->cx->arena, Slot, most);
    v->p->constant = NEW_ARRAY(v->cx->arena, const Tensor *, most);
    for (int i = 0; i < g->input_count; i++) add_slot(v, g->input[i], SLOT_INPUT, i, -1);
    for (int i = 0; i < g->output_count; i++)
        /* An output is live to the end of the run. */
        if (g->output[i]->producer) add_slot(v, g->output[i], SLOT_OUTPUT, i, v->groups->count);
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
        for (int j = 0; j < group->output_count; j++) {
            add_slot(v, group->output[j], SLOT_ARENA, 0, i);
            slot_of(v, group->output[j])->first = i;
        }
    }
    extend_through_sequences(v);
    for (int i = 0; i < v->p->slot_count; i++) v->p->slot[i].root_last = v->p->slot[i].last;
}

bool plan_is_whole(const Slot *s)
{
    int64_t stride[MAX_RANK];
    dense_strides(s->tensor, stride);
    for (int d = 0; d < s->tensor->rank; d++)
        if (s->stride[d] != stride[d] && tensor_dim(s->tensor, d) > 1) return false;
    if (s->view_offset != 0 || tensor_elems(s->tensor) != tensor_elems(s->root)) return false;
    return s->tensor == s->root || tensor_is_fixed(s->root) || can_view(s->root, s->tensor);
}

/* Moves all slots of root `from` into the root of `to`, shifted by `shift` elements. */
static void join(const Views *v, Slot *from, Slot *to, int64_t shift)
{
    Slot *last = from, *root = slot_of(v, to->root);
    if (from->root_last > root->root_last) root->root_last = from->root_last;
    for (Slot *s = from; s; s = s->next) {
        s->root = to->root;
        s->kind = to->kind;
        s->in_arena = to->in_arena;
        s->index = to->index;
        s->view_offset += shift;
        last = s;
    }
    last->next = to->next;
    to->next = from;
}

/* Computes the strides of a view `t` with the elements of `from` in the same order. The view is a reshape of a
 * contiguous box, or only adds or drops unit dimensions. Returns false if there are no such strides. */
static bool strides_of_view(const Slot *from, const Tensor *t, int64_t *stride)
{
    int64_t dense[MAX_RANK];
    bool is_one_piece = true;
    int d = 0;
    if (!tensor_is_fixed(from->tensor) || !tensor_is_fixed(t)) return false;
    dense_strides(from->tensor, dense);
    dense_strides(t, stride);
    for (int i = 0; i < from->tensor->rank; i++)
        is_one_piece = is_one_piece && (from->stride[i] == dense[i] || tensor_dim(from->tensor, i) == 1);
    for (int i = 0; i < from->tensor->rank && !is_one_piece; i++) {
        if (tensor_dim(from->tensor, i) == 1) continue;
        while (d < t->rank && tensor_dim(t, d) == 1) d++;
        if (d == t->rank || tensor_dim(t, d) != tensor_dim(from->tensor, i)) return false;
        stride[d++] = from->stride[i];
    }
    return true;
}

/* Merges two tensors that cover their whole roots. Returns false if that is not possible. */
static bool unite(const Views *v, Slot *a, Slot *b)
{
    if (a->root == b->root) return true;
    if (!plan_is_whole(a) || !plan_is_whole(b)) return false;
    if (b->kind == SLOT_ARENA) join(v, slot_of(v, b->root), slot_of(v, a->root), 0);
    else if (a->kind == SLOT_ARENA) join(v, slot_of(v, a->root), slot_of(v, b->root), 0);
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

/* Computes the start of s in its root as coordinates of t, which covers the same root. Returns true if s is a box in t.
 * The box can then stay a view if the dimensions of t get strides. */
static bool box_in(const Slot *s, const Tensor *t, int64_t *begin)
{
    int64_t stride[MAX_RANK], rest = s->view_offset;
    if (s->tensor->rank != t->rank || !tensor_is_fixed(s->tensor)) return false;
    dense_strides(t, stride);
    for (int d = 0; d < t->rank; d++) {
        int64_t size = tensor_dim(s->tensor, d);
        begin[d] = rest / stride[d];
        rest %= stride[d];
        if ((size > 1 && s->stride[d] != stride[d]) || begin[d] + size > tensor_dim(t, d)) return false;
    }
    return true;
}

/* Returns true for operands and results of device copies, and for tensors between two functions of a device. Such
 * tensors do not alias, because a device's driver receives dense tensors. */
static bool crosses(const Views *v, const Tensor *t) { return map_get_const_ptr(&v->crosses, t) != NULL; }

static bool calls_external(const Stmt *tile) { return tile->external != NULL; }
static bool takes_rows(const Stmt *tile) { return tile->instr != NULL; }

static bool has_tile_below(const Stmt *s, bool is_such(const Stmt *tile))
{
    if (s->kind == STMT_TILE && is_such(s)) return true;
    for (int i = 0; i < s->child_count; i++)
        if (has_tile_below(s->child[i], is_such)) return true;
    return false;
}

static bool has_tile(const Nest *n, bool is_such(const Stmt *tile))
{
    for (; n; n = n->otherwise)
        if (has_tile_below(n->root, is_such)) return true;
    return false;
}

/* Returns true if an instruction reads the tensor and the strides part its rows. Elements along the last dimension must
 * be adjacent for an instruction. */
static bool parts_rows(const Views *v, const Tensor *t, const int64_t *stride)
{
    const int last = t->rank - 1;
    return last >= 0 && tensor_dim(t, last) != 1 && stride[last] != 1 && map_get_const_ptr(&v->rows, t);
}

/* Returns true if a region or a C function from outside reads or writes the tensor. Both access dense tensors. */
static bool touches_region(const Views *v, const Tensor *t)
{
    return (t->producer && t->producer->kind == NODE_REGION) || map_get_const_ptr(&v->dense, t);
}

/* Returns true if the operand t may become a slice of `whole`. A contiguous slice may take all slots of the operand's
 * root; any other slice takes only boxes. */
static bool may_slice(const Views *v, const Tensor *t, const Tensor *whole, int axis)
{
    const Slot *s = slot_of(v, t);
    int64_t begin[MAX_RANK];
    if (!s || s->kind != SLOT_ARENA || !plan_is_whole(s) || tensor_elems(t) < 1 || tensor_elems(whole) < 1)
        return false;
    if (t->producer && t->producer->device && crosses(v, t)) return false;
    for (const Slot *o = slot_of(v, s->root); o && outer_elems(whole, axis) > 1; o = o->next)
        if (!box_in(o, t, begin) || touches_region(v, o->tensor)) return false;
    return true;
}

static bool operands_differ(const Views *v, const Node *n)
{
    Map seen = map_new(v->cx->arena);
    for (int i = 0; i < n->in_count; i++) {
        const Tensor *root = slot_of(v, n->in[i])->root;
        if (map_get_ptr(&seen, root)) return false;
        map_put_ptr(&seen, root, v->p);
    }
    return true;
}

/* Turns the operand and all slots of its root into parts of `to`; the operand's first element becomes element `at`. */
static void slice(const Views *v, const Tensor *operand, Slot *to, int64_t at, bool is_one_piece)
{
    Slot *root = slot_of(v, slot_of(v, operand)->root);
    for (Slot *s = root; s && !is_one_piece; s = s->next) {
        int64_t begin[MAX_RANK];
        box_in(s, operand, begin);
        s->view_offset = 0;
        for (int d = 0; d < operand->rank; d++) {
            s->view_offset += begin[d] * to->stride[d];
            s->stride[d] = to->stride[d];
        }
    }
    join(v, root, to, at);
}

static bool place_operands(const Views *v, const Node *n)
{
    const Tensor *whole = n->out[0];
    int64_t axis = node_int(n, "axis", 0), at = 0;
    if (axis < 0) axis += whole->rank;
    for (int i = 0; i < n->in_count; i++)
        if (!may_slice(v, n->in[i], whole, (int)axis)) return false;
    if (!operands_differ(v, n)) return false;
    Slot *to = slot_of(v, whole);
    for (int i = 0; i < n->in_count; i++) {
        slice(v, n->in[i], to, at * to->stride[axis], outer_elems(whole, (int)axis) == 1);
        at += tensor_dim(n->in[i], (int)axis);
    }
    return true;
}

/* ---- Boxes ------------------------------------------------------------------------------------------------------ */

static bool goes_into_concat(const Views *v, const Tensor *t) { return map_get_const_ptr(&v->into_concat, t) != NULL; }

/* Returns true if no consumer requires that the result has its own memory. Concatenations (which become free), regions
 * and devices require it. */
static bool may_alias_operand(const Views *v, const Node *n)
{
    const Tensor *t = n->out[0];
    const Slot *s = slot_of(v, t);
    if (s->kind != SLOT_ARENA || s->root != t || s->next) return false;
    return !goes_into_concat(v, t) && !touches_region(v, t) && !n->device && !crosses(v, t);
}

static bool alias_box(const Views *v, const Node *n)
{
    int64_t begin[MAX_RANK];
    Slot *from = slot_of(v, n->in[0]), *to = slot_of(v, n->out[0]);
    if (!may_alias_operand(v, n) || !n->op->layout.box(v->cx, n, begin)
        || parts_rows(v, to->tensor, from->stride))
        return false;
    for (int d = 0; d < to->tensor->rank; d++) {
        to->stride[d] = from->stride[d];
        to->view_offset += begin[d] * from->stride[d];
    }
    join(v, to, from, from->view_offset);
    return true;
}

static bool alias_view_of_box(const Views *v, const Node *n)
{
    int64_t stride[MAX_RANK];
    Slot *from = slot_of(v, n->in[0]), *to = slot_of(v, n->out[0]);
    if (!may_alias_operand(v, n) || plan_is_whole(from) || !strides_of_view(from, to->tensor, stride)
        || parts_rows(v, to->tensor, stride))
        return false;
    memcpy(to->stride, stride, sizeof stride);
    join(v, to, from, from->view_offset);
    return true;
}

/* ---- Sizes of the run ------------------------------------------------------------------------------------------ */

/* Returns true if the tensor's elements are consecutive. A view of symbolic size is always such a view. */
static bool is_one_piece(const Slot *s)
{
    int64_t dense[MAX_RANK];
    if (!tensor_is_fixed(s->tensor)) return true;
    dense_strides(s->tensor, dense);
    for (int d = 0; d < s->tensor->rank; d++)
        if (s->stride[d] != dense[d] && tensor_dim(s->tensor, d) != 1) return false;
    return true;
}

static bool may_begin_in_operand(const Views *v, const Node *n)
{
    const Tensor *t = n->out[0];
    const Slot *s = slot_of(v, t);
    return s->kind == SLOT_ARENA && s->root == t && !s->next && !touches_region(v, t) && !n->device && !crosses(v, t);
}

/* Stores the result at the start of its operand. Otherwise, if the result is an output of the model with enough bytes
 * for the whole operand, stores the operand in the output. */
static bool alias_front(const Views *v, const Node *n)
{
    Slot *from = slot_of(v, n->in[0]), *to = slot_of(v, n->out[0]);
    if (!is_one_piece(from) || crosses(v, n->in[0])) return false;
    if (may_begin_in_operand(v, n)) {
        join(v, to, from, from->view_offset);
        return true;
    }
    if (to->root != to->tensor || to->kind != SLOT_OUTPUT || n->device || from->kind != SLOT_ARENA
        || !plan_is_whole(from) || tensor_most_bytes(v->cx, from->root) > tensor_most_bytes(v->cx, to->tensor))
        return false;
    join(v, slot_of(v, from->root), to, 0);
    return true;
}

/* Aliases a view of symbolic size whose elements are consecutive. */
static bool alias_open_view(const Views *v, const Node *n)
{
    Slot *from = slot_of(v, n->in[0]), *to = slot_of(v, n->out[0]);
    if (tensor_is_fixed(to->tensor) || from->root == from->tensor || !is_one_piece(from)
        || !may_begin_in_operand(v, n)) return false;
    join(v, to, from, from->view_offset);
    return true;
}

/* ---- Padding ---------------------------------------------------------------------------------------------------- */

static void find_read(const Expr *e, void *user)
{
    if (e->kind == EXPR_READ) *(bool *)user = true;
}

/* Returns the read x[axis - begin] if the stage has this value in the box of x's size at `begin`, and reads no tensor
 * outside the box. Otherwise returns NULL. */
static const Expr *read_in_box(Ctx *cx, const Stage *s, int64_t *begin)
{
    const Expr *value = s->value[0], *read = value->kind == EXPR_SELECT ? value->arg[SELECT_YES] : NULL;
    const Bounds *inside = NULL;
    bool reads_around = false;
    if (!read || read->kind != EXPR_READ || read->arg_count != s->data_count) return NULL;
    expr_walk(cx, value->arg[SELECT_NO], find_read, &reads_around);
    for (int d = 0; d < s->data_count; d++) {
        const Expr *axis = s->axis[d].var, *at = simplify(cx, expr_sub(cx, axis, read->arg[d]), NULL);
        const int64_t size = tensor_dim(read->ref, d), whole = tensor_dim(s->out[0], d);
        if (at->kind != EXPR_INT || at->integer < 0 || size < 1 || at->integer + size > whole) return NULL;
        begin[d] = at->integer;
        inside = bounds_var(cx, inside, axis, s->axis[d].extent);
        inside = bounds_fact(cx, inside, expr_binary(cx, EXPR_LE, at, axis));
        inside = bounds_fact(cx, inside, expr_binary(cx, EXPR_LT, axis, expr_index(cx, at->integer + size)));
    }
    return !reads_around && provably(cx, value->arg[SELECT_COND], inside) ? read : NULL;
}

/* Stores the operand in the inner box of the result. The operand's producers write there, and the group writes only the
 * elements around the box. */
static bool place_in_padding(const Views *v, const Group *g, const Nest *n)
{
    int64_t begin[MAX_RANK], at = 0;
    if (g->output_count != 1 || g->input_count != 1 || !n || n->otherwise || n->stage_count != 1 || group_device(g))
        return false;
    const Stage *s = n->stage[0];
    const Tensor *x = g->input[0];
    Slot *to = slot_of(v, g->output[0]);
    if (s->reducer != REDUCE_NONE || s->out_count != 1 || s->data_count != x->rank || to->root != to->tensor
        || !tensor_is_fixed(x) || !tensor_is_fixed(to->tensor) || touches_region(v, x) || goes_into_concat(v, x))
        return false;
    const Expr *read = read_in_box(v->cx, s, begin);
    if (!read || read->ref != n->input[0] || !may_slice(v, x, to->tensor, x->rank)) return false;
    for (int d = 0; d < x->rank; d++) at += begin[d] * to->stride[d];
    slice(v, x, to, at, false);
    return true;
}

/* ---- In place -------------------------------------------------------------------------------------------------- */

typedef struct ReadScan { const Tensor *tensor; const Stage *stage; bool elsewhere; } ReadScan;

/* Records a read of the tensor at a different element than the one that is written. A dimension of one element may have
 * the index 0 instead of its axis. */
static void scan_read(const Expr *e, void *user)
{
    ReadScan *r = user;
    if (e->kind != EXPR_READ || e->ref != r->tensor) return;
    for (int d = 0; d < e->arg_count; d++) {
        const bool is_only = tensor_dim(r->tensor, d) == 1 && e->arg[d]->kind == EXPR_INT && e->arg[d]->integer == 0;
        if (!r->stage || (e->arg[d] != r->stage->axis[d].var && !is_only)) r->elsewhere = true;
    }
}

typedef struct ReadOnce { const Stage *stage; int count; const Expr *var[MAX_DEPTH], *extent[MAX_DEPTH]; } ReadOnce;

/* Returns true if no loop executes the stage's blocks twice for a point. A tail that is shifted inwards, or a host loop
 * with a halo, does this. */
static bool computes_points_once(Ctx *cx, const Stmt *s, const Bounds *scope, ReadOnce o)
{
    Box box[MAX_AXES];
    const char *why;
    if (s->kind == STMT_BLOCK) {
        const int axes = s->part == BLOCK_INIT ? s->stage->data_count : s->stage->axis_count;
        return s->stage != o.stage
               || dense(cx, s->bind, axes, s->cond, scope, o.var, o.extent, o.count, box, NULL, &why);
    }
    if (s->kind == STMT_FOR) {
        if (o.count == MAX_DEPTH) return false;
        scope = bounds_var(cx, scope, s->var, s->extent);
        o.var[o.count] = s->var;
        o.extent[o.count++] = s->extent;
    }
    for (int i = 0; i < s->child_count; i++)
        if (!computes_points_once(cx, s->child[i], scope, o)) return false;
    return true;
}

bool plan_computes_once(Ctx *cx, const Nest *n, const Stage *s)
{
    return computes_points_once(cx, n->root, NULL, (ReadOnce){ .stage = s });
}

bool plan_may_overwrite(Ctx *cx, const Nest *n, const Tensor *t, const Tensor *out)
{
    for (int s = 0; s < n->stage_count; s++) {
        const Stage *stage = n->stage[s];
        bool makes = stage->out_count == 1 && stage->out[0] == out && stage->reducer == REDUCE_NONE;
        const External *call = external_of_stage(n->root, stage);
        ReadScan scan = { t, makes && (!call || call->in_place) ? stage : NULL, false };
        for (int i = 0; i < stage->out_count; i++) {
            expr_walk(cx, stage->value[i], scan_read, &scan);
            if (stage->init) expr_walk(cx, stage->init[i], scan_read, &scan);
        }
        if (scan.elsewhere) return false;
        if (makes && !computes_points_once(cx, n->root, NULL, (ReadOnce){ .stage = stage })) return false;
    }
    return true;
}

static bool same_shape(const Tensor *a, const Tensor *b)
{
    if (a->rank != b->rank || a->type != b->type) return false;
    for (int d = 0; d < a->rank; d++)
        if (a->shape[d] != b->shape[d]) return false;
    return true;
}

static int last_use(const Views *v, const Tensor *root) { return slot_of(v, root)->root_last; }

/* Returns true if the group reads the root only at the element that it writes. Checks every operand that is a view of
 * this root. */
static bool reads_root_in_place(const Views *v, const Group *g, const Nest *n, const Tensor *root)
{
    for (int i = 0; i < g->input_count; i++) {
        const Slot *s = slot_of(v, g->input[i]);
        if (s->root != root) continue;
        if (!plan_is_whole(s) || !same_shape(g->input[i], g->output[0])) return false;
        if (!plan_may_overwrite(v->cx, n, n->input[i], n->output[0])) return false;
    }
    return true;
}

/* Returns true if `to` is in the array of an in-out tensor whose old values are read when `from` is written, or
 * later. */
static bool replaces_old_values(const Views *v, const Slot *from, const Slot *to)
{
    const int first = plan_live(slot_of(v, from->root)).first;
    for (int u = 0; to->kind == SLOT_OUTPUT && u < v->graph->update_count; u++) {
        const Update *update = &v->graph->update[u];
        if (update->is_inout && update->output == to->index
            && last_use(v, slot_of(v, v->graph->input[update->input])->root) >= first)
            return true;
    }
    return false;
}

static bool take_operand(const Views *v, const Group *g, const Nest *n, int place)
{
    if (g->output_count != 1 || !n || n->otherwise) return false;
    if (group_device(g) && crosses(v, g->output[0])) return false;
    if (copies_between_devices(g)) return false;
    Slot *to = slot_of(v, g->output[0]);
    for (int i = 0; i < g->input_count; i++) {
        Slot *from = slot_of(v, g->input[i]);
        if (from->kind != SLOT_ARENA || to->root != to->tensor || last_use(v, from->root) != place) continue;
        if (group_device(g) && crosses(v, from->tensor)) continue;
        if (replaces_old_values(v, from, to)) continue;
        if (reads_root_in_place(v, g, n, from->root) && unite(v, from, to)) return true;
    }
    return false;
}

/* Returns true if t would be a view of the old values of an in-out tensor that is read when these are replaced, or
 * later. */
static bool is_late_view(const Views *v, const Tensor *of, const Tensor *t)
{
    for (int u = 0; of && u < v->graph->update_count; u++) {
        const Update *update = &v->graph->update[u];
        if (update->is_inout && slot_of(v, of)->root == slot_of(v, v->graph->input[update->input])->root
            && slot_of(v, t)->last >= slot_of(v, v->graph->output[update->output])->first)
            return true;
    }
    return false;
}

/* Returns true for a single reshape or concatenation whose tensors all alias. Such a group costs nothing. */
static bool is_free(const Views *v, const Group *g)
{
    const Node *n = g->node_count == 1 ? g->node[0] : NULL;
    if (!n || n->kind != NODE_CALL || (n->in_count && is_late_view(v, n->in[0], n->out[0]))) return false;
    if (n->op->layout.binds_size) return unite(v, slot_of(v, n->in[0]), slot_of(v, n->out[0]));
    if (n->op->layout.cuts) return plan_is_front(n) && alias_front(v, n);
    if (n->op->layout.is_view)
        return unite(v, slot_of(v, n->in[0]), slot_of(v, n->out[0])) || alias_open_view(v, n)
               || alias_view_of_box(v, n);
    if (n->op->layout.box) return alias_box(v, n);
    return n->op->layout.is_concat && place_operands(v, n);
}

static void list_in(Map *set, Tensor *const *tensor, int count)
{
    for (int i = 0; i < count; i++) map_put_const_ptr(set, tensor[i], set);
}

static void list_uses(Views *v)
{
    for (int i = 0; i < v->groups->count; i++) {
        const Group *g = &v->groups->at[i];
        const bool is_region = g->anchor && g->anchor->kind == NODE_REGION,
                   is_external = has_tile(v->nest[i], calls_external);
        const bool is_lone_call = g->node_count == 1 && g->node[0]->kind == NODE_CALL;
        if (is_lone_call && g->node[0]->op->layout.is_concat) list_in(&v->into_concat, g->input, g->input_count);
        if (is_region || is_external) list_in(&v->dense, g->input, g->input_count);
        if (is_external) list_in(&v->dense, g->output, g->output_count);
        if (has_tile(v->nest[i], takes_rows)) list_in(&v->rows, g->input, g->input_count);
        for (int j = 0; group_device(g) && j < g->input_count; j++)
            if (is_between_functions(v, g->input[j])) list_in(&v->crosses, &g->input[j], 1);
        if (!copies_between_devices(g)) continue;
        list_in(&v->crosses, g->input, 1);
        list_in(&v->crosses, g->output, 1);
    }
}

/* ---- Updates ---------------------------------------------------------------------------------------------------- */

/* Returns true if another operand of the group that computes `out` is a view of the old values. */
static bool reads_view_of(const Views *v, const Tensor *from, int group)
{
    const Group *g = &v->groups->at[group];
    for (int i = 0; i < g->input_count; i++)
        if (g->input[i] != from && slot_of(v, g->input[i])->root == slot_of(v, from)->root) return true;
    return false;
}

/* Stores each new value in the memory of the old value. The order of groups and the group's nest permit that
 * (updates.c, driver/nests.c). */
static void take_updates(Views *v, const Graph *g)
{
    for (int u = 0; u < g->update_count; u++) {
        const Tensor *from = g->input[g->update[u].input], *to = g->output[g->update[u].output];
        Slot *in = slot_of(v, from), *out = slot_of(v, to);
        const bool reads_late = in->root_last > out->first
                                || (in->root_last == out->first && reads_view_of(v, from, out->first));
        if (reads_late && g->update[u].is_inout) {
            diag_unsupported(v->cx, to->name, "a layer reads old values of the in-out tensor after the update; use "
                                              "`input` and `output` instead of `inout`");
            return;
        }
        if (in->last > out->first) {
            diag_internal(v->cx, to->name, "a layer reads the old value of \"%s\" after the update", from->name);
            return;
        }
        v->p->in_place[out->first] = v->p->in_place[out->first] || in->root_last == out->first;
        if (!g->update[u].is_inout) join(v, out, in, 0);     /* the caller's array has two places */
    }
}

Plan plan_views(Ctx *cx, const Graph *g, const Groups *groups, const Nest *const *nest, bool copies_padding)
{
    Plan p = { .of = map_new(cx->arena) };
    Views v = { cx, &p, g, groups, nest, map_new(cx->arena), map_new(cx->arena), map_new(cx->arena),
                map_new(cx->arena), map_new(cx->arena) };
    p.is_free = NEW_ARRAY(cx->arena, bool, groups->count);
    p.in_place = NEW_ARRAY(cx->arena, bool, groups->count);
    p.is_padding = NEW_ARRAY(cx->arena, bool, groups->count);
    list_between_functions(&v);
    add_slots(&v, g);
    list_uses(&v);
    take_updates(&v, g);
    for (int i = 0; i < groups->count && !ctx_failed(cx); i++) {
        p.is_free[i] = is_free(&v, &groups->at[i]);
        p.is_padding[i] = !copies_padding && !p.is_free[i] && place_in_padding(&v, &groups->at[i], nest[i]);
        if (p.is_padding[i] || p.is_free[i] || p.in_place[i]) continue;
        p.in_place[i] = take_operand(&v, &groups->at[i], nest[i], i);
    }
    return p;
}
