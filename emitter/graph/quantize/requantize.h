/* SPDX-License-Identifier: MIT */
#ifndef LW_GRAPH_QUANTIZE_REQUANTIZE_H
#define LW_GRAPH_QUANTIZE_REQUANTIZE_H
/* Finds constants for which integer arithmetic equals the exact real requantization. For every possible integer a,
 *
 *     to(a) = clamp(even((a * scale + offset) / (count * step)) + zero, least, greatest)
 *
 * in real numbers, where even(v) is the nearest integer, ties to even. All scales are doubles that represent the real
 * numbers exactly. */
#include "ir/algebra/algebra.h"

typedef struct Grid { double step; int64_t zero, least, greatest; } Grid;      /* real = step * (stored - zero) */

/* y = clamp((a * m + b * m_b + c) >> n) or, if is_even, y = clamp(even((a * m + b * m_b + c) / d) + zero), which rounds
 * ties to even. is_wide is true if the arithmetic needs more than 32 bits. equals_floats is true if f32 is exact, in
 * any order, before the quotient. A factor of two words gives y = clamp((a * m + (a * low >> 31) + c) >> n). */
typedef struct Scaling { bool is_even, is_wide, equals_floats; int64_t m, m_b, c, d, low; int n; } Scaling;

/* A real number ((a - zero) * scale + offset) / count. Only scaling_of_words accepts a zero other than 0. */
typedef struct Affine { double scale, offset; int64_t count, zero; } Affine;

/* Returns the product or sum if a double represents it exactly, otherwise NAN. */
double exact_product(double a, double b);
double exact_sum(double a, double b);
/* Returns the grid value of the real number v before clamping; saturates at +-2^20. */
int64_t grid_quantize(double v, const Grid *g);
/* Finds constants for the integers in `range`; n is at most most_shift. Returns false if no constants exist. */
bool scaling_of(const Affine *x, const Grid *g, Interval range, int most_shift, Scaling *out);
/* Like scaling_of, with a shift of at least 33 and the offset that offset_centered returns: the zero point and one
 * half. A channel then has no 64-bit constant and no 64-bit sum. */
bool scaling_centered(const Affine *x, const Grid *g, Interval range, Scaling *out);
int64_t offset_centered(const Grid *g, int n);
/* Uses a factor of two words, so that grids of up to 16 bits are also exact. 0 <= low < 2^31. */
bool scaling_of_words(const Affine *x, const Grid *g, Interval range, int most_shift, Scaling *out);
/* Finds the nearest constants where no exact ones exist. In the range, the result is the real quotient, moved by at
 * most 2^-8 of a step and rounded; ties round up. The form is used for 16-bit grids, and for sums beyond 2^24. scale_b
 * is as in scaling_of_sum, or 0 if there is no b. */
bool scaling_near(const Affine *x, double scale_b, const Grid *g, Interval range, int most_shift, Scaling *out);
/* Finds constants for x + b * scale_b, for all b in range_b; both ranges are 8 bits wide. */
bool scaling_of_sum(const Affine *x, double scale_b, const Grid *g, Interval range_a, Interval range_b, Scaling *out);
/* Like scaling_of_sum, with a quotient. d is the divisor, or 0 for the smallest valid one. scale_b is 0 if there is no
 * b. */
bool scaling_even(const Affine *x, double scale_b, const Grid *g, Interval range_a, Interval range_b, int64_t d,
                  Scaling *out);
#endif
