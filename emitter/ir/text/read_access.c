/* SPDX-License-Identifier: MIT */
/* Reads of tensors. A padded read adds the bounds conditions that the axes' ranges do not prove. Any other read is
 * recorded, and checked at the end, under the conditions around it. */

/* Decision: an index from data is clamped. In a file, an index that is read from a tensor, `x[at[i]]`, is clamped to
 * `x` unless its range proves it inside (`ir/text/read_access.c`). The clamp is part of the formula, so the
 * interpreter and the emitted C agree, and no input makes a program read outside its memory. Formulas of operators
 * clamp where the operators' definitions do. A read under a condition on data, `select(k < n[i], x[k], 0)`, is an error
 * unless the condition is proved to keep it inside, because a clamp would compute with elements that the formula does
 * not name. */
#include "ir/text/read.h"

#include <string.h>

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

void guard_accesses(Reader *r, int first)
{
    for (int i = first; i < r->access_count; i++) r->access[i].is_guarded = true;
}

static void add_bounds(Reader *r, const Tensor *t, const Expr *const *index, const Token *at, bool is_padded)
{
    for (int d = 0; d < t->rank; d++) {
        if (!is_padded) add_access(r, (Access){ t, d, index[d], at[d], false });
        else {
            add_condition(r, expr_binary(r->cx, EXPR_LE, expr_int(r->cx, I32, 0), index[d]));
            add_condition(r, expr_binary(r->cx, EXPR_LT, index[d], t->shape[d]));
        }
    }
}

/* Returns true if an axis has this size as its extent; at each point of the axis the dimension then has elements. */
static bool is_size_of_loop(const Reader *r, const Expr *size)
{
    for (const Bounds *b = r->bounds; b; b = b->outer)
        if (b->extent == size) return true;
    return false;
}

/* Clamps an index that depends on data to the tensor, unless its range proves it in bounds, as after a clamp in the
 * formula. No input then causes an access out of bounds. */
static void clamp_indices(Reader *r, const Tensor *t, const Expr **index, const Token *at)
{
    for (int d = 0; d < t->rank && !r->as_written; d++) {
        const Expr *zero = expr_int(r->cx, I32, 0), *size = t->shape[d];
        if (!expr_reads(r->cx, index[d]) ||
            (provably(r->cx, expr_binary(r->cx, EXPR_LE, zero, index[d]), r->bounds) &&
             provably(r->cx, expr_binary(r->cx, EXPR_LT, index[d], size), r->bounds))) continue;
        if (interval_of(r->cx, size, r->bounds).least < 1 && !is_size_of_loop(r, size))
            lex_error(r->lex, at[d], "index %d of '%s' depends on data, but %s%s may be empty; use at least 1 element",
                      d, t->name, t->name, tensor_shape_text(r->cx, t));
        const Expr *last = expr_sub(r->cx, size, expr_int(r->cx, I32, 1));
        index[d] = simplify(r->cx, expr_binary(r->cx, EXPR_MAX, expr_binary(r->cx, EXPR_MIN, index[d], last), zero),
                            r->bounds);
    }
}

static const Expr *read_index(Reader *r, const Symbol *s, int dimension)
{
    Value v = read_value(r);
    const Expr *e = value_as(r, v, I32);
    if (e->type != I32 && e->kind != EXPR_POISON) {
        lex_error(r->lex, v.at, "index %d of '%s' has type %s; use i32", dimension, s->name,
                  dtype_info(e->type)->spelling);
        return expr_poison(r->cx);
    }
    /* A variable is not replaced, even if its value is known */
    bool stays = r->as_written || e->kind == EXPR_POISON || e->kind == EXPR_VAR;
    return stays ? e : simplify(r->cx, e, r->bounds);
}

/* Reads name[*] at the output's axes. Dimensions are aligned to the right; a dimension of 1 is read at 0. */
static Value read_star(Reader *r, const Symbol *s, Token at)
{
    const Tensor *t = s->tensor;
    const Expr *index[MAX_RANK];
    if (!r->star) {
        lex_error(r->lex, at, "'%s[*]' requires an output '[*]' too", s->name);
        return value_poison(r, at);
    }
    for (int d = 0; d < t->rank; d++) {
        int o = r->star->rank - t->rank + d;
        bool stays = expr_is_int(t->shape[d], 1) && t->shape[d] != r->star->shape[o];
        index[d] = stays ? expr_int(r->cx, I32, 0) : r->star_axis[o];
    }
    return value_of(tensor_read(r->cx, t, index, t->rank), at);
}

/* read = name '[' (index {',' index} | '*') ']' ['?'] */
Value read_element(Reader *r, Token at)
{
    const Symbol *s = symbol_tensor(r->symbols, at);
    if (!s) {
        const Symbol *v = symbol_value(r->symbols, at);
        if (v && v->value->kind == EXPR_POISON) lex_error(r->lex, at, "'%s' has no value", v->name);
        else if (v) lex_error(r->lex, at, "'%s' is a number, not a tensor; omit the index", v->name);
        else unknown_name(r->lex, r->symbols, at, true);
        return value_poison(r, at);
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
    if (ctx_failed(r->cx)) return value_poison(r, at);
    if (n != s->tensor->rank) {
        lex_error(r->lex, at, "'%s' is %s, of rank %d, but is read with %d ind%s", s->name,
                  tensor_type_text(r->cx, s->tensor), s->tensor->rank, n, n == 1 ? "ex" : "ices");
        return value_poison(r, at);
    }
    bool is_padded = lex_is(r->lex, "?");
    if (is_padded) {
        r->padded = lex_take(r->lex);
        r->padded_count++;
    }
    if (!is_padded) clamp_indices(r, s->tensor, index, where);
    add_bounds(r, s->tensor, index, where, is_padded);
    return value_of(tensor_read(r->cx, s->tensor, index, n), at);
}
