/* SPDX-License-Identifier: MIT */
/* Has one reader for each table of the schema. Field numbers are taken from schema.fbs, counted from 0 in a table; a
 * union uses two numbers. An index out of range is an error in the file; unsupported features are left to the importer,
 * which lists all of them at once. */

/* Decision: weights are dense and whole after the file reader. `import/tflite/file/tflite_file.c` widens 4-bit
 * constants to int8; the pass `narrow` stores their values in 4 bits again. `tflite_sparse.c` beside it expands
 * sparse constants: a tree of dense and sparse levels, with a bound on the nodes visited. Later stages have dense
 * tensors only. 8-bit weights under a real input (dynamic-range
 * models) stay integers where the reference multiplies on integers: the input is rounded to 8 bits at run time
 * (`tflite_hybrid.c`), as is a layer's state at each step (`ops/layers/recurrent.c`). Dense weights with
 * a scale for each block follow XNNPACK, the only runtime with a kernel for them (BUILTIN_REF ignores the scales).
 * All other 8-bit weights and 16-bit floats become the real numbers that they represent (`tflite_real_weights`). Both
 * importers evaluate chains of integer constants during import (`import/model/fold_small.h`). */
#include "import/tflite/file/tflite_file.h"

#include <string.h>

#include "import/tflite/file/tflite_sparse.h"
#include "support/cursor.h"
#include "support/names.h"
#include "support/text.h"

enum { MODEL_VERSION, MODEL_CODES, MODEL_SUBGRAPHS, MODEL_DESCRIPTION, MODEL_BUFFERS };
enum { CODE_BYTE, CODE_CUSTOM, CODE_VERSION, CODE_BUILTIN };
enum { GRAPH_TENSORS, GRAPH_INPUTS, GRAPH_OUTPUTS, GRAPH_OPERATORS, GRAPH_NAME };
enum {
    TENSOR_SHAPE,
    TENSOR_TYPE,
    TENSOR_BUFFER,
    TENSOR_NAME,
    TENSOR_QUANT,
    TENSOR_IS_VARIABLE,
    TENSOR_SPARSITY,
    TENSOR_SIGNATURE
};
enum { QUANT_MIN, QUANT_MAX, QUANT_SCALE, QUANT_ZERO, QUANT_DETAILS_TYPE, QUANT_DETAILS, QUANT_AXIS };
enum { DETAILS_BLOCKWISE = 2 };
enum { BLOCK_SCALES, BLOCK_ZEROS, BLOCK_SIZE };
enum { BUFFER_DATA, BUFFER_OFFSET, BUFFER_SIZE };
enum { OPERATOR_CODE, OPERATOR_INPUTS, OPERATOR_OUTPUTS, OPERATOR_OPTIONS_TYPE, OPERATOR_OPTIONS, OPERATOR_CUSTOM,
       OPERATOR_MORE_OPTIONS = 12 };

enum { SCHEMA = 3, MOST_TENSORS = 1 << 14, MOST_OPERATORS = 1 << 14, MOST_OPERANDS = 256, MOST_CHANNELS = 1 << 20,
       /* limit of all operands and scales together, because their lists may share bytes of the file */
       MOST_WORK = 1 << 22 };

typedef struct TfliteReader { Ctx *cx; TfliteFile *file; FlatVector codes, buffers; int64_t work; } TfliteReader;

static bool refuse(TfliteReader *r, const char *where, const char *what)
{
    diag_error(r->cx, where, "%s", what);
    return false;
}

static bool is_damaged(TfliteReader *r, const char *where)
{
    if (r->file->flat.bad)
        refuse(r, where, "the file is damaged or truncated here: this is not a well-formed flatbuffer");
    return ctx_failed(r->cx);
}

/* ---- Element types ----------------------------------------------------------------------------------------------- */

static const struct { const char *text; bool is_known; DType type; } types[] = {
    { "FLOAT32", true, F32 }, { "FLOAT16", true, F16 },   { "INT32", true, I32 },       { "UINT8", true, U8 },
    { "INT64", true, I64 },   { "STRING", false, I8 },    { "BOOL", true, BOOL },       { "INT16", true, I16 },
    { "COMPLEX64", false, I8 }, { "INT8", true, I8 },     { "FLOAT64", true, F64 },     { "COMPLEX128", false, I8 },
    { "UINT64", true, U64 },  { "RESOURCE", false, I8 },  { "VARIANT", false, I8 },     { "UINT32", true, U32 },
    { "UINT16", true, U16 },  { "INT4", false, I8 },      { "BFLOAT16", true, BF16 },   { "INT2", false, I8 },
    { "UINT4", false, I8 },   { "FLOAT8_E4M3FN", false, I8 }, { "FLOAT8_E5M2", false, I8 },
};
enum { TYPES = sizeof types / sizeof types[0] };

const char *tflite_type_text(Ctx *cx, int t)
{
    return t >= 0 && t < TYPES ? types[t].text : text_format(cx, "type %d", t);
}

const char *tflite_types_accepted(Ctx *cx, bool (*is_accepted)(int type, const void *data), const void *data)
{
    Text s = text_new(cx);
    for (int t = 0; t < TYPES; t++)
        if (is_accepted ? is_accepted(t, data) : types[t].is_known)
            text_printf(&s, "%s%s", s.length ? ", " : "", types[t].text);
    return text_string(&s);
}

bool tflite_dtype(int t, DType *out)
{
    if (t < 0 || t >= TYPES || !types[t].is_known) return false;
    *out = types[t].type;
    return true;
}

/* ---- Tensors ----------------------------------------------------------------------------------------------------- */

static bool read_shape(TfliteReader *r, const FlatTable *t, TfliteTensor *out)
{
    FlatVector shape = flat_vector(t, TENSOR_SHAPE, 4);
    if (shape.count > MAX_RANK) {
        diag_unsupported(r->cx, text_format(r->cx, "tensor \"%s\"", out->name),
                         "it has %llu dimensions; use at most %d dimensions",
                         (unsigned long long)shape.count, MAX_RANK);
        return false;
    }
    out->rank = (int)shape.count;
    const FlatVector signature = flat_vector(t, TENSOR_SIGNATURE, 4);
    out->has_signature = shape.count > 0 && signature.count == shape.count;
    for (int d = 0; d < out->rank; d++) {
        out->dim[d] = flat_int_at(&shape, (size_t)d);
        out->is_open[d] = out->has_signature && flat_int_at(&signature, (size_t)d) < 0;
    }
    return true;
}

/* Reads scales of blocks along the last dimension, which have no zero points. */
static void read_blocks(const FlatTable *q, TfliteTensor *out)
{
    const FlatTable block = flat_table(q, QUANT_DETAILS);
    const int64_t size = flat_int(&block, BLOCK_SIZE, 4, 0), last = out->rank ? out->dim[out->rank - 1] : 0;
    bool is_known = flat_int(q, QUANT_DETAILS_TYPE, 1, 0) == DETAILS_BLOCKWISE && size > 0 && last % size == 0
                    && flat_int(&block, BLOCK_ZEROS, 4, 0) <= 0;
    out->is_blockwise = true;
    out->block_size = is_known ? (int)size : 0;
    out->block_scales = is_known ? (int)flat_int(&block, BLOCK_SCALES, 4, -1) : -1;
}

static bool read_quant(TfliteReader *r, const FlatTable *t, TfliteTensor *out)
{
    FlatTable q = flat_table(t, TENSOR_QUANT);
    FlatVector scale = flat_vector(&q, QUANT_SCALE, 4), zero = flat_vector(&q, QUANT_ZERO, 8);
    const char *where = text_format(r->cx, "tensor \"%s\"", out->name);
    if (flat_int(&q, QUANT_DETAILS_TYPE, 1, 0)) read_blocks(&q, out);
    if (!scale.count || out->is_blockwise) return true;
    r->work += (int64_t)scale.count;
    if (zero.count && zero.count != scale.count && zero.count != 1)
        return refuse(r, where,
                      text_format(r->cx, "it has %llu scales and %llu zero points; use no, one, or as many zero points "
                                  "as scales", (unsigned long long)scale.count,
                                  (unsigned long long)zero.count));
    if (scale.count > MOST_CHANNELS || r->work > MOST_WORK)
        return refuse(r, where,
                      text_format(r->cx, "it has %llu scales; use at most %d in a tensor, and at most %d listed "
                                         "tensors and scales in the file",
                                  (unsigned long long)scale.count, MOST_CHANNELS, MOST_WORK));
    Quant *quant = NEW(r->cx->arena, Quant);
    float *s = NEW_ARRAY(r->cx->arena, float, scale.count);
    int32_t *z = NEW_ARRAY(r->cx->arena, int32_t, scale.count);
    for (size_t i = 0; i < scale.count; i++) {
        int64_t point = zero.count ? flat_int_at(&zero, zero.count == 1 ? 0 : i) : 0;
        s[i] = flat_float_at(&scale, i);
        z[i] = (int32_t)point;
        if (!(s[i] >= 0 && s[i] < 3.0e38f))
            return refuse(r, where,
                          text_format(r->cx, "its scale number %llu is %g; use a finite scale of at least 0",
                                      (unsigned long long)i, (double)s[i]));
        if (point < INT32_MIN || point > INT32_MAX)
            return refuse(r, where,
                          text_format(r->cx, "its zero point number %llu is %lld; use a 32-bit zero point",
                                      (unsigned long long)i, (long long)point));
    }
    /* a bias may have the axis of its weights */
    int64_t axis = out->rank == 1 ? 0 : flat_int(&q, QUANT_AXIS, 4, 0);
    if (scale.count > 1 && (axis < 0 || axis >= out->rank || out->dim[axis] != (int64_t)scale.count))
        return refuse(r, where,
                      text_format(r->cx,
                                  "it has %llu scales along dimension %lld; use one scale, or one per index of a "
                                  "dimension",
                                  (unsigned long long)scale.count, (long long)axis));
    *quant = (Quant){ (int)axis, (int)scale.count, s, z };
    out->quant = quant;
    return true;
}

/* Reads a tensor's bytes, which are in the table of the buffer or, in files beyond 2 GB, at an offset in the file. */
static bool read_data(TfliteReader *r, const FlatTable *t, TfliteTensor *out)
{
    int64_t index = flat_int(t, TENSOR_BUFFER, 4, 0);
    const char *where = text_format(r->cx, "tensor \"%s\"", out->name);
    if (index == 0) return true;
    if (index < 0 || index >= (int64_t)r->buffers.count)
        return refuse(r, where, text_format(r->cx, "its buffer %lld does not exist; use an index below %llu",
                                            (long long)index, (unsigned long long)r->buffers.count));
    FlatTable buffer = flat_table_at(&r->buffers, (size_t)index);
    FlatVector data = flat_vector(&buffer, BUFFER_DATA, 1);
    int64_t offset = flat_int(&buffer, BUFFER_OFFSET, 8, 0), size = flat_int(&buffer, BUFFER_SIZE, 8, 0),
            whole = (int64_t)r->file->flat.bytes.count;
    if (data.count) out->data = (Bytes){ r->file->flat.bytes.at + data.at, data.count };
    else if (offset > 1 && (size < 0 || offset > whole || size > whole - offset))
        return refuse(r, where,
                      text_format(r->cx, "its buffer, %lld bytes at %lld, exceeds the file, which has %lld bytes",
                                  (long long)size, (long long)offset, (long long)whole));
    else if (offset > 1) out->data = (Bytes){ r->file->flat.bytes.at + offset, (size_t)size };
    return true;
}

static bool read_tensor(TfliteReader *r, const FlatTable *t, int index, TfliteTensor *out)
{
    const char *full = flat_text(r->cx, t, TENSOR_NAME);
    out->name = name_n(r->cx, full, strcspn(full, ";"));
    if (!*out->name) out->name = name_format(r->cx, "tensor_%d", index);
    out->type = (int)flat_int(t, TENSOR_TYPE, 1, 0);
    out->packed_bits = out->type == TFLITE_INT4 ? 4 : out->type == TFLITE_INT2 ? 2 : 0;
    out->is_variable = flat_int(t, TENSOR_IS_VARIABLE, 1, 0) != 0;
    out->is_sparse = flat_has(t, TENSOR_SPARSITY);
    out->sparsity = flat_table(t, TENSOR_SPARSITY);
    bool is_read = read_shape(r, t, out) && read_quant(r, t, out) && read_data(r, t, out);
    /* tensors that are not constant keep INT4 or INT2, which are not supported */
    if (out->packed_bits && out->data.count) out->type = TFLITE_INT8;
    return is_read && !is_damaged(r, text_format(r->cx, "tensor %d", index));
}

/* Returns the number of elements, or -1 if there are too many. */
static int64_t elements_of(const TfliteTensor *t)
{
    int64_t elems = 1;
    for (int d = 0; d < t->rank; d++) {
        if (t->dim[d] < 0 || (t->dim[d] > 0 && elems > INT32_MAX / t->dim[d])) return -1;
        elems *= t->dim[d];
    }
    return elems;
}

/* Unpacks integers of two or four bits; the first one is in the low bits of a byte. */
static void unpack(const uint8_t *from, int64_t count, int bits, int8_t *to)
{
    const int each = 8 / bits, sign = 1 << (bits - 1);
    for (int64_t i = 0; i < count; i++) {
        int stored = from[i / each] >> (int)(i % each) * bits & (2 * sign - 1);
        to[i] = (int8_t)(stored < sign ? stored : stored - 2 * sign);
    }
}

/* Copies little-endian numbers of `size` bytes. */
static void copy_numbers(const uint8_t *from, int64_t count, int64_t size, unsigned char *to)
{
    for (int64_t i = 0; i < count; i++, to += size) {
        Cursor c = cursor_new(from + i * size, (size_t)size);
        uint64_t bits = size == 1   ? cursor_u8(&c)
                        : size == 2 ? cursor_u16(&c)
                        : size == 4 ? cursor_u32(&c)
                                    : cursor_u64(&c);
        uint8_t u8 = (uint8_t)bits; uint16_t u16 = (uint16_t)bits; uint32_t u32 = (uint32_t)bits;
        memcpy(to,
               size == 1   ? (void *)&u8
               : size == 2 ? (void *)&u16
               : size == 4 ? (void *)&u32
                           : (void *)&bits,
               (size_t)size);
    }
}

Tensor *tflite_constant(Ctx *cx, const TfliteTensor *t)
{
    DType type;
    if (!tflite_dtype(t->type, &type)) return NULL;
    int64_t elems = elements_of(t), size = dtype_info(type)->bytes,
            bytes = t->packed_bits ? (elems * t->packed_bits + 7) / 8 : elems * size;
    const char *where = text_format(cx, "tensor \"%s\"", t->name);
    if (elems < 0) {
        diag_error(cx, where, "its shape has a negative size, or 2^31 elements or more; use sizes of at least 0, and "
                              "fewer elements");
        return NULL;
    }
    if (!t->is_sparse && (uint64_t)bytes != t->data.count) {
        diag_error(cx, where, "its buffer has %llu bytes, but its shape needs %lld", (unsigned long long)t->data.count,
                   (long long)bytes);
        return NULL;
    }
    void *to;
    Tensor *out = tensor_zeros(cx, t->name, type, t->rank, t->dim, &to);
    if (!out) return NULL;
    if (t->is_sparse && t->packed_bits)
        diag_unsupported(cx, where, "it has sparse weights of %d bits; use dense weights, or sparse 8-bit weights",
                         t->packed_bits);
    else if (t->is_sparse && !tflite_densify(t, size, to))
        diag_error(cx, where, "its sparsity is damaged: use positions inside its shape");
    else if (t->is_sparse) copy_numbers(to, elems, size, to);
    else if (t->packed_bits) unpack(t->data.at, elems, t->packed_bits, to);
    else copy_numbers(t->data.at, elems, size, to);
    out->quant = t->quant;
    return ctx_failed(cx) ? NULL : out;
}

/* ---- Operators --------------------------------------------------------------------------------------------------- */

/* Reads the indices of tensors in a field; -1 stands for an absent tensor, if `absent` permits it. */
static bool read_operands(TfliteReader *r, const FlatTable *t, int field, bool absent, const char *where, int *count,
                          const int **out)
{
    FlatVector v = flat_vector(t, field, 4);
    r->work += (int64_t)v.count;
    if (v.count > MOST_OPERANDS || r->work > MOST_WORK)
        return refuse(r, where,
                      text_format(r->cx, "it lists %llu tensors; use at most %d in a list, and at most %d listed "
                                         "tensors and scales in the file",
                                  (unsigned long long)v.count, MOST_OPERANDS, MOST_WORK));
    int *at = NEW_ARRAY(r->cx->arena, int, v.count);
    for (size_t i = 0; i < v.count; i++) {
        int64_t index = flat_int_at(&v, i);
        if (index < (absent ? -1 : 0) || index >= r->file->tensor_count)
            return refuse(r, where, text_format(r->cx, "its tensor %lld does not exist; use an index below %d",
                                                (long long)index, r->file->tensor_count));
        at[i] = (int)index;
    }
    *count = (int)v.count;
    *out = at;
    return true;
}

/* Reads an operator. Codes above 126 have a 32-bit field; older files have only a byte. */
static bool read_operator(TfliteReader *r, const FlatTable *t, int index, TfliteOperator *out)
{
    const char *where = text_format(r->cx, "operator %d", index);
    int64_t code_index = flat_int(t, OPERATOR_CODE, 4, 0);
    if (code_index < 0 || code_index >= (int64_t)r->codes.count)
        return refuse(r, where, text_format(r->cx, "its operator code %lld does not exist; use an index below %llu",
                                            (long long)code_index, (unsigned long long)r->codes.count));
    FlatTable code = flat_table_at(&r->codes, (size_t)code_index);
    int64_t narrow = flat_int(&code, CODE_BYTE, 1, 0), wide = flat_int(&code, CODE_BUILTIN, 4, 0);
    out->code = (int)(wide > narrow ? wide : narrow);
    out->version = (int)flat_int(&code, CODE_VERSION, 4, 1);
    out->custom = flat_text(r->cx, &code, CODE_CUSTOM);
    out->options_type = (int)flat_int(t, OPERATOR_OPTIONS_TYPE, 1, 0) & 0xff;
    out->options = flat_table(t, OPERATOR_OPTIONS);
    out->more_options = flat_table(t, OPERATOR_MORE_OPTIONS);
    const FlatVector custom = flat_vector(t, OPERATOR_CUSTOM, 1);
    if (custom.count) out->custom_options = (Bytes){ r->file->flat.bytes.at + custom.at, custom.count };
    return read_operands(r, t, OPERATOR_INPUTS, true, where, &out->in_count, &out->in) &&
           read_operands(r, t, OPERATOR_OUTPUTS, false, where, &out->out_count, &out->out) && !is_damaged(r, where);
}

static bool read_graph(TfliteReader *r, const FlatTable *g)
{
    TfliteFile *f = r->file;
    FlatVector tensors = flat_vector(g, GRAPH_TENSORS, 4), operators = flat_vector(g, GRAPH_OPERATORS, 4);
    if (tensors.count > MOST_TENSORS || operators.count > MOST_OPERATORS)
        return refuse(
            r, NULL,
            text_format(r->cx, "the graph has %llu tensors and %llu operators; use at most %d of each",
                        (unsigned long long)tensors.count, (unsigned long long)operators.count, MOST_TENSORS));
    f->graph_name = flat_text(r->cx, g, GRAPH_NAME);
    f->tensor_count = (int)tensors.count;
    f->tensor = NEW_ARRAY(r->cx->arena, TfliteTensor, f->tensor_count);
    for (int i = 0; i < f->tensor_count; i++) {
        FlatTable t = flat_table_at(&tensors, (size_t)i);
        if (!read_tensor(r, &t, i, &f->tensor[i])) return false;
    }
    f->operator_count = (int)operators.count;
    f->operator = NEW_ARRAY(r->cx->arena, TfliteOperator, f->operator_count);
    for (int i = 0; i < f->operator_count; i++) {
        FlatTable t = flat_table_at(&operators, (size_t)i);
        if (!read_operator(r, &t, i, &f->operator[i])) return false;
    }
    return read_operands(r, g, GRAPH_INPUTS, false, "inputs", &f->input_count, &f->input) &&
           read_operands(r, g, GRAPH_OUTPUTS, false, "outputs", &f->output_count, &f->output);
}

bool tflite_subgraph_read(Ctx *cx, Bytes bytes, size_t subgraph, TfliteFile *out)
{
    *out = (TfliteFile){ .flat = { bytes, false }, .graph_name = "" };
    TfliteReader r = { .cx = cx, .file = out };
    FlatTable model = flat_root(&out->flat, "TFL3");
    if (out->flat.bad)
        return refuse(&r, NULL, "this is not a TFLite file: the letters TFL3 or the root table are missing");
    int64_t version = flat_int(&model, MODEL_VERSION, 4, 0);
    if (version != SCHEMA) {
        diag_unsupported(cx, NULL, "the file has schema version %lld; use version %d", (long long)version, SCHEMA);
        return false;
    }
    r.codes = flat_vector(&model, MODEL_CODES, 4);
    r.buffers = flat_vector(&model, MODEL_BUFFERS, 4);
    FlatVector subgraphs = flat_vector(&model, MODEL_SUBGRAPHS, 4);
    out->subgraph_count = (int)(subgraphs.count < 1000 ? subgraphs.count : 1000);
    if (is_damaged(&r, NULL)) return false;
    if (subgraph >= subgraphs.count)
        return refuse(&r, NULL, text_format(cx, "there is no subgraph %llu, because the file has only %llu; use a file "
                                                "that contains this subgraph",
                                            (unsigned long long)subgraph, (unsigned long long)subgraphs.count));
    FlatTable graph = flat_table_at(&subgraphs, subgraph);
    if (is_damaged(&r, NULL) || !read_graph(&r, &graph) || is_damaged(&r, NULL)) return false;
    tflite_join_lists(cx, out);
    return !is_damaged(&r, NULL);
}
