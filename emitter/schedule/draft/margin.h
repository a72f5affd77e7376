/* SPDX-License-Identifier: MIT */
#ifndef LW_SCHEDULE_DRAFT_MARGIN_H
#define LW_SCHEDULE_DRAFT_MARGIN_H
/* A tensor that has the value V outside the shape of another tensor needs no condition around its reads: if
 *
 *   select(C, YES, NO)
 *
 * reads it inside the old shape only if C holds, and YES with V in place of its elements equals NO, the select is
 * YES. */
#include "schedule/draft/draft.h"

typedef struct Margin {
    Ctx *cx;
    const Tensor *tensor;                /* the tensor that the selects read */
    const Expr *const *shape;            /* outside this shape it is V */
    const Expr *value;                   /* V, of the tensor's type */
    /* True if all elements that the selects name exist; otherwise the indices of `tensor` are compared with its
     * shape. */
    bool holds_all;
    const Bounds *scope;                 /* the axes of the stage */
    /* True if the value fits, and the condition stays only because it also keeps reads of other tensors inside them. */
    bool waits;
    const char *why;                     /* after a failure: a clause with the missing proof */
} Margin;

/* Returns YES, or NULL if the select keeps its condition; m->why is then a clause. */
const Expr *margin_without_condition(Margin *m, const Expr *select);
/* Returns true if the reads of other tensors in e are inside them on the whole axes of the stage. */
bool margin_others_exist(Margin *m, const Expr *e);
/* Returns the expression with V in place of the reads of the tensor. */
const Expr *margin_value(Margin *m, const Expr *e);
/* Returns the stage without the conditions that are not needed. Others stay. */
const Stage *margin_simplify(Margin *m, const Stage *s);
#endif
