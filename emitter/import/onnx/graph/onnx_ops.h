/* SPDX-License-Identifier: MIT */
#ifndef LW_IMPORT_ONNX_OPS_H
#define LW_IMPORT_ONNX_OPS_H
/* The translation of ONNX operators to calls of IR operators: one row each. */
#include "graph/dag/op.h"
#include "import/onnx/file/onnx_file.h"
#include "import/onnx/graph/onnx_strings.h"

enum { ONNX_OUTPUTS = 64 };          /* limit of one node (Split) */
enum { ONNX_ANY = INT32_MAX };       /* any number of inputs */

/* A sequence of tensors; is_absent: an optional value without an element. */
typedef struct OnnxList { int count; Tensor **at; bool is_absent; } OnnxList;

/* A node under translation. */
typedef struct OnnxCall {
    Ctx *cx;
    const OnnxNode *node;
    int64_t opset;
    OnnxFolder *folder;              /* of the model */
    const struct OnnxOp *const *rows;        /* all operators */
    OnnxStrings *strings;            /* of the model */
    const struct OnnxScope *scope;   /* the graph that contains the node */
    const char *name, *op_name;      /* name of the calls to create; the row's IR operator */
    int in_count; Tensor **in;       /* absent inputs are NULL; trailing absent ones are not counted */
    const OnnxList **list;           /* [in_count]: sequence inputs, whose in[i] is NULL; else NULL */
    const OnnxList *out_list[ONNX_OUTPUTS];  /* outputs that are sequences */
    Tensor *out[ONNX_OUTPUTS];       /* set by the translation; outputs left NULL must be unused */
} OnnxCall;

/* Dimensions of the inputs that may stay open. */
typedef enum OnnxKeeps {
    KEEPS_NONE,                      /* none; all if the row's IR operator is elementwise */
    KEEPS_ALL,
    KEEPS_OTHERS,                    /* all except attribute `axis` */
    KEEPS_IMAGE,                     /* all except dimension 1, the channels */
    KEEPS_SEQUENCE                   /* the first two */
} OnnxKeeps;

/* Computes the size list of output 0; false if it has none. onnx_sizes.h */
typedef struct OnnxSizes OnnxSizes;
typedef bool OnnxListRule(OnnxCall *c, OnnxSizes *out);
/* Translates a call over open dimensions; false: not applicable, the row's translation applies. */
typedef bool OnnxOpenRule(OnnxCall *c);

/* Support for open dimensions and lists of sizes (onnx_open.c). */
typedef struct OnnxOpen {
    OnnxKeeps keeps;
    /* An input that is a list of sizes is refused unless the IR operator is elementwise; or read by the translation
     * through onnx_sizes, input 0 after the sizes are known, unless the translation sees to their order; or computed at
     * run time and passed as an ordinary tensor. */
    enum { LISTS_REFUSED, LISTS_READ, LISTS_ORDERED, LISTS_COMPUTED } lists;
    OnnxListRule *on_lists;          /* applies if an input is a size list; NULL: no arithmetic on sizes */
    OnnxListRule *on_shape;          /* applies if an input is a size list or has an open dimension */
    OnnxOpenRule *translate;         /* NULL: the row's translation supports open sizes */
} OnnxOpen;

typedef struct OnnxOp OnnxOp;
struct OnnxOp {
    const char *name;
    int most_inputs;                 /* of all operator sets; ONNX_ANY */
    const char *attrs;               /* accepted attributes, space-separated */
    const char *op;                  /* the IR operator; without a translation, inputs and attributes map one to one */
    void (*translate)(OnnxCall *c);
    bool moves;                      /* elements of any type are copied unchanged, without arithmetic */
    /* Inputs that are strings: their outputs are also strings; or the translation marks those that are */
    enum { STRINGS_REFUSED, STRINGS_MOVED, STRINGS_READ } strings;
    const char *value_attr;          /* an attribute whose text names a value on which the node depends; NULL: none */
    OnnxOpen open;
};

/* Initializers of a row. Less common facts follow by name: `.open.keeps = KEEPS_ALL`. */
#define ONNX_SAME(its_name, most, its_attrs, ir_op) \
    .name = its_name, .most_inputs = most, .attrs = its_attrs, .op = ir_op
#define ONNX_ROW(its_name, most, its_attrs, fn) \
    .name = its_name, .most_inputs = most, .attrs = its_attrs, .translate = fn
#define ONNX_AS(its_name, most, its_attrs, ir_op, fn) ONNX_SAME(its_name, most, its_attrs, ir_op), .translate = fn
#define ONNX_MOVE(its_name, most, its_attrs, fn) ONNX_ROW(its_name, most, its_attrs, fn), .moves = true
#define ONNX_MOVE_ANY(its_name, most, its_attrs, fn) \
    ONNX_MOVE(its_name, most, its_attrs, fn), .strings = STRINGS_MOVED

/* `rows` is a NULL-terminated list of arrays, each terminated by a row without a name (ops/onnx_rows.h). Finds the row
 * of an operator, or of DOMAIN.OPERATOR; NULL: unsupported. Rows registered in the context take precedence. */
const OnnxOp *onnx_op_find(Ctx *cx, const OnnxOp *const *rows, const char *name);
void onnx_op_register(Ctx *cx, const OnnxOp *op);
const OnnxOp **onnx_op_list(Ctx *cx, const OnnxOp *const *rows, int *count);   /* all rows, sorted by name */
/* Returns the nearest supported name, or NULL */
const char *onnx_op_near(Ctx *cx, const OnnxOp *const *rows, const char *name);
bool onnx_op_has_attr(const OnnxOp *op, const char *attr);
void onnx_translate(OnnxCall *c, const OnnxOp *op);
/* Returns output 0 of another operator of the default domain on these inputs, with the node's attributes. With a node,
 * has that one's attributes, and sets all outputs. */
Tensor *onnx_translate_as(OnnxCall *c, const char *op_name, int64_t opset, Tensor **in, int in_count,
                          const OnnxNode *node);

/* Inlines a graph of the node: binds its first inputs to `in` and stores its outputs in `out`. `iteration` is a loop's
 * iteration index, or NULL. onnx_graph.c */
bool onnx_run_graph(OnnxCall *c, const OnnxGraph *g, Tensor *iteration, Tensor *const *in, int in_count, Tensor **out);

/* onnx_run with sequences: in_list[i], if not NULL, is bound instead of in[i]. Sets c->out and c->out_list. */
bool onnx_run_lists(OnnxCall *c, const OnnxGraph *g, Tensor *const *in, const OnnxList *const *in_list, int in_count);

/* The outer values that a region's graph reads, and its inputs that represent them. Constants need no input. */
typedef struct OnnxCaptured { int count, capacity; Tensor **outer, **inner; } OnnxCaptured;
/* onnx_run for a region: values of enclosing graphs are captured. */
bool onnx_run_captured(OnnxCall *c, const OnnxGraph *g, Tensor *iteration, Tensor *const *in, int in_count,
                       OnnxCaptured *captured, Tensor **out);

enum { ONNX_DEEPEST = 16 };          /* nesting depth of graphs and functions */
/* Stores the iteration indices of the loops around the node, innermost first; returns their count. */
int onnx_iterations(const struct OnnxScope *s, Tensor **out, int most);

/* ---- Helpers for translations ------------------------------------------------------------------------------------ */

const char *onnx_where(Ctx *cx, const OnnxNode *n);                          /* `node "conv_7" (Conv)` */

#define onnx_refuse(c, ...) diag_error((c)->cx, onnx_where((c)->cx, (c)->node), __VA_ARGS__)
#define onnx_unsupported(c, ...) diag_unsupported((c)->cx, onnx_where((c)->cx, (c)->node), __VA_ARGS__)
/* Refuses an element type that onnx_dtype rejects: `element type string`. */
void onnx_refuse_type(OnnxCall *c, const char *what, int64_t data_type);

const OnnxAttr *onnx_attr(const OnnxCall *c, const char *name);              /* NULL: absent */
int64_t onnx_int(const OnnxCall *c, const char *name, int64_t otherwise);
double  onnx_real(const OnnxCall *c, const char *name, double otherwise);
const char *onnx_text(const OnnxCall *c, const char *name, const char *otherwise);
/* Returns the count of integers of an attribute, or of input `index` if it is present, which must be constant. -1:
 * absent; -2: refused. Values are clamped to 32 bits: INT64_MAX, and its clamped value, mean "to the end". */
int onnx_ints(OnnxCall *c, const char *attr, int index, int64_t *out, int most);
/* onnx_ints for an attribute that became an input in operator set `since`. */
int onnx_ints_since(OnnxCall *c, int64_t since, const char *attr, int index, int64_t *out, int most);
/* Reads an input whose elements may be open sizes. onnx_open.c */
int onnx_sizes(OnnxCall *c, int input, const Expr **out, int most);
bool onnx_is_missing(OnnxCall *c, int count, const char *what);              /* refuses count -1 */
/* Returns the axis counted from the front, where `axis` may be negative; -1: refused. */
int onnx_axis(OnnxCall *c, int64_t axis, int rank);
/* Reads a constant input; false: absent or refused */
bool onnx_scalar(OnnxCall *c, int index, double *out);

/* The rank that the file declares for an output; -1: none. onnx_decided.c */
int onnx_declared_rank(const OnnxCall *c, int output);
/* Returns the rank of the shape that the file declares for an output of the node; -1 if it declares none or not all of
 * it. onnx_graph.c */
int onnx_declared(const OnnxCall *c, int output, int64_t *shape);

/* Returns the integers of 8 or 16 bits that a Cast converts to the input, a float that represents them exactly; NULL
 * if the input is not such a tensor. onnx_graph.c */
Tensor *onnx_before_cast(const OnnxCall *c, int input);

/* Returns the file's element type of an input that is an initializer, or 0. onnx_graph.c */
int64_t onnx_constant_type(const OnnxCall *c, int input);

/* Sizes that the run decides; onnx_decided.c. Returns the greatest size of dimension `axis` of output `output`: by
 * --dim, as the file declares it, or `natural`, which follows from the operator; -1: none does. */
int64_t onnx_maximum(OnnxCall *c, int output, int axis, int64_t natural);
int64_t onnx_most(OnnxCall *c, int output, int axis, int64_t natural);       /* onnx_maximum; -1: the node is refused */
/* Returns the size of that dimension, whose value is `count`, one integer; NULL: refused. */
const Expr *onnx_decided(OnnxCall *c, int output, int axis, Tensor *count, int64_t least, int64_t natural);
Tensor *onnx_cut(OnnxCall *c, Tensor *x, int axis, const Expr *size);        /* the first elements along the axis */
/* x itself, computed after a test of the run that `value` is in the range */
Tensor *onnx_provided(OnnxCall *c, Tensor *x, Tensor *value, int64_t least, int64_t greatest);
/* x for reads at indices of that shape along the axis: a test of the run that there are elements where there are
 * indices */
Tensor *onnx_indexed(OnnxCall *c, Tensor *x, int axis, const Expr *const *shape, int rank);
Tensor *onnx_as(OnnxCall *c, Tensor *x, int axis, const Expr *size);         /* x, whose size has that one's value */
/* x with that size along the axis, after a test of the run that x has it */
Tensor *onnx_equal_size(OnnxCall *c, Tensor *x, int axis, const Expr *size);
/* The size along dimension `axis` of the node's result, where operands with the sizes a and b are broadcast: a size
 * of 1 gives way, at compile time or in the run. a NULL: b */
const Expr *onnx_broadcast_size(OnnxCall *c, int axis, const Expr *a, const Expr *b);
/* x broadcast to that size along the axis, after a test of the run that x has it, or 1 */
Tensor *onnx_broadcast_to(OnnxCall *c, Tensor *x, int axis, const Expr *size);
/* x, which has at least that many elements along the axis; a run that decides fewer ends */
Tensor *onnx_at_least(OnnxCall *c, Tensor *x, int axis, int64_t least);
/* Two operands with one size along these axes, after a test of the run that they have it, if it decides one */
void onnx_match(OnnxCall *c, Tensor **a, int axis_a, Tensor **b, int axis_b);
/* x itself, computed after the run has decided these sizes */
Tensor *onnx_after(OnnxCall *c, Tensor *x, const Expr *const *size, int count);

Tensor *onnx_in(const OnnxCall *c, int index);                               /* NULL: absent */
bool onnx_requires(OnnxCall *c, int count);              /* refuses the node unless inputs 0..count-1 are present */
/* onnx_call(c, op, x, attributes...) and onnx_call2(c, op, a, b, attributes...), with any number of attributes */
#define onnx_call(c, ...) ONNX_CALL(c, __VA_ARGS__, NO_ATTR)
#define onnx_call2(c, ...) ONNX_CALL2(c, __VA_ARGS__, NO_ATTR)
#define ONNX_CALL(c, op, x, ...) call_on((c)->cx, (op), (c)->name, (x), (const Attr[]){ __VA_ARGS__ })
#define ONNX_CALL2(c, op, a, b, ...) call_on_two((c)->cx, (op), (c)->name, (a), (b), (const Attr[]){ __VA_ARGS__ })
#define onnx_select(c, condition, a, b) call_where((c)->cx, (c)->name, (condition), (a), (b))
Tensor *onnx_scalar_like(OnnxCall *c, const Tensor *x, double v);            /* a scalar constant of x's type */
Tensor *onnx_cast(OnnxCall *c, Tensor *x, DType to);                         /* a constant is converted at once */
Tensor *onnx_reshape(OnnxCall *c, Tensor *x, const int64_t *shape, int rank);
/* Reshape over open sizes; -1 is inferred */
Tensor *onnx_view(OnnxCall *c, Tensor *x, const Expr *const *shape, int rank);
Tensor *onnx_expand(OnnxCall *c, Tensor *x, const Expr *const *shape, int rank);  /* onnx_decided.c */
/* A constant without elements: sizes below 1 become 0 */
Tensor *onnx_empty(OnnxCall *c, DType t, const int64_t *shape, int rank);
/* Without elements, of sizes some of which may be open; onnx_decided.c */
Tensor *onnx_empty_of(OnnxCall *c, DType t, const Expr *const *shape, int rank);
bool onnx_is_empty(Ctx *cx, const Tensor *x);                                /* true if one of its sizes is always 0 */
Tensor *onnx_empty_slice(OnnxCall *c, const Tensor *x, int axis);            /* x with size 0 along the axis */
Tensor *onnx_append_ones(OnnxCall *c, Tensor *x, int count);                 /* [c] -> [c][1][1] */
Tensor *onnx_channels_last(OnnxCall *c, Tensor *x);                          /* [n][c][..] -> [n][..][c] */
Tensor *onnx_channels_second(OnnxCall *c, Tensor *x);                        /* the inverse */

#endif
