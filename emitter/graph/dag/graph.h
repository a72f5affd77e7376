/* SPDX-License-Identifier: MIT */
#ifndef LW_GRAPH_DAG_GRAPH_H
#define LW_GRAPH_DAG_GRAPH_H
/* The DAG as a whole, its passes, its groups and its memory. */
#include "graph/dag/target.h"
#include "support/map.h"

/* Size of a layer before and after shrinking; for reports. */
typedef struct LayerSize { int64_t channels, macs, weights; } LayerSize;       /* weights: bytes of its constants */
typedef struct Shrunk { const char *name; LayerSize was, is; } Shrunk;
/* An annotation kept for a later pass: the original call, the tensor's current version, and of a grid the name of the
 * only call that reads the tensor, because passes replace constants and fold values without a trace. */
typedef struct Mark { const Node *annotation; Tensor *tensor; const char *reader; bool is_constant; } Mark;

/* A tensor of the graph as imported, by its number in the order of execution, and the tensor that has its values now:
 * those of the channels kept[] (NULL: all). NULL: no call computes it any more, or not as one tensor. */
typedef struct Origin { Tensor *now; const int *kept; int kept_count; } Origin;

/* Quantized calls written in real numbers are computed
 *
 *   EXACT     on integers, if only the rounding of intermediate floats can differ
 *   INTEGER   the same, including calls with frequent ties
 *   FIXED     the same, and operators of several elements that have an 8-bit form in fixed point
 *   FLOAT     in floats, as written */
typedef enum Qdq { QDQ_EXACT, QDQ_INTEGER, QDQ_FIXED, QDQ_FLOAT } Qdq;

/* Indices of an input and an output that share memory: the output is the input's new value. */
typedef struct Update { int input, output; } Update;

typedef struct Graph {
    const char *name;
    int input_count;  Tensor **input;       /* in the model's order */
    int output_count; Tensor **output;
    const Target *target;                   /* NULL: any */
    Qdq qdq;
    int quantized_count;                    /* quantizations before graph_realize */
    int unrealized_count; const Node *const *unrealized;      /* those still computed in floats */
    int shrunk_count; const Shrunk *shrunk; /* the layers that graph_shrink reduced */
    Shrunk shrunk_total;                    /* sum over all layers that multiply, reduced or not */
    int mark_count;   Mark *mark;           /* passes that rewrite the graph update them */
    int origin_count; Origin *origin;       /* where values are compared with those of the imported graph */
    bool records_grids;                     /* simulated quantizations become marks, for the quantizer */
    bool counts_grids;                      /* a tensor with such a mark has a use more, so it stays */
    int update_count; const Update *update; /* of a training step */
    bool keeps_dropout, keeps_norms;        /* for their training form; norms over constants, of several samples */
    bool spares_memory;                     /* groups are ordered by the bytes that are live */
    struct Stream *stream;                  /* of --stream (graph/stream/stream.h); NULL: none */
} Graph;

bool graph_has_output(const Graph *g, const Tensor *t);
void graph_follow(Ctx *cx, Graph *g);               /* the results of its calls become its origins */
/* A pass replaced tensors: the map has a replacement for each. */
void graph_replace_origins(Ctx *cx, Graph *g, const Map *to);
int graph_origin_of(const Graph *g, const Tensor *now);         /* the number of the first one; -1: none */
/* port_layout.c: a layout such as "NHWC", "NCHW" or "NWC", from the first operator with windows that reads the input,
 * or the last one that computes the output; NULL: none does. The input is of a graph with these outputs. */
const char *graph_input_layout(Ctx *cx, Tensor *const *output, int output_count, const Tensor *input);
const char *graph_output_layout(Ctx *cx, const Tensor *output);


const Target *uses_target(const Uses *u);        /* the graph's */
bool uses_keep_dropout(const Uses *u);
bool uses_keep_norms(const Uses *u);

/* Rebuilds the graph. visit gets each call with its inputs already replaced (a fresh copy if they changed). It may
 * overwrite out[], which holds the call's own outputs, with replacements. */
typedef void GraphVisit(Ctx *cx, Node *call, Tensor **out, const Uses *uses);
Graph graph_rewrite(Ctx *cx, Graph g, GraphVisit *visit);
/* Copies every call, which preserves their order */
Graph graph_remake(Ctx *cx, Graph g, GraphVisit *visit);
Graph graph_rewrite_regions(Ctx *cx, Graph g, GraphVisit *visit);     /* visit gets the regions instead of the calls */
/* `given` maps inputs, constants and results to the tensors that take their place. A call whose results are all given
 * is left out. */
Graph graph_replace(Ctx *cx, Graph g, const Map *given);
/* Returns a call or region like `n` over other inputs; outputs keep their names and quantization. NULL on error. */
Node *node_over(Ctx *cx, const Node *n, Tensor *const *in);
int graph_order(Ctx *cx, const Graph *g, Node ***out);

/* Evaluates the call on constants: out[] gets a constant tensor for each output. */
bool graph_run_call(Ctx *cx, const Node *call, Tensor **out);

#endif
