/* SPDX-License-Identifier: MIT */
/* Takes one graph from passes to scheduled nests: the model's own graph, or a region's (region_graphs.c). */
#include "driver/driver.h"

#include "import/te/te.h"
#include "support/text.h"
#include "support/watch.h"

static void form_of_qdq(Build *b)
{
    const char *qdq = b->options->qdq;
    b->graph.qdq = b->mode.in_fixed_point ? QDQ_FIXED : text_equal(qdq, "float") ? QDQ_FLOAT
        : text_equal(qdq, "integer") ? QDQ_INTEGER : QDQ_EXACT;
}

/* Runs the passes that have not run, up to and including `last`, or all of them if `last` is NULL. */
static bool run_passes(Build *b, GraphPass *last)
{
    int count;
    const GraphPassRow *pass = graph_passes(&count);
    form_of_qdq(b);
    if (!b->passes_done && !b->tree.outer && !b->graph.stream) graph_follow(b->cx, &b->graph);
    for (bool ends = false; b->passes_done < count && !ends && !ctx_failed(b->cx); b->passes_done++) {
        const GraphPassRow *row = &pass[b->passes_done];
        if (b->options->no_shrink && row->run == graph_shrink) continue;
        if (!build_runs_pass(b, row)) continue;
        b->graph = row->run(b->cx, b->graph);
        if (row->run == graph_stream && b->graph.stream) graph_follow(b->cx, &b->graph);
        watch_lap(b->watch, "dag", row->name);
        ends = row->run == last;
        if (!text_equal(row->name, b->shared->until)) continue;
        b->passes_done = count;
        break;
    }
    return !ctx_failed(b->cx);
}

bool build_folding_passes(Build *b) { return run_passes(b, graph_affine); }
bool build_passes(Build *b) { return run_passes(b, NULL); }

/* For --layers: makes each tensor between groups an output, in execution order. A comparison then finds the first layer
 * in which two programs differ. */
void build_show_layers(Build *b)
{
    const Groups groups = fuse(b->cx, &b->graph);
    Graph *g = &b->graph;
    Model *m = &b->model;
    int most = g->output_count;
    for (int i = 0; i < groups.count; i++) most += groups.at[i].output_count;
    Tensor **all = NEW_ARRAY(b->cx->arena, Tensor *, most), **imported = NEW_ARRAY(b->cx->arena, Tensor *, most);
    const char *const **dims = NEW_ARRAY(b->cx->arena, const char *const *, most);
    for (int i = 0; i < g->output_count; i++) {
        all[i] = g->output[i];
        imported[i] = m->output[i];
        dims[i] = m->output_dims ? m->output_dims[i] : NULL;
    }
    g->output = all;
    m->output = imported;
    m->output_dims = dims;
    for (int i = 0; i < groups.count; i++)
        for (int j = 0; j < groups.at[i].output_count; j++) {
            Tensor *t = groups.at[i].output[j];
            if (graph_has_output(g, t) || region_fills_part(t)) continue;
            imported[m->output_count++] = t;
            all[g->output_count++] = t;
        }
}

/* ---- Groups and nests ------------------------------------------------------------------------------------------ */

/* Applies the file's schedules to the nest of its only group; refuses schedules for other groups. */
static const Nest *after_file_schedules(const Build *b, const Nest *n, const char *group)
{
    for (int i = 0; i < b->model.schedule_count && n; i++) {
        const TeSchedule *s = &b->model.schedule[i];
        const char *own = b->graph.output[0]->name;
        const bool is_other = s->group && !text_equal(s->group, group) && !text_equal(s->group, own);
        if (is_other)
            written_refuse(b->cx, &s->at, text_format(b->cx, "the file is one nest, of the group %s", group));
        n = build_after_file_steps(b, s, n);
    }
    return n;
}

/* Builds the only group of a .te file with the statement `nest`. The group is named after its output, and has the
 * file's schedule and names. */
static void nest_of_te(Build *b)
{
    Ctx *cx = b->cx;
    const Graph *g = &b->graph;
    Group *group = NEW(cx->arena, Group);
    const Nest *n = nest_naive(cx, b->name, g->input, g->input_count, g->output, g->output_count);
    n = n ? nest_for(cx, n, b->target->features) : NULL;
    if (!n) return;
    const char *group_name = build_symbol(b, g->output[0]->name);
    const Nest *by_block = b->mode.is_reference ? n : build_schedule_nest(b, n, group_name);
    n = by_block ? by_block : after_file_schedules(b, n, group_name);
    if (!n) return;
    *group = (Group){ .name = group_name, .input_count = n->input_count, .output_count = n->output_count };
    group->input = arena_copy(cx->arena, n->input, (size_t)n->input_count * sizeof *n->input);
    group->output = g->output;
    b->groups = (Groups){ 1, group };
    b->scheduled.nest = NEW_ARRAY(cx->arena, const Nest *, 1);
    b->scheduled.chosen = NEW_ARRAY(cx->arena, const Implementation *, 1);
    b->scheduled.nest[0] = n;
}

/* Refuses options that name layers, for a file that is a single group. `--combine all` and `--combine none` are
 * valid. */
static void refuse_layers(const Build *b)
{
    const lw_options *o = b->options;
    const bool names_groups = o->combine && !text_equal(o->combine, "all") && !text_equal(o->combine, "none");
    const char *option = names_groups ? "--combine" : o->recorded ? "--recorded" : o->layers ? "--layers" : NULL;
    if (option) diag_error(b->cx, NULL, "%s has no effect: the file is one `nest`", option);
}

/* Fuses the calls into groups, in the order in which they run. */
static void fuse_groups(Build *b)
{
    const Groups fused = groups_by_device(b->cx, groups_near_readers(b->cx, fuse(b->cx, &b->graph)));
    b->groups = build_groups_by_updates(b, fused);
    if (b->graph.spares_memory) b->groups = groups_by_memory(b->cx, &b->graph, b->groups);
    b->scheduled.nest = NEW_ARRAY(b->cx->arena, const Nest *, b->groups.count);
    b->scheduled.chosen = NEW_ARRAY(b->cx->arena, const Implementation *, b->groups.count);
}

/* Builds each group's naive nest, for steps from C. */
static void naive_nests(Build *b)
{
    for (int i = 0; i < b->groups.count && !ctx_failed(b->cx); i++) {
        if (region_of_group(b, i)) continue;
        b->groups.at[i].keeps_names = b->groups.at[i].is_scheduled = true;
        b->scheduled.nest[i] = group_naive(b->cx, &b->groups.at[i], b->target, NULL);
    }
}

static void schedule_groups(Build *b)
{
    for (int i = 0; i < b->groups.count && !ctx_failed(b->cx); i++)
        if (!b->scheduled.nest[i]) build_schedule_group(b, i);
}

/* Gives an update its naive nest if its scheduled nest cannot overwrite the old value. */
static void check_updates(Build *b)
{
    for (int u = 0; u < b->graph.update_count && !ctx_failed(b->cx); u++) {
        const Tensor *from = b->graph.input[b->graph.update[u].input], *to = b->graph.output[b->graph.update[u].output];
        for (int i = 0; i < b->groups.count; i++) {
            const Group *g = &b->groups.at[i];
            int in = 0, out = 0;
            while (in < g->input_count && g->input[in] != from) in++;
            while (out < g->output_count && g->output[out] != to) out++;
            if (in == g->input_count || out == g->output_count) continue;
            const Nest *n = b->scheduled.nest[i];
            if (b->graph.update[u].is_inout) {
                build_check_inout(b, u, i, in, out);
                continue;
            }
            if (!n->otherwise && plan_may_overwrite(b->cx, n, n->input[in], n->output[out])) continue;
            b->scheduled.nest[i] = group_naive(b->cx, g, b->target, NULL);
        }
    }
}

static void nests_of_step(Build *b) { build_nests(b->training.step); }

/* ---- The steps of this stage ------------------------------------------------------------------------------------- */

static bool is_model(const Build *b) { return !b->tree.outer && !b->training.is_step; }
static bool has_step(const Build *b) { return b->training.step != NULL; }

static bool combines_named(const Build *b)
{
    return b->options->combine && !text_equal(b->options->combine, "none") && !b->training.is_step;
}

static bool has_limit(const Build *b) { return !b->options->combine && b->options->ram && is_model(b); }

/* Cores divide layers one by one: a row of a combined layer needs rows that another part computes. */
static bool combines_for_ram(const Build *b)
{
    return !b->options->combine && !has_limit(b) && !b->tree.outer && b->options->cores < 2
           && !text_equal(b->options->optimize, "speed");
}

static const BuildStep file_nest[] = {
    { .check = refuse_layers },
    { .run = nest_of_te, .part = "nest", .name = "steps of the file, with their proofs" },
    { .run = check_updates },
    { .check = build_check_schedules },
    { NULL }
};

static const BuildStep fusion[] = {
    { .run = fuse_groups },                              /* groups */
    { .run = build_partitions },                         /* devices */
    { .run = build_name_groups, .part = "dag", .name = "fuse" },
    { NULL }
};

static const BuildStep scheduling[] = {                  /* scheduled */
    { .run = build_find_file_schedules },
    { .run = build_combine_blocks },
    { .check = build_check_file_schedules, .when = is_model },
    { .run = schedule_groups, .part = "nest", .name = "strategy, with its proofs" },
    /* regions' graphs first, because their plans determine the regions' memory */
    { .run = build_inner_nests },
    { .run = build_combine_named, .when = combines_named },
    { .run = build_combine_for_limit, .when = has_limit },
    { .run = build_combine_for_ram, .when = combines_for_ram },
    { .run = nests_of_step, .when = has_step },
    { .run = check_updates },
    { .check = build_check_schedules, .when = is_model },
    { NULL }
};

bool build_nests(Build *b)
{
    static const BuildStep naive[] = { { .run = naive_nests }, { NULL } };
    if (b->model.is_nest) return build_steps(b, file_nest);
    if (b->mode.is_reference) return !ctx_failed(b->cx) && build_reference_nests(b);
    return build_steps(b, fusion) && build_steps(b, b->mode.is_naive ? naive : scheduling);
}
