/* SPDX-License-Identifier: MIT */
#ifndef LW_DRIVER_H
#define LW_DRIVER_H
/* The whole story: model -> DAG -> groups -> nests -> plan -> lowered functions -> program. A Build is a model on this way, as far as
 * it has come; dump, report, run and verify (emitter/api) stop at the stage that they need. */
#include "cgen/control_flow.h"
#include "graph/dag/region.h"
#include "graph/passes/passes.h"
#include "graph/plan/plan.h"
#include "ir/interpret/evaluate.h"
#include "import/model/model.h"
#include "loopwright.h"
#include "lower/lower.h"

typedef struct Build Build;

/* Of the model's graph and of all graphs inside of it. */
typedef struct Shared {
    Build *last;                             /* of the list that begins with the model's graph */
    Map symbols;                             /* what is named in the emitted C so far, behind the model's prefix */
    Map by_text;                             /* of a function's text: what was lowered to it first */
    const char *until;                       /* the pass behind which passes stop (`dump --at pass:NAME`); NULL: none does */
    Map lowered;                             /* of a nest between tensors of their own: its function */
    int function_count; const Function **function;                     /* in order of first use */
    Map merged;                              /* of a function that is another one but for numbers: Merged */
    int body_count; const Body **body;                                 /* of regions, inner ones first */
    int constant_count; const Tensor **constant; const char **constant_name;
} Shared;

typedef struct ScheduleBlock ScheduleBlock;          /* schedule_file.c */

struct Build {
    Ctx *cx;
    const lw_options *options;
    const char *path, *name;                 /* of the model file; prefix of the symbols */
    const Target *target;
    Model model;                             /* as imported; its steps, for a .te file */
    bool as_nest;                            /* a .te text, even of operator calls alone, is one nest */
    StatePair *state; int state_count;       /* of the file and of --state */
    Graph graph;                             /* after the passes */
    Groups groups;
    /* [groups] more than 1: --combine made it of so many; NULL: it made none */
    int *parts;
    const char *combine_text;                /* which, what went where, and why; NULL: none */
    const Nest **nest;                       /* [groups] scheduled; inputs and outputs in the group's order */
    const Implementation **chosen;           /* [groups] or NULL */
    ScheduleBlock *block; int block_count;   /* of --schedule, for all graphs */
    Plan plan;
    Function **function;                     /* [groups]; equal groups share one; NULL where the plan says it is free */
    /* [groups] the nest that the function was lowered from: another group's where it is shared */
    const Nest **lowered;
    Shared *shared;
    const char *until;                       /* what `shared` gets */
    /* The next graph inside of the model's; each comes behind the one it is in */
    Build *next;
    Map inner;                               /* of a region's node: Build[graph_count], its graphs */
    const Node *region;                      /* whose graph this is, and */
    Build *outer;                            /* where the region stands; NULL: the graph is the model's own */
    int *constant_of;                        /* [plan.constant_count] their numbers among all of the program's */
    Scratch **scratch; int *scratch_count;   /* [groups] */
    Body *body;                              /* the function that runs the graph; NULL: NAME_run */
    int partition_count; Partition *partition;   /* runs of groups on one foreign device */
    int *partition_of;                       /* [groups]; -1: here; NULL: all are */
    Program program;
    struct Watch *watch;                     /* with --time-passes, else NULL */
};

/* Each does what comes before it. False on error. */
bool build_read(Build *b, Ctx *cx, const char *path, const lw_options *o);     /* model, untouched */
/* The same from the text of a .te file; errors point into `path`. */
bool build_read_text(Build *b, Ctx *cx, const char *path, const char *text, bool as_nest, const lw_options *o);
bool build_graph(Build *b);                                                    /* passes */
bool build_nests(Build *b);                                                    /* groups and their scheduled nests */
bool build_program(Build *b);                                                  /* plan, functions, program */
bool build_is_c_file(Ctx *cx, const char *output);                             /* else it is refused */
bool build_write(Build *b, const char *output);                                /* model.c, model.h, ... */

/* ---- The driver's parts, each in the file named ------------------------------------------------------------------------ */

/* names.c: the first of `wanted`, wanted_2, ... that is not taken yet, and is now; the same among the program's symbols. */
const char *build_unique_name(Ctx *cx, Map *taken, const char *wanted);
const char *build_symbol(Build *b, const char *wanted);
/* With the names that every program has */
Shared *build_shared(Ctx *cx);
void build_name_groups(Build *b);
void build_name_shared(Build *b);                /* once functions are merged */

/* nests.c: over the DAG of the model, or of a region */
bool build_passes(Build *b);
/* nests.c: it becomes one nest, with the steps of the file */
bool build_is_nest(Build *b);
bool build_rounds_once(const lw_options *o);                                   /* build.c: --rounding single */

/* state.c: pairs of an input and an output. */
bool build_states(Build *b);
/* Which state the model's input is; -1: none */
int build_state_of_input(const Build *b, int input);
int build_state_of_output(const Build *b, int output);
const Tensor *build_initial(const Build *b, int input);                        /* what state begins with; NULL: zeros */

/* Between passes and schedules: --layers; runs of groups on a device; --combine; what is combined because RAM becomes smaller. */
void build_show_layers(Build *b);                                              /* show_layers.c */
void build_partitions(Build *b);                                               /* device_functions.c */
void build_combine_named(Build *b);                                            /* combine_named.c */
const char *build_between(Build *b, const int *part, int part_count); /* what keeps them apart; NULL: nothing */
void build_merge_groups(Build *b, const int *part, int part_count, const Group *merged, const Nest *n);
void build_combine_for_ram(Build *b);                                          /* combine_for_ram.c */

/* schedule_file.c: --schedule. */
bool build_read_schedules(Build *b, const char *path);
void build_combine_blocks(Build *b);             /* groups that a block names together become one */
bool build_schedule_group(Build *b, int group);  /* true: a block is for it, and gives its nest (or an error) */
const Nest *build_schedule_nest(Build *b, const Nest *naive, const char *group);     /* NULL: no block is for it */
void build_check_schedules(Build *b);            /* once all graphs have nests: a block without its group is an error */

/* functions.c: views, functions and places */
void build_functions(Build *b);
/* overlaps.c: which outputs may lie over inputs */
void build_overlaps(Build *b);

void build_assemble(Build *b);                                                 /* assemble.c: the program */
/* places.c: as NAME_run (or the body that runs the graph) sees it */
Place build_place(const Build *b, const Slot *s);
int build_calls(Build *b, const Call **out);                                   /* of all groups, in order */
/* Is the one used for the last time before the other is begun? */
bool build_is_single(const Build *b, const Tensor *in, const Tensor *out);
/* constants.c: numbers and names, for all graphs */
void build_constants(Build *b);
/* device_functions.c: what its function is given, after the plan */
void build_partition_params(Build *b);
/* Where a tensor lies as that function sees it */
Place build_place_in(const Build *b, int partition, const Slot *s);
static inline bool is_scratch(const Memory *m) { return m->kind == MEMORY_SCRATCH; }

/* region_graphs.c, region_bodies.c: the graphs of regions go the same way as the model's, each step after that of the graph around. */
const Node *region_of_group(const Build *b, int group);                        /* NULL: it is no region */
Build *build_graphs_of(const Build *b, const Node *region);                    /* [graph_count] */
bool build_inner_graphs(Build *b);
bool build_inner_nests(Build *b);
/* What the region needs beside its inputs and outputs */
int region_scratch(Build *b, int group, Scratch **out);
Call region_call(Build *b, int group);                                         /* and the bodies go to the program */

/* run.c: all groups in the interpreter, on the data of the model's inputs (in order); outputs[i] gets the data of output i. */
bool build_run(Build *b, void *const *inputs, void **outputs);
#endif
