/* SPDX-License-Identifier: MIT */
#ifndef LW_GRAPH_DAG_TARGET_H
#define LW_GRAPH_DAG_TARGET_H
/* A target is a row of features and costs. For each fused group, the strategy selects a compute and a schedule by the
 * target's features. */

/* Decision: schedules ask for features. An implementation states the features that it requires, not the cores that
 * it is for. A core is a row of features and costs, so a new row with the features of a Cortex-M4 gets its 8-bit
 * schedules (`tests/unit/test_features.c`). */
#include "graph/dag/op.h"

typedef struct Target {
    /* Inherits base's implementations and, for unset fields, its values; base NULL: the root, generic */
    const char *name, *base;
    const char *summary;
    /* Words of gcc and clang without which emitted C takes the portable form of its instructions; NULL: base's, or the
     * core's own option selects them */
    const char *flags;
    const char *macros;                /* condition of #if: the compiler uses the instructions; NULL: base's */
    /* Of primitives (runtime/simd/tiles.h), which emitted C includes where `macros` hold; NULL: base's, or none */
    const char *header;
    const char *machine;               /* C expression: the machine has them; NULL: base's, or every machine */
    const char *features;              /* space-separated instruction features: "dsp fpu"; includes the base's */
    /* Float elements per vector for the C compiler's vectorizer; 1: scalar core; 0: base's */
    int lanes;
    int accumulators;                  /* register budget of an output tile, in rows of `lanes` elements; 0: base's */
    /* The budget for integers where they share their registers with addresses; 0: base's, or `accumulators` */
    int integer_accumulators;
    /* Bytes of a vector register with macros in runtime/simd; 0: base's, or vectorization is left to the C compiler */
    int vector_bytes;
    /* Vector registers, where an instruction may read an operand from memory, so that C compilers need to be told what
     * stays in a register; 0: base's, or the C compiler decides */
    int vector_registers;
    int64_t copy_budget;               /* statements that loop partition may add to a function; 0: base's */
    int64_t unroll_budget;             /* most statements of a fully unrolled body; 0: base's */
    bool spends_code;                  /* --optimize speed: templates save instructions at any length of code */
    const struct Costs *costs;         /* instructions of macros and operations (ir/nest/costs.h); NULL: base's */
    const struct CoreFigures *core;    /* cycles and code (ir/nest/costs.h); NULL: unknown. Not inherited */
} Target;
/* "; did you mean 'T'?" for an unknown name, or how to list the names */
const char *target_hint(Ctx *cx, const char *name);
/* Returns the target with unset fields inherited from its chain; NULL: unknown */
const Target *target_find(Ctx *cx, const char *name);
const Target *const *target_list(Ctx *cx, int *count);
bool target_has(const Target *t, const char *feature);
const Target *target_without(Ctx *cx, const Target *t, const char *feature);     /* the same target without it */

/* A chain of calls that a device runs as one function. */
typedef struct Composite {
    const char *name;                  /* of the function: NAME_DEVICE_conv_block_1 */
    const char *ops;                   /* "conv2d add? relu? max_pool2d?": each reads the one before; '?': optional */
    /* A condition on the first call; NULL: none. If open sizes leave it undecided, the run tests it */
    const char *when;
} Composite;
/* The calls of one function have one match. */
typedef struct CompositeMatch {
    const char *composite;
    const Expr *when;                  /* open sizes decide at run time, else its default in C runs; NULL: always */
} CompositeMatch;

/* A processor of the same system that runs other programs: which calls it accepts. */
typedef struct Device {
    const char *name, *summary;        /* "npu"; the macro NAME_HAVE_NPU declares that its driver is present */
    /* Space-separated names of operators, and `formula`; views are always accepted */
    const char *ops;
    const char *types;                 /* space-separated element types of all inputs and outputs of a call */
    const Composite *composites;       /* closed by a row without name; NULL: none */
} Device;
const Device *device_find(Ctx *cx, const char *name);            /* NULL: unknown */
/* "; did you mean 'npu'?" for an unknown name, or how to list the names */
const char *device_hint(Ctx *cx, const char *name);
const Device *const *device_list(Ctx *cx, int *count);
void device_register(Ctx *cx, const Device *d);

/* A fused group: a subgraph of the DAG that becomes one function. */
typedef struct Group {
    const char *name;                  /* "conv_1" */
    int node_count;   Node **node;     /* calls, producers first */
    int input_count;  Tensor **input;  /* read from outside, constants included, each once */
    int output_count; Tensor **output;
    Node *anchor;                      /* the node of the highest pattern; its schedule is the group's */
    const char *parts;                 /* of a combined group: the names of its parts, "conv_1+pool_1"; else NULL */
    /* The nest before the steps, of a combined group that --schedule names; else NULL */
    const struct Nest *naive;
    bool is_scheduled;                 /* by --schedule or the model's file: it is not combined with others */
    int range_count; const struct SizeRange *range;    /* of a version for a part of the sizes (group_where) */
    bool keeps_names;                  /* stages have the names of the model's tensors, for steps of its file */
} Group;

/* The group as a schedule receives it: its naive nest and the roles of its stages. Stages are found by walking, not by
 * name. */
typedef struct GroupNest {
    const Group *group;
    const Target *target;
    const Nest *nest;                  /* naive */
    /* Name of the stage that computes the anchor's first output; the group's output stage if no anchor */
    const char *anchor;
    /* Names in the nest of the anchor's inputs (NULL: absent) and outputs */
    const char *const *anchor_in, *const *anchor_out;
    const struct Implementation *with; /* the row to apply */
} GroupNest;

typedef struct Uses Uses;
int uses_of(const Uses *u, const Tensor *t);     /* number of the tensor's consumers; 1 for a tensor created since */

typedef struct Implementation {
    const char *name;                  /* "conv.register_tiled" */
    /* Features that the target must have, all of them, space-separated; NULL: none */
    const char *features;
    const char *target;                /* for this target and those that inherit from it; NULL: for all */
    const char *ops;                   /* space-separated operator names of the anchor, or "pattern:reduction", ... */
    int plevel;                        /* 10 is normal; the highest applicable wins, then implementation_rank */
    const char *what;                  /* one line: the schedule's effect, for the emitted comment and for reports */
    bool (*applies)(Ctx *cx, const GroupNest *g);                /* NULL: always true */
    /* A further condition as text: clauses joined by &&, over the anchor's inputs by name and its integer attributes:
     * "dim(x, 3) % 4 == 0 && k is f32 && groups == 1"; list elements are stride_0, stride_1. If open sizes leave it
     * undecided, the nest is emitted in two versions and tested at run time. NULL: none. */
    const char *when;
    /* Another compute of the anchor's only output: formulas separated by ';', over the names that Op.formula may use.
     * NULL: the operator's own. A test compares the two (api/check_op.c); there is no proof. */
    const char *compute;
    /* `compute` as a function: fills out[] for all outputs of the call and returns their number. NULL: `compute`. */
    int (*build)(Ctx *cx, const struct Implementation *with, const Node *call, Tensor **out);
    const Nest *(*schedule)(Ctx *cx, const GroupNest *g);        /* NULL: naive */
    /* For a row without a schedule: returns a replacement of the call's output 0 in a form that suits the target; NULL:
     * the call stays. Runs before fusion (graph/passes/alter.c). */
    Tensor *(*alter)(Ctx *cx, const struct Implementation *with, const Target *t, const Node *call, const Uses *uses);
    const void *user;                  /* for the functions of a user's row */
} Implementation;
const Implementation *const *implementation_list(Ctx *cx, int *count);
/* Rank of the row for the target: least for the nearest target in the chain, then for the most required features. -1:
 * not for this target, or t is NULL. */
int implementation_rank(Ctx *cx, const Target *t, const Implementation *i);
const char *implementation_for(const Implementation *i);         /* the target or the features, for reports */
/* The first target that the row applies to; NULL: none */
const Target *implementation_target(Ctx *cx, const Implementation *i);
void target_register(Ctx *cx, const Target *t);
void implementation_register(Ctx *cx, const Implementation *i);
#endif
