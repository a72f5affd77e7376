/* SPDX-License-Identifier: MIT */
/* --combine: finds the named groups, checks that they can run as one, and replaces them by the combined group.
 * graph/plan/combine.h combines their schedules. */
#include "driver/driver.h"

#include <string.h>

#include "graph/plan/combine.h"
#include "schedule/schedule.h"
#include "support/names.h"
#include "support/text.h"

/* The groups that --combine names, in ascending order. The master is the one named last; of "all", the last group. */
typedef struct Chosen { int count, master; int *part; } Chosen;

static int group_called(Build *b, const char *wanted, size_t length)
{
    const char **names = NEW_ARRAY(b->cx->arena, const char *, b->groups.count);
    for (int i = 0; i < b->groups.count; i++) {
        names[i] = b->groups.at[i].name;
        if (strlen(names[i]) == length && strncmp(names[i], wanted, length) == 0) return i;
    }
    const char *word = name_n(b->cx, wanted, length);
    diag_error(b->cx, NULL, "--combine: there is no group '%s'%s; `dump MODEL --at fused` prints them", word,
               text_hint(b->cx, word, names, (size_t)b->groups.count, ""));
    return -1;
}

static Chosen chosen_groups(Build *b, const char *wish)
{
    Chosen c = { 0, 0, NEW_ARRAY(b->cx->arena, int, b->groups.count) };
    bool *is_in = NEW_ARRAY(b->cx->arena, bool, b->groups.count), all = text_equal(wish, "all");
    int last = b->groups.count - 1;
    for (int i = 0; i < b->groups.count; i++) is_in[i] = all;
    while (!all && !ctx_failed(b->cx)) {
        size_t length = strcspn(wish, ",");
        last = group_called(b, wish, length);
        if (last >= 0) is_in[last] = true;
        if (!wish[length]) break;
        wish += length + 1;
    }
    for (int i = 0; i < b->groups.count; i++) {
        if (i == last) c.master = c.count;
        if (is_in[i] && region_of_group(b, i))
            diag_unsupported(b->cx, NULL,
                             "--combine: '%s' is a branch or loop of the run; accepted: groups outside of it",
                             b->groups.at[i].name);
        if (is_in[i]) c.part[c.count++] = i;
    }
    return c;
}

static bool reads_any(const Group *g, const Group *of)
{
    for (int i = 0; i < g->input_count; i++)
        for (int j = 0; j < of->output_count; j++)
            if (g->input[i] == of->output[j]) return true;
    return false;
}

/* Checks that the parts form a convex subgraph: combined, they run as one call, so no path may leave them and return.
 * Returns the text of a path that does; NULL: none. */
const char *build_between(Build *b, const int *part, int part_count)
{
    bool *is_in = NEW_ARRAY(b->cx->arena, bool, b->groups.count),
         *is_behind = NEW_ARRAY(b->cx->arena, bool, b->groups.count);
    for (int i = 0; i < part_count; i++) is_in[part[i]] = true;
    for (int i = 0; i < b->groups.count; i++)
        for (int j = 0; j < i; j++) {
            if (!reads_any(&b->groups.at[i], &b->groups.at[j])) continue;
            if (is_in[i] && is_behind[j])
                return text_format(b->cx, "'%s' reads '%s', which is not named but reads a group that is; name it too",
                                   b->groups.at[i].name, b->groups.at[j].name);
            is_behind[i] = is_behind[i] || (!is_in[i] && (is_in[j] || is_behind[j]));
        }
    return NULL;
}

/* The merged group replaces the last of its parts. */
void build_merge_groups(Build *b, const int *part, int part_count, const Group *merged, const Nest *n)
{
    Group *at = NEW_ARRAY(b->cx->arena, Group, b->groups.count);
    int count = 0, next = 0;
    for (int i = 0; i < b->groups.count; i++) {
        const bool is_in = next < part_count && part[next] == i, is_last = is_in && next == part_count - 1;
        next += is_in;
        if (is_in && !is_last) continue;
        at[count] = is_last ? *merged : b->groups.at[i];
        b->nest[count++] = is_last ? n : b->nest[i];
    }
    for (int i = count; i < b->groups.count; i++) b->nest[i] = NULL;
    b->groups = (Groups){ count, at };
}

void build_combine_named(Build *b)
{
    Ctx *cx = b->cx;
    Chosen c = chosen_groups(b, b->options->combine);
    if (!ctx_failed(cx) && c.count < 2 && !text_equal(b->options->combine, "all"))
        diag_error(cx, NULL, "--combine: '%s' is one group alone; name two or more", b->options->combine);
    const char *gap = ctx_failed(cx) || c.count < 2 ? NULL : build_between(b, c.part, c.count);
    if (gap) diag_error(cx, NULL, "--combine: %s", gap);
    if (ctx_failed(cx) || c.count < 2) return;
    Group merged;
    Text explain = text_new(cx);
    const Nest *n = schedule_combine(cx, &b->graph, &b->groups, c.part, c.count, c.master, b->target, &explain,
                                     &merged);
    if (n && c.count > 1 && !n->copy_budget)
        n = SCHED(cx, n, copy_budget, .factor = { b->target->copy_budget * c.count });
    if (!n) return;
    build_merge_groups(b, c.part, c.count, &merged, n);
    b->combine_text = text_string(&explain);
}
