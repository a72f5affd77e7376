/* SPDX-License-Identifier: MIT */
/* The options that change results of the emitted code or its interface, as one line of words for the header: in the
 * order of the table, independent of the order in which they were given. Files are named without their folders.
 * Schedules, --combine and --no-shrink are left out: they change no result, and a dumped schedule that is fed back
 * gives the same files. */
#include <stddef.h>
#include <string.h>

#include "driver/driver.h"
#include "support/names.h"
#include "support/text.h"

typedef enum Sort { FLAG, WORD, PATH } Sort;
typedef struct Row { const char *name; Sort sort; size_t at; } Row;

#define ROW(name, sort, field) { name, sort, offsetof(lw_options, field) }
static const Row rows[] = {
    ROW("--gradient", WORD, gradient),       ROW("--train", WORD, train),
    ROW("--checkpoint", WORD, checkpoint),   ROW("--stream", WORD, stream),
    ROW("--annotate", PATH, annotate),       ROW("--rounding", WORD, rounding), ROW("--qdq", WORD, qdq),
    ROW("--float", WORD, floats),            ROW("--hybrid", WORD, hybrid),
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
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) add_row(&t, o, &rows[i]);
    return text_string(&t);
}
