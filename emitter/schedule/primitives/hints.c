/* SPDX-License-Identifier: MIT */
/* pragma, prefetch: hints to the C compiler or the cache before a loop. A hint does not change any value; the step
 * proves that it holds. A hint is bound to the loop's variable: steps that keep the loop keep the hint, and steps that
 * consume the loop drop it. copy_budget: a hint to lowering, for the whole nest.
 *
 *   pragma LOOP unroll N      LW_UNROLL(N): N iterations at a time. Before a serial or vector loop
 *   pragma LOOP independent   LW_INDEPENDENT: iterations are independent. Before a vector loop, where I5 proves it
 *   pragma LOOP simd          LW_SIMD: the same, for OpenMP
 *   prefetch X LOOP N         LW_PREFETCH(x[..]): the first element of the input X that LOOP reads N iterations later
 *   ... spread=INNER          all elements that LOOP reads then, a part per iteration of INNER, which holds the hint;
 *                             with loops between, all iterations of INNER in one of LOOP take equal parts
 *
 * Any other text is refused, because it might promise something false. After each later step the checker verifies that
 * the pragma still suits its loop. */

/* Decision: hints belong to a loop's variable. A step that keeps the loop keeps its `pragma` and `prefetch`, a step
 * that consumes the loop ends them, and lowering carries them along. Only hints that can be proved true exist. */
#include <string.h>

#include "ir/check/check.h"
#include "schedule/draft/draft.h"
#include "support/names.h"

static const Nest *with_hints(Draft *d, Path *p, const LoopHints *hints)
{
    Ctx *cx = d->cx;
    const Stmt *s = path_end(p);
    Var *v = arena_copy(cx->arena, expr_as_var(s->var), sizeof *v);
    v->hints = arena_copy(cx->arena, hints, sizeof *hints);
    v->serial = ctx_serial(cx);
    const Expr *var = expr_var(cx, v);
    const Stmt *body = stmt_substitute(cx, s->child[0], &s->var, &var, 1);
    d->next.root = path_replace(cx, p, stmt_for(cx, s->name, var, s->extent, s->loop_kind, body));
    return draft_close(d);
}

static LoopHints hints_of(const Stmt *loop)
{
    const LoopHints *h = expr_as_var(loop->var)->hints;
    return h ? *h : (LoopHints){ .prefetch_count = 0 };
}

/* ---- pragma ---------------------------------------------------------------------------------------------------- */

static bool pragma_is_proved(Draft *d, const Stmt *loop, const char *text, Pragma *pragma)
{
    if (!text || !pragma_read(text, pragma))
        return refuse_unproved(d, FAULT_VALUE,
                               text_format(d->cx, "unroll N (2 to %d), independent or simd", MOST_UNROLL),
                               "a promise '%s' to the compiler cannot be shown to hold", text ? text : "");
    if (pragma_suits(pragma, loop->loop_kind)) return true;
    if (pragma->kind == PRAGMA_UNROLL)
        return refuse_invalid(d, FAULT_KIND, "a serial or vector loop",
                              "%s is %s, so no loop remains to be unrolled", loop->name,
                              loop_kind_text(loop->loop_kind));
    return refuse_wrong(d, FAULT_ORDER, text_format(d->cx, "a vector loop: vectorize %s first", loop->name),
                        "the iterations of %s are not shown to be independent while it is %s", loop->name,
                        loop_kind_text(loop->loop_kind));
}

const Nest *run_pragma(Ctx *cx, const Nest *n, const StepArgs *a)
{
    if (ctx_failed(cx) || !n) return n;
    Draft d = draft_open(cx, n, STEP_pragma, a);
    Path p;
    Pragma pragma;
    if (!draft_find_loop(&d, &d.args.loop[0], &p) || !pragma_is_proved(&d, path_end(&p), a->condition, &pragma))
        return n;
    LoopHints h = hints_of(path_end(&p));
    h.pragma = pragma;
    return with_hints(&d, &p, &h);
}

/* ---- prefetch -------------------------------------------------------------------------------------------------- */

typedef struct HintSearch { const Tensor *tensor; bool found, by_data; } HintSearch;

static void visit_index(const Expr *e, void *user)
{
    HintSearch *s = user;
    s->by_data = s->by_data || e->kind == EXPR_READ;
}

typedef struct IndexSearch { Ctx *cx; HintSearch *s; } IndexSearch;

static void visit_read(const Expr *e, void *user)
{
    IndexSearch *l = user;
    if (e->kind != EXPR_READ || e->ref != l->s->tensor || l->s->found) return;
    l->s->found = true;
    for (int i = 0; i < e->arg_count; i++) expr_walk(l->cx, e->arg[i], visit_index, l->s);
}

static void search_block(Ctx *cx, const Stmt *block, const Bounds *scope, void *user)
{
    IndexSearch l = { cx, user };
    (void)scope;
    for (int i = 0; i < block->stage->out_count && block->part != BLOCK_INIT; i++)
        expr_walk(cx, block->stage->value[i], visit_read, &l);
}

static bool may_be_spread(Draft *d, const Stmt *loop, const Path *inner)
{
    bool is_inside = false;
    const Stmt *unfixed = NULL;
    for (int i = 0; i < inner->depth; i++) {
        const Stmt *s = inner->at[i];
        if (is_inside && s->kind == STMT_FOR && s->extent->kind != EXPR_INT) unfixed = s;
        is_inside = is_inside || (s == loop && i + 1 < inner->depth);
    }
    if (!is_inside)
        return refuse_invalid(d, FAULT_NESTING, text_format(d->cx, "a loop inside %s", loop->name),
                              "%s is not inside %s", path_end(inner)->name, loop->name);
    if (path_end(inner)->loop_kind == LOOP_VECTOR)
        return refuse_unproved(d, FAULT_KIND, "a loop around it",
                               "%s is a vector loop, and a fetch inside would separate its lanes",
                               path_end(inner)->name);
    return !unfixed
           || refuse_unproved(d, FAULT_EXTENT, "a loop of fixed extent", "the extent of %s depends on sizes",
                              unfixed->name);
}

static bool may_be_fetched(Draft *d, const Tensor *t, const Stmt *loop, const LoopHints *h)
{
    int64_t ahead = d->args.factor[0];
    HintSearch s = { t, false, false };
    if (!is_input(&d->next, t))
        return refuse_unproved(d, FAULT_ROLE, "an input",
                               "%s is computed in this nest and is in the cache when it is read", t->name);
    if (ahead < 1 || ahead > INT32_MAX / 2)
        return refuse_invalid(d, FAULT_VALUE, "1 or more", "a distance of %lld iterations of %s is not ahead",
                              (long long)ahead, loop->name);
    if (interval_of(d->cx, loop->extent, NULL).greatest > INT32_MAX / 2)
        return refuse_unproved(d, FAULT_EXTENT, "a lower declared bound of the size",
                               "%s has no bound, and %lld iterations more may exceed 32 bits", loop->name,
                               (long long)ahead);
    each_block(d->cx, loop, NULL, search_block, &s);
    if (!s.found)
        return refuse_invalid(d, FAULT_NESTING, "a loop around a consumer", "nothing under %s reads %s", loop->name,
                              t->name);
    if (s.by_data)
        return refuse_unproved(d, FAULT_INDEX, "indices over loops",
                               "the index at which %s is read under %s depends on data", t->name, loop->name);
    if (loop->loop_kind == LOOP_VECTOR)
        return refuse_unproved(d, FAULT_KIND, "a loop around it",
                               "%s is a vector loop, and a fetch inside would separate its lanes", loop->name);
    for (int i = 0; i < h->prefetch_count; i++)
        if (h->prefetch[i].tensor == t) return refuse_invalid(d, FAULT_VALUE, "one fetch per tensor and loop",
                                                            "%s is fetched in %s already", t->name, loop->name);
    if (h->prefetch_count == MAX_PREFETCHES)
        return refuse_too_large(d, FAULT_LIMIT, "no more than these", "%s fetches %d tensors already", loop->name,
                                MAX_PREFETCHES);
    return true;
}

const Nest *run_prefetch(Ctx *cx, const Nest *n, const StepArgs *a)
{
    if (ctx_failed(cx) || !n) return n;
    Draft d = draft_open(cx, n, STEP_prefetch, a);
    Path p, inner;
    const Tensor *t = draft_find_tensor(&d, a->target);
    if (!t || !draft_find_loop(&d, &d.args.loop[0], &p)) return n;
    const Stmt *loop = path_end(&p);
    if (a->loop[1] && !draft_find_loop(&d, &d.args.loop[1], &inner)) return n;
    Path *holder = a->loop[1] ? &inner : &p;
    LoopHints h = hints_of(path_end(holder));
    if (!may_be_fetched(&d, t, loop, &h) || (a->loop[1] && !may_be_spread(&d, loop, &inner))) return n;
    h.prefetch[h.prefetch_count].tensor = t;
    h.prefetch[h.prefetch_count].across = a->loop[1] ? loop->name : NULL;
    h.prefetch[h.prefetch_count++].ahead = a->factor[0];
    return with_hints(&d, holder, &h);
}

/* ---- copy_budget ------------------------------------------------------------------------------------------------ */

const Nest *run_copy_budget(Ctx *cx, const Nest *n, const StepArgs *a)
{
    if (ctx_failed(cx) || !n) return n;
    Draft d = draft_open(cx, n, STEP_copy_budget, a);
    if (a->factor[0] < 1 || a->factor[0] > INT32_MAX) {
        refuse_invalid(&d, FAULT_VALUE, "1 or more, where 1 permits no copies", "%lld statements are not a budget",
                       (long long)a->factor[0]);
        return n;
    }
    d.next.copy_budget = a->factor[0];
    return draft_close(&d);
}
