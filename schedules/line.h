/* SPDX-License-Identifier: MIT */
#ifndef LW_SCHEDULES_LINE_H
#define LW_SCHEDULES_LINE_H
/* Replaces a function of two bytes by a line, if both agree for all 65,536 pairs. */
#include "support/ctx.h"

/* roundshift(mulhigh(i32(byte) + zero << 20, factor), shift) */
typedef struct ScaledTerm { int64_t zero, factor, shift; } ScaledTerm;
/* y = clamp(roundshift(mulhigh(term(a) + term(b), factor), shift) + zero), between least and most */
typedef struct ScaledSum { ScaledTerm term[2]; int64_t factor, shift, zero, least, most; } ScaledSum;

/* y = clamp(((a*slope[0] + b*slope[1] >> 7) + offset >> shift), where no step overflows 32 bits */
typedef struct ByteLine { int64_t slope[2], offset; int shift; } ByteLine;

/* Finds the line of a sum. Returns false if none is found, because the roundings of the sum may fit no line. */
bool line_of_sum(Ctx *cx, const ScaledSum *sum, ByteLine *line);
#endif
