/* SPDX-License-Identifier: MIT */
#ifndef LW_IR_NEST_CODE_H
#define LW_IR_NEST_CODE_H
/* Lowered code: what is left of a nest when storage is decided: C in everything but spelling. Loops have a begin and an
 * end, memory is flat, values are expressions over LOADs and variables. emitter/lower makes and improves it, cgen prints it. */
#include "ir/algebra/algebra.h"
#include "ir/expr/memory.h"
#include "ir/nest/nest.h"

typedef enum CodeKind {
    CODE_SEQ, CODE_SCOPE, CODE_FOR, CODE_IF, CODE_LET, CODE_LOCAL, CODE_STORE, CODE_CALL
} CodeKind;

typedef struct Code Code;
struct Code {
    CodeKind kind;
    int child_count; const Code *const *child;   /* SEQ; SCOPE, FOR: 1; IF: 1 or 2 */
    const Expr *var;                             /* FOR, LET: VAR_LOOP / VAR_LOCAL variable */
    const Expr *begin, *end;                     /* FOR: var = begin; var < end; var += step */
    int64_t step;
    LoopKind loop_kind;
    const Expr *cond;                            /* IF */
    const Memory *memory;                        /* LOCAL: declared here; STORE: where */
    /* STORE memory[index] = value; LET var = value (value is const in its scope) */
    const Expr *index, *value;
    const char *text;                            /* CALL: macro name; NOTE: comment */
    /* CALL; its child, where it has one, is for compilers without the macro */
    const Expr *const *args; int arg_count;
};

typedef struct Function {
    const char *name;            /* C identifier without the model's prefix: "conv_1" */
    int size_count; const Expr *const *size;     /* symbolic sizes, int32_t parameters, first */
    /* What differs among the layers that share it, int32_t parameters, next */
    int number_count; const Expr *const *number;
    /* Parameters in order: inputs, constants (as inputs), scratch, outputs */
    int memory_count; const Memory *const *memory;
    bool may_alias;              /* where it is called, inputs and outputs may lie over each other: no restrict */
    bool no_inline;              /* a compiler should not make it part of its caller */
    const Code *body;
    const char *const *comment; int comment_count;   /* lines above it: formula, shapes, schedule */
} Function;

const Code *code_seq(Ctx *cx, const Code *const *child, int count);      /* flattens; drops NULLs */
/* What is declared in the body is its own: a loop of one iteration leaves this. The body itself where it declares nothing. */
const Code *code_scope(Ctx *cx, const Code *body);
const Code *code_for(Ctx *cx, const Expr *var, const Expr *begin, const Expr *end, int64_t step, LoopKind kind,
                     const Code *body);
const Code *code_if(Ctx *cx, const Expr *cond, const Code *yes, const Code *no);
const Code *code_let(Ctx *cx, const Expr *var, const Expr *value);
const Code *code_local(Ctx *cx, const Memory *m);
const Code *code_store(Ctx *cx, const Memory *m, const Expr *index, const Expr *value);
const Code *code_call(Ctx *cx, const char *macro, const Expr *const *args, int count);
const Code *code_call_or(Ctx *cx, const char *macro, const Expr *const *args, int count, const Code *otherwise);

typedef const Code *CodeVisit(Ctx *cx, const Code *c, void *user);
const Code *code_with_children(Ctx *cx, const Code *c, const Code *const *child);  /* c over as many others */
const Code *code_rewrite(Ctx *cx, const Code *c, CodeVisit *visit, void *user);   /* bottom-up, sharing what stays */
/* Every expression, by expr_rewrite */
const Code *code_map_exprs(Ctx *cx, const Code *c, ExprVisit *visit, void *user);
const Code *code_substitute(Ctx *cx, const Code *c, const Expr *from, const Expr *to);
/* A copy that may stand beside the original in one scope: its LETs are fresh. Memories are shared: copies run one after the
 * other, and each writes what it reads; a memory declared again in the scope of its declaration is the same memory. */
const Code *code_fresh(Ctx *cx, const Code *c);
int64_t code_size(const Code *c);                                        /* stores, calls and lets: what a copy costs */
/* What holds inside a loop, and inside a branch: for simplify and the other questions of algebra.h. */
const Bounds *code_bounds(Ctx *cx, const Bounds *outer, const Code *loop);
const Bounds *code_fact(Ctx *cx, const Bounds *outer, const Expr *fact);
/* The conjuncts of a condition, in order; their number. */
int conjuncts(const Expr *cond, const Expr **out, int room);
#endif
