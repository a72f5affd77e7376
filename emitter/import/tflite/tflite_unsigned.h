/* SPDX-License-Identifier: MIT */
#ifndef LW_IMPORT_TFLITE_UNSIGNED_H
#define LW_IMPORT_TFLITE_UNSIGNED_H
/* Lowers UINT8 with a scale, the older quantization, as INT8: stored values and zero points are less by 128. With these
 * values, formulas over differences from zero points are the same as for INT8. A tensor has up to two values: the
 * stored value of the file (`as_is`), and the value less 128. Either is computed from the other when an operator reads
 * it. */
#include "import/tflite/ops/tflite_ops.h"

typedef struct TfliteUnsigned {
    Ctx *cx;
    const TfliteFile *file;
    /* the file with the shifted types, zero points and constants, or NULL if not needed yet */
    TfliteFile *as_int8;
    Tensor **as_is, **shifted;           /* [tensors of the file] the values, or NULL if not computed yet */
} TfliteUnsigned;

void tflite_unsigned_open(Ctx *cx, const TfliteFile *file, Tensor **as_is, TfliteUnsigned *out);
/* Returns true for UINT8 with a scale. */
bool tflite_is_unsigned(const TfliteTensor *t);
/* Returns true if the operator is lowered on INT8: by its row, or because its first input already has a shifted
 * value. */
bool tflite_runs_as_int8(const TfliteUnsigned *u, const TfliteOperator *op, const TfliteRow *row);
const TfliteFile *tflite_as_int8(TfliteUnsigned *u);
/* Returns the value of a tensor minus 128, or NULL if it is not computed yet. */
Tensor *tflite_shifted(TfliteUnsigned *u, int index);
/* Returns the value as in the file, computed from the shifted value, or NULL if it is not computed yet. */
Tensor *tflite_unshifted(TfliteUnsigned *u, int index);

#endif
