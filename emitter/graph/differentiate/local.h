/* SPDX-License-Identifier: MIT */
#ifndef LW_GRAPH_DIFFERENTIATE_LOCAL_H
#define LW_GRAPH_DIFFERENTIATE_LOCAL_H
/* The derivative of one expression with respect to the elements that it reads. */
#include "ir/expr/tensor.h"
#include "support/map.h"

/* The adjoint of one read: `value` where the condition holds, otherwise 0. A condition of NULL holds everywhere. Both
 * conditions are over the axes of the expression. */
typedef struct Term { const Expr *read, *value, *condition; } Term;

/* The expression to differentiate, and the adjoint of its value. */
typedef struct Local {
    const Expr *value;
    const Expr *stored;              /* a read of the same value, from which derivatives are computed, or NULL */
    const Expr *adjoint, *condition;
    const Map *is_active;            /* the tensors with an adjoint; reads of other tensors are constants */
} Local;

/* Collects the terms, one per distinct read of an active tensor, in order of creation. */
int local_terms(Ctx *cx, const Local *l, Term **out);
#endif
