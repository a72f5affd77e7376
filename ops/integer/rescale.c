/* SPDX-License-Identifier: MIT */
/* Defines the fixed-point scaling of quantized networks. A real factor is m / 2^31 * 2^-n with m in [2^30, 2^31). The
 * factor is applied in two rounding steps, as in the reference kernels of TensorFlow Lite:
 *
 *   rescale   y = to(clamp(roundshift(mulhigh((i32(x) - zero_x) << left, m), n) + zero, min, max))
 *   lookup    y = table[x - least]        a function of an 8-bit input, tabulated at its 256 values
 *
 * m and n are attributes or, if they vary along the last axis, constants with one value per channel. */

/* Decision: quantized operators are small calls. A quantized convolution is an i32 convolution without zero points,
 * an addition of the bias, and a `rescale` to fixed point; the importer computes the multipliers. Fusion joins them
 * again, and activations, additions and pools need no special case.
 *
 *   - The two roundings are two kinds of expression, `mulhigh` and `roundshift`; an interval of their operands shows
 *     which cheaper form is exact.
 *   - Functions of one int8 are tables. The constant folder fills them from a fixed-point formula, or the importer
 *     does, where the reference uses steps that no formula of ours has (`tflite_curve.c`).
 *   - Every operator has models in `tests/tflite` with the bytes of the reference kernels, and a second opinion
 *     (`tests/tflite/case.h`): random models of one operator, and expected bytes from formulas that share nothing
 *     with the compiler and are tested on the recorded bytes. */
#include "graph/dag/op_build.h"

#include <string.h>

enum { MULTIPLIER = 1, SHIFT = 2 };
enum { ROUND_TWICE, ROUND_ONCE_UP, ROUND_ONCE_AWAY };          /* values of the attribute `once`, by their ties */

static bool read_type(Ctx *cx, const Node *n, DType *t)
{
    const char *to = node_text(n, "to", "");
    if (dtype_read(to, strlen(to), t) && (*t == I8 || *t == U8 || *t == I16 || *t == I32)) return true;
    op_refuse(cx, n, "'to' is \"%s\"; use i8, u8, i16 or i32", to);
    return false;
}

static bool check_range(Ctx *cx, const Node *n, const char *attr, int64_t least, int64_t greatest)
{
    int64_t v = node_int(n, attr, least);
    if (v >= least && v <= greatest) return true;
    op_refuse(cx, n, "'%s' is %lld, but it must be in %lld..%lld", attr, (long long)v, (long long)least,
              (long long)greatest);
    return false;
}

static bool check(Ctx *cx, const Node *n)
{
    DType x = n->in[0]->type;
    if (!dtype_is_integer(x) || dtype_info(x)->bytes > 4 || x == U32) {
        op_refuse(cx, n, "the input is %s; use i8, u8, i16, u16 or i32", dtype_info(x)->spelling);
        return false;
    }
    for (int i = MULTIPLIER; i < n->in_count; i++)
        if (n->in[i] && n->in[i]->type != I32 && !(i == SHIFT && n->in[i]->type == U8)) {
            op_refuse(cx, n, "input %d is %s; use i32, or u8 for shifts", i,
                      dtype_info(n->in[i]->type)->spelling);
            return false;
        }
    return check_range(cx, n, "multiplier", 0, INT32_MAX) && check_range(cx, n, "shift", 0, 31)
           && check_range(cx, n, "left", 0, 31) && check_range(cx, n, "zero", INT32_MIN, INT32_MAX)
           && check_range(cx, n, "once", ROUND_TWICE, ROUND_ONCE_AWAY)
           && check_range(cx, n, "zero_x", INT32_MIN, INT32_MAX);
}

/* The phrases of a scaling; m: the multiplier, n: its shift to the right. Steps without effect are omitted. */
typedef struct Scaling { const char *m, *n; bool subtracts, shifts_left; } Scaling;

static Scaling scaling_of(Ctx *cx, const Node *n, const char *m, const char *shifts)
{
    const bool has_multipliers = n->in_count > MULTIPLIER && n->in[MULTIPLIER],
               has_shifts = n->in_count > SHIFT && n->in[SHIFT];
    return (Scaling){ .m = has_multipliers ? m : op_number(cx, node_int(n, "multiplier", 0)),
                      .n = has_shifts ? shifts : NULL, .subtracts = node_int(n, "zero_x", 0) != 0,
                      .shifts_left = node_int(n, "left", 0) != 0 };
}

static const char *scaled_text(Ctx *cx, const Node *n, const Scaling *s, const char *wide, const char *text)
{
    const int64_t shift = node_int(n, "shift", 0);
    return OP_TEXT(cx, text, { "wide", wide }, { "zero_x", op_number(cx, node_int(n, "zero_x", 0)) },
                   { "left", op_number(cx, node_int(n, "left", 0)) },
                   { "from", s->subtracts ? "(wide - zero_x)" : "wide" },
                   { "shifted", s->shifts_left ? "(from << left)" : "from" }, { "m", s->m },
                   { "half", op_number(cx, INT64_C(1) << (30 + shift)) },
                   { "below", op_number(cx, (INT64_C(1) << (30 + shift)) - 1) }, { "all", op_number(cx, 31 + shift) },
                   { "n", s->n ? s->n : op_number(cx, shift) });
}

/* Returns the formula ((x - zero_x) << left) * m / 2^(31+n) in 64 bits, rounded to nearest. */
static const char *scaled_once(Ctx *cx, const Node *n, bool has_ties_away)
{
    static const char *const of_one[] = { "i32((shifted * m + half) >> all)",
                                          "i32((shifted * m + select(shifted < 0, i64(below), i64(half))) >> all)" };
    static const char *const of_each[] = {
        "i32((shifted * m + (i64(1) << (n + 30))) >> (n + 31))",
        "i32((shifted * m + (i64(1) << (n + 30)) - select(shifted < 0, i64(1), i64(0))) >> (n + 31))"
    };
    const Scaling s = scaling_of(cx, n, "i64(m[*])", "i64(n[*])");
    return scaled_text(cx, n, &s, "i64(x[*])", (s.n ? of_each : of_one)[has_ties_away]);
}

/* Returns the formula of the scaling with two roundings. */
static const char *scaled_twice(Ctx *cx, const Node *n)
{
    const bool has_bytes = n->in_count > SHIFT && n->in[SHIFT] && n->in[SHIFT]->type != I32;
    const Scaling s = scaling_of(cx, n, "m[*]", has_bytes ? "i32(n[*])" : "n[*]");
    return scaled_text(cx, n, &s, n->in[0]->type == I32 ? "x[*]" : "i32(x[*])",
                       s.n || node_int(n, "shift", 0) ? "roundshift(mulhigh(shifted, m), n)" : "mulhigh(shifted, m)");
}

static int rescale(Ctx *cx, const Node *n, Tensor **out)
{
    DType to;
    if (!read_type(cx, n, &to) || !check(cx, n)) return 0;
    const DTypeInfo *type = dtype_info(to);
    const int64_t zero = node_int(n, "zero", 0), least = node_int(n, "min", type->least),
                  greatest = node_int(n, "max", type->greatest);
    const bool clamps = to != I32 || least > type->least || greatest < type->greatest;
    const int64_t once = node_int(n, "once", ROUND_TWICE);
    const char *text = OP_TEXT(
        cx, "y[*] = result", { "scaled", once ? scaled_once(cx, n, once == ROUND_ONCE_AWAY) : scaled_twice(cx, n) },
        { "zero", op_number(cx, zero) }, { "least", op_number(cx, least > type->least ? least : type->least) },
        { "greatest", op_number(cx, greatest < type->greatest ? greatest : type->greatest) },
        { "value", zero ? "scaled + zero" : "scaled" }, { "to", type->spelling },
        { "clamped", clamps ? "min(max(value, least), greatest)" : "value" },
        { "result", to == I32 ? "clamped" : "to(clamped)" });
    Tensor *m = n->in_count > MULTIPLIER ? n->in[MULTIPLIER] : NULL,
           *shifts = n->in_count > SHIFT ? n->in[SHIFT] : NULL;
    out[0] = OP_FORMULA(cx, n, text, BIND_T("x", n->in[0]), BIND_T("m", m), BIND_T("n", shifts));
    return out[0] ? 1 : 0;
}

static int lookup(Ctx *cx, const Node *n, Tensor **out)
{
    DType t = n->in[0]->type;
    if ((t != I8 && t != U8) || n->in[1]->rank != 1 || tensor_dim(n->in[1], 0) != 256) {
        op_refuse(cx, n, "the input is %s and the table %s; use 8 bits and [256]", dtype_info(t)->spelling,
                  tensor_shape_text(cx, n->in[1]));
        return 0;
    }
    const char *text = t == I8 ? "y[all] = table[i32(x[all])+128]" : "y[all] = table[i32(x[all])]";
    out[0] = OP_FORMULA(cx, n, OP_TEXT(cx, text, { "all", axes_with(cx, n->in[0]->rank, -1, "") }),
                        BIND_T("x", n->in[0]), BIND_T("table", n->in[1]));
    return out[0] ? 1 : 0;
}

static const AttrRow rescale_attrs[] = {
    { "multiplier", ATTR_INT, "m, used when input 1 is absent", NULL },
    { "shift",      ATTR_INT, "n, used when input 2 is absent", NULL },
    { "left",       ATTR_INT, "bits by which x is shifted left before the product", NULL },
    { "zero_x",     ATTR_INT, "the zero point of x", NULL },
    { "zero",       ATTR_INT, "the zero point of the result", NULL },
    { "min",        ATTR_INT, "the lower bound, if above that of the type", NULL },
    { "max",        ATTR_INT, "the upper bound, if below that of the type", NULL },
    { "once",       ATTR_INT, "1: the whole product is rounded once, ties up; 2: once, ties away from zero", "0" },
    { "to",         ATTR_TEXT, "the type of the result: i8, u8, i16, i32", "i8" },
    { 0 }
};

static const OpCase rescale_cases[] = {
    { "multiplier=1518500250 shift=3 zero=-5", "i32[2][3]={1000,-1000,24,-24,2147483647,-2147483648}", "i8[2][3]",
      NULL },
    { "multiplier=1073741824 shift=1 to=i32", "i32[6]={1,-1,2,-2,3,-3}", "i32[6]", NULL },
    { "left=20 zero_x=-128 multiplier=1073741824 to=i32", "i8[4]={-128,127,0,5}", "i32[4]", NULL },
    { "min=-100 max=100 zero=3", "i32[2][2][3] i32[3]={1073741824,2147483647,1500000000} i32[3]={20,23,31}",
      "i8[2][2][3]", NULL },
    { "shift=22", "i32[2][3] i32[3]={1073741824,2147483647,1500000000}", "i8[2][3]", NULL },
    { "", "i32[2][3] i32[3]={1073741824,2147483647,1500000000} u8[3]={20,23,25}", "i8[2][3]", NULL },
    { "multiplier=1518500250 shift=3 zero=-5 once=1", "i32[2][3]={1000,-1000,24,-24,2147483647,-2147483648}",
      "i8[2][3]", NULL },
    { "once=1", "i32[2][3] i32[3]={1073741824,2147483647,1500000000} u8[3]={20,23,25}", "i8[2][3]", NULL },
    { "multiplier=1073741824 shift=1 once=2 to=i32", "i32[8]={1,-1,2,-2,3,-3,6,-6}", "i32[8]", NULL },
    { "once=2", "i32[2][3] i32[3]={1073741824,2147483647,1500000000} u8[3]={20,23,25}", "i8[2][3]", NULL },
    { "multiplier=5 once=3", "i32[3]", NULL, "'once' is 3" },
    { "multiplier=5 to=f32", "i32[3]", NULL, "'to' is \"f32\"" },
    { "multiplier=5 shift=32", "i32[3]", NULL, "'shift' is 32" },
    { "multiplier=5", "f32[3]", NULL, "use i8, u8, i16, u16 or i32" },
    { "", "i32[3] f32[3]", NULL, "use i32" },
    { 0 }
};
static const OpCase lookup_cases[] = {
    { "", "i8[2][3] i8[256]", "i8[2][3]", NULL },
    { "", "u8[5] i16[256]", "i16[5]", NULL },
    { "", "i8[5] i16[255]", NULL, "[256]" },
    { 0 }
};

const Op ops_rescale[] = {
    { .name = "rescale",
      .summary = "y[*] = to(clamp(roundshift(mulhigh((i32(x[*]) - zero_x) << left, multiplier[*]), shift[*]) + zero, "
                 "min, max))",
      .level = 11, .least_inputs = 1, .most_inputs = 3, .inputs = "x multiplier shift", .attr = rescale_attrs,
      .meaning.compute = rescale, .fusion.pattern = PATTERN_BROADCAST, .layout.permute = permute_elementwise,
      .cases = rescale_cases },
    { .name = "lookup", .summary = "y[*] = table[x[*] - least]", .level = 11, .least_inputs = 2, .most_inputs = 2,
      .inputs = "x table", .meaning.compute = lookup, .fusion.pattern = PATTERN_ELEMENTWISE, .cases = lookup_cases },
    { 0 }
};
