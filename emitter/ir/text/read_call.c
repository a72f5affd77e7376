/* SPDX-License-Identifier: MIT */
/* Calls in expressions: the functions of expr.def, casts, and the functions that expand to others:
 *
 *  clamp(x, low, high)   min(max(x, low), high)
 *  ceildiv(a, b)         (a + (b - 1)) / b: a / b rounded up, for b > 0
 *  dim(x, 1)             the size of the tensor's dimension */
#include "ir/text/read.h"

#include <string.h>

#include "support/names.h"

static bool of_kind(Reader *r, Token at, const char *what, int expected, int found)
{
    if (expected == found) return true;
    lex_error(r->lex, at, "%s takes %d value%s, not %d", what, expected, expected == 1 ? "" : "s", found);
    return false;
}

enum { MAX_ARGS = 4 };

/* args = '(' [expr {',' expr}] ')'. Stores the first MAX_ARGS and counts all. */
static int read_args(Reader *r, Value *args)
{
    int n = 0;
    lex_expect(r->lex, "(", "here");
    if (lex_accept(r->lex, ")")) return 0;
    do {
        Value v = read_value(r);
        if (n < MAX_ARGS) args[n] = v;
        n++;
    } while (lex_accept(r->lex, ",") && !ctx_failed(r->cx));
    lex_expect(r->lex, ")", "after the arguments");
    return n;
}

static const Expr *apply_kind(Reader *r, ExprKind k, const Value *args, int count, Token at)
{
    const Expr *e[3];
    if (k == EXPR_SELECT) {
        e[0] = value_as(r, args[0], BOOL);
        values_agree(r, args + 1, 2, false, e + 1);
        return expr_select(r->cx, e[0], e[1], e[2]);
    }
    values_agree(r, args, count, expr_info(k)->algebra & ALGEBRA_FLOATS, e);
    if (count == 1) return expr_unary(r->cx, k, e[0]);
    if (count == 2)
        return is_meaningless(r, k, e[1], args[1].at) ? expr_poison(r->cx) : expr_binary(r->cx, k, e[0], e[1]);
    if (e[0]->type != e[1]->type || e[0]->type != e[2]->type)
        lex_error(r->lex, at, "the operands of '%s' have the types %s, %s and %s", expr_info(k)->spelling,
                  dtype_info(e[0]->type)->spelling, dtype_info(e[1]->type)->spelling, dtype_info(e[2]->type)->spelling);
    return expr_fma(r->cx, e[0], e[1], e[2]);
}

static Value read_kind(Reader *r, ExprKind k, Token at)
{
    Value args[MAX_ARGS];
    int accesses = r->access_count, count = read_args(r, args);
    if (k == EXPR_SELECT) guard_accesses(r, accesses);      /* a side is evaluated only if the condition selects it */
    if (ctx_failed(r->cx) || !of_kind(r, at, expr_info(k)->spelling, expr_info(k)->arity, count))
        return value_poison(r, at);
    DiagMark mark = diag_mark(r->cx);
    const Expr *e = apply_kind(r, k, args, count, at);
    lex_relocate(r->lex, mark, at);
    return value_of(e, at);
}

static Value read_cast(Reader *r, DType t, Token at)
{
    Value v[MAX_ARGS];
    int count = read_args(r, v);
    if (ctx_failed(r->cx) || !of_kind(r, at, dtype_info(t)->spelling, 1, count)) return value_poison(r, at);
    bool direct = dtype_is_float(t) || (v[0].literal == INTEGER_LITERAL && t != BOOL);
    return value_of(expr_cast(r->cx, t, direct ? value_as(r, v[0], t) : value_alone(r, v[0])), at);
}

static Value read_bits(Reader *r, DType t, Token at)
{
    Value v[MAX_ARGS];
    int count = read_args(r, v);
    if (ctx_failed(r->cx) || !of_kind(r, at, "a cast of bits", 1, count)) return value_poison(r, at);
    const Expr *e = value_alone(r, v[0]);
    if (dtype_info(e->type)->bytes != dtype_info(t)->bytes || e->type == BOOL || t == BOOL) {
        lex_error(r->lex, at, "the bits of %s cannot be cast to %s; use equal sizes, except bool",
                  dtype_info(e->type)->spelling, dtype_info(t)->spelling);
        return value_poison(r, at);
    }
    return value_of(e->type == t ? e : expr_new(r->cx, EXPR_BITCAST, t, NULL, &e, 1), at);
}

static Value read_ceildiv(Reader *r, Token at)
{
    Value v[MAX_ARGS];
    const Expr *e[2];
    int count = read_args(r, v);
    if (ctx_failed(r->cx) || !of_kind(r, at, "ceildiv", 2, count)) return value_poison(r, at);
    values_agree(r, v, 2, false, e);
    Value less = value_operate(r, EXPR_SUB, value_of(e[1], at), value_of(expr_int(r->cx, e[1]->type, 1), at), at);
    return value_operate(r, EXPR_FLOORDIV, value_operate(r, EXPR_ADD, value_of(e[0], at), less, at),
                         value_of(e[1], v[1].at), at);
}

static Value read_clamp(Reader *r, Token at)
{
    Value v[MAX_ARGS];
    int count = read_args(r, v);
    if (ctx_failed(r->cx) || !of_kind(r, at, "clamp", 3, count)) return value_poison(r, at);
    return value_operate(r, EXPR_MIN, value_operate(r, EXPR_MAX, v[0], v[1], at), v[2], at);
}

static Value read_dim(Reader *r, Token at)
{
    int64_t d = 0;
    lex_expect(r->lex, "(", "after dim");
    Token t = lex_take(r->lex);
    const Symbol *s = symbol_tensor(r->symbols, t);
    if (!s) unknown_name(r->lex, r->symbols, t, true);
    lex_expect(r->lex, ",", "after the tensor");
    Token which = lex_peek(r->lex);
    lex_integer(r->lex, &d);
    lex_expect(r->lex, ")", "after the dimension");
    if (ctx_failed(r->cx)) return value_poison(r, at);
    if (d < 0 || d >= s->tensor->rank) {
        lex_error(r->lex, which, "'%s' has no dimension %lld; it has %d, counted from 0", s->name, (long long)d,
                  s->tensor->rank);
        return value_poison(r, at);
    }
    return value_of(s->tensor->shape[d], at);
}

/* The functions other than types, bits_TYPE and the kinds of expr.def. */
static const struct { const char *name; Value (*read)(Reader *r, Token at); } functions[] = {
    { "ceildiv", read_ceildiv },
    { "clamp",   read_clamp },
    { "dim",     read_dim },
};
enum { FUNCTIONS = sizeof functions / sizeof *functions };

/* Reads the type of `bits_TYPE`. */
static bool read_bits_type(const char *word, size_t n, DType *t)
{
    static const char bits[] = "bits_";
    const size_t prefix = sizeof bits - 1;
    return n > prefix && memcmp(word, bits, prefix) == 0 && dtype_read(word + prefix, n - prefix, t);
}

bool formula_has_function(const char *word)
{
    ExprKind k;
    DType t;
    const size_t n = strlen(word);
    for (int i = 0; i < FUNCTIONS; i++)
        if (strcmp(functions[i].name, word) == 0) return true;
    return expr_kind_read(word, n, &k) || dtype_read(word, n, &t) || read_bits_type(word, n, &t);
}

void refuse_inner_reduction(Reader *r, Token at)
{
    lex_error(r->lex, at, "'%.*s' is inside an expression, but a reduction must be outermost; write the rest as a "
              "separate formula, or as the first value: sum(k; FIRST)", at.length, at.at);
}

Value read_call(Reader *r, Token at)
{
    ExprKind k;
    DType t;
    size_t n = (size_t)at.length;
    Reducer reducer;
    if (dtype_read(at.at, n, &t)) return read_cast(r, t, at);
    if (read_bits_type(at.at, n, &t)) return read_bits(r, t, at);
    if (expr_kind_read(at.at, n, &k)) return read_kind(r, k, at);
    for (int i = 0; i < FUNCTIONS; i++)
        if (token_is(at, functions[i].name)) return functions[i].read(r, at);
    if (reducer_read(at.at, n, &reducer))
        refuse_inner_reduction(r, at);
    else {
        const char **words = NEW_ARRAY(r->cx->arena, const char *, EXPR_KIND_COUNT);
        size_t count = 0;
        for (int i = 0; i < EXPR_KIND_COUNT; i++)
            if (expr_info((ExprKind)i)->form == EXPR_CALL) words[count++] = expr_info((ExprKind)i)->spelling;
        lex_error(r->lex, at, "there is no function '%.*s'%s", at.length, at.at,
                  text_hint(r->cx, name_n(r->cx, at.at, n), words, count, ""));
    }
    return value_poison(r, at);
}
