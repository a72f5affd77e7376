/* SPDX-License-Identifier: MIT */
/* The command line, which is a client of loopwright.h like any program. `command/` defines its commands, options and
 * help texts. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "command/command.h"

static const char *nearest_command(const Arguments *a, const char *word)
{
    const char *names[COMMAND_COUNT];
    for (int i = 0; i < COMMAND_COUNT; i++) names[i] = commands[i].name;
    return lw_nearest(a->cx, word, names, COMMAND_COUNT);
}

static bool is_file(const char *path)
{
    FILE *f = fopen(path, "rb");
    if (f) fclose(f);
    return f != NULL;
}

static void drop_word(Arguments *a) { memmove(a->file, a->file + 1, (size_t)--a->file_count * sizeof *a->file); }

/* `help report` is `report --help`. */
static void read_help(Arguments *a)
{
    if (!a->file_count || strcmp(a->file[0], "help") != 0 || is_file("help")) return;
    a->help = true;
    drop_word(a);
}

/* Returns the command that the first word names; a model alone is compiled. NULL: it is neither. */
static const Command *command_of(Arguments *a)
{
    if (!a->file_count) return &commands[0];
    const char *word = a->file[0];
    for (int i = 0; i < COMMAND_COUNT; i++) {
        if (strcmp(word, commands[i].name) != 0) continue;
        drop_word(a);
        return &commands[i];
    }
    if (strchr(word, '.') || strchr(word, '/') || is_file(word)) return &commands[0];
    const char *near = nearest_command(a, word);
    if (near) {
        fprintf(stderr, "error: there is no command '%s'; did you mean '%s'?\n", word, near);
        return NULL;
    }
    fprintf(stderr, "error: there is no command '%s'; use ", word);
    print_commands(stderr, ANY);
    fprintf(stderr, ", or a model: a file that ends in .onnx, .tflite or .te\n");
    return NULL;
}

/* Refuses options of other commands. */
static bool takes_options(const Command *c, const int *given)
{
    for (int i = 0; i < OPTION_COUNT; i++) {
        if (!given[i] || (options[i].of & c->bit)) continue;
        fprintf(stderr, "error: %s is not an option of %s, but of ", options[i].name, c->name);
        print_commands(stderr, options[i].of);
        if ((options[i].of & QUANTIZE) && !(options[i].of & COMPILE) && (c->bit & MODEL))
            fprintf(stderr, "; `loopwright quantize ... -o model.onnx` writes an integer model that %s accepts",
                    c->name);
        fprintf(stderr, "; see loopwright %s --help\n", c->name);
        return false;
    }
    return true;
}

static bool are_files_right(const Command *c, const Arguments *a)
{
    if (a->file_count < c->least && c->needs_output && a->output_count) wrong("%s; the model is missing", c->missing);
    else if (a->file_count < c->least) wrong("%s", c->missing);
    else if (c->needs_output && !a->output_count && a->file_count > c->most)
        wrong("%s; -o is missing before '%s'", c->missing, a->file[c->most]);
    else if (c->needs_output && !a->output_count) wrong("%s; -o is missing", c->missing);
    else if (a->file_count > c->most) wrong("'%s' is an extra argument", a->file[c->most]);
    else if (a->output_count > c->outputs) wrong("-o is given twice, for '%s' and '%s'", a->output[0], a->output[1]);
    else return true;
    fprintf(stderr, "usage: loopwright %s %s\nsee loopwright %s --help\n", c->name, c->usage, c->name);
    return false;
}

/* The warnings that --werror refuses are printed even with --quiet, because they are the errors. */
static bool print_diagnostics(const Arguments *a)
{
    const bool is_accepted = lw_accepts_warnings(a->cx);
    bool is_error = false, has_error = false;
    const char *text;
    for (int i = 0; (text = lw_diagnostic(a->cx, i, &is_error)) != NULL; i++) {
        has_error = has_error || is_error;
        if (is_error || !a->quiet || !is_accepted) fprintf(stderr, "%s\n", text);
    }
    return !has_error;
}

static int run_command(const Command *c, const Arguments *a)
{
    if (!are_files_right(c, a) || !are_arguments_right(c, a)) return USAGE;
    const bool ok = c->run(a);
    const bool has_no_error = print_diagnostics(a);
    if (lw_is_wrong_usage(a->cx)) return USAGE;
    if (!ok && command_interrupted()) return SIGNALLED + command_interrupted();
    return ok && has_no_error ? DONE : REFUSED;
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
    a->options.selftest = a->selftest;
    a->options.schedule = a->schedule;
    a->options.memory = a->memory;
    a->options.state = a->state;
    a->options.rename = a->rename;
    a->options.from = a->from;
    a->options.to = a->to;
    a->options.layout = a->layout;
    a->options.preprocess = a->preprocess;
    a->options.postprocess = a->postprocess;
    a->quantization.samples = a->samples;
    a->evaluation.samples = a->test;
    read_help(a);
    const bool has_command = a->file_count > 0;
    const Command *c = a->version ? &commands[0] : command_of(a);
    if (!c) return USAGE;
    if (a->version) printf("loopwright %s\n", lw_version());
    else if (a->help) print_help(has_command ? c : NULL);
    if (a->version || a->help) return command_has_printed() ? DONE : REFUSED;
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
