/* SPDX-License-Identifier: MIT */
/* compute_at: a stage is computed inside a loop of its consumers. Each iteration computes only the points that it
 * reads.
 *
 * The loop must enclose every consumer, because a consumer outside would read only the values of the last iteration. A
 * stage in its naive loops gets new loops over the needed box (attach.c), so attach a stage before you shape it. Points
 * that two iterations read are computed in both, with their whole reduction.
 *
 * A stage that steps shaped at the root keeps its loops, as with `loops=kept`; `loops=new` drops them. The outermost
 * loop then runs over the needed rows; the loops inside a row, and the stages attached to them, do not change. A guard
 * cuts rows beyond the last. A loop that computes a group of R rows per iteration starts at the first needed row, with
 * a trip count that covers all. Where the last group could exceed the last row, all groups begin lower instead, because
 * a group is not cut.
 *
 *   for conv.h < 48: ROW(h)            for y.h:
 *   for y.h: y reads 2h .. 2h+2   =>     for conv.h < 3: ROW(y.h*2 + conv.h)        y */
#include <string.h>

#include "schedule/draft/attach.h"
#include "schedule/draft/rows.h"

static bool is_not_output(Draft *d, const Stage *s)
{
    if (!stage_is_output(&d->next, s)) return true;
    return refuse_unproved(d, FAULT_ROLE,
                           text_format(d->cx, "compute_with %s, which joins its loops with another stage's, or an "
                                       "intermediate stage, as cache_write %s adds", s->name, s->name),
                           "%s is an output and is computed whole at the root", s->name);
}

static bool is_loop_of_another(Draft *d, const Stage *s, const Path *p)
{
    for (int i = 0; i < p->depth; i++)
        if (p->at[i]->kind == STMT_FOR && loop_is_own(p->at[i], s))
            return refuse_wrong(d, FAULT_NESTING, "a loop around its consumers",
                                "%s is a loop of %s itself or inside one", path_end(p)->name, s->name);
    return true;
}

typedef struct Readers { const Stage *producer; int count; const char *first; } Readers;

static void visit_reader(Ctx *cx, const Stmt *block, const Bounds *scope, void *user)
{
    Readers *r = user;
    (void)scope;
    if (!block_reads(cx, block, r->producer)) return;
    if (!r->count++) r->first = block->name;
}

/* Counts the blocks below s that read the producer, except those below `except`. */
static void find_readers(Ctx *cx, const Stmt *s, const Stmt *except, Readers *r)
{
    if (s == except) return;
    if (s->kind == STMT_BLOCK) visit_reader(cx, s, NULL, r);
    for (int i = 0; i < s->child_count; i++) find_readers(cx, s->child[i], except, r);
}

/* Returns the advice for a recurrence, whose own block is a consumer: its consumer joins its loop over the steps. */
static const char *accepted_with_steps(const Draft *d, const Stage *s, const char *consumer)
{
    Path p;
    int i = 0;
    nest_find_block(&d->next, s->name, &p);
    while (i < p.depth - 1 && !(p.at[i]->kind == STMT_FOR && feeds_axis(path_end(&p), p.at[i]->var, AXIS_ORDERED))) i++;
    return text_format(d->cx, "compute_with %s %s %s", consumer, s->name, p.at[i]->name);
}

/* Returns the advice for a consumer outside the loop: a warm-up contains copies only of stages that were attached
 * before it was created. */
static const char *accepted_around(Ctx *cx, const char *reader)
{
    const char *copy = strstr(reader, "@warm");
    if (!copy) return "a loop that encloses all consumers";
    return text_format(cx, "this step before fold_storage %.*s, or fold_storage %.*s warm=guard", (int)(copy - reader),
                       reader, (int)(copy - reader), reader);
}

static bool encloses_all_readers(Draft *d, const Stage *s, const Stmt *loop)
{
    Readers inside = { s, 0, NULL }, outside = { s, 0, NULL };
    find_readers(d->cx, loop, NULL, &inside);
    find_readers(d->cx, d->next.root, loop, &outside);
    if (!inside.count)
        return refuse_wrong(
            d, FAULT_NESTING,
            text_format(d->cx, "a loop around its consumer %s", outside.first ? outside.first : "(it has none)"),
            "nothing under %s reads %s", loop->name, s->name);
    if (outside.count)
        return refuse_wrong(d, FAULT_ORDER,
                            text_equal(outside.first, s->name) ? accepted_with_steps(d, s, inside.first)
                                                               : accepted_around(d->cx, outside.first),
                            "%s reads %s too, outside %s", outside.first, s->name, loop->name);
    return true;
}

static const Nest *compute_anew(Ctx *cx, const Nest *n, const StepArgs *a)
{
    Draft d = draft_open(cx, n, STEP_compute_at, a);
    const Stage *s = draft_find_stage(&d, a->target);
    Path p;
    if (!s || !draft_find_loop(&d, &d.args.loop[0], &p)) return n;
    if (!is_not_output(&d, s) || !is_loop_of_another(&d, s, &p) || !encloses_all_readers(&d, s, path_end(&p)) ||
        !nothing_inside(&d, s) || !producers_are_done(&d, s, &p)) return n;
    if (!move_stage(&d, s, d.args.loop[0])) return n;
    return draft_close(&d);
}

/* ---- With the loops that it has -------------------------------------------------------------------------------- */

/* The stage's loops at the root: loops of one iteration, then the loop over rows. */
typedef struct RowLoops {
    Draft *d;
    const Stage *stage;
    const Stmt *top, *loop;          /* the outermost loop, and the loop over rows */
    int dimension;                   /* the dimension that the rows index */
    int64_t at_once;                 /* rows per iteration of `loop` */
    /* The values that replace the variables of the loops of one iteration. */
    int count; const Expr *from[MAX_DEPTH], *to[MAX_DEPTH];
} RowLoops;

/* Returns the alternative in a refusal. If the step has no option for kept loops, adds loops=new. */
static const char *accepted(const RowLoops *r, const char *alone)
{
    if (r->d->args.loops == LOOPS_KEPT) return alone;
    return text_format(r->d->cx, "%s, or loops=new, which drops the loops of %s", alone, r->stage->name);
}

static bool is_single(const Stmt *s) { return expr_is_int(s->extent, 1); }

static bool find_rows(RowLoops *r, Path *p)
{
    Draft *d = r->d;
    int at = 0;
    nest_find_block(&d->next, r->stage->name, p);
    while (at < p->depth && p->at[at]->kind != STMT_FOR) at++;
    r->top = at < p->depth ? p->at[at] : NULL;
    for (; at < p->depth && p->at[at]->kind == STMT_FOR && loop_is_own(p->at[at], r->stage) && is_single(p->at[at]);
         at++) {
        r->from[r->count] = p->at[at]->var;
        r->to[r->count++] = expr_index(d->cx, 0);
    }
    r->loop = at < p->depth && p->at[at]->kind == STMT_FOR && loop_is_own(p->at[at], r->stage) ? p->at[at] : NULL;
    if (!r->loop)
        return refuse_unproved(d, FAULT_NESTING, accepted(r, "a stage at the root whose outermost loop is its own"),
                               "%s is not inside a loop of its own at the root", r->stage->name);
    if (count_blocks(r->loop, r->stage) == count_blocks(d->next.root, r->stage)) return true;
    return refuse_unproved(d, FAULT_PIECES, accepted(r, "one block: take this step before peel"),
                           "%s also has a block outside %s", r->stage->name, r->loop->name);
}

/* Returns true if the loop runs over the rows of exactly one dimension, by single rows or by row groups. */
static bool find_dimension(RowLoops *r, const Stmt *block)
{
    int moving = 0;
    for (int a = 0; a < r->stage->data_count; a++) {
        if (!expr_uses(block->bind[a], r->loop->var)) continue;
        r->dimension = a;
        moving++;
    }
    r->at_once = moving == 1 ? rows_per_group(r->d->cx, block->bind[r->dimension], r->loop->var) : 0;
    if (r->at_once && r->loop->loop_kind == LOOP_SERIAL) return true;
    return refuse_unproved(r->d, FAULT_EXTENT, accepted(r, "a serial loop over single rows or row groups"),
                           "%s does not run over consecutive rows of %s", r->loop->name, r->stage->name);
}

static const Stmt *guard_block(Ctx *cx, const Stmt *s, void *user)
{
    const Expr *const *guard = user;
    return s->kind == STMT_BLOCK ? stmt_block(cx, s->name, s->stage, s->part, s->bind, conjoin(cx, s->cond, *guard))
        : s;
}

/* Returns the first row of `groups` row groups: the box's first row, or lower where the last group would exceed the
 * stage's last row. Returns NULL if the stage has fewer rows. */
static const Expr *first_row_of_groups(RowLoops *r, const StageBox *box, const Bounds *scope, int64_t groups)
{
    Ctx *cx = r->d->cx;
    const Expr *taken = expr_index(cx, groups * r->at_once), *rows = r->stage->axis[r->dimension].extent,
               *first = box->begin[r->dimension];
    if (provably(cx, expr_binary(cx, EXPR_LE, expr_add(cx, first, taken), rows), scope)) return first;
    if (!provably(cx, expr_binary(cx, EXPR_LE, taken, rows), scope)) return NULL;
    return first_row(cx, first, expr_sub(cx, rows, taken), scope);
}

/* Returns the loops over the rows of the box, below the host loop. */
static const Stmt *rows_of_box(RowLoops *r, const StageBox *box, const Path *host)
{
    Ctx *cx = r->d->cx;
    const int64_t groups = (box->count[r->dimension]->integer + r->at_once - 1) / r->at_once;
    const Expr *extent = expr_index(cx, groups), *v = loop_var_new(cx, r->loop->name, extent),
               *rows = r->stage->axis[r->dimension].extent;
    const Bounds *outside = path_bounds(cx, host), *scope = bounds_var(cx, outside, v, extent);
    const Expr *first = r->at_once == 1 ? box->begin[r->dimension] : first_row_of_groups(r, box, outside, groups);
    if (!first) {
        refuse_unproved(r->d, FAULT_EXTENT, accepted(r, "a stage with more rows"),
                        "%s computes %lld rows at once, and %s is not shown to have as many", r->loop->name,
                        (long long)(groups * r->at_once), r->stage->name);
        return NULL;
    }
    const Expr *row = expr_add(cx, first, expr_mul(cx, v, expr_index(cx, r->at_once)));
    const Stmt *body = body_of_group(cx, r->loop->child[0], scope, r->loop->var, r->at_once, row, r->from, r->to,
                                     r->count);
    if (!body) {
        refuse_unproved(r->d, FAULT_INDEX, accepted(r, "indices over the first row of a group"),
                        "an index of %s in %s depends on the number of the row group", r->loop->name, r->stage->name);
        return NULL;
    }
    if (r->at_once == 1 && box->cut[r->dimension]) {
        const Expr *guard = expr_binary(cx, EXPR_LT, row, rows);
        body = stmt_rewrite(cx, body, guard_block, &guard);
    }
    return stmt_for(cx, r->loop->name, v, extent, LOOP_SERIAL, body);
}

static const Stmt *drop_part(Ctx *cx, const Stmt *s, void *user)
{
    const Stmt *const *part = user;
    (void)cx;
    if (s == *part) return NULL;
    return s->kind == STMT_SEQ && s->child_count == 0 ? NULL : s;
}

static bool move_rows(RowLoops *r, const char *loop)
{
    Ctx *cx = r->d->cx;
    Nest *n = &r->d->next;
    Path host;
    if (!nest_find_loop(n, loop, &host)) return false;
    StageBox box = needed_box(cx, r->stage, &host);
    if (!box.begin[r->dimension] || !is_constant(box.count[r->dimension]))
        return refuse_unproved(r->d, FAULT_EXTENT,
                               accepted(r, "reads of a fixed number of rows that moves along with the loop"),
                               "%s is not shown to read only some rows of %s in an iteration", loop, r->stage->name);
    const Stmt *part = rows_of_box(r, &box, &host);
    if (!part) return false;
    n->root = stmt_rewrite(cx, n->root, drop_part, &r->top);
    if (!nest_find_loop(n, loop, &host)) return false;
    const Stmt *body = with_nest(cx, path_end(&host)->child[0], r->stage, part);
    n->root = path_replace(cx, &host, stmt_with_children(cx, path_end(&host), &body, 1));
    r->d->successors = r->loop->name;
    return true;
}

static const Nest *compute_rows(Ctx *cx, const Nest *n, const StepArgs *a)
{
    Draft d = draft_open(cx, n, STEP_compute_at, a);
    RowLoops r = { .d = &d, .stage = draft_find_stage(&d, a->target) };
    Path p, own;
    if (!r.stage || !draft_find_loop(&d, &d.args.loop[0], &p)) return n;
    if (!is_not_output(&d, r.stage) || !is_loop_of_another(&d, r.stage, &p)
        || !encloses_all_readers(&d, r.stage, path_end(&p)) || !find_rows(&r, &own)
        || !find_dimension(&r, path_end(&own)))
        return n;
    if (!move_rows(&r, d.args.loop[0])) return n;
    return draft_close(&d);
}

/* Returns true if the block is in the stage's naive loops: one per axis, in order, with nothing else inside. */
static bool is_naive(const Path *p, const Stage *s)
{
    const Stmt *block = path_end(p);
    int axis = 0;
    for (int i = 0; i < p->depth; i++) {
        const Stmt *l = p->at[i];
        if (l->kind == STMT_SEQ && axis) return false;
        if (l->kind != STMT_FOR) continue;
        const Var *v = expr_as_var(l->var);
        if (axis == s->axis_count || block->bind[axis++] != l->var || l->loop_kind != LOOP_SERIAL || v->hints)
            return false;
    }
    return axis == s->axis_count && block->part == BLOCK_WHOLE && !block->cond;
}

/* Returns true if steps have changed the stage's own loops at the root. */
static bool is_shaped(const Nest *n, const char *stage)
{
    const Stage *s = nest_stage(n, stage);
    Path p;
    if (!s || !nest_find_block(n, s->name, &p)) return false;
    for (int i = 0; i < p.depth; i++)
        if (p.at[i]->kind == STMT_FOR) return loop_is_own(p.at[i], s) && !is_naive(&p, s);
    return false;
}

const Nest *run_compute_at(Ctx *cx, const Nest *n, const StepArgs *a)
{
    if (ctx_failed(cx) || !n) return n;
    const bool keeps = a->loops == LOOPS_KEPT || (a->loops == LOOPS_AS_SHAPED && is_shaped(n, a->target));
    return keeps ? compute_rows(cx, n, a) : compute_anew(cx, n, a);
}
