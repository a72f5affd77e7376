/* SPDX-License-Identifier: MIT */
#ifndef LW_IR_NEST_ANNOTATION_H
#define LW_IR_NEST_ANNOTATION_H
/* The contract of a function and the invariants of its loops, as rows for an analyser of C. emitter/lower/annotate
 * derives the rows from lowered code, and cgen/acsl.c prints them. */
#include "ir/expr/memory.h"

typedef enum ClauseKind {
    CLAUSE_REQUIRES, CLAUSE_ASSIGNS, CLAUSE_ENSURES, CLAUSE_INVARIANT, CLAUSE_LOOP_ASSIGNS, CLAUSE_VARIANT,
    CLAUSE_ASSERT
} ClauseKind;

/* The statement of a clause:
 *
 *   AT_MOST       a <= b
 *   ENTERED       a <= b, or a is still `low`, because the loop has no iteration
 *   ALIGNED       a - low is a multiple of `step`
 *   VALID         the memory may be written, or read if it is an input
 *   APART         memory and other share no byte
 *   WITHIN        low <= element <= high, for the elements of the area
 *   INITIALIZED   the elements of the area have values
 *   MEMORY        the whole memory, in a list of assigned places
 *   VARIABLE      the variable a, in a list of assigned places
 *   DISTANCE      b - a, which decreases
 *   PRODUCT       -(low * high) <= a * b <= low * high, because |a| <= low and |b| <= high */
typedef enum ClauseForm {
    FORM_AT_MOST, FORM_ENTERED, FORM_ALIGNED, FORM_VALID, FORM_APART, FORM_WITHIN, FORM_INITIALIZED, FORM_MEMORY,
    FORM_VARIABLE, FORM_DISTANCE, FORM_PRODUCT
} ClauseForm;

/* The elements at offset + sum(coef * d), with 0 <= d < count for each digit. Coefficients decrease, and the elements
 * below a digit fill at most its coefficient. Without digits, one element. */
enum { AREA_DIGITS = 6 };
typedef struct Digit {
    int64_t coef;
    const Expr *count;
    /* The offset's place in the period of the digit above, if the elements do not pass the period's end; or NULL. */
    const Expr *place;
} Digit;
/* Blocks of a ring buffer: block b is at (b % blocks) * coef, and the blocks of [from, to) are meant. Blocks are
 * written in their order, so min(blocks, to) blocks of the buffer have values. blocks is 0 if the area has no ring. */
typedef struct Ring { int64_t blocks, coef; const Expr *from, *to; } Ring;
typedef struct Area { const Expr *offset; int digit_count; Digit digit[AREA_DIGITS]; Ring ring; } Area;

enum { CONTRACT = -1, STATEMENT = -2 };
typedef struct Clause {
    int loop;                    /* CONTRACT, STATEMENT, or the number of the loop in the order of the text */
    const struct Code *statement;    /* ASSERT: the store before which it holds */
    ClauseKind kind;
    ClauseForm form;
    const Memory *memory, *other;
    Area area;
    const Expr *a, *b, *low, *high;
    int64_t step;
} Clause;

typedef struct Clauses { int count, room; Clause *at; } Clauses;
#endif
