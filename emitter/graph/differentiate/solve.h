/* SPDX-License-Identifier: MIT */
#ifndef LW_GRAPH_DIFFERENTIATE_SOLVE_H
#define LW_GRAPH_DIFFERENTIATE_SOLVE_H
/* Solves f(v) = a, where f is the index of a read over the variables v of a compute, and a the element that is read.
 *
 *   solved   a variable follows from a and the free ones; from[i] is replaced by to[i]
 *   free     the remaining variables, over whose whole ranges the equation may hold
 *
 * The condition states where the solution is valid: in the range of its variable, without remainder, and with f(v) = a
 * for every dimension from which no variable follows. NULL means everywhere. */
#include "ir/algebra/algebra.h"

enum { MOST_UNKNOWNS = 64 };
typedef struct Solution {
    int solved_count; const Expr *from[MOST_UNKNOWNS], *to[MOST_UNKNOWNS];
    int free_count;   const Expr *free[MOST_UNKNOWNS], *extent[MOST_UNKNOWNS];
    const Expr *condition;
    const Bounds *scope;             /* the ranges of a and of the free variables */
} Solution;

typedef struct IndexEquations {
    int var_count;  const Expr *const *var, *const *extent;
    int dim_count;  const Expr *const *index, *const *at;       /* the equations index[d] = at[d] */
    const Bounds *scope;             /* the ranges of the variables in `at` */
} IndexEquations;

/* Returns false if there are more than MOST_UNKNOWNS variables. */
bool solve_index(Ctx *cx, const IndexEquations *e, Solution *out);
#endif
