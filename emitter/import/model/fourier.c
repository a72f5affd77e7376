/* SPDX-License-Identifier: MIT */
/* Decision: one Fourier transform. The transform of every importer is a chain of `butterflies`, one call per factor.
 * Each call stores its results in the order in which the next call reads them, so no call reorders data. The chosen
 * factors have the least counted work. For other numbers of points, the transform is a product with a matrix or a
 * convolution by longer transforms (Bluestein), whichever has less counted work. An even number n of reals is
 * transformed as n / 2 complex numbers. */
#include "import/model/fourier.h"

static const double pi = 3.14159265358979323846;

typedef struct Fourier { Ctx *cx; const char *name; bool is_inverse; FourierSteps steps; } Fourier;

static Tensor *reshaped(const Fourier *f, Tensor *x, const int64_t *dim, int rank)
{
    return call_on(f->cx, "reshape", f->name, x, ATTRS(attr_ints("shape", dim, rank)));
}
#define RESHAPED(f, x, ...) reshaped((f), (x), (const int64_t[]){ __VA_ARGS__ }, \
                                     (int)(sizeof (const int64_t[]){ __VA_ARGS__ } / sizeof(int64_t)))

Tensor *fourier_fitted(Ctx *cx, const char *name, Tensor *x, int axis, int64_t size)
{
    int64_t pad[2 * MAX_RANK] = { 0 };
    if (!x || ctx_failed(cx) || tensor_dim(x, axis) == size) return x;
    if (tensor_dim(x, axis) > size)
        return call_on(cx, "slice", name, x, ATTRS(attr_list("axes", axis), attr_list("begin", 0),
                                                   attr_list("end", size)));
    pad[x->rank + axis] = size - tensor_dim(x, axis);
    return call_on(cx, "pad", name, x, ATTRS(attr_ints("pad", pad, 2 * x->rank)));
}

/* Cuts x [rows][any][2] to `points` points, or pads it with zeros. */
static Tensor *fitted(const Fourier *f, Tensor *x, int64_t points)
{
    return fourier_fitted(f->cx, f->name, x, 1, points);
}

static Tensor *real_part(const Fourier *f, Tensor *x, int64_t rows, int64_t points)
{
    Tensor *part = call_on(f->cx, "slice", f->name, x, ATTRS(attr_list("axes", 2), attr_list("begin", 0),
                                                             attr_list("end", 1)));
    return RESHAPED(f, part, rows, points);
}

Tensor *fourier_as_complex(Ctx *cx, const char *name, Tensor *x)
{
    if (!x || ctx_failed(cx)) return NULL;
    const int64_t shape[] = { tensor_dim(x, 0), tensor_dim(x, 1), 1 };
    Tensor *real = call_on(cx, "reshape", name, x, ATTRS(attr_ints("shape", shape, 3)));
    return call_on(cx, "pad", name, real, ATTRS(attr_list("pad", 0, 0, 0, 0, 0, 1)));
}

/* ---- Constants --------------------------------------------------------------------------------------------------- */

static double function_of(ExprKind kind, double x)
{
    const Scalar of = { .f = x };
    return scalar_apply(kind, F64, F64, &of).f;
}

/* Stores a number in [-1, 1], rounded to nearest in fixed point. */
static void store_fraction(DType t, void *to, int64_t i, double real)
{
    const double most = t == I16 ? INT16_MAX : INT32_MAX;
    const Scalar s = dtype_is_float(t) ? (Scalar){ .f = real }
                                       : (Scalar){ .i = (int64_t)function_of(EXPR_FLOOR, 0.5 + most * real) };
    dtype_store(t, to, i, s);
}

/* Stores factor exp(i phase) as the complex number with index `at`. */
static void store_root(DType t, void *to, int64_t at, double phase, double factor)
{
    store_fraction(t, to, 2 * at, factor * function_of(EXPR_COS, phase));
    store_fraction(t, to, 2 * at + 1, factor * function_of(EXPR_SIN, phase));
}

/* Returns W(parts radix)^(v k) at [k][v - 1]. Angles are multiples of 2 pi / points, rounded as in one table of
 * roots. */
static Tensor *twiddles(const Fourier *f, DType t, int64_t points, int64_t parts, int64_t radix)
{
    void *data;
    const int64_t step = points / parts / radix;
    const double turn = (f->is_inverse ? 2 : -2) * pi / (double)points;
    Tensor *w = tensor_zeros(f->cx, f->name, t, 3, (int64_t[]){ parts, radix - 1, 2 }, &data);
    for (int64_t k = 0; w && k < parts; k++)
        for (int64_t v = 1; v < radix; v++)
            store_root(t, data, k * (radix - 1) + v - 1, turn * (double)(k * v * step), 1);
    return w;
}

/* Returns S(1) to S(points / 2); for a spectrum of floats, S / 2 or (S - 1) / 2. */
static Tensor *half_roots(const Fourier *f, DType t, int64_t points)
{
    void *data;
    const double turn = (f->is_inverse ? pi : -pi) / (double)points;
    const bool is_halved = dtype_is_float(t) && !f->is_inverse;
    Tensor *w = tensor_zeros(f->cx, f->name, t, 2, (int64_t[]){ points / 2, 2 }, &data);
    for (int64_t j = 0; w && j < points / 2; j++) {
        const double phase = turn * ((double)j + (1 + (double)points / 2));
        store_root(t, data, j, phase, is_halved ? 0.5 : 1);
        if (is_halved && f->steps == FOURIER_FAST)
            store_fraction(t, data, 2 * j, 0.5 * function_of(EXPR_COS, phase) - 0.5);
    }
    return w;
}

/* ---- Factors ----------------------------------------------------------------------------------------------------- */

/* A radix, and its cost: the operations and moves of one butterfly with its products, on a scalar core. */
typedef struct Radix { int radix, cost; } Radix;
/* The rows are in the order of the calls; the first call has no products, so it has the largest radix. */
static const Radix float_radices[] = { { 13, 504 }, { 11, 372 }, { 8, 136 }, { 7, 156 }, { 5, 94 }, { 4, 55 },
                                       { 3, 42 }, { 2, 24 }, { 0, 0 } };

enum { MOST_FACTORS = 20 };
/* the factors of a transform; count is 0 if there is no such form */
typedef struct Factors { int count; int64_t cost; int64_t radix[MOST_FACTORS]; } Factors;

/* Finds the cheapest factors of `rest` for a transform of `points`, among row r and later rows. */
static Factors best_factors(int64_t points, int64_t rest, const Radix *r)
{
    Factors best = { 0, INT64_MAX, { 0 } };
    if (rest == 1) return (Factors){ 0, 0, { 0 } };
    for (; r->radix; r++) {
        if (rest % r->radix) continue;
        Factors with = best_factors(points, rest / r->radix, r);
        if (with.cost == INT64_MAX || with.cost + points / r->radix * r->cost >= best.cost) continue;
        best.cost = with.cost + points / r->radix * r->cost;
        best.radix[0] = r->radix;
        for (int i = 0; i < with.count; i++) best.radix[i + 1] = with.radix[i];
        best.count = with.count + 1;
    }
    return best;
}

/* Returns the factors in the order of the calls. The reference has at most one 2, followed by fours. */
static Factors factors_of(FourierSteps steps, int64_t points)
{
    if (steps == FOURIER_FAST) return best_factors(points, points, float_radices);
    Factors f = { 0 };
    int64_t fours = points;
    while (fours % 4 == 0) fours /= 4;
    if (fours == 2) f.radix[f.count++] = 2;
    for (int64_t rest = points; rest % 4 == 0; rest /= 4) f.radix[f.count++] = 4;
    return f;
}

/* Returns the cheapest number of points that is at least `least`. */
static int64_t cheapest_points(int64_t least)
{
    int64_t best = 0, cost = INT64_MAX;
    for (int64_t points = least; points <= 2 * least; points++) {
        const Factors f = best_factors(points, points, float_radices);
        if (f.count && f.cost < cost) best = points, cost = f.cost;
    }
    return best;
}

/* ---- Complex numbers --------------------------------------------------------------------------------------------- */

static Tensor *by_butterflies(const Fourier *f, Tensor *x, const Factors *of)
{
    if (!x) return NULL;
    const int64_t rows = tensor_dim(x, 0), points = tensor_dim(x, 1);
    int64_t parts = 1;
    for (int i = 0; x && i < of->count; i++) {
        const int64_t radix = of->radix[i];
        Tensor *in[2] = { RESHAPED(f, x, rows, parts, radix, points / parts / radix, 2), NULL };
        if (i) in[1] = twiddles(f, x->type, points, parts, radix);
        if (ctx_failed(f->cx)) return NULL;
        x = call(f->cx, "butterflies", f->name, in, i ? 2 : 1, ATTRS(attr_flag("inverse", f->is_inverse)));
        parts *= radix;
    }
    return RESHAPED(f, x, rows, points, 2);
}

/* Multiplies x by the matrix of W^(j k), which is [2 points][2 points] in real numbers. */
static Tensor *by_matrix(const Fourier *f, Tensor *x)
{
    const int64_t rows = tensor_dim(x, 0), points = tensor_dim(x, 1), width = 2 * points;
    void *data;
    const double turn = (f->is_inverse ? 2 : -2) * pi / (double)points;
    Tensor *w = tensor_zeros(f->cx, f->name, x->type, 2, (int64_t[]){ width, width }, &data);
    for (int64_t j = 0; w && j < points; j++)
        for (int64_t k = 0; k < points; k++) {
            const double phase = turn * (double)(j * k % points);
            store_root(x->type, data, j * width + k, phase, 1);
            store_root(x->type, data, (2 * j + 1) * points + k, phase + pi / 2, 1);
        }
    return RESHAPED(f, call_on_two(f->cx, "dense", f->name, RESHAPED(f, x, rows, width), w, NULL), rows, points, 2);
}

/* For a prime number of points, or one with a large prime factor: transforms by a convolution with the conjugate of
 * c[j] = exp(-pi i j^2 / points). The convolution has `length` points, at least 2 points - 1: y[k] = c[k] sum(j) x[j]
 * c[j] conj c[k - j]. The spectrum of conj c is folded to a constant. */
static Tensor *by_convolution(const Fourier *f, Tensor *x, int64_t length)
{
    const int64_t points = tensor_dim(x, 1);
    const double turn = (f->is_inverse ? pi : -pi) / (double)points;
    void *chirp, *kernel;
    Tensor *c = tensor_zeros(f->cx, f->name, x->type, 2, (int64_t[]){ points, 2 }, &chirp),
           *k = tensor_zeros(f->cx, f->name, x->type, 3, (int64_t[]){ 1, length, 2 }, &kernel);
    for (int64_t j = 0; c && k && j < points; j++) {
        const double phase = turn * (double)(j * j % (2 * points));
        store_root(x->type, chirp, j, phase, 1);
        store_root(x->type, kernel, j, -phase, 1 / (double)length);
        if (j) store_root(x->type, kernel, length - j, -phase, 1 / (double)length);
    }
    x = fitted(f, call_on_two(f->cx, "mul_complex", f->name, x, c, NULL), length);
    Tensor *of_kernel = RESHAPED(f, fourier(f->cx, f->name, k, false, f->steps), length, 2);
    x = call_on_two(f->cx, "mul_complex", f->name, fourier(f->cx, f->name, x, false, f->steps), of_kernel, NULL);
    x = fourier(f->cx, f->name, x, true, f->steps);
    return call_on_two(f->cx, "mul_complex", f->name, fitted(f, x, points), c, NULL);
}

/* TERM_COST: operations per term of a product with a complex matrix; PRODUCT_COST: operations of a product of two
 * complex numbers */
enum { TERM_COST = 7, PRODUCT_COST = 16 };

Tensor *fourier(Ctx *cx, const char *name, Tensor *x, bool inverse, FourierSteps steps)
{
    const Fourier f = { cx, name, inverse, steps };
    if (!x || ctx_failed(cx)) return NULL;
    const int64_t points = tensor_dim(x, 1);
    const Factors of = factors_of(steps, points);
    if (points == 1 || of.count) return by_butterflies(&f, x, &of);
    const int64_t length = cheapest_points(2 * points - 1),
                  by_longer = 2 * best_factors(length, length, float_radices).cost
                              + PRODUCT_COST * (length + 2 * points);
    return by_longer < TERM_COST * points * points ? by_convolution(&f, x, length) : by_matrix(&f, x);
}

/* ---- Real numbers ------------------------------------------------------------------------------------------------ */

/* Concatenates the outputs of a call. */
static Tensor *joined(const Fourier *f, Tensor *first)
{
    if (!first || first->producer->out_count == 1) return first;
    return call(f->cx, "concat", f->name, first->producer->out, first->producer->out_count,
                ATTRS(attr_int("axis", 1)));
}

Tensor *fourier_of_real(Ctx *cx, const char *name, Tensor *x, FourierSteps steps)
{
    const Fourier f = { cx, name, false, steps };
    if (!x || ctx_failed(cx)) return NULL;
    const int64_t rows = tensor_dim(x, 0), length = tensor_dim(x, 1), points = length / 2;
    if (length % 2 || length < 4)
        return fitted(&f, fourier(cx, name, fourier_as_complex(cx, name, x), false, steps), points + 1);
    Tensor *pairs = fourier(cx, name, RESHAPED(&f, x, rows, points, 2), false, steps);
    return joined(&f, call_on_two(cx, "spectrum_of_pairs", name, pairs, half_roots(&f, x->type, points),
                                  ATTRS(attr_flag("short", steps == FOURIER_FAST))));
}

Tensor *fourier_to_real(Ctx *cx, const char *name, Tensor *x, int64_t length, FourierSteps steps)
{
    const Fourier f = { cx, name, true, steps };
    if (!x || ctx_failed(cx)) return NULL;
    const int64_t rows = tensor_dim(x, 0), points = length / 2;
    if (length % 2 || length < 4) {
        Tensor *whole = fourier_mirrored(cx, name, x, length, false);
        return real_part(&f, fourier(cx, name, whole, true, steps), rows, length);
    }
    Tensor *pairs = joined(&f, call_on_two(cx, "pairs_of_spectrum", name, x, half_roots(&f, x->type, points), NULL));
    return RESHAPED(&f, fourier(cx, name, pairs, true, steps), rows, length);
}

Tensor *fourier_mirrored(Ctx *cx, const char *name, Tensor *x, int64_t length, bool conjugated)
{
    if (!x || ctx_failed(cx)) return NULL;
    int64_t *from = NEW_ARRAY(cx->arena, int64_t, length);
    void *sign;
    Tensor *w = tensor_zeros(cx, name, x->type, 2, (int64_t[]){ length, 2 }, &sign);
    for (int64_t k = 0; w && k < length; k++) {
        const bool is_mirror = 2 * k > length, is_real = k == 0 || 2 * k == length;
        from[k] = is_mirror ? length - k : k;
        dtype_store(x->type, sign, 2 * k, (Scalar){ .f = 1 });
        dtype_store(x->type, sign, 2 * k + 1, (Scalar){ .f = is_real ? 0 : is_mirror == conjugated ? 1 : -1 });
    }
    Tensor *index = tensor_constant(cx, name, I64, 1, &length, from);
    Tensor *whole = call_on_two(cx, "gather", name, x, index, ATTRS(attr_int("axis", 1)));
    return call_on_two(cx, "mul", name, whole, w, NULL);
}
