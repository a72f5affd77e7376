/* SPDX-License-Identifier: MIT */
/* Evaluates one compute after another, each tensor whole, one element at a time: loops over the data axes, and inside
 * them loops over the reduce axes in order. Ordered axes are outermost, so a recurrence finds its earlier elements.
 * Speed is not a goal.
 *
 * Tensors in the environment are given. Intermediate tensors are owned by the call, so a second call with other inputs
 * never reads results of the first. Only the outputs are entered into the environment. */

/* Decision: one definition of exp. The emitted C, the evaluator and the constant folder share `runtime/lw_math.h`.
 * With a separate definition in the interpreter, "the same bits everywhere" would depend on two texts that must agree.
 * `runtime/lw_fixed.h` and `runtime/lw_random.h` are shared as well: these three headers are the only includes of
 * `runtime/` by the compiler. */
#include "ir/interpret/evaluate.h"

#include "ir/interpret/point.h"
#include "ir/nest/recurrence.h"
#include "support/map.h"
#include "support/text.h"

/* ---- Sizes in the environment ------------------------------------------------------------------------------------ */

static Scalar no_reads(void *user, const Tensor *t, const int64_t *index)
{
    Scalar zero = { 0 };
    (void)index;
    diag_internal(user, NULL, "a size depends on the elements of \"%s\"", t->name);
    return zero;
}

int64_t env_eval_size(Ctx *cx, const Env *e, const Expr *size)
{
    if (ctx_failed(cx) || !size) return 0;
    if (size->kind == EXPR_INT) return size->integer;
    Point *p = point_new(cx, no_reads, cx);
    return point_value(p, point_site_in(p, e, size)).i;
}

int64_t env_elems(Ctx *cx, const Env *e, const Tensor *t)
{
    int64_t n = 1;
    for (int d = 0; d < t->rank; d++) {
        int64_t dim = env_eval_size(cx, e, t->shape[d]);
        if (dim < 0 || (dim > 0 && n > INT32_MAX / dim)) {
            diag_error(cx, text_format(cx, "tensor \"%s\"", t->name),
                       "dimension %d of %s is %lld; use 0 or more, and less than 2^31 elements in all", d,
                       tensor_shape_text(cx, t), (long long)dim);
            return 0;
        }
        n *= dim;
    }
    return n;
}

void *env_alloc(Ctx *cx, Env *e, const Tensor *t)
{
    int64_t elems = env_elems(cx, e, t);
    void *data = arena_array(env_arena(e), (size_t)elems, (size_t)dtype_info(t->type)->bytes);
    env_set(e, t, data);
    return data;
}

/* ---- Stages ------------------------------------------------------------------------------------------------------ */

/* The data of a tensor during one evaluation. */
typedef struct Held {
    const void *data;
    void *own;                       /* the writable data; NULL for an input or constant */
    int64_t dim[MAX_RANK];
} Held;

typedef struct Evaluation {
    Ctx *cx;
    Env *env;
    Tensor *const *outputs;
    int output_count;
    Map held;                 /* maps a Tensor to its Held */
    const Stage *stage;       /* the stage that runs, for messages */
} Evaluation;

/* One run of a stage. The axes are in the order of the loops. */
typedef struct Run {
    Evaluation *ev;
    const Stage *stage;
    Point *point;
    /* `order` has the axis of each loop, `extent` the site of each axis's extent. */
    int order[MAX_AXES], extent[MAX_AXES];
    int64_t at[MAX_AXES];                      /* the axes' values */
    Held *out[MAX_COMPONENTS];
    const Expr *old[MAX_COMPONENTS];           /* the accumulators in `combined` */
    /* Sites of the initial values, and of the values combined with `old`. Without a reducer, `combined` is the
     * value. */
    int init[MAX_COMPONENTS], combined[MAX_COMPONENTS];
    bool is_empty, reduces_nothing;            /* true if a data axis, or a reduce axis, has no points */
} Run;

static int64_t flat(const Held *h, int rank, const int64_t *index)
{
    int64_t at = 0;
    for (int d = 0; d < rank; d++) at = at * h->dim[d] + index[d];
    return at;
}

static Scalar read_held(void *user, const Tensor *t, const int64_t *index)
{
    const Evaluation *ev = user;
    Scalar zero = { 0 };
    const Held *h = map_get_ptr(&ev->held, t);
    if (!h) return zero;
    for (int d = 0; d < t->rank; d++)
        if (index[d] < 0 || index[d] >= h->dim[d]) {
            diag_error(ev->cx, text_format(ev->cx, "stage \"%s\"", ev->stage->name),
                       "reads \"%s\" at %s, outside its shape %s", t->name, index_text(ev->cx, t->rank, index),
                       index_text(ev->cx, t->rank, h->dim));
            return zero;
        }
    return dtype_load(t->type, h->data, flat(h, t->rank, index));
}

static void reduce(Run *r, int loop)
{
    const Stage *s = r->stage;
    if (loop < s->axis_count) {
        int axis = r->order[loop];
        int64_t extent = point_value(r->point, r->extent[axis]).i;
        for (int64_t i = 0; i < extent && !ctx_failed(r->ev->cx); i++) {
            point_set_int(r->point, s->axis[axis].var, i);
            reduce(r, loop + 1);
        }
        return;
    }
    Scalar new[MAX_COMPONENTS];
    for (int i = 0; i < s->out_count; i++) new[i] = point_value(r->point, r->combined[i]);
    for (int i = 0; i < s->out_count && r->old[0]; i++) point_set(r->point, r->old[i], new[i]);
    int64_t at = flat(r->out[0], s->data_count, r->at);
    for (int i = 0; i < s->out_count && !r->old[0]; i++) dtype_store(s->out[i]->type, r->out[i]->own, at, new[i]);
}

/* Computes one point of the data axes: out = init, combined with the value at each point of the reduce axes. */
static void element(Run *r)
{
    const Stage *s = r->stage;
    Scalar start[MAX_COMPONENTS];
    point_invalidate(r->point);
    for (int i = 0; i < s->out_count && s->init; i++) start[i] = point_value(r->point, r->init[i]);
    for (int i = 0; i < s->out_count && s->init; i++) point_set(r->point, r->old[i], start[i]);
    if (!r->reduces_nothing) reduce(r, s->data_count);
    int64_t at = flat(r->out[0], s->data_count, r->at);
    for (int i = 0; i < s->out_count && s->init; i++)
        dtype_store(s->out[i]->type, r->out[i]->own, at, point_value(r->point, point_site(r->point, r->old[i])));
}

static void data_loops(Run *r, int loop)
{
    if (loop == r->stage->data_count) {
        element(r);
        return;
    }
    int axis = r->order[loop];
    int64_t extent = point_value(r->point, r->extent[axis]).i;
    for (r->at[axis] = 0; r->at[axis] < extent && !ctx_failed(r->ev->cx); r->at[axis]++) {
        point_set_int(r->point, r->stage->axis[axis].var, r->at[axis]);
        data_loops(r, loop + 1);
    }
}

static void order_axes(Run *r)
{
    const Stage *s = r->stage;
    int n = 0;
    for (int a = 0; a < s->axis_count; a++)
        if (s->axis[a].kind == AXIS_ORDERED) r->order[n++] = a;
    for (int a = 0; a < s->axis_count; a++)
        if (s->axis[a].kind != AXIS_ORDERED) r->order[n++] = a;
}

/* Returns true if one axis has no points. The other axes are then skipped, whatever their extent. */
static bool has_no_points(const Stage *s, int first, int end)
{
    for (int a = first; a < end; a++)
        if (expr_is_const(s->axis[a].extent) && s->axis[a].extent->integer == 0) return true;
    return false;
}

static Held *held_new(Evaluation *ev, const Tensor *t, const void *given, void *own)
{
    Held *h = NEW(ev->cx->arena, Held);
    for (int d = 0; d < t->rank; d++) h->dim[d] = env_eval_size(ev->cx, ev->env, t->shape[d]);
    int64_t elems = env_elems(ev->cx, ev->env, t);
    h->own = given || own ? own : arena_array(ev->cx->arena, (size_t)elems, (size_t)dtype_info(t->type)->bytes);
    h->data = given ? given : h->own;
    map_put_ptr(&ev->held, t, h);
    return h;
}

static Run run_of(Evaluation *ev, const Stage *s)
{
    Run r = { .ev = ev, .stage = s, .point = point_new(ev->cx, read_held, ev) };
    const Expr *combined[MAX_COMPONENTS] = { NULL };
    order_axes(&r);
    r.is_empty = has_no_points(s, 0, s->data_count);
    r.reduces_nothing = has_no_points(s, s->data_count, s->axis_count);
    for (int a = 0; a < s->axis_count; a++) r.extent[a] = point_site_in(r.point, ev->env, s->axis[a].extent);
    for (int i = 0; i < s->out_count; i++) {
        r.out[i] = map_get_ptr(&ev->held, s->out[i]);
        combined[i] = s->value[i];
        if (s->init) r.old[i] = expr_new_var(ev->cx, "old", VAR_LOCAL, s->out[i]->type, 0, 0);
    }
    if (s->init) stage_combine(ev->cx, s, r.old, s->value, combined);
    for (int i = 0; i < s->out_count; i++) {
        r.combined[i] = point_site_in(r.point, ev->env, combined[i]);
        if (s->init) r.init[i] = point_site_in(r.point, ev->env, s->init[i]);
    }
    return r;
}

static void run_stage(Evaluation *ev, const Stage *s)
{
    Run r = run_of(ev, s);
    ev->stage = s;
    if (!r.is_empty) data_loops(&r, 0);
}

/* Runs mutually dependent stages step by step. */
static void run_steps(Evaluation *ev, Node *const *node, int count)
{
    Run *run = NEW_ARRAY(ev->cx->arena, Run, count);
    for (int i = 0; i < count; i++) run[i] = run_of(ev, node[i]->stage);
    int64_t steps = env_eval_size(ev->cx, ev->env, node[0]->stage->axis[0].extent);
    for (int64_t t = 0; t < steps; t++)
        for (int i = 0; i < count && !ctx_failed(ev->cx); i++) {
            ev->stage = node[i]->stage;
            run[i].at[0] = t;
            point_set_int(run[i].point, node[i]->stage->axis[0].var, t);
            if (!run[i].is_empty) data_loops(&run[i], 1);
        }
}

/* ---- The DAG ----------------------------------------------------------------------------------------------------- */

static bool is_output(const Evaluation *ev, const Tensor *t)
{
    for (int i = 0; i < ev->output_count; i++)
        if (ev->outputs[i] == t) return true;
    return false;
}

static void need(Evaluation *ev, const Tensor *t);

static bool is_one_of(const Node *n, Node *const *list, int count)
{
    for (int i = 0; i < count; i++)
        if (list[i] == n) return true;
    return false;
}

static void hold_outputs(Evaluation *ev, const Stage *s)
{
    for (int i = 0; i < s->out_count; i++) {
        void *own = is_output(ev, s->out[i]) ? env_storage(ev->env, s->out[i]) : NULL;
        held_new(ev, s->out[i], NULL, own);
    }
}

/* Computes the node, together with the other nodes of its recurrence. */
static void make(Evaluation *ev, Node *n)
{
    if (!n->stage) {
        diag_internal(ev->cx, n->name, "only computes can be evaluated: expand calls first");
        return;
    }
    Node **all;
    int count = recurrence_of(ev->cx, n, &all);
    for (int i = 0; i < count; i++) hold_outputs(ev, all[i]->stage);
    for (int i = 0; i < count; i++) {
        const Tensor **reads;
        int read_count = stage_reads(ev->cx, all[i]->stage, &reads);
        for (int r = 0; r < read_count; r++)
            if (!is_one_of(reads[r]->producer, all, count)) need(ev, reads[r]);
    }
    if (ctx_failed(ev->cx)) return;
    if (count == 1) run_stage(ev, n->stage);
    else run_steps(ev, all, count);
}

static void need(Evaluation *ev, const Tensor *t)
{
    if (ctx_failed(ev->cx) || map_get_ptr(&ev->held, t)) return;
    const void *given = env_get(ev->env, t);
    if (given && (!t->producer || !is_output(ev, t))) held_new(ev, t, given, NULL);
    else if (t->producer) make(ev, t->producer);
    else diag_error(ev->cx, NULL, "the input \"%s\" has no data; use a value for each input", t->name);
}

bool evaluate(Ctx *cx, Env *e, Tensor *const *outputs, int count)
{
    Evaluation ev = { cx, e, outputs, count, map_new(cx->arena), NULL };
    for (int i = 0; i < count && !ctx_failed(cx); i++) {
        need(&ev, outputs[i]);
        const Held *h = map_get_ptr(&ev.held, outputs[i]);
        if (ctx_failed(cx) || outputs[i]->data) continue;
        if (h->own) env_set(e, outputs[i], h->own);
        else env_set_const(e, outputs[i], h->data);
    }
    return !ctx_failed(cx);
}
