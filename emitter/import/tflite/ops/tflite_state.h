/* SPDX-License-Identifier: MIT */
#ifndef LW_IMPORT_TFLITE_OPS_TFLITE_STATE_H
#define LW_IMPORT_TFLITE_OPS_TFLITE_STATE_H
/* Handles variables of a TFLite model, which keep values between runs. */
#include "import/model/model.h"
#include "import/tflite/file/tflite_file.h"

typedef struct TfliteVariable {
    const char *name;
    const TfliteTensor *like;            /* a tensor that is read from the variable or assigned to it */
    /* input: the value before the run; now: the value after the operators imported so far */
    Tensor *input, *now;
    const Tensor *initial;               /* NULL: zeros */
} TfliteVariable;

typedef struct TfliteStates {
    Ctx *cx;
    const TfliteFile *file;
    int count; TfliteVariable *at;
    TfliteVariable **of;                 /* [tensors of the file] the variable of a handle, or NULL */
    /* false if this run ends after the operators imported so far; NULL if it never ends */
    Tensor *goes_on;
    /* [tensors of the file] the value of goes_on before the operator that computes the tensor */
    Tensor **gate;
} TfliteStates;

enum { TFLITE_CALL_ONCE = 129 };

void tflite_states_open(Ctx *cx, const TfliteFile *file, TfliteStates *out);
/* Imports VAR_HANDLE, READ_VARIABLE and ASSIGN_VARIABLE; returns true if the operator is one of these. `given` is the
 * value of its input 1, if any; *result receives the value of output 0 of a read. */
bool tflite_state_operator(TfliteStates *s, const TfliteOperator *op, Tensor *given, Tensor **result);
/* Sets the value before the first run, which the subgraph of `caller`, a CALL_ONCE, assigns. */
void tflite_state_begin(TfliteStates *s, const char *variable_name, const Tensor *first, const TfliteOperator *caller);
/* Creates a state of the operator itself; returns the value before the run. `initial` is NULL for zeros. */
Tensor *tflite_state_new(TfliteStates *s, const char *name, DType type, int rank, const int64_t *dim,
                         const Tensor *initial);
/* Sets the value after the run of the state whose value before the run is `before`. */
void tflite_state_set(TfliteStates *s, const Tensor *before, Tensor *after);
/* Ends runs in which `goes_on` is false. In such runs, states that are set later keep their values. */
void tflite_states_gate(TfliteStates *s, Tensor *goes_on);
/* Returns output `index` of the model with this value; in a run that ends before the output's operator, the output
 * keeps the value of the last run that reached the operator. */
Tensor *tflite_gated_output(TfliteStates *s, int index, Tensor *value);
/* Returns the current value of the variable tensor `index`, and makes the tensor a state at the first call. */
Tensor *tflite_variable_tensor(TfliteStates *s, int index);
/* Sets the value of the variable tensor `index` after an operator. */
void tflite_variable_set(TfliteStates *s, int index, Tensor *next);
#endif
