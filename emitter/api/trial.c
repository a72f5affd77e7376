/* SPDX-License-Identifier: MIT */
/* Builds and runs the emitted C: see trial.h. The shell runs the commands. File names are quoted; the user's words for
 * compiler and runner are not. */
#include "api/trial.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "api/elements.h"
#include "support/map.h"

/* ---- The scratch folder ---------------------------------------------------------------------------------------- */

void trial_quote(Text *t, const char *path)
{
    text_add(t, " '");
    for (; *path; path++) {
        if (*path == '\'') text_add(t, "'\\''");
        else text_char(t, *path);
    }
    text_char(t, '\'');
}

static Folder *folder_of(Ctx *cx, const char *path, int input_count)
{
    Folder *f = NEW(cx->arena, Folder);
    const size_t capacity = strlen(path) + 32;
    *f = (Folder){ path, NEW_ARRAY(cx->arena, char, capacity), capacity, input_count };
    return f;
}

/* Returns a number that other users of the folder cannot foresee: it mixes the time with addresses, which the system
 * chooses at random. */
static unsigned long long free_number(Ctx *cx)
{
    const uint64_t parts[] = { (uint64_t)time(NULL), (uint64_t)clock(), (uintptr_t)NEW(cx->arena, int),
                               (uintptr_t)&cx };
    return (unsigned long long)hash_bytes(parts, sizeof parts);
}

Folder *trial_folder(Ctx *cx, int input_count)
{
    enum { TRIES = 100 };
    const char *base = getenv("TMPDIR");
    if (!base || !*base) base = "/tmp";
    if (!shell_is_there()) {
        diag_error(cx, NULL, "no command can run here, such as a C compiler; use loopwright where a shell is");
        return NULL;
    }
    for (int i = 0; i < TRIES; i++) {
        const char *candidate = text_format(cx, "%s/loopwright-verify-%llx", base, free_number(cx));
        Text make = text_new(cx);
        text_add(&make, "mkdir -m 700 2>/dev/null");
        trial_quote(&make, candidate);
        const char *command = text_string(&make);
        /* precedes mkdir, after which no allocation may fail */
        Folder *f = folder_of(cx, candidate, input_count);
        if (shell_run(command, 0, NULL, NULL) == SHELL_DONE) return f;
    }
    diag_error(cx, NULL, "cannot create a scratch folder in %s; set TMPDIR to a folder that can be written", base);
    return NULL;
}

static bool remove_numbered(const Folder *f, const char *kind, int number)
{
    snprintf(f->file, f->capacity, "%s/%s%d.npy", f->path, kind, number);
    return remove(f->file) == 0;
}

void trial_remove(void *folder)
{
    static const char *const files[] = { "prog", "prog.ci", "model.c", "model.h", "model_main.c", "model.bin",
                                         "model.plan", "model.hpp", "model_proof.c", "model_proof.sh", "said", "in",
                                         "out", "test", "test.c" };
    const Folder *f = folder;
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        snprintf(f->file, f->capacity, "%s/%s", f->path, files[i]);
        remove(f->file);
    }
    for (int i = 0; i < f->input_count; i++) remove_numbered(f, "in", i);
    for (int i = 0; remove_numbered(f, "out", i); i++) continue;
    remove(f->path);
}

/* ---- Commands ---------------------------------------------------------------------------------------------------- */

const char *trial_compiler(const lw_options *o)
{
    const char *cc = getenv("CC");
    return o->cc ? o->cc : cc && *cc ? cc : "cc";
}

const char *trial_flags(const lw_options *o)
{
    const bool has_level = strstr(trial_compiler(o), " -O") != NULL;
    return has_level ? "-std=c99 -ffp-contract=off" : "-std=c99 -O2 -ffp-contract=off";
}

static bool is_ended(const void *options)
{
    const lw_options *o = options;
    return o->progress && !o->progress(o->progress_user, "running a command", 0, 1);
}

Ending trial_command(const lw_options *o, const char *command) { return shell_run(command, 0, is_ended, o); }

/* Runs the command and returns how it ended. If the command fails, a diagnostic contains `what`, a description of the
 * command. Programs have a time limit; compilers have none. */
static Ending run_command(Ctx *cx, const lw_options *o, const char *command, double seconds, const char *what)
{
    const Ending e = shell_run(command, seconds, is_ended, o);
    if (e == SHELL_INTERRUPTED) diag_error(cx, NULL, "interrupted: %s has not ended", what);
    if (e == SHELL_TIMED_OUT)
        diag_error(cx, NULL, "%s took more than --timeout %g seconds: %s", what, seconds, command);
    if (e == SHELL_FAILED) diag_error(cx, NULL, "%s failed: %s", what, command);
    return e;
}

/* ---- The target's instructions ---------------------------------------------------------------------------------- */

/* Writes a program that compiles only if the compiler uses the instructions, and ends with status 0 if the machine has
 * them. On Linux, getauxval lists the machine's capabilities. */
static bool write_test(Ctx *cx, const char *path, const Target *t)
{
    const char *text = text_format(cx, "#if !(%s)\n#error\n#endif\nunsigned long getauxval(unsigned long);\n"
                                       "int main(void) { return !(%s); }\n",
                                   t->macros, t->machine ? t->machine : "1");
    return file_write(cx, path, text, strlen(text));
}

/* Builds the test and, without a runner, runs it. A runner may be slow or require files, and the user who names one
 * chose the machine behind it. */
static bool passes_test(Ctx *cx, const Folder *f, const lw_options *o, const char *flags)
{
    Text command = text_new(cx);
    text_printf(&command, "%s %s -o", trial_compiler(o), flags);
    trial_quote(&command, text_format(cx, "%s/test", f->path));
    trial_quote(&command, text_format(cx, "%s/test.c", f->path));
    text_add(&command, " > /dev/null 2>&1");
    if (*flags && !o->runner) {
        text_add(&command, " &&");
        trial_quote(&command, text_format(cx, "%s/test", f->path));
    }
    const Ending e = shell_run(text_string(&command), 0, is_ended, o);
    if (e == SHELL_INTERRUPTED) diag_error(cx, NULL, "interrupted: a test of the compiler has not ended");
    return e == SHELL_DONE;
}

bool trial_instructions(Ctx *cx, const Folder *folder, const Target *t, lw_options *o)
{
    const char *compiler = trial_compiler(o);
    if (!t->macros || !write_test(cx, text_format(cx, "%s/test.c", folder->path), t)) return false;
    if (t->flags && !strstr(compiler, " -m") && passes_test(cx, folder, o, t->flags)) {
        o->cc = text_format(cx, "%s %s", compiler, t->flags);
        return true;
    }
    return !ctx_failed(cx) && passes_test(cx, folder, o, "");
}

/* ---- Building and running --------------------------------------------------------------------------------------- */

/* Returns true for a microcontroller's compiler, which links a program only with the board's linker script and C
 * library. */
static bool is_bare(Ctx *cx, const lw_options *o)
{
    const Target *target = o->target ? target_find(cx, o->target) : NULL;
    return target && target->core && !o->runner;
}

/* Explains why a link failed: the model calls functions that no word of --link supplies, or there is no board. */
static const char *what_failed(Ctx *cx, const char *folder, const lw_options *o)
{
    const char *path = text_format(cx, "%s/model.c", folder), *text = file_text(cx, path, file_read(cx, path));
    const bool has_calls = text && strstr(text, "/* C functions from outside");
    return has_calls && !o->link ? "building the emitted C without --link, which adds the C functions that it calls,"
         : is_bare(cx, o) ? "building the emitted C for a board (docs/verifying.md: --cc and --runner by "
                            "samples/cortex-m/hosted.sh)"
                          : "building the emitted C";
}

bool trial_build(Ctx *cx, const char *folder, const lw_options *o)
{
    Text build = text_new(cx);
    text_printf(&build, "%s %s -o", trial_compiler(o), trial_flags(o));
    trial_quote(&build, text_format(cx, "%s/prog", folder));
    trial_quote(&build, text_format(cx, "%s/model.c", folder));
    trial_quote(&build, text_format(cx, "%s/model_main.c", folder));
    if (text_equal(o->weights, "incbin")) {      /* lets the assembler find the file of weights in this folder */
        text_add(&build, " -I");
        trial_quote(&build, folder);
    }
    text_printf(&build, " %s -lm", o->link ? o->link : "");
    return run_command(cx, o, text_string(&build), 0, what_failed(cx, folder, o)) == SHELL_DONE;
}

bool trial_run_all(Ctx *cx, const char *folder, const lw_options *o)
{
    Text run = text_new(cx);
    text_add(&run, o->runner ? o->runner : "");
    trial_quote(&run, text_format(cx, "%s/prog", folder));
    trial_quote(&run, text_format(cx, "%s/in", folder));
    trial_quote(&run, text_format(cx, "%s/out", folder));
    const char *what = o->runner ? "the runner" : "the emitted program";
    return run_command(cx, o, text_string(&run), o->timeout, what) == SHELL_DONE;
}

/* Returns the tensor with the type in which files store it: bfloat16 is stored as u16, because .npy has no bfloat16. */
static Tensor as_stored(const Tensor *t)
{
    Tensor stored = *t;
    if (t->type == BF16) stored.type = U16;
    return stored;
}

/* Adds the measurements among the lines that a runner printed. */
static void add_measures(Ctx *cx, const char *path, Text *said)
{
    static const char *const words[] = { "instructions ", "cycles ", "ns " };
    const Bytes file = file_read(cx, path);
    for (const char *s = (const char *)file.at; *s; s += strcspn(s, "\n"), s += *s == '\n')
        for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
            const size_t n = strlen(words[i]), digits = strncmp(s, words[i], n) == 0 ? strspn(s + n, "0123456789.") : 0;
            if (digits) text_printf(said, "%.*s\n", (int)(n + digits), s);
        }
}

/* Reads a row of --profile that the program prints, such as `layer 3 1234 conv_1`. Returns the name and stores its
 * length; for other lines the length is 0. */
static size_t layer_row(const char *line, double *count, const char **name)
{
    int at = 0;
    const size_t length = strcspn(line, "\r\n");
    if (sscanf(line, "layer %*d %lf %n", count, &at) != 1 || at == 0 || (size_t)at >= length) return 0;
    *name = line + at;
    return length - (size_t)at;
}

/* Adds the rows of --profile, each with its share of the sum. */
static void add_layers(Ctx *cx, const char *path, Text *said)
{
    enum { WIDEST = 48 };
    const char *text = (const char *)file_read(cx, path).at, *name = "";
    double sum = 0, count = 0;
    int width = 0;
    for (const char *s = text; *s; s += strcspn(s, "\n"), s += *s == '\n') {
        const int length = (int)layer_row(s, &count, &name);
        if (length) sum += count;
        if (length > width) width = length < WIDEST ? length : WIDEST;
    }
    for (const char *s = text; *s; s += strcspn(s, "\n"), s += *s == '\n') {
        const int length = (int)layer_row(s, &count, &name), tenths = sum > 0 ? (int)(1000 * count / sum + 0.5) : 0;
        if (length)
            text_printf(said, "  %-*s %12lld %3d.%d %%\n", width,
                        text_shortened(cx, text_format(cx, "%.*s", length, name), WIDEST), (long long)count,
                        tenths / 10, tenths % 10);
    }
}

bool trial_run(Build *b, const char *folder, const char *sizes, const void *const *inputs, int runs, Text *said)
{
    Ctx *cx = b->cx;
    Text run = text_new(cx);
    const char *runner = b->options->runner, *out = text_format(cx, "%s/said", folder);
    text_add(&run, runner ? runner : "");
    trial_quote(&run, text_format(cx, "%s/prog", folder));
    text_add(&run, sizes);
    for (int i = 0; i < b->model.input_count; i++) {
        if (build_state_of_input(b, i) >= 0) continue;
        const char *path = text_format(cx, "%s/in%d.npy", folder, i);
        const Tensor stored = as_stored(b->model.input[i]);
        if (!elements_write(cx, path, &stored, inputs[i])) return false;
        trial_quote(&run, path);
    }
    for (int i = 0; i < b->model.output_count - b->states.count; i++)
        trial_quote(&run, text_format(cx, "%s/out%d.npy", folder, i));
    if (runs > 1) text_printf(&run, " --repeat %d", runs);
    text_add(&run, " >");
    trial_quote(&run, out);
    const Ending e = run_command(cx, b->options, text_string(&run), b->options->timeout,
                                 runner ? "the runner" : "the emitted program");
    b->observed.is_signalled = e == SHELL_INTERRUPTED;
    if (e != SHELL_DONE) return false;
    if (runner || b->options->profile) add_measures(cx, out, said);
    if (b->options->profile) add_layers(cx, out, said);
    return !ctx_failed(cx);
}

const Tensor *trial_shape(Ctx *cx, const char *folder, int number, const Tensor *out)
{
    return elements_shaped(cx, text_format(cx, "%s/out%d.npy", folder, number), out);
}

const void *trial_output(Ctx *cx, const char *folder, int number, const Tensor *out)
{
    const Tensor stored = as_stored(out);
    return elements_read(cx, text_format(cx, "%s/out%d.npy", folder, number), &stored);
}
