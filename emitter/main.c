/* SPDX-License-Identifier: MIT */
/* The command line: reads options and calls the library; it is a client of loopwright.h like any program. One table
 * lists the commands of each option; usage, help and refusals follow from it. */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "loopwright.h"

enum { DONE = 0, REFUSED = 1, USAGE = 2, MOST_FILES = 64, MOST_OPTIONS = 64 };

typedef struct Arguments {
    lw_context *cx;
    bool is_exhausted;      /* memory has run out */
    const char *file[MOST_FILES];    int file_count;      /* words that are not options */
    const char *output[MOST_FILES];  int output_count;    /* -o */
    const char *expect[MOST_FILES];  int expect_count;    /* --expect */
    const char *samples[MOST_FILES];                      /* --samples */
    const char *test[MOST_FILES];                         /* --test */
    lw_evaluation evaluation;
    lw_quantization quantization;
    lw_dim dim[MOST_OPTIONS];
    lw_value value[MOST_OPTIONS];
    lw_state state[MOST_OPTIONS];
    lw_tolerance tolerance;
    lw_options options;
    bool quiet, werror, help, version, onnx, tflite, conditions, gradients;
    int level;
} Arguments;

/* ---- Commands and options --------------------------------------------------------------------------------------- */

enum {
    COMPILE = 1, RUN = 2, VERIFY = 4, DUMP = 8, REPORT = 16, OPS = 32, TARGETS = 64, PASSES = 128, STEPS = 256,
    QUANTIZE = 512, EVALUATE = 1024, MODEL = COMPILE | RUN | VERIFY | DUMP | REPORT | QUANTIZE | EVALUATE,
    EMITS = COMPILE | VERIFY | QUANTIZE, LISTS = OPS | TARGETS | PASSES | STEPS,
    ANY = MODEL | LISTS
};

typedef struct Command {
    unsigned bit;
    const char *name, *usage, *what;
    bool (*run)(const Arguments *);
    int least, most;                 /* files */
    int outputs;                     /* at most */
    bool needs_output;
    const char *missing;             /* diagnostic for too few files or a missing output */
} Command;

static bool compile(const Arguments *a), run(const Arguments *a), verify(const Arguments *a), dump(const Arguments *a);
static bool report(const Arguments *a), ops(const Arguments *a), targets(const Arguments *a), passes(const Arguments *);
static bool steps(const Arguments *a), quantize(const Arguments *a), evaluate(const Arguments *a);

static const Command commands[] = {
    /* the first is the default, if the first word is not a command */
    { COMPILE, "compile", "MODEL -o DIR/model.c",
      "emits model.c and model.h; the word `compile` is optional", compile, 1, 1, 1, true,
      "a model and -o DIR/model.c are required" },
    { RUN, "run", "MODEL IN.npy... [-o OUT.npy...]",
      "runs the model in the interpreter; without -o prints the outputs", run, 1, MOST_FILES, MOST_FILES,
      false, "a model is required, and a .npy file for each input" },
    { VERIFY, "verify", "MODEL [IN.npy...]",
      "emits, builds with $CC, runs and compares", verify, 1, MOST_FILES, 0, false, "a model is required" },
    { QUANTIZE, "quantize", "MODEL --samples FILE -o model.c",
      "emits integer C from a float model and samples of its inputs", quantize, 1, 1, 2, true,
      "a float model and -o DIR/model.c, -o DIR/model.onnx or both are required" },
    { EVALUATE, "evaluate", "MODEL --test F --test-labels F",
      "builds the emitted C with $CC; prints its accuracy", evaluate, 1, 1, 0, false,
      "a model is required" },
    { DUMP, "dump", "MODEL --at STAGE [-o FILE]",
      "prints the model at a stage of the compilation", dump, 1, 1, 1, false, "a model is required" },
    { REPORT, "report", "MODEL [-o FILE.html|.txt]",
      "RAM, flash and multiply-adds per layer", report, 1, 1, 1, false, "a model is required" },
    { OPS, "ops", "[--level N | --onnx | ...]", "lists the operators", ops, 0, 0, 1, false, "" },
    { TARGETS, "targets", "", "lists the targets", targets, 0, 0, 1, false, "" },
    { PASSES, "passes", "", "lists the passes, in their order", passes, 0, 0, 1, false, "" },
    { STEPS, "steps", "", "lists the steps of a schedule, with their options", steps, 0, 0, 1, false, "" },
};
enum { COMMAND_COUNT = sizeof commands / sizeof commands[0] };

typedef bool Reader(Arguments *a, const char *value);
static Reader read_output, read_dim, read_value, read_state, read_expect, read_io, read_recorded, read_tolerance,
    read_steps, read_samples, read_test, read_top, read_level;

typedef enum Sort { FLAG, TEXT, READ } Sort;
typedef struct Option {
    const char *name, *value, *what;
    unsigned of;                     /* the commands that accept it */
    Sort sort;
    size_t at;                       /* in Arguments: of a FLAG, a bool; of a TEXT, a const char * */
    Reader *read;                    /* of a READ: false refuses the value */
    bool repeats;
    char letter;                     /* short form: -h is --help; 0: none */
} Option;

#define FLAG_AT(field) FLAG, offsetof(Arguments, field), NULL, false, 0
#define TEXT_AT(field) TEXT, offsetof(Arguments, options.field), NULL, false, 0
#define READ_ONCE(reader) READ, 0, reader, false, 0
#define READ_EACH(reader) READ, 0, reader, true, 0

/* Options of the same commands are adjacent: the help prints a heading for each sequence of them. */
static const Option options[] = {
    { "--help", NULL,
      "print this text; of one command: its usage and options", ANY, FLAG, offsetof(Arguments, help), NULL, false,
      'h' },
    { "--version",      NULL,         "print the version", ANY, FLAG, offsetof(Arguments, version), NULL, false, 'v' },

    { "-o", "FILE",
      "the file to write; `run` takes one for each output", ANY & ~(VERIFY | EVALUATE), READ, 0, read_output,
      true, 'o' },

    { "--target", "T",
      "the target, by default generic; see `loopwright targets`", MODEL, TEXT_AT(target) },
    { "--dim", "NAME=N",
      "fix a symbolic dimension, N >= 1; NAME<=N: its maximum, L<=NAME<=N: minimum, too",
      MODEL, READ_EACH(read_dim) },
    { "--value",        "NAME=F.npy", "make an input a constant", MODEL, READ_EACH(read_value) },
    { "--state", "IN=OUT",
      "the output is the input of the next run: both become struct NAME_state", MODEL, READ_EACH(read_state) },
    { "--annotate", "FILE",
      "annotations of nodes: `stop_fusion conv_3`, `on_device npu conv_1..conv_5`", MODEL, TEXT_AT(annotate) },
    { "--gradient", "LOSS:X,W",
      "add the outputs d_X and d_W, derivatives of the scalar LOSS; names of tensors", MODEL, TEXT_AT(gradient) },
    { "--tuning", "FILE",
      "the same as --schedule, which takes precedence: for records of many networks", MODEL, TEXT_AT(tuning) },
    { "--schedule", "FILE",
      "blocks `for GROUP on TARGET:` of steps, as `dump --at scheduled` prints them", MODEL, TEXT_AT(schedule) },
    { "--combine", "G,..[@G]",
      "groups to compute in the loops of the one after @, or the last; or all, or none", MODEL, TEXT_AT(combine) },
    { "--rounding", "double|single",
      "int8 requantization: the two roundings of the reference, or one", MODEL & ~QUANTIZE, TEXT_AT(rounding) },
    { "--qdq", "exact|integer|float",
      "QDQ calls on integers: unless ties are many, always, or never", MODEL & ~QUANTIZE, TEXT_AT(qdq) },
    { "--float", "contract|separate",
      "a*b + c of floats: rounded once on a target with fma, or always twice", MODEL, TEXT_AT(floats) },
    { "--layers", NULL,
      "the result of every layer is an output, too; verify names the first that differs",
      MODEL, FLAG_AT(options.layers) },
    { "--no-shrink", NULL,
      "keep channels of integer networks on which no output depends", MODEL, FLAG_AT(options.no_shrink) },
    { "--werror",       NULL,         "warnings are errors", MODEL, FLAG_AT(werror) },
    { "--quiet",        NULL,         "print no warnings and no notes", MODEL, FLAG_AT(quiet) },

    { "--io", "caller|arena",
      "inputs and outputs are caller-owned, or in the arena at NAME_X_AT",
      MODEL & ~(RUN | EVALUATE), READ_ONCE(read_io) },

    { "--name", "NAME",
      "prefix of all symbols, by default from the name of MODEL", EMITS | DUMP, TEXT_AT(name) },

    { "--static-arena", NULL,
      "the arena is a static array of model.c instead of a parameter", EMITS, FLAG_AT(options.static_arena) },
    { "--time-passes",  NULL,         "print the time that each pass took", EMITS, FLAG_AT(options.time_passes) },

    { "--testbench", NULL,
      "also write MODEL_main.c, a test program for the host", COMPILE | QUANTIZE, FLAG_AT(options.testbench) },
    { "--standalone", NULL,
      "copy the runtime macros that are used into model.c", COMPILE | QUANTIZE, FLAG_AT(options.standalone) },

    { "--expect", "OUT.npy",
      "the expected value of an output, in the model's order", VERIFY | EVALUATE, READ_EACH(read_expect) },
    { "--recorded", "DIR",
      "expected outputs of layers, DIR/LAYER.npy or a .npz; disables shrinking",
      VERIFY, READ_ONCE(read_recorded) },

    { "--tolerance", "ABS[,REL]",
      "floats agree within ABS + REL * |expected|; by default 1e-4,1e-3; REL 0 if left out", VERIFY,
          READ_ONCE(read_tolerance) },
    { "--steps", "N",
      "quantized outputs agree within N steps of their scale; by default they are equal", VERIFY,
          READ_ONCE(read_steps) },
    { "--cc", "CMD", "the compiler, instead of $CC: called as $CC is, to build PROGRAM", VERIFY | EVALUATE,
      TEXT_AT(cc) },
    { "--link", "WORDS", "C files, objects and libraries of external functions, added to that command",
      VERIFY, TEXT_AT(link) },
    { "--runner", "CMD",
     "CMD PROGRAM IN.npy... OUT.npy... runs it; it may print `cycles N` and the like",
      VERIFY, TEXT_AT(runner) },

    { "--samples", "FILE",
      "a .npy of stacked samples for each input, a folder of them, or one .npz", QUANTIZE | DUMP,
      READ_EACH(read_samples) },
    { "--ports", "int8|float",
      "inputs and outputs of the emitted function: 8 bits by default", QUANTIZE | DUMP, TEXT,
      offsetof(Arguments, quantization.ports), NULL, false, 0 },

    { "--min-sqnr", "DB",
      "widens tensors until the outputs have this signal to noise: 16 bits, or floats", QUANTIZE, TEXT,
      offsetof(Arguments, quantization.min_sqnr), NULL, false, 0 },
    { "--max-drop", "P%",
      "widens tensors until at most P percent of accuracy are lost on the samples", QUANTIZE, TEXT,
      offsetof(Arguments, quantization.max_drop), NULL, false, 0 },
    { "--labels", "FILE", "a .npy of integers: the class of each of --samples", QUANTIZE, TEXT,
      offsetof(Arguments, quantization.sample_labels), NULL, false, 0 },
    { "--sensitivity", NULL, "print what each quantized tensor alone does to the outputs", QUANTIZE,
      FLAG_AT(quantization.sensitivity) },

    { "--test", "FILE",
      "a .npy of stacked samples for each input, a folder of them, or one .npz", EVALUATE | QUANTIZE,
      READ_EACH(read_test) },
    { "--test-labels", "FILE", "a .npy of integers: the class of each sample", EVALUATE | QUANTIZE, TEXT,
      offsetof(Arguments, evaluation.labels), NULL, false, 0 },
    { "--reference", "MODEL", "compare with the outputs of this model, such as the float one", EVALUATE, TEXT,
      offsetof(Arguments, evaluation.reference), NULL, false, 0 },
    { "--top", "K", "also the share of labels among the K highest scores; by default 5", EVALUATE,
      READ_ONCE(read_top) },

    { "--at", "STAGE",
      "dag, fused, strategy, loops, step:N, scheduled, lowered, pass:NAME, or of quantize",
      DUMP, TEXT_AT(at) },
    { "--only",         "NAME",       "one group alone; not with --at dag", DUMP, TEXT_AT(only) },
    { "--explain", NULL,
      "of strategy, loops, step:N, scheduled: the cost before and after each step", DUMP, FLAG_AT(options.explain) },

    { "--level",        "N",          "only operators of support level N, 1 to 11", OPS, READ_ONCE(read_level) },
    { "--onnx",         NULL,         "lists the supported ONNX operators instead", OPS, FLAG_AT(onnx) },
    { "--tflite",       NULL,         "lists the supported TFLite operators instead", OPS, FLAG_AT(tflite) },
    { "--gradients",    NULL,         "lists the operators with gradients, and of which inputs", OPS,
          FLAG_AT(gradients) },
    { "--conditions",   NULL,         "lists the names that the condition of an implementation may use", OPS,
          FLAG_AT(conditions) },
};
enum { OPTION_COUNT = sizeof options / sizeof options[0] };

/* ---- Values of options ------------------------------------------------------------------------------------------ */

static bool read_output(Arguments *a, const char *v)
{
    return *v && a->output_count < MOST_FILES && (a->output[a->output_count++] = v);
}

static bool read_expect(Arguments *a, const char *v)
{
    return *v && a->expect_count < MOST_FILES && (a->expect[a->expect_count++] = v);
}

static bool read_samples(Arguments *a, const char *v)
{
    a->quantization.samples = a->samples;
    return *v && a->quantization.sample_count < MOST_FILES && (a->samples[a->quantization.sample_count++] = v);
}

static bool read_test(Arguments *a, const char *v)
{
    a->evaluation.samples = a->test;
    return *v && a->evaluation.sample_count < MOST_FILES && (a->test[a->evaluation.sample_count++] = v);
}

static bool read_top(Arguments *a, const char *v)
{
    char *end;
    const long n = strtol(v, &end, 10);
    a->evaluation.top = (int)n;
    return *v && !*end && n >= 1 && n <= 1000;
}

static bool read_io(Arguments *a, const char *v)
{
    a->options.ports_in_arena = strcmp(v, "arena") == 0;
    return a->options.ports_in_arena || strcmp(v, "caller") == 0;
}

/* Recorded layers have all their channels, so shrinking is disabled. */
static bool read_recorded(Arguments *a, const char *v)
{
    a->options.layers = a->options.no_shrink = true;
    return (a->options.recorded = v) != NULL;
}

static bool read_tolerance(Arguments *a, const char *v)
{
    char *end;
    a->tolerance = (lw_tolerance){ strtod(v, &end), 0 };
    const bool has_relative = end != v && *end == ',';
    const char *second = end + 1;
    if (has_relative) a->tolerance.relative = strtod(second, &end);
    a->options.tolerance = &a->tolerance;
    return end != v && end != (has_relative ? second : v) && !*end && a->tolerance.absolute >= 0 &&
        a->tolerance.relative >= 0;
}

static bool read_steps(Arguments *a, const char *v)
{
    char *end;
    const long n = strtol(v, &end, 10);
    a->options.steps = (int)n;
    return *v && !*end && n >= 1 && n <= 1000;
}

static bool read_level(Arguments *a, const char *v)
{
    char *end;
    const long n = strtol(v, &end, 10);
    a->level = (int)n;
    return *v && !*end && n >= 1 && n <= 11;
}

static const char *copied(Arguments *a, const char *text, size_t length)
{
    char *copy = malloc(length + 1);
    a->is_exhausted = !copy;
    if (!copy) return NULL;
    memcpy(copy, text, length);
    copy[length] = 0;
    return copy;
}

/* Reads NAME=N, NAME<=N for a maximum, or L<=NAME<=N for a minimum and a maximum. */
static bool read_dim(Arguments *a, const char *v)
{
    char *end;
    const long long least = strtoll(v, &end, 10);
    const bool has_least = end != v && strncmp(end, "<=", 2) == 0;
    if (has_least) v = end + 2;
    const char *equals = strchr(v, '=');
    if (!equals || equals == v || a->options.dim_count == MOST_OPTIONS) return false;
    const bool is_maximum = equals[-1] == '<';
    const size_t length = (size_t)(equals - v) - is_maximum;
    const char *dim = copied(a, v, length);
    if (!dim) return false;
    const long long n = strtoll(equals + 1, &end, 10);
    a->dim[a->options.dim_count++] = (lw_dim){ dim, n, is_maximum, has_least ? least : 0 };
    return equals[1] && !*end && n >= 1 && n <= INT32_MAX && length > 0 &&
           (!has_least || (is_maximum && least >= 1 && least <= n));
}

/* Returns the name of NAME=REST; *rest gets the text after the '='. NULL for another form. */
static const char *read_pair(Arguments *a, const char *v, int count, const char **rest)
{
    const char *equals = strchr(v, '=');
    if (!equals || equals == v || !equals[1] || count == MOST_OPTIONS) return NULL;
    *rest = equals + 1;
    return copied(a, v, (size_t)(equals - v));
}

static bool read_value(Arguments *a, const char *v)
{
    const char *rest, *tensor = read_pair(a, v, a->options.value_count, &rest);
    if (tensor) a->value[a->options.value_count++] = (lw_value){ tensor, rest };
    return tensor != NULL;
}

static bool read_state(Arguments *a, const char *v)
{
    const char *rest, *input = read_pair(a, v, a->options.state_count, &rest);
    if (input) a->state[a->options.state_count++] = (lw_state){ input, rest };
    return input != NULL;
}

/* ---- Progress ---------------------------------------------------------------------------------------------------- */

/* The only mutable object of the program at file scope: C has no other way to tell a handler of signals from the work
 * that it ends. A second signal ends the program at once. */
static volatile sig_atomic_t is_interrupted;

static void interrupt(int number)
{
    is_interrupted = 1;
    signal(number, SIG_DFL);
}

/* A line on stderr that a terminal overwrites. */
typedef struct Progress { bool is_terminal; const char *part; time_t begun, shown; } Progress;

static bool show_progress(void *user, const char *part, long long done, long long total)
{
    enum { WIDTH = 72 };
    Progress *p = user;
    char line[WIDTH + 1];
    const time_t now = time(NULL);
    if (is_interrupted || !p->is_terminal) return !is_interrupted;
    if (p->part != part) p->begun = p->shown = now;
    p->part = part;
    const long spent = (long)difftime(now, p->begun);
    const long long left = done ? (long long)((double)spent * (double)(total - done) / (double)done + 0.5) : 0;
    if (now == p->shown && done < total) return true;
    p->shown = now;
    snprintf(line, sizeof line, "%s: %lld of %lld samples, %lld s left", part, done, total, left);
    fprintf(stderr, "\r%-*s\r%s", WIDTH, "", done < total ? line : "");
    fflush(stderr);
    return true;
}

/* Long work reports its progress if stderr is a terminal, and ends without a part of a file on SIGINT and SIGTERM. */
static void watch_progress(lw_options *o, Progress *p)
{
    p->is_terminal = system("test -t 2") == 0;
    o->progress = show_progress;
    o->progress_user = p;
    signal(SIGINT, interrupt);
    signal(SIGTERM, interrupt);
}

/* ---- Commands ---------------------------------------------------------------------------------------------------- */

static bool show(const char *text)
{
    if (!text) return false;
    fputs(text, stdout);
    if (fflush(stdout) == 0) return true;
    fprintf(stderr, "error: cannot write to standard output: %s\n", strerror(errno));
    return false;
}

static bool show_or_write(const Arguments *a, const char *text)
{
    return text && a->output_count ? lw_write(a->cx, a->output[0], text) : show(text);
}

static bool compile(const Arguments *a) { return lw_compile(a->cx, a->file[0], a->output[0], &a->options); }
static bool evaluate(const Arguments *a)
{
    Progress p = { 0 };
    lw_options o = a->options;
    lw_evaluation e = a->evaluation;
    if (a->expect_count) e.expect = a->expect[0];
    watch_progress(&o, &p);
    return show(lw_evaluate(a->cx, a->file[0], &e, &o));
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
    for (int i = 0; i < a->output_count; i++)
        if (ends_in(a->output[i], ".onnx")) q.onnx = a->output[i];
        else c = a->output[i];
    Progress p = { 0 };
    lw_options o = a->options;
    watch_progress(&o, &p);
    const char *text = lw_quantize(a->cx, a->file[0], c, &q, &o);
    return a->quiet ? text != NULL : show(text);
}

static bool report(const Arguments *a)
{
    const bool is_html = a->output_count && ends_in(a->output[0], ".html");
    return show_or_write(a, (is_html ? lw_report_html : lw_report)(a->cx, a->file[0], &a->options));
}

static bool ops(const Arguments *a)
{
    if (a->onnx) return show_or_write(a, lw_list_onnx_ops(a->cx));
    if (a->conditions) return show_or_write(a, lw_list_conditions(a->cx));
    if (a->gradients) return show_or_write(a, lw_list_gradients(a->cx));
    return show_or_write(a, a->tflite ? lw_list_tflite_ops(a->cx) : lw_list_ops(a->cx, a->level));
}

static bool targets(const Arguments *a) { return show_or_write(a, lw_list_targets(a->cx)); }
static bool passes(const Arguments *a) { return show_or_write(a, lw_list_passes(a->cx)); }
static bool steps(const Arguments *a) { return show_or_write(a, lw_list_steps(a->cx)); }

static bool run(const Arguments *a)
{
    if (!a->output_count)
        return show(lw_run_text(a->cx, a->file[0], a->file + 1, a->file_count - 1, &a->options));
    return lw_run(a->cx, a->file[0], a->file + 1, a->file_count - 1, a->output, a->output_count, &a->options);
}

static bool verify(const Arguments *a)
{
    return show(lw_verify(a->cx, a->file[0], a->file + 1, a->file_count - 1, a->expect, a->expect_count, &a->options));
}

/* ---- Help -------------------------------------------------------------------------------------------------------- */

static const char *const status_rule =
    "exit status: 0 done; 1 the input was refused: a diagnostic on stderr gives place and reason;\n"
    "             2 wrong usage: a command, option, value or target that is wrong for every model\n";

/* Prints "run, verify and dump". */
static void print_commands(FILE *f, unsigned of)
{
    int left = 0;
    for (int i = 0; i < COMMAND_COUNT; i++) left += (commands[i].bit & of) != 0;
    for (int i = 0; i < COMMAND_COUNT; i++)
        if (commands[i].bit & of) fprintf(f, "%s%s", commands[i].name, --left == 0 ? "" : left == 1 ? " and " : ", ");
}

static void print_heading(unsigned of)
{
    printf("\noptions of ");
    if (of == ANY) printf("every command");
    else if (of == (ANY & ~VERIFY)) printf("every command but verify");
    else if (of == MODEL) printf("every command that reads a model");
    else print_commands(stdout, of);
    printf(":\n");
}

static void print_option(const Option *o)
{
    char name[32];
    if (o->letter && o->name[1] == '-') snprintf(name, sizeof name, "-%c, %s", o->letter, o->name);
    else snprintf(name, sizeof name, "%s", o->name);
    printf("  %-14s %-19s %s\n", name, o->value ? o->value : "", o->what);
}

/* Prints the help of all commands, or of one. */
static void print_help(const Command *only)
{
    unsigned of = 0;
    if (!only) printf("Loopwright compiles trained networks and tensor expressions to plain C99.\n\n");
    printf("usage:\n");
    for (int i = 0; i < COMMAND_COUNT; i++)
        if (!only || only == &commands[i])
            printf("  loopwright %-7s %-32s %s\n", i ? commands[i].name : "", commands[i].usage, commands[i].what);
    for (int i = 0; i < OPTION_COUNT; i++) {
        if (only && !(options[i].of & only->bit)) continue;
        if (only ? of == 0 : of != options[i].of) {
            if (only) printf("\noptions:\n");
            else print_heading(options[i].of);
        }
        of = options[i].of;
        print_option(&options[i]);
    }
    printf("\nAn option's value is the next word, or follows `=`: --target T, --target=T; -oFILE is -o FILE.\n%s",
            status_rule);
}

/* ---- Words ------------------------------------------------------------------------------------------------------- */

static bool wrong(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fprintf(stderr, "loopwright: ");
    vfprintf(stderr, format, args);
    fprintf(stderr, "\n");
    va_end(args);
    return false;
}

static const char *nearest_command(const Arguments *a, const char *word)
{
    const char *names[COMMAND_COUNT];
    for (int i = 0; i < COMMAND_COUNT; i++) names[i] = commands[i].name;
    return lw_nearest(a->cx, word, names, COMMAND_COUNT);
}

static const char *nearest_option(const Arguments *a, const char *word)
{
    const char *names[OPTION_COUNT];
    for (int i = 0; i < OPTION_COUNT; i++) names[i] = options[i].name;
    return lw_nearest(a->cx, word, names, OPTION_COUNT);
}

/* Returns the option of the word; *value gets its value if it is in the same word, after '=' or the letter. */
static const Option *option_of(Arguments *a, const char *word, const char **value)
{
    const bool is_long = word[1] == '-';
    const char *equals = is_long ? strchr(word, '=') : NULL;
    const size_t length = equals ? (size_t)(equals - word) : strlen(word);
    *value = equals ? equals + 1 : NULL;
    for (int i = 0; i < OPTION_COUNT; i++) {
        const Option *o = &options[i];
        if (strlen(o->name) == length && memcmp(o->name, word, length) == 0) return o;
        if (is_long || !o->letter || o->letter != word[1] || (word[2] && !o->value)) continue;
        if (word[2]) *value = word + 2;
        return o;
    }
    const char *name = copied(a, word, length), *near = name ? nearest_option(a, name) : NULL;
    wrong("there is no option '%s'%s%s%s; see loopwright --help", name ? name : word, near ? "; did you mean '" : "",
          near ? near : "", near ? "'?" : "");
    return NULL;
}

/* True for an option as a word of its own: it is not the value of the option before it. */
static bool is_option(const char *word)
{
    for (int i = 0; i < OPTION_COUNT; i++) {
        const Option *o = &options[i];
        const size_t length = strlen(o->name);
        const bool is_name = strncmp(word, o->name, length) == 0;
        if (is_name && (!word[length] || (word[1] == '-' && word[length] == '='))) return true;
        if (o->letter && word[0] == '-' && word[1] == o->letter && !word[2]) return true;
    }
    return false;
}

static bool take(Arguments *a, const Option *o, const char *value)
{
    switch (o->sort) {
    case FLAG: *(bool *)((char *)a + o->at) = true; return true;
    case TEXT: *(const char **)((char *)a + o->at) = value; return *value != 0;
    case READ: break;
    }
    return o->read(a, value);
}

/* Reads the option at argv[*i]; its value may be the next word. given[] counts the occurrences of each option. */
static bool read_option(Arguments *a, int *given, char **argv, int argc, int *i)
{
    const char *value;
    const Option *o = option_of(a, argv[*i], &value);
    if (!o) return false;
    if (!o->value && value) return wrong("%s takes no value, but '%s' is given", o->name, value);
    const char *next = *i + 1 < argc ? argv[*i + 1] : NULL;
    if (o->value && !value && next && is_option(next))
        return wrong("%s requires a value, but the option '%s' follows: %s %s: %s", o->name, next, o->name, o->value,
                     o->what);
    if (o->value && !value && next) value = argv[++*i];
    if (o->value && !value) return wrong("%s requires a value: %s %s: %s", o->name, o->name, o->value, o->what);
    if (given[o - options]++ && !o->repeats) return wrong("%s is given twice", o->name);
    if (take(a, o, value)) return true;
    if (a->is_exhausted) return wrong("error: out of memory");
    return wrong("%s does not accept '%s'; accepted: %s %s: %s", o->name, value, o->name,
            o->value, o->what);
}

static bool is_file(const char *path)
{
    FILE *f = fopen(path, "rb");
    if (f) fclose(f);
    return f != NULL;
}

/* Returns the command that the first word names; a model alone is compiled. NULL: it is neither. */
static const Command *command_of(Arguments *a)
{
    if (!a->file_count) return &commands[0];
    const char *word = a->file[0];
    for (int i = 0; i < COMMAND_COUNT; i++) {
        if (strcmp(word, commands[i].name) != 0) continue;
        memmove(a->file, a->file + 1, (size_t)--a->file_count * sizeof *a->file);
        return &commands[i];
    }
    if (strchr(word, '.') || strchr(word, '/') || is_file(word)) return &commands[0];
    const char *near = nearest_command(a, word);
    fprintf(stderr, "loopwright: there is no command '%s'%s%s%s; accepted: ", word, near ? "; did you mean '" : "",
            near ? near : "",
            near ? "'?" : "");
    print_commands(stderr, ANY);
    fprintf(stderr, ", or a model: a file that ends in .onnx, .tflite or .te\n");
    return NULL;
}

/* Refuses options of other commands. */
static bool takes_options(const Command *c, const int *given)
{
    for (int i = 0; i < OPTION_COUNT; i++) {
        if (!given[i] || (options[i].of & c->bit)) continue;
        fprintf(stderr, "loopwright: %s is not an option of %s, but of ", options[i].name, c->name);
        print_commands(stderr, options[i].of);
        fprintf(stderr, "; see loopwright %s --help\n", c->name);
        return false;
    }
    return true;
}

static bool are_files_right(const Command *c, const Arguments *a)
{
    const char *missing = NULL;
    if (a->file_count < c->least || (c->needs_output && !a->output_count)) missing = c->missing;
    else if (a->file_count > c->most) wrong("'%s' is an extra argument", a->file[c->most]);
    else if (a->output_count > c->outputs) wrong("-o is given twice, for '%s' and '%s'", a->output[0], a->output[1]);
    else return true;
    if (missing) wrong("%s", missing);
    fprintf(stderr, "usage: loopwright %s %s\nsee loopwright %s --help\n", c->name, c->usage, c->name);
    return false;
}

/* Refuses arguments of a command that are wrong for every model. */
static bool is_consistent(const Command *c, const Arguments *a)
{
    if (c->bit == REPORT && a->output_count && !ends_in(a->output[0], ".html") && !ends_in(a->output[0], ".txt"))
        return wrong("a report is written as .html or .txt, not as '%s'", a->output[0]);
    if (c->bit == DUMP && (a->quantization.sample_count || a->quantization.ports) && !is_quantize_stage(a->options.at))
        return wrong("--samples and --ports have no effect on --at %s; accepted: annotated, calibrated, realized",
                     a->options.at ? a->options.at : "dag");
    if ((a->level != 0) + a->onnx + a->tflite + a->conditions + a->gradients > 1)
        return wrong("--level, --onnx, --tflite, --gradients and --conditions exclude each other; accepted: one of "
                     "them");
    return true;
}

static int print_diagnostics(const Arguments *a)
{
    int warnings = 0;
    bool is_error = false;
    const char *text;
    for (int i = 0; (text = lw_diagnostic(a->cx, i, &is_error)) != NULL; i++) {
        warnings += !is_error && strncmp(text, "note: ", 6) != 0;
        if (is_error || !a->quiet) fprintf(stderr, "%s\n", text);
    }
    return warnings;
}

static int run_command(const Command *c, const Arguments *a)
{
    if (!are_files_right(c, a) || !is_consistent(c, a)) return USAGE;
    const bool ok = c->run(a);
    const int warnings = print_diagnostics(a);
    if (lw_is_wrong_usage(a->cx)) return USAGE;
    return ok && !(a->werror && warnings) ? DONE : REFUSED;
}

static int main_with(Arguments *a, int argc, char **argv)
{
    int given[OPTION_COUNT] = { 0 };
    bool only_files = false;
    for (int i = 1; i < argc; i++) {
        if (!only_files && strcmp(argv[i], "--") == 0) only_files = true;
        else if (!only_files && argv[i][0] == '-' && argv[i][1]) {
            if (!read_option(a, given, argv, argc, &i)) return a->is_exhausted ? REFUSED : USAGE;
        } else if (a->file_count < MOST_FILES) a->file[a->file_count++] = argv[i];
        else return wrong("more than %d files are given", MOST_FILES), USAGE;
    }
    a->options.dim = a->dim;
    a->options.value = a->value;
    a->options.state = a->state;
    const bool has_command = a->file_count > 0;
    const Command *c = a->version ? &commands[0] : command_of(a);
    if (!c) return USAGE;
    if (a->version) printf("loopwright %s\n", lw_version());
    else if (a->help) print_help(has_command ? c : NULL);
    if (a->version || a->help) return DONE;
    return takes_options(c, given) ? run_command(c, a) : USAGE;
}

int main(int argc, char **argv)
{
    Arguments a = { 0 };
#ifdef SIGXFSZ
    /* A write above the file size limit then fails, and the temporary file is removed */
    signal(SIGXFSZ, SIG_IGN);
#endif
    a.cx = lw_new();
    const int status = main_with(&a, argc, argv);
    lw_free(a.cx);
    return status;
}
