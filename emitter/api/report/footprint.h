/* SPDX-License-Identifier: MIT */
#ifndef LW_API_REPORT_FOOTPRINT_H
#define LW_API_REPORT_FOOTPRINT_H
/* Computes the model's needs on a board (flash and RAM, with code and stack if a compiler measures them) and compares
 * them with limits. */
#include "api/figures.h"
#include "api/report/elf.h"

/* The stack of a function as the compiler states it: its own stack, and the stack of the deepest chain of calls from
 * it. */
typedef struct StackFrame { const char *name; int64_t bytes, deepest; } StackFrame;

/* All fields are in bytes. code: the code of the emitted C and of the library functions that it calls, linked. data:
 * the writable data of both. */
typedef struct Footprint {
    /* the totals; code and data are included if a compiler measured them, stack if it is measured or bounded */
    int64_t flash, ram;
    int64_t code, data, stack;
    /* the part of data that is the model's constants, which an AVR's start-up code copies to RAM */
    int64_t copied;
    bool has_code, has_stack, is_linked;
    int frame_count; const StackFrame *frame;        /* the functions of the compiled code, in its order */
    bool is_bound;                       /* true if stack is a bound from the core's figures; has_stack is then false */
    const char *command;                 /* the compiler that measured, or NULL if there is none */
    const char *not_stepped;             /* the reason why the instructions of the linked code are not known, or NULL */
} Footprint;

/* measure.c: with a runner, builds the test bench with --profile, runs it and stores its counts in b->measured. */
bool report_measure(Build *b, const char *model);
/* Returns the counts by group, or NULL: rows of branches, loops and devices belong to no single group. row: the counts
 * by number of LW_LAYER; -1 if the layer did not run. */
const int64_t *report_by_group(const Build *b, const int64_t *row, int row_count);
/* architecture.c: returns false, with an error, if the code is for another machine than the target's, or for an older
 * one. */
bool report_is_target_code(const Build *b, const Elf *e, const char *command);
/* step.c: returns true if the linked code is for an Arm M-profile core and has a NAME_run that can be called. */
bool report_steps(const Build *b, const Elf *e);
/* Steps through that code, compiled with STEP_MARKS (a label before each layer), and stores its counts in b->measured.
 */
#define STEP_PREFIX "lw_layer_"
#define STEP_MARKS "'-DLW_LAYER(number, name)=__asm__ volatile (\"" STEP_PREFIX "\" #number \"_%=:\" : : );'"
void report_step(Build *b, const Elf *e, Footprint *out);
/* Measures if the options have a compiler: emits into a scratch folder, compiles and links the C, and runs it if there
 * is a runner. False on error. */
bool footprint_of(Build *b, const char *model, Footprint *out);
/* Prints totals and the verdict on the limits of the options (`fit`). */
void footprint_print(const Build *b, const Footprint *f, Text *t);
void footprint_json(const Build *b, const Footprint *f, Text *t);    /* the limits and the verdict, or null */
const char *footprint_verdict(const Build *b, const Footprint *f);   /* a sentence, or NULL without limits */
/* Reports an error if a limit is exceeded; call it after the report is complete. Returns false if there is no report,
 * because of another error or because a limit concerns bytes that are unknown. */
bool footprint_fits(const Build *b, const Footprint *f);
/* returns false, with a diagnostic, if `fit` has a different form */
bool footprint_is_limit(Ctx *cx, const lw_options *o);
bool footprint_has_memories(const Build *b);     /* returns false, with a diagnostic, if `fit` names another memory */

void report_training(const Build *b, Text *t);     /* training.c: prints nothing without --train */
#endif
