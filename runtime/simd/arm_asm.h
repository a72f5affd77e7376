/* SPDX-License-Identifier: 0BSD */
/* The assembly of the Arm headers, with its contract. The remainder of arm_dsp.h and arm_mve.h is intrinsics, for which
 * gcc 12 and clang 14 emit the instruction itself (SMLAD, SXTB16, SXTAB16, SSUB8 with SEL).
 *
 *   lw_asm_odd, _low, _high, _add_odd   one instruction each with a rotated or shifted operand. For the same in C,
 *                                       gcc 12 emits two or three (SXTB16 and ROR; UXTH and ORR; two shifts and
 *                                       ORR), clang one
 *   LW_ASM_SMLA                         with __smlabb and __smlatt, -O3 of gcc 12 takes from 1.6 % less to 0.8 % more
 *                                       instructions for a network (vww_96_int8, kws_ref_model); with products in C,
 *                                       3 to 5 % more
 *   lw_dsp_2x2, _2x4, _2xn_fours,       sums, addresses and operands occupy all of r0 to r12 and lr; a compiler spills
 *   _1x4_pairs, _1x4_fours, _dot_columns  some of them in each iteration
 *   lw_mve_2x2, _1x4, _1x1, _copy,      tail-predicated loops (WLSTP, LETP), which gcc 12 never emits
 *   _fill, _scale_each, _scale_row,
 *   _scale_two, _scale_eights
 *   lw_mve_2xn, _1xn, _panel_pair       the same, with all registers in use
 *   lw_mve_nibbles, _nibbles_pairs      sums and addresses in chosen registers; a compiler unrolls and spills addresses
 *   lw_mve_windows, _windows_apart,     all eight vectors in use; a compiler spills sums and recomputes addresses
 *   _taps
 *   LW_ASM_NOW, LW_MVE_NOW              no instruction: an unrolling compiler moves no load before it
 *
 * Contract. Each takes pointers to elements that exist, for n >= 0 (lw_dsp_2x4, _2xn_fours: n >= 1); operands do not
 * overlap the result. Each lists every register that it changes, and "memory" if it loads or stores. Only lw_dsp_2x4,
 * _2xn_fours, lw_dsp_dot_columns, lw_mve_2xn, _1xn, _panel_pair, _windows and _windows_apart change sp. They pop every
 * word that they push, jump only within themselves, and are never inlined (LW_SHARED). The value that a loop leaves in
 * an address register is unused: it may be up to 15 bytes after the end of the row. */
#ifndef LW_SIMD_ARM_ASM_H
#define LW_SIMD_ARM_ASM_H

#include "../lw_base.h"
#include "simd.h"

/* lw: lw_asm_rotated needs LW_SIMD_CHOICE */
#if LW_SIMD_ARM_DSP
#define LW_ASM_NOW __asm__ volatile("" : : : "memory")
/* adds the product of the bottom halves ("bb") or the top halves ("tt") of x and w to c */
#define LW_ASM_SMLA(halves, c, x, w) __asm__("smla" halves " %0, %1, %2, %0" : "+r"(c) : "r"(x), "r"(w))
/* Returns the odd bytes of a word as a pair of 16-bit values. */
static inline int32_t lw_asm_odd(int32_t w)
{
    int32_t r;
    __asm__("sxtb16 %0, %1, ror #8" : "=r"(r) : "r"(w));
    return r;
}
/* Returns sum + lw_asm_odd(w), half by half. */
static inline int32_t lw_asm_add_odd(int32_t sum, int32_t w)
{
    __asm__("sxtab16 %0, %0, %1, ror #8" : "+r"(sum) : "r"(w));
    return sum;
}
/* These combine the low halves of even and odd in one word, or the high halves. */
static inline int32_t lw_asm_low(int32_t even, int32_t odd)
{
    int32_t r;
    __asm__("pkhbt %0, %1, %2, lsl #16" : "=r"(r) : "r"(even), "r"(odd));
    return r;
}
static inline int32_t lw_asm_high(int32_t even, int32_t odd)
{
    int32_t r;
    __asm__("pkhtb %0, %1, %2, asr #16" : "=r"(r) : "r"(odd), "r"(even));
    return r;
}
#endif
/* lw: end */

/* lw: lw_asm_2x2 needs LW_SIMD_CHOICE */
/* without optimization a frame pointer occupies a required register */
#if LW_SIMD_ARM_DSP && defined(__OPTIMIZE__)
/* The function is assembly, because compilers do not allocate 13 registers for four sums, three addresses, a count, and
 * operand words. The rows of weights alternate word by word; the even bytes of a word are multiplied by the first pair
 * of each pixel, the odd bytes by the second pair. Adjacent loads take one cycle each. */
static inline void lw_dsp_2x2(int32_t n, int32_t *c, int32_t cw, const int16_t *a, int32_t aw, const int8_t *b)
{
    int32_t c00 = c[0], c01 = c[1], c10 = c[cw], c11 = c[cw + 1], x0, x1, w0, w1, even;
    const int16_t *a1 = a + aw;
    if (n <= 0) return;
    __asm__ volatile(
        "1:  ldr %[x0], [%[a]], #4\n"
        "    ldr %[x1], [%[a1]], #4\n"
        "    ldr %[w1], [%[b], #4]\n"
        "    ldr %[w0], [%[b]], #8\n"
        "    sxtb16 %[even], %[w1]\n"
        "    smlad %[c01], %[x0], %[even], %[c01]\n"
        "    smlad %[c11], %[x1], %[even], %[c11]\n"
        "    sxtb16 %[even], %[w0]\n"
        "    smlad %[c00], %[x0], %[even], %[c00]\n"
        "    ldr %[x0], [%[a]], #4\n"
        "    smlad %[c10], %[x1], %[even], %[c10]\n"
        "    ldr %[x1], [%[a1]], #4\n"
        "    sxtb16 %[w0], %[w0], ror #8\n"
        "    sxtb16 %[w1], %[w1], ror #8\n"
        "    subs %[n], %[n], #1\n"
        "    smlad %[c00], %[x0], %[w0], %[c00]\n"
        "    smlad %[c01], %[x0], %[w1], %[c01]\n"
        "    smlad %[c10], %[x1], %[w0], %[c10]\n"
        "    smlad %[c11], %[x1], %[w1], %[c11]\n"
        "    bne 1b\n"
        : [c00] "+r"(c00), [c01] "+r"(c01), [c10] "+r"(c10), [c11] "+r"(c11), [a] "+r"(a), [a1] "+r"(a1), [b] "+r"(b),
          [n] "+r"(n),
          [x0] "=&r"(x0), [x1] "=&r"(x1), [w0] "=&r"(w0), [w1] "=&r"(w1), [even] "=&r"(even)
        :
        : "cc", "memory");
    c[0] = c00;
    c[1] = c01;
    c[cw] = c10;
    c[cw + 1] = c11;
}
#endif
/* lw: end */

/* lw: lw_asm_2x4 needs LW_SIMD_CHOICE LW_SHARED */
#if LW_SIMD_ARM_DSP
/* Each number packs two rows of weights. SMLAD by the packed number yields 256 times the odd row's sums plus the even
 * row's. SMLAD with only the even bytes gives the even row's sums, and the other sums follow by a shift. So each word
 * is widened once instead of twice, and 12 instructions compute 16 products: LDRD of two pixels, LDRD of two words of
 * weights, then for both words one SXTB16 and four SMLAD. All registers are in use: r4 to r11 are the sums of the first
 * pixel and of the second, of rows 0, 0 and 1, 2, 2 and 3; the end of the pixels is on the stack. The code saves r7
 * itself, because it may be the frame pointer. LDRD requires addresses that are multiples of 4, LDR does not. */
#define LW_DSP_WORD_OF_ROWS(word, even0, both0, even1, both1)                                                          \
    "    smlad " both0 ", r12, " word ", " both0 "\n"                                                                  \
    "    smlad " both1 ", lr, " word ", " both1 "\n"                                                                   \
    "    sxtb16 " word ", " word "\n"                                                                                  \
    "    smlad " even0 ", r12, " word ", " even0 "\n"                                                                  \
    "    smlad " even1 ", lr, " word ", " even1 "\n"
#define LW_DSP_WORDS_OF_ROWS                                                                                           \
    LW_DSP_WORD_OF_ROWS("r0", "r4", "r5", "r8", "r9") LW_DSP_WORD_OF_ROWS("r1", "r6", "r7", "r10", "r11")
#define LW_DSP_PAIR_OF_PIXELS                                                                                          \
    "    ldrd r12, lr, [r2], #8\n"                                                                                     \
    "    ldrd r0, r1, [r3], #8\n" LW_DSP_WORDS_OF_ROWS
#define LW_DSP_PAIRS_OF_PIXELS LW_DSP_PAIR_OF_PIXELS LW_DSP_PAIR_OF_PIXELS LW_DSP_PAIR_OF_PIXELS LW_DSP_PAIR_OF_PIXELS
#ifdef __OPTIMIZE_SIZE__
#define LW_DSP_SHIFT 2      /* 4 in an iteration */
#define LW_DSP_STEPS LW_DSP_PAIRS_OF_PIXELS
#else
#define LW_DSP_SHIFT 3
#define LW_DSP_STEPS LW_DSP_PAIRS_OF_PIXELS LW_DSP_PAIRS_OF_PIXELS
#endif
static LW_SHARED void lw_dsp_2x4(int32_t pairs, int32_t *sums, const int16_t *pixels, const int16_t *rows)
{
    register int32_t n __asm__("r0") = pairs;
    register int32_t *c __asm__("r1") = sums;
    register const int16_t *a __asm__("r2") = pixels;
    register const int16_t *b __asm__("r3") = rows;
    __asm__ volatile(
        "    add r12, r2, r0, lsl #3\n"
        "    push {r1, r7, r12}\n"
        "    ldm r1, {r4-r11}\n"
        "    mov r5, r4\n"
        "    mov r7, r6\n"
        "    mov r9, r8\n"
        "    mov r11, r10\n"
        "    orr lr, r2, r3\n"
        "    lsl r12, r0, #32 - %c[shift]\n"
        "    orrs r12, r12, lr, lsl #30\n"
        "    beq 1f\n"
        "    tst lr, #3\n"
        "    beq 6f\n"
        "5:  ldr r12, [r2], #4\n"
        "    ldr lr, [r2], #4\n"
        "    ldr r0, [r3], #4\n"
        "    ldr r1, [r3], #4\n" LW_DSP_WORDS_OF_ROWS
        "    ldr r12, [sp, #8]\n"
        "    cmp r2, r12\n"
        "    bne 5b\n"
        "    b 7f\n"
        "6:  and r12, r0, #(1 << %c[shift]) - 1\n"   /* a remainder enters the first iteration in the middle */
        "    rsb r12, r12, #1 << %c[shift]\n"
        "    add r12, r12, r12, lsl #1\n"
        "    adr.w lr, 1f\n"
        "    add lr, lr, r12, lsl #4\n"               /* 48 bytes each */
        "    orr lr, lr, #1\n"
        "    bx lr\n"
        "    .balign 4\n"
        "1:\n" LW_DSP_STEPS
        "    ldr r12, [sp, #8]\n"
        "    cmp r2, r12\n"
        "    bne 1b\n"
        "7:  ldr r1, [sp]\n"
        "    ldr r0, [r1, #4]\n"
        "    ldr r2, [r1, #12]\n"
        "    ldr r3, [r1, #20]\n"
        "    ldr r12, [r1, #28]\n"
        "    sub r5, r5, r4\n"
        "    sub r7, r7, r6\n"
        "    sub r9, r9, r8\n"
        "    sub r11, r11, r10\n"
        "    add r5, r0, r5, asr #8\n"
        "    add r7, r2, r7, asr #8\n"
        "    add r9, r3, r9, asr #8\n"
        "    add r11, r12, r11, asr #8\n"
        "    stm r1, {r4-r11}\n"
        "    pop {r1, r7, r12}\n"
        : "+r"(n), "+r"(c), "+r"(a), "+r"(b)
        : [shift] "i"(LW_DSP_SHIFT)
        : "r4", "r5", "r6", "r8", "r9", "r10", "r11", "r12", "lr", "cc", "memory");
}
#endif
/* lw: end */

/* lw: lw_asm_1x4 needs LW_SIMD_CHOICE LW_SHARED */
#if LW_SIMD_ARM_DSP
/* Like lw_dsp_2x4, for one row of bytes, with 17 instructions for 16 products. This loop is assembly, because gcc 12
 * emits LDRD only for weights of known alignment. b is a multiple of 4. */
static LW_SHARED void lw_dsp_1x4_pairs(int32_t n, int32_t *c, const int8_t *a, const int16_t *b)
{
    int32_t even0 = c[0], both0 = even0, even1 = c[2], both1 = even1, x, odd, w0, w1, w2, w3;
    if (n <= 0) return;
    __asm__ volatile(
        "1:  ldr %[x], [%[a]], #4\n"
        "    ldrd %[w0], %[w1], [%[b]], #8\n"
        "    ldrd %[w2], %[w3], [%[b]], #8\n"
        "    sxtb16 %[odd], %[x], ror #8\n"
        "    sxtb16 %[x], %[x]\n"
        "    smlad %[both0], %[x], %[w0], %[both0]\n"
        "    sxtb16 %[w0], %[w0]\n"
        "    smlad %[both1], %[x], %[w1], %[both1]\n"
        "    sxtb16 %[w1], %[w1]\n"
        "    smlad %[even0], %[x], %[w0], %[even0]\n"
        "    smlad %[even1], %[x], %[w1], %[even1]\n"
        "    smlad %[both0], %[odd], %[w2], %[both0]\n"
        "    sxtb16 %[w2], %[w2]\n"
        "    smlad %[both1], %[odd], %[w3], %[both1]\n"
        "    sxtb16 %[w3], %[w3]\n"
        "    smlad %[even0], %[odd], %[w2], %[even0]\n"
        "    smlad %[even1], %[odd], %[w3], %[even1]\n"
        "    subs %[n], %[n], #1\n"
        "    bne 1b\n"
        : [even0] "+r"(even0), [both0] "+r"(both0), [even1] "+r"(even1), [both1] "+r"(both1), [a] "+r"(a), [b] "+r"(b),
          [n] "+r"(n), [x] "=&r"(x), [odd] "=&r"(odd), [w0] "=&r"(w0), [w1] "=&r"(w1), [w2] "=&r"(w2), [w3] "=&r"(w3)
        :
        : "cc", "memory");
    c[0] = even0;
    c[1] += (both0 - even0) >> 8;
    c[2] = even1;
    c[3] += (both1 - even1) >> 8;
}
#endif
/* lw: end */

/* lw: lw_asm_fours needs LW_SIMD_CHOICE LW_SHARED */
#if LW_SIMD_ARM_DSP
/* Each number holds four rows of 4 bits: three are 8 more than the weight, the fourth is the weight. SMLAD by the
 * number, by its lower 12, 8 and 4 bits gives sums whose differences are the rows'. The sums begin with `first`, -8
 * times the sum of the elements of x, in the units of the three rows. 13 instructions compute 16 products. All
 * registers are in use, as in lw_dsp_2x4. */
#define LW_DSP_FOURS                                                                                                   \
    "    ldrd r12, lr, [r2], #8\n"                                                                                     \
    "    ldr r0, [r3], #4\n"                                                                                           \
    "    smlad r7, r12, r0, r7\n"                                                                                      \
    "    smlad r11, lr, r0, r11\n"                                                                                     \
    "    and r1, r0, #0x000f000f\n"                                                                                    \
    "    bic r0, r0, #0xf000f000\n"                                                                                    \
    "    smlad r4, r12, r1, r4\n"                                                                                      \
    "    smlad r8, lr, r1, r8\n"                                                                                       \
    "    uxtb16 r1, r0\n"                                                                                              \
    "    smlad r6, r12, r0, r6\n"                                                                                      \
    "    smlad r10, lr, r0, r10\n"                                                                                     \
    "    smlad r5, r12, r1, r5\n"                                                                                      \
    "    smlad r9, lr, r1, r9\n"
/* The first values, addresses and sizes of the groups of four channels. */
typedef struct LwDspFours {
    int32_t first[8];                    /* of the first pixel and of the second */
    const int16_t *pixels;
    uintptr_t entry;                     /* the step where a remainder enters the first iteration */
    const int16_t *end;
    int32_t step;                        /* bytes from the sums of a pixel to the next */
    const uint16_t *end_of_rows;
} LwDspFours;
static LW_SHARED void lw_dsp_2xn_fours(int32_t pairs, int32_t *sums, const uint16_t *rows, LwDspFours *begin)
{
    register int32_t n __asm__("r0") = pairs;
    register LwDspFours *all __asm__("r1") = begin;
    register int32_t *c __asm__("r2") = sums;
    register const uint16_t *b __asm__("r3") = rows;
    __asm__ volatile(
        "    rsb r0, r0, #0\n"
        "    and r0, r0, #7\n"
        "    mov r4, #52\n"                            /* bytes of each step */
        "    mul r0, r0, r4\n"
        "    adr.w r4, 1f\n"
        "    add r4, r4, r0\n"
        "    orr r4, r4, #1\n"
        "    str r4, [r1, #36]\n"
        "    ldr r4, [r1, #40]\n"
        "    ldr r5, [r1, #44]\n"
        "    ldr r6, [r1, #48]\n"
        "    push {r1, r2, r4, r5, r6, r7}\n"          /* all, sums, end, step, end of rows, perhaps a frame pointer */
        "2:  ldm r1!, {r4-r11}\n"
        "    ldrd r2, lr, [r1]\n"
        "    bx lr\n"
        "    .balign 4\n"
        "1:\n" LW_DSP_FOURS LW_DSP_FOURS LW_DSP_FOURS LW_DSP_FOURS LW_DSP_FOURS LW_DSP_FOURS LW_DSP_FOURS LW_DSP_FOURS
        "    ldr r12, [sp, #8]\n"
        "    cmp r2, r12\n"
        "    bne.w 1b\n"
        "    ldr r1, [sp, #4]\n"
        "    sub r7, r7, r6\n"
        "    sub r6, r6, r5\n"
        "    sub r5, r5, r4\n"
        "    sub r11, r11, r10\n"
        "    sub r10, r10, r9\n"
        "    sub r9, r9, r8\n"
        "    ldm r1, {r0, r2, r12, lr}\n"
        "    add r4, r0, r4\n"
        "    add r5, r2, r5, asr #4\n"
        "    add r6, r12, r6, asr #8\n"
        "    add r7, lr, r7, asr #12\n"
        "    stm r1!, {r4-r7}\n"
        "    str r1, [sp, #4]\n"
        "    ldrd r0, r2, [sp, #12]\n"
        "    add r0, r0, r1\n"
        "    ldmdb r0, {r4, r5, r6, r7}\n"
        "    add r8, r4, r8\n"
        "    add r9, r5, r9, asr #4\n"
        "    add r10, r6, r10, asr #8\n"
        "    add r11, r7, r11, asr #12\n"
        "    stmdb r0, {r8-r11}\n"
        "    ldr r1, [sp]\n"
        "    cmp r3, r2\n"
        "    bne.w 2b\n"
        "    pop {r1, r2, r4, r5, r6, r7}\n"
        : "+r"(n), "+r"(all), "+r"(c), "+r"(b)
        :
        : "r4", "r5", "r6", "r8", "r9", "r10", "r11", "r12", "lr", "cc", "memory");
}
/* Adds up the elements of two pixels, whose pairs alternate, of n * 4 pairs, n >= 1. */
static LW_SHARED void lw_dsp_sum_pairs(int32_t fours, const int16_t *pixels, int32_t *sums)
{
    register int32_t n __asm__("r0") = fours;
    register const int16_t *a __asm__("r1") = pixels;
    register int32_t sum0 __asm__("r2") = sums[0];
    register int32_t sum1 __asm__("r3") = sums[1];
    __asm__ volatile(
        "    mov lr, #0x00010001\n"
        "1:  ldm r1!, {r4, r5, r6, r8, r9, r10, r11, r12}\n"
        "    smlad r2, r4, lr, r2\n"
        "    smlad r3, r5, lr, r3\n"
        "    smlad r2, r6, lr, r2\n"
        "    smlad r3, r8, lr, r3\n"
        "    smlad r2, r9, lr, r2\n"
        "    smlad r3, r10, lr, r3\n"
        "    smlad r2, r11, lr, r2\n"
        "    smlad r3, r12, lr, r3\n"
        "    subs r0, r0, #1\n"
        "    bne 1b\n"
        : "+r"(n), "+r"(a), "+r"(sum0), "+r"(sum1)
        :
        : "r4", "r5", "r6", "r8", "r9", "r10", "r11", "r12", "lr", "cc", "memory");
    sums[0] = sum0;
    sums[1] = sum1;
}
/* Like lw_dsp_2xn_fours, for one row of bytes, with 18 instructions for 16 products. b is a multiple of 4. */
#define LW_DSP_FOUR(x, w)                                                                                              \
    "    smlad %[t3], " x ", " w ", %[t3]\n"                                                                           \
    "    and %[u], " w ", #0x000f000f\n"                                                                               \
    "    bic " w ", " w ", #0xf000f000\n"                                                                              \
    "    smlad %[t0], " x ", %[u], %[t0]\n"                                                                            \
    "    uxtb16 %[u], " w "\n"                                                                                         \
    "    smlad %[t2], " x ", " w ", %[t2]\n"                                                                           \
    "    smlad %[t1], " x ", %[u], %[t1]\n"
#define LW_DSP_FOUR_BYTES                                                                                              \
    "    ldr %[x], [%[a]], #4\n"                                                                                       \
    "    ldrd %[w0], %[w1], [%[b]], #8\n"                                                                              \
    "    sxtb16 %[odd], %[x], ror #8\n"                                                                                \
    "    sxtb16 %[x], %[x]\n" LW_DSP_FOUR("%[x]", "%[w0]") LW_DSP_FOUR("%[odd]", "%[w1]")
static LW_SHARED void lw_dsp_1x4_fours(int32_t n, int32_t *c, const int8_t *a, const uint16_t *b, int32_t first)
{
    int32_t t0 = first, t1 = (int32_t)(17u * (uint32_t)first), t2 = (int32_t)(273u * (uint32_t)first), t3 = t2, x, odd,
            w0, w1, u;
    if (n <= 0) return;
    __asm__ volatile(
        "    tst %[n], #1\n"
        "    beq 1f\n" LW_DSP_FOUR_BYTES
        "    subs %[n], %[n], #1\n"
        "    beq 3f\n"
        "1:  tst %[n], #2\n"
        "    beq 2f\n" LW_DSP_FOUR_BYTES LW_DSP_FOUR_BYTES
        "    subs %[n], %[n], #2\n"
        "    beq 3f\n"
        "2:\n" LW_DSP_FOUR_BYTES LW_DSP_FOUR_BYTES LW_DSP_FOUR_BYTES LW_DSP_FOUR_BYTES
        "    subs %[n], %[n], #4\n"
        "    bne 2b\n"
        "3:\n"
        : [t0] "+r"(t0), [t1] "+r"(t1), [t2] "+r"(t2), [t3] "+r"(t3), [a] "+r"(a), [b] "+r"(b), [n] "+r"(n),
          [x] "=&r"(x), [odd] "=&r"(odd), [w0] "=&r"(w0), [w1] "=&r"(w1), [u] "=&r"(u)
        :
        : "cc", "memory");
    c[0] += t0;
    c[1] += (int32_t)((uint32_t)t1 - (uint32_t)t0) >> 4;
    c[2] += (int32_t)((uint32_t)t2 - (uint32_t)t1) >> 8;
    c[3] += (int32_t)((uint32_t)t3 - (uint32_t)t2) >> 12;
}
#endif
/* lw: end */

/* lw: lw_asm_columns needs LW_SIMD_CHOICE LW_SHARED */
#if LW_SIMD_ARM_DSP
/* Computes four channels of a 3x3 depthwise convolution, for m >= 1 pixels of two output rows. A column holds the rows
 * 0, 1 and 2, 3 in two words. With the weights k0, k1, k2 of a column, and the words (k0, k1), (k1, k2):
 *
 *   first  += (0, 1) . (k0, k1) + 2 * k2         SMLAD, SMLABT
 *   second += 1 * k0 + (2, 3) . (k1, k2)         SMLATB, SMLAD
 *
 * The weights of three columns stay in r4 to r9 for all pixels of a channel. The third word of the weights is read from
 * the fifth byte, because no byte after the ninth may be read. `step` bytes follow the last pixel of a channel up to
 * the next one; a is a multiple of 4. */
#define LW_DSP_COLUMN_OF_WEIGHTS(low, high)                                                                            \
    "    sxtb16 r10, " low "\n"                                                                                        \
    "    sxtb16 r11, " low ", ror #8\n"                                                                                \
    "    pkhbt " low ", r10, r11, lsl #16\n"                                                                           \
    "    pkhtb " high ", r10, r11\n"
#define LW_DSP_COLUMN_OF_PIXELS(address, low, high)                                                                    \
    "    ldrd r10, r11, " address "\n"                                                                                 \
    "    smlad r12, r10, " low ", r12\n"                                                                               \
    "    smlatb lr, r10, " low ", lr\n"                                                                                \
    "    smlabt r12, r11, " high ", r12\n"                                                                             \
    "    smlad lr, r11, " high ", lr\n"
static LW_SHARED void lw_dsp_dot_columns(int32_t pixels, int32_t *sums, const int16_t *columns, const int8_t *weights,
                                         int32_t step)
{
    register int32_t n __asm__("r0") = pixels;
    register int32_t *c __asm__("r1") = sums;
    register const int16_t *a __asm__("r2") = columns;
    register const int8_t *b __asm__("r3") = weights;
    register int32_t next __asm__("r12") = step;
    __asm__ volatile(
        "    add lr, r3, #36\n"
        "    push {r0, r7, r12, lr}\n"
        "1:  ldr r4, [r3]\n"
        "    ldr r6, [r3, #3]\n"
        "    ldr r8, [r3, #5]\n"
        "    add r3, r3, #9\n" LW_DSP_COLUMN_OF_WEIGHTS("r4", "r5") LW_DSP_COLUMN_OF_WEIGHTS("r6", "r7")
        "    sxtb16 r10, r8\n"
        "    sxtb16 r11, r8, ror #8\n"
        "    pkhbt r8, r11, r10\n"
        "    pkhtb r9, r11, r10, asr #16\n"
        "    ldr r0, [sp]\n"
        "2:  ldrd r12, lr, [r1]\n" LW_DSP_COLUMN_OF_PIXELS("[r2], #8", "r4", "r5")
        LW_DSP_COLUMN_OF_PIXELS("[r2]", "r6", "r7") LW_DSP_COLUMN_OF_PIXELS("[r2, #8]", "r8", "r9")
        "    strd r12, lr, [r1], #8\n"
        "    subs r0, r0, #1\n"
        "    bne 2b\n"
        "    ldrd r10, r11, [sp, #8]\n"
        "    add r2, r2, r10\n"
        "    cmp r3, r11\n"
        "    bne 1b\n"
        "    pop {r0, r7, r12, lr}\n"
        : "+r"(n), "+r"(c), "+r"(a), "+r"(b), "+r"(next)
        :
        : "r4", "r5", "r6", "r8", "r9", "r10", "r11", "lr", "cc", "memory");
}
#endif
/* lw: end */

/* lw: lw_asm_mve_dots needs LW_SIMD_CHOICE */
#if LW_SIMD_ARM_MVE && defined(__GNUC__)
/* This loop is assembly, because compilers recompute addresses from one another and emit no loop instruction that
 * counts lanes. LETP disables the lanes after the row's end. Sums of VMLADAVA are in even registers. */
static inline void lw_mve_2x2(int32_t n, int32_t *c, int32_t cw, const int8_t *a, int32_t aw, const int8_t *b,
                              int32_t bo)
{
    int32_t c00 = c[0], c01 = c[1], c10 = c[cw], c11 = c[cw + 1];
    const int8_t *a1 = a + aw, *b1 = b + bo;
    __asm__ volatile(
        "    wlstp.8 lr, %[n], 2f\n"
        "1:  vldrb.8 q0, [%[a]], #16\n"
        "    vldrb.8 q1, [%[b]], #16\n"
        "    vmladava.s8 %[c00], q0, q1\n"
        "    vldrb.8 q2, [%[b1]], #16\n"
        "    vmladava.s8 %[c01], q0, q2\n"
        "    vldrb.8 q3, [%[a1]], #16\n"
        "    vmladava.s8 %[c10], q3, q1\n"
        "    vmladava.s8 %[c11], q3, q2\n"
        "    letp lr, 1b\n"
        "2:\n"
        : [c00] "+Te"(c00), [c01] "+Te"(c01), [c10] "+Te"(c10), [c11] "+Te"(c11), [a] "+r"(a), [a1] "+r"(a1),
          [b] "+r"(b), [b1] "+r"(b1)
        : [n] "r"(n)
        : "lr", "q0", "q1", "q2", "q3", "memory");
    c[0] = c00;
    c[1] = c01;
    c[cw] = c10;
    c[cw + 1] = c11;
}
static inline void lw_mve_1x4(int32_t n, int32_t *c, const int8_t *a, const int8_t *b, int32_t bo)
{
    int32_t c0 = c[0], c1 = c[1], c2 = c[2], c3 = c[3];
    const int8_t *b1 = b + bo, *b2 = b1 + bo, *b3 = b2 + bo;
    __asm__ volatile(
        "    wlstp.8 lr, %[n], 2f\n"
        "1:  vldrb.8 q0, [%[a]], #16\n"
        "    vldrb.8 q1, [%[b]], #16\n"
        "    vmladava.s8 %[c0], q0, q1\n"
        "    vldrb.8 q2, [%[b1]], #16\n"
        "    vmladava.s8 %[c1], q0, q2\n"
        "    vldrb.8 q1, [%[b2]], #16\n"
        "    vmladava.s8 %[c2], q0, q1\n"
        "    vldrb.8 q2, [%[b3]], #16\n"
        "    vmladava.s8 %[c3], q0, q2\n"
        "    letp lr, 1b\n"
        "2:\n"
        : [c0] "+Te"(c0), [c1] "+Te"(c1), [c2] "+Te"(c2), [c3] "+Te"(c3), [a] "+r"(a), [b] "+r"(b),
          [b1] "+r"(b1), [b2] "+r"(b2), [b3] "+r"(b3)
        : [n] "r"(n)
        : "lr", "q0", "q1", "q2", "memory");
    c[0] = c0;
    c[1] = c1;
    c[2] = c2;
    c[3] = c3;
}
static inline int32_t lw_mve_1x1(int32_t n, int32_t c, const int8_t *a, const int8_t *b)
{
    __asm__ volatile(
        "    wlstp.8 lr, %[n], 2f\n"
        "1:  vldrb.8 q0, [%[a]], #16\n"
        "    vldrb.8 q1, [%[b]], #16\n"
        "    vmladava.s8 %[c], q0, q1\n"
        "    letp lr, 1b\n"
        "2:\n"
        : [c] "+Te"(c), [a] "+r"(a), [b] "+r"(b)
        : [n] "r"(n)
        : "lr", "q0", "q1", "memory");
    return c;
}
#endif
/* lw: end */

/* lw: lw_asm_mve_tiles needs LW_SIMD_CHOICE LW_SHARED */
#if LW_SIMD_ARM_MVE && defined(__GNUC__)
/* Products of two rows by channels in threes, then in twos, and of one row by sixes, then fours. Sums are in r0, r2, ..
 * r10, and addresses in the other registers, so a product of vectors costs 2 instructions with two rows and 2.3 with
 * one row. LETP counts the lanes of a row. Rows of whole 32 bytes take two vectors in an iteration of LE. The asm
 * pushes r0 to r7:
 *
 *   sp + 0: lanes of a row, or iterations          + 4: a    + 8: a of the second row, or c
 *   sp + 12: skip_last    + 16: end    + 20: skip    + 24: middle
 *
 * `skip` leads from the end of a row of weights, in whole vectors, to the same row of the next tile: of the first size,
 * `skip_last` of the second. `middle` is the first sum of the second size, `end` the end of the sums. */
#define LW_MVE_PUSH                                                                                                    \
    "    tst r0, #31\n"                                                                                                \
    "    it eq\n"                                                                                                      \
    "    lsreq r0, r0, #5\n"                                                                                           \
    "    push {r0, r1, r2, r3, r4, r5, r6, r7}\n"
#define LW_MVE_POP                                                                                                     \
    "9:  ldr r7, [sp, #28]\n"                                                                                          \
    "    add sp, sp, #32\n"
#define LW_MVE_2X2_STEP                                                                                                \
    "    vldrb.8 q0, [r1], #16\n"                                                                                      \
    "    vldrb.8 q1, [r5], #16\n"                                                                                      \
    "    vmladava.s8 r0, q0, q1\n"                                                                                     \
    "    vldrb.8 q2, [r7], #16\n"                                                                                      \
    "    vmladava.s8 r2, q0, q2\n"                                                                                     \
    "    vldrb.8 q3, [r3], #16\n"                                                                                      \
    "    vmladava.s8 r6, q3, q1\n"                                                                                     \
    "    vmladava.s8 r8, q3, q2\n"
#define LW_MVE_2X3_STEP                                                                                                \
    "    vldrb.8 q0, [r1], #16\n"                                                                                      \
    "    vldrb.8 q1, [r5], #16\n"                                                                                      \
    "    vmladava.s8 r0, q0, q1\n"                                                                                     \
    "    vldrb.8 q2, [r7], #16\n"                                                                                      \
    "    vmladava.s8 r2, q0, q2\n"                                                                                     \
    "    vldrb.8 q3, [r9], #16\n"                                                                                      \
    "    vmladava.s8 r4, q0, q3\n"                                                                                     \
    "    vldrb.8 q0, [r3], #16\n"                                                                                      \
    "    vmladava.s8 r6, q0, q1\n"                                                                                     \
    "    vmladava.s8 r8, q0, q2\n"                                                                                     \
    "    vmladava.s8 r10, q0, q3\n"
#define LW_MVE_TILES_OF_TWO_ROWS(again, sums, sums1, begin, steps, end, at)                                            \
    again ":  ldm r11, {" sums "}\n"                                                                                   \
    "    ldm r12, {" sums1 "}\n"                                                                                       \
    "    ldrd r1, r3, [sp, #4]\n"                                                                                      \
    "    ldr lr, [sp]\n"                                                                                               \
    "    " begin " lr, lr, 2f\n"                                                                                       \
    "1:\n" steps                                                                                                       \
    "    " end " lr, 1b\n"                                                                                             \
    "2:  stm r11!, {" sums "}\n"                                                                                       \
    "    stm r12!, {" sums1 "}\n"                                                                                      \
    "    ldrd r0, r2, [sp, " at "]\n"                                                                                  \
    "    add r5, r5, r0\n"                                                                                             \
    "    add r7, r7, r0\n"                                                                                             \
    "    add r9, r9, r0\n"                                                                                             \
    "    cmp r11, r2\n"                                                                                                \
    "    bne " again "b\n"
#define LW_MVE_ROWS_TWICE(threes, twos, begin, step3, step2, end)                                                      \
    "    cmp r11, r6\n"                                                                                                \
    "    beq " twos "f\n"                                                                                              \
    LW_MVE_TILES_OF_TWO_ROWS(threes, "r0, r2, r4", "r6, r8, r10", begin, step3, end, "#20")                            \
    "    ldr r2, [sp, #16]\n"                                                                                          \
    "    cmp r11, r2\n"                                                                                                \
    "    beq 9f\n"                                                                                                     \
    LW_MVE_TILES_OF_TWO_ROWS(twos, "r0, r2", "r6, r8", begin, step2, end, "#12")
/* o must be even and positive. */
static LW_SHARED void lw_mve_2xn(int32_t n, int32_t o, int32_t *c, int32_t cw, const int8_t *a, int32_t aw,
                                 const int8_t *b, int32_t bo)
{
    const int32_t skip = 3 * bo - ((n + 15) & -16);
    int32_t *const middle = c + o / 6 * 6, *const end = c + o;
    register int32_t r0 __asm__("r0") = n;
    register const int8_t *r1 __asm__("r1") = a;
    register const int8_t *r2 __asm__("r2") = a + aw;
    register int32_t r3 __asm__("r3") = skip - bo;
    register int32_t *r4 __asm__("r4") = end;
    register int32_t r5 __asm__("r5") = skip;
    register int32_t *r6 __asm__("r6") = middle;
    register const int8_t *r9 __asm__("r9") = b;
    register int32_t r10 __asm__("r10") = bo;
    register int32_t *r11 __asm__("r11") = c;
    register int32_t *r12 __asm__("r12") = c + cw;
    __asm__ volatile(
        LW_MVE_PUSH
        "    mov r5, r9\n"
        "    add r7, r9, r10\n"
        "    add r9, r7, r10\n"
        "    bne 4f\n"
        LW_MVE_ROWS_TWICE("5", "6", "wls", LW_MVE_2X3_STEP LW_MVE_2X3_STEP, LW_MVE_2X2_STEP LW_MVE_2X2_STEP, "le")
        "    b 9f\n"
        "4:\n"
        LW_MVE_ROWS_TWICE("7", "8", "wlstp.8", LW_MVE_2X3_STEP, LW_MVE_2X2_STEP, "letp")
        LW_MVE_POP
        : "+r"(r0), "+r"(r1), "+r"(r2), "+r"(r3), "+r"(r4), "+r"(r5), "+r"(r6), "+r"(r9), "+r"(r10), "+r"(r11),
          "+r"(r12)
        :
        : "r8", "lr", "q0", "q1", "q2", "q3", "cc", "memory");
}
#define LW_MVE_1X4_STEP                                                                                                \
    "    vldrb.8 q0, [r1], #16\n"                                                                                      \
    "    vldrb.8 q1, [r3], #16\n"                                                                                      \
    "    vmladava.s8 r0, q0, q1\n"                                                                                     \
    "    vldrb.8 q2, [r5], #16\n"                                                                                      \
    "    vmladava.s8 r2, q0, q2\n"                                                                                     \
    "    vldrb.8 q1, [r7], #16\n"                                                                                      \
    "    vmladava.s8 r4, q0, q1\n"                                                                                     \
    "    vldrb.8 q2, [r9], #16\n"                                                                                      \
    "    vmladava.s8 r6, q0, q2\n"
#define LW_MVE_1X6_STEP                                                                                                \
    LW_MVE_1X4_STEP                                                                                                    \
    "    vldrb.8 q1, [r11], #16\n"                                                                                     \
    "    vmladava.s8 r8, q0, q1\n"                                                                                     \
    "    vldrb.8 q2, [r12], #16\n"                                                                                     \
    "    vmladava.s8 r10, q0, q2\n"
#define LW_MVE_TILES_OF_ONE_ROW(again, sums, begin, steps, end, at)                                                    \
    again ":  ldr r1, [sp, #8]\n"                                                                                      \
    "    ldr lr, [sp]\n"                                                                                               \
    "    ldm r1, {" sums "}\n"                                                                                         \
    "    ldr r1, [sp, #4]\n"                                                                                           \
    "    " begin " lr, lr, 2f\n"                                                                                       \
    "1:\n" steps                                                                                                       \
    "    " end " lr, 1b\n"                                                                                             \
    "2:  ldr r1, [sp, #8]\n"                                                                                           \
    "    stm r1!, {" sums "}\n"                                                                                        \
    "    str r1, [sp, #8]\n"                                                                                           \
    "    ldrd r0, r2, [sp, " at "]\n"                                                                                  \
    "    add r3, r3, r0\n"                                                                                             \
    "    add r5, r5, r0\n"                                                                                             \
    "    add r7, r7, r0\n"                                                                                             \
    "    add r9, r9, r0\n"                                                                                             \
    "    add r11, r11, r0\n"                                                                                           \
    "    add r12, r12, r0\n"                                                                                           \
    "    cmp r1, r2\n"                                                                                                 \
    "    bne " again "b\n"
#define LW_MVE_ROW_ONCE(sixes, fours, begin, step6, step4, end)                                                        \
    "    cmp r2, r6\n"                                                                                                 \
    "    beq " fours "f\n"                                                                                             \
    LW_MVE_TILES_OF_ONE_ROW(sixes, "r0, r2, r4, r6, r8, r10", begin, step6, end, "#20")                                \
    "    ldr r2, [sp, #16]\n"                                                                                          \
    "    cmp r1, r2\n"                                                                                                 \
    "    beq 9f\n"                                                                                                     \
    LW_MVE_TILES_OF_ONE_ROW(fours, "r0, r2, r4, r6", begin, step4, end, "#12")
/* o must be a positive multiple of 4. */
static LW_SHARED void lw_mve_1xn(int32_t n, int32_t o, int32_t *c, const int8_t *a, const int8_t *b, int32_t bo)
{
    const int32_t skip = 6 * bo - ((n + 15) & -16);
    int32_t *const middle = c + (o - o % 12 / 4 * 4), *const end = c + o;
    register int32_t r0 __asm__("r0") = n;
    register const int8_t *r1 __asm__("r1") = a;
    register int32_t *r2 __asm__("r2") = c;
    register int32_t r3 __asm__("r3") = skip - 2 * bo;
    register int32_t *r4 __asm__("r4") = end;
    register int32_t r5 __asm__("r5") = skip;
    register int32_t *r6 __asm__("r6") = middle;
    register const int8_t *r9 __asm__("r9") = b;
    register int32_t r10 __asm__("r10") = bo;
    __asm__ volatile(
        LW_MVE_PUSH
        "    mov r3, r9\n"
        "    add r5, r3, r10\n"
        "    add r7, r5, r10\n"
        "    add r9, r7, r10\n"
        "    add r11, r9, r10\n"
        "    add r12, r11, r10\n"
        "    bne 4f\n"
        LW_MVE_ROW_ONCE("5", "6", "wls", LW_MVE_1X6_STEP LW_MVE_1X6_STEP, LW_MVE_1X4_STEP LW_MVE_1X4_STEP, "le")
        "    b 9f\n"
        "4:\n"
        LW_MVE_ROW_ONCE("7", "8", "wlstp.8", LW_MVE_1X6_STEP, LW_MVE_1X4_STEP, "letp")
        LW_MVE_POP
        : "+r"(r0), "+r"(r1), "+r"(r2), "+r"(r3), "+r"(r4), "+r"(r5), "+r"(r6), "+r"(r9), "+r"(r10)
        :
        : "r8", "r11", "r12", "lr", "q0", "q1", "q2", "cc", "memory");
}
#endif
/* lw: end */

/* lw: lw_asm_mve_panels needs LW_SIMD_CHOICE LW_SHARED */
#if LW_SIMD_ARM_MVE && defined(__GNUC__)
/* Panels of m channels by n vectors of kh rows, of two pixels, whose sums alternate. Up to three vectors of both pixels
 * stay in q0 to q2 and q3 to q5 for all channels, three channels at a time: 30 instructions for 18 products of vectors.
 * The remaining channels follow one by one. Sums are in r0, r2, .. r10. r1, r3 and r5 point to the weights of the
 * vectors, and r11 to the sums in memory. r7 counts groups of three vectors, r9 is 16 * m, and r12 is the number of
 * remaining channels. The asm pushes r0 to r2 and r4 to r8:
 *
 *   sp + 0: pixels    + 8: groups of three channels    + 12: groups of three vectors in a row
 *   sp + 16: the remaining vectors in a row
 *   sp + 20: from the end of a row to the next one    + 24: r7    + 28: rows */
#define LW_MVE_FIRST_OF_PIXELS(sum, sum1)                                                                              \
    "    vldrb.8 q6, [r1], #16\n"                                                                                      \
    "    vmladava.s8 " sum ", q0, q6\n"                                                                                \
    "    vmladava.s8 " sum1 ", q3, q6\n"
#define LW_MVE_TWO_OF_PIXELS(sum, sum1)                                                                                \
    LW_MVE_FIRST_OF_PIXELS(sum, sum1)                                                                                  \
    "    vldrb.8 q7, [r3], #16\n"                                                                                      \
    "    vmladava.s8 " sum ", q1, q7\n"                                                                                \
    "    vmladava.s8 " sum1 ", q4, q7\n"
#define LW_MVE_THREE_OF_PIXELS(sum, sum1)                                                                              \
    LW_MVE_TWO_OF_PIXELS(sum, sum1)                                                                                    \
    "    vldrb.8 q6, [r5], #16\n"                                                                                      \
    "    vmladava.s8 " sum ", q2, q6\n"                                                                                \
    "    vmladava.s8 " sum1 ", q5, q6\n"
#define LW_MVE_OF_ALL_CHANNELS(products, next)                                                                         \
    "    strd r0, r2, [sp]\n"                                                                                          \
    "    ldr lr, [sp, #8]\n"                                                                                           \
    "    wls lr, lr, 2f\n"                                                                                             \
    "1:  ldm r11, {r0, r2, r4, r6, r8, r10}\n" products("r0", "r2") products("r4", "r6") products("r8", "r10")         \
    "    stm r11!, {r0, r2, r4, r6, r8, r10}\n"                                                                        \
    "    le lr, 1b\n"                                                                                                  \
    "2:  wls lr, r12, 4f\n"                                                                                            \
    "3:  ldrd r0, r2, [r11]\n" products("r0", "r2")                                                                    \
    "    strd r0, r2, [r11], #8\n"                                                                                     \
    "    le lr, 3b\n"                                                                                                  \
    "4:  mov r1, " next "\n"                                                                                           \
    "    add r3, r1, r9\n"                                                                                             \
    "    add r5, r3, r9\n"                                                                                             \
    "    sub r11, r11, r9, lsr #1\n"
#define LW_MVE_VECTOR_OF_PIXELS(x, x1)                                                                                 \
    "    vldrb.8 " x ", [r0], #16\n"                                                                                   \
    "    vldrb.8 " x1 ", [r2], #16\n"
static LW_SHARED void lw_mve_panel_pair(int32_t kh, int32_t n, int32_t m, int32_t *c, const int8_t *a, int32_t aw,
                                        int32_t ai, const int8_t *b)
{
    register const int8_t *r0 __asm__("r0") = a;
    register const int8_t *r1 __asm__("r1") = a + aw;
    register int32_t r2 __asm__("r2") = m / 3;
    register const int8_t *r3 __asm__("r3") = b;
    register int32_t r4 __asm__("r4") = n / 3;
    register int32_t r5 __asm__("r5") = n % 3;
    register int32_t r6 __asm__("r6") = ai - 16 * n;
    register int32_t r8 __asm__("r8") = kh;
    register int32_t r9 __asm__("r9") = 16 * m;
    register int32_t *r11 __asm__("r11") = c;
    register int32_t r12 __asm__("r12") = m % 3;
    __asm__ volatile(
        "    push {r0, r1, r2, r4, r5, r6, r7, r8}\n"
        "    mov r1, r3\n"
        "    add r3, r1, r9\n"
        "    add r5, r3, r9\n"
        "5:  ldr r7, [sp, #12]\n"
        "    cmp r7, #0\n"
        "    beq 7f\n"
        "6:  ldrd r0, r2, [sp]\n"
        LW_MVE_VECTOR_OF_PIXELS("q0", "q3") LW_MVE_VECTOR_OF_PIXELS("q1", "q4") LW_MVE_VECTOR_OF_PIXELS("q2", "q5")
        LW_MVE_OF_ALL_CHANNELS(LW_MVE_THREE_OF_PIXELS, "r5")
        "    subs r7, r7, #1\n"
        "    bne 6b\n"
        "7:  ldr r7, [sp, #16]\n"
        "    ldrd r0, r2, [sp]\n"
        "    cmp r7, #1\n"
        "    blt 9f\n"
        LW_MVE_VECTOR_OF_PIXELS("q0", "q3")
        "    bne 8f\n"
        LW_MVE_OF_ALL_CHANNELS(LW_MVE_FIRST_OF_PIXELS, "r1")
        "    b 9f\n"
        "8:\n"
        LW_MVE_VECTOR_OF_PIXELS("q1", "q4")
        LW_MVE_OF_ALL_CHANNELS(LW_MVE_TWO_OF_PIXELS, "r3")
        "9:  ldrd r0, r2, [sp]\n"
        "    ldr r4, [sp, #20]\n"
        "    ldr r6, [sp, #28]\n"
        "    add r0, r0, r4\n"
        "    add r2, r2, r4\n"
        "    strd r0, r2, [sp]\n"
        "    subs r6, r6, #1\n"
        "    str r6, [sp, #28]\n"
        "    bne 5b\n"
        "    ldr r7, [sp, #24]\n"
        "    add sp, sp, #32\n"
        : "+r"(r0), "+r"(r1), "+r"(r2), "+r"(r3), "+r"(r4), "+r"(r5), "+r"(r6), "+r"(r8), "+r"(r9), "+r"(r11),
          "+r"(r12)
        :
        : "r10", "lr", "q0", "q1", "q2", "q3", "q4", "q5", "q6", "q7", "cc", "memory");
}
#endif
/* lw: end */

/* lw: lw_asm_mve_nibbles needs LW_SIMD_CHOICE */
#if LW_SIMD_ARM_MVE && defined(__GNUC__)
/* Adds to the sums of m pairs of channels the products of one to three vectors of x, which stay in q0 to q2, or of two
 * pixels, the second one's in q3 to q5. A byte of weights is even + 8 + 16 * odd; shifted right it is odd. A pair
 * has a sum of the bytes and a sum of the odd weights for each pixel; the sums of two pixels are adjacent. 18
 * instructions compute 12 products of vectors. */
#define LW_MVE_NIBBLES(b)                                                                                              \
    "    vldrb.8 q6, [" b "], #16\n"                                                                                   \
    "    vshr.s8 q7, q6, #4\n"
#define LW_MVE_NIBBLES_OF_ONE(b, x, x1)                                                                                \
    LW_MVE_NIBBLES(b)                                                                                                  \
    "    vmladava.s8 r0, " x ", q6\n"                                                                                  \
    "    vmladava.s8 r2, " x ", q7\n"
#define LW_MVE_NIBBLES_OF_TWO(b, x, x1)                                                                                \
    LW_MVE_NIBBLES(b)                                                                                                  \
    "    vmladava.s8 r0, " x ", q6\n"                                                                                  \
    "    vmladava.s8 r2, " x1 ", q6\n"                                                                                 \
    "    vmladava.s8 r4, " x ", q7\n"                                                                                  \
    "    vmladava.s8 r6, " x1 ", q7\n"
#define LW_MVE_NIBBLES_LOOP(loads, products, sums)                                                                     \
    __asm__ volatile(loads "    wls lr, r12, 2f\n"                                                                     \
                           "1:  ldm r11, " sums "\n" products "    stm r11!, " sums "\n"                               \
                           "    le lr, 1b\n"                                                                           \
                           "2:\n"                                                                                      \
                     : "+r"(r1), "+r"(r3), "+r"(r5), "+r"(r11)                                                         \
                     : "r"(r8), "r"(r9), "r"(r12)                                                                      \
                     : "r0", "r2", "r4", "r6", "lr", "q0", "q1", "q2", "q3", "q4", "q5", "q6", "q7", "cc", "memory")
#define LW_MVE_NIBBLES_X(x, x1, at) "    vldrb.8 " x ", [r8, #" at "]\n    vldrb.8 " x1 ", [r9, #" at "]\n"
#define LW_MVE_NIBBLES_ALL(of, sums)                                                                                   \
    if (vectors == 3)                                                                                                  \
        LW_MVE_NIBBLES_LOOP(LW_MVE_NIBBLES_X("q0", "q3", "0") LW_MVE_NIBBLES_X("q1", "q4", "16")                       \
                                LW_MVE_NIBBLES_X("q2", "q5", "32"),                                                    \
                            of("r1", "q0", "q3") of("r3", "q1", "q4") of("r5", "q2", "q5"), sums);                     \
    else if (vectors == 2)                                                                                             \
        LW_MVE_NIBBLES_LOOP(LW_MVE_NIBBLES_X("q0", "q3", "0") LW_MVE_NIBBLES_X("q1", "q4", "16"),                      \
                            of("r1", "q0", "q3") of("r3", "q1", "q4"), sums);                                          \
    else                                                                                                               \
        LW_MVE_NIBBLES_LOOP(LW_MVE_NIBBLES_X("q0", "q3", "0"), of("r1", "q0", "q3"), sums)
static LW_SHARED void lw_mve_nibbles(int32_t pixels, int32_t vectors, int32_t m, int32_t *sums, const int8_t *x,
                                     const int8_t *x1, const int8_t *b)
{
    register const int8_t *r1 __asm__("r1") = b;
    register const int8_t *r3 __asm__("r3") = b + 16 * m;
    register const int8_t *r5 __asm__("r5") = b + 32 * m;
    register const int8_t *r8 __asm__("r8") = x;
    register const int8_t *r9 __asm__("r9") = x1;
    register int32_t *r11 __asm__("r11") = sums;
    register int32_t r12 __asm__("r12") = m;
    if (pixels == 2) { LW_MVE_NIBBLES_ALL(LW_MVE_NIBBLES_OF_TWO, "{r0, r2, r4, r6}"); }
    else { LW_MVE_NIBBLES_ALL(LW_MVE_NIBBLES_OF_ONE, "{r0, r2}"); }
}
/* Adds the odd sums of m pairs, times a number, to the even ones, less `less`. Sums of two pixels are adjacent. */
static inline void lw_mve_nibbles_pairs(int32_t m, int32_t *c, int32_t times, int32_t less, int32_t less1)
{
    const uint32_t places[4] = { 0, 0, 16, 0 };
    const int32_t both[4] = { less, less1, less, less1 };
    const uint32x4_t at = vldrwq_u32(places);
    const int32x4_t v = vldrwq_s32(both);
    int32_t *odd = c + 2;
    __asm__ volatile("    wls lr, %[n], 2f\n"
                     "1:  vldrd.u64 q1, [%[odd], %q[at]]\n"
                     "    vldrd.u64 q2, [%[c], %q[at]]\n"
                     "    vmla.s32 q2, q1, %[times]\n"
                     "    vsub.i32 q2, q2, %q[v]\n"
                     "    vstrd.64 q2, [%[c], %q[at]]\n"
                     "    add %[odd], %[odd], #32\n"
                     "    add %[c], %[c], #32\n"
                     "    le lr, 1b\n"
                     "2:\n"
                     : [c] "+r"(c), [odd] "+r"(odd)
                     : [n] "r"(m / 2), [times] "r"(times), [at] "w"(at), [v] "w"(v)
                     : "lr", "q1", "q2", "cc", "memory");
    if (m % 2) {
        c[0] = (int32_t)((uint32_t)c[0] + (uint32_t)times * (uint32_t)c[2] - (uint32_t)less);
        c[1] = (int32_t)((uint32_t)c[1] + (uint32_t)times * (uint32_t)c[3] - (uint32_t)less1);
    }
}
#undef LW_MVE_NIBBLES
#undef LW_MVE_NIBBLES_OF_ONE
#undef LW_MVE_NIBBLES_OF_TWO
#undef LW_MVE_NIBBLES_LOOP
#undef LW_MVE_NIBBLES_X
#undef LW_MVE_NIBBLES_ALL
#endif
/* lw: end */

/* lw: lw_asm_mve_products needs LW_SIMD_CHOICE */
#if LW_SIMD_ARM_MVE && defined(__GNUC__)
/* Computes eight channels of two windows: q0 and q1 hold the sums of the even channels, q2 and q3 those of the odd
 * channels. Structured loads and stores separate the channels. A load widens elements; its address is in one of r0 to
 * r7. */
#define LW_MVE_TAP(even, odd, w)                                                                                       \
    "    vmullb.s16 q7, q4, " w "\n"                                                                                   \
    "    vadd.i32 " even ", " even ", q7\n"                                                                            \
    "    vmullt.s16 q7, q4, " w "\n"                                                                                   \
    "    vadd.i32 " odd ", " odd ", q7\n"
#define LW_MVE_FIRST(w) LW_MVE_TAP("q0", "q1", w)
#define LW_MVE_SECOND(w) LW_MVE_TAP("q2", "q3", w)
#define LW_MVE_LOAD_SUMS                                                                                               \
    "    vld20.32 {q0, q1}, [r11]\n"                                                                                   \
    "    vld21.32 {q0, q1}, [r11]\n"                                                                                   \
    "    vld20.32 {q2, q3}, [r12]\n"                                                                                   \
    "    vld21.32 {q2, q3}, [r12]\n"
#define LW_MVE_STORE_SUMS                                                                                              \
    "    vst20.32 {q0, q1}, [r11]\n"                                                                                   \
    "    vst21.32 {q0, q1}, [r11]!\n"                                                                                  \
    "    vst20.32 {q2, q3}, [r12]\n"                                                                                   \
    "    vst21.32 {q2, q3}, [r12]!\n"
#define LW_MVE_VECTORS "q0", "q1", "q2", "q3", "q4", "q5", "q6", "q7", "cc", "memory"
#endif
/* lw: end */

/* lw: lw_asm_mve_windows needs lw_asm_mve_products LW_SHARED */
#if LW_SIMD_ARM_MVE && defined(__GNUC__)
/* Computes two 3x3 windows in t >= 1 tiles of eight channels. The rows of the second window begin one row later, so the
 * windows share two of four rows: 12 loads of elements instead of 18. r0 to r3 are the rows in the middle column, r4
 * and r5 the first two rows in the left column; loads advance them. The remaining addresses follow from r9, the
 * distance of columns. */
#define LW_MVE_COLUMN(x0, x1, x2, x3, w0, w1, w2)                                                                      \
    "    vldrb.s16 q5, [r7, #" w0 "]\n" x0 LW_MVE_FIRST("q5") x1 LW_MVE_SECOND("q5")                                   \
    "    vldrb.s16 q6, [r7, #" w1 "]\n" LW_MVE_FIRST("q6") x2 LW_MVE_SECOND("q6")                                      \
    "    vldrb.s16 q5, [r7, #" w2 "]\n" LW_MVE_FIRST("q5") x3 LW_MVE_SECOND("q5")
#define LW_MVE_NEXT(row) "    vldrb.s16 q4, [" row "], #8\n"
#define LW_MVE_BESIDE(step, row) "    " step " r6, " row ", r9\n    vldrb.s16 q4, [r6]\n"
static LW_SHARED void lw_mve_windows(int32_t t, int32_t *c, int32_t cw, const int8_t *a, int32_t ai, int32_t aj,
                                     const int8_t *b)
{
    register const int8_t *r0 __asm__("r0") = a + aj;
    register const int8_t *r1 __asm__("r1") = a + aj + ai;
    register const int8_t *r2 __asm__("r2") = a + aj + 2 * ai;
    register const int8_t *r3 __asm__("r3") = a + aj + 3 * ai;
    register const int8_t *r4 __asm__("r4") = a;
    register const int8_t *r5 __asm__("r5") = a + ai;
    register int32_t r6 __asm__("r6") = t;
    register int32_t r9 __asm__("r9") = aj;
    register const int8_t *r10 __asm__("r10") = b;
    register int32_t *r11 __asm__("r11") = c;
    register int32_t *r12 __asm__("r12") = c + cw;
    __asm__ volatile(
        "    push {r7, r10}\n"
        "    mov r7, r10\n"
        "    dls lr, r6\n"
        "1:\n" LW_MVE_LOAD_SUMS
        LW_MVE_COLUMN(LW_MVE_NEXT("r4"), LW_MVE_NEXT("r5"), LW_MVE_BESIDE("sub", "r2"), LW_MVE_BESIDE("sub", "r3"),
                      "0", "24", "48")
        LW_MVE_COLUMN(LW_MVE_BESIDE("add", "r0"), LW_MVE_BESIDE("add", "r1"), LW_MVE_BESIDE("add", "r2"),
                      LW_MVE_BESIDE("add", "r3"), "16", "40", "64")
        LW_MVE_COLUMN(LW_MVE_NEXT("r0"), LW_MVE_NEXT("r1"), LW_MVE_NEXT("r2"), LW_MVE_NEXT("r3"), "8", "32", "56")
        LW_MVE_STORE_SUMS
        "    adds r7, r7, #72\n"
        "    le lr, 1b\n"
        "    pop {r7, r10}\n"
        : "+r"(r0), "+r"(r1), "+r"(r2), "+r"(r3), "+r"(r4), "+r"(r5), "+r"(r6), "+r"(r9), "+r"(r10), "+r"(r11),
          "+r"(r12)
        :
        : "lr", LW_MVE_VECTORS);
}
/* Computes two 3x3 windows at any two positions: r0 to r2 are the middle column of the first window, r3 to r5 the
 * middle column of the second one. */
#define LW_MVE_TAP_OF_BOTH(x0, x1, w)                                                                                  \
    "    vldrb.s16 q5, [r7, #" w "]\n" x0 LW_MVE_FIRST("q5") x1 LW_MVE_SECOND("q5")
#define LW_MVE_ROW_OF_BOTH(row0, row1, w0, w1, w2)                                                                     \
    LW_MVE_TAP_OF_BOTH(LW_MVE_BESIDE("sub", row0), LW_MVE_BESIDE("sub", row1), w0)                                     \
    LW_MVE_TAP_OF_BOTH(LW_MVE_BESIDE("add", row0), LW_MVE_BESIDE("add", row1), w2)                                     \
    LW_MVE_TAP_OF_BOTH(LW_MVE_NEXT(row0), LW_MVE_NEXT(row1), w1)
static LW_SHARED void lw_mve_windows_apart(int32_t t, int32_t *c, int32_t cw, const int8_t *a, int32_t ai, int32_t aw,
                                           int32_t aj, const int8_t *b)
{
    register const int8_t *r0 __asm__("r0") = a + aj;
    register const int8_t *r1 __asm__("r1") = a + aj + ai;
    register const int8_t *r2 __asm__("r2") = a + aj + 2 * ai;
    register const int8_t *r3 __asm__("r3") = a + aj + aw;
    register const int8_t *r4 __asm__("r4") = a + aj + aw + ai;
    register const int8_t *r5 __asm__("r5") = a + aj + aw + 2 * ai;
    register int32_t r6 __asm__("r6") = t;
    register int32_t r9 __asm__("r9") = aj;
    register const int8_t *r10 __asm__("r10") = b;
    register int32_t *r11 __asm__("r11") = c;
    register int32_t *r12 __asm__("r12") = c + cw;
    __asm__ volatile(
        "    push {r7, r10}\n"
        "    mov r7, r10\n"
        "    dls lr, r6\n"
        "1:\n" LW_MVE_LOAD_SUMS
        LW_MVE_ROW_OF_BOTH("r0", "r3", "0", "8", "16") LW_MVE_ROW_OF_BOTH("r1", "r4", "24", "32", "40")
        LW_MVE_ROW_OF_BOTH("r2", "r5", "48", "56", "64") LW_MVE_STORE_SUMS
        "    adds r7, r7, #72\n"
        "    le lr, 1b\n"
        "    pop {r7, r10}\n"
        : "+r"(r0), "+r"(r1), "+r"(r2), "+r"(r3), "+r"(r4), "+r"(r5), "+r"(r6), "+r"(r9), "+r"(r10), "+r"(r11),
          "+r"(r12)
        :
        : "lr", LW_MVE_VECTORS);
}
#endif
/* lw: end */

/* lw: lw_asm_mve_taps needs lw_asm_mve_products LW_SHARED */
#if LW_SIMD_ARM_MVE && defined(__GNUC__)
/* Computes k >= 1 taps along one dimension, in t >= 1 tiles of eight channels. r4 is the distance from the last tap to
 * the first tap of the next tile. */
static LW_SHARED void lw_mve_taps(int32_t k, int32_t t, int32_t *c, int32_t cw, const int8_t *a, int32_t ai, int32_t aw,
                                  const int8_t *b)
{
    register const int8_t *r0 __asm__("r0") = a;
    register const int8_t *r1 __asm__("r1") = a + aw;
    register const int8_t *r2 __asm__("r2") = b;
    register int32_t r3 __asm__("r3") = ai;
    register int32_t r4 __asm__("r4") = 8 - k * ai;
    register int32_t r5 __asm__("r5") = k;
    register int32_t r6 __asm__("r6") = t;
    register int32_t *r11 __asm__("r11") = c;
    register int32_t *r12 __asm__("r12") = c + cw;
    __asm__ volatile(
        "2:\n" LW_MVE_LOAD_SUMS
        "    dls lr, r5\n"
        "1:  vldrb.s16 q5, [r2], #8\n"
        "    vldrb.s16 q4, [r0]\n" LW_MVE_FIRST("q5")
        "    vldrb.s16 q4, [r1]\n" LW_MVE_SECOND("q5")
        "    add r0, r0, r3\n"
        "    add r1, r1, r3\n"
        "    le lr, 1b\n" LW_MVE_STORE_SUMS
        "    add r0, r0, r4\n"
        "    add r1, r1, r4\n"
        "    subs r6, r6, #1\n"
        "    bne 2b\n"
        : "+r"(r0), "+r"(r1), "+r"(r2), "+r"(r3), "+r"(r4), "+r"(r5), "+r"(r6), "+r"(r11), "+r"(r12)
        :
        : "lr", LW_MVE_VECTORS);
}
#endif
/* lw: end */

/* lw: lw_asm_mve_copies needs LW_SIMD_CHOICE */
#if LW_SIMD_ARM_MVE && defined(__GNUC__)
static inline void lw_mve_copy(int32_t n, int8_t *y, const int8_t *a)
{
    __asm__ volatile(
        "    wlstp.8 lr, %[n], 2f\n"
        "1:  vldrb.8 q0, [%[a]], #16\n"
        "    vstrb.8 q0, [%[y]], #16\n"
        "    letp lr, 1b\n"
        "2:\n"
        : [a] "+r"(a), [y] "+r"(y)
        : [n] "r"(n)
        : "lr", "q0", "memory");
}
static inline void lw_mve_fill(int32_t n, int8_t *y, int8_t fill)
{
    __asm__ volatile(
        "    vdup.8 q0, %[fill]\n"
        "    wlstp.8 lr, %[n], 2f\n"
        "1:  vstrb.8 q0, [%[y]], #16\n"
        "    letp lr, 1b\n"
        "2:\n"
        : [y] "+r"(y)
        : [n] "r"(n), [fill] "r"((int32_t)fill)
        : "lr", "q0", "memory");
}
#endif
/* lw: end */

/* lw: lw_asm_mve_begin needs LW_SIMD_CHOICE */
#if LW_SIMD_ARM_MVE && defined(__GNUC__)
/* Stores equal numbers to two rows. */
static inline void lw_mve_begin_two(int32_t n, int32_t *y, int32_t *y1, const int32_t *a)
{
    __asm__ volatile(
        "    wlstp.32 lr, %[n], 2f\n"
        "1:  vldrw.32 q0, [%[a]], #16\n"
        "    vstrw.32 q0, [%[y]], #16\n"
        "    vstrw.32 q0, [%[y1]], #16\n"
        "    letp lr, 1b\n"
        "2:\n"
        : [a] "+r"(a), [y] "+r"(y), [y1] "+r"(y1)
        : [n] "r"(n)
        : "lr", "q0", "memory");
}
#endif
/* lw: end */

/* lw: lw_asm_mve_begin_pair needs LW_SIMD_CHOICE */
#if LW_SIMD_ARM_MVE && defined(__GNUC__)
/* Stores each of the n numbers of a twice in a row in y; n is a multiple of 4. */
static inline void lw_mve_begin_fours(int32_t n, int32_t *y, const int32_t *a)
{
    __asm__ volatile(
        "    wls lr, %[n], 2f\n"
        "1:  vldrw.32 q0, [%[a]], #16\n"
        "    vmov q1, q0\n"
        "    vst20.32 {q0, q1}, [%[y]]\n"
        "    vst21.32 {q0, q1}, [%[y]]!\n"
        "    le lr, 1b\n"
        "2:\n"
        : [a] "+r"(a), [y] "+r"(y)
        : [n] "r"(n / 4)
        : "lr", "q0", "q1", "memory");
}
#endif
/* lw: end */

/* lw: lw_asm_mve_scale needs LW_SIMD_CHOICE */
#if LW_SIMD_ARM_MVE && defined(__GNUC__)
/* Scales four sums per iteration and rounds like lw_mve_scaled: VQDMLAH adds the sign, which is value >> 31. */
static inline void lw_mve_scale_each(int32_t n, int32_t zero, int32x4_t least, int32x4_t most, int8_t *y,
                                     const int32_t *a, const int32_t *m, const uint8_t *s)
{
    int32x4_t v, by, sign;
    __asm__ volatile(
        "    wlstp.32 lr, %[n], 2f\n"
        "1:  vldrw.32 %q[v], [%[a]], #16\n"
        "    vldrw.32 %q[sign], [%[m]], #16\n"
        "    vldrb.u32 %q[by], [%[s]], #4\n"
        "    vqrdmulh.s32 %q[v], %q[v], %q[sign]\n"
        "    vneg.s32 %q[by], %q[by]\n"
        "    vand %q[sign], %q[v], %q[by]\n"
        "    vqdmlah.s32 %q[v], %q[sign], %[one]\n"
        "    vrshl.s32 %q[v], %q[v], %q[by]\n"
        "    vadd.i32 %q[v], %q[v], %[zero]\n"
        "    vmax.s32 %q[v], %q[v], %q[least]\n"
        "    vmin.s32 %q[v], %q[v], %q[most]\n"
        "    vstrb.32 %q[v], [%[y]], #4\n"
        "    letp lr, 1b\n"
        "2:\n"
        : [v] "=&w"(v), [by] "=&w"(by), [sign] "=&w"(sign), [y] "+l"(y), [a] "+r"(a), [m] "+r"(m), [s] "+l"(s)
        : [n] "r"(n), [zero] "r"(zero), [least] "w"(least), [most] "w"(most), [one] "r"(1)
        : "lr", "memory");
}
/* Scales the sums of two rows, which share factors and shifts. */
static inline void lw_mve_scale_two(int32_t n, int32x4_t zero, int32x4_t least, int32x4_t most, int8_t *y, int8_t *y1,
                                    const int32_t *a, const int32_t *a1, const int32_t *m, const uint8_t *s)
{
    int32x4_t v, v1, by, sign;
    __asm__ volatile(
        "    wlstp.32 lr, %[n], 2f\n"
        "1:  vldrw.32 %q[sign], [%[m]], #16\n"
        "    vldrw.32 %q[v], [%[a]], #16\n"
        "    vqrdmulh.s32 %q[v], %q[v], %q[sign]\n"
        "    vldrw.32 %q[v1], [%[a1]], #16\n"
        "    vqrdmulh.s32 %q[v1], %q[v1], %q[sign]\n"
        "    vldrb.u32 %q[by], [%[s]], #4\n"
        "    vneg.s32 %q[by], %q[by]\n"
        "    vand %q[sign], %q[v], %q[by]\n"
        "    vqdmlah.s32 %q[v], %q[sign], %[one]\n"
        "    vand %q[sign], %q[v1], %q[by]\n"
        "    vqdmlah.s32 %q[v1], %q[sign], %[one]\n"
        "    vrshl.s32 %q[v], %q[v], %q[by]\n"
        "    vrshl.s32 %q[v1], %q[v1], %q[by]\n"
        "    vadd.i32 %q[v], %q[v], %q[zero]\n"
        "    vadd.i32 %q[v1], %q[v1], %q[zero]\n"
        "    vmax.s32 %q[v], %q[v], %q[least]\n"
        "    vmax.s32 %q[v1], %q[v1], %q[least]\n"
        "    vmin.s32 %q[v], %q[v], %q[most]\n"
        "    vmin.s32 %q[v1], %q[v1], %q[most]\n"
        "    vstrb.32 %q[v], [%[y]], #4\n"
        "    vstrb.32 %q[v1], [%[y1]], #4\n"
        "    letp lr, 1b\n"
        "2:\n"
        : [v] "=&w"(v), [v1] "=&w"(v1), [by] "=&w"(by), [sign] "=&w"(sign), [y] "+l"(y), [y1] "+l"(y1), [a] "+r"(a),
          [a1] "+r"(a1), [m] "+r"(m), [s] "+l"(s)
        : [n] "r"(n), [zero] "w"(zero), [least] "w"(least), [most] "w"(most), [one] "r"(1)
        : "lr", "memory");
}
/* Like the function above, for n channels, a positive multiple of 8, limited only by the range of a byte. Structured
 * loads separate even and odd channels, so that narrowing, which fills every second lane, restores their order and is
 * the limit. VRSHL reads the lowest byte of a lane. If zero is the smallest byte, negative values become that one,
 * however their ties are rounded. q0 are even channels of the first row, q3 odd ones of the second. */
#ifdef __OPTIMIZE__      /* without optimization a frame pointer occupies a required register */
#define LW_MVE_SCALE_EIGHTS(number, sums, odd, even1, zero, shifts, signs)                                             \
    "    lsr lr, %[n], #3\n"                                                                                           \
    "    mov %[n], " number "\n"                                                                                       \
    "    dls lr, lr\n"                                                                                                 \
    "1:  vld20.32 {q4, q5}, [%[m]]\n"                                                                                  \
    "    vld21.32 {q4, q5}, [%[m]]!\n" sums                                                                            \
    "    vqrdmulh.s32 q0, q0, q4\n"                                                                                    \
    "    vqrdmulh.s32 " odd ", " odd ", q5\n"                                                                          \
    "    vqrdmulh.s32 " even1 ", " even1 ", q4\n"                                                                      \
    "    vldrb.u16 q6, [%[s]], #8\n"                                                                                   \
    "    vqrdmulh.s32 q3, q3, q5\n"                                                                                    \
    "    vneg.s16 q6, q6\n"                                                                                            \
    shifts signs("q0", "q6") signs(odd, "q7") signs(even1, "q6") signs("q3", "q7")                                     \
    "    vrshl.s32 q0, q0, q6\n"                                                                                       \
    "    vrshl.s32 " odd ", " odd ", q7\n"                                                                             \
    "    vrshl.s32 " even1 ", " even1 ", q6\n"                                                                         \
    "    vrshl.s32 q3, q3, q7\n"                                                                                       \
    "    vadd.i32 q0, q0, " zero "\n"                                                                                  \
    "    vadd.i32 q1, q1, " zero "\n"                                                                                  \
    "    vadd.i32 q2, q2, " zero "\n"                                                                                  \
    "    vadd.i32 q3, q3, " zero "\n"                                                                                  \
    "    vqmovnb.s32 q0, q0\n"                                                                                         \
    "    vqmovnb.s32 " even1 ", " even1 "\n"                                                                           \
    "    vqmovnt.s32 q0, " odd "\n"                                                                                    \
    "    vqmovnt.s32 " even1 ", q3\n"                                                                                  \
    "    vqmovnb.s16 q0, q0\n"                                                                                         \
    "    vqmovnb.s16 " even1 ", " even1 "\n"                                                                           \
    "    vstrb.16 q0, [%[y]], #8\n"                                                                                    \
    "    vstrb.16 " even1 ", [%[y1]], #8\n"                                                                            \
    "    le lr, 1b\n"
#define LW_MVE_SUMS_OF_ROWS                                                                                            \
    "    vld20.32 {q0, q1}, [%[a]]\n"                                                                                  \
    "    vld21.32 {q0, q1}, [%[a]]!\n"                                                                                 \
    "    vld20.32 {q2, q3}, [%[a1]]\n"                                                                                 \
    "    vld21.32 {q2, q3}, [%[a1]]!\n"
#define LW_MVE_SUMS_OF_PAIRS                                                                                           \
    "    vld40.32 {q0, q1, q2, q3}, [%[a]]\n"                                                                          \
    "    vld41.32 {q0, q1, q2, q3}, [%[a]]\n"                                                                          \
    "    vld42.32 {q0, q1, q2, q3}, [%[a]]\n"                                                                          \
    "    vld43.32 {q0, q1, q2, q3}, [%[a]]!\n"
#define LW_MVE_LOW_BYTES "    vshr.u32 q7, q6, #16\n"
#define LW_MVE_ALL_BITS                                                                                                \
    "    vmovlt.s16 q7, q6\n"                                                                                          \
    "    vmovlb.s16 q6, q6\n"
#define LW_MVE_ANY_SIGN(value, shift) ""
#define LW_MVE_ADD_SIGN(value, shift)                                                                                  \
    "    vand q4, " value ", " shift "\n"                                                                              \
    "    vqdmlah.s32 " value ", q4, %[n]\n"
static inline void lw_mve_scale_eights(int32_t n, int32_t zero, int8_t *y, int8_t *y1, const int32_t *a,
                                       const int32_t *a1, const int32_t *m, const uint8_t *s)
{
    if (zero == INT8_MIN)
        __asm__ volatile(LW_MVE_SCALE_EIGHTS("#-128", LW_MVE_SUMS_OF_ROWS, "q1", "q2", "%[n]", LW_MVE_LOW_BYTES,
                                             LW_MVE_ANY_SIGN)
                         : [n] "+r"(n), [y] "+l"(y), [y1] "+l"(y1), [a] "+r"(a), [a1] "+r"(a1), [m] "+r"(m), [s] "+l"(s)
                         :
                         : "lr", "q0", "q1", "q2", "q3", "q4", "q5", "q6", "q7", "memory");
    else
        __asm__ volatile(LW_MVE_SCALE_EIGHTS("#1", LW_MVE_SUMS_OF_ROWS, "q1", "q2", "%[zero]", LW_MVE_ALL_BITS,
                                             LW_MVE_ADD_SIGN)
                         : [n] "+r"(n), [y] "+l"(y), [y1] "+l"(y1), [a] "+r"(a), [a1] "+r"(a1), [m] "+r"(m), [s] "+l"(s)
                         : [zero] "r"(zero)
                         : "lr", "q0", "q1", "q2", "q3", "q4", "q5", "q6", "q7", "memory");
}
/* Scales the sums of two pixels that alternate. */
static inline void lw_mve_scale_pairs(int32_t n, int32_t zero, int8_t *y, int8_t *y1, const int32_t *a,
                                      const int32_t *m, const uint8_t *s)
{
    if (zero == INT8_MIN)
        __asm__ volatile(LW_MVE_SCALE_EIGHTS("#-128", LW_MVE_SUMS_OF_PAIRS, "q2", "q1", "%[n]", LW_MVE_LOW_BYTES,
                                             LW_MVE_ANY_SIGN)
                         : [n] "+r"(n), [y] "+l"(y), [y1] "+l"(y1), [a] "+r"(a), [m] "+r"(m), [s] "+l"(s)
                         :
                         : "lr", "q0", "q1", "q2", "q3", "q4", "q5", "q6", "q7", "memory");
    else
        __asm__ volatile(LW_MVE_SCALE_EIGHTS("#1", LW_MVE_SUMS_OF_PAIRS, "q2", "q1", "%[zero]", LW_MVE_ALL_BITS,
                                             LW_MVE_ADD_SIGN)
                         : [n] "+r"(n), [y] "+l"(y), [y1] "+l"(y1), [a] "+r"(a), [m] "+r"(m), [s] "+l"(s)
                         : [zero] "r"(zero)
                         : "lr", "q0", "q1", "q2", "q3", "q4", "q5", "q6", "q7", "memory");
}
#endif
static inline void lw_mve_scale_row(int32_t n, int32_t zero, int32x4_t least, int32x4_t most, int8_t *y,
                                    const int32_t *a, int32_t m, int32_t minus_s)
{
    int32x4_t v, sign;
    const int32x4_t shifts = vdupq_n_s32(minus_s);
    __asm__ volatile(
        "    wlstp.32 lr, %[n], 2f\n"
        "1:  vldrw.32 %q[v], [%[a]], #16\n"
        "    vqrdmulh.s32 %q[v], %q[v], %[m]\n"
        "    vand %q[sign], %q[v], %q[shifts]\n"
        "    vqdmlah.s32 %q[v], %q[sign], %[one]\n"
        "    vrshl.s32 %q[v], %q[v], %q[shifts]\n"
        "    vadd.i32 %q[v], %q[v], %[zero]\n"
        "    vmax.s32 %q[v], %q[v], %q[least]\n"
        "    vmin.s32 %q[v], %q[v], %q[most]\n"
        "    vstrb.32 %q[v], [%[y]], #4\n"
        "    letp lr, 1b\n"
        "2:\n"
        : [v] "=&w"(v), [sign] "=&w"(sign), [y] "+l"(y), [a] "+r"(a)
        : [n] "r"(n), [m] "r"(m), [shifts] "w"(shifts), [zero] "r"(zero), [least] "w"(least), [most] "w"(most),
          [one] "r"(1)
        : "lr", "memory");
}
#endif
/* lw: end */

/* lw: lw_asm_mve_now needs LW_SIMD_CHOICE */
#if LW_SIMD_ARM_MVE
/* LW_MVE_NOW prevents an unrolling compiler from loading all taps at once and spilling them. LW_MVE_STORED prevents it
 * from loading the operands of later iterations before a store. */
#if defined(__GNUC__)
#define LW_MVE_NOW(a, b, c, d) __asm__ volatile("" : "+w"(a), "+w"(b), "+w"(c), "+w"(d) : : "memory")
#define LW_MVE_STORED() __asm__ volatile("" : : : "memory")
#else
#define LW_MVE_NOW(a, b, c, d) ((void)0)
#define LW_MVE_STORED() ((void)0)
#endif
#endif
/* lw: end */
#endif
