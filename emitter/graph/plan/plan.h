/* SPDX-License-Identifier: MIT */
#ifndef LW_GRAPH_PLAN_PLAN_H
#define LW_GRAPH_PLAN_PLAN_H
/* Plans functions over one arena: forms fused groups from calls, schedules each group, and decides the storage of every
 * tensor. */
#include "graph/dag/graph.h"

/* Fuses by pattern on the dominator tree (fuse.c). Every call is in one group; groups are in execution order. */
typedef struct Groups { int count; Group *at; } Groups;
Groups fuse(Ctx *cx, const Graph *g);
Groups groups_of_calls(Ctx *cx, const Graph *g);             /* returns one group per call, in order */
/* Moves each group that reads only constants to the place before its first reader. */
Groups groups_near_readers(Ctx *cx, Groups groups);
/* Reorders groups so that the groups of one device are consecutive as far as dependences allow. */
Groups groups_by_device(Ctx *cx, Groups groups);
/* Reorders the groups of a graph with updates: a group that overwrites a tensor follows all other groups that read
 * it. If a group needs both old and new values of an in-out tensor, *waits receives the index of its update, and the
 * order is unchanged; otherwise it is -1. */
Groups groups_by_updates(Ctx *cx, const Graph *graph, Groups groups, int *waits);
/* Returns the groups in an order that keeps few bytes live at once. */
Groups groups_by_memory(Ctx *cx, const Graph *graph, Groups groups);
const char *group_ops_text(Ctx *cx, const Group *g, const char *between);     /* returns "conv2d + add + relu" */
/* Returns advice for a word that names no group: the group of which it is a node or part, a similar name, or
 * `otherwise`. */
const char *group_advice(Ctx *cx, const char *word, const Group *const *group, int count, const char *otherwise);
const char *group_device(const Group *g);        /* returns NULL for the host */
/* Returns the device's composite, or NULL for single calls and for the host. */
const CompositeMatch *group_match(const Group *g);
bool copies_between_devices(const Group *g);
/* Returns the size whose value the group computes with its only call, bind_size. Returns NULL for other groups. */
const Expr *group_bound_size(const Group *g);
/* Returns true if the call keeps the first elements of its operand, along the first dimension that has several. The
 * result begins at the start of its operand and may alias it. */
bool plan_is_front(const Node *n);
/* Returns true if the groups belong to one function of a device. */
bool groups_are_together(const Group *a, const Group *b);
/* Constructs the group's computes. Returns outputs in the group's order, over stand-ins of its inputs, which are stored
 * in input[input_count]. Names derive from roles, not from positions in the model, so equal groups have equal text.
 * `roles` receives the names of the anchor's tensors; it may be NULL. Returns NULL on error. */
Tensor **group_expand(Ctx *cx, const Group *g, const Implementation *with, Tensor **input, GroupNest *roles);

/* Expands the group over tensors that are already computes. *made maps a tensor of the graph to its compute; the
 * group's tensors are added. Names of the group's stages begin with the group's name and '_'. *taken holds the names of
 * the whole nest. *local maps names in the nest of only this group, of stages and of inputs' roles, to names in the
 * whole nest. */
bool group_expand_into(Ctx *cx, const Group *g, const Implementation *with, Map *taken, Map *made, Map *local);
/* Returns the role, such as "x" or "bias", of an outside tensor in the first call of the group that reads it. Returns
 * NULL if no call reads it. */
const char *group_role(Ctx *cx, const Group *g, const Tensor *t);

/* Returns the group for the sizes at which the condition holds (versions.c), or NULL if it holds for all sizes. */
Group *group_where(Ctx *cx, const Group *g, const Expr *condition);
/* Returns a copy of t whose sizes have the group's ranges. */
Tensor *group_stand_in(Ctx *cx, const Group *g, const Tensor *t);
void stage_without_empty_axes(Ctx *cx, Stage *s);
/* Returns a condition on sizes under which no reduction of the nest is empty. Returns NULL if no reduction is empty at
 * any size, or if there is no such condition. */
const Expr *nest_is_full(Ctx *cx, const Nest *n);

/* Returns a key, in scratch memory, that equal groups share: the strategy's nest of one group is also used for the
 * others. Returns NULL if the nest may have names of the model, or if rows of a user may refer to the group. */
const char *group_key(Ctx *cx, const Group *g, size_t *bytes);

/* ---- Strategies -------------------------------------------------------------------------------------------------- */

/* Returns the nest of this row, or NULL without a diagnostic if the row does not apply to the group on that target. */
const Nest *implementation_nest(Ctx *cx, const Group *g, const Target *t, const Implementation *i);
/* Returns the nest before any step. */
const Nest *group_naive(Ctx *cx, const Group *g, const Target *t, const Implementation *with);
/* Selects and applies an implementation. *chosen receives the row, and `explain` the candidates with the reasons; both
 * may be NULL. */
const Nest *strategy_schedule(Ctx *cx, const Group *g, const Target *t, const Implementation **chosen, Text *explain);

/* Writes the proved forms of the group's nest n with smaller buffers to out[most] and returns their number
 * (sparing.c). */
int group_sparing_forms(Ctx *cx, const Group *g, const Target *t, const Nest *n, const Implementation *with,
                        const Nest **out, int most);

/* ---- Memory ------------------------------------------------------------------------------------------------------ */

/* The storage of every tensor between groups. Views (reshapes, operands of concatenations) alias their root. An
 * elementwise output aliases an operand, which it overwrites, if no later group reads that operand. */
typedef enum SlotKind { SLOT_INPUT, SLOT_OUTPUT, SLOT_CONST, SLOT_ARENA } SlotKind;
typedef struct Slot Slot;
struct Slot {
    /* `root` is the tensor that owns the memory: the tensor itself unless it is a view. */
    const Tensor *tensor, *root;
    SlotKind kind; int index;          /* the index of the root among inputs, outputs or constants */
    int memory;                        /* if in_arena: the index of one of the plan's memories; 0 is the arena */
    int64_t read_bytes, written_bytes; /* of a root: the bytes that a run moves; set before plan_memories */
    unsigned allowed;                  /* of a root: one bit per memory that may hold it; set before plan_memories */
    /* True for SLOT_ARENA, and for inputs and outputs that the caller stores in the arena. */
    bool in_arena;
    int64_t offset;                    /* if in_arena: the bytes from the arena's start to the root */
    /* The address where the group that computes the root stores it. If it differs from `offset`, the root is moved to
     * `offset` after that group. */
    int64_t written;
    int64_t view_offset;               /* the elements from the root's start */
    int64_t stride[MAX_RANK];          /* the strides, in elements */
    /* The live range in groups, inclusive. The root's memory is live while any of its slots is live. */
    int first, last;
    int root_last;                     /* of a root: the last group in which any of its slots is live */
    Slot *next;                        /* the next slot of the same root; the list starts with the root's own */
};
/* Groups, inclusive. */
typedef struct Live { int first, last; } Live;
/* `group` produces root y and is the last to read root x; y's offset may be `bytes` below x's, or lower. */
typedef struct Lead { const Tensor *x, *y; int group; int64_t bytes; } Lead;
/* A RAM of the firmware. Costs are per byte, in thousandths. */
typedef struct PlanMemory {
    const char *name;
    int64_t capacity, align;           /* both in bytes */
    int64_t read_cost, write_cost;
    int channel;                       /* the channel that copies into this memory; 0 is the core */
    int64_t size, live_bound;          /* the bytes in use, and the largest sum of items that are live in it at once */
    int64_t read, written;             /* the bytes that a run reads and writes */
} PlanMemory;
typedef struct Plan {
    /* The memories; a count of 0 means that there is only the arena. */
    int memory_count; PlanMemory *memory;
    /* Cost of all traffic to these memories; no placement costs less than least_cost. */
    int64_t cost, least_cost;
    int slot_count; Slot *slot;
    Map of;                            /* maps a tensor to its slot */
    int64_t arena_size, align;         /* In bytes; set an alignment above 16 before plan_offsets. */
    /* The larger arena's bytes that moving tensors avoids, or 0 if no tensor is moved. */
    int64_t room;
    /* The largest sum, in bytes, of roots that are live at once in the arena. Overlaps count once. */
    int64_t live_bound;
    /* An arena size in bytes, at least live_bound; it is proved that no arena for these live ranges is smaller. */
    int64_t least;
    int64_t *live_bytes;               /* [groups]: the sum of the roots that are live during each group */
    int constant_count; const Tensor **constant;
    /* [groups]: true for a view or concatenation without cost, which emits no function. */
    bool *is_free;
    bool *in_place;                    /* [groups]: true if an input shares the output's memory */
    /* [groups]: true if the input is stored in the output, and the function writes only the other elements of the
     * output */
    bool *is_padding;
    int lead_count; Lead *lead;        /* set before plan_offsets */
    /* [groups]: true if the output partly overlaps an input; NULL if no output does. */
    bool *overlaps;
} Plan;
/* Scratch memory of one group: a buffer, or a copy of a constant. memory, read_bytes, written_bytes and allowed have
 * the same meaning as in Slot. */
typedef struct Scratch {
    int64_t bytes, align, offset;
    int memory;
    unsigned allowed;
    int64_t read_bytes, written_bytes;
    const Tensor *copied;              /* the constant; NULL for a buffer */
    int64_t source_cost;               /* of a copy: the cost of reading a byte of the constant, in thousandths */
    int begins;                        /* of a copy: the group before which it begins, its own or an earlier one */
    bool is_optional;                  /* of a copy: true if the group can run without the copy; memory is then -1 */
    /* With --cores: the bytes between the copies of two parts, or 0 if the group is not divided */
    int64_t stride;
} Scratch;
/* Decides which tensors alias, and their strides; call this before lowering. nest[i] is the scheduled nest of group i.
 * With `copies_padding`, operands of paddings have their own memory. */
Plan plan_views(Ctx *cx, const Graph *g, const Groups *groups, const Nest *const *nest, bool copies_padding);
/* Returns true if the nest may compute `out` in the memory of its input t. Only the stage that computes `out` may read
 * t, and it may read only the element that it writes. Each element must be computed once. */
bool plan_may_overwrite(Ctx *cx, const Nest *n, const Tensor *t, const Tensor *out);
/* Returns true if every stage of the nest that reads an element of t reads it before `out` has a new value at that
 * element (inout.c). */
bool plan_may_update(Ctx *cx, const Nest *n, const Tensor *t, const Tensor *out);
/* Returns true if no loop executes the stage's blocks twice for a point. */
bool plan_computes_once(Ctx *cx, const Nest *n, const Stage *s);
/* Assigns offsets in the arena, also to scratch[i][0..count[i]) of group i; call this after lowering. */
void plan_offsets(Ctx *cx, Plan *p, int group_count, Scratch *const *scratch, const int *count);
/* Assigns the offsets of the items of one memory, except optional copies. */
void plan_offsets_in(Ctx *cx, Plan *p, int memory, int group_count, Scratch *const *scratch, const int *count);
/* Chooses a memory for each root and each scratch buffer, and assigns offsets within the memories (memories.c). An
 * optional copy gets memory -1 if it saves no cost. Returns -1, or the group whose live bytes the memories cannot hold;
 * *missing then receives the bytes that are missing. */
int plan_memories(Ctx *cx, Plan *p, int group_count, Scratch *const *scratch, const int *count, int64_t *missing);
/* An item that a kept plan cannot hold, a root or scratch memory, and the reason. */
typedef struct Misfit { const Slot *root; const Scratch *scratch; const char *why; } Misfit;
/* Checks places that a kept plan prescribes: memory, offset and written of each root, and memory, offset and begins of
 * each scratch buffer and copy. Sums the memories as plan_memories does. Returns false if an item does not fit. */
bool plan_keep(Ctx *cx, Plan *p, int group_count, Scratch *const *scratch, const int *count, Misfit *misfit);
/* The part of plan_keep for the items of one memory, except optional copies. */
bool plan_keep_in(Ctx *cx, Plan *p, int memory, int group_count, Scratch *const *scratch, const int *count,
                  Misfit *misfit);
/* Returns the result of the group if it is moved within the arena after the group, or NULL. */
const Slot *plan_moved(const Plan *p, const Groups *groups, int group);
/* Returns true if the slot's tensor covers its whole root densely. */
bool plan_is_whole(const Slot *s);
/* Returns the groups in which a slot of the root is live: 0 is the first group of an input, and the last group of an
 * output is beyond all groups. An input that no group reads is live in group 0. */
Live plan_live(const Slot *root);
/* Returns the tensor's slot, or NULL if the tensor is not stored between groups. */
const Slot *plan_slot(const Plan *p, const Tensor *t);
#endif
