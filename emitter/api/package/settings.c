/* SPDX-License-Identifier: MIT */
/* Prints the owner's part of manifests: version, author, url and licence. An option gives a value. Without the option,
 * the value of the existing manifest is kept; if there is no manifest, the row's default is used. */

/* Decision: writing a package again keeps the files that its owner edited. The settings are read back from the
 * manifests: a line of a template has a key before the word, and the line of the existing file with this key has the
 * value. All other lines, such as the bytes of constants, are printed for the new model. Files that belong wholly to
 * the owner (the licence, the sketch's sensor) are written only once. */
#include "api/package/package.h"

#include <string.h>

enum { VERSION_ROW, AUTHOR_ROW, MAINTAINER_ROW, URL_ROW, LICENCE_ROW, VENDOR_ROW };
static const char no_author[] = "Loopwright";

static bool is_between(char c, char low, char high) { return c >= low && c <= high; }
static bool is_digit(char c) { return is_between(c, '0', '9'); }
static bool is_letter(char c) { return is_between(c, 'a', 'z') || is_between(c, 'A', 'Z'); }

/* Returns the end of one number of a version, or NULL if it is invalid; leading zeros are invalid. */
static const char *after_number(const char *s)
{
    if (!is_digit(*s) || (s[0] == '0' && is_digit(s[1]))) return NULL;
    while (is_digit(*s)) s++;
    return s;
}

/* Accepts MAJOR.MINOR.PATCH, then optionally -PRERELEASE and +BUILD. */
static bool is_version(const char *s)
{
    for (int i = 0; i < 3; i++) {
        s = after_number(s);
        if (!s || (i < 2 && *s++ != '.')) return false;
    }
    if (*s && *s != '-' && *s != '+') return false;
    for (bool is_empty = *s != 0; *s; s++) {
        is_empty = !is_digit(s[1]) && !is_letter(s[1]);
        if (!is_digit(*s) && !is_letter(*s) && !strchr("-+.", *s)) return false;
        if (is_empty && !is_digit(*s) && !is_letter(*s)) return false;
    }
    return true;
}

/* Accepts one line of UTF-8 without control characters. */
static bool is_line(const char *s)
{
    const char *at = s;
    while ((unsigned char)*at >= ' ' && *at != 127) at++;
    return *s && !*at;
}

static bool is_url(const char *s)
{
    const bool has_scheme = strncmp(s, "http://", 7) == 0 || strncmp(s, "https://", 8) == 0;
    return has_scheme && is_line(s) && !strpbrk(s, " \"<>");
}

/* An expression of SPDX. */
static bool is_licence(const char *s)
{
    const char *at = s;
    while (is_digit(*at) || is_letter(*at) || (*at && strchr("-.+() ", *at))) at++;
    return *s && !*at;
}

/* The rows of the settings; `word` is the word in templates. */
static const struct {
    const char *word, *option, *otherwise, *accepted;
    bool (*is_right)(const char *);
} rows[PACKAGE_SETTINGS] = {
    [VERSION_ROW]    = { "version", "--package-version", "1.0.0", "three numbers, such as 1.2.0", is_version },
    [AUTHOR_ROW]     = { "author", "--author", no_author, "one line", is_line },
    [MAINTAINER_ROW] = { "maintainer", "--author", no_author, "one line", is_line },
    [URL_ROW]        = { "url", "--url", NULL, "an address that begins with https:// or http://", is_url },
    [LICENCE_ROW]    = { "licence", "--licence", "0BSD", "a licence of SPDX, such as MIT", is_licence },
    [VENDOR_ROW]     = { "vendor", "--author", no_author, "one line", is_line },
};

static const char *given(const lw_options *o, int row)
{
    const char *const values[PACKAGE_SETTINGS] = { o->package_version, o->author, o->author, o->url, o->licence,
                                                   o->author };
    return values[row];
}

static int row_of(const char *word)
{
    int i = 0;
    while (i < PACKAGE_SETTINGS && strcmp(rows[i].word, word) != 0) i++;
    return i;
}

void package_settings(Ctx *cx, Settings *s, const Program *p, const lw_options *o)
{
    for (int i = 0; i < PACKAGE_SETTINGS; i++) {
        const char *value = given(o, i);
        if (value && !rows[i].is_right(value))
            diag_usage(cx, NULL, "%s does not accept \"%s\"; use %s", rows[i].option, value, rows[i].accepted);
        s->value[i] = value ? value : rows[i].otherwise;
        s->is_given[i] = value != NULL;
    }
    if (!s->is_given[URL_ROW]) s->value[URL_ROW] = text_format(cx, "https://example.com/%s", p->name);
}

/* ---- Values of an existing file ---------------------------------------------------------------------------------- */

static size_t blanks(const char *s) { return strspn(s, " \t"); }

/* Returns the text after the key on its line, or NULL if the line has a different key. White space before the key is
 * ignored. */
static const char *after_key(const char *text, const char *key, size_t length)
{
    for (const char *line = text; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        line += blanks(line);
        if (strncmp(line, key, length) == 0) return line + length;
    }
    return NULL;
}

/* Returns the bytes up to one of `end`; inside quotes, a backslash quotes the next byte. */
static size_t bytes_to(const char *s, const char *end, bool is_quoted)
{
    size_t n = 0;
    while (s[n] && !strchr(end, s[n])) n += is_quoted && s[n] == '\\' && s[n + 1] ? 2 : 1;
    return n;
}

/* Returns the value that begins at this position. The value ends at its closing quote or, if it is not quoted, at a
 * tag, a comma or the end of the line. */
static const char *value_at(Ctx *cx, const char *s)
{
    s += blanks(s);
    const bool is_quoted = *s == '"' || *s == '\'';
    const char end[] = { is_quoted ? *s : '<', '\n', '\r', 0 };
    s += is_quoted;
    size_t n = bytes_to(s, end, is_quoted);
    while (!is_quoted && n && strchr(" \t,", s[n - 1])) n--;
    return n ? text_format(cx, "%.*s", (int)n, s) : NULL;
}

void package_keep(Ctx *cx, Settings *s, const char *line, const char *existing)
{
    for (int i = 0; i < PACKAGE_SETTINGS; i++) {
        const char *at = s->is_given[i] ? NULL : strstr(line, text_format(cx, "@%s@", rows[i].word));
        if (!at || at != strchr(line, '@')) continue;
        line += blanks(line);
        size_t length = (size_t)(at - line);
        while (length && strchr("\"' ", line[length - 1])) length--;
        const char *rest = length ? after_key(existing, line, length) : NULL, *value = rest ? value_at(cx, rest) : NULL;
        if (!value) continue;
        s->value[i] = value;
        s->is_given[i] = s->is_quoted[i] = true;
    }
}

/* ---- Words ------------------------------------------------------------------------------------------------------- */

/* Returns the text as part of a file's name: each run of characters other than letters, digits and '-' becomes one
 * '_'. */
static const char *plain(Ctx *cx, const char *s)
{
    Text t = text_new(cx);
    for (; *s; s++)
        if (is_letter(*s) || is_digit(*s) || *s == '-') text_char(&t, *s);
        else if (t.length && t.at[t.length - 1] != '_') text_char(&t, '_');
    while (t.length && t.at[t.length - 1] == '_') t.length--;
    return t.length ? text_format(cx, "%.*s", (int)t.length, t.at) : no_author;
}

/* The characters that must be quoted in each format of a manifest. */
static const struct { const char *extension; char byte; const char *quoted; } quotes[] = {
    { "json", '"', "\\\"" }, { "json", '\\', "\\\\" }, { "yml", '"', "\\\"" }, { "yml", '\\', "\\\\" },
    { "pdsc", '&', "&amp;" }, { "pdsc", '<', "&lt;" }, { "pdsc", '>', "&gt;" },
};

static const char *quoted(Ctx *cx, const char *s, const char *extension)
{
    Text t = text_new(cx);
    for (; *s; s++) {
        const char *as = NULL;
        for (size_t i = 0; i < sizeof quotes / sizeof quotes[0] && !as; i++)
            if (quotes[i].byte == *s && strcmp(quotes[i].extension, extension) == 0) as = quotes[i].quoted;
        if (as) text_add(&t, as);
        else text_char(&t, *s);
    }
    return text_string(&t);
}

/* Returns the version without its build, which a component of a CMSIS-Pack does not accept. */
static const char *component_version(Ctx *cx, const Settings *s)
{
    const char *version = s->value[VERSION_ROW];
    return text_format(cx, "%.*s", (int)strcspn(version, "+"), version);
}

const char *package_setting(Ctx *cx, const Settings *s, const char *word, const char *extension)
{
    if (strcmp(word, "component_version") == 0) return component_version(cx, s);
    const int i = row_of(word);
    if (i == PACKAGE_SETTINGS) return NULL;
    if (i == VENDOR_ROW) return plain(cx, s->value[i]);
    return s->is_quoted[i] ? s->value[i] : quoted(cx, s->value[i], extension);
}
