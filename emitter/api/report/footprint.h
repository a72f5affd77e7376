/* SPDX-License-Identifier: MIT */
#ifndef LW_API_REPORT_FOOTPRINT_H
#define LW_API_REPORT_FOOTPRINT_H
/* The model's needs on a board: flash and RAM, with code and stack where a compiler measures them, and limits. */
#include "api/figures.h"
#include "api/report/elf.h"

/* Bytes. code, data: of the emitted C and of the library functions that it calls, linked; data: writable, of those. */
typedef struct Footprint {
    int64_t flash, ram;                  /* in total; code, data and stack count where they are known or estimated */
    int64_t code, data, stack;
    int64_t copied;                      /* of data: the model's constants, which an AVR's start-up copies to RAM */
    bool has_code, has_stack, is_linked;
    bool is_estimated;                   /* code: without a compiler, from figures of the core; has_code is false */
    bool is_bound;                       /* stack: the most, from figures of the core; has_stack is false */
    const char *command;                 /* the compiler that measured; NULL: none */
    const char *not_stepped;             /* the reason why the linked code's instructions are not known; NULL: none */
} Footprint;

/* measure.c: with a runner, builds the test bench with --profile, runs it and stores its counts in b->measured. */
bool report_measure(Build *b, const char *model);
/* Returns the counts by group, or NULL: rows of branches, loops and devices belong to no single group. row: of each
 * number of LW_LAYER, -1: it did not run. */
const int64_t *report_by_group(const Build *b, const int64_t *row, int row_count);
/* architecture.c: false, with an error, if the code is not for the target's machine, or is for an older one. */
bool report_is_target_code(const Build *b, const Elf *e, const char *command);
/* step.c: true if the linked code is an Arm M-profile core's, with a NAME_run that can be called. */
bool report_steps(const Build *b, const Elf *e);
/* Steps through that code, compiled with STEP_MARKS (a label before each layer), and stores its counts in b->measured.
 */
#define STEP_PREFIX "lw_layer_"
#define STEP_MARKS "'-DLW_LAYER(number, name)=__asm__ volatile (\"" STEP_PREFIX "\" #number \"_%=:\" : : );'"
void report_step(Build *b, const Elf *e, Footprint *out);
/* Measures if the options have a compiler: emits into a scratch folder, compiles, links; runs with a runner. False on
 * error. */
bool footprint_of(Build *b, const char *model, Footprint *out);
/* Prints totals and the verdict on the limits of the options (`fit`). */
void footprint_print(const Build *b, const Footprint *f, Text *t);
void footprint_json(const Build *b, const Footprint *f, Text *t);    /* the limits and the verdict, or null */
/* After the report is complete: an error if a limit is exceeded. False if there is no report: another error, or a limit
 * on bytes that are unknown. */
bool footprint_fits(Build *b, const Footprint *f);
bool footprint_is_limit(Ctx *cx, const lw_options *o);   /* false, with a diagnostic: `fit` has another form */

void report_training(Build *b, Text *t);     /* training.c: adds nothing without --train */
#endif
