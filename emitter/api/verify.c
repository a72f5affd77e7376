/* SPDX-License-Identifier: MIT */
/* `loopwright verify` builds the emitted C, runs it, and compares its outputs with the interpreter's outputs or with
 * recorded outputs. */
#include <string.h>

#include "api/computation/arguments.h"
#include "api/elements.h"
#include "api/recorded.h"
#include "api/run.h"
#include "api/scores.h"
#include "api/trial.h"
#include "api/verify.h"
#include "support/guard.h"
#include "support/names.h"
#include "support/text.h"

/* ---- Comparison -------------------------------------------------------------------------------------------------- */

typedef struct Files { const char *const *input, *const *expect; int input_count, expect_count; } Files;

/* All trials of a model, with their report and the counts of the compared outputs. */
typedef struct Verify {
    Ctx *cx;
    const lw_options *options;
    const Files *files;
    const InputSets *vectors;          /* or NULL */
    const void *const *given;        /* the inputs of the vector that runs, or NULL */
    const char *folder;
    Accepted accepted;
    Text said;
    const char *first_layer;         /* the first layer that differs, or NULL */
    int outputs, wrong_outputs;
    /* the number of layers of the emitted C that are not tensors of the model as imported */
    int left_out;
    bool has_floats, has_steps;      /* true if --tolerance or --steps applies to an output */
    int row_count, row_room; Validated *row;      /* the compared outputs */
} Verify;

static void add_row(Verify *v, Validated row)
{
    enum { FIRST = 16 };
    if (v->row_count == v->row_room) {
        Validated *more = NEW_ARRAY(v->cx->arena, Validated, v->row_room ? 2 * v->row_room : FIRST);
        if (v->row_count) memcpy(more, v->row, (size_t)v->row_count * sizeof *more);
        v->row = more;
        v->row_room = v->row_room ? 2 * v->row_room : FIRST;
    }
    v->row[v->row_count++] = row;
}

/* Returns true for integers to which --steps applies: quantized values rather than counts or indices. */
static bool is_in_steps(const Tensor *t)
{
    return !dtype_is_float(t->type) && t->type != BOOL && dtype_info(t->type)->bytes <= 2;
}

static Accepted accepted_of(const Verify *v, const Tensor *out)
{
    Accepted a = v->accepted;
    if (!is_in_steps(out)) a.steps = 0;
    return a;
}

/* Prints a line such as "y: 3 of 10 elements differ, by at most 0.5 at element 4; 1 beyond the tolerance". channels:
 * the number of channels of the tensor as imported, or 0 if none was removed. */
static void print_difference(Text *t, const char *sizes, const Tensor *out, int64_t channels, const Difference *d,
                             const Errors *e)
{
    text_printf(t, "%s%s%s: %lld of %lld elements differ", *sizes ? sizes + 1 : "", *sizes ? ": " : "", out->name,
                (long long)d->differ, (long long)tensor_elems(out));
    if (d->differ) {
        text_add(t, "; largest difference ");
        text_float(t, (float)d->worst);
        text_printf(t, " at element %lld", (long long)d->worst_at);
        if (d->wrong) text_printf(t, "; %lld beyond the tolerance", (long long)d->wrong);
        else text_add(t, ", within the tolerance");
        text_add(t, "; ");
        errors_print(t, e);
    }
    if (channels)
        text_printf(t, "; %lld of %lld channels are left", (long long)tensor_dim(out, out->rank - 1),
                    (long long)channels);
    text_char(t, '\n');
}

/* Integers with one scale are compared as the real numbers that they represent. */
static Errors errors_of(const Tensor *t, const void *got, const void *want)
{
    const bool is_real = dtype_is_float(t->type), has_scale = !is_real && t->quant && t->quant->count == 1;
    const double scale = has_scale ? (double)t->quant->scale[0] : 1;
    const double zero = has_scale ? (double)t->quant->zero_point[0] : 0;
    Errors e = { 0 };
    for (int64_t i = 0; i < tensor_elems(t); i++) {
        const Scalar x = dtype_load(t->type, want, i), y = dtype_load(t->type, got, i);
        errors_add(&e, is_real ? x.f : scale * ((double)x.i - zero), is_real ? y.f : scale * ((double)y.i - zero));
    }
    return e;
}

static bool same_shape(const Tensor *a, const Tensor *b)
{
    bool same = a->rank == b->rank;
    for (int d = 0; same && d < a->rank; d++) same = tensor_dim(a, d) == tensor_dim(b, d);
    return same;
}

/* For an output whose shape the run decides, prints "kept: [3][4], as expected" or "kept: [3][4], but [4][4] is
 * expected". */
static bool compare_shapes(Text *t, Ctx *cx, const Tensor *got, const Tensor *want)
{
    const bool same = same_shape(got, want);
    text_printf(t, "%s: %s, %s\n", want->name, tensor_shape_text(cx, got),
                same ? "as expected" : text_format(cx, "but %s is expected", tensor_shape_text(cx, want)));
    return same;
}

/* Compares the outputs and prints a line for each. With --layers, the outputs from number `layers_from` on are results
 * of layers. */
static bool compare(Verify *v, const Build *b, const char *sizes, int layers_from, const void *const *interpreted)
{
    Ctx *cx = v->cx;
    const Files *f = v->files;
    Recorded r;
    if (!recorded_open(b, &r)) return false;
    for (int i = 0; i < b->model.output_count - b->states.count && !ctx_failed(cx); i++) {
        const int number = run_output_number(b, i);
        const Tensor *as_built = b->model.output[number],
                     *out = i < f->expect_count ? elements_shaped(cx, f->expect[i], as_built)
                                                : build_actual(b, as_built),
                     *given = trial_shape(cx, v->folder, i, as_built);
        if (!out || !given || ctx_failed(cx)) return false;
        if (given != as_built && !compare_shapes(&v->said, cx, given, out)) {
            v->outputs++;
            v->wrong_outputs++;
            continue;
        }
        const void *got = trial_output(cx, v->folder, i, out);
        const void *recorded = i < f->expect_count ? elements_read(cx, f->expect[i], out) : recorded_layer(b, &r, out);
        if (!got || ctx_failed(cx)) return false;
        const void *want = recorded ? recorded : interpreted[number];
        v->left_out += !want;
        if (!want) continue;
        const Difference d = elements_compare(out, got, want, accepted_of(v, out));
        const Errors e = errors_of(out, got, want);
        print_difference(&v->said, sizes, out, i < layers_from ? 0 : b->observed.imported_channels[number], &d, &e);
        add_row(v, (Validated){ out->name, sizes, i >= layers_from, tensor_elems(out), d, e });
        v->outputs++;
        v->wrong_outputs += d.wrong > 0;
        v->has_floats = v->has_floats || dtype_is_float(out->type);
        v->has_steps = v->has_steps || is_in_steps(out);
        if (d.wrong && i >= layers_from && !v->first_layer) v->first_layer = out->name;
    }
    if (r.path && !r.found)
        diag_error(cx, NULL, "\"%s\" has no file for any layer; name the files LAYER.npy, with the names of layers "
                             "that `loopwright report` prints",
                   r.path);
    return !ctx_failed(cx);
}

/* ---- Symbolic sizes ----------------------------------------------------------------------------------------------
 * The emitted program runs with all sizes at their minimum, in the middle, and at their maximum. For each trial the
 * model is read again with these sizes fixed, so the interpreter never evaluates a symbolic size. */

enum { MOST_SIZES = 16, TRIALS = 3 };
typedef struct SizeList { int count; const Var *at[MOST_SIZES]; } SizeList;

static void add_size(const Expr *e, void *user)
{
    SizeList *s = user;
    const Var *v = expr_as_var(e);
    bool is_new = v && v->role == VAR_SIZE && s->count < MOST_SIZES;
    for (int i = 0; i < s->count; i++) is_new = is_new && s->at[i] != v;
    if (is_new) s->at[s->count++] = v;
}

static SizeList sizes_of(const Build *b)
{
    SizeList s = { 0 };
    for (int i = 0; i < b->model.input_count; i++)
        for (int d = 0; d < b->model.input[i]->rank; d++) expr_walk(b->cx, b->model.input[i]->shape[d], add_size, &s);
    return s;
}

static int64_t size_in_trial(const Var *v, int trial)
{
    return v->least + (v->greatest - v->least) * trial / (TRIALS - 1);
}

/* Returns the options with every size fixed; stores " n=4" for each size in *arguments. */
static lw_options fixed_options(Ctx *cx, const lw_options *o, const SizeList *s, int trial, const char **arguments)
{
    lw_options fixed = *o;
    lw_dim *dim = NEW_ARRAY(cx->arena, lw_dim, o->dim_count + s->count);
    Text t = text_new(cx);
    fixed.dim = dim;
    fixed.dim_count = 0;
    for (int i = 0; i < o->dim_count; i++)
        if (!o->dim[i].is_maximum) dim[fixed.dim_count++] = o->dim[i];
    for (int k = 0; k < s->count; k++) {
        lw_dim *d = &dim[fixed.dim_count++];
        *d = (lw_dim){ s->at[k]->name, size_in_trial(s->at[k], trial), false, 0 };
        for (int i = 0; i < o->dim_count; i++)
            if (o->dim[i].is_maximum && strcmp(name_identifier(cx, o->dim[i].name), d->name) == 0)
                d->name = o->dim[i].name;
        text_printf(&t, " %s=%lld", s->at[k]->name, (long long)d->value);
    }
    *arguments = text_string(&t);
    return fixed;
}

/* ---- The command ------------------------------------------------------------------------------------------------ */

/* The second run reads the state of the first run; three runs read both buffers of a state that has two. */
enum { RUNS_WITH_STATE = 3 };

/* Compares the integers that the reference computes where the file has real numbers. The reference cannot judge this
 * choice, because the emitted C makes the same choice (driver/run.c). */
static bool compare_written(Verify *v, Build *written, const Build *reference, const void *const *inputs)
{
    Steps s = { 0 };
    if (!reference->graph.quantized_count || v->options->stream) return true;
    written->mode.is_written = true;
    build_as_reference(written);
    if (!build_graph(written) || !build_nests(written)) return false;
    if (!build_compare_written(written, inputs, reference, &s)) return false;
    if (s.wrong)
        diag_error(v->cx, s.first_wrong->name, "%lld of %lld quantized elements differ by more than one step from the "
                   "real numbers of the file, the first of them in this tensor; use --qdq float, which computes the "
                   "real numbers",
                   (long long)s.wrong, (long long)s.elements);
    if (s.differ)
        text_printf(&v->said, "%lld of %lld quantized elements are a step beside real numbers in 32-bit floats\n",
                    (long long)s.differ, (long long)s.elements);
    return !s.wrong;
}

/* Runs the program and the interpreter once, or several times if there is state. If steps of a schedule name sizes that
 * the trial has fixed, the interpreter runs the formulas without steps. */
static bool trial(Verify *v, const char *model, const lw_options *o, const char *sizes)
{
    Build b;
    const void **inputs, **outputs;
    const Files *f = v->files;
    if (!build_read(&b, v->cx, model, o)) return false;
    Build written = b;
    if (*sizes) b.model.schedule_count = 0;
    const int own_outputs = b.model.output_count - b.states.count;
    const int runs = b.states.count && !f->expect_count ? RUNS_WITH_STATE : 1;
    return run_interpreted(&b, f->input, f->input_count, v->given, runs, &inputs, &outputs) &&
           (v->given || compare_written(v, &written, &b, inputs)) &&
           trial_run(&b, v->folder, sizes, inputs, runs, &v->said) && compare(v, &b, sizes, own_outputs, outputs);
}

static bool trials_of_vectors(Verify *v, const char *model)
{
    bool ok = true;
    for (int i = 0; i < v->vectors->count && ok; i++) {
        v->given = v->vectors->inputs[i];
        text_printf(&v->said, "vector %s:\n", v->vectors->name[i]);
        ok = trial(v, model, v->options, "");
    }
    return ok;
}

static bool trials(Verify *v, const Build *b, const char *model)
{
    const SizeList s = sizes_of(b);
    bool ok = true;
    if (v->vectors && !s.count) return trials_of_vectors(v, model);
    for (int i = 0; i < (s.count ? TRIALS : 1) && ok; i++) {
        const char *arguments = "";
        const lw_options fixed = s.count ? fixed_options(v->cx, v->options, &s, i, &arguments) : *v->options;
        ok = trial(v, model, &fixed, arguments);
    }
    return ok;
}

/* Prints the compiler, its flags and the runner. Also prints whether the program uses the target's instructions or the
 * portable macros. */
static void print_setting(Verify *v, const Build *b, bool has_instructions)
{
    const lw_options *o = v->options;
    const Target *t = b->target;
    text_printf(&v->said, "built by %s %s, run by %s\n", trial_compiler(o), trial_flags(o),
                o->runner ? o->runner : "this machine");
    if (!t->features || !*t->features || (!t->macros && o->runner)) return;
    text_printf(&v->said, "the instructions of %s (%s) run ", t->name, t->features);
    if (has_instructions) text_add(&v->said, "as instructions\n");
    else if (!o->runner)
        text_printf(&v->said, "through their portable form, because %s or this machine has none; "
                              "--cc and --runner run them on an emulator or a board\n", trial_compiler(o));
    else
        text_printf(&v->said, "through their portable form, because %s does not use them%s%s\n", trial_compiler(o),
                    t->flags ? " without " : "", t->flags ? t->flags : "");
}

/* Returns true if the emitted C copies constants before layers. */
static bool copies_constants(Ctx *cx, const char *folder)
{
    const char *path = text_format(cx, "%s/model.c", folder), *text = file_text(cx, path, file_read(cx, path));
    return text && strstr(text, "    LW_COPY_WAIT(");
}

/* Builds and runs the program again with copies that the waits execute. */
static bool trials_of_late_copies(Verify *v, const Build *b, const char *model)
{
    Verify late = *v;
    lw_options o = *v->options;
    if (ctx_failed(v->cx) || !copies_constants(v->cx, v->folder)) return !ctx_failed(v->cx);
    o.cc = text_format(v->cx, "%s -DLW_COPY_LATE", trial_compiler(&o));
    late.options = &o;
    late.said = text_new(v->cx);
    late.outputs = late.wrong_outputs = late.left_out = 0;
    if (!trial_build(v->cx, v->folder, &o) || !trials(&late, b, model)) return false;
    v->wrong_outputs += late.wrong_outputs;
    v->outputs += late.wrong_outputs;
    if (!v->first_layer) v->first_layer = late.first_layer;
    if (late.wrong_outputs) text_addn(&v->said, text_string(&late.said), late.said.length);
    text_printf(&v->said, "copies that the waits execute (-DLW_COPY_LATE): %d of %d outputs agree\n",
                late.outputs - late.wrong_outputs, late.outputs);
    return true;
}

static void print_tolerance(Text *t, const Verify *v)
{
    if (v->has_floats) {
        text_add(t, "; floats within ");
        text_double(t, v->accepted.absolute);
        text_add(t, " + ");
        text_double(t, v->accepted.relative);
        text_add(t, " * |expected|");
    }
    if (v->accepted.steps && v->has_steps) text_printf(t, "; quantized values within %d steps", v->accepted.steps);
}

/* Prints the verdict; refuses --tolerance and --steps if they apply to no output. */
static const char *verdict(Verify *v)
{
    const lw_options *o = v->options;
    const char *of = v->files->expect_count || o->recorded ? "the expected outputs" : "the interpreter";
    const int vectors = v->given ? v->vectors->count : 0;
    const char *inputs = v->files->input_count ? "the given inputs" : "generated inputs";
    if (vectors) inputs = text_format(v->cx, vectors == 1 ? "%d vector" : "%d vectors", vectors);
    if (o->tolerance && !v->has_floats)
        diag_error(v->cx, NULL, "--tolerance has no effect, because no output holds floats");
    if (o->steps && !v->has_steps)
        diag_error(v->cx, NULL, "--steps has no effect, because no output holds integers of at most 16 bits");
    if (v->left_out)
        text_printf(&v->said, "%d layer%s of the emitted C %s no tensor of the model as imported\n", v->left_out,
                    v->left_out == 1 ? "" : "s", v->left_out == 1 ? "is" : "are");
    text_printf(&v->said, "%s: %d of %d outputs agree with %s on %s", v->wrong_outputs ? "FAILED" : "verified",
                v->outputs - v->wrong_outputs, v->outputs, of, inputs);
    print_tolerance(&v->said, v);
    text_char(&v->said, '\n');
    if (v->wrong_outputs)
        diag_error(v->cx, NULL, "the emitted C does not agree with %s%s%s%s:\n%s", of,
                   v->first_layer ? "; the first layer that differs is \"" : "", v->first_layer ? v->first_layer : "",
                   v->first_layer ? "\"" : "", text_string(&v->said));
    return ctx_failed(v->cx) ? NULL : text_string(&v->said);
}

/* Builds, runs and compares; *own: a copy of the options, which v->options names. */
static bool verify_into(Verify *v, const char *model, const Files *files, lw_options *own)
{
    Build b;
    Ctx *cx = v->cx;
    Folder *folder = build_read(&b, cx, model, own) ? trial_folder(cx, b.model.input_count) : NULL;
    Resource held;
    if (!folder) return false;
    resource_hold(cx, &held, trial_remove, folder);
    const bool has_instructions = trial_instructions(cx, folder, b.target, own);
    lw_options with_bench = *own;
    with_bench.testbench = with_bench.standalone = true;     /* so that the program can be built in any folder */
    v->options = own;
    v->files = files;
    v->folder = folder->path;
    v->accepted = elements_accepted();
    v->said = text_new(cx);
    if (own->tolerance) {
        v->accepted.absolute = own->tolerance->absolute;
        v->accepted.relative = own->tolerance->relative;
    }
    v->accepted.steps = own->steps;
    print_setting(v, &b, has_instructions);
    const bool ok = lw_compile(cx, model, text_format(cx, "%s/model.c", folder->path), &with_bench) &&
                    trial_build(cx, folder->path, own) && trials(v, &b, model) && trials_of_late_copies(v, &b, model);
    resource_drop(cx, &held);
    return ok;
}

static const char *verify(Ctx *cx, const char *model, const Files *files, const lw_options *o)
{
    Verify v = { .cx = cx };
    o = options_of(cx, "lw_verify", o);
    if (!o || !is_given(cx, "lw_verify", "the model", model)) return NULL;
    if (!are_given(cx, "lw_verify", "the inputs", files->input, files->input_count)) return NULL;
    if (!are_given(cx, "lw_verify", "the expected outputs", files->expect, files->expect_count)) return NULL;
    lw_options own = *o;
    return verify_into(&v, model, files, &own) ? verdict(&v) : NULL;
}

const char *verify_vectors(Ctx *cx, const char *model, const InputSets *vectors, const lw_options *o)
{
    const Files none = { 0 };
    Verify v = { .cx = cx, .vectors = vectors };
    lw_options own = *o;
    return verify_into(&v, model, &none, &own) ? verdict(&v) : NULL;
}

const Validation *validation_of(Ctx *cx, const char *model, const lw_options *o)
{
    const Files files = { o->input, NULL, o->input_count, 0 };
    Validation *all = NEW(cx->arena, Validation);
    Verify v = { .cx = cx };
    lw_options own = *o;
    if (!verify_into(&v, model, &files, &own)) return NULL;
    *all = (Validation){ text_format(cx, "%s %s", trial_compiler(&own), trial_flags(&own)), v.row_count, v.row,
                         v.wrong_outputs };
    return all;
}

const char *lw_verify(lw_context *cx, const char *model, const char *const *input, int input_count,
                      const char *const *expect, int expect_count, const lw_options *o)
{
    const Files files = { input, expect, input_count, expect_count };
    RETURN_GUARDED(cx, const char *, NULL, verify(cx, model, &files, o));
}
