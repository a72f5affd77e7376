/* SPDX-License-Identifier: MIT */
#ifndef LW_API_SCORES_H
#define LW_API_SCORES_H
/* Measures outputs: accuracy against labels, error against expected outputs. */
#include "support/ctx.h"
#include "support/text.h"

/* The first output of all samples, as real numbers; value[sample * each + element]. */
/* is_label: true if each output is one integer, which is the class, such as the result of argmax. */
typedef struct Outputs { int64_t count, each; double *value; bool is_label; } Outputs;
int64_t outputs_classes(const Outputs *y);

/* Reads [count] integers from a .npy file, each in 0 to classes - 1. NULL on error. */
const int64_t *labels_read(Ctx *cx, const char *path, int64_t count, int64_t classes);
/* Returns the number of samples whose label is among the `top` highest scores; of equal scores, the first counts as the
 * higher. */
int64_t scores_right(const Outputs *y, const int64_t *label, int top);
/* Prints the confusion matrix: a row for each label, a column for each prediction. */
void print_confusion(Ctx *cx, Text *t, const Outputs *y, const int64_t *label);
/* Returns 10 log10(sum expected^2 / sum (expected - got)^2); infinite for equal outputs. */
double outputs_sqnr(const Outputs *want, const Outputs *got);
/* Returns outputs_sqnr over the elements with of[element] == part. */
double outputs_sqnr_of(const Outputs *want, const Outputs *got, const int *of, int part);
double outputs_greatest_error(const Outputs *want, const Outputs *got);
/* Sums of the pairs that were added: of expected and got values, and of their errors. */
typedef struct Errors { int64_t count; double squares, absolutes, want, got, products; } Errors;
void errors_add(Errors *e, double want, double got);
Errors outputs_errors(const Outputs *want, const Outputs *got);
/* Prints "RMSE 0.012, MAE 0.008, L2 relative 0.0031, cosine 0.99999". L2 relative is the norm of the errors divided by
 * the norm of the expected values; if a divisor is 0, the figure is "none". */
void errors_print(Text *t, const Errors *e);
/* "99.67 %" */
const char *percent_text(Ctx *cx, int64_t part, int64_t whole);
/* Returns "35.2 dB", or "equal" for an infinite ratio. */
const char *decibel_text(Ctx *cx, double db);
#endif
