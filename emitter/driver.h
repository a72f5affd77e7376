/* SPDX-License-Identifier: MIT */
#ifndef LW_DRIVER_H
#define LW_DRIVER_H
/* The whole story: model -> DAG -> groups -> nests -> plan -> lowered functions -> program. Dump, report, run and verify
 * stop at the stage that they need. */
#include "cgen/region.h"
#include "graph/region.h"
#include "ir/evaluate.h"
#include "import/model.h"
#include "loopwright.h"
#include "lower/lower.h"

typedef struct Build Build;

/* Of the model's graph and of all graphs inside of it. */
typedef struct Shared {
    Build *last;                             /* of the list that begins with the model's graph */
    Map symbols;                             /* what is named in the emitted C so far, behind the model's prefix */
    Map by_text;                             /* of a function's text: what was lowered to it first */
    Map lowered;                             /* of a nest between tensors of their own: its function */
    int function_count; const Function **function;                     /* in order of first use */
    Map merged;                              /* of a function that is another one but for numbers: Merged */
    int body_count; const Body **body;                                 /* of regions, inner ones first */
    int constant_count; const Tensor **constant; const char **constant_name;
} Shared;

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
    int *parts;                              /* [groups] more than 1: --combine made it of so many; NULL: it made none */
    const char *combine_text;                /* which, what went where, and why; NULL: none */
    const Nest **nest;                       /* [groups] scheduled; inputs and outputs in the group's order */
    const Implementation **chosen;           /* [groups] or NULL */
    Plan plan;
    Function **function;                     /* [groups]; equal groups share one; NULL where the plan says it is free */
    const Nest **lowered;                    /* [groups] the nest that the function was lowered from: another group's where it is shared */
    Shared *shared;
    Build *next;                             /* the next graph inside of the model's; each comes behind the one it is in */
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
bool build_write(Build *b, const char *output);                                /* model.c, model.h, ... */

/* The driver's other parts, each in the file it is named after or that is named here. */
bool build_states(Build *b);                                                   /* state.c */
void build_show_layers(Build *b);                                              /* layers.c: of --layers */
void build_leads(Build *b);                                                    /* leads.c: which outputs may lie over inputs */
void build_combine(Build *b);                                                  /* combined.c: of --combine */
void build_roll(Build *b);                                                     /* roll.c: what is combined for the arena's sake */
void build_layers(Build *b);                                                   /* views, functions and places */
void build_fill_program(Build *b);                                             /* assemble.c */
const char *build_unique_name(Ctx *cx, Map *taken, const char *base);          /* a name that is not taken yet, and is now */
bool build_rounds_once(const lw_options *o);
static inline bool is_scratch(const Memory *m) { return m->kind == MEMORY_SCRATCH; }

/* partition.c, for the driver: after fusion; after the plan; where a tensor lies as the partition's function sees it. */
void build_partitions(Build *b);
void build_partition_params(Build *b);
Place build_place_in(const Build *b, int partition, const Slot *s);
/* And what it needs of the driver: a name that no symbol has, and a tensor's place as NAME_run (or the body) sees it. */
const char *build_symbol(Build *b, const char *wanted);
Place build_place(const Build *b, const Slot *s);

/* Which state the model's input or output is; -1: none. */
int build_state_of_input(const Build *b, int input);
int build_state_of_output(const Build *b, int output);
const Tensor *build_initial(const Build *b, int input);                        /* what state begins with; NULL: zeros */

/* run.c, and what else compares: a fixed pseudo-random sequence, floats in [-1, 1), integers over their whole range; how many elements
 * are not close (verify's rule in loopwright.h), and where they differ the most. */
void *build_made_up(Ctx *cx, const Tensor *t, uint32_t seed);
typedef struct Difference { int64_t wrong, worst_at; double worst; } Difference;
Difference build_compare(const Tensor *t, const void *got, const void *want);

/* region.c, for the driver: the graphs of regions go the same way as the model's, each step after that of the graph around. */
const Node *region_of_group(const Build *b, int group);                        /* NULL: it is no region */
Build *build_graphs_of(const Build *b, const Node *region);                    /* [graph_count] */
bool build_inner_graphs(Build *b);
bool build_inner_nests(Build *b);
int region_scratch(Build *b, int group, Scratch **out);                        /* what the region needs beside its inputs and outputs */
Call region_call(Build *b, int group);                                         /* and the bodies go to the program */
bool region_run(Build *b, int group, Env *all);
/* For the driver's other parts. */
bool build_passes(Build *b);
bool build_is_single(const Build *b, const Tensor *in, const Tensor *out);     /* is the one used for the last time before the other is begun? */
int build_calls(Build *b, const Call **out);                                   /* of all groups, in order */
void build_constants(Build *b);                                                /* constant.c: numbers and names, for all graphs */

/* Runs all groups on the data of the model's inputs (in order); outputs[i] gets the data of output i. */
bool build_run(Build *b, void *const *inputs, void **outputs);
#endif
