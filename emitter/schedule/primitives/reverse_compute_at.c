/* SPDX-License-Identifier: MIT */
/* reverse_compute_at: a stage is computed inside a loop of its producer; each iteration reads the elements just
 * computed.
 *
 *   for t.io: for t.ii: t        for y.i: y      =>      for t.io: { for t.ii: t;  for y.i < 4: y[io*4 + i] }
 *
 * In one iteration of the loop the producer computes a box, [begin, begin + count) in each dimension. An axis of the
 * consumer that indexes a dimension from its begin gets the box's range; one that indexes it from its end gets the
 * mirror image of that range. The other axes run over their whole extent. Elements read at any other index must be
 * complete before the loop. The producer's reduction must end inside the loop. The checker proves that the boxes cover
 * the stage and that each element is computed before it is read (I1, I3, I6). */
#include <string.h>

#include "schedule/draft/attach.h"

typedef struct Follow {
    Draft *d;
    const Stage *reader, *producer;
    Path path;                       /* the path to the loop */
    int dimension_of[MAX_AXES];      /* maps an axis of the reader to the dimension that it indexes, or -1 */
    bool is_mirrored[MAX_AXES];      /* true if the axis indexes the dimension by extent - 1 - axis */
    Box computed[MAX_AXES];              /* the boxes of the dimensions, then of the reduce axes */
    bool fine;
} Follow;

/* ---- Whom it follows ------------------------------------------------------------------------------------------- */

typedef struct ConsumerSite { const Stage *stage; const Stmt *block; const Bounds *scope; int count; } ConsumerSite;

static void visit_producer(Ctx *cx, const Stmt *block, const Bounds *scope, void *user)
{
    ConsumerSite *s = user;
    (void)cx;
    if (block->stage != s->stage || block->part == BLOCK_INIT) return;
    s->block = block;
    s->scope = scope;
    s->count++;
}

static ConsumerSite site_under(Follow *f, const Stage *s, const Stmt *from)
{
    ConsumerSite site = { s, NULL, NULL, 0 };
    each_block(f->d->cx, from, NULL, visit_producer, &site);
    return site;
}

/* Finds the producer that owns the loop, otherwise the first producer with blocks below the loop. */
static bool find_producer(Follow *f)
{
    const Tensor **reads;
    const Stmt *loop = path_end(&f->path);
    int count = stage_reads(f->d->cx, f->reader, &reads);
    for (int i = 0; i < count; i++) {
        const Stage *s = producer_of(&f->d->next, reads[i]);
        if (!s || !site_under(f, s, loop).count) continue;
        if (!f->producer || loop_is_own(loop, s)) f->producer = s;
    }
    if (f->producer) return true;
    return refuse_wrong(f->d, FAULT_NESTING, "a loop around one of its producers",
                        "no producer of %s is computed under %s", f->reader->name, loop->name);
}

/* Finds the box that an iteration of the loop computes, over the loops inside `loop`. */
static bool find_computed(Follow *f)
{
    Ctx *cx = f->d->cx;
    const Stmt *loop = path_end(&f->path);
    ConsumerSite site = { f->producer, NULL, NULL, 0 };
    each_block(cx, loop->child[0], path_bounds(cx, &f->path), visit_producer, &site);
    if (site.count != 1 || site_under(f, f->producer, f->d->next.root).count != 1)
        return refuse_unproved(f->d, FAULT_PIECES,
                               text_format(f->d->cx, "one block, below %s: take this step before peel", loop->name),
                               "%s has several blocks", f->producer->name);
    const Expr *own[MAX_DEPTH], *extent[MAX_DEPTH];
    Repeats repeats;
    const char *why;
    int n = 0;
    for (const Bounds *b = site.scope; b && b->var != loop->var; b = b->outer) {
        if (!b->var || n == MAX_DEPTH) continue;
        own[n] = b->var;
        extent[n++] = b->extent;
    }
    if (dense(cx, site.block->bind, f->producer->axis_count, NULL, site.scope, own, extent, n, f->computed, &repeats,
              &why))
        return true;
    return refuse_unproved(
        f->d, FAULT_INDEX, text_format(f->d->cx, "loops of %s that are whole inside it", f->producer->name),
        "the points of %s that an iteration of %s computes are not shown to form a box: %s", f->producer->name,
        loop->name, why);
}

/* ---- The box of the consumer ----------------------------------------------------------------------------------- */

/* Returns true if the index is the axis from its end: extent - 1 - axis. An axis of one point counts only as plain. */
static bool mirrors(Ctx *cx, const Expr *index, const Axis *a)
{
    if (expr_is_int(a->extent, 1)) return false;
    const Expr *sum = expr_add(cx, expr_add(cx, index, a->var), expr_index(cx, 1));
    return index->type == a->var->type && expr_is_int(simplify(cx, expr_sub(cx, sum, a->extent), NULL), 0);
}

static void visit_read(const Expr *e, void *user)
{
    Follow *f = user;
    if (e->kind != EXPR_READ || !stage_produces(f->producer, e->ref)) return;
    for (int d = 0; d < e->arg_count && f->fine; d++)
        for (int a = 0; a < f->reader->data_count && f->fine; a++) {
            const bool is_mirrored = mirrors(f->d->cx, e->arg[d], &f->reader->axis[a]);
            if (!is_mirrored && f->reader->axis[a].var != e->arg[d]) continue;
            if (f->dimension_of[a] >= 0 && (f->dimension_of[a] != d || f->is_mirrored[a] != is_mirrored))
                f->fine = refuse_unproved(f->d, FAULT_INDEX, "one dimension per axis",
                                          "%s indexes dimensions %d and %d of %s with the axis %s", f->reader->name,
                                          f->dimension_of[a], d, f->producer->name,
                                          expr_as_var(f->reader->axis[a].var)->name);
            f->dimension_of[a] = d;
            f->is_mirrored[a] = is_mirrored;
        }
}

static bool find_axes(Follow *f)
{
    for (int a = 0; a < MAX_AXES; a++) f->dimension_of[a] = -1;
    f->fine = true;
    for (int i = 0; i < f->reader->out_count; i++) expr_walk(f->d->cx, f->reader->value[i], visit_read, f);
    return f->fine;
}

static bool uses_a_loop(const Expr *e)
{
    const Var *v = expr_as_var(e);
    if (v) return v->role == VAR_LOOP;
    for (int i = 0; i < e->arg_count; i++)
        if (uses_a_loop(e->arg[i])) return true;
    return false;
}

static bool box_of(Follow *f, StageBox *box)
{
    Ctx *cx = f->d->cx;
    const Bounds *scope = path_bounds(cx, &f->path);
    *box = whole_box(f->reader);
    for (int a = 0; a < f->reader->data_count; a++) {
        const Expr *extent = f->reader->axis[a].extent;
        if (f->dimension_of[a] < 0) continue;
        const Box *m = &f->computed[f->dimension_of[a]];
        if (uses_a_loop(m->count))
            return refuse_unproved(
                f->d, FAULT_EXTENT, "a constant count",
                "the number of elements that %s computes along dimension %d differs between iterations of %s",
                f->producer->name, f->dimension_of[a], path_end(&f->path)->name);
        if (expr_is_int(m->begin, 0) && m->count == extent) continue;
        const Expr *end = expr_add(cx, m->begin, m->count),
                   *begin = f->is_mirrored[a] ? simplify(cx, expr_sub(cx, extent, end), scope) : m->begin;
        box->begin[a] = expr_is_int(begin, 0) ? NULL : begin;
        box->count[a] = m->count;
        box->cut[a] = !provably(cx, expr_binary(cx, EXPR_LE, end, extent), scope);
        if (f->is_mirrored[a] && box->cut[a])
            return refuse_unproved(f->d, FAULT_EXTENT, "a whole number of boxes",
                                   "dimension %d of %s, which %s reads from its end, may end inside a box of %s",
                                   f->dimension_of[a], f->producer->name, f->reader->name, path_end(&f->path)->name);
    }
    return true;
}

static bool is_not_inside_itself(Follow *f)
{
    for (int i = 0; i < f->path.depth; i++)
        if (f->path.at[i]->kind == STMT_FOR && loop_is_own(f->path.at[i], f->reader))
            return refuse_wrong(f->d, FAULT_NESTING, "a loop of its producer",
                                "%s is a loop of %s, the stage to move, or inside one", path_end(&f->path)->name,
                                f->reader->name);
    return true;
}

static bool is_outside_the_reduction(Follow *f)
{
    const Stmt *block = site_under(f, f->producer, path_end(&f->path)).block;
    for (int i = 0; i < f->path.depth; i++)
        if (f->path.at[i]->kind == STMT_FOR && feeds_axis(block, f->path.at[i]->var, AXIS_REDUCE))
            return refuse_wrong(f->d, FAULT_REDUCTION, "a loop outside it",
                                "%s runs over a reduce axis of %s, whose value is complete only after the loop",
                                f->path.at[i]->name, f->producer->name);
    return true;
}

const Nest *run_reverse_compute_at(Ctx *cx, const Nest *n, const StepArgs *a)
{
    if (ctx_failed(cx) || !n) return n;
    Draft d = draft_open(cx, n, STEP_reverse_compute_at, a);
    Follow f = { .d = &d, .reader = draft_find_stage(&d, a->target) };
    StageBox box;
    if (!f.reader || !draft_find_loop(&d, &d.args.loop[0], &f.path)) return n;
    if (!is_not_inside_itself(&f) || !find_producer(&f) || !is_outside_the_reduction(&f) || !find_computed(&f)
        || !find_axes(&f) || !box_of(&f, &box) || !nothing_inside(&d, f.reader))
        return n;
    const Buffer *left[MAX_RANK] = { NULL };
    take_stage(&d, f.reader, false, left);
    if (!put_stage_box(&d, f.reader, d.args.loop[0], &box, left)) return n;
    return draft_close(&d);
}
