/* SPDX-License-Identifier: MIT */
#ifndef LW_GRAPH_DAG_TARGET_H
#define LW_GRAPH_DAG_TARGET_H
/* A target is a row of features and costs. For each fused group, the strategy selects a compute and a schedule by the
 * target's features. */

/* Decision: schedules ask for features. An implementation states the features that it requires, not the cores for which
 * it is written. A core is a row of features and costs, so a new row with the features of a Cortex-M4 gets its 8-bit
 * schedules (`tests/unit/test_features.c`). */
#include "graph/dag/op.h"

typedef struct Target {
    /* Inherits the implementations of `base` and, for unset fields, its values. base is NULL for the root, generic. */
    const char *name, *base;
    const char *summary;
    /* The options of gcc and clang without which emitted C uses the portable form of its instructions. NULL inherits
     * base's options, or means that the option for the core selects the instructions. */
    const char *flags;
    /* The condition of #if under which the compiler uses the instructions; NULL inherits base's. */
    const char *macros;
    /* The header of primitives (runtime/simd/tiles.h), which emitted C includes where `macros` hold. NULL inherits
     * base's, if any. */
    const char *header;
    /* A C expression that is true if the machine has the instructions. NULL inherits base's, or means that every
     * machine has them. */
    const char *machine;
    /* Instruction features, separated by spaces: "dsp fpu"; includes base's features. */
    const char *features;
    /* The float elements per vector for the C compiler's vectorizer; 1 for a scalar core, 0 to inherit. */
    int lanes;
    /* The register budget of an output tile, in rows of `lanes` elements; 0 inherits base's. */
    int accumulators;
    /* The budget for integers where integers and addresses share registers. 0 inherits base's, or uses
     * `accumulators`. */
    int integer_accumulators;
    /* The bytes of a vector register that has macros in runtime/simd. 0 inherits base's, or leaves vectorization to the
     * C compiler. */
    int vector_bytes;
    /* The number of vector registers. The number is set where an instruction may read an operand from memory: emitted C
     * must then state what stays in a register. 0 inherits the base's number, or leaves the choice to the C
     * compiler. */
    int vector_registers;
    /* The most statements that loop partition may add to a function; 0 inherits base's. */
    int64_t copy_budget;
    int64_t unroll_budget;             /* the most statements of a fully unrolled body; 0 inherits base's */
    bool spends_code;                  /* set by --optimize speed: templates save instructions at any length of code */
    /* The instructions of macros and operations (ir/nest/costs.h); NULL inherits base's. */
    const struct Costs *costs;
    const struct CoreFigures *core;    /* cycles and code (ir/nest/costs.h), or NULL if unknown; not inherited */
} Target;
/* Returns "; did you mean 'T'?" for an unknown name, or how to list the names. */
const char *target_hint(Ctx *cx, const char *name);
/* Returns the target with unset fields inherited from its chain, or NULL if the name is unknown. */
const Target *target_find(Ctx *cx, const char *name);
const Target *const *target_list(Ctx *cx, int *count);
bool target_has(const Target *t, const char *feature);
/* Returns the same target without the feature. */
const Target *target_without(Ctx *cx, const Target *t, const char *feature);

/* A chain of calls that a device runs as one function. */
typedef struct Composite {
    /* The end of the function's name, such as "conv_block" in NAME_DEVICE_conv_block_1. */
    const char *name;
    /* "conv2d add? relu? max_pool2d?": each call reads the one before it, and '?' marks an optional call. */
    const char *ops;
    /* A condition on the first call, or NULL. If open sizes leave the condition undecided, the run tests it. */
    const char *when;
} Composite;
/* The composite to which a call belongs. All calls of one function share one match. */
typedef struct CompositeMatch {
    const char *composite;
    /* The test at run time, if open sizes decide; if it fails, the default in C runs. NULL if the match always
     * holds. */
    const Expr *when;
} CompositeMatch;

/* A device is a processor of the same system that runs other programs. The device's row states which calls it
 * accepts. */
typedef struct Device {
    /* The name, such as "npu"; the macro NAME_HAVE_NPU states that the driver is present. */
    const char *name, *summary;
    /* The names of accepted operators, separated by spaces, and `formula`; views are always accepted. */
    const char *ops;
    /* The accepted element types of all inputs and outputs of a call, separated by spaces. */
    const char *types;
    const Composite *composites;       /* the composites, closed by a row without a name, or NULL */
} Device;
const Device *device_find(Ctx *cx, const char *name);            /* returns NULL if the name is unknown */
/* Returns "; did you mean 'npu'?" for an unknown name, or how to list the names. */
const char *device_hint(Ctx *cx, const char *name);
const Device *const *device_list(Ctx *cx, int *count);
void device_register(Ctx *cx, const Device *d);

/* A fused group: a subgraph of the DAG that becomes one function. */
typedef struct Group {
    const char *name;                  /* "conv_1" */
    int node_count;   Node **node;     /* the calls, producers first */
    int input_count;  Tensor **input;  /* the tensors that are read from outside, including constants, each once */
    int output_count; Tensor **output;
    Node *anchor;                      /* the node of the highest pattern; its schedule becomes the group's */
    const char *parts;                 /* the names of the parts of a combined group, "conv_1+pool_1"; otherwise NULL */
    /* The nest before the steps of a combined group that --schedule names; otherwise NULL. */
    const struct Nest *naive;
    /* True if --schedule or the model's file has a schedule for the group, so it is not combined with others. */
    bool is_scheduled;
    /* The ranges of open sizes for which this version of the group is made (group_where). */
    int range_count; const struct SizeRange *range;
    /* True if stages have the names of the model's tensors, which the steps of its file use. */
    bool keeps_names;
} Group;

/* The group as a schedule receives it: its naive nest and the roles of its stages. Stages are found by walking, not by
 * name. */
typedef struct GroupNest {
    const Group *group;
    const Target *target;
    const Nest *nest;                  /* the naive nest */
    /* The name of the stage that computes the anchor's first output, or the group's output stage if there is no
     * anchor. */
    const char *anchor;
    /* The names in the nest of the anchor's inputs (NULL for an absent one) and outputs. */
    const char *const *anchor_in, *const *anchor_out;
    const struct Implementation *with; /* the row to apply */
} GroupNest;

typedef struct Uses Uses;
/* Returns the number of the tensor's consumers, or 1 for a tensor that was created after the count. */
int uses_of(const Uses *u, const Tensor *t);

typedef struct Implementation {
    const char *name;                  /* "conv.register_tiled" */
    /* Features that the target must have, separated by spaces, or NULL for none. */
    const char *features;
    /* This target and the targets that inherit from it match; NULL matches all targets. */
    const char *target;
    /* Operator names of the anchor, separated by spaces, or "pattern:reduction", ... */
    const char *ops;
    /* 10 is normal; the highest applicable plevel wins, then the lowest implementation_rank. */
    int plevel;
    const char *what;                  /* one line on the schedule's effect, for the emitted comment and for reports */
    /* Returns true if the row applies; if the hook is NULL, the row always applies. */
    bool (*applies)(Ctx *cx, const GroupNest *g);
    /* A further condition as text: clauses joined by &&, over the anchor's inputs by name and its integer attributes:
     * "dim(x, 3) % 4 == 0 && k is f32 && groups == 1"; list elements are stride_0, stride_1. If open sizes leave it
     * undecided, two versions of the nest are emitted, and the run tests the condition. NULL if there is no
     * condition. */
    const char *when;
    /* A different compute of the anchor's only output: formulas separated by ';', over the names that Op.formula may
     * use. NULL uses the operator's own. A test compares the two (api/check_op.c); there is no proof. */
    const char *compute;
    /* `compute` as a function: fills out[] for all outputs of the call and returns their number. NULL uses
     * `compute`. */
    int (*build)(Ctx *cx, const struct Implementation *with, const Node *call, Tensor **out);
    /* Returns the scheduled nest; NULL keeps the naive nest. */
    const Nest *(*schedule)(Ctx *cx, const GroupNest *g);
    /* For a row without a schedule: returns a replacement of the call's output 0 in a form that suits the target, or
     * NULL to keep the call. Runs before fusion (graph/passes/alter.c). */
    Tensor *(*alter)(Ctx *cx, const struct Implementation *with, const Target *t, const Node *call, const Uses *uses);
    const void *user;                  /* passed to the functions of a user's row */
} Implementation;
const Implementation *const *implementation_list(Ctx *cx, int *count);
/* Returns the rank of the row for the target: lowest for the nearest target in the chain, then for the most required
 * features. Returns -1 if the row is not for this target, or if t is NULL. */
int implementation_rank(Ctx *cx, const Target *t, const Implementation *i);
const char *implementation_for(const Implementation *i);         /* returns the row's target or features, for reports */
/* Returns the first target that the row applies to, or NULL. */
const Target *implementation_target(Ctx *cx, const Implementation *i);
void target_register(Ctx *cx, const Target *t);
void implementation_register(Ctx *cx, const Implementation *i);
#endif
