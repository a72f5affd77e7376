/* SPDX-License-Identifier: MIT */
#ifndef LW_IMPORT_ONNX_ML_H
#define LW_IMPORT_ONNX_ML_H
/* Declares the rows of the domain ai.onnx.ml, and functions for scores and classes that its models share. */
#include "import/onnx/graph/onnx_ops.h"

extern const OnnxOp onnx_rows_encode[], onnx_rows_ml[], onnx_rows_svm[], onnx_rows_trees[];

/* Reads an attribute that is a list of reals; returns its length, or 0 and a list of NULL if it is absent. */
int onnx_ml_count(const OnnxCall *c, const char *attr);
const double *onnx_ml_reals(const OnnxCall *c, const char *attr);
/* Creates f32 constants: `what` completes the name. */
Tensor *onnx_ml_constant(OnnxCall *c, const char *what, const double *v, const int64_t *shape, int rank);
Tensor *onnx_ml_list(OnnxCall *c, const char *what, const double *v, int64_t count);
Tensor *onnx_ml_ints(OnnxCall *c, const int64_t *v, int64_t count);          /* i64 [count] */
Tensor *onnx_ml_rows(OnnxCall *c);                           /* returns the input as f32 [n][features] */

/* returns the number of labels of the attribute, or of classlabels_strings */
int onnx_class_count(OnnxCall *c, const char *ints);
Tensor *onnx_class_labels(OnnxCall *c, Tensor *index, const char *ints);     /* returns the label of each class index */
/* returns the index of each row's greatest score, i64[n] */
Tensor *onnx_best_class(OnnxCall *c, Tensor *scores);
/* Applies the transform `word`, such as "SOFTMAX", to scores [n][classes]. */
Tensor *onnx_post_transform(OnnxCall *c, Tensor *scores, const char *word);
/* Like onnx_post_transform, for a regressor: only PROBIT transforms a single target [n][1], as in ONNX Runtime. */
Tensor *onnx_regressed(OnnxCall *c, Tensor *y, const char *word);
/* Returns both columns of a classifier, given the score of the second class, [n][1]. */
Tensor *onnx_two_columns(OnnxCall *c, Tensor *score, const char *post, bool is_probability);
/* Returns the number of keys of the maps that the operator reads, or -1 if it reads no map or declares no keys. */
int64_t onnx_map_width(const OnnxNode *n);
#endif
