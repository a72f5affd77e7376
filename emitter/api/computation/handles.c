/* SPDX-License-Identifier: MIT */
/* Represents stages and loops as values. There is one handle per name and computation, so equal handles are equal
 * stages. */
#include <string.h>

#include "api/computation/computation.h"
#include "support/names.h"

static const char mark[8] = "\1handle";

const Handle *handle_of(const void *operand)
{
    return operand && strncmp(operand, mark, sizeof mark) == 0 ? operand : NULL;
}

static const void *handle(lw_computation *p, Map *all, HandleKind kind, const char *wanted)
{
    const char *known = name(p->cx, wanted);
    if (!known) return NULL;
    const Handle *old = map_get_const_ptr(all, known);
    if (old) return old;
    Handle *h = NEW(p->cx->arena, Handle);
    *h = (Handle){ .kind = kind, .of = p, .name = known };
    memcpy(h->mark, mark, sizeof mark);
    map_put_const_ptr(all, known, h);
    return h;
}

const lw_stage *stage_handle(lw_computation *p, const char *wanted)
{
    return handle(p, &p->stages, HANDLE_STAGE, wanted);
}

const lw_loop *loop_handle(lw_computation *p, const char *wanted)
{
    return handle(p, &p->loops, HANDLE_LOOP, wanted);
}

lw_computation *computation_new(Ctx *cx, const char *given)
{
    lw_computation *p = NEW(cx->arena, lw_computation);
    *p = (lw_computation){ .cx = cx, .name = name(cx, given), .statements = text_new(cx), .chosen = -1,
                           .stages = map_new(cx->arena), .loops = map_new(cx->arena) };
    p->options.name = p->name;
    return p;
}
