/* SPDX-License-Identifier: MIT */
#include "ir/nest/external.h"

#include <string.h>

bool external_takes(const External *e, const Tensor *t)
{
    for (int i = 0; i < e->arg_count; i++)
        if (e->arg[i].kind == EXTERNAL_TENSOR && e->arg[i].tensor == t) return true;
    return false;
}

static bool states_stride(const External *e, const Tensor *t, int dimension)
{
    for (int i = 0; i < e->arg_count; i++)
        if (e->arg[i].kind == EXTERNAL_STRIDE && e->arg[i].tensor == t && e->arg[i].dimension == dimension) return true;
    return false;
}

bool external_knows_strides(const External *e, const Tensor *t)
{
    for (int d = 0; d + 1 < t->rank; d++)
        if (tensor_dim(t, d) != 1 && !states_stride(e, t, d)) return false;
    return true;
}

bool external_is_macro(const char *function)
{
    static const char *const macros[] = { "LW_FOREST_LE", "LW_FOREST_LT" };
    for (size_t i = 0; i < sizeof macros / sizeof macros[0]; i++)
        if (strcmp(function, macros[i]) == 0) return true;
    return false;
}

void external_of_whole_tensors(Ctx *cx, External *e)
{
    for (int i = 0; i < e->arg_count; i++) {
        ExternalArg *a = &e->arg[i];
        if (a->kind != EXTERNAL_DIM && a->kind != EXTERNAL_FIRST) continue;
        const Expr *value = a->kind == EXTERNAL_DIM ? a->tensor->shape[a->dimension] : expr_index(cx, 0);
        *a = (ExternalArg){ .kind = EXTERNAL_VALUE, .value = value };
    }
}

void external_mark_written(External *e, const Stmt *s)
{
    for (int o = 0; s->kind == STMT_BLOCK && o < s->stage->out_count; o++)
        for (int i = 0; i < e->arg_count; i++)
            if (e->arg[i].kind == EXTERNAL_TENSOR && e->arg[i].tensor == s->stage->out[o]) e->arg[i].is_written = true;
    for (int i = 0; i < s->child_count; i++) external_mark_written(e, s->child[i]);
}

static bool has_block_of(const Stmt *s, const Stage *stage)
{
    if (s->kind == STMT_BLOCK && s->stage == stage) return true;
    for (int i = 0; i < s->child_count; i++)
        if (has_block_of(s->child[i], stage)) return true;
    return false;
}

const External *external_of_stage(const Stmt *s, const Stage *stage)
{
    if (s->kind == STMT_TILE && s->external && has_block_of(s, stage)) return s->external;
    for (int i = 0; i < s->child_count; i++) {
        const External *e = external_of_stage(s->child[i], stage);
        if (e) return e;
    }
    return NULL;
}
