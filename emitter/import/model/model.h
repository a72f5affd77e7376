/* SPDX-License-Identifier: MIT */
#ifndef LW_IMPORT_MODEL_MODEL_H
#define LW_IMPORT_MODEL_MODEL_H
/* The result of every importer, and the options of import. */
#include "ir/expr/tensor.h"

/* Indices of an input and an output that are state: the output's value is the input of the next run. */
typedef struct StatePair { int input, output; } StatePair;

/* Inputs and outputs keep the file's order and names. */
/* A line of the annotations that begins with in_memory: the words after it, and its number in the file. */
typedef struct Pin { const char *words; int line; } Pin;

typedef struct Model {
    int pin_count; const Pin *pin;
    const char *name;
    int input_count;  Tensor **input;
    int output_count; Tensor **output;
    int state_count; const StatePair *state;         /* pairs that the file declares */
    /* [input_count] the initial value of an input that is state; NULL, the array or an entry: zeros */
    const Tensor **initial;
    /* Names of the file's tensors, by their numbers in the file; count 0: the format has no numbers */
    int number_count; const char *const *of_number;
    const char *digest;                  /* SHA-256 of the file or text in hexadecimal, as sha256sum prints it */
    bool ties_away;                      /* quantization rounds ties away from zero, as TensorFlow Lite; else to even */
    /* [output_count] the file's names of the dimensions, NULL where it has none; NULL, the array or an entry: none */
    const char *const *const *output_dims;
    const char *dim_names;               /* "batch, x.1": open dimensions that --dim may name; NULL: none */
    int class_count; const char *const *class_name;  /* names of the classes that the file declares; count 0: none */
    /* Strings: their indices are the elements of some ports, whose names `string_ports` lists */
    int string_count; const char *const *string; const char *string_ports;
    bool is_nest;                        /* a .te file that is one nest */
    int schedule_count; const struct TeSchedule *schedule;   /* of a .te file, in its order; import/te/te.h */
    const char *schedules; size_t schedules_at;      /* a .te text that has blocks for groups after this offset */
} Model;

/* `--dim batch=1`: a symbolic dimension by its name, or as INPUT.AXIS if it has none. */
typedef struct ImportDim {
    const char *name;
    int64_t value;
    bool is_maximum;
    int64_t least;                       /* lower bound of an open dimension; 0: not given */
} ImportDim;
/* `--value state=zeros.npy`: this input is a constant, read from the file. */
typedef struct ImportValue { const char *name, *path; } ImportValue;

/* `--extern NAME=FUNCTION`: custom operators of this name are calls of that C function. */
typedef struct ImportExtern { const char *name, *function; } ImportExtern;

typedef struct ImportOptions ImportOptions;
struct ImportOptions {
    int dim_count;   const ImportDim *dim;
    int value_count; const ImportValue *value;
    /* Inputs that are state: a value for one of them is its initial value */
    int state_count; const char *const *state;
    bool is_part;                        /* an incomplete .te text: outputs may be missing, promises undefined */
    bool rounds_once;                    /* TFLite: int8 requantization rounds once, not twice */
    bool has_float_hybrid;               /* TFLite: floats times 8-bit weights are not rounded to 8 bits */
    int extern_count; const ImportExtern *externs;
    const char *signature;               /* TFLite: the signature that is read; NULL: the first subgraph */
    /* the importer sets those that the model has; may be NULL */
    bool *is_dim_used, *is_value_used, *is_extern_used, *is_signature_used;
};

const ImportExtern *import_extern(const ImportOptions *o, const char *op_name);     /* NULL: none; marks it as used */
bool import_keeps(const ImportOptions *o, const char *input);          /* true if the input is state */

#endif
