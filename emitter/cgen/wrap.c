/* SPDX-License-Identifier: MIT */
/* Long lists on several lines: see wrap.h. */
#include "cgen/wrap.h"

#include <string.h>

enum { LINE_WIDTH = 120, FURTHER = 4 };

/* The last comma of the outermost parentheses that leaves `room` characters on the line, else the first; NULL: there is none. `depth`
 * counts the parentheses that are open at the line's begin. */
static const char *last_comma(const char *line, int depth, size_t room)
{
    const char *best = NULL;
    for (const char *s = line; *s && *s != '\n'; s++) {
        depth += (*s == '(') - (*s == ')');
        if (*s != ',' || depth != 1) continue;
        if (best && (size_t)(s - line) >= room) break;
        best = s;
    }
    return best;
}

void wrap_list(Ctx *cx, Text *t, size_t start)
{
    const char *rest = text_format(cx, "%s", text_string(t) + start);
    const int indent = (int)strspn(rest, " ");
    size_t room = LINE_WIDTH;
    t->length = start;
    for (int depth = 0; strcspn(rest, "\n") > room; depth = 1, room = LINE_WIDTH - (size_t)(indent + FURTHER)) {
        const char *comma = last_comma(rest, depth, room);
        if (!comma) break;
        text_addn(t, rest, (size_t)(comma - rest) + 1);
        text_printf(t, "\n%*s", indent + FURTHER, "");
        rest = comma + 2;
    }
    text_add(t, rest);
}
