/* SPDX-License-Identifier: MIT */
#ifndef FUZZ_CALLS_H
#define FUZZ_CALLS_H
/* The C functions that random `external` steps call: each computes its stage by the naive nest of its formula, over the
 * parts of the tensors that it gets. A wrong address, size, first index or stride gives a wrong value or an access out
 * of bounds. */
#include "ir/nest/external.h"
#include "support/text.h"

/* Adds the definitions of the functions that the nest calls to the text of a C program. */
void calls_define(Ctx *cx, Text *t, const Nest *n);
#endif
