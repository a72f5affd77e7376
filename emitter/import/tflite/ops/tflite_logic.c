/* SPDX-License-Identifier: MIT */
/* Translates comparisons, select and logic. Two int8 tensors are compared by their real values, as in the reference:
 * each is rescaled by its own scale, in fixed point with eight more bits. For int16, the reference compares real values
 * only for EQUAL and NOT_EQUAL. In the other comparisons the reference compares the stored values, so the scales must
 * be equal. */
#include "import/tflite/ops/tflite_rows.h"

static Tensor *real_value(TfliteCall *c, int i)
{
    enum { MORE_BITS = 8 };
    const TfliteTensor *t = tflite_in_info(c, i);
    if (!tflite_has_quant(c, t, false)) return NULL;
    Factor f = tflite_factor((double)tflite_scale(t));
    if (f.exponent > 0)
        tflite_unsupported(c, "\"%s\" has a scale of %g; use a scale below 1", t->name, (double)tflite_scale(t));
    return tflite_call(c, "rescale", c->in[i], attr_int("zero_x", tflite_zero(t)), attr_int("left", MORE_BITS),
                       attr_int("multiplier", f.multiplier), attr_int("shift", -f.exponent),
                       attr_flag("once", c->file->rounds_once), attr_type("to", I32));
}

static bool has_equal_scales(TfliteCall *c)
{
    const TfliteTensor *a = tflite_in_info(c, 0), *b = tflite_in_info(c, 1);
    if (!tflite_has_quant(c, a, false) || !tflite_has_quant(c, b, false)) return false;
    if (tflite_scale(a) != tflite_scale(b))
        tflite_unsupported(c, "it has 16-bit operands of the scales %g and %g; TensorFlow Lite compares their stored "
                              "values, so use equal scales", (double)tflite_scale(a), (double)tflite_scale(b));
    return !ctx_failed(c->cx);
}

static void compare(TfliteCall *c, const char *op)
{
    if (!tflite_needs(c, 2)) return;
    const bool has_scale = tflite_in_info(c, 0)->quant != NULL, is_int16 = c->in[0]->type == I16 && has_scale,
               is_quantized = has_scale && (tflite_is_int8(c) || (is_int16 && c->row->types & SCALES_INT16));
    if (is_int16 && !is_quantized && !has_equal_scales(c)) return;
    Tensor *b = is_quantized ? real_value(c, 1) : c->in[1], *a = is_quantized ? real_value(c, 0) : c->in[0];
    c->out[0] = tflite_call2(c, op, a, b);
}
static void equal(TfliteCall *c) { compare(c, "equal"); }
static void not_equal(TfliteCall *c) { compare(c, "not_equal"); }
static void less(TfliteCall *c) { compare(c, "less"); }
static void less_equal(TfliteCall *c) { compare(c, "less_equal"); }
static void greater(TfliteCall *c) { compare(c, "greater"); }
static void greater_equal(TfliteCall *c) { compare(c, "greater_equal"); }

static void select_(TfliteCall *c)
{
    if (!tflite_needs(c, 3)) return;
    const Tensor *a = c->in[1], *b = c->in[2];
    if (a->type != b->type)
        tflite_refuse(c, "it is a choice of %s and %s; use values of one type", dtype_info(a->type)->spelling,
                      dtype_info(b->type)->spelling);
    else c->out[0] = call(c->cx, "where", c->name, c->in, 3, NULL);
}

enum { OF_COMPARABLE = OF_F32 | OF_I8 | OF_WHOLE | AS_INT8 | OF_I16 };

const TfliteRow tflite_rows_logic[] = {
    { 58, "LESS", 3, 0, OF_COMPARABLE, 2, NULL, less, TFLITE_KEEPS_ALL },
    { 61, "GREATER", 2, 0, OF_COMPARABLE, 2, NULL, greater, TFLITE_KEEPS_ALL },
    { 62, "GREATER_EQUAL", 3, 0, OF_COMPARABLE, 2, NULL, greater_equal, TFLITE_KEEPS_ALL },
    { 63, "LESS_EQUAL", 2, 0, OF_COMPARABLE, 2, NULL, less_equal, TFLITE_KEEPS_ALL },
    { 64, "SELECT", 4, 0, OF_BOOL, 1, NULL, select_, TFLITE_KEEPS_ALL },
    { 71, "EQUAL", 4, 0, OF_COMPARABLE | OF_BOOL | SCALES_INT16, 2, NULL, equal, TFLITE_KEEPS_ALL },
    { 72, "NOT_EQUAL", 3, 0, OF_COMPARABLE | OF_BOOL | SCALES_INT16, 2, NULL, not_equal, TFLITE_KEEPS_ALL },
    { 84, "LOGICAL_OR", 1, 0, OF_BOOL, 2, "or", NULL, TFLITE_KEEPS_NONE },
    { 86, "LOGICAL_AND", 1, 0, OF_BOOL, 2, "and", NULL, TFLITE_KEEPS_NONE },
    { 87, "LOGICAL_NOT", 1, 0, OF_BOOL, 1, "not", NULL, TFLITE_KEEPS_NONE },
    { 123, "SELECT_V2", 2, 0, OF_BOOL, 1, NULL, select_, TFLITE_KEEPS_ALL },
    { 0 }
};
