/* SPDX-License-Identifier: MIT */
/* The Fourier transform in fixed point (i16: Q15, i32: Q31) and in floats, bit-exact with the one of TensorFlow Lite
 * Micro's signal library. A complex number is a last dimension of 2. N = p m b points, in digit-reversed order, take
 * one call per factor, p is 2 or 4. With W(N) = exp(-2 pi i / N), conjugated in the inverse transform, a call computes
 *
 *   butterflies    y[b,u,k] = sum(v) W(p)^(u v) * (x[b,v,k] / p * W(N)^(v k b))
 *
 * The transform X of n = 2 N real numbers follows from Z, that of the N pairs z[k] = x[2k] + i x[2k+1]; with
 * S(j) = exp(-pi i (j / N + 1/2)), E = Z[k] + conj Z[N-k], O = Z[k] - conj Z[N-k]
 *
 *   spectrum_of_pairs    X[k] = (E + O S(k)) / 2
 *   pairs_of_spectrum    Z[k] = E + O S(k), where Z on the right is X, and S is conjugated
 *
 * In fixed point each operand is divided by p, or by 2, before it is used; quotients and products are rounded to
 * nearest, ties up; sums wrap. Input 1 holds the constants W(N)^j, or S(j + 1). */
#include "graph/dag/op_build.h"

/* ---- Types ------------------------------------------------------------------------------------------------------- */

/* Enters the phrases `type`, `wide`, `half`, and `fraction`, the bits of a fraction. */
static void name_types(Formulas *f, DType t)
{
    const int fraction = t == I16 ? 15 : 31;
    formulas_phrase(f, "type", dtype_info(t)->spelling);
    formulas_phrase(f, "wide", dtype_info(t == I16 ? I32 : t == I32 ? I64 : F32)->spelling);
    formulas_phrase(f, "fraction", op_number(f->cx, fraction));
    formulas_phrase(f, "half", op_number(f->cx, INT64_C(1) << (fraction - 1)));
}

/* x / parts of an element; floats are divided at the end of the transform. */
static const char *quotient(Ctx *cx, DType t, int64_t parts, const char *x)
{
    if (t == F32) return x;
    return OP_TEXT(cx, "type((wide(x) * factor + half) >> fraction)", { "x", x },
                   { "factor", op_number(cx, (t == I16 ? INT16_MAX : INT32_MAX) / parts) });
}

/* Part c of the product of two complex numbers, each given by its parts at [at c]: re re - im im, im re + re im */
static const char *product(Ctx *cx, DType t, const char *x, const char *x_other, const char *re, const char *im)
{
    const char *text = t == F32 ? "(x * re + select(c == 0, -(other * im), other * im))"
                                : "type((wide(x) * wide(re) + select(c == 0, -(wide(other) * wide(im)), "
                                  "wide(other) * wide(im)) + half) >> fraction)";
    return OP_TEXT(cx, text, { "x", x }, { "other", x_other }, { "re", re }, { "im", im });
}

static bool has_type(Ctx *cx, const Node *n)
{
    const DType t = n->in[0]->type;
    if ((t == I16 || t == I32 || t == F32) && n->in[1]->type == t) return true;
    op_refuse(cx, n, "the input is %s, the constants %s; use i16, i32 or f32, alike",
              dtype_info(t)->spelling, dtype_info(n->in[1]->type)->spelling);
    return false;
}

/* ---- Butterflies ------------------------------------------------------------------------------------------------- */

static bool fits(Ctx *cx, const Node *n)
{
    const Tensor *x = n->in[0], *w = n->in[1];
    if (!has_type(cx, n)) return false;
    if (x->rank == 4 && w->rank == 2 && (tensor_dim(x, 1) == 2 || tensor_dim(x, 1) == 4) && tensor_dim(x, 2) >= 1
        && tensor_dim(x, 0) >= 1 && tensor_dim(x, 3) == 2 && tensor_dim(w, 1) == 2
        && tensor_dim(w, 0) % (tensor_dim(x, 1) * tensor_dim(x, 2)) == 0)
        return true;
    op_refuse(cx, n,
              "the input is %s, the constants %s; use [blocks][2 or 4][m][2] and [a multiple of their points][2]",
              tensor_shape_text(cx, x), tensor_shape_text(cx, w));
    return false;
}

/* Powers of -i, or of i: even ones are signs, odd ones swap the parts. */
static const char *const of_two = "y[b,u<2,k,c] = type(wide(t[b,0,k,c]) + select(u == 0, wide(t[b,1,k,c]), "
                                  "-wide(t[b,1,k,c])))";
static const char *const sums = "s[b,h<2,k,c] = type(wide(t[b,h,k,c]) + wide(t[b,h+2,k,c]))";
static const char *const differences = "d[b,h<2,k,c] = type(wide(t[b,h,k,c]) - wide(t[b,h+2,k,c]))";
static const char *const of_four =
    "y[b,u<4,k,c] = type(select(u % 2 == 0, wide(s[b,0,k,c]) + select(u == 0, wide(s[b,1,k,c]), -wide(s[b,1,k,c])), "
    "wide(d[b,0,k,c]) + select((u == first) == (c == 0), wide(d[b,1,k,1-c]), -wide(d[b,1,k,1-c]))))";

static int butterflies(Ctx *cx, const Node *n, Tensor **out)
{
    if (!fits(cx, n)) return 0;
    const Tensor *x = n->in[0];
    const DType t = x->type;
    const int64_t radix = tensor_dim(x, 1), points = tensor_dim(n->in[1], 0), step = points / radix / tensor_dim(x, 2);
    Formulas f = { .cx = cx, .call = n };
    formulas_name(&f, (Bind)BIND_T("x", n->in[0]));
    formulas_name(&f, (Bind)BIND_T("w", n->in[1]));
    name_types(&f, t);
    formulas_phrase(&f, "first", node_int(n, "inverse", 0) ? "3" : "1");
    formulas_compute(&f, OP_TEXT(cx, "q[b,v,k,c] = part", { "part", quotient(cx, t, radix, "x[b,v,k,c]") }));
    const char *re = OP_TEXT(cx, "w[v*k*step,0]", { "step", op_number(cx, step) }),
               *im = OP_TEXT(cx, "w[v*k*step,1]", { "step", op_number(cx, step) });
    formulas_compute(&f, OP_TEXT(cx, "t[b,v,k,c] = select(v == 0, q[b,v,k,c], part)",
                                 { "part", product(cx, t, "q[b,v,k,c]", "q[b,v,k,1-c]", re, im) }));
    if (radix == 4) {
        formulas_compute(&f, sums);
        formulas_compute(&f, differences);
    }
    out[0] = formulas_compute(&f, radix == 4 ? of_four : of_two);
    return out[0] ? 1 : 0;
}

/* ---- Real numbers ------------------------------------------------------------------------------------------------ */

/* x [rows][points + more][2], s [points / 2][2] */
static bool fits_real(Ctx *cx, const Node *n, int64_t more)
{
    const Tensor *x = n->in[0], *s = n->in[1];
    if (!has_type(cx, n)) return false;
    if (x->rank == 3 && s->rank == 2 && tensor_dim(x, 0) >= 1 && tensor_dim(x, 1) >= 2 + more && tensor_dim(x, 2) == 2
        && (tensor_dim(x, 1) - more) % 2 == 0 && tensor_dim(s, 0) == (tensor_dim(x, 1) - more) / 2
        && tensor_dim(s, 1) == 2)
        return true;
    op_refuse(cx, n, "the input is %s, the constants %s; use [rows][N%s][2] of an even N, and [N / 2][2]",
              tensor_shape_text(cx, x), tensor_shape_text(cx, s), more ? " + 1" : "");
    return false;
}

/* Emits e = E and o = O S for k = 1..N/2 at k - 1. A negated part wraps, like every sum. */
static void name_halves(Formulas *f, const Node *n, int64_t points)
{
    const DType t = n->in[0]->type;
    Ctx *cx = f->cx;
    formulas_name(f, (Bind)BIND_T("x", n->in[0]));
    formulas_name(f, (Bind)BIND_T("r", n->in[1]));
    name_types(f, t);
    formulas_phrase(f, "N", op_number(cx, points));
    formulas_compute(f, OP_TEXT(cx, "a[n,j<N/2,c] = part", { "part", quotient(cx, t, 2, "x[n,j+1,c]") }));
    formulas_compute(f, "g[n,j<N/2,c] = select(c == 0, x[n,N-1-j,c], type(-wide(x[n,N-1-j,c])))");
    formulas_compute(f, OP_TEXT(cx, "b[n,j<N/2,c] = part", { "part", quotient(cx, t, 2, "g[n,j,c]") }));
    formulas_compute(f, "e[n,j<N/2,c] = type(wide(a[n,j,c]) + wide(b[n,j,c]))");
    formulas_compute(f, "d[n,j<N/2,c] = type(wide(a[n,j,c]) - wide(b[n,j,c]))");
    formulas_compute(f, OP_TEXT(cx, "o[n,j<N/2,c] = part",
                                { "part", product(cx, t, "d[n,j,c]", "d[n,j,1-c]", "r[j,0]", "r[j,1]") }));
}

static int spectrum_of_pairs(Ctx *cx, const Node *n, Tensor **out)
{
    if (!fits_real(cx, n, 0)) return 0;
    const DType t = n->in[0]->type;
    Formulas f = { .cx = cx, .call = n };
    name_halves(&f, n, tensor_dim(n->in[0], 1));
    formulas_phrase(&f, "j", "max(0, min(N/2-1, select(k < N/2, k-1, N-1-k)))");
    formulas_compute(&f, OP_TEXT(cx, "z[n,c<2] = part", { "part", quotient(cx, t, 2, "x[n,0,c]") }));
    const char *text = OP_TEXT(
        cx, "y[n,k<N+1,c<2] = type(select(k == 0 || k == N, select(c == 0, wide(z[n,0]) + select(k == 0, wide(z[n,1]), "
            "-wide(z[n,1])), 0), half_of))",
        { "sum_of", "select(k < N/2, wide(e[n,j,c]) + wide(o[n,j,c]), "
                   "select(c == 0, wide(e[n,j,c]) - wide(o[n,j,c]), wide(o[n,j,c]) - wide(e[n,j,c])))" },
        { "half_of", t == F32 ? "sum_of * 0.5" : "sum_of >> 1" });
    out[0] = formulas_compute(&f, text);
    return out[0] ? 1 : 0;
}

static int pairs_of_spectrum(Ctx *cx, const Node *n, Tensor **out)
{
    if (!fits_real(cx, n, 1)) return 0;
    const DType t = n->in[0]->type;
    Formulas f = { .cx = cx, .call = n };
    name_halves(&f, n, tensor_dim(n->in[0], 1) - 1);
    formulas_phrase(&f, "j", "max(0, min(N/2-1, select(k < N/2, k-1, N-1-k)))");
    formulas_compute(&f, "z[n,c<2] = type(wide(x[n,0,0]) + select(c == 0, wide(x[n,N,0]), -wide(x[n,N,0])))");
    formulas_compute(&f, OP_TEXT(cx, "h[n,c<2] = part", { "part", quotient(cx, t, 2, "z[n,c]") }));
    out[0] = formulas_compute(
        &f, "y[n,k<N,c<2] = select(k == 0, h[n,c], type(select(k < N/2, wide(e[n,j,c]) + wide(o[n,j,c]), "
            "select(c == 0, wide(e[n,j,c]) - wide(o[n,j,c]), wide(o[n,j,c]) - wide(e[n,j,c])))))");
    return out[0] ? 1 : 0;
}

/* ---- Rows -------------------------------------------------------------------------------------------------------- */

static const AttrRow butterfly_attrs[] = { { "inverse", ATTR_INT, "1: W is conjugated", "0" }, { 0 } };
static const OpCase butterfly_cases[] = {
    { "", "i16[2][4][2][2] i16[16][2]", "i16[2][4][2][2]", NULL },
    { "inverse=1", "i32[1][4][4][2] i32[16][2]", "i32[1][4][4][2]", NULL },
    { "", "f32[2][2][3][2] f32[12][2]", "f32[2][2][3][2]", NULL },
    { "", "i16[2][3][2][2] i16[12][2]", NULL, "[blocks][2 or 4][m][2]" },
    { "", "i8[2][4][2][2] i8[16][2]", NULL, "the input is i8" },
    { 0 }
};
static const OpCase spectrum_cases[] = {
    { "", "i16[2][8][2] i16[4][2]", "i16[2][9][2]", NULL },
    { "", "i32[1][2][2] i32[1][2]", "i32[1][3][2]", NULL },
    { "", "f32[1][4][2] f32[2][2]", "f32[1][5][2]", NULL },
    { "", "i16[2][7][2] i16[3][2]", NULL, "of an even N" },
    { 0 }
};
static const OpCase pairs_cases[] = {
    { "", "i16[2][9][2] i16[4][2]", "i16[2][8][2]", NULL },
    { "", "i32[1][3][2] i32[1][2]", "i32[1][2][2]", NULL },
    { "", "f32[1][5][2] f32[2][2]", "f32[1][4][2]", NULL },
    { "", "i16[2][8][2] i16[4][2]", NULL, "[rows][N + 1][2]" },
    { 0 }
};

#define ROW(fn, text, names, its_attrs, its_cases) \
    .name = #fn, .summary = text, .level = 11, .least_inputs = 2, .most_inputs = 2, .inputs = names, \
    .attr = its_attrs, .meaning.compute = fn, .fusion.pattern = PATTERN_OPAQUE, .cases = its_cases

const Op ops_fourier[] = {
    { ROW(butterflies, "y[b,u,k] = sum(v) W(p)^(u*v) * (x[b,v,k] / p * w[v*k*step]), complex", "x w", butterfly_attrs,
          butterfly_cases) },
    { ROW(spectrum_of_pairs, "the spectrum of 2 N real numbers from that of N pairs of them", "x r", NULL,
          spectrum_cases) },
    { ROW(pairs_of_spectrum, "the spectrum of N pairs from that of 2 N real numbers", "x r", NULL, pairs_cases) },
    { 0 }
};
