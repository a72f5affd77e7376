/* SPDX-License-Identifier: MIT */
#ifndef LW_OPS_INTEGER_DYNAMIC_H
#define LW_OPS_INTEGER_DYNAMIC_H
/* Defines the formulas of an 8-bit grid that is chosen at run time (dynamic.c explains them). Before them, f has the
 * phrases
 *
 *   rows    the axes of the grids, as a formula declares them: "n<N"
 *   row     the same as indices: "n"
 *   chosen  the axes of a sample, to reduce over
 *   of      the element of the sample
 *
 * Defines `scale`, `inverse` and, if the grid is asymmetric, `zero`; stores them in out, and returns their number. */
#include "graph/dag/op_build.h"

enum { DYNAMIC_OUTPUTS = 3 };
/* values of the attribute `asymmetric` */
enum { DYNAMIC_SYMMETRIC, DYNAMIC_ASYMMETRIC, DYNAMIC_BY_INVERSE };
int dynamic_grid_formulas(Formulas *f, int64_t form, Tensor *out[DYNAMIC_OUTPUTS]);
#endif
