/* SPDX-License-Identifier: MIT */
/* Decision: a training step is a second graph. `--train` splits the model's graph after the pass `affine`, when
 * constants are folded (`graph/train`, `driver/training.c`): trained constants become inputs that both graphs read. The
 * step's outputs are the loss and the new value of each parameter; optimizers are rows of formulas
 * (`graph/train/rows.c`). Each graph is fused, scheduled and planned separately, and both share functions, constants
 * and the caller's arena.
 *
 *   - An input and its new value are a pair that shares memory (`Graph.update`). Groups are ordered so that no group
 *     reads the old value after the update (`graph/plan/updates.c`), and updates run as early as possible.
 *   - A nest that may not overwrite what it reads, such as one with a tail that is shifted inwards, is replaced by
 *     the naive nest.
 *   - `--checkpoint` is a search over whole plans (`driver/training.c`): operands of layers become checkpoints, one
 *     at a time, as long as the planned arena shrinks. No estimate stands in for the plan, because fusion and updates
 *     in place decide what is live. Each set of checkpoints is planned in three forms: the sparing one computes regions
 *     again for each adjoint, and orders its groups by live bytes (`graph/plan/order_by_memory.c`); the repeating one
 *     computes a gradient for each state that reads it, because a call with one consumer is fused and a stored gradient
 *     is not.
 *   - Calls with a training form (dropout, batch norm: `OpGradient.role`) survive the passes before the split
 *     (`Graph.keeps_dropout`, `keeps_norms`), and `graph/train/forms.c` replaces them in the step.
 *   - What persists between steps is `struct NAME_params` alone: interrupted training continues to the same bits. */
#include "graph/train/train.h"

#include <string.h>

#include "graph/dag/region.h"
#include "graph/differentiate/differentiate.h"
#include "graph/train/rows.h"
#include "support/names.h"
#include "support/text.h"

/* ---- The loss ---------------------------------------------------------------------------------------------------- */

static Tensor *trained_output(Ctx *cx, const TrainSpec *s, const Graph *g)
{
    const char **names = NEW_ARRAY(cx->arena, const char *, g->output_count);
    Tensor *y = s->output ? NULL : g->output[0];
    for (int i = 0; i < g->output_count; i++) {
        names[i] = g->output[i]->name;
        if (text_equal(s->output, names[i])) y = g->output[i];
    }
    if (!y)
        diag_error(cx, NULL, "--train: there is no output \"%s\"%s", s->output,
                   text_hint(cx, s->output, names, (size_t)g->output_count, ""));
    else if (!dtype_is_float(y->type))
        diag_unsupported(cx, y->name, "--train: the output is %s; use an output of a float type",
                         dtype_info(y->type)->spelling);
    else if (!tensor_is_fixed(y))
        diag_unsupported(cx, y->name, "--train: the output %s has open sizes; fix them with --dim",
                         tensor_shape_text(cx, y));
    return ctx_failed(cx) ? NULL : y;
}

/* Returns the call that computes y, through views. */
static const Node *origin_of(const Tensor *y)
{
    const Node *n = y->producer;
    while (n && n->kind == NODE_CALL && n->op->layout.is_view) n = n->in[0]->producer;
    return n && n->kind == NODE_CALL ? n : NULL;
}

const Tensor *train_logits(const Tensor *y, int link)
{
    const Node *n = origin_of(y);
    if (!n || link == LINK_NONE || (int)n->op->gradient.link != link) return NULL;
    if (link != LINK_SOFTMAX) return n->in[0];
    const Tensor *x = n->in[0];
    const int64_t axis = node_int(n, "axis", -1);
    const bool is_last = axis == -1 || axis == x->rank - 1,
               keeps_it = y->rank && x->rank && tensor_dim(y, y->rank - 1) == tensor_dim(x, x->rank - 1);
    return is_last && keeps_it ? x : NULL;
}

/* Returns true for the results of a softmax or sigmoid. */
static bool are_probabilities(const Tensor *y)
{
    const Node *n = origin_of(y);
    return n && n->op->gradient.link != LINK_NONE;
}

/* Returns the loss of y by an operator with the attribute `of`. The loss is computed from the logits if y is the link's
 * function of them. */
static Tensor *loss_with_link(Ctx *cx, const LossRow *loss, Tensor *y, Tensor *target)
{
    const Tensor *logits = train_logits(y, loss->link);
    const char *of = !logits && are_probabilities(y) ? "probabilities" : "logits";
    Tensor *x = !logits ? y : y->producer == origin_of(y) ? logits->self
        : view_call(cx, logits->name, logits->self, y);
    return call_on_two(cx, loss->name, "loss", x, target, ATTRS(attr_word("of", of)));
}

Tensor *train_cross_entropy(Ctx *cx, Tensor *y, Tensor *target)
{
    return loss_with_link(cx, &train_loss_rows[0], y, target);
}

static Tensor *target_of(Ctx *cx, const TrainSpec *s, const Tensor *y, int64_t *class_count)
{
    const bool is_class = s->loss->has_classes && !text_equal(s->target, "probabilities");
    const char *its_name = is_class ? "label" : "target";
    if (is_class && !y->rank)
        diag_error(cx, y->name, "--train: the output is a scalar, but a cross entropy needs classes; use an output "
                   "whose last dimension has the classes");
    if (ctx_failed(cx)) return NULL;
    *class_count = is_class ? tensor_dim(y, y->rank - 1) : 0;
    return tensor_new(cx, its_name, is_class ? I32 : y->type, y->rank - is_class, y->shape);
}

static Tensor *loss_of(Ctx *cx, const TrainSpec *s, Tensor *y, Tensor *target)
{
    const char *loss = s->loss->name;
    if (!s->loss->of_probabilities) return call_on_two(cx, loss, "loss", y, target, NULL);
    if (!s->of) return loss_with_link(cx, s->loss, y, target);
    if (text_equal(s->of, "logits") && are_probabilities(y)) {
        diag_usage(cx, y->name, "--train: \"loss=%s(of=logits)\" of an output that %s computes; use %s, or "
                   "%s(of=probabilities)", loss, origin_of(y)->op->name, loss, loss);
        return NULL;
    }
    return call_on_two(cx, loss, "loss", y, target, ATTRS(attr_word("of", s->of)));
}

/* ---- The graphs -------------------------------------------------------------------------------------------------- */

static void refuse_others(Ctx *cx, const Graph *g)
{
    Node **order;
    const int count = graph_order(cx, g, &order);
    for (int i = 0; i < count && !ctx_failed(cx); i++)
        if (order[i]->device)
            diag_unsupported(cx, order[i]->name, "--train: a call is on the device %s; use calls on the host",
                             order[i]->device);
}

/* Copies the graph with the parameters instead of the constants. */
static Graph with_inputs(Ctx *cx, const Graph *g, const Trainable *part, Tensor *const *input, int count)
{
    Graph now = *g;
    Tensor **given = NEW_ARRAY(cx->arena, Tensor *, count), **constant = NEW_ARRAY(cx->arena, Tensor *, count);
    for (int i = 0; i < count; i++) {
        constant[i] = part[i].constant;
        given[i] = input[i];
    }
    now.input = constant;
    now.input_count = count;
    now = graph_bind(cx, &now, given);
    now.input = g->input;
    now.input_count = g->input_count;
    return now;
}

/* Returns the parameters. A parameter has no data, because passes would fold or pack a constant. */
static TrainParam *params_of(Ctx *cx, const Trainable *part, int count, int trained)
{
    TrainParam *param = NEW_ARRAY(cx->arena, TrainParam, count);
    for (int i = 0; i < count; i++) {
        Tensor *value = tensor_stand_in(cx, part[i].constant);
        value->name = part[i].name;
        value->data = NULL;
        param[i] = (TrainParam){ .name = part[i].name, .what = part[i].role, .value = value,
                                 .initial = part[i].constant, .is_read = true, .is_trained = i < trained,
                                 .operand = part[i].call->in_count > 1 ? part[i].call->in[0] : NULL };
    }
    return param;
}

/* Appends to the inputs the parameters that inference reads, or all parameters. */
static void add_params(Ctx *cx, const Training *t, Graph *g, bool of_step)
{
    Tensor **input = NEW_ARRAY(cx->arena, Tensor *, g->input_count + t->param_count);
    for (int i = 0; i < g->input_count; i++) input[i] = g->input[i];
    for (int i = 0; i < t->param_count; i++)
        if (of_step || t->param[i].is_read) input[g->input_count++] = t->param[i].value;
    g->input = input;
}

static Graph step_graph(Ctx *cx, const Training *t, const Graph *g, Tensor *target, Tensor *loss)
{
    Graph step = *g;
    Tensor **input = NEW_ARRAY(cx->arena, Tensor *, g->input_count + 1);
    Tensor **output = NEW_ARRAY(cx->arena, Tensor *, t->param_count + 1);
    Update *update = NEW_ARRAY(cx->arena, Update, t->param_count);
    for (int i = 0; i < g->input_count; i++) input[i] = g->input[i];
    input[step.input_count++] = target;
    step.input = input;
    const int first = step.input_count;
    output[0] = loss;
    step.output_count = 1;
    for (int i = 0; i < t->param_count; i++) {
        if (!t->param[i].next) continue;
        update[step.update_count++] = (Update){ first + i, step.output_count, false };
        output[step.output_count++] = t->param[i].next;
    }
    step.output = output;
    step.update = update;
    add_params(cx, t, &step, true);
    return step;
}

/* Inserts a checkpoint after each of the tensors, the last one first, because the tensors before it then still belong
 * to the graph. */
static Graph with_checkpoints(Ctx *cx, Graph g, Tensor *const *at, int count)
{
    Node **order;
    const int calls = graph_order(cx, &g, &order);
    for (int n = calls - 1; n >= 0; n--)
        for (int i = 0; i < count && !ctx_failed(cx); i++) {
            Tensor *t = at[i];
            if (t->producer != order[n]) continue;
            Tensor *kept = call_on(cx, "annotation.checkpoint", t->name, t, NULL);
            Graph one = g;
            one.input = &t;
            one.input_count = 1;
            one = graph_bind(cx, &one, &kept);
            g.output = one.output;
        }
    return g;
}

/* Stores the gradients of parameters that copies read. Otherwise the parameters' updates would overwrite the parameters
 * before the copies read them. */
static void store_gradients(Ctx *cx, const CopiesApart *apart, Tensor *const *wanted, Tensor **gradient, int count)
{
    for (int i = 0; i < count && !ctx_failed(cx); i++)
        if (map_get_ptr(&apart->read_again, wanted[i]))
            gradient[i] = call_on(cx, "annotation.stop_fusion", gradient[i]->name, gradient[i], NULL);
}

/* Returns true if the update of a parameter reads the gradient itself. Otherwise, states hold the gradient until the
 * parameter's update. */
static bool updates_wait(const TrainSpec *s)
{
    const UpdateRow *row = s->optimizer->update;
    while (row->state) row++;
    return strchr(row->formula, 'G') != NULL;
}

/* Adds the step, and the optimizer's state, to a graph in which parameters are inputs. The first `count` parameters
 * have gradients. */
static bool add_step(Ctx *cx, Training *t, Graph bound, int output, int count, const StepForm *form)
{
    CopiesApart apart;
    const bool is_sparing = form->is_sparing;
    bound = train_forms(cx, t, bound);
    Tensor *y = bound.output[output], **gradient = NEW_ARRAY(cx->arena, Tensor *, count),
           **wanted = NEW_ARRAY(cx->arena, Tensor *, count);
    for (int i = 0; i < count; i++) wanted[i] = t->param[i].value;
    Tensor *target = target_of(cx, &t->spec, y, &t->class_count),
           *loss = target ? loss_of(cx, &t->spec, y, target) : NULL;
    if (!loss || !differentiate_again(cx, loss, NULL, wanted, count, gradient, is_sparing ? &apart : NULL))
        return false;
    if (is_sparing && updates_wait(&t->spec)) store_gradients(cx, &apart, wanted, gradient, count);
    train_update(cx, t, gradient, count, form->repeats);
    if (ctx_failed(cx)) return false;
    t->target = bound.input_count;
    t->step = step_graph(cx, t, &bound, target, loss);
    t->step.spares_memory = is_sparing;
    return true;
}

static int index_of(const Graph *g, const Tensor *y)
{
    int found = 0;
    while (g->output[found] != y) found++;
    return found;
}

/* Selects the constants that are trained, and gives layers their paths of low rank. Returns the number of constants. */
static int select_parts(Ctx *cx, Training *t, Graph *g, int output, Trainable **part)
{
    int count = train_select(cx, &t->spec, g, g->output[output], part);
    if (t->spec.lora_rank && !ctx_failed(cx)) count = train_adapt(cx, &t->spec, g, part, count);
    return count;
}

/* Returns the step of a graph. Paths of low rank are added to the graph with checkpoints, because they replace all
 * calls after a layer. Other parameters are selected in the graph without checkpoints. */
Training *training_new(Ctx *cx, const char *text, const Graph *g, const StepForm *form)
{
    Training *t = NEW(cx->arena, Training);
    Trainable *part;
    Graph own = *g;
    Tensor *y = train_spec_read(cx, text, &t->spec) ? trained_output(cx, &t->spec, g) : NULL;
    refuse_others(cx, g);
    if (ctx_failed(cx)) return NULL;
    const int output = index_of(g, y);
    if (t->spec.lora_rank) own = with_checkpoints(cx, own, form->checkpoint, form->count);
    const int trained = ctx_failed(cx) ? 0 : select_parts(cx, t, &own, output, &part);
    t->param_count = ctx_failed(cx) ? 0 : train_running(cx, &own, &part, trained);
    if (ctx_failed(cx)) return NULL;
    const int count = t->param_count;
    t->param = params_of(cx, part, count, trained);
    Tensor **value = NEW_ARRAY(cx->arena, Tensor *, count);
    for (int i = 0; i < count; i++) value[i] = t->param[i].value;
    const Graph marked = t->spec.lora_rank ? own : with_checkpoints(cx, own, form->checkpoint, form->count),
                bound = with_inputs(cx, &marked, part, value, count);
    if (ctx_failed(cx) || !add_step(cx, t, bound, output, trained, form)) return NULL;
    t->inference = form->count ? with_inputs(cx, &own, part, value, count) : bound;
    if (t->spec.lora_rank && form->count) t->inference = train_without(cx, t->inference, GRADIENT_CHECKPOINT);
    t->inference = train_without(cx, t->inference, GRADIENT_DROPOUT);
    add_params(cx, t, &t->inference, false);
    return ctx_failed(cx) ? NULL : t;
}

Training *training_of_inputs(Ctx *cx, const char *text, const Graph *g, const Trainable *part, int count)
{
    Training *t = NEW(cx->arena, Training);
    Graph bound = *g;
    bound.input_count -= count;
    Tensor **wanted = g->input + bound.input_count;
    Tensor *y = train_spec_read(cx, text, &t->spec) ? trained_output(cx, &t->spec, g) : NULL;
    if (!y) return NULL;
    t->param_count = count;
    t->param = NEW_ARRAY(cx->arena, TrainParam, count);
    for (int i = 0; i < count; i++)
        t->param[i] = (TrainParam){ .name = part[i].name, .what = part[i].role, .value = wanted[i],
                                    .initial = part[i].constant, .is_read = true, .is_trained = true };
    if (!add_step(cx, t, bound, index_of(g, y), count, &(StepForm){ 0 })) return NULL;
    t->inference = train_without(cx, bound, GRADIENT_DROPOUT);
    add_params(cx, t, &t->inference, false);
    return ctx_failed(cx) ? NULL : t;
}
