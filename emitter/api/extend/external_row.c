/* SPDX-License-Identifier: MIT */
#include "api/extend/external_row.h"

#include <string.h>

#include "graph/condition/condition_names.h"
#include "ir/text/read_external.h"
#include "schedule/schedule.h"
#include "support/names.h"
#include "support/text.h"

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* ---- Registration ------------------------------------------------------------------------------------------------ */

static bool reads_for(Ctx *cx, const Implementation *i, const Names *names, const char *call)
{
    const DiagMark mark = diag_mark(cx);
    Lexer l = lex_text(cx, call, "call");
    External *e = external_read(&l, symbols_of_binds(cx, names->bind));
    if (e) lex_finish(&l);
    const Diag *why = diag_rewind(cx, mark);
    const char *where = text_format(cx, "implementation \"%s\" of %s, call", i->name, i->ops);
    if (why && why->source) diag_with_source(cx, where, why->source, "%s", why->what);
    else if (why) diag_error(cx, where, "%s", why->what);
    return !why;
}

bool external_row_reads(Ctx *cx, const Implementation *i, const char *call)
{
    for (const char *s = i->ops; *s; s += strcspn(s, " "), s += strspn(s, " ")) {
        const Op *op = op_find(cx, name_n(cx, s, strcspn(s, " ")));
        Names *names = names_of_row(cx);
        if (!op) {
            diag_error(cx, text_format(cx, "implementation \"%s\"", i->name),
                       "a call is for operators by name, not for '%.*s': inputs have names of their own there",
                       (int)strcspn(s, " "), s);
            return false;
        }
        names_add_op(names, op);
        if (!reads_for(cx, i, names, call)) return false;
    }
    return true;
}

/* ---- A group ----------------------------------------------------------------------------------------------------- */

/* Returns the name that a tensor of the anchor has in the nest, or NULL if the nest lacks it. */
static const char *name_in_nest(const GroupNest *g, const Tensor *t)
{
    const Node *n = g->group->anchor;
    for (int i = 0; i < n->in_count; i++)
        if (t && n->in[i] == t) return g->anchor_in[i];
    for (int i = 0; i < n->out_count; i++)
        if (t && n->out[i] == t) return g->anchor_out[i];
    return NULL;
}

/* Returns the value as an argument of the C function. A real attribute is a double if the operator's elements are f64,
 * otherwise a float. */
static const Expr *as_argument(const GroupNest *g, const Names *names, const Expr *value)
{
    const Node *n = g->group->anchor;
    const bool is_double = n->in_count && n->in[0] && n->in[0]->type == F64;
    return value->kind == EXPR_REAL ? expr_real(names->cx, is_double ? F64 : F32, value->real) : value;
}

/* Adds the word as the nest spells it; returns false if the call of the DAG has no such input. */
static bool add_word(const GroupNest *g, const Names *names, Text *t, const char *word)
{
    const Bind *b = names_find(names, word);
    if (b && b->value) print_expr(t, as_argument(g, names, b->value));
    else if (b) {
        const char *spelling = name_in_nest(g, b->tensor);
        text_add(t, spelling ? spelling : word);
        return spelling != NULL;
    } else text_add(t, word);
    return true;
}

static bool add_call(Ctx *cx, const GroupNest *g, const char *call, Text *t)
{
    const Names *names = names_of_call(cx, g->group->anchor, g->target);
    for (const char *s = call; *s;) {
        size_t n = 0;
        while (is_letter(s[n])) n++;
        const bool is_name = n && !(*s >= '0' && *s <= '9') && s[n + strspn(s + n, " ")] != '(';
        if (is_name && !add_word(g, names, t, name_n(cx, s, n))) return false;
        if (!is_name) text_addn(t, s, n ? n : 1);
        s += n ? n : 1;
    }
    return true;
}

const Nest *external_row_apply(Ctx *cx, const GroupNest *g, const char *call, bool in_place, bool has_status)
{
    Text t = text_new(cx);
    text_printf(&t, "external %s ", g->anchor);
    if (!add_call(cx, g, call, &t)) return NULL;
    if (in_place) text_add(&t, " in_place");
    if (has_status) text_add(&t, " status");
    const Nest *n = sched_step(cx, g->nest, text_string(&t));
    return ctx_failed(cx) ? NULL : n;
}
