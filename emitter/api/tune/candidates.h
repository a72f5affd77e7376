/* SPDX-License-Identifier: MIT */
#ifndef LW_API_TUNE_CANDIDATES_H
#define LW_API_TUNE_CANDIDATES_H
/* Lists the schedules that `tune` measures. For each group with a schedule of the strategy, the candidates are the
 * other implementations that apply, and the strategy's own steps with one number changed. The checker has accepted
 * every one of them. */
#include "driver/driver.h"

typedef struct Candidate {
    const char *group, *signature;   /* group: the name of the first group with this signature */
    const char *what;                /* a description such as "by contraction.tiled" or "split y.w 4" */
    const char *block;               /* the text of a schedule for groups with this signature */
    const char *key;                 /* hexadecimal digits of a hash of the block */
    bool is_known;                   /* measured */
    double value;                    /* the value of the whole program; negative if the program failed */
} Candidate;

typedef struct Candidates { int count, capacity; Candidate *at; } Candidates;

/* Returns the candidates; call it after build_nests. Candidates of one signature are adjacent; groups are in execution
 * order. */
Candidates tune_candidates(Build *b);
#endif
