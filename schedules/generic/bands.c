/* SPDX-License-Identifier: MIT */
/* Decision: constant matrices are computed by their bands. If the columns of constant float weights are zero outside
 * bands, and the bands are counted cheaper than whole columns, the pass `alter` stores only the bands
 * (`ops/layers/bands.c`). An example is the filters of a spectrum, whose triangles cover a few bins each. The other
 * products are +0 or -0. A sum that starts at +0 does not change by adding them, unless x has an infinity or NaN at
 * such an element. */
#include "graph/dag/op_build.h"
#include "schedules/product.h"
#include "schedules/tile.h"

/* WHOLE_COST: instructions of a product on a scalar core; BAND_COST: the same in the loop over a band; LOOP_COST:
 * instructions of that loop */
enum { WHOLE_COST = 2, BAND_COST = 5, LOOP_COST = 20 };

typedef struct Bands { int64_t length, outs, total, most; int64_t *from, *width; } Bands;

static bool are_cheaper(const Target *t, const Bands *b)
{
    const int64_t lanes = t->lanes > 1 ? t->lanes : 1;
    return lanes * (BAND_COST * b->total + LOOP_COST * b->outs) < WHOLE_COST * b->length * b->outs;
}

/* Returns the bands of the columns. A column of zeros has a band of one zero, whose sum is +0. Stops when the bands are
 * no longer cheaper. */
static Bands bands_of(Ctx *cx, const Target *t, const Tensor *w)
{
    Bands b = { .length = tensor_dim(w, 0), .outs = tensor_dim(w, 1) };
    b.from = NEW_ARRAY(cx->arena, int64_t, b.outs);
    b.width = NEW_ARRAY(cx->arena, int64_t, b.outs);
    for (int64_t o = 0; o < b.outs && are_cheaper(t, &b); o++) {
        int64_t last = 0;
        b.from[o] = b.length;
        for (int64_t k = 0; k < b.length; k++) {
            if (dtype_load(w->type, w->data, k * b.outs + o).f == 0) continue;
            if (b.from[o] == b.length) b.from[o] = k;
            last = k;
        }
        if (b.from[o] == b.length) b.from[o] = 0;
        b.width[o] = last - b.from[o] + 1;
        if (b.width[o] > b.most) b.most = b.width[o];
        b.total += b.width[o];
    }
    return b;
}

static Tensor *table(Ctx *cx, const Node *n, const int64_t *value, int64_t count, int64_t most)
{
    void *data;
    const DType t = most <= INT16_MAX ? I16 : I32;
    Tensor *list = tensor_zeros(cx, n->name, t, 1, &count, &data);
    for (int64_t i = 0; list && i < count; i++) dtype_store(t, data, i, (Scalar){ .i = value[i] });
    return list;
}

static Tensor *alter_bands(Ctx *cx, const Implementation *with, const Target *t, const Node *n, const Uses *uses)
{
    const Tensor *w = n->in[1];
    (void)with, (void)uses;
    if (!dtype_is_float(w->type) || !tensor_is_constant(w) || tensor_elems(w) < 1) return NULL;
    const Bands b = bands_of(cx, t, w);
    if (!are_cheaper(t, &b) || !are_finite(w)) return NULL;
    void *data;
    Tensor *packed = tensor_zeros(cx, n->name, w->type, 1, &b.total, &data);
    int64_t *at = NEW_ARRAY(cx->arena, int64_t, b.outs), next = 0;
    for (int64_t o = 0; packed && o < b.outs; o++) {
        at[o] = next;
        for (int64_t j = 0; j < b.width[o]; j++)
            dtype_store(w->type, data, next++, dtype_load(w->type, w->data, (b.from[o] + j) * b.outs + o));
    }
    Tensor *from = table(cx, n, b.from, b.outs, b.length), *starts = table(cx, n, at, b.outs, b.total),
           *widths = table(cx, n, b.width, b.outs, b.length), *in[] = { n->in[0], packed, from, starts, widths };
    return call(cx, "banded_dense", n->name, in, 5, ATTRS(attr_int("most", b.most)));
}

/* Computes one sum after the other in a register, with a loop as long as the band. */
static const Nest *by_band(Ctx *cx, const GroupNest *g)
{
    const Stage *sum = product_stage(g->nest);
    if (!sum) return g->nest;
    const char *acc = sum->name;
    const Nest *n = isolate_product(cx, g->nest, &acc, (const char *const[]){ NULL });
    const Stage *out = ctx_failed(cx) ? NULL : output_stage(n);
    Path p;
    const char *loop = out ? loop_name(cx, out, out->data_count - 1) : NULL;
    if (!loop || !nest_find_loop(n, loop, &p)) return n;
    n = sched_set_scope(cx, sched_compute_at(cx, n, acc, loop), acc, SCOPE_REGISTER);
    const Stage *s = ctx_failed(cx) ? NULL : nest_stage(n, acc);
    const char *along = s ? loop_name(cx, s, s->axis_count - 1) : NULL;
    for (int a = s ? s->data_count : 0; s && a < s->axis_count - 1 && !ctx_failed(cx); a++)
        n = sched_unroll(cx, n, loop_name(cx, s, a));                    /* unrolls the halves of a triangle */
    if (ctx_failed(cx) || !along || !nest_find_loop(n, along, &p)) return n;
    return sched_pragma(cx, n, along, "unroll 4");
}

const Implementation implementations_generic_bands[] = {
    { .name = "bands", .plevel = 5, .ops = "dense", .what = "constant columns that are zero outside bands",
      .alter = alter_bands },
    { .name = "bands.sums", .plevel = 20, .ops = "banded_dense filter_bank",
      .what = "one sum after the other, each over its band", .schedule = by_band },
    { 0 }
};
