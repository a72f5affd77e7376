/* SPDX-License-Identifier: MIT */
/* Four threads run two models at once, each with a separate arena and inputs: all get the results of a single
 * thread. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "one.h"
#include "two.h"

enum { THREADS = 4, RUNS = 200, ALIGN = 16, SIZE = ONE_ARENA_SIZE > TWO_ARENA_SIZE ? ONE_ARENA_SIZE : TWO_ARENA_SIZE };

typedef struct Worker {
    int number, wrong;
    unsigned char memory[SIZE + ALIGN];
    float x1[64], x2[256], want1[64], want2[32];
} Worker;

static int run(Worker *w, float *y1, float *y2)
{
    unsigned char *arena = w->memory + (ALIGN - (uintptr_t)w->memory % ALIGN) % ALIGN;
    return one_run(arena, &(struct one_inputs){ .x = w->x1 }, &(struct one_outputs){ .y = y1 }) ||
           two_run(arena, &(struct two_inputs){ .x = w->x2 }, &(struct two_outputs){ .y = y2 });
}

static void *work(void *user)
{
    Worker *w = user;
    float y1[64], y2[32];
    for (int i = 0; i < RUNS; i++) {
        if (run(w, y1, y2) != 0 || memcmp(y1, w->want1, sizeof y1) != 0 || memcmp(y2, w->want2, sizeof y2) != 0)
            w->wrong++;
        memset(w->memory, i & 255, sizeof w->memory);
    }
    return NULL;
}

int main(void)
{
    static Worker worker[THREADS];
    pthread_t thread[THREADS];
    int wrong = 0;
    for (int t = 0; t < THREADS; t++) {
        Worker *w = &worker[t];
        for (int i = 0; i < 256; i++) w->x2[i] = (float)((i * 11 + t * 7) % 29 - 14) / 8.0f;
        memcpy(w->x1, w->x2, sizeof w->x1);
        if (run(w, w->want1, w->want2) != 0) return 1;
    }
    if (memcmp(worker[0].want1, worker[1].want1, sizeof worker[0].want1) == 0)
        return printf("the threads have equal inputs\n");
    for (int t = 0; t < THREADS; t++)
        if (pthread_create(&thread[t], NULL, work, &worker[t]) != 0) return 2;
    for (int t = 0; t < THREADS; t++) {
        pthread_join(thread[t], NULL);
        wrong += worker[t].wrong;
    }
    return wrong ? printf("%d of %d runs give other values\n", wrong, THREADS * RUNS) : 0;
}
