/* SPDX-License-Identifier: MIT */
#ifndef WHOLE_H
#define WHOLE_H
/* What the fuzz targets of model files share: a file's bytes, through the importer and, for some, on to the
 * printed C. */
#include "import/model/model.h"
#include "support/file.h"

typedef bool WholeReader(Ctx *cx, const char *path, Bytes file, const ImportOptions *o, Model *out);

/* Reads the bytes as a file of that name. One input in FUZZ_WHOLE (from the environment; 64 where it is not set) that
 * is accepted goes the whole way, for one of the targets: its own bytes say whether and which, so that it does the same
 * each time. Whatever the bytes are, nothing but a diagnostic may come of it. Ends the process where an internal error
 * is reported: these are findings too. */
void whole_way(const char *path, const uint8_t *bytes, size_t count, WholeReader *read);

#endif
