/* SPDX-License-Identifier: MIT */
#ifndef LW_IR_TEXT_FORMULA_H
#define LW_IR_TEXT_FORMULA_H
/* One reader and one printer of expressions, formulas and nests. The reader accepts all that the printer writes.
 *
 *  formula   = name {',' name} ['[' [axis {',' axis}] ']' | '[*]'] '=' [reduction] value {',' value}
 *              ['where' declared]
 *  axis      = name ['<' size]
 *  reduction = reducer '(' axis {',' axis} [';' first value {',' first value}] ')'
 *  reducer   = sum | prod | max | min | all | any | argmax | argmin | name
 *  declared  = name '(' name {',' name} ';' name {',' name} ')' '=' value {',' value}
 *              {'from' number {',' number} | 'associative' | 'commutative'}
 *  value     = the operators of expr.def with C's precedences, and > and >=
 *            | number | inf | nan | true | false | a bound name
 *            | the functions of expr.def, type '(' value ')', bits_TYPE '(' value ')'
 *            | clamp(x, low, high), ceildiv(a, b), dim(x, 1): the size of a dimension
 *            | name '[' index {',' index} ']' ['?']      a read; `name` reads a tensor of rank 0
 *            | '(' value ':' value ')'                   the second if a read marked '?' in the first is out of bounds
 *
 *  y[n, h<H, w<W, o] = sum(i, j, c) (x[n, h*s+i-p, w*s+j-p, c]? * k[i,j,c,o] : 0)
 *
 * - An axis without a size takes the size of a dimension that it indexes alone; reads without '?' come first. The
 *   size of a reduced axis may use axes before it, and data: sum(k<i+1), sum(k<min(len[i], 16)). The axis then has the
 *   greatest size, and select(k < i+1, value, 0) is reduced.
 * - A literal takes the type of the other operand, in which it must fit. Without one it is i32; with a point or
 *   exponent, f32.
 * - There are no implicit casts. `/ %` are floor division on integers.
 * - Several values have a name each, and are reduced together: s, q[i] = sum(k) x[i,k], x[i,k] * x[i,k].
 * - `update t[index, ..] OP value`, where OP is =, +=, *=, max= or min=, is the formula of t with new elements at the
 *   indices: update b[at[i]] += x[i] is b[d0] = sum(i; b[d0]) select(at[i] == d0, x[i], -0.0). An index that is a name
 *   alone is an axis of t. A name in another index is an axis that is reduced, of the size of a dimension that it
 *   indexes alone; `sum(k<3)` before the value adds axes, outside the others. Values are combined in the order of these
 *   axes. Elements outside t are not updated.
 * - A declared reducer combines a tuple of values: re, im[i] = mul(k) x[i,k], y[i,k] where mul(a, b; c, d) = a*c - b*d,
 *   a*d + b*c from 1, 0. The names before ';' are the values so far, those behind it the values of a point. `from`
 *   states the identity. Points are combined in the order of the axes, the last one innermost; partial results require
 *   the word associative, another order also commutative.
 * - A reduction is outermost and extends to the end of the formula. max(i, j) before a value reduces; max(a, b) is the
 *   function.
 * - argmax and argmin return the index (i32, row-major over the reduced axes) and the value: `i, v[n] = argmax(k)
 *   x[n,k]`. `i[n] = ...` names the index only. `argmax(k) index, value` states another index.
 * - name[*] reads at the output's axes, aligned to the right; dimensions of 1 broadcast. y[*] = gives the output the
 *   broadcast shape of all [*] reads.
 * - An index that is read from a tensor, as in x[at[i]], is clamped to x: data cause no access out of bounds. x must
 *   have an element.
 * - The conditions of a padded read that the axes' ranges prove are dropped. Any other read is an error unless it is
 *   proved to stay inside its tensor under the conditions around it. */
#include "ir/nest/nest.h"
#include "support/text.h"

/* A name that is bound to a tensor or to a value. */
typedef struct Bind { const char *name; Tensor *tensor; const Expr *value; } Bind;
#define BIND_T(n, t)  { (n), (t), NULL }
#define BIND_V(n, e)  { (n), NULL, (e) }
#define BIND_I(cx, n, i) { (n), NULL, expr_index((cx), (i)) }

/* Reads a formula and creates its compute node. `binds` ends with a row without a name. A bind without tensor and value
 * is an error at its use. Errors show the formula and a caret. Returns the (first) output tensor; NULL on error. */
Tensor *formula(Ctx *cx, const char *text, const Bind *binds);
#define FORMULA(cx, text, ...) formula((cx), (text), (const Bind[]){ __VA_ARGS__, { NULL, NULL, NULL } })

/* Reads an expression over the given names. `literal` is the type of literals without a typed operand. */
const Expr *expr_read(Ctx *cx, const char *text, const Bind *binds, DType literal);

bool formula_has_function(const char *word);                  /* returns true if formulas accept `word(...)` */

/* Prints an expression. The text reads back as the same node, with the same names. */
void print_expr(Text *t, const Expr *e);
void print_stage(Ctx *cx, Text *t, const Stage *s);           /* prints the formula in one line, without a newline */
/* print_loops prints the stages, then the statement tree. print_nest also prints the steps; nest_read reads its
 * text. */
void print_loops(Ctx *cx, Text *t, const Nest *n);
void print_nest(Ctx *cx, Text *t, const Nest *n);
/* Reads a printed nest; creates new tensors and stages with the same names. */
const Nest *nest_read(Ctx *cx, const char *text);

#endif
