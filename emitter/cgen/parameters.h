/* SPDX-License-Identifier: MIT */
#ifndef LW_CGEN_PARAMETERS_H
#define LW_CGEN_PARAMETERS_H
/* Lists the parameters of NAME_run before `in` and `out`, which are memory that the caller owns. Each has a row, from
 * which model.h, the self-test, the test bench and the C++ class list the parameters. */
#include "cgen/cgen.h"

enum { PARAMETER_ARENA, PARAMETER_MEMORY, PARAMETER_WEIGHTS, PARAMETER_PARAMS, PARAMETER_STATE, PARAMETER_COUNT };

/* Returns "void *arena, struct kws_state *state, ". */
const char *program_parameters(Ctx *cx, const Program *p);
/* Prints the arguments of a call, each followed by a comma: "arena_, &state_, ". spelled has [PARAMETER_COUNT]
 * entries. */
void print_arguments(Text *t, const Program *p, const char *const spelled[]);
/* Prints the tests of NAME_run for parameters that are null. */
void parameters_check(Text *t, const Program *p, const char *prefix);
#endif
