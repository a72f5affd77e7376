/* SPDX-License-Identifier: MIT */
#ifndef LW_SCHEDULES_TILE_H
#define LW_SCHEDULES_TILE_H
/* What templates share: walking a group's nest, and choosing the sizes of tiles. */
#include "graph/dag/target.h"
#include "schedule/schedule.h"

/* The stage that makes the nest's first output. */
const Stage *output_stage(const Nest *n);
bool makes_output(const Nest *n, const Stage *s);
/* Inlines every stage that neither reduces nor is an output nor is `except`. */
const Nest *inline_elementwise(Ctx *cx, const Nest *n, const char *except);
/* "stage.axis" of the stage's axis number a, as in the naive nest. */
const char *loop_name(Ctx *cx, const Stage *s, int axis);
int64_t axis_extent(const Stage *s, int axis);        /* -1 where symbolic */
/* The loops of `out` in tiles, and in each tile the accumulators of reductions: of acc[0], which out's tile reads, of acc[1],
 * which begins acc[0], and so on; in registers, their reduce loops outside of the tile's (generic/contraction.c).
 * whole_row: a tile has all of the axis before the last, if there are registers for it. */
const Nest *tile_reductions(Ctx *cx, const Nest *n, const Stage *out, const char *const *acc, int count, bool whole_row, const Target *t);
#endif
