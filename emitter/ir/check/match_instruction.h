/* SPDX-License-Identifier: MIT */
#ifndef LW_IR_CHECK_MATCH_INSTRUCTION_H
#define LW_IR_CHECK_MATCH_INSTRUCTION_H
#include "ir/nest/instruction.h"

/* The elements of an operand: the coordinates of the first element, over the outer loops, and the stride of each
 * dimension of the formula's tensor along each dimension of `tensor`. If tensor is NULL, the operand is `value`. */
typedef struct OperandMatch {
    const Tensor *tensor;
    const Expr *first[MAX_RANK];
    int64_t move[MAX_RANK][MAX_RANK];
    const Expr *value;
} OperandMatch;
typedef struct Match {
    const Stmt *block;
    OperandMatch result, operand[MAX_OPERANDS];
    /* The constants of open numbers, and the sizes of the run over the loops around the statement. */
    const Expr *number[MAX_NUMBERS];
    /* The part of the block's guard that the loops do not change, and the conditions under which each of them has an
     * iteration where that is not proved; NULL for none. */
    const Expr *guard;
    const Bounds *scope;                     /* the loops around the statement, and the guard */
} Match;

/* Returns true if the statement computes the instruction's formula. The statement's loops must be the formula's axes,
 * with the same kinds and extents; a size of the run does not count iterations that a guard excludes. The value of its
 * block must be the formula, up to names, the order of commutative operands, offsets and strides. Open numbers take the
 * values with which the formula matches. If it returns false, *why is the first difference. */
bool instruction_match(Ctx *cx, const Nest *n, const Stmt *s, const Instruction *i, Match *out, const char **why);
#endif
