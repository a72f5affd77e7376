/* SPDX-License-Identifier: MIT */
#ifndef LOOPWRIGHT_H
#define LOOPWRIGHT_H
/* Loopwright: trained networks and scheduled tensor expressions to plain C99. This is the one public header; the command
 * line tool is a client of it like any other.
 *
 * A context owns everything made under it and keeps what went wrong: after a call that returned false, or at any time,
 * lw_diagnostic gives the messages in order. Nothing here prints, exits or aborts (out of memory aside). Contexts are
 * independent: two may work in two threads. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct Ctx lw_context;

lw_context *lw_new(void);
void lw_free(lw_context *cx);                                    /* NULL allowed */
/* Message number i, `file: where: error: what`; NULL past the last. *is_error (may be NULL): not a mere warning. */
const char *lw_diagnostic(lw_context *cx, int i, bool *is_error);
const char *lw_version(void);

typedef struct lw_dim   { const char *name; int64_t value; bool is_maximum; } lw_dim;     /* --dim NAME=N, NAME<=N */
typedef struct lw_value { const char *name, *path; } lw_value;                             /* --value NAME=FILE.npy */
typedef struct lw_state { const char *input, *output; } lw_state;                          /* --state INPUT=OUTPUT */

typedef struct lw_options {
    const char *target;              /* NULL: "generic" */
    const char *name;                /* prefix of all symbols; NULL: from the file's name */
    bool testbench, static_arena, standalone, time_passes;
    bool no_shrink;                  /* keep channels on which no output depends */
    const lw_dim *dim;     int dim_count;
    const lw_value *value; int value_count;
    const lw_state *state; int state_count;  /* what an output leaves is the input of the next run: kept in struct NAME_state */
    const char *at;                  /* dump: dag, fused, strategy, loops, step:N, scheduled, lowered */
    const char *only;                /* dump: the group of this name alone */
    bool explain;
    const char *combine;             /* groups that become one function, "conv,pool": computed in the loops of the one named last; "all" */
} lw_options;

/* Reads a model (.onnx, .tflite, .te) and writes `output` (a path ending in .c), the header beside it, and what options ask for. */
bool lw_compile(lw_context *cx, const char *model, const char *output, const lw_options *o);
/* Runs the model in the interpreter on .npy files (state begins as zeros and has no file); outputs go to .npy files in the model's order (fewer are allowed). */
bool lw_run(lw_context *cx, const char *model, const char *const *input, int input_count, const char *const *output,
            int output_count, const lw_options *o);
/* Emits into a scratch folder, builds with $CC (default cc), runs on the inputs (made up if none are given) and compares
 * with the interpreter, or with the expected outputs: |a - b| <= 1e-4 + 1e-3 |b| for floats, equal for integers. The text
 * tells the largest difference of each output; NULL on error. */
const char *lw_verify(lw_context *cx, const char *model, const char *const *input, int input_count,
                      const char *const *expect, int expect_count, const lw_options *o);
/* Texts; NULL on error. They belong to the context. */
const char *lw_dump(lw_context *cx, const char *model, const lw_options *o);
const char *lw_report(lw_context *cx, const char *model, const lw_options *o);
const char *lw_report_html(lw_context *cx, const char *model, const lw_options *o);      /* one file with pictures; needs no network */
const char *lw_list_ops(lw_context *cx, int level);              /* level 0: all */
const char *lw_list_onnx_ops(lw_context *cx);                    /* what is read from ONNX, with its attributes */
const char *lw_list_tflite_ops(lw_context *cx);                  /* and from TFLite, with versions and types */
const char *lw_list_targets(lw_context *cx);
const char *lw_list_passes(lw_context *cx);

#ifdef __cplusplus
}
#endif
#endif
