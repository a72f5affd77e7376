/* SPDX-License-Identifier: MIT */
#ifndef LW_IR_NEST_COSTS_H
#define LW_IR_NEST_COSTS_H
/* What a core executes for a macro of an instruction, or for an operation: data of a target. */

/* A name is that of a macro; of an expression's kind for integers, as "mulhigh", "cast", "div", and "mla" for a sum
 * with a product; or of an operation of floats: "f32 add", "f32 mul", "f32 div", "f32 function", and "f32" for others.
 * Each use takes `each` instructions, and a macro `point` more for every execution of the innermost statement of its
 * portable form. */
typedef struct CostRow { const char *name; double each, point; } CostRow;

/* Rows, closed by one without name; what they lack is looked up in `base`. */
typedef struct Costs { const struct Costs *base; const CostRow *row; } Costs;

/* Clock cycles of an instruction, on average over layers of integers, and over layers with floats. Memory has no wait
 * states. */
typedef struct Cycles {
    double integers, floats;
    const char *from;            /* the origin of the figures */
} Cycles;
#endif
