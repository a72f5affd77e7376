/* SPDX-License-Identifier: MIT */
/* Prints names in scope, types, numbers, and legal expressions as C (ir/algebra/legalize.h), kind by kind:
 *
 *   types narrower than int      C computes in int; a cast follows at a store and where the result may exceed the type
 *   left shift                   in unsigned arithmetic, where C defines it
 *   16-bit floats                stored as bits, computed as float, rounded after every operation
 *
 * A printed expression records the precedence of its outermost operator. Parentheses appear only where C or readability
 * requires them. */
#include "cgen/spell.h"

#include <string.h>

#include "ir/algebra/legalize.h"
#include "support/names.h"

/* ---- Names ----------------------------------------------------------------------------------------------------- */

Speller speller_new(Ctx *cx) { return (Speller){ .cx = cx }; }

const char *speller_find(const Speller *s, const void *what)
{
    for (int i = s->named_count - 1; i >= 0; i--)
        if (s->named[i].what == what) return s->named[i].spelling;
    return NULL;
}

static bool is_taken(const Speller *s, const char *spelling)
{
    for (int i = 0; i < s->named_count; i++)
        if (s->named[i].spelling == spelling) return true;
    return false;
}

const char *speller_name(Speller *s, const void *what, const char *wanted)
{
    const char *stem = name_unprefixed(s->cx, wanted), *spelling = stem, *bar = strchr(stem, '_');
    for (int n = 2; is_taken(s, spelling); n++)
        spelling = name_format(s->cx, "%s%s%d", stem, bar && stem[strlen(stem) - 1] != '_' ? "_" : "", n);
    if (s->named_count == s->named_room) {
        Named *more = NEW_ARRAY(s->cx->arena, Named, s->named_room = 2 * s->named_room + 16);
        if (s->named_count) memcpy(more, s->named, (size_t)s->named_count * sizeof *more);
        s->named = more;
    }
    s->named[s->named_count++] = (Named){ what, spelling, false };
    return spelling;
}

/* ---- Types and numbers ----------------------------------------------------------------------------------------- */

const char *spell_type(DType t) { return t == F16 || t == BF16 ? "float" : dtype_info(t)->c_type; }

static const char *real_number(Ctx *cx, DType t, double v)
{
    Text text = text_new(cx);
    bool wide = t == F64;
    if (v != v) return wide ? "(double)NAN" : "NAN";
    if (v - v != 0) return v > 0 ? (wide ? "HUGE_VAL" : "INFINITY") : (wide ? "-HUGE_VAL" : "-INFINITY");
    if (v == 0) text_add(&text, 1 / v < 0 ? "-0.0" : "0.0");
    else if (wide) text_double(&text, v);
    else text_float(&text, (float)v);
    if (!wide) text_char(&text, 'f');
    return text_string(&text);
}

const char *spell_number(Ctx *cx, DType t, Scalar v)
{
    if (dtype_is_float(t)) return real_number(cx, t, v.f);
    if (t == I32 && v.i == INT32_MIN) return "INT32_MIN";
    if (t == I32 && v.i == INT32_MAX) return "INT32_MAX";
    if (t == I64 && v.i == INT64_MIN) return "INT64_MIN";
    if (t == U64) return text_format(cx, "%lluu", (unsigned long long)v.i);
    return text_format(cx, t == U32 ? "%lldu" : "%lld", (long long)v.i);
}

/* ---- Expressions ------------------------------------------------------------------------------------------------- */

typedef enum Level {
    LEVEL_COMMA, LEVEL_COND, LEVEL_OR, LEVEL_AND, LEVEL_BIT, LEVEL_EQUAL, LEVEL_LESS, LEVEL_SHIFT, LEVEL_ADD, LEVEL_MUL,
    LEVEL_UNARY, LEVEL_PRIMARY
} Level;
typedef struct Spelled {
    const char *text;
    Level level;
    bool is_exact;          /* true if its C type is the C type of the expression's dtype */
    const char *bits;       /* the stored bits of a 16-bit float, or NULL */
} Spelled;

static bool is_half(DType t) { return t == F16 || t == BF16; }
static bool is_narrow(DType t) { return !dtype_is_float(t) && dtype_info(t)->bytes < 4; }
static bool is_signed(DType t) { return dtype_info(t)->cls == SIGNED; }

/* ---- Pieces ---------------------------------------------------------------------------------------------------- */

static Spelled spelled(Speller *s, const Expr *e);

static Spelled piece(const char *text, Level level, bool is_exact) { return (Spelled){ text, level, is_exact, NULL }; }

static const char *at_level(Ctx *cx, Spelled p, Level least)
{
    return p.level >= least ? p.text : text_format(cx, "(%s)", p.text);
}

static const char *operand(Speller *s, const Expr *e, Level least) { return at_level(s->cx, spelled(s, e), least); }

static Spelled cast_to(Speller *s, const char *type, const char *operand_text)
{
    return piece(text_format(s->cx, "(%s)%s", type, operand_text), LEVEL_UNARY, true);
}

/* Prints function(operand, ...), starting with the operand `first`. */
static Spelled call(Speller *s, const char *function, const Expr *e, int first, bool is_exact)
{
    Text t = text_new(s->cx);
    text_printf(&t, "%s(", function);
    for (int i = first; i < e->arg_count; i++) {
        if (i > first) text_add(&t, ", ");
        text_add(&t, spelled(s, e->arg[i]).text);
    }
    text_char(&t, ')');
    return piece(text_string(&t), LEVEL_PRIMARY, is_exact);
}

/* Returns the suffix of the helpers for a type; narrow types use int32's helpers. */
static const char *helper_type(DType t)
{
    switch (t) {
    case U32: return "u32";
    case I64: return "i64";
    case U64: return "u64";
    default:  return "i32";
    }
}

static Spelled helper(Speller *s, const char *stem, const Expr *e)
{
    DType t = e->arg[0]->type;
    return call(s, name_format(s->cx, "lw_%s_%s", stem, helper_type(t)), e, 0, !is_narrow(t));
}

/* Returns the lw_math.h name: `lw_exp` on double, `lw_expf` on float. */
static Spelled math_call(Speller *s, const char *stem, const Expr *e)
{
    return call(s, name_format(s->cx, "lw_%s%s", stem, e->arg[0]->type == F64 ? "" : "f"), e, 0, true);
}

/* Rounds a 16-bit float after an operation in float. */
static Spelled rounded(Speller *s, DType t, Spelled p)
{
    if (!is_half(t)) return p;
    const char *bits = text_format(s->cx, t == F16 ? "lw_float_to_half(%s)" : "lw_float_to_bf16(%s)", p.text);
    const char *text = text_format(s->cx, t == F16 ? "lw_half_to_float(%s)" : "lw_bf16_to_float(%s)", bits);
    return (Spelled){ text, LEVEL_PRIMARY, true, bits };
}

/* ---- Operators ------------------------------------------------------------------------------------------------- */

typedef struct Operator { const char *text; Level level, left, right; } Operator;

static Operator operator_of(ExprKind k)
{
    switch (k) {
    case EXPR_MUL:    return (Operator){ " * ", LEVEL_MUL, LEVEL_MUL, LEVEL_UNARY };
    case EXPR_DIV:
    case EXPR_TDIV:   return (Operator){ " / ", LEVEL_MUL, LEVEL_MUL, LEVEL_UNARY };
    case EXPR_TMOD:   return (Operator){ " % ", LEVEL_MUL, LEVEL_MUL, LEVEL_UNARY };
    case EXPR_ADD:    return (Operator){ " + ", LEVEL_ADD, LEVEL_ADD, LEVEL_MUL };
    case EXPR_SUB:    return (Operator){ " - ", LEVEL_ADD, LEVEL_ADD, LEVEL_MUL };
    case EXPR_SHL:    return (Operator){ " << ", LEVEL_SHIFT, LEVEL_UNARY, LEVEL_UNARY };
    case EXPR_SHR:    return (Operator){ " >> ", LEVEL_SHIFT, LEVEL_UNARY, LEVEL_UNARY };
    case EXPR_LT:     return (Operator){ " < ", LEVEL_LESS, LEVEL_ADD, LEVEL_ADD };
    case EXPR_LE:     return (Operator){ " <= ", LEVEL_LESS, LEVEL_ADD, LEVEL_ADD };
    case EXPR_EQ:     return (Operator){ " == ", LEVEL_EQUAL, LEVEL_ADD, LEVEL_ADD };
    case EXPR_NE:     return (Operator){ " != ", LEVEL_EQUAL, LEVEL_ADD, LEVEL_ADD };
    case EXPR_BITAND: return (Operator){ " & ", LEVEL_BIT, LEVEL_UNARY, LEVEL_UNARY };
    case EXPR_BITXOR: return (Operator){ " ^ ", LEVEL_BIT, LEVEL_UNARY, LEVEL_UNARY };
    case EXPR_BITOR:  return (Operator){ " | ", LEVEL_BIT, LEVEL_UNARY, LEVEL_UNARY };
    case EXPR_AND:    return (Operator){ " && ", LEVEL_AND, LEVEL_AND, LEVEL_AND };
    default:          return (Operator){ " || ", LEVEL_OR, LEVEL_EQUAL, LEVEL_EQUAL };
    }
}

static Spelled infix(Speller *s, const Expr *e)
{
    Operator o = operator_of(e->kind);
    const char *text = text_format(s->cx, "%s%s%s", operand(s, e->arg[0], o.left), o.text,
                                   operand(s, e->arg[1], o.right));
    return piece(text, o.level, !is_narrow(e->type));
}

/* Prints a comparison with the variable first: 1 <= i as i >= 1. */
static Spelled comparison(Speller *s, const Expr *e)
{
    if (!expr_is_const(e->arg[0])) return infix(s, e);
    const char *text = text_format(s->cx, "%s %s %s", operand(s, e->arg[1], LEVEL_ADD), e->kind == EXPR_LT ? ">" : ">=",
                                   operand(s, e->arg[0], LEVEL_ADD));
    return piece(text, LEVEL_LESS, false);
}

/* Prints a + -5 as a - 5, for integers and floats. */
static Spelled sum(Speller *s, const Expr *e)
{
    const Expr *right = e->arg[1];
    if (e->kind != EXPR_ADD || !expr_is_const(right)) return infix(s, e);
    Scalar v = expr_scalar(right);
    bool real = right->kind == EXPR_REAL;
    if (real ? !(v.f < 0) : v.i >= 0 || v.i == dtype_info(e->type)->least || !is_signed(e->type)) return infix(s, e);
    if (real) v.f = -v.f;
    else v.i = -v.i;
    const char *text = text_format(s->cx, "%s - %s", operand(s, e->arg[0], LEVEL_ADD), spell_number(s->cx, e->type, v));
    return piece(text, LEVEL_ADD, !is_narrow(e->type));
}

/* Prints an int32 product or sum of two widened narrow values; a cast of one operand suffices. */
static Spelled widened(Speller *s, const Expr *e)
{
    const Expr *b = e->arg[1];
    bool follows = !s->is_int && b->kind == EXPR_CAST && e->type == I32 && e->arg[0]->kind == EXPR_CAST
                   && is_narrow(b->arg[0]->type);
    if (!follows) return sum(s, e);
    Operator o = operator_of(e->kind);
    const char *text = text_format(s->cx, "%s%s%s", operand(s, e->arg[0], o.left), o.text,
                                   operand(s, b->arg[0], o.right));
    return piece(text, o.level, true);
}

static Spelled arithmetic(Speller *s, const Expr *e)
{
    if (!dtype_is_float(e->type)) return widened(s, e);
    return rounded(s, e->type, e->kind == EXPR_MUL || e->kind == EXPR_DIV ? infix(s, e) : sum(s, e));
}

static Spelled negative(Speller *s, const Expr *e)
{
    const char *text = operand(s, e->arg[0], LEVEL_UNARY);
    text = text_format(s->cx, *text == '-' ? "-(%s)" : "-%s", text);
    return piece(text, LEVEL_UNARY, !is_narrow(e->type));
}

/* Prints the floor remainder by a power of two, the only floor remainder of legal code. The floor remainder is a
 * remainder of unsigned numbers, because provers derive the bounds of a remainder, but not the bounds of a mask. */
static Spelled mask(Speller *s, const Expr *e)
{
    const bool is_long = dtype_info(e->type)->bytes == 8;
    if (dtype_info(e->type)->bytes >= 4) {
        const char *x = operand(s, e->arg[0], e->type == U32 || e->type == U64 ? LEVEL_MUL : LEVEL_UNARY);
        if (e->type == U32 || e->type == U64)
            return piece(text_format(s->cx, "%s %% %lldu", x, (long long)e->arg[1]->integer), LEVEL_MUL, true);
        return cast_to(s, dtype_info(e->type)->c_type,
                       text_format(s->cx, "((%s)%s %% %lldu)", is_long ? "uint64_t" : "uint32_t", x,
                                   (long long)e->arg[1]->integer));
    }
    const Expr *bits = expr_int(s->cx, e->type, e->arg[1]->integer - 1);
    const char *x = operand(s, e->arg[0], LEVEL_UNARY), *and = operand(s, bits, LEVEL_UNARY);
    return piece(text_format(s->cx, "(%s & %s)", x, and), LEVEL_PRIMARY, true);
}

/* Prints x << n for a constant n in unsigned arithmetic, where C defines it. */
static Spelled shift_left(Speller *s, const Expr *e)
{
    const char *text = text_format(s->cx, "(%s)%s << %lld", dtype_info(e->type)->bytes == 8 ? "uint64_t" : "uint32_t",
                                   operand(s, e->arg[0], LEVEL_UNARY), (long long)e->arg[1]->integer);
    return e->type == U32 || e->type == U64 ? piece(text, LEVEL_SHIFT, true)
                                            : cast_to(s, dtype_info(e->type)->c_type, text_format(s->cx, "(%s)", text));
}

static Spelled runtime_call(Speller *s, const Expr *e)
{
    const RuntimeFunction *f = e->ref;
    return call(s, f->c_name, e, RUNTIME_OPERAND, e->type == f->result);
}

static Spelled bitwise(Speller *s, const Expr *e)
{
    Spelled p = e->kind == EXPR_BITNOT ? piece(text_format(s->cx, "~%s", operand(s, e->arg[0], LEVEL_UNARY)),
                                               LEVEL_UNARY, !is_narrow(e->type))
                                       : infix(s, e);
    bool leaves = e->kind == EXPR_BITNOT && is_narrow(e->type) && !is_signed(e->type);
    return leaves ? cast_to(s, dtype_info(e->type)->c_type, text_format(s->cx, "(%s)", p.text)) : p;
}

static Spelled magnitude(Speller *s, const Expr *e)
{
    if (dtype_is_float(e->type)) return math_call(s, "abs", e);
    if (!is_signed(e->type)) return spelled(s, e->arg[0]);
    Spelled p = helper(s, "abs", e);
    return is_narrow(e->type) ? cast_to(s, dtype_info(e->type)->c_type, p.text) : p;
}

/* ---- Casts ----------------------------------------------------------------------------------------------------- */

static Spelled integer_from_float(Speller *s, const Expr *e)
{
    Ctx *cx = s->cx;
    const DTypeInfo *to = dtype_info(e->type);
    const char *from = e->arg[0]->type == F64 ? "f64" : "f32", *value = spelled(s, e->arg[0]).text;
    if (!is_narrow(e->type))
        return piece(text_format(cx, "lw_%s_from_%s(%s)", to->spelling, from, value), LEVEL_PRIMARY, true);
    const char *text = text_format(cx, "(%s)lw_max_i32(%lld, lw_min_i32(%lld, lw_i32_from_%s(%s)))", to->c_type,
                                   (long long)to->least, (long long)to->greatest, from, value);
    return piece(text, LEVEL_UNARY, true);
}

/* Prints a narrow value without the cast that widens it. */
static Spelled unwidened(Speller *s, const Expr *e)
{
    s->is_int = false;
    const Spelled p = spelled(s, e->arg[0]);
    s->is_int = true;
    return p;
}

static Spelled cast(Speller *s, const Expr *e)
{
    DType from = e->arg[0]->type, to = e->type;
    if (s->is_int) return unwidened(s, e);
    if (to == BOOL)
        return piece(
            text_format(s->cx, dtype_is_float(from) ? "%s != 0.0f" : "%s != 0", operand(s, e->arg[0], LEVEL_ADD)),
            LEVEL_EQUAL, false);
    if (dtype_is_float(from) && !dtype_is_float(to)) return integer_from_float(s, e);
    if (is_half(to)) {
        const char *text = from == F32 || is_half(from)
                               ? operand(s, e->arg[0], LEVEL_COMMA)
                               : text_format(s->cx, "(float)%s", operand(s, e->arg[0], LEVEL_UNARY));
        return rounded(s, to, piece(text, LEVEL_UNARY, true));
    }
    if (is_half(from) && to == F32) return spelled(s, e->arg[0]);
    return cast_to(s, dtype_info(to)->c_type, operand(s, e->arg[0], LEVEL_UNARY));
}

static Spelled bitcast(Speller *s, const Expr *e)
{
    DType from = e->arg[0]->type, to = e->type;
    const char *value = operand(s, e->arg[0], LEVEL_UNARY);
    Ctx *cx = s->cx;
    if (!dtype_is_float(from) && !dtype_is_float(to)) return cast_to(s, dtype_info(to)->c_type, value);
    if (from == F16 || from == BF16 || to == F16 || to == BF16) {
        const char *name16 = from == F16 || to == F16 ? "half" : "bf16";
        if (is_half(from) && is_half(to))
            return from == to ? spelled(s, e->arg[0])
                              : piece(text_format(cx,
                                                  from == F16 ? "lw_bf16_to_float(lw_float_to_half(%s))"
                                                              : "lw_half_to_float(lw_float_to_bf16(%s))",
                                                  value),
                                      LEVEL_PRIMARY, true);
        if (is_half(from))
            return piece(text_format(cx, "(%s)lw_float_to_%s(%s)", dtype_info(to)->c_type, name16, value), LEVEL_UNARY,
                         true);
        return piece(text_format(cx, "lw_%s_to_float((uint16_t)%s)", name16, value), LEVEL_PRIMARY, true);
    }
    int bits = 8 * dtype_info(to)->bytes;
    if (dtype_is_float(to))
        return piece(text_format(cx, "lw_f%d_from_bits((uint%d_t)%s)", bits, bits, value), LEVEL_PRIMARY, true);
    return piece(text_format(cx, "(%s)lw_f%d_bits(%s)", dtype_info(to)->c_type, bits, value), LEVEL_UNARY, true);
}

/* ---- Leaves ---------------------------------------------------------------------------------------------------- */

static const char *memory_name(Speller *s, const Memory *m)
{
    const char *memory = speller_find(s, m);
    if (!memory) diag_internal(s->cx, m->name, "this memory is read where it is not declared");
    return memory ? memory : m->name;
}

static Spelled load(Speller *s, const Expr *e)
{
    const Memory *m = e->ref;
    const char *memory = memory_name(s, m), *text = memory;
    if (m->kind != MEMORY_SCALAR) text = text_format(s->cx, "%s[%s]", memory, spelled(s, e->arg[0]).text);
    if (!is_half(m->type) || m->kind == MEMORY_SCALAR) return piece(text, LEVEL_PRIMARY, true);
    const char *value = text_format(s->cx, m->type == F16 ? "lw_half_to_float(%s)" : "lw_bf16_to_float(%s)", text);
    return (Spelled){ value, LEVEL_PRIMARY, true, text };
}

/* Prints LW_AT(memory, index, strides...): the instruction forms the pointer, and only if it reads. */
static Spelled operand_at(Speller *s, const Expr *e)
{
    const Expr *first = e->arg[0];
    Text t = text_new(s->cx);
    text_printf(&t, "LW_AT(%s, %s", memory_name(s, first->ref), spelled(s, first->arg[0]).text);
    for (int i = 1; i < e->arg_count; i++) text_printf(&t, ", %s", spelled(s, e->arg[i]).text);
    text_char(&t, ')');
    return piece(text_string(&t), LEVEL_PRIMARY, true);
}

static Spelled number(Speller *s, const Expr *e)
{
    const char *text = spell_number(s->cx, e->type, expr_scalar(e));
    return piece(text, *text == '-' ? LEVEL_UNARY : LEVEL_PRIMARY, e->type != BOOL && !is_narrow(e->type));
}

static Spelled variable(Speller *s, const Expr *e)
{
    const char *text = speller_find(s, e);
    if (!text) {
        diag_internal(s->cx, expr_as_var(e)->name, "this variable is used where it is not declared");
        text = expr_as_var(e)->name;
    }
    return piece(text, LEVEL_PRIMARY, true);
}

static Spelled choice(Speller *s, const Expr *e)
{
    const char *text = text_format(s->cx, "%s ? %s : %s", operand(s, e->arg[SELECT_COND], LEVEL_OR),
                                   operand(s, e->arg[SELECT_YES], LEVEL_OR), operand(s, e->arg[SELECT_NO], LEVEL_COND));
    return piece(text, LEVEL_COND, !is_narrow(e->type));
}

static Spelled inverted(Speller *s, const Expr *e)
{
    return piece(text_format(s->cx, "!%s", operand(s, e->arg[0], LEVEL_PRIMARY)), LEVEL_UNARY, false);
}

static Spelled helper_call(Speller *s, const Expr *e) { return helper(s, expr_info(e->kind)->spelling, e); }

static Spelled float_call(Speller *s, const Expr *e)
{
    return rounded(s, e->type, math_call(s, expr_info(e->kind)->spelling, e));
}

static Spelled extreme(Speller *s, const Expr *e)
{
    return (dtype_is_float(e->type) ? math_call : helper)(s, expr_info(e->kind)->spelling, e);
}

static Spelled class_test(Speller *s, const Expr *e)
{
    Spelled p = math_call(s, expr_info(e->kind)->spelling, e);
    p.is_exact = false;
    return p;
}

static Spelled poison(Speller *s, const Expr *e)
{
    (void)s, (void)e;
    return piece("0", LEVEL_PRIMARY, false);
}

static Spelled read_of_tensor(Speller *s, const Expr *e)
{
    diag_internal(s->cx, ((const Tensor *)e->ref)->name, "a read in tensor coordinates has no spelling in C");
    return poison(s, e);
}

static Spelled not_legal(Speller *s, const Expr *e)
{
    diag_internal(s->cx, expr_info(e->kind)->spelling, "this operation is printed before it is legalized");
    return poison(s, e);
}

/* A table instead of a switch, because a function with all cases would use a kilobyte of stack for each level of
 * nesting. */
static Spelled (*const spell_kind[EXPR_KIND_COUNT])(Speller *s, const Expr *e) = {
    [EXPR_POISON] = poison,
    [EXPR_INT] = number, [EXPR_REAL] = number,
    [EXPR_VAR] = variable, [EXPR_LOAD] = load, [EXPR_AT] = operand_at, [EXPR_READ] = read_of_tensor,
    [EXPR_CAST] = cast, [EXPR_BITCAST] = bitcast,
    [EXPR_NEG] = negative, [EXPR_NOT] = inverted,
    [EXPR_BITNOT] = bitwise, [EXPR_BITAND] = bitwise, [EXPR_BITXOR] = bitwise, [EXPR_BITOR] = bitwise,
    [EXPR_MUL] = arithmetic, [EXPR_DIV] = arithmetic, [EXPR_ADD] = arithmetic, [EXPR_SUB] = arithmetic,
    [EXPR_TDIV] = infix, [EXPR_TMOD] = infix, [EXPR_SHR] = infix,
    [EXPR_FLOORMOD] = mask, [EXPR_SHL] = shift_left,
    [EXPR_FLOORDIV] = not_legal, [EXPR_MULHIGH] = not_legal, [EXPR_ROUNDSHIFT] = not_legal,
    [EXPR_RUNTIME] = runtime_call,
    [EXPR_EXPQ] = helper_call, [EXPR_RECIPQ] = helper_call, [EXPR_PHILOX] = helper_call, [EXPR_CLZ] = helper_call,
    [EXPR_LT] = comparison, [EXPR_LE] = comparison, [EXPR_EQ] = infix, [EXPR_NE] = infix,
    [EXPR_AND] = infix, [EXPR_OR] = infix, [EXPR_SELECT] = choice,
    [EXPR_MIN] = extreme, [EXPR_MAX] = extreme, [EXPR_ABS] = magnitude,
    [EXPR_ISNAN] = class_test, [EXPR_ISINF] = class_test,
    [EXPR_FLOOR] = float_call, [EXPR_CEIL] = float_call, [EXPR_TRUNC] = float_call, [EXPR_ROUND] = float_call,
    [EXPR_NEARBYINT] = float_call, [EXPR_FMOD] = float_call, [EXPR_POW] = float_call, [EXPR_ATAN2] = float_call,
    [EXPR_FMA] = float_call, [EXPR_SQRT] = float_call, [EXPR_RSQRT] = float_call, [EXPR_EXP] = float_call,
    [EXPR_EXP2] = float_call, [EXPR_EXPM1] = float_call, [EXPR_LOG] = float_call, [EXPR_LOG2] = float_call,
    [EXPR_LOG10] = float_call, [EXPR_LOG1P] = float_call, [EXPR_TANH] = float_call, [EXPR_SIGMOID] = float_call,
    [EXPR_ERF] = float_call, [EXPR_SIN] = float_call, [EXPR_COS] = float_call, [EXPR_TAN] = float_call,
    [EXPR_ASIN] = float_call, [EXPR_ACOS] = float_call, [EXPR_ATAN] = float_call, [EXPR_SINH] = float_call,
    [EXPR_COSH] = float_call, [EXPR_ASINH] = float_call, [EXPR_ACOSH] = float_call, [EXPR_ATANH] = float_call,
};

static Spelled spelled(Speller *s, const Expr *e) { return spell_kind[e->kind](s, e); }

const char *spell(Speller *s, const Expr *e) { return spelled(s, e).text; }

const char *spell_size(Speller *s, const Expr *e)
{
    const Legalize anywhere = { s->cx, NULL, NULL };
    return spell(s, legal_expr(&anywhere, e));
}

const char *spell_bits(Speller *s, const Expr *e)
{
    Spelled p = spelled(s, e);
    return p.bits ? p.bits
                  : text_format(s->cx, e->type == F16 ? "lw_float_to_half(%s)" : "lw_float_to_bf16(%s)", p.text);
}

/* Computes the range of sums and products of narrow values. Returns false for other expressions, or if the range
 * exceeds 16 bits, the minimum width of an int. */
static bool fits_int(const Expr *e, int64_t *least, int64_t *most)
{
    int64_t a, b, c, d;
    if (e->kind == EXPR_INT) {
        *least = *most = e->integer;
    } else if (e->kind == EXPR_CAST && is_narrow(e->arg[0]->type) && e->arg[0]->type != BOOL) {
        *least = dtype_info(e->arg[0]->type)->least;
        *most = dtype_info(e->arg[0]->type)->greatest;
    } else {
        if (e->kind != EXPR_ADD && e->kind != EXPR_SUB && e->kind != EXPR_MUL) return false;
        if (!fits_int(e->arg[0], &a, &b) || !fits_int(e->arg[1], &c, &d)) return false;
        const int64_t product[] = { a * c, a * d, b * c, b * d };
        *least = e->kind == EXPR_ADD ? a + c : e->kind == EXPR_SUB ? a - d : product[0];
        *most = e->kind == EXPR_ADD ? b + d : e->kind == EXPR_SUB ? b - c : product[0];
        for (int i = 1; i < 4 && e->kind == EXPR_MUL; i++) {
            if (product[i] < *least) *least = product[i];
            if (product[i] > *most) *most = product[i];
        }
    }
    return *least >= INT16_MIN && *most <= INT16_MAX;
}

const char *spell_addend(Speller *s, const Expr *e)
{
    int64_t least, most;
    if (e->arg_count != 2 || !is_signed(e->type) || !fits_int(e, &least, &most)) return spell_exact(s, e);
    s->is_int = true;
    const char *text = spelled(s, e).text;
    s->is_int = false;
    return text;
}

const char *spell_exact(Speller *s, const Expr *e)
{
    e = expr_before_widening(e);
    if (e->kind == EXPR_INT) return spelled(s, e).text;      /* C converts an integer that fits without a cast */
    Spelled p = spelled(s, e);
    if (p.is_exact && e->type != BOOL) return p.text;
    return text_format(s->cx, "(%s)%s", dtype_info(e->type)->c_type, at_level(s->cx, p, LEVEL_UNARY));
}
