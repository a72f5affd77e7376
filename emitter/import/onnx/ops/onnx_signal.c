/* SPDX-License-Identifier: MIT */
/* Translates windows, Fourier transforms (import/model/fourier.h) and mel filters; their constants are computed from
 * sizes. */
#include <string.h>

#include "import/model/fourier.h"
#include "import/onnx/ops/onnx_rows.h"

/* MOST_BANDS: limit of bands and points of a mel filter; MOST_SAMPLES: limit of samples of all frames */
enum { MOST_BANDS = 4096, MOST_SAMPLES = 1 << 24 };
static const double two_pi = 6.283185307179586476925286766559;

static Tensor *real_call(OnnxCall *c, const char *op, Tensor *x, double v)
{
    return onnx_call2(c, op, x, onnx_scalar_like(c, x, v));
}

/* ---- Windows: a - b cos(2 pi n / N) + d cos(4 pi n / N), N the length, minus one if symmetric -------------------- */

static void window(OnnxCall *c, double a, double b, double d)
{
    double size;
    DType t = F32;
    if (!onnx_requires(c, 1) || !onnx_scalar(c, 0, &size)) return;
    if (!onnx_dtype(onnx_int(c, "output_datatype", ONNX_FLOAT), &t) || !(size >= 1 && size <= 1 << 16)) {
        onnx_refuse(c, "it has a window of %g elements; use 1 to %d", size, 1 << 16);
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

static bool has_doubles(const Tensor *x) { return x->type == F64; }

/* Views x as rows of `points` numbers with `parts` parts. The shape has three dimensions, or two if `parts` is 1. */
static Tensor *rows_of(OnnxCall *c, Tensor *x, int64_t points, int64_t parts)
{
    const int64_t rows = ctx_failed(c->cx) ? 1 : tensor_elems(x) / (points * parts);
    return onnx_reshape(c, x, (int64_t[]){ rows, points, parts }, parts == 1 ? 2 : 3);
}

/* Cuts dimension 1, or appends zeros to it. */
static Tensor *fitted(OnnxCall *c, Tensor *x, int64_t size) { return fourier_fitted(c->cx, c->name, x, 1, size); }

/* Transforms x [rows][length] or [rows][length][2] to the first bins, [rows][bins][2]. */
static Tensor *transform(OnnxCall *c, Tensor *x, int64_t length, int64_t bins, bool inverse)
{
    if (ctx_failed(c->cx)) return NULL;
    Tensor *y = x->rank == 3 ? fourier(c->cx, c->name, x, inverse, FOURIER_FAST)
                             : fourier_of_real(c->cx, c->name, x, FOURIER_FAST);
    if (x->rank == 2 && (bins > length / 2 + 1 || inverse)) y = fourier_mirrored(c->cx, c->name, y, length, inverse);
    y = fitted(c, y, bins);
    return inverse ? real_call(c, "div", y, (double)length) : y;
}

/* Returns the real signal [rows][length], given the bins up to the middle. */
static Tensor *real_signal(OnnxCall *c, Tensor *x, int64_t length)
{
    if (x && x->rank == 2) x = fourier_as_complex(c->cx, c->name, x);
    return real_call(c, "div", fourier_to_real(c->cx, c->name, fitted(c, x, length / 2 + 1), length, FOURIER_FAST),
                     (double)length);
}

/* Swaps two dimensions. */
static Tensor *swapped(OnnxCall *c, Tensor *x, int axis, int other)
{
    int64_t perm[MAX_RANK];
    if (!x || axis == other) return x;
    for (int d = 0; d < x->rank; d++) perm[d] = d == axis ? other : d == other ? axis : d;
    return onnx_call(c, "transpose", x, attr_ints("perm", perm, x->rank));
}

/* Returns the dimension that is transformed, or -1 after a diagnostic. */
static int dft_axis(OnnxCall *c)
{
    double where;
    const int rank = c->in[0]->rank;
    int64_t at = c->opset < 20 ? onnx_int(c, "axis", 1) : -2, parts = rank > 1 ? tensor_dim(c->in[0], rank - 1) : 0;
    if (c->opset >= 20 && onnx_in(c, 2)) {
        if (!onnx_scalar(c, 2, &where)) return -1;
        at = (int64_t)where;
    }
    const int axis = onnx_axis(c, at, rank);
    if (parts < 1 || parts > 2 || !dtype_is_float(c->in[0]->type))
        onnx_refuse(c, "the input is %s%s; use floats [..][1] (real) or [..][2] (complex)",
                    dtype_info(c->in[0]->type)->spelling, tensor_shape_text(c->cx, c->in[0]));
    else if (axis >= 0 && axis == rank - 1)
        onnx_refuse(c, "'axis' is %lld, the dimension of the real and imaginary parts; use an axis before it",
                    (long long)at);
    return ctx_failed(c->cx) ? -1 : axis;
}

/* Gives rows y the shape of x with a different dimension `axis` and different parts; x's dimension `axis` was moved to
 * the last but one. */
static Tensor *rows_back(OnnxCall *c, Tensor *y, const Tensor *moved, int64_t size, int64_t parts)
{
    int64_t shape[MAX_RANK];
    for (int d = 0; d < moved->rank; d++) shape[d] = tensor_dim(moved, d);
    shape[moved->rank - 2] = size;
    shape[moved->rank - 1] = parts;
    return onnx_reshape(c, y, shape, moved->rank);
}

static void dft(OnnxCall *c)
{
    double given = -1;
    if (!onnx_requires(c, 1) || (onnx_in(c, 1) && !onnx_scalar(c, 1, &given))) return;
    const int axis = dft_axis(c);
    if (axis < 0) return;
    const DType type = c->in[0]->type;
    const int rank = c->in[0]->rank;
    const bool inverse = onnx_int(c, "inverse", 0) != 0, one_sided = onnx_int(c, "onesided", 0) != 0;
    const bool to_real = inverse && one_sided;
    const int64_t size = tensor_dim(c->in[0], axis), parts = tensor_dim(c->in[0], rank - 1),
                  length = given >= 1 ? (int64_t)given
                           : to_real  ? 2 * (size - 1)
                                      : size,
                  read = to_real ? length / 2 + 1 : length, bins = one_sided && !inverse ? length / 2 + 1 : length;
    if (tensor_elems(c->in[0]) < 1)
        onnx_unsupported(c, "the input is %s; use fixed sizes above 0", tensor_shape_text(c->cx, c->in[0]));
    else if (length > MOST_FOURIER_POINTS || length < 1)
        onnx_unsupported(c, "it transforms %lld elements; use 1 to %d", (long long)length, MOST_FOURIER_POINTS);
    if (ctx_failed(c->cx)) return;
    Tensor *x = has_doubles(c->in[0]) ? c->in[0] : onnx_cast(c, c->in[0], F32);
    Tensor *moved = swapped(c, x, axis, rank - 2);
    if (ctx_failed(c->cx)) return;
    Tensor *rows = fitted(c, rows_of(c, moved, size, parts), read);
    Tensor *y = to_real ? real_signal(c, rows, length) : transform(c, rows, length, bins, inverse);
    y = rows_back(c, y, moved, bins, to_real ? 1 : 2);
    c->out[0] = onnx_cast(c, swapped(c, y, axis, rank - 2), type);
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
    if (!is_real)
        onnx_unsupported(c, "the signal is %s; use [n][samples] or [n][samples][1]", tensor_shape_text(c->cx, x));
    if (length < 1 || length > MOST_FOURIER_POINTS)
        onnx_unsupported(c, "it has frames of %lld samples; use 1 to %d samples", (long long)length,
                         MOST_FOURIER_POINTS);
    if (length > samples)
        onnx_unsupported(c, "it has frames of %lld samples for a signal %s; use a signal of at least a frame",
                         (long long)length, tensor_shape_text(c->cx, x));
    if (!(step >= 1)) onnx_unsupported(c, "the step between frames is %g; use 1 or more", step);
    if (ctx_failed(c->cx)) return;
    const double hop = step < (double)samples ? step : (double)samples;
    const int64_t frames = (samples - length) / (int64_t)hop + 1;
    if (frames > MOST_SAMPLES / length) {
        onnx_unsupported(c, "it has %lld frames of %lld samples; use at most %d samples in total", (long long)frames,
                         (long long)length,
                         MOST_SAMPLES);
        return;
    }
    const DType type = x->type;
    x = onnx_reshape(c, x, (int64_t[]){ tensor_dim(x, 0), samples }, 2);
    const int64_t signals = ctx_failed(c->cx) ? 1 : tensor_dim(x, 0);
    Tensor *framed = onnx_call(c, "frames", x, attr_int("length", length), attr_int("step", (int64_t)hop));
    if (shape_of) framed = onnx_call2(c, "mul", framed, shape_of);
    if (framed && !has_doubles(framed)) framed = onnx_cast(c, framed, F32);
    const int64_t bins = onnx_int(c, "onesided", 1) ? length / 2 + 1 : length;
    Tensor *y = ctx_failed(c->cx) ? NULL : transform(c, rows_of(c, framed, length, 1), length, bins, false);
    c->out[0] = onnx_cast(c, onnx_reshape(c, y, (int64_t[]){ signals, frames, bins, 2 }, 4), type);
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

/* Returns the weight of each bin in each band; the bands are triangles between points that are evenly spaced on the mel
 * scale. */
static void mel_weights(OnnxCall *c)
{
    double v[5];
    DType t = F32;
    if (!onnx_requires(c, 5)) return;
    for (int i = 0; i < 5; i++)
        if (!onnx_scalar(c, i, &v[i])) return;
    const int64_t type = onnx_int(c, "output_datatype", ONNX_FLOAT);
    if (!onnx_dtype(type, &t) || !dtype_is_float(t))
        onnx_refuse(c, "'output_datatype' is %s; use a float type", onnx_type_text(c->cx, type));
    if (!(v[0] >= 1 && v[0] <= MOST_BANDS)) onnx_refuse(c, "it has %g bands; use 1 to %d", v[0], MOST_BANDS);
    if (!(v[1] >= 1 && v[1] <= MOST_BANDS))
        onnx_refuse(c, "it has a transform of %g points; use 1 to %d", v[1], MOST_BANDS);
    if (!(v[2] >= 1)) onnx_refuse(c, "the sample rate is %g Hz; use 1 or more", v[2]);
    if (!(v[3] >= 0 && v[4] > v[3] && v[4] <= v[2]))
        onnx_refuse(c, "the bands are from %g to %g Hz at a rate of %g Hz; use ascending edges from 0 to the rate",
                    v[3], v[4], v[2]);
    if (ctx_failed(c->cx)) return;
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
