/* SPDX-License-Identifier: MIT */
#ifndef LW_IR_EXPR_MEMORY_H
#define LW_IR_EXPR_MEMORY_H
/* Flat memory of lowered code: the operand of a LOAD. */
#include "ir/expr/tensor.h"

struct Scope;

/* An inclusive interval. The ends of the range saturate: INT64_MIN and INT64_MAX mean infinity. */
typedef struct Interval { int64_t least, greatest; } Interval;

typedef enum MemoryKind {
    MEMORY_INPUT,      /* a const parameter */
    MEMORY_OUTPUT,     /* a parameter that the function writes */
    MEMORY_SCRATCH,    /* a parameter in arena memory, live during this call only */
    MEMORY_LOCAL,      /* an array of the function, on the stack or in a declared memory */
    MEMORY_SCALAR,     /* one variable (an unrolled register buffer); the index is 0, or the lane of a vector */
    MEMORY_POINTER     /* `base + offset`, hoisted out of loops; a CODE_LOCAL declares it */
} MemoryKind;

typedef struct Memory {
    const char *name;            /* a C identifier, unique in its function */
    DType type;
    MemoryKind kind;
    const Expr *elems;           /* the number of elements; constant for LOCAL and SCRATCH */
    int64_t align;               /* in bytes; 0 means the alignment of the type */
    const struct Scope *scope;   /* LOCAL: the declared memory in which it is (ir/nest/scope.h), or NULL */
    /* The tensor that is stored in it, or NULL. For a parameter, this is the nest's own input or output. */
    const Tensor *tensor;
    const struct Memory *base;   /* POINTER: the memory that the pointer points into, which is never a POINTER */
    const Expr *offset;          /* POINTER: the offset from the start of `base`, in elements */
    Interval range;              /* integers: bounds of the elements; {0, 0} means unknown */
    int lanes;                   /* SCALAR: the vector width, accessed only in LANES loops; 0 for a plain variable */
    bool is_const;               /* POINTER: true if the function never stores through the pointer */
    /* True for a SCALAR of lanes that must stay in its register, although C compilers would load it for each use. */
    bool is_held;
    /* True if it is proved that no other memory of the call overlaps this memory while it is written. */
    bool is_restrict;
    int32_t begin;               /* LOCAL: its offset in `scope`, in bytes */
    uint32_t serial;
} Memory;

/* Returns the memory that a POINTER points into, and any other memory itself. */
static inline const Memory *memory_base(const Memory *m) { return m->kind == MEMORY_POINTER ? m->base : m; }
const Memory *memory_new(Ctx *cx, const Memory *proto);                  /* returns a copy with a new serial */
const Expr *load_expr(Ctx *cx, const Memory *m, const Expr *index);      /* returns an EXPR_LOAD */
#endif
