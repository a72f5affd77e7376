/* SPDX-License-Identifier: MIT */
/* Defines the Fourier transform in floats and in fixed point (i16: Q15, i32: Q31; the latter is bit-exact with
 * TensorFlow Lite Micro's signal library). A complex number is a last dimension of 2. N points take one call for each
 * factor p of N. Each call turns the spectra of B p interleaved parts of L points into the spectra of B parts of L p
 * points. With W(N) = exp(-2 pi i / N), conjugated in the inverse transform,
 *
 *   butterflies    y[u,k,b] = sum(v) W(p)^(u v) * (x[k,v,b] / p * w[k,v-1]),   w[k,v-1] = W(L p)^(v k)
 *
 * Points begin and end in their natural order: each call stores where the next one reads. The first call, L = 1, has no
 * w. The transform X of 2 N real numbers follows from Z, that of the N pairs z[k] = x[2k] + i x[2k+1]; with
 * S(j) = exp(-pi i (j / N + 1/2)), E = Z[k] + conj Z[N-k], O = Z[k] - conj Z[N-k]
 *
 *   spectrum_of_pairs    X[k] = (E + O S(k)) / 2,   X[N-k] = conj(E - O S(k)) / 2
 *   pairs_of_spectrum    Z[k] = E + O S(k),         Z[N-k] = conj(E - O S(k)), where Z on the right is X, and S is
 *                        conjugated
 *
 * The outputs of these formulas are consecutive parts of the result: the first number, the numbers below the middle,
 * the middle of an even N, the numbers above the middle, and the last number of a spectrum. Empty parts are left out.
 * Input 1 holds S(1) to S(N/2), for spectrum_of_pairs of floats S / 2. With `short`, of floats, it holds G(k) = (S(k) -
 * 1) / 2, for fewer operations and other roundings:
 *
 *   X[k] = Z[k] + O G(k),   X[N-k] = Z[N-k] - conj(O G(k))
 *
 * mul_complex multiplies complex numbers by constants.
 *
 * In fixed point each operand is divided by p, or by 2, before it is used. Quotients and products are rounded to
 * nearest, ties up; sums wrap. */
#include "graph/dag/op_build.h"

/* ---- Types ------------------------------------------------------------------------------------------------------- */

/* Enters the phrases `type`, `wide`, `half` and `fraction` (the number of fraction bits). */
static void name_types(Formulas *f, DType t)
{
    const int fraction = t == I16 ? 15 : 31;
    formulas_phrase(f, "type", dtype_info(t)->spelling);
    formulas_phrase(f, "wide", dtype_info(t == I16 ? I32 : t == I32 ? I64 : t)->spelling);
    formulas_phrase(f, "fraction", op_number(f->cx, fraction));
    formulas_phrase(f, "half", op_number(f->cx, INT64_C(1) << (fraction - 1)));
}

/* Returns x / parts for an element; floats are divided at the end of the transform. */
static const char *quotient(Ctx *cx, DType t, int64_t parts, const char *x)
{
    if (dtype_is_float(t)) return x;
    return OP_TEXT(cx, "type((wide(x) * factor + half) >> fraction)", { "x", x },
                   { "factor", op_number(cx, (t == I16 ? INT16_MAX : INT32_MAX) / parts) });
}

/* Returns part c of the product of two complex numbers, each given by its parts at [at c]: re re - im im, im re + re
 * im */
static const char *product(Ctx *cx, DType t, const char *x, const char *x_other, const char *re, const char *im)
{
    const char *text = dtype_is_float(t)
                           ? "(own * re + select(c == 0, -(other * im), other * im))"
                           : "type((wide(own) * wide(re) + select(c == 0, -(wide(other) * wide(im)), "
                             "wide(other) * wide(im)) + half) >> fraction)";
    return OP_TEXT(cx, text, { "own", x }, { "other", x_other }, { "re", re }, { "im", im });
}

static bool has_type(Ctx *cx, const Node *n)
{
    const DType t = n->in[0]->type, of_constants = n->in_count > 1 ? n->in[1]->type : t;
    if ((t == I16 || t == I32 || t == F32 || t == F64) && of_constants == t) return true;
    op_refuse(cx, n, "the input is %s, the constants %s; use i16, i32, f32 or f64, alike",
              dtype_info(t)->spelling, dtype_info(of_constants)->spelling);
    return false;
}

/* ---- Butterflies ------------------------------------------------------------------------------------------------- */

enum { MOST_RADIX = 13 };
static const double two_pi = 6.283185307179586476925286766559;

/* Returns true if the type supports the radix, which is 2 or 4 in fixed point. */
static bool takes_radix(DType t, int64_t radix)
{
    if (radix == 2 || radix == 4) return true;
    return dtype_is_float(t) && (radix == 8 || (radix % 2 && radix >= 3 && radix <= MOST_RADIX));
}

static bool fits(Ctx *cx, const Node *n)
{
    enum { ROW, PART, DIGIT, PLACE };
    const Tensor *x = n->in[0], *w = n->in_count > 1 ? n->in[1] : NULL;
    if (!has_type(cx, n)) return false;
    bool is_fit = x->rank == 5 && tensor_dim(x, 4) == 2 && takes_radix(x->type, tensor_dim(x, DIGIT));
    for (int d = ROW; is_fit && d <= PLACE; d++) is_fit = tensor_dim(x, d) >= 1;
    if (is_fit && w)
        is_fit = w->rank == 3 && tensor_dim(w, 0) == tensor_dim(x, PART) && tensor_dim(w, 1) == tensor_dim(x, DIGIT) - 1
                 && tensor_dim(w, 2) == 2;
    else is_fit = is_fit && tensor_dim(x, PART) == 1;
    if (is_fit) return true;
    op_refuse(cx, n, "the input is %s, the constants %s; use [rows][L][p][B][2], p 2 or 4, or of floats 8 or odd up to "
              "%d, and [L][p - 1][2], or without constants L = 1",
              tensor_shape_text(cx, x), w ? tensor_shape_text(cx, w) : "none", MOST_RADIX);
    return false;
}

/* Returns a number plus -i times another number (i in the inverse transform); the sign is reversed where `other` is
 * true. */
static const char *plus_rotated(Ctx *cx, const char *x, const char *rotated, const char *re_or_im, const char *other)
{
    return OP_TEXT(cx, "wide(x) + select(other == (re_or_im == rotation), -wide(z), wide(z))", { "x", x },
                   { "z", rotated }, { "re_or_im", re_or_im }, { "other", other });
}

static Tensor *of_two(Formulas *f)
{
    return formulas_compute(f, "y[n,u<2,k,b,c] = type(wide(t[n,k,0,b,c]) + select(u == 0, wide(t[n,k,1,b,c]), "
                               "-wide(t[n,k,1,b,c])))");
}

static Tensor *of_four(Formulas *f)
{
    formulas_compute(f, "s[n,k,h<2,b,c] = type(wide(t[n,k,h,b,c]) + wide(t[n,k,h+2,b,c]))");
    formulas_compute(f, "d[n,k,h<2,b,c] = type(wide(t[n,k,h,b,c]) - wide(t[n,k,h+2,b,c]))");
    return formulas_compute(f, OP_TEXT(f->cx,
        "y[n,u<4,k,b,c] = type(select(u % 2 == 0, wide(s[n,k,0,b,c]) + select(u == 0, wide(s[n,k,1,b,c]), "
        "-wide(s[n,k,1,b,c])), odd))",
        { "odd", plus_rotated(f->cx, "d[n,k,0,b,c]", "d[n,k,1,b,1-c]", "c", "(u == 3)") }));
}

/* Emits two transforms of four: the even bins from sums, the odd bins from differences that are multiplied by W(8)^v.
 * In p and m, h = 0 represents bins 1 and 5, and h = 1 represents bins 3 and 7. */
static Tensor *of_eight(Formulas *f)
{
    Ctx *cx = f->cx;
    formulas_phrase(f, "half_root", "0.70710678118654752440");
    formulas_compute(f, "a[n,k,v<4,b,c] = t[n,k,v,b,c] + t[n,k,v+4,b,c]");
    formulas_compute(f, "d[n,k,v<4,b,c] = t[n,k,v,b,c] - t[n,k,v+4,b,c]");
    formulas_compute(f, "s[n,k,v<2,b,c] = a[n,k,v,b,c] + a[n,k,v+2,b,c]");
    formulas_compute(f, "r[n,k,v<2,b,c] = a[n,k,v,b,c] - a[n,k,v+2,b,c]");
    formulas_compute(f, OP_TEXT(cx, "p[n,k,v<2,h<2,b,c] = part",
        { "part", plus_rotated(cx, "d[n,k,v,b,c]", "d[n,k,v+2,b,1-c]", "c", "(h == 1)") }));
    formulas_compute(f, OP_TEXT(cx, "m[n,k,h<2,b,c] = (part) * select(h == 0, half_root, -half_root)",
        { "part", plus_rotated(cx, "p[n,k,1,h,b,c]", "p[n,k,1,h,b,1-c]", "c", "(h == 1)") }));
    return formulas_compute(f, OP_TEXT(cx,
        "y[n,u<8,k,b,c] = select(u % 2 == 1, p[n,k,0,u/2%2,b,c] + select(u < 4, m[n,k,u/2%2,b,c], -m[n,k,u/2%2,b,c]), "
        "select(u % 4 == 0, s[n,k,0,b,c] + select(u == 0, s[n,k,1,b,c], -s[n,k,1,b,c]), second))",
        { "second", plus_rotated(cx, "r[n,k,0,b,c]", "r[n,k,1,b,1-c]", "c", "(u == 6)") }));
}

/* Returns z times the cosine (or sine) of 2 pi (j + 1) (h + 1) / radix, selected by the value of j. */
static const char *term(Ctx *cx, int64_t radix, const char *z, int64_t h, ExprKind function)
{
    const char *text = NULL;
    for (int64_t j = radix / 2 - 1; j >= 0; j--) {
        const Scalar angle = { .f = two_pi * (double)((j + 1) * (h + 1) % radix) / (double)radix };
        Text root = text_new(cx);
        text_double(&root, scalar_apply(function, F64, F64, &angle).f);
        const char *one = OP_TEXT(cx, "z[n,k,h,b,c] * (root)", { "z", z }, { "h", op_number(cx, h) },
                                  { "root", text_string(&root) });
        text = !text ? one : OP_TEXT(cx, "select(j == at, one, others)", { "at", op_number(cx, j) }, { "one", one },
                                     { "others", text });
    }
    return text;
}

static const char *sum_of_terms(Ctx *cx, int64_t radix, const char *z, ExprKind function)
{
    Text t = text_new(cx);
    for (int64_t h = 0; h < radix / 2; h++) {
        text_add(&t, h ? " + " : "");
        text_add(&t, term(cx, radix, z, h, function));
    }
    return text_string(&t);
}

/* Emits a transform of odd radix p. Numbers v and p - v have equal cosines and opposite sines, as do bins u and p -
 * u. */
static Tensor *of_odd(Formulas *f, int64_t radix)
{
    Ctx *cx = f->cx;
    Text all = text_new(cx);
    for (int64_t h = 0; h < radix / 2; h++) text_printf(&all, " + a[n,k,%d,b,c]", (int)h);
    formulas_phrase(f, "H", op_number(cx, radix / 2));
    formulas_phrase(f, "P", op_number(cx, radix));
    formulas_compute(f, "a[n,k,v<H,b,c] = t[n,k,v+1,b,c] + t[n,k,P-1-v,b,c]");
    formulas_compute(f, "d[n,k,v<H,b,c] = t[n,k,v+1,b,c] - t[n,k,P-1-v,b,c]");
    formulas_compute(f, OP_TEXT(cx, "e[n,k,j<H,b,c] = t[n,k,0,b,c] + terms",
                                { "terms", sum_of_terms(cx, radix, "a", EXPR_COS) }));
    formulas_compute(f, OP_TEXT(cx, "s[n,k,j<H,b,c] = terms", { "terms", sum_of_terms(cx, radix, "d", EXPR_SIN) }));
    formulas_phrase(f, "bin", "max(0, min(H-1, select(u <= H, u-1, P-1-u)))");
    return formulas_compute(f, OP_TEXT(cx, "y[n,u<P,k,b,c] = select(u == 0, t[n,k,0,b,c]all, others)",
        { "all", text_string(&all) },
        { "others", plus_rotated(cx, "e[n,k,bin,b,c]", "s[n,k,bin,b,1-c]", "c", "(u > H)") }));
}

static int butterflies(Ctx *cx, const Node *n, Tensor **out)
{
    if (!fits(cx, n)) return 0;
    const DType t = n->in[0]->type;
    const int64_t radix = tensor_dim(n->in[0], 2);
    Formulas f = { .cx = cx, .call = n };
    formulas_name(&f, (Bind)BIND_T("x", n->in[0]));
    if (n->in_count > 1) formulas_name(&f, (Bind)BIND_T("w", n->in[1]));
    name_types(&f, t);
    formulas_phrase(&f, "rotation", node_int(n, "inverse", 0) ? "1" : "0");
    const char *scaled = quotient(cx, t, radix, "x[n,k,v,b,c]"), *whole = "x[n,k,v,b,c]", *other = "x[n,k,v,b,1-c]";
    if (!dtype_is_float(t)) {
        formulas_compute(&f, OP_TEXT(cx, "q[n,k,v,b,c] = part", { "part", scaled }));
        whole = "q[n,k,v,b,c]", other = "q[n,k,v,b,1-c]";
    }
    const char *turned = n->in_count < 2 ? whole : OP_TEXT(cx, "select(v == 0, whole, part)", { "whole", whole },
        { "part", product(cx, t, whole, other, "w[k,max(0,v-1),0]", "w[k,max(0,v-1),1]") });
    formulas_compute(&f, OP_TEXT(cx, "t[n,k,v,b,c] = turned", { "turned", turned }));
    out[0] = radix == 2 ? of_two(&f) : radix == 4 ? of_four(&f) : radix == 8 ? of_eight(&f) : of_odd(&f, radix);
    return out[0] ? 1 : 0;
}

/* ---- Real numbers ------------------------------------------------------------------------------------------------ */

/* Returns true if x is [rows][points + more][2] and s is [points / 2][2]. */
static bool fits_real(Ctx *cx, const Node *n, int64_t more)
{
    const Tensor *x = n->in[0], *s = n->in[1];
    if (!has_type(cx, n)) return false;
    if (x->rank == 3 && s->rank == 2 && tensor_dim(x, 0) >= 1 && tensor_dim(x, 1) >= 2 + more && tensor_dim(x, 2) == 2
        && tensor_dim(s, 0) == (tensor_dim(x, 1) - more) / 2 && tensor_dim(s, 1) == 2)
        return true;
    op_refuse(cx, n, "the input is %s, the constants %s; use [rows][N%s][2], N at least 2, and [N / 2][2]",
              tensor_shape_text(cx, x), tensor_shape_text(cx, s), more ? " + 1" : "");
    return false;
}

/* Emits e = E, and o = O S or O G, for k = first + j, j < count. A negated part wraps, like every sum. The names in the
 * texts get the suffix of the part. */
static void name_halves(Formulas *f, const char *part, int64_t points, int64_t first, int64_t count)
{
    static const char *const names[] = { "a", "b", "g", "e", "d", "o" };
    const DType t = f->call->in[0]->type;
    Ctx *cx = f->cx;
    formulas_name(f, (Bind)BIND_T("x", f->call->in[0]));
    formulas_name(f, (Bind)BIND_T("r", f->call->in[1]));
    name_types(f, t);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        formulas_phrase(f, names[i], text_format(cx, "%s_%s", part, names[i]));
    formulas_phrase(f, "first", op_number(cx, first));
    formulas_phrase(f, "count", op_number(cx, count));
    formulas_phrase(f, "top", op_number(cx, points - first));
    formulas_compute(f, OP_TEXT(cx, "a[n,j<count,c] = part", { "part", quotient(cx, t, 2, "x[n,j+first,c]") }));
    formulas_compute(f, "g[n,j<count,c] = select(c == 0, x[n,top-j,c], type(-wide(x[n,top-j,c])))");
    formulas_compute(f, OP_TEXT(cx, "b[n,j<count,c] = part", { "part", quotient(cx, t, 2, "g[n,j,c]") }));
    if (!node_int(f->call, "short", 0))
        formulas_compute(f, "e[n,j<count,c] = type(wide(a[n,j,c]) + wide(b[n,j,c]))");
    formulas_compute(f, "d[n,j<count,c] = type(wide(a[n,j,c]) - wide(b[n,j,c]))");
    formulas_compute(f, OP_TEXT(cx, "o[n,j<count,c] = part",
                                { "part", product(cx, t, "d[n,j,c]", "d[n,j,1-c]", "r[j+first-1,0]",
                                                  "r[j+first-1,1]") }));
}

/* Emits a sum of halves. In a spectrum, sums are halved: they are shifted or, if S is already halved, E is halved. */
static Tensor *half_sum(Formulas *f, const char *its_name, bool halves, bool is_upper)
{
    const bool is_float = dtype_is_float(f->call->in[0]->type);
    Ctx *cx = f->cx;
    const char *e = halves && is_float ? "e[n,i,c] * 0.5" : "wide(e[n,i,c])",
               *sum = is_upper ? "select(c == 0, E - wide(o[n,i,c]), wide(o[n,i,c]) - E)" : "E + wide(o[n,i,c])";
    return formulas_compute(f, OP_TEXT(cx, halves && !is_float ? "y[n,j<count,c] = type((sum_of) >> 1)"
                                                               : "y[n,j<count,c] = type(sum_of)",
                                       { "y", its_name }, { "i", is_upper ? "count-1-j" : "j" },
                                       { "E", e }, { "sum_of", sum }));
}

/* o = O G */
static Tensor *short_sum(Formulas *f, const char *its_name, bool is_upper)
{
    const char *text = is_upper ? "y[n,j<count,c] = select(c == 0, b[n,i,c] - o[n,i,c], o[n,i,c] - b[n,i,c])"
                                : "y[n,j<count,c] = a[n,i,c] + o[n,i,c]";
    return formulas_compute(f, OP_TEXT(f->cx, text, { "y", its_name }, { "i", is_upper ? "count-1-j" : "j" }));
}

static Tensor *part_of(Formulas *f, const char *its_name, bool halves, bool is_upper)
{
    return node_int(f->call, "short", 0) ? short_sum(f, its_name, is_upper) : half_sum(f, its_name, halves, is_upper);
}

/* Emits the numbers between the first and the last one. */
static int inner_parts(Ctx *cx, const Node *n, int64_t points, bool halves, Tensor **out)
{
    const int64_t pairs = (points - 1) / 2;
    int count = 0;
    Formulas of_pairs = { .cx = cx, .call = n }, of_middle = { .cx = cx, .call = n };
    if (pairs) {
        name_halves(&of_pairs, "pair", points, 1, pairs);
        out[count++] = part_of(&of_pairs, "low", halves, false);
    }
    if (points % 2 == 0) {
        name_halves(&of_middle, "half", points, points / 2, 1);
        out[count++] = part_of(&of_middle, "middle", halves, true);
    }
    if (pairs) out[count++] = part_of(&of_pairs, "high", halves, true);
    return count;
}

static Tensor *one_of(const Node *n, Formulas *f, const char *value)
{
    formulas_name(f, (Bind)BIND_T("x", n->in[0]));
    name_types(f, n->in[0]->type);
    formulas_phrase(f, "N", op_number(f->cx, tensor_dim(n->in[0], 1) - 1));
    return formulas_compute(f, value);
}

static int spectrum_of_pairs(Ctx *cx, const Node *n, Tensor **out)
{
    if (!fits_real(cx, n, 0)) return 0;
    const DType t = n->in[0]->type;
    if (node_int(n, "short", 0) && !dtype_is_float(t)) {
        op_refuse(cx, n, "the input is %s; use 'short' with f32 or f64", dtype_info(t)->spelling);
        return 0;
    }
    Formulas first = { .cx = cx, .call = n }, last = { .cx = cx, .call = n };
    const char *text = dtype_is_float(t) ? "y[n,j<1,c<2] = select(c == 0, re OP im, 0)"
                                         : "y[n,j<1,c<2] = select(c == 0, type(wide(re) OP wide(im)), 0)",
               *re = quotient(cx, t, 2, "x[n,0,0]"), *im = quotient(cx, t, 2, "x[n,0,1]");
    out[0] = one_of(n, &first, OP_TEXT(cx, text, { "y", "first" }, { "OP", "+" }, { "re", re }, { "im", im }));
    const int count = 1 + inner_parts(cx, n, tensor_dim(n->in[0], 1), true, out + 1);
    out[count] = one_of(n, &last, OP_TEXT(cx, text, { "y", "last" }, { "OP", "-" }, { "re", re }, { "im", im }));
    return out[count] && !ctx_failed(cx) ? count + 1 : 0;
}

static int pairs_of_spectrum(Ctx *cx, const Node *n, Tensor **out)
{
    if (!fits_real(cx, n, 1)) return 0;
    Formulas first = { .cx = cx, .call = n };
    const char *sum = "type(wide(x[n,0,0]) + select(c == 0, wide(x[n,N,0]), -wide(x[n,N,0])))";
    out[0] = one_of(n, &first, OP_TEXT(cx, "first[n,j<1,c<2] = part",
                                       { "part", quotient(cx, n->in[0]->type, 2, sum) }));
    return inner_parts(cx, n, tensor_dim(n->in[0], 1) - 1, false, out + 1) + 1;
}

static int mul_complex(Ctx *cx, const Node *n, Tensor **out)
{
    const Tensor *x = n->in[0], *w = n->in[1];
    if (!has_type(cx, n)) return 0;
    if (x->rank != 3 || w->rank != 2 || tensor_dim(x, 2) != 2 || tensor_dim(w, 1) != 2
        || tensor_dim(x, 1) != tensor_dim(w, 0)) {
        op_refuse(cx, n, "the inputs are %s and %s; use [rows][points][2] and [points][2]", tensor_shape_text(cx, x),
                  tensor_shape_text(cx, w));
        return 0;
    }
    Formulas f = { .cx = cx, .call = n };
    formulas_name(&f, (Bind)BIND_T("x", n->in[0]));
    formulas_name(&f, (Bind)BIND_T("w", n->in[1]));
    name_types(&f, x->type);
    const char *part = product(cx, x->type, "x[n,k,c]", "x[n,k,1-c]", "w[k,0]", "w[k,1]");
    out[0] = formulas_compute(&f, OP_TEXT(cx, "y[n,k,c] = part", { "part", part }));
    return out[0] ? 1 : 0;
}

/* ---- Rows -------------------------------------------------------------------------------------------------------- */

static const AttrRow butterfly_attrs[] = { { "inverse", ATTR_INT, "1: W is conjugated", "0" }, { 0 } };
static const OpCase butterfly_cases[] = {
    { "", "i16[2][2][4][2][2] i16[2][3][2]", "i16[2][4][2][2][2]", NULL },
    { "inverse=1", "i32[1][4][4][1][2] i32[4][3][2]", "i32[1][4][4][1][2]", NULL },
    { "", "f32[2][3][2][2][2] f32[3][1][2]", "f32[2][2][3][2][2]", NULL },
    { "inverse=1", "f32[1][3][8][2][2] f32[3][7][2]", "f32[1][8][3][2][2]", NULL },
    { "", "f32[2][1][3][2][2]", "f32[2][3][1][2][2]", NULL },
    { "inverse=1", "f64[1][2][5][1][2] f64[2][4][2]", "f64[1][5][2][1][2]", NULL },
    { "", "f32[1][1][7][3][2]", "f32[1][7][1][3][2]", NULL },
    { "", "i16[2][2][3][2][2] i16[2][2][2]", NULL, "p 2 or 4" },
    { "", "f32[1][2][4][2][2]", NULL, "without constants L = 1" },
    { "", "i8[2][1][4][2][2]", NULL, "the input is i8" },
    { 0 }
};
static const AttrRow spectrum_attrs[] = { { "short", ATTR_INT, "1: r is (S - 1) / 2, of floats", "0" }, { 0 } };
static const OpCase spectrum_cases[] = {
    { "short=1", "f32[2][8][2] f32[4][2]", "f32[2][1][2]", NULL },
    { "short=1", "f64[1][5][2] f64[2][2]", "f64[1][1][2]", NULL },
    { "short=1", "i16[2][8][2] i16[4][2]", NULL, "use 'short' with f32 or f64" },
    { "", "i16[2][8][2] i16[4][2]", "i16[2][1][2]", NULL },
    { "", "i32[1][2][2] i32[1][2]", "i32[1][1][2]", NULL },
    { "", "f32[1][5][2] f32[2][2]", "f32[1][1][2]", NULL },
    { "", "i16[2][7][2] i16[4][2]", NULL, "[N / 2][2]" },
    { 0 }
};
static const OpCase pairs_cases[] = {
    { "", "i16[2][9][2] i16[4][2]", "i16[2][1][2]", NULL },
    { "", "i32[1][3][2] i32[1][2]", "i32[1][1][2]", NULL },
    { "", "f32[1][6][2] f32[2][2]", "f32[1][1][2]", NULL },
    { "", "i16[2][8][2] i16[4][2]", NULL, "[rows][N + 1][2]" },
    { 0 }
};
static const OpCase product_cases[] = {
    { "", "f32[2][3][2] f32[3][2]", "f32[2][3][2]", NULL },
    { "", "i16[1][3][2] i16[3][2]", "i16[1][3][2]", NULL },
    { "", "f32[2][3][2] f32[2][2]", NULL, "[points][2]" },
    { 0 }
};

#define ROW(fn, text, least, names, its_attrs, its_cases) \
    .name = #fn, .summary = text, .level = 11, .least_inputs = least, .most_inputs = 2, .inputs = names, \
    .attr = its_attrs, .meaning.compute = fn, .fusion.pattern = PATTERN_OPAQUE, .cases = its_cases

const Op ops_fourier[] = {
    { ROW(butterflies, "y[u,k,b] = sum(v) W(p)^(u*v) * (x[k,v,b] / p * w[k,v-1]), complex", 1, "x w", butterfly_attrs,
          butterfly_cases) },
    { ROW(mul_complex, "y[n,k] = x[n,k] * w[k], complex", 2, "x w", NULL, product_cases) },
    { ROW(spectrum_of_pairs, "the spectrum of 2 N real numbers from that of N pairs of them, in parts", 2, "x r",
          spectrum_attrs, spectrum_cases) },
    { ROW(pairs_of_spectrum, "the spectrum of N pairs from that of 2 N real numbers, in parts", 2, "x r", NULL,
          pairs_cases) },
    { 0 }
};
