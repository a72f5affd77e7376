/* SPDX-License-Identifier: MIT */
/* Finds figures in tables of costs. */
#include "ir/nest/costs.h"

#include "support/text.h"

enum { INHERIT = -1 };
static const CostInfo infos[COST_KINDS] = {
#define COST(key, name, value, fallback, unit, meaning) \
    [COST_##key] = { name, unit, meaning, COST_##fallback, { .each = value } },
#define FLOAT(kind, name, fallback) COST(F32_##kind, name, INHERIT, fallback, "instructions", name)
#define MACRO(key) COST(key, "LW_" #key, 0, key, "instructions", NULL)
#include "ir/nest/costs.def"
#undef COST
#undef FLOAT
#undef MACRO
};

static const CostKind of_float[EXPR_KIND_COUNT] = {
#define COST(key, name, value, fallback, unit, meaning)
#define FLOAT(kind, name, fallback) [EXPR_##kind] = COST_F32_##kind,
#define MACRO(key)
#include "ir/nest/costs.def"
#undef COST
#undef FLOAT
#undef MACRO
};

const CostInfo *cost_info(CostKind k) { return &infos[k]; }

CostKind cost_of_float(ExprKind k) { return of_float[k] ? of_float[k] : COST_F32; }

CostKind cost_of_macro(const char *name)
{
    CostKind k = COST_FOREST_LE;
    while (k < COST_KINDS && !text_equal(infos[k].name, name)) k++;
    return k;
}

const Cost *cost_stated(const Costs *costs, CostKind k)
{
    for (; costs && k < COST_KINDS; costs = costs->base)
        if (costs->at[k].is_stated) return &costs->at[k];
    return NULL;
}

const Cost *cost_find(const Costs *costs, CostKind k)
{
    const Cost *stated = cost_stated(costs, k);
    for (CostKind i = k; !stated && infos[i].fallback != i; stated = cost_stated(costs, i)) i = infos[i].fallback;
    while (!stated && infos[k].value.each < 0) k = infos[k].fallback;
    return stated ? stated : &infos[k].value;
}
