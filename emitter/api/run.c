/* SPDX-License-Identifier: MIT */
/* `loopwright run`: interprets the model on .npy files. */
#include "api/run.h"

#include <string.h>

#include "api/computation/arguments.h"
#include "api/elements.h"
#include "support/guard.h"

/* Refuses inputs with symbolic sizes: their data require numbers. */
static bool has_fixed_sizes(Build *b)
{
    for (int i = 0; i < b->model.input_count; i++) {
        const Tensor *t = b->model.input[i];
        for (int d = 0; d < t->rank; d++) {
            const Var *size = expr_as_var(t->shape[d]);
            if (size)
                diag_error(b->cx, NULL, "input \"%s\" has the symbolic size %s: fix it with --dim %s=N", t->name,
                           size->name, size->name);
            if (size) return false;
        }
    }
    return true;
}

/* Returns a copy of the state's initial value. */
static void *initial_state(Build *b, int input)
{
    const Tensor *first = build_initial(b, input);
    int64_t bytes = tensor_bytes(b->model.input[input]);
    return first ? arena_copy(b->cx->arena, first->data, (size_t)bytes) : arena_alloc(b->cx->arena, (size_t)bytes);
}

/* ---- Generated indices ------------------------------------------------------------------------------------------- */

typedef struct Indexed { Ctx *cx; const Tensor *by; int64_t limit; } Indexed;      /* limit 0: it indexes nothing */
typedef struct Within { Indexed *found; int64_t size; } Within;

static void visit_index(const Expr *e, void *user)
{
    Within *w = user;
    Indexed *i = w->found;
    if (e->kind == EXPR_READ && e->ref == i->by && (!i->limit || w->size < i->limit)) i->limit = w->size;
}

static void visit_read(const Expr *e, void *user)
{
    Indexed *found = user;
    if (e->kind != EXPR_READ) return;
    const Tensor *read = e->ref;
    for (int d = 0; d < read->rank; d++) {
        Within w = { found, tensor_dim(read, d) };
        expr_walk(found->cx, e->arg[d], visit_index, &w);
    }
}

/* Returns the smallest dimension that the input's elements index, as `k` in x[k[i], j]; generated elements are below.
 * */
static int64_t index_limit(const Build *b, const Tensor *t)
{
    Indexed found = { b->cx, NULL, 0 };
    for (int g = 0; g < b->groups.count; g++) {
        const Nest *n = b->nest[g];
        for (int i = 0; n && i < n->input_count; i++) {
            if (b->groups.at[g].input[i] != t) continue;
            found.by = n->input[i];
            for (int s = 0; s < n->stage_count; s++)
                for (int v = 0; v < n->stage[s]->out_count; v++)
                    expr_walk(b->cx, n->stage[s]->value[v], visit_read, &found);
        }
    }
    return found.limit;
}

/* The names of the inputs that are not a state: "x, h". */
static const char *input_names(const Build *b)
{
    Text t = text_new(b->cx);
    for (int i = 0; i < b->model.input_count; i++)
        if (build_state_of_input(b, i) < 0) text_printf(&t, "%s%s", t.length ? ", " : "", b->model.input[i]->name);
    return t.length ? text_string(&t) : "there is none";
}

/* Reads the files of the inputs that are not a state. */
static bool read_inputs(Build *b, const char *const *input, int count, const void **data)
{
    Ctx *cx = b->cx;
    int inputs = b->model.input_count - b->state_count;
    if (count && count != inputs) {
        diag_error(cx, NULL, "%d file%s given; accepted: a .npy file for each input%s: %s", count,
                   count == 1 ? " is" : "s are", b->state_count ? " that is not a state" : "", input_names(b));
        return false;
    }
    if (!has_fixed_sizes(b)) return false;
    for (int i = 0, file = 0; i < b->model.input_count; i++) {
        const Tensor *t = b->model.input[i];
        if (build_state_of_input(b, i) >= 0) data[i] = initial_state(b, i);
        else
            data[i] = count ? elements_read_input(cx, input[file++], t) : elements_generate(cx, t, (uint32_t)i + 1,
                                                                                     index_limit(b, t));
    }
    return !ctx_failed(cx);
}

bool run_inputs(Build *b, const char *const *input, int count, const void ***inputs)
{
    *inputs = NEW_ARRAY(b->cx->arena, const void *, b->model.input_count);
    return read_inputs(b, input, count, *inputs);
}

int run_output_number(const Build *b, int number)
{
    for (int i = 0; i < b->model.output_count; i++)
        if (build_state_of_output(b, i) < 0 && number-- == 0) return i;
    return -1;
}

bool run_interpreted(Build *b, const char *const *input, int count, int runs, const void ***inputs,
                     const void ***outputs)
{
    bool ok = build_graph(b) && build_nests(b);
    *inputs = NEW_ARRAY(b->cx->arena, const void *, b->model.input_count);
    *outputs = NEW_ARRAY(b->cx->arena, const void *, b->model.output_count);
    ok = ok && read_inputs(b, input, count, *inputs);
    for (int run = 0; ok && run < runs; run++) {
        for (int i = 0; run && i < b->state_count; i++) (*inputs)[b->state[i].input] = (*outputs)[b->state[i].output];
        ok = build_run(b, *inputs, *outputs);
    }
    return ok;
}

bool run_selftest(Build *b)
{
    const lw_options *o = b->options;
    const bool is_random = o->selftest_count == 1 && strcmp(o->selftest[0], "random") == 0;
    if (!o->selftest_count) return true;
    if (b->model.is_nest)
        diag_error(b->cx, NULL, "--selftest requires a network: a file of one nest has no layers");
    if (ctx_failed(b->cx)) return false;
    const void **inputs = NEW_ARRAY(b->cx->arena, const void *, b->model.input_count);
    Env *all = env_new(b->cx);
    b->recorded = all;
    return read_inputs(b, o->selftest, is_random ? 0 : o->selftest_count, inputs) && build_run_all(b, inputs, all);
}

/* Interprets the model on these files. False on error. */
static bool interpret(Build *b, Ctx *cx, const char *model, const char *const *input, int input_count,
                      const void ***outputs, const lw_options *o)
{
    const void **inputs;
    o = options_of(cx, "lw_run", o);
    if (!o || !is_given(cx, "lw_run", "the model", model)) return false;
    if (!are_given(cx, "lw_run", "the inputs", input, input_count) || !build_read(b, cx, model, o)) return false;
    const int files = b->model.input_count - b->state_count;
    if (!input_count && files)
        diag_error(cx, NULL, "no file is given; accepted: a .npy file for each input%s: %s",
                   b->state_count ? " that is not a state" : "", input_names(b));
    return !ctx_failed(cx) && run_interpreted(b, input, input_count, 1, &inputs, outputs);
}

static bool run(Ctx *cx, const char *model, const char *const *input, int input_count, const char *const *output,
                int output_count, const lw_options *o)
{
    Build b;
    const void **outputs;
    if (!are_given(cx, "lw_run", "the outputs", output, output_count)) return false;
    if (!interpret(&b, cx, model, input, input_count, &outputs, o)) return false;
    const int most = b.model.output_count - b.state_count;
    if (output_count > most)
        diag_error(cx, NULL, "-o is given %d times; accepted: once for each of the model's %d outputs", output_count,
                   most);
    if (ctx_failed(cx)) return false;
    FileOut *files = NEW_ARRAY(cx->arena, FileOut, output_count);
    for (int i = 0; i < output_count; i++) {
        const int at = run_output_number(&b, i);
        const Bytes file = elements_bytes(cx, build_actual(&b, b.model.output[at]), outputs[at]);
        files[i] = (FileOut){ .path = output[i], .bytes = file.at, .count = file.count };
    }
    return file_write_all(cx, files, (size_t)output_count);
}

static const char *run_text(Ctx *cx, const char *model, const char *const *input, int input_count, const lw_options *o)
{
    Build b;
    const void **outputs;
    Text t = text_new(cx);
    if (!interpret(&b, cx, model, input, input_count, &outputs, o)) return NULL;
    for (int i = 0; i < b.model.output_count - b.state_count; i++) {
        const int at = run_output_number(&b, i);
        elements_print(cx, &t, build_actual(&b, b.model.output[at]), outputs[at]);
    }
    return text_string(&t);
}

bool lw_run(lw_context *cx, const char *model, const char *const *input, int input_count, const char *const *output,
            int output_count, const lw_options *o)
{
    RETURN_GUARDED(cx, bool, false, run(cx, model, input, input_count, output, output_count, o));
}

const char *lw_run_text(lw_context *cx, const char *model, const char *const *input, int input_count,
                        const lw_options *o)
{
    RETURN_GUARDED(cx, const char *, NULL, run_text(cx, model, input, input_count, o));
}
