/* SPDX-License-Identifier: MIT */
#ifndef LW_SCHEDULE_DRAFT_ROWS_H
#define LW_SCHEDULE_DRAFT_ROWS_H
/* Loops over row groups of a stage: iteration v computes the rows that start at v*R, as split produces them. */
#include "schedule/draft/draft.h"

/* Returns R if the index uses the loop's variable only as v*R, 1 if it uses v itself, and 0 otherwise. */
int64_t rows_per_group(Ctx *cx, const Expr *index, const Expr *var);

/* Returns the body of a loop with `first` instead of every v*R, so that the row group begins at `first`, with
 * everything that is attached inside. Returns NULL if v has a different use, as in v/2. `from` and `to` replace further
 * variables. `scope` holds around the body and contains the variables of the new expressions. */
const Stmt *body_of_group(Ctx *cx, const Stmt *body, const Bounds *scope, const Expr *var, int64_t rows,
                          const Expr *first, const Expr *const *from, const Expr *const *to, int count);
/* Returns the index e with min(a, constant) replaced by a, because a consumer's shifted last tile begins earlier than
 * its index without the shift. */
const Expr *without_shift(Ctx *cx, const Expr *e);
/* Returns min(max(first, 0), last), simplified. If the first row is itself a minimum, returns only its operand below
 * `last`. */
const Expr *first_row(Ctx *cx, const Expr *first, const Expr *last, const Bounds *scope);
#endif
