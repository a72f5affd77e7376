/* SPDX-License-Identifier: MIT */
/* Exact offsets against brute force. The smallest arena puts its items in some order, each at the lowest offset beside
 * those before it, so the least over all orders is the truth. */
#include "check.h"

#include "context/context.h"
#include "graph/plan/exact.h"

enum { MOST = 7, UNIT = 16 };

static uint32_t draw(uint32_t *seed, uint32_t below)
{
    *seed = *seed * UINT32_C(1664525) + UINT32_C(1013904223);
    return (*seed >> 8) % below;
}

/* True if the items may share a group; a's bytes may begin at `lead` behind the start of the item it goes into. */
static bool agree(const ExactItem *item, int a, int b)
{
    const ExactItem *x = &item[a], *y = &item[b];
    if (x->last < y->first || y->last < x->first) return true;
    if (x->offset + x->bytes <= y->offset || y->offset + y->bytes <= x->offset) return true;
    return (x->into == b && x->offset >= y->offset + x->lead) || (y->into == a && y->offset >= x->offset + y->lead);
}

static int64_t top(const ExactItem *item, int count)
{
    int64_t size = 0;
    for (int i = 0; i < count; i++)
        if (item[i].offset + item[i].bytes > size) size = item[i].offset + item[i].bytes;
    return size;
}

/* Puts the items that `used` does not mark in every order; lowers *least. */
static void try_orders(ExactItem *item, int count, unsigned used, int64_t *least)
{
    for (int i = 0; i < count; i++) {
        if (used >> i & 1) continue;
        bool fits = false;
        for (item[i].offset = -UNIT; !fits;) {
            item[i].offset += UNIT;
            fits = true;
            for (int j = 0; j < count; j++) fits = fits && (!(used >> j & 1) || agree(item, i, j));
        }
        const int64_t size = item[i].offset + item[i].bytes;
        if (size < *least) try_orders(item, count, used | 1u << i, least);
    }
    if (used != (1u << count) - 1) return;
    const int64_t size = top(item, count);
    if (size < *least) *least = size;
}

/* A chain of layers with scratch, in which some inputs may be overwritten; some items live longer. */
static int random_items(uint32_t *seed, ExactItem *item)
{
    const int count = 3 + (int)draw(seed, MOST - 2);
    for (int i = 0; i < count; i++) {
        const int first = (int)draw(seed, 5), length = draw(seed, 4) ? 1 : (int)draw(seed, 4);
        item[i] = (ExactItem){ (1 + draw(seed, 9)) * UNIT, 0, first, first + length, -1, 0 };
    }
    for (int i = 0; i < count; i++)
        for (int j = 0; j < count; j++)
            if (item[i].last == item[j].first && item[i].first < item[j].first && !draw(seed, 2)) {
                item[i].into = j;
                item[i].lead = draw(seed, 6) * UNIT;
            }
    return count;
}

/* The bytes of the largest group, without overlaps: a bound. */
static int64_t bound_of(const ExactItem *item, int count)
{
    int64_t bound = 0;
    for (int i = 0; i < count; i++)
        if (item[i].bytes > bound) bound = item[i].bytes;
    return bound;
}

static void equals_brute_force(void)
{
    Ctx *cx = context_new(NULL, NULL);
    uint32_t seed = 5;
    for (int n = 0; n < 400; n++) {
        ExactItem item[MOST], other[MOST];
        const int count = random_items(&seed, item);
        memcpy(other, item, sizeof item);
        int64_t sum = UNIT, truth, least = -1;
        for (int i = 0; i < count; i++) sum += item[i].bytes;
        truth = sum;
        try_orders(other, count, 0, &truth);
        const int64_t size = exact_offsets(cx, item, count, UNIT, bound_of(item, count), sum, &least);
        check_that(size == truth && least == truth && top(item, count) == truth, "the least over all orders is found",
                   "case %d: %lld, proved %lld, and by brute force %lld", n, (long long)size, (long long)least,
                   (long long)truth);
        for (int a = 0; a < count; a++)
            for (int b = 0; b < a; b++) CHECK("items are apart", agree(item, a, b));
        least = -1;
        const int64_t again = exact_offsets(cx, item, count, UNIT, bound_of(item, count), truth, &least);
        CHECK("a plan that cannot be better is kept and proved", again == truth && least == truth);
    }
    ctx_free(cx);
}

/* Eight equal tensors, each computed over the one before, 3 units ahead: the chain needs one unit for each, but may
 * turn back to the top where there is room for two. */
static void chain_of_overlaps(void)
{
    enum { COUNT = 8, BYTES = 20 * UNIT, LEAD = 3 * UNIT };
    Ctx *cx = context_new(NULL, NULL);
    ExactItem item[COUNT];
    for (int i = 0; i < COUNT; i++)
        item[i] = (ExactItem){ BYTES, 0, i, i + 1, i + 1 < COUNT ? i + 1 : -1, LEAD };
    int64_t least = 0;
    const int64_t size = exact_offsets(cx, item, COUNT, UNIT, BYTES + LEAD, COUNT * BYTES, &least);
    check_that(size == 2 * BYTES && least == size, "a chain turns back once its leads are longer than a tensor",
               "%lld, proved %lld", (long long)size, (long long)least);
    ctx_free(cx);
}

int main(void)
{
    equals_brute_force();
    chain_of_overlaps();
    return check_done();
}
