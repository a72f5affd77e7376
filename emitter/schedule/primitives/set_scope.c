/* SPDX-License-Identifier: MIT */
/* set_scope selects the memory of a tensor that is computed inside the nest. Registers are accepted here; emission
 * verifies that the buffer can be in registers, which requires constant indices after unrolling. */
#include "schedule/draft/draft.h"

typedef struct Rescope { const Tensor *tensor; const Scope *scope; int count; } Rescope;

static const Stmt *set_buffer_scope(Ctx *cx, const Stmt *s, void *user)
{
    Rescope *r = user;
    if (s->kind != STMT_ALLOC || s->buffer->tensor != r->tensor) return s;
    Buffer *b = arena_copy(cx->arena, s->buffer, sizeof *s->buffer);
    b->scope = r->scope;
    r->count++;
    return stmt_alloc(cx, b, s->child[0]);
}

static bool may_live_there(Draft *d, const Tensor *t)
{
    if (is_output(&d->next, t) || is_input(&d->next, t))
        return refuse_invalid(
            d, FAULT_ROLE,
            text_format(d->cx, "an intermediate stage, as cache_%s adds", is_output(&d->next, t) ? "write" : "read"),
            "%s is an %s in caller-owned storage", t->name, is_output(&d->next, t) ? "output" : "input");
    return true;
}

const Nest *run_set_scope(Ctx *cx, const Nest *n, const StepArgs *a)
{
    if (ctx_failed(cx) || !n) return n;
    Draft d = draft_open(cx, n, STEP_set_scope, a);
    const Tensor *t = draft_find_tensor(&d, a->target);
    const Scope *scope = t ? draft_find_scope(&d, a->scope) : NULL;
    if (!scope || !may_live_there(&d, t)) return n;
    Rescope r = { t, scope, 0 };
    d.next.root = stmt_rewrite(cx, d.next.root, set_buffer_scope, &r);
    return draft_close(&d);
}
