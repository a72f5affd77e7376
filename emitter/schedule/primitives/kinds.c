/* SPDX-License-Identifier: MIT */
/* unroll, vectorize, parallel: the kind of a loop. No kind changes the meaning of a nest; each has a condition (I5):
 *   unroll     the extent is constant; by=N splits first, and peels the remainder
 *   vectorize  the same, and the loop feeds data axes only: lanes of a reduction would accumulate into one element
 *              (vectorize.c gives each lane its own)
 *   parallel   the loop feeds data axes only; the checker proves that its iterations store disjoint elements */
#include <string.h>

#include "schedule/draft/draft.h"
#include "support/names.h"

/* The largest number of unrolled copies that the step accepts. */
enum { MOST_COPIES = 4096 };

static bool has_constant_extent(Draft *d, const Stmt *loop)
{
    if (!is_constant(loop->extent))
        return refuse_unproved(d, FAULT_EXTENT, "the inner loop of a split by a constant factor",
                               "the extent of %s is not constant", loop->name);
    if (loop->extent->integer > MOST_COPIES)
        return refuse_too_large(d, FAULT_LIMIT,
                                text_format(d->cx, "up to %d: split it and use the inner loop", MOST_COPIES),
                                "%s has %lld iterations", loop->name, (long long)loop->extent->integer);
    return true;
}

typedef struct Feeds { Draft *d; const Stmt *loop; bool fine; } Feeds;

static void visit_feeds(Ctx *cx, const Stmt *block, const Bounds *scope, void *user)
{
    Feeds *f = user;
    (void)cx;
    (void)scope;
    const char *also = f->d->row->kind == STEP_vectorize ? ", or add the option reassociate" : "";
    if (feeds_axis(block, f->loop->var, AXIS_REDUCE))
        f->fine = refuse_wrong(
            f->d, FAULT_REDUCTION, text_format(f->d->cx, "a loop over data axes%s", also),
            "%s runs over a reduce axis of %s, so its iterations would combine into the same element at once",
            f->loop->name, block->name);
    else if (feeds_axis(block, f->loop->var, AXIS_ORDERED))
        f->fine = refuse_wrong(f->d, FAULT_ROLE, "a loop over data axes",
                               "%s runs over an ordered axis of %s, each point of which depends on the previous one",
                               f->loop->name, block->name);
}

static bool feeds_data_axes_only(Draft *d, const Stmt *loop)
{
    Feeds f = { d, loop, true };
    each_block(d->cx, loop, NULL, visit_feeds, &f);
    return f.fine;
}

typedef bool Allowed(Draft *d, const Stmt *loop);

static bool may_unroll(Draft *d, const Stmt *loop) { return has_constant_extent(d, loop); }
static bool may_vectorize(Draft *d, const Stmt *loop)
{
    return feeds_data_axes_only(d, loop) && has_constant_extent(d, loop);
}
static bool may_be_parallel(Draft *d, const Stmt *loop) { return feeds_data_axes_only(d, loop); }

static void visit_contracted(Ctx *cx, const Stmt *block, const Bounds *scope, void *user)
{
    (void)scope;
    if (block->stage->contracts) return;
    Stage *s = arena_copy(cx->arena, block->stage, sizeof *s);
    s->contracts = true;
    draft_replace_stage(user, block->stage, s);
}

static const Nest *set_kind(Ctx *cx, const Nest *n, StepKind step, const StepArgs *args, LoopKind kind,
                            Allowed *allowed)
{
    if (ctx_failed(cx) || !n) return n;
    Draft d = draft_open(cx, n, step, args);
    Path p;
    if (!draft_find_loop(&d, &d.args.loop[0], &p) || !allowed(&d, path_end(&p))) return n;
    const Stmt *s = path_end(&p);
    d.next.root = path_replace(cx, &p, stmt_for(cx, s->name, s->var, s->extent, kind, s->child[0]));
    if (args->contract) each_block(cx, s, NULL, visit_contracted, &d);
    return draft_close(&d);
}

const Nest *vectorize_data_loop(Ctx *cx, const Nest *n, const StepArgs *a)
{
    return set_kind(cx, n, STEP_vectorize, a, LOOP_VECTOR, may_vectorize);
}

const Nest *run_parallel(Ctx *cx, const Nest *n, const StepArgs *a)
{
    return set_kind(cx, n, STEP_parallel, a, LOOP_PARALLEL, may_be_parallel);
}

/* ---- In part --------------------------------------------------------------------------------------------------- */

/* Restores serial loops in the remainder where the extent is not constant. */
static const Stmt *keep_fixed_loops(Ctx *cx, const Stmt *s, void *user)
{
    (void)user;
    bool varies = s->kind == STMT_FOR && s->loop_kind == LOOP_UNROLLED && !is_constant(s->extent);
    return varies ? stmt_for(cx, s->name, s->var, s->extent, LOOP_SERIAL, s->child[0]) : s;
}

static const Nest *unroll_by(Ctx *cx, const Nest *n, const StepArgs *a)
{
    const int64_t copies = a->factor[0];
    Draft d = draft_open(cx, n, STEP_unroll, a);
    Path p;
    if (copies > MOST_COPIES)
        refuse_too_large(&d, FAULT_LIMIT, text_format(cx, "up to %d", MOST_COPIES),
                         "%lld copies of an iteration of %s are too many", (long long)copies, d.args.loop[0]);
    if (ctx_failed(cx) || !draft_split(&d, &d.args.loop[0], copies, NULL, NULL)) return n;
    const char *outer = name_format(cx, "%so", d.args.loop[0]), *inner = name_format(cx, "%si", d.args.loop[0]);
    if (!nest_find_loop(&d.next, inner, &p)) return n;
    const Stmt *s = path_end(&p);
    d.next.root = path_replace(cx, &p, stmt_for(cx, s->name, s->var, s->extent, LOOP_UNROLLED, s->child[0]));
    if (a->contract) each_block(cx, s, NULL, visit_contracted, &d);
    if (!draft_peel(&d, &outer)) return n;
    d.next.root = stmt_rewrite(cx, d.next.root, keep_fixed_loops, NULL);
    return draft_close(&d);
}

const Nest *run_unroll(Ctx *cx, const Nest *n, const StepArgs *a)
{
    if (ctx_failed(cx) || !n) return n;
    return a->factor[0] ? unroll_by(cx, n, a) : set_kind(cx, n, STEP_unroll, a, LOOP_UNROLLED, may_unroll);
}
