/* SPDX-License-Identifier: MIT */
/* Reads and prints external calls (ir/nest/external.h). */
#include "ir/text/read_external.h"

#include <string.h>

#include "ir/text/print.h"
#include "support/names.h"

/* Reads `T, N)` after stride(, dim( or first(. */
static void read_dimension(Lexer *l, const Symbol *symbols, ExternalArgKind kind, ExternalArg *a)
{
    Token at = lex_take(l);
    const Symbol *k = at.kind == TOKEN_NAME ? symbol_tensor(symbols, at) : NULL;
    if (!k) unknown_name(l, symbols, at, true);
    if (ctx_failed(l->cx) || !lex_expect(l, ",", "after the tensor")) return;
    int64_t dimension = 0;
    at = lex_peek(l);
    if (!lex_integer(l, &dimension)) return;
    if (dimension < 0 || dimension >= k->tensor->rank)
        lex_error(l, at, "'%s' has no dimension %lld; use 0 to %d", k->name, (long long)dimension,
                  k->tensor->rank - 1);
    *a = (ExternalArg){ .kind = kind, .tensor = k->tensor, .dimension = (int)dimension };
    lex_expect(l, ")", "after the dimension");
}

static bool is_address(const Lexer *l, const Symbol *symbols)
{
    const Token t = lex_peek(l), after = lex_ahead(l, 1);
    return t.kind == TOKEN_NAME && (token_is(after, ",") || token_is(after, ")")) && symbol_tensor(symbols, t);
}

/* Reads a number over sizes, without elements of tensors. */
static const Expr *read_number(Lexer *l, const Symbol *symbols)
{
    const Token at = lex_peek(l);
    const Expr *e = expression_read(l, symbols, I32, false);
    if (ctx_failed(l->cx)) return NULL;
    if (expr_reads(l->cx, e))
        lex_error(l, at, "this argument reads elements, but it must be a tensor or a number that is computed from "
                  "sizes");
    else if (e->type != I32 && e->type != I64 && e->type != F32 && e->type != F64)
        lex_error(l, at, "a number of type %s cannot be an argument; use i32, i64, f32 or f64",
                  dtype_info(e->type)->spelling);
    return e;
}

/* Returns true if `dim(T, N)` is the whole argument. */
static bool is_lone_dim(const Lexer *l)
{
    const Token after = lex_ahead(l, 6);
    return lex_is(l, "dim") && token_is(lex_ahead(l, 1), "(") && lex_ahead(l, 4).kind == TOKEN_INTEGER
           && token_is(lex_ahead(l, 5), ")") && (token_is(after, ",") || token_is(after, ")"));
}

/* Returns true if the argument that begins here has dim(...) in it. */
static bool has_dim(const Lexer *l)
{
    int depth = 0;
    for (int i = 0;; i++) {
        const Token t = lex_ahead(l, i);
        depth += token_is(t, "(") - token_is(t, ")");
        if (t.kind == TOKEN_END || depth < 0 || (depth == 0 && token_is(t, ","))) return false;
        if (token_is(t, "dim")) return true;
    }
}

static void read_argument(Lexer *l, const Symbol *symbols, ExternalArg *a)
{
    static const struct { const char *word; ExternalArgKind kind; } of_dimension[] = {
        { "stride", EXTERNAL_STRIDE }, { "first", EXTERNAL_FIRST }, { "dim", EXTERNAL_DIM },
    };
    const bool is_workspace = lex_is(l, "workspace");
    for (int i = 0; i < 3; i++) {
        if (!lex_is(l, of_dimension[i].word) || !token_is(lex_ahead(l, 1), "(")) continue;
        if (of_dimension[i].kind == EXTERNAL_DIM && !is_lone_dim(l)) continue;
        lex_take(l);
        lex_take(l);
        read_dimension(l, symbols, of_dimension[i].kind, a);
        return;
    }
    if (is_address(l, symbols)) {
        *a = (ExternalArg){ .kind = EXTERNAL_TENSOR, .tensor = symbol_tensor(symbols, lex_take(l))->tensor };
    } else if (is_workspace) {
        lex_take(l);
        if (!lex_expect(l, "(", "after `workspace`")) return;
        const Token at = lex_peek(l);
        *a = (ExternalArg){ .kind = EXTERNAL_WORKSPACE, .value = read_number(l, symbols) };
        if (!ctx_failed(l->cx) && a->value->type != I32)
            lex_error(l, at, "the bytes of a workspace have type i32, not %s", dtype_info(a->value->type)->spelling);
        lex_expect(l, ")", "after the bytes");
    } else {
        *a = (ExternalArg){ .kind = EXTERNAL_VALUE, .uses_dims = has_dim(l) };
        a->value = read_number(l, symbols);
    }
}

External *external_read(Lexer *l, const Symbol *symbols)
{
    External *e = NEW(l->cx->arena, External);
    const Token at = lex_peek(l);
    e->function = lex_name(l, "the name of a C function");
    if (e->function && !external_is_macro(e->function)
        && !text_equal(name_identifier(l->cx, e->function), e->function))
        lex_error(l, at, "'%s' is not the name of a C function", e->function);
    lex_expect(l, "(", "after the function's name");
    while (!ctx_failed(l->cx) && !lex_is(l, ")")) {
        if (e->arg_count == MAX_EXTERNAL_ARGS)
            lex_error(l, lex_peek(l), "the call has too many arguments; use at most %d", MAX_EXTERNAL_ARGS);
        else read_argument(l, symbols, &e->arg[e->arg_count++]);
        if (!ctx_failed(l->cx) && !lex_is(l, ")")) lex_expect(l, ",", "between arguments");
    }
    lex_expect(l, ")", "after the arguments");
    return ctx_failed(l->cx) ? NULL : e;
}

External *external_read_text(Ctx *cx, const Nest *n, const char *text)
{
    const Symbol *symbols = NULL;
    for (int i = 0; i < n->stage_count; i++)
        for (int j = 0; j < n->stage[i]->out_count; j++) {
            Tensor *t = n->stage[i]->out[j];
            symbols = symbol_add(cx, symbols, name(cx, t->name), t, NULL);
        }
    for (int i = 0; i < n->input_count; i++)
        symbols = symbol_add(cx, symbols, name(cx, n->input[i]->name), n->input[i], NULL);
    Lexer l = lex_text(cx, text, "external");
    External *e = external_read(&l, symbols);
    return e && lex_finish(&l) ? e : NULL;
}

void external_print(Text *t, const External *e, const Namer *tensors)
{
    text_printf(t, "%s(", e->function);
    for (int i = 0; i < e->arg_count; i++) {
        const ExternalArg *a = &e->arg[i];
        const char *of = a->tensor ? namer_get(tensors, a->tensor, a->tensor->name) : NULL;
        if (i) text_add(t, ", ");
        if (a->kind == EXTERNAL_TENSOR) text_add(t, of);
        if (a->kind == EXTERNAL_STRIDE) text_printf(t, "stride(%s, %d)", of, a->dimension);
        if (a->kind == EXTERNAL_DIM) text_printf(t, "dim(%s, %d)", of, a->dimension);
        if (a->kind == EXTERNAL_FIRST) text_printf(t, "first(%s, %d)", of, a->dimension);
        if (a->kind == EXTERNAL_WORKSPACE) text_add(t, "workspace(");
        if (a->value) print_expr(t, a->value);
        if (a->kind == EXTERNAL_WORKSPACE) text_char(t, ')');
    }
    text_char(t, ')');
}
