/* SPDX-License-Identifier: MIT */
#ifndef LW_IMPORT_MODEL_MODEL_H
#define LW_IMPORT_MODEL_MODEL_H
/* Declares the result of every importer, and the options of import. */
#include "ir/expr/tensor.h"

/* Indices of an input and an output that are state: the output's value is the input of the next run. */
typedef struct StatePair { int input, output; } StatePair;

/* Inputs and outputs keep the file's order and names. */
/* A line of the annotations that begins with in_memory: the words after it, and the line's number in the file. */
typedef struct Pin { const char *words; int line; } Pin;

typedef struct Model {
    int pin_count; const Pin *pin;
    const char *name;
    int input_count;  Tensor **input;
    int output_count; Tensor **output;
    int state_count; const StatePair *state;         /* the pairs that the file declares */
    int inout_count; const StatePair *inout;         /* the inputs whose arrays receive the values of outputs */
    /* [input_count] the initial value of an input that is state; the array or an entry is NULL for zeros */
    const Tensor **initial;
    /* Names of the file's tensors, by their numbers in the file; count is 0 if the format has no numbers */
    int number_count; const char *const *of_number;
    int node_count; const FileNode *const *node;     /* the file's nodes, in its order; those of inner graphs follow */
    const char *digest;                  /* SHA-256 of the file or text in hexadecimal, as sha256sum prints it */
    /* true if quantization rounds ties away from zero, as in TensorFlow Lite; otherwise ties go to even */
    bool ties_away;
    /* [output_count] the file's names of the dimensions, NULL for a dimension without a name; the array or an entry is
     * NULL if there is none */
    const char *const *const *output_dims;
    const char *dim_names;               /* names of open dimensions for --dim, such as "batch, x.1", or NULL */
    /* names of the classes that the file declares; count is 0 if it declares none */
    int class_count; const char *const *class_name;
    /* Strings of the model; ports listed in `string_ports` have indices of these strings as elements. */
    int string_count; const char *const *string; const char *string_ports;
    bool is_nest;                        /* true for a .te file that is one nest */
    /* the schedules of a .te file, in the file's order (import/te/te.h) */
    int schedule_count; const struct TeSchedule *schedule;
    /* the declarations of memories and instructions of a .te file, which are steps before the steps of each schedule */
    int declaration_count; const struct WrittenStep *declaration;
    const struct ScheduleFunction *functions;        /* its functions of steps, the newest first; schedule/program.h */
    const char *schedules; size_t schedules_at;      /* a .te text whose part after this offset has blocks for groups */
} Model;

/* `--dim batch=1`: a symbolic dimension by its name, or as INPUT.AXIS if it has none. */
typedef struct ImportDim {
    const char *name;
    int64_t value;
    bool is_maximum;
    int64_t least;                       /* the lower bound of an open dimension; 0 if not given */
} ImportDim;
/* `--value state=zeros.npy`: the input is a constant that is read from the file. */
typedef struct ImportValue { const char *name, *path; } ImportValue;

/* `--extern NAME=FUNCTION`: custom operators called `name` become calls of the C function. */
typedef struct ImportExtern { const char *name, *function; } ImportExtern;

typedef struct ImportOptions ImportOptions;
struct ImportOptions {
    int dim_count;   const ImportDim *dim;
    int value_count; const ImportValue *value;
    /* The inputs that are state; --value for such an input is the initial value. */
    int state_count; const char *const *state;
    /* true for an incomplete .te text: outputs may be missing, promises undefined */
    bool is_part;
    bool rounds_once;                    /* TFLite: true if int8 requantization rounds once, not twice */
    /* TFLite: true if floats that are multiplied by 8-bit weights are not rounded to 8 bits */
    bool has_float_hybrid;
    int extern_count; const ImportExtern *externs;
    const char *signature;               /* TFLite: the signature that is read; NULL for the first subgraph */
    /* the importer sets the entries of options that it used; a pointer may be NULL */
    bool *is_dim_used, *is_value_used, *is_extern_used, *is_signature_used;
};

/* returns the --extern option for the name and marks it as used, or NULL */
const ImportExtern *import_extern(const ImportOptions *o, const char *op_name);
bool import_keeps(const ImportOptions *o, const char *input);          /* returns true if the input is a state */

#endif
