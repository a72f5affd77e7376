/* SPDX-License-Identifier: MIT */
/* Eliminates dead code. Removes stores of an element to its own place (the operand of a padding is stored in its
 * result). Removes stores to a local memory that the scope of its declaration never loads, then the declaration, and
 * unused names. Repeats until nothing changes, because each removal may leave other variables unused. Several scopes
 * may declare one memory (copies share it), so each declaration is checked against the statements after it in its
 * sequence. */
#include "lower/passes/passes.h"

typedef struct MemoryUses { Map read; } MemoryUses;
typedef struct Prune { bool changed; } Prune;

static const Expr *note_use(Ctx *cx, const Expr *e, void *user)
{
    MemoryUses *u = user;
    (void)cx;
    if (e->kind == EXPR_LOAD) map_put_ptr(&u->read, e->ref, u);
    if (e->kind == EXPR_VAR) map_put_ptr(&u->read, e, u);
    return e;
}

static const Code *drop_store(Ctx *cx, const Code *c, void *user)
{
    (void)cx;
    const Memory *const *memory = user;
    bool is_store = c->kind == CODE_STORE || c->kind == CODE_LOCAL;
    return is_store && c->memory == *memory ? NULL : c;
}

/* Walks from the last statement to the first; `read` holds the names that later statements read. */
static const Code *prune_sequence(Ctx *cx, const Code *seq, Prune *p)
{
    const Code **child = NEW_ARRAY(cx->arena, const Code *, seq->child_count);
    bool changed = false;
    MemoryUses behind = { map_new(cx->arena) };
    for (int i = seq->child_count - 1; i >= 0; i--) {
        const Code *c = child[i] = seq->child[i];
        const Memory *local = c->kind == CODE_LOCAL ? c->memory : NULL;
        const void *what = c->kind == CODE_LET ? (const void *)c->var : local;
        if (!what || map_get_ptr(&behind.read, what)) {
            code_map_exprs(cx, c, note_use, &behind);
            continue;
        }
        child[i] = NULL;
        changed = true;
        for (int j = i + 1; c->kind == CODE_LOCAL && j < seq->child_count; j++)
            child[j] = code_rewrite(cx, child[j], drop_store, &local);
    }
    p->changed = p->changed || changed;
    return changed ? code_seq(cx, child, seq->child_count) : seq;
}

/* Returns true for a declaration. A loop or branch that contains only a declaration has no effect. */
static bool is_idle(const Code *c) { return c->kind == CODE_LOCAL || c->kind == CODE_LET; }

static bool keeps_element(const Code *c)
{
    return c->kind == CODE_STORE && c->value->kind == EXPR_LOAD && c->value->ref == c->memory
           && c->value->arg[0] == c->index;
}

static const Code *prune(Ctx *cx, const Code *c, void *user)
{
    if (keeps_element(c)) return NULL;
    if (c->kind == CODE_SEQ) return prune_sequence(cx, c, user);
    return c->child_count == 1 && is_idle(c->child[0]) ? NULL : c;
}

const Code *pass_prune(Ctx *cx, const LowerOptions *options, const Code *c)
{
    bool again = true;
    (void)options;
    while (again && c) {
        Prune p = { false };
        c = code_rewrite(cx, c, prune, &p);
        again = p.changed;
    }
    return c;
}

/* Prunes again. A register tile may declare a vector variable that its remainder does not use, so the variable has no
 * reader. */
const Code *pass_unused(Ctx *cx, const LowerOptions *options, const Code *c) { return pass_prune(cx, options, c); }
