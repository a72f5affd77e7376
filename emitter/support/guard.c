/* SPDX-License-Identifier: MIT */
/* Decision: running out of memory unwinds to the interface. Allocations are not checked where they are: there are
 * thousands, and each would need a path that no test reaches. An arena without a block jumps to the innermost guard
 * of its context (`emitter/support/guard.h`), which each public function sets. Memory is the arenas', so nothing
 * leaks; the few other resources (an open file, `verify`'s scratch folder) are registered and released on the way.
 * This jump is the only one in the compiler. After it the context stays refused, because a table may be half built.
 * `tests/unit/test_memory.c` fails every block and a sample of single allocations. */
#include "support/guard.h"

void resource_hold(Ctx *cx, Resource *r, void (*release)(void *what), void *what)
{
    *r = (Resource){ cx->resources, release, what };
    cx->resources = r;
}

static void release_arena(void *arena) { arena_free(arena); }
void resource_hold_arena(Ctx *cx, Resource *r, Arena *a) { resource_hold(cx, r, release_arena, a); }

void resource_drop(Ctx *cx, Resource *r)
{
    cx->resources = r->older;
    r->release(r->what);
}

bool guard_begin(Ctx *cx, Guard *g)
{
    if (!cx || cx->is_exhausted) return false;
    g->outer = cx->guard;
    g->resources = cx->resources;
    g->mark = diag_mark(cx);
    cx->guard = g;
    return true;
}

void guard_end(Ctx *cx, const Guard *g) { cx->guard = g->outer; }

/* Ends the innermost guarded call; returns if there is none. */
static void unwind(Ctx *cx)
{
    Guard *g = cx->guard;
    if (!g) return;
    while (cx->resources != g->resources) resource_drop(cx, cx->resources);
    cx->guard = g->outer;
    longjmp(g->back, 1);
}

void guard_exhausted(void *context, size_t bytes)
{
    Ctx *cx = context;
    if (!cx->is_exhausted) {
        if (cx->guard) diag_rewind(cx, cx->guard->mark);
        diag_exhausted(cx, bytes);
    }
    cx->is_exhausted = true;
    unwind(cx);
}

void guard_resume(Ctx *cx)
{
    if (cx->is_exhausted) unwind(cx);
}
