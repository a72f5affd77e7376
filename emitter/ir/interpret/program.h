/* SPDX-License-Identifier: MIT */
#ifndef LW_IR_INTERPRET_PROGRAM_H
#define LW_IR_INTERPRET_PROGRAM_H
/* A program of the fast interpreter is a nest that is compiled for known sizes and data.
 *
 * The innermost loops around a block become lanes: up to MOST_LANES points of the block run together, each instruction
 * for all lanes before the next. A value is uniform (one for all lanes) or has one element per lane. Every instruction
 * is at the outermost level at which its operands are available: at the start of each iteration of a loop, or in the
 * strip itself. Conditions of a padded read, addresses and loads that an inner loop does not change are thus hoisted.
 *
 * Loops around a reduction are ordered so that the sums of many elements run together, each in the order of the nest.
 *
 *   program = loop            with a single iteration: its `each` runs once
 *   loop    = each, (loop | strip)...
 *   strip   = code, then a store of all lanes, in order
 *
 * program.c compiles, lanes.c implements the instructions, program_run.c the loops and stores. */
#include "ir/interpret/interpret.h"

/* The paths whose runs are counted. Kernels and stores follow, numbered by path_of_kernel and path_of_finish. */
typedef enum FastPath {
#define PATH(NAME, SPELLING) PATH_##NAME,
#include "ir/interpret/paths.def"
#undef PATH
    PATH_KERNELS
} FastPath;

enum { MOST_LANES = 512 };

/* The representation of a value in a register. Types from bool to i32 are an int32_t, f32 is a float, and all other
 * types are a Scalar. */
typedef enum Rep { REP_I32, REP_F32, REP_WIDE } Rep;
Rep rep_of(DType t);
size_t rep_bytes(Rep r);

/* The offset of each lane's element, without the uniform part of the address. An instruction recomputes the offsets. */
typedef struct LaneTerm { const int32_t *lane; int64_t factor; } LaneTerm;
typedef struct Offsets {
    int64_t *at;                       /* [lanes]: the offset of each lane, in elements */
    int64_t least, greatest;           /* the smallest and largest offset */
    int64_t step;                      /* valid if is_even: at[l] = at[0] + step * l */
    /* Lanes l with the same l / run share an element; lanes l with the same l / row are neighbours. */
    int run, row;
    bool is_even;
    int term_count; const LaneTerm *term;
} Offsets;

/* An access to a tensor. The index of the element is constant + sum of factor * *term + offsets->at[lane]. */
typedef struct ProgramAccess {
    const Tensor *tensor;
    const void *data;
    void *own;                      /* the writable data of a store; NULL for a load */
    int64_t elems, constant;
    int term_count; const LaneTerm *term;    /* the uniform part; each term has one lane */
    const Offsets *offsets;
    /* NULL enables all lanes; with mask_step 0, one value is used for all lanes. Disabled lanes are not accessed. */
    const int32_t *mask; int mask_step;
    int fault_lane;                          /* the first lane out of bounds, or -1 */
    int64_t fault_at;                        /* the element that this lane accesses */
    int64_t *ran;                            /* [interpret_path_count()]: the counters of paths */
} ProgramAccess;
int64_t access_at(const ProgramAccess *x);          /* returns the uniform part of the address */
static inline bool access_fits(const ProgramAccess *x, int64_t at)
{
    return at + x->offsets->least >= 0 && at + x->offsets->greatest < x->elems;
}

typedef struct Instr Instr;
typedef void Kernel(const Instr *in, int lanes);
struct Instr {
    Kernel *run;
    int64_t *ran;                      /* the counter of the instruction's runs */
    int lanes;                         /* 1, or all lanes of the strip */
    void *to; const void *arg[3];
    ProgramAccess *access;                    /* the access of a load */
    Offsets *offsets;                  /* the offsets that this instruction recomputes */
    /* For the general kernel: the representations of the operands, then the result's. */
    ExprKind kind; DType type, operand; Rep rep[4];
};
typedef struct Instrs { int count, capacity; const Instr **at; } Instrs;

/* Returns the special kernel if there is one, otherwise the general one. */
Kernel *kernel_of(ExprKind k, DType result, DType operand);
Kernel *kernel_load(DType t);
/* Returns the kernel that copies one lane to all lanes. */
Kernel *kernel_splat(Rep r);
void kernel_offsets(const Instr *in, int lanes);
int path_of_kernel(Kernel *run);
Scalar lane_get(Rep r, const void *at, int lane);
void lane_put(Rep r, void *at, int lane, Scalar v);

/* The operand of a store. With step 0, one value is used for all lanes. */
typedef struct Lane { const void *at; int step; Rep rep; } Lane;

/* One output of a strip. The strip stores it, or combines into it. */
typedef struct Sink {
    ProgramAccess access;
    DType type;
    Lane value, init;                  /* init.at is NULL if there is no initial value */
    void *old, *new_value;             /* the one-lane operands of `combine` */
    const void *combined;              /* the result of `combine` */
    Rep rep;
} Sink;

typedef struct Strip Strip;
/* A special store, for strips with all lanes in bounds. */
typedef void Finish(const Strip *s, int64_t at, int lanes);
struct Strip {
    const Stmt *block;
    int lanes;                         /* the most lanes */
    /* The outermost lane loop runs `chunk` iterations at a time from *base, or all if base is NULL. */
    int32_t *base; const int32_t *chunked; int chunk;
    Instrs code;
    /* The lanes that run, and the lanes that begin a sum; an `at` of NULL means all for `guard`, and none for
     * `first` */
    Lane guard, first;
    int sink_count; Sink sink[MAX_COMPONENTS];
    Instrs combine;                      /* with a reducer: combined = combine(old, new_value), for one lane */
    bool reduces;
    Finish *finish;                    /* the special store, or NULL */
    /* Counters of the runs of `finish` and of each path; ran has [interpret_path_count()] entries. */
    int64_t *finish_ran, *ran;
    int load_count; ProgramAccess **load;
};
Finish *finish_store(DType t);
/* Returns the special store of a reduction, or NULL if there is only the general method. */
Finish *finish_reduce(Reducer r, DType t);
int path_of_finish(Finish *f);

typedef struct Loop Loop;
typedef struct Action { Loop *loop; Strip *strip; } Action;          /* either a loop or a strip */
struct Loop {
    const Stmt *stmt;
    int32_t *var; const int32_t *extent;
    Instrs each;
    int count, capacity; Action *action;
};

/* Returns the program, or NULL on error. `arena` owns the instructions; `ran` is RunOptions.ran. */
Loop *program_compile(Ctx *cx, Arena *arena, const Nest *n, Env *e, int64_t *ran);
bool  program_run(Ctx *cx, const Loop *root);
#endif
