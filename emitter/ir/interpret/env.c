/* SPDX-License-Identifier: MIT */
/* Values of tensors and of sizes, for one evaluation. */
#include "ir/interpret/evaluate.h"

#include "support/map.h"

struct Env {
    Arena *arena;
    Map sizes, tensors;
    const Env *outer;                /* an environment with sizes that this one may not change, or NULL */
};

Env *env_new_in(Arena *arena)
{
    Env *e = NEW(arena, Env);
    *e = (Env){ arena, map_new(arena), map_new(arena), NULL };
    return e;
}

Env *env_new(Ctx *cx) { return env_new_in(cx->arena); }
Arena *env_arena(const Env *e) { return e->arena; }

Env *env_new_inside(Ctx *cx, const Env *outer)
{
    Env *e = env_new(cx);
    e->outer = outer;
    return e;
}

void env_copy_sizes(Env *to, const Env *from)
{
    to->sizes = from->sizes;
    to->outer = from->outer;
}

void env_set_size(Env *e, const Expr *size_var, int64_t value)
{
    int64_t *kept = NEW(e->arena, int64_t);
    *kept = value;
    map_put_ptr(&e->sizes, size_var->ref, kept);
}

bool env_size(const Env *e, const Expr *size_var, int64_t *value)
{
    const int64_t *kept = map_get_ptr(&e->sizes, size_var->ref);
    if (kept) *value = *kept;
    return kept || (e->outer && env_size(e->outer, size_var, value));
}

void env_set(Env *e, const Tensor *t, void *data) { map_put_ptr(&e->tensors, t, data); }

void env_set_const(Env *e, const Tensor *t, const void *data) { map_put_const_ptr(&e->tensors, t, data); }

const void *env_get(const Env *e, const Tensor *t) { return t->data ? t->data : map_get_const_ptr(&e->tensors, t); }

void *env_storage(const Env *e, const Tensor *t) { return map_get_ptr(&e->tensors, t); }
