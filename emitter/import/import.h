/* SPDX-License-Identifier: MIT */
#ifndef LW_IMPORT_IMPORT_H
#define LW_IMPORT_IMPORT_H
/* Reads model files of all formats; the ending of the file's name gives the format. */
#include "import/model/model.h"
#include "ir/nest/nest.h"

bool import_model(Ctx *cx, const char *path, const ImportOptions *o, Model *out);
/* Returns the nest after step i of the model's own schedule (a .te file); diagnostics point into the file. */
const Nest *model_step(Ctx *cx, const Model *m, const Nest *n, int i);
#endif
