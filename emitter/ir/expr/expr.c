/* SPDX-License-Identifier: MIT */
#include "ir/expr/expr.h"

#include <string.h>

#include "runtime/lw_math.h"
#include "support/map.h"
#include "support/names.h"
#include "support/text.h"

/* A hash table of nodes, which are their own keys: open addressing, linear probing, at most half full. A slot also
 * holds the hash, so a search loads few nodes other than the one it finds. */
typedef struct ExprSlot { const Expr *node; uint64_t hash; } ExprSlot;
struct ExprTable { ExprSlot *slot; size_t count, capacity; };

static uint64_t mixed(uint64_t h, uint64_t word)
{
    h = (h ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    return h ^ h >> 32;
}

/* Returns the bits of a real number. Real numbers are compared by their bits. */
static uint64_t bits_of(double real)
{
    uint64_t bits;
    memcpy(&bits, &real, sizeof bits);
    return bits;
}

static uint64_t hash_node(const Expr *e, const Expr *const *args)
{
    uint64_t h = mixed((uint64_t)e->kind << 32 | (uint64_t)e->type, (uint64_t)e->integer);
    h = mixed(mixed(h, bits_of(e->real)), (uint64_t)(uintptr_t)e->ref);
    for (int i = 0; i < e->arg_count; i++) h = mixed(h, (uint64_t)(uintptr_t)args[i]);
    return h ^ h >> 29;
}

static bool same_node(const Expr *a, const Expr *b, const Expr *const *args)
{
    return a->kind == b->kind && a->type == b->type && a->integer == b->integer && a->ref == b->ref &&
           a->arg_count == b->arg_count && bits_of(a->real) == bits_of(b->real) &&
           (a->arg_count == 0 || memcmp(a->arg, args, (size_t)a->arg_count * sizeof *args) == 0);
}

static ExprSlot *slot_of(const struct ExprTable *t, uint64_t hash, const Expr *e, const Expr *const *args)
{
    size_t i = (size_t)hash & (t->capacity - 1);
    while (t->slot[i].node && (t->slot[i].hash != hash || !same_node(t->slot[i].node, e, args)))
        i = (i + 1) & (t->capacity - 1);
    return &t->slot[i];
}

static void grow(Ctx *cx, struct ExprTable *t)
{
    struct ExprTable bigger = { NULL, t->count, t->capacity ? 2 * t->capacity : 1024 };
    bigger.slot = NEW_ARRAY(cx->arena, ExprSlot, bigger.capacity);
    for (size_t i = 0; i < t->capacity; i++) {
        size_t k = (size_t)t->slot[i].hash & (bigger.capacity - 1);
        if (!t->slot[i].node) continue;
        while (bigger.slot[k].node) k = (k + 1) & (bigger.capacity - 1);
        bigger.slot[k] = t->slot[i];
    }
    arena_give_back(cx->arena, t->slot, t->capacity * sizeof *t->slot);
    *t = bigger;
}

static const Expr *intern(Ctx *cx, const Expr *proto, const Expr *const *args)
{
    if (!cx->exprs) cx->exprs = NEW(cx->arena, struct ExprTable);
    struct ExprTable *t = cx->exprs;
    if (2 * (t->count + 1) > t->capacity) grow(cx, t);
    const uint64_t hash = hash_node(proto, args);
    ExprSlot *slot = slot_of(t, hash, proto, args);
    if (slot->node) return slot->node;
    Expr *e = arena_alloc(cx->arena, sizeof *e + (size_t)proto->arg_count * sizeof e->arg[0]);
    *e = *proto;
    e->serial = ctx_serial(cx);
    for (int i = 0; i < proto->arg_count; i++) {
        e->arg[i] = args[i];
        if (args[i]->depth > e->depth) e->depth = args[i]->depth;
    }
    e->depth++;
    t->count++;
    *slot = (ExprSlot){ e, hash };
    return e;
}

const Expr *expr_poison(Ctx *cx)
{
    Expr proto = { .kind = EXPR_POISON, .type = I32 };
    return intern(cx, &proto, NULL);
}

const Expr *expr_real(Ctx *cx, DType t, double v)
{
    Scalar s = { .f = v != v ? lw_nan() : v };     /* one NaN for all operations */
    Expr proto = { .kind = EXPR_REAL, .type = t, .real = dtype_wrap(t, s).f };
    return intern(cx, &proto, NULL);
}

const Expr *expr_int(Ctx *cx, DType t, int64_t v)
{
    if (dtype_is_float(t)) return expr_real(cx, t, (double)v);
    Scalar s = { .i = v };
    Expr proto = { .kind = EXPR_INT, .type = t, .integer = dtype_wrap(t, s).i };
    return intern(cx, &proto, NULL);
}

const Expr *expr_index(Ctx *cx, int64_t v)
{
    if (v < INT32_MIN || v > INT32_MAX) {
        diag_error(cx, NULL, "the index %lld does not fit in 32 bits", (long long)v);
        return expr_poison(cx);
    }
    return expr_int(cx, I32, v);
}

const Expr *expr_constant(Ctx *cx, DType t, Scalar v)
{
    return dtype_is_float(t) ? expr_real(cx, t, v.f) : expr_int(cx, t, v.i);
}

const Expr *expr_var(Ctx *cx, const Var *v)
{
    Expr proto = { .kind = EXPR_VAR, .type = v->type, .ref = v };
    return intern(cx, &proto, NULL);
}

const Expr *expr_new_var(Ctx *cx, const char *var_name, VarRole role, DType t, int64_t least, int64_t greatest)
{
    Var *v = NEW(cx->arena, Var);
    *v = (Var){ .name = name(cx, var_name),
                .role = role,
                .type = t,
                .least = least,
                .greatest = greatest,
                .serial = ctx_serial(cx) };
    return expr_var(cx, v);
}

const Expr *expr_decided_size(Ctx *cx, const char *size_name, const char *what, int64_t least, int64_t greatest)
{
    Var *v = NEW(cx->arena, Var);
    *v = (Var){ .name = name(cx, size_name), .role = VAR_SIZE, .type = I32, .least = least, .greatest = greatest,
                .serial = ctx_serial(cx), .is_decided = true, .what = what };
    return expr_var(cx, v);
}

const Expr *expr_size_within(Ctx *cx, const Expr *size, int64_t least, int64_t greatest)
{
    Var *v = arena_copy(cx->arena, expr_as_var(size), sizeof *v);
    v->least = least;
    v->greatest = greatest;
    v->serial = ctx_serial(cx);
    return expr_var(cx, v);
}

void expr_raise_least(const Expr *decided_size, int64_t least)
{
    Var *v = (Var *)decided_size->ref;
    if (least > v->least) v->least = least;
}

static bool folds(ExprKind k) { return k == EXPR_CAST || k >= EXPR_NEG; }

static bool all_constant(const Expr *const *args, int count)
{
    for (int i = 0; i < count; i++)
        if (!expr_is_const(args[i])) return false;
    return count > 0;
}

static const Expr *fold(Ctx *cx, ExprKind kind, DType type, const Expr *const *args, int count)
{
    Scalar v[3];
    for (int i = 0; i < count; i++) v[i] = expr_scalar(args[i]);
    DType operand = args[count - 1]->type;
    return expr_constant(cx, type, scalar_apply(kind, type, operand, v));
}

/* Returns true if the operands may be exchanged. The operands of min and max of floats may not if both can be zero,
 * because the second zero is returned. */
static bool may_swap(ExprKind kind, DType type, const Expr *constant)
{
    if (!(expr_info(kind)->algebra & ALGEBRA_COMMUTES)) return false;
    return (kind != EXPR_MIN && kind != EXPR_MAX) || !dtype_is_float(type) || expr_scalar(constant).f != 0;
}

const Expr *expr_new(Ctx *cx, ExprKind kind, DType type, const void *ref, const Expr *const *args, int count)
{
    for (int i = 0; i < count; i++)
        if (!args[i] || args[i]->kind == EXPR_POISON) return expr_poison(cx);
    if (folds(kind) && all_constant(args, count)) return fold(cx, kind, type, args, count);
    if (kind == EXPR_SELECT && args[SELECT_COND]->kind == EXPR_INT)
        return args[SELECT_COND]->integer ? args[SELECT_YES] : args[SELECT_NO];
    const Expr *swapped[2];
    if (count == 2 && expr_is_const(args[0]) && may_swap(kind, type, args[0])) {
        swapped[0] = args[1];
        swapped[1] = args[0];
        args = swapped;
    }
    Expr proto = { .kind = kind, .type = type, .arg_count = count, .ref = ref };
    return intern(cx, &proto, args);
}

/* Returns true if operands of this type are valid for the kind. Otherwise reports an error. */
static bool suits(Ctx *cx, ExprKind k, DType t)
{
    int algebra = expr_info(k)->algebra;
    const char *required = NULL;
    if (k == EXPR_AND || k == EXPR_OR || k == EXPR_NOT) required = t == BOOL ? NULL : "bool";
    else if (k >= EXPR_MULHIGH && k <= EXPR_CLZ) required = t == I32 ? NULL : "i32";
    else if (k == EXPR_PHILOX) required = t == U64 ? NULL : "u64";
    else if (algebra & ALGEBRA_FLOATS) required = dtype_is_float(t) ? NULL : "a float type";
    else if (algebra & ALGEBRA_INTEGERS) required = dtype_is_integer(t) ? NULL : "an integer type";
    else if (t == BOOL && k != EXPR_EQ && k != EXPR_NE) required = "a number";
    if (required)
        diag_error(cx, NULL, "'%s' requires %s, not %s", expr_info(k)->spelling, required, dtype_info(t)->spelling);
    return !required;
}

const Expr *expr_unary(Ctx *cx, ExprKind k, const Expr *a)
{
    if (!a || a->kind == EXPR_POISON || !suits(cx, k, a->type)) return expr_poison(cx);
    return expr_new(cx, k, expr_info(k)->algebra & ALGEBRA_IS_BOOL ? BOOL : a->type, NULL, &a, 1);
}

const Expr *expr_binary(Ctx *cx, ExprKind k, const Expr *a, const Expr *b)
{
    if (!a || !b || a->kind == EXPR_POISON || b->kind == EXPR_POISON) return expr_poison(cx);
    if (a->type != b->type) {
        diag_error(cx, NULL, "the operands of '%s' have the types %s and %s; cast one of them", expr_info(k)->spelling,
                   dtype_info(a->type)->spelling, dtype_info(b->type)->spelling);
        return expr_poison(cx);
    }
    if (k == EXPR_FLOORDIV && dtype_is_float(a->type)) k = EXPR_DIV;
    if (k == EXPR_DIV && dtype_is_integer(a->type)) k = EXPR_FLOORDIV;
    if (!suits(cx, k, a->type)) return expr_poison(cx);
    const Expr *args[] = { a, b };
    return expr_new(cx, k, expr_info(k)->algebra & ALGEBRA_IS_BOOL ? BOOL : a->type, NULL, args, 2);
}

const Expr *expr_select(Ctx *cx, const Expr *cond, const Expr *yes, const Expr *no)
{
    const Expr *args[] = { cond, yes, no };
    if (!cond || !yes || !no || cond->kind == EXPR_POISON) return expr_poison(cx);
    if (cond->type != BOOL || yes->type != no->type) {
        diag_error(cx, NULL, "select requires a bool and two values of one type, not %s, %s and %s",
                   dtype_info(cond->type)->spelling, dtype_info(yes->type)->spelling, dtype_info(no->type)->spelling);
        return expr_poison(cx);
    }
    return expr_new(cx, EXPR_SELECT, yes->type, NULL, args, 3);
}

const Expr *expr_fma(Ctx *cx, const Expr *a, const Expr *b, const Expr *c)
{
    const Expr *args[] = { a, b, c };
    if (!a || !b || !c || a->type != b->type || a->type != c->type || !suits(cx, EXPR_FMA, a->type))
        return expr_poison(cx);
    return expr_new(cx, EXPR_FMA, a->type, NULL, args, 3);
}

const Expr *expr_cast(Ctx *cx, DType t, const Expr *a)
{
    if (!a || a->type == t) return a ? a : expr_poison(cx);
    return expr_new(cx, EXPR_CAST, t, NULL, &a, 1);
}

const Expr *expr_before_widening(const Expr *e)
{
    const Expr *x = e->kind == EXPR_CAST ? e->arg[0] : e;
    if (x == e || (x->kind != EXPR_LOAD && x->kind != EXPR_VAR)) return e;
    const DTypeInfo *to = dtype_info(e->type), *from = dtype_info(x->type);
    const bool keeps_values =
        from->bytes < to->bytes && to->cls == SIGNED && (from->cls == SIGNED || from->cls == UNSIGNED);
    return keeps_values ? x : e;
}

const Expr *expr_runtime(Ctx *cx, RuntimeName function, const Expr *value, const Expr *const *operand, int count)
{
    enum { MOST = 4 };
    const Expr *args[RUNTIME_OPERAND + MOST] = { value };
    for (int i = 0; i < count && i < MOST; i++) args[RUNTIME_OPERAND + i] = operand[i];
    return expr_new(cx, EXPR_RUNTIME, value->type, runtime_function(function), args, RUNTIME_OPERAND + count);
}

const Expr *expr_with_args(Ctx *cx, const Expr *e, const Expr *const *args)
{
    bool same = true;
    for (int i = 0; i < e->arg_count; i++) same = same && args[i] == e->arg[i];
    return same ? e : expr_new(cx, e->kind, e->type, e->ref, args, e->arg_count);
}

typedef struct Rewriter { Ctx *cx; ExprVisit *visit; void *user; Map done; } Rewriter;

enum { FEW_ARGS = 4 };

static const Expr *rewrite(Rewriter *r, const Expr *e)
{
    const Expr *known = map_get_const_ptr(&r->done, e);
    if (known) return known;
    const Expr *few[FEW_ARGS], **args = few;
    if (e->arg_count > FEW_ARGS) args = NEW_ARRAY(r->cx->scratch, const Expr *, e->arg_count);
    for (int i = 0; i < e->arg_count; i++) args[i] = rewrite(r, e->arg[i]);
    const Expr *result = r->visit(r->cx, e->arg_count ? expr_with_args(r->cx, e, args) : e, r->user);
    map_put_const_ptr(&r->done, e, result);
    return result;
}

const Expr *expr_rewrite(Ctx *cx, const Expr *e, ExprVisit *visit, void *user)
{
    if (!e) return NULL;
    ArenaMark mark = arena_mark(cx->scratch);
    Rewriter r = { cx, visit, user, map_new(cx->scratch) };
    const Expr *result = rewrite(&r, e);
    arena_reset(cx->scratch, mark);
    return result;
}

typedef struct Substitution { const Expr *const *from, *const *to; int count; } Substitution;

static const Expr *substitute_one(Ctx *cx, const Expr *e, void *user)
{
    const Substitution *s = user;
    (void)cx;
    for (int i = 0; i < s->count; i++)
        if (e == s->from[i]) return s->to[i];
    return e;
}

const Expr *expr_substitute(Ctx *cx, const Expr *e, const Expr *const *from, const Expr *const *to, int count)
{
    Substitution s = { from, to, count };
    return count ? expr_rewrite(cx, e, substitute_one, &s) : e;
}

bool expr_uses(const Expr *e, const Expr *part)
{
    if (e == part) return true;
    for (int i = 0; i < e->arg_count; i++)
        if (expr_uses(e->arg[i], part)) return true;
    return false;
}

static void walk(Map *seen, const Expr *e, ExprWalk *visit, void *user)
{
    if (map_get_ptr(seen, e)) return;
    map_put_ptr(seen, e, seen);
    for (int i = 0; i < e->arg_count; i++) walk(seen, e->arg[i], visit, user);
    visit(e, user);
}

void expr_walk(Ctx *cx, const Expr *e, ExprWalk *visit, void *user)
{
    ArenaMark mark = arena_mark(cx->scratch);
    Map seen = map_new(cx->scratch);
    if (e) walk(&seen, e, visit, user);
    arena_reset(cx->scratch, mark);
}

static void find_read(const Expr *e, void *user)
{
    if (e->kind == EXPR_READ) *(bool *)user = true;
}

bool expr_reads(Ctx *cx, const Expr *e)
{
    bool reads = false;
    expr_walk(cx, e, find_read, &reads);
    return reads;
}
