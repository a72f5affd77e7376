/* SPDX-License-Identifier: MIT */
#ifndef LW_IMPORT_ONNX_SIZES_H
#define LW_IMPORT_ONNX_SIZES_H
/* Declares rules that rows name in OnnxOp.open: arithmetic on lists of sizes, and translations over open dimensions. */
#include "import/onnx/graph/onnx_ops.h"

/* The elements of an integer tensor, some of them open sizes. */
enum { ONNX_MOST_SIZES = 64 };
struct OnnxSizes { int count, rank /* 0 or 1 */; DType type; const Expr *at[ONNX_MOST_SIZES]; };

bool onnx_is_list(const OnnxCall *c, const Tensor *t);
/* Reads an input that is a list of sizes or a constant of whole numbers; returns false for other inputs. */
bool onnx_list(const OnnxCall *c, int input, OnnxSizes *out);
/* Sets output 0: to a constant if all elements are numbers, otherwise to a tensor that represents the list. */
void onnx_set_list(OnnxCall *c, const OnnxSizes *s);

/* Rules for OnnxOpen.on_shape. */
OnnxListRule onnx_sizes_of_shape, onnx_sizes_of_count;
/* Rules for OnnxOpen.on_lists. */
OnnxListRule onnx_sizes_gather, onnx_sizes_slice, onnx_sizes_concat, onnx_sizes_as_list, onnx_sizes_as_scalar,
             onnx_sizes_same, onnx_sizes_cast, onnx_sizes_add, onnx_sizes_sub, onnx_sizes_mul, onnx_sizes_div,
             onnx_sizes_mod, onnx_sizes_min, onnx_sizes_max, onnx_sizes_equal, onnx_sizes_where, onnx_sizes_reduce_prod;
/* Rules for OnnxOpen.translate (onnx_open.c). */
OnnxOpenRule onnx_open_reshape, onnx_open_expand, onnx_open_constant_of_shape;
#endif
