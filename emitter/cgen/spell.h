/* SPDX-License-Identifier: MIT */
#ifndef LW_CGEN_SPELL_H
#define LW_CGEN_SPELL_H
/* One expression as C; and the names of what stands in scope. */
#include "cgen/cgen.h"

typedef struct Named {
    const void *what;                /* Memory, or the Expr of a variable */
    const char *spelling;
    bool is_data;                    /* a variable whose value was loaded: its arithmetic may wrap, that of an index does not */
    bool is_vector;                  /* a variable that holds a value for each lane */
} Named;

typedef struct Speller {
    Ctx *cx;
    const Bounds *scope;             /* what is known where the expression stands */
    int named_count, named_room;     /* names in scope, innermost last; a name is given to one thing at a time */
    Named *named;
} Speller;

Speller speller_new(Ctx *cx);
const char *speller_name(Speller *s, const void *what, const char *wanted);   /* gives `what` the wanted name, numbered if taken */
bool speller_is_index(Speller *s, const Expr *e);            /* computed from loops, sizes and other indices alone */
const char *speller_find(const Speller *s, const void *what);                 /* NULL: not in scope */

const char *spell(Speller *s, const Expr *e);              /* has the value of e; its C type may be wider where that is narrow */
const char *spell_exact(Speller *s, const Expr *e);        /* its C type is that of e: for stores and initialisers */
const char *spell_bits(Speller *s, const Expr *e);         /* a 16-bit float as it is stored */
const char *spell_type(DType t);                           /* of a value: float for the 16-bit floats */
const char *spell_number(Ctx *cx, DType t, Scalar v);
/* In a loop of kind LANES, of which `loop` is the head: the types of vectors, and values as vectors (cgen/vectors.c). */
const char *spell_vector_type(Ctx *cx, DType t, int lanes);
bool differs_by_lane(Speller *s, const Code *loop, const Expr *e);
const char *spell_vector(Speller *s, const Code *loop, const Expr *e);
/* The address of the first lane's element. */
const char *spell_vector_place(Speller *s, const Code *loop, const Memory *m, const Expr *index);
bool wraps(Speller *s, const Expr *e);                     /* an integer operation that may leave its type */
#endif
