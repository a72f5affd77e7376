/* SPDX-License-Identifier: MIT */
#ifndef LW_DRIVER_DRIVER_H
#define LW_DRIVER_DRIVER_H
/* Declares the pipeline: model -> DAG -> groups -> nests -> plan -> lowered functions -> program. A Build holds the
 * results of the stages that have run; dump, report, run and verify (emitter/api) stop at the last stage that they
 * need. */
#include "cgen/control_flow.h"
#include "graph/dag/region.h"
#include "graph/passes/passes.h"
#include "graph/plan/plan.h"
#include "graph/train/train.h"
#include "ir/interpret/evaluate.h"
#include "import/model/model.h"
#include "loopwright.h"
#include "lower/divide.h"
#include "lower/lower.h"
#include "lower/merge.h"

typedef struct Build Build;

/* State that the model's graph and the graphs of its regions share. */
typedef struct Shared {
    Build *last;                             /* the end of the list that begins with the model's graph */
    Map symbols;                             /* names used in the emitted C, without the model's prefix */
    /* maps the text of a function without its name to the first Lowered with this text */
    Map texts;
    /* maps this Lowered to Emitted: the function with this text, and the function's nest */
    Map emitted;
    Map bodies;                              /* maps the text of a region's function to the first Body with this text */
    const char *until;                       /* the pass after which passes stop (`dump --at pass:NAME`), or NULL */
    Map scheduled;                           /* maps group_key to EqualGroups, their nest (schedule_file.c) */
    Map lowered;                             /* maps a nest with its views to Lowered, its function (functions.c) */
    /* the emitted functions, in order of first use */
    int function_count; const Function **function;
    Map final;                               /* maps a function to the function after the final passes */
    Map lead;                                /* maps the input of a function to KnownLead (overlaps.c) */
    /* maps a function that differs from another function only in numbers to Merged */
    Map merged;
    Map divided;                             /* maps a function that cores share to its Division (cores.c) */
    /* the functions of regions, inner regions first */
    int body_count; const Body **body;
    Map items;                               /* maps a root's slot, or a scratch, to its ArenaItem (places.c) */
    int constant_count; const Tensor **constant; const char **constant_name;
    bool is_combined;                        /* true if a graph of a region has the groups that --combine names */
} Shared;

/* Counts of a run on the core; `total` is -1 if not measured. layer: [groups] the counts of each layer, or NULL.
 * is_stepped: true if `report` counted them on compiled code. traffic: [groups] the traffic of each function's
 * parameters, or NULL if not measured. in_memory: [memory_count] the traffic of each memory of --memory, or NULL if not
 * measured. */
typedef struct Counts { int64_t total; const int64_t *layer; } Counts;
typedef struct Measured {
    Counts instructions, cycles;
    bool is_stepped;
    struct Traffic *const *traffic; const struct Traffic *in_memory;
} Measured;

/* The bytes of a training step's arena, and the instructions of the step */
typedef struct StepCost { int64_t arena, instructions; } StepCost;

/* A memory of the firmware (--memory). Costs are in thousandths of the cost of a byte. */
enum { MEMORY_FOR_RESULTS = 1, MEMORY_FOR_SCRATCH = 2, MEMORY_FOR_WEIGHTS = 4 };
typedef struct FirmwareMemory {
    const char *name;
    /* used, read: for a rom, the bytes of constants in it and the bytes that a run reads */
    int64_t bytes, used, read;
    int64_t read_cost, write_cost, align, line;
    unsigned kinds;                          /* the kinds of data that may be placed in this memory */
    int channel;                             /* the channel that copies to it; 0 is the core */
    bool is_rom;
    const char *section;                     /* NULL: none */
} FirmwareMemory;

/* The caller's requests for a run of the stages, in addition to the options. The caller sets it before build_graph. */
typedef struct BuildMode {
    const char *until;                       /* the pass after which passes stop; copied to Shared */
    /* true if the graph has simulated quantizations, which are realized in the form QDQ_FIXED */
    bool in_fixed_point;
    /* true if simulated quantizations become marks, which the quantizer reads */
    bool records_grids;
    /* true for a trial of a search, in which the plans of the regions' graphs are known */
    bool is_trial;
    /* true if C code will apply steps, so that groups have naive nests with the model's names */
    bool is_naive;
    bool is_reference;                       /* true if each call of the model as imported has a naive nest (run.c) */
    bool is_written;                         /* for a reference: true if quantized calls stay in real numbers */
    /* true if no pass rewrites the graph, which is emitted like other graphs */
    bool is_as_imported;
    int shown_steps;                         /* for `dump --at step:N`: N + 1; a refusal of a later step is a note */
    bool weighs_checkpoints;                 /* true if --checkpoint auto is tried even without the option */
} BuildMode;

/* The position of the graph among the graphs of the program: those of regions, the model's graph and the step's
 * graph. */
typedef struct GraphTree {
    const Node *region;                      /* the region that owns this graph; NULL for the model's graph */
    Build *outer;                            /* the graph that holds the region's node; NULL for the model's graph */
    /* the next graph of a region; a graph follows the graph that encloses it */
    Build *next;
    Map inner;                               /* maps the node of a region to Build[graph_count], its graphs */
    Body *body;                              /* the function that runs the graph; NULL for NAME_run */
} GraphTree;

/* The states of the file, of --state and of --stream */
typedef struct States { int count; StatePair *at; } States;

/* The memories of --memory, in the order given */
typedef struct FirmwareMemories {
    int count; FirmwareMemory *at;
    /* [plan.constant_count] the memory of each constant, or NULL if they are stored as without --memory */
    FirmwareMemory **of_constant;
} FirmwareMemories;

/* What --train adds to the model's graph; the Build of the step has only is_step. */
typedef struct BuildTraining {
    Training *graphs;                        /* the graphs of inference and of the step, or NULL */
    Build *step;                             /* the Build of the training step */
    bool is_step;                            /* true in that Build */
    /* the parameters of --train, which are the last inputs of the model; count 0 if the words of --train choose
     * constants */
    int given_count; const Trainable *given;
    const StepCost *trade;                   /* [2] costs without and with checkpoints, or NULL if not tried */
} BuildTraining;

/* The sequences of groups on one foreign device */
typedef struct Devices {
    int count; Partition *partition;
    /* [groups] the partition, or -1 for the host; NULL if all groups run on the host */
    int *of;
} Devices;

/* What scheduling gives: nests with inputs and outputs in the group's order. Equal groups have one nest, with the
 * first group's name. */
typedef struct Scheduled {
    const Nest **nest;                       /* [groups] */
    const Implementation **chosen;           /* [groups] the chosen implementation, or NULL */
    const Node **by_file;                    /* [model.schedule_count] the anchors of the groups of its schedules */
    const char *combine_text;                /* the report of the combined groups, with reasons, or NULL */
    /* the limit of the arena in bytes, for which results are moved to other offsets; 0 if none is moved */
    int64_t room;
    bool copies_padding;                     /* true if the operand of a padding has memory of its own */
} Scheduled;

/* What lowering gives for each group */
typedef struct LoweredGroups {
    Function **function;                     /* equal groups share one; NULL for groups that cost nothing */
    /* a nest with the inputs and outputs of `function`, in the group's order */
    const Nest **nest;
    bool *is_shared;                         /* true if an earlier group has the same function */
    Scratch **scratch; int *scratch_count;
    bool *is_shifted;                        /* [states.count] true if a group may shift the state within its array */
} LoweredGroups;

/* Bytes of a function of model.c: its compiled code, and the deepest chain of calls that it begins; -1 if unknown */
typedef struct CodeSize { int64_t code, stack; } CodeSize;

/* What runs gave, for reports and tests of the emitted C */
typedef struct Observed {
    const Map *code_sizes;                   /* CodeSize by the function's name; NULL if no compiler measured them */
    const struct Validation *validation;     /* the comparison that `report --validate` made, or NULL */
    const Measured *measured;                /* the counts that `report` measured with a runner or compiler, or NULL */
    const Env *sizes;                        /* tensors with the sizes that the last run decided, or NULL */
    /* [model.output_count] the channels that the layers of --layers have in the reference */
    const int64_t *imported_channels;
    const Env *recorded;                     /* all tensors, computed on the input of --selftest, or NULL */
    bool is_signalled;                       /* true if SIGINT or SIGTERM ended the program of a trial */
} Observed;

/* A graph of the program with the results of the stages, in the order of the stages. */
struct Build {
    Ctx *cx;
    const lw_options *options;
    BuildMode mode;
    const char *path, *name;                 /* path of the model file; prefix of the symbols */
    /* the name of the files to write, such as "kws" for "dir/kws.c"; NULL if none is written */
    const char *output_stem;
    const Target *target;
    struct Watch *watch;                     /* the times of --time-passes, or NULL */
    Shared *shared;
    GraphTree tree;
    /* reading: the graph as imported; for a .te file, with its schedule steps */
    Model model;
    States states;
    FirmwareMemories memories;
    /* passes: the graph after the first passes_done of them */
    Graph graph;
    int passes_done;
    BuildTraining training;
    /* fusion */
    Groups groups;
    Devices devices;
    /* schedules, functions, offsets */
    Scheduled scheduled;
    LoweredGroups lowered;
    Plan plan;
    /* the program; [plan.constant_count] the indices of the constants among its constants */
    int *constant_of;
    Program program;
    Observed observed;
};

/* A step of a stage. `run` sets the field of the Build that its row names; earlier steps have set the fields that it
 * reads. A step without `when` always runs; part and name are of --time-passes. */
typedef struct BuildStep {
    void (*run)(Build *b);
    void (*check)(const Build *b);           /* instead of `run`, for a step that gives nothing but refusals */
    bool (*when)(const Build *b);
    const char *part, *name;
} BuildStep;

/* build.c: runs the steps in order, up to the first diagnostic; the last row is empty. Returns false on error. */
bool build_steps(Build *b, const BuildStep *step);

/* The whole compilation: a file of a model becomes files of C. `record` runs before the program, for --selftest. */
bool build_files(Build *b, Ctx *cx, const char *path, const lw_options *o, bool (*record)(Build *b),
                 const char *output);

/* The stages, in order. Each stage reads the results of the stages before it, and returns false on error. */
bool build_read(Build *b, Ctx *cx, const char *path, const lw_options *o);     /* the model as imported */
/* adapt.c: applies --from, --to, --layout, --preprocess and --postprocess */
void build_adapt(Build *b);
void build_port_grids(Ctx *cx, Model *m);          /* port_grids.c: of integer ports without a scale */
/* Reads the text of a .te file instead; errors point into `path`. */
bool build_read_text(Build *b, Ctx *cx, const char *path, const char *text, bool is_naive, const lw_options *o);
bool build_graph(Build *b);                                                    /* passes */
/* builds groups and their scheduled nests */
bool build_nests(Build *b);
/* makes the plan, the functions and the program */
bool build_program(Build *b);
bool build_is_c_file(Ctx *cx, const char *output);                             /* refuses endings other than .c */
bool build_write(Build *b, const char *output);                                /* writes model.c, model.h, ... */

/* ---- The driver's parts, each in the named file ------------------------------------------------------------------ */

/* build.c: reports progress to the caller; returns false, with a diagnostic, if the caller ends the work. */
bool build_progress(const Build *b, const char *part, int64_t done, int64_t total);

/* names.c: returns the first unused name of base, base_2, ... and marks it used; build_symbol searches among the
 * program's names. */
const char *build_unique_name(Ctx *cx, Map *taken, const char *base);
const char *build_symbol(const Build *b, const char *base);
Shared *build_shared(Ctx *cx);                   /* a new set; the names that every program has are marked as used */
void build_reserve_names(const Build *b);              /* marks the names that options add to every program */
void build_name_groups(Build *b);
void build_name_shared(Build *b);                /* names shared functions; call it after functions are merged */

/* nests.c: both run passes over the DAG of the model or of a region. The first function runs the passes up to those
 * that fold constants, and the second function runs the remaining passes. */
bool build_folding_passes(Build *b);
bool build_passes(Build *b);
/* build.c: returns true for --rounding single */
bool build_rounds_once(const lw_options *o);
/* build.c: stores the groups of all graphs; returns their number */
int build_all_groups(const Build *b, const Group *const **all);

/* state.c handles pairs of an input and an output. */
void build_states(Build *b);
/* Returns the index of the state whose input is this input of the model, or -1 if there is none */
int build_state_of_input(const Build *b, int input);
int build_state_of_output(const Build *b, int output);
/* Returns the initial value of the state, or NULL for zeros */
const Tensor *build_initial(const Build *b, int input);
/* applies --stream, which requests the pass; its windows become states of the model */
void build_request_stream(Build *b);
void build_add_stream(Build *b);

/* training.c, for --train: splits the model's graph after the passes that fold constants. */
void build_request_forms(Build *b);
void build_split_training(Build *b);
/* build.c: returns the index of the graph's input among the parameters, or -1 if it is not a parameter */
int build_trained_of_input(const Build *b, int input);
void build_assemble_training(Build *b);          /* assembles the program's second function */

/* portable.c: returns the portable form of an instruction; the second function lists the program's forms, with
 * --portable apart. */
PortableForm build_portable_form(Ctx *cx, const struct Instruction *i);
void build_portable_forms(Build *b);

/* cores.c, for --cores: the number of cores that share the layers of this graph, or 1 */
int build_cores(const Build *b);
void build_check_cores(Ctx *cx, const lw_options *o);
/* Returns the division of the group's lowered function, or NULL if one core computes the group. */
const Division *build_divide(const Build *b, int group, const Function *f);
const Division *build_division(const Build *b, int group);     /* the division of the group's final function */
int64_t build_part_stride(const Build *b, int64_t bytes);       /* the bytes from one part's scratch to the next's */
void build_fork_call(const Build *b, int group, Call *call);

/* memories.c, for --memory: reads the options; places results, scratch and constants by their traffic */
void build_read_memories(Build *b);
int build_rams(const Build *b);                  /* the number of memories without the key rom */
void build_place_memories(Build *b);
/* Places a constant that only the graphs of branches and loops read. Returns NULL if no memory has the key rom, and
 * also reports an error if no such memory has enough bytes left. */
const FirmwareMemory *build_place_inner(Build *b, const Tensor *constant);
/* staging.c: adds the constants of a group to its scratch memory, as optional copies; sets the costs of their sources,
 * once constants have memories; lists the copies before a group's call. */
void build_list_copies(Build *b, int group, const struct Traffic *moved, unsigned allowed);
void build_price_copies(Build *b);
const Copy *build_copies(const Build *b, int group, int *count);
/* Returns the copy from which the group reads the constant, or NULL if it reads the constant or another tensor. */
const Scratch *build_copy(const Build *b, int group, const Slot *s);
void build_pin_memories(Build *b);               /* pins.c: reads the lines `in_memory` of the annotations */
/* keep_plan.c: returns the text of NAME.plan; places all items as the file of --keep-plan has them, or returns false
 * with a diagnostic. */
const char *build_plan_text(Build *b);
bool build_keep_plan(Build *b);
/* constants.c: returns true if the text is a valid section name in C's attribute */
bool build_is_section(const char *name);

/* run.c: the model as read becomes the reference for the emitted C; then build_graph and build_nests run. */
void build_as_reference(Build *b);
/* Returns the data that a run of the reference computed for a tensor of the emitted graph, or NULL if the reference
 * lacks the tensor. all: the data of this run. *channels receives the number of the tensor's channels as imported if
 * some were removed, otherwise 0. */
const void *build_reference_data(const Build *reference, const Env *all, const Build *emitted, const Tensor *t,
                                 int64_t *channels);
/* A comparison of quantized tensors in steps: the numbers of elements, of those that differ, and of those that are
 * wrong. */
typedef struct Steps { int64_t elements, differ, wrong; const Tensor *first_wrong; } Steps;
/* Computes the calls between quantized tensors in real numbers, as the file has them, each from the reference's
 * integers. Compares the resulting integers; `wrong` counts those that differ by more than a step. Call it after
 * build_nests of a build with is_written. */
bool build_compare_written(Build *written, const void *const *inputs, const Build *reference, Steps *steps);
bool build_runs_pass(const Build *b, const GraphPassRow *pass);
bool build_reference_nests(Build *b);

/* These stages run between passes and schedules: --layers, partitions for devices, --combine, and combining for RAM. */
void build_show_layers(Build *b);                                              /* nests.c */
void build_partitions(Build *b);                                               /* device_functions.c */
void build_combine_named(Build *b);                                            /* combine_named.c */
const char *build_between(const Build *b, const int *part, int part_count);    /* the obstacle to combining, or NULL */
void build_merge_groups(Build *b, const int *part, int part_count, const Group *merged, const Nest *n);
void build_combine_for_ram(Build *b);            /* combine_for_ram.c */
void build_combine_for_limit(Build *b);          /* --ram */
void build_check_ram(const Build *b);                  /* refuses a plan above the limit */

/* schedule_file.c handles schedules of groups from outside. */
void build_read_schedules(const Build *b);
void build_combine_blocks(Build *b);             /* joins the groups that a block names together into one */
void build_schedule_group(Build *b, int group);  /* schedules the group by its block or its strategy */
/* returns the nest with the group's own name, for messages */
const Nest *build_named_nest(const Build *b, int group);
const Nest *build_schedule_nest(const Build *b, const Nest *naive, const char *group);   /* NULL if no block applies */
/* call it after all nests, because a block without its group is an error */
void build_check_schedules(const Build *b);

/* file_schedules.c handles the schedules of the .te file. build_group_of: returns the group that computes the tensor,
 * or -1 if there is none. build_only_group: returns the only group with loops, or -1 if *count is not 1. */
int build_group_of(const Build *b, const char *tensor);
int build_only_group(const Build *b, int *count);
const char *build_group_names(const Build *b);         /* lists the groups with loops, such as "a, b and c" */
const char *build_no_group(const Build *b, const char *tensor);        /* reports that no group computes the tensor */
void build_find_file_schedules(Build *b);        /* call it after groups have names */
/* returns the nest of a group that the file schedules, or NULL on error */
const Nest *build_file_nest(const Build *b, int group);
const Nest *build_after_file_steps(const Build *b, const struct TeSchedule *s, const Nest *n);
void build_check_file_schedules(const Build *b);       /* call it after groups are combined */

/* functions.c: these compute views, functions, offsets, and the final code of merged functions */
/* build.c: returns the function that is emitted instead of f and differs from f only in numbers, or NULL. */
const Merged *build_merged(const Build *b, const Function *f);
bool build_merges(const Build *b);                   /* merges functions that differ only in numbers into one */
void build_functions(Build *b);
/* Returns the counted instructions of the group's function, and of moving its result; 0 without a function. */
int64_t build_instructions(const Build *b, int group);
/* Returns the instructions of the group for the worst data (count_worst); -1 if there is no maximum. */
int64_t build_worst(const Build *b, int group);
void build_final_code(Build *b);
/* Returns an option of the program that the annotations exclude, such as "--memory", or NULL. */
const char *build_unprovable(const Build *b);
void build_check_inputs(const Build *b, Port *input);       /* check_inputs.c: the ranges of --check-inputs */
void build_prove(Build *b);                       /* prove.c: annotations of the program's functions (--acsl) */
/* overlaps.c: finds the outputs that may alias inputs, and the states that a group may shift within their arrays */
void build_overlaps(Build *b);
void build_shifts(Build *b);
/* inout.c: refuses options that exclude in-out tensors. */
void build_check_inouts(const Build *b);
/* Orders the groups for updates. A group that needs both old and new values of an in-out tensor gets new values from a
 * tensor of their own, which a further group copies. */
Groups build_groups_by_updates(Build *b, Groups groups);
/* Lets the nest of the group compute update u in the in-out tensor, from input `in` to output `out`, or adds a copy. */
void build_check_inout(Build *b, int u, int group, int in, int out);
/* Return the other end of an in-out tensor, or -1 for a port that is not in-out. */
int build_output_of_inout(const Build *b, int input);
int build_input_of_inout(const Build *b, int output);

/* header_words.c: returns the words of options that change results */
const char *build_option_words(Ctx *cx, const lw_options *o);
/* Returns these options and those that choose the plan, for a report. */
const char *build_report_words(Ctx *cx, const lw_options *o);
/* header_words.c: returns the header's name of an input or output, by --rename or by the file; refuses wrong words of
 * --rename. */
const char *build_port_name(const Build *b, const Tensor *t);
void build_check_renames(const Build *b);
/* header_words.c: sets the program's class names */
void build_class_names(Build *b);
void build_assemble(Build *b);                                                 /* assemble.c: assembles the program */
/* selftest.c: returns the sum of a tensor's elements, computed like the self-test's sum */
uint32_t build_checksum(const Build *b, const Tensor *t, const void *data);
/* makes the checks of the self-test, from `recorded` */
void build_selftest(Build *b);
/* places.c: returns the address as an expression of the variables of NAME_run, or of the body that runs the graph */
Place build_place(const Build *b, const Slot *s);
/* Returns the slot of an input or output of the group's function. The function may have been lowered for another group:
 * `lowered` has its tensors in this group's order. */
const Slot *build_slot(const Build *b, int group, const Memory *m);
/* Returns the group that computes the tensor, or -1 if there is none. */
int build_producer(const Build *b, const Tensor *t);
/* Returns the calls of all groups, in order, and the sizes that get their values after the last call */
int build_calls(Build *b, const Call **out, int *last_count, const SizeBind **last);
/* returns true if the graph computes the size's value */
bool build_binds_size(const Build *b, const Expr *size);
/* Returns true if the last read of `in` precedes the first write of `out`. */
bool build_is_single(const Build *b, const Tensor *in, const Tensor *out);
/* constants.c: assigns indices and names, for all graphs */
void build_constants(Build *b);
/* Reads --weights. Returns false if the word is unknown or the section has no name. Sets *section to the text after
 * `section=`, or to NULL. */
bool build_weights_kind(const lw_options *o, WeightsKind *kind, const char **section);
/* decides where the program's constants are stored; call it after the program's calls are built */
void build_weights(Build *b);
/* device_functions.c: finds the parameters of partitions, after the plan */
void build_partition_params(Build *b);
/* Returns the address of a tensor as an expression of the parameters of the partition's function */
Place build_place_in(const Build *b, int partition, const Slot *s);
/* Returns the place at `offset` bytes in a scratch, which the emitted C names OWNER_PART_at. */
Place build_place_of_scratch(const Build *b, const Scratch *s, const char *owner, const char *part, int64_t offset,
                             DType type);
Place build_place_of_copy(const Build *b, const Scratch *copy, int64_t offset, DType type);            /* staging.c */
const ArenaItem *build_item_of_root(const Build *b, const Tensor *root);       /* returns NULL in a region's body */
static inline bool is_scratch(const Memory *m) { return m->kind == MEMORY_SCRATCH; }

/* region_graphs.c, region_bodies.c: the graphs of regions run through the stages of the model's graph, each stage after
 * that of the enclosing graph. */
const Node *region_of_group(const Build *b, int group);                        /* or NULL if it is not a region */
Build *build_graphs_of(const Build *b, const Node *region);                    /* [graph_count] */
void build_inner_graphs(Build *b);
void build_inner_nests(Build *b);
/* Stores the region's memory other than its inputs and outputs in *out, and returns the count */
int region_scratch(const Build *b, int group, Scratch **out);
/* Returns the bytes of the states of the model, or of a loop's body, that have two arrays. */
int64_t build_second_arrays(const Build *b);
/* Returns the size of struct NAME_state, with the index of alternating arrays and padding, if types are aligned to
 * their size. all_alternate: assumes that each state has two arrays. */
int64_t build_state_bytes(const Build *b, bool all_alternate);
/* Returns the bytes of ports and states that are not in the arena. A state counts with two arrays unless
 * `is_planned`. */
int64_t build_bytes_beside(const Build *b, bool is_planned);
/* Returns the bytes that --ram leaves for the arena, or for all RAMs. */
int64_t build_arena_limit(const Build *b);
Call region_call(Build *b, int group);                                         /* adds the bodies to the program */

/* run.c: interprets all groups on the data of the model's inputs (in order); outputs[i] receives the data of output
 * i. */
bool build_run(Build *b, const void *const *inputs, const void **outputs);
/* Does the same as build_run; `all` receives the value of each tensor between groups. */
bool build_run_all(Build *b, const void *const *inputs, Env *all);
/* Returns the tensor with the shape that the last run decided, or the tensor itself if its shape is fixed. */
const Tensor *build_actual(const Build *b, const Tensor *t);
/* Returns false, with a diagnostic, for a group that a C function computes, because the interpreter cannot run it */
bool build_is_known(Ctx *cx, const Group *g);
#endif
