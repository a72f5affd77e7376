/* SPDX-License-Identifier: MIT */
/* A model emitted with --static-arena takes no arena and gives the results of the same model with one. */
#include <stdio.h>
#include <string.h>

#include "fixed.h"
#include "one.h"

static unsigned char memory[ONE_ARENA_SIZE + ONE_ARENA_ALIGN];
static float x[64], y[64], want[64];

int main(void)
{
    unsigned char *arena = memory + (ONE_ARENA_ALIGN - (uintptr_t)memory % ONE_ARENA_ALIGN) % ONE_ARENA_ALIGN;
    for (int i = 0; i < 64; i++) x[i] = (float)(i * 5 % 17 - 8) / 8.0f;
    if (one_run(arena, &(struct one_inputs){ .x = x }, &(struct one_outputs){ .y = want }) != 0) return 1;
    for (int turn = 0; turn < 2; turn++) {
        if (fixed_run(&(struct fixed_inputs){ .x = x }, &(struct fixed_outputs){ .y = y }) != 0) return 2;
        if (memcmp(y, want, sizeof y) != 0) return 3;
    }
    return 0;
}
