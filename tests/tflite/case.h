/* SPDX-License-Identifier: MIT */
#ifndef LW_TESTS_TFLITE_CASE_H
#define LW_TESTS_TFLITE_CASE_H
/* An independent oracle for every TFLite operator: models of one operator with their expected outputs, from independent
 * formulas.
 *
 * A Case is such a model in plain structs: operands with shapes, quantization and values, and the options' fields. Each
 * operator is a row with a generator of random cases and the reference that fills in their outputs. Nothing here is, or
 * includes, anything of the compiler or of runtime/; flatbuffer.c writes a case as the bytes of a model, and reads the
 * recorded models of *.vec, on which the references are tested themselves. Values are doubles, which represent floats
 * and all integers that occur exactly. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    MOST_DIMS = 6,
    MOST_OPERANDS = 8,
    MOST_FIELDS = 8,
    MOST_SCALES = 64,
    MOST_VALUES = 1 << 15,
    MOST_BYTES = 1 << 17
};
typedef enum ElementType {
    TYPE_F32 = 0,
    TYPE_I32 = 2,
    TYPE_U8 = 3,
    TYPE_I64 = 4,
    TYPE_BOOL = 6,
    TYPE_I16 = 7,
    TYPE_I8 = 9,
    TYPE_U64 = 12,
    TYPE_U32 = 15,
    TYPE_I4 = 17
} ElementType;

/* A constant without its zeros: levels of the tree over the dimensions and then over those of a tile. */
enum { MOST_KEPT = 512, MOST_TILED = 2 };
typedef struct SparseLevel {
    int dimension, size, bits;                   /* of the tensor; 8, 16 or 32 bits of each number */
    bool is_sparse;
    int segment_count, segment[MOST_KEPT + 1], index_count, index[MOST_KEPT];
} SparseLevel;
typedef struct Sparse {
    int order[MOST_DIMS], tiled_count, tiled[MOST_TILED], level_count, count;     /* count: of the kept values */
    SparseLevel level[MOST_DIMS];
    double *kept;                                /* in the case's pool */
} Sparse;

typedef struct Operand {
    ElementType type;
    int rank, dim[MOST_DIMS];
    int scales, zero, axis;                      /* scales 0: not quantized; of more than one, all zero points are 0 */
    float scale[MOST_SCALES];
    bool is_absent, is_constant;
    const Sparse *sparse;                        /* NULL: stored with its zeros */
    double *v;                                   /* [elements]: in the case's pool */
} Operand;

typedef struct Operator Operator;
typedef struct Case {
    const Operator *op;
    double field[MOST_FIELDS];                   /* of the options */
    int list_count, list[MOST_DIMS];             /* the field that is a list */
    int in_count, out_count;
    Operand in[MOST_OPERANDS], out[MOST_OPERANDS];
    Sparse sparse;
    double pool[MOST_VALUES]; int used;
} Case;

typedef struct Random { uint64_t state; } Random;

struct Operator {
    const char *name;                            /* of the recorded vectors, too */
    int code, version, options;                  /* BuiltinOperator, and the tag of BuiltinOptions; 0: none */
    /* Of the options: b byte, i 32 bits, d the same and 1 where absent, f float, l list of 32 bits, r the same of
     * floats' bits, - none */
    const char *fields;
    void (*make)(Case *c, Random *r, int number);
    void (*reference)(Case *c);
    int ulps;                                    /* how far floats may be off; int8 is always exact */
};

/* Closed by a row without name. */
extern const Operator elementwise_operators[], curve_operators[], window_operators[], reduction_operators[],
    move_operators[], order_operators[], plain_operators[], place_operators[], segment_operators[];

/* ---- Models: flatbuffer.c ---------------------------------------------------------------------------------------- */

size_t case_write(const Case *c, uint8_t *out);                        /* at most MOST_BYTES; their count */
/* Inputs without values: those that are no constants */
bool case_read(const uint8_t *model, size_t count, Case *c);
int element_bytes(ElementType t);
void values_write(const Operand *x, uint8_t *out);                     /* in the byte order of memory */
void values_read(Case *c, Operand *x, const uint8_t *bytes);

/* ---- Operands: operands.c ---------------------------------------------------------------------------------------- */

int elements(const Operand *x);
double *values_new(Case *c, int count);
Operand *add_input(Case *c, ElementType t, int rank, const int *dim);      /* with room for its values */
Operand *add_output(Case *c, ElementType t, int rank, const int *dim);
/* An output of the same type and quantization */
Operand *add_like(Case *c, const Operand *x, int rank, const int *dim);
/* A constant input: of rank 0 or 1, or pairs */
Operand *add_ints(Case *c, int rank, int count, const int *v);
void copy_quant(Operand *to, const Operand *from);

int between(Random *r, int least, int greatest);                           /* both may occur */
bool chance(Random *r, int percent);
float scale_between(Random *r, double least, double greatest);             /* all magnitudes equally frequent */
/* The rank; dimensions of 1 to most */
int shape_any(Random *r, int least_rank, int most_rank, int most, int *dim);
void quant_any(Random *r, Operand *x);
void quant_set(Operand *x, float scale, int zero);
bool is_stored(const Operand *x);                                          /* of 8 or 16 bits */
/* Turns the int8 operands that have a scale and are no constants into int16, with other values */
void make_sixteen(Case *c, Random *r);
/* Turns int8 operands and outputs into the same real numbers as uint8. False: there are none, or one has a scale per
 * channel, which the older quantization has not. */
bool make_unsigned(Case *c);
/* Often extreme; floats are halves of small integers, so that sums are exact */
void fill_any(Random *r, Operand *x);
void fill_real(Random *r, Operand *x, double least, double greatest);      /* floats of any bits */

/* Last dimension first; false after the last, with all 0 again */
bool next_index(int rank, const int *dim, int *index);
int place_of(const Operand *x, const int *index);
/* Of an operand that is spread over more or larger dimensions */
int broadcast_place(const Operand *x, int rank, const int *index);

/* ---- Two operands that broadcast: elementwise.c ------------------------------------------------------------------ */

typedef double OfTwo(const Case *c, double a, double b);
/* Inputs of one type and an output; int8 has scales */
void make_two(Case *c, Random *r, ElementType in, ElementType out);
void each_of_two(Case *c, OfTwo *of);

/* ---- Arithmetic: fixed.c ----------------------------------------------------------------------------------------- */

/* A real factor as multiplier / 2^31 * 2^exponent. */
typedef struct Scaling { int32_t multiplier; int exponent; } Scaling;
Scaling reference_scaling(double real);
int64_t floor_divide(int64_t a, int64_t b);
int32_t wrap(int64_t a);                                                   /* modulo 2^32 */
int64_t limit(int64_t a, int64_t least, int64_t greatest);
/* a*b / 2^31 to the nearest, ties up, saturated */
int32_t high_product(int32_t a, int32_t b);
/* A / 2^times to the nearest, ties away from 0 */
int32_t halve_often(int32_t a, int times);
int32_t double_often(int32_t a, int times);                                /* saturated */
int32_t scaled(int32_t a, Scaling s);
/* From here on: the whole product is rounded, ties up */
void round_once(bool is_once);
/* A 64-bit sum times the 16 highest bits of the multiplier */
int64_t scaled_wide(int64_t a, Scaling s);
double stored(int64_t a);                                                  /* limited to int8 */
double stored_as(const Operand *y, int64_t a);                             /* to the type of y */
void activation_range(const Operand *y, int activation, int *least, int *greatest);       /* of its type */
float activate(float v, int activation);
int32_t exp_of_negative(int32_t a, int integer_bits);                      /* Q.31 of a Q number */
int32_t one_over_one_plus(int32_t a);                                      /* of and as Q.31 */
int32_t one_minus_over_one_plus(int32_t a);
int32_t reciprocal(int32_t a, int integer_bits, int *bits_over_one);
Scaling inverse_root(int32_t a);
int32_t log_of_one_and_more(int32_t a);                                    /* Q.26 of a Q.19 number */
int leading_zeros(uint32_t a);

#endif
