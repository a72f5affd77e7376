/* SPDX-License-Identifier: MIT */
#ifndef LW_REPORT_H
#define LW_REPORT_H
/* The figures that both reports, text and HTML, are about. */
#include "driver/driver.h"

/* Bytes but for macs */
typedef struct Totals { int64_t macs, arena, inputs, outputs, state, ram, weights; } Totals;

Totals report_totals(const Build *b);
/* Points of sums of products, padding counts as data; of a layer, or of all that a region runs at most. */
int64_t report_group_macs(const Build *b, int group);
int64_t report_weights(const Group *g);      /* bytes of constants that it reads */
int64_t report_result(Ctx *cx, const Group *g);              /* bytes */
bool report_computes_floats(const Build *b, int group);      /* when it runs */
int report_layers(const Build *b);           /* of all graphs, those that cost nothing too: the rows of the table */
/* How many layers compute floats; -1: there are no bytes in the network, so that nobody asks */
int report_floats(const Build *b);
const char *report_place(Build *b, const Group *g);          /* "arena +1024", "output 0" */
#endif
