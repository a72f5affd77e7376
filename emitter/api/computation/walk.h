/* SPDX-License-Identifier: MIT */
#ifndef LW_API_WALK_H
#define LW_API_WALK_H
#include "api/computation/computation.h"

/* Finds the stage of a handle in the nest after the steps so far. s is NULL for an input; s and t are NULL after an
 * error or if the stage no longer exists. */
typedef struct Seen { lw_computation *p; Ctx *cx; const Nest *n; const Stage *s; const Tensor *t; } Seen;
Seen seen_as(lw_computation *p, const char *stage);
static inline Ctx *stage_context(const lw_stage *s) { return s ? s->h.of->cx : NULL; }
#endif
