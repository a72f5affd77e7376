/* SPDX-License-Identifier: MIT */
#include "import/model/decided.h"

#include "ir/algebra/algebra.h"
#include "support/names.h"
#include "support/text.h"

Decided decided_new(Ctx *cx)
{
    Arena *a = cx->arena;
    return (Decided){ .cx = cx, .taken = map_new(a), .of_count = map_new(a), .value = map_new(a),
                        .of_key = map_new(a) };
}

void decided_take_name(Decided *d, const char *size_name) { map_put_const_ptr(&d->taken, name(d->cx, size_name), d); }

static const char *free_name(Decided *d, const char *wanted)
{
    const char *base = name_identifier(d->cx, wanted), *unique = name(d->cx, base);
    for (int i = 2; map_get_const_ptr(&d->taken, unique); i++) unique = name_format(d->cx, "%s_%d", base, i);
    decided_take_name(d, unique);
    return unique;
}

/* The key of a size's value: each graph that uses the size has its own value of it. */
typedef struct ValueKey { const Expr *size; const void *region; } ValueKey;

Tensor *decided_value_in(const Decided *d, const Expr *size, const void *region)
{
    const ValueKey key = { size, region };
    return map_get(&d->value, &key, sizeof key);
}

void decided_enter_value(Decided *d, const Expr *size, const void *region, Tensor *value)
{
    const ValueKey key = { size, region };
    map_put(&d->value, arena_copy(d->cx->arena, &key, sizeof key), sizeof key, value);
}

static Tensor *value_of(const Decided *d, const Expr *size) { return decided_value_in(d, size, d->region); }

const Expr *decided_find(const Decided *d, const void *key, size_t bytes)
{
    const Expr *size = map_get_const(&d->of_key, key, bytes);
    return size && value_of(d, size) ? size : NULL;
}

void decided_keep(Decided *d, const void *key, size_t bytes, const Expr *size)
{
    map_put_const(&d->of_key, arena_copy(d->cx->arena, key, bytes), bytes, size);
}

const Expr *decided_size(Decided *d, const char *wanted_name, const char *what, Tensor *count, int64_t least,
                         int64_t greatest)
{
    Ctx *cx = d->cx;
    const Expr *known = count ? map_get_const_ptr(&d->of_count, count) : NULL;
    if (known && value_of(d, known) && expr_as_var(known)->greatest <= greatest && expr_as_var(known)->least >= least)
        return known;
    Tensor *one = count && count->rank ? call_on(cx, "reshape", count->name, count, ATTRS(attr_ints("shape", NULL, 0)))
                                       : count;
    if (one && one->type != I64) one = call_on(cx, "cast", count->name, one, ATTRS(attr_type("to", I64)));
    if (!one || ctx_failed(cx)) return NULL;
    const Expr *size = expr_decided_size(cx, free_name(d, wanted_name), what, least, greatest);
    Tensor *value = call_on(cx, "bind_size", expr_as_var(size)->name, one,
                            ATTRS(attr_like(cx, count->name, I64, 1, &size)));
    map_put_const_ptr(&d->of_count, count, size);
    decided_enter_value(d, size, d->region, value);
    return value ? size : NULL;
}

/* Returns the operator that computes an expression of this kind on numbers. */
static const char *op_of(ExprKind kind)
{
    static const struct { ExprKind kind; const char *op; } rows[] = {
        { EXPR_ADD, "add" }, { EXPR_SUB, "sub" }, { EXPR_MUL, "mul" }, { EXPR_MIN, "min" }, { EXPR_MAX, "max" },
        { EXPR_FLOORDIV, "floor_div" }, { EXPR_FLOORMOD, "mod" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (rows[i].kind == kind) return rows[i].op;
    return NULL;
}

/* In i64. */
static Tensor *value_in_i64(Decided *d, const char *call_name, const Expr *size)
{
    Ctx *cx = d->cx;
    Tensor *value = value_of(d, size);
    const char *op = value ? NULL : op_of(size->kind);
    if (value) return value;
    if (size->kind == EXPR_INT) return tensor_scalar(cx, call_name, I64, (double)size->integer);
    if (op && size_is_decided(cx, size)) {
        Tensor *right = value_in_i64(d, call_name, size->arg[1]), *left = value_in_i64(d, call_name, size->arg[0]);
        return call_on_two(cx, op, call_name, left, right, NULL);
    }
    Tensor *like = tensor_new(cx, call_name, I64, 1, &size), *zero = tensor_scalar(cx, call_name, I64, 0);
    return call_on(cx, "extent", call_name, zero, ATTRS(attr_tensor("like", like)));
}

Tensor *decided_value(Decided *d, const char *call_name, const Expr *size, DType type)
{
    Tensor *value = value_in_i64(d, call_name, size);
    return !value || type == I64 ? value : call_on(d->cx, "cast", call_name, value, ATTRS(attr_type("to", type)));
}

/* ---- Order ------------------------------------------------------------------------------------------------------- */

/* A set of sizes. */
typedef struct SizeSet { Ctx *cx; int count, capacity; const Expr **at; } SizeSet;

typedef struct SizeVisit { void (*visit)(const Expr *size, void *user); void *user; } SizeVisit;

static void visit_decided(const Expr *e, void *user)
{
    const SizeVisit *v = user;
    const Var *size = expr_as_var(e);
    if (size && size->is_decided) v->visit(e, v->user);
}

void decided_visit(Ctx *cx, const Expr *size, void (*visit)(const Expr *size, void *user), void *user)
{
    SizeVisit v = { visit, user };
    expr_walk(cx, size, visit_decided, &v);
}

typedef struct InsideSearch { const Decided *d; const void *region; bool found; } InsideSearch;

static void find_inside(const Expr *size, void *user)
{
    InsideSearch *s = user;
    const Tensor *value = decided_value_in(s->d, size, s->region);
    s->found = s->found || (value && value->producer);
}

bool decided_inside(const Decided *d, const Expr *size, const void *region)
{
    InsideSearch s = { d, region, false };
    decided_visit(d->cx, size, find_inside, &s);
    return s.found;
}

static bool has(const SizeSet *s, const Expr *size)
{
    for (int i = 0; i < s->count; i++)
        if (s->at[i] == size) return true;
    return false;
}

static void add_decided(const Expr *e, void *user)
{
    SizeSet *s = user;
    if (has(s, e)) return;
    if (s->count == s->capacity) {
        const Expr **more = NEW_ARRAY(s->cx->arena, const Expr *, s->capacity = 2 * s->capacity + 4);
        for (int i = 0; i < s->count; i++) more[i] = s->at[i];
        s->at = more;
    }
    s->at[s->count++] = e;
}

/* Stores x, followed by the values of the sizes that x's shape lacks; returns the number of all of these. */
static int operands_after(Decided *d, Tensor *x, const Expr *const *size, int count, Tensor ***in)
{
    SizeSet own = { .cx = d->cx }, all = { .cx = d->cx };
    int in_count = 1;
    for (int i = 0; i < x->rank; i++) decided_visit(d->cx, x->shape[i], add_decided, &own);
    for (int i = 0; i < count; i++) decided_visit(d->cx, size[i], add_decided, &all);
    *in = NEW_ARRAY(d->cx->arena, Tensor *, 1 + all.count);
    (*in)[0] = x;
    for (int i = 0; i < all.count; i++)
        if (!has(&own, all.at[i]) && value_of(d, all.at[i])) (*in)[in_count++] = value_of(d, all.at[i]);
    return in_count;
}

/* Calls an operator that gives a dimension of x the size `size`. */
static Tensor *with_size(Decided *d, const char *op_name, const char *call_name, Tensor *x, int axis, const Expr *size,
                         bool is_equal)
{
    Tensor **in;
    const int count = operands_after(d, x, &size, 1, &in);
    return call(d->cx, op_name, call_name, in, count,
                ATTRS(attr_int("axis", axis), attr_if(is_equal, attr_flag("equal", true)),
                      attr_like(d->cx, call_name, I64, 1, &size)));
}

Tensor *decided_cut(Decided *d, const char *call_name, Tensor *x, int axis, const Expr *size)
{
    if (!x || !size || ctx_failed(d->cx)) return NULL;
    return with_size(d, "sized", call_name, x, axis, size, false);
}

Tensor *decided_as(Decided *d, const char *call_name, Tensor *x, int axis, const Expr *size)
{
    if (!x || !size || ctx_failed(d->cx)) return NULL;
    return x->shape[axis] == size ? x : with_size(d, "sized", call_name, x, axis, size, true);
}

Tensor *decided_stretched(Decided *d, const char *call_name, Tensor *x, int axis, const Expr *size)
{
    if (!x || !size || ctx_failed(d->cx)) return NULL;
    return x->shape[axis] == size ? x : with_size(d, "stretch", call_name, x, axis, size, false);
}

Tensor *decided_after(Decided *d, const char *call_name, Tensor *x, const Expr *const *size, int count)
{
    Tensor **in;
    if (!x || ctx_failed(d->cx)) return NULL;
    const int in_count = operands_after(d, x, size, count, &in);
    return in_count == 1 ? x : call(d->cx, "after", call_name, in, in_count, NULL);
}

Tensor *decided_provided(Decided *d, const char *call_name, Tensor *x, Tensor *value, int64_t least, int64_t greatest)
{
    const char *what = text_format(d->cx, "a test of the sizes that \"%s\" reads", call_name),
               *test = text_format(d->cx, "%s_test", call_name);
    const Expr *tested = x ? decided_size(d, test, what, value, least, greatest) : NULL;
    return tested ? decided_after(d, call_name, x, &tested, 1) : NULL;
}

/* ---- Requirements ------------------------------------------------------------------------------------------------ */

/* Returns the value of an expression over one variable. */
static int64_t value_at(Ctx *cx, const Expr *e, const Expr *var, int64_t n)
{
    const Expr *at = expr_index(cx, n);
    return interval_of(cx, simplify(cx, expr_substitute(cx, e, &var, &at, 1), NULL), NULL).least;
}

/* Raises the minimum of a size's only variable, so that the size is at least `least`. Returns false if the size does
 * not grow with the variable, or if the raised range does not prove the bound. */
static bool raise_least(Decided *d, const Expr *size, int64_t least)
{
    SizeSet all = { .cx = d->cx };
    decided_visit(d->cx, size, add_decided, &all);
    if (all.count != 1) return false;
    const Var *v = expr_as_var(all.at[0]);
    int64_t low = v->least, high = v->greatest;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (value_at(d->cx, size, all.at[0], middle) >= least) high = middle;
        else low = middle + 1;
    }
    if (value_at(d->cx, size, all.at[0], low) < least) return false;
    expr_raise_least(all.at[0], low);
    return interval_of(d->cx, size, NULL).least >= least;
}

Tensor *decided_at_least(Decided *d, const char *call_name, Tensor *x, int axis, int64_t least)
{
    if (!x || ctx_failed(d->cx) || !size_is_decided(d->cx, x->shape[axis])) return x;
    const Interval range = interval_of(d->cx, x->shape[axis], NULL);
    if (range.least >= least || range.greatest < least) return x;
    /* a region that may not run must not require anything of a size from outside */
    const bool is_own = !d->region || decided_inside(d, x->shape[axis], d->region);
    if (is_own && raise_least(d, x->shape[axis], least)) return x;
    Tensor *count = decided_value(d, call_name, x->shape[axis], I64);
    const char *what = text_format(d->cx, "dimension %d of what \"%s\" reads", axis, call_name),
               *own = text_format(d->cx, "%s_size", call_name);
    const Expr *size = decided_size(d, own, what, count, least, range.greatest);
    return decided_as(d, call_name, x, axis, size);
}

/* ---- Lists ------------------------------------------------------------------------------------------------------- */

Tensor *decided_origin(Tensor *t, int64_t *at)
{
    for (;;) {
        const Node *n = t->producer;
        const bool is_call = n && n->kind == NODE_CALL && !tensor_is_constant(t);
        const bool joins = is_call && n->op->layout.is_concat && (t->rank == 1 || node_int(n, "axis", 0) == 0);
        if (is_call && n->op->layout.is_view) t = n->in[0];
        else if (joins && tensor_is_fixed(t)) {
            int k = 0;
            while (k + 1 < n->in_count && *at >= tensor_elems(n->in[k])) *at -= tensor_elems(n->in[k++]);
            t = n->in[k];
        } else return t;
    }
}

int64_t decided_nonzero_count(const Tensor *x)
{
    int64_t found = 0;
    for (int64_t i = 0; i < tensor_elems(x); i++) {
        const Scalar v = dtype_load(x->type, x->data, i);
        found += dtype_is_float(x->type) ? v.f != 0 : v.i != 0;
    }
    return found;
}
