/* SPDX-License-Identifier: MIT */
#ifndef LW_EXPORT_ONNX_NODE_H
#define LW_EXPORT_ONNX_NODE_H
/* Writes parts that the forms of operators in an ONNX file share: names, constants, nodes with attributes, operands,
 * ports. A tensor of the file is represented by its name, which most of these functions return. */
#include "graph/dag/graph.h"
#include "graph/dag/op.h"
#include "import/formats/protobuf_write.h"
#include "support/map.h"

/* Field numbers of onnx.proto3, by message */
enum { GRAPH_NODE = 1, GRAPH_NAME = 2, GRAPH_INITIALIZER = 5, GRAPH_INPUT = 11, GRAPH_OUTPUT = 12 };
enum { NODE_INPUT = 1, NODE_OUTPUT = 2, NODE_NAME = 3, NODE_OP_TYPE = 4, NODE_ATTRIBUTE = 5, NODE_DOMAIN = 7 };

/* This opset has QuantizeLinear for 16 bits. Opset 21 also has it, but ONNX Runtime 1.32 refuses 8-bit grids in such
 * files. */
extern const char onnx_domain_of_i16[];

typedef struct OnnxWriter OnnxWriter;
struct OnnxWriter {
    Ctx *cx;
    const Graph *graph;
    Message nodes;                     /* parts of the graph that is written: nodes, initializers and ports */
    Map names;                         /* maps a tensor to its name in the file */
    Map taken;                         /* the file's names */
    const char *stem;                  /* the name of the call or constant that is written; new names begin with it */
    bool has_i16;                      /* 16-bit grids */
    /* writes any node; reports a diagnostic if the node has no form */
    void (*write_node)(OnnxWriter *w, const Node *n);
};

/* A node that is being built: its operator and attributes. */
typedef struct OnnxNode { OnnxWriter *w; Message m; const char *op; } OnnxNode;

/* A form of an operator. `write` returns the first output, or NULL if the call has no form in ONNX. */
typedef struct OnnxForm OnnxForm;
typedef const char *WriteForm(OnnxWriter *w, const Node *n, const OnnxForm *f);
struct OnnxForm { const char *op, *onnx; WriteForm *write; };

/* ---- Constants --------------------------------------------------------------------------------------------------- */

int onnx_type(Ctx *cx, DType t);                                    /* its code in the file */
const char *onnx_initializer(OnnxWriter *w, const char *what, DType t, int rank, const int64_t *shape,
                             const void *data);                     /* the elements are in the host's byte order */
const char *onnx_number(OnnxWriter *w, const char *what, float v);
const char *onnx_int_list(OnnxWriter *w, const char *what, const int64_t *v, int count);
/* Returns element bytes in the order of the permuted shape. */
void *onnx_permuted(Ctx *cx, const void *data, size_t bytes, int rank, const int64_t *shape, const int64_t *perm);
/* Writes the constant t, first reshaped to `shape` and then permuted. Per-channel scales run along the last dimension
 * of `shape`. */
const char *onnx_weights(OnnxWriter *w, const Tensor *t, int rank, const int64_t *shape, const int64_t *perm);

/* ---- Nodes ------------------------------------------------------------------------------------------------------- */

OnnxNode onnx_node_begin(OnnxWriter *w, const char *op);
void onnx_put_int(OnnxNode *n, const char *name, int64_t v);
void onnx_put_float(OnnxNode *n, const char *name, double v);
void onnx_put_ints(OnnxNode *n, const char *name, const int64_t *v, int count);
void onnx_put_floats(OnnxNode *n, const char *name, const float *v, int count);
void onnx_put_texts(OnnxNode *n, const char *name, const char *const *text, int count);
void onnx_put_text(OnnxNode *n, const char *name, const char *text);
void onnx_put_graph(OnnxNode *n, const char *name, const Message *graph);
/* Ends the node; `out` becomes the names of its outputs. An input that is NULL is absent. */
void onnx_node_ends(OnnxNode *n, const char *const *in, int count, const char **out, int out_count);
/* Ends a node with one output; returns its name. */
const char *onnx_node_end(OnnxNode *n, const char *const *in, int count);
/* Writes a node without attributes. */
const char *onnx_node(OnnxWriter *w, const char *op, const char *const *in, int count);
const char *onnx_transposed(OnnxWriter *w, const char *x, const int64_t *perm, int rank);
const char *onnx_reshaped(OnnxWriter *w, const char *x, const int64_t *shape, int rank);
/* Writes x rounded to a grid, as a pair of nodes; `zero` is one element of the stored type. */
const char *onnx_rounded(OnnxWriter *w, const char *x, DType stored, float step, const void *zero);

/* ---- Operands ---------------------------------------------------------------------------------------------------- */

bool onnx_is_simulation(const Node *n);
bool onnx_is_store(const Node *n);
DType onnx_stored_type(const Node *n);           /* the type in which a simulation or a quantization stores */
bool onnx_is_constant(const Tensor *t);
void onnx_dims_of(const Tensor *t, int64_t *shape);
/* true if it has a name in the file, or is a constant */
bool onnx_is_written(const OnnxWriter *w, const Tensor *t);
void onnx_name_output(OnnxWriter *w, const Tensor *t, const char *name);
const char *onnx_operand(OnnxWriter *w, Tensor *t);

/* ---- Graphs ------------------------------------------------------------------------------------------------------ */

/* Adds a port to the graph that is written: GRAPH_INPUT or GRAPH_OUTPUT. */
void onnx_put_port(OnnxWriter *w, int number, const char *name, DType t, int rank, const int64_t *shape);
/* Returns a name that the file does not have yet, such as conv_1_Transpose or conv_1_Transpose_2. */
const char *onnx_fresh(OnnxWriter *w, const char *what);

WriteForm onnx_recurrent;                        /* onnx_recurrent.c: rnn, gru, lstm */
/* onnx_formula.c: writes the formulas of the call, and names all its outputs. Returns NULL, with a diagnostic, if this
 * is not possible. */
const char *onnx_formula(OnnxWriter *w, const Node *n);
#endif
