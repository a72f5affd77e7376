/* SPDX-License-Identifier: MIT */
#ifndef LW_IMPORT_ONNX_FILE_H
#define LW_IMPORT_ONNX_FILE_H
/* Reads the content of an ONNX file: the messages of onnx.proto, without interpreting them. All names are interned. */
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
/* a name such as "float", or the number of an unknown type */
const char *onnx_type_text(Ctx *cx, int64_t data_type);
/* the types that onnx_dtype accepts, such as "float, uint8, ..." */
const char *onnx_types_text(Ctx *cx);
bool onnx_dtype(int64_t data_type, DType *out);            /* returns false if the IR has no such element type */
/* Stores the type in which a constant is read: integers of 2 and 4 bits become bytes, floats of 4 and 8 bits become
 * f32. */
bool onnx_constant_dtype(int64_t data_type, DType *out);
/* stores the range of an integer type of 2 or 4 bits; returns false for other types */
bool onnx_integer_range(int64_t data_type, int64_t *least, int64_t *greatest);

typedef struct OnnxTensor {
    const char *name;
    int64_t data_type;
    int rank;
    int64_t dim[MAX_RANK];
    Cursor message;                                        /* the values are read from these bytes on demand */
    /* the elements that are not zero, instead of all elements; or NULL */
    const struct OnnxSparse *sparse;
} OnnxTensor;

/* Values and indices of a sparse tensor. The indices are row-major indices of the dense tensor, [values], or
 * coordinates, [values][rank]. */
typedef struct OnnxSparse { OnnxTensor values, indices; } OnnxSparse;

enum { ONNX_ATTR_OTHER, ONNX_ATTR_INT, ONNX_ATTR_FLOAT };

typedef struct OnnxAttr {
    const char *name;
    int kind;
    /* In a function: the name of the caller's attribute to substitute, or NULL */
    const char *reference;
    const struct OnnxGraph *graph;
    int64_t i; double f; const char *s;
    int int_count; const int64_t *ints;
    int real_count; const double *reals;
    int text_count; const char *const *texts;
    const OnnxTensor *tensor;
} OnnxAttr;

typedef struct OnnxNode {
    const char *name, *type, *domain;                      /* name: the name of the first output if the node has none */
    /* the overload of the function that it calls, or "" if it has none */
    const char *overload;
    /* the names of the inputs; "" for an omitted optional input */
    int in_count;  const char **in;
    int out_count; const char **out;
    int attr_count; OnnxAttr *attr;
    /* The names of values of enclosing graphs that graphs in the attributes read. */
    int capture_count; const char **capture;
} OnnxNode;

/* size: -1 if unknown; symbol: may be NULL. The importer sets `open` if the dimension stays symbolic; `size` is then
 * the upper bound. */
typedef struct OnnxDim { int64_t size; const char *symbol; const Expr *open; } OnnxDim;
typedef struct OnnxValue {
    const char *name;
    bool is_tensor, has_shape;
    int64_t map_type;                                      /* the type of the values, if it is a map; otherwise 0 */
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
    int value_count;       OnnxValue *value;               /* the declared types and shapes of intermediate values */
} OnnxGraph;

typedef struct OnnxFunction {                              /* a local function of the model */
    const char *name, *domain, *overload;
    /* the operator set of the default domain, or 0 for the model's */
    int64_t opset;
    int attr_count; OnnxAttr *attr;                        /* attributes with a default */
    OnnxGraph body;
} OnnxFunction;

typedef struct OnnxFile {
    OnnxGraph graph;
    int64_t opset;                                         /* the operator set of the default domain */
    int function_count; OnnxFunction *function;
} OnnxFile;

bool onnx_file_read(Ctx *cx, Bytes bytes, OnnxFile *out);
/* The model's folder ("" or a path ending in '/') and the external data files that were read from it. */
typedef struct OnnxFolder { const char *path; Map files; } OnnxFolder;

/* reads a TensorProto without its values */
void onnx_tensor_open(Ctx *cx, Cursor message, OnnxTensor *out);
/* reads a SparseTensorProto without its values */
void onnx_tensor_open_sparse(Ctx *cx, Cursor message, OnnxTensor *out);
Tensor *onnx_tensor_read(Ctx *cx, const OnnxTensor *t, OnnxFolder *folder);      /* reads the values */
/* Returns an i64 tensor without data that has the shape of a tensor of strings; *texts becomes the strings. */
Tensor *onnx_tensor_strings(Ctx *cx, const OnnxTensor *t, const char *const **texts);

#endif
