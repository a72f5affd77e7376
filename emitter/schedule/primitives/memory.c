/* SPDX-License-Identifier: MIT */
/* memory: declares a memory for cache_read, cache_write and set_scope.
 *
 *   memory scratchpad bytes=16384 align=16 row=16 banks=4 opaque
 *
 * The checker proves that the buffers in it fit (I9) and, for an opaque memory, that only copies and instructions
 * access it (I10). */

/* Decision: a memory of a unit is a row beside the four built-in scopes. The buffers of such a memory are arrays of the
 * function, so that the portable form needs no unit. With LW_MEMORY_name(offset), a firmware gives their addresses; the
 * compiler chooses the offsets, because the nest states which buffers live at the same time. */
#include "ir/text/read_scope.h"
#include "schedule/draft/draft.h"
#include "support/text.h"

static bool is_same(const Scope *a, const Scope *b)
{
    return a->bytes == b->bytes && a->align == b->align && a->row == b->row && a->banks == b->banks
           && a->is_opaque == b->is_opaque;
}

const Nest *run_memory(Ctx *cx, const Nest *n, const StepArgs *a)
{
    if (ctx_failed(cx) || !n) return n;
    Draft d = draft_open(cx, n, STEP_memory, a);
    const char *fault, *accepted;
    const Scope *s = scope_declared(cx, a, &fault, &accepted), *known = scope_called(n->scope, n->scope_count, a->name);
    if (!s) refuse_invalid(&d, FAULT_VALUE, accepted, "%s", fault);
    else if (known && !is_same(known, s))
        refuse_invalid(&d, FAULT_NAME, "another name", "the memory %s is declared already, with other properties",
                       a->name);
    if (ctx_failed(cx)) return n;
    if (known) return draft_close(&d);
    const Scope **all = NEW_ARRAY(cx->arena, const Scope *, n->scope_count + 1);
    for (int i = 0; i < n->scope_count; i++) all[i] = n->scope[i];
    all[d.next.scope_count++] = s;
    d.next.scope = all;
    return draft_close(&d);
}
