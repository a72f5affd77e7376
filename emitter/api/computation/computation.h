/* SPDX-License-Identifier: MIT */
#ifndef LW_API_COMPUTATION_H
#define LW_API_COMPUTATION_H
/* Declares a computation of loopwright.h, which is a loop nest under steps. The nest begins as the statements of a
 * client (define.c), or as a fused group that a client's schedule function receives (extend.c); steps.c and walk.c do
 * not distinguish the two. */

/* Decision: a group is a computation. A schedule function receives the type that `lw_define` returns
 * (`emitter/api/computation`), so every `lw_` step and every accessor works on definitions and on groups. A handle of a
 * stage or loop is a name in its computation. The name is looked up at each use, so a handle survives the steps that
 * rebuild the nest. A step's operand is a name or a handle. A handle begins with a byte that no name has, and is
 * replaced by words of the step's text. So each row needs only one function, and one resolver serves all rows. */
#include "driver/driver.h"
#include "support/text.h"

struct lw_computation {
    Ctx *cx;
    const char *name;                /* place of diagnostics, and prefix of the emitted symbols */
    lw_options options;
    Text statements;
    bool has_nests;
    Build build;                     /* nests of the statements, valid if has_nests */
    int chosen;                      /* the group of `build` that steps apply to, or -1 if none is chosen yet */
    bool *is_chosen;                 /* [groups] true if lw_schedule_group has ever chosen the group */
    const GroupNest *group;          /* the group of a schedule function, or NULL for a computation of statements */
    void *user;                      /* `user` of the group's implementation */
    /* the nest of the chosen group after all steps so far; NULL if no group is chosen or after an error */
    const Nest *nest;
    Map stages, loops;               /* map a name to its handle */
};

/* Returns NULL for a NULL computation, which lw_define returns after an error, so that every call on it fails. */
static inline Ctx *computation_context(const lw_computation *p) { return p ? p->cx : NULL; }
lw_computation *computation_new(Ctx *cx, const char *name);
/* define.c: returns the nest of the chosen group after the steps so far; the first call builds it from the statements.
 * Reports an error if there are several groups and none is chosen. Returns NULL after an error. */
const Nest *computation_nest(lw_computation *p);

/* A handle begins with a mark that no name has, so an operand may be either. */
typedef enum HandleKind { HANDLE_STAGE, HANDLE_LOOP } HandleKind;
typedef struct Handle { char mark[8]; HandleKind kind; lw_computation *of; const char *name; } Handle;
struct lw_stage { Handle h; };
struct lw_loop { Handle h; };
/* Implemented in handles.c; returns NULL if the operand is a name. */
const Handle *handle_of(const void *operand);
/* Each of these functions returns the only handle of the name, or NULL if the name is NULL. */
const lw_stage *stage_handle(lw_computation *p, const char *name);
const lw_loop *loop_handle(lw_computation *p, const char *name);
#endif
