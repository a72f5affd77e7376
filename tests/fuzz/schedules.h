/* SPDX-License-Identifier: MIT */
#ifndef FUZZ_SCHEDULES_H
#define FUZZ_SCHEDULES_H
#include <stdbool.h>
#include <stdint.h>

/* Refused for a counterexample, for a limit of the compiler, or because a name of the step does not exist. */
typedef enum Outcome { ACCEPTED, REFUSED_WRONG, REFUSED_UNPROVED, REFUSED_NAMES, OUTCOME_COUNT } Outcome;
enum { MAX_PRIMITIVES = 48, MAX_PATHS = 128 };
typedef struct Counts {
    int primitive_count; char primitive[MAX_PRIMITIVES][32];     /* in order of first use */
    long count[MAX_PRIMITIVES][OUTCOME_COUNT];
    long programs, steps, runs, failures;
    /* Schedules with asynchronous copies, those within their memories' bytes, and those with copies of results */
    long with_copies, fits, with_results;
    long updates, in_place;          /* nests with an in-out tensor, and those in place */
    int64_t path[MAX_PATHS];                                     /* of the fast interpreter: how often each ran */
} Counts;

/* ANY: steps of all kinds. COPIES: most steps declare memories of few bytes and copy tensors to them, early. */
typedef enum FuzzKind { FUZZ_ANY, FUZZ_COPIES } FuzzKind;

/* One random program under random steps; false after a failure, which is printed with its seed. `loud` prints each
 * step. */
bool fuzz_schedule(uint64_t seed, Counts *counts, FuzzKind kind, bool loud);
void print_counts(const Counts *c);
int  print_paths(const Counts *c);                               /* returns the number of those that never ran */
#endif
