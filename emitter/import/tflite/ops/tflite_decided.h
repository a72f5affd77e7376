/* SPDX-License-Identifier: MIT */
#ifndef LW_IMPORT_TFLITE_OPS_TFLITE_DECIDED_H
#define LW_IMPORT_TFLITE_OPS_TFLITE_DECIDED_H
/* Sizes that the run decides. The format has no names for them: TENSOR.AXIS names one for --dim. */
#include "import/model/decided.h"
#include "import/model/model.h"
#include "import/tflite/ops/tflite_ops.h"

typedef struct TfliteSizes {
    const ImportOptions *options;
    Decided decided;
    Map selections;                  /* maps a tensor to the places of its elements that are not 0 */
} TfliteSizes;

/* Returns the size that is the value of `count`, of a dimension of an output: at most `natural` (-1: no maximum
 * follows) and what --dim says. NULL: refused */
const Expr *tflite_decided(TfliteCall *c, int output, int axis, Tensor *count, int64_t least, int64_t natural);
/* The first elements of x along the axis, as many as the size */
Tensor *tflite_cut(TfliteCall *c, Tensor *x, int axis, const Expr *size);
Tensor *tflite_dim_value(TfliteCall *c, const Expr *size, DType type);          /* the size as a tensor */
/* Requires an element along a dimension of an input: a run that decides none ends. */
bool tflite_has_elements(TfliteCall *c, int input, int axis);
void tflite_range_by_value(TfliteCall *c);                       /* RANGE whose bounds are not all constant */
/* ---- tflite_by_value.c ------------------------------------------------------------------------------------------- */

/* Elements along the axis from number i of `begins` to that of `ends`, which are clamped and count from the end if
 * negative; NULL: the whole dimension's begin or end */
Tensor *tflite_span_to(TfliteCall *c, Tensor *x, int axis, int output_axis, Tensor *begins, Tensor *ends, int i);
/* As many as number `axis` of `counts` (-1: the rest); outside x they end the run */
Tensor *tflite_span_of(TfliteCall *c, Tensor *x, int axis, Tensor *begins, Tensor *counts);
/* The positions of the largest elements, as many as input 1 */
Tensor *tflite_topk_indices(TfliteCall *c);
Tensor *tflite_sizes_of(TfliteCall *c, const Tensor *x, DType type);            /* the list of all sizes of x */
Tensor *tflite_filled(TfliteCall *c, Tensor *value, Tensor *sizes);
Tensor *tflite_tiled(TfliteCall *c, Tensor *x, int axis);        /* copies along the axis, as many as input 1 has it */
Tensor *tflite_broadcasted(TfliteCall *c, Tensor *x, Tensor *sizes);
/* x with the value around it along the axis: as many as the pair of that axis has before and after it */
Tensor *tflite_padded(TfliteCall *c, Tensor *x, int axis, Tensor *pairs, double value);
/* 0, 1, .. along the axis, as many as `depth`; the other sizes are 1 */
Tensor *tflite_ramp_by_value(TfliteCall *c, DType type, Tensor *depth, int axis, int rank);
bool tflite_is_reshaped_by_run(TfliteCall *c, const Tensor *x, Tensor *sizes);
Tensor *tflite_reshaped(TfliteCall *c, Tensor *x, Tensor *sizes);
#endif
