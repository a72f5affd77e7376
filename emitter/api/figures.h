/* SPDX-License-Identifier: MIT */
#ifndef LW_API_FIGURES_H
#define LW_API_FIGURES_H
/* The figures of all reports, whatever their form. */
#include "driver/driver.h"

/* macs, instructions, cycles: counts, the last two -1 if unknown; the others: bytes. arena: with --train, the larger of
 * NAME_run's and NAME_train's. params, targets: of --train, the struct, and the target with the loss; else 0 */
typedef struct Totals {
    int64_t macs, arena, inputs, outputs, state, params, targets, ram, weights, instructions, cycles;
} Totals;

Totals report_totals(const Build *b);
/* Multiply-adds of a layer, including those with padding; for a region, the most that a run executes. */
int64_t report_group_macs(const Build *b, int group);
/* Instructions of a layer on the target: a runner's, or counted on its code, of a region as for multiply-adds. -1: the
 * target has no costs. */
int64_t report_instructions(const Build *b, int group);
int64_t report_cycles(const Build *b, int group);            /* estimated from them; -1: unknown */
bool report_has_instructions(const Build *b), report_has_cycles(const Build *b);      /* of layers */
bool report_measures_instructions(const Build *b), report_measures_cycles(const Build *b);      /* by a runner */
int64_t report_microseconds(const Build *b, int64_t cycles);       /* at --mhz, rounded; -1: unknown */
/* Bytes of code at -O2, estimated from the text of the functions; -1: the target has no figures. */
int64_t report_code(const Build *b);
/* The most bytes of stack, by the arrays of the functions and the most that the recorded networks took beside theirs;
 * -1: the target has no figures. */
int64_t report_stack(const Build *b);
const char *report_milliseconds(Ctx *cx, int64_t microseconds);    /* "12.345" */
int64_t report_weights(const Group *g);      /* bytes of constants that the group reads */
int64_t report_result(Ctx *cx, const Group *g);              /* bytes */
bool report_computes_floats(const Build *b, int group);      /* when it runs */
int report_layers(const Build *b);           /* rows of the table: the layers of all graphs, free ones included */
/* Layers that compute in floats; -1: the network has no 8-bit tensors, so the reports omit the figure */
int report_floats(const Build *b);
const char *report_attrs(Ctx *cx, const Node *annotation);   /* the attributes of a recorded annotation: " dtype=i16" */
const char *report_place(Build *b, const Group *g);          /* "arena +1024", "output 0" */
#endif
