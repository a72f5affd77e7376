/* SPDX-License-Identifier: MIT */
/* On RISC-V, a core computes tiles of four pixels. A convolution of single pixels whose rows and columns are no
 * multiples of four is computed over one row of all pixels (packed.c):
 *
 *   y[n,h,w,o] = reshape(conv(reshape(x, [1,1,N*H*W,C])))
 *
 * Both reshapes are views. The second reshape moves behind the bias and the requantization, which therefore remain in
 * the convolution's group. */
#include "schedules/arm/arm.h"

#include "support/text.h"

enum { TILE = 4 };

bool is_scalar_with_panels(const Target *t) { return target_has(t, "panels") && !target_has(t, "bytes"); }

bool joins_rows(const Target *t) { return is_scalar_with_panels(t) || target_has(t, "rvv") || target_has(t, "words"); }

bool joins_pixels(const Target *t, const Node *n)
{
    const Tensor *x = n->in[0], *k = n->in[1], *y = n->out[0];
    if (!joins_rows(t) || k->rank != 4 || x->rank != 4 || tensor_dim(k, 0) * tensor_dim(k, 1) != 1)
        return false;
    const int64_t h = tensor_dim(y, 1), w = tensor_dim(y, 2);
    return h == tensor_dim(x, 1) && w == tensor_dim(x, 2) && h > 1 && w > 1 && h % TILE && w % TILE && h * w > TILE;
}

Tensor *join_pixels(Ctx *cx, Tensor *x)
{
    const int64_t channels = tensor_dim(x, 3), shape[] = { 1, 1, tensor_elems(x) / channels, channels };
    return call(cx, "reshape", x->name, &x, 1, ATTRS(attr_ints("shape", shape, 4)));
}

Tensor *before_view(const Tensor *t, const Uses *uses)
{
    const Node *view = t->producer;
    if (!view || view->kind != NODE_CALL || !text_equal(view->op->name, "reshape") || uses_of(uses, t) != 1)
        return NULL;
    Tensor *x = view->in[0];
    const Node *product = x->producer;
    return x->rank == 4 && t->rank == 4 && tensor_dim(x, 1) == 1 && tensor_dim(x, 3) == tensor_dim(t, 3) && product
           && product->kind == NODE_CALL ? x : NULL;
}

/* Returns true if the operand is absent or does not depend on the pixel. */
static bool is_per_channel(const Tensor *t, int64_t channels)
{
    return !t || (tensor_is_constant(t) && (tensor_elems(t) == 1 || tensor_elems(t) == channels)
                  && (t->rank == 0 || tensor_dim(t, t->rank - 1) == tensor_elems(t)));
}

/* Moves the reshape behind the epilogue: f(reshape(x)) = reshape(f(x)). */
static Tensor *alter_epilogue(Ctx *cx, const Implementation *with, const Target *t, const Node *n, const Uses *uses)
{
    (void)with;
    Tensor *x = joins_rows(t) ? before_view(n->in[0], uses) : NULL;
    if (!x) return NULL;
    for (int i = 1; i < n->in_count; i++)
        if (!is_per_channel(n->in[i], tensor_dim(x, 3))) return NULL;
    Tensor **in = arena_copy(cx->arena, n->in, (size_t)n->in_count * sizeof *in);
    in[0] = x;
    Node *row = op_call(cx, n->op, n->name, in, n->in_count, n->attr, n->attr_count);
    return row ? view_call(cx, n->name, row->out[0], n->out[0]) : NULL;
}

#define EPILOGUE(needed)                                                                                               \
    {                                                                                                                  \
        .name = "packed.epilogue", .features = needed, .ops = "rescale requantize_fixed",                              \
        .what = "the epilogue of a convolution over one row of pixels, as such a row", .alter = alter_epilogue         \
    }

const Implementation implementations_arm_pixels[] = {
    EPILOGUE("rows panels"),
    EPILOGUE("rows words"),
    { 0 }
};
