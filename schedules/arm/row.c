/* SPDX-License-Identifier: MIT */
/* Schedules 8-bit depthwise convolutions of narrow images, on scalar cores with MLA (ops/integer/packed.c). All sums of
 * a channel in a row of the output are kept in registers. An element of x that several windows of the row read is
 * loaded once.
 *
 *   for rows of the output, for channels:
 *       acc[w] = b                                       variables
 *       for rows of the window:
 *           acc += x . weights                           the columns of the window and the pixels unrolled
 *       y = epilogue(acc)
 *
 * Padding is the zero point instead of x. The first and the last row of the output have separate code, so that the rows
 * between them need no conditions. All rows are computed in order and there is no buffer: the output may overlap a
 * dying input by all but the rows of a window (lower/overlap.c). */

/* Decision: a narrow image has no padded rows. If the registers hold all sums of a row of the output, scalar cores
 * with MLA compute it channel by channel, the window's columns unrolled (`schedules/arm/row.c`). A load is used in up
 * to three sums, columns or windows need not be gathered, and rows are written in order without a buffer. The output
 * therefore overlaps the input except for two rows. On kws this saves 7.5 % of the Cortex-M4's instructions and 11.3 %
 * of the Cortex-M3's, and 1,536 bytes of RAM. In wider images, each layer would save 1 % of visual wake words'
 * instructions, for 1 to 2 KB of code, because each tile at a border has code of its own. Therefore the code of a row
 * must run at least a thousand times. A row of at most 16 statements is as short as other code and takes half the
 * instructions, because most of its windows reach into the padding. It is therefore used even if it runs only a few
 * times. With `--optimize speed`, the code of a row may run less often (`Target.spends_code`).
 *
 *   - A guarded copy is also an instruction: the predicate is an operand, and no loop is cut
 *     (`lower/passes/partition.c`).
 *   - Where the core has vectors, requantization is an instruction (`schedules/arm/scale.c`), as is the sum of
 *     two rescaled bytes, alone or after a convolution, whose products then become bytes in a tile of their own.
 *     Helium scales two pixels at once, which share the loads of factors and shifts. It adds the sign before the
 *     rounding shift by VQDMLAH, unless zero is the smallest byte: then negative values become that byte in any case.
 *     VQMOVN narrows eight channels, and its saturation is the limit.
 *   - Pools and means of bytes take all taps of a window at once, for several channels (`schedules/arm/pool.c`):
 *     sums in 16 bits, which hold 256 taps, and maxima per byte. Under padding each tap has its predicate. */
#include "schedules/arm/arm.h"

#include "support/text.h"

enum { PIXEL = 2, CHANNEL = 3 };             /* axes of every stage */
/* COPIES: copies of a row's code; MOST_COLUMNS: limit of columns of a window that are unrolled */
enum { COPIES = 2, MOST_COLUMNS = 8 };
/* Code that needs up to 1 KB more text than the code over padded rows must run at least a thousand times. A row of at
 * most 16 statements takes .1 to .2 KB more, and half the instructions: most of its windows reach into the padding. */
enum { LEAST_RUNS = 1000, SHORT_ROW = 16 };

static const Nest *schedule(Ctx *cx, const GroupNest *g)
{
    const char *acc = product_stage(g->nest)->name;
    const Nest *n = isolate_product(cx, g->nest, &acc, (const char *const[]){ NULL });
    if (ctx_failed(cx)) return n;
    const Stage *out = output_stage(n), *sums = nest_stage(n, acc);
    const char *pixel = loop_name(cx, out, PIXEL), *channel = loop_name(cx, out, CHANNEL),
               *row = loop_name(cx, sums, sums->data_count), *column = loop_name(cx, sums, sums->data_count + 1);
    n = sched_reorder(cx, n, (const char *const[]){ channel, pixel }, 2, false);
    n = sched_compute_at(cx, n, acc, channel);
    n = sched_set_scope(cx, n, acc, SCOPE_REGISTER);
    n = sched_reorder(cx, n, (const char *const[]){ row, column, loop_name(cx, sums, PIXEL) }, 3, false);
    n = sched_decompose_reduction(cx, n, acc, row);
    n = sched_unroll(cx, sched_unroll(cx, n, column), loop_name(cx, sums, PIXEL));
    n = sched_unroll(cx, n, text_format(cx, "%s@init.%s", acc, expr_as_var(sums->axis[PIXEL].var)->name));
    n = sched_unroll(cx, n, pixel);
    const int64_t statements = axis_extent(out, PIXEL) * (axis_extent(sums, sums->data_count + 1) + 2);
    return ctx_failed(cx) ? n : SCHED(cx, n, copy_budget, .factor = { COPIES * statements });
}

/* Returns true if the instructions that a row of `pixels` saves are worth its code. */
static bool is_worth_its_code(const Target *t, int64_t pixels, int64_t columns, int64_t runs)
{
    return t->spends_code || runs >= LEAST_RUNS || pixels * (columns + 2) <= SHORT_ROW;
}

/* Returns true for several channels, a window with rows and columns, and output rows whose sums fit the registers, if
 * the saved instructions are worth their code. Vectors of bytes take several channels at once instead. */
static bool applies(Ctx *cx, const GroupNest *g)
{
    const Node *anchor = g->group->anchor;
    const Tensor *y = anchor->out[0];
    const int64_t pixels = tensor_dim(y, PIXEL), runs = tensor_dim(y, PIXEL - 1) * tensor_dim(y, CHANNEL);
    const int most = g->target->integer_accumulators ? g->target->integer_accumulators : g->target->accumulators;
    int64_t kernel[2];
    node_ints(anchor, "kernel", kernel, 2, 1);
    return product_makes_output(cx, g) && !target_has(g->target, "bytes") && pixels > 1 && pixels <= most
           && tensor_dim(y, CHANNEL) > 1 && kernel[0] > 1 && kernel[1] > 1 && kernel[1] <= MOST_COLUMNS
           && is_worth_its_code(g->target, pixels, kernel[1], runs);
}

const Implementation implementations_arm_row[] = {
    { .name = "depthwise.row",
      .features = "rows mla",
      .plevel = 13,
      .ops = "packed_depthwise2d",
      .what = "the pixels of a row in registers, channel by channel, without a copy of x",
      .applies = applies,
      .schedule = schedule },
    { 0 }
};
