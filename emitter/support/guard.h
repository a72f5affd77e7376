/* SPDX-License-Identifier: MIT */
#ifndef LW_SUPPORT_GUARD_H
#define LW_SUPPORT_GUARD_H
/* Memory that runs out. Code of the compiler does not check allocations: an arena that gets no block unwinds to the
 * innermost guard of its context. Every function of the public interface that allocates sets one, so the caller sees an
 * error like any other. The unwinding releases registered resources, drops the diagnostics of the interrupted call and
 * records one that says how much was refused. The context is dead from then on: each further call fails at once.
 *
 * Two rules keep this sound. Everything that an arena does not own (an open file, a scratch folder, a second arena) is
 * registered while memory is allocated beside it. No guard is crossed: a callback's calls into the interface have guards
 * of their own, and the code that called the callback goes on unwinding with guard_resume. */
#include <setjmp.h>

#include "support/ctx.h"

/* A resource that unwinding releases. The record is the caller's, mostly on its stack; `release` allocates nothing. */
typedef struct Resource Resource;
struct Resource { Resource *older; void (*release)(void *what); void *what; };

void resource_hold(Ctx *cx, Resource *r, void (*release)(void *what), void *what);
void resource_drop(Ctx *cx, Resource *r);      /* the newest one: releases it and forgets it */

typedef struct Guard Guard;
struct Guard { Guard *outer; Resource *resources; DiagMark mark; jmp_buf back; };

bool guard_begin(Ctx *cx, Guard *g);           /* false where the context is NULL or has run out of memory before */
void guard_end(Ctx *cx, const Guard *g);
void guard_exhausted(void *context, size_t bytes);      /* the hook of a guarded context's arenas */
void guard_resume(Ctx *cx);                    /* after a callback: unwinds on if memory ran out in it */

/* The body of a guarded function: returns the value of `call`, or `failure` where memory runs out in it. */
#define RETURN_GUARDED(cx, Type, failure, call)                                                                        \
    do {                                                                                                               \
        Guard guard_;                                                                                                  \
        Ctx *const cx_ = (cx);                                                                                         \
        if (!guard_begin(cx_, &guard_)) return failure;                                                                \
        if (setjmp(guard_.back)) return failure;                                                                       \
        Type const result_ = (call);                                                                                   \
        guard_end(cx_, &guard_);                                                                                       \
        return result_;                                                                                                \
    } while (0)

#endif
