/* SPDX-License-Identifier: MIT */
#ifndef LW_IMPORT_MODEL_MODEL_H
#define LW_IMPORT_MODEL_MODEL_H
/* What every importer makes, and what it may be told. */
#include "ir/expr/tensor.h"

/* An input and an output that are state: what the output leaves is the input of the next run. Places among all. */
typedef struct StatePair { int input, output; } StatePair;

/* Inputs and outputs keep the file's order and names. */
typedef struct Model {
    const char *name;
    int input_count;  Tensor **input;
    int output_count; Tensor **output;
    int state_count; const StatePair *state;         /* pairs that the file makes itself */
    /* [input_count] what an input that is state holds at first; NULL, here or there: zeros */
    const Tensor **initial;
    /* Names of the file's tensors, by their numbers there; 0: they have none */
    int number_count; const char *const *of_number;
    const char *dim_names;               /* "batch, x.1": open dimensions that --dim may name; NULL: none */
    int step_count;                      /* schedule steps that a .te file brings; other formats: 0 */
    const struct TeStep *step;           /* in the file's order; import/te/te.c knows what they are */
} Model;

/* `--dim batch=1`: a symbolic dimension by its name, or one without a name as INPUT.AXIS. */
typedef struct ImportDim {
    const char *name;
    int64_t value;
    bool is_maximum;
    int64_t least; /* of one that stays open; 0: not said */
} ImportDim;
/* `--value state=zeros.npy`: this input is a constant, read from the file. */
typedef struct ImportValue { const char *name, *path; } ImportValue;

typedef struct ImportOptions {
    int dim_count;   const ImportDim *dim;
    int value_count; const ImportValue *value;
    /* Inputs that are state: a value given for them is the initial one */
    int state_count; const char *const *state;
    bool as_nest;                        /* a .te text of operator calls alone: their loops, as if it had steps */
    bool is_part;                        /* of a .te text to which more is added: outputs and promises may be open */
    bool rounds_once;                    /* TFLite: products of int8 are scaled with one rounding, not two */
    bool *is_dim_used, *is_value_used;   /* the importer sets those that it found in the model; may be NULL */
} ImportOptions;

bool import_keeps(const ImportOptions *o, const char *input);          /* is the input state? */

#endif
