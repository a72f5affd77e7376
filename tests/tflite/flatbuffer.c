/* SPDX-License-Identifier: MIT */
/* Cases as bytes of models, and back. Field numbers are those of schema.fbs. The reader assumes complete files: it
 * reads the recorded ones in its folder. */
#include "case.h"

#include "../unit/flat_out.h"

enum { MODEL_VERSION, MODEL_CODES, MODEL_SUBGRAPHS, MODEL_BUFFERS = 4, MODEL_FIELDS };
enum { CODE_BYTE, CODE_VERSION = 2, CODE_WIDE, CODE_FIELDS };
enum { GRAPH_TENSORS, GRAPH_INPUTS, GRAPH_OUTPUTS, GRAPH_OPERATORS, GRAPH_FIELDS };
enum { TENSOR_SHAPE, TENSOR_TYPE, TENSOR_BUFFER, TENSOR_NAME, TENSOR_QUANT, TENSOR_SPARSITY = 6, TENSOR_FIELDS };
enum { QUANT_SCALE = 2, QUANT_ZERO, QUANT_AXIS = 6, QUANT_FIELDS };
enum { SPARSITY_ORDER, SPARSITY_TILED, SPARSITY_LEVELS, SPARSITY_FIELDS };
enum { LEVEL_FORMAT, LEVEL_SIZE, LEVEL_SEGMENTS_TYPE, LEVEL_SEGMENTS, LEVEL_INDICES_TYPE, LEVEL_INDICES, LEVEL_FIELDS };
enum { OPERATOR_INPUTS = 1, OPERATOR_OUTPUTS, OPERATOR_OPTIONS_TYPE, OPERATOR_OPTIONS, OPERATOR_FIELDS };

/* ---- Values ------------------------------------------------------------------------------------------------------ */

int element_bytes(ElementType t)
{
    switch (t) {
    case TYPE_I64: case TYPE_U64:                  return 8;
    case TYPE_F32: case TYPE_I32: case TYPE_U32:   return 4;
    case TYPE_I16:                                 return 2;
    default:                                       return 1;
    }
}

void values_write(const Operand *x, uint8_t *out)
{
    const int size = element_bytes(x->type), n = elements(x);
    if (x->type == TYPE_I4) {                    /* two in a byte, the first below */
        for (int i = 0; i < n; i += 2)
            out[i / 2] = (uint8_t)(((int)x->v[i] & 15) | (i + 1 < n ? ((int)x->v[i + 1] & 15) << 4 : 0));
        return;
    }
    for (int i = 0; i < n; i++) {
        uint64_t bits = (uint64_t)(int64_t)x->v[i];
        float f = (float)x->v[i];
        if (x->type == TYPE_F32) memcpy(out + 4 * i, &f, 4);
        else
            for (int b = 0; b < size; b++) out[i * size + b] = (uint8_t)(bits >> 8 * b);
    }
}

static int64_t signed_bytes(const uint8_t *at, int size)
{
    int64_t v = at[size - 1] < 128 ? at[size - 1] : at[size - 1] - 256;
    for (int b = size - 2; b >= 0; b--) v = v * 256 + at[b];
    return v;
}

void values_read(Case *c, Operand *x, const uint8_t *bytes)
{
    const int size = element_bytes(x->type), n = elements(x);
    x->v = values_new(c, n);
    for (int i = 0; i < n; i++) {
        float f;
        memcpy(&f, bytes + (x->type == TYPE_F32 ? 4 * i : 0), x->type == TYPE_F32 ? 4 : 0);
        int nibble = (x->type == TYPE_I4 ? bytes[i / 2] >> 4 * (i % 2) : 0) & 15;
        x->v[i] = x->type == TYPE_F32  ? (double)f
                  : x->type == TYPE_I4 ? nibble - (nibble > 7 ? 16 : 0)
                  : x->type == TYPE_U8 ? bytes[i]
                                       : (double)signed_bytes(bytes + i * size, size);
    }
}

static size_t value_bytes(const Operand *x)
{
    return x->type == TYPE_I4 ? (size_t)(elements(x) + 1) / 2 : (size_t)(elements(x) * element_bytes(x->type));
}

/* ---- Writing ----------------------------------------------------------------------------------------------------- */

static void absent_but(Out *o, size_t t, int fields, const char *there)
{
    for (int i = 0; i < fields; i++)
        if (!strchr(there, '0' + i)) absent(o, t, i);
}

static void put_quant(Out *o, size_t from, const Operand *x)
{
    size_t q = table(o, QUANT_FIELDS + 1), at;
    point(o, from, q);
    absent_but(o, q, QUANT_FIELDS + 1, "236");
    put(o, field(q, QUANT_AXIS), (uint64_t)x->axis, 4);
    at = vector(o, field(q, QUANT_SCALE), (size_t)x->scales, 4);
    memcpy(o->at + at, x->scale, 4 * (size_t)x->scales);
    at = vector(o, field(q, QUANT_ZERO), (size_t)x->scales, 8);
    for (int i = 0; i < x->scales; i++) put(o, at + 8 * (size_t)i, (uint64_t)(int64_t)x->zero, 8);
}

/* A table of one vector, whose type the tag of its union names. */
static void put_numbers(Out *o, size_t level, int type, int at, int bits, int count, const int *v)
{
    const size_t t = table(o, 1), size = (size_t)bits / 8;
    put(o, field(level, type), bits == 32 ? 1 : bits == 16 ? 2 : 3, 1);
    point(o, field(level, at), t);
    const size_t list = vector(o, field(t, 0), (size_t)count, size);
    for (int i = 0; i < count; i++) put(o, list + size * (size_t)i, (uint64_t)v[i], (int)size);
}

static void put_sparsity(Out *o, size_t from, const Sparse *s)
{
    const size_t t = table(o, SPARSITY_FIELDS);
    point(o, from, t);
    ints(o, field(t, SPARSITY_ORDER), s->level_count, s->order);
    ints(o, field(t, SPARSITY_TILED), s->tiled_count, s->tiled);
    const size_t list = vector(o, field(t, SPARSITY_LEVELS), (size_t)s->level_count, 4);
    for (int i = 0; i < s->level_count; i++) {
        const SparseLevel *l = &s->level[i];
        const size_t level = table(o, LEVEL_FIELDS);
        point(o, list + 4 * (size_t)i, level);
        put(o, field(level, LEVEL_FORMAT), l->is_sparse, 1);
        if (l->is_sparse) {
            absent(o, level, LEVEL_SIZE);
            put_numbers(o, level, LEVEL_SEGMENTS_TYPE, LEVEL_SEGMENTS, l->bits, l->segment_count, l->segment);
            put_numbers(o, level, LEVEL_INDICES_TYPE, LEVEL_INDICES, l->bits, l->index_count, l->index);
        } else {
            put(o, field(level, LEVEL_SIZE), (uint64_t)l->size, 4);
            absent_but(o, level, LEVEL_FIELDS, "01");
        }
    }
}

static void put_operand(Out *o, size_t from, const Operand *x, int number, int buffer)
{
    size_t t = table(o, TENSOR_FIELDS);
    point(o, from, t);
    put(o, field(t, TENSOR_TYPE), (uint64_t)x->type, 1);
    put(o, field(t, TENSOR_BUFFER), (uint64_t)buffer, 4);
    ints(o, field(t, TENSOR_SHAPE), x->rank, x->dim);
    text(o, field(t, TENSOR_NAME), (const char[]){ 't', (char)('a' + number), '\0' });
    if (x->scales) put_quant(o, field(t, TENSOR_QUANT), x);
    else absent(o, t, TENSOR_QUANT);
    absent(o, t, TENSOR_QUANT + 1);
    if (x->sparse) put_sparsity(o, field(t, TENSOR_SPARSITY), x->sparse);
    else absent(o, t, TENSOR_SPARSITY);
}

static void put_options(Out *o, size_t from, const Case *c)
{
    int count = (int)strlen(c->op->fields);
    size_t t = table(o, count);
    point(o, from, t);
    for (int i = 0; i < count; i++) {
        float f = (float)c->field[i];
        switch (c->op->fields[i]) {
        case 'b': put(o, field(t, i), (uint64_t)(int64_t)c->field[i], 1); break;
        case 'd': case 'i': put(o, field(t, i), (uint64_t)(int64_t)c->field[i], 4); break;
        case 'f': memcpy(o->at + field(t, i), &f, 4); break;
        case 'l': case 'r': ints(o, field(t, i), c->list_count, c->list); break;
        default:  absent(o, t, i);
        }
    }
}

/* Operands in their order: the inputs that there are, then the outputs. */
static int number_operands(const Case *c, const Operand **all, int *in, int *out)
{
    int n = 0;
    for (int i = 0; i < c->in_count; i++) {
        in[i] = c->in[i].is_absent ? -1 : n;
        if (in[i] >= 0) all[n++] = &c->in[i];
    }
    for (int i = 0; i < c->out_count; i++) all[out[i] = n++] = &c->out[i];
    return n;
}

static void put_graph(Out *o, size_t from, const Case *c, const Operand *const *all, int count, const int *in,
                      const int *out)
{
    size_t graph = table(o, GRAPH_FIELDS), list, op;
    int fed[MOST_OPERANDS], fed_count = 0;
    point(o, from, graph);
    list = vector(o, field(graph, GRAPH_TENSORS), (size_t)count, 4);
    for (int i = 0, buffer = 0; i < count; i++)
        put_operand(o, list + 4 * (size_t)i, all[i], i, all[i]->is_constant ? ++buffer : 0);
    for (int i = 0; i < c->in_count; i++)
        if (in[i] >= 0 && !c->in[i].is_constant) fed[fed_count++] = in[i];
    ints(o, field(graph, GRAPH_INPUTS), fed_count, fed);
    ints(o, field(graph, GRAPH_OUTPUTS), c->out_count, out);
    list = vector(o, field(graph, GRAPH_OPERATORS), 1, 4);
    op = table(o, OPERATOR_FIELDS);
    point(o, list, op);
    absent(o, op, 0);
    ints(o, field(op, OPERATOR_INPUTS), c->in_count, in);
    ints(o, field(op, OPERATOR_OUTPUTS), c->out_count, out);
    put(o, field(op, OPERATOR_OPTIONS_TYPE), (uint64_t)c->op->options, 1);
    if (c->op->options) put_options(o, field(op, OPERATOR_OPTIONS), c);
    else absent(o, op, OPERATOR_OPTIONS);
}

static void put_buffers(Out *o, size_t from, const Operand *const *all, int count)
{
    int constants = 0;
    for (int i = 0; i < count; i++) constants += all[i]->is_constant;
    size_t list = vector(o, from, (size_t)constants + 1, 4), buffer = table(o, 1);
    point(o, list, buffer);
    absent(o, buffer, 0);
    for (int i = 0; i < count; i++) {
        if (!all[i]->is_constant) continue;
        point(o, list += 4, buffer = table(o, 1));
        Operand kept = *all[i];
        if (kept.sparse) kept.rank = 1, kept.dim[0] = kept.sparse->count, kept.v = all[i]->sparse->kept;
        values_write(&kept, o->at + vector(o, field(buffer, 0), value_bytes(&kept), 1));
    }
}

size_t case_write(const Case *c, uint8_t *out)
{
    static Out o;
    const Operand *all[2 * MOST_OPERANDS];
    int in[MOST_OPERANDS], made[MOST_OPERANDS], count = number_operands(c, all, in, made);
    memset(o.at, 0, o.count);
    o.count = 8;
    size_t model = table(&o, MODEL_FIELDS), codes, code, graphs;
    put(&o, 0, model, 4);
    memcpy(o.at + 4, "TFL3", 4);
    put(&o, field(model, MODEL_VERSION), 3, 4);
    absent(&o, model, 3);
    codes = vector(&o, field(model, MODEL_CODES), 1, 4);
    code = table(&o, CODE_FIELDS);
    point(&o, codes, code);
    absent(&o, code, 1);
    put(&o, field(code, CODE_BYTE), (uint64_t)(c->op->code < 127 ? c->op->code : 127), 1);
    put(&o, field(code, CODE_VERSION), (uint64_t)c->op->version, 4);
    put(&o, field(code, CODE_WIDE), (uint64_t)c->op->code, 4);
    graphs = vector(&o, field(model, MODEL_SUBGRAPHS), 1, 4);
    put_graph(&o, graphs, c, all, count, in, made);
    put_buffers(&o, field(model, MODEL_BUFFERS), all, count);
    memcpy(out, o.at, o.count);
    return o.count;
}

/* ---- Reading ----------------------------------------------------------------------------------------------------- */

typedef struct Table { const uint8_t *model; size_t at; } Table;
typedef struct List { const uint8_t *model; size_t at; int count; } List;

static uint32_t u32(const uint8_t *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}
static size_t follow(const uint8_t *model, size_t at) { return at + u32(model + at); }

static size_t field_at(Table t, int i)
{
    if (!t.at) return 0;
    size_t vtable = t.at - (size_t)(int32_t)u32(t.model + t.at),
           own = (size_t)(t.model[vtable] | t.model[vtable + 1] << 8), entry = vtable + 4 + 2 * (size_t)i;
    if (4 + 2 * (size_t)i >= own) return 0;
    size_t offset = (size_t)(t.model[entry] | t.model[entry + 1] << 8);
    return offset ? t.at + offset : 0;
}
static int64_t whole(Table t, int i, int bytes, int otherwise)
{
    size_t at = field_at(t, i);
    return at ? signed_bytes(t.model + at, bytes) : otherwise;
}
static Table inner(Table t, int i)
{
    size_t at = field_at(t, i);
    return (Table){ t.model, at ? follow(t.model, at) : 0 };
}
static List list_of(Table t, int i)
{
    Table v = inner(t, i);
    return (List){ t.model, v.at + 4, v.at ? (int)u32(t.model + v.at) : 0 };
}
static Table table_of(List l, int i) { return (Table){ l.model, follow(l.model, l.at + 4 * (size_t)i) }; }
static int int_of(List l, int i) { return (int)(int32_t)u32(l.model + l.at + 4 * (size_t)i); }

static void read_operand(Case *c, Table t, List buffers, Operand *x)
{
    List shape = list_of(t, TENSOR_SHAPE), scale = list_of(inner(t, TENSOR_QUANT), QUANT_SCALE),
         zero = list_of(inner(t, TENSOR_QUANT), QUANT_ZERO);
    *x = (Operand){ .type = (ElementType)whole(t, TENSOR_TYPE, 1, 0), .rank = shape.count, .scales = scale.count };
    for (int d = 0; d < x->rank; d++) x->dim[d] = int_of(shape, d);
    for (int i = 0; i < scale.count; i++) memcpy(&x->scale[i], t.model + scale.at + 4 * (size_t)i, 4);
    x->zero = zero.count ? (int)signed_bytes(t.model + zero.at, 8) : 0;
    x->axis = (int)whole(inner(t, TENSOR_QUANT), QUANT_AXIS, 4, 0);
    List data = list_of(table_of(buffers, (int)whole(t, TENSOR_BUFFER, 4, 0)), 0);
    x->is_constant = data.count > 0;
    if (x->is_constant) values_read(c, x, t.model + data.at);
    else x->v = values_new(c, elements(x));
}

static void read_options(Case *c, Table t)
{
    for (int i = 0; c->op->fields[i]; i++) {
        float f = 0;
        List l;
        switch (c->op->fields[i]) {
        case 'b': c->field[i] = (double)whole(t, i, 1, 0); break;
        case 'd': c->field[i] = (double)whole(t, i, 4, 1); break;
        case 'i': c->field[i] = (double)whole(t, i, 4, 0); break;
        case 'f':
            if (field_at(t, i)) memcpy(&f, t.model + field_at(t, i), 4);
            c->field[i] = (double)f;
            break;
        case 'l': case 'r':
            l = list_of(t, i);
            for (c->list_count = 0; c->list_count < l.count; c->list_count++)
                c->list[c->list_count] = int_of(l, c->list_count);
        }
    }
}

bool case_read(const uint8_t *model, size_t count, Case *c)
{
    if (count < 8 || memcmp(model + 4, "TFL3", 4) != 0) return false;
    Table root = { model, follow(model, 0) }, graph = table_of(list_of(root, MODEL_SUBGRAPHS), 0),
          op = table_of(list_of(graph, GRAPH_OPERATORS), 0);
    List tensors = list_of(graph, GRAPH_TENSORS), buffers = list_of(root, MODEL_BUFFERS),
         in = list_of(op, OPERATOR_INPUTS), out = list_of(op, OPERATOR_OUTPUTS);
    c->in_count = in.count;
    c->out_count = out.count;
    if (in.count > MOST_OPERANDS || out.count > MOST_OPERANDS) return false;
    for (int i = 0; i < in.count; i++) {
        if (int_of(in, i) < 0) c->in[i].is_absent = true;
        else read_operand(c, table_of(tensors, int_of(in, i)), buffers, &c->in[i]);
    }
    for (int i = 0; i < out.count; i++) read_operand(c, table_of(tensors, int_of(out, i)), buffers, &c->out[i]);
    read_options(c, inner(op, OPERATOR_OPTIONS));
    return true;
}
