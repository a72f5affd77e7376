/* SPDX-License-Identifier: MIT */
/* Arenas of a model: null and misaligned ones are refused before any write; one of exactly the header's size suffices:
 * the bytes around it are unchanged, and its previous contents have no effect. */
#include <stdio.h>
#include <string.h>

#include "one.h"

enum { GUARD = 64, ROOM = ONE_ARENA_SIZE + ONE_ARENA_ALIGN + 2 * GUARD };

static unsigned char memory[ROOM];
static float x[64], y[64], again[64];

static int fail(const char *what)
{
    printf("%s\n", what);
    return 1;
}

int main(void)
{
    struct one_inputs in = { .x = x };
    struct one_outputs out = { .y = y };
    unsigned char *arena = memory + GUARD
                           + (ONE_ARENA_ALIGN - (uintptr_t)(memory + GUARD) % ONE_ARENA_ALIGN) % ONE_ARENA_ALIGN;
    for (int i = 0; i < 64; i++) x[i] = (float)(i * 7 % 13 - 6) / 4.0f;

    y[0] = 42.0f;
    if (one_run(NULL, &in, &out) != ONE_E_ARENA) return fail("a null arena is accepted");
    if (one_run(arena + 1, &in, &out) != ONE_E_ARENA) return fail("a misaligned arena is accepted");
    if (y[0] != 42.0f) return fail("an output was written although the arena was refused");

    memset(memory, 0x55, sizeof memory);
    if (one_run(arena, &in, &out) != 0) return fail("an arena of the right size is refused");
    for (unsigned char *p = memory; p < memory + ROOM; p++)
        if ((p < arena || p >= arena + ONE_ARENA_SIZE) && *p != 0x55)
            return fail("a byte outside the arena was written");

    memset(arena, 0xff, ONE_ARENA_SIZE);      /* floats that are no numbers */
    out.y = again;
    if (one_run(arena, &in, &out) != 0) return fail("the second run is refused");
    return memcmp(y, again, sizeof y) == 0 ? 0 : fail("the result depends on what was in the arena");
}
