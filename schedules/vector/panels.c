/* SPDX-License-Identifier: MIT */
/* Brings float contractions on targets with vectors to their form, before grouping.
 *
 * Weights are stored in panels (ops/move/panels.c): a register tile reads its weights as one stream, and a panel stays
 * in the caches while all positions are computed (contraction.c beside this file).
 *
 * A padded convolution becomes a copy with the padding and a convolution without: windows need no guards, and a row of
 * a window is contiguous. The products that padding adds are +0 or -0 times finite weights; a sum that starts at +0
 * does not change by adding them. */

/* Decision: vector targets store weights in panels. On a target with `vectors`, the pass `alter` reorders constant
 * float weights into tiles of B output channels (`schedules/vector/panels.c`), each contiguous over the reduction.
 * `from_panels` is the logical order; it joins the group of its consumer, like weights that are stored with fewer bits,
 * and is inlined.
 *
 *   - The panel loop is outermost: all positions are computed before the next panel is read, so weights beyond the
 *     first cache are streamed once, not once per tile of positions (`schedules/vector/contraction.c`).
 *   - `schedules/panel.c` chooses the tile, positions by channels, from the registers and lanes of the target and
 *     the extents: multiply-adds, loads, overhanging tiles. A panel that exceeds the second cache costs more loads,
 *     so deep sums take narrow ones.
 *   - While a panel is multiplied, the next one is fetched (`prefetch`, a part in each tile), if all of them exceed
 *     the second cache: ResNet-50 reads 100 MB of weights once, and the first tile of each panel waited for memory.
 *     A tile whose part exceeds the lines that may be under way at once fetches a little in each step of its sums.
 *   - A convolution is computed over one axis of positions (`build_pixels`), so tiles cross rows: padding is copied
 *     before, each position has an address, and a row of 14 or 28 pixels wastes no part of a tile of 3. Where
 *     positions stay in rows, a remainder of them moves the last tile back (`tail=shift`).
 *   - Padding is a copy before the convolution: products with zero leave a sum unchanged if the weights are finite.
 *     The copy costs RAM, and a few percent of the convolution; guards cost more, because they turn the tile into an
 *     array.
 *   - The order of each sum stays, so the bits stay. */
#include <string.h>

#include "schedules/panel.h"

/* Returns x with the padding of the convolution, or x itself if there is none. */
static Tensor *padded(Ctx *cx, const Node *n)
{
    Tensor *x = n->in[0];
    const int spatial = x->rank - 2;
    int64_t of[2 * MAX_RANK], pads[2 * MAX_RANK] = { 0 };
    bool any = false;
    node_ints(n, "pad", of, 2 * spatial, 0);
    for (int d = 0; d < spatial; d++) {
        pads[1 + d] = of[d];
        pads[x->rank + 1 + d] = of[spatial + d];
        any = any || of[d] || of[spatial + d];
    }
    const char *name = text_format(cx, "%s_padded", n->name);
    return any ? call(cx, "pad", name, &x, 1, ATTRS(attr_ints("pad", pads, 2 * x->rank))) : x;
}

/* Returns the weights k[..][o] as panels of `block` channels, read through from_panels. */
static Tensor *in_panels(Ctx *cx, const Tensor *k, int64_t block)
{
    const int64_t outs = tensor_dim(k, k->rank - 1), rows = tensor_elems(k) / outs;
    int64_t shape[MAX_RANK] = { outs / block };
    for (int d = 0; d + 1 < k->rank; d++) shape[1 + d] = tensor_dim(k, d);
    shape[k->rank] = block;
    const float *from = k->data;
    void *data;
    Tensor *panels = tensor_zeros(cx, k->name, F32, k->rank + 1, shape, &data);
    float *to = data;
    for (int64_t p = 0; p < outs / block; p++)
        for (int64_t r = 0; r < rows; r++, to += block)
            memcpy(to, from + r * outs + p * block, (size_t)block * sizeof *to);
    return call(cx, "from_panels", k->name, &panels, 1, NULL);
}

static Tensor *weights_for(Ctx *cx, const Target *t, const Node *n)
{
    Tensor *k = n->in[1];
    const int64_t outs = tensor_dim(k, k->rank - 1), depth = tensor_elems(k) / outs,
                  block = vector_tile(t, tiled_positions(t, n, 0), outs, depth, 0).c;
    return block && block < outs && k->rank < MAX_RANK ? in_panels(cx, k, block) : k;
}

static Tensor *call_with(Ctx *cx, const Node *n, Tensor *x, Tensor *k)
{
    Tensor *in[] = { x, k };
    Attr *attr = NEW_ARRAY(cx->arena, Attr, n->attr_count + 1);
    int count = 0;
    if (x == n->in[0] && k == n->in[1]) return NULL;
    for (int i = 0; i < n->attr_count; i++)
        if (x == n->in[0] || strcmp(n->attr[i].name, "pad") != 0) attr[count++] = n->attr[i];
    Node *now = op_call(cx, n->op, n->name, in, 2, attr, count);
    return now ? now->out[0] : NULL;
}

static bool is_suitable(const Target *t, const Node *n)
{
    const Tensor *x = n->in[0], *k = n->in[1];
    return has_vectors(t) && n->in_count == 2 && x->type == F32 && k->type == F32 && tensor_is_constant(k)
           && tensor_is_fixed(n->out[0]) && tensor_is_fixed(x) && k->rank >= 2 && are_finite(k);
}

static Tensor *alter_conv(Ctx *cx, const Implementation *with, const Target *t, const Node *n, const Uses *uses)
{
    (void)with;
    (void)uses;
    if (!is_suitable(t, n)) return NULL;
    Tensor *k = node_int(n, "groups", 1) == 1 ? weights_for(cx, t, n) : n->in[1];
    return call_with(cx, n, padded(cx, n), k);
}

static Tensor *alter_depthwise(Ctx *cx, const Implementation *with, const Target *t, const Node *n, const Uses *uses)
{
    (void)with;
    (void)uses;
    return is_suitable(t, n) ? call_with(cx, n, padded(cx, n), n->in[1]) : NULL;
}

static Tensor *alter_dense(Ctx *cx, const Implementation *with, const Target *t, const Node *n, const Uses *uses)
{
    (void)with;
    (void)uses;
    return is_suitable(t, n) && n->in[1]->rank == 2 ? call_with(cx, n, n->in[0], weights_for(cx, t, n)) : NULL;
}

const Implementation implementations_vector_panels[] = {
    { .name = "panels.conv", .features = "vectors", .ops = "conv1d conv2d conv3d",
      .what = "weights in panels of output channels; padding is copied", .alter = alter_conv },
    { .name = "panels.depthwise", .features = "vectors", .ops = "depthwise_conv1d depthwise_conv2d",
      .what = "padding is copied", .alter = alter_depthwise },
    { .name = "panels.dense", .features = "vectors", .ops = "dense matmul",
      .what = "weights in panels of output channels", .alter = alter_dense },
    { 0 }
};
