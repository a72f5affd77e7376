/* SPDX-License-Identifier: MIT */
#ifndef LW_GRAPH_REQUANTIZE_H
#define LW_GRAPH_REQUANTIZE_H
/* Constants with which integer arithmetic is a real requantization, exactly: for every integer a that can come,
 *
 *     to(a) = clamp(even((a * scale + offset) / (count * step)) + zero, least, greatest)
 *
 * in real numbers, where even(v) is the nearest integer, the even one of two. All scales are doubles that hold the real
 * numbers without error. */
#include "ir/algebra/algebra.h"

typedef struct Grid { double step; int64_t zero, least, greatest; } Grid;      /* real = step * (stored - zero) */

/* y = clamp((a * m + b * m_b + c) >> n), or, which ties need, clamp(even((a * m + b * m_b + c) / d) + zero); is_wide: that takes
 * more than 32 bits. equals_floats: evaluated in f32, nothing is rounded before the quotient is, in whatever order. */
typedef struct Scaling { bool is_even, is_wide, equals_floats; int64_t m, m_b, c, d; int n; } Scaling;

typedef struct Affine { double scale, offset; int64_t count; } Affine;          /* a real number (a * scale + offset) / count */

/* The product or sum, if a double holds it; else NAN. */
double exact_product(double a, double b);
double exact_sum(double a, double b);
/* Where the real number v lies on the grid, before clamping to it; saturating at +-2^20. */
int64_t grid_place(double v, const Grid *g);
/* Of the integers in `range`; n is at most most_shift. False: there are none. */
bool scaling_of(const Affine *x, const Grid *g, Interval range, int most_shift, Scaling *out);
/* Of x + b * scale_b for all b in range_b; both ranges are those of 8 bits. */
bool scaling_of_sum(const Affine *x, double scale_b, const Grid *g, Interval range_a, Interval range_b, Scaling *out);
/* The same by a quotient; d: the divisor, 0: the least that does. scale_b is 0 where there is no b. */
bool scaling_even(const Affine *x, double scale_b, const Grid *g, Interval range_a, Interval range_b, int64_t d, Scaling *out);
#endif
