/* SPDX-License-Identifier: MIT */
/* `loopwright verify`: the emitted C, built with the host's compiler, against the interpreter or against recorded outputs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/elements.h"
#include "api/recorded.h"
#include "api/run.h"
#include "support/guard.h"
#include "support/names.h"
#include "support/text.h"

/* ---- The emitted program ----------------------------------------------------------------------------------------- */

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
        if (!elements_write(cx, path, b->model.input[i], inputs[i])) return false;
        add_quoted(&run, path);
    }
    for (int i = 0; i < b->model.output_count - b->state_count; i++) add_quoted(&run, text_format(cx, "%s/out%d.npy", folder, i));
    if (runs > 1) text_printf(&run, " --repeat %d > /dev/null", runs);
    return run_command(cx, &run, "the emitted program");
}

/* The scratch folder and room for the name of a file in it: a folder is also removed where memory has run out. */
typedef struct Folder { const char *path; char *file; size_t room; int input_count; } Folder;

static Folder *folder_of(Ctx *cx, const char *path, int input_count)
{
    Folder *f = NEW(cx->arena, Folder);
    const size_t room = strlen(path) + 32;
    *f = (Folder){ path, NEW_ARRAY(cx->arena, char, room), room, input_count };
    return f;
}

static Folder *scratch_folder(Ctx *cx, int input_count)
{
    const char *base = getenv("TMPDIR");
    for (int i = 0; i < 1000; i++) {
        const char *candidate = text_format(cx, "%s/loopwright-verify-%d", base ? base : "/tmp", i);
        Text make = text_new(cx);
        text_add(&make, "mkdir 2>/dev/null");
        add_quoted(&make, candidate);
        const char *command = text_string(&make);
        Folder *f = folder_of(cx, candidate, input_count);      /* before mkdir: no allocation may fail after it */
        if (system(command) == 0) return f;
    }
    diag_error(cx, NULL, "cannot make a scratch folder in %s", base ? base : "/tmp");
    return NULL;
}

static bool remove_numbered(const Folder *f, const char *kind, int number)
{
    snprintf(f->file, f->room, "%s/%s%d.npy", f->path, kind, number);
    return remove(f->file) == 0;
}

static void remove_folder(void *folder)
{
    static const char *const files[] = { "prog", "model.c", "model.h", "model_main.c" };
    const Folder *f = folder;
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        snprintf(f->file, f->room, "%s/%s", f->path, files[i]);
        remove(f->file);
    }
    for (int i = 0; i < f->input_count; i++) remove_numbered(f, "in", i);
    for (int i = 0; remove_numbered(f, "out", i); i++) continue;
    remove(f->path);
}

/* ---- Comparison --------------------------------------------------------------------------------------------------- */

typedef struct Files { const char *const *input, *const *expect; int input_count, expect_count; } Files;

/* A line for each output; with --layers what a layer makes is an output behind the model's own `layers_from`. NULL where one differs. */
static const char *compared(Build *b, const char *folder, const char *sizes, const Files *f, int layers_from, void *const *interpreted)
{
    Ctx *cx = b->cx;
    Text t = text_new(cx);
    const char *first = "";
    int64_t wrong = 0;
    Recorded r;
    if (!recorded_open(b, &r)) return NULL;
    for (int i = 0; i < b->model.output_count - b->state_count && !ctx_failed(cx); i++) {
        const Tensor *out = b->model.output[run_output_number(b, i)];
        const void *got = elements_read(cx, text_format(cx, "%s/out%d.npy", folder, i), out);
        const void *recorded = i < f->expect_count ? elements_read(cx, f->expect[i], out) : recorded_layer(b, &r, out);
        const void *want = recorded ? recorded : interpreted[run_output_number(b, i)];
        if (!got || ctx_failed(cx)) return NULL;
        Difference d = elements_compare(out, got, want);
        text_printf(&t, "%s%s%s: %lld of %lld elements differ; largest difference ", *sizes ? sizes + 1 : "", *sizes ? ": " : "", out->name, (long long)d.wrong,
                    (long long)tensor_elems(out));
        text_double(&t, d.worst);
        text_printf(&t, " at element %lld\n", (long long)d.worst_at);
        wrong += d.wrong;
        if (d.wrong && i >= layers_from && !*first) first = text_format(cx, "; the first layer that differs is \"%s\"", out->name);
    }
    if (r.path && !r.found) diag_error(cx, NULL, "\"%s\" holds none of the layers", r.path);
    else if (wrong) diag_error(cx, NULL, "the emitted C does not agree with %s%s:\n%s",
                          f->expect_count || b->options->recorded ? "the expected outputs" : "the interpreter", first, text_string(&t));
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

enum { RUNS_WITH_STATE = 3 };     /* what the first one leaves, and both places of state that has two, are read */

/* One run (or several, with state) of the program beside the interpreter. */
static const char *trial(Ctx *cx, const char *model, const lw_options *o, const char *folder, const char *sizes, const Files *f)
{
    Build b;
    void **inputs, **outputs;
    if (!build_read(&b, cx, model, o)) return NULL;
    const int own_outputs = b.model.output_count - b.state_count;
    const int runs = b.state_count && !f->expect_count ? RUNS_WITH_STATE : 1;
    if (!run_interpreted(&b, f->input, f->input_count, runs, &inputs, &outputs) || !run_emitted(&b, folder, sizes, inputs, runs)) return NULL;
    return compared(&b, folder, sizes, f, own_outputs, outputs);
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

static const char *verify(Ctx *cx, const char *model, const Files *files, const lw_options *o)
{
    Build b;
    lw_options with_bench = *o;
    with_bench.testbench = with_bench.standalone = true;     /* so that it builds from any folder */
    Folder *folder = build_read(&b, cx, model, o) ? scratch_folder(cx, b.model.input_count) : NULL;
    const char *text = NULL;
    Resource held;
    if (!folder) return NULL;
    resource_hold(cx, &held, remove_folder, folder);
    if (lw_compile(cx, model, text_format(cx, "%s/model.c", folder->path), &with_bench) &&
        build_emitted(cx, folder->path))
        text = trials(&b, model, o, folder->path, files);
    resource_drop(cx, &held);
    return text;
}

const char *lw_verify(lw_context *cx, const char *model, const char *const *input, int input_count,
                      const char *const *expect, int expect_count, const lw_options *o)
{
    const Files files = { input, expect, input_count, expect_count };
    RETURN_GUARDED(cx, const char *, NULL, verify(cx, model, &files, o));
}
