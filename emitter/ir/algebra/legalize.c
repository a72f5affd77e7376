/* SPDX-License-Identifier: MIT */
/* Legalizes expressions for C. Every question about a value concerns the original expression. The legal expression is
 * built from it, operands first. Shared operands are legalized once. */
#include "ir/algebra/legalize.h"

/* ---- Facts ----------------------------------------------------------------------------------------------------- */

static bool is_narrow(DType t) { return !dtype_is_float(t) && dtype_info(t)->bytes < 4; }
static bool is_signed(DType t) { return dtype_info(t)->cls == SIGNED; }
static DType unsigned_type(DType t) { return dtype_info(t)->bytes == 8 ? U64 : U32; }

typedef struct FindData { const Map *data; bool found; } FindData;

static void find_data(const Expr *e, void *user)
{
    FindData *f = user;
    if (e->kind == EXPR_LOAD || e->kind == EXPR_AT) f->found = true;
    if (e->kind == EXPR_VAR && f->data && map_get_const_ptr(f->data, e)) f->found = true;
}

bool legal_is_index(const Legalize *l, const Expr *e)
{
    FindData f = { l->data, false };
    if (e->type != I32) return false;
    expr_walk(l->cx, e, find_data, &f);
    return !f.found;
}

static Interval interval(const Legalize *l, const Expr *e) { return interval_of(l->cx, e, l->scope); }

static Interval product(Interval a, Interval b)
{
    const int64_t p[4] = { sat_mul(a.least, b.least), sat_mul(a.least, b.greatest), sat_mul(a.greatest, b.least),
                           sat_mul(a.greatest, b.greatest) };
    Interval r = { p[0], p[0] };
    for (int i = 1; i < 4; i++) {
        if (p[i] < r.least) r.least = p[i];
        if (p[i] > r.greatest) r.greatest = p[i];
    }
    return r;
}

/* Returns the interval of the operation over the integers, where nothing wraps. */
static Interval exact_interval(const Legalize *l, const Expr *e)
{
    const Interval everything = { INT64_MIN, INT64_MAX };
    const Interval a = interval(l, e->arg[0]), b = e->arg_count > 1 ? interval(l, e->arg[1]) : a;
    switch (e->kind) {
    case EXPR_ADD: return (Interval){ sat_add(a.least, b.least), sat_add(a.greatest, b.greatest) };
    case EXPR_SUB:
        if (b.least == INT64_MIN || b.greatest == INT64_MIN) return everything;
        return (Interval){ sat_add(a.least, -b.greatest), sat_add(a.greatest, -b.least) };
    case EXPR_MUL: return product(a, b);
    case EXPR_NEG: return a.least == INT64_MIN ? everything : (Interval){ -a.greatest, -a.least };
    default:       return everything;
    }
}

/* Returns true if an integer sum, product or negation may leave its type. */
static bool may_wrap(const Legalize *l, const Expr *e)
{
    if (legal_is_index(l, e)) return false;
    const Interval i = exact_interval(l, e);
    const DTypeInfo *t = dtype_info(e->type);
    if (i.least == INT64_MIN || i.greatest == INT64_MAX) return true;
    return i.least < t->least || i.greatest > t->greatest;
}

static bool never_negative(const Legalize *l, const Expr *e)
{
    return !is_signed(e->type) || interval(l, e).least >= 0;
}

static bool never_zero(const Legalize *l, const Expr *e)
{
    const Interval i = interval(l, e);
    return i.least > 0 || i.greatest < 0;
}

/* ---- Pieces ---------------------------------------------------------------------------------------------------- */

/* Maps an expression to its legal form, within one scope. */
typedef struct Legal { Legalize l; Map done; } Legal;

static const Expr *legal(Legal *g, const Expr *e);

/* Converts between integer types modulo 2^bits. If both types have the same size, the bytes stay. */
static const Expr *modulo(Legal *g, DType t, const Expr *e)
{
    const bool same_size = dtype_info(t)->bytes == dtype_info(e->type)->bytes;
    if (e->type == t) return e;
    return expr_new(g->l.cx, same_size ? EXPR_BITCAST : EXPR_CAST, t, NULL, &e, 1);
}

static const Expr *binary(Legal *g, ExprKind k, DType t, const Expr *a, const Expr *b)
{
    const Expr *args[] = { a, b };
    return expr_new(g->l.cx, k, t, NULL, args, 2);
}

static const Expr *with_legal_operands(Legal *g, const Expr *e)
{
    const Expr **arg = NEW_ARRAY(g->l.cx->arena, const Expr *, e->arg_count);
    for (int i = 0; i < e->arg_count; i++) arg[i] = legal(g, e->arg[i]);
    return expr_with_args(g->l.cx, e, arg);
}

/* Returns function(a, b) for the operation `value` on a and b. */
static const Expr *call(Legal *g, RuntimeName function, const Expr *value)
{
    const Expr *operand[] = { legal(g, value->arg[0]), legal(g, value->arg[1]) };
    return expr_runtime(g->l.cx, function, value, operand, 2);
}

/* ---- Sums and products ------------------------------------------------------------------------------------------ */

static bool is_sum_or_product(const Expr *e)
{
    return e->kind == EXPR_ADD || e->kind == EXPR_SUB || e->kind == EXPR_MUL || e->kind == EXPR_NEG;
}

/* Returns a u32 or u64 that equals e in the bits of e's type. */
static const Expr *as_unsigned(Legal *g, const Expr *e)
{
    const DType wide = unsigned_type(e->type);
    Ctx *cx = g->l.cx;
    if (e->kind == EXPR_INT && e->type != U64)
        return e->integer >= 0 ? expr_int(cx, wide, e->integer)
                               : modulo(g, wide, expr_int(cx, wide == U64 ? I64 : I32, e->integer));
    if (!is_sum_or_product(e) || !may_wrap(&g->l, e)) return modulo(g, wide, legal(g, e));
    if (e->kind == EXPR_NEG) return binary(g, EXPR_SUB, wide, expr_int(cx, wide, 0), as_unsigned(g, e->arg[0]));
    return binary(g, e->kind, wide, as_unsigned(g, e->arg[0]), as_unsigned(g, e->arg[1]));
}

static const Expr *arithmetic(Legal *g, const Expr *e)
{
    if (dtype_is_float(e->type) || !may_wrap(&g->l, e)) return with_legal_operands(g, e);
    return modulo(g, e->type, as_unsigned(g, e));
}

/* ---- Division and shifts ----------------------------------------------------------------------------------------- */

/* Returns true if a floor modulo is a mask. A modulo by a power of two is one, also for negative values, because intN_t
 * is two's complement. */
static bool is_mask(const Expr *e)
{
    const Expr *b = e->arg[1];
    return e->kind == EXPR_FLOORMOD && (e->type == I32 || e->type == I64) && b->kind == EXPR_INT && b->integer > 1
           && (b->integer & (b->integer - 1)) == 0;
}

static bool is_quotient(const Expr *e) { return e->kind == EXPR_FLOORDIV || e->kind == EXPR_TDIV; }

/* Returns the quotient or remainder as C's / or %. */
static const Expr *plain_division(Legal *g, const Expr *e)
{
    return binary(g, is_quotient(e) ? EXPR_TDIV : EXPR_TMOD, e->type, legal(g, e->arg[0]), legal(g, e->arg[1]));
}

static const Expr *unsigned_division(Legal *g, const Expr *e)
{
    const bool wide = e->type == U64;
    if (never_zero(&g->l, e->arg[1])) return plain_division(g, e);
    if (is_quotient(e)) return call(g, wide ? RUNTIME_DIV_U64 : RUNTIME_DIV_U32, e);
    return call(g, wide ? RUNTIME_MOD_U64 : RUNTIME_MOD_U32, e);
}

static RuntimeName division_function(ExprKind k, bool wide)
{
    switch (k) {
    case EXPR_FLOORDIV: return wide ? RUNTIME_FLOORDIV_I64 : RUNTIME_FLOORDIV_I32;
    case EXPR_FLOORMOD: return wide ? RUNTIME_FLOORMOD_I64 : RUNTIME_FLOORMOD_I32;
    case EXPR_TDIV:     return wide ? RUNTIME_TDIV_I64 : RUNTIME_TDIV_I32;
    default:            return wide ? RUNTIME_TMOD_I64 : RUNTIME_TMOD_I32;
    }
}

/* Returns the call of a division. In a narrow type the quotient of the minimum and -1 exceeds the type, so it is
 * computed in i32. */
static const Expr *division_call(Legal *g, const Expr *e)
{
    Ctx *cx = g->l.cx;
    const Expr *a = e->arg[0], *b = e->arg[1], *operand[] = { legal(g, a), legal(g, b) }, *value = e;
    if (is_narrow(e->type)) value = binary(g, e->kind, I32, expr_cast(cx, I32, a), expr_cast(cx, I32, b));
    return expr_cast(cx, e->type,
                     expr_runtime(cx, division_function(e->kind, value->type == I64), value, operand, 2));
}

static const Expr *division(Legal *g, const Expr *e)
{
    const Legalize *l = &g->l;
    const Expr *b = e->arg[1];
    if (!is_signed(e->type)) return unsigned_division(g, e);
    if (is_mask(e)) return with_legal_operands(g, e);
    const bool floors = e->kind == EXPR_FLOORDIV || e->kind == EXPR_FLOORMOD;
    const bool is_safe = never_zero(l, b) && (never_negative(l, b) || interval(l, b).greatest < -1);
    if (is_safe && (!floors || (never_negative(l, e->arg[0]) && never_negative(l, b)))) return plain_division(g, e);
    if (is_safe && floors && e->type == I32)
        return call(g, is_quotient(e) ? RUNTIME_FLOORDIV_PLAIN : RUNTIME_FLOORMOD_PLAIN, e);
    return division_call(g, e);
}

/* Returns a shift, in 32 or 64 bits, by an amount that may be out of range. The shift is unsigned, except an arithmetic
 * shift right. */
static const Expr *shift_call(Legal *g, const Expr *e)
{
    static const RuntimeName function[2][3] = { { RUNTIME_SHL_U32, RUNTIME_SHR_U32, RUNTIME_SHR_I32 },
                                                { RUNTIME_SHL_U64, RUNTIME_SHR_U64, RUNTIME_SHR_I64 } };
    Ctx *cx = g->l.cx;
    const bool wide = dtype_info(e->type)->bytes == 8, sign = e->kind == EXPR_SHR && is_signed(e->type);
    const DType in = sign ? (wide ? I64 : I32) : unsigned_type(e->type);
    const Expr *n = e->arg[1], *amount = legal(g, n), *of = legal(g, e->arg[0]), *value = e;
    if (n->kind == EXPR_INT && n->integer < 0) amount = expr_int(cx, I32, 8 * dtype_info(e->type)->bytes);
    else if (n->kind != EXPR_INT) amount = expr_new(cx, EXPR_CAST, U64, NULL, &amount, 1);
    if (in != e->type) value = binary(g, e->kind, in, expr_cast(cx, in, e->arg[0]), expr_cast(cx, in, n));
    const Expr *operand[] = { sign ? of : modulo(g, in, of), amount };
    return modulo(g, e->type, expr_runtime(cx, function[wide][e->kind == EXPR_SHR ? 1 + sign : 0], value, operand, 2));
}

static const Expr *shift(Legal *g, const Expr *e)
{
    const Expr *n = e->arg[1];
    const int bits = 8 * dtype_info(e->type)->bytes;
    const bool fits = n->kind == EXPR_INT && n->integer >= 0 && n->integer < bits;
    if (fits && (e->kind == EXPR_SHL || never_negative(&g->l, e->arg[0]))) return with_legal_operands(g, e);
    const Interval by = interval(&g->l, n);
    if (e->type == I32 && e->kind == EXPR_SHR && n->kind != EXPR_INT && by.least >= 0 && by.greatest < bits)
        return call(g, RUNTIME_ASR_I32, e);
    return shift_call(g, e);
}

/* ---- Fixed point ------------------------------------------------------------------------------------------------- */

/* Computes mulhigh(v << up, m) of a small v, as in additions of quantized operands; with a factor of 1/2 it is v << (up
 * - 1). Returns NULL for any other expression. */
static const Expr *mulhigh_up(Legal *g, const Expr *e)
{
    const Expr *shl = e->arg[0], *m = e->arg[1], *half = expr_int(g->l.cx, I32, (int64_t)1 << 30);
    if (shl->kind != EXPR_SHL || shl->arg[1]->kind != EXPR_INT) return NULL;
    const int64_t up = shl->arg[1]->integer;
    if (up < 16 || up > 29) return NULL;
    const int64_t end = (int64_t)1 << (30 - up);
    const Interval v = interval(&g->l, shl->arg[0]);
    if (v.least <= -end || v.greatest >= end || interval(&g->l, m).least < 0) return NULL;
    if (m == half) return legal(g, binary(g, EXPR_SHL, I32, shl->arg[0], expr_int(g->l.cx, I32, up - 1)));
    const Expr *operand[] = { legal(g, shl->arg[0]), shl->arg[1], legal(g, m) };
    return expr_runtime(g->l.cx, RUNTIME_MULHIGH_UP, e, operand, 3);
}

static const Expr *mulhigh(Legal *g, const Expr *e)
{
    const Expr *up = mulhigh_up(g, e);
    if (up) return up;
    const Interval a = interval(&g->l, e->arg[0]), b = interval(&g->l, e->arg[1]);
    return call(g, a.least == INT32_MIN && b.least == INT32_MIN ? RUNTIME_MULHIGH_SAT : RUNTIME_MULHIGH, e);
}

static const Expr *roundshift(Legal *g, const Expr *e)
{
    const int64_t most = (int64_t)1 << 30;
    const Interval a = interval(&g->l, e->arg[0]), n = interval(&g->l, e->arg[1]);
    if (a.least >= -most && a.greatest <= most && n.least >= 1 && n.greatest <= 30)
        return call(g, RUNTIME_ROUNDSHIFT_NEAR, e);
    return call(g, n.least >= 0 && n.greatest <= 31 ? RUNTIME_ROUNDSHIFT : RUNTIME_ROUNDSHIFT_ANY, e);
}

/* Returns lw_scale_i8, the last step of a quantized operator, for `value`: the saturated x = roundshift(mulhigh(a, m),
 * n) + zero. Returns NULL for any other expression, or for a range in which the function differs. */
static const Expr *scaled_byte(Legal *g, const Expr *value, const Expr *x)
{
    const bool is_sum = (x->kind == EXPR_ADD || x->kind == EXPR_SUB) && x->arg[1]->kind == EXPR_INT;
    const int64_t most = (int64_t)1 << 30, added = is_sum ? x->arg[1]->integer : 0,
                  zero = is_sum && x->kind == EXPR_SUB ? -added : added;
    if (zero) x = x->arg[0];
    if (x->kind != EXPR_ROUNDSHIFT || x->arg[0]->kind != EXPR_MULHIGH || zero < -128 || zero > 128) return NULL;
    const Expr *a = x->arg[0]->arg[0], *m = x->arg[0]->arg[1], *n = x->arg[1];
    const Interval sum = interval(&g->l, a), factor = interval(&g->l, m), shift_by = interval(&g->l, n);
    if (sum.least < -most || sum.greatest >= most || factor.least < 0 || shift_by.least < 1 || shift_by.greatest > 22)
        return NULL;
    const Expr *operand[] = { legal(g, a), legal(g, m), legal(g, expr_before_widening(n)),
                              expr_int(g->l.cx, I32, zero) };
    return expr_runtime(g->l.cx, RUNTIME_SCALE_I8, value, operand, 4);
}

/* Returns min(max(x, -128), 127) for `value`, as an i8 or as an i32. Returns NULL if `clamped` is a different
 * expression. */
static const Expr *saturated_byte(Legal *g, const Expr *value, const Expr *clamped)
{
    if (clamped->kind != EXPR_MIN || !expr_is_int(clamped->arg[1], 127)) return NULL;
    const Expr *max = clamped->arg[0];
    if (max->kind != EXPR_MAX || !expr_is_int(max->arg[1], -128)) return NULL;
    const Expr *x = max->arg[0], *scaled = scaled_byte(g, value, x);
    if (scaled || x->type != I32) return scaled;
    const Expr *operand = legal(g, x);
    return expr_runtime(g->l.cx, RUNTIME_SAT_I8, value, &operand, 1);
}

static const Expr *cast(Legal *g, const Expr *e)
{
    const Expr *byte = e->type == I8 ? saturated_byte(g, e, e->arg[0]) : NULL;
    return byte ? byte : with_legal_operands(g, e);
}

static const Expr *minimum(Legal *g, const Expr *e)
{
    const Expr *byte = e->type == I32 ? saturated_byte(g, e, e) : NULL;
    return byte ? byte : with_legal_operands(g, e);
}

/* ---- All kinds --------------------------------------------------------------------------------------------------- */

static const Expr *legal_node(Legal *g, const Expr *e)
{
    switch (e->kind) {
    case EXPR_NEG:
    case EXPR_MUL:
    case EXPR_ADD:
    case EXPR_SUB:        return arithmetic(g, e);
    case EXPR_FLOORDIV:
    case EXPR_FLOORMOD:
    case EXPR_TDIV:
    case EXPR_TMOD:       return division(g, e);
    case EXPR_SHL:
    case EXPR_SHR:        return shift(g, e);
    case EXPR_MULHIGH:    return mulhigh(g, e);
    case EXPR_ROUNDSHIFT: return roundshift(g, e);
    case EXPR_CAST:       return cast(g, e);
    case EXPR_MIN:        return minimum(g, e);
    default:              return e->arg_count ? with_legal_operands(g, e) : e;
    }
}

static const Expr *legal(Legal *g, const Expr *e)
{
    const Expr *known = map_get_const_ptr(&g->done, e);
    if (known) return known;
    known = legal_node(g, e);
    map_put_const_ptr(&g->done, e, known);
    return known;
}

const Expr *legal_expr(const Legalize *l, const Expr *e)
{
    ArenaMark mark = arena_mark(l->cx->scratch);
    Legal g = { *l, map_new(l->cx->scratch) };
    const Expr *result = legal(&g, e);
    arena_reset(l->cx->scratch, mark);
    return result;
}
