/* SPDX-License-Identifier: MIT */
#ifndef LOOPWRIGHT_H
#define LOOPWRIGHT_H
/* Loopwright: trained networks and scheduled tensor expressions to plain C99. This is the one public header; the command
 * line tool is a client of it like any other.
 *
 * A context owns everything made under it and keeps what went wrong: after a call that returned false, or at any time,
 * lw_diagnostic gives the messages in order. Nothing here prints, exits or aborts. Contexts are independent: two may work
 * in two threads.
 *
 * A call that runs out of memory fails with the diagnostic "out of memory", leaves no file and releases all but the
 * context. From then on every call on the context fails; lw_diagnostic and lw_free do not. A NULL context, where lw_new
 * had no memory, behaves alike. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct Ctx lw_context;

/*     lw_compile(cx, "digits.onnx", "digits.c", &(lw_options){ .target = "cortex-m4", .standalone = true });
 *     for (int i = 0; lw_diagnostic(cx, i, NULL); i++) puts(lw_diagnostic(cx, i, NULL)); */
lw_context *lw_new(void);                                        /* NULL where memory is short */
void lw_free(lw_context *cx);                                    /* NULL allowed */
/* Message number i, `file: where: error: what`; NULL past the last. *is_error (may be NULL): not a mere warning. */
const char *lw_diagnostic(lw_context *cx, int i, bool *is_error);
/* True if an argument of the call was refused (a target, a word of an option, an output's ending) that no model could
 * make right. */
bool lw_is_wrong_usage(const lw_context *cx);
/* The candidate within two edits of the word (one, for words below five letters), or NULL: for command lines of one's
 * own. */
const char *lw_nearest(lw_context *cx, const char *word, const char *const *candidates, int count);
const char *lw_version(void);

typedef struct lw_dim   { const char *name; int64_t value; bool is_maximum; int64_t least; } lw_dim;   /* --dim NAME=N, NAME<=N, L<=NAME<=N; least 0: not said */
typedef struct lw_value { const char *name, *path; } lw_value;                             /* --value NAME=FILE.npy */
typedef struct lw_state { const char *input, *output; } lw_state;                          /* --state INPUT=OUTPUT */

typedef struct lw_tolerance { double absolute, relative; } lw_tolerance;                   /* --tolerance ABS[,REL] */

typedef struct lw_options {
    const char *target;              /* NULL: "generic" */
    const char *name;                /* prefix of all symbols; NULL: from the file's name */
    bool testbench, static_arena, standalone, time_passes;
    bool ports_in_arena;             /* inputs and outputs have places in the arena: NAME_X_AT in the header */
    bool no_shrink;                  /* keep channels on which no output depends */
    const lw_dim *dim;     int dim_count;
    const lw_value *value; int value_count;
    const lw_state *state; int state_count;  /* what an output leaves is the input of the next run: kept in struct NAME_state */
    const char *annotate;            /* a file of annotations, or NULL */
    const char *rounding;            /* of scaled 8-bit integers: "double" (NULL), as the reference kernels do, or "single" */
    const char *qdq;                 /* calls between dequantization and quantization: "exact" (NULL): on integers where nothing but rounding within
                                      * floats differs; "integer": also where ties are many; "float": as they are written */
    bool layers;                     /* what every group makes is an output, too, behind the model's own */
    const char *recorded;            /* verify, with layers: a folder or .npz of LAYER.npy that are expected; NULL: what the interpreter gives */
    const lw_tolerance *tolerance;   /* verify: |a - b| <= absolute + relative * |b| for floats; NULL: 1e-4 and 1e-3 */
    /* verify: by how many steps integers of at most 16 bits may differ; 0: they are equal */
    int steps;
    const char *cc;                  /* verify: the command that builds; NULL: $CC, or cc */
    /* verify: `CMD PROGRAM IN.npy... OUT.npy...` runs the program; NULL: this machine does */
    const char *runner;
    const char *tuning;              /* a file of tuning records, or NULL */
    const char *schedule;            /* a file of schedules by group, as dump --at scheduled prints them, or NULL */
    const char *at;                  /* dump: dag, fused, strategy, loops, step:N, scheduled, lowered, pass:NAME */
    const char *only;                /* dump: the group of this name alone */
    bool explain;
    const char *combine;             /* groups that become one function, "conv,pool": computed in the loops of the one named last; "all"; "none"; NULL: what
                                        makes RAM smaller by a tenth */
} lw_options;

/* Reads a model (.onnx, .tflite, .te) and writes `output` (a path ending in .c), the header beside it, and what options ask for. */
bool lw_compile(lw_context *cx, const char *model, const char *output, const lw_options *o);
/* Runs the model in the interpreter on .npy files (state begins as zeros and has no file); outputs go to .npy files in the model's order (fewer are allowed). */
bool lw_run(lw_context *cx, const char *model, const char *const *input, int input_count, const char *const *output,
            int output_count, const lw_options *o);
/* The same, with the outputs as text: of more than 1000 elements the first and last three of each axis. NULL on
 * error. */
const char *lw_run_text(lw_context *cx, const char *model, const char *const *input, int input_count,
                        const lw_options *o);
/* Emits into a scratch folder, builds with $CC (default cc), runs on the inputs (made up if none are given) and compares
 * with the interpreter, or with the expected outputs, within the tolerance of the options. The text has a line for each
 * output and ends with a verdict; NULL on error, and where an output is beyond the tolerance. With layers the first
 * that
 * differs is named. */
const char *lw_verify(lw_context *cx, const char *model, const char *const *input, int input_count,
                      const char *const *expect, int expect_count, const lw_options *o);
/* Writes a text to a file, whole or not at all. */
bool lw_write(lw_context *cx, const char *path, const char *text);
/* Texts; NULL on error. They belong to the context. */
const char *lw_dump(lw_context *cx, const char *model, const lw_options *o);
const char *lw_report(lw_context *cx, const char *model, const lw_options *o);
const char *lw_report_html(lw_context *cx, const char *model, const lw_options *o);      /* one file with pictures; needs no network */
const char *lw_list_ops(lw_context *cx, int level);              /* level 0: all */
const char *lw_list_onnx_ops(lw_context *cx);                    /* what is read from ONNX, with its attributes */
const char *lw_list_tflite_ops(lw_context *cx);                  /* and from TFLite, with versions and types */
const char *lw_list_targets(lw_context *cx);
const char *lw_list_passes(lw_context *cx);
const char *lw_list_steps(lw_context *cx); /* the steps of a schedule: operands, options and defaults */

/* ---- Computations and schedules from C --------------------------------------------------------------------------------
 * What a .te file says, call by call and in its words: statements say what is computed, steps how. The loop nest can be shown,
 * run and emitted after every step. Each call returns false (or NULL) after an error, and then so do all that follow: apply
 * many, ask once. `options` are further words of the step, or NULL.
 *
 *     lw_computation *p = lw_define(cx, "matmul", "x86-avx2");
 *     lw_input(p, "a: f32[512][512]");
 *     lw_input(p, "b: f32[512][512]");
 *     lw_compute(p, "c[i, j] = sum(k) a[i, k] * b[k, j]");
 *     lw_output(p, "c");
 *     lw_tile(p, "c.i", "c.j", 8, 16, NULL);
 *     lw_split(p, "c.k", 4, "tail=peel names=k4,k");
 *     lw_emit(p, "matmul.c", NULL); */
typedef struct lw_computation lw_computation;            /* belongs to its context */

lw_computation *lw_define(lw_context *cx, const char *name, const char *target);     /* target NULL: "generic" */
bool lw_input(lw_computation *p, const char *declaration);
/* Statements. Each is read at once, so a fault is told where it is made. lw_compute takes a formula or the call of an
 * operator, lw_statement any line of a .te file: sizes that are open, constants.
 *
 *     lw_computation *p = lw_define(cx, "layer", NULL);
 *     lw_statement(p, "size n = 1..64");
 *     lw_statement(p, "const w: f32[2] = [1, 2]");
 *     lw_input(p, "x: f32[n][8][8][2]");
 *     lw_input(p, "k: f32[3][3][2][4]");
 *     lw_compute(p, "scaled[i, h, v, c] = x[i, h, v, c] * w[c]");
 *     lw_compute(p, "y = conv2d(scaled, k, pad=[1,1,1,1])");
 *     lw_output(p, "y"); */
bool lw_compute(lw_computation *p, const char *formula);
bool lw_output(lw_computation *p, const char *tensor);
bool lw_statement(lw_computation *p, const char *text);

/* Steps, in the order of `loopwright steps`, which documents them and the words of `options`. Loops are STAGE.LOOP; a
 * list of them is one text. A scope is register, stack, arena or static. */
bool lw_step(lw_computation *p, const char *step);             /* as it is written in a .te file */
const char *lw_try(lw_computation *p, const char *step);       /* NULL: taken; else why it is refused, and nothing has happened */

bool lw_split(lw_computation *p, const char *loop, int factor, const char *options);
bool lw_tile(lw_computation *p, const char *x, const char *y, int fx, int fy, const char *options);
bool lw_peel(lw_computation *p, const char *loop);
bool lw_fuse(lw_computation *p, const char *outer, const char *inner, const char *options);
bool lw_reorder(lw_computation *p, const char *loops, const char *options);
bool lw_unroll(lw_computation *p, const char *loop, const char *options);
bool lw_vectorize(lw_computation *p, const char *loop, const char *options);
bool lw_parallel(lw_computation *p, const char *loop);
bool lw_compute_at(lw_computation *p, const char *stage, const char *loop, const char *options);
bool lw_compute_root(lw_computation *p, const char *stage);
bool lw_compute_inline(lw_computation *p, const char *stage);
bool lw_reverse_compute_at(lw_computation *p, const char *stage, const char *loop);
bool lw_reverse_compute_inline(lw_computation *p, const char *stage);
bool lw_store_at(lw_computation *p, const char *stage, const char *loop);            /* loop NULL: outside of all */
bool lw_fold_storage(lw_computation *p, const char *stage, const char *options);
bool lw_rfactor(lw_computation *p, const char *stage, const char *loop, const char *options);
bool lw_decompose_reduction(lw_computation *p, const char *stage, const char *loop);
bool lw_cache_read(lw_computation *p, const char *tensor, const char *scope, const char *options);
bool lw_cache_write(lw_computation *p, const char *stage, const char *scope, const char *options);
bool lw_set_scope(lw_computation *p, const char *tensor, const char *scope);
bool lw_pack(lw_computation *p, const char *tensor, const char *dimensions);
bool lw_storage_align(lw_computation *p, const char *tensor, int elements);
bool lw_pad(lw_computation *p, const char *stage, const char *axis, int multiple);
bool lw_specialize(lw_computation *p, const char *condition);
bool lw_instruction(lw_computation *p, const char *declaration, const char *options);
bool lw_blockize(lw_computation *p, const char *loop);
bool lw_tensorize(lw_computation *p, const char *loop, const char *macro);
bool lw_pragma(lw_computation *p, const char *loop, const char *pragma);
bool lw_prefetch(lw_computation *p, const char *tensor, const char *loop, int ahead);

const char *lw_show(lw_computation *p);                        /* the loop nest as it stands */
const char *lw_text(lw_computation *p);                        /* all of it as the text of a .te file, which gives the same nest and the same C */
/* Runs the loop nest in the interpreter; arrays in the order of the declarations, row by row. */
bool lw_execute(lw_computation *p, const void *const *input, void *const *output);
/* Writes `output` (a path ending in .c) and the header beside it. Calls of operators without a step get the target's own schedules. */
bool lw_emit(lw_computation *p, const char *output, const lw_options *o);

/* ---- Additions ---------------------------------------------------------------------------------------------------------
 * Operators, schedules, targets, devices and importer rows of one's own, for one context. Texts are copied. A row of a name
 * that is there already takes its place. samples/custom_op has one of each.
 *
 * All of a row is checked when it is registered: names, formulas, conditions.
 *
 * First road: an operator that is a formula of a common pattern; it fuses and is scheduled as all of that pattern are.
 *
 *     lw_register_injective(cx, "mirror", "x", "y[i<dim(x, 0)] = x[dim(x, 0) - 1 - i]");
 *     lw_register_broadcast(cx, "blend", "a b", "y[*] = 0.5 * (a[*] + b[*])");
 *     lw_register_reduce(cx, "energy", "x", "y[i] = sum(k) x[i, k] * x[i, k]");
 *     lw_register_op(cx, &(lw_op){ .name = "gain", .pattern = "elementwise", .inputs = "x",
 *                                  .attrs = "by=2.0 least=0", .formula = "y[*] = max(x[*] * by, f32(least))" }); */
bool lw_register_injective(lw_context *cx, const char *op, const char *inputs, const char *formula);
bool lw_register_broadcast(lw_context *cx, const char *op, const char *inputs, const char *formula);
bool lw_register_reduce(lw_context *cx, const char *op, const char *inputs, const char *formula);

typedef struct lw_op {
    const char *name, *summary;      /* summary NULL: the formula */
    int level;                       /* 0: 10 */
    const char *pattern;             /* elementwise, broadcast, injective, reduction, out-fusable or opaque */
    const char *inputs;              /* their names in the formula, space-separated */
    const char *attrs;               /* NAME=DEFAULT ...: names in the formula; NULL: none */
    const char *formula;             /* of y */
} lw_op;
bool lw_register_op(lw_context *cx, const lw_op *op);

/* Second road: one schedule for all targets. It sees the group of fused calls around the operator: the names of the stage
 * that the operator is and of the stage that makes the output. Returning false declines: a note
 * says so, and the next best implementation is taken.
 *
 *     static bool in_eights(lw_context *cx, lw_group *g)
 *     {
 *         char step[100];
 *         (void)cx;
 *         snprintf(step, sizeof step, "split %s.k 8", lw_group_anchor(g));
 *         return lw_group_try(g, step) == NULL;
 *     }
 *
 *     lw_register_schedule(cx, "energy", in_eights); */
typedef struct lw_group lw_group;
typedef bool lw_schedule(lw_context *cx, lw_group *g);
const char *lw_group_anchor(const lw_group *g);
const char *lw_group_output(const lw_group *g);
const char *lw_group_show(const lw_group *g);                  /* the loop nest as it stands */
bool lw_group_step(lw_group *g, const char *step);             /* as in a .te file */
const char *lw_group_try(lw_group *g, const char *step);       /* NULL: taken; else why it is refused, and nothing has happened */
bool lw_register_schedule(lw_context *cx, const char *op, lw_schedule *schedule);     /* with plevel 15 */

/* Third road: a strategy for a target and those that fall back to it. Of all implementations that apply the one of the tuning
 * record is chosen, then the highest plevel, the nearest target, the first registered; one for a nearer target overrides
 * one of the same name. `loopwright dump --at strategy` tells.
 *
 *     static const lw_implementation list[] = {
 *         { .name = "energy.eights", .what = "eight columns at a time", .plevel = 20,
 *           .when = "dim(x, 1) % 8 == 0 && x is f32", .schedule = in_eights },
 *         { .name = "energy.halves", .what = "even and odd columns in two sums", .when = "dim(x, 1) == 16",
 *           .compute = "h[i, j<2] = sum(k<8) x[i, 2*k+j] * x[i, 2*k+j]; y[i] = h[i, 0] + h[i, 1]" },
 *     };
 *     lw_register_strategy(cx, "energy", "generic", list, 2);
 *     lw_check_op(cx, "energy", NULL, "f32[6][16]");
 *
 * A condition joins comparisons by && and ||. Their names: dim(INPUT, N) for the sizes, `INPUT is TYPE`, integer
 * attributes by their names, and of lists of integers NAME_0, NAME_1, ..., with the operator's defaults; `loopwright
 * ops` lists them. What open sizes leave undecided is tested at run time, with the next best row in the
 * other branch. A condition that names an input or attribute that the call leaves out does not hold. */
typedef struct lw_implementation {
    const char *name, *what;         /* what: one line for people */
    const char *features;            /* that the target must have, space-separated; NULL: none */
    int plevel;                      /* 10 is normal */
    const char *when;                /* the condition; NULL: always */
    lw_schedule *schedule;           /* NULL: loops as written */
    /* Another way to compute the operator's only output: formulas with ';' between, over its inputs, its attributes and the tensors
     * made before, the last making the output. NULL: the operator's. */
    const char *compute;
} lw_implementation;
/* ops: names of operators, or pattern:reduction and the like */
bool lw_register_strategy(lw_context *cx, const char *ops, const char *target, const lw_implementation *list, int count);
/* Runs every implementation of the operator that applies on any target, in the interpreter, on made-up numbers of these
 * types, beside the operator's own compute: |a - b| <= 1e-4 + 1e-3 |b| for floats, equal for integers. attrs:
 * NAME=VALUE ..., or NULL. The text tells the largest difference of each; NULL on error, which says what differs.
 *
 *     lw_check_op(cx, "gain", "by=2.5 least=0", "f32[6][16]"); */
const char *lw_check_op(lw_context *cx, const char *op, const char *attrs, const char *inputs);

typedef struct lw_target {
    const char *name, *base, *summary;   /* base NULL: "generic"; what is 0 or NULL below is the base's */
    /* Beyond the base's, space-separated: implementations and instructions ask for them. "rows mla dsp" brings the
     * 8-bit schedules of a Cortex-M4; schedules/arm/target.c says what each means. */
    const char *features;
    int lanes, accumulators;             /* floats that the C compiler vectorizes, 1: scalar; sums in registers */
    int vector_bytes;                    /* of the vectors that runtime/simd has for it */
    int copy_budget, unroll_budget;      /* statements that copies of loops, and an unrolled body, may add */
} lw_target;
bool lw_register_target(lw_context *cx, const lw_target *t);
/* A device takes calls of these operators whose inputs and outputs have these types. The operator `foreign` of ONNX is
 * ours of the same inputs and attributes; attrs: their names.
 *
 *     lw_register_target(cx, &(lw_target){ .name = "tiny-core", .summary = "four multipliers", .lanes = 1 });
 *     lw_register_device(cx, "tpu", "conv2d dense", "i8 i32");
 *     lw_register_onnx(cx, "my.domain.Energy", "energy", "");
 *     lw_register_onnx(cx, "my.domain.Gain", "gain", "by least"); */
bool lw_register_device(lw_context *cx, const char *device, const char *ops, const char *types);
bool lw_register_onnx(lw_context *cx, const char *foreign, const char *op, const char *attrs);

#ifdef __cplusplus
}
#endif
#endif
