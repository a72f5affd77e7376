/* SPDX-License-Identifier: MIT */
/* The tables of instructions: each declaration can be read, each macro stands in the runtime, and costs have each macro
 * and no others. */
#include "check.h"

#include "context/builtin_rows.h"
#include "context/context.h"
#include "ir/nest/costs.h"
#include "ir/text/read_instruction.h"
#include "support/text.h"

static const char *const runtime[] = {
#define RUNTIME_FILE(name)
#define RUNTIME_LINE(text) text,
#include "runtime_text.h"
};

static bool is_in_runtime(const char *text)
{
    for (size_t i = 0; i < sizeof runtime / sizeof runtime[0]; i++)
        if (strstr(runtime[i], text)) return true;
    return false;
}

static const char *macro_of(Ctx *cx, const InstructionRow *row)
{
    return text_format(cx, "%.*s", (int)strcspn(row->declaration, "[("), row->declaration);
}

static int rows_of(const char *macro)
{
    int count = 0;
    for (const InstructionRow *const *table = builtin_instructions; *table; table++)
        for (const InstructionRow *row = *table; row->declaration; row++) {
            const size_t length = strcspn(row->declaration, "[(");
            count += strlen(macro) == length && strncmp(row->declaration, macro, length) == 0;
        }
    return count;
}

/* True if the feature is one of some target. */
static bool is_feature(const char *feature)
{
    for (const Target *const *table = builtin_rows.targets; *table; table++)
        for (const Target *t = *table; t->name; t++)
            if (t->features && text_has_word(t->features, feature)) return true;
    return false;
}

/* Each row can be read, and its numbers are open: one row for all sizes. */
static void check_row(Ctx *cx, const InstructionRow *row)
{
    const char *macro = macro_of(cx, row);
    const Instruction *i = instruction_known(cx, macro);
    check_that(i != NULL, "declarations can be read", "%s: %s", macro, cx->diags ? cx->diags->what : "no row");
    if (!i) return;
    check_that(!row->feature || is_feature(row->feature), "features are those of targets", "%s of %s", row->feature,
               macro);
    check_that(i->number_count && instruction_is_open(i), "rows are of any size", "%s", macro);
    check_that(rows_of(macro) == 1, "a macro has one row", "%s has %d", macro, rows_of(macro));
    check_that(cost_of_macro(macro) < COST_KINDS, "macros have a row of costs", "%s", macro);
    check_that(is_in_runtime(text_format(cx, "#define %s(", macro)), "macros stand in the runtime", "%s", macro);
}

/* Forests are no instructions: a C function of the runtime computes them (schedules/generic/trees.c). */
static void check_macro(CostKind k)
{
    const char *name = cost_info(k)->name;
    check_that(rows_of(name) == 1 || strncmp(name, "LW_FOREST_", 10) == 0, "costs are of known macros", "%s", name);
}

/* A macro without figures counts as its portable form, many times the instructions of a core's own form. Only rare
 * macros do, and those that a core's figures have not been fitted for. */
static const char by_portable_form[] =
    "LW_DOT_2X1_I8 LW_DOT_1X1_I8 LW_SUM_TAPS_I8 LW_MAX_TAPS_I8 LW_MAX_IF_I8 LW_FETCH_I8 LW_FETCH_I16 LW_COPY_I16 "
    "LW_COPY_I32 LW_COPY2_I32 LW_PANEL_I16 LW_PANEL2_I16 LW_PANEL4_I16 LW_SCALE2_EACH_I8 "
    "LW_DOT_SIXTEENS_I8 LW_DOT_1X16_SIXTEENS_I8";

static void check_stated(Ctx *cx, const Target *t, const InstructionRow *row)
{
    const char *macro = macro_of(cx, row);
    if (!t->costs || (row->feature && !target_has(t, row->feature)) || text_has_word(by_portable_form, macro)) return;
    check_that(cost_stated(t->costs, cost_of_macro(macro)) != NULL, "cores state the macros that they have", "%s of %s",
               macro, t->name);
}

int main(void)
{
    int count = 0;
    Ctx *cx = context_new(NULL, NULL);
    for (const InstructionRow *const *table = builtin_instructions; *table; table++)
        for (const InstructionRow *row = *table; row->declaration; row++) check_row(cx, row);
    const Target *const *targets = target_list(cx, &count);
    for (const InstructionRow *const *table = builtin_instructions; *table; table++)
        for (const InstructionRow *row = *table; row->declaration; row++)
            for (int i = 0; i < count; i++) check_stated(cx, targets[i], row);
    for (CostKind k = COST_FOREST_LE; k < COST_KINDS; k++) check_macro(k);
    ctx_free(cx);
    return check_done();
}
