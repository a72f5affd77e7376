/* SPDX-License-Identifier: MIT */
#ifndef LW_IMPORT_DIM_FORMULA_H
#define LW_IMPORT_DIM_FORMULA_H
/* Exporters call a dimension that follows from others by a formula: "past_sequence_length + sequence_length", "2*n". */
#include <stdint.h>

/* The size that was given to the name of `length` characters, or -1. */
typedef int64_t DimLookup(void *who, const char *dim_name, int length);

/* The formula's value where it is one of + - * // and parentheses over numbers and names whose sizes are known; else -1. */
int64_t dim_formula(const char *text, DimLookup *lookup, void *who);

#endif
