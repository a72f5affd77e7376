/* SPDX-License-Identifier: MIT */
#ifndef LW_IR_CHECK_PARTS_H
#define LW_IR_CHECK_PARTS_H
/* What the checker's files share. A nest is looked at as its sites: the blocks, each with the loops above it. An If over
 * sizes makes two nests of it, one for each branch, with the condition as a fact. */
#include "ir/algebra/algebra.h"
#include "ir/check/check.h"
#include "support/text.h"

typedef struct Site {
    const Stmt *block;
    /* Root first; turn: which child of path[i] is path[i + 1] */
    int depth; const Stmt *const *path; const int *turn;
    int loop_count; const Stmt *loop[MAX_DEPTH];                  /* outermost first */
    /* Loop i is made from the axes of the block's stage */
    bool is_own[MAX_DEPTH];
    const Bounds *scope, *inside;                                 /* the loops and facts; with the guard, too */
} Site;

/* A read in a stage, under the conditions of the selects around it. */
typedef struct SiteAccess { const Expr *read; const Bounds *facts; } SiteAccess;

typedef struct StageSites {
    const Stage *stage;
    int site_count; Site **site;             /* in order of text */
    int access_count; SiteAccess *access;
} StageSites;

typedef struct Checker {
    Ctx *cx;
    const Nest *nest;
    int site_count; Site **site;
    int stage_count; StageSites *stage;      /* in the order of nest->stage */
    const Bounds *facts;                     /* the conditions of the branches taken; over sizes */
    Refusal refusal;                         /* verdict PROVED: none yet */
} Checker;

/* Keeps the first refusal: the fault, and what would be accepted, a noun phrase. False, so that a check can return it.
 * */
bool check_fail(Checker *c, Verdict v, FaultKind kind, const char *accepted, const char *fault, ...);
/* The same about a ring buffer; `reads` says which reads or writes it does not hold. */
bool check_ring_fail(Checker *c, const Tensor *t, int dimension, int64_t ring, const char *accepted, const char *reads);
/* The same of a nest that is none, which only a text or a fault of ours can give: no step leads there. */
bool check_form(Checker *c, const char *fault, ...);

/* The sites of the nest with If number i going to its second branch where bit i of `branches` is set. */
bool check_gather(Checker *c, unsigned branches);
int check_if_count(const Stmt *root);

const StageSites *check_producer(const Checker *c, const Tensor *t);            /* NULL: an input or constant */
int check_common_loops(const Site *a, const Site *b);                        /* loops around both */
/* Then they share the points of one iteration of them out */
bool check_same_hosts(const Site *a, const Site *b);
bool check_stands_before(const Site *a, const Site *b);                      /* in the text; false for a == b */
const Stmt *check_alloc(const Site *s, const Tensor *t, int *loops_outside); /* NULL: none around the site */
/* A stage over an axis of size 0, in a loop of no iterations: nothing to make */
bool check_is_empty(const Site *s);
/* Then the box, which has no points; false: it is not */
bool check_empty_box(Checker *c, const Site *s, Box *box);
bool check_is_reduced(const Stage *s);
/* Does it depend on elements of a tensor? */
bool check_is_data(const Expr *index);

/* The box that a site makes in one iteration of its first `shared` loops. Axes: all of the stage, or data for an init.
 * *repeats: a loop that makes points again. False: it is no box; the reason is in *why. */
bool check_box(Checker *c, const Site *s, int shared, Box *box, const Expr **repeats, const char **why);
/* Copies that share the points out: boxes of the same axes joined to one. False where they leave a gap or overlap. */
bool check_join(Checker *c, Box (*box)[MAX_AXES], int count, int axes, const Bounds *scope);
/* The union of a box over a loop outside of it, in place; false where it cannot be shown to be a box. */
bool check_widen(Checker *c, Box *box, int axes, const Stmt *loop, const Bounds *scope);

/* A loop, or two carriers, one in the other, that count as one. */
typedef struct Carrier {
    const char *name;                          /* of a loop; of two the outer */
    const Expr *var, *extent;
    const struct Carrier *outer, *inner;       /* NULL: it is a loop */
} Carrier;
Carrier carrier_of(const Stmt *loop);
Carrier carrier_join(Ctx *cx, const Carrier *outer, const Carrier *inner);     /* the inner one's extent is constant */
/* An expression, and a scope, in terms of the carrier's variable. */
const Expr *carrier_value(Ctx *cx, const Expr *e, const Carrier *s, const Bounds *scope);
const Bounds *carrier_scope(Ctx *cx, const Bounds *b, const Carrier *s);

bool check_points(Checker *c);       /* I1, I2 */
bool check_flow(Checker *c);         /* I3, I4 */
bool check_kinds(Checker *c);        /* I5 */
bool check_domains(Checker *c);      /* I6 */
#endif
