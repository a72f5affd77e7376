/* SPDX-License-Identifier: 0BSD */
/* Elementary functions in plain C99, the same bits on every machine.
 *
 * The one definition of exp, log, tanh, ... for the compiler (which folds constants with it) and
 * for the C that it emits: no function of libm is used except sqrt, which IEEE 754 rounds exactly.
 *
 * Method. Arguments are reduced exactly or in two pieces (Cody and Waite, "Software Manual for the
 * Elementary Functions", 1980; Payne and Hanek for large angles), then a minimax polynomial of our
 * own, computed with Remez's exchange by tests/tools/minimax.py, then the exact parts are added
 * last, largest first, so that the last rounding is nearly the only one (Dekker, "A floating-point
 * technique for extending the available precision", 1971). Names in f compute in float alone,
 * except lw_powf; those for exp, log, tanh, sigmoid and erf are written without branches, tables
 * and loops, so that a compiler can vectorize a loop around them.
 *
 * "Error" bounds the errors found in units in the last place of the exact result over a dense
 * sample of all arguments; tests/unit/test_math.c holds the functions to it. Infinities, NaN,
 * signed zeros, overflow and gradual underflow follow C99 annex F, without its exception flags.
 * The sign and payload of a NaN result mean nothing.
 *
 * Same bits: needs IEEE arithmetic without extra precision (on 32-bit x86: SSE) and no fused
 * multiply-add, that is -ffp-contract=off, which gcc's -std=c99 implies. With contraction the
 * errors below hold, but bits may differ. -ffast-math breaks the reductions. Functions on double
 * need a double of 64 bits.
 *
 * Every definition stands between "lw: NAME needs NAMES" and "lw: end" and needs only what stands
 * above it, so that a tool can cut out what a program uses.
 */
#ifndef LW_MATH_H
#define LW_MATH_H

#include "lw_math_common.h"
#include "lw_math_double.h"
#include "lw_math_float.h"

#endif
