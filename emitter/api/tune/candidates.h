/* SPDX-License-Identifier: MIT */
#ifndef LW_API_TUNE_CANDIDATES_H
#define LW_API_TUNE_CANDIDATES_H
/* The schedules that `tune` measures: for each group with a schedule of the strategy, other implementations that apply,
 * and the strategy's own steps with one number changed. All are accepted by the checker. */
#include "driver/driver.h"

typedef struct Candidate {
    const char *group, *signature;   /* of the first group with this signature */
    const char *what;                /* "by contraction.tiled", "split y.w 4" */
    const char *block;               /* the text of a schedule, for the signature */
    const char *key;                 /* hexadecimal digits that the block determines */
    bool is_known;                   /* measured */
    double value;                    /* of the whole program; below 0: it failed */
} Candidate;

typedef struct Candidates { int count, capacity; Candidate *at; } Candidates;

/* After build_nests. Candidates of one signature are adjacent; groups are in execution order. */
Candidates tune_candidates(Build *b);
#endif
