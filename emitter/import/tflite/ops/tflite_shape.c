/* SPDX-License-Identifier: MIT */
/* Translates operators that rearrange elements without arithmetic. */
#include <math.h>
#include <string.h>

#include "import/model/fold_small.h"
#include "import/tflite/ops/tflite_decided.h"
#include "import/tflite/ops/tflite_rows.h"
#include "ir/algebra/algebra.h"

enum { OPTIONS_CONCAT = 10, OPTIONS_RESHAPE = 17, OPTIONS_SQUEEZE = 30 };

/* Returns true if the run decides the shape. If at most one size of y is open, the file's sizes are used instead. */
static bool is_of_run(TfliteCall *c, const TfliteTensor *y)
{
    int open = 0;
    for (int d = 0; d < y->rank; d++) open += y->is_open[d];
    const bool is_list = tflite_in(c, 1) && !tensor_is_constant(c->in[1]);
    return tflite_is_reshaped_by_run(c, c->in[0], tflite_in(c, 1)) && (!is_list || open > 1);
}

/* Translates RESHAPE. The shape is an input or, in old files, an option; otherwise it is the output's shape. */
static void reshape(TfliteCall *c)
{
    int64_t shape[MAX_RANK];
    if (!tflite_needs(c, 1)) return;
    const TfliteTensor *y = tflite_out_info(c, 0);
    if (y->type != TFLITE_COMPLEX && is_of_run(c, y)) {
        c->out[0] = tflite_reshaped(c, c->in[0], c->in[1]);
        return;
    }
    FlatVector option = flat_vector(&c->op->options, 0, 4);
    bool is_known = tflite_in(c, 1) && tensor_is_constant(c->in[1]);
    int rank = is_known                                   ? tflite_ints(c, 1, shape, MAX_RANK)
               : option.count && option.count <= MAX_RANK ? (int)option.count
                                                          : y->rank;
    for (int d = 0; d < rank && !is_known; d++)
        shape[d] = option.count ? flat_int_at(&option, (size_t)d) : y->is_open[d] ? -1 : y->dim[d];
    if ((y->type == TFLITE_COMPLEX) != (tflite_in_info(c, 0)->type == TFLITE_COMPLEX))
        tflite_refuse(c, "it converts between real and complex numbers; use equal types");
    else if (rank == MAX_RANK && y->type == TFLITE_COMPLEX)
        tflite_unsupported(c, "it has complex numbers in %d dimensions; use fewer dimensions", MAX_RANK);
    else if (y->type == TFLITE_COMPLEX && rank >= 0) shape[rank++] = 2;
    if (rank >= 0 && !ctx_failed(c->cx)) c->out[0] = tflite_reshape(c, c->in[0], shape, rank);
}

static void squeeze(TfliteCall *c)
{
    FlatVector axes = flat_vector(&c->op->options, 0, 4);
    int64_t list[MAX_RANK];
    if (!tflite_needs(c, 1)) return;
    if (axes.count > MAX_RANK)
        tflite_refuse(c, "there are %llu axes; use at most %d axes", (unsigned long long)axes.count, MAX_RANK);
    for (size_t i = 0; i < axes.count && !ctx_failed(c->cx); i++) list[i] = flat_int_at(&axes, i);
    for (int d = 0; d < c->in[0]->rank && !axes.count; d++)
        if (size_is_decided(c->cx, c->in[0]->shape[d]))
            tflite_unsupported(c, "its rank depends on the run: dimension %d of %s may be 1; list the axes to remove",
                                  d,
                               tensor_shape_text(c->cx, c->in[0]));
    if (ctx_failed(c->cx)) return;
    c->out[0] = axes.count ? tflite_call(c, "squeeze", c->in[0], attr_ints("axes", list, (int)axes.count))
                           : tflite_call(c, "squeeze", c->in[0]);
}

static void expand_dims(TfliteCall *c)
{
    int64_t axis;
    if (tflite_needs(c, 2) && tflite_ints(c, 1, &axis, 1) == 1)
        c->out[0] = tflite_call(c, "unsqueeze", c->in[0], attr_list("axes", axis));
}

static void transpose(TfliteCall *c)
{
    int64_t perm[MAX_RANK];
    int count = tflite_needs(c, 2) ? tflite_ints(c, 1, perm, MAX_RANK) : -1;
    if (count > 0) c->out[0] = tflite_call(c, "transpose", c->in[0], attr_ints("perm", perm, count));
    else if (count == 0) c->out[0] = c->in[0];
}

/* Converts an operand of the older quantization to the output's scale, with a table. The reference computes in float32
 * round(u * ratio + bias) + zero_y, where u is the stored UINT8 and bias = -zero_x * ratio. */
static Tensor *in_output_scale(TfliteCall *c, int index)
{
    enum { VALUES = 256, OFFSET = 128 };
    const TfliteTensor *x = tflite_in_info(c, index), *y = tflite_out_info(c, 0);
    const float inverse = 1.0f / tflite_scale(y), ratio = tflite_scale(x) * inverse,
                bias = (float)-(tflite_zero(x) + OFFSET) * ratio;
    const int64_t count = VALUES;
    int8_t table[VALUES];
    if (tflite_scale(x) == tflite_scale(y) && tflite_zero(x) == tflite_zero(y)) return c->in[index];
    for (int u = 0; u < VALUES; u++) {
        const float product = (float)u * ratio, sum = roundf(product + bias),
                    shifted = fmaxf(fminf(sum, 1e6f), -1e6f) + (float)tflite_zero(y);
        table[u] = (int8_t)fmaxf(fminf(shifted, INT8_MAX), INT8_MIN);
    }
    return tflite_call2(c, "lookup", c->in[index],
                        tensor_constant(c->cx, "table", I8, 1, &count, arena_copy(c->cx->arena, table, sizeof table)));
}

/* Returns true if the operands have permitted scales, which may differ only in the older quantization. */
static bool has_scales(TfliteCall *c)
{
    if (!c->is_unsigned) return tflite_has_one_scale(c, c->in_count);
    for (int i = 0; i < c->in_count; i++) {
        if (!tflite_has_quant(c, tflite_in_info(c, i), false) || !tflite_has_quant(c, tflite_out_info(c, 0), false))
            return false;
        c->in[i] = in_output_scale(c, i);
    }
    return true;
}

static void concatenation(TfliteCall *c)
{
    enum { AXIS, ACTIVATION };
    if (!tflite_needs(c, c->in_count) || !has_scales(c)) return;
    int axis = tflite_axis(c, flat_int(&c->op->options, AXIS, 4, 0), c->in[0]->rank),
        act = (int)flat_int(&c->op->options, ACTIVATION, 1, ACT_NONE);
    if (act != ACT_NONE && tflite_is_int8(c)) tflite_refuse_activation(c, act, ACT_NONE);
    if (ctx_failed(c->cx)) return;
    c->out[0] = tflite_activate(c, call(c->cx, "concat", c->name, c->in, c->in_count,
                                        ATTRS(attr_int("axis", axis))), act);
}

/* Translates PAD and PADV2. Padding is given in pairs; the default value is the real 0, stored as the zero point. A
 * file of 16-bit floats computes the value by DEQUANTIZE of a constant. */
static void pad(TfliteCall *c)
{
    int64_t pairs[2 * MAX_RANK], list[2 * MAX_RANK];
    if (!tflite_needs(c, 2)) return;
    const int rank = c->in[0]->rank;
    const bool is_known = tensor_is_constant(c->in[1]) || tensor_elems(c->in[1]) != 2 * rank;
    const int count = is_known ? tflite_ints(c, 1, pairs, 2 * MAX_RANK) : 2 * rank;
    const Tensor *given = tflite_in(c, 2) ? import_folded(c->cx, tflite_in(c, 2)) : NULL;
    if (count < 0) return;
    if (count != 2 * rank)
        tflite_refuse(c, "there are %d paddings for %d dimensions; use two paddings per dimension", count, rank);
    if (given && (!tensor_is_constant(given) || tensor_elems(given) != 1 || given->type != c->in[0]->type))
        tflite_unsupported(c, "the padded value \"%s\" is %s%s; use one constant of type %s",
                           tflite_in_info(c, 2)->name, dtype_info(given->type)->spelling,
                           tensor_shape_text(c->cx, given), dtype_info(c->in[0]->type)->spelling);
    if (!tflite_has_one_scale(c, 1)) return;
    if (ctx_failed(c->cx)) return;
    const Scalar v = given ? dtype_load(given->type, given->data, 0)
                           : (Scalar){ .i = tflite_is_int8(c) ? tflite_zero(tflite_out_info(c, 0)) : 0 };
    const double value = given && dtype_is_float(given->type) ? v.f : (double)v.i;
    if (!is_known) {
        c->out[0] = c->in[0];
        for (int d = 0; d < rank; d++) c->out[0] = tflite_padded(c, c->out[0], d, c->in[1], value);
        return;
    }
    for (int d = 0; d < rank; d++) list[d] = pairs[2 * d], list[rank + d] = pairs[2 * d + 1];
    c->out[0] = tflite_call(c, "pad", c->in[0], attr_ints("pad", list, 2 * rank), attr_real("value", value));
}

const TfliteRow tflite_rows_shape[] = {
    { 2, "CONCATENATION", 4, OPTIONS_CONCAT, OF_MOVED | AS_INT8, 64, NULL, concatenation, TFLITE_KEEPS_ALL },
    { 22, "RESHAPE", 1, OPTIONS_RESHAPE, OF_MOVED | OF_COMPLEX, 1, NULL, reshape, TFLITE_KEEPS_ALL },
    { 34, "PAD", 4, 0, OF_MOVED | AS_INT8, 1, NULL, pad, TFLITE_KEEPS_ALL },
    { 39, "TRANSPOSE", 7, 0, OF_MOVED, 1, NULL, transpose, TFLITE_KEEPS_ALL },
    { 43, "SQUEEZE", 2, OPTIONS_SQUEEZE, OF_MOVED, 1, NULL, squeeze, TFLITE_KEEPS_ALL },
    { 60, "PADV2", 4, 0, OF_MOVED | AS_INT8, 1, NULL, pad, TFLITE_KEEPS_ALL },
    { 70, "EXPAND_DIMS", 1, 0, OF_MOVED, 1, NULL, expand_dims, TFLITE_KEEPS_ALL },
    { 0 }
};
