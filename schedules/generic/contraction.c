/* SPDX-License-Identifier: MIT */
/* Convolutions, dense layers, pools and sums: one reduction whose result goes through an elementwise tail.
 *
 *   for the output's outer axes, its tiles of w and of c:
 *       acc[w][c] = init                            the tile's accumulators, a small array or registers
 *       for the reduce axes: acc[w][c] += ...       c innermost: weights and output lie along it
 *       for the tile: y = tail(acc[w][c])
 *
 * c is the last axis, w the one before it. The reduce axes keep their order, so floats are exact. */
#include "schedules/tile.h"

typedef struct Tiling { const Stage *out; int last; int64_t c, w; } Tiling;

/* The anchor must reduce, and its result must have the shape of the output. */
static bool applies(Ctx *cx, const GroupNest *g)
{
    (void)cx;
    const Stage *a = nest_stage(g->nest, g->anchor), *out = output_stage(g->nest);
    int reducing = 0;
    for (int i = 0; i < g->nest->stage_count; i++) reducing += g->nest->stage[i]->reducer != REDUCE_NONE;
    if (!a || reducing != 1 || g->nest->output_count != 1 || out->data_count < 1) return false;
    if (a->reducer == REDUCE_NONE || a->out_count != 1 || a->data_count != out->data_count) return false;
    for (int d = 0; d < a->data_count; d++)
        if (a->axis[d].extent != out->axis[d].extent || axis_extent(a, d) < 0) return false;
    return true;
}

/* The tile of accumulators. On a core with lanes: rows of c that a C compiler turns into vectors (a multiple of half the
 * lanes, up to twice as many), as many along w as stay in registers; a single row may be four times as long. On a scalar
 * core: `accumulators` single values, square where there is a w. */
static Tiling tiling_of(const Stage *out, const Target *t)
{
    Tiling k = { out, out->data_count - 1, 1, 1 };
    int64_t c = axis_extent(out, k.last), w = k.last > 0 ? axis_extent(out, k.last - 1) : 1;
    if (t->lanes == 1) {
        k.c = tile_size(c, w > 1 ? 2 : 4, w > 1 ? t->accumulators / 2 : t->accumulators, 1);
        k.w = tile_size(w, 2, t->accumulators / k.c, 1);
    } else {
        k.c = tile_size(c, t->lanes, w > 1 ? 2 * t->lanes : 4 * t->lanes, t->lanes / 2);
        k.w = tile_size(w, t->accumulators, k.c < t->lanes ? 2 * t->accumulators : t->accumulators, 1);
    }
    return k;
}

static const Nest *split_output(Ctx *cx, const Nest *n, const Tiling *k, const char **attach)
{
    const char *c = loop_name(cx, k->out, k->last), *order[4];
    int count = 0;
    bool tile_w = k->last > 0 && k->w < axis_extent(k->out, k->last - 1), tile_c = k->c < axis_extent(k->out, k->last);
    const char *w = k->last > 0 ? loop_name(cx, k->out, k->last - 1) : NULL;
    *attach = NULL;
    if (tile_w) n = sched_split(cx, n, w, k->w, TAIL_GUARD, NULL, NULL);
    if (tile_c) n = sched_split(cx, n, c, k->c, TAIL_GUARD, NULL, NULL);
    if (tile_w) order[count++] = text_format(cx, "%so", w);
    if (tile_c) order[count++] = text_format(cx, "%so", c);
    if (w) order[count++] = tile_w ? text_format(cx, "%si", w) : w;
    order[count++] = tile_c ? text_format(cx, "%si", c) : c;
    n = sched_reorder(cx, n, order, count, false);
    if (tile_w || tile_c) *attach = order[tile_w + tile_c - 1];
    else if (k->last > 1) *attach = loop_name(cx, k->out, k->last - 2);
    return n;
}

/* acc's loops: the reduce axes outside, its w and c inside, the initial values before them. */
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

static const Nest *unroll_short(Ctx *cx, const Nest *n, const char *loop, int64_t most)
{
    Path p;
    if (!nest_find_loop(n, loop, &p)) return n;
    const Expr *extent = p.at[p.depth - 1]->extent;
    return extent->kind == EXPR_INT && extent->integer <= most ? sched_unroll(cx, n, loop) : n;
}

/* On a scalar core the tile's loops are written out, so that its accumulators are variables. */
static const Nest *unroll_tile(Ctx *cx, const Nest *n, const char *acc, const Tiling *k, int64_t most)
{
    for (int a = k->last; a >= 0 && a >= k->last - 1; a--) {
        const char *axis = expr_as_var(nest_stage(n, acc)->axis[a].var)->name, *out = loop_name(cx, k->out, a);
        n = unroll_short(cx, n, out, most);
        n = unroll_short(cx, n, text_format(cx, "%si", out), most);
        n = unroll_short(cx, n, text_format(cx, "%s.%s", acc, axis), most);
        n = unroll_short(cx, n, text_format(cx, "%s@init.%s", acc, axis), most);
    }
    return n;
}

static const Nest *schedule(Ctx *cx, const GroupNest *g)
{
    const char *acc = g->anchor, *attach;
    const Nest *n = inline_elementwise(cx, g->nest, NULL);
    if (makes_output(n, nest_stage(n, acc))) {
        n = sched_cache_write(cx, n, acc, "acc", SCOPE_REGISTER);
        acc = "acc";
    }
    Tiling k = tiling_of(output_stage(n), g->target);
    n = split_output(cx, n, &k, &attach);
    if (ctx_failed(cx)) return n;
    if (attach) n = sched_compute_at(cx, n, acc, attach);
    n = sched_set_scope(cx, n, acc, SCOPE_REGISTER);
    n = order_accumulation(cx, n, acc);
    return g->target->lanes == 1 && attach && !ctx_failed(cx) ? unroll_tile(cx, n, acc, &k, g->target->accumulators) : n;
}

const Implementation implementations_generic_contraction[] = {
    { .name = "contraction.tiled", .target = "generic", .plevel = 10, .ops = "pattern:out-fusable pattern:reduction",
      .what = "tiles of w and c accumulated in a small array, c innermost", .applies = applies, .schedule = schedule },
    { 0 }
};
