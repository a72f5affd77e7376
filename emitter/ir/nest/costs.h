/* SPDX-License-Identifier: MIT */
#ifndef LW_IR_NEST_COSTS_H
#define LW_IR_NEST_COSTS_H
/* The instructions that a core executes for a macro of an instruction, or for an operation: data of a target. */
#include <stdint.h>

/* A name is a macro's, or one of an expression's kind for integers, as "mulhigh", "cast", "div", and "mla" for a sum
 * with a product; "i64 mul", "i64 mla", "i64 >>", "i64 cast" (to or from 64 bits), and "i64" for any other but a
 * division in 64 bits; or of an operation of floats: "f32 add", "f32 mul", "f32 div", "f32 compare", "f32 to integer",
 * "f32 mul rectified" and "f32 add rectified" with values of which half are zeros, as a ReLU leaves them, "f32 " and
 * the name of a kind as "f32 exp", "f32 function" for functions without a row, and "f32" for others.
 * "guard" is a condition in a loop, "guarded index" the address of a load under it, if it is a sum of numbers,
 * "repeated load" the address of a load that its iteration also has under a condition. Of the C compiler: "f32 lanes"
 * are the lanes of the vectors that it makes of adjacent statements, with the elements that an instruction's address
 * reaches, "far lanes" the address of a vector beyond it: of the first in a loop body, and of those whose addresses
 * exceed the registers. "f32 loop lanes" are those of vectorized loops; with a `point` only loops without remainder are
 * vectorized, of operations whose rows have a `point`, the instructions for a vector. "unrolled text" is the size, in
 * instructions, up to which it unrolls a loop.
 * Each use takes `each` instructions, and a macro `point` more for every execution of the innermost statement of its
 * portable form. */
typedef struct CostRow { const char *name; double each, point; } CostRow;

/* The bytes that a macro reads of an operand, 0 for its result, for each point. Without a row it reads each element of
 * its operands once per use, and writes each element of its result once. */
typedef struct ReadRow { const char *name; int operand; double bytes; } ReadRow;

/* Rows, closed by one without name; names that they lack are looked up in `base`. reads: NULL, none. */
typedef struct Costs { const struct Costs *base; const CostRow *row; const ReadRow *reads; } Costs;

/* Figures of a core for layers of integers, and for layers with floats. */
typedef struct PerKind { double integers, floats; } PerKind;

/* Parts of emitted text. INTEGER, FLOAT: an operation; SELECTION: a min, max or comparison of floats. FIXED: a call of
 * the integer runtime. EXPONENTIAL: a function of floats that is inlined. MACRO: of the target, with its ARGUMENTs.
 * Once in a program: a LIBRARY_MACRO that calls a function, a LIBRARY_FUNCTION of floats, a SOFT_FLOAT operation. CALL:
 * of NAME_run, with its MEMORY. */
typedef enum TextKind {
    TEXT_LOOP, TEXT_CONDITION, TEXT_LOAD, TEXT_STORE, TEXT_POINTER, TEXT_INTEGER, TEXT_DIVISION, TEXT_FIXED, TEXT_FLOAT,
    TEXT_SELECTION, TEXT_EXPONENTIAL, TEXT_MACRO, TEXT_ARGUMENT, TEXT_LIBRARY_MACRO, TEXT_LIBRARY_FUNCTION,
    TEXT_SOFT_FLOAT, TEXT_CALL, TEXT_MEMORY, TEXT_KINDS
} TextKind;

/* Figures of a core, on average over networks. cycles: per instruction; memory has no wait states. small:
 * instructions at -Os, as a share of those at -O3; 0: unknown. code: bytes of the parts of the text at -O2; NULL:
 * unknown. code_error: the largest share by which the estimate missed a network that was not among the fitted ones.
 * frames: the most bytes of stack that a network took beside its arrays; 0: unknown. */
typedef struct CoreFigures {
    PerKind cycles;
    const char *cycles_from;     /* their origin */
    PerKind small;
    const double *code; double code_error;
    int frames;
    int machine;                 /* of its ELF files */
    int architecture;            /* of the core, in the order of api/report/architecture.c; 0: not told apart */
} CoreFigures;
#endif
