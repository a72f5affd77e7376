/* SPDX-License-Identifier: MIT */
#include "support/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

Text text_new(Ctx *cx) { return (Text){ cx->arena, NULL, 0, 0 }; }

static void reserve(Text *t, size_t more)
{
    if (t->length + more + 1 <= t->capacity) return;
    size_t capacity = t->capacity ? t->capacity : 64;
    while (capacity < t->length + more + 1) capacity *= 2;
    t->at = arena_resize(t->arena, t->at, t->capacity, capacity);
    t->capacity = capacity;
}

void text_addn(Text *t, const char *s, size_t n)
{
    reserve(t, n);
    if (n) memcpy(t->at + t->length, s, n);
    t->length += n;
    t->at[t->length] = 0;
}

void text_put(void *to, const char *s, size_t n) { text_addn(to, s, n); }
void text_add(Text *t, const char *s) { text_addn(t, s, strlen(s)); }
void text_char(Text *t, char c) { text_addn(t, &c, 1); }

void text_spaces(Text *t, int n)
{
    while (n-- > 0) text_char(t, ' ');
}

void text_escaped(Text *t, const char *s)
{
    for (; *s; s++)
        if (*s == '"' || *s == '\\' || *s == '?') text_printf(t, "\\%c", *s);
        else if (*s < ' ' || *s > '~') text_printf(t, "\\%03o", (unsigned)(unsigned char)*s);
        else text_char(t, *s);
}

static void add_formatted(Text *t, const char *format, va_list args)
{
    va_list again;
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, format, args);
    if (n > 0) {
        reserve(t, (size_t)n);
        vsnprintf(t->at + t->length, (size_t)n + 1, format, again);
        t->length += (size_t)n;
    }
    va_end(again);
}

void text_printf(Text *t, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    add_formatted(t, format, args);
    va_end(args);
}

/* Ends the text. A short text is then mostly complete, so its free capacity is returned. A long text may grow on. */
const char *text_string(Text *t)
{
    enum { SHORT = 256 };
    reserve(t, 0);
    t->at[t->length] = 0;
    if (t->length >= SHORT) return t->at;
    t->at = arena_resize(t->arena, t->at, t->capacity, t->length + 1);
    t->capacity = t->length + 1;
    return t->at;
}

const char *text_vformat(Ctx *cx, const char *format, va_list args)
{
    Text t = text_new(cx);
    add_formatted(&t, format, args);
    return text_string(&t);
}

const char *text_format(Ctx *cx, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const char *s = text_vformat(cx, format, args);
    va_end(args);
    return s;
}

/* Formats d with `precision` digits after the first, as printf's %e, but with '.' in any locale. */
static void scientific(char *out, size_t size, int precision, double d)
{
    snprintf(out, size, "%.*e", precision, d);
    for (char *c = out; *c; c++)
        if (*c != '-' && *c != '+' && *c != 'e' && (*c < '0' || *c > '9')) *c = '.';
}

/* Appends d.ddde+xx without redundant characters: plain notation for small exponents, no trailing zeros. */
static void add_shortened(Text *t, const char *sci)
{
    char digits[32];
    int n = 0, exponent = 0;
    if (*sci == '-') text_char(t, *sci++);
    for (; *sci && *sci != 'e'; sci++)
        if (*sci != '.') digits[n++] = *sci;
    if (*sci == 'e') exponent = atoi(sci + 1);
    while (n > 1 && digits[n - 1] == '0') n--;
    if (exponent >= -5 && exponent < 0) {
        text_add(t, "0.");
        for (int i = -1; i > exponent; i--) text_char(t, '0');
        text_addn(t, digits, (size_t)n);
    } else if (exponent >= 0 && exponent < 16) {
        for (int i = 0; i <= exponent; i++) text_char(t, i < n ? digits[i] : '0');
        text_char(t, '.');
        if (n > exponent + 1) text_addn(t, digits + exponent + 1, (size_t)(n - exponent - 1));
        else text_char(t, '0');
    } else {
        text_char(t, digits[0]);
        if (n > 1) text_char(t, '.');
        text_addn(t, digits + 1, (size_t)(n - 1));
        text_printf(t, "e%d", exponent);
    }
}

static bool add_special(Text *t, double d)
{
    if (d != d) text_add(t, "nan");
    else if (d - d != 0) text_add(t, d > 0 ? "inf" : "-inf");
    else return false;
    return true;
}

void text_float(Text *t, float f)
{
    char sci[64];
    if (add_special(t, (double)f)) return;
    /* If n digits round-trip, n + 1 digits do as well, so the search starts at the usual length. */
    int precision = 7;
    scientific(sci, sizeof sci, precision, (double)f);
    if (text_read_float(sci, NULL) != f) scientific(sci, sizeof sci, 8, (double)f);
    else
        for (char shorter[64]; precision > 0; memcpy(sci, shorter, sizeof sci)) {
            scientific(shorter, sizeof shorter, --precision, (double)f);
            if (text_read_float(shorter, NULL) != f) break;
        }
    add_shortened(t, sci);
}

void text_double(Text *t, double d)
{
    char sci[64];
    if (add_special(t, d)) return;
    for (int precision = 0; precision <= 16; precision++) {
        scientific(sci, sizeof sci, precision, d);
        if (precision == 16 || text_read_double(sci, NULL) == d) break;
    }
    add_shortened(t, sci);
}

/* Copies s with the locale's decimal point, which strtod and strtof require; both functions round correctly. */
static void localized(const char *s, char *out, size_t size)
{
    char half[8];
    size_t n = 0;
    snprintf(half, sizeof half, "%.1f", 0.5);
    const char point = half[1];           /* because localeconv is not safe with several threads */
    for (; s[n] && n + 1 < size; n++) out[n] = s[n] == '.' ? point : s[n];
    out[n] = 0;
}

double text_read_double(const char *s, const char **end)
{
    char local[128], *stop;
    localized(s, local, sizeof local);
    double d = strtod(local, &stop);
    if (end) *end = s + (stop - local);
    return d;
}

float text_read_float(const char *s, const char **end)
{
    char local[128], *stop;
    localized(s, local, sizeof local);
    float f = strtof(local, &stop);
    if (end) *end = s + (stop - local);
    return f;
}

bool text_equal(const char *a, const char *b) { return a == b || (a && b && strcmp(a, b) == 0); }

static size_t least(size_t a, size_t b) { return a < b ? a : b; }

/* Returns the edit distance in which an exchange of neighbours is one edit ("optimal string alignment"). Each row
 * depends on the two rows above. */
static size_t distance(Ctx *cx, const char *a, const char *b)
{
    const size_t n = strlen(b);
    size_t *before = NEW_ARRAY(cx->arena, size_t, n + 1), *above = NEW_ARRAY(cx->arena, size_t, n + 1);
    size_t *row = NEW_ARRAY(cx->arena, size_t, n + 1);
    for (size_t j = 0; j <= n; j++) row[j] = j;
    for (size_t i = 1; a[i - 1]; i++) {
        size_t *oldest = before;
        before = above;
        above = row;
        row = oldest;
        row[0] = i;
        for (size_t j = 1; j <= n; j++) {
            row[j] = least(least(above[j], row[j - 1]) + 1, above[j - 1] + (a[i - 1] != b[j - 1]));
            const bool are_exchanged = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
            if (are_exchanged) row[j] = least(row[j], before[j - 2] + 1);
        }
    }
    return row[n];
}

/* Returns the most edits: two, and fewer for short words, because any two words of three letters are within two
 * edits. */
static size_t most_edits(size_t length) { return length > 80 ? 0 : least((length + 1) / 3, 2); }

const char *text_nearest(Ctx *cx, const char *word, const char *const *candidates, size_t count)
{
    const char *best = NULL;
    const size_t length = strlen(word);
    size_t limit = most_edits(length);
    for (size_t i = 0; i < count && limit; i++) {
        const size_t other = strlen(candidates[i]);
        if (other > length + limit || length > other + limit) continue;
        const size_t d = distance(cx, word, candidates[i]);
        if (d > limit) continue;
        best = candidates[i];
        limit = d ? d - 1 : 0;       /* ties keep the first candidate */
    }
    return best;
}

bool text_has_word(const char *list, const char *word)
{
    size_t n = strlen(word);
    for (const char *at = strstr(list, word); at; at = strstr(at + 1, word))
        if ((at == list || at[-1] == ' ') && (!at[n] || at[n] == ' ')) return true;
    return false;
}

const char *text_hint(Ctx *cx, const char *word, const char *const *candidates, size_t count, const char *otherwise)
{
    const char *near = text_nearest(cx, word, candidates, count);
    return near ? text_format(cx, "; did you mean '%s'?", near) : otherwise;
}

/* ---- Lines ------------------------------------------------------------------------------------------------------- */

/* Returns the length of the line without the blanks at its end. */
static size_t line_length(const char *line, size_t n)
{
    while (n && (line[n - 1] == '\r' || line[n - 1] == ' ' || line[n - 1] == '\t')) n--;
    return n;
}

static int lines_of(Ctx *cx, const char *text, const char **line)
{
    int count = 0;
    while (*text) {
        const size_t n = strcspn(text, "\n"), used = line_length(text, n);
        if (used && line) line[count] = text_format(cx, "%.*s", (int)used, text);
        count += used > 0;
        text += n + (text[n] != '\0');
    }
    return count;
}

const char *text_shortened(Ctx *cx, const char *text, int most)
{
    const int length = (int)strlen(text), first = (most - 3) / 2, last = most - 3 - first;
    return length <= most ? text : text_format(cx, "%.*s...%s", first, text, text + length - last);
}

int text_lines(Ctx *cx, const char *text, const char *const **lines)
{
    const int count = lines_of(cx, text, NULL);
    const char **line = NEW_ARRAY(cx->arena, const char *, count);
    lines_of(cx, text, line);
    *lines = line;
    return count;
}

/* ---- What a terminal shows --------------------------------------------------------------------------------------- */

/* Returns the bytes of the character at s, in UTF-8, or 0 if they are not a character or are a control character. */
static size_t visible_bytes(const unsigned char *s, const unsigned char *end, bool has_lines)
{
    if (*s < 0x80) return (*s >= ' ' && *s != 0x7f) || (has_lines && (*s == '\n' || *s == '\t'));
    const size_t count = *s < 0xc2 || *s > 0xf4 ? 0 : *s < 0xe0 ? 2 : *s < 0xf0 ? 3 : 4;
    if ((size_t)(end - s) < count) return 0;
    for (size_t i = 1; i < count; i++)
        if ((s[i] & 0xc0) != 0x80) return 0;
    return *s == 0xc2 && s[1] < 0xa0 ? 0 : count;
}

const char *text_visible(Ctx *cx, const char *text, size_t length, bool has_lines)
{
    const unsigned char *s = (const unsigned char *)text, *end = s + length;
    size_t count = 1;
    while (s < end && count) s += count = visible_bytes(s, end, has_lines);
    if (s == end && count) return text;
    Text t = text_new(cx);
    for (s = (const unsigned char *)text; s < end; s += count ? count : 1) {
        count = visible_bytes(s, end, has_lines);
        if (count) text_addn(&t, (const char *)s, count);
        else text_printf(&t, "\\%d%d%d", *s >> 6, *s >> 3 & 7, *s & 7);
    }
    return text_string(&t);
}
