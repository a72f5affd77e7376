/* SPDX-License-Identifier: MIT */
#ifndef LW_SCHEDULE_STEP_ROLE_H
#define LW_SCHEDULE_STEP_ROLE_H
/* Roles: words of a step that name a stage by its computation, so that one text works for many dataflows. roles.def has
 * a row for each. A role is resolved in the nest before the step, independently of earlier nests. An inlined stage no
 * longer exists; its consumer may match instead. After cache_write the new stage computes the sum, and is the
 * contraction; the old one is a copy, and still @op(...). Loops and copies of a role's stage are written after it:
 * @contraction.c, @contraction@init.o. The trace of a nest contains names, never roles. */
#include "ir/nest/refusal.h"
#include "ir/text/step.h"

/* The form of a role in lists: "@producer(NAME)". */
typedef struct RoleText { const char *usage, *help; } RoleText;
const RoleText *role_text(int i);                                /* returns NULL past the last role */

typedef struct RoleFault { FaultKind kind; const char *fault, *accepted; } RoleFault;

/* Collects the stages that have the role, in the order of the nest: out[n->stage_count]. Returns their number, which
 * may be 0. Returns -1 and sets *fault if the word is not a role, or if its argument names nothing. */
int role_stages(Ctx *cx, const Nest *n, const char *role, const Stage **out, RoleFault *fault);

/* Replaces the roles of a step by names. Returns the steps to apply one after the other: one step, or one step for each
 * match of @elementwise, consumers first. In each of these steps, @elementwise means the same stage in all operands. A
 * list of stages (readers=) takes all matches. *count is 0 if there is no match; -1 after a diagnostic at `text`, if
 * any other role has no or several matches. */
const StepArgs *role_resolve(Ctx *cx, const Nest *n, const char *text, const StepRow *row, const StepArgs *args,
                             int *count);
#endif
