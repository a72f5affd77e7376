/* SPDX-License-Identifier: MIT */
/* Samples from .npy and .npz files, and from folders of .npy files: see quantizer.h. An input has a list of parts, one
 * per file. A part on disk is read in blocks: a request for a sample outside the current block reads the block that
 * holds it. Memory therefore holds one block per input, and the name and layout of each file. Arrays in Fortran order,
 * packed entries of an archive, and streams are read into memory, because their samples cannot be read separately. */
#include <math.h>
#include <string.h>

#include "import/formats/npy.h"
#include "import/formats/zip.h"
#include "quantizer/quantizer.h"
#include "support/text.h"

/* Returns true if the array's dimensions after the first are the tensor's, except dimensions of size 1. */
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

/* The samples of one file: their position in it, and the number of the first among the samples of the input. */
typedef struct Part {
    const char *name, *path;           /* the name of the array, for diagnostics; the path of its file */
    NpyHead head;
    int64_t first, count;
    /* [count]: the samples as the port stores them, or NULL if they are in the file. */
    const char *data;
} Part;

struct SampleInput {
    const Tensor *port;
    const Part *part; int part_count;
    struct Block *block;               /* the block that was read last */
    char *real;                        /* memory for a sample as floats; NULL if none is needed */
};

/* The samples [first, first + count) of a part, as in the file, in the host's byte order. */
struct Block { const Part *of; int64_t first, count; char *at; };

/* The bytes of the widest element, and of a block of several samples. */
enum { WIDEST = 8, BLOCK_BYTES = 1 << 16 };

/* Converts elements to floats. */
static void as_floats(DType type, const void *data, int64_t count, float *to)
{
    for (int64_t i = 0; i < count; i++) to[i] = (float)dtype_load(type, data, i).f;
}

static bool are_finite(Ctx *cx, const char *path, const float *v, int64_t count, int64_t sample)
{
    for (int64_t i = 0; i < count; i++) {
        if (isfinite(v[i])) continue;
        diag_error(cx, NULL, "\"%s\": sample %lld has %s at element %lld; use finite numbers", path,
                   (long long)sample, isnan(v[i]) ? "NaN" : "an infinity", (long long)i);
        return false;
    }
    return true;
}

/* Stores real numbers as the port does: rounded to nearest, ties to even, and saturated. */
static void as_stored(const Tensor *t, const float *real, int64_t count, void *to)
{
    const double scale = (double)t->quant->scale[0], zero = t->quant->zero_point[0];
    const int64_t least = dtype_info(t->type)->least, greatest = dtype_info(t->type)->greatest;
    for (int64_t i = 0; i < count; i++) {
        const double q = nearbyint((double)real[i] / scale) + zero;
        const Scalar v = { .i = q < (double)least ? least : q > (double)greatest ? greatest : (int64_t)q };
        dtype_store(t->type, to, i, v);
    }
}

/* Converts one sample of a part, as it is in its file, to the type of the port. */
static void convert(const struct SampleInput *in, DType type, const void *from, void *to)
{
    const int64_t count = tensor_elems(in->port);
    if (type == in->port->type) memcpy(to, from, (size_t)tensor_bytes(in->port));
    else if (in->port->type == F32) as_floats(type, from, count, to);
    else {
        as_floats(type, from, count, (void *)in->real);
        as_stored(in->port, (const void *)in->real, count, to);
    }
}

/* Returns one sample of a part, in the file's type, or NULL on error. The sample is valid until the next call. */
static const char *read_sample(Ctx *cx, const struct SampleInput *in, const Part *p, int64_t number)
{
    struct Block *b = in->block;
    const int64_t elems = tensor_elems(in->port), each = elems * dtype_info(p->head.type)->bytes;
    const int64_t most = each && each < BLOCK_BYTES ? BLOCK_BYTES / each : 1, rest = p->count - number;
    if (b->of == p && number >= b->first && number < b->first + b->count) return b->at + (number - b->first) * each;
    b->of = NULL;
    b->first = number;
    b->count = rest < most ? rest : most;
    const size_t bytes = (size_t)(b->count * each);
    if (!file_read_part(cx, p->path, p->head.begin + number * each, b->at, bytes)) return NULL;
    npy_elements(&p->head, (Bytes){ (const uint8_t *)b->at, bytes }, b->count * elems, b->at);
    b->of = p;
    return b->at;
}

/* Returns the part that has the sample: the last part that begins at or before it. */
static const Part *part_of(const struct SampleInput *in, int64_t number)
{
    int low = 0, high = in->part_count;
    while (high - low > 1) {
        const int middle = (low + high) / 2;
        if (in->part[middle].first <= number) low = middle;
        else high = middle;
    }
    return &in->part[low];
}

bool samples_copy(Ctx *cx, const Samples *s, int input, int64_t number, void *to)
{
    const struct SampleInput *in = &s->input[input];
    number += s->first;
    const Part *p = part_of(in, number);
    const size_t bytes = (size_t)s->bytes[input];
    if (p->data) {
        memcpy(to, p->data + (size_t)(number - p->first) * bytes, bytes);
        return true;
    }
    const char *from = read_sample(cx, in, p, number - p->first);
    if (from) convert(in, p->head.type, from, to);
    return from != NULL;
}

/* Allocates memory of the input for a sample of the widest type. */
static void make_rooms(Ctx *cx, struct SampleInput *in)
{
    const size_t count = (size_t)tensor_elems(in->port);
    in->block = NEW(cx->arena, struct Block);
    *in->block = (struct Block){ .at = arena_array(cx->arena, count + BLOCK_BYTES / WIDEST, WIDEST) };
    in->real = arena_array(cx->arena, count, sizeof(float));
}

/* Converts the samples in memory from floats to the port's type. */
static const Part *stored_parts(Ctx *cx, const struct SampleInput *in)
{
    const int64_t count = tensor_elems(in->port), bytes = tensor_bytes(in->port);
    Part *out = NEW_ARRAY(cx->arena, Part, in->part_count);
    for (int i = 0; i < in->part_count && !ctx_failed(cx); i++) {
        out[i] = in->part[i];
        if (!out[i].data) continue;
        char *to = arena_array(cx->arena, (size_t)out[i].count, (size_t)bytes);
        if (to) as_stored(in->port, (const void *)out[i].data, out[i].count * count, to);
        out[i].data = to;
    }
    return out;
}

Samples samples_for(Ctx *cx, const Samples *s, Tensor *const *port)
{
    struct SampleInput *input = NEW_ARRAY(cx->arena, struct SampleInput, s->input_count);
    Samples out = { .count = s->count, .first = s->first, .input_count = s->input_count, .input = input,
                    .bytes = NEW_ARRAY(cx->arena, int64_t, s->input_count) };
    for (int i = 0; i < s->input_count; i++) {
        input[i] = s->input[i];
        out.bytes[i] = tensor_bytes(port[i]);
        if (out.bytes[i] == s->bytes[i]) continue;
        input[i].port = port[i];
        input[i].part = stored_parts(cx, &input[i]);
    }
    return out;
}

Samples samples_in_memory(Ctx *cx, int64_t count, int input_count, const int64_t *bytes, const char *const *data)
{
    struct SampleInput *input = NEW_ARRAY(cx->arena, struct SampleInput, input_count);
    for (int i = 0; i < input_count; i++) {
        Part *part = NEW(cx->arena, Part);
        *part = (Part){ .count = count, .data = data[i] };
        input[i] = (struct SampleInput){ .part = part, .part_count = 1 };
    }
    return (Samples){ count, 0, input_count, arena_copy(cx->arena, bytes, (size_t)input_count * sizeof *bytes), input };
}

Samples samples_from(const Samples *s, int64_t first, int64_t most)
{
    Samples some = *s;
    some.first += first;
    some.count = s->count - first < most ? s->count - first : most;
    return some;
}

static bool is_quantized_port(const Tensor *t)
{
    return t->quant && t->quant->count == 1 && dtype_is_integer(t->type) && dtype_info(t->type)->bytes <= 2;
}

static bool is_sample_of(const Tensor *t, int rank, const int64_t *shape)
{
    bool is_same = rank == t->rank;
    for (int d = 0; is_same && d < rank; d++) is_same = shape[d] == tensor_dim(t, d);
    return is_same;
}

/* Refuses an array that is neither a stack of samples nor, in a folder, a single sample. */
static bool check_part(Build *b, Part *p, const Tensor *t, bool in_folder)
{
    Ctx *cx = b->cx;
    const NpyHead *h = &p->head;
    const bool is_float = dtype_is_float(h->type) && (t->type == F32 || is_quantized_port(t));
    const bool is_stack = is_stack_of(t, h->rank, h->shape);
    if ((h->type != t->type && !is_float) || (!is_stack && !(in_folder && is_sample_of(t, h->rank, h->shape)))) {
        diag_error(cx, NULL, "\"%s\" is %s%s; samples of the input \"%s\" are %s[N]%s", p->name,
                   dtype_info(h->type)->spelling, shape_text(cx, h->rank, h->shape), t->name,
                   dtype_info(t->type)->spelling, tensor_shape_text(cx, t));
        return false;
    }
    p->count = is_stack ? h->shape[0] : 1;
    if (p->count < 1) diag_error(cx, NULL, "\"%s\" holds no samples; use at least one", p->name);
    return !ctx_failed(cx);
}

/* Returns true if a sample, as it is in its file, has integers or finite numbers. */
static bool is_finite(Ctx *cx, const struct SampleInput *in, const Part *p, const void *sample, int64_t number)
{
    const int64_t count = tensor_elems(in->port);
    if (!dtype_is_float(p->head.type)) return true;
    as_floats(p->head.type, sample, count, (void *)in->real);
    return are_finite(cx, p->name, (const void *)in->real, count, number);
}

/* Reads the samples of a file's bytes into memory. */
static void hold_part(Ctx *cx, const struct SampleInput *in, Bytes file, Part *p)
{
    const int64_t each = tensor_elems(in->port) * dtype_info(p->head.type)->bytes, bytes = tensor_bytes(in->port);
    void *all;
    if (!npy_parse(cx, p->name, file, &p->head.type, &p->head.rank, p->head.shape, &all)) return;
    char *to = p->head.type == in->port->type ? all : arena_array(cx->arena, (size_t)p->count, (size_t)bytes);
    for (int64_t k = 0; to && k < p->count; k++) {
        const char *from = (const char *)all + k * each;
        if (!is_finite(cx, in, p, from, k)) return;
        if (to != all) convert(in, p->head.type, from, to + k * bytes);
    }
    p->data = to;
}

/* Reads all samples of a file once, to check that they are finite. */
static void check_samples(const Build *b, const struct SampleInput *in, const Part *p)
{
    for (int64_t k = 0; dtype_is_float(p->head.type) && k < p->count; k++) {
        const char *sample = build_progress(b, "reading samples", k, p->count) ? read_sample(b->cx, in, p, k) : NULL;
        if (!sample || !is_finite(b->cx, in, p, sample, k)) return;
    }
}

/* Opens an array of `size` bytes at an offset of a file. Returns false, with a diagnostic, or if its samples cannot be
 * read separately. */
static bool open_array(Build *b, int64_t at, int64_t size, bool in_folder, const struct SampleInput *in, Part *p)
{
    uint8_t start[NPY_HEAD_BYTES];
    const size_t read = size < NPY_HEAD_BYTES ? (size_t)size : NPY_HEAD_BYTES;
    if (!file_read_part(b->cx, p->path, at, start, read)) return false;
    if (!npy_head(b->cx, p->name, (Bytes){ start, read }, (uint64_t)size, &p->head)) return false;
    if (!check_part(b, p, in->port, in_folder) || p->head.is_fortran) return false;
    p->head.begin += at;
    check_samples(b, in, p);
    return true;
}

/* Reads an array into memory. */
static void hold_array(Build *b, Bytes file, bool in_folder, const struct SampleInput *in, Part *p)
{
    if (npy_head(b->cx, p->name, file, file.count, &p->head) && check_part(b, p, in->port, in_folder))
        hold_part(b->cx, in, file, p);
}

/* Opens a file of samples. */
static void open_part(Build *b, const char *path, bool in_folder, const struct SampleInput *in, Part *p)
{
    const int64_t size = file_size(path);
    *p = (Part){ .name = path, .path = path };
    if ((size < 0 || !open_array(b, 0, size, in_folder, in, p)) && !ctx_failed(b->cx))
        hold_array(b, file_read(b->cx, path), in_folder, in, p);
}

/* Appends the parts, in their order, to the samples of the input. */
static void join_parts(Build *b, const char *path, Part *part, int parts, int input, struct SampleInput *in,
                       Samples *out)
{
    int64_t count = 0;
    if (ctx_failed(b->cx)) return;
    for (int i = 0; i < parts; count += part[i++].count) part[i].first = count;
    if (input && count != out->count)
        diag_error(b->cx, NULL, "\"%s\" holds %lld samples, but the first input has %lld", path, (long long)count,
                   (long long)out->count);
    out->count = count;
    out->bytes[input] = tensor_bytes(in->port);
    in->part = part;
    in->part_count = parts;
}

/* Opens all .npy files of a folder, sorted by name. */
static void read_folder(Build *b, const char *path, int input, struct SampleInput *in, Samples *out)
{
    Ctx *cx = b->cx;
    int count;
    const char *const *file = folder_files(cx, path, "npy", &count);
    Part *part = NEW_ARRAY(cx->arena, Part, count);
    if (!count) diag_error(cx, NULL, "the folder \"%s\" holds no .npy file", path);
    for (int i = 0; i < count && !ctx_failed(cx); i++)
        open_part(b, text_format(cx, "%s/%s", path, file[i]), true, in, &part[i]);
    join_parts(b, path, part, count, input, in, out);
}

/* Reads the samples of one input: a file, or a folder. */
static void read_path(Build *b, const char *path, int input, struct SampleInput *in, Samples *out)
{
    if (file_is_folder(path)) {
        read_folder(b, path, input, in, out);
        return;
    }
    Part *part = NEW(b->cx->arena, Part);
    open_part(b, path, false, in, part);
    join_parts(b, path, part, 1, input, in, out);
}

/* Returns the file or folder of an input in a folder for several inputs: NAME.npy or NAME. */
static const char *path_in_folder(Ctx *cx, const char *folder, const char *input)
{
    const char *own = text_format(cx, "%s/%s", folder, input);
    return file_is_folder(own) ? own : text_format(cx, "%s.npy", own);
}

/* Opens an array of an archive. An array that is not packed stays in the file. */
static void open_entry(Build *b, const Zip *z, const ZipEntry *e, const struct SampleInput *in, Part *p)
{
    Bytes file;
    const int64_t at = zip_stored_at(b->cx, z, e);
    *p = (Part){ .name = text_format(b->cx, "%s/%s", z->path, e->name), .path = z->path };
    if (ctx_failed(b->cx) || (at && open_array(b, at, (int64_t)e->size, false, in, p)) || ctx_failed(b->cx)) return;
    if (zip_read(b->cx, z, e, (uint64_t)1 << 32, &file)) hold_array(b, file, false, in, p);
}

/* Opens NAME.npy of the archive. In an archive with one array, this array is for the only input. */
static void read_entry(Build *b, const Zip *z, int input, struct SampleInput *in, Samples *out)
{
    const char *name = b->model.input[input]->name;
    for (int i = 0; i < z->count; i++) {
        const ZipEntry *e = &z->entry[i];
        const bool is_only = z->count == 1 && b->model.input_count == 1;
        if (!is_only && !text_equal(e->name, text_format(b->cx, "%s.npy", name))) continue;
        Part *part = NEW(b->cx->arena, Part);
        open_entry(b, z, e, in, part);
        join_parts(b, part->name, part, 1, input, in, out);
        return;
    }
    diag_error(b->cx, NULL, "\"%s\" has no array \"%s\", the name of an input", z->path, name);
}

bool samples_read(Build *b, const char *const *path, int path_count, Samples *out)
{
    Ctx *cx = b->cx;
    const int inputs = b->model.input_count;
    struct SampleInput *in = NEW_ARRAY(cx->arena, struct SampleInput, inputs);
    *out = (Samples){ .input_count = inputs, .input = in,
                      .bytes = NEW_ARRAY(cx->arena, int64_t, inputs) };
    const bool is_zip = path_count == 1 && text_equal(path_extension(path[0]), "npz");
    const bool is_folder = path_count == 1 && inputs > 1 && file_is_folder(path[0]);
    Zip z;
    if (!is_zip && !is_folder && path_count != inputs) {
        diag_error(cx, NULL,
                   "%d files of samples are given; pass one .npz file or folder, or a .npy file or folder for each of "
                   "the %d inputs",
                   path_count, inputs);
        return false;
    }
    if (is_zip && !zip_open_file(cx, path[0], &z)) return false;
    for (int i = 0; i < inputs && !ctx_failed(cx); i++) {
        in[i].port = b->model.input[i];
        if (tensor_is_fixed(in[i].port)) make_rooms(cx, &in[i]);
        if (!tensor_is_fixed(b->model.input[i]))
            diag_error(cx, NULL, "input \"%s\" has symbolic sizes; fix them with --dim", b->model.input[i]->name);
        else if (is_zip) read_entry(b, &z, i, &in[i], out);
        else read_path(b, is_folder ? path_in_folder(cx, path[0], b->model.input[i]->name) : path[i], i, &in[i], out);
    }
    return !ctx_failed(cx);
}
