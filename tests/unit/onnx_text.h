/* SPDX-License-Identifier: MIT */
#ifndef ONNX_TEXT_H
#define ONNX_TEXT_H
/* An ONNX model written as a line of text, for tests: statements apart by ';'.
 *
 *   x:1,2,4              an input of these dimensions        w=1,2,4        a float initializer of these dimensions,
 *                                                                           zeros
 *   x:1,2,4:7            an input of element type 7          >y:1,4         an output, here with declared dimensions
 *   w%3,2%0,4%1.5,-2     a sparse initializer of floats: dimensions, row-major indices or coordinates, values
 *   k$3$2,1$-5,4         an initializer of element type 3 (float, uint8, int8, int32 or int64), dimensions and values
 *   s#3,-1               an initializer of these int64s      >y             an output
 *   w&1,4&FILE&8&16      a float initializer in an external file: where, offset and length; either may be left empty
 *   Conv x,w y k=1,2     a node: operator, inputs, outputs, attributes that are lists of integers; k=7! is one integer,
 *                        k=0.5~ one real number, k=1,2,0.5| real numbers, k=WORD a text, k=|A|B| texts
 *                        DOMAIN/Type is an operator of another domain
 *
 * `*N` before a node repeats it N times, '@' in it is the number of the repetition and '^' the one before. */
#include <stdlib.h>
#include <string.h>

#include "support/text.h"

typedef struct Writer { Ctx *cx; Text graph; } Writer;

static void varint(Text *t, uint64_t v)
{
    for (; v > 127; v >>= 7) text_char(t, (char)(uint8_t)(v | 128));
    text_char(t, (char)(uint8_t)v);
}

static void number_field(Text *t, int field, int64_t v)
{
    varint(t, (uint64_t)field << 3);
    varint(t, (uint64_t)v);
}

static void bytes_field(Text *t, int field, const char *at, size_t count)
{
    varint(t, (uint64_t)field << 3 | 2);
    varint(t, count);
    text_addn(t, at, count);
}

static void real_field(Text *t, int field, float v)
{
    char bytes[4];
    varint(t, (uint64_t)field << 3 | 5);
    memcpy(bytes, &v, 4);
    text_addn(t, bytes, 4);
}

static void text_field(Text *t, int field, const Text *part)
{
    bytes_field(t, field, part->at ? part->at : "", part->length);
}

/* Returns the word up to one of `stops`; *s advances past the stop. */
static const char *word(Writer *w, const char **s, const char *stops)
{
    size_t n = strcspn(*s, stops);
    const char *begin = *s, *copy = text_format(w->cx, "%.*s", (int)n, begin);
    *s += n + (begin[n] != 0);
    return copy;
}

/* `rest` is DIMENSIONS or DIMENSIONS:TYPE. An output without dimensions declares none. */
static void value(Writer *w, int field, const char *value_name, const char *rest)
{
    Text shape = text_new(w->cx), tensor = text_new(w->cx), kind = text_new(w->cx), v = text_new(w->cx);
    const char *dims = word(w, &rest, ":");
    while (*dims) {
        Text dim = text_new(w->cx);
        number_field(&dim, 1, strtoll(word(w, &dims, ","), NULL, 10));
        text_field(&shape, 1, &dim);
    }
    number_field(&tensor, 1, *rest ? strtoll(rest, NULL, 10) : 1);
    if (shape.length || field == 11) text_field(&tensor, 2, &shape);
    text_field(&kind, 1, &tensor);
    bytes_field(&v, 1, value_name, strlen(value_name));
    text_field(&v, 2, &kind);
    text_field(&w->graph, field, &v);
}

static void initializer(Writer *w, const char *tensor_name, const char *list, bool is_float)
{
    Text t = text_new(w->cx), data = text_new(w->cx);
    int64_t count = 1;
    while (*list) {
        const int64_t v = strtoll(word(w, &list, ","), NULL, 10);
        if (is_float) number_field(&t, 1, v);
        else for (int b = 0; b < 8; b++) text_char(&data, (char)(uint8_t)((uint64_t)v >> (8 * b)));
        if (is_float && v >= 0 && v < 10000) count *= v;
    }
    if (is_float) text_spaces(&data, (int)(count < 100000 ? 4 * count : 4));
    else number_field(&t, 1, (int64_t)(data.length / 8));
    number_field(&t, 2, is_float ? 1 : 7);
    bytes_field(&t, 8, tensor_name, strlen(tensor_name));
    text_field(&t, 9, &data);
    text_field(&w->graph, 5, &t);
}

/* TYPE$DIMENSIONS$VALUES: values are stored in `raw_data`, little-endian. */
static Text typed_tensor(Writer *w, const char *tensor_name, const char *s)
{
    Text t = text_new(w->cx), data = text_new(w->cx);
    const int64_t type = strtoll(word(w, &s, "$"), NULL, 10);
    const char *dims = word(w, &s, "$");
    const int bytes = type == 7 ? 8 : type == 1 || type == 6 ? 4 : 1;
    while (*dims) number_field(&t, 1, strtoll(word(w, &dims, ","), NULL, 10));
    while (*s) {
        const char *number = word(w, &s, ",");
        const float real = strtof(number, NULL);
        uint32_t bits;
        memcpy(&bits, &real, sizeof bits);
        const uint64_t v = type == 1 ? bits : (uint64_t)strtoll(number, NULL, 10);
        for (int b = 0; b < bytes; b++) text_char(&data, (char)(uint8_t)(v >> (8 * b)));
    }
    number_field(&t, 2, type);
    bytes_field(&t, 8, tensor_name, strlen(tensor_name));
    text_field(&t, 9, &data);
    return t;
}

static void typed_initializer(Writer *w, const char *tensor_name, const char *s)
{
    const Text t = typed_tensor(w, tensor_name, s);
    text_field(&w->graph, 5, &t);
}

static int count_of(const char *list)
{
    int count = *list != 0;
    for (; *list; list++) count += *list == ',';
    return count;
}

/* DIMENSIONS%INDICES%VALUES: a SparseTensorProto. */
static void sparse_initializer(Writer *w, const char *tensor_name, const char *s)
{
    Text t = text_new(w->cx);
    const char *dims = word(w, &s, "%"), *indices = word(w, &s, "%");
    const int values = count_of(s), each = values ? count_of(indices) / values : 1;
    const char *shape = each > 1 ? text_format(w->cx, "%d,%d", values, each) : text_format(w->cx, "%d", values);
    const Text value = typed_tensor(w, tensor_name, text_format(w->cx, "1$%d$%s", values, s)),
               index = typed_tensor(w, "", text_format(w->cx, "7$%s$%s", shape, indices));
    text_field(&t, 1, &value);
    text_field(&t, 2, &index);
    while (*dims) number_field(&t, 3, strtoll(word(w, &dims, ","), NULL, 10));
    text_field(&w->graph, 15, &t);
}

static void entry(Writer *w, Text *t, const char *key, const char *what)
{
    Text e = text_new(w->cx);
    bytes_field(&e, 1, key, strlen(key));
    bytes_field(&e, 2, what, strlen(what));
    if (*what) text_field(t, 13, &e);
}

static void external(Writer *w, const char *tensor_name, const char *s)
{
    Text t = text_new(w->cx);
    const char *dims = word(w, &s, "&");
    while (*dims) number_field(&t, 1, strtoll(word(w, &dims, ","), NULL, 10));
    number_field(&t, 2, 1);
    bytes_field(&t, 8, tensor_name, strlen(tensor_name));
    entry(w, &t, "location", word(w, &s, "&"));
    entry(w, &t, "offset", word(w, &s, "&"));
    entry(w, &t, "length", word(w, &s, "&"));
    number_field(&t, 14, 1);
    text_field(&w->graph, 5, &t);
}

static void node(Writer *w, const char *s)
{
    Text n = text_new(w->cx);
    const char *op = word(w, &s, " "), *in = word(w, &s, " "), *out = word(w, &s, " ");
    for (const char *part; *in && (part = word(w, &in, ",")) != NULL;) bytes_field(&n, 1, part, strlen(part));
    for (const char *part; *out && (part = word(w, &out, ",")) != NULL;) bytes_field(&n, 2, part, strlen(part));
    const char *slash = strchr(op, '/');
    if (slash) bytes_field(&n, 7, op, (size_t)(slash - op));
    if (slash) op = slash + 1;
    bytes_field(&n, 4, op, strlen(op));
    while (*s) {
        const char *attr = word(w, &s, "="), *list = word(w, &s, " ");
        const bool is_one = strchr(list, '!') != NULL, is_real = strchr(list, '~') != NULL,
                   is_text = *list == '|', is_reals = !is_text && strchr(list, '|') != NULL;
        Text a = text_new(w->cx);
        bytes_field(&a, 1, attr, strlen(attr));
        if (*list == '|')
            for (list++; *list;) {
                const char *one = word(w, &list, "|");
                bytes_field(&a, 9, one, strlen(one));
            }
        else if (is_reals) while (*list) real_field(&a, 7, strtof(word(w, &list, ",|"), NULL));
        else if (is_real) real_field(&a, 2, strtof(list, NULL));
        else if (*list >= 'A') bytes_field(&a, 4, list, strlen(list));
        else while (*list) number_field(&a, is_one ? 3 : 8, strtoll(word(w, &list, ",!"), NULL, 10));
        number_field(&a, 20, is_text ? 8 : is_reals ? 6 : is_real ? 1 : is_one ? 2 : 7);
        text_field(&n, 5, &a);
    }
    text_field(&w->graph, 1, &n);
}

static void repeated(Writer *w, const char *s)
{
    const long times = strtol(s + 1, NULL, 10);
    s += strcspn(s, " ") + 1;
    for (long i = 1; i <= times; i++) {
        Text t = text_new(w->cx);
        for (const char *c = s; *c; c++) {
            if (*c == '@') text_printf(&t, "%ld", i);
            else if (*c == '^') text_printf(&t, "%ld", i - 1);
            else text_char(&t, *c);
        }
        node(w, text_string(&t));
    }
}

static void statement(Writer *w, const char *s)
{
    const char *rest = s + strcspn(s, ":=#&$% "), *head = text_format(w->cx, "%.*s", (int)(rest - s), s);
    if (*s == '>') value(w, 12, text_format(w->cx, "%.*s", (int)(rest - s - 1), s + 1), *rest == ':' ? rest + 1 : "");
    else if (*rest == '$') typed_initializer(w, head, rest + 1);
    else if (*s == '*') repeated(w, s);
    else if (*rest == ':') value(w, 11, head, rest + 1);
    else if (*rest == '=' || *rest == '#') initializer(w, head, rest + 1, *rest == '=');
    else if (*rest == '%') sparse_initializer(w, head, rest + 1);
    else if (*rest == '&') external(w, head, rest + 1);
    else node(w, s);
}

/* The file's bytes, owned by the context, under an operator set. */
static inline Text onnx_text_of(Ctx *cx, int64_t opset_version, const char *line)
{
    Writer w = { cx, text_new(cx) };
    Text model = text_new(cx), opset = text_new(cx);
    while (*line) {
        const char *s = word(&w, &line, ";");
        statement(&w, s + strspn(s, " "));
    }
    number_field(&opset, 2, opset_version);
    text_field(&model, 8, &opset);
    text_field(&model, 7, &w.graph);
    return model;
}

static inline Text onnx_text(Ctx *cx, const char *line) { return onnx_text_of(cx, 17, line); }

#endif
