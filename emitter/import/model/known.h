/* SPDX-License-Identifier: MIT */
#ifndef LW_IMPORT_MODEL_KNOWN_H
#define LW_IMPORT_MODEL_KNOWN_H
/* Chains of shape arithmetic are numbers when a reshape, a slice or a resize looks at them: what importers make of constants
 * is evaluated at once where it is small. */
#include "ir/expr/tensor.h"

/* The tensor as a constant, if it is made of small constants alone; else the tensor itself. What is stored on a grid stays so until
 * the passes have seen it. */
Tensor *import_known(Ctx *cx, Tensor *t);

#endif
