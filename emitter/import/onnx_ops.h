/* SPDX-License-Identifier: MIT */
#ifndef LW_IMPORT_ONNX_OPS_H
#define LW_IMPORT_ONNX_OPS_H
/* How each ONNX operator becomes calls of ours: one row each. */
#include "graph/op.h"
#include "import/onnx_file.h"

enum { ONNX_OUTPUTS = 64 };          /* of one node (Split) */

/* One node while it is translated. */
typedef struct OnnxCall {
    Ctx *cx;
    const OnnxNode *node;
    int64_t opset;
    OnnxFolder *folder;              /* of the model */
    const char *name;                /* for the calls that are made */
    int in_count; Tensor **in;       /* absent ones are NULL, absent ones at the end not counted */
    Tensor *out[ONNX_OUTPUTS];       /* to be filled in; those left NULL must not be used by anyone */
} OnnxCall;

typedef struct OnnxOp {
    const char *name;
    const char *attrs;               /* attributes that are understood, space-separated */
    const char *op;                  /* ours, with the same inputs and attributes; or NULL and */
    void (*translate)(OnnxCall *c);
} OnnxOp;

const OnnxOp *onnx_op_find(const char *name);                                /* NULL: not known */
const OnnxOp *onnx_op_list(int *count);                          /* all rows, by name */
const char *onnx_op_near(Ctx *cx, const char *name);                         /* a known name like it, or NULL */
bool onnx_op_knows_attr(const OnnxOp *op, const char *attr);
void onnx_translate(OnnxCall *c, const OnnxOp *op);

/* ---- For the translations ---------------------------------------------------------------------------------------- */

const char *onnx_where(Ctx *cx, const OnnxNode *n);                          /* `node "conv_7" (Conv)` */
void onnx_refuse(OnnxCall *c, const char *format, ...);
void onnx_unsupported(OnnxCall *c, const char *format, ...);

const OnnxAttr *onnx_attr(const OnnxCall *c, const char *name);              /* NULL: absent */
int64_t onnx_int(const OnnxCall *c, const char *name, int64_t otherwise);
double  onnx_real(const OnnxCall *c, const char *name, double otherwise);
const char *onnx_text(const OnnxCall *c, const char *name, const char *otherwise);
/* The integers of an attribute, or of input `index` where that is there; it must be constant. -1: absent; -2: refused.
 * They are brought into 32 bits: INT64_MAX stands for "to the end" and means the same there. */
int onnx_ints(OnnxCall *c, const char *attr, int index, int64_t *out, int most);
bool onnx_scalar(OnnxCall *c, int index, double *out);                       /* of a constant input; false: absent or refused */

Tensor *onnx_in(const OnnxCall *c, int index);                               /* NULL: absent */
bool onnx_needs(OnnxCall *c, int count);                                     /* inputs 0..count-1 are there */
Tensor *onnx_call(OnnxCall *c, const char *op, Tensor *x, const char *attrs_format, ...);       /* of one input */
Tensor *onnx_call2(OnnxCall *c, const char *op, Tensor *a, Tensor *b);
Tensor *onnx_like(OnnxCall *c, const Tensor *x, double v);                   /* a scalar constant of x's type */
Tensor *onnx_channels_last(OnnxCall *c, Tensor *x);                          /* [n][c][..] -> [n][..][c] */
Tensor *onnx_channels_second(OnnxCall *c, Tensor *x);                        /* and back */

/* onnx_window.c */
void onnx_conv(OnnxCall *c);
void onnx_max_pool(OnnxCall *c);
void onnx_average_pool(OnnxCall *c);
void onnx_global_average_pool(OnnxCall *c);
void onnx_global_max_pool(OnnxCall *c);
void onnx_batch_norm(OnnxCall *c);
/* onnx_shape.c */
void onnx_reshape(OnnxCall *c);
void onnx_flatten(OnnxCall *c);
void onnx_squeeze(OnnxCall *c);
void onnx_unsqueeze(OnnxCall *c);
void onnx_transpose(OnnxCall *c);
void onnx_concat(OnnxCall *c);
void onnx_split(OnnxCall *c);
void onnx_slice(OnnxCall *c);
void onnx_gather(OnnxCall *c);
void onnx_pad(OnnxCall *c);
void onnx_expand(OnnxCall *c);
void onnx_tile(OnnxCall *c);
void onnx_shape(OnnxCall *c);
void onnx_size(OnnxCall *c);
void onnx_constant(OnnxCall *c);
void onnx_constant_of_shape(OnnxCall *c);
void onnx_range(OnnxCall *c);
void onnx_depth_to_space(OnnxCall *c);
void onnx_space_to_depth(OnnxCall *c);

#endif
