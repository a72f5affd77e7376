/* SPDX-License-Identifier: MIT */
#ifndef LW_SUPPORT_GUARD_H
#define LW_SUPPORT_GUARD_H
/* Out of memory. The compiler does not check allocations: an arena without memory unwinds to the innermost guard of its
 * context. Every public function that allocates sets a guard, so its caller receives an ordinary error. Unwinding
 * releases registered resources, drops the diagnostics of the interrupted call, and records one with the size of the
 * failed allocation. From then on each call on the context fails at once.
 *
 * Two rules keep this sound.
 * - If memory is allocated while a resource exists that no arena owns (an open file, a scratch folder, a second arena),
 *   the resource must be registered.
 * - No guard is crossed. Calls of a callback into the interface set their own guards; the code that called the
 *   callback continues the unwinding with guard_resume. */
#include <setjmp.h>

#include "support/ctx.h"

/* A resource that unwinding releases. The caller owns the record, mostly on its stack; `release` allocates nothing. */
typedef struct Resource Resource;
struct Resource { Resource *older; void (*release)(void *what); void *what; };

void resource_hold(Ctx *cx, Resource *r, void (*release)(void *what), void *what);
void resource_hold_arena(Ctx *cx, Resource *r, Arena *a);
void resource_drop(Ctx *cx, Resource *r);      /* releases and unregisters the newest resource */

typedef struct Guard Guard;
struct Guard { Guard *outer; Resource *resources; DiagMark mark; jmp_buf back; };

bool guard_begin(Ctx *cx, Guard *g);           /* returns false if the context is NULL or out of memory */
void guard_end(Ctx *cx, const Guard *g);
void guard_exhausted(void *context, size_t bytes);      /* the out-of-memory hook of a guarded context's arenas */
void guard_resume(Ctx *cx);                    /* after a callback, continues unwinding if memory ran out */

/* The body of a guarded function. Returns the value of `call`, or `failure` if memory runs out in it. */
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
