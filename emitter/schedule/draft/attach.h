/* SPDX-License-Identifier: MIT */
#ifndef LW_SCHEDULE_DRAFT_ATTACH_H
#define LW_SCHEDULE_DRAFT_ATTACH_H
/* The position of a stage in the nest: removes the stage, finds the box of points that its consumers under a loop need,
 * builds the stage's loops for a box, and inserts them. compute_at, compute_root and the caches consist of these
 * operations. */
#include "schedule/draft/draft.h"

/* A box with [begin, begin + count) per data axis; begin is over the host loops, count over sizes. `cut` is true if the
 * box may exceed the axis's domain, so that the block needs a guard. */
typedef struct StageBox { const Expr *begin[MAX_AXES], *count[MAX_AXES]; bool cut[MAX_AXES]; } StageBox;

StageBox whole_box(const Stage *s);
/* Returns the hull of the stage's points that the blocks below the loop (the last of the path) read. A read without an
 * interval gives the whole axis. A box that is too large costs only time, but a box that is too small is wrong. */
StageBox needed_box(Ctx *cx, const Stage *s, const Path *host);
/* Finds the lowest and the highest index that the blocks below the loop read along one dimension. Returns false if a
 * bound is missing. */
bool needed_range(Ctx *cx, const Stage *s, const Path *host, int dimension, const Expr **low, const Expr **high);
/* Returns an upper bound of the number. Terms may cancel, as in i + 2 - max(i - 1, 0). */
int64_t greatest_of(Ctx *cx, const Expr *number, const Bounds *scope);

/* Removes the stage's blocks, and the loops that contain nothing else. Its allocs stay. */
const Stmt *without_stage(Ctx *cx, const Stmt *s, const Stage *stage);
/* Removes the Allocs of the stage; found[out_count] receives their buffers. */
const Stmt *without_allocs(Ctx *cx, const Stmt *s, const Stage *stage, const Buffer **found);
/* Inserts `nest` before the first child of the outermost sequence (below allocs) that reads the stage, or at the
 * end. */
const Stmt *with_nest(Ctx *cx, const Stmt *body, const Stage *stage, const Stmt *nest);
const Stmt *with_allocs(Ctx *cx, const Stmt *body, const Stage *stage, const Buffer *const *buffer);
const Buffer *buffer_new(Ctx *cx, const Tensor *t, const Scope *scope);

/* Return the innermost host loop of the stage's first block, and the innermost loop around its alloc. NULL is the
 * root. */
const char *host_of(const Nest *n, const Stage *s);
const char *alloc_host_of(const Nest *n, const Stage *s);

/* Moves the stage under the loop, or to the root if loop is NULL. The stage's allocs move along if they are at its
 * host, or would not enclose the new position. The caller proves that the move is valid. */
bool move_stage(Draft *d, const Stage *s, const char *loop);
/* The first half of move_stage: removes the stage's blocks and, if requested, its allocs. The caller must restore
 * buffer[i]. */
void take_stage(Draft *d, const Stage *s, bool with_its_allocs, const Buffer **buffer);
/* The second half of move_stage: buffer[i] becomes the alloc of the stage's output i. buffer[i] is NULL for an output
 * that is allocated elsewhere. */
bool put_stage(Draft *d, const Stage *s, const char *loop, const Buffer *const *buffer);
/* Like put_stage, for a given box under a loop. */
bool put_stage_box(Draft *d, const Stage *s, const char *loop, const StageBox *box, const Buffer *const *buffer);
/* Moves only the storage: the allocs become the first statements inside the loop, or at the root if loop is NULL. */
void store_stage(Draft *d, const Stage *s, const char *loop, const Buffer *const *buffer);
/* Refuses the step if a block of the stage is outside the loop `host`. A host of NULL is the root, which contains all
 * blocks. */
bool all_blocks_inside(Draft *d, const Stage *s, const char *host);
/* Enters a new stage in the nest's list, before its first consumer, or before `before` if that is not NULL. */
void list_stage(Draft *d, const Stage *s, const Stage *before);
/* Returns a name for a new stage: the requested name, or BASE_SCOPE. Returns NULL after it refuses a name that
 * exists. */
const char *new_stage_name(Draft *d, const char *asked, const char *base, const Scope *scope);
/* Refuses the step if blocks of other stages are inside the loops of this one. */
bool nothing_inside(Draft *d, const Stage *s);
/* Refuses the step if a producer of the stage is computed inside a loop that does not enclose the new position. The
 * position is the last loop of the path, or the root if position is NULL. */
bool producers_are_done(Draft *d, const Stage *s, const Path *position);
#endif
