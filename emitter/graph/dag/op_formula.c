/* SPDX-License-Identifier: MIT */
#include "graph/dag/op_formula.h"

#include <string.h>

#include "ir/nest/recurrence.h"
#include "support/names.h"
#include "support/text.h"

const char *op_where(Ctx *cx, const Node *n) { return text_format(cx, "node \"%s\" (%s)", n->name, n->op->name); }

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

static Tensor *made_of(Formulas *f, const char *text)
{
    f->bind[f->count] = (Bind){ NULL, NULL, NULL };
    return ctx_failed(f->cx) ? NULL : op_formula(f->cx, f->call, text, f->bind);
}

Tensor *formulas_compute(Formulas *f, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const char *text = text_vformat(f->cx, format, args);
    va_end(args);
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

Tensor *formulas_define(Formulas *f, Tensor *promised, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    Tensor *t = made_of(f, text_vformat(f->cx, format, args));
    va_end(args);
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
    op_refuse(cx, n, "the input is %s; a float type is expected", dtype_info(n->in[0]->type)->spelling);
    return false;
}
