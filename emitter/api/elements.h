/* SPDX-License-Identifier: MIT */
#ifndef LW_ELEMENTS_H
#define LW_ELEMENTS_H
/* Elements of tensors from outside: of .npy files, made up, compared. Sizes are numbers; memory belongs to the context. */
#include "ir/expr/tensor.h"
#include "support/file.h"
#include "support/text.h"

/* The elements of a .npy file, which must have the tensor's type and as many of them, in whatever shape. NULL on error. */
void *elements_parse(Ctx *cx, const char *path, Bytes file, const Tensor *t);
void *elements_read(Ctx *cx, const char *path, const Tensor *t);
Bytes elements_bytes(Ctx *cx, const Tensor *t, const void *data);                /* a .npy file of them */
bool elements_write(Ctx *cx, const char *path, const Tensor *t, const void *data);

/* A fixed pseudo-random sequence: floats in [-1, 1), integers over their whole range; below `limit`, and not
 * negative, if
 * that is positive. */
/* `scores: f32[1][10]` and the values in brackets; of more than 1000 the first and last three of each axis, as NumPy
 * prints. */
void elements_print(Ctx *cx, Text *t, const Tensor *x, const void *data);
void *elements_made_up(Ctx *cx, const Tensor *t, uint32_t seed, int64_t limit);

/* How many elements differ, how many of them by more than is accepted, and where they differ the most. Accepted is
 * |a - b| <= absolute + relative * |b| for floats, and that many steps for integers. */
typedef struct Accepted { double absolute, relative; int steps; } Accepted;
typedef struct Difference { int64_t differ, wrong, worst_at; double worst; } Difference;
Accepted elements_accepted(void);            /* 1e-4, 1e-3, equal */
Difference elements_compare(const Tensor *t, const void *got, const void *want, Accepted accepted);
#endif
