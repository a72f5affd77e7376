/* SPDX-License-Identifier: MIT */
#ifndef LW_IR_CHECK_CHECK_PARTS_H
#define LW_IR_CHECK_CHECK_PARTS_H
/* Shared by the checker's files. A nest is analysed as its sites. A site is a block with the loops above it. An If over
 * sizes yields two nests, one per branch, with the condition as a fact. */
#include "ir/algebra/algebra.h"
#include "ir/check/check.h"
#include "support/text.h"

typedef struct Site {
    const Stmt *block;
    /* The path, root first; path[i + 1] is child number child[i] of path[i]. */
    int depth; const Stmt *const *path; const int *child;
    int loop_count; const Stmt *loop[MAX_DEPTH];                  /* outermost first */
    /* [loop_count]: true if loop i runs over axes of the block's stage. */
    bool is_own[MAX_DEPTH];
    /* The loops and facts around the block; `inside` also has its guard. */
    const Bounds *scope, *inside;
} Site;

/* A read in a stage, under the conditions of the selects around it. */
typedef struct SiteAccess { const Expr *read; const Bounds *facts; } SiteAccess;

typedef struct StageSites {
    const Stage *stage;
    int site_count; Site **site;             /* the sites in order of the text */
    int access_count; SiteAccess *access;
} StageSites;

typedef struct Checker {
    Ctx *cx;
    const Nest *nest;
    int site_count; Site **site;
    int stage_count; StageSites *stage;      /* the stages in the order of nest->stage */
    const Bounds *facts;                     /* the conditions of the branches that were taken, over sizes */
    Refusal refusal;                         /* the first refusal; its verdict is PROVED while there is none */
} Checker;

/* Stores the first refusal: the fault as a clause, and the accepted alternative as a noun phrase. Returns false. */
bool check_fail(Checker *c, Verdict v, FaultKind kind, const char *accepted, const char *fault, ...);
/* Like check_fail, for a ring buffer. `reads` is a verb phrase that names the accesses that the ring does not hold. */
bool check_ring_fail(Checker *c, const Tensor *t, int dimension, int64_t ring, const char *accepted, const char *reads);
/* Like check_fail, for a malformed nest. Only a text or an internal fault produces such a nest, never a step. */
bool check_form(Checker *c, const char *fault, ...);

/* Gathers the sites of the nest. The If with number i takes its second branch if bit i of `branches` is set. */
bool check_gather(Checker *c, unsigned branches);
int check_if_count(const Stmt *root);

/* Returns the sites of the stage that computes the tensor, or NULL for an input or constant. */
const StageSites *check_producer(const Checker *c, const Tensor *t);
/* Returns the number of loops around both sites. */
int check_common_loops(const Site *a, const Site *b);
/* Returns true if both sites have the same host loops; they then partition the points of one iteration of the hosts. */
bool check_same_hosts(const Site *a, const Site *b);
/* Returns true if a precedes b in the text; false for a == b. */
bool check_precedes(const Site *a, const Site *b);
/* Returns the Alloc of t around the site, or NULL if there is none. Counts the loops outside the Alloc. */
const Stmt *check_alloc(const Site *s, const Tensor *t, int *loops_outside);
/* Returns true for a stage over an axis of size 0, in a loop without iterations. */
bool check_is_empty(const Site *s);
/* Sets *box to a box without points and returns true if the site is empty. */
bool check_empty_box(Checker *c, const Site *s, Box *box);
bool check_is_reduced(const Stage *s);
/* Returns true if a reduce axis of the block depends on the variable; false for an init, which has no reduce axes. */
bool check_feeds_reduction(const Stmt *block, const Expr *var);
int check_axes_of(const Site *s);                    /* returns the number of axes that the site's block binds */
/* Returns true if the index depends on elements of a tensor. */
bool check_is_data(const Expr *index);

/* Finds the box that a site computes in one iteration of its first `shared` loops. The box has all axes of the stage,
 * or only the data axes for an init. *repeats receives the loops that repeat points. Returns false if the points form
 * no box; *why is then the reason. */
bool check_box(Checker *c, const Site *s, int shared, Box *box, Repeats *repeats, const char **why);
/* Finds the box that several sites, at most MAX_SITES, compute together, in one iteration of the first `shared` loops
 * of each. */
enum { MAX_SITES = 32 };
bool check_sites_box(Checker *c, const Site *const *site, int count, int shared, const Bounds *scope, Box *out,
                     const char **why);
/* Joins the boxes of copies that partition the points. Returns false where the boxes leave a gap or overlap. */
bool check_join(Checker *c, Box (*box)[MAX_AXES], int count, int axes, const Bounds *scope);
/* Widens a box, in place, to its union over the iterations of a loop outside it. Returns false if the union is not
 * proved to be a box. */
bool check_widen(Checker *c, Box *box, int axes, const Stmt *loop, const Bounds *scope);

/* A loop, or two nested carriers that are treated as one loop. */
typedef struct Carrier {
    const char *name;                          /* the name of the loop, or of the outer loop if there are two */
    const Expr *var, *extent;
    const struct Carrier *outer, *inner;       /* the two loops, or NULL for a single loop */
} Carrier;
Carrier carrier_of(const Stmt *loop);
/* Returns the two loops as one carrier. The inner loop's extent must be constant. */
Carrier carrier_join(Ctx *cx, const Carrier *outer, const Carrier *inner);
/* Rewrite an expression, and a scope, in terms of the carrier's variable. */
const Expr *carrier_value(Ctx *cx, const Expr *e, const Carrier *s, const Bounds *scope);
const Bounds *carrier_scope(Ctx *cx, const Bounds *b, const Carrier *s);

/* Proves that the call can replace the statement below it; `above` encloses the statement (check_external.c). */
bool check_external(Checker *c, const Stmt *const *above, int depth, const Stmt *tile);
bool check_points(Checker *c);       /* proves I1 and I2 */
bool check_flow(Checker *c);         /* proves I3 and I4 */
bool check_kinds(Checker *c);        /* proves I5 */
bool check_domains(Checker *c);      /* proves I6 */
bool check_async(Checker *c);        /* proves I7 and I8 */
bool check_memories(Checker *c);     /* proves I9 and I10 */
bool check_sizes(Checker *c);        /* proves I12 */
bool check_order(Checker *c);        /* proves I13 */
#endif
