/* SPDX-License-Identifier: MIT */
#ifndef LW_LOWER_COUNT_H
#define LW_LOWER_COUNT_H
/* Counts the instructions of lowered code, and the bytes that it moves. */
#include "ir/nest/code.h"
#include "ir/nest/costs.h"

/* Returns an estimate for one run on a scalar core, to compare two schedules of the same computation. The estimate is
 * the sum of operations, loads and stores times the iterations around them, and of the overhead of loops. Bounds and
 * conditions over loops are evaluated; a condition on data counts half. Sizes count with their upper bound. Macros and
 * operations cost what the table states (ir/nest/costs.def); costs may be NULL. */
int64_t count_instructions(Ctx *cx, const Function *f, const Costs *costs);
/* Like count_instructions, for the worst data: with the costlier branch of each condition on data, the maximum of each
 * loop whose end data decide, and no factor of zero. Returns -1 if a loop has no maximum. */
int64_t count_worst(Ctx *cx, const Function *f, const Costs *costs);
/* Returns the instructions that move a result of that many bytes within the arena (runtime/lw_move.h). */
int64_t count_move(const Costs *costs, int64_t bytes);
/* The bytes that a run reads from memory and writes to it. */
typedef struct Traffic { int64_t read, written; } Traffic;
enum { LOCAL_TRAFFICS = 2 };
/* Counts the traffic of each parameter of the function, in out[memory_count + LOCAL_TRAFFICS]. The entries after the
 * parameters are the function's arrays on the stack, and its arrays in memories that the schedule declares. Values that
 * C compilers keep in registers count once; saved registers are not included. */
void count_traffic(Ctx *cx, const Function *f, const Costs *costs, Traffic *out);
/* Returns the bytes of the code's text, to compare two functions: each statement counts once, with six bytes per
 * instruction. */
int64_t count_bytes(Ctx *cx, const Code *c);
#endif
