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
    const char *spelling;   /* in formulas: "i8" */
    const char *c_type;     /* in emitted code: "int8_t" */
    int bytes;
    DTypeClass cls;
    int64_t least, greatest;   /* of integers and bool */
} DTypeInfo;

const DTypeInfo *dtype_info(DType t);
bool dtype_is_float(DType t);
bool dtype_is_integer(DType t);             /* not bool */
bool dtype_read(const char *s, size_t n, DType *out);   /* by spelling */

/* One element of a tensor in memory, in the host's byte order: `f` for float types, rounded to the type; else `i`; u64
 * as bits. */
typedef union Scalar { int64_t i; double f; } Scalar;
Scalar dtype_load(DType t, const void *base, int64_t index);
void   dtype_store(DType t, void *base, int64_t index, Scalar v);
int64_t dtype_integer(DType t, double v);   /* rounds to zero and saturates; NaN gives 0; u64 as bits */
Scalar dtype_wrap(DType t, Scalar v);       /* integers: modulo 2^bits; floats: rounded to the type */
#endif
