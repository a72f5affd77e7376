/* SPDX-License-Identifier: MIT */
#ifndef LOOPWRIGHT_H
#define LOOPWRIGHT_H
/* Loopwright compiles trained networks and scheduled tensor expressions to plain C99. This is the only public header;
 * the command line tool is a client of it like any other.
 *
 * A context owns all objects that its calls return, and keeps their diagnostics: lw_diagnostic returns the messages in
 * order, at any time. No function prints, exits or aborts. Contexts are independent: two threads may use two contexts.
 *
 * A call that runs out of memory fails with the diagnostic "out of memory", leaves no file and frees all but the
 * context. From then on every call on the context fails, except lw_diagnostic and lw_free. A NULL context, the result
 * of lw_new without memory, behaves in the same way. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct Ctx lw_context;

/*     lw_compile(cx, "digits.onnx", "digits.c", &(lw_options){ .target = "cortex-m4", .standalone = true });
 *     for (int i = 0; lw_diagnostic(cx, i, NULL); i++) puts(lw_diagnostic(cx, i, NULL)); */
lw_context *lw_new(void);                                        /* NULL: out of memory */
void lw_free(lw_context *cx);                                    /* accepts NULL */
/* Returns message i, `file: where: error: what`; NULL past the last. *is_error (may be NULL): false for a warning or a
 * note. */
const char *lw_diagnostic(lw_context *cx, int i, bool *is_error);
/* With `werror` of the last call's options: false, with an error, if there was a warning. Calls that write files
 * test it before they write; a client tests it before it uses a text. */
bool lw_accepts_warnings(lw_context *cx);
/* True if the call refused an argument (a target, a word of an option, an output's ending) that is wrong for every
 * model. */
bool lw_is_wrong_usage(const lw_context *cx);
/* Returns the candidate within two edits of the word (one, for words below five letters), or NULL: for hints in a
 * client's own diagnostics. */
const char *lw_nearest(lw_context *cx, const char *word, const char *const *candidates, int count);
#define LW_VERSION "0.1.0"
const char *lw_version(void);

/* --dim NAME=N, NAME<=N, L<=NAME<=N; least 0: not given */
typedef struct lw_dim   { const char *name; int64_t value; bool is_maximum; int64_t least; } lw_dim;
typedef struct lw_value { const char *name, *path; } lw_value;                             /* --value NAME=FILE.npy */
typedef struct lw_state { const char *input, *output; } lw_state;                          /* --state INPUT=OUTPUT */
/* --rename PORT=NAME: a port by its name in the file, or in the header */
typedef struct lw_rename { const char *port, *name; } lw_rename;

/* --layout PORT=WORD, --preprocess PORT=FORMULA, --postprocess PORT=STEP */
typedef struct lw_adapt { const char *port, *as; } lw_adapt;

typedef struct lw_tolerance { double absolute, relative; } lw_tolerance;                   /* --tolerance ABS[,REL] */

typedef struct lw_options {
    const char *target;              /* NULL: "generic" */
    const char *name;                /* prefix of all symbols; NULL: from the model's file name */
    bool testbench, static_arena, standalone, time_passes;
    bool werror;                     /* after a warning (not a note) no file is written, and the call fails */
    bool ports_in_arena;             /* inputs and outputs are in the arena, at the offsets NAME_X_AT of the header */
    /* Memories of the firmware: "dtcm=64K,cost=1,section=.dtcm", or "@FILE" with a memory per line. 0: one arena */
    const char *const *memory; int memory_count;
    bool no_shrink;                  /* keep channels on which no output depends */
    const lw_dim *dim;     int dim_count;
    const lw_value *value; int value_count;
    const lw_state *state; int state_count;  /* an output becomes the input of the next run, in struct NAME_state */
    const lw_rename *rename; int rename_count;   /* names of inputs and outputs in the header */
    const char *annotate;            /* a file of annotations, or NULL */
    /* Constants: "c" (NULL), arrays of model.c; "section=NAME", in that section; "bin", in model.bin, passed to
     * NAME_run; "incbin", in model.bin, included by the assembler or #embed; "progmem", in program memory of an AVR */
    const char *weights;
    const char *class_names;         /* a file with the name of a class per line, for the header's macros; or NULL */
    bool stamp;                      /* the header states the compiler's version */
    bool cpp;                        /* also writes model.hpp, a C++11 class over model.h */
    bool profile;                    /* model.c counts per layer with the core's counter; verify prints the table */
    /* model.c has NAME_selftest, which runs the model on a recorded input and compares the result of each layer with a
     * checksum: a .npy file for each input that is not a state, or only "random" */
    const char *const *selftest; int selftest_count;
    const char *gradient;            /* "loss:x,w": names of tensors; adds the outputs d_x and d_w. NULL: none */
    /* "loss=cross_entropy optimizer=sgd(rate=0.01) update=last": NAME_train is also emitted, and NAME_run takes the
     * parameters (docs/learning.md). NULL: none */
    const char *train;
    /* With train: computes activations again to save RAM. "auto": the smallest arena, for at most twice the
     * instructions; "20000": an arena of at most that many bytes. NULL: keeps all activations */
    const char *checkpoint;
    const char *rounding;            /* int8 requantization: "double" (NULL), like the reference kernels, or "single" */
    /* Floats times 8-bit weights of a TFLite file: "rounded" (NULL), the floats to 8 bits at run time, like the
     * reference kernels; "float", as they are */
    const char *hybrid;
    const char *signature;           /* the signature of a TFLite file to read; NULL: its first subgraph */
    /* Custom operators of the file that C functions compute: "NAME,OTHER=FUNCTION" (docs/extending.md). NULL: none */
    const char *external;
    /* Calls between dequantize and quantize: "exact" (NULL), on integers if only the rounding of floats differs;
     * "integer", also if exact ties are frequent; "float", as written */
    const char *qdq;
    /* Products and sums of floats on a target with fma: "contract" (NULL), rounded once, or "separate", twice */
    const char *floats;
    bool layers;                     /* the outputs of every group are also outputs, after the model's own */
    const char *recorded;            /* verify, with layers: folder or .npz of expected LAYER.npy; NULL: interpreter */
    const lw_tolerance *tolerance;   /* verify: |a - b| <= absolute + relative * |b| for floats; NULL: 1e-4 and 1e-3 */
    int steps;                       /* verify: largest difference of integers of at most 16 bits, in steps; 0: equal */
    /* verify, evaluate: the command that builds; NULL: $CC, or cc. report: the one that measures; NULL: none */
    const char *cc;
    double mhz;                      /* report: the core's clock, for milliseconds; 0: none */
    /* report: "flash=256K,ram=64K": a model that takes more is an error, and the report is returned; NULL: no limit */
    const char *fit;
    const char *link;                /* verify: words after the sources: "blas.o -lopenblas"; NULL: none */
    /* verify: `CMD PROGRAM IN.npy... OUT.npy...` runs the program; NULL: the host. report: its counts replace the
     * estimated ones; NULL: none do */
    const char *runner;
    double timeout;                  /* verify, report, tune: the most seconds of a run of the program; 0: no limit */
    const char *const *input; int input_count;       /* report with a runner: .npy files; count 0: generated */
    /* Schedules of groups, in the form of dump --at scheduled: a text (NULL: none) and files. The first one with a
     * block for a group gives its schedule */
    const char *schedule_text;
    const char *const *schedule; int schedule_count;
    const char *at;                  /* dump: dag, gradient, streamed, fused, strategy, loops, step:N, scheduled,
                                      * lowered, pass:NAME; lw_quantize_dump: annotated, calibrated, realized;
                                      * run: pass:NAME, NULL: as imported */
    const char *only;                /* dump: only the group of this name */
    bool explain;
    /* "balanced" (NULL): spend instructions where that saves a tenth of RAM; "speed": spend none, so every group
     * computes whole tensors; "size": spend instructions on smaller code as well, with guards instead of copies of
     * loops */
    const char *optimize;
    /* The most bytes of RAM: arena, inputs, outputs and state together. The plan with the fewest counted instructions
     * that keeps the limit; a model that needs more is refused. 0: no limit */
    int64_t ram;
    /* Groups to combine where that costs neither RAM nor instructions: "conv,pool@pool", in the loops of the one after
     * '@', the last by default; "all" or "none". NULL: combines groups if that saves a tenth of RAM */
    const char *combine;
    /* "AXIS=HOP" or "INPUT.AXIS=HOP": a run receives HOP new frames along that axis of the input, and keeps the overlap
     * of windows in struct NAME_state. From the first full window on, outputs equal those of the whole window. NULL:
     * none */
    const char *stream;
    /* Called now and then by quantizations and evaluations: `done` of `total` samples of a part ("calibrating"), and
     * when a signal, handled without SA_RESTART, reaches a wait for $CC or a program. False ends the work: nothing is
     * written, and the call fails. NULL: none */
    bool (*progress)(void *user, const char *part, long long done, long long total);
    void *progress_user;
    /* package: of the manifests and the licence. NULL: kept from the manifest of an earlier package, or 1.0.0,
     * Loopwright, an example and 0BSD. A licence is an identifier of SPDX */
    const char *package_version, *author, *url, *licence;
    /* A part of the model: tensors that become inputs, and those that become the outputs; count 0: the model's */
    const char *const *from; int from_count;
    const char *const *to; int to_count;
    const lw_adapt *layout; int layout_count;          /* the order of a port's dimensions: "nhwc", "nchw" */
    /* The type of a sensor's values, and the network's number for one: "u8: (x - 127.5) / 127.5"; [a, b, c] has a
     * value for each channel */
    const lw_adapt *preprocess; int preprocess_count;
    const lw_adapt *postprocess; int postprocess_count;   /* "softmax", "argmax", "topk:3", "threshold:0.5" */
} lw_options;

/* Reads a model (.onnx, .tflite, .te) and writes `output` (a path ending in .c), its header, and the files of
 * options. A thread that calls it needs 128 KB of stack; a library built without optimization needs more. */
bool lw_compile(lw_context *cx, const char *model, const char *output, const lw_options *o);
/* Interprets the model on .npy files, one for each input that is not state; state begins as zeros, or its initial
 * value. Writes outputs to .npy files, in the model's order; fewer files are accepted. */
bool lw_run(lw_context *cx, const char *model, const char *const *input, int input_count, const char *const *output,
            int output_count, const lw_options *o);
/* Interprets the model and returns the outputs as text; above 1000 elements, the first and last three of each axis.
 * NULL on error. */
const char *lw_run_text(lw_context *cx, const char *model, const char *const *input, int input_count,
                        const lw_options *o);
/* Emits into a scratch folder, builds with $CC (default cc), runs on the inputs (generated if none are given) and
 * compares with the interpreter, or with the expected outputs, within the tolerance of the options. The text has a line
 * for each output and ends with a verdict. NULL on error, or if an output is beyond the tolerance; with layers, the
 * diagnostic names the first layer that differs. */
const char *lw_verify(lw_context *cx, const char *model, const char *const *input, int input_count,
                      const char *const *expect, int expect_count, const lw_options *o);
/* Quantizes a float model after training, from samples alone, and writes integer C. Samples: a .npy file for each
 * input, stacked along a new first axis, or one .npz with an array for each input's name. Inputs and outputs have 8
 * bits, with scale and zero point in the header, or stay float.
 *
 *     const char *samples[] = { "samples.npy" };
 *     lw_quantization q = { .samples = samples, .sample_count = 1 };
 *     lw_quantize(cx, "digits.onnx", "digits_int8.c", &q, NULL);
 *
 * Returns a text: the number of grids, the calls that stay in floats; with a test set, the accuracy or the noise of the
 * float model, of the simulation and of the emitted C, built with $CC. NULL on error. */
typedef struct lw_quantization {
    const char *const *samples; int sample_count;
    const char *ports;               /* "int8" (NULL), "int16" or "float" */
    const char *report;              /* an HTML page with histograms, ranges and sensitivities is written; or NULL */
    const char *const *test; int test_count;         /* stacked like `samples`; count 0: no test set */
    const char *labels;              /* .npy of integers, one for each sample of the test set, or NULL */
    const char *ranges;              /* "best" (NULL), "least", "squared", "min-max", "percentile", "divergence", or
                                      * "curves" */
    bool refine;                     /* weights are rounded by the error of their layer over the samples; slower */
    /* The cheapest widths of tensors (8 bits, 16, floats) that keep a bound on the samples; NULL: 8 bits, no bound */
    const char *min_sqnr;            /* "40": signal to noise at each output in dB */
    const char *max_drop;            /* "0.5%": of the share of sample_labels that the float model gives */
    const char *sample_labels;       /* .npy of integers, one for each sample, for max_drop; or NULL */
    bool sensitivity;                /* the text lists each grid: signal to noise at the outputs with it alone */
    bool per_tensor;                 /* one scale for the weights of a layer, not one for each output channel */
    bool no_equalization;            /* scales are not moved between layers */
    const char *finetune;            /* "20": epochs of training over the samples, of weights, biases and scales */
    const char *seed;                /* "1" (NULL): seed of the order in which `finetune` visits the samples */
    const char *onnx;                /* also, or only (output NULL), a QDQ model with float ports is written; or NULL */
} lw_quantization;
const char *lw_quantize(lw_context *cx, const char *model, const char *output, const lw_quantization *q,
                        const lw_options *o);
/* Returns the network at a stage of lw_quantize as the text of a .te file, which can be run, edited and given back to
 * lw_quantize. The field `at` of the options names the stage:
 *
 *   annotated    the float network, with an annotation on each tensor that gets a grid; needs no samples
 *   calibrated   the same with the grids, which lw_quantize then reads instead of samples
 *   realized     the integer network, which lw_compile compiles
 *
 * NULL on error. */
const char *lw_quantize_dump(lw_context *cx, const char *model, const lw_quantization *q, const lw_options *o);
/* Runs the emitted C, built with $CC, on stacked samples and returns a text: accuracy and confusion matrix against
 * labels (integers, one for each sample; the first output holds the scores), or the error against expected outputs. */
typedef struct lw_evaluation {
    const char *const *samples; int sample_count;    /* as of lw_quantization */
    const char *labels;              /* .npy of integers, or NULL */
    const char *expect;              /* .npy of the first output, stacked, or NULL */
    const char *reference;           /* a model whose outputs on the same samples are expected, or NULL */
    int top;                         /* also the share of labels among the `top` highest scores; 0: 5 */
} lw_evaluation;
const char *lw_evaluate(lw_context *cx, const char *model, const lw_evaluation *e, const lw_options *o);
/* Writes the model as a package into a folder, which is created: its C and header, a self-test with a recorded input
 * and the interpreter's outputs, the files of the platform, and a README. Kinds: make, cmake, arduino, platformio,
 * zephyr, esp-idf, cmsis-pack. */
bool lw_package(lw_context *cx, const char *model, const char *kind, const char *folder, const lw_options *o);
/* Measures other schedules of each group with the runner of the options, on generated inputs, and writes the best as
 * records for `schedule`. The file also holds each value; a call with the same file continues. Returns a
 * text with the records' gains; NULL on error, or if `progress` ends the work. Contexts' own rows do not take part. */
const char *lw_tune(lw_context *cx, const char *model, const char *output, const lw_options *o);
/* Writes a text to a file, whole or not at all. */
bool lw_write(lw_context *cx, const char *path, const char *text);
/* Return context-owned texts; NULL on error. */
const char *lw_dump(lw_context *cx, const char *model, const lw_options *o);
const char *lw_report(lw_context *cx, const char *model, const lw_options *o);
const char *lw_report_html(lw_context *cx, const char *model, const lw_options *o);      /* one file with pictures */
/* The same figures for programs: docs/command-line.md lists the keys; a row for each layer. With `cc`, all four measure
 * code, stack and, for Arm's M-profile cores, instructions; with `runner` instructions or cycles; with `fit`, a model
 * beyond the limits has its report, and an error among the diagnostics. */
const char *lw_report_json(lw_context *cx, const char *model, const lw_options *o);
const char *lw_report_csv(lw_context *cx, const char *model, const lw_options *o);
const char *lw_list_ops(lw_context *cx, int level);              /* level 0: all */
const char *lw_list_gradients(lw_context *cx);                  /* operators with gradients, and of which inputs */
const char *lw_list_onnx_ops(lw_context *cx);                    /* supported ONNX operators, with their attributes */
const char *lw_list_tflite_ops(lw_context *cx);                  /* supported TFLite operators: versions and types */
const char *lw_list_targets(lw_context *cx);
const char *lw_list_passes(lw_context *cx);
const char *lw_list_steps(lw_context *cx); /* the steps of a schedule: operands, options and defaults */
const char *lw_list_conditions(lw_context *cx);                  /* the names of lw_implementation.when */

/* ---- Computations and schedules from C ---------------------------------------------------------------------------
 * A .te file, call by call: statements define the computation, steps its schedule. The loop nests can be printed, run
 * and emitted after each step. After an error this call and all later ones return false (or NULL): check once, at
 * the end. `options` are further words of the step, or NULL.
 *
 *     lw_computation *p = lw_define(cx, "matmul", "x86-avx2");
 *     lw_input(p, "a: f32[512][512]");
 *     lw_input(p, "b: f32[512][512]");
 *     lw_compute(p, "c[i, j] = sum(k) a[i, k] * b[k, j]");
 *     lw_output(p, "c");
 *     lw_tile(p, "c.i", "c.j", 8, 16, NULL);
 *     lw_split(p, "c.k", 4, "tail=peel names=k4,k");
 *     lw_emit(p, "matmul.c", NULL); */
typedef struct lw_computation lw_computation;            /* context-owned */

lw_computation *lw_define(lw_context *cx, const char *name, const char *target);     /* target NULL: "generic" */
bool lw_input(lw_computation *p, const char *declaration);
/* Statements. Each call reads its statement at once and reports its errors. lw_compute accepts a formula or the call of
 * an operator, lw_statement any line of a .te file, for example symbolic sizes and constants.
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
/* The derivatives of a tensor of one element: lw_gradient(p, "d_x, d_w", "loss", "x, w") is the statement
 * `d_x, d_w = gradient(loss, x, w)`. */
bool lw_gradient(lw_computation *p, const char *results, const char *of, const char *with_respect_to);
bool lw_statement(lw_computation *p, const char *text);

/* Formulas and calls of operators are fused to groups, and each group has a loop nest. Steps and handles are of the
 * group that computes this tensor, until the next call; a computation of one group needs none. A group that was chosen
 * and has no steps is emitted as written. The statement "nest" makes the computation one group. */
bool lw_schedule_group(lw_computation *p, const char *tensor);

/* Steps, in the order of `loopwright steps`, which documents them and the words of `options`. A stage or tensor, and a
 * loop, is a name (`const char *`: "c", "c.i"), a name by role ("@contraction", "@output.i"; docs/schedules.md), or a
 * handle (`const lw_stage *`, `const lw_loop *`; below). A list of loops is one text: "c.i c.j", or lw_loop_names. A
 * scope is register, stack, arena or static. A handle of another computation is an error. */
typedef const void *lw_stage_ref;
typedef const void *lw_loop_ref;
bool lw_step(lw_computation *p, const char *step);             /* in the syntax of .te files */
/* Applies the step and returns NULL, or returns the reason of its refusal and changes nothing. */
const char *lw_try(lw_computation *p, const char *step);

bool lw_split(lw_computation *p, lw_loop_ref loop, int factor, const char *options);  /* 0: options have parts=COUNT */
bool lw_tile(lw_computation *p, lw_loop_ref x, lw_loop_ref y, int fx, int fy, const char *options);
bool lw_peel(lw_computation *p, lw_loop_ref loop, const char *options);
bool lw_cut(lw_computation *p, lw_loop_ref loop, int at, const char *options);
bool lw_fission(lw_computation *p, lw_loop_ref loop, lw_loop_ref inner, const char *options);
bool lw_swap(lw_computation *p, lw_stage_ref stage, lw_stage_ref other, const char *options);
bool lw_fuse(lw_computation *p, lw_loop_ref outer, lw_loop_ref inner, const char *options);
bool lw_reorder(lw_computation *p, lw_loop_ref loops, const char *options);
bool lw_unroll(lw_computation *p, lw_loop_ref loop, const char *options);
bool lw_vectorize(lw_computation *p, lw_loop_ref loop, const char *options);
bool lw_parallel(lw_computation *p, lw_loop_ref loop, const char *options);
bool lw_compute_at(lw_computation *p, lw_stage_ref stage, lw_loop_ref loop, const char *options);
bool lw_compute_with(lw_computation *p, lw_stage_ref stage, lw_stage_ref other, lw_loop_ref loop, const char *options);
bool lw_compute_root(lw_computation *p, lw_stage_ref stage, const char *options);
bool lw_compute_inline(lw_computation *p, lw_stage_ref stage, const char *options);
bool lw_reverse_compute_at(lw_computation *p, lw_stage_ref stage, lw_loop_ref loop, const char *options);
bool lw_reverse_compute_inline(lw_computation *p, lw_stage_ref stage, const char *options);
bool lw_store_at(lw_computation *p, lw_stage_ref stage, lw_loop_ref loop, const char *options);    /* NULL: the root */
bool lw_fold_storage(lw_computation *p, lw_stage_ref stage, const char *options);
bool lw_rfactor(lw_computation *p, lw_stage_ref stage, lw_loop_ref loop, const char *options);
bool lw_decompose_reduction(lw_computation *p, lw_stage_ref stage, lw_loop_ref loop, const char *options);
bool lw_cache_read(lw_computation *p, lw_stage_ref tensor, const char *scope, const char *options);
bool lw_cache_write(lw_computation *p, lw_stage_ref stage, const char *scope, const char *options);
bool lw_set_scope(lw_computation *p, lw_stage_ref tensor, const char *scope, const char *options);
bool lw_pack(lw_computation *p, lw_stage_ref tensor, const char *dimensions, const char *options);
bool lw_storage_align(lw_computation *p, lw_stage_ref tensor, int elements, const char *options);
bool lw_pad(lw_computation *p, lw_stage_ref stage, const char *axis, int multiple, const char *options);
bool lw_specialize(lw_computation *p, const char *condition, const char *options);
bool lw_instruction(lw_computation *p, const char *declaration, const char *options);
bool lw_blockize(lw_computation *p, lw_loop_ref loop, const char *options);
bool lw_tensorize(lw_computation *p, lw_loop_ref loop, const char *macro, const char *options);
bool lw_external(lw_computation *p, lw_stage_ref stage, const char *call, const char *options);
bool lw_pragma(lw_computation *p, lw_loop_ref loop, const char *pragma, const char *options);
bool lw_prefetch(lw_computation *p, lw_stage_ref tensor, lw_loop_ref loop, int ahead, const char *options);
bool lw_copy_budget(lw_computation *p, int statements, const char *options);

const char *lw_show(lw_computation *p);                        /* the loop nests after the steps so far */
const char *lw_text(lw_computation *p);                        /* a .te text that gives the same nest and the same C */
/* Interprets the loop nests; arrays are row-major, in the order of the declarations. */
bool lw_execute(lw_computation *p, const void *const *input, void *const *output);
/* Writes `output` (a path ending in .c) and its header. Groups without steps are scheduled by the target's
 * strategies. */
bool lw_emit(lw_computation *p, const char *output, const lw_options *o);

/* ---- Walking a dataflow ------------------------------------------------------------------------------------------
 * A schedule function receives the fused group of its operator (lw_group), a computation like those of lw_define, with
 * the same steps; lw_compute and the other statements, lw_text, lw_execute and lw_emit are refused for it. The group is
 * a DAG of stages. Inputs and constants are also stages, without a formula, axes and loops.
 *
 * A handle is a value: equal handles are equal stages (or loops) of one computation. It holds a name, and the functions
 * below look it up in the nest after the steps so far. Handles and texts are context-owned; the handles of a group are
 * valid until its schedule function returns. A stage that a step inlined, and a loop that a step consumed, has the
 * results of NULL: NULL, 0 or false, and a step that receives it is refused with the names that there are.
 *
 * No function below changes anything or reports an error, so a schedule function may repeat it; one exception: a role
 * that does not exist is an error of the caller. The compiler may call a schedule function several times for one group
 * (for a report, or to combine groups); it depends only on its arguments.
 *
 *     static void inline_elementwise(lw_group *g, const lw_stage *s, void *user)
 *     {
 *         const char *pattern = lw_stage_pattern(s);
 *         if (pattern && strcmp(pattern, "elementwise") == 0 && !lw_stage_is_output(s))
 *             *(int *)user += lw_compute_inline(g, s, NULL);
 *     }
 *
 *     lw_computation *p = lw_define(cx, "walked", "x86-avx2");
 *     int inlined = 0;
 *     lw_statement(p, "size n = 1..8");
 *     lw_input(p, "x: f32[n][16]");
 *     lw_input(p, "w: f32[16][32]");
 *     lw_compute(p, "d = dense(x, w)");
 *     lw_compute(p, "r = relu(d)");
 *     lw_compute(p, "y = sigmoid(r)");
 *     lw_output(p, "y");
 *     lw_visit(p, inline_elementwise, &inlined);
 *     const lw_stage *sum = lw_find_stage(p, "@contraction", 0), *out = lw_find_stage(p, "@output", 0);
 *     const lw_loop *row = lw_stage_loop(out, 0), *reduce = lw_find_loop(p, "@contraction.k");
 *     int64_t least, greatest;
 *     assert(inlined == 1 && lw_stage_producer(out, 0) == sum && lw_stage_consumer(sum, 0) == out);
 *     assert(lw_stage_size(sum, 0) == -1 && lw_stage_limits(sum, 0, &least, &greatest) && greatest == 8);
 *     assert(strcmp(lw_stage_op(sum), "dense") == 0 && lw_stage_is_input(lw_stage_producer(sum, 1)));
 *     assert(lw_loop_reduces(reduce) && lw_loop_extent(reduce) == 16 && lw_loop_extent(row) == -1);
 *     lw_compute_at(p, sum, row, NULL);
 *     if (lw_group_target(p)->vector_bytes) lw_vectorize(p, lw_stage_loop(out, 1), NULL); */
typedef lw_computation lw_group;
typedef struct lw_stage lw_stage;
typedef struct lw_loop lw_loop;

/* Calls `visit` once for each stage, producers first. Steps of the visitor take effect at once; stages that they
 * removed or added are not visited. */
typedef void lw_visitor(lw_group *g, const lw_stage *s, void *user);
void lw_visit(lw_group *g, lw_visitor *visit, void *user);
/* Stage i, inputs and constants first, then producers before consumers; NULL past the last. */
const lw_stage *lw_stage_at(lw_group *g, int i);
/* Stage i that has the name or role; NULL past the last. */
const lw_stage *lw_find_stage(lw_group *g, const char *name_or_role, int i);
const lw_stage *lw_stage_producer(const lw_stage *s, int i);     /* each once, in the order of the formula's reads */
const lw_stage *lw_stage_consumer(const lw_stage *s, int i);     /* NULL past the last */

const char *lw_stage_name(const lw_stage *s);
const char *lw_stage_op(const lw_stage *s);     /* operator of the call that it is part of; NULL: a formula, an input */
const char *lw_stage_node(const lw_stage *s);   /* the model's name of that call */
/* Value of an attribute, the default where the call omits it, in the syntax of .te files: "1,1"; NULL: no such
 * attribute. lw_stage_attrs returns all of them: "stride=1,1 pad=0,0,0,0". */
const char *lw_stage_attr(const lw_stage *s, const char *attr);
const char *lw_stage_attrs(const lw_stage *s);
/* elementwise, broadcast, injective, reduction, out-fusable (as a contraction or a window) or opaque: inferred from the
 * formula, after the steps so far. NULL: an input or constant. */
const char *lw_stage_pattern(const lw_stage *s);
bool lw_stage_is_contraction(const lw_stage *s);                 /* a sum of products of two tensors */
bool lw_stage_is_output(const lw_stage *s);
bool lw_stage_is_input(const lw_stage *s);
bool lw_stage_is_constant(const lw_stage *s);
/* Type and shape of its (first) tensor. */
const char *lw_stage_type(const lw_stage *s);                    /* "f32" */
const char *lw_stage_shape(const lw_stage *s);                   /* "[n][16]"; "[]" for a scalar */
int lw_stage_rank(const lw_stage *s);
int64_t lw_stage_size(const lw_stage *s, int dimension);         /* -1: open */
/* The range of a size. False: there is no such dimension. */
bool lw_stage_limits(const lw_stage *s, int dimension, int64_t *least, int64_t *greatest);
/* The axes of its formula: those of the dimensions, then those that it reduces. NULL past the last. */
const char *lw_stage_axis(const lw_stage *s, int i);
int64_t lw_stage_axis_extent(const lw_stage *s, int i);          /* -1: open */
bool lw_stage_axis_reduces(const lw_stage *s, int i);

/* The stage's own loops, outermost first; NULL past the last. Loops of its copies (conv@init.o) are found by name. */
const lw_loop *lw_stage_loop(const lw_stage *s, int i);
/* NULL unless there is one loop of this name: "conv.h", "@output.h", "@contraction@init.o". */
const lw_loop *lw_find_loop(lw_group *g, const char *name);
const char *lw_loop_name(const lw_loop *l);
const char *lw_loop_names(const lw_loop *const *loops, int count); /* "c.i c.j", for lw_reorder; NULL if one is NULL */
int64_t lw_loop_extent(const lw_loop *l);                        /* -1: open */
const char *lw_loop_kind(const lw_loop *l);                      /* serial, unrolled, vector or parallel */
bool lw_loop_reduces(const lw_loop *l);                          /* runs over a reduce axis */
const char *lw_loop_axis(const lw_loop *l);                      /* its axis; NULL: several, as in a fused loop */
const lw_stage *lw_loop_stage(const lw_loop *l);                 /* that it computes */
const lw_loop *lw_loop_outer(const lw_loop *l);                  /* the next loop around it, of any stage */

typedef struct lw_target lw_target;
const lw_target *lw_group_target(lw_group *g);                   /* with inherited fields */
bool lw_group_has(lw_group *g, const char *feature);
void *lw_group_user(const lw_group *g);        /* lw_implementation.user; NULL for a computation of lw_define */
const char *lw_group_anchor(const lw_group *g); /* the operator's stage; NULL for a computation of lw_define */
const char *lw_group_output(lw_group *g);      /* the stage that produces the first output */

/* ---- Additions ---------------------------------------------------------------------------------------------------
 * Registers a client's operators, schedules, targets, devices and importer rows, in one context. Texts are copied. A
 * row replaces a present row with the same name. samples/custom_op has one of each; in samples/generic_schedule one
 * schedule serves many dataflows.
 *
 * Registration checks all of a row: names, formulas, conditions. In a formula, an index that is read from a tensor, as
 * in x[at[i]], is clamped to x.
 *
 * Operators: a formula with a common pattern; it is fused and scheduled like all operators of its pattern.
 *
 *     lw_register_injective(cx, "mirror", "x", "y[i<dim(x, 0)] = x[dim(x, 0) - 1 - i]");
 *     lw_register_broadcast(cx, "blend", "a b", "y[*] = 0.5 * (a[*] + b[*])");
 *     lw_register_reduce(cx, "energy", "x", "y[i] = sum(k) x[i, k] * x[i, k]");
 *     lw_register_op(cx, &(lw_op){ .name = "gain", .pattern = "elementwise", .inputs = "x",
 *                                  .attrs = "by=2.0 least=0", .formula = "y[*] = max(x[*] * by, f32(least))" }); */
bool lw_register_injective(lw_context *cx, const char *op, const char *inputs, const char *formula);
bool lw_register_broadcast(lw_context *cx, const char *op, const char *inputs, const char *formula);
bool lw_register_reduce(lw_context *cx, const char *op, const char *inputs, const char *formula);

typedef struct Tensor lw_tensor;                         /* both context-owned */
typedef struct lw_call lw_call;
typedef int lw_build(lw_context *cx, lw_call *call, lw_tensor **out);

typedef struct lw_op {
    const char *name, *summary;      /* summary NULL: the formula */
    int level;                       /* 0: 10 */
    const char *pattern;             /* elementwise, broadcast, injective, reduction, out-fusable or opaque */
    const char *inputs;              /* their names in the formula, space-separated */
    const char *attrs;               /* NAME=DEFAULT ...: names in the formula; a list 1,1: NAME_0, ...; NULL: none */
    /* Defines y; or several formulas, separated by ';', which define `outputs`, space-separated */
    const char *formula, *outputs;
    lw_build *build;                 /* instead of a formula: see "Tensors from tensors"; NULL: the formula */
} lw_op;
bool lw_register_op(lw_context *cx, const lw_op *op);

/* Schedules: one function, which receives the fused group around the operator and walks it. If it returns false, it
 * declines: a note reports it, and the next best implementation is chosen.
 *
 *     static bool in_eights(lw_context *cx, lw_group *g)
 *     {
 *         const lw_stage *sum = lw_find_stage(g, "@op(energy)", 0);
 *         const lw_loop *k = lw_stage_loop(sum, 1);
 *         (void)cx;
 *         return lw_loop_extent(k) % 8 == 0 && lw_split(g, k, 8, NULL);
 *     }
 *
 *     lw_register_schedule(cx, "energy", NULL, 0, in_eights); */
typedef bool lw_schedule(lw_context *cx, lw_group *g);
/* ops: names of operators, or patterns, like pattern:reduction; target NULL: all; plevel 0: 15 */
bool lw_register_schedule(lw_context *cx, const char *ops, const char *target, int plevel, lw_schedule *schedule);

/* Strategies: implementations for a target and for those that fall back to it. Among the applicable implementations,
 * the highest plevel wins; then the nearest target; then one that names the operator, before one that names its
 * pattern; then the first registered. An implementation for a nearer target overrides one of the same name. `loopwright
 * dump --at strategy` prints the choice.
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
 * A condition joins comparisons by && and ||. lw_list_conditions (`loopwright ops --conditions`) lists their names:
 * sizes, ranks and types of inputs and outputs, attributes with the operator's defaults, the target and its features.
 *
 *   .when = "dim(x, 1) % 8 == 0 && x is f32 && w is constant && rank(y) == 2 && !(target has dsp)"
 *
 * A condition that depends on symbolic sizes is a guard at run time, with the next best row in the other branch. A
 * condition on an absent input or attribute is false; `T is given` tests it. */
typedef struct lw_implementation {
    const char *name, *what;         /* what: one line for people */
    const char *features;            /* required features of the target, space-separated; NULL: none */
    int plevel;                      /* priority; 0: 15, above the usual 10 of the built-in ones */
    const char *when;                /* the condition; NULL: always */
    lw_schedule *schedule;           /* NULL: no steps */
    /* An alternative compute of the operator: formulas, separated by ';', over its inputs, its attributes and the
     * tensors defined before. The last one defines the output, or they define the operator's `outputs` by name. NULL:
     * the operator's compute. */
    const char *compute;
    void *user;                      /* for the schedule: lw_group_user */
    lw_build *build;                 /* `compute` as a function */
    /* A C function that computes the operator: the step `external`, with the names of a condition. The interpreter runs
     * the operator's compute. `schedule`, if any, then schedules the rest of the group. */
    const char *call;
    bool in_place;                   /* of `call`: an output may be the array of an input of the same shape */
    lw_build *alter;                 /* other calls instead of the call, before fusion */
    /* Of `call`: the C function returns int, not void; a value other than 0 ends NAME_run with NAME_E_CALL */
    bool has_status;
} lw_implementation;
/* ops: names of operators, `formula`, or patterns, like pattern:reduction; target NULL: all */
bool lw_register_strategy(lw_context *cx, const char *ops, const char *target, const lw_implementation *list,
                          int count);
/* Interprets every applicable implementation of the operator, of any target, on generated inputs of these types (an
 * input that ends with '=' is a constant), and compares all outputs with the operator's own compute: |a - b| <= 1e-4 +
 * 1e-3 |b| for floats, equality for integers. attrs: NAME=VALUE ..., or NULL. Returns the largest difference of each,
 * and the client's rows that do not apply; NULL on error, or after a difference.
 *
 *     lw_check_op(cx, "gain", "by=2.5 least=0", "f32[6][16]");
 *     lw_check_op(cx, "dense", NULL, "f32[4][6] f32[6][5]="); */
const char *lw_check_op(lw_context *cx, const char *op, const char *attrs, const char *inputs);

/* ---- Tensors from tensors ----------------------------------------------------------------------------------------
 * A lw_build function computes the outputs of a call from its inputs, by calls of operators. It fills out[] and returns
 * the number of outputs; 0 is a refusal (lw_call_refuse states why), or of lw_implementation.alter declines. It may run
 * several times, with inputs of any types and shapes, and has no other effect.
 *
 *     static int feed_forward(lw_context *cx, lw_call *c, lw_tensor **out)
 *     {
 *         lw_tensor *x = lw_call_input(c, 0), *w = lw_call_input(c, 1);
 *         lw_tensor *h = lw_apply(c, "dense", (lw_tensor *[]){ x, w }, 2, NULL);
 *         (void)cx;
 *         out[0] = lw_formula(c, "r[*] = max(h[*], 0.0) * by", "h", &h);
 *         out[1] = lw_apply(c, "reduce_max", &h, 1, "axes=1");
 *         return 2;
 *     }
 *
 *     lw_register_op(cx, &(lw_op){ .name = "feed_forward", .pattern = "out-fusable", .inputs = "x w",
 *                                  .attrs = "by=1.0", .build = feed_forward });
 *
 * lw_implementation.alter runs on the DAG, with the condition of its row. There calls on constants are constants of
 * the emitted program (packed weights), lw_constant adds one, and an altered call is one or more operators or
 * formulas, which are scheduled as those of a model. A call of one output is altered to a tensor of the same type and
 * shape.
 *
 * A NULL tensor, from a call that failed, makes the next call fail: check once, at the end. */
int lw_call_input_count(const lw_call *c);
lw_tensor *lw_call_input(const lw_call *c, int i);               /* NULL: absent */
lw_tensor *lw_call_output(const lw_call *c, int i);              /* its type and shape; NULL in lw_op.build */
double lw_call_number(const lw_call *c, const char *attr, double otherwise);  /* "by", "stride_0", with defaults */
const char *lw_call_word(const lw_call *c, const char *attr);    /* NULL: absent */
bool lw_call_refuse(lw_call *c, const char *why);                /* returns false */
const char *lw_tensor_name(const lw_tensor *t);
const char *lw_tensor_type(const lw_tensor *t);                  /* "f32" */
int lw_tensor_rank(const lw_tensor *t);
int64_t lw_tensor_dim(const lw_tensor *t, int d);                /* -1: symbolic, or no such dimension */
const void *lw_tensor_data(const lw_tensor *t);                  /* row-major elements of a constant; else NULL */
/* Calls an operator. attrs: NAME=VALUE ..., or NULL. Returns its first output; lw_apply_output gives the others. */
lw_tensor *lw_apply(lw_call *c, const char *op, lw_tensor *const *in, int count, const char *attrs);
lw_tensor *lw_apply_output(lw_call *c, const lw_tensor *first, int i);
/* A formula over the call's inputs and attributes, and tensors under the given names, space-separated. */
lw_tensor *lw_formula(lw_call *c, const char *formula, const char *names, lw_tensor *const *t);
lw_tensor *lw_constant(lw_call *c, const char *type, int rank, const int64_t *shape, const void *data);

struct lw_target {
    const char *name, *base, *summary;   /* base NULL: "generic"; fields left 0 or NULL are inherited from the base */
    /* Features beyond the base's, space-separated; implementations and instructions require them. "rows mla dsp"
     * enables the 8-bit schedules of a Cortex-M4; schedules/arm/target.c documents each. */
    const char *features;
    int lanes, accumulators;             /* floats of the C compiler's vectors, 1: scalar; accumulators in registers */
    int integer_accumulators;            /* of integers, where they share registers with addresses; 0: accumulators */
    int vector_bytes;                    /* vector width of its header in runtime/simd */
    int vector_registers;                /* their number, where instructions read operands from memory (x86); else 0 */
    int copy_budget, unroll_budget;      /* limits of the statements that copied loops and an unrolled body add */
    /* A header of primitives, from which runtime/simd/tiles.h makes the macros of 8-bit layers; emitted C includes it
     * where `macros`, a condition of #if, holds (NULL: always), and takes the portable form elsewhere. NULL: none */
    const char *header, *macros;
};
bool lw_register_target(lw_context *cx, const lw_target *t);
/* A device runs calls of these operators (`formula`: of formulas; "": of none) with inputs and outputs of these types.
 * lw_register_onnx imports the ONNX operator `foreign` as `op`, with the same inputs; attrs: the names of the
 * attributes to copy.
 *
 *     lw_register_target(cx, &(lw_target){ .name = "tiny-core", .summary = "four multipliers", .lanes = 1 });
 *     lw_register_device(cx, "tpu", "conv2d dense", "i8 i32");
 *     lw_register_onnx(cx, "my.domain.Energy", "energy", "");
 *     lw_register_onnx(cx, "my.domain.Gain", "gain", "by least"); */
bool lw_register_device(lw_context *cx, const char *device, const char *ops, const char *types);
/* The device also runs chains of these operators as one function, NAME_DEVICE_COMPOSITE_N: each call is the only reader
 * of the one before it; operators that end with '?' may be missing. Their types are those of the device. `when` is a
 * condition on the first call, or NULL. The longest chain wins.
 *
 *     lw_register_composite(cx, "tpu", "conv_block", "conv2d add? relu? max_pool2d?", "dim(k, 0) <= 3"); */
bool lw_register_composite(lw_context *cx, const char *device, const char *composite, const char *ops,
                           const char *when);
bool lw_register_onnx(lw_context *cx, const char *foreign, const char *op, const char *attrs);

#ifdef __cplusplus
}
#endif
#endif
