/* SPDX-License-Identifier: MIT */
#include "schedules/panel.h"

/* MOST_ACROSS: widest tile in vectors. LEAST_LANES: lanes of the narrowest vector. IN_FLIGHT: multiply-adds that hide
 * their own latency. LOADED: bytes of weights that the second cache delivers in the time of a multiply-add; LOADED_FAR:
 * the same number for a panel of more than NEAR bytes, which comes from a later cache. WORTH_CROSSING, WORTH_ADDRESSES:
 * tiles across rows must save at least this part of the cost of windows; the first if an operand in memory includes an
 * index, the second if each position's address is advanced. */
enum { MOST_ACROSS = 8, LEAST_LANES = 4, IN_FLIGHT = 8, LOADED = 32, NEAR = 384 << 10, LOADED_FAR = 12,
       WORTH_CROSSING = 32, WORTH_ADDRESSES = 6 };

bool has_vectors(const Target *t) { return t->lanes > 1 && t->vector_bytes > 0; }

/* Returns the number of registers of c channels: whole vectors, then halves and quarters. */
static int64_t registers_of(const Target *t, int64_t c)
{
    int64_t lanes = t->vector_bytes / 4, count = c / lanes;
    for (c %= lanes; c > 0; count++) {
        while (lanes > c) lanes /= 2;
        c -= lanes;
    }
    return count;
}

/* Returns the cost of one step of the reduction: w*r multiply-adds, w loads of data and r of weights. If there are
 * fewer multiply-adds than the pipelines hold, they wait for each other. */
static int64_t step_cost(const Target *t, int64_t w, int64_t r, bool is_far)
{
    const int64_t products = w * r, each = is_far ? LOADED_FAR : LOADED,
                  load = t->vector_bytes > each ? t->vector_bytes / each : 1;
    return (products < IN_FLIGHT ? IN_FLIGHT : products) + w + r * load;
}

VectorTile vector_tile(const Target *t, int64_t positions, int64_t outs, int64_t depth, int64_t channels)
{
    VectorTile best = { 1, 0, INT64_MAX };
    for (int64_t c = LEAST_LANES; c <= outs; c += LEAST_LANES) {
        const int64_t r = registers_of(t, c);
        if (r > MOST_ACROSS || r > t->accumulators) break;
        if (outs % c || (channels && c != channels)) continue;
        for (int64_t w = 1; w <= positions && w * r <= t->accumulators; w++) {
            const int64_t cost = outs / c * ((positions + w - 1) / w)
                                 * step_cost(t, w, r, depth * c * 4 > NEAR);
            if (cost > best.cost || (cost == best.cost && w < best.w)) continue;
            best = (VectorTile){ w, c, cost };
        }
    }
    return best;
}

/* Returns true if consecutive positions read consecutive pixels: there are no windows and no strides. */
static bool reads_pixels_in_order(const Node *product)
{
    const Tensor *x = product->in[0], *k = product->in[1], *y = product->out[0];
    for (int d = 0; d + 2 < k->rank; d++)
        if (tensor_dim(k, d) != 1 || tensor_dim(x, 1 + d) != tensor_dim(y, 1 + d)) return false;
    return true;
}

int64_t tiled_positions(const Target *t, const Node *product, int64_t channels)
{
    const Tensor *k = product->in[1], *y = product->out[0];
    const int64_t outs = tensor_dim(y, y->rank - 1), depth = tensor_elems(k) / tensor_dim(k, k->rank - 1);
    int64_t all = 1, row = 0;
    for (int d = y->rank - 2; d >= 0; d--) {
        all *= tensor_dim(y, d);
        if (!row && all > 1) row = all;
    }
    if (!row || reads_pixels_in_order(product)) return all;
    const VectorTile by_rows = vector_tile(t, row, outs, depth, channels),
                     across = vector_tile(t, all, outs, depth, channels);
    const int64_t rows = all / row, saved = by_rows.c && across.c ? rows * by_rows.cost - across.cost : 0;
    return saved > (t->vector_registers ? across.cost / WORTH_CROSSING : across.cost / WORTH_ADDRESSES) ? all : row;
}
