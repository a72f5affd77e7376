/* SPDX-License-Identifier: MIT */
#ifndef LW_SCHEDULE_DRAFT_DRAFT_H
#define LW_SCHEDULE_DRAFT_DRAFT_H
/* Shared by the primitives: the draft of the next nest, refusals, search for loops and stages, scopes of variables.
 *
 * A primitive opens a draft, changes its nest, and closes it. Closing checks the whole nest, appends the step's text
 * and records consumed loops; after a refusal it returns the original nest, so a refused step changes nothing. */
#include "ir/algebra/algebra.h"
#include "ir/nest/refusal.h"
#include "schedule/step/primitives.h"
#include "support/text.h"

typedef struct Draft {
    Ctx *cx;
    const Nest *old;
    Nest next;                       /* a copy of *old, changed by the primitive */
    const StepRow *row;
    StepArgs args;                   /* short loop names become full names when they are found */
    const char *successors;          /* the names that replace the loops consumed by this step, or NULL */
} Draft;

Draft draft_open(Ctx *cx, const Nest *n, StepKind kind, const StepArgs *args);
Step draft_step(const Draft *d);      /* returns the step with the full names found so far */
const Nest *draft_close(Draft *d);   /* returns the new nest, or the old one after a refusal */

/* Refuse the step; all return false. A refusal is a value (ir/nest/refusal.h) with the primitive and its operands,
 * which the draft holds, the verdict and the kind of fault. The text of the fault names the loop or tensor and the
 * dependence or size; `accepted` is a noun phrase. */
bool refuse_wrong(Draft *d, FaultKind kind, const char *accepted, const char *fault, ...);
bool refuse_unproved(Draft *d, FaultKind kind, const char *accepted, const char *fault, ...);
bool refuse_invalid(Draft *d, FaultKind kind, const char *accepted, const char *fault, ...);
bool refuse_too_large(Draft *d, FaultKind kind, const char *accepted, const char *fault, ...);
bool refuse_with(Draft *d, const Refusal *r);       /* refuses this step with the refusal r */

/* Finds a loop by name and sets *loop to its full name. Otherwise, refuses the step with the existing loops, or with
 * the successors of a consumed loop. */
bool draft_find_loop(Draft *d, const char **loop, Path *out);
const Stage *draft_find_stage(Draft *d, const char *stage);                 /* returns NULL after it refuses the step */
/* Finds the block of a stage, conv, or of a copy, conv@tail. */
bool draft_find_block(Draft *d, const char *block, Path *out);
const Tensor *draft_find_tensor(Draft *d, const char *tensor);
/* Finds a memory, built in or declared by an earlier step. */
const Scope *draft_find_scope(Draft *d, const char *scope);
bool draft_loop_name_is_free(Draft *d, const char *loop);

static inline const Stmt *path_end(const Path *p) { return p->at[p->depth - 1]; }

/* Splits "conv@tail.ho" into the prefix "conv@tail", the short name "ho" and the stage "conv". */
const char *loop_prefix(Ctx *cx, const char *loop);
const char *loop_short(const char *loop);
bool loop_is_own(const Stmt *loop, const Stage *s);          /* returns true if the loop runs over axes of s */
/* Returns a new variable for a loop of that name. */
const Expr *loop_var_new(Ctx *cx, const char *loop, const Expr *extent);

bool is_output(const Nest *n, const Tensor *t);
bool is_input(const Nest *n, const Tensor *t);
bool stage_is_output(const Nest *n, const Stage *s);
bool stage_produces(const Stage *s, const Tensor *t);
const Stage *producer_of(const Nest *n, const Tensor *t);       /* returns NULL for an input */
/* Returns true if s reads any tensor of the producer. */
bool stage_consumes(Ctx *cx, const Stage *s, const Stage *producer);
/* Returns true if the block reads any tensor of the producer. */
bool block_reads(Ctx *cx, const Stmt *block, const Stage *producer);

/* Returns the number of blocks of the stage in s. */
int count_blocks(const Stmt *s, const Stage *stage);
/* Visits every block below s, in order, with the variables and facts that hold at it, except its guard. */
typedef void BlockVisit(Ctx *cx, const Stmt *block, const Bounds *scope, void *user);
void each_block(Ctx *cx, const Stmt *s, const Bounds *scope, BlockVisit *visit, void *user);
/* Returns the scope inside the last statement of the path. */
const Bounds *path_bounds(Ctx *cx, const Path *p);
/* Returns the scope inside the first `depth` statements. The statement after them tells which branch of an If the path
 * takes. */
const Bounds *path_bounds_to(Ctx *cx, const Path *p, int depth);

/* Returns true if an axis of this kind of the block depends on the loop variable. */
bool feeds_axis(const Stmt *block, const Expr *var, AxisKind kind);
bool is_constant(const Expr *e);                             /* returns true for an integer constant */

/* Returns the statement with variables replaced in all expressions. An expression that changes is simplified. `scope`
 * holds around the statement and contains the variables of the new expressions. */
const Stmt *replace_loops(Ctx *cx, const Stmt *s, const Bounds *scope, const Expr *const *from, const Expr *const *to,
                          int count);

/* Split a guard into its conjuncts, and join two conditions. NULL means true. */
enum { MAX_CONJUNCTS = 32 };
int conjuncts_of(const Expr *guard, const Expr **out);
const Expr *conjoin(Ctx *cx, const Expr *a, const Expr *b);

/* Replaces the stage `from` by `to` in blocks and in the nest's list. */
void draft_replace_stage(Draft *d, const Stage *from, const Stage *to);
/* Removes the stage with its blocks and allocs; to[i] replaces the nest's stage i. Rewrites the nest once, because
 * chains of calls are inlined stage by stage. */
void draft_inline_stage(Draft *d, const Stage *s, const Stage *const *to);
void draft_remove_stage(Draft *d, const Stage *s);          /* removes the stage from the nest's list */
/* Returns the reader with s's value in place of every read of s. */
const Stage *stage_inlined(Ctx *cx, const Stage *reader, const Stage *s);
/* Returns a copy of a stage that computes other values. */
const Stage *stage_with_values(Ctx *cx, const Stage *s, ExprVisit *visit, void *user);

/* Returns a copy of a statement for other points of its stages: names conv... become conv@MARK..., or conv@MARK2 and so
 * on. */
const Stmt *draft_copy(Draft *d, const Stmt *s, const char *mark);

/* The bodies of primitives that other primitives use. These bodies change the draft, or refuse. */
bool draft_split(Draft *d, const char **loop, int64_t factor, const char *outer, const char *inner);
bool draft_reorder(Draft *d, const char **loops, int count, bool reassociate);
bool draft_peel(Draft *d, const char **loop);
/* The primitive `vectorize LOOP` without reassociate. */
const Nest *vectorize_data_loop(Ctx *cx, const Nest *n, const StepArgs *a);
#endif
