/* SPDX-License-Identifier: MIT */
/* Constants whose values need 2 or 4 bits, stored several to a byte (ops/move/bits.c). */
#include "graph/dag/graph.h"
#include "graph/dag/op_formula.h"

/* Fewer saved bytes are not worth the instructions that unpack them. */
enum { LEAST_SAVED = 256, BYTE_BITS = 8 };

int narrow_bits(const Tensor *t, int64_t *least)
{
    if (!tensor_is_constant(t) || (t->type != I8 && t->type != U8) || t->rank < 1) return 0;
    const int64_t count = tensor_elems(t);
    int64_t low = count ? dtype_load(t->type, t->data, 0).i : 0, high = low;
    for (int64_t i = 1; i < count && high - low < 16; i++) {
        const int64_t v = dtype_load(t->type, t->data, i).i;
        low = v < low ? v : low;
        high = v > high ? v : high;
    }
    const int bits = high - low < 4 ? 2 : high - low < 16 ? 4 : 0;
    /* the smallest value that the bits may represent, chosen so that the largest value fits the type */
    const int64_t first = t->type == U8 ? UINT8_MAX + 1 : INT8_MAX + 1, most = first - ((int64_t)1 << bits);
    *least = low < most ? low : most;
    return bits && count * (BYTE_BITS - bits) / BYTE_BITS >= LEAST_SAVED ? bits : 0;
}

Tensor *stored_in_bits(Ctx *cx, Tensor *k, int64_t runs, int64_t by)
{
    int64_t least, shape[MAX_RANK];
    const int bits = narrow_bits(k, &least), per = bits ? BYTE_BITS / bits : 1;
    const int64_t length = tensor_elems(k) / runs, groups = (length + per * by - 1) / (per * by);
    if (!bits) return k;
    const Phrase number[] = { { "runs", op_number(cx, runs) }, { "length", op_number(cx, length) },
                              { "groups", op_number(cx, groups) }, { "by", op_number(cx, by) },
                              { "per", op_number(cx, per) }, { "bits", op_number(cx, bits) },
                              { "group", op_number(cx, per * by) }, { "mask", op_number(cx, (1 << bits) - 1) },
                              { "least", op_number(cx, least) }, { NULL, NULL } };
    const Tensor *in_runs = tensor_constant(cx, k->name, k->type, 2, (const int64_t[]){ runs, length }, k->data);
    Tensor *packed = weights_packed(cx, weights_layout_named(cx, "from_bits", "bits"), in_runs, number);
    for (int d = 0; d < k->rank; d++) shape[d] = tensor_dim(k, d);
    if (!packed) return NULL;
    return call(cx, "from_bits", k->name, &packed, 1,
                ATTRS(attr_ints("shape", shape, k->rank), attr_int("bits", bits), attr_int("least", least),
                      attr_type("to", k->type)));
}
