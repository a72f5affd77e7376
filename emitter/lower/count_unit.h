/* SPDX-License-Identifier: MIT */
#ifndef LW_LOWER_COUNT_UNIT_H
#define LW_LOWER_COUNT_UNIT_H
#include "ir/nest/code.h"

/* Counts a function's demands on a unit in one run: descriptors of its copies, the bytes that they move and fill, and
 * the calls of instructions with the points of their formulas. */
enum { MAX_UNIT_MACROS = 16 };
typedef struct MacroCount { const char *macro; int64_t calls, points; } MacroCount;
typedef struct UnitCounts {
    int64_t copies, moved, filled;
    int macro_count; MacroCount macro[MAX_UNIT_MACROS];
} UnitCounts;

/* Returns false if the function has no copies, or if a count depends on data or on sizes that the run decides. */
bool count_unit(Ctx *cx, const Function *f, UnitCounts *out);
#endif
