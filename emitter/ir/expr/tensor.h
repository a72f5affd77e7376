/* SPDX-License-Identifier: MIT */
#ifndef LW_IR_EXPR_TENSOR_H
#define LW_IR_EXPR_TENSOR_H
/* The dataflow DAG: tensors, and the nodes that produce them.
 *
 * A tensor is assigned once. A tensor is an input (no producer, no data), a constant (data), or an output of a node. A
 * node is one of
 *
 *   CALL      a call of an operator; its expansion is a DAG of computes
 *   COMPUTE   one stage: an index expression over axes
 *   REGION    graphs that the run selects or repeats
 *
 * The context owns nodes and tensors. Passes create new ones and never modify old ones. */
#include "ir/expr/reducer.h"

enum { MAX_RANK = 8, MAX_AXES = 16 };

typedef struct Node Node;
typedef struct Tensor Tensor;

/* Means real = scale * (stored - zero_point), with one scale per tensor or per index of `axis`. */
typedef struct Quant {
    int axis, count;                 /* count is 1 for a scale per tensor */
    const float *scale;
    const int32_t *zero_point;
} Quant;

struct Tensor {
    const char *name;                /* not unique before naming, and never NULL */
    DType type;
    int rank;
    const Expr *shape[MAX_RANK];     /* i32 constants, or i32 expressions over VAR_SIZE variables */
    Node *producer;                     /* the node that computes the tensor; NULL for an input or constant */
    int output;                      /* the tensor's index among the producer's outputs */
    const void *data;                /* of a constant: row-major elements in the host's byte order */
    const Quant *quant;              /* the quantization, or NULL */
    /* The operator's word for an intermediate tensor, such as "sums", or how packed weights are stored, in words; or
     * NULL. */
    const char *word;
    /* True for a stand-in in which about half of the elements are zero, as after a ReLU; only counts use this. */
    bool is_rectified;
    uint32_t serial;
    /* the tensor without const, as the DAG's nodes hold it; expressions hold it as const */
    struct Tensor *self;
};

typedef enum AxisKind { AXIS_DATA, AXIS_REDUCE, AXIS_ORDERED } AxisKind;
/* An axis of a stage. `var` (VAR_AXIS, i32) is in [0, extent). */
typedef struct Axis { const Expr *var; AxisKind kind; const Expr *extent; } Axis;

/* A computation without loops. The data axes come first, in the order of the outputs' dimensions, then the reduce axes.
 * All outputs have the same shape: the extents of the data and ordered axes.
 * - Without a reducer, out[i][data axes] = value[i].
 * - With a reducer, out[i] starts as init[i] and is combined with value[i] at each point of the reduce axes.
 *
 * `value` reads tensors at tensor coordinates; its only variables are the stage's axes and sizes. */
typedef struct Stage {
    const char *name;                /* the name of the stage's first output; unique in a nest */
    /* The name of the stage's group in a nest that combines several groups; NULL for one group. */
    const char *part;
    /* The call of an operator that the stage is part of, and the operator's name. NULL for a formula, or for a stage
     * that a step created. */
    const Node *call; const char *op;
    bool is_result;                  /* true if the stage computes the call's first output */
    int axis_count, data_count;      /* data_count includes ordered axes and equals the rank of the outputs */
    Axis *axis;
    int out_count;
    Tensor **out;
    const Expr **value;              /* [out_count]: the value of each output */
    Reducer reducer;
    const Combiner *combiner;        /* the combiner of REDUCE_OWN; otherwise NULL */
    const Expr **init;               /* [out_count]: the initial values, over the data axes; NULL without a reducer */
    /* True if a step permits fused multiply-add: a*b + c is rounded once on targets that have the instruction. */
    bool contracts;
    bool reassociates;               /* true if a step permits another order of a reduction of floats */
    /* True if data choose the elements that the compute updates: its naive loops run over the reduce axes outside the
     * other axes. */
    bool scatters;
    uint32_t serial;
} Stage;

typedef enum AttrKind { ATTR_INT, ATTR_REAL, ATTR_TEXT, ATTR_INTS, ATTR_REALS, ATTR_TENSOR } AttrKind;
typedef struct Attr {
    const char *name;
    AttrKind kind;
    int count;                       /* the number of ints or reals */
    int64_t integer; double real; const char *text;
    const int64_t *ints; const double *reals;
    const Tensor *tensor;
} Attr;

typedef enum NodeKind { NODE_CALL, NODE_COMPUTE, NODE_REGION } NodeKind;
/* A node of the model's file: an operator of TFLite, a node of ONNX, a statement of .te. Each call states from which
 * node of the file it was made, so that a reviewer finds the lines of C that implement the node. */
typedef struct FileNode {
    /* The node's number in the file's order from 0, or the line of a statement; inside a graph of another node, after
     * that node's place and the graph: "7/then_branch/0". */
    const char *place;
    const char *op, *name;           /* the operator as the file names it; the name of the node or of its result */
    bool is_constant, is_passed;     /* true if a result is a constant, or a value of another node */
    const struct FileNode *outer;    /* the node that holds its graph, or NULL */
    int read_count; const struct FileNode **read;    /* the nodes of its graph whose results this node reads */
} FileNode;

struct Node {
    NodeKind kind;
    uint32_t serial;
    /* The name of the node in the model, for messages, or a generated name; never NULL. */
    const char *name;
    const struct Op *op;             /* CALL: the operator's row (graph/dag/op.h); REGION: the row of its kind */
    /* CALL: the device's composite that the call is part of (graph/passes/composite.c), or NULL. */
    const struct CompositeMatch *match;
    /* CALL: the device, an interned name, or NULL for the host (graph/passes/device.c). */
    const char *device;
    int attr_count; const Attr *attr;
    int in_count; Tensor **in;       /* an absent optional input is NULL */
    int out_count; Tensor **out;
    Stage *stage;                    /* COMPUTE: its stage */
    const struct Region *region;     /* REGION: its graphs (graph/dag/region.h) */
    const FileNode *from;            /* the node of the file that it was made from, or NULL */
};

Tensor *tensor_new(Ctx *cx, const char *name, DType t, int rank, const Expr *const *shape);
Tensor *tensor_new_fixed(Ctx *cx, const char *name, DType t, int rank, const int64_t *shape);
/* Returns a tensor like t without its producer. */
Tensor *tensor_stand_in(Ctx *cx, const Tensor *t);
/* Returns a constant with a copy of `data`; a `data` of NULL gives zeros. */
Tensor *tensor_constant(Ctx *cx, const char *name, DType t, int rank, const int64_t *shape, const void *data);
/* Returns a constant of zeros. *data points to its elements, which the caller may write until the first read. */
Tensor *tensor_zeros(Ctx *cx, const char *name, DType t, int rank, const int64_t *shape, void **data);
Tensor *tensor_scalar(Ctx *cx, const char *name, DType t, double v);        /* returns a rank-0 constant */
bool    tensor_is_constant(const Tensor *t);
/* Returns true for a constant that begins with v; t may be NULL. */
bool    tensor_is_integer(const Tensor *t, int64_t v);
bool    tensor_is_fixed(const Tensor *t);              /* returns true if all dimensions are constant */
int64_t tensor_dim(const Tensor *t, int axis);         /* returns -1 if the dimension is symbolic */
int64_t tensor_elems(const Tensor *t);                 /* returns -1 if a dimension is symbolic, or beyond int64 */
/* Returns the largest magnitude of a constant in f32 for each of `channels` indices of its last axis. With one channel,
 * returns the largest magnitude of all elements. */
float *tensor_magnitudes(Ctx *cx, const Tensor *t, int64_t channels);
int64_t tensor_bytes(const Tensor *t);
/* Returns the shape for messages: "[3][3][16][32]", "[n][4]", "[]", or "[dimension 0 of "kept"][4]" for a size that
 * data decide. */
const char *tensor_shape_text(Ctx *cx, const Tensor *t);
/* Returns the shape for emitted text, with each size by its name. */
const char *tensor_shape_names(Ctx *cx, const Tensor *t);
/* Returns the end of a diagnostic for a refused axis or index, which may count from the end: "-4 to 3 are accepted". */
const char *indices_accepted_text(Ctx *cx, int64_t count);
const Expr *tensor_read(Ctx *cx, const Tensor *t, const Expr *const *index, int count);

/* Describes a compute node with one stage. The node's outputs are new tensors. The outputs are named after the stage
 * and have the values' types and the shape of the data axes. */
typedef struct StageSpec {
    const char *name, *part;
    const Node *call; const char *op; bool is_result;      /* as in Stage */
    int axis_count; Axis axis[MAX_AXES];
    int out_count; const Expr *value[MAX_COMPONENTS];
    Reducer reducer;
    const Combiner *combiner;        /* as in Stage */
    bool scatters;
    const Expr *init[MAX_COMPONENTS]; /* the initial values; NULL for the reducer's identity */
} StageSpec;
Node *compute_new(Ctx *cx, const StageSpec *spec);     /* returns NULL on error */
/* Returns the description of the stage with its axes, values and initial values, for a stage that differs in a part. */
StageSpec stage_spec(const Stage *s);
const Expr *axis_var(Ctx *cx, const char *name, const Expr *extent);   /* creates a new VAR_AXIS variable */

/* Returns the stage with only value i, for a reduction whose values do not depend on each other. The result refers to
 * s. */
Stage stage_component(const Stage *s, int i);
const ReducerInfo *stage_reducer(const Stage *s);
/* Returns the identity of value i, or NULL if the stage's own reducer declares none. */
const Expr *stage_identity(Ctx *cx, const Stage *s, int i);
/* Computes combine(old, value) for all values of the stage. */
void stage_combine(Ctx *cx, const Stage *s, const Expr *const *old, const Expr *const *value, const Expr **out);
/* Returns true if the points of the reduction may be combined in any order; with `reassociate`, also if the order
 * changes the rounding of floats. */
bool stage_order_is_free(const Stage *s, bool reassociate);
/* Returns true if a combination with the value preserves every bit of a reduction, so it may be skipped. */
bool stage_skips(Ctx *cx, const Stage *s, const Expr *value);
int stage_depth(const Stage *s);                       /* returns the depth of the stage's deepest value */
/* Collects the tensors that a stage reads, each once, in order of first use. */
int stage_reads(Ctx *cx, const Stage *s, const Tensor ***out);

const Attr *node_attr(const Node *n, const char *name);                /* returns NULL if the attribute is absent */
int64_t node_int(const Node *n, const char *name, int64_t otherwise);
double  node_real(const Node *n, const char *name, double otherwise);
const char *node_text(const Node *n, const char *name, const char *otherwise);
/* Copies the integers of an ATTR_INTS attribute to out[count], or fills it with `otherwise` if the attribute is absent.
 * Returns false if the length differs. */
bool    node_ints(const Node *n, const char *name, int64_t *out, int count, int64_t otherwise);

/* Collects all nodes on which the outputs depend: producers before consumers, otherwise in order of serial. */
int dag_order(Ctx *cx, Tensor *const *outputs, int count, Node ***out);
#endif
