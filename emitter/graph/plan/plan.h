/* SPDX-License-Identifier: MIT */
#ifndef LW_GRAPH_PLAN_PLAN_H
#define LW_GRAPH_PLAN_PLAN_H
/* From calls to functions over one arena: fused groups, the schedule of each, and the storage of every tensor. */
#include "graph/dag/graph.h"

/* Fuses by pattern on the dominator tree (fuse.c). Every call is in one group; groups are in execution order. */
typedef struct Groups { int count; Group *at; } Groups;
Groups fuse(Ctx *cx, const Graph *g);
Groups groups_of_calls(Ctx *cx, const Graph *g);             /* a group for each call, in order */
/* Moves each group that reads constants alone to its first reader. */
Groups groups_near_readers(Ctx *cx, Groups groups);
/* Reorders groups so that those of one device are consecutive as far as dependences allow. */
Groups groups_by_device(Ctx *cx, Groups groups);
/* Reorders the groups of a graph with updates: each follows all other groups that read what it overwrites. */
Groups groups_by_updates(Ctx *cx, const Graph *graph, Groups groups);
/* The groups in an order with few bytes live at once. */
Groups groups_by_memory(Ctx *cx, const Graph *graph, Groups groups);
const char *group_ops_text(Ctx *cx, const Group *g, const char *between);     /* "conv2d + add + relu" */
/* Advice for a word that names none of the groups: the group that has it as a node or part, a near name, `otherwise` */
const char *group_advice(Ctx *cx, const char *word, const Group *const *group, int count, const char *otherwise);
const char *group_device(const Group *g);        /* NULL: the host */
const CompositeMatch *group_match(const Group *g);           /* the device's composite; NULL: single calls, the host */
bool copies_between_devices(const Group *g);
/* The size whose value the group computes, which alone does so (op bind_size); NULL: it computes none */
const Expr *group_bound_size(const Group *g);
/* True for a cut along the first dimension with several elements: it begins where its operand does, and may alias it */
bool plan_is_front(const Node *n);
/* True if the groups belong to one function of a device. */
bool groups_are_together(const Group *a, const Group *b);
/* Constructs the group's computes: returns outputs in the group's order, over stand-ins of its inputs, which are stored
 * in input[input_count]. Names derive from roles, not from positions in the model, so equal groups have equal text.
 * `roles` (may be NULL) gets the names of the anchor's tensors. NULL on error. */
Tensor **group_expand(Ctx *cx, const Group *g, const Implementation *with, Tensor **input, GroupNest *roles);

/* Expands the group over tensors that are computes already. *made maps a tensor of the graph to its compute, and grows.
 * The group becomes the part of its stages; its name and '_' prefix their names. *taken holds the names of the whole
 * nest. *local maps the name of a stage or an input's role in only this group to the name in the nest. */
bool group_expand_into(Ctx *cx, const Group *g, const Implementation *with, Map *taken, Map *made, Map *local);
/* Returns the role of an outside tensor in the first call of the group that reads it, "x" or "bias"; NULL: no call
 * does. */
const char *group_role(Ctx *cx, const Group *g, const Tensor *t);

/* The group where the condition on its sizes holds (versions.c); NULL: for all sizes. */
Group *group_where(Ctx *cx, const Group *g, const Expr *condition);
Tensor *group_stand_in(Ctx *cx, const Group *g, const Tensor *t);       /* with the group's ranges of sizes */
void stage_without_empty_axes(Ctx *cx, Stage *s);
/* A condition on sizes under which no reduction of the nest is empty; NULL: none is empty at any size, or there is no
 * such condition. */
const Expr *nest_is_full(Ctx *cx, const Nest *n);

/* Returns a key, in scratch memory, that equal groups have in common: the strategy's nest of one also serves
 * the other. NULL: the nest may have names of the model, or rows of a user may refer to the group. */
const char *group_key(Ctx *cx, const Group *g, size_t *bytes);

/* ---- Strategies -------------------------------------------------------------------------------------------------- */

/* Returns the nest of this row; NULL without a diagnostic if the row does not apply to the group on that target. */
const Nest *implementation_nest(Ctx *cx, const Group *g, const Target *t, const Implementation *i);
/* Selects and applies an implementation. *chosen (may be NULL) gets the row. `explain` (may be NULL) gets the
 * candidates and the reasons. */
const Nest *group_naive(Ctx *cx, const Group *g, const Target *t, const Implementation *with);     /* before any step */
const Nest *strategy_schedule(Ctx *cx, const Group *g, const Target *t, const Implementation **chosen, Text *explain);

/* Returns the number of proved forms of the group's nest n with smaller buffers, in out[most] (sparing.c). */
int group_sparing_forms(Ctx *cx, const Group *g, const Target *t, const Nest *n, const Implementation *with,
                        const Nest **out, int most);

/* ---- Memory ------------------------------------------------------------------------------------------------------ */

/* The storage of every tensor between groups. Views (reshapes, operands of concatenations) alias their root. An
 * elementwise output aliases an operand that it overwrites because no later group reads it. */
typedef enum SlotKind { SLOT_INPUT, SLOT_OUTPUT, SLOT_CONST, SLOT_ARENA } SlotKind;
typedef struct Slot Slot;
struct Slot {
    const Tensor *tensor, *root;       /* root: the tensor that owns the memory; itself unless a view */
    SlotKind kind; int index;          /* index of the root among inputs, outputs or constants */
    int memory;                        /* in_arena: which of the plan's memories; 0: the arena */
    int64_t read_bytes, written_bytes; /* of a root: bytes that a run moves, set before plan_memories */
    unsigned allowed;                  /* of a root: a bit for each memory that may hold it, set before plan_memories */
    bool in_arena;                     /* ARENA, and inputs and outputs that the caller stores there */
    int64_t offset;                    /* in_arena: bytes from the arena's start to the root */
    /* Where the group that computes the root stores it; another address: it is moved to `offset` after that group */
    int64_t written;
    int64_t view_offset;               /* elements from the root's start */
    int64_t stride[MAX_RANK];          /* elements */
    /* Live range in groups, inclusive; the root's memory is live while any of its slots is */
    int first, last;
    int root_last;                     /* of a root: the last of all its slots */
    Slot *next;                        /* the next slot of the same root; the list starts with the root's own */
};
/* `group` produces root y and is the last to read root x; y may start `bytes` before x, or earlier. */
typedef struct Lead { const Tensor *x, *y; int group; int64_t bytes; } Lead;
/* A RAM of the firmware. Costs are of a byte, in thousandths. */
typedef struct PlanMemory {
    const char *name;
    int64_t capacity, align;           /* bytes */
    int64_t read_cost, write_cost;
    int64_t size, live_bound;          /* bytes in use, and the largest sum of items live at once in it */
    int64_t read, written;             /* bytes of a run */
} PlanMemory;
typedef struct Plan {
    int memory_count; PlanMemory *memory;                /* count 0: only the arena */
    int64_t cost, least_cost;          /* of all traffic to these memories; no placement costs less than the second */
    int slot_count; Slot *slot;
    Map of;                            /* tensor -> its slot */
    int64_t arena_size, align;         /* Bytes; an alignment above 16 is set before plan_offsets */
    int64_t room;                      /* bytes of a larger arena that tensors are moved to avoid; 0: none is moved */
    /* Bytes: the largest sum of roots live at once in the arena; overlaps count once */
    int64_t live_bound;
    int64_t least;                     /* Bytes: no arena of these live ranges is smaller; at least live_bound */
    int64_t *live_bytes;               /* [groups]: sum of the roots live during each group */
    int constant_count; const Tensor **constant;
    /* [groups]: a view or concatenation without cost: emits no function */
    bool *is_free;
    bool *in_place;                    /* [groups]: an input shares the output's memory */
    bool *is_padding;                  /* [groups]: the input is stored in the output; the rest is written */
    int lead_count; Lead *lead;        /* set before plan_offsets */
    bool *overlaps;                    /* [groups]: an input that the output partly overlaps; NULL: none */
} Plan;
/* Scratch memory of one group; the last fields as in Slot. */
typedef struct Scratch {
    int64_t bytes, align, offset;
    int memory;
    int64_t read_bytes, written_bytes;
    unsigned allowed;
} Scratch;
/* Before lowering: decides which tensors alias, and their strides. nest[i] is the scheduled nest of group i.
 * `copies_padding`: operands of paddings have memory of their own. */
Plan plan_views(Ctx *cx, const Graph *g, const Groups *groups, const Nest *const *nest, bool copies_padding);
/* True if the nest may compute `out` in the memory of its input t: only the stage that computes `out` reads t, only at
 * the element being written, and each element is computed once. */
bool plan_may_overwrite(Ctx *cx, const Nest *n, const Tensor *t, const Tensor *out);
/* After lowering: assigns offsets in the arena, also to scratch[i][0..count[i]) of group i. */
void plan_offsets(Ctx *cx, Plan *p, int group_count, Scratch *const *scratch, const int *count);
/* Assigns the offsets of the items of one memory. */
void plan_offsets_in(Ctx *cx, Plan *p, int memory, int group_count, Scratch *const *scratch, const int *count);
/* Chooses a memory for each root and each scratch buffer, and assigns offsets there (memories.c). Returns -1, or the
 * group whose live bytes the memories cannot hold, with the bytes that are missing. */
int plan_memories(Ctx *cx, Plan *p, int group_count, Scratch *const *scratch, const int *count, int64_t *missing);
int64_t plan_bytes_moved(const Plan *p);                                /* of results, within the arena */
bool plan_is_whole(const Slot *s);                                      /* true if it covers its whole root densely */
/* NULL: no slot, the tensor is not between groups */
const Slot *plan_slot(const Plan *p, const Tensor *t);
#endif
