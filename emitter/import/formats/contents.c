/* SPDX-License-Identifier: MIT */
/* Has one row per kind of file that users pass instead of a model: a test of its first bytes, its description and the
 * advice. */
#include "import/formats/contents.h"

#include <string.h>

#include "support/text.h"

static bool begins(Bytes f, const char *bytes, size_t count)
{
    return f.count >= count && memcmp(f.at, bytes, count) == 0;
}

static bool is_empty(Bytes f) { return f.count == 0; }
static bool is_lfs_pointer(Bytes f) { return begins(f, "version https://git-lfs.github.com/spec/", 40); }
static bool is_tflite(Bytes f) { return f.count >= 8 && memcmp(f.at + 4, "TFL3", 4) == 0; }
static bool is_npy(Bytes f) { return begins(f, "\x93NUMPY", 6); }
static bool is_zip(Bytes f) { return begins(f, "PK\3\4", 4) || begins(f, "PK\5\6", 4); }
static bool is_hdf5(Bytes f) { return begins(f, "\x89HDF\r\n\x1a\n", 8); }
static bool is_gzip(Bytes f) { return begins(f, "\x1f\x8b\x08", 3); }

/* An ONNX model is a message. The model's first field is ir_version, a small number; its second field is a
 * length-delimited field of ModelProto. */
static bool is_onnx(Bytes f)
{
    const bool has_version = f.count > 3 && f.at[0] == 0x08 && f.at[1] > 0 && f.at[1] < 32;
    return has_version && (f.at[2] & 7) == 2 && f.at[2] >> 3 >= 2 && f.at[2] >> 3 <= 8;
}

static char lower(uint8_t c) { return (char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c); }

static bool is_html(Bytes f)
{
    static const char *const tags[] = { "<!doctype html", "<html", "<head", "<?xml" };
    size_t begin = begins(f, "\xef\xbb\xbf", 3) ? 3 : 0;
    while (begin < f.count && strchr(" \t\r\n", f.at[begin]) && f.at[begin]) begin++;
    for (size_t i = 0; i < sizeof tags / sizeof tags[0]; i++) {
        const size_t length = strlen(tags[i]);
        size_t same = 0;
        while (same < length && begin + same < f.count && lower(f.at[begin + same]) == tags[i][same]) same++;
        if (same == length) return true;
    }
    return false;
}

/* Returns true if the first kilobyte has no control characters except white space; ASCII and UTF-8 text pass. */
static bool is_text(Bytes f)
{
    enum { ENOUGH = 1024 };
    for (size_t i = 0; i < f.count && i < ENOUGH; i++)
        if (f.at[i] < ' ' && f.at[i] != '\t' && f.at[i] != '\n' && f.at[i] != '\r') return false;
    return true;
}

typedef struct Row { bool (*is)(Bytes f); Contents contents; } Row;
static const Row rows[] = {
    { is_empty, { "an empty file", NULL, NULL } },
    { is_lfs_pointer, { "a git-LFS pointer, not the file itself", NULL, "fetch the file: git lfs pull" } },
    { is_html,
      { "an HTML page", NULL, "the download returned a web page: use the link to the raw file" } },
    { is_tflite, { "a TensorFlow Lite model", "tflite", NULL } },
    { is_npy, { "a NumPy array", "npy", NULL } },
    { is_zip, { "a zip archive", "npz", "unpack it; convert a Keras archive to .tflite or .onnx" } },
    { is_hdf5, { "an HDF5 file", NULL, "convert a Keras model to .tflite or .onnx" } },
    { is_gzip, { "a gzip archive", NULL, "unpack it" } },
    { is_onnx, { "an ONNX model", "onnx", NULL } },
    { is_text, { "text", "te", NULL } },
};

const Contents *contents_of(Bytes file)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (rows[i].is(file)) return &rows[i].contents;
    return NULL;
}
