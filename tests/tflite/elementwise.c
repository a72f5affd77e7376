/* SPDX-License-Identifier: MIT */
/* Elementwise operators on operands that may broadcast: arithmetic, comparisons, logic, choices, and changes of type.
 * Every reference is a function of the operands' elements at one index. */
#include "case.h"

#include <math.h>

/* ---- Cases ------------------------------------------------------------------------------------------------------- */

/* Two shapes that broadcast, and the result's rank and shape. */
static int shapes_of_two(Random *r, int *a_rank, int *a, int *b_rank, int *b, int *y)
{
    int rank = shape_any(r, 1, 4, 5, y), kind = between(r, 0, 3);
    *a_rank = *b_rank = rank;
    for (int d = 0; d < rank; d++) {
        a[d] = kind == 2 && chance(r, 40) ? 1 : y[d];
        b[d] = kind == 3 && chance(r, 40) ? 1 : y[d];
    }
    if (kind == 1) *b_rank = 1, b[0] = 1;
    return rank;
}

void make_two(Case *c, Random *r, ElementType in, ElementType out)
{
    int a_rank, b_rank, a[MOST_DIMS], b[MOST_DIMS], y[MOST_DIMS], rank = shapes_of_two(r, &a_rank, a, &b_rank, b, y);
    fill_any(r, add_input(c, in, a_rank, a));
    fill_any(r, add_input(c, in, b_rank, b));
    add_output(c, out, rank, y);
    if (in != TYPE_I8) return;
    quant_any(r, &c->in[0]);
    quant_any(r, &c->in[1]);
    if (out == TYPE_I8) quant_any(r, &c->out[0]);
}

/* int8 mostly; floats and integers without activation or with relu. */
static void make_arithmetic(Case *c, Random *r, int number)
{
    static const ElementType types[] = { TYPE_I8, TYPE_I8, TYPE_I8, TYPE_F32, TYPE_I8, TYPE_I8, TYPE_I32, TYPE_F32 };
    ElementType t = types[number % 8];
    make_two(c, r, t, t);
    c->field[0] = t == TYPE_I32 ? 0 : between(r, 0, 3);
}

static void make_same_scale(Case *c, Random *r, int number)
{
    make_arithmetic(c, r, number);
    copy_quant(&c->in[1], &c->in[0]);
    copy_quant(&c->out[0], &c->in[0]);
}

static void make_arithmetic16(Case *c, Random *r, int number)
{
    make_arithmetic(c, r, number % 3);
    make_sixteen(c, r);
}

static void make_same_scale16(Case *c, Random *r, int number)
{
    make_same_scale(c, r, number % 3);
    make_sixteen(c, r);
}

static void make_comparison(Case *c, Random *r, int number)
{
    static const ElementType types[] = { TYPE_I8, TYPE_I8, TYPE_F32, TYPE_I32, TYPE_I8, TYPE_I64 };
    make_two(c, r, types[number % 6], TYPE_BOOL);
    if (number % 3 == 0 && c->in[0].scales) copy_quant(&c->in[1], &c->in[0]);      /* so that some are equal */
}

static void make_logic(Case *c, Random *r, int number)
{
    (void)number;
    make_two(c, r, TYPE_BOOL, TYPE_BOOL);
}

/* ---- Walking ----------------------------------------------------------------------------------------------------- */

void each_of_two(Case *c, OfTwo *of)
{
    Operand *y = &c->out[0];
    int index[MOST_DIMS] = { 0 }, i = 0;
    do
        y->v[i++] = of(c, c->in[0].v[broadcast_place(&c->in[0], y->rank, index)],
                       c->in[1].v[broadcast_place(&c->in[1], y->rank, index)]);
    while (next_index(y->rank, y->dim, index));
}

static double real_result(const Case *c, double v)
{
    return c->out[0].type == TYPE_F32 ? (double)activate((float)v, (int)c->field[0]) : v;
}

static double quantized_result(const Case *c, int64_t v)
{
    int least, greatest;
    activation_range(&c->out[0], (int)c->field[0], &least, &greatest);
    int64_t raised = v < least ? least : v;
    return (double)(raised > greatest ? greatest : raised);
}

/* ---- Arithmetic -------------------------------------------------------------------------------------------------- */

/* An operand in units of twice the larger scale, with more bits. */
static int32_t in_common_unit(const Case *c, int i, double q, int more_bits, double *unit)
{
    float a = c->in[0].scale[0], b = c->in[1].scale[0];
    *unit = 2.0 * (double)(a > b ? a : b);
    int32_t shifted = wrap(((int64_t)q - c->in[i].zero) * ((int64_t)1 << more_bits));
    return scaled(shifted, reference_scaling((double)c->in[i].scale[0] / *unit));
}

static double sum_of(const Case *c, double a, double b, int sign)
{
    if (!is_stored(&c->in[0])) return real_result(c, a + sign * b);
    double unit;
    const int more = c->in[0].type == TYPE_I16 ? 15 : 20;
    int32_t x = in_common_unit(c, 0, a, more, &unit), y = in_common_unit(c, 1, b, more, &unit);
    Scaling back = reference_scaling(unit / ((double)(1 << more) * (double)c->out[0].scale[0]));
    return quantized_result(c, (int64_t)scaled(wrap((int64_t)x + sign * (int64_t)y), back) + c->out[0].zero);
}
static double add_of(const Case *c, double a, double b) { return sum_of(c, a, b, 1); }
static double sub_of(const Case *c, double a, double b) { return sum_of(c, a, b, -1); }

static double mul_of(const Case *c, double a, double b)
{
    if (!is_stored(&c->in[0])) return real_result(c, a * b);
    Scaling s = reference_scaling((double)c->in[0].scale[0] * (double)c->in[1].scale[0] / (double)c->out[0].scale[0]);
    return quantized_result(c, (int64_t)scaled(((int32_t)a - c->in[0].zero) * ((int32_t)b - c->in[1].zero), s)
                                   + c->out[0].zero);
}

static double squared_difference_of(const Case *c, double a, double b)
{
    if (c->in[0].type != TYPE_I8)
        return c->in[0].type == TYPE_F32 ? (double)((float)(a - b) * (float)(a - b)) : (a - b) * (a - b);
    double unit;
    int64_t d = (int64_t)in_common_unit(c, 0, a, 7, &unit) - in_common_unit(c, 1, b, 7, &unit);
    float fine = (float)(1 << 14) * c->out[0].scale[0];
    return stored((int64_t)scaled(wrap(d * d), reference_scaling(unit * unit / (double)fine)) + c->out[0].zero);
}

static double larger_of(const Case *c, double a, double b) { (void)c; return a > b ? a : b; }
static double smaller_of(const Case *c, double a, double b) { (void)c; return a < b ? a : b; }

static void add_reference(Case *c) { each_of_two(c, add_of); }
static void sub_reference(Case *c) { each_of_two(c, sub_of); }
static void mul_reference(Case *c) { each_of_two(c, mul_of); }
static void squared_difference_reference(Case *c) { each_of_two(c, squared_difference_of); }
static void maximum_reference(Case *c) { each_of_two(c, larger_of); }
static void minimum_reference(Case *c) { each_of_two(c, smaller_of); }

/* ---- Quotients --------------------------------------------------------------------------------------------------- */

/* a times the inverse of b in Q.31, shifted up first as far as a's sign allows; `by` is the shift back. */
static int32_t rough_quotient(int32_t a, int32_t b, int exponent, int *by)
{
    int bits, headroom = a ? leading_zeros((uint32_t)(a < 0 ? -a - 1 : a)) - 1 : 31;
    int32_t inverse = reciprocal(b < 0 ? -b : b, 31, &bits), left = b < 0 ? -a : a;
    if (b < 0) headroom = left ? leading_zeros((uint32_t)(left < 0 ? -left - 1 : left)) - 1 : 31;
    *by = exponent - bits - headroom;
    return scaled(left, (Scaling){ inverse, headroom });
}

static Scaling div_scaling(const Case *c)
{
    return reference_scaling((double)(c->in[0].scale[0] / (c->in[1].scale[0] * c->out[0].scale[0])));
}

/* The reference's shift is none that C defines where the quotient is very large or small. */
static bool has_quotient(const Case *c, double a, double b)
{
    int by;
    if (b == c->in[1].zero) return false;
    rough_quotient((int32_t)a - c->in[0].zero, (int32_t)b - c->in[1].zero, div_scaling(c).exponent, &by);
    return by <= 0 && by >= -31;
}

static double div_of(const Case *c, double a, double b)
{
    int by;
    if (c->in[0].type == TYPE_F32) return real_result(c, a / b);
    if (c->in[0].type != TYPE_I8) return (double)((int64_t)a / (int64_t)b);
    Scaling s = div_scaling(c);
    int32_t q = rough_quotient((int32_t)a - c->in[0].zero, (int32_t)b - c->in[1].zero, s.exponent, &by);
    return quantized_result(c, (int64_t)scaled(q, (Scaling){ s.multiplier, by }) + c->out[0].zero);
}
static void div_reference(Case *c) { each_of_two(c, div_of); }

static double floor_div_of(const Case *c, double a, double b)
{
    return c->out[0].type == TYPE_F32 ? (double)floorf((float)a / (float)b) : floor(a / b);
}
static void floor_div_reference(Case *c) { each_of_two(c, floor_div_of); }

static void make_floor_div(Case *c, Random *r, int number)
{
    make_two(c, r, number % 2 ? TYPE_F32 : TYPE_I32, number % 2 ? TYPE_F32 : TYPE_I32);
    for (int i = 0; i < elements(&c->in[1]); i++) c->in[1].v[i] = c->in[1].v[i] == 0 ? -3 : c->in[1].v[i];
}

static void make_div(Case *c, Random *r, int number)
{
    int index[MOST_DIMS] = { 0 };
    make_arithmetic(c, r, number);
    Operand *a = &c->in[0], *b = &c->in[1], *y = &c->out[0];
    if (a->type != TYPE_I8) {
        for (int i = 0; i < elements(b); i++) b->v[i] = b->v[i] == 0 ? 1 : b->v[i];
        return;
    }
    for (int i = 0; i < elements(b); i++) b->v[i] = b->v[i] == b->zero ? (b->zero < 127 ? b->zero + 1 : 126) : b->v[i];
    do {      /* pairs that cannot be divided are replaced by the value itself or the farthest one */
        double *p = &a->v[broadcast_place(a, y->rank, index)], *q = &b->v[broadcast_place(b, y->rank, index)];
        for (int tries = 0; !has_quotient(c, *p, *q); tries++) {
            *p = between(r, -128, 127);
            if (tries > 50) quant_set(y, a->scale[0] / b->scale[0] / 16, y->zero);
            if (tries > 100) *q = b->zero < 0 ? 127 : -128;
        }
    } while (next_index(y->rank, y->dim, index));
    do      /* a later choice may have spoiled an earlier one */
        if (!has_quotient(c, a->v[broadcast_place(a, y->rank, index)], b->v[broadcast_place(b, y->rank, index)])) {
            for (int i = 0; i < elements(a); i++) a->v[i] = a->zero < 0 ? 127 : -128;
            for (int i = 0; i < elements(b); i++) b->v[i] = b->zero < 0 ? 127 : -128;
            quant_set(y, a->scale[0] / b->scale[0] / 16, y->zero);
        }
    while (next_index(y->rank, y->dim, index));
}

/* ---- Comparisons ------------------------------------------------------------------------------------------------- */

/* -1, 0 or 1: int8 as reals in fixed point, eight bits finer than the stored numbers. */
static int order_of(const Case *c, double a, double b)
{
    double value[2] = { a, b };
    for (int i = 0; i < 2 && c->in[0].type == TYPE_I8; i++)
        value[i] = scaled(((int32_t)value[i] - c->in[i].zero) * 256, reference_scaling((double)c->in[i].scale[0]));
    return value[0] < value[1] ? -1 : value[0] > value[1];
}
static double equal_of(const Case *c, double a, double b) { return order_of(c, a, b) == 0; }
static double not_equal_of(const Case *c, double a, double b) { return order_of(c, a, b) != 0; }
static double less_of(const Case *c, double a, double b) { return order_of(c, a, b) < 0; }
static double less_equal_of(const Case *c, double a, double b) { return order_of(c, a, b) <= 0; }
static double greater_of(const Case *c, double a, double b) { return order_of(c, a, b) > 0; }
static double greater_equal_of(const Case *c, double a, double b) { return order_of(c, a, b) >= 0; }
static double and_of(const Case *c, double a, double b) { (void)c; return a != 0 && b != 0; }
static double or_of(const Case *c, double a, double b) { (void)c; return a != 0 || b != 0; }

static void equal_reference(Case *c) { each_of_two(c, equal_of); }
static void not_equal_reference(Case *c) { each_of_two(c, not_equal_of); }
static void less_reference(Case *c) { each_of_two(c, less_of); }
static void less_equal_reference(Case *c) { each_of_two(c, less_equal_of); }
static void greater_reference(Case *c) { each_of_two(c, greater_of); }
static void greater_equal_reference(Case *c) { each_of_two(c, greater_equal_of); }
static void and_reference(Case *c) { each_of_two(c, and_of); }
static void or_reference(Case *c) { each_of_two(c, or_of); }

static void make_not(Case *c, Random *r, int number)
{
    int dim[MOST_DIMS], rank = shape_any(r, 1, 4, 6, dim);
    (void)number;
    fill_any(r, add_input(c, TYPE_BOOL, rank, dim));
    add_output(c, TYPE_BOOL, rank, dim);
}
static void not_reference(Case *c)
{
    for (int i = 0; i < elements(&c->out[0]); i++) c->out[0].v[i] = c->in[0].v[i] == 0;
}

/* ---- Choices ----------------------------------------------------------------------------------------------------- */

static void make_select(Case *c, Random *r, int number)
{
    int dim[MOST_DIMS], rank = shape_any(r, 1, 4, 5, dim);
    ElementType t = number % 3 == 2 ? TYPE_F32 : TYPE_I8;
    fill_any(r, add_input(c, TYPE_BOOL, rank, dim));
    fill_any(r, add_input(c, t, rank, dim));
    fill_any(r, add_input(c, t, rank, dim));
    if (t == TYPE_I8) quant_any(r, &c->in[1]);
    copy_quant(&c->in[2], &c->in[1]);
    add_like(c, &c->in[1], rank, dim);
}

static void make_select_spread(Case *c, Random *r, int number)
{
    int whole[MOST_DIMS], part[MOST_DIMS], rank = shape_any(r, 1, 4, 5, whole), spread = between(r, 0, 3);
    ElementType t = number % 3 == 2 ? TYPE_F32 : TYPE_I8;
    for (int d = 0; d < rank; d++) part[d] = chance(r, 40) ? 1 : whole[d];
    for (int i = 0; i < 3; i++) fill_any(r, add_input(c, i ? t : TYPE_BOOL, rank, i == spread ? part : whole));
    if (t == TYPE_I8) quant_any(r, &c->in[1]);
    copy_quant(&c->in[2], &c->in[1]);
    add_like(c, &c->in[1], rank, whole);
}

static void select_reference(Case *c)
{
    Operand *y = &c->out[0];
    int index[MOST_DIMS] = { 0 }, i = 0;
    do {
        const Operand *from = c->in[0].v[broadcast_place(&c->in[0], y->rank, index)] != 0 ? &c->in[1] : &c->in[2];
        y->v[i++] = from->v[broadcast_place(from, y->rank, index)];
    } while (next_index(y->rank, y->dim, index));
}

/* ---- Changes of type --------------------------------------------------------------------------------------------- */

static void make_cast(Case *c, Random *r, int number)
{
    static const ElementType from[] = { TYPE_I8, TYPE_F32, TYPE_I32, TYPE_BOOL }, to[] = {
        TYPE_F32, TYPE_I32, TYPE_I8
    };
    int dim[MOST_DIMS], rank = shape_any(r, 1, 4, 5, dim);
    fill_any(r, add_input(c, from[number % 4], rank, dim));
    add_output(c, to[number / 4 % 3], rank, dim);
    c->field[0] = c->in[0].type;
    c->field[1] = c->out[0].type;
}
static void cast_reference(Case *c)
{
    for (int i = 0; i < elements(&c->out[0]); i++)
        c->out[0].v[i] = c->out[0].type == TYPE_F32 ? c->in[0].v[i] : trunc(c->in[0].v[i]);
}

static void make_quantize(Case *c, Random *r, int number)
{
    int dim[MOST_DIMS], rank = shape_any(r, 1, 4, 6, dim);
    Operand *x = add_input(c, number % 2 ? TYPE_F32 : number % 4 ? TYPE_U8 : TYPE_I8, rank, dim);
    if (number % 2) fill_real(r, x, -12, 12);
    else fill_any(r, x), quant_any(r, x);
    quant_any(r, add_output(c, number % 3 ? TYPE_I8 : TYPE_U8, rank, dim));
}
static void quantize_reference(Case *c)
{
    const Operand *x = &c->in[0];
    Operand *y = &c->out[0];
    for (int i = 0; i < elements(y); i++) {
        int64_t q = x->type == TYPE_F32 ? (int64_t)roundf((float)x->v[i] / y->scale[0])
                                        : (int64_t)scaled((int32_t)x->v[i] - x->zero,
                                                          reference_scaling((double)x->scale[0] / (double)y->scale[0]));
        q += y->zero;
        y->v[i] = stored_as(y, q);
    }
}

/* Between 8, 16 and 32 bits, and from floats. */
static void make_quantize16(Case *c, Random *r, int number)
{
    static const ElementType types[][2] = { { TYPE_I16, TYPE_I16 }, { TYPE_I16, TYPE_I8 }, { TYPE_I8, TYPE_I16 },
                                            { TYPE_I16, TYPE_I32 }, { TYPE_I32, TYPE_I16 }, { TYPE_F32, TYPE_I16 } };
    int dim[MOST_DIMS], rank = shape_any(r, 1, 4, 6, dim);
    for (int i = 0; i < 2; i++) {
        ElementType t = types[number % 6][i];
        Operand *x = i ? add_output(c, t, rank, dim) : add_input(c, t, rank, dim);
        fill_any(r, x);
        if (t != TYPE_F32) quant_any(r, x);
        if (t != TYPE_I8) x->zero = 0;
        for (int k = 0; k < elements(x) && t == TYPE_I16; k++) x->v[k] = between(r, -32768, 32767);
    }
}

static void make_dequantize(Case *c, Random *r, int number)
{
    int dim[MOST_DIMS], rank = shape_any(r, 1, 4, 6, dim);
    Operand *x = add_input(c, number % 3 ? TYPE_I8 : TYPE_U8, rank, dim);
    fill_any(r, x);
    quant_any(r, x);
    add_output(c, TYPE_F32, rank, dim);
}
static void make_dequantize16(Case *c, Random *r, int number)
{
    (void)number;
    make_dequantize(c, r, 1);
    make_sixteen(c, r);
}
static void dequantize_reference(Case *c)
{
    const Operand *x = &c->in[0];
    for (int i = 0; i < elements(x); i++) c->out[0].v[i] = (double)(float)((double)x->scale[0] * (x->v[i] - x->zero));
}

/* ---- With slopes ------------------------------------------------------------------------------------------------- */

static void make_prelu(Case *c, Random *r, int number)
{
    int dim[4], slope[4] = { 1, 1, 1, 0 };
    ElementType t = number % 4 == 3 ? TYPE_F32 : TYPE_I8;
    shape_any(r, 4, 4, 4, dim);
    slope[3] = dim[3];
    fill_any(r, add_input(c, t, 4, dim));
    fill_any(r, add_input(c, t, 4, slope));
    c->in[1].is_constant = number % 2;
    add_output(c, t, 4, dim);
    if (t != TYPE_I8) return;
    quant_any(r, &c->in[0]);
    quant_any(r, &c->in[1]);
    quant_any(r, &c->out[0]);
}

static double prelu_of(const Case *c, double a, double b)
{
    if (c->in[0].type != TYPE_I8) return a >= 0 ? a : a * b;
    int32_t x = (int32_t)a - c->in[0].zero, slope = (int32_t)b - c->in[1].zero;
    double in = (double)c->in[0].scale[0], out = (double)c->out[0].scale[0];
    int32_t y = x >= 0 ? scaled(x, reference_scaling(in / out))
                       : scaled(x * slope, reference_scaling(in * (double)c->in[1].scale[0] / out));
    return stored((int64_t)y + c->out[0].zero);
}
static void prelu_reference(Case *c) { each_of_two(c, prelu_of); }

const Operator elementwise_operators[] = {
    { "add", 0, 2, 11, "b", make_arithmetic, add_reference, 0 },
    { "sub", 41, 2, 28, "b", make_arithmetic, sub_reference, 0 },
    { "mul", 18, 2, 21, "b", make_arithmetic, mul_reference, 0 },
    { "div", 42, 2, 29, "b", make_div, div_reference, 0 },
    { "floor_div", 90, 1, 0, "", make_floor_div, floor_div_reference, 0 },
    { "squared_difference", 99, 2, 76, "", make_arithmetic, squared_difference_reference, 0 },
    { "maximum", 55, 2, 39, "", make_same_scale, maximum_reference, 0 },
    { "minimum", 57, 2, 39, "", make_same_scale, minimum_reference, 0 },
    { "equal", 71, 2, 53, "", make_comparison, equal_reference, 0 },
    { "not_equal", 72, 2, 54, "", make_comparison, not_equal_reference, 0 },
    { "less", 58, 2, 41, "", make_comparison, less_reference, 0 },
    { "less_equal", 63, 2, 46, "", make_comparison, less_equal_reference, 0 },
    { "greater", 61, 2, 44, "", make_comparison, greater_reference, 0 },
    { "greater_equal", 62, 2, 45, "", make_comparison, greater_equal_reference, 0 },
    { "logical_and", 86, 1, 62, "", make_logic, and_reference, 0 },
    { "logical_or", 84, 1, 60, "", make_logic, or_reference, 0 },
    { "logical_not", 87, 1, 63, "", make_not, not_reference, 0 },
    { "select", 64, 1, 47, "", make_select, select_reference, 0 },
    { "select_v2", 123, 1, 98, "", make_select_spread, select_reference, 0 },
    { "cast", 53, 1, 37, "bb", make_cast, cast_reference, 0 },
    { "quantize", 114, 1, 89, "", make_quantize, quantize_reference, 0 },
    { "dequantize", 6, 2, 38, "", make_dequantize, dequantize_reference, 0 },
    { "add_int16", 0, 2, 11, "b", make_arithmetic16, add_reference, 0 },
    { "sub_int16", 41, 2, 28, "b", make_arithmetic16, sub_reference, 0 },
    { "mul_int16", 18, 2, 21, "b", make_arithmetic16, mul_reference, 0 },
    { "maximum_int16", 55, 2, 39, "", make_same_scale16, maximum_reference, 0 },
    { "minimum_int16", 57, 2, 39, "", make_same_scale16, minimum_reference, 0 },
    { "quantize_int16", 114, 1, 89, "", make_quantize16, quantize_reference, 0 },
    { "dequantize_int16", 6, 2, 38, "", make_dequantize16, dequantize_reference, 0 },
    { "prelu", 54, 1, 0, "", make_prelu, prelu_reference, 0 },
    { NULL, 0, 0, 0, "", NULL, NULL, 0 },
};
