/* SPDX-License-Identifier: MIT */
#ifndef LW_API_COMPUTATION_H
#define LW_API_COMPUTATION_H
/* A computation of loopwright.h: a loop nest under steps. It begins as the statements of a client (define.c), or as a
 * fused group that a client's schedule function receives (extend.c); steps.c and walk.c do not distinguish the two. */

/* Decision: a group is a computation. A schedule function receives the type that `lw_define` returns
 * (`emitter/api/computation`), so every `lw_` step and every accessor serves both. A handle of a stage or loop is a
 * name in its computation, looked up at each use: it survives the steps that rebuild the nest. A step's operand is a
 * name or a handle; handles begin with a byte that no name has, and become the words of the step's text, so there is
 * one function per row and one resolver. */
#include "driver/driver.h"
#include "support/text.h"

struct lw_computation {
    Ctx *cx;
    const char *name;                /* place of diagnostics, and prefix of the emitted symbols */
    lw_options options;
    Text statements;
    bool has_nests;
    Build build;                     /* of the statements, once has_nests */
    int chosen;                      /* the group of build that steps apply to; -1: none so far */
    bool *is_chosen;                 /* [groups] by lw_schedule_group, now or before */
    const GroupNest *group;          /* NULL: built from statements */
    void *user;                      /* of the group's row */
    const Nest *nest;                /* of the chosen group, after all steps so far; NULL before, or after an error */
    Map stages, loops;               /* name -> its handle */
};

/* NULL, and every call on it fails: lw_define returned NULL after an error. */
static inline Ctx *computation_context(const lw_computation *p) { return p ? p->cx : NULL; }
lw_computation *computation_new(Ctx *cx, const char *name);
/* define.c: returns the nest of the chosen group after the steps so far; the first call builds it from the statements.
 * Several groups without a choice are an error. NULL after an error. */
const Nest *computation_nest(lw_computation *p);

/* A handle begins with a mark that no name has, so an operand may be either. */
typedef enum HandleKind { HANDLE_STAGE, HANDLE_LOOP } HandleKind;
typedef struct Handle { char mark[8]; HandleKind kind; lw_computation *of; const char *name; } Handle;
struct lw_stage { Handle h; };
struct lw_loop { Handle h; };
const Handle *handle_of(const void *operand);                    /* handles.c: NULL if the operand is a name */
/* Return the one handle of the name, or NULL for NULL. */
const lw_stage *stage_handle(lw_computation *p, const char *name);
const lw_loop *loop_handle(lw_computation *p, const char *name);
#endif
