/* SPDX-License-Identifier: MIT */
#ifndef LW_IR_INTERPRET_POINT_H
#define LW_IR_INTERPRET_POINT_H
/* Evaluates expressions at one point: variables have values, and a callback provides tensor elements. Evaluation is
 * plain and lazy: `select`, `&&` and `||` evaluate only the required side, and a shared subexpression is computed once
 * per point. The evaluator and the checked interpreter are built on it. */
#include "ir/interpret/evaluate.h"

typedef struct Point Point;

/* Returns the element of `t` at index[rank]. A callback without such an element reports it and returns any value. */
typedef Scalar PointRead(void *user, const Tensor *t, const int64_t *index);

Point  *point_new(Ctx *cx, PointRead *read, void *user);
/* Enters an expression and returns its site; equal expressions have the same site. */
int     point_site(Point *p, const Expr *e);
/* Like point_site; also gives the size variables of the expression their values. */
int     point_site_in(Point *p, const Env *sizes, const Expr *e);
void    point_set(Point *p, const Expr *var, Scalar value);     /* sets a variable, and begins a new point */
void    point_set_int(Point *p, const Expr *var, int64_t value);
/* Begins a new point because tensor elements have changed. */
void    point_invalidate(Point *p);
Scalar  point_value(Point *p, int site);

const char *index_text(Ctx *cx, int rank, const int64_t *index);   /* returns "[3][-1]", or "[]" for rank 0 */
#endif
