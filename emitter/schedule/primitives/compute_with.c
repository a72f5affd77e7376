/* SPDX-License-Identifier: MIT */
/* compute_with: two stages, or copies of stages, are computed in one set of loops, the loops of the second:
 *
 *   for f.i: for f.j: f;  for g.i: for g.j: g      =>      for g.i: { for f.j: f;  for g.j: g }      (at g.i)
 *
 * The outermost loops of the first stage become the loops of the second stage, from the place where the two stages
 * separate down to LOOP. Both stages must have the same number of such loops, and corresponding loops must have equal
 * extents. The two stages keep their order in the nest. The checker proves that no iteration reads values that a later
 * iteration computes. */
#include "schedule/draft/draft.h"

#include "support/names.h"

typedef struct Joined {
    Draft *d;
    Path first, loop;                /* the paths to the block of the first stage and to LOOP */
    int common;                      /* the number of statements on both paths */
    /* The loops that stay, from the first separate statement to LOOP. */
    int count; const Stmt *outer[MAX_DEPTH];
    /* The variables of the first stage's loops, and their replacements. */
    const Expr *var[MAX_DEPTH], *to[MAX_DEPTH];
    const Stmt *body;                                /* the body of the first stage's loops */
} Joined;

static bool encloses(const Path *p, const Stmt *s)
{
    for (int i = 0; i < p->depth; i++)
        if (p->at[i] == s) return true;
    return false;
}

static bool find_paths(Joined *j)
{
    Draft *d = j->d;
    Path second;
    if (!draft_find_block(d, d->args.target, &j->first) || !draft_find_block(d, d->args.name, &second)
        || !draft_find_loop(d, &d->args.loop[0], &j->loop))
        return false;
    const Stmt *loop = path_end(&j->loop);
    if (!encloses(&second, loop))
        return refuse_invalid(d, FAULT_NESTING, text_format(d->cx, "a loop around %s", d->args.name),
                              "%s is not inside %s", d->args.name, loop->name);
    if (encloses(&j->first, loop))
        return refuse_invalid(d, FAULT_NESTING, "a loop that does not enclose both", "%s is inside %s already",
                              d->args.target, loop->name);
    while (j->loop.at[j->common] == j->first.at[j->common]) j->common++;
    return j->first.at[j->common - 1]->kind == STMT_SEQ
           || refuse_invalid(d, FAULT_NESTING, "two in one branch", "%s and %s are in different branches",
                             d->args.target, d->args.name);
}

static bool is_alike(Joined *j, const Stmt *own, const Stmt *outer, const Bounds *scope)
{
    Draft *d = j->d;
    const Expr *extent = expr_substitute(d->cx, own->extent, j->var, j->to, j->count);
    if (own->loop_kind != outer->loop_kind)
        return refuse_unproved(d, FAULT_KIND, "loops of one kind: set the kind afterwards", "%s is %s and %s is %s",
                               own->name, loop_kind_text(own->loop_kind), outer->name,
                               loop_kind_text(outer->loop_kind));
    if (provably_equal(d->cx, extent, outer->extent, scope)) return true;
    return refuse_unproved(d, FAULT_EXTENT, "loops of equal extents, as cut and split give them",
                           "%s and %s are not shown to have equally many iterations", own->name, outer->name);
}

/* Pairs the loops below the common statement, and proves that their extents are equal. */
static bool pair_loops(Joined *j)
{
    Draft *d = j->d;
    const Bounds *scope = path_bounds_to(d->cx, &j->loop, j->common);
    int at = j->common;
    for (int i = j->common; i < j->loop.depth; i++) {
        const Stmt *outer = j->loop.at[i];
        if (outer->kind != STMT_FOR) continue;
        const Stmt *own = at < j->first.depth ? j->first.at[at++] : NULL;
        if (!own || own->kind != STMT_FOR)
            return refuse_unproved(d, FAULT_NESTING, "as many loops, with nothing between them",
                                   "%s has no loop of its own for %s", d->args.target, outer->name);
        if (!is_alike(j, own, outer, scope)) return false;
        scope = bounds_var(d->cx, scope, outer->var, outer->extent);
        j->var[j->count] = own->var;
        j->to[j->count++] = outer->var;
        j->body = own->child[0];
    }
    return true;
}

static const Stmt *as_body(Joined *j, bool is_first)
{
    Ctx *cx = j->d->cx;
    const Stmt *old = path_end(&j->loop), *moved = stmt_substitute(cx, j->body, j->var, j->to, j->count);
    const Stmt *both[] = { is_first ? moved : old->child[0], is_first ? old->child[0] : moved };
    return stmt_for(cx, old->name, old->var, old->extent, old->loop_kind, stmt_seq(cx, both, 2));
}

const Nest *run_compute_with(Ctx *cx, const Nest *n, const StepArgs *a)
{
    if (ctx_failed(cx) || !n) return n;
    Draft d = draft_open(cx, n, STEP_compute_with, a);
    Joined j = { .d = &d };
    if (!find_paths(&j) || !pair_loops(&j)) return n;
    const Stmt *seq = j.first.at[j.common - 1], *own = j.first.at[j.common], *other = j.loop.at[j.common];
    const Path inner = { j.loop.depth - j.common, j.loop.at + j.common };
    const Stmt **child = NEW_ARRAY(cx->arena, const Stmt *, seq->child_count);
    int count = 0;
    bool is_first = false, has_other = false;
    for (int i = 0; i < seq->child_count; i++) {
        is_first = is_first || (seq->child[i] == own && !has_other);
        has_other = has_other || seq->child[i] == other;
    }
    for (int i = 0; i < seq->child_count; i++)
        if (seq->child[i] != own)
            child[count++] = seq->child[i] == other ? path_replace(cx, &inner, as_body(&j, is_first)) : seq->child[i];
    j.first.depth = j.common;
    d.next.root = path_replace(cx, &j.first, stmt_seq(cx, child, count));
    d.successors = name_format(cx, "the loops of %s", d.args.name);
    return draft_close(&d);
}
