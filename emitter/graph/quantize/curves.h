/* SPDX-License-Identifier: MIT */
#ifndef LW_GRAPH_QUANTIZE_CURVES_H
#define LW_GRAPH_QUANTIZE_CURVES_H
/* Functions of one quantized tensor, elementwise with scalar constants, as tables that the float calls themselves
 * compute. */
#include "graph/quantize/quantized_value.h"

/* Returns a table of the 256 results, quantized to the grid, at the stored source; NULL if x is not a function of one
 * 8-bit tensor. */
Tensor *curve_of_bytes(const QuantizedContext *f, const char *label, Tensor *x, const Grid *g);
/* Returns parabolas over intervals of a 16-bit source. For each of its 65,536 values the result is the function's,
 * moved by at most a quarter of a step, then rounded; NULL: no table of at most 2,048 intervals is that near. */
Tensor *curve_of_words(const QuantizedContext *f, const char *label, Tensor *x, const Grid *g);
/* Returns the function that leads from `source` to x at constant values of the source; NULL on error. */
Tensor *curve_at(Ctx *cx, Tensor *x, const Tensor *source, Tensor *values);
#endif
