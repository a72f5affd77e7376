/* SPDX-License-Identifier: MIT */
/* One run of an emitted net_run on a bare-metal board: instructions, stack, and a number that depends on every bit of
 * the result. Built by run.sh for each of the schedules; all of them have the inputs x, k and bias, or, where CHAIN is
 * defined, x, k and k2. */
#include <string.h>

#include "board.h"
#include "net.h"

enum { SIZE = 32, CHANNELS = 16 };
#ifdef CHAIN
enum { RESULTS = 13 * 13 * CHANNELS, SECOND = 9 * CHANNELS * CHANNELS };
#define NAMED_SECOND .k2 = second
#else
enum { RESULTS = 15 * 15 * CHANNELS, SECOND = CHANNELS };
#define NAMED_SECOND .bias = second
#endif

static float x[SIZE * SIZE * CHANNELS], k[9 * CHANNELS * CHANNELS], second[SECOND], y[RESULTS];
static unsigned char arena[NET_ARENA_SIZE + NET_ARENA_ALIGN];

/* Numbers between -1 and 1 that look random, the same ones everywhere (a linear congruential generator). */
static void fill(float *to, int count, uint32_t seed)
{
    for (int i = 0; i < count; i++) {
        seed = seed * 1664525u + 1013904223u;
        to[i] = (float)((int32_t)(seed >> 16) - 32768) / 32768.0f;
    }
}

/* FNV-1a over the bits of the result. */
static uint32_t hash(void)
{
    uint32_t h = 2166136261u;
    for (int i = 0; i < RESULTS; i++) {
        unsigned char byte[sizeof *y];
        memcpy(byte, &y[i], sizeof byte);
        for (int j = 0; j < (int)sizeof byte; j++) h = (h ^ byte[j]) * 16777619u;
    }
    return h;
}

static void run(void *memory)
{
    struct net_inputs in = { .x = x, .k = k, NAMED_SECOND };
    struct net_outputs out = { .y = y };
    if (net_run(memory, &in, &out) != 0) board_exit(1);
}

int main(void)
{
    fill(x, SIZE * SIZE * CHANNELS, 1);
    fill(k, 9 * CHANNELS * CHANNELS, 2);
    fill(second, SECOND, 3);
    unsigned char *memory = arena + (NET_ARENA_ALIGN - (uintptr_t)arena % NET_ARENA_ALIGN) % NET_ARENA_ALIGN;
    struct board_cost cost = board_measure(run, memory);
    board_report("instructions", cost.instructions);
    board_report("stack", cost.stack_bytes);
    board_text("result ");
    board_hex(hash());
    board_text("\n");
    board_exit(0);
    return 0;
}
