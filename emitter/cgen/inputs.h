/* SPDX-License-Identifier: MIT */
#ifndef LW_CGEN_INPUTS_H
#define LW_CGEN_INPUTS_H
/* Prints what NAME_run requires of its inputs: --check-inputs as code, --acsl as a contract. */
#include "cgen/features.h"

PrintPart inputs_check;              /* the tests of elements in NAME_run */
PrintPart inputs_contract;           /* the contract of NAME_run in model.h */
bool inputs_are_checked(const Program *p);
/* Returns a value of a float type as a C constant. */
const char *inputs_number(Ctx *cx, DType type, double value);
#endif
