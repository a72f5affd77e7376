/* SPDX-License-Identifier: MIT */
#ifndef LW_IR_NEST_NEST_H
#define LW_IR_NEST_NEST_H
/* The loop nest: how a group of stages is computed. Immutable; a rewrite copies the path from the root. Accesses stay in
 * tensor coordinates, so every tensor element is assigned once and the only dependence is "made before read".
 *
 *   stmt = Seq(stmt...) | For(loop, extent, kind, stmt) | If(cond, stmt, stmt) | Alloc(buffer, stmt)
 *        | Block(stage, bind[], guard) | Tile(stmt, instr, args)
 *
 * The invariants I1..I6 that hold for every stage, always, are stated and proved in check.c. */
#include "ir/expr/tensor.h"

/* LANES: of lowered code alone, where the iterations are the lanes of vectors. */
typedef enum LoopKind { LOOP_SERIAL, LOOP_UNROLLED, LOOP_VECTOR, LOOP_PARALLEL, LOOP_LANES } LoopKind;
typedef enum Scope {
    SCOPE_REGISTER,
    SCOPE_STACK,
    SCOPE_ARENA,
    SCOPE_STATIC,
    SCOPE_CONST,
    SCOPE_STATE,
    SCOPE_PARAM
} Scope;
typedef enum StmtKind { STMT_SEQ, STMT_FOR, STMT_IF, STMT_ALLOC, STMT_BLOCK, STMT_TILE } StmtKind;

/* A block does the whole of its stage at a point, or only the init or only the update part of a reduction. */
typedef enum BlockPart { BLOCK_WHOLE, BLOCK_INIT, BLOCK_UPDATE } BlockPart;

typedef struct Buffer {              /* where a tensor made inside the nest lives */
    const Tensor *tensor;
    Scope scope;
    /* 0: the whole window is kept; else slots along this dimension, index modulo ring */
    int64_t ring[MAX_RANK];
    int permutation[MAX_RANK];       /* order of dimensions in memory, outermost first; identity by default */
    /* 0: plain; else the dimension is cut in blocks, and index % block lies innermost */
    int64_t tile[MAX_RANK];
    int64_t align;                   /* of the innermost row in elements; 0: none */
} Buffer;

typedef struct Stmt Stmt;
struct Stmt {
    StmtKind kind;
    int child_count;                 /* SEQ: any; IF: 1 or 2; FOR, ALLOC, TILE: 1; BLOCK: 0 */
    const Stmt *const *child;
    /* FOR */
    /* Full name of the loop, "conv.ho", or of the block, "conv", "conv@tail"; interned */
    const char *name;
    const Expr *var;                 /* VAR_LOOP, i32, runs 0 .. extent-1 */
    const Expr *extent;              /* i32 over sizes and outer loops */
    LoopKind loop_kind;
    /* IF, and BLOCK's guard (NULL: always) */
    const Expr *cond;
    /* ALLOC */
    const Buffer *buffer;
    /* BLOCK */
    const Stage *stage;
    BlockPart part;
    /* [stage->axis_count], over loop variables and sizes; INIT: reduce axes are NULL */
    const Expr *const *bind;
    /* TILE */
    const struct Instruction *instr; /* NULL until tensorize */
    const Expr *const *args;
};

typedef struct Step { const char *text; } Step;      /* one accepted schedule step, as it is written in a .te file */

/* A nest over a group. `inputs` are read only; `outputs` are written whole; every other tensor has an ALLOC.
 * Steps return a new Nest; the old one stands. */
typedef struct Nest {
    const char *name;
    int input_count;  const Tensor **input;
    int output_count; const Tensor **output;
    int stage_count;  const Stage **stage;           /* in order of dependence; inlined stages are gone */
    const Stmt *root;
    int step_count;   const Step *step;
    int instruction_count; const struct Instruction *const *instruction;   /* declared so far (instruction.h) */
    /* For "conv.h was split by step 3: use ho or hi". */
    int consumed_count;   const struct ConsumedLoop *consumed;
    const char *features;                            /* of the target, separated by spaces; NULL: it is not known yet */
    /* The implementation whose schedule this is; NULL: steps of the model's file */
    const char *strategy;
    /* Where `when`, a condition on sizes, does not hold, `otherwise` is what runs: another schedule of the same group, with
     * inputs and outputs that stand at the same places. NULL: this nest is for all sizes. */
    const Expr *when; const struct Nest *otherwise;
} Nest;
typedef struct ConsumedLoop { const char *name; int step; const char *successors; } ConsumedLoop;

const char *loop_kind_text(LoopKind k);              /* "serial" ... */
const char *scope_text(Scope s);                     /* "register" ... */
/* "unroll N", "independent" or "simd", and whether it may stand before a loop of the kind. */
enum { MOST_UNROLL = 64 };
bool pragma_is_known(const char *pragma);
bool pragma_suits(const char *pragma, LoopKind k);

/* The naive nest of a group: one loop per axis for each stage in order, at the root, all in arena scope allocs outside.
 * Stages that read each other share the loop over their steps (recurrence.h).
 * `outputs` are tensors made by compute nodes; stages are collected up to `inputs` (and constants, which are inputs).
 * Calls must have been expanded to computes. */
const Nest *nest_naive(Ctx *cx, const char *name, Tensor *const *inputs, int input_count, Tensor *const *outputs,
                       int output_count);

/* The nest for a target with these features. */
const Nest *nest_for(Ctx *cx, const Nest *n, const char *features);
const Nest *nest_named_by(Ctx *cx, const Nest *n, const char *strategy);          /* n under the name of its strategy */
/* Does the stage round a*b + c once? Where a step says that it may, and the nest's target has the instruction. */
bool nest_contracts(const Nest *n, const Stage *s);
/* What the stage computes, with a*b + c of floats as one operation where it does. */
const Expr *nest_contracted(Ctx *cx, const Nest *n, const Stage *s, const Expr *value);

/* Makers of statements; all canonicalize: nested or single SEQs are flattened. */
const Stmt *stmt_seq(Ctx *cx, const Stmt *const *child, int count);
const Stmt *stmt_for(Ctx *cx, const char *name, const Expr *var, const Expr *extent, LoopKind kind, const Stmt *body);
const Stmt *stmt_if(Ctx *cx, const Expr *cond, const Stmt *yes, const Stmt *no);
const Stmt *stmt_alloc(Ctx *cx, const Buffer *b, const Stmt *body);
const Stmt *stmt_block(Ctx *cx, const char *name, const Stage *s, BlockPart part, const Expr *const *bind,
                       const Expr *guard);
/* An expression over the axes of a block's stage, over the loops around the block; axes that an INIT has no loop for stay. */
const Expr *block_in_loops(Ctx *cx, const Stmt *block, const Expr *e);
/* Same pointer if unchanged */
const Stmt *stmt_with_children(Ctx *cx, const Stmt *s, const Stmt *const *child, int count);

/* The path from the root to a statement: path->at[0] is the root, at[depth-1] the statement found. */
enum { MAX_DEPTH = 64,               /* loops inside each other */
       MAX_PATH = 2048 };            /* statements: the storage of a large network is one Alloc in the other */
typedef struct Path { int depth; const Stmt *at[MAX_PATH]; } Path;
/* By full name, or by short name where that is unique */
bool nest_find_loop(const Nest *n, const char *name, Path *out);
bool nest_find_block(const Nest *n, const char *name, Path *out);      /* first block of that name */
const Stage *nest_stage(const Nest *n, const char *name);              /* NULL: none */
/* The nest with the last statement of the path replaced (NULL: removed), everything else shared. */
const Stmt *path_replace(Ctx *cx, const Path *p, const Stmt *with);
/* Map over all statements bottom-up, sharing what does not change. */
typedef const Stmt *StmtVisit(Ctx *cx, const Stmt *s, void *user);
const Stmt *stmt_rewrite(Ctx *cx, const Stmt *s, StmtVisit *visit, void *user);
/* All expressions of the statement (extents, conditions, binds, guards) with variables substituted. */
const Stmt *stmt_substitute(Ctx *cx, const Stmt *s, const Expr *const *from, const Expr *const *to, int count);
#endif
