/* SPDX-License-Identifier: MIT */
#include "schedules/panel.h"

/* widest tile in vectors; lanes of the narrowest vector; multiply-adds that hide their own latency; bytes of weights
 * that come from the second cache in the time of a multiply-add */
enum { MOST_ACROSS = 8, LEAST_LANES = 4, IN_FLIGHT = 8, LOADED = 32 };

bool has_vectors(const Target *t) { return t->lanes > 1 && t->vector_bytes > 0; }

/* Returns the registers of c channels: whole vectors, then halves and quarters. */
static int64_t registers_of(const Target *t, int64_t c)
{
    int64_t lanes = t->vector_bytes / 4, count = c / lanes;
    for (c %= lanes; c > 0; count++) {
        while (lanes > c) lanes /= 2;
        c -= lanes;
    }
    return count;
}

/* Cost of one step of the reduction: w*r multiply-adds, w loads of data and r of weights. Fewer multiply-adds than the
 * pipelines hold wait for each other. */
static int64_t step_cost(const Target *t, int64_t w, int64_t r)
{
    const int64_t products = w * r, load = t->vector_bytes > LOADED ? t->vector_bytes / LOADED : 1;
    return (products < IN_FLIGHT ? IN_FLIGHT : products) + w + r * load;
}

VectorTile vector_tile(const Target *t, int64_t positions, int64_t outs, int64_t channels)
{
    VectorTile best = { 1, 0 };
    int64_t least = INT64_MAX;
    for (int64_t c = LEAST_LANES; c <= outs; c += LEAST_LANES) {
        const int64_t r = registers_of(t, c);
        if (r > MOST_ACROSS || r > t->accumulators) break;
        if (outs % c || (channels && c != channels)) continue;
        for (int64_t w = 1; w <= positions && w * r <= t->accumulators; w++) {
            const int64_t cost = outs / c * ((positions + w - 1) / w) * step_cost(t, w, r);
            if (cost > least || (cost == least && w < best.w)) continue;
            least = cost;
            best = (VectorTile){ w, c };
        }
    }
    return best;
}
