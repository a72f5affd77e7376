/* SPDX-License-Identifier: 0BSD */
/* Functions of lw_math.h without coefficients, for one type: signs, choices without branches, minimum and maximum,
 * rounding, remainder. lw_math_float.h and lw_math_double.h each include this file and lw_math_functions.h, after they
 * define the words of their type:
 *
 *   LW_REAL          float           double
 *   LW_BITS          uint32_t        uint64_t
 *   LW_TO_BITS(x)    lw_f32_bits     lw_f64_bits
 *   LW_FROM_BITS(b)  lw_f32_from_bits, lw_f64_from_bits
 *   LW_FN(exp)       lw_expf         lw_exp
 *   LW_NUM(0.5)      0.5f            0.5
 *   LW_PICK(a, b)    a               b             neither has a comma or a parenthesis
 *
 * The Makefile replaces these words in the text that --standalone copies, so emitted C has no macros. */
#ifndef LW_REAL
#error "include lw_math.h"
#endif

/* ---- signs and special values ---- */

/* lw: LW_FN(inf) needs LW_FROM_BITS */
/*@ assigns \nothing; */
static inline LW_REAL LW_FN(inf)(void)
{
    return LW_FROM_BITS(LW_PICK(0x7f800000u, 0x7ff0000000000000u));
}
/* lw: end */

/* lw: LW_FN(nan) needs LW_FROM_BITS */
/*@ assigns \nothing; */
static inline LW_REAL LW_FN(nan)(void)
{
    return LW_FROM_BITS(LW_PICK(0x7fc00000u, 0x7ff8000000000000u));
}
/* lw: end */

/* lw: LW_FN(abs) needs lw_branches LW_TO_BITS LW_FROM_BITS */
/*@ assigns \nothing; */
static inline LW_REAL LW_FN(abs)(LW_REAL x)
{
    return LW_BRANCHES ? LW_PICK(fabsf, fabs)(x)
                       : LW_FROM_BITS(LW_TO_BITS(x) & LW_PICK(0x7fffffffu, 0x7fffffffffffffffu));
}
/* lw: end */

/* lw: LW_FN(copysign) needs LW_TO_BITS LW_FROM_BITS */
/*@ assigns \nothing; */
static inline LW_REAL LW_FN(copysign)(LW_REAL x, LW_REAL sign)
{
    const LW_BITS sign_bit = LW_PICK(0x80000000u, 0x8000000000000000u);
    return LW_FROM_BITS((LW_TO_BITS(x) & ~sign_bit) | (LW_TO_BITS(sign) & sign_bit));
}
/* lw: end */

/* lw: LW_FN(with_sign) needs lw_branches LW_TO_BITS LW_FN(copysign) */
/* Returns the magnitude with the sign of x. */
/*@ assigns \nothing; */
static inline LW_REAL LW_FN(with_sign)(LW_REAL magnitude, LW_REAL x)
{
    if (LW_BRANCHES)
        return LW_TO_BITS(x) >> LW_PICK(31, 63) ? -magnitude : magnitude;
    return LW_FN(copysign)(magnitude, x);
}
/* lw: end */

/* ---- choices ---- */

/* lw: LW_FN(select) needs lw_branches LW_TO_BITS LW_FROM_BITS */
/* Returns a if is_first is 1, b if it is 0. Hot functions use it instead of `?:`, because gcc does not vectorize a loop
 * in which `?:` could skip float arithmetic: the exception flags of that arithmetic are observable. */
/*@ assigns \nothing; */
static inline LW_REAL LW_FN(select)(uint32_t is_first, LW_REAL a, LW_REAL b)
{
    if (LW_BRANCHES)
        return is_first ? a : b;
    const LW_BITS mask = 0 - (LW_BITS)is_first;
    return LW_FROM_BITS((LW_TO_BITS(a) & mask) | (LW_TO_BITS(b) & ~mask));
}
/* lw: end */

/* lw: LW_FN(is_inside) needs lw_branches LW_FN(abs) LW_TO_BITS */
/* Returns 1 if |x| < limit, for a limit > 0; otherwise, and for NaN, 0. Bits of positive floats have the floats'
 * order. */
/*@ assigns \nothing; */
static inline uint32_t LW_FN(is_inside)(LW_REAL x, LW_REAL limit)
{
    return LW_BRANCHES ? LW_FN(abs)(x) < limit
                       : (LW_TO_BITS(x) & LW_PICK(0x7fffffffu, 0x7fffffffffffffffu)) < LW_TO_BITS(limit);
}
/* lw: end */

/* lw: LW_FN(clamp) needs lw_branches LW_TO_BITS LW_FROM_BITS LW_FN(select) */
/* Clamps x to +-limit; NaN is preserved. */
/*@ assigns \nothing; */
static inline LW_REAL LW_FN(clamp)(LW_REAL x, LW_REAL limit)
{
    if (LW_BRANCHES)
        return x > limit ? limit : x < -limit ? -limit : x;
    const LW_BITS sign = LW_TO_BITS(x) & LW_PICK(0x80000000u, 0x8000000000000000u);
    const LW_BITS magnitude = LW_TO_BITS(x) ^ sign;
    const LW_BITS most = LW_TO_BITS(limit);
    /* values beyond the limit have bits from most + 1 to those of infinity; NaNs are above */
    const uint32_t is_beyond = magnitude - (most + 1) < LW_PICK(0x7f800000u, 0x7ff0000000000000u) - most;
    return LW_FN(select)(is_beyond, LW_FROM_BITS(sign | most), x);
}
/* lw: end */

/* lw: LW_FN(min) needs */
/* Returns NaN if either is NaN, and the second of two zeros. */
/*@ assigns \nothing; */
static inline LW_REAL LW_FN(min)(LW_REAL a, LW_REAL b)
{
    return a < b || a != a ? a : b;
}
/* lw: end */

/* lw: LW_FN(max) needs */
/*@ assigns \nothing; */
static inline LW_REAL LW_FN(max)(LW_REAL a, LW_REAL b)
{
    return a > b || a != a ? a : b;
}
/* lw: end */

/* ---- square root ---- */

/* lw: LW_FN(sqrt) needs */
/* Returns the exactly rounded root. */
/*@ assigns \nothing; */
static inline LW_REAL LW_FN(sqrt)(LW_REAL x)
{
    return LW_PICK(sqrtf, sqrt)(x);
}
/* lw: end */

/* lw: LW_FN(rsqrt) needs LW_FN(sqrt) */
/* Error 1.55 ulp. */
/*@ assigns \nothing; */
static inline LW_REAL LW_FN(rsqrt)(LW_REAL x)
{
    return LW_NUM(1.0) / LW_FN(sqrt)(x);
}
/* lw: end */

/* ---- rounding to integers: exact, zeros keep their sign ---- */

/* lw: LW_FN(nearbyint) needs LW_FN(abs) LW_FN(copysign) LW_FN(select) LW_FN(is_inside) lw_no_contract */
/* Rounds ties to even. Every float of at least 2^23, and every double of at least 2^52, is an integer; below, the
 * addition leaves no fraction bits. */
/*@ assigns \nothing; */
static inline LW_REAL LW_FN(nearbyint)(LW_REAL x)
{
    const LW_REAL large = LW_PICK(8388608.0f, 4503599627370496.0); /* 2^23, 2^52 */
    const LW_REAL rounded = LW_FN(copysign)((LW_FN(abs)(x) + large) - large, x);
    return LW_FN(select)(LW_FN(is_inside)(x, large), rounded, x);
}
/* lw: end */

/* lw: LW_FN(floor) needs LW_FN(nearbyint) LW_FN(copysign) LW_FN(select) */
/*@ assigns \nothing; */
static inline LW_REAL LW_FN(floor)(LW_REAL x)
{
    const LW_REAL nearest = LW_FN(nearbyint)(x);
    const LW_REAL excess = LW_FN(select)(nearest > x, LW_NUM(1.0), LW_NUM(0.0));
    return LW_FN(copysign)(nearest - excess, x);
}
/* lw: end */

/* lw: LW_FN(ceil) needs LW_FN(nearbyint) LW_FN(copysign) LW_FN(select) */
/*@ assigns \nothing; */
static inline LW_REAL LW_FN(ceil)(LW_REAL x)
{
    const LW_REAL nearest = LW_FN(nearbyint)(x);
    const LW_REAL lack = LW_FN(select)(nearest < x, LW_NUM(1.0), LW_NUM(0.0));
    return LW_FN(copysign)(nearest + lack, x);
}
/* lw: end */

/* lw: LW_FN(trunc) needs LW_FN(abs) LW_FN(copysign) LW_FN(floor) */
/* Rounds towards zero. */
/*@ assigns \nothing; */
static inline LW_REAL LW_FN(trunc)(LW_REAL x)
{
    return LW_FN(copysign)(LW_FN(floor)(LW_FN(abs)(x)), x);
}
/* lw: end */

/* lw: LW_FN(round) needs LW_FN(abs) LW_FN(copysign) LW_FN(floor) LW_FN(select) */
/* Rounds ties away from zero. The difference between a number and its floor is exact. */
/*@ assigns \nothing; */
static inline LW_REAL LW_FN(round)(LW_REAL x)
{
    const LW_REAL magnitude = LW_FN(abs)(x);
    const LW_REAL below = LW_FN(floor)(magnitude);
    const LW_REAL lack = LW_FN(select)(magnitude - below >= LW_NUM(0.5), LW_NUM(1.0), LW_NUM(0.0));
    return LW_FN(copysign)(below + lack, x);
}
/* lw: end */

/* lw: LW_FN(fmod) needs LW_TO_BITS LW_FROM_BITS LW_FN(nan) */
/* Returns the exact remainder of x / y with the sign of x. Divides the mantissas in 32-bit steps for floats.
 * Takes 11-bit steps for doubles, because a 53-bit remainder leaves 11 bits in 64. */
/*@ assigns \nothing; */
static inline LW_REAL LW_FN(fmod)(LW_REAL x, LW_REAL y)
{
    const LW_BITS sign = LW_TO_BITS(x) & LW_PICK(0x80000000u, 0x8000000000000000u);
    const LW_BITS x_bits = LW_TO_BITS(x) ^ sign;
    const LW_BITS y_bits = LW_TO_BITS(y) & LW_PICK(0x7fffffffu, 0x7fffffffffffffffu);
    const LW_BITS infinity = LW_PICK(0x7f800000u, 0x7ff0000000000000u);
    if (x_bits >= infinity || y_bits > infinity || y_bits == 0)
        return LW_FN(nan)();
    if (x_bits < y_bits)
        return x;
    /* the magnitudes are mantissa * 2^(exponent - 150), or for doubles mantissa * 2^(exponent - 1075) */
    const LW_BITS hidden = LW_PICK(0x00800000u, 0x0010000000000000u);
    const LW_BITS x_exponent = x_bits < hidden ? 1 : x_bits >> LW_PICK(23, 52);
    LW_BITS y_exponent = y_bits < hidden ? 1 : y_bits >> LW_PICK(23, 52);
    const LW_BITS x_mantissa = x_bits < hidden ? x_bits : (x_bits & (hidden - 1)) | hidden;
    const LW_BITS y_mantissa = y_bits < hidden ? y_bits : (y_bits & (hidden - 1)) | hidden;
    LW_BITS rest = x_mantissa % y_mantissa;
    for (LW_BITS left = x_exponent - y_exponent; left != 0 && rest != 0;) {
        const LW_BITS step = left < LW_PICK(32, 11) ? left : LW_PICK(32, 11);
        rest = (LW_BITS)(((uint64_t)rest << step) % y_mantissa);
        left -= step;
    }
    while (rest < hidden && y_exponent > 1) {
        y_exponent = rest == 0 ? 1 : y_exponent - 1;
        rest <<= 1;
    }
    return LW_FROM_BITS(sign | (rest + ((y_exponent - 1) << LW_PICK(23, 52))));
}
/* lw: end */

/* lw: LW_FN(ldexp) needs LW_FROM_BITS lw_no_contract */
/* Returns value * 2^n, with n in two's complement. Multiplies by two factors, because the smallest and largest powers
 * are not normal numbers; only the second product rounds. */
/*@ assigns \nothing; */
static inline LW_REAL LW_FN(ldexp)(LW_REAL value, LW_BITS n)
{
    const LW_BITS exponent = n + LW_PICK(512u, 4096u), half = exponent >> 1, bias = LW_PICK(129u, 1025u);
    const LW_REAL scale = LW_FROM_BITS((half - bias) << LW_PICK(23, 52));
    const LW_REAL rest_of_scale = LW_FROM_BITS((exponent - half - bias) << LW_PICK(23, 52));
    return value * scale * rest_of_scale;
}
/* lw: end */
