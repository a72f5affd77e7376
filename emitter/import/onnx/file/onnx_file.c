/* SPDX-License-Identifier: MIT */
/* Has one function per message of onnx.proto; each loops over the message's fields. A first pass counts repeated
 * messages, so that arrays are allocated once at their final size; memory stays proportional to the file. Graphs nested
 * in attributes (If, Loop) are read the same way, to a bounded depth. */
#include "import/onnx/file/onnx_file.h"

#include <string.h>

#include "support/names.h"
#include "support/text.h"

enum { DEEPEST = 8 };       /* limit of the nesting depth of graphs */

/* ---- Attributes and nodes ---------------------------------------------------------------------------------------- */

enum {
    ATTR_NAME = 1,
    ATTR_F = 2,
    ATTR_I = 3,
    ATTR_S = 4,
    ATTR_T = 5,
    ATTR_G = 6,
    ATTR_FLOATS = 7,
    ATTR_INT_LIST = 8,
    ATTR_STRINGS = 9,
    ATTR_REFERENCE = 21,
    ATTR_SPARSE = 22
};

static void read_graph(Ctx *cx, Cursor m, OnnxGraph *g, int depth);

static void read_attr(Ctx *cx, Cursor m, OnnxAttr *a, int depth)
{
    *a = (OnnxAttr){ .name = name(cx, ""), .s = "" };
    int64_t *ints = NEW_ARRAY(cx->arena, int64_t, proto_numbers(m, ATTR_INT_LIST, WIRE_VARINT));
    double *reals = NEW_ARRAY(cx->arena, double, proto_numbers(m, ATTR_FLOATS, WIRE_32));
    const char **texts = NEW_ARRAY(cx->arena, const char *, proto_fields(m, ATTR_STRINGS));
    uint64_t value;
    for (Field f; proto_next(&m, &f);) {
        switch (f.number) {
        case ATTR_NAME: a->name = proto_text(cx, &f); break;
        case ATTR_F: a->f = (double)proto_float(f.value), a->kind = ONNX_ATTR_FLOAT; break;
        case ATTR_I: a->i = (int64_t)f.value, a->kind = ONNX_ATTR_INT; break;
        case ATTR_S: a->s = proto_text(cx, &f); break;
        case ATTR_REFERENCE: a->reference = proto_text(cx, &f); break;
        case ATTR_T: case ATTR_SPARSE: {
            OnnxTensor *t = NEW(cx->arena, OnnxTensor);
            if (f.number == ATTR_T) onnx_tensor_open(cx, f.bytes, t);
            else onnx_tensor_open_sparse(cx, f.bytes, t);
            a->tensor = t;
            break;
        }
        case ATTR_G: {
            OnnxGraph *g = NEW(cx->arena, OnnxGraph);
            read_graph(cx, f.bytes, g, depth + 1);
            a->graph = g;
            break;
        }
        case ATTR_INT_LIST:
            while (proto_number(&f, WIRE_VARINT, &value)) ints[a->int_count++] = (int64_t)value;
            break;
        case ATTR_FLOATS:
            while (proto_number(&f, WIRE_32, &value)) reals[a->real_count++] = (double)proto_float(value);
            break;
        case ATTR_STRINGS:
            if (f.wire == WIRE_BYTES) texts[a->text_count++] = proto_text(cx, &f);
            break;
        default: break;
        }
    }
    a->ints = ints;
    a->reals = reals;
    a->texts = texts;
    proto_malformed(cx, &m, text_format(cx, "attribute \"%s\"", a->name));
}

enum { NODE_IN = 1, NODE_OUT = 2, NODE_NAME = 3, NODE_TYPE = 4, NODE_ATTR = 5, NODE_DOMAIN = 7, NODE_OVERLOAD = 8 };

/* Returns the names that a graph defines. The names are not visible outside the graph, so an enclosing graph may use
 * the same names for other values. */
static Map names_defined(Ctx *cx, const OnnxGraph *g)
{
    Map own = map_new(cx->arena);
    for (int i = 0; i < g->input_count; i++) map_put_const_ptr(&own, g->input[i].name, g);
    for (int i = 0; i < g->initializer_count; i++) map_put_const_ptr(&own, g->initializer[i].name, g);
    for (int i = 0; i < g->node_count; i++)
        for (int j = 0; j < g->node[i].out_count; j++) map_put_const_ptr(&own, g->node[i].out[j], g);
    return own;
}

static void add_capture(OnnxNode *n, const Map *own, const char *value_name)
{
    if (!map_get_const_ptr(own, value_name)) n->capture[n->capture_count++] = value_name;
}

static int64_t names_read(const OnnxGraph *g)
{
    int64_t count = g->output_count;
    for (int i = 0; i < g->node_count; i++) count += g->node[i].in_count + g->node[i].capture_count;
    return count;
}

/* Adds the captures of a node, which are hidden inputs: values of the enclosing graphs that graphs in its attributes
 * read. */
static void add_captures(Ctx *cx, OnnxNode *n)
{
    int64_t most = 0;
    for (int a = 0; a < n->attr_count; a++) most += n->attr[a].graph ? names_read(n->attr[a].graph) : 0;
    n->capture = NEW_ARRAY(cx->arena, const char *, most);
    for (int a = 0; a < n->attr_count; a++) {
        const OnnxGraph *g = n->attr[a].graph;
        if (!g) continue;
        const Map own = names_defined(cx, g);
        for (int i = 0; i < g->node_count; i++) {
            const OnnxNode *inner = &g->node[i];
            for (int j = 0; j < inner->in_count; j++) add_capture(n, &own, inner->in[j]);
            for (int j = 0; j < inner->capture_count; j++) add_capture(n, &own, inner->capture[j]);
        }
        for (int i = 0; i < g->output_count; i++) add_capture(n, &own, g->output[i].name);
    }
}

static void read_node(Ctx *cx, Cursor m, OnnxNode *n, int depth)
{
    *n = (OnnxNode){ .name = name(cx, ""), .type = name(cx, ""), .domain = name(cx, ""), .overload = name(cx, "") };
    n->in = NEW_ARRAY(cx->arena, const char *, proto_fields(m, NODE_IN));
    n->out = NEW_ARRAY(cx->arena, const char *, proto_fields(m, NODE_OUT));
    n->attr = NEW_ARRAY(cx->arena, OnnxAttr, proto_fields(m, NODE_ATTR));
    for (Field f; !ctx_failed(cx) && proto_next(&m, &f);) {
        if (f.wire != WIRE_BYTES) continue;
        switch (f.number) {
        case NODE_IN: n->in[n->in_count++] = proto_text(cx, &f); break;
        case NODE_OUT: n->out[n->out_count++] = proto_text(cx, &f); break;
        case NODE_NAME: n->name = proto_text(cx, &f); break;
        case NODE_TYPE: n->type = proto_text(cx, &f); break;
        case NODE_ATTR: read_attr(cx, f.bytes, &n->attr[n->attr_count++], depth); break;
        case NODE_DOMAIN: n->domain = proto_text(cx, &f); break;
        case NODE_OVERLOAD: n->overload = proto_text(cx, &f); break;
        default: break;
        }
    }
    for (int i = 0; i < n->out_count && !*n->name; i++) n->name = n->out[i];
    if (!ctx_failed(cx)) add_captures(cx, n);
    proto_malformed(cx, &m, text_format(cx, "node \"%s\" (%s)", n->name, n->type));
}

/* ---- Inputs and outputs of the graph ----------------------------------------------------------------------------- */

static void read_dim(Ctx *cx, Cursor m, OnnxDim *d)
{
    *d = (OnnxDim){ .size = -1 };
    for (Field f; proto_next(&m, &f);) {
        if (f.number == 1 && f.wire == WIRE_VARINT) d->size = (int64_t)f.value;
        if (f.number == 2 && f.wire == WIRE_BYTES) d->symbol = proto_text(cx, &f);
    }
}

/* Reads TypeProto.Tensor: elem_type 1, shape 2 (of dim 1) */
static void read_tensor_type(Ctx *cx, Cursor m, OnnxValue *v)
{
    v->is_tensor = true;
    for (Field f; proto_next(&m, &f);) {
        if (f.number == 1 && f.wire == WIRE_VARINT) v->data_type = (int64_t)f.value;
        if (f.number != 2 || f.wire != WIRE_BYTES) continue;
        v->has_shape = true;
        Cursor shape = f.bytes;
        for (Field dim; proto_next(&shape, &dim);) {
            if (dim.number != 1 || dim.wire != WIRE_BYTES) continue;
            if (v->rank < MAX_RANK) read_dim(cx, dim.bytes, &v->dim[v->rank]);
            v->rank++;
        }
    }
}

/* Reads TypeProto.Map: key_type 1, value_type 2 (TypeProto: tensor_type 1) */
static void read_map_type(Ctx *cx, Cursor m, OnnxValue *v)
{
    OnnxValue of = { 0 };
    for (Field f; proto_next(&m, &f);) {
        if (f.number != 2 || f.wire != WIRE_BYTES) continue;
        Cursor type = f.bytes;
        for (Field kind; proto_next(&type, &kind);)
            if (kind.number == 1 && kind.wire == WIRE_BYTES) read_tensor_type(cx, kind.bytes, &of);
    }
    v->map_type = of.data_type;
}

/* Reads ValueInfoProto: name 1, type 2 (TypeProto: tensor_type 1, map_type 5) */
static void read_value(Ctx *cx, Cursor m, OnnxValue *v)
{
    *v = (OnnxValue){ .name = name(cx, "") };
    for (Field f; proto_next(&m, &f);) {
        if (f.number == 1) v->name = proto_text(cx, &f);
        if (f.number != 2 || f.wire != WIRE_BYTES) continue;
        Cursor type = f.bytes;
        for (Field kind; proto_next(&type, &kind);) {
            if (kind.wire != WIRE_BYTES) continue;
            if (kind.number == 1) read_tensor_type(cx, kind.bytes, v);
            if (kind.number == 5) read_map_type(cx, kind.bytes, v);
        }
    }
    const char *where = text_format(cx, "value \"%s\"", v->name);
    if (proto_malformed(cx, &m, where)) return;
    if (v->rank > MAX_RANK)
        diag_unsupported(cx, where, "it has %d dimensions; use at most %d dimensions", v->rank, MAX_RANK);
}

/* ---- Graph and model --------------------------------------------------------------------------------------------- */

enum {
    GRAPH_NODE = 1,
    GRAPH_NAME = 2,
    GRAPH_INITIALIZER = 5,
    GRAPH_INPUT = 11,
    GRAPH_OUTPUT = 12,
    GRAPH_VALUE = 13,
    GRAPH_SPARSE = 15
};

static void read_graph(Ctx *cx, Cursor m, OnnxGraph *g, int depth)
{
    *g = (OnnxGraph){ .name = "" };
    if (depth > DEEPEST) {
        diag_unsupported(cx, NULL, "graphs nested more than %d deep", DEEPEST);
        return;
    }
    g->node = NEW_ARRAY(cx->arena, OnnxNode, proto_fields(m, GRAPH_NODE));
    g->initializer = NEW_ARRAY(cx->arena, OnnxTensor,
                               proto_fields(m, GRAPH_INITIALIZER) + proto_fields(m, GRAPH_SPARSE));
    g->input = NEW_ARRAY(cx->arena, OnnxValue, proto_fields(m, GRAPH_INPUT));
    g->output = NEW_ARRAY(cx->arena, OnnxValue, proto_fields(m, GRAPH_OUTPUT));
    g->value = NEW_ARRAY(cx->arena, OnnxValue, proto_fields(m, GRAPH_VALUE));
    for (Field f; !ctx_failed(cx) && proto_next(&m, &f);) {
        if (f.wire != WIRE_BYTES) continue;
        switch (f.number) {
        case GRAPH_NODE: read_node(cx, f.bytes, &g->node[g->node_count++], depth); break;
        case GRAPH_NAME: g->name = proto_text(cx, &f); break;
        case GRAPH_INITIALIZER: onnx_tensor_open(cx, f.bytes, &g->initializer[g->initializer_count++]); break;
        case GRAPH_INPUT: read_value(cx, f.bytes, &g->input[g->input_count++]); break;
        case GRAPH_OUTPUT: read_value(cx, f.bytes, &g->output[g->output_count++]); break;
        case GRAPH_VALUE: read_value(cx, f.bytes, &g->value[g->value_count++]); break;
        case GRAPH_SPARSE: onnx_tensor_open_sparse(cx, f.bytes, &g->initializer[g->initializer_count++]); break;
        default: break;
        }
    }
    proto_malformed(cx, &m, "graph");
}

/* Reads OperatorSetIdProto: domain 1, version 2 */
static void read_opset(Ctx *cx, Cursor m, int64_t *opset)
{
    const char *domain = "";
    int64_t version = 0;
    for (Field f; proto_next(&m, &f);) {
        if (f.number == 1) domain = proto_text(cx, &f);
        if (f.number == 2) version = (int64_t)f.value;
    }
    if (!*domain || strcmp(domain, "ai.onnx") == 0) *opset = version;
}

enum {
    FUNCTION_NAME = 1,
    FUNCTION_IN = 4,
    FUNCTION_OUT = 5,
    FUNCTION_NODE = 7,
    FUNCTION_OPSET = 9,
    FUNCTION_DOMAIN = 10,
    FUNCTION_DEFAULT = 11,
    FUNCTION_OVERLOAD = 13
};

static void read_function(Ctx *cx, Cursor m, OnnxFunction *f)
{
    *f = (OnnxFunction){ .name = name(cx, ""), .domain = name(cx, ""), .overload = name(cx, "") };
    OnnxGraph *g = &f->body;
    g->name = "";
    g->node = NEW_ARRAY(cx->arena, OnnxNode, proto_fields(m, FUNCTION_NODE));
    g->input = NEW_ARRAY(cx->arena, OnnxValue, proto_fields(m, FUNCTION_IN));
    g->output = NEW_ARRAY(cx->arena, OnnxValue, proto_fields(m, FUNCTION_OUT));
    f->attr = NEW_ARRAY(cx->arena, OnnxAttr, proto_fields(m, FUNCTION_DEFAULT));
    for (Field part; !ctx_failed(cx) && proto_next(&m, &part);) {
        if (part.wire != WIRE_BYTES) continue;
        switch (part.number) {
        case FUNCTION_NAME: f->name = proto_text(cx, &part); break;
        case FUNCTION_DOMAIN: f->domain = proto_text(cx, &part); break;
        case FUNCTION_OVERLOAD: f->overload = proto_text(cx, &part); break;
        case FUNCTION_IN: g->input[g->input_count++] = (OnnxValue){ .name = proto_text(cx, &part) }; break;
        case FUNCTION_OUT: g->output[g->output_count++] = (OnnxValue){ .name = proto_text(cx, &part) }; break;
        case FUNCTION_NODE: read_node(cx, part.bytes, &g->node[g->node_count++], 1); break;
        case FUNCTION_DEFAULT: read_attr(cx, part.bytes, &f->attr[f->attr_count++], 1); break;
        case FUNCTION_OPSET: read_opset(cx, part.bytes, &f->opset); break;
        default: break;
        }
    }
    proto_malformed(cx, &m, text_format(cx, "function \"%s\"", f->name));
}

enum { MODEL_GRAPH = 7, MODEL_OPSET = 8, MODEL_FUNCTION = 25 };

bool onnx_file_read(Ctx *cx, Bytes bytes, OnnxFile *out)
{
    Cursor m = cursor_new(bytes.at, bytes.count), graph = { 0 };
    bool has_graph = false;
    *out = (OnnxFile){ 0 };
    out->function = NEW_ARRAY(cx->arena, OnnxFunction, proto_fields(m, MODEL_FUNCTION));
    for (Field f; !ctx_failed(cx) && proto_next(&m, &f);) {
        if (f.wire != WIRE_BYTES) continue;
        if (f.number == MODEL_OPSET) read_opset(cx, f.bytes, &out->opset);
        if (f.number == MODEL_FUNCTION) read_function(cx, f.bytes, &out->function[out->function_count++]);
        if (f.number == MODEL_GRAPH) graph = f.bytes, has_graph = true;
    }
    if (proto_malformed(cx, &m, NULL)) return false;
    if (!has_graph)
        diag_error(cx, NULL, "this is not an ONNX model: it has no graph; use a ModelProto with a graph");
    else read_graph(cx, graph, &out->graph, 0);
    return !ctx_failed(cx);
}
