/* SPDX-License-Identifier: MIT */
/* `loopwright tune` measures the candidates of each group with the user's runner, and writes the best ones as records
 * that --schedule reads.
 *
 * Each candidate is measured separately, in the whole program with only this group's schedule replaced. The values
 * therefore do not depend on the order of measurements. A group's record is the candidate with the smallest value, the
 * first of equal ones. The file also holds the values, as comments, and is written after each measurement, so that an
 * interrupted run can continue where it ended.
 *
 *     # tuned m.onnx (SHA-256 7f..) on cortex-m4 in instructions
 *     # default 414200
 *     # tried 01a2b3c4d5e6f708 395800 conv_1: split relu.c 8
 *     for conv2d+relu(...) on cortex-m4:
 *       ...
 *
 * Each measurement has its own context, which frees the memory of the measurement. */

/* Decision: tuning measures each candidate separately. `tune` (`emitter/api/tune`) replaces one group's schedule at a
 * time. Values therefore do not depend on the order, and the file of records is a function of the measured values: an
 * interrupted run ends with the same bytes. Candidates are texts of schedules, and records are the best candidates;
 * nothing else is stored. Each measurement has its own context, which bounds the memory. A candidate whose predicted
 * instructions exceed four times the default's is not measured (`emitter/api/tune/candidates.c`). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/computation/arguments.h"
#include "api/elements.h"
#include "api/run.h"
#include "api/trial.h"
#include "api/tune/candidates.h"
#include "support/file.h"
#include "support/guard.h"
#include "support/names.h"
#include "support/text.h"

/* The smallest gain for a record, in thousandths of the program's value; times need a larger gain, because they are not
 * exact. */
enum { LEAST_GAIN_OF_COUNTS = 1, LEAST_GAIN_OF_TIMES = 20 };

typedef struct Tuning {
    Ctx *cx;
    const char *model, *output;
    const lw_options *options;
    Build *b;
    Candidates candidates;
    const char *head;                    /* the first line of the file of records */
    const char *unit;                    /* the unit, such as "instructions"; NULL if nothing is measured yet */
    double standard;                     /* the default's value; negative if unknown */
    const void *const *input; const void *const *want;
    /* the build of the run with default schedules, which computed `want`; valid after that run */
    const Build *interpreted;
    bool is_ended;                       /* true if a signal ended the last program, which ends the work */
} Tuning;

/* ---- One measurement --------------------------------------------------------------------------------------------- */

/* Reads the value from a line such as "instructions 1234". The unit is the first one that the runner prints. */
static bool read_value(Tuning *t, const char *said, double *value)
{
    const char *space = strchr(said, ' ');
    if (!space) return false;
    const char *unit = name_n(t->cx, said, (size_t)(space - said));
    if (!t->unit) t->unit = unit;
    *value = strtod(space + 1, NULL);
    return text_equal(unit, t->unit);
}

static bool are_outputs_right(const Tuning *t, Ctx *cx, const char *folder)
{
    const Build *b = t->interpreted;
    for (int i = 0; i < b->model.output_count - b->states.count; i++) {
        const Tensor *out = build_actual(b, b->model.output[run_output_number(b, i)]);
        const void *got = trial_output(cx, folder, i, out);
        const void *want = t->want[run_output_number(b, i)];
        if (!got || elements_compare(out, got, want, elements_accepted()).wrong) return false;
    }
    return true;
}

/* Emits, builds and runs the program with a block, in `folder`. Stores the diagnostic in *why. */
static bool measured_in(Tuning *t, Ctx *cx, const char *folder, const char *block, double *value, const char **why)
{
    lw_options o = *t->options;
    Text said = text_new(cx);
    o.testbench = o.standalone = true;
    o.name = "net";
    o.schedule_text = block;
    Build as = *t->b;
    as.cx = cx;
    as.options = &o;
    as.observed.is_signalled = false;
    const bool ok = lw_compile(cx, t->model, text_format(cx, "%s/model.c", folder), &o) && trial_build(cx, folder, &o)
                    && trial_run(&as, folder, "", t->input, 1, &said);
    t->is_ended = as.observed.is_signalled;
    const Diag *error = cx->diags;
    while (error && error->severity < ERROR) error = error->next;
    *why = ok ? !said.length ? "the runner prints none of `instructions N`, `cycles N`, `ns N`"
                : !are_outputs_right(t, cx, folder) ? "its outputs are not those of the interpreter" : NULL
              : text_format(t->cx, "%s", error ? error->what : "");
    return !*why && read_value(t, text_string(&said), value);
}

/* Returns NULL, or the reason why there is no value. */
static const char *measure(Tuning *t, const char *block, double *value)
{
    const char *why = "out of memory";
    Folder *folder = trial_folder(t->cx, t->b->model.input_count);
    Ctx *own = folder ? lw_new() : NULL;
    Resource held;
    if (!own) return why;
    resource_hold(t->cx, &held, trial_remove, folder);
    if (!measured_in(t, own, folder->path, block, value, &why) && !why) why = "the runner prints another unit";
    resource_drop(t->cx, &held);
    lw_free(own);
    return why;
}

/* ---- The file ---------------------------------------------------------------------------------------------------- */

static void print_value(Text *t, double value) { text_printf(t, "%.0f", value); }

/* Returns the index of the best candidate with the signature of candidate `first`, or -1 if the default is better.
 * Stores the end of these candidates in *end. */
static int best_of(const Tuning *t, int first, int *end)
{
    const Candidate *c = t->candidates.at;
    const int gain = text_equal(t->unit, "ns") ? LEAST_GAIN_OF_TIMES : LEAST_GAIN_OF_COUNTS;
    int best = -1;
    double least = t->standard * (1000 - gain) / 1000;
    for (*end = first; *end < t->candidates.count && text_equal(c[*end].signature, c[first].signature); ++*end)
        if (c[*end].is_known && c[*end].value >= 0 && c[*end].value < least) {
            best = *end;
            least = c[*end].value;
        }
    return best;
}

static const char *records(const Tuning *t)
{
    Text out = text_new(t->cx);
    for (int i = 0, end; i < t->candidates.count; i = end) {
        const int best = best_of(t, i, &end);
        const Candidate *c = &t->candidates.at[best < 0 ? 0 : best];
        if (best >= 0) text_printf(&out, "\n# %s: %s\n%s", c->group, c->what, c->block);
    }
    return text_string(&out);
}

static bool write_file(const Tuning *t)
{
    Text out = text_new(t->cx);
    text_printf(&out, "%s in %s\n# default ", t->head, t->unit);
    print_value(&out, t->standard);
    text_char(&out, '\n');
    for (int i = 0; i < t->candidates.count; i++) {
        const Candidate *c = &t->candidates.at[i];
        if (!c->is_known) continue;
        text_printf(&out, "# tried %s ", c->key);
        if (c->value < 0) text_add(&out, "failed");
        else print_value(&out, c->value);
        text_printf(&out, " %s: %s\n", c->group, c->what);
    }
    text_add(&out, records(t));
    return lw_write(t->cx, t->output, text_string(&out));
}

static void read_tried(Tuning *t, const char *line)
{
    const char *key = line + strlen("# tried "), *value = strchr(key, ' ');
    for (int i = 0; value && i < t->candidates.count; i++) {
        Candidate *c = &t->candidates.at[i];
        if (strncmp(c->key, key, strlen(c->key)) != 0) continue;
        c->is_known = true;
        c->value = strncmp(value + 1, "failed", 6) == 0 ? -1 : strtod(value + 1, NULL);
    }
}

/* Reads the values of an interrupted run; refuses a file of another model, target or set of options. */
static bool resume(Tuning *t)
{
    FILE *f = fopen(t->output, "rb");
    if (!f) return true;
    fclose(f);
    const char *text = file_text(t->cx, t->output, file_read(t->cx, t->output));
    const size_t head = strlen(t->head);
    if (ctx_failed(t->cx)) return false;
    if (!*text) return true;
    if (strncmp(text, t->head, head) != 0 || strncmp(text + head, " in ", 4) != 0) {
        diag_error(t->cx, NULL, "\"%s\" belongs to a different model, target or options: it begins with \"%.*s\", not "
                   "with \"%s\"; use another name for -o", t->output, (int)strcspn(text, "\n"), text, t->head);
        return false;
    }
    t->unit = name_n(t->cx, text + head + 4, strcspn(text + head + 4, "\n"));
    for (const char *s = text; *s; s += strcspn(s, "\n"), s += *s == '\n') {
        if (strncmp(s, "# default ", 10) == 0) t->standard = strtod(s + 10, NULL);
        if (strncmp(s, "# tried ", 8) == 0) read_tried(t, s);
    }
    return true;
}

/* ---- The command ------------------------------------------------------------------------------------------------- */

static bool measure_default(Tuning *t)
{
    const char *why = t->standard < 0 ? measure(t, NULL, &t->standard) : NULL;
    if (why) diag_error(t->cx, NULL, "the default schedules are not measured: %s", why);
    return !why;
}

/* Reports progress; returns false, with a diagnostic, if the caller ends the work. */
static bool goes_on(Tuning *t, int done)
{
    const lw_options *o = t->options;
    const int count = t->candidates.count;
    if (!t->is_ended && (!o->progress || o->progress(o->progress_user, "tuning", done, count))) return true;
    diag_error(t->cx, NULL, "interrupted: %d of %d candidates are measured; run the command again to continue",
                            done, count);
    return false;
}

static bool measure_all(Tuning *t)
{
    const int count = t->candidates.count;
    for (int i = 0; i < count; i++) {
        Candidate *c = &t->candidates.at[i];
        if (!goes_on(t, i)) return false;
        if (c->is_known) continue;
        if (measure(t, c->block, &c->value)) c->value = -1;
        if (!goes_on(t, i)) return false;
        c->is_known = true;
        if (!write_file(t)) return false;
    }
    return goes_on(t, count);
}

static const char *summary(Tuning *t)
{
    Text out = text_new(t->cx);
    const char *all = records(t);
    double tuned = t->standard;
    const char *why = *all ? measure(t, all, &tuned) : NULL;
    int groups = 0;
    for (int i = 0, end; i < t->candidates.count; i = end, groups++) {
        const int best = best_of(t, i, &end);
        if (best < 0) continue;
        text_printf(&out, "%s: %s: ", t->candidates.at[best].group, t->candidates.at[best].what);
        print_value(&out, t->candidates.at[best].value - t->standard);
        text_printf(&out, " %s\n", t->unit);
    }
    text_printf(&out, "%d candidates for %d kinds of groups: ", t->candidates.count, groups);
    print_value(&out, t->standard);
    text_printf(&out, " %s by default, ", t->unit);
    if (why) text_printf(&out, "not measured with all records: %s\n", why);
    else {
        print_value(&out, tuned);
        text_printf(&out, " with all records (%.1f %%)\n", 100 * (tuned - t->standard) / t->standard);
    }
    return text_string(&out);
}

static bool is_tunable(Ctx *cx, const Build *b, const lw_options *o)
{
    if (!o->runner)
        diag_usage(cx, NULL, "--runner is missing; pass a command that is called as CMD PROGRAM IN.npy... OUT.npy... "
                             "and prints `instructions N`, `cycles N` or `ns N`");
    for (int i = 0; i < b->model.input_count; i++)
        if (!tensor_is_fixed(b->model.input[i]))
            diag_unsupported(cx, b->model.input[i]->name, "the input has open dimensions; give --dim NAME=N");
    if (b->states.count)
        diag_unsupported(cx, NULL,
                         "a model with state cannot be tuned; omit --state, and use a model without variables");
    return !ctx_failed(cx);
}

static const char *tune(Ctx *cx, const char *model, const char *output, const lw_options *given)
{
    Build b, interpreted;
    const void **input, **want;
    const lw_options *o = options_of(cx, "lw_tune", given);
    if (!o || !is_given(cx, "lw_tune", "the model", model) || !is_given(cx, "lw_tune", "the output", output))
        return NULL;
    lw_options apart = *o;
    apart.combine = "none";
    apart.ram = 0;
    if (!build_read(&b, cx, model, &apart) || !is_tunable(cx, &b, o) || !build_graph(&b) || !build_nests(&b))
        return NULL;
    Tuning t = { .cx = cx, .model = model, .output = output, .options = o, .b = &b, .standard = -1,
                 .candidates = tune_candidates(&b) };
    const char *words = build_option_words(cx, o);
    t.head = text_format(cx, "# tuned %s (SHA-256 %s) on %s%s%s", model + strlen(path_folder(cx, model)),
                         b.model.digest, b.target->name, *words ? " with " : "", words);
    if (ctx_failed(cx) || !resume(&t)) return NULL;
    if (!build_read(&interpreted, cx, model, &apart) || !run_interpreted(&interpreted, NULL, 0, NULL, 1, &input, &want))
        return NULL;
    t.input = input;
    t.want = want;
    t.interpreted = &interpreted;
    return measure_default(&t) && write_file(&t) && measure_all(&t) && write_file(&t) ? summary(&t) : NULL;
}

const char *lw_tune(lw_context *cx, const char *model, const char *output, const lw_options *o)
{
    RETURN_GUARDED(cx, const char *, NULL, tune(cx, model, output, o));
}
