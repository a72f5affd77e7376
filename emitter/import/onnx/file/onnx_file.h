/* SPDX-License-Identifier: MIT */
#ifndef LW_IMPORT_ONNX_FILE_H
#define LW_IMPORT_ONNX_FILE_H
/* What an ONNX file says, as it says it: onnx.proto's messages without their meaning. All names are interned. */
#include "import/formats/protobuf.h"
#include "ir/expr/tensor.h"
#include "support/file.h"
#include "support/map.h"

/* TensorProto.DataType */
enum {
    ONNX_FLOAT = 1,
    ONNX_UINT8,
    ONNX_INT8,
    ONNX_UINT16,
    ONNX_INT16,
    ONNX_INT32,
    ONNX_INT64,
    ONNX_STRING,
    ONNX_BOOL,
    ONNX_FLOAT16,
    ONNX_DOUBLE,
    ONNX_UINT32,
    ONNX_UINT64,
    ONNX_COMPLEX64,
    ONNX_COMPLEX128,
    ONNX_BFLOAT16,
    ONNX_FLOAT8E4M3FN,
    ONNX_FLOAT8E4M3FNUZ,
    ONNX_FLOAT8E5M2,
    ONNX_FLOAT8E5M2FNUZ,
    ONNX_UINT4,
    ONNX_INT4,
    ONNX_FLOAT4E2M1,
    ONNX_FLOAT8E8M0,
    ONNX_UINT2,
    ONNX_INT2,
    ONNX_TYPES
};
/* "float"; unknown ones "type 99" is up to the caller: NULL */
const char *onnx_type_text(int64_t data_type);
bool onnx_dtype(int64_t data_type, DType *out);            /* false: we have no such element type */

typedef struct OnnxTensor {
    const char *name;
    int64_t data_type;
    int rank;
    int64_t dim[MAX_RANK];
    Cursor message;                                        /* the values are read from here when they are wanted */
} OnnxTensor;

typedef struct OnnxAttr {
    const char *name;
    /* In a function: the caller's attribute that is meant; or NULL */
    const char *reference;
    const struct OnnxGraph *graph;
    int64_t i; double f; const char *s;
    int int_count; const int64_t *ints;
    int real_count; const double *reals;
    int text_count; const char *const *texts;
    const OnnxTensor *tensor;
} OnnxAttr;

typedef struct OnnxNode {
    const char *name, *type, *domain;                      /* name: made of an output's where it has none */
    int in_count;  const char **in;                        /* "" where an optional one is left out */
    int out_count; const char **out;
    int attr_count; OnnxAttr *attr;
    /* What the graphs in its attributes read, from outside perhaps */
    int capture_count; const char **capture;
} OnnxNode;

/* size -1: not known; symbol may be NULL. open: set by the importer where it stays symbolic, size being the greatest then. */
typedef struct OnnxDim { int64_t size; const char *symbol; const Expr *open; } OnnxDim;
typedef struct OnnxValue {
    const char *name;
    bool is_tensor, has_shape;
    int64_t data_type;
    int rank;
    OnnxDim dim[MAX_RANK];
} OnnxValue;

typedef struct OnnxGraph {
    const char *name;
    int node_count;        OnnxNode *node;
    int initializer_count; OnnxTensor *initializer;
    int input_count;       OnnxValue *input;
    int output_count;      OnnxValue *output;
    int value_count;       OnnxValue *value;               /* what the file says of values in between */
} OnnxGraph;

typedef struct OnnxFunction {                              /* a model's own operator */
    const char *name, *domain;
    int64_t opset;                                         /* of the default domain; 0: the model's */
    int attr_count; OnnxAttr *attr;                        /* those with a default */
    OnnxGraph body;
} OnnxFunction;

typedef struct OnnxFile {
    OnnxGraph graph;
    int64_t opset;                                         /* of the default domain */
    int function_count; OnnxFunction *function;
} OnnxFile;

bool onnx_file_read(Ctx *cx, Bytes bytes, OnnxFile *out);
/* Where the model lies ("" or with a '/' at its end), and the files of external data there that have been read. */
typedef struct OnnxFolder { const char *path; Map files; } OnnxFolder;

void onnx_tensor_open(Ctx *cx, Cursor message, OnnxTensor *out);                 /* without its values */
Tensor *onnx_tensor_read(Ctx *cx, const OnnxTensor *t, OnnxFolder *folder);      /* with its values */

#endif
