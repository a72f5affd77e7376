/* SPDX-License-Identifier: MIT */
#ifndef LW_DRIVER_COMBINE_LAYERS_H
#define LW_DRIVER_COMBINE_LAYERS_H
/* Shared by the searches for combinations: the groups of a graph, some of them combined, and the memory plan of that
 * state. Each candidate is planned in full, because only the plan gives the RAM; functions that do not change are
 * lowered once. */
#include "driver/driver.h"
#include "graph/plan/combine.h"

/* The present groups, or those of a candidate. */
typedef struct Layers {
    int count;
    Combination *at;
    const char *explain;
    Plan plan;
    /* Counted instructions (lower/count.h): of all functions, and of each layer's [count]; 0, NULL: not counted */
    int64_t work, *work_of;
    int64_t code;                    /* counted bytes of their text; functions that share one count once */
} Layers;

typedef struct Search {
    Build *b;
    CombineInput whole;              /* the groups before any is combined */
    const bool *may_join;            /* [whole.groups->count] */
    bool joins_scheduled;            /* also groups with a block of --schedule */
    int master;                      /* a group that joins no other one; -1: none */
    bool notes_apart;                /* a note for each group that stays apart */
    int64_t outside;                 /* bytes of inputs and outputs */
    bool counts;                     /* instructions, with each plan */
    Map counted;                     /* body of a function -> its Counted */
    Map outlined;                    /* outline of a function -> the first Counted with it */
    Map planned;                     /* nests and room -> what layers_plan found */
} Search;

static inline int layers_last_part(const Combination *c) { return c->part[c->count - 1]; }
Search layers_search(Build *b, const bool *may_join);
Layers layers_apart(Search *r);                      /* no group is combined; planned */
void layers_plan(Search *r, Layers *l);
void layers_use(Build *b, const Layers *l);          /* they become the groups of the build */
/* Returns the state with layer j replaced by `with`, without the layers in is_joined; not planned. */
Layers layers_with(Search *r, const Layers *l, const bool *is_joined, int j, const Combination *with);
bool layers_reads(const Layers *l, int i, const Tensor *t);
/* Returns the reason if the layer can be combined with no other one, whatever that costs, or NULL if it can. */
const char *layers_why_apart(const Search *r, const Layers *l, int i);
/* Returns the reason if layer i cannot be computed in the loops of layer j because devices run them in different
 * functions, or NULL if it can. */
const char *layers_why_not_in(const Search *r, const Layers *l, int i, int j);
bool layers_stays(const Search *r, const Layers *l, int i);          /* that, or a view without code */
/* True if the graph has several groups, and no regions or devices: these combine only if --combine names them. */
bool layers_are_plain(Build *b);

/* combine_for_ram.c: combines pairs as long as each saves a tenth of RAM, and the arena is larger than `enough`. */
void layers_save_ram(Search *r, Layers *l, int64_t enough);
/* combine_join.c: combines groups as long as each join pays for itself. Returns the report: each combination, and why
 * each other group stays apart. The search counts. */
/* The same until the arena has `arena` bytes, for at most that many percent more than `least_work` instructions. */
void layers_join_until(Search *r, Layers *l, int64_t least_work, int64_t arena, int percent);
const char *layers_join_all(Search *r, Layers *l, const Layers *apart);
#endif
