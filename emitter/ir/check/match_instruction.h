/* SPDX-License-Identifier: MIT */
#ifndef LW_IR_MATCH_INSTRUCTION_H
#define LW_IR_MATCH_INSTRUCTION_H
#include "ir/nest/instruction.h"

/* Where an operand lies (tensor NULL: it is `value`): the coordinates of its first element, over the loops outside, and how far each dimension of the
 * formula's tensor moves along each of the tensor here. */
typedef struct OperandMatch {
    const Tensor *tensor;
    const Expr *first[MAX_RANK];
    int64_t move[MAX_RANK][MAX_RANK];
    const Expr *value;
} OperandMatch;
typedef struct Match { const Stmt *block; OperandMatch result, operand[MAX_OPERANDS]; } Match;

/* Does the statement compute what the instruction does: its loops are the formula's axes, of the same kinds and extents,
 * and its block's value is the formula, up to names, the order of operands that commute, offsets and distances? False:
 * *why says what differs first. */
bool instruction_match(Ctx *cx, const Nest *n, const Stmt *s, const Instruction *i, Match *out, const char **why);
#endif
