/* SPDX-License-Identifier: MIT */
#ifndef LW_GRAPH_PLAN_COMBINE_PARTS_H
#define LW_GRAPH_PLAN_COMBINE_PARTS_H
/* The parts of a combination while its nest is built, shared by combine.c and combine_naive.c. */
#include "graph/plan/combine.h"

typedef struct CombinedPart {
    const Group *group;
    const Implementation *with;
    const Nest *alone;               /* the nest of the part's group, scheduled by its strategy */
    Map local;                       /* maps the name of a stage or an input role in `alone` to its name here */
    const Tensor *output;            /* a tensor of the combined nest */
    const char *result;              /* the stage that computes it */
    Attachment how;
    bool is_pending;                 /* true if the part is attached and its ring is not set yet */
} CombinedPart;

enum { MAX_HOSTS = 16 };
typedef struct Combine {
    const CombineInput *in;
    const Nest *naive;
    /* The nest after the steps of all parts that keep loops; [1] also has the fresh part. */
    const Nest *replayed[2];
    int count, master;
    CombinedPart *part;
    /* The number of iterations of the master's outermost loop that are merged into one, so that parts may compute
     * several rows at once. */
    int64_t iterations;
    bool is_tight;                   /* no ring is rounded up to a power of two */
    int fresh;                       /* the part for which loops are searched, or -1 */
    /* The loops around all consumers of the fresh part, outermost first. */
    int host_count; const char *host[MAX_HOSTS];
    const char *why;                 /* the last refusal */
} Combine;

Group combine_group(Combine *c, const int *part);
const Nest *combine_naive_nest(Combine *c, const Group *merged);       /* returns NULL on error */
#endif
