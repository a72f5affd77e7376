/* SPDX-License-Identifier: MIT */
/* Defines quotients, norms and products of 8-bit or 16-bit integers in fixed point, bit-exact with the reference
 * kernels of TensorFlow Lite.
 *
 *   div_fixed       y = clamp(roundshift(mulhigh(mulhigh(a << h, inverse[b]), m), n) + zero)
 *   l2_norm_fixed   y = d * 2^7 / sqrt(sum d * d),  d = x - zero
 *   rsqrt_fixed     y = 2^20 / sqrt(x)
 *   prod_fixed      y = clamp(r(p[T-1]) + zero),  p[t] = r(p[t-1] * d[t]),  p[0] = d[0],  r(v) = (v * m + 2^(n-1)) >> n
 *
 * In div_fixed, a and b are relative to their zero points, and a is negated if b is negative. h is the number of
 * redundant sign bits of a; the inverse of b and its shift come from tables. 1/sqrt is five Newton steps in Q3.28.
 * prod_fixed multiplies in the order of the elements, because each partial product is rounded to 32 bits; a partial
 * product beyond 32 bits wraps. */
#include "graph/dag/op_build.h"

#include <string.h>

enum { MOST_DEPTH = 8000 };         /* limit of elements, which keeps the sum of squares below 2^29 */

static int div_fixed(Ctx *cx, const Node *n, Tensor **out)
{
    const Tensor *a = n->in[0], *b = n->in[1], *inverse = n->in[2], *shift = n->in[3];
    if (a->type != I8 || b->type != I8 || inverse->type != I32 || shift->type != I32 || inverse->rank != 1
        || shift->rank != 1 || tensor_dim(inverse, 0) != 256 || tensor_dim(shift, 0) != 256) {
        op_refuse(cx, n, "the operands are %s and %s, the tables %s%s and %s%s; use i8 operands and i32[256] tables",
                  dtype_info(a->type)->spelling, dtype_info(b->type)->spelling, dtype_info(inverse->type)->spelling,
                  tensor_shape_text(cx, inverse), dtype_info(shift->type)->spelling, tensor_shape_text(cx, shift));
        return 0;
    }
    Tensor *at = OP_FORMULA(cx, n, "at[*] = i32(b[*]) + 128", BIND_T("b", n->in[1]));
    if (!at) return 0;
    const Phrase words[] = {
        { "all", axes_with(cx, at->rank, -1, "") }, { "axes", sized_axes(cx, at) }, { NULL, NULL }
    };
    Tensor *inv = OP_FORMULA(cx, n, op_text(cx, "inv[axes] = table[max(0, min(255, at[all]))]", words),
                             BIND_T("table", n->in[2]), BIND_T("at", at));
    Tensor *bits = OP_FORMULA(cx, n, op_text(cx, "bits[axes] = table[max(0, min(255, at[all]))]", words),
                              BIND_T("table", n->in[3]), BIND_T("at", at));
    Tensor *d = OP_FORMULA(cx, n, "d[*] = select(i32(b[*]) < zero_b, zero_a - i32(a[*]), i32(a[*]) - zero_a)",
                           BIND_T("a", n->in[0]), BIND_T("b", n->in[1]),
                           BIND_V("zero_a", expr_int(cx, I32, node_int(n, "zero_a", 0))),
                           BIND_V("zero_b", expr_int(cx, I32, node_int(n, "zero_b", 0))));
    Tensor *room = OP_FORMULA(cx, n, "room[*] = select(d[*] >= 0, clz(d[*]) - 1, clz(-2 * d[*] - 1))", BIND_T("d", d));
    Tensor *q = OP_FORMULA(cx, n, "quotient[*] = mulhigh(d[*] << room[*], inv[*])", BIND_T("d", d),
                           BIND_T("room", room), BIND_T("inv", inv));
    out[0] = OP_FORMULA(
        cx, n,
        "y[*] = i8(min(max(roundshift(mulhigh(q[*], m), max(0, bits[*] + room[*] - left)) + zero, least), most))",
        BIND_T("q", q), BIND_T("bits", bits), BIND_T("room", room),
        BIND_V("m", expr_int(cx, I32, node_int(n, "multiplier", 0))),
        BIND_V("left", expr_int(cx, I32, node_int(n, "left", 0))),
        BIND_V("zero", expr_int(cx, I32, node_int(n, "zero", 0))),
        BIND_V("least", expr_int(cx, I32, node_int(n, "min", -128))),
        BIND_V("most", expr_int(cx, I32, node_int(n, "max", 127))));
    return out[0] ? 1 : 0;
}

/* Emits a Newton step, x' = 1.5 x - s/2 x^3, with products in Q6.25 and Q9.22. */
static Tensor *newton(Ctx *cx, const Node *n, int step, Tensor *half, Tensor *x)
{
    static const char *const cubes[] = { "cube1", "cube2", "cube3", "cube4", "cube5" };
    static const char *const roots[] = { "root1", "root2", "root3", "root4", "root5" };
    Tensor *cube = OP_FORMULA(cx, n, OP_TEXT(cx, "cube[*] = mulhigh(mulhigh(x[*], x[*]), x[*]) << 6",
                                             { "cube", cubes[step] }), BIND_T("x", x));
    return OP_FORMULA(cx, n, OP_TEXT(cx, "root[*] = (mulhigh(402653184, x[*]) - mulhigh(half[*], c[*])) << 3",
                                     { "root", roots[step] }), BIND_T("x", x), BIND_T("half", half), BIND_T("c", cube));
}

/* The root 1 / sqrt(s) = m / 2^31 * 2^(pairs - 11); m is shifted to the left if the exponent is positive. */
typedef struct Root { Tensor *pairs, *m; } Root;
static Root inverse_root(Ctx *cx, const Node *n, Tensor *sum)
{
    Tensor *pairs = OP_FORMULA(cx, n, "pairs[*] = (clz(max(s[*], 2)) - 1) / 2 - 1", BIND_T("s", sum));
    Tensor *half = OP_FORMULA(cx, n, "half[*] = roundshift((max(s[*], 2) << (2 * p[*])) >> 1, 1)", BIND_T("s", sum),
                              BIND_T("p", pairs));
    Tensor *root = OP_FORMULA(cx, n, "root[*] = select(s[*] == 0, 268435456, 268435456)", BIND_T("s", sum));
    for (int i = 0; i < 5; i++) root = newton(cx, n, i, half, root);
    Tensor *m = OP_FORMULA(cx, n,
                           "m[*] = select(s[*] <= 1, 2147483647, mulhigh(r[*], 1518500250) << max(0, p[*] - 11))",
                           BIND_T("s", sum), BIND_T("r", root), BIND_T("p", pairs));
    return (Root){ pairs, m };
}

static int l2_norm_fixed(Ctx *cx, const Node *n, Tensor **out)
{
    Tensor *x = n->in[0];
    bool chosen[MAX_RANK] = { false };
    int64_t depth = x->rank ? tensor_dim(x, x->rank - 1) : 0;
    if (x->type != I8 || depth < 1 || depth > MOST_DEPTH) {
        op_refuse(cx, n, "the input is %s%s; use i8 with 1 to %d elements along the last axis",
                  dtype_info(x->type)->spelling, tensor_shape_text(cx, x), MOST_DEPTH);
        return 0;
    }
    chosen[x->rank - 1] = true;
    AxisText a = axis_text(cx, x->rank, chosen);
    Tensor *d = OP_FORMULA(cx, n, "d[*] = i32(x[*]) - zero", BIND_T("x", x),
                           BIND_V("zero", expr_int(cx, I32, node_int(n, "zero", 0))));
    Tensor *sum = OP_FORMULA(cx, n, AXES_TEXT(cx, "sum[kept] = sum(chosen) d[all] * d[all]", a), BIND_T("d", d));
    const Root root = inverse_root(cx, n, sum);
    Tensor *e = OP_FORMULA(cx, n, "e[*] = 7 - select(s[*] <= 1, 0, max(0, 11 - p[*]))", BIND_T("s", sum),
                           BIND_T("p", root.pairs));
    const char *text = node_int(n, "early", 0)
        ? AXES_TEXT(cx, "y[all] = i8(min(max(roundshift(mulhigh(d[all] << 7, m[kept]), 7 - e[kept]), -128), 127))", a)
        : AXES_TEXT(cx, "y[all] = i8(min(max(roundshift(mulhigh(d[all] << max(e[kept], 0), m[kept]), "
                        "max(-e[kept], 0)), -128), 127))", a);
    out[0] = OP_FORMULA(cx, n, text, BIND_T("d", d), BIND_T("e", e), BIND_T("m", root.m));
    return out[0] ? 1 : 0;
}

/* Computes m * 2^-max(0, 11 - pairs) / 2^31 in units of 2^-20. */
static int rsqrt_fixed(Ctx *cx, const Node *n, Tensor **out)
{
    if (n->in[0]->type != I32) {
        op_refuse(cx, n, "the input is %s; use i32", dtype_info(n->in[0]->type)->spelling);
        return 0;
    }
    const Root root = inverse_root(cx, n, n->in[0]);
    out[0] = OP_FORMULA(cx, n, "y[*] = mulhigh(1 << (20 - select(x[*] <= 1, 0, max(0, 11 - p[*]))), m[*])",
                        BIND_T("x", n->in[0]), BIND_T("p", root.pairs), BIND_T("m", root.m));
    return out[0] ? 1 : 0;
}

/* Returns the index list of element t among the chosen axes, counted in row-major order; *count is their number. */
static const char *element_of(Ctx *cx, const Tensor *x, const bool *chosen, int64_t *count)
{
    const char *at[MAX_RANK];
    Text all = text_new(cx);
    *count = 1;
    for (int d = x->rank - 1; d >= 0; d--) {
        const int64_t size = tensor_dim(x, d), behind = *count;
        const char letter[] = { axis_letter(x->rank, d), '\0' };
        if (chosen[d]) *count *= size;
        at[d] = chosen[d] ? OP_TEXT(cx, "t/behind%size", { "behind", op_number(cx, behind) },
                                    { "size", op_number(cx, size) })
                          : text_format(cx, "%s", letter);
    }
    for (int d = 0; d < x->rank; d++) text_printf(&all, "%s%s", d ? "," : "", at[d]);
    return text_string(&all);
}

static bool check_prod(Ctx *cx, const Node *n, const bool *chosen)
{
    const Tensor *x = n->in[0];
    const int64_t m = node_int(n, "multiplier", 0), shift = node_int(n, "shift", 15);
    bool is_fixed = x->rank > 0;
    for (int d = 0; d < x->rank; d++) is_fixed = is_fixed && (!chosen[d] || tensor_dim(x, d) > 0);
    if ((x->type != I8 && x->type != I16) || !is_fixed)
        op_refuse(cx, n, "the input is %s%s; use i8 or i16, with elements along the reduced axes",
                  dtype_info(x->type)->spelling, tensor_shape_text(cx, x));
    else if (m < 0 || m > INT16_MAX) op_refuse(cx, n, "'multiplier' is %lld; use 0 to 32767", (long long)m);
    else if (shift < 1 || shift > 46) op_refuse(cx, n, "'shift' is %lld; use 1 to 46", (long long)shift);
    return !ctx_failed(cx);
}

/* Multiplies in the order of the elements. A product of 32, 16 and 15 bits needs at most 63 bits. */
static int prod_fixed(Ctx *cx, const Node *n, Tensor **out)
{
    const Tensor *x = n->in[0];
    const DTypeInfo *type = dtype_info(x->type);
    const int64_t shift = node_int(n, "shift", 15);
    bool chosen[MAX_RANK] = { false };
    int64_t count;
    if (!op_axes(cx, n, "axes", x->rank, chosen) || !check_prod(cx, n, chosen)) return 0;
    const AxisText a = axis_text(cx, x->rank, chosen);
    const char *at = element_of(cx, x, chosen, &count);
    const Expr *shape[MAX_RANK + 1];
    int rank = 0;
    shape[rank++] = expr_index(cx, count);
    for (int d = 0; d < x->rank; d++)
        if (!chosen[d]) shape[rank++] = x->shape[d];
    Formulas f = { .cx = cx, .call = n };
    formulas_name(&f, (Bind)BIND_T("x", n->in[0]));
    formulas_name(&f, (Bind)BIND_V("T", shape[0]));
    formulas_phrase(&f, "steps", count == 1 ? "t<T" : "t<T ordered");
    formulas_phrase(&f, "kept", a.kept);
    formulas_phrase(&f, "result", node_int(n, "keepdims", 0) ? a.ones : a.kept);
    formulas_phrase(&f, "d", OP_TEXT(cx, "(i32(x[at]) - zero_x)", { "at", at },
                                     { "zero_x", op_number(cx, node_int(n, "zero_x", 0)) }));
    formulas_phrase(&f, "scaling", OP_TEXT(cx, "* m + half) >> n", { "m", op_number(cx, node_int(n, "multiplier", 0)) },
                                           { "half", op_number(cx, INT64_C(1) << (shift - 1)) },
                                           { "n", op_number(cx, shift) }));
    Tensor *part = formulas_promise(&f, "part", I32, rank, shape);
    formulas_define(&f, part, "part[steps,kept] = (i32((i64(part[t-1,kept]?) * i64(d) scaling) : d)");
    out[0] = formulas_compute(&f, OP_TEXT(cx, "y[result] = type(min(max(i64(i32((i64(part[T-1,kept]) scaling)) + zero, "
                                              "least), greatest))",
                                          { "type", type->spelling },
                                          { "zero", op_number(cx, node_int(n, "zero", 0)) },
                                          { "least", op_number(cx, type->least) },
                                          { "greatest", op_number(cx, type->greatest) }));
    return out[0] ? 1 : 0;
}

static const AttrRow div_attrs[] = {
    { "zero_a",     ATTR_INT, "the zero point of a", NULL },
    { "zero_b",     ATTR_INT, "the zero point of b", NULL },
    { "multiplier", ATTR_INT, "m", NULL },
    { "left",       ATTR_INT, "the exponent of m; it is subtracted from n", NULL },
    { "zero",       ATTR_INT, "the zero point of the result", NULL },
    { "min",        ATTR_INT, "the smallest value", "-128" },
    { "max",        ATTR_INT, "the largest value", "127" },
    { 0 }
};
static const AttrRow norm_attrs[] = {
    { "zero",  ATTR_INT, "the zero point of x", NULL },
    { "early", ATTR_INT, "1: d is scaled by 2^7 before the product, as with UINT8; 0: after it", "0" },
    { 0 }
};
static const AttrRow prod_attrs[] = {
    { "axes",       ATTR_INTS, "the reduced axes; none: all", NULL },
    { "keepdims",   ATTR_INT, "1: they stay as dimensions of one", "0" },
    { "multiplier", ATTR_INT, "m", NULL },
    { "shift",      ATTR_INT, "n", "15" },
    { "zero_x",     ATTR_INT, "the zero point of x", "0" },
    { "zero",       ATTR_INT, "the zero point of the result", "0" },
    { 0 }
};

static const OpCase div_cases[] = {
    { "multiplier=1500000000 left=-1", "i8[2][3] i8[2][3]={1,2,3,-4,5,-127} i32[256] i32[256]", "i8[2][3]", NULL },
    { "", "i8[3] i8[3] i32[255] i32[256]", NULL, "i32[256]" },
    { 0 }
};
static const OpCase norm_cases[] = {
    { "zero=5", "i8[3][7]", "i8[3][7]", NULL },
    { "zero=-128", "i8[1]={-128}", "i8[1]", NULL },
    { "zero=5 early=1", "i8[3][7]", "i8[3][7]", NULL },
    { "", "f32[3][7]", NULL, "i8 with 1 to" },
    { 0 }
};
static const OpCase rsqrt_cases[] = {
    { "", "i32[9]={-5,0,1,2,3,4,100,32767,65535}", "i32[9]", NULL },
    { "", "i16[3]", NULL, "use i32" },
    { 0 }
};
static const OpCase prod_cases[] = {
    { "axes=1 multiplier=20000 shift=20 zero_x=3 zero=-5", "i8[2][6]", "i8[2]", NULL },
    { "axes=0,2 keepdims=1 multiplier=30000 shift=14 zero_x=-128", "i8[3][2][4][2]", "i8[1][2][1][2]", NULL },
    { "axes=1 multiplier=32767 shift=8", "i16[2][5]={32767,-32768,3,32767,9,1,2,3,4,5}", "i16[2]", NULL },
    { "axes=0 multiplier=16384 shift=15 zero=100", "i8[1][3]={-128,127,60}", "i8[3]", NULL },
    { "multiplier=16384", "i16[5]={9,-7,5,100,3}", "i16", NULL },
    { "shift=47", "i8[3]", NULL, "'shift' is 47" },
    { "axes=1", "f32[2][3]", NULL, "i8 or i16" },
    { 0 }
};

const Op ops_fixed[] = {
    { .name = "div_fixed", .summary = "y[*] = a[*] / b[*] in fixed point, inverses by table", .level = 11,
      .least_inputs = 4, .most_inputs = 4, .inputs = "a b inverse shift", .attr = div_attrs,
      .meaning.compute = div_fixed, .fusion.pattern = PATTERN_BROADCAST, .cases = div_cases },
    { .name = "l2_norm_fixed", .summary = "y[n,c] = (x[n,c] - zero) / sqrt(sum(c) (x[n,c] - zero)^2) in fixed point",
      .level = 11, .least_inputs = 1, .most_inputs = 1, .inputs = "x", .attr = norm_attrs,
      .meaning.compute = l2_norm_fixed, .fusion.pattern = PATTERN_OUT_FUSABLE, .cases = norm_cases },
    { .name = "rsqrt_fixed", .summary = "y[*] = 2^20 / sqrt(x[*]) in fixed point; as x = 1 where x < 1", .level = 11,
      .least_inputs = 1, .most_inputs = 1, .inputs = "x", .meaning.compute = rsqrt_fixed,
      .fusion.pattern = PATTERN_ELEMENTWISE, .cases = rsqrt_cases },
    { .name = "prod_fixed",
      .summary = "y[n] = prod(c) (x[n,c] - zero_x), each product rounded to (x * m) >> shift, + zero",
      .level = 11, .least_inputs = 1, .most_inputs = 1, .inputs = "x", .attr = prod_attrs,
      .meaning.compute = prod_fixed, .fusion.pattern = PATTERN_OPAQUE, .cases = prod_cases },
    { 0 }
};
