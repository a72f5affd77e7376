/* SPDX-License-Identifier: MIT */
#ifndef LW_IMPORT_ONNX_GRAPH_H
#define LW_IMPORT_ONNX_GRAPH_H
/* One graph of an ONNX model while it is imported: the model's own, the body of a function, or a graph inside of a node. */
#include "import/onnx/graph/onnx_ops.h"

/* What all graphs of a model share. */
typedef struct OnnxImport {
    Ctx *cx;
    const OnnxOp *const *rows;    /* of all operators */
    OnnxFolder folder;
    OnnxFile file;
    Map sizes;                    /* of tensors that are lists of symbolic sizes, see onnx_open.c; */
    Map sizes_made;               /* and what the program makes of them, where it does */
    int64_t own_work, work;       /* nodes and their inputs, of the model's graph and of all others: bounded, so that
                                   * a hostile file costs a bounded time */
} OnnxImport;

typedef struct OnnxScope OnnxScope;
struct OnnxScope {
    OnnxImport *import;
    const OnnxScope *outer;       /* what the graph may read besides; NULL: nothing, as in a function */
    int depth;
    int64_t opset;
    const OnnxGraph *graph;
    const OnnxFunction *function; /* whose body it is, and */
    const OnnxNode *caller;       /* who calls it: attributes come from there */
    /* Of a function's own graph: where; the values of that graph are seen there, not their names */
    const OnnxScope *called_from;
    Tensor *turn;                 /* of a loop's body: which turn it is; NULL: it is none */
    Map producer;                    /* name of a value -> OnnxNode */
    Map initializer;              /* -> OnnxTensor */
    Map input;                    /* -> OnnxValue */
    Map value, list;              /* -> Tensor or OnnxList, as far as made */
    Map declared;                 /* -> OnnxValue of an output or inner value whose shape the file declares */
    /* Of a region's graph: what it reads of the graphs around it; NULL: they read on as one graph */
    OnnxCaptured *captured;
    int ordered; OnnxNode **order;
};

OnnxScope *onnx_scope(OnnxImport *im, const OnnxGraph *g, const OnnxScope *outer);
/* Who makes what; the nodes that the outputs need, in the file's order where that is a valid one; then everything about
 * them that is not known is listed as diagnostics. */
void onnx_scope_order(OnnxScope *s);
void onnx_scope_run(OnnxScope *s);                                           /* node by node */
void onnx_scope_bind(OnnxScope *s, const char *name, Tensor *t);             /* an input's value */
Tensor *onnx_scope_value(const OnnxScope *s, const char *name);              /* NULL: absent, or not made */
void onnx_scope_not_made(const OnnxScope *s, const char *name);              /* the error for that */
/* Where an input has an open dimension or depends on one: true if that settled the node (c->out, or a diagnostic). */
bool onnx_keeps_open(OnnxCall *c, const OnnxOp *op);
/* A list of sizes as a tensor that the program makes; any other tensor as it is. */
Tensor *onnx_made_of_sizes(OnnxImport *im, Tensor *t);
void onnx_list_unknown_type(OnnxImport *im, const char *where, int64_t data_type);
#endif
