/* SPDX-License-Identifier: MIT */
#ifndef LW_IR_POINT_H
#define LW_IR_POINT_H
/* Expressions at one point: variables have values, tensor elements come from whoever asks. Plain and lazy: `select`, `&&`
 * and `||` touch only the side they need, and a shared subexpression is computed once per point. The evaluator and the
 * checked interpreter stand on it. */
#include "ir/interpret/evaluate.h"

typedef struct Point Point;

/* The element of `t` at index[rank]. Whoever finds no such element reports it and returns anything. */
typedef Scalar PointRead(void *user, const Tensor *t, const int64_t *index);

Point  *point_new(Ctx *cx, PointRead *read, void *user);
/* Enters an expression; the same one gives the same site */
int     point_site(Point *p, const Expr *e);
int     point_site_in(Point *p, const Env *sizes, const Expr *e);   /* and gives its size variables their values */
void    point_set(Point *p, const Expr *var, Scalar value);     /* a new point begins */
void    point_set_int(Point *p, const Expr *var, int64_t value);
void    point_forget(Point *p);                                 /* a new point begins, for the elements have changed */
Scalar  point_value(Point *p, int site);

const char *index_text(Ctx *cx, int rank, const int64_t *index);   /* "[3][-1]"; "[]" for rank 0 */
#endif
