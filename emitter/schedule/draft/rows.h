/* SPDX-License-Identifier: MIT */
#ifndef LW_SCHEDULE_ROWS_H
#define LW_SCHEDULE_ROWS_H
/* Loops that take the rows of a stage in blocks: iteration v makes the rows from v*R on, as split leaves it. */
#include "schedule/draft/draft.h"

/* R, if the index has the loop's variable as v*R alone; 1: as v itself; 0: otherwise. */
int64_t rows_in_block(Ctx *cx, const Expr *index, const Expr *var);

/* The body of a loop in which every v*R is `first`: so a block begins there, and all that is inside of it comes along. NULL where v
 * occurs otherwise, as in v/2. `from` and `to` replace other variables, too. `scope` is in force around it, with what the new
 * expressions use. */
const Stmt *block_of_rows(Ctx *cx, const Stmt *body, const Bounds *scope, const Expr *var, int64_t rows,
                          const Expr *first, const Expr *const *from, const Expr *const *to, int count);
/* min(e, constant) as e: a reader's last tile may begin earlier than the others would have it. */
const Expr *without_shift(Ctx *cx, const Expr *e);
/* min(max(first, 0), last), simplified; of a first row that is itself a minimum only what is below `last`. */
const Expr *first_row(Ctx *cx, const Expr *first, const Expr *last, const Bounds *scope);
#endif
