/* SPDX-License-Identifier: MIT */
#ifndef LW_GRAPH_OP_H
#define LW_GRAPH_OP_H
/* What an operator is: one row. Operators live in ops/, a family a file; each file ends in a const array of rows named
 * ops_FILE (ops/layers/conv.c: `const Op ops_conv[]`, closed by a row without name), and make lists the arrays. */
#include "ir/text/formula.h"

/* How the operator may be fused, from the least to the most restrictive. */
typedef enum Pattern {
    PATTERN_ELEMENTWISE,     /* output index = input index */
    PATTERN_BROADCAST,       /* output axes map to input axes in order, some missing */
    PATTERN_INJECTIVE,       /* one element of each input per output element, any index map */
    PATTERN_REDUCTION,
    PATTERN_OUT_FUSABLE,     /* an anchor: takes elementwise operators on its output */
    PATTERN_OPAQUE
} Pattern;
const char *pattern_text(Pattern p);

/* `otherwise` is the value where the call gives none, as attrs_read reads it; NULL: the attribute stays absent. */
typedef struct AttrRow { const char *name; AttrKind kind; const char *meaning, *otherwise; } AttrRow;

/* A test case as data: inputs with shapes, filled with a fixed pseudo-random sequence. */
typedef struct OpCase {
    const char *attrs;       /* "stride=2,2 pad=1,1,1,1" as call_read reads them; "" for none */
    const char *inputs;      /* "f32[1][8][8][3] f32[3][3][3][4]"; a trailing '=' constant list is allowed: "i64[2]={1,-1}" */
    const char *output;      /* expected dtype and shape "f32[1][4][4][4]", or NULL with `refusal` */
    const char *refusal;     /* part of the diagnostic when the case must be refused */
} OpCase;

typedef struct Op Op;

/* The operator's meaning: one of `compute` and `formula`. */
typedef struct OpMeaning {
    /* Constructs the computes: returns the outputs' count, fills out[]. They infer types and shapes; operands that do
     * not fit are a diagnostic that starts with what was found. Inputs' shapes may be symbolic. */
    int (*compute)(Ctx *cx, const Node *call, Tensor **out);
    /* A formula for `y` over the inputs, and the integer and real attributes, by their names. */
    const char *formula;
    bool floats_only;                  /* the first input must be of a float type; for rows with a formula */
    /* Returns a replacement of output 0 by simpler calls (inference forms: dropout is its input, a batch norm over
     * constants a scale and a shift); NULL: nothing simpler. */
    Tensor *(*simplify)(Ctx *cx, const Node *call);
} OpMeaning;

typedef struct OpFusion {
    Pattern pattern;
    /* An annotation of the input: DEVICE and RECORD are removed before the first pass (passes/annotate.c); STOP_FUSION
     * stays, a view across which nothing is fused. */
    enum { ANNOTATION_NONE, ANNOTATION_DEVICE, ANNOTATION_STOP_FUSION, ANNOTATION_RECORD } annotation;
    bool is_device_copy;               /* attributes from and to: the values move, so the output has memory of its own */
} OpFusion;

/* Where the elements and the dimensions of the output are in the inputs. */
typedef struct OpLayout {
    bool is_view;                      /* the first input's elements in the same order (reshape): shares memory */
    bool is_transpose;                 /* attribute perm: output dim d is input dim perm[d] */
    bool is_concat;                    /* attribute axis: outputs are the inputs side by side */
    bool repeats;                      /* one input; every element of the output is one of its elements (expand) */
    bool contracts_last;               /* y[..,o] = sum(k) x[..,k] * weights[k,o]: the order of k may be changed in both */
    /* The output is the box of input 0 that starts at `begin`: out[i] = in[begin + i], maybe a view. False: no box. */
    bool (*box)(Ctx *cx, const Node *call, int64_t *begin);
    /* Commutes with a permutation of its inputs' dimensions: given perm (output of transpose dim d is input dim perm[d]),
     * returns the call on the un-transposed inputs whose output, transposed by the same perm, equals this call's; NULL: no.
     * inputs[i] is NULL where that input is not a transpose: the hook transposes it back itself (a constant folds). */
    Node *(*permute)(Ctx *cx, const Node *call, const int *perm, Tensor *const *inputs);
} OpLayout;

/* Constant factors and terms that passes fold into weights and biases. */
typedef struct OpFold {
    /* Index of the input in which the call is linear and whose last axis is the output's last axis (weights of a
     * convolution or dense layer: [..][o]), so that a scale of the output may be folded into it; 0: none. */
    int weights;
    enum { AFFINE_NONE, AFFINE_SCALE, AFFINE_SHIFT } affine;   /* by a constant second operand: y = x * c, y = x + c */
} OpFold;

/* Computing the call on stored integers: graph/quantize/form.c reads these. Without them it stays in reals. */
typedef struct OpQuantization {
    /* Between real numbers and a grid, real = input 1 * (stored - input 2), ties to even: input 0 is stored, read, or
     * both; read without the scale, stored - input 1 in i32; sums in i32 stored, of which input 1 is the factor to the
     * grid. */
    enum { GRID_NONE, GRID_STORE, GRID_READ, GRID_SIMULATE, GRID_CENTER, GRID_REQUANTIZE } grid;
    bool is_recentering;               /* the same grid stored with the other sign */
    /* Elements of the output are elements of its inputs, or the attribute `value` where there is one. */
    bool moves_elements;
    /* Linear in each of its first two inputs, so that products of differences need no scale: of 8 bits, attributes `zero` and
     * `zero_w`, where the operator has them, are the zero points, and sums are i32. */
    bool is_bilinear;
    /* The call limits its input: y = min(max(x, *low), *high). */
    bool (*limits)(const Node *call, double *low, double *high);
    /* The call is a mean of *count elements of its input each: their sum in i32, given the input as stored in i8; *zero becomes
     * the sum of the zero points. NULL: counts differ. */
    Tensor *(*total)(Ctx *cx, const Node *call, Tensor *stored, int64_t *zero, int64_t *count);
} OpQuantization;

/* A row names only the facts that it has; what it leaves out is false, none or NULL. Shrinking needs no facts: it
 * compares computes (graph/shrink/shrink_proof.c). */
struct Op {
    const char *name;                  /* "conv2d" */
    const char *summary;               /* one line for people, with the formula or equation */
    int level;                         /* support level 1..11 (catalogue) */
    int least_inputs, most_inputs;     /* most -1: any number */
    const char *inputs;                /* their names, space-separated: "x k" */
    const AttrRow *attr;               /* closed by a row without name; NULL: none */
    OpMeaning meaning;
    OpFusion fusion;
    OpLayout layout;
    OpFold fold;
    OpQuantization quantization;
    const OpCase *cases;               /* closed by a row without inputs */
};

enum { MAX_OUTPUTS = 8 };   /* of an operator */

/* Calls. `op_call` infers the outputs' types and shapes by expanding the computes once (kept for expansion). NULL on error. */
Node *op_call(Ctx *cx, const Op *op, const char *name, Tensor *const *in, int in_count, const Attr *attr, int attr_count);
/* By name, for importers and passes: outputs[0] of the call. Attributes as text: "stride=2,2 axis=1". */
Tensor *call(Ctx *cx, const char *op, const char *name, Tensor *const *in, int in_count, const char *attrs_format, ...);
/* Of one input, or two, or where(condition, a, b); NULL where one of them is NULL. */
Tensor *call_on(Ctx *cx, const char *op, const char *name, Tensor *x, const char *attrs_format, ...);
Tensor *call_on_two(Ctx *cx, const char *op, const char *name, Tensor *a, Tensor *b, const char *attrs_format, ...);
Tensor *call_where(Ctx *cx, const char *name, Tensor *condition, Tensor *a, Tensor *b);
const char *ints_text(Ctx *cx, const int64_t *v, int count);          /* "1,2,3", as attributes are given */
/* The same elements under another shape: a call of the operator "reshape" with like's shape (attribute shape=...). */
bool can_view(Ctx *cx, const Tensor *x, const Tensor *like);           /* false: symbolic sizes that a reshape cannot say */
Tensor *view_call(Ctx *cx, const char *name, Tensor *x, const Tensor *like);
bool attrs_are_fixed(const Node *call);                          /* no tensor among them has an open size */
const Attr *attrs_read(Ctx *cx, const Op *op, const char *text, int *count);
const char *op_hint(Ctx *cx, const char *name);                  /* "; did you mean 'add'?" of an unknown one, or where they are listed */
const Op *op_find(Ctx *cx, const char *name);                    /* NULL: unknown */
const Op *const *op_list(Ctx *cx, int *count);                   /* sorted by name */
void op_register(Ctx *cx, const Op *op);                         /* a user's row */
/* Makes fresh computes of a call over its inputs; returns how many outputs, 0 on error. */
int op_compute(Ctx *cx, const Node *call, Tensor **out);
/* The same by the formulas of `whose` instead of the operator's own: the call's only output, of the same type and shape. */
Tensor *op_compute_as(Ctx *cx, const Node *call, const char *formulas, const char *whose);
const char *op_input_name(Ctx *cx, const Op *op, int i);         /* its role in the formula: "x", "k" */
/* The computes that op_call made. */
Tensor *const *op_expand(Ctx *cx, const Node *call);
#endif
