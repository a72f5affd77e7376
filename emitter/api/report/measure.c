/* SPDX-License-Identifier: MIT */
/* Measures instructions or cycles: builds the test bench with --profile, runs it with the user's runner, and reads the
 * counts that it prints: `layer 3 1234 conv_1` for each layer, then `instructions 5678`. The protocol is verify's. */
#include "api/report/footprint.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/elements.h"
#include "api/run.h"
#include "api/trial.h"
#include "support/file.h"
#include "support/guard.h"

/* Counts of layers have the unit of the total that follows them. */
typedef struct Reading {
    int64_t instructions, cycles;        /* -1: not printed */
    bool has_time;                       /* the runner prints nanoseconds */
    int row_count; int64_t *row;         /* [row_count] counts by number of LW_LAYER; -1 if the layer did not run */
    int rows_read; bool rows_are_instructions, rows_are_cycles;
} Reading;

/* Reads "instructions 1234" into *value. */
static bool is_total(const char *line, const char *unit, int64_t *value)
{
    const size_t n = strlen(unit);
    if (strncmp(line, unit, n) != 0 || line[n] != ' ' || line[n + 1] < '0' || line[n + 1] > '9') return false;
    *value = strtoll(line + n + 1, NULL, 10);
    return true;
}

static void read_row(Reading *r, const char *line)
{
    long number;
    double count;
    if (sscanf(line, "layer %ld %lf", &number, &count) != 2 || number < 0 || number >= r->row_count) return;
    r->row[number] = (int64_t)count;
    r->rows_read++;
}

static void read_line(Reading *r, const char *line)
{
    int64_t time;
    const bool is_instructions = is_total(line, "instructions", &r->instructions);
    const bool is_cycles = is_total(line, "cycles", &r->cycles), is_time = is_total(line, "ns", &time);
    read_row(r, line);
    r->has_time = r->has_time || is_time;
    if (!r->rows_read || !(is_instructions || is_cycles || is_time)) return;
    r->rows_are_instructions = r->rows_are_instructions || is_instructions;
    r->rows_are_cycles = r->rows_are_cycles || is_cycles;
    r->rows_read = 0;
}

const int64_t *report_by_group(const Build *b, const int64_t *row, int row_count)
{
    int64_t *layer = NEW_ARRAY(b->cx->arena, int64_t, b->groups.count);
    int number = 0;
    if (b->program.body_count || b->devices.count) return NULL;
    for (int i = 0; i < b->groups.count; i++) {
        layer[i] = 0;
        if (b->plan.is_free[i]) continue;
        if (number >= row_count || row[number] < 0) return NULL;
        layer[i] = row[number++];
    }
    return number == row_count ? layer : NULL;
}

static void keep(Build *b, const Reading *r)
{
    Measured *m = NEW(b->cx->arena, Measured);
    const int64_t *layer = r->rows_are_instructions || r->rows_are_cycles ? report_by_group(b, r->row, r->row_count)
                                                                          : NULL;
    *m = (Measured){ { r->instructions, r->rows_are_instructions ? layer : NULL },
                     { r->cycles, r->rows_are_cycles ? layer : NULL }, false, NULL, NULL };
    b->observed.measured = m;
}

static bool are_equal(const Build *b, const char *folder, const void *const *want)
{
    for (int i = 0; i < b->model.output_count - b->states.count; i++) {
        const int at = run_output_number(b, i);
        const Tensor *out = build_actual(b, b->model.output[at]);
        const void *got = trial_output(b->cx, folder, i, out);
        if (!got) return false;
        if (!elements_compare(out, got, want[at], elements_accepted()).wrong) continue;
        diag_error(b->cx, NULL, "output \"%s\" of the runner's program differs from the interpreter's; run `verify` to "
                                "see the differences", out->name);
        return false;
    }
    return true;
}

static Reading reading_of(const Build *b, const char *path)
{
    Reading r = { .instructions = -1, .cycles = -1, .row_count = b->program.call_count };
    const Bytes file = file_read(b->cx, path);
    r.row = NEW_ARRAY(b->cx->arena, int64_t, r.row_count);
    for (int i = 0; i < r.row_count; i++) r.row[i] = -1;
    for (const char *s = (const char *)file.at; s && *s; s += strcspn(s, "\n"), s += *s == '\n') read_line(&r, s);
    return r;
}

/* Builds and runs the program in the folder; `run` is the model as read. */
static bool run_in(Build *b, Build *run, const char *model, const char *folder)
{
    Ctx *cx = b->cx;
    const lw_options *o = run->options;
    const void **inputs, **outputs;
    Text said = text_new(cx);
    if (!run_interpreted(run, o->input, o->input_count, NULL, 1, &inputs, &outputs)) return false;
    if (!lw_compile(cx, model, text_format(cx, "%s/model.c", folder), o) || !trial_build(cx, folder, o)) return false;
    if (!trial_run(run, folder, "", inputs, 1, &said) || !are_equal(run, folder, outputs)) return false;
    const Reading r = reading_of(b, text_format(cx, "%s/said", folder));
    if (r.instructions < 0 && r.cycles < 0)
        diag_error(cx, NULL, "the runner \"%s\" prints %s; use `instructions N` or `cycles N`", o->runner,
                   r.has_time ? "`ns N` alone" : "no count");
    else keep(b, &r);
    return !ctx_failed(cx);
}

bool report_measure(Build *b, const char *model)
{
    Ctx *cx = b->cx;
    if (!b->options->runner) return true;
    if (b->options->train) {
        diag_usage(cx, NULL, "--runner does not measure training steps; omit --train or --runner");
        return false;
    }
    Build run;
    Resource held;
    lw_options *o = NEW(cx->arena, lw_options);
    *o = *b->options;
    o->testbench = o->standalone = o->profile = true;
    Folder *folder = build_read(&run, cx, model, o) ? trial_folder(cx, run.model.input_count) : NULL;
    if (!folder) return false;
    resource_hold(cx, &held, trial_remove, folder);
    const bool ok = run_in(b, &run, model, folder->path);
    resource_drop(cx, &held);
    return ok;
}
