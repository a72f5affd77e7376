/* SPDX-License-Identifier: MIT */
/* Defines elementwise functions of two or three tensors. Dimensions of 1, and dimensions that are absent on the left,
 * broadcast to the sizes of the other operands. Each row is one formula, or two where floats and integers differ. */
#include "graph/dag/op_build.h"

static int by_type(Ctx *cx, const Node *n, const char *of_floats, const char *of_integers, Tensor **out)
{
    if (!op_same_type(cx, n)) return 0;
    const char *text = dtype_is_float(n->in[0]->type) ? of_floats : of_integers;
    out[0] = OP_FORMULA(cx, n, text, BIND_T("a", n->in[0]), BIND_T("b", n->in[1]));
    return out[0] ? 1 : 0;
}

static int div_(Ctx *cx, const Node *n, Tensor **out)
{
    return by_type(cx, n, "y[*] = a[*] / b[*]", "y[*] = tdiv(a[*], b[*])", out);
}
static int fmod_(Ctx *cx, const Node *n, Tensor **out)
{
    return by_type(cx, n, "y[*] = fmod(a[*], b[*])", "y[*] = tmod(a[*], b[*])", out);
}
static int floor_div(Ctx *cx, const Node *n, Tensor **out)
{
    return by_type(cx, n, "y[*] = floor(a[*] / b[*])", "y[*] = a[*] / b[*]", out);
}

/* Computes a - floor(a / b) * b, which has the divisor's sign. */
static int mod(Ctx *cx, const Node *n, Tensor **out)
{
    return by_type(cx, n, "y[*] = select(fmod(a[*], b[*]) * b[*] < 0, fmod(a[*], b[*]) + b[*], fmod(a[*], b[*]))",
                   "y[*] = a[*] % b[*]", out);
}

/* Computes integer powers in f64, which is exact up to 2^53. */
static int pow_(Ctx *cx, const Node *n, Tensor **out)
{
    const char *t = dtype_info(n->in[0]->type)->spelling;
    const char *of_integers = OP_TEXT(cx, "y[*] = type(pow(f64(a[*]), f64(b[*])))", { "type", t });
    return by_type(cx, n, "y[*] = pow(a[*], b[*])", of_integers, out);
}

static const OpCase number_cases[] = {
    { "", "f32[2][3] f32[2][3]", "f32[2][3]", NULL },
    { "", "f32[1][2][3][4] f32[4]", "f32[1][2][3][4]", NULL },
    { "", "f32[2][1][3] f32[4][1]", "f32[2][4][3]", NULL },
    { "", "f32[3] f32", "f32[3]", NULL },
    { "", "i32[3] i32[1]={5}", "i32[3]", NULL },
    { "", "f32[2][3] f32[2]", NULL, "[2]" },
    { "", "f32[2] i32[2]", NULL, "i32" },
    { "", "f32[2]", NULL, "it takes 2" },
    { 0 }
};
static const OpCase compare_cases[] = {
    { "", "f32[2][3] f32[3]", "bool[2][3]", NULL },
    { "", "i32[4]={1,2,3,4} i32[4]={1,3,2,4}", "bool[4]", NULL },
    { 0 }
};
static const OpCase bool_cases[] = {
    { "", "bool[4]={0,0,1,1} bool[4]={0,1,0,1}", "bool[4]", NULL },
    { "", "f32[2] f32[2]", NULL, "bool" },
    { 0 }
};
static const OpCase angle_cases[] = {
    { "", "f32[2][3] f32[3]", "f32[2][3]", NULL },
    { "", "i32[2] i32[2]", NULL, "float" },
    { 0 }
};
static const OpCase bits_cases[] = {
    { "", "i32[4] i32[4]={1,2,3,4}", "i32[4]", NULL },
    { "", "f32[2] f32[2]", NULL, "integer" },
    { 0 }
};
static const OpCase where_cases[] = {
    { "", "bool[2][1]={1,0} f32[2][3] f32[3]", "f32[2][3]", NULL },
    { "", "f32[2] f32[2] f32[2]", NULL, "bool" },
    { 0 }
};

#define ROW(op_name, text, its_level, case_rows) \
    .name = op_name, .summary = text, .level = its_level, .least_inputs = 2, .most_inputs = 2, .inputs = "a b", \
    .fusion.pattern = PATTERN_BROADCAST, .layout.permute = permute_elementwise, .cases = case_rows
#define BINARY(op_name, text, its_level, case_rows) \
    { ROW(op_name, text, its_level, case_rows), .meaning.formula = text }

const Op ops_broadcast[] = {
    { ROW("add", "y[*] = a[*] + b[*]", 1, number_cases), .meaning.formula = "y[*] = a[*] + b[*]",
      .fold.affine = AFFINE_SHIFT },
    { ROW("mul", "y[*] = a[*] * b[*]", 1, number_cases), .meaning.formula = "y[*] = a[*] * b[*]",
      .fold.affine = AFFINE_SCALE, .quantization.is_bilinear = true },
    { ROW("sub", "y[*] = a[*] - b[*]", 1, number_cases), .meaning.formula = "y[*] = a[*] - b[*]",
      .quantization.is_difference = true },
    { ROW("div",       "y[*] = a[*] / b[*], integers truncated", 1, number_cases), .meaning.compute = div_,
      .quantization.is_quotient = true },
    { ROW("floor_div", "y[*] = floor(a[*] / b[*])", 1, number_cases), .meaning.compute = floor_div },
    { ROW("mod",       "y[*] = a[*] % b[*], with the sign of the divisor", 1, number_cases), .meaning.compute = mod },
    { ROW("fmod",      "y[*] = fmod(a[*], b[*]), with the sign of the dividend", 1, number_cases),
      .meaning.compute = fmod_ },
    { ROW("pow",       "y[*] = pow(a[*], b[*])", 4, number_cases), .meaning.compute = pow_ },
    BINARY("atan2",         "y[*] = atan2(a[*], b[*])", 4, angle_cases),
    BINARY("min",           "y[*] = min(a[*], b[*])", 4, number_cases),
    BINARY("max",           "y[*] = max(a[*], b[*])", 4, number_cases),
    BINARY("equal",         "y[*] = a[*] == b[*]", 4, compare_cases),
    BINARY("not_equal",     "y[*] = a[*] != b[*]", 4, compare_cases),
    BINARY("less",          "y[*] = a[*] < b[*]", 4, compare_cases),
    BINARY("less_equal",    "y[*] = a[*] <= b[*]", 4, compare_cases),
    BINARY("greater",       "y[*] = a[*] > b[*]", 4, compare_cases),
    BINARY("greater_equal", "y[*] = a[*] >= b[*]", 4, compare_cases),
    BINARY("and",           "y[*] = a[*] && b[*]", 4, bool_cases),
    BINARY("or",            "y[*] = a[*] || b[*]", 4, bool_cases),
    BINARY("xor",           "y[*] = (a[*] || b[*]) && !(a[*] && b[*])", 4, bool_cases),
    BINARY("bitand",        "y[*] = a[*] & b[*]", 4, bits_cases),
    BINARY("bitor",         "y[*] = a[*] | b[*]", 4, bits_cases),
    BINARY("bitxor",        "y[*] = a[*] ^ b[*]", 4, bits_cases),
    BINARY("shl",           "y[*] = a[*] << b[*]", 4, bits_cases),
    BINARY("shr",           "y[*] = a[*] >> b[*]", 4, bits_cases),
    { .name = "prelu", .summary = "y[*] = select(x[*] < 0, slope[*] * x[*], x[*])", .level = 3, .least_inputs = 2,
      .most_inputs = 2, .inputs = "x slope", .meaning.formula = "y[*] = select(x[*] < 0, slope[*] * x[*], x[*])",
      .fusion.pattern = PATTERN_BROADCAST, .layout.permute = permute_elementwise,
      .cases = (const OpCase[]){ { "", "f32[1][2][3][4] f32[4]", "f32[1][2][3][4]", NULL }, { 0 } } },
    { .name = "where", .summary = "y[*] = select(condition[*], a[*], b[*])", .level = 4, .least_inputs = 3,
      .most_inputs = 3, .inputs = "condition a b", .meaning.formula = "y[*] = select(condition[*], a[*], b[*])",
      .fusion.pattern = PATTERN_BROADCAST, .layout.permute = permute_elementwise, .cases = where_cases },
    { 0 }
};
