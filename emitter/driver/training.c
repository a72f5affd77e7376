/* SPDX-License-Identifier: MIT */
/* --train makes the graph of a training step a second Build, after the model's in the list. The training step and the
 * model share functions, constants and names. Each has its own plan, in the same arena of the caller. */
#include <string.h>

#include "driver/driver.h"
#include "support/names.h"
#include "support/sha256.h"
#include "support/text.h"

/* ---- Graphs ------------------------------------------------------------------------------------------------------ */

static void refuse_options(const Build *b)
{
    const lw_options *o = b->options;
    const char *other = b->model.is_nest ? "a file that is one `nest`" : b->states.count ? "state between runs"
        : o->ports_in_arena ? "--io arena" : o->testbench ? "--testbench" : o->cpp ? "--cpp" : o->layers ? "--layers"
        : NULL;
    if (other) diag_unsupported(b->cx, NULL, "--train cannot be used with %s; remove one of the two", other);
}

static void begin_step(const Build *b, Training *t, Shared *shared, Build *step)
{
    *step = (Build){ .cx = b->cx, .options = b->options, .path = b->path, .name = b->name, .target = b->target,
                     .model = b->model, .shared = shared, .training = { .graphs = t, .is_step = true },
                     .graph = t->step };
    if (shared->last) shared->last->tree.next = step;
    shared->last = step;
}

/* Makes the passes before the split keep the calls that have a training form. */
void build_request_forms(Build *b)
{
    TrainSpec s;
    if (ctx_failed(b->cx) || !train_spec_read(b->cx, b->options->train, &s)) return;
    b->graph.keeps_dropout = s.has_dropout;
    b->graph.keeps_norms = s.has_norms;
}

/* ---- Checkpoints ------------------------------------------------------------------------------------------------- */

/* A step with some checkpoints, and the cost of the step. */
typedef struct Trial { Training *training; StepCost cost; } Trial;

typedef struct Checkpoints {
    Build *b;
    /* candidate: tensors that may be stored, in the model's order; at: the tensors that are stored */
    int candidate_count, count;
    Tensor **candidate, **at;
} Checkpoints;

enum { MOST_CANDIDATES = 12, MOST_COST = 2 };
enum { PLAIN, SPARING, REPEATING, FORMS };      /* forms of the step, which try_step turns into a StepForm */

/* Plans and lowers the step, but emits nothing. Returns false if the step has no plan. */
static bool try_step(Checkpoints *c, int form_number, Trial *out)
{
    Ctx *cx = c->b->cx;
    const DiagMark mark = diag_mark(cx);
    Build step;
    const StepForm form = { c->count, c->at, form_number == SPARING, form_number == REPEATING };
    *out = (Trial){ .training = training_new(cx, c->b->options->train, &c->b->graph, &form) };
    if (out->training) {
        begin_step(c->b, out->training, build_shared(cx), &step);
        if (build_passes(&step)) build_inner_graphs(&step);
        if (build_nests(&step)) {
            step.shared->function = NEW_ARRAY(cx->arena, const Function *, step.groups.count);
            build_functions(&step);
            build_final_code(&step);
        }
    }
    const bool ok = !ctx_failed(cx);
    for (int i = 0; ok && i < step.groups.count; i++)
        out->cost.instructions = sat_add(out->cost.instructions, build_instructions(&step, i));
    if (ok) out->cost.arena = step.plan.arena_size;
    diag_rewind(cx, mark);
    return ok;
}

static bool is_among(Tensor *const *list, int count, const Tensor *t)
{
    for (int i = 0; i < count; i++)
        if (list[i] == t) return true;
    return false;
}

/* Collects the operands of layers that the backward pass reads. If there are too many such operands, the function takes
 * every n-th of them. */
static void list_candidates(Checkpoints *c, const Training *plain)
{
    Ctx *cx = c->b->cx;
    Node **order;
    int count = graph_order(cx, &c->b->graph, &order), found = 0;
    Tensor **all = NEW_ARRAY(cx->arena, Tensor *, count);
    for (int n = 0; n < count; n++)
        for (int i = 0; i < plain->param_count; i++) {
            const Tensor *x = plain->param[i].is_trained ? plain->param[i].operand : NULL;
            if (x && x->producer == order[n] && !is_among(all, found, x)) all[found++] = order[n]->out[x->output];
        }
    const int each = (found + MOST_CANDIDATES - 1) / MOST_CANDIDATES;
    c->candidate = NEW_ARRAY(cx->arena, Tensor *, found);
    c->at = NEW_ARRAY(cx->arena, Tensor *, found);
    for (int i = 0; i < found; i += each) c->candidate[c->candidate_count++] = all[i];
}

static bool is_better(const Trial *now, const Trial *best, const Trial *plain)
{
    return now->cost.arena < best->cost.arena && now->cost.instructions <= MOST_COST * plain->cost.instructions;
}

/* Adds the checkpoint that shrinks the arena most, in one of the forms of the step, for at most MOST_COST times the
 * instructions of the plain step. */
static bool add_checkpoint(Checkpoints *c, const Trial *plain, Trial *best)
{
    Tensor *found = NULL;
    for (int i = 0; i < FORMS * c->candidate_count && !ctx_failed(c->b->cx); i++) {
        Trial now;
        Tensor *at = c->candidate[i / FORMS];
        if (is_among(c->at, c->count, at)) continue;
        c->at[c->count++] = at;
        const bool ok = try_step(c, i % FORMS, &now) && is_better(&now, best, plain);
        c->count--;
        if (!ok) continue;
        *best = now;
        found = at;
    }
    if (found) c->at[c->count++] = found;
    return found != NULL;
}

static Training *with_checkpoints(Build *b, Training *training)
{
    const char *wanted = b->options->checkpoint ? b->options->checkpoint : "auto", *end = wanted;
    const bool is_auto = text_equal(wanted, "auto");
    const double bytes = is_auto ? 0 : text_read_double(wanted, &end);
    Checkpoints c = { .b = b };
    Trial plain, best;
    if (!is_auto && (end == wanted || *end || !(bytes >= 1)))
        diag_usage(b->cx, NULL, "--checkpoint does not accept \"%s\"; use auto, or the size of the arena in bytes",
                   wanted);
    if (ctx_failed(b->cx)) return training;
    list_candidates(&c, training);
    if (!try_step(&c, PLAIN, &plain)) return training;
    best = plain;
    for (int form = SPARING; form < FORMS && (is_auto || (double)best.cost.arena > bytes); form++) {
        Trial now;
        if (try_step(&c, form, &now) && is_better(&now, &best, &plain)) best = now;
    }
    while ((is_auto || (double)best.cost.arena > bytes) && add_checkpoint(&c, &plain, &best)) continue;
    if (!is_auto && (double)best.cost.arena > bytes)
        diag_error(b->cx, NULL, "--checkpoint %s: the step requires an arena of %lld bytes, %lld without checkpoints",
                   wanted, (long long)best.cost.arena, (long long)plain.cost.arena);
    StepCost *trade = NEW_ARRAY(b->cx->arena, StepCost, 2);
    trade[0] = plain.cost;
    trade[1] = best.cost;
    b->training.trade = trade;
    return best.training;
}

void build_split_training(Build *b)
{
    Ctx *cx = b->cx;
    refuse_options(b);
    if (b->training.given_count) b->model.input_count -= b->training.given_count;
    Training *t = ctx_failed(cx) ? NULL
        : b->training.given_count ? training_of_inputs(cx, b->options->train, &b->graph, b->training.given,
                                                       b->training.given_count)
        : training_new(cx, b->options->train, &b->graph, &(StepForm){ 0 });
    if (t && (b->options->checkpoint || b->mode.weighs_checkpoints)) {
        Training *with = with_checkpoints(b, t);
        if (b->options->checkpoint) t = with;
    }
    if (ctx_failed(cx)) return;
    b->training.graphs = t;
    b->graph = t->inference;
    b->training.step = NEW(cx->arena, Build);
    begin_step(b, t, b->shared, b->training.step);
    b->training.step->watch = b->watch;
}

/* ---- The program ------------------------------------------------------------------------------------------------- */

static const Trained *trained_of(const Build *b, const char **layout)
{
    const Training *t = b->training.graphs;
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

static const Port *inputs_of_step(const Build *b, int *count)
{
    const Program *p = &b->program;
    Port *input = NEW_ARRAY(b->cx->arena, Port, p->input_count + 1);
    for (int i = 0; i < p->input_count; i++) input[i] = p->input[i];
    const Tensor *t = b->training.step->graph.input[b->training.graphs->target];
    input[p->input_count] = (Port){ .name = t->name, .tensor = t, .at = -1, .base = "target" };
    *count = p->input_count + 1;
    return input;
}

static const Port *loss_of_step(const Build *b)
{
    Port *loss = NEW(b->cx->arena, Port);
    *loss = (Port){ .name = "loss", .tensor = b->training.step->graph.output[0], .at = -1, .is_alone = true };
    return loss;
}

void build_assemble_training(Build *b)
{
    const char *layout;
    if (!b->training.step) return;
    Program *p = &b->program, *s = &b->training.step->program;
    p->params.count = b->training.graphs->param_count;
    p->params.at = trained_of(b, &layout);
    p->params.version = name_n(b->cx, layout, 8);
    s->call_count = build_calls(b->training.step, &s->call, &s->last_bind_count, &s->last_bind);
    s->arena_size = b->training.step->plan.arena_size;
    s->input = inputs_of_step(b, &s->input_count);
    s->output = loss_of_step(b);
    s->output_count = 1;
    s->label_limit = b->training.graphs->class_count;
    p->step = s;
}
