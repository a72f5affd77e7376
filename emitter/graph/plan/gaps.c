/* SPDX-License-Identifier: MIT */
/* Places copies in gaps: best fit, in two orders, by gain per byte and by gain. The better order counts. */
#include "graph/plan/gaps.h"

#include <stdlib.h>
#include <string.h>

static int by_begin(const void *a, const void *b)
{
    const Gap *x = a, *y = b;
    return x->begin < y->begin ? -1 : x->begin > y->begin;
}

int gaps_between(Gap *taken, int count, int64_t capacity, Gap *gap)
{
    int64_t end = 0;
    int gaps = 0;
    if (count) qsort(taken, (size_t)count, sizeof *taken, by_begin);
    for (int i = 0; i < count; i++) {
        if (taken[i].begin > end) gap[gaps++] = (Gap){ end, taken[i].begin - end };
        if (taken[i].begin + taken[i].bytes > end) end = taken[i].begin + taken[i].bytes;
    }
    if (capacity > end) gap[gaps++] = (Gap){ end, capacity - end };
    return gaps;
}

static int denser_first(const void *a, const void *b)
{
    const GapItem *x = a, *y = b;
    const double d = (double)y->gain * (double)x->bytes - (double)x->gain * (double)y->bytes;
    return d < 0 ? -1 : d > 0 ? 1 : x->index - y->index;
}

static int larger_gain_first(const void *a, const void *b)
{
    const GapItem *x = a, *y = b;
    return x->gain != y->gain ? x->gain > y->gain ? -1 : 1 : x->index - y->index;
}

static int by_index(const void *a, const void *b) { return ((const GapItem *)a)->index - ((const GapItem *)b)->index; }

static int smallest_that_fits(const Gap *gap, int gaps, int64_t bytes)
{
    int best = -1;
    for (int i = 0; i < gaps; i++)
        if (gap[i].bytes >= bytes && (best < 0 || gap[i].bytes < gap[best].bytes)) best = i;
    return best;
}

static int64_t fill_in_order(Gap *gap, int gaps, GapItem *item, int count)
{
    int64_t gain = 0;
    for (int i = 0; i < count; i++) {
        const int at = smallest_that_fits(gap, gaps, item[i].bytes);
        item[i].offset = -1;
        if (at < 0) continue;
        item[i].offset = gap[at].begin;
        gap[at].begin += item[i].bytes;
        gap[at].bytes -= item[i].bytes;
        gain += item[i].gain;
    }
    return gain;
}

int64_t gaps_fill(Ctx *cx, const Gap *gap, int gaps, GapItem *item, int count)
{
    static int (*const orders[])(const void *a, const void *b) = { denser_first, larger_gain_first };
    const ArenaMark mark = arena_mark(cx->scratch);
    GapItem *best = NEW_ARRAY(cx->scratch, GapItem, count);
    int64_t most = -1;
    for (int k = 0; k < 2 && count; k++) {
        Gap *left = arena_copy(cx->scratch, gap, (size_t)gaps * sizeof *gap);
        qsort(item, (size_t)count, sizeof *item, orders[k]);
        const int64_t gain = fill_in_order(left, gaps, item, count);
        if (gain <= most) continue;
        most = gain;
        memcpy(best, item, (size_t)count * sizeof *item);
    }
    if (count) memcpy(item, best, (size_t)count * sizeof *item);
    if (count) qsort(item, (size_t)count, sizeof *item, by_index);
    arena_reset(cx->scratch, mark);
    return most > 0 ? most : 0;
}
