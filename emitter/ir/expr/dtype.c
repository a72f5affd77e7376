/* SPDX-License-Identifier: MIT */
#include "ir/expr/dtype.h"

#include <string.h>

#include "runtime/lw_math.h"

static const DTypeInfo table[] = {
#define DTYPE(e, spelling, c, bytes, cls, lo, hi) { spelling, c, bytes, cls, lo, hi },
#include "ir/expr/dtype.def"
#undef DTYPE
};

const DTypeInfo *dtype_info(DType t) { return &table[t]; }
bool dtype_is_float(DType t) { return table[t].cls == FLOAT; }
bool dtype_is_integer(DType t) { return table[t].cls != FLOAT && t != BOOL; }

bool dtype_read(const char *s, size_t n, DType *out)
{
    for (int t = 0; t < DTYPE_COUNT; t++) {
        if (strlen(table[t].spelling) != n || memcmp(s, table[t].spelling, n) != 0) continue;
        *out = (DType)t;
        return true;
    }
    return false;
}

/* Returns an element. Copies its bytes through a variable of its type, because `base` need not be aligned. */
#define LOAD(ctype, member) { ctype x; memcpy(&x, p, sizeof x); v.member = x; break; }
#define STORE(ctype, value) { ctype x = (ctype)(value); memcpy(p, &x, sizeof x); break; }

Scalar dtype_load(DType t, const void *base, int64_t index)
{
    const char *p = (const char *)base + index * table[t].bytes;
    Scalar v = { 0 };
    switch (t) {
    case BOOL: LOAD(uint8_t, i)
    case I8:   LOAD(int8_t, i)
    case U8:   LOAD(uint8_t, i)
    case I16:  LOAD(int16_t, i)
    case U16:  LOAD(uint16_t, i)
    case I32:  LOAD(int32_t, i)
    case U32:  LOAD(uint32_t, i)
    case I64:
    case U64:  LOAD(int64_t, i)
    case F32:  LOAD(float, f)
    case F64:  LOAD(double, f)
    case F16:  { uint16_t x; memcpy(&x, p, sizeof x); v.f = (double)lw_half_to_float(x); break; }
    case BF16: { uint16_t x; memcpy(&x, p, sizeof x); v.f = (double)lw_bf16_to_float(x); break; }
    case DTYPE_COUNT: break;
    }
    return v;
}

void dtype_store(DType t, void *base, int64_t index, Scalar v)
{
    char *p = (char *)base + index * table[t].bytes;
    switch (t) {
    case BOOL: STORE(uint8_t, v.i != 0)
    case I8:
    case U8:   STORE(uint8_t, v.i)
    case I16:
    case U16:  STORE(uint16_t, v.i)
    case I32:
    case U32:  STORE(uint32_t, v.i)
    case I64:
    case U64:  STORE(int64_t, v.i)
    case F32:  STORE(float, v.f)
    case F64:  STORE(double, v.f)
    case F16:  STORE(uint16_t, lw_float_to_half((float)v.f))
    case BF16: STORE(uint16_t, lw_float_to_bf16((float)v.f))
    case DTYPE_COUNT: break;
    }
}

/* Converts x to the type: truncates and saturates. The bounds are powers of two, so doubles represent them exactly. */
int64_t dtype_integer(DType t, double x)
{
    const double two63 = 9223372036854775808.0;
    const DTypeInfo *info = dtype_info(t);
    if (x != x) return 0;
    if (t == U64) {
        if (x <= 0) return 0;
        if (x >= 2 * two63) return -1;
        return x < two63 ? (int64_t)x : (int64_t)(x - two63) + INT64_MIN;
    }
    if (x <= -two63) return info->least;
    if (x >= two63) return info->greatest;
    int64_t whole = (int64_t)x;
    return whole < info->least ? info->least : whole > info->greatest ? info->greatest : whole;
}

Scalar dtype_wrap(DType t, Scalar v)
{
    char bytes[8];
    dtype_store(t, bytes, 0, v);
    return dtype_load(t, bytes, 0);
}
