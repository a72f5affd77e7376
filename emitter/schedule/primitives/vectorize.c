/* SPDX-License-Identifier: MIT */
/* vectorize: the iterations of a data loop become lanes (kinds.c).
 *
 * vectorize LOOP reassociate: the iterations of a reduce loop become lanes. Lanes cannot accumulate into one element,
 * so each lane accumulates a partial result of its own, and a second stage sums these:
 *
 *   y[i] = sum(k) f(i, ko*8 + ki)   =>   for y.i:  y_lanes[i, ki] = sum(ko) f(i, ko*8 + ki), ki a vector loop inside ko
 *                                                  y[i] = sum(ki) y_lanes[i, ki]
 *
 * The step composes rfactor, compute_at, reorder, decompose_reduction and vectorize; each proves its own conditions.
 * The order of the sum changes, so floats require the option. */
#include <string.h>

#include "schedule/draft/attach.h"
#include "support/names.h"

/* The only stage under the loop with a reduce axis that the loop feeds. */
typedef struct Reducing { const Stmt *loop; const Stage *stage; int count; } Reducing;

static void find_reducing(Ctx *cx, const Stmt *block, const Bounds *scope, void *user)
{
    Reducing *r = user;
    (void)cx;
    (void)scope;
    if (!feeds_axis(block, r->loop->var, AXIS_REDUCE)) return;
    r->count++;
    r->stage = block->stage;
}

/* Returns the innermost loop of the stage's block over a data axis, or NULL. */
static const char *innermost_data_loop(const Nest *n, const Stage *s)
{
    Path p;
    if (!nest_find_block(n, s->name, &p)) return NULL;
    for (int i = p.depth - 1; i >= 0; i--)
        if (p.at[i]->kind == STMT_FOR && feeds_axis(path_end(&p), p.at[i]->var, AXIS_DATA)) return p.at[i]->name;
    return NULL;
}

static const Nest *vector_loop(Ctx *cx, const Nest *n, const char *loop)
{
    return vectorize_data_loop(cx, n, &(StepArgs){ .loop = { loop } });
}

/* Puts the lanes inside the reduce loops of the partial results. */
static const Nest *lanes_inside(Ctx *cx, const Nest *n, const char *partial, const char *lanes)
{
    StepArgs order = { .loop_count = 0 };
    Path p;
    if (!nest_find_block(n, partial, &p)) return n;
    for (int i = 0; i < p.depth && order.loop_count < MAX_STEP_LOOPS - 1; i++)
        if (p.at[i]->kind == STMT_FOR && feeds_axis(path_end(&p), p.at[i]->var, AXIS_REDUCE))
            order.loop[order.loop_count++] = p.at[i]->name;
    if (!order.loop_count) return vector_loop(cx, n, lanes);
    order.loop[order.loop_count++] = lanes;
    n = run_reorder(cx, n, &order);
    n = SCHED(cx, n, decompose_reduction, .target = partial, .loop = { order.loop[0] });
    n = vector_loop(cx, n, lanes);
    return vector_loop(cx, n, name_format(cx, "%s" INIT_SUFFIX ".%s", partial, loop_short(lanes)));
}

/* Copies the list. A number of a step above `step` becomes `step`. */
static const ConsumedLoop *consumed_by(Ctx *cx, const ConsumedLoop *list, int step)
{
    const ConsumedLoop *first = NULL, **end = &first;
    for (; list; list = list->older) {
        ConsumedLoop *c = arena_copy(cx->arena, list, sizeof *list);
        if (c->step > step) c->step = step;
        *end = c;
        end = &c->older;
    }
    return first;
}

/* Records one step in place of the composed steps. */
static const Nest *as_one_step(Draft *d, const Nest *composed)
{
    Nest *n = arena_copy(d->cx->arena, composed, sizeof *composed);
    Step *step = NEW_ARRAY(d->cx->arena, Step, d->old->step_count + 1);
    if (d->old->step_count) memcpy(step, d->old->step, (size_t)d->old->step_count * sizeof *step);
    step[d->old->step_count] = draft_step(d);
    n->step = step;
    n->step_count = d->old->step_count + 1;
    n->consumed = consumed_by(d->cx, composed->consumed, n->step_count);
    return n;
}

static const Nest *make_lanes(Draft *d, const Nest *n)
{
    Ctx *cx = d->cx;
    Path p;
    if (!draft_find_loop(d, &d->args.loop[0], &p)) return n;
    Reducing r = { path_end(&p), NULL, 0 };
    each_block(cx, r.loop, NULL, find_reducing, &r);
    if (r.count != 1) {
        refuse_unproved(d, FAULT_PIECES,
                        text_format(d->cx, "a loop over those of one block%s",
                                    r.count ? ": take this step before decompose_reduction and peel"
                                            : ", and other loops without the option reassociate"),
                        "%s runs over reduce axes of %d blocks", r.loop->name, r.count);
        return n;
    }
    const char *stage = r.stage->name, *partial = name_format(cx, "%s_lanes", stage);
    for (int i = 2; nest_stage(n, partial); i++) partial = name_format(cx, "%s_lanes%d", stage, i);
    const char *lanes = name_format(cx, "%s.%s", partial, loop_short(r.loop->name));
    const Nest *next = run_rfactor(
        cx, n, &(StepArgs){ .target = stage, .loop = { r.loop->name }, .name = partial, .reassociate = true });
    const char *host = ctx_failed(cx) ? NULL : innermost_data_loop(next, nest_stage(next, stage));
    if (host) next = SCHED(cx, next, compute_at, .target = partial, .loop = { host });
    for (int i = 0; i < r.stage->out_count && !ctx_failed(cx); i++)
        next = SCHED(cx, next, set_scope, .target = nest_stage(next, partial)->out[i]->name,
                     .scope = scope_builtin(SCOPE_STACK)->name);
    if (ctx_failed(cx) || !nest_find_loop(next, lanes, &p)) return next;      /* a loop of one iteration was dropped */
    return lanes_inside(cx, next, partial, lanes);
}

const Nest *run_vectorize(Ctx *cx, const Nest *n, const StepArgs *a)
{
    if (ctx_failed(cx) || !n) return n;
    if (!a->reassociate) return vectorize_data_loop(cx, n, a);
    Draft d = draft_open(cx, n, STEP_vectorize, a);
    if (a->contract) {
        refuse_invalid(&d, FAULT_VALUE, "reassociate, for a loop over a reduce axis, or contract",
                       "%s has both options", a->loop[0]);
        return n;
    }
    DiagMark mark = diag_mark(cx);
    const Nest *composed = make_lanes(&d, n);
    const Diag *why = diag_rewind(cx, mark);
    if (!why) return as_one_step(&d, composed);
    const Step step = draft_step(&d);
    if (why->refusal) refuse_with(&d, why->refusal);
    else if (why->severity == INTERNAL) diag_internal(cx, step_text(cx, &step), "%s", why->what);
    else diag_error(cx, step_text(cx, &step), "%s", why->what);
    return n;
}
