/* SPDX-License-Identifier: MIT */
#ifndef LW_DRIVER_DRIVER_H
#define LW_DRIVER_DRIVER_H
/* The pipeline: model -> DAG -> groups -> nests -> plan -> lowered functions -> program. A Build holds the results of
 * the stages that have run; dump, report, run and verify (emitter/api) stop at the stage that they need. */
#include "cgen/control_flow.h"
#include "graph/dag/region.h"
#include "graph/passes/passes.h"
#include "graph/plan/plan.h"
#include "graph/train/train.h"
#include "ir/interpret/evaluate.h"
#include "import/model/model.h"
#include "loopwright.h"
#include "lower/lower.h"

typedef struct Build Build;

/* State common to the model's graph and the graphs of its regions. */
typedef struct Shared {
    Build *last;                             /* end of the list that begins with the model's graph */
    Map symbols;                             /* names used in the emitted C, without the model's prefix */
    Map texts;                               /* text of a function without its name -> the first Lowered with it */
    Map emitted;                             /* that Lowered -> the function with this text, and its nest */
    Map bodies;                              /* text of a region's function -> the first Body with it */
    const char *until;                       /* passes stop after this one (`dump --at pass:NAME`); NULL: none */
    Map scheduled;                           /* group_key -> EqualGroups, their nest (schedule_file.c) */
    Map lowered;                             /* nest with its views -> Lowered, its function (functions.c) */
    int function_count; const Function **function;                     /* in order of first use */
    Map final;                               /* function -> itself after the final passes */
    Map lead;                                /* input of a function -> KnownLead (overlaps.c) */
    Map merged;                              /* function that differs from another one in numbers only -> Merged */
    int body_count; const Body **body;                                 /* functions of regions, inner ones first */
    int constant_count; const Tensor **constant; const char **constant_name;
    bool is_combined;                        /* a graph of a region has the groups that --combine names */
} Shared;

/* Counts of a run on the core; -1: not measured. layer: [groups], or NULL. is_stepped: by `report`, on compiled
 * code. traffic: [groups], of the parameters of each group's function; NULL: not measured. */
typedef struct Counts { int64_t total; const int64_t *layer; } Counts;
typedef struct Measured { Counts instructions, cycles; bool is_stepped; struct Traffic *const *traffic; } Measured;

/* Bytes of the arena of a training step, and its instructions */
typedef struct StepCost { int64_t arena, instructions; } StepCost;

/* A memory of the firmware (--memory). Costs are of a byte, in thousandths. */
enum { MEMORY_FOR_RESULTS = 1, MEMORY_FOR_SCRATCH = 2, MEMORY_FOR_WEIGHTS = 4 };
typedef struct FirmwareMemory {
    const char *name;
    int64_t bytes, used, read;               /* used, read: by constants, in a rom */
    int64_t read_cost, write_cost, align, line;
    unsigned kinds;                          /* what may be placed there */
    bool is_rom;
    const char *section;                     /* NULL: none */
} FirmwareMemory;

/* How the caller wants the stages to run, beside the options. It is fixed before build_graph. */
typedef struct BuildMode {
    const char *until;                       /* passes stop after this one; copied to Shared */
    bool in_fixed_point;                     /* the graph is simulated: realized in the form QDQ_FIXED */
    bool records_grids;                      /* simulated quantizations are the quantizer's input: they become marks */
    bool is_trial;                           /* of a search: the plans of regions' graphs are known */
    bool is_naive;                           /* groups have naive nests with the model's names; steps follow from C */
    bool is_reference;                       /* each call of the model as imported has a naive nest (run.c) */
    bool is_written;                         /* of a reference: quantized calls stay in real numbers */
    bool is_as_imported;                     /* no pass rewrites the graph, which is emitted like any other */
    bool weighs_checkpoints;                 /* --checkpoint auto is tried, even if the option is not given */
} BuildMode;

struct Build {
    Ctx *cx;
    const lw_options *options;
    BuildMode mode;
    const char *path, *name;                 /* of the model file; prefix of the symbols */
    const Target *target;
    Model model;                             /* as imported; for a .te file, with its schedule steps */
    int64_t room;                            /* bytes for the arena that results are moved to keep; 0: none is moved */
    bool copies_padding;                     /* operands of paddings have memory of their own, not within the result */
    bool is_signalled;                       /* SIGINT or SIGTERM ended a program that a trial ran */
    const Node **scheduled;                  /* [model.schedule_count] anchors of the groups that the file schedules */
    StatePair *state; int state_count;       /* of the file, of --state and of --stream */
    bool *shifted;                           /* [state_count] a group may shift it within one array (overlaps.c) */
    Graph graph;                             /* after the passes */
    Groups groups;
    const char *combine_text;                /* report of the combined groups, with reasons; NULL: none */
    /* [groups] scheduled; inputs and outputs in the group's order. Equal groups have one nest, with the first's name */
    const Nest **nest;
    const Implementation **chosen;           /* [groups] or NULL */
    Plan plan;
    FirmwareMemory *memory; int memory_count;            /* of --memory, in the order given */
    FirmwareMemory **constant_memory;        /* [plan.constant_count] or NULL: as without --memory */
    Function **function;                     /* [groups]; equal groups share one; NULL for groups that are free */
    const Nest **lowered;                    /* [groups] inputs and outputs of `function`, in the group's order */
    bool *is_shared;                         /* [groups] an earlier group has the same function */
    Shared *shared;
    Build *next;                             /* next graph of a region; a graph follows the graph that encloses it */
    Map inner;                               /* node of a region -> Build[graph_count], its graphs */
    const Node *region;                      /* the region that owns this graph; NULL: the model */
    Build *outer;                            /* the graph that holds the region's node; NULL for the model's graph */
    int *constant_of;                        /* [plan.constant_count] their indices among the program's constants */
    Scratch **scratch; int *scratch_count;   /* [groups] */
    Body *body;                              /* the function that runs the graph; NULL: NAME_run */
    Training *training;                      /* of --train; NULL: none */
    /* The last inputs of the model are these parameters of --train; 0: constants are chosen by its words */
    int trained_count; const Trainable *trained;
    Build *step;                             /* of the model's graph: the training step's */
    const StepCost *trade;                   /* of the step without checkpoints, then with them; NULL: not tried */
    bool is_step;
    int passes_done;                         /* of the passes over the DAG */
    int partition_count; Partition *partition;   /* sequences of groups on one foreign device */
    int *partition_of;                       /* [groups]; -1: on the host; NULL: all on the host */
    const Measured *measured;                /* of `report` with a runner or compiler; NULL: nothing */
    const Env *sizes;                        /* with the sizes that the last run decided; NULL: it was not run */
    const int64_t *imported_channels;        /* [model.output_count] of the layers of --layers in the reference */
    const Env *recorded;                     /* all tensors on the input of --selftest; NULL: none */
    Program program;
    const char *output_stem;                 /* of the files to write: "dir/kws.c" has "kws"; NULL: none are written */
    struct Watch *watch;                     /* with --time-passes, else NULL */
};

/* Each stage runs the stages before it. False on error. */
bool build_read(Build *b, Ctx *cx, const char *path, const lw_options *o);     /* model, untouched */
bool build_adapt(Build *b);                         /* adapt.c: --from, --to, --layout, --preprocess, --postprocess */
/* The same from the text of a .te file; errors point into `path`. */
bool build_read_text(Build *b, Ctx *cx, const char *path, const char *text, bool is_naive, const lw_options *o);
bool build_graph(Build *b);                                                    /* passes */
bool build_nests(Build *b);                                                    /* groups and their scheduled nests */
bool build_program(Build *b);                                                  /* plan, functions, program */
bool build_is_c_file(Ctx *cx, const char *output);                             /* other endings are refused */
bool build_write(Build *b, const char *output);                                /* model.c, model.h, ... */

/* ---- The driver's parts, each in the named file ------------------------------------------------------------------ */

/* build.c: reports progress to the caller; false, with a diagnostic, if it ends the work. */
bool build_progress(const Build *b, const char *part, int64_t done, int64_t total);

/* names.c: returns the first unused name of base, base_2, ... and marks it used; build_symbol, among the program's. */
const char *build_unique_name(Ctx *cx, Map *taken, const char *base);
const char *build_symbol(Build *b, const char *base);
Shared *build_shared(Ctx *cx);                   /* new; the names that every program has are used */
void build_reserve_names(Build *b);              /* the names that options add to every program */
void build_name_groups(Build *b);
void build_name_shared(Build *b);                /* after functions are merged */

/* nests.c: the passes over the DAG of the model, or of a region: up to those that fold constants; those left */
bool build_folding_passes(Build *b);
bool build_passes(Build *b);
bool build_rounds_once(const lw_options *o);                                   /* build.c: --rounding single */
int build_all_groups(const Build *b, const Group *const **all);    /* build.c: of all graphs; returns their number */

/* state.c: pairs of an input and an output. */
bool build_states(Build *b);
/* Index of the state that the model's input is; -1: none */
int build_state_of_input(const Build *b, int input);
int build_state_of_output(const Build *b, int output);
const Tensor *build_initial(const Build *b, int input);                        /* initial value of state; NULL: zeros */
/* --stream: the request to the pass; its windows become states of the model */
void build_request_stream(Build *b);
void build_add_stream(Build *b);

/* training.c, for --train: splits the model's graph after the passes that fold constants. */
void build_request_forms(Build *b);
void build_split_training(Build *b);
/* Index of the graph's input among the parameters, or -1 if it is not a parameter. build.c */
int build_trained_of_input(const Build *b, int input);
void build_assemble_training(Build *b);          /* the program's second function */

/* memories.c, for --memory: reads the options; places results, scratch and constants by their traffic */
void build_read_memories(Build *b);
void build_place_memories(Build *b);
void build_pin_memories(Build *b);               /* pins.c: the lines `in_memory` of the annotations */
bool build_is_section(const char *name);         /* constants.c: true for the name of a section in C's attribute */

/* run.c: the model as read becomes the reference of what is emitted from it; then build_graph and build_nests. */
void build_as_reference(Build *b);
/* The data that a tensor of the emitted graph has by the reference, whose run gave `all`; NULL: no tensor of both.
 * *channels gets the number of its channels as imported if some were removed, else 0. */
const void *build_reference_data(const Build *reference, const Env *all, const Build *emitted, const Tensor *t,
                                 int64_t *channels);
/* The quantized tensors of both, by their steps. */
typedef struct Steps { int64_t elements, differ, wrong; const Tensor *first_wrong; } Steps;
/* After build_nests of a reference with is_written: computes the calls between quantized tensors in real numbers, as
 * the file has them, each from the integers that the reference has there, and compares the integers that follow:
 * `wrong` counts those more than a step apart. */
bool build_compare_written(Build *written, const void *const *inputs, const Build *reference, Steps *steps);
bool build_runs_pass(const Build *b, const GraphPassRow *pass);
bool build_reference_nests(Build *b);

/* Between passes and schedules: --layers; partitions for devices; --combine; combination that reduces RAM. */
void build_show_layers(Build *b);                                              /* nests.c */
void build_partitions(Build *b);                                               /* device_functions.c */
void build_combine_named(Build *b);                                            /* combine_named.c */
const char *build_between(Build *b, const int *part, int part_count);          /* the obstacle; NULL: none */
void build_merge_groups(Build *b, const int *part, int part_count, const Group *merged, const Nest *n);
void build_combine_for_ram(Build *b);            /* combine_for_ram.c */
void build_combine_for_limit(Build *b);          /* --ram */
void build_check_ram(Build *b);                  /* refuses a plan above that limit */

/* schedule_file.c: schedules of groups from outside. */
bool build_read_schedules(Build *b);
void build_combine_blocks(Build *b);             /* groups that a block names together become one */
void build_schedule_group(Build *b, int group);  /* its nest, by its block or its strategy */
const Nest *build_named_nest(const Build *b, int group);                /* with the group's own name, for messages */
const Nest *build_schedule_nest(Build *b, const Nest *naive, const char *group);     /* NULL: no block applies */
void build_check_schedules(Build *b);            /* after all nests: a block without its group is an error */

/* file_schedules.c: the schedules of the .te file. build_group_of: the group that computes the tensor, -1: none.
 * build_only_group: the only group with loops, -1: *count is not 1. */
int build_group_of(const Build *b, const char *tensor);
int build_only_group(const Build *b, int *count);
const char *build_group_names(Build *b);         /* of those with loops: "a, b and c" */
const char *build_no_group(Build *b, const char *tensor);        /* the diagnostic */
void build_find_file_schedules(Build *b);        /* after groups have names */
const Nest *build_file_nest(Build *b, int group);        /* of a group that the file schedules; NULL on error */
const Nest *build_after_file_steps(Build *b, const struct TeSchedule *s, const Nest *n);
void build_check_file_schedules(Build *b);       /* after groups are combined */

/* functions.c: views, functions and offsets; after functions are merged, their final code */
bool build_merges(const Build *b);                   /* functions that differ in numbers become one */
void build_functions(Build *b);
void build_final_code(Build *b);
/* overlaps.c: the outputs that may alias inputs; the states that a group may shift within their arrays */
void build_overlaps(Build *b);
void build_shifts(Build *b);

const char *build_option_words(Ctx *cx, const lw_options *o);                  /* header_words.c */
/* header_words.c: the header's name of an input or output, by --rename or by the file; the refusals of --rename. */
const char *build_port_name(const Build *b, const Tensor *t);
void build_check_renames(Build *b);
void build_class_names(Build *b);                                              /* header_words.c: of the program */
void build_assemble(Build *b);                                                 /* assemble.c: the program */
void build_selftest(Build *b);                                   /* selftest.c: its checks, from `recorded` */
/* places.c: the address in terms of NAME_run's variables (or those of the body that runs the graph) */
Place build_place(const Build *b, const Slot *s);
/* Of all groups, in order; and the sizes that get their values after the last one */
int build_calls(Build *b, const Call **out, int *last_count, const SizeBind **last);
bool build_binds_size(const Build *b, const Expr *size);         /* true if the graph computes the size's value */
/* True if the last read of `in` precedes the first write of `out`. */
bool build_is_single(const Build *b, const Tensor *in, const Tensor *out);
/* constants.c: indices and names, for all graphs */
void build_constants(Build *b);
/* Reads --weights. Returns false if the word is unknown or the section has no name. Sets *section to the text after
 * `section=`, or to NULL. */
bool build_weights_kind(const lw_options *o, WeightsKind *kind, const char **section);
void build_weights(Build *b);                    /* where the program's constants are stored, after its calls */
/* device_functions.c: the parameters of partitions, after the plan */
void build_partition_params(Build *b);
/* The address of a tensor in terms of that function's parameters */
Place build_place_in(const Build *b, int partition, const Slot *s);
static inline bool is_scratch(const Memory *m) { return m->kind == MEMORY_SCRATCH; }

/* region_graphs.c, region_bodies.c: the graphs of regions run through the stages of the model's graph, each stage after
 * that of the enclosing graph. */
const Node *region_of_group(const Build *b, int group);                        /* NULL: not a region */
Build *build_graphs_of(const Build *b, const Node *region);                    /* [graph_count] */
bool build_inner_graphs(Build *b);
bool build_inner_nests(Build *b);
/* Memory of the region beside its inputs and outputs */
int region_scratch(Build *b, int group, Scratch **out);
/* Returns the bytes of the states of the model, or of a loop's body, that have two arrays. */
int64_t build_second_arrays(const Build *b);
/* The size of struct NAME_state, with the index of alternating arrays and padding, where types are aligned to their
 * size; all_alternate: if each state has two arrays. */
int64_t build_state_bytes(const Build *b, bool all_alternate);
Call region_call(Build *b, int group);                                         /* adds the bodies to the program */

/* run.c: interprets all groups on the data of the model's inputs (in order); outputs[i] becomes the data of
 * output i. */
bool build_run(Build *b, const void *const *inputs, const void **outputs);
/* build_run; `all` receives the value of each tensor between groups. */
bool build_run_all(Build *b, const void *const *inputs, Env *all);
/* The tensor with the shape that the last run decided; itself if its shape is fixed. */
const Tensor *build_actual(const Build *b, const Tensor *t);
/* False, with a diagnostic, if a C function computes the group: nothing can interpret it */
bool build_is_known(Ctx *cx, const Group *g);
#endif
