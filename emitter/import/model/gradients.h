/* SPDX-License-Identifier: MIT */
#ifndef LW_IMPORT_MODEL_GRADIENTS_H
#define LW_IMPORT_MODEL_GRADIENTS_H
/* Adds gradients to a model by the names of its tensors: --gradient LOSS:X,W adds the outputs d_X and d_W. */
#include "import/model/model.h"

/* Returns the tensor of the name for an option: an input, a constant or the result of a layer. Returns NULL, with a
 * diagnostic, if there is none. */
Tensor *model_tensor(Ctx *cx, const Model *m, const char *option, const char *name);

bool gradients_add(Ctx *cx, const char *text, Model *m);
#endif
