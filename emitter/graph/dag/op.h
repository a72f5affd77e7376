/* SPDX-License-Identifier: MIT */
#ifndef LW_GRAPH_DAG_OP_H
#define LW_GRAPH_DAG_OP_H
/* The operator's descriptor: one row. Operators are defined in ops/, one file per family. Each file ends in a const
 * array of rows named ops_FILE (ops/layers/conv.c: `const Op ops_conv[]`, closed by a row without name); make lists the
 * arrays. */
#include "ir/nest/pattern.h"
#include "ir/text/formula.h"

/* `otherwise`: the default, in attrs_read's syntax; NULL: an omitted attribute stays absent. */
typedef struct AttrRow { const char *name; AttrKind kind; const char *meaning, *otherwise; } AttrRow;

/* A test case as data: inputs with shapes, filled with a fixed pseudo-random sequence. */
typedef struct OpCase {
    const char *attrs;       /* "stride=2,2 pad=1,1,1,1" as call_read reads them; "" for none */
    /* "f32[1][8][8][3] f32[3][3][3][4]"; an optional trailing '=' gives constant values: "i64[2]={1,-1}" */
    const char *inputs;
    const char *output;      /* expected dtype and shape "f32[1][4][4][4]", or NULL with `refusal` */
    const char *refusal;     /* part of the diagnostic, if the case must be refused */
} OpCase;

typedef struct Op Op;

/* A storage order of constant weights, as formulas. Names in them are numbers of the packed tensor (phrases). */
typedef struct WeightLayout {
    const char *name;
    DType type; int rank;    /* of the packed weights k; no other layout of the operator has both */
    const char *encode;      /* k from the weights w: "k[o<rows,q<pairs,t<2] = (w[2*q+t,o]? : 0)" */
    const char *decode;      /* the weight of channel o at the axes of the sum: "k[o,q,t]" */
    const char *sum;         /* these axes: "q,t<2" */
    const char *element;     /* the element of the patch there: "2*q+t" */
    const char *of;          /* the axes of w: "e<length,o<outs" */
    const char *q, *s, *t;   /* the axes of the sum from those of w: "e/2"; NULL: no such axis */
} WeightLayout;

/* The operator's meaning: either `compute` or `formula`. */
typedef struct OpMeaning {
    /* Constructs the computes: returns the number of outputs, fills out[]. Infers types and shapes; operands that do
     * not fit are a diagnostic that starts with what was found. Input shapes may be symbolic. */
    int (*compute)(Ctx *cx, const Node *call, Tensor **out);
    /* A formula for `y` over the inputs and the integer and real attributes, by name. */
    const char *formula;
    /* Its outputs, space-separated, if `formula` is several, separated by ';'; NULL: the last one's */
    const char *outputs;
    bool floats_only;                  /* the first input must have a float type; for rows with a formula */
    /* The computes stand for a C function that is all that is known (ops/layers/foreign.c): they are never run */
    bool is_foreign;
    /* Returns simpler calls that replace output 0 (inference forms: dropout is its input, a batch norm over constants
     * is a scale and a shift); NULL: no simpler form. */
    Tensor *(*simplify)(Ctx *cx, const Node *call);
} OpMeaning;

typedef struct OpFusion {
    Pattern pattern;
    /* An annotation of the input. DEVICE and RECORD are removed before the first pass (passes/annotate.c). STOP_FUSION
     * remains as a view that fusion does not cross. */
    enum { ANNOTATION_NONE, ANNOTATION_DEVICE, ANNOTATION_STOP_FUSION, ANNOTATION_RECORD } annotation;
    /* Attributes from and to: values move between devices, so the output never aliases the input */
    bool is_device_copy;
} OpFusion;

/* The relation of the output's elements and dimensions to those of the inputs. */
typedef struct OpLayout {
    /* The first input's elements in the same order (reshape): the output aliases it */
    bool is_view;
    bool is_transpose;                 /* attribute perm: output dim d is input dim perm[d] */
    bool is_concat;                    /* attribute axis: concatenates the inputs */
    bool converts;                     /* the first input's elements in the type of the attribute `to` */
    bool binds_size;                   /* the size of the attribute `like` gets the value of input 0: an alias */
    bool cuts;                         /* attribute axis: the first elements of input 0 along it; others are not read */
    bool repeats;                      /* one input; every output element is one of its elements (expand) */
    bool unpacks;                      /* the input is a constant's storage order, the output its logical order */
    bool has_windows;                  /* dimensions of input 0 and of output 0 are [n][spatial..][c] */
    /* y[..,o] = sum(k) x[..,k] * weights[k,o]: both may be reordered along k */
    bool contracts_last;
    /* The output is the box of input 0 that starts at `begin`: out[i] = in[begin + i]. It may be a view. False: not a
     * box. */
    bool (*box)(Ctx *cx, const Node *call, int64_t *begin);
    /* Commutes the call with a permutation of its inputs' dimensions. Given perm (dimension d of the transposed tensor
     * is dimension perm[d]), returns the call on the un-transposed inputs; its output, transposed by the same perm,
     * equals this call's. NULL: not possible. If input i is not a transpose, inputs[i] is NULL and the hook applies
     * the inverse permutation to it (a constant folds). */
    Node *(*permute)(Ctx *cx, const Node *call, const int *perm, Tensor *const *inputs);
} OpLayout;

/* Constant factors and terms that passes fold into weights and biases. */
typedef struct OpFold {
    /* Index of an input in which the call is linear and whose last axis is the output's last axis (weights of a
     * convolution or dense layer: [..][o]). A scale of the output may be folded into it. 0: none. */
    int weights;
    /* Index of an input of initial values of the sums, into which a constant term of the output folds. 0: none. */
    int initial;
    enum { AFFINE_NONE, AFFINE_SCALE, AFFINE_SHIFT } affine;   /* by a constant second operand: y = x * c, y = x + c */
} OpFold;

/* How to compute the call on stored integers; graph/quantize/quantized_value.c reads these facts. Without them
 * the call stays in real numbers. */
typedef struct OpQuantization {
    /* Converts between real numbers and a grid: real = input 1 * (stored - input 2), ties to even.
     *
     *   STORE, READ, SIMULATE   real to stored, stored to real, or both
     *   CENTER                  stored - input 1 in i32, without the scale
     *   REQUANTIZE              i32 sums to stored values; input 1 is the factor to the grid */
    enum { GRID_NONE, GRID_STORE, GRID_READ, GRID_SIMULATE, GRID_CENTER, GRID_REQUANTIZE } grid;
    bool is_recentering;               /* stores the same grid with the other signedness */
    /* Output elements are elements of the inputs, or of the attribute `value` if present. */
    bool moves_elements;
    /* Linear in each of its first two inputs, so that products of differences need no scale. On 8-bit inputs the sums
     * are i32, and the attributes `zero` and `zero_w`, if the operator has them, are the zero points. */
    bool is_bilinear;
    bool is_difference;                /* the first input less the second */
    bool is_quotient;                  /* the first input divided by the second; by constants: a product */
    /* The call clamps its input: y = min(max(x, *low), *high). */
    bool (*limits)(const Node *call, double *low, double *high);
    /* The call is a mean of *count elements of its input per output element. Returns their sum in i32, given the input
     * stored in i8; *zero becomes the sum of the zero points. NULL: counts differ. */
    Tensor *(*total)(Ctx *cx, const Node *call, Tensor *stored, int64_t *zero, int64_t *count);
    /* The grid of an 8-bit output whose range the operator determines: 1/256 from -128 for [0, 1]; step 0: none */
    float output_step;
    int output_zero;
    /* Returns the call in fixed point, from the input stored in i8 or i16 with that step, to i8 on its fixed grid, or
     * to i32 in units of 2^-30; NULL: not possible. */
    Tensor *(*in_fixed_point)(Ctx *cx, const Node *call, Tensor *stored, double step, DType to);
    /* Returns the call with its constant weights, inputs 1 and 2, in bits[0] and bits[1] of 2 to 8 bits, over the first
     * input stored in i8 or i16 on that grid, with the same outputs. 0: 8 bits, which the user did not ask for. NULL:
     * not possible, for the reason that why_real_weights returns. */
    Node *(*with_integer_weights)(Ctx *cx, const Node *call, Tensor *stored, double step, int64_t zero,
                                  const int *bits);
    const char *(*why_real_weights)(Ctx *cx, const Node *call, const int *bits);
} OpQuantization;

/* Differentiation (graph/differentiate). Nothing is required of a row: adjoints follow from its computes. */
typedef struct OpGradient {
    /* Computes the adjoint of input `input`, given those of the outputs (NULL: zero), by calls and formulas. For a form
     * that is better than the derived one: from the output, or without a quotient that cancels. False: derived. */
    bool (*adjoint)(Ctx *cx, const Node *call, Tensor *const *of_outputs, int input, Tensor **out);
    /* What makes the derivative useless, and what is accepted: a gradient through the call is refused. NULL: nothing */
    const char *refusal;
    /* STOP: the input has no adjoint. CHECKPOINT: the input is computed again for adjoints. The others request a
     * gradient and are replaced by the pass `gradient`: outputs are the adjoints of the inputs after the first, or
     * after the seed. DROPOUT and NORM (x, scale, bias, mean, var) have a training form (graph/train/forms.c). */
    enum { GRADIENT_NONE, GRADIENT_STOP, GRADIENT_CHECKPOINT, GRADIENT_OF_SCALAR, GRADIENT_OF_SEED,
           GRADIENT_DROPOUT, GRADIENT_NORM } role;
    /* Turns logits into probabilities: a loss of its result is computed from its input instead. A softmax is over the
     * attribute `axis`. */
    enum { LINK_NONE, LINK_SOFTMAX, LINK_SIGMOID } link;
} OpGradient;

/* A row lists only the facts that apply; the rest is false, none or NULL. Shrinking needs no facts: it compares
 * computes (graph/shrink/shrink_proof.c). */
struct Op {
    const char *name;                  /* "conv2d" */
    const char *summary;               /* one line of help text, with the formula or equation */
    int level;                         /* 1..11, as Relay's levels of support; a list of operators may ask for one */
    int least_inputs, most_inputs;     /* most -1: any number */
    const char *inputs;                /* their names, space-separated: "x k" */
    const AttrRow *attr;               /* closed by a row without name; NULL: none */
    bool accepts_any_attr;             /* others are words, for reports only */
    OpMeaning meaning;
    OpFusion fusion;
    OpLayout layout;
    OpFold fold;
    OpQuantization quantization;
    OpGradient gradient;
    const WeightLayout *layouts;       /* of its weights, closed by a row without name; NULL: as the formula has them */
    const OpCase *cases;               /* closed by a row without inputs */
    void *user;                        /* for the compute of a user's row */
    const struct Definition *definition;       /* the formulas of a file as a row (definition.h); NULL: an operator */
};

/* True if calls of the row are replaced by the pass `gradient`. */
static inline bool op_asks_gradient(const Op *op)
{
    return op->gradient.role == GRADIENT_OF_SCALAR || op->gradient.role == GRADIENT_OF_SEED;
}

enum { MAX_OUTPUTS = 64 };  /* per operator; arrays of a call's outputs have this size */

/* Calls. `op_call` infers the outputs' types and shapes by expanding the computes once (cached for expansion). NULL on
 * error. */
Node *op_call(Ctx *cx, const Op *op, const char *name, Tensor *const *in, int in_count, const Attr *attr,
              int attr_count);
/* attr.c: attributes as values. Names and words are literals or live as long as the context; the call copies lists. */
Attr attr_int(const char *name, int64_t v);
Attr attr_flag(const char *name, bool v);                        /* ATTR_INT, 0 or 1 */
Attr attr_real(const char *name, double v);
Attr attr_word(const char *name, const char *word);
Attr attr_type(const char *name, DType t);                       /* ATTR_TEXT: "i32" */
Attr attr_tensor(const char *name, const Tensor *t);
Attr attr_like(Ctx *cx, const char *tensor_name, DType t, int rank, const Expr *const *shape);     /* `like` this */
Attr attr_ints(const char *name, const int64_t *v, int count);
Attr attr_reals(const char *name, const double *v, int count);
/* attr_ints of the values listed: attr_list("perm", 1, 0) */
#define attr_list(its_name, ...) attr_ints(its_name, (const int64_t[]){ __VA_ARGS__ }, \
                                           (int)(sizeof (const int64_t[]){ __VA_ARGS__ } / sizeof(int64_t)))
Attr attr_if(bool is_given, Attr a);                             /* a, or an attribute that the call skips */
/* The attributes of a call, terminated by NO_ATTR. */
#define NO_ATTR ((Attr){ 0 })
#define ATTRS(...) ((const Attr[]){ __VA_ARGS__, NO_ATTR })
/* Calls an operator by name, for importers and passes; returns outputs[0]. attrs: ATTRS(...), or NULL for none. A kind
 * of attribute other than the row's is an internal error. */
Tensor *call(Ctx *cx, const char *op, const char *name, Tensor *const *in, int in_count, const Attr *attrs);
/* Returns these attributes as op_call takes them: skipped ones left out, lists copied to the context. */
const Attr *attrs_of_call(Ctx *cx, const Op *op, const Attr *given, int *count);
/* Calls with one input, two inputs, or where(condition, a, b); NULL if any input is NULL. */
Tensor *call_on(Ctx *cx, const char *op, const char *name, Tensor *x, const Attr *attrs);
Tensor *call_on_two(Ctx *cx, const char *op, const char *name, Tensor *a, Tensor *b, const Attr *attrs);
Tensor *call_where(Ctx *cx, const char *name, Tensor *condition, Tensor *a, Tensor *b);
const char *ints_text(Ctx *cx, const int64_t *v, int count);          /* "1,2,3", in the syntax of attributes */
/* Calls "reshape" with like's shape (attribute shape=...): the same elements under another shape. */
/* false: a reshape cannot express the symbolic sizes */
bool can_view(const Tensor *x, const Tensor *like);
Tensor *view_call(Ctx *cx, const char *name, Tensor *x, const Tensor *like);
/* Returns the size to which the call gives the value of its input; NULL: n is NULL, or another node. */
const Expr *bound_size(const Node *n);
/* Collects the attributes of a call: the given ones, the defaults of its row, and integer lists that its compute reads,
 * with their defaults. */
int op_attrs(Ctx *cx, const Node *call, const Attr **out);
const char *attr_text(Ctx *cx, const Attr *a);                   /* the value, in attrs_read's syntax */
bool attrs_are_fixed(const Node *call);                          /* true if no tensor attribute has an open size */
Attr attr_from_text(Ctx *cx, const Op *op, const AttrRow *row, const char *value);
/* Refuses an attribute that the operator does not have, with the nearest name. */
void op_refuse_attr(Ctx *cx, const Op *op, const char *name);
const AttrRow *op_attr_row(const Op *op, const char *name);      /* NULL: the operator has no such attribute */
const Attr *attrs_read(Ctx *cx, const Op *op, const char *text, int *count);
/* "; did you mean 'add'?" for an unknown name, or how to list the names */
const char *op_hint(Ctx *cx, const char *name);
const Op *op_find(Ctx *cx, const char *name);                    /* NULL: unknown */
/* op_find; an unknown name in the namespace `annotation` becomes a row that is recorded, with a note. */
const Op *op_find_annotation(Ctx *cx, const char *name);
const Op *const *op_list(Ctx *cx, int *count);                   /* sorted by name */
void op_register(Ctx *cx, const Op *op);                         /* registers a user's row */
/* Constructs fresh computes of a call over its inputs; returns the number of outputs, 0 on error. The stages keep a
 * pointer to the call. */
int op_compute(Ctx *cx, const Node *call, Tensor **out);
/* op_compute with the compute of the implementation instead of the operator's own. Fills as many outputs as the call
 * has, with unchanged types and shapes; false after a diagnostic. */
struct Implementation;
bool op_compute_as(Ctx *cx, const Node *call, const struct Implementation *with, Tensor **out);
const char *op_input_name(Ctx *cx, const Op *op, int i);         /* its role in the formula: "x", "k" */
/* Returns the computes that op_call constructed. */
Tensor *const *op_expand(Ctx *cx, const Node *call);
#endif
