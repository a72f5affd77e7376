/* SPDX-License-Identifier: MIT */
#ifndef LW_IR_NEST_NEST_H
#define LW_IR_NEST_NEST_H
/* The loop nest: the order and storage in which a group of stages is computed. A nest is immutable; a rewrite copies
 * the path from the root. Accesses stay in tensor coordinates, so every tensor element is assigned once and the only
 * dependence is "produced before read".
 *
 * stmt = Seq(stmt...) | For(loop, extent, kind, stmt) | If(cond, stmt, stmt) | Alloc(buffer, stmt)
 *      | Block(stage, bind[], guard) | Tile(stmt, instr, args) | Tile(stmt, external)
 *      | Start(copy, ahead, channel) | Wait(copy, pending)
 *
 * A Start is in the body of a loop L. The child of a Start is a copy of one stage. As an ordinary statement, the copy
 * of iteration i would run at its own place in iteration i. As a Start, the copy begins at this place in iteration i -
 * ahead, or before L in the first iterations. It ends by the Wait of its name in iteration i, when at most `pending` of
 * the copies that were started for later iterations are unfinished. The buffer of the copy has `slots` windows, of
 * which iteration i of L uses window i % slots.
 *
 * A Start that copies from such a buffer, a result, is ahead by 0: it begins at its place. The Wait is before the first
 * statement that writes the buffer, and leaves at most `pending` copies of earlier iterations unfinished. All of them
 * are finished when L ends.
 *
 * check.c states and proves the invariants, which hold for every stage. */
#include "ir/expr/tensor.h"
#include "ir/nest/scope.h"

/* LANES occurs only in lowered code: the iterations are the lanes of vectors. */
typedef enum LoopKind { LOOP_SERIAL, LOOP_UNROLLED, LOOP_VECTOR, LOOP_PARALLEL, LOOP_LANES } LoopKind;
typedef enum StmtKind {
    STMT_SEQ, STMT_FOR, STMT_IF, STMT_ALLOC, STMT_BLOCK, STMT_TILE, STMT_START, STMT_WAIT
} StmtKind;

/* A block computes its whole stage at a point, or only the init or the update part of a reduction. */
typedef enum BlockPart { BLOCK_WHOLE, BLOCK_INIT, BLOCK_UPDATE } BlockPart;

typedef struct Buffer {              /* the storage of a tensor produced in the nest */
    const Tensor *tensor;
    const Scope *scope;              /* the memory in which it is */
    /* 0 for no folding. Otherwise the dimension is a ring buffer: slot = index modulo ring. */
    int64_t ring[MAX_RANK];
    int permutation[MAX_RANK];       /* the dimensions in memory order, outermost first; the default is the identity */
    /* 0 for no tiling. Otherwise the dimension is divided into tiles, and index % tile is innermost in memory. */
    int64_t tile[MAX_RANK];
    int64_t align;                   /* the alignment of the innermost row in elements, or 0 */
    int64_t slots;                   /* the windows of an asynchronous copy that exist at the same time; otherwise 0 */
} Buffer;

typedef struct Stmt Stmt;
/* START: the number of iterations that the copy is ahead, and the channel; WAIT: the copies of later iterations that
 * may be unfinished. */
typedef struct Transfer { int64_t ahead, channel, pending; } Transfer;

struct Stmt {
    StmtKind kind;
    /* Any number in a SEQ; 1 or 2 in an IF; 1 in a FOR, ALLOC, TILE or START; otherwise 0. */
    int child_count;
    const Stmt *const *child;
    /* FOR */
    /* The full name of the loop, "conv.ho", or of the block, "conv" or "conv@tail", or the copy of a START or WAIT. The
     * name is interned. */
    const char *name;
    const Expr *var;                 /* a VAR_LOOP of type i32, from 0 to extent-1 */
    const Expr *extent;              /* i32, over sizes and outer loops */
    LoopKind loop_kind;
    BlockPart part;                  /* of a BLOCK */
    /* The condition of an IF, and the guard of a BLOCK (NULL means always). */
    const Expr *cond;
    /* ALLOC */
    const Buffer *buffer;
    /* BLOCK */
    const Stage *stage;
    /* [stage->axis_count], over loop variables and sizes. In an INIT, the entries of reduce axes are NULL. */
    const Expr *const *bind;
    /* TILE */
    const struct Instruction *instr; /* NULL until the step tensorize sets it */
    const struct External *external; /* the call of a C function that computes the statement, or NULL */
    const Expr *const *args;
    const Transfer *copy;            /* of a START or a WAIT */
};

/* A schedule step: the row of its primitive, and its operands (ir/text/step.h). */
typedef struct Step { const struct StepRow *row; const struct StepArgs *args; } Step;

/* In a version of a nest for a part of the sizes, `within` replaces the group's size; lowered code has the group's
 * size. */
typedef struct SizeRange { const Expr *size, *within; } SizeRange;

/* The nest of a group. `inputs` are only read, and `outputs` are written completely; every other tensor has an ALLOC. A
 * step returns a new Nest and does not modify the old one. */
typedef struct Nest {
    const char *name;
    int input_count;  Tensor **input;
    int output_count; Tensor **output;
    int stage_count;  const Stage **stage;           /* producers first, without inlined stages */
    const Stmt *root;
    Arena *arena;                                    /* the context's arena of paths */
    int step_count;   const Step *step;
    /* The declarations so far: instructions (instruction.h), memories, and fields of configuration. */
    int instruction_count, scope_count;
    const struct Instruction *const *instruction;
    const Scope *const *scope;
    const char *const *field; int field_count, range_count;
    const SizeRange *range;                          /* [range_count] the ranges of a version's sizes */
    /* For the diagnostic "conv.h was split by step 3: use ho or hi". */
    const struct ConsumedLoop *consumed;             /* the newest consumed loop */
    /* The target's features, separated by spaces, or NULL if unknown. */
    const char *features;
    /* The implementation with this schedule; NULL for steps of the model's file. */
    const char *strategy;
    /* The implementation whose compute the nest has; NULL if the operators' own computes are used. */
    const char *compute;
    /* A condition on sizes. If it is false, `otherwise` runs: a different schedule of the same group, with inputs and
     * outputs in the same order. `when` is NULL if this nest is for all sizes. */
    const Expr *when; const struct Nest *otherwise;
    /* The most statements that loop partition may add to the function; 0 for the target's limit. */
    int64_t copy_budget;
} Nest;
typedef struct ConsumedLoop ConsumedLoop;
struct ConsumedLoop { const ConsumedLoop *older; const char *name; int step; const char *successors; };

const char *loop_kind_text(LoopKind k);              /* returns a word such as "serial" */
/* The suffix in the name of a stage's separate init: conv@init, with the loop conv@init.o. */
#define INIT_SUFFIX "@init"
bool loop_is_of_init(const char *loop);
/* Reads "unroll N", "independent" or "simd". Returns false for any other text. */
enum { MOST_UNROLL = 64 };
bool pragma_read(const char *text, Pragma *out);
const char *pragma_text(Ctx *cx, const Pragma *p);
bool pragma_suits(const Pragma *p, LoopKind k);      /* returns true if the pragma is valid before a loop of the kind */

/* Builds the naive nest of a group: one loop per axis for each stage in order, at the root, inside all allocs, which
 * have arena scope. Stages that read each other share the loop over their steps (recurrence.h). `outputs` are produced
 * by compute nodes; their producers are collected up to `inputs` and constants, which become inputs. Calls must be
 * expanded to computes. */
const Nest *nest_naive(Ctx *cx, const char *name, Tensor *const *inputs, int input_count, Tensor *const *outputs,
                       int output_count);

/* Returns the nest as the first of two versions. */
const Nest *nest_versions(Ctx *cx, const Nest *n, const Expr *when, const Nest *otherwise);
const Nest *nest_within(Ctx *cx, const Nest *n, const SizeRange *range, int count);
/* If `e` is a size of a version, returns the group's size, or a number if the range of `e` has one value. Returns other
 * expressions unchanged. `nest` is the const Nest *; expr_rewrite takes this function. */
const Expr *nest_size_of_group(Ctx *cx, const Expr *e, void *nest);
/* Applies nest_size_of_group to all sizes in an expression. */
const Expr *nest_sizes_of_group(Ctx *cx, const Nest *n, const Expr *e);
/* Returns the nest with the target's features. */
const Nest *nest_for(Ctx *cx, const Nest *n, const char *features);
const Nest *nest_computed_by(Ctx *cx, const Nest *n, const char *implementation);
const Nest *nest_called(Ctx *cx, const Nest *n, const char *name);                 /* returns n with that name */
/* Returns n with the name of its strategy. */
const Nest *nest_named_by(Ctx *cx, const Nest *n, const char *strategy);
/* Returns true if the stage rounds a*b + c once, because a step permits it and the nest's target has the
 * instruction. */
bool nest_contracts(const Nest *n, const Stage *s);
/* Returns the stage's value. If nest_contracts(n, s), a*b + c of floats is one operation in it. */
const Expr *nest_contracted(Ctx *cx, const Nest *n, const Stage *s, const Expr *value);

/* Constructors of statements, which canonicalize: nested and single-child SEQs are flattened. */
const Stmt *stmt_seq(Ctx *cx, const Stmt *const *child, int count);
const Stmt *stmt_for(Ctx *cx, const char *name, const Expr *var, const Expr *extent, LoopKind kind, const Stmt *body);
const Stmt *stmt_if(Ctx *cx, const Expr *cond, const Stmt *yes, const Stmt *no);
const Stmt *stmt_alloc(Ctx *cx, const Buffer *b, const Stmt *body);
const Stmt *stmt_block(Ctx *cx, const char *name, const Stage *s, BlockPart part, const Expr *const *bind,
                       const Expr *guard);
const Stmt *stmt_start(Ctx *cx, const char *name, int64_t ahead, int64_t channel, const Stmt *copy);
const Stmt *stmt_wait(Ctx *cx, const char *name, int64_t pending);
/* Rewrites an expression over the axes of a block's stage to the loops around the block. Axes without a loop, such as
 * the reduce axes of an INIT, stay. */
const Expr *block_in_loops(Ctx *cx, const Stmt *block, const Expr *e);
/* Returns s with these children, or s itself if nothing changes. */
const Stmt *stmt_with_children(Ctx *cx, const Stmt *s, const Stmt *const *child, int count);

/* The path from the root to a statement: path->at[0] is the root, and at[depth-1] is the statement. */
enum { MAX_DEPTH = 64,               /* the most nested loops */
       MAX_PATH = 2048 };            /* the most statements; in a large network, Allocs are nested deeply */
typedef struct Path { int depth; const Stmt *const *at; } Path;
/* Finds a loop by its full name, or by its short name if that is unique. */
bool nest_find_loop(const Nest *n, const char *name, Path *out);
bool nest_find_block(const Nest *n, const char *name, Path *out);      /* finds the first block of that name */
const Stage *nest_stage(const Nest *n, const char *name);              /* returns NULL if there is no such stage */
/* Returns the root with the last statement of the path replaced; NULL removes the statement. All other statements are
 * shared. */
const Stmt *path_replace(Ctx *cx, const Path *p, const Stmt *with);
/* Maps all statements bottom-up; unchanged subtrees are shared. */
typedef const Stmt *StmtVisit(Ctx *cx, const Stmt *s, void *user);
const Stmt *stmt_rewrite(Ctx *cx, const Stmt *s, StmtVisit *visit, void *user);
/* Substitutes variables in all expressions of the statement (extents, conditions, binds, guards). */
const Stmt *stmt_substitute(Ctx *cx, const Stmt *s, const Expr *const *from, const Expr *const *to, int count);
#endif
