/* SPDX-License-Identifier: MIT */
/* Defines softmax, sigmoid and tanh of 8-bit integers in fixed point, bit-exact with the reference kernels of
 * TensorFlow Lite. Softmax of 16-bit integers, and to 32 bits in units of 2^-30, is the same computation, without a
 * reference. mulhigh(x << left, m) is the real input in Q5.26 (softmax) or Q4.27 (sigmoid, tanh). expq and recipq are
 * the functions of runtime/lw_fixed.h. A real output is y / 256 + 1/2 (softmax, sigmoid: zero point -128; softmax of 16
 * bits: y / 65536 + 1/2) or y / 128 (tanh). */
#include "graph/dag/op_build.h"

#include <string.h>

enum { MOST_CLASSES = 4095 };       /* limit of classes, which keeps the sum of exponentials within Q12.19 */

static bool check(Ctx *cx, const Node *n)
{
    if (n->in[0]->type == I8) return true;
    op_refuse(cx, n, "the input is %s; use i8", dtype_info(n->in[0]->type)->spelling);
    return false;
}

static bool check_width(Ctx *cx, const Node *n)
{
    if (n->in[0]->type == I8 || n->in[0]->type == I16) return true;
    op_refuse(cx, n, "the input is %s; use i8 or i16", dtype_info(n->in[0]->type)->spelling);
    return false;
}

static const Expr *attr_expr(Ctx *cx, const Node *n, const char *attr)
{
    return expr_int(cx, I32, node_int(n, attr, 0));
}

/* Emits the sum of the exponentials of each row in Q12.19, the distances from the peak, and the exponentials (NULL if
 * the caller does not need them). Elements whose distance is below `least` have the exponential 0, because the argument
 * of expq could be out of range. */
static Tensor *sum_of_powers(Ctx *cx, const Node *n, AxisText *axes, Tensor **distance, Tensor **powers)
{
    Tensor *x = n->in[0];
    bool chosen[MAX_RANK] = { false };
    int64_t classes = x->rank ? tensor_dim(x, x->rank - 1) : 0;
    if (classes < 1 || classes > MOST_CLASSES) {
        op_refuse(cx, n, "the input is %s; use 1 to %d elements along the last axis", tensor_shape_text(cx, x),
                  MOST_CLASSES);
        return NULL;
    }
    chosen[x->rank - 1] = true;
    const AxisText a = *axes = axis_text(cx, x->rank, chosen);
    Tensor *peak = OP_FORMULA(cx, n, AXES_TEXT(cx, "peak[kept] = max(chosen) x[all]", a), BIND_T("x", x));
    Tensor *below = OP_FORMULA(cx, n, AXES_TEXT(cx, "below[all] = i32(x[all]) - i32(peak[kept])", a),
                               BIND_T("x", x), BIND_T("peak", peak));
    Tensor *power = OP_FORMULA(
        cx, n, AXES_TEXT(cx, "exp[all] = select(d[all] < least, 0, expq(mulhigh(d[all] << left, m), 5))", a),
        BIND_T("d", below), BIND_V("least", attr_expr(cx, n, "least")), BIND_V("left", attr_expr(cx, n, "left")),
        BIND_V("m", attr_expr(cx, n, "multiplier")));
    *distance = below;
    if (powers) *powers = power;
    return OP_FORMULA(cx, n, AXES_TEXT(cx, "sum[kept] = sum(chosen) roundshift(e[all], 12)", a), BIND_T("e", power));
}

/* Emits a softmax. The sum has `head` leading zeros, and 1/sum = 1/(1+rest) * 2^-(12-head). */
static int softmax_fixed(Ctx *cx, const Node *n, Tensor **out)
{
    AxisText a;
    DType to = I8;
    const char *word = node_text(n, "to", "i8");
    if (!dtype_read(word, strlen(word), &to) || (to != I8 && to != I16 && to != I32)) {
        op_refuse(cx, n, "'to' is \"%s\"; use i8, i16 or i32", word);
        return 0;
    }
    if (!check_width(cx, n)) return 0;
    Tensor *below, *power, *sum = sum_of_powers(cx, n, &a, &below, &power);
    if (!sum) return 0;
    Tensor *head = OP_FORMULA(cx, n, AXES_TEXT(cx, "head[kept] = clz(s[kept])", a), BIND_T("s", sum));
    Tensor *half = OP_FORMULA(
        cx, n, AXES_TEXT(cx, "half[kept] = (((s[kept] << h[kept]) - -2147483648) >> 1) + 1073741824", a),
        BIND_T("s", sum), BIND_T("h", head));
    Tensor *twice = OP_FORMULA(cx, n, AXES_TEXT(cx, "double[kept] = recipq(h[kept])", a), BIND_T("h", half));
    Tensor *scale = OP_FORMULA(
        cx, n, AXES_TEXT(cx, "scale[kept] = select(r[kept] > 1073741823, 2147483647, r[kept] << 1)", a),
        BIND_T("r", twice));
    const char *text = AXES_TEXT(
        cx, "y[all] = to(min(max(roundshift(mulhigh(s[kept], e[all]), bits - h[kept]) + least, least), greatest))", a);
    if (to == I32) text = AXES_TEXT(cx, "y[all] = roundshift(mulhigh(s[kept], e[all]), 13 - h[kept])", a);
    else text = OP_TEXT(cx, text, { "to", dtype_info(to)->spelling }, { "bits", to == I8 ? "35" : "27" },
                        { "+ least", to == I8 ? "- 128" : "- 32768" },
                        { "least", op_number(cx, dtype_info(to)->least) },
                        { "greatest", op_number(cx, dtype_info(to)->greatest) });
    out[0] = OP_FORMULA(cx, n, text, BIND_T("s", scale), BIND_T("e", power), BIND_T("h", head));
    return out[0] ? 1 : 0;
}

/* Emits log(s) as Q5.26, for s >= 1 in Q12.19. The logarithm is the octave of s, in quarters, times log 2, plus the
 * logarithm of the mantissa r, which is between sqrt(1/2) and 1. That logarithm is a quotient of polynomials in q = 2
 * (r - 2^(-1/4)). Two pairs of octave and mantissa follow, from s and from s sqrt(1/2): the smaller mantissa belongs to
 * the larger octave. */
static Tensor *log_of_sum(Ctx *cx, const Node *n, Tensor *s)
{
    static const char *const part[][2] = {
        { "near", "near[*] = mulhigh(s[*], 1518500250)" },
        { "first", "first[*] = mulhigh(s[*] << (clz(s[*]) - 1), 1518500250)" },
        { "r", "r[*] = min(select(first[*] > 1073741823, 2147483647, first[*] << 1), "
               "select(s[*] > (1 << (32 - clz(near[*]))) - 1, 2147483647, s[*] << (clz(near[*]) - 1)))" },
        { "octave", "octave[*] = max(((12 - clz(s[*])) << 25) + 8388608, "
                    "((13 - clz(near[*])) << 25) - 8388608)" },
        { "q", "q[*] = (r[*] - 1805811301) << 1" },
        { "square", "square[*] = mulhigh(q[*], q[*])" },
        { "num", "num[*] = mulhigh(q[*], r[*]) + mulhigh(mulhigh(q[*], square[*]), 117049297)" },
        { "p", "p[*] = i32((i64(r[*]) + 1805811302) >> 1)" },
        { "den", "den[*] = mulhigh(p[*], 1057819769 + q[*] + mulhigh(127690142, square[*])) + "
                 "mulhigh(638450708, q[*])" },
        { "double", "double[*] = recipq((den[*] >> 1) + 1073741824)" },
        { "inverse", "inverse[*] = select(double[*] > 1073741823, 2147483647, double[*] << 1)" },
        { "log", "log[*] = (mulhigh(octave[*], 1488522236) + mulhigh(roundshift(num[*], 6), inverse[*])) << 1" },
    };
    enum { PARTS = sizeof part / sizeof part[0] };
    Bind bind[PARTS + 2] = { BIND_T("s", s) };
    for (int i = 0; i < PARTS; i++)
        bind[i + 1] = (Bind)BIND_T(part[i][0], op_formula(cx, n, part[i][1], bind));
    return bind[PARTS].tensor;
}

/* Emits y = (d - log sum exp(d)) in sixteenths, plus 127, for distances d from the peak. y is -128 if d is not above
 * the smallest distance whose result fits the type. */
static int log_softmax_fixed(Ctx *cx, const Node *n, Tensor **out)
{
    AxisText a;
    Tensor *below, *sum = check(cx, n) ? sum_of_powers(cx, n, &a, &below, NULL) : NULL;
    if (!sum) return 0;
    Tensor *log = log_of_sum(cx, n, sum);
    const char *back = node_int(n, "once", 0)
                           ? "limit[*] = max(least - 1, i32((i64(l[*] - 2147483647 - 1) * i64(back) + "
                             "(i64(1) << (i64(shift) + 30))) >> (i64(shift) + 31)))"
                           : "limit[*] = max(least - 1, roundshift(mulhigh(l[*] - 2147483647 - 1, back), shift))";
    Tensor *least = OP_FORMULA(cx, n, back, BIND_T("l", log), BIND_V("least", attr_expr(cx, n, "least")),
                               BIND_V("back", attr_expr(cx, n, "back")), BIND_V("shift", attr_expr(cx, n, "shift")));
    const char *text = AXES_TEXT(
        cx, "y[all] = i8(select(d[all] <= limit[kept], -128, "
            "min(max(roundshift(mulhigh(d[all] << left, m) - l[kept], 22) + 127, -128), 127)))", a);
    out[0] = OP_FORMULA(cx, n, text, BIND_T("d", below), BIND_T("limit", least), BIND_T("l", log),
                        BIND_V("left", attr_expr(cx, n, "left")), BIND_V("m", attr_expr(cx, n, "multiplier")));
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

/* Emits `between`, or the limits of the function if x is at least `radius` from the zero point. */
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

/* Emits tanh(x) = (1-e)/(1+e) = 2/(1+e) - 1 with e = exp(-2x). Q4.27 read as Q5.26 doubles the value. */
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
    { "to",         ATTR_TEXT, "the type of the result: i8, i16, i32", "i8" },
    { 0 }
};
static const AttrRow log_softmax_attrs[] = {
    { "multiplier", ATTR_INT, "m", "1073741824" },
    { "left",       ATTR_INT, "bits by which the distance from the peak is shifted left", "0" },
    { "least",      ATTR_INT, "distances below it have the exponential 0", "-255" },
    { "back",       ATTR_INT, "the multiplier from a logarithm to a distance", "1073741824" },
    { "shift",      ATTR_INT, "bits by which its product is shifted right", "0" },
    { "once",       ATTR_INT, "1: that product is rounded once, ties up", "0" },
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
    { "multiplier=1242904128 left=23 least=-124 to=i16", "i8[2][5]", "i16[2][5]", NULL },
    { "multiplier=1760936591 left=13 least=-65536 to=i32", "i16[2][7]", "i32[2][7]", NULL },
    { "to=u8", "i8[2][5]", NULL, "'to' is \"u8\"; use i8, i16 or i32" },
    { "", "u8[2][3]", NULL, "use i8 or i16" },
    { "", "i8[2][5000]", NULL, "1 to 4095 elements" },
    { 0 }
};
static const OpCase log_softmax_cases[] = {
    { "multiplier=1242904128 left=23 least=-124 back=1855380992 shift=23", "i8[2][12]", "i8[2][12]", NULL },
    { "multiplier=1242904128 left=23 least=-124 back=1855380992 shift=23 once=1", "i8[3]={-128,127,126}", "i8[3]",
      NULL },
    { "", "u8[2][3]", NULL, "use i8" },
    { 0 }
};
static const OpCase curve_cases[] = {
    { "multiplier=1517500250 left=23 zero=7 radius=200", "i8[2][12]", "i8[2][12]", NULL },
    { "multiplier=1242904128 left=21 radius=90", "i8[5]={0,-1,1,-90,90}", "i8[5]", NULL },
    { "", "u8[2][3]", NULL, "use i8" },
    { 0 }
};

const Op ops_softmax_fixed[] = {
    { .name = "softmax_fixed",
      .summary = "y[n,c] = exp(x[n,c] - peak[n]) / sum(c) exp(x[n,c] - peak[n]) in fixed point", .level = 11,
      .least_inputs = 1, .most_inputs = 1, .inputs = "x", .attr = softmax_attrs, .meaning.compute = softmax_fixed,
      .fusion.pattern = PATTERN_OUT_FUSABLE, .cases = softmax_cases },
    { .name = "log_softmax_fixed",
      .summary = "y[n,c] = x[n,c] - peak[n] - log(sum(c) exp(x[n,c] - peak[n])) in fixed point", .level = 11,
      .least_inputs = 1, .most_inputs = 1, .inputs = "x", .attr = log_softmax_attrs,
      .meaning.compute = log_softmax_fixed, .fusion.pattern = PATTERN_OUT_FUSABLE, .cases = log_softmax_cases },
    { .name = "sigmoid_fixed", .summary = "y[*] = sigmoid(x[*]) in fixed point", .level = 11, .least_inputs = 1,
      .most_inputs = 1, .inputs = "x", .attr = curve_attrs, .meaning.compute = sigmoid_fixed,
      .fusion.pattern = PATTERN_ELEMENTWISE, .cases = curve_cases },
    { .name = "tanh_fixed", .summary = "y[*] = tanh(x[*]) in fixed point", .level = 11, .least_inputs = 1,
      .most_inputs = 1, .inputs = "x", .attr = curve_attrs, .meaning.compute = tanh_fixed,
      .fusion.pattern = PATTERN_ELEMENTWISE, .cases = curve_cases },
    { 0 }
};
