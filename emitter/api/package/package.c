/* SPDX-License-Identifier: MIT */
/* Writes a model as a package of a build system or platform. The templates are the files of templates/KIND, which the
 * Makefile embeds; @word@ in their names and lines is replaced (words.c). The model's sources and its self-test are
 * added to the kind's folder of sources. */
#include "api/package/package.h"

#include <string.h>

#include "api/computation/arguments.h"
#include "api/folder.h"
#include "api/run.h"
#include "cgen/cgen.h"
#include "support/file.h"
#include "support/guard.h"

static const struct { const char *name, *sources; } kinds[] = {
    { "make", "" }, { "cmake", "" }, { "arduino", "src/" }, { "platformio", "src/" }, { "zephyr", "src/" },
    { "esp-idf", "src/" }, { "cmsis-pack", "src/" },
};
enum { KIND_COUNT = sizeof kinds / sizeof kinds[0] };

static const char *const lines[] = {
#define PACKAGE_FILE(name) "\f" name,     /* a form feed starts a file */
#define PACKAGE_LINE(text) text,
#include "package_text.h"
#undef PACKAGE_FILE
#undef PACKAGE_LINE
};
enum {
    LINE_COUNT = sizeof lines / sizeof *lines,
#define PACKAGE_FILE(name) +1
#define PACKAGE_LINE(text)
    MOST_FILES = 4                        /* at most this many: four files of the model, and all templates */
#include "package_text.h"
#undef PACKAGE_FILE
#undef PACKAGE_LINE
};

/* Returns the index of the kind, or -1 with a diagnostic if it is unknown. */
static int kind_of(Ctx *cx, const char *kind)
{
    const char *name[KIND_COUNT];
    Text all = text_new(cx);
    for (int i = 0; i < KIND_COUNT; i++) {
        name[i] = kinds[i].name;
        if (strcmp(kind, name[i]) == 0) return i;
        text_printf(&all, "%s%s", i ? ", " : "; use ", name[i]);
    }
    diag_usage(cx, NULL, "there is no kind of package \"%s\"%s", kind,
               text_hint(cx, kind, name, KIND_COUNT, text_string(&all)));
    return -1;
}

/* ---- Templates --------------------------------------------------------------------------------------------------- */

/* a list of files, the folders that contain them, and the values of the words in them */
typedef struct Files {
    Ctx *cx;
    const char *root;
    const Program *program;
    Settings settings;
    FileOut at[MOST_FILES]; int count;
} Files;

/* files of the owner, which are written only once */
static const char *const owned[] = { "LICENSE", "sensor.h" };

static bool is_owned(const char *path)
{
    const char *slash = strrchr(path, '/');
    for (size_t i = 0; i < sizeof owned / sizeof owned[0]; i++)
        if (strcmp(slash ? slash + 1 : path, owned[i]) == 0) return true;
    return false;
}

static const char *word_of(const Files *f, const char *word, const char *extension)
{
    const char *setting = package_setting(f->cx, &f->settings, word, extension);
    return setting ? setting : package_word(f->cx, f->program, word);
}

/* Returns the line with its words replaced. A '@' that does not begin a word is kept. */
static const char *expanded(const Files *f, const char *line, const char *extension)
{
    Text t = text_new(f->cx);
    while (*line) {
        const char *at = strchr(line, '@'), *end = at ? strchr(at + 1, '@') : NULL;
        const char *word = end ? text_format(f->cx, "%.*s", (int)(end - at - 1), at + 1) : NULL;
        const char *value = word ? word_of(f, word, extension) : NULL;
        const size_t plain = at ? (size_t)(at - line) + (value == NULL) : strlen(line);
        text_addn(&t, line, plain);
        if (value) text_add(&t, value);
        line = value ? end + 1 : line + plain;
    }
    return text_string(&t);
}

static const char *path_in(const Files *f, const char *path) { return text_format(f->cx, "%s/%s", f->root, path); }

static void add_file(Files *f, const char *path, const char *text)
{
    f->at[f->count++] = (FileOut){ .path = path_in(f, path), .bytes = text, .count = strlen(text) };
}

static bool is_there(const char *path) { return file_size(path) >= 0 && !file_is_folder(path); }

static int end_of_template(int first)
{
    while (first < LINE_COUNT && lines[first][0] != '\f') first++;
    return first;
}

/* Adds the template that begins at line `first`. */
static void add_template(Files *f, const char *path, int first)
{
    Text t = text_new(f->cx);
    const char *at = expanded(f, path, ""), *extension = path_extension(path);
    if (is_owned(path) && is_there(path_in(f, at))) return;
    for (int i = first; i < end_of_template(first); i++) {
        const char *line = expanded(f, lines[i], extension);
        if (!*line && lines[i][0]) continue;      /* a line whose word has no text is left out */
        text_add(&t, line);
        text_char(&t, '\n');
    }
    add_file(f, at, text_string(&t));
}

/* Finds the file that the template replaces. Only the end of the file's name must match, because its beginning may be a
 * setting. */
static const char *existing_manifest(const Files *f, const char *path)
{
    const char *at = expanded(f, path, ""), *end = *path == '@' ? strchr(path + 1, '@') : NULL;
    const char *rest = end ? expanded(f, end + 1, "") : NULL;
    int count = 0;
    const char *const *names = rest && file_is_folder(f->root)
        ? folder_files(f->cx, f->root, path_extension(path), &count) : NULL;
    for (int i = 0; i < count; i++)
        if (strlen(names[i]) > strlen(rest) && strcmp(names[i] + strlen(names[i]) - strlen(rest), rest) == 0)
            return path_in(f, names[i]);
    return path_in(f, at);
}

/* Reads the owner's settings from the file that the template would replace. */
static void keep_template(Files *f, const char *path, int first)
{
    const char *at = existing_manifest(f, path);
    if (!is_there(at)) return;
    const Bytes bytes = file_read(f->cx, at);
    if (ctx_failed(f->cx)) return;
    for (int i = first; i < end_of_template(first); i++)
        package_keep(f->cx, &f->settings, lines[i], (const char *)bytes.at);
}

/* Calls `visit` for each template below the folder. */
static void each_template(Files *f, const char *folder, void (*visit)(Files *f, const char *path, int first))
{
    const size_t n = strlen(folder);
    for (int i = 0; i < LINE_COUNT; i++) {
        const char *path = lines[i] + 1;
        if (lines[i][0] == '\f' && strncmp(path, folder, n) == 0 && path[n] == '/') visit(f, path + n + 1, i + 1);
    }
}

static void add_templates(Files *f, const char *kind)
{
    each_template(f, kind, keep_template);
    each_template(f, kind, add_template);
    const bool is_default = strcmp(word_of(f, "licence", ""), "0BSD") == 0;
    each_template(f, is_default ? "licence-0bsd" : "licence-other", add_template);
}

/* ---- The model --------------------------------------------------------------------------------------------------- */

/* Interprets the model on generated inputs; returns the results in the order of the program's ports. */
static bool record(Ctx *cx, const char *model, const lw_options *o, Recording *r)
{
    Build b;
    const void **inputs, **outputs;
    if (!build_read(&b, cx, model, o) || !run_interpreted(&b, NULL, 0, NULL, 1, &inputs, &outputs)) return false;
    const void **in = NEW_ARRAY(cx->arena, const void *, b.model.input_count);
    const void **out = NEW_ARRAY(cx->arena, const void *, b.model.output_count);
    const Tensor **actual = NEW_ARRAY(cx->arena, const Tensor *, b.model.output_count);
    for (int i = 0, n = 0; i < b.model.input_count; i++)
        if (build_state_of_input(&b, i) < 0) in[n++] = inputs[i];
    for (int i = 0; i < b.model.output_count - b.states.count; i++) {
        const int at = run_output_number(&b, i);
        out[i] = outputs[at];
        actual[i] = build_actual(&b, b.model.output[at]);
    }
    r->actual = actual;
    r->input = in;
    r->output = out;
    return true;
}

static void print_source(Ctx *cx, const void *source, TextPut *put, void *to) { cgen_print(cx, source, put, to); }

static void add_model(Files *f, const Recording *r, const Source *source, const char *folder)
{
    const Program *p = r->program;
    const char *stem = text_format(f->cx, "%s%s", folder, p->name);
    add_file(f, text_format(f->cx, "%s.h", stem), cgen_header(f->cx, p));
    add_file(f, text_format(f->cx, "%s_selftest.h", stem), package_selftest_header(f->cx, p));
    add_file(f, text_format(f->cx, "%s_selftest.c", stem), package_selftest(f->cx, r));
    add_file(f, text_format(f->cx, "%s.c", stem), "");
    f->at[f->count - 1].print = print_source;
    f->at[f->count - 1].what = source;
}

static bool package(Ctx *cx, const char *model, const char *kind, const char *folder, const lw_options *o)
{
    Build b;
    Recording r;
    o = options_of(cx, "lw_package", o);
    if (!o || !is_given(cx, "lw_package", "the model", model) || !is_given(cx, "lw_package", "the kind", kind) ||
        !is_given(cx, "lw_package", "the folder", folder))
        return false;
    const int row = kind_of(cx, kind);
    if (o->memory_count) diag_usage(cx, NULL, "a package has one arena; omit --memory");
    if (ctx_failed(cx)) return false;
    lw_options whole = *o;
    whole.standalone = true;
    whole.static_arena = whole.ports_in_arena = false;
    if (row < 0 || !record(cx, model, &whole, &r)) return false;
    if (!build_read(&b, cx, model, &whole) || !build_graph(&b) || !build_nests(&b) || !build_program(&b)) return false;
    if (b.program.weights.kind == WEIGHTS_CALLER || b.program.weights.kind == WEIGHTS_INCLUDED)
        diag_usage(cx, NULL, "a package does not accept --weights %s; use c|progmem|section=NAME", whole.weights);
    if (ctx_failed(cx)) return false;
    Files *f = NEW(cx->arena, Files);
    *f = (Files){ .cx = cx, .root = folder, .program = &b.program };
    package_settings(cx, &f->settings, &b.program, o);
    package_limits(cx, kind, &f->settings, &b.program);
    r.program = &b.program;
    b.program.header = text_format(cx, "%s.h", b.program.name);
    const Source source = cgen_source(cx, &b.program);
    add_model(f, &r, &source, kinds[row].sources);
    add_templates(f, kind);
    if (ctx_failed(cx)) return false;
    return folder_write(cx, f->root, f->at, f->count);
}

bool lw_package(lw_context *cx, const char *model, const char *kind, const char *folder, const lw_options *o)
{
    RETURN_GUARDED(cx, bool, false, package(cx, model, kind, folder, o));
}
