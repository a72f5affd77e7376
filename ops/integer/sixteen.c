/* SPDX-License-Identifier: MIT */
/* Defines functions of 16-bit integers, bit-exact with the reference kernels of TensorFlow Lite:
 *
 *   rescale_wide      y = to(clamp(((i64(x) * m + 2^(n-1)) >> n) + zero))           sums of up to 47 bits, m of 16
 *   sigmoid_table     y = sigmoid(x), between two of 256 points 1/24 apart          Q0.15 of (x * m) >> n in 3/2^14
 *   tanh_table        y = tanh(x) = 2 sigmoid(2x) - 1, from the same points
 *   softmax_table     y = e / sum(e), e = exp(x - peak)                             two tables of 513 points
 *
 * The points of sigmoid are u16; the points of exp over [-10, 0] and of 1/(1+x) over [0, 1] are i16. */
#include "graph/dag/op_build.h"

#include <string.h>

enum { MOST_CLASSES = 65535 };      /* limit of classes, which keeps the sum of Q0.15 exponentials below 2^31 */

static const Expr *attr_expr(Ctx *cx, const Node *n, const char *attr)
{
    return expr_int(cx, I32, node_int(n, attr, 0));
}

static bool check_input(Ctx *cx, const Node *n, const DType *table, const int64_t *points)
{
    if (n->in[0]->type != I16)
        op_refuse(cx, n, "the input is %s; use i16", dtype_info(n->in[0]->type)->spelling);
    for (int i = 1; i < n->in_count && !ctx_failed(cx); i++)
        if (n->in[i]->type != table[i - 1] || n->in[i]->rank != 1 || tensor_dim(n->in[i], 0) != points[i - 1])
            op_refuse(cx, n, "table %d is %s%s; use %s[%lld]", i, dtype_info(n->in[i]->type)->spelling,
                      tensor_shape_text(cx, n->in[i]), dtype_info(table[i - 1])->spelling, (long long)points[i - 1]);
    return !ctx_failed(cx);
}

/* ---- Sums -------------------------------------------------------------------------------------------------------- */

static int rescale_wide(Ctx *cx, const Node *n, Tensor **out)
{
    enum { MULTIPLIER = 1, SHIFT };
    DType to = I16;
    const char *word = node_text(n, "to", "i16");
    if (!dtype_read(word, strlen(word), &to) || (to != I8 && to != I16 && to != I32))
        op_refuse(cx, n, "'to' is \"%s\"; use i8, i16 or i32", word);
    if (n->in[0]->type != I32 && n->in[0]->type != I64)
        op_refuse(cx, n, "the input is %s; use i32 or i64", dtype_info(n->in[0]->type)->spelling);
    for (int i = MULTIPLIER; i < n->in_count; i++)
        if (n->in[i] && n->in[i]->type != (i == SHIFT ? U8 : I32))
            op_refuse(cx, n, "input %d is %s; use i32 multipliers and u8 shifts", i,
                      dtype_info(n->in[i]->type)->spelling);
    const int64_t shift = node_int(n, "shift", 15);
    if (shift < 1 || shift > 62)
        op_refuse(cx, n, "'shift' is %lld, but it must be in 1..62", (long long)shift);
    if (ctx_failed(cx)) return 0;
    const DTypeInfo *type = dtype_info(to);
    const bool has_m = n->in_count > MULTIPLIER && n->in[MULTIPLIER], has_n = n->in_count > SHIFT && n->in[SHIFT];
    const char *text = OP_TEXT(
        cx, "y[*] = to(min(max(((i64(x[*]) * m + half) >> n) + zero, least), greatest))",
        { "to", type->spelling }, { "m", has_m ? "i64(multiplier[*])" : op_number(cx, node_int(n, "multiplier", 1)) },
        { "half", has_n ? "(i64(1) << (i64(right[*]) - 1))" : op_number(cx, INT64_C(1) << (shift - 1)) },
        { "n", has_n ? "i64(right[*])" : op_number(cx, shift) }, { "zero", op_number(cx, node_int(n, "zero", 0)) },
        { "least", op_number(cx, node_int(n, "min", type->least)) },
        { "greatest", op_number(cx, node_int(n, "max", type->greatest)) });
    out[0] = OP_FORMULA(cx, n, text, BIND_T("x", n->in[0]), BIND_T("multiplier", has_m ? n->in[MULTIPLIER] : NULL),
                        BIND_T("right", has_n ? n->in[SHIFT] : NULL));
    return out[0] ? 1 : 0;
}

/* ---- Sigmoid and tanh -------------------------------------------------------------------------------------------- */

static AxisText axes_of(Ctx *cx, const Tensor *x, bool last)
{
    bool chosen[MAX_RANK] = { false };
    if (last && x->rank) chosen[x->rank - 1] = true;
    return axis_text(cx, x->rank, chosen);
}

/* d: the distance of x from 0 in units of the table; below, above: the points of the table around it. */
typedef struct Points { Tensor *d, *below, *above; } Points;

static Points points_of(Ctx *cx, const Node *n, int bits)
{
    Points p;
    const AxisText a = axes_of(cx, n->in[0], false);
    const Expr *step = expr_int(cx, I32, bits);
    p.d = OP_FORMULA(cx, n, "d[*] = (i32(x[*]) * m + round) >> right", BIND_T("x", n->in[0]),
                     BIND_V("m", attr_expr(cx, n, "multiplier")), BIND_V("right", attr_expr(cx, n, "shift")),
                     BIND_V("round", expr_int(cx, I32, node_int(n, "shift", 0)
                                                           ? INT64_C(1) << (node_int(n, "shift", 0) - 1) : 0)));
    p.below = OP_FORMULA(cx, n, AXES_TEXT(cx, "below[all] = i32(table[max(0, min(255, abs(d[all]) >> step))])", a),
                         BIND_T("d", p.d), BIND_T("table", n->in[1]), BIND_V("step", step));
    p.above = OP_FORMULA(cx, n,
                         AXES_TEXT(cx, "above[all] = i32(table[max(0, min(255, (abs(d[all]) >> step) + 1))])", a),
                         BIND_T("d", p.d), BIND_T("table", n->in[1]), BIND_V("step", step));
    return p;
}

static bool check_curve(Ctx *cx, const Node *n)
{
    const int64_t shift = node_int(n, "shift", 0), m = node_int(n, "multiplier", 3);
    return op_holds(cx, n, m >= 0 && m <= INT16_MAX, "'multiplier' is %lld; use 0 to 32767", (long long)m)
           && op_holds(cx, n, shift >= 0 && shift <= 31, "'shift' is %lld; use 0 to 31", (long long)shift)
           && check_input(cx, n, (const DType[]){ U16 }, (const int64_t[]){ 256 });
}

static int sigmoid_table(Ctx *cx, const Node *n, Tensor **out)
{
    if (!check_curve(cx, n)) return 0;
    const Points p = points_of(cx, n, 9);
    Tensor *size = OP_FORMULA(
        cx, n, "size[*] = select(abs(d[*]) >> 9 >= 255, 33553408, (a[*] << 9) + (abs(d[*]) & 511) * (b[*] - a[*]))",
        BIND_T("d", p.d), BIND_T("a", p.below), BIND_T("b", p.above));
    out[0] = OP_FORMULA(cx, n, "y[*] = i16(select(d[*] >= 0, s[*] + 512, 33554943 - s[*]) >> 10)", BIND_T("d", p.d),
                        BIND_T("s", size));
    return out[0] ? 1 : 0;
}

static int tanh_table(Ctx *cx, const Node *n, Tensor **out)
{
    if (!check_curve(cx, n)) return 0;
    const Points p = points_of(cx, n, 8);
    Tensor *size = OP_FORMULA(
        cx, n, "size[*] = select(abs(d[*]) >> 8 >= 255, 16776960, (a[*] << 8) + (abs(d[*]) & 255) * (b[*] - a[*]))",
        BIND_T("d", p.d), BIND_T("a", p.below), BIND_T("b", p.above));
    out[0] = OP_FORMULA(cx, n, "y[*] = i16(select(d[*] >= 0, s[*] - 8388480, 8388735 - s[*]) >> 8)", BIND_T("d", p.d),
                        BIND_T("s", size));
    return out[0] ? 1 : 0;
}

/* ---- Softmax ----------------------------------------------------------------------------------------------------- */

/* Emits a softmax by tables of 512 steps of 128, with linear interpolation, for q in -32768..32767. The argument of the
 * exponentials is the distance from the peak in units of 10/65535. `head` counts the leading zeros of their sum; its
 * mantissa minus 1 is the argument of the second table. */
static int softmax_table(Ctx *cx, const Node *n, Tensor **out)
{
    static const char *const text[] = {
        "peak[kept] = max(chosen) x[all]",
        "d[all] = distance",
        "q[all] = min(max(d[all] + 32767, -32768), 32767)",
        "low[all] = i32(exps[max(0, min(511, 256 + (q[all] >> 7)))])",
        "high[all] = i32(exps[max(0, min(512, 257 + (q[all] >> 7)))])",
        "exp[all] = low[all] + (((high[all] - low[all]) * (q[all] & 127) + 64) >> 7)",
        "sum[kept] = sum(chosen) exp[all]",
        "head[kept] = clz(sum[kept])",
        "rest[kept] = min(max(i32(((i64(sum[kept]) << (i64(head[kept]) - 1)) + 8192) >> 14) - 98304, -32768), 32767)",
        "low_of[kept] = i32(inverses[max(0, min(511, 256 + (rest[kept] >> 7)))])",
        "high_of[kept] = i32(inverses[max(0, min(512, 257 + (rest[kept] >> 7)))])",
        "inverse[kept] = low_of[kept] + (((high_of[kept] - low_of[kept]) * (rest[kept] & 127) + 64) >> 7)",
        "y[all] = i16(min(max((exp[all] * inverse[kept] + (1 << (30 - head[kept]))) >> (31 - head[kept]), 0), 32767))",
    };
    const Tensor *x = n->in[0];
    const int64_t classes = x->rank ? tensor_dim(x, x->rank - 1) : 0;
    if (!check_input(cx, n, (const DType[]){ I16, I16 }, (const int64_t[]){ 513, 513 })) return 0;
    if (classes < 1 || classes > MOST_CLASSES)
        op_refuse(cx, n, "the input is %s; use 1 to %d elements along the last axis", tensor_shape_text(cx, x),
                  MOST_CLASSES);
    if (ctx_failed(cx)) return 0;
    const AxisText a = axes_of(cx, x, true);
    Formulas f = { .cx = cx, .call = n };
    formulas_name(&f, (Bind)BIND_T("x", n->in[0]));
    formulas_name(&f, (Bind)BIND_T("exps", n->in[1]));
    formulas_name(&f, (Bind)BIND_T("inverses", n->in[2]));
    formulas_name(&f, (Bind)BIND_V("m", attr_expr(cx, n, "multiplier")));
    formulas_name(&f, (Bind)BIND_V("left", attr_expr(cx, n, "left")));
    formulas_name(&f, (Bind)BIND_V("shift", attr_expr(cx, n, "shift")));
    formulas_phrase(&f, "all", a.all);
    formulas_phrase(&f, "kept", a.kept);
    formulas_phrase(&f, "chosen", a.chosen);
    formulas_phrase(&f, "below", "(i32(x[all]) - i32(peak[kept]))");
    formulas_phrase(&f, "distance", node_int(n, "once", 0)
                                        ? "i32(((i64(below) << i64(left)) * i64(m) + (i64(1) << (i64(shift) + 30))) >> "
                                          "(i64(shift) + 31))"
                                        : "roundshift(mulhigh(below << left, m), shift)");
    for (size_t i = 0; i < sizeof text / sizeof text[0]; i++) out[0] = formulas_compute(&f, text[i]);
    return out[0] ? 1 : 0;
}

/* ---- Rows -------------------------------------------------------------------------------------------------------- */

static const AttrRow wide_attrs[] = {
    { "multiplier", ATTR_INT, "m, used when input 1 is absent", "1" },
    { "shift",      ATTR_INT, "n, used when input 2 is absent", "15" },
    { "zero",       ATTR_INT, "the zero point of the result", "0" },
    { "min",        ATTR_INT, "the lower bound, if above that of the type", NULL },
    { "max",        ATTR_INT, "the upper bound, if below that of the type", NULL },
    { "to",         ATTR_TEXT, "the type of the result: i8, i16, i32", "i16" },
    { 0 }
};
static const AttrRow curve_attrs[] = {
    { "multiplier", ATTR_INT, "m", "3" }, { "shift", ATTR_INT, "n, after the product with m", "0" }, { 0 }
};
static const AttrRow softmax_attrs[] = {
    { "multiplier", ATTR_INT, "the factor of the distance from the peak, in Q.31", "1073741824" },
    { "left",       ATTR_INT, "bits by which the distance is shifted left", "0" },
    { "shift",      ATTR_INT, "bits by which the product is shifted right", "0" },
    { "once",       ATTR_INT, "1: the product is rounded once, ties up", "0" },
    { 0 }
};

static const OpCase wide_cases[] = {
    { "multiplier=20000 shift=30 zero=3", "i64[2][3]={1000000,-1000000,24,-24,99999999999,-99999999999}", "i16[2][3]",
      NULL },
    { "shift=5 min=-100 max=100", "i32[2][3] i32[3]={16384,32767,20000}", "i16[2][3]", NULL },
    { "to=i8", "i64[2][3] i32[3]={16384,32767,20000} u8[3]={15,20,46}", "i8[2][3]", NULL },
    { "shift=63", "i64[3]", NULL, "'shift' is 63" },
    { "", "i16[3]", NULL, "use i32 or i64" },
    { 0 }
};
static const OpCase curve_cases[] = {
    { "", "i16[2][5] u16[256]", "i16[2][5]", NULL },
    { "multiplier=20000 shift=12", "i16[6]={0,-1,1,-32768,32767,100} u16[256]", "i16[6]", NULL },
    { "multiplier=32767 shift=31", "i16[6]={0,-1,1,-32768,32767,100} u16[256]", "i16[6]", NULL },
    { "shift=32", "i16[6] u16[256]", NULL, "'shift' is 32" },
    { "", "i8[3] u16[256]", NULL, "use i16" },
    { "", "i16[3] u16[255]", NULL, "use u16[256]" },
    { 0 }
};
static const OpCase softmax_cases[] = {
    { "multiplier=1342156800 left=2", "i16[2][7] i16[513] i16[513]", "i16[2][7]", NULL },
    { "multiplier=1342156800 shift=1 once=1", "i16[2][7] i16[513] i16[513]", "i16[2][7]", NULL },
    { "", "i16[3] i16[513] i16[512]", NULL, "use i16[513]" },
    { 0 }
};

const Op ops_sixteen[] = {
    { .name = "rescale_wide", .summary = "y[*] = to(clamp(((i64(x[*]) * m[*] + 2^(n[*]-1)) >> n[*]) + zero))",
      .level = 11, .least_inputs = 1, .most_inputs = 3, .inputs = "x multiplier shift", .attr = wide_attrs,
      .meaning.compute = rescale_wide, .fusion.pattern = PATTERN_BROADCAST, .layout.permute = permute_elementwise,
      .cases = wide_cases },
    { .name = "sigmoid_table", .summary = "y[*] = sigmoid(x[*]) of 16 bits, interpolated between points", .level = 11,
      .least_inputs = 2, .most_inputs = 2, .inputs = "x table", .attr = curve_attrs, .meaning.compute = sigmoid_table,
      .fusion.pattern = PATTERN_ELEMENTWISE, .cases = curve_cases },
    { .name = "tanh_table", .summary = "y[*] = tanh(x[*]) of 16 bits, interpolated between points", .level = 11,
      .least_inputs = 2, .most_inputs = 2, .inputs = "x table", .attr = curve_attrs, .meaning.compute = tanh_table,
      .fusion.pattern = PATTERN_ELEMENTWISE, .cases = curve_cases },
    { .name = "softmax_table",
      .summary = "y[n,c] = exp(x[n,c] - peak[n]) / sum(c) exp(x[n,c] - peak[n]) of 16 bits, from points", .level = 11,
      .least_inputs = 3, .most_inputs = 3, .inputs = "x exps inverses", .attr = softmax_attrs,
      .meaning.compute = softmax_table, .fusion.pattern = PATTERN_OUT_FUSABLE, .cases = softmax_cases },
    { 0 }
};
