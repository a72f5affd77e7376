/* SPDX-License-Identifier: MIT */
#ifndef LW_CGEN_PARAMETERS_H
#define LW_CGEN_PARAMETERS_H
/* Reads the rows of a program's features: the parameters of NAME_run before `in` and `out`, error codes, and what the
 * code requires. */
#include "cgen/features.h"

/* Returns "void *arena, struct kws_state *state, ". */
const char *program_parameters(Ctx *cx, const Program *p);
/* Prints the arguments of a call, each followed by a comma: "arena_, &state_, ". */
void print_arguments(Text *t, const Program *p, ArgumentOf of);
/* Prints a text in which $ is the name of the program, @ the name in capitals, ^ the arguments of the test bench, and ~
 * the file of weights. */
void program_text(Text *t, const Program *p, const char *text);
void program_file(Text *t, const Program *p, const char *file);          /* such a text of template/ */
/* Prints the tests of NAME_run for parameters that are null. */
void parameters_check(Text *t, const Program *p);
/* Prints the macros of the codes that NAME_run may return. */
void error_codes(Text *t, const Program *p);
/* Returns true if the code of a feature calls functions of string.h. */
bool features_call_string(const Program *p);
/* Prints the names of the runtime's pieces that the features require. */
void features_pieces(Text *t, const Program *p);
#endif
