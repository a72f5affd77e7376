/* SPDX-License-Identifier: MIT */
/* Prints the tables of the evidence as CSV, JSON and HTML. */
#include <string.h>

#include "api/evidence/trace.h"
#include "api/page/html.h"
#include "api/report/json.h"

static bool is_list(const Cell *c) { return c->kind == CELL_TEXTS || c->kind == CELL_NUMBERS; }
static bool is_number(const Cell *c) { return c->kind == CELL_NUMBER || c->kind == CELL_NUMBERS; }

/* Returns the cell in one line; the items of a list are joined. */
static const char *joined(Ctx *cx, const Cell *c)
{
    Text t = text_new(cx);
    if (!is_list(c)) return c->text;
    for (const char *s = c->text; *s; s++) {
        if (*s == '\n') text_add(&t, "; ");
        else text_char(&t, *s);
    }
    return text_string(&t);
}

/* ---- CSV --------------------------------------------------------------------------------------------------------- */

static void csv_field(Text *t, const char *s)
{
    text_char(t, '"');
    for (; *s; s++) text_printf(t, *s == '"' ? "\"\"" : "%c", *s);
    text_char(t, '"');
}

const char *trace_csv(const Table *t)
{
    Text out = text_new(t->cx);
    for (int i = 0; i < t->column_count; i++) text_printf(&out, "%s%s", i ? "," : "", t->column[i]);
    for (int i = 0; i < t->cell_count; i++) {
        const Cell *c = &t->cell[i];
        text_add(&out, i % t->column_count ? "," : "\n");
        if (c->kind == CELL_NUMBER) text_add(&out, c->text);
        else if (c->kind != CELL_NONE) csv_field(&out, joined(t->cx, c));
    }
    text_char(&out, '\n');
    return text_string(&out);
}

/* ---- JSON -------------------------------------------------------------------------------------------------------- */

static void json_list_cell(Ctx *cx, Text *t, const Cell *c)
{
    text_char(t, '[');
    for (const char *s = c->text, *end; *s; s = end + (*end == '\n')) {
        end = s + strcspn(s, "\n");
        if (s != c->text) text_add(t, ", ");
        const char *item = text_format(cx, "%.*s", (int)(end - s), s);
        if (is_number(c)) text_add(t, item);
        else json_text(t, item);
    }
    text_char(t, ']');
}

static void json_cell(Ctx *cx, Text *t, const Cell *c)
{
    if (c->kind == CELL_NONE) text_add(t, "null");
    else if (is_list(c)) json_list_cell(cx, t, c);
    else if (is_number(c)) text_add(t, c->text);
    else json_text(t, c->text);
}

static void json_table(Text *out, const Table *t)
{
    text_printf(out, ",\n  \"%s\": [", t->name);
    for (int i = 0; i < t->cell_count; i++) {
        const int column = i % t->column_count;
        if (!column) text_add(out, i ? "},\n    {" : "\n    {");
        text_printf(out, "%s\"%s\": ", column ? ", " : "", t->column[column]);
        json_cell(t->cx, out, &t->cell[i]);
    }
    text_add(out, t->cell_count ? "}\n  ]" : "]");
}

const char *trace_json(const Trace *t)
{
    Text out = text_new(t->cx);
    text_add(&out, "{\n  \"schema\": 1");
    for (int i = 0; i < t->count; i++) json_table(&out, t->table[i]);
    text_add(&out, "\n}\n");
    return text_string(&out);
}

/* ---- HTML -------------------------------------------------------------------------------------------------------- */

static void html_table(Text *out, const Table *t)
{
    text_printf(out, "<h2 id=\"%s\">%s</h2>\n<p>%s</p>\n<div class=\"wide\"><table>\n<tr>", t->name, t->title, t->what);
    for (int i = 0; i < t->column_count; i++) {
        text_add(out, "<th>");
        for (const char *s = t->column[i]; *s; s++) text_char(out, *s == '_' ? ' ' : *s);
        text_add(out, "</th>");
    }
    for (int i = 0; i < t->cell_count; i++) {
        if (i % t->column_count == 0) text_add(out, "</tr>\n<tr>");
        text_add(out, is_number(&t->cell[i]) ? "<td class=\"n\">" : "<td>");
        html_escaped(out, joined(t->cx, &t->cell[i]));
        text_add(out, "</td>");
    }
    text_add(out, "</tr>\n</table></div>\n");
}

static const char style[] =
    "<style>body{max-width:none}table{border-collapse:collapse;font-size:.85rem}th,td{text-align:left;padding:.15rem "
    ".6rem;border-bottom:1px solid var(--line);vertical-align:top;max-width:40rem;white-space:pre-line;"
    "overflow-wrap:break-word}td.n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}</style>\n";

const char *trace_html(const Trace *t)
{
    Text out = text_new(t->cx);
    html_begin(&out, text_format(t->cx, "Evidence for %s on %s", t->subject, t->target),
               "Each table is also a CSV file of the same name in this folder, and a key of evidence.json.");
    text_add(&out, style);
    text_add(&out, "<p>");
    for (int i = 0; i < t->count; i++)
        text_printf(&out, "%s<a href=\"#%s\">%s</a>", i ? " &middot; " : "", t->table[i]->name, t->table[i]->title);
    text_add(&out, "</p>\n");
    for (int i = 0; i < t->count; i++) html_table(&out, t->table[i]);
    html_end(&out);
    return text_string(&out);
}
