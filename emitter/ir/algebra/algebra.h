/* SPDX-License-Identifier: MIT */
#ifndef LW_IR_ALGEBRA_ALGEBRA_H
#define LW_IR_ALGEBRA_ALGEBRA_H
/* Derives facts about expressions without running them: simplification by the equations of rules.def, intervals, and
 * linear normal forms of indices. Every proof about loop nests rests on two of these functions, reach and dense. */
#include "ir/expr/memory.h"
#include "support/map.h"

/* A scope holds the ranges of the loops and axes around an expression, and facts (bool expressions) that hold inside
 * these loops. Sizes declare their own range. The newest entry is first, and NULL is the empty scope. */
typedef struct Bounds Bounds;
struct Bounds {
    const Bounds *outer;
    const Expr *var, *extent;    /* var is in [0, extent); extent is over sizes and outer variables */
    const Expr *fact;            /* a fact that holds; then `var` is NULL */
};

const Bounds *bounds_var(Ctx *cx, const Bounds *outer, const Expr *var, const Expr *extent);
const Bounds *bounds_fact(Ctx *cx, const Bounds *outer, const Expr *fact);       /* returns outer if fact is NULL */
/* Returns the scope without these variables and without the facts that use them. */
const Bounds *bounds_without(Ctx *cx, const Bounds *scope, const Expr *const *vars, int count);
bool uses_any(const Expr *e, const Expr *const *vars, int count);

/* Returns an expression that is equal wherever the bounds hold, and never larger. Applies constant folding, rules.def,
 * normal forms of index arithmetic, and comparisons that intervals decide. The bounds may be NULL. On float expressions
 * only exact rules apply. */
const Expr *simplify(Ctx *cx, const Expr *e, const Bounds *b);
/* Returns the interval of an integer or bool expression, or the whole type if it is unknown. */
Interval interval_of(Ctx *cx, const Expr *e, const Bounds *b);
/* Returns the interval of one operation, from the intervals of its operands (up to three; the interval of a float
 * operand is ignored). A leaf has the interval of its type. */
Interval interval_apply(const Expr *e, const Interval *operands);
/* Returns the smallest interval that contains both. */
static inline Interval interval_hull(Interval a, Interval b)
{
    return (Interval){ a.least < b.least ? a.least : b.least, a.greatest > b.greatest ? a.greatest : b.greatest };
}
/* Returns true if the condition is proved wherever b holds. */
bool provably(Ctx *cx, const Expr *condition, const Bounds *b);
bool provably_equal(Ctx *cx, const Expr *a, const Expr *b, const Bounds *bounds);

/* Bounds an index while the `inner` variables take all values of their ranges and all other variables stay symbolic.
 * [low, high] is inclusive; it may be too large but is never too small. Returns false if no bound is found; *why then
 * names the term. */
typedef struct Reach { const Expr *low, *high; } Reach;
bool reach(Ctx *cx, const Expr *index, const Bounds *scope, const Expr *const *inner, int inner_count, Reach *out,
           const char **why);

/* Returns true if the `own` loops take the index vector `bind` (one index per axis) to every point of one box exactly
 * once. Each loop runs over its whole range under `guard`, which may be NULL; all other variables are fixed. The box is
 * box[d] = [begin, begin + count), over the other variables. Returns false if no proof is found; *why then names the
 * term.
 *
 * - A guard cuts the box where it cuts a digit.
 * - If `repeats` is not NULL, shifted tails min(o*f, n-f) + i are also accepted. Such tails reach some points again, in
 *   another iteration of a loop that *repeats then holds; with these loops fixed, each point is reached at most once.
 * - `scope` must hold without the guard. */
typedef struct Box { const Expr *begin, *count; } Box;
enum { MAX_REPEATS = 16 };
typedef struct Repeats { int count; const Expr *loop[MAX_REPEATS]; } Repeats;
bool repeats_has(const Repeats *r, const Expr *loop);
bool dense(Ctx *cx, const Expr *const *bind, int bind_count, const Expr *guard, const Bounds *scope,
           const Expr *const *own, const Expr *const *own_extent, int own_count, Box *out, Repeats *repeats,
           const char **why);

/* The linear form of an integer expression is the sum of coef[i] * term[i] + constant. Terms are distinct and ordered;
 * coefficients are nonzero. A term is a variable or a subexpression that is not a sum; (v / a) * a + v % a becomes v.
 * The form equals the expression modulo 2^bits, as integers wrap. The conversion returns false for floats, and if a
 * coefficient or the number of terms overflows. */
enum { MAX_TERMS = 24 };
typedef struct Linear {
    DType type;
    int count;
    const Expr *term[MAX_TERMS];
    int64_t coef[MAX_TERMS];
    int64_t constant;
} Linear;
bool linear_of(Ctx *cx, const Expr *e, Linear *out);
/* Solves a comparison for a variable whose coefficient is 1 or -1: sets *low to the smallest value for which it holds,
 * or *high to the first value beyond the largest one. Returns false for any other condition. */
bool solved_for(Ctx *cx, const Expr *condition, const Expr *var, const Expr **low, const Expr **high);
/* Returns the form as an expression: positive terms first, large coefficients first, and the constant last. */
const Expr *linear_expr(Ctx *cx, const Linear *l);
bool linear_add(Linear *l, const Linear *more, int64_t factor);
int64_t linear_coef(const Linear *l, const Expr *term);        /* returns 0 if the term is absent */
void linear_drop(Linear *l, int at);                           /* removes term `at` */

/* Memoized intervals of one scope, for callers with many questions. ranges_free frees them. If several Ranges exist,
 * free them in reverse order, or all together. An older one computes nothing until the newer ones are freed. */
typedef struct Ranges {
    Ctx *cx;
    ArenaMark mark;                        /* the mark in cx->ranges, which holds the memory of all Ranges */
    const Bounds *scope;
    Map known;                             /* maps an expression to its interval */
    int fact_count; Linear *fact;          /* integer facts of the scope, each >= 0 */
} Ranges;
Ranges ranges_new(Ctx *cx, const Bounds *scope);
void ranges_free(Ranges *r);
Interval ranges_of(Ranges *r, const Expr *e);
bool ranges_exact(Ranges *r, const Expr *e);                    /* returns true if this node's operation cannot wrap */
/* Finds the linear form of e. Opens a sum only if it cannot wrap, so the form equals e over the integers. */
bool ranges_linear(Ranges *r, const Expr *e, Linear *out);
Interval ranges_of_linear(Ranges *r, const Linear *l);
bool ranges_prove(Ranges *r, const Expr *condition);
const Expr *ranges_simplify(Ranges *r, const Expr *e);
/* Returns true if 0 <= index < size is proved. */
bool ranges_prove_inside(Ranges *r, const Expr *index, const Expr *size);

/* Visits the reads of a stage's values. The scope of a read is `scope` with the conditions of the selects, && and ||
 * around it; a read under several conditions is visited under each. */
typedef void ReadVisit(Ctx *cx, const Expr *read, const Bounds *scope, void *user);
void stage_visit_reads(Ctx *cx, const Stage *s, const Bounds *scope, ReadVisit *visit, void *user);
const Bounds *stage_scope(Ctx *cx, const Stage *s);             /* returns the ranges of the stage's axes */
/* Returns true if no point of `scope` fulfils one of the facts between `facts` and `outer`, for example in a window
 * within the padding. `scope` must not contain the fact, because a contradiction proves nothing. */
bool never_holds(Ctx *cx, const Bounds *facts, const Bounds *outer, const Bounds *scope);
/* Returns true if 0 <= index < size is proved at each point of the axes where the facts between `facts` and `outer`
 * hold. Returns false if the points are many, or an axis has no fixed size. */
bool is_inside_at_points(Ctx *cx, const Stage *s, const Expr *index, const Expr *size, const Bounds *facts,
                         const Bounds *outer);

/* Returns the product of sizes. */
const Expr *size_product(Ctx *cx, const Expr *const *size, int count);
/* Returns the number of elements of a tensor at the largest values of its sizes, or -1 beyond int64. tensor_most_bytes
 * returns the number of bytes. */
int64_t tensor_most_elems(Ctx *cx, const Tensor *t);
/* Returns true if the expression has a size that the run decides. */
bool size_is_decided(Ctx *cx, const Expr *size);
/* Returns the first of the tensors that has a size that the run decides, or NULL. Entries of t may be NULL. */
const Tensor *first_of_decided_size(Ctx *cx, Tensor *const *t, int count);
int64_t tensor_most_bytes(Ctx *cx, const Tensor *t);
/* Returns true if int32_t, the type of emitted indices, holds every element's index at the largest sizes. Otherwise
 * reports an error. */
bool tensor_fits_index(Ctx *cx, const Tensor *t);

int64_t sat_add(int64_t a, int64_t b);
int64_t sat_mul(int64_t a, int64_t b);
int64_t floor_div(int64_t a, int64_t b);                        /* requires b > 0 */
#endif
