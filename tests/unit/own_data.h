/* SPDX-License-Identifier: MIT */
/* Elements that a test writes. A constant's data are const to everyone once they are read. */
#ifndef OWN_DATA_H
#define OWN_DATA_H

#include <string.h>

#include "ir/expr/tensor.h"

/* Gives the constant a copy of its elements and returns the copy, to be written before anything reads the constant. */
static inline void *own_data(Ctx *cx, Tensor *t)
{
    void *data = arena_copy(cx->arena, t->data, (size_t)tensor_bytes(t));
    t->data = data;
    return data;
}
#endif
