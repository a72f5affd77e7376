/* SPDX-License-Identifier: 0BSD */
/* POSIX threads: CORES - 1 threads (-DCORES=N, default 2) that poll while the program runs, and yield between polls so
 * that they also progress on fewer processors. */
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

#define CORES_WAIT() cores_pause()
static void cores_pause(void);
#include "handshake.h"

static void cores_pause(void)
{
    enum { POLLS = 2000 };
    static __thread int polls;
    if (++polls % POLLS == 0) sched_yield();
}

static void *work(void *core)
{
    cores_work((int)(intptr_t)core);
    return NULL;
}

void cores_start(void)
{
    for (int core = 1; core < CORES; core++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, work, (void *)(intptr_t)core) != 0) abort();
        pthread_detach(thread);
    }
}
