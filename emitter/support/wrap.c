/* SPDX-License-Identifier: MIT */
/* Breaks long lists and statements into lines; see wrap.h. */
#include "support/wrap.h"

#include <string.h>

enum { LINE_WIDTH = 120, FURTHER = 4 };

/* Returns the end of the string or character literal that begins at s, or s if there is no literal. */
static const char *skip_literal(const char *s)
{
    const char quote = *s;
    if (quote != '"' && quote != '\'') return s;
    for (s++; *s && *s != quote && *s != '\n'; s++) s += *s == '\\' && s[1];
    return s;
}

/* Returns the last comma within the outermost parentheses before column `width`, or the first comma if all are beyond
 * it. Returns NULL if there is no comma. `depth` counts the parentheses open at the line's start. */
static const char *last_comma(const char *line, int depth, size_t width)
{
    const char *best = NULL;
    for (const char *s = line; *s && *s != '\n'; s++) {
        s = skip_literal(s);
        depth += (*s == '(') - (*s == ')');
        if (*s != ',' || depth != 1) continue;
        if (best && (size_t)(s - line) >= width) break;
        best = s;
    }
    return best;
}

/* Returns the first parenthesis that closes beyond `width`, after which the line may end. Returns NULL if there is
 * none. */
static const char *first_parenthesis(const char *line, size_t width)
{
    const char *first = NULL;
    int depth = 0;
    for (const char *s = line; *s && *s != '\n' && (!first || (size_t)(s - line) < width); s++) {
        s = skip_literal(s);
        if (*s == '(' && depth++ == 0) first = s;
        if (*s == ')' && --depth <= 0) first = NULL, depth = 0;
    }
    return first && first[1] != ')' ? first : NULL;
}

void wrap_list(Ctx *cx, Text *t, size_t start)
{
    const char *rest = text_format(cx, "%s", text_string(t) + start);
    const int indent = (int)strspn(rest, " ");
    size_t width = LINE_WIDTH;
    t->length = start;
    for (int depth = 0; strcspn(rest, "\n") > width; depth = 1, width = LINE_WIDTH - (size_t)(indent + FURTHER)) {
        const char *comma = last_comma(rest, depth, width), *end = comma;
        if (depth == 0 && (!comma || (size_t)(comma - rest) >= width)) end = first_parenthesis(rest, width);
        if (!end) end = comma;
        if (!end) break;
        text_addn(t, rest, (size_t)(end - rest) + 1);
        text_printf(t, "\n%*s", indent + FURTHER, "");
        rest = end + (*end == ',' ? 2 : 1);
    }
    text_add(t, rest);
}

/* ---- Statements -------------------------------------------------------------------------------------------------- */

/* Returns true if the line may end at `s`: after a comma or a semicolon, before a binary operator or a `return`, or as
 * a last resort after an assignment. */
static bool may_end(const char *s, bool at_assignment)
{
    static const char *const before[] = { " + ",  " - ",  " * ",  " / ", " % ",  " ? ", " : ",
                                         " && ", " || ", " << ", " >> ", " < ", " <= ", " == " };
    if (*s != ' ') return false;
    if (at_assignment) return s[-1] == '=' && s[-2] != '=' && s[-2] != '<' && s[-2] != '>' && s[-2] != '!';
    for (size_t i = 0; i < sizeof before / sizeof *before; i++)
        if (strncmp(s, before[i], strlen(before[i])) == 0) return true;
    return s[-1] == ',' || s[-1] == ';' || (s[-1] == ')' && strncmp(s, " return ", 8) == 0);
}

enum { IN_INDEX = 16, SHALLOW = 1 };      /* the weight of a bracket in parentheses; the depth of one call */

typedef struct Break { const char *at; int depth; } Break;

/* Returns the last break of the outermost parentheses that have one within `width`; `depth` is the depth at the
 * line's start. */
static Break last_place(const char *line, size_t width, int depth, bool at_assignment)
{
    Break best = { NULL, 0 };
    for (const char *s = line; *s && *s != '\n' && (size_t)(s - line) <= width; s++) {
        s = skip_literal(s);
        if ((size_t)(s - line) > width) break;
        depth += *s == '(' ? 1 : *s == ')' ? -1 : *s == '[' ? IN_INDEX : *s == ']' ? -IN_INDEX : 0;
        if (s == line || !may_end(s, at_assignment) || (best.at && depth > best.depth)) continue;
        best = (Break){ s, depth };
    }
    return best;
}

/* Returns a break between operands of a statement or of its outermost call. Otherwise returns a break after the
 * assignment, if one more line holds the remainder, and otherwise a deeper break. */
static Break place_of_break(const char *line, size_t width, int depth)
{
    const Break inside = last_place(line, width, depth, false), assigned = last_place(line, width, depth, true);
    const bool ends_statement = assigned.at && strcspn(assigned.at + 1, "\n") + FURTHER <= width;
    const bool is_better = inside.depth <= SHALLOW || !ends_statement;
    if (inside.at && is_better && (inside.depth < IN_INDEX || !assigned.at)) return inside;
    return assigned;
}

/* Returns the last blank of the line before `width`, but not before `least`; otherwise the first blank after `width`,
 * or NULL. If is_code is true, returns a blank in a literal or in parentheses only if there is no other. */
static const char *last_blank(const char *line, size_t least, size_t width, bool is_code)
{
    const char *best = NULL;
    int depth = 0, best_depth = 0;
    for (const char *s = line; *s; s++) {
        if (is_code) s = skip_literal(s);
        depth += is_code ? (*s == '(') - (*s == ')') : 0;
        if (*s != ' ' || (size_t)(s - line) < least || strcmp(s, " */") == 0 || strcmp(s, " \\") == 0) continue;
        if (best && ((size_t)(s - line) > width || depth > best_depth)) continue;
        best = s, best_depth = depth;
    }
    return best;
}

void wrap_statement(Ctx *cx, Text *t, size_t start)
{
    const char *rest = text_format(cx, "%s", text_string(t) + start);
    const size_t indent = strspn(rest, " ");
    size_t width = LINE_WIDTH;
    t->length = start;
    text_addn(t, rest, indent);
    rest += indent;
    width -= indent;
    for (int depth = 0; strcspn(rest, "\n") > width; width = LINE_WIDTH - (indent + FURTHER)) {
        Break end = place_of_break(rest, width, depth);
        const char *open = end.at ? NULL : first_parenthesis(rest, width);
        if (open) end = (Break){ open + 1, depth + 1 };
        else if (!end.at) end = (Break){ last_blank(rest, 1, width, true), depth };
        if (!end.at) break;
        text_addn(t, rest, (size_t)(end.at - rest));
        text_printf(t, "\n%*s", (int)indent + FURTHER, "");
        rest = end.at + (*end.at == ' ');
        depth = end.depth;
    }
    text_add(t, rest);
}

/* ---- Whole files ------------------------------------------------------------------------------------------------- */

/* The state at the start of a line: whether it is inside a comment, or inside a directive that the line before
 * continues. */
typedef struct LineState { bool in_comment, in_directive; } LineState;

/* Returns the state after a line. */
static LineState after_line(LineState s, const char *line, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (s.in_comment) {
            if (line[i] == '*' && line[i + 1] == '/') s.in_comment = false, i++;
            continue;
        }
        i = (size_t)(skip_literal(line + i) - line);
        if (i < n && line[i] == '/' && line[i + 1] == '*') s.in_comment = true, i++;
        else if (i < n && line[i] == '#' && strspn(line, " ") == i) s.in_directive = true;
    }
    s.in_directive = s.in_directive && n && line[n - 1] == '\\';
    return s;
}

/* Adds a line, broken at blanks. `end` ends each part except the last, and `lead` begins each part except the first. */
static void add_broken(Text *t, const char *line, size_t least, bool is_code, const char *end, const char *lead)
{
    size_t width = LINE_WIDTH - strlen(end);
    while (strlen(line) > width) {
        const char *blank = last_blank(line, least, width, is_code), *stop = blank;
        if (!blank) break;
        while (stop > line && stop[-1] == ' ') stop--;
        text_addn(t, line, (size_t)(stop - line));
        text_printf(t, "%s\n%s", end, lead);
        line = blank + strspn(blank, " ");
        width = LINE_WIDTH - strlen(end) - strlen(lead);
        least = 0;
    }
    text_add(t, line);
    text_char(t, '\n');
}

/* Adds a comment. The continuation lines of a text are aligned with it; in an indented row, they are indented
 * further. */
static void add_comment(Ctx *cx, Text *t, const char *line)
{
    const size_t indent = strspn(line, " ");
    const bool opens = strncmp(line + indent, "/*", 2) == 0, has_star = line[indent] == '*';
    const size_t begin = indent + (opens ? 2 : has_star ? 1 : 0), text = begin + strspn(line + begin, " ");
    const size_t further = text - begin > 1 ? text - begin + FURTHER : 1;
    add_broken(t, line, text + 1, false, "",
               text_format(cx, "%*s*%*s", (int)(opens ? indent + 1 : indent), "", (int)further, ""));
}

/* Returns the comment at the end of a line of code, or NULL if there is none. */
static const char *trailing_comment(const char *line)
{
    const size_t n = strlen(line);
    const char *comment = NULL;
    if (n < 2 || strcmp(line + n - 2, "*/") != 0) return NULL;
    for (const char *s = line; *s; s++) {
        s = skip_literal(s);
        if (s[0] == '/' && s[1] == '*') comment = s;
    }
    return comment;
}

/* Adds a line of code. A comment at its end becomes a line before it. */
static void add_code(Ctx *cx, Text *t, const char *line, bool is_directive)
{
    const char *comment = trailing_comment(line);
    if (comment) {
        size_t n = (size_t)(comment - line);
        while (n && line[n - 1] == ' ') n--;
        add_comment(cx, t, text_format(cx, "%*s%s", (int)strspn(line, " "), "", comment));
        line = text_format(cx, "%.*s", (int)n, line);
    }
    const size_t define = strncmp(line, "#define ", 8) == 0 ? 8 : 0, start = t->length;
    if (is_directive) {
        add_broken(t, line, define + strcspn(line + define, " "), true, " \\", "    ");
        return;
    }
    text_add(t, line);
    wrap_statement(cx, t, start);
    text_char(t, '\n');
}

static bool has_long_line(const char *text)
{
    for (size_t n; *text; text += n + (text[n] == '\n'))
        if ((n = strcspn(text, "\n")) > LINE_WIDTH) return true;
    return false;
}

const char *wrap_lines(Ctx *cx, const char *text)
{
    if (!has_long_line(text)) return text;
    Text t = text_new(cx);
    LineState s = { false, false };
    while (*text) {
        const size_t n = strcspn(text, "\n");
        const LineState next = after_line(s, text, n);
        const char *line = n > LINE_WIDTH ? text_format(cx, "%.*s", (int)n, text) : NULL;
        const size_t indent = strspn(text, " ");
        if (!line) text_addn(&t, text, n), text_char(&t, '\n');
        else if (s.in_comment || strncmp(text + indent, "/*", 2) == 0) add_comment(cx, &t, line);
        else add_code(cx, &t, line, s.in_directive || text[indent] == '#');
        text += n + (text[n] == '\n');
        s = next;
    }
    return text_string(&t);
}
