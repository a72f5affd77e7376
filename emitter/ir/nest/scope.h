/* SPDX-License-Identifier: MIT */
#ifndef LW_IR_NEST_SCOPE_H
#define LW_IR_NEST_SCOPE_H
/* The memories in which buffers of a nest are. Four are built in; the step `memory` declares others, such as the
 * scratchpad of a unit. */
#include <stdbool.h>
#include <stdint.h>

typedef enum ScopeKind { SCOPE_REGISTER, SCOPE_STACK, SCOPE_ARENA, SCOPE_STATIC, SCOPE_DECLARED } ScopeKind;

typedef struct Scope {
    ScopeKind kind;
    const char *name;
    /* A declared memory has a size, an alignment of each buffer, and a unit to which each row of a buffer is rounded
     * up, in bytes, and a number of banks of equal size. */
    int64_t bytes, align, row, banks;
    bool is_opaque;                  /* true if only copies, and instructions that name it, may access the memory */
} Scope;

/* The operand of an instruction that is in no declared memory: `x: i8[16] from core`. */
#define SCOPE_CORE "core"

const Scope *scope_builtin(ScopeKind k);             /* returns the row of a kind other than SCOPE_DECLARED */
/* Returns the memory of this name, built in or among the declared ones, or NULL. */
const Scope *scope_called(const Scope *const *declared, int count, const char *wanted);
/* Returns the alignment of buffers in a declared memory whose elements have `size` bytes, a power of two. */
int64_t scope_align(const Scope *s, int64_t size);
/* Returns the offset of such a buffer after `used` bytes: aligned, and at the start of a bank. */
int64_t scope_begin(const Scope *s, int64_t used, int64_t size);
static inline bool scope_is_declared(const Scope *s) { return s && s->kind == SCOPE_DECLARED; }
#endif
