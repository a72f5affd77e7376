/* SPDX-License-Identifier: MIT */
#include "ir/expr/memory.h"

const Expr *load_expr(Ctx *cx, const Memory *m, const Expr *index)
{
    return expr_new(cx, EXPR_LOAD, m->type, m, &index, 1);
}

const Memory *memory_new(Ctx *cx, const Memory *proto)
{
    Memory *m = arena_copy(cx->arena, proto, sizeof *proto);
    m->serial = ctx_serial(cx);
    return m;
}
