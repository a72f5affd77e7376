/* SPDX-License-Identifier: MIT */
/* Sums of many operands, angles, bits, signs, clipping, changes of type, and constants from a shape or from bounds. */
#include "case.h"

#include <math.h>

/* ---- Cases ------------------------------------------------------------------------------------------------------- */

/* Fills in any values of the type; 64-bit integers are multiples of 2^32, so that doubles hold them. */
static void fill_bits(Random *r, Operand *x)
{
    const bool has_sign = x->type == TYPE_I8 || x->type == TYPE_I16 || x->type == TYPE_I32 || x->type == TYPE_I64;
    const int bytes = element_bytes(x->type);
    if (x->type == TYPE_F32) fill_real(r, x, -50, 50);
    else if (x->type == TYPE_BOOL) fill_any(r, x);
    else
        for (int i = 0, n = elements(x); i < n; i++) {
            const double unit = bytes == 8 ? 4294967296.0 : 1;
            const int64_t size = (int64_t)1 << (bytes < 4 ? 8 * bytes : 32),
                          v = (between(r, 0, 65535) * (int64_t)65536 + between(r, 0, 65535)) % size;
            x->v[i] = unit * (double)(has_sign ? v - size / 2 : v / (bytes == 8 ? 2 : 1));
        }
}

/* Adds an input of the type and an output like it. int8 has a scale. */
static Operand *make_one(Case *c, Random *r, ElementType t, int least_rank)
{
    int dim[MOST_DIMS], rank = shape_any(r, least_rank, 4, 5, dim);
    Operand *x = add_input(c, t, rank, dim);
    fill_bits(r, x);
    if (t == TYPE_I8) quant_any(r, x);
    add_like(c, x, rank, dim);
    return x;
}

static const ElementType any_types[] = { TYPE_F32, TYPE_I8, TYPE_I32, TYPE_I64, TYPE_BOOL, TYPE_U8, TYPE_I16 };
enum { ANY_TYPES = sizeof any_types / sizeof any_types[0] };

/* ---- Sums of many ------------------------------------------------------------------------------------------------ */

static void make_add_n(Case *c, Random *r, int number)
{
    static const ElementType types[] = { TYPE_I8, TYPE_F32, TYPE_I8, TYPE_I32, TYPE_I8, TYPE_I64 };
    const ElementType t = types[number % 6];
    Operand *x = make_one(c, r, t, 1);
    const int rest = between(r, 1, 5);
    if (t == TYPE_I8) quant_any(r, &c->out[0]);
    if (t == TYPE_I32 || t == TYPE_I64) fill_any(r, x);
    for (int i = 0; i < rest; i++) {
        Operand *y = add_input(c, t, x->rank, x->dim);
        copy_quant(y, x);
        if (t == TYPE_F32) fill_real(r, y, -50, 50);
        else fill_any(r, y);
    }
}

/* int8 is added in units of twice the scale with 20 more bits; the sum starts with a stored 0. */
static void add_n_reference(Case *c)
{
    Operand *y = &c->out[0];
    const bool is_int8 = y->type == TYPE_I8;
    const int zero = c->in[0].zero;
    const double unit = is_int8 ? 2 * (double)c->in[0].scale[0] : 0;
    for (int e = 0; e < elements(y); e++) {
        double sum = is_int8 ? scaled(-zero * (1 << 20), reference_scaling(0.5)) : 0;
        for (int i = 0; i < c->in_count; i++) {
            const double v = c->in[i].v[e];
            if (is_int8) sum += scaled(((int32_t)v - zero) * (1 << 20), reference_scaling(0.5));
            else sum = y->type == TYPE_F32 ? (double)((float)sum + (float)v) : sum + v;
        }
        y->v[e] = sum;
        if (is_int8)
            y->v[e] = stored((int64_t)scaled((int32_t)sum, reference_scaling(unit / ((1 << 20) * (double)y->scale[0])))
                             + y->zero);
    }
}

/* ---- Of two ------------------------------------------------------------------------------------------------------ */

/* The reference accepts one shape. One element in ten is a zero of either sign. */
static void make_atan2(Case *c, Random *r, int number)
{
    (void)number;
    Operand *x = make_one(c, r, TYPE_F32, 1);
    fill_real(r, add_input(c, TYPE_F32, x->rank, x->dim), -50, 50);
    for (int i = 0; i < 2; i++)
        for (int e = 0; e < elements(x); e++)
            if (chance(r, 10)) c->in[i].v[e] = chance(r, 50) ? 0.0 : -0.0;
}
static double atan2_of(const Case *c, double a, double b) { (void)c; return (double)(float)atan2(a, b); }
static void atan2_reference(Case *c) { each_of_two(c, atan2_of); }

static void make_bits(Case *c, Random *r, int number)
{
    static const ElementType types[] = { TYPE_I8, TYPE_U8, TYPE_I16, TYPE_I32, TYPE_U32 };
    make_two(c, r, types[number % 5], types[number % 5]);
    c->in[0].scales = c->in[1].scales = c->out[0].scales = 0;
    c->in[0].zero = c->in[1].zero = c->out[0].zero = 0;
    fill_bits(r, &c->in[0]);
    fill_bits(r, &c->in[1]);
}
static double xor_of(const Case *c, double a, double b) { (void)c; return (double)((int64_t)a ^ (int64_t)b); }
static void xor_reference(Case *c) { each_of_two(c, xor_of); }

/* One shift in five may be negative or too large: the reference limits it. */
static void make_shift(Case *c, Random *r, int number)
{
    make_bits(c, r, number);
    for (int i = 0; i < elements(&c->in[1]); i++)
        if (chance(r, 80)) c->in[1].v[i] = between(r, 0, 8 * element_bytes(c->in[1].type) - 1);
}
static double shift_of(const Case *c, double a, double b)
{
    return (double)floor_divide((int64_t)a, (int64_t)1 << limit((int64_t)b, 0, 8 * element_bytes(c->in[0].type) - 1));
}
static void shift_reference(Case *c) { each_of_two(c, shift_of); }

/* ---- Of one ------------------------------------------------------------------------------------------------------ */

typedef double OfOne(const Case *c, double v);
static void each_of_one(Case *c, OfOne *of)
{
    for (int i = 0; i < elements(&c->out[0]); i++) c->out[0].v[i] = of(c, c->in[0].v[i]);
}

static void make_sign(Case *c, Random *r, int number)
{
    static const ElementType types[] = { TYPE_F32, TYPE_I32, TYPE_I64 };
    Operand *x = make_one(c, r, types[number % 3], 1);
    for (int i = 0; i < elements(x); i++)
        if (chance(r, 20)) x->v[i] = 0;
}
static double sign_of(const Case *c, double v) { (void)c; return v > 0 ? 1 : v < 0 ? -1 : 0; }
static void sign_reference(Case *c) { each_of_one(c, sign_of); }

static void make_unit(Case *c, Random *r, int number)
{
    Operand *x = make_one(c, r, number % 3 ? TYPE_I8 : TYPE_F32, 1);
    if (number % 3) quant_any(r, &c->out[0]);
    else fill_real(r, x, -2, 2);
}
static double unit_of(const Case *c, double v)
{
    const Operand *x = &c->in[0], *y = &c->out[0];
    if (x->type == TYPE_F32) return v < 0 ? 0 : v > 1 ? 1 : v;
    const int64_t top = limit(y->zero + (int64_t)roundf(1 / y->scale[0]), -128, 127);
    const int32_t q = scaled((int32_t)v - x->zero, reference_scaling((double)(x->scale[0] / y->scale[0])));
    return (double)limit((int64_t)q + y->zero, y->zero, top);
}
static void unit_reference(Case *c) { each_of_one(c, unit_of); }

static void make_fake(Case *c, Random *r, int number)
{
    fill_real(r, make_one(c, r, TYPE_F32, 1), -12, 12);
    c->field[0] = (double)(scale_between(r, 0.1, 10) * (float)between(r, -4, 1) / 4);
    c->field[1] = (double)((float)c->field[0] + scale_between(r, 0.1, 20));
    c->field[2] = between(r, 2, 16);
    c->field[3] = number % 2;
}

/* Rounds to the grid between the bounds, which are moved so that 0 is on the grid. */
static double fake_of(const Case *c, double v)
{
    const float low = (float)c->field[0], high = (float)c->field[1], least = c->field[3] != 0 ? 1.0f : 0.0f,
                most = (float)((1 << (int)c->field[2]) - 1), step = (high - low) / (most - least),
                from_low = least - low / step,
                zero = from_low < least ? least : from_low > most ? most : roundf(from_low),
                bottom = (least - zero) * step, top = (most - zero) * step, per_step = 1 / step,
                inside = (float)v < bottom ? bottom : (float)v > top ? top : (float)v,
                number = roundf((inside - bottom) * per_step), above = number * step;
    return (double)(above + bottom);
}
static void fake_reference(Case *c) { each_of_one(c, fake_of); }

static void make_zeros(Case *c, Random *r, int number) { make_one(c, r, any_types[number % ANY_TYPES], 1); }
static double zero_of(const Case *c, double v) { (void)c; (void)v; return 0; }
static void zeros_reference(Case *c) { each_of_one(c, zero_of); }

/* ---- The same bytes ---------------------------------------------------------------------------------------------- */

static void make_bitcast(Case *c, Random *r, int number)
{
    static const ElementType pairs[][2] = {
        { TYPE_F32, TYPE_I32 }, { TYPE_F32, TYPE_U32 }, { TYPE_I32, TYPE_U32 }, { TYPE_U32, TYPE_I32 },
        { TYPE_I64, TYPE_U64 }, { TYPE_U64, TYPE_I64 }, { TYPE_I8, TYPE_U8 }, { TYPE_U8, TYPE_I8 },
        { TYPE_BOOL, TYPE_U8 }, { TYPE_BOOL, TYPE_I8 }, { TYPE_I16, TYPE_I16 }, { TYPE_I32, TYPE_F32 },
        { TYPE_U32, TYPE_F32 }
    };
    const ElementType *t = pairs[number % (int)(sizeof pairs / sizeof pairs[0])];
    int dim[MOST_DIMS], rank = shape_any(r, 1, 4, 5, dim);
    Operand *x = add_input(c, t[0], rank, dim);
    fill_bits(r, x);
    for (int i = 0; i < elements(x) && t[1] == TYPE_F32; i++)      /* floats between 2^-126 and 2 */
        x->v[i] = between(r, 1 << 23, (1 << 30) - 1);
    add_output(c, t[1], rank, dim);
}
static void bitcast_reference(Case *c)
{
    static uint8_t bytes[8 * MOST_VALUES];
    values_write(&c->in[0], bytes);
    values_read(c, &c->out[0], bytes);
}

/* ---- Constants --------------------------------------------------------------------------------------------------- */

static void make_rank(Case *c, Random *r, int number)
{
    make_one(c, r, any_types[number % ANY_TYPES], 0);
    c->out_count = 0;
    add_output(c, TYPE_I32, 0, NULL);
}
static void rank_reference(Case *c) { c->out[0].v[0] = c->in[0].rank; }

/* Returns the count of values before the limit, computed in their type. */
static int range_count(const Case *c)
{
    const double first = c->in[0].v[0], end = c->in[1].v[0], step = c->in[2].v[0];
    return (int)(c->in[0].type == TYPE_F32 ? (double)ceilf(((float)end - (float)first) / (float)step)
                                           : ceil((end - first) / step));
}

/* The distance to the limit is often a multiple of the step, so that the rounding of floats decides the count. */
static void make_range(Case *c, Random *r, int number)
{
    static const ElementType types[] = { TYPE_F32, TYPE_I32, TYPE_I64 };
    const ElementType t = types[number % 3];
    const double unit = t == TYPE_F32 ? (double)scale_between(r, 0.05, 2) : 1;
    const int step = between(r, 1, 7) * (chance(r, 50) ? 1 : -1), first = between(r, -40, 40),
              end = first + step * between(r, 1, 20) - (t != TYPE_F32 && step > 1);
    const double v[] = { first * unit, end * unit, step * unit };
    for (int i = 0; i < 3; i++) {
        Operand *x = add_input(c, t, 0, NULL);
        x->v[0] = t == TYPE_F32 ? (double)(float)v[i] : v[i];
        x->is_constant = true;
    }
    if (t == TYPE_F32 && chance(r, 50)) c->in[1].v[0] = (double)(float)(v[1] + v[2] / 3);
    add_output(c, t, 1, (const int[]){ range_count(c) });
}
static void range_reference(Case *c)
{
    Operand *y = &c->out[0];
    double v = c->in[0].v[0];
    for (int i = 0; i < elements(y); i++) {
        y->v[i] = v;
        v = y->type == TYPE_F32 ? (double)((float)v + (float)c->in[2].v[0]) : v + c->in[2].v[0];
    }
}

const Operator plain_operators[] = {
    { "add_n", 106, 1, 82, "", make_add_n, add_n_reference, 0 },
    { "atan2", 156, 1, 0, "", make_atan2, atan2_reference, 1 },
    { "bitwise_xor", 160, 1, 0, "", make_bits, xor_reference, 0 },
    { "right_shift", 161, 1, 0, "", make_shift, shift_reference, 0 },
    { "sign", 158, 2, 0, "", make_sign, sign_reference, 0 },
    { "relu_0_to_1", 152, 1, 0, "", make_unit, unit_reference, 0 },
    { "fake_quant", 80, 1, 58, "ffib", make_fake, fake_reference, 0 },
    { "zeros_like", 93, 1, 67, "", make_zeros, zeros_reference, 0 },
    { "bitcast", 159, 1, 124, "", make_bitcast, bitcast_reference, 0 },
    { "rank", 110, 1, 86, "", make_rank, rank_reference, 0 },
    { "range", 96, 1, 73, "", make_range, range_reference, 0 },
    { NULL, 0, 0, 0, "", NULL, NULL, 0 },
};
