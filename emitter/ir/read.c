/* SPDX-License-Identifier: MIT */
/* Reads expressions (formula.h has the grammar). A literal has no type of its own: it is kept as its token until the
 * other operand tells one, so that nothing is rounded twice. A padded read x[i]? leaves the conditions under which it
 * is inside, those only that the axes' ranges do not prove; the ( value : outside ) around it turns them into a select. */
#include "ir/read.h"

#include <string.h>

#include "support/names.h"

static Value read_binary(Reader *r, int least);

/* What follows walks expressions by recursion: a hostile text must not make them endlessly deep. */
enum { MOST_NESTED = 200, MOST_OPERATORS = 4000 };

/* ---- Names ------------------------------------------------------------------------------------------------------ */

const Known *known_add(Ctx *cx, const Known *outer, const char *known_name, const Tensor *tensor, const Expr *value)
{
    Known *s = NEW(cx->arena, Known);
    *s = (Known){ outer, name(cx, known_name), tensor, value, false };
    return s;
}

const Known *known_of_binds(Ctx *cx, const Bind *binds)
{
    const Known *s = NULL;
    for (; binds && binds->name; binds++) {
        bool is_nothing = !binds->tensor && !binds->value;
        s = known_add(cx, s, binds->name, binds->tensor, is_nothing ? expr_poison(cx) : binds->value);
    }
    return s;
}

static bool is_named(const Known *s, Token t)
{
    return strlen(s->name) == (size_t)t.length && memcmp(s->name, t.at, (size_t)t.length) == 0;
}

const Known *known_tensor(const Known *s, Token t)
{
    while (s && !(s->tensor && is_named(s, t))) s = s->outer;
    return s;
}

const Known *known_value(const Known *s, Token t)
{
    while (s && !(!s->tensor && is_named(s, t))) s = s->outer;
    return s;
}

void unknown_name(const Lexer *l, const Known *s, Token at, bool wants_tensor)
{
    int count = 0, n = 0;
    for (const Known *i = s; i; i = i->outer) count++;
    const char **words = NEW_ARRAY(l->cx->arena, const char *, count);
    for (const Known *i = s; i; i = i->outer)
        if (!wants_tensor || i->tensor) words[n++] = i->name;
    const char *word = name_n(l->cx, at.at, (size_t)at.length), *near = text_nearest(l->cx, word, words, (size_t)n);
    const char *sort = wants_tensor ? "no tensor" : "not known";
    if (near && at.length > 1) lex_error(l, at, "'%s' is %s here; did you mean '%s'?", word, sort, near);
    else lex_error(l, at, "'%s' is %s here", word, sort);
}

/* ---- Literals --------------------------------------------------------------------------------------------------- */

static Value poison(Reader *r, Token at) { return (Value){ .expr = expr_poison(r->cx), .at = at }; }
static Value typed(const Expr *e, Token at) { return (Value){ .expr = e, .at = at }; }

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
    if (t != BOOL && fits && magnitude <= most) return expr_int(r->cx, t, (int64_t)(v.negative ? 0 - magnitude : magnitude));
    if (t == BOOL) lex_error(r->lex, v.at, "%s is no bool: true or false is expected", literal_text(r, v));
    else lex_error(r->lex, v.at, "%s does not fit in %s", literal_text(r, v), info->spelling);
    return expr_poison(r->cx);
}

static const Expr *real_as(Reader *r, Value v, DType t)
{
    if (!dtype_is_float(t)) {
        lex_error(r->lex, v.at, "%s is no %s: cast one of the two", literal_text(r, v), dtype_info(t)->spelling);
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
    if (t.kind == TOKEN_REAL && t.length > 100) {
        lex_error(r->lex, t, "this number has too many digits");
        return poison(r, t);
    }
    return (Value){ .literal = t.kind == TOKEN_REAL ? REAL_LITERAL : INTEGER_LITERAL, .at = t };
}

/* Gives the values that must agree one type: that of the first which has one. */
static void agree(Reader *r, const Value *v, int count, bool wants_float, const Expr **out)
{
    bool has_real = wants_float, found = false;
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

/* Legal as they are, for the table says what they give; but whoever writes them means something else. */
static bool is_senseless(Reader *r, ExprKind k, const Expr *b, Token at)
{
    if (r->as_written || b->kind != EXPR_INT) return false;
    int bits = 8 * dtype_info(b->type)->bytes;
    bool divides = k == EXPR_DIV || k == EXPR_FLOORDIV || k == EXPR_FLOORMOD || k == EXPR_TDIV || k == EXPR_TMOD;
    if (divides && b->integer == 0) lex_error(r->lex, at, "division by zero");
    else if ((k == EXPR_SHL || k == EXPR_SHR) && (b->integer < 0 || b->integer >= bits))
        lex_error(r->lex, at, "a shift of %s by %lld: 0 to %d is expected", dtype_info(b->type)->spelling,
                  (long long)b->integer, bits - 1);
    else return false;
    return true;
}

static Value operate(Reader *r, ExprKind k, Value a, Value b, Token at)
{
    const Value both[] = { a, b };
    const Expr *e[2];
    agree(r, both, 2, (expr_info(k)->algebra & ALGEBRA_FLOATS) && k != EXPR_DIV, e);
    if (e[1]->kind != EXPR_POISON && is_senseless(r, k, e[1], b.at)) return poison(r, at);
    DiagMark mark = diag_mark(r->cx);
    const Expr *result = expr_binary(r->cx, k, e[0], e[1]);
    lex_relocate(r->lex, mark, at);
    return typed(result, at);
}

/* > and >= are < and <= with the sides exchanged. */
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

/* ---- Calls ------------------------------------------------------------------------------------------------------ */

static bool of_kind(Reader *r, Token at, const char *what, int wanted, int found)
{
    if (wanted == found) return true;
    lex_error(r->lex, at, "%s takes %d value%s, not %d", what, wanted, wanted == 1 ? "" : "s", found);
    return false;
}

enum { MAX_ARGS = 4 };

/* args = '(' [expr {',' expr}] ')'      keeps the first MAX_ARGS and counts all */
static int read_args(Reader *r, Value *args)
{
    int n = 0;
    lex_expect(r->lex, "(", "here");
    if (lex_accept(r->lex, ")")) return 0;
    do {
        Value v = read_binary(r, 0);
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
        agree(r, args + 1, 2, false, e + 1);
        return expr_select(r->cx, e[0], e[1], e[2]);
    }
    agree(r, args, count, expr_info(k)->algebra & ALGEBRA_FLOATS, e);
    if (count == 1) return expr_unary(r->cx, k, e[0]);
    if (count == 2) return is_senseless(r, k, e[1], args[1].at) ? expr_poison(r->cx) : expr_binary(r->cx, k, e[0], e[1]);
    if (e[0]->type != e[1]->type || e[0]->type != e[2]->type)
        lex_error(r->lex, at, "the operands of '%s' have the types %s, %s and %s", expr_info(k)->spelling,
                  dtype_info(e[0]->type)->spelling, dtype_info(e[1]->type)->spelling, dtype_info(e[2]->type)->spelling);
    return expr_fma(r->cx, e[0], e[1], e[2]);
}

static Value read_kind(Reader *r, ExprKind k, Token at)
{
    Value args[MAX_ARGS];
    int accesses = r->access_count, count = read_args(r, args);
    if (k == EXPR_SELECT) r->access_count = accesses;      /* its sides are read only where the condition says so */
    if (ctx_failed(r->cx) || !of_kind(r, at, expr_info(k)->spelling, expr_info(k)->arity, count)) return poison(r, at);
    DiagMark mark = diag_mark(r->cx);
    const Expr *e = apply_kind(r, k, args, count, at);
    lex_relocate(r->lex, mark, at);
    return typed(e, at);
}

static Value read_cast(Reader *r, DType t, Token at)
{
    Value v[MAX_ARGS];
    int count = read_args(r, v);
    if (ctx_failed(r->cx) || !of_kind(r, at, dtype_info(t)->spelling, 1, count)) return poison(r, at);
    bool direct = dtype_is_float(t) || (v[0].literal == INTEGER_LITERAL && t != BOOL);
    return typed(expr_cast(r->cx, t, direct ? value_as(r, v[0], t) : value_alone(r, v[0])), at);
}

static Value read_bits(Reader *r, DType t, Token at)
{
    Value v[MAX_ARGS];
    int count = read_args(r, v);
    if (ctx_failed(r->cx) || !of_kind(r, at, "a cast of bits", 1, count)) return poison(r, at);
    const Expr *e = value_alone(r, v[0]);
    if (dtype_info(e->type)->bytes != dtype_info(t)->bytes || e->type == BOOL || t == BOOL) {
        lex_error(r->lex, at, "%s and %s have no bits in common", dtype_info(e->type)->spelling, dtype_info(t)->spelling);
        return poison(r, at);
    }
    return typed(e->type == t ? e : expr_new(r->cx, EXPR_BITCAST, t, NULL, &e, 1), at);
}

/* ceildiv(a, b): a / b rounded up, for a, b > 0.   clamp(x, low, high).   dim(x, 1): the size of a tensor's dimension. */
static Value read_ceildiv(Reader *r, Token at)
{
    Value v[MAX_ARGS];
    const Expr *e[2];
    int count = read_args(r, v);
    if (ctx_failed(r->cx) || !of_kind(r, at, "ceildiv", 2, count)) return poison(r, at);
    agree(r, v, 2, false, e);
    Value less = operate(r, EXPR_SUB, typed(e[1], at), typed(expr_int(r->cx, e[1]->type, 1), at), at);
    return operate(r, EXPR_FLOORDIV, operate(r, EXPR_ADD, typed(e[0], at), less, at), typed(e[1], v[1].at), at);
}

static Value read_clamp(Reader *r, Token at)
{
    Value v[MAX_ARGS];
    int count = read_args(r, v);
    if (ctx_failed(r->cx) || !of_kind(r, at, "clamp", 3, count)) return poison(r, at);
    return operate(r, EXPR_MIN, operate(r, EXPR_MAX, v[0], v[1], at), v[2], at);
}

static Value read_dim(Reader *r, Token at)
{
    int64_t d = 0;
    lex_expect(r->lex, "(", "after dim");
    Token t = lex_take(r->lex);
    const Known *s = known_tensor(r->known, t);
    if (!s) unknown_name(r->lex, r->known, t, true);
    lex_expect(r->lex, ",", "after the tensor");
    Token which = lex_peek(r->lex);
    lex_integer(r->lex, &d);
    lex_expect(r->lex, ")", "after the dimension");
    if (ctx_failed(r->cx)) return poison(r, at);
    if (d < 0 || d >= s->tensor->rank) {
        lex_error(r->lex, which, "'%s' has %d dimensions, counted from 0", s->name, s->tensor->rank);
        return poison(r, at);
    }
    return typed(s->tensor->shape[d], at);
}

/* ---- Reads ------------------------------------------------------------------------------------------------------ */

static const char *tensor_text(Ctx *cx, const Tensor *t)
{
    return text_format(cx, "%s%s", dtype_info(t->type)->spelling, t->rank ? tensor_shape_text(cx, t) : "");
}

static void add_condition(Reader *r, const Expr *e)
{
    if (e->kind == EXPR_POISON || expr_is_int(e, 1) || provably(r->cx, e, r->bounds)) return;
    if (r->condition_count == r->condition_room) {
        const Expr **more = NEW_ARRAY(r->cx->arena, const Expr *, r->condition_room = 2 * r->condition_room + 8);
        if (r->condition_count) memcpy(more, r->condition, (size_t)r->condition_count * sizeof *more);
        r->condition = more;
    }
    r->condition[r->condition_count++] = e;
}

static void add_access(Reader *r, Access a)
{
    if (r->access_count == r->access_room) {
        Access *more = NEW_ARRAY(r->cx->arena, Access, r->access_room = 2 * r->access_room + 8);
        if (r->access_count) memcpy(more, r->access, (size_t)r->access_count * sizeof *more);
        r->access = more;
    }
    r->access[r->access_count++] = a;
}

static void add_bounds(Reader *r, const Tensor *t, const Expr *const *index, const Token *at, bool is_padded)
{
    for (int d = 0; d < t->rank; d++) {
        if (!is_padded) add_access(r, (Access){ t, d, index[d], at[d] });
        else {
            add_condition(r, expr_binary(r->cx, EXPR_LE, expr_int(r->cx, I32, 0), index[d]));
            add_condition(r, expr_binary(r->cx, EXPR_LT, index[d], t->shape[d]));
        }
    }
}

static const Expr *read_index(Reader *r, const Known *s, int place)
{
    Value v = read_binary(r, 0);
    const Expr *e = value_as(r, v, I32);
    if (e->type != I32 && e->kind != EXPR_POISON) {
        lex_error(r->lex, v.at, "index %d of '%s' has type %s: i32 is expected", place, s->name, dtype_info(e->type)->spelling);
        return expr_poison(r->cx);
    }
    bool stays = r->as_written || e->kind == EXPR_POISON || e->kind == EXPR_VAR;    /* n stays n, though it be 0 */
    return stays ? e : simplify(r->cx, e, r->bounds);
}

/* Dimensions are aligned to the right; one of 1 is read at 0 whatever the output's is. */
static Value read_star(Reader *r, const Known *s, Token at)
{
    const Tensor *t = s->tensor;
    const Expr *index[MAX_RANK];
    if (!r->star) {
        lex_error(r->lex, at, "'%s[*]' wants an output '[*]' too", s->name);
        return poison(r, at);
    }
    for (int d = 0; d < t->rank; d++) {
        int o = r->star->rank - t->rank + d;
        bool stays = expr_is_int(t->shape[d], 1) && t->shape[d] != r->star->shape[o];
        index[d] = stays ? expr_int(r->cx, I32, 0) : r->star_axis[o];
    }
    return typed(tensor_read(r->cx, t, index, t->rank), at);
}

/* read = name '[' (index {',' index} | '*') ']' ['?'] */
static Value read_element(Reader *r, Token at)
{
    const Known *s = known_tensor(r->known, at);
    if (!s) {
        const Known *v = known_value(r->known, at);
        if (v && v->value->kind == EXPR_POISON) lex_error(r->lex, at, "'%s' is bound to nothing", v->name);
        else if (v) lex_error(r->lex, at, "'%s' is a number, not a tensor: it takes no index", v->name);
        else unknown_name(r->lex, r->known, at, true);
        return poison(r, at);
    }
    lex_take(r->lex);
    if (lex_is(r->lex, "*") && token_is(lex_ahead(r->lex, 1), "]")) {
        lex_take(r->lex);
        lex_take(r->lex);
        return read_star(r, s, at);
    }
    const Expr *index[MAX_RANK];
    Token where[MAX_RANK];
    int n = 0;
    while (!lex_is(r->lex, "]") && !ctx_failed(r->cx)) {
        if (n && !lex_expect(r->lex, ",", "between indices")) break;
        Token begin = lex_peek(r->lex);
        const Expr *e = read_index(r, s, n);
        if (n < MAX_RANK) where[n] = begin, index[n] = e;
        n++;
    }
    lex_expect(r->lex, "]", "after the indices");
    if (ctx_failed(r->cx)) return poison(r, at);
    if (n != s->tensor->rank) {
        lex_error(r->lex, at, "'%s' is %s, of rank %d, but is read with %d ind%s", s->name, tensor_text(r->cx, s->tensor),
                  s->tensor->rank, n, n == 1 ? "ex" : "ices");
        return poison(r, at);
    }
    bool is_padded = lex_is(r->lex, "?");
    if (is_padded) {
        r->padded = lex_take(r->lex);
        r->padded_count++;
    }
    add_bounds(r, s->tensor, index, where, is_padded);
    return typed(tensor_read(r->cx, s->tensor, index, n), at);
}

/* ---- Expressions ------------------------------------------------------------------------------------------------ */

/* '(' expr [':' expr] ')'      with the second: the conditions of the padded reads inside choose */
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
    if (inside) r->access_count = accesses;
    Value both[] = { body, read_binary(r, 0) };
    lex_expect(r->lex, ")", "after the value outside");
    if (!has_padding) lex_error(r->lex, colon, "no read before this ':' is marked as padded with '?'");
    const Expr *e[2];
    if (ctx_failed(r->cx)) return poison(r, open);
    agree(r, both, 2, false, e);
    if (e[0]->type != e[1]->type)
        lex_error(r->lex, both[1].at, "the value outside has type %s, the one inside %s", dtype_info(e[1]->type)->spelling,
                  dtype_info(e[0]->type)->spelling);
    if (ctx_failed(r->cx)) return poison(r, open);
    return typed(inside ? expr_select(r->cx, inside, e[0], e[1]) : e[0], open);
}

static Value read_call(Reader *r, Token at)
{
    ExprKind k;
    DType t;
    size_t n = (size_t)at.length;
    Reducer reducer;
    if (dtype_read(at.at, n, &t)) return read_cast(r, t, at);
    if (n > 5 && memcmp(at.at, "bits_", 5) == 0 && dtype_read(at.at + 5, n - 5, &t)) return read_bits(r, t, at);
    if (expr_kind_read(at.at, n, &k)) return read_kind(r, k, at);
    if (token_is(at, "ceildiv")) return read_ceildiv(r, at);
    if (token_is(at, "clamp")) return read_clamp(r, at);
    if (token_is(at, "dim")) return read_dim(r, at);
    if (read_reducer(at, &reducer))
        lex_error(r->lex, at, "a reduction stands outermost: make another tensor for the rest");
    else {
        const char *words[EXPR_KIND_COUNT];
        size_t count = 0;
        for (int i = 0; i < EXPR_KIND_COUNT; i++)
            if (expr_info((ExprKind)i)->form == EXPR_CALL) words[count++] = expr_info((ExprKind)i)->spelling;
        const char *near = text_nearest(r->cx, name_n(r->cx, at.at, n), words, count);
        lex_error(r->lex, at, "there is no function '%.*s'%s%s%s", at.length, at.at, near ? "; did you mean '" : "", near ? near : "",
                  near ? "'?" : "");
    }
    return poison(r, at);
}

static Value read_word(Reader *r, Token at)
{
    const Known *s = known_value(r->known, at);
    if (s && s->value->kind == EXPR_POISON) lex_error(r->lex, at, "'%s' is bound to nothing", s->name);
    if (s) return typed(s->value, at);
    s = known_tensor(r->known, at);
    if (s && s->tensor->rank == 0) return typed(tensor_read(r->cx, s->tensor, NULL, 0), at);
    if (token_is(at, "inf") || token_is(at, "nan")) return (Value){ .literal = REAL_LITERAL, .at = at };
    if (token_is(at, "true") || token_is(at, "false")) return typed(expr_int(r->cx, BOOL, at.length == 4), at);
    if (s) lex_error(r->lex, at, "'%s' is a tensor %s: it wants %d ind%s", s->name, tensor_text(r->cx, s->tensor),
                     s->tensor->rank, s->tensor->rank == 1 ? "ex" : "ices");
    else unknown_name(r->lex, r->known, at, false);
    return poison(r, at);
}

/* primary = number | name | call | read | '(' ... ')' */
static Value read_primary(Reader *r)
{
    Token t = lex_peek(r->lex);
    if (t.kind == TOKEN_INTEGER || t.kind == TOKEN_REAL) return number(r);
    if (token_is(t, "(")) return read_parenthesis(r);
    if (t.kind != TOKEN_NAME) {
        lex_error(r->lex, t, "a value is expected, not %s", token_text(r->cx, t));
        return poison(r, t);
    }
    if (at_reduction(r)) {
        lex_error(r->lex, t, "a reduction stands outermost: make another tensor for the rest");
        return poison(r, t);
    }
    lex_take(r->lex);
    if (lex_is(r->lex, "(")) return read_call(r, t);
    return lex_is(r->lex, "[") ? read_element(r, t) : read_word(r, t);
}

/* unary = ('-' | '!' | '~') unary | primary      a minus before a literal belongs to it */
static Value read_unary(Reader *r)
{
    ExprKind k;
    Token t = lex_peek(r->lex);
    if (r->depth == MOST_NESTED) {
        lex_error(r->lex, t, "this is nested more than %d deep", MOST_NESTED);
        return poison(r, t);
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
    return typed(e, t);
}

/* binary = unary {operator unary}      by precedence climbing, all operators associate to the left */
static Value read_binary(Reader *r, int least)
{
    Value left = read_unary(r);
    ExprKind k;
    bool swapped;
    while (!ctx_failed(r->cx) && infix_of(lex_peek(r->lex), &k, &swapped) && expr_info(k)->precedence >= least) {
        Token at = lex_take(r->lex);
        int accesses = r->access_count;
        if (++r->operators > MOST_OPERATORS) lex_error(r->lex, at, "more than %d operators in one expression", MOST_OPERATORS);
        Value right = read_binary(r, expr_info(k)->precedence + 1);
        if (k == EXPR_AND || k == EXPR_OR) r->access_count = accesses;     /* read only where the left side says so */
        left = swapped ? operate(r, k, right, left, at) : operate(r, k, left, right, at);
    }
    return left;
}

Value read_value(Reader *r) { return read_binary(r, 0); }

const Expr *read_extent(Reader *r)
{
    Token at = lex_peek(r->lex);
    const Expr *e = value_as(r, read_binary(r, expr_info(EXPR_LT)->precedence + 1), I32);
    if (e->kind != EXPR_POISON && e->type != I32) {
        lex_error(r->lex, at, "a size has type i32, not %s", dtype_info(e->type)->spelling);
        return expr_poison(r->cx);
    }
    if (e->kind == EXPR_POISON || r->as_written) return e;
    e = simplify(r->cx, e, r->bounds);
    if (e->kind == EXPR_INT && e->integer < 0) lex_error(r->lex, at, "the size is %lld", (long long)e->integer);
    return e;
}

bool reader_has_padding(Reader *r)
{
    if (!r->padded_count) return true;
    lex_error(r->lex, r->padded, "a padded read stands in ( value : value outside )");
    return false;
}

const Expr *expression_read(Lexer *l, const Known *known, DType literal, bool as_written)
{
    Reader r = { .cx = l->cx, .lex = l, .known = known, .literal = literal, .as_written = as_written };
    const Expr *e = value_alone(&r, read_value(&r));
    return reader_has_padding(&r) && !ctx_failed(l->cx) ? e : expr_poison(l->cx);
}

const Expr *expr_read(Ctx *cx, const char *text, const Bind *binds, DType literal)
{
    if (ctx_failed(cx)) return expr_poison(cx);
    Lexer l = lex_text(cx, text, "expression");
    const Expr *e = expression_read(&l, known_of_binds(cx, binds), literal, true);
    return lex_finish(&l) && !ctx_failed(cx) ? e : expr_poison(cx);
}
