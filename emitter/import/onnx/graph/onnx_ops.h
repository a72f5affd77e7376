/* SPDX-License-Identifier: MIT */
#ifndef LW_IMPORT_ONNX_OPS_H
#define LW_IMPORT_ONNX_OPS_H
/* Translates ONNX operators to calls of IR operators, with one row per operator. */
#include "graph/dag/op.h"
#include "import/onnx/file/onnx_file.h"
#include "import/onnx/graph/onnx_strings.h"

enum { ONNX_OUTPUTS = 64 };          /* the largest number of outputs of a node (Split) */
enum { ONNX_ANY = INT32_MAX };       /* stands for any number of inputs */

/* A sequence of tensors; is_absent: the sequence is an optional value without an element. */
typedef struct OnnxList { int count; Tensor **at; bool is_absent; } OnnxList;

/* A node under translation. */
typedef struct OnnxCall {
    Ctx *cx;
    const OnnxNode *node;
    int64_t opset;
    OnnxFolder *folder;              /* the model's folder */
    const struct OnnxOp *const *rows;        /* the rows of all operators */
    OnnxStrings *strings;            /* the model's strings */
    const struct OnnxScope *scope;   /* the graph that contains the node */
    const char *name, *op_name;      /* name: of the calls to create; op_name: the row's IR operator */
    int in_count; Tensor **in;       /* absent inputs are NULL; absent inputs at the end are not counted */
    /* [in_count] the inputs that are sequences, whose in[i] is NULL; or NULL if no input is one */
    const OnnxList **list;
    const OnnxList *out_list[ONNX_OUTPUTS];  /* outputs that are sequences */
    Tensor *out[ONNX_OUTPUTS];       /* the outputs, set by the translation; an output that stays NULL must be unused */
} OnnxCall;

/* The dimensions of the inputs that may stay open. */
typedef enum OnnxKeeps {
    KEEPS_NONE,                      /* none, or all if the row's IR operator is elementwise */
    KEEPS_ALL,
    KEEPS_OTHERS,                    /* all except the dimension of attribute `axis` */
    KEEPS_IMAGE,                     /* all except dimension 1, the channels */
    KEEPS_SEQUENCE                   /* the first two dimensions */
} OnnxKeeps;

/* Computes the size list of output 0; returns false if output 0 has none (onnx_sizes.h). */
typedef struct OnnxSizes OnnxSizes;
typedef bool OnnxListRule(OnnxCall *c, OnnxSizes *out);
/* Translates a call over open dimensions. Returns false if the rule does not apply; the row's translation is then
 * used. */
typedef bool OnnxOpenRule(OnnxCall *c);

/* Support for open dimensions and lists of sizes (onnx_open.c). */
typedef struct OnnxOpen {
    OnnxKeeps keeps;
    /* An input that is a list of sizes is accepted in three cases: the IR operator is elementwise; the translation
     * reads the list with onnx_sizes (input 0 is then computed after the sizes are known, unless the translation orders
     * them itself); or the list is computed at run time and passed as an ordinary tensor. Otherwise it is refused. */
    enum { LISTS_REFUSED, LISTS_READ, LISTS_ORDERED, LISTS_COMPUTED } lists;
    /* the rule if an input is a size list, or NULL if the operator has no arithmetic on sizes */
    OnnxListRule *on_lists;
    OnnxListRule *on_shape;          /* the rule if an input is a size list or has an open dimension, or NULL */
    OnnxOpenRule *translate;         /* or NULL if the row's translation supports open sizes */
} OnnxOpen;

typedef struct OnnxOp OnnxOp;
struct OnnxOp {
    const char *name;
    int most_inputs;                 /* the largest number of inputs in any operator set, or ONNX_ANY */
    const char *attrs;               /* accepted attributes, space-separated */
    /* the IR operator; if there is no translation, it has the node's inputs and attributes */
    const char *op;
    void (*translate)(OnnxCall *c);
    bool moves;                      /* true if elements of any type are copied unchanged, without arithmetic */
    /* Inputs that are strings are refused, or all outputs are strings as well (MOVED), or the translation marks the
     * outputs that are strings (READ). */
    enum { STRINGS_REFUSED, STRINGS_MOVED, STRINGS_READ } strings;
    const char *value_attr;          /* an attribute whose text names a value on which the node depends, or NULL */
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
 * of an operator, or of DOMAIN.OPERATOR; returns NULL if it is not supported. Rows registered in the context take
 * precedence. */
const OnnxOp *onnx_op_find(Ctx *cx, const OnnxOp *const *rows, const char *name);
void onnx_op_register(Ctx *cx, const OnnxOp *op);
const OnnxOp **onnx_op_list(Ctx *cx, const OnnxOp *const *rows, int *count);   /* stores all rows, sorted by name */
/* Returns the nearest supported name, or NULL. */
const char *onnx_op_near(Ctx *cx, const OnnxOp *const *rows, const char *name);
bool onnx_op_has_attr(const OnnxOp *op, const char *attr);
void onnx_translate(OnnxCall *c, const OnnxOp *op);
/* Returns output 0 of another operator of the default domain on these inputs, with the node's attributes. Given a node,
 * uses this node's attributes and sets all outputs. */
Tensor *onnx_translate_as(OnnxCall *c, const char *op_name, int64_t opset, Tensor **in, int in_count,
                          const OnnxNode *node);

/* Inlines a graph of the node: binds its first inputs to `in` and stores its outputs in `out`. `iteration` is a loop's
 * iteration index, or NULL (onnx_graph.c). */
bool onnx_run_graph(OnnxCall *c, const OnnxGraph *g, Tensor *iteration, Tensor *const *in, int in_count, Tensor **out);

/* Does the same as onnx_run with sequences: a list in_list[i] that is not NULL is bound instead of in[i]. Sets c->out
 * and c->out_list. */
bool onnx_run_lists(OnnxCall *c, const OnnxGraph *g, Tensor *const *in, const OnnxList *const *in_list, int in_count);

/* The outer values that a region's graph reads, and its inputs that represent them. Constants need no input. */
typedef struct OnnxCaptured { int count, capacity; Tensor **outer, **inner; } OnnxCaptured;
/* Does the same as onnx_run for a region: values of enclosing graphs are captured. */
bool onnx_run_captured(OnnxCall *c, const OnnxGraph *g, Tensor *iteration, Tensor *const *in, int in_count,
                       OnnxCaptured *captured, Tensor **out);

enum { ONNX_DEEPEST = 16 };          /* limit of the nesting depth of graphs and functions */
/* Stores the iteration indices of the loops around the node, innermost first; returns their count. */
int onnx_iterations(const struct OnnxScope *s, Tensor **out, int most);

/* ---- Helpers for translations ------------------------------------------------------------------------------------ */

const char *onnx_where(Ctx *cx, const OnnxNode *n);                          /* a text such as `node "conv_7" (Conv)` */

#define onnx_refuse(c, ...) diag_error((c)->cx, onnx_where((c)->cx, (c)->node), __VA_ARGS__)
#define onnx_unsupported(c, ...) diag_unsupported((c)->cx, onnx_where((c)->cx, (c)->node), __VA_ARGS__)
/* Returns true if the condition holds; otherwise refuses the node and returns false. A refusal names one condition. */
#define onnx_holds(c, holds, ...) ((holds) || (onnx_refuse(c, __VA_ARGS__), false))
/* Refuses an element type that onnx_dtype rejects: `element type string`. */
void onnx_refuse_type(OnnxCall *c, const char *what, int64_t data_type);

const OnnxAttr *onnx_attr(const OnnxCall *c, const char *name);              /* or NULL if absent */
int64_t onnx_int(const OnnxCall *c, const char *name, int64_t otherwise);
double  onnx_real(const OnnxCall *c, const char *name, double otherwise);
const char *onnx_text(const OnnxCall *c, const char *name, const char *otherwise);
/* Reads the integers of an attribute, or of input `index` if it is present; the input must be constant. Returns their
 * count, -1 if both are absent, or -2 if the input is refused. Values are clamped to 32 bits; INT64_MAX and its clamped
 * value mean "to the end". */
int onnx_ints(OnnxCall *c, const char *attr, int index, int64_t *out, int most);
const char *onnx_found_text(Ctx *cx, const Tensor *t);       /* "not constant", or a constant's type and shape */
/* Does the same as onnx_ints for an attribute that is an input since operator set `since`. */
int onnx_ints_since(OnnxCall *c, int64_t since, const char *attr, int index, int64_t *out, int most);
/* Reads an input whose elements may be open sizes (onnx_open.c). */
int onnx_sizes(OnnxCall *c, int input, const Expr **out, int most);
bool onnx_is_missing(OnnxCall *c, int count, const char *what);              /* refuses a count of -1 */
/* Returns the axis counted from the front; `axis` may be negative. Returns -1 if it is refused. */
int onnx_axis(OnnxCall *c, int64_t axis, int rank);
/* Reads a constant scalar input; returns false if it is absent or refused. */
bool onnx_scalar(OnnxCall *c, int index, double *out);

/* Returns the rank that the file declares for an output, or -1 if it declares none (onnx_decided.c). */
int onnx_declared_rank(const OnnxCall *c, int output);
/* Stores the shape that the file declares for an output of the node and returns its rank, or -1 if it is not completely
 * declared (onnx_graph.c). */
int onnx_declared(const OnnxCall *c, int output, int64_t *shape);

/* If a Cast converts 8-bit or 16-bit integers to the input, and the float represents them exactly, returns the
 * integers; otherwise NULL (onnx_graph.c). */
Tensor *onnx_before_cast(const OnnxCall *c, int input);

/* Returns the file's element type of an input that is an initializer, or 0 (onnx_graph.c). */
int64_t onnx_constant_type(const OnnxCall *c, int input);

/* Sizes that the run decides (onnx_decided.c). Returns the maximum of dimension `axis` of output `output`: by --dim, as
 * the file declares it, or `natural`, which follows from the operator. Returns -1 if none of these is known. */
int64_t onnx_maximum(OnnxCall *c, int output, int axis, int64_t natural);
/* does the same as onnx_maximum, but refuses the node if it returns -1 */
int64_t onnx_most(OnnxCall *c, int output, int axis, int64_t natural);
/* Returns the size of dimension `axis` of an output whose value is `count`, one integer, or NULL if it is refused. */
const Expr *onnx_decided(OnnxCall *c, int output, int axis, Tensor *count, int64_t least, int64_t natural);
/* returns the first `size` elements along the axis */
Tensor *onnx_cut(OnnxCall *c, Tensor *x, int axis, const Expr *size);
/* returns x itself, computed after the run has tested that `value` is in the range */
Tensor *onnx_provided(OnnxCall *c, Tensor *x, Tensor *value, int64_t least, int64_t greatest);
/* Returns x for reads along the axis at indices of this shape. The run tests that x has elements if there are
 * indices. */
Tensor *onnx_indexed(OnnxCall *c, Tensor *x, int axis, const Expr *const *shape, int rank);
/* returns x with `size` in place of its own size, which has the same value */
Tensor *onnx_as(OnnxCall *c, Tensor *x, int axis, const Expr *size);
/* returns x with `size` along the axis; the run tests that x has this size */
Tensor *onnx_equal_size(OnnxCall *c, Tensor *x, int axis, const Expr *size);
Tensor *onnx_dimension(OnnxCall *c, const Expr *size);                       /* the size as an i64 */
/* Returns true if 1 is in the range of the size. */
bool onnx_may_be_one(OnnxCall *c, const Expr *size);
/* Returns the size along dimension `axis` of the node's result, if operands with the sizes a and b are broadcast at
 * compile time or in the run. If a is NULL, returns b. */
const Expr *onnx_broadcast_size(OnnxCall *c, int axis, const Expr *a, const Expr *b);
/* returns x broadcast to `size` along the axis; the run tests that x has this size, or 1 */
Tensor *onnx_broadcast_to(OnnxCall *c, Tensor *x, int axis, const Expr *size);
/* returns x; a run ends if x has fewer than `least` elements along the axis */
Tensor *onnx_at_least(OnnxCall *c, Tensor *x, int axis, int64_t least);
/* Gives two operands one size along these axes. If the run decides a size, it tests that both sizes are equal. */
void onnx_match(OnnxCall *c, Tensor **a, int axis_a, Tensor **b, int axis_b);
/* returns x itself, computed after the run has decided these sizes */
Tensor *onnx_after(OnnxCall *c, Tensor *x, const Expr *const *size, int count);

Tensor *onnx_in(const OnnxCall *c, int index);                               /* or NULL if absent */
bool onnx_requires(OnnxCall *c, int count);              /* refuses the node unless inputs 0..count-1 are present */
/* Use onnx_call(c, op, x, attributes...) and onnx_call2(c, op, a, b, attributes...), with any number of attributes. */
#define onnx_call(c, ...) ONNX_CALL(c, __VA_ARGS__, NO_ATTR)
#define onnx_call2(c, ...) ONNX_CALL2(c, __VA_ARGS__, NO_ATTR)
#define ONNX_CALL(c, op, x, ...) call_on((c)->cx, (op), (c)->name, (x), (const Attr[]){ __VA_ARGS__ })
#define ONNX_CALL2(c, op, a, b, ...) call_on_two((c)->cx, (op), (c)->name, (a), (b), (const Attr[]){ __VA_ARGS__ })
#define onnx_select(c, condition, a, b) call_where((c)->cx, (c)->name, (condition), (a), (b))
Tensor *onnx_scalar_like(OnnxCall *c, const Tensor *x, double v);            /* returns a scalar constant of x's type */
Tensor *onnx_cast(OnnxCall *c, Tensor *x, DType to);                         /* casts x; converts a constant at once */
Tensor *onnx_reshape(OnnxCall *c, Tensor *x, const int64_t *shape, int rank);
/* reshapes over open sizes; -1 is inferred */
Tensor *onnx_view(OnnxCall *c, Tensor *x, const Expr *const *shape, int rank);
/* broadcasts x to the shape (onnx_decided.c) */
Tensor *onnx_expand(OnnxCall *c, Tensor *x, const Expr *const *shape, int rank);
/* Returns a constant without elements; sizes below 1 become 0. */
Tensor *onnx_empty(OnnxCall *c, DType t, const int64_t *shape, int rank);
/* Returns a tensor without elements; some of its sizes may be open (onnx_decided.c). */
Tensor *onnx_empty_of(OnnxCall *c, DType t, const Expr *const *shape, int rank);
/* returns true if one of its sizes is always 0 */
bool onnx_is_empty(Ctx *cx, const Tensor *x);
Tensor *onnx_empty_slice(OnnxCall *c, const Tensor *x, int axis);            /* returns x with size 0 along the axis */
/* appends dimensions of 1: [c] -> [c][1][1] */
Tensor *onnx_append_ones(OnnxCall *c, Tensor *x, int count);
/* moves the channels to the end: [n][c][..] -> [n][..][c] */
Tensor *onnx_channels_last(OnnxCall *c, Tensor *x);
Tensor *onnx_channels_second(OnnxCall *c, Tensor *x);                        /* the inverse */

#endif
