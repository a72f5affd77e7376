/* SPDX-License-Identifier: MIT */
/* Breaks long lists and statements into lines; see wrap.h. */
#include "cgen/wrap.h"

#include <string.h>

enum { LINE_WIDTH = 120, FURTHER = 4 };

/* Returns the last comma of the outermost parentheses that leaves `width` characters on the line, else the first; NULL
 * if there is none. `depth` counts the parentheses open at the line's start. */
static const char *last_comma(const char *line, int depth, size_t width)
{
    const char *best = NULL;
    for (const char *s = line; *s && *s != '\n'; s++) {
        depth += (*s == '(') - (*s == ')');
        if (*s != ',' || depth != 1) continue;
        if (best && (size_t)(s - line) >= width) break;
        best = s;
    }
    return best;
}

void wrap_list(Ctx *cx, Text *t, size_t start)
{
    const char *rest = text_format(cx, "%s", text_string(t) + start);
    const int indent = (int)strspn(rest, " ");
    size_t width = LINE_WIDTH;
    t->length = start;
    for (int depth = 0; strcspn(rest, "\n") > width; depth = 1, width = LINE_WIDTH - (size_t)(indent + FURTHER)) {
        const char *comma = last_comma(rest, depth, width);
        if (!comma) break;
        text_addn(t, rest, (size_t)(comma - rest) + 1);
        text_printf(t, "\n%*s", indent + FURTHER, "");
        rest = comma + 2;
    }
    text_add(t, rest);
}

/* ---- Statements -------------------------------------------------------------------------------------------------- */

/* True if the line may end at `s`: after a comma or a semicolon, before a binary operator, or as a last resort after an
 * assignment. */
static bool may_end(const char *s, bool at_assignment)
{
    static const char *const before[] = { " + ",  " - ",  " * ",  " / ", " % ",  " ? ", " : ",
                                         " && ", " || ", " << ", " >> ", " < ", " <= ", " == " };
    if (*s != ' ') return false;
    if (at_assignment) return s[-1] == '=' && s[-2] != '=' && s[-2] != '<' && s[-2] != '>' && s[-2] != '!';
    for (size_t i = 0; i < sizeof before / sizeof *before; i++)
        if (strncmp(s, before[i], strlen(before[i])) == 0) return true;
    return s[-1] == ',' || s[-1] == ';';
}

enum { IN_INDEX = 16, SHALLOW = 1 };      /* the weight of a bracket in parentheses; one call deep */

typedef struct Break { const char *at; int depth; } Break;

/* Returns the last break of the outermost parentheses that have one within `width`; `depth` is that of the line's
 * start. */
static Break last_place(const char *line, size_t width, int depth, bool at_assignment)
{
    Break best = { NULL, 0 };
    for (const char *s = line; *s && *s != '\n' && (size_t)(s - line) <= width; s++) {
        depth += *s == '(' ? 1 : *s == ')' ? -1 : *s == '[' ? IN_INDEX : *s == ']' ? -IN_INDEX : 0;
        if (s == line || !may_end(s, at_assignment) || (best.at && depth > best.depth)) continue;
        best = (Break){ s, depth };
    }
    return best;
}

/* Breaks between operands of a statement or of its outermost call; else after the assignment, if one more line holds
 * the remainder; else deeper. */
static Break place_of_break(const char *line, size_t width, int depth)
{
    const Break inside = last_place(line, width, depth, false), assigned = last_place(line, width, depth, true);
    const bool ends_statement = assigned.at && strcspn(assigned.at + 1, "\n") + FURTHER <= width;
    const bool is_better = inside.depth <= SHALLOW || !ends_statement;
    if (inside.at && is_better && (inside.depth < IN_INDEX || !assigned.at)) return inside;
    return assigned;
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
        const Break end = place_of_break(rest, width, depth);
        if (!end.at) break;
        text_addn(t, rest, (size_t)(end.at - rest));
        text_printf(t, "\n%*s", (int)indent + FURTHER, "");
        rest = end.at + 1;
        depth = end.depth;
    }
    text_add(t, rest);
}
