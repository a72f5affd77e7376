/* SPDX-License-Identifier: MIT */
/* Values of JSON. */
#include "api/report/json.h"

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

void json_key(Text *t, const char *key, const char *value)
{
    text_printf(t, "\"%s\": ", key);
    json_text(t, value);
}

void json_shape(Ctx *cx, Text *t, const Tensor *x)
{
    text_add(t, "\"shape\": [");
    for (int d = 0; d < x->rank; d++)
        text_printf(t, "%s%lld", d ? ", " : "", (long long)interval_of(cx, x->shape[d], NULL).greatest);
    text_add(t, "]");
}

void json_scale(Text *t, const Tensor *x)
{
    if (!x->quant || x->quant->count != 1) return;
    text_add(t, ", \"scale\": ");
    text_float(t, x->quant->scale[0]);
    text_printf(t, ", \"zero_point\": %ld", (long)x->quant->zero_point[0]);
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
