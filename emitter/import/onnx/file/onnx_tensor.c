/* SPDX-License-Identifier: MIT */
/* Reads TensorProto: type, shape and values. The values are stored in the message, packed or raw, or in an external
 * file. */
#include <math.h>
#include <string.h>

#include "import/onnx/file/onnx_file.h"
#include "support/names.h"
#include "support/text.h"

/* A type of fewer than 8 bits, or of floats with 8 bits. Such a type occurs only in constants, and is widened when it
 * is read: integers to bytes, floats to f32. */
typedef struct Narrow {
    int bits;                        /* bits of an element, or 0 if the type is not narrow */
    bool is_signed;                  /* of integers */
    int exponent, bias;              /* for floats: bits and bias of the exponent; for integers 0 */
    enum { ALL_FINITE, LAST_IS_NAN, ZERO_IS_NAN, HAS_INFINITY } special;     /* ZERO_IS_NAN: the code of -0 is NaN */
} Narrow;

/* 16-bit floats are only stored: onnx_translate inserts casts around their arithmetic. */
static const struct { const char *text; bool is_known; DType type; Narrow narrow;
} types[] = {
    [ONNX_FLOAT] = { "float", true, F32, { 0 } },
    [ONNX_UINT8] = { "uint8", true, U8, { 0 } },
    [ONNX_INT8] = { "int8", true, I8, { 0 } },
    [ONNX_UINT16] = { "uint16", true, U16, { 0 } },
    [ONNX_INT16] = { "int16", true, I16, { 0 } },
    [ONNX_INT32] = { "int32", true, I32, { 0 } },
    [ONNX_INT64] = { "int64", true, I64, { 0 } },
    [ONNX_STRING] = { "string", false, I8, { 0 } },
    [ONNX_BOOL] = { "bool", true, BOOL, { 0 } },
    [ONNX_FLOAT16] = { "float16", true, F16, { 0 } },
    [ONNX_DOUBLE] = { "double", true, F64, { 0 } },
    [ONNX_UINT32] = { "uint32", true, U32, { 0 } },
    [ONNX_UINT64] = { "uint64", true, U64, { 0 } },
    [ONNX_COMPLEX64] = { "complex64", false, I8, { 0 } },
    [ONNX_COMPLEX128] = { "complex128", false, I8, { 0 } },
    [ONNX_BFLOAT16] = { "bfloat16", true, BF16, { 0 } },
    [ONNX_FLOAT8E4M3FN] = { "float8e4m3fn", false, F32, { 8, true, 4, 7, LAST_IS_NAN } },
    [ONNX_FLOAT8E4M3FNUZ] = { "float8e4m3fnuz", false, F32, { 8, true, 4, 8, ZERO_IS_NAN } },
    [ONNX_FLOAT8E5M2] = { "float8e5m2", false, F32, { 8, true, 5, 15, HAS_INFINITY } },
    [ONNX_FLOAT8E5M2FNUZ] = { "float8e5m2fnuz", false, F32, { 8, true, 5, 16, ZERO_IS_NAN } },
    [ONNX_FLOAT8E8M0] = { "float8e8m0", false, F32, { 8, false, 8, 127, LAST_IS_NAN } },
    [ONNX_FLOAT4E2M1] = { "float4e2m1", false, F32, { 4, true, 2, 1, ALL_FINITE } },
    [ONNX_UINT4] = { "uint4", false, U8, { 4, false, 0, 0, ALL_FINITE } },
    [ONNX_INT4] = { "int4", false, I8, { 4, true, 0, 0, ALL_FINITE } },
    [ONNX_UINT2] = { "uint2", false, U8, { 2, false, 0, 0, ALL_FINITE } },
    [ONNX_INT2] = { "int2", false, I8, { 2, true, 0, 0, ALL_FINITE } },
};

const char *onnx_type_text(Ctx *cx, int64_t t)
{
    return t > 0 && t < ONNX_TYPES ? types[t].text : text_format(cx, "%lld", (long long)t);
}

const char *onnx_types_text(Ctx *cx)
{
    Text s = text_new(cx);
    for (int t = 1; t < ONNX_TYPES; t++)
        if (types[t].is_known) text_printf(&s, "%s%s", s.length ? ", " : "", types[t].text);
    return text_string(&s);
}

bool onnx_dtype(int64_t t, DType *out)
{
    if (t <= 0 || t >= ONNX_TYPES || !types[t].is_known) return false;
    *out = types[t].type;
    return true;
}

bool onnx_constant_dtype(int64_t t, DType *out)
{
    if (onnx_dtype(t, out)) return true;
    if (t <= 0 || t >= ONNX_TYPES || !types[t].narrow.bits) return false;
    *out = types[t].type;
    return true;
}

bool onnx_integer_range(int64_t t, int64_t *least, int64_t *greatest)
{
    if (t <= 0 || t >= ONNX_TYPES || !types[t].narrow.bits || types[t].narrow.exponent) return false;
    const int64_t half = (int64_t)1 << (types[t].narrow.bits - 1);
    *least = types[t].narrow.is_signed ? -half : 0;
    *greatest = types[t].narrow.is_signed ? half - 1 : 2 * half - 1;
    return true;
}

enum {
    TENSOR_DIMS = 1,
    TENSOR_TYPE = 2,
    TENSOR_FLOATS = 4,
    TENSOR_INT32S = 5,
    TENSOR_STRINGS = 6,
    TENSOR_INT64S = 7,
    TENSOR_NAME = 8,
    TENSOR_RAW = 9,
    TENSOR_DOUBLES = 10,
    TENSOR_UINT64S = 11,
    TENSOR_EXTERNAL = 13,
    TENSOR_LOCATION = 14
};

static void read_dims(OnnxTensor *t, Field *f, uint64_t number)
{
    uint64_t value;
    while (f->number == number && proto_number(f, WIRE_VARINT, &value)) {
        if (t->rank < MAX_RANK) t->dim[t->rank] = (int64_t)value;
        t->rank++;
    }
}

static void check_dims(Ctx *cx, const OnnxTensor *t, const Cursor *m)
{
    const char *where = text_format(cx, "tensor \"%s\"", t->name);
    if (proto_malformed(cx, m, where)) return;
    if (t->rank > MAX_RANK)
        diag_unsupported(cx, where, "it has %d dimensions; use at most %d dimensions", t->rank, MAX_RANK);
    for (int d = 0; d < t->rank && d < MAX_RANK; d++)
        if (t->dim[d] < 0 || t->dim[d] > INT32_MAX)
            diag_error(cx, where, "dimension %d is %lld; use a size from 0 to %ld", d, (long long)t->dim[d],
                       (long)INT32_MAX);
}

void onnx_tensor_open(Ctx *cx, Cursor m, OnnxTensor *t)
{
    *t = (OnnxTensor){ .name = name(cx, ""), .message = m };
    for (Field f; proto_next(&m, &f);) {
        if (f.number == TENSOR_NAME) t->name = proto_text(cx, &f);
        if (f.number == TENSOR_TYPE) t->data_type = (int64_t)f.value;
        read_dims(t, &f, TENSOR_DIMS);
    }
    check_dims(cx, t, &m);
}

enum { SPARSE_VALUES = 1, SPARSE_INDICES, SPARSE_DIMS };

/* Reads a sparse tensor, which has the name of its values. */
void onnx_tensor_open_sparse(Ctx *cx, Cursor m, OnnxTensor *t)
{
    OnnxSparse *parts = NEW(cx->arena, OnnxSparse);
    const Cursor none = cursor_new(NULL, 0);
    *t = (OnnxTensor){ .name = name(cx, ""), .sparse = parts };
    onnx_tensor_open(cx, none, &parts->values);
    onnx_tensor_open(cx, none, &parts->indices);
    for (Field f; !ctx_failed(cx) && proto_next(&m, &f);) {
        if (f.number == SPARSE_VALUES && f.wire == WIRE_BYTES) onnx_tensor_open(cx, f.bytes, &parts->values);
        if (f.number == SPARSE_INDICES && f.wire == WIRE_BYTES) onnx_tensor_open(cx, f.bytes, &parts->indices);
        read_dims(t, &f, SPARSE_DIMS);
    }
    t->name = parts->values.name;
    if (!*parts->indices.name) parts->indices.name = t->name;
    t->data_type = parts->values.data_type;
    check_dims(cx, t, &m);
}

/* Returns the field that stores the values of a type, unless they are raw, and the field's packed encoding. */
static void typed_field(DType t, uint64_t *number, WireType *packed)
{
    *packed = t == F32 ? WIRE_32 : t == F64 ? WIRE_64 : WIRE_VARINT;
    *number = t == F32 ? TENSOR_FLOATS : t == F64 ? TENSOR_DOUBLES : t == I64 ? TENSOR_INT64S
            : t == U64 || t == U32 ? TENSOR_UINT64S : TENSOR_INT32S;
}

static void store_number(DType type, void *data, int64_t i, uint64_t bits)
{
    Scalar s = { 0 };
    if (type == F16 || type == BF16) {
        ((uint16_t *)data)[i] = (uint16_t)bits;
        return;
    }
    if (type == F32) s.f = (double)proto_float(bits);
    else if (type == F64) s.f = proto_double(bits);
    else s.i = (int64_t)bits;
    dtype_store(type, data, i, dtype_is_float(type) ? s : dtype_wrap(type, s));
}

static void *typed_values(Ctx *cx, const OnnxTensor *t, DType type, int64_t elems, const char *where)
{
    uint64_t number, value;
    WireType packed;
    typed_field(type, &number, &packed);
    size_t count = proto_numbers(t->message, number, packed);
    if (count != (uint64_t)elems) {
        diag_error(cx, where, "its shape has %lld elements, but %llu values are given", (long long)elems,
                   (unsigned long long)count);
        return NULL;
    }
    void *data = arena_array(cx->arena, count, (size_t)dtype_info(type)->bytes);
    int64_t i = 0;
    Cursor m = t->message;
    for (Field f; proto_next(&m, &f);)
        while (f.number == number && proto_number(&f, packed, &value)) store_number(type, data, i++, value);
    return data;
}

/* Converts raw values, which are little-endian, to the host's byte order. */
static void *raw_values(Ctx *cx, Cursor raw, DType type, int64_t elems, const char *where)
{
    int bytes = dtype_info(type)->bytes;
    if ((uint64_t)cursor_left(&raw) != (uint64_t)elems * (uint64_t)bytes) {
        diag_error(cx, where, "its shape has %lld elements of %d bytes, but %llu bytes of data are given",
                   (long long)elems, bytes, (unsigned long long)cursor_left(&raw));
        return NULL;
    }
    uint8_t *data = arena_array(cx->arena, (size_t)elems, (size_t)bytes);
    for (int64_t i = 0; i < elems; i++) {
        if (bytes == 1) data[i] = cursor_u8(&raw);
        if (bytes == 2) ((uint16_t *)(void *)data)[i] = cursor_u16(&raw);
        if (bytes == 4) ((uint32_t *)(void *)data)[i] = cursor_u32(&raw);
        if (bytes == 8) ((uint64_t *)(void *)data)[i] = cursor_u64(&raw);
        if (type == BOOL) data[i] = data[i] != 0;
    }
    return data;
}

/* ---- External data: `location`, `offset` and `length` as text ---------------------------------------------------- */

typedef struct External { const char *location; uint64_t offset, length; bool has_length, is_bad; } External;

static uint64_t read_decimal(const char *s, bool *is_bad)
{
    uint64_t v = 0;
    *is_bad = *is_bad || !*s;
    for (; *s; s++) {
        if (*s < '0' || *s > '9' || v > UINT64_MAX / 10 - 1) *is_bad = true;
        if (*is_bad) return 0;
        v = v * 10 + (uint64_t)(*s - '0');
    }
    return v;
}

static External read_external(Ctx *cx, Cursor m)
{
    External e = { 0 };
    for (Field f; proto_next(&m, &f);) {
        if (f.number != TENSOR_EXTERNAL || f.wire != WIRE_BYTES) continue;
        const char *key = "", *value = "";
        bool has_nul = false;
        Cursor entry = f.bytes;
        for (Field part; proto_next(&entry, &part);) {
            if (part.number == 1) key = proto_text(cx, &part);
            if (part.number == 2) value = proto_text(cx, &part);
            if (part.number == 2) has_nul = cursor_left(&part.bytes) != strlen(value);
        }
        e.is_bad = e.is_bad || has_nul;
        if (strcmp(key, "location") == 0) e.location = value;
        if (strcmp(key, "offset") == 0) e.offset = read_decimal(value, &e.is_bad);
        if (strcmp(key, "length") == 0) e.length = read_decimal(value, &e.is_bad), e.has_length = true;
    }
    return e;
}

/* Returns true if the path stays in the model's folder or below: it is relative and has no ".." component. */
static bool is_below_folder(const char *path)
{
    if (!*path || *path == '/' || strchr(path, '\\') || strchr(path, ':')) return false;
    for (const char *p = path; *p; p += strcspn(p, "/"), p += *p == '/')
        if (strcspn(p, "/") == 2 && p[0] == '.' && p[1] == '.') return false;
    return true;
}

static Bytes read_once(Ctx *cx, OnnxFolder *folder, const char *location)
{
    Bytes *file = map_get_ptr(&folder->files, location);
    if (!file) {
        file = NEW(cx->arena, Bytes);
        *file = file_read_below(cx, folder->path, location);
        map_put_ptr(&folder->files, location, file);
    }
    return *file;
}

static Cursor external_values(Ctx *cx, const OnnxTensor *t, OnnxFolder *folder, uint64_t expected, const char *where)
{
    Cursor none = cursor_new(NULL, 0);
    External e = read_external(cx, t->message);
    if (!e.location || e.is_bad || (e.has_length && e.length != expected)) {
        diag_error(cx, where, "its external data must have a location without NUL, and a length of %llu bytes",
                   (unsigned long long)expected);
        return none;
    }
    if (!is_below_folder(e.location)) {
        diag_error(
            cx, where,
            "its external data is stored at \"%s\", which is outside the model's folder; use a path below that folder",
            e.location);
        return none;
    }
    Bytes file = read_once(cx, folder, e.location);
    if (ctx_failed(cx)) return none;
    if (e.offset > file.count || expected > file.count - e.offset) {
        diag_error(cx, where, "its external data, %llu bytes at %llu, exceeds \"%s\", which has %llu bytes",
                   (unsigned long long)expected, (unsigned long long)e.offset, e.location,
                   (unsigned long long)file.count);
        return none;
    }
    return cursor_new(file.at + e.offset, (size_t)expected);
}

/* ---- Narrow types ------------------------------------------------------------------------------------------------ */

/* Returns the number that a code represents. A code has a sign, an exponent of n->exponent bits, and a mantissa of the
 * remaining bits. */
static double narrow_float(const Narrow *n, unsigned code)
{
    const int mantissa_bits = n->bits - n->exponent - n->is_signed;
    const unsigned most = (1u << (n->bits - n->is_signed)) - 1, size = code & most, sign = code & ~most,
                   mantissa = size & ((1u << mantissa_bits) - 1), exponent = size >> mantissa_bits;
    const double sign_of = sign ? -1 : 1;
    if (n->special == LAST_IS_NAN && size == most) return NAN;
    if (n->special == ZERO_IS_NAN && sign && !size) return NAN;
    if (n->special == HAS_INFINITY && exponent == (1u << n->exponent) - 1) return mantissa ? NAN : sign_of * INFINITY;
    if (!exponent && mantissa_bits) return sign_of * ldexp(mantissa, 1 - n->bias - mantissa_bits);
    return sign_of * ldexp((double)(mantissa | 1u << mantissa_bits), (int)exponent - n->bias - mantissa_bits);
}

/* Widens codes, which are packed into bytes; the first code is in the lowest bits. */
static void *widened(Ctx *cx, const Narrow *n, DType type, const uint8_t *packed, int64_t elems)
{
    void *data = arena_array(cx->arena, (size_t)elems, (size_t)dtype_info(type)->bytes);
    const int each = 8 / n->bits;
    for (int64_t i = 0; i < elems; i++) {
        const int code = packed[i / each] >> (i % each * n->bits) & ((1 << n->bits) - 1), half = 1 << (n->bits - 1);
        Scalar s = { 0 };
        if (n->exponent) s.f = narrow_float(n, (unsigned)code);
        else s.i = n->is_signed && code >= half ? code - 2 * half : code;
        dtype_store(type, data, i, s);
    }
    return data;
}

/* ---- Strings ----------------------------------------------------------------------------------------------------- */

Tensor *onnx_tensor_strings(Ctx *cx, const OnnxTensor *t, const char *const **texts)
{
    const int64_t most = (int64_t)proto_fields(t->message, TENSOR_STRINGS);
    Tensor *out = ctx_failed(cx) ? NULL : tensor_new_fixed(cx, t->name, I64, t->rank, t->dim);
    if (!out) return NULL;
    if (tensor_elems(out) != most) {
        diag_error(cx, text_format(cx, "tensor \"%s\"", t->name), "its shape is %s, but it has %lld strings; use as "
                   "many strings as the shape has elements", tensor_shape_text(cx, out), (long long)most);
        return NULL;
    }
    const char **text = NEW_ARRAY(cx->arena, const char *, most);
    int64_t count = 0;
    Cursor m = t->message;
    for (Field f; proto_next(&m, &f) && count < most;)
        if (f.number == TENSOR_STRINGS) text[count++] = proto_text(cx, &f);
    *texts = text;
    return out;
}

/* ---- Sparse tensors ---------------------------------------------------------------------------------------------- */

/* Limit of the elements of a dense tensor, because a few bytes of a file can declare any size. */
enum { MOST_DENSE = 1 << 26 };

/* Returns the row-major index of value i, or -1 if it is outside the tensor. */
static int64_t place_of(const Tensor *dense, const Tensor *index, int64_t i)
{
    int64_t at = 0;
    if (index->rank == 1) {
        at = dtype_load(I64, index->data, i).i;
        return at >= 0 && at < tensor_elems(dense) ? at : -1;
    }
    for (int d = 0; d < dense->rank; d++) {
        const int64_t part = dtype_load(I64, index->data, i * dense->rank + d).i;
        if (part < 0 || part >= tensor_dim(dense, d)) return -1;
        at = at * tensor_dim(dense, d) + part;
    }
    return at;
}

static Tensor *read_sparse(Ctx *cx, const OnnxTensor *t, OnnxFolder *folder, const char *where)
{
    const Tensor *value = onnx_tensor_read(cx, &t->sparse->values, folder),
                 *index = value ? onnx_tensor_read(cx, &t->sparse->indices, folder) : NULL;
    if (!index) return NULL;
    const int64_t count = tensor_elems(value);
    void *data = NULL;
    Tensor *out = tensor_new_fixed(cx, t->name, value->type, t->rank, t->dim);
    const bool fits = out && value->rank == 1 && index->type == I64 && index->rank >= 1 && index->rank <= 2
                      && tensor_dim(index, 0) == count && (index->rank == 1 || tensor_dim(index, 1) == t->rank);
    if (out && (tensor_elems(out) < 0 || tensor_elems(out) > MOST_DENSE))
        diag_unsupported(cx, where, "the sparse tensor is %s; use at most %d elements",
                         tensor_shape_text(cx, out), MOST_DENSE);
    else if (!fits && out)
        diag_error(cx, where, "the sparse tensor is %s, with values %s and indices %s of %s; use int64 indices "
                              "[values], or coordinates [values][%d]", tensor_shape_text(cx, out),
                   tensor_shape_text(cx, value), tensor_shape_text(cx, index), dtype_info(index->type)->spelling,
                   t->rank);
    if (!out || ctx_failed(cx)) return NULL;
    out = tensor_zeros(cx, t->name, value->type, t->rank, t->dim, &data);
    for (int64_t i = 0; out && i < count; i++) {
        const int64_t at = place_of(out, index, i);
        if (at < 0) {
            diag_error(cx, where, "the index of value %lld is outside %s", (long long)i, tensor_shape_text(cx, out));
            return NULL;
        }
        dtype_store(value->type, data, at, dtype_load(value->type, value->data, i));
    }
    return out;
}

/* ---- Values of a tensor, from any storage ------------------------------------------------------------------------ */

Tensor *onnx_tensor_read(Ctx *cx, const OnnxTensor *t, OnnxFolder *folder)
{
    DType type;
    const char *where = text_format(cx, "tensor \"%s\"", t->name);
    if (ctx_failed(cx)) return NULL;
    if (t->sparse) return read_sparse(cx, t, folder, where);
    if (!onnx_constant_dtype(t->data_type, &type)) {
        diag_unsupported(cx, where, "the elements have the type %s; use %s", onnx_type_text(cx, t->data_type),
                         onnx_types_text(cx));
        return NULL;
    }
    Tensor *out = tensor_new_fixed(cx, t->name, type, t->rank, t->dim);
    int64_t elems = out ? tensor_elems(out) : -1;
    if (elems < 0 || elems > INT32_MAX) {
        diag_error(cx, where, "it has 2^31 elements or more; use fewer elements");
        return NULL;
    }
    Cursor raw = { 0 }, m = t->message;
    bool is_raw = false, is_external = false;
    for (Field f; proto_next(&m, &f);) {
        if (f.number == TENSOR_RAW && f.wire == WIRE_BYTES) raw = f.bytes, is_raw = true;
        if (f.number == TENSOR_LOCATION) is_external = f.value == 1;
    }
    const Narrow *narrow = &types[t->data_type].narrow;
    const DType stored = narrow->bits ? U8 : type;
    const int64_t count = narrow->bits ? (elems * narrow->bits + 7) / 8 : elems;
    if (is_external) raw = external_values(cx, t, folder, (uint64_t)count * (uint64_t)dtype_info(stored)->bytes, where);
    if (ctx_failed(cx)) return NULL;
    void *data = is_raw || is_external ? raw_values(cx, raw, stored, count, where)
                                       : typed_values(cx, t, stored, count, where);
    out->data = data && narrow->bits ? widened(cx, narrow, type, data, elems) : data;
    return out->data ? out : NULL;
}
