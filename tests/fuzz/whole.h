/* SPDX-License-Identifier: MIT */
#ifndef WHOLE_H
#define WHOLE_H
/* Shared by the fuzz targets of model files: a file's bytes, through the importer and, for some, on to printed C. */
#include "import/model/model.h"
#include "support/file.h"

typedef bool WholeReader(Ctx *cx, const char *path, Bytes file, const ImportOptions *o, Model *out);

/* Reads the bytes as a file of that name. Of the accepted inputs one in FUZZ_WHOLE (from the environment; 64 by
 * default) is compiled for one of the targets: its own bytes decide, so each run does the same. For any bytes the only
 * effect is a diagnostic. Ends the process if an internal error is reported: these are findings, too. */
void whole_way(const char *path, const uint8_t *bytes, size_t count, WholeReader *read);

#endif
