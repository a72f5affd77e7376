/* SPDX-License-Identifier: MIT */
#ifndef LW_SCHEDULES_PANEL_H
#define LW_SCHEDULES_PANEL_H
/* Register tiles of contractions on targets with vector registers: w positions of the output by c channels. */
#include "schedules/tile.h"

typedef struct VectorTile {
    int64_t w, c;
    int64_t cost;                    /* of all tiles, to compare with that of another number of positions */
} VectorTile;

/* Returns true if runtime/simd has vectors of floats for the target. */
bool has_vectors(const Target *t);
/* Returns the tile with the least cost over `positions` by `outs` sums of `depth` products; on a tie the one with
 * most positions, whose panels are narrow and are read least often. channels: of the tile, 0: any divisor of outs that
 * consists of whole vectors. c is 0 if there is none. */
VectorTile vector_tile(const Target *t, int64_t positions, int64_t outs, int64_t depth, int64_t channels);
/* Returns the positions that the tiles of a product run over: all, or those of a row. A tile of
 * windows crosses rows where that saves overhanging tiles; each of its positions then has an address of its own.
 * channels: as above. */
int64_t tiled_positions(const Target *t, const Node *product, int64_t channels);
#endif
