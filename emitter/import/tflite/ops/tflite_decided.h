/* SPDX-License-Identifier: MIT */
#ifndef LW_IMPORT_TFLITE_OPS_TFLITE_DECIDED_H
#define LW_IMPORT_TFLITE_OPS_TFLITE_DECIDED_H
/* Handles sizes that the run decides. The format has no names for them, so --dim uses TENSOR.AXIS. */
#include "import/model/decided.h"
#include "import/model/model.h"
#include "import/tflite/ops/tflite_ops.h"

typedef struct TfliteSizes {
    const ImportOptions *options;
    Decided decided;
    Map selections;                  /* maps a tensor to the positions of its nonzero elements */
} TfliteSizes;

/* Returns the size that has the value `count`, for a dimension of an output, or NULL if it is refused. The size's
 * maximum is the size that --dim gives, and `natural` unless that is -1. */
const Expr *tflite_decided(TfliteCall *c, int output, int axis, Tensor *count, int64_t least, int64_t natural);
/* Returns the first `size` elements of x along the axis. */
Tensor *tflite_cut(TfliteCall *c, Tensor *x, int axis, const Expr *size);
Tensor *tflite_dim_value(TfliteCall *c, const Expr *size, DType type);          /* the size as a tensor */
/* Requires an element along a dimension of an input; a run with none ends. */
bool tflite_has_elements(TfliteCall *c, int input, int axis);
/* translates RANGE if its bounds are not all constant */
void tflite_range_by_value(TfliteCall *c);
/* ---- tflite_by_value.c ------------------------------------------------------------------------------------------- */

/* Returns the elements along the axis from number i of `begins` to number i of `ends`. Both numbers are clamped, and
 * negative numbers count from the end. NULL stands for the begin or end of the dimension. */
Tensor *tflite_span_to(TfliteCall *c, Tensor *x, int axis, int output_axis, Tensor *begins, Tensor *ends, int i);
/* Returns the number of elements that entry `axis` of `counts` states (-1 for the remaining ones). The run ends if some
 * are outside x. */
Tensor *tflite_span_of(TfliteCall *c, Tensor *x, int axis, Tensor *begins, Tensor *counts);
/* Returns the positions of the largest elements; input 1 has their number. */
Tensor *tflite_topk_indices(TfliteCall *c);
Tensor *tflite_sizes_of(TfliteCall *c, const Tensor *x, DType type);            /* returns the list of all sizes of x */
Tensor *tflite_filled(TfliteCall *c, Tensor *value, Tensor *sizes);
/* Repeats x along the axis; input 1 states the number of copies. */
Tensor *tflite_tiled(TfliteCall *c, Tensor *x, int axis);
Tensor *tflite_broadcasted(TfliteCall *c, Tensor *x, Tensor *sizes);
/* Pads x with the value along the axis. The pair of the axis in `pairs` has the numbers of elements before and after
 * x. */
Tensor *tflite_padded(TfliteCall *c, Tensor *x, int axis, Tensor *pairs, double value);
/* Returns `depth` numbers 0, 1, .. along the axis; the other sizes are 1. */
Tensor *tflite_ramp_by_value(TfliteCall *c, DType type, Tensor *depth, int axis, int rank);
bool tflite_is_reshaped_by_run(TfliteCall *c, const Tensor *x, Tensor *sizes);
Tensor *tflite_reshaped(TfliteCall *c, Tensor *x, Tensor *sizes);
#endif
