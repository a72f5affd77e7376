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
    Map *added;          /* results of combine_add and combine_copies, for a search that repeats a question; or NULL */
} CombineInput;

typedef enum AttachForm {
    /* Keeps the loops of the part's strategy; the outermost one covers only the rows that are read where the part is
     * attached. */
    ATTACH_KEPT,
    /* Makes new loops over the elements that are read there, and replays the part's steps on these loops. */
    ATTACH_NEW,
    ATTACH_INLINE,                   /* for a view: its consumers read its operand instead */
    /* whole, before the loops of its consumers; this saves no memory, and is always possible. */
    ATTACH_BEFORE,
} AttachForm;

/* How a part is computed inside the loops of its consumers. */
typedef struct Attachment {
    AttachForm form;
    /* A loop of the combined nest; NULL for the outermost loop over the master's data. */
    const char *loop;
    bool is_local;                   /* stored inside one iteration of the loop; otherwise in a ring of the live rows */
    int64_t slots;                   /* the slots of the ring; 0 for the fewest */
} Attachment;

/* Groups in one nest. The last group is the master: it keeps its loops at the root, and every other group is attached
 * in loops of its consumers. */
typedef struct Combination {
    int count; const int *part;      /* the groups, in ascending order */
    const Attachment *how;           /* [count]; the entry of the master is unused */
    /* The number of iterations of the master's outermost loop that are merged into one. */
    int64_t iterations;
    bool is_tight;                   /* no ring is rounded up to a power of two */
    /* [count] in the nest: the loop where each part is attached, and the part's last stage. */
    const char *const *loop, *const *result;
    const Nest *nest;
    /* The merged group; it has no anchor, and its inputs and outputs are the nest's, in order. */
    Group group;
} Combination;

/* A combination with its loads, stores and multiply-adds (`work`) and the bytes of the buffers inside its nest. */
typedef struct Choice { Combination with; int64_t work, bytes; } Choice;


/* Returns the combination of a single group. */
Combination combine_alone(const CombineInput *in, int group);
/* Adds a group whose consumers are all parts. Tries every loop that encloses these consumers, with kept and with new
 * loops, with and without a ring. Returns the number of combinations in out[most]. The outermost combination that
 * computes no element twice comes first, then the combinations with less storage, each with rounded and with tight
 * rings. If there is none, out[] has the combination that repeats the least. Returns 0 and sets *why if all are
 * refused. A view, which costs nothing in its own group, is inlined or refused. */
enum { MOST_CHOICES = 8 };
int combine_add(const CombineInput *in, const Combination *now, int group, bool is_view, int most, Choice *out,
                const char **why);
/* In place of `most`: one combination, in the master's outermost loop, with the group's own loops. */
enum { BY_ROWS = 0 };
/* Adds a group without a common loop, to count the cost of that. Returns false if its steps do not apply. */
bool combine_before(const CombineInput *in, const Combination *now, int group, Combination *out);
/* Returns the combination whose copied statements are within the budget: guards of several parts come together in one
 * loop, and copies of this loop without guards are faster. The target's own budget applies if it is larger, or not
 * limited. */
Combination combine_copies(const CombineInput *in, const Combination *c, int64_t budget);
/* Appends a line per part: its loop, and the rows stored. */
void combine_explain(const CombineInput *in, const Combination *c, Text *t);
/* Returns the combined nest before any step, for steps given by the user. `master` is an index into part. */
const Nest *schedule_combine_naive(Ctx *cx, const Graph *g, const Groups *groups, const int *part, int count,
                                   int master, const Target *t, Group *merged);
#endif
