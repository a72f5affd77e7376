/* SPDX-License-Identifier: MIT */
#include "ir/expr/tensor.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/map.h"
#include "support/names.h"
#include "support/text.h"

/* ---- Tensors --------------------------------------------------------------------------------------------------- */

Tensor *tensor_new(Ctx *cx, const char *tensor_name, DType t, int rank, const Expr *const *shape)
{
    if (rank < 0 || rank > MAX_RANK) {
        diag_unsupported(cx, NULL, "tensor \"%s\" has rank %d; use at most %d", tensor_name, rank, MAX_RANK);
        return NULL;
    }
    Tensor *x = NEW(cx->arena, Tensor);
    x->name = name(cx, tensor_name);
    x->type = t;
    x->rank = rank;
    for (int d = 0; d < rank; d++) x->shape[d] = shape[d];
    x->serial = ctx_serial(cx);
    return x->self = x;
}

Tensor *tensor_stand_in(Ctx *cx, const Tensor *t)
{
    Tensor *x = arena_copy(cx->arena, t, sizeof *t);
    x->producer = NULL;
    x->serial = ctx_serial(cx);
    return x->self = x;
}

Tensor *tensor_new_fixed(Ctx *cx, const char *tensor_name, DType t, int rank, const int64_t *shape)
{
    const Expr *dims[MAX_RANK];
    for (int d = 0; d < rank && d < MAX_RANK; d++) dims[d] = expr_index(cx, shape[d]);
    return tensor_new(cx, tensor_name, t, rank, dims);
}

Tensor *tensor_zeros(Ctx *cx, const char *tensor_name, DType t, int rank, const int64_t *shape, void **data)
{
    Tensor *x = tensor_new_fixed(cx, tensor_name, t, rank, shape);
    *data = NULL;
    if (!x || ctx_failed(cx)) return NULL;
    int64_t bytes = tensor_bytes(x);
    if (bytes < 0) {
        diag_error(cx, NULL, "constant \"%s\" is %s; use numbers as sizes, and fewer than 2^31 elements",
                   tensor_name, tensor_shape_text(cx, x));
        return NULL;
    }
    x->data = *data = arena_alloc(cx->arena, (size_t)bytes);
    return x;
}

Tensor *tensor_constant(Ctx *cx, const char *tensor_name, DType t, int rank, const int64_t *shape, const void *data)
{
    void *own;
    Tensor *x = tensor_zeros(cx, tensor_name, t, rank, shape, &own);
    if (x && data) memcpy(own, data, (size_t)tensor_bytes(x));
    return x;
}

Tensor *tensor_scalar(Ctx *cx, const char *tensor_name, DType t, double v)
{
    Tensor *x = tensor_constant(cx, tensor_name, t, 0, NULL, NULL);
    if (!x) return NULL;
    void *data = arena_alloc(cx->arena, 8);
    Scalar s = { 0 };
    if (dtype_is_float(t)) s.f = v;
    else s.i = dtype_integer(t, v);
    dtype_store(t, data, 0, s);
    x->data = data;
    return x;
}

bool tensor_is_constant(const Tensor *t) { return t->data != NULL; }

bool tensor_is_integer(const Tensor *t, int64_t v)
{
    return t && tensor_is_constant(t) && dtype_load(t->type, t->data, 0).i == v;
}

int64_t tensor_dim(const Tensor *t, int axis)
{
    return t->shape[axis]->kind == EXPR_INT ? t->shape[axis]->integer : -1;
}

bool tensor_is_fixed(const Tensor *t)
{
    for (int d = 0; d < t->rank; d++)
        if (tensor_dim(t, d) < 0) return false;
    return true;
}

int64_t tensor_elems(const Tensor *t)
{
    int64_t n = 1;
    for (int d = 0; d < t->rank; d++) {
        int64_t dim = tensor_dim(t, d);
        if (dim < 0 || (dim > 0 && n > INT64_MAX / 16 / dim)) return -1;
        n *= dim;
    }
    return n;
}

float *tensor_magnitudes(Ctx *cx, const Tensor *t, int64_t channels)
{
    float *most = NEW_ARRAY(cx->arena, float, channels);
    const float *v = t->data;
    for (int64_t i = 0; i < tensor_elems(t); i++)
        if (fabsf(v[i]) > most[i % channels]) most[i % channels] = fabsf(v[i]);
    return most;
}

int64_t tensor_bytes(const Tensor *t)
{
    int64_t n = tensor_elems(t);
    return n < 0 ? -1 : n * dtype_info(t->type)->bytes;
}

static const char *shape_text(Ctx *cx, const Tensor *t, bool says_what)
{
    Text s = text_new(cx);
    for (int d = 0; d < t->rank; d++) {
        int64_t dim = tensor_dim(t, d);
        const Var *v = expr_as_var(t->shape[d]);
        if (dim >= 0) text_printf(&s, "[%lld]", (long long)dim);
        else text_printf(&s, "[%s]", !v ? "?" : says_what && v->what ? v->what : v->name);
    }
    if (!t->rank) text_add(&s, "[]");
    return text_string(&s);
}

const char *tensor_shape_text(Ctx *cx, const Tensor *t) { return shape_text(cx, t, true); }
const char *tensor_shape_names(Ctx *cx, const Tensor *t) { return shape_text(cx, t, false); }

const char *indices_accepted_text(Ctx *cx, int64_t count)
{
    if (count <= 0) return "use none";
    return text_format(cx, "use %lld to %lld", -(long long)count, (long long)count - 1);
}

const Expr *tensor_read(Ctx *cx, const Tensor *t, const Expr *const *index, int count)
{
    if (!t) return expr_poison(cx);
    if (count != t->rank) {
        diag_error(cx, NULL, "\"%s\" has rank %d but is read with %d indices", t->name, t->rank, count);
        return expr_poison(cx);
    }
    return expr_new(cx, EXPR_READ, t->type, t, index, count);
}

/* ---- Stages and nodes ------------------------------------------------------------------------------------------ */

const Expr *axis_var(Ctx *cx, const char *axis_name, const Expr *extent)
{
    int64_t greatest = extent && extent->kind == EXPR_INT ? extent->integer - 1 : INT32_MAX;
    return expr_new_var(cx, axis_name, VAR_AXIS, I32, 0, greatest);
}

static Stage *stage_of(Ctx *cx, const StageSpec *spec)
{
    Stage *s = NEW(cx->arena, Stage);
    s->name = name(cx, spec->name);
    s->part = spec->part;
    s->call = spec->call;
    s->op = spec->op;
    s->is_result = spec->is_result;
    s->axis_count = spec->axis_count;
    s->axis = arena_copy(cx->arena, spec->axis, (size_t)spec->axis_count * sizeof(Axis));
    while (s->data_count < s->axis_count && s->axis[s->data_count].kind != AXIS_REDUCE) s->data_count++;
    s->out_count = spec->out_count;
    s->value = arena_copy(cx->arena, spec->value, (size_t)spec->out_count * sizeof *s->value);
    s->reducer = spec->reducer;
    s->combiner = spec->combiner;
    s->scatters = spec->scatters;
    if (spec->reducer != REDUCE_NONE) s->init = NEW_ARRAY(cx->arena, const Expr *, s->out_count);
    for (int i = 0; i < s->out_count && s->init; i++)
        s->init[i] = spec->init[i] ? spec->init[i] : stage_identity(cx, s, i);
    s->out = NEW_ARRAY(cx->arena, Tensor *, s->out_count);
    s->serial = ctx_serial(cx);
    return s;
}

StageSpec stage_spec(const Stage *s)
{
    StageSpec spec = { .name = s->name, .part = s->part, .call = s->call, .op = s->op, .is_result = s->is_result,
                       .axis_count = s->axis_count, .out_count = s->out_count, .reducer = s->reducer,
                       .combiner = s->combiner, .scatters = s->scatters };
    for (int a = 0; a < s->axis_count; a++) spec.axis[a] = s->axis[a];
    for (int i = 0; i < s->out_count; i++) {
        spec.value[i] = s->value[i];
        spec.init[i] = s->init ? s->init[i] : NULL;
    }
    return spec;
}

Stage stage_component(const Stage *s, int i)
{
    Stage one = *s;
    one.out_count = 1;
    one.out += i;
    one.value += i;
    if (one.init) one.init += i;
    return one;
}

Node *compute_new(Ctx *cx, const StageSpec *spec)
{
    for (int i = 0; i < spec->out_count; i++)
        if (ctx_failed(cx) || !spec->value[i] || spec->value[i]->kind == EXPR_POISON) return NULL;
    const ReducerInfo *reducer = spec->combiner ? &spec->combiner->info : reducer_info(spec->reducer);
    if ((reducer->components > 1 || spec->combiner) && spec->out_count != reducer->components) {
        diag_error(cx, NULL, "%s has %d results, not %d", reducer->spelling, reducer->components, spec->out_count);
        return NULL;
    }
    Stage *s = stage_of(cx, spec);
    for (int a = s->data_count; a < s->axis_count; a++)
        if (s->axis[a].kind != AXIS_REDUCE) {
            diag_internal(cx, s->name, "a data axis follows a reduce axis");
            return NULL;
        }
    Node *n = NEW(cx->arena, Node);
    n->kind = NODE_COMPUTE;
    n->from = cx->from;
    n->name = s->name;
    n->stage = s;
    n->serial = ctx_serial(cx);
    n->out_count = s->out_count;
    n->out = s->out;
    const Expr *shape[MAX_AXES];
    for (int a = 0; a < s->data_count; a++) shape[a] = s->axis[a].extent;
    for (int i = 0; i < s->out_count; i++) {
        const char *out_name = i ? name_format(cx, "%s_%d", s->name, i) : s->name;
        s->out[i] = tensor_new(cx, out_name, s->value[i]->type, s->data_count, shape);
        if (!s->out[i]) return NULL;
        s->out[i]->producer = n;
        s->out[i]->output = i;
    }
    const Tensor **reads;
    n->in_count = stage_reads(cx, s, &reads);
    n->in = NEW_ARRAY(cx->arena, Tensor *, n->in_count);
    for (int i = 0; i < n->in_count; i++) n->in[i] = reads[i]->self;
    return n;
}

/* The first SHORT tensors are searched linearly; `seen` holds the others. */
enum { SHORT = 8 };
typedef struct ReadList { Ctx *cx; Map seen; int count, capacity; const Tensor **at; } ReadList;

static bool is_noted(const ReadList *r, const Tensor *t)
{
    for (int i = 0; i < r->count && i < SHORT; i++)
        if (r->at[i] == t) return true;
    return r->count > SHORT && map_get_ptr(&r->seen, t);
}

static void note_read(const Expr *e, void *user)
{
    ReadList *r = user;
    if (e->kind != EXPR_READ || is_noted(r, e->ref)) return;
    if (r->count >= SHORT) map_put_ptr(&r->seen, e->ref, r);
    if (r->count == r->capacity) {
        const Tensor **more = NEW_ARRAY(r->cx->arena, const Tensor *, r->capacity = r->capacity ? 2 * r->capacity : 2);
        if (r->count) memcpy(more, r->at, (size_t)r->count * sizeof *more);
        r->at = more;
    }
    r->at[r->count++] = e->ref;
}

const ReducerInfo *stage_reducer(const Stage *s) { return s->combiner ? &s->combiner->info : reducer_info(s->reducer); }

const Expr *stage_identity(Ctx *cx, const Stage *s, int i)
{
    return s->combiner ? s->combiner->identity[i] : reducer_identity(cx, s->reducer, s->value[i]->type, i);
}

void stage_combine(Ctx *cx, const Stage *s, const Expr *const *old, const Expr *const *value, const Expr **out)
{
    reducer_combine(cx, s->reducer, s->combiner, s->out_count, old, value, out);
}

bool stage_order_is_free(const Stage *s, bool reassociate)
{
    const ReducerInfo *r = stage_reducer(s);
    bool floats = false;
    for (int i = 0; i < s->out_count; i++) floats = floats || dtype_is_float(s->value[i]->type);
    if (reassociate) return !s->combiner || r->order_free;
    return floats ? r->order_free_on_floats : r->order_free;
}

static bool has_negative_zero(const Tensor *t)
{
    for (int64_t i = 0, n = tensor_elems(t); i < n; i++) {
        double v = dtype_load(t->type, t->data, i).f;
        if (v == 0 && 1 / v < 0) return true;
    }
    return false;
}

/* Returns true if no element is -0. The property holds for a number or a constant without -0, and for a stage that has
 * such a value or a sum that begins at one. */
static bool is_never_negative_zero(const Expr *e)
{
    if (e->kind == EXPR_REAL) return !(e->real == 0 && 1 / e->real < 0);
    if (e->kind == EXPR_SELECT)
        return is_never_negative_zero(e->arg[SELECT_YES]) && is_never_negative_zero(e->arg[SELECT_NO]);
    if (e->kind != EXPR_READ) return false;
    const Tensor *t = e->ref;
    if (tensor_is_constant(t)) return !has_negative_zero(t);
    const Stage *s = t->producer && t->producer->kind == NODE_COMPUTE ? t->producer->stage : NULL;
    if (!s || s->out_count != 1) return false;
    return s->reducer == REDUCE_SUM ? is_never_negative_zero(s->init[0])
                                    : s->reducer == REDUCE_NONE && is_never_negative_zero(s->value[0]);
}

/* Returns true if skipping a combination with the identity preserves every bit. */
static bool skipping_is_exact(const Stage *s)
{
    if (s->combiner) return false;
    return s->reducer != REDUCE_SUM || !dtype_is_float(s->value[0]->type) || is_never_negative_zero(s->init[0]);
}

bool stage_skips(Ctx *cx, const Stage *s, const Expr *value)
{
    if (s->combiner) return false;
    return value == reducer_neutral(cx, s->reducer, value->type, 0, false)
           || (value == reducer_identity(cx, s->reducer, value->type, 0) && skipping_is_exact(s));
}

int stage_depth(const Stage *s)
{
    int deepest = 0;
    for (int i = 0; i < s->out_count; i++)
        if (s->value[i]->depth > deepest) deepest = s->value[i]->depth;
    return deepest;
}

int stage_reads(Ctx *cx, const Stage *s, const Tensor ***out)
{
    ReadList r = { cx, map_new(cx->arena), 0, 0, NULL };
    for (int i = 0; i < s->out_count; i++) {
        expr_walk(cx, s->value[i], note_read, &r);
        if (s->init) expr_walk(cx, s->init[i], note_read, &r);
    }
    *out = r.at;
    return r.count;
}

/* ---- Attributes ------------------------------------------------------------------------------------------------ */

const Attr *node_attr(const Node *n, const char *attr_name)
{
    for (int i = 0; i < n->attr_count; i++)
        if (strcmp(n->attr[i].name, attr_name) == 0) return &n->attr[i];
    return NULL;
}

int64_t node_int(const Node *n, const char *attr_name, int64_t otherwise)
{
    const Attr *a = node_attr(n, attr_name);
    return a && a->kind == ATTR_INT ? a->integer : otherwise;
}

double node_real(const Node *n, const char *attr_name, double otherwise)
{
    const Attr *a = node_attr(n, attr_name);
    return a && a->kind == ATTR_REAL ? a->real : a && a->kind == ATTR_INT ? (double)a->integer : otherwise;
}

const char *node_text(const Node *n, const char *attr_name, const char *otherwise)
{
    const Attr *a = node_attr(n, attr_name);
    return a && a->kind == ATTR_TEXT ? a->text : otherwise;
}

bool node_ints(const Node *n, const char *attr_name, int64_t *out, int count, int64_t otherwise)
{
    const Attr *a = node_attr(n, attr_name);
    for (int i = 0; i < count; i++) out[i] = otherwise;
    if (!a) return true;
    if (a->kind == ATTR_INT && count == 1) {
        out[0] = a->integer;
        return true;
    }
    if (a->kind != ATTR_INTS || a->count != count) return false;
    for (int i = 0; i < count; i++) out[i] = a->ints[i];
    return true;
}

/* ---- Order ------------------------------------------------------------------------------------------------------ */

typedef struct StageOrder { Ctx *cx; Map seen; int count, capacity; Node **at; } StageOrder;

typedef struct TensorVisit { Node *node; int next; struct TensorVisit *below; } TensorVisit;

static TensorVisit *visit(StageOrder *o, Node *n, TensorVisit *below)
{
    if (!n || map_get_ptr(&o->seen, n)) return below;
    map_put_ptr(&o->seen, n, n);
    TensorVisit *v = NEW(o->cx->scratch, TensorVisit);
    *v = (TensorVisit){ n, 0, below };
    return v;
}

static void append(StageOrder *o, Node *n)
{
    if (o->count == o->capacity) {
        Node **more = NEW_ARRAY(o->cx->scratch, Node *, o->capacity = o->capacity ? 2 * o->capacity : 32);
        if (o->count) memcpy(more, o->at, (size_t)o->count * sizeof *more);
        o->at = more;
    }
    o->at[o->count++] = n;
}

/* Collects the nodes on which `last` depends, depth first, producers first. The stack is explicit, because a model may
 * be deeper than the C stack. */
static void collect(StageOrder *o, Node *last)
{
    for (TensorVisit *v = visit(o, last, NULL); v;) {
        if (v->next < v->node->in_count) {
            const Tensor *t = v->node->in[v->next++];
            if (t) v = visit(o, t->producer, v);
        } else {
            append(o, v->node);
            v = v->below;
        }
    }
}

typedef struct Ranked { uint32_t rank; int place; Node *node; } Ranked;

static int by_rank(const void *a, const void *b)
{
    const Ranked *x = a, *y = b;
    if (x->rank != y->rank) return x->rank < y->rank ? -1 : 1;
    return x->place - y->place;
}

/* Keeps the model's order wherever it is valid. A node's rank is the maximum of its serial and its producers' ranks.
 * Sorting by rank, then by depth-first position, puts producers first. */
int dag_order(Ctx *cx, Tensor *const *outputs, int count, Node ***out)
{
    const ArenaMark mark = arena_mark(cx->scratch);
    StageOrder o = { cx, map_new(cx->scratch), 0, 0, NULL };
    for (int i = 0; i < count; i++)
        if (outputs[i]) collect(&o, outputs[i]->producer);
    Ranked *r = NEW_ARRAY(cx->scratch, Ranked, o.count);
    Map rank_of = map_new(cx->scratch);
    for (int i = 0; i < o.count; i++) {
        r[i] = (Ranked){ o.at[i]->serial, i, o.at[i] };
        for (int j = 0; j < o.at[i]->in_count; j++) {
            const Tensor *t = o.at[i]->in[j];
            const Ranked *producer = t && t->producer ? map_get_ptr(&rank_of, t->producer) : NULL;
            if (producer && producer->rank > r[i].rank) r[i].rank = producer->rank;
        }
        map_put_ptr(&rank_of, o.at[i], &r[i]);
    }
    qsort(r, (size_t)o.count, sizeof *r, by_rank);
    *out = NEW_ARRAY(cx->arena, Node *, o.count);
    for (int i = 0; i < o.count; i++) (*out)[i] = r[i].node;
    arena_reset(cx->scratch, mark);
    return o.count;
}
