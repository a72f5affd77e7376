/* SPDX-License-Identifier: MIT */
/* Reads a formula (formula.h has the grammar) and creates its compute node. Omitted extents of axes are inferred from
 * the tokens before the body is read, so every read has the ranges of its indices. */
#include "ir/text/read.h"

#include <string.h>

#include "ir/algebra/algebra.h"
#include "ir/nest/recurrence.h"
#include "support/names.h"

typedef struct Formula {
    Reader r;
    StageSpec spec;
    int body;                        /* the first token after the '=' */
    /* The extent of the axis that is being read, over other axes or data; NULL for a fixed size. */
    const Expr *inner_extent;
    const ReducerText *own;          /* the declared reducer, or NULL */
    bool has_first;                  /* true if the reduction has first values */
    const Expr *within;              /* the condition of the points of the reduce axes that count; NULL if all count */
    int name_count;
    const char *name[MAX_COMPONENTS];
    Tensor star;                     /* the tensor of [*]; only rank and shape are used */
    const Expr *star_axis[MAX_RANK];
} Formula;

/* ---- Axes ------------------------------------------------------------------------------------------------------- */

static void add_axis(Formula *f, Token at, AxisKind kind, const Expr *extent)
{
    Ctx *cx = f->r.cx;
    const Symbol *s = symbol_value(f->r.symbols, at);
    const char *axis_name = name_n(cx, at.at, (size_t)at.length);
    if (s && s->is_axis) lex_error(f->r.lex, at, "'%s' is already an axis", axis_name);
    else if (s && !s->yields)
        lex_error(f->r.lex, at, "'%s' is already a number here; use a different name for the axis", axis_name);
    if (f->spec.axis_count == MAX_AXES || (kind != AXIS_REDUCE && f->spec.axis_count == MAX_RANK))
        lex_error(f->r.lex, at, "there are too many axes; use at most %d dimensions for a tensor and %d axes for a "
                                "formula", MAX_RANK,
                  MAX_AXES);
    if (!extent || ctx_failed(cx)) return;
    const Expr *var = axis_var(cx, axis_name, extent);
    f->spec.axis[f->spec.axis_count++] = (Axis){ var, kind, extent };
    Symbol *k = NEW(cx->arena, Symbol);
    *k = (Symbol){ .outer = f->r.symbols, .name = axis_name, .value = var, .is_axis = true };
    Bounds *b = NEW(cx->arena, Bounds);
    *b = (Bounds){ .outer = f->r.bounds, .var = var, .extent = extent };
    f->r.symbols = k;
    f->r.bounds = b;
}

static int body_of(const Lexer *l)
{
    int i = l->next;
    while (i < l->count && !token_is(l->token[i], "=")) i++;
    return i + 1;
}

/* Returns the index of the token that closes the bracket at `open`. */
static int closing(const Lexer *l, int open)
{
    int depth = 0;
    for (int i = open; i < l->count; i++) {
        Token t = l->token[i];
        if (token_is(t, "[") || token_is(t, "(") || token_is(t, "{")) depth++;
        if ((token_is(t, "]") || token_is(t, ")") || token_is(t, "}")) && --depth == 0) return i;
    }
    return l->count;
}

/* An axis as the whole index of a dimension of a read. A weak use determines the size only if there is no other use.
 * Weak uses are a padded read, and a read with a wrong number of indices, which is reported later. */
typedef struct Use { const Symbol *read; int dim; bool is_weak; Token at; } Use;

/* Finds the use of the axis in the read with '[' at `open`. */
static bool find_use(const Formula *f, int open, Token axis, Use *out)
{
    const Lexer *l = f->r.lex;
    int close = closing(l, open), dim = 0;
    bool found = false;
    *out = (Use){ .read = symbol_tensor(f->r.symbols, l->token[open - 1]) };
    for (int i = open + 1; i < close; i++) {
        Token t = l->token[i], before = l->token[i - 1], after = l->token[i + 1];
        if (token_is(t, "(") || token_is(t, "[")) i = closing(l, i);
        else if (token_is(t, ",")) dim++;
        else if (!found && token_same(t, axis) && (i == open + 1 || token_is(before, ","))
                 && (token_is(after, ",") || i + 1 == close)) {
            out->dim = dim;
            out->at = t;
            found = true;
        }
    }
    if (!found || !out->read || out->dim >= out->read->tensor->rank) return false;
    out->is_weak = dim + 1 != out->read->tensor->rank || (close < l->count && token_is(l->token[close + 1], "?"));
    return true;
}

/* Reports an axis without a size. Often the tensor that determines it is misspelt. */
static void unknown_size(const Formula *f, Token axis)
{
    const Lexer *l = f->r.lex;
    for (int i = f->body + 1; i < l->count; i++) {
        Token t = l->token[i - 1];
        if (token_is(l->token[i], "[") && t.kind == TOKEN_NAME && !symbol_tensor(f->r.symbols, t))
            unknown_name(l, f->r.symbols, t, true);
    }
    lex_error(l, axis,
              "the size of axis '%.*s' is not known: it is not the whole index of any dimension; write %.*s<size",
              axis.length, axis.at, axis.length, axis.at);
}

/* Returns the extent by the first use. A later use with a different constant is an error. */
static const Expr *inferred_extent(Formula *f, Token axis)
{
    Lexer *l = f->r.lex;
    Use first = { .read = NULL }, use;
    bool found = false;
    for (int i = f->body; i < l->count; i++) {
        if (!token_is(l->token[i], "[") || l->token[i - 1].kind != TOKEN_NAME || !find_use(f, i, axis, &use)) continue;
        if (!found || (first.is_weak && !use.is_weak)) first = use;
        found = true;
        const Expr *a = first.read->tensor->shape[first.dim], *b = use.read->tensor->shape[use.dim];
        if (first.is_weak || use.is_weak || a == b || a->kind != EXPR_INT || b->kind != EXPR_INT) continue;
        lex_error(l, use.at, "axis '%.*s' is %lld as dimension %d of '%s' but %lld as dimension %d of '%s'",
                  axis.length, axis.at, (long long)a->integer, first.dim, first.read->name, (long long)b->integer,
                  use.dim, use.read->name);
    }
    if (found) return first.read->tensor->shape[first.dim];
    unknown_size(f, axis);
    return NULL;
}

static void find_read(const Expr *e, void *user)
{
    const Tensor **found = user;
    if (e->kind == EXPR_READ) *found = e->ref;
}

/* Returns the axis or tensor that the size depends on, as text, or NULL. */
static const char *size_source(Formula *f, const Expr *extent)
{
    const Tensor *read = NULL;
    if (extent) expr_walk(f->r.cx, extent, find_read, &read);
    const char *source = read ? text_format(f->r.cx, "tensor '%s'", read->name) : NULL;
    for (int a = 0; extent && a < f->spec.axis_count; a++)
        if (expr_uses(extent, f->spec.axis[a].var))
            source = text_format(f->r.cx, "axis '%s'", expr_as_var(f->spec.axis[a].var)->name);
    return source;
}

/* Returns the maximum of a size over all axes, or NULL if the size is not bounded. */
static const Expr *most_of(Formula *f, const Expr *extent)
{
    Ctx *cx = f->r.cx;
    const Expr *axis[MAX_AXES];
    const char *why;
    Reach r;
    for (int a = 0; a < f->spec.axis_count; a++) axis[a] = f->spec.axis[a].var;
    const Tensor *read = NULL;
    expr_walk(cx, extent, find_read, &read);
    const Interval range = interval_of(cx, extent, f->r.bounds);
    if (!read && reach(cx, extent, f->r.bounds, axis, f->spec.axis_count, &r, &why)
        && interval_of(cx, r.high, NULL).greatest < INT32_MAX)
        return simplify(cx, expr_binary(cx, EXPR_MAX, r.high, expr_index(cx, 0)), NULL);
    return range.greatest < INT32_MAX ? expr_index(cx, range.greatest > 0 ? range.greatest : 0) : NULL;
}

/* Returns the extent of an axis. A domain is a box, and a tensor's dimension has one size. So only the size of a
 * reduced axis may depend on other axes or on data: the axis then has the greatest size, and values beyond the actual
 * size are neutral. Refuses any other axis with such a size. */
static const Expr *check_extent(Formula *f, Token axis, AxisKind kind, const Expr *extent, int first)
{
    const Token *begin = &f->r.lex->token[first], *last = &f->r.lex->token[f->r.lex->next - 1];
    const char *source = size_source(f, extent);
    const int length = (int)(last->at + last->length - begin->at);
    if (!source || ctx_failed(f->r.cx)) return extent;
    if (kind != AXIS_REDUCE) {
        lex_error(f->r.lex, axis, "the size of axis '%.*s' uses %s; write its greatest size here, and "
                  "select(%.*s < %.*s, VALUE, 0) as the value", axis.length, axis.at, source, axis.length, axis.at,
                  length, begin->at);
        return NULL;
    }
    const Expr *most = most_of(f, extent);
    if (!most)
        lex_error(f->r.lex, axis, "the size of axis '%.*s' uses %s, and has no greatest value; write "
                  "min(%.*s, GREATEST)", axis.length, axis.at, source, length, begin->at);
    f->inner_extent = extent;
    return most;
}

/* Restricts the axis that was added last to its extent, if the extent depends on other axes or on data. */
static void end_axis(Formula *f)
{
    Ctx *cx = f->r.cx;
    const Expr *extent = f->inner_extent;
    f->inner_extent = NULL;
    if (!extent || ctx_failed(cx)) return;
    const Expr *inside = expr_binary(cx, EXPR_LT, f->spec.axis[f->spec.axis_count - 1].var, extent);
    f->within = f->within ? expr_and(cx, f->within, inside) : inside;
    f->r.bounds = bounds_fact(cx, f->r.bounds, inside);
}

/* Refuses h[x[i]] = and h[i + 1] =, because an output is computed at each of its elements. */
static bool is_axis_alone(Formula *f, Token axis)
{
    Lexer *l = f->r.lex;
    Token next = lex_peek(l);
    if (token_is(next, "<") || token_is(next, ",") || token_is(next, "]") || token_is(next, "ordered")
        || token_is(next, "scattered"))
        return true;
    lex_error(l, axis, "an output has an axis for each dimension and not an index, because each of its elements is "
                       "computed; use `update NAME[INDEX] += VALUE` of a tensor that has values");
    return false;
}

/* axis = name ['<' size] ['ordered' | 'scattered']
 *
 * An update of elements that data choose is printed with a scattered axis: its loops visit the values. */
static void read_axis(Formula *f, AxisKind kind)
{
    Lexer *l = f->r.lex;
    Token at = lex_peek(l);
    if (!lex_name(l, "an axis") || (kind == AXIS_DATA && !is_axis_alone(f, at))) return;
    const int first = l->next + 1;
    const Expr *extent = lex_accept(l, "<") ? read_extent(&f->r) : inferred_extent(f, at);
    extent = check_extent(f, at, kind, extent, first);
    if (lex_accept(l, "ordered")) kind = AXIS_ORDERED;
    if (kind == AXIS_DATA && lex_accept(l, "scattered")) f->spec.scatters = true;
    add_axis(f, at, kind, extent);
    end_axis(f);
}

static void read_axes(Formula *f, AxisKind kind)
{
    do read_axis(f, kind);
    while (lex_accept(f->r.lex, ",") && !ctx_failed(f->r.cx));
}

/* ---- Broadcasting ----------------------------------------------------------------------------------------------- */

/* Broadcasts by NumPy's rule, from the right: equal sizes are kept, and a size of 1 broadcasts. Symbolic sizes are
 * equal only if identical. */
static bool broadcast(Tensor *into, const Tensor *t)
{
    const Expr *shape[MAX_RANK];
    int rank = into->rank > t->rank ? into->rank : t->rank;
    for (int d = 0; d < rank; d++) {
        int da = into->rank - rank + d, db = t->rank - rank + d;
        const Expr *a = da < 0 ? NULL : into->shape[da], *b = db < 0 ? NULL : t->shape[db];
        if (!a || !b) shape[d] = a ? a : b;
        else if (a == b || expr_is_int(b, 1)) shape[d] = a;
        else if (expr_is_int(a, 1)) shape[d] = b;
        else return false;
    }
    into->rank = rank;
    memcpy(into->shape, shape, sizeof into->shape[0] * (size_t)rank);
    return true;
}

static void broadcast_shape(Formula *f)
{
    Lexer *l = f->r.lex;
    bool found = false;
    for (int i = f->body; i + 2 < l->count; i++) {
        if (!token_is(l->token[i], "[") || !token_is(l->token[i + 1], "*") || !token_is(l->token[i + 2], "]")) continue;
        const Symbol *read = symbol_tensor(f->r.symbols, l->token[i - 1]);
        if (!read) continue;
        found = true;
        Tensor before = f->star;
        if (!broadcast(&f->star, read->tensor))
            lex_error(l, l->token[i - 1],
                      "the shape %s of '%s' does not broadcast with %s; use equal sizes, or 1",
                      tensor_shape_text(f->r.cx, read->tensor), read->name, tensor_shape_text(f->r.cx, &before));
    }
    if (!found)
        lex_error(l, lex_peek(l), "no tensor is read with [*], so the shape of the output is unknown; read a tensor "
                  "with [*]");
}

/* Returns the name of axis d of [*]: the customary name for the rank if it is free, otherwise d0, d1, ... */
static Token star_name(Formula *f, int d)
{
    static const char *const customary[MAX_RANK + 1][MAX_RANK] = {
        [1] = { "i" },
        [2] = { "n", "c" },
        [3] = { "n", "w", "c" },
        [4] = { "n", "h", "w", "c" },
        [5] = { "n", "d", "h", "w", "c" },
    };
    const char *s = customary[f->star.rank][d];
    Token t = { TOKEN_NAME, s ? s : "", s ? (int)strlen(s) : 0 };
    for (int suffix = d; !s || symbol_value(f->r.symbols, t); suffix += MAX_RANK) {
        t.at = s = name_format(f->r.cx, "d%d", suffix);
        t.length = (int)strlen(t.at);
    }
    return t;
}

static void add_star_axes(Formula *f)
{
    broadcast_shape(f);
    Token names[MAX_RANK];
    for (int d = 0; d < f->star.rank; d++) names[d] = star_name(f, d);
    for (int d = 0; d < f->star.rank && !ctx_failed(f->r.cx); d++) {
        add_axis(f, names[d], AXIS_DATA, f->star.shape[d]);
        f->star_axis[d] = f->spec.axis[d].var;
    }
    f->r.star = &f->star;
    f->r.star_axis = f->star_axis;
}

/* ---- Reductions ------------------------------------------------------------------------------------------------- */

/* Returns true for a word that may follow the last value of a formula or of a declared reducer. */
static bool ends_values(Token t, Token next)
{
    if (token_is(t, "where")) return next.kind == TOKEN_NAME;
    return (token_is(t, "from") || token_is(t, "associative") || token_is(t, "commutative")) && !token_is(next, "[");
}

static bool begins_value(Token t)
{
    return t.kind == TOKEN_NAME || t.kind == TOKEN_INTEGER || t.kind == TOKEN_REAL || token_is(t, "(")
           || token_is(t, "!") || token_is(t, "~");
}

/* Returns true if a reduction follows, because max and min are also functions. max(i, j) x[i, j] reduces, because a
 * value follows the parenthesis. Before a minus, only unbound names distinguish max(i) -x[i] from max(a, b) - c. */
bool at_reduction(const Reader *r)
{
    const Lexer *l = r->lex;
    Reducer reducer;
    ExprKind k;
    Token t = lex_peek(l), first = lex_ahead(l, 2);
    if (t.kind != TOKEN_NAME || !token_is(lex_ahead(l, 1), "(")) return false;
    if (!reducer_read(t.at, (size_t)t.length, &reducer)) return reducer_text(r, t) != NULL;
    if (!expr_kind_read(t.at, (size_t)t.length, &k)) return true;
    Token behind = lex_ahead(l, 3);
    bool is_list = token_is(behind, ",") || token_is(behind, ")") || token_is(behind, ";") || token_is(behind, "<");
    if (first.kind != TOKEN_NAME || !is_list) return false;
    int close = closing(l, l->next + 1);
    Token after = close < l->count ? l->token[close + 1] : l->token[l->count];
    if (close + 1 < l->count && ends_values(after, l->token[close + 2])) return false;
    bool is_fresh = !symbol_value(r->symbols, first) && !symbol_tensor(r->symbols, first);
    return begins_value(after) || (is_fresh && token_is(after, "-"));
}

/* reduction = reducer '(' axes [';' value {',' value}] ')'. Only the data axes are in scope of the first values. */
static int read_reduction(Formula *f, Value *init)
{
    Lexer *l = f->r.lex;
    int count = 0, body = l->next, data = f->spec.axis_count;
    const Token reducer = lex_take(l);
    if (!reducer_read(reducer.at, (size_t)reducer.length, &f->spec.reducer)) {
        f->spec.reducer = REDUCE_OWN;
        f->own = reducer_text(&f->r, reducer);
    }
    lex_expect(l, "(", "after the reducer");
    const Symbol *outer = f->r.symbols;
    const Bounds *outside = f->r.bounds;
    read_axes(f, AXIS_REDUCE);
    if (lex_accept(l, ";")) {
        f->has_first = true;
        const Symbol *all = f->r.symbols;
        const Bounds *inside = f->r.bounds;
        f->r.symbols = outer;
        f->r.bounds = outside;
        do init[count++] = read_value(&f->r);
        while (count < MAX_COMPONENTS && lex_accept(l, ","));
        f->r.symbols = all;
        f->r.bounds = inside;
    }
    lex_expect(l, ")", "after the reduced axes");
    for (int a = data; a < f->spec.axis_count && !f->r.as_written; a++) {
        const char *axis_name = expr_as_var(f->spec.axis[a].var)->name;
        int names = 0;                        /* its declaration, the size of another axis, the values */
        for (int i = body; i < l->count; i++) names += token_is(l->token[i], axis_name);
        if (names < 2) lex_error(l, l->token[body], "axis '%s' is reduced but not used; use it as an index, or omit it",
                                axis_name);
    }
    return count;
}

const Expr *argument_index(Ctx *cx, const Axis *axis, int axis_count)
{
    const Expr *index = NULL;
    for (int a = 0; a < axis_count; a++) {
        if (axis[a].kind != AXIS_REDUCE) continue;
        index = index ? expr_add(cx, expr_mul(cx, index, axis[a].extent), axis[a].var) : axis[a].var;
    }
    return index;
}

static void check_reduced_type(Formula *f, Token at)
{
    bool is_bool = f->spec.reducer == REDUCE_ALL || f->spec.reducer == REDUCE_ANY;
    if (f->own) return;
    for (int i = reducer_info(f->spec.reducer)->components - 1; f->spec.reducer && i < f->spec.out_count; i++) {
        DType t = f->spec.value[i]->type;
        if (is_bool == (t == BOOL)) continue;
        lex_error(f->r.lex, at, "%s reduces %s, not %s", reducer_info(f->spec.reducer)->spelling,
                  is_bool ? "bool" : "numbers", dtype_info(t)->spelling);
        return;
    }
}

/* ---- The whole -------------------------------------------------------------------------------------------------- */

/* Reads the declared reducer for the formula's values. A `where` ends the formula. */
static void read_own(Formula *f, Token at, int count)
{
    Lexer *l = f->r.lex;
    if (!f->own || ctx_failed(l->cx)) return;
    f->spec.combiner = combiner_read(&f->r, f->own, at, count, f->spec.value);
    if (lex_is(l, "where")) l->next = l->count;
    for (int i = 0; f->spec.combiner && i < count && !f->spec.combiner->identity[0]; i++)
        if (!f->has_first || f->within)
            lex_error(l, at, "%s has no first values; write `from` and its values in the reducer%s", f->own->name,
                      f->within ? ", because the size of a reduced axis varies" : ", or NAME(AXES; FIRST VALUES)");
}

/* Returns the value of component i that does not change any result. */
static const Expr *neutral_value(const Formula *f, int i)
{
    if (f->spec.combiner) return f->spec.combiner->identity[i];
    return reducer_neutral(f->r.cx, f->spec.reducer, f->spec.value[i]->type, i, !f->has_first);
}

/* Returns true if a reduced axis has no index for any index of the other axes. */
static bool has_empty_axis(const Formula *f)
{
    for (int a = 0; a < f->spec.axis_count; a++)
        if (f->spec.axis[a].kind == AXIS_REDUCE && interval_of(f->r.cx, f->spec.axis[a].extent, NULL).greatest < 1)
            return true;
    return false;
}

static void read_values(Formula *f, Token at)
{
    Lexer *l = f->r.lex;
    int count = 0;
    do f->spec.value[count++] = value_alone(&f->r, read_value(&f->r));
    while (count < MAX_COMPONENTS && lex_accept(l, ","));
    read_own(f, at, count);
    if (!lex_finish(l) || ctx_failed(l->cx)) return;
    const int components = f->own ? count : reducer_info(f->spec.reducer)->components;
    int expected = components > 1 ? components : f->name_count;
    if (count == 1 && reducer_selects(f->spec.reducer)) {
        f->spec.value[1] = f->spec.value[0];
        f->spec.value[0] = argument_index(l->cx, f->spec.axis, f->spec.axis_count);
        count = 2;
    }
    f->spec.out_count = count;
    if (count != expected)
        lex_error(l, at, "%d value%s expected, not %d", expected, expected == 1 ? " is" : "s are", count);
    else if (f->name_count > expected)
        lex_error(l, at, "%s has %d results, but %d names are given; use at most %d names",
                  f->own ? f->own->name : reducer_info(f->spec.reducer)->spelling, expected, f->name_count, expected);
    else check_reduced_type(f, at);
    for (int i = 0; f->within && i < count && !ctx_failed(l->cx); i++)
        f->spec.value[i] = expr_select(l->cx, f->within, f->spec.value[i], neutral_value(f, i));
}

static void convert_inits(Formula *f, const Value *init, int count)
{
    if (count && count != f->spec.out_count)
        lex_error(f->r.lex, init[0].at, "%d first value%s expected", f->spec.out_count,
                  f->spec.out_count == 1 ? " is" : "s are");
    for (int i = 0; i < count && !ctx_failed(f->r.cx); i++) {
        DType t = f->spec.value[i]->type;
        f->spec.init[i] = value_as(&f->r, init[i], t);
        if (f->spec.init[i]->type != t)
            lex_error(f->r.lex, init[i].at, "the first value has type %s, the reduced one %s",
                      dtype_info(f->spec.init[i]->type)->spelling, dtype_info(t)->spelling);
    }
}

/* Replaces a reduction without points by its first values, such as the first solution of a triangular system. */
static void drop_empty_reduction(Formula *f)
{
    StageSpec *s = &f->spec;
    if (!has_empty_axis(f) || reducer_selects(s->reducer) || ctx_failed(f->r.cx)) return;
    for (int i = 0; i < s->out_count; i++) {
        s->value[i] = s->init[i] ? s->init[i] : s->combiner ? s->combiner->identity[i]
                    : reducer_identity(f->r.cx, s->reducer, s->value[i]->type, i);
        s->init[i] = NULL;
    }
    s->reducer = REDUCE_NONE;
    s->combiner = NULL;
    while (s->axis_count && s->axis[s->axis_count - 1].kind == AXIS_REDUCE) s->axis_count--;
}

static bool has_points(const Formula *f)
{
    for (int a = 0; a < f->spec.axis_count; a++)
        if (expr_is_int(f->spec.axis[a].extent, 0)) return false;
    return true;
}

/* Computes the exact range of a sum of axes with constant extents. Both ends of the range are reached, because the axes
 * are independent. */
static bool exact_range(const Formula *f, const Expr *e, Interval *out)
{
    Linear sum;
    if (!linear_of(f->r.cx, e, &sum)) return false;
    *out = (Interval){ sum.constant, sum.constant };
    for (int i = 0; i < sum.count; i++) {
        const Axis *axis = NULL;
        for (int a = 0; a < f->spec.axis_count; a++)
            if (f->spec.axis[a].var == sum.term[i]) axis = &f->spec.axis[a];
        if (!axis || axis->extent->kind != EXPR_INT) return false;
        int64_t reach_of = sat_mul(sum.coef[i], axis->extent->integer - 1);
        if (reach_of > 0) out->greatest = sat_add(out->greatest, reach_of);
        else out->least = sat_add(out->least, reach_of);
    }
    return true;
}

/* Refuses reads that certainly leave their tensors. */
static void check_accesses(Formula *f)
{
    if (f->spec.scatters && !f->spec.reducer)
        lex_error(f->r.lex, lex_peek(f->r.lex), "'scattered' needs a reduction, such as sum(i) VALUE; leave it out");
    for (int i = 0; i < f->r.access_count && has_points(f) && !f->within && !ctx_failed(f->r.cx); i++) {
        const Access *a = &f->r.access[i];
        int64_t size = tensor_dim(a->tensor, a->dim);
        Interval range;
        bool is_outside = false;
        if (a->is_guarded) continue;
        if (exact_range(f, a->index, &range)) is_outside = range.least < 0 || (size >= 0 && range.greatest >= size);
        else {
            range = interval_of(f->r.cx, a->index, f->r.bounds);
            is_outside = range.greatest < 0 || (size >= 0 && range.least >= size);
        }
        if (is_outside)
            lex_error(f->r.lex, a->at, "index %d of '%s' runs from %lld to %lld, outside its size %s", a->dim,
                      a->tensor->name, (long long)range.least, (long long)range.greatest,
                      size < 0 ? "" : text_format(f->r.cx, "%lld", (long long)size));
    }
}

static void refuse_access(const Formula *f, const Access *a)
{
    const char *tensor = a->tensor->name;
    if (f->within)
        lex_error(f->r.lex, a->at, "index %d of '%s' is not shown to stay inside; write min(SIZE, dim(%s, %d)) as the "
                  "size of the axis, or clamp the index", a->dim, tensor, tensor, a->dim);
    else
        lex_error(f->r.lex, a->at, "index %d of '%s' is not shown to stay inside; write clamp(INDEX, 0, dim(%s, %d) - "
                  "1), or a condition that keeps it inside", a->dim, tensor, tensor, a->dim);
}

/* Returns the access that is dimension d of the read; NULL for [*] and a padded read, which stay inside. */
static const Access *access_of(const Formula *f, const Expr *read, int d)
{
    for (int i = 0; i < f->r.access_count; i++) {
        const Access *a = &f->r.access[i];
        if (a->tensor == read->ref && a->dim == d && a->index == read->arg[d]) return a;
    }
    return NULL;
}

typedef struct ReadCheck { const Formula *f; const Stage *stage; const Bounds *axes; } ReadCheck;

/* Refuses a read that is not proved to stay inside under the conditions around it, because data could lead it out. An
 * index from data is clamped already. */
static void check_read(Ctx *cx, const Expr *read, const Bounds *scope, void *user)
{
    const ReadCheck *c = user;
    const Tensor *t = read->ref;
    if (ctx_failed(cx) || never_holds(cx, scope, c->axes, c->axes)) return;
    Ranges r = ranges_new(cx, scope);
    const Access *outside = NULL;
    for (int d = 0; d < t->rank && !outside; d++) {
        const Access *a = access_of(c->f, read, d);
        if (a && !expr_reads(cx, read->arg[d]) && !ranges_prove_inside(&r, a->index, t->shape[d])
            && !is_inside_at_points(cx, c->stage, a->index, t->shape[d], scope, c->axes))
            outside = a;
    }
    ranges_free(&r);
    if (outside) refuse_access(c->f, outside);
}

static void check_reads(const Formula *f, const Stage *s)
{
    ReadCheck c = { f, s, stage_scope(f->r.cx, s) };
    if (has_points(f) && !f->r.cx->tries_formula) stage_visit_reads(f->r.cx, s, c.axes, check_read, &c);
}

/* header = name {',' name} ['[' ('*' | axes) ']'] '=' */
static void read_header(Formula *f)
{
    Lexer *l = f->r.lex;
    do f->name[f->name_count++] = lex_name(l, "the name of the output");
    while (f->name_count < MAX_COMPONENTS && lex_accept(l, ","));
    if (lex_accept(l, "[")) {
        if (lex_accept(l, "*")) add_star_axes(f);
        else if (!lex_is(l, "]")) read_axes(f, AXIS_DATA);
        lex_expect(l, "]", "after the axes");
    }
    lex_expect(l, "=", "after the output");
}

/* Returns the tensor, or the tensor promised under its name, which replaces it. */
static Tensor *keep_promise(Lexer *l, const Symbol *symbols, Token at, Tensor *made)
{
    const Token as_token = { TOKEN_NAME, made->name, (int)strlen(made->name) };
    const Symbol *k = symbol_tensor(symbols, as_token);
    if (!k || !k->is_promised || k->tensor->producer) return made;
    Tensor *promised = k->tensor;
    if (promised->type != made->type
        || !text_equal(tensor_shape_text(l->cx, promised), tensor_shape_text(l->cx, made))) {
        lex_error(l, at, "'%s' is promised as %s, and this is %s", k->name, tensor_type_text(l->cx, promised),
                  tensor_type_text(l->cx, made));
        return NULL;
    }
    DiagMark mark = diag_mark(l->cx);
    promise_is_sound(l->cx, promise_keep(l->cx, promised, made));
    lex_relocate(l, mark, at);
    return ctx_failed(l->cx) ? NULL : promised;
}

/* Creates the compute; `begin` is the place of its errors. */
static Node *finish(Formula *f, Token begin, bool as_written)
{
    Lexer *l = f->r.lex;
    if (!reader_has_padding(&f->r) || ctx_failed(l->cx)) return NULL;
    if (!as_written) check_accesses(f);
    DiagMark mark = diag_mark(l->cx);
    drop_empty_reduction(f);
    Node *n = compute_new(l->cx, &f->spec);
    if (n && !as_written) tensor_fits_index(l->cx, n->out[0]);
    lex_relocate(l, mark, begin);
    if (!n) {
        lex_error(l, begin, "this formula has an undefined value");
        return NULL;
    }
    if (!as_written) check_reads(f, n->stage);
    return ctx_failed(l->cx) ? NULL : n;
}

static Tensor *read_into(Formula *f, Lexer *l, const Symbol *symbols, const char *stage_name, bool as_written)
{
    f->r = (Reader){ .cx = l->cx, .lex = l, .symbols = symbols, .literal = I32, .as_written = as_written };
    Value init[MAX_COMPONENTS];
    Token begin = lex_peek(l);
    f->body = body_of(l);
    read_header(f);
    int init_count = !ctx_failed(l->cx) && at_reduction(&f->r) ? read_reduction(f, init) : 0;
    if (!ctx_failed(l->cx)) read_values(f, begin);
    if (!ctx_failed(l->cx)) convert_inits(f, init, init_count);
    f->spec.name = stage_name ? stage_name : f->name[0];
    Node *n = finish(f, begin, as_written);
    if (!n) return NULL;
    for (int i = 0; i < f->name_count; i++) n->out[i]->name = f->name[i];
    return keep_promise(l, symbols, begin, n->out[0]);
}

static Tensor *whole_formula(Lexer *l, const Symbol *symbols, const char *stage_name, bool as_written)
{
    const ArenaMark mark = arena_mark(l->cx->scratch);
    Tensor *t = read_into(NEW(l->cx->scratch, Formula), l, symbols, stage_name, as_written);
    arena_reset(l->cx->scratch, mark);
    return t;
}

/* ---- Updates ---------------------------------------------------------------------------------------------------- */

/* update t[index, ..] OP value is the formula t[b, ..] = reducer(axes; t[b, ..]) select(index == b, value, neutral). */
typedef struct Update {
    Formula f;
    const Symbol *of;
    int rank, index[MAX_RANK + 1];   /* the places of the indices among the tokens, and the end of the last one */
    bool is_axis[MAX_RANK];          /* true if the index is an axis alone */
    const Expr *within;              /* the condition of the elements that are updated, or NULL */
} Update;

static bool is_new_name(const Update *u, int i)
{
    const Lexer *l = u->f.r.lex;
    const Token t = l->token[i], after = l->token[i + 1];
    return t.kind == TOKEN_NAME && !token_is(after, "[") && !token_is(after, "(") && !symbol_value(u->f.r.symbols, t)
           && !symbol_tensor(u->f.r.symbols, t);
}

static bool stands_once(const Update *u, int i, int end)
{
    const Lexer *l = u->f.r.lex;
    int count = 0;
    for (int k = u->index[0]; k < end; k++) count += token_same(l->token[k], l->token[i]);
    return count == 1;
}

/* Finds the indices between the brackets. */
static void find_indices(Update *u)
{
    const Lexer *l = u->f.r.lex;
    const int open = l->next, close = closing(l, open);
    u->index[0] = open + 1;
    for (int i = open + 1; i < close; i++) {
        if (token_is(l->token[i], "[") || token_is(l->token[i], "(")) i = closing(l, i);
        else if (token_is(l->token[i], ",") && u->rank < MAX_RANK - 1) u->index[++u->rank] = i + 1;
    }
    u->index[++u->rank] = close + 1;
    if (u->rank != u->of->tensor->rank)
        lex_error(l, l->token[open], "'%s' has %d dimension%s, not %d", u->of->name, u->of->tensor->rank,
                  u->of->tensor->rank == 1 ? "" : "s", u->rank);
    for (int d = 0; d < u->rank; d++)
        u->is_axis[d] = u->index[d + 1] == u->index[d] + 2 && is_new_name(u, u->index[d])
                        && stands_once(u, u->index[d], close);
}

/* Adds an axis for each dimension, then the axes that the indices use. */
static void add_update_axes(Update *u)
{
    Lexer *l = u->f.r.lex;
    for (int d = 0; d < u->rank && !ctx_failed(l->cx); d++) {
        const char *fresh = name_format(l->cx, "d%d", d);
        const Token own = { TOKEN_NAME, fresh, (int)strlen(fresh) };
        add_axis(&u->f, u->is_axis[d] ? l->token[u->index[d]] : own, AXIS_DATA, u->of->tensor->shape[d]);
    }
}

static void add_index_axes(Update *u)
{
    Lexer *l = u->f.r.lex;
    for (int d = 0; d < u->rank; d++)
        for (int i = u->index[d]; i < u->index[d + 1] - 1 && !u->is_axis[d] && !ctx_failed(l->cx); i++)
            if (is_new_name(u, i)) add_axis(&u->f, l->token[i], AXIS_REDUCE, inferred_extent(&u->f, l->token[i]));
}

/* assignment = ['+' | '*' | 'max' | 'min'] '=' */
static Reducer read_assignment(Lexer *l)
{
    static const struct { const char *word; Reducer reducer; } rows[] = {
        { "+", REDUCE_SUM }, { "*", REDUCE_PROD }, { "max", REDUCE_MAX }, { "min", REDUCE_MIN },
    };
    Reducer r = REDUCE_NONE;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0] && !r; i++)
        if (lex_accept(l, rows[i].word)) r = rows[i].reducer;
    if (!lex_accept(l, "="))
        lex_error(l, lex_peek(l), "=, +=, *=, max= or min= is expected after the element, not %s",
                  token_text(l->cx, lex_peek(l)));
    return r;
}

/* Reads `sum(i<8, k)` before the value: the axes that no index determines. */
static void read_further_axes(Update *u)
{
    Lexer *l = u->f.r.lex;
    const Token at = lex_peek(l);
    Reducer r;
    if (ctx_failed(l->cx) || !at_reduction(&u->f.r)) return;
    if (!reducer_read(at.at, (size_t)at.length, &r) || r != u->f.spec.reducer)
        lex_error(l, at, "the reduction's reducer is not the update's, %s; use one reducer for both",
                  u->f.spec.reducer ? reducer_info(u->f.spec.reducer)->spelling : "none");
    lex_take(l);
    lex_take(l);
    read_axes(&u->f, AXIS_REDUCE);
    lex_expect(l, ")", "after the reduced axes");
}

static const Expr *read_update_index(Update *u, int d)
{
    Lexer *l = u->f.r.lex;
    const int back = l->next;
    l->next = u->index[d];
    const Token at = lex_peek(l);
    const Value v = read_value(&u->f.r);
    const Expr *e = ctx_failed(l->cx) ? expr_poison(l->cx) : value_as(&u->f.r, v, I32);
    l->next = back;
    if (!ctx_failed(l->cx) && e->type != I32)
        lex_error(l, at, "the index has type %s; write i32(INDEX)", dtype_info(e->type)->spelling);
    return e;
}

static void also_within(Update *u, const Expr *condition)
{
    u->within = u->within ? expr_and(u->f.r.cx, u->within, condition) : condition;
}

static void also_inside(Update *u, const Expr *value, const Expr *extent)
{
    Ctx *cx = u->f.r.cx;
    also_within(u, expr_and(cx, expr_binary(cx, EXPR_LE, expr_index(cx, 0), value),
                            expr_binary(cx, EXPR_LT, value, extent)));
}

/* Replaces the axis, which an index determines, by `by` in the value and in all indices. */
static void replace_axis(Update *u, int a, const Expr **index, const Expr *by)
{
    Ctx *cx = u->f.r.cx;
    StageSpec *s = &u->f.spec;
    const Axis axis = s->axis[a];
    for (int d = 0; d < u->rank; d++)
        if (index[d]) index[d] = expr_substitute(cx, index[d], &axis.var, &by, 1);
    s->value[0] = expr_substitute(cx, s->value[0], &axis.var, &by, 1);
    if (u->within) u->within = expr_substitute(cx, u->within, &axis.var, &by, 1);
    for (int i = 0; i < u->f.r.access_count; i++) {
        Access *at = &u->f.r.access[i];
        at->is_guarded = at->is_guarded || expr_uses(at->index, axis.var);
        at->index = expr_substitute(cx, at->index, &axis.var, &by, 1);
    }
    s->axis_count--;
    memmove(&s->axis[a], &s->axis[a + 1], (size_t)(s->axis_count - a) * sizeof s->axis[0]);
}

/* An index such as 8*i + 2*j + 3 with j < 4, or 7 - i: its axes are the digits of a number, the last digit first. Digit
 * k has the weight coef[k], which divides the weight of the next digit, and no value of the digit reaches that weight.
 * The index is rest + number, or rest - number if it falls. */
typedef struct Digits {
    int count;
    const Expr *var[MAX_RANK];
    int64_t coef[MAX_RANK];
    bool falls;
    const Expr *rest;                /* the index where all digits are 0 */
} Digits;

/* Inserts a digit by its weight, a digit of one value before others. Returns false if there are too many. */
static bool add_digit(Digits *n, const Expr *var, int64_t coef, bool is_zero)
{
    int k = n->count;
    if (k == MAX_RANK) return false;
    for (; k > 0 && n->coef[k - 1] >= coef + !is_zero; k--) {
        n->var[k] = n->var[k - 1];
        n->coef[k] = n->coef[k - 1];
    }
    n->var[k] = var;
    n->coef[k] = coef;
    n->count++;
    return true;
}

static int axis_of(const StageSpec *s, const Expr *var)
{
    int a = 0;
    while (s->axis[a].var != var) a++;
    return a;
}

/* Returns true if different values of the digits give different indices. */
static bool are_distinct(const StageSpec *s, const Digits *n)
{
    for (int k = 0; k + 1 < n->count; k++) {
        const Expr *extent = s->axis[axis_of(s, n->var[k])].extent;
        if (n->coef[k + 1] % n->coef[k] || extent->kind != EXPR_INT
            || extent->integer > n->coef[k + 1] / n->coef[k]) return false;
    }
    return n->count > 0;
}

static bool digits_of(const Update *u, const Expr *index, Digits *out)
{
    Ctx *cx = u->f.r.cx;
    const StageSpec *s = &u->f.spec;
    Linear l;
    *out = (Digits){ .rest = index };
    if (!linear_of(cx, index, &l)) return false;
    for (int a = u->rank; a < s->axis_count; a++) {
        const Expr *var = s->axis[a].var, *zero = expr_index(cx, 0);
        const int64_t coef = linear_coef(&l, var);
        if (!expr_uses(index, var)) continue;
        if (!coef || (out->count && out->falls != (coef < 0))) return false;
        out->falls = coef < 0;
        if (!add_digit(out, var, out->falls ? -coef : coef, expr_is_int(s->axis[a].extent, 1))) return false;
        out->rest = simplify(cx, expr_substitute(cx, out->rest, &var, &zero, 1), NULL);
        for (int t = 0; t < l.count; t++)
            if (l.term[t] != var && expr_uses(l.term[t], var)) return false;
    }
    return are_distinct(s, out);
}

/* Solves the index of dimension d for all of its axes, if they are the digits of a number. */
static bool solve_index(Update *u, int d, const Expr **index)
{
    Ctx *cx = u->f.r.cx;
    Digits n;
    if (!digits_of(u, index[d], &n)) return false;
    const Expr *at = u->f.spec.axis[d].var, *value = n.falls ? expr_sub(cx, n.rest, at) : expr_sub(cx, at, n.rest);
    value = simplify(cx, value, NULL);
    index[d] = NULL;
    for (int k = 0; k < n.count; k++) {
        const Expr *by = value;
        if (k + 1 < n.count) by = expr_binary(cx, EXPR_FLOORMOD, by, expr_index(cx, n.coef[k + 1]));
        by = simplify(cx, expr_binary(cx, EXPR_FLOORDIV, by, expr_index(cx, n.coef[k])), NULL);
        const int a = axis_of(&u->f.spec, n.var[k]);
        const Expr *extent = u->f.spec.axis[a].extent;
        const bool is_full = k + 1 < n.count && expr_is_int(extent, n.coef[k + 1] / n.coef[k]);
        if (!is_full) also_inside(u, by, extent);
        replace_axis(u, a, index, by);
    }
    const Expr *zero = expr_index(cx, 0), *weight = expr_index(cx, n.coef[0]);
    if (n.coef[0] > 1)
        also_within(u, expr_binary(cx, EXPR_EQ, expr_binary(cx, EXPR_FLOORMOD, value, weight), zero));
    return true;
}

/* An axis that is solved may leave another index with a single axis. */
static void solve_indices(Update *u, const Expr **index)
{
    for (bool solves = true; solves && !ctx_failed(u->f.r.cx);) {
        solves = false;
        for (int d = 0; d < u->rank; d++) solves = (index[d] && solve_index(u, d, index)) || solves;
    }
}

/* Without axes to reduce, the formula is a single combination. */
static void combine_once(StageSpec *s, Ctx *cx, const Expr *before)
{
    const Expr *value = s->value[0];
    reducer_combine(cx, s->reducer, NULL, 1, &before, &value, &s->value[0]);
    s->reducer = REDUCE_NONE;
}

/* Selects the elements that are updated. Without a reducer, the element must determine each axis of the indices. */
static void select_elements(Update *u, Token at)
{
    Ctx *cx = u->f.r.cx;
    StageSpec *s = &u->f.spec;
    const Expr *index[MAX_RANK] = { NULL }, *old[MAX_RANK];
    for (int d = 0; d < u->rank && !ctx_failed(cx); d++)
        if (!u->is_axis[d]) index[d] = read_update_index(u, d);
    solve_indices(u, index);
    for (int d = 0; d < u->rank && !ctx_failed(cx); d++) {
        if (!index[d]) continue;
        also_within(u, expr_binary(cx, EXPR_EQ, index[d], s->axis[d].var));
        s->scatters = s->axis_count > u->rank;
    }
    if (ctx_failed(cx)) return;
    if (!s->reducer && s->axis_count > u->rank) {
        lex_error(u->f.r.lex, at, "several values may be stored in one element; use +=, *=, max= or min=, or an index "
                  "such as i + 3 or 2*i");
        return;
    }
    for (int d = 0; d < u->rank; d++) old[d] = s->axis[d].var;
    const Expr *before = tensor_read(cx, u->of->tensor, old, u->rank);
    if (s->reducer && s->axis_count == u->rank) combine_once(s, cx, before);
    if (s->reducer) s->init[0] = before;
    const Expr *otherwise = s->reducer ? reducer_neutral(cx, s->reducer, before->type, 0, false) : before;
    if (u->within) s->value[0] = expr_select(cx, u->within, s->value[0], otherwise);
}

static const char *updated_name(Ctx *cx, const Tensor *t)
{
    return t->producer ? name_format(cx, "%s_next", t->name) : t->name;
}

static Tensor *read_update(Update *u, Lexer *l, const Symbol *symbols)
{
    Formula *f = &u->f;
    const Token at = lex_peek(l);
    f->r = (Reader){ .cx = l->cx, .lex = l, .symbols = symbols, .literal = I32 };
    u->of = lex_name(l, "the tensor that is updated") ? symbol_tensor(symbols, at) : NULL;
    if (!u->of) unknown_name(l, symbols, at, true);
    if (ctx_failed(l->cx) || !lex_is(l, "[")) {
        lex_expect(l, "[", "after the tensor");
        return NULL;
    }
    f->body = l->next;
    find_indices(u);
    l->next = u->index[u->rank];
    f->spec.out_count = 1;
    f->spec.reducer = read_assignment(l);
    if (!ctx_failed(l->cx)) add_update_axes(u);
    read_further_axes(u);
    if (!ctx_failed(l->cx)) add_index_axes(u);
    if (ctx_failed(l->cx)) return NULL;
    const Token from = lex_peek(l);
    const DType type = u->of->tensor->type;
    f->spec.value[0] = value_as(&f->r, read_value(&f->r), type);
    if (!lex_finish(l) || ctx_failed(l->cx)) return NULL;
    if (f->spec.value[0]->type != type)
        lex_error(l, from, "the value has type %s, and '%s' has type %s", dtype_info(f->spec.value[0]->type)->spelling,
                  u->of->name, dtype_info(type)->spelling);
    u->within = f->within;
    if (!ctx_failed(l->cx)) select_elements(u, at);
    f->spec.name = updated_name(l->cx, u->of->tensor);
    Node *n = ctx_failed(l->cx) ? NULL : finish(f, at, false);
    return n ? n->out[0] : NULL;
}

static Tensor *whole_update(Lexer *l, const Symbol *symbols)
{
    const ArenaMark mark = arena_mark(l->cx->scratch);
    Tensor *t = read_update(NEW(l->cx->scratch, Update), l, symbols);
    arena_reset(l->cx->scratch, mark);
    return t;
}

bool at_update(const Lexer *l) { return lex_is(l, "update") && lex_ahead(l, 1).kind == TOKEN_NAME; }

Tensor *formula_read(Lexer *l, const Symbol *symbols, const char *stage_name, bool as_written)
{
    if (ctx_failed(l->cx)) return NULL;
    if (!at_update(l)) return whole_formula(l, symbols, stage_name, as_written);
    lex_take(l);
    return whole_update(l, symbols);
}

Tensor *formula(Ctx *cx, const char *text, const Bind *binds)
{
    if (ctx_failed(cx)) return NULL;
    const ArenaMark mark = arena_mark(cx->scratch);
    Lexer l = lex_text(cx, text, "formula");
    Tensor *t = formula_read(&l, symbols_of_binds(cx, binds), NULL, false);
    arena_reset(cx->scratch, mark);
    return t;
}
