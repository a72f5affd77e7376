/* SPDX-License-Identifier: MIT */
/* --train: the graph of a training step is a second Build, after the model's in the list. Both share functions,
 * constants and names; each has a plan of its own, in the same arena of the caller. */
#include <string.h>

#include "driver/driver.h"
#include "support/names.h"
#include "support/sha256.h"
#include "support/text.h"

/* ---- Graphs ------------------------------------------------------------------------------------------------------ */

static void refuse_options(Build *b)
{
    const lw_options *o = b->options;
    const char *other = b->model.is_nest ? "a file that is one `nest`" : b->state_count ? "state between runs"
        : o->ports_in_arena ? "--io arena" : o->testbench ? "--testbench" : o->cpp ? "--cpp" : o->layers ? "--layers"
        : NULL;
    if (other) diag_unsupported(b->cx, NULL, "--train with %s; accepted: --train without it", other);
}

void build_split_training(Build *b)
{
    Ctx *cx = b->cx;
    if (!b->options->train || b->outer || b->is_step || ctx_failed(cx)) return;
    refuse_options(b);
    b->training = ctx_failed(cx) ? NULL : training_new(cx, b->options->train, &b->graph);
    if (!b->training) return;
    b->graph = b->training->inference;
    Build *step = b->step = NEW(cx->arena, Build);
    *step = (Build){ .cx = cx, .options = b->options, .path = b->path, .name = b->name, .target = b->target,
                     .watch = b->watch, .shared = b->shared, .training = b->training, .is_step = true,
                     .graph = b->training->step };
    step->model = b->model;
    b->shared->last->next = step;
    b->shared->last = step;
}

/* An update whose scheduled nest cannot overwrite the old value gets its naive nest, which can. */
void build_check_updates(Build *b)
{
    for (int u = 0; u < b->graph.update_count && !ctx_failed(b->cx); u++) {
        const Tensor *from = b->graph.input[b->graph.update[u].input], *to = b->graph.output[b->graph.update[u].output];
        for (int i = 0; i < b->groups.count; i++) {
            const Group *g = &b->groups.at[i];
            int in = 0, out = 0;
            while (in < g->input_count && g->input[in] != from) in++;
            while (out < g->output_count && g->output[out] != to) out++;
            if (in == g->input_count || out == g->output_count) continue;
            const Nest *n = b->nest[i];
            if (!n->otherwise && plan_may_overwrite(b->cx, n, n->input[in], n->output[out])) continue;
            b->nest[i] = group_naive(b->cx, g, b->target, NULL);
        }
    }
}

/* ---- The program ------------------------------------------------------------------------------------------------- */

static const Trained *trained_of(Build *b, const char **layout)
{
    const Training *t = b->training;
    Trained *all = NEW_ARRAY(b->cx->arena, Trained, t->param_count);
    Text text = text_new(b->cx);
    text_printf(&text, "%s\n", b->model.digest ? b->model.digest : "");
    for (int i = 0; i < t->param_count; i++) {
        const TrainParam *p = &t->param[i];
        all[i] = (Trained){ .name = p->name, .what = p->what, .tensor = p->value, .initial = p->initial,
                            .is_weights = p->is_trained };
        if (p->initial && p->value->rank)
            all[i].initial_name = build_symbol(b, name_format(b->cx, "%s_initial", p->name));
        text_printf(&text, "%s %s%s\n", p->name, dtype_info(p->value->type)->spelling,
                    tensor_shape_text(b->cx, p->value));
    }
    *layout = sha256_hex(b->cx, text_string(&text), text.length);
    return all;
}

static const Port *inputs_of_step(Build *b, int *count)
{
    const Program *p = &b->program;
    Port *input = NEW_ARRAY(b->cx->arena, Port, p->input_count + 1);
    for (int i = 0; i < p->input_count; i++) input[i] = p->input[i];
    const Tensor *t = b->step->graph.input[b->training->target];
    input[p->input_count] = (Port){ .name = t->name, .tensor = t, .at = -1, .base = "target" };
    *count = p->input_count + 1;
    return input;
}

static const Port *loss_of_step(Build *b)
{
    Port *loss = NEW(b->cx->arena, Port);
    *loss = (Port){ .name = "loss", .tensor = b->step->graph.output[0], .at = -1, .is_alone = true };
    return loss;
}

void build_assemble_training(Build *b)
{
    const char *layout;
    if (!b->step) return;
    Program *p = &b->program, *s = &b->step->program;
    p->trained_count = b->training->param_count;
    p->trained = trained_of(b, &layout);
    p->params_version = name_n(b->cx, layout, 8);
    s->call_count = build_calls(b->step, &s->call);
    s->arena_size = b->step->plan.arena_size;
    s->input = inputs_of_step(b, &s->input_count);
    s->output = loss_of_step(b);
    s->output_count = 1;
    p->step = s;
}
