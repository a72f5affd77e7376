/* SPDX-License-Identifier: MIT */
#ifndef LW_API_TRACE_H
#define LW_API_TRACE_H
/* The value that all forms of the evidence print: tables of rows. A table has its columns, and a cell its kind, so a
 * new table needs no code in CSV, JSON and HTML. */
#include "support/text.h"

/* CELL_NONE: not known or not applicable. Lists have one item per line of `text`. */
typedef enum CellKind { CELL_NONE, CELL_TEXT, CELL_NUMBER, CELL_TEXTS, CELL_NUMBERS } CellKind;
typedef struct Cell { CellKind kind; const char *text; } Cell;

enum { MOST_COLUMNS = 16, MOST_TABLES = 24 };
typedef struct Table {
    Ctx *cx;
    /* name: the name of the CSV file and of the JSON key; title, what: a heading, and what a row says */
    const char *name, *title, *what;
    int column_count; const char *column[MOST_COLUMNS];
    int cell_count, capacity; Cell *cell;                  /* row by row */
} Table;
typedef struct Trace {
    Ctx *cx;
    const char *subject, *target;
    const char *file;                        /* the name of the emitted file, which the texts of tables call model.c */
    int count; Table *table[MOST_TABLES];
} Trace;

/* columns: names separated by spaces */
Table *trace_table(Trace *t, const char *name, const char *title, const char *what, const char *columns);
/* Each call fills the next cell of the last row; a full row is followed by a new one. */
void trace_none(Table *t);
void trace_text(Table *t, const char *text);               /* NULL is CELL_NONE */
void trace_number(Table *t, int64_t n);
void trace_known(Table *t, int64_t n);                     /* a negative number is CELL_NONE */
void trace_texts(Table *t, Text *lines);
void trace_numbers(Table *t, Text *lines);
void trace_item(Text *lines, const char *item);            /* adds an item to a list */
void trace_item_number(Text *lines, int64_t n);

/* print.c. Only the JSON and the page have all tables. */
const char *trace_csv(const Table *t);
const char *trace_json(const Trace *t);
const char *trace_html(const Trace *t);
#endif
