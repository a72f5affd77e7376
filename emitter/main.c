/* SPDX-License-Identifier: MIT */
/* The command line: reads options and calls the library, as any program could. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "loopwright.h"

enum { DONE = 0, REFUSED = 1, USAGE = 2, MOST_FILES = 64, MOST_OPTIONS = 64 };

typedef struct Arguments {
    const char *file[MOST_FILES];    int file_count;      /* what is no option */
    const char *output[MOST_FILES];  int output_count;    /* -o */
    const char *expect[MOST_FILES];  int expect_count;    /* --expect */
    lw_dim dim[MOST_OPTIONS];
    lw_value value[MOST_OPTIONS + 1];
    lw_state state[MOST_OPTIONS + 1];
    lw_options options;
    bool quiet, werror, help, version, onnx, tflite;
    int level;
} Arguments;

typedef bool Reader(Arguments *a, const char *value);

static bool read_output(Arguments *a, const char *v) { return a->output_count < MOST_FILES && (a->output[a->output_count++] = v); }
static bool read_expect(Arguments *a, const char *v) { return a->expect_count < MOST_FILES && (a->expect[a->expect_count++] = v); }
static bool read_target(Arguments *a, const char *v) { return (a->options.target = v) != NULL; }
static bool read_name(Arguments *a, const char *v) { return (a->options.name = v) != NULL; }
static bool read_annotate(Arguments *a, const char *v) { return (a->options.annotate = v) != NULL; }
static bool read_tuning(Arguments *a, const char *v) { return (a->options.tuning = v) != NULL; }
static bool read_at(Arguments *a, const char *v) { return (a->options.at = v) != NULL; }
static bool read_only(Arguments *a, const char *v) { return (a->options.only = v) != NULL; }
static bool set_testbench(Arguments *a, const char *v) { (void)v; return a->options.testbench = true; }
static bool set_static_arena(Arguments *a, const char *v) { (void)v; return a->options.static_arena = true; }
static bool read_io(Arguments *a, const char *v) { return (a->options.ports_in_arena = strcmp(v, "arena") == 0) || strcmp(v, "caller") == 0; }
static bool set_standalone(Arguments *a, const char *v) { (void)v; return a->options.standalone = true; }
static bool set_no_shrink(Arguments *a, const char *v) { (void)v; return a->options.no_shrink = true; }
static bool set_time_passes(Arguments *a, const char *v) { (void)v; return a->options.time_passes = true; }
static bool set_combine(Arguments *a, const char *v) { return (a->options.combine = v) != NULL; }
static bool set_explain(Arguments *a, const char *v) { (void)v; return a->options.explain = true; }
static bool read_qdq(Arguments *a, const char *v) { return strcmp(a->options.qdq = v, "exact") == 0 || strcmp(v, "integer") == 0 || strcmp(v, "float") == 0; }
static bool read_rounding(Arguments *a, const char *v) { return strcmp(a->options.rounding = v, "double") == 0 || strcmp(v, "single") == 0; }
static bool set_layers(Arguments *a, const char *v) { (void)v; return a->options.layers = true; }
/* Layers are recorded whole. */
static bool read_recorded(Arguments *a, const char *v) { a->options.layers = a->options.no_shrink = true; return (a->options.recorded = v) != NULL; }
static bool set_quiet(Arguments *a, const char *v) { (void)v; return a->quiet = true; }
static bool set_werror(Arguments *a, const char *v) { (void)v; return a->werror = true; }
static bool set_help(Arguments *a, const char *v) { (void)v; return a->help = true; }
static bool set_onnx(Arguments *a, const char *v) { (void)v; return a->onnx = true; }
static bool set_tflite(Arguments *a, const char *v) { (void)v; return a->tflite = true; }
static bool set_version(Arguments *a, const char *v) { (void)v; return a->version = true; }

static bool read_level(Arguments *a, const char *v)
{
    char *end;
    long n = strtol(v, &end, 10);
    a->level = (int)n;
    return !*end && n >= 1 && n <= 11;
}

/* NAME=N, or NAME<=N for a maximum, or L<=NAME<=N for a minimum as well. */
static bool read_dim(Arguments *a, const char *v)
{
    char *end;
    long long least = strtoll(v, &end, 10);
    bool has_least = end != v && strncmp(end, "<=", 2) == 0;
    if (has_least) v = end + 2;
    const char *equals = strchr(v, '=');
    if (!equals || equals == v || a->options.dim_count == MOST_OPTIONS) return false;
    bool is_maximum = equals[-1] == '<';
    size_t length = (size_t)(equals - v) - is_maximum;
    char *dim = malloc(length + 1);
    if (!dim) return false;
    memcpy(dim, v, length);
    dim[length] = 0;
    long long n = strtoll(equals + 1, &end, 10);
    a->dim[a->options.dim_count++] = (lw_dim){ dim, n, is_maximum, has_least ? least : 0 };
    return equals[1] && !*end && n >= 1 && n <= INT32_MAX && length > 0 && (!has_least || (is_maximum && least >= 1 && least <= n));
}

/* NAME=REST: the name, and in *rest what is behind the '='; NULL where it has another form. */
static const char *read_pair(const char *v, int count, const char **rest)
{
    const char *equals = strchr(v, '=');
    if (!equals || equals == v || !equals[1] || count == MOST_OPTIONS) return NULL;
    size_t length = (size_t)(equals - v);
    char *tensor = malloc(length + 1);
    if (!tensor) return NULL;
    memcpy(tensor, v, length);
    tensor[length] = 0;
    *rest = equals + 1;
    return tensor;
}

static bool read_value(Arguments *a, const char *v)
{
    lw_value *value = &a->value[a->options.value_count];
    return (value->name = read_pair(v, a->options.value_count, &value->path)) != NULL && ++a->options.value_count;
}

static bool read_state(Arguments *a, const char *v)
{
    lw_state *state = &a->state[a->options.state_count];
    return (state->input = read_pair(v, a->options.state_count, &state->output)) != NULL && ++a->options.state_count;
}

typedef struct Option { const char *name, *value, *what; Reader *read; } Option;
static const Option options[] = {
    { "-o",             "FILE",       "where to write; may be repeated by `run`", read_output },
    { "--target",       "T",          "what to compile for (`loopwright targets`); generic by default", read_target },
    { "--name",         "NAME",       "prefix of all symbols; by default from the file's name", read_name },
    { "--testbench",    NULL,         "also write MODEL_main.c, a test program for the host", set_testbench },
    { "--static-arena", NULL,         "the arena is a static array of model.c instead of a parameter", set_static_arena },
    { "--io",           "caller|arena", "where inputs and outputs lie: in memory of the caller's, or at NAME_X_AT of the arena, which a run reuses", read_io },
    { "--standalone",   NULL,         "put the runtime macros that are used into model.c", set_standalone },
    { "--no-shrink",    NULL,         "keep channels of integer networks on which no output depends", set_no_shrink },
    { "--dim",          "NAME=N",     "fix a symbolic dimension; NAME<=N declares its maximum, L<=NAME<=N its minimum too", read_dim },
    { "--value",        "NAME=F.npy", "make an input a constant", read_value },
    { "--state",        "IN=OUT",     "the output is the input of the next run: both become struct NAME_state", read_state },
    { "--annotate",     "FILE",       "what is said of the model's nodes: `stop_fusion conv_3`, `on_device npu conv_1..conv_5`", read_annotate },
    { "--tuning",       "FILE",       "implementations by group: lines `SIGNATURE IMPLEMENTATION`; `dump --at strategy` shows signatures", read_tuning },
    { "--expect",       "OUT.npy",    "verify: what an output must be; may be repeated", read_expect },
    { "--rounding",     "double|single", "how products of int8 are scaled: with the two roundings of the reference, or one", read_rounding },
    { "--qdq",          "exact|integer|float", "quantized calls written in real numbers: on integers unless ties are many, always, or never", read_qdq },
    { "--layers",       NULL,         "what every layer makes is an output, too; verify: the first that differs", set_layers },
    { "--recorded",     "DIR",        "verify: DIR/LAYER.npy, or a .npz of them, is what a layer must make; nothing is shrunk", read_recorded },
    { "--at",           "STAGE",      "dump: dag, fused, strategy, loops, step:N, scheduled or lowered", read_at },
    { "--only",         "NAME",       "dump: one group alone", read_only },
    { "--combine",      "G,..",       "groups that become one function, in the loops of the last; all; or none, not even to save RAM", set_combine },
    { "--explain",      NULL,         "dump: say why, and what each step changed", set_explain },
    { "--level",        "N",          "ops: only operators of support level N", read_level },
    { "--onnx",         NULL,         "ops: the ONNX operators that are read instead", set_onnx },
    { "--tflite",       NULL,         "ops: the TFLite operators that are read instead", set_tflite },
    { "--time-passes",  NULL,         "say how long each pass took", set_time_passes },
    { "--werror",       NULL,         "warnings are errors", set_werror },
    { "--quiet",        NULL,         "no warnings, no notes", set_quiet },
    { "--help",         NULL,         "this text", set_help },
    { "--version",      NULL,         "the version", set_version },
};
enum { OPTION_COUNT = sizeof options / sizeof options[0] };

/* ---- Commands -------------------------------------------------------------------------------------------------- */

static bool show(const char *text)
{
    if (text) fputs(text, stdout);
    return text != NULL;
}

static bool show_or_write(const Arguments *a, const char *text)
{
    if (!text || !a->output_count) return show(text);
    FILE *f = fopen(a->output[0], "wb");
    bool ok = f && fputs(text, f) >= 0;
    if (f && fclose(f) != 0) ok = false;
    if (!ok) fprintf(stderr, "%s: cannot be written\n", a->output[0]);
    return ok;
}

static bool compile(lw_context *cx, const Arguments *a) { return lw_compile(cx, a->file[0], a->output[0], &a->options); }
static bool dump(lw_context *cx, const Arguments *a) { return show_or_write(a, lw_dump(cx, a->file[0], &a->options)); }

static bool ends_in(const char *s, const char *end)
{
    size_t n = strlen(s), m = strlen(end);
    return n >= m && strcmp(s + n - m, end) == 0;
}

static bool report(lw_context *cx, const Arguments *a)
{
    bool is_html = a->output_count && ends_in(a->output[0], ".html");
    return show_or_write(a, (is_html ? lw_report_html : lw_report)(cx, a->file[0], &a->options));
}

static bool ops(lw_context *cx, const Arguments *a)
{
    return show(a->onnx ? lw_list_onnx_ops(cx) : a->tflite ? lw_list_tflite_ops(cx) : lw_list_ops(cx, a->level));
}
static bool targets(lw_context *cx, const Arguments *a) { (void)a; return show(lw_list_targets(cx)); }
static bool passes(lw_context *cx, const Arguments *a) { (void)a; return show(lw_list_passes(cx)); }

static bool run(lw_context *cx, const Arguments *a)
{
    return lw_run(cx, a->file[0], a->file + 1, a->file_count - 1, a->output, a->output_count, &a->options);
}

static bool verify(lw_context *cx, const Arguments *a)
{
    return show(lw_verify(cx, a->file[0], a->file + 1, a->file_count - 1, a->expect, a->expect_count, &a->options));
}

typedef struct Command { const char *name, *usage; bool (*run)(lw_context *, const Arguments *); int least, most; bool needs_output; } Command;
static const Command commands[] = {
    /* the first is the default, when the first word is no command */
    { "compile", "MODEL -o DIR/model.c           emits model.c and model.h", compile, 1, 1, true },
    { "run",     "MODEL IN.npy... -o OUT.npy...  runs the model in the interpreter", run, 1, MOST_FILES, false },
    { "verify",  "MODEL [IN.npy...]              emits, builds with $CC, runs and compares", verify, 1, MOST_FILES, false },
    { "dump",    "MODEL --at STAGE               the model at a stage of its way", dump, 1, 1, false },
    { "report",  "MODEL [-o report.html|.txt]    RAM, flash and multiply-adds per layer", report, 1, 1, false },
    { "ops",     "[--level N | --onnx | --tflite]   the operators", ops, 0, 0, false },
    { "targets", "                               the targets", targets, 0, 0, false },
    { "passes",  "                               the passes, in their order", passes, 0, 0, false },
};
enum { COMMAND_COUNT = sizeof commands / sizeof commands[0] };

static void print_help(void)
{
    printf("Loopwright compiles trained networks and tensor expressions to plain C99.\n\nusage:\n");
    for (int i = 0; i < COMMAND_COUNT; i++) printf("  loopwright %-8s %s\n", i ? commands[i].name : "", commands[i].usage);
    printf("\noptions:\n");
    for (int i = 0; i < OPTION_COUNT; i++)
        printf("  %-14s %-19s %s\n", options[i].name, options[i].value ? options[i].value : "", options[i].what);
    printf("\nexit status: 0 done, 1 the input was refused (diagnostics on stderr), 2 wrong usage\n");
}

/* Reads one option at argv[*i], with its value in the same word after '=' or in the next word. */
static bool read_option(Arguments *a, char **argv, int argc, int *i)
{
    const char *word = argv[*i], *equals = strncmp(word, "--", 2) == 0 ? strchr(word, '=') : NULL;
    size_t length = equals ? (size_t)(equals - word) : strlen(word);
    for (int k = 0; k < OPTION_COUNT; k++) {
        const Option *o = &options[k];
        if (strlen(o->name) != length || memcmp(o->name, word, length) != 0) continue;
        const char *value = equals ? equals + 1 : o->value && *i + 1 < argc ? argv[++*i] : NULL;
        if ((o->value != NULL) == (value != NULL) && o->read(a, value)) return true;
        fprintf(stderr, "loopwright: %s %s\n", o->name, o->value ? "wants a value of the form " : "takes no value");
        if (o->value) fprintf(stderr, "  %s %s: %s\n", o->name, o->value, o->what);
        return false;
    }
    fprintf(stderr, "loopwright: there is no option %s; see loopwright --help\n", word);
    return false;
}

static const Command *command_of(int *argc, char ***argv)
{
    for (int i = 0; i < COMMAND_COUNT && *argc > 1; i++) {
        if (strcmp((*argv)[1], commands[i].name) != 0) continue;
        ++*argv;
        --*argc;
        return &commands[i];
    }
    return &commands[0];
}

static int print_diagnostics(lw_context *cx, const Arguments *a)
{
    int warnings = 0;
    bool is_error = false;
    const char *text;
    for (int i = 0; (text = lw_diagnostic(cx, i, &is_error)) != NULL; i++) {
        warnings += !is_error && strncmp(text, "note: ", 6) != 0;
        if (is_error || !a->quiet) fprintf(stderr, "%s\n", text);
    }
    return warnings;
}

int main(int argc, char **argv)
{
    static const Arguments none;
    Arguments a = none;
    const Command *c = command_of(&argc, &argv);
    for (int i = 1; i < argc; i++) {
        if (argv[i][0] == '-' && argv[i][1]) {
            if (!read_option(&a, argv, argc, &i)) return USAGE;
        } else if (a.file_count < MOST_FILES) a.file[a.file_count++] = argv[i];
    }
    a.options.dim = a.dim;
    a.options.value = a.value;
    a.options.state = a.state;
    if (a.help || a.version) {
        if (a.help) print_help();
        else printf("loopwright %s\n", lw_version());
        return DONE;
    }
    if (a.file_count < c->least || a.file_count > c->most || (c->needs_output && a.output_count != 1)) {
        fprintf(stderr, "usage: loopwright %s %s\nsee loopwright --help\n", c->name, c->usage);
        return USAGE;
    }
    lw_context *cx = lw_new();
    bool ok = c->run(cx, &a);
    int warnings = print_diagnostics(cx, &a);
    lw_free(cx);
    return ok && !(a.werror && warnings) ? DONE : REFUSED;
}
