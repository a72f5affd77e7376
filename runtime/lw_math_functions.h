/* SPDX-License-Identifier: 0BSD */
/* Functions of lw_math.h whose float and double forms differ only in coefficients. lw_math_basics.h explains the names
 * that depend on the type. lw_math_float.h and lw_math_double.h define the polynomials and reductions first, and
 * "Error" is in units in the last place, for float and for double. */

/* ---- exponentials ---- */

/* lw: LW_FN(exp) needs LW_FN(exp_scaled) */
/* Error 0.95 ulp. */
/*@ assigns \nothing; */
static inline LW_REAL LW_FN(exp)(LW_REAL x)
{
    return LW_FN(exp_scaled)(x, 0);
}
/* lw: end */

/* lw: LW_FN(exp2) needs LW_FN(clamp) LW_TO_BITS LW_FN(exp2_poly) LW_FN(ldexp) lw_no_contract */
/* Returns 2^x = 2^n 2^r, where n is the integer nearest to x. Error 1.15 ulp. */
/*@ assigns \nothing; */
static inline LW_REAL LW_FN(exp2)(LW_REAL x)
{
    const LW_REAL rounder = LW_PICK(12582912.0f, 6755399441055744.0); /* 1.5 * 2^23, 1.5 * 2^52 */
    const LW_REAL a = LW_FN(clamp)(x, LW_PICK(151.0f, 1080.0));
    const LW_REAL shifted = a + rounder;
    const LW_REAL r = a - (shifted - rounder);
    const LW_REAL value = LW_NUM(1.0) + r * LW_FN(exp2_poly)(r);
    return LW_FN(ldexp)(value, LW_TO_BITS(shifted) - LW_TO_BITS(rounder));
}
/* lw: end */

/* lw: LW_FN(expm1) needs LW_FN(clamp) LW_FN(select) LW_TO_BITS LW_FROM_BITS LW_FN(exp_poly) lw_no_contract */
/* Returns e^x - 1 = (2^n - 1) + 2^n (r + r^2 p(r)). Dekker's subtraction computes the rounding error of (2^n - 1) + 2^n
 * r, which is added last. Error 1.15, 1.20 ulp. */
/*@ assigns \nothing; */
static inline LW_REAL LW_FN(expm1)(LW_REAL x)
{
    const LW_REAL rounder = LW_PICK(12582912.0f, 6755399441055744.0); /* 1.5 * 2^23, 1.5 * 2^52 */
    const LW_REAL a = LW_FN(clamp)(x, LW_PICK(89.0f, 710.0));
    const LW_REAL shifted = a * LW_PICK(1.442695f, 1.4426950408889634) + rounder;
    const LW_REAL n = shifted - rounder;
    const LW_REAL high = a - n * LW_PICK(0.69314575f, 0.6931471805592082);
    const LW_REAL low = n * LW_PICK(1.4286068e-06f, 7.371002565167799e-13);
    const LW_REAL r = high - low;
    const LW_REAL tail = r * r * LW_FN(exp_poly)(r) - low;
    /* 2^128 is not a float, so it is computed as 2 * 2^127; 2^-128 becomes 0, which is accurate enough */
    const LW_BITS bias = LW_PICK(127u, 1023u), n_bits = LW_TO_BITS(shifted) - LW_TO_BITS(rounder);
    const uint32_t is_top = n_bits == bias + 1;
    const uint32_t is_bottom = n_bits == 0 - (bias + 1);
    const LW_REAL scale = LW_FROM_BITS((n_bits + bias - is_top + is_bottom) << LW_PICK(23, 52));
    const LW_REAL base = scale - LW_NUM(1.0);
    const LW_REAL sum = base + scale * high;
    const LW_REAL error = scale * high - (sum - base);
    const LW_REAL value = (sum + (error + scale * tail)) * LW_FN(select)(is_top, LW_NUM(2.0), LW_NUM(1.0));
    return LW_FN(select)(x == LW_NUM(0.0), x, value);
}
/* lw: end */

/* lw: LW_FN(tanh) needs LW_FN(abs) LW_FN(with_sign) LW_FN(select) LW_FN(is_inside) LW_FN(tanh_poly) LW_FN(exp) */
/* Returns x + x^3 p(x^2) below 0.55, then 1 - 2 / (e^2x + 1). Error 1.45, 1.50 ulp. */
/*@ assigns \nothing; */
static inline LW_REAL LW_FN(tanh)(LW_REAL x)
{
    const LW_REAL magnitude = LW_FN(abs)(x);
    const LW_REAL inner = magnitude + magnitude * LW_FN(tanh_poly)(x * x);
    if (LW_BRANCHES && LW_FN(is_inside)(x, LW_NUM(0.55)))
        return LW_FN(with_sign)(inner, x);
    const LW_REAL outer = LW_NUM(1.0) - LW_NUM(2.0) / (LW_FN(exp)(magnitude + magnitude) + LW_NUM(1.0));
    return LW_FN(with_sign)(LW_FN(select)(LW_FN(is_inside)(x, LW_NUM(0.55)), inner, outer), x);
}
/* lw: end */

/* lw: LW_FN(sinh) needs LW_FN(abs) LW_FN(copysign) LW_FN(select) LW_FN(is_inside) LW_FN(sinh_poly) LW_FN(exp_scaled) */
/* Returns x + x^3 p(x^2) below 1, then e^x/2 - e^-x/2. Error 1.60, 1.65 ulp. */
/*@ assigns \nothing; */
static inline LW_REAL LW_FN(sinh)(LW_REAL x)
{
    const LW_REAL magnitude = LW_FN(abs)(x);
    const LW_REAL inner = magnitude + magnitude * LW_FN(sinh_poly)(x * x);
    const LW_REAL half = LW_FN(exp_scaled)(magnitude, -1);
    const LW_REAL outer = half - LW_NUM(0.25) / half;
    return LW_FN(copysign)(LW_FN(select)(LW_FN(is_inside)(x, LW_NUM(1.0)), inner, outer), x);
}
/* lw: end */

/* lw: LW_FN(cosh) needs LW_FN(abs) LW_FN(exp_scaled) lw_no_contract */
/* Error 1.40 ulp. */
/*@ assigns \nothing; */
static inline LW_REAL LW_FN(cosh)(LW_REAL x)
{
    const LW_REAL half = LW_FN(exp_scaled)(LW_FN(abs)(x), -1);
    return half + LW_NUM(0.25) / half;
}
/* lw: end */

/* ---- logarithms. x = 2^k (1 + f), sqrt(1/2) <= 1 + f < sqrt(2) ---- */

/* lw: LW_FN(log_split) needs LW_TO_BITS LW_FROM_BITS LW_FN(select) lw_no_contract */
/* Splits a finite x > 0 into 2^k (1 + f): returns f and stores k in *k; other x give any values. A subnormal is
 * normalized first. The offset moves the carry into the exponent from 1 to sqrt(1/2). */
/*@ requires \valid(k);
    assigns *k;
*/
static inline LW_REAL LW_FN(log_split)(LW_REAL x, LW_REAL *k)
{
    const LW_BITS hidden = LW_PICK(0x00800000u, 0x0010000000000000u), one = LW_TO_BITS(LW_NUM(1.0));
    const LW_BITS root = LW_PICK(0x3f3504f3u, 0x3fe6a09e667f3bcdu); /* the bits of sqrt(1/2) */
    const uint32_t is_subnormal = LW_TO_BITS(x) < hidden;
    const LW_REAL normal = LW_PICK(8388608.0f, 4503599627370496.0); /* 2^23, 2^52 */
    const LW_BITS offset = LW_TO_BITS(x * LW_FN(select)(is_subnormal, normal, LW_NUM(1.0))) + (one - root);
    const LW_REAL bias = LW_FN(select)(is_subnormal, LW_PICK(150.0f, 1075.0), LW_PICK(127.0f, 1023.0));
    *k = (LW_REAL)(int32_t)(offset >> LW_PICK(23, 52)) - bias;
    return LW_FROM_BITS((offset & (hidden - 1)) + root) - LW_NUM(1.0);
}
/* lw: end */

/* lw: LW_FN(log_special) needs LW_TO_BITS LW_FN(inf) LW_FN(nan) LW_FN(select) */
/* Returns `value` for a finite positive x, and otherwise the logarithm of x: -inf for zeros, inf for inf, NaN for the
 * rest. */
/*@ assigns \nothing; */
static inline LW_REAL LW_FN(log_special)(LW_REAL x, LW_REAL value)
{
    const LW_BITS bits = LW_TO_BITS(x), infinity = LW_TO_BITS(LW_FN(inf)());
    const uint32_t is_ordinary = bits - 1 < infinity - 1;
    const LW_REAL unlike_inf = bits << 1 == 0 ? -LW_FN(inf)() : LW_FN(nan)();
    return LW_FN(select)(is_ordinary, value, bits == infinity ? x : unlike_inf);
}
/* lw: end */

/* lw: LW_FN(log) needs LW_FN(log_split) LW_FN(log_tail) LW_FN(log_special) lw_no_contract */
/* Returns k log 2 + log(1 + f). Error 0.85, 0.90 ulp. */
/*@ assigns \nothing; */
static inline LW_REAL LW_FN(log)(LW_REAL x)
{
    LW_REAL k;
    const LW_REAL f = LW_FN(log_split)(x, &k);
    const LW_REAL tail = LW_FN(log_tail)(f) + k * LW_PICK(1.4286068e-06f, 7.371002565167799e-13);
    return LW_FN(log_special)(x, k * LW_PICK(0.69314575f, 0.6931471805592082) + (f + tail));
}
/* lw: end */

/* lw: LW_FN(log1p) needs LW_FN(select) LW_FN(log_split) LW_FN(log_tail) LW_FN(log_special) lw_no_contract */
/* Returns log(1 + x) = log(u) + c / u, where u = 1 + x rounded and c is the rounding error. Error 0.85, 0.95 ulp. */
/*@ assigns \nothing; */
static inline LW_REAL LW_FN(log1p)(LW_REAL x)
{
    const LW_REAL one = LW_NUM(1.0), u = one + x;
    const LW_REAL c = LW_FN(select)(x < one, x - (u - one), one - (u - x));
    LW_REAL k;
    const LW_REAL f = LW_FN(log_split)(u, &k);
    const LW_REAL tail = LW_FN(log_tail)(f) + (c / u + k * LW_PICK(1.4286068e-06f, 7.371002565167799e-13));
    const LW_REAL value = LW_FN(log_special)(u, k * LW_PICK(0.69314575f, 0.6931471805592082) + (f + tail));
    return LW_FN(select)(x == LW_NUM(0.0), x, value);
}
/* lw: end */

/* lw: LW_FN(asinh) needs LW_FN(abs) LW_FN(copysign) LW_FN(sqrt) LW_FN(log) LW_FN(log1p) lw_no_contract */
/* Returns log(x + sqrt(x^2 + 1)), or log(2x) for large x. Error 1.75, 1.70 ulp. */
/*@ assigns \nothing; */
static inline LW_REAL LW_FN(asinh)(LW_REAL x)
{
    const LW_REAL a = LW_FN(abs)(x);
    if (!(a < LW_PICK(8192.0f, 268435456.0))) /* 2^13, 2^28 */
        return LW_FN(copysign)(LW_FN(log)(a) + LW_PICK(0.6931472f, 0.6931471805599453), x);
    const LW_REAL z = a * a;
    return LW_FN(copysign)(LW_FN(log1p)(a + z / (LW_NUM(1.0) + LW_FN(sqrt)(LW_NUM(1.0) + z))), x);
}
/* lw: end */

/* lw: LW_FN(acosh) needs LW_FN(nan) LW_FN(sqrt) LW_FN(log) LW_FN(log1p) lw_no_contract */
/* Returns log(x + sqrt(x^2 - 1)), or log(2x) for large x; NaN below 1. Error 2.00, 1.90 ulp. */
/*@ assigns \nothing; */
static inline LW_REAL LW_FN(acosh)(LW_REAL x)
{
    if (!(x >= LW_NUM(1.0)))
        return LW_FN(nan)();
    if (x >= LW_PICK(8192.0f, 268435456.0)) /* 2^13, 2^28 */
        return LW_FN(log)(x) + LW_PICK(0.6931472f, 0.6931471805599453);
    const LW_REAL t = x - LW_NUM(1.0);
    return LW_FN(log1p)(t + LW_FN(sqrt)(t + t + t * t));
}
/* lw: end */

/* lw: LW_FN(atanh) needs LW_FN(abs) LW_FN(copysign) LW_FN(log1p) lw_no_contract */
/* Returns log((1 + x) / (1 - x)) / 2; infinite at 1, NaN beyond. Error 1.75, 1.80 ulp. */
/*@ assigns \nothing; */
static inline LW_REAL LW_FN(atanh)(LW_REAL x)
{
    const LW_REAL a = LW_FN(abs)(x), rest = LW_NUM(1.0) - a;
    const LW_REAL twice = a + a;
    const LW_REAL ratio = a < LW_NUM(0.5) ? twice + twice * a / rest : twice / rest;
    return LW_FN(copysign)(LW_NUM(0.5) * LW_FN(log1p)(ratio), x);
}
/* lw: end */

/* ---- circular functions ---- */

/* lw: LW_FN(cos_kernel) needs LW_FN(cos_poly) lw_no_contract */
/* Returns cos(r + t) = 1 - r^2/2 + r^4 p(r^2) - r t, plus the rounding error of 1 - r^2/2, for |r| <= pi/4 and a tiny
 * t; *low becomes the error of the result's last rounding. */
/*@ requires \valid(low);
    assigns *low;
*/
static inline LW_REAL LW_FN(cos_kernel)(LW_REAL r, LW_REAL t, LW_REAL *low)
{
    const LW_REAL z = r * r;
    const LW_REAL half = LW_NUM(0.5) * z;
    const LW_REAL top = LW_NUM(1.0) - half;
    const LW_REAL rest = ((LW_NUM(1.0) - top) - half) + (z * z * LW_FN(cos_poly)(z) - r * t);
    const LW_REAL cosine = top + rest;
    *low = rest - (cosine - top);
    return cosine;
}
/* lw: end */

/* lw: LW_FN(sin_shifted) needs LW_FN(abs) LW_FN(inf) LW_FN(nan) LW_FN(rem_pio2) LW_FN(sin_kernel) LW_FN(cos_kernel) */
/* Returns sin(x + quarters pi/2). */
/*@ assigns \nothing; */
static inline LW_REAL LW_FN(sin_shifted)(LW_REAL x, uint32_t quarters)
{
    if (!(LW_FN(abs)(x) < LW_FN(inf)()))
        return LW_FN(nan)();
    LW_REAL tail, low;
    uint32_t quadrant;
    const LW_REAL r = LW_FN(rem_pio2)(x, &tail, &quadrant);
    quadrant += quarters;
    const LW_REAL value = quadrant & 1 ? LW_FN(cos_kernel)(r, tail, &low) : LW_FN(sin_kernel)(r, tail, &low);
    return quadrant & 2 ? -value : value;
}
/* lw: end */

/* lw: LW_FN(sin) needs LW_FN(sin_shifted) */
/* Error 0.90, 0.85 ulp. */
/*@ assigns \nothing; */
static inline LW_REAL LW_FN(sin)(LW_REAL x)
{
    return x == LW_NUM(0.0) ? x : LW_FN(sin_shifted)(x, 0);
}
/* lw: end */

/* lw: LW_FN(cos) needs LW_FN(sin_shifted) */
/* Error 0.95, 0.85 ulp. */
/*@ assigns \nothing; */
static inline LW_REAL LW_FN(cos)(LW_REAL x)
{
    return LW_FN(sin_shifted)(x, 1);
}
/* lw: end */

/* lw: LW_FN(tan) needs LW_FN(abs) LW_FN(inf) LW_FN(nan) LW_FN(rem_pio2) LW_FN(sin_kernel) LW_FN(cos_kernel) */
/* Returns sine / cosine or -cosine / sine. The error of the quotient q of two rounded values is (numerator_low - q
 * denominator_low) / denominator. Error 1.65, 1.45 ulp. */
/*@ assigns \nothing; */
static inline LW_REAL LW_FN(tan)(LW_REAL x)
{
    if (x == LW_NUM(0.0))
        return x;
    if (!(LW_FN(abs)(x) < LW_FN(inf)()))
        return LW_FN(nan)();
    LW_REAL tail, sine_low, cosine_low;
    uint32_t quadrant;
    const LW_REAL r = LW_FN(rem_pio2)(x, &tail, &quadrant);
    const LW_REAL sine = LW_FN(sin_kernel)(r, tail, &sine_low);
    const LW_REAL cosine = LW_FN(cos_kernel)(r, tail, &cosine_low);
    if (quadrant & 1) {
        const LW_REAL quotient = -cosine / sine;
        return quotient - (cosine_low + quotient * sine_low) / sine;
    }
    const LW_REAL quotient = sine / cosine;
    return quotient + (sine_low - quotient * cosine_low) / cosine;
}
/* lw: end */

/* lw: LW_FN(acos_pair) needs LW_TO_BITS LW_FROM_BITS LW_FN(sqrt) LW_FN(asin_poly) lw_no_contract */
/* Returns acos(a) = 2 asin(sqrt((1 - a) / 2)) for a >= 1/2, as the sum of the result, which has few bits, and *tail.
 * The root s is truncated to `high`, and (z - high^2) / (s + high) restores the truncated part. */
/*@ requires \valid(tail);
    assigns *tail;
*/
static inline LW_REAL LW_FN(acos_pair)(LW_REAL a, LW_REAL *tail)
{
    const LW_REAL z = LW_NUM(0.5) * (LW_NUM(1.0) - a);
    const LW_REAL s = LW_FN(sqrt)(z);
    const LW_REAL high = LW_FROM_BITS(LW_TO_BITS(s) & LW_PICK(0xfffff000u, 0xffffffff00000000u));
    const LW_REAL low = s == LW_NUM(0.0) ? LW_NUM(0.0) : (z - high * high) / (s + high);
    *tail = LW_NUM(2.0) * (low + s * LW_FN(asin_poly)(z));
    return LW_NUM(2.0) * high;
}
/* lw: end */

/* lw: LW_FN(asin) needs LW_FN(abs) LW_FN(copysign) LW_FN(asin_poly) LW_FN(acos_pair) lw_no_contract */
/* Returns NaN beyond 1. pi/2 is a pair. Error 0.75, 0.70 ulp. */
/*@ assigns \nothing; */
static inline LW_REAL LW_FN(asin)(LW_REAL x)
{
    const LW_REAL a = LW_FN(abs)(x);
    if (a < LW_NUM(0.5))
        return x + x * LW_FN(asin_poly)(x * x);
    LW_REAL tail;
    const LW_REAL high = LW_FN(acos_pair)(a, &tail);
    return LW_FN(copysign)((LW_PICK(1.5707964f, 1.5707963267948966) - high) -
                           (tail + LW_PICK(4.371139e-08f, -6.123233995736766e-17)), x);
}
/* lw: end */

/* lw: LW_FN(acos) needs LW_FN(abs) LW_FN(asin_poly) LW_FN(acos_pair) lw_no_contract */
/* Returns NaN beyond 1. pi/2 and pi are pairs. Error 0.80, 0.85 ulp. */
/*@ assigns \nothing; */
static inline LW_REAL LW_FN(acos)(LW_REAL x)
{
    if (LW_FN(abs)(x) < LW_NUM(0.5))
        return LW_PICK(1.5707964f, 1.5707963267948966) -
               (x + (x * LW_FN(asin_poly)(x * x) + LW_PICK(4.371139e-08f, -6.123233995736766e-17)));
    LW_REAL tail;
    const LW_REAL high = LW_FN(acos_pair)(LW_FN(abs)(x), &tail);
    return x > LW_NUM(0.0) ? high + tail
                           : (LW_PICK(3.1415927f, 3.141592653589793) - high) -
                                 (tail + LW_PICK(8.742278e-08f, -1.2246467991473532e-16));
}
/* lw: end */

/* lw: LW_FN(atan2) needs LW_TO_BITS LW_FN(abs) LW_FN(copysign) LW_PICK(lw_atan_unitf, lw_atan) lw_no_contract */
/* Returns the angle of the point (x, y): atan of the smaller coordinate over the larger one, moved to the octant of the
 * point. Error 1.55, 1.50 ulp. */
/*@ assigns \nothing; */
static inline LW_REAL LW_FN(atan2)(LW_REAL y, LW_REAL x)
{
    if (x != x || y != y)
        return x + y;
    const LW_REAL ax = LW_FN(abs)(x), ay = LW_FN(abs)(y);
    const LW_REAL larger = ax > ay ? ax : ay, smaller = ax > ay ? ay : ax;
    const LW_REAL ratio = larger == LW_NUM(0.0) ? LW_NUM(0.0) : ax == ay ? LW_NUM(1.0) : smaller / larger;
    const LW_REAL unit = LW_PICK(lw_atan_unitf, lw_atan)(ratio);
    const int is_left = LW_TO_BITS(x) >> LW_PICK(31, 63) != 0;
    LW_REAL angle = unit;
    if (ay > ax)
        angle = LW_PICK(1.5707964f, 1.5707963267948966) +
                ((is_left ? unit : -unit) - LW_PICK(4.371139e-08f, -6.123233995736766e-17));
    else if (is_left)
        angle = LW_PICK(3.1415927f, 3.141592653589793) + (-unit - LW_PICK(8.742278e-08f, -1.2246467991473532e-16));
    return LW_FN(copysign)(angle, y);
}
/* lw: end */

#undef LW_REAL
#undef LW_BITS
#undef LW_TO_BITS
#undef LW_FROM_BITS
#undef LW_FN
#undef LW_NUM
#undef LW_PICK
