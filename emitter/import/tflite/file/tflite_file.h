/* SPDX-License-Identifier: MIT */
#ifndef LW_IMPORT_TFLITE_FILE_TFLITE_FILE_H
#define LW_IMPORT_TFLITE_FILE_TFLITE_FILE_H
/* What a TFLite file says of its first subgraph, as it says it: the schema's tables without their meaning (schema 3 of
 * TensorFlow Lite, tensorflow/compiler/mlir/lite/schema/schema.fbs). Names are interned. */
#include "import/formats/flatbuffer.h"
#include "ir/expr/tensor.h"

enum { TFLITE_CUSTOM = 32 };                               /* the builtin code of operators that are not builtin */
enum { TFLITE_UINT8 = 3, TFLITE_INT8 = 9, TFLITE_RESOURCE = 13, TFLITE_INT4 = 17 };      /* TensorType */

typedef struct TfliteTensor {
    /* Up to the first ';': converters join all names that were fused */
    const char *name;
    int type;                                              /* TensorType */
    int rank;
    int64_t dim[MAX_RANK];
    /* Says which dimensions are open; their `dim` is an example */
    bool has_signature, is_open[MAX_RANK];
    const Quant *quant;                                    /* NULL: none */
    Bytes data;                                            /* count 0: no constant */
    bool is_variable, is_sparse, is_blockwise;
    FlatTable sparsity;                                    /* where is_sparse: which elements the data are */
    /* Constant integers of four bits; type is then INT8, for so they are read */
    bool is_packed;
} TfliteTensor;

typedef struct TfliteOperator {
    int code, version;
    const char *custom;                                    /* name of a custom operator */
    int in_count;  const int *in;                          /* tensors; -1: absent */
    int out_count; const int *out;
    int options_type;                                      /* of the union BuiltinOptions; 0: none */
    FlatTable options;
} TfliteOperator;

typedef struct TfliteFile {
    FlatFile flat;
    bool rounds_once;                                      /* an option, not the file's */
    const char *graph_name;
    int subgraph_count;
    int tensor_count;   TfliteTensor *tensor;
    int operator_count; TfliteOperator *operator;
    int input_count;    const int *input;
    int output_count;   const int *output;
} TfliteFile;

const char *tflite_builtin_text(int code);                 /* "CONV_2D"; NULL: unknown */
const char *tflite_type_text(int type);                    /* "FLOAT32"; NULL: unknown */
bool tflite_dtype(int type, DType *out);                   /* false: we have no such element type */
bool tflite_file_read(Ctx *cx, Bytes bytes, TfliteFile *out);
/* Another one than the first */
bool tflite_subgraph_read(Ctx *cx, Bytes bytes, size_t subgraph, TfliteFile *out);
Tensor *tflite_constant(Ctx *cx, const TfliteTensor *t);   /* with its values; t->data must hold them */

#endif
