/* SPDX-License-Identifier: MIT */
#ifndef LW_API_FIGURES_H
#define LW_API_FIGURES_H
/* Computes the figures of all reports, in every form (text, JSON, CSV, HTML). */
#include "driver/driver.h"

/* The totals of a program. macs, instructions and cycles are counts; instructions and cycles are -1 if unknown. Fields
 * without a unit are in bytes. arena: with --train, the larger of the arenas of NAME_run and NAME_train. params,
 * targets: with --train, the size of struct NAME_params, and of the target with the loss; otherwise 0. */
typedef struct Totals {
    int64_t macs, arena, inputs, outputs, state, params, targets, ram, weights, instructions, cycles;
    int64_t worst;                       /* of instructions; -1 if unknown, or if a loop has no maximum */
} Totals;

Totals report_totals(const Build *b);
/* Returns the multiply-adds of a layer, including those with padding; for a region, returns the largest number that a
 * run executes. */
int64_t report_group_macs(const Build *b, int group);
/* Returns the instructions of a layer on the target, or -1 if the target has no costs. A runner measured the counts, or
 * they are counted on the layer's code. For a region, returns the most that a run executes. */
int64_t report_instructions(const Build *b, int group);
/* Returns the most instructions that any data make a layer execute, with the costlier branch of each condition on data
 * and the maximum of each loop whose end data decide. If the typical instructions are measured, returns these with
 * the counted difference. Returns -1 if the target has no costs, or if a loop has no maximum. */
int64_t report_worst(const Build *b, int group);
/* With --cores: the instructions of the layer's busiest part, or of the layer if one core computes it; -1 if unknown */
int64_t report_busiest(const Build *b, int group);
int report_parts(const Build *b, int group);         /* the number of parts, 1 if one core computes the layer */
/* the cycles of a layer, estimated from its instructions; -1 if unknown */
int64_t report_cycles(const Build *b, int group);
bool report_has_instructions(const Build *b), report_has_cycles(const Build *b);      /* of layers */
bool report_measures_instructions(const Build *b), report_measures_cycles(const Build *b);      /* by a runner */
int64_t report_microseconds(const Build *b, int64_t cycles);       /* the time at --mhz, rounded; -1 if unknown */
/* Returns the largest number of bytes of the function's arrays that are on the stack at once. has_units: true if the
 * firmware defines the addresses of declared memories, so that their arrays are not on the stack. */
int64_t report_arrays(const Function *f, bool has_units);
/* Returns an upper estimate of the stack in bytes: the arrays of the functions, and the most that the recorded networks
 * used in addition to their arrays. Returns -1 if the target has no figures. */
int64_t report_stack(const Build *b);
const char *report_milliseconds(Ctx *cx, int64_t microseconds);    /* "12.345" */
/* Rounds an estimate half up to three significant digits. The models of costs have errors of several percent. */
int64_t report_rounded(int64_t estimate);
int64_t report_weights(const Group *g);      /* bytes of constants that the group reads */
int64_t report_result(Ctx *cx, const Group *g);              /* bytes */
bool report_computes_floats(const Build *b, int group);      /* true if the group computes in floats when it runs */
/* the number of rows of the table: the layers of all graphs, including layers without cost */
int report_layers(const Build *b);
/* the number of layers that compute in floats; -1, which reports omit, if the network has no 8-bit tensors */
int report_floats(const Build *b);
/* the attributes of a recorded annotation, such as " dtype=i16" */
const char *report_attrs(Ctx *cx, const Node *annotation);
/* the place of the group's result, such as "arena +1024" or "output 0" */
const char *report_place(const Build *b, const Group *g);
#endif
