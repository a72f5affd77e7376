/* SPDX-License-Identifier: MIT */
#ifndef LW_GRAPH_GRAPH_H
#define LW_GRAPH_GRAPH_H
/* The DAG as a whole, its passes, its groups and its memory. */
#include "graph/dag/target.h"
#include "support/map.h"

/* What shrinking left of a layer; for reports. */
typedef struct Size { int64_t channels, macs, weights; } Size;       /* weights: bytes of its constants */
typedef struct Shrunk { const char *name; Size was, is; } Shrunk;
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

/* A pass makes a new graph of new nodes and leaves the old one; order of the table graph_passes. */
typedef Graph GraphPass(Ctx *cx, Graph g);
typedef struct GraphPassRow { const char *name, *what; GraphPass *run; } GraphPassRow;
const GraphPassRow *graph_passes(int *count);

GraphPass graph_annotate;     /* annotations of devices go into the nodes, recorded ones into the marks */
GraphPass graph_simplify;     /* calls that have a simpler form; dead nodes */
GraphPass graph_realize;      /* quantized calls that are written in real numbers become integer ones, where that is exact */
GraphPass graph_fold;         /* calls over constants are run now, by the interpreter */
GraphPass graph_regions;      /* a branch whose condition is known takes the place of its region */
GraphPass graph_affine;       /* scales and shifts behind a convolution or dense layer go into its weights and bias */
GraphPass graph_layout;       /* transposes sink, meet and cancel; what moves only dimensions of 1 is a view */
GraphPass graph_alter;        /* calls get the form that the target likes, with their weights packed (Implementation.alter) */
GraphPass graph_shrink;       /* channels on which no output depends go */
GraphPass graph_outputs;      /* copies where an output is an input, a constant or another output: each is written by one call */
GraphPass graph_devices;      /* what a device does not take comes home; copies where values cross */

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

/* Fusion by pattern kind on the dominator tree (catalogue 7.2): every call is in one group; order is that of execution. */
typedef struct Groups { int count; Group *at; } Groups;
Groups fuse(Ctx *cx, const Graph *g);
/* The groups in an order in which those of one device follow one another as far as the values allow. */
Groups groups_by_device(Ctx *cx, Groups groups);
const char *group_ops_text(Ctx *cx, const Group *g, const char *between);     /* "conv2d + add + relu" */
const char *group_device(const Group *g);        /* NULL: here */
/* The group's computes: outputs in the group's order, over stand-ins of its inputs, which go to input[input_count]. Names
 * tell roles, not places in the model, so that equal groups read the same; *anchor is the stage that makes the anchor's
 * first output. NULL on error. */
Tensor **group_expand(Ctx *cx, const Group *g, const Implementation *with, Tensor **input, const char **anchor);

/* The same over tensors that are computes already: *made leads from a tensor of the graph to what stands for it, and grows. The
 * stages' names begin with `prefix` and '_'; *local leads from the roles of the inputs to their names. */
bool group_expand_into(Ctx *cx, const Group *g, const Implementation *with, const char *prefix, Map *made, Map *local);

/* Where every tensor between groups lies. Views (reshapes, operands of concatenations) share their root's memory, and
 * so does an elementwise output that takes its dying input's place. */
typedef enum SlotKind { SLOT_INPUT, SLOT_OUTPUT, SLOT_CONST, SLOT_ARENA } SlotKind;
typedef struct Slot Slot;
struct Slot {
    const Tensor *tensor, *root;       /* root: the tensor whose memory it is in; itself unless a view */
    SlotKind kind; int index;          /* of the root among inputs, outputs or constants */
    bool in_arena;                     /* ARENA, and inputs and outputs that the caller keeps there */
    int64_t offset;                    /* in_arena: bytes from the arena's start to the root */
    int64_t view_offset;               /* elements from the root's start */
    int64_t stride[MAX_RANK];          /* elements */
    int first, last;                   /* groups between which it is alive, inclusive; its memory: while any slot of it is */
    Slot *next;                        /* another slot of the same root; the list begins with the root's own */
};
/* The root x is read for the last time by the group that makes the root y, which may begin `lead` bytes before x or earlier. */
typedef struct Lead { const Tensor *x, *y; int group; int64_t bytes; } Lead;
typedef struct Plan {
    int slot_count; Slot *slot;
    Map of;                            /* of a tensor: its slot */
    int64_t arena_size, align;         /* bytes; what is wanted more than 16 is set before plan_place */
    int64_t live_bound;                /* bytes: the largest sum of roots alive at once, in the arena; what lies over another counts once */
    int64_t *alive;                    /* [groups] the same of what is alive in each */
    int constant_count; const Tensor **constant;
    bool *is_free;                     /* [groups]: a view or concatenation that costs nothing: no function is made of it */
    bool *in_place;                    /* [groups]: an input shares the output's memory */
    int lead_count; Lead *lead;        /* set before plan_place */
    bool *overlaps;                    /* [groups]: the output lies over a part of an input; NULL: none does */
} Plan;
typedef struct Scratch { int64_t bytes, align, offset; } Scratch;       /* memory that one group needs for itself */
/* Before lowering: who shares whose memory, and how. nest[i] is the scheduled nest of group i. */
Plan plan_views(Ctx *cx, const Graph *g, const Groups *groups, const Nest *const *nest);
/* After lowering: offsets in the arena. scratch[i][0..count[i]) of group i get theirs too. */
void plan_place(Ctx *cx, Plan *p, int group_count, Scratch *const *scratch, const int *count);
bool plan_is_whole(const Slot *s);                                      /* it has all of its root, densely */
const Slot *plan_slot(const Plan *p, const Tensor *t);                  /* NULL: not between groups */
#endif
