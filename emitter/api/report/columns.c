/* SPDX-License-Identifier: MIT */
#include "api/report/columns.h"

#include <string.h>

#include "api/page/html.h"
#include "api/report/html_parts.h"
#include "api/report/json.h"

/* Text and page order columns by unit; JSON and CSV have the order of the rows. */
typedef enum Unit { UNIT_NAME, UNIT_COUNT, UNIT_TIME, UNIT_BYTES, UNIT_WORDS, UNIT_FLAG, UNITS } Unit;
enum { IN_TEXT, ON_PAGE, TITLES };

/* The value of a layer: words, or a number that is negative if it is unknown. UNIT_TIME is in microseconds. */
typedef struct Figure { const char *words; int64_t number; } Figure;

/* is_known: returns false if text and page omit the column; NULL: always true. b: the model's graph. least, most: the
 * width in the text; longer names are shortened. */
typedef struct Column {
    const char *key, *csv, *title[TITLES];       /* NULL: the form omits the column; csv is NULL for the key */
    Unit unit;
    Figure (*of)(Build *b, int group);
    bool (*is_known)(const Build *b);
    int least, most;
} Column;

static Figure words(const char *text) { return (Figure){ text, 0 }; }
static Figure number(int64_t n) { return (Figure){ NULL, n }; }

static Figure graph_of(Build *b, int i)
{
    (void)i;
    return words(b->training.is_step ? "train" : b->tree.outer ? b->tree.body->name : "");
}
static Figure name_of(Build *b, int i) { return words(b->groups.at[i].name); }
static Figure operators_of(Build *b, int i) { return words(group_ops_text(b->cx, &b->groups.at[i], "+")); }
static Figure place_of(Build *b, int i) { return words(report_place(b, &b->groups.at[i])); }
static Figure macs_of(Build *b, int i) { return number(report_group_macs(b, i)); }
static Figure weights_of(Build *b, int i) { return number(report_weights(&b->groups.at[i])); }
static Figure result_of(Build *b, int i) { return number(report_result(b->cx, &b->groups.at[i])); }
static Figure free_of(Build *b, int i) { return number(b->plan.is_free[i]); }
static Figure instructions_of(Build *b, int i) { return number(report_instructions(b, i)); }
static Figure worst_of(Build *b, int i) { return number(report_worst(b, i)); }
static Figure cycles_of(Build *b, int i) { return number(report_cycles(b, i)); }
static Figure time_of(Build *b, int i) { return number(report_microseconds(b, report_cycles(b, i))); }
static Figure type_of(Build *b, int i)
{
    const Tensor *y = b->groups.at[i].output[0];
    return words(text_format(b->cx, "%s %s", dtype_info(y->type)->spelling, tensor_shape_names(b->cx, y)));
}

static bool has_time(const Build *b)
{
    return report_has_cycles(b) && report_microseconds(b, report_totals(b).cycles) >= 0;
}

static bool has_cores(const Build *b) { return b->options->cores > 1; }
static Figure parts_of(Build *b, int i) { return number(report_parts(b, i)); }
static Figure busiest_of(Build *b, int i) { return number(report_busiest(b, i)); }
static Figure share_of(Build *b, int i)
{
    const double all = (double)report_instructions(b, i), most = (double)report_busiest(b, i);
    return words(text_format(b->cx, all > 0 ? "%.1f %%" : "", 100 * most / all));
}

static bool has_code(const Build *b) { return b->observed.code_sizes != NULL; }
static Figure code_of(Build *b, int i) { return number(json_code_size(b, json_called(b, i)).code); }
static Figure stack_of(Build *b, int i) { return number(json_code_size(b, json_called(b, i)).stack); }

enum { NUMBER = 12, FIGURE = 10 };        /* widths */
static const Column columns[] = {
    { "graph", NULL, { NULL, NULL }, UNIT_NAME, graph_of, NULL, 0, 0 },
    { "name", "layer", { "layer", "layer" }, UNIT_NAME, name_of, NULL, 28, 64 },
    { "operators", NULL, { "operators", "operators" }, UNIT_NAME, operators_of, NULL, 16, 40 },
    { NULL, NULL, { NULL, "result" }, UNIT_NAME, type_of, NULL, 0, 0 },
    { "place", NULL, { "place", "place" }, UNIT_WORDS, place_of, NULL, 0, 0 },
    { "multiply_adds", NULL, { "multiply-add", "MACs" }, UNIT_COUNT, macs_of, NULL, NUMBER, NUMBER },
    { "weights", NULL, { "weights", "flash" }, UNIT_BYTES, weights_of, NULL, FIGURE, FIGURE },
    { "result", NULL, { "result", "result" }, UNIT_BYTES, result_of, NULL, FIGURE, FIGURE },
    { "free", NULL, { NULL, NULL }, UNIT_FLAG, free_of, NULL, 0, 0 },
    { "code", NULL, { NULL, "code" }, UNIT_BYTES, code_of, has_code, 0, 0 },
    { "stack", NULL, { NULL, "stack" }, UNIT_BYTES, stack_of, has_code, 0, 0 },
    { "worst_instructions", NULL, { NULL, "worst case" }, UNIT_COUNT, worst_of, report_has_instructions, 0, 0 },
    { "instructions", NULL, { "instructions", "instructions" }, UNIT_COUNT, instructions_of, report_has_instructions,
      NUMBER, NUMBER },
    { "cycles", NULL, { "cycles", NULL }, UNIT_COUNT, cycles_of, has_time, NUMBER, NUMBER },
    { NULL, NULL, { "cores", NULL }, UNIT_COUNT, parts_of, has_cores, FIGURE / 2, FIGURE / 2 },
    { NULL, NULL, { "busiest core", "busiest core" }, UNIT_COUNT, busiest_of, has_cores, NUMBER, NUMBER },
    { NULL, NULL, { "share", NULL }, UNIT_COUNT, share_of, has_cores, FIGURE - 2, FIGURE - 2 },
    { "milliseconds", NULL, { "ms", "ms" }, UNIT_TIME, time_of, has_time, FIGURE, FIGURE },
};
enum { COUNT = sizeof columns / sizeof *columns, NAME = 1 };

/* Lists the columns of the text or of the page, by unit; returns their number. */
static int listed(const Build *b, int form, const Column *list[COUNT])
{
    int count = 0;
    for (int unit = 0; unit < UNITS; unit++)
        for (const Column *c = columns; c < columns + COUNT; c++)
            if ((int)c->unit == unit && c->title[form] && (!c->is_known || c->is_known(b))) list[count++] = c;
    return count;
}

/* Returns the words or the number; `unknown` for an unknown number. */
static const char *plain(Build *b, int group, const Column *c, const char *unknown)
{
    const Figure f = c->of(b, group);
    return f.words ? f.words : f.number < 0 ? unknown
        : c->unit == UNIT_TIME ? report_milliseconds(b->cx, f.number) : text_format(b->cx, "%lld", (long long)f.number);
}

/* ---- Text -------------------------------------------------------------------------------------------------------- */

/* Returns the width of a column: the length of its longest name, within its limits. */
static int width_of(const Build *b, const Column *c)
{
    int width = c->least;
    for (const Build *g = b; g && c->least < c->most; g = g->tree.next)
        for (int i = 0; i < g->groups.count; i++) {
            const int length = (int)strlen(c->of((Build *)g, i).words);
            width = length > c->most ? c->most : length > width ? length : width;
        }
    return width;
}

int columns_names(const Build *b) { return width_of(b, &columns[NAME]); }

static void text_cell(Ctx *cx, Text *t, const Column *c, int width, const char *value)
{
    if (c->unit == UNIT_NAME) text_printf(t, "%-*s ", width, text_shortened(cx, value, c->most));
    else if (c->unit == UNIT_WORDS) text_printf(t, " %s", value);
    else text_printf(t, "%*s ", width, value);
}

void columns_text(Build *b, Text *t)
{
    const Column *list[COUNT];
    const int count = listed(b, IN_TEXT, list);
    int width[COUNT];
    for (int k = 0; k < count; k++)
        text_cell(b->cx, t, list[k], width[k] = width_of(b, list[k]), list[k]->title[IN_TEXT]);
    text_char(t, '\n');
    for (; b; b = b->tree.next) {
        if (b->tree.outer) text_printf(t, "\n%s: %s\n", b->tree.body->name, b->tree.body->what);
        if (b->training.is_step) text_printf(t, "\n%s_train: one sample\n", b->name);
        for (int i = 0; i < b->groups.count; i++) {
            for (int k = 0; k < count; k++) text_cell(b->cx, t, list[k], width[k], plain(b, i, list[k], ""));
            text_add(t, b->plan.is_free[i] ? ", costs nothing\n" : b->lowered.is_shared[i] ? ", shares a function\n"
                        : "\n");
        }
    }
}

/* ---- JSON and CSV ------------------------------------------------------------------------------------------------ */

void columns_json(Build *b, int group, Text *t)
{
    for (const Column *c = columns; c < columns + COUNT; c++) {
        const char *value = c->key ? plain(b, group, c, "null") : "";
        if (!*value) continue;
        json_name(t, c->key);
        if (c->unit == UNIT_FLAG) text_add(t, *value == '0' ? "false" : "true");
        else if (c->unit == UNIT_NAME || c->unit == UNIT_WORDS) json_text(t, value);
        else text_add(t, value);
    }
}

void columns_list(Text *t)
{
    static const char *const units[UNITS] = { "words", "count", "time", "bytes", "words", "flag" };
    text_add(t, "  \"columns\": [");
    for (const Column *c = columns; c < columns + COUNT; c++) {
        if (!c->key || !c->title[ON_PAGE]) continue;
        json_item(t);
        json_key(t, "key", c->key);
        json_key(t, "title", c->title[ON_PAGE]);
        json_key(t, "unit", units[c->unit]);
        text_char(t, '}');
    }
    text_add(t, "],\n");
}

/* Prints words in quotes; quotes inside them are doubled. */
static void csv_field(Text *t, const Column *c, const char *value)
{
    const char *quote = c->unit == UNIT_NAME || c->unit == UNIT_WORDS ? "\"" : "";
    text_add(t, quote);
    for (; *value; value++) text_printf(t, *value == '"' ? "\"\"" : "%c", *value);
    text_add(t, quote);
}

void columns_csv(Build *b, Text *t)
{
    for (const Column *c = columns; c < columns + COUNT; c++)
        if (c->key) text_printf(t, "%s%s", c == columns ? "" : ",", c->csv ? c->csv : c->key);
    text_char(t, '\n');
    for (; b; b = b->tree.next)
        for (int i = 0; i < b->groups.count; i++) {
            for (const Column *c = columns; c < columns + COUNT; c++) {
                if (c > columns && c->key) text_char(t, ',');
                if (c->key) csv_field(t, c, plain(b, i, c, ""));
            }
            text_char(t, '\n');
        }
}

/* ---- Page -------------------------------------------------------------------------------------------------------- */

static const char *page_text(Build *b, int group, const Column *c)
{
    const int64_t n = c->of(b, group).number;
    return c->unit == UNIT_BYTES && n >= 0 ? html_bytes(b->cx, n) : c->unit == UNIT_TIME && n >= 0
        ? html_milliseconds(b->cx, n) : c->unit == UNIT_COUNT && n >= 0 ? html_count(b->cx, n) : plain(b, group, c, "");
}

static void page_cell(Text *t, const Column *c, const char *tag, const char *value)
{
    text_printf(t, c->unit == UNIT_NAME || c->unit == UNIT_WORDS ? "<%s class=\"t\">" : "<%s>", tag);
    html_escaped(t, value);
    text_printf(t, "</%s>", tag);
}

void columns_html(Build *b, Text *t)
{
    const Column *list[COUNT];
    const int count = listed(b, ON_PAGE, list);
    int id = 0;
    text_add(t, "<thead><tr><th>#</th>");
    for (int k = 0; k < count; k++) page_cell(t, list[k], "th", list[k]->title[ON_PAGE]);
    text_add(t, "</tr></thead>\n<tbody>\n");
    for (; b; b = b->tree.next)
        for (int i = 0; i < b->groups.count; i++) {
            text_printf(t, "<tr><td>%d</td>", id++);
            for (int k = 0; k < count; k++) page_cell(t, list[k], "td", page_text(b, i, list[k]));
            text_add(t, "</tr>\n");
        }
    text_add(t, "</tbody>\n");
}
