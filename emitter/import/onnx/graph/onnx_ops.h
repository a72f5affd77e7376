/* SPDX-License-Identifier: MIT */
#ifndef LW_IMPORT_ONNX_OPS_H
#define LW_IMPORT_ONNX_OPS_H
/* How each ONNX operator becomes calls of ours: one row each. */
#include "graph/dag/op.h"
#include "import/onnx/file/onnx_file.h"

enum { ONNX_OUTPUTS = 64 };          /* of one node (Split) */

typedef struct OnnxList { int count; Tensor **at; } OnnxList;        /* a sequence of tensors */

/* One node while it is translated. */
typedef struct OnnxCall {
    Ctx *cx;
    const OnnxNode *node;
    int64_t opset;
    OnnxFolder *folder;              /* of the model */
    const struct OnnxScope *scope;   /* the graph that the node is in */
    const char *name, *ours;         /* for the calls that are made; the row's operator of ours */
    int in_count; Tensor **in;       /* absent ones are NULL, absent ones at the end not counted */
    const OnnxList **list;           /* [in_count]: of inputs that are sequences, in[i] being NULL; else NULL */
    const OnnxList *out_list;        /* output 0 where it is a sequence */
    Tensor *out[ONNX_OUTPUTS];       /* to be filled in; those left NULL must not be used by anyone */
} OnnxCall;

/* Which dimensions of the inputs may stay open. */
typedef enum OnnxKeeps {
    KEEPS_NONE,                      /* all of them, if the row's operator of ours works by elements */
    KEEPS_ALL,
    KEEPS_OTHERS,                    /* all but the one of the attribute `axis` */
    KEEPS_IMAGE,                     /* all but the channels, the second */
    KEEPS_SEQUENCE                   /* the first two */
} OnnxKeeps;

/* The list of sizes that output 0 is; false: it is none. onnx_sizes.h */
typedef struct OnnxSizes OnnxSizes;
typedef bool OnnxListRule(OnnxCall *c, OnnxSizes *out);
/* Translates a call over open dimensions; false: not this one, the plain translation applies. */
typedef bool OnnxOpenRule(OnnxCall *c);

/* Tensors with open dimensions, and lists of sizes (onnx_open.c). */
typedef struct OnnxOpen {
    OnnxKeeps keeps;
    /* An input that is a list of sizes: refused unless the operator of ours works by elements; read by the translation
     * through onnx_sizes; or computed by the program and given as any other tensor. */
    enum { LISTS_REFUSED, LISTS_READ, LISTS_COMPUTED } lists;
    OnnxListRule *on_lists;          /* where an input is a list of sizes; NULL: no arithmetic on sizes */
    OnnxListRule *on_shape;          /* where an input is a list or has an open dimension */
    OnnxOpenRule *translate;         /* NULL: the row's translation knows open sizes */
} OnnxOpen;

typedef struct OnnxOp {
    const char *name;
    const char *attrs;               /* attributes that are understood, space-separated */
    const char *op;                  /* ours; without a translation it has the same inputs and attributes */
    void (*translate)(OnnxCall *c);
    bool moves;                      /* elements of any type pass through as they are: no arithmetic is done on them */
    OnnxOpen open;
} OnnxOp;

/* Rows begin with one of these; facts that are not the usual ones follow as `.open.keeps = KEEPS_ALL`. */
#define ONNX_SAME(its_name, its_attrs, ours)         .name = its_name, .attrs = its_attrs, .op = ours
#define ONNX_ROW(its_name, its_attrs, fn)            .name = its_name, .attrs = its_attrs, .translate = fn
#define ONNX_AS(its_name, its_attrs, ours, fn)       .name = its_name, .attrs = its_attrs, .op = ours, .translate = fn
#define ONNX_MOVE(its_name, its_attrs, fn)           ONNX_ROW(its_name, its_attrs, fn), .moves = true

/* `rows` are arrays closed by a row without name, the list of arrays by NULL (ops/onnx_rows.h).
 * The row of an operator, or of DOMAIN.OPERATOR; NULL: not known. A context's own rows come before ours. */
const OnnxOp *onnx_op_find(Ctx *cx, const OnnxOp *const *rows, const char *name);
void onnx_op_register(Ctx *cx, const OnnxOp *op);
const OnnxOp **onnx_op_list(Ctx *cx, const OnnxOp *const *rows, int *count);   /* all rows, by name */
const char *onnx_op_near(Ctx *cx, const OnnxOp *const *rows, const char *name);   /* a known name like it, or NULL */
bool onnx_op_knows_attr(const OnnxOp *op, const char *attr);
void onnx_translate(OnnxCall *c, const OnnxOp *op);

/* Imports a graph inside of the node in its place: its first inputs are `in`, its outputs go to `out`; turn: of a loop's body, or NULL.
 * onnx_graph.c */
bool onnx_run_graph(OnnxCall *c, const OnnxGraph *g, Tensor *turn, Tensor *const *in, int in_count, Tensor **out);

/* What a graph that is to be a region's reads from outside, and the inputs that stand for it within. Constants stay themselves. */
typedef struct OnnxCaptured { int count, room; Tensor **outer, **inner; } OnnxCaptured;
/* The same, but what the graph reads of the graphs around it is captured. */
bool onnx_run_captured(OnnxCall *c, const OnnxGraph *g, Tensor *turn, Tensor *const *in, int in_count,
                       OnnxCaptured *captured, Tensor **out);

/* The turns of the loops around the node, the innermost first; how many. */
enum { ONNX_DEEPEST = 16 };          /* graphs and functions within one another */
int onnx_turns(const struct OnnxScope *s, Tensor **out, int most);

/* ---- For the translations ---------------------------------------------------------------------------------------- */

const char *onnx_where(Ctx *cx, const OnnxNode *n);                          /* `node "conv_7" (Conv)` */
#define onnx_refuse(c, ...) diag_error((c)->cx, onnx_where((c)->cx, (c)->node), __VA_ARGS__)
#define onnx_unsupported(c, ...) diag_unsupported((c)->cx, onnx_where((c)->cx, (c)->node), __VA_ARGS__)

const OnnxAttr *onnx_attr(const OnnxCall *c, const char *name);              /* NULL: absent */
int64_t onnx_int(const OnnxCall *c, const char *name, int64_t otherwise);
double  onnx_real(const OnnxCall *c, const char *name, double otherwise);
const char *onnx_text(const OnnxCall *c, const char *name, const char *otherwise);
/* The integers of an attribute, or of input `index` where that is there; it must be constant. -1: absent; -2: refused.
 * They are brought into 32 bits: INT64_MAX stands for "to the end" and means the same there. */
int onnx_ints(OnnxCall *c, const char *attr, int index, int64_t *out, int most);
/* An attribute in operator sets before `since`, an input from then on. */
int onnx_ints_since(OnnxCall *c, int64_t since, const char *attr, int index, int64_t *out, int most);
/* The whole numbers of an input, of which some may be sizes that stay open; their count, -1: absent, -2: refused. onnx_open.c */
int onnx_sizes(OnnxCall *c, int input, const Expr **out, int most);
bool onnx_is_missing(OnnxCall *c, int count, const char *what);              /* of such a count: then it is refused */
/* The attribute `axis` (or what is given), counted from the end where negative; -1: refused. */
int onnx_axis(OnnxCall *c, int64_t axis, int rank);
/* Of a constant input; false: absent or refused */
bool onnx_scalar(OnnxCall *c, int index, double *out);

/* The shape that the file declares for an output of the node; its rank, -1: none, or not all of it. onnx_graph.c */
int onnx_declared(const OnnxCall *c, int output, int64_t *shape);

Tensor *onnx_in(const OnnxCall *c, int index);                               /* NULL: absent */
bool onnx_needs(OnnxCall *c, int count);                                     /* inputs 0..count-1 are there */
#define onnx_call(c, op, x, ...) call_on((c)->cx, (op), (c)->name, (x), __VA_ARGS__)
#define onnx_call2(c, op, a, b) call_on_two((c)->cx, (op), (c)->name, (a), (b), "")
#define onnx_call2_with(c, op, a, b, ...) call_on_two((c)->cx, (op), (c)->name, (a), (b), __VA_ARGS__)
#define onnx_select(c, condition, a, b) call_where((c)->cx, (c)->name, (condition), (a), (b))
Tensor *onnx_like(OnnxCall *c, const Tensor *x, double v);                   /* a scalar constant of x's type */
Tensor *onnx_cast(OnnxCall *c, Tensor *x, DType to);                         /* a constant becomes another constant */
Tensor *onnx_reshape(OnnxCall *c, Tensor *x, const int64_t *shape, int rank);
/* Where sizes may be open; -1 is what is left */
Tensor *onnx_view(OnnxCall *c, Tensor *x, const Expr *const *shape, int rank);
Tensor *onnx_expand(OnnxCall *c, Tensor *x, const Expr *const *shape, int rank);  /* onnx_open.c */
/* A constant without elements: sizes below 1 are 0 */
Tensor *onnx_empty(OnnxCall *c, DType t, const int64_t *shape, int rank);
Tensor *onnx_empty_part(OnnxCall *c, const Tensor *x, int axis);             /* x with size 0 along the axis */
Tensor *onnx_ones_behind(OnnxCall *c, Tensor *x, int count);                 /* [c] -> [c][1][1] */
Tensor *onnx_channels_last(OnnxCall *c, Tensor *x);                          /* [n][c][..] -> [n][..][c] */
Tensor *onnx_channels_second(OnnxCall *c, Tensor *x);                        /* and back */

/* "alpha=0.5", a space before it where needed */
void onnx_add_real(Text *t, const char *attr, double v);

#endif
