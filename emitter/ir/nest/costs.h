/* SPDX-License-Identifier: MIT */
#ifndef LW_IR_NEST_COSTS_H
#define LW_IR_NEST_COSTS_H
/* The instructions that a core executes for operations and macros, and the loops that its C compiler vectorizes and
 * unrolls. costs.def has the rows with their units. These figures are data of a target. */
#include <stdbool.h>
#include <stdint.h>

#include "ir/expr/expr.h"

typedef enum CostKind {
#define COST(key, name, value, fallback, unit, meaning) COST_##key,
#define FLOAT(kind, name, fallback) COST_F32_##kind,
#define MACRO(key) COST_##key,
#include "ir/nest/costs.def"
#undef COST
#undef FLOAT
#undef MACRO
    COST_KINDS
} CostKind;

/* `each` is the figure of a use. `point` is the instructions of a point, which is an execution of the innermost
 * statement of a macro's portable form, or of a vector operation in a vectorized loop. */
typedef struct Cost { bool is_stated; double each, point; } Cost;

/* The bytes that a macro reads of an operand for each point; operand 0 is the result. Without a row, the macro reads
 * each element of its operands once per use, and writes each element of its result once. */
typedef struct ReadRow { CostKind macro; int operand; double bytes; } ReadRow;

/* The figures of a core. `base` has the figures that the core does not state, and costs.def has the remaining ones.
 * `reads` ends with a row without bytes, or is NULL. */
typedef struct Costs { const struct Costs *base; const ReadRow *reads; Cost at[COST_KINDS]; } Costs;
/* An element of `at`, by the key in costs.def. */
#define COST_EACH(key, n) [COST_##key] = { .is_stated = true, .each = n }
#define COST_BOTH(key, n, per_point) [COST_##key] = { .is_stated = true, .each = n, .point = per_point }

typedef struct CostInfo { const char *name, *unit, *meaning; CostKind fallback; Cost value; } CostInfo;
const CostInfo *cost_info(CostKind k);
CostKind cost_of_float(ExprKind k);            /* the row of an operation of floats */
CostKind cost_of_macro(const char *name);      /* returns COST_KINDS if the macro has no figure */
/* Returns NULL if neither the table nor a base states the figure. */
const Cost *cost_stated(const Costs *costs, CostKind k);
const Cost *cost_find(const Costs *costs, CostKind k);           /* costs may be NULL */

/* A figure for layers on integers, and one for layers with floats. */
typedef struct PerKind { double integers, floats; } PerKind;

/* Figures of a core. */
typedef struct CoreFigures {
    PerKind cycles;              /* cycles per instruction, on average over networks, if memory has no wait states */
    const char *cycles_from;     /* where the cycles come from */
    PerKind size_level;          /* instructions at -Os per one at -O3, on average over networks; 0 if unknown */
    int stack_frames;            /* the most bytes of stack that a network used beside its arrays; 0 if unknown */
    int elf_machine;             /* the machine in the core's ELF files */
    int architecture;            /* the row of api/report/architecture.c, from 1; 0 if the core has none */
} CoreFigures;
#endif
