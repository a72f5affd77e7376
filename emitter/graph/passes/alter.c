/* SPDX-License-Identifier: MIT */
/* Lets a target replace calls before grouping. An implementation row with `alter` offers another form of a call, such
 * as a convolution over packed weights. Rows are tried nearest first (implementation_rank); the first form offered
 * wins. */

/* Decision: a target may replace calls. Before fusion, rows of implementations with `alter` replace calls
 * (`graph/passes/alter.c`). On Arm an 8-bit convolution becomes a product of rows over packed weights, with zero points
 * and biases in the initial accumulators (`ops/integer/packed.c`, `schedules/arm/rows.c`).
 *
 *   - Windows are gathered into a patch matrix of two pixels, so padding concerns the patch, not the product.
 *   - On cores with 16-bit pairs the patch is widened once for all channels, and two rows of weights share one 16-bit
 *     value, even + 256 * odd. SMLAD by the value and by its even byte gives both rows' sums, so a word of weights is
 *     widened once for two products; `rows_fit_in_pairs` decides where that is exact.
 *   - Cores with one 32-bit product per instruction (`words`: Cortex-M3, M0+) put two pixels in each number of the
 *     patch, x0 + 65536 * x1, so that a product with a weight serves both (`LW_DOT_WORDS_I8`). Two such products fit
 *     both halves whatever the elements are, because weights are at least -127. The sum of all products wraps, so the
 *     upper halves are summed separately; the lower sum follows from both. A product costs 1.5 instructions instead of
 *     2.4 on Cortex-M3, 2.6 instead of 5.7 on M0+.
 *   - A dense layer has one pixel, so two weights share a factor instead (`long`: Cortex-M3). A word holds the
 *     weights of four channels; masked, and masked after a rotation, it gives two factors u + 2^24 * s, and SMLAL adds
 *     their products with x in 64 bits (`LW_DOT_LONG_I8`). Both sums stay apart for 256 elements. A product costs 1.75
 *     instructions instead of 2.5. According to the core's manual, SMLAL takes 4 to 7 cycles, fewer for small factors,
 *     so time falls less than the count.
 *   - A single row, such as a dense layer's, is read in bytes; SXTB16 pairs its bytes as it pairs those of the
 *     weights.
 *   - On targets with `panels` (x86: PMADDWD, or VPDPWSSD of VNNI) a lane is an output channel: pairs of the patch,
 *     broadcast, multiply the pairs of 8 or 16 channels, and no sum crosses lanes (`LW_PANEL4_I16`,
 *     `runtime/simd/x86_panels.h`). The sums are in memory, so an epilogue without an instruction of its own stays a
 *     loop, which C compilers vectorize.
 *   - VPDPBUSD (`vnni`) multiplies four bytes without sign by four with sign in each lane. The instruction's formula
 *     has x + 128 as the first factor (`LW_PANEL4_U8`), and `packed_conv2d` an `offset`: 128 times the sum of a
 *     channel's weights is subtracted from its initial value at compile time. Activations stay i8; the sign bit is
 *     flipped in registers.
 *   - A window's row with few channels may not fill whole blocks of a panel. It is still multiplied in place (`row`
 *     of `packed_conv2d`), which saves a patch: zero weights fill the row's last block.
 *   - The sum of two quantized tensors has three roundings, and nearly always equals one line of both bytes, rounded
 *     once. `schedules/line.c` bounds its offset by all 65,536 pairs, which is the proof; x86 then takes two products
 *     of pairs (`LW_ADD_LINE_I8`). Where no line exists, the roundings are computed one by one.
 *   - An instruction takes a whole tile of rows, so its accumulators stay in registers whatever the C compiler does
 *     with arrays (`runtime/simd/rows.h`). Bracketed numbers after its name, and operands of rank 0, are passed to the
 *     macro unchanged. */
#include "graph/passes/passes.h"

#include "support/text.h"

/* Returns the row after *key that alters calls of the operator, ordered by rank, then by position, and moves *key to
 * it. Returns NULL after the last row. */
static const Implementation *next_row(Ctx *cx, const Target *t, const Op *op, int *key)
{
    const int after = *key;
    int count;
    const Implementation *const *all = implementation_list(cx, &count), *next = NULL;
    for (int i = 0; i < count; i++) {
        if (!all[i]->alter || !text_has_word(all[i]->ops, op->name)) continue;
        const int rank = implementation_rank(cx, t, all[i]), own = rank * count + i;
        if (rank < 0 || own <= after || (next && own >= *key)) continue;
        next = all[i];
        *key = own;
    }
    return next;
}

static void alter_call(Ctx *cx, Node *call, Tensor **out, const Uses *uses)
{
    const Target *target = uses_target(uses);
    int key = -1;
    for (const Implementation *i; (i = next_row(cx, target, call->op, &key)) != NULL;) {
        Tensor *form = i->alter(cx, i, target, call, uses);
        if (!form) continue;
        form->quant = out[0]->quant;
        out[0] = form;
        return;
    }
}

/* Runs the pass. A graph without a target keeps its calls. */
Graph graph_alter(Ctx *cx, Graph g) { return g.target ? graph_rewrite(cx, g, alter_call) : g; }
