/* SPDX-License-Identifier: MIT */
#ifndef LW_GRAPH_PLAN_COMBINE_PARTS_H
#define LW_GRAPH_PLAN_COMBINE_PARTS_H
/* Shared by combine.c and combine_naive.c: the parts of a combination while its nest is built. */
#include "graph/plan/combine.h"

typedef struct CombinedPart {
    const Group *group;
    const Implementation *with;
    const Nest *alone;               /* scheduled by its strategy */
    Map local;                       /* name in `alone` of a stage or input role -> its name here */
    const Tensor *output;            /* in the combined nest */
    const char *result;              /* the stage that computes it */
    Attachment how;
    bool is_pending;                 /* attached, and its ring is not set */
} CombinedPart;

enum { MAX_HOSTS = 16 };
typedef struct Combine {
    const CombineInput *in;
    const Nest *naive;
    const Nest *replayed[2];         /* after the steps of all parts that keep loops; in [1] also the fresh one */
    int count, master;
    CombinedPart *part;
    /* Iterations of the master's outermost loop merged into one, so that parts may compute several rows at once */
    int64_t iterations;
    bool is_tight;                   /* no ring is rounded up to a power of two */
    bool folds_last;                 /* rings are set once all parts are attached */
    int fresh;                       /* the part whose hosts are searched; -1: none */
    int host_count; const char *host[MAX_HOSTS];     /* loops around all consumers of the fresh part, outermost first */
    const char *why;                 /* the last refusal */
} Combine;

Group combine_group(Combine *c, const int *part);
const Nest *combine_naive_nest(Combine *c, const Group *merged);       /* NULL on error */
#endif
