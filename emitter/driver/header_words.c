/* SPDX-License-Identifier: MIT */
/* Prints words of the header: the options of the emission, the names of ports and classes, the strings of the model. */
#include <stddef.h>
#include <string.h>

#include "driver/driver.h"
#include "support/file.h"
#include "support/names.h"
#include "support/text.h"

/* ---- Options ----------------------------------------------------------------------------------------------------- */

/* Lists the options that change the results or the interface of the emitted code, as one line of the header. The
 * options are in the order of the table, not of the command line. Files are named without their folders. Schedules,
 * --combine and --no-shrink are omitted, because they do not change any result, and a dumped schedule that is read
 * again gives the same files. */
typedef enum Sort { FLAG, WORD, PATH } Sort;
typedef struct Row { const char *name; Sort sort; size_t at; } Row;

#define ROW(name, sort, field) { name, sort, offsetof(lw_options, field) }
static const Row rows[] = {
    ROW("--gradient", WORD, gradient),       ROW("--train", WORD, train),
    ROW("--checkpoint", WORD, checkpoint),   ROW("--stream", WORD, stream),
    ROW("--annotate", PATH, annotate),       ROW("--rounding", WORD, rounding), ROW("--qdq", WORD, qdq),
    ROW("--float", WORD, floats),            ROW("--hybrid", WORD, hybrid),
    ROW("--extern", WORD, external),         ROW("--signature", WORD, signature),
    ROW("--weights", WORD, weights),
    ROW("--layers", FLAG, layers),           ROW("--io arena", FLAG, ports_in_arena),
    ROW("--static-arena", FLAG, static_arena), ROW("--standalone", FLAG, standalone),
    ROW("--profile", FLAG, profile),         ROW("--acsl", FLAG, acsl),
    ROW("--check-inputs", WORD, check_inputs),
};

static void word(Text *t, const char *option, const char *value)
{
    const char *quote = value && strchr(value, ' ') ? "'" : "";
    text_printf(t, "%s%s%s%s%s%s", t->length ? " " : "", option, value ? " " : "", quote, value ? value : "", quote);
}

static const char *without_folder(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static void add_row(Text *t, const lw_options *o, const Row *row)
{
    const char *field = (const char *)o + row->at;
    const char *value = row->sort == FLAG ? NULL : *(const char *const *)(const void *)field;
    const bool is_said = o->ports_memory && row->at == offsetof(lw_options, ports_in_arena);
    if (row->sort == FLAG && *(const bool *)(const void *)field && !is_said) word(t, row->name, NULL);
    if (value) word(t, row->name, row->sort == PATH ? without_folder(value) : value);
}

static void add_dim(Ctx *cx, Text *t, const lw_dim *d)
{
    const char *least = d->is_maximum && d->least ? text_format(cx, "%lld<=", (long long)d->least) : "";
    word(t, "--dim", text_format(cx, "%s%s%s=%lld", least, d->name, d->is_maximum ? "<" : "", (long long)d->value));
}

static void add_adapts(Ctx *cx, Text *t, const char *option, const lw_adapt *row, int count)
{
    for (int i = 0; i < count; i++) word(t, option, text_format(cx, "%s=%s", row[i].port, row[i].as));
}

const char *build_option_words(Ctx *cx, const lw_options *o)
{
    Text t = text_new(cx);
    for (int i = 0; i < o->dim_count; i++) add_dim(cx, &t, &o->dim[i]);
    for (int i = 0; i < o->value_count; i++)
        word(&t, "--value", text_format(cx, "%s=%s", o->value[i].name, without_folder(o->value[i].path)));
    for (int i = 0; i < o->state_count; i++)
        word(&t, "--state", text_format(cx, "%s=%s", o->state[i].input, o->state[i].output));
    for (int i = 0; i < o->rename_count; i++)
        word(&t, "--rename", text_format(cx, "%s=%s", o->rename[i].port, o->rename[i].name));
    for (int i = 0; i < o->memory_count; i++) {
        const char *given = o->memory[i];
        word(&t, "--memory", *given == '@' ? text_format(cx, "@%s", without_folder(given + 1)) : given);
    }
    if (o->ports_memory) word(&t, "--io", o->ports_memory);
    for (int i = 0; i < o->from_count; i++) word(&t, "--from", o->from[i]);
    for (int i = 0; i < o->to_count; i++) word(&t, "--to", o->to[i]);
    add_adapts(cx, &t, "--layout", o->layout, o->layout_count);
    add_adapts(cx, &t, "--preprocess", o->preprocess, o->preprocess_count);
    add_adapts(cx, &t, "--postprocess", o->postprocess, o->postprocess_count);
    for (int i = 0; i < o->selftest_count; i++) word(&t, "--selftest", without_folder(o->selftest[i]));
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) add_row(&t, o, &rows[i]);
    if (o->cores > 1) word(&t, "--cores", text_format(cx, "%d", o->cores));
    return text_string(&t);
}

const char *build_report_words(Ctx *cx, const lw_options *o)
{
    Text t = text_new(cx);
    text_add(&t, build_option_words(cx, o));
    if (o->ram) word(&t, "--ram", text_format(cx, "%lld", (long long)o->ram));
    if (o->combine) word(&t, "--combine", o->combine);
    if (o->optimize) word(&t, "--optimize", o->optimize);
    if (o->portable) word(&t, "--portable", o->portable);
    return text_string(&t);
}

/* ---- Names of ports ---------------------------------------------------------------------------------------------- */

/* --rename PORT=NAME: a port is found by its name in the file, or otherwise by its identifier in the header. The new
 * name is used verbatim, so names that C reserves, and names of other ports and sizes, are refused. Macros are in
 * capital letters, so names that differ only in case are also refused. */
typedef struct Ports { int count; const Tensor **tensor; } Ports;

/* Returns the inputs, and the outputs that are not a state: the ports with names in the header. */
static Ports named_ports(const Build *b)
{
    Ports p = { 0, NEW_ARRAY(b->cx->arena, const Tensor *, b->model.input_count + b->graph.output_count) };
    for (int i = 0; i < b->model.input_count; i++) p.tensor[p.count++] = b->graph.input[i];
    for (int i = 0; i < b->graph.output_count; i++)
        if (build_state_of_output(b, i) < 0) p.tensor[p.count++] = b->model.output[i];
    return p;
}

/* Returns true if the row's word is the port's name in the file. */
static bool is_in_file(const Build *b, const lw_rename *row)
{
    const Ports p = named_ports(b);
    for (int i = 0; i < p.count; i++)
        if (text_equal(p.tensor[i]->name, row->port)) return true;
    return false;
}

static bool is_for(const Build *b, const lw_rename *row, const Tensor *t)
{
    return text_equal(is_in_file(b, row) ? t->name : name_unprefixed(b->cx, t->name), row->port);
}

const char *build_port_name(const Build *b, const Tensor *t)
{
    for (int i = 0; i < b->options->rename_count; i++)
        if (is_for(b, &b->options->rename[i], t)) return b->options->rename[i].name;
    return name_unprefixed(b->cx, t->name);
}

static void refuse_unknown(const Build *b, const lw_rename *row)
{
    const Ports p = named_ports(b);
    const char **names = NEW_ARRAY(b->cx->arena, const char *, p.count);
    Text all = text_new(b->cx);
    for (int i = 0; i < p.count; i++) {
        names[i] = p.tensor[i]->name;
        text_printf(&all, "%s\"%s\"", i ? ", " : "", names[i]);
    }
    const char *accepted = text_format(b->cx, "; use %s", text_string(&all));
    diag_error(b->cx, NULL, "--rename %s=%s: there is no input or output \"%s\"%s", row->port, row->name, row->port,
               text_hint(b->cx, row->port, names, (size_t)p.count, accepted));
}

static bool same_macro(Ctx *cx, const char *a, const char *b)
{
    return text_equal(name_upper(cx, a), name_upper(cx, b));
}

/* Refuses the port's new name if another port or a size has this name. */
static void check_name(const Build *b, const lw_rename *row, const Tensor *own)
{
    Ctx *cx = b->cx;
    const Ports p = named_ports(b);
    for (int i = 0; i < p.count && !ctx_failed(cx); i++)
        if (p.tensor[i] != own && same_macro(cx, row->name, build_port_name(b, p.tensor[i])))
            diag_error(cx, NULL, "--rename %s=%s: \"%s\" has that name in the header; its macros would be the same",
                       row->port, row->name, p.tensor[i]->name);
    for (int i = 0; i < b->program.size_count && !ctx_failed(cx); i++)
        if (same_macro(cx, row->name, expr_as_var(b->program.size[i])->name))
            diag_error(cx, NULL, "--rename %s=%s: an open dimension has that name", row->port, row->name);
}

static void check_row(const Build *b, const lw_rename *row)
{
    Ctx *cx = b->cx;
    const Ports p = named_ports(b);
    bool is_found = false;
    if (name_unprefixed(cx, row->name) != name(cx, row->name))
        diag_error(cx, NULL, "--rename %s=%s: \"%s\" is not a name that C leaves free; use letters, digits and '_', "
                   "not a digit first, no word of C, C++ or their headers; \"%s\" is free", row->port, row->name,
                   row->name, name_unprefixed(cx, row->name));
    for (int i = 0; i < p.count && !ctx_failed(cx); i++)
        if (is_for(b, row, p.tensor[i])) {
            check_name(b, row, p.tensor[i]);
            is_found = true;
        }
    if (!is_found && !ctx_failed(cx)) refuse_unknown(b, row);
    for (const lw_rename *other = b->options->rename; other < row && !ctx_failed(cx); other++)
        for (int i = 0; i < p.count; i++)
            if (is_for(b, row, p.tensor[i]) && is_for(b, other, p.tensor[i]))
                diag_error(cx, NULL, "\"%s\" is given twice with --rename", row->port);
}

void build_check_renames(const Build *b)
{
    for (int i = 0; i < b->options->rename_count && !ctx_failed(b->cx); i++) check_row(b, &b->options->rename[i]);
}

/* ---- Classes ----------------------------------------------------------------------------------------------------- */

/* --class-names FILE has one name per line, one for each element of the last axis of an output. Without the option, the
 * header has the names that the model's file declares. */
/* Returns the first output with `count` elements on its last axis, or -1 if there is none. */
static int output_of_classes(const Program *p, int count)
{
    for (int i = 0; i < p->output_count; i++) {
        const Tensor *t = p->output[i].tensor;
        const Expr *last = t->rank ? t->shape[t->rank - 1] : NULL;
        if (last && expr_is_int(last, count)) return i;
    }
    return -1;
}

static const char *outputs_text(Ctx *cx, const Program *p)
{
    Text t = text_new(cx);
    for (int i = 0; i < p->output_count; i++)
        text_printf(&t, "%s%s %s", i ? ", " : "", p->output[i].name, tensor_shape_names(cx, p->output[i].tensor));
    return text_string(&t);
}

static void names_of_model(Build *b)
{
    Program *p = &b->program;
    p->classes.output = output_of_classes(p, b->model.class_count);
    if (!b->model.class_count || p->classes.output < 0) return;
    p->classes.count = b->model.class_count;
    p->classes.name = b->model.class_name;
}

static bool same_names(int count, const char *const *a, const char *const *b)
{
    for (int i = 0; i < count; i++)
        if (strcmp(a[i], b[i]) != 0) return false;
    return true;
}

static void strings_of_model(Build *b)
{
    Program *p = &b->program;
    const Model *m = &b->model;
    if (m->string_count == p->classes.count && same_names(p->classes.count, m->string, p->classes.name)) return;
    p->strings.count = m->string_count;
    p->strings.at = m->string;
    p->strings.ports = m->string_ports;
}

static void names_of_classes(Build *b)
{
    Ctx *cx = b->cx;
    Program *p = &b->program;
    const char *path = b->options->class_names;
    if (!path) names_of_model(b);
    if (!path || ctx_failed(cx)) return;
    const char *text = file_text(cx, path, file_read(cx, path));
    if (ctx_failed(cx)) return;
    const char *const *name;
    const int count = text_lines(cx, text, &name);
    p->classes.output = output_of_classes(p, count);
    if (p->classes.output < 0)
        diag_error(cx, path, "%d names of classes are given, but no output has this many elements on its last axis: %s",
                             count,
                   outputs_text(cx, p));
    p->classes.count = count;
    p->classes.name = name;
}

void build_class_names(Build *b)
{
    names_of_classes(b);
    if (!ctx_failed(b->cx)) strings_of_model(b);
}
