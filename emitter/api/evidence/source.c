/* SPDX-License-Identifier: MIT */
/* Finds functions and constants in the text of model.c: see source.h. A definition begins at the start of a line; a
 * function ends with the next line that begins with '}', and a constant with one that begins with "};". */
#include "api/evidence/source.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static size_t width_of(const char *line) { return strcspn(line, "\n"); }
static const char *after(const char *line) { return line + width_of(line) + (line[width_of(line)] == '\n'); }

static bool is_letter(char c) { return isalnum((unsigned char)c) || c == '_'; }

/* Returns the name that ends before the character at `end`. */
static const char *name_before(Ctx *cx, const char *line, const char *end)
{
    const char *s = end;
    while (s > line && is_letter(s[-1])) s--;
    return text_format(cx, "%.*s", (int)(end - s), s);
}

/* Returns the '(' of the parameters of a function that the line begins to define, or NULL. */
static const char *function_at(const char *line)
{
    const size_t n = width_of(line);
    const char *at = memchr(line, '(', n);
    const bool is_type = strncmp(line, "static ", 7) == 0 || strncmp(line, "int ", 4) == 0
                         || strncmp(line, "void ", 5) == 0 || strncmp(line, "const ", 6) == 0;
    const bool is_defined = is_type && at && line[n - 1] != ';' && !memchr(line, '=', (size_t)(at - line));
    return is_defined && is_letter(at[-1]) ? at : NULL;
}

/* Returns the '[' of a constant's array that the line begins to define, or NULL. A long name has a line of its own. */
static const char *constant_at(const char *line)
{
    if (strncmp(line, "static const ", 13) != 0) return NULL;
    const char *at = strchr(line, '['), *end = strstr(line, "= {\n"), *semicolon = strchr(line, ';');
    return at && end && at < end && (!semicolon || end < semicolon) ? at : NULL;
}

typedef struct Lines { Ctx *cx; int count, capacity; Part *at; int comment; } Lines;

static void add(Lines *l, Part p)
{
    if (l->count == l->capacity) {
        Part *more = NEW_ARRAY(l->cx->arena, Part, 2 * l->capacity + 64);
        if (l->count) memcpy(more, l->at, (size_t)l->count * sizeof *more);
        l->capacity = 2 * l->capacity + 64;
        l->at = more;
    }
    l->at[l->count++] = p;
}

/* Reads a definition whose name ends at `name_end`; returns the line after it. */
static const char *definition(Lines *l, const char *line, const char *name_end, bool is_constant, int *number)
{
    const char *s = line;
    const int begin = *number;
    const size_t n = width_of(line);
    if (is_constant || line[n - 1] != '}')
        for (s = after(s), ++*number; *s && *s != '}'; s = after(s)) ++*number;
    add(l, (Part){ name_before(l->cx, line, name_end), l->comment ? l->comment : begin, begin, *number, line,
                   s + width_of(s), is_constant });
    l->comment = 0;
    ++*number;
    return after(s);
}

Parts source_parts(Ctx *cx, const char *text)
{
    Lines l = { .cx = cx };
    int number = 1;
    for (const char *line = text; *line;) {
        const char *constant = constant_at(line), *function = constant ? NULL : function_at(line);
        if (function || constant) {
            line = definition(&l, line, function ? function : constant, !function, &number);
            continue;
        }
        if (strncmp(line, "/*", 2) == 0 && !l.comment) l.comment = number;
        else if (!width_of(line) || *line == '#') l.comment = 0;
        line = after(line);
        number++;
    }
    return (Parts){ l.count, l.at };
}

const Part *source_part(const Parts *p, const char *name)
{
    for (int i = 0; i < p->count; i++)
        if (strcmp(p->at[i].name, name) == 0) return &p->at[i];
    return NULL;
}

int source_call(const Part *p, int layer, int *last)
{
    int number = p->name_line, first = 0;
    bool in_mark = false;                       /* within the mark of this layer, which may have two lines */
    for (const char *line = p->begin; line < p->end; line = after(line), number++) {
        const char *word = line + strspn(line, " ");
        const bool is_mark = strncmp(word, "LW_LAYER(", 9) == 0;
        if (first && (is_mark || strncmp(line, "    return", 10) == 0 || *line == '}')) return first;
        if (first) *last = number;
        in_mark = in_mark || (is_mark && strtol(word + 9, NULL, 10) == layer);
        if (!in_mark || line[width_of(line) - 1] != ')') continue;
        in_mark = false;
        first = *last = number + 1;
    }
    return first;
}

const int *source_loops(Ctx *cx, const Part *p, int *count)
{
    int number = p->name_line, most = 0;
    for (const char *s = p->begin; s < p->end; s++) most += *s == '\n';
    int *line = NEW_ARRAY(cx->arena, int, most + 1);
    *count = 0;
    for (const char *s = p->begin; s < p->end; s += strcspn(s, "\n"), s += *s == '\n', number++)
        if (strncmp(s + strspn(s, " "), "for (", 5) == 0) line[(*count)++] = number;
    return line;
}

bool source_calls(const Part *from, const Part *to)
{
    const size_t n = strlen(to->name);
    const char *s = strchr(from->begin, '{');
    for (; s && s < from->end && (s = strstr(s, to->name)) != NULL && s < from->end; s += n)
        if (s[n] == '(' && !is_letter(s[-1])) return true;
    return false;
}
