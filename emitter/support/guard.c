/* SPDX-License-Identifier: MIT */
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
