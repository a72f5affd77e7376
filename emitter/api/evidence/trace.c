/* SPDX-License-Identifier: MIT */
/* Fills the tables of the evidence: see trace.h. */
#include "api/evidence/trace.h"

#include <string.h>

#include "support/names.h"

/* Returns the text with the name of the emitted file for model.c. */
static const char *with_file(const Trace *t, const char *text)
{
    static const char general[] = "model.c";
    Text out = text_new(t->cx);
    for (const char *at; (at = strstr(text, general)) != NULL; text = at + strlen(general))
        text_printf(&out, "%.*s%s", (int)(at - text), text, t->file);
    text_add(&out, text);
    return text_string(&out);
}

Table *trace_table(Trace *t, const char *name, const char *title, const char *what, const char *columns)
{
    Table *table = NEW(t->cx->arena, Table);
    *table = (Table){ .cx = t->cx, .name = name, .title = with_file(t, title), .what = with_file(t, what) };
    for (const char *s = columns; *s; s += strspn(s, " ")) {
        const size_t n = strcspn(s, " ");
        table->column[table->column_count++] = text_format(t->cx, "%.*s", (int)n, s);
        s += n;
    }
    t->table[t->count++] = table;
    return table;
}

static void add(Table *t, CellKind kind, const char *text)
{
    if (t->cell_count == t->capacity) {
        Cell *more = NEW_ARRAY(t->cx->arena, Cell, 2 * t->capacity + 64);
        if (t->cell_count) memcpy(more, t->cell, (size_t)t->cell_count * sizeof *more);
        t->capacity = 2 * t->capacity + 64;
        t->cell = more;
    }
    t->cell[t->cell_count++] = (Cell){ kind, text };
}

void trace_none(Table *t) { add(t, CELL_NONE, ""); }
void trace_text(Table *t, const char *text) { add(t, text ? CELL_TEXT : CELL_NONE, text ? text : ""); }
void trace_number(Table *t, int64_t n) { add(t, CELL_NUMBER, text_format(t->cx, "%lld", (long long)n)); }

void trace_known(Table *t, int64_t n)
{
    if (n < 0) trace_none(t);
    else trace_number(t, n);
}

void trace_texts(Table *t, Text *lines) { add(t, CELL_TEXTS, text_string(lines)); }
void trace_numbers(Table *t, Text *lines) { add(t, CELL_NUMBERS, text_string(lines)); }

void trace_item(Text *lines, const char *item) { text_printf(lines, "%s%s", lines->length ? "\n" : "", item); }

void trace_item_number(Text *lines, int64_t n)
{
    text_printf(lines, "%s%lld", lines->length ? "\n" : "", (long long)n);
}
