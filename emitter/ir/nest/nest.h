/* SPDX-License-Identifier: MIT */
#ifndef LW_IR_NEST_NEST_H
#define LW_IR_NEST_NEST_H
/* The loop nest: the order and storage in which a group of stages is computed. It is immutable; a rewrite copies the
 * path from the root. Accesses stay in tensor coordinates, so every tensor element is assigned once and the only
 * dependence is "produced before read".
 *
 * stmt = Seq(stmt...) | For(loop, extent, kind, stmt) | If(cond, stmt, stmt) | Alloc(buffer, stmt)
 *      | Block(stage, bind[], guard) | Tile(stmt, instr, args) | Tile(stmt, external)
 *
 * check.c states and proves the invariants I1..I6, which hold for every stage. */
#include "ir/expr/tensor.h"

/* LANES occurs in lowered code only: its iterations are the lanes of vectors. */
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

/* A block computes its whole stage at a point, or only the init or the update part of a reduction. */
typedef enum BlockPart { BLOCK_WHOLE, BLOCK_INIT, BLOCK_UPDATE } BlockPart;

typedef struct Buffer {              /* the storage of a tensor produced in the nest */
    const Tensor *tensor;
    Scope scope;
    /* 0: no folding; else the dimension is a ring buffer: slot = index modulo ring */
    int64_t ring[MAX_RANK];
    int permutation[MAX_RANK];       /* dimensions in memory order, outermost first; default: identity */
    /* 0: none; else the dimension is divided into tiles, and index % tile is innermost in memory */
    int64_t tile[MAX_RANK];
    int64_t align;                   /* alignment of the innermost row in elements; 0: none */
} Buffer;

typedef struct Stmt Stmt;
struct Stmt {
    StmtKind kind;
    int child_count;                 /* SEQ: any; IF: 1 or 2; FOR, ALLOC, TILE: 1; BLOCK: 0 */
    const Stmt *const *child;
    /* FOR */
    /* Full name of the loop, "conv.ho", or of the block, "conv", "conv@tail"; interned */
    const char *name;
    const Expr *var;                 /* VAR_LOOP, i32, from 0 to extent-1 */
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
    const struct External *external; /* a call of a C function that computes the statement; NULL: none */
    const Expr *const *args;
};

/* A schedule step: the row of its primitive, and its operands (ir/text/step.h) */
typedef struct Step { const struct StepRow *row; const struct StepArgs *args; } Step;

/* In a version of a nest for a part of the sizes, `within` stands for the group's size, which lowered code has. */
typedef struct SizeRange { const Expr *size, *within; } SizeRange;

/* The nest of a group. `inputs` are only read; `outputs` are written completely; every other tensor has an ALLOC. A
 * step returns a new Nest and does not modify the old one. */
typedef struct Nest {
    const char *name;
    int input_count;  Tensor **input;
    int output_count; Tensor **output;
    int stage_count;  const Stage **stage;           /* producers first; without inlined stages */
    const Stmt *root;
    Arena *arena;                                    /* the context's: of paths */
    int step_count;   const Step *step;
    int instruction_count; const struct Instruction *const *instruction;   /* declared so far (instruction.h) */
    /* For the diagnostic "conv.h was split by step 3: use ho or hi" */
    const struct ConsumedLoop *consumed;             /* the newest */
    const char *features;                            /* the target's, separated by spaces; NULL: unknown */
    /* The implementation with this schedule; NULL: steps of the model's file */
    const char *strategy;
    const char *compute;                             /* implementation whose compute the nest has; NULL: operators' */
    /* If `when`, a condition on sizes, is false, `otherwise` runs: another schedule of the same group, with inputs and
     * outputs in the same order. NULL: this nest is for all sizes. */
    const Expr *when; const struct Nest *otherwise;
    int range_count; const SizeRange *range;         /* of a version: its sizes */
    int64_t copy_budget;     /* statements that loop partition may add to the function; 0: the target's limit */
} Nest;
typedef struct ConsumedLoop ConsumedLoop;
struct ConsumedLoop { const ConsumedLoop *older; const char *name; int step; const char *successors; };

const char *loop_kind_text(LoopKind k);              /* "serial" ... */
const char *scope_text(Scope s);                     /* "register" ... */
/* The separate init of a stage has its name with this suffix: conv@init, loop conv@init.o. */
#define INIT_SUFFIX "@init"
bool loop_is_of_init(const char *loop);
/* Reads "unroll N", "independent" or "simd"; false: another text. */
enum { MOST_UNROLL = 64 };
bool pragma_read(const char *text, Pragma *out);
const char *pragma_text(Ctx *cx, const Pragma *p);
bool pragma_suits(const Pragma *p, LoopKind k);      /* true if it is valid before a loop of the kind */

/* Builds the naive nest of a group: one loop per axis for each stage in order, at the root, inside all allocs, which
 * have arena scope. Stages that read each other share the loop over their steps (recurrence.h). `outputs` are produced
 * by compute nodes; their producers are collected up to `inputs` and constants, which count as inputs. Calls must be
 * expanded to computes. */
const Nest *nest_naive(Ctx *cx, const char *name, Tensor *const *inputs, int input_count, Tensor *const *outputs,
                       int output_count);

/* Returns the nest as the first of two versions. */
const Nest *nest_versions(Ctx *cx, const Nest *n, const Expr *when, const Nest *otherwise);
const Nest *nest_within(Ctx *cx, const Nest *n, const SizeRange *range, int count);
/* The group's size for which `e`, a size of a version, stands; a number if its range has one value. Others: e */
const Expr *nest_size_of_group(Ctx *cx, const Nest *n, const Expr *e);
const Expr *nest_sizes_of_group(Ctx *cx, const Nest *n, const Expr *e);     /* in an expression */
/* Returns the nest with the target's features. */
const Nest *nest_for(Ctx *cx, const Nest *n, const char *features);
const Nest *nest_computed_by(Ctx *cx, const Nest *n, const char *implementation);
const Nest *nest_called(Ctx *cx, const Nest *n, const char *name);                 /* n with that name */
const Nest *nest_named_by(Ctx *cx, const Nest *n, const char *strategy);          /* n with the name of its strategy */
/* True if the stage rounds a*b + c once: a step permits it, and the nest's target has the instruction. */
bool nest_contracts(const Nest *n, const Stage *s);
/* Returns the stage's value, with float a*b + c as one operation if nest_contracts. */
const Expr *nest_contracted(Ctx *cx, const Nest *n, const Stage *s, const Expr *value);

/* Constructors of statements. All canonicalize: nested and single-child SEQs are flattened. */
const Stmt *stmt_seq(Ctx *cx, const Stmt *const *child, int count);
const Stmt *stmt_for(Ctx *cx, const char *name, const Expr *var, const Expr *extent, LoopKind kind, const Stmt *body);
const Stmt *stmt_if(Ctx *cx, const Expr *cond, const Stmt *yes, const Stmt *no);
const Stmt *stmt_alloc(Ctx *cx, const Buffer *b, const Stmt *body);
const Stmt *stmt_block(Ctx *cx, const char *name, const Stage *s, BlockPart part, const Expr *const *bind,
                       const Expr *guard);
/* Rewrites an expression over the axes of a block's stage to the loops around the block. Axes without a loop, as the
 * reduce axes of an INIT, stay. */
const Expr *block_in_loops(Ctx *cx, const Stmt *block, const Expr *e);
/* Same pointer if unchanged */
const Stmt *stmt_with_children(Ctx *cx, const Stmt *s, const Stmt *const *child, int count);

/* The path from the root to a statement: path->at[0] is the root, at[depth-1] the statement. */
enum { MAX_DEPTH = 64,               /* nested loops */
       MAX_PATH = 2048 };            /* statements: in a large network, each Alloc is nested in another */
typedef struct Path { int depth; const Stmt *const *at; } Path;
/* By full name, or by short name if that is unique */
bool nest_find_loop(const Nest *n, const char *name, Path *out);
bool nest_find_block(const Nest *n, const char *name, Path *out);      /* first block of that name */
const Stage *nest_stage(const Nest *n, const char *name);              /* NULL: none */
/* Returns the root with the last statement of the path replaced (NULL: removed), everything else shared. */
const Stmt *path_replace(Ctx *cx, const Path *p, const Stmt *with);
/* Maps all statements bottom-up; unchanged subtrees are shared. */
typedef const Stmt *StmtVisit(Ctx *cx, const Stmt *s, void *user);
const Stmt *stmt_rewrite(Ctx *cx, const Stmt *s, StmtVisit *visit, void *user);
/* Substitutes variables in all expressions of the statement (extents, conditions, binds, guards). */
const Stmt *stmt_substitute(Ctx *cx, const Stmt *s, const Expr *const *from, const Expr *const *to, int count);
#endif
