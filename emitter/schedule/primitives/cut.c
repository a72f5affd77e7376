/* SPDX-License-Identifier: MIT */
/* cut: a loop becomes two that follow each other; the second is a copy for the iterations after the first AT:
 *
 *   for v < E: body      =>      for v < AT: body;  for v < E - AT: body@cut (v + AT)
 *
 * With from_end, AT is counted from the end: the first loop has E - AT iterations.
 * Each iteration runs once, in the same order. A guard is dropped in the part in which it always holds. */
#include "schedule/draft/draft.h"

/* Returns the statement without the guards that hold for certain. */
static const Stmt *without_known_guards(Ctx *cx, const Stmt *s, const Bounds *scope)
{
    if (s->kind == STMT_BLOCK) {
        const Expr *part[MAX_CONJUNCTS], *kept = NULL;
        const int n = conjuncts_of(s->cond, part);
        for (int i = 0; i < n; i++)
            if (!provably(cx, part[i], scope)) kept = conjoin(cx, kept, part[i]);
        return kept == s->cond ? s : stmt_block(cx, s->name, s->stage, s->part, s->bind, kept);
    }
    if (s->kind == STMT_FOR) scope = bounds_var(cx, scope, s->var, s->extent);
    const Stmt **child = NEW_ARRAY(cx->arena, const Stmt *, s->child_count);
    for (int i = 0; i < s->child_count; i++) child[i] = without_known_guards(cx, s->child[i], scope);
    return stmt_with_children(cx, s, child, s->child_count);
}

const Nest *run_cut(Ctx *cx, const Nest *n, const StepArgs *a)
{
    if (ctx_failed(cx) || !n) return n;
    Draft d = draft_open(cx, n, STEP_cut, a);
    Path p;
    if (!draft_find_loop(&d, &d.args.loop[0], &p)) return n;
    const Stmt *loop = path_end(&p);
    const Bounds *scope = path_bounds_to(cx, &p, p.depth - 1);
    const Expr *count = expr_index(cx, a->factor[0]);
    if (a->factor[0] < 1 || !provably(cx, expr_binary(cx, EXPR_LT, count, loop->extent), scope)) {
        const Interval extent = interval_of(cx, loop->extent, scope);
        refuse_unproved(&d, FAULT_VALUE,
                        extent.least > 1 ? text_format(cx, "1 to %lld", (long long)extent.least - 1)
                                         : "a loop that certainly has more iterations, or declare a higher minimum of "
                                           "its size",
                        "%s is not shown to have iterations before and after %lld", loop->name,
                        (long long)a->factor[0]);
        return n;
    }
    const Expr *others = simplify(cx, expr_sub(cx, loop->extent, count), scope), *at = a->from_end ? others : count,
               *rest = a->from_end ? count : others;
    const Stmt *copy = draft_copy(&d, loop, "cut");
    if (ctx_failed(cx)) return n;
    const Expr *moved = expr_add(cx, copy->var, at);
    const Bounds *below = bounds_var(cx, scope, loop->var, at), *above = bounds_var(cx, scope, copy->var, rest);
    const Stmt *first = without_known_guards(cx, loop->child[0], below),
               *last = replace_loops(cx, copy->child[0], above, &copy->var, &moved, 1);
    last = without_known_guards(cx, last, above);
    const Stmt *both[] = { stmt_for(cx, loop->name, loop->var, at, loop->loop_kind, first),
                           stmt_for(cx, copy->name, copy->var, rest, loop->loop_kind, last) };
    d.next.root = path_replace(cx, &p, stmt_seq(cx, both, 2));
    return draft_close(&d);
}
