/* SPDX-License-Identifier: MIT */
/* Reads declared reducers (formula.h has the grammar). A declaration has no types. Each formula that uses the
 * declaration reads it again with the types of its own values, so one declaration works for f32 and i64. */
#include "ir/text/read.h"
#include "support/names.h"

/* ---- Declarations ----------------------------------------------------------------------------------------------- */

static bool is_free(const Lexer *l, const Symbol *symbols, Token at)
{
    Reducer r;
    const char *word = name_n(l->cx, at.at, (size_t)at.length);
    const bool is_word = reducer_read(word, (size_t)at.length, &r) || formula_has_function(word);
    if (is_word || symbol_reducer(symbols, at))
        lex_error(l, at, "'%s' is already %s; use a new name", word, is_word ? "a function or a reducer" : "declared");
    return !ctx_failed(l->cx);
}

static const ReducerText *text_of(const Lexer *l, const char *reducer_name, int next)
{
    ReducerText *t = NEW(l->cx->arena, ReducerText);
    *t = (ReducerText){ reducer_name, *l };
    t->lex.token = arena_copy(l->cx->arena, l->token, ((size_t)l->count + 1) * sizeof *l->token);
    t->lex.arena = l->cx->arena;
    t->lex.next = next;
    return t;
}

/* Reads the parameters, and counts them. */
static int read_parameters(Lexer *l, Token *at)
{
    int count = 0;
    do {
        if (count == MAX_COMPONENTS) lex_error(l, lex_peek(l), "the reducer has too many values; use at most %d",
                                               MAX_COMPONENTS);
        else at[count++] = lex_peek(l);
    } while (lex_name(l, "a parameter of the reducer") && lex_accept(l, ",") && !ctx_failed(l->cx));
    return count;
}

static bool are_distinct(const Lexer *l, const Token *at, int count)
{
    for (int i = 0; i < count; i++)
        for (int k = 0; k < i; k++)
            if (token_same(at[i], at[k]))
                lex_error(l, at[i], "two parameters are named '%.*s'", at[i].length, at[i].at);
    return !ctx_failed(l->cx);
}

/* head = '(' old {',' old} ';' value {',' value} ')' '='. Returns the number of values, or 0 on error. */
static int read_head(Lexer *l, Token *at)
{
    lex_expect(l, "(", "after the name of the reducer");
    const int count = read_parameters(l, at);
    lex_expect(l, ";", "between the parameters of the two operands");
    if (ctx_failed(l->cx)) return 0;
    const int values = read_parameters(l, at + count);
    if (values != count)
        lex_error(l, at[count], "the second operand has %d values, and the first one %d", values, count);
    lex_expect(l, ")", "after the parameters");
    lex_expect(l, "=", "after the parameters");
    return are_distinct(l, at, count + values) ? count : 0;
}

bool reducer_declare(Lexer *l, const Symbol **symbols)
{
    Token at[2 * MAX_COMPONENTS], reducer = lex_peek(l);
    if (!lex_name(l, "the name of the reducer") || !is_free(l, *symbols, reducer)) return false;
    const char *reducer_name = name_n(l->cx, reducer.at, (size_t)reducer.length);
    const ReducerText *text = text_of(l, reducer_name, l->next);
    if (!read_head(l, at)) return false;
    *symbols = symbol_add_reducer(l->cx, *symbols, text);
    return true;
}

const ReducerText *reducer_text(const Reader *r, Token at)
{
    const Lexer *l = r->lex;
    for (int i = l->next; i + 2 < l->count; i++)
        if (token_is(l->token[i], "where") && token_is(l->token[i + 2], "(") && token_same(l->token[i + 1], at))
            return text_of(l, name_n(l->cx, at.at, (size_t)at.length), i + 2);
    const Symbol *k = symbol_reducer(r->symbols, at);
    return k ? k->reducer : NULL;
}

/* ---- The combiner of a formula ---------------------------------------------------------------------------------- */

typedef struct Declaration { Reader r; Combiner *c; DType type[MAX_COMPONENTS]; } Declaration;

/* Reads an expression for each value, of the value's type. */
static void read_each(Declaration *d, const char *what, const Expr **out)
{
    const int count = d->c->info.components;
    for (int i = 0; i < count && !ctx_failed(d->r.cx); i++) {
        const Token at = lex_peek(d->r.lex);
        if (i && !lex_expect(d->r.lex, ",", text_format(d->r.cx, "after %s %d of %d", what, i, count))) return;
        out[i] = value_as(&d->r, read_value(&d->r), d->type[i]);
        if (!ctx_failed(d->r.cx) && out[i]->type != d->type[i])
            lex_error(d->r.lex, at, "%s %d is %s, and the formula reduces %s", what, i + 1,
                      dtype_info(out[i]->type)->spelling, dtype_info(d->type[i])->spelling);
    }
}

static void bind_parameters(Declaration *d, const Token *at)
{
    Ctx *cx = d->r.cx;
    const int count = d->c->info.components;
    for (int i = 0; i < 2 * count; i++) {
        const char *parameter = name_n(cx, at[i].at, (size_t)at[i].length);
        const Expr *v = expr_new_var(cx, parameter, VAR_LOCAL, d->type[i % count], 0, 0);
        *(i < count ? &d->c->old[i] : &d->c->value[i - count]) = v;
        d->r.symbols = symbol_add(cx, d->r.symbols, parameter, NULL, v);
    }
}

static void read_identity(Declaration *d)
{
    const Token at = lex_peek(d->r.lex);
    d->r.symbols = NULL;
    read_each(d, "first value", d->c->identity);
    for (int i = 0; i < d->c->info.components && !ctx_failed(d->r.cx); i++)
        if (!expr_is_const(d->c->identity[i])) lex_error(d->r.lex, at, "a first value is not a number");
}

/* Reads the words after the values, in any order. */
static void read_words(Declaration *d)
{
    Lexer *l = d->r.lex;
    Combiner *c = d->c;
    while (!ctx_failed(l->cx) && lex_peek(l).kind != TOKEN_END) {
        const Token at = lex_take(l);
        if (token_is(at, "from") && !c->identity[0]) read_identity(d);
        else if (token_is(at, "associative") && !c->associates) c->associates = true;
        else if (token_is(at, "commutative") && !c->commutes) c->commutes = true;
        else
            lex_error(l, at, "%s is not expected here; use `from FIRST VALUES`, `associative` or `commutative`, each "
                      "once", token_text(l->cx, at));
    }
}

const Combiner *combiner_read(Reader *r, const ReducerText *text, Token at, int count, const Expr *const *value)
{
    Ctx *cx = r->cx;
    Token parameter[2 * MAX_COMPONENTS];
    Lexer l = text->lex;
    const int components = read_head(&l, parameter);
    if (!components) return NULL;
    if (components != count) {
        lex_error(r->lex, at, "%s reduces %d value%s, not %d", text->name, components, components == 1 ? "" : "s",
                  count);
        return NULL;
    }
    Declaration d = { .r = { .cx = cx, .lex = &l, .literal = I32, .as_written = r->as_written },
                      .c = NEW(cx->arena, Combiner) };
    *d.c = (Combiner){ .info = { text->name, components, false, false } };
    for (int i = 0; i < count; i++) d.type[i] = value[i]->type;
    bind_parameters(&d, parameter);
    read_each(&d, "value", d.c->combined);
    read_words(&d);
    d.c->info.order_free = d.c->associates && d.c->commutes;
    return ctx_failed(cx) ? NULL : d.c;
}
