/* SPDX-License-Identifier: MIT */
/* specialize: a condition on sizes, or on elements of inputs, selects between two copies of the nest, so that each copy
 * can be simpler or have its own schedule:
 *
 *   specialize n % 4 == 0       =>       if n % 4 == 0: the nest under this fact; else: a copy, y@else
 *
 * Both copies of the nest compute the same values. Facts of the condition hold only in the first copy: a size that the
 * condition fixes is a constant in this copy, and guards and selects that follow from the condition are dropped.
 * Storage stays outside, shared by both copies. The condition is decided before any stage runs, and a nest only reads
 * its inputs. */
#include "schedule/draft/draft.h"
#include "schedule/draft/sizes.h"

enum { MOST_BRANCHES = 3 };

/* ---- The first copy -------------------------------------------------------------------------------------------- */

static const Stmt *drop_known_guards(Ctx *cx, const Stmt *s, const Bounds *scope)
{
    if (s->kind == STMT_BLOCK) {
        const Expr *part[MAX_CONJUNCTS], *kept = NULL;
        int n = conjuncts_of(s->cond, part);
        for (int i = 0; i < n; i++)
            if (!provably(cx, part[i], scope)) kept = conjoin(cx, kept, part[i]);
        return kept == s->cond ? s : stmt_block(cx, s->name, s->stage, s->part, s->bind, kept);
    }
    if (s->kind == STMT_FOR) scope = bounds_var(cx, scope, s->var, s->extent);
    const Stmt **child = NEW_ARRAY(cx->arena, const Stmt *, s->child_count);
    for (int i = 0; i < s->child_count; i++) child[i] = drop_known_guards(cx, s->child[i], scope);
    return stmt_with_children(cx, s, child, s->child_count);
}

/* For the condition n == 8, substitutes the constant for the size. */
static const Stmt *with_known_size(Ctx *cx, const Stmt *s, const Expr *cond, const Bounds *scope)
{
    if (cond->kind != EXPR_EQ) return s;
    const Expr *size = cond->arg[0], *number = cond->arg[1];
    if (is_constant(size)) { size = cond->arg[1]; number = cond->arg[0]; }
    if (!expr_as_var(size) || !is_constant(number)) return s;
    return replace_loops(cx, s, scope, &size, &number, 1);
}

static const Stmt *in_two(Draft *d, const Stmt *s, const Expr *cond)
{
    Ctx *cx = d->cx;
    if (s->kind == STMT_ALLOC) {
        const Stmt *inside = in_two(d, s->child[0], cond);
        return stmt_with_children(cx, s, &inside, 1);
    }
    const Bounds *known = bounds_fact(cx, NULL, cond);
    const Stmt *other = draft_copy(d, s, "else");
    return stmt_if(cx, cond, drop_known_guards(cx, with_known_size(cx, s, cond, known), known), other);
}

static int branches(const Stmt *s)
{
    int n = s->kind == STMT_IF;
    for (int i = 0; i < s->child_count; i++) n += branches(s->child[i]);
    return n;
}

const Nest *run_specialize(Ctx *cx, const Nest *n, const StepArgs *a)
{
    if (ctx_failed(cx) || !n) return n;
    Draft d = draft_open(cx, n, STEP_specialize, a);
    const char *fault, *accepted;
    const Expr *cond = condition_of_run(cx, n, a->condition, &fault, &accepted);
    if (fault) refuse_invalid(&d, FAULT_VALUE, accepted, "%s", fault);
    if (!cond) return n;
    if (branches(n->root) == MOST_BRANCHES) {
        refuse_too_large(&d, FAULT_LIMIT, text_format(cx, "up to %d", MOST_BRANCHES), "%s has %d conditions already",
                         n->name, MOST_BRANCHES);
        return n;
    }
    d.next.root = in_two(&d, n->root, cond);
    return draft_close(&d);
}
