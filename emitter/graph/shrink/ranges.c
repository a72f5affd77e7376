/* SPDX-License-Identifier: MIT */
/* Runs each stage once for every channel v of its output, with its last data axis at v and all other axes unrestricted:
 *
 *   y[.., v]  in  init + sum over the taps of value(tap, v)          all are intervals
 *
 * Taps are walked one by one, because weights and boundary guards differ between taps. A tap that may be outside the
 * image contributes the hull of its product and 0. Elements of constants are exact; other elements have their channel's
 * range. An operation that may wrap, or that the analysis does not cover, yields its type's full range. A range may be
 * too large, never too small. */
#include "graph/shrink/ranges.h"

enum {
    MOST_CHANNELS = 1 << 16,
    MOST_ELEMENTS = 1 << 12,
    MOST_TAPS = 1 << 20,
    LEAST_VALUES = 1 << 24,
    MOST_VALUES = 1 << 27,
    VALUES_OF_ELEMENT = 256
};

static Interval point(int64_t v) { return (Interval){ v, v }; }
/* Returns the range of the type. No interval holds the upper half of u64, so u64 has no range. */
static Interval of_type(DType t)
{
    if (dtype_is_float(t) || t == U64) return (Interval){ INT64_MIN, INT64_MAX };
    return (Interval){ dtype_info(t)->least, dtype_info(t)->greatest };
}

static bool is_within(Interval i, Interval whole)
{
    return i.least >= whole.least && i.greatest <= whole.greatest && i.least != INT64_MIN && i.greatest != INT64_MAX;
}

/* ---- Terms of a stage -------------------------------------------------------------------------------------------- */

/* The state of collecting terms. `place` maps an expression to its term's index, in the scratch arena. */
typedef struct Taking { Ctx *cx; Terms *t; Map place; int capacity; } Taking;

static int term_index(const Map *places, const Expr *e) { return *(const int *)map_get_ptr(places, e); }

/* Adds the expression's nodes, operands first. */
static void take(Taking *k, const Expr *e)
{
    Terms *t = k->t;
    if (map_get_ptr(&k->place, e)) return;
    for (int i = 0; i < e->arg_count; i++) take(k, e->arg[i]);
    if (t->count == k->capacity) {
        const Expr **more = NEW_ARRAY(k->cx->arena, const Expr *, k->capacity = 2 * k->capacity + 16);
        for (int i = 0; i < t->count; i++) more[i] = t->e[i];
        t->e = more;
    }
    int *place = NEW(k->cx->scratch, int);
    *place = t->count;
    map_put_ptr(&k->place, e, place);
    t->e[t->count++] = e;
}

static int axis_of(const Stage *s, const Expr *var)
{
    for (int a = 0; a < s->axis_count; a++)
        if (s->axis[a].var == var) return a;
    return -1;
}

/* Marks the axes to walk. An axis that only selects the position in an image has uniform taps and is not walked. An
 * axis is walked if it appears outside tensor indices, in indices of constants, or as a channel. */
static void mark_walked(Terms *t)
{
    for (int i = 0; i < t->count; i++) t->is_taken[i] = i == t->count - 1;
    for (int i = t->count - 1; i >= 0; i--) {
        if (!t->is_taken[i]) continue;
        const Expr *e = t->e[i];
        bool is_element = e->kind == EXPR_READ && !tensor_is_constant(e->ref);
        if (t->axis[i] >= 0) t->is_walked[t->axis[i]] = true;
        for (int a = is_element && e->arg_count ? e->arg_count - 1 : 0; a < e->arg_count; a++)
            t->is_taken[t->operand[i][a]] = true;
    }
}

Terms *terms_new(Ctx *cx, const Stage *s)
{
    Terms *t = NEW(cx->arena, Terms);
    const ArenaMark mark = arena_mark(cx->scratch);
    Taking k = { cx, t, map_new(cx->scratch), 0 };
    t->stage = s;
    take(&k, s->value[0]);
    t->value = NEW_ARRAY(cx->arena, Interval, t->count);
    t->is_taken = NEW_ARRAY(cx->arena, bool, t->count);
    t->is_walked = NEW_ARRAY(cx->arena, bool, s->axis_count);
    t->axis = NEW_ARRAY(cx->arena, int, t->count);
    t->operand = NEW_ARRAY(cx->arena, int *, t->count);
    for (int i = 0; i < t->count; i++) {
        t->axis[i] = axis_of(s, t->e[i]);
        t->operand[i] = NEW_ARRAY(cx->arena, int, t->e[i]->arg_count);
        for (int j = 0; j < t->e[i]->arg_count; j++) t->operand[i][j] = term_index(&k.place, t->e[i]->arg[j]);
    }
    arena_reset(cx->scratch, mark);
    mark_walked(t);
    return t;
}

Interval axis_interval(const Axis *a)
{
    if (a->extent->kind != EXPR_INT) return (Interval){ 0, INT32_MAX - 1 };
    return (Interval){ 0, a->extent->integer > 0 ? a->extent->integer - 1 : 0 };
}

/* ---- Elements --------------------------------------------------------------------------------------------------- */

/* Clips the indices of a read to the tensor. Returns false if no index is inside. */
static bool box_of_read(const Terms *t, int at, Interval *box)
{
    const Tensor *x = t->e[at]->ref;
    for (int d = 0; d < x->rank; d++) {
        int64_t size = tensor_dim(x, d);
        box[d] = t->value[t->operand[at][d]];
        if (box[d].least < 0) box[d].least = 0;
        if (size >= 0 && box[d].greatest >= size) box[d].greatest = size - 1;
        if (box[d].greatest < box[d].least) return false;
    }
    return true;
}

static Interval of_constant(const Tensor *x, const Interval *box)
{
    int64_t index[MAX_RANK], count = 1;
    Interval found = of_type(x->type);
    if (dtype_is_float(x->type) || x->type == U64 || !tensor_is_fixed(x)) return found;
    for (int d = 0; d < x->rank; d++) {
        index[d] = box[d].least;
        count = sat_mul(count, box[d].greatest - box[d].least + 1);
    }
    if (count > MOST_ELEMENTS) return found;
    for (int64_t i = 0; i < count; i++) {
        int64_t flat = 0;
        for (int d = 0; d < x->rank; d++) flat = flat * tensor_dim(x, d) + index[d];
        int64_t v = dtype_load(x->type, x->data, flat).i;
        found = i ? interval_hull(found, point(v)) : point(v);
        for (int d = x->rank - 1; d >= 0 && ++index[d] > box[d].greatest; d--) index[d] = box[d].least;
    }
    return found;
}

static Interval of_read(const GraphRanges *r, const Terms *t, int at)
{
    Interval box[MAX_RANK], found;
    const Tensor *x = t->e[at]->ref;
    if (!box_of_read(t, at, box)) return of_type(x->type);
    if (tensor_is_constant(x)) return of_constant(x, box);
    const ChannelRange *c = channel_range(r, x);
    if (!c) return of_type(x->type);
    found = c->at[box[x->rank - 1].least];
    for (int64_t i = box[x->rank - 1].least + 1; i <= box[x->rank - 1].greatest; i++)
        found = interval_hull(found, c->at[i]);
    return found;
}

/* ---- Evaluation in intervals ------------------------------------------------------------------------------------ */

static Interval of_term(const GraphRanges *r, const Terms *t, int i, const Interval *box)
{
    const Expr *e = t->e[i];
    Interval operand[3] = { { 0, 0 } };
    if (t->axis[i] >= 0) return box[t->axis[i]];
    if (e->kind == EXPR_READ) return of_read(r, t, i);
    if (e->kind == EXPR_VAR) return (Interval){ ((const Var *)e->ref)->least, ((const Var *)e->ref)->greatest };
    if (e->kind == EXPR_LOAD || e->kind == EXPR_AT || e->kind == EXPR_BITCAST || e->type == U64)
        return of_type(e->type);
    for (int a = 0; a < e->arg_count && a < 3; a++) operand[a] = t->value[t->operand[i][a]];
    return interval_apply(e, operand);
}

static void mark_taken(Terms *t)
{
    for (int i = 0; i < t->count; i++) t->is_taken[i] = i == t->count - 1;
    for (int i = t->count - 1; i >= 0; i--) {
        if (!t->is_taken[i]) continue;
        const Expr *e = t->e[i];
        Interval cond = e->kind == EXPR_SELECT ? t->value[t->operand[i][SELECT_COND]] : (Interval){ 0, 1 };
        for (int a = 0; a < e->arg_count; a++)
            if (cond.least != cond.greatest || a == (cond.least ? SELECT_YES : SELECT_NO))
                t->is_taken[t->operand[i][a]] = true;
    }
}

static void run(const GraphRanges *r, Terms *t, const Interval *box)
{
    for (int i = 0; i < t->count; i++) t->value[i] = of_term(r, t, i, box);
}

void terms_run(const GraphRanges *r, Terms *t, const Interval *box)
{
    run(r, t, box);
    mark_taken(t);
}

Interval terms_value(const Terms *t, const Expr *e)
{
    for (int i = 0; i < t->count; i++)
        if (t->e[i] == e) return t->value[i];
    return of_type(e->type);
}

/* Combines two intervals with the reducer. Returns the type's full range if the reducer has no interval rule. */
static Interval combined(Reducer reducer, DType type, Interval a, Interval b)
{
    Interval whole = of_type(type), sum = { sat_add(a.least, b.least), sat_add(a.greatest, b.greatest) };
    switch (reducer) {
    case REDUCE_SUM: return sum;
    case REDUCE_MAX:
        return (Interval){ a.least > b.least ? a.least : b.least, a.greatest > b.greatest ? a.greatest : b.greatest };
    case REDUCE_MIN:
        return (Interval){ a.least < b.least ? a.least : b.least, a.greatest < b.greatest ? a.greatest : b.greatest };
    default:         return whole;
    }
}

static Interval repeated(Reducer reducer, Interval i, int64_t count)
{
    return reducer == REDUCE_SUM ? (Interval){ sat_mul(i.least, count), sat_mul(i.greatest, count) } : i;
}

static Interval with_zero(Interval i) { return interval_hull(i, point(0)); }

static bool spend(const GraphRanges *r, int64_t values)
{
    if (values > *r->left) return false;
    *r->left -= values;
    return true;
}

Interval terms_reduce(const GraphRanges *r, Terms *t, Interval *box, Interval *passed)
{
    const Stage *s = t->stage;
    Interval full[MAX_AXES], total = { 0, 0 }, part = { 0, 0 };
    int64_t alike = 1, walked = 1;
    for (int a = s->data_count; a < s->axis_count; a++) {
        int64_t *count = t->is_walked[a] ? &walked : &alike;
        full[a] = box[a];
        *count = sat_mul(*count, box[a].greatest - box[a].least + 1);
        if (t->is_walked[a]) box[a] = point(full[a].least);
    }
    if (walked > MOST_TAPS || !spend(r, sat_mul(walked, t->count))) {
        for (int a = s->data_count; a < s->axis_count; a++) box[a] = full[a];
        if (passed) *passed = of_type(s->value[0]->type);
        return of_type(s->value[0]->type);
    }
    for (int64_t i = 0; i < walked; i++) {
        run(r, t, box);
        Interval tap = repeated(s->reducer, t->value[t->count - 1], alike);
        total = i ? combined(s->reducer, s->value[0]->type, total, tap) : tap;
        part = combined(REDUCE_SUM, s->value[0]->type, part, with_zero(tap));
        for (int a = s->axis_count - 1; a >= s->data_count; a--) {
            if (!t->is_walked[a]) continue;
            box[a] = point(box[a].least + 1);
            if (box[a].least <= full[a].greatest) break;
            box[a] = point(full[a].least);
        }
    }
    for (int a = s->data_count; a < s->axis_count; a++) box[a] = full[a];
    if (passed) *passed = part;
    return total;
}

/* ---- Stages and graphs ------------------------------------------------------------------------------------------ */

const ChannelRange *channel_range(const GraphRanges *r, const Tensor *t) { return map_get_const_ptr(&r->of, t); }

static bool has_channels(const Tensor *t)
{
    int64_t count = t->rank ? tensor_dim(t, t->rank - 1) : 0;
    return !dtype_is_float(t->type) && t->type != U64 && count >= 1 && count <= MOST_CHANNELS;
}

static void enter(GraphRanges *r, const Tensor *t, Interval *at)
{
    ChannelRange *c = NEW(r->cx->arena, ChannelRange);
    *c = (ChannelRange){ tensor_dim(t, t->rank - 1), at };
    map_put_const_ptr(&r->of, t, c);
}

static void enter_whole(GraphRanges *r, const Tensor *t)
{
    if (!has_channels(t) || channel_range(r, t)) return;
    Interval *at = NEW_ARRAY(r->cx->arena, Interval, tensor_dim(t, t->rank - 1));
    for (int64_t i = 0; i < tensor_dim(t, t->rank - 1); i++) at[i] = of_type(t->type);
    enter(r, t, at);
}

static bool is_followed(const Stage *s)
{
    bool reduces = s->reducer == REDUCE_SUM || s->reducer == REDUCE_MAX || s->reducer == REDUCE_MIN;
    for (int a = s->data_count; a < s->axis_count; a++)
        if (s->axis[a].extent->kind != EXPR_INT || s->axis[a].extent->integer < 1) return false;
    return s->out_count == 1 && s->data_count > 0 && has_channels(s->out[0]) && (reduces || s->reducer == REDUCE_NONE);
}

static void enter_stage(GraphRanges *r, const Stage *s)
{
    if (!is_followed(s)) {
        for (int i = 0; i < s->out_count; i++) enter_whole(r, s->out[i]);
        return;
    }
    Terms *t = terms_new(r->cx, s), *first = s->init ? terms_new(r->cx, &(Stage){ .axis_count = s->axis_count,
                                                                                  .axis = s->axis,
                                                                                  .data_count = s->data_count,
                                                                                  .value = s->init })
                                                     : NULL;
    Interval box[MAX_AXES], whole = of_type(s->out[0]->type);
    int64_t count = tensor_dim(s->out[0], s->out[0]->rank - 1);
    Interval *at = NEW_ARRAY(r->cx->arena, Interval, count);
    for (int a = 0; a < s->axis_count; a++) box[a] = axis_interval(&s->axis[a]);
    for (int64_t v = 0; v < count; v++) {
        box[s->data_count - 1] = point(v);
        at[v] = terms_reduce(r, t, box, NULL);
        if (first) {
            run(r, first, box);
            at[v] = combined(s->reducer, s->out[0]->type, at[v], first->value[first->count - 1]);
        }
        if (!is_within(at[v], whole)) at[v] = whole;
    }
    enter(r, s->out[0], at);
}

typedef struct Stages { Ctx *cx; int count, capacity; const Stage **at; Map seen; bool is_plain; } Stages;

static void collect_stages(Stages *k, const Node *n)
{
    if (!n || n->kind != NODE_COMPUTE || map_get_ptr(&k->seen, n)) return;
    map_put_ptr(&k->seen, n, k);
    for (int a = 0; a < n->stage->axis_count; a++) k->is_plain = k->is_plain && n->stage->axis[a].kind != AXIS_ORDERED;
    for (int i = 0; i < n->in_count; i++) collect_stages(k, n->in[i]->producer);
    if (k->count == k->capacity) {
        const Stage **more = NEW_ARRAY(k->cx->arena, const Stage *, k->capacity = 2 * k->capacity + 4);
        for (int i = 0; i < k->count; i++) more[i] = k->at[i];
        k->at = more;
    }
    k->at[k->count++] = n->stage;
}

int call_stages(Ctx *cx, const Node *call, const Stage ***out)
{
    Tensor *const *made = call->kind == NODE_CALL ? op_expand(cx, call) : NULL;
    const ArenaMark mark = arena_mark(cx->scratch);
    Stages k = { cx, 0, 0, NULL, map_new(cx->scratch), made != NULL };
    for (int i = 0; made && i < call->out_count; i++) collect_stages(&k, made[i]->producer);
    arena_reset(cx->scratch, mark);
    *out = k.at;
    return k.is_plain ? k.count : 0;
}

int64_t call_macs(Ctx *cx, const Node *call)
{
    const Stage **stage;
    int64_t macs = 0;
    for (int i = call_stages(cx, call, &stage) - 1; i >= 0; i--) {
        const Expr *v = stage[i]->value[0];
        int64_t points = 1;
        while (v->kind == EXPR_SELECT) v = v->arg[SELECT_YES];
        if (stage[i]->reducer != REDUCE_SUM || v->kind != EXPR_MUL) continue;
        for (int a = 0; a < stage[i]->axis_count; a++)
            points = sat_mul(points, interval_of(cx, stage[i]->axis[a].extent, NULL).greatest);
        macs = sat_add(macs, points);
    }
    return macs;
}

int64_t graph_macs(Ctx *cx, const Graph *g)
{
    Node **order;
    int64_t macs = 0;
    const int count = graph_order(cx, g, &order);
    for (int i = 0; i < count; i++)
        if (order[i]->kind == NODE_CALL) macs = sat_add(macs, call_macs(cx, order[i]));
    return macs;
}

static void enter_call(GraphRanges *r, const Node *call)
{
    const Stage **stage;
    int count = call_stages(r->cx, call, &stage);
    Tensor *const *made = count ? op_expand(r->cx, call) : NULL;
    for (int i = 0; i < count; i++) enter_stage(r, stage[i]);
    for (int i = 0; i < call->out_count; i++) {
        const ChannelRange *c = made ? channel_range(r, made[i]) : NULL;
        if (c) map_put_const_ptr(&r->of, call->out[i], c);
        else enter_whole(r, call->out[i]);
    }
}

static int64_t constant_elems(const Node *call)
{
    int64_t elems = 0;
    for (int i = 0; i < call->in_count; i++)
        if (call->in[i] && tensor_is_constant(call->in[i])) elems = sat_add(elems, tensor_elems(call->in[i]));
    return elems;
}

int64_t ranges_budget(Ctx *cx, const Graph *g)
{
    Node **order;
    int64_t values = LEAST_VALUES;
    for (int i = graph_order(cx, g, &order) - 1; i >= 0; i--)
        values = sat_add(values, sat_mul(VALUES_OF_ELEMENT, constant_elems(order[i])));
    return values < MOST_VALUES ? values : MOST_VALUES;
}

GraphRanges *graph_ranges(Ctx *cx, const Graph *g, int64_t budget)
{
    Node **order;
    int count = graph_order(cx, g, &order);
    GraphRanges *r = NEW(cx->arena, GraphRanges);
    *r = (GraphRanges){ cx, map_new(cx->arena), NEW(cx->arena, int64_t) };
    *r->left = budget;
    for (int i = 0; i < g->input_count; i++) enter_whole(r, g->input[i]);
    for (int i = 0; i < count && !ctx_failed(cx); i++) enter_call(r, order[i]);
    return r;
}
