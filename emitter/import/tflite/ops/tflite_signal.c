/* SPDX-License-Identifier: MIT */
/* Translates the Fourier transform of real rows and images (import/model/fourier.h), and parts of complex numbers. A
 * tensor of type COMPLEX64 is one of f32 with a last dimension of 2: the real and the imaginary part. */
#include "import/model/fourier.h"
#include "import/tflite/ops/tflite_rows.h"

enum { OPTIONS_RFFT2D = 105 };

/* ---- Transforms -------------------------------------------------------------------------------------------------- */

static Tensor *fitted(TfliteCall *c, Tensor *x, int axis, int64_t size)
{
    return fourier_fitted(c->cx, c->name, x, axis, size);
}

static Tensor *swapped(TfliteCall *c, Tensor *x, int64_t images, int64_t rows, int64_t columns)
{
    return tflite_call(c, "transpose", tflite_reshape(c, x, (int64_t[]){ images, rows, columns, 2 }, 4),
                       attr_list("perm", 0, 2, 1, 3));
}

/* Transforms each column of x [images * rows][bins][2], which becomes [images][height][bins][2]. */
static Tensor *transform_columns(TfliteCall *c, Tensor *x, int64_t images, int64_t rows, int64_t bins, int64_t height)
{
    x = tflite_reshape(c, swapped(c, x, images, rows, bins), (int64_t[]){ images * bins, rows, 2 }, 3);
    return swapped(c, fourier(c->cx, c->name, fitted(c, x, 1, height), false, FOURIER_FAST), images, bins, height);
}

/* ---- Operators --------------------------------------------------------------------------------------------------- */

/* Computes the real transform of the rows, and then the transform of each column of bins. Rows and columns that are
 * longer than the transform are cut, shorter ones are padded with zeros. */
static void rfft_2d(TfliteCall *c)
{
    int64_t size[2], shape[MAX_RANK + 1], images = 1;
    if (!tflite_needs(c, 2) || !tflite_list(c, 1, size, 2)) return;
    Tensor *x = c->in[0];
    const int rank = x->rank;
    const int64_t height = size[0], length = size[1], bins = length / 2 + 1;
    if (rank < 2 || rank >= MAX_RANK || tensor_elems(x) < 1)
        tflite_unsupported(c, "the input is %s; use [..][rows][points] of fixed sizes above 0",
                           tensor_shape_text(c->cx, x));
    if (height < 1 || height > MOST_FOURIER_POINTS || height & (height - 1))
        tflite_unsupported(c, "it transforms %lld rows; use a power of two from 1 to %d", (long long)height,
                           MOST_FOURIER_POINTS);
    if (length < 2 || length > MOST_FOURIER_POINTS)
        tflite_unsupported(c, "it transforms %lld points; use a power of two from 2 to %d", (long long)length,
                           MOST_FOURIER_POINTS);
    if (ctx_failed(c->cx)) {
        return;
    }
    const int64_t most = tensor_dim(x, rank - 2), rows = most < height ? most : height;
    for (int d = 0; d < rank - 2; d++) images *= shape[d] = tensor_dim(x, d);
    if (most > rows) x = tflite_part(c, x, rank - 2, 0, rows);
    x = tflite_reshape(c, fitted(c, x, rank - 1, length), (int64_t[]){ images * rows, length }, 2);
    Tensor *y = fourier_of_real(c->cx, c->name, x, FOURIER_FAST);
    if (height > 1) y = transform_columns(c, y, images, rows, bins, height);
    shape[rank - 2] = height;
    shape[rank - 1] = bins;
    shape[rank] = 2;
    c->out[0] = tflite_reshape(c, y, shape, rank + 1);
}

static Tensor *part_at(TfliteCall *c, int64_t at)
{
    int64_t shape[MAX_RANK];
    const int rank = c->in[0]->rank - 1;
    for (int d = 0; d < rank; d++) shape[d] = tensor_dim(c->in[0], d);
    return tflite_reshape(c, tflite_part(c, c->in[0], rank, at, at + 1), shape, rank);
}

static void real_part(TfliteCall *c)
{
    if (tflite_needs(c, 1)) c->out[0] = part_at(c, 0);
}

static void imaginary_part(TfliteCall *c)
{
    if (tflite_needs(c, 1)) c->out[0] = part_at(c, 1);
}

static void complex_abs(TfliteCall *c)
{
    if (!tflite_needs(c, 1)) return;
    Tensor *re = part_at(c, 0), *im = part_at(c, 1);
    Tensor *square = tflite_call(c, "square", im);
    Tensor *squares = tflite_call2(c, "add", tflite_call(c, "square", re), square);
    c->out[0] = tflite_call(c, "sqrt", squares);
}

const TfliteRow tflite_rows_signal[] = {
    { 131, "RFFT2D", 1, OPTIONS_RFFT2D, OF_F32, 1, NULL, rfft_2d, TFLITE_KEEPS_NONE },
    { 133, "IMAG", 1, 0, OF_COMPLEX, 1, NULL, imaginary_part, TFLITE_KEEPS_NONE },
    { 134, "REAL", 1, 0, OF_COMPLEX, 1, NULL, real_part, TFLITE_KEEPS_NONE },
    { 135, "COMPLEX_ABS", 1, 0, OF_COMPLEX, 1, NULL, complex_abs, TFLITE_KEEPS_NONE },
    { 0 }
};
