/* SPDX-License-Identifier: MIT */
#ifndef LOOPWRIGHT_H
#define LOOPWRIGHT_H
/* Loopwright compiles trained networks and scheduled tensor expressions to plain C99. loopwright.h is the only public
 * header; the command line tool is a client of it, like your program.
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
lw_context *lw_new(void);                                        /* NULL if memory runs out */
void lw_free(lw_context *cx);                                    /* does nothing for NULL */
/* Returns message i as `file: where: error: what`, or NULL if there are fewer messages. *is_error becomes false for a
 * warning or a note; the pointer may be NULL. */
const char *lw_diagnostic(lw_context *cx, int i, bool *is_error);
/* Returns false and reports an error if the last call's options had `werror` and there was a warning. Calls that write
 * files test for errors before they write; a client tests for errors before it uses a text. */
bool lw_accepts_warnings(lw_context *cx);
/* Returns true if the call refused an argument (a target, a word of an option, an output's ending) that is wrong for
 * every model. */
bool lw_is_wrong_usage(const lw_context *cx);
/* For hints in a client's diagnostics: returns the candidate within two edits of the word, or NULL. For words of fewer
 * than five letters, the limit is one edit. */
const char *lw_nearest(lw_context *cx, const char *word, const char *const *candidates, int count);
#define LW_VERSION "0.1.0"
const char *lw_version(void);

/* --dim NAME=N, NAME<=N, L<=NAME<=N; `least` is 0 if L is not given */
typedef struct lw_dim   { const char *name; int64_t value; bool is_maximum; int64_t least; } lw_dim;
typedef struct lw_value { const char *name, *path; } lw_value;                             /* --value NAME=FILE.npy */
typedef struct lw_state { const char *input, *output; } lw_state;                          /* --state INPUT=OUTPUT */
/* --rename PORT=NAME: `port` is the name in the file or in the header */
typedef struct lw_rename { const char *port, *name; } lw_rename;

/* --layout PORT=WORD, --preprocess PORT=FORMULA, --postprocess PORT=STEP */
typedef struct lw_adapt { const char *port, *as; } lw_adapt;

typedef struct lw_tolerance { double absolute, relative; } lw_tolerance;                   /* --tolerance ABS[,REL] */

typedef struct lw_options {
    const char *target;              /* name of the target, or NULL for "generic" */
    const char *name;                /* prefix of all symbols, or NULL for the name of the model file */
    bool testbench, static_arena, standalone, time_passes;
    bool werror;                     /* after a warning (not a note) no file is written, and the call fails */
    /* The cores that share the layers (2 to 8); 0 or 1: one core. The firmware defines LW_FORK (runtime/lw_base.h). */
    int cores;
    bool ports_in_arena;             /* inputs and outputs are in the arena, at the offsets NAME_X_AT of the header */
    const char *ports_memory;        /* or the memory of `memory` that holds them; NULL: the arena, or the only RAM */
    /* Memories of the firmware: "dtcm=64K,cost=1,section=.dtcm", or "@FILE" with one memory per line. If the count is
     * 0, there is one arena. */
    const char *const *memory; int memory_count;
    const char *keep_plan;           /* the file NAME.plan of an earlier training, whose places are kept, or NULL */
    bool no_shrink;                  /* keep channels on which no output depends */
    const lw_dim *dim;     int dim_count;
    const lw_value *value; int value_count;
    const lw_state *state; int state_count;  /* an output becomes the input of the next run, in struct NAME_state */
    const lw_rename *rename; int rename_count;   /* names of inputs and outputs in the header */
    const char *annotate;            /* a file of annotations, or NULL */
    /* Where constants are stored. "c" or NULL: in arrays of model.c. "section=NAME": in that section. "bin": in
     * model.bin, which is passed to NAME_run. "incbin": in model.bin, which the assembler or #embed includes.
     * "progmem": in the program memory of an AVR. */
    const char *weights;
    const char *class_names;         /* a file with one class name per line, for the header's macros, or NULL */
    bool stamp;                      /* the header states the compiler's version */
    /* model.c has annotations for an analyser of C, and NAME_proof.c and NAME_proof.sh are also written */
    bool acsl;
    /* Ranges of the inputs of floats, which NAME_run tests: "finite", "-1..1", or a list such as "x=-1..1,y=finite".
     * NULL: no test. */
    const char *check_inputs;
    bool cpp;                        /* also writes model.hpp, a C++11 class over model.h */
    bool profile;                    /* model.c counts per layer with the core's counter; verify prints the table */
    /* A .npy file for each input that is not a state, or only "random". model.c then has NAME_selftest, which runs the
     * model on this input and compares the result of each layer with a checksum. */
    const char *const *selftest; int selftest_count;
    const char *gradient;            /* "loss:x,w": names of tensors, or NULL; adds the outputs d_x and d_w */
    /* "loss=cross_entropy optimizer=sgd(rate=0.01) update=last" also emits NAME_train, and NAME_run takes the
     * parameters (docs/learning.md); or NULL */
    const char *train;
    /* With `train`: activations that are computed again to save RAM. "auto" finds the smallest arena for at most twice
     * the instructions; "20000" limits the arena to 20000 bytes; NULL keeps all activations. */
    const char *checkpoint;
    const char *rounding;            /* int8 requantization: "double" (NULL), like the reference kernels, or "single" */
    /* Floats that a TFLite file multiplies by 8-bit weights. "rounded" or NULL: rounds them to 8 bits at run time, like
     * the reference kernels. "float": keeps them as floats. */
    const char *hybrid;
    const char *signature;           /* the signature of a TFLite file to read, or NULL for the first subgraph */
    /* Custom operators of the file that C functions compute: "NAME,OTHER=FUNCTION" (docs/extending.md); or NULL */
    const char *external;
    /* How calls between dequantize and quantize are computed. "exact" or NULL: on integers if only the rounding of
     * floats differs. "integer": on integers, even if exact ties are frequent. "float": in floats, as written. */
    const char *qdq;
    /* How often a * b + c of floats is rounded on a target with fma: "contract" or NULL once, "separate" twice */
    const char *floats;
    bool layers;                     /* true if the results of every group become outputs, after the model's outputs */
    /* verify, with `layers`: folder or .npz of expected LAYER.npy, or NULL for the interpreter */
    const char *recorded;
    /* verify: |a - b| <= absolute + relative * |b| for floats; NULL for 1e-4 and 1e-3 */
    const lw_tolerance *tolerance;
    /* verify: largest difference of integers of at most 16 bits, in steps; 0 requires equality */
    int steps;
    /* verify, evaluate: the command that builds the C, or NULL for $CC or cc. report: the compiler whose code is
     * measured, or NULL for estimates only */
    const char *cc;
    double mhz;                      /* report: the core's clock in MHz, to print milliseconds, or 0 */
    /* A board by name, or NULL: gives `target` if that is NULL, and for a report `fit` and `mhz`. */
    const char *board;
    const char *against;             /* report: the file of another report in JSON, to compare with, or NULL */
    /* report: "outputs" or "layers" compares them with the interpreter's, as lw_verify does; NULL does not build */
    const char *validate;
    /* report: "flash=256K,ram=64K", or NULL for no limit. A larger model is an error, but the report is still
     * returned. */
    const char *fit;
    const char *link;                /* verify: words after the sources, such as "blas.o -lopenblas", or NULL */
    /* verify: the command CMD that runs the program by `CMD PROGRAM IN.npy... OUT.npy...`, or NULL for the host.
     * report: the command whose counts replace the estimates, or NULL for estimates only */
    const char *runner;
    /* verify, report, tune: the time limit of one run of the program, in seconds, or 0 */
    double timeout;
    const char *const *input; int input_count;       /* report with a runner: .npy files; generated if the count is 0 */
    /* Schedules of groups, in the form of dump --at scheduled: a text or NULL, and files. If several have a block for a
     * group, the first one applies. */
    const char *schedule_text;
    const char *const *schedule; int schedule_count;
    const char *at;                  /* dump: dag, gradient, streamed, fused, strategy, loops, step:N, scheduled,
                                      * lowered, pass:NAME; lw_quantize_dump: annotated, calibrated, realized;
                                      * run: pass:NAME, or NULL for the model as imported */
    const char *only;                /* dump: only the group of this name */
    bool explain;
    /* Purposes for which instructions are spent. "balanced" or NULL: to save at least a tenth of RAM. "speed": nothing,
     * so every group computes whole tensors. "size": also smaller code, with guards instead of copies of loops. */
    const char *optimize;
    /* Where model.c has the loops that replace an instruction in builds without it: "inline" or NULL at each call,
     * "apart" once, in a function before the layers. */
    const char *portable;
    /* Limit of RAM in bytes (arena, inputs, outputs and state), or 0. Chooses the plan with the fewest counted
     * instructions within the limit; refuses a model that needs more. */
    int64_t ram;
    /* Groups to combine. "conv,pool@pool" computes them in the loops of the group after '@' (default: the last). "all"
     * combines groups where that costs neither RAM nor instructions; "none" combines none. NULL combines groups if that
     * saves a tenth of RAM. */
    const char *combine;
    /* "AXIS=HOP" or "INPUT.AXIS=HOP", or NULL. A run then receives HOP new frames along that axis of the input, and
     * keeps the overlap of windows in struct NAME_state. After the first full window, the outputs equal the outputs of
     * a run over the whole window. */
    const char *stream;
    /* Reports the progress of quantizations and evaluations, or NULL: `done` of `total` samples of a part
     * ("calibrating"). The function is also called if a signal, handled without SA_RESTART, interrupts a wait for $CC
     * or a program. If it returns false, the work ends: nothing is written, and the call fails. */
    bool (*progress)(void *user, const char *part, long long done, long long total);
    void *progress_user;
    /* package: of the manifests and the licence. NULL: kept from the manifest of an earlier package, or 1.0.0,
     * Loopwright, an example and 0BSD. A licence is an identifier of SPDX */
    const char *package_version, *author, *url, *licence;
    /* A part of the model: the tensors that become its inputs and its outputs; if a count is 0, the model's own */
    const char *const *from; int from_count;
    const char *const *to; int to_count;
    const lw_adapt *layout; int layout_count;          /* the order of a port's dimensions: "nhwc", "nchw" */
    /* The type of a sensor's values, and the formula of the network's input: "u8: (x - 127.5) / 127.5". A list [a, b,
     * c] has one value per channel. */
    const lw_adapt *preprocess; int preprocess_count;
    const lw_adapt *postprocess; int postprocess_count;   /* "softmax", "argmax", "topk:3", "threshold:0.5" */
} lw_options;

/* Reads a model (.onnx, .tflite, .te) and writes `output` (a path ending in .c), its header, and the files of
 * options. A thread that calls it needs 128 KB of stack; a library built without optimization needs more. */
bool lw_compile(lw_context *cx, const char *model, const char *output, const lw_options *o);
/* Interprets the model on .npy files, one for each input that is not state; state begins as zeros, or its initial
 * value. Writes outputs to .npy files, in the model's order; there may be fewer files than outputs. */
bool lw_run(lw_context *cx, const char *model, const char *const *input, int input_count, const char *const *output,
            int output_count, const lw_options *o);
/* Interprets the model and returns the outputs as text, or NULL on error. If an output has more than 1000 elements, the
 * text has the first and last three along each axis. */
const char *lw_run_text(lw_context *cx, const char *model, const char *const *input, int input_count,
                        const lw_options *o);
/* Emits the C into a scratch folder, builds it with $CC (default cc) and runs it on the inputs, which are generated if
 * none are given. Compares the outputs with the interpreter's, or with the expected outputs, within the tolerance of
 * the options. The text has a line for each output and ends with a verdict. Returns NULL on error, or if an output is
 * beyond the tolerance; with `layers`, the diagnostic names the first layer that differs. */
const char *lw_verify(lw_context *cx, const char *model, const char *const *input, int input_count,
                      const char *const *expect, int expect_count, const lw_options *o);
/* Quantizes a trained float model with samples of its inputs, and writes integer C. Pass the samples as one .npy file
 * for each input, stacked along a new first axis, or as one .npz file with an array for each input's name. Inputs and
 * outputs have 8 bits, with scale and zero point in the header, or stay float.
 *
 *     const char *samples[] = { "samples.npy" };
 *     lw_quantization q = { .samples = samples, .sample_count = 1 };
 *     lw_quantize(cx, "digits.onnx", "digits_int8.c", &q, NULL);
 *
 * Returns a text, or NULL on error. The text has the number of grids (pairs of scale and zero point) and the calls that
 * stay in floats. With a test set it also has the accuracy or noise of the float model, of the simulation and of the
 * emitted C, which is built with $CC. */
typedef struct lw_quantization {
    const char *const *samples; int sample_count;
    const char *ports;               /* "int8" (NULL), "int16" or "float" */
    const char *report;              /* file of an HTML page with histograms, ranges and sensitivities, or NULL */
    const char *const *test; int test_count;         /* stacked like `samples`; no test set if the count is 0 */
    const char *labels;              /* .npy of integers, one for each sample of the test set, or NULL */
    const char *ranges;              /* "best" (NULL), "least", "squared", "min-max", "percentile", "divergence", or
                                      * "curves" */
    /* "8" (the default), "4" or "2": bits of the weights of layers; "auto": see `flash` */
    const char *weights_bits;
    /* bytes; layers get fewer bits for their weights (8, 4, 2) until all constants fit; 0: no limit */
    int64_t flash;
    bool refine;                     /* weights are rounded by the error of their layer over the samples; slower */
    /* Bounds on the samples. The cheapest widths of tensors (8 bits, 16 bits, floats) that keep the bounds are chosen;
     * if both are NULL, all tensors have 8 bits. */
    const char *min_sqnr;            /* "40": smallest signal to noise at each output, in dB */
    const char *max_drop;            /* "0.5%": largest drop of accuracy below the float model, on sample_labels */
    const char *sample_labels;       /* .npy of integers, one for each sample, for max_drop; or NULL */
    /* true if the text lists the signal to noise at the outputs with only one grid, for each grid */
    bool sensitivity;
    bool per_tensor;                 /* one scale for the weights of a layer, not one for each output channel */
    bool no_equalization;            /* scales are not moved between layers */
    const char *finetune;            /* "20": epochs over the samples that train weights, biases and scales; or NULL */
    const char *seed;                /* "1" (NULL): seed of the order in which `finetune` visits the samples */
    const char *onnx;                /* file of a QDQ model with float ports, or NULL; `output` may then be NULL */
} lw_quantization;
const char *lw_quantize(lw_context *cx, const char *model, const char *output, const lw_quantization *q,
                        const lw_options *o);
/* Returns the network at a stage of lw_quantize as the text of a .te file, which can be run, edited and given back to
 * lw_quantize. The field `at` of the options names the stage:
 *
 *   annotated the float network, with an annotation on each tensor that gets a grid; needs no samples calibrated the
 *   same network with the grids, which lw_quantize then reads instead of samples realized the integer network, which
 *   lw_compile compiles
 *
 * Returns NULL on error. */
const char *lw_quantize_dump(lw_context *cx, const char *model, const lw_quantization *q, const lw_options *o);
/* Runs the emitted C, built with $CC, on stacked samples and returns a text. With labels, the text has accuracy and
 * confusion matrix; the first output holds the scores. Otherwise it has the error against the expected outputs. */
typedef struct lw_evaluation {
    const char *const *samples; int sample_count;    /* in the form of lw_quantization.samples */
    const char *labels;              /* .npy of integers, one for each sample, or NULL */
    const char *expect;              /* .npy of the first output, stacked, or NULL */
    const char *reference;           /* a model whose outputs on the same samples are expected, or NULL */
    /* the text also has the share of labels among the `top` highest scores; 0 means 5 */
    int top;
} lw_evaluation;
const char *lw_evaluate(lw_context *cx, const char *model, const lw_evaluation *e, const lw_options *o);
/* Writes the model as a package into a folder, which is created: its C and header, a self-test with a recorded input
 * and the interpreter's outputs, the files of the platform, and a README. Kinds: make, cmake, arduino, platformio,
 * zephyr, esp-idf, cmsis-pack. */
bool lw_package(lw_context *cx, const char *model, const char *kind, const char *folder, const lw_options *o);
/* Writes the evidence of one model for a reviewer into a folder, which is created: the annotated C with its proof;
 * tables that link the nodes of the file with layers, functions, lines, buffers and constants; bounds of sums, loops;
 * the stack by the call graph; test vectors with checksums of layers; the log of lw_verify; the SHA-256 of each file
 * (docs/evidence.md). The same call writes the same bytes. */
bool lw_evidence(lw_context *cx, const char *model, const char *folder, const lw_options *o);
/* Measures other schedules of each group with the runner of the options, on generated inputs, and writes the best
 * schedules as records, which the field `schedule` of the options reads. The file also holds each measured value; a
 * call with the same file continues. Returns a text with the gains of the records, or NULL on error, or if `progress`
 * ends the work. Rows that the context registered are not tried. */
const char *lw_tune(lw_context *cx, const char *model, const char *output, const lw_options *o);
/* Writes a text to a file, whole or not at all. */
bool lw_write(lw_context *cx, const char *path, const char *text);
/* These functions return context-owned texts, or NULL on error. */
const char *lw_dump(lw_context *cx, const char *model, const lw_options *o);
const char *lw_report(lw_context *cx, const char *model, const lw_options *o);
const char *lw_report_html(lw_context *cx, const char *model, const lw_options *o);      /* one file with pictures */
/* The figures of lw_report for programs; docs/report-json.md lists the keys, and the CSV has a row for each layer. The
 * four functions measure code, stack and, for Arm's M-profile cores, instructions if `cc` is set. The functions measure
 * instructions or cycles if `runner` is set. With `fit`, they also return the report of a model beyond the limits, and
 * the diagnostics have an error. */
const char *lw_report_json(lw_context *cx, const char *model, const lw_options *o);
const char *lw_report_csv(lw_context *cx, const char *model, const lw_options *o);
const char *lw_list_ops(lw_context *cx, int level);              /* level 0: all */
const char *lw_list_gradients(lw_context *cx);                  /* operators with gradients, and of which inputs */
const char *lw_list_onnx_ops(lw_context *cx);                    /* supported ONNX operators, with their attributes */
const char *lw_list_tflite_ops(lw_context *cx);                  /* supported TFLite operators: versions and types */
const char *lw_list_targets(lw_context *cx);
const char *lw_list_boards(lw_context *cx);                      /* what `board` may name */
const char *lw_list_passes(lw_context *cx);
const char *lw_list_steps(lw_context *cx); /* the steps of a schedule: operands, options and defaults */
/* The declaration, C prototype and portable form of the instruction MACRO, which a schedule of the model declares or a
 * built-in schedule uses. */
const char *lw_print_instruction(lw_context *cx, const char *model, const char *macro, const lw_options *o);
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
typedef struct lw_computation lw_computation;            /* owned by the context */

lw_computation *lw_define(lw_context *cx, const char *name, const char *target);     /* target: NULL for "generic" */
bool lw_input(lw_computation *p, const char *declaration);
/* Each call reads its statement at once and reports its errors. lw_compute accepts a formula or the call of an
 * operator. lw_statement accepts any line of a .te file, for example symbolic sizes and constants.
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
/* Defines the derivatives of a tensor of one element: lw_gradient(p, "d_x, d_w", "loss", "x, w") is the statement `d_x,
 * d_w = gradient(loss, x, w)`. */
bool lw_gradient(lw_computation *p, const char *results, const char *of, const char *with_respect_to);
bool lw_statement(lw_computation *p, const char *text);

/* Formulas and calls of operators are fused to groups, and each group has a loop nest. Until the next call of this
 * function, steps and handles refer to the group that computes the tensor. A computation of one group needs no call. If
 * a chosen group gets no steps, it is emitted as written. The statement "nest" makes the computation one group. */
bool lw_schedule_group(lw_computation *p, const char *tensor);

/* The steps are in the order of `loopwright steps`, which documents them and the words of `options`. A stage, tensor or
 * loop is given as a name (`const char *`: "c", "c.i"), a name by role ("@contraction", "@output.i";
 * docs/schedules.md), or a handle (`const lw_stage *`, `const lw_loop *`; below). A list of loops is one text: "c.i
 * c.j", or lw_loop_names. A scope is register, stack, arena, static or a declared memory. A handle of another
 * computation is an error. */
typedef const void *lw_stage_ref;
typedef const void *lw_loop_ref;
bool lw_step(lw_computation *p, const char *step);             /* in the syntax of .te files */
/* Applies the step and returns NULL, or returns the reason of its refusal and changes nothing. */
const char *lw_try(lw_computation *p, const char *step);

/* factor: 0 if options have parts=COUNT */
bool lw_split(lw_computation *p, lw_loop_ref loop, int factor, const char *options);
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
/* loop: NULL for the root */
bool lw_store_at(lw_computation *p, lw_stage_ref stage, lw_loop_ref loop, const char *options);
bool lw_fold_storage(lw_computation *p, lw_stage_ref stage, const char *options);
bool lw_rfactor(lw_computation *p, lw_stage_ref stage, lw_loop_ref loop, const char *options);
bool lw_decompose_reduction(lw_computation *p, lw_stage_ref stage, lw_loop_ref loop, const char *options);
bool lw_cache_read(lw_computation *p, lw_stage_ref tensor, const char *scope, const char *options);
bool lw_cache_write(lw_computation *p, lw_stage_ref stage, const char *scope, const char *options);
bool lw_set_scope(lw_computation *p, lw_stage_ref tensor, const char *scope, const char *options);
bool lw_async(lw_computation *p, lw_stage_ref stage, const char *options);
bool lw_pack(lw_computation *p, lw_stage_ref tensor, const char *dimensions, const char *options);
bool lw_storage_align(lw_computation *p, lw_stage_ref tensor, int elements, const char *options);
bool lw_pad(lw_computation *p, lw_stage_ref stage, const char *axis, int multiple, const char *options);
bool lw_specialize(lw_computation *p, const char *condition, const char *options);
/* options: "bytes=16384 align=16 row=16 banks=4 opaque"; later steps accept the name as a scope */
bool lw_memory(lw_computation *p, const char *name, const char *options);
bool lw_config(lw_computation *p, const char *field, const char *options);             /* "load.step: i32" */
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
/* Writes `output` (a path ending in .c) and its header. Groups without steps get the schedules of the target. */
bool lw_emit(lw_computation *p, const char *output, const lw_options *o);

/* ---- Walking a dataflow ------------------------------------------------------------------------------------------
 * A schedule function receives the fused group of its operator (lw_group), a computation like those of lw_define, with
 * the same steps; lw_compute and the other statements, lw_text, lw_execute and lw_emit are refused for it. The group is
 * a DAG of stages. Inputs and constants are also stages, without a formula, axes and loops.
 *
 * A handle is a value: equal handles are equal stages (or loops) of one computation. A handle holds a name, and the
 * functions below look the name up in the nest after the steps so far. Handles and texts are context-owned; the handles
 * of a group are valid until its schedule function returns. If a step inlined the stage or consumed the loop, the
 * functions return what they return for NULL: NULL, 0 or false. A step that receives such a handle is refused, with the
 * names that exist.
 *
 * No function below changes anything or reports an error, so a schedule function may repeat it; one exception: a role
 * that does not exist is an error of the caller. The compiler may call a schedule function several times for one group
 * (for a report, or to combine groups), so the function must depend only on its arguments.
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
/* Returns stage i, or NULL past the last one. Inputs and constants come first, and producers precede consumers. */
const lw_stage *lw_stage_at(lw_group *g, int i);
/* Returns the i-th stage that has the name or role, or NULL past the last one. */
const lw_stage *lw_find_stage(lw_group *g, const char *name_or_role, int i);
/* each producer once, in the order of the formula's reads */
const lw_stage *lw_stage_producer(const lw_stage *s, int i);
const lw_stage *lw_stage_consumer(const lw_stage *s, int i);     /* NULL past the last */

const char *lw_stage_name(const lw_stage *s);
/* operator of the call that the stage is part of, or NULL for a formula or input */
const char *lw_stage_op(const lw_stage *s);
const char *lw_stage_node(const lw_stage *s);   /* the model's name of the call that the stage is part of */
/* Returns the value of an attribute in the syntax of .te files, such as "1,1", or NULL if there is no such attribute.
 * If the call omits the attribute, returns the default. lw_stage_attrs returns all attributes: "stride=1,1
 * pad=0,0,0,0". */
const char *lw_stage_attr(const lw_stage *s, const char *attr);
const char *lw_stage_attrs(const lw_stage *s);
/* Returns elementwise, broadcast, injective, reduction, out-fusable (contractions and windows) or opaque, inferred from
 * the formula after the steps so far. Returns NULL for an input or constant. */
const char *lw_stage_pattern(const lw_stage *s);
bool lw_stage_is_contraction(const lw_stage *s);                 /* true if it is a sum of products of two tensors */
bool lw_stage_is_output(const lw_stage *s);
bool lw_stage_is_input(const lw_stage *s);
bool lw_stage_is_constant(const lw_stage *s);
/* Return the type and shape of the stage's (first) tensor. */
const char *lw_stage_type(const lw_stage *s);                    /* "f32" */
const char *lw_stage_shape(const lw_stage *s);                   /* "[n][16]"; "[]" for a scalar */
int lw_stage_rank(const lw_stage *s);
int64_t lw_stage_size(const lw_stage *s, int dimension);         /* -1: open */
/* Stores the range of a size. Returns false if there is no such dimension. */
bool lw_stage_limits(const lw_stage *s, int dimension, int64_t *least, int64_t *greatest);
/* Returns axis i of the stage's formula: first the axes of the dimensions, then the reduced axes. Returns NULL past the
 * last one. */
const char *lw_stage_axis(const lw_stage *s, int i);
int64_t lw_stage_axis_extent(const lw_stage *s, int i);          /* -1: open */
bool lw_stage_axis_reduces(const lw_stage *s, int i);

/* Returns loop i of the stage, outermost first, or NULL past the last one. Find the loops of its copies (conv@init.o)
 * by name. */
const lw_loop *lw_stage_loop(const lw_stage *s, int i);
/* Returns the loop of this name, or NULL if there is none or more than one: "conv.h", "@output.h",
 * "@contraction@init.o". */
const lw_loop *lw_find_loop(lw_group *g, const char *name);
const char *lw_loop_name(const lw_loop *l);
/* the names for lw_reorder, "c.i c.j"; NULL if a loop is NULL */
const char *lw_loop_names(const lw_loop *const *loops, int count);
int64_t lw_loop_extent(const lw_loop *l);                        /* -1: open */
const char *lw_loop_kind(const lw_loop *l);                      /* serial, unrolled, vector or parallel */
bool lw_loop_reduces(const lw_loop *l);                          /* true if it runs over a reduce axis */
/* its axis, or NULL for the several axes of a fused loop */
const char *lw_loop_axis(const lw_loop *l);
const lw_stage *lw_loop_stage(const lw_loop *l);                 /* the stage that the loop computes */
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

typedef struct Tensor lw_tensor;                         /* both owned by the context */
typedef struct lw_call lw_call;
typedef int lw_build(lw_context *cx, lw_call *call, lw_tensor **out);

typedef struct lw_op {
    const char *name, *summary;      /* summary: NULL for the formula */
    int level;                       /* 0: 10 */
    const char *pattern;             /* elementwise, broadcast, injective, reduction, out-fusable or opaque */
    const char *inputs;              /* names of the inputs in the formula, space-separated */
    /* NAME=DEFAULT ..., or NULL. The formula reads NAME, or for a list 1,1 NAME_0, ... */
    const char *attrs;
    /* A formula that defines y, or several, separated by ';', that define `outputs`, which are space-separated */
    const char *formula, *outputs;
    lw_build *build;                 /* a function instead of the formula (see "Tensors from tensors"), or NULL */
} lw_op;
bool lw_register_op(lw_context *cx, const lw_op *op);

/* A schedule is a function that receives the fused group around the operator and walks it. If it returns false, a note
 * reports this, and the next best implementation is chosen.
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
/* ops: names of operators, or patterns, like pattern:reduction; target: NULL for all; plevel: 0 for 15 */
bool lw_register_schedule(lw_context *cx, const char *ops, const char *target, int plevel, lw_schedule *schedule);

/* A strategy lists implementations for a target and for the targets that fall back to it. Among the applicable
 * implementations, the highest plevel wins; then the nearest target; then an implementation that names the operator
 * rather than its pattern; then the first registered one. An implementation for a nearer target overrides one of the
 * same name. `loopwright dump --at strategy` prints the choice.
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
 * A condition joins comparisons by && and ||. lw_list_conditions (`loopwright ops --conditions`) lists the names in
 * them: sizes, ranks and types of inputs and outputs, attributes with the operator's defaults, the target and its
 * features.
 *
 *   .when = "dim(x, 1) % 8 == 0 && x is f32 && w is constant && rank(y) == 2 && !(target has dsp)"
 *
 * A condition that depends on symbolic sizes is a guard at run time, with the next best row in the other branch. A
 * condition on an absent input or attribute is false; `T is given` tests it. */
typedef struct lw_implementation {
    const char *name, *what;         /* what: a description in one line */
    const char *features;            /* required features of the target, space-separated, or NULL */
    int plevel;                      /* priority; 0 means 15, which is above 10, the usual priority of built-in rows */
    const char *when;                /* the condition, or NULL if it always applies */
    lw_schedule *schedule;           /* or NULL for no steps */
    /* An alternative compute of the operator: formulas, separated by ';', over its inputs, its attributes and the
     * tensors defined before. The last formula defines the output, or the formulas define the operator's `outputs` by
     * name. NULL for the operator's compute. */
    const char *compute;
    void *user;                      /* for the schedule: lw_group_user */
    lw_build *build;                 /* a function instead of `compute`, or NULL */
    /* The words of the step `external`, which calls a C function to compute the operator; they may use the names of a
     * condition. The interpreter runs the operator's compute. `schedule`, if given, then schedules the rest of the
     * group. */
    const char *call;
    bool in_place;                   /* true if an output of `call` may be the array of an input of the same shape */
    lw_build *alter;                 /* creates the calls that replace the call before fusion */
    /* True if the C function of `call` returns int, not void; a value other than 0 ends NAME_run with NAME_E_CALL */
    bool has_status;
} lw_implementation;
/* ops: names of operators, `formula`, or patterns, like pattern:reduction; target: NULL for all */
bool lw_register_strategy(lw_context *cx, const char *ops, const char *target, const lw_implementation *list,
                          int count);
/* Interprets every applicable implementation of the operator, of any target, on generated inputs of these types (an
 * input that ends with '=' is a constant), and compares all outputs with the operator's own compute: |a - b| <= 1e-4 +
 * 1e-3 |b| for floats, equality for integers. attrs: NAME=VALUE ..., or NULL. Returns the largest difference of each
 * implementation, and the client's rows that do not apply. Returns NULL on error or if an implementation differs.
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
 * formulas, which are scheduled like the formulas of a model. A call of one output is altered to a tensor of the same
 * type and shape.
 *
 * A NULL tensor, from a call that failed, makes the next call fail: check once, at the end. */
int lw_call_input_count(const lw_call *c);
lw_tensor *lw_call_input(const lw_call *c, int i);               /* or NULL if absent */
lw_tensor *lw_call_output(const lw_call *c, int i);              /* type and shape of the output; NULL in lw_op.build */
/* attributes "by", "stride_0"; applies defaults */
double lw_call_number(const lw_call *c, const char *attr, double otherwise);
const char *lw_call_word(const lw_call *c, const char *attr);    /* or NULL if absent */
bool lw_call_refuse(lw_call *c, const char *why);                /* returns false */
const char *lw_tensor_name(const lw_tensor *t);
const char *lw_tensor_type(const lw_tensor *t);                  /* "f32" */
int lw_tensor_rank(const lw_tensor *t);
int64_t lw_tensor_dim(const lw_tensor *t, int d);                /* -1 if symbolic or absent */
const void *lw_tensor_data(const lw_tensor *t);                  /* row-major elements of a constant, or NULL */
/* Calls an operator with attrs (NAME=VALUE ..., or NULL). Returns the first output; lw_apply_output returns the
 * others. */
lw_tensor *lw_apply(lw_call *c, const char *op, lw_tensor *const *in, int count, const char *attrs);
lw_tensor *lw_apply_output(lw_call *c, const lw_tensor *first, int i);
/* Computes a formula over the call's inputs and attributes, and over tensors with the given names, which are
 * space-separated. */
lw_tensor *lw_formula(lw_call *c, const char *formula, const char *names, lw_tensor *const *t);
lw_tensor *lw_constant(lw_call *c, const char *type, int rank, const int64_t *shape, const void *data);

struct lw_target {
    /* base: NULL for "generic". Fields left 0 or NULL are inherited from the base. */
    const char *name, *base, *summary;
    /* Features in addition to the base's, space-separated; implementations and instructions require features. "rows mla
     * dsp" enables the 8-bit schedules of a Cortex-M4; schedules/arm/target.c documents each feature. */
    const char *features;
    /* floats in a vector of the C compiler, 1 if there are no vectors; accumulators that fit into registers */
    int lanes, accumulators;
    /* integer accumulators, if they share registers with addresses; 0 means `accumulators` */
    int integer_accumulators;
    int vector_bytes;                    /* vector width of the target's header in runtime/simd */
    /* number of vector registers if instructions can read operands from memory (x86); else 0 */
    int vector_registers;
    /* limits on the statements added by copies of loops, and by an unrolled body */
    int copy_budget, unroll_budget;
    /* A header of primitives, or NULL; runtime/simd/tiles.h defines the macros of 8-bit layers by them. Emitted C
     * includes the header if `macros`, a condition of #if, holds (NULL: always); otherwise it uses the portable
     * macros. */
    const char *header, *macros;
};
bool lw_register_target(lw_context *cx, const lw_target *t);
/* Registers a device that runs calls of these operators, with inputs and outputs of these types. The word `formula`
 * represents formulas; "" represents no operator. lw_register_onnx imports the ONNX operator `foreign` as `op`, with
 * the same inputs; attrs: the names of the attributes to copy.
 *
 *     lw_register_target(cx, &(lw_target){ .name = "tiny-core", .summary = "four multipliers", .lanes = 1 });
 *     lw_register_device(cx, "tpu", "conv2d dense", "i8 i32");
 *     lw_register_onnx(cx, "my.domain.Energy", "energy", "");
 *     lw_register_onnx(cx, "my.domain.Gain", "gain", "by least"); */
bool lw_register_device(lw_context *cx, const char *device, const char *ops, const char *types);
/* Lets the device also run chains of these operators as one function, NAME_DEVICE_COMPOSITE_N. Each call in a chain is
 * the only reader of the call before it; operators that end with '?' may be absent. The calls have the types of the
 * device. `when` is a condition on the first call, or NULL. The longest chain wins.
 *
 *     lw_register_composite(cx, "tpu", "conv_block", "conv2d add? relu? max_pool2d?", "dim(k, 0) <= 3"); */
bool lw_register_composite(lw_context *cx, const char *device, const char *composite, const char *ops,
                           const char *when);
bool lw_register_onnx(lw_context *cx, const char *foreign, const char *op, const char *attrs);

#ifdef __cplusplus
}
#endif
#endif
