/* SPDX-License-Identifier: MIT */
#ifndef LW_IR_NEST_CODE_H
#define LW_IR_NEST_CODE_H
/* Lowered code is a nest whose storage is decided. Lowered code is C in everything except spelling: loops have a begin
 * and an end, memory is flat, values are expressions over LOADs and variables. emitter/lower creates and rewrites the
 * code, and cgen prints it. */
#include "ir/algebra/algebra.h"
#include "ir/expr/memory.h"
#include "ir/nest/annotation.h"
#include "ir/nest/nest.h"

typedef enum CodeKind {
    CODE_SEQ, CODE_SCOPE, CODE_FOR, CODE_IF, CODE_LET, CODE_LOCAL, CODE_STORE, CODE_CALL
} CodeKind;

/* A field of configuration of a unit, the macro that sets it, and the value that an instruction requires. */
typedef struct FieldValue { const char *field, *macro; const Expr *value; } FieldValue;

typedef struct Code Code;
struct Code {
    CodeKind kind;
    int child_count; const Code *const *child;   /* any number in a SEQ; 1 in a SCOPE or FOR; 1 or 2 in an IF */
    const Expr *var;                             /* FOR, LET: the variable, a VAR_LOOP or VAR_LOCAL */
    const Expr *begin, *end;                     /* FOR: var = begin; var < end; var += step */
    int64_t step;
    LoopKind loop_kind;
    bool takes_addresses;                        /* CALL: the AT arguments of the macro are addresses */
    /* FOR: a macro of lw_base.h before the loop, which the pass pragmas sets. */
    const char *pragma;
    const Expr *cond;                            /* IF: the condition */
    const Memory *memory;                        /* LOCAL: the memory declared here; STORE: the memory written */
    /* STORE: memory[index] = value; LET: var = value, which is const in its scope. */
    const Expr *index, *value;
    const char *text;                            /* CALL: the name of the macro */
    /* CALL: the arguments of the macro. The child of a CALL, if any, is the fallback for compilers without the
     * macro. */
    const Expr *const *args; int arg_count;
    /* CALL: the values that the instruction requires, until lower/expand/configure.c has placed the macros that set
     * them; and the field that the macro sets to its argument, or NULL. */
    int need_count; const FieldValue *need;
    const char *sets;
    /* CALL: the C function that is called, whose AT arguments are addresses; NULL for a macro. */
    const struct External *external;
};

typedef struct Function {
    const char *name;            /* a C identifier without the model's prefix: "conv_1" */
    int size_count; const Expr *const *size;     /* symbolic sizes, which are the first parameters (int32_t) */
    /* The numbers that differ between the layers that share the function. The numbers are the next parameters
     * (int32_t). */
    int number_count; const Expr *const *number;
    /* The parameters in order: inputs, constants (as inputs), scratch, outputs. */
    int memory_count; const Memory *const *memory;
    /* True if inputs and outputs may alias in some call, so that no parameter is restrict. */
    bool may_alias;
    bool no_inline;              /* emitted with LW_NOINLINE */
    const Code *body;            /* never NULL; a function without effect has an empty CODE_SEQ */
    /* The comment lines above the function: formula, shapes, schedule. */
    const char *const *comment; int comment_count;
    Clauses clauses;             /* with --acsl: the annotations of the function and its loops */
} Function;

/* Returns true if the parameter is `restrict`: no other parameter overlaps it while one of the two is written. */
bool function_is_apart(const Function *f, const Memory *m);
const Code *code_seq(Ctx *cx, const Code *const *child, int count);      /* flattens nested sequences and drops NULLs */
/* Returns a scope for the declarations of the body; a loop of one iteration becomes such a scope. Returns the body
 * itself if it declares nothing. */
const Code *code_scope(Ctx *cx, const Code *body);
const Code *code_for(Ctx *cx, const Expr *var, const Expr *begin, const Expr *end, int64_t step, LoopKind kind,
                     const Code *body);
/* Returns the loop with this macro before it, or the loop itself if macro is NULL. Rewriting keeps the macro; code_for
 * creates a loop without a macro. */
const Code *code_with_pragma(Ctx *cx, const Code *loop, const char *macro);
const Code *code_if(Ctx *cx, const Expr *cond, const Code *yes, const Code *no);
const Code *code_let(Ctx *cx, const Expr *var, const Expr *value);
const Code *code_local(Ctx *cx, const Memory *m);
const Code *code_store(Ctx *cx, const Memory *m, const Expr *index, const Expr *value);
const Code *code_call(Ctx *cx, const char *macro, const Expr *const *args, int count);
/* Like code_call, for a macro whose AT arguments are addresses. */
const Code *code_call_at(Ctx *cx, const char *macro, const Expr *const *args, int count);
const Code *code_external(Ctx *cx, const struct External *e, const char *function, const Expr *const *args, int count);
/* Returns the call with other arguments and, if it has a fallback, with a different fallback. */
const Code *code_call_with(Ctx *cx, const Code *call, const Expr *const *args, const Code *otherwise);
/* Returns a call of the macro that sets a field. Without the macro, nothing is executed. */
const Code *code_set(Ctx *cx, const FieldValue *f);
/* Returns the call with the values that it requires. */
const Code *code_needing(Ctx *cx, const Code *call, const FieldValue *need, int count);
const Code *code_call_or(Ctx *cx, const char *macro, const Expr *const *args, int count, const Code *otherwise);

typedef const Code *CodeVisit(Ctx *cx, const Code *c, void *user);
/* Returns c with other children, of the same number. */
const Code *code_with_children(Ctx *cx, const Code *c, const Code *const *child);
/* Returns c with map(e) for each of its expressions. Children and declared memories stay. */
const Code *code_with_exprs(Ctx *cx, const Code *c, ExprVisit *map, void *user);
/* Rewrites code bottom-up and shares unchanged code. */
const Code *code_rewrite(Ctx *cx, const Code *c, CodeVisit *visit, void *user);
/* Rewrites every expression with expr_rewrite. */
const Code *code_map_exprs(Ctx *cx, const Code *c, ExprVisit *visit, void *user);
const Code *code_substitute(Ctx *cx, const Code *c, const Expr *from, const Expr *to);
/* Copies code for use in the same scope as the original: its LETs get new variables. Memories are shared, because the
 * copies run in sequence, and each writes before it reads. A second declaration of a memory in one scope denotes the
 * same memory. */
const Code *code_fresh(Ctx *cx, const Code *c);
/* Returns the number of stores, calls and lets, which is the cost of a copy. */
int64_t code_size(const Code *c);
bool code_may_stop(const Code *c);   /* returns true if a C function in the code has a status that ends the run */
/* Extends the scope by the facts inside a loop, or inside a branch, for the functions of algebra.h. */
const Bounds *code_bounds(Ctx *cx, const Bounds *outer, const Code *loop);
const Bounds *code_fact(Ctx *cx, const Bounds *outer, const Expr *fact);
/* Collects the conjuncts of a condition, in order; returns their number. */
int conjuncts(const Expr *cond, const Expr **out, int capacity);

/* The variables that CODE_LET declares before a statement, in order; a value may use the variables before it. */
enum { MOST_LETS = 256 };
typedef struct Lets { int count; const Expr *var[MOST_LETS], *value[MOST_LETS]; } Lets;
bool lets_add(Lets *l, const Code *let);         /* returns false if there is no room */
/* Returns the expression with the variables' values instead of the variables. */
const Expr *lets_replace(Ctx *cx, const Lets *l, const Expr *e);

/* Returns true if `is` holds for the code or a part of it, which includes the portable forms of macros. */
bool code_any(const Code *c, bool (*is)(const Code *c, const void *user), const void *user);
bool code_stores(const Code *c, const Memory *m);        /* returns true if a part stores to this memory by its name */
#endif
