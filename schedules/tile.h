/* SPDX-License-Identifier: MIT */
#ifndef LW_SCHEDULES_TILE_H
#define LW_SCHEDULES_TILE_H
/* Helps templates walk over a group's nest and choose tile sizes. */
#include "graph/dag/target.h"
#include "schedule/schedule.h"

/* Returns the stage that computes the nest's first output. */
const Stage *output_stage(const Nest *n);
bool makes_output(const Nest *n, const Stage *s);
/* Inlines the stage, unless the value around it could be deeper than the checker accepts. */
const Nest *inline_stage(Ctx *cx, const Nest *n, const Stage *s);
/* Inlines every stage except reductions, outputs and `except`. */
const Nest *inline_elementwise(Ctx *cx, const Nest *n, const char *except);
/* Returns "stage.axis" for the stage's axis, as in the naive nest. If there is no such axis, no loop has the name. */
const char *loop_name(Ctx *cx, const Stage *s, int axis);
/* Returns the extent of the axis, or -1 if it is symbolic or does not exist. */
int64_t axis_extent(const Stage *s, int axis);
/* Returns the extent of the last data axis, or -1 if it is symbolic or if the stage is a scalar. */
int64_t last_extent(const Stage *s);
/* Returns true if no element of a constant of floats is an infinity or NaN. */
bool are_finite(const Tensor *w);
/* Tiles the loops of `out`. Each tile contains the accumulators of reductions: acc[0], which out's tile reads, acc[1],
 * which initializes acc[0], and so on. These accumulators are in registers, with their reduce loops outside the tile
 * loops (generic/contraction.c). whole_row: the tile covers the axis before the last, if there are enough registers. */
const Nest *tile_reductions(Ctx *cx, const Nest *n, const Stage *out, const char *const *acc, int count, bool whole_row,
                            const Target *t);
#endif
