/* SPDX-License-Identifier: MIT */
/* Words of the header: the options of the emission, the names of the classes, the strings of the model. */
#include <stddef.h>
#include <string.h>

#include "driver/driver.h"
#include "support/file.h"
#include "support/names.h"
#include "support/text.h"

/* ---- Options ----------------------------------------------------------------------------------------------------- */

/* The options that change results of the emitted code or its interface, as one line of words for the header: in the
 * order of the table, independent of the order in which they were given. Files are named without their folders.
 * Schedules, --combine and --no-shrink are left out: they change no result, and a dumped schedule that is fed back
 * gives the same files. */
typedef enum Sort { FLAG, WORD, PATH } Sort;
typedef struct Row { const char *name; Sort sort; size_t at; } Row;

#define ROW(name, sort, field) { name, sort, offsetof(lw_options, field) }
static const Row rows[] = {
    ROW("--gradient", WORD, gradient),       ROW("--train", WORD, train),
    ROW("--checkpoint", WORD, checkpoint),   ROW("--stream", WORD, stream),
    ROW("--annotate", PATH, annotate),       ROW("--rounding", WORD, rounding), ROW("--qdq", WORD, qdq),
    ROW("--float", WORD, floats),            ROW("--hybrid", WORD, hybrid),
    ROW("--extern", WORD, external),
    ROW("--weights", WORD, weights),
    ROW("--layers", FLAG, layers),           ROW("--io arena", FLAG, ports_in_arena),
    ROW("--static-arena", FLAG, static_arena), ROW("--standalone", FLAG, standalone),
    ROW("--profile", FLAG, profile),
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
    if (row->sort == FLAG && *(const bool *)(const void *)field) word(t, row->name, NULL);
    if (value) word(t, row->name, row->sort == PATH ? without_folder(value) : value);
}

static void add_dim(Ctx *cx, Text *t, const lw_dim *d)
{
    const char *least = d->is_maximum && d->least ? text_format(cx, "%lld<=", (long long)d->least) : "";
    word(t, "--dim", text_format(cx, "%s%s%s=%lld", least, d->name, d->is_maximum ? "<" : "", (long long)d->value));
}

const char *build_option_words(Ctx *cx, const lw_options *o)
{
    Text t = text_new(cx);
    for (int i = 0; i < o->dim_count; i++) add_dim(cx, &t, &o->dim[i]);
    for (int i = 0; i < o->value_count; i++)
        word(&t, "--value", text_format(cx, "%s=%s", o->value[i].name, without_folder(o->value[i].path)));
    for (int i = 0; i < o->state_count; i++)
        word(&t, "--state", text_format(cx, "%s=%s", o->state[i].input, o->state[i].output));
    for (int i = 0; i < o->selftest_count; i++) word(&t, "--selftest", without_folder(o->selftest[i]));
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) add_row(&t, o, &rows[i]);
    return text_string(&t);
}

/* ---- Classes ----------------------------------------------------------------------------------------------------- */

/* --class-names FILE: a name per line, as many as the last axis of an output has elements. Without the option, the
 * names that the model's file declares. */
/* Returns the first output with `count` elements on its last axis, -1: none. */
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
        text_printf(&t, "%s%s %s", i ? ", " : "", p->output[i].name, tensor_shape_text(cx, p->output[i].tensor));
    return text_string(&t);
}

static void names_of_model(Build *b)
{
    Program *p = &b->program;
    p->class_output = output_of_classes(p, b->model.class_count);
    if (!b->model.class_count || p->class_output < 0) return;
    p->class_count = b->model.class_count;
    p->class_name = b->model.class_name;
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
    if (m->string_count == p->class_count && same_names(p->class_count, m->string, p->class_name)) return;
    p->string_count = m->string_count;
    p->string = m->string;
    p->string_ports = m->string_ports;
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
    p->class_output = output_of_classes(p, count);
    if (p->class_output < 0)
        diag_error(cx, path, "%d names of classes; no output has as many elements on its last axis: %s", count,
                   outputs_text(cx, p));
    p->class_count = count;
    p->class_name = name;
}

void build_class_names(Build *b)
{
    names_of_classes(b);
    if (!ctx_failed(b->cx)) strings_of_model(b);
}
