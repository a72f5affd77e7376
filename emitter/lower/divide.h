/* SPDX-License-Identifier: MIT */
#ifndef LW_LOWER_DIVIDE_H
#define LW_LOWER_DIVIDE_H
/* Divides a lowered function among the cores of --cores. */
#include "ir/nest/code.h"
#include "ir/nest/costs.h"

enum { MOST_CORES = 8, MOST_LEADS = 8 };

/* A function with the number parameters `from` and `to`; part p executes the iterations from at[p] to at[p + 1].
 *
 * The parts may also meet in rounds, for which the output may overlap an input (lead): all parts end a round before the
 * next one begins. If the parts divide the outermost loops, part p executes in round r the iterations from row[r][p] to
 * row[r][p + 1]. If they divide an inner loop, the parameters `begin` and `end` precede, which bound the outermost
 * loops; these have `moments` iterations, of which a round executes `round`. */
typedef struct Division {
    Function *function;
    const Function *undivided;
    int parts;
    bool divides_rows;               /* true if the parts divide the outermost loops */
    int64_t moments, round;
    int rows; int64_t **row;    /* rows: the rounds, 0 if there are none */
    /* With rounds: the smallest number of bytes from the start of the output to the start of input x at which no part
     * overwrites bytes that another part still reads. */
    int lead_count; struct { const Memory *x; int64_t bytes; } lead[MOST_LEADS];
    int64_t at[MOST_CORES + 1];
    int64_t cost[MOST_CORES];        /* the instructions of each part, by the costs of the target */
    int64_t whole;                   /* the instructions of the undivided function */
} Division;

/* Returns the division into `parts` parts whose longest part is shortest, or NULL if none is proved to be free of races
 * or none saves instructions. The nest is the one that f was lowered from. Parts run in any order, or at once:
 *
 *   - no part writes an element of an output that another part reads or writes;
 *   - each part has scratch memory of its own, in which it reads only what it has written itself. */
const Division *divide_function(Ctx *cx, const Function *f, const Nest *nest, const Costs *costs, int parts);
/* Sets the lead of input x; returns false if the output must not overlap it. */
bool division_lead(const Division *d, const Memory *x, int64_t *lead);
int64_t division_longest(const Division *d);           /* the instructions of the busiest part */
#endif
