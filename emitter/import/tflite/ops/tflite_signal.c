/* SPDX-License-Identifier: MIT */
/* The Fourier transform of real rows and images, and parts of complex numbers. A tensor of type COMPLEX64 is one of f32
 * with a last dimension of 2: the real and the imaginary part.
 *
 * With N = A B, n = B a + b and k = p + A q a transform is two short ones around a product with constants:
 *
 *   X[p + A q] = sum(b) W(B)^(b q) W(N)^(b p) sum(a) x[B a + b] W(A)^(a p),   W(N) = exp(-2 pi i / N)
 *
 * so 256 points take 5 KB of constants and 18,000 products instead of 264 KB and 66,000. */
#include "import/tflite/ops/tflite_rows.h"

enum { OPTIONS_RFFT2D = 105, MOST_LENGTH = 4096 };
static const double two_pi = 6.283185307179586476925286766559;

/* ---- Complex numbers --------------------------------------------------------------------------------------------- */

/* Either part may be NULL: zero. */
typedef struct Complex { Tensor *re, *im; } Complex;

/* cos and -sin of 2 pi i j / length, [rows][columns] */
static Complex roots(TfliteCall *c, int64_t rows, int64_t columns, int64_t length)
{
    float *re = NEW_ARRAY(c->cx->arena, float, rows * columns), *im = NEW_ARRAY(c->cx->arena, float, rows * columns);
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < columns; j++) {
            const Scalar angle = { .f = two_pi * (double)(i * j % length) / (double)length };
            re[i * columns + j] = (float)scalar_apply(EXPR_COS, F64, F64, &angle).f;
            im[i * columns + j] = (float)-scalar_apply(EXPR_SIN, F64, F64, &angle).f;
        }
    const int64_t shape[] = { rows, columns };
    Tensor *constant = tensor_constant(c->cx, c->name, F32, 2, shape, re);
    return (Complex){ constant, tensor_constant(c->cx, c->name, F32, 2, shape, im) };
}

/* Returns x y by `op`, which is bilinear: a product of matrices or of elements. */
static Complex product(TfliteCall *c, const char *op, Complex x, Complex y)
{
    Tensor *re = tflite_call2(c, op, x.re, y.re);
    Complex z = { re, tflite_call2(c, op, x.re, y.im) };
    if (!x.im) return z;
    Tensor *difference = tflite_call2(c, "sub", z.re, tflite_call2(c, op, x.im, y.im));
    return (Complex){ difference, tflite_call2(c, "add", z.im, tflite_call2(c, op, x.im, y.re)) };
}

/* Reshapes rows to [rows][first][second] and swaps the last two dimensions. */
static Tensor *swapped(TfliteCall *c, Tensor *x, int64_t rows, int64_t first, int64_t second)
{
    return tflite_call(c, "transpose", tflite_reshape(c, x, (int64_t[]){ rows, first, second }, 3),
                       attr_list("perm", 0, 2, 1));
}

/* Returns the largest divisor of length up to its square root. */
static int64_t divisor(int64_t length)
{
    int64_t best = 1;
    for (int64_t d = 2; d * d <= length; d++)
        if (length % d == 0) best = d;
    return best;
}

static Complex both_swapped(TfliteCall *c, Complex x, int64_t rows, int64_t first, int64_t second)
{
    Tensor *re = swapped(c, x.re, rows, first, second);
    return (Complex){ re, x.im ? swapped(c, x.im, rows, first, second) : NULL };
}

/* x [rows][length] to the first bins, [rows][bins] */
static Complex transform(TfliteCall *c, Complex x, int64_t rows, int64_t length, int64_t bins)
{
    const int64_t a = divisor(length), b = length / a, columns = (bins + a - 1) / a;
    Complex y = both_swapped(c, x, rows, a, b);                            /* [b][a] */
    y = product(c, "dense", y, roots(c, a, a, a));                         /* [b][p] */
    y = product(c, "mul", y, roots(c, b, a, length));
    y = both_swapped(c, y, rows, b, a);
    y = product(c, "dense", y, roots(c, b, columns, b));                   /* [p][q] */
    Tensor **part[] = { &y.re, &y.im };
    for (int i = 0; i < 2; i++) {
        *part[i] = tflite_reshape(c, swapped(c, *part[i], rows, a, columns), (int64_t[]){ rows, a * columns }, 2);
        *part[i] = tflite_part(c, *part[i], 1, 0, bins);
    }
    return y;
}

/* x [rows][size] as [rows][length]: cut, or padded with zeros. */
static Tensor *fitted(TfliteCall *c, Tensor *x, int64_t size, int64_t length)
{
    if (size > length) return tflite_part(c, x, 1, 0, length);
    return size < length ? tflite_call(c, "pad", x, attr_list("pad", 0, 0, 0, length - size)) : x;
}

/* x [images][rows][bins] to [images][height][bins]: each column in turn. */
static Complex transform_columns(TfliteCall *c, Complex x, int64_t images, int64_t rows, int64_t bins, int64_t height)
{
    Tensor **part[] = { &x.re, &x.im };
    for (int i = 0; i < 2; i++) {
        *part[i] = tflite_reshape(c, swapped(c, *part[i], images, rows, bins), (int64_t[]){ images * bins, rows }, 2);
        *part[i] = fitted(c, *part[i], rows, height);
    }
    return both_swapped(c, transform(c, x, images * bins, height, height), images, bins, height);
}

/* ---- Operators --------------------------------------------------------------------------------------------------- */

/* The real transform of the rows, then one of each column of its bins. Rows and columns that are longer than the
 * transform are cut, shorter ones are padded with zeros. */
static void rfft_2d(TfliteCall *c)
{
    int64_t size[2], shape[MAX_RANK + 1], images = 1;
    if (!tflite_needs(c, 2) || !tflite_list(c, 1, size, 2)) return;
    Tensor *x = c->in[0];
    const int rank = x->rank;
    const int64_t height = size[0], length = size[1], bins = length / 2 + 1;
    if (rank < 2 || rank >= MAX_RANK || tensor_elems(x) < 1 || height < 1 || height > MOST_LENGTH
        || height & (height - 1) || length < 2 || length > MOST_LENGTH) {
        tflite_unsupported(c, "a transform of %lld x %lld points of %s; use 1 to %d, a power of two, x 2 to %d, of "
                           "[..][rows][points]", (long long)height, (long long)length, tensor_shape_text(c->cx, x),
                           MOST_LENGTH, MOST_LENGTH);
        return;
    }
    const int64_t width = tensor_dim(x, rank - 1), most = tensor_dim(x, rank - 2), rows = most < height ? most : height;
    for (int d = 0; d < rank - 2; d++) images *= shape[d] = tensor_dim(x, d);
    if (most > rows) x = tflite_part(c, x, rank - 2, 0, rows);
    x = fitted(c, tflite_reshape(c, x, (int64_t[]){ images * rows, width }, 2), width, length);
    Complex y = transform(c, (Complex){ x, NULL }, images * rows, length, bins);
    if (height > 1) y = transform_columns(c, y, images, rows, bins, height);
    shape[rank - 2] = height;
    shape[rank - 1] = bins;
    shape[rank] = 1;
    Tensor *view = tflite_reshape(c, y.re, shape, rank + 1);
    Tensor *part[] = { view, tflite_reshape(c, y.im, shape, rank + 1) };
    if (!ctx_failed(c->cx)) c->out[0] = call(c->cx, "concat", c->name, part, 2, ATTRS(attr_int("axis", rank)));
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
