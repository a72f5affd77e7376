/* SPDX-License-Identifier: MIT */
#ifndef LW_IMPORT_TFLITE_FILE_TFLITE_FILE_H
#define LW_IMPORT_TFLITE_FILE_TFLITE_FILE_H
/* Reads the tables of a subgraph of a TFLite file, without interpreting them (schema 3 of TensorFlow Lite,
 * tensorflow/compiler/mlir/lite/schema/schema.fbs). Names are interned. */
#include "import/formats/flatbuffer.h"
#include "ir/expr/tensor.h"

enum { TFLITE_CUSTOM = 32 };                               /* the code that the schema gives to custom operators */
enum { TFLITE_FLOAT32 = 0, TFLITE_INT32 = 2, TFLITE_UINT8 = 3, TFLITE_INT16 = 7, TFLITE_COMPLEX = 8, TFLITE_INT8 = 9,
       TFLITE_RESOURCE = 13, TFLITE_VARIANT = 14, TFLITE_INT4 = 17, TFLITE_INT2 = 19 };               /* TensorType */

typedef struct TfliteTensor {
    /* the name up to the first ';', because converters join the names of all fused operators */
    const char *name;
    int type;                                              /* TensorType */
    int rank;
    int64_t dim[MAX_RANK];
    /* has_signature: true if the file marks open dimensions; is_open: true for these, whose `dim` is an example */
    bool has_signature, is_open[MAX_RANK];
    const Quant *quant;                                    /* NULL: none */
    Bytes data;                                            /* the elements; count 0 if the tensor is not constant */
    bool is_variable, is_sparse, is_blockwise;
    /* if is_blockwise: the tensor with one scale for each `block_size` elements of the last dimension, or -1 if the
     * form is not supported */
    int block_scales, block_size;
    FlatTable sparsity;                                    /* if is_sparse: the positions of the data's elements */
    int packed_bits;                                       /* 4 or 2 for constants of INT4 or INT2, which are read as
                                                            * `type` INT8; 0 for a byte or more */
} TfliteTensor;

typedef struct TfliteOperator {
    int code, version;
    const char *custom;                                    /* name of the custom operator */
    int in_count;  const int *in;                          /* indices of tensors; -1 if absent */
    int out_count; const int *out;
    int options_type;                                      /* the tag of the union BuiltinOptions, or 0 */
    FlatTable options, more_options;                       /* the tables of BuiltinOptions and BuiltinOptions2 */
    Bytes custom_options;                                  /* a flexbuffer; count is 0 if there is none */
} TfliteOperator;

typedef struct TfliteFile {
    FlatFile flat;
    bool rounds_once, has_float_hybrid;                    /* set by options instead of the file */
    const char *graph_name;
    int subgraph_count;
    int tensor_count;   TfliteTensor *tensor;
    int operator_count; TfliteOperator *operator;
    int input_count;    const int *input;
    int output_count;   const int *output;
} TfliteFile;

const char *tflite_builtin_text(int code);                 /* a name such as "CONV_2D", or NULL if unknown */
const char *tflite_type_text(Ctx *cx, int type);           /* such as "FLOAT32", or "type 99" if unknown */
bool tflite_dtype(int type, DType *out);                   /* stores the DType; returns false if there is none */
/* Returns the names of the types for which `is_accepted` is true, separated by commas. If it is NULL, returns the names
 * of all types that have a DType. */
const char *tflite_types_accepted(Ctx *cx, bool (*is_accepted)(int type, const void *data), const void *data);
bool tflite_subgraph_read(Ctx *cx, Bytes bytes, size_t subgraph, TfliteFile *out);
/* replaces each group of operators that writes a row of a list by one operator */
void tflite_join_lists(Ctx *cx, TfliteFile *f);
Tensor *tflite_constant(Ctx *cx, const TfliteTensor *t);   /* a dense constant; t->data must have its values */

#endif
