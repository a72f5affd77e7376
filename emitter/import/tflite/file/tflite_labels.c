/* SPDX-License-Identifier: MIT */
/* Reads the names of the classes from a TFLite file's metadata (metadata_schema.fbs): the model has a metadata buffer
 * named TFLITE_METADATA, a flatbuffer of its own, which names files associated with each output. The files are in a zip
 * archive that follows the model in the same file. */
#include "import/tflite/file/tflite_labels.h"

#include <string.h>

#include "import/formats/flatbuffer.h"
#include "import/formats/zip.h"
#include "support/text.h"

enum { MODEL_BUFFERS = 4, MODEL_METADATA = 6, ENTRY_NAME = 0, ENTRY_BUFFER = 1, BUFFER_DATA = 0 };
enum { METADATA_SUBGRAPHS = 3, SUBGRAPH_OUTPUTS = 3, TENSOR_FILES = 6, FILE_NAME = 0, FILE_TYPE = 2 };
enum { AXIS_LABELS = 2, MOST_ENTRIES = 64, MOST_LABELS = 1 << 20 };

static size_t least(size_t a, size_t b) { return a < b ? a : b; }

/* Returns the metadata's bytes, or no bytes if the file has no metadata. */
static Bytes metadata_of(Ctx *cx, Bytes bytes)
{
    FlatFile file = { bytes, false };
    const FlatTable model = flat_root(&file, "TFL3");
    const FlatVector entries = flat_vector(&model, MODEL_METADATA, 4), buffers = flat_vector(&model, MODEL_BUFFERS, 4);
    for (size_t i = 0; i < least(entries.count, MOST_ENTRIES); i++) {
        const FlatTable entry = flat_table_at(&entries, i);
        const int64_t index = flat_int(&entry, ENTRY_BUFFER, 4, 0);
        if (strcmp(flat_text(cx, &entry, ENTRY_NAME), "TFLITE_METADATA") != 0) continue;
        if (index < 0 || (uint64_t)index >= buffers.count) break;
        const FlatTable buffer = flat_table_at(&buffers, (size_t)index);
        const FlatVector data = flat_vector(&buffer, BUFFER_DATA, 1);
        if (!file.bad) return (Bytes){ bytes.at + data.at, data.count };
    }
    return (Bytes){ 0 };
}

/* Returns the name of the first file with labels of an output's axis, or NULL. */
static const char *labels_file(Ctx *cx, Bytes metadata)
{
    FlatFile file = { metadata, false };
    const FlatTable root = flat_root(&file, "M001");
    const FlatVector subgraphs = flat_vector(&root, METADATA_SUBGRAPHS, 4);
    if (!subgraphs.count) return NULL;
    const FlatTable subgraph = flat_table_at(&subgraphs, 0);
    const FlatVector outputs = flat_vector(&subgraph, SUBGRAPH_OUTPUTS, 4);
    for (size_t i = 0; i < least(outputs.count, MOST_ENTRIES); i++) {
        const FlatTable output = flat_table_at(&outputs, i);
        const FlatVector files = flat_vector(&output, TENSOR_FILES, 4);
        for (size_t k = 0; k < least(files.count, MOST_ENTRIES); k++) {
            const FlatTable f = flat_table_at(&files, k);
            if (flat_int(&f, FILE_TYPE, 1, 0) == AXIS_LABELS && !file.bad) return flat_text(cx, &f, FILE_NAME);
        }
    }
    return NULL;
}

/* Returns the text of a file of the archive, or NULL with a diagnostic. */
static const char *text_of(Ctx *cx, Bytes bytes, const char *name)
{
    Zip zip;
    Bytes text;
    if (!zip_open(cx, cx->file, bytes, &zip)) return NULL;
    for (int i = 0; i < zip.count; i++) {
        if (strcmp(zip.entry[i].name, name) != 0) continue;
        if (!zip_read(cx, &zip, &zip.entry[i], MOST_LABELS, &text)) return NULL;
        return file_text(cx, cx->file, (Bytes){ (const uint8_t *)text_format(cx, "%.*s", (int)text.count,
                                                                             (const char *)text.at), text.count });
    }
    diag_error(cx, NULL, "the archive has no file \"%s\"", name);
    return NULL;
}

int tflite_labels(Ctx *cx, Bytes bytes, const char *const **names)
{
    const Bytes metadata = metadata_of(cx, bytes);
    const char *file = metadata.count ? labels_file(cx, metadata) : NULL;
    if (!file || ctx_failed(cx)) return 0;
    const DiagMark mark = diag_mark(cx);
    const char *text = text_of(cx, bytes, file);
    if (text) return text_lines(cx, text, names);
    const Diag *why = diag_rewind(cx, mark);
    diag_warn(cx, NULL, "the class names of the metadata, file \"%s\", are left out: %s", file, why ? why->what : "");
    return 0;
}
