/* SPDX-License-Identifier: MIT */
/* Samples from .npy and .npz files, and from folders of .npy files: see quantizer.h. */
#include <math.h>
#include <string.h>

#include "import/formats/npy.h"
#include "import/formats/zip.h"
#include "quantizer/quantizer.h"
#include "support/text.h"

/* True if the array's dimensions after the first are the tensor's, except dimensions of size 1. */
static bool is_stack_of(const Tensor *t, int rank, const int64_t *shape)
{
    int d = 1, k = 0;
    for (;; d++, k++) {
        while (d < rank && shape[d] == 1) d++;
        while (k < t->rank && tensor_dim(t, k) == 1) k++;
        if (d >= rank || k >= t->rank || shape[d] != tensor_dim(t, k)) break;
    }
    return rank > 0 && d == rank && k == t->rank;
}

static const char *shape_text(Ctx *cx, int rank, const int64_t *shape)
{
    Text t = text_new(cx);
    for (int d = 0; d < rank; d++) text_printf(&t, "[%lld]", (long long)shape[d]);
    return text_string(&t);
}

/* Returns the elements as floats, f32 without a copy; NULL: one is NaN or infinite. */
static const char *as_floats(Ctx *cx, const char *path, DType type, const void *data, int64_t count, int64_t each)
{
    float *copy = type == F32 ? NULL : NEW_ARRAY(cx->arena, float, count);
    const float *out = copy ? copy : data;
    for (int64_t i = 0; i < count; i++) {
        if (copy) copy[i] = (float)dtype_load(type, data, i).f;
        if (isfinite(out[i])) continue;
        diag_error(cx, NULL, "\"%s\": sample %lld has %s at element %lld; finite numbers are expected", path,
                   (long long)(i / each), isnan(out[i]) ? "NaN" : "an infinity", (long long)(i % each));
        return NULL;
    }
    return (const char *)out;
}

/* Returns real numbers as the port stores them: to nearest, ties to even, saturated. */
static const char *as_stored(Ctx *cx, const Tensor *t, const float *real, int64_t count)
{
    char *out = arena_array(cx->arena, (size_t)count, (size_t)dtype_info(t->type)->bytes);
    const double scale = (double)t->quant->scale[0], zero = t->quant->zero_point[0];
    const int64_t least = dtype_info(t->type)->least, greatest = dtype_info(t->type)->greatest;
    for (int64_t i = 0; i < count; i++) {
        const double q = nearbyint((double)real[i] / scale) + zero;
        const Scalar v = { .i = q < (double)least ? least : q > (double)greatest ? greatest : (int64_t)q };
        dtype_store(t->type, out, i, v);
    }
    return out;
}

Samples samples_for(Ctx *cx, const Samples *s, Tensor *const *port)
{
    Samples out = { .count = s->count, .input_count = s->input_count,
                    .data = NEW_ARRAY(cx->arena, const char *, s->input_count),
                    .bytes = NEW_ARRAY(cx->arena, int64_t, s->input_count) };
    for (int i = 0; i < s->input_count; i++) {
        const int64_t count = s->count * tensor_elems(port[i]);
        out.bytes[i] = tensor_bytes(port[i]);
        out.data[i] = out.bytes[i] == s->bytes[i] ? s->data[i]
            : as_stored(cx, port[i], (const void *)s->data[i], count);
    }
    return out;
}

static bool is_quantized_port(const Tensor *t)
{
    return t->quant && t->quant->count == 1 && dtype_is_integer(t->type) && dtype_info(t->type)->bytes <= 2;
}

/* The samples of one file, as the model's type. */
typedef struct Part { int64_t count; const char *data; } Part;

static bool is_sample_of(const Tensor *t, int rank, const int64_t *shape)
{
    bool is_same = rank == t->rank;
    for (int d = 0; is_same && d < rank; d++) is_same = shape[d] == tensor_dim(t, d);
    return is_same;
}

/* Reads a stack of samples, or in a folder also a single one. */
static Part read_part(Build *b, const char *path, Bytes file, int input, bool in_folder)
{
    Ctx *cx = b->cx;
    const Tensor *t = b->model.input[input];
    DType type;
    int rank;
    int64_t shape[MAX_RANK];
    void *data;
    const Part none = { 0, NULL };
    if (ctx_failed(cx) || !npy_parse(cx, path, file, &type, &rank, shape, &data)) return none;
    const bool is_float = dtype_is_float(type) && (t->type == F32 || is_quantized_port(t));
    const bool is_stack = is_stack_of(t, rank, shape);
    if ((type != t->type && !is_float) || (!is_stack && !(in_folder && is_sample_of(t, rank, shape)))) {
        diag_error(cx, NULL, "\"%s\" is %s%s; samples of the input \"%s\" are %s[N]%s", path,
                   dtype_info(type)->spelling, shape_text(cx, rank, shape), t->name, dtype_info(t->type)->spelling,
                   tensor_shape_text(cx, t));
        return none;
    }
    const int64_t each = tensor_elems(t), count = is_stack ? shape[0] : 1;
    if (count < 1) diag_error(cx, NULL, "\"%s\" holds no samples; at least one is expected", path);
    if (ctx_failed(cx)) return none;
    const char *floats = is_float ? as_floats(cx, path, type, data, each * count, each) : NULL;
    return (Part){ count, floats && t->type != F32 ? as_stored(cx, t, (const void *)floats, each * count)
                       : is_float ? floats : data };
}

/* Makes the parts one after another the samples of the input. */
static void join_parts(Build *b, const char *path, const Part *part, int parts, int input, Samples *out)
{
    Ctx *cx = b->cx;
    const int64_t bytes = tensor_bytes(b->model.input[input]);
    int64_t count = 0;
    if (ctx_failed(cx)) return;
    for (int i = 0; i < parts; i++) count += part[i].count;
    if (input && count != out->count)
        diag_error(cx, NULL, "\"%s\" holds %lld samples, but the first input has %lld", path, (long long)count,
                   (long long)out->count);
    char *all = parts == 1 ? NULL : arena_array(cx->arena, (size_t)count, (size_t)bytes), *to = all;
    for (int i = 0; i < parts && all; to += part[i++].count * bytes)
        memcpy(to, part[i].data, (size_t)(part[i].count * bytes));
    out->count = count;
    out->bytes[input] = bytes;
    out->data[input] = all ? all : part[0].data;
}

static void read_array(Build *b, const char *path, Bytes file, int input, Samples *out)
{
    const Part part = read_part(b, path, file, input, false);
    join_parts(b, path, &part, 1, input, out);
}

/* Reads all .npy files of a folder, sorted by name. */
static void read_folder(Build *b, const char *path, int input, Samples *out)
{
    Ctx *cx = b->cx;
    int count;
    const char *const *file = folder_files(cx, path, "npy", &count);
    Part *part = NEW_ARRAY(cx->arena, Part, count);
    if (!count) diag_error(cx, NULL, "the folder \"%s\" holds no .npy file", path);
    for (int i = 0; i < count && !ctx_failed(cx); i++) {
        const char *one = text_format(cx, "%s/%s", path, file[i]);
        part[i] = read_part(b, one, file_read(cx, one), input, true);
    }
    join_parts(b, path, part, count, input, out);
}

/* Reads the samples of one input: a file, or a folder. */
static void read_path(Build *b, const char *path, int input, Samples *out)
{
    if (file_is_folder(path)) read_folder(b, path, input, out);
    else read_array(b, path, file_read(b->cx, path), input, out);
}

/* Returns the file or folder of an input in a folder for several inputs: NAME.npy or NAME. */
static const char *path_in_folder(Ctx *cx, const char *folder, const char *input)
{
    const char *own = text_format(cx, "%s/%s", folder, input);
    return file_is_folder(own) ? own : text_format(cx, "%s.npy", own);
}

/* Reads NAME.npy of the archive; an archive with one array is the only input's. */
static void read_entry(Build *b, const Zip *z, int input, Samples *out)
{
    const char *name = b->model.input[input]->name;
    Bytes file;
    for (int i = 0; i < z->count; i++) {
        const ZipEntry *e = &z->entry[i];
        const bool is_only = z->count == 1 && b->model.input_count == 1;
        if (!is_only && !text_equal(e->name, text_format(b->cx, "%s.npy", name))) continue;
        if (zip_read(b->cx, z, e, (uint64_t)1 << 32, &file))
            read_array(b, text_format(b->cx, "%s/%s", z->path, e->name), file, input, out);
        return;
    }
    diag_error(b->cx, NULL, "\"%s\" has no array \"%s\", the name of an input", z->path, name);
}

bool samples_read(Build *b, const char *const *path, int path_count, Samples *out)
{
    Ctx *cx = b->cx;
    const int inputs = b->model.input_count;
    *out = (Samples){ .input_count = inputs, .data = NEW_ARRAY(cx->arena, const char *, inputs),
                      .bytes = NEW_ARRAY(cx->arena, int64_t, inputs) };
    const bool is_zip = path_count == 1 && text_equal(path_extension(path[0]), "npz");
    const bool is_folder = path_count == 1 && inputs > 1 && file_is_folder(path[0]);
    Zip z;
    if (!is_zip && !is_folder && path_count != inputs) {
        diag_error(cx, NULL,
                   "%d files of samples are given; accepted: one .npz file or folder, or a .npy file or folder for "
                   "each of the %d inputs",
                   path_count, inputs);
        return false;
    }
    if (is_zip && !zip_open(cx, path[0], file_read(cx, path[0]), &z)) return false;
    for (int i = 0; i < inputs && !ctx_failed(cx); i++) {
        if (!tensor_is_fixed(b->model.input[i]))
            diag_error(cx, NULL, "input \"%s\" has symbolic sizes: fix them with --dim", b->model.input[i]->name);
        else if (is_zip) read_entry(b, &z, i, out);
        else read_path(b, is_folder ? path_in_folder(cx, path[0], b->model.input[i]->name) : path[i], i, out);
    }
    return !ctx_failed(cx);
}
