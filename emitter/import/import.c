/* SPDX-License-Identifier: MIT */
#include "import/import.h"

#include "import/formats/contents.h"
#include "import/onnx/onnx.h"
#include "import/te/te.h"
#include "import/tflite/tflite.h"
#include "schedule/written.h"
#include "support/file.h"
#include "support/sha256.h"
#include "support/text.h"

static bool read_te(Ctx *cx, const char *path, Bytes file, const ImportOptions *o, Model *out)
{
    return te_read(cx, path, file_text(cx, path, file), o, out);
}

typedef struct Format {
    const char *extension;
    bool (*read)(Ctx *, const char *, Bytes, const ImportOptions *, Model *);
} Format;
static const Format formats[] = {
    { "onnx", onnx_read },
    { "te", read_te },
    { "tflite", tflite_read },
};
enum { FORMAT_COUNT = sizeof formats / sizeof formats[0] };

static const Format *format_of(const char *extension)
{
    for (int i = 0; i < FORMAT_COUNT; i++)
        if (text_equal(extension, formats[i].extension)) return &formats[i];
    return NULL;
}

/* Refuses a file whose contents do not match its name, and a file whose name gives no format. */
static void refuse_contents(Ctx *cx, const char *extension, const Contents *c)
{
    const bool is_model = c && format_of(c->extension) && !text_equal(c->extension, "te");
    const char *advice = !c ? "" : is_model ? text_format(cx, "; give it a name that ends in .%s", c->extension)
                                            : c->advice ? text_format(cx, "; %s", c->advice) : "";
    if (format_of(extension)) diag_error(cx, NULL, "this is not a .%s file, but %s%s", extension, c->what, advice);
    else if (c)
        diag_error(cx, NULL, "the name ends in none of .onnx, .te and .tflite, and the file is %s%s", c->what, advice);
    else diag_error(cx, NULL, "the name ends in none of .onnx, .te and .tflite, so the format is unknown; use a file "
                              "whose name ends in one of them");
}

/* Refuses --dim and --value for names that the model does not have. */
static void refuse_unused(Ctx *cx, const ImportOptions *o, const Model *m)
{
    const char **names = NEW_ARRAY(cx->arena, const char *, m->input_count);
    Text inputs = text_new(cx);
    for (int i = 0; i < m->input_count; i++) {
        names[i] = m->input[i]->name;
        text_printf(&inputs, "%s%s", i ? ", " : "", names[i]);
    }
    for (int i = 0; i < o->dim_count; i++)
        if (!o->is_dim_used[i])
            diag_error(cx, NULL, "there is no symbolic size '%s' to be given with --dim; %s%s", o->dim[i].name,
                       m->dim_names ? "the open sizes are: " : "the model has none", m->dim_names ? m->dim_names : "");
    for (int i = 0; i < o->extern_count; i++)
        if (!o->is_extern_used[i])
            diag_error(cx, NULL, "the model has no custom operator '%s' that --extern can replace by a C function; use "
                       "the name of a custom operator of the file", o->externs[i].name);
    if (o->signature && !*o->is_signature_used)
        diag_error(cx, NULL, "the model has no signatures, so --signature cannot choose one; use a .tflite file with "
                             "signatures");
    for (int i = 0; i < o->value_count; i++)
        if (!o->is_value_used[i])
            diag_error(cx, NULL, "there is no input '%s' to be given with --value%s", o->value[i].name,
                       text_hint(cx, o->value[i].name, names, (size_t)m->input_count,
                                 m->input_count ? text_format(cx, "; inputs are: %s", text_string(&inputs))
                                                : "; the model has none"));
}

bool import_model(Ctx *cx, const char *path, const ImportOptions *options, Model *out)
{
    ImportOptions o = *options;
    o.is_dim_used = NEW_ARRAY(cx->arena, bool, o.dim_count);
    o.is_value_used = NEW_ARRAY(cx->arena, bool, o.value_count);
    o.is_extern_used = NEW_ARRAY(cx->arena, bool, o.extern_count);
    o.is_signature_used = NEW(cx->arena, bool);
    const char *before = cx->file;
    cx->file = path;
    const char *extension = path_extension(path);
    const Format *f = format_of(extension);
    if (file_is_folder(path))
        diag_error(cx, NULL, "'%s' is a folder; use a model file (.onnx, .te or .tflite)", path);
    const Bytes bytes = file_read(cx, path);
    const Contents *c = contents_of(bytes);
    const bool is_other = !f || (c && !text_equal(c->extension, extension));
    if (!ctx_failed(cx) && is_other) refuse_contents(cx, extension, c);
    else if (!ctx_failed(cx) && f->read(cx, path, bytes, &o, out)) refuse_unused(cx, &o, out);
    out->digest = sha256_hex(cx, bytes.at, bytes.count);
    cx->file = before;
    return !ctx_failed(cx);
}
