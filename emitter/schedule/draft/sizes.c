/* SPDX-License-Identifier: MIT */
#include "schedule/draft/sizes.h"

#include <string.h>

#include "ir/algebra/algebra.h"
#include "ir/text/formula.h"
#include "support/text.h"

#define WORD "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"
enum { MAX_SIZES = 32 };
typedef struct SizeNames { int count; const Expr *size[MAX_SIZES]; } SizeNames;

static void add_size(const Expr *e, void *user)
{
    SizeNames *s = user;
    const Var *v = expr_as_var(e);
    if (!v || v->role != VAR_SIZE || s->count == MAX_SIZES) return;
    for (int i = 0; i < s->count; i++)
        if (s->size[i] == e) return;
    s->size[s->count++] = e;
}

static SizeNames sizes_of(Ctx *cx, const Nest *n)
{
    SizeNames s = { 0 };
    for (int i = 0; i < n->stage_count; i++)
        for (int a = 0; a < n->stage[i]->axis_count; a++) expr_walk(cx, n->stage[i]->axis[a].extent, add_size, &s);
    for (int i = 0; i < n->input_count; i++)
        for (int d = 0; d < n->input[i]->rank; d++) expr_walk(cx, n->input[i]->shape[d], add_size, &s);
    return s;
}

/* Returns the first tensor of the nest that the text names, or NULL. */
static const Tensor *named_tensor(const Nest *n, const char *text)
{
    for (const char *s = text; *s;) {
        const size_t length = strspn(s, WORD);
        for (int i = 0; length && i < n->input_count; i++)
            if (strlen(n->input[i]->name) == length && strncmp(n->input[i]->name, s, length) == 0) return n->input[i];
        for (int i = 0; length && i < n->stage_count; i++)
            if (strlen(n->stage[i]->name) == length && strncmp(n->stage[i]->name, s, length) == 0)
                return n->stage[i]->out[0];
        s += length ? length : 1;
    }
    return NULL;
}

const Expr *condition_of_sizes(Ctx *cx, const Nest *n, const char *text, const char **fault, const char **accepted)
{
    const SizeNames sizes = sizes_of(cx, n);
    Bind bind[MAX_SIZES + 1] = { { NULL, NULL, NULL } };
    for (int i = 0; i < sizes.count; i++) bind[i] = (Bind){ expr_as_var(sizes.size[i])->name, NULL, sizes.size[i] };
    const Tensor *data = named_tensor(n, text);
    *fault = NULL;
    *accepted = "a condition on sizes, or select(CONDITION, VALUE, VALUE) in the formula";
    if (data) *fault = text_format(cx, "'%s' is a tensor, whose elements are known in the run only", data->name);
    else *accepted = "a nest with a symbolic size";
    if (!data && !sizes.count)
        *fault = text_format(cx, "%s has only constant sizes, so any condition is decided already", n->name);
    if (*fault) return NULL;
    const DiagMark mark = diag_mark(cx);
    const Expr *cond = simplify(cx, expr_read(cx, text, bind, I32), NULL);
    const Diag *why = diag_rewind(cx, mark);
    *accepted = "a comparison of sizes and numbers";
    if (why) *fault = text_format(cx, "the condition '%s' cannot be read: %s", text, why->what);
    else if (cond->type != BOOL) *fault = text_format(cx, "'%s' is a number", text);
    else if (cond->kind == EXPR_INT) {
        *accepted = "a condition that may hold or not";
        *fault = text_format(cx, "'%s' is %s for all sizes", text, cond->integer ? "true" : "false");
    }
    return *fault ? NULL : cond;
}
