/* SPDX-License-Identifier: MIT */
/* Copies a part of the nest for iterations that run separately: a remainder, a warm-up, a specialization. Copies
 * partition the points of a stage. Blocks and loops get their own names, conv@MARK and conv@MARK.h, and loops their own
 * variables; stages and buffers are shared. */
#include "schedule/draft/draft.h"

#include <string.h>

#include "support/names.h"

enum { MAX_COPIED = 256 };
typedef struct Copy {
    const Nest *nest;
    const char *mark;
    int count;
    const char *from[MAX_COPIED], *to[MAX_COPIED];           /* the prefixes of loops, which are names of blocks */
    int var_count;
    const Expr *var[MAX_COPIED], *fresh[MAX_COPIED];
    bool full;
} Copy;

static bool prefix_is_used(Ctx *cx, const Stmt *s, const char *prefix)
{
    if (s->kind == STMT_BLOCK && strcmp(s->name, prefix) == 0) return true;
    if (s->kind == STMT_FOR && loop_prefix(cx, s->name) == prefix) return true;
    for (int i = 0; i < s->child_count; i++)
        if (prefix_is_used(cx, s->child[i], prefix)) return true;
    return false;
}

static const char *copied_prefix(Ctx *cx, Copy *c, const char *prefix)
{
    for (int i = 0; i < c->count; i++)
        if (c->from[i] == prefix) return c->to[i];
    if (c->count == MAX_COPIED) {
        c->full = true;
        return prefix;
    }
    const char *to = name_format(cx, "%s@%s", prefix, c->mark);
    for (int k = 2; prefix_is_used(cx, c->nest->root, to); k++) to = name_format(cx, "%s@%s%d", prefix, c->mark, k);
    c->from[c->count] = prefix;
    c->to[c->count++] = to;
    return to;
}

static const Stmt *rename_copy(Ctx *cx, const Stmt *s, void *user)
{
    Copy *c = user;
    if (s->kind == STMT_BLOCK)
        return stmt_block(cx, copied_prefix(cx, c, name(cx, s->name)), s->stage, s->part, s->bind, s->cond);
    if (s->kind != STMT_FOR) return s;
    if (c->var_count == MAX_COPIED) {
        c->full = true;
        return s;
    }
    const char *full = name_format(cx, "%s.%s", copied_prefix(cx, c, loop_prefix(cx, s->name)), loop_short(s->name));
    Var *fresh = arena_copy(cx->arena, expr_as_var(loop_var_new(cx, full, s->extent)), sizeof *fresh);
    fresh->hints = expr_as_var(s->var)->hints;
    const Expr *v = expr_var(cx, fresh);
    c->var[c->var_count] = s->var;
    c->fresh[c->var_count++] = v;
    return stmt_for(cx, full, v, s->extent, s->loop_kind, s->child[0]);
}

const Stmt *draft_copy(Draft *d, const Stmt *s, const char *mark)
{
    Copy *c = NEW(d->cx->arena, Copy);
    c->nest = &d->next;
    c->mark = mark;
    s = stmt_rewrite(d->cx, s, rename_copy, c);
    if (c->full)
        refuse_too_large(d, FAULT_LIMIT, "a smaller loop body",
                         "the statement around %s has more than %d loops to copy", s->name ? s->name : "the nest",
                         MAX_COPIED);
    return stmt_substitute(d->cx, s, c->var, c->fresh, c->var_count);
}
