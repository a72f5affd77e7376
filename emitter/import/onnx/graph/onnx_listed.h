/* SPDX-License-Identifier: MIT */
#ifndef LW_IMPORT_ONNX_LISTED_H
#define LW_IMPORT_ONNX_LISTED_H
/* Handles lists of integers that the run computes. */
#include "import/onnx/graph/onnx_ops.h"

Tensor *onnx_integer(OnnxCall *c, int64_t v);                                 /* a constant i64 without dimensions */
Tensor *onnx_not_negative(OnnxCall *c, Tensor *x);                           /* max(x, 0) */
/* Returns element `at` of a tensor, in row-major order, as a tensor without dimensions. */
Tensor *onnx_number_at(OnnxCall *c, Tensor *all, int64_t at);
/* Returns element i of a list of integers, as an i64 without dimensions. */
Tensor *onnx_element(OnnxCall *c, Tensor *list, int i);
/* Returns an element that is a number or a size as an expression, or NULL for other values. */
const Expr *onnx_size_behind(OnnxCall *c, const Tensor *element);
/* Returns true for a list of integers that is neither constant nor a list of sizes. */
bool onnx_is_of_run(const OnnxCall *c, int input);
/* Returns the element as the size of dimension `axis` of an output, or NULL if it is refused. natural: the maximum that
 * the operator permits, or -1. */
const Expr *onnx_listed_size(OnnxCall *c, int output, int axis, Tensor *element, int64_t natural);
#endif
