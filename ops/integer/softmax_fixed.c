/* SPDX-License-Identifier: MIT */
/* Softmax, sigmoid and tanh of 8-bit integers in fixed point, bit-exact with the reference kernels of TensorFlow Lite.
 * mulhigh(x << left, m) is the real input in Q5.26 (softmax) or Q4.27 (sigmoid, tanh). expq and recipq are the
 * functions of runtime/lw_fixed.h. A real output is y / 256 + 1/2 (softmax, sigmoid: zero point -128) or y / 128
 * (tanh). */
#include "graph/dag/op_build.h"

enum { MOST_CLASSES = 4095 };       /* keeps the sum of exponentials within Q12.19 */

static bool check(Ctx *cx, const Node *n)
{
    if (n->in[0]->type == I8) return true;
    op_refuse(cx, n, "the input is %s; i8 is expected", dtype_info(n->in[0]->type)->spelling);
    return false;
}

static const Expr *attr_expr(Ctx *cx, const Node *n, const char *attr)
{
    return expr_int(cx, I32, node_int(n, attr, 0));
}

/* The sum has `head` leading zeros, and 1/sum = 1/(1+rest) * 2^-(12-head). Elements whose distance from the peak is
 * below `least` have the exponential 0; the argument of expq could be out of range there. */
static int softmax_fixed(Ctx *cx, const Node *n, Tensor **out)
{
    Tensor *x = n->in[0];
    bool chosen[MAX_RANK] = { false };
    int64_t classes = x->rank ? tensor_dim(x, x->rank - 1) : 0;
    if (!check(cx, n)) return 0;
    if (classes < 1 || classes > MOST_CLASSES) {
        op_refuse(cx, n, "the input is %s; 1 to %d elements along the last axis are expected", tensor_shape_text(cx, x),
                  MOST_CLASSES);
        return 0;
    }
    chosen[x->rank - 1] = true;
    AxisText a = axis_text(cx, x->rank, chosen);
    Tensor *peak = OP_FORMULA(cx, n, AXES_TEXT(cx, "peak[kept] = max(chosen) x[all]", a), BIND_T("x", x));
    Tensor *below = OP_FORMULA(cx, n, AXES_TEXT(cx, "below[all] = i32(x[all]) - i32(peak[kept])", a),
                               BIND_T("x", x), BIND_T("peak", peak));
    Tensor *power = OP_FORMULA(
        cx, n, AXES_TEXT(cx, "exp[all] = select(d[all] < least, 0, expq(mulhigh(d[all] << left, m), 5))", a),
        BIND_T("d", below), BIND_V("least", attr_expr(cx, n, "least")), BIND_V("left", attr_expr(cx, n, "left")),
        BIND_V("m", attr_expr(cx, n, "multiplier")));
    Tensor *sum = OP_FORMULA(cx, n, AXES_TEXT(cx, "sum[kept] = sum(chosen) roundshift(e[all], 12)", a),
                             BIND_T("e", power));
    Tensor *head = OP_FORMULA(cx, n, AXES_TEXT(cx, "head[kept] = clz(s[kept])", a), BIND_T("s", sum));
    Tensor *half = OP_FORMULA(
        cx, n, AXES_TEXT(cx, "half[kept] = (((s[kept] << h[kept]) - -2147483648) >> 1) + 1073741824", a),
        BIND_T("s", sum), BIND_T("h", head));
    Tensor *twice = OP_FORMULA(cx, n, AXES_TEXT(cx, "double[kept] = recipq(h[kept])", a), BIND_T("h", half));
    Tensor *scale = OP_FORMULA(
        cx, n, AXES_TEXT(cx, "scale[kept] = select(r[kept] > 1073741823, 2147483647, r[kept] << 1)", a),
        BIND_T("r", twice));
    const char *text = AXES_TEXT(
        cx, "y[all] = i8(min(max(roundshift(mulhigh(s[kept], e[all]), 35 - h[kept]) - 128, -128), 127))", a);
    out[0] = OP_FORMULA(cx, n, text, BIND_T("s", scale), BIND_T("e", power), BIND_T("h", head));
    return out[0] ? 1 : 0;
}

/* Emits x - zero scaled to Q4.27. */
static Tensor *scaled(Ctx *cx, const Node *n)
{
    const char *text = node_int(n, "shift", 0) ? "scaled[*] = roundshift(mulhigh((i32(x[*]) - zero) << left, m), shift)"
                                               : "scaled[*] = mulhigh((i32(x[*]) - zero) << left, m)";
    return OP_FORMULA(cx, n, text, BIND_T("x", n->in[0]), BIND_V("zero", attr_expr(cx, n, "zero")),
                      BIND_V("left", attr_expr(cx, n, "left")), BIND_V("m", attr_expr(cx, n, "multiplier")),
                      BIND_V("shift", attr_expr(cx, n, "shift")));
}

/* Emits the limits of the function at and beyond `radius` from the zero point, and `between` inside. */
static int limited(Ctx *cx, const Node *n, Tensor *between, Tensor **out)
{
    out[0] = OP_FORMULA(
        cx, n, "y[*] = select(i32(x[*]) - zero <= -radius, -128, select(i32(x[*]) - zero >= radius, 127, b[*]))",
        BIND_T("x", n->in[0]), BIND_T("b", between), BIND_V("zero", attr_expr(cx, n, "zero")),
        BIND_V("radius", attr_expr(cx, n, "radius")));
    return out[0] ? 1 : 0;
}

static int sigmoid_fixed(Ctx *cx, const Node *n, Tensor **out)
{
    if (!check(cx, n)) return 0;
    Tensor *q = scaled(cx, n);
    Tensor *twice = OP_FORMULA(cx, n, "double[*] = recipq((expq(-abs(q[*]), 4) >> 1) + 1073741824)", BIND_T("q", q));
    Tensor *above = OP_FORMULA(cx, n, "above[*] = select(r[*] > 1073741823, 2147483647, r[*] << 1)",
                               BIND_T("r", twice));
    Tensor *whole = OP_FORMULA(cx, n,
                               "whole[*] = select(q[*] == 0, 1073741824, select(q[*] > 0, a[*], 2147483647 - a[*]))",
                               BIND_T("q", q), BIND_T("a", above));
    return limited(
        cx, n, OP_FORMULA(cx, n, "near[*] = i8(min(max(roundshift(w[*], 23) - 128, -128), 127))", BIND_T("w", whole)),
        out);
}

/* tanh(x) = (1-e)/(1+e) = 2/(1+e) - 1 with e = exp(-2x). Q4.27 read as Q5.26 doubles the value. */
static int tanh_fixed(Ctx *cx, const Node *n, Tensor **out)
{
    if (!check(cx, n)) return 0;
    Tensor *q = scaled(cx, n);
    Tensor *less = OP_FORMULA(cx, n, "less[*] = recipq((expq(-abs(q[*]), 5) >> 1) + 1073741824) - 536870912",
                              BIND_T("q", q));
    Tensor *size = OP_FORMULA(cx, n, "size[*] = select(r[*] > 536870911, 2147483647, r[*] << 2)", BIND_T("r", less));
    Tensor *whole = OP_FORMULA(cx, n, "whole[*] = select(q[*] == 0, 0, select(q[*] < 0, -s[*], s[*]))", BIND_T("q", q),
                               BIND_T("s", size));
    return limited(
        cx, n, OP_FORMULA(cx, n, "near[*] = i8(min(max(roundshift(w[*], 24), -128), 127))", BIND_T("w", whole)), out);
}

static const AttrRow softmax_attrs[] = {
    { "multiplier", ATTR_INT, "m", "1073741824" },
    { "left",       ATTR_INT, "bits by which the distance from the peak is shifted left", "0" },
    { "least",      ATTR_INT, "distances below it have the exponential 0", "-255" },
    { 0 }
};
static const AttrRow curve_attrs[] = {
    { "multiplier", ATTR_INT, "m", "1073741824" },
    { "left",       ATTR_INT, "bits by which x is shifted left", "0" },
    { "shift",      ATTR_INT, "bits by which the product is shifted right", "0" },
    { "zero",       ATTR_INT, "the zero point of x", "0" },
    { "radius",     ATTR_INT, "the distance from the zero point at which the function takes its limit", "255" },
    { 0 }
};

static const OpCase softmax_cases[] = {
    { "multiplier=1242904128 left=23 least=-124", "i8[2][12]", "i8[2][12]", NULL },
    { "multiplier=1242904128 left=23 least=-124", "i8[3]={-128,127,126}", "i8[3]", NULL },
    { "", "u8[2][3]", NULL, "i8 is expected" },
    { "", "i8[2][5000]", NULL, "1 to 4095 elements" },
    { 0 }
};
static const OpCase curve_cases[] = {
    { "multiplier=1517500250 left=23 zero=7 radius=200", "i8[2][12]", "i8[2][12]", NULL },
    { "multiplier=1242904128 left=21 radius=90", "i8[5]={0,-1,1,-90,90}", "i8[5]", NULL },
    { "", "u8[2][3]", NULL, "i8 is expected" },
    { 0 }
};

const Op ops_softmax_fixed[] = {
    { .name = "softmax_fixed",
      .summary = "y[n,c] = exp(x[n,c] - peak[n]) / sum(c) exp(x[n,c] - peak[n]) in fixed point", .level = 11,
      .least_inputs = 1, .most_inputs = 1, .inputs = "x", .attr = softmax_attrs, .meaning.compute = softmax_fixed,
      .fusion.pattern = PATTERN_OUT_FUSABLE, .cases = softmax_cases },
    { .name = "sigmoid_fixed", .summary = "y[*] = sigmoid(x[*]) in fixed point", .level = 11, .least_inputs = 1,
      .most_inputs = 1, .inputs = "x", .attr = curve_attrs, .meaning.compute = sigmoid_fixed,
      .fusion.pattern = PATTERN_ELEMENTWISE, .cases = curve_cases },
    { .name = "tanh_fixed", .summary = "y[*] = tanh(x[*]) in fixed point", .level = 11, .least_inputs = 1,
      .most_inputs = 1, .inputs = "x", .attr = curve_attrs, .meaning.compute = tanh_fixed,
      .fusion.pattern = PATTERN_ELEMENTWISE, .cases = curve_cases },
    { 0 }
};
