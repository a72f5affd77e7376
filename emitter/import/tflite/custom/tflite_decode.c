/* SPDX-License-Identifier: MIT */
/* Translates TFLM_DECODE: constants that are stored in fewer bits are decoded at compile time. The inputs are pairs:
 * the codes of an output, and its table. Bits are read starting at the most significant bit of each byte. A table has a
 * header of 16 bytes: the kind, the version of the header, two bytes, the version of the kind, and two bytes of that
 * kind. */
#include "import/tflite/custom/tflite_custom.h"

#include <string.h>

enum { KIND, VERSION, KIND_VERSION = 4, OPTIONS, STRIDE, HEADER = 16 };

/* A pair of inputs. table: begins after the header; size: bytes of an element of the output. */
typedef struct Coded {
    Bytes codes, table;
    const uint8_t *header;
    const TfliteTensor *y;
    int64_t count, size;
    uint8_t *out;
} Coded;

/* Returns `width` bits, beginning with bit `at`; bits beyond the end are 0. */
static uint32_t bits(const Coded *d, int64_t at, int width)
{
    uint32_t v = 0;
    for (int64_t i = at; i < at + width; i++)
        v = v << 1 | (i / 8 < (int64_t)d->codes.count ? d->codes.at[i / 8] >> (7 - i % 8) & 1u : 0);
    return v;
}

static bool has_bits(const Coded *d, int64_t end) { return end <= (int64_t)d->codes.count * 8; }

static int channels_of(const Coded *d) { return d->y->quant ? d->y->quant->count : 1; }

/* Returns the channel of element i. */
static int64_t channel_of(const Coded *d, int64_t i)
{
    const int64_t channels = channels_of(d);
    const bool is_last = channels > 1 && d->y->quant->axis == d->y->rank - 1;
    return is_last ? i % channels : i / (d->count / channels);
}

static bool has_channels(TfliteCall *c, const Coded *d)
{
    const Quant *q = d->y->quant;
    if (!q || q->count <= 1 || (d->count % q->count == 0 && (q->axis == 0 || q->axis == d->y->rank - 1))) return true;
    tflite_unsupported(c, "it has %d scales along axis %d; use scales along the first or the last axis", q->count,
                       q->axis);
    return false;
}

/* Copies element `from` of the table to element i of the output. */
static bool copy_element(const Coded *d, int64_t from, int64_t i)
{
    if ((from + 1) * d->size > (int64_t)d->table.count) return false;
    memcpy(d->out + i * d->size, d->table.at + from * d->size, (size_t)d->size);
    return true;
}

/* Decodes indices into the table of the element's channel. */
static bool by_index(TfliteCall *c, const Coded *d)
{
    const int width = d->header[OPTIONS] & 7;
    if (!has_channels(c, d)) return false;
    if (!width || !has_bits(d, d->count * width)) return false;
    for (int64_t i = 0; i < d->count; i++)
        if (!copy_element(d, channel_of(d, i) * d->header[STRIDE] + bits(d, i * width, width), i)) return false;
    return true;
}

/* Decodes a bit for each element: 1 stands for the next element of the table, 0 for the zero point. */
static bool by_mask(TfliteCall *c, const Coded *d)
{
    int64_t next = 0;
    if (!has_channels(c, d) || !has_bits(d, d->count)) return false;
    for (int64_t i = 0; i < d->count; i++) {
        const int32_t *zeros = d->y->quant ? d->y->quant->zero_point : NULL;
        const int32_t zero = zeros ? zeros[channel_of(d, i)] : 0;
        if (bits(d, i, 1)) {
            if (!copy_element(d, next++, i)) return false;
        } else if (d->y->type == TFLITE_INT8) d->out[i] = (uint8_t)zero;
        else if (zero != 0) {
            tflite_refuse(c, "it has a zero point of %d; use 0 for types that are not INT8", (int)zero);
            return false;
        }
    }
    return true;
}

/* Decodes Huffman codes, which are tables of tables. An entry without its highest bit leads to another table, and
 * states the number of bits of the index into this table. The last entry holds the symbol, and how many of the bits
 * that were read belong to its code. */
static bool by_tree(TfliteCall *c, const Coded *d)
{
    const bool is_wide = d->header[OPTIONS] & 1;
    const int entry = is_wide ? 4 : 2, shift = is_wide ? 27 : 11;
    int64_t at = 0;
    if (d->y->type != TFLITE_INT8 && !(is_wide && d->y->type == TFLITE_INT16)) {
        tflite_refuse(c, "it has Huffman codes for %s; use INT8, or INT16 with 32-bit tables",
                      tflite_type_text(c->cx, d->y->type));
        return false;
    }
    for (int64_t i = 0; i < d->count; i++) {
        int64_t base = 0;
        uint32_t value = 0, used = (d->header[OPTIONS] >> 4) + 1u;
        for (bool is_found = false; !is_found; used = is_found ? used : (value >> shift & 15) + 1) {
            const int64_t place = base + bits(d, at, (int)used);
            if (!has_bits(d, at) || (place + 1) * entry > (int64_t)d->table.count) return false;
            at += used;
            value = 0;
            for (int b = 0; b < entry; b++) value |= (uint32_t)d->table.at[place * entry + b] << (8 * b);
            is_found = value >> (8 * entry - 1) & 1;
            base = place + (value & ((1u << shift) - 1));
        }
        const uint32_t own = value >> shift & 15;
        if (used > own) at -= used - own;
        if (!has_bits(d, at)) return false;
        for (int b = 0; b < (int)d->size; b++) d->out[i * d->size + b] = (uint8_t)(value >> (8 * b));
    }
    return true;
}

typedef bool Decode(TfliteCall *c, const Coded *d);
static Decode *const kinds[] = { by_index, by_tree, by_mask };

static Bytes constant_bytes(TfliteCall *c, int input)
{
    const Tensor *t = tflite_in(c, input);
    if (t && tensor_is_constant(t) && dtype_info(t->type)->bytes == 1)
        return (Bytes){ t->data, (size_t)tensor_elems(t) };
    tflite_unsupported(c, "input %d is computed, or has elements other than bytes; use constant bytes", input);
    return (Bytes){ NULL, 0 };
}

/* Sets the number of elements, which have a bit each at least. */
static bool has_size(Coded *d)
{
    DType type;
    if (!tflite_dtype(d->y->type, &type)) return false;
    d->size = dtype_info(type)->bytes;
    d->count = 1;
    for (int i = 0; i < d->y->rank; i++) {
        d->count *= d->y->dim[i] > 0 ? d->y->dim[i] : 0;
        if (d->count <= 0 || !has_bits(d, d->count)) return false;
    }
    return has_bits(d, d->count);
}

static Tensor *decoded(TfliteCall *c, int output)
{
    Coded d = { .codes = constant_bytes(c, 2 * output), .table = constant_bytes(c, 2 * output + 1),
                .y = tflite_out_info(c, output) };
    if (ctx_failed(c->cx) || !d.y) return NULL;
    bool is_done = d.table.count >= HEADER && has_size(&d);
    if (is_done) {
        d.header = d.table.at;
        d.table = (Bytes){ d.table.at + HEADER, d.table.count - HEADER };
        d.out = NEW_ARRAY(c->cx->arena, uint8_t, d.count * d.size);
        if (d.header[VERSION] != 1 || d.header[KIND_VERSION] != 1 || d.header[KIND] > 2) {
            tflite_unsupported(c, "it has codes of kind %d, version %d.%d; use kind 0, 1 or 2 of version 1.1",
                                  d.header[KIND],
                               d.header[VERSION], d.header[KIND_VERSION]);
            return NULL;
        }
        is_done = kinds[d.header[KIND]](c, &d);
    }
    if (ctx_failed(c->cx)) return NULL;
    if (!is_done) {
        tflite_refuse(c, "output %d: its codes or its table end too early; use one code for each element",
                      output);
        return NULL;
    }
    TfliteTensor t = *d.y;
    t.data = (Bytes){ d.out, (size_t)(d.count * d.size) };
    t.is_sparse = false;
    t.packed_bits = 0;
    return tflite_constant(c->cx, &t);
}

static void decode(TfliteCall *c)
{
    if (!tflite_needs(c, 2 * c->op->out_count)) return;
    for (int i = 0; i < c->op->out_count && !ctx_failed(c->cx); i++) c->out[i] = decoded(c, i);
}

const TfliteRow tflite_rows_decode[] = {
    { TFLITE_CUSTOM, "TFLM_DECODE", 1, 0, OF_U8 | OF_I8, 1, NULL, decode, TFLITE_KEEPS_NONE },
    { 0 }
};
