/* SPDX-License-Identifier: MIT */
/* Reads expressions (formula.h has the grammar). An untyped literal keeps its token until the other operand determines
 * its type, so it is rounded once. The enclosing ( value : outside ) turns the conditions of padded reads
 * (read_access.c) into a select. */
#include "ir/text/read.h"

#include <string.h>

#include "support/names.h"

static Value read_binary(Reader *r, int least);

/* The reader recurses over parentheses and calls. These limits keep the recursion within the stack that loopwright.h
 * states. */
enum { MOST_NESTED = 64, MOST_OPERATORS = 4000 };

/* ---- Names ------------------------------------------------------------------------------------------------------ */

Symbol *symbol_add(Ctx *cx, const Symbol *outer, const char *symbol_name, Tensor *tensor, const Expr *value)
{
    Symbol *s = NEW(cx->arena, Symbol);
    *s = (Symbol){ .outer = outer, .name = name(cx, symbol_name), .tensor = tensor, .value = value };
    s->index = outer ? outer->index : NULL;
    if (s->index) map_put_const(tensor ? &s->index->tensors : &s->index->values, s->name, strlen(s->name), s);
    return s;
}

const Symbol *symbols_indexed(Ctx *cx)
{
    Symbol *s = NEW(cx->arena, Symbol);
    s->name = "";
    s->index = NEW(cx->arena, SymbolIndex);
    *s->index = (SymbolIndex){ map_new(cx->arena), map_new(cx->arena), map_new(cx->arena) };
    return s;
}

const Symbol *symbols_of_binds(Ctx *cx, const Bind *binds)
{
    int count = 0;
    while (binds && binds[count].name) count++;
    Symbol *all = NEW_ARRAY(cx->arena, Symbol, count);
    for (int i = 0; i < count; i++) {
        const bool is_nothing = !binds[i].tensor && !binds[i].value;
        all[i] = (Symbol){ .outer = i ? &all[i - 1] : NULL, .name = name(cx, binds[i].name), .tensor = binds[i].tensor,
                           .value = is_nothing ? expr_poison(cx) : binds[i].value };
    }
    return count ? &all[count - 1] : NULL;
}

static bool is_named(const Symbol *s, Token t)
{
    return strlen(s->name) == (size_t)t.length && memcmp(s->name, t.at, (size_t)t.length) == 0;
}

const Symbol *symbol_tensor(const Symbol *s, Token t)
{
    while (s && !s->index && !(s->tensor && is_named(s, t))) s = s->outer;
    return s && s->index ? map_get_const(&s->index->tensors, t.at, (size_t)t.length) : s;
}

const Symbol *symbol_value(const Symbol *s, Token t)
{
    while (s && !s->index && !(!s->tensor && !s->reducer && is_named(s, t))) s = s->outer;
    return s && s->index ? map_get_const(&s->index->values, t.at, (size_t)t.length) : s;
}

const Symbol *symbol_reducer(const Symbol *s, Token t)
{
    while (s && !s->index && !(s->reducer && is_named(s, t))) s = s->outer;
    return s && s->index ? map_get_const(&s->index->reducers, t.at, (size_t)t.length) : s;
}

Symbol *symbol_add_reducer(Ctx *cx, const Symbol *outer, const ReducerText *reducer)
{
    Symbol *s = NEW(cx->arena, Symbol);
    *s = (Symbol){ .outer = outer, .name = reducer->name, .reducer = reducer, .index = outer ? outer->index : NULL };
    if (s->index) map_put_const(&s->index->reducers, s->name, strlen(s->name), s);
    return s;
}

void unknown_name(const Lexer *l, const Symbol *s, Token at, bool tensors_only)
{
    int count = 0, n = 0;
    for (const Symbol *i = s; i; i = i->outer) count++;
    const char **words = NEW_ARRAY(l->cx->arena, const char *, count);
    for (const Symbol *i = s; i; i = i->outer)
        if (*i->name && (!tensors_only || i->tensor)) words[n++] = i->name;
    const char *word = name_n(l->cx, at.at, (size_t)at.length), *near = text_nearest(l->cx, word, words, (size_t)n);
    const char *sort = tensors_only ? "not a tensor" : "not known";
    if (near && at.length > 1) lex_error(l, at, "'%s' is %s here; did you mean '%s'?", word, sort, near);
    else lex_error(l, at, "'%s' is %s here", word, sort);
}

/* ---- Literals --------------------------------------------------------------------------------------------------- */

Value value_poison(Reader *r, Token at) { return (Value){ .expr = expr_poison(r->cx), .at = at }; }
Value value_of(const Expr *e, Token at) { return (Value){ .expr = e, .at = at }; }

static const char *literal_text(Reader *r, Value v)
{
    return text_format(r->cx, "%s%.*s", v.negative ? "-" : "", v.at.length, v.at.at);
}

static const Expr *integer_as(Reader *r, Value v, DType t)
{
    bool fits;
    uint64_t magnitude = token_unsigned(v.at, &fits);
    const DTypeInfo *info = dtype_info(t);
    uint64_t most = t == U64 ? UINT64_MAX : (uint64_t)info->greatest;
    if (v.negative) most = 0 - (uint64_t)info->least;
    if (dtype_is_float(t) && fits) return expr_real(r->cx, t, v.negative ? -(double)magnitude : (double)magnitude);
    if (t != BOOL && fits && magnitude <= most)
        return expr_int(r->cx, t, (int64_t)(v.negative ? 0 - magnitude : magnitude));
    if (t == BOOL) lex_error(r->lex, v.at, "%s is not a bool; use true or false", literal_text(r, v));
    else if (dtype_is_float(t)) lex_error(r->lex, v.at, "%s does not fit in %s", literal_text(r, v), info->spelling);
    else lex_error(r->lex, v.at, "%s does not fit in %s; use %lld to %llu", literal_text(r, v), info->spelling,
                   (long long)info->least, (unsigned long long)(t == U64 ? UINT64_MAX : (uint64_t)info->greatest));
    return expr_poison(r->cx);
}

static const Expr *real_as(Reader *r, Value v, DType t)
{
    if (!dtype_is_float(t)) {
        lex_error(r->lex, v.at, "%s is a real number where %s is required; use a number of that type, or a cast",
                  literal_text(r, v), dtype_info(t)->spelling);
        return expr_poison(r->cx);
    }
    const char *digits = name_n(r->cx, v.at.at, (size_t)v.at.length);
    double d = t == F32 ? (double)text_read_float(digits, NULL) : text_read_double(digits, NULL);
    if (token_is(v.at, "inf")) d = 1.0 / 0.0;
    if (token_is(v.at, "nan")) d = 0.0 / 0.0;
    return expr_real(r->cx, t, v.negative ? -d : d);
}

const Expr *value_as(Reader *r, Value v, DType t)
{
    if (v.literal == INTEGER_LITERAL) return integer_as(r, v, t);
    return v.literal == REAL_LITERAL ? real_as(r, v, t) : v.expr;
}

const Expr *value_alone(Reader *r, Value v)
{
    if (v.literal == REAL_LITERAL && !dtype_is_float(r->literal)) return real_as(r, v, F32);
    return value_as(r, v, r->literal);
}

static Value number(Reader *r)
{
    Token t = lex_take(r->lex);
    enum { MOST_CHARACTERS = 100 };
    if (t.kind == TOKEN_REAL && t.length > MOST_CHARACTERS) {
        lex_error(r->lex, t, "this number has %d characters; use at most %d characters", t.length, MOST_CHARACTERS);
        return value_poison(r, t);
    }
    return (Value){ .literal = t.kind == TOKEN_REAL ? REAL_LITERAL : INTEGER_LITERAL, .at = t };
}

/* Gives operands one type, which is the first typed operand's. */
void values_agree(Reader *r, const Value *v, int count, bool requires_float, const Expr **out)
{
    bool has_real = requires_float, found = false;
    DType t = r->literal;
    for (int i = 0; i < count; i++) {
        has_real = has_real || v[i].literal == REAL_LITERAL;
        if (v[i].literal || found) continue;
        t = v[i].expr->type;
        found = true;
    }
    if (!found && has_real && !dtype_is_float(t)) t = F32;
    for (int i = 0; i < count; i++) out[i] = value_as(r, v[i], t);
}

/* ---- Operators -------------------------------------------------------------------------------------------------- */

/* Reports constants that have a defined result (expr.def) but are certainly a mistake in a formula. Returns true after
 * such an error. */
bool is_meaningless(Reader *r, ExprKind k, const Expr *b, Token at)
{
    if (r->as_written || b->kind != EXPR_INT) return false;
    int bits = 8 * dtype_info(b->type)->bytes;
    bool divides = k == EXPR_DIV || k == EXPR_FLOORDIV || k == EXPR_FLOORMOD || k == EXPR_TDIV || k == EXPR_TMOD;
    if (divides && b->integer == 0) lex_error(r->lex, at, "division by zero");
    else if ((k == EXPR_SHL || k == EXPR_SHR) && (b->integer < 0 || b->integer >= bits))
        lex_error(r->lex, at, "a shift of %s by %lld is out of range; use 0 to %d", dtype_info(b->type)->spelling,
                  (long long)b->integer, bits - 1);
    else return false;
    return true;
}

/* Reports a size whose i32 arithmetic may wrap; returns true after such an error. A size from data may wrap, because
 * the terms around it bound it. */
static bool size_wraps(Reader *r, ExprKind k, const Expr *a, const Expr *b, Token at)
{
    if (!r->in_size || r->as_written || a->type != I32) return false;
    if (expr_reads(r->cx, a) || expr_reads(r->cx, b)) return false;
    const Interval x = interval_of(r->cx, a, r->bounds), y = interval_of(r->cx, b, r->bounds);
    const int64_t most = k == EXPR_ADD ? sat_add(x.greatest, y.greatest)
                       : k == EXPR_SUB ? sat_add(x.greatest, sat_mul(y.least, -1))
                       : k == EXPR_MUL ? sat_mul(x.greatest, y.greatest)
                       : k == EXPR_SHL ? sat_mul(x.greatest, (int64_t)1 << (y.greatest < 31 ? y.greatest : 31)) : 0;
    if (most <= INT32_MAX) return false;
    lex_error(r->lex, at, "this size may be %lld; use at most %ld", (long long)most, (long)INT32_MAX);
    return true;
}

Value value_operate(Reader *r, ExprKind k, Value a, Value b, Token at)
{
    const Value both[] = { a, b };
    const Expr *e[2];
    values_agree(r, both, 2, (expr_info(k)->algebra & ALGEBRA_FLOATS) && k != EXPR_DIV, e);
    if (e[1]->kind != EXPR_POISON && is_meaningless(r, k, e[1], b.at)) return value_poison(r, at);
    if (e[0]->kind != EXPR_POISON && e[1]->kind != EXPR_POISON &&
        size_wraps(r, k, e[0], e[1], at)) return value_poison(r, at);
    DiagMark mark = diag_mark(r->cx);
    const Expr *result = expr_binary(r->cx, k, e[0], e[1]);
    lex_relocate(r->lex, mark, at);
    return value_of(result, at);
}

/* Returns the kind of an infix operator: > and >= become < and <= with exchanged operands. */
static bool infix_of(Token t, ExprKind *k, bool *swapped)
{
    *swapped = token_is(t, ">") || token_is(t, ">=");
    if (*swapped) return *k = t.length == 1 ? EXPR_LT : EXPR_LE, true;
    for (int i = 0; i < EXPR_KIND_COUNT; i++)
        if (expr_info((ExprKind)i)->form == EXPR_INFIX && token_is(t, expr_info((ExprKind)i)->spelling))
            return *k = (ExprKind)i, t.kind == TOKEN_SYMBOL;
    return false;
}

static bool prefix_of(Token t, ExprKind *k)
{
    for (int i = 0; i < EXPR_KIND_COUNT; i++)
        if (expr_info((ExprKind)i)->form == EXPR_PREFIX && token_is(t, expr_info((ExprKind)i)->spelling))
            return *k = (ExprKind)i, t.kind == TOKEN_SYMBOL;
    return false;
}

/* ---- Expressions ------------------------------------------------------------------------------------------------ */

/* Reads '(' expr [':' expr] ')'. With a second expression, the conditions of the padded reads in the first one select
 * between the two. */
static Value read_parenthesis(Reader *r)
{
    Token open = lex_take(r->lex);
    int conditions = r->condition_count, padded = r->padded_count, accesses = r->access_count;
    Value body = read_binary(r, 0);
    Token colon = lex_peek(r->lex);
    if (!lex_accept(r->lex, ":")) {
        lex_expect(r->lex, ")", "here");
        return body;
    }
    const Expr *inside = NULL;
    for (int i = conditions; i < r->condition_count; i++) {
        bool is_new = true;
        for (int j = conditions; j < i; j++) is_new = is_new && r->condition[j] != r->condition[i];
        if (is_new) inside = inside ? expr_and(r->cx, inside, r->condition[i]) : r->condition[i];
    }
    bool has_padding = r->padded_count > padded;
    r->condition_count = conditions;
    r->padded_count = padded;
    if (inside) guard_accesses(r, accesses);
    Value both[] = { body, read_binary(r, 0) };
    lex_expect(r->lex, ")", "after the value outside");
    if (!has_padding) lex_error(r->lex, colon, "no read before this ':' is marked as padded with '?'");
    const Expr *e[2];
    if (ctx_failed(r->cx)) return value_poison(r, open);
    values_agree(r, both, 2, false, e);
    if (e[0]->type != e[1]->type)
        lex_error(r->lex, both[1].at, "the value outside has type %s, the one inside %s",
                  dtype_info(e[1]->type)->spelling, dtype_info(e[0]->type)->spelling);
    if (ctx_failed(r->cx)) return value_poison(r, open);
    return value_of(inside ? expr_select(r->cx, inside, e[0], e[1]) : e[0], open);
}

static Value read_word(Reader *r, Token at)
{
    const Symbol *s = symbol_value(r->symbols, at);
    if (s && s->value->kind == EXPR_POISON) lex_error(r->lex, at, "'%s' has no value", s->name);
    if (s) return value_of(s->value, at);
    s = symbol_tensor(r->symbols, at);
    if (s && s->tensor->rank == 0) return value_of(tensor_read(r->cx, s->tensor, NULL, 0), at);
    if (token_is(at, "inf") || token_is(at, "nan")) return (Value){ .literal = REAL_LITERAL, .at = at };
    if (token_is(at, "true") || token_is(at, "false")) return value_of(expr_int(r->cx, BOOL, at.length == 4), at);
    if (s) lex_error(r->lex, at, "'%s' is a tensor %s: %d ind%s expected", s->name, tensor_type_text(r->cx, s->tensor),
                     s->tensor->rank, s->tensor->rank == 1 ? "ex" : "ices");
    else unknown_name(r->lex, r->symbols, at, false);
    return value_poison(r, at);
}

/* Reads primary = number | name | call | read | '(' ... ')'. */
static Value read_primary(Reader *r)
{
    Token t = lex_peek(r->lex);
    if (t.kind == TOKEN_INTEGER || t.kind == TOKEN_REAL) return number(r);
    if (token_is(t, "(")) return read_parenthesis(r);
    if (t.kind != TOKEN_NAME) {
        lex_error(r->lex, t, "a value is expected, not %s", token_text(r->cx, t));
        return value_poison(r, t);
    }
    if (at_reduction(r)) {
        refuse_inner_reduction(r, t);
        return value_poison(r, t);
    }
    lex_take(r->lex);
    if (lex_is(r->lex, "(")) return read_call(r, t);
    return lex_is(r->lex, "[") ? read_element(r, t) : read_word(r, t);
}

/* Reads unary = ('-' | '!' | '~') unary | primary. A minus before a literal is part of the literal. */
static Value read_unary(Reader *r)
{
    ExprKind k;
    Token t = lex_peek(r->lex);
    if (r->depth == MOST_NESTED) {
        lex_error(r->lex, t, "this is nested more than %d deep", MOST_NESTED);
        return value_poison(r, t);
    }
    r->depth++;
    bool is_prefix = prefix_of(t, &k);
    if (is_prefix) lex_take(r->lex);
    Value v = is_prefix ? read_unary(r) : read_primary(r);
    r->depth--;
    if (!is_prefix) return v;
    if (k == EXPR_NEG && v.literal && !v.negative) {
        v.negative = true;
        return v;
    }
    const Expr *e = k == EXPR_NOT ? value_as(r, v, BOOL) : value_alone(r, v);
    DiagMark mark = diag_mark(r->cx);
    e = expr_unary(r->cx, k, e);
    lex_relocate(r->lex, mark, t);
    return value_of(e, t);
}

static bool is_deep(Reader *r, const Value *v)
{
    const bool deep = !v->literal && v->expr->depth > MOST_EXPR_DEPTH && !ctx_failed(r->cx);
    if (deep)
        lex_error(r->lex, v->at, "one chain has more than %d operators, each on the result of the one before; compute "
                                 "a part in a separate formula", MOST_EXPR_DEPTH);
    return deep;
}

/* Reads binary = unary {operator unary}, by precedence climbing; all operators associate to the left. */
static Value read_binary(Reader *r, int least)
{
    Value left = read_unary(r);
    ExprKind k;
    bool swapped;
    while (!is_deep(r, &left) && !ctx_failed(r->cx) && infix_of(lex_peek(r->lex), &k, &swapped) &&
           expr_info(k)->precedence >= least) {
        Token at = lex_take(r->lex);
        int accesses = r->access_count;
        if (++r->operators > MOST_OPERATORS)
            lex_error(r->lex, at, "the expression has more than %d operators; compute a part in a separate formula",
                      MOST_OPERATORS);
        Value right = read_binary(r, expr_info(k)->precedence + 1);
        /* The right side is evaluated only if the left side requires it. */
        if (k == EXPR_AND || k == EXPR_OR) guard_accesses(r, accesses);
        left = swapped ? value_operate(r, k, right, left, at) : value_operate(r, k, left, right, at);
    }
    return left;
}

Value read_value(Reader *r) { return read_binary(r, 0); }

const Expr *read_extent(Reader *r)
{
    Token at = lex_peek(r->lex);
    const bool outer = r->in_size;
    r->in_size = true;
    const Expr *e = value_as(r, read_binary(r, expr_info(EXPR_LT)->precedence + 1), I32);
    r->in_size = outer;
    if (e->kind != EXPR_POISON && e->type != I32) {
        lex_error(r->lex, at, "a size has type i32, not %s", dtype_info(e->type)->spelling);
        return expr_poison(r->cx);
    }
    if (e->kind == EXPR_POISON || r->as_written) return e;
    e = simplify(r->cx, e, r->bounds);
    if (e->kind == EXPR_INT && e->integer < 0)
        lex_error(r->lex, at, "the size is %lld; use 0 or more", (long long)e->integer);
    return e;
}

bool reader_has_padding(Reader *r)
{
    if (!r->padded_count) return true;
    lex_error(r->lex, r->padded, "this padded read has no value for outside; write ( VALUE : OUTSIDE )");
    return false;
}

const Expr *expression_read(Lexer *l, const Symbol *symbols, DType literal, bool as_written)
{
    Reader r = { .cx = l->cx, .lex = l, .symbols = symbols, .literal = literal, .as_written = as_written };
    const Expr *e = value_alone(&r, read_value(&r));
    return reader_has_padding(&r) && !ctx_failed(l->cx) ? e : expr_poison(l->cx);
}

const Expr *expr_read(Ctx *cx, const char *text, const Bind *binds, DType literal)
{
    if (ctx_failed(cx)) return expr_poison(cx);
    const ArenaMark mark = arena_mark(cx->scratch);
    Lexer l = lex_text(cx, text, "expression");
    const Expr *e = expression_read(&l, symbols_of_binds(cx, binds), literal, true);
    const bool ok = lex_finish(&l) && !ctx_failed(cx);
    arena_reset(cx->scratch, mark);
    return ok ? e : expr_poison(cx);
}
