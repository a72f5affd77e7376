/* SPDX-License-Identifier: MIT */
#ifndef LW_GRAPH_PLAN_COMBINE_H
#define LW_GRAPH_PLAN_COMBINE_H
/* Combines several groups of one DAG into one loop nest; each keeps the schedule that its strategy chose. */
#include "graph/plan/plan.h"
#include "ir/check/cost.h"

/* The groups of a graph and their nests: alone[i] is scheduled by chosen[i]. */
typedef struct CombineInput {
    Ctx *cx;
    const Graph *graph;
    const Groups *groups;
    const Nest *const *alone;
    const Implementation *const *chosen;
    const Target *target;
    Map *added;          /* results of combine_add and combine_copies, for a search that asks again; NULL: none */
} CombineInput;

typedef enum AttachForm {
    ATTACH_KEPT,                     /* in its strategy's loops, of which the outermost runs over the rows read there */
    ATTACH_NEW,                      /* in new loops over the elements read there; its steps are replayed on them */
    ATTACH_INLINE,                   /* a view: its consumers read its operand */
    ATTACH_BEFORE,                   /* whole, before the loops of its consumers: nothing is saved, and all can be */
} AttachForm;

/* How a part is computed inside the loops of its consumers. */
typedef struct Attachment {
    AttachForm form;
    const char *loop;                /* of the combined nest; NULL: the outermost loop over the master's data */
    bool is_local;                   /* stored inside one iteration of the loop; else in a ring of the live rows */
    int64_t slots;                   /* of the ring; 0: the fewest */
} Attachment;

/* Groups in one nest. The last one is the master: it keeps its loops at the root, and every other one is attached in
 * loops of its consumers. */
typedef struct Combination {
    int count; const int *part;      /* groups, ascending */
    const Attachment *how;           /* [count]; the master's is unused */
    int64_t iterations;              /* of the master's outermost loop that are merged into one */
    bool is_tight;                   /* no ring is rounded up to a power of two */
    const char *const *loop, *const *result;         /* [count] in the nest: where it is attached, and its last stage */
    const Nest *nest;
    Group group;                     /* has no anchor; inputs and outputs are those of the nest, in order */
} Combination;

/* A combination, its loads, stores and multiply-adds, and the bytes of the buffers inside its nest. */
typedef struct Choice { Combination with; int64_t work, bytes; } Choice;


/* A group alone. */
Combination combine_alone(const CombineInput *in, int group);
/* Combines around the last part, each other part attached to the master's outermost loop row by row with its own loops
 * and without a warm-up. False if a part refuses. */
bool combine_rows(const CombineInput *in, const int *part, int count, Combination *out);
/* Adds a group of which all consumers are parts. Tries every loop that encloses these consumers, with kept and with new
 * loops, in a ring and without one. Returns the number of combinations in out[most]: the outermost one that
 * computes nothing twice, then those with less storage, each with rounded and with tight rings; if there is none, the
 * one that repeats the least. 0 and *why if all are refused. A view, which costs nothing alone, is inlined or refused.
 */
enum { MOST_CHOICES = 8 };
int combine_add(const CombineInput *in, const Combination *now, int group, bool is_view, int most, Choice *out,
                const char **why);
/* Adds a group without a common loop, to count what that costs. False if its steps do not apply. */
bool combine_before(const CombineInput *in, const Combination *now, int group, Combination *out);
/* Returns the combination with that many copied statements: guards of several parts meet in one loop, and copies of it
 * without guards run faster. The target's own number if that is larger, or not limited. */
Combination combine_copies(const CombineInput *in, const Combination *c, int64_t budget);
/* Appends a line per part: its loop, and the rows stored. */
void combine_explain(const CombineInput *in, const Combination *c, Text *t);
/* Returns the combined nest before any step, for steps given by the user. `master` is an index into part. */
const Nest *schedule_combine_naive(Ctx *cx, const Graph *g, const Groups *groups, const int *part, int count,
                                   int master, const Target *t, Group *merged);
#endif
