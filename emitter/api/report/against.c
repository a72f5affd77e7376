/* SPDX-License-Identifier: MIT */
/* Reads the JSON of another report (--against) and compares totals with it. The text is checked to be JSON, because the
 * page and the JSON of the new report contain it unchanged. */
#include <stdlib.h>
#include <string.h>

#include "api/report/json.h"
#include "support/file.h"

enum { MOST_DEPTH = 32 };

static const char *blank(const char *s) { return s + strspn(s, " \t\r\n"); }

/* Returns the end of a string that begins at the quote, or NULL. */
static const char *string_end(const char *s)
{
    if (*s != '"') return NULL;
    for (s++; *s != '"'; s++) {
        if ((unsigned char)*s < ' ') return NULL;
        if (*s == '\\' && (!*++s || !strchr("\"\\/bfnrtu", *s))) return NULL;
        if (*s == 'u' && s[-1] == '\\' && strspn(s + 1, "0123456789abcdefABCDEF") < 4) return NULL;
    }
    return s + 1;
}

static const char *digits_end(const char *s)
{
    const size_t n = strspn(s, "0123456789");
    return n ? s + n : NULL;
}

static const char *number_end(const char *s)
{
    s += *s == '-';
    const char *end = *s == '0' ? s + 1 : digits_end(s);
    if (end && *end == '.') end = digits_end(end + 1);
    if (end && (*end == 'e' || *end == 'E')) end = digits_end(end + 1 + (end[1] == '+' || end[1] == '-'));
    return end;
}

static const char *word_end(const char *s)
{
    static const char *const words[] = { "true", "false", "null" };
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strncmp(s, words[i], strlen(words[i])) == 0) return s + strlen(words[i]);
    return number_end(s);
}

/* Returns the end of the value at s, or NULL if there is none. */
static const char *value_end(const char *s, int depth)
{
    const char close = *s == '{' ? '}' : ']';
    if (*s == '"') return string_end(s);
    if (*s != '{' && *s != '[') return word_end(s);
    if (depth == MOST_DEPTH) return NULL;
    s = blank(s + 1);
    for (bool is_first = true; *s != close; is_first = false, s = blank(s)) {
        if (!is_first && *s != ',') return NULL;
        s = is_first ? s : blank(s + 1);
        if (close == '}') {
            s = string_end(s);
            if (!s || *(s = blank(s)) != ':') return NULL;
            s = blank(s + 1);
        }
        s = value_end(s, depth + 1);
        if (!s) return NULL;
    }
    return s + 1;
}

/* Returns the value of a key in the object at s, or NULL. The text is JSON. */
static const char *value_of(const char *s, const char *key)
{
    if (*s != '{') return NULL;
    for (s = blank(s + 1); *s == '"';) {
        const char *end = string_end(s), *value = blank(blank(end) + 1);
        if ((size_t)(end - s) == strlen(key) + 2 && strncmp(s + 1, key, strlen(key)) == 0) return value;
        s = blank(value_end(value, 0));
        if (*s == ',') s = blank(s + 1);
    }
    return NULL;
}

const char *against_read(Ctx *cx, const lw_options *o)
{
    if (!o->against || ctx_failed(cx)) return NULL;
    const char *text = file_text(cx, o->against, file_read(cx, o->against));
    if (ctx_failed(cx)) return NULL;
    text = blank(text);
    const char *end = value_end(text, 0), *totals = end && !*blank(end) ? value_of(text, "totals") : NULL;
    const char *layers = totals ? value_of(text, "layers") : NULL;
    if (totals && *totals == '{' && layers && *layers == '[') return text;
    diag_error(cx, NULL, "--against \"%s\" is not a report in JSON; write one with `loopwright report MODEL -o B.json`",
               o->against);
    return NULL;
}

static void print_row(Text *t, const char *other, const char *key, const char *name, int64_t is)
{
    const char *value = value_of(value_of(other, "totals"), key);
    const double was = value ? strtod(value, NULL) : 0;
    if (!value || *value == 'n' || is < 0) return;
    text_printf(t, "%-14s %12lld %12.0f", name, (long long)is, was);
    if (was > 0 && (double)is != was) text_printf(t, " %+11.1f %%", 100 * ((double)is - was) / was);
    text_char(t, '\n');
}

void against_print(const Build *b, const Footprint *f, const char *other, Text *t)
{
    const Totals all = report_totals(b);
    if (!other) return;
    text_printf(t, "\nbeside %s\n%-14s %12s %12s %13s\n", b->options->against, "", "this", "other", "change");
    print_row(t, other, "ram", "RAM", f->ram);
    print_row(t, other, "arena", "arena", all.arena);
    print_row(t, other, "flash", "flash", f->flash);
    print_row(t, other, "weights", "constants", all.weights);
    print_row(t, other, "multiply_adds", "multiply-adds", all.macs);
    print_row(t, other, "instructions", "instructions", all.instructions);
    print_row(t, other, "cycles", "cycles", all.cycles);
}
