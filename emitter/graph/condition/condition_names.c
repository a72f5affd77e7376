/* SPDX-License-Identifier: MIT */
#include "graph/condition/condition_names.h"

#include <string.h>

#include "graph/dag/registry.h"
#include "support/names.h"
#include "support/text.h"

enum { LIST_ELEMENTS = 2 * MAX_RANK };

const Bind *names_find(const Names *w, const char *word)
{
    for (int i = 0; i < w->count; i++)
        if (text_equal(w->bind[i].name, word)) return &w->bind[i];
    return NULL;
}

const WordAttr *names_word(const Names *w, const char *word)
{
    for (int i = 0; i < w->word_count; i++)
        if (text_equal(w->word[i].name, word)) return &w->word[i];
    return NULL;
}

static void add_name(Names *w, const char *word, Tensor *t, const Expr *value)
{
    if (w->count < MOST_NAMES_OF_CONDITION && !names_find(w, word)) w->bind[w->count++] = (Bind){ word, t, value };
}

static void add_word(Names *w, const char *word, const char *value)
{
    if (w->word_count < MOST_WORDS_OF_CONDITION && !names_word(w, word))
        w->word[w->word_count++] = (WordAttr){ word, value };
}

static const char *output_name(Ctx *cx, int i) { return i ? name_format(cx, "y_%d", i) : "y"; }

/* ---- A call ------------------------------------------------------------------------------------------------------ */

static void add_attr(Names *w, const Attr *a)
{
    if (a->kind == ATTR_INT) add_name(w, a->name, NULL, expr_index(w->cx, a->integer));
    if (a->kind == ATTR_REAL) add_name(w, a->name, NULL, expr_real(w->cx, F64, a->real));
    if (a->kind == ATTR_TEXT) add_word(w, a->name, a->text);
    for (int j = 0; a->kind == ATTR_INTS && j < a->count; j++)
        add_name(w, name_format(w->cx, "%s_%d", a->name, j), NULL, expr_index(w->cx, a->ints[j]));
}

/* Adds the names of optional inputs that the call omits. */
static void add_absent(Names *w, const Op *op)
{
    for (const char *s = op->inputs ? op->inputs : ""; *s; s += strcspn(s, " "), s += strspn(s, " "))
        add_name(w, name_n(w->cx, s, strcspn(s, " ")), NULL, NULL);
}

Names *names_of_call(Ctx *cx, const Node *n, const Target *t)
{
    Names *w = NEW(cx->arena, Names);
    const Attr *attr;
    const int attr_count = op_attrs(cx, n, &attr);
    w->cx = cx;
    w->target = t;
    for (int i = 0; i < n->in_count; i++)
        if (n->in[i]) add_name(w, op_input_name(cx, n->op, i), n->in[i], NULL);
    add_absent(w, n->op);
    for (int i = 0; i < n->out_count; i++) add_name(w, output_name(cx, i), n->out[i], NULL);
    for (int i = 0; i < attr_count; i++) add_attr(w, &attr[i]);
    return w;
}

/* ---- An operator's row ------------------------------------------------------------------------------------------- */

static const Expr *any_size(Ctx *cx, const char *word) { return expr_new_var(cx, word, VAR_SIZE, I32, 0, INT32_MAX); }

static Tensor *any_tensor(Ctx *cx, const char *word)
{
    const Expr *shape[MAX_RANK];
    for (int d = 0; d < MAX_RANK; d++) shape[d] = any_size(cx, name_format(cx, "%s_%d", word, d));
    return tensor_new(cx, word, F32, MAX_RANK, shape);
}

Names *names_of_row(Ctx *cx)
{
    Names *w = NEW(cx->arena, Names);
    w->cx = cx;
    w->is_row = true;
    return w;
}

void names_add_op(Names *w, const Op *op)
{
    Ctx *cx = w->cx;
    for (const char *s = op->inputs ? op->inputs : "x"; *s; s += strcspn(s, " "), s += strspn(s, " ")) {
        const char *word = name_n(cx, s, strcspn(s, " "));
        if (!names_find(w, word)) add_name(w, word, any_tensor(cx, word), NULL);
    }
    for (int i = 0; i < MAX_OUTPUTS; i++) {
        const char *word = output_name(cx, i);
        if (!names_find(w, word)) add_name(w, word, any_tensor(cx, word), NULL);
    }
    for (const AttrRow *a = op->attr; a && a->name; a++) {
        if (a->kind == ATTR_INT) add_name(w, a->name, NULL, any_size(cx, a->name));
        if (a->kind == ATTR_REAL) add_name(w, a->name, NULL, expr_real(cx, F64, 0.5));
        if (a->kind == ATTR_TEXT) add_word(w, a->name, NULL);
        for (int j = 0; a->kind == ATTR_INTS && j < LIST_ELEMENTS; j++) {
            const char *word = name_format(cx, "%s_%d", a->name, j);
            add_name(w, word, NULL, any_size(cx, word));
        }
    }
}
