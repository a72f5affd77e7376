/* SPDX-License-Identifier: MIT */
#ifndef LW_IR_ALGEBRA_H
#define LW_IR_ALGEBRA_H
/* What can be known about expressions without running them: simplification by the equations of rules.def, intervals,
 * the normal form of indices, and the two questions on which every proof about loop nests rests, reach and dense. */
#include "ir/expr/memory.h"
#include "support/map.h"

/* Ranges of variables in force: the loops and axes around an expression, and facts (bool expressions) that hold. Sizes
 * carry their declared range themselves. Newest first; NULL is the empty scope. */
typedef struct Bounds Bounds;
struct Bounds {
    const Bounds *outer;
    const Expr *var, *extent;    /* var in [0, extent); extent over sizes and outer variables */
    const Expr *fact;            /* or: this holds; then var is NULL */
};

const Bounds *bounds_var(Ctx *cx, const Bounds *outer, const Expr *var, const Expr *extent);
const Bounds *bounds_fact(Ctx *cx, const Bounds *outer, const Expr *fact);       /* NULL fact: outer itself */
/* The scope without these variables and without what is said of them. */
const Bounds *bounds_without(Ctx *cx, const Bounds *scope, const Expr *const *vars, int count);
bool uses_any(const Expr *e, const Expr *const *vars, int count);

/* Equal in value wherever the bounds hold; never larger. Constant folding, rules.def, normal forms of index arithmetic,
 * comparisons decided by intervals. NULL bounds allowed. Works on data expressions too (only exact float rules). */
const Expr *simplify(Ctx *cx, const Expr *e, const Bounds *b);
/* Of an integer or bool expression; whole type if unknown */
Interval interval_of(Ctx *cx, const Expr *e, const Bounds *b);
/* The same of one operation, given the intervals of its operands (up to three; of floats anything); leaves: what the type holds. */
Interval interval_apply(const Expr *e, const Interval *operands);
bool provably(Ctx *cx, const Expr *condition, const Bounds *b);   /* true only if it holds wherever b does */
bool provably_equal(Ctx *cx, const Expr *a, const Expr *b, const Bounds *bounds);

/* Symbolic interval of an index while the `inner` variables run over their ranges and everything else stays symbolic:
 * [low, high], inclusive; may be too large, never too small. False where no bound can be given; then *why names the term. */
typedef struct Reach { const Expr *low, *high; } Reach;
bool reach(Ctx *cx, const Expr *index, const Bounds *scope, const Expr *const *inner, int inner_count, Reach *out,
           const char **why);

/* Do the `own` loops, each run over its whole range, under `guard` (NULL: none), bring `bind` (one index per axis) to
 * every point of one box exactly once, the other variables fixed? Then box[d] = [begin, begin + count) per axis, over the
 * other variables. A guard cuts the box where it cuts a digit. False where it is not so or cannot be shown; *why names
 * the term. With repeats not NULL one more form passes, the tail shifted inwards, min(o*f, n-f) + i, which reaches some
 * points of its axis again; then *repeats is the loop o. `scope` must hold without the guard. */
typedef struct Box { const Expr *begin, *count; } Box;
bool dense(Ctx *cx, const Expr *const *bind, int bind_count, const Expr *guard, const Bounds *scope,
           const Expr *const *own, const Expr *const *own_extent, int own_count, Box *out, const Expr **repeats,
           const char **why);

/* An integer linear view: sum of coef[i] * term[i] + constant, terms distinct and in an order of their own, coefficients nonzero.
 * The terms are variables or whole subexpressions that are not sums; (v / a) * a + v % a is v. Equal to the expression
 * modulo 2^bits, as integers wrap. False where a coefficient or the number of terms would overflow, and on floats. */
enum { MAX_TERMS = 24 };
typedef struct Linear {
    DType type;
    int count;
    const Expr *term[MAX_TERMS];
    int64_t coef[MAX_TERMS];
    int64_t constant;
} Linear;
bool linear_of(Ctx *cx, const Expr *e, Linear *out);
/* Positive terms first, large coefficients first, the constant last */
const Expr *linear_expr(Ctx *cx, const Linear *l);
bool linear_add(Linear *l, const Linear *more, int64_t factor);
int64_t linear_coef(const Linear *l, const Expr *term);        /* 0: absent */
void linear_drop(Linear *l, int at);                           /* removes a term */

/* What is known in one scope, remembered, for those who ask many questions in it. */
typedef struct Ranges {
    Ctx *cx;
    const Bounds *scope;
    Map known;                             /* expression to its interval */
    int fact_count; Linear *fact;          /* each >= 0: the integer facts of the scope */
} Ranges;
Ranges ranges_new(Ctx *cx, const Bounds *scope);
Interval ranges_of(Ranges *r, const Expr *e);
bool ranges_exact(Ranges *r, const Expr *e);                    /* the node itself cannot wrap */
/* Sums opened only where exact: equal as whole numbers */
bool ranges_linear(Ranges *r, const Expr *e, Linear *out);
Interval ranges_of_linear(Ranges *r, const Linear *l);
bool ranges_prove(Ranges *r, const Expr *condition);
const Expr *ranges_simplify(Ranges *r, const Expr *e);

/* Elements and bytes of a tensor with its symbolic sizes at their greatest; -1: beyond int64. */
int64_t tensor_most_elems(Ctx *cx, const Tensor *t);
int64_t tensor_most_bytes(Ctx *cx, const Tensor *t);
/* Emitted indices are int32_t: every element has a number that fits, at the greatest sizes too; or an error says so. */
bool tensor_fits_index(Ctx *cx, const Tensor *t);

int64_t sat_add(int64_t a, int64_t b);
int64_t sat_mul(int64_t a, int64_t b);
int64_t floor_div(int64_t a, int64_t b);                        /* b > 0 */
#endif
