/* SPDX-License-Identifier: MIT */
#ifndef LW_API_REPORT_JSON_H
#define LW_API_REPORT_JSON_H
/* The parts of report.json. Each function prints a part of the JSON text, which data.c joins. */
#include "api/figures.h"
#include "support/text.h"

void json_text(Text *t, const char *s);                                    /* in quotes */
void json_key(Text *t, const char *key, const char *value);                /* "key": "value" */
void json_shape(Ctx *cx, Text *t, const Tensor *x);                        /* an open size is printed as its maximum */
void json_scale(Text *t, const Tensor *x);                                 /* nothing without one scale */

/* layer_facts.c: the keys of a layer after its figures; `whole` is the model's graph */
void json_layer_facts(const Build *whole, Build *b, int group, Text *t);
void json_structure(Build *b, Text *t);                                    /* keys of the whole report */
#endif
