/* SPDX-License-Identifier: 0BSD */
/* Fixed-point arithmetic of quantized networks, bit-exact with the reference kernels of TensorFlow Lite. Multiplication
 * by m / 2^31 * 2^-n takes two steps, each of which rounds ("double rounding"):
 *
 *     lw_roundshift_i32(lw_mulhigh_i32(x, m), n)            m in [2^30, 2^31), n in [0, 31]
 *
 * C99 without undefined behaviour: if only low bits matter, negative values are shifted as unsigned. Each piece lists
 * its needs, so --standalone can copy the used pieces. */
#ifndef LW_FIXED_H
#define LW_FIXED_H

#include <stdint.h>

/* lw: lw_mulhigh_i32 needs */
/* Returns a*b / 2^31, rounded to nearest, ties up; a and b must not both be the minimum. */
/*@ assigns \nothing; */
static inline int32_t lw_mulhigh_i32(int32_t a, int32_t b)
{
    return (int32_t)(uint32_t)((uint64_t)((int64_t)a * b + 0x40000000) >> 31);
}
/* lw: end */

/* lw: lw_asr_i32 needs */
/* Returns a / 2^n, rounded down; n in [0, 31]. C leaves >> of negative values to the implementation; every known
 * compiler keeps the sign. */
/*@ requires 0 <= n <= 31;
    assigns \nothing;
*/
static inline int32_t lw_asr_i32(int32_t a, int32_t n)
{
    return (-1 >> 1) == -1 || a >= 0 ? a >> n : ~(~a >> n);
}
/* lw: end */

/* lw: lw_asr_i64 needs */
/* Returns a / 2^n, rounded down; n in [0, 63]. */
/*@ requires 0 <= n <= 63;
    assigns \nothing;
*/
static inline int64_t lw_asr_i64(int64_t a, int32_t n)
{
    return (-1 >> 1) == -1 || a >= 0 ? a >> n : ~(~a >> n);
}
/* lw: end */

/* lw: lw_mulhigh_up_i32 needs lw_mulhigh_i32 lw_asr_i32 */
/* Returns lw_mulhigh_i32(v << up, m), faster, for |v| < 2^(30 - up), up in [16, 29] and m >= 0. On cores without a
 * 64-bit product, the high half of m shifts v by whole bits, and only the product with the low half is rounded. */
/*@ requires 16 <= up <= 29;
    requires -(1 << (30 - up)) < v < 1 << (30 - up);
    requires 0 <= m;
    assigns \nothing;
*/
static inline int32_t lw_mulhigh_up_i32(int32_t v, int32_t up, int32_t m)
{
#if defined(__ARM_FEATURE_DSP) && defined(__GNUC__)
    int32_t high;
    __asm__("smmulr %0, %1, %2" : "=r"(high) : "r"((int32_t)((uint32_t)v << (up + 1))), "r"(m));
    return high;
#elif defined(__ARM_ARCH_6M__) || defined(__ARM_ARCH_8M_BASE__)
    return (int32_t)((uint32_t)(v * (m >> 16)) << (up - 15))
           + lw_asr_i32(v * (m & 0xffff) + ((int32_t)1 << (30 - up)), 31 - up);
#else
    return lw_mulhigh_i32((int32_t)((uint32_t)v << up), m);
#endif
}
/* lw: end */

/* lw: lw_mulhigh_sat_i32 needs lw_mulhigh_i32 */
/* Like lw_mulhigh_i32, but for all values: minimum * minimum saturates. */
/*@ assigns \nothing; */
static inline int32_t lw_mulhigh_sat_i32(int32_t a, int32_t b)
{
    return a == INT32_MIN && b == INT32_MIN ? INT32_MAX : lw_mulhigh_i32(a, b);
}
/* lw: end */

/* lw: lw_roundshift_i32 needs lw_asr_i32 */
/* Returns a / 2^n, rounded to nearest, ties away from zero; n in [0, 31]. */
/*@ requires 0 <= n <= 31;
    assigns \nothing;
    ensures interval: -(1 << (31 - n)) <= \result <= 1 << (31 - n);
*/
static inline int32_t lw_roundshift_i32(int32_t a, int32_t n)
{
    const int32_t mask = (int32_t)(((uint32_t)1 << n) - 1);
    return lw_asr_i32(a, n) + ((a & mask) > (mask >> 1) + (a < 0));
}
/* lw: end */

/* lw: lw_roundshift_any_i32 needs lw_roundshift_i32 */
/* Like lw_roundshift_i32, but returns 0 for other n. */
/*@ assigns \nothing; */
static inline int32_t lw_roundshift_any_i32(int32_t a, int32_t n)
{
    return n < 0 || n > 31 ? 0 : lw_roundshift_i32(a, n);
}
/* lw: end */

/* lw: lw_roundshift_near_i32 needs lw_asr_i32 */
/* Like lw_roundshift_i32, but faster, for |a| <= 2^30 and n in [1, 30]. */
/*@ requires -0x40000000 <= a <= 0x40000000;
    requires 1 <= n <= 30;
    assigns \nothing;
*/
static inline int32_t lw_roundshift_near_i32(int32_t a, int32_t n)
{
    return lw_asr_i32(a + ((int32_t)1 << (n - 1)) - (a < 0), n);
}
/* lw: end */

/* lw: lw_sat_i8 needs */
/* Saturates to 8 bits. */
/*@ assigns \nothing;
    ensures -128 <= \result <= 127;
*/
static inline int32_t lw_sat_i8(int32_t a)
{
#if defined(__ARM_FEATURE_SAT) && defined(__GNUC__)
    int32_t byte;
    __asm__("ssat %0, #8, %1" : "=r"(byte) : "r"(a));
    return byte;
#elif defined(__riscv)               /* not an 8-bit value, because gcc would extend its sign */
    if (a < -128) a = -128;
    if (a > 127) a = 127;
    return a;
#else
    return a < -128 ? -128 : a > 127 ? 127 : a;
#endif
}
/* lw: end */

/* lw: LW_PROVED needs */
/* True if the compiler proves the condition. */
#if defined(__GNUC__)
#define LW_PROVED(condition) (__builtin_constant_p(condition) && (condition))
#else
#define LW_PROVED(condition) 0
#endif
/* lw: end */

/* lw: lw_scale_i8 needs lw_asr_i32 lw_asr_i64 lw_sat_i8 LW_PROVED */
/* Returns roundshift(mulhigh(a, m), n) + zero, saturated to 8 bits; for |a| < 2^30, m >= 0, n in [1, 22] and
 * |zero| <= 128. The high word of the product with 2a is mulhigh; the highest bit of the low word rounds it. The zero
 * point, one half of the last place, and -1 for a negative value are added before a single shift. The sign of a
 * replaces the sign of the product, because it is available earlier: if a small negative a has the product 0, the
 * result is still 0. With a zero point of -128 negative values saturate, so their rounding does not matter. Without a
 * 64-bit product this saves no instruction with gcc 12. */
/*@ requires -0x40000000 < a < 0x40000000;
    requires 0 <= m;
    requires 1 <= n <= 22;
    requires -128 <= zero <= 128;
    assigns \nothing;
    ensures -128 <= \result <= 127;
*/
static inline int32_t lw_scale_i8(int32_t a, int32_t m, int32_t n, int32_t zero)
{
    const int32_t place = (2 * zero + 1) * ((int32_t)1 << (n - 1));
#if defined(__ARM_FEATURE_DSP) && defined(__GNUC__)
    int32_t v;
    __asm__("smmlar %0, %1, %2, %3"
            : "=r"(v) : "r"(a * 2), "r"(m), "r"(LW_PROVED(zero == -128) ? place : place + lw_asr_i32(a, 31)));
/* four products of halves, because there is no 64-bit product */
#elif defined(__ARM_ARCH_6M__) || defined(__ARM_ARCH_8M_BASE__)
    const uint32_t x = (uint32_t)(a * 2), x0 = x & 0xffff, m0 = (uint32_t)m & 0xffff;
    const int32_t x1 = lw_asr_i32(a * 2, 16), m1 = m >> 16;
    const uint32_t low = x0 * m0, one = (uint32_t)x1 * m0, two = x0 * (uint32_t)m1;
    const uint32_t middle = (low >> 16) + (one & 0xffff) + (two & 0xffff) + 0x8000;
    const int32_t high = x1 * m1 + lw_asr_i32((int32_t)one, 16) + (int32_t)(two >> 16) + (int32_t)(middle >> 16);
    const int32_t v = high + lw_asr_i32(a, 31) + place;
#else
#ifdef __riscv                       /* MULHSU with a doubled factor, which is computed once for all elements */
    const int64_t product = a * (int64_t)((uint32_t)m * 2u);
#else
    const int64_t product = (int64_t)(a * 2) * m;
#endif
    const int32_t high = (int32_t)lw_asr_i64(product, 32) + (int32_t)((uint32_t)product >> 31),
                  v = high + (LW_PROVED(zero == -128) ? 0 : lw_asr_i32(high, 31)) + place;
#endif
    return lw_sat_i8(lw_asr_i32(v, n));
}
/* lw: end */

/* Functions of fixed-point numbers Qm.f: m integer bits, f fraction bits. Sums wrap only for arguments outside the
 * documented range. */
/* lw: lw_sum_i32 needs */
/*@ assigns \nothing; */
static inline int32_t lw_sum_i32(int32_t a, int32_t b) { return (int32_t)((uint32_t)a + (uint32_t)b); }
/* lw: end */

/* lw: lw_expq_i32 needs lw_mulhigh_i32 lw_roundshift_i32 lw_sum_i32 */
/* Returns exp(a) as Q0.31, for a <= 0 in Qm.(31-m) and m in [0, 5]. Multiplies the Taylor series of fourth order at
 * -1/8, for a's remainder modulo a quarter, by the factors exp(-1/4), exp(-1/2), ..., exp(-16) of the higher bits. */
/*@ assigns \nothing; */
static inline int32_t lw_expq_i32(int32_t a, int32_t m)
{
    static const int32_t factor[] = { 1672461947, 1302514674, 790015084, 290630308, 39332535, 720401, 242 };
    if (m < 0 || m > 5) return 0;
    const int32_t quarter = (int32_t)((uint32_t)1 << (29 - m)), part = (a & (quarter - 1)) - quarter;
    const int32_t x = lw_sum_i32((int32_t)((uint32_t)part << m), (int32_t)1 << 28);
    const int32_t x2 = lw_mulhigh_i32(x, x), x3 = lw_mulhigh_i32(x2, x), x4 = lw_mulhigh_i32(x2, x2);
    const int32_t rest = lw_mulhigh_i32(lw_sum_i32(lw_roundshift_i32(x4, 2), x3), 715827883);
    const int32_t tail = lw_roundshift_i32(lw_sum_i32(rest, x2), 1);
    int32_t result = lw_sum_i32(1895147668, lw_mulhigh_i32(1895147668, lw_sum_i32(x, tail)));
    const uint32_t quarters = (uint32_t)part - (uint32_t)a;
    if (a == 0) return INT32_MAX;
    //@ loop assigns i, result;
    for (int32_t i = 0; i < m + 2; i++)
        if (quarters & (uint32_t)quarter << i) result = lw_mulhigh_i32(result, factor[i]);
    return result;
}
/* lw: end */

/* lw: lw_recipq_i32 needs lw_mulhigh_i32 lw_sum_i32 */
/* Returns 1/h in Q2.29, for h from 1/2 to 1 in Q0.31: the estimate 48/17 - 32/17 h, followed by three Newton steps. */
/*@ requires 0 <= h;
    assigns \nothing;
*/
static inline int32_t lw_recipq_i32(int32_t h)
{
    int32_t x = lw_sum_i32(1515870810, lw_mulhigh_i32(h, -1010580540));
    /*@ loop assigns i, x;
        loop unroll 3;
    */
    for (int32_t i = 0; i < 3; i++) {
        const int32_t rest = lw_mulhigh_i32(x, (int32_t)(((uint32_t)1 << 29) - (uint32_t)lw_mulhigh_i32(h, x)));
        const int32_t most = ((int32_t)1 << 29) - 1;
        x = lw_sum_i32(x, rest > most ? INT32_MAX : rest < -most ? INT32_MIN : rest * 4);
    }
    return x;
}
/* lw: end */

/* lw: lw_clz_i32 needs */
/* Counts leading zeros; 32 for 0. */
/*@ assigns \nothing;
    ensures interval: 0 <= \result <= 32;
*/
static inline int32_t lw_clz_i32(int32_t a)
{
    uint32_t u = (uint32_t)a;
    int32_t n = u ? 0 : 32;
    /*@ loop assigns step, u, n;
        loop unroll 5;
    */
    for (int32_t step = 16; step > 0 && u; step /= 2)
        if (u >> (32 - step) == 0) {
            u <<= step;
            n += step;
        }
    return n;
}
/* lw: end */

#endif
