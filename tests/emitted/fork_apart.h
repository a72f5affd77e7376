/* SPDX-License-Identifier: MIT */
/* LW_FORK for tests: proves on a run that the parts of a layer are apart. Each part starts from the memory before the
 * fork, so it sees nothing that another part writes. The fork fails if two parts write different values to one byte, or
 * if a part gives other bytes when it runs after all other parts. Emit the model with `--io arena`,
 * so that all its results are in the arena, and define FORK_MEMORY as NAME_ARENA_SIZE. */
#ifndef FORK_APART_H
#define FORK_APART_H
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef void Part(void *argument, int part);

/* With FORK_RACES, the last part is also the first: a test of this test. */
#ifdef FORK_RACES
#define FORK_PART(p, parts) ((p) % ((parts) - 1))
#else
#define FORK_PART(p, parts) (p)
#endif

static long fork_count;

static void fork_fails(const char *what, int part, size_t at)
{
    fprintf(stderr, "fork %ld: part %d %s byte %lu\n", fork_count, part, what, (unsigned long)at);
    exit(1);
}

/* Runs the parts from `first` in steps of `step`, one after another. */
static void fork_in_order(int parts, int first, int step, Part *function, void *argument)
{
    for (int i = 0, p = first; i < parts; i++, p = (p + step + parts) % parts) function(argument, p);
}

static void fork_apart(int parts, Part *function, void *argument, unsigned char *memory, size_t size)
{
    unsigned char *before = malloc(size), *joined = malloc(size), *writer = calloc(size, 1);
    if (!before || !joined || !writer) exit(2);
    fork_count++;
    memcpy(before, memory, size);
    memcpy(joined, memory, size);
    for (int p = 0; p < parts; p++) {
        memcpy(memory, before, size);
        function(argument, FORK_PART(p, parts));
        for (size_t i = 0; i < size; i++) {
            if (memory[i] == before[i]) continue;
            if (writer[i]) fork_fails("writes, as another part does,", p, i);
            writer[i] = (unsigned char)(p + 1);
            joined[i] = memory[i];
        }
    }
    for (int first = 0; first < parts; first++)
        for (int step = -1; step <= 1; step += 2) {
            memcpy(memory, before, size);
            fork_in_order(parts, first, step, function, argument);
            for (size_t i = 0; i < size; i++)
                if (memory[i] != joined[i]) fork_fails("depends on the order of the parts in", first, i);
        }
    free(before);
    free(joined);
    free(writer);
}

#define LW_FORK(parts, function, argument)                                                                            \
    fork_apart((parts), (function), (argument), (argument)->memory, FORK_MEMORY)
#endif
