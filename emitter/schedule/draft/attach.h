/* SPDX-License-Identifier: MIT */
#ifndef LW_SCHEDULE_PLACE_H
#define LW_SCHEDULE_PLACE_H
/* Where a stage stands in the nest: taking it out, the box of points that its readers under a loop need, building its loops
 * for a box, putting it in. compute_at, compute_root and the caches are made of these. */
#include "schedule/draft/draft.h"

/* Per data axis [begin, begin + count), begin over the host loops, count over sizes. `cut` where the box may overshoot
 * the axis's domain, so that the block needs a guard. */
typedef struct StageBox { const Expr *begin[MAX_AXES], *count[MAX_AXES]; bool cut[MAX_AXES]; } StageBox;

StageBox whole_box(const Stage *s);
/* The hull of what the blocks below the loop (the last of the path) read of the stage. Where a read gives no interval, the
 * whole of that axis: too much is waste, too little would be wrong. */
StageBox needed_box(Ctx *cx, const Stage *s, const Path *host);
/* The lowest index that they read along one dimension; false where that has no bounds. */
bool needed_from(Ctx *cx, const Stage *s, const Path *host, int dimension, const Expr **low);


/* Without the stage's blocks, and the loops that hold nothing else. Its allocs stay. */
const Stmt *without_stage(Ctx *cx, const Stmt *s, const Stage *stage);
const Stmt *without_allocs(Ctx *cx, const Stmt *s, const Stage *stage, const Buffer **found);   /* found[out_count] */
/* `nest` before the first child of the outermost sequence (below allocs) that reads the stage; at the end if none does. */
const Stmt *with_nest(Ctx *cx, const Stmt *body, const Stage *stage, const Stmt *nest);
const Stmt *with_allocs(Ctx *cx, const Stmt *body, const Stage *stage, const Buffer *const *buffer);
const Buffer *buffer_new(Ctx *cx, const Tensor *t, Scope scope);

/* Names of the innermost host loop of the stage's first block, and of the innermost loop around its alloc; NULL: root. */
const char *host_of(const Nest *n, const Stage *s);
const char *alloc_host_of(const Nest *n, const Stage *s);

/* Takes the stage out and puts it in again under the loop (NULL: root); its allocs come along if they stand at its host,
 * or would not enclose the new place. Makes no proof: the caller says why it may. */
bool move_stage(Draft *d, const Stage *s, const char *loop);
/* The first half of that: without the stage's blocks, and its allocs where wanted; buffer[i] is what has to be put in again. */
void take_stage(Draft *d, const Stage *s, bool with_its_allocs, const Buffer **buffer);
/* The second half: buffer[i] (NULL: it stands elsewhere) becomes the alloc of the stage's output i. */
bool put_stage(Draft *d, const Stage *s, const char *loop, const Buffer *const *buffer);
/* The same under a loop for a box that the caller gives. */
bool put_stage_box(Draft *d, const Stage *s, const char *loop, const StageBox *box, const Buffer *const *buffer);
/* Only the storage: the allocs stand directly inside the loop (NULL: at the root). */
void store_stage(Draft *d, const Stage *s, const char *loop, const Buffer *const *buffer);
/* Refuses where a block of the stage stands outside the loop (NULL: the root, which holds all). */
bool all_stand_inside(Draft *d, const Stage *s, const char *host);
/* Enters a new stage in the nest's list, before its first reader there, or before `before` where that is not NULL. */
void list_stage(Draft *d, const Stage *s, const Stage *before);
/* A name for a new stage: the one asked for, or BASE_SCOPE; NULL after refusing one that is taken. */
const char *new_stage_name(Draft *d, const char *asked, const char *base, Scope scope);
/* Refuses where blocks of other stages stand inside the loops of this one. */
bool nothing_inside(Draft *d, const Stage *s);
/* Refuses where something that the stage reads is computed inside a loop that does not enclose the new place, the last loop
 * of the path (NULL: the root). */
bool producers_are_done(Draft *d, const Stage *s, const Path *place);
#endif
