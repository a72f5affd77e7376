/* SPDX-License-Identifier: MIT */
/* `loopwright run`: the model in the interpreter, .npy files in and out. `loopwright verify`: the emitted C, built with the
 * host's compiler, against the interpreter or against recorded outputs. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver.h"
#include "import/npy.h"
#include "import/zip.h"
#include "support/file.h"
#include "support/names.h"

/* ---- Inputs and outputs ----------------------------------------------------------------------------------------- */

/* The elements of a .npy file for the tensor; its shape must agree up to dimensions of 1. */
static void *parsed_data(Ctx *cx, const char *path, Bytes file, const Tensor *t)
{
    DType type;
    int rank;
    int64_t shape[MAX_RANK], elems = 1;
    void *data;
    if (!npy_parse(cx, path, file, &type, &rank, shape, &data)) return NULL;
    for (int d = 0; d < rank; d++) elems *= shape[d];
    if (type == t->type && elems == tensor_elems(t)) return data;
    diag_error(cx, NULL, "\"%s\" holds %lld elements of %s, but \"%s\" is %s%s", path, (long long)elems,
               dtype_info(type)->spelling, t->name, dtype_info(t->type)->spelling, tensor_shape_text(cx, t));
    return NULL;
}
static void *read_data(Ctx *cx, const char *path, const Tensor *t) { return parsed_data(cx, path, file_read(cx, path), t); }

static bool write_data(Ctx *cx, const char *path, const Tensor *t, const void *data)
{
    int64_t shape[MAX_RANK];
    for (int d = 0; d < t->rank; d++) shape[d] = tensor_dim(t, d);
    return npy_write(cx, path, t->type, t->rank, shape, data);
}

void *build_made_up(Ctx *cx, const Tensor *t, uint32_t seed)
{
    int64_t n = tensor_elems(t);
    void *data = arena_alloc(cx->arena, (size_t)(n * dtype_info(t->type)->bytes));
    for (int64_t i = 0; i < n; i++) {
        seed = seed * UINT32_C(1664525) + UINT32_C(1013904223);
        Scalar v = { 0 };
        if (dtype_is_float(t->type)) v.f = (double)(seed >> 8) / 8388608.0 - 1.0;
        else v.i = (int64_t)(seed >> 16) - 32768;
        dtype_store(t->type, data, i, dtype_wrap(t->type, v));
    }
    return data;
}

/* Data need sizes that are numbers. */
static bool has_numbers_for_sizes(Build *b)
{
    for (int i = 0; i < b->model.input_count; i++) {
        const Tensor *t = b->model.input[i];
        for (int d = 0; d < t->rank; d++) {
            const Var *size = expr_as_var(t->shape[d]);
            if (size) diag_error(b->cx, NULL, "input \"%s\" has the symbolic size %s: fix it with --dim %s=N", t->name, size->name, size->name);
            if (size) return false;
        }
    }
    return true;
}

/* What state holds before the first run. */
static void *initial_state(Build *b, int input)
{
    const Tensor *first = build_initial(b, input);
    int64_t bytes = tensor_bytes(b->model.input[input]);
    return first ? arena_copy(b->cx->arena, first->data, (size_t)bytes) : arena_alloc(b->cx->arena, (size_t)bytes);
}

/* Files are for the inputs that are no state. */
static bool read_inputs(Build *b, const char *const *input, int count, void **data)
{
    Ctx *cx = b->cx;
    int inputs = b->model.input_count - b->state_count;
    if (count && count != inputs) {
        diag_error(cx, NULL, "the model has %d inputs%s, but %d files are given", inputs, b->state_count ? " that are no state" : "", count);
        return false;
    }
    if (!has_numbers_for_sizes(b)) return false;
    for (int i = 0, file = 0; i < b->model.input_count; i++) {
        const Tensor *t = b->model.input[i];
        if (build_state_of_input(b, i) >= 0) data[i] = initial_state(b, i);
        else data[i] = count ? read_data(cx, input[file++], t) : build_made_up(cx, t, (uint32_t)i + 1);
    }
    return !ctx_failed(cx);
}

/* The output with this number among those that are no state. */
static int output_number(const Build *b, int number)
{
    for (int i = 0; i < b->model.output_count; i++)
        if (build_state_of_output(b, i) < 0 && number-- == 0) return i;
    return -1;
}

/* So many runs on the same inputs, each with the state that the one before has left. */
static bool interpreted(Build *b, const char *const *input, int count, int runs, void ***inputs, void ***outputs)
{
    bool ok = build_graph(b) && build_nests(b);
    *inputs = NEW_ARRAY(b->cx->arena, void *, b->model.input_count);
    *outputs = NEW_ARRAY(b->cx->arena, void *, b->model.output_count);
    ok = ok && read_inputs(b, input, count, *inputs);
    for (int run = 0; ok && run < runs; run++) {
        for (int i = 0; run && i < b->state_count; i++) (*inputs)[b->state[i].input] = (*outputs)[b->state[i].output];
        ok = build_run(b, *inputs, *outputs);
    }
    return ok;
}

bool lw_run(lw_context *cx, const char *model, const char *const *input, int input_count, const char *const *output,
            int output_count, const lw_options *o)
{
    Build b;
    void **inputs, **outputs;
    if (!build_read(&b, cx, model, o)) return false;
    if (!input_count && b.model.input_count > b.state_count) {
        diag_error(cx, NULL, "the model has %d inputs: give a .npy file for each", b.model.input_count - b.state_count);
        return false;
    }
    if (!interpreted(&b, input, input_count, 1, &inputs, &outputs)) return false;
    if (output_count > b.model.output_count - b.state_count) {
        diag_error(cx, NULL, "the model has %d outputs, but %d files are given", b.model.output_count - b.state_count, output_count);
        return false;
    }
    for (int i = 0; i < output_count; i++) {
        int at = output_number(&b, i);
        if (!write_data(cx, output[i], b.model.output[at], outputs[at])) return false;
    }
    return true;
}

/* ---- Verify ----------------------------------------------------------------------------------------------------- */

enum { RUNS_WITH_STATE = 3 };     /* what the first one leaves, and both places of state that has two, are read */

static bool is_close(DType t, Scalar a, Scalar b, double *distance)
{
    if (!dtype_is_float(t)) {
        *distance = fabs((double)a.i - (double)b.i);
        return a.i == b.i;
    }
    *distance = a.f == b.f || (a.f != a.f && b.f != b.f) ? 0 : fabs(a.f - b.f);
    return *distance == 0 || *distance <= 1e-4 + 1e-3 * fabs(b.f);
}

Difference build_compare(const Tensor *t, const void *got, const void *want)
{
    Difference d = { 0, 0, 0 };
    for (int64_t i = 0; i < tensor_elems(t); i++) {
        double distance;
        d.wrong += !is_close(t->type, dtype_load(t->type, got, i), dtype_load(t->type, want, i), &distance);
        if (distance <= d.worst) continue;
        d.worst = distance;
        d.worst_at = i;
    }
    return d;
}

/* A path as one word of the shell. */
static void add_quoted(Text *t, const char *path)
{
    text_add(t, " '");
    for (; *path; path++) {
        if (*path == '\'') text_add(t, "'\\''");
        else text_char(t, *path);
    }
    text_char(t, '\'');
}

static bool run_command(Ctx *cx, const Text *command, const char *what)
{
    bool ok = system(command->at) == 0;
    if (!ok) diag_error(cx, NULL, "%s failed: %s", what, command->at);
    return ok;
}

static bool build_emitted(Ctx *cx, const char *folder)
{
    const char *cc = getenv("CC");
    Text build = text_new(cx);
    text_printf(&build, "%s -std=c99 -O2 -ffp-contract=off -o", cc ? cc : "cc");
    add_quoted(&build, text_format(cx, "%s/prog", folder));
    add_quoted(&build, text_format(cx, "%s/model.c", folder));
    add_quoted(&build, text_format(cx, "%s/model_main.c", folder));
    text_add(&build, " -lm");
    return run_command(cx, &build, "building the emitted C");
}

/* `sizes` are arguments of the program: " n=4". */
static bool run_emitted(Build *b, const char *folder, const char *sizes, void *const *inputs, int runs)
{
    Ctx *cx = b->cx;
    Text run = text_new(cx);
    add_quoted(&run, text_format(cx, "%s/prog", folder));
    text_add(&run, sizes);
    for (int i = 0; i < b->model.input_count; i++) {
        if (build_state_of_input(b, i) >= 0) continue;
        const char *path = text_format(cx, "%s/in%d.npy", folder, i);
        if (!write_data(cx, path, b->model.input[i], inputs[i])) return false;
        add_quoted(&run, path);
    }
    for (int i = 0; i < b->model.output_count - b->state_count; i++) add_quoted(&run, text_format(cx, "%s/out%d.npy", folder, i));
    if (runs > 1) text_printf(&run, " --repeat %d > /dev/null", runs);
    return run_command(cx, &run, "the emitted program");
}

static void remove_folder(Ctx *cx, const Build *b, const char *folder)
{
    static const char *const files[] = { "prog", "model.c", "model.h", "model_main.c" };
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) remove(text_format(cx, "%s/%s", folder, files[i]));
    for (int i = 0; i < b->model.input_count; i++) remove(text_format(cx, "%s/in%d.npy", folder, i));
    for (int i = 0; remove(text_format(cx, "%s/out%d.npy", folder, i)) == 0; i++) continue;
    remove(folder);
}

/* ---- Recorded layers: a folder of LAYER.npy, or a .npz -------------------------------------------------------------- */

typedef struct Recorded { const char *path; bool is_zip; Zip zip; int found; } Recorded;

static bool open_recorded(Build *b, Recorded *r)
{
    *r = (Recorded){ .path = b->options->recorded };
    if (!r->path) return true;
    r->is_zip = text_equal(path_extension(r->path), "npz");
    return !r->is_zip || zip_open(b->cx, r->path, file_read(b->cx, r->path), &r->zip);
}

/* Is the entry the layer's: LAYER.npy, as the layer is called or as C spells it, or ANYTHING_tN.npy for tensor N of the file? */
static bool is_entry_of(Build *b, const char *entry, const Tensor *t)
{
    if (text_equal(entry, text_format(b->cx, "%s.npy", t->name)) || text_equal(entry, text_format(b->cx, "%s.npy", name_identifier(b->cx, t->name)))) return true;
    const char *last = strrchr(entry, '_');
    char *end = NULL;
    long number = last && last[1] == 't' ? strtol(last + 2, &end, 10) : -1;
    return number >= 0 && number < b->model.number_count && text_equal(end, ".npy") && text_equal(b->model.of_number[number], t->name);
}

static const void *zipped_data(Build *b, Recorded *r, const Tensor *t)
{
    enum { MOST_HEADER = 1 << 16 };
    for (int i = 0; i < r->zip.count; i++) {
        const ZipEntry *e = &r->zip.entry[i];
        Bytes file;
        if (!is_entry_of(b, e->name, t)) continue;
        r->found++;
        return zip_read(b->cx, &r->zip, e, (uint64_t)tensor_bytes(t) + MOST_HEADER, &file) ? parsed_data(b->cx, text_format(b->cx, "%s/%s", r->path, e->name), file, t) : NULL;
    }
    return NULL;
}

/* NULL: there are none of this layer, or an error. */
static const void *recorded_data(Build *b, Recorded *r, const Tensor *t)
{
    if (!r->path || ctx_failed(b->cx)) return NULL;
    if (r->is_zip) return zipped_data(b, r, t);
    const char *path = text_format(b->cx, "%s/%s.npy", r->path, name_identifier(b->cx, t->name));
    FILE *f = fopen(path, "rb");
    if (f) fclose(f), r->found++;
    return f ? read_data(b->cx, path, t) : NULL;
}

static const char *compared(Build *b, const char *folder, const char *sizes, const char *const *expect, int expect_count, int layers_from, void *const *interpreted_outputs)
{
    Ctx *cx = b->cx;
    Text t = text_new(cx);
    const char *first = "";
    int64_t wrong = 0;
    Recorded r;
    if (!open_recorded(b, &r)) return NULL;
    for (int i = 0; i < b->model.output_count - b->state_count && !ctx_failed(cx); i++) {
        const Tensor *out = b->model.output[output_number(b, i)];
        const void *got = read_data(cx, text_format(cx, "%s/out%d.npy", folder, i), out);
        const void *recorded = i < expect_count ? read_data(cx, expect[i], out) : recorded_data(b, &r, out);
        const void *want = recorded ? recorded : interpreted_outputs[output_number(b, i)];
        if (!got || ctx_failed(cx)) return NULL;
        Difference d = build_compare(out, got, want);
        text_printf(&t, "%s%s%s: %lld of %lld elements differ; largest difference ", *sizes ? sizes + 1 : "", *sizes ? ": " : "", out->name, (long long)d.wrong,
                    (long long)tensor_elems(out));
        text_double(&t, d.worst);
        text_printf(&t, " at element %lld\n", (long long)d.worst_at);
        wrong += d.wrong;
        if (d.wrong && i >= layers_from && !*first) first = text_format(cx, "; the first layer that differs is \"%s\"", out->name);
    }
    if (r.path && !r.found) diag_error(cx, NULL, "\"%s\" holds none of the layers", r.path);
    else if (wrong) diag_error(cx, NULL, "the emitted C does not agree with %s%s:\n%s",
                          expect_count || b->options->recorded ? "the expected outputs" : "the interpreter", first, text_string(&t));
    return ctx_failed(cx) ? NULL : text_string(&t);
}

/* ---- Symbolic sizes --------------------------------------------------------------------------------------------------
 * The emitted program is run with all sizes at their least, in the middle, and at their greatest; each time the model is
 * read anew with these numbers fixed, so that the interpreter knows nothing of symbolic sizes. */

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

static int64_t size_in_trial(const Var *v, int trial) { return v->least + (v->greatest - v->least) * trial / (TRIALS - 1); }

/* The options with every size fixed, and " n=4" for each. */
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
            if (o->dim[i].is_maximum && strcmp(name_identifier(cx, o->dim[i].name), d->name) == 0) d->name = o->dim[i].name;
        text_printf(&t, " %s=%lld", s->at[k]->name, (long long)d->value);
    }
    *arguments = text_string(&t);
    return fixed;
}

/* ---- The command ------------------------------------------------------------------------------------------------ */

static const char *scratch_folder(Ctx *cx)
{
    const char *base = getenv("TMPDIR");
    for (int i = 0; i < 1000; i++) {
        const char *candidate = text_format(cx, "%s/loopwright-verify-%d", base ? base : "/tmp", i);
        Text make = text_new(cx);
        text_add(&make, "mkdir 2>/dev/null");
        add_quoted(&make, candidate);
        if (system(text_string(&make)) == 0) return candidate;
    }
    diag_error(cx, NULL, "cannot make a scratch folder in %s", base ? base : "/tmp");
    return NULL;
}

typedef struct Files { const char *const *input, *const *expect; int input_count, expect_count; } Files;

/* One run (or several, with state) of the program beside the interpreter. */
static const char *trial(Ctx *cx, const char *model, const lw_options *o, const char *folder, const char *sizes, const Files *f)
{
    Build b;
    void **inputs, **outputs;
    if (!build_read(&b, cx, model, o)) return NULL;
    const int own_outputs = b.model.output_count - b.state_count;
    const int runs = b.state_count && !f->expect_count ? RUNS_WITH_STATE : 1;
    if (!interpreted(&b, f->input, f->input_count, runs, &inputs, &outputs) || !run_emitted(&b, folder, sizes, inputs, runs)) return NULL;
    return compared(&b, folder, sizes, f->expect, f->expect_count, own_outputs, outputs);
}

static const char *trials(Build *b, const char *model, const lw_options *o, const char *folder, const Files *f)
{
    Text all = text_new(b->cx);
    const SizeList s = sizes_of(b);
    for (int i = 0; i < (s.count ? TRIALS : 1) && !ctx_failed(b->cx); i++) {
        const char *arguments = "";
        lw_options fixed = s.count ? fixed_options(b->cx, o, &s, i, &arguments) : *o;
        const char *said = trial(b->cx, model, &fixed, folder, arguments, f);
        text_add(&all, said ? said : "");
    }
    return ctx_failed(b->cx) ? NULL : text_string(&all);
}

const char *lw_verify(lw_context *cx, const char *model, const char *const *input, int input_count,
                      const char *const *expect, int expect_count, const lw_options *o)
{
    Build b;
    const Files files = { input, expect, input_count, expect_count };
    lw_options with_bench = *o;
    with_bench.testbench = with_bench.standalone = true;     /* so that it builds from any folder */
    const char *folder = build_read(&b, cx, model, o) ? scratch_folder(cx) : NULL, *text = NULL;
    if (!folder) return NULL;
    if (lw_compile(cx, model, text_format(cx, "%s/model.c", folder), &with_bench) && build_emitted(cx, folder))
        text = trials(&b, model, o, folder, &files);
    remove_folder(cx, &b, folder);
    return text;
}
