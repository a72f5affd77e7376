/* SPDX-License-Identifier: MIT */
/* `loopwright evaluate` runs the emitted C on a test set. A program of a few lines around the emitted function reads
 * all samples from one file and writes all outputs to another. */
#include "api/evaluate.h"

#include <string.h>

#include "api/computation/arguments.h"
#include "api/trial.h"
#include "import/formats/npy.h"
#include "ir/algebra/algebra.h"
#include "support/file.h"
#include "support/guard.h"

/* ---- The program ------------------------------------------------------------------------------------------------- */

static const char head[] =
    "#include <math.h>\n"
    "#include <stdio.h>\n"
    "#include <string.h>\n"
    "#include \"model.h\"\n"
    "#define IN_ELEMENTS(name, type, count) static type in_##name[(count) + !(count)];\n"
    "EVALUATED_INPUTS(IN_ELEMENTS)\n"
    "static struct evaluated_inputs in;\n"
    "static void bind_inputs(void)\n"
    "{\n"
    "    memset(&in, 0, sizeof in);\n"
    "#define IN_FIELD(name, type, count) in.name = in_##name;\n"
    "    EVALUATED_INPUTS(IN_FIELD)\n"
    "}\n"
    "static int read_inputs(FILE *from)\n"
    "{\n"
    "    size_t want = 0, got = 0;\n"
    "#define READ(name, type, count) want += count; got += fread(in_##name, sizeof(type), count, from);\n"
    "    EVALUATED_INPUTS(READ)\n"
    "    return got == want;\n"
    "}\n";

const char *evaluated_head(void) { return head; }

lw_options evaluated_options(const lw_options *o)
{
    lw_options own = *o;
    own.name = "evaluated";
    own.standalone = true;
    own.memory_count = 0;
    own.ports_memory = NULL;
    own.testbench = own.static_arena = own.ports_in_arena = own.profile = own.cpp = false;
    return own;
}

/* Runs the emitted model on all samples of a file. */
static const char body[] =
    "#define OUT_ELEMENTS(name, type, count) static type out_##name[(count) + !(count)];\n"
    "EVALUATED_OUTPUTS(OUT_ELEMENTS)\n"
    "#ifdef EVALUATED_SIZES\n"
    "#define SIZE_ELEMENT(name, least, greatest) static int32_t size_##name;\n"
    "EVALUATED_SIZES(SIZE_ELEMENT)\n"
    "#endif\n"
    "static EVALUATED_ARENA(arena);\n"
    "int main(int argc, char **argv)\n"
    "{\n"
    "    FILE *from = argc == 3 ? fopen(argv[1], \"rb\") : NULL, *to = from ? fopen(argv[2], \"wb\") : NULL;\n"
    "    struct evaluated_outputs out;\n"
    "    if (!to) return 1;\n"
    "    memset(&out, 0, sizeof out);\n"
    "    bind_inputs();\n"
    "#define OUT_FIELD(name, type, count) out.name = out_##name;\n"
    "    EVALUATED_OUTPUTS(OUT_FIELD)\n"
    "#ifdef EVALUATED_SIZES\n"
    "#define SIZE_FIELD(name, least, greatest) out.name = &size_##name;\n"
    "    EVALUATED_SIZES(SIZE_FIELD)\n"
    "#endif\n"
    "    while (read_inputs(from)) {\n"
    "        if (evaluated_run(arena, &in, &out) != 0) return 1;\n"
    "#define WRITE(name, type, count) if (fwrite(out_##name, sizeof(type), count, to) != (count)) return 1;\n"
    "        EVALUATED_OUTPUTS(WRITE)\n"
    "    }\n"
    "    return fclose(to) ? 1 : 0;\n"
    "}\n";

/* Prints the body for --stream: a sample is a window of one input, which hops fill; its outputs are the outputs of the
 * last hop. */
static const char body_of_hops[] =
    "#define OUT_ELEMENTS(name, type, count) static type out_##name[(count) + !(count)];\n"
    "EVALUATED_OUTPUTS(OUT_ELEMENTS)\n"
    "static EVALUATED_ARENA(arena);\n"
    "#define HOP_BYTES(name, type, count) + sizeof(type) * (count)\n"
    "enum { HOP = 0 EVALUATED_INPUTS(HOP_BYTES), RUNS = EVALUATED_STREAM_RUNS_TO_FULL,\n"
    "       WINDOW = HOP / EVALUATED_STREAM_HOP * EVALUATED_STREAM_WINDOW };\n"
    "/* Frames before the window, whose length need not be a multiple of the hop */\n"
    "static char frames[RUNS * HOP];\n"
    "int main(int argc, char **argv)\n"
    "{\n"
    "    FILE *from = argc == 3 ? fopen(argv[1], \"rb\") : NULL, *to = from ? fopen(argv[2], \"wb\") : NULL;\n"
    "    struct evaluated_outputs out;\n"
    "    static struct evaluated_state state;\n"
    "    if (!to) return 1;\n"
    "    memset(&out, 0, sizeof out);\n"
    "    bind_inputs();\n"
    "#define OUT_FIELD(name, type, count) out.name = out_##name;\n"
    "    EVALUATED_OUTPUTS(OUT_FIELD)\n"
    "    while (fread(frames + sizeof frames - WINDOW, 1, WINDOW, from) == WINDOW) {\n"
    "        evaluated_reset(&state);\n"
    "        for (int r = 0; r < RUNS; r++) {\n"
    "#define COPY(name, type, count) memcpy(in_##name, frames + r * HOP, HOP);\n"
    "            EVALUATED_INPUTS(COPY)\n"
    "            if (evaluated_run(arena, &state, &in, &out) != 0) return 1;\n"
    "        }\n"
    "#define WRITE(name, type, count) if (fwrite(out_##name, sizeof(type), count, to) != (count)) return 1;\n"
    "        EVALUATED_OUTPUTS(WRITE)\n"
    "    }\n"
    "    return fclose(to) ? 1 : 0;\n"
    "}\n";

/* the samples that one run of the emitted program computes */
typedef struct Batch { int64_t first, count; } Batch;

size_t sample_bytes(const Samples *s)
{
    size_t each = 0;
    for (int i = 0; i < s->input_count; i++) each += (size_t)s->bytes[i];
    return each;
}

char *sample_put(Ctx *cx, const Samples *s, int64_t number, char *to)
{
    for (int i = 0; i < s->input_count; to += s->bytes[i++])
        if (!samples_copy(cx, s, i, number, to)) return NULL;
    return to;
}

static bool write_samples(Ctx *cx, const char *path, const Samples *s, Batch batch, char *all)
{
    char *to = all;
    for (int64_t k = batch.first; k < batch.first + batch.count; k++)
        if (!(to = sample_put(cx, s, k, to))) return false;
    return file_write(cx, path, all, (size_t)(to - all));
}

/* ---- Outputs ----------------------------------------------------------------------------------------------------- */

Outputs outputs_new(Ctx *cx, const Tensor *t, int64_t count)
{
    const int64_t each = tensor_elems(t);
    const bool is_label = each == 1 && dtype_is_integer(t->type) && !t->quant;
    return (Outputs){ count, each, NEW_ARRAY(cx->arena, double, count * each), is_label };
}

void outputs_put(Outputs *y, const Tensor *t, int64_t sample, const void *data)
{
    const Quant *q = t->quant && t->quant->count == 1 ? t->quant : NULL;
    for (int64_t i = 0; i < y->each; i++) {
        const Scalar v = dtype_load(t->type, data, i);
        y->value[sample * y->each + i] = dtype_is_float(t->type) ? v.f
            : q ? (double)(v.i - q->zero_point[0]) * (double)q->scale[0] : (double)v.i;
    }
}

static bool read_outputs(const Build *b, const char *path, Batch batch, Outputs *out)
{
    size_t each = 0;
    for (int i = 0; i < b->graph.output_count; i++)
        if (build_state_of_output(b, i) < 0) each += (size_t)tensor_most_bytes(b->cx, b->graph.output[i]);
    const Bytes file = file_read(b->cx, path);
    if (ctx_failed(b->cx)) return false;
    if (file.count != each * (size_t)batch.count)
        diag_error(b->cx, NULL, "the emitted program wrote %lld bytes instead of %lld", (long long)file.count,
                   (long long)each * (long long)batch.count);
    if (ctx_failed(b->cx)) return false;
    /* uses the model's port, because a pass may have replaced the tensor by one without a scale */
    for (int64_t k = 0; k < batch.count; k++)
        outputs_put(out, b->model.output[0], batch.first + k, file.at + (size_t)k * each);
    return true;
}

/* Runs the built program on one batch after another. */
static bool run_batches(const Build *b, const char *folder, const Samples *s, Outputs *out)
{
    enum { LEAST = 64, PARTS = 50 };
    Ctx *cx = b->cx;
    const char *in = text_format(cx, "%s/in", folder), *result = text_format(cx, "%s/out", folder);
    const int64_t most = s->count / PARTS > LEAST ? s->count / PARTS : LEAST;
    char *all = arena_array(cx->arena, (size_t)most, sample_bytes(s));
    *out = outputs_new(cx, b->graph.output[0], s->count);
    for (int64_t first = 0; first < s->count; first += most) {
        const Batch batch = { first, s->count - first < most ? s->count - first : most };
        if (!build_progress(b, "running the emitted C", first, s->count)) return false;
        if (!write_samples(cx, in, s, batch, all)) return false;
        if (!trial_run_all(cx, folder, b->options) || !read_outputs(b, result, batch, out)) return false;
    }
    return build_progress(b, "running the emitted C", s->count, s->count);
}

static bool write_program(const Build *b, const char *path)
{
    const char *text = text_format(b->cx, "%s%s", head, b->graph.stream ? body_of_hops : body);
    return file_write(b->cx, path, text, strlen(text));
}

bool outputs_emitted(Build *b, const Samples *s, Outputs *out)
{
    Ctx *cx = b->cx;
    Folder *folder = trial_folder(cx, 0);
    Resource held;
    if (!folder) return false;
    resource_hold(cx, &held, trial_remove, folder);
    const bool ok = build_write(b, text_format(cx, "%s/model.c", folder->path)) &&
        write_program(b, text_format(cx, "%s/model_main.c", folder->path)) &&
        build_progress(b, "running the emitted C", 0, s->count) && trial_build(cx, folder->path, b->options) &&
        run_batches(b, folder->path, s, out);
    resource_drop(cx, &held);
    return ok;
}

/* ---- The command ------------------------------------------------------------------------------------------------- */

static void print_labels(Ctx *cx, Text *t, const char *path, const Outputs *y, int top)
{
    const int64_t *label = labels_read(cx, path, y->count, outputs_classes(y));
    if (!label) return;
    const int64_t right = scores_right(y, label, 1);
    text_printf(t, "accuracy %s: %lld of %lld samples", percent_text(cx, right, y->count), (long long)right,
                (long long)y->count);
    if (top < y->each)
        text_printf(t, "; %s among the %d highest", percent_text(cx, scores_right(y, label, top), y->count), top);
    text_char(t, '\n');
    print_confusion(cx, t, y, label);
}

static void print_errors(Ctx *cx, Text *t, const char *path, const Tensor *output, const Outputs *y)
{
    DType type;
    int rank;
    int64_t shape[MAX_RANK], elems = 1;
    void *data;
    Outputs want = *y;
    if (!npy_read(cx, path, &type, &rank, shape, &data)) return;
    for (int d = 0; d < rank; d++) elems *= shape[d];
    if (elems != y->count * y->each || (type != output->type && !dtype_is_float(type))) {
        diag_error(cx, NULL, "\"%s\" holds %lld elements of %s, but the output \"%s\" of %lld samples has %lld; pass "
                             "one value for each element", path,
                   (long long)elems, dtype_info(type)->spelling, output->name, (long long)y->count,
                   (long long)(y->count * y->each));
        return;
    }
    Tensor stored = *output;
    stored.type = type;
    if (dtype_is_float(type)) stored.quant = NULL;
    want.value = NEW_ARRAY(cx->arena, double, elems);
    for (int64_t i = 0; i < y->count; i++)
        outputs_put(&want, &stored, i, (const char *)data + i * y->each * dtype_info(type)->bytes);
    text_printf(t, "signal to noise %s; greatest error ", decibel_text(cx, outputs_sqnr(&want, y)));
    text_float(t, (float)outputs_greatest_error(&want, y));
    text_char(t, '\n');
    const Errors errors = outputs_errors(&want, y);
    errors_print(t, &errors);
    text_char(t, '\n');
}

/* ---- Compared forms ---------------------------------------------------------------------------------------------- */

/* A form of the model that is emitted for comparison; of the passes that rewrite the model, only the last one runs. */
typedef struct Form {
    const char *name;
    const char *qdq;                   /* the word of --qdq, or NULL for the options' own */
    bool without_grids;                /* true if values are not rounded to grids */
} Form;

static const Form forms[] = {
    { "float", "float", true }, { "simulated", "float", false }, { "emitted C", NULL, false },
};
enum { FORMS = sizeof forms / sizeof forms[0], AS_EMITTED = FORMS - 1 };

/* Returns true if --stream evaluates by hops. A sample is a whole window with its frames in order, and each output is
 * the output of a whole window. */
static bool is_evaluated_by_hops(Ctx *cx, const Build *b, int inputs, const int64_t *output_elems)
{
    const Stream *s = b->graph.stream;
    if (!s) return true;
    for (int d = 0; d < s->axis; d++)
        if (tensor_dim(b->graph.input[s->input], d) != 1)
            diag_unsupported(cx, NULL, "axis %d of --stream follows a dimension of %lld; use a model whose dimensions "
                                       "before the axis are 1", s->axis,
                             (long long)tensor_dim(b->graph.input[s->input], d));
    if (inputs != 1)
        diag_unsupported(cx, NULL, "--stream is given for a model that has %d inputs; use a model with one input",
                                   inputs);
    for (int i = 0; i < b->graph.output_count && !ctx_failed(cx); i++)
        if (build_state_of_output(b, i) < 0 && tensor_elems(b->graph.output[i]) != output_elems[i])
            diag_unsupported(cx, NULL, "the output \"%s\" has the frames of a hop, which --stream cannot evaluate; "
                             "use outputs of the whole window", b->graph.output[i]->name);
    return !ctx_failed(cx);
}

/* Returns false, with a diagnostic, if data decide sizes of the first output, which is compared. The remaining outputs
 * may have sizes that data decide. */
static bool has_fixed_output(const Build *b)
{
    const Tensor *t = b->model.output_count ? b->model.output[0] : NULL;
    if (!t || tensor_is_fixed(t)) return true;
    diag_unsupported(b->cx, NULL, "the output \"%s\" is %s, which `evaluate` cannot compare; use a first output of "
                     "fixed sizes, or `run`, which writes arrays of the actual shape",
                     t->name, tensor_shape_text(b->cx, t));
    return false;
}

/* Emits the model in a form and runs it on the samples. Stores the build of the form in *b. */
static bool run_form(Ctx *cx, const char *model, const Form *f, const char *const *path, int path_count,
                     const lw_options *o, Build *b, Outputs *out)
{
    Samples s;
    lw_options *own = NEW(cx->arena, lw_options);
    *own = evaluated_options(o);
    if (f->qdq) own->qdq = f->qdq;
    if (f != &forms[AS_EMITTED]) own->stream = NULL;
    if (!build_read(b, cx, model, own)) return false;
    if (b->states.count)
        diag_unsupported(cx, NULL, "the model has state; use a model whose samples are independent");
    if (f->without_grids) model_without_grids(cx, &b->model);
    b->mode.is_as_imported = f != &forms[AS_EMITTED];
    if (ctx_failed(cx) || !samples_read(b, path, path_count, &s) || !has_fixed_output(b)) return false;
    const int inputs = b->model.input_count;
    int64_t *elems = NEW_ARRAY(cx->arena, int64_t, b->model.output_count);
    for (int i = 0; i < b->model.output_count; i++) elems[i] = tensor_elems(b->model.output[i]);
    return build_graph(b) && is_evaluated_by_hops(cx, b, inputs, elems) && build_nests(b)
           && outputs_emitted(b, &s, out);
}

/* Compares the emitted model with its simulation and its float form. */
static void print_forms(Ctx *cx, Text *t, const char *model, const lw_evaluation *e, const lw_options *o,
                        const Outputs *emitted)
{
    Outputs y[FORMS];
    Build b;
    y[AS_EMITTED] = *emitted;
    for (int i = 0; i < AS_EMITTED; i++)
        if (!run_form(cx, model, &forms[i], e->samples, e->sample_count, o, &b, &y[i])) return;
    const int64_t *label = e->labels ? labels_read(cx, e->labels, emitted->count, outputs_classes(emitted)) : NULL;
    text_printf(t, "%-12s%s%18s%18s\n", "", label ? "  accuracy" : "", "signal to noise", "greatest error");
    for (int i = 0; i < FORMS; i++) {
        text_printf(t, "%-12s", forms[i].name);
        if (label) text_printf(t, "%10s", percent_text(cx, scores_right(&y[i], label, 1), y[i].count));
        if (i) text_printf(t, "%18s%18.4g", decibel_text(cx, outputs_sqnr(&y[0], &y[i])),
                           outputs_greatest_error(&y[0], &y[i]));
        text_char(t, '\n');
    }
}

/* Compares the emitted C with a second model on the same samples. */
static void print_reference(Ctx *cx, Text *t, const lw_evaluation *e, const lw_options *o, const Outputs *y)
{
    Build b;
    Outputs want;
    lw_options whole = *o;
    whole.stream = NULL;
    if (!run_form(cx, e->reference, &forms[AS_EMITTED], e->samples, e->sample_count, &whole, &b, &want)) return;
    if (want.each != y->each) {
        diag_error(cx, NULL, "the first output of \"%s\" has %lld elements, but the model's has %lld; use a "
                             "reference with equal outputs",
                   e->reference, (long long)want.each, (long long)y->each);
        return;
    }
    text_printf(t, "against %s: signal to noise %s; greatest error %.4g\n", e->reference,
                decibel_text(cx, outputs_sqnr(&want, y)), outputs_greatest_error(&want, y));
    const Errors errors = outputs_errors(&want, y);
    errors_print(t, &errors);
    text_char(t, '\n');
}

static const char *evaluated(Ctx *cx, const char *model, const lw_evaluation *e, const lw_options *o)
{
    Build b;
    Outputs y;
    Text t = text_new(cx);
    o = options_of(cx, "lw_evaluate", o);
    if (!o || !is_given(cx, "lw_evaluate", "the model", model)) return NULL;
    if (!e || !e->sample_count) {
        diag_usage(cx, NULL, "--test FILE.npy is required");
        return NULL;
    }
    if (!are_given(cx, "lw_evaluate", "the samples", e->samples, e->sample_count)) return NULL;
    if (!run_form(cx, model, &forms[AS_EMITTED], e->samples, e->sample_count, o, &b, &y)) return NULL;
    const bool has_grids = b.graph.quantized_count > 0 && !text_equal(o->qdq, "float");
    if (!e->labels && !e->expect && !e->reference && !has_grids) {
        diag_usage(cx, NULL, "there is nothing to compare with; use --test-labels FILE.npy, --expect FILE.npy, "
                             "--reference MODEL, or a model with simulated or QDQ quantization");
        return NULL;
    }
    text_printf(&t, "%lld samples, emitted for %s, built by %s %s\n", (long long)y.count, b.target->name,
                trial_compiler(o), trial_flags(o));
    if (has_grids) print_forms(cx, &t, model, e, o, &y);
    if (e->labels) print_labels(cx, &t, e->labels, &y, e->top ? e->top : 5);
    if (e->expect) print_errors(cx, &t, e->expect, b.graph.output[0], &y);
    if (e->reference) print_reference(cx, &t, e, o, &y);
    return ctx_failed(cx) ? NULL : text_string(&t);
}

const char *lw_evaluate(lw_context *cx, const char *model, const lw_evaluation *e, const lw_options *o)
{
    RETURN_GUARDED(cx, const char *, NULL, evaluated(cx, model, e, o));
}
