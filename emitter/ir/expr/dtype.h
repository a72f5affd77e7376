/* SPDX-License-Identifier: MIT */
#ifndef LW_IR_EXPR_DTYPE_H
#define LW_IR_EXPR_DTYPE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum DType {
#define DTYPE(e, spelling, c, bytes, cls, lo, hi) e,
#include "ir/expr/dtype.def"
#undef DTYPE
    DTYPE_COUNT
} DType;

typedef enum DTypeClass { SIGNED, UNSIGNED, FLOAT } DTypeClass;

typedef struct DTypeInfo {
    const char *spelling;   /* the name in formulas, such as "i8" */
    const char *c_type;     /* the name in emitted code, such as "int8_t" */
    int bytes;
    DTypeClass cls;
    int64_t least, greatest;   /* the range of integers and bool */
} DTypeInfo;

const DTypeInfo *dtype_info(DType t);
bool dtype_is_float(DType t);
bool dtype_is_integer(DType t);             /* returns false for bool */
bool dtype_read(const char *s, size_t n, DType *out);   /* reads a type by its spelling */

/* One element of a tensor in memory, in the host's byte order. `f` is used for float types and is rounded to the type;
 * `i` is used for other types, with the bits of a u64. */
typedef union Scalar { int64_t i; double f; } Scalar;
Scalar dtype_load(DType t, const void *base, int64_t index);
void   dtype_store(DType t, void *base, int64_t index, Scalar v);
/* Converts v to the type: rounds to zero and saturates. NaN gives 0; a u64 is returned as its bits. */
int64_t dtype_integer(DType t, double v);
Scalar dtype_wrap(DType t, Scalar v);       /* reduces integers modulo 2^bits and rounds floats to the type */
#endif
