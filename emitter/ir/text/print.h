/* SPDX-License-Identifier: MIT */
#ifndef LW_IR_TEXT_PRINT_H
#define LW_IR_TEXT_PRINT_H
/* Shared by print.c (expressions and formulas) and print_nest.c: gives objects names that are unique in the text. */
#include "ir/text/formula.h"
#include "support/map.h"

/* Assigns each object one name: its own name if that is free and readable, otherwise with a suffix _2, _3, ... */
typedef struct Namer { Ctx *cx; Map by_object, by_name; } Namer;
Namer namer_new(Ctx *cx);
/* Returns the name that is assigned to the object, the same name on each call. */
const char *namer_add(Namer *n, const void *object, const char *preferred);
/* Returns `otherwise` if the object has no name; n may be NULL. */
const char *namer_get(const Namer *n, const void *object, const char *otherwise);
bool namer_has(const Namer *n, const char *text);

/* The loops around the printed expression. A variable is printed as the last part of its loop's name if that is
 * unambiguous. */
typedef struct LoopName { const struct LoopName *outer; const Expr *var; const char *full, *last; } LoopName;

typedef struct Printer {
    Text *t;
    const Namer *tensors, *vars;     /* NULL if every object has its own name */
    const LoopName *loops;
    /* Text beyond this number of characters is omitted; 0 for no limit. Shared operands are printed at each use, so a
     * text may be exponentially longer than its expression. */
    size_t most;
} Printer;

/* Parenthesizes operators of lower precedence than `least`. With `tight`, sums and products have no blanks. */
void print_bound(const Printer *p, const Expr *e, int least, bool tight);
void print_shape(const Printer *p, const Tensor *t);                          /* prints a type such as f32[n][4] */
void print_formula(Ctx *cx, const Printer *p, const Stage *s);                /* requires that all names are assigned */
/* Prints v as a literal: true, -3, 0.5. */
void print_element(Text *t, DType type, Scalar v);
enum { EXTENT_LEVEL = 6 };           /* an extent ends before a comparison */
#endif
