/* SPDX-License-Identifier: MIT */
#ifndef LW_DRIVER_COMBINE_LAYERS_H
#define LW_DRIVER_COMBINE_LAYERS_H
/* Shared by the searches for combinations. Holds the groups of a graph, some of them combined, and the memory plan of
 * this state. Each candidate is planned in full, because only the plan determines the RAM; functions that do not change
 * are lowered once. */
#include "driver/driver.h"
#include "graph/plan/combine.h"

/* The present groups, or those of a candidate. */
typedef struct Layers {
    int count;
    Combination *at;
    const char *explain;
    Plan plan;
    /* Counted instructions (lower/count.h): the sum of all functions, and those of each layer [count]; 0 and NULL if
     * not counted */
    int64_t work, *work_of;
    /* the counted bytes of the functions' text; functions that share one text count once */
    int64_t code;
    int64_t moved;                   /* the bytes of results that are moved within the arena; 0 if not counted */
} Layers;

typedef struct Search {
    Build *b;
    CombineInput whole;              /* the groups before any is combined, planned */
    const bool *may_join;            /* [whole.groups->count] */
    bool joins_scheduled;            /* groups with a block of --schedule are also combined */
    int master;                      /* a group that is not joined to later groups, or -1 */
    bool notes_apart;                /* prints a note for each group that stays apart */
    int64_t outside;                 /* the bytes of inputs and outputs */
    bool counts;                     /* instructions, with each plan */
    Map counted;                     /* maps the body of a function to its Counted */
    Map outlined;                    /* maps the outline of a function to the first Counted with it */
    Map planned;                     /* maps nests and arena to the result of layers_plan */
} Search;

static inline int layers_last_part(const Combination *c) { return c->part[c->count - 1]; }
Search layers_search(Build *b, const bool *may_join);
/* Returns the state in which no group is combined, with its plan. */
Layers layers_apart(Search *r);
void layers_plan(Search *r, Layers *l);
void layers_use(Build *b, const Layers *l);          /* sets the groups of the build to those of the state */
/* Returns the state in which layer j is replaced by `with` and the layers in is_joined are removed; it is not
 * planned. */
Layers layers_with(Search *r, const Layers *l, const bool *is_joined, int j, const Combination *with);
bool layers_reads(const Layers *l, int i, const Tensor *t);
/* Returns the reason if the layer cannot be combined with any other layer at any cost, or NULL if it can. */
const char *layers_why_apart(const Search *r, const Layers *l, int i);
/* Returns the reason if layer i cannot be computed in the loops of layer j because devices run them in different
 * functions, or NULL if it can. */
const char *layers_why_not_in(const Search *r, const Layers *l, int i, int j);
/* Returns true if layers_why_apart gives a reason, if the layer is a view without code, or if it takes part in an
 * update. */
bool layers_stays(const Search *r, const Layers *l, int i);
/* Returns true if the graph has several groups, and no regions or devices, because groups of regions and devices
 * combine only if --combine names them. */
bool layers_are_plain(Build *b);

/* combine_for_ram.c: combines pairs as long as each pair saves a tenth of RAM, and the arena is larger than
 * `enough`. */
void layers_save_ram(Search *r, Layers *l, int64_t enough);
/* combine_for_ram.c: sets the room of the build, and the plan, if results of these layers are worth moving. */
void layers_choose_moves(Search *r, Layers *l);
/* combine_join.c: combines groups as long as each join reduces the total cost. Returns the report: each combination,
 * and the reason why each other group stays apart. The search counts. */
/* Joins in the same way until the arena has at most `arena` bytes; the instructions may exceed `least_work` by at most
 * that many percent. */
void layers_join_until(Search *r, Layers *l, int64_t least_work, int64_t arena, int percent);
const char *layers_join_all(Search *r, Layers *l, const Layers *apart);
#endif
