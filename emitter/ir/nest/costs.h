/* SPDX-License-Identifier: MIT */
#ifndef LW_IR_NEST_COSTS_H
#define LW_IR_NEST_COSTS_H
/* The instructions that a core executes for a macro of an instruction, or for an operation. These are data of a
 * target. */
#include <stdint.h>

/* A name is one of the following. Macros have their own names. Operations on integers have the name of the expression's
 * kind, such as "mulhigh", "cast" or "div"; "mla" is a sum with a product. In 64 bits they are "i64 mul", "i64 mla",
 * "i64 >>", "i64 cast" (to or from 64 bits), and "i64" for any other operation except a division. Operations on floats
 * are "f32 add", "f32 mul", "f32 div", "f32 compare" and "f32 to integer". "f32 mul rectified" and "f32 add rectified"
 * have operands of which half are zeros, as after a ReLU. "f32 " with the name of a kind, such as "f32 exp", is a
 * function; "f32 function" stands for functions without a row, and "f32" for other operations. "guard" is a condition
 * in a loop. "guarded index" is the address of a load under a guard, if the address is a sum of numbers. "repeated
 * load" is the address of a load that the same iteration also executes under a condition. The following names describe
 * the C compiler. "f32 lanes" is the number of lanes of the vectors that it forms from adjacent statements, with the
 * elements that an instruction's address reaches. "far lanes" is the address of a vector beyond that reach: of the
 * first vector in a loop body, and of vectors whose addresses exceed the registers. "f32 loop lanes" is the number of
 * lanes of vectorized loops. If its row has a `point`, only loops without remainder are vectorized, for operations
 * whose rows have a `point`, which is the number of instructions for a vector. "unrolled text" is the size, in
 * instructions, up to which the compiler unrolls a loop. Each use executes `each` instructions. A macro also executes
 * `point` instructions for every execution of the innermost statement (a point) of its portable form. */
typedef struct CostRow { const char *name; double each, point; } CostRow;

/* The bytes that a macro reads of an operand for each point (see CostRow); operand 0 is the result. Without a row, the
 * macro reads each element of its operands once per use, and writes each element of its result once. */
typedef struct ReadRow { const char *name; int operand; double bytes; } ReadRow;

/* The rows, closed by a row without a name. A name that the rows lack is looked up in `base`. reads may be NULL. */
typedef struct Costs { const struct Costs *base; const CostRow *row; const ReadRow *reads; } Costs;

/* A figure for layers on integers, and one for layers with floats. */
typedef struct PerKind { double integers, floats; } PerKind;

/* Figures of a core. */
typedef struct CoreFigures {
    PerKind cycles;              /* cycles per instruction, on average over networks, if memory has no wait states */
    const char *cycles_from;     /* where the cycles come from */
    PerKind size_level;          /* instructions at -Os per instruction at -O3, on average over networks; 0 if unknown */
    int stack_frames;            /* the most bytes of stack that a network used beside its arrays; 0 if unknown */
    int elf_machine;             /* the machine in the core's ELF files */
    int architecture;            /* the row of api/report/architecture.c, from 1; 0 if the core has none */
} CoreFigures;
#endif
