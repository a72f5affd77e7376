/* SPDX-License-Identifier: MIT */
#ifndef LW_IR_CHECK_MATCH_INSTRUCTION_H
#define LW_IR_CHECK_MATCH_INSTRUCTION_H
#include "ir/nest/instruction.h"

/* The elements of an operand (tensor NULL: it is `value`): the coordinates of the first, over the outer loops, and the
 * stride of each dimension of the formula's tensor along each dimension of the tensor here. */
typedef struct OperandMatch {
    const Tensor *tensor;
    const Expr *first[MAX_RANK];
    int64_t move[MAX_RANK][MAX_RANK];
    const Expr *value;
} OperandMatch;
typedef struct Match {
    const Stmt *block;
    OperandMatch result, operand[MAX_OPERANDS];
    const Expr *number[MAX_NUMBERS];         /* constants, of an instruction with open numbers */
} Match;

/* True if the statement computes the instruction's formula. Its loops are the formula's axes, of the same kinds and
 * extents; the value of its block is the formula, up to names, the order of commutative operands, offsets and strides.
 * Open numbers take the values with which it matches. False: *why is the first difference. */
bool instruction_match(Ctx *cx, const Nest *n, const Stmt *s, const Instruction *i, Match *out, const char **why);
#endif
