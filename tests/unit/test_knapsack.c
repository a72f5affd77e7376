/* SPDX-License-Identifier: MIT */
/* The knapsack over time against all choices: random items, and limits that differ from group to group. */
#include "graph/plan/knapsack.h"

#include "context/context.h"
#include "check.h"

enum { ITEMS = 12, GROUPS = 6, PLANS = 200 };

static uint32_t next(uint32_t *state) { return (*state = *state * UINT32_C(1664525) + UINT32_C(1013904223)) >> 8; }

typedef struct Limits { int64_t most[GROUPS], least[GROUPS]; } Limits;

/* Returns the gain of a choice, -1: it breaks a limit. */
static int64_t gain_of(const KnapsackItem *item, int count, unsigned chosen, const Limits *l)
{
    int64_t gain = 0, live[GROUPS] = { 0 }, held[GROUPS] = { 0 };
    for (int i = 0; i < count; i++) {
        if (!(chosen >> i & 1) && item[i].is_forced) return -1;
        if (!(chosen >> i & 1)) continue;
        gain += item[i].gain;
        for (int g = item[i].first; g <= item[i].last; g++) {
            live[g] += item[i].bytes;
            held[g] += item[i].is_optional ? 0 : item[i].bytes;
        }
    }
    for (int g = 0; g < GROUPS; g++)
        if (live[g] > l->most[g] || held[g] < l->least[g]) return -1;
    return gain;
}

static int random_plan(uint32_t *state, KnapsackItem *item, Limits *l)
{
    const int count = 2 + (int)(next(state) % (ITEMS - 1));
    for (int i = 0; i < count; i++) {
        const int first = (int)(next(state) % GROUPS);
        item[i] = (KnapsackItem){ 1 + next(state) % 40, next(state) % 100, first,
                                  first + (int)(next(state) % (uint32_t)(GROUPS - first)), next(state) % 9 == 0,
                                  next(state) % 3 == 0, false };
    }
    for (int g = 0; g < GROUPS; g++) {
        l->most[g] = 20 + next(state) % 80;
        l->least[g] = next(state) % 6 == 0 ? next(state) % 30 : 0;
    }
    return count;
}

int main(void)
{
    Ctx *cx = context_new(NULL, NULL);
    uint32_t state = 7;
    int equal = 0, impossible = 0, bounded = 0;
    for (int plan = 0; plan < PLANS; plan++) {
        KnapsackItem item[ITEMS];
        Limits l;
        const int count = random_plan(&state, item, &l);
        int64_t best = -1, most = 0;
        bool is_exact;
        for (unsigned chosen = 0; chosen < 1u << count; chosen++) {
            const int64_t gain = gain_of(item, count, chosen, &l);
            best = gain > best ? gain : best;
        }
        const bool found = knapsack_choose(cx, item, count, GROUPS, l.most, l.least, &is_exact);
        unsigned chosen = 0;
        for (int i = 0; i < count && found; i++) chosen |= item[i].is_chosen ? 1u << i : 0;
        equal += is_exact && (found ? gain_of(item, count, chosen, &l) == best : best < 0);
        impossible += best < 0;
        for (int g = 0; g < GROUPS; g++) most = l.most[g] > most ? l.most[g] : most;
        bounded += best <= knapsack_bound(cx, item, count, GROUPS, most);
    }
    check_that(equal == PLANS, "choices-are-the-best-of-all", "%d of %d", equal, PLANS);
    check_that(impossible > 0 && impossible < PLANS / 2, "some-plans-have-no-choice", "%d", impossible);
    check_that(bounded == PLANS, "no-choice-exceeds-the-bound", "%d of %d", bounded, PLANS);
    ctx_free(cx);
    return check_done();
}
