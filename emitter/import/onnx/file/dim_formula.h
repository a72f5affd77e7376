/* SPDX-License-Identifier: MIT */
#ifndef LW_IMPORT_DIM_FORMULA_H
#define LW_IMPORT_DIM_FORMULA_H
/* Evaluates formulas of dimensions. Exporters name a derived dimension by its formula, such as "past_sequence_length +
 * sequence_length" or "2*n". */
#include <stdint.h>

/* Returns the size given for the name of `length` characters, or -1 if none is given. */
typedef int64_t DimLookup(void *context, const char *dim_name, int length);

/* Evaluates a formula of + - * // and parentheses over numbers and names with given sizes. Returns -1 for any other
 * text. */
int64_t dim_formula(const char *text, DimLookup *lookup, void *context);

#endif
