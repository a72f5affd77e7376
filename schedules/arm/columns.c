/* SPDX-License-Identifier: MIT */
/* Schedules 8-bit depthwise convolutions of 3x3 with stride 1 and dilation 1, on cores that multiply pairs of 16-bit
 * values (ops/integer/packed.c). Two rows of a column form a pair, so that one load of a pair is used in six products
 * of one channel: two output rows by three columns of the window.
 *
 *   for tiles of two output rows:
 *       padded = their four rows of x                    omitted if no window leaves x
 *       for tiles of four channels:
 *           columns[4][w + 2][4] = padded                LW_COLUMNS_I16: channel by channel, a column's rows adjacent
 *           for tiles of at most eight pixels of a row:
 *               acc[4][w][2] = b
 *               acc += columns . weights                 LW_DOT_COLUMNS_I16
 *               y = epilogue(acc)                        a channel's factor and shift stay in registers */
#include "schedules/arm/arm.h"

#include "support/text.h"

enum { ROWS = 2, CHANNELS = 4, MOST_PIXELS = 8, KERNEL = 3 };
enum { BATCH, ROW, PIXEL, CHANNEL };      /* axes of every stage */

typedef struct Columns {
    const Stage *out;
    int64_t pixels;
    const char *at_rows, *at_channels, *at_pixels;
} Columns;

/* Returns the largest tile that divides the row. If no divisor is at least half of the maximum, the last tile is
 * shifted instead. */
static int64_t pixels_of(int64_t width)
{
    if (width <= MOST_PIXELS) return width;
    for (int64_t tile = MOST_PIXELS; tile > MOST_PIXELS / 2; tile--)
        if (width % tile == 0) return tile;
    return MOST_PIXELS;
}

/* Splits the loops of the output: rows and channels, and pixels if a row has more than one tile. */
static const Nest *split_output(Ctx *cx, const Nest *n, Columns *s)
{
    const char *order[MAX_AXES], *row = loop_name(cx, s->out, ROW), *pixel = loop_name(cx, s->out, PIXEL),
                                 *channel = loop_name(cx, s->out, CHANNEL), *inner[3];
    const int64_t height = axis_extent(s->out, ROW), width = axis_extent(s->out, PIXEL),
                  channels = axis_extent(s->out, CHANNEL);
    int count = 0;
    Path found;
    if (nest_find_loop(n, loop_name(cx, s->out, BATCH), &found)) order[count++] = loop_name(cx, s->out, BATCH);
    inner[0] = channel, inner[1] = pixel, inner[2] = row;
    if (height > ROWS) {
        n = sched_split(cx, n, row, ROWS, height % ROWS ? TAIL_SHIFT : TAIL_GUARD, NULL, NULL);
        order[count++] = text_format(cx, "%so", row);
        inner[2] = text_format(cx, "%si", row);
    }
    s->at_rows = count ? order[count - 1] : NULL;
    if (channels > CHANNELS) {
        n = sched_split(cx, n, channel, CHANNELS, TAIL_GUARD, NULL, NULL);
        order[count++] = text_format(cx, "%so", channel);
        inner[0] = text_format(cx, "%si", channel);
    }
    s->at_channels = count ? order[count - 1] : NULL;
    if (width > s->pixels) {
        n = sched_split(cx, n, pixel, s->pixels, width % s->pixels ? TAIL_SHIFT : TAIL_GUARD, NULL, NULL);
        order[count++] = text_format(cx, "%so", pixel);
        inner[1] = text_format(cx, "%si", pixel);
    }
    s->at_pixels = count ? order[count - 1] : NULL;
    for (int i = 0; i < 3; i++) order[count++] = inner[i];
    return sched_reorder(cx, n, order, count, false);
}

/* Stores a tile channel by channel, with adjacent rows of a column. */
static const Nest *pack_by_channel(Ctx *cx, const Nest *n, const char *stage)
{
    const Stage *s = nest_stage(n, stage);
    const char *order[] = { expr_as_var(s->axis[BATCH].var)->name, expr_as_var(s->axis[CHANNEL].var)->name,
                            expr_as_var(s->axis[PIXEL].var)->name, expr_as_var(s->axis[ROW].var)->name };
    return sched_pack(cx, n, stage, order, 4);
}

static const Nest *gather_columns(Ctx *cx, const Nest *n, const char *columns)
{
    const Stage *s = nest_stage(n, columns);
    const char *order[] = { loop_name(cx, s, CHANNEL), loop_name(cx, s, PIXEL), loop_name(cx, s, ROW) };
    n = sched_reorder(cx, n, order, 3, false);
    return sched_tensorize(cx, n, order[0], "LW_COLUMNS_I16");
}

static const Nest *multiply_columns(Ctx *cx, const Nest *n, const char *acc)
{
    const Stage *s = nest_stage(n, acc);
    const char *order[] = { loop_name(cx, s, s->data_count + 1), loop_name(cx, s, s->data_count),
                            loop_name(cx, s, CHANNEL), loop_name(cx, s, PIXEL), loop_name(cx, s, ROW) };
    n = sched_reorder(cx, n, order, 5, false);
    n = sched_decompose_reduction(cx, n, acc, order[0]);
    return sched_tensorize(cx, n, order[0], "LW_DOT_COLUMNS_I16");
}

static const Nest *schedule(Ctx *cx, const GroupNest *g)
{
    const char *acc = product_stage(g->nest)->name, *columns = patch_stage(cx, g->nest, product_stage(g->nest))->name;
    const char *padded = patch_stage(cx, g->nest, nest_stage(g->nest, columns))->name;
    const Nest *n = isolate_product(cx, g->nest, &acc, (const char *const[]){ columns, padded, NULL });
    if (ctx_failed(cx)) return n;
    const bool is_direct = nest_stage(n, padded)->value[0]->kind == EXPR_READ;
    if (is_direct) n = sched_compute_inline(cx, n, padded);
    const Stage *out = output_stage(n);
    Columns s = { .out = out, .pixels = pixels_of(axis_extent(out, PIXEL)) };
    n = split_output(cx, n, &s);
    if (s.at_pixels) n = sched_compute_at(cx, n, acc, s.at_pixels);
    if (s.at_channels) n = sched_compute_at(cx, n, columns, s.at_channels);
    if (s.at_rows && !is_direct) n = sched_compute_at(cx, n, padded, s.at_rows);
    n = sched_set_scope(cx, n, acc, SCOPE_REGISTER);
    n = pack_by_channel(cx, pack_by_channel(cx, n, columns), acc);
    if (!ctx_failed(cx) && !is_direct)
        n = fetch_rows(cx, n, g->group->anchor, padded, loop_name(cx, nest_stage(n, padded), PIXEL),
                       loop_name(cx, nest_stage(n, padded), CHANNEL));
    if (!ctx_failed(cx)) n = gather_columns(cx, n, columns);
    return ctx_failed(cx) ? n : multiply_columns(cx, n, acc);
}

/* Returns true for weights [c][3][3], as packed.channels packs them, and windows with stride 1 and dilation 1. */
static bool applies(Ctx *cx, const GroupNest *g)
{
    const Node *anchor = g->group->anchor;
    const Tensor *k = anchor->in[1], *y = anchor->out[0];
    int64_t stride[2], dilation[2];
    node_ints(anchor, "stride", stride, 2, 1);
    node_ints(anchor, "dilation", dilation, 2, 1);
    bool all = k->rank == 3 && tensor_dim(k, 0) % CHANNELS == 0 && product_makes_output(cx, g);
    for (int d = 0; d < 2; d++)
        all = all && tensor_dim(k, 1 + d) == KERNEL && stride[d] == 1 && dilation[d] == 1
              && tensor_dim(y, 1 + d) >= ROWS;
    return all;
}

const Implementation implementations_arm_columns[] = {
    { .name = "depthwise.columns",
      .features = "rows mla dsp",
      .plevel = 12,
      .ops = "packed_depthwise2d",
      .what = "two rows by up to eight pixels of four channels, two rows of a column in a pair",
      .applies = applies,
      .schedule = schedule },
    { 0 }
};
