/* SPDX-License-Identifier: MIT */
#ifndef LW_IR_TEXT_FORMULA_H
#define LW_IR_TEXT_FORMULA_H
/* One reader and one printer of expressions, formulas and nests; the printer writes what the reader reads.
 *
 *   formula   = name [',' name] ['[' [axis {',' axis}] ']' | '[*]'] '=' [reduction] value [',' value]
 *   axis      = name ['<' size]                     y[n, h<H, w<W, o] = sum(i, j, c) (x[n, h*s+i-p, w*s+j-p, c]? * k[i,j,c,o] : 0)
 *   reduction = reducer '(' axis {',' axis} [';' first value] ')'      reducer: sum prod max min all any argmax argmin
 *   value     = the operators of expr.def with C's precedences, > and >= too; numbers, inf, nan, true, false; a bound name;
 *               the functions of expr.def; type '(' value ')', bits_TYPE '(' value ')'; clamp(x, low, high), ceildiv(a, b),
 *               dim(x, 1): the size of a dimension
 *             | name '[' index {',' index} ']' ['?']      a read; of a tensor of rank 0: name
 *             | '(' value ':' value ')'                   the second where a read marked '?' in the first is out of bounds
 *
 * An axis without a size has that of the dimension that it indexes alone, first in a read without '?'; axes may bound later
 * ones. A literal takes the type of the other operand, and must fit; literals alone are i32, with a point or exponent f32.
 * There are no implicit casts. `/ %` are floor division on integers. A reduction stands outermost and takes all that
 * follows; max(i, j) before a value reduces, max(a, b) is the function. argmax and argmin give the index (i32, row by row
 * over the reduced axes) and the value: `i, v[n] = argmax(k) x[n,k]`; `i[n] = ...` names the first alone; an index of one's
 * own is written `argmax(k) index, value`.
 * name[*] reads at the output's axes, aligned to the right, dimensions of 1 broadcasting; y[*] = gives the output the
 * broadcast shape of all [*] reads. Conditions of padded reads are kept only where the axes' ranges do not prove them; an
 * unguarded read that leaves its tensor for certain is an error. */
#include "ir/nest/nest.h"
#include "support/text.h"

typedef struct Bind { const char *name; Tensor *tensor; const Expr *value; } Bind;   /* one of tensor or value */
#define BIND_T(n, t)  { (n), (t), NULL }
#define BIND_V(n, e)  { (n), NULL, (e) }
#define BIND_I(cx, n, i) { (n), NULL, expr_index((cx), (i)) }

/* Reads a formula and makes its compute node; `binds` ends with a row without name. A bind of neither tensor nor value is an
 * error where it is used. Errors carry the formula and a caret. Returns the (first) output tensor, NULL on error. */
Tensor *formula(Ctx *cx, const char *text, const Bind *binds);
#define FORMULA(cx, text, ...) formula((cx), (text), (const Bind[]){ __VA_ARGS__, { NULL, NULL, NULL } })

/* An expression alone, over the given names; `literal` is the type of literals that have no typed operand beside them. */
const Expr *expr_read(Ctx *cx, const char *text, const Bind *binds, DType literal);

void print_expr(Text *t, const Expr *e);                      /* reads back as the same node, given its names */
void print_stage(Ctx *cx, Text *t, const Stage *s);           /* the formula, one line, no newline */
void print_nest(Ctx *cx, Text *t, const Nest *n);             /* stages, then the statement tree; readable again */
const Nest *nest_read(Ctx *cx, const char *text);             /* makes fresh tensors and stages of the same names */

#endif
