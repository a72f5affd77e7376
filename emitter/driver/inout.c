/* SPDX-License-Identifier: MIT */
/* In-out tensors: an input whose array receives its new values (Update.is_inout). */

/* Decision: an in-out tensor is updated in place where a proof exists, and otherwise by a copy. The last update
 * computes in the caller's array if each old element is read before its place has a new value (graph/plan/inout.c). If
 * the order of groups or the nest does not permit that, the new values have a tensor of their own in the arena, and a
 * further group copies them after the last reader of old values. No schedule is refused for it; a note states the
 * bytes. */
#include "driver/driver.h"

#include <string.h>

#include "support/names.h"
#include "support/text.h"

/* Returns true if the caller's array would have to be in another place, or to keep its old values. */
static bool is_in_a_state(const Build *b, const StatePair *pair)
{
    for (int s = 0; s < b->states.count; s++)
        if (b->states.at[s].input == pair->input || b->states.at[s].output == pair->output) return true;
    return false;
}

void build_check_inouts(const Build *b)
{
    const lw_options *o = b->options;
    for (int i = 0; i < b->model.inout_count; i++) {
        const struct { bool is_given; const char *why; } rows[] = {
            { o->ports_in_arena, "--io arena places inputs and outputs in the arena" },
            { o->train, "a training step reads the inputs again after the outputs" },
            { o->stream, "--stream keeps the overlap of windows in the state" },
            { is_in_a_state(b, &b->model.inout[i]), "--state keeps it in struct NAME_state" },
        };
        for (size_t r = 0; r < sizeof rows / sizeof *rows; r++)
            if (rows[r].is_given)
                diag_unsupported(b->cx, b->model.input[b->model.inout[i].input]->name,
                                 "%s, and an in-out tensor is one array of the caller; declare it as `input`, and also "
                                 "as `output`", rows[r].why);
    }
}

static int other_end(const Build *b, int port, bool is_input)
{
    for (int i = 0; i < b->model.inout_count; i++) {
        const StatePair *pair = &b->model.inout[i];
        if ((is_input ? pair->input : pair->output) == port) return is_input ? pair->output : pair->input;
    }
    return -1;
}

int build_output_of_inout(const Build *b, int input) { return other_end(b, input, true); }

int build_input_of_inout(const Build *b, int output) { return other_end(b, output, false); }

/* ---- Copies of new values ---------------------------------------------------------------------------------------- */

static void *with_one_more(Ctx *cx, const void *at, int count, size_t size)
{
    char *more = arena_alloc(cx->arena, ((size_t)count + 1) * size);
    if (count) memcpy(more, at, (size_t)count * size);
    memset(more + (size_t)count * size, 0, size);
    return more;
}

/* Lets the new values have a tensor of their own. Returns the group that copies them to the in-out tensor. */
static Group copied_update(Build *b, int u, const char *why)
{
    Ctx *cx = b->cx;
    const int at = b->graph.update[u].output;
    Tensor *now = b->graph.output[at], **output = NEW_ARRAY(cx->arena, Tensor *, b->graph.output_count);
    const char *name = b->graph.input[b->graph.update[u].input]->name;
    Tensor *copy = call(cx, "identity", name_format(cx, "%s_copy", name_identifier(cx, name)), &now, 1, NULL);
    Group g = { .node_count = 1, .input_count = 1, .output_count = 1 };
    if (!copy) return g;
    memcpy(output, b->graph.output, (size_t)b->graph.output_count * sizeof *output);
    output[at] = copy;
    b->graph.output = output;
    g.name = name_identifier(cx, copy->name);
    g.anchor = copy->producer;
    g.node = arena_copy(cx->arena, &g.anchor, sizeof g.anchor);
    g.input = arena_copy(cx->arena, &now, sizeof now);
    g.output = arena_copy(cx->arena, &copy, sizeof copy);
    diag_listed(cx, NOTE, name,
                "new values of the in-out tensor have memory of their own, %lld bytes, and are copied at the end: %s",
                (long long)tensor_most_bytes(cx, now), why);
    return g;
}

Groups build_groups_by_updates(Build *b, Groups groups)
{
    for (int waits = 0; !ctx_failed(b->cx);) {
        const Groups ordered = groups_by_updates(b->cx, &b->graph, groups, &waits);
        if (waits < 0) return ordered;
        groups.at = with_one_more(b->cx, groups.at, groups.count, sizeof *groups.at);
        groups.at[groups.count++] = copied_update(b, waits, "a layer reads both old and new values");
    }
    return groups;
}

static void add_copy(Build *b, int u, const char *why)
{
    Ctx *cx = b->cx;
    const int count = b->groups.count;
    Group copy = copied_update(b, u, why);
    if (ctx_failed(cx)) return;
    copy.name = build_symbol(b, copy.name);
    b->groups.at = with_one_more(cx, b->groups.at, count, sizeof *b->groups.at);
    b->scheduled.nest = with_one_more(cx, b->scheduled.nest, count, sizeof *b->scheduled.nest);
    b->scheduled.chosen = with_one_more(cx, b->scheduled.chosen, count, sizeof *b->scheduled.chosen);
    if (b->devices.of) b->devices.of = with_one_more(cx, b->devices.of, count, sizeof *b->devices.of);
    if (b->devices.of) b->devices.of[count] = -1;
    b->groups.at[count] = copy;
    b->groups.count++;
    b->scheduled.nest[count] = group_naive(cx, &b->groups.at[count], b->target, NULL);
}

/* Gives the group its naive nest if only that is shown to read each element before it replaces it, unless a schedule of
 * the file is the group's. */
void build_check_inout(Build *b, int u, int group, int in, int out)
{
    const Group *g = &b->groups.at[group];
    const Nest *n = b->scheduled.nest[group];
    const bool is_given = b->model.is_nest || (n->step_count && !n->strategy);
    if (plan_may_update(b->cx, n, n->input[in], n->output[out])) return;
    if (!is_given) {
        n = group_naive(b->cx, g, b->target, NULL);
        if (n && plan_may_update(b->cx, n, n->input[in], n->output[out])) {
            b->scheduled.nest[group] = n;
            return;
        }
    }
    add_copy(b, u, is_given ? "the steps are not shown to read each old element before its place has the new value"
                            : "the update is not shown to read each old element before its place has the new value");
}
