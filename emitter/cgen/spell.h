/* SPDX-License-Identifier: MIT */
#ifndef LW_CGEN_SPELL_H
#define LW_CGEN_SPELL_H
/* Prints one expression as C; holds the names in scope. */
#include "cgen/cgen.h"

typedef struct Named {
    const void *what;                /* Memory, or the Expr of a variable */
    const char *spelling;
    bool is_vector;                  /* a variable with a value per lane */
} Named;

typedef struct Speller {
    Ctx *cx;
    int named_count, named_room;     /* names in scope, innermost last; each name denotes one thing */
    Named *named;
    bool is_int;                     /* in products of narrow values that C computes as int: without casts */
} Speller;

Speller speller_new(Ctx *cx);
/* Assigns `what` the requested name, numbered if it is in use */
const char *speller_name(Speller *s, const void *what, const char *wanted);
const char *speller_find(const Speller *s, const void *what);                 /* NULL: not in scope */

/* Expressions are legal (ir/algebra/legalize.h). Has the value of e; its C type may be wider than a narrow type */
const char *spell(Speller *s, const Expr *e);
const char *spell_size(Speller *s, const Expr *e);         /* any expression of sizes */
const char *spell_exact(Speller *s, const Expr *e);        /* its C type is e's: for stores and initializers */
const char *spell_addend(Speller *s, const Expr *e);       /* added to, or subtracted from, a value of e's type */
const char *spell_bits(Speller *s, const Expr *e);         /* a 16-bit float as its stored bits */
const char *spell_type(DType t);                           /* of a value: float for 16-bit floats */
const char *spell_number(Ctx *cx, DType t, Scalar v);
/* For a loop of kind LANES with head `loop`: types of vectors, and values as vectors (cgen/vectors.c). */
const char *spell_vector_type(Ctx *cx, DType t, int lanes);
bool differs_by_lane(Speller *s, const Code *loop, const Expr *e);
const char *spell_vector(Speller *s, const Code *loop, const Expr *e);
/* Returns the address of the first lane's element. */
const char *spell_vector_place(Speller *s, const Code *loop, const Memory *m, const Expr *index);
#endif
