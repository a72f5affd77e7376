/* SPDX-License-Identifier: MIT */
/* pad: a stage computes extra points along one axis, up to a multiple, so that loops over the axis divide without a
 * guard:
 *
 *   t[i < 10] = f(i)      =>      t[i < 12] = f(i) if i < 10, else 0          (a multiple of 4)
 *
 * Consumers read the same points as before, so the slack reaches no value that is read. The condition keeps the stage's
 * own reads within its tensors. The condition is dropped where the tensors are long enough: a stage computed from
 * padded stages has no condition. A reader that was padded before it loses its condition if the slack, 0, gives the
 * same value. In the slack a reduction yields the identity. The stage keeps its place, with fresh loops.
 *
 * Along a reduce axis the slack is also combined, with a value that changes nothing: select(k < 11, v, 0). The tensors
 * stay. */
#include <string.h>

#include "schedule/draft/attach.h"
#include "schedule/draft/margin.h"
#include "support/names.h"

static int axis_called(const Stage *s, const char *axis)
{
    for (int a = 0; a < s->axis_count; a++)
        if (strcmp(expr_as_var(s->axis[a].var)->name, axis) == 0) return a;
    return -1;
}

/* ---- Reads of the slack ----------------------------------------------------------------------------------------- */

typedef struct PaddedReads { Ctx *cx; const Bounds *scope; bool inside; } PaddedReads;

static void visit_read(const Expr *e, void *user)
{
    PaddedReads *r = user;
    if (e->kind != EXPR_READ) return;
    const Tensor *t = e->ref;
    for (int d = 0; d < e->arg_count && r->inside; d++)
        r->inside = provably(r->cx, expr_binary(r->cx, EXPR_LT, e->arg[d], t->shape[d]), r->scope) &&
                    provably(r->cx, expr_binary(r->cx, EXPR_LE, expr_index(r->cx, 0), e->arg[d]), r->scope);
}

/* Returns true if all reads of the stage are in range, even without their conditions. */
static bool reads_stay_inside(Ctx *cx, const StageSpec *spec)
{
    PaddedReads r = { cx, NULL, true };
    for (int a = 0; a < spec->axis_count; a++)
        r.scope = bounds_var(cx, r.scope, spec->axis[a].var, spec->axis[a].extent);
    for (int i = 0; i < spec->out_count; i++) {
        expr_walk(cx, spec->value[i], visit_read, &r);
        if (spec->init[i]) expr_walk(cx, spec->init[i], visit_read, &r);
    }
    return r.inside;
}

/* ---- The padded stage ------------------------------------------------------------------------------------------ */

static const Stage *padded_stage(Ctx *cx, const Stage *s, int axis, const Expr *extent)
{
    StageSpec spec = stage_spec(s);
    const Expr *from = s->axis[axis].var, *v = axis_var(cx, expr_as_var(from)->name, extent);
    spec.axis[axis] = (Axis){ v, AXIS_DATA, extent };
    for (int a = axis + 1; a < s->axis_count; a++)
        spec.axis[a].extent = expr_substitute(cx, s->axis[a].extent, &from, &v, 1);
    for (int i = 0; i < s->out_count; i++) {
        spec.value[i] = expr_substitute(cx, s->value[i], &from, &v, 1);
        if (s->init) spec.init[i] = expr_substitute(cx, s->init[i], &from, &v, 1);
    }
    const Expr *needed = expr_binary(cx, EXPR_LT, v, s->axis[axis].extent);
    for (int i = 0; i < s->out_count && !reads_stay_inside(cx, &spec); i++) {
        DType type = spec.value[i]->type;
        const Expr *slack = s->init && !s->combiner ? reducer_identity(cx, s->reducer, type, i) : expr_int(cx, type, 0);
        spec.value[i] = expr_select(cx, needed, spec.value[i], slack);
        if (s->init) spec.init[i] = expr_select(cx, needed, spec.init[i], slack);
    }
    Node *n = compute_new(cx, &spec);
    return n ? n->stage : NULL;
}

/* Returns the value that does not change any bit of the stage's accumulator. */
static const Expr *neutral(Ctx *cx, const Stage *s, int component)
{
    const DType type = s->value[component]->type;
    if (s->combiner) return s->combiner->identity[component];
    const bool begins_at_identity = s->init[component] == reducer_identity(cx, s->reducer, type, component);
    return reducer_neutral(cx, s->reducer, type, component, begins_at_identity);
}

/* Returns the stage of the same tensors with a longer reduce axis. */
static const Stage *longer_reduction(Ctx *cx, const Stage *s, int axis, const Expr *extent)
{
    Stage *copy = arena_copy(cx->arena, s, sizeof *s);
    const Expr *from = s->axis[axis].var, *v = axis_var(cx, expr_as_var(from)->name, extent);
    const Expr *counts = expr_binary(cx, EXPR_LT, v, s->axis[axis].extent);
    copy->axis = arena_copy(cx->arena, s->axis, (size_t)s->axis_count * sizeof *s->axis);
    copy->axis[axis] = (Axis){ v, AXIS_REDUCE, extent };
    copy->value = NEW_ARRAY(cx->arena, const Expr *, s->out_count);
    for (int i = 0; i < s->out_count; i++)
        copy->value[i] = expr_select(cx, counts, expr_substitute(cx, s->value[i], &from, &v, 1), neutral(cx, s, i));
    return copy;
}

typedef struct PadRedirect { const Stage *from, *to; } PadRedirect;

static const Expr *redirect_read(Ctx *cx, const Expr *e, void *user)
{
    const PadRedirect *r = user;
    for (int i = 0; e->kind == EXPR_READ && i < r->from->out_count; i++)
        if (e->ref == r->from->out[i]) return tensor_read(cx, r->to->out[i], e->arg, e->arg_count);
    return e;
}

/* Returns true if a combination with `from` as the second tuple changes nothing. `from` is the identity of a reducer
 * that is declared associative. For another reducer, `from` is the first value of reductions, and the identity is
 * proved here. In floats the combination may round. */
static bool has_exact_identity(Ctx *cx, const Stage *s)
{
    const Combiner *own = s->combiner;
    for (int i = 0; i < s->out_count; i++)
        if (!own->identity[i] || dtype_is_float(s->value[i]->type)) return false;
    for (int i = 0; i < s->out_count && !own->associates; i++) {
        const Expr *combined = expr_substitute(cx, own->combined[i], own->value, own->identity, s->out_count);
        if (simplify(cx, combined, NULL) != own->old[i]) return false;
    }
    return true;
}

static bool may_be_padded(Draft *d, const Stage *s, int axis)
{
    int64_t multiple = d->args.factor[0];
    const char *axis_name = d->args.loop[0];
    if (axis < 0)
        return refuse_invalid(d, FAULT_NAME, "one of its axes", "%s has no axis %s", s->name, axis_name);
    if (multiple < 1 || multiple > INT32_MAX)
        return refuse_invalid(d, FAULT_VALUE, "1 or more", "%s cannot be padded to multiples of %lld", axis_name,
                              (long long)multiple);
    if (stage_is_output(&d->next, s) && s->axis[axis].kind != AXIS_REDUCE)
        return refuse_wrong(d, FAULT_ROLE, text_format(d->cx, "an intermediate stage, as cache_write %s adds", s->name),
                            "%s is an output with a caller-owned shape", s->name);
    if (s->axis[axis].kind == AXIS_REDUCE && s->combiner && !has_exact_identity(d->cx, s))
        return refuse_unproved(d, FAULT_REDUCTION, "a reducer of integers that is declared associative, with `from`",
                               "no value is shown to change nothing in %s, the reducer of %s",
                               stage_reducer(s)->spelling, s->name);
    if (s->axis[axis].kind == AXIS_ORDERED)
        return refuse_unproved(d, FAULT_ROLE, "a data axis", "%s is an ordered axis of %s", axis_name, s->name);
    if (interval_of(d->cx, s->axis[axis].extent, NULL).greatest > INT32_MAX - multiple)
        return refuse_unproved(d, FAULT_EXTENT, "a lower declared bound of the size",
                               "the extent of %s, rounded up, may exceed 32 bits", axis_name);
    return true;
}

/* Returns the value of the slack, or NULL if it is unknown. */
static const Expr *slack_value(const Stage *padded, const Stage *old, int axis)
{
    const Expr *value = padded->value[0], *condition = value->kind == EXPR_SELECT ? value->arg[SELECT_COND] : NULL;
    const bool is_slack = condition && condition->kind == EXPR_LT && condition->arg[0] == padded->axis[axis].var
                          && condition->arg[1] == old->axis[axis].extent;
    return is_slack && padded->out_count == 1 && !padded->init ? value->arg[SELECT_NO] : NULL;
}

/* Replaces the old stage in the list of stages and redirects its consumers. */
static void redirect_readers(Draft *d, const Stage *old, const Stage *padded, int axis)
{
    PadRedirect r = { old, padded };
    Margin m = { .cx = d->cx, .tensor = padded->out[0], .shape = old->out[0]->shape,
                 .value = slack_value(padded, old, axis) };
    draft_replace_stage(d, old, padded);
    for (int i = 0; i < d->next.stage_count; i++) {
        const Stage *s = d->next.stage[i];
        if (s == padded) continue;
        const Stage *redirected = stage_with_values(d->cx, s, redirect_read, &r);
        const bool reads = m.value && stage_consumes(d->cx, redirected, padded);
        draft_replace_stage(d, s, reads ? margin_simplify(&m, redirected) : redirected);
    }
}

static const Buffer *buffer_for(Ctx *cx, const Buffer *old, const Tensor *t)
{
    Buffer *b = arena_copy(cx->arena, old, sizeof *old);
    b->tensor = t;
    return b;
}

const Nest *run_pad(Ctx *cx, const Nest *n, const StepArgs *a)
{
    if (ctx_failed(cx) || !n) return n;
    Draft d = draft_open(cx, n, STEP_pad, a);
    const Stage *s = draft_find_stage(&d, a->target);
    int axis = s ? axis_called(s, a->loop[0]) : -1;
    const char *host = s ? host_of(n, s) : NULL, *stored = s ? alloc_host_of(n, s) : NULL;
    if (!s || !may_be_padded(&d, s, axis) || !nothing_inside(&d, s) || !all_blocks_inside(&d, s, host)) return n;
    const Expr *f = expr_index(cx, a->factor[0]),
               *up = expr_add(cx, s->axis[axis].extent, expr_index(cx, a->factor[0] - 1));
    const Expr *rounded = simplify(cx, expr_mul(cx, expr_binary(cx, EXPR_FLOORDIV, up, f), f), NULL);
    const Buffer *old[MAX_RANK] = { NULL }, *buffer[MAX_RANK] = { NULL };
    if (s->axis[axis].kind == AXIS_REDUCE) {
        const Stage *longer = longer_reduction(cx, s, axis, rounded);
        draft_replace_stage(&d, s, longer);
        take_stage(&d, longer, false, old);
        return put_stage(&d, longer, host, old) ? draft_close(&d) : n;
    }
    const Stage *padded = padded_stage(cx, s, axis, rounded);
    if (!padded) return n;

    take_stage(&d, s, true, old);
    redirect_readers(&d, s, padded, axis);
    for (int i = 0; i < s->out_count; i++) buffer[i] = buffer_for(cx, old[i], padded->out[i]);
    const Buffer *none[MAX_RANK] = { NULL };
    if (!put_stage(&d, padded, host, none)) return n;
    store_stage(&d, padded, stored, buffer);
    return draft_close(&d);
}
