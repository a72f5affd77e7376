/* SPDX-License-Identifier: MIT */
#ifndef LW_IMPORT_TFLITE_OPS_TFLITE_OPS_H
#define LW_IMPORT_TFLITE_OPS_TFLITE_OPS_H
/* How each TFLite operator becomes calls of ours: one row each. */
#include "graph/dag/op.h"
#include "import/tflite/file/tflite_file.h"

enum { TFLITE_OUTPUTS = 64 };        /* of one operator (Split) */

/* One operator while it is translated. */
typedef struct TfliteCall {
    Ctx *cx;
    const TfliteFile *file;
    const TfliteOperator *op;
    const struct TfliteRow *row;
    const char *name;                /* for the calls that are made: the first output's */
    int in_count; Tensor **in;       /* absent ones are NULL */
    Tensor *out[TFLITE_OUTPUTS];     /* to be filled in */
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
    /* Where input 0 is FLOAT32, input 1 may be integers with scales: tflite_real_weights */
    HAS_STORED_WEIGHTS = 512
};

/* Which dimensions of the inputs may stay open; none: all of them, if the operator of ours works by elements. */
typedef enum TfliteKeeps { TFLITE_KEEPS_NONE, TFLITE_KEEPS_ALL, TFLITE_KEEPS_FIRST } TfliteKeeps;

typedef struct TfliteRow {
    int code;                        /* BuiltinOperator */
    const char *name;
    int newest;                      /* version that is understood */
    int options;                     /* tag of the union BuiltinOptions; 0: has none, or none that matter */
    int types;                       /* OF_..: what input 0 may be; and HAS_STORED_WEIGHTS */
    int alike;                       /* inputs that must have the type of the first, from the first on */
    const char *ours;                /* without a translation: the same inputs, no attributes */
    void (*translate)(TfliteCall *c);
    TfliteKeeps keeps;
} TfliteRow;

const char *tflite_types_text(Ctx *cx, int types);                         /* of OF_..: "FLOAT32 INT8" */
void tflite_translate(TfliteCall *c);

/* ---- For the translations ---------------------------------------------------------------------------------------- */

/* `operator "conv_7" (CONV_2D)` */
const char *tflite_where(Ctx *cx, const TfliteFile *f, const TfliteOperator *op);
#define tflite_refuse(c, ...) diag_error((c)->cx, tflite_where((c)->cx, (c)->file, (c)->op), __VA_ARGS__)
#define tflite_unsupported(c, ...) diag_unsupported((c)->cx, tflite_where((c)->cx, (c)->file, (c)->op), __VA_ARGS__)

const TfliteTensor *tflite_in_info(const TfliteCall *c, int index);        /* as the file has it; NULL: absent */
const TfliteTensor *tflite_out_info(const TfliteCall *c, int index);
bool tflite_is_int8(const TfliteCall *c);                                  /* input 0 is */
Tensor *tflite_in(const TfliteCall *c, int index);                         /* NULL: absent */
bool tflite_needs(TfliteCall *c, int count);                               /* inputs 0..count-1 are there */
/* The integers of input `index`, which must be constant: how many; -1: absent, -2: refused. */
int tflite_ints(TfliteCall *c, int index, int64_t *out, int most);
/* Counted from the end where negative; -1: refused */
int tflite_axis(TfliteCall *c, int64_t axis, int rank);

#define tflite_call(c, op, x, ...) call_on((c)->cx, (op), (c)->name, (x), __VA_ARGS__)
#define tflite_call2(c, op, a, b) call_on_two((c)->cx, (op), (c)->name, (a), (b), "")
#define tflite_select(c, condition, a, b) call_where((c)->cx, (c)->name, (condition), (a), (b))
Tensor *tflite_reshape(TfliteCall *c, Tensor *x, const int64_t *shape, int rank);

/* Activations that are fused in TFLite are operators of their own here (floats and whole numbers). */
enum { ACT_NONE, ACT_RELU, ACT_RELU_N1_TO_1, ACT_RELU6, ACT_TANH, ACT_SIGN_BIT };
Tensor *tflite_activate(TfliteCall *c, Tensor *x, int activation);

/* ---- Quantized: tflite_quant.c ----------------------------------------------------------------------------------- */

/* A real factor as fixed point: factor = multiplier / 2^31 * 2^exponent. */
typedef struct Factor { int32_t multiplier; int exponent; } Factor;
Factor tflite_factor(double real);

bool tflite_has_quant(TfliteCall *c, const TfliteTensor *t, bool may_be_per_channel);      /* else refused */
/* The first inputs and output 0, per tensor; else refused */
bool tflite_has_quants(TfliteCall *c, int inputs);
/* The numbers that input i stores, with its scale or those along its axis. */
Tensor *tflite_real(TfliteCall *c, int i);
/* Input 0 is real and the weights, input 1, are stored in 8 bits: they take part as the numbers that they stand for.
 * (TensorFlow Lite rounds each input to 8 bits as well, with scales found while it runs; its Micro kernels refuse such
 * models.) */
bool tflite_real_weights(TfliteCall *c);                                   /* false: refused */
float tflite_scale(const TfliteTensor *t);                                 /* per tensor */
int   tflite_zero(const TfliteTensor *t);
/* What the activation leaves of the type's range: the clamp of output 0. */
void tflite_clamp(const TfliteTensor *out, int activation, int64_t *least, int64_t *greatest);
Tensor *tflite_difference(TfliteCall *c, int i);                           /* input i without its zero point, in i32 */
/* The first `inputs` inputs have the scale and zero point of output 0, where they are int8; else unsupported. */
bool tflite_has_one_scale(TfliteCall *c, int inputs);
/* x times the factor; `more` is further attributes of the operator "rescale". */
Tensor *tflite_rescale(TfliteCall *c, Tensor *x, Factor f, const char *more);
/* Sums of products over channels (x's last axis), scaled to output 0 by scales[0..count): one for all, or one a
 * channel. */
Tensor *tflite_requantize(TfliteCall *c, Tensor *sums, const double *scales, int count, int activation);

#endif
