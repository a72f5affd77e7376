/* SPDX-License-Identifier: MIT */
#ifndef LW_IR_EXPR_H
#define LW_IR_EXPR_H
/* Scalar expressions: one uniform, immutable, interned node. Equal pointer means equal expression (reads are pure, for
 * every tensor element is assigned once). The kinds and what they mean are the rows of expr.def.
 *
 * All nodes are made by expr_new, which folds constants, puts them on the right of commutative kinds and interns.
 * NULL or POISON among the operands, or a failed context, gives POISON; a wrong type is an error of the context. */
#include "ir/expr/dtype.h"
#include "support/ctx.h"

typedef enum ExprKind {
#define EXPR(kind, spelling, arity, form, prec, algebra) EXPR_##kind,
#include "ir/expr/expr.def"
#undef EXPR
    EXPR_KIND_COUNT
} ExprKind;

enum { EXPR_MANY = -1 };
typedef enum ExprForm { EXPR_LEAF, EXPR_PREFIX, EXPR_INFIX, EXPR_CALL, EXPR_OWN } ExprForm;
enum { ALGEBRA_COMMUTES = 1, ALGEBRA_ASSOCIATES = 2, ALGEBRA_IS_BOOL = 4, ALGEBRA_FLOATS = 8, ALGEBRA_INTEGERS = 16 };

typedef struct ExprInfo { const char *spelling; int arity; ExprForm form; int precedence; int algebra; } ExprInfo;

typedef struct Expr Expr;
struct Expr {
    ExprKind kind;
    DType type;
    uint32_t serial;          /* of making: deterministic order */
    int arg_count;
    int64_t integer;          /* INT: the value, in the range of the type (u64: its bits) */
    double real;              /* REAL: the value, rounded to the type */
    const void *ref;          /* VAR: Var; READ: Tensor; LOAD: Memory */
    const Expr *arg[];
};
enum { SELECT_COND, SELECT_YES, SELECT_NO };

/* A named integer (or, for lowered scalars, any type). Identity is the address, never the name. */
typedef enum VarRole {
    VAR_AXIS,      /* of a stage: what is computed */
    VAR_LOOP,      /* of a nest: how; runs from 0 */
    VAR_SIZE,      /* symbolic size in [least, greatest], least >= 0 */
    VAR_LOCAL      /* scalar of lowered code */
} VarRole;
typedef struct Var {
    const char *name;
    VarRole role;
    DType type;
    int64_t least, greatest;
    uint32_t serial;
    const struct LoopHints *hints;
} Var;
/* What a C compiler or the cache is told before a loop. It belongs to the loop's variable, so it goes when a step consumes the loop. */
enum { MAX_PREFETCHES = 4 };
typedef struct LoopHints {
    const char *pragma;              /* "unroll 4", "independent" (schedule/primitives/hints.c); NULL: none */
    int prefetch_count;
    /* An input, for so many iterations later */
    struct { const struct Tensor *tensor; int64_t ahead; } prefetch[MAX_PREFETCHES];
} LoopHints;

const ExprInfo *expr_info(ExprKind k);
bool expr_kind_read(const char *s, size_t n, ExprKind *out);     /* kinds of form CALL, by spelling */

/* The one constructor. `type` is that of the result; for kinds with operands of equal type it may be taken from them. */
const Expr *expr_new(Ctx *cx, ExprKind kind, DType type, const void *ref, const Expr *const *args, int count);
const Expr *expr_poison(Ctx *cx);
const Expr *expr_int(Ctx *cx, DType t, int64_t v);               /* wraps into t; a float t gives a REAL */
const Expr *expr_real(Ctx *cx, DType t, double v);
const Expr *expr_index(Ctx *cx, int64_t v);                      /* i32; outside i32 is an error */
const Expr *expr_var(Ctx *cx, const Var *v);
const Expr *expr_new_var(Ctx *cx, const char *name, VarRole role, DType t, int64_t least, int64_t greatest);
const Expr *expr_unary(Ctx *cx, ExprKind k, const Expr *a);
const Expr *expr_binary(Ctx *cx, ExprKind k, const Expr *a, const Expr *b);   /* bool result where the table says so */
const Expr *expr_select(Ctx *cx, const Expr *cond, const Expr *yes, const Expr *no);
const Expr *expr_fma(Ctx *cx, const Expr *a, const Expr *b, const Expr *c);
const Expr *expr_cast(Ctx *cx, DType t, const Expr *a);          /* a itself when the type agrees */

static inline const Expr *expr_add(Ctx *cx, const Expr *a, const Expr *b) { return expr_binary(cx, EXPR_ADD, a, b); }
static inline const Expr *expr_sub(Ctx *cx, const Expr *a, const Expr *b) { return expr_binary(cx, EXPR_SUB, a, b); }
static inline const Expr *expr_mul(Ctx *cx, const Expr *a, const Expr *b) { return expr_binary(cx, EXPR_MUL, a, b); }
static inline const Expr *expr_and(Ctx *cx, const Expr *a, const Expr *b) { return expr_binary(cx, EXPR_AND, a, b); }

static inline bool expr_is_int(const Expr *e, int64_t v) { return e->kind == EXPR_INT && e->integer == v; }
static inline bool expr_is_const(const Expr *e) { return e->kind == EXPR_INT || e->kind == EXPR_REAL; }
static inline const Var *expr_as_var(const Expr *e) { return e->kind == EXPR_VAR ? (const Var *)e->ref : NULL; }
static inline Scalar expr_scalar(const Expr *e)                  /* of a constant */
{
    Scalar s = { 0 };
    if (e->kind == EXPR_REAL) s.f = e->real;
    else s.i = e->integer;
    return s;
}
const Expr *expr_constant(Ctx *cx, DType t, Scalar v);

/* Memoized bottom-up rewriting. `visit` sees a node whose operands have been rewritten already and returns it, or its
 * replacement. Sharing is kept, so the work is linear in the DAG. */
typedef const Expr *ExprVisit(Ctx *cx, const Expr *e, void *user);
const Expr *expr_rewrite(Ctx *cx, const Expr *e, ExprVisit *visit, void *user);
/* The same node over other operands. */
const Expr *expr_with_args(Ctx *cx, const Expr *e, const Expr *const *args);
/* Replaces from[i] by to[i] everywhere, all at once. */
const Expr *expr_substitute(Ctx *cx, const Expr *e, const Expr *const *from, const Expr *const *to, int count);
bool expr_uses(const Expr *e, const Expr *part);
/* Calls `visit` once for every distinct node, operands first. */
typedef void ExprWalk(const Expr *e, void *user);
void expr_walk(Ctx *cx, const Expr *e, ExprWalk *visit, void *user);

/* The meaning of every kind on constants (expr.def). `type` is the operands' type for kinds that yield bool. */
Scalar scalar_apply(ExprKind k, DType result, DType operand, const Scalar *args);
#endif
