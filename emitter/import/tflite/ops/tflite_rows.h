/* SPDX-License-Identifier: MIT */
#ifndef LW_IMPORT_TFLITE_OPS_TFLITE_ROWS_H
#define LW_IMPORT_TFLITE_OPS_TFLITE_ROWS_H
/* Declares the rows of all files in this folder. */
#include "import/tflite/ops/tflite_ops.h"

/* A row without name ends each array. */
extern const TfliteRow tflite_rows_curve[], tflite_rows_decided[], tflite_rows_logic[], tflite_rows_math[],
    tflite_rows_move[], tflite_rows_order[], tflite_rows_place[], tflite_rows_recurrent[], tflite_rows_region[],
    tflite_rows_resize[], tflite_rows_shape[], tflite_rows_signal[], tflite_rows_window[], tflite_rows_state[],
    tflite_rows_svdf[];
#endif
