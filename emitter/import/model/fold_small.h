/* SPDX-License-Identifier: MIT */
#ifndef LW_IMPORT_MODEL_FOLD_SMALL_H
#define LW_IMPORT_MODEL_FOLD_SMALL_H
/* Folds shape arithmetic during import. A reshape, a slice or a resize requires numbers, so small calls on constants
 * are evaluated at once. */
#include "ir/expr/tensor.h"

/* Returns the tensor as a constant if it is computed only from small constants; otherwise returns the tensor itself.
 * Quantized constants are not folded, because the passes require their stored form. */
Tensor *import_folded(Ctx *cx, Tensor *t);
/* Does the same as import_folded with other limits: the number of elements of a result, and of a call's inputs. */
Tensor *import_folded_to(Ctx *cx, Tensor *t, int64_t most_result, int64_t most_work);

#endif
