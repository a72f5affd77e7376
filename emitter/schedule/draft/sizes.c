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

static bool is_word(const char *word, size_t length, const Tensor *t)
{
    return strlen(t->name) == length && strncmp(t->name, word, length) == 0;
}

/* Returns the first tensor that the text names among those that the nest computes and, with_inputs, its inputs. */
static const Tensor *named_tensor(const Nest *n, const char *text, bool with_inputs)
{
    for (const char *s = text; *s;) {
        const size_t length = strspn(s, WORD);
        for (int i = 0; length && with_inputs && i < n->input_count; i++)
            if (is_word(s, length, n->input[i])) return n->input[i];
        for (int i = 0; length && i < n->stage_count; i++)
            if (is_word(s, length, n->stage[i]->out[0])) return n->stage[i]->out[0];
        s += length ? length : 1;
    }
    return NULL;
}

/* Sets *user, a const Expr *, to a read whose element the run may not have, or that moves. */
static void find_moving(const Expr *e, void *user)
{
    const Expr **found = user;
    if (e->kind != EXPR_READ) return;
    const Tensor *t = e->ref;
    for (int d = 0; d < t->rank; d++) {
        const Expr *at = e->arg[d], *size = t->shape[d];
        const bool is_inside = at->kind == EXPR_INT && size->kind == EXPR_INT && at->integer >= 0
                               && at->integer < size->integer;
        if (!is_inside) *found = e;
    }
}

static const char *fault_of(Ctx *cx, const char *text, const Expr *cond, const char **accepted)
{
    const Expr *moving = NULL;
    if (cond->type != BOOL) return text_format(cx, "'%s' is a number", text);
    if (cond->kind == EXPR_INT) {
        *accepted = "a condition that may hold or not";
        return text_format(cx, "'%s' is %s for all sizes", text, cond->integer ? "true" : "false");
    }
    *accepted = "a tensor of one element, or numbers within its shape as indices";
    expr_walk(cx, cond, find_moving, &moving);
    if (!moving) return NULL;
    return text_format(cx, "'%s' reads an element of '%s' that is not the same in every run, or outside it", text,
                       ((const Tensor *)moving->ref)->name);
}

static const char *fault_of_names(Ctx *cx, const Nest *n, const char *text, bool of_run, int sizes,
                                  const char **accepted)
{
    const Tensor *data = named_tensor(n, text, !of_run);
    *accepted = of_run ? "a condition on sizes and inputs, or select(CONDITION, VALUE, VALUE) in the formula"
                       : "a condition on sizes, or select(CONDITION, VALUE, VALUE) in the formula";
    if (data && of_run) return text_format(cx, "'%s' is computed in %s, after the condition is decided", data->name,
                                           n->name);
    if (data) return text_format(cx, "'%s' is a tensor, whose elements are known in the run only", data->name);
    if (sizes || (of_run && named_tensor(n, text, true))) return NULL;
    *accepted = of_run ? "a nest with a symbolic size, or an element of an input" : "a nest with a symbolic size";
    return text_format(cx, "%s has only constant sizes, so any condition is decided already", n->name);
}

static const Expr *condition(Ctx *cx, const Nest *n, const char *text, bool of_run, const char **fault,
                             const char **accepted)
{
    const SizeNames sizes = sizes_of(cx, n);
    Bind *bind = NEW_ARRAY(cx->arena, Bind, sizes.count + n->input_count + 1);
    int count = 0;
    for (int i = 0; i < sizes.count; i++)
        bind[count++] = (Bind){ expr_as_var(sizes.size[i])->name, NULL, sizes.size[i] };
    for (int i = 0; of_run && i < n->input_count; i++)
        bind[count++] = (Bind){ n->input[i]->name, n->input[i], NULL };
    *fault = fault_of_names(cx, n, text, of_run, sizes.count, accepted);
    if (*fault) return NULL;
    const DiagMark mark = diag_mark(cx);
    const Expr *cond = simplify(cx, expr_read(cx, text, bind, I32), NULL);
    const Diag *why = diag_rewind(cx, mark);
    *accepted = of_run ? "a comparison of sizes, elements of inputs and numbers" : "a comparison of sizes and numbers";
    *fault = why ? text_format(cx, "the condition '%s' cannot be read: %s", text, why->what)
                 : fault_of(cx, text, cond, accepted);
    return *fault ? NULL : cond;
}

const Expr *condition_of_sizes(Ctx *cx, const Nest *n, const char *text, const char **fault, const char **accepted)
{
    return condition(cx, n, text, false, fault, accepted);
}

const Expr *condition_of_run(Ctx *cx, const Nest *n, const char *text, const char **fault, const char **accepted)
{
    return condition(cx, n, text, true, fault, accepted);
}
