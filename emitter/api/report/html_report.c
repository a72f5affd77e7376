/* SPDX-License-Identifier: MIT */
/* Prints the report as one HTML file that loads nothing: the files of template/, which the Makefile embeds, with the
 * report's JSON. The script draws all views from that JSON. Without script, the page has the verdict and the table of
 * layers, which are printed here.
 *
 * A line of page.html that is only @word@ is replaced: see `words`. All numbers that are printed here are integers, so
 * the same model gives the same bytes on every machine. */
#include <string.h>

#include "api/page/html.h"
#include "api/report/columns.h"
#include "api/report/html_parts.h"
#include "api/report/json.h"
#include "support/guard.h"

static const char *const lines[] = {
#define PAGE_FILE(name) "\f" name,     /* a form feed starts a file */
#define PAGE_LINE(text) text,
#include "page_text.h"
#undef PAGE_FILE
#undef PAGE_LINE
};
enum { LINE_COUNT = sizeof lines / sizeof *lines };

/* against: the JSON of another report, or NULL */
typedef struct Page { Ctx *cx; Build *b; const Footprint *f; const char *against; Text *t; } Page;

static void print_title(const Page *p)
{
    html_escaped(p->t, p->b->program.source);
    html_escaped(p->t, text_format(p->cx, " on %s", p->b->target->name));
    text_char(p->t, '\n');
}

/* ---- Verdict ----------------------------------------------------------------------------------------------------- */

static void row(const Page *p, const char *name, const char *value)
{
    text_printf(p->t, "<dt>%s</dt><dd>", name);
    html_escaped(p->t, value);
    text_add(p->t, "</dd>\n");
}

static const char *time_words(const Page *p, const Totals *all)
{
    const int64_t time = report_microseconds(p->b, all->cycles);
    const char *about = report_measures_cycles(p->b) ? "" : "about ";
    const char *cycles = all->cycles < 0 ? ""
        : text_format(p->cx, ", %s%s cycles", about, html_count(p->cx, all->cycles));
    const char *ms = time < 0 ? "" : text_format(p->cx, "%s ms: ", html_milliseconds(p->cx, time));
    return text_format(p->cx, "%s%s instructions%s", ms, html_count(p->cx, all->instructions), cycles);
}

static const char *ram_words(const Page *p, const Totals *all)
{
    Ctx *cx = p->cx;
    const Footprint *f = p->f;
    const char *ports = p->b->options->ports_in_arena ? " with inputs and outputs"
        : text_format(cx, ", inputs %s, outputs %s", html_bytes(cx, all->inputs), html_bytes(cx, all->outputs));
    const char *state = all->state ? text_format(cx, ", state %s", html_bytes(cx, all->state)) : "";
    const char *stack = f->has_stack || f->is_bound
        ? text_format(cx, ", stack %s%s", f->is_bound ? "at most about " : "", html_bytes(cx, f->stack)) : "";
    return text_format(cx, "%s: arena %s%s%s%s", html_bytes(cx, f->ram), html_bytes(cx, all->arena), ports, state,
                       stack);
}

static const char *flash_words(const Page *p, const Totals *all)
{
    const Footprint *f = p->f;
    const char *code = !f->has_code ? ", without code" : text_format(p->cx, ", code %s", html_bytes(p->cx, f->code));
    return text_format(p->cx, "%s: constants %s%s", html_bytes(p->cx, f->flash), html_bytes(p->cx, all->weights), code);
}

static void print_shrunk(const Page *p)
{
    const LayerSize *was = &p->b->graph.shrunk_total.was, *is = &p->b->graph.shrunk_total.is;
    if (!p->b->graph.shrunk_count) return;
    text_printf(p->t, "<p>No output depends on the rest: %lld of %lld channels, %lld of %lld multiply-adds, %lld of "
                      "%lld bytes of kernels are left.</p>\n", (long long)is->channels, (long long)was->channels,
                (long long)is->macs, (long long)was->macs, (long long)is->weights, (long long)was->weights);
}

static void print_verdict(const Page *p)
{
    const Totals all = report_totals(p->b);
    const char *verdict = footprint_verdict(p->b, p->f);
    if (verdict) {
        text_add(p->t, "<p class=\"big\">");
        html_escaped(p->t, verdict);
        text_add(p->t, "</p>\n");
    }
    text_add(p->t, "<dl>\n");
    row(p, "RAM", ram_words(p, &all));
    row(p, "Flash", flash_words(p, &all));
    if (all.instructions >= 0) row(p, "Run", time_words(p, &all));
    if (all.worst > all.instructions)
        row(p, "Worst case", text_format(p->cx, "%s instructions", html_count(p->cx, all.worst)));
    row(p, "Work", text_format(p->cx, "%s multiply-adds in %d layers", html_count(p->cx, all.macs),
                               report_layers(p->b)));
    text_add(p->t, "</dl>\n");
    print_shrunk(p);
}

/* ---- The page ---------------------------------------------------------------------------------------------------- */

static void print_layers(const Page *p) { columns_html(p->b, p->t); }

/* A '<' would end the script that holds the data. */
static void print_data(const Page *p)
{
    Text json = text_new(p->cx);
    json_report(p->b, p->f, p->against, &json);
    for (const char *s = text_string(&json); *s; s++) {
        if (*s == '<') text_add(p->t, "\\u003c");
        else text_char(p->t, *s);
    }
}

static void print_file(const Page *p, const char *name);
static void print_style(const Page *p) { print_file(p, "page.css"); }
static void print_script(const Page *p)
{
    static const char *const parts[] = { "words.js", "data.js", "layout.js", "views.js", "sidebar.js",
                                         "page.js" };
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) print_file(p, parts[i]);
    if (p->b->observed.validation) print_file(p, "validation.js");
}

static const struct { const char *word; void (*print)(const Page *p); } words[] = {
    { "@title@", print_title }, { "@style@", print_style },   { "@verdict@", print_verdict },
    { "@layers@", print_layers }, { "@data@", print_data }, { "@script@", print_script },
};

/* Prints a line of CSS, which ends with a mark, without the blanks that say nothing. */
static void print_style_line(const Page *p, const char *line)
{
    for (const char *s = line; *s; s++)
        if (*s != ' ' || !((s > line && strchr("{};:,", s[-1])) || strchr("{}", s[1]))) text_char(p->t, *s);
}

static int count_of(const char *line, char c)
{
    int n = 0;
    for (; *line; line++) n += *line == c;
    return n;
}

/* Returns true if a blank beside this character of a script separates no words. A sign may meet another sign. */
static bool separates(char c) { return c && strchr(",;{}()?:=<>*&|", c); }

/* Prints a line of script without the blanks that say nothing. A line that has a template, or may have a regular
 * expression or a quote in a string, is printed as it is. */
static void print_script_line(const Page *p, const char *line)
{
    const bool is_plain = !strpbrk(line, "`'/\\") && count_of(line, '"') % 2 == 0;
    bool is_text = false;
    for (const char *s = line; *s; s++) {
        is_text = is_text != (*s == '"');
        const bool is_void = *s == ' ' && ((s > line && separates(s[-1])) || separates(s[1]));
        if (!is_plain || is_text || !is_void) text_char(p->t, *s);
    }
    text_char(p->t, '\n');
}

typedef enum PageKind { PAGE_MARKUP, PAGE_STYLE, PAGE_SCRIPT } PageKind;

static void print_line(const Page *p, const char *line, PageKind kind)
{
    line += strspn(line, " ");
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strcmp(line, words[i].word) == 0) {
            words[i].print(p);
            return;
        }
    if (kind == PAGE_STYLE) print_style_line(p, line);
    else if (kind == PAGE_SCRIPT && *line) print_script_line(p, line);
    else if (*line) text_printf(p->t, "%s\n", line);
}

/* Prints the lines of the template, without indentation and without comments, which begin and end lines. */
static void print_file(const Page *p, const char *name)
{
    const char *ending = strrchr(name, '.');
    const PageKind kind = strcmp(ending, ".css") == 0 ? PAGE_STYLE : strcmp(ending, ".js") == 0 ? PAGE_SCRIPT
                                                                                                 : PAGE_MARKUP;
    bool is_comment = false, is_template = false;
    int i = 0;
    while (i < LINE_COUNT && (*lines[i] != '\f' || strcmp(lines[i] + 1, name) != 0)) i++;
    for (i++; i < LINE_COUNT && *lines[i] != '\f'; i++) {
        is_comment = is_comment || strncmp(lines[i], "/*", 2) == 0;
        if (!is_comment) print_line(p, lines[i], is_template ? PAGE_MARKUP : kind);
        else if (strstr(lines[i], "*/")) is_comment = false;
        if (kind == PAGE_SCRIPT && count_of(lines[i], '`') % 2) is_template = !is_template;
    }
}

static void print_page(Build *b, const Footprint *f, const char *against, Text *t)
{
    const Page page = { b->cx, b, f, against, t };
    print_file(&page, "page.html");
}

const char *lw_report_html(lw_context *cx, const char *model, const lw_options *o)
{
    RETURN_GUARDED(cx, const char *, NULL, report_as(cx, "lw_report_html", model, o, print_page, false));
}
