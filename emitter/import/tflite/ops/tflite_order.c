/* SPDX-License-Identifier: MIT */
/* Translates operators along one axis (repetition, prefix sums, order, rows of a table), and remainders and powers of
 * elements. */
#include "import/tflite/ops/tflite_decided.h"
#include "import/tflite/ops/tflite_rows.h"

enum { OPTIONS_TOPK = 34, OPTIONS_TILE = 51, OPTIONS_POW = 56, OPTIONS_FLOOR_MOD = 72, OPTIONS_REVERSE = 81,
       OPTIONS_CUMSUM = 102 };

/* Returns true for integers that the run decides. */
static bool is_of_run(const Tensor *t) { return !tensor_is_constant(t) && (t->type == I32 || t->type == I64); }

static void tile(TfliteCall *c)
{
    int64_t times[MAX_RANK];
    if (!tflite_needs(c, 2) || !tflite_has_one_scale(c, 1)) return;
    if (is_of_run(c->in[1]) && c->in[1]->rank == 1 && tensor_elems(c->in[1]) == c->in[0]->rank) {
        Tensor *y = c->in[0];
        for (int d = 0; d < c->in[0]->rank; d++) y = tflite_tiled(c, y, d);
        c->out[0] = y;
        return;
    }
    if (!tflite_list(c, 1, times, c->in[0]->rank)) return;
    for (int d = 0; d < c->in[0]->rank; d++)
        if (times[d] < 1)
            tflite_unsupported(c, "it makes %lld copies along dimension %d; use at least one copy",
                                  (long long)times[d], d);
    if (!ctx_failed(c->cx)) c->out[0] = tflite_call(c, "tile", c->in[0], attr_ints("times", times, c->in[0]->rank));
}

/* Translates CUMSUM. int8 is summed in units of 2^-19 of its scale, in 32 bits that wrap around like the reference's.
 * The reference begins its sum with a stored 0. */
static void cumsum(TfliteCall *c)
{
    enum { EXCLUSIVE, REVERSE, SUM_BITS = 19 };
    const bool is_int8 = tflite_is_int8(c);
    int64_t axis;
    if (!tflite_needs(c, 2) || !tflite_list(c, 1, &axis, 1)) return;
    int d = tflite_axis(c, axis, c->in[0]->rank);
    if (d < 0 || (is_int8 && !tflite_has_quants(c, 1))) return;
    Tensor *x = c->in[0], *unit = is_int8 ? tensor_scalar(c->cx, c->name, I32, 1 << SUM_BITS) : NULL;
    if (is_int8) x = tflite_call2(c, "mul", tflite_difference(c, 0), unit);
    Tensor *sums = tflite_call(c, "cumsum", x, attr_int("axis", d),
                               attr_flag("exclusive", flat_int(&c->op->options, EXCLUSIVE, 1, 0)),
                               attr_flag("reverse", flat_int(&c->op->options, REVERSE, 1, 0)));
    c->out[0] = sums;
    if (!is_int8 || !sums) return;
    const int zero = tflite_zero(tflite_in_info(c, 0));
    sums = tflite_call2(c, "sub", sums, tensor_scalar(c->cx, c->name, I32, (double)zero * (1 << SUM_BITS)));
    const double back = 2 * (double)tflite_scale(tflite_in_info(c, 0))
                        / ((1 << (SUM_BITS + 1)) * (double)tflite_scale(tflite_out_info(c, 0)));
    c->out[0] = tflite_requantize(c, sums, &back, 1, ACT_NONE);
}

static void enter_greatest(TfliteCall *c, Tensor *at)
{
    if (!at) return;
    c->out[0] = tflite_call2(c, "gather_elements", c->in[0], at, attr_int("axis", -1));
    c->out[1] = tflite_call(c, "cast", at, attr_type("to", I32));
}

/* Translates TOPK_V2: the largest elements of each row and their indices. Of equal elements, the first one counts as
 * larger. */
static void topk(TfliteCall *c)
{
    int64_t k;
    if (!tflite_needs(c, 2)) return;
    if (is_of_run(c->in[1])) {
        enter_greatest(c, tflite_topk_indices(c));
        return;
    }
    if (!tflite_list(c, 1, &k, 1)) return;
    if (c->in[0]->rank < 1 || k < 1 || k > INT32_MAX)
        tflite_refuse(c, "it selects %lld elements of %s; select 1 to 2^31-1 elements of an input with a dimension",
                      (long long)k, tensor_shape_text(c->cx, c->in[0]));
    if (ctx_failed(c->cx)) return;
    enter_greatest(c, tflite_call(c, "topk", c->in[0], attr_int("axis", -1), attr_int("k", k)));
}

/* The inputs are the indices and the table whose rows they select. */
static void embedding_lookup(TfliteCall *c)
{
    if (!tflite_needs(c, 2) || (c->in[1]->rank && !tflite_has_elements(c, 1, 0))) return;
    if (c->in[1]->type == I8 && tflite_out_info(c, 0)->type == 0) c->in[1] = tflite_real(c, 1);
    if (c->in[1]) c->out[0] = tflite_call2(c, "gather", c->in[1], c->in[0], attr_int("axis", 0));
}

static void reverse(TfliteCall *c)
{
    int64_t axes[MAX_RANK];
    int count = tflite_needs(c, 2) ? tflite_ints(c, 1, axes, MAX_RANK) : -1;
    Tensor *x = tflite_in(c, 0);
    for (int i = 0; i < count && x; i++) {
        int d = tflite_axis(c, axes[i], x->rank);
        if (d < 0) return;
        x = tflite_call(c, "slice", x, attr_list("axes", d), attr_list("begin", -1), attr_list("end", INT32_MIN),
                        attr_list("step", -1));
    }
    if (count >= 0) c->out[0] = x;
}

enum { OF_EVERY = OF_F32 | OF_I8 | OF_WHOLE | OF_BOOL | OF_U8 | OF_I16 | FOLLOWS_INT8 };

const TfliteRow tflite_rows_order[] = {
    { 7, "EMBEDDING_LOOKUP", 4, 0, OF_I32, 1, NULL, embedding_lookup, TFLITE_KEEPS_ALL },
    { 48, "TOPK_V2", 3, OPTIONS_TOPK, OF_F32 | OF_I8 | OF_WHOLE | OF_U8 | OF_I16, 1, NULL, topk, TFLITE_KEEPS_FIRST },
    { 69, "TILE", 3, OPTIONS_TILE, OF_EVERY, 1, NULL, tile, TFLITE_KEEPS_NONE },
    { 78, "POW", 1, OPTIONS_POW, OF_F32 | OF_I32, 2, "pow", NULL, TFLITE_KEEPS_NONE },
    { 95, "FLOOR_MOD", 2, OPTIONS_FLOOR_MOD, OF_F32 | OF_WHOLE | OF_I8 | OF_I16, 2, "mod", NULL, TFLITE_KEEPS_NONE },
    { 105, "REVERSE_V2", 3, OPTIONS_REVERSE, OF_EVERY, 1, NULL, reverse, TFLITE_KEEPS_FIRST },
    { 128, "CUMSUM", 1, OPTIONS_CUMSUM, OF_F32 | OF_WHOLE | OF_I8, 1, NULL, cumsum, TFLITE_KEEPS_FIRST },
    { 0 }
};
