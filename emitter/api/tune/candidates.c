/* SPDX-License-Identifier: MIT */
/* A candidate of a group is a text. Each candidate is read back and applied to the group. A candidate is dropped if the
 * group refuses it or if its code equals the default's. On a target with costs, a candidate is also dropped if its
 * counted instructions exceed the default's by more than predictions err. */

/* Decision: the default schedule is the best of the candidates. `make bench-tune` measures the candidates for the int8
 * networks of MLPerf Tiny on the Cortex-M4; docs/performance.md has the figures. The tiled contraction was faster for
 * narrow depthwise layers until `schedules/arm/row.c` used the same idea without its guards. Long rows that run fewer
 * than a thousand times use that code, which has 1 to 2 KB, only with `--optimize speed`: it saves up to a third of the
 * instructions of such a layer. A candidate is measured if its code differs from the default's and its prediction is at
 * most four times the default's. gcc unrolls short loops and removes their conditions, so predictions of layers err
 * more than predictions of networks. */
#include "api/tune/candidates.h"

#include <stdlib.h>
#include <string.h>

#include "graph/dag/target.h"
#include "graph/plan/group_schedules.h"
#include "ir/text/print_code.h"
#include "ir/text/step.h"
#include "lower/count.h"
#include "lower/lower.h"
#include "support/map.h"
#include "support/names.h"
#include "support/sha256.h"
#include "support/text.h"

enum { KEY_DIGITS = 16, LARGEST_FACTOR = 256 };
/* A candidate is measured if its counted instructions are at most this percentage of the default's. Counts of layers
 * are less exact than counts of networks: gcc removes the conditions of loops that it unrolls, and a candidate with
 * twice the default's count executed .58 of its instructions. */
enum { MOST_PERCENT = 400 };

/* Limits of copied statements that are tried in addition to the target's. */
static const int64_t copy_budgets[] = { 64, 200 };

/* The code of a nest, as a digest; instructions: counted, or 0 if the target has no costs. */
typedef struct Lowered { const char *digest; int64_t instructions; } Lowered;
typedef struct Making {
    Build *b; const Group *group; const Nest *nest; const char *signature; Candidates *to; Lowered standard;
} Making;

static Lowered lowered(const Making *m, const Nest *n)
{
    Ctx *cx = m->b->cx;
    const Target *target = m->b->target;
    const LowerOptions options = { .code_budget = target->copy_budget, .lanes = target->vector_bytes / 4,
                                   .registers = target->vector_registers };
    const Function *f = lower_nest(cx, n, &options);
    Text text = text_new(cx);
    if (!f || ctx_failed(cx)) return (Lowered){ "", 0 };
    print_code(cx, &text, f);
    return (Lowered){ sha256_hex(cx, text_string(&text), text.length),
                      target->costs ? count_instructions(cx, f, target->costs) : 0 };
}

/* Returns true if the block's steps are accepted, and worth measuring. The diagnostics of a refusal are dropped. */
static bool is_accepted(const Making *m, const char *block)
{
    Ctx *cx = m->b->cx;
    const DiagMark mark = diag_mark(cx);
    schedules_clear(cx);
    const bool is_read = schedules_read(cx, SCHEDULES_OF_TEXT, "candidate", block, 0, NULL);
    const GroupSchedule *s = is_read ? schedule_of_group(cx, m->group, m->b->target) : NULL;
    const Nest *n = s ? schedule_nest(cx, s, m->group, m->b->target, NULL, NULL) : NULL;
    const Lowered own = n && !ctx_failed(cx) ? lowered(m, n) : (Lowered){ "", 0 };
    const bool is_slow = (double)own.instructions > (double)m->standard.instructions * MOST_PERCENT / 100,
               is_refused = ctx_failed(cx) || !n || is_slow || text_equal(own.digest, m->standard.digest);
    if (is_refused) diag_rewind(cx, mark);
    schedules_clear(cx);
    return !is_refused;
}

static bool has_block(const Candidates *c, const char *block)
{
    for (int i = 0; i < c->count; i++)
        if (text_equal(c->at[i].block, block)) return true;
    return false;
}

static void add_candidate(const Making *m, const char *what, const char *block)
{
    Ctx *cx = m->b->cx;
    Candidates *c = m->to;
    if (ctx_failed(cx) || has_block(c, block) || !is_accepted(m, block)) return;
    if (c->count == c->capacity) {
        Candidate *more = NEW_ARRAY(cx->arena, Candidate, c->capacity = 2 * c->capacity + 16);
        if (c->count) memcpy(more, c->at, (size_t)c->count * sizeof *more);
        c->at = more;
    }
    c->at[c->count++] = (Candidate){ .group = m->group->name, .signature = m->signature, .what = what, .block = block,
                                     .key = name_n(cx, sha256_hex(cx, block, strlen(block)), KEY_DIGITS) };
}

/* Begins a block, with the same compute as the strategy's nest. */
static Text block_of(const Making *m)
{
    Text t = text_new(m->b->cx);
    text_printf(&t, "for %s on %s", m->signature, m->b->target->name);
    if (m->nest->compute) text_printf(&t, " with %s", m->nest->compute);
    text_add(&t, ":\n");
    return t;
}

/* Adds a candidate: the nest's steps with step `at` replaced, or with one step more at the end. */
static void add_with_step(const Making *m, int at, StepKind kind, const StepArgs *args)
{
    const Step new = step_new(m->b->cx, kind, args);
    const char *step = step_text(m->b->cx, &new);
    Text t = block_of(m);
    for (int s = 0; s <= m->nest->step_count; s++)
        if (s == at) text_printf(&t, "  %s\n", step);
        else if (s < m->nest->step_count) text_printf(&t, "  %s\n", step_text(m->b->cx, &m->nest->step[s]));
    add_candidate(m, step, text_string(&t));
}

/* Adds `split LOOP FACTOR ...` with twice and with half the factor. */
static void add_factors(const Making *m, int at)
{
    const Step *step = &m->nest->step[at];
    const int64_t n = step->args->factor[0], other[] = { n * 2, n / 2 };
    if (step->row->kind != STEP_split || step->args->parts || n < 2) return;
    for (int i = 0; i < 2; i++) {
        StepArgs args = *step->args;
        args.factor[0] = other[i];
        if (other[i] >= 2 && other[i] <= LARGEST_FACTOR) add_with_step(m, at, STEP_split, &args);
    }
}

static void add_rows(const Making *m, const Implementation *chosen)
{
    int count;
    const Implementation *const *all = implementation_list(m->b->cx, &count);
    for (int i = 0; i < count; i++) {
        if (all[i]->alter || all[i] == chosen || implementation_rank(m->b->cx, m->b->target, all[i]) < 0) continue;
        const char *what = text_format(m->b->cx, "by %s", all[i]->name);
        add_candidate(m, what, text_format(m->b->cx, "for %s on %s %s:\n", m->signature, m->b->target->name, what));
    }
}

static void add_group(Build *b, int i, Candidates *to)
{
    const Group *g = &b->groups.at[i];
    Making m = { b, g, b->scheduled.nest[i], group_signature(b->cx, g), to, { "", 0 } };
    for (int k = 0; k < to->count; k++)
        if (text_equal(to->at[k].signature, m.signature)) return;
    m.standard = lowered(&m, m.nest);
    add_rows(&m, b->scheduled.chosen[i]);
    for (int s = 0; s < m.nest->step_count; s++) add_factors(&m, s);
    for (size_t k = 0; k < sizeof copy_budgets / sizeof copy_budgets[0]; k++)
        if (b->target->copy_budget && b->target->copy_budget < copy_budgets[k])
            add_with_step(&m, m.nest->step_count, STEP_copy_budget, &(StepArgs){ .factor = { copy_budgets[k] } });
}

Candidates tune_candidates(Build *b)
{
    Candidates c = { 0 };
    for (int i = 0; i < b->groups.count && !ctx_failed(b->cx); i++)
        if (b->groups.at[i].anchor && !b->groups.at[i].is_scheduled && b->scheduled.nest[i]
            && !b->scheduled.nest[i]->otherwise)
            add_group(b, i, &c);
    return c;
}
