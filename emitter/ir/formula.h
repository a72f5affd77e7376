/* SPDX-License-Identifier: MIT */
#ifndef LW_IR_FORMULA_H
#define LW_IR_FORMULA_H
/* One reader and one printer of expressions, formulas and nests; the printer writes what the reader reads.
 *
 *   formula = name [ '[' axis {',' axis} ']' ] '=' body                    y[n,h,w,o] = sum(i,j,c) (x[n, h*sh+i-pt, c]? * k[i,j,c,o] : 0)
 *   axis    = name [ '<' size ]            the extent may be left out where the axis alone indexes a dimension of a read
 *   body    = [ reducer '(' axis {',' axis} [ ';' init ] ')' ] expr        reducer: sum prod max min all any argmax argmin
 *   expr    = the operators of expr.def with C's precedences, > and >= too; numbers; name; name '(' args ')'; type '(' expr ')'
 *           | name '[' index {',' index} ']' ['?']                         a read; '?' marks a padded read
 *           | '(' expr ':' expr ')'        the second where a padded read of the first is out of its tensor's bounds
 *   a literal takes the type of the other operand; two literals are i32 or f32
 *   max(i,j) with only fresh names followed by an expression is a reduction, max(a, b) of two values the binary operator
 *   name[*] reads the tensor at the output's axes, aligned to the right, broadcasting dimensions of 1; y[*] = gives the output
 *   the broadcast shape of all [*] reads */
#include "ir/nest.h"
#include "support/text.h"

typedef struct Bind { const char *name; const Tensor *tensor; const Expr *value; } Bind;   /* one of tensor or value */
#define BIND_T(n, t)  { (n), (t), NULL }
#define BIND_V(n, e)  { (n), NULL, (e) }
#define BIND_I(cx, n, i) { (n), NULL, expr_index((cx), (i)) }

/* Reads a formula and makes its compute node; ends of `binds` is a row with NULL name. Two results, `y, z[...] = argmax(..)`.
 * Errors carry the formula and a caret. Returns the (first) output tensor, NULL on error. */
Tensor *formula(Ctx *cx, const char *text, const Bind *binds);
#define FORMULA(cx, text, ...) formula((cx), (text), (const Bind[]){ __VA_ARGS__, { NULL, NULL, NULL } })

/* An expression alone, over the given names; expected type F32 etc. for bare literals. */
const Expr *expr_read(Ctx *cx, const char *text, const Bind *binds, DType literal);

void print_expr(Text *t, const Expr *e);                      /* reads back as the same node, given its names */
void print_stage(Ctx *cx, Text *t, const Stage *s);           /* the formula, one line, no newline */
void print_nest(Ctx *cx, Text *t, const Nest *n);             /* stages, then the statement tree; readable again */
const Nest *nest_read(Ctx *cx, const char *text);             /* makes fresh tensors and stages of the same names */

/* The parser's lexer, for those who read more than formulas (the .te files). See read.c. */
#endif
