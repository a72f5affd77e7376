/* SPDX-License-Identifier: MIT */
/* Holds the table of options, and the readers of their values. */
#include "command/command.h"

#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static Reader read_output, read_dim, read_value, read_state, read_expect, read_io, read_recorded, read_tolerance,
    read_schedule, read_steps, read_rename, read_samples, read_selftest, read_test, read_top, read_level, read_ram,
    read_flash, read_mhz, read_timeout, read_memory, read_from, read_to, read_layout, read_preprocess,
    read_postprocess, read_cores;

#define FLAG_AT(field) FLAG, offsetof(Arguments, field), NULL, false, 0
#define TEXT_AT(field) TEXT, offsetof(Arguments, options.field), NULL, false, 0
#define READ_ONCE(reader) READ, 0, reader, false, 0
#define READ_EACH(reader) READ, 0, reader, true, 0

static const Option all[] = {
#define OPTION(...) { __VA_ARGS__ },
#include "command/options.def"
};
const Option *const options = all;

/* ---- Values of options ------------------------------------------------------------------------------------------ */

/* Appends a file's name. Refuses an empty value, and more files than the command accepts. */
static bool read_file(const char *v, const char **files, int *count)
{
    return *v && *count < MOST_FILES && (files[(*count)++] = v);
}

static bool read_output(Arguments *a, const char *v) { return read_file(v, a->output, &a->output_count); }
static bool read_expect(Arguments *a, const char *v) { return read_file(v, a->expect, &a->expect_count); }
static bool read_test(Arguments *a, const char *v) { return read_file(v, a->test, &a->evaluation.sample_count); }
static bool read_selftest(Arguments *a, const char *v)
{
    return read_file(v, a->selftest, &a->options.selftest_count);
}
static bool read_schedule(Arguments *a, const char *v) { return read_file(v, a->schedule, &a->options.schedule_count); }
static bool read_memory(Arguments *a, const char *v) { return read_file(v, a->memory, &a->options.memory_count); }
static bool read_from(Arguments *a, const char *v) { return read_file(v, a->from, &a->options.from_count); }
static bool read_to(Arguments *a, const char *v) { return read_file(v, a->to, &a->options.to_count); }
static bool read_samples(Arguments *a, const char *v)
{
    return read_file(v, a->samples, &a->quantization.sample_count);
}

/* Reads a number from 1 to `most`. */
static bool read_count(const char *v, long most, int *to)
{
    char *end;
    const long n = strtol(v, &end, 10);
    *to = (int)n;
    return *v && !*end && n >= 1 && n <= most;
}

static bool read_top(Arguments *a, const char *v) { return read_count(v, 1000, &a->evaluation.top); }

static bool read_io(Arguments *a, const char *v)
{
    a->options.ports_in_arena = strcmp(v, "caller") != 0;
    a->options.ports_memory = a->options.ports_in_arena && strcmp(v, "arena") != 0 ? v : NULL;
    return *v != 0;
}

/* Recorded layers have all their channels, so the option disables shrinking. */
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

static bool read_cores(Arguments *a, const char *v) { return read_count(v, 8, &a->options.cores); }
static bool read_steps(Arguments *a, const char *v) { return read_count(v, 1000, &a->options.steps); }

/* Reads bytes such as 8192 or 8K. */
static bool read_bytes(const char *v, int64_t *out)
{
    char *end;
    const long long n = strtoll(v, &end, 10);
    const bool is_kilo = *end == 'K' || *end == 'k', is_mega = *end == 'M' || *end == 'm', is_small = n <= INT32_MAX;
    *out = is_small ? n * (is_kilo ? 1024 : is_mega ? 1024 * 1024 : 1) : -1;
    return end != v && !end[is_kilo || is_mega] && *out >= 1 && *out <= INT32_MAX;
}

static bool read_ram(Arguments *a, const char *v) { return read_bytes(v, &a->options.ram); }
static bool read_flash(Arguments *a, const char *v) { return read_bytes(v, &a->quantization.flash); }

static bool read_mhz(Arguments *a, const char *v)
{
    char *end;
    const double mhz = strtod(v, &end);
    a->options.mhz = mhz;
    return *v && !*end && mhz >= 0.001 && mhz <= 100000;
}

static bool read_timeout(Arguments *a, const char *v)
{
    char *end;
    const double seconds = strtod(v, &end);
    a->options.timeout = seconds;
    return *v && !*end && seconds > 0 && seconds <= 1e6;
}

static bool read_level(Arguments *a, const char *v) { return read_count(v, 11, &a->level); }

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
    const char *equals = strrchr(v, '=');                        /* a name of the file may contain '=' and '<' */
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

/* Returns the name of NAME=REST; stores the text after the '=' in *rest. NULL for another form. */
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

static bool read_adapt(Arguments *a, const char *v, lw_adapt *rows, int *count)
{
    const char *rest, *port = read_pair(a, v, *count, &rest);
    if (port) rows[(*count)++] = (lw_adapt){ port, rest };
    return port != NULL;
}

static bool read_layout(Arguments *a, const char *v) { return read_adapt(a, v, a->layout, &a->options.layout_count); }
static bool read_preprocess(Arguments *a, const char *v)
{
    return read_adapt(a, v, a->preprocess, &a->options.preprocess_count);
}
static bool read_postprocess(Arguments *a, const char *v)
{
    return read_adapt(a, v, a->postprocess, &a->options.postprocess_count);
}

static bool read_rename(Arguments *a, const char *v)
{
    const char *rest, *port = read_pair(a, v, a->options.rename_count, &rest);
    if (port) a->rename[a->options.rename_count++] = (lw_rename){ port, rest };
    return port != NULL;
}

/* ---- Words ------------------------------------------------------------------------------------------------------- */

bool wrong(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fprintf(stderr, "error: ");
    vfprintf(stderr, format, args);
    fprintf(stderr, "\n");
    va_end(args);
    return false;
}

/* Options of other programs, each with Loopwright's option for the same purpose. */
static const struct { const char *word, *option; } habits[] = {
    { "--tuning", "--schedule" },
    { "-t", "--target" }, { "-n", "--name" }, { "-O", "--optimize" }, { "-q", "--quiet" }, { "--silent", "--quiet" },
    { "-Werror", "--werror" }, { "-W", "--werror" }, { "-V", "--version" }, { "--output", "-o" },
    { "--out", "-o" }, { "--json", "-o FILE.json" }, { "--html", "-o FILE.html" }, { "--csv", "-o FILE.csv" },
    { "--format", "-o FILE.json, .html or .csv" },
};

static const char *nearest_option(const Arguments *a, const char *word)
{
    for (size_t i = 0; i < sizeof habits / sizeof habits[0]; i++)
        if (strcmp(habits[i].word, word) == 0) return habits[i].option;
    const char *names[OPTION_COUNT];
    for (int i = 0; i < OPTION_COUNT; i++) names[i] = options[i].name;
    return lw_nearest(a->cx, word, names, OPTION_COUNT);
}

/* Returns the option of the word. Stores its value in *value if the value is in the same word, after '=' or the
 * letter. */
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
    wrong("there is no option '%s'; %s%s%s", name ? name : word, near ? "did you mean '" : "see loopwright --help",
          near ? near : "", near ? "'?" : "");
    return NULL;
}

/* Returns true if the word is an option rather than the value of the option before it. */
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

bool read_option(Arguments *a, int *given, char **argv, int argc, int *i)
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
    return wrong("%s does not accept \"%s\"; use %s %s: %s", o->name, value, o->name,
            o->value, o->what);
}
