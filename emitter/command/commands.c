/* SPDX-License-Identifier: MIT */
/* Runs the commands: each calls a function of loopwright.h. */
#if defined __unix__ || defined __APPLE__
#define _POSIX_C_SOURCE 200809L      /* sigaction */
#endif
#include "command/command.h"

#include <ctype.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#if defined __unix__ || defined __APPLE__
#include <sys/stat.h>
#endif

static bool compile(const Arguments *a), run(const Arguments *a), verify(const Arguments *a), dump(const Arguments *a);
static bool report(const Arguments *a), ops(const Arguments *a), targets(const Arguments *a);
static bool boards(const Arguments *a), passes(const Arguments *a);
static bool steps(const Arguments *a), quantize(const Arguments *a), evaluate(const Arguments *a);
static bool package(const Arguments *a), tune(const Arguments *a), evidence(const Arguments *a);
static bool instruction(const Arguments *a);

static const Command all[] = {
#define COMMAND(...) { __VA_ARGS__ },
#include "command/commands.def"
};
const Command *const commands = all;

/* ---- Progress ---------------------------------------------------------------------------------------------------- */

/* The signal that ends the work. `interrupted_by` is the only mutable object at file scope in the program, because a
 * signal handler in C has no other way to end the work. A second signal ends the program at once. */
static volatile sig_atomic_t interrupted_by;

static void interrupt(int number) { interrupted_by = number; }

int command_interrupted(void) { return (int)interrupted_by; }

/* Installs the handler without SA_RESTART, so that a signal ends a wait for a program at once. */
static void end_on(int number)
{
#ifdef SA_RESETHAND
    struct sigaction action = { .sa_handler = interrupt, .sa_flags = (int)SA_RESETHAND };
    sigaction(number, &action, NULL);
#else
    signal(number, interrupt);
#endif
}

enum { PROGRESS_WIDTH = 72 };

/* A progress line on stderr, which a terminal overwrites. */
typedef struct Progress { bool is_terminal; const char *part; time_t begun, shown; } Progress;

static bool show_progress(void *user, const char *part, long long done, long long total)
{
    Progress *p = user;
    char line[PROGRESS_WIDTH + 1];
    const time_t now = time(NULL);
    if (interrupted_by || !p->is_terminal) return !interrupted_by;
    if (p->part != part) p->begun = p->shown = now;
    p->part = part;
    const long spent = (long)difftime(now, p->begun);
    const long long left = done ? (long long)((double)spent * (double)(total - done) / (double)done + 0.5) : 0;
    if (now == p->shown && done < total) return true;
    p->shown = now;
    if (done) snprintf(line, sizeof line, "%s: %lld of %lld, %lld s left", part, done, total, left);
    else snprintf(line, sizeof line, "%s", part);
    fprintf(stderr, "\r%-*s\r%s", PROGRESS_WIDTH, "", done < total ? line : "");
    fflush(stderr);
    return true;
}

/* Erases the line, because a part may end before its total. Returns the text. */
static const char *end_progress(Progress *p, const char *text)
{
    if (p->is_terminal && p->part) fprintf(stderr, "\r%-*s\r", PROGRESS_WIDTH, "");
    p->part = NULL;
    return text;
}

/* Lets long work report its progress if stderr is a terminal, and end at SIGINT, SIGTERM and SIGHUP without an
 * incomplete file. */
static void watch_progress(lw_options *o, Progress *p)
{
    p->is_terminal = system("test -t 2") == 0;
    o->progress = show_progress;
    o->progress_user = p;
    end_on(SIGINT);
    end_on(SIGTERM);
#ifdef SIGHUP
    end_on(SIGHUP);
#endif
}

/* ---- Commands ---------------------------------------------------------------------------------------------------- */

bool command_has_printed(void)
{
    if (!ferror(stdout) && fflush(stdout) == 0) return true;
    fprintf(stderr, "error: cannot write to standard output: %s\n", strerror(errno));
    return false;
}

/* Prints the text, and control characters in names and paths as numbers. */
static bool show(const Arguments *a, const char *text)
{
    if (!text || !lw_accepts_warnings(a->cx)) return false;
    for (const char *c = text; *c; c++)
        if (iscntrl((unsigned char)*c) && *c != '\n' && *c != '\t') printf("\\%03o", (unsigned char)*c);
        else putchar(*c);
    return command_has_printed();
}

static bool show_or_write(const Arguments *a, const char *text)
{
    return text && a->output_count ? lw_write(a->cx, a->output[0], text) : show(a, text);
}

static bool compile(const Arguments *a) { return lw_compile(a->cx, a->file[0], a->output[0], &a->options); }
static bool evaluate(const Arguments *a)
{
    Progress p = { 0 };
    lw_options o = a->options;
    lw_evaluation e = a->evaluation;
    if (a->expect_count) e.expect = a->expect[0];
    watch_progress(&o, &p);
    return show(a, end_progress(&p, lw_evaluate(a->cx, a->file[0], &e, &o)));
}

static bool is_quantize_stage(const char *at)
{
    return at && (strcmp(at, "annotated") == 0 || strcmp(at, "calibrated") == 0 || strcmp(at, "realized") == 0);
}

static bool dump(const Arguments *a)
{
    return show_or_write(a, is_quantize_stage(a->options.at)
        ? lw_quantize_dump(a->cx, a->file[0], &a->quantization, &a->options)
        : lw_dump(a->cx, a->file[0], &a->options));
}

static bool ends_in(const char *s, const char *end)
{
    const size_t n = strlen(s), m = strlen(end);
    return n > m && strcmp(s + n - m, end) == 0;
}

static bool quantize(const Arguments *a)
{
    lw_quantization q = a->quantization;
    q.test = a->evaluation.samples;
    q.test_count = a->evaluation.sample_count;
    q.labels = a->evaluation.labels;
    const char *c = NULL;
    for (int i = 0; i < a->output_count; i++) {
        const char **to = ends_in(a->output[i], ".onnx") ? &q.onnx : &c;
        if (*to) return wrong("-o %s and -o %s cannot be combined; use one file that ends in .c, one that ends in "
                              ".onnx, or both", *to,
                              a->output[i]);
        *to = a->output[i];
    }
    Progress p = { 0 };
    lw_options o = a->options;
    watch_progress(&o, &p);
    const char *text = end_progress(&p, lw_quantize(a->cx, a->file[0], c, &q, &o));
    return a->quiet ? text != NULL : show(a, text);
}

/* The forms of a report, selected by the ending of the file. */
typedef struct ReportForm {
    const char *ending;
    const char *(*report)(lw_context *cx, const char *model, const lw_options *o);
} ReportForm;
static const ReportForm report_forms[] = {
    { ".txt", lw_report }, { ".html", lw_report_html }, { ".json", lw_report_json }, { ".csv", lw_report_csv },
};

static const ReportForm *report_form(const char *file)
{
    for (size_t i = 0; i < sizeof report_forms / sizeof report_forms[0]; i++)
        if (ends_in(file, report_forms[i].ending)) return &report_forms[i];
    return NULL;
}

static bool report(const Arguments *a)
{
    const ReportForm *form = a->output_count ? report_form(a->output[0]) : &report_forms[0];
    Progress p = { 0 };
    lw_options o = a->options;
    if (o.cc) watch_progress(&o, &p);
    o.input = a->file + 1;
    o.input_count = a->file_count - 1;
    return show_or_write(a, end_progress(&p, form->report(a->cx, a->file[0], &o)));
}

static bool package(const Arguments *a)
{
    return lw_package(a->cx, a->file[0], a->package_kind, a->output[0], &a->options);
}

static bool evidence(const Arguments *a)
{
    Progress p = { 0 };
    lw_options o = a->options;
    watch_progress(&o, &p);
    const bool is_written = lw_evidence(a->cx, a->file[0], a->output[0], &o);
    end_progress(&p, NULL);
    return is_written;
}

static bool tune(const Arguments *a)
{
    Progress p = { 0 };
    lw_options o = a->options;
    watch_progress(&o, &p);
    const char *text = end_progress(&p, lw_tune(a->cx, a->file[0], a->output[0], &o));
    return a->quiet ? text != NULL : show(a, text);
}

static bool instruction(const Arguments *a)
{
    return show_or_write(a, lw_print_instruction(a->cx, a->file[0], a->file[1], &a->options));
}

static bool ops(const Arguments *a)
{
    if (a->onnx) return show_or_write(a, lw_list_onnx_ops(a->cx));
    if (a->conditions) return show_or_write(a, lw_list_conditions(a->cx));
    if (a->gradients) return show_or_write(a, lw_list_gradients(a->cx));
    return show_or_write(a, a->tflite ? lw_list_tflite_ops(a->cx) : lw_list_ops(a->cx, a->level));
}

static bool targets(const Arguments *a) { return show_or_write(a, lw_list_targets(a->cx)); }
static bool boards(const Arguments *a) { return show_or_write(a, lw_list_boards(a->cx)); }
static bool passes(const Arguments *a) { return show_or_write(a, lw_list_passes(a->cx)); }
static bool steps(const Arguments *a) { return show_or_write(a, lw_list_steps(a->cx)); }

static bool run(const Arguments *a)
{
    if (!a->output_count)
        return show(a, lw_run_text(a->cx, a->file[0], a->file + 1, a->file_count - 1, &a->options));
    return lw_run(a->cx, a->file[0], a->file + 1, a->file_count - 1, a->output, a->output_count, &a->options);
}

static bool verify(const Arguments *a)
{
    Progress p = { 0 };
    lw_options o = a->options;
    watch_progress(&o, &p);
    return show(a, end_progress(&p, lw_verify(a->cx, a->file[0], a->file + 1, a->file_count - 1, a->expect,
                                              a->expect_count, &o)));
}

/* Returns a given option that chooses grids, or NULL if there is none. */
static const char *quantization_option(const lw_quantization *q)
{
    return q->sample_count ? "--samples" : q->ports ? "--ports" : q->ranges ? "--ranges" : q->refine ? "--refine"
        : q->weights_bits ? "--weights-bits" : q->flash ? "--flash"
        : q->per_tensor ? "--per-tensor" : q->no_equalization ? "--no-equalization"
        : q->finetune ? "--finetune" : q->seed ? "--seed"
        : q->min_sqnr ? "--min-sqnr" : q->max_drop ? "--max-drop" : q->sample_labels ? "--labels" : NULL;
}

static bool is_same_file(const char *a, const char *b)
{
#if defined __unix__ || defined __APPLE__
    struct stat x, y;
    if (stat(a, &x) == 0 && stat(b, &y) == 0) return x.st_dev == y.st_dev && x.st_ino == y.st_ino && S_ISREG(x.st_mode);
#endif
    return strcmp(a, b) == 0;
}

/* Returns true if an output is a file that the command reads. */
static bool is_read_too(const Arguments *a, const char *output)
{
    for (int i = 0; i < a->file_count; i++)
        if (is_same_file(a->file[i], output)) return true;
    return false;
}

bool are_arguments_right(const Command *c, const Arguments *a)
{
    for (int i = 0; i < a->output_count; i++)
        if (is_read_too(a, a->output[i]))
            return wrong("-o %s would overwrite a file that the command reads; use another file", a->output[i]);
    if (c->bit == REPORT && a->output_count && !report_form(a->output[0]))
        return wrong("a report is written as .txt, .html, .json or .csv, not as '%s'", a->output[0]);
    if (c->bit == REPORT && a->file_count > 1 && !a->options.runner && !a->options.cc)
        return wrong("the input '%s' has no effect on a report without --runner or --cc, which run the model",
                     a->file[1]);
    if (c->bit == PACKAGE && !a->package_kind)
        return wrong("--for is missing; use make, cmake, arduino, platformio, zephyr, esp-idf, cmsis-pack");
    if (c->bit == DUMP && quantization_option(&a->quantization) && !is_quantize_stage(a->options.at))
        return wrong("%s has no effect on --at %s; use one of annotated, calibrated, realized",
                     quantization_option(&a->quantization), a->options.at ? a->options.at : "dag");
    if ((a->level != 0) + a->onnx + a->tflite + a->conditions + a->gradients > 1)
        return wrong("--level, --onnx, --tflite, --gradients and --conditions exclude each other; use one of them");
    return true;
}
