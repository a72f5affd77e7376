/* SPDX-License-Identifier: MIT */
#ifndef LW_GRAPH_GRAPH_H
#define LW_GRAPH_GRAPH_H
/* The DAG as a whole, its passes, its groups and its memory. */
#include "graph/dag/target.h"
#include "support/map.h"

/* What shrinking left of a layer; for reports. */
typedef struct LayerSize { int64_t channels, macs, weights; } LayerSize;       /* weights: bytes of its constants */
typedef struct Shrunk { const char *name; LayerSize was, is; } Shrunk;
/* What was said of a tensor and is kept for a later pass: the annotation's call, as it was, and the tensor as it is now. */
typedef struct Mark { const Node *said; Tensor *tensor; } Mark;

/* Quantized calls written in real numbers: on integers where that is equal but for rounding on the way; ties too; as written. */
typedef enum Qdq { QDQ_EXACT, QDQ_INTEGER, QDQ_FLOAT } Qdq;

typedef struct Graph {
    const char *name;
    int input_count;  Tensor **input;       /* in the model's order */
    int output_count; Tensor **output;
    const Target *target;                   /* NULL: any */
    Qdq qdq;
    int quantized_count;                    /* quantizations before graph_realize */
    int unrealized_count; const Node *const *unrealized;      /* those of them that are still made of floats */
    int shrunk_count; const Shrunk *shrunk; /* the layers that graph_shrink made smaller */
    Shrunk shrunk_total;                    /* of all layers that multiply, smaller or not */
    int mark_count;   Mark *mark;           /* passes that rewrite the graph carry them along */
} Graph;

bool graph_has_output(const Graph *g, const Tensor *t);

/* How many nodes of the graph read the tensor, plus one for each output that it is. */

const Target *uses_target(const Uses *u);        /* the graph's */

/* Rebuilds the graph: visit gets each call with its inputs already replaced (a fresh copy where they changed) and may
 * overwrite out[], which holds the call's own outputs, with what is to be used instead. */
typedef void GraphVisit(Ctx *cx, Node *call, Tensor **out, const Uses *uses);
Graph graph_rewrite(Ctx *cx, Graph g, GraphVisit *visit);
Graph graph_remake(Ctx *cx, Graph g, GraphVisit *visit);     /* every call is a fresh copy, so that their order stays for certain */
Graph graph_rewrite_regions(Ctx *cx, Graph g, GraphVisit *visit);     /* visit gets the regions instead of the calls */
/* A call or region like `n` over other inputs; its outputs keep their names and quantization. NULL on error. */
Node *node_over(Ctx *cx, const Node *n, Tensor *const *in);
int graph_order(Ctx *cx, const Graph *g, Node ***out);

/* Runs the call on constants: a constant tensor for each output. */
bool graph_run_call(Ctx *cx, const Node *call, Tensor **out);

#endif
