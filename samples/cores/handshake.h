/* SPDX-License-Identifier: 0BSD */
/* A fork by flags in shared memory. The file that includes it may define before:
 *
 *   CORES          the cores, with the caller's (default 2)
 *   CORES_WAKE()   wakes a core that waits (default: nothing)
 *   CORES_WAIT()   waits a while for a wake (default: nothing, so that the core polls)
 *   CORES_SHARED   an attribute that places the flags in memory without a cache (default: none)
 *   CORES_WORD, CORES_LOAD(at), CORES_STORE(at, value)
 *                  a flag and its accesses; the default needs gcc or clang
 *
 * cores_fork executes about 25 instructions on two Cortex-M in addition to the two parts and the time of waiting. */
#include <stddef.h>
#include <stdint.h>

#include "fork.h"

#ifndef CORES
#define CORES 2
#endif
#ifndef CORES_WAKE
#define CORES_WAKE() ((void)0)
#endif
#ifndef CORES_WAIT
#define CORES_WAIT() ((void)0)
#endif
#ifndef CORES_SHARED
#define CORES_SHARED
#endif
#ifndef CORES_WORD
#define CORES_WORD uint32_t
#define CORES_LOAD(at) __atomic_load_n((at), __ATOMIC_ACQUIRE)
#define CORES_STORE(at, value) __atomic_store_n((at), (value), __ATOMIC_RELEASE)
#endif

/* turn: counts forks. done[core]: the last turn that the core has completed. */
static CORES_SHARED struct {
    cores_part *function;
    void *argument;
    int parts;
    CORES_WORD turn, done[CORES];
} cores_job;

static void cores_wait(CORES_WORD *flag, uint32_t turn)
{
    while (CORES_LOAD(flag) != turn) CORES_WAIT();
}

void cores_fork(int parts, cores_part *function, void *argument)
{
    const uint32_t turn = CORES_LOAD(&cores_job.turn) + 1;
    cores_job.function = function;
    cores_job.argument = argument;
    cores_job.parts = parts;
    CORES_STORE(&cores_job.turn, turn);
    CORES_WAKE();
    for (int part = 0; function && part < parts; part += CORES) function(argument, part);
    for (int core = 1; core < CORES; core++) cores_wait(&cores_job.done[core], turn);
}

/* The loop of another core, from 1 to CORES - 1. It returns after a fork of the function NULL. */
static inline void cores_work(int core)
{
    for (uint32_t turn = CORES_LOAD(&cores_job.done[core]) + 1;; turn++) {
        cores_wait(&cores_job.turn, turn);
        cores_part *const function = cores_job.function;
        for (int part = core; function && part < cores_job.parts; part += CORES) function(cores_job.argument, part);
        CORES_STORE(&cores_job.done[core], turn);
        CORES_WAKE();
        if (!function) return;
    }
}
