/* SPDX-License-Identifier: MIT */
#ifndef LW_IR_EXPR_REDUCER_H
#define LW_IR_EXPR_REDUCER_H
/* How the values of a reduction are combined: one of the reducers below, or a combiner that a formula declares. */
#include "ir/expr/expr.h"

enum { MAX_COMPONENTS = 8 };         /* the most values of one formula */

typedef enum Reducer {
    REDUCE_NONE, REDUCE_SUM, REDUCE_PROD, REDUCE_MAX, REDUCE_MIN, REDUCE_ALL, REDUCE_ANY,
    /* These two reducers have two outputs (index, value). A tie gives the smaller index, and a NaN wins over any
     * number */
    REDUCE_ARGMAX, REDUCE_ARGMIN,
    REDUCE_OWN,                      /* a Combiner */
    REDUCER_COUNT
} Reducer;
typedef struct ReducerInfo {
    const char *spelling;            /* such as "sum" */
    /* The number of values that depend on each other; 1 if all values are independent, whatever their
     * number. */
    int components;
    /* True if the order of combination cannot change the result: on integers, and on floats */
    bool order_free;
    bool order_free_on_floats;
} ReducerInfo;
const ReducerInfo *reducer_info(Reducer r);
static inline bool reducer_selects(Reducer r) { return r == REDUCE_ARGMAX || r == REDUCE_ARGMIN; }
/* Reads the spelling of one of the rows, not of a combiner. */
bool reducer_read(const char *s, size_t n, Reducer *out);
/* Returns the identity of component `component` in type t: 0, 1, -inf or the smallest value. For argmax's index,
 * returns the largest value. */
const Expr *reducer_identity(Ctx *cx, Reducer r, DType t, int component);
/* Returns the value that does not change any bit of an accumulator. This value is the identity. In a sum of floats that
 * does not begin at 0 it is -0, because x + -0 is x for each x. */
const Expr *reducer_neutral(Ctx *cx, Reducer r, DType t, int component, bool begins_at_identity);

/* A declared reducer over a tuple of values: combined[i] is an expression over the variables old[] and value[], and
 * reads nothing. The declaration states that it associates or commutes; nothing proves this. */
typedef struct Combiner {
    ReducerInfo info;                /* components is the number of values */
    const Expr *old[MAX_COMPONENTS], *value[MAX_COMPONENTS], *combined[MAX_COMPONENTS];
    const Expr *identity[MAX_COMPONENTS];      /* constants, or all NULL */
    bool associates, commutes;
} Combiner;
/* Computes combine(old, value) for `count` values; `out` receives one expression for each value. `own` is the combiner
 * of REDUCE_OWN, otherwise NULL. */
void reducer_combine(Ctx *cx, Reducer r, const Combiner *own, int count, const Expr *const *old,
                     const Expr *const *value, const Expr **out);
#endif
