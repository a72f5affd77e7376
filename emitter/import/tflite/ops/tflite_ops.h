/* SPDX-License-Identifier: MIT */
#ifndef LW_IMPORT_TFLITE_OPS_TFLITE_OPS_H
#define LW_IMPORT_TFLITE_OPS_TFLITE_OPS_H
/* Declares the rows that lower each TFLite operator to calls of the registry's operators. */
#include "graph/dag/op.h"
#include "import/tflite/file/tflite_file.h"

enum { TFLITE_OUTPUTS = 64 };        /* largest number of outputs of an operator (Split) */

struct TfliteCall;

/* Imports another subgraph of the file: out[] become the values of its outputs, computed from the values in[]. Returns
 * false if it is refused. */
typedef struct TfliteSubgraphs {
    bool (*run)(struct TfliteCall *c, int64_t subgraph, Tensor *const *in, int in_count, Tensor **out, int out_count);
    /* Returns the common size of all open dimensions of the subgraph's inputs, or -1 if none is open or the sizes
     * differ. */
    int64_t (*open_size)(const struct TfliteCall *c);
    struct Importer *importer;
} TfliteSubgraphs;

/* One operator during its lowering. */
typedef struct TfliteCall {
    Ctx *cx;
    const TfliteFile *file;
    const TfliteOperator *op;
    const struct TfliteRow *row;
    const TfliteSubgraphs *subgraphs;
    struct TfliteStates *states;
    struct TfliteSizes *sizes;       /* the sizes that the run decides (tflite_decided.h) */
    /* the C function that computes a custom operator, or NULL */
    const struct ImportExtern *external;
    /* true for shifted UINT8 of the file, for which some references differ from INT8 */
    bool is_unsigned;
    bool is_in_subgraph;             /* true in a subgraph of a WHILE, IF or CALL */
    const char *name;                /* the name of the emitted calls: the first output's name */
    int in_count; Tensor **in;       /* the inputs; NULL if absent */
    Tensor *out[TFLITE_OUTPUTS];     /* the outputs, which the lowering sets */
    /* [in_count] the new values of inputs that are variable tensors */
    Tensor **next;
} TfliteCall;

enum {
    OF_F32 = 1,
    OF_I8 = 2,
    OF_I32 = 4,
    OF_I64 = 8,
    OF_BOOL = 16,
    OF_U8 = 32,
    OF_I16 = 64,
    OF_HANDLE = 128,
    OF_F16 = 256,
    OF_WHOLE = OF_I32 | OF_I64,
    OF_ALL = OF_F32 | OF_I8 | OF_WHOLE | OF_BOOL | OF_U8 | OF_I16,
    OF_BYTES = OF_I8 | OF_U8,
    /* If input 0 is FLOAT32, input 1 may be integers with scales (tflite_real_weights); if it is INT16, input 1 may be
     * INT8 */
    HAS_STORED_WEIGHTS = 512,
    WRITES_VARIABLES = 1024,         /* sets TfliteCall.next for every input that is a variable tensor */
    RUNS_SUBGRAPHS = 2048,
    OF_COMPLEX = 4096,               /* COMPLEX64 is a tensor of f32 with a last dimension of 2 */
    OF_U32 = 8192,
    OF_U64 = 16384,
    AS_INT8 = 32768,                 /* UINT8 with a scale is lowered on INT8 (tflite_unsigned.h) */
    FOLLOWS_INT8 = 65536,            /* AS_INT8 if input 0 has a shifted value; for operators that move elements */
    SCALES_INT16 = 131072,           /* a comparison that compares INT16 by its real values, not by the stored ones */
    OF_VARIANT = 262144,             /* accepts a list, which is a tensor of any type (custom/tflite_list.c) */
    OF_MOVED = OF_ALL | FOLLOWS_INT8
};

/* The dimensions of the inputs that may be open: none, all, the first of each, or the dimensions of input 1. If a row
 * has no lowering function and its operator is elementwise, all dimensions may stay open. */
typedef enum TfliteKeeps {
    TFLITE_KEEPS_NONE, TFLITE_KEEPS_ALL, TFLITE_KEEPS_FIRST, TFLITE_KEEPS_INDICES,
    TFLITE_KEEPS_DECIDED             /* only dimensions that the run decides */
} TfliteKeeps;

typedef struct TfliteRow {
    int code;                        /* the BuiltinOperator; a row of TFLITE_CUSTOM is found by its name */
    const char *name;
    int newest;                      /* the latest supported version */
    /* the tag of the union BuiltinOptions; 0 if there are no options, or they are ignored */
    int options;
    int types;                       /* OF_..: the types of input 0; HAS_STORED_WEIGHTS may be added */
    int alike;                       /* number of leading inputs that must have equal types */
    const char *op_name;             /* if there is no lowering: the operator with the same inputs and no attributes */
    void (*lower)(TfliteCall *c);
    TfliteKeeps keeps;
} TfliteRow;

/* the names of types OF_.., such as "FLOAT32 INT8" */
const char *tflite_types_text(Ctx *cx, int types);
void tflite_lower(TfliteCall *c);

/* ---- For the lowerings ------------------------------------------------------------------------------------------- */

/* a text such as `operator "conv_7" (CONV_2D)` */
const char *tflite_where(Ctx *cx, const TfliteFile *f, const TfliteOperator *op);
#define tflite_refuse(c, ...) diag_error((c)->cx, tflite_where((c)->cx, (c)->file, (c)->op), __VA_ARGS__)
#define tflite_unsupported(c, ...) diag_unsupported((c)->cx, tflite_where((c)->cx, (c)->file, (c)->op), __VA_ARGS__)
/* Returns true if the condition holds; otherwise refuses the operator and returns false. A refusal names one
 * condition. */
#define tflite_holds(c, holds, ...) ((holds) || (tflite_refuse(c, __VA_ARGS__), false))

const TfliteTensor *tflite_in_info(const TfliteCall *c, int index);        /* the file's tensor, or NULL if absent */
const TfliteTensor *tflite_out_info(const TfliteCall *c, int index);
bool tflite_is_int8(const TfliteCall *c);                                  /* true if input 0 is INT8 with a scale */
/* returns true if input 0 is INT16 with a scale */
bool tflite_is_int16(const TfliteCall *c);
/* true if input 0 is INT8 or INT16 with a scale */
bool tflite_is_quantized(const TfliteCall *c);
Tensor *tflite_in(const TfliteCall *c, int index);                         /* or NULL if absent */
bool tflite_needs(TfliteCall *c, int count);                               /* refuses absent inputs 0..count-1 */
/* Reads the integers of input `index`, which must be constant. Returns the number of integers, -1 if the input is
 * absent, or -2 if it is refused. */
int tflite_ints(TfliteCall *c, int index, int64_t *out, int most);
/* reads exactly `count` integers; refuses other counts */
bool tflite_list(TfliteCall *c, int index, int64_t *out, int count);
/* Normalizes an axis; negative axes count from the end. Returns -1 if it is refused. */
int tflite_axis(TfliteCall *c, int64_t axis, int rank);

/* Use tflite_call(c, op, x, attributes...) and tflite_call2(c, op, a, b, attributes...), with any number of
 * attributes. */
#define tflite_call(c, ...) TFLITE_CALL(c, __VA_ARGS__, NO_ATTR)
#define tflite_call2(c, ...) TFLITE_CALL2(c, __VA_ARGS__, NO_ATTR)
#define TFLITE_CALL(c, op, x, ...) call_on((c)->cx, (op), (c)->name, (x), (const Attr[]){ __VA_ARGS__ })
#define TFLITE_CALL2(c, op, a, b, ...) call_on_two((c)->cx, (op), (c)->name, (a), (b), (const Attr[]){ __VA_ARGS__ })
/* Returns the elements from begin to before end along the axis. */
Tensor *tflite_part(TfliteCall *c, Tensor *x, int axis, int64_t begin, int64_t end);
#define tflite_select(c, condition, a, b) call_where((c)->cx, (c)->name, (condition), (a), (b))
Tensor *tflite_reshape(TfliteCall *c, Tensor *x, const int64_t *shape, int rank);
Tensor *tflite_cast(TfliteCall *c, Tensor *x, DType to);
/* Returns the integers 0 to count-1 along dimension `axis` of `rank`; the other dimensions have one element. */
enum { TFLITE_MOST_CONSTANT = 1 << 16 };
Tensor *tflite_ramp(TfliteCall *c, DType type, int64_t count, int axis, int rank);

/* The fused activations of TFLite; they become separate calls (for floats and integers). */
enum { ACT_NONE, ACT_RELU, ACT_RELU_N1_TO_1, ACT_RELU6, ACT_TANH, ACT_SIGN_BIT };
Tensor *tflite_activate(TfliteCall *c, Tensor *x, int activation);
/* Refuses an activation after `last`, with a message such as `the fused activation TANH of int8; use NONE, RELU`. */
void tflite_refuse_activation(TfliteCall *c, int activation, int last);

/* ---- Quantized: tflite_quant.c ----------------------------------------------------------------------------------- */

/* A real factor as fixed point: factor = multiplier / 2^31 * 2^exponent. */
typedef struct Factor { int32_t multiplier; int exponent; } Factor;
Factor tflite_factor(double real);
/* The factor multiplier / 2^shift of 64-bit sums, with a 15-bit multiplier. The function returns false if it refuses a
 * factor that is too large. */
typedef struct WideFactor { int32_t multiplier; int shift; } WideFactor;
bool tflite_wide_factor(TfliteCall *c, double real, WideFactor *out);

/* returns true if t has a supported quantization; refuses others */
bool tflite_has_quant(TfliteCall *c, const TfliteTensor *t, bool may_be_per_channel);
/* Accepts one scale with any zero point of the type; tflite_has_quant accepts only 0 for 16 bits. */
bool tflite_has_any_zero(TfliteCall *c, const TfliteTensor *t);
/* Requires that the first inputs and output 0 have one scale per tensor; otherwise refuses the operator. */
bool tflite_has_quants(TfliteCall *c, int inputs);
/* Does the same as tflite_has_quants for input i. The scale may be 0 if the input is always 0, such as an initial
 * state, because every product is then 0. */
bool tflite_has_factor(TfliteCall *c, int i);
/* Dequantizes input i, with its single scale or its scales along an axis. */
Tensor *tflite_real(TfliteCall *c, int i);
/* Returns the scales of input i, weights with a scale for each block of a row, as f32 [..][blocks][1]. */
Tensor *tflite_block_scales(TfliteCall *c, int i);
/* Dequantizes 8-bit weights, input 1, of an operator on floats. */
bool tflite_real_weights(TfliteCall *c);                                   /* returns false if it is refused */
float tflite_scale(const TfliteTensor *t);                                 /* per tensor */
int   tflite_zero(const TfliteTensor *t);
/* Returns the clamp of output 0: the type's range, cut by the activation. */
void tflite_clamp(const TfliteTensor *out, int activation, int64_t *least, int64_t *greatest);
/* tflite_hybrid.c: floats as 8-bit integers minus their zero point, and the scale of each sample. */
typedef struct TfliteHybrid { Tensor *x, *scale; } TfliteHybrid;
/* Returns true if x is floats, w is 8-bit weights, and both are multiplied on integers. The weights must have one
 * scale, or one for each index of dimension `channels`, and no zero points. --hybrid float disables this. */
bool tflite_is_hybrid(const TfliteCall *c, int x, int w, int channels);
/* Rounds x to 8 bits, sample by sample. A sample has all elements along the dimensions starting at first_axis. */
bool tflite_hybrid_round(TfliteCall *c, Tensor *x, int first_axis, bool is_asymmetric, TfliteHybrid *out);
/* Returns sums * (scale of the sample * scale of the weights), or (sums * scale of the weights) * scale of the
 * sample. */
Tensor *tflite_hybrid_real(TfliteCall *c, Tensor *sums, const TfliteHybrid *h, const Quant *w, bool has_weights_first);
/* The first function is tflite_is_hybrid for weights with a scale for each block. The second one computes their
 * products with the rows x: [o] sums for each row. */
bool tflite_is_blockwise_hybrid(const TfliteCall *c, int x, int w);
Tensor *tflite_blockwise_dense(TfliteCall *c, Tensor *x);
/* returns input i minus its zero point, in i32 */
Tensor *tflite_difference(TfliteCall *c, int i);
/* Reports, of the first `inputs` inputs, each int8 input whose scale or zero point differs from output 0's as
 * unsupported. */
bool tflite_has_one_scale(TfliteCall *c, int inputs);
/* The zero points, bounds and type of a rescaling; the bounds are within the type's bounds. */
typedef struct Rescaling {
    int zero_x, zero;
    bool has_least, has_greatest;
    /* true if the whole product is rounded once, ties away from zero, for all options */
    bool is_exact;
    int64_t least, greatest;
    DType to;
} Rescaling;
Tensor *tflite_rescale(TfliteCall *c, Tensor *x, Factor f, Rescaling r);   /* returns x times the factor */
/* Requantizes sums of products by scales[0..count): one for all, or one per channel, which is the last axis. */
Tensor *tflite_requantize_to(TfliteCall *c, Tensor *sums, const double *scales, int count, Rescaling r);
/* Does the same as tflite_requantize_to with the 16-bit factors that the reference applies to 64-bit sums. */
Tensor *tflite_requantize_wide_to(TfliteCall *c, Tensor *sums, const double *scales, int count, Rescaling r);
/* To output 0 */
Tensor *tflite_requantize(TfliteCall *c, Tensor *sums, const double *scales, int count, int activation);
Tensor *tflite_requantize_wide(TfliteCall *c, Tensor *sums, const double *scales, int count, int activation);
/* Requantizes with one rounding of the whole product, ties away from zero. */
Tensor *tflite_requantize_once(TfliteCall *c, Tensor *sums, double scale, int activation);
/* Returns true if sums of products with i16 and the bias (or NULL) fit 32 bits, so that 64 bits are not needed. The
 * proof uses the magnitudes of each channel's constant weights, which are `stride` elements apart. */
bool tflite_sums_fit(const Tensor *w, const Tensor *bias, int64_t channels, int64_t stride);
/* Returns the points of sigmoid that sigmoid_table and tanh_table read. */
Tensor *tflite_sigmoid_points(TfliteCall *c);
/* Translate LOGISTIC and TANH of UINT8, whose tables TensorFlow Lite computes in floats. */
void tflite_sigmoid_uint8(TfliteCall *c);
void tflite_tanh_uint8(TfliteCall *c);

#endif
