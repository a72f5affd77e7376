/* SPDX-License-Identifier: MIT */
#ifndef LW_DRIVER_COMBINE_LAYERS_H
#define LW_DRIVER_COMBINE_LAYERS_H
/* The search for combinations (combine_search.c) and its state: the groups of a graph, some of them combined, with the
 * memory plan. A move returns a new state, so to undo it is to keep the old one. Each candidate is planned in full,
 * because only the plan determines the RAM; functions that do not change are lowered once. */
#include "driver/driver.h"
#include "graph/plan/combine.h"

/* A state: the present groups, or the groups of a candidate. */
typedef struct Layers {
    int count;
    Combination *at;
    const char *explain;
    bool copies_padding;             /* operands of paddings have memory of their own, not within the result */
    int64_t room;                    /* the bytes of the arena for which results are moved; 0: no result is moved */
    Plan plan;
    /* Counted instructions (lower/count.h): the sum of all functions, and those of each layer [count]; 0 and NULL if
     * not counted */
    int64_t work, *work_of;
    /* the counted bytes of the functions' text; functions that share one text count once */
    int64_t code;
    /* the bytes of results that are moved within the arena; 0 if they were not counted */
    int64_t moved;
} Layers;

typedef struct Search {
    Build *b;
    CombineInput whole;              /* the groups before any is combined, planned */
    const bool *may_join;            /* [whole.groups->count] */
    bool joins_scheduled;            /* groups with a block of --schedule are also combined */
    int master;                      /* a group that is not joined to later groups, or -1 */
    bool notes_apart;                /* prints a note for each group that is not combined */
    int64_t outside;                 /* the bytes of inputs and outputs */
    bool counts;                     /* instructions, with each plan */
    Map counted;                     /* maps the body of a function to its Counted */
    Map outlined;                    /* maps the outline of a function to the first Counted with it */
    Map planned;                     /* maps nests, room and paddings to planned Layers */
} Search;

static inline int layers_last_part(const Combination *c) { return c->part[c->count - 1]; }
Search layers_search(Build *b, const bool *may_join);
/* Returns the state in which no group is combined, with its plan. */
Layers layers_apart(Search *r, bool copies_padding, int64_t room);
void layers_plan(Search *r, Layers *l);
void layers_use(Build *b, const Layers *l);          /* sets the groups of the build to the state's groups */
/* Returns the state in which layer j is replaced by `with` and the layers in is_joined are removed; it is not
 * planned. */
Layers layers_with(Search *r, const Layers *l, const bool *is_joined, int j, const Combination *with);
bool layers_reads(const Layers *l, int i, const Tensor *t);
/* Returns the reason if the layer cannot be combined with any other layer at any cost, or NULL if the layer can be
 * combined. */
const char *layers_why_apart(const Search *r, const Layers *l, int i);
/* Returns the reason if layer i cannot be computed in the loops of layer j because devices run them in different
 * functions; otherwise returns NULL. */
const char *layers_why_not_in(const Search *r, const Layers *l, int i, int j);
/* Returns true if layers_why_apart gives a reason, if the layer is a view without code, or if it takes part in an
 * update. */
bool layers_stays(const Search *r, const Layers *l, int i);
/* Returns true if the graph has several groups, and no regions or devices, because groups of regions and devices
 * combine only if --combine names them. */
bool layers_are_plain(const Build *b);

/* The aim of a search: it may add `more` counted instructions, and stops when the arena has `bytes` or fewer. */
typedef struct Aim {
    int64_t arena;
    int64_t start;                   /* the counted instructions before the first join */
    int64_t more;                    /* the counted instructions that all joins together may add */
    bool is_limit;                   /* the arena must be reached: code is not weighed, and each join must help */
} Aim;

/* combine_for_ram.c: returns the plan without options: pairs that save RAM, then paddings that are copied where a copy
 * needs less, then moved results. `apart` is the plan in which no groups are combined. */
Layers layers_default(Search *r, const Layers *apart);

/* combine_search.c: */
/* Combines pairs, each of which saves a tenth of RAM, until the arena has at most `enough` bytes. */
void layers_pair(Search *r, Layers *l, int64_t enough);
/* Moves results if that saves a tenth of RAM for few instructions. */
void layers_move_results(Search *r, Layers *l);
/* Combines groups until the arena has at most `arena` bytes, for as few more instructions than `start` as possible. */
void layers_join_until(Search *r, Layers *l, int64_t start, int64_t arena);
/* Combines the groups where the combination saves more than it costs. Returns the report: each combination, and the
 * reason for each group that is not combined. */
const char *layers_join_all(Search *r, Layers *l, const Layers *apart);
#endif
