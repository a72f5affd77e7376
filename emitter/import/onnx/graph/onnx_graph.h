/* SPDX-License-Identifier: MIT */
#ifndef LW_IMPORT_ONNX_GRAPH_H
#define LW_IMPORT_ONNX_GRAPH_H
/* Represents a graph of an ONNX model during import: the model's own, a function's body, or a graph nested in a
 * node. */
#include "import/model/decided.h"
#include "import/model/file_nodes.h"
#include "import/onnx/graph/onnx_ops.h"
#include "ir/algebra/algebra.h"

/* State shared by all graphs of a model. */
typedef struct OnnxImport {
    Ctx *cx;
    const struct ImportOptions *options;
    const OnnxOp *const *rows;    /* the rows of all operators */
    OnnxFolder folder;
    OnnxFile file;
    OnnxStrings strings;
    FileNodes *nodes;
    Map sizes;                    /* maps tensors with symbolic elements to size lists (onnx_open.c) */
    Map sizes_materialized;       /* maps a tensor in `sizes` to the tensor that computes its list at run time */
    Map ranges;                   /* maps an integer tensor to its bounds (onnx_range.c) */
    Decided decided;              /* sizes that the run decides */
    Map elements;                 /* elements of lists that the run computes (onnx_listed.c) */
    Map selections;               /* maps a tensor to the positions of its elements that are not 0 (onnx_find.c) */
    bool has_saved_layout;        /* true after a report of nodes in the layout of the machine that saved the file */
    int64_t own_work, work;       /* the counts of nodes and inputs in the model's graph, and in all other graphs; they
                                   * are bounded, so that a hostile file costs bounded time */
} OnnxImport;

typedef struct OnnxScope OnnxScope;
struct OnnxScope {
    OnnxImport *import;
    const OnnxScope *outer;       /* the enclosing graph, whose values are visible; NULL in a function */
    int depth;
    int64_t opset;
    const OnnxGraph *graph;
    const char *word;             /* the name of the graph in its node: an attribute or a function; "" for the model */
    const OnnxFunction *function; /* the function whose body this graph is */
    const OnnxNode *caller;       /* the call of the function, which provides attributes */
    /* In a function's own graph: the scope of the call. The call's tensors are accessible inside the function, but
     * their names are not. */
    const OnnxScope *called_from;
    Tensor *iteration;            /* in a loop's body, the iteration index; otherwise NULL */
    Map producer;                 /* maps the name of a value to its OnnxNode */
    Map initializer;              /* maps a name to its OnnxTensor */
    Map input;                    /* maps a name to its OnnxValue */
    /* maps a name to its Tensor, once produced; an initializer is produced on first use */
    Map *value;
    Map list;                     /* maps a name to its OnnxList, once produced */
    /* maps a name to the OnnxValue of an output or intermediate value with a declared shape */
    Map declared;
    /* In a region's graph: the values captured from enclosing graphs; NULL if the graph is inlined */
    OnnxCaptured *captured;
    int ordered; OnnxNode **order;
};

OnnxScope *onnx_scope(OnnxImport *im, const OnnxGraph *g, const OnnxScope *outer);
/* Collects names and producers, and then orders the nodes that the outputs depend on. The file's order is preserved if
 * it is topological. Reports everything unsupported in these nodes. */
void onnx_scope_order(OnnxScope *s);
void onnx_scope_run(OnnxScope *s);                                           /* translates the nodes in order */
void onnx_scope_bind(OnnxScope *s, const char *name, Tensor *t);             /* binds an input */
/* returns NULL if the value is absent or not produced */
Tensor *onnx_scope_value(const OnnxScope *s, const char *name);
const OnnxList *onnx_scope_list(const OnnxScope *s, const char *name);       /* or NULL if it is not a sequence */
void onnx_scope_report_missing(const OnnxScope *s, const char *name);        /* reports a value that is not produced */
/* Handles a node with an open input, or with an input computed from open sizes. Returns true if the node is translated
 * or refused (c->out, or a diagnostic). */
bool onnx_translate_open(OnnxCall *c, const OnnxOp *op);
/* If each element of a small integer tensor has only one possible value, returns the constant; otherwise returns the
 * tensor unchanged. */
Tensor *onnx_decided_by_ranges(OnnxImport *im, Tensor *t);
/* the bounds of the tensor's elements, as far as operators prove them */
Interval onnx_range_of(OnnxImport *im, const Tensor *t);
void onnx_set_range(OnnxImport *im, const Tensor *t, Interval range);
/* For a size list, returns a tensor that computes it at run time; for any other tensor, the tensor itself. */
Tensor *onnx_materialize_sizes(OnnxImport *im, Tensor *t);
void onnx_check_type(OnnxImport *im, const char *where, int64_t data_type);
/* onnx_by_value.c: translates nodes with operands that the run decides. Returns false if these operands are constant;
 * otherwise sets c->out or reports a diagnostic. */
bool onnx_slice_by_value(OnnxCall *c);
bool onnx_topk_by_value(OnnxCall *c);
bool onnx_range_by_value(OnnxCall *c);
/* splits into equal parts, of which the last may be smaller */
void onnx_split_by_value(OnnxCall *c, int axis);
/* onnx_shape_by_value.c: lower these operators if the run decides their shapes */
bool onnx_expand_by_value(OnnxCall *c);
bool onnx_tile_by_value(OnnxCall *c);
bool onnx_reshape_by_value(OnnxCall *c);
bool onnx_pad_by_value(OnnxCall *c);
bool onnx_constant_of_shape_by_value(OnnxCall *c, Tensor *value);
bool onnx_one_hot_by_value(OnnxCall *c, Tensor *index);
/* onnx_resize_by_value.c: the attributes of Resize in words; nearest is NULL below operator set 11 */
typedef struct OnnxSampling { const char *mode, *coordinates, *nearest; double cubic; } OnnxSampling;
Tensor *onnx_resize_by_scales(OnnxCall *c, const OnnxSampling *form, Tensor *scales, const int64_t *axes, int count);
#endif
