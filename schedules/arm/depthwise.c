/* SPDX-License-Identifier: MIT */
/* Schedules 8-bit depthwise convolutions over whole tiles of channels (ops/integer/packed.c). The rows under an output
 * row are copied with their padding, so taps need no guards.
 *
 *   for rows of the output:
 *       padded = the rows of x under the window          omitted if no window leaves x
 *       for tiles of two pixels, for tiles of channels:
 *           acc[2][n] = b
 *           acc += padded . weights                      LW_WINDOW2_I8: all taps at once, of several tiles of
 *                                                        channels on Helium (LW_WINDOW2_TILES_I8)
 *           y = epilogue(acc) */

/* Decision: a depthwise convolution reads padded rows. The rows of x that an output row requires are copied with
 * their padding, once for two output rows. No tap needs a guard, and all taps are one instruction for a tile of
 * channels (`schedules/arm/depthwise.c`). On cores that multiply 16-bit pairs, windows of 3x3 with stride 1 and
 * dilation 1 gather four rows channel by channel. A pair of rows is used for two output rows and three columns of the
 * window, six products from one load. A channel's weights, factor and shift stay in registers
 * (`schedules/arm/columns.c`). */
#include "schedules/arm/scale.h"

#include "support/text.h"

enum { TILE = 2 };

typedef struct DepthwiseRows {
    const Stage *out;
    int tiled, last;
    int64_t w, block;
    int64_t whole;               /* number of channels of one instruction: one or several tiles of `block` channels */
    /* true if the loops over tiles of channels are outside the columns, so that weights stay in registers */
    bool channels_first;
    const char *at_row, *at_tile;
} DepthwiseRows;

/* Returns the axis that tiles of two pixels divide best; on a tie the row axis, because two output rows then share one
 * copy. */
static DepthwiseRows windows_of(const Stage *out, const Target *t)
{
    const int last = out->data_count - 1;
    DepthwiseRows s = { .out = out, .last = last, .w = 1, .block = channel_tile(t, axis_extent(out, last)),
                        .channels_first = target_has(t, "avx2") };
    int64_t best = INT64_MAX;
    s.whole = s.block;
    s.tiled = s.last - 1;
    for (int a = s.last - 2; a < s.last; a++) {
        int64_t extent = axis_extent(out, a), waste = extent % TILE ? 1000000 / extent : 0;
        if (extent < TILE || waste >= best) continue;
        best = waste;
        s.tiled = a;
        s.w = TILE;
    }
    return s;
}

/* If both pixels are scaled at once, chooses the largest number of tiles of channels that divides the row and whose
 * sums use at most 512 bytes. */
static void choose_whole(Ctx *cx, const GroupNest *g, const Nest *n, DepthwiseRows *s)
{
    enum { MOST = 64 };
    const int64_t channels = axis_extent(s->out, s->last);
    if (s->w != TILE || channels % s->block || !target_has(g->target, "mve")
        || !scales_pair_at_once(cx, g, nest_stage(n, s->out->name), s->block))
        return;
    for (int64_t whole = MOST; whole > s->whole; whole -= s->block)
        if (channels % whole == 0) s->whole = whole;
}

static const Nest *split_windows(Ctx *cx, const Nest *n, DepthwiseRows *s)
{
    const char *order[MAX_AXES], *inner[2];
    int count = 0, inner_count = 0, rows = 0;
    Path found;
    for (int a = 0; a <= s->last; a++) {
        const char *loop = loop_name(cx, s->out, a);
        int64_t tile = a == s->tiled ? s->w : a == s->last ? s->whole : 1, extent = axis_extent(s->out, a);
        if (tile > 1 && extent > tile) {
            n = sched_split(cx, n, loop, tile, a == s->tiled && extent % tile ? TAIL_SHIFT : TAIL_GUARD, NULL, NULL);
            order[count++] = text_format(cx, "%so", loop);
            inner[inner_count++] = text_format(cx, "%si", loop);
        } else if (nest_find_loop(n, loop, &found)) {
            if (tile > 1) inner[inner_count++] = loop;
            else order[count++] = loop;
        }
        if (a == s->last - 2 && count) s->at_row = order[count - 1];
        if (a == s->last - 2) rows = count;
    }
    if (s->channels_first && count == rows + 2) {
        const char *columns = order[rows];
        order[rows] = order[rows + 1];
        order[rows + 1] = columns;
    }
    s->at_tile = count ? order[count - 1] : NULL;
    for (int i = 0; i < inner_count; i++) order[count++] = inner[i];
    return count > 1 ? sched_reorder(cx, n, order, count, false) : n;
}

/* Returns the macro for all taps of the tile, in one or two dimensions, and for several tiles of channels if there are
 * several. */
static const char *macro_of(const Stage *acc, const DepthwiseRows *s)
{
    static const char *const macro[2][3] = { { "LW_TAPS_I8", "LW_TAPS2_I8", "LW_TAPS2_TILES_I8" },
                                             { "LW_WINDOW_I8", "LW_WINDOW2_I8", "LW_WINDOW2_TILES_I8" } };
    const bool is_window = axis_extent(acc, acc->data_count) > 1 && axis_extent(acc, acc->data_count + 1) > 1;
    return macro[is_window][s->whole > s->block ? 2 : s->w > 1];
}

static const Nest *make_windows(Ctx *cx, const Nest *n, const char *acc, const DepthwiseRows *s)
{
    const Stage *a = nest_stage(n, acc);
    const char *order[MAX_AXES];
    int count = 0;
    Path found;
    for (int turn = 0; turn < 2; turn++)
        for (int i = turn ? 0 : a->data_count; i < (turn ? a->data_count : a->axis_count); i++)
            if (nest_find_loop(n, loop_name(cx, a, i), &found)) order[count++] = loop_name(cx, a, i);
    n = sched_reorder(cx, n, order, count, false);
    n = sched_decompose_reduction(cx, n, acc, order[0]);
    if (s->whole > s->block) n = sched_split(cx, n, order[count - 1], s->block, TAIL_GUARD, NULL, NULL);
    return ctx_failed(cx) ? n : sched_tensorize(cx, n, order[0], macro_of(nest_stage(n, acc), s));
}

/* Returns the loop over a tile's pixels or channels along an axis of the output. */
static const char *tile_loop(Ctx *cx, const DepthwiseRows *s, int axis, int64_t size)
{
    const char *loop = loop_name(cx, s->out, axis);
    return axis_extent(s->out, axis) > size ? text_format(cx, "%si", loop) : loop;
}

/* Returns the loop that stores the first values of the sums along an axis. */
static const char *first_loop(Ctx *cx, const Nest *n, const char *acc, int axis)
{
    return text_format(cx, "%s@init.%s", acc, expr_as_var(nest_stage(n, acc)->axis[axis].var)->name);
}

/* Computes the tile's channels at once if the target has vectors for them, and both pixels at once if it has
 * instructions for two. Otherwise computes them one by one. */
static const Nest *unroll_tile(Ctx *cx, const Nest *n, const GroupNest *g, const char *acc, const DepthwiseRows *s)
{
    const char *out = s->out->name;
    if (s->w == TILE && scales_pair_at_once(cx, g, nest_stage(n, out), s->whole)) {
        n = scale_pair_at_once(cx, n, tile_loop(cx, s, s->tiled, s->w));
        n = initialize_pair_at_once(cx, n, first_loop(cx, n, acc, s->tiled));
    } else if (scales_at_once(cx, g, nest_stage(n, out), s->whole)) {
        n = scale_at_once(cx, n, out, tile_loop(cx, s, s->last, s->whole));
        n = initialize_at_once(cx, n, first_loop(cx, n, acc, s->last));
    }
    if (s->whole > s->block) return n;
    for (int a = s->tiled; a <= s->last; a = a == s->tiled ? s->last : s->last + 1) {
        n = unroll_if_found(cx, n, tile_loop(cx, s, a, a == s->last ? s->whole : s->w));
        n = unroll_if_found(cx, n, first_loop(cx, n, acc, a));
    }
    return n;
}

static const Nest *schedule(Ctx *cx, const GroupNest *g)
{
    const char *acc = product_stage(g->nest)->name, *padded = patch_stage(cx, g->nest, product_stage(g->nest))->name;
    const Nest *n = isolate_product(cx, g->nest, &acc, (const char *const[]){ padded, NULL });
    if (ctx_failed(cx)) return n;
    bool is_direct = nest_stage(n, padded)->value[0]->kind == EXPR_READ;
    if (is_direct) n = sched_compute_inline(cx, n, padded);
    DepthwiseRows s = windows_of(output_stage(n), g->target);
    const char *axis = expr_as_var(nest_stage(n, acc)->axis[s.last].var)->name;
    if (axis_extent(s.out, s.last) % s.block) n = sched_pad(cx, n, acc, axis, s.block);
    choose_whole(cx, g, n, &s);
    n = split_windows(cx, n, &s);
    if (s.at_tile) n = sched_compute_at(cx, n, acc, s.at_tile);
    if (s.at_row && !is_direct) n = sched_compute_at(cx, n, padded, s.at_row);
    n = sched_set_scope(cx, n, acc, SCOPE_REGISTER);
    if (!ctx_failed(cx) && !is_direct)
        n = fetch_rows(cx, n, g->group->anchor, padded, loop_name(cx, nest_stage(n, padded), s.last - 1),
                       loop_name(cx, nest_stage(n, padded), s.last));
    if (!ctx_failed(cx)) n = make_windows(cx, n, acc, &s);
    return ctx_failed(cx) ? n : unroll_tile(cx, n, g, acc, &s);
}

/* Returns true if the weights have the layout [o/block][kh][kw][block] with this target's tile, and if there is at
 * least one whole tile of channels, because fewer channels are not padded. */
static bool applies(Ctx *cx, const GroupNest *g)
{
    const Tensor *k = g->group->anchor->in[1];
    const int64_t channels = tensor_dim(g->group->anchor->out[0], 3), block = channel_tile(g->target, channels);
    return tensor_dim(k, k->rank - 1) == block && channels >= block && product_makes_output(cx, g);
}

const Implementation implementations_arm_depthwise[] = {
    { .name = "depthwise.windows",
      .features = "rows",
      .plevel = 12,
      .ops = "packed_depthwise2d",
      .what = "two pixels by a tile of channels, all taps at once over padded rows",
      .applies = applies,
      .schedule = schedule },
    { 0 }
};
