/* SPDX-License-Identifier: MIT */
/* fuse: two loops, one directly inside the other, become one loop whose extent is the product of both extents: outer =
 * fused / extent(inner), inner = fused % extent(inner). The order of iterations stays. */
#include "schedule/draft/draft.h"
#include "support/names.h"

static bool are_adjacent(Draft *d, const Path *p, const char *inner)
{
    const Stmt *outer = path_end(p);
    if (outer->child[0]->kind == STMT_FOR && outer->child[0]->name == inner) return true;
    Path q;
    bool encloses = false;
    if (nest_find_loop(&d->next, inner, &q))
        for (int i = 0; i < q.depth; i++) encloses = encloses || q.at[i] == outer;
    if (!encloses)
        return refuse_wrong(d, FAULT_NESTING, "the outer loop named first",
                            "%s does not enclose %s", outer->name, inner);
    return refuse_unproved(d, FAULT_NESTING, "loops with nothing between them: reorder first",
                           "%s is not directly inside %s", inner, outer->name);
}

static bool are_independent(Draft *d, const Stmt *outer, const Stmt *inner)
{
    if (expr_uses(inner->extent, outer->var))
        return refuse_unproved(d, FAULT_EXTENT, "independent extents", "the extent of %s depends on %s", inner->name,
                               outer->name);
    if (outer->loop_kind != inner->loop_kind)
        return refuse_unproved(d, FAULT_KIND, "loops of one kind: fuse first, then set the kind",
                               "%s is %s and %s is %s", outer->name, loop_kind_text(outer->loop_kind), inner->name,
                               loop_kind_text(inner->loop_kind));
    return true;
}

static bool product_stays_small(Draft *d, const Stmt *outer, const Stmt *inner, const Bounds *scope)
{
    int64_t most = sat_mul(interval_of(d->cx, outer->extent, scope).greatest,
                           interval_of(d->cx, inner->extent, scope).greatest);
    if (most <= INT32_MAX) return true;
    return refuse_unproved(d, FAULT_EXTENT, "lower declared bounds of the sizes",
                           "the extents of %s and %s may multiply to %lld, beyond 32 bits", outer->name, inner->name,
                           (long long)most);
}

const Nest *run_fuse(Ctx *cx, const Nest *n, const StepArgs *a)
{
    if (ctx_failed(cx) || !n) return n;
    Draft d = draft_open(cx, n, STEP_fuse, a);
    Path q, p;
    if (!draft_find_loop(&d, &d.args.loop[1], &q) || !draft_find_loop(&d, &d.args.loop[0], &p)) return n;
    const Stmt *out = path_end(&p), *in = path_end(&q);
    if (!are_adjacent(&d, &p, in->name) || !are_independent(&d, out, in)) return n;
    const Bounds *scope = path_bounds(cx, &p);
    if (!product_stays_small(&d, out, in, scope)) return n;
    const char *prefix = loop_prefix(cx, out->name);
    const char *full = a->name ? name_format(cx, "%s.%s", prefix, a->name)
                             : name_format(cx, "%s.%s%s", prefix, loop_short(out->name), loop_short(in->name));
    if (full != out->name && full != in->name && !draft_loop_name_is_free(&d, full)) return n;

    const Expr *extent = simplify(cx, expr_mul(cx, out->extent, in->extent), scope);
    const Expr *f = loop_var_new(cx, full, extent);
    const Expr *from[] = { out->var, in->var };
    const Expr *to[] = { expr_binary(cx, EXPR_FLOORDIV, f, in->extent), expr_binary(cx, EXPR_FLOORMOD, f, in->extent) };
    const Bounds *inside = bounds_var(cx, scope->outer, f, extent);
    const Stmt *body = replace_loops(cx, in->child[0], inside, from, to, 2);
    d.next.root = path_replace(cx, &p, stmt_for(cx, full, f, extent, out->loop_kind, body));
    d.successors = full;
    return draft_close(&d);
}
