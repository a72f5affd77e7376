/* SPDX-License-Identifier: MIT */
/* decompose_reduction: a reducing block stores `init` where its reduce axes are 0 and then combines. It becomes two
 * blocks:
 *
 *   for i: for w: conv              for w: conv@init             stores init
 *                          =>       for i: for w: conv           only combines
 *
 * The init nest precedes the named loop, and copies this loop and the inner ones if they feed data axes. The named loop
 * must enclose every reduce loop of the stage, or the init would reset a reduction in progress. Each loop must feed
 * data axes or reduce axes but not both, or the init would skip points. */
#include "schedule/draft/draft.h"
#include "support/names.h"

/* Finds the path to the first block of that name. The block must reduce and still have its init. */
static bool find_whole_block(Draft *d, const char *block, Path *p)
{
    if (!nest_find_block(&d->next, block, p)) {
        draft_find_stage(d, block);
        return ctx_failed(d->cx) ? false
                                 : refuse_invalid(d, FAULT_NAME, "the name of a stage, or of a copy of one",
                                                  "there is no block %s", block);
    }
    const Stmt *b = path_end(p);
    if (b->stage->reducer == REDUCE_NONE)
        return refuse_wrong(d, FAULT_REDUCTION, "a reducing stage", "%s does not reduce, so it has no init", block);
    if (b->part != BLOCK_WHOLE)
        return refuse_wrong(d, FAULT_REDUCTION, "a block with its init", "the init of %s is a block already", block);
    return true;
}

/* Returns true if the block contains the instance that stores the init, because all reduce axes are 0 in the first
 * iteration of its loops. The remainder of a reduction cut in two does not contain it. */
static bool begins_the_reduction(Draft *d, const Path *p)
{
    const Stmt *block = path_end(p);
    const Expr *var[MAX_DEPTH], *zero[MAX_DEPTH];
    int n = 0;
    for (int i = 0; i < p->depth; i++) {
        if (p->at[i]->kind != STMT_FOR) continue;
        var[n] = p->at[i]->var;
        zero[n++] = expr_index(d->cx, 0);
    }
    for (int a = block->stage->data_count; a < block->stage->axis_count; a++)
        if (!expr_is_int(simplify(d->cx, expr_substitute(d->cx, block->bind[a], var, zero, n), NULL), 0))
            return refuse_wrong(
                d, FAULT_REDUCTION, "the copy that begins",
                "%s continues reductions that another copy of %s begins, and an init would reset them", block->name,
                block->stage->name);
    return true;
}

typedef struct Copies { const Stmt *block; const char *other; } Copies;

static void visit_copy(Ctx *cx, const Stmt *block, const Bounds *scope, void *user)
{
    Copies *c = user;
    (void)cx;
    (void)scope;
    if (block->stage == c->block->stage && block != c->block) c->other = block->name;
}

/* Returns true if no other block of the stage runs in the same iteration of the enclosing loops. The init would not
 * cover such a block. */
static bool is_the_only_copy(Draft *d, const Path *p)
{
    int host = p->depth - 1;
    while (host > 0 && !(p->at[host]->kind == STMT_FOR && !loop_is_own(p->at[host], path_end(p)->stage))) host--;
    Copies c = { path_end(p), NULL };
    each_block(d->cx, p->at[host], NULL, visit_copy, &c);
    if (!c.other) return true;
    return refuse_unproved(d, FAULT_PIECES, "a stage with one block: take this step before peel",
                           "%s also computes a part of %s", c.other, c.block->stage->name);
}

static int depth_of_loop(const Path *p, const char *loop)
{
    for (int i = 0; i < p->depth; i++)
        if (p->at[i]->kind == STMT_FOR && p->at[i]->name == loop) return i;
    return -1;
}

/* Requires that the named loop, at `depth` on the block's path, belongs to the stage, and that no loop around it feeds
 * reduce axes. */
static bool is_outside_reduce_loops(Draft *d, const Path *p, int depth)
{
    const Stmt *block = path_end(p), *loop = p->at[depth];
    if (!loop_is_own(loop, block->stage))
        return refuse_wrong(d, FAULT_REDUCTION, text_format(d->cx, "a loop of %s", block->name),
                            "%s is not a loop of %s, so its init would not be repeated in each iteration of %s",
                            loop->name, block->name, loop->name);
    for (int i = 0; i < depth; i++)
        if (p->at[i]->kind == STMT_FOR && feeds_axis(block, p->at[i]->var, AXIS_REDUCE))
            return refuse_wrong(
                d, FAULT_REDUCTION, text_format(d->cx, "%s or a loop around it", p->at[i]->name),
                "the reduce loop %s is outside %s, so the init would reset a reduction in progress",
                p->at[i]->name, loop->name);
    return true;
}

static bool feeds_both(const Stmt *block, const Expr *var)
{
    return feeds_axis(block, var, AXIS_REDUCE)
           && (feeds_axis(block, var, AXIS_DATA) || feeds_axis(block, var, AXIS_ORDERED));
}

static bool loops_are_pure(Draft *d, const Path *p, int depth)
{
    const Stmt *block = path_end(p);
    for (int i = depth; i < p->depth; i++)
        if (p->at[i]->kind == STMT_FOR && feeds_both(block, p->at[i]->var))
            return refuse_unproved(d, FAULT_REDUCTION, "loops over one kind: do not fuse them",
                                   "%s runs over data and reduce axes of %s at once", p->at[i]->name, block->name);
    return true;
}

/* Returns true for loops at `depth` and deeper that feed only reduce axes. */
static bool is_reduce_loop(const Path *p, int depth, const Expr *var)
{
    for (int i = depth; i < p->depth; i++)
        if (p->at[i]->kind == STMT_FOR && p->at[i]->var == var) return feeds_axis(path_end(p), var, AXIS_REDUCE);
    return false;
}

/* Finds the guard of the init: the conjuncts over data loops. Returns false if a conjunct uses data loops and reduce
 * loops. */
static bool init_guard(Draft *d, const Path *p, int depth, const Expr **out)
{
    const Expr *part[MAX_CONJUNCTS];
    int n = conjuncts_of(path_end(p)->cond, part);
    *out = NULL;
    for (int k = 0; k < n; k++) {
        bool reduce = false, data = false;
        for (int i = depth; i < p->depth; i++) {
            if (p->at[i]->kind != STMT_FOR || !expr_uses(part[k], p->at[i]->var)) continue;
            if (is_reduce_loop(p, depth, p->at[i]->var)) reduce = true;
            else data = true;
        }
        if (reduce && data)
            return refuse_unproved(d, FAULT_REDUCTION, "guards over one kind",
                                   "a guard of %s mixes data and reduce loops", path_end(p)->name);
        if (!reduce) *out = conjoin(d->cx, *out, part[k]);
    }
    return true;
}

/* Returns the init block in copies of the data loops at `depth` and deeper. */
static const Stmt *init_nest(Ctx *cx, const Path *p, int depth, const Expr *guard)
{
    const Stmt *block = path_end(p);
    const char *prefix = name_format(cx, "%s" INIT_SUFFIX, block->name);
    const Expr *bind[MAX_AXES], *from[MAX_DEPTH], *to[MAX_DEPTH];
    int n = 0;
    for (int a = 0; a < block->stage->axis_count; a++)
        bind[a] = block->stage->axis[a].kind == AXIS_REDUCE ? NULL : block->bind[a];
    const Stmt *s = stmt_block(cx, prefix, block->stage, BLOCK_INIT, bind, guard);
    for (int i = p->depth - 1; i >= depth; i--) {
        const Stmt *loop = p->at[i];
        if (loop->kind != STMT_FOR || is_reduce_loop(p, depth, loop->var)) continue;
        const char *full = name_format(cx, "%s.%s", prefix, loop_short(loop->name));
        from[n] = loop->var;
        to[n] = loop_var_new(cx, full, loop->extent);
        s = stmt_for(cx, full, to[n++], loop->extent, loop->loop_kind, s);
    }
    return stmt_substitute(cx, s, from, to, n);
}

const Nest *run_decompose_reduction(Ctx *cx, const Nest *n, const StepArgs *a)
{
    if (ctx_failed(cx) || !n) return n;
    Draft d = draft_open(cx, n, STEP_decompose_reduction, a);
    Path p, to_loop;
    const Expr *guard;
    if (!find_whole_block(&d, a->target, &p) || !draft_find_loop(&d, &d.args.loop[0], &to_loop)) return n;
    int depth = depth_of_loop(&p, d.args.loop[0]);
    if (depth < 0) {
        refuse_invalid(&d, FAULT_NESTING, "one of its own loops", "%s does not enclose %s", d.args.loop[0], a->target);
        return n;
    }
    if (!begins_the_reduction(&d, &p) || !is_the_only_copy(&d, &p) || !is_outside_reduce_loops(&d, &p, depth) ||
        !loops_are_pure(&d, &p, depth) || !init_guard(&d, &p, depth, &guard)) return n;

    const Stmt *block = path_end(&p);
    const Stmt *update = stmt_block(cx, block->name, block->stage, BLOCK_UPDATE, block->bind, block->cond);
    const Stmt *init = init_nest(cx, &p, depth, guard);
    d.next.root = path_replace(cx, &p, update);
    nest_find_loop(&d.next, d.args.loop[0], &to_loop);
    const Stmt *both[] = { init, path_end(&to_loop) };
    d.next.root = path_replace(cx, &to_loop, stmt_seq(cx, both, 2));
    return draft_close(&d);
}
