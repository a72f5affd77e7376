/* SPDX-License-Identifier: MIT */
/* Declarations of sizes and tensors, in printed nests and .te files. */
#include "ir/text/read.h"

#include "ir/algebra/algebra.h"

/* size = name 'in' least '..' greatest */
bool size_read(Lexer *l, const Symbol **symbols)
{
    Token at = lex_peek(l);
    const char *size = lex_name(l, "the name of the size");
    int64_t least = 0, greatest = 0;
    if (!lex_accept(l, "=") && !lex_expect(l, "in", "after the size")) return false;
    if (!lex_integer(l, &least) || !lex_expect(l, "..", "after the smallest value")) return false;
    Token top = lex_peek(l);
    if (!lex_integer(l, &greatest) || !lex_finish(l)) return false;
    if (least < 0 || greatest < least || greatest > INT32_MAX)
        lex_error(l, top, "'%s' runs from %lld to %lld; use a rising range within 0 to %d", size,
                  (long long)least, (long long)greatest, INT32_MAX);
    if (symbol_value(*symbols, at)) lex_error(l, at, "'%s' is already a size", size);
    *symbols = symbol_add(l->cx, *symbols, size, NULL, expr_new_var(l->cx, size, VAR_SIZE, I32, least, greatest));
    return !ctx_failed(l->cx);
}

/* type = dtype {'[' size ']'} */
bool tensor_type_read(Lexer *l, const Symbol *symbols, DType *type, int *rank, const Expr **shape)
{
    Reader r = { .cx = l->cx, .lex = l, .symbols = symbols, .literal = I32 };
    Token t = lex_take(l);
    *rank = 0;
    if (t.kind != TOKEN_NAME || !dtype_read(t.at, (size_t)t.length, type))
        lex_error(l, t, "an element type such as f32 or i8 is expected, not %s", token_text(l->cx, t));
    while (lex_accept(l, "[") && !ctx_failed(l->cx)) {
        Token at = lex_peek(l);
        if (token_is(at, "]"))
            lex_error(l, at, "a size is expected, not ']'; a scalar has no brackets: %s",
                      dtype_info(*type)->spelling);
        const Expr *e = ctx_failed(l->cx) ? NULL : read_extent(&r);
        lex_expect(l, "]", "after the size");
        if (*rank == MAX_RANK) lex_error(l, at, "the tensor has too many dimensions; use at most %d", MAX_RANK);
        else shape[(*rank)++] = e;
    }
    return !ctx_failed(l->cx);
}

const char *tensor_type_text(Ctx *cx, const Tensor *t)
{
    return text_format(cx, "%s%s", dtype_info(t->type)->spelling, t->rank ? tensor_shape_names(cx, t) : "");
}

bool promise_read(Lexer *l, const Symbol **symbols)
{
    const Expr *shape[MAX_RANK];
    DType type;
    int rank;
    Token at = lex_peek(l);
    const char *promised = lex_name(l, "the name of the tensor");
    if (!lex_expect(l, ":", "after the name") || !tensor_type_read(l, *symbols, &type, &rank, shape) || !lex_finish(l))
        return false;
    if (symbol_tensor(*symbols, at)) lex_error(l, at, "'%s' is already defined", promised);
    DiagMark mark = diag_mark(l->cx);
    Tensor *t = tensor_new(l->cx, promised, type, rank, shape);
    if (t) tensor_fits_index(l->cx, t);
    lex_relocate(l, mark, at);
    Symbol *k = symbol_add(l->cx, *symbols, promised, t, NULL);
    k->is_promised = true;
    *symbols = k;
    return !ctx_failed(l->cx);
}

bool promises_are_kept(Ctx *cx, const Symbol *symbols)
{
    for (const Symbol *k = symbols; k; k = k->outer)
        if (k->is_promised && !k->tensor->producer)
            diag_error(cx, NULL, "'%s' is promised, but no formula produces it", k->name);
    return !ctx_failed(cx);
}

enum { MOST_ELEMS = 1 << 24 };

static void read_datum(Lexer *l, DType type, void *data, int64_t at, int64_t count)
{
    Reader r = { .cx = l->cx, .lex = l, .literal = I32 };
    Token begin = lex_peek(l);
    const Expr *e = value_as(&r, read_value(&r), type);
    if (!expr_is_const(e) || e->type != type)
        lex_error(l, begin, "a constant of type %s is expected", dtype_info(type)->spelling);
    if (at < count && !ctx_failed(l->cx)) dtype_store(type, data, at, expr_scalar(e));
}

/* data = '[' [datum {',' datum} | '..'] ']', or with braces; or one datum alone. A datum is a value or data; inner
 * brackets only group. '..' is data that the print omits, and reads as zeros. */
const void *data_read(Lexer *l, DType type, int64_t count)
{
    Token open = lex_peek(l);
    if (count < 0) lex_error(l, open, "the tensor has open sizes; use fixed sizes with a list of values");
    if (count > MOST_ELEMS)
        lex_error(l, open, "the tensor has %lld elements; use a list of values for up to %lld",
                  (long long)count, (long long)MOST_ELEMS);
    if (ctx_failed(l->cx)) return NULL;
    const bool is_braced = lex_accept(l, "{"), is_alone = !is_braced && count == 1 && !lex_is(l, "[");
    const char *opens = is_braced ? "{" : "[", *closes = is_braced ? "}" : "]";
    void *data = arena_array(l->cx->arena, (size_t)count + 1, (size_t)dtype_info(type)->bytes);
    int64_t n = 0;
    if (is_alone) read_datum(l, type, data, 0, count);
    if (is_alone || (!is_braced && !lex_expect(l, "[", "before the values"))) return data;
    for (int depth = 1; depth && !ctx_failed(l->cx);) {
        if (lex_accept(l, opens)) depth++;
        else if (lex_accept(l, closes)) {
            if (--depth) lex_accept(l, ",");
        } else if (lex_accept(l, "..")) n = count;
        else {
            read_datum(l, type, data, n++, count);
            if (!lex_is(l, closes)) lex_expect(l, ",", "between values");
        }
    }
    if (n != count) lex_error(l, open, "%lld values are expected, not %lld", (long long)count, (long long)n);
    return data;
}
