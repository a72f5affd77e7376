/* SPDX-License-Identifier: MIT */
/* Values of JSON. */
#include "api/report/json.h"

#include <string.h>

#include "ir/algebra/algebra.h"

void json_text(Text *t, const char *s)
{
    text_char(t, '"');
    for (; *s; s++) {
        const unsigned char c = (unsigned char)*s;
        if (c == '"' || c == '\\') text_printf(t, "\\%c", c);
        else if (c < 0x20) text_printf(t, "\\u%04x", c);
        else text_char(t, *s);
    }
    text_char(t, '"');
}

void json_next(Text *t)
{
    const char last = t->length ? text_string(t)[t->length - 1] : ' ';
    if (!strchr(" [{", last)) text_add(t, ", ");
}

void json_name(Text *t, const char *key)
{
    json_next(t);
    text_printf(t, "\"%s\": ", key);
}

void json_key(Text *t, const char *key, const char *value)
{
    json_name(t, key);
    if (value) json_text(t, value);
    else text_add(t, "null");
}

void json_line(Text *t, const char *key, const char *value)
{
    text_add(t, "  ");
    json_key(t, key, value);
    text_add(t, ",\n");
}

void json_number(Text *t, const char *key, int64_t n)
{
    json_name(t, key);
    text_printf(t, "%lld", (long long)n);
}

void json_known(Text *t, const char *key, int64_t n)
{
    if (n < 0) json_key(t, key, NULL);
    else json_number(t, key, n);
}

void json_flag(Text *t, const char *key, bool value)
{
    json_name(t, key);
    text_add(t, value ? "true" : "false");
}

void json_item(Text *t)
{
    json_next(t);
    text_char(t, '{');
}

void json_shape(Ctx *cx, Text *t, const Tensor *x)
{
    json_name(t, "shape");
    text_char(t, '[');
    for (int d = 0; d < x->rank; d++)
        text_printf(t, "%s%lld", d ? ", " : "", (long long)interval_of(cx, x->shape[d], NULL).greatest);
    text_add(t, "]");
}

void json_scale(Text *t, const Tensor *x)
{
    if (!x->quant || x->quant->count != 1) return;
    json_name(t, "scale");
    text_float(t, x->quant->scale[0]);
    json_number(t, "zero_point", x->quant->zero_point[0]);
}

void json_list(const JsonReport *r, Text *t, const char *key, int count, JsonItem *item)
{
    text_printf(t, "  \"%s\": [", key);
    for (int i = 0; i < count; i++) {
        text_add(t, i ? ",\n    {" : "\n    {");
        item(r, i, t);
        text_char(t, '}');
    }
    text_add(t, count ? "\n  ],\n" : "],\n");
}
