/* SPDX-License-Identifier: MIT */
/* Texts about schedules: see schedule_words.h. */
#include "api/schedule_words.h"

#include "graph/plan/group_schedules.h"
#include "ir/text/print_code.h"
#include "schedule/schedule.h"

void schedule_head(Text *t, const Nest *n)
{
    if (n->when) {
        text_add(t, " when ");
        print_expr(t, n->when);
    }
    if (n->compute) text_printf(t, " with %s", n->compute);
    text_add(t, ":\n");
}

void schedule_steps(Ctx *cx, Text *t, const Nest *n)
{
    for (int s = 0; s < n->step_count; s++) text_printf(t, "  %s\n", step_text(cx, &n->step[s]));
    if (!n->otherwise) return;
    text_add(t, "otherwise");
    schedule_head(t, n->otherwise);
    schedule_steps(cx, t, n->otherwise);
}

void schedule_loops(Ctx *cx, Text *t, const Nest *n)
{
    print_loops(cx, t, n);
    if (!n->otherwise) return;
    text_add(t, "where this does not hold: ");
    print_expr(t, n->when);
    text_char(t, '\n');
    schedule_loops(cx, t, n->otherwise);
}

bool schedule_is_chosen(const Build *b, int group)
{
    const Group *g = &b->groups.at[group];
    return g->anchor && !g->keeps_names && !region_of_group(b, group);
}

void schedule_origin(const Build *b, Text *t, int group)
{
    const Group *g = &b->groups.at[group];
    if (region_of_group(b, group)) text_printf(t, "group %s: a branch or a loop; its graphs' groups follow\n", g->name);
    else if (!g->anchor)
        text_printf(t, "group %s: %s\n", g->name, g->node_count ? "combined, with the schedules of its parts"
                                                                : "one nest, with the steps of the file");
    else if (g->keeps_names) text_printf(t, "group %s: the steps of the file\n", g->name);
    if (!schedule_is_chosen(b, group)) return;
    text_printf(t, "group %s: %s for %s\n", g->name, g->anchor->op->name, b->target->name);
    text_printf(t, "  signature %s\n", group_signature(b->cx, g));
    strategy_schedule(b->cx, g, b->target, NULL, t);
    const GroupSchedule *given = schedule_of_group(b->cx, g, b->target);
    if (given) text_printf(t, "  replaced by the block at %s: %s\n", given->path, given->where);
}
