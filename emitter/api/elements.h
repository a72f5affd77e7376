/* SPDX-License-Identifier: MIT */
#ifndef LW_API_ELEMENTS_H
#define LW_API_ELEMENTS_H
/* Reads elements of tensors from .npy files, writes them, generates them and compares them. Sizes are fixed; memory is
 * context-owned. */
#include "ir/expr/tensor.h"
#include "support/file.h"
#include "support/text.h"

/* Reads a .npy file; its type and element count must equal the tensor's, but its shape may differ. NULL on error. */
void *elements_parse(Ctx *cx, const char *path, Bytes file, const Tensor *t);
void *elements_read(Ctx *cx, const char *path, const Tensor *t);
/* Returns the tensor itself if its shape is fixed, otherwise a tensor with the file's shape; NULL on error. */
const Tensor *elements_shaped(Ctx *cx, const char *path, const Tensor *t);
/* Reads an input; refuses sizes in a different order, such as NCHW for NHWC. Dimensions of 1 may differ; a
 * one-dimensional file has the elements in the tensor's order. */
void *elements_read_input(Ctx *cx, const char *path, const Tensor *t);
Bytes elements_bytes(Ctx *cx, const Tensor *t, const void *data);                /* a .npy file of the elements */
bool elements_write(Ctx *cx, const char *path, const Tensor *t, const void *data);

/* Prints `scores: f32[1][10]` and the values in brackets; if there are more than 1000 elements, prints the first and
 * last three along each axis, like NumPy. */
void elements_print(Ctx *cx, Text *t, const Tensor *x, const void *data);

/* Returns pseudo-random elements that depend only on the seed: floats in [-1, 1); integers over the whole range of
 * their type, or in [0, limit) if the limit is positive. */
void *elements_generate(Ctx *cx, const Tensor *t, uint32_t seed, int64_t limit);

/* Counts the elements that differ, counts those beyond the tolerance, and finds the largest difference. The tolerance
 * is |a - b| <= absolute + relative * |b| for floats, and |a - b| <= steps for integers. */
typedef struct Accepted { double absolute, relative; int steps; } Accepted;
typedef struct Difference { int64_t differ, wrong, worst_at; double worst; } Difference;
Accepted elements_accepted(void);            /* the defaults: 1e-4, 1e-3, equal integers */
Difference elements_compare(const Tensor *t, const void *got, const void *want, Accepted accepted);
#endif
