/* SPDX-License-Identifier: MIT */
#ifndef LW_IMPORT_IMPORT_H
#define LW_IMPORT_IMPORT_H
/* Reads model files of all formats; the ending of the file's name selects the format. */
#include "import/model/model.h"

bool import_model(Ctx *cx, const char *path, const ImportOptions *o, Model *out);
#endif
