/* SPDX-License-Identifier: MIT */
#ifndef LW_IMPORT_TFLITE_CUSTOM_TFLITE_CUSTOM_H
#define LW_IMPORT_TFLITE_CUSTOM_TFLITE_CUSTOM_H
/* Translates custom operators, whose options are a flexbuffer: a map of numbers by name. */
#include "import/formats/flexbuffer.h"
#include "import/model/model.h"
#include "import/tflite/ops/tflite_ops.h"

/* A row without name ends each array. */
extern const TfliteRow tflite_rows_decode[], tflite_rows_detect[], tflite_rows_frames[], tflite_rows_list[],
    tflite_rows_spectrum[];
/* the row of operators with TfliteCall.external */
extern const TfliteRow tflite_row_foreign;

/* An option and its accepted values. */
typedef struct CustomOption { const char *name; int64_t least, greatest; } CustomOption;

/* Reads the options into out[0..count); refuses absent options and values out of range. */
bool tflite_custom_options(TfliteCall *c, const CustomOption *option, int count, int64_t *out);
/* Refuses an input that is absent, or not of this type and rank. */
bool tflite_custom_input(TfliteCall *c, int index, DType type, int rank);

/* Creates a state of the operator in addition to its variable tensors. Returns the value before the run; `initial` is
 * NULL for zeros. tflite_own_state_set sets the value after the run. */
Tensor *tflite_own_state(TfliteCall *c, const char *suffix, DType type, int rank, const int64_t *dim,
                         const Tensor *initial);
void tflite_own_state_set(TfliteCall *c, const Tensor *before, Tensor *after);

#endif
