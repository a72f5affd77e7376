/* SPDX-License-Identifier: MIT */
#ifndef LW_GRAPH_DAG_OP_H
#define LW_GRAPH_DAG_OP_H
/* The operator's descriptor: one row. Operators are defined in ops/, one file per family. Each file ends in a const
 * array of rows named ops_FILE (ops/layers/conv.c: `const Op ops_conv[]`, closed by a row without name); make lists the
 * arrays. */
#include "ir/nest/pattern.h"
#include "ir/text/formula.h"

/* `otherwise` is the default, in attrs_read's syntax; if it is NULL, an omitted attribute remains absent. */
typedef struct AttrRow { const char *name; AttrKind kind; const char *meaning, *otherwise; } AttrRow;

/* A test case as data: inputs with shapes, filled with a fixed pseudo-random sequence. */
typedef struct OpCase {
    const char *attrs;       /* attributes in the syntax of call_read, such as "stride=2,2 pad=1,1,1,1", or "" */
    /* Types and shapes of the inputs, such as "f32[1][8][8][3] f32[3][3][3][4]". An optional trailing '=' gives
     * constant values: "i64[2]={1,-1}". */
    const char *inputs;
    const char *output;      /* expected dtype and shape "f32[1][4][4][4]", or NULL with `refusal` */
    const char *refusal;     /* part of the expected diagnostic, for a case that must be refused; otherwise NULL */
} OpCase;

typedef struct Op Op;

/* A storage order of constant weights, written as formulas. The names in the formulas are bound to numbers of the
 * packed tensor by phrases (op_formula.h). */
typedef struct WeightLayout {
    const char *name;
    DType type; int rank;    /* type and rank of the packed weights k; no other layout of the operator has both */
    const char *words;       /* the dimensions of k and how an element is stored, for the comment in the emitted file */
    const char *encode;      /* computes k from the weights w: "k[o<rows,q<pairs,t<2] = (w[2*q+t,o]? : 0)" */
    const char *decode;      /* gives the weight of channel o at the axes of the sum: "k[o,q,t]" */
    const char *sum;         /* the axes of the sum: "q,t<2" */
    const char *element;     /* the element of the patch at these axes: "2*q+t" */
    const char *of;          /* the axes of w: "e<length,o<outs" */
    /* Give the axes of the sum from the axes of w: "e/2"; NULL for an axis that the sum lacks. */
    const char *q, *s, *t;
    const char *shape;       /* the shape of k in refusals, in which `length` and `pairs` are numbers: "[o/4][pairs]" */
    int bits;                /* bits of a weight; 0: 8 */
    /* channels of an index of dimension 0, elements of an index of dimension 1; 0: dimensions of k give them */
    int channels, elements;
    int twos;                /* the last dimensions of k, which have 2 elements each */
    bool of_pairs;           /* the patch consists of pairs of i16, [q][2] */
    bool is_widened;         /* the patch has i16 for an x of i8, and x may be i16 */
} WeightLayout;

/* The operator's meaning: either `compute` or `formula`. */
typedef struct OpMeaning {
    /* Constructs the computes, fills out[] with the outputs and returns their number. Infers types and shapes.
     * Unsuitable operands cause a diagnostic, which starts with the values that were found. Input shapes may be
     * symbolic. */
    int (*compute)(Ctx *cx, const Node *call, Tensor **out);
    /* A formula for `y` over the inputs and the integer and real attributes, by name. */
    const char *formula;
    /* The outputs' names, separated by spaces, if `formula` consists of several formulas separated by ';'. If NULL, the
     * only output is the last formula's. */
    const char *outputs;
    bool floats_only;                  /* the first input must have a float type; only for rows with a formula */
    /* True if the computes represent a C function whose formula is unknown (ops/layers/foreign.c); such computes are
     * never run. */
    bool is_foreign;
    /* Returns simpler calls that replace output 0, such as the forms for inference: a dropout becomes its input, a
     * batch norm over constants becomes a scale and a shift. Returns NULL if there is no simpler form. */
    Tensor *(*simplify)(Ctx *cx, const Node *call);
} OpMeaning;

typedef struct OpFusion {
    Pattern pattern;
    /* The operator annotates its input. DEVICE and RECORD are removed before the first pass (passes/annotate.c).
     * STOP_FUSION remains as a view that fusion does not cross. */
    enum { ANNOTATION_NONE, ANNOTATION_DEVICE, ANNOTATION_STOP_FUSION, ANNOTATION_RECORD } annotation;
    /* Moves values between the devices in the attributes `from` and `to`, so the output never aliases the input. */
    bool is_device_copy;
} OpFusion;

/* How the output's elements and dimensions follow from the inputs. */
typedef struct OpLayout {
    /* The output has the first input's elements in the same order (reshape), so it aliases the input. */
    bool is_view;
    /* Transposes by the attribute perm: output dimension d is input dimension perm[d]. */
    bool is_transpose;
    bool is_concat;                    /* concatenates the inputs along the attribute axis */
    bool converts;                     /* converts the first input's elements to the type in the attribute `to` */
    /* Gives the size in the attribute `like` the value of input 0; the output aliases the input. */
    bool binds_size;
    /* Keeps the first elements of input 0 along the attribute axis and does not read the remaining elements. */
    bool cuts;
    /* True if the call has one input, and every output element is an element of this input (expand). */
    bool repeats;
    /* The input is a constant in its storage order, and the output is in logical order. */
    bool unpacks;
    /* The input is a constant whose bytes hold several elements each; the output has them one by one. */
    bool widens;
    bool has_windows;                  /* dimensions of input 0 and of output 0 are [n][spatial..][c] */
    /* Computes y[..,o] = sum(k) x[..,k] * weights[k,o], so both operands may be reordered along k. */
    bool contracts_last;
    /* Returns true if the output is the box of input 0 that starts at `begin`: out[i] = in[begin + i]. The output may
     * then be a view. */
    bool (*box)(Ctx *cx, const Node *call, int64_t *begin);
    /* Commutes the call with a permutation of its inputs' dimensions. Given perm (dimension d of the transposed tensor
     * is dimension perm[d]), returns the call on the un-transposed inputs; its output, transposed by the same perm,
     * equals this call's. Returns NULL if that is not possible. If input i is not a transpose, inputs[i] is NULL and
     * the hook applies the inverse permutation to the input, which folds on a constant. */
    Node *(*permute)(Ctx *cx, const Node *call, const int *perm, Tensor *const *inputs);
} OpLayout;

/* Where passes fold constant factors and terms into weights and biases. */
typedef struct OpFold {
    /* Index of an input in which the call is linear and whose last axis is the output's last axis (weights of a
     * convolution or dense layer: [..][o]). A scale of the output may be folded into these weights. 0 if there is no
     * such input. */
    int weights;
    /* Index of the input that holds the initial values of the sums, into which a constant term of the output folds. 0
     * if there is no such input. */
    int initial;
    /* The call scales or shifts by a constant second operand: y = x * c, y = x + c. */
    enum { AFFINE_NONE, AFFINE_SCALE, AFFINE_SHIFT } affine;
} OpFold;

/* How to compute the call on stored integers; graph/quantize/quantized_value.c reads these facts. Without such
 * attributes the call stays in real numbers. */
typedef struct OpQuantization {
    /* The call converts between real numbers and a grid: real = input 1 * (stored - input 2). Ties round to even.
     *
     *   STORE, READ, SIMULATE   real to stored, stored to real, or both
     *   CENTER                  stored - input 1 in i32, without the scale
     *   REQUANTIZE              i32 sums to stored values; input 1 is the factor to the grid */
    enum { GRID_NONE, GRID_STORE, GRID_READ, GRID_SIMULATE, GRID_CENTER, GRID_REQUANTIZE } grid;
    bool is_recentering;               /* stores the same grid with the opposite signedness */
    /* Every output element is an element of an input, or the attribute `value` if the operator has it. */
    bool moves_elements;
    /* The call is linear in each of its first two inputs, so products of differences need no scale. On 8-bit inputs the
     * sums are i32, and the attributes `zero` and `zero_w`, if the operator has them, are the zero points. */
    bool is_bilinear;
    bool is_difference;                /* subtracts the second input from the first */
    /* Divides the first input by the second; a division by constants counts as a product. */
    bool is_quotient;
    /* Returns true if the call clamps its input: y = min(max(x, *low), *high). */
    bool (*limits)(const Node *call, double *low, double *high);
    /* For a call whose output elements are means of *count input elements. Returns their sum in i32, given the input
     * stored in i8, and sets *zero to the sum of the zero points. Returns NULL if the counts differ. */
    Tensor *(*total)(Ctx *cx, const Node *call, Tensor *stored, int64_t *zero, int64_t *count);
    /* The grid of an 8-bit output whose range the operator determines: a step of 1/256 and a zero of -128 for [0, 1]. A
     * step of 0 means that there is no such grid. */
    float output_step;
    int output_zero;
    /* Returns the call in fixed point. The call reads the input, stored in i8 or i16 with the given step. The call
     * produces i8 on the fixed grid, or i32 in units of 2^-30. Returns NULL if that is not possible. */
    Tensor *(*in_fixed_point)(Ctx *cx, const Node *call, Tensor *stored, double step, DType to);
    /* Returns the call with integer weights and the same outputs. The weights, constant inputs 1 and 2, have bits[0]
     * and bits[1] bits (2 to 8); 0 means 8 bits that the user did not request. The first input is stored in i8 or i16
     * with this step and zero point. Returns NULL if that is not possible; why_real_weights then returns the reason. */
    Node *(*with_integer_weights)(Ctx *cx, const Node *call, Tensor *stored, double step, int64_t zero,
                                  const int *bits);
    const char *(*why_real_weights)(Ctx *cx, const Node *call, const int *bits);
} OpQuantization;

/* Differentiation (graph/differentiate). A row needs no entry here, because adjoints follow from its computes. */
typedef struct OpGradient {
    /* Computes the adjoint of input `input` with calls and formulas, given the adjoints of the outputs (NULL means
     * zero). This function exists only where its form is better than the derived one, because it reads the output or
     * avoids a quotient that cancels. Returns false to use the derived adjoint. */
    bool (*adjoint)(Ctx *cx, const Node *call, Tensor *const *of_outputs, int input, Tensor **out);
    /* The reason why the derivative is useless, and the operator to use instead; a gradient through the call is
     * refused. NULL if gradients are accepted. */
    const char *refusal;
    /* STOP: the input has no adjoint. CHECKPOINT: the input is computed again for adjoints. OF_SCALAR and OF_SEED
     * request gradients; the pass `gradient` replaces both. The outputs are adjoints: for OF_SCALAR, of all inputs but
     * the first; for OF_SEED, of the inputs after the second one, the seed. DROPOUT and NORM (x, scale, bias, mean,
     * var) have a training form (graph/train/forms.c). */
    enum { GRADIENT_NONE, GRADIENT_STOP, GRADIENT_CHECKPOINT, GRADIENT_OF_SCALAR, GRADIENT_OF_SEED,
           GRADIENT_DROPOUT, GRADIENT_NORM } role;
    /* The call turns logits into probabilities, so a loss of its result is computed from its input instead. A softmax
     * is over the attribute `axis`. */
    enum { LINK_NONE, LINK_SOFTMAX, LINK_SIGMOID } link;
} OpGradient;

/* The row of an operator. The row lists only the facts that apply; the remaining fields are false, none or NULL.
 * Shrinking needs no facts, because it compares computes (graph/shrink/shrink_proof.c). */
struct Op {
    const char *name;                  /* the operator's name, such as "conv2d" */
    const char *summary;               /* one line of help text, with the formula or equation */
    /* The level of support, 1 to 11, as in Relay; a list of operators may select one level. */
    int level;
    int least_inputs, most_inputs;     /* numbers of inputs; most_inputs is -1 if there is no maximum */
    const char *inputs;                /* the inputs' names, separated by spaces: "x k" */
    const AttrRow *attr;               /* the attributes, closed by a row without a name, or NULL */
    /* True if attributes without a row are accepted, as words that only reports show. */
    bool accepts_any_attr;
    OpMeaning meaning;
    OpFusion fusion;
    OpLayout layout;
    OpFold fold;
    OpQuantization quantization;
    OpGradient gradient;
    /* Layouts of the weights, closed by a row without a name; NULL if there are none. */
    const WeightLayout *layouts;
    const OpCase *cases;               /* the test cases, closed by a row without inputs */
    void *user;                        /* passed to the compute of a user's row */
    /* The formulas that the row represents (definition.h), or NULL for an operator. */
    const struct Definition *definition;
};

/* Returns true if the pass `gradient` replaces calls of the row. */
static inline bool op_asks_gradient(const Op *op)
{
    return op->gradient.role == GRADIENT_OF_SCALAR || op->gradient.role == GRADIENT_OF_SEED;
}

enum { MAX_OUTPUTS = 64 };  /* the most outputs of an operator; arrays of a call's outputs have this size */

/* Creates a call. Infers the outputs' types and shapes by expanding the computes once, which are kept for expansion.
 * Returns NULL on error. */
Node *op_call(Ctx *cx, const Op *op, const char *name, Tensor *const *in, int in_count, const Attr *attr,
              int attr_count);
/* Make attributes as values (attr.c). Names and words are literals or live as long as the context; the call copies
 * lists. */
Attr attr_int(const char *name, int64_t v);
Attr attr_flag(const char *name, bool v);                        /* makes ATTR_INT, 0 or 1 */
Attr attr_real(const char *name, double v);
Attr attr_word(const char *name, const char *word);
Attr attr_type(const char *name, DType t);                       /* makes ATTR_TEXT, such as "i32" */
Attr attr_tensor(const char *name, const Tensor *t);
/* Makes an attribute that refers to a tensor's name, type and shape. */
Attr attr_like(Ctx *cx, const char *tensor_name, DType t, int rank, const Expr *const *shape);
Attr attr_ints(const char *name, const int64_t *v, int count);
Attr attr_reals(const char *name, const double *v, int count);
/* Makes attr_ints of the listed values: attr_list("perm", 1, 0) */
#define attr_list(its_name, ...) attr_ints(its_name, (const int64_t[]){ __VA_ARGS__ }, \
                                           (int)(sizeof (const int64_t[]){ __VA_ARGS__ } / sizeof(int64_t)))
/* Returns a, or an attribute that the call skips if is_given is false. */
Attr attr_if(bool is_given, Attr a);
/* The attributes of a call, terminated by NO_ATTR. */
#define NO_ATTR ((Attr){ 0 })
#define ATTRS(...) ((const Attr[]){ __VA_ARGS__, NO_ATTR })
/* Calls an operator by name, for importers and passes; returns outputs[0]. attrs: ATTRS(...), or NULL for none. A kind
 * of attribute other than the row's is an internal error. */
Tensor *call(Ctx *cx, const char *op, const char *name, Tensor *const *in, int in_count, const Attr *attrs);
/* Returns the attributes in the form that op_call expects, without skipped ones. Lists are copied into the context. */
const Attr *attrs_of_call(Ctx *cx, const Op *op, const Attr *given, int *count);
/* Calls with one input, two inputs, or where(condition, a, b); return NULL if any input is NULL. */
Tensor *call_on(Ctx *cx, const char *op, const char *name, Tensor *x, const Attr *attrs);
Tensor *call_on_two(Ctx *cx, const char *op, const char *name, Tensor *a, Tensor *b, const Attr *attrs);
Tensor *call_where(Ctx *cx, const char *name, Tensor *condition, Tensor *a, Tensor *b);
const char *ints_text(Ctx *cx, const int64_t *v, int count);          /* returns "1,2,3", in the syntax of attributes */
/* Calls "reshape" with like's shape in the attribute `shape`. The elements and their order stay. */
/* Returns false if a reshape cannot express the symbolic sizes. */
bool can_view(const Tensor *x, const Tensor *like);
Tensor *view_call(Ctx *cx, const char *name, Tensor *x, const Tensor *like);
/* Returns the size that the call n binds to the value of its input. Returns NULL if n is NULL or is a different
 * operator. */
const Expr *bound_size(const Node *n);
/* Collects the attributes of a call: the given ones, the defaults of its row, and integer lists that its compute reads,
 * with their defaults. */
int op_attrs(Ctx *cx, const Node *call, const Attr **out);
const char *attr_text(Ctx *cx, const Attr *a);                   /* returns the value, in attrs_read's syntax */
bool attrs_are_fixed(const Node *call);                          /* true if no tensor attribute has an open size */
Attr attr_from_text(Ctx *cx, const Op *op, const AttrRow *row, const char *value);
/* Refuses an attribute that the operator does not have, and suggests the nearest name. */
void op_refuse_attr(Ctx *cx, const Op *op, const char *name);
/* Returns NULL if the operator has no such attribute. */
const AttrRow *op_attr_row(const Op *op, const char *name);
const Attr *attrs_read(Ctx *cx, const Op *op, const char *text, int *count);
/* Returns "; did you mean 'add'?" for an unknown name, or how to list the names. */
const char *op_hint(Ctx *cx, const char *name);
const Op *op_find(Ctx *cx, const char *name);                    /* returns NULL if the name is unknown */
/* Like op_find, but an unknown name in the namespace `annotation` becomes a row that is recorded, with a note. */
const Op *op_find_annotation(Ctx *cx, const char *name);
const Op *const *op_list(Ctx *cx, int *count);                   /* sorted by name */
void op_register(Ctx *cx, const Op *op);                         /* registers a user's row */
/* Constructs fresh computes of a call over its inputs; returns the number of outputs, 0 on error. The stages keep a
 * pointer to the call. */
int op_compute(Ctx *cx, const Node *call, Tensor **out);
/* Like op_compute, with the compute of the implementation instead of the operator's own. Fills all outputs of the call,
 * with unchanged types and shapes. Returns false after a diagnostic. */
struct Implementation;
bool op_compute_as(Ctx *cx, const Node *call, const struct Implementation *with, Tensor **out);
const char *op_input_name(Ctx *cx, const Op *op, int i);         /* returns the input's role in the formula: "x", "k" */
/* Returns the computes that op_call constructed. */
Tensor *const *op_expand(Ctx *cx, const Node *call);
#endif
