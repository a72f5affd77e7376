/* SPDX-License-Identifier: MIT */
#include "graph/dag/op_formula.h"

#include <ctype.h>
#include <string.h>

#include "ir/nest/recurrence.h"
#include "support/names.h"
#include "support/text.h"

const char *op_where(Ctx *cx, const Node *n) { return text_format(cx, "node \"%s\" (%s)", n->name, n->op->name); }

/* ---- Phrases ----------------------------------------------------------------------------------------------------- */

static size_t word_length(const char *p)
{
    size_t n = 0;
    while (isalnum((unsigned char)p[n]) || p[n] == '_') n++;
    return n;
}

static int phrase_at(const Phrase *phrases, int count, const char *word, size_t length)
{
    for (int i = 0; i < count; i++)
        if (strlen(phrases[i].name) == length && memcmp(phrases[i].name, word, length) == 0) return i;
    return -1;
}

/* Removes a list element that has no text, with the comma after it or before it, or with the brackets of the list.
 * Returns the number of characters to skip. */
static size_t drop_element(Text *t, const char *rest)
{
    const char before = t->length ? t->at[t->length - 1] : '\0';
    if (before != '[' && before != ',') return 0;
    if (*rest == ',') return 1;
    if (*rest != ']') return 0;
    t->at[--t->length] = '\0';
    return before == '[';
}

static void add_text(Text *t, const char *text, const Phrase *phrases, int count)
{
    for (const char *p = text; *p;) {
        const size_t length = word_length(p);
        const int i = phrase_at(phrases, count, p, length);
        if (!length) text_char(t, *p);
        else if (i < 0) text_addn(t, p, length);
        else add_text(t, phrases[i].text, phrases, i);
        p += length ? length : 1;
        if (i >= 0 && !*phrases[i].text) p += drop_element(t, p);
    }
}

const char *op_text(Ctx *cx, const char *text, const Phrase *phrases)
{
    Text t = text_new(cx);
    int count = 0;
    while (phrases[count].name) count++;
    add_text(&t, text, phrases, count);
    return text_string(&t);
}

const char *op_number(Ctx *cx, int64_t n) { return text_format(cx, "%lld", (long long)n); }

/* ---- One formula ------------------------------------------------------------------------------------------------- */

Tensor *op_formula(Ctx *cx, const Node *n, const char *text, const Bind *binds)
{
    size_t lhs = strcspn(text, " [=");
    const char *rest = text + lhs;
    bool is_result = lhs == 1 && text[0] == 'y';
    const char *word = name_n(cx, text, lhs),
               *stage = is_result ? n->op->name : text_format(cx, "%s_%s", n->op->name, word);
    Tensor *t = formula(cx, text_format(cx, "%s%s", stage, rest), binds);
    if (t && !is_result && lhs > 1) t->word = word;
    return t;
}

/* ---- Formulas that refer to each other --------------------------------------------------------------------------- */

void formulas_name(Formulas *f, Bind b)
{
    if (f->count < MOST_NAMES) f->bind[f->count++] = b;
    else diag_internal(f->cx, op_where(f->cx, f->call), "its formulas have more than %d names", MOST_NAMES);
}

void formulas_phrase(Formulas *f, const char *word, const char *text)
{
    if (f->phrase_count < MOST_PHRASES) f->phrase[f->phrase_count++] = (Phrase){ word, text };
    else diag_internal(f->cx, op_where(f->cx, f->call), "its formulas have more than %d phrases", MOST_PHRASES);
}

static Tensor *made_of(Formulas *f, const char *text)
{
    f->bind[f->count] = (Bind){ NULL, NULL, NULL };
    return ctx_failed(f->cx) ? NULL : op_formula(f->cx, f->call, text, f->bind);
}

Tensor *formulas_compute(Formulas *f, const char *pattern)
{
    const char *text = op_text(f->cx, pattern, f->phrase);
    Tensor *t = made_of(f, text);
    if (t) formulas_name(f, (Bind)BIND_T(name_n(f->cx, text, strcspn(text, " [=,")), t));
    return t;
}

Tensor *formulas_promise(Formulas *f, const char *word, DType type, int rank, const Expr *const *shape)
{
    Tensor *t = tensor_new(f->cx, text_format(f->cx, "%s_%s", f->call->op->name, word), type, rank, shape);
    t->word = name(f->cx, word);
    formulas_name(f, (Bind)BIND_T(word, t));
    return t;
}

Tensor *formulas_define(Formulas *f, Tensor *promised, const char *text)
{
    Tensor *t = made_of(f, op_text(f->cx, text, f->phrase));
    return t ? promise_keep(f->cx, promised, t) : NULL;
}

const char *formulas_size(Formulas *f, const Expr *size)
{
    if (size->kind == EXPR_INT) return text_format(f->cx, "%lld", (long long)size->integer);
    for (int i = 0; i < f->count; i++)
        if (f->bind[i].value == size) return f->bind[i].name;
    const char *word = text_format(f->cx, "size_%d", f->count);
    formulas_name(f, (Bind)BIND_V(word, size));
    return word;
}

bool op_float(Ctx *cx, const Node *n)
{
    if (dtype_is_float(n->in[0]->type)) return true;
    op_refuse(cx, n, "the input is %s; use a float type", dtype_info(n->in[0]->type)->spelling);
    return false;
}
