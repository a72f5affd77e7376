/* SPDX-License-Identifier: MIT */
#ifndef LW_GRAPH_QUANTIZE_CURVES_H
#define LW_GRAPH_QUANTIZE_CURVES_H
/* Replaces elementwise functions of one quantized tensor with scalar constants by tables. The float calls themselves
 * compute the tables. */
#include "graph/quantize/quantized_value.h"

/* Returns a table of the 256 results, quantized to the grid, indexed by the stored source. Returns NULL if x is not a
 * function of one 8-bit tensor. */
Tensor *curve_of_bytes(const QuantizedContext *f, const char *label, Tensor *x, const Grid *g);
/* Returns parabolas over intervals of a 16-bit source. For each of its 65,536 values the result is within a quarter of
 * a step of the function's value, before it is rounded. Returns NULL if no table of at most 2,048 intervals is that
 * close. */
Tensor *curve_of_words(const QuantizedContext *f, const char *label, Tensor *x, const Grid *g);
/* Returns the function from `source` to x, evaluated at constant values of the source. Returns NULL on error. */
Tensor *curve_at(Ctx *cx, Tensor *x, const Tensor *source, Tensor *values);
#endif
