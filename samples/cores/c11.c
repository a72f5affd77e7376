/* SPDX-License-Identifier: 0BSD */
/* C11 threads and atomics: CORES - 1 threads (-DCORES=N, default 2) that poll while the program runs. */
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <threads.h>

#define CORES_WORD _Atomic uint32_t
#define CORES_LOAD(at) atomic_load_explicit((at), memory_order_acquire)
#define CORES_STORE(at, value) atomic_store_explicit((at), (value), memory_order_release)
#define CORES_WAIT() thrd_yield()
#include "handshake.h"

static int work(void *core)
{
    cores_work((int)(intptr_t)core);
    return 0;
}

void cores_start(void)
{
    for (int core = 1; core < CORES; core++) {
        thrd_t thread;
        if (thrd_create(&thread, work, (void *)(intptr_t)core) != thrd_success) abort();
        thrd_detach(thread);
    }
}
