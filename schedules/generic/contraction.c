/* SPDX-License-Identifier: MIT */
/* Schedules convolutions, dense layers, pools and sums: one reduction with an elementwise epilogue.
 *
 *   for the output's outer axes, its tiles of w and of c:
 *       acc[w][c] = init                            the register tile, a small array or registers
 *       for the reduce axes: acc[w][c] += ...       c innermost: weights and output are contiguous along it
 *       for the tile: y = epilogue(acc[w][c])
 *
 * c is the last axis, w the one before it. The reduce axes keep their order, so floats are exact. */

/* Decision: the generic schedule keeps a register tile. A contraction (convolution, dense, pool, sum) accumulates a
 * tile of the output: a few positions along the row, 16 to 32 channels. The accumulators are a small local array,
 * and the innermost loop runs over channels with a constant trip count of at least 16. C compilers keep such an
 * array in vector registers. A trip count of 8 is unrolled before it is vectorized, and runs ten times slower. A
 * scalar core gets single accumulators instead (`lanes` 1 in the target's row). */
#include "schedules/tile.h"

/* The axes of `out` to tile: c (the last one) and w (the last before c that has a loop; -1 if there is none, or if it
 * is symbolic), with tile sizes. */
typedef struct Tiling { const Stage *out; int last, row; int64_t c, w; } Tiling;

/* Returns the only stage that reduces, or NULL if there is none or more than one. */
static const Stage *reducing_stage(const Nest *n)
{
    const Stage *found = NULL;
    for (int i = 0; i < n->stage_count; i++) {
        if (n->stage[i]->reducer == REDUCE_NONE) continue;
        if (found) return NULL;
        found = n->stage[i];
    }
    return found;
}

/* Returns true if there is one reduction with the shape of the output, whose last axis is not symbolic. */
static bool applies(Ctx *cx, const GroupNest *g)
{
    (void)cx;
    const Stage *a = reducing_stage(g->nest), *out = output_stage(g->nest);
    if (!a || g->nest->output_count != 1 || out->data_count < 1 || a->out_count != 1
        || a->data_count != out->data_count)
        return false;
    for (int d = 0; d < a->data_count; d++)
        if (a->axis[d].extent != out->axis[d].extent) return false;
    return last_extent(out) >= 0;
}

/* Chooses the register tile: w positions times c channels, in registers of `unit` channels. One step of the reduction
 * costs w*r multiply-adds, w loads of data and r of weights (r registers per row). Chooses the tile with the lowest
 * cost over the whole plane. Partly filled registers and overhanging tiles count in full, and cut tiles a quarter more.
 * whole_row: the tile covers all of w, if there are enough registers. */
static Tiling tiling_of(Ctx *cx, const Nest *n, const Stage *out, const Target *t, int64_t registers, bool whole_row)
{
    Tiling best = { out, out->data_count - 1, out->data_count - 2, 1, 1 };
    Path loop;
    while (best.row >= 0 && !nest_find_loop(n, loop_name(cx, out, best.row), &loop)) best.row--;
    if (best.row >= 0 && axis_extent(out, best.row) < 0) best.row = -1;      /* the number of accumulators is unknown */
    int64_t c = axis_extent(out, best.last), w = best.row >= 0 ? axis_extent(out, best.row) : 1;
    int64_t unit = t->lanes > 1 ? t->lanes / 2 : 1, least = INT64_MAX;
    for (int64_t row = 1; row <= registers && (row - 1) * unit < c; row++) {
        int64_t tc = row * unit < c ? row * unit : c, across = (c + tc - 1) / tc;
        for (int64_t tw = whole_row && w <= registers ? w : 1; tw <= w && tw * row <= registers; tw++) {
            int64_t tiles = across * ((w + tw - 1) / tw);
            int64_t cost = tiles * (tw * row + tw + row) * (c % tc || w % tw ? 5 : 4);
            if (cost > least) continue;
            least = cost;
            best.c = tc;
            best.w = tw;
        }
    }
    return best;
}

/* Returns the number of registers for the tile. A stage that reads one tensor, such as a pool or a sum, has no reuse,
 * so a large tile saves only loop overhead. */
static int64_t registers_for(Ctx *cx, const Stage *acc, const Target *t)
{
    enum { NO_REUSE = 4 };
    const Tensor **reads;
    const bool reuses = stage_reads(cx, acc, &reads) > 1,
               shares = t->integer_accumulators && !dtype_is_float(acc->out[0]->type);
    const int most = shares ? t->integer_accumulators : t->accumulators;
    return reuses || most < NO_REUSE ? most : NO_REUSE;
}

static const Nest *split_output(Ctx *cx, const Nest *n, const Tiling *k, const char **attach)
{
    const char *c = loop_name(cx, k->out, k->last), *order[4];
    int count = 0;
    bool tile_w = k->row >= 0 && k->w < axis_extent(k->out, k->row), tile_c = k->c < axis_extent(k->out, k->last);
    const char *w = k->row >= 0 ? loop_name(cx, k->out, k->row) : NULL;
    Path around;
    *attach = NULL;
    if (tile_w) n = sched_split(cx, n, w, k->w, TAIL_GUARD, NULL, NULL);
    if (tile_c) n = sched_split(cx, n, c, k->c, TAIL_GUARD, NULL, NULL);
    if (tile_w) order[count++] = text_format(cx, "%so", w);
    if (tile_c) order[count++] = text_format(cx, "%so", c);
    if (w) order[count++] = tile_w ? text_format(cx, "%si", w) : w;
    /* cache_write drops loops of extent 1 from the copy, so axis c of a single channel may have no loop */
    if (nest_find_loop(n, c, &around) || tile_c) order[count++] = tile_c ? text_format(cx, "%si", c) : c;
    if (count > 1) n = sched_reorder(cx, n, order, count, false);
    if (tile_w || tile_c) *attach = order[tile_w + tile_c - 1];
    for (int a = (k->row >= 0 ? k->row : k->last) - 1; a >= 0 && !*attach; a--)
        if (nest_find_loop(n, loop_name(cx, k->out, a), &around)) *attach = loop_name(cx, k->out, a);
    return n;
}

/* Moves acc's reduce loops outside its loops over w and c, and the initial values before them. */
static const Nest *order_accumulation(Ctx *cx, const Nest *n, const char *acc)
{
    const Stage *s = nest_stage(n, acc);
    const char *order[MAX_AXES];
    int count = 0;
    Path found;
    for (int a = s->data_count; a < s->axis_count; a++)
        if (nest_find_loop(n, loop_name(cx, s, a), &found)) order[count++] = loop_name(cx, s, a);
    const char *first = count ? order[0] : NULL;
    for (int a = 0; a < s->data_count; a++)
        if (nest_find_loop(n, loop_name(cx, s, a), &found)) order[count++] = loop_name(cx, s, a);
    if (!first) return n;
    if (count > 1) n = sched_reorder(cx, n, order, count, false);
    return sched_decompose_reduction(cx, n, acc, first);
}

typedef const Nest *LoopKindStep(Ctx *cx, const Nest *n, const char *loop);

static const Nest *contracted_unrolled(Ctx *cx, const Nest *n, const char *loop)
{
    return sched_contracted(cx, n, loop, false);
}

static const Nest *contracted_vector(Ctx *cx, const Nest *n, const char *loop)
{
    return sched_contracted(cx, n, loop, true);
}

static const Nest *mark_short(Ctx *cx, const Nest *n, const char *loop, int64_t most, LoopKindStep *step)
{
    Path p;
    if (!nest_find_loop(n, loop, &p)) return n;
    const Expr *extent = p.at[p.depth - 1]->extent;
    return extent->kind == EXPR_INT && extent->integer > 1 && extent->integer <= most ? step(cx, n, loop) : n;
}

/* Returns the step for the loops of a sum: on a target with fma, a product and its addition are rounded once. */
static LoopKindStep *step_of_sums(Ctx *cx, const Stage *s, const Target *t)
{
    const Tensor **reads;
    const bool contracts = target_has(t, "fma") && s->reducer == REDUCE_SUM && s->out[0]->type == F32
                           && stage_reads(cx, s, &reads) > 1;
    if (t->lanes == 1) return contracts ? contracted_unrolled : sched_unroll;
    return contracts ? contracted_vector : sched_vectorize;
}

/* Vectorizes the tile's loops, or, on a scalar core, unrolls them, so that its accumulators become variables. */
static const Nest *mark_tile(Ctx *cx, const Nest *n, const char *acc, const Tiling *k, const Target *t)
{
    LoopKindStep *step = t->lanes == 1 ? sched_unroll : sched_vectorize;
    LoopKindStep *sums = step_of_sums(cx, nest_stage(n, acc), t);
    for (int a = k->last; a >= 0; a = a == k->last ? k->row : -1) {
        int64_t most = a == k->last ? k->c : k->w;
        const char *axis = expr_as_var(nest_stage(n, acc)->axis[a].var)->name, *out = loop_name(cx, k->out, a);
        n = mark_short(cx, n, out, most, step);
        n = mark_short(cx, n, text_format(cx, "%si", out), most, step);
        n = mark_short(cx, n, text_format(cx, "%s.%s", acc, axis), most, sums);
        n = mark_short(cx, n, text_format(cx, "%s@init.%s", acc, axis), most, step);
    }
    return n;
}

const Nest *tile_reductions(Ctx *cx, const Nest *n, const Stage *out, const char *const *acc, int count, bool whole_row,
                            const Target *t)
{
    const char *attach;
    Tiling k = tiling_of(cx, n, out, t, registers_for(cx, nest_stage(n, acc[0]), t), whole_row);
    n = split_output(cx, n, &k, &attach);
    for (int i = 0; i < count && !ctx_failed(cx); i++) {
        if (attach) n = sched_compute_at(cx, n, acc[i], attach);
        n = sched_set_scope(cx, n, acc[i], SCOPE_REGISTER);
        n = order_accumulation(cx, n, acc[i]);
        if (!ctx_failed(cx)) n = mark_tile(cx, n, acc[i], &k, t);
    }
    return n;
}

/* ---- Weights stored narrower than they are read -----------------------------------------------------------------
 * They stay narrow in memory. If several positions of a tile use a weight, a row is widened once per step of the
 * reduction; otherwise each is widened at its use. */

/* Returns a stage over constants only, such as the dequantization of weights, or NULL if there is none. */
static const Stage *stored_weights(Ctx *cx, const Nest *n)
{
    for (int i = 0; i < n->stage_count; i++) {
        const Tensor **reads;
        int count = stage_reads(cx, n->stage[i], &reads);
        bool is_constant = count > 0 && n->stage[i]->reducer == REDUCE_NONE && !makes_output(n, n->stage[i]);
        for (int r = 0; r < count; r++) is_constant = is_constant && tensor_is_constant(reads[r]);
        if (is_constant) return n->stage[i];
    }
    return NULL;
}

/* Computes the weights once per step of the reduction, for all positions of the tile. */
static const Nest *hold_weights(Ctx *cx, const Nest *n, const char *weights, const char *acc)
{
    const Stage *s = nest_stage(n, acc), *w = nest_stage(n, weights);
    const char *inner = NULL;
    Path found;
    for (int a = s->data_count; a < s->axis_count; a++)
        if (nest_find_loop(n, loop_name(cx, s, a), &found)) inner = loop_name(cx, s, a);
    if (!inner) return sched_compute_inline(cx, n, weights);
    n = sched_compute_at(cx, n, weights, inner);
    n = sched_set_scope(cx, n, weights, SCOPE_REGISTER);
    return ctx_failed(cx) ? n : mark_short(cx, n, loop_name(cx, w, w->data_count - 1), INT32_MAX, sched_vectorize);
}

static const Nest *schedule(Ctx *cx, const GroupNest *g)
{
    const Stage *reduces = reducing_stage(g->nest), *stored = stored_weights(cx, g->nest);
    const char *acc = reduces->name, *weights = stored ? stored->name : NULL;
    /* C compilers merge equal values of scalar variables */
    if (weights && g->target->lanes == 1) weights = NULL;
    if (weights
        && tiling_of(cx, g->nest, output_stage(g->nest), g->target, registers_for(cx, reduces, g->target), false).w < 2)
        weights = NULL;
    const Nest *n = inline_elementwise(cx, g->nest, weights);
    if (makes_output(n, nest_stage(n, acc))) {
        n = sched_cache_write(cx, n, acc, "acc", SCOPE_REGISTER);
        acc = "acc";
    }
    if (!ctx_failed(cx)) n = tile_reductions(cx, n, output_stage(n), &acc, 1, false, g->target);
    return weights && !ctx_failed(cx) ? hold_weights(cx, n, weights, acc) : n;
}

const Implementation implementations_generic_contraction[] = {
    { .name = "contraction.tiled", .plevel = 10, .ops = "pattern:out-fusable pattern:reduction",
      .what = "tiles of w and c accumulated in a small array, c innermost", .applies = applies, .schedule = schedule },
    { 0 }
};
