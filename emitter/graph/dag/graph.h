/* SPDX-License-Identifier: MIT */
#ifndef LW_GRAPH_DAG_GRAPH_H
#define LW_GRAPH_DAG_GRAPH_H
/* The DAG as a whole, its passes, its groups and its memory. */
#include "graph/dag/target.h"
#include "support/map.h"

/* The size of a layer before and after shrinking, for reports. */
/* weights is in bytes of the layer's constants */
typedef struct LayerSize { int64_t channels, macs, weights; } LayerSize;
typedef struct Shrunk { const char *name; LayerSize was, is; } Shrunk;
/* An annotation that a later pass needs: the original call and the tensor's current version. The mark of a grid also
 * holds the name of the only call that reads the tensor. Passes replace constants and fold values without a trace. */
typedef struct Mark { const Node *annotation; Tensor *tensor; const char *reader; bool is_constant; } Mark;

/* A tensor of the imported graph, by its number in the order of execution, and the tensor that holds its values now:
 * the values of the channels kept[], or of all channels if kept is NULL. `now` is NULL if no call computes the tensor
 * any more, or if its values are not in one tensor. */
typedef struct Origin { Tensor *now; const int *kept; int kept_count; } Origin;

/* How quantized calls that are written in real numbers are computed:
 *
 *   EXACT     on integers, if only the rounding of intermediate floats can differ from the written call
 *   INTEGER   as EXACT, and also calls with frequent ties
 *   FIXED     as INTEGER, and also operators of several elements that have an 8-bit form in fixed point
 *   FLOAT     in floats, as written */
typedef enum Qdq { QDQ_EXACT, QDQ_INTEGER, QDQ_FIXED, QDQ_FLOAT } Qdq;

/* Indices of an input and an output that share memory: the output is the input's new value. is_inout: the file declares
 * so, and the caller owns the memory. */
typedef struct Update { int input, output; bool is_inout; } Update;

typedef struct Graph {
    const char *name;
    int input_count;  Tensor **input;       /* in the model's order */
    int output_count; Tensor **output;
    const Target *target;                   /* the target, or NULL for any target */
    Qdq qdq;
    int quantized_count;                    /* number of quantizations before graph_realize */
    int unrealized_count; const Node *const *unrealized;      /* the calls that are still computed in floats */
    int shrunk_count; const Shrunk *shrunk; /* the layers from which graph_shrink removed channels */
    Shrunk shrunk_total;                    /* the sum over all layers that multiply, shrunk or not */
    int mark_count;   Mark *mark;           /* the marks; each pass that rewrites the graph updates them */
    int origin_count; Origin *origin;       /* the tensors whose values are compared with the imported graph's */
    /* True if simulated quantizations become marks, which the quantizer reads. */
    bool records_grids;
    /* True if a mark counts as one more use of its tensor, so that the tensor is not removed. */
    bool counts_grids;
    int update_count; const Update *update; /* the inputs and outputs that share memory */
    /* True to keep dropouts, and norms over constants, in training form; a norm then needs several samples. */
    bool keeps_dropout, keeps_norms;
    bool spares_memory;                     /* true if groups are ordered to keep few bytes live */
    struct Stream *stream;                  /* the request of --stream (graph/stream/stream.h), or NULL */
} Graph;

bool graph_has_output(const Graph *g, const Tensor *t);
void graph_follow(Ctx *cx, Graph *g);               /* records the results of the graph's calls as its origins */
/* Updates the origins after a pass has replaced tensors. The map gives the replacement of each replaced tensor. */
void graph_replace_origins(Ctx *cx, Graph *g, const Map *to);
/* Returns the number of the first origin with this tensor, or -1. */
int graph_origin_of(const Graph *g, const Tensor *now);
/* Return a layout such as "NHWC", "NCHW" or "NWC", or NULL. The first operator with windows that reads the input
 * decides, or the last one that computes the output. The input belongs to a graph with these outputs. Defined in
 * port_layout.c. */
const char *graph_input_layout(Ctx *cx, Tensor *const *output, int output_count, const Tensor *input);
const char *graph_output_layout(Ctx *cx, const Tensor *output);


const Target *uses_target(const Uses *u);        /* the target of the graph */
bool uses_keep_dropout(const Uses *u);
bool uses_keep_norms(const Uses *u);

/* Rebuilds the graph. visit receives each call with its inputs already replaced (a fresh copy if they changed). `visit`
 * may overwrite out[], which holds the call's own outputs, with replacements. */
typedef void GraphVisit(Ctx *cx, Node *call, Tensor **out, const Uses *uses);
Graph graph_rewrite(Ctx *cx, Graph g, GraphVisit *visit);
/* Like graph_rewrite, but copies every call, which preserves the order of the calls. */
Graph graph_remake(Ctx *cx, Graph g, GraphVisit *visit);
Graph graph_rewrite_regions(Ctx *cx, Graph g, GraphVisit *visit);     /* visit gets the regions instead of the calls */
/* `given` maps inputs, constants and results to the tensors that take their place. A call whose results are all given
 * is left out. */
Graph graph_replace(Ctx *cx, Graph g, const Map *given);
/* Returns a call or region like `n` with other inputs; the outputs keep their names and quantization. Returns NULL on
 * error. */
Node *node_over(Ctx *cx, const Node *n, Tensor *const *in);
int graph_order(Ctx *cx, const Graph *g, Node ***out);

/* Returns 2 or 4 if the span of the constant's values fits this number of bits, and if the saved bytes are worth the
 * instructions that unpack them; otherwise 0. *least: the value whose bits are 0. */
int narrow_bits(const Tensor *t, int64_t *least);
/* Returns k as a call of from_bits over a constant of few bits, or k itself if its values need more bits. runs: the
 * number of parts along the first axes that each begin at a byte. by: the distance of elements that share a byte. */
Tensor *stored_in_bits(Ctx *cx, Tensor *k, int64_t runs, int64_t by);

/* Evaluates the call on constants; out[] receives a constant tensor for each output. */
bool graph_run_call(Ctx *cx, const Node *call, Tensor **out);

#endif
