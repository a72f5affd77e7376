/* SPDX-License-Identifier: MIT */
#ifndef LW_IR_EXPR_MEMORY_H
#define LW_IR_EXPR_MEMORY_H
/* Flat memory of lowered code: the operand of a LOAD. */
#include "ir/expr/tensor.h"

/* Inclusive. Ends saturate: INT64_MIN and INT64_MAX are infinite. */
typedef struct Interval { int64_t least, greatest; } Interval;

typedef enum MemoryKind {
    MEMORY_INPUT,      /* const parameter */
    MEMORY_OUTPUT,     /* parameter written */
    MEMORY_SCRATCH,    /* parameter: arena memory, live during this call only */
    MEMORY_LOCAL,      /* stack array */
    MEMORY_SCALAR,     /* one variable (an unrolled register buffer): index 0, or the lane of a vector */
    MEMORY_POINTER     /* `base + offset`, hoisted out of loops; CODE_LOCAL declares it */
} MemoryKind;

typedef struct Memory {
    const char *name;            /* C identifier, unique in its function */
    DType type;
    MemoryKind kind;
    const Expr *elems;           /* element count; constant for LOCAL and SCRATCH */
    int64_t align;               /* bytes; 0: alignment of the type */
    int lanes;                   /* SCALAR: vector width, accessed only in LANES loops; 0: plain variable */
    /* The tensor stored in it; for a parameter, the nest's own input or output. NULL: none. */
    const Tensor *tensor;
    const struct Memory *base;   /* POINTER: the memory it points into; never a POINTER */
    const Expr *offset;          /* POINTER: offset from the start of `base`, in elements */
    Interval range;              /* integers: bounds of the elements; {0, 0}: unknown */
    bool is_const;               /* POINTER: never stored through */
    bool is_held;                /* SCALAR of lanes: stays in its register; C compilers would load it for each use */
    bool is_restrict;            /* proved: no overlapping memory of the call while written */
    uint32_t serial;
} Memory;

const Memory *memory_new(Ctx *cx, const Memory *proto);                  /* a copy with a new serial */
const Expr *load_expr(Ctx *cx, const Memory *m, const Expr *index);      /* EXPR_LOAD */
#endif
