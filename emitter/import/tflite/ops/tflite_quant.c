/* SPDX-License-Identifier: MIT */
/* Converts real scales to fixed-point factors, in doubles and in the order of operations of TensorFlow Lite's kernels,
 * so that every multiplier is the same integer. */
#include <float.h>
#include <math.h>

#include "import/tflite/ops/tflite_ops.h"
#include "support/text.h"

Factor tflite_factor(double real)
{
    int exponent;
    if (!(real > 0)) return (Factor){ 0, 0 };
    /* fmin, because the ratio of absurd scales may be infinite */
    int64_t m = (int64_t)round(frexp(fmin(real, DBL_MAX), &exponent) * 2147483648.0);
    if (m == (int64_t)1 << 31) m /= 2, exponent++;
    if (exponent < -31) return (Factor){ 0, 0 };             /* every result is 0 */
    return (Factor){ (int32_t)m, exponent };
}

float tflite_scale(const TfliteTensor *t) { return t->quant->scale[0]; }
int tflite_zero(const TfliteTensor *t) { return t->quant->zero_point[0]; }

/* The range of zero points of a type; zero points of 16 and more bits are 0. */
typedef struct StoredRange { int type; int32_t least, greatest; const char *text; } StoredRange;
static StoredRange zeros_of(const TfliteTensor *t, bool has_any_zero)
{
    static const StoredRange ranges[] = {
        { TFLITE_UINT8, 0, UINT8_MAX, "0 to 255" }, { TFLITE_INT16, 0, 0, "0" }, { TFLITE_INT32, 0, 0, "0" },
    };
    if (has_any_zero && t->type == TFLITE_INT16)
        return (StoredRange){ TFLITE_INT16, INT16_MIN, INT16_MAX, "-32768 to 32767" };
    for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++)
        if (ranges[i].type == t->type) return ranges[i];
    return (StoredRange){ TFLITE_INT8, INT8_MIN, INT8_MAX, "-128 to 127" };
}

/* Returns the type of a quantized tensor, or int8 for unknown types. */
static const DTypeInfo *stored_type(const TfliteTensor *t)
{
    DType type;
    return dtype_info(tflite_dtype(t->type, &type) && dtype_is_integer(type) ? type : I8);
}

static bool check_quant(TfliteCall *c, const TfliteTensor *t, bool may_be_per_channel, bool has_any_zero)
{
    if (!t) {
        tflite_refuse(c, "a quantized operand is missing; use a tensor with a scale");
        return false;
    }
    const StoredRange zeros = zeros_of(t, has_any_zero);
    if (!t->quant) tflite_refuse(c, "\"%s\" has no scale; use a scale and a zero point", t->name);
    else if (t->quant->count > 1 && !may_be_per_channel)
        tflite_unsupported(c, "\"%s\" has %d scales; use one scale", t->name, t->quant->count);
    else if (t->quant->count == 1 && !(t->quant->scale[0] > 0))
        tflite_refuse(c, "the scale of \"%s\" is 0; use a scale above 0", t->name);
    else if (t->quant->count == 1
             && (t->quant->zero_point[0] < zeros.least || t->quant->zero_point[0] > zeros.greatest))
        tflite_refuse(c, "the zero point of \"%s\" is %ld; use %s", t->name, (long)t->quant->zero_point[0],
                      zeros.text);
    return !ctx_failed(c->cx);
}

bool tflite_has_quant(TfliteCall *c, const TfliteTensor *t, bool may_be_per_channel)
{
    return check_quant(c, t, may_be_per_channel, false);
}

bool tflite_has_any_zero(TfliteCall *c, const TfliteTensor *t) { return check_quant(c, t, false, true); }

bool tflite_has_factor(TfliteCall *c, int i)
{
    const TfliteTensor *x = tflite_in_info(c, i);
    const bool is_zero = x && x->quant && x->quant->count == 1 && tflite_scale(x) == 0 && tflite_zero(x) == 0;
    return is_zero || tflite_has_quant(c, x, false);
}

bool tflite_has_quants(TfliteCall *c, int inputs)
{
    for (int i = 0; i < inputs; i++)
        if (!tflite_has_quant(c, tflite_in_info(c, i), false)) return false;
    return tflite_has_quant(c, tflite_out_info(c, 0), false);
}

/* Returns the stored value of a real bound, computed in floats with ties away from zero. */
static int64_t stored(const TfliteTensor *t, float real)
{
    double v = (double)roundf(real / tflite_scale(t)) + tflite_zero(t);
    return v > 1e9 ? 1000000000 : v < -1e9 ? -1000000000 : (int64_t)v;
}

void tflite_clamp(const TfliteTensor *out, int activation, int64_t *least, int64_t *greatest)
{
    static const struct { bool is_below, is_above; float low, high; } bounds[] = {
        [ACT_NONE] = { false, false, 0, 0 },         [ACT_RELU] = { true, false, 0, 0 },
        [ACT_RELU_N1_TO_1] = { true, true, -1, 1 },  [ACT_RELU6] = { true, true, 0, 6 },
    };
    *least = stored_type(out)->least;
    *greatest = stored_type(out)->greatest;
    if (activation < 0 || activation > ACT_RELU6) return;
    int64_t low = bounds[activation].is_below ? stored(out, bounds[activation].low) : *least;
    int64_t high = bounds[activation].is_above ? stored(out, bounds[activation].high) : *greatest;
    if (low > *least) *least = low;
    if (high < *greatest) *greatest = high;
}

/* the attributes of a Rescaling */
#define RESCALING(r) \
    attr_if((r).zero_x, attr_int("zero_x", (r).zero_x)), attr_int("zero", (r).zero), \
    attr_if((r).has_least, attr_int("min", (r).least)), attr_if((r).has_greatest, attr_int("max", (r).greatest)), \
    attr_type("to", (r).to)

/* Returns the operands that have one scale, such as `"x" 3.4e+10, "y" 0.5`. */
static const char *scales_text(const TfliteCall *c)
{
    Text t = text_new(c->cx);
    for (int i = 0; i < c->op->in_count + c->op->out_count; i++) {
        const TfliteTensor *info = i < c->op->in_count ? tflite_in_info(c, i)
                                                       : tflite_out_info(c, i - c->op->in_count);
        if (info && info->quant && !(info->type == TFLITE_INT32 && i < c->op->in_count))
            text_printf(&t, "%s\"%s\" %g%s", t.length ? ", " : "", info->name, (double)info->quant->scale[0],
                        info->quant->count > 1 ? ".." : "");
    }
    return text_string(&t);
}

/* Refuses a factor for which the reference's shift is undefined: TensorFlow Lite Micro aborts, TensorFlow Lite gives
 * values that depend on the processor. A converter gives a tensor that calibration always found 0 the smallest normal
 * float as its range. `which` precedes the scales; it is "" or " of channel 3". */
static void refuse_factor(TfliteCall *c, const char *which, int exponent, const char *accepted)
{
    const TfliteTensor *y = tflite_out_info(c, 0);
    const bool was_zero = y && y->quant && tflite_scale(y) > 0 && tflite_scale(y) < FLT_MIN;
    tflite_unsupported(c, "the scales%s (%s) give a factor of 2^%d; use %s%s%s%s", which, scales_text(c),
                       exponent, accepted, was_zero ? " (\"" : "", was_zero ? y->name : "",
                       was_zero ? "\" was 0 in all samples of the calibration)" : "");
}
static void refuse_channel(TfliteCall *c, int channel, int exponent, const char *accepted)
{
    Text which = text_new(c->cx);
    text_printf(&which, " of channel %d", channel);
    refuse_factor(c, text_string(&which), exponent, accepted);
}

Tensor *tflite_rescale(TfliteCall *c, Tensor *x, Factor f, Rescaling r)
{
    enum { TWICE, ONCE, ONCE_AWAY };
    if (f.exponent > 31) refuse_factor(c, "", f.exponent, "up to 2^31");
    return tflite_call(c, "rescale", x, attr_int("multiplier", f.multiplier),
                       attr_int("shift", f.exponent < 0 ? -f.exponent : 0),
                       attr_int("left", f.exponent > 0 ? f.exponent : 0),
                       attr_int("once", r.is_exact ? ONCE_AWAY : c->file->rounds_once ? ONCE : TWICE), RESCALING(r));
}

/* Returns the rescaling to the quantization of output 0. */
static Rescaling store_of(TfliteCall *c, int activation)
{
    Rescaling r = { .has_least = true, .has_greatest = true, .to = I8 };
    const TfliteTensor *out = tflite_out_info(c, 0);
    tflite_clamp(out, activation, &r.least, &r.greatest);
    if (activation > ACT_RELU6) tflite_refuse_activation(c, activation, ACT_RELU6);
    r.zero = tflite_zero(out);
    tflite_dtype(out->type, &r.to);
    return r;
}

/* Rescales by one factor per channel: multipliers are a constant vector, as are shifts unless all are equal. Left
 * shifts precede as a multiplication by powers of two: x << e is x * 2^e, with the same wraparound. */
static Tensor *rescale_channels(TfliteCall *c, Tensor *x, const Factor *f, int count, Rescaling r)
{
    Ctx *cx = c->cx;
    int64_t shape = count;
    int32_t *multiplier = NEW_ARRAY(cx->arena, int32_t, count), *power = NEW_ARRAY(cx->arena, int32_t, count);
    uint8_t *shift = NEW_ARRAY(cx->arena, uint8_t, count);
    bool has_left = false, has_shifts = false;
    for (int i = 0; i < count; i++) {
        if (f[i].exponent > 31) refuse_channel(c, i, f[i].exponent, "up to 2^31");
        multiplier[i] = f[i].multiplier;
        shift[i] = (uint8_t)(f[i].exponent < 0 ? -f[i].exponent : 0);
        power[i] = f[i].exponent > 0 ? (int32_t)((uint32_t)1 << (f[i].exponent & 31)) : 1;
        has_left = has_left || f[i].exponent > 0;
        has_shifts = has_shifts || shift[i] != shift[0];
    }
    Tensor *m = tensor_constant(cx, "m", I32, 1, &shape, multiplier),
           *n = has_shifts ? tensor_constant(cx, "n", U8, 1, &shape, shift) : NULL;
    if (has_left) x = tflite_call2(c, "mul", x, tensor_constant(cx, "p", I32, 1, &shape, power));
    if (!x || !m) return NULL;
    return call(cx, "rescale", c->name, (Tensor *[]){ x, m, n }, n ? 3 : 2,
                ATTRS(attr_flag("once", c->file->rounds_once), RESCALING(r),
                      attr_if(!has_shifts, attr_int("shift", shift[0]))));
}

/* Doubles each multiplier m < 2^n until its shift n is 31: 32-bit sums then need one product of two words,
 * mulhigh(x, m * 2^(31-n)) = (x * m * 2^(31-n) + 2^30) >> 31 = (x * m + 2^(n-1)) >> n. Returns false, and changes
 * nothing, if a multiplier has no such form. */
static bool shifts_are_in_multipliers(int32_t *multiplier, const uint8_t *shift, int count)
{
    enum { WORD = 31 };
    for (int i = 0; i < count; i++)
        if (shift[i] > WORD || multiplier[i] >> shift[i]) return false;
    for (int i = 0; i < count; i++) multiplier[i] = (int32_t)((uint32_t)multiplier[i] << (WORD - shift[i]));
    return true;
}

enum { WIDE_BITS = 15, GREATEST_WIDE = 7 };
static const char *const wide_accepted = "less than 2^8";

static WideFactor wide_factor(double real)
{
    const Factor f = tflite_factor(real);
    return (WideFactor){ .multiplier = f.multiplier < 0x7fff0000 ? (f.multiplier + (1 << 15)) >> 16 : 0x7fff,
                         .shift = WIDE_BITS - f.exponent };
}
static bool is_accepted(WideFactor f) { return f.shift >= WIDE_BITS - GREATEST_WIDE; }

bool tflite_wide_factor(TfliteCall *c, double real, WideFactor *out)
{
    *out = wide_factor(real);
    if (!is_accepted(*out)) refuse_factor(c, "", WIDE_BITS - out->shift, wide_accepted);
    return is_accepted(*out);
}

Tensor *tflite_requantize_wide_to(TfliteCall *c, Tensor *sums, const double *scales, int count, Rescaling r)
{
    Ctx *cx = c->cx;
    int64_t shape = count;
    int32_t *multiplier = NEW_ARRAY(cx->arena, int32_t, count);
    uint8_t *shift = NEW_ARRAY(cx->arena, uint8_t, count);
    for (int i = 0; i < count; i++) {
        const WideFactor f = wide_factor(scales[i]);
        if (!is_accepted(f)) refuse_channel(c, i, WIDE_BITS - f.shift, wide_accepted);
        multiplier[i] = f.multiplier;
        shift[i] = (uint8_t)f.shift;
    }
    if (ctx_failed(cx) || !sums || !count) return NULL;
    const bool is_one_product = sums->type == I32 && !r.zero && shifts_are_in_multipliers(multiplier, shift, count);
    Tensor *m = count > 1 ? tensor_constant(cx, "m", I32, 1, &shape, multiplier) : NULL;
    Tensor *in[] = { sums, m, count > 1 ? tensor_constant(cx, "n", U8, 1, &shape, shift) : NULL };
    if (is_one_product)
        return call(cx, "rescale", c->name, in, count > 1 ? 2 : 1,
                    ATTRS(attr_if(count == 1, attr_int("multiplier", multiplier[0])), RESCALING(r)));
    return call(cx, "rescale_wide", c->name, in, count > 1 ? 3 : 1,
                ATTRS(attr_int("multiplier", multiplier[0]), attr_int("shift", shift[0]), attr_int("zero", r.zero),
                      attr_int("min", r.least), attr_int("max", r.greatest), attr_type("to", r.to)));
}

Tensor *tflite_requantize_wide(TfliteCall *c, Tensor *sums, const double *scales, int count, int activation)
{
    return tflite_requantize_wide_to(c, sums, scales, count, store_of(c, activation));
}

Tensor *tflite_requantize_to(TfliteCall *c, Tensor *sums, const double *scales, int count, Rescaling r)
{
    bool are_same = true;
    Factor *f = NEW_ARRAY(c->cx->arena, Factor, count);
    for (int i = 0; i < count; i++) {
        f[i] = tflite_factor(scales[i]);
        are_same = are_same && f[i].multiplier == f[0].multiplier && f[i].exponent == f[0].exponent;
    }
    if (ctx_failed(c->cx) || !sums || !count) return NULL;
    return are_same ? tflite_rescale(c, sums, f[0], r) : rescale_channels(c, sums, f, count, r);
}

Tensor *tflite_requantize(TfliteCall *c, Tensor *sums, const double *scales, int count, int activation)
{
    return tflite_requantize_to(c, sums, scales, count, store_of(c, activation));
}

Tensor *tflite_requantize_once(TfliteCall *c, Tensor *sums, double scale, int activation)
{
    Rescaling r = store_of(c, activation);
    r.is_exact = true;
    return tflite_requantize_to(c, sums, &scale, 1, r);
}

Tensor *tflite_block_scales(TfliteCall *c, int i)
{
    const TfliteTensor *t = tflite_in_info(c, i), *info = &c->file->tensor[t->block_scales];
    Tensor *scales = info->data.count ? tflite_constant(c->cx, info) : NULL;
    int64_t shape[MAX_RANK] = { 0 }, blocks = t->dim[t->rank - 1] / t->block_size;
    for (int d = 0; d < t->rank - 1; d++) shape[d] = t->dim[d];
    int64_t rows = tensor_elems(c->in[i]) / t->dim[t->rank - 1];
    if (!scales || !dtype_is_float(scales->type) || tensor_elems(scales) != rows * blocks || t->rank == MAX_RANK) {
        tflite_unsupported(c, "the scales of \"%s\" are \"%s\"; use constant floats, one per block of %d",
                           t->name, info->name, t->block_size);
        return NULL;
    }
    shape[t->rank - 1] = blocks;
    shape[t->rank] = 1;
    return tflite_reshape(c, tflite_call(c, "cast", scales, attr_type("to", F32)), shape, t->rank + 1);
}

/* Weights with one scale for each block of their last dimension: [o][k] = [o][k/b][b] * [o][k/b][1] */
static Tensor *blockwise_real(TfliteCall *c, int i, const TfliteTensor *t)
{
    Tensor *scales = tflite_block_scales(c, i);
    if (!scales) return NULL;
    int64_t shape[MAX_RANK] = { 0 };
    for (int d = 0; d < t->rank - 1; d++) shape[d] = t->dim[d];
    shape[t->rank - 1] = t->dim[t->rank - 1] / t->block_size;
    shape[t->rank] = t->block_size;
    Tensor *x = tflite_reshape(c, tflite_call(c, "cast", c->in[i], attr_type("to", F32)), shape, t->rank + 1);
    return tflite_reshape(c, tflite_call2(c, "mul", x, scales), t->dim, t->rank);
}

Tensor *tflite_real(TfliteCall *c, int i)
{
    const TfliteTensor *t = tflite_in_info(c, i);
    int64_t shape[MAX_RANK] = { 0 };
    if (t && t->is_blockwise) return blockwise_real(c, i, t);
    if (!tflite_has_quant(c, t, true)) return NULL;
    const Quant *q = t->quant;
    for (int d = 0; d < t->rank; d++) shape[d] = d == q->axis ? q->count : 1;
    const int rank = q->count > 1 ? t->rank : 0;
    const DType stored = c->in[i]->type;
    if (dtype_info(stored)->bytes > 2)
        tflite_unsupported(c, "\"%s\" is quantized and has elements of type %s; use 8 or 16 bits", t->name,
                           dtype_info(stored)->spelling);
    if (ctx_failed(c->cx)) return NULL;
    int16_t *zeros = NEW_ARRAY(c->cx->arena, int16_t, q->count);         /* zero points of 8 or 16 bits */
    for (int k = 0; k < q->count; k++) dtype_store(stored, zeros, k, (Scalar){ .i = q->zero_point[k] });
    Tensor *constant = tensor_constant(c->cx, c->name, F32, rank, shape, q->scale);
    Tensor *in[] = { c->in[i], constant, tensor_constant(c->cx, c->name, stored, rank, shape, zeros) };
    return call(c->cx, "dequantize", c->name, in, 3, NULL);
}

bool tflite_real_weights(TfliteCall *c)
{
    const Tensor *x = tflite_in(c, 0), *w = tflite_in(c, 1);
    if (x && w && x->type == F32 && (w->type == I8 || w->type == U8)) c->in[1] = tflite_real(c, 1);
    return !ctx_failed(c->cx);
}

Tensor *tflite_difference(TfliteCall *c, int i)
{
    Tensor *x = tflite_call(c, "cast", c->in[i], attr_type("to", I32));
    int zero = tflite_zero(tflite_in_info(c, i));
    return zero ? tflite_call2(c, "sub", x, tensor_scalar(c->cx, c->name, I32, zero)) : x;
}

bool tflite_has_one_scale(TfliteCall *c, int inputs)
{
    const TfliteTensor *y = tflite_out_info(c, 0);
    for (int i = 0; i < inputs && tflite_is_quantized(c); i++) {
        const TfliteTensor *x = tflite_in_info(c, i);
        if (!tflite_has_quant(c, x, false) || !tflite_has_quant(c, y, false)) return false;
        if (tflite_scale(x) == tflite_scale(y) && tflite_zero(x) == tflite_zero(y)) continue;
        tflite_unsupported(c, "\"%s\" has scale %g and zero point %d, the output %g and %d; use equal scales and zero "
                              "points",
                           x->name, (double)tflite_scale(x), tflite_zero(x), (double)tflite_scale(y), tflite_zero(y));
        return false;
    }
    return true;
}
