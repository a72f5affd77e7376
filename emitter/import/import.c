/* SPDX-License-Identifier: MIT */
#include "import/import.h"

#include <string.h>

#include "import/onnx/onnx.h"
#include "import/te/te.h"
#include "import/tflite/tflite.h"
#include "support/file.h"

static bool read_te(Ctx *cx, const char *path, Bytes file, const ImportOptions *o, Model *out)
{
    return te_read(cx, path, file_text(cx, path, file), o, out);
}

typedef struct Format { const char *extension; bool (*read)(Ctx *, const char *, Bytes, const ImportOptions *, Model *); } Format;
static const Format formats[] = {
    { "onnx", onnx_read },
    { "te", read_te },
    { "tflite", tflite_read },
};

/* What was given for a name that the model does not have is a slip, which must not pass in silence. */
static void refuse_unused(Ctx *cx, const ImportOptions *o, const Model *m)
{
    for (int i = 0; i < o->dim_count; i++)
        if (!o->is_dim_used[i])
            diag_error(cx, NULL, "there is no symbolic size '%s' to be given with --dim; %s%s", o->dim[i].name, m->dim_names ? "open are: " : "the model has none",
                       m->dim_names ? m->dim_names : "");
    for (int i = 0; i < o->value_count; i++)
        if (!o->is_value_used[i]) diag_error(cx, NULL, "there is no input '%s' to be given with --value", o->value[i].name);
}

bool import_model(Ctx *cx, const char *path, const ImportOptions *options, Model *out)
{
    ImportOptions o = *options;
    o.is_dim_used = NEW_ARRAY(cx->arena, bool, o.dim_count);
    o.is_value_used = NEW_ARRAY(cx->arena, bool, o.value_count);
    const char *before = cx->file;
    cx->file = path;
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
        if (strcmp(path_extension(path), formats[i].extension) != 0) continue;
        Bytes bytes = file_read(cx, path);
        if (!ctx_failed(cx) && formats[i].read(cx, path, bytes, &o, out)) refuse_unused(cx, &o, out);
        cx->file = before;
        return !ctx_failed(cx);
    }
    diag_error(cx, NULL, "the file's name ends in none of .onnx, .te and .tflite, so its format is not known");
    cx->file = before;
    return false;
}

const Nest *model_step(Ctx *cx, const Model *m, const Nest *n, int i) { return te_step(cx, n, &m->step[i]); }
