/* SPDX-License-Identifier: MIT */
#ifndef LW_API_PAGE_HTML_H
#define LW_API_PAGE_HTML_H
/* The frame of the reports: one HTML file without script, font or network, laid out for a phone's width first, and for
 * print. Pictures are SVG inside the page. */
#include "support/text.h"

void html_begin(Text *t, const char *title, const char *below);
void html_end(Text *t);
void html_escaped(Text *t, const char *s);
/* Adds a figure of <div class="cards"> with its caption. */
void html_card(Text *t, const char *figure, const char *what);
#endif
