/* SPDX-License-Identifier: MIT */
#ifndef LW_API_REPORT_HTML_PARTS_H
#define LW_API_REPORT_HTML_PARTS_H
/* Figures in three digits, for people. */
#include "api/figures.h"

const char *html_bytes(Ctx *cx, int64_t n);      /* rounded half up, such as "12.5 KiB" */
const char *html_count(Ctx *cx, int64_t n);      /* such as "3.4 M" */
const char *html_milliseconds(Ctx *cx, int64_t microseconds);    /* such as "12.3" or "0.045" */
#endif
