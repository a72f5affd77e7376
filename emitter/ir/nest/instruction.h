/* SPDX-License-Identifier: MIT */
#ifndef LW_IR_NEST_INSTRUCTION_H
#define LW_IR_NEST_INSTRUCTION_H
/* An instruction of a target is data: the name of a macro, and a formula for its result.
 *
 *  LW_MLA8(a: f32[1], b: f32[1][8]) c[o<8] = sum(k<1) a[k] * b[k,o]          c[o] += a[0] * b[0,o] for all o
 *
 *  LW_FETCH[16, -3](p: bool, a: i8[16]) y[k<16] = select(p, a[k], -3)        16 and -3 are the first arguments
 *  LW_DOT[n](a: i8[n], b: i8[2][n]) c[o<2] = sum(e<n) i32(a[e]) * i32(b[o,e])      of any n: matching binds it
 *  LOAD(x: i8[m][16], y: i8[m][16]; m in 1..16, ...) y[i, k] = x[i, k]       m: a size of the run
 *  LOADZ(x: f32[16]; n in 0..16) y[i<16] = select(i < n, x[i], 0)            n: a mask of lanes
 *
 * - A name among the numbers is open: a size, or a number of the formula. The loops and constants that match the
 *   formula determine the value, or the step that receives the instruction states it. A name that only operands have
 *   follows the numbers. Only the formula has the numbers after a semicolon; the macro does not receive them.
 * - An open number with a range is a size of the run: each call of the macro has its own, an expression over the loops
 *   around it. The value of such a size is where the loop of its axis ends: at the loop's extent, or where a guard
 *   stops it. The checker
 *   proves that the value is in the range, at a multiple of the step from its first value (I12).
 * - Any other number with a range may differ from call to call too. A comparison of axes with it is a mask of lanes,
 *   for which matching solves the condition of the nest (check/match_mask.h); elsewhere it is a value over the loops
 *   around the call.
 * - An operand may name its memory: `x: i8[16][16] at scratchpad`, or `from core` for one that no step declares. The
 *   result may be listed among the operands, to name its memory: `r: i32[16][16] at accumulator`. Then `+=` before a
 *   sum says that it accumulates.
 * - A unit has fields of configuration, such as the distance of rows. `SET_STEP(s: i32) sets load.step = s` declares
 *   the macro that sets a field; it has no formula. `needs load.step = stride(x, 0)` behind a formula names the value
 *   that the field must have: a stride of an operand, a number, an operand of rank 0, or a constant.
 * - An operand of rank 0 is a value: any expression that does not depend on the loops, passed unchanged.
 * - A sum (or another reduction) accumulates into the existing contents of the result.
 * - The macro takes the result and the operands, each as one argument LW_AT(memory, index, strides...): the index of
 *   its first element, and its strides. The last dimension, whose elements are contiguous, and dimensions declared with
 *   one element have no stride. Under a false predicate the index may be outside the memory, so the call forms no
 *   pointer.
 * - A Tile with an instruction has the meaning of its statement; the macro only replaces the printed code. */
#include "ir/algebra/algebra.h"
#include "ir/nest/nest.h"

enum { MAX_OPERANDS = 8, MAX_NUMBERS = 20, MAX_NEEDS = 8 };

/* The values of a number: least, least + step, and so on, up to greatest; step is 0 for a number without a range. */
typedef struct NumberRange { int64_t least, greatest, step; } NumberRange;

/* The value that a field of configuration must have. */
typedef enum NeedKind { NEED_STRIDE, NEED_NUMBER, NEED_OPERAND, NEED_CONSTANT } NeedKind;
typedef struct FieldNeed {
    const char *field;
    NeedKind kind;
    int index;                               /* the operand, operand_count for the result, or the number */
    int dimension;                           /* of the stride */
    int64_t constant;
} FieldNeed;

typedef struct Instruction {
    const char *macro, *text;                /* the macro's name, and the declaration's source text */
    const char *feature;                     /* the required feature of the target, or NULL */
    /* The numbers, i32: constants, or the variables of open numbers. The first argument_count are arguments. */
    int number_count, argument_count; const Expr *number[MAX_NUMBERS];
    NumberRange range[MAX_NUMBERS];
    int operand_count; const Tensor *operand[MAX_OPERANDS];
    /* The memories of the operands and of the result: the name of a declared memory, SCOPE_CORE for any other, or NULL
     * where the declaration names none. */
    const char *memory[MAX_OPERANDS], *result_memory;
    const Stage *stage;                      /* NULL if the macro sets a field of configuration */
    const char *sets;                        /* the field that the macro sets to its one operand, or NULL */
    int need_count; FieldNeed need[MAX_NEEDS];
    const struct Instruction *open;          /* the declaration with open numbers of which this is a case, or NULL */
} Instruction;

/* A row of a table of instructions. The last row has no declaration. */
typedef struct InstructionRow {
    const char *declaration;                 /* the declaration as in a schedule: LW_DOT[n](a: i8[n], ...) ... */
    /* The feature of the cores that have the macro; other cores compute its loops; NULL for any core. */
    const char *feature;
} InstructionRow;

/* Returns the instruction of this macro, or NULL if it is not declared. */
const Instruction *nest_instruction(const Nest *n, const char *macro);
bool nest_has_field(const Nest *n, const char *field);
/* Returns the instruction that sets the field, or NULL if none is declared. */
const Instruction *nest_setter(const Nest *n, const char *field);
/* Returns the index of an open number, or -1 if e is not an open number. */
int instruction_number(const Instruction *i, const Expr *e);
bool instruction_is_open(const Instruction *i);
/* Returns true if number k is a size of the run, which each call binds. */
bool instruction_binds_late(const Instruction *i, int k);
bool instruction_has_sizes_of_run(const Instruction *i);
bool instruction_names_memory(const Instruction *i);
/* Returns the instruction with these numbers; a NULL leaves a number open. */
const Instruction *instruction_with(Ctx *cx, const Instruction *i, const Expr *const *number);
/* Like instruction_with, but leaves the sizes of the run open. */
const Instruction *instruction_with_constants(Ctx *cx, const Instruction *i, const Expr *const *number);
#endif
