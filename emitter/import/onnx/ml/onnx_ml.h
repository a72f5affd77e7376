/* SPDX-License-Identifier: MIT */
#ifndef LW_IMPORT_ONNX_ML_H
#define LW_IMPORT_ONNX_ML_H
/* The rows of the domain ai.onnx.ml, and the scores and classes that its models share. */
#include "import/onnx/graph/onnx_ops.h"

extern const OnnxOp onnx_rows_encode[], onnx_rows_ml[], onnx_rows_svm[], onnx_rows_trees[];

/* An attribute that is a list of reals: its length, 0 if it is absent, and the list, NULL then. */
int onnx_ml_count(const OnnxCall *c, const char *attr);
const double *onnx_ml_reals(const OnnxCall *c, const char *attr);
/* Constants f32: `what` completes the name. */
Tensor *onnx_ml_constant(OnnxCall *c, const char *what, const double *v, const int64_t *shape, int rank);
Tensor *onnx_ml_list(OnnxCall *c, const char *what, const double *v, int64_t count);
Tensor *onnx_ml_ints(OnnxCall *c, const int64_t *v, int64_t count);          /* i64 [count] */
Tensor *onnx_ml_rows(OnnxCall *c);                           /* the input as f32 [n][features] */

int onnx_class_count(OnnxCall *c, const char *ints);         /* labels of the attribute, or of classlabels_strings */
Tensor *onnx_class_labels(OnnxCall *c, Tensor *index, const char *ints);     /* the label of each class index */
Tensor *onnx_best_class(OnnxCall *c, Tensor *scores);        /* the index of each row's greatest score, i64[n] */
/* The transform of that name, such as "SOFTMAX", over scores [n][classes] */
Tensor *onnx_post_transform(OnnxCall *c, Tensor *scores, const char *word);
/* onnx_post_transform for a regressor: only PROBIT transforms a single target [n][1], as in ONNX Runtime. */
Tensor *onnx_regressed(OnnxCall *c, Tensor *y, const char *word);
/* Both columns of a classifier from the score of its second class, [n][1]. */
Tensor *onnx_two_columns(OnnxCall *c, Tensor *score, const char *post, bool is_probability);
/* The number of keys of the maps that the operator reads; -1: it reads none, or declares none. */
int64_t onnx_map_width(const OnnxNode *n);
#endif
