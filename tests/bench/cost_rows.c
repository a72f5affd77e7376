/* SPDX-License-Identifier: MIT */
/* cost_rows MODEL TARGET: the counted instructions of each layer as a sum over the rows of costs that calibrate.py
 * fits. `layer REST NAME` for each layer, and behind it `row KEY USES POINTS` for each row that it uses; REST depends
 * on none of them. cost_rows TARGET: those rows, a line each, `KEY NAME`. */
#include <stdio.h>
#include <string.h>

#include "context/builtin_rows.h"
#include "context/context.h"
#include "driver/driver.h"
#include "ir/nest/costs.h"
#include "lower/count.h"

static const char *const keys[COST_KINDS] = {
#define COST(key, name, value, fallback, unit, meaning) [COST_##key] = #key,
#define FLOAT(kind, name, fallback) [COST_F32_##kind] = "F32_" #kind,
#define MACRO(key) [COST_##key] = #key,
#include "ir/nest/costs.def"
#undef COST
#undef FLOAT
#undef MACRO
};

/* The change of a figure whose effect is counted; the effect is linear. */
enum { DELTA = 4096 };

static bool has_macro(const Target *t, CostKind k)
{
    const size_t length = strlen(cost_info(k)->name);
    for (const InstructionRow *const *table = builtin_instructions; *table; table++)
        for (const InstructionRow *row = *table; row->declaration; row++)
            if (strcspn(row->declaration, "[(") == length && strncmp(row->declaration, cost_info(k)->name, length) == 0)
                return !row->feature || target_has(t, row->feature);
    return false;
}

/* Loops and vectors are facts of the C compiler, not fitted. */
static bool is_fitted(const Target *t, CostKind k)
{
    const bool is_rectified = k == COST_F32_MUL_RECTIFIED || k == COST_F32_ADD_RECTIFIED;
    if (is_rectified && !cost_stated(t->costs, k)) return false;
    return k < COST_LOOP || has_macro(t, k);
}

/* Returns all figures in one table, so that none falls back to a figure that is changed. */
static Costs all_of(const Target *t)
{
    Costs all = { 0 };
    for (CostKind k = 0; k < COST_KINDS; k++) {
        if (!is_fitted(t, k) && !cost_stated(t->costs, k)) continue;
        all.at[k] = *cost_find(t->costs, k);
        all.at[k].is_stated = true;
    }
    return all;
}

static double effect(Ctx *cx, const Function *f, Costs *c, double *figure)
{
    const int64_t before = count_instructions(cx, f, c);
    *figure += DELTA;
    const int64_t after = count_instructions(cx, f, c);
    *figure -= DELTA;
    return (double)(after - before) / DELTA;
}

static void print_layer(Ctx *cx, const Target *t, const Function *f, const char *name, Costs *c)
{
    double uses[COST_KINDS] = { 0 }, points[COST_KINDS] = { 0 };
    double rest = (double)count_instructions(cx, f, c);
    for (CostKind k = 0; k < COST_KINDS; k++) {
        if (!is_fitted(t, k)) continue;
        uses[k] = effect(cx, f, c, &c->at[k].each);
        if (k > COST_LOOP) points[k] = effect(cx, f, c, &c->at[k].point);
        rest -= uses[k] * c->at[k].each + points[k] * c->at[k].point;
    }
    printf("layer %.9g %s\n", rest, name);
    for (CostKind k = 0; k < COST_KINDS; k++)
        if (uses[k] != 0 || points[k] != 0) printf("row %s %.9g %.9g\n", keys[k], uses[k], points[k]);
}

static int print_model(const char *path, const char *target)
{
    Build b;
    lw_context *cx = lw_new();
    const lw_options o = { .target = target, .name = "net", .combine = "none" };
    if (!cx || !build_read(&b, (Ctx *)cx, path, &o) || !build_graph(&b) || !build_nests(&b) || !build_program(&b))
        return 1;
    Costs all = all_of(b.target);
    for (int i = 0; i < b.groups.count; i++)
        if (b.lowered.function[i]) print_layer(b.cx, b.target, b.lowered.function[i], b.groups.at[i].name, &all);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 3) return print_model(argv[1], argv[2]);
    Ctx *cx = context_new(NULL, NULL);
    const Target *t = argc == 2 ? target_find(cx, argv[1]) : NULL;
    for (CostKind k = 0; t && k < COST_KINDS; k++)
        if (is_fitted(t, k)) printf("%s %s\n", keys[k], cost_info(k)->name);
    return t ? 0 : 2;
}
