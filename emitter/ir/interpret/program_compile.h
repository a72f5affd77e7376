/* SPDX-License-Identifier: MIT */
#ifndef LW_IR_INTERPRET_PROGRAM_COMPILE_H
#define LW_IR_INTERPRET_PROGRAM_COMPILE_H
/* Shared by the two halves of the compiler to programs: program.c compiles loops and strips, and program_values.c
 * compiles the values computed in them. */
#include "ir/interpret/program.h"
#include "support/map.h"

/* The result of an instruction, or a constant. */
typedef struct ProgramValue { void *at; Rep rep; int lanes, level; } ProgramValue;

typedef struct Compiler {
    Ctx *cx;
    Arena *arena;
    const Nest *nest;
    Env *env;
    int64_t *ran;                   /* [interpret_path_count()]: the counters of paths */
    Map data;                       /* maps a Tensor to its elements */
    Map reads;                      /* maps an Expr to true if it reads tensors */
    Loop *loops[MAX_DEPTH];         /* the loops around the current statement; [0] is the program itself */
    int depth;
    const Stage *stage;             /* the stage of the current block */
    const Stmt *block;
    Strip *strip;
    const Expr *const *bind;        /* the indices of the stage's axes, over loops */
    const Stmt *lane_loop[MAX_DEPTH];   /* the loops that became lanes, outermost first */
    int32_t *lane_var[MAX_DEPTH];
    int lane_loops;
    Map values;                     /* maps a ValueKey to its ProgramValue in this strip */
    int load_room;
} Compiler;

/* Returns the list, with room for one more entry. */
void *grown(Arena *arena, void *at, int count, int *capacity, size_t bytes);

/* Returns the expression with the block's axes replaced by their binds, and sizes by their values. NULL gives NULL. */
const Expr *resolve(Compiler *c, const Expr *e);
/* Appends instructions for a resolved expression. The reads of the expression access only lanes in which `mask` holds;
 * a mask of NULL holds in all lanes. */
ProgramValue compile_value(Compiler *c, const Expr *e, const ProgramValue *mask);
/* Returns a fresh one-lane operand of the strip's combination, and the variable that represents it. */
ProgramValue compile_operand(Compiler *c, DType t, const Expr **stand_in);
/* Sets `x` to the element of `t` at `index`. Returns the level at which the address is available. */
int compile_address(Compiler *c, ProgramAccess *x, const Tensor *t, const Expr *const *index, const ProgramValue *mask);
#endif
