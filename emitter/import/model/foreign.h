/* SPDX-License-Identifier: MIT */
#ifndef LW_IMPORT_MODEL_FOREIGN_H
#define LW_IMPORT_MODEL_FOREIGN_H
/* Imports an operator of a file as a call of the user's C function (--extern; ops/layers/foreign.c). */
#include "graph/dag/op.h"
#include "import/model/model.h"
#include "support/text.h"

typedef struct ForeignCall {
    Ctx *cx;
    const char *function;
    Text types, numbers;
    int count; int64_t shape[MAX_OUTPUTS * (MAX_RANK + 1)];
} ForeignCall;

ForeignCall foreign_new(Ctx *cx, const char *function);
void foreign_add_output(ForeignCall *f, DType type, int rank, const int64_t *dim);
void foreign_add_number(ForeignCall *f, bool is_real, int64_t integer, double real);
/* adds the call; returns its first output */
Tensor *foreign_call(ForeignCall *f, const char *name, Tensor *const *in, int count);
#endif
