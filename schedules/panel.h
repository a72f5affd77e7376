/* SPDX-License-Identifier: MIT */
#ifndef LW_SCHEDULES_PANEL_H
#define LW_SCHEDULES_PANEL_H
/* Chooses register tiles of contractions on targets with vector registers: w positions of the output by c channels. */
#include "schedules/tile.h"

typedef struct VectorTile {
    int64_t w, c;
    int64_t cost;                    /* cost of all tiles, to compare tiles of other numbers of positions */
} VectorTile;

/* Returns true if runtime/simd has vectors of floats for the target. */
bool has_vectors(const Target *t);
/* Returns the tile with the smallest cost over `positions` by `outs` sums of `depth` products. On a tie it returns the
 * tile with more positions, whose panels are narrow and are read less often. channels: the channels of the tile, or 0
 * for any divisor of outs that consists of whole vectors. c is 0 if there is no tile. */
VectorTile vector_tile(const Target *t, int64_t positions, int64_t outs, int64_t depth, int64_t channels);
/* Returns the number of positions over which the tiles of a product run: all positions, or the positions of a row. A
 * tile of windows crosses rows if that saves overhanging tiles; each position then has an address of its own. channels:
 * as for vector_tile. */
int64_t tiled_positions(const Target *t, const Node *product, int64_t channels);
#endif
