/* SPDX-License-Identifier: 0BSD */
/* Elementary functions in plain C99, with the same bits on every machine.
 *
 * This header is the only definition of exp, log, tanh, ... for the compiler (which folds constants with it) and for
 * the C that it emits. No function of libm is used except sqrt, which IEEE 754 rounds exactly.
 *
 * Method. Argument reduction is exact or in two pieces (Cody and Waite, "Software Manual for the Elementary Functions",
 * 1980; Payne and Hanek for large angles). A minimax polynomial of our own follows, computed with Remez's exchange by
 * tests/tools/minimax.py. The exact parts are added last, largest first, so nearly all rounding happens in the last
 * operation (Dekker, "A floating-point technique for extending the available precision", 1971). Names in f compute in
 * float only, except lw_powf. The functions for exp, log, tanh, sigmoid and erf have no branches, tables or loops, so a
 * compiler can vectorize a loop around them.
 *
 * "Error" bounds the measured errors in units in the last place of the exact result over a dense sample of all
 * arguments; tests/unit/test_math.c checks it. Infinities, NaN, signed zeros, overflow and gradual underflow follow C99
 * annex F, without its exception flags. The sign and payload of a NaN result are unspecified.
 *
 * Same bits: requires IEEE arithmetic without extra precision, as lw_ieee.h checks, and without fused multiply-add:
 * -ffp-contract=off, which gcc's -std=c99 implies. With contraction the errors below hold, but bits may differ.
 * Functions on double require a 64-bit double.
 *
 * Every definition is between "lw: NAME needs NAMES" and "lw: end" and needs only earlier definitions, so a tool can
 * extract the used ones. */
#ifndef LW_MATH_H
#define LW_MATH_H

#include "lw_ieee.h"
#include "lw_math_common.h"
#include "lw_math_double.h"
#include "lw_math_float.h"

#endif
