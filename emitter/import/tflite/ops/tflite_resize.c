/* SPDX-License-Identifier: MIT */
/* Translates operators that resize images: positions and weights are computed at compile time, in the reference's order
 * of operations. */
#include <math.h>

#include "import/tflite/ops/tflite_rows.h"

enum { OPTIONS_RESIZE_BILINEAR = 15, OPTIONS_RESIZE_NEAREST = 74 };

/* Gathers along the axis: element i of the result is element index[i]. */
static Tensor *gather_by(TfliteCall *c, Tensor *x, int axis, const int32_t *index, int64_t count)
{
    Tensor *places = tensor_constant(c->cx, "places", I32, 1, &count, index);
    return x && places ? call(c->cx, "gather", c->name, (Tensor *[]){ x, places }, 2,
                              ATTRS(attr_int("axis", axis))) : NULL;
}

typedef struct TfliteResize { bool align, half; int64_t in[2], out[2]; } TfliteResize;

/* Reads the options, two flags that begin at field `first`. */
static bool read_resize(TfliteCall *c, TfliteResize *r, int first)
{
    enum { MOST = 1 << 14 };
    if (!tflite_needs(c, 2) || !tflite_list(c, 1, r->out, 2)) return false;
    r->align = flat_int(&c->op->options, first, 1, 0) != 0;
    r->half = flat_int(&c->op->options, first + 1, 1, 0) != 0;
    if (!tflite_holds(c, c->in[0]->rank == 4 && tensor_elems(c->in[0]) >= 1, "the input is %s; use four fixed sizes "
                      "above 0", tensor_shape_text(c->cx, c->in[0]))
        || !tflite_holds(c, r->out[0] >= 1 && r->out[1] >= 1 && r->out[0] <= MOST && r->out[1] <= MOST,
                         "the result has %lld by %lld pixels; use 1 to %d along each side", (long long)r->out[0],
                         (long long)r->out[1], MOST))
        return false;
    for (int d = 0; d < 2; d++) r->in[d] = tensor_dim(c->in[0], 1 + d);
    return true;
}

static void resize_nearest(TfliteCall *c)
{
    TfliteResize r;
    if (!read_resize(c, &r, 0)) return;
    c->out[0] = c->in[0];
    for (int d = 0; d < 2; d++) {
        int64_t in = r.in[d], out = r.out[d];
        float scale = r.align && out > 1 ? (float)(in - 1) / (float)(out - 1) : (float)in / (float)out,
              offset = r.half ? 0.5f : 0.0f;
        int32_t *index = NEW_ARRAY(c->cx->arena, int32_t, out);
        for (int64_t i = 0; i < out; i++) {
            float at = ((float)i + offset) * scale;
            int64_t k = (int64_t)(r.align ? roundf(at) : floorf(at));
            index[i] = (int32_t)(k > in - 1 ? in - 1 : k < 0 ? 0 : k);
        }
        c->out[0] = gather_by(c, c->out[0], 1 + d, index, out);
    }
}

/* The two taps of each output position in one dimension, and their weights, in units of 2^-10 or as floats. */
typedef struct Taps { int32_t *low, *high; Tensor *of_low, *of_high; } Taps;

/* The taps of one output position, and the distance of the position from `low`. */
typedef struct Between { int64_t low, high; float far; } Between;

static Between whole_position(const TfliteResize *r, int d, int64_t i)
{
    const int64_t in = r->in[d], out = r->out[d], one = 1 << 10;
    const int64_t scale = r->align && out > 1 ? (one * (in - 1) + (out - 1) / 2) / (out - 1)
                                              : (one * in + out / 2) / out;
    const int64_t at = i * scale + (r->half ? scale / 2 - one / 2 : 0), low = at / one > 0 ? at / one : 0;
    return (Between){ low, (at + one - 1) / one, (float)(at - low * one) };
}

static Between real_position(const TfliteResize *r, int d, int64_t i)
{
    const int64_t in = r->in[d], out = r->out[d];
    const float scale = r->align && out > 1 ? (float)(in - 1) / (float)(out - 1) : (float)in / (float)out;
    const float at = r->half ? ((float)i + 0.5f) * scale - 0.5f : (float)i * scale,
                low = floorf(at) > 0 ? floorf(at) : 0;
    return (Between){ (int64_t)low, (int64_t)ceilf(at), at - low };
}

static Taps taps_of(TfliteCall *c, const TfliteResize *r, int d, bool whole)
{
    const int64_t last = r->in[d] - 1, out = r->out[d], dims[] = { out, 1, 1 };
    const DType type = whole ? I32 : F32;
    void *of_low, *of_high;
    Tensor *near_part = tensor_zeros(c->cx, "near", type, 3 - d, dims, &of_low);
    Tensor *far_part = tensor_zeros(c->cx, "far", type, 3 - d, dims, &of_high);
    Taps t = { NEW_ARRAY(c->cx->arena, int32_t, out), NEW_ARRAY(c->cx->arena, int32_t, out), near_part, far_part };
    for (int64_t i = 0; i < out && !ctx_failed(c->cx); i++) {
        const Between b = whole ? whole_position(r, d, i) : real_position(r, d, i);
        const float near = (whole ? 1 << 10 : 1) - b.far;
        t.low[i] = (int32_t)(b.low > last ? last : b.low);
        t.high[i] = (int32_t)(b.high > last ? last : b.high < 0 ? 0 : b.high);
        dtype_store(type, of_low, i,
                    whole ? (Scalar){ .i = (int64_t)near } : (Scalar){ .f = near });
        dtype_store(type, of_high, i,
                    whole ? (Scalar){ .i = (int64_t)b.far } : (Scalar){ .f = b.far });
    }
    return t;
}

/* Sums the four neighbours, each times both of its weights, column by column: the reference's order of float
 * additions. */
static void resize_bilinear(TfliteCall *c)
{
    TfliteResize r;
    Tensor *sum = NULL, *row[2];
    if (!read_resize(c, &r, 2)) return;
    const bool is_int16 = tflite_is_int16(c), is_int = (tflite_is_int8(c) && !c->is_unsigned) || is_int16;
    const DType sums = is_int16 ? I64 : I32;           /* a product has 20 more bits than an element */
    Tensor *image = c->in[0];
    if (c->is_unsigned)        /* UINT8 is computed in floats and rounded to nearest, ties up */
        image = tflite_call(c, "cast", tflite_call(c, "recentered", image), attr_type("to", F32));
    const Taps down = taps_of(c, &r, 0, is_int), right = taps_of(c, &r, 1, is_int);
    for (int i = 0; i < 2; i++) row[i] = gather_by(c, image, 1, i ? down.high : down.low, r.out[0]);
    for (int k = 0; k < 4 && !ctx_failed(c->cx); k++) {
        Tensor *x = gather_by(c, row[k % 2], 2, k / 2 ? right.high : right.low, r.out[1]);
        Tensor *factor[] = { k % 2 ? down.of_high : down.of_low, k / 2 ? right.of_high : right.of_low };
        if (is_int) x = tflite_call(c, "cast", x, attr_type("to", sums));
        for (int f = 0; f < 2; f++)
            x = tflite_call2(c, "mul", x,
                             is_int16 ? tflite_call(c, "cast", factor[f], attr_type("to", sums)) : factor[f]);
        sum = sum ? tflite_call2(c, "add", sum, x) : x;
    }
    if (c->is_unsigned && sum) {
        sum = tflite_call2(c, "add", sum, tensor_scalar(c->cx, c->name, F32, 0.5));
        sum = tflite_call(c, "recentered", tflite_call(c, "cast", sum, attr_type("to", U8)));
    }
    if (is_int && sum) {       /* divides by 2^20, rounded to nearest, ties away from zero */
        Tensor *half = tensor_scalar(c->cx, c->name, sums, 1 << 19),
               *minus = tensor_scalar(c->cx, c->name, sums, -(1 << 19)), *zero = tensor_scalar(c->cx, c->name, sums, 0);
        Tensor *nudge = tflite_select(c, tflite_call2(c, "greater", sum, zero), half, minus);
        Tensor *number = tensor_scalar(c->cx, c->name, sums, 1 << 20);
        sum = tflite_call2(c, "div", tflite_call2(c, "add", sum, nudge), number);
        sum = tflite_call(c, "cast", sum, attr_type("to", is_int16 ? I16 : I8));
    }
    c->out[0] = sum;
}

const TfliteRow tflite_rows_resize[] = {
    { 23, "RESIZE_BILINEAR", 4, OPTIONS_RESIZE_BILINEAR, OF_F32 | OF_I8 | AS_INT8 | OF_I16, 1, NULL, resize_bilinear,
      TFLITE_KEEPS_NONE },
    { 97, "RESIZE_NEAREST_NEIGHBOR", 4, OPTIONS_RESIZE_NEAREST, OF_MOVED, 1, NULL, resize_nearest, TFLITE_KEEPS_NONE },
    { 0 }
};
