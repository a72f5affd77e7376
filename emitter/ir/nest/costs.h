/* SPDX-License-Identifier: MIT */
#ifndef LW_IR_NEST_COSTS_H
#define LW_IR_NEST_COSTS_H
/* What a core executes for a macro of an instruction, or for an operation: data of a target. */
#include <stdint.h>

/* A name is that of a macro; of an expression's kind for integers, as "mulhigh", "cast", "div", and "mla" for a sum
 * with a product; or of an operation of floats: "f32 add", "f32 mul", "f32 div", "f32 function", and "f32" for others.
 * Each use takes `each` instructions, and a macro `point` more for every execution of the innermost statement of its
 * portable form. */
typedef struct CostRow { const char *name; double each, point; } CostRow;

/* Rows, closed by one without name; what they lack is looked up in `base`. */
typedef struct Costs { const struct Costs *base; const CostRow *row; } Costs;

/* Figures of a core for layers of integers, and for layers with floats. */
typedef struct PerKind { double integers, floats; } PerKind;

/* Figures of a core, on average over networks. cycles: of an instruction; memory has no wait states. small:
 * instructions at -Os, as a share of those at -O3; 0: unknown. code: bytes at -O2 for a counted byte (count_bytes), 0:
 * unknown. soft_floats: bytes of the library that computes floats. */
typedef struct CoreFigures {
    PerKind cycles;
    const char *cycles_from;     /* their origin */
    PerKind small;
    double code; int64_t soft_floats;
} CoreFigures;
#endif
