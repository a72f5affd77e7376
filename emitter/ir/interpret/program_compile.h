/* SPDX-License-Identifier: MIT */
#ifndef LW_IR_PROGRAM_COMPILE_H
#define LW_IR_PROGRAM_COMPILE_H
/* Shared by the two halves of the compiler to programs: program.c makes loops and strips, program_values.c what is computed
 * in them. */
#include "ir/interpret/program.h"
#include "support/map.h"

/* A value made by an instruction, or a constant. */
typedef struct ProgramValue { void *at; Rep rep; int lanes, level; } ProgramValue;

typedef struct Compiler {
    Ctx *cx;
    Arena *arena;
    const Nest *nest;
    Env *env;
    Map data;                       /* Tensor -> where its elements are */
    Map reads;                      /* Expr -> whether it reads tensors */
    Loop *loops[MAX_DEPTH];         /* around what is compiled: [0] is the program itself */
    int depth;
    const Stage *stage;             /* of the block that is compiled */
    const Stmt *block;
    Strip *strip;
    const Expr *const *bind;        /* its axes, over loops */
    const Stmt *lane_loop[MAX_DEPTH];   /* the loops that became lanes, outermost first */
    int32_t *lane_var[MAX_DEPTH];
    int lane_loops;
    Map values;                     /* ValueKey -> Value, in this strip */
    int load_room;
} Compiler;

void *grown(Arena *arena, void *at, int count, int *room, size_t bytes);   /* the list, with room for one more */

/* The expression with the block's axes replaced by their binds and sizes by their values. NULL gives NULL. */
const Expr *resolve(Compiler *c, const Expr *e);
/* Instructions for a resolved expression; its reads touch only lanes in which `mask` (NULL: all) holds. */
ProgramValue compile_value(Compiler *c, const Expr *e, const ProgramValue *mask);
/* A fresh one-lane operand of the strip's combination, and the variable that stands for it. */
ProgramValue compile_operand(Compiler *c, DType t, const Expr **stand_in);
/* Fills in `x` for the element of `t` at `index`. Gives the level at which the address is known. */
int compile_address(Compiler *c, ProgramAccess *x, const Tensor *t, const Expr *const *index, const ProgramValue *mask);
#endif
