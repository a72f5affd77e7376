/* SPDX-License-Identifier: MIT */
#ifndef LW_LOWER_ANNOTATE_PARTS_H
#define LW_LOWER_ANNOTATE_PARTS_H
/* The parts of lower/annotate.c: the walk, the bounds of elements, the written elements. */
#include "lower/passes/passes.h"

enum { MOST_TERMS = 6, MOST_SEGMENTS = 12, MOST_WRITTEN = 16, MOST_TRACKED = 32 };

/* Bounds of a value: [low, high], and for each term its bounds times the number of steps, which is at least 0. */
typedef struct Sum {
    bool is_known;
    int64_t low, high;
    int term_count;
    struct { const Expr *steps; int64_t low, high; } term[MOST_TERMS];
} Sum;

/* The elements [from, to) of a memory have values within the sum. */
typedef struct Segment { const Expr *from, *to; Sum sum; } Segment;
/* The segments in order; `current` is the one that the code at this point changes. */
typedef struct Values { int count, current; Segment at[MOST_SEGMENTS]; } Values;

typedef struct Areas { int count; Area at[MOST_WRITTEN]; } Areas;

/* A memory whose elements the walk follows: a local array, a variable, an output or scratch. */
typedef struct Tracked { const Memory *memory; Values values; Areas written; } Tracked;

typedef struct Annotator {
    Ctx *cx;
    const Function *f;
    const Interval *range;             /* bounds of the parameters' elements */
    const Bounds *scope;
    Lets lets;
    int tracked_count;
    Tracked tracked[MOST_TRACKED];
    int loop_count;                    /* the number of the next loop */
    Clauses clauses;
} Annotator;

/* ---- annotate_queries.c ---------------------------------------------------------------------------------------- */

void add_clause(Annotator *a, const Clause *c);
/* Returns the expression over loops and sizes, without names of values. */
const Expr *with_named_values(const Annotator *a, const Expr *e);
/* Returns the index of the store in the base of its memory. */
const Expr *store_index(const Annotator *a, const Code *store);
void name_value(Annotator *a, const Code *let);
int find_parameter(const Function *f, const Memory *m);      /* memory_count if it is none */
Tracked *find_tracked(Annotator *a, const Memory *m);
bool stores_to(const Code *c, const Memory *m);
int64_t most_trips(Annotator *a, const Code *loop);
bool runs_once(Annotator *a, const Code *loop);     /* proves that the loop has an iteration */

/* ---- annotate_values.c ------------------------------------------------------------------------------------------- */

Values values_unknown(Annotator *a, const Memory *m);
void values_store(Annotator *a, Tracked *t, const Code *store);
/* Sets the values at the head of a loop, at the start of its body, and after it. The scope is the body's. */
typedef struct LoopValues { Values head, body, after; } LoopValues;
LoopValues values_loop(Annotator *a, const Tracked *t, const Code *loop);
void values_branch(Annotator *a, Tracked *t, const Code *branch);
void values_clauses(Annotator *a, const Memory *m, const Values *v, int loop);
/* Adds the bounds of each product of integers that the store computes. */
void product_clauses(Annotator *a, const Code *store);

/* ---- annotate_written.c ------------------------------------------------------------------------------------------ */

/* Adds the elements that the code writes, as far as they form areas. */
void written_by(Annotator *a, const Code *c, const Memory *m, Areas *out);
/* Adds the parts that earlier iterations of the loop have written when an iteration begins, derived from the writes of
 * its body. */
void written_before(Annotator *a, const Code *loop, const Areas *by_body, Areas *out);
void written_clauses(Annotator *a, const Memory *m, const Areas *r, int loop);
bool written_whole(Annotator *a, const Memory *m, const Areas *r);
Area area_of_all(Annotator *a, const Memory *m);
#endif
