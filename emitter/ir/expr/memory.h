/* SPDX-License-Identifier: MIT */
#ifndef LW_IR_MEMORY_H
#define LW_IR_MEMORY_H
/* Flat memory of lowered code: the operand of a LOAD. */
#include "ir/expr/tensor.h"

/* inclusive; saturating: INT64_MIN/MAX are infinite */
typedef struct Interval { int64_t least, greatest; } Interval;

typedef enum MemoryKind {
    MEMORY_INPUT,      /* const parameter */
    MEMORY_OUTPUT,     /* parameter written */
    MEMORY_SCRATCH,    /* parameter: arena memory of this call only */
    MEMORY_LOCAL,      /* array on the stack */
    MEMORY_SCALAR,     /* one variable (a register buffer after unrolling): index is 0; of a vector: the lane */
    MEMORY_POINTER     /* `base + offset`, hoisted out of loops: declared by CODE_LOCAL where the offset is known */
} MemoryKind;

typedef struct Memory {
    const char *name;            /* C identifier, unique in its function */
    DType type;
    MemoryKind kind;
    const Expr *elems;           /* number of elements; constant for LOCAL and SCRATCH */
    int64_t align;               /* bytes; 0: of the type */
    int lanes;                   /* SCALAR: of a vector, touched in loops of kind LANES only; 0: a plain variable */
    /* What it holds; a parameter's is the nest's own input or output. NULL: nothing named */
    const Tensor *tensor;
    const struct Memory *base;   /* POINTER: into this memory, which is no pointer itself */
    const Expr *offset;          /* POINTER: elements from the base's start */
    Interval range;              /* integers: what its elements are known to lie in; {0, 0}: not known */
    bool is_const;               /* POINTER: nothing is stored through it */
    bool is_restrict;            /* proved: no other memory of the call overlaps it while written */
    uint32_t serial;
} Memory;

const Memory *memory_new(Ctx *cx, const Memory *proto);                  /* a copy with a serial of its own */
const Expr *load_expr(Ctx *cx, const Memory *m, const Expr *index);      /* EXPR_LOAD */
#endif
