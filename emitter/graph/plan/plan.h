/* SPDX-License-Identifier: MIT */
#ifndef LW_GRAPH_PLAN_H
#define LW_GRAPH_PLAN_H
/* From calls to functions over one arena: fused groups, the schedule of each, and where every tensor is stored. */
#include "graph/dag/graph.h"

/* Fusion by pattern kind on the dominator tree (catalogue 7.2): every call is in one group; order is that of execution. */
typedef struct Groups { int count; Group *at; } Groups;
Groups fuse(Ctx *cx, const Graph *g);
/* The groups in an order in which those of one device follow one another as far as the values allow. */
Groups groups_by_device(Ctx *cx, Groups groups);
const char *group_ops_text(Ctx *cx, const Group *g, const char *between);     /* "conv2d + add + relu" */
const char *group_device(const Group *g);        /* NULL: here */
/* The group's computes: outputs in the group's order, over stand-ins of its inputs, which go to input[input_count]. Names
 * tell roles, not places in the model, so that equal groups read the same; *anchor is the stage that makes the anchor's
 * first output. NULL on error. */
Tensor **group_expand(Ctx *cx, const Group *g, const Implementation *with, Tensor **input, const char **anchor);

/* The same over tensors that are computes already: *made maps a tensor of the graph to the one that stands for it, and
 * grows. The group is the part of its stages, and its name and '_' the prefix of their names; *taken holds the names of
 * the whole nest, and *local maps a name of the group alone, of a stage or an input's role, to the one there. */
bool group_expand_into(Ctx *cx, const Group *g, const Implementation *with, Map *taken, Map *made, Map *local);
/* The role of a tensor from outside in the first call of the group that reads it, "x" or "bias"; NULL: none does. */
const char *group_role(Ctx *cx, const Group *g, const Tensor *t);

/* ---- Strategies -------------------------------------------------------------------------------------------------- */

/* `SIGNATURE IMPLEMENTATION` line by line: what the record names comes before all others, where it applies. */
bool tuning_read(Ctx *cx, const char *path);
void tuning_check(Ctx *cx);                /* once all groups are scheduled: a record that has no effect is an error */

/* The nest that this row gives; NULL, without a diagnostic, where it is not for the group on that target. */
const Nest *implementation_nest(Ctx *cx, const Group *g, const Target *t, const Implementation *i);
/* Picks and applies. *chosen (may be NULL) gets the row. `explain` (may be NULL) gets what was considered and why. */
const Nest *group_naive(Ctx *cx, const Group *g, const Target *t, const Implementation *with);     /* before any step */
const Nest *strategy_schedule(Ctx *cx, const Group *g, const Target *t, const Implementation **chosen, Text *explain);

/* ---- Memory ------------------------------------------------------------------------------------------------------ */

/* Where every tensor between groups lies. Views (reshapes, operands of concatenations) share their root's memory, and
 * so does an elementwise output that takes its dying input's place. */
typedef enum SlotKind { SLOT_INPUT, SLOT_OUTPUT, SLOT_CONST, SLOT_ARENA } SlotKind;
typedef struct Slot Slot;
struct Slot {
    const Tensor *tensor, *root;       /* root: the tensor whose memory it is in; itself unless a view */
    SlotKind kind; int index;          /* of the root among inputs, outputs or constants */
    bool in_arena;                     /* ARENA, and inputs and outputs that the caller keeps there */
    int64_t offset;                    /* in_arena: bytes from the arena's start to the root */
    int64_t view_offset;               /* elements from the root's start */
    int64_t stride[MAX_RANK];          /* elements */
    int first, last;                   /* groups between which it is alive, inclusive; its memory: while any slot of it is */
    Slot *next;                        /* another slot of the same root; the list begins with the root's own */
};
/* The root x is read for the last time by the group that makes the root y, which may begin `lead` bytes before x or earlier. */
typedef struct Lead { const Tensor *x, *y; int group; int64_t bytes; } Lead;
typedef struct Plan {
    int slot_count; Slot *slot;
    Map of;                            /* of a tensor: its slot */
    int64_t arena_size, align;         /* bytes; what is wanted more than 16 is set before plan_place */
    int64_t live_bound;                /* bytes: the largest sum of roots alive at once, in the arena; what lies over another counts once */
    int64_t *alive;                    /* [groups] the same of what is alive in each */
    int constant_count; const Tensor **constant;
    bool *is_free;                     /* [groups]: a view or concatenation that costs nothing: no function is made of it */
    bool *in_place;                    /* [groups]: an input shares the output's memory */
    int lead_count; Lead *lead;        /* set before plan_place */
    bool *overlaps;                    /* [groups]: the output lies over a part of an input; NULL: none does */
} Plan;
typedef struct Scratch { int64_t bytes, align, offset; } Scratch;       /* memory that one group needs for itself */
/* Before lowering: who shares whose memory, and how. nest[i] is the scheduled nest of group i. */
Plan plan_views(Ctx *cx, const Graph *g, const Groups *groups, const Nest *const *nest);
/* After lowering: offsets in the arena. scratch[i][0..count[i]) of group i get theirs too. */
void plan_place(Ctx *cx, Plan *p, int group_count, Scratch *const *scratch, const int *count);
bool plan_is_whole(const Slot *s);                                      /* it has all of its root, densely */
const Slot *plan_slot(const Plan *p, const Tensor *t);                  /* NULL: not between groups */
#endif
