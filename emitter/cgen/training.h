/* SPDX-License-Identifier: MIT */
#ifndef LW_CGEN_TRAINING_H
#define LW_CGEN_TRAINING_H
/* Prints the parts of model.h and model.c for --train: the struct of parameters and its functions. NAME_train itself is
 * printed like NAME_run. */
#include "cgen/cgen.h"

int64_t training_bytes(const Program *p);                      /* returns the bytes of struct NAME_params */
/* Prints lines of the header's first comment. */
void training_rows(Ctx *cx, Text *t, const Program *p);
void training_declare(Ctx *cx, Text *t, const Program *p);
/* These functions print the signature of NAME_train, for the program or its step, and the prototype. */
void training_signature(Ctx *cx, Text *t, const Program *p);
void training_declare_step(Ctx *cx, Text *t, const Program *p);
void training_functions(Ctx *cx, Text *t, const Program *p);
/* Returns the C expression of a parameter's address. */
const char *training_place(Ctx *cx, const Trained *x);
#endif
