/* SPDX-License-Identifier: 0BSD */
/* Checks the arithmetic that emitted C relies on: each operation is rounded to its own type as in IEEE 754, with NaN,
 * infinities and signed zeros. A build with other flags would silently compute other results, so it is an error that
 * names the flag to pass. gcc before 12 defines only __FAST_MATH__ and __FINITE_MATH_ONLY__, so
 * -funsafe-math-optimizations is not found by it. No flag of a file shows that the program is linked with -ffast-math,
 * which on x86 makes subnormal numbers zero. */
#ifndef LW_IEEE_H
#define LW_IEEE_H

/* lw: lw_ieee needs */
#include <float.h>

#if defined(__FAST_MATH__)
#error "-ffast-math and -Ofast change results: compile with -fno-fast-math"
#elif defined(_M_FP_FAST)
#error "/fp:fast changes results: compile with /fp:precise"
#elif defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__
#error "-ffinite-math-only changes results: compile with -fno-finite-math-only"
#elif defined(__ASSOCIATIVE_MATH__)
#error "-funsafe-math-optimizations changes results: compile with -fno-unsafe-math-optimizations"
#elif defined(__RECIPROCAL_MATH__)
#error "-freciprocal-math changes results: compile with -fno-reciprocal-math"
#elif defined(__NO_SIGNED_ZEROS__)
#error "-fno-signed-zeros changes results: compile with -fsigned-zeros"
#endif

/* Method 16 widens only _Float16, and 32 keeps floats. tcc, which lacks the macro, computes on the x87 of i386. */
#if defined(FLT_EVAL_METHOD) && FLT_EVAL_METHOD != 0 && FLT_EVAL_METHOD != 16 && FLT_EVAL_METHOD != 32
#if defined(__i386__) || defined(__x86_64__)
#error "floats are computed in wider registers (FLT_EVAL_METHOD is not 0): compile with -msse2 -mfpmath=sse"
#elif defined(_M_IX86)
#error "floats are computed in wider registers (FLT_EVAL_METHOD is not 0): compile with /arch:SSE2"
#elif defined(__m68k__)
#error "floats are computed in wider registers (FLT_EVAL_METHOD is not 0): compile with -m68040"
#else
#error "floats are computed with more precision (FLT_EVAL_METHOD is not 0): compile with -fexcess-precision=fast"
#endif
#elif !defined(FLT_EVAL_METHOD) && defined(__TINYC__) && defined(__i386__)
#error "tcc computes floats in the wider registers of an i386: take another compiler"
#endif

/* clang has no macro for parts of -ffast-math, but refuses this pragma under each of them. */
#if defined(__clang__)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wunknown-pragmas"
#pragma clang diagnostic ignored "-Wignored-pragmas"
/* clang prints the line of the pragma when it refuses the pragma, so the line states the flag to pass. */
__attribute__((unused)) static inline void lw_ieee(void)
{
#pragma STDC FENV_ACCESS ON     /* an error here: a part of -ffast-math changes results; compile with -fno-fast-math */
}
#pragma clang diagnostic pop
#endif
/* lw: end */

#endif
