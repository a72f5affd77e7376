/* SPDX-License-Identifier: 0BSD */
/* Vectors of 4, 8 and 16 lanes: lw_f32x8, lw_i32x8, lw_m32x8 (a truth value per lane) and their operations. scalar.h
 * defines every name by its formula, for any compiler; sse4.h, avx2.h, avx512.h and neon.h have the same names for
 * their width in intrinsics, with the same bits. Code with vectors of 16 lanes builds anywhere: a width without
 * registers uses the scalar form.
 *
 * This file selects a header by the compiler's target macros. Flags such as -DLW_SIMD_AVX512=0 override the choice;
 * -DLW_SIMD_CORE='"mycore.h"' adds a header of primitives of vectors of bytes (tiles.h).
 *
 * load, store       contiguous lanes in memory, at any alignment; load_i8, load_u8, load_i16 widen to i32
 * broadcast         one value in all lanes
 * hold              the operand, which the compiler keeps in a register instead of loading it for each use
 * neg abs sqrt  add sub mul div  min max     lane by lane; min and max are NaN if either is, of two zeros the second
 * fma               a*b + c, rounded once
 * lt le eq          a mask; false if either is NaN
 * select            by mask: the second operand if it is true, otherwise the third
 * and or xor not    on i32 and masks; integers wrap
 * from_i32 from_f32 conversions; to i32 towards zero, saturating, NaN becomes 0 */
#ifndef LW_SIMD_H
#define LW_SIMD_H

/* lw: LW_SIMD_CHOICE needs */
#ifndef LW_SIMD_SSE4
#ifdef __SSE4_1__
#define LW_SIMD_SSE4 1
#else
#define LW_SIMD_SSE4 0
#endif
#endif
#ifndef LW_SIMD_AVX2
#if defined(__AVX2__) && (defined(__FMA__) || defined(_MSC_VER))
#define LW_SIMD_AVX2 1
#else
#define LW_SIMD_AVX2 0
#endif
#endif
#ifndef LW_SIMD_AVX512
#ifdef __AVX512F__
#define LW_SIMD_AVX512 1
#else
#define LW_SIMD_AVX512 0
#endif
#endif
#ifndef LW_SIMD_NEON
#if defined(__aarch64__) && defined(__ARM_NEON) && defined(__GNUC__) && !defined(__ARM_BIG_ENDIAN)
#define LW_SIMD_NEON 1
#else
#define LW_SIMD_NEON 0
#endif
#endif
#ifndef LW_SIMD_NEON_BYTES
#if defined(__ARM_NEON) && defined(__GNUC__) && !defined(__ARM_BIG_ENDIAN)
#define LW_SIMD_NEON_BYTES 1
#else
#define LW_SIMD_NEON_BYTES 0
#endif
#endif
#ifndef LW_SIMD_ARM_DSP
#if defined(__ARM_FEATURE_SIMD32) && defined(__ARM_FEATURE_DSP) && defined(__GNUC__) && !defined(__ARM_NEON)
#define LW_SIMD_ARM_DSP 1
#else
#define LW_SIMD_ARM_DSP 0
#endif
#endif
#ifndef LW_SIMD_ARM_MVE
#if defined(__ARM_FEATURE_MVE) && (__ARM_FEATURE_MVE & 1)
#define LW_SIMD_ARM_MVE 1
#else
#define LW_SIMD_ARM_MVE 0
#endif
#endif
#ifndef LW_SIMD_ARM_WORDS
#if defined(__GNUC__) && defined(__thumb__) && !defined(__ARM_BIG_ENDIAN) && !LW_SIMD_ARM_DSP && !LW_SIMD_ARM_MVE
#define LW_SIMD_ARM_WORDS 1
#else
#define LW_SIMD_ARM_WORDS 0
#endif
#endif
#ifndef LW_SIMD_RVV
#if defined(__riscv_vector) && defined(__riscv_v_intrinsic) && __riscv_v_intrinsic >= 11000
#define LW_SIMD_RVV 1
#else
#define LW_SIMD_RVV 0
#endif
#endif
#ifndef LW_SIMD_RISCV
#if defined(__riscv_mul) && !defined(__riscv_32e) && !defined(__riscv_e) && defined(__GNUC__) && !LW_SIMD_RVV \
    && defined(__OPTIMIZE__)
#define LW_SIMD_RISCV 1
#else
#define LW_SIMD_RISCV 0
#endif
#endif
#if LW_SIMD_RVV
#include <riscv_vector.h>
#endif
#if LW_SIMD_RISCV
#include <string.h>
#endif
#if LW_SIMD_ARM_DSP
#include <arm_acle.h>
#include <string.h>
#endif
#if LW_SIMD_ARM_MVE
#include <arm_mve.h>
#endif
#if LW_SIMD_NEON || LW_SIMD_NEON_BYTES
#include <arm_neon.h>
#include <string.h>
#endif
#if LW_SIMD_SSE4 || LW_SIMD_AVX2 || LW_SIMD_AVX512
#include <immintrin.h>
#include <string.h>
#endif
#ifdef LW_SIMD_CORE
#include LW_SIMD_CORE
#endif
/* lw: end */

#include "sse4.h"
#include "avx2.h"
#include "avx512.h"
#include "neon.h"
#include "scalar.h"
#include "arm_asm.h"
#include "arm_dsp.h"
#include "arm_mve.h"
#include "arm_words.h"
#include "x86_rows.h"
#include "x86_panels.h"
#include "rvv_rows.h"
#include "riscv_rows.h"
#include "neon_rows.h"
#include "neon_panels.h"
#include "tiles.h"
#include "rows.h"
#endif
