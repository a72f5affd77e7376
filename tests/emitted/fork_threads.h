/* SPDX-License-Identifier: MIT */
/* LW_FORK for tests: a POSIX thread for each part, so that a sanitizer of threads sees accesses of two parts. */
#ifndef FORK_THREADS_H
#define FORK_THREADS_H
#include <pthread.h>
#include <stdlib.h>

typedef struct ForkPart { void (*function)(void *argument, int part); void *argument; int part; } ForkPart;

static void *fork_part(void *of)
{
    const ForkPart *p = of;
    p->function(p->argument, p->part);
    return NULL;
}

static void fork_threads(int parts, void (*function)(void *argument, int part), void *argument)
{
    pthread_t thread[8];
    ForkPart part[8];
    for (int p = 0; p < parts; p++) {
        part[p] = (ForkPart){ function, argument, p };
        if (pthread_create(&thread[p], NULL, fork_part, &part[p]) != 0) exit(2);
    }
    for (int p = 0; p < parts; p++) pthread_join(thread[p], NULL);
}

#define LW_FORK(parts, function, argument) fork_threads((parts), (function), (argument))
#endif
