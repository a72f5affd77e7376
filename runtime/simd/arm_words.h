/* SPDX-License-Identifier: 0BSD */
/* LW_DOT_WORDS of rows.h on Arm cores without the DSP extension: in Thumb-2 (Cortex-M3) with MLA, in Thumb (Cortex-M0+)
 * with MULS. In assembly, because compilers spill some of the 12 registers in each iteration; the contract is that of
 * arm_asm.h. */
#ifndef LW_SIMD_ARM_WORDS_H
#define LW_SIMD_ARM_WORDS_H

#include "../lw_base.h"
#include "simd.h"

/* lw: lw_arm_words needs LW_SIMD_CHOICE LW_SHARED lw_dot_words */
#if LW_SIMD_ARM_WORDS
/* n is the number of weights, which is even and positive. */
static LW_SHARED void lw_arm_words(int32_t count, int32_t *sums, const int32_t *words, const int8_t *weights)
{
    register int32_t n __asm__("r0") = count;
    register int32_t *c __asm__("r1") = sums;
    register const int32_t *a __asm__("r2") = words;
    register const int8_t *b __asm__("r3") = weights;
#if __ARM_ARCH_ISA_THUMB >= 2
    /* MLA begins with 2^15, so that the lower half rounds the upper half, and the sums begin without these numbers: 11
     * instructions for 8 products. */
#define LW_WORDS_PAIR                                                                                                  \
    "    ldm r2!, {r4, r5, r6, r8}\n"                                                                                  \
    "    ldrsb r1, [r3], #1\n"                                                                                         \
    "    mla r4, r4, r1, lr\n"                                                                                         \
    "    mla r5, r5, r1, lr\n"                                                                                         \
    "    ldrsb r1, [r3], #1\n"                                                                                         \
    "    mla r4, r6, r1, r4\n"                                                                                         \
    "    mla r5, r8, r1, r5\n"                                                                                         \
    "    add r9, r9, r4\n"                                                                                             \
    "    add r10, r10, r4, asr #16\n"                                                                                  \
    "    add r11, r11, r5\n"                                                                                           \
    "    add r12, r12, r5, asr #16\n"
    __asm__ volatile(
        "    push {r1}\n"
        "    ldm r1, {r9, r10, r11, r12}\n"
        "    mov lr, #0x8000\n"
        "    add r9, r9, r10, lsl #16\n"
        "    add r11, r11, r12, lsl #16\n"
        "    sub r9, r9, r0, lsl #14\n"
        "    sub r11, r11, r0, lsl #14\n"
        "    tst r0, #2\n"
        "    beq 1f\n"
        "    subs r0, r0, #2\n" LW_WORDS_PAIR
        "    cmp r0, #0\n"
        "    beq 2f\n"
        "1:\n" LW_WORDS_PAIR LW_WORDS_PAIR
        "    subs r0, r0, #4\n"
        "    bne 1b\n"
        "2:  pop {r1}\n"
        "    sub r9, r9, r10, lsl #16\n"
        "    sub r11, r11, r12, lsl #16\n"
        "    stm r1, {r9, r10, r11, r12}\n"
        : "+r"(n), "+r"(c), "+r"(a), "+r"(b)
        :
        : "r4", "r5", "r6", "r8", "r9", "r10", "r11", "r12", "lr", "cc", "memory");
#undef LW_WORDS_PAIR
#else
    /* ASRS leaves the lower half's sign in the carry, and ADCS adds it: 21 instructions for 8 products. The code saves
     * r7 itself, because it may be the frame pointer. */
    __asm__ volatile(
        "    .syntax unified\n"
        "    push {r1, r7}\n"
        "    ldm r1!, {r4, r5, r6, r7}\n"
        "    mov r10, r4\n"
        "    mov r11, r6\n"
        "    mov r6, r5\n"
        "    lsls r5, r6, #16\n"
        "    add r10, r5\n"
        "    lsls r5, r7, #16\n"
        "    add r11, r5\n"
        "    adds r3, r3, r0\n"
        "    negs r0, r0\n"
        "1:  ldm r2!, {r4, r5}\n"
        "    ldrsb r1, [r3, r0]\n"
        "    adds r0, r0, #1\n"
        "    muls r4, r1, r4\n"
        "    muls r5, r1, r5\n"
        "    mov r8, r4\n"
        "    mov r9, r5\n"
        "    ldm r2!, {r4, r5}\n"
        "    ldrsb r1, [r3, r0]\n"
        "    muls r4, r1, r4\n"
        "    muls r5, r1, r5\n"
        "    add r4, r8\n"
        "    add r5, r9\n"
        "    add r10, r4\n"
        "    add r11, r5\n"
        "    asrs r4, r4, #16\n"
        "    adcs r6, r4\n"
        "    asrs r5, r5, #16\n"
        "    adcs r7, r5\n"
        "    adds r0, r0, #1\n"
        "    bne 1b\n"
        "    ldr r1, [sp]\n"
        "    mov r4, r10\n"
        "    lsls r5, r6, #16\n"
        "    subs r4, r4, r5\n"
        "    stm r1!, {r4, r6}\n"
        "    mov r4, r11\n"
        "    lsls r5, r7, #16\n"
        "    subs r4, r4, r5\n"
        "    stm r1!, {r4, r7}\n"
        "    pop {r1, r7}\n"
        : "+r"(n), "+r"(c), "+r"(a), "+r"(b)
        :
        : "r4", "r5", "r6", "r8", "r9", "r10", "r11", "cc", "memory");
#endif
}
#define LW_ROWS_DOT_WORDS_I8(n, c, ci, cp, ch, a, ai, ae, b, bi)                                                       \
    do {                                                                                                               \
        if ((n) > 1 && (n) % 2 == 0 && (cp) == 2 && (ch) == 1 && (ae) == 2)                                            \
            lw_arm_words(n, (c) + (ci), (a) + (ai), (b) + (bi));                                                       \
        else lw_dot_words(n, (c) + (ci), cp, ch, (a) + (ai), ae, (b) + (bi));                                          \
    } while (0)
#endif
/* lw: end */

/* lw: lw_arm_long needs LW_SIMD_CHOICE LW_SHARED lw_dot_long */
#if LW_SIMD_ARM_WORDS && __ARM_ARCH_ISA_THUMB >= 2
/* A word u + 2^24 * s of two weights, u = w + 128 and s = w, times x gives both products, which are 24 bits apart.
 * SMLAL adds them up in 64 bits. 256 sums of the lower products stay below 2^23; 128 times the sum of x is subtracted
 * from them at the end. The even bytes of a word of weights are u: bytes 0 and 3 form a factor, and bytes 2 and 1 of
 * the rotated word form the other one. 26 instructions compute 16 products. */
#define LW_LONG_STEP                                                                                                   \
    "    ldr %[v], [%[b]], #4\n"                                                                                       \
    "    ldrsb %[x], [%[a]], #1\n"                                                                                     \
    "    and %[w], %[mask], %[v]\n"                                                                                    \
    "    and %[v], %[mask], %[v], ror #16\n"                                                                           \
    "    smlal %Q[p], %R[p], %[w], %[x]\n"                                                                             \
    "    smlal %Q[q], %R[q], %[v], %[x]\n"
/* Adds the products of n elements, 256 at most, with the words at b to the four sums. */
static inline void lw_arm_long_part(int32_t n, int32_t *c, const int8_t *a, const uint8_t *b)
{
    int64_t p = 0, q = 0;
    int32_t v, w, x;
    for (int32_t i = n >> 2; i > 0; i--)
        __asm__ volatile(LW_LONG_STEP LW_LONG_STEP LW_LONG_STEP LW_LONG_STEP
                         : [a] "+r"(a), [b] "+r"(b), [p] "+r"(p), [q] "+r"(q), [v] "=&r"(v), [w] "=&r"(w), [x] "=&r"(x)
                         : [mask] "r"(0xff0000ff)
                         : "memory");
    for (int32_t i = n & 3; i > 0; i--)
        __asm__ volatile(LW_LONG_STEP
                         : [a] "+r"(a), [b] "+r"(b), [p] "+r"(p), [q] "+r"(q), [v] "=&r"(v), [w] "=&r"(w), [x] "=&r"(x)
                         : [mask] "r"(0xff0000ff)
                         : "memory");
    const int32_t p0 = (int32_t)((uint32_t)p << 8) >> 8, q0 = (int32_t)((uint32_t)q << 8) >> 8;
    c[0] = (int32_t)((uint32_t)c[0] + (uint32_t)p0);
    c[1] = (int32_t)((uint32_t)c[1] + (uint32_t)((uint64_t)(q - q0) >> 24));
    c[2] = (int32_t)((uint32_t)c[2] + (uint32_t)q0);
    c[3] = (int32_t)((uint32_t)c[3] + (uint32_t)((uint64_t)(p - p0) >> 24));
}
#undef LW_LONG_STEP
static LW_SHARED void lw_arm_long(int32_t n, int32_t m, int32_t *c, const int8_t *a, const uint8_t *b)
{
    int32_t all = 0;
    for (int32_t e = 0; e < n; e++) all += a[e];
    const uint32_t sum = 128 * (uint32_t)all;
    for (int32_t u = 0; u < m; u++, c += 4, b += 4 * n) {
        for (int32_t e = 0; e < n; e += 256) lw_arm_long_part(n - e < 256 ? n - e : 256, c, a + e, b + 4 * e);
        c[0] = (int32_t)((uint32_t)c[0] - sum);
        c[2] = (int32_t)((uint32_t)c[2] - sum);
    }
}
#define LW_ROWS_DOT_LONG_I8(n, m, c, ci, cu, cp, a, ai, b, bi, bu, be, bp)                                             \
    do {                                                                                                               \
        if (((m) == 1 || ((cu) == 4 && (bu) == 4 * (n))) && (cp) == 2 && (be) == 4 && (bp) == 2)                       \
            lw_arm_long(n, m, (c) + (ci), (a) + (ai), (b) + (bi));                                                     \
        else lw_dot_long(n, m, (c) + (ci), cu, cp, (a) + (ai), (b) + (bi), bu, be, bp);                                \
    } while (0)
#endif
/* lw: end */

/* lw: lw_arm_shared needs LW_SIMD_CHOICE */
#if LW_SIMD_ARM_WORDS || (LW_SIMD_ARM_DSP && !LW_SIMD_ARM_MVE && defined(__GNUC__) && defined(__thumb__))
/* Adds the products of 16 elements and of eight rows that share words to four sums. The shifts bring the rows down: 10
 * instructions for 8 products in Thumb-2, 20 in Thumb. */
#if __ARM_ARCH_ISA_THUMB >= 2
#define LW_STAY "lsl #0"
#define LW_DOWN(n) "lsr #" n
#define LW_SHARED_ROW(shift, sum)                                                                                      \
    "    and %[t], %[mask], %[v], " shift "\n"                                                                         \
    "    mla %[" sum "], %[t], %[x], %[" sum "]\n"
#define LW_SHARED_STEP(first, second, third, fourth)                                                                   \
    "    ldr %[v], [%[b]], #4\n"                                                                                       \
    "    ldrsb %[x], [%[a]], #1\n" LW_SHARED_ROW(first, "s0") LW_SHARED_ROW(second, "s1") LW_SHARED_ROW(third, "s2")   \
        LW_SHARED_ROW(fourth, "s3")
#define LW_SHARED_FOUR(...) \
    LW_SHARED_STEP(__VA_ARGS__) LW_SHARED_STEP(__VA_ARGS__) LW_SHARED_STEP(__VA_ARGS__) LW_SHARED_STEP(__VA_ARGS__)
#define LW_SHARED_LOOP(...)                                                                                            \
    for (int32_t i = 0; i < 2; i++)                                                                                    \
    __asm__ volatile(LW_SHARED_FOUR(__VA_ARGS__) LW_SHARED_FOUR(__VA_ARGS__)                                           \
                     : [a] "+r"(a), [b] "+r"(b), [s0] "+r"(s0), [s1] "+r"(s1), [s2] "+r"(s2), [s3] "+r"(s3),           \
                       [v] "=&r"(v), [x] "=&r"(x), [t] "=&r"(t)                                                        \
                     : [mask] "r"(mask)                                                                                \
                     : "memory")
#else
#define LW_STAY "movs %[t], %[v]"
#define LW_DOWN(n) "lsrs %[t], %[v], #" n
#define LW_SHARED_ROW(shift, sum)                                                                                      \
    "    " shift "\n"                                                                                                  \
    "    ands %[t], %[mask]\n"                                                                                         \
    "    muls %[t], %[x]\n"                                                                                            \
    "    add %[" sum "], %[t]\n"
#define LW_SHARED_LOOP(first, second, third, fourth)                                                                   \
    __asm__ volatile("    .syntax unified\n"                                                                           \
                     "1:  ldm %[b]!, {%[v]}\n"                                                                         \
                     "    ldrsb %[x], [%[a], %[n]]\n" LW_SHARED_ROW(first, "s0") LW_SHARED_ROW(second, "s1")           \
                         LW_SHARED_ROW(third, "s2") LW_SHARED_ROW(fourth, "s3")                                        \
                     "    adds %[n], #1\n"                                                                             \
                     "    bne 1b\n"                                                                                    \
                     : [n] "+l"(n), [b] "+l"(b), [s0] "+h"(s0), [s1] "+h"(s1), [s2] "+h"(s2), [s3] "+h"(s3),           \
                       [v] "=&l"(v), [x] "=&l"(x), [t] "=&l"(t)                                                        \
                     : [a] "l"(a + 16), [mask] "l"(mask)                                                               \
                     : "cc", "memory")
#endif
static inline void lw_arm_shared(int32_t bits, int32_t row, uint32_t *sum, const int8_t *a, const uint32_t *b)
{
    const uint32_t mask = bits == 4 ? 0x000f000f : 0x00030003;
    uint32_t s0 = sum[0], s1 = sum[1], s2 = sum[2], s3 = sum[3], v, x, t;
#if __ARM_ARCH_ISA_THUMB == 1
    int32_t n = -16;
#endif
    if (bits == 4) LW_SHARED_LOOP(LW_STAY, LW_DOWN("4"), LW_DOWN("8"), LW_DOWN("12"));
    else if (row == 0) LW_SHARED_LOOP(LW_STAY, LW_DOWN("2"), LW_DOWN("4"), LW_DOWN("6"));
    else LW_SHARED_LOOP(LW_DOWN("8"), LW_DOWN("10"), LW_DOWN("12"), LW_DOWN("14"));
    sum[0] = s0;
    sum[1] = s1;
    sum[2] = s2;
    sum[3] = s3;
}
#undef LW_STAY
#undef LW_DOWN
#undef LW_SHARED_ROW
#undef LW_SHARED_STEP
#undef LW_SHARED_FOUR
#undef LW_SHARED_LOOP
#define LW_SHARED_16(bits, row, sum, a, b) lw_arm_shared(bits, row, sum, a, b)
#endif
/* lw: end */

/* lw: lw_arm_1x4 needs LW_SIMD_CHOICE LW_SHARED lw_dot_1x4 */
#if LW_SIMD_ARM_WORDS && __ARM_ARCH_ISA_THUMB == 1
/* Multiplies four rows of weights by one row of elements: 15 instructions for 4 products. n must be positive. The code
 * saves r7 itself, because it may be the frame pointer. */
static LW_SHARED void lw_arm_1x4(int32_t count, int32_t *sums, const int8_t *elements, const int8_t *weights,
                                 int32_t row)
{
    register int32_t n __asm__("r0") = count;
    register int32_t *c __asm__("r1") = sums;
    register const int8_t *a __asm__("r2") = elements;
    register const int8_t *b __asm__("r3") = weights;
    register int32_t bo __asm__("r4") = row;
    __asm__ volatile(
        "    .syntax unified\n"
        "    push {r1, r7}\n"
        "    ldm r1!, {r5, r6, r7}\n"
        "    mov r8, r5\n"
        "    mov r9, r6\n"
        "    mov r10, r7\n"
        "    ldr r5, [r1]\n"
        "    mov r11, r5\n"
        "    adds r2, r2, r0\n"
        "    adds r3, r3, r0\n"
        "    adds r5, r3, r4\n"
        "    adds r6, r5, r4\n"
        "    adds r4, r6, r4\n"
        "    negs r0, r0\n"
        "1:  ldrsb r1, [r2, r0]\n"
        "    ldrsb r7, [r3, r0]\n"
        "    muls r7, r1, r7\n"
        "    add r8, r7\n"
        "    ldrsb r7, [r5, r0]\n"
        "    muls r7, r1, r7\n"
        "    add r9, r7\n"
        "    ldrsb r7, [r6, r0]\n"
        "    muls r7, r1, r7\n"
        "    add r10, r7\n"
        "    ldrsb r7, [r4, r0]\n"
        "    muls r7, r1, r7\n"
        "    add r11, r7\n"
        "    adds r0, r0, #1\n"
        "    bne 1b\n"
        "    pop {r1, r7}\n"
        "    mov r3, r8\n"
        "    mov r4, r9\n"
        "    mov r5, r10\n"
        "    mov r6, r11\n"
        "    stm r1!, {r3, r4, r5, r6}\n"
        : "+r"(n), "+r"(c), "+r"(a), "+r"(b), "+r"(bo)
        :
        : "r5", "r6", "r8", "r9", "r10", "r11", "cc", "memory");
}
#define LW_ROWS_DOT_1X4_I8(n, c, ci, a, ai, b, bi, bo)                                                                 \
    do {                                                                                                               \
        if ((n) > 0) lw_arm_1x4(n, (c) + (ci), (a) + (ai), (b) + (bi), bo);                                            \
    } while (0)
#endif
/* lw: end */
#endif
