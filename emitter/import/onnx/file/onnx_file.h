/* SPDX-License-Identifier: MIT */
#ifndef LW_IMPORT_ONNX_FILE_H
#define LW_IMPORT_ONNX_FILE_H
/* The content of an ONNX file: onnx.proto's messages, uninterpreted. All names are interned. */
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
const char *onnx_type_text(Ctx *cx, int64_t data_type);    /* a name such as "float"; the number of an unknown type */
const char *onnx_types_text(Ctx *cx);                      /* the types that onnx_dtype accepts: "float, uint8, ..." */
bool onnx_dtype(int64_t data_type, DType *out);            /* false: the IR has no such element type */
/* The type in which a constant is read: integers of 2 and 4 bits as bytes, floats of 4 and 8 bits as f32. */
bool onnx_constant_dtype(int64_t data_type, DType *out);
bool onnx_integer_range(int64_t data_type, int64_t *least, int64_t *greatest);       /* of 2 and 4 bits; else false */

typedef struct OnnxTensor {
    const char *name;
    int64_t data_type;
    int rank;
    int64_t dim[MAX_RANK];
    Cursor message;                                        /* the values are read from here on demand */
    const struct OnnxSparse *sparse;                       /* instead: the elements that are not zero; or NULL */
} OnnxTensor;

/* The indices are row-major ones of the dense tensor, [values], or its coordinates, [values][rank]. */
typedef struct OnnxSparse { OnnxTensor values, indices; } OnnxSparse;

enum { ONNX_ATTR_OTHER, ONNX_ATTR_INT, ONNX_ATTR_FLOAT };

typedef struct OnnxAttr {
    const char *name;
    int kind;
    /* In a function: name of the caller's attribute to substitute; or NULL */
    const char *reference;
    const struct OnnxGraph *graph;
    int64_t i; double f; const char *s;
    int int_count; const int64_t *ints;
    int real_count; const double *reals;
    int text_count; const char *const *texts;
    const OnnxTensor *tensor;
} OnnxAttr;

typedef struct OnnxNode {
    const char *name, *type, *domain;                      /* an unnamed node takes its first output's name */
    const char *overload;                                  /* of the function that it calls; "" if it has none */
    int in_count;  const char **in;                        /* "" for an omitted optional input */
    int out_count; const char **out;
    int attr_count; OnnxAttr *attr;
    /* Names that graphs in its attributes read; some are values of enclosing graphs */
    int capture_count; const char **capture;
} OnnxNode;

/* size -1: unknown; symbol may be NULL. The importer sets `open` if the dimension stays symbolic; size is then its
 * upper bound. */
typedef struct OnnxDim { int64_t size; const char *symbol; const Expr *open; } OnnxDim;
typedef struct OnnxValue {
    const char *name;
    bool is_tensor, has_shape;
    int64_t map_type;                                      /* of the values, if it is a map; 0: it is none */
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
    int value_count;       OnnxValue *value;               /* declared types and shapes of intermediate values */
} OnnxGraph;

typedef struct OnnxFunction {                              /* a model-local operator */
    const char *name, *domain, *overload;
    int64_t opset;                                         /* of the default domain; 0: the model's */
    int attr_count; OnnxAttr *attr;                        /* attributes with a default */
    OnnxGraph body;
} OnnxFunction;

typedef struct OnnxFile {
    OnnxGraph graph;
    int64_t opset;                                         /* of the default domain */
    int function_count; OnnxFunction *function;
} OnnxFile;

bool onnx_file_read(Ctx *cx, Bytes bytes, OnnxFile *out);
/* The model's folder ("" or ending in '/') and the external data files read from it. */
typedef struct OnnxFolder { const char *path; Map files; } OnnxFolder;

void onnx_tensor_open(Ctx *cx, Cursor message, OnnxTensor *out);                 /* without its values */
void onnx_tensor_open_sparse(Ctx *cx, Cursor message, OnnxTensor *out);          /* of a SparseTensorProto */
Tensor *onnx_tensor_read(Ctx *cx, const OnnxTensor *t, OnnxFolder *folder);      /* with its values */
/* A tensor i64 of the shape of a tensor of strings, without data; *texts: the elements. */
Tensor *onnx_tensor_strings(Ctx *cx, const OnnxTensor *t, const char *const **texts);

#endif
