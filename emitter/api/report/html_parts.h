/* SPDX-License-Identifier: MIT */
#ifndef LW_API_REPORT_HTML_PARTS_H
#define LW_API_REPORT_HTML_PARTS_H
/* Functions that the parts of the HTML report share. */
#include "api/figures.h"
#include "support/text.h"

const char *html_bytes(Ctx *cx, int64_t n);      /* three digits, rounded half up, such as "12.5 KiB" */
const char *html_count(Ctx *cx, int64_t n);      /* three digits, such as "3.4 M" */
const char *html_percent(Ctx *cx, int64_t n, int64_t of);    /* "12.3 %" */
/* a text such as "i8 [1][25][5][64], scale 0.02, zero point -128" */
const char *html_type(Ctx *cx, const Tensor *t);
/* Returns the layer's cycles or, if they are unknown, its multiply-adds, for shares of the time. */
int64_t html_work(const Build *b, int group);
int64_t html_all_work(const Build *b);
bool html_has_cycles(const Build *b);

/* graph_picture.c: draws the groups of a graph from top to bottom, and its edges. */
void html_graph(const Build *b, Text *t);

/* a buffer of the arena that is live from layer `first` to layer `last` of the model's graph; size in bytes */
typedef struct ReportBuffer { const char *name; int64_t bytes, offset; int first, last; bool is_scratch; } ReportBuffer;
/* html_report.c: stores the buffers of the model's graph and returns their number. */
int report_buffers(const Build *b, const ReportBuffer **out);
#endif
