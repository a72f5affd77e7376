/* SPDX-License-Identifier: MIT */
#ifndef LW_GRAPH_TARGET_H
#define LW_GRAPH_TARGET_H
/* Targets and strategies: which (compute, schedule) a fused group gets. */
#include "graph/dag/op.h"

typedef struct Target {
    const char *name, *base;           /* falls back to base's implementations and unset fields; base NULL: the root, generic */
    const char *summary;
    const char *features;              /* space-separated, what its instructions offer: "dsp fpu"; the base's, too */
    int lanes;                         /* float elements that the C compiler's vectorizer likes side by side; 1: scalar core; 0: base's */
    int accumulators;                  /* tiles of an output kept in registers: lanes-wide rows; 0: base's */
    int vector_bytes;                  /* a vector register that runtime/simd has macros for; 0: base's, and the C compiler's affair */
    int64_t copy_budget;               /* statements that loop partition may add to a function; 0: base's */
    int64_t unroll_budget;             /* statements a fully unrolled body may have; 0: base's */
} Target;
const char *target_hint(Ctx *cx, const char *name);              /* "; did you mean 'T'?" of an unknown one, or where they are listed */
const Target *target_find(Ctx *cx, const char *name);            /* unset fields filled in from the chain; NULL: unknown */
const Target *const *target_list(Ctx *cx, int *count);
bool target_has(const Target *t, const char *feature);

/* Another processor of the same system, whose program is not ours: what it takes of what it is asked to do. */
typedef struct Device {
    const char *name, *summary;        /* "npu"; NAME_HAVE_NPU says that its driver is there */
    const char *ops;                   /* space-separated names of operators; reshapes and the like always */
    const char *types;                 /* space-separated: of all inputs and outputs of a call */
} Device;
const Device *device_find(Ctx *cx, const char *name);            /* NULL: unknown */
const Device *const *device_list(Ctx *cx, int *count);
void device_register(Ctx *cx, const Device *d);

/* A fused group: a piece of the DAG that becomes one function. */
typedef struct Group {
    const char *name;                  /* "conv_1" */
    int node_count;   Node **node;     /* calls, producers first */
    int input_count;  Tensor **input;  /* read from outside, constants among them, each once */
    int output_count; Tensor **output;
    Node *anchor;                      /* its schedule is the group's: the node of the highest pattern */
    const char *parts;                 /* of a combined group: the names of its parts, "conv_1+pool_1"; else NULL */
    const struct Nest *naive;          /* of a combined group that --schedule names: before its steps; else NULL */
    bool is_scheduled;                 /* by --schedule: it is not combined with others */
} Group;

/* The group as seen by a schedule: its naive nest, and which stage is what. Stages are found by walking, not by name. */
typedef struct GroupNest {
    const Group *group;
    const Target *target;
    const Nest *nest;                  /* naive */
    const char *anchor;                /* name of the stage that makes the anchor's first output; the group's output stage if none */
    const struct Implementation *with; /* the row whose schedule is asked */
} GroupNest;

typedef struct Uses Uses;
int uses_of(const Uses *u, const Tensor *t);     /* readers of the tensor; of one made since: 1 */

typedef struct Implementation {
    const char *name;                  /* "conv.register_tiled" */
    const char *features;              /* that the target must have, all of them, space-separated; NULL: none */
    const char *target;                /* for this target and those that fall back to it; NULL: for all */
    const char *ops;                   /* space-separated operator names of the anchor, or "pattern:reduction", ... */
    int plevel;                        /* 10 is normal; the highest that applies wins, then implementation_rank */
    const char *what;                  /* one line: what the schedule does, for the emitted comment and for people */
    bool (*applies)(Ctx *cx, const GroupNest *g);                /* NULL: always: the specialized condition */
    /* A further condition, as text: clauses joined by &&, over the anchor's inputs by their names and its integer attributes;
     * "dim(x, 3) % 4 == 0 && k is f32 && groups == 1", of lists stride_0, stride_1. Where open sizes leave it undecided the
     * nest comes in two versions, and the run decides. NULL: none. */
    const char *when;
    /* Another compute of the anchor's only output, as formulas with ';' between, over what Op.formula may name; NULL: the
     * operator's own. That both give the same is tested (api/check_op.c), not proved. */
    const char *compute;
    const Nest *(*schedule)(Ctx *cx, const GroupNest *g);        /* NULL: naive */
    /* Of a row that schedules nothing: what stands for output 0 of the call on this target, made of calls that it likes
     * better; NULL: the call stays. Runs before fusion (graph/passes/alter.c). */
    Tensor *(*alter)(Ctx *cx, const Target *t, const Node *call, const Uses *uses);
    const void *user;                  /* for the schedule of a row from outside */
} Implementation;
const Implementation *const *implementation_list(Ctx *cx, int *count);
/* How near the row is to the target: least for the nearest target of the chain, then for the most features that it
 * needs. -1: it is not for this target; or t is NULL. */
int implementation_rank(Ctx *cx, const Target *t, const Implementation *i);
const char *implementation_for(const Implementation *i);         /* the target or the features, for people */
const Target *implementation_target(Ctx *cx, const Implementation *i);       /* the first that it is for; NULL: none */
void target_register(Ctx *cx, const Target *t);
void implementation_register(Ctx *cx, const Implementation *i);
#endif
