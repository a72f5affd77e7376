/* SPDX-License-Identifier: MIT */
/* Finds the functions of layers in the text of model.c: see parts.h. */
#include <string.h>

#include "api/report/parts.h"
#include "cgen/cgen.h"
#include "support/text.h"

static size_t line_length(const char *s) { return strcspn(s, "\n"); }
static const char *next_line(const char *s) { return s + line_length(s) + (s[line_length(s)] == '\n'); }

/* Returns the comment without its marks and the asterisks at the beginnings of lines. */
static const char *comment_text_of(Ctx *cx, const char *from, const char *end)
{
    Text t = text_new(cx);
    for (const char *s = from; s < end; s = next_line(s)) {
        const char *words = s + strspn(s, " /*"), *stop = s + line_length(s);
        if (stop - words >= 2 && strncmp(stop - 2, "*/", 2) == 0) stop -= 2;
        while (stop > words && stop[-1] == ' ') stop--;
        if (stop > words) text_addn(&t, words, (size_t)(stop - words));
        if (next_line(s) < end && stop > words) text_char(&t, '\n');
    }
    return text_string(&t);
}

/* Returns the name before the first parenthesis of the line. */
static const char *name_in(Ctx *cx, const char *line)
{
    const char *end = line + strcspn(line, "(\n"), *s = end;
    while (s > line && s[-1] != ' ' && s[-1] != '*') s--;
    return *end == '(' ? text_format(cx, "%.*s", (int)(end - s), s) : "";
}

typedef struct Reader { Ctx *cx; Map *to; const char *comment; int comment_line; } Reader;

/* Reads a function that begins at the line, and returns the line after it. */
static const char *read_function(Reader *r, const char *line, int *number)
{
    const char *end = line, *name = name_in(r->cx, line);
    ReportFunction *f = NEW(r->cx->arena, ReportFunction);
    f->first_line = r->comment ? r->comment_line : *number;
    while (*end && *end != '}') end = next_line(end), ++*number;
    f->last_line = *number;
    f->comment = r->comment ? comment_text_of(r->cx, r->comment, line) : "";
    f->text = text_format(r->cx, "%.*s}", (int)(end - line), line);
    if (*end && *name) map_put(r->to, name, strlen(name), f);
    r->comment = NULL;
    ++*number;
    return next_line(end);
}

/* A line that ends with ';' or has '=' declares something else. */
static bool begins_function(const char *line)
{
    const size_t n = line_length(line);
    return strncmp(line, "static ", 7) == 0 && memchr(line, '(', n) && !memchr(line, '=', n) && line[n - 1] != ';'
           && line[n - 1] != '}';
}

/* The functions of layers precede all constants, so their lines do not depend on the constants' elements. */
Map report_functions(const Build *b)
{
    Map all = map_new(b->cx->arena);
    Reader r = { b->cx, &all, NULL, 0 };
    int number = 1;
    Program program = b->program;
    if (!program.header) program.header = text_format(b->cx, "%s.h", program.name);
    for (const char *line = cgen_source(b->cx, &program).before; *line;) {
        if (begins_function(line)) {
            line = read_function(&r, line, &number);
            continue;
        }
        if (strncmp(line, "/*", 2) == 0) r.comment = line, r.comment_line = number;
        else if (line_length(line) == 0 || *line == '#') r.comment = NULL;
        line = next_line(line);
        number++;
    }
    return all;
}
