/* SPDX-License-Identifier: MIT */
/* Defines the meaning of every kind of expression on constants: the notes of expr.def, written in C. Constant folding,
 * the evaluator, the interpreter and the tests of the simplifier's rules use this definition.
 *
 * - An integer is an int64 in the range of its type (u64: its bits). Arithmetic is on uint64, where nothing
 *   overflows, and wraps to the result's type at the end. Only comparison, division and right shift require the sign.
 * - A float is a double that holds a value of its type. f32 computes in float, f64 in double; f16 and bf16 compute in
 *   float and round once at the end.
 * - Functions are those of runtime/lw_math.h, never the host's. The exception is fma, whose correctly rounded result
 *   is unique. */
#include "ir/expr/expr.h"

#include <math.h>

#include "runtime/lw_fixed.h"
#include "runtime/lw_random.h"
#include "runtime/lw_math.h"

static int bits_of(DType t) { return 8 * dtype_info(t)->bytes; }
static bool is_signed(DType t) { return dtype_info(t)->cls == SIGNED; }
static bool is_float(DType t) { return dtype_info(t)->cls == FLOAT; }

/* Converts u without the host's implementation-defined conversion of values out of range. */
static int64_t as_signed(uint64_t u) { return u <= INT64_MAX ? (int64_t)u : -(int64_t)~u - 1; }

static Scalar integer(DType t, uint64_t u)
{
    Scalar s = { .i = as_signed(u) };
    return dtype_wrap(t, s);
}

static Scalar truth(bool b)
{
    Scalar s = { .i = b };
    return s;
}

static Scalar real(DType t, double d)
{
    Scalar s = { .f = d };
    return t == F64 ? s : dtype_wrap(t, s);
}

/* Returns -1, 0 or 1 if a is less than, equal to or greater than b. */
static int order(DType t, Scalar a, Scalar b)
{
    if (t == U64) return (uint64_t)a.i < (uint64_t)b.i ? -1 : (uint64_t)a.i > (uint64_t)b.i;
    return a.i < b.i ? -1 : a.i > b.i;
}

static bool less(DType t, Scalar a, Scalar b) { return is_float(t) ? a.f < b.f : order(t, a, b) < 0; }
static bool equal(DType t, Scalar a, Scalar b) { return is_float(t) ? a.f == b.f : a.i == b.i; }
static bool less_equal(DType t, Scalar a, Scalar b) { return is_float(t) ? a.f <= b.f : order(t, a, b) <= 0; }

/* C's division in the type. A division by zero gives quotient 0 and remainder 0; the smallest value divided by -1
 * wraps. */
typedef struct Division { uint64_t quotient, remainder; } Division;

static Division divide(DType t, Scalar a, Scalar b)
{
    if (b.i == 0) return (Division){ 0, 0 };
    if (t == U64) return (Division){ (uint64_t)a.i / (uint64_t)b.i, (uint64_t)a.i % (uint64_t)b.i };
    if (b.i == -1) return (Division){ 0 - (uint64_t)a.i, 0 };
    return (Division){ (uint64_t)(a.i / b.i), (uint64_t)(a.i % b.i) };
}

/* Returns the floor division: if the signs of remainder and divisor differ, the quotient decreases by 1 and the
 * remainder grows by b. */
static Division divide_floor(DType t, Scalar a, Scalar b)
{
    Division d = divide(t, a, b);
    bool rounded_up = t != U64 && d.remainder != 0 && (as_signed(d.remainder) < 0) != (b.i < 0);
    if (rounded_up) d = (Division){ d.quotient - 1, d.remainder + (uint64_t)b.i };
    return d;
}

static bool shifts_out(DType t, Scalar amount) { return (uint64_t)amount.i >= (uint64_t)bits_of(t); }

static Scalar shift_left(DType t, Scalar a, Scalar amount)
{
    return integer(t, shifts_out(t, amount) ? 0 : (uint64_t)a.i << amount.i);
}

static Scalar shift_right(DType t, Scalar a, Scalar amount)
{
    uint64_t fill = is_signed(t) && a.i < 0 ? UINT64_MAX : 0;
    if (shifts_out(t, amount)) return integer(t, fill);
    return integer(t, (((uint64_t)a.i ^ fill) >> amount.i) ^ fill);
}

/* Computes fixed-point operations on i32 with quotients and remainders, independently of the shifts in lw_fixed.h. */
static Scalar multiply_high(Scalar a, Scalar b)
{
    const int64_t half = (int64_t)1 << 30, product = dtype_wrap(I32, a).i * dtype_wrap(I32, b).i + half;
    int64_t q = product / (2 * half) - (product % (2 * half) < 0);
    return (Scalar){ .i = q > INT32_MAX ? INT32_MAX : q };
}

static Scalar round_shift(Scalar a, Scalar by)
{
    if (by.i < 0 || by.i > 31) return (Scalar){ .i = 0 };
    const int64_t x = dtype_wrap(I32, a).i, whole = (int64_t)1 << by.i, q = x / whole, rest = x % whole;
    return (Scalar){ .i = q + (2 * rest >= whole && by.i > 0) - (2 * -rest >= whole && by.i > 0) };
}

static Scalar integer_to_float(DType to, DType from, Scalar a)
{
    uint64_t u = (uint64_t)a.i;
    if (to == F64) return real(to, from == U64 ? (double)u : (double)a.i);
    return real(to, (double)(from == U64 ? (float)u : (float)a.i));   /* rounds once, directly to float */
}

static Scalar cast(DType to, DType from, Scalar a)
{
    if (to == BOOL) return truth(is_float(from) ? a.f != 0 : a.i != 0);
    if (is_float(to)) return is_float(from) ? real(to, a.f) : integer_to_float(to, from, a);
    return integer(to, (uint64_t)(is_float(from) ? dtype_integer(to, a.f) : a.i));
}

static Scalar same_bytes(DType to, DType from, Scalar a)
{
    char bytes[8] = { 0 };
    dtype_store(from, bytes, 0, a);
    return dtype_load(to, bytes, 0);
}

/* Computes in the float type `t`: `wide` is the operation in double, `narrow` in float. */
#define REAL(wide, narrow)   (t == F64 ? real(t, (wide)) : real(t, (double)(narrow)))
#define OPERATION(op)        REAL(a.f op b.f, (float)a.f op (float)b.f)
#define FUNCTION(name)       REAL(lw_##name(a.f), lw_##name##f((float)a.f))
#define FUNCTION2(name)      REAL(lw_##name(a.f, b.f), lw_##name##f((float)a.f, (float)b.f))

Scalar scalar_apply(ExprKind k, DType result, DType operand, const Scalar *args)
{
    const Scalar zero = { 0 };
    const int arity = expr_info(k)->arity;
    const DType t = operand;
    const Scalar a = arity >= 1 ? args[0] : zero, b = arity >= 2 ? args[1] : zero, c = arity >= 3 ? args[2] : zero;
    const uint64_t ua = (uint64_t)a.i, ub = (uint64_t)b.i;
    switch (k) {
    case EXPR_POISON:
    case EXPR_INT:
    case EXPR_REAL:
    case EXPR_VAR:
    case EXPR_READ:
    case EXPR_LOAD:
    case EXPR_AT:        return zero;   /* has no definition on constants */
    case EXPR_RUNTIME:   return args[RUNTIME_VALUE];
    case EXPR_CAST:      return cast(result, t, a);
    case EXPR_BITCAST:   return same_bytes(result, t, a);
    case EXPR_NEG:       return is_float(t) ? real(t, -a.f) : integer(t, 0 - ua);
    case EXPR_NOT:       return truth(!a.i);
    case EXPR_BITNOT:    return integer(t, ~ua);
    case EXPR_MUL:       return is_float(t) ? OPERATION(*) : integer(t, ua * ub);
    case EXPR_DIV:       return OPERATION(/);
    case EXPR_FLOORDIV:  return integer(t, divide_floor(t, a, b).quotient);
    case EXPR_FLOORMOD:  return integer(t, divide_floor(t, a, b).remainder);
    case EXPR_ADD:       return is_float(t) ? OPERATION(+) : integer(t, ua + ub);
    case EXPR_SUB:       return is_float(t) ? OPERATION(-) : integer(t, ua - ub);
    case EXPR_SHL:       return shift_left(t, a, b);
    case EXPR_SHR:       return shift_right(t, a, b);
    case EXPR_LT:        return truth(less(t, a, b));
    case EXPR_LE:        return truth(less_equal(t, a, b));
    case EXPR_EQ:        return truth(equal(t, a, b));
    case EXPR_NE:        return truth(!equal(t, a, b));
    case EXPR_BITAND:    return integer(t, ua & ub);
    case EXPR_BITXOR:    return integer(t, ua ^ ub);
    case EXPR_BITOR:     return integer(t, ua | ub);
    case EXPR_AND:       return truth(a.i && b.i);
    case EXPR_OR:        return truth(a.i || b.i);
    case EXPR_SELECT:    return a.i ? b : c;
    case EXPR_MIN:       return is_float(t) ? FUNCTION2(min) : less(t, b, a) ? b : a;
    case EXPR_MAX:       return is_float(t) ? FUNCTION2(max) : less(t, a, b) ? b : a;
    case EXPR_TDIV:      return integer(t, divide(t, a, b).quotient);
    case EXPR_TMOD:      return integer(t, divide(t, a, b).remainder);
    case EXPR_MULHIGH:   return multiply_high(a, b);
    case EXPR_ROUNDSHIFT: return round_shift(a, b);
    case EXPR_EXPQ:      return integer(I32, (uint64_t)lw_expq_i32((int32_t)a.i, (int32_t)b.i));
    case EXPR_RECIPQ:    return integer(I32, (uint64_t)lw_recipq_i32((int32_t)a.i));
    case EXPR_CLZ:       return integer(I32, (uint64_t)lw_clz_i32((int32_t)a.i));
    case EXPR_PHILOX:    return integer(U64, lw_philox_u64(ua, ub));
    case EXPR_FMOD:      return FUNCTION2(fmod);
    case EXPR_POW:       return FUNCTION2(pow);
    case EXPR_ATAN2:     return FUNCTION2(atan2);
    case EXPR_FMA:       return REAL(fma(a.f, b.f, c.f), fmaf((float)a.f, (float)b.f, (float)c.f));
    case EXPR_ABS:       return is_float(t) ? real(t, lw_abs(a.f)) : integer(t, is_signed(t) && a.i < 0 ? 0 - ua : ua);
    case EXPR_SQRT:      return FUNCTION(sqrt);
    case EXPR_RSQRT:     return REAL(1.0 / lw_sqrt(a.f), 1.0f / lw_sqrtf((float)a.f));
    case EXPR_EXP:       return FUNCTION(exp);
    case EXPR_EXP2:      return FUNCTION(exp2);
    case EXPR_EXPM1:     return FUNCTION(expm1);
    case EXPR_LOG:       return FUNCTION(log);
    case EXPR_LOG2:      return FUNCTION(log2);
    case EXPR_LOG10:     return FUNCTION(log10);
    case EXPR_LOG1P:     return FUNCTION(log1p);
    case EXPR_TANH:      return FUNCTION(tanh);
    case EXPR_SIGMOID:   return FUNCTION(sigmoid);
    case EXPR_ERF:       return FUNCTION(erf);
    case EXPR_SIN:       return FUNCTION(sin);
    case EXPR_COS:       return FUNCTION(cos);
    case EXPR_TAN:       return FUNCTION(tan);
    case EXPR_ASIN:      return FUNCTION(asin);
    case EXPR_ACOS:      return FUNCTION(acos);
    case EXPR_ATAN:      return FUNCTION(atan);
    case EXPR_SINH:      return FUNCTION(sinh);
    case EXPR_COSH:      return FUNCTION(cosh);
    case EXPR_ASINH:     return FUNCTION(asinh);
    case EXPR_ACOSH:     return FUNCTION(acosh);
    case EXPR_ATANH:     return FUNCTION(atanh);
    case EXPR_FLOOR:     return FUNCTION(floor);
    case EXPR_CEIL:      return FUNCTION(ceil);
    case EXPR_TRUNC:     return FUNCTION(trunc);
    case EXPR_ROUND:     return FUNCTION(round);
    case EXPR_NEARBYINT: return FUNCTION(nearbyint);
    case EXPR_ISNAN:     return truth(a.f != a.f);
    case EXPR_ISINF:     return truth(a.f == a.f && a.f - a.f != 0);
    case EXPR_KIND_COUNT: break;
    }
    return zero;
}
