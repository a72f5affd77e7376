/* SPDX-License-Identifier: MIT */
/* Answers queries about a Build for all parts of the driver. */
#include "driver/driver.h"

#include "support/text.h"
#include "support/watch.h"

bool build_steps(Build *b, const BuildStep *step)
{
    for (; (step->run || step->check) && !ctx_failed(b->cx); step++) {
        if (step->when && !step->when(b)) continue;
        if (step->run) step->run(b);
        else step->check(b);
        if (step->part) watch_lap(b->watch, step->part, step->name);
    }
    return !ctx_failed(b->cx);
}

const Node *region_of_group(const Build *b, int group)
{
    const Node *n = b->groups.at[group].anchor;
    return n && n->kind == NODE_REGION ? n : NULL;
}

Build *build_graphs_of(const Build *b, const Node *region) { return map_get_ptr(&b->tree.inner, region); }

bool build_rounds_once(const lw_options *o) { return text_equal(o->rounding, "single"); }

bool build_progress(const Build *b, const char *part, int64_t done, int64_t total)
{
    const lw_options *o = b->options;
    if (ctx_failed(b->cx)) return false;
    if (!o->progress || o->progress(o->progress_user, part, (long long)done, (long long)total)) return true;
    diag_error(b->cx, NULL, "interrupted while %s, after %lld of %lld samples", part, (long long)done,
               (long long)total);
    return false;
}

int build_trained_of_input(const Build *b, int input)
{
    if (!b->training.graphs || input < b->model.input_count + b->training.is_step) return -1;
    int place = input - b->model.input_count - b->training.is_step;
    if (b->training.is_step) return place;
    for (int i = 0; i < b->training.graphs->param_count; i++)
        if (b->training.graphs->param[i].is_read && place-- == 0) return i;
    return -1;
}

int build_all_groups(const Build *b, const Group *const **all)
{
    int count = 0;
    for (const Build *g = b; g; g = g->tree.next) count += g->groups.count;
    const Group **group = NEW_ARRAY(b->cx->arena, const Group *, count);
    count = 0;
    for (const Build *g = b; g; g = g->tree.next)
        for (int k = 0; k < g->groups.count; k++) group[count++] = &g->groups.at[k];
    *all = group;
    return count;
}

const Merged *build_merged(const Build *b, const Function *f)
{
    return f ? map_get_ptr(&b->shared->merged, f) : NULL;
}
