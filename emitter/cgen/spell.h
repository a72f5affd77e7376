/* SPDX-License-Identifier: MIT */
#ifndef LW_CGEN_SPELL_H
#define LW_CGEN_SPELL_H
/* Prints one expression as C; holds the names in scope. */
#include "cgen/cgen.h"

typedef struct Named {
    const void *what;                /* a Memory, or the Expr of a variable */
    const char *spelling;
    bool is_vector;                  /* true for a variable with one value per lane */
} Named;

typedef struct Speller {
    Ctx *cx;
    int named_count, named_room;     /* the names in scope, innermost last; each name denotes one thing */
    Named *named;
    bool is_int;                     /* true in products of narrow values, which C computes as int without casts */
} Speller;

Speller speller_new(Ctx *cx);
/* Assigns `what` the requested name, with a number appended if the name is in use. */
const char *speller_name(Speller *s, const void *what, const char *wanted);
/* Returns the name, or NULL if `what` is not in scope. */
const char *speller_find(const Speller *s, const void *what);

/* Spells a legal expression (ir/algebra/legalize.h). The C expression has the value of e; its C type may be wider than
 * a narrow type. */
const char *spell(Speller *s, const Expr *e);
const char *spell_size(Speller *s, const Expr *e);         /* spells any expression of sizes */
/* Spells e with the C type of e, for stores and initializers. */
const char *spell_exact(Speller *s, const Expr *e);
/* Spells an operand that is added to, or subtracted from, a value of e's type. */
const char *spell_addend(Speller *s, const Expr *e);
const char *spell_bits(Speller *s, const Expr *e);         /* spells a 16-bit float as its stored bits */
/* Returns the C type of a value, which is float for 16-bit floats. */
const char *spell_type(DType t);
const char *spell_number(Ctx *cx, DType t, Scalar v);
/* These functions spell types of vectors, and values as vectors, in the LANES loop `loop` (cgen/vectors.c). */
const char *spell_vector_type(Ctx *cx, DType t, int lanes);
bool differs_by_lane(Speller *s, const Code *loop, const Expr *e);
const char *spell_vector(Speller *s, const Code *loop, const Expr *e);
/* Returns the address of the first lane's element. */
const char *spell_vector_place(Speller *s, const Code *loop, const Memory *m, const Expr *index);
#endif
