/* SPDX-License-Identifier: MIT */
#ifndef LW_IR_NEST_INSTRUCTION_H
#define LW_IR_NEST_INSTRUCTION_H
/* Instructions of a target as data: the name of a macro, and a formula for its result.
 *
 *  LW_MLA8(a: f32[1], b: f32[1][8]) c[o<8] = sum(k<1) a[k] * b[k,o]          c[o] += a[0] * b[0,o] for all o
 *
 *  LW_FETCH[16, -3](p: bool, a: i8[16]) y[k<16] = select(p, a[k], -3)        16 and -3 are the first arguments
 *
 * - An operand of rank 0 is a value: any expression that does not depend on the loops, passed unchanged.
 * - A sum (or another reduction) accumulates into the existing contents of the result.
 * - The macro takes the result and the operands, each as one argument LW_AT(memory, index, strides...): the index of
 *   its first element, and the strides of its dimensions of two or more elements except the last, whose elements are
 *   contiguous. Under a false predicate the index may be outside the memory, so the call forms no pointer.
 * - A Tile with an instruction has the meaning of its statement; the macro only replaces the printed code. */
#include "ir/algebra/algebra.h"
#include "ir/nest/nest.h"

enum { MAX_OPERANDS = 6, MAX_NUMBERS = 12 };

typedef struct Instruction {
    const char *macro, *text;                /* the name; the declaration's source text */
    const char *feature;                     /* required feature of the target; NULL: none */
    int number_count; int64_t number[MAX_NUMBERS];
    int operand_count; const Tensor *operand[MAX_OPERANDS];
    const Stage *stage;
} Instruction;

const Instruction *nest_instruction(const Nest *n, const char *macro);       /* NULL: not declared */
#endif
