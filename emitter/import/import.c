/* SPDX-License-Identifier: MIT */
#include "import/import.h"

#include <string.h>

#include "import/onnx.h"
#include "import/te.h"
#include "support/file.h"

static bool read_te(Ctx *cx, const char *path, Bytes file, const ImportOptions *o, Model *out)
{
    return te_read(cx, path, (const char *)file.at, o, out);     /* a NUL follows the last byte */
}

typedef struct Format { const char *extension; bool (*read)(Ctx *, const char *, Bytes, const ImportOptions *, Model *); } Format;
static const Format formats[] = {
    { "onnx", onnx_read },
    { "te", read_te },
};

bool import_model(Ctx *cx, const char *path, const ImportOptions *o, Model *out)
{
    const char *before = cx->file;
    cx->file = path;
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
        if (strcmp(path_extension(path), formats[i].extension) != 0) continue;
        Bytes bytes = file_read(cx, path);
        bool ok = !ctx_failed(cx) && formats[i].read(cx, path, bytes, o, out) && !ctx_failed(cx);
        cx->file = before;
        return ok;
    }
    diag_error(cx, NULL, "the file's name ends in none of .onnx and .te, so its format is not known");
    cx->file = before;
    return false;
}

const Nest *model_step(Ctx *cx, const Model *m, const Nest *n, int i) { return te_step(cx, n, &m->step[i]); }
