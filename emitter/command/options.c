/* SPDX-License-Identifier: MIT */
/* The table of options, and the readers of their values. */
#include "command/command.h"

#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static Reader read_output, read_dim, read_value, read_state, read_expect, read_io, read_recorded, read_tolerance,
    read_steps, read_samples, read_test, read_top, read_level;

#define FLAG_AT(field) FLAG, offsetof(Arguments, field), NULL, false, 0
#define TEXT_AT(field) TEXT, offsetof(Arguments, options.field), NULL, false, 0
#define READ_ONCE(reader) READ, 0, reader, false, 0
#define READ_EACH(reader) READ, 0, reader, true, 0

/* Options of the same commands are adjacent: the help prints a heading for each sequence of them. */
static const Option all[] = {
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

    { "--class-names", "FILE",
      "a name per line, for the macros NAME_CLASS_NAMES and NAME_CLASS_COUNT", COMPILE | QUANTIZE,
      TEXT_AT(class_names) },
    { "--stamp", NULL, "the header states the compiler's version", COMPILE | QUANTIZE, FLAG_AT(options.stamp) },
    { "--cpp", NULL, "also write MODEL.hpp, a C++11 class over MODEL.h", COMPILE | QUANTIZE, FLAG_AT(options.cpp) },
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
    { "--report", "FILE.html", "write a page with histograms, ranges and sensitivities", QUANTIZE, TEXT,
      offsetof(Arguments, quantization.report), NULL, false, 0 },
    { "--ports", "int8|int16|float",
      "inputs and outputs of the emitted function: 8 bits by default", QUANTIZE | DUMP, TEXT,
      offsetof(Arguments, quantization.ports), NULL, false, 0 },

    { "--ranges", "METHOD",
      "least|squared|min-max|percentile|divergence: ranges of inner tensors", QUANTIZE, TEXT,
      offsetof(Arguments, quantization.ranges), NULL, false, 0 },
    { "--refine", NULL, "round weights by the error of their layer over the samples; takes longer", QUANTIZE,
      FLAG_AT(quantization.refine) },
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
      "dag, gradient, fused, strategy, loops, step:N, scheduled, lowered, pass:NAME, ...",
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
const Option *const options = all;
typedef char CountsAllOptions[sizeof all / sizeof all[0] == OPTION_COUNT ? 1 : -1];

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

static bool read_steps(Arguments *a, const char *v) { return read_count(v, 1000, &a->options.steps); }

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

/* ---- Words ------------------------------------------------------------------------------------------------------- */

bool wrong(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fprintf(stderr, "loopwright: ");
    vfprintf(stderr, format, args);
    fprintf(stderr, "\n");
    va_end(args);
    return false;
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
    return wrong("%s does not accept '%s'; accepted: %s %s: %s", o->name, value, o->name,
            o->value, o->what);
}
