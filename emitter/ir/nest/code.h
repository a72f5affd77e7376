/* SPDX-License-Identifier: MIT */
#ifndef LW_IR_NEST_CODE_H
#define LW_IR_NEST_CODE_H
/* Lowered code: a nest with its storage decided; C in everything but spelling. Loops have a begin and an end, memory is
 * flat, values are expressions over LOADs and variables. emitter/lower creates and rewrites it, cgen prints it. */
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
    const char *pragma;                          /* FOR: macro of lw_base.h before the loop, set by the pass pragmas */
    const Expr *cond;                            /* IF */
    const Memory *memory;                        /* LOCAL: declared here; STORE: written */
    /* STORE: memory[index] = value; LET: var = value, const in its scope */
    const Expr *index, *value;
    const char *text;                            /* CALL: macro name */
    /* CALL: arguments of the macro; its child, if any, is the fallback for compilers without the macro */
    const Expr *const *args; int arg_count;
    /* CALL: of a C function, whose AT arguments are addresses; NULL: a macro */
    const struct External *external;
};

typedef struct Function {
    const char *name;            /* C identifier without the model's prefix: "conv_1" */
    int size_count; const Expr *const *size;     /* symbolic sizes, int32_t parameters, first */
    /* Values in which the layers that share the function differ; int32_t parameters, next */
    int number_count; const Expr *const *number;
    /* Parameters in order: inputs, constants (as inputs), scratch, outputs */
    int memory_count; const Memory *const *memory;
    bool may_alias;              /* inputs and outputs may alias in some call: no restrict */
    bool no_inline;              /* emitted with LW_NOINLINE */
    const Code *body;            /* never NULL: a function without effect has an empty CODE_SEQ */
    const char *const *comment; int comment_count;   /* comment lines above the function: formula, shapes, schedule */
} Function;

/* True if the parameter is `restrict`: no other one overlaps it while one of both is written. */
bool function_is_apart(const Function *f, const Memory *m);
const Code *code_seq(Ctx *cx, const Code *const *child, int count);      /* flattens; drops NULLs */
/* A scope for the declarations of the body; a loop of one iteration becomes this. Returns the body itself if it
 * declares nothing. */
const Code *code_scope(Ctx *cx, const Code *body);
const Code *code_for(Ctx *cx, const Expr *var, const Expr *begin, const Expr *end, int64_t step, LoopKind kind,
                     const Code *body);
/* The loop with this macro before it; NULL: the loop itself. Rewriting keeps the macro; code_for creates a loop without
 * one. */
const Code *code_with_pragma(Ctx *cx, const Code *loop, const char *macro);
const Code *code_if(Ctx *cx, const Expr *cond, const Code *yes, const Code *no);
const Code *code_let(Ctx *cx, const Expr *var, const Expr *value);
const Code *code_local(Ctx *cx, const Memory *m);
const Code *code_store(Ctx *cx, const Memory *m, const Expr *index, const Expr *value);
const Code *code_call(Ctx *cx, const char *macro, const Expr *const *args, int count);
const Code *code_external(Ctx *cx, const struct External *e, const char *function, const Expr *const *args, int count);
/* The call with other arguments and, where it has one, another fallback. */
const Code *code_call_with(Ctx *cx, const Code *call, const Expr *const *args, const Code *otherwise);
const Code *code_call_or(Ctx *cx, const char *macro, const Expr *const *args, int count, const Code *otherwise);

typedef const Code *CodeVisit(Ctx *cx, const Code *c, void *user);
const Code *code_with_children(Ctx *cx, const Code *c, const Code *const *child);  /* c with other children, as many */
/* c with map(e) for each of its expressions; children and declared memories stay */
const Code *code_with_exprs(Ctx *cx, const Code *c, ExprVisit *map, void *user);
const Code *code_rewrite(Ctx *cx, const Code *c, CodeVisit *visit, void *user);   /* bottom-up; shares unchanged code */
/* Rewrites every expression by expr_rewrite */
const Code *code_map_exprs(Ctx *cx, const Code *c, ExprVisit *visit, void *user);
const Code *code_substitute(Ctx *cx, const Code *c, const Expr *from, const Expr *to);
/* Copies code for use in the same scope as the original: its LETs get new variables. Memories are shared: the copies
 * run in sequence, and each writes before it reads; a second declaration of a memory in one scope denotes the same
 * memory. */
const Code *code_fresh(Ctx *cx, const Code *c);
/* Number of stores, calls and lets: the cost of a copy */
int64_t code_size(const Code *c);
bool code_may_stop(const Code *c);   /* a C function in it has a status that ends the run */
/* Extends the scope by the facts inside a loop, or of a branch, for the functions of algebra.h. */
const Bounds *code_bounds(Ctx *cx, const Bounds *outer, const Code *loop);
const Bounds *code_fact(Ctx *cx, const Bounds *outer, const Expr *fact);
/* Collects the conjuncts of a condition, in order; returns their number. */
int conjuncts(const Expr *cond, const Expr **out, int capacity);
#endif
