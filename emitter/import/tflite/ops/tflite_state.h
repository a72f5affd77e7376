/* SPDX-License-Identifier: MIT */
#ifndef LW_IMPORT_TFLITE_OPS_TFLITE_STATE_H
#define LW_IMPORT_TFLITE_OPS_TFLITE_STATE_H
/* Variables of a TFLite model: what it keeps from run to run. */
#include "import/model/model.h"
#include "import/tflite/file/tflite_file.h"

typedef struct TfliteVariable {
    const char *name;
    const TfliteTensor *like;            /* a tensor that is read from it or assigned to it */
    Tensor *input, *now;                 /* the value before the run, and as it is after the operators so far */
    const Tensor *initial;               /* NULL: zeros */
} TfliteVariable;

typedef struct TfliteStates {
    Ctx *cx;
    const TfliteFile *file;
    int count; TfliteVariable *at;
    TfliteVariable **of;                 /* [tensors of the file] the variable of a handle; NULL: it is none */
} TfliteStates;

void tflite_states_open(Ctx *cx, const TfliteFile *file, TfliteStates *out);
/* CALL_ONCE, VAR_HANDLE, READ_VARIABLE and ASSIGN_VARIABLE: true if the operator is one of them. `given` is the value
 * of its input 1, if any; *result is what its output 0 is, where that is a tensor. */
bool tflite_state_operator(TfliteStates *s, const TfliteOperator *op, Tensor *given, Tensor **result);
#endif
