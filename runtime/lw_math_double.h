/* SPDX-License-Identifier: 0BSD */
/* The functions of lw_math.h on double: its words, coefficients and reductions; powers of both types. */
#ifndef LW_MATH_DOUBLE_H
#define LW_MATH_DOUBLE_H

#include "lw_math_common.h"

#define LW_REAL double
#define LW_BITS uint64_t
#define LW_TO_BITS lw_f64_bits
#define LW_FROM_BITS lw_f64_from_bits
#define LW_FN(name) lw_##name
#define LW_NUM(number) number
#define LW_PICK(of_float, of_double) of_double
#include "lw_math_basics.h"

/* lw: lw_two_product needs lw_f64_bits lw_f64_from_bits lw_no_contract */
/* Returns a * b, and its rounding error in *error. Each factor is split into halves with exact products (Dekker). The
 * result is exact even if contracted. The magnitudes must not be near overflow or underflow. */
/*@ requires \valid(error);
    assigns *error;
*/
static inline double lw_two_product(double a, double b, double *error)
{
    const double a_high = lw_f64_from_bits(lw_f64_bits(a) & UINT64_C(0xfffffffff8000000));
    const double b_high = lw_f64_from_bits(lw_f64_bits(b) & UINT64_C(0xfffffffff8000000));
    const double a_low = a - a_high, b_low = b - b_high;
    const double product = a * b;
    *error = (((a_high * b_high - product) + a_high * b_low) + a_low * b_high) + a_low * b_low;
    return product;
}
/* lw: end */

/* ---- exponentials ---- */

/* lw: lw_exp_poly needs lw_no_contract */
/* Returns p(r) in e^r = 1 + r + r^2 p(r), |r| <= log(2) / 2. */
/*@ assigns \nothing; */
static inline double lw_exp_poly(double r)
{
    double p = 2.5117835329019014e-08;
    p = p * r + 2.7631267989220187e-07;
    p = p * r + 2.755721637488707e-06;
    p = p * r + 2.4801489974551768e-05;
    p = p * r + 0.00019841269917309867;
    p = p * r + 0.0013888888946987177;
    p = p * r + 0.00833333333330723;
    p = p * r + 0.041666666666516056;
    p = p * r + 0.166666666666667;
    p = p * r + 0.5000000000000012;
    return p;
}
/* lw: end */

/* lw: lw_exp_pair needs lw_f64_bits lw_exp_poly lw_ldexp lw_no_contract */
/* Returns e^(x + tail) * 2^k for a tiny tail and k = 0 or -1, by the method of lw_exp_valuef. */
/*@ assigns \nothing; */
static inline double lw_exp_pair(double x, double tail, int32_t k)
{
    x = x > 711.0 ? 711.0 : x;
    x = x < -746.0 ? -746.0 : x;
    const double shifted = x * 1.4426950408889634 + 6755399441055744.0 /* 1.5 * 2^52 */;
    const double n = shifted - 6755399441055744.0 /* 1.5 * 2^52 */;
    const double high = x - n * 0.6931471805592082; /* exact: 40 bits of log 2 times 11 bits of n */
    const double low = n * 7.371002565167799e-13 - tail;
    const double r = high - low;
    const double value = 1.0 + (high + (r * r * lw_exp_poly(r) - low));
    return lw_ldexp(value, lw_f64_bits(shifted) - UINT64_C(0x4338000000000000) + (uint64_t)k);
}
/* lw: end */

/* lw: lw_exp_scaled needs lw_exp_pair */
/*@ assigns \nothing; */
static inline double lw_exp_scaled(double x, int32_t k)
{
    return lw_exp_pair(x, 0.0, k);
}
/* lw: end */

/* lw: lw_exp2_poly needs lw_no_contract */
/* Returns the value of lw_exp2_polyf in double. */
/*@ assigns \nothing; */
static inline double lw_exp2_poly(double r)
{
    double p = 2.5741887400815846e-11;
    p = p * r + 4.4566702912255946e-10;
    p = p * r + 7.054888188332108e-09;
    p = p * r + 1.0178051230498509e-07;
    p = p * r + 1.3215486833248315e-06;
    p = p * r + 1.525273385618922e-05;
    p = p * r + 0.00015403530393340818;
    p = p * r + 0.0013333558146390563;
    p = p * r + 0.009618129107628388;
    p = p * r + 0.055504108664821784;
    p = p * r + 0.24022650695910072;
    p = p * r + 0.6931471805599453;
    return p;
}
/* lw: end */

/* lw: lw_tanh_poly needs lw_no_contract */
/* Returns the value of lw_tanh_polyf in double. */
/*@ assigns \nothing; */
static inline double lw_tanh_poly(double z)
{
    double p = -1.9486426908549855e-05;
    p = p * z + 8.330337152290413e-05;
    p = p * z - 0.00023337265586727626;
    p = p * z + 0.0005884410686340584;
    p = p * z - 0.001455542035460994;
    p = p * z + 0.0035920919077328836;
    p = p * z - 0.008863232589598802;
    p = p * z + 0.021869488385150983;
    p = p * z - 0.053968253963736564;
    p = p * z + 0.1333333333332658;
    p = p * z - 0.333333333333333;
    return z * p;
}
/* lw: end */

/* lw: lw_sinh_poly needs lw_no_contract */
/* Returns the value of lw_sinh_polyf in double. */
/*@ assigns \nothing; */
static inline double lw_sinh_poly(double z)
{
    double p = 6.475242609763954e-15;
    p = p * z + 7.50326706612611e-13;
    p = p * z + 1.6061339157690034e-10;
    p = p * z + 2.505208941276856e-08;
    p = p * z + 2.755731931009071e-06;
    p = p * z + 0.0001984126984106116;
    p = p * z + 0.008333333333333573;
    p = p * z + 0.16666666666666666;
    return z * p;
}
/* lw: end */

/* ---- logarithms. s = f / (2 + f) ---- */

/* lw: lw_log_tail needs lw_no_contract */
/* Returns log(1 + f) - f, where log(1 + f) = 2 atanh(s) = 2s + s R = f - (h - s (h + R)), R = s^2 p(s^2), h = f^2/2. */
/*@ assigns \nothing; */
static inline double lw_log_tail(double f)
{
    const double s = f / (2.0 + f);
    const double z = s * s;
    double p = 0.14795721946678458;
    p = p * z + 0.15314076944515723;
    p = p * z + 0.18183563118322557;
    p = p * z + 0.22222198600830478;
    p = p * z + 0.28571428742058763;
    p = p * z + 0.39999999999416563;
    p = p * z + 0.6666666666666734;
    const double h = 0.5 * f * f;
    return s * (h + z * p) - h;
}
/* lw: end */

/* lw: lw_log_pair needs lw_two_product lw_no_contract */
/* Returns log(1 + f), to about 2^-65, as the sum of the result and *tail: 2s + s w, w = 2/3 z + z^2 p(z), z = s^2. All
 * terms except z^2 p(z) are pairs. */
/*@ requires \valid(tail);
    assigns *tail;
*/
static inline double lw_log_pair(double f, double *tail)
{
    const double d = 2.0 + f, d_low = f - (d - 2.0);
    const double s = f / d;
    double error;
    const double back = lw_two_product(s, d, &error);
    const double s_low = (((f - back) - error) - s * d_low) / d;
    double z_low;
    const double z = lw_two_product(s, s, &z_low);
    z_low += 2.0 * s * s_low;
    double p = 0.12028926149415572;
    p = p * z + 0.10278973187550443;
    p = p * z + 0.11777266328081976;
    p = p * z + 0.13332959962406943;
    p = p * z + 0.1538462218445322;
    p = p * z + 0.18181818106031156;
    p = p * z + 0.22222222222716465;
    p = p * z + 0.2857142857142689;
    p = p * z + 0.4;
    double w_low;
    const double w = lw_two_product(z, 0.6666666666666666, &w_low);
    w_low += (z * 3.700743415417188e-17 + z_low * 0.6666666666666666) + z * z * p;
    double cubic_low;
    const double cubic = lw_two_product(s, w, &cubic_low);
    cubic_low += s * w_low + s_low * w;
    const double twice = s + s;
    const double sum = twice + cubic;
    *tail = (cubic - (sum - twice)) + (2.0 * s_low + cubic_low);
    return sum;
}
/* lw: end */

/* ---- circular functions ---- */

/* lw: lw_rem_pio2 needs lw_f64_bits lw_f64_from_bits lw_abs lw_two_product lw_no_contract */
/* Does the same as lw_rem_pio2f, with 192 bits of 2/pi and 128 bits of fraction. */
/*@ requires \valid(tail);
    requires \valid(quadrant);
    requires \separated(tail, quadrant);
    assigns *tail, *quadrant;
*/
static inline double lw_rem_pio2(double x, double *tail, uint32_t *quadrant)
{
    /* 2/pi * 2^1184 from the top, after 64 zeros. */
    static const uint32_t two_over_pi[39] = {
        UINT32_C(0x00000000), UINT32_C(0x00000000), UINT32_C(0xa2f9836e), UINT32_C(0x4e441529),
        UINT32_C(0xfc2757d1), UINT32_C(0xf534ddc0), UINT32_C(0xdb629599), UINT32_C(0x3c439041),
        UINT32_C(0xfe5163ab), UINT32_C(0xdebbc561), UINT32_C(0xb7246e3a), UINT32_C(0x424dd2e0),
        UINT32_C(0x06492eea), UINT32_C(0x09d1921c), UINT32_C(0xfe1deb1c), UINT32_C(0xb129a73e),
        UINT32_C(0xe88235f5), UINT32_C(0x2ebb4484), UINT32_C(0xe99c7026), UINT32_C(0xb45f7e41),
        UINT32_C(0x3991d639), UINT32_C(0x835339f4), UINT32_C(0x9c845f8b), UINT32_C(0xbdf9283b),
        UINT32_C(0x1ff897ff), UINT32_C(0xde05980f), UINT32_C(0xef2f118b), UINT32_C(0x5a0a6d1f),
        UINT32_C(0x6d367ecf), UINT32_C(0x27cb09b7), UINT32_C(0x4f463f66), UINT32_C(0x9e5fea2d),
        UINT32_C(0x7527bac7), UINT32_C(0xebe5f17b), UINT32_C(0x3d0739f7), UINT32_C(0x8a5292ea),
        UINT32_C(0x6bfb5fb1), UINT32_C(0x1f8d5d08), UINT32_C(0x56033046),
    };
    *tail = 0.0;
    *quadrant = 0;
    if (lw_abs(x) <= 0.7853981633974483)
        return x;
    const uint64_t bits = lw_f64_bits(x);
    const uint64_t mantissa = (bits & UINT64_C(0x000fffffffffffff)) | UINT64_C(0x0010000000000000);
    const uint32_t position = (uint32_t)((bits >> 52) & 2047) - 1013; /* e + 62, which is at least 9 */
    const uint32_t *word = two_over_pi + (position >> 5);
    uint32_t product[6];
    uint64_t carry = 0;
    for (int i = 5; i >= 0; i--) {
        const uint64_t pair = ((uint64_t)word[i] << 32) | word[i + 1];
        const uint64_t window = (uint32_t)(pair >> (32 - (position & 31)));
        /* The product with the mantissa's low 32 bits; its high 21 bits carry into the next word. */
        const uint64_t low = window * (mantissa & UINT32_C(0xffffffff)) + (carry & UINT32_C(0xffffffff));
        product[i] = (uint32_t)low;
        carry = (carry >> 32) + (low >> 32) + window * (mantissa >> 32);
    }
    const uint64_t turns = ((uint64_t)product[0] << 32) | product[1];
    const uint64_t below = ((uint64_t)product[2] << 32) | product[3];
    uint64_t high = (turns << 2) | (below >> 62);
    uint64_t low = below << 2;
    const uint32_t is_upper = (uint32_t)(high >> 63);
    if (is_upper) {
        low = 0 - low;
        high = ~high + (low == 0);
    }
    /* Normalizes the fraction (high, low) / 2^128 < 1/2, which is at least 2^-62 for every double. */
    uint32_t shift = 0;
    for (; !(high >> 62) && shift < 64; shift++) {
        high = (high << 1) | (low >> 63);
        low <<= 1;
    }
    const double unit = lw_f64_from_bits((uint64_t)(1023 - 54 - shift) << 52); /* 2^(-54 - shift) */
    const double a = (double)(int64_t)(high >> 10) * unit;
    const double b = (double)(int64_t)(((high & 1023) << 43) | (low >> 21)) * unit * 1.1102230246251565e-16 /* 2^-53 */;
    double error;
    const double product_high = lw_two_product(a, 1.5707963267948966, &error);
    const double product_low = error + (a * 6.123233995736766e-17 + b * 1.5707963267948966);
    const double r = product_high + product_low;
    const double r_low = product_low - (r - product_high);
    const uint32_t is_minus = (uint32_t)(bits >> 63);
    const uint32_t count = (uint32_t)(turns >> 62) + is_upper;
    *quadrant = (is_minus ? 0 - count : count) & 3;
    *tail = is_upper ^ is_minus ? -r_low : r_low;
    return is_upper ^ is_minus ? -r : r;
}
/* lw: end */

/* lw: lw_sin_kernel needs lw_no_contract */
/* Returns sin(r + t) = r + r^3 p(r^2) + t (1 - r^2/2), |r| <= pi/4, t tiny. */
/*@ requires \valid(low);
    assigns *low;
*/
static inline double lw_sin_kernel(double r, double t, double *low)
{
    const double z = r * r;
    double p = 1.5895432718165538e-10;
    p = p * z - 2.505073438126022e-08;
    p = p * z + 2.755731353847813e-06;
    p = p * z - 0.00019841269829358476;
    p = p * z + 0.00833333333332184;
    p = p * z - 0.1666666666666663;
    const double rest = r * (z * p) + t * (1.0 - 0.5 * z);
    const double sine = r + rest;
    *low = rest - (sine - r);
    return sine;
}
/* lw: end */

/* lw: lw_cos_poly needs lw_no_contract */
/* Returns the value of lw_cos_polyf in double. */
/*@ assigns \nothing; */
static inline double lw_cos_poly(double z)
{
    double p = -1.135993636992465e-11;
    p = p * z + 2.0875729311652238e-09;
    p = p * z - 2.7557314401172865e-07;
    p = p * z + 2.4801587289671754e-05;
    p = p * z - 0.0013888888888874474;
    p = p * z + 0.0416666666666666;
    return p;
}
/* lw: end */

/* lw: lw_asin_poly needs lw_no_contract */
/* Returns (asin(x) - x) / x, for z = x^2 <= 1/4. */
/*@ assigns \nothing; */
static inline double lw_asin_poly(double z)
{
    double p = 0.032625986843976634;
    p = p * z - 0.02099469660485891;
    p = p * z + 0.02170423927781508;
    p = p * z + 0.0037077863869136264;
    p = p * z + 0.010779869428971965;
    p = p * z + 0.01139898462827024;
    p = p * z + 0.013980811095332238;
    p = p * z + 0.01735161286615564;
    p = p * z + 0.022372214935445632;
    p = p * z + 0.03038194270987253;
    p = p * z + 0.04464285717456093;
    p = p * z + 0.07499999999970866;
    p = p * z + 0.1666666666666676;
    return z * p;
}
/* lw: end */

/* lw: lw_atan needs lw_abs lw_copysign lw_two_product lw_no_contract */
/* Returns, for x >= 0, base + atan(y), |y| <= tan(pi/8), where base is 0, pi/4 or pi/2 and y = x, (x - 1) / (x + 1) or
 * -1 / x, a pair in the second case. Error 0.85 ulp. */
/*@ assigns \nothing; */
static inline double lw_atan(double x)
{
    const double a = lw_abs(x);
    double y = a, base = 0.0, low = 0.0;
    if (a > 2.414213562373095) { /* tan(3 pi/8) */
        y = -1.0 / a;
        base = 1.5707963267948966;
        low = 6.123233995736766e-17;
    } else if (a > 0.41421356237309503) { /* tan(pi/8) */
        const double over = a - 1.0, under = a + 1.0;
        const double over_low = a - (over + 1.0);
        const double under_low = a < 1.0 ? a - (under - 1.0) : 1.0 - (under - a);
        double error;
        y = over / under;
        const double back = lw_two_product(y, under, &error);
        base = 0.7853981633974483;
        low = 3.061616997868383e-17 + ((over - back) - error + over_low - y * under_low) / under;
    }
    const double z = y * y;
    double p = 0.01490145715576029;
    p = p * z - 0.03318253651680882;
    p = p * z + 0.044908877374139844;
    p = p * z - 0.05215259039297085;
    p = p * z + 0.05876528080539386;
    p = p * z - 0.06666175797260028;
    p = p * z + 0.07692279269759021;
    p = p * z - 0.09090907988504016;
    p = p * z + 0.11111111083804881;
    p = p * z - 0.14285714285317072;
    p = p * z + 0.19999999999997098;
    p = p * z - 0.33333333333333326;
    return lw_copysign(base + (y + (y * (z * p) + low)), x);
}
/* lw: end */

/* ---- functions ---- */

#include "lw_math_functions.h"

/* lw: lw_sigmoid needs lw_abs lw_exp lw_no_contract */
/* Uses the method of lw_sigmoidf. Error 1.90 ulp. */
/*@ assigns \nothing; */
static inline double lw_sigmoid(double x)
{
    const double e = lw_exp(-lw_abs(x));
    const double numerator = x < 0.0 ? e : 1.0;
    const double denominator = 1.0 + e;
    const double quotient = numerator / denominator;
    const double reciprocal = x < 0.0 ? 1.0 - quotient : quotient;
    return quotient - quotient * (reciprocal * (e - (denominator - 1.0)));
}
/* lw: end */

/* lw: lw_erf needs lw_abs lw_copysign lw_exp lw_no_contract */
/* Returns x + x p(x^2) below 0.9, then 1 - e^-q(x), q = -log erfc in two pieces; 1 for x >= 6. Error 1.00 ulp. */
/*@ assigns \nothing; */
static inline double lw_erf(double x)
{
    const double magnitude = lw_abs(x);
    if (magnitude < 0.9) {
        const double z = x * x;
        double p = -1.0825320545248537e-09;
        p = p * z + 1.509841014528606e-08;
        p = p * z - 1.6479719130190273e-07;
        p = p * z + 1.6477636799445626e-06;
        p = p * z - 1.4926830075053514e-05;
        p = p * z + 0.00012055388227781496;
        p = p * z - 0.0008548328652343544;
        p = p * z + 0.005223977655077947;
        p = p * z - 0.026866170648260575;
        p = p * z + 0.11283791670972039;
        p = p * z - 0.3761263890318411;
        p = p * z + 0.1283791670955126;
        return x + x * p;
    }
    double q;
    if (magnitude < 2.25) {
        const double a = magnitude - 1.0;
        q = 6.228753316971923e-10;
        q = q * a - 7.3484889666825614e-09;
        q = q * a + 3.679368490336947e-08;
        q = q * a - 7.943393718661445e-08;
        q = q * a - 1.5268232765553758e-07;
        q = q * a + 2.055068279586844e-06;
        q = q * a - 9.595405872202562e-06;
        q = q * a + 2.714690219098101e-05;
        q = q * a - 2.6271412772686558e-05;
        q = q * a - 0.00023732466061006735;
        q = q * a + 0.0019779030370655564;
        q = q * a - 0.010033825436475362;
        q = q * a + 0.04156109804648729;
        q = q * a + 0.8431072563584983;
        q = q * a + 2.6389675142347913;
        q = q * a + 1.8496055099332482;
    } else {
        const double a = (magnitude > 6.0 ? 6.0 : magnitude) - 3.0;
        q = -8.13428731299472e-12;
        q = q * a + 5.238306222966139e-11;
        q = q * a - 1.9224035755630056e-10;
        q = q * a + 5.911084287437443e-10;
        q = q * a - 6.309726317429949e-10;
        q = q * a - 1.1438619604338809e-08;
        q = q * a + 1.361790364743937e-07;
        q = q * a - 1.0694004912010355e-06;
        q = q * a + 7.1154619079695705e-06;
        q = q * a - 4.3081788618866766e-05;
        q = q * a + 0.00024569213493596967;
        q = q * a - 0.0013533104381548756;
        q = q * a + 0.007411891795460151;
        q = q * a + 0.9573942188012344;
        q = q * a + 6.303753689003236;
        q = q * a + 10.720363041981113;
    }
    return lw_copysign(1.0 - lw_exp(-q), x);
}
/* lw: end */

/* lw: lw_log2 needs lw_log_split lw_log_pair lw_two_product lw_log_special lw_no_contract */
/* Returns k + log(1 + f) / log 2. Error 0.52 ulp. */
/*@ assigns \nothing; */
static inline double lw_log2(double x)
{
    double k, tail, error;
    const double natural = lw_log_pair(lw_log_split(x, &k), &tail);
    const double product = lw_two_product(natural, 1.4426950408889634, &error);
    error += natural * 2.0355273740931033e-17 + tail * 1.4426950408889634;
    const double sum = k + product;
    const double lost = k == 0.0 ? 0.0 : product - (sum - k);
    return lw_log_special(x, sum + (lost + error));
}
/* lw: end */

/* lw: lw_log10 needs lw_log_split lw_log_pair lw_two_product lw_log_special lw_no_contract */
/* Returns k log10(2) + log(1 + f) / log 10. Error 0.52 ulp. */
/*@ assigns \nothing; */
static inline double lw_log10(double x)
{
    double k, tail, error;
    const double natural = lw_log_pair(lw_log_split(x, &k), &tail);
    const double product = lw_two_product(natural, 0.4342944819032518, &error);
    error += natural * 1.098319650216765e-17 + tail * 0.4342944819032518;
    error += k * 3.694239077158931e-13;
    const double base = k * 0.30102999566361177; /* exact: 40 bits of log10(2) times 11 bits of k */
    const double sum = base + product;
    const double lost = k == 0.0 ? 0.0 : product - (sum - base);
    return lw_log_special(x, sum + (lost + error));
}
/* lw: end */

/* ---- powers ---- */

/* lw: lw_parity needs lw_abs */
/* Returns the sign of (-1)^y, or 0 if y is not an integer. Every double of at least 2^53 is even. */
/*@ assigns \nothing; */
static inline double lw_parity(double y)
{
    if (!(lw_abs(y) < 9007199254740992.0 /* 2^53 */))
        return 1.0;
    const int64_t integer = (int64_t)y;
    if ((double)integer != y)
        return 0.0;
    return integer % 2 == 0 ? 1.0 : -1.0;
}
/* lw: end */

/* lw: lw_pow needs lw_abs lw_parity lw_log_split lw_log_pair lw_two_product lw_log_special lw_exp_pair */
/* Returns x^y = e^(y log x), with log x and the product as pairs. Error 1.10 ulp. */
/*@ assigns \nothing; */
static inline double lw_pow(double x, double y)
{
    if (y == 0.0 || x == 1.0)
        return 1.0;
    if (x != x || y != y)
        return x + y;
    const double a = lw_abs(x);
    if (a == 1.0 && lw_abs(y) == lw_inf())
        return 1.0;
    const int is_negative = x < 0.0 || (x == 0.0 && 1.0 / x < 0.0);
    double sign = is_negative ? lw_parity(y) : 1.0;
    if (sign == 0.0) {
        if (x != 0.0 && a != lw_inf())
            return lw_nan();
        sign = 1.0;
    }
    double k, tail, error;
    const double part = lw_log_pair(lw_log_split(a, &k), &tail);
    const double base = k * 0.6931471805592082;
    const double sum = base + part;
    tail += (k == 0.0 ? 0.0 : part - (sum - base)) + k * 7.371002565167799e-13;
    const double logarithm = lw_log_special(a, sum + tail);
    if (!(lw_abs(y * logarithm) < 800.0))
        return sign * lw_exp_pair(y * logarithm, 0.0, 0);
    tail += sum - logarithm;
    const double product = lw_two_product(y, logarithm, &error);
    return sign * lw_exp_pair(product, error + y * tail, 0);
}
/* lw: end */

/* lw: lw_powf needs lw_abs lw_inf lw_nan lw_parity lw_log_split lw_log_tail lw_log_special lw_exp2 lw_no_contract */
/* Returns 2^(y log2 x), computed in double, because log2 x requires 32 correct bits. Error 0.51 ulp. */
/*@ assigns \nothing; */
static inline float lw_powf(float x, float y)
{
    if (y == 0.0f || x == 1.0f)
        return 1.0f;
    if (x != x || y != y)
        return x + y;
    const double a = lw_abs((double)x);
    if (a == 1.0 && lw_abs((double)y) == lw_inf())
        return 1.0f;
    const int is_negative = x < 0.0f || (x == 0.0f && 1.0f / x < 0.0f);
    double sign = is_negative ? lw_parity((double)y) : 1.0;
    if (sign == 0.0) {
        if (a != 0.0 && a != lw_inf())
            return (float)lw_nan();
        sign = 1.0;
    }
    double k;
    const double f = lw_log_split(a, &k);
    const double binary = k + (f + lw_log_tail(f)) * 1.4426950408889634;
    return (float)(sign * lw_exp2((double)y * lw_log_special(a, binary)));
}
/* lw: end */

#endif
