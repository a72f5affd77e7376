/* SPDX-License-Identifier: MIT */
/* A state is a pair of an input and an output that the emitted program keeps between runs; the file, --state or
 * --stream declares it. Finds the pairs and checks them: equal shape and type, and no tensor in two pairs. */

/* Decision: state is an input and an output. A value that persists between runs is such a pair (`StatePair`), created
 * by `--state` or by the file (TFLite variables: `import/tflite/ops/tflite_state.c`). Later stages see only these
 * pairs. The memory plan determines whether both values share one array. The two values share an array if no group
 * writes the new value before the old value's last use. The two values also share an array if one group is both the
 * first that writes the new value and the last that uses the old value, and if this group reads each element before
 * writing it (a shift, `driver/overlaps.c`). Otherwise two arrays alternate. */
#include "driver/driver.h"

#include "support/text.h"

static int find_port(const Build *b, Tensor *const *port, int count, const char *wanted, const char *what)
{
    const char **names = NEW_ARRAY(b->cx->arena, const char *, count);
    for (int i = 0; i < count; i++) {
        if (text_equal(port[i]->name, wanted)) return i;
        names[i] = port[i]->name;
    }
    diag_error(b->cx, NULL, "there is no %s '%s' to be given with --state%s", what, wanted,
               text_hint(b->cx, wanted, names, (size_t)count, ""));
    return -1;
}

const Tensor *build_initial(const Build *b, int input) { return b->model.initial ? b->model.initial[input] : NULL; }

/* Checks that both tensors have equal types and equal, fixed shapes, and that neither is in another pair. */
static void check_state(const Build *b, int i)
{
    Ctx *cx = b->cx;
    const Tensor *in = b->model.input[b->states.at[i].input], *out = b->model.output[b->states.at[i].output];
    if (in->type != out->type || tensor_elems(in) != tensor_elems(out) || tensor_elems(in) < 0)
        diag_error(cx, NULL, "the state's input \"%s\" is %s%s, but its output \"%s\" is %s%s; use equal types and "
                             "equal, fixed shapes", in->name,
                   dtype_info(in->type)->spelling, tensor_shape_text(cx, in), out->name,
                   dtype_info(out->type)->spelling, tensor_shape_text(cx, out));
    const Tensor *first = build_initial(b, b->states.at[i].input);
    if (first && (first->type != in->type || tensor_elems(first) != tensor_elems(in)))
        diag_error(cx, NULL, "the state \"%s\" is %s%s, but begins with %s%s; use initial values of the state's type "
                             "and shape", in->name, dtype_info(in->type)->spelling,
                   tensor_shape_text(cx, in), dtype_info(first->type)->spelling, tensor_shape_text(cx, first));
    for (int j = 0; j < i; j++)
        if (b->states.at[j].input == b->states.at[i].input || b->states.at[j].output == b->states.at[i].output)
            diag_error(cx, NULL, "\"%s\" or \"%s\" is given twice with --state; give each name once",
                       in->name, out->name);
}

void build_states(Build *b)
{
    const lw_options *o = b->options;
    const int own = b->model.state_count;
    b->states.count = own + o->state_count;
    b->states.at = NEW_ARRAY(b->cx->arena, StatePair, b->states.count);
    for (int i = 0; i < b->states.count && !ctx_failed(b->cx); i++) {
        const lw_state *given = &o->state[i < own ? 0 : i - own];
        b->states.at[i] = i < own ? b->model.state[i]
                              : (StatePair){ find_port(b, b->model.input, b->model.input_count, given->input, "input"),
                                             find_port(b, b->model.output, b->model.output_count, given->output,
                                                       "output") };
        if (!ctx_failed(b->cx)) check_state(b, i);
    }
}

int build_state_of_input(const Build *b, int input)
{
    for (int i = 0; i < b->states.count; i++)
        if (b->states.at[i].input == input) return i;
    return -1;
}

int build_state_of_output(const Build *b, int output)
{
    for (int i = 0; i < b->states.count; i++)
        if (b->states.at[i].output == output) return i;
    return -1;
}

/* ---- Windows of --stream ----------------------------------------------------------------------------------------- */

static bool is_open(const Model *m)
{
    for (int i = 0; i < m->input_count; i++)
        if (!tensor_is_fixed(m->input[i])) return true;
    return false;
}

void build_request_stream(Build *b)
{
    const Model *m = &b->model;
    const char *other = m->is_nest ? "a file that is one `nest`" : b->options->train ? "--train"
        : b->states.count ? "state between runs" : is_open(m) ? "open dimensions" : NULL;
    if (other) diag_unsupported(b->cx, NULL, "--stream cannot be used with %s; remove one of the two", other);
    else b->graph.stream = stream_request(b->cx, b->options->stream, m->input, m->input_count);
}

/* Returns `count` ports: the model's own ports first, then the graph's ports. */
static Tensor **with_states(Ctx *cx, Tensor *const *own, int own_count, Tensor *const *of_graph, int count)
{
    Tensor **all = NEW_ARRAY(cx->arena, Tensor *, count);
    for (int i = 0; i < count; i++) all[i] = i < own_count ? own[i] : of_graph[i];
    return all;
}

/* Gives an output with the streamed axis the shape of one hop. */
static void shorten_outputs(Build *b)
{
    for (int i = 0; i < b->model.output_count; i++) {
        Tensor **t = &b->model.output[i];
        const char *its_name = (*t)->name;
        if (tensor_elems(*t) == tensor_elems(b->graph.output[i])) continue;
        *t = tensor_stand_in(b->cx, b->graph.output[i]);
        (*t)->name = its_name;
    }
}

/* Notes that results may depend on the hop: the schedule decides whether a * b + c is rounded once, and it depends on
 * the number of frames. */
static void note_contraction(const Build *b)
{
    if (b->target && target_has(b->target, "fma") && dtype_is_float(b->graph.input[b->graph.stream->input]->type))
        diag_listed(b->cx, NOTE, NULL, "--stream: on %s, a schedule may round a product and its sum once, so floats "
                                       "may differ from those of the full window; use --float separate for equal bytes",
                    b->target->name);
}

void build_add_stream(Build *b)
{
    const Stream *s = b->graph.stream;
    Model *m = &b->model;
    if (!s || !s->is_done) return;
    note_contraction(b);
    m->input = with_states(b->cx, m->input, m->input_count, b->graph.input, b->graph.input_count);
    m->output = with_states(b->cx, m->output, m->output_count, b->graph.output, b->graph.output_count);
    shorten_outputs(b);
    m->input[s->input] = b->graph.input[s->input];
    m->initial = NULL;
    m->input_count = b->graph.input_count;
    m->output_count = b->graph.output_count;
    b->states.at = NEW_ARRAY(b->cx->arena, StatePair, s->state_count);
    b->states.count = s->state_count;
    for (int i = 0; i < s->state_count; i++) b->states.at[i] = (StatePair){ s->state[i].input, s->state[i].output };
}
