/* SPDX-License-Identifier: MIT */
#ifndef LW_IR_TEXT_PRINT_H
#define LW_IR_TEXT_PRINT_H
/* What print.c (expressions and formulas) and print_nest.c share: names that are unique on paper. */
#include "ir/text/formula.h"
#include "support/map.h"

/* One name for each object: its own where that is free and can be read back, else with _2, _3, ... behind. */
typedef struct Namer { Ctx *cx; Map by_object, by_name; } Namer;
Namer namer_new(Ctx *cx);
/* The name given; the same on a second call */
const char *namer_add(Namer *n, const void *object, const char *wanted);
const char *namer_get(const Namer *n, const void *object, const char *otherwise);   /* n may be NULL */
bool namer_has(const Namer *n, const char *text);

/* The loops around what is printed. A variable is written by the last part of its loop's name where that is clear. */
typedef struct LoopName { const struct LoopName *outer; const Expr *var; const char *full, *last; } LoopName;

typedef struct Printer {
    Text *t;
    const Namer *tensors, *vars;     /* NULL: every object under its own name */
    const LoopName *loops;
    size_t most; /* what comes behind so many characters is left out: shared operands are written out each time, so
                                      * that a text can be exponentially longer than its expression; 0: all is printed */
} Printer;

/* Parentheses are put around operators that bind weaker than `least`; `tight`: no blanks around sums and products. */
void print_bound(const Printer *p, const Expr *e, int least, bool tight);
void print_shape(const Printer *p, const Tensor *t);                          /* f32[n][4] */
void print_formula(Ctx *cx, const Printer *p, const Stage *s);                /* all names given */
void print_element(Text *t, DType type, Scalar v);                            /* as a literal: true, -3, 0.5 */
enum { EXTENT_LEVEL = 6 };           /* extents are read up to a comparison */
#endif
