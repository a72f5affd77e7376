/* SPDX-License-Identifier: MIT */
#include "ir/nest/scope.h"

#include <stddef.h>
#include <string.h>

static const Scope builtin[] = {
    { .kind = SCOPE_REGISTER, .name = "register" },
    { .kind = SCOPE_STACK, .name = "stack" },
    { .kind = SCOPE_ARENA, .name = "arena" },
    { .kind = SCOPE_STATIC, .name = "static" },
};

const Scope *scope_builtin(ScopeKind k) { return &builtin[k]; }

const Scope *scope_called(const Scope *const *declared, int count, const char *wanted)
{
    for (int k = 0; k < SCOPE_DECLARED; k++)
        if (strcmp(builtin[k].name, wanted) == 0) return &builtin[k];
    for (int i = 0; i < count; i++)
        if (strcmp(declared[i]->name, wanted) == 0) return declared[i];
    return NULL;
}

static int64_t rounded(int64_t n, int64_t to) { return to > 1 ? (n + to - 1) / to * to : n; }

int64_t scope_align(const Scope *s, int64_t size) { return s->align > size ? s->align : size; }

int64_t scope_begin(const Scope *s, int64_t used, int64_t size)
{
    return rounded(s->banks > 1 ? rounded(used, s->bytes / s->banks) : used, scope_align(s, size));
}
