/* SPDX-License-Identifier: MIT */
#ifndef LW_IR_EXPR_EXPR_H
#define LW_IR_EXPR_EXPR_H
/* A scalar expression is a uniform, immutable, interned node. Equal pointers are equal expressions. Reads are pure,
 * because each tensor element is assigned once. The rows of expr.def define the kinds.
 *
 * expr_new creates every node. The constructor folds constants, moves constants to the right of commutative kinds, and
 * interns. With NULL or POISON among the operands, or a failed context, the result is POISON. A wrong type is an error
 * of the context. */
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
    uint32_t serial;          /* the creation number, for a deterministic order */
    int arg_count;
    int depth;                /* 1 for a leaf; recursion over the operands has this depth */
    int64_t integer;          /* INT: the value, in the range of the type; a u64 is stored as its bits */
    double real;              /* REAL: the value, rounded to the type */
    const void *ref;          /* VAR: Var; READ: Tensor; LOAD: Memory; RUNTIME: RuntimeFunction */
    const Expr *arg[];
};
/* Passes recurse over operands, so this limit bounds their stack (loopwright.h states its size). The reader refuses a
 * deeper formula, and the checker refuses a nest that contains one. */
enum { MOST_EXPR_DEPTH = 200 };
enum { SELECT_COND, SELECT_YES, SELECT_NO };
enum { RUNTIME_VALUE, RUNTIME_OPERAND };       /* the operands of the C function start at RUNTIME_OPERAND */

/* Functions of the runtime that lowered code calls: the rows of runtime.def. */
typedef enum RuntimeName {
#define RUNTIME(function, c_name, result) RUNTIME_##function,
#include "ir/expr/runtime.def"
#undef RUNTIME
    RUNTIME_COUNT
} RuntimeName;
typedef struct RuntimeFunction { const char *c_name; DType result; } RuntimeFunction;

/* A named integer, or a lowered scalar of any type. A variable's identity is its address, not its name. */
typedef enum VarRole {
    VAR_AXIS,      /* dimension of a stage */
    VAR_LOOP,      /* a loop of a nest, which starts at 0 */
    VAR_SIZE,      /* a symbolic size in [least, greatest], with least >= 0 */
    VAR_LOCAL      /* a scalar of lowered code */
} VarRole;
typedef struct Var {
    const char *name;
    VarRole role;
    DType type;
    int64_t least, greatest;
    uint32_t serial;
    const struct LoopHints *hints;
    /* SIZE: true if the run computes it (ops/move/sizes.c, bind_size); false if the caller gives it. */
    bool is_decided;
    const char *what;                /* describes a decided size in messages: `dimension 0 of "kept"` */
} Var;
/* Hints before a loop, for the C compiler or the cache. The loop's variable holds them, so a step that consumes the
 * loop drops them. */
enum { MAX_PREFETCHES = 4 };
typedef enum PragmaKind { PRAGMA_NONE, PRAGMA_UNROLL, PRAGMA_INDEPENDENT, PRAGMA_SIMD } PragmaKind;
/* Count is the number of PRAGMA_UNROLL, otherwise 0. */
typedef struct Pragma { PragmaKind kind; int count; } Pragma;
typedef struct LoopHints {
    Pragma pragma;                   /* see schedule/primitives/hints.c */
    int prefetch_count;
    /* Prefetches the first element of an input that the loop reads `ahead` iterations later. If `across` is not NULL,
     * it names an outer loop. All elements that the outer loop reads `ahead` iterations later are then prefetched, a
     * part of them in each iteration. */
    struct { const struct Tensor *tensor; int64_t ahead; const char *across; } prefetch[MAX_PREFETCHES];
} LoopHints;

const ExprInfo *expr_info(ExprKind k);
const RuntimeFunction *runtime_function(RuntimeName f);
bool expr_kind_read(const char *s, size_t n, ExprKind *out);     /* reads a kind of form CALL by its spelling */

/* The only constructor. `type` is the type of the result; a kind with operands of equal type may use their type. */
const Expr *expr_new(Ctx *cx, ExprKind kind, DType type, const void *ref, const Expr *const *args, int count);
const Expr *expr_poison(Ctx *cx);
const Expr *expr_int(Ctx *cx, DType t, int64_t v);               /* wraps v into t; gives a REAL for a float t */
const Expr *expr_real(Ctx *cx, DType t, double v);
const Expr *expr_index(Ctx *cx, int64_t v);                      /* returns an i32; a value outside i32 is an error */
const Expr *expr_var(Ctx *cx, const Var *v);
const Expr *expr_new_var(Ctx *cx, const char *name, VarRole role, DType t, int64_t least, int64_t greatest);
/* creates a new VAR_SIZE variable */
const Expr *expr_decided_size(Ctx *cx, const char *name, const char *what, int64_t least, int64_t greatest);
/* Returns a size of the same name within [least, greatest]. The size stands for `size` where the value of `size` is in
 * this range. */
const Expr *expr_size_within(Ctx *cx, const Expr *size, int64_t least, int64_t greatest);
/* Raises the lower bound of the size. Facts that were derived earlier from the size's range remain true. */
void expr_raise_least(const Expr *decided_size, int64_t least);
const Expr *expr_unary(Ctx *cx, ExprKind k, const Expr *a);
/* Creates a node with two operands. The result is bool for kinds with B in expr.def. */
const Expr *expr_binary(Ctx *cx, ExprKind k, const Expr *a, const Expr *b);
const Expr *expr_select(Ctx *cx, const Expr *cond, const Expr *yes, const Expr *no);
const Expr *expr_fma(Ctx *cx, const Expr *a, const Expr *b, const Expr *c);
const Expr *expr_cast(Ctx *cx, DType t, const Expr *a);          /* returns a if it has type t */
/* Returns the operand of a cast that C's own conversions imply where the type is given: a load or variable of fewer
 * bytes that widens. Returns e otherwise. */
const Expr *expr_before_widening(const Expr *e);
/* Returns the call of a runtime function that computes `value`. The operands of the call may have other types, because
 * C converts them. */
const Expr *expr_runtime(Ctx *cx, RuntimeName function, const Expr *value, const Expr *const *operand, int count);

static inline const Expr *expr_add(Ctx *cx, const Expr *a, const Expr *b) { return expr_binary(cx, EXPR_ADD, a, b); }
static inline const Expr *expr_sub(Ctx *cx, const Expr *a, const Expr *b) { return expr_binary(cx, EXPR_SUB, a, b); }
static inline const Expr *expr_mul(Ctx *cx, const Expr *a, const Expr *b) { return expr_binary(cx, EXPR_MUL, a, b); }
static inline const Expr *expr_and(Ctx *cx, const Expr *a, const Expr *b) { return expr_binary(cx, EXPR_AND, a, b); }

static inline bool expr_is_int(const Expr *e, int64_t v) { return e->kind == EXPR_INT && e->integer == v; }
static inline bool expr_is_const(const Expr *e) { return e->kind == EXPR_INT || e->kind == EXPR_REAL; }
static inline const Var *expr_as_var(const Expr *e) { return e->kind == EXPR_VAR ? (const Var *)e->ref : NULL; }
static inline Scalar expr_scalar(const Expr *e)                  /* returns the value of a constant */
{
    Scalar s = { 0 };
    if (e->kind == EXPR_REAL) s.f = e->real;
    else s.i = e->integer;
    return s;
}
const Expr *expr_constant(Ctx *cx, DType t, Scalar v);

/* Memoized bottom-up rewriting. `visit` receives a node with rewritten operands, and returns it or its replacement.
 * Sharing is preserved, so the work is linear in the DAG. */
typedef const Expr *ExprVisit(Ctx *cx, const Expr *e, void *user);
const Expr *expr_rewrite(Ctx *cx, const Expr *e, ExprVisit *visit, void *user);
/* Returns a node of the same kind with other operands. */
const Expr *expr_with_args(Ctx *cx, const Expr *e, const Expr *const *args);
/* Replaces every from[i] by to[i], simultaneously. */
const Expr *expr_substitute(Ctx *cx, const Expr *e, const Expr *const *from, const Expr *const *to, int count);
bool expr_uses(const Expr *e, const Expr *part);
/* Calls `visit` once per distinct node, operands first. */
typedef void ExprWalk(const Expr *e, void *user);
void expr_walk(Ctx *cx, const Expr *e, ExprWalk *visit, void *user);
bool expr_reads(Ctx *cx, const Expr *e);            /* returns true if the expression reads an element of a tensor */

/* Applies kind `k` to constants (expr.def). For kinds with a bool result, `operand` is the type of the operands. */
Scalar scalar_apply(ExprKind k, DType result, DType operand, const Scalar *args);
#endif
