/* SPDX-License-Identifier: MIT */
/* `loopwright run` interprets the model on .npy files. */
#include "api/run.h"

#include <string.h>

#include "api/computation/arguments.h"
#include "api/elements.h"
#include "support/guard.h"
#include "support/text.h"

/* Refuses inputs with symbolic sizes, because their data requires numbers. */
static bool has_fixed_sizes(const Build *b)
{
    for (int i = 0; i < b->model.input_count; i++) {
        const Tensor *t = b->model.input[i];
        for (int d = 0; d < t->rank; d++) {
            const Var *size = expr_as_var(t->shape[d]);
            if (size)
                diag_error(b->cx, NULL, "input \"%s\" has the symbolic size %s; fix it with --dim %s=N", t->name,
                           size->name, size->name);
            if (size) return false;
        }
    }
    return true;
}

/* Returns a copy of the state's initial value. */
static void *initial_state(const Build *b, int input)
{
    const Tensor *first = build_initial(b, input);
    int64_t bytes = tensor_bytes(b->model.input[input]);
    return first ? arena_copy(b->cx->arena, first->data, (size_t)bytes) : arena_alloc(b->cx->arena, (size_t)bytes);
}

/* ---- Generated indices ------------------------------------------------------------------------------------------- */

/* A tensor, and the limit of the indices that its elements are; 0 if its elements are not indices. */
typedef struct Indexed { Ctx *cx; const Tensor *by; int64_t limit; } Indexed;
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

static int64_t lower_limit(int64_t a, int64_t b) { return !a || (b && b < a) ? b : a; }

/* Returns an upper limit for generated elements of the tensor: the smallest dimension that its elements index (in
 * x[k[i], j], elements of k index dimension 0 of x), or one more than the greatest size that they decide. The use may
 * be behind a few calls that move or compute integers. Returns 0 if there is no limit. */
static int64_t index_limit(const Build *b, const Tensor *t, int calls)
{
    Indexed found = { b->cx, NULL, 0 };
    int64_t behind = 0;
    for (int g = 0; g < b->groups.count; g++) {
        const Nest *n = b->scheduled.nest[g];
        const Group *of = &b->groups.at[g];
        for (int i = 0; n && i < n->input_count; i++) {
            if (of->input[i] != t) continue;
            found.by = n->input[i];
            for (int s = 0; s < n->stage_count; s++)
                for (int v = 0; v < n->stage[s]->out_count; v++)
                    expr_walk(b->cx, n->stage[s]->value[v], visit_read, &found);
            const Expr *size = group_bound_size(of);
            if (size) behind = lower_limit(behind, expr_as_var(size)->greatest + 1);
            if (!calls || !of->anchor || of->anchor->op->fusion.pattern > PATTERN_INJECTIVE) continue;
            for (int k = 0; k < of->output_count; k++)
                if (dtype_is_integer(of->output[k]->type))
                    behind = lower_limit(behind, index_limit(b, of->output[k], calls - 1));
        }
    }
    return lower_limit(found.limit, behind);
}

/* Lists the names of the inputs that are not a state, such as "x, h". */
static const char *input_names(const Build *b)
{
    Text t = text_new(b->cx);
    for (int i = 0; i < b->model.input_count; i++)
        if (build_state_of_input(b, i) < 0) text_printf(&t, "%s%s", t.length ? ", " : "", b->model.input[i]->name);
    return t.length ? text_string(&t) : "there is none";
}

/* Reads the files of the inputs that are not states. */
static bool read_inputs(const Build *b, const char *const *input, int count, const void **data)
{
    enum { MOST_CALLS = 6 };
    Ctx *cx = b->cx;
    int inputs = b->model.input_count - b->states.count;
    if (count && count != inputs) {
        diag_error(cx, NULL, "%d file%s given; pass one .npy file for each input%s: %s", count,
                   count == 1 ? " is" : "s are", b->states.count ? " that is not a state" : "", input_names(b));
        return false;
    }
    if (!has_fixed_sizes(b)) return false;
    for (int i = 0, file = 0; i < b->model.input_count; i++) {
        const Tensor *t = b->model.input[i];
        if (build_state_of_input(b, i) >= 0) data[i] = initial_state(b, i);
        else
            data[i] = count ? elements_read_input(cx, input[file++], t) : elements_generate(cx, t, (uint32_t)i + 1,
                                                                                     index_limit(b, t, MOST_CALLS));
    }
    return !ctx_failed(cx);
}

bool run_inputs(const Build *b, const char *const *input, int count, const void ***inputs)
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

/* Replaces the model's outputs by the outputs of the emitted C, with its layers. The data are the reference's, or NULL
 * if the reference lacks the tensor. */
static bool add_layers(Build *b, Build *emitted, const Env *all, const void ***outputs)
{
    const int own = b->model.output_count;
    if (!build_graph(emitted)) return false;
    emitted->observed.sizes = b->observed.sizes;
    int64_t *channels = NEW_ARRAY(b->cx->arena, int64_t, emitted->model.output_count);
    const void **more = NEW_ARRAY(b->cx->arena, const void *, emitted->model.output_count);
    memcpy(more, *outputs, (size_t)own * sizeof *more);
    for (int i = own; i < emitted->model.output_count; i++)
        more[i] = build_reference_data(b, all, emitted, emitted->model.output[i], &channels[i]);
    b->observed.imported_channels = channels;
    b->model.output = emitted->model.output;
    b->model.output_count = emitted->model.output_count;
    *outputs = more;
    return true;
}

bool run_interpreted(Build *b, const char *const *input, int count, const void *const *given, int runs,
                     const void ***inputs, const void ***outputs)
{
    Build emitted = *b;
    Env *all = NULL;
    build_as_reference(b);
    bool ok = build_graph(b) && build_nests(b);
    *inputs = NEW_ARRAY(b->cx->arena, const void *, b->model.input_count);
    *outputs = NEW_ARRAY(b->cx->arena, const void *, b->model.output_count);
    ok = ok && (given || read_inputs(b, input, count, *inputs));
    for (int i = 0; given && i < b->model.input_count; i++) (*inputs)[i] = given[i];
    for (int run = 0; ok && run < runs; run++) {
        for (int i = 0; run && i < b->states.count; i++)
            (*inputs)[b->states.at[i].input] = (*outputs)[b->states.at[i].output];
        all = env_new(b->cx);
        ok = build_run_all(b, *inputs, all);
        for (int i = 0; ok && i < b->graph.output_count; i++) (*outputs)[i] = env_get(all, b->graph.output[i]);
    }
    return ok && (!emitted.options->layers || add_layers(b, &emitted, all, outputs));
}

static bool is_equal(const Build *b, const Tensor *t, const void *got, const void *want)
{
    if (!got || !want) return true;
    t = build_actual(b, t);
    const Difference d = elements_compare(t, got, want, elements_accepted());
    if (d.wrong)
        diag_error(b->cx, t->name, "--selftest: %lld of %lld elements differ from the model as imported, so the sums "
                   "would record wrong results; `verify --layers` shows each layer", (long long)d.wrong,
                   (long long)tensor_elems(t));
    return !d.wrong;
}

/* Refuses an output whose number of elements differs from the reference's. */
static bool has_size_of(const Build *b, const Tensor *t, const Build *r, const Tensor *whole)
{
    const Tensor *got = build_actual(b, t), *want = build_actual(r, whole);
    if (tensor_elems(got) == tensor_elems(want)) return true;
    diag_error(b->cx, t->name, "--selftest: it is %s, but %s in the model as imported", tensor_shape_text(b->cx, got),
               tensor_shape_text(b->cx, want));
    return false;
}

/* Compares the values that the self-test records with the reference. The recorded values equal the values of the
 * emitted nests, bit for bit. */
static bool is_as_imported(const Build *b, const void *const *inputs)
{
    Build r;
    Env *all = env_new(b->cx);
    int64_t channels;
    if (b->mode.in_fixed_point) return true;          /* the quantizer changed the model */
    if (!build_read(&r, b->cx, b->path, b->options)) return false;
    build_as_reference(&r);
    if (!build_graph(&r) || !build_nests(&r) || !build_run_all(&r, inputs, all)) return false;
    for (int i = 0; i < b->groups.count; i++)
        for (int k = 0; k < b->groups.at[i].output_count; k++) {
            const Tensor *t = b->groups.at[i].output[k];
            if (!is_equal(b, t, env_get(b->observed.recorded, t), build_reference_data(&r, all, b, t, &channels)))
                return false;
        }
    for (int i = 0; i < b->graph.output_count && i < r.graph.output_count; i++) {
        const Tensor *t = b->graph.output[i];
        if (!has_size_of(b, t, &r, r.graph.output[i])) return false;
        if (!is_equal(b, t, env_get(b->observed.recorded, t), env_get(all, r.graph.output[i]))) return false;
    }
    return true;
}

bool run_recorded(Build *b, const void *const *inputs)
{
    Env *all = env_new(b->cx);
    b->observed.recorded = all;
    return build_run_all(b, inputs, all) && is_as_imported(b, inputs);
}

bool run_selftest(Build *b)
{
    const lw_options *o = b->options;
    if (!o->selftest_count) return true;
    if (!o->selftest) diag_error(b->cx, NULL, "selftest_count is %d, but selftest is NULL", o->selftest_count);
    const bool is_random = o->selftest && o->selftest_count == 1 && strcmp(o->selftest[0], "random") == 0;
    if (b->model.is_nest)
        diag_error(b->cx, NULL, "--selftest requires a network: a file of one nest has no layers");
    if (ctx_failed(b->cx)) return false;
    const void **inputs;
    return run_inputs(b, o->selftest, is_random ? 0 : o->selftest_count, &inputs) && run_recorded(b, inputs);
}

/* Returns the name of the pass over the DAG after which the model is interpreted (--at pass:NAME). */
static const char *pass_over_dag(Ctx *cx, const char *at)
{
    enum { PASS = 5 };
    int count;
    const GraphPassRow *pass = graph_passes(&count);
    const char *name = strncmp(at, "pass:", PASS) == 0 ? at + PASS : at;
    Text names = text_new(cx);
    for (int i = 0; i < count; i++) {
        if (name != at && text_equal(pass[i].name, name)) return name;
        text_printf(&names, "%spass:%s", i ? ", " : "", pass[i].name);
    }
    diag_usage(cx, NULL, "--at %s is not a pass over the DAG; use %s", at, text_string(&names));
    return NULL;
}

/* Drops the layers that are not tensors of the model as imported. */
static void keep_common_layers(Build *b, const void **outputs)
{
    int kept = 0;
    Tensor **all = arena_copy(b->cx->arena, b->model.output, (size_t)b->model.output_count * sizeof *all);
    for (int i = 0; i < b->model.output_count; i++) {
        if (!outputs[i]) continue;
        all[kept] = b->model.output[i];
        outputs[kept++] = outputs[i];
    }
    b->model.output = all;
    b->model.output_count = kept;
}

/* Interprets the model on these input files. Returns false on error. */
static bool interpret(Build *b, Ctx *cx, const char *model, const char *const *input, int input_count,
                      const void ***outputs, const lw_options *o)
{
    const void **inputs;
    o = options_of(cx, "lw_run", o);
    if (!o || !is_given(cx, "lw_run", "the model", model)) return false;
    if (!are_given(cx, "lw_run", "the inputs", input, input_count) || !build_read(b, cx, model, o)) return false;
    const int files = b->model.input_count - b->states.count;
    if (!input_count && files)
        diag_error(cx, NULL, "no input file is given; pass one .npy file for each input%s: %s",
                   b->states.count ? " that is not a state" : "", input_names(b));
    b->mode.until = o->at ? pass_over_dag(cx, o->at) : NULL;
    if (ctx_failed(cx) || !run_interpreted(b, input, input_count, NULL, 1, &inputs, outputs)) return false;
    keep_common_layers(b, *outputs);
    return true;
}

static bool run(Ctx *cx, const char *model, const char *const *input, int input_count, const char *const *output,
                int output_count, const lw_options *o)
{
    Build b;
    const void **outputs;
    if (!are_given(cx, "lw_run", "the outputs", output, output_count)) return false;
    if (!interpret(&b, cx, model, input, input_count, &outputs, o)) return false;
    const int most = b.model.output_count - b.states.count;
    if (output_count > most)
        diag_error(cx, NULL, "-o is given %d times; pass it once for each of the model's %d outputs", output_count,
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
    for (int i = 0; i < b.model.output_count - b.states.count; i++) {
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
