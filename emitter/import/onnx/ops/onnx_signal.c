/* SPDX-License-Identifier: MIT */
/* Windows, Fourier transforms and mel filters, from constants computed from sizes. A transform is two products with the
 * matrices cos(2 pi k n / N) and sin(2 pi k n / N); their angles are first reduced in integers. */
#include <string.h>

#include "import/onnx/ops/onnx_rows.h"

enum { MOST_LENGTH = 4096, MOST_SAMPLES = 1 << 24 };     /* of a transform; samples of all frames */
static const double two_pi = 6.283185307179586476925286766559;

static Tensor *real_call(OnnxCall *c, const char *op, Tensor *x, double v)
{
    return onnx_call2(c, op, x, onnx_scalar_like(c, x, v));
}

/* angle[i,j] = 2 pi (i * j mod length) / length, rows by columns. */
static Tensor *angles(OnnxCall *c, int64_t rows, int64_t columns, int64_t length)
{
    double *v = NEW_ARRAY(c->cx->arena, double, rows * columns);
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < columns; j++) v[i * columns + j] = two_pi * (double)(i * j % length) / (double)length;
    return tensor_constant(c->cx, c->name, F64, 2, (int64_t[]){ rows, columns }, v);
}

/* ---- Windows: a - b cos(2 pi n / N) + d cos(4 pi n / N), N the length, minus one if symmetric -------------------- */

static void window(OnnxCall *c, double a, double b, double d)
{
    double size;
    DType t = F32;
    if (!onnx_requires(c, 1) || !onnx_scalar(c, 0, &size)) return;
    if (!onnx_dtype(onnx_int(c, "output_datatype", ONNX_FLOAT), &t) || !(size >= 1 && size <= 1 << 16)) {
        onnx_refuse(c, "a window of %g elements; use 1 to %d", size, 1 << 16);
        return;
    }
    int64_t count = (int64_t)size, length = onnx_int(c, "periodic", 1) ? count : count > 1 ? count - 1 : 1;
    double *once = NEW_ARRAY(c->cx->arena, double, count), *twice = NEW_ARRAY(c->cx->arena, double, count);
    for (int64_t i = 0; i < count; i++) {
        once[i] = two_pi * (double)(i % length) / (double)length;
        twice[i] = two_pi * (double)(2 * i % length) / (double)length;
    }
    Tensor *first = onnx_call(c, "cos", tensor_constant(c->cx, c->name, F64, 1, &count, once)),
           *y = real_call(c, "mul", first, -b);
    Tensor *second = onnx_call(c, "cos", tensor_constant(c->cx, c->name, F64, 1, &count, twice));
    if (d != 0) y = onnx_call2(c, "add", y, real_call(c, "mul", second, d));
    c->out[0] = onnx_cast(c, real_call(c, "add", y, a), t);
}
static void hann(OnnxCall *c) { window(c, 0.5, 0.5, 0); }
static void hamming(OnnxCall *c) { window(c, 25.0 / 46, 1 - 25.0 / 46, 0); }
static void blackman(OnnxCall *c) { window(c, 0.42, 0.5, 0.08); }

/* ---- Fourier ----------------------------------------------------------------------------------------------------- */

/* x [..][n] times the matrix [n][bins] */
static Tensor *by_matrix(OnnxCall *c, Tensor *x, const char *function, int64_t length, int64_t n, int64_t bins)
{
    return x ? onnx_call2(c, "dense", x, onnx_cast(c, onnx_call(c, function, angles(c, n, bins, length)), x->type))
             : NULL;
}

/* real, imaginary: [..][n], imaginary may be NULL. Result [..][bins][2]. */
static Tensor *transform(OnnxCall *c, Tensor *real, Tensor *imaginary, int64_t length, int64_t bins, bool inverse)
{
    int64_t n = real ? tensor_dim(real, real->rank - 1) : 0, shape[MAX_RANK];
    double sign = inverse ? 1 : -1;
    Tensor *re = by_matrix(c, real, "cos", length, n, bins),
           *im = real_call(c, "mul", by_matrix(c, real, "sin", length, n, bins), sign);
    if (imaginary) {
        re = onnx_call2(c, "sub", re, real_call(c, "mul", by_matrix(c, imaginary, "sin", length, n, bins), sign));
        im = onnx_call2(c, "add", im, by_matrix(c, imaginary, "cos", length, n, bins));
    }
    if (inverse) re = real_call(c, "div", re, (double)length), im = real_call(c, "div", im, (double)length);
    if (ctx_failed(c->cx)) return NULL;
    for (int d = 0; d < re->rank; d++) shape[d] = tensor_dim(re, d);
    shape[re->rank] = 1;
    Tensor *view = onnx_reshape(c, re, shape, re->rank + 1);
    Tensor *parts[2] = { view, onnx_reshape(c, im, shape, re->rank + 1) };
    return ctx_failed(c->cx) ? NULL : call(c->cx, "concat", c->name, parts, 2, ATTRS(attr_int("axis", re->rank)));
}

/* Returns the real signal [..][length][1] of the first n bins. Bins above length / 2 are conjugates of these. So each
 * bin counts twice, except the first and, for an even length, the middle one. */
static Tensor *real_signal(OnnxCall *c, Tensor *real, Tensor *imaginary, int64_t length)
{
    if (ctx_failed(c->cx)) return NULL;
    int64_t n = tensor_dim(real, real->rank - 1), shape[MAX_RANK];
    double *times = NEW_ARRAY(c->cx->arena, double, n);
    for (int64_t k = 0; k < n; k++) times[k] = (k == 0 || 2 * k == length ? 1.0 : 2.0) / (double)length;
    Tensor *weight = onnx_cast(c, tensor_constant(c->cx, c->name, F64, 1, &n, times), real->type);
    Tensor *y = by_matrix(c, onnx_call2(c, "mul", real, weight), "cos", length, n, length);
    if (imaginary)
        y = onnx_call2(c, "sub", y, by_matrix(c, onnx_call2(c, "mul", imaginary, weight), "sin", length, n, length));
    if (ctx_failed(c->cx)) return NULL;
    for (int d = 0; d < y->rank; d++) shape[d] = tensor_dim(y, d);
    shape[y->rank] = 1;
    return onnx_reshape(c, y, shape, y->rank + 1);
}

/* Returns part 0 or 1 of the last dimension, removing it. */
static Tensor *part(OnnxCall *c, Tensor *x, int64_t at)
{
    int64_t shape[MAX_RANK];
    for (int d = 0; d + 1 < x->rank; d++) shape[d] = tensor_dim(x, d);
    return onnx_reshape(c, onnx_call(c, "slice", x, attr_list("axes", -1), attr_list("begin", at),
                                     attr_list("end", at + 1)),
                        shape, x->rank - 1);
}

/* Swaps two dimensions. */
static Tensor *swapped(OnnxCall *c, Tensor *x, int axis, int other)
{
    int64_t perm[MAX_RANK];
    if (!x || axis == other) return x;
    for (int d = 0; d < x->rank; d++) perm[d] = d == axis ? other : d == other ? axis : d;
    return onnx_call(c, "transpose", x, attr_ints("perm", perm, x->rank));
}

static void dft(OnnxCall *c)
{
    double given = -1, where;
    if (!onnx_requires(c, 1) || (onnx_in(c, 1) && !onnx_scalar(c, 1, &given))) return;
    int rank = c->in[0]->rank;
    int64_t at = c->opset < 20 ? onnx_int(c, "axis", 1) : -2, parts = rank > 1 ? tensor_dim(c->in[0], rank - 1) : 0;
    if (c->opset >= 20 && onnx_in(c, 2)) {
        if (!onnx_scalar(c, 2, &where)) return;
        at = (int64_t)where;
    }
    int axis = onnx_axis(c, at, rank);
    if (parts < 1 || parts > 2 || axis == rank - 1 || !dtype_is_float(c->in[0]->type))
        onnx_refuse(c, "the input is %s; use real or complex numbers [..][1 or 2]",
                    tensor_shape_text(c->cx, c->in[0]));
    if (ctx_failed(c->cx)) return;
    bool inverse = onnx_int(c, "inverse", 0) != 0, one_sided = onnx_int(c, "onesided", 0) != 0;
    const bool to_real = inverse && one_sided;
    const int64_t size = tensor_dim(c->in[0], axis),
                  length = given >= 1 ? (int64_t)given
                           : to_real  ? 2 * (size - 1)
                                      : size,
                  read = to_real ? length / 2 + 1 : length;
    if (length > MOST_LENGTH || length < 1 || size < 1) {
        onnx_unsupported(c, "%lld elements; use 1 to %d", (long long)length, MOST_LENGTH);
        return;
    }
    Tensor *x = c->in[0];
    if (read < size) x = onnx_call(c, "slice", x, attr_list("axes", axis), attr_list("begin", 0),
                                   attr_list("end", read));
    Tensor *real = swapped(c, part(c, x, 0), axis, rank - 2),
           *imaginary = parts == 2 ? swapped(c, part(c, x, 1), axis, rank - 2) : NULL;
    Tensor *y = to_real ? real_signal(c, real, imaginary, length)
                        : transform(c, real, imaginary, length, one_sided ? length / 2 + 1 : length, inverse);
    c->out[0] = swapped(c, y, axis, rank - 2);
}

/* Transforms frames of the signal [n][samples], each multiplied by the window: [n][frames][bins][2]. */
static void stft(OnnxCall *c)
{
    double step, given = 0;
    if (!onnx_requires(c, 2) || !onnx_scalar(c, 1, &step) || (onnx_in(c, 3) && !onnx_scalar(c, 3, &given))) return;
    Tensor *x = c->in[0], *shape_of = onnx_in(c, 2);
    int64_t length = onnx_in(c, 3) ? (int64_t)given
                     : shape_of    ? tensor_elems(shape_of)
                                   : 0,
            samples = x->rank > 1 ? tensor_dim(x, 1) : 0;
    bool is_real = x->rank == 2 || (x->rank == 3 && tensor_dim(x, 2) == 1);
    if (!is_real || length < 1 || length > MOST_LENGTH || length > samples || !(step >= 1)) {
        onnx_unsupported(c, "frames of %lld of a signal %s; use a real one of at least that many samples",
                         (long long)length, tensor_shape_text(c->cx, x));
        return;
    }
    const double hop = step < (double)samples ? step : (double)samples;
    const int64_t frames = (samples - length) / (int64_t)hop + 1;
    if (frames > MOST_SAMPLES / length) {
        onnx_unsupported(c, "%lld frames of %lld samples; use at most %d samples in total", (long long)frames,
                         (long long)length,
                         MOST_SAMPLES);
        return;
    }
    int64_t *index = NEW_ARRAY(c->cx->arena, int64_t, frames * length);
    for (int64_t f = 0; f < frames; f++)
        for (int64_t i = 0; i < length; i++) index[f * length + i] = f * (int64_t)hop + i;
    x = onnx_reshape(c, x, (int64_t[]){ tensor_dim(x, 0), samples }, 2);
    Tensor *table = tensor_constant(c->cx, c->name, I64, 2, (int64_t[]){ frames, length }, index);
    Tensor *framed = x ? call(c->cx, "gather", c->name, (Tensor *[]){ x, table }, 2,
                              ATTRS(attr_int("axis", 1))) : NULL;
    if (shape_of) framed = onnx_call2(c, "mul", framed, shape_of);
    c->out[0] = transform(c, framed, NULL, length, onnx_int(c, "onesided", 1) ? length / 2 + 1 : length, false);
}

/* ---- Mel scale: 2595 log10(1 + f / 700) -------------------------------------------------------------------------- */

static double mel_of(double hertz)
{
    return 2595 * scalar_apply(EXPR_LOG10, F64, F64, &(Scalar){ .f = 1 + hertz / 700 }).f;
}

static double hertz_of(double mel)
{
    return 700 * (scalar_apply(EXPR_POW, F64, F64, (const Scalar[]){ { .f = 10 }, { .f = mel / 2595 } }).f - 1);
}

/* Returns the weight of each bin in each band: triangles between points evenly spaced on the mel scale. */
static void mel_weights(OnnxCall *c)
{
    double v[5];
    DType t = F32;
    if (!onnx_requires(c, 5)) return;
    for (int i = 0; i < 5; i++)
        if (!onnx_scalar(c, i, &v[i])) return;
    if (!onnx_dtype(onnx_int(c, "output_datatype", ONNX_FLOAT), &t) || !dtype_is_float(t)
        || !(v[0] >= 1 && v[0] <= MOST_LENGTH && v[1] >= 1 && v[1] <= MOST_LENGTH)
        || !(v[2] >= 1 && v[3] >= 0 && v[4] > v[3] && v[4] <= v[2])) {
        onnx_refuse(c,
                    "%g bands of %g points at rate %g from %g to %g Hz; use at most %d bands and points, within the "
                    "rate",
                    v[0], v[1], v[2], v[3], v[4], MOST_LENGTH);
        return;
    }
    int64_t bands = (int64_t)v[0], bins = (int64_t)v[1] / 2 + 1;
    double low = mel_of(v[3]), step = (mel_of(v[4]) - low) / (double)(bands + 2);
    int64_t *edge = NEW_ARRAY(c->cx->arena, int64_t, bands + 2);
    for (int64_t i = 0; i < bands + 2; i++) {
        edge[i] = (int64_t)((double)((int64_t)v[1] + 1) * hertz_of((double)i * step + low) / v[2]);
        if (edge[i] >= bins) edge[i] = bins - 1;
    }
    void *data;
    Tensor *w = tensor_zeros(c->cx, c->name, t, 2, (int64_t[]){ bins, bands }, &data);
    for (int64_t b = 0; w && b < bands; b++)
        for (int64_t i = edge[b]; i <= edge[b + 2]; i++) {
            int64_t up = edge[b + 1] - edge[b], down = edge[b + 2] - edge[b + 1];
            double weight = i < edge[b + 1]    ? (double)(i - edge[b]) / (double)up
                            : i == edge[b + 1] ? 1
                                               : (double)(edge[b + 2] - i) / (double)down;
            dtype_store(t, data, i * bands + b, (Scalar){ .f = weight });
        }
    c->out[0] = w;
}

const OnnxOp onnx_rows_signal[] = {
    { ONNX_ROW("BlackmanWindow", 1, "output_datatype periodic", blackman) },
    { ONNX_ROW("DFT", 3, "axis inverse onesided", dft) },
    { ONNX_ROW("HammingWindow", 1, "output_datatype periodic", hamming) },
    { ONNX_ROW("HannWindow", 1, "output_datatype periodic", hann) },
    { ONNX_ROW("MelWeightMatrix", 5, "output_datatype", mel_weights) },
    { ONNX_ROW("STFT", 4, "onesided", stft) },
    { 0 }
};
