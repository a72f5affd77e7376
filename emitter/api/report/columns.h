/* SPDX-License-Identifier: MIT */
#ifndef LW_API_REPORT_COLUMNS_H
#define LW_API_REPORT_COLUMNS_H
/* The table of layers in each form of the report. Each column is a row of columns.c. */
#include "api/figures.h"

int columns_names(const Build *b);                             /* the width of the layers' names in the text */
void columns_text(Build *b, Text *t);
void columns_json(Build *b, int group, Text *t);               /* the keys of a layer, without braces */
void columns_list(Text *t);                                    /* the key "columns", from which the page shows them */
void columns_csv(Build *b, Text *t);
void columns_html(Build *b, Text *t);                          /* the head and the body of the page's table */
#endif
