/* SPDX-License-Identifier: MIT */
/* split: one loop becomes two. `v` in [0, E) becomes `outer * factor + inner`, outer in [0, ceil(E / factor)).
 * The order of iterations stays; the proof is that each runs once. Where the factor does not divide E, the last tile
 * exceeds E. The option `tail` selects the treatment:
 *
 *   guard   a guard on every block below cuts the tile; a clamped index would repeat points, which a reduction forbids
 *   peel    the same, and the iterations that need the guard move to a copy after the loop (peel.c)
 *   shift   the clamped tile, min(outer * factor, E - factor) + inner; the checker's I1 proves that repeated points do
 *           no harm: a reduction is repeated whole
 *   round   the last tile runs whole without a guard, where the axes of all stages below are padded that far (pad) */

/* Decision: tails are guards first. A split whose factor does not divide the extent leaves a guard; lowering cuts
 * the loop where the guard becomes true. Peeling in the nest (`peel`, or `tail=peel`) creates copies that a later
 * `compute_at` would have to follow, so peeling must be the last step. */
#include "schedule/draft/draft.h"
#include "support/names.h"

/* The kinds of the two loops, so that no kind is lost. */
static const LoopKind outer_kind[] = { LOOP_SERIAL, LOOP_UNROLLED, LOOP_SERIAL, LOOP_PARALLEL };
static const LoopKind inner_kind[] = { LOOP_SERIAL, LOOP_UNROLLED, LOOP_VECTOR, LOOP_SERIAL };

/* The extents of the two loops; `cut` is true if the last tile exceeds E. */
typedef struct Halves { const Expr *outer, *inner; bool cut; } Halves;

static Halves halves_of(Ctx *cx, const Expr *extent, int64_t factor, const Bounds *scope)
{
    if (is_constant(extent) && extent->integer > 0 && extent->integer <= factor)
        return (Halves){ expr_index(cx, 1), extent, false };
    const Expr *f = expr_index(cx, factor);
    if (provably_equal(cx, expr_binary(cx, EXPR_FLOORMOD, extent, f), expr_index(cx, 0), scope))
        return (Halves){ simplify(cx, expr_binary(cx, EXPR_FLOORDIV, extent, f), scope), f, false };
    const Expr *up = expr_add(cx, extent, expr_index(cx, factor - 1)),
               *outer = simplify(cx, expr_binary(cx, EXPR_FLOORDIV, up, f), scope);
    return (Halves){ outer, f, !provably_equal(cx, expr_mul(cx, outer, f), extent, scope) };
}

static const Stmt *add_guard(Ctx *cx, const Stmt *s, void *user)
{
    const Expr *const *guard = user;
    if (s->kind != STMT_BLOCK) return s;
    return stmt_block(cx, s->name, s->stage, s->part, s->bind, conjoin(cx, s->cond, *guard));
}

/* Returns true if the rounded-up extent fits the 32 bits of index arithmetic. */
static bool index_stays_small(Draft *d, const char *loop, const Expr *extent, int64_t factor, const Bounds *scope)
{
    Interval range = interval_of(d->cx, extent, scope);
    if (range.greatest <= INT32_MAX - factor) return true;
    return refuse_unproved(
        d, FAULT_EXTENT, "a lower declared bound of the size",
        "the extent of %s may reach %lld, and rounded up to a multiple of %lld it may exceed 32 bits", loop,
        (long long)range.greatest, (long long)factor);
}

/* Returns true if the last tile may begin earlier: it then ends where the loop ends, and repeats some points. */
static bool may_be_shifted(Draft *d, const Stmt *loop, int64_t factor, const Bounds *scope)
{
    if (provably(d->cx, expr_binary(d->cx, EXPR_LE, expr_index(d->cx, factor), loop->extent), scope)) return true;
    return refuse_unproved(d, FAULT_EXTENT, "a higher declared least size, or tail=guard",
                           "%s is not shown to have the %lld iterations of a whole tile", loop->name,
                           (long long)factor);
}

/* The test that the axes of the blocks below contain the whole last tile. */
typedef struct RoundedSplit { Draft *d; const char *loop; const Expr *outer, *inner; bool fine; } RoundedSplit;

static void visit_rounded(Ctx *cx, const Stmt *block, const Bounds *scope, void *user)
{
    RoundedSplit *r = user;
    const Stage *s = block->stage;
    for (int a = 0; a < s->axis_count && r->fine; a++) {
        const Expr *bind = block->bind[a], *extent = s->axis[a].extent;
        if (!bind || (!expr_uses(bind, r->outer) && !expr_uses(bind, r->inner))) continue;
        if (provably(cx, expr_binary(cx, EXPR_LT, bind, extent),
                     block->cond ? bounds_fact(cx, scope, block->cond) : scope))
            continue;
        const char *axis = expr_as_var(s->axis[a].var)->name;
        Interval reached = interval_of(cx, bind, scope);
        if (!is_constant(extent) || block->cond)
            r->fine = refuse_unproved(r->d, FAULT_EXTENT, "tail=guard",
                                      "the last tile of %s is not shown to stay within the axis %s of %s",
                                      r->loop, axis, block->name);
        else if (s->axis[a].kind == AXIS_DATA)
            r->fine =
                refuse_wrong(r->d, FAULT_EXTENT, text_format(r->d->cx, "padded storage: pad %s %s", s->name, axis),
                             "the last tile of %s reaches %s=%lld of %s, which ends at %lld", r->loop, axis,
                             (long long)reached.greatest, block->name, (long long)extent->integer - 1);
        else
            r->fine = refuse_wrong(r->d, FAULT_EXTENT, "tail=guard",
                                   "the last tile of %s reaches %s=%lld of %s, which reduces up to %lld", r->loop,
                                   axis, (long long)reached.greatest, block->name, (long long)extent->integer - 1);
    }
}

bool draft_split(Draft *d, const char **loop, int64_t factor, const char *outer, const char *inner)
{
    Ctx *cx = d->cx;
    Path p;
    if (!draft_find_loop(d, loop, &p)) return false;
    if (factor < 1 || factor > INT32_MAX)
        return refuse_invalid(d, FAULT_VALUE, "1 or more", "the factor of %s is %lld", *loop, (long long)factor);
    const Stmt *old = path_end(&p);
    const char *prefix = loop_prefix(cx, *loop), *brief = loop_short(*loop);
    const char *full_outer = outer ? name_format(cx, "%s.%s", prefix, outer) : name_format(cx, "%s.%so", prefix, brief);
    const char *full_inner = inner ? name_format(cx, "%s.%s", prefix, inner) : name_format(cx, "%s.%si", prefix, brief);
    if (full_outer == full_inner)
        return refuse_invalid(d, FAULT_NAME, "two names", "both loops would be named %s", full_outer);
    const Bounds *scope = path_bounds_to(cx, &p, p.depth - 1);
    if (!index_stays_small(d, *loop, old->extent, factor, scope)) return false;
    if ((full_outer != *loop && !draft_loop_name_is_free(d, full_outer)) ||
        (full_inner != *loop && !draft_loop_name_is_free(d, full_inner))) return false;

    Halves half = halves_of(cx, old->extent, factor, scope);
    const Expr *o = loop_var_new(cx, full_outer, half.outer), *i = loop_var_new(cx, full_inner, half.inner);
    bool shifted = half.cut && d->args.tail == TAIL_SHIFT, rounded = half.cut && d->args.tail == TAIL_ROUND;
    if (shifted && !may_be_shifted(d, old, factor, scope)) return false;
    const Expr *tile = expr_mul(cx, o, half.inner);
    if (shifted) tile = expr_binary(cx, EXPR_MIN, tile, expr_sub(cx, old->extent, half.inner));
    const Expr *v = expr_add(cx, tile, i);
    const Bounds *inside = bounds_var(cx, bounds_var(cx, scope, o, half.outer), i, half.inner);
    const Stmt *body = replace_loops(cx, old->child[0], inside, &old->var, &v, 1);
    RoundedSplit rounding = { d, *loop, o, i, true };
    if (rounded) each_block(cx, body, inside, visit_rounded, &rounding);
    if (!rounding.fine) return false;
    const Expr *in_bounds = half.cut && !shifted && !rounded ? expr_binary(cx, EXPR_LT, v, old->extent) : NULL;
    if (in_bounds) body = stmt_rewrite(cx, body, add_guard, &in_bounds);
    body = stmt_for(cx, full_inner, i, half.inner, inner_kind[old->loop_kind], body);
    body = stmt_for(cx, full_outer, o, half.outer, outer_kind[old->loop_kind], body);
    d->next.root = path_replace(cx, &p, body);
    d->successors = name_format(cx, "%s or %s", full_outer, full_inner);
    return true;
}

/* Returns the name of the outer loop of a split. */
static const char *outer_name(Ctx *cx, const char *loop, const char *outer)
{
    return outer ? name_format(cx, "%s.%s", loop_prefix(cx, loop), outer) : name_format(cx, "%so", loop);
}

/* Returns the smallest factor that gives that number of tiles, or 0 after a refusal. */
static int64_t factor_of_parts(Draft *d, int64_t parts)
{
    Path p;
    if (!draft_find_loop(d, &d->args.loop[0], &p)) return 0;
    const Expr *extent = path_end(&p)->extent;
    const int64_t e = is_constant(extent) ? extent->integer : 0, factor = (e + parts - 1) / parts;
    if (!is_constant(extent))
        refuse_unproved(d, FAULT_EXTENT, "a factor", "the extent of %s is open: no constant factor gives %lld parts",
                        d->args.loop[0], (long long)parts);
    else if (parts > e)
        refuse_invalid(d, FAULT_VALUE, text_format(d->cx, "parts=%lld or less", (long long)e),
                       "%s has %lld iterations", d->args.loop[0], (long long)e);
    else if ((e + factor - 1) / factor != parts)
        refuse_invalid(d, FAULT_VALUE, text_format(d->cx, "parts=%lld", (long long)((e + factor - 1) / factor)),
                       "%lld iterations of %s are %lld parts of %lld, not %lld", (long long)e, d->args.loop[0],
                       (long long)((e + factor - 1) / factor), (long long)factor, (long long)parts);
    else return factor;
    return 0;
}

const Nest *run_split(Ctx *cx, const Nest *n, const StepArgs *a)
{
    if (ctx_failed(cx) || !n) return n;
    Draft d = draft_open(cx, n, STEP_split, a);
    const int64_t factor = a->parts ? factor_of_parts(&d, a->parts) : a->factor[0];
    if (a->parts && !factor) return n;
    if (!draft_split(&d, &d.args.loop[0], factor, a->half[0], a->half[1])) return n;
    if (a->tail == TAIL_PEEL) {
        const char *o = outer_name(cx, d.args.loop[0], a->half[0]);
        if (!draft_peel(&d, &o)) return n;
    }
    return draft_close(&d);
}
