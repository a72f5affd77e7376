/* SPDX-License-Identifier: MIT */
/* Reads --stream. */
#include <string.h>

#include "graph/stream/stream.h"
#include "support/text.h"

/* Reads digits up to `end`. Returns -1 for other characters, or for a number above 1e9. */
static int64_t number(const char *s, const char *end)
{
    int64_t n = s < end ? 0 : -1;
    for (; s < end && n >= 0; s++) n = *s < '0' || *s > '9' || n > 100000000 ? -1 : n * 10 + (*s - '0');
    return n;
}

static int find_input(Ctx *cx, const char *text, const char *name, Tensor *const *input, int count)
{
    const char **names = NEW_ARRAY(cx->arena, const char *, count);
    for (int i = 0; i < count; i++) {
        if (text_equal(input[i]->name, name)) return i;
        names[i] = input[i]->name;
    }
    diag_error(cx, NULL, "--stream %s: there is no input \"%s\"%s", text, name,
               text_hint(cx, name, names, (size_t)count, ""));
    return -1;
}

static void check(Ctx *cx, const char *text, const Stream *s, const Tensor *x)
{
    if (s->axis < 0 || s->axis >= x->rank)
        diag_error(cx, NULL, "--stream %s: the input \"%s\" is %s and has no axis %d; use an axis of 0 to %d", text,
                   x->name, tensor_shape_text(cx, x), s->axis, x->rank - 1);
    else if (tensor_dim(x, s->axis) < 2)
        diag_error(cx, NULL, "--stream %s: axis %d of the input \"%s\", %s, has one frame; use an axis with more "
                             "frames",
                   text, s->axis, x->name, tensor_shape_text(cx, x));
    else if (s->hop < 1 || s->hop >= tensor_dim(x, s->axis))
        diag_error(cx, NULL, "--stream %s: the window has %lld frames; use a hop of 1 to %lld", text,
                   (long long)tensor_dim(x, s->axis), (long long)tensor_dim(x, s->axis) - 1);
}

Stream *stream_request(Ctx *cx, const char *text, Tensor *const *input, int input_count)
{
    const char *equals = strrchr(text, '='), *end = text + strlen(text), *dot = equals;
    Stream *s = NEW(cx->arena, Stream);
    while (dot && dot > text && dot[-1] != '.') dot--;
    const bool is_named = dot && dot > text;
    s->axis = equals ? (int)number(is_named ? dot : text, equals) : -1;
    s->hop = equals ? number(equals + 1, end) : -1;
    if (s->axis < 0 || s->hop < 0) {
        diag_error(cx, NULL, "--stream does not accept \"%s\"; use AXIS=HOP or INPUT.AXIS=HOP, like 1=1", text);
        return NULL;
    }
    if (!is_named && input_count != 1) {
        diag_error(cx, NULL, "--stream %s: the model has %d inputs; use INPUT.AXIS=HOP", text, input_count);
        return NULL;
    }
    if (is_named) s->input = find_input(cx, text, text_format(cx, "%.*s", (int)(dot - 1 - text), text), input,
                                        input_count);
    if (s->input >= 0) check(cx, text, s, input[s->input]);
    if (ctx_failed(cx)) return NULL;
    s->window = tensor_dim(input[s->input], s->axis);
    return s;
}
